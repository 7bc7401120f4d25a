"""Heatmap of signed loadings: variables down, components across, one fixed diverging scale from -1 to 1.

As for `plane`: a specification that stays, rows and signals that move.
"""

from __future__ import annotations

import math
from functools import lru_cache

import altair as alt

from dppca_nb.charts import theme
from dppca_nb.charts.layers import LIT, facetted, layer, signal, title_params, watermark
from dppca_nb.charts.picture import LoadingPicture
from dppca_nb.charts.spread import LIKELY, PALE, SURE

CELL = 26  # pixels: height of a cell, unless the table is long
# ink that has contrast >= 4.5 on every cell of either theme; the limits are signals, measured in test_charts
_BLENDED = "datum.loading * (datum.op || 1)"
_INK = f"{_BLENDED} > inkhigh ? '#fff' : {_BLENDED} < -inklow ? '#000' : inkmid"
_TIP = (
    "merge({variable: datum.variable, component: datum.component, loading: format(datum.loading, '.4f'), "
    "length: format(datum.length, '.4f')}, datum.redraws ? {redraws: datum.redraws} : {})"
)
INK = {"inkhigh": 0.93, "inklow": 2, "inkmid": "#000000"}  # on white; the view has those on black


@lru_cache(maxsize=32)
def heatmap_spec(panels: int = 1, columns: int = 1, width: int = 320, height: int = 260) -> alt.FacetChart:
    """Build the specification of heatmaps, without rows; cached, so copy it before a change."""
    x = alt.X(
        "component:N",
        sort=None,
        axis=alt.Axis(
            title=None,
            orient="top",
            labelAngle=0,
            labelColor=alt.expr("ink"),
            labelFontWeight=500,
            labelFontSize=11,
            ticks=False,
            labelPadding=5,
        ),
    )
    y = alt.Y(
        "variable:N",
        sort=alt.EncodingSortField(field="rank", op="min"),
        axis=alt.Axis(
            title=None,
            labelColor=alt.expr("ink"),
            labelFontSize=alt.expr("min(11, cellh * 0.86)"),
            labelExpr="texts[indexof(fulls, datum.value)]",
            labelOverlap=False,
            ticks=False,
            labelPadding=8,
            labelLimit=260,
        ),
    )
    shade = alt.Fill(
        "loading:Q",
        scale=alt.Scale(
            domain=[-1, 0, 1],
            range=[alt.expr("heatlow"), alt.expr("heatmid"), alt.expr("heathigh")],
            interpolate="rgb",
        ),
        legend=alt.Legend(
            title=None,
            orient="bottom",
            direction="horizontal",
            gradientLength=150,
            gradientThickness=8,
            values=[-1, -0.5, 0, 0.5, 1],
            labelExpr="replace(format(datum.value, '.1~f'), '-', '−')",
            labelColor=alt.expr("muted"),
            labelFontSize=10,
            offset=10,
        ),
    )
    cells = (
        layer("cell")
        .mark_rect(stroke=alt.expr("bg"), strokeWidth=1.5)
        .encode(
            x=x,
            y=y,
            fill=shade,
            fillOpacity=signal(f"({LIT} ? 1 : 0.25) * (datum.op || 1)"),
            tooltip=signal(_TIP),
        )
    )
    two = "datum.ends && values && cellh > 27 && cellw >= 34"  # room for the half-width under the value
    values = (
        layer("cell")
        .mark_text(
            fontSize=alt.expr("min(11.5, cellh * 0.5, cellw / (datum.op ? 4.4 : 3.6))"),
            fontWeight=alt.expr("datum.op ? 400 : 500"),
            dy=alt.expr(f"{two} ? -5 : 0"),
        )
        .encode(
            x=x,
            y=y,
            text="text:N",
            fill=signal(_INK),
            opacity=signal("values && cellh >= 15 && cellw >= 26 ? 1 : 0"),
        )
    )
    widths = (
        layer("cell")
        .transform_filter("datum.ends != null")
        .mark_text(fontSize=9, dy=7)
        .encode(x=x, y=y, text="ends:N", fill=signal(_INK), opacity=signal(f"{two} ? 1 : 0"))
    )
    across = watermark("cellw * datum.across").encode(
        x=signal("cellw * datum.across / 2"), y=signal("cellh * datum.down / 2")
    )
    base = alt.layer(cells, values, widths, across).properties(width=width, height=height)
    chart = facetted(base, columns=columns, spacing=26, header=8).resolve_axis(x="independent")
    return chart.properties(title=title_params(bare=panels == 1))


def heatmap_rows(picture: LoadingPicture) -> list[dict]:
    """Rows of a heatmap, in the order of the table's columns unless variables were named."""
    names, lengths, rows = picture.names, picture.lengths, []
    for panel in picture.panels:
        values = picture.private if panel == 1 else picture.nonprivate
        for row, position in enumerate(picture.shown):
            for column, component in enumerate(picture.components):
                value = float(values[row, column])
                cell = {
                    "panel": panel,
                    "role": "cell",
                    "variable": names[row],
                    "component": f"PC{component}",
                    "loading": value,
                    "length": float(lengths[row]),
                    "rank": row if picture.ordered else position,
                    "text": theme.number(value),
                }
                if picture.spread is not None and panel == 1:
                    cell |= _uncertain(picture, row, column, cell["text"])
                rows.append(cell)
        if picture.subject.watermark:
            size = {"across": len(picture.components), "down": len(picture.shown)}
            rows.append({"panel": panel, "role": "watermark", "text": picture.subject.watermark, **size})
    return rows


def _uncertain(picture: LoadingPicture, row: int, column: int, text: str) -> dict:
    """What redraws of the noise say of a cell: how pale it is, and half the width of its interval."""
    low, high = (float(ends[row, column]) for ends in picture.bounds)
    kept = float(picture.kept[row, column])
    fields = {
        "ends": f"±{theme.number((high - low) / 2)}",
        "redraws": f"{theme.number(low)} to {theme.number(high)}, sign kept in {math.floor(100 * kept)} %",
    }
    if kept >= SURE:
        return fields
    return {**fields, "text": f"({text})", "op": PALE["likely" if kept >= LIKELY else "unsure"]}
