"""`contribution_chart`: what observations are to a component, or a component to observations, as bars by method."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import altair as alt
import numpy as np
import pandas as pd

from dppca_nb.charts import results as words
from dppca_nb.charts import theme
from dppca_nb.charts.choices import DIGITS, check_choice, check_components
from dppca_nb.charts.drawn import DrawnChart, dressed
from dppca_nb.charts.layers import facetted, layer, signal, ticks, title_params, written
from dppca_nb.charts.text import drawable, filled, short_names

KINDS = ("component", "observation")
MOST_ROWS = 100
WIDTHS = {1: 404, 2: 300, 3: 230}  # pixels, by the number of panels in a row


@dataclass(frozen=True, eq=False)
class ContributionPicture:
    """The numbers and words of one picture.

    Attributes
    ----------
    results : dict of str to PCAResult or GiniResult
        What is compared; one alone has the name "".
    component : int
        Numbered from 1.
    kind : {"component", "observation"}
        Whose parts are drawn.
    values : ndarray, shape (number of results, number of rows drawn)
        Contributions as proportions.
    names : list of str
        Of the rows drawn, all different.
    n : int
        Number of observations.
    """

    results: dict[str, words.Components]
    component: int
    kind: str
    values: np.ndarray
    names: list[str]
    n: int

    @property
    def even(self) -> tuple[str, float]:
        """Part that all would have if all had the same: of n observations, or of p components."""
        p = next(iter(self.results.values())).p
        return ("1/n", 1 / self.n) if self.kind == "component" else ("1/p", 1 / p)

    def title(self) -> str:
        """Name what is drawn."""
        if self.kind == "component":
            return f"Contributions to PC{self.component}"
        return f"PC{self.component} as part of each observation"

    def subtitle(self, width: float) -> list[str]:
        """State the convention and what is drawn, in lines of at most `width` pixels."""
        (result, *others) = self.results.values()
        parts = [] if others else [words.convention(result)]
        few = len(self.names) < self.n
        parts.append(f"{len(self.names)} of {theme.count(self.n)} rows, the largest" if few else f"n {self.n}")
        parts.append(f"dashed: {self.even[0]} = {words.percent(self.even[1])}")
        return filled(parts, "  ·  ", width)

    def heads(self) -> list[str | list[str]]:
        """Title every panel."""
        if len(self.results) == 1:
            return [""]
        return [words.headed(name, result) for name, result in self.results.items()]

    @property
    def window(self) -> tuple[float, float]:
        """Ends of the axis, which all panels share."""
        low, high = min(0.0, float(self.values.min())), max(self.even[1], float(self.values.max()))
        margin = 0.06 * (high - low)
        return float(f"{low - margin * (low < 0):.6g}"), float(f"{high + margin:.6g}")


def make_contribution_picture(
    results: object, component: int = 1, *, kind: str = "component", rows: object = 30
) -> ContributionPicture:
    """Choose and check what a picture shows; parameters and errors are those of `contribution_chart`."""
    found = words.named(results, words.RESULTS, words.ACCEPTED)
    check_choice("kind", kind, KINDS)
    name = "observation_contributions" if kind == "component" else "observation_shares"
    tables = [getattr(result, name) for result in found.values()]
    index = words.observations({name: result.scores for name, result in found.items()})
    n, most = len(index), min(words.drawn_components(result) for result in found.values())
    if not most:
        raise ValueError("nothing varies, so that no observation contributes to a component.")
    (component,) = check_components([component], most, pair=False)
    values = np.stack([table[f"PC{component}"].to_numpy() for table in tables])
    if kind == "observation":
        values = np.nan_to_num(values)  # an observation at the centre is made of nothing
    if not np.isfinite(values).all():
        raise ValueError(f"the contributions to PC{component} are not defined: its index is 0. Choose another one.")
    drawn = _drawn(values, rows)
    index = index[drawn]
    named_rows = not pd.api.types.is_numeric_dtype(index)
    names = short_names([str(label) if named_rows else f"row {label}" for label in index], 26)
    return ContributionPicture(found, component, kind, values[:, drawn], names, n)


def _drawn(values: np.ndarray, rows: object) -> np.ndarray:
    """Positions of the rows that are drawn: in the order of the table, those that contribute most to any result."""
    n = values.shape[1]
    if isinstance(rows, str) and rows == "all":
        rows = n
    try:
        most = operator.index(rows)
    except TypeError:
        raise TypeError(f'rows must be a whole number or "all"; got {rows!r}.') from None
    if isinstance(rows, bool) or most < 1:
        raise ValueError(f'rows must be a whole number from 1 or "all"; got {rows!r}.')
    reach = np.round(np.abs(values).max(axis=0), 12)
    return np.sort(np.lexsort((np.arange(n), -reach))[: min(most, MOST_ROWS)])


def contribution_chart(
    results: words.Components | Mapping[str, words.Components],
    component: int = 1,
    *,
    kind: str = "component",
    rows: int | str = 30,
) -> DrawnChart:
    """Draw what observations are to a component, or a component to observations, as bars. Not private.

    Parameters
    ----------
    results : PCAResult or GiniResult, or mapping of names to these
        Up to 6, of the same observations: a panel for each, with the same rows and one scale.
    component : int
        Numbered from 1.
    kind : {"component", "observation"}
        "component": what each observation contributes to the component, `observation_contributions` (ACT). They sum to
        1 over all rows, and may be negative for Gini; dashed is 1/n. "observation": what the component is of each
        observation, `observation_shares` (RCT). They sum to 1 over all components; dashed is 1/p, and an observation at
        the centre has 0.
    rows : int or "all"
        How many rows, those with the largest contribution to any of the results; at most 100. They stand in the order
        of the table.

    Returns
    -------
    altair.FacetChart

    Raises
    ------
    ValueError, TypeError
        If an argument is not one of the above; the message names it.

    Examples
    --------
    >>> from dppca_nb import contribution_chart, datasets, gini_pca, pca
    >>> cars = datasets.cars2004()
    >>> chart = contribution_chart({"variance": pca(cars, scale=True), "Gini": gini_pca(cars)}, component=2)
    >>> print(chart.digest.splitlines()[1])
    n 24  ·  dashed: 1/n = 4.2 %
    """
    picture = make_contribution_picture(results, component, kind=kind, rows=rows)
    panels = len(picture.results)
    columns = panels if panels <= 3 else 2 if panels == 4 else 3
    width = WIDTHS[columns]
    chart = contribution_spec(panels, columns, (width, height_of(picture))).copy()
    chart.data = alt.InlineData(values=contribution_rows(picture), name="rows")
    chart.title = written(chart.title, picture.title(), picture.subtitle((width + 30) * columns))
    return dressed(chart, contribution_signals(picture), digest(picture))


def height_of(picture: ContributionPicture) -> int:
    """Pixels that a panel is high: room for every row."""
    return max(8, min(18, 520 // len(picture.names))) * len(picture.names)


@lru_cache(maxsize=16)
def contribution_spec(panels: int, columns: int, size: tuple[int, int]) -> alt.FacetChart:
    """Build the specification of contributions, without rows; cached, so copy it before a change."""
    x = alt.X(
        "value:Q",
        scale=alt.Scale(domain=[alt.expr("low"), alt.expr("high")], nice=False),
        axis=ticks("Part", labelExpr="replace(format(100 * datum.value, '.3~g'), '-', '−') + ' %'"),
    )
    y = alt.Y(
        "row:N",
        sort=alt.EncodingSortField(field="rank", op="min"),
        axis=ticks(None, labelExpr=alt.Undefined, labelColor=alt.expr("ink"), ticks=False, labelPadding=6),
        scale=alt.Scale(paddingInner=0.3),
    )
    tooltip = [alt.Tooltip("row:N"), alt.Tooltip("said:N", title="contributes")]
    base = alt.layer(
        layer("bar")
        .mark_bar()
        .encode(fill=signal("datum.value < 0 ? orange : blue"), fillOpacity=alt.value(0.85), tooltip=tooltip),
        layer("zero").mark_rule().encode(y=alt.value(0), y2=alt.value("height"), color=signal("axisc")),
        layer("even")
        .mark_rule(strokeDash=[4, 3])
        .encode(y=alt.value(0), y2=alt.value("height"), color=signal("muted")),
    ).encode(x=x, y=y)
    chart = facetted(base.properties(width=size[0], height=size[1]), columns=columns, spacing=26)
    return chart.properties(title=title_params(bare=panels == 1))


def contribution_signals(picture: ContributionPicture) -> dict:
    """Values of the signals of a picture's specification, but for the colours."""
    low, high = picture.window
    return {"low": low, "high": high, "heads": picture.heads(), "warn": False, "hl": None}


def contribution_rows(picture: ContributionPicture) -> list[dict]:
    """Rows of every panel."""
    rows = []
    for panel, values in enumerate(picture.values):
        for rank, (name, value) in enumerate(zip(picture.names, values, strict=True)):
            said = words.percent(float(value))
            number = float(f"{value:.6g}") + 0.0
            rows.append({"panel": panel, "role": "bar", "row": name, "rank": rank, "value": number, "said": said})
        first = {"panel": panel, "row": picture.names[0], "rank": 0}
        rows.append({**first, "role": "even", "value": float(f"{picture.even[1]:.6g}")})
        if picture.window[0] < 0:
            rows.append({**first, "role": "zero", "value": 0})
    return rows


def digest(picture: ContributionPicture) -> str:
    """Say what a picture shows, in words and rounded numbers."""
    columns = [name or "contribution" for name in picture.results]
    frame = pd.DataFrame(np.round(picture.values.T, DIGITS) + 0.0, [drawable(name) for name in picture.names], columns)
    heads = [": ".join(words.headed(name, result)) for name, result in picture.results.items() if name]
    text = frame.to_string(float_format="%.4f")
    return "\n".join([picture.title(), *picture.subtitle(1000), *heads, text])
