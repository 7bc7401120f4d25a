"""Heatmap of signed loadings: variables down, components across, one fixed diverging scale from -1 to 1.

As for `plane`: a specification that stays, rows and signals that move.
"""

from __future__ import annotations

from functools import lru_cache

import altair as alt

from dppca_nb.charts import theme
from dppca_nb.charts.layers import LIT, facetted, title_params
from dppca_nb.charts.picture import LoadingPicture

CELL = 26  # pixels: height of a cell, unless the table is long
# ink that has contrast >= 4.5 on every cell of either theme; the limits are signals, measured in test_charts
_INK = "datum.loading > inkhigh ? '#fff' : datum.loading < -inklow ? '#000' : inkmid"
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
        alt.Chart()
        .mark_rect(stroke=alt.expr("bg"), strokeWidth=1.5)
        .encode(
            x=x,
            y=y,
            fill=shade,
            fillOpacity=alt.value(alt.expr(f"{LIT} ? 1 : 0.25")),
            tooltip=[
                alt.Tooltip("variable:N"),
                alt.Tooltip("component:N"),
                alt.Tooltip("loading:Q", format=".4f"),
                alt.Tooltip("length:Q", format=".4f", title="length"),
            ],
        )
    )
    values = (
        alt.Chart()
        .mark_text(fontSize=alt.expr("min(11.5, cellh * 0.5, cellw / 3.6)"), fontWeight=500)
        .encode(
            x=x,
            y=y,
            text="text:N",
            fill=alt.value(alt.expr(_INK)),
            opacity=alt.value(alt.expr("values && cellh >= 15 && cellw >= 26 ? 1 : 0")),
        )
    )
    base = alt.layer(cells, values).properties(width=width, height=height)
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
                rows.append(
                    {
                        "panel": panel,
                        "role": "cell",
                        "variable": names[row],
                        "component": f"PC{component}",
                        "loading": value,
                        "length": float(lengths[row]),
                        "rank": row if picture.ordered else position,
                        "text": theme.number(value),
                    }
                )
    return rows
