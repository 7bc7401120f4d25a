"""A contamination study: how far one row, multiplied by theta, moves ordinary and Gini principal components."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import get_args

import numpy as np
import pandas as pd

from dppca_nb.core.gini import gini_pca
from dppca_nb.core.gini_result import Shares, check_choice
from dppca_nb.core.pca import pca

__all__ = ["ContaminationStudy", "contamination_study"]

# Observation shares are squares in ordinary PCA and magnitudes in Gini PCA; with this name ordinary PCA has magnitudes.
MAGNITUDES = "variance, magnitudes"


@dataclass(frozen=True, eq=False, repr=False)
class ContaminationStudy:
    """What one row, multiplied by theta, changed. Everything is in percent, squared errors in its square.

    Parameters
    ----------
    clean_shares : DataFrame, shape (methods, p)
        Shares of the eigenvalues in the sum of their absolute values, without contamination. Index "method"
        ("variance", then "nu=2" and so on), columns "component".
    share_errors : DataFrame, shape (thetas, 2 * methods * p)
        Squared errors of the shares, one row for each theta. Columns ("kind", "method", "component"); the kinds are
        those of `share_mse`.
    contribution_mse : DataFrame, shape (n, methods * p)
        Mean over theta of the squared errors of every observation's contribution to an axis (ACT). Columns ("method",
        "component").
    observation_share_mse : DataFrame, shape (n, (methods + 1) * p)
        The same of every axis's share in an observation (RCT). There is one more method: the shares are squares in
        ordinary PCA and magnitudes in Gini PCA, and "variance, magnitudes" has magnitudes in ordinary PCA too.
    rows : Series, length thetas
        The observation that was multiplied, numbered from 0.
    """

    clean_shares: pd.DataFrame
    share_errors: pd.DataFrame
    contribution_mse: pd.DataFrame
    observation_share_mse: pd.DataFrame
    rows: pd.Series

    def share_mse(self, kind: Shares = "abs") -> pd.DataFrame:
        """Mean squared errors of the shares over all theta: index "method", columns "component".

        Parameters
        ----------
        kind : {"abs", "trace"}
            Shares of the sum of absolute eigenvalues, or of their sum, which contamination does not change. They differ
            where an eigenvalue is negative: the first then hides a part of what the largest has grown.
        """
        check_choice("kind", kind, Shares)
        return self.share_errors[kind].mean().unstack().loc[self.clean_shares.index]

    def __repr__(self):
        thetas, n, (_, p) = self.share_errors.index, len(self.contribution_mse), self.clean_shares.shape
        span = f"{len(thetas)} thetas from {min(thetas):g} to {max(thetas):g}"
        return f"ContaminationStudy(n={n}, p={p}, {span}: {', '.join(self.clean_shares.index)})"


def contamination_study(
    correlation,
    *,
    thetas: Sequence[float],
    nus: Sequence[float] = (2, 4, 6),
    n: int = 500,
    rng: np.random.Generator,
    progress: Callable[[int, int], object] | None = None,
) -> ContaminationStudy:
    r"""Draw normal rows once; for each theta multiply one of them, drawn at random, and compare with the clean rows.

    The protocol of Charpentier, Mussard and Ouraga (2021), doi 10.48550/arXiv.1910.10133, as far as it is known, with
    shares :math:`s_k` of the eigenvalues and T values of theta:

    .. math:: \mathrm{MSE}_k = \frac1T \sum_\theta \bigl(s_k(X^\theta) - s_k(X)\bigr)^2

    and likewise for each observation's contributions and shares. Axes are compared by their order.

    Parameters
    ----------
    correlation : array_like, shape (p, p)
        Positive definite. The rows are normal with this covariance, and mean zero.
    thetas : sequence of float
        What the row is multiplied by, one row for each; 1 changes nothing.
    nus : sequence of float
        Aversion parameters of the Gini PCA.
    n : int, default 500
        Number of rows.
    rng : Generator
        Source of the rows, and then of one observation for each theta.
    progress : callable, optional
        Called with the number of thetas done and the number of all, after each.

    Returns
    -------
    ContaminationStudy

    Raises
    ------
    ValueError
        If there is no theta, or if `correlation` is not square, symmetric and positive definite.

    Notes
    -----
    A theta takes some milliseconds. An interrupt is not caught: run a study for each seed, and keep those done.

    Examples
    --------
    >>> low = [[1, -0.5, 0.25, 0.5], [-0.5, 1, -0.9, 0], [0.25, -0.9, 1, -0.25], [0.5, 0, -0.25, 1]]
    >>> study = contamination_study(low, thetas=range(1, 100, 9), nus=[2], n=200, rng=np.random.default_rng(1))
    >>> study
    ContaminationStudy(n=200, p=4, 11 thetas from 1 to 91: variance, nu=2)
    >>> study.clean_shares["PC1"].round(1).tolist()
    [53.1, 52.4]
    >>> bool((study.share_mse().loc["nu=2"] < study.share_mse().loc["variance"]).all())
    True
    """
    thetas = [float(theta) for theta in thetas]
    if not thetas:
        raise ValueError("thetas is empty: give at least one number to multiply a row by.")
    X = rng.standard_normal((n, len(correlation))) @ _root(correlation).T
    clean = _measured(X, nus)
    errors, rows = [], []
    sums = [{method: np.zeros_like(part) for method, part in parts.items()} for parts in clean[1:]]
    for done, theta in enumerate(thetas, start=1):
        row = int(rng.integers(n))
        moved = X.copy()
        moved[row] *= theta
        found = _measured(moved, nus)
        rows.append(row)
        errors.append([(share - clean[0][method]) ** 2 for method, share in found[0].items()])
        for total, parts, before in zip(sums, found[1:], clean[1:], strict=True):
            for method, part in parts.items():
                total[method] += (part - before[method]) ** 2
        if progress is not None:
            progress(done, len(thetas))
    components = pd.Index([f"PC{k}" for k in range(1, X.shape[1] + 1)], name="component")
    index = pd.Index(thetas, name="theta")
    methods = pd.Index(list(clean[0]), name="method")
    columns = pd.MultiIndex.from_product([pd.Index(get_args(Shares), name="kind"), methods, components])
    errors = np.array(errors).swapaxes(1, 2)  # theta, kind, method, component
    return ContaminationStudy(
        clean_shares=pd.DataFrame([share[0] for share in clean[0].values()], index=methods, columns=components),
        share_errors=pd.DataFrame(errors.reshape(len(thetas), -1), index=index, columns=columns),
        contribution_mse=_beside(sums[0], components) / len(thetas),
        observation_share_mse=_beside(sums[1], components) / len(thetas),
        rows=pd.Series(rows, index=index, name="observation"),
    )


def _root(correlation) -> np.ndarray:
    """Return the Cholesky factor of a covariance, or say what is wrong with it."""
    R = np.asarray(correlation, dtype=float)
    if R.ndim != 2 or R.shape[0] != R.shape[1] or not np.allclose(R, R.T, rtol=0, atol=1e-12):
        raise ValueError(
            f"correlation must be a square, symmetric matrix; got shape {R.shape}, or it differs from its transpose."
        )
    try:
        return np.linalg.cholesky(R)
    except np.linalg.LinAlgError as error:
        least = np.linalg.eigvalsh(R)[0]
        raise ValueError(f"correlation must be positive definite; its smallest eigenvalue is {least:.4g}.") from error


def _measured(X: np.ndarray, nus: Sequence[float]) -> tuple[dict, dict, dict]:
    """Return shares of axes (of both kinds), contributions and shares of observations by method, in percent."""
    ordinary = pca(X, scale=True)
    magnitudes = np.abs(ordinary.scores.to_numpy())
    squares = magnitudes**2
    # here and for Gini shares: what the results' own properties say, without their labels, which take longer
    shares = {"variance": np.array([ordinary.shares.to_numpy()] * 2)}
    contributions = {"variance": squares / squares.sum(axis=0)}
    observations = {
        "variance": squares / squares.sum(axis=1, keepdims=True),
        MAGNITUDES: magnitudes / magnitudes.sum(axis=1, keepdims=True),
    }
    for nu in nus:
        gini, method = gini_pca(X, nu=nu), f"nu={nu:g}"
        values = gini.eigenvalues.to_numpy()
        shares[method] = np.array([values / np.abs(values).sum(), values / values.sum()])
        contributions[method] = gini.observation_contributions.to_numpy()
        observations[method] = gini.observation_shares.to_numpy()
    return tuple(
        {method: 100 * part for method, part in kind.items()} for kind in (shares, contributions, observations)
    )


def _beside(parts: dict[str, np.ndarray], components: pd.Index) -> pd.DataFrame:
    """Put the tables of all methods side by side, one row for each observation."""
    columns = pd.MultiIndex.from_product([pd.Index(list(parts), name="method"), components])
    return pd.DataFrame(np.hstack(list(parts.values())), columns=columns).rename_axis("observation")
