"""One column at a time: its display name and its float64 values. Raises nothing: `table.py` reports what it finds."""

from __future__ import annotations

import datetime
import decimal
import numbers
import re
from collections import Counter
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
import pandas as pd

NO_LABEL = object()  # the column of an array or a list: the caller has no name for it
_NUMBER_LIKE = re.compile(r"\s*[-+]?([\d\s_.,']*\d[\d\s_.,']*([eE][-+]?\d+)?|nan|inf(inity)?)\s*%?\s*", re.IGNORECASE)
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
_CATEGORIES = "categories, which are labels; if their levels are numbers, use .astype(float)"


class Column(NamedTuple):
    """One column after reading: float64 values, or why there are none."""

    values: np.ndarray
    missing: int = 0
    infinite: int = 0
    not_numeric: str = ""  # what it holds instead of numbers, for `LeftOut`
    detail: str = ""  # the same with an example, for the error
    damage: str = ""  # what float64 would lose


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
    return str(label) if str(label).strip() else None


def read_column(raw) -> Column:
    """Read one pandas or narwhals series or one-dimensional array."""
    if isinstance(raw, nw.Series):
        if raw.dtype in (nw.Categorical, nw.Enum):
            return Column(np.empty(0), not_numeric="categories", detail=_CATEGORIES)
        present = raw.drop_nulls()
        return _read_present(np.asarray(present.to_numpy()), len(raw) - len(present))
    if isinstance(raw, pd.Series):
        if isinstance(raw.dtype, pd.CategoricalDtype):
            return Column(np.empty(0), not_numeric="categories", detail=_CATEGORIES)
        if isinstance(raw.dtype, pd.SparseDtype):
            raw = raw.sparse.to_dense()
        present = raw if isinstance(raw.dtype, np.dtype) and raw.dtype.kind in "biuf" else raw.dropna()
        return _read_present(present.to_numpy(), len(raw) - len(present))
    if isinstance(raw, np.ma.MaskedArray):
        present = raw.compressed()
        return _read_present(present, len(raw) - len(present))
    return _read_present(raw, 0)


def _read_present(values: np.ndarray, missing: int) -> Column:
    """Convert the cells that are present; NaN and NaT among them are missing too."""
    if values.dtype.kind in "OSUTV":
        values = values.astype(object)
        absent = np.array(
            [value is np.ma.masked or (np.ndim(value) == 0 and pd.isna(value)) for value in values], dtype=bool
        )
        values, missing = values[~absent], missing + int(absent.sum())
        return _read_objects(values, missing)
    if values.dtype.kind not in "biuf":
        kind = _KINDS.get(values.dtype.kind, str(values.dtype))
        return Column(np.empty(0), missing, not_numeric=kind, detail=kind)
    with np.errstate(over="ignore", under="ignore"):  # `_damage` looks at both
        floats = values.astype(np.float64)
    nan = np.isnan(floats)
    infinite = np.isinf(floats) & np.isinf(values)
    suspects = (np.abs(floats) >= 2.0**53) | ((floats == 0) & (values != 0))
    damage = _damage(values[suspects].astype(object), floats[suspects]) if suspects.any() else ""
    return Column(floats, missing + int(nan.sum()), int(infinite.sum()), damage=damage)


def _read_objects(values: np.ndarray, missing: int) -> Column:
    """Convert Python objects if every one of them is a real number, else say what they are."""
    kinds = Counter(_kind(value) for value in values)
    if set(kinds) - {"numbers"}:
        kind = " mixed with ".join(sorted(kinds))
        detail = kind
        text = next((value for value in values if isinstance(value, str)), None)
        if text is not None:
            shown = text if len(text) <= 20 else text[:19] + "…"
            all_like = all(_NUMBER_LIKE.fullmatch(value) for value in values if isinstance(value, str))
            looks = ", which looks like numbers but must be converted explicitly" if all_like else ""
            detail = f"{kind}{looks}, for example {shown!r}"
        return Column(np.empty(0), missing, not_numeric=kind, detail=detail)
    floats = np.array([_as_float(value) for value in values], dtype=np.float64)
    infinite = sum(bool(np.isinf(x)) and value == x for value, x in zip(values, floats, strict=True))
    return Column(floats, missing, infinite, damage=_damage(values, floats))


def _kind(value) -> str:
    """Say in words what one object is."""
    return next(
        (kind for types, kind in _CLASSES if isinstance(value, types)), f"objects of type {type(value).__name__}"
    )


def _as_float(value) -> float:
    """Convert one real number; beyond the range of float64 is infinite, as IEEE has it."""
    try:
        return float(value)
    except OverflowError:
        return np.inf if value > 0 else -np.inf


def _damage(values: np.ndarray, floats: np.ndarray) -> str:
    """Say what float64 loses of these objects: digits of integers, or magnitudes; decimals may be rounded."""
    digits = outside = 0
    for value, x in zip(values, floats, strict=True):
        if np.isinf(x):
            outside += value != x
        elif x == 0:
            outside += value != 0
        elif isinstance(value, numbers.Integral):
            digits += int(value) != int(x)
    found = [f"{digits} integer{'s' * (digits != 1)} beyond 2**53 would lose digits"] * bool(digits)
    found += [f"{outside} value{'s' * (outside != 1)} beyond its range"] * bool(outside)
    return ", ".join(found)
