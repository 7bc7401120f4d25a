"""Teaching: data that are treated as public, one kept noise draw, a reference beside it. Nothing shown is private."""

from __future__ import annotations

import numpy as np

from dppca_nb.charts import theme
from dppca_nb.charts.picture import LoadingPicture
from dppca_nb.core.privacy import Budget, Guarantee
from dppca_nb.core.release import LoadingRelease
from dppca_nb.core.teaching import TEACHING, TeachingDraws
from dppca_nb.core.uncertainty import LoadingUncertainty
from dppca_nb.table import Table
from dppca_nb.widgets.loading_words import separated
from dppca_nb.widgets.words import UNEVEN, code, left_out_note


class Teaching:
    """The mode of an explorer without a ledger.

    Parameters
    ----------
    table : Table
        Treated as public.
    **made : object
        How the draws are made: scale, coincident, seed.
    """

    name, badge, said, arguments = "teaching", "Teaching", "teaching", "data"
    banner = (
        "**Teaching.** These data are treated as public. Nothing shown here is private: two budgets over one noise "
        "draw give the exact matrix back."
    )
    released = None
    settings = (
        "epsilon", "delta", "calibration", "draw", "kind", "components", "variables", "labels", "show_reference",
        "uncertainty",
    )  # fmt: skip

    def __init__(self, table: Table, **made: object):
        self.table, self.draws = table, TeachingDraws(table, **made)
        self.p, self.names, self.left_out = table.p, table.names, table.left_out

    def release(self, settings: object) -> LoadingRelease:
        """Scale the kept draw to the budget."""
        budget = Budget(settings.epsilon, settings.delta)
        return self.draws.release(budget, settings.calibration, settings.draw)

    def centre(self, settings: object, release: LoadingRelease) -> np.ndarray:
        """Return the matrix that redraws put noise on: the exact one, so that what is shown is one of them."""
        return self.draws.exact(settings.draw)

    def status(self, pair: LoadingPicture, spread: LoadingUncertainty | None) -> tuple[str, bool]:
        """How far the plane lies from the reference, and whether its axes mean anything; True where to beware."""
        exact = self.draws.exact_angle(pair.components)
        first = f"Plane {pair.plane_angle:.1f}° from the reference ({exact:.1f}° without noise: the methods differ)."
        text, beware = separated(pair)
        return f"{first} {text}", beware

    def statement(self, made: Guarantee) -> dict:
        """What is claimed: nothing, and what the noise would give."""
        given = f"ε {theme.exact_epsilon(made.exact_epsilon)} at δ {theme.delta(made.delta)}"
        asked = f" ({theme.epsilon(made.epsilon)} was asked)" if made.calibration == "classical" else ", as asked"
        text = f"None is claimed while teaching. Released, this noise would give {given}{asked}."
        if made.calibration == "classical" and made.epsilon >= 1:
            text += " The classical formula is proved below ε = 1 only; the exact value says what holds here."
        reasons = [reason.text for reason in made.reasons if reason != TEACHING]
        if reasons:
            text = "**Void.** This result must not be published as private:"
        return {"name": "Guarantee", "text": text, "reasons": reasons}

    def notes(self) -> list[str]:
        """What a reader should know about the table: what was left out, what coincides, what dominates."""
        found = left_out_note(self.left_out)
        pairs = self.draws.kendall.coincident_pairs
        if pairs:
            found.append(
                f"{theme.count(pairs)} pairs of rows ({theme.significant(100 * self.draws.coincident_share)} %) "
                "coincide and count as zero."
            )
        if self.draws.spread**2 > UNEVEN:
            found.append(
                f"The variances of the columns differ by a factor of {theme.significant(self.draws.spread**2)}, so the "
                f"directions mostly follow {code(self.draws.widest)}. Nothing is scaled unasked; "
                "give public scales with `LoadingExplorer(data, scale=…)`."
            )
        return found

    def controls(self, settings: object) -> dict:
        """What the controls of this mode offer."""
        return {"budget": True}

    def strip(self, settings: object) -> None:
        """No ledger."""
