"""Results to draw, one alone or several side by side, and what pictures say of components that are not private."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import pandas as pd

from dppca_nb.charts import theme
from dppca_nb.charts.text import short_names
from dppca_nb.core.gini_result import GiniResult
from dppca_nb.core.pca import PCAResult

Components = PCAResult | GiniResult
RESULTS = (PCAResult, GiniResult)
ACCEPTED = "a result of pca(...) or gini_pca(...)"
MOST_RESULTS = 6  # panels of a row, or lines of a picture, that can be told apart
LARGEST = 1e300  # numbers beyond it leave no room for a margin
LONGEST_NAME = 60  # characters of a name that are worth drawing

# A number on an axis or in a legend: six digits where they are all it has, so that 1e-13 needs no thirteen zeros; far
# from zero, where six digits would give neighbours one text, all of them.
_SIX = "format(datum.value, '.6~g')"
_EXACT = "abs(toNumber(format(abs(datum.value), '.6~g')) - abs(datum.value)) <= 1e-12 * abs(datum.value)"
NUMBER = f"replace({_EXACT} ? {_SIX} : datum.label, /-/g, '−')"


def named(results: object, kinds: tuple[type, ...], accepted: str) -> dict[str, object]:
    """Take one result, or a mapping of names to results, short enough to draw; a single one needs no name.

    Raises
    ------
    TypeError, ValueError
        If something is no result, or there are none or too many of them.
    """
    if isinstance(results, kinds):
        return {"": results}
    if not isinstance(results, Mapping):
        raise TypeError(f"results must be {accepted}, or a mapping of names to them; got {type(results).__name__}.")
    if not 1 <= len(results) <= MOST_RESULTS:
        raise ValueError(f"a picture compares 1 to {MOST_RESULTS} results; got {len(results)}.")
    for name, result in results.items():
        if not isinstance(name, str) or not name.strip():
            raise TypeError(f"the names of results must be texts; got {name!r}.")
        if not isinstance(result, kinds):
            raise TypeError(f"the result named {name!r} must be {accepted}; got {type(result).__name__}.")
    return dict(zip(short_names(list(results), LONGEST_NAME), results.values(), strict=True))


def convention(result: Components, beside: str = "") -> str:
    """How the components were computed, but for what stands beside: route, centring, scaling and divisor, or ν."""
    if isinstance(result, GiniResult):
        made = f"ν {result.nu:g}{', raw ranks' if result.rank_scale == 'raw' else ''}"
        return made if "gini" in beside.lower() else f"Gini, {made}"
    centred = "centred" if result.center is not None else "not centred"
    scaled = "scaled" if result.scale is not None else "not scaled"
    route = "" if result.method in beside else f"{result.method}, "
    return f"{route}{centred}, {scaled}, divisor {divisor(result)}"


def headed(name: str, result: Components) -> list[str]:
    """Name a result, and how it was computed unless the name says it."""
    made = convention(result, name)
    return [name] if made in name else [name, made]


def drawn_components(result: Components) -> int:
    """How many components have a share that can be drawn."""
    return result.p if isinstance(result, GiniResult) else result.rank


def shares_of(result: Components) -> pd.Series:
    """Shares of the components: of the total variance, or of the sum of absolute Gini eigenvalues."""
    return result.shares("abs") if isinstance(result, GiniResult) else result.shares


def divisor(result: PCAResult) -> str:
    """Write the divisor of the variances, with a true minus."""
    return result.divisor.replace("-", "−")


def size(result: Components) -> str:
    """State how large the table was."""
    return f"n {theme.count(result.n)}, p {theme.count(result.p)}"


def percent(share: float) -> str:
    """Write a share as a percentage of one decimal; one that is not 0 or 1 never reads as if it were.

    >>> percent(0.7296), percent(1e-9), percent(1 - 1e-9), percent(0.0)
    ('73.0 %', '< 0.1 %', '> 99.9 %', '0.0 %')
    """
    if 0 < share < 0.0005:
        return "< 0.1 %"
    if 0.9995 <= share < 1:
        return "> 99.9 %"
    return theme.number(100 * share, 1) + " %"


def shares(result: Components, components: tuple[int, ...]) -> str:
    """Shares of the total that these components have, the first few one by one."""
    total = "of the Gini index" if isinstance(result, GiniResult) else "of the variance"
    if len(components) > 3:
        return f"together {share(result, components)} {total}"
    return ", ".join(f"PC{c} {share(result, [c])}" for c in components) + f" {total}"


def share(result: Components, components: Iterable[int]) -> str:
    """Write the share of these components together: all of it only if no other has a variance, whatever a sum says."""
    if isinstance(result, PCAResult):
        if not result.rank:
            return percent(0.0)
        if set(components) >= set(range(1, result.rank + 1)):
            return percent(1.0)
    total = math.fsum(shares_of(result).iloc[[c - 1 for c in components]])
    return percent(min(total, math.nextafter(1, 0)))


def undefined(result: Components, components: tuple[int, ...]) -> list[str]:
    """What of these components is not defined by the data: those without variance, those whose variances are equal."""
    said, equal = [], "equal variances"
    if isinstance(result, GiniResult):
        equal = "equal eigenvalues"
        if negative := [f"PC{c}" for c in components if result.eigenvalues.iloc[c - 1] < 0]:
            said.append(f"{_listed(negative)} with a negative eigenvalue")
    elif not result.rank:
        return ["nothing varies: directions arbitrary"]
    elif flat := [f"PC{c}" for c in components if c > result.rank]:
        said.append(f"{_listed(flat)} without variance: direction arbitrary")
    for group in result.tied:
        if set(group) & set(components):
            said.append(f"{equal}: only the span of {_listed([f'PC{c}' for c in group])} is defined")
    return said


def observations(tables: dict[str, pd.DataFrame]) -> pd.Index:
    """Labels of the rows; results that stand side by side must have the same rows, in the same order."""
    sizes = {name: len(table) for name, table in tables.items()}
    if len(set(sizes.values())) > 1:
        listing = ", ".join(f"{name!r} {n}" for name, n in sizes.items())
        raise ValueError(f"results that stand side by side must have the same number of rows; got {listing}.")
    labelled = {
        name: table.index for name, table in tables.items() if not table.index.equals(pd.RangeIndex(len(table)))
    }
    (first, index), *others = labelled.items() or [("", next(iter(tables.values())).index)]
    for name, other in others:
        if not other.equals(index):
            raise ValueError(
                f"results that stand side by side must have the same rows in the same order; "
                f"the row labels of {first!r} and {name!r} differ."
            )
    return index


def _listed(names: list[str]) -> str:
    """Join names as a sentence does: "PC1, PC2 and PC3"."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
