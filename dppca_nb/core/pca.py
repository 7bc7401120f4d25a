"""Ordinary principal components by three routes: singular values, eigenvalues, and the convention of R's prcomp."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import pandas as pd

from dppca_nb.core.decompose import decompose
from dppca_nb.table import as_matrix

Method = Literal["svd", "eigen", "prcomp"]


@dataclass(frozen=True, eq=False, repr=False)
class PCAResult:
    r"""Ordinary principal components of a table, and the convention they were computed by. Not private.

    With Y the n × p matrix that was decomposed (the data less `center`, over `scale`), V the directions and D the
    singular values: :math:`\mathrm{scores} = YV = UD` and :math:`\mathrm{variances} = D^2/(n - \mathrm{ddof})`.

    Parameters
    ----------
    directions : DataFrame, shape (p, k), k = min(n, p)
        Unit eigenvectors in columns ("PC1", "PC2", ...) by decreasing variance, no unit, the entry of largest magnitude
        positive; the index is named "variable", the columns "component".
    scores : DataFrame, shape (n, k)
        Coordinates of the observations, in the unit of Y. The index is named "row" and holds the row labels of a pandas
        frame, so that its other columns line up, and the positions from 0 of anything else.
    singular_values : Series, length k
        Of Y, decreasing, in its unit; exactly 0 beyond the rank.
    variances : Series, length k
        In the squared unit of Y, divisor n - `ddof`; exactly 0 beyond the rank, never negative. Without centring they
        are mean squares about zero. Beyond the range of float64 (data around 1e154 or 1e-154) they are inf or 0, while
        singular values and shares hold.
    shares : Series, length k
        Proportions, 0 to 1, of the TOTAL variance, the same for each divisor; all 0 if nothing varies.
    center : Series, length p, or None
        What was subtracted, the means; None if nothing was.
    scale : Series, length p, or None
        What was divided by; None if nothing was.
    rank : int
        Number of components with a variance; the directions beyond it are an arbitrary basis of what is left. At most
        n - 1 with centring. See :func:`pca` for its tolerance.
    method : {"svd", "eigen", "prcomp"}
        The route.
    ddof : {0, 1}
        Degrees of freedom taken off: the divisor of the variances is n - ddof.
    tied : tuple of tuples of int
        Groups of components, numbered from 1, whose variances are equal up to rounding. Only the plane (or space) of
        such a group is defined; its axes are arbitrary within it.
    deviations : Series, length p
        Root mean squares of the columns of Y with divisor n - `ddof`: standard deviations if Y is centred, exactly 1 if
        it is scaled.

    See Also
    --------
    pca : make one from data.

    Examples
    --------
    >>> square = pca([[1, 0], [-1, 0], [0, 1], [0, -1]], method="prcomp")
    >>> square
    PCAResult(n=4, p=2, method='prcomp', center=True, scale=False, ddof=1, rank=2, tied=((1, 2),))
    >>> square.summary()[["variance (divisor n - 1)", "share", "note"]].round(4)
               variance (divisor n - 1)  share                             note
    component
    PC1                          0.6667    0.5  only the span with PC2 is defined
    PC2                          0.6667    0.5  only the span with PC1 is defined
    """

    directions: pd.DataFrame
    scores: pd.DataFrame
    singular_values: pd.Series
    variances: pd.Series
    shares: pd.Series
    center: pd.Series | None
    scale: pd.Series | None
    rank: int
    method: str
    ddof: int
    tied: tuple[tuple[int, ...], ...]
    deviations: pd.Series

    @property
    def n(self) -> int:
        """Number of observations."""
        return len(self.scores)

    @property
    def p(self) -> int:
        """Number of variables."""
        return len(self.directions)

    @property
    def divisor(self) -> str:
        """Divisor of the variances in words, "n" or "n - 1", for titles."""
        return "n - 1" if self.ddof else "n"

    @property
    def scaled_loadings(self) -> pd.DataFrame:
        """Directions times the standard deviations of their components, shape (p, k), in the unit of Y.

        SPSS and others call these loadings; here a loading is an entry of a direction. They are 0 beyond the rank.
        """
        return self.directions * (self.singular_values / math.sqrt(self.n - self.ddof))

    @property
    def correlations(self) -> pd.DataFrame:
        """Correlations of variables (rows) with components (columns), shape (p, k), -1 to 1.

        `scaled_loadings` over `deviations`; the squares of a variable sum to 1. NaN for a constant variable, 0 beyond
        the rank. Without centring they are cosines about zero.
        """
        return self.scaled_loadings.div(self.deviations.where(self.deviations > 0), axis="index")

    @property
    def observation_contributions(self) -> pd.DataFrame:
        """Part of each observation in the variance of each component, shape (n, k): squares of scores over their sum.

        The columns sum to 1; NaN beyond the rank.
        """
        parts = (self.scores / self.singular_values.where(self.singular_values > 0)) ** 2  # in range at any magnitude
        return parts / parts.sum(min_count=1)

    @property
    def observation_shares(self) -> pd.DataFrame:
        """Part of each component in the squared distance of each observation from the centre, shape (n, k).

        Squared cosines, whose rows sum to 1; NaN for an observation at the centre itself.
        """
        largest = self.scores.abs().max(axis="columns")
        squares = self.scores.div(largest.where(largest > 0), axis="index") ** 2
        return squares.div(squares.sum(axis="columns").where(largest > 0), axis="index")

    def summary(self, *, beyond_rank: bool = False) -> pd.DataFrame:
        """Table of the components, one row each.

        Parameters
        ----------
        beyond_rank : bool, default False
            Whether to list components without variance too.

        Returns
        -------
        DataFrame
            Index "component"; columns "singular value", "variance (divisor n)" or "variance (divisor n - 1)", "share",
            "cumulative share" (of the total, from unrounded shares) and "note", which says what is not defined.
        """
        notes = dict.fromkeys(self.shares.index[self.rank :], "no variance, arbitrary direction")
        for group in self.tied:
            for one in group:
                others = ", ".join(f"PC{other}" for other in group if other != one)
                notes[f"PC{one}"] = f"only the span with {others} is defined"
        table = pd.DataFrame(
            {
                "singular value": self.singular_values,
                f"variance (divisor {self.divisor})": self.variances,
                "share": self.shares,
                "cumulative share": self.shares.cumsum(),
                "note": [notes.get(name, "") for name in self.shares.index],
            }
        )
        return table if beyond_rank else table.iloc[: self.rank]

    def __repr__(self):
        tied = f", tied={self.tied}" if self.tied else ""
        return (
            f"PCAResult(n={self.n}, p={self.p}, method={self.method!r}, center={self.center is not None}, "
            f"scale={self.scale is not None}, ddof={self.ddof}, rank={self.rank}{tied})"
        )


def pca(
    data, *, method: Method = "svd", center: bool = True, scale: bool = False, ddof: int | None = None
) -> PCAResult:
    r"""Ordinary principal components. Not private.

    .. math:: Y = UDV^\top, \qquad Y^\top Y = VD^2V^\top

    where Y are the data less their means: the directions V and the scores :math:`YV = UD` are the same by both
    equations, and the variance of component l is :math:`d_l^2/n` or :math:`d_l^2/(n - 1)`.

    Parameters
    ----------
    data : Table, DataFrame or array_like, shape (n, p)
        Numeric columns, n >= 2 rows, no missing values. Computing is in float64; the caller's data stay as they are.
    method : {"svd", "eigen", "prcomp"}
        "svd" decomposes Y. "eigen" decomposes the p × p matrix :math:`Y^\top Y`, formed after centring: faster for
        n >> p, but see Notes. "prcomp" is the convention of R's function: singular values and the divisor n - 1. All
        give the same directions with the same signs, and the same shares.
    center : bool, default True
        Whether to subtract the means. Without it the first component tends to point from zero to the mean.
    scale : bool, default False
        Whether to divide each column by its standard deviation, with the same divisor as the variances, so that these
        are the eigenvalues of the correlation matrix and sum to p. With ``center=False`` the divisor is, as in R, the
        root mean square about zero, :math:`\sqrt{\sum x^2/(n - \mathrm{ddof})}`, and not the standard deviation.
    ddof : {0, 1}, optional
        The divisor of the variances is n - ddof. Left out it is 0 for "svd" and "eigen", which follow the
        definitions, and 1 for "prcomp".

    Returns
    -------
    PCAResult
        Frozen, with min(n, p) components.

    Raises
    ------
    ValueError, TypeError
        For a bad method, center, scale or ddof, before the data are looked at.
    DataError
        For data that cannot be used, and with ``scale=True`` for columns that do not vary (by the rule of
        :func:`dppca_nb.table.scale_table`) or, without centring, are all zero; they are named.

    Notes
    -----
    `rank` counts singular values above :math:`t d_1` with :math:`t = 8\sqrt{\max(n, p)}\,2.2\cdot10^{-16}` for "svd"
    and "prcomp". Forming :math:`Y^\top Y` squares the condition number, so "eigen" sees nothing below
    :math:`\sqrt t d_1` and may report a smaller rank: where one column is a million times as wide as the others, the
    small components of the two routes agree to four digits only, and the singular values are the truth. To both
    limits comes what rounding of the stored numbers alone can make of a component, up to
    :math:`2.2\cdot10^{-16}\sqrt n \sum_j |v_{jl}\,m_j/s_j|` with means m and scales s: far from zero the last digits
    are no variance. Singular values closer to each other than that, or variances closer than 1e-9 of the larger, are
    `tied`.

    Memory beyond the data: the centred matrix and the scores. For "eigen" (n >= p) these are one matrix, the scores
    taking the place of the centred data, and there are p × p numbers.

    References
    ----------
    Jolliffe and Cadima (2016), doi 10.1098/rsta.2015.0202.

    Examples
    --------
    >>> rows = pd.DataFrame({"x": [1, 6], "y": [1, 13]})
    >>> (pca(rows).directions["PC1"] * 13).round(9)
    variable
    x     5.0
    y    12.0
    Name: PC1, dtype: float64
    >>> [pca(rows, method=method).variances["PC1"].round(9) for method in ("svd", "eigen", "prcomp")]
    [np.float64(42.25), np.float64(42.25), np.float64(84.5)]
    >>> pca(rows).rank, pca(rows).shares.round(9).tolist()
    (1, [1.0, 0.0])
    """
    ddof = check_settings(method, center, scale, ddof)
    eigen = method == "eigen"
    Y, names = as_matrix(data, order="C" if eigen else "F")
    n = len(Y)
    found = decompose(Y, names, eigen=eigen, center=center, scale=scale, ddof=ddof)
    del Y  # used up
    d = found.singular_values
    variables = pd.Index(names, name="variable")
    components = pd.Index([f"PC{i}" for i in range(1, len(d) + 1)], name="component")
    with np.errstate(over="ignore", under="ignore"):  # as the result's docstring says
        variances = (d / math.sqrt(n - ddof)) ** 2
    return PCAResult(
        directions=pd.DataFrame(found.directions, index=variables, columns=components),
        scores=pd.DataFrame(found.scores, index=row_labels(data, n), columns=components, copy=False),
        singular_values=pd.Series(d, index=components, name="singular_value"),
        variances=pd.Series(variances, index=components, name="variance"),
        shares=pd.Series(found.shares, index=components, name="share"),
        center=pd.Series(found.means, index=variables, name="center") if center else None,
        scale=pd.Series(found.scales, index=variables, name="scale") if scale else None,
        rank=found.rank,
        method=method,
        ddof=ddof,
        tied=found.tied,
        deviations=pd.Series(found.deviations, index=variables, name="deviation"),
    )


def check_settings(method, center, scale, ddof) -> int:
    """Refuse settings that mean nothing; return the degrees of freedom."""
    if not (isinstance(method, str) and method in get_args(Method)):
        raise ValueError(f'method must be "svd", "eigen" or "prcomp"; got {method!r}. Choose one of the three.')
    for name, value in (("center", center), ("scale", scale)):
        if not isinstance(value, bool | np.bool_):
            raise TypeError(
                f"{name} must be True or False; got {value!r}. Numbers of your own are for the data, beforehand."
            )
    if ddof is None:
        return int(method == "prcomp")
    if isinstance(ddof, bool) or not isinstance(ddof, int | np.integer) or ddof not in (0, 1):
        raise ValueError(f"ddof must be 0 (divisor n), 1 (divisor n - 1) or None (by the method); got {ddof!r}.")
    return int(ddof)


def row_labels(data, n: int) -> pd.Index:
    """Return the caller's own row labels if the data are a pandas object, else positions, as one level "row"."""
    if isinstance(data, pd.DataFrame | pd.Series):
        flat = data.index.to_flat_index() if isinstance(data.index, pd.MultiIndex) else data.index
        return flat.rename("row")
    return pd.RangeIndex(n, name="row")
