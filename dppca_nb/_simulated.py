"""Generators of data whose truth is known; public as part of `dppca_nb.datasets`."""

from __future__ import annotations

import numbers

import numpy as np
import pandas as pd

__all__ = ["contaminate", "elliptical", "five_clusters"]


def elliptical(n: int, p: int, *, spectrum=None, directions=None, df: float | None = None, rng) -> pd.DataFrame:
    """Simulate elliptical data: normal, or heavy-tailed with the same directions.

    Parameters
    ----------
    n, p : int
        Number of rows and of variables, at least 1.
    spectrum : array of shape (p,), optional
        Non-negative eigenvalues of the scatter matrix; ``0.62**[0, 1, ..., p-1]`` by default.
    directions : array of shape (p, p), optional
        Orthogonal matrix V of directions in columns; by default one drawn uniformly from `rng`.
    df : float > 0, optional
        Degrees of freedom of a multivariate t distribution; None is the normal distribution.
    rng : Generator or int
        Source of randomness, or a seed for one.

    Returns
    -------
    DataFrame of shape (n, p)
        Columns ``x1``, ``x2``, …; rows ``V diag(sqrt(spectrum)) z / sqrt(w)`` with z standard normal and w = 1 (normal)
        or an independent chi-squared(df)/df. The covariance is ``V diag(spectrum) V'``, times df/(df − 2) for df > 2;
        it does not exist for df <= 2, while the spherical Kendall matrix has these directions for every df.

    Raises
    ------
    ValueError
        If a size, `spectrum`, `directions` or `df` is not as above.

    Notes
    -----
    Source: K.-T. Fang, S. Kotz and K. W. Ng (1990), Symmetric Multivariate and Related Distributions, doi
    10.1201/9781351077040.

    Examples
    --------
    >>> data = elliptical(500, 3, spectrum=[9, 4, 1], directions=np.eye(3), rng=1)
    >>> data.shape, data.var().round(1).tolist()
    ((500, 3), [9.1, 3.9, 1.1])
    """
    generator = _generator(rng)
    n, p = _size("n", n), _size("p", p)
    spectrum = np.asarray(0.62 ** np.arange(p) if spectrum is None else spectrum, dtype=float)
    if spectrum.shape != (p,) or not np.isfinite(spectrum).all() or (spectrum < 0).any():
        raise ValueError(f"spectrum must hold p = {p} finite, non-negative numbers; got {spectrum.tolist()}.")
    if df is not None and not (isinstance(df, numbers.Real) and 0 < df < np.inf):
        raise ValueError(f"df must be a positive, finite number, or None for the normal distribution; got {df!r}.")
    if directions is None:
        Q, R = np.linalg.qr(generator.standard_normal((p, p)))
        directions = Q * np.where(np.diag(R) < 0, -1.0, 1.0)  # the same Q whatever sign LAPACK prefers
    directions = np.asarray(directions, dtype=float)
    if directions.shape != (p, p) or not np.allclose(directions.T @ directions, np.eye(p), atol=1e-8):
        raise ValueError(f"directions must be an orthogonal matrix of shape ({p}, {p}); got shape {directions.shape}.")
    values = (generator.standard_normal((n, p)) * np.sqrt(spectrum)) @ directions.T
    if df is not None:
        values /= np.sqrt(generator.chisquare(df, size=(n, 1)) / df)
    return _frame(values, "Simulated normal" if df is None else f"Simulated t({df:g})")


def five_clusters(n: int = 5000, *, p: int = 20, separation: float = 10.0, rng) -> pd.DataFrame:
    """Simulate five Gaussian clusters of unequal spread.

    Parameters
    ----------
    n : int, default 5000
        Number of rows, at least 5; the clusters are as equal as n allows, and their rows follow one another.
    p : int, default 20
        Number of variables, at least 5.
    separation : float >= 0, default 10
        Distance of every centre from the origin: cluster k is centred at `separation` on axis k, so two centres are
        ``separation * sqrt(2)`` apart. With 10 the clusters are separate, with 2 they overlap.
    rng : Generator or int
        Source of randomness, or a seed for one.

    Returns
    -------
    DataFrame of shape (n, p + 1)
        ``x1`` … ``xp`` and the category ``cluster`` ("1" to "5"). Within cluster k the covariance is c I with
        c = 1, 1, 5, 5, 8.

    Raises
    ------
    ValueError
        If n or p is below 5 or `separation` is negative or not finite.

    Notes
    -----
    Between-cluster variance spans four directions (five centres); the rest of the spectrum is flat at the mean of c, 4,
    so components from 5 on have no direction of their own.

    Examples
    --------
    >>> data = five_clusters(500, p=6, rng=1)
    >>> data.shape, data["cluster"].value_counts(sort=False).tolist()
    ((500, 7), [100, 100, 100, 100, 100])
    """
    generator = _generator(rng)
    n, p = _size("n", n, least=5), _size("p", p, least=5)
    if not (isinstance(separation, numbers.Real) and 0 <= separation < np.inf):
        raise ValueError(f"separation must be a finite number, at least 0; got {separation!r}.")
    cluster = np.arange(n) * 5 // n
    sd = np.sqrt([1.0, 1.0, 5.0, 5.0, 8.0])
    values = generator.standard_normal((n, p)) * sd[cluster, None] + separation * np.eye(5, p)[cluster]
    labels = pd.Categorical.from_codes(cluster, categories=list("12345"))
    return _frame(values, "Five clusters").assign(cluster=labels)


