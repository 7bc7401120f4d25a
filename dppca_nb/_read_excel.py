"""From a workbook to a grid of cells: which sheet, with openpyxl (the extra "excel")."""

from __future__ import annotations

import io
import warnings
import zipfile
from pathlib import Path

from dppca_nb._read_file import FileError, ask, shown
from dppca_nb._read_text import Grid, blank, extent


def is_workbook(raw: bytes) -> bool:
    """Tell by its content whether a file is an Excel workbook."""
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            return "xl/workbook.xml" in archive.namelist()
    except zipfile.BadZipFile:
        return False


def read(path: Path, raw: bytes, sheet: str | None) -> tuple[Grid, list[str]]:
    """Read the one sheet that holds a table, or the one asked for; with what is to be said about it."""
    book = _open(path, raw, values=True)
    names = [page.title for page in book.worksheets]
    if sheet is not None and sheet not in names:
        raise FileError(f"{shown(path)} has no sheet {sheet!r}; its sheets are {', '.join(map(repr, names))}.")
    grids = {page.title: _grid(page) for page in book.worksheets if sheet in (None, page.title)}
    tables = [name for name, grid in grids.items() if sum(extent(row) > 1 for row in grid.rows) > 1]
    if sheet is None:
        seen = [name for name in tables if book[name].sheet_state == "visible"] or tables
        if len(seen) > 1:
            views = "; ".join(f"{name!r} begins {_first(grids[name])}" for name in seen)
            raise ask(path, f"{len(seen)} sheets hold tables: {views}.", *(("sheet", name) for name in seen))
        sheet = (seen or [name for name, grid in grids.items() if any(map(extent, grid.rows))] or names)[0]
    grid, said = grids[sheet], []
    if not any(map(extent, grid.rows)):
        raise FileError(f"{shown(path)}: the sheet {sheet!r} is empty. Its sheets are {', '.join(map(repr, names))}.")
    if others := [name for name in names if name != sheet]:
        said.append(f"sheets not read: {', '.join(map(repr, others))}")
    if lost := _without_result(path, raw, sheet, grid):
        said.append(
            f"formulas without a stored result, taken as missing: {', '.join(lost[:5])}"
            f"{f' and {len(lost) - 5} more' if len(lost) > 5 else ''}; open and save the file in Excel to store them"
        )
    return grid, said


def _open(path: Path, raw: bytes, *, values: bool):
    """Open a workbook, for its values or for its formulas."""
    try:
        import openpyxl
    except ImportError:
        raise FileError(
            f'{shown(path)} is an Excel workbook; reading it needs openpyxl: pip install "dppca_nb[excel]". Or save '
            "the sheet as CSV (UTF-8), and give that file."
        ) from None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about styles and extensions that are of no account for values
            return openpyxl.load_workbook(io.BytesIO(raw), read_only=True, data_only=values)
    except Exception as error:  # whatever openpyxl meets in a broken file
        raise FileError(
            f"{shown(path)} cannot be read as a workbook ({' '.join(str(error).split())}). Open it in a spreadsheet, "
            "and save it as CSV (UTF-8)."
        ) from None


def _grid(page) -> Grid:
    """Take the cells of a sheet, rows equally long."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # dates out of range become #VALUE!, which is reported as missing
        rows = [list(row) for row in page.iter_rows(values_only=True)]
    width = max(map(extent, rows), default=0)
    rows = [(row + [None] * width)[:width] for row in rows]
    return Grid(rows, list(range(1, len(rows) + 1)), page.title)


def _first(grid: Grid) -> str:
    """Show the first cells of a table."""
    row = next(row for row in grid.rows if extent(row) > 1)
    return ", ".join(repr(cell) for cell in row if not blank(cell))[:60]


def _without_result(path: Path, raw: bytes, sheet: str, grid: Grid) -> list[str]:
    """Find formulas that were never computed: a program wrote them, and no spreadsheet has opened the file since."""
    if all(cell is not None for row in grid.rows for cell in row):
        return []
    formulas = _grid(_open(path, raw, values=False)[sheet]).rows
    return [
        grid.place(i, j).removeprefix("cell ")
        for i, (row, formula) in enumerate(zip(grid.rows, formulas, strict=True))
        for j, (cell, source) in enumerate(zip(row, formula, strict=False))
        if cell is None and source is not None
    ]
