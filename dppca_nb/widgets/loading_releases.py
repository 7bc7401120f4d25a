"""The one way from an explorer to private rows: a release, or a top-up, asked for by code or by a confirmed press."""

from __future__ import annotations

import threading
import weakref

from dppca_nb.core.ledger import Ledger
from dppca_nb.core.privacy import Budget
from dppca_nb.core.release import LoadingRelease
from dppca_nb.table import DataError
from dppca_nb.widgets.handed_mode import Handed
from dppca_nb.widgets.loading_frame import LoadingFrames
from dppca_nb.widgets.release_mode import Releasing
from dppca_nb.widgets.release_words import BUSY, UNUSABLE, failed
from dppca_nb.widgets.words import plain

_alive: weakref.WeakSet[LoadingReleases] = weakref.WeakSet()


class LoadingReleases(LoadingFrames):
    """A view of loadings that can release, if it has a ledger; two presses of one answer are one release."""

    def __init__(self, **traits: object):
        self._spending = threading.Lock()
        self._busy: str | None = None
        super().__init__(**traits)
        _alive.add(self)
        self.on_msg(self._on_message)

    @property
    def result(self) -> LoadingRelease:
        """The numbers shown, with the signs shown; its guarantee says what is claimed: nothing without a release."""
        if self._release is None:
            raise DataError(self._why_nothing())
        return self._release

    @property
    def ledger(self) -> Ledger | None:
        """What pays for releases; None while teaching."""
        return self._mode.desk.ledger if isinstance(self._mode, Releasing) else None

    def release(self) -> LoadingRelease:
        """Draw noise on the private rows once, at the budget shown, and show the result from then on.

        Calling it again, running the cell again and every other view give the same release and spend nothing.

        Returns
        -------
        LoadingRelease

        Raises
        ------
        ValueError
            Without a ledger, or if the calibration would not keep the budget.
        BudgetError, LedgerError
            If the ledger cannot pay. Nothing was drawn then.

        Examples
        --------
        >>> from dppca_nb import Ledger, LoadingExplorer, datasets
        >>> ledger = Ledger(epsilon=8, delta=1e-3, name="arrests")
        >>> explorer = LoadingExplorer(datasets.usarrests(), ledger=ledger, epsilon=5, delta=1e-3)
        >>> explorer.release() is explorer.release(), len(ledger.entries)
        (True, 1)
        >>> explorer.close()
        """
        mode = self._releasing("release()")
        if mode.released is None:
            self._spend(mode.asked(self))
        return mode.released

    def top_up(self, epsilon: float | None = None) -> LoadingRelease:
        """Draw once more, so that all draws together are one release at a larger epsilon, and show that.

        Parameters
        ----------
        epsilon : float, optional
            To reach; by default what the view offers. Where the release has as much already, nothing is drawn.

        Returns
        -------
        LoadingRelease

        Raises
        ------
        ValueError
            Before there is a release.
        BudgetError, LedgerError
            If the ledger cannot pay. Nothing was drawn then.
        """
        mode = self._releasing("top_up()")
        if mode.released is None:
            raise ValueError("top_up() needs a release first: call release().")
        if epsilon is not None and mode.desk.top_up_mu(Budget(epsilon, 0.5).epsilon) == 0:
            return mode.released
        offered = self.top_up_to
        if epsilon is not None:
            self.top_up_to = epsilon
        try:
            self._spend(mode.asked(self))
        finally:
            self.top_up_to = None if mode.released.guarantee.epsilon == epsilon else offered
        return mode.released

    def _releasing(self, what: str) -> Releasing:
        """Return the mode, if it is that of releases."""
        if self._mode is None:
            raise DataError(self._why_nothing())
        if isinstance(self._mode, Handed) and not isinstance(self._mode, Releasing):
            raise ValueError(f"{what} needs the data and their ledger, and this is a release that was handed over.")
        if not isinstance(self._mode, Releasing):
            raise ValueError(
                f"{what} needs a ledger: LoadingExplorer(data, ledger=Ledger(epsilon=…, delta=…, path=…)). While "
                "teaching nothing is released; what is shown is `explorer.result`."
            )
        return self._mode

    def _on_message(self, _: object, content: object, buffers: object) -> None:
        """Do what was confirmed in a view. No setting leads here, so no slider can."""
        if isinstance(content, dict) and content.get("do") == "spend" and isinstance(self._mode, Releasing):
            try:
                self._spend(content.get("asked"), wait=False)
            except Exception as error:  # said in the view already, where its cause is
                self.log.debug("nothing was released: %s", type(error).__name__)

    def _spend(self, asked: object, wait: bool = True) -> None:
        """Release or top up, once: a second press while it lasts, or after it, finds that it was done."""
        if not self._spending.acquire(blocking=wait):
            return
        try:
            self._busy = BUSY
            self._frame = {**self._frame, "busy": BUSY}
            self._mode.spend(asked, self)
            self._refused, self._half = None, None
            self.noise_shown = None
        except BaseException as error:  # an interrupt, too: the view must say that the ledger may have been charged
            self._refused = failed(error)
            if isinstance(error, DataError):  # what is wrong with private rows is not written anywhere
                raise DataError(UNUSABLE) from None
            raise
        finally:
            self._busy = None
            self._spending.release()
            for view in [self, *(other for other in _alive if other is not self)]:
                view._catch_up(self._mode.desk.ledger)

    def _catch_up(self, ledger: Ledger) -> None:
        """Show the ledger, and what was released, as they are after someone's release."""
        if isinstance(self._mode, Releasing) and self._mode.desk.ledger is ledger:
            try:
                self._mode.desk.look_again()
            except (ValueError, OSError) as error:  # the ledger, or what is kept beside it
                self._refused = failed(error)
            self._shown = None
            self._redraw()
            if self._frame.get("busy"):  # no new frame could be made
                self._frame = {name: part for name, part in self._frame.items() if name != "busy"}

    def close(self) -> None:
        """Close every view and forget; closing twice does no harm."""
        _alive.discard(self)
        self.on_msg(self._on_message, remove=True)
        super().close()

    def _why_nothing(self) -> str:
        """Why there are no loadings."""
        if self._mode is not None:
            return self._frame.get("error", "not computed yet")
        return plain(" ".join(self._nothing))
