"""Specification of vector and point pictures: one layer for each role of rows, every colour and word a signal."""

from __future__ import annotations

from functools import lru_cache

import altair as alt

from dppca_nb.charts.layers import LIT, XY, facetted, layer, raw, signal, text, title_params, watermark
from dppca_nb.charts.spread import spread_layers

SIDE = 404  # pixels
HEAD = "M0,0L-1.9,0.72L-1.45,0L-1.9,-0.72Z"  # an arrow head with its tip at the origin, barbed like a pen stroke
OPEN_HEAD = "M-1.6,0.8L0,0L-1.6,-0.8"
NOTE = 10.5  # font size of notes
_FADING = "hl == null ? datum.op : hl == datum.variable ? 1 : 0.12"


@lru_cache(maxsize=32)
def plane_spec(
    panels: int = 1, columns: int = 1, side: int = SIDE, titles: tuple[str, str] = ("PC1", "PC2")
) -> alt.FacetChart:
    """Build the specification of vector and point pictures, without rows; cached, so copy it before a change.

    Only what can lie outside a panel is clipped: loadings never do, and a browser draws whatever is clipped anew at
    each step.
    """
    layers = [
        watermark("2*R/u").encode(**XY),
        layer("ring", {"calculate": "pow(2*datum.r/u, 2)", "as": "area"})
        .mark_point(shape="circle", filled=False, clip=True)
        .encode(
            **XY,
            size=raw("area"),
            stroke=signal("datum.r == 1 ? ring1 : ring"),
            strokeWidth=signal("datum.r == 1 ? 1.2 : 0.8"),
        ),
        layer("axis")
        .mark_rule(strokeDash=alt.expr("datum.dash ? [3, 4] : [1, 0]"), strokeWidth=1)
        .encode(**XY, x2="x2:Q", y2="y2:Q", color=signal("axisc")),
        *spread_layers(),
        layer("arc", {"calculate": "pow(2*datum.radius/u, 2)", "as": "area"})
        .mark_point(filled=False, strokeWidth=1.6, strokeCap="round", opacity=1)
        .encode(**XY, shape=alt.Shape("path:N", scale=None), size=raw("area"), stroke=signal("orange")),
        layer("archead")
        .mark_point(shape=OPEN_HEAD, filled=False, strokeWidth=1.6, size=26)
        .encode(**XY, angle=raw("angle"), stroke=signal("orange")),
        layer("link")
        .mark_rule(strokeWidth=1, strokeDash=[1.5, 2.5])
        .encode(**XY, x2="x2:Q", y2="y2:Q", color=signal("ink"), opacity=signal(f"{LIT} ? 0.7 : 0.1")),
        *_arrow("under-vector", "grey", 1.1, 7.5),
        _dot("under-point", "grey", "bg", 1.5),
        layer("leader")
        .mark_rule(strokeWidth=0.8)
        .encode(**XY, x2="x2:Q", y2="y2:Q", color=signal("muted"), opacity=signal(f"{LIT} ? 0.75 : 0.1")),
        *_arrow("reference-vector", "grey", 1.6, 9),
        _dot("reference-point", "grey", "bg", 1.5),
        *_arrow("private-vector", "blue", 1.9, 10),
        _dot("private-point", "bg", "blue", 1.2),
        *text(
            "label",
            11,
            alt.expr("hl == datum.variable ? 650 : 450"),
            f"datum.vis ? ({LIT} ? 1 : 0.15) : (hl == datum.variable ? 1 : 0)",
            "ink",
        ),
        *text("note", NOTE, 400, "1", "datum.warn ? warntext : muted"),
        layer("pad").mark_point(size=1, opacity=0).encode(**XY),  # keeps room for labels that run into the gutter
        layer("hit")  # generous invisible targets: hovering need not be precise
        .mark_circle(size=420, opacity=0)
        .encode(
            **XY,
            tooltip=[
                alt.Tooltip("variable:N"),
                alt.Tooltip("tip:N", title="loadings"),
                alt.Tooltip("length:Q", title="length", format=".4f"),
            ],
        ),
    ]
    half = {"domain": [alt.expr("-R"), alt.expr("R")], "nice": False, "zero": False}
    base = alt.layer(*layers).encode(
        x=alt.X("x:Q", scale=alt.Scale(**half), axis=_axis(titles[0])),
        y=alt.Y("y:Q", scale=alt.Scale(**half), axis=_axis(titles[1], titleAngle=-90, minExtent=35, maxExtent=35)),
    )
    chart = facetted(base.properties(width=side, height=side), columns=columns, spacing=48 if columns == 2 else 26)
    chart = chart.properties(title=title_params(bare=panels == 1))
    if columns == 2:
        chart = chart.properties(bounds="flush")  # else a label in the gutter would widen the gap
    return chart


def _arrow(role: str, color: str, width: float, head: float) -> list[alt.Chart]:
    """Draw an arrow: a shaft that ends under the head, and a head that shrinks on arrows shorter than itself."""
    length = "sqrt(datum.x*datum.x + datum.y*datum.y)"
    keep = f"max(0, 1 - {width * 2.6:g}*u/max({length}, 1e-9))"
    shaft = (
        layer(
            role,
            {"calculate": f"datum.x*{keep}", "as": "shaft_x"},
            {"calculate": f"datum.y*{keep}", "as": "shaft_y"},
        )
        .mark_rule(strokeWidth=width, strokeCap="butt")
        .encode(
            x=alt.XDatum(0, type="quantitative"),
            y=alt.YDatum(0, type="quantitative"),
            x2="shaft_x:Q",
            y2="shaft_y:Q",
            color=signal(color),
            opacity=signal(_FADING),
        )
    )
    tip = (
        layer(
            role,
            {"calculate": "-atan2(datum.y, datum.x)*180/PI", "as": "angle"},
            {"calculate": f"pow(min({head:g}, {length}/u*0.9), 2)", "as": "area"},
        )
        .mark_point(shape=HEAD, filled=True, strokeWidth=0)
        .encode(**XY, angle=raw("angle"), size=raw("area"), color=signal(color), opacity=signal(_FADING))
    )
    return [shaft, tip]


def _dot(role: str, stroke: str, fill: str, width: float) -> alt.Chart:
    """Draw a point."""
    return (
        layer(role)
        .mark_point(shape="circle", size=46, strokeWidth=width, filled=True)
        .encode(**XY, stroke=signal(stroke), fill=signal(fill), opacity=signal(_FADING))
    )


def _axis(title: str, **more: object) -> alt.Axis:
    """Build an axis whose ticks sit on the rings."""
    return alt.Axis(
        title=title,
        titleColor=alt.expr("ink"),
        labelColor=alt.expr("muted"),
        tickColor=alt.expr("faint"),
        labelExpr="replace(format(datum.value, '.2~f'), '-', '−')",
        values=alt.expr(
            "R > 0.8 ? [-1, -0.5, 0, 0.5, 1] : R > 0.4 ? [-0.6, -0.4, -0.2, 0, 0.2, 0.4, 0.6] "
            ": [-0.4, -0.3, -0.2, -0.1, 0, 0.1, 0.2, 0.3, 0.4]"
        ),
        **more,
    )
