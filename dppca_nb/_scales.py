"""Scales of the columns: public ones in column order, and standard deviations of the sample; for a checked `Table`."""

from __future__ import annotations

import numbers
from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from dppca_nb._columns import as_float, listing, show
from dppca_nb._containers import DataError


def public_scales(table, scale) -> np.ndarray:
    """Bring public scales into column order and check them: an array, or a mapping by display name or own label."""
    return np.array([_public(name, number) for name, number in _scales_by_name(table, scale)])


def _spread(table) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Give standard deviations (ddof=1) divided by a power of two, its exponent, and which variables are constant."""
    with np.errstate(under="ignore"):
        exponent = np.frexp(np.abs(table.values).max(axis=0))[1]
        unit = np.ldexp(table.values, -exponent)  # exact: the largest magnitude is now in [0.5, 1)
        sd = unit.std(axis=0, ddof=1)
    noise = min(table.n, 64) * np.finfo(float).eps * np.abs(unit).max(axis=0)
    return sd, exponent, (np.ptp(unit, axis=0) == 0) | (sd <= noise)


def equals_sample_deviations(table, divisors: np.ndarray) -> bool:
    """Tell whether given scales are the standard deviations of these rows; constant variables may have any scale."""
    sd, exponent, constant = _spread(table)
    with np.errstate(over="ignore", under="ignore"):  # far from the standard deviation in either case
        ratio = np.ldexp(divisors, -exponent)[~constant] / sd[~constant]
    roots = (1.0, np.sqrt((table.n - 1) / table.n))
    return ratio.size > 0 and any(bool((np.abs(ratio / root - 1) <= 1e-9).all()) for root in roots)


def sample_deviations(table) -> np.ndarray:
    """Compute standard deviations (ddof=1) safe from overflow, and refuse constant variables by name."""
    sd, exponent, constant = _spread(table)
    if constant.any():
        found = listing([show(name) for name, bad in zip(table.names, constant, strict=True) if bad])
        raise DataError(
            f"Constant: {found}. A variable that does not vary has no sample standard deviation to divide by: leave "
            "it out, or give public scales."
        )
    with np.errstate(under="ignore"):
        return np.ldexp(sd, exponent)


def _scales_by_name(table, scale) -> list[tuple[str, Any]]:
    """Bring an array or a mapping of scales into column order."""
    if not isinstance(scale, Mapping | pd.Series):
        shape = (len(scale),) if isinstance(scale, list | tuple) else np.shape(scale)  # a ragged list has no np.shape
        if shape != (table.p,):
            raise DataError(
                f"The scale has shape {shape}; one number for each of the {table.p} variables is needed: "
                f"shape ({table.p},), {listing([show(name) for name in table.names])}."
            )
        return list(zip(table.names, scale, strict=True))
    own, names = Counter(table.originals), list(map(show, table.names))
    position = {label: j for j, label in enumerate(table.originals) if own[label] == 1}
    position |= {name: j for j, name in enumerate(table.names)}  # a display name is never ambiguous: it wins
    given: dict[int, Any] = {}
    for label, number in scale.items():
        if label not in position:
            raise DataError(f"The scale names {label!r}, which is no variable; they are {listing(names)}.")
        if position[label] in given:
            raise DataError(f"The scale names the variable {show(table.names[position[label]])} twice; name it once.")
        given[position[label]] = number
    absent = [show(name) for j, name in enumerate(table.names) if j not in given]
    if absent:
        raise DataError(
            f"The scale has no number for {listing(absent)}. Give one for every variable; 1 leaves it as it is."
        )
    return [(name, given[j]) for j, name in enumerate(table.names)]


def _public(name: str, number) -> float:
    """Check one public scale."""
    real = isinstance(number, numbers.Real) and not isinstance(number, bool | np.bool_)
    if not real or not 0 < as_float(number) < np.inf:
        raise DataError(
            f"The scale of {show(name)} is {number!r}; a positive, finite number is needed, its public range."
        )
    return as_float(number)
