"""Decumulative ranks, their weights, and generalized Gini mean differences: arrays without labels."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from dppca_nb._columns import listing, show
from dppca_nb.table import DataError

_EPS = np.finfo(float).eps
_SAFE = 250  # magnitudes between 2**-250 and 2**250 can be squared and summed without a thought
_ROWS = 8192  # rows whose weights are looked up at a time: they stay in the cache for the product
_NEAR_ONE = 1e-8  # nu this close to 1 counts as 1 where |nu - 1| is a factor
# Scores that are equal in exact arithmetic differ by rounding: by less than this, relative to a typical row.
_ROUNDING = 1e-13


class GiniNumbers(NamedTuple):
    """What :func:`measure` found."""

    gmd: np.ndarray  # (p, p), for X / 2**exponent and without the factor of scale_factor
    ranks: np.ndarray  # (n, p), doubled
    means: np.ndarray  # (p,), of X / 2**exponent
    exponent: np.ndarray  # (p,)


def double_ranks(x: np.ndarray) -> np.ndarray:
    """Rank from the largest (1) to the smallest (n), ties averaged, times two: whole numbers, with which to look up.

    Parameters
    ----------
    x : ndarray, shape (n,)
        Finite.

    Returns
    -------
    ndarray of int, shape (n,)

    Examples
    --------
    >>> double_ranks(np.array([7.0, 9.0, 7.0, 1.0])) / 2
    array([2.5, 1. , 2.5, 4. ])
    """
    n = len(x)
    order = np.argsort(x)
    ascending = x[order]
    ranks = np.empty(n, dtype=np.int32 if n < 2**30 else np.int64)
    new = ascending[1:] != ascending[:-1]
    if new.all():
        ranks[order] = np.arange(2 * n, 0, -2)
    else:
        starts = np.concatenate([[0], np.flatnonzero(new) + 1])
        sizes = np.diff(starts, append=n)
        ranks[order] = np.repeat(2 * n - 2 * starts - sizes + 1, sizes)
    return ranks


def rank_weights(n: int, nu: float) -> np.ndarray:
    r"""Give the weights of the ranks r = 0.5, 1, 1.5, ..., n, at the position 2r.

    .. math:: g(r) = \frac{(r/n)^{\nu-1} - 1}{\nu - 1}, \qquad g(r) = \log(r/n) \text{ at } \nu = 1

    up to a constant, which no Gini mean difference sees: the values are centred. It increases for every nu > 0, passes
    through nu = 1 without a jump, and cannot overflow.

    Parameters
    ----------
    n : int
        Number of ranks.
    nu : float
        Positive.

    Returns
    -------
    ndarray, shape (2n + 1,)
        The entry at 0 belongs to no rank; it is 0.

    Examples
    --------
    >>> rank_weights(2, 2.0).round(4)
    array([ 0.  , -0.75, -0.5 , -0.25,  0.  ])
    """
    power = nu - 1
    logs = np.log(np.arange(1, 2 * n + 1) / (2 * n))
    if power == 0:
        weights = logs
    elif abs(power) <= 1:
        weights = np.expm1(power * logs) / power
    else:  # the constant -1 would swallow the digits of weights far below it
        with np.errstate(under="ignore"):
            weights = np.exp(power * logs) / power
    return np.concatenate([[0.0], weights])


def scale_factor(n: int, nu: float, *, raw: bool) -> float:
    r"""Return what the sums of values times weights are multiplied by to be generalized Gini mean differences.

    With r/n for ranks this is :math:`2\nu|\nu-1|/(n-1)`, and with the ranks themselves :math:`n^{\nu-2}` times that.
    At nu = 1 the factor :math:`|\nu-1|` is left out: the limit would be 0 for all data.

    Examples
    --------
    >>> scale_factor(5, 2.0, raw=False), scale_factor(5, 4.0, raw=True) / scale_factor(5, 4.0, raw=False)
    (1.0, 25.0)
    """
    power = 1.0 if abs(nu - 1) < _NEAR_ONE else abs(nu - 1)
    factor = 2 * nu * power / (n - 1)
    try:
        factor *= float(n) ** (nu - 2) if raw else 1.0
    except OverflowError:
        factor = math.inf
    if not np.finfo(float).tiny < factor < math.inf:
        remedy = 'use rank_scale="unit"' if raw else "choose a moderate nu"
        raise ValueError(
            f"nu={nu:g} with {n} rows puts Gini mean differences outside the range of double precision: {remedy}."
        )
    return factor


def measure(X: np.ndarray, names, nu: float) -> GiniNumbers:
    """Rank, centre and measure the columns.

    Parameters
    ----------
    X : ndarray, shape (n, p)
        From :func:`dppca_nb.table.as_matrix`, order "F", n >= 2. It is used up: afterwards it holds
        X / 2**exponent less its means.
    names : sequence of str, length p
        For messages.
    nu : float
        Positive.

    Returns
    -------
    GiniNumbers
        Row l, column k of `gmd` is minus the sum of values of variable l times weights of the ranks of variable k.

    Raises
    ------
    DataError
        For constant columns; they are named.

    Examples
    --------
    >>> found = measure(np.array([[1.0], [2.0], [4.0]], order="F"), ["x"], 2.0)
    >>> found.gmd * scale_factor(3, 2.0, raw=False)  # the mean of |1 - 2|, |1 - 4|, |2 - 4|
    array([[2.]])
    """
    n, p = X.shape
    exponent, means, still = np.zeros(p, dtype=int), np.zeros(p), []
    ranks = None
    for j in range(p):
        x = X[:, j]
        own = double_ranks(x)
        ranks = np.empty((n, p), dtype=own.dtype, order="F") if ranks is None else ranks
        ranks[:, j] = own
        largest = max(x.max(), -x.min())
        size = np.frexp(largest)[1]
        if abs(size) > _SAFE:  # powers of two change no digit
            exponent[j], largest = size, np.ldexp(largest, -size)
            np.ldexp(x, -size, out=x)
        whole = _are_whole(x) if exponent[j] == 0 else False
        first = x.mean()
        x -= first
        rest = x.mean()  # of small numbers: it has the digits that the first mean lacks
        x -= rest
        means[j] = first + rest
        if own.min() == own.max() or (_within_rounding(x, largest) and not whole):
            still.append(names[j])
    if still:
        raise DataError(
            f"Constant: {listing([show(name) for name in still])}. A variable that does not vary has no Gini mean "
            "difference to divide by: leave it out."
        )
    weights, products, sums = rank_weights(n, nu), np.zeros((p, p)), np.zeros(p)
    for start in range(0, n, _ROWS):
        part = weights.take(ranks[start : start + _ROWS])
        products += X[start : start + _ROWS].T @ part
        sums += part.sum(axis=0)
    products -= np.outer(X.sum(axis=0), sums / n)  # the mean of X is 0 up to rounding only
    return GiniNumbers(-products, ranks, means, exponent)


def _are_whole(x: np.ndarray) -> bool:
    """Tell whether the column holds integers, all of whose digits count; the first ones answer for most columns."""
    return bool((x[:64] == np.floor(x[:64])).all() and np.abs(x).max() < 2.0**63 and (x == np.floor(x)).all())


def _within_rounding(centred: np.ndarray, largest: float) -> bool:
    """Tell whether a column varies within rounding of its magnitude only, by the rule of table.scale_table."""
    n = len(centred)
    return bool(np.sqrt(centred @ centred / (n - 1)) <= min(n, 64) * _EPS * largest)


def rank_projections(ranks: np.ndarray, B: np.ndarray, nu: float) -> np.ndarray:
    """Project centred weights of doubled ranks, shape (n, p), on directions, shape (p, k).

    Examples
    --------
    >>> rank_projections(np.array([[2], [4], [6]]), np.array([[3.0]]), 2.0).round(9).ravel() + 0.0
    array([-1.,  0.,  1.])
    """
    weights = rank_weights(len(ranks), nu)
    found = np.empty((len(ranks), B.shape[1]))
    for start in range(0, len(ranks), _ROWS):
        found[start : start + _ROWS] = weights.take(ranks[start : start + _ROWS]) @ B
    return found - found.mean(axis=0)


def rounding_of(scores: np.ndarray) -> float:
    """Return how far rounding may move scores that are equal in exact arithmetic.

    Parameters
    ----------
    scores : ndarray, shape (n, p)
        On all axes.

    Examples
    --------
    >>> rounding_of(np.array([[3.0, 4.0], [0.0, 5.0], [1e9, 0.0]]))
    5e-13
    """
    largest = float(np.abs(scores).max()) or 1.0
    unit = scores / largest  # those of the raw scale may be too small for squares
    with np.errstate(under="ignore"):
        sizes = np.sqrt(np.einsum("ij,ij->i", unit, unit))
    # the median: one row far out must not tie the others
    return _ROUNDING * largest * float(np.median(sizes) or sizes.mean())


def snapped(x: np.ndarray, slack: float) -> np.ndarray:
    """Make values equal that are no further apart than the slack from one to the next.

    Examples
    --------
    >>> snapped(np.array([1.0, 3.0, 1.0 + 1e-15]), 1e-12)
    array([1., 3., 1.])
    """
    order = np.argsort(x)
    ascending = x[order]
    apart = np.diff(ascending) > slack
    if not apart.all():
        starts = np.concatenate([[0], np.flatnonzero(apart) + 1])
        ascending = np.repeat(ascending[starts], np.diff(starts, append=len(x)))
    out = np.empty_like(x)
    out[order] = ascending
    return out


def own_sums(ascending: np.ndarray, weights: np.ndarray, slack: float) -> np.ndarray:
    """Return minus the sums of values times centred weights of their own ranks: Gini mean differences without factor.

    Parameters
    ----------
    ascending : ndarray, shape (m, n)
        Each row sorted.
    weights : ndarray
        From :func:`rank_weights`, for at least n ranks.
    slack : float
        Neighbours no further apart are tied; negative if no ties are to be looked for.

    Returns
    -------
    ndarray, shape (m,)

    Examples
    --------
    >>> own_sums(np.array([[1.0, 2.0, 4.0]]), rank_weights(3, 2.0), 0.0).round(12)
    array([1.])
    """
    m, n = ascending.shape
    falling = weights[2 * n : 0 : -2]  # the smallest value has the rank n
    sums = ascending @ (falling - falling.mean())
    if slack >= 0:
        tied = np.zeros((m, n + 1), dtype=bool)  # a column that is never tied ends the groups of a row
        np.less_equal(np.diff(ascending), slack, out=tied[:, 1:-1])
        flat = tied.ravel()
        starts = np.flatnonzero(~flat[:-1] & flat[1:])  # first members of groups
        ends = np.flatnonzero(flat[:-1] & ~flat[1:])  # last members
        row, first = np.divmod(starts, n + 1)
        size = ends - starts + 1
        cumulated = np.concatenate([[0.0], np.cumsum(falling)])
        lost = size * weights[2 * n - 2 * first - size + 1] - (cumulated[first + size] - cumulated[first])
        np.add.at(sums, row, ascending[row, first] * lost)
        # the weights of tied ranks have another mean
        sums -= ascending.sum(axis=1) / n * np.bincount(row, weights=lost, minlength=m)
    return -sums
