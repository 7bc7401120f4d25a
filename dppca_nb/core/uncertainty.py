"""How far privacy noise moves loadings: the noise is drawn again and again on top of a matrix, and directions follow.

Its scale is public and the matrix is what was released (or simulated, or public), so this costs no budget.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from scipy.linalg.lapack import dsyevr

from dppca_nb.core.noise import symmetric_from_normals

MOST_DRAWS = 10_000
_LEVEL = 0.9
_MANY = 24  # variables from which on matrices are taken one by one: all at once gains nothing, and needs their room
_FEW = 0.25  # up to this share of all components it then pays not to compute the others


@dataclass(frozen=True, eq=False, repr=False)
class LoadingUncertainty:
    """Loadings under redraws of the noise. Privacy noise only: sampling error is not in it.

    Parameters
    ----------
    loadings : DataFrame, shape (p, k)
        The loadings shown: index "variable", columns "component".
    draws : ndarray, shape (B, p, k)
        The same loadings after each redraw, every column with the sign that fits the shown one.
    level : float
        Share of the redraws between `lower` and `upper`.

    See Also
    --------
    redraw : make one.

    Examples
    --------
    >>> shown = pd.DataFrame(np.eye(2), index=["a", "b"], columns=["PC1", "PC2"])
    >>> spread = redraw(np.diag([0.8, 0.2]), 0.01, shown, unit_noises(2, 100))
    >>> spread
    LoadingUncertainty(100 redraws of the noise, p=2, 2 components, 90 % intervals; not sampling error)
    >>> spread.table().round(1)["PC1"].loc["a"].tolist()
    [1.0, 1.0, 1.0, 1.0]
    """

    loadings: pd.DataFrame
    draws: np.ndarray
    level: float = _LEVEL

    @property
    def lower(self) -> pd.DataFrame:
        """Lower end of the interval that holds `level` of the redraws, p × k."""
        return self._bounds[0]

    @property
    def upper(self) -> pd.DataFrame:
        """Upper end of the interval, p × k."""
        return self._bounds[1]

    @cached_property
    def sign_kept(self) -> pd.DataFrame:
        """Share of the redraws in which a loading keeps the sign shown, p × k; 0 where it is shown as exactly 0."""
        return self._framed(np.mean(self.draws * self.loadings.to_numpy() > 0, axis=0))

    def plane(self, components: Sequence[int], loose: bool) -> np.ndarray:
        """Redrawn loadings on some components.

        Parameters
        ----------
        components : sequence of int
            Numbered from 1, usually two.
        loose : bool
            Whether the axes are not told apart by the noise. Then only their plane means anything, and each redraw is
            turned within its plane to where it fits the shown loadings best (orthogonal Procrustes problem; Schönemann
            1966, doi 10.1007/BF02289451).

        Returns
        -------
        ndarray, shape (B, p, len(components))
        """
        columns = [c - 1 for c in components]
        taken = self.draws[:, :, columns]
        if not loose:
            return taken
        left, _, right = np.linalg.svd(np.swapaxes(taken, 1, 2) @ self.loadings.to_numpy()[:, columns])
        return taken @ (left @ right)

    def bounds(self, components: Sequence[int], loose: bool) -> tuple[np.ndarray, np.ndarray]:
        """Interval of each loading on some components, after the turn of :meth:`plane`.

        Parameters
        ----------
        components, loose
            As for :meth:`plane`.

        Returns
        -------
        lower, upper : ndarray, shape (p, len(components))
        """
        return quantiles(self.plane(components, loose), self.level)

    def plane_angle(self, components: Sequence[int], to=None) -> float:
        """How far redraws turn a plane: the median of its largest principal angle.

        Parameters
        ----------
        components : sequence of int
            Numbered from 1.
        to : DataFrame or array_like, shape (p, >= max(components)), optional
            Directions in the order of the components; by default the loadings shown.

        Returns
        -------
        float
            Degrees, 0 to 90.
        """
        columns = [c - 1 for c in components]
        base = np.linalg.qr(np.asarray(self.loadings if to is None else to, dtype=float)[:, columns])[0]
        taken = self.draws[:, :, columns]
        outside = taken - base @ (base.T @ taken)  # sines, not cosines: small angles are accurate
        sine = np.sqrt(np.linalg.eigvalsh(np.swapaxes(outside, 1, 2) @ outside)[:, -1].clip(0, 1))
        return float(np.degrees(np.median(np.arcsin(sine))))

    def table(self) -> pd.DataFrame:
        """Everything by variable: for each component its loading, the interval, and how often the sign is kept.

        Returns
        -------
        DataFrame, shape (p, 4 k)
            Index "variable"; columns are pairs of a component and one of "loading", "lower", "upper", "sign kept".
        """
        parts = {"loading": self.loadings, "lower": self.lower, "upper": self.upper, "sign kept": self.sign_kept}
        columns = pd.MultiIndex.from_product([self.loadings.columns, parts], names=["component", "value"])
        values = np.stack([part.to_numpy() for part in parts.values()], axis=2)
        return pd.DataFrame(values.reshape(len(self.loadings), -1), index=self.loadings.index, columns=columns)

    def __repr__(self):
        count, p, k = self.draws.shape
        return (
            f"LoadingUncertainty({count} redraws of the noise, p={p}, {k} component{'s' * (k != 1)}, "
            f"{100 * self.level:g} % intervals; not sampling error)"
        )

    @cached_property
    def _bounds(self) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Both ends of every interval."""
        lower, upper = quantiles(self.draws, self.level)
        return self._framed(lower), self._framed(upper)

    def _framed(self, values: np.ndarray) -> pd.DataFrame:
        """Label values like the loadings."""
        return pd.DataFrame(values, index=self.loadings.index, columns=self.loadings.columns)


