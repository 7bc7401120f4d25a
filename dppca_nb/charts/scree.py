"""`scree_chart`: how the variance falls off along the components, as shares or as variances.

One result is bars with a line over their tops; several are lines with nested marks, so that those that coincide are
all seen.
"""

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
from dppca_nb.charts.choices import DIGITS, check_choice
from dppca_nb.charts.drawn import DrawnChart, dressed
from dppca_nb.charts.layers import facetted, layer, raw, signal, ticks, title_params, written
from dppca_nb.charts.shades import COLOURS, SHAPES
from dppca_nb.charts.text import filled, short_names, text_width
from dppca_nb.core.gini_result import GiniResult

KINDS = ("shares", "variances")
MOST_COMPONENTS = 100
SIZE = (404, 260)  # pixels
NESTED = (330, 190, 100, 46, 20, 6)  # areas of marks that lie over each other
_VALUE = f"percents ? format(100 * datum.value, '.3~g') + ' %' : {words.NUMBER}"


@dataclass(frozen=True, eq=False)
class ScreePicture:
    """The numbers and words of one picture.

    Attributes
    ----------
    results : dict of str to result
        What is compared; one alone has the name "".
    kind : {"shares", "variances"}
    components : tuple of int
        Numbered from 1.
    values : DataFrame, shape (number of results, len(components))
        NaN where a result has no such component.
    """

    results: dict[str, words.Components]
    kind: str
    components: tuple[int, ...]
    values: pd.DataFrame

    @property
    def single(self) -> bool:
        """Whether one result is drawn, as bars."""
        return len(self.results) == 1

    @property
    def top(self) -> float:
        """Upper end of the axis."""
        most = float(np.nanmax(self.values.to_numpy()))
        return _round(most * 1.12) if most > 0 else 1.0

    @property
    def bottom(self) -> float:
        """Lower end of the axis: below 0 only where a Gini eigenvalue is."""
        least = float(np.nanmin(self.values.to_numpy()))
        return _round(least * 1.12) if least < -1e-3 * self.top else 0.0

    @property
    def gini(self) -> bool:
        """Whether one of the results has Gini eigenvalues in place of variances."""
        return any(isinstance(result, GiniResult) for result in self.results.values())

    @property
    def sizes_differ(self) -> bool:
        """Whether the tables of the results differ in size."""
        return len({words.size(result) for result in self.results.values()}) > 1

    @property
    def even(self) -> float:
        """Share that each component would have if all had the same; 0 where none is drawn."""
        (result, *others) = self.results.values()
        return 0.0 if others or self.kind != "shares" or result.p == 1 else 1 / result.p

    def said(self, order: int, component: int) -> str:
        """Write a value."""
        if self.kind == "shares":
            return words.share(list(self.results.values())[order], [component])
        return theme.minus(f"{self.values.loc[order, component]:.4g}")

    def axis(self) -> str:
        """Name the vertical axis, with the convention that it depends on."""
        if self.kind == "shares":
            return "Share of the total" if self.gini else "Share of the total variance"
        divisors = {words.divisor(result) for result in self.results.values()}
        return f"Variance (divisor {divisors.pop()})" if len(divisors) == 1 else "Variance (divisor: see legend)"

    def title(self) -> str:
        """Name what is drawn."""
        if self.kind == "variances":
            return "Variances of the components"
        return "Shares of the components" if self.gini else "Shares of the variance"

    def subtitle(self, width: float) -> list[str]:
        """State the convention, the size and what is not drawn, in lines of at most `width` pixels."""
        (result, *others) = self.results.values()
        parts = [] if others else [words.convention(result), words.size(result)]
        if not self.sizes_differ and others:
            parts.append(words.size(result))
        rank, last = max(map(words.drawn_components, self.results.values())), self.components[-1]
        if last < rank:
            parts.append(f"first {last} of {rank} components")
        if not others:
            if 0 < rank < (count := len(words.shares_of(result))):
                parts.append(f"{count - rank} component{'s' * (count > rank + 1)} without variance not drawn")
            parts += words.undefined(result, self.components)
            if self.even:
                parts.append(f"dashed: 1/p = {words.percent(self.even)}")
        return filled(parts, "  ·  ", width)

    def legend(self) -> list[str]:
        """Name every result, with its convention and what size it has; the subtitle says it of a single one."""
        if self.single:
            return [""]
        entries = []
        names = short_names(list(self.results), 40)
        for name, result in zip(names, self.results.values(), strict=True):
            entry = ": ".join(words.headed(name, result))
            entries.append(f"{entry}, {words.size(result)}" if self.sizes_differ else entry)
        return entries


