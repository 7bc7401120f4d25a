"""Preview: what a release of data of this size may look like, on simulated rows; no private row takes part."""

from __future__ import annotations

import numpy as np

from dppca_nb._simulated import elliptical
from dppca_nb.core.kendall import spherical_kendall
from dppca_nb.core.privacy import Budget, Reason, make_guarantee, standard_noise
from dppca_nb.core.release import LoadingRelease, release_from_noisy
from dppca_nb.table import DataError, Table

PREVIEW = Reason(
    "simulated data",
    "This is a preview on simulated rows: only the size and the names are those of your data. It says how far the "
    "noise may move things, and nothing about the private rows.",
)
# Each variance is this share of the one before it.
SPECTRA = {"steep": 0.4, "gentle": 0.62, "flat": 0.85}
_MOST_ROWS = 2000  # for the pattern; the noise is that of all n rows


class PreviewDraws:
    """The mechanism on simulated rows: as many variables as the private table has, and noise for as many rows.

    Parameters
    ----------
    n : int
        Rows of the private table, public.
    names : sequence of str
        Its variables, public.
    pattern : {"steep", "gentle", "flat"} or Table
        How fast simulated variances fall from one component to the next; or a public sample of the same variables to
        take the pattern from.
    seed : int
        Draw number k of seed s is the same on every machine.

    Raises
    ------
    DataError
        If a public sample has other variables.

    Examples
    --------
    >>> draws = PreviewDraws(1000, ["a", "b", "c"])
    >>> shown = draws.release(Budget(0.5, 1e-6), "analytic", draw=0)
    >>> shown.n, list(shown.loadings.index), shown.guarantee.reasons[0].brief
    (1000, ['a', 'b', 'c'], 'simulated data')
    """

    def __init__(self, n: int, names, *, pattern: str | Table = "gentle", seed: int = 0):
        self.n, self.names, self.seed, self.pattern = n, tuple(names), seed, pattern
        if isinstance(pattern, Table) and pattern.names != self.names:
            raise DataError(
                f"A public sample must have the variables of the private table, {', '.join(map(repr, self.names[:5]))}"
                f"{', ...' if len(self.names) > 5 else ''}, in this order; got "
                f"{', '.join(map(repr, pattern.names[:5]))}{', ...' if len(pattern.names) > 5 else ''}."
            )
        self._patterns: dict[int, tuple[np.ndarray, np.ndarray]] = {}

    def exact(self, draw: int) -> np.ndarray:
        """Return the Kendall matrix of the simulated rows, without noise."""
        return self._pattern(draw)[0]

    def directions(self, draw: int) -> np.ndarray:
        """Return its directions by decreasing share."""
        return self._pattern(draw)[1]

    def release(self, budget: Budget, calibration: str, draw: int) -> LoadingRelease:
        """Show what a release may look like at one budget; the result says that it is simulated."""
        guarantee = make_guarantee(budget, self.n, calibration, reasons=(PREVIEW,))
        unit = standard_noise(len(self.names), np.random.default_rng([self.seed, draw, 1]))
        return release_from_noisy(
            self.exact(draw) + guarantee.sigma * unit,
            names=self.names,
            guarantee=guarantee,
            n=self.n,
            coincident="zero",
        )

    def _pattern(self, draw: int) -> tuple[np.ndarray, np.ndarray]:
        """Simulate once per draw, and keep only the last: a slider comes back to it at every step."""
        if draw not in self._patterns:
            if isinstance(self.pattern, Table):
                rows = self.pattern
            else:
                rng = np.random.default_rng([self.seed, draw])
                p = len(self.names)
                spectrum = SPECTRA[self.pattern] ** np.minimum(np.arange(p), 40)  # or far ones would underflow
                rows = elliptical(max(2, min(self.n, _MOST_ROWS)), p, spectrum=spectrum, rng=rng)
            K = spherical_kendall(rows, coincident="zero").matrix.to_numpy()
            self._patterns = {draw: (K, np.linalg.eigh(K)[1][:, ::-1])}
        return self._patterns[draw]
