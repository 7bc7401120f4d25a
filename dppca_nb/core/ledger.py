"""What was spent: a budget for all releases of one data set together, kept before any noise is drawn."""

from __future__ import annotations

import os
import textwrap
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from dppca_nb.core.account import Account
from dppca_nb.core.ledger_entry import LedgerEntry, LedgerError, check_text, checked_charge
from dppca_nb.core.ledger_file import LedgerFile
from dppca_nb.core.privacy import Budget, large_delta, make_guarantee

__all__ = ["BudgetError", "Ledger", "LedgerEntry", "LedgerError"]

_WIDTH = 96  # characters of a line of the summary


class BudgetError(ValueError):
    """A release would spend more than is left. It says what was spent, asked and left; nothing was drawn or charged.

    Examples
    --------
    >>> ledger = Ledger(1, 1e-6)
    >>> ledger.charge("mean", n=100, sensitivity=1, sigma=1, randomness="os.urandom")
    Traceback (most recent call last):
    ...
    dppca_nb.core.ledger.BudgetError: This release asks for epsilon 4.887 (mu 1), but what is left of the ledger of
    'data' is epsilon 1 (mu 0.2367): epsilon 0 (mu 0) was spent of epsilon 1 at delta 1e-06, and together they would
    cost epsilon 4.887 (mu 1). Ask for no more than that. Nothing was drawn and nothing was charged.
    """