def make_scree_picture(results: object, kind: str = "shares", components: object = 20) -> ScreePicture:
    """Choose and check what a picture shows; parameters and errors are those of `scree_chart`."""
    found = words.named(results, words.RESULTS, words.ACCEPTED)
    check_choice("kind", kind, KINDS)
    if kind == "variances" and any(isinstance(result, GiniResult) for result in found.values()):
        raise ValueError('a Gini result has eigenvalues and no variances; draw kind="shares".')
    rank = max(map(words.drawn_components, found.values()))
    if components == "all":
        components = MOST_COMPONENTS
    try:
        most = operator.index(components)
    except TypeError:
        raise TypeError(f'components must be a whole number or "all"; got {components!r}.') from None
    if isinstance(components, bool) or most < 1:
        raise ValueError(f'components must be a whole number from 1 or "all"; got {components!r}.')
    ranks = tuple(range(1, max(1, min(most, rank, MOST_COMPONENTS)) + 1))
    values = pd.DataFrame(index=range(len(found)), columns=ranks, dtype=float)
    for order, result in enumerate(found.values()):
        drawn = min(
            len(ranks), max(1, words.drawn_components(result))
        )  # of a result of which nothing varies, one zero is seen
        values.iloc[order, :drawn] = (words.shares_of(result) if kind == "shares" else result.variances).to_numpy()[
            :drawn
        ]
        first, last = values.iloc[order, [0, drawn - 1]]
        if kind == "variances" and rank and not (1 / words.LARGEST < first < words.LARGEST and last > 0):
            raise ValueError('variances are too large or too small to be drawn; scale the data, or draw kind="shares".')
    return ScreePicture(found, kind, ranks, values)


def scree_chart(
    results: words.Components | Mapping[str, words.Components], kind: str = "shares", *, components: int | str = 20
) -> DrawnChart:
    """Draw how the variance falls off along the components. Not private.

    Parameters
    ----------
    results : PCAResult or GiniResult, or mapping of names to these
        One result is drawn as bars with a line over their tops, and with the share 1/p that each component would have
        if all had the same; up to 6 as lines with nested marks.
    kind : {"shares", "variances"}
        Shares of the total variance (of the absolute eigenvalues, for Gini), or variances, whose divisor the axis
        names.
    components : int or "all"
        How many to draw, from the first; at most 100. Components without variance are not drawn.

    Returns
    -------
    altair.FacetChart

    Raises
    ------
    ValueError, TypeError
        If an argument is not one of the above; the message names it.

    Examples
    --------
    >>> from dppca_nb import datasets, pca, scree_chart
    >>> chart = scree_chart(pca(datasets.usarrests(), scale=True))
    >>> print(chart.digest)
    Shares of the variance
    svd, centred, scaled, divisor n  ·  n 50, p 4  ·  dashed: 1/p = 25.0 %
       PC1    PC2    PC3    PC4
    0.6201 0.2474 0.0891 0.0434
    """
    picture = make_scree_picture(results, kind, components)
    width = int(max(SIZE[0], min(900, 18 * len(picture.components))))
    chart = scree_spec(picture.single, (width, SIZE[1]), picture.axis()).copy()
    chart.data = alt.InlineData(values=scree_rows(picture), name="rows")
    chart.title = written(chart.title, picture.title(), picture.subtitle(width + 40))
    return dressed(chart, scree_signals(picture, width), digest(picture))


@lru_cache(maxsize=16)
def scree_spec(single: bool, size: tuple[int, int], title: str) -> alt.FacetChart:
    """Build the specification of a scree plot, without rows; cached, so copy it before a change."""
    x = alt.X(
        "component:N",
        sort=alt.EncodingSortField(field="rank", op="min"),
        axis=ticks(None, labelExpr=alt.Undefined, labelAngle=0, labelOverlap=True, ticks=False, labelPadding=6),
        scale=alt.Scale(paddingInner=0.35, paddingOuter=0.25) if single else alt.Undefined,
    )
    y = alt.Y(
        "value:Q",
        scale=alt.Scale(domain=[alt.expr("bottom"), alt.expr("top")], nice=False),
        axis=ticks(title, labelExpr=_VALUE, minExtent=35),
    )
    tooltip = [alt.Tooltip("component:N"), alt.Tooltip("said:N", title="shows")]
    base = alt.layer(*(_bars if single else _lines)(tooltip)).encode(x=x, y=y)
    chart = facetted(base.properties(width=size[0], height=size[1]), columns=1, spacing=26)
    return chart.properties(title=title_params(bare=True))


