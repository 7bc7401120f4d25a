"""What was released, kept beside the ledger that paid for it: looking again must never mean paying again."""

from __future__ import annotations

import math
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dppca_nb.core.ledger import Ledger, LedgerError
from dppca_nb.core.ledger_file import kept_releases
from dppca_nb.core.release import LoadingRelease

# Releases of ledgers without a file; they go with their ledger.
_IN_MEMORY: weakref.WeakKeyDictionary[Ledger, list[LoadingRelease]] = weakref.WeakKeyDictionary()
_TURNS: weakref.WeakKeyDictionary[Ledger, threading.RLock] = weakref.WeakKeyDictionary()
_GUARD = threading.Lock()
_PATIENCE = 600.0  # seconds: the Kendall matrix of many rows takes long


class Shelf:
    """Releases of one ledger: in files beside its own, or in memory where it has none.

    A file holds a noisy matrix and how it was made, which is what was released; no row of the data.

    Parameters
    ----------
    ledger : Ledger
        Whose releases it keeps. The file of release number k of "survey.jsonl" is "survey.jsonl.release-k.json", where
        k counts the entries of the ledger, or is the next free number.

    Raises
    ------
    ValueError
        From `latest`, if a file is damaged, or if what it says was paid is not in the ledger: then the ledger has lost
        an entry.

    Examples
    --------
    >>> from dppca_nb.core.loading import dp_loading
    >>> ledger = Ledger(1, 1e-6)
    >>> release = dp_loading([[1, 2], [3, 1], [0, 5]], epsilon=0.5, delta=1e-6, calibration="analytic", ledger=ledger)
    >>> Shelf(ledger).put(release)
    True
    >>> Shelf(ledger).latest(release.n, list(release.loadings.index), release.scale) is release
    True
    """

    def __init__(self, ledger: Ledger):
        self.ledger = ledger

    def latest(self, n: int, names, scale: tuple[float, ...] | None) -> LoadingRelease | None:
        """Return the last release of a table of this size, with these variables and public scales; None if none is."""
        entries = self.ledger.entries
        for release, where in self._all():
            if not set(release.entries) <= set(entries):
                raise ValueError(
                    f"{where} was paid for on {release.entries[-1].time[:10]}, but the ledger of {self.ledger.name!r} "
                    "has no such entry. Put back the ledger that has it, or move the file away if it belongs to "
                    "another one. Nothing was drawn."
                )
            paid = sum(entry.mu**2 for entry in release.entries) ** 0.5
            if not (release.guarantee.holds and math.isclose(paid, release.guarantee.mu, rel_tol=1e-6)):
                raise ValueError(
                    f"{where} is not what the ledger of {self.ledger.name!r} paid for: it was lowered, or made without "
                    "that ledger. Move the file away. Nothing was drawn."
                )
            if (release.n, tuple(release.loadings.index), release.scale) == (n, tuple(names), scale):
                return release
        return None

    def check(self) -> None:
        """Refuse, before anything is paid, where a release could not be kept."""
        if self.ledger.path is None:
            return
        trial = self.ledger.path.with_name(f"{self.ledger.path.name}.release-trial")
        try:
            trial.write_bytes(b"a release is about to be kept here")
            trial.unlink()
        except OSError as error:
            raise LedgerError(
                f'No release can be kept beside the ledger "{self.ledger.path.name}" ({error}). Make room there, or '
                "let the folder be written to. Nothing was drawn."
            ) from error

    def put(self, release: LoadingRelease) -> bool:
        """Keep a release that was just paid for; False if it cannot be written now."""
        if self.ledger.path is None:
            _IN_MEMORY.setdefault(self.ledger, []).append(release)
            return True
        number = max([self.ledger.entries.index(release.entries[-1]) + 1, *(taken + 1 for taken in self._found())])
        try:
            release.save(self.ledger.path.with_name(f"{self.ledger.path.name}.release-{number}.json"))
        except (OSError, ValueError):  # it is paid for and drawn: it must be shown, whatever the disk says
            return False
        return True

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep out everyone else who wants to release about the same ledger: threads, views and programs."""
        with _GUARD:
            turn = _TURNS.setdefault(self.ledger, threading.RLock())
        with turn:
            if self.ledger.path is None:
                yield
                return
            import filelock  # only here: it brings asyncio, which costs an import a tenth of a second

            lock = filelock.FileLock(f"{self.ledger.path}.release.lock", timeout=_PATIENCE)
            try:
                lock.acquire()
            except filelock.Timeout as error:
                raise LedgerError(
                    f'Another program has been releasing from the ledger "{self.ledger.path.name}" for {_PATIENCE:g} '
                    "seconds. Wait for it or end it, then try again. Nothing was drawn."
                ) from error
            try:
                yield
            finally:
                lock.release()

    def _all(self) -> Iterator[tuple[LoadingRelease, str]]:
        """Yield the releases, the last one first, and where each is kept."""
        if self.ledger.path is None:
            for release in reversed(_IN_MEMORY.get(self.ledger, [])):
                yield release, "A release in memory"
            return
        for _, path in sorted(self._found().items(), reverse=True):
            yield LoadingRelease.load(path), f'The release in "{path.name}"'

    def _found(self) -> dict[int, Path]:
        """Files of releases, by number."""
        return kept_releases(self.ledger.path)
