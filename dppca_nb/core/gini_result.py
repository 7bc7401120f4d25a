"""The result of a generalized Gini PCA: its numbers with their labels, and what they say of rows and variables."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, get_args

import numpy as np
import pandas as pd

from dppca_nb.core.gini_ranks import own_sums, rank_projections, rank_weights, rounding_of
from dppca_nb.core.gini_rows import new_rows

RankScale = Literal["unit", "raw"]
Shares = Literal["abs", "trace"]
Normalize = Literal["scores", "variables"]

# An axis with less than this part of the scores, or of the eigenvalues, holds rounding only.
_NOTHING = 1e-12


@dataclass(frozen=True, eq=False, repr=False)
class GiniResult:
    r"""Generalized Gini principal components of a table, and the convention they were computed by. Not private.

    With x the n × p data, R their decumulative ranks (the largest value of a column has rank 1, ties share their mean)
    and :math:`g(r) = r^{\nu-1}`, centred in each column:

    .. math:: \mathrm{GMD}_{lk} = -\frac{2\nu}{n-1} \sum_i (x_{il} - \bar x_l)\, g(R_{ik}), \qquad
        \mathrm{GC}_{lk} = \mathrm{GMD}_{lk}/\mathrm{GMD}_{ll}, \qquad
        (\mathrm{GC} + \mathrm{GC}^\top)\, b_k = \lambda_k b_k

    Parameters
    ----------
    gmd : DataFrame, shape (p, p)
        Generalized Gini mean differences: the row says whose values, the column whose ranks. Not symmetric. In the unit
        of the row's variable; the diagonal is positive and, at nu = 2, Gini's mean difference.
    gc : DataFrame, shape (p, p)
        Gini correlations, `gmd` with each row divided by its diagonal; no unit. Not symmetric, at most 1 without ties;
        below -1 in skewed data unless nu = 2.
    eigenvalues : Series, length p
        The λ, decreasing. They sum to 2p; the last ones may be negative.
    directions : DataFrame, shape (p, p)
        Unit eigenvectors in columns ("PC1", "PC2", ...), the entry of largest magnitude positive; the index is named
        "variable", the columns "component".
    scores : DataFrame, shape (n, p)
        Coordinates of the observations, F = ZB; no unit. Their labels are those of :class:`dppca_nb.PCAResult`.
    center : Series, length p
        The means.
    standardized : DataFrame, shape (n, p)
        Z, the data less `center`, over the diagonal of `gmd`: its generalized Gini mean differences are `gc`.
    nu : float
        The aversion parameter: 2 weighs ranks evenly, more looks at small values, less at large ones.
    rank_scale : {"unit", "raw"}
        See :func:`gini_pca`; `gmd`, `standardized` and `scores` depend on it and nothing else does.
    tied : tuple of tuples of int
        Groups of components, numbered from 1, whose eigenvalues are equal up to rounding: only their span is defined.
    warnings : tuple of str
        What to bear in mind: negative eigenvalues, tied eigenvalues, tied minima at large nu.
    double_ranks : ndarray of int, shape (n, p)
        Twice the decumulative ranks.

    See Also
    --------
    gini_pca : make one from data.
    gini_test : which variables an axis has to do with.

    Notes
    -----
    The sign of an axis is a convention, but not a harmless one: unless nu = 2, the Gini mean difference of -f is not
    that of f, and so the correlations of variables with scores change beyond their sign if an axis is turned round.

    Examples
    --------
    >>> from dppca_nb import datasets, gini_pca
    >>> cars = gini_pca(datasets.cars2004(), nu=4)
    >>> cars
    GiniResult(n=24, p=6, nu=4.0, rank_scale='unit', negative eigenvalues: 1)
    >>> cars.summary().round(4)
               eigenvalue      mu  share of absolute  share of trace      note
    component
    PC1           10.0469  5.0234             0.8317          0.8372
    PC2            1.2788  0.6394             0.1059          0.1066
    PC3            0.3608  0.1804             0.0299          0.0301
    PC4            0.3156  0.1578             0.0261          0.0263
    PC5            0.0378  0.0189             0.0031          0.0031
    PC6           -0.0398 -0.0199            -0.0033         -0.0033  negative
    """

    gmd: pd.DataFrame
    gc: pd.DataFrame
    eigenvalues: pd.Series
    directions: pd.DataFrame
    scores: pd.DataFrame
    center: pd.Series
    standardized: pd.DataFrame
    nu: float
    rank_scale: str
    tied: tuple[tuple[int, ...], ...]
    warnings: tuple[str, ...]
    double_ranks: np.ndarray = field(repr=False)

    @property
    def n(self) -> int:
        """Number of observations."""
        return len(self.scores)

    @property
    def p(self) -> int:
        """Number of variables, and of components."""
        return len(self.directions)

    @property
    def mu(self) -> pd.Series:
        """Half the eigenvalues: the generalized Gini index of each axis, b'(GC)b. They sum to p."""
        return (self.eigenvalues / 2).rename("mu")

    @property
    def ranks(self) -> pd.DataFrame:
        """Decumulative ranks, shape (n, p): 1 for the largest value of a column, n for the smallest, ties averaged."""
        return pd.DataFrame(self.double_ranks / 2, index=self.standardized.index, columns=self.standardized.columns)

    @property
    def ggmd(self) -> pd.DataFrame:
        """Generalized Gini index of the axes, B'(GC)B, shape (p, p): `mu` on the diagonal, antisymmetric off it."""
        B = self.directions.to_numpy()
        components = self.directions.columns
        return pd.DataFrame(
            B.T @ self.gc.to_numpy() @ B, index=components, columns=components.rename("ranks of component")
        )

    def shares(self, kind: Shares = "abs") -> pd.Series:
        """Eigenvalues as proportions.

        Parameters
        ----------
        kind : {"abs", "trace"}
            Of the sum of their absolute values, or of their sum 2p, as in the paper. The two differ if an eigenvalue is
            negative; its share is negative in both.

        Returns
        -------
        Series
            Index "component". The absolute values of "abs" sum to 1, and the values of "trace" sum to 1.
        """
        check_choice("kind", kind, Shares)
        total = self.eigenvalues.abs().sum() if kind == "abs" else 2 * self.p
        return (self.eigenvalues / total).rename("share")

    @cached_property
    def observation_contributions(self) -> pd.DataFrame:
        r"""Part of each observation in the index of each axis (ACT), shape (n, p); every column sums to 1.

        .. math:: \mathrm{ACT}_{ik} = -\frac{2\nu}{n-1}\, f_{ik}\, (g(R)\,b_k)_i / \mu_k

        Parts may be negative, and are large where mu is near 0. NaN for an axis whose mu is 0 up to rounding.
        """
        F = self.scores.to_numpy()
        parts = F / _largest(F) * rank_projections(self.double_ranks, self.directions.to_numpy(), self.nu)
        mu = np.abs(self.mu.to_numpy())
        with np.errstate(divide="ignore", invalid="ignore"):
            parts /= np.where(mu > _NOTHING * mu.max(), parts.sum(axis=0), np.nan)
        return pd.DataFrame(parts, index=self.scores.index, columns=self.scores.columns)

    @property
    def observation_shares(self) -> pd.DataFrame:
        r"""Part of each axis in the distance of each observation from the centre (RCT), shape (n, p); rows sum to 1.

        :math:`|f_{ik}| / \sum_m |f_{im}|`; NaN for an observation at the centre itself.
        """
        F = np.abs(self.scores.to_numpy())
        with np.errstate(invalid="ignore"):
            return pd.DataFrame(F / F.sum(axis=1, keepdims=True), index=self.scores.index, columns=self.scores.columns)

    @cached_property
    def score_gmd(self) -> pd.Series:
        """Gini mean differences of the scores by their own ranks, length p, no unit; as a rule not `mu`."""
        F = self.scores.to_numpy()
        sums = own_sums(np.sort(F.T, axis=1), rank_weights(self.n, self.nu), rounding_of(F))
        # the first diagonal entry of gmd, over its own sum, is the factor that all Gini mean differences have
        first = self.standardized.iloc[:, 0].to_numpy()
        factor = -1 / (first @ rank_projections(self.double_ranks[:, :1], np.ones((1, 1)), self.nu)[:, 0])
        nothing = np.abs(F).max(axis=0) <= _NOTHING * np.abs(F).max()
        return pd.Series(np.where(nothing, 0.0, sums * factor), index=self.scores.columns, name="score_gmd")

    def variable_correlations(self, normalize: Normalize = "scores") -> pd.DataFrame:
        r"""U statistics of the variables (rows) with the axes (columns), shape (p, p).

        .. math:: U_{lk} = \frac{\mathrm{Cov}(f_l, g(R_k))}{\mathrm{Cov}(f_l, g(R_{f_l}))} \text{ ("scores")}, \qquad
            \frac{\mathrm{Cov}(f_l, g(R_k))}{\mathrm{Cov}(z_k, g(R_k))} \text{ ("variables")}

        Parameters
        ----------
        normalize : {"scores", "variables"}
            "scores", as in the paper, gives Gini correlations of the scores with the ranks of the variables: at most 1
            without ties, NaN for an axis without scores. "variables", as in the authors' program, gives the slopes
            B'(GC) of Gini regressions, which have no bound.

        Returns
        -------
        DataFrame
            Index "variable", columns "component".
        """
        check_choice("normalize", normalize, Normalize)
        slopes = self.gc.to_numpy().T @ self.directions.to_numpy()
        if normalize == "scores":
            slopes = slopes / self.score_gmd.replace(0, np.nan).to_numpy()
        return pd.DataFrame(slopes, index=self.directions.index, columns=self.directions.columns)

    def circle(self, normalize: Normalize = "scores") -> pd.DataFrame:
        """Coordinates of the variables (rows) in the circle of correlations, shape (p, p).

        Cosines: `variable_correlations` with every row divided by its length over all axes. The squares of a row sum to
        1, and its first two entries lie inside the unit circle.

        Parameters
        ----------
        normalize : {"scores", "variables"}
            As in `variable_correlations`.

        Returns
        -------
        DataFrame
            Index "variable", columns "component".
        """
        U = self.variable_correlations(normalize)
        return U.div(np.sqrt((U**2).sum(axis="columns")), axis="index")

    def transform(self, data) -> pd.DataFrame:
        """Scores of new rows, by the means and Gini mean differences of the rows that the result was made from.

        Parameters
        ----------
        data : Table, DataFrame or array_like, shape (m, p)
            The same variables; columns with names may come in any order. A single row needs two dimensions.

        Returns
        -------
        DataFrame, shape (m, p)
            Index "row", columns "component".

        Raises
        ------
        DataError
            For data that cannot be used, and for other variables.
        """
        X, index = new_rows(data, self.directions.index)
        mean, divisor = self.center.to_numpy(), np.diag(self.gmd)
        with np.errstate(under="ignore"):
            exponent = np.frexp(np.maximum(np.abs(X).max(axis=0), np.abs(mean)))[1]
            Z = (np.ldexp(X, -exponent) - np.ldexp(mean, -exponent)) / np.ldexp(divisor, -exponent)
            return pd.DataFrame(Z @ self.directions.to_numpy(), index=index, columns=self.scores.columns)

    def inverse_transform(self, scores) -> pd.DataFrame:
        """Rows in the units of the data that have these scores.

        Parameters
        ----------
        scores : DataFrame or array_like, shape (m, k)
            On the first k axes; the others count as 0. With all p axes `transform` is undone.

        Returns
        -------
        DataFrame, shape (m, p)
            Columns named like the variables.
        """
        F = np.asarray(scores, dtype=float)
        if F.ndim != 2 or not 1 <= F.shape[1] <= self.p:
            raise ValueError(f"scores must have two dimensions and 1 to {self.p} columns; got shape {F.shape}.")
        rows = F @ self.directions.to_numpy()[:, : F.shape[1]].T * np.diag(self.gmd) + self.center.to_numpy()
        index = scores.index if isinstance(scores, pd.DataFrame) else pd.RangeIndex(len(F), name="row")
        return pd.DataFrame(rows, index=index, columns=self.standardized.columns)

    def summary(self) -> pd.DataFrame:
        """Table of the components, one row each.

        Returns
        -------
        DataFrame
            Index "component"; columns "eigenvalue", "mu" (half of it), "share of absolute", "share of trace" (see
            `shares`) and "note", which says what is negative or not defined.
        """
        notes = {name: ["negative"] for name in self.eigenvalues.index[self.eigenvalues < 0]}
        for group in self.tied:
            for one in group:
                others = ", ".join(f"PC{other}" for other in group if other != one)
                notes.setdefault(f"PC{one}", []).append(f"only the span with {others} is defined")
        return pd.DataFrame(
            {
                "eigenvalue": self.eigenvalues,
                "mu": self.mu,
                "share of absolute": self.shares("abs"),
                "share of trace": self.shares("trace"),
                "note": ["; ".join(notes.get(name, [])) for name in self.eigenvalues.index],
            }
        )

    def __repr__(self):
        negative = int((self.eigenvalues < 0).sum())
        more = f", negative eigenvalues: {negative}" if negative else ""
        more += f", tied={self.tied}" if self.tied else ""
        return f"GiniResult(n={self.n}, p={self.p}, nu={self.nu!r}, rank_scale={self.rank_scale!r}{more})"


def check_choice(name: str, value, choices) -> None:
    """Refuse a word that is not one of the choices.

    Examples
    --------
    >>> check_choice("kind", "trace", Shares)
    """
    words = get_args(choices)
    if not (isinstance(value, str) and value in words):
        listed = " or ".join(f'"{word}"' for word in words)
        raise ValueError(f"{name} must be {listed}; got {value!r}.")


def _largest(F: np.ndarray) -> float:
    """Return the largest magnitude, to bring scores of a raw scale into range; 1 if all are 0."""
    return float(np.abs(F).max()) or 1.0