def _bars(tooltip: list) -> list[alt.Chart]:
    """Layers of one result."""
    return [
        layer("bar").mark_bar().encode(fill=signal("blue"), fillOpacity=alt.value(0.82), tooltip=tooltip),
        layer("even").mark_rule(strokeDash=[4, 3]).encode(x=alt.value(0), x2=alt.value("width"), color=signal("muted")),
        layer("bar").mark_line(strokeWidth=1.2).encode(order="rank:Q", stroke=signal("ink")),
        layer("bar").mark_point(size=22, filled=True, opacity=1).encode(fill=signal("ink")),
        *[
            layer("bar")
            .mark_text(dy=-8, dx=5, align="left", fontSize=10.5, **halo)
            .encode(text="text:N", fill=signal(fill), stroke=signal(stroke), opacity=signal("written ? 1 : 0"))
            for fill, stroke, halo in (("bg", "bg", {"strokeWidth": 3, "strokeJoin": "round"}), ("ink", "null", {}))
        ],
    ]


def _lines(tooltip: list) -> list[alt.Chart]:
    """Layers of several results."""
    order = alt.EncodingSortField(field="order", op="min")
    legend = alt.Legend(
        title=None, orient="bottom", direction="vertical", columns=1, labelColor=alt.expr("ink"), labelFontSize=10.5,
        labelLimit=620, symbolSize=70, symbolStrokeWidth=1.8, offset=10,
    )  # fmt: skip
    colour = {"sort": order, "scale": alt.Scale(range=list(COLOURS)), "legend": legend}
    return [
        layer("mark")
        .mark_line(strokeWidth=1.3, opacity=0.7)
        .encode(order="rank:Q", detail="result:N", stroke=signal("scale('stroke', datum.result)")),
        layer("mark")
        .mark_point(filled=False, strokeWidth=1.8, opacity=1)
        .encode(
            stroke=alt.Stroke("result:N", **colour),
            shape=alt.Shape("result:N", sort=order, scale=alt.Scale(range=list(SHAPES)), legend=legend),
            size=raw("area"),
            tooltip=tooltip,
        ),
    ]


def room(picture: ScreePicture) -> float:
    """Width in pixels that a picture needs so that the values can be written over the bars."""
    widest = max(text_width(picture.said(0, c), 10.5) for c in picture.components) if picture.single else 0
    return len(picture.components) * max(46, widest + 4)


def scree_signals(picture: ScreePicture, width: float) -> dict:
    """Values of the signals of a picture's specification, but for the colours."""
    roomy = room(picture) <= width
    percents = picture.kind == "shares"
    ends = {"bottom": picture.bottom, "top": picture.top}
    return {**ends, "percents": percents, "written": roomy, "heads": [""], "warn": False, "hl": None}


def scree_rows(picture: ScreePicture) -> list[dict]:
    """Rows of a scree plot."""
    rows = []
    for order, name in enumerate(picture.legend()):
        for component in picture.components:
            value = float(picture.values.loc[order, component])
            if np.isnan(value):
                continue
            row = {"panel": 0, "component": f"PC{component}", "rank": component, "value": _round(value)}
            said = picture.said(order, component)
            if picture.single:
                rows.append({**row, "role": "bar", "text": said, "said": said})
            else:
                more = {"result": name, "order": order, "area": NESTED[order], "said": f"{name}: {said}"}
                rows.append({**row, "role": "mark", **more})
    if picture.even:
        first = f"PC{picture.components[0]}"
        rows.append({"panel": 0, "role": "even", "component": first, "rank": 1, "value": _round(picture.even)})
    return rows


def _round(value: float) -> float:
    """Round to less than a pixel."""
    return float(f"{value:.{DIGITS + 2}g}")


def digest(picture: ScreePicture) -> str:
    """Say what a picture shows, in words and rounded numbers."""
    frame = picture.values.set_axis([f"PC{c}" for c in picture.components], axis="columns")
    frame.index = picture.legend()
    text = frame.to_string(
        float_format=lambda value: f"{value:.{DIGITS}f}" if picture.kind == "shares" else f"{value:.5g}", na_rep=""
    )
    return "\n".join([picture.title(), *picture.subtitle(1000), text])
