"""`score_chart`: observations on two components, in one panel or in several on one scale. Units are equal on both axes.

As for loadings: a specification that stays, rows and signals that move.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache

import altair as alt
import numpy as np
import pandas as pd

from dppca_nb.charts import results as words
from dppca_nb.charts import theme
from dppca_nb.charts.choices import DIGITS
from dppca_nb.charts.drawn import DrawnChart, dressed
from dppca_nb.charts.labels import Label, Tip, place_labels
from dppca_nb.charts.layers import XY, facetted, layer, signal, text, ticks, title_params, written
from dppca_nb.charts.score_picture import MOST_LABELS, ScorePicture, make_score_picture
from dppca_nb.charts.shades import shade_encoding
from dppca_nb.charts.text import SAFE_FONT, short_names, text_width

SIDES = {1: 404, 2: 340, 3: 264}  # pixels, by the number of panels; more stand in rows of two or three
NOTE = 10.5
DOT = 3.0  # pixels from the middle of a dot within which a line seems to end there


def score_chart(
    results: words.Components | pd.DataFrame | Mapping[str, words.Components | pd.DataFrame],
    components: Iterable[int] = (1, 2),
    *,
    color: object = None,
    labels: bool | None = None,
) -> DrawnChart:
    """Draw the observations on two components, with equal units on both axes. Not private.

    Parameters
    ----------
    results : PCAResult, GiniResult, DataFrame of scores, or mapping of names to these
        A frame holds one row per observation and a column per component, shape (n, k): the way to draw projections that
        are no result of `pca`. A mapping of up to 6, all with the same observations in the same order, gives a panel
        each, on one scale.
    components : pair of int
        Two component numbers from 1. In a frame whose columns are all called PC1, PC2, PC7 or the like, the names
        count; in any other the positions.
    color : sequence of length n, optional
        Numbers (drawn from orange by grey to blue) or at most 7 categories (drawn in colours and shapes; in the order
        of a categorical's levels, False before True, or as they come). The name of a Series is the title of the
        legend; its row labels must be those of the scores, or 0, 1, 2, ….
    labels : bool, optional
        Whether row labels are written into the picture, at most 60, the outermost first, where they find a place; the
        others stand in tooltips. By default where rows have names and are no more than 60.

    Returns
    -------
    altair.FacetChart
        At most 2,000 rows are drawn, evenly spaced and with the outermost ones; the subtitle says so.

    Raises
    ------
    ValueError, TypeError
        If an argument is not one of the above; the message names it.

    See Also
    --------
    loading_chart : the variables on the same components.

    Examples
    --------
    >>> from dppca_nb import datasets, pca, score_chart
    >>> chart = score_chart(pca(datasets.usarrests(), scale=True))
    >>> print(chart.digest.splitlines()[1])
    svd, centred, scaled, divisor n  ·  n 50, p 4
    """
    picture = make_score_picture(results, components, color=color, labels=labels)
    panels = len(picture.results)
    columns = panels if panels <= 3 else 2 if panels == 4 else 3
    side = SIDES[columns]
    shade = ("", "") if picture.shade is None else (picture.shade.kind, picture.shade.name)
    size = (side, round(side * picture.aspect))
    chart = score_spec(panels, columns, size, shade, tuple(picture.axis(which) for which in (0, 1))).copy()
    chart.data = alt.InlineData(values=score_rows(picture, side=side), name="rows")
    chart.title = written(chart.title, picture.title(), picture.subtitle((side + 30) * columns))
    values = {**score_signals(picture), "heads": picture.heads(side)}
    return dressed(chart, values, digest(picture))


@lru_cache(maxsize=32)
def score_spec(
    panels: int, columns: int, size: tuple[int, int], shade: tuple[str, str], titles: tuple[str, str]
) -> alt.FacetChart:
    """Build the specification of scores, without rows; cached, so copy it before a change."""
    dots = (
        layer("dot")
        .mark_point(filled=True, size=alt.expr("dots"), opacity=0.85, strokeWidth=0)
        .encode(
            **XY,
            **shade_encoding(*shade),
            tooltip=[alt.Tooltip("row:N"), alt.Tooltip("tip:N", title="scores")]
            + ([alt.Tooltip("shown:N", title="colour")] if shade[0] else []),
        )
    )
    layers = [
        layer("axis").mark_rule(strokeWidth=1).encode(**XY, x2="x2:Q", y2="y2:Q", color=signal("axisc")),
        layer("leader").mark_rule(strokeWidth=0.8).encode(**XY, x2="x2:Q", y2="y2:Q", color=signal("muted")),
        dots,
        *text("label", 10.5, 400, "1", "ink"),
        *text("note", NOTE, 400, "1", "muted"),
    ]
    scales = {
        axis: alt.Scale(domain=[alt.expr(f"{axis}0"), alt.expr(f"{axis}1")], nice=False, zero=False) for axis in "xy"
    }
    base = alt.layer(*layers).encode(
        x=alt.X("x:Q", scale=scales["x"], axis=ticks(titles[0], labelExpr=words.NUMBER)),
        y=alt.Y("y:Q", scale=scales["y"], axis=ticks(titles[1], labelExpr=words.NUMBER, titleAngle=-90, minExtent=35)),
    )
    chart = facetted(base.properties(width=size[0], height=size[1]), columns=columns, spacing=26)
    return chart.properties(title=title_params(bare=panels == 1))


def score_signals(picture: ScorePicture) -> dict:
    """Values of the signals of a picture's specification, but for the colours."""
    x, y, half = picture.window
    up = half * picture.aspect
    edges = {"x0": x - half, "x1": x + half, "y0": y - up, "y1": y + up}
    dots = 44 if len(picture.drawn) <= 200 else 24 if len(picture.drawn) <= 800 else 12
    return {**edges, "aspect": picture.aspect, "dots": dots, "heads": picture.heads(), "warn": False, "hl": None}


def score_rows(picture: ScorePicture, *, side: float, font: float = SAFE_FONT) -> list[dict]:
    """Rows of every panel."""
    x, y, half = picture.window
    texts = dict(zip(picture.names, short_names(list(picture.names.values()), 22), strict=True))
    rows = []
    for panel, points in enumerate(picture.points):
        put = _writer(rows, panel, picture.rounded)
        up = half * picture.aspect
        if abs(y) <= up:
            put("axis", x - half, 0, x2=x + half, y2=0)
        if abs(x) <= half:
            put("axis", 0, y - up, x2=0, y2=y + up)
        for row in picture.drawn:
            pair = ", ".join(theme.minus(f"{picture.rounded(value):.{picture.figures}g}") for value in points[row])
            shade = {} if picture.shade is None else picture.shade.of(row)
            put("dot", *points[row], row=picture.names[row], tip=pair, **shade)
        if picture.labels:
            _labels(put, picture, points, texts, side, font)
    return rows


def _writer(rows: list[dict], panel: int, at: Callable[[float], float]) -> Callable[..., None]:
    """Return a function that adds a row to a panel, rounded to what is drawn."""

    def put(role: str, x: float, y: float, **more: object) -> None:
        ends = {name: at(more.pop(name)) for name in ("x2", "y2") if name in more}
        rows.append({"panel": panel, "role": role, "x": at(x), "y": at(y), **ends, **more})

    return put


def _labels(put, picture: ScorePicture, points: np.ndarray, texts: dict[int, str], side: float, font: float) -> None:
    """Write as many names as find a place, those of the outermost rows first."""
    x, y, half = picture.window
    across = side / 2 * (1 + (points[:, 0] - x) / half)
    down = side / 2 * (1 - (points[:, 1] - y) / half)
    reach = np.round(np.hypot(points[:, 0] - x, points[:, 1] - y) / half, DIGITS)
    tips = [
        Tip(int(row), texts[row], round(float(across[row]), 2), round(float(down[row]), 2), float(reach[row]))
        for row in picture.drawn
    ]
    note = text_width(f"{len(tips)} not labelled", NOTE, font) + 8
    top, bottom = side * (1 - picture.aspect) / 2, side * (1 + picture.aspect) / 2  # of the panel in the square
    taken = [(0, bottom - 18, note, bottom), (-side, -side, 2 * side, top), (-side, bottom, 2 * side, 2 * side)]
    wanted = sorted(tips, key=lambda tip: (-tip.length, tip.id))[:MOST_LABELS]
    taken += [(tip.x - 0.5, tip.y - 0.5, tip.x + 0.5, tip.y + 0.5) for tip in tips]  # no name hides an observation
    labels = place_labels(wanted, side=side, everything=tips, shafts=False, blocks=taken, font=font, px=10.5)
    labels = {row: label for row, label in labels.items() if _points_at_one(label, row, tips)}
    at_x, at_y = (lambda px: x + (2 * px / side - 1) * half), (lambda py: y + (1 - 2 * py / side) * half)
    for tip in tips:
        label = labels.get(tip.id)
        if label is None:
            continue
        if label.leader:
            *start, end_x, end_y = label.leader
            put("leader", at_x(start[0]), at_y(start[1]), x2=at_x(end_x), y2=at_y(end_y))
        edge = {"left": label.x0 + 1, "right": label.x1 - 1, "center": (label.x0 + label.x1) / 2}[label.align]
        put("label", at_x(edge), at_y((label.y0 + label.y1) / 2), text=tip.text, align=label.align)
    if len(labels) < len(tips):
        put("note", at_x(4), at_y(bottom - 10), text=f"{len(tips) - len(labels)} not labelled", align="left")


def _points_at_one(label: Label, row: int, tips: list[Tip]) -> bool:
    """Whether the line from a label to its dot, if there is one, keeps clear of all other dots."""
    if not label.leader:
        return True
    others = np.array([(tip.x, tip.y) for tip in tips if tip.id != row]).reshape(-1, 2)
    start, end = np.array(label.leader[:2]), np.array(label.leader[2:])
    along = np.clip((others - start) @ (end - start) / max(1e-9, (end - start) @ (end - start)), 0, 1)
    nearest = start + along[:, None] * (end - start)
    return bool((np.hypot(*(others - nearest).T) > DOT).all())


def digest(picture: ScorePicture) -> str:
    """Say what a picture shows, in words and rounded numbers."""
    shown = picture.drawn[:8]
    form = f".{picture.places}f" if 0 <= picture.places <= 8 else f".{picture.figures}g"
    blocks = []
    for (name, result), points in zip(picture.results.items(), picture.points, strict=True):
        head = ": ".join(words.headed(name, result)) if isinstance(result, words.RESULTS) else name
        values = [[picture.rounded(value) for value in points[row]] for row in shown]
        frame = pd.DataFrame(values, short_names([picture.names[row] for row in shown]))
        frame.columns = [f"PC{c}" for c in picture.components]
        blocks += [head] * bool(name) + [frame.to_string(float_format=f"%{form}")]
    more = [f"and {theme.count(picture.n - len(shown))} more rows"] * (picture.n > len(shown))
    return "\n".join([picture.title(), *picture.subtitle(1000), *blocks, *more])