def contaminate(data, *, fraction: float | None = None, rows=None, magnitude: float, rng=None):
    """Multiply some rows by a factor and say which.

    Parameters
    ----------
    data : DataFrame or array of shape (n, p)
        Never changed. Columns that are not numbers are kept as they are.
    fraction : float in (0, 1], optional
        Share of rows to draw at random without replacement (rounded, at least one row); needs `rng`.
    rows : sequence of int, optional
        Positions of the rows, from 0, instead of `fraction`.
    magnitude : float
        The factor: row x becomes ``magnitude * x``, so 1 leaves the data as they are.
    rng : Generator or int, optional
        Source of randomness, or a seed for one; only for `fraction`.

    Returns
    -------
    data : DataFrame of shape (n, p)
        The contaminated copy; its numeric columns are float.
    rows : ndarray of int
        Positions of the contaminated rows, ascending.

    Raises
    ------
    ValueError
        If not exactly one of `fraction` and `rows` is given, or one of the arguments is out of its range.

    Notes
    -----
    The outliers of A. Charpentier, S. Mussard and T. Ouraga, doi 10.48550/arXiv.1910.10133, Algorithm 1, multiply one
    row of centred data. Centre first if the origin means nothing in the data.

    Examples
    --------
    >>> bad, rows = contaminate([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], rows=[1], magnitude=100)
    >>> bad.to_numpy().tolist(), rows.tolist()
    ([[1.0, 2.0], [300.0, 400.0], [5.0, 6.0]], [1])
    """
    frame = data.copy() if isinstance(data, pd.DataFrame) else _frame(np.array(data, dtype=float), "Simulated")
    n = len(frame)
    if (fraction is None) == (rows is None):
        raise ValueError("Give exactly one of fraction (a share of the rows) and rows (their positions).")
    if not (isinstance(magnitude, numbers.Real) and np.isfinite(magnitude)):
        raise ValueError(f"magnitude must be a finite number; got {magnitude!r}.")
    if rows is None:
        if not 0 < fraction <= 1:
            raise ValueError(f"fraction must be above 0 and at most 1; got {fraction!r}.")
        rows = _generator(rng).choice(n, size=max(1, round(fraction * n)), replace=False)
    chosen = np.unique(np.asarray(rows))
    if chosen.dtype.kind not in "iu" or chosen.size == 0 or chosen[0] < 0 or chosen[-1] >= n:
        raise ValueError(f"rows must be positions from 0 to {n - 1}; got {list(rows)!r}.")
    factor = np.ones(n)
    factor[chosen] = magnitude
    for j, dtype in enumerate(frame.dtypes):  # by position: names may repeat
        if pd.api.types.is_numeric_dtype(dtype):
            frame.isetitem(j, frame.iloc[:, j].astype(float) * factor)
    return frame, chosen


def _frame(values: np.ndarray, title: str) -> pd.DataFrame:
    """Label simulated values as an array at the door would be: x1, x2, …."""
    frame = pd.DataFrame(values, columns=[f"x{j}" for j in range(1, values.shape[1] + 1)])
    frame.attrs["title"] = title
    return frame


def _size(name: str, value, *, least: int = 1) -> int:
    """Check a whole number of rows or variables."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < least:
        raise ValueError(f"{name} must be a whole number, at least {least}; got {value!r}.")
    return int(value)


def _generator(rng) -> np.random.Generator:
    """Accept a Generator or a seed, never the global state."""
    if isinstance(rng, np.random.Generator):
        return rng
    if isinstance(rng, numbers.Integral) and not isinstance(rng, bool) and rng >= 0:
        return np.random.default_rng(int(rng))
    raise ValueError(f"rng must be a numpy.random.Generator or a seed (a whole number, at least 0); got {rng!r}.")
