"""Symmetric Gaussian noise, and the generator it comes from."""

from __future__ import annotations

import math
import numbers

import numpy as np

from dppca_nb.core.guarantee import Reason


def standard_noise(p: int, rng: np.random.Generator) -> np.ndarray:
    """Symmetric Gaussian noise of unit scale, isotropic in the Frobenius inner product.

    Parameters
    ----------
    p : int
        Number of variables.
    rng : numpy.random.Generator
        Where the p(p+1)/2 normals come from.

    Returns
    -------
    ndarray, shape (p, p)
        Diagonal N(0, 1), off the diagonal N(0, 1/2), independent on and below the diagonal. Multiply by sigma.

    Examples
    --------
    >>> E = standard_noise(3, np.random.default_rng(1))
    >>> E.shape, bool((E == E.T).all())
    ((3, 3), True)
    """
    return symmetric_from_normals(rng.standard_normal(p * (p + 1) // 2), p)


def symmetric_from_normals(z: np.ndarray, p: int) -> np.ndarray:
    """Fold p(p+1)/2 independent normals of one scale into a symmetric matrix.

    Parameters
    ----------
    z : array_like, shape (p(p+1)/2,)
        The diagonal first, then the strict lower triangle column by column.
    p : int
        Number of variables.

    Returns
    -------
    ndarray, shape (p, p)
        Entries off the diagonal are divided by sqrt(2), so the Frobenius norm squared is the sum of z squared.

    Examples
    --------
    >>> symmetric_from_normals([1.0, 2.0, 2**0.5], 2).round(6)
    array([[1., 1.],
           [1., 2.]])
    """
    z = np.asarray(z, dtype=float)
    E = np.empty((p, p))
    np.fill_diagonal(E, z[:p])
    column, row = np.triu_indices(p, k=1)  # the upper triangle by rows is the lower one by columns
    E[row, column] = E[column, row] = z[p:] / math.sqrt(2.0)
    return E


def as_generator(rng=None) -> tuple[np.random.Generator, Reason | None]:
    """Turn what a caller gave into a Generator, and say if that makes the noise predictable.

    numpy's global random state is neither read nor set.

    Parameters
    ----------
    rng : None, int, SeedSequence, BitGenerator or Generator
        None draws fresh entropy from the operating system. Anything else may be repeated by whoever knows it.

    Returns
    -------
    generator : numpy.random.Generator
        The given one itself if it is a Generator.
    reason : Reason or None
        None for fresh entropy.

    Raises
    ------
    TypeError
        For a RandomState, a boolean, a float, text or anything else.
    ValueError
        For a negative integer.

    Examples
    --------
    >>> as_generator(7)[1].brief
    'seeded noise'
    >>> as_generator()[1] is None
    True
    """
    if rng is None:
        return np.random.default_rng(), None
    integer = isinstance(rng, numbers.Integral) and not isinstance(rng, bool)
    known = (np.random.Generator, np.random.SeedSequence, np.random.BitGenerator)
    if not (integer or isinstance(rng, known)):
        raise TypeError(
            f"rng must be None, an integer of at least 0, a SeedSequence, a BitGenerator or a Generator; got {rng!r} "
            f"({type(rng).__name__}). Leave it out for fresh noise, or give numpy.random.default_rng(0)."
        )
    if integer and rng < 0:
        raise ValueError(f"rng must be an integer of at least 0 if it is one; got {rng}. Leave it out for fresh noise.")
    return np.random.default_rng(rng), Reason(
        "seeded noise",
        "The noise came from a generator that was handed in or seeded: whoever can repeat it can take the noise off "
        "again. Leave rng out.",
    )
