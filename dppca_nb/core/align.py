"""Signs, order and angles of directions: decided here and nowhere else."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.linalg import subspace_angles as _subspace_angles
from scipy.optimize import brentq
from scipy.special import ndtr, owens_t

# Entries of a unit vector this close to the largest count as equal, so that rounding cannot choose the sign.
_TIE = 1e-8
# Shares closer than this, relative to the largest, are equal even where there is no noise.
_EQUAL_SHARES = 1e-9


@dataclass(frozen=True)
class Separation:
    r"""Whether two components are told apart from each other and from the rest.

    Parameters
    ----------
    gap : float
        Distance between the two components' Kendall shares.
    threshold : float
        What the gap has to exceed: :math:`3\sqrt2\sigma`. The gap that noise alone opens between two equal shares is
        Rayleigh distributed with scale :math:`\sqrt2\sigma`, so 1.1 % of equal pairs pass for separated.
    separated : bool
        False: the two axes are arbitrary within their plane.
    next_gap : float or None
        Smallest distance between a share of the pair and one outside it; None if there is no other component.
    next_separated : bool
        False: the plane itself may be another one.
    next_pair : tuple of int or None
        The member of the pair and the outsider that `next_gap` lies between, numbered from 1.
    """

    gap: float
    threshold: float
    separated: bool
    next_gap: float | None
    next_separated: bool
    next_pair: tuple[int, int] | None


def fix_signs(V):
    """Turn each direction so that its entry of largest magnitude is positive.

    Entries within 1e-8 of the largest count as equal and the first of them decides.

    Parameters
    ----------
    V : ndarray or DataFrame, shape (p, k)
        Directions in columns. It is not changed.

    Returns
    -------
    ndarray or DataFrame, shape (p, k)
        Of the kind that came in, without negative zeros.

    Examples
    --------
    >>> fix_signs(np.array([[0.6, 0.8], [-0.8, 0.6]]))
    array([[-0.6,  0.8],
           [ 0.8,  0.6]])
    """
    values = _values(V)
    size = np.abs(values)
    deciding = (size >= size.max(axis=0) - _TIE).argmax(axis=0)  # argmax of booleans: the first True
    return _flipped(V, values, values[deciding, np.arange(values.shape[1])] < 0)


def align_signs(V, to):
    """Turn each direction so that it does not point away from its counterpart.

    Parameters
    ----------
    V : ndarray or DataFrame, shape (p, k)
        Directions in columns. It is not changed.
    to : ndarray or DataFrame, shape (p, k)
        The directions to follow, column by column.

    Returns
    -------
    ndarray or DataFrame, shape (p, k)
        Of the kind of `V`; every column's dot product with that of `to` is at least 0.

    Examples
    --------
    >>> align_signs(np.array([[0.6], [-0.8]]), np.array([[0.0], [1.0]]))
    array([[-0.6],
           [ 0.8]])
    """
    values = _values(V)
    return _flipped(V, values, np.einsum("jk,jk->k", values, _values(to)) < 0)


def subspace_angles(a, b, k: int | None = None) -> np.ndarray:
    """Principal angles between two spans of directions.

    Parameters
    ----------
    a, b : array_like, shape (p, >= k)
        Directions in columns.
    k : int, optional
        How many leading columns to compare; all if left out.

    Returns
    -------
    ndarray
        Angles in degrees, 0 to 90, the largest first. Small ones are accurate (sines, not cosines).

    References
    ----------
    Knyazev and Argentati (2002), doi 10.1137/S1064827500377332.

    Examples
    --------
    >>> subspace_angles(np.eye(3), np.array([[1.0, 0], [0, 0.6], [0, 0.8]]), k=2).round(4) + 0.0
    array([53.1301,  0.    ])
    """
    return np.degrees(_subspace_angles(np.asarray(a, dtype=float)[:, :k], np.asarray(b, dtype=float)[:, :k]))


def separation(shares, components: tuple[int, int], sigma: float) -> Separation:
    """Judge whether the noise lets two components be told apart.

    Parameters
    ----------
    shares : array_like, shape (p,)
        Kendall shares in decreasing order.
    components : tuple of int
        Two different components, numbered from 1.
    sigma : float
        The noise scale; 0 for exact matrices, where equal shares are found by a relative tolerance of 1e-9.

    Returns
    -------
    Separation
        For the pair, and for the plane that it spans.

    Examples
    --------
    >>> found = separation([0.6, 0.25, 0.15], (1, 2), sigma=0.03)
    >>> found.separated, found.next_separated, found.next_pair
    (True, False, (2, 3))
    """
    shares = np.asarray(shares, dtype=float)
    pair = [c - 1 for c in components]
    threshold = 3.0 * math.sqrt(2.0) * sigma
    needed = max(threshold, _EQUAL_SHARES * float(np.abs(shares).max()))
    gap = float(abs(shares[pair[0]] - shares[pair[1]]))
    if len(shares) == 2:
        return Separation(gap, threshold, gap > needed, None, True, None)
    distances = np.abs(shares[sorted(pair), None] - shares)
    distances[:, pair] = np.inf
    row, other = np.unravel_index(distances.argmin(), distances.shape)
    next_gap, next_pair = float(distances[row, other]), (sorted(pair)[row] + 1, int(other) + 1)
    return Separation(gap, threshold, gap > needed, next_gap, next_gap > needed, next_pair)


def turn_angle(gap: float, sigma: float, q: float = 0.9) -> float:
    r"""How far noise may turn two components within their plane.

    To first order the noise acts on the pair as a symmetric 2 × 2 block, which turns the axes by theta with
    :math:`2\theta = \operatorname{atan2}(N(0, 2\sigma^2),\ \mathrm{gap} + N(0, 2\sigma^2))`. With
    :math:`r = \mathrm{gap}/(\sqrt2\sigma)` and :math:`h = r\sin t`,
    :math:`P(|2\theta| > t) = \Phi(-h) + 2\,T(h, \cot t)` with Owen's T: no sampling.

    Parameters
    ----------
    gap : float
        Distance between the two shares, at least 0.
    sigma : float
        The noise scale, at least 0.
    q : float
        Which quantile of the absolute angle, strictly between 0 and 1.

    Returns
    -------
    float
        Degrees from 0 to 45; axes without sign or order cannot be turned further, so from 44 they may point anywhere.

    References
    ----------
    Owen (1956), doi 10.1214/aoms/1177728074.

    Examples
    --------
    >>> round(turn_angle(0.1, 0.01), 2)
    6.73
    """
    if sigma == 0:
        return 0.0 if gap > 0 else 45.0
    r = gap / (math.sqrt(2.0) * sigma)
    if _beyond(math.pi / 2, r) >= 1 - q:
        return 45.0
    return math.degrees(brentq(lambda t: _beyond(t, r) - (1 - q), 0.0, math.pi / 2, xtol=1e-15, rtol=1e-12)) / 2


def _beyond(t: float, r: float) -> float:
    """Return P(|angle| > t), 0 <= t <= pi/2, of a unit normal point around (r, 0)."""
    if t == 0:
        return 1.0
    h = r * math.sin(t)
    return float(ndtr(-h)) + 2 * float(owens_t(h, 1 / math.tan(t)))


def _values(V) -> np.ndarray:
    """Return the numbers of an array or a frame; to_numpy does not look at every column's type, as asarray does."""
    return V.to_numpy(dtype=float) if hasattr(V, "columns") else np.asarray(V, dtype=float)


def _flipped(V, values: np.ndarray, flip: np.ndarray):
    """Return the values with the marked columns negated, in the clothes of V."""
    out = np.where(flip, -values, values) + 0.0  # + 0.0 turns -0.0 into 0.0
    return type(V)(out, index=V.index, columns=V.columns) if hasattr(V, "columns") else out
