"""`matrix_chart`: a matrix as it stands, rows down and columns across, in the shape it has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import product

import altair as alt
import numpy as np
import pandas as pd

from dppca_nb.charts.choices import DIGITS
from dppca_nb.charts.drawn import DrawnCharts, dressed
from dppca_nb.charts.layers import written
from dppca_nb.charts.results import MOST_RESULTS
from dppca_nb.charts.text import drawable, short_names
from dppca_nb.table import Table, as_table

MOST_CELLS = 20_000
LONGEST = 440  # pixels of the longer side of a panel
NAMED = 12  # columns or rows that are named one by one


def matrix_chart(data: object, *, title: str = "Matrix") -> DrawnCharts:
    """Draw a matrix, or several side by side, with square cells on one diverging scale around 0. Not private.

    Parameters
    ----------
    data : anything `as_table` takes, or a mapping of names to these, shape (n, p)
        A mapping whose values are one-dimensional is a single table of columns, as for `as_table`. All panels share one
        scale, from the largest magnitude below 0 (orange) to the same above (blue). Together at most 20,000 cells.
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
       x1   x2
    1  1.0  2.0
    2  3.0  4.0
    3  5.0  6.0
    fat: 2 × 3
        x1   x2   x3
    1  1.0  3.0  5.0
    2  2.0  4.0  6.0
    """
    tables = _tables(data)
    cells = sum(table.n * table.p for table in tables.values())
    if cells > MOST_CELLS:
        raise ValueError(f"a picture holds at most {MOST_CELLS:,} cells; got {cells:,}. Draw some of the rows.")
    if not isinstance(title, str):
        raise TypeError(f"title must be a text; got {title!r}.")
    most = max(float(np.abs(table.values).max()) for table in tables.values()) or 1.0
    longest = max(max(table.n, table.p) for table in tables.values())
    cell = max(1.0, min(26.0, LONGEST / longest))
    panels = [_panel(name, table, cell, k) for k, (name, table) in enumerate(tables.items())]
    texts = {f"names{k}": _texts(table) for k, table in enumerate(tables.values())}
    row = alt.hconcat(*panels, spacing=32).properties(title=written(alt.TitleParams("", offset=0), drawable(title), []))
    digest = "\n".join([title, *(_digest(name, table) for name, table in tables.items())])
    return dressed(row, {**texts, "most": most, "warn": False, "hl": None}, digest)


def _tables(data: object) -> dict[str, Table]:
    """Read one table or several; a mapping of columns is one table."""
    several = isinstance(data, Mapping) and data and all(np.ndim(value) != 1 for value in data.values())
    if not several:
        return {"": as_table(data)}
    if len(data) > MOST_RESULTS:
        raise ValueError(f"a picture compares 1 to {MOST_RESULTS} matrices; got {len(data)}.")
    for name in data:
        if not isinstance(name, str) or not name.strip():
            raise TypeError(f"the names of matrices must be texts; got {name!r}.")
    return {drawable(name): as_table(value) for name, value in data.items()}


def _panel(name: str, table: Table, cell: float, number: int) -> alt.Chart:
    """Draw one matrix."""
    texts = _texts(table)
    rows = [
        {"row": i + 1, "column": j + 1, "name": texts[j], "value": float(f"{table.values[i, j]:.{DIGITS}g}") + 0.0}
        for i, j in product(range(table.n), range(table.p))
    ]
    gap = 1 if cell >= 8 else 0
    named = table.p <= NAMED and cell >= 12 and texts != [f"x{j}" for j in range(1, table.p + 1)]
    if named:
        turned = max(map(len, texts)) * 6 > cell
        across = _axis(None, range(1, table.p + 1), f"names{number}[datum.value - 1]", labelAngle=-60 * turned)
    else:
        across = _axis("column", _numbered(table.p), "datum.value", labelAngle=0)
    return (
        alt.Chart(alt.InlineData(values=rows, name=f"matrix_{number}"))
        .mark_rect(stroke=alt.expr("bg"), strokeWidth=gap)
        .encode(
            x=alt.X("column:O", axis=across),
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
                    labelColor=alt.expr("muted"), labelFontSize=10, labelExpr="replace(datum.label, /-/g, '−')",
                ),
            ),
            tooltip=[alt.Tooltip("row:O"), alt.Tooltip("name:N", title="column"), alt.Tooltip("value:Q")],
        )
        .properties(
            width=cell * table.p,
            height=cell * table.n,
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
    frame = frame.map(lambda value: float(f"{value:.{DIGITS}g}") + 0.0)
    return f"{name}{': ' * bool(name)}{table.n} × {table.p}\n{frame.to_string(max_rows=12, max_cols=8)}"
