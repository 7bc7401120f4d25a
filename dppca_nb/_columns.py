"""One column at a time: its display name, its float64 values, and how a message writes it.

Raises nothing: `_containers.py` reports what it finds.
"""

from __future__ import annotations

import datetime
import decimal
import numbers
import re
import unicodedata
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
import pandas as pd

NO_LABEL = object()  # the column of an array or a list: the caller has no name for it
_NUMBER_LIKE = re.compile(r"\s*[-+]?([\d\s_.,']*\d[\d\s_.,']*([eE][-+]?\d+)?|nan|inf(inity)?)\s*%?\s*", re.IGNORECASE)
_UNSEEN = {"Cc", "Cf", "Zs", "Zl", "Zp"}  # control, format, separators: nothing of them is drawn
# Letters and marks that are drawn as nothing all the same: fillers, a joiner, the empty braille cell, selectors.
_FILLERS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0").union(map(chr, range(0xFE00, 0xFE10)))
_LISTED = 50  # a message about thousands of columns helps nobody
_KINDS = {"c": "complex numbers", "M": "dates and times", "m": "durations", "V": "structured records"}
_CLASSES: tuple[tuple[Any, str], ...] = (
    (str, "text"),
    ((numbers.Real, decimal.Decimal, np.bool_), "numbers"),
    ((datetime.date, datetime.time, np.datetime64), "dates and times"),
    ((datetime.timedelta, np.timedelta64), "durations"),
    (pd.Period, "periods"),
    (pd.Interval, "intervals"),
    (bytes, "bytes"),
    (numbers.Complex, "complex numbers"),
)


class Column(NamedTuple):
    """One column after reading: float64 values, or why there are none."""

    values: np.ndarray  # may be the caller's own: never to be written to
    missing: int = 0
    infinite: int = 0
    not_numeric: str = ""  # what it holds instead of numbers, for `LeftOut`
    detail: str = ""  # the same with a remedy or the form of the text, for the error
    damage: str = ""  # what float64 would lose


_CATEGORIES = Column(
    np.empty(0),
    not_numeric="categories",
    detail="categories, which are labels; if their levels are numbers, use .astype(float)",
)


def display_names(labels) -> tuple[str, ...]:
    """Name every column uniquely: labels as text, placeholders for blank ones; the caller's own labels come first."""
    texts = [_label_text(label) for label in labels]
    wanted = [
        text if text is not None else f"x{j}" if label is NO_LABEL else f"(unnamed {j})"
        for j, (text, label) in enumerate(zip(texts, labels, strict=True), 1)
    ]
    names: dict[int, str] = {}
    taken = set(wanted)
    used: set[str] = set()
    for j in sorted(range(len(wanted)), key=lambda j: texts[j] is None):  # stable: placeholders come last
        name, k = wanted[j], 2
        if name in used:
            while f"{name} ({k})" in taken:
                k += 1
            name = f"{name} ({k})"
        names[j] = name
        used.add(name)
        taken.add(name)
    return tuple(names[j] for j in range(len(wanted)))


def _label_text(label) -> str | None:
    """Turn a column label into text; None where it is blank."""
    if isinstance(label, tuple):
        parts = [text for text in map(_label_text, label) if text is not None]
        return " / ".join(parts) or None
    if label is NO_LABEL or (np.ndim(label) == 0 and pd.isna(label)):
        return None
    text = str(label)
    return None if all(unicodedata.category(c) in _UNSEEN or c in _FILLERS for c in text) else text


def read_column(raw) -> Column:
    """Read one pandas or narwhals series or one-dimensional array."""
    if isinstance(raw, nw.Series):
        present = raw.drop_nulls()
        missing = len(raw) - len(present)
        if raw.dtype in (nw.Categorical, nw.Enum):
            return _CATEGORIES
        if raw.dtype.is_nested():  # to_numpy would flatten a struct of one field into a number
            return Column(np.empty(0), not_numeric="nested values", detail="nested values")
        if raw.dtype in (nw.Int128, nw.UInt128):  # numpy has no such type; Python's integers are exact
            return _read_objects(objects(present.to_list()), missing)
        return _read_present(np.asarray(present.to_numpy()), missing)
    if isinstance(raw, pd.Series):
        if isinstance(raw.dtype, pd.CategoricalDtype) or str(raw.dtype).startswith("dictionary<"):
            return _CATEGORIES
        present = raw if isinstance(raw.dtype, np.dtype) and raw.dtype.kind in "biufO" else raw.dropna()
        return _read_present(present.to_numpy(), len(raw) - len(present))
    if isinstance(raw, np.ma.MaskedArray):
        present = raw.compressed()
        return _read_present(present, len(raw) - len(present))
    return _read_present(raw, 0)


def objects(values) -> np.ndarray:
    """Put values into a one-dimensional object array, whatever they are (np.array would make lists a dimension)."""
    return np.fromiter(values, dtype=object, count=len(values))