def unit_noises(p: int, draws: int, seed: int = 0) -> np.ndarray:
    """Draws of symmetric noise of unit scale, the same on every call: they hide nothing, they only show a spread.

    Parameters
    ----------
    p : int
        Number of variables.
    draws : int
        How many, from 2 to 10,000.
    seed : int
        Another seed gives other draws. None of them is a noise draw of the teaching mode or of a preview.

    Returns
    -------
    ndarray, shape (draws, p, p)
        Each is distributed as by :func:`dppca_nb.core.noise.standard_noise`.

    Raises
    ------
    TypeError, ValueError
        If `draws` is not such a number.

    Examples
    --------
    >>> unit_noises(3, 200).shape
    (200, 3, 3)
    """
    return np.stack(list(each_unit_noise(p, draws, seed)))


def each_unit_noise(p: int, draws: int, seed: int = 0) -> Iterator[np.ndarray]:
    """Give the draws of `unit_noises` one at a time: all of them at once would be large for many variables.

    Parameters
    ----------
    p, draws, seed
        As for `unit_noises`, and checked at once.

    Returns
    -------
    iterator of ndarray, shape (p, p)

    Examples
    --------
    >>> next(each_unit_noise(3, 200)).shape
    (3, 3)
    """
    try:
        count = 0 if isinstance(draws, bool | np.bool_) else operator.index(draws)
    except TypeError:
        raise TypeError(f"draws must be a whole number such as 200; got {draws!r}.") from None
    if not 2 <= count <= MOST_DRAWS:
        raise ValueError(f"draws must be a whole number from 2 to {MOST_DRAWS:,}; got {draws!r}. 200 is enough.")
    rng = np.random.default_rng([seed, 0, 2])
    return (symmetric_from_normals(rng.standard_normal(p * (p + 1) // 2), p) for _ in range(count))


def redraw(matrix, sigma: float, loadings: pd.DataFrame, units, *, leading: int | None = None) -> LoadingUncertainty:
    """Put noise on a matrix again and again, and follow it to the loadings.

    Parameters
    ----------
    matrix : DataFrame or ndarray, shape (p, p)
        Symmetric. The released matrix; or, where nothing is private, the one before its noise.
    sigma : float
        Scale of the noise.
    loadings : DataFrame, shape (p, p)
        The loadings shown, whose signs the redraws follow.
    units : ndarray, shape (B, p, p), or iterable of ndarray, shape (p, p)
        From `unit_noises`, or `each_unit_noise`.
    leading : int, optional
        How many components, from the first, to keep; by default all of the loadings.

    Returns
    -------
    LoadingUncertainty

    Notes
    -----
    Put on top of a released matrix, redraws move it about as far as the first draw had moved the matrix without noise:
    closely so where the noise is small next to the gaps between shares, roughly where it is not.

    Examples
    --------
    >>> shown = pd.DataFrame(np.eye(3), index=["a", "b", "c"], columns=["PC1", "PC2", "PC3"])
    >>> spread = redraw(np.diag([0.6, 0.3, 0.1]), 0.01, shown, unit_noises(3, 500), leading=2)
    >>> spread.draws.shape, round(spread.plane_angle((1, 2)))
    ((500, 3, 2), 2)
    """
    shown = loadings.iloc[:, :leading]
    k = shown.shape[1]
    base = shown.to_numpy(dtype=float)
    centre, p = np.asarray(matrix, dtype=float), len(base)
    if p >= _MANY:
        few = k <= _FEW * p
        V = np.stack([_leading(centre + sigma * unit, k, few) for unit in units])
    else:
        noisy = centre + sigma * (units if isinstance(units, np.ndarray) else np.stack(list(units)))
        V = np.linalg.eigh(noisy)[1][:, :, : -k - 1 : -1]
    against = np.einsum("bjk,jk->bk", V, base) < 0
    return LoadingUncertainty(shown, np.where(against[:, None, :], -V, V))


def _leading(matrix: np.ndarray, k: int, few: bool) -> np.ndarray:
    """Directions of the k largest eigenvalues; if these are few, the others are not computed."""
    if not few:
        return np.linalg.eigh(matrix)[1][:, : -k - 1 : -1]
    p = len(matrix)
    _, V, *_, info = dsyevr(matrix, range="I", il=p - k + 1, iu=p, lower=1)
    if info:
        raise np.linalg.LinAlgError("Eigenvalues did not converge.")
    return V[:, ::-1]


def quantiles(draws: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray]:
    """Ends of the central interval of each number over redraws.

    Parameters
    ----------
    draws : ndarray, shape (B, ...)
        Redraws along the first axis.
    level : float
        Share of them between the ends.

    Returns
    -------
    lower, upper : ndarray, shape (...)

    Examples
    --------
    >>> low, high = quantiles(np.arange(101.0), 0.9)
    >>> round(float(low), 6), round(float(high), 6)
    (5.0, 95.0)
    """
    rest = (1 - level) / 2
    lower, upper = np.quantile(draws, [rest, 1 - rest], axis=0)
    return lower, upper
