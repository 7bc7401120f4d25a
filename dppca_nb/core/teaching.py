"""Teaching: data that are treated as public, one kept noise draw, any number of budgets. Nothing here is private."""

from __future__ import annotations

import math

import numpy as np

from dppca_nb.core.align import subspace_angles
from dppca_nb.core.kendall import spherical_kendall
from dppca_nb.core.loading import SAMPLE_SCALE, reference_directions
from dppca_nb.core.privacy import Budget, Reason, make_guarantee, standard_noise
from dppca_nb.core.release import LoadingRelease, release_from_noisy
from dppca_nb.table import Table, scale_table

TEACHING = Reason(
    "teaching",
    "These data are treated as public, and one noise draw is shown at many budgets: two of them give the exact matrix "
    "back. For a release of private data call dp_loading once.",
)


class TeachingDraws:
    """The mechanism on public data with its noise kept, so that only the scale changes when the budget does.

    The exact matrix and the reference directions are computed once.

    Parameters
    ----------
    table : Table
        Data treated as public.
    scale : None, array_like, mapping or "sample"
        As for `dp_loading`.
    coincident : {"raise", "zero"}
        As for `dp_loading`.
    seed : int
        Draw number k of seed s is the same on every machine, so that a lesson can be repeated.

    Attributes
    ----------
    kendall : KendallEstimate
        Without noise.
    reference : ndarray, shape (p, p)
        Ordinary principal directions.
    spread : float
        Largest standard deviation of a column over the smallest that is not zero.

    Examples
    --------
    >>> from dppca_nb.table import as_table
    >>> rows = np.random.default_rng(0).normal(size=(500, 3)) * [3, 2, 1]
    >>> draws = TeachingDraws(as_table(rows))
    >>> coarse, fine = (draws.release(Budget(e, 1e-4), "classical", draw=0) for e in (0.5, 5))
    >>> bool(np.allclose((coarse.noisy_kendall - draws.kendall.matrix) / 10, fine.noisy_kendall - draws.kendall.matrix))
    True
    >>> fine.guarantee.holds
    False
    """

    def __init__(self, table: Table, *, scale: object = None, coincident: str = "zero", seed: int = 0):
        with np.errstate(under="ignore"):
            unit = table.values / max(np.abs(table.values).max(), 1e-300)  # or squares would overflow
            deviations = np.where(np.ptp(unit, axis=0) > 0, np.std(unit, axis=0), 0.0)
        varying = deviations[deviations > 0]
        self.spread = float(varying.max() / varying.min()) if scale is None and varying.size else 1.0
        self.widest = table.names[int(deviations.argmax())]
        self.table = scale_table(table, scale)[0]
        self.reasons = (TEACHING, SAMPLE_SCALE) if self.table.sample_scaled else (TEACHING,)
        self.kendall = spherical_kendall(self.table, coincident=coincident)
        self.coincident, self.seed = coincident, seed
        self.reference = reference_directions(self.table.values)
        self._exact = self.kendall.matrix.to_numpy()
        self._directions = np.linalg.eigh(self._exact)[1][:, ::-1]
        self._angles: dict[tuple[int, ...], float] = {}
        self._unit: tuple[int | None, np.ndarray | None] = (None, None)

    def release(self, budget: Budget, calibration: str, draw: int) -> LoadingRelease:
        """Show one noise draw at one budget; the result says that it guarantees nothing."""
        guarantee = make_guarantee(budget, self.table.n, calibration, reasons=self.reasons, coincident=self.coincident)
        return release_from_noisy(
            self._exact + guarantee.sigma * self._noise(draw),
            names=self.table.names,
            guarantee=guarantee,
            n=self.table.n,
            coincident=self.coincident,
            reference=self.reference,
        )

    def exact(self, draw: int) -> np.ndarray:
        """Return the matrix without noise, the same for every draw."""
        return self._exact

    def exact_angle(self, components: tuple[int, int]) -> float:
        """Angle in degrees between the planes that two components span without noise and in the reference."""
        if components not in self._angles:  # asked for at every move of a slider, and always the same
            columns = [c - 1 for c in components]
            self._angles[components] = float(
                subspace_angles(self._directions[:, columns], self.reference[:, columns])[0]
            )
        return self._angles[components]

    @property
    def coincident_share(self) -> float:
        """Share of the pairs of rows that are equal and count as zero."""
        return self.kendall.coincident_pairs / math.comb(self.table.n, 2)

    def _noise(self, draw: int) -> np.ndarray:
        """Keep the last draw; the pair of seed and number names it."""
        if self._unit[0] != draw:
            self._unit = (draw, standard_noise(self.table.p, np.random.default_rng([self.seed, draw])))
        return self._unit[1]
