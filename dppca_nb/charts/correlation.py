"""`correlation_chart`: the matrix of Gini correlations, which is not symmetric, and what its rows and columns mean."""

from __future__ import annotations

import altair as alt
import pandas as pd

from dppca_nb.charts import results as words
from dppca_nb.charts import theme
from dppca_nb.charts.choices import DIGITS
from dppca_nb.charts.drawn import DrawnChart, dressed
from dppca_nb.charts.heatmap import INK, heatmap_spec
from dppca_nb.charts.layers import written
from dppca_nb.charts.text import drawable_names, filled, short_names, text_width
from dppca_nb.core.gini_result import GiniResult

MOST_VARIABLES = 60
TITLE = "Gini correlations"


def correlation_chart(result: GiniResult) -> DrawnChart:
    """Draw Gini correlations: the row says whose values, the column whose ranks. Not private.

    Parameters
    ----------
    result : GiniResult
        From `gini_pca`, of at most 60 variables. Colours run from -1 (orange) to 1 (blue); an entry below -1, which
        skewed data may have, is as dark as -1, and its number says what it is.

    Returns
    -------
    altair.FacetChart

    Raises
    ------
    ValueError, TypeError
        If there are too many variables, or the result is of another kind.

    Examples
    --------
    >>> from dppca_nb import correlation_chart, datasets, gini_pca
    >>> print(correlation_chart(gini_pca(datasets.cars2004(), nu=4)).digest.splitlines()[1])
    Gini, ν 4  ·  n 24, p 6  ·  row: whose values, column: whose ranks
    """
    if not isinstance(result, GiniResult):
        raise TypeError(f"result must come from gini_pca(...); got {type(result).__name__}.")
    check_size(result.p)
    widest = max(text_width(text, 11) for text in short_names(list(result.gc.index), 14))
    across, down = max(44, widest + 6), max(12, min(34, 400 // result.p))
    width = round(across * result.p)
    chart = heatmap_spec(1, 1, width, down * result.p).copy()
    chart.data = alt.InlineData(values=correlation_rows(result), name="rows")
    chart.title = written(chart.title, TITLE, subtitle(result, width))
    values = {**correlation_signals(result), "cellh": down, "cellw": across}
    return dressed(chart, values, "\n".join([TITLE, *subtitle(result, 1000), _numbers(result)]))


def check_size(p: int) -> None:
    """Refuse more variables than a picture can hold."""
    if p > MOST_VARIABLES:
        raise ValueError(
            f"a picture of Gini correlations holds at most {MOST_VARIABLES} variables; got {p}. result.gc has them all."
        )


def subtitle(result: GiniResult, width: float) -> list[str]:
    """State the convention, the size and the meaning, in lines of at most `width` pixels."""
    parts = [words.convention(result), words.size(result), "row: whose values, column: whose ranks"]
    return filled(parts, "  ·  ", width)


def correlation_signals(result: GiniResult) -> dict:
    """Values of the signals of the heatmap's specification, but for the colours."""
    names = tuple(result.gc.index)
    texts = {"fulls": list(drawable_names(names)), "texts": short_names(names)}
    return {**INK, **texts, "values": True, "heads": [""], "warn": False, "hl": None}


def correlation_rows(result: GiniResult) -> list[dict]:
    """Rows of a heatmap whose columns are variables, too."""
    names, columns = drawable_names(tuple(result.gc.index)), short_names(list(result.gc.columns), 14)
    rows = []
    for rank, (name, line) in enumerate(zip(names, result.gc.to_numpy(), strict=True)):
        for column, value in zip(columns, line, strict=True):
            number = round(float(value), DIGITS) + 0.0
            shade = {"loading": max(-1.0, min(1.0, number)), "text": theme.number(number), "length": number}
            rows.append({"panel": 0, "role": "cell", "variable": name, "component": column, "rank": rank, **shade})
    return rows


def _numbers(result: GiniResult) -> str:
    """The matrix in rounded numbers."""
    frame = pd.DataFrame(result.gc.to_numpy(), short_names(list(result.gc.index)), short_names(list(result.gc.columns)))
    return frame.to_string(float_format=f"%.{DIGITS}f", max_rows=12, max_cols=12)
