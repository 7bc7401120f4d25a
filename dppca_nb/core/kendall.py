"""Spherical Kendall matrix: the mean projector on the line through each pair of rows, over all pairs."""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import pandas as pd

from dppca_nb.table import DataError, as_table

Coincident = Literal["raise", "zero"]

_RHO = 100.0  # pairs that lose more digits than this are recomputed; a lower limit costs time, gains no accuracy
_FLOOR = 1e-280  # squared distances below this share of the squared spread meet underflow: recomputed too
_UNIT = 2.0**-53  # unit roundoff of float64


@dataclass(frozen=True, eq=False)
class KendallEstimate:
    """Spherical Kendall matrix of a table, with what is known about its making.

    Attributes
    ----------
    matrix : DataFrame of shape (p, p)
        Symmetric, positive semi-definite up to rounding, unitless; index and columns are named "variable".
        Its trace is the share of pairs that do not coincide.
    error_bound : float
        Upper bound of the Frobenius norm of the rounding error in `matrix`, proved for this very data set.
    exact_pairs : int
        Pairs of rows close enough to be recomputed from the difference of their original rows.
    coincident_pairs : int
        Pairs of equal rows, each of which added the zero matrix.
    n : int
        Number of rows.

    Examples
    --------
    >>> estimate = spherical_kendall(np.eye(4))
    >>> estimate.n, estimate.coincident_pairs, estimate.error_bound < 1e-14
    (4, 0, True)
    """

    matrix: pd.DataFrame
    error_bound: float
    exact_pairs: int
    coincident_pairs: int
    n: int


def spherical_kendall(data, *, coincident: Coincident = "raise") -> KendallEstimate:
    r"""Spherical Kendall matrix of all pairs of rows.

    .. math:: K = \frac{2}{n(n-1)} \sum_{i<j} \frac{(x_i - x_j)(x_i - x_j)^T}{\lVert x_i - x_j \rVert^2}

    Centring the rows or multiplying all of them by one number leaves K as it is. The scale of one column against
    another matters.

    Parameters
    ----------
    data : array, data frame or Table of shape (n, p)
        Numbers only, n >= 2, p >= 1.
    coincident : {"raise", "zero"}
        What to do with two equal rows, whose difference has no direction. "raise" refuses the data. "zero" lets such
        a pair add the zero matrix while the divisor stays n(n-1)/2, which is what keeps the bound
        :math:`\lVert K - K' \rVert_F \le 2\sqrt{2}/n` for data sets that differ in one row.

    Returns
    -------
    KendallEstimate
        The matrix with its error bound and the counts of pairs.

    Raises
    ------
    DataError
        If two rows are equal and `coincident` is "raise", if there are fewer than 2 rows, or if `data` is not a table
        of finite numbers.
    ValueError
        If `coincident` is neither "raise" nor "zero".

    Notes
    -----
    Two rows coincide only if they are equal. The field's own code takes any distance up to 1.49e-8 for coincidence,
    so it refuses in kilometres what it accepts in millimetres; here K(cX) = K(X).

    Whether "raise" raises depends on the rows, so the error itself tells something about them: a private release
    takes "zero".

    References
    ----------
    Kim and Jung (2025), doi:10.1002/sam.70053. Raymaekers and Rousseeuw (2019), doi:10.1016/j.jmva.2018.11.010.

    Examples
    --------
    >>> pair = pd.DataFrame({"x": [1, 6], "y": [1, 13]})
    >>> (spherical_kendall(pair).matrix * 169).round(9)
    variable     x      y
    variable
    x         25.0   60.0
    y         60.0  144.0

    Of three pairs one coincides, so a third of the trace is missing:

    >>> spherical_kendall([[0, 0], [0, 0], [1, 0]], coincident="zero").matrix.to_numpy().round(3)
    array([[0.667, 0.   ],
           [0.   , 0.   ]])
    """
    if not (isinstance(coincident, str) and coincident in get_args(Coincident)):
        raise ValueError(f'coincident is {coincident!r}; it must be "raise" or "zero".')
    table = as_table(data)
    matrix, error_bound, exact_pairs, coincident_pairs = kendall_matrix(table.values, coincident=coincident)
    labels = pd.Index(table.names, name="variable")
    frame = pd.DataFrame(matrix, index=labels, columns=labels)
    return KendallEstimate(frame, error_bound, exact_pairs, coincident_pairs, table.n)


