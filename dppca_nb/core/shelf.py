"""What was released, kept beside the ledger that paid for it: looking again must never mean paying again."""

from __future__ import annotations

import re
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dppca_nb.core.ledger import Ledger
from dppca_nb.core.release import LoadingRelease

# Releases of ledgers without a file; they go with their ledger.
_IN_MEMORY: weakref.WeakKeyDictionary[Ledger, list[LoadingRelease]] = weakref.WeakKeyDictionary()
_TURNS: weakref.WeakKeyDictionary[Ledger, threading.RLock] = weakref.WeakKeyDictionary()
_GUARD = threading.Lock()


class Shelf:
    """Releases of one ledger: in files beside its own, or in memory where it has none.

    A file holds a noisy matrix and how it was made, which is what was released; no row of the data.

    Parameters
    ----------
    ledger : Ledger
        Whose releases it keeps. The file of release number k of "survey.jsonl" is "survey.jsonl.release-k.json", where
        k counts the entries of the ledger.

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
    >>> Shelf(ledger).latest(release.n, list(release.loadings.index), release.scale) is release
    True
    """

    def __init__(self, ledger: Ledger):
        self.ledger = ledger

    def latest(self, n: int, names, scale: tuple[float, ...] | None) -> LoadingRelease | None:
        """Return the last release of a table of this size, with these variables and public scales; None if none is."""
        entries = self.ledger.entries
        for release, where in self._all():
            if release.entries and release.entries[-1] not in entries:
                raise ValueError(
                    f"{where} was paid for on {release.entries[-1].time[:10]}, but the ledger of {self.ledger.name!r} "
                    "has no such entry. Put back the ledger that has it, or move the file away if it belongs to "
                    "another one. Nothing was drawn."
                )
            if (release.n, tuple(release.loadings.index), release.scale) == (n, tuple(names), scale):
                return release
        return None

    def put(self, release: LoadingRelease) -> None:
        """Keep a release that was just paid for."""
        if self.ledger.path is None:
            _IN_MEMORY.setdefault(self.ledger, []).append(release)
            return
        release.save(self._file(self.ledger.entries.index(release.entries[-1]) + 1))

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

            with filelock.FileLock(f"{self.ledger.path}.release.lock"):
                yield

    def _all(self) -> Iterator[tuple[LoadingRelease, str]]:
        """Yield the releases, the last one first, and where each is kept."""
        if self.ledger.path is None:
            for release in reversed(_IN_MEMORY.get(self.ledger, [])):
                yield release, "A release in memory"
            return
        start = f"{self.ledger.path.name}.release-"
        found = {}
        for path in self.ledger.path.parent.iterdir():
            number = re.fullmatch(r"(\d+)\.json", path.name.removeprefix(start))
            if path.name.startswith(start) and number:
                found[int(number[1])] = path
        for number in sorted(found, reverse=True):
            yield LoadingRelease.load(found[number]), f'The release in "{found[number].name}"'

    def _file(self, number: int) -> Path:
        """Path of a release."""
        return self.ledger.path.with_name(f"{self.ledger.path.name}.release-{number}.json")
