"""What colours the points of a picture: a number or a category for each row, in both themes and to the colour-blind."""

from __future__ import annotations

from dataclasses import dataclass

import altair as alt
import numpy as np
import pandas as pd

from dppca_nb.charts import theme
from dppca_nb.charts.layers import signal
from dppca_nb.charts.text import drawable

# Okabe-Ito and Tol hues with contrast >= 3 on white and on black; each comes with a shape of its own.
COLOURS = (alt.expr("blue"), alt.expr("orange"), "#009E73", "#AA4499", alt.expr("ink"), "#997700", alt.expr("grey"))
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right")


@dataclass(frozen=True, eq=False)
class Shade:
    """One value for each row.

    Attributes
    ----------
    kind : {"number", "category"}
    name : str
        Title of the legend.
    values : list of float or str
    ranks : list of int
        Order of the categories in the legend; empty for numbers.
    """

    kind: str
    name: str
    values: list
    ranks: list[int]

    def of(self, row: int) -> dict:
        """Fields of one row."""
        value = self.values[row]
        if self.kind == "number":
            return {"shade": value, "shown": f"{self.name} {theme.minus(f'{value:.4g}')}"}
        return {"shade": value, "rank": self.ranks[row], "shown": f"{self.name} {value}"}


def make_shade(color: object, index: pd.Index) -> Shade | None:
    """Check the colours of n rows; None if there are none.

    Raises
    ------
    ValueError, TypeError
        If there is not one value for each row, one is missing, or there are too many categories.
    """
    if color is None:
        return None
    n = len(index)
    if isinstance(color, str) or not hasattr(color, "__len__") or isinstance(color, dict | set | frozenset):
        raise TypeError(f"color must be a sequence of {n} values, one for each row; got {type(color).__name__}.")
    if len(color) != n or np.ndim(color) != 1:
        shape = np.shape(color)
        raise ValueError(f"color must hold one value for each of the {n} rows; got shape {shape}.")
    if isinstance(color, pd.Series) and not color.index.equals(index) and not color.index.equals(pd.RangeIndex(n)):
        raise ValueError(
            "color is a Series whose row labels are not those of the scores. Align it first "
            "(color.reindex(result.scores.index)), or pass its values alone (color.to_numpy())."
        )
    series = pd.Series(color).reset_index(drop=True)
    name = drawable(str(getattr(color, "name", None) or "colour"))
    if series.isna().any():
        raise ValueError(f"color has {int(series.isna().sum())} missing values; give every row one.")
    if pd.api.types.is_numeric_dtype(series.dtype) and not pd.api.types.is_bool_dtype(series.dtype):
        values = series.to_numpy(dtype=float)
        if not np.isfinite(values).all():
            raise ValueError("color has infinite values; give every row a finite number or a category.")
        return Shade("number", name, [float(f"{value:.6g}") + 0.0 for value in values], [])
    ordered = isinstance(series.dtype, pd.CategoricalDtype)
    levels = [level for level in series.cat.categories if (series == level).any()] if ordered else None
    levels = levels if ordered else list(dict.fromkeys(series))
    if len(levels) > len(COLOURS):
        raise ValueError(
            f"color has {len(levels)} categories; at most {len(COLOURS)} can be told apart. Group them first."
        )
    rank = {level: i for i, level in enumerate(levels)}
    return Shade("category", name, [drawable(str(value)) for value in series], [rank[value] for value in series])


def shade_encoding(kind: str, name: str = "") -> dict:
    """Encode colours, and for categories shapes, with a legend of that name."""
    if not kind:
        return {"fill": signal("blue")}
    legend = alt.Legend(
        title=name,
        titleColor=alt.expr("ink"),
        titleFontSize=10.5,
        titleFontWeight=500,
        orient="bottom",
        direction="horizontal",
        labelColor=alt.expr("ink"),
        labelFontSize=10.5,
        labelLimit=200,
        symbolSize=60,
        columns=4,
        gradientLength=180,
        gradientThickness=8,
        tickCount=4,
        labelExpr="replace(datum.label, /-/g, '−')" if kind == "number" else alt.Undefined,
        offset=10,
    )
    if kind == "number":
        ramp = alt.Scale(range=[alt.expr("orange"), alt.expr("ring1"), alt.expr("blue")], interpolate="rgb")
        return {"fill": alt.Fill("shade:Q", scale=ramp, legend=legend)}
    order = alt.EncodingSortField(field="rank", op="min")
    return {
        "fill": alt.Fill("shade:N", sort=order, scale=alt.Scale(range=list(COLOURS)), legend=legend),
        "shape": alt.Shape("shade:N", sort=order, scale=alt.Scale(range=list(SHAPES)), legend=legend),
    }
