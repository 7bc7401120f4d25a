"""Singular value and eigenvalue decomposition of centred, scaled columns: arrays without labels, made in place."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy import linalg

from dppca_nb.core.align import fix_signs
from dppca_nb.table import DataError

_EPS = np.finfo(float).eps
_EQUAL = 1e-9  # variances closer than this, relative to the larger, are one variance
_SAFE = 250  # magnitudes between 2**-250 and 2**250 can be squared and summed without a thought
_ROWS = 2048  # rows that are turned at a time: both layouts of them fit in the cache


class Decomposition(NamedTuple):
    """What :func:`decompose` found; the fields are those of :class:`dppca_nb.core.pca.PCAResult`, without labels."""

    directions: np.ndarray
    scores: np.ndarray
    singular_values: np.ndarray
    shares: np.ndarray
    means: np.ndarray
    scales: np.ndarray
    deviations: np.ndarray
    rank: int
    tied: tuple[tuple[int, ...], ...]


def column_major(values: np.ndarray) -> np.ndarray:
    """Copy a matrix so that its columns are contiguous: sums along them are fast and accurate, LAPACK works in place.

    Parameters
    ----------
    values : ndarray, shape (n, p)

    Returns
    -------
    ndarray of float64, shape (n, p)
        Fortran order, writeable.

    Examples
    --------
    >>> column_major(np.eye(3)[:2]).flags.f_contiguous
    True
    """
    Y = np.empty(values.shape, order="F")
    for start in range(0, len(values), _ROWS):
        Y[start : start + _ROWS] = values[start : start + _ROWS]
    return Y


def decompose(
    Y: np.ndarray, names, *, eigen: bool = False, center: bool = True, scale: bool = False, ddof: int = 0
) -> Decomposition:
    r"""Decompose :math:`Y = UDV^\top`, or :math:`Y^\top Y = VD^2V^\top`, of the centred and scaled columns.

    Parameters
    ----------
    Y : ndarray, shape (n, p)
        From :func:`column_major`, finite, n >= 2. It is used up.
    names : sequence of str, length p
        For messages.
    eigen : bool
        Which of the two.
    center, scale : bool
        As for :func:`dppca_nb.core.pca.pca`.
    ddof : {0, 1}
        As there, decided.

    Returns
    -------
    Decomposition
        With min(n, p) components.

    Raises
    ------
    DataError
        If `scale` meets columns that it cannot divide by; they are named.

    Examples
    --------
    >>> found = decompose(column_major(np.array([[1.0, 1.0], [6.0, 13.0]])), ["x", "y"])
    >>> (found.singular_values**2).round(9), found.rank, found.means
    (array([84.5,  0. ]), 1, array([3.5, 7. ]))
    """
    n, p = Y.shape
    with np.errstate(over="ignore", under="ignore"):  # of results at the ends of the range only
        means, scales, squares, exponent = _prepare(Y, names, center=center, scale=scale, ddof=ddof)
        d, V, scores = (_by_eigenvalues if eigen else _by_singular_values)(Y)
        trusted = 8 * math.sqrt(max(n, p)) * _EPS
        rounding = _EPS * math.sqrt(n) * (np.abs(V).T @ np.abs(means / scales))  # of the numbers as they were stored
        sure = np.flatnonzero(d > (math.sqrt(trusted) if eigen else trusted) * d[0] + rounding)
        rank = min(int(sure[-1]) + 1 if sure.size else 0, n - center)
        d[rank:] = 0
        scores[:, rank:] = 0
        V[squares == 0, :rank] = 0  # a column of zeros is in none of these: rounding alone says otherwise
        parts = (d[:rank] / d[0]) if rank else d[:0]
        slack = d[:rank] * (_EQUAL / 2) + rounding[:rank] + trusted * d[0] / (parts if eigen else 1)
        shares = np.zeros_like(d)
        shares[:rank] = parts**2 / np.sum(parts**2)
        tied = _tied(d[:rank], slack)
        deviations = np.sqrt(squares / (n - ddof))
        means, scales = np.ldexp(means, exponent), np.ldexp(scales, exponent)
        if not scale and exponent != 0:
            np.ldexp(scores, exponent, out=scores)
            d, deviations = np.ldexp(d, exponent), np.ldexp(deviations, exponent)
    return Decomposition(V, scores, d, shares, means, scales, deviations, rank, tied)


def _prepare(Y: np.ndarray, names, *, center: bool, scale: bool, ddof: int) -> tuple:
    """Centre and scale the columns in place; return means, scales, sums of squares, and the exponent of their unit."""
    n = len(Y)
    largest = np.maximum(-Y.min(axis=0), Y.max(axis=0))  # without a copy of all magnitudes
    exponent = np.frexp(largest if scale else largest.max())[1]
    if np.abs(exponent).max() > _SAFE:  # powers of two change no digit
        np.ldexp(Y, -exponent, out=Y)
        largest = np.ldexp(largest, -exponent)
    else:
        exponent = np.zeros_like(exponent)
    means = np.zeros(len(names))
    if center:
        # The first mean is rounded; far from zero that would leave a shift in every row. What it leaves of a constant
        # column has so few digits that its mean is exact: the second round makes such a column zero.
        for _ in range(2):
            shift = Y.mean(axis=0)
            Y -= shift
            means += shift
    squares = np.array([y @ y for y in Y.T])
    scales = np.ones(len(names))
    if scale:
        # The rule of table.scale_table; without centring a column this small is all zero, and other constants pass.
        still = np.sqrt(squares / (n - 1)) <= min(n, 64) * _EPS * largest
        if still.any():
            bad = [names[j] for j in np.flatnonzero(still)]
            listing = "; ".join(name if name.isprintable() else repr(name) for name in bad)
            what = "Constant" if center else "All zero"
            raise DataError(
                f"{what}: {listing}. scale=True has nothing to divide by: leave it out, or use scale=False."
            )
        scales = np.sqrt(squares / (n - ddof))
        Y /= scales
        squares = np.full(len(names), float(n - ddof))
    return means, scales, squares, exponent


def _by_singular_values(Y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return singular values, directions and scores UD; Y is used up."""
    scores, d, Vt = linalg.svd(Y, full_matrices=False, overwrite_a=True, check_finite=False)
    V = fix_signs(Vt.T)
    scores *= np.copysign(d, np.einsum("jk,kj->k", V, Vt))
    return d, V, scores


def _by_eigenvalues(Y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return singular values, directions and scores YV; Y is used up."""
    n, p = Y.shape
    subset = (p - n, p - 1) if n < p else None
    values, V = linalg.eigh(Y.T @ Y, subset_by_index=subset, overwrite_a=True, check_finite=False)
    V = fix_signs(V[:, ::-1])
    d = np.sqrt(np.maximum(values[::-1], 0))
    if n < p:
        return d, V, Y @ V
    for start in range(0, n, _ROWS):  # a second matrix of this size would cost more time than the product does
        Y[start : start + _ROWS] = Y[start : start + _ROWS] @ V
    return d, V, Y


def _tied(d: np.ndarray, slack: np.ndarray) -> tuple[tuple[int, ...], ...]:
    """Group neighbouring components, numbered from 1, whose singular values differ by no more than the slack."""
    ends = [0, *(np.flatnonzero(d[:-1] - d[1:] > slack[: d.size][:-1]) + 1).tolist(), d.size]
    return tuple(tuple(range(a + 1, b + 1)) for a, b in pairwise(ends) if b - a > 1)
