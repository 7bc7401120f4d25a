"""The file of a ledger: one JSON line per entry, locked, on disk before the next step, never shortened in silence."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, fields
from pathlib import Path

from dppca_nb.core.account import total_mu
from dppca_nb.core.ledger_entry import LedgerEntry, LedgerError
from dppca_nb.core.privacy import Budget
from dppca_nb.core.whole_file import sync_folder, write_whole

_FORMAT = 1
_PATIENCE = 30.0  # seconds; an entry takes milliseconds, so whoever holds the lock longer hangs
_ROUNDING = 1e-9  # relative; what the same sum may differ by on another machine


class LedgerFile:
    """A header line (name and budget), then one line per entry. It is made if there is none.

    All reading and writing happens within :meth:`locked`. The lock is a file of the same name with ".lock" at its end;
    it may stay behind, empty and without effect.

    Parameters
    ----------
    path : str or Path
        In a folder that exists.
    budget : Budget
        It must be that of the file.
    name : str, optional
        It must be that of the file. A new file without one takes that of the file, less its ending.

    Attributes
    ----------
    name : str
        What the file says.

    Raises
    ------
    LedgerError
        If there is no such folder, or the file is not the one that was asked for.

    Examples
    --------
    >>> LedgerFile("no such folder/ledger.jsonl", Budget(1, 1e-6))
    Traceback (most recent call last):
    ...
    dppca_nb.core.ledger_entry.LedgerError: There is no folder "no such folder" for the ledger "ledger.jsonl".
    Make it first.
    """

    def __init__(self, path: str | os.PathLike, budget: Budget, name: str | None = None):
        self.path = Path(path).expanduser().resolve()  # a later change of folder must not start another ledger
        if not self.path.parent.is_dir():
            raise LedgerError(
                f'There is no folder "{self.path.parent.name}" for the ledger "{self.path.name}". Make it first.'
            )
        self.budget, self.name = budget, name
        with self.locked():
            if not self.path.exists():
                self.name = name or self.path.stem
                self._create({"name": self.name, "epsilon": budget.epsilon, "delta": budget.delta})
            self.read()

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep every other thread and process out while it is open."""
        import filelock  # only here: it brings asyncio, which costs an import a tenth of a second

        lock = filelock.FileLock(f"{self.path}.lock", timeout=_PATIENCE)  # a new one each time: threads share none
        try:
            lock.acquire()
        except filelock.Timeout as error:
            raise LedgerError(
                f'Another program has held the lock of the ledger "{self.path.name}" for {_PATIENCE:g} seconds. '
                "Wait for it or end it, then try again."
            ) from error
        except (OSError, NotImplementedError) as error:
            raise LedgerError(
                f'The ledger "{self.path.name}" cannot be locked ({error}). Keep it in a folder of a local disk that '
                "you may write to."
            ) from error
        try:
            yield
        finally:
            lock.release()

    def read(self) -> tuple[LedgerEntry, ...]:
        """Return all entries, or raise a LedgerError if one may be missing or wrong."""
        try:
            content = self.path.read_bytes()
        except OSError as error:
            raise LedgerError(
                f'The ledger "{self.path.name}" cannot be read ({error}). Put the file back where it was: without it '
                "nobody knows what was spent."
            ) from error
        lines = content.split(b"\n")
        whole = not lines[-1]
        if whole:
            lines.pop()
        records = []
        for number, line in enumerate(lines, start=1):
            try:
                records.append(_header(line) if number == 1 else _entry(line, records[0]["name"]))
            except (ValueError, TypeError, RecursionError) as error:
                raise LedgerError(self._damage(number, number == len(lines) and not whole)) from error
        if not records:
            raise LedgerError(self._damage(1, torn=True))
        self._check(records[0])
        entries = tuple(records[1:])
        if entries and not _same(total_mu(entry.mu for entry in entries), entries[-1].cumulative_mu):
            raise LedgerError(
                f'The entries of the ledger "{self.path.name}" do not add up to the sum that its last line states: a '
                "line was lost or changed. Take the file from a copy that adds up."
            )
        return entries

    def append(self, entry: LedgerEntry) -> None:
        """Add one line at the end and come back only when it is on disk."""
        descriptor = os.open(self.path, os.O_RDWR | os.O_APPEND | getattr(os, "O_BINARY", 0))
        try:
            size = os.fstat(descriptor).st_size
            # A last line that lacks only its end was read as an entry, so it is one: it gets its end now.
            os.lseek(descriptor, -1, os.SEEK_END)
            rest = (b"" if os.read(descriptor, 1) == b"\n" else b"\n") + _line(asdict(entry))
            try:
                while rest:
                    rest = rest[os.write(descriptor, rest) :]
                os.fsync(descriptor)
            except OSError as error:
                with suppress(OSError):  # half a line that stays is found and refused when the file is read
                    os.ftruncate(descriptor, size)
                raise LedgerError(
                    f'The ledger "{self.path.name}" cannot be written ({error}). Nothing was released. Make room on '
                    "the disk and try again."
                ) from error
        finally:
            os.close(descriptor)

    def _create(self, header: dict) -> None:
        """Write the first line. The file appears whole or not at all, and not where one is missing."""
        if kept := kept_releases(self.path):
            names = ", ".join(sorted(path.name for path in kept.values())[:3])
            raise LedgerError(
                f'The ledger "{self.path.name}" is missing, and releases that it paid for lie there: {names}. Put the '
                "ledger back; for other data give another path."
            )
        try:
            write_whole(self.path, _line({"ledger": _FORMAT} | header))
            sync_folder(self.path.parent)  # a ledger counts only once it is found again; other files stand without
        except OSError as error:
            raise LedgerError(
                f'The ledger "{self.path.name}" cannot be made ({error}). Give a path that you may write to.'
            ) from error

    def _check(self, header: dict) -> None:
        """Refuse the file of another budget or data set."""
        epsilon, delta = header["epsilon"], header["delta"]
        if (epsilon, delta) != (self.budget.epsilon, self.budget.delta):
            raise LedgerError(
                f'The ledger "{self.path.name}" was opened with epsilon {epsilon!r} and delta {delta!r}, '
                f"not {self.budget.epsilon!r} and {self.budget.delta!r}. A budget stands once it is stated: give those "
                "numbers, or another path for other data."
            )
        self.name = self.name or header["name"]
        if header["name"] != self.name:
            raise LedgerError(
                f'The ledger "{self.path.name}" is that of {header["name"]!r}, not of {self.name!r}. Give that name, '
                "or another path for other data."
            )

    def _damage(self, number: int, torn: bool) -> str:
        """Say which line cannot be read and what to do."""
        if not torn:
            return (
                f'Line {number} of the ledger "{self.path.name}" is not what a ledger writes, so nobody knows what was '
                "spent. Take the file from a copy in which every line is whole, or choose another path."
            )
        if number == 1:
            return (
                f'The ledger "{self.path.name}" has no whole first line. If nothing was ever released on it, delete '
                "the file; else take it from a copy."
            )
        return (
            f'The last line ({number}) of the ledger "{self.path.name}" is incomplete: a program was stopped while it '
            "wrote, or the file was cut while it was copied. Noise is drawn only after its whole line is on disk, so a "
            "program that was stopped had released nothing: then delete this one line in a text editor. If the file "
            "may have been cut, take a whole copy instead, since entries may be missing."
        )


