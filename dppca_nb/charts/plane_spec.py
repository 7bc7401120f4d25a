"""Specification of vector and point pictures: one layer for each role of rows, every colour and word a signal."""

from __future__ import annotations

from functools import lru_cache

import altair as alt

SIDE = 404  # pixels
HEAD = "M0,0L-1.9,0.72L-1.45,0L-1.9,-0.72Z"  # an arrow head with its tip at the origin, barbed like a pen stroke
OPEN_HEAD = "M-1.6,0.8L0,0L-1.6,-0.8"
NOTE = 10.5  # font size of notes
_LIT = "(hl == null || hl == datum.variable)"
_FADING = "hl == null ? datum.op : hl == datum.variable ? 1 : 0.12"


@lru_cache(maxsize=32)
def plane_spec(
    panels: int = 1, columns: int = 1, side: int = SIDE, titles: tuple[str, str] = ("PC1", "PC2")
) -> alt.FacetChart:
    """Build the specification of vector and point pictures, without rows; cached, so copy it before a change."""
    layers = [
        _layer("ring", {"calculate": "pow(2*datum.r/u, 2)", "as": "area"})
        .mark_point(shape="circle", filled=False, clip=True)
        .encode(
            **_XY,
            size=_raw("area"),
            stroke=_signal("datum.r == 1 ? ring1 : ring"),
            strokeWidth=_signal("datum.r == 1 ? 1.2 : 0.8"),
        ),
        _layer("axis")
        .mark_rule(clip=True, strokeDash=alt.expr("datum.dash ? [3, 4] : [1, 0]"), strokeWidth=1)
        .encode(**_XY, x2="x2:Q", y2="y2:Q", color=_signal("axisc")),
        _layer("arc")
        .mark_line(strokeWidth=1.6, strokeCap="round")
        .encode(**_XY, detail="arc:N", order="step:Q", stroke=_signal("orange")),
        _layer("archead")
        .mark_point(shape=OPEN_HEAD, filled=False, strokeWidth=1.6, size=26)
        .encode(**_XY, angle=_raw("angle"), stroke=_signal("orange")),
        _layer("link")
        .mark_rule(strokeWidth=1, strokeDash=[1.5, 2.5], clip=True)
        .encode(**_XY, x2="x2:Q", y2="y2:Q", color=_signal("ink"), opacity=_signal(f"{_LIT} ? 0.7 : 0.1")),
        *_arrow("under-vector", "grey", 1.1, 7.5),
        _dot("under-point", "grey", "bg", 1.5),
        _layer("leader")
        .mark_rule(strokeWidth=0.8)
        .encode(**_XY, x2="x2:Q", y2="y2:Q", color=_signal("muted"), opacity=_signal(f"{_LIT} ? 0.75 : 0.1")),
        *_arrow("reference-vector", "grey", 1.6, 9),
        _dot("reference-point", "grey", "bg", 1.5),
        *_arrow("private-vector", "blue", 1.9, 10),
        _dot("private-point", "bg", "blue", 1.2),
        *_text(
            "label",
            11,
            alt.expr("hl == datum.variable ? 650 : 450"),
            f"datum.vis ? ({_LIT} ? 1 : 0.15) : (hl == datum.variable ? 1 : 0)",
            "ink",
        ),
        *_text("note", NOTE, 400, "1", "datum.warn ? warntext : muted"),
        _layer("pad").mark_point(size=1, opacity=0).encode(**_XY),  # keeps room for labels that run into the gutter
        _layer("hit")  # generous invisible targets: hovering need not be precise
        .mark_circle(size=420, opacity=0, clip=True)
        .encode(
            **_XY,
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
    chart = base.properties(width=side, height=side).facet(
        facet=alt.Facet("panel:O", header=panel_header()), columns=columns, data=alt.InlineData(values=[], name="rows")
    )
    chart = chart.properties(spacing=48 if columns == 2 else 26, title=title_params(bare=panels == 1))
    if columns == 2:
        chart = chart.properties(bounds="flush")  # else a label in the gutter would widen the gap
    return chart


def title_params(bare: bool) -> alt.TitleParams:
    """Style of title and subtitle, whose words come with the rows; ``bare`` where no panel header follows."""
    return alt.TitleParams(
        text="",
        subtitle="",
        color=alt.expr("ink"),
        subtitleColor=alt.expr("warn ? warntext : muted"),
        offset=-4 if bare else 10,
    )


def panel_header(padding: int = 6) -> alt.Header:
    """Header of a panel: the reference's or the private one's."""
    return alt.Header(
        title=None,
        labelExpr="datum.value == 0 ? h0 : h1",
        labelAnchor="start",
        labelFontSize=11.5,
        labelFontWeight=600,
        labelColor=alt.expr("ink"),
        labelPadding=padding,
        labelLimit=400,
    )


def _signal(expression: str) -> dict:
    """Encode a channel by an expression."""
    return alt.value(alt.expr(expression))


def _raw(name: str) -> dict:
    """Encode a channel by a field as it stands, without a scale."""
    return {"field": name, "type": "quantitative", "scale": None}


_XY = {"x": "x:Q", "y": "y:Q"}


def _layer(role: str, *calculations: dict) -> alt.Chart:
    """Start a layer that sees the rows of one role."""
    chart = alt.Chart().transform_filter(f"datum.role == '{role}'")
    for step in calculations:
        chart = chart.transform_calculate(**{step["as"]: step["calculate"]})
    return chart


def _arrow(role: str, color: str, width: float, head: float) -> list[alt.Chart]:
    """Draw an arrow: a shaft that ends under the head, and a head that shrinks on arrows shorter than itself."""
    length = "sqrt(datum.x*datum.x + datum.y*datum.y)"
    keep = f"max(0, 1 - {width * 2.6:g}*u/max({length}, 1e-9))"
    shaft = (
        _layer(
            role,
            {"calculate": f"datum.x*{keep}", "as": "shaft_x"},
            {"calculate": f"datum.y*{keep}", "as": "shaft_y"},
        )
        .mark_rule(strokeWidth=width, strokeCap="butt", clip=True)
        .encode(
            x=alt.XDatum(0, type="quantitative"),
            y=alt.YDatum(0, type="quantitative"),
            x2="shaft_x:Q",
            y2="shaft_y:Q",
            color=_signal(color),
            opacity=_signal(_FADING),
        )
    )
    tip = (
        _layer(
            role,
            {"calculate": "-atan2(datum.y, datum.x)*180/PI", "as": "angle"},
            {"calculate": f"pow(min({head:g}, {length}/u*0.9), 2)", "as": "area"},
        )
        .mark_point(shape=HEAD, filled=True, strokeWidth=0, clip=True)
        .encode(**_XY, angle=_raw("angle"), size=_raw("area"), color=_signal(color), opacity=_signal(_FADING))
    )
    return [shaft, tip]


def _dot(role: str, stroke: str, fill: str, width: float) -> alt.Chart:
    """Draw a point."""
    return (
        _layer(role)
        .mark_point(shape="circle", size=46, strokeWidth=width, filled=True, clip=True)
        .encode(**_XY, stroke=_signal(stroke), fill=_signal(fill), opacity=_signal(_FADING))
    )


def _text(role: str, size: float, weight: object, opacity: str, fill: str) -> list[alt.Chart]:
    """Draw a text over a halo of the background, so that it reads on top of arrows."""
    mark = {"fontSize": size, "fontWeight": weight, "align": alt.expr("datum.align"), "baseline": "middle"}
    halo = {**mark, "strokeWidth": 3, "strokeJoin": "round"}
    encode = {**_XY, "text": "text:N", "opacity": _signal(opacity)}
    return [
        _layer(role).mark_text(**halo).encode(**encode, stroke=_signal("bg"), fill=_signal("bg")),
        _layer(role).mark_text(**mark).encode(**encode, fill=_signal(fill)),
    ]


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
