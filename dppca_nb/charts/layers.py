"""What specifications are made of: layers that see the rows of one role, encodings without a scale, titles."""

from __future__ import annotations

import altair as alt

from dppca_nb.charts import theme

LIT = "(hl == null || hl == datum.variable)"  # no variable is highlighted, or this one
WATERMARK = 0.075  # opacity
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


def watermark(side: str) -> alt.Chart:
    """Write across a picture what it is of, faintly; ``side`` is the expression of its width in pixels."""
    mark = {"angle": 328, "fontSize": alt.expr(f"({side}) / 9"), "fontWeight": 700, "clip": True, "tooltip": None}
    encode = {"text": "text:N", "fill": signal("ink"), "opacity": alt.value(WATERMARK)}
    return layer("watermark").mark_text(**mark).encode(**encode)


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
    """Header of a panel: the signal ``heads`` has one for each."""
    return alt.Header(
        title=None,
        labelExpr="heads[datum.value]",
        labelAnchor="start",
        labelFontSize=11.5,
        labelFontWeight=600,
        labelColor=alt.expr("ink"),
        labelPadding=padding,
        labelLimit=400,
    )


def ticks(title: str, **more: object) -> alt.Axis:
    """Build an axis of plain numbers."""
    return alt.Axis(
        **{
            "title": title,
            "titleColor": alt.expr("ink"),
            "labelColor": alt.expr("muted"),
            "tickColor": alt.expr("faint"),
            "labelExpr": "replace(format(datum.value, '.6~g'), /-/g, '−')",
            "tickCount": 5,
            **more,
        }
    )


def facetted(base: alt.LayerChart, *, columns: int, spacing: int, header: int = 6) -> alt.FacetChart:
    """Draw a panel for each value of the field ``panel``; the rows come later, under the name "rows"."""
    return base.facet(
        facet=alt.Facet("panel:O", header=panel_header(header)),
        columns=columns,
        data=alt.InlineData(values=[], name="rows"),
    ).properties(spacing=spacing)


def written(title: alt.TitleParams, text: str, lines: list[str], warn: bool = False) -> alt.TitleParams:
    """Write words into a title, for a picture drawn without a browser."""
    title = title.copy()
    title.text, title.color = text, theme.LIGHT["ink"]
    title.subtitle = [theme.plain_powers(line) for line in lines]
    title.subtitleColor = theme.LIGHT["warntext" if warn else "muted"]
    return title
