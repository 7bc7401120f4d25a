"""What specifications are made of: layers that see the rows of one role, encodings without a scale, titles."""

from __future__ import annotations

import altair as alt

LIT = "(hl == null || hl == datum.variable)"  # no variable is highlighted, or this one
XY = {"x": "x:Q", "y": "y:Q"}


def layer(role: str, *calculations: dict) -> alt.Chart:
    """Start a layer that sees the rows of one role."""
    chart = alt.Chart().transform_filter(f"datum.role == '{role}'")
    for step in calculations:
        chart = chart.transform_calculate(**{step["as"]: step["calculate"]})
    return chart


def signal(expression: str) -> dict:
    """Encode a channel by an expression."""
    return alt.value(alt.expr(expression))


def raw(name: str) -> dict:
    """Encode a channel by a field as it stands, without a scale."""
    return {"field": name, "type": "quantitative", "scale": None}


def text(role: str, size: float, weight: object, opacity: str, fill: str) -> list[alt.Chart]:
    """Draw a text over a halo of the background, so that it reads on top of arrows."""
    mark = {"fontSize": size, "fontWeight": weight, "align": alt.expr("datum.align"), "baseline": "middle"}
    halo = {**mark, "strokeWidth": 3, "strokeJoin": "round"}
    encode = {**XY, "text": "text:N", "opacity": signal(opacity)}
    return [
        layer(role).mark_text(**halo).encode(**encode, stroke=signal("bg"), fill=signal("bg")),
        layer(role).mark_text(**mark).encode(**encode, fill=signal(fill)),
    ]


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
