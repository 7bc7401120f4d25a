"""What a picture of loadings is about: a private release, or ordinary components. Its numbers, and what is said of it.

Both kinds answer the same questions, so that `LoadingPicture` and everything after it need not ask which one it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import pandas as pd

from dppca_nb.charts import results, theme
from dppca_nb.core.align import Separation, separation, turn_angle
from dppca_nb.core.gini_result import GiniResult
from dppca_nb.core.pca import PCAResult
from dppca_nb.core.preview import PREVIEW
from dppca_nb.core.release import LoadingRelease
from dppca_nb.core.teaching import TEACHING
from dppca_nb.core.uncertainty import LoadingUncertainty

DRAWS = 200  # of the noise
MANY = 300  # variables
RESULTS = (LoadingRelease, PCAResult, GiniResult)


class Axes(NamedTuple):
    """Whether the two axes of a plane are defined, and how far, in degrees, they may turn within it if not."""

    loose: bool
    turn: float


class Subject(Protocol):
    """The questions that a picture asks."""

    loadings: pd.DataFrame  # p × components, index "variable"
    reference: pd.DataFrame | None  # ordinary directions that may stand beside them
    n: int
    private: bool  # whether the picture, without the reference, may be shown to others
    voids: Sequence[str]  # why a guarantee that was asked for does not hold, briefly
    panel: str  # title of its panel beside the reference
    reference_panel: str  # title of the reference's panel
    name: str  # of its columns in a digest
    what: str  # first words of the title
    watermark: str  # written across the picture, if it must not be taken for something else

    def statement(self, components: tuple[int, ...], drawn: str, *, compared: bool, plane: bool) -> list[str]:
        """How the numbers were made, in parts that a subtitle joins; ``drawn`` adds how many variables are drawn."""

    def axes(self, components: tuple[int, int]) -> Axes:
        """Judge the axes of a plane."""

    def pale(self, components: tuple[int, ...]) -> frozenset[str]:
        """Variables that are to be drawn pale."""

    def redraws(self, leading: int) -> LoadingUncertainty:
        """How far the noise moves the leading components."""


class ReleaseSubject:
    """Private loadings; its axes may be loose under the noise."""

    name, reference_panel = "private ", "Reference, not private"

    def __init__(self, release: LoadingRelease):
        self.release = release
        self.loadings, self.reference, self.n = release.loadings, release.reference, release.n
        reasons = release.guarantee.reasons
        self.teaching = TEACHING in reasons  # no guarantee is claimed then, so this reason breaks none
        self.preview = PREVIEW in reasons  # nor here: no private row took part
        self.private = not (self.teaching or self.preview)
        self.what = "Private loadings on" if self.private else "Loadings on"
        self.watermark = ""
        if self.preview:
            self.what, self.name, self.watermark = "Preview: simulated loadings on", "simulated ", "SIMULATED DATA"
        self.voids = [reason.brief for reason in reasons if reason not in (TEACHING, PREVIEW)]
        made = "With noise for" if self.teaching else "Simulated," if self.preview else "Released,"
        self.panel = f"{made} ε {theme.epsilon(release.guarantee.epsilon)}"

    def statement(self, components: tuple[int, ...], drawn: str, *, compared: bool, plane: bool) -> list[str]:
        """State the budget, what it really gives, the noise and the size."""
        g = self.release.guarantee
        exact = "exact" if g.calibration == "analytic" else f"exact {theme.exact_epsilon(g.exact_epsilon)}"
        parts = [
            f"ε {theme.epsilon(g.epsilon)} ({exact}), δ {theme.delta(g.delta)}",
            f"{g.calibration}, σ {theme.significant(g.sigma)}",
            f"n {theme.count(self.n)}, p {theme.count(self.release.p)}{drawn}",
        ]
        if self.teaching or self.preview:
            parts.append("teaching, not a release" if self.teaching else "simulated, not a release")
        elif compared:
            parts.append("with a reference: not a private release")
        if not plane and (loose := self._loose_neighbours(components)):
            parts.append("not separated: " + ", ".join(f"PC{a} from PC{b}" for a, b in loose))
        return parts

    def _loose_neighbours(self, components: tuple[int, ...]) -> list[tuple[int, int]]:
        """Neighbouring components that the noise does not tell apart; a plane shows it by its axes instead."""
        pairs = [(c, c + 1) for c in sorted(components) if c + 1 in components]
        return [pair for pair in pairs if not self.separation(pair).separated]

    def separation(self, components: tuple[int, int]) -> Separation:
        """Judge whether the noise lets two components be told apart."""
        return separation(self.release.kendall_shares.to_numpy(), components, self.release.guarantee.sigma)

    def pale(self, components: tuple[int, ...]) -> frozenset[str]:
        """None."""
        return frozenset()

    def redraws(self, leading: int) -> LoadingUncertainty:
        """Put noise on the noisy matrix again; this costs nothing."""
        draws = DRAWS if self.release.p <= MANY else DRAWS // 5  # each costs an eigendecomposition
        return self.release.uncertainty(draws, leading=leading)

    def axes(self, components: tuple[int, int]) -> Axes:
        """Judge the axes by the noise."""
        sep = self.separation(components)
        return Axes(True, turn_angle(sep.gap, self.release.guarantee.sigma)) if not sep.separated else Axes(False, 0.0)


class PlainSubject:
    """Loadings of ordinary or Gini components, not private; their axes are loose where eigenvalues are equal."""

    name, panel, reference_panel, what = "", "Not private", "", "Loadings on"
    private, voids, watermark = False, (), ""

    def __init__(self, result: PCAResult | GiniResult, beside: PCAResult | None = None):
        self.result = result
        self.loadings, self.n = result.directions, result.n
        self.reference = None if beside is None else beside.directions
        if beside is not None:
            self.panel = results.convention(result)
            self.reference_panel = f"Variance: {results.convention(beside)}"

    def statement(self, components: tuple[int, ...], drawn: str, *, compared: bool, plane: bool) -> list[str]:
        """State the convention, the shares and the size, and what is not defined."""
        return [
            results.convention(self.result),
            results.shares(self.result, components),
            results.size(self.result) + drawn,
            *results.undefined(self.result, components),
        ]

    def pale(self, components: tuple[int, ...]) -> frozenset[str]:
        """None."""
        return frozenset()

    def redraws(self, leading: int) -> LoadingUncertainty:
        """Refuse: there is no noise."""
        raise ValueError(
            'uncertainty must be "off" here: these components were computed without noise. It shows the noise of a '
            "release, from dp_loading(...)."
        )

    def axes(self, components: tuple[int, int]) -> Axes:
        """Judge the axes by their eigenvalues; two without variance are equal, too."""
        beyond = min(components) > results.drawn_components(self.result)
        loose = beyond or any(set(components) <= set(tied) for tied in self.result.tied)
        return Axes(loose, 45.0 if loose else 0.0)


def subject_of(result: LoadingRelease | PCAResult | GiniResult) -> Subject:
    """Take a result as the subject of a picture.

    Raises
    ------
    TypeError
        If it is no result that has loadings.
    """
    if isinstance(result, ReleaseSubject | PlainSubject):
        return result
    if isinstance(result, LoadingRelease):
        return ReleaseSubject(result)
    if isinstance(result, PCAResult | GiniResult):
        return PlainSubject(result)
    raise TypeError(
        f"the result must come from dp_loading(...), pca(...) or gini_pca(...); got {type(result).__name__}."
    )
