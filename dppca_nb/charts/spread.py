"""Redraws of the noise as rows of a vector or point picture: an ellipse for each variable, or a cloud of points."""

from __future__ import annotations

from typing import NamedTuple

import altair as alt
import numpy as np

from dppca_nb.charts.layers import XY, layer, raw, signal

CHI2 = 4.605  # 90 % quantile with 2 degrees of freedom
WIDE = 0.28  # of the panel's half-width: a longer half-axis would say that loadings lie where none can
STEP = 1e-4  # coordinates of a cloud are whole numbers of these: short, and finer than any pixel
SURE, LIKELY = 0.95, 0.8  # shares of the redraws that keep a sign
PALE = {"likely": 0.5, "unsure": 0.12}  # opacity of the cells of a heatmap


class Ellipse(NamedTuple):
    """Where 90 % of normal redraws would lie: centre, half-axes, and the turn of the long one in degrees, upward."""

    x: float
    y: float
    long: float
    short: float
    turn: float


def ellipses(redraws: np.ndarray) -> list[Ellipse]:
    """Fit an ellipse to the redraws of each variable, shape (B, variables, 2)."""
    centre = redraws.mean(axis=0)
    off = redraws - centre
    xx, yy, xy = (np.einsum("bj,bj->j", off[..., a], off[..., b]) / (len(off) - 1) for a, b in ((0, 0), (1, 1), (0, 1)))
    middle, reach = (xx + yy) / 2, np.hypot((xx - yy) / 2, xy)
    long, short = (np.sqrt(CHI2 * np.maximum(value, 0)) for value in (middle + reach, middle - reach))
    turn = np.degrees(np.arctan2(2 * xy, xx - yy)) / 2
    return [Ellipse(*each) for each in np.column_stack([centre, long, short, turn]).tolist()]


def cloud_fields(redraws: np.ndarray, shown: bool) -> dict:
    """Fields of the row that holds the cloud of one variable, shape (B, 2); fainter where its name is not shown."""
    whole = np.rint(redraws / STEP).astype(int)
    return {"xs": whole[:, 0].tolist(), "ys": whole[:, 1].tolist(), "op": 0.3 if shown else 0.1}


def ellipse_fields(found: Ellipse, shown: bool) -> dict:
    """Fields of the row that holds the ellipse of one variable, hidden until it is lit if its name is not shown."""
    flat = found.short / found.long if found.long > 0 else 1.0
    # the outline of a symbol 2 units wide; its size brings it to scale
    path = f"M-1,0A1,{flat:.3f} 0 1 1 1,0A1,{flat:.3f} 0 1 1 -1,0Z"
    return {"long": round(found.long, 5), "turn": round(-found.turn, 1) + 0.0, "path": path, "op": int(shown)}


def spread_layers() -> list[alt.Chart]:
    """Draw ellipses and clouds; without rows these layers cost nothing."""
    lit = "hl == null ? datum.op : hl == datum.variable ? 1 : 0"
    return [
        layer("ellipse", {"calculate": "pow(2*datum.long/u, 2)", "as": "area"})
        .mark_point(filled=True, clip=True, strokeWidth=1, opacity=1, aria=False)
        .encode(
            **XY,
            shape=alt.Shape("path:N", scale=None),
            size=raw("area"),
            angle=raw("turn"),
            fill=signal("blue"),
            stroke=signal("blue"),
            fillOpacity=signal(f"0.12 * ({lit})"),
            strokeOpacity=signal(f"0.5 * ({lit})"),
        ),
        alt.Chart()
        .transform_filter("datum.role == 'cloud'")
        .transform_flatten(["xs", "ys"])
        .transform_calculate(x=f"datum.xs*{STEP:g}", y=f"datum.ys*{STEP:g}")
        .mark_circle(size=7, clip=True, stroke=None, aria=False)
        .encode(
            **XY,
            color=signal("blue"),
            opacity=signal("hl == null ? datum.op : hl == datum.variable ? 0.5 : 0.04"),
        ),
    ]
