"""Singular value and eigenvalue decomposition of centred, scaled columns: arrays without labels, made in place."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy import linalg

from dppca_nb.core.align import fix_signs
from dppca_nb.table import DataError

_EPS = np.finfo(float).eps
_EQUAL = 1e-9  # variances closer than this, relative to the larger, are one variance
_SAFE = 250  # magnitudes between 2**-250 and 2**250 can be squared and summed without a thought
_ROWS = 2048  # rows that are worked on at a time: they stay in the cache from one operation to the next


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


def decompose(
    Y: np.ndarray, names, *, eigen: bool = False, center: bool = True, scale: bool = False, ddof: int = 0
) -> Decomposition:
    r"""Decompose :math:`Y = UDV^\top`, or :math:`Y^\top Y = VD^2V^\top`, of the centred and scaled columns.

    Parameters
    ----------
    Y : ndarray, shape (n, p)
        From :func:`dppca_nb.table.as_matrix`, finite, n >= 2. It is used up. Fast, and without another copy, with
        contiguous rows (order "C") for `eigen` and with contiguous columns ("F") otherwise.
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
    >>> found = decompose(np.array([[1.0, 1.0], [6.0, 13.0]], order="F"), ["x", "y"])
    >>> (found.singular_values**2).round(9), found.rank, found.means
    (array([84.5,  0. ]), 1, array([3.5, 7. ]))
    """
    n, p = Y.shape
    with np.errstate(over="ignore", under="ignore"):  # of results at the ends of the range only
        largest, exponent = _bring_into_range(Y, each=scale)
        means, blocks = _centred(Y) if center else (np.zeros(p), _blocks(Y))
        gram = sum(block.T @ block for block in blocks) if eigen else None
        squares = gram.diagonal() if eigen else sum(np.einsum("ij,ij->j", block, block) for block in blocks)
        squares, scales = squares.copy(), np.ones(p)  # the Gram matrix will be used up
        if scale:
            _refuse_constant(names, squares, largest, n, center=center)
            scales, squares = np.sqrt(squares / (n - ddof)), np.full(p, float(n - ddof))
            Y /= scales
            gram = gram / np.outer(scales, scales) if eigen else None
        d, V, scores = _by_eigenvalues(Y, gram) if eigen else _by_singular_values(Y)
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


def _blocks(Y: np.ndarray) -> Iterator[np.ndarray]:
    """Give views of the rows, some at a time."""
    return (Y[start : start + _ROWS] for start in range(0, len(Y), _ROWS))


def _bring_into_range(Y: np.ndarray, *, each: bool) -> tuple[np.ndarray, np.ndarray]:
    """Divide magnitudes that squares cannot hold by powers of two; return the largest, of each column or of all."""
    largest = np.max([np.abs(block).max(axis=0 if each else None) for block in _blocks(Y)], axis=0)
    exponent = np.frexp(largest)[1]
    if np.abs(exponent).max() <= _SAFE:
        return largest, np.zeros_like(exponent)
    np.ldexp(Y, -exponent, out=Y)  # powers of two change no digit
    return np.ldexp(largest, -exponent), exponent


def _centred(Y: np.ndarray) -> tuple[np.ndarray, Iterator[np.ndarray]]:
    """Centre the columns in place; return the means, and blocks that are centred as they are taken: take them all."""
    # A mean is rounded; far from zero that would leave a shift in every row. So there are two rounds. The first takes
    # off what some rows, spread over all, have for a mean: it misses the mean by no more than sqrt(n / _ROWS) root mean
    # squares. What is left is near zero, so that neither its sum nor its mean loses digits that matter; of a constant
    # column it has so few digits that both are exact: the second round makes such a column zero.
    first = Y[:: max(1, len(Y) // _ROWS)].mean(axis=0)
    short = Y.flags.c_contiguous  # numpy is slow at summing along short rows: there, a product with ones does it
    rest = sum(np.ones(len(block)) @ block if short else block.sum(axis=0) for block in _less(Y, first)) / len(Y)
    return first + rest, _less(Y, rest)


def _less(Y: np.ndarray, shift: np.ndarray) -> Iterator[np.ndarray]:
    """Subtract the same from every row in place; give the rows block by block, while they are in the cache."""
    rows = np.empty_like(Y[:_ROWS])  # in the layout of Y: subtracting like from like is twice as fast
    rows[:] = shift
    for block in _blocks(Y):
        block -= rows[: len(block)]
        yield block


def _refuse_constant(names, squares: np.ndarray, largest: np.ndarray, n: int, *, center: bool) -> None:
    """Refuse to divide by the deviation of columns that do not vary, by the rule of table.scale_table."""
    # without centring a column this small is all zero, and other constants pass
    still = np.sqrt(squares / (n - 1)) <= min(n, 64) * _EPS * largest
    if still.any():
        bad = [names[j] for j in np.flatnonzero(still)]
        listing = "; ".join(name if name.isprintable() else repr(name) for name in bad)
        what = "Constant" if center else "All zero"
        raise DataError(f"{what}: {listing}. scale=True has nothing to divide by: leave it out, or use scale=False.")


def _by_singular_values(Y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return singular values, directions and scores UD; Y is used up."""
    scores, d, Vt = linalg.svd(Y, full_matrices=False, overwrite_a=True, check_finite=False)
    V = fix_signs(Vt.T)
    scores *= np.copysign(d, np.einsum("jk,kj->k", V, Vt))
    return d, V, scores


def _by_eigenvalues(Y: np.ndarray, gram: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return singular values, directions and scores YV; Y and its Gram matrix are used up."""
    n, p = Y.shape
    subset = (p - n, p - 1) if n < p else None
    values, V = linalg.eigh(gram, subset_by_index=subset, overwrite_a=True, check_finite=False)
    V = fix_signs(V[:, ::-1])
    d = np.sqrt(np.maximum(values[::-1], 0))
    if n < p:
        return d, V, Y @ V
    for block in _blocks(Y):  # a second matrix of this size would cost more time than the product does
        block[:] = block @ V
    return d, V, Y


def _tied(d: np.ndarray, slack: np.ndarray) -> tuple[tuple[int, ...], ...]:
    """Group neighbouring components, numbered from 1, whose singular values differ by no more than the slack."""
    ends = [0, *(np.flatnonzero(d[:-1] - d[1:] > slack[: d.size][:-1]) + 1).tolist(), d.size]
    return tuple(tuple(range(a + 1, b + 1)) for a, b in pairwise(ends) if b - a > 1)
