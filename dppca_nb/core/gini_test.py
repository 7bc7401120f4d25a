"""Which variables an axis of a Gini PCA has to do with: U statistics, their jackknife errors, and a normal test."""

from __future__ import annotations

import warnings
from itertools import pairwise
from typing import Literal

import numpy as np
import pandas as pd
from scipy.special import ndtr

from dppca_nb._columns import listing, show
from dppca_nb.core.gini_jackknife import Setting, VanishedError, frozen_statistics, full_statistics, standard_errors
from dppca_nb.core.gini_result import GiniResult, Normalize, check_choice
from dppca_nb.table import DataError

Jackknife = Literal["full", "frozen"]

# Neighbouring eigenvalues this many standard errors of their distance apart are told apart.
_APART = 2.0


def gini_test(
    result: GiniResult, *, jackknife: Jackknife = "full", normalize: Normalize = "scores", axes=None
) -> pd.DataFrame:
    r"""Test which variables are correlated with the axes, in the sense of Gini. Not private.

    .. math:: z = U/\hat\sigma, \qquad \hat\sigma^2 = \frac{n-1}{n} \sum_i (U^{(-i)} - \bar U)^2, \qquad
        p = 2\Phi(-|z|)

    with U from :meth:`GiniResult.variable_correlations` and :math:`U^{(-i)}` the same without row i.

    Parameters
    ----------
    result : GiniResult
        Of n >= 3 rows.
    jackknife : {"full", "frozen"}
        "full" makes everything anew without each row: Gini correlations, directions, and scores. "frozen" is the test
        of the authors' program: it keeps the scores and changes ranks only, as if the axes were known. See Notes
        before using it.
    normalize : {"scores", "variables"}
        As for :meth:`GiniResult.variable_correlations`.
    axes : sequence of int, optional
        Which axes to test, numbered from 1; all if left out.

    Returns
    -------
    DataFrame
        Index ("component", "variable"); columns "U", "sd" (standard error), "z" and "p", which is not corrected for
        the number of tests. NaN for an axis without scores. ``attrs`` has the "jackknife", "normalize" and "nu", and
        "warnings", the texts of the warnings.

    Raises
    ------
    TypeError, ValueError
        For a result that is none, a word that is no choice, and axes that do not exist.
    DataError
        For fewer than 3 rows, and for variables that are constant without one of the rows; they are named.

    Warns
    -----
    UserWarning
        If the eigenvalues of a tested axis and its neighbour are not told apart: their distance is below 2 of its
        jackknife standard errors ("full"), or they are equal ("frozen"). Such axes mix or change places from one sample
        to the next, and a test of either is doubtful.

    Notes
    -----
    Size, at a nominal 5 %: how often axis 1 is said to have to do with a variable that is independent of it. Each row
    of this table stands on 2,000 simulated samples of three normal variables, two with the correlation 0.6 and the
    third independent (a rejection rate of 0.11 has the standard error 0.007):

    ====  ===  ================  ===================  ==================  =====================
    n     nu   full, by scores   full, by variables   frozen, by scores   frozen, by variables
    ====  ===  ================  ===================  ==================  =====================
    100   2    0.12              0.11                 0.47                0.46
    100   4    0.12              0.11                 0.45                0.44
    400   2    0.08              0.07                 0.46                0.46
    400   4    0.08              0.08                 0.45                0.45
    ====  ===  ================  ===================  ==================  =====================

    So the full test is somewhat liberal in small samples, although its standard errors are right on average (0.244 for
    a true 0.243 at n = 100, nu = 2, by scores). The frozen test takes estimated axes for known ones and does not get
    better with n: its standard errors are less than half of the true ones here (0.099). Read its p values as those of
    the authors' program, not as evidence.

    No statistic is ranked anew: leaving out a row changes ranks by 0, 1/2 or 1, and sums of values times weights of
    ranks follow from cumulated sums. "frozen" costs O(n p (log n + axes)). "full" costs O(n p³) and n p² numbers of
    memory, and with ``normalize="scores"`` sorting the n scores on each axis n times, O(n² log n axes): beyond 10,000
    rows take a few axes at a time, or "variables".

    References
    ----------
    Charpentier, Mussard and Ouraga (2021), Principal component analysis: a generalized Gini approach,
    doi 10.48550/arXiv.1910.10133.

    Examples
    --------
    >>> from dppca_nb import datasets, gini_pca
    >>> cars = gini_pca(datasets.cars2004(), nu=2)
    >>> gini_test(cars, jackknife="frozen", axes=[2]).round(2)  # the authors' test: weight carries axis 2
                           U    sd     z     p
    component variable
    PC2       Cylinder -0.03  0.29 -0.11  0.91
              Power    -0.24  0.26 -0.92  0.36
              Speed    -0.41  0.26 -1.58  0.11
              Weight    0.51  0.18  2.90  0.00
              Width     0.18  0.35  0.53  0.60
              Length    0.38  0.23  1.67  0.10
    >>> table = gini_test(cars, axes=[2])
    >>> table.index[table["p"] < 0.05].tolist()  # once the axis is not taken for known
    [('PC2', 'Weight'), ('PC2', 'Length')]
    """
    if not isinstance(result, GiniResult):
        raise TypeError(f"gini_test needs the result of gini_pca; got {type(result).__name__}.")
    check_choice("jackknife", jackknife, Jackknife)
    check_choice("normalize", normalize, Normalize)
    axes = _check_axes(axes, result.p)
    _refuse_rows(result)
    by_scores = normalize == "scores"
    on = Setting(
        result.standardized.to_numpy(),
        result.scores.to_numpy(),
        result.directions.to_numpy(),
        result.double_ranks,
        result.nu,
    )
    U = result.variable_correlations(normalize).to_numpy().T[axes]
    with np.errstate(divide="ignore", invalid="ignore"):
        if jackknife == "full":
            try:
                found = full_statistics(on, axes, by_scores=by_scores)
            except VanishedError as error:
                bad = listing([show(result.directions.index[j]) for j in error.args[0]])
                raise ValueError(
                    f"nu={result.nu:g} is too large for the full jackknife: without one of the rows nothing is left "
                    f"of {bad}, whose smallest values are tied. Use a smaller nu."
                ) from None
            sd, near = standard_errors(found.statistics), _not_apart(result, found.eigenvalues)
        else:
            sd = np.column_stack([standard_errors(each) for each in frozen_statistics(on, axes, by_scores=by_scores)])
            near = {pair: "equal" for group in result.tied for pair in pairwise(one - 1 for one in group)}
        sd[np.isnan(U)] = np.nan
        z = U / sd
    texts = tuple(
        f"PC{a + 1} and PC{b + 1} are not told apart ({why}): a test of either is doubtful."
        for (a, b), why in near.items()
        if a in axes or b in axes
    )
    if texts:
        warnings.warn(" ".join(texts), UserWarning, stacklevel=2)
    index = pd.MultiIndex.from_product(
        [result.directions.columns[axes], result.directions.index], names=["component", "variable"]
    )
    numbers = {"U": U, "sd": sd, "z": z, "p": 2 * ndtr(-np.abs(z))}
    table = pd.DataFrame({name: values.ravel() for name, values in numbers.items()}, index=index)
    table.attrs = {"jackknife": jackknife, "normalize": normalize, "nu": result.nu, "warnings": texts}
    return table


