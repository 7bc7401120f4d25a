"""Results to draw, one alone or several side by side, and what is said of ordinary components in every picture."""

from __future__ import annotations

from collections.abc import Mapping

from dppca_nb.charts import theme
from dppca_nb.charts.text import drawable
from dppca_nb.core.pca import PCAResult

MOST_RESULTS = 6  # panels of a row, or lines of a picture, that can be told apart


def named(results: object, kinds: tuple[type, ...], accepted: str) -> dict[str, object]:
    """Take one result, or a mapping of names to results; a single one needs no name.

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
    return {drawable(name): result for name, result in results.items()}


def convention(result: PCAResult, beside: str = "") -> str:
    """How the components were computed: route (unless it stands beside), centring, scaling, divisor."""
    centred = "centred" if result.center is not None else "not centred"
    scaled = "scaled" if result.scale is not None else "not scaled"
    route = "" if result.method in beside else f"{result.method}, "
    return f"{route}{centred}, {scaled}, divisor {divisor(result)}"


def divisor(result: PCAResult) -> str:
    """Write the divisor of the variances, with a true minus."""
    return result.divisor.replace("-", "−")


def size(result: PCAResult) -> str:
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
    return f"{100 * share:.1f} %"


def shares(result: PCAResult, components: tuple[int, ...]) -> str:
    """Shares of the total variance that these components have, the first few one by one."""
    values = result.shares.to_numpy()[[c - 1 for c in components]]
    if len(components) > 3:
        return f"together {percent(min(1.0, values.sum()))} of the variance"
    each = ", ".join(f"PC{c} {percent(share)}" for c, share in zip(components, values, strict=True))
    return f"{each} of the variance"


def undefined(result: PCAResult, components: tuple[int, ...]) -> list[str]:
    """What of these components is not defined by the data: those without variance, those whose variances are equal."""
    said = []
    if flat := [f"PC{c}" for c in components if c > result.rank]:
        said.append(f"{' and '.join(flat)} without variance: direction arbitrary")
    for group in result.tied:
        if set(group) & set(components):
            said.append(f"equal variances: only the span of {' and '.join(f'PC{c}' for c in group)} is defined")
    return said
