"""Leave-one-out Gini statistics, exact, without ranking anything anew: arrays without labels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from dppca_nb.core.gini_ranks import double_ranks, own_sums, rank_weights, rounding_of, snapped

_CELLS = 2**18  # scores that are sorted at a time: 2 MB


class VanishedError(ValueError):
    """Without some row, nothing is left of the Gini mean differences of these columns; `args` has their list."""


class Setting(NamedTuple):
    """What the jackknife works on; the fields are those of a :class:`dppca_nb.core.gini_result.GiniResult`."""

    Z: np.ndarray  # (n, p)
    F: np.ndarray  # (n, p)
    B: np.ndarray  # (p, p)
    ranks: np.ndarray  # (n, p), doubled
    nu: float


class FullJackknife(NamedTuple):
    """What :func:`full_statistics` found for every row left out."""

    statistics: np.ndarray  # (n, len(axes), p)
    eigenvalues: np.ndarray  # (n, p)


def leave_one_out(A: np.ndarray, ranks: np.ndarray, weights: np.ndarray) -> np.ndarray:
    r"""Sum values times centred weights of ranks over all rows but one, for every row, in one go.

    Without row i the rank r of another row becomes r - 1 if its value is smaller than that of i, r - 1/2 if it is
    equal, and stays if it is larger. In the order of the ranks these are sums over the rows before a group of equal
    values, after it and in it: differences of cumulated sums.

    Parameters
    ----------
    A : ndarray, shape (n, m)
        Values.
    ranks : ndarray of int, shape (n,)
        Doubled, as from :func:`dppca_nb.core.gini_ranks.double_ranks`.
    weights : ndarray
        From :func:`dppca_nb.core.gini_ranks.rank_weights`.

    Returns
    -------
    ndarray, shape (n, m)
        Row i is the sum without row i, over the ranks among the other rows.

    Examples
    --------
    >>> x = np.array([[1.0], [2.0], [4.0]])
    >>> leave_one_out(x, double_ranks(x[:, 0]), 3 * rank_weights(3, 2.0)).ravel().round(9)
    array([-1. , -1.5, -0.5])
    """
    n = len(A)
    order = np.argsort(ranks, kind="stable")
    rising = ranks[order]
    A = A[order]
    weights = weights - weights[1:].mean()  # a constant changes nothing but the digits that are lost
    stays, falls = weights[rising], weights[np.maximum(rising - 2, 0)]
    P, p = _cumulated(A * stays[:, None]), _cumulated(stays)
    Q, q = _cumulated(A * falls[:, None]), _cumulated(falls)
    new = rising[1:] != rising[:-1]
    if new.all():
        sums, total = P[:-1] + (Q[-1] - Q[1:]), p[:-1] + (q[-1] - q[1:])
    else:
        starts = np.concatenate([[0], np.flatnonzero(new) + 1])
        sizes = np.diff(starts, append=n)
        s, size = np.repeat(starts, sizes), np.repeat(sizes, sizes)
        halfway = weights[rising - 1]
        group = np.repeat(np.add.reduceat(A, starts, axis=0), sizes, axis=0)
        sums = P[s] + (Q[-1] - Q[s + size]) + (group - A) * halfway[:, None]
        total = p[s] + (q[-1] - q[s + size]) + (size - 1) * halfway
    sums -= (A.sum(axis=0) - A) * (total / (n - 1))[:, None]
    out = np.empty_like(sums)
    out[order] = sums
    return out


def frozen_statistics(on: Setting, axes: list[int], *, by_scores: bool) -> Iterator[np.ndarray]:
    """Give the statistics without each row, variable after variable; Z and the scores stay, only ranks are adapted.

    Parameters
    ----------
    on : Setting
    axes : list of int
        Numbered from 0.
    by_scores : bool
        Whether the denominators are those of the scores, and not those of the variables.

    Yields
    ------
    ndarray, shape (n, len(axes))

    Examples
    --------
    >>> x = np.array([[-1.5], [0.0], [0.5], [1.0]])
    >>> on = Setting(x, x, np.ones((1, 1)), double_ranks(x[:, 0])[:, None], 2.0)
    >>> [found.ravel().tolist() for found in frozen_statistics(on, [0], by_scores=False)]
    [[1.0, 1.0, 1.0, 1.0]]
    """
    weights, F, own = rank_weights(len(on.F), on.nu), on.F[:, axes], None
    if by_scores:
        slack = rounding_of(on.F)
        ranks = [double_ranks(snapped(F[:, a], slack)) for a in range(len(axes))]
        own = np.hstack([leave_one_out(F[:, [a]], ranks[a], weights) for a in range(len(axes))])
    for k in range(on.Z.shape[1]):
        if by_scores:
            yield leave_one_out(F, on.ranks[:, k], weights) / own
        else:
            found = leave_one_out(np.column_stack([F, on.Z[:, k]]), on.ranks[:, k], weights)
            yield found[:, :-1] / found[:, -1:]


def full_statistics(on: Setting, axes: list[int], *, by_scores: bool) -> FullJackknife:
    """Compute the statistics without each row, with Gini correlations, directions and scores of the other rows.

    Directions are matched by the order of their eigenvalues and turned to the side of those of all rows.

    Parameters
    ----------
    on : Setting
    axes : list of int
        Numbered from 0.
    by_scores : bool
        Whether the denominators are those of the scores, which takes sorting the scores on each axis n times, and not
        those of the variables.

    Returns
    -------
    FullJackknife

    Examples
    --------
    >>> x = np.array([[-1.5], [0.0], [0.5], [1.0]])
    >>> on = Setting(x, x, np.ones((1, 1)), double_ranks(x[:, 0])[:, None], 2.0)
    >>> full_statistics(on, [0], by_scores=True).statistics.ravel().round(12)
    array([1., 1., 1., 1.])
    """
    n, p = on.Z.shape
    weights = rank_weights(n, on.nu)
    sums = np.empty((n, p, p))
    for k in range(p):
        sums[:, :, k] = leave_one_out(on.Z, on.ranks[:, k], weights)
    divisors = sums[:, range(p), range(p)].copy()
    slack = _slack(on) if by_scores else -1.0
    unit = float(np.median(-divisors))  # for scores of the size that the slack is meant for
    statistics, eigenvalues = np.empty((n, len(axes), p)), np.empty((n, p))
    step = max(1, min(n, _CELLS // max(n * len(axes), p * p)))
    for start in range(0, n, step):
        rows = slice(start, min(start + step, n))
        gc = sums[rows] / divisors[rows, :, None]
        if not (finite := np.isfinite(gc).all(axis=(0, 2))).all():
            raise VanishedError(np.flatnonzero(~finite).tolist())
        values, V = np.linalg.eigh(gc + gc.transpose(0, 2, 1))
        eigenvalues[rows] = values[:, ::-1]
        V = V[:, :, ::-1][:, :, axes]
        V = V * np.where(np.einsum("ijk,jk->ik", V, on.B[:, axes]) < 0, -1.0, 1.0)[:, None, :]
        found = V.transpose(0, 2, 1) @ gc
        if by_scores:
            found *= (unit / _own(on.Z, V * (unit / -divisors[rows, :, None]), start, weights, slack))[:, :, None]
        statistics[rows] = found
    return FullJackknife(statistics, eigenvalues)


def standard_errors(statistics: np.ndarray) -> np.ndarray:
    """Jackknife standard errors from the statistics without each row (first axis).

    Examples
    --------
    >>> standard_errors(np.array([0.0, 1.0, 2.0]))  # means of two of 3, 1 and -1
    np.float64(1.1547005383792515)
    """
    n = len(statistics)
    return np.sqrt(np.maximum(statistics.var(axis=0), 0) * (n - 1))


def _cumulated(values: np.ndarray) -> np.ndarray:
    """Cumulate along the rows, from 0 on."""
    out = np.zeros((len(values) + 1, *values.shape[1:]))
    np.cumsum(values, axis=0, out=out[1:])
    return out


def _slack(on: Setting) -> float:
    """Return below which distance the scores of rows left over are tied; negative where no ties are to be expected."""
    slack = rounding_of(on.F)
    # at nu = 2 a tied group weighs what its ranks would weigh; else the ties among all rows tell of those among fewer
    ties = on.nu != 2 and (np.diff(np.sort(on.F.T, axis=1)) <= slack).any()
    return slack if ties else -1.0


def _own(Z, W: np.ndarray, start: int, weights: np.ndarray, slack: float) -> np.ndarray:
    """Gini mean differences of the scores ZW, shape (m, len(axes)), where row start + i is left out of scores i."""
    m, p, count = W.shape
    F = W.transpose(0, 2, 1).reshape(m * count, p) @ Z.T
    each = F.reshape(m, count, len(Z))
    each[range(m), :, range(start, start + m)] = -np.inf  # sorted to the front, and left off
    F.sort(axis=1)
    return own_sums(F[:, 1:], weights, slack).reshape(m, count)
