"""Generalized Gini principal components: the estimator. How to read its result is in `gini_result`."""

from __future__ import annotations

import math
import numbers
import warnings
from itertools import pairwise

import numpy as np
import pandas as pd

from dppca_nb._columns import listing, show
from dppca_nb.core.align import fix_signs
from dppca_nb.core.gini_ranks import measure, scale_factor
from dppca_nb.core.gini_result import GiniResult, RankScale, check_choice
from dppca_nb.core.pca import row_labels
from dppca_nb.table import DataError, as_matrix

__all__ = ["GiniResult", "gini_pca"]

_EQUAL = 1e-9  # eigenvalues closer than this, relative to the largest, are one eigenvalue
# Tied minima have less than the rank n. Gini correlations are distorted once their weight falls below this part of the
# weight of rank n: they grow like its inverse.
_MINIMUM_FADES = 0.25


def gini_pca(data, *, nu: float = 2.0, rank_scale: RankScale = "unit") -> GiniResult:
    r"""Principal components by generalized Gini correlations instead of variances. Not private.

    A variable's spread is its generalized Gini mean difference, the covariance of its values with a power of their
    ranks; the directions maximise :math:`b^\top \mathrm{GC}\, b`, with GC the matrix of Gini correlations. An outlying
    row counts in proportion to its distance, and not to its square. For jointly normal data GC is the correlation
    matrix for every nu, and the components are those of :func:`dppca_nb.pca` with ``scale=True``.

    Parameters
    ----------
    data : Table, DataFrame or array_like, shape (n, p)
        Numeric columns that vary, n >= 2 rows, no missing values. Computing is in float64; the caller's data stay as
        they are.
    nu : float, default 2
        Aversion parameter, positive and finite. At 2 all ranks weigh alike (Gini's own mean difference); the larger,
        the more the small values of a variable count, and below 2 the large ones. The paper asks for nu > 1; here
        everything that does not depend on `rank_scale` is continuous for every nu > 0.
    rank_scale : {"unit", "raw"}
        Ranks from 1/n to 1, so that Gini mean differences estimate :math:`-2\nu\mathrm{Cov}(X, \bar F(X)^{\nu-1})`,
        for whole nu :math:`2(\mathrm E X - \mathrm E \min(X_1, \ldots, X_\nu))`, whatever n is; or from 1 to n, as in
        the paper, which multiplies them by :math:`n^{\nu-2}` and divides the scores by it. At nu = 2 the two are the
        same. At nu = 1 the power is replaced by the logarithm, in both.

    Returns
    -------
    GiniResult
        Frozen, with p components, also if p > n.

    Raises
    ------
    TypeError, ValueError
        For a bad nu or rank_scale, before the data are looked at; and if Gini mean differences leave the range of
        float64, which "raw" does for large nu, and ties of the minimum for very large nu.
    DataError
        For data that cannot be used, and for constant columns; they are named. A column is constant if it
        varies within the rounding of its magnitude only (as for :func:`dppca_nb.table.scale_table`) and does not hold
        integers.

    Warns
    -----
    UserWarning
        If nu is so large that ties of a variable's minimum distort its Gini correlations. It is one of the result's
        `warnings`; negative and tied eigenvalues, which are common, are only listed there.

    Notes
    -----
    It costs O(n p log n) for the ranks, which dominates, and O(n p²). Beyond the data there are the ranks, Z and the
    scores. As nu approaches 1, Gini mean differences shrink like \|nu - 1\| and scores grow like its inverse, up to
    \|nu - 1\| = 1e-8, from where they are those of nu = 1.

    Gini PCA is more robust than ordinary PCA, but a single row that is far enough out still ruins it.

    References
    ----------
    Charpentier, Mussard and Ouraga (2021), Principal component analysis: a generalized Gini approach,
    doi 10.48550/arXiv.1910.10133.

    Examples
    --------
    >>> gini_pca(pd.DataFrame({"x": [1, 2, 4]})).gmd  # the mean of |1 - 2|, |1 - 4| and |2 - 4|
    ranks of    x
    variable
    x         2.0
    >>> from dppca_nb.datasets import cars2004
    >>> [(100 * gini_pca(cars2004(), nu=nu).shares().iloc[:2]).round(2).tolist() for nu in (1.4, 2, 4, 6)]
    [[78.45, 12.94], [80.36, 12.08], [83.17, 10.59], [84.85, 9.72]]
    """
    nu = check_nu(nu)
    check_choice("rank_scale", rank_scale, RankScale)
    X, names = as_matrix(data, order="F")
    n, p = X.shape
    factor = scale_factor(n, nu, raw=rank_scale == "raw")
    found = measure(X, names, nu)
    own = found.gmd.diagonal().copy()
    with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
        gc = found.gmd / own[:, None]
        gmd = np.ldexp(found.gmd * factor, found.exponent[:, None])
    lost = ~(own > np.finfo(float).tiny) | ~np.isfinite(gc).all(axis=1)
    faded = _faded_minima(found.ranks, nu)
    if lost.any():
        raise ValueError(
            f"nu={nu:g} is too large: nothing is left of {_listed(names, lost)}, whose minimum is tied. "
            "Use a smaller nu."
        )
    outside = ~np.isfinite(gmd).all(axis=1) | (gmd.diagonal() < np.finfo(float).tiny)
    if outside.any():
        raise DataError(
            f"The Gini mean differences of these variables leave the range of float64: {_listed(names, outside)}. "
            'Change their unit, or use rank_scale="unit".'
        )
    np.fill_diagonal(gc, 1.0)
    eigenvalues, B = np.linalg.eigh(gc + gc.T)
    eigenvalues, B = eigenvalues[::-1], fix_signs(B[:, ::-1])
    X /= own * factor  # from here on Z
    tied = _tied(eigenvalues)
    variables = pd.Index(names, name="variable")
    components = pd.Index([f"PC{i}" for i in range(1, p + 1)], name="component")
    rows = row_labels(data, n)
    texts = _texts(eigenvalues, tied)
    if faded.any():
        text = (
            f"nu={nu:g} is large for the tied minima of {_listed(names, faded)}: their Gini correlations are "
            "distorted. Use a smaller nu."
        )
        texts += (text,)
        warnings.warn(text, UserWarning, stacklevel=2)
    return GiniResult(
        gmd=pd.DataFrame(gmd, index=variables, columns=variables.rename("ranks of")),
        gc=pd.DataFrame(gc, index=variables, columns=variables.rename("ranks of")),
        eigenvalues=pd.Series(eigenvalues, index=components, name="eigenvalue"),
        directions=pd.DataFrame(B, index=variables, columns=components),
        scores=pd.DataFrame(X @ B, index=rows, columns=components, copy=False),
        center=pd.Series(np.ldexp(found.means, found.exponent), index=variables, name="center"),
        standardized=pd.DataFrame(X, index=rows, columns=variables, copy=False),
        nu=nu,
        rank_scale=rank_scale,
        tied=tied,
        warnings=texts,
        double_ranks=found.ranks,
    )


