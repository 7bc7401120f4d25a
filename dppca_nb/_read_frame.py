"""From a grid and its layout to a data frame, and to the sentences of the report."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from dppca_nb._columns import NO_LABEL, display_names, show
from dppca_nb._read_file import FileError, ask, shown
from dppca_nb._read_layout import INVISIBLE, Layout
from dppca_nb._read_numbers import Cells, Column, Reading, column, doubtful, fits
from dppca_nb._read_text import Grid, blank

NUMBERING = {"id", "nr", "no", "no.", "nr.", "index", "row", "rownames", "obs", "case", "subject", "unnamed: 0"}
IDENTIFIER = re.compile(r"(^|[ _.-])id$|(?-i:(?<=[a-z])I[Dd]$)", re.IGNORECASE)  # patient_id, Customer ID, SubjectID
NAMED = 50  # rows that a hint names; more help nobody
TOTALS = {"total", "totals", "sum", "grand total", "mean", "average", "summe", "gesamt", "mittelwert", "durchschnitt"}


class Given(NamedTuple):
    """What the caller and the file have settled before."""

    decimal: str | None
    thousands: str | None
    index: str | bool | None
    delimiter: str  # empty for a workbook
    markers: frozenset[str]


def build(path: Path, grid: Grid, layout: Layout, given: Given) -> tuple[pd.DataFrame, dict[str, list]]:
    """Make the frame, and what `ReadReport` says of it."""
    rows = [grid.rows[i] for i in layout.body]
    raw = [list(cells) for cells in zip(*rows, strict=True)]
    names, said = _names(grid, layout)
    cells = {j: Cells.of(column, given.markers) for j, column in enumerate(raw)}
    gone = [j for j in cells if all(map(blank, raw[j])) and (layout.names is None or not layout.names[j])]
    kept = {j: cells[j] for j in cells if j not in gone}
    reading, evidence = _decide(path, grid, layout, names, kept, given)
    columns = {
        j: column(one, reading, lambda i, j=j: grid.place(layout.body[i], j), names[j]) for j, one in kept.items()
    }
    index = _index(path, grid, layout, names, columns, given.index)
    worded = [j for j, made in columns.items() if made.text]
    data = {names[j]: made.values for j, made in columns.items() if j != index}
    frame = pd.DataFrame(data, index=pd.RangeIndex(len(rows)))
    if index is not None:
        frame.index = pd.Index(columns.pop(index).values, name=names[index] if _label(layout, index) else None)
        said.append(f"row labels from column {names[index]}")
    report = {
        "decided": [*([evidence] if evidence else []), *said],
        "left_out": _left_out(grid, layout, gone),
        "missing": [f"{show(names[j])}: {_tally(made)}" for j, made in columns.items() if made.missing],
        "text": [
            show(names[j]) + (f" ({made.text})" if made.text != "text" else "")
            for j, made in columns.items()
            if made.text
        ],
        "converted": [f"{show(names[j])}: {made.converted}" for j, made in columns.items() if made.converted],
        "hints": [*_hints(names, columns), *_totals(grid, layout, worded, frame.index.is_unique)],
        "units": [
            (names[j], str(cell).strip())
            for j, cell in enumerate([] if layout.units is None else grid.rows[layout.units])
            if j in columns and not blank(cell)
        ],
    }
    return frame, report


def _names(grid: Grid, layout: Layout) -> tuple[tuple[str, ...], list[str]]:
    """Name every column once, and say where the names come from and which were changed."""
    if layout.names is None:
        names = display_names([NO_LABEL] * layout.width)
        return names, [f"no names: {grid.place(layout.body[0], 0)} holds data; header=… says which line has names"]
    names = display_names(layout.names)
    # The place of a sheet's row is that of its first cell; a text file has lines only.
    where = f"line {grid.lines[layout.header]}" if grid.sheet is None else f"row {grid.lines[layout.header]}"
    said = [f"names in {where}"]
    unseen = [text for text in _texts(grid.rows[layout.header]) if INVISIBLE.search(text)]
    if unseen:
        shorn = [show(INVISIBLE.sub("", text).strip()) for text in unseen]
        said.append(f"invisible characters taken off names: {', '.join(shorn[:10])}{', …' if len(shorn) > 10 else ''}")
    if renamed := [show(new) for old, new in zip(layout.names, names, strict=True) if old and old != new]:
        said.append(f"repeated names told apart: {', '.join(renamed[:10])}{', …' if len(renamed) > 10 else ''}")
    return names, said


def _label(layout: Layout, j: int) -> str:
    """The name that a column has in the file."""
    return "" if layout.names is None else layout.names[j]


def _decide(
    path: Path, grid: Grid, layout: Layout, names: tuple[str, ...], kept: dict[int, Cells], given: Given
) -> tuple[Reading, str]:
    """Decide between decimal point and decimal comma by all columns; ask where they do not."""
    if given.decimal is not None:
        return Reading.of(given.decimal, given.thousands), f"decimal {_word(given.decimal)} (as given)"
    if given.thousands in (",", "."):
        decimal = "." if given.thousands == "," else ","
        return Reading.of(decimal, given.thousands), f"decimal {_word(decimal)} (the other mark separates thousands)"
    point, comma = (Reading.of(decimal, given.thousands) for decimal in ".,")
    sure: dict[str, tuple[int, str]] = {}
    doubts: list[tuple[int, str]] = []
    for j, cells in kept.items():
        as_point, as_comma = fits(cells, point), fits(cells, comma)
        if as_point and as_comma:
            if text := doubtful(cells):
                doubts.append((j, text))
        elif as_point or as_comma:
            fails = comma if as_point else point
            text = next(text for text in cells.texts if not fails.number.fullmatch(text))
            sure.setdefault("." if as_point else ",", (j, text))
    if len(sure) == 2:
        views = " and ".join(f"{text!r} ({names[j]}, {_place(grid, layout, j, text)})" for j, text in sure.values())
        raise ask(path, f"the numbers {views} differ in their decimal mark.", ("decimal", "."), ("decimal", ","))
    if sure:
        ((decimal, (j, text)),) = sure.items()
        return (point if decimal == "." else comma), f"decimal {_word(decimal)} ({show(names[j])}: {text!r})"
    if not doubts:
        return point, ""
    j, text = doubts[0]
    if given.delimiter == "," and all("," not in text for j, _ in doubts for text in kept[j].texts):
        return point, f"decimal point ({show(names[j])}: {text!r}; commas separate cells)"
    one, other = (float(reading.plain(text)) for reading in (point, comma))
    raise ask(
        path,
        f"{text!r} ({names[j]}, {_place(grid, layout, j, text)}) can be {one:.15g} (decimal point) or {other:.15g} "
        "(decimal comma).",
        ("decimal", "."),
        ("decimal", ","),
    )


def _word(decimal: str) -> str:
    """Name a decimal mark."""
    return "point" if decimal == "." else "comma"


def _place(grid: Grid, layout: Layout, j: int, text: str) -> str:
    """Find where a text stands in a column."""
    found = (i for i in layout.body if isinstance(grid.rows[i][j], str) and grid.rows[i][j].strip() == text)
    return grid.place(next(found), j)


def _index(
    path: Path,
    grid: Grid,
    layout: Layout,
    names: tuple[str, ...],
    columns: dict[int, Column],
    wanted: str | bool | None,
) -> int | None:
    """Choose the column of row labels: the one asked for, or a first one without a name that labels or counts rows."""
    if wanted is False:
        return None
    if wanted is not None:
        at = [j for j in columns if names[j] == wanted]
        if not at:
            raise FileError(f"{shown(path)} has no column {wanted!r} for index=; it has {', '.join(names)}.")
        return at[0]
    first = min(columns, default=None)
    if first is None or len(columns) < 2 or layout.names is None:
        return None
    if _label(layout, first) not in ("", "Unnamed: 0"):
        return None
    made = columns[first]
    if not made.missing and made.values.is_unique:
        whole = pd.api.types.is_integer_dtype(made.values)
        if layout.index or made.text or (whole and made.values.is_monotonic_increasing):
            return first
    if made.text:
        return None  # a repeated text is no row label, and no variable either
    cell = grid.rows[layout.body[0]][first]
    raise ask(
        path,
        f"the first column has no name; its cells, such as {str(cell)!r}, can be row labels or a variable.",
        ("index", names[first]),
        ("index", False),
    )


def _left_out(grid: Grid, layout: Layout, gone: list[int]) -> list[str]:
    """List what is in the file and not in the frame."""
    found = []
    for word, rows in (("title", layout.titles), ("note", layout.notes)):
        found += [f"{word} in {_row(grid, i)}: {' | '.join(_texts(grid.rows[i]))}" for i in rows]
    if layout.units is not None:
        found.append(f"units in {_row(grid, layout.units)}: {', '.join(_texts(grid.rows[layout.units]))}")
    if layout.empty:
        lines = ", ".join(_row(grid, i) for i in layout.empty[:10])
        found.append(f"blank rows: {len(layout.empty)} ({lines}{', …' if len(layout.empty) > 10 else ''})")
    if gone:
        found.append(f"columns without name and cells: {', '.join(str(j + 1) for j in gone[:10])}")
    return found


def _row(grid: Grid, i: int) -> str:
    """Name a row as a text editor or a spreadsheet does."""
    return f"{'line' if grid.sheet is None else 'row'} {grid.lines[i]}"


def _texts(cells: list) -> list[str]:
    """The cells of a row that hold something."""
    return [str(cell).strip() for cell in cells if not blank(cell)]


def _tally(made: Column) -> str:
    """Count the texts that were taken as missing."""
    if len(made.values) == made.missing.total():
        return "no value in any row"
    return ", ".join(f"{repr(text) if text else 'blank'} × {count}" for text, count in sorted(made.missing.items()))


def _hints(names: tuple[str, ...], columns: dict[int, Column]):
    """Point out what looks peculiar and is left as it is."""
    if len(columns) == 1:
        yield "there is only one column; if that is wrong, give delimiter="
    for j, made in columns.items():
        if _numbers_rows(made.values, names[j]):
            yield f"{show(names[j])} seems to number the rows; index={names[j]!r} makes it their label"


def _numbers_rows(values: pd.Series, name: str) -> bool:
    """Tell whether whole numbers, no two of them equal, count the rows or have the name of what does."""
    if values.dtype not in ("int64", "float64"):
        return False
    cells = values.to_numpy()
    at = np.flatnonzero(~np.isnan(cells))  # a gap makes floats of whole numbers
    cells = cells[at]
    if len(cells) < 3 or (cells.dtype.kind == "f" and (cells != np.floor(cells)).any()):
        return False
    if cells[0] - at[0] in (0, 1) and (cells - at == cells[0] - at[0]).all():
        return True
    named = name.casefold() in NUMBERING or IDENTIFIER.search(name) is not None
    return named and len(np.unique(cells)) == len(cells)


def _totals(grid: Grid, layout: Layout, worded: list[int], unique: bool):
    """Point out the rows that sum up others, wherever they stand."""
    found = [k for k, i in enumerate(layout.body) if any(_is_total(grid.rows[i][j]) for j in worded)]
    if not found or len(found) == len(layout.body):
        return
    rows = ", ".join(_row(grid, layout.body[k]) for k in found[:NAMED])
    rows += f" and {len(found) - NAMED} more" if len(found) > NAMED else ""
    verb, them = ("seems", "it") if len(found) == 1 else ("seem", "them")
    remedy = ""
    if found == [len(layout.body) - 1]:
        remedy = "; data.iloc[:-1] leaves it out"
    elif unique and len(found) <= NAMED:  # where labels repeat, drop would take more rows than these
        remedy = f"; data.drop(data.index[{found}]) leaves {them} out"
    yield f"{rows} {verb} to sum up others{remedy}"


def _is_total(cell: object) -> bool:
    """Tell whether a cell says that its row is a total or a mean, also "Total:" and "Total (2)"."""
    return isinstance(cell, str) and re.sub(r"\s*\([^()]*\)$", "", cell.strip()).casefold().rstrip(": ") in TOTALS