def kendall_matrix(values: np.ndarray, *, coincident: Coincident = "zero") -> tuple[np.ndarray, float, int, int]:
    r"""Spherical Kendall matrix of checked numbers, without labels.

    Parameters
    ----------
    values : float64 array of shape (n, p)
        Finite. It is only read.
    coincident : {"zero", "raise"}
        As in `spherical_kendall`.

    Returns
    -------
    matrix : array of shape (p, p)
        Exactly symmetric.
    error_bound : float
        Upper bound of the Frobenius norm of its rounding error.
    exact_pairs, coincident_pairs : int
        Pairs recomputed from exact differences, and pairs of equal rows.

    Raises
    ------
    DataError
        If n < 2, or if rows coincide and `coincident` is "raise".

    Notes
    -----
    With :math:`w_{ij} = 1/\lVert x_i - x_j \rVert^2` the sum over the pairs of two blocks of rows A and B, both shifted
    by the same point, is

    .. math:: A^T(w_A \circ A) + B^T(w_B \circ B) - A^T W B - B^T W^T A,

    where :math:`w_A` and :math:`w_B` are the row and column sums of W: matrix products throughout, and no more memory
    than a few blocks. Equal rows are one row with a multiplicity.

    Let :math:`u = 2^{-53}`, b the rows of a block, B the number of blocks, r the norms of the shifted rows and
    :math:`\rho_{ij} = 2(r_i^2 + r_j^2) w_{ij} \ge 1`. A computed pair errs by at most
    :math:`(2p + 2b + 2B + 16) u \rho_{ij}`: 2p from its squared distance, 2b from the sums within the block, 2B from
    the sums over blocks, 16 from single roundings. Pairs with :math:`\rho_{ij} \ge 100` are recomputed from the
    difference of the original rows, and then :math:`\rho_{ij} = 1` will do. `error_bound` is the mean over all pairs.

    Examples
    --------
    >>> matrix, error_bound, exact_pairs, coincident_pairs = kendall_matrix(np.eye(3))
    >>> matrix.trace().round(12), error_bound < 1e-14, exact_pairs, coincident_pairs
    (np.float64(1.0), True, 0, 0)
    """
    n, p = values.shape
    if n < 2:
        raise DataError(f"The data have shape ({n}, {p}); pairs need at least 2 rows.")
    rows, counts, first = _distinct(values)
    pairs = n * (n - 1) // 2
    coincident_pairs = int((counts * (counts - 1) // 2).sum())
    if coincident_pairs and coincident == "raise":
        raise DataError(
            f"Rows {first[0] + 1} and {first[1] + 1} (counted from 1) are equal, so their difference has no direction; "
            f'coincident pairs: {coincident_pairs:,} of {pairs:,}. Use coincident="zero" to let such pairs add nothing.'
        )
    if p == 1:  # the only direction there is, exactly
        return np.array([[(pairs - coincident_pairs) / pairs]]), _UNIT, 0, coincident_pairs
    # Both are harmless here, wherever the caller makes errors of them: what underflows is recomputed by `_exact_sum`.
    with np.errstate(under="ignore", over="ignore"):
        total, rho, exact_pairs, depth = _pair_sum(values, rows, counts)
    return (total + total.T) / (2 * pairs), (2 * p + depth + 16) * _UNIT * rho / pairs, exact_pairs, coincident_pairs


def kendall_error_limit(n: int, p: int) -> float:
    r"""Bound the rounding error of `kendall_matrix` for all data sets of one size, before any is seen.

    Every pair that is not recomputed has :math:`\rho_{ij} < 100`, a block never has more rows than fit in it and,
    where there are several, never fewer than half of that. With these the terms of `error_bound` are at most

    .. math:: (2p + 2b + 2B + 16)\,u \cdot 100.

    Parameters
    ----------
    n, p : int
        Rows, at least 2, and variables.

    Returns
    -------
    float
        Not below the `error_bound` of any n rows of p variables: unlike it, it tells nothing about the rows.

    Examples
    --------
    >>> kendall_error_limit(1000, 10) < 1e-10
    True
    >>> kendall_matrix(np.eye(3))[1] <= kendall_error_limit(3, 3)
    True
    """
    if p == 1:
        return _UNIT
    most = _block_rows(p)
    blocks = 1 if n <= most else n // ((most + 1) // 2)
    # 1e-9 is room for the rounding of the sum of rho and of the comparison with its limit
    return (2 * p + 2 * (min(n, most) + blocks) + 16) * _UNIT * _RHO * (1 + 1e-9)


def _distinct(values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Give the first row of each set of equal rows, the sizes of the sets, and the first two equal rows of all."""
    order = np.arange(len(values))
    fresh = order == 0  # where, in this order, a row differs from the one before
    for column in values.T:
        order = order[np.lexsort((column[order], np.cumsum(fresh)))]
        fresh[1:] |= column[order[1:]] != column[order[:-1]]
        if fresh.all():  # after one column where the numbers are continuous
            break
    starts = np.flatnonzero(fresh)
    counts = np.diff(starts, append=len(order))
    # Sorting was stable, so each set begins with its first row and the next is its second.
    twins = starts[counts > 1]
    first = order[twins[order[twins].argmin()] :][:2] if twins.size else order[:0]
    return order[starts], counts, first


def _block_rows(p: int) -> int:
    """Give the most rows that a block may have: few stay in the cache, many need fewer products of size p x p."""
    return min(512 + 4 * p, 1280)


def _blocks(values: np.ndarray, rows: np.ndarray) -> list[np.ndarray]:
    """Split rows at the median of their widest column until no part is larger than a block."""
    if rows.size <= _block_rows(values.shape[1]):
        return [rows]
    widest = np.argmax([np.ptp(column[rows]) for column in values.T])  # by columns: no copy of all rows
    half = rows.size // 2
    rows = rows[np.argpartition(values[rows, widest], half)]
    return _blocks(values, rows[:half]) + _blocks(values, rows[half:])


def _pair_sum(values: np.ndarray, rows: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, float, int, int]:
    """Sum the projectors over all pairs of distinct rows; also sum rho, count exact pairs, give the depth of sums."""
    p, given = values.shape[1], values
    if max(values.max(), -values.min()) > 2.0**1022:
        values = values / 2  # or differences would overflow
    weight = np.zeros(len(values))  # multiplicity by row number
    weight[rows] = counts
    blocks = _blocks(values, rows)
    # A shift in the middle of both blocks keeps far clusters, and the median keeps outliers, from eating digits.
    centres = [np.median(values[block], axis=0) for block in blocks]
    size = max(block.size for block in blocks)
    # A power of two makes the spread about 1, so that squares stay within range; it changes no digit.
    unit = 2.0 ** -np.clip(np.frexp(np.ptp(values, axis=0).max())[1], -1022, 1022)
    buffer = np.empty(size * size)  # for the one large array of a block pair
    total, rho, exact_pairs = np.zeros((p, p)), 0.0, 0
    for a, block_a in enumerate(blocks):
        strip = np.zeros((p, p))  # summing by strips keeps the sums short
        X_a, m_a = values[block_a], weight[block_a]
        for b, block_b in enumerate(blocks[a:], start=a):
            X_b, m_b = values[block_b], weight[block_b]
            shift = (centres[a] + centres[b]) / 2
            A, B = (X_a - shift) * unit, (X_b - shift) * unit
            s_a, s_b = np.einsum("ij,ij->i", A, A), np.einsum("ij,ij->i", B, B)
            right = np.column_stack((-2 * B, np.ones_like(s_b), s_b))
            W = buffer[: len(A) * len(B)].reshape(len(A), len(B))
            np.matmul(np.column_stack((A, s_a, np.ones_like(s_a))), right.T, out=W)  # squared distances
            if a == b:
                W[np.tri(len(A), dtype=bool)] = np.inf  # each pair once
            i, j = _near(W, s_a, s_b)
            W[i, j] = np.inf  # weight 0: these are summed apart
            near = int(m_a[i] @ m_b[j])
            np.divide(m_b, W, out=W)
            Y = W @ right[:, :-1]
            w_a, w_b = m_a * Y[:, -1], m_a @ W
            Y = m_a[:, None] * Y[:, :-1] + w_a[:, None] * A
            # Y holds the cross term twice, instead of once with its transpose: the caller takes the symmetric part.
            strip += _exact_sum(given, block_a[i], block_b[j], weight, size) + A.T @ Y + B.T @ (w_b[:, None] * B)
            rho += 2 * float(s_a @ w_a + s_b @ w_b) + near
            exact_pairs += near
        total += strip
    return total, rho, exact_pairs, 2 * (size + len(blocks))


def _near(W: np.ndarray, s_a: np.ndarray, s_b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Find the squared distances in W that are small against the squared norms they were computed from."""
    limit_a, limit_b = 2 * s_a / _RHO + _FLOOR, 2 * s_b / _RHO
    rows = np.flatnonzero(W.min(axis=1) <= limit_a + limit_b.max())  # one cheap look spares most rows the full one
    i, j = np.nonzero(W[rows] <= limit_a[rows, None] + limit_b)
    return rows[i], j


def _exact_sum(values: np.ndarray, i: np.ndarray, j: np.ndarray, weight: np.ndarray, size: int) -> np.ndarray:
    """Sum the projectors of the pairs (i, j), `size` pairs at a time, from differences of the rows as given."""
    total = np.zeros((values.shape[1],) * 2)
    for start in range(0, len(i), size):
        some_i, some_j = i[start : start + size], j[start : start + size]
        d = values[some_i] - values[some_j]
        huge = ~np.isfinite(d).all(axis=1)
        d[huge] = values[some_i][huge] / 2 - values[some_j][huge] / 2  # only here: halves of the smallest would vanish
        d /= np.abs(d).max(axis=1, keepdims=True)  # so that no square overflows or vanishes
        d *= np.sqrt(weight[some_i] * weight[some_j] / np.einsum("ij,ij->i", d, d))[:, None]
        total += d.T @ d
    return total