def _check_axes(axes, p: int) -> list[int]:
    """Refuse axes that do not exist; number the others from 0."""
    if axes is None:
        return list(range(p))
    wanted = f"axes must be None or some of the numbers 1 to {p}, each once"
    if isinstance(axes, str) or not hasattr(axes, "__iter__"):
        raise TypeError(f"{wanted}; got {axes!r}.")
    axes = list(axes)
    if any(isinstance(axis, bool | np.bool_) or not isinstance(axis, int | np.integer) for axis in axes):
        raise TypeError(f"{wanted}; got {axes!r}.")
    if not axes or len(set(axes)) < len(axes) or not all(1 <= axis <= p for axis in axes):
        raise ValueError(f"{wanted}; got {axes!r}.")
    return [int(axis) - 1 for axis in axes]


def _refuse_rows(result: GiniResult) -> None:
    """Refuse results from which no row can be left out."""
    if result.n < 3:
        raise DataError(f"The jackknife leaves out one row at a time and needs at least 3; got {result.n}.")
    most = np.array([np.bincount(own).max() for own in result.double_ranks.T])
    if (most >= result.n - 1).any():
        bad = listing([show(name) for name in result.directions.index[most >= result.n - 1]])
        raise DataError(
            f"Constant but for one row: {bad}. Without it there is nothing to test, and so no jackknife: "
            "leave these variables out of the Gini PCA."
        )


def _not_apart(result: GiniResult, eigenvalues: np.ndarray) -> dict[tuple[int, int], str]:
    """Find neighbouring eigenvalues whose distance is within its jackknife standard errors."""
    lam = result.eigenvalues.to_numpy()
    gaps, errors = lam[:-1] - lam[1:], standard_errors(eigenvalues[:, :-1] - eigenvalues[:, 1:])
    rounding = 1e-9 * np.abs(lam).max()
    return {
        (k, k + 1): f"their eigenvalues differ by {gaps[k]:.2g}, with a standard error of {errors[k]:.2g}"
        for k in np.flatnonzero(gaps < np.maximum(_APART * errors, rounding)).tolist()
    }
