"""`matrix_chart`: a matrix as it stands, rows down and columns across, in the shape it has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import altair as alt
import pandas as pd

from dppca_nb.charts.choices import DIGITS
from dppca_nb.charts.drawn import DrawnCharts, dressed
from dppca_nb.charts.layers import written
from dppca_nb.charts.results import LARGEST, LONGEST_NAME, MOST_RESULTS, NUMBER
from dppca_nb.charts.text import drawable, short_names
from dppca_nb.table import Table, as_table

MOST_CELLS = 20_000
MOST_LINES = 1000  # rows or columns: a cell is no smaller than a pixel
LONGEST = 440  # pixels of the longer side of a panel
NAMED = 12  # columns or rows that are named one by one


def matrix_chart(data: object, *, title: str = "Matrix") -> DrawnCharts:
    """Draw a matrix, or several side by side, with square cells on one diverging scale around 0. Not private.

    Parameters
    ----------
    data : anything `as_table` takes, or a mapping of names to these, shape (n, p)
        A mapping whose values are one-dimensional is a single table of columns, as for `as_table`. All panels share one
        scale, from the largest magnitude below 0 (orange) to the same above (blue). Together at most 20,000 cells, and
        no more than 1,000 rows or columns.
    title : str
        Of the picture; each panel also says its size.

    Returns
    -------
    altair.HConcatChart

    Raises
    ------
    DataError, ValueError, TypeError
        If something is no matrix of finite numbers, or there are too many cells.

    Examples
    --------
    >>> from dppca_nb import matrix_chart
    >>> print(matrix_chart({"thin": [[1, 2], [3, 4], [5, 6]], "fat": [[1, 3, 5], [2, 4, 6]]}).digest)
    Matrix
    thin: 3 × 2
       x1  x2
    1   1   2
    2   3   4
    3   5   6
    fat: 2 × 3
       x1  x2  x3
    1   1   3   5
    2   2   4   6
    """
    tables = _tables(data)
    cells = sum(table.n * table.p for table in tables.values())
    if cells > MOST_CELLS:
        raise ValueError(f"a picture holds at most {MOST_CELLS:,} cells; got {cells:,}. Draw some of the rows.")
    longest = max(max(table.n, table.p) for table in tables.values())
    if longest > MOST_LINES:
        raise ValueError(f"a picture holds at most {MOST_LINES:,} rows or columns; got {longest:,}. Draw some of them.")
    if not isinstance(title, str):
        raise TypeError(f"title must be a text; got {title!r}.")
    most = max(abs(_round(value)) for table in tables.values() for value in (table.values.min(), table.values.max()))
    if most and not 1 / LARGEST < most < LARGEST:
        raise ValueError(f"the largest magnitude must be between {1 / LARGEST:g} and {LARGEST:g}; got {most:g}.")
    cell = max(1.0, min(26.0, LONGEST / longest))
    panels = [_panel(name, table, cell, k) for k, (name, table) in enumerate(tables.items())]
    texts = {f"names{k}": _texts(table) for k, table in enumerate(tables.values())}
    row = alt.hconcat(*panels, spacing=32).properties(title=written(alt.TitleParams("", offset=0), drawable(title), []))
    digest = "\n".join([title, *(_digest(name, table) for name, table in tables.items())])
    return dressed(row, {**texts, "most": most or 1.0, "warn": False, "hl": None}, digest)


def _tables(data: object) -> dict[str, Table]:
    """Read one table or several; a mapping of columns is one table."""
    several = isinstance(data, Mapping) and data and not any(map(_is_column, data.values()))
    if not several:
        return {"": as_table(data)}
    if len(data) > MOST_RESULTS:
        raise ValueError(f"a picture compares 1 to {MOST_RESULTS} matrices; got {len(data)}.")
    for name in data:
        if not isinstance(name, str) or not name.strip():
            raise TypeError(f"the names of matrices must be texts; got {name!r}.")
    names = short_names(list(data), LONGEST_NAME)
    return {name: as_table(value) for name, value in zip(names, data.values(), strict=True)}


def _is_column(value: object) -> bool:
    """Whether a value of a mapping is one column of a table rather than a table."""
    if hasattr(value, "ndim"):
        return value.ndim == 1
    if isinstance(value, Mapping | str | bytes) or not hasattr(value, "__len__") or hasattr(value, "__dataframe__"):
        return False
    return not any(pd.api.types.is_list_like(item) for item in value)


def _panel(name: str, table: Table, cell: float, number: int) -> alt.Chart:
    """Draw one matrix."""
    texts = _texts(table)
    across = list(range(1, table.p + 1))
    rows = [  # one for each row of the matrix: one for each cell would take seconds to check
        {"row": i, "column": across, "value": [_round(value) for value in values]}
        for i, values in enumerate(table.values.tolist(), 1)
    ]
    gap = 1 if cell >= 8 else 0
    named = table.p <= NAMED and cell >= 12 and texts != [f"x{j}" for j in range(1, table.p + 1)]
    if named:
        turned = max(map(len, texts)) * 6 > cell
        axis = _axis(None, across, f"names{number}[datum.value - 1]", labelAngle=-60 * turned)
    else:
        axis = _axis("column", _numbered(table.p), "datum.value", labelAngle=0)
    return (
        alt.Chart(alt.InlineData(values=rows, name=f"matrix_{number}"))
        .transform_flatten(["column", "value"])
        .transform_calculate(name=f"names{number}[datum.column - 1]")
        .mark_rect(stroke=alt.expr("ring"), strokeWidth=gap)  # so that a cell near 0 is no hole
        .encode(
            x=alt.X("column:O", axis=axis),
            y=alt.Y("row:O", axis=_axis("row", _numbered(table.n), "datum.value", orient="left")),
            fill=alt.Fill(
                "value:Q",
                scale=alt.Scale(
                    domain=[alt.expr("-most"), 0, alt.expr("most")],
                    range=[alt.expr("heatlow"), alt.expr("heatmid"), alt.expr("heathigh")],
                    interpolate="rgb",
                ),
                legend=alt.Legend(
                    title=None, orient="right", gradientLength=100, gradientThickness=8, tickCount=5,
                    labelColor=alt.expr("muted"), labelFontSize=10, labelExpr=NUMBER,
                ),
            ),
            tooltip=[alt.Tooltip("row:O"), alt.Tooltip("name:N", title="column"), alt.Tooltip("value:Q")],
        )
        .properties(
            width=cell * table.p,
            height=cell * table.n,
            view=alt.ViewBackground(stroke=alt.expr("ring1"), strokeWidth=1 - gap),  # cells with gaps frame themselves
            title=alt.TitleParams(
                f"{name}{': ' * bool(name)}{table.n} × {table.p}", fontSize=11.5, color=alt.expr("ink"), offset=6
            ),
        )
    )  # fmt: skip


def _texts(table: Table) -> list[str]:
    """Names of the columns, short enough to draw."""
    return short_names(table.names, 14)


def _numbered(count: int) -> list[int]:
    """Rows or columns whose number is written."""
    return list(range(1, count + 1)) if count <= NAMED else [1, *range(10, count + 1, max(10, count // 50 * 10))]


def _axis(title: str | None, values: Iterable[int], label: str, orient: str = "top", **more: object) -> alt.Axis:
    """Build an axis of numbers or names."""
    colour = {"labelColor": alt.expr("muted"), "titleColor": alt.expr("muted")}
    return alt.Axis(title=title, values=list(values), labelExpr=label, orient=orient, ticks=False, **colour, **more)


def _digest(name: str, table: Table) -> str:
    """Say what a panel shows, in rounded numbers."""
    frame = pd.DataFrame(table.values, range(1, table.n + 1), _texts(table))
    frame = frame.map(_round)
    text = frame.to_string(max_rows=12, max_cols=8, float_format=f"%.{DIGITS}g")
    return f"{name}{': ' * bool(name)}{table.n} × {table.p}\n{text}"


def _round(value: float) -> float:
    """Round to what is drawn."""
    return float(f"{value:.{DIGITS}g}") + 0.0
