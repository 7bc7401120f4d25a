"""A release without its rows: whatever is shown of it is made of what was released, and costs nothing."""

from __future__ import annotations

import numpy as np

from dppca_nb.charts import theme
from dppca_nb.charts.picture import LoadingPicture
from dppca_nb.core.preview import PREVIEW
from dppca_nb.core.privacy import Budget, Guarantee
from dppca_nb.core.release import LoadingRelease
from dppca_nb.core.teaching import TEACHING
from dppca_nb.core.uncertainty import LoadingUncertainty
from dppca_nb.table import DataError
from dppca_nb.widgets import release_words as words
from dppca_nb.widgets.frame import EPSILONS
from dppca_nb.widgets.loading_words import separated

VIEW = ("kind", "components", "variables", "labels", "uncertainty")


class Handed:
    """The mode of an explorer of one release, as someone has it who never sees the rows.

    Parameters
    ----------
    release : LoadingRelease
        From `dp_loading`, or loaded.

    Raises
    ------
    DataError
        If it is a picture of teaching or of a preview, which was never released.
    """

    name, arguments, left_out = "release", "release", ()
    patterns: tuple[str, ...] = ()
    wanted: float | None = None  # what the cell asks for, before there is a release

    def __init__(self, release: LoadingRelease):
        if {TEACHING, PREVIEW} & set(release.guarantee.reasons):
            raise DataError(
                "This was never released: it is what an explorer shows while teaching, or before a release. Give the "
                "explorer the data themselves."
            )
        if release.reference is not None:
            raise DataError(
                "This release holds a reference, which is not private. Leave it out: "
                "dataclasses.replace(release, reference=None). loading_chart draws both."
            )
        self._given, self._lowered = release, {}
        self.p, self.names = release.p, tuple(release.loadings.index)

    @property
    def released(self) -> LoadingRelease | None:
        """What was released so far."""
        return self._given

    @property
    def n(self) -> int:
        """Number of rows, public."""
        return self.released.n

    @property
    def said(self) -> str:
        """The state, for the text of the explorer."""
        return "released"

    @property
    def badge(self) -> str:
        """The state in a word."""
        return "Released" if self.released.guarantee.holds else "Not private"

    @property
    def banner(self) -> str:
        """The state in a sentence."""
        return words.released(self.released)

    @property
    def settings(self) -> tuple[str, ...]:
        """Settings that matter in this state."""
        return (*VIEW, "noise_shown")

    # ----- checks of the settings that only releases have -----

    def check_pattern(self, value: object) -> str:
        """Nothing is simulated here."""
        if value != "gentle":
            raise ValueError(f"pattern is for previews, and this was released; got {value!r}.")
        return value

    def check_noise_shown(self, value: object) -> float | None:
        """Check a smaller epsilon to show the release at."""
        if value is None:
            return None
        wanted = Budget(value, 0.5).epsilon
        if self.released is None or not wanted < self.released.guarantee.exact_epsilon:
            raise ValueError(
                f"noise_shown must be None or an epsilon below that of the release ({self._has()}); got {value!r}. "
                "Noise can be added for free, and not taken away."
            )
        return wanted

    def check_top_up_to(self, value: object) -> None:
        """Without the rows there is nothing to draw from."""
        if value is not None:
            raise ValueError(f"top_up_to needs the data and their ledger; got {value!r}.")

    def _has(self) -> str:
        """Say what the release gives."""
        made = self.released and self.released.guarantee
        return f"it has {made.exact_epsilon:.4g}" if made else "there is none yet"

    # ----- what is shown -----

    def release(self, settings: object) -> LoadingRelease:
        """Give the release, or what it would be at a smaller epsilon: noise on top of it, the same at every look."""
        epsilon = settings.noise_shown
        if epsilon is None or epsilon >= self.released.guarantee.exact_epsilon:
            return self.released
        wanted = (epsilon, len(self.released.entries))
        if wanted not in self._lowered:
            self._lowered[wanted] = self.released.lowered(epsilon)
        return self._lowered[wanted]

    def centre(self, settings: object, release: LoadingRelease) -> np.ndarray:
        """Return the matrix that redraws put noise on: what was released."""
        return release.noisy_kendall.to_numpy()

    def lower(self) -> list[float]:
        """Epsilons that the release can be shown at for free."""
        if not self.released:
            return []
        return [step for step in reversed(EPSILONS) if step < self.released.guarantee.exact_epsilon * (1 - 1e-9)]

    # ----- what is said -----

    def status(self, pair: LoadingPicture, spread: LoadingUncertainty) -> tuple[str, bool]:
        """How far the plane may be off, and whether its axes mean anything; True where to beware."""
        text, beware = separated(pair)
        angle = spread.plane_angle(pair.components)
        expected, useless = words.expected(angle, self.released is not None, pair.subject.release.guarantee, self.p)
        return f"{expected} {text}", beware or useless

    def statement(self, made: Guarantee) -> dict:
        """What is claimed for the release, or would be for one."""
        return words.statement(made, self.released)

    def notes(self) -> list[str]:
        """Nothing to add."""
        return []

    def strip(self, settings: object) -> dict | None:
        """No ledger."""
        return None

    def controls(self, settings: object) -> dict:
        """What the controls of this mode offer."""
        return {
            "budget": self.released is None,
            "patterns": [[pattern, words.PATTERNS[pattern]] for pattern in self.patterns],
            "pattern": settings.pattern,
            "lower": [[step, f"as for ε {theme.epsilon(step)}"] for step in self.lower()],
            "noise_shown": settings.noise_shown,
        }
