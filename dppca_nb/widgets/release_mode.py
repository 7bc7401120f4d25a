"""Release: private rows behind a ledger. A preview on simulated rows, then one release, and what follows from it."""

from __future__ import annotations

import numpy as np
import pandas as pd

from dppca_nb.charts.choices import check_choice
from dppca_nb.core.account import Account
from dppca_nb.core.desk import ReleaseDesk
from dppca_nb.core.ledger import Ledger, LedgerError
from dppca_nb.core.preview import SPECTRA, PreviewDraws
from dppca_nb.core.privacy import Budget, make_guarantee
from dppca_nb.core.release import LoadingRelease
from dppca_nb.table import DataError, Table, as_table, scale_table
from dppca_nb.widgets import release_words as words
from dppca_nb.widgets.frame import EPSILONS
from dppca_nb.widgets.handed_mode import VIEW, Handed
from dppca_nb.widgets.words import code


def check_release_settings(ledger: object, scale: object, coincident: str, public_sample: object) -> None:
    """Check what belongs to one mode only."""
    if ledger is None:
        if public_sample is not None:
            raise ValueError("public_sample is for the preview of release mode; give the explorer a ledger too.")
        return
    if not isinstance(ledger, Ledger):
        raise TypeError(
            f"ledger must be a Ledger or None; got {type(ledger).__name__}. Make one: "
            "Ledger(epsilon=1, delta=1e-6, path='survey.jsonl')."
        )
    if coincident != "zero":
        raise ValueError(
            'coincident must be "zero" with a ledger: whether "raise" raises depends on private rows, without noise.'
        )
    if isinstance(scale, str) and scale == "sample":
        raise ValueError(
            'scale must not be "sample" with a ledger: standard deviations of the private rows are not covered by '
            "the noise. Give public scales."
        )


def private_table(data: object) -> Table:
    """Read private rows. Columns that are not numbers are refused, not left out: one odd cell could decide which are.

    Raises
    ------
    DataError
        If they cannot be used; what is wrong with single rows is not written.
    """
    if isinstance(data, pd.DataFrame):
        numeric = [pd.api.types.is_numeric_dtype(dtype) for dtype in data.dtypes]
        others = zip(data.columns, data.dtypes, numeric, strict=True)
        refused = [f"{code(str(label))} ({dtype})" for label, dtype, fits in others if not fits]
        if refused:
            raise DataError(words.untyped(refused))
    try:
        return as_table(data)
    except Exception:  # whatever a cell can raise: it may hold what the cell says
        raise DataError(words.UNUSABLE) from None


