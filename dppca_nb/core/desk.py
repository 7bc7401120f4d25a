"""Where private rows wait for a release: what one would cost, the one draw, and one more on top of it."""

from __future__ import annotations

from dppca_nb._scales import public_scales
from dppca_nb.core.account import Account
from dppca_nb.core.gaussian import gaussian_mu
from dppca_nb.core.ledger import Ledger
from dppca_nb.core.loading import dp_loading
from dppca_nb.core.privacy import Budget
from dppca_nb.core.release import LoadingRelease
from dppca_nb.core.shelf import Shelf
from dppca_nb.table import Table

_MET = 3e-9  # relative: sigma is rounded up by a third of it, so a release reaches its own epsilon only nearly


class ReleaseDesk:
    """One private table and the ledger of its data: it is released at most once, then topped up.

    Only `release` and `top_up` reach the rows. Whoever asks again gets what was released before.

    Parameters
    ----------
    table : Table
        Private.
    ledger : Ledger
        Pays. What a desk released earlier, for a table of this size with these variables and scales, is found again.
    scale : None, array_like or mapping
        Public scales, as for `dp_loading`.

    Attributes
    ----------
    released : LoadingRelease or None
        What was released so far.
    kept : bool
        Whether it lies beside the ledger; if it could not be written there, every later look tries again.
    charges : int
        How many the ledger had at the last look.

    Raises
    ------
    DataError, ValueError
        For scales that cannot be used, and for kept releases that cannot be trusted.

    Examples
    --------
    >>> from dppca_nb.table import as_table
    >>> desk = ReleaseDesk(as_table([[1, 2], [3, 1], [0, 5]]), Ledger(1, 1e-6))
    >>> desk.released is None, desk.account().quote(0.1).more
    (True, 4)
    >>> release = desk.release(Budget(0.5, 1e-6), "analytic")
    >>> desk.release(Budget(0.5, 1e-6), "analytic") is release, len(desk.ledger.entries)
    (True, 1)
    """

    def __init__(self, table: Table, ledger: Ledger, *, scale: object = None):
        self._table, self.ledger, self.n, self.names = table, ledger, table.n, table.names
        # scales that cannot be are refused here, before anything is shown
        self._scales = None if scale is None else tuple(public_scales(table, scale).tolist())
        self._shelf = Shelf(ledger)
        self.released: LoadingRelease | None = None
        self.kept = True
        self.look_again()

    def look_again(self) -> None:
        """Find what was released about these rows, here or in another view or program."""
        if self.released is not None and not self.kept:
            self.kept = self._shelf.put(self.released)
        self.charges = len(self.ledger.entries)
        found = self._shelf.latest(self.n, self.names, self._scales)
        # a file that could not be written must not bring an earlier release back
        if found is not None and (self.released is None or len(found.entries) > len(self.released.entries)):
            self.released, self.kept = found, True

    def account(self) -> Account:
        """Read the ledger as it is now, once: what a release would cost can be asked of it as often as one likes."""
        return Account(self.ledger.budget, tuple(entry.mu for entry in self.ledger.entries))

    def release(self, budget: Budget, calibration: str) -> LoadingRelease:
        """Draw noise on the private rows, once; afterwards, and after anyone else's release, give that one again.

        Raises
        ------
        BudgetError, LedgerError, ValueError
            As `dp_loading`; nothing was drawn then.
        """
        with self._shelf.locked():
            self.look_again()
            if self.released is None:
                self._shelf.check()
                self.released = dp_loading(
                    self._table,
                    epsilon=budget.epsilon,
                    delta=budget.delta,
                    calibration=calibration,
                    scale=self._scales,
                    ledger=self.ledger,
                )
                self.kept = self._shelf.put(self.released)
            return self.released

    def top_up_mu(self, epsilon: float) -> float:
        """Mu of the draw that takes the release to a larger epsilon; 0 where it gives as much already."""
        goal, now = gaussian_mu(epsilon, self.released.guarantee.delta), self.released.guarantee.mu
        return ((goal - now) * (goal + now)) ** 0.5 if goal > now * (1 + _MET) else 0.0

    def top_up(self, epsilon: float) -> LoadingRelease:
        """Draw once more, so that both draws together are one release at a larger epsilon; never twice for the same.

        Raises
        ------
        BudgetError, LedgerError, ValueError
            As `LoadingRelease.topped_up`; nothing was drawn then.
        """
        with self._shelf.locked():
            self.look_again()
            if self.top_up_mu(epsilon) > 0:  # else someone else was first
                self._shelf.check()
                self.released = self.released.topped_up(self._table, epsilon=epsilon, ledger=self.ledger)
                self.kept = self._shelf.put(self.released)
            return self.released