class Ledger:
    r"""The accounts of one data set: what all releases together may cost, and what they have cost so far.

    The budget is kept in mu, because Gaussian mechanisms compose exactly in it, also when one is chosen after another
    was seen: :math:`\mu = \sqrt{\sum_i \mu_i^2}`, :math:`\mu_i` = sensitivity / sigma. Every mu has one exact epsilon
    at the delta of the ledger. Epsilons themselves do not add up: what is `left` is the most that ONE more release may
    cost, which is more than the budget less what is spent.

    Parameters
    ----------
    epsilon, delta : float
        What all releases together may cost: epsilon finite and above 0, delta strictly between 0 and 1 and well below
        1/n.
    path : str or Path, optional
        A file of JSON lines that outlives the program: one line is added per release, none is ever changed. Threads
        and programs may share it. Without a path the accounts are kept in memory.
    name : str, optional
        Of the data set, in your words; it stands in every entry. By default what the file says, or the name of a new
        file without its ending, or "data".

    Attributes
    ----------
    budget : Budget
        What all releases together may cost.
    name : str
        Of the data set.
    path : Path or None
        Of the file.
    mu : float
        The budget in mu.

    Raises
    ------
    TypeError, ValueError
        For a bad budget or name.
    LedgerError
        A ValueError: the file belongs to another budget or name, or cannot be trusted, read or written. A last line
        that is incomplete is never dropped in silence, nor is anything charged on top of it: the message says how to
        mend it.

    See Also
    --------
    dppca_nb.dp_loading : takes a ledger, and charges it before it draws noise.

    Notes
    -----
    An entry is on disk before `charge` returns, and noise is drawn after that. A program that stops in between has
    paid for nothing; it never has something without having paid.

    Two sums count as equal if they differ by 1 part in 1e9 of mu: three releases of a third each fit. Once the budget
    is met within 2 parts in 1e9, nothing fits any more, however small.

    References
    ----------
    Dong, Roth and Su (2022), Gaussian differential privacy, doi 10.1111/rssb.12454;
    Balle and Wang (2018), arXiv:1805.06530.

    Examples
    --------
    >>> from dppca_nb import dp_loading
    >>> ledger = Ledger(epsilon=1, delta=1e-6, name="survey")
    >>> import numpy as np
    >>> rows = np.random.default_rng(0).normal(size=(500, 3))
    >>> release = dp_loading(rows, epsilon=0.5, delta=1e-6, calibration="analytic", ledger=ledger)
    >>> round(ledger.spent, 3), round(ledger.left, 3), ledger.more(Budget(0.5, 1e-6))
    (0.5, 0.841, 2)
    >>> ledger
    Ledger('survey': epsilon 0.5 of 1 spent at delta 1e-06 by 1 release; left for one more: 0.8411; in memory)
    """

    def __init__(self, epsilon: float, delta: float, *, path=None, name: str | None = None):
        self.budget = Budget(epsilon, delta)
        if name is not None:
            check_text("name", name)
        self.mu = Account(self.budget).mu
        self._guard = threading.Lock()
        self._owner = os.getpid()
        self._seen: tuple[LedgerEntry, ...] = ()
        self._file = None if path is None else LedgerFile(path, self.budget, name)
        self.name = self._file.name if self._file else name or "data"

    @property
    def path(self):
        """Path of the file, or None."""
        return self._file and self._file.path

    @property
    def entries(self) -> tuple[LedgerEntry, ...]:
        """All charges, oldest first, also those of other programs on the same file."""
        with self._current() as entries:
            return entries

    @property
    def spent(self) -> float:
        """Exact epsilon of all releases together, at the delta of the ledger."""
        account = self._account(self.entries)
        return account.epsilon(account.spent_mu)

    @property
    def spent_mu(self) -> float:
        """Mu of all releases together."""
        return self._account(self.entries).spent_mu

    @property
    def left(self) -> float:
        """Largest epsilon of one more release with analytic calibration, at the delta of the ledger."""
        account = self._account(self.entries)
        return account.epsilon(account.left_mu)

    @property
    def left_mu(self) -> float:
        """Largest mu of one more release."""
        return self._account(self.entries).left_mu

    def charge(
        self, mechanism: str, *, n: int, sensitivity: float, sigma: float, randomness: str, calibration: str = "given"
    ) -> LedgerEntry:
        """Pay for one Gaussian mechanism. Call it when all else is checked, and draw the noise after it.

        Parameters
        ----------
        mechanism : str
            What is released.
        n : int
            Number of rows, at least 1, public.
        sensitivity : float
            Largest l2 distance that one replaced row can move the result, above 0.
        sigma : float
            Standard deviation of the noise in every coordinate, in the units of `sensitivity`, above 0.
        randomness : str
            Where the noise comes from.
        calibration : str
            How sigma was chosen.

        Returns
        -------
        LedgerEntry
            As it was written.

        Raises
        ------
        BudgetError
            If it does not fit. Nothing is charged.
        LedgerError
            If the file cannot be trusted or written. Nothing may be drawn then.
        TypeError, ValueError
            For an argument that cannot be.

        Examples
        --------
        >>> ledger = Ledger(1, 1e-6)
        >>> for _ in range(2):
        ...     entry = ledger.charge("mean", n=100, sensitivity=0.01, sigma=0.1, randomness="os.urandom")
        >>> round(entry.cumulative_mu**2, 12), len(ledger.entries)
        (0.02, 2)
        """
        asked = checked_charge(mechanism, n, sensitivity, sigma, calibration, randomness)
        with self._current() as entries:
            account = self._account(entries)
            if not account.fits(asked["mu"]):
                raise BudgetError(account.refusal(asked["mu"], self.name))
            together = account.with_one_more(asked["mu"]).spent_mu
            entry = LedgerEntry(
                time=datetime.now(UTC).isoformat(timespec="milliseconds"),
                name=self.name,
                cumulative_mu=together,
                cumulative_epsilon=account.epsilon(together),
                **asked,
            )
            if self._file:
                self._file.append(entry)
            self._seen = (*entries, entry)
        return entry

    def more(self, budget: Budget, calibration: str = "analytic") -> int:
        """How many more releases of one kind fit.

        Parameters
        ----------
        budget : Budget
            Of each of them.
        calibration : {"classical", "analytic"}
            How their noise follows from it.

        Returns
        -------
        int
            0 also where `dp_loading` would refuse the release because the calibration does not give the budget.

        Examples
        --------
        >>> Ledger(2.4, 1e-6).more(Budget(1, 1e-6))
        5
        """
        like = make_guarantee(budget, 2, calibration)  # the same mu for every n
        return self._account(self.entries).count(like.mu) if like.holds else 0

    def summary(self, budget: Budget | None = None, calibration: str = "analytic") -> str:
        """Tell in plain words what was spent, what is left, and for how many more releases it lasts.

        Parameters
        ----------
        budget : Budget, optional
            Count releases like this one; by default, releases like the last one.
        calibration : {"classical", "analytic"}
            Goes with `budget`.

        Returns
        -------
        str
            Lines of at most 96 characters; what continues a line is indented.

        Examples
        --------
        >>> print(Ledger(1, 1e-6, name="survey").summary(Budget(0.5, 1e-6)).splitlines()[0])
        Ledger of 'survey': epsilon 1 at delta 1e-06 (mu 0.2367) for all releases together.
        """
        entries = self.entries
        account = self._account(entries)
        total = f"epsilon {self.budget.epsilon:g} at delta {self.budget.delta:g} (mu {self.mu:.4g})"
        lines = [f"Ledger of {self.name!r}: {total} for all releases together.", *account.lines()]
        if budget is not None:
            like = f"epsilon {budget.epsilon:g} at delta {budget.delta:g}, {calibration} calibration"
            lines.append(f"{_count(self.more(budget, calibration))} more like this: {like}.")
        elif entries:
            lines.append(f"{_count(account.count(entries[-1].mu))} more like the last one.")
        if self._file:
            lines.append(f"Kept in {self.path.name}: every entry is on disk before its noise is drawn.")
        else:
            lines.append(
                "Kept in memory only: a restart of the kernel forgets what was spent. For real data give a path."
            )
        if entries and self.budget.delta * entries[-1].n >= 1:
            lines.append("Warning: " + large_delta(self.budget, entries[-1].n))
        lines.append("It knows of no release of the same rows that was not charged to it.")
        return "\n".join(textwrap.fill(x, _WIDTH, subsequent_indent="  ", break_on_hyphens=False) for x in lines)

    def __str__(self):
        return self.summary()

    def __repr__(self):
        try:
            entries = self.entries
        except LedgerError as error:  # a text must not fail; whatever spends still does
            return f"Ledger({self.name!r}: not usable. {error})"
        return (
            f"Ledger({self.name!r}: {self._account(entries).brief()}; in {self.path.name if self._file else 'memory'})"
        )

    def __copy__(self):
        return self  # two accounts of one budget would spend it twice

    def __deepcopy__(self, memo):
        return self

    def __reduce__(self):
        if not self._file:
            raise TypeError("A ledger in memory cannot be copied to another program. Give it a path.")
        return _reopened, (self.budget.epsilon, self.budget.delta, str(self.path), self.name)

    def _account(self, entries: tuple[LedgerEntry, ...]) -> Account:
        """Add up entries."""
        return Account(self.budget, tuple(entry.mu for entry in entries))

    @contextmanager
    def _current(self) -> Iterator[tuple[LedgerEntry, ...]]:
        """Yield all entries with everyone else kept out."""
        if self._file is None and os.getpid() != self._owner:
            raise LedgerError("A ledger in memory is for one program, and this is a copy in another. Give it a path.")
        with self._guard:
            if self._file is None:
                yield self._seen
                return
            with self._file.locked():
                entries = self._file.read()
                if entries[: len(self._seen)] != self._seen:
                    raise LedgerError(
                        f'The ledger "{self.path.name}" has lost entries that it had. Put back the file that has them.'
                    )
                self._seen = entries
                yield entries


def _reopened(epsilon: float, delta: float, path: str, name: str) -> Ledger:
    """Open the same file in another program."""
    return Ledger(epsilon, delta, path=path, name=name)


def _count(count: int) -> str:
    """Write a count, however large."""
    return str(count) if count <= 10**6 else "Over a million"