def check_nu(nu) -> float:
    """Refuse an aversion parameter that is not a positive, finite number.

    Examples
    --------
    >>> check_nu(2)
    2.0
    """
    if isinstance(nu, bool | np.bool_) or not isinstance(nu, numbers.Real):
        raise TypeError(f"nu must be a positive, finite number; got {nu!r}.")
    if not (nu > 0 and math.isfinite(nu)):
        raise ValueError(f"nu must be a positive, finite number; got {nu!r}.")
    return float(nu)


def _faded_minima(ranks: np.ndarray, nu: float) -> np.ndarray:
    """Mark variables whose tied minima weigh much less than a minimum that is not tied."""
    with np.errstate(under="ignore"):
        return (ranks.max(axis=0) / (2 * len(ranks))) ** (nu - 1) < _MINIMUM_FADES


def _tied(eigenvalues: np.ndarray) -> tuple[tuple[int, ...], ...]:
    """Group neighbouring components, numbered from 1, whose eigenvalues are equal up to rounding."""
    gaps = eigenvalues[:-1] - eigenvalues[1:]
    ends = [0, *(np.flatnonzero(gaps > _EQUAL * np.abs(eigenvalues).max()) + 1).tolist(), len(eigenvalues)]
    return tuple(tuple(range(a + 1, b + 1)) for a, b in pairwise(ends) if b - a > 1)


def _texts(eigenvalues: np.ndarray, tied: tuple[tuple[int, ...], ...]) -> tuple[str, ...]:
    """Say what to bear in mind about the eigenvalues."""
    texts = []
    if eigenvalues[-1] < -_EQUAL * eigenvalues[0]:
        texts.append(
            f"Negative eigenvalues: {np.sum(eigenvalues < -_EQUAL * eigenvalues[0])}. Gini correlations need not be "
            'positive semidefinite; shares("abs") and shares("trace") differ.'
        )
    if tied:
        groups = "; ".join(", ".join(f"PC{one}" for one in group) for group in tied)
        texts.append(f"Equal eigenvalues: {groups}. Only their span is defined; the axes within it are arbitrary.")
    return tuple(texts)


def _listed(names, marked: np.ndarray) -> str:
    """List the marked variables."""
    return listing([show(name) for name, mark in zip(names, marked, strict=True) if mark])
