"""Which texts are numbers: the two readings (decimal point, decimal comma), the decision between them, columns."""

from __future__ import annotations

import datetime
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

MISSING = frozenset(
    ("NA", "N/A", "n/a", "na", "NaN", "nan", "<NA>", "null", "NULL", "None", "none", ".", "-", "--", "–", "—", "?")
).union(("#N/A", "#N/A!", "#NA", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#NULL!"))
SPACES = " \u00a0\u2009\u202f"
APOSTROPHES = "'\u2019"
DATE = re.compile(
    r"\d{4}[-/.]\d{1,2}([-/.]\d{1,2})?([T ]\d{1,2}:\d{2}.*)?|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}( .*)?"
    r"|\d{1,2}:\d{2}(:\d{2}.*)?|\d{1,2}[- .]+[^\W\d]{3,9}[- .]+\d{2,4}|[^\W\d]{3,9} \d{1,2}, \d{4}"
)
PERCENT = re.compile(r"[-+]?[\d.,' ]*\d\s*%")
CURRENCY = re.compile(
    r"[-+]?\s*([€$£¥₹]|EUR|USD|GBP|CHF|JPY)\s*[-+]?[\d.,' ]*\d|[-+]?[\d.,' ]*\d\s*([€$£¥₹]|EUR|USD|GBP|CHF|JPY)"
)
END = "\x1f"  # behind every text of a column: one match for all of them is ten times as fast as one for each
WHOLE = re.compile(rf"(?:[-+]?\d+{END})*+", re.ASCII)
PADDED = re.compile(rf"{END}([-+]?0\d+)(?={END})", re.ASCII)
CODED = re.compile(rf"{END}(\d+[eE]\d+)(?={END})", re.ASCII)
LONG = re.compile(rf"{END}[-+]?(\d{{16,}})(?={END})", re.ASCII)
ALL_CODED = re.compile(rf"(?:[-+]?\d+(?:[eE]\d+)?{END})*+", re.ASCII)
TRUTH = {"TRUE": True, "True": True, "true": True, "FALSE": False, "False": False, "false": False}
EXACT = 2**53  # beyond, float64 does not hold every integer


def pattern(decimal: str, groups: str) -> re.Pattern:
    """Match a number with this decimal mark and any one of these marks between groups of three digits."""
    mark, whole = re.escape(decimal), r"\d+"
    if groups:
        # A mark for all groups of a number. Not by a back reference: re stumbles over one in a possessive repetition.
        grouped = "|".join(rf"(?:{re.escape(group)}\d{{3}})+" for group in groups)
        whole = rf"(?:[1-9]\d{{0,2}}(?:{grouped})|\d+)"
    return re.compile(rf"[-+\u2212]?(?:{whole}(?:{mark}\d*)?|{mark}\d+)(?:[eE][-+]?\d+)?", re.ASCII)


GROUPS = {".": f",{SPACES}{APOSTROPHES}", ",": f".{SPACES}{APOSTROPHES}"}
EITHER = {decimal: pattern(decimal, groups) for decimal, groups in GROUPS.items()}


@dataclass(frozen=True)
class Reading:
    """How numbers are written: the decimal mark, and the marks between thousands."""

    decimal: str = "."
    groups: str = GROUPS["."]
    number: re.Pattern = field(default=EITHER["."], repr=False)
    numbers: re.Pattern = field(init=False, repr=False)  # a column of them

    def __post_init__(self):
        object.__setattr__(self, "numbers", re.compile(f"(?:{self.number.pattern}{END})*+", re.ASCII))

    @classmethod
    def of(cls, decimal: str, thousands: str | None) -> Reading:
        """Make the reading with this decimal mark; None for thousands allows any mark that is not the decimal's."""
        if thousands is None:
            return cls(decimal, GROUPS[decimal], EITHER[decimal])
        groups = next((marks for marks in (SPACES, APOSTROPHES) if thousands and thousands in marks), thousands)
        return cls(decimal, groups, pattern(decimal, groups))

    def plain(self, text: str) -> str:
        """Write a number, or a column of them, as Python does."""
        for mark in self.groups:
            text = text.replace(mark, "")
        return text.replace("\u2212", "-").replace(self.decimal, ".")


def is_number(cell: Any) -> bool:
    """Tell whether a cell is a number in any reading."""
    if isinstance(cell, str):
        text = cell.strip()
        return any(reading.fullmatch(text) for reading in EITHER.values())
    return isinstance(cell, int | float) and not isinstance(cell, bool)


class Cells(NamedTuple):
    """One column taken apart: its cells without spaces around, which are missing, and the texts that are present."""

    raw: list
    bare: list
    missing: Counter
    texts: list[str]
    joined: str

    @classmethod
    def of(cls, raw: list, markers: frozenset[str]) -> Cells:
        """Take a column apart; only markers are missing, see `column` for what becomes of them in text."""
        if set(map(type, raw)) == {str}:
            bare = texts = list(map(str.strip, raw))
        else:
            bare = [cell.strip() if isinstance(cell, str) else "" if cell is None else cell for cell in raw]
            texts = [cell for cell in bare if isinstance(cell, str)]
        missing = Counter({text: texts.count(text) for text in set(texts) & {*markers, ""}})
        if missing:
            texts = [text for text in texts if text not in missing]
        joined = END.join([*texts, ""])
        return cls(raw, bare, missing, texts, joined if joined.count(END) == len(texts) else "no number" + END)

    @property
    def present(self) -> list:
        """The cells that are not missing."""
        if not self.missing:
            return self.bare
        return [cell for cell in self.bare if not (isinstance(cell, str) and cell in self.missing)]


def fits(cells: Cells, reading: Reading) -> bool:
    """Tell whether every text of a column is a number in a reading."""
    return reading.numbers.fullmatch(cells.joined) is not None


def doubtful(cells: Cells) -> str | None:
    """Find a text that is a different number in each of the two readings, in a column that fits both."""
    if "." not in cells.joined and "," not in cells.joined:
        return None
    return next(text for text in cells.texts if "." in text or "," in text)


class Column(NamedTuple):
    """A column of the frame, and what is to be said about it."""

    values: pd.Series
    missing: Counter
    text: str = ""  # why it is text; empty for numbers
    converted: str = ""


def column(cells: Cells, reading: Reading, place: Callable[[int], str], name: str) -> Column:
    """Convert a column to numbers if every cell is one, else keep its text and say why."""
    present = cells.present
    if not present:
        return Column(pd.Series(np.full(len(cells.raw), np.nan)), missing=cells.missing)
    kinds = set(map(type, present))
    if kinds == {str} and present[0] in TRUTH and set(present) <= TRUTH.keys():
        present, kinds = [TRUTH[cell] for cell in present], {bool}
        cells = cells._replace(bare=[TRUTH.get(cell, cell) for cell in cells.bare])
    if kinds == {bool}:
        values = [cell if isinstance(cell, bool) else None for cell in cells.bare]
        return Column(pd.Series(values, dtype="boolean" if None in values else "bool"), missing=cells.missing)
    if kinds <= {datetime.datetime, datetime.date}:
        dates = [None if isinstance(cell, str) else cell for cell in cells.bare]
        return Column(pd.to_datetime(pd.Series(dates)), cells.missing, "dates and times")
    if kinds <= {str, int, float} and fits(cells, reading):
        why = _no_measure(cells.joined)
        values = None if why else _numbers(cells, reading)
        if values is not None:
            return Column(values, missing=cells.missing, converted=_converted(cells, reading, place))
        why = why or f"numbers that float64 does not hold: integers beyond {EXACT}, or more than 1.8e308"
    else:
        why = _why_text(cells, present, reading, place, name)
    values = [np.nan if cell is None or cell == "" else str(cell) for cell in cells.raw]
    empty = Counter({"": sum(value is np.nan for value in values)})
    return Column(pd.Series(values), +empty, why)


def _no_measure(joined: str) -> str:
    """Say why texts that could be converted are rather codes."""
    if padded := PADDED.search(END + joined):
        return f"codes with leading zeros, such as {padded[1]!r}; if they are numbers, use .astype(float)"
    coded = CODED.search(END + joined) if "e" in joined or "E" in joined else None
    if coded and ALL_CODED.fullmatch(joined):
        return f"{coded[1]!r} may be a code or the number {float(coded[1]):g}; if they are numbers, use .astype(float)"
    return ""


def _numbers(cells: Cells, reading: Reading) -> pd.Series | None:
    """Convert: to int64 if all are whole and none is missing, else to float64; None if that would lose digits."""
    joined = reading.plain(cells.joined)
    texts = joined.split(END)[:-1]
    mixed = len(texts) < len(cells.bare)
    typed = [cell for cell in cells.bare if not isinstance(cell, str)] if mixed else []
    integral = not cells.missing and WHOLE.fullmatch(joined) and all(isinstance(cell, int) for cell in typed)
    kind = int if integral else float
    ready: Iterable = map(kind, texts)
    if mixed:
        ready = iter(ready)
        ready = [_value(cell, kind, cells.missing, ready) for cell in cells.bare]
    if integral:
        integers = list(ready)
        return pd.Series(integers, dtype="int64") if max(map(abs, integers)) < 2**63 else None
    long = any(int(digits) > EXACT for digits in LONG.findall(END + joined))
    if long or any(isinstance(cell, int) and abs(cell) > EXACT for cell in typed):
        return None
    values = np.fromiter(ready, dtype=float, count=len(cells.bare))
    return None if np.isinf(values).any() else pd.Series(values)


def _value(cell, kind: type, missing: Counter, ready: Iterator) -> float:
    """Give a cell of a column as a number; texts come ready in their order."""
    if isinstance(cell, str):
        return np.nan if cell in missing else next(ready)
    return kind(cell)


def _converted(cells: Cells, reading: Reading, place: Callable[[int], str]) -> str:
    """Say what was taken off to make numbers, and which numbers were stored as text among typed ones."""
    found = []
    for mark in reading.groups:
        if mark in cells.joined:
            example = next(text for text in cells.texts if mark in text)
            found.append(f"{mark!r} between thousands, such as {example!r}, taken off")
    if len(cells.texts) + sum(cells.missing.values()) < len(cells.bare):
        at = [place(i) for i, cell in enumerate(cells.bare) if isinstance(cell, str) and cell not in cells.missing]
        if at:
            more = f" and {len(at) - 5} more" if len(at) > 5 else ""
            found.append(f"numbers stored as text in {', '.join(at[:5])}{more} read as numbers")
    return "; ".join(found)


def _why_text(cells: Cells, present: list, reading: Reading, place: Callable[[int], str], name: str) -> str:
    """Say what a column of text holds, with a remedy where it is nearly numbers."""
    if len(cells.texts) == len(present):
        if all(map(DATE.fullmatch, present)):
            return f"dates or times, such as {present[0]!r}; pandas.to_datetime converts them"
        for form, what, strip in (
            (PERCENT, "percentages", "%"),
            (CURRENCY, "amounts of money", "€$£¥₹EURUSDGBPCHFJPY"),
        ):
            if all(map(form.fullmatch, present)):
                commas = (
                    '.str.replace(".", "").str.replace(",", ".")' if reading.decimal == "," else '.str.replace(",", "")'
                )
                return (
                    f"{what}, such as {present[0]!r}; for numbers: "
                    f'data[{name!r}].str.strip("{strip} "){commas}.astype(float)'
                )
    bad = [
        i
        for i, cell in enumerate(cells.bare)
        if not (isinstance(cell, str) and (cell in cells.missing or reading.number.fullmatch(cell)))
        and (isinstance(cell, str | bool) or not isinstance(cell, int | float))
    ]
    if 2 * len(bad) > len(present):
        return "text"
    at = ", ".join(f"{str(cells.bare[i])!r} ({place(i)})" for i in bad[:3])
    return f"{len(bad)} of {len(present)} cells no number: {at}{', …' if len(bad) > 3 else ''}"
