"""What colours the points of a picture: a number or a category for each row, in both themes and to the colour-blind."""

from __future__ import annotations

import math
import numbers
from collections.abc import Hashable
from dataclasses import dataclass

import altair as alt
import numpy as np
import pandas as pd

from dppca_nb.charts import theme
from dppca_nb.charts.choices import DIGITS
from dppca_nb.charts.layers import signal
from dppca_nb.charts.results import LARGEST, NUMBER
from dppca_nb.charts.text import drawable, drawable_names, short_names

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
        Title of the legend, in full.
    values : list of float or str
        For categories, texts that are short enough to draw, and all different.
    ranks : list of int
        Order of the categories in the legend; empty for numbers.
    said : list of str
        Every value, or every category by its rank, in full.
    """

    kind: str
    name: str
    values: list
    ranks: list[int]
    said: list[str]

    def of(self, row: int) -> dict:
        """Fields of one row."""
        if self.kind == "number":
            return {"shade": self.values[row], "shown": f"{self.name} {self.said[row]}"}
        rank = self.ranks[row]
        return {"shade": self.values[row], "rank": rank, "shown": f"{self.name} {self.said[rank]}"}


def make_shade(color: object, index: pd.Index) -> Shade | None:
    """Check the colours of n rows; None if there are none. What has been checked before is taken as it is.

    Raises
    ------
    ValueError, TypeError
        If there is not one value for each row, one is missing or can be no colour, or there are too many categories.
    """
    if color is None or isinstance(color, Shade):
        return color
    series = _one_for_each(color, index)
    name = getattr(color, "name", None)
    name = "colour" if name is None or not str(name).strip() else drawable(str(name))
    if missing := int(series.isna().sum()):
        raise ValueError(f"color has {missing} missing value{'s' * (missing > 1)}; give every row one.")
    if isinstance(series.dtype, pd.CategoricalDtype):
        codes = series.cat.codes.to_numpy()
        present = np.unique(codes)
        return _categories(name, list(series.cat.categories[present]), np.searchsorted(present, codes))
    truths = [isinstance(value, bool | np.bool_) for value in series]
    if not any(truths) and all(isinstance(value, numbers.Number) for value in series):
        return _numbers(name, series)
    for value in series:
        if type(value).__repr__ is object.__repr__ or not isinstance(value, Hashable):
            raise TypeError(f"color must hold numbers, or categories such as texts; got {type(value).__name__}.")
    keys = list(zip(truths, series, strict=True))  # True is not the number 1
    found = dict.fromkeys(sorted(set(keys)) if all(truths) else keys)
    rank = {key: i for i, key in enumerate(found)}
    return _categories(name, [value for _, value in found], np.array([rank[key] for key in keys]))


def _one_for_each(color: object, index: pd.Index) -> pd.Series:
    """Read colours as a column with one value for each row."""
    n = len(index)
    if isinstance(color, str | bytes | dict | set | frozenset) or not hasattr(color, "__len__"):
        raise TypeError(f"color must be a sequence of {n} values, one for each row; got {type(color).__name__}.")
    nested = getattr(color, "ndim", 1) != 1 or any(pd.api.types.is_list_like(value) for value in color)
    if len(color) != n or nested:
        got = "a table or a sequence of sequences" if nested else f"{len(color):,} values"
        raise ValueError(f"color must hold one value for each of the {n:,} rows; got {got}.")
    if isinstance(color, pd.Series) and not color.index.equals(index) and not color.index.equals(pd.RangeIndex(n)):
        raise ValueError(
            "color is a Series whose row labels are not those of the scores. Align it first "
            "(color.reindex(result.scores.index)), or pass its values alone (color.to_numpy())."
        )
    return pd.Series(color).reset_index(drop=True)


def _numbers(name: str, series: pd.Series) -> Shade:
    """Take numbers as colours, rounded to what an eye can tell apart within their range."""
    try:
        values = [float(value) for value in series]
    except TypeError:
        raise TypeError("color must hold real numbers, or categories; got complex ones.") from None
    except OverflowError:
        values = [math.inf]
    most = max(map(abs, values))
    if not most < LARGEST:
        raise ValueError(f"color has infinite values, or beyond {LARGEST:g}; give every row a number or a category.")
    span = float(f"{max(values) - min(values) or most or 1:.6g}")
    places = DIGITS + 1 - math.floor(math.log10(span))
    figures = max(DIGITS, DIGITS + math.ceil(math.log10(max(1, most / span)) - 1e-5))
    rounded = [round(value, places) + 0.0 for value in values]
    return Shade("number", name, rounded, [], [theme.minus(f"{value:.{min(figures, 15)}g}") for value in rounded])


def _categories(name: str, levels: list, ranks: np.ndarray) -> Shade:
    """Take categories as colours, in the order of their levels."""
    if len(levels) > len(COLOURS):
        raise ValueError(
            f"color has {len(levels)} categories; at most {len(COLOURS)} can be told apart. Group them first."
        )
    said = list(drawable_names(tuple(map(str, levels))))
    short = short_names(said, 30)
    return Shade("category", name, [short[rank] for rank in ranks], ranks.tolist(), said)


def shade_encoding(kind: str, name: str = "") -> dict:
    """Encode colours, and for categories shapes, with a legend of that name."""
    if not kind:
        return {"fill": signal("blue")}
    legend = alt.Legend(
        title=short_names([name], 30)[0],
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
        labelExpr=NUMBER if kind == "number" else alt.Undefined,
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