def _read_present(values: np.ndarray, missing: int) -> Column:
    """Convert cells that are not marked as missing; NaN and NaT among them are missing too."""
    if values.dtype.kind not in "biufcMmV":
        return _read_objects(values.astype(object), missing)
    if values.dtype.kind not in "biuf":
        kind = _KINDS[values.dtype.kind]
        return Column(np.empty(0), missing, not_numeric=kind, detail=kind)
    with np.errstate(over="ignore", under="ignore"):  # `_damage` looks at both
        floats = values.astype(np.float64, copy=False)
    if values.dtype == np.float64 and np.isfinite(floats).all():  # what most columns are: nothing can be wrong with it
        return Column(floats, missing)
    infinite = np.isinf(floats) & np.isinf(values)
    damage = ""
    if values.dtype.kind in "iu" or values.dtype.itemsize > floats.dtype.itemsize:
        suspects = (np.abs(floats) >= 2.0**53) | ((floats == 0) & (values != 0))
        damage = _damage(values[suspects].astype(object), floats[suspects])
    return Column(floats, missing + int(np.isnan(floats).sum()), int(infinite.sum()), damage=damage)


def _read_objects(values: np.ndarray, missing: int) -> Column:
    """Convert Python objects if every one of them is a real number, else say what they are."""
    total = len(values)
    values = values[
        ~np.fromiter(map(_is_blank, values), dtype=bool, count=total)
    ]  # pandas stumbles over Decimal("sNaN")
    values = values[~pd.isna(values)]
    missing += total - len(values)
    kinds = sorted({_kind(cls) for cls in set(map(type, values))})
    if kinds and kinds != ["numbers"]:
        kind = kinds[0] if len(kinds) == 1 else f"a mixture of {', '.join(kinds[:-1])} and {kinds[-1]}"
        return Column(np.empty(0), missing, not_numeric=kind, detail=kind + _form(values))
    floats = np.fromiter(map(as_float, values), dtype=np.float64, count=len(values))
    infinite = sum(value == x for value, x in zip(values, floats.tolist(), strict=True) if abs(x) == np.inf)
    return Column(floats, missing, int(infinite), damage=_damage(values, floats))


def _form(values: np.ndarray) -> str:
    """Say so when all texts of a column look like numbers, with the form of one; never with a digit of a cell."""
    texts = [value for value in values if isinstance(value, str)]
    if not texts or not all(len(text) <= 40 and _NUMBER_LIKE.fullmatch(text) for text in texts):
        return ""
    # Neither sign nor length is shown; what is left tells a decimal comma or a thousands separator.
    form = next((re.sub(r"\d+", "#", text.strip().lstrip("+-")) for text in texts if re.search(r"\d", text)), "")
    return f", which looks like numbers but must be converted explicitly{f', in a form like {form!r}' if form else ''}"


def _kind(cls: type) -> str:
    """Say in words what objects of a class are."""
    return next((kind for classes, kind in _CLASSES if issubclass(cls, classes)), f"objects of type {cls.__name__}")


def _is_blank(value) -> bool:
    """Tell the cells that are missing and that pandas does not take for missing."""
    return value is np.ma.masked or (isinstance(value, decimal.Decimal) and value.is_nan())


def as_float(value) -> float:
    """Convert one real number; beyond the range of float64 it is infinite, as IEEE 754 rounds it."""
    try:
        return float(value)
    except OverflowError:
        return np.inf if value > 0 else -np.inf


def _damage(values: np.ndarray, floats: np.ndarray) -> str:
    """Say what float64 loses of these numbers: digits of integers, or magnitudes; fractions may be rounded."""
    digits = outside = 0
    for value, x in zip(values, floats.tolist(), strict=True):
        if abs(x) == np.inf or x == 0:
            outside += bool(value != x)
        elif abs(x) >= 2.0**53 and isinstance(value, numbers.Rational | decimal.Decimal) and value == int(value):
            digits += int(value) != int(x)
    found = [f"{digits} integer{'s' * (digits != 1)} beyond 2**53 would lose digits"] * (digits > 0)
    found += [f"{outside} value{'s' * (outside != 1)} beyond its range"] * (outside > 0)
    return ", ".join(found)


def show(name: str) -> str:
    """Write a name in a message; line breaks and invisible characters are spelled out."""
    return name if name.isprintable() and name == name.strip() else repr(name)


def listing(items: list[str]) -> str:
    """Join the entries of a message, at most fifty."""
    more = [f"and {len(items) - _LISTED} more"] * (len(items) > _LISTED)
    return "; ".join(items[:_LISTED] + more)


def counts(column: Column) -> str:
    """Count the cells that cannot be used."""
    parts = [(column.missing, "missing"), (column.infinite, "infinite")]
    return ", ".join(f"{count} {word} value{'s' * (count != 1)}" for count, word in parts if count)