class Releasing(Handed):
    """The mode of an explorer with a ledger. Settings move the preview; only `spend` reaches the rows.

    Parameters
    ----------
    table : Table
        Private.
    ledger : Ledger
        Pays.
    scale : object
        Public scales, as for `dp_loading`.
    sample : Table or None
        A public sample of the same variables, for the preview.
    seed : int
        Of the preview.
    """

    def __init__(self, table: Table, ledger: Ledger, *, scale: object, sample: Table | None, seed: int):
        if table.sample_scaled or scale_table(table, scale)[1]:
            raise DataError(words.SCALES)
        self.desk = ReleaseDesk(table, ledger, scale=scale)
        self._lowered, self.p, self.names, self.left_out = {}, table.p, table.names, table.left_out
        self.patterns = (*SPECTRA, "sample") if sample is not None else tuple(SPECTRA)
        self._sample, self._seed = sample, seed
        self.arguments = "data, ledger=ledger" + ", public_sample=public_sample" * (sample is not None)
        # a public sample of other variables is refused here, before anything is shown
        self._draws = None if sample is None else PreviewDraws(table.n, table.names, pattern=sample, seed=seed)

    @property
    def released(self) -> LoadingRelease | None:
        """What was released so far."""
        return self.desk.released

    @property
    def n(self) -> int:
        """Number of rows, public."""
        return self.desk.n

    @property
    def said(self) -> str:
        """The state, for the text of the explorer."""
        return super().said if self.released else "preview on simulated data"

    @property
    def badge(self) -> str:
        """The state in a word."""
        return super().badge if self.released else "Release: preview"

    @property
    def banner(self) -> str:
        """The state in a sentence."""
        return super().banner if self.released else words.PREVIEW

    @property
    def settings(self) -> tuple[str, ...]:
        """Settings that matter in this state."""
        return super().settings if self.released else ("epsilon", "delta", "calibration", "draw", "pattern", *VIEW)

    # ----- checks of the settings that only this mode has -----

    def check_pattern(self, value: object) -> str:
        """Check how simulated variances fall."""
        check_choice("pattern", value, self.patterns)
        return value

    def check_top_up_to(self, value: object) -> float | None:
        """Check a larger epsilon to take the release to."""
        if value is None:
            return None
        wanted = Budget(value, 0.5).epsilon
        if self.released is None or not self.desk.top_up_mu(wanted) > 0:
            raise ValueError(
                f"top_up_to must be None or an epsilon above that of the release ({self._has()}); got {value!r}."
            )
        return wanted

    # ----- what is shown -----

    def release(self, settings: object) -> LoadingRelease:
        """Give what was released, or a simulated release at the budget of the settings."""
        if self.released is not None:
            return super().release(settings)
        return self._preview(settings).release(
            Budget(settings.epsilon, settings.delta), settings.calibration, settings.draw
        )

    def centre(self, settings: object, release: LoadingRelease) -> np.ndarray:
        """Return the matrix that redraws put noise on: what was released, or what was simulated."""
        if self.released is not None:
            return super().centre(settings, release)
        return self._preview(settings).exact(settings.draw)

    def _preview(self, settings: object) -> PreviewDraws:
        """Keep the simulated rows until another pattern is asked for."""
        pattern = self._sample if settings.pattern == "sample" else settings.pattern
        if self._draws is None or self._draws.pattern is not pattern:
            self._draws = PreviewDraws(self.desk.n, self.names, pattern=pattern, seed=self._seed)
        return self._draws

    # ----- what is said -----

    def notes(self) -> list[str]:
        """Where the release is kept, and what the ledger paid for otherwise; nothing that the rows say."""
        return [*words.kept(self.desk), *words.missing(self.released, self.wanted)]

    # ----- the ledger -----

    def offered(self) -> list[float]:
        """Epsilons that the release can be taken to."""
        return [step for step in EPSILONS if self.desk.top_up_mu(step) > 1e-6] if self.released else []

    def goal(self, settings: object, account: Account) -> float | None:
        """Epsilon that a top-up would reach: as asked for, or about half as much again as far as the budget goes."""
        if not self.released:
            return None
        if settings.top_up_to is not None and self.desk.top_up_mu(settings.top_up_to) > 0:
            return settings.top_up_to
        steps = self.offered()[:3]
        fitting = [step for step in steps if account.fits(self.desk.top_up_mu(step))]
        return (fitting or steps[:1] or [None])[-1]

    def strip(self, settings: object) -> dict:
        """The ledger: what was spent, what the button would spend, and what it says."""
        try:
            account = self.desk.account()
            if self.released:
                goal = self.goal(settings, account)
                strip = words.top_up_strip(self.desk, account, goal, self.offered())
            else:
                guarantee = make_guarantee(Budget(settings.epsilon, settings.delta), self.desk.n, settings.calibration)
                goal, strip = None, words.release_strip(self.desk, account, guarantee)
            return {**strip, "asked": self._asked(settings, goal)}
        except LedgerError as error:  # someone moved the file: looking goes on, spending does not
            return words.broken_strip(str(error))

    def spend(self, asked: dict, settings: object) -> LoadingRelease:
        """Do what the button said: release, or top up. The only way from a setting to the rows.

        Raises
        ------
        ValueError
            If the settings are no longer those that were asked about; nothing was drawn.
        """
        draws = asked.get("draws") if isinstance(asked, dict) else None
        if isinstance(draws, int) and draws < len(self.released.entries if self.released else ()):
            return self.released  # the second press of one answer: it was done
        if asked != self.asked(settings):
            raise ValueError("The settings changed between the question and the answer. Nothing was drawn. Ask again.")
        if self.released and asked["top_up_to"] is None:
            raise ValueError("There is no larger epsilon to offer. Give one: top_up(epsilon).")
        if self.released:
            return self.desk.top_up(asked["top_up_to"])
        return self.desk.release(Budget(asked["epsilon"], asked["delta"]), asked["calibration"])

    def asked(self, settings: object) -> dict:
        """Return what the button asks about now."""
        return self._asked(settings, self.goal(settings, self.desk.account()) if self.released else None)

    def _asked(self, settings: object, goal: float | None) -> dict:
        """Return what is asked about, once it is known what a top-up would reach."""
        if self.released:
            return {"top_up_to": goal, "draws": len(self.released.entries)}
        return {"epsilon": settings.epsilon, "delta": settings.delta, "calibration": settings.calibration, "draws": 0}