def _line(record: dict) -> bytes:
    """Return a record as one line; JSON writes floats so that they come back exactly."""
    return (json.dumps(record, allow_nan=False) + "\n").encode("ascii")


def _record(line: bytes, kinds: dict[str, type]) -> dict:
    """Return a line's record with exactly these fields of exactly these types, or raise a ValueError."""
    record = json.loads(line.decode("ascii"))
    if not isinstance(record, dict) or {key: type(value) for key, value in record.items()} != kinds:
        raise ValueError("other fields")
    if not all(0 < value < math.inf for key, value in record.items() if type(value) is float and key != _MAY_BE_ZERO):
        raise ValueError("numbers out of range")
    return record


_MAY_BE_ZERO = "cumulative_epsilon"  # where delta alone covers everything
_HEADER = {"ledger": int, "name": str, "epsilon": float, "delta": float}
_ENTRY = {f.name: {"str": str, "int": int, "float": float}[f.type] for f in fields(LedgerEntry)}


def _header(line: bytes) -> dict:
    """Return the first line's record, or raise a ValueError."""
    record = _record(line, _HEADER)
    if record.pop("ledger") != _FORMAT:
        raise ValueError("another format")
    return record


def _entry(line: bytes, name: str) -> LedgerEntry:
    """Return the entry of a line, or raise a ValueError."""
    entry = LedgerEntry(**_record(line, _ENTRY))
    if entry.name != name or not _same(entry.mu, entry.sensitivity / entry.sigma):
        raise ValueError("an entry of another ledger, or a changed one")
    return entry


def _same(a: float, b: float) -> bool:
    """Tell whether two numbers differ by rounding only."""
    return math.isclose(a, b, rel_tol=_ROUNDING, abs_tol=0)


def kept_releases(path: Path) -> dict[int, Path]:
    """Find the releases that are kept beside a ledger's file, by number.

    Parameters
    ----------
    path : Path
        Of the ledger.

    Returns
    -------
    dict of int to Path

    Examples
    --------
    >>> kept_releases(Path("no-such-ledger.jsonl"))
    {}
    """
    found = (re.fullmatch(re.escape(path.name) + r"\.release-(\d+)\.json", each.name) for each in path.parent.iterdir())
    return {int(match[1]): path.with_name(match[0]) for match in found if match}
