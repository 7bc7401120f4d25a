"""Where the table is within a grid: titles above it, names, units, the rows themselves, notes below."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from dppca_nb._read_file import FileError, ask, shown
from dppca_nb._read_numbers import is_number
from dppca_nb._read_text import Grid, blank, extent, usual

# Characters that are drawn as nothing, and the mark of UTF-8 taken for letters. Joiners have a meaning within a word.
INVISIBLE = re.compile(
    r"[\u00ad\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]|\u00ef\u00bb\u00bf"
    r"|^[\s\u200c\u200d]+|[\s\u200c\u200d]+$"
)
LOOK = 50  # rows below a row that tell whether it stands above numbers


class Layout(NamedTuple):
    """Positions of rows in a grid; `names` is None where there are none, `index` says that column 0 is row names."""

    titles: list[int]
    names: list[str] | None
    header: int | None
    units: int | None
    body: list[int]
    notes: list[int]
    empty: list[int]
    width: int
    index: bool


def find(
    path: Path, grid: Grid, *, header: int | bool | None, units: bool | None, markers: frozenset[str], comma: bool
) -> Layout:
    """Find the table; ask where the first row may be names or numbers. `comma`: the delimiter is one."""
    rows, is_text = grid.rows, grid.sheet is None
    live = [i for i, row in enumerate(rows) if extent(row)]
    empty = sorted(set(range(len(rows))) - set(live))
    sizes = [extent(rows[i]) for i in live]
    width = usual([len(rows[i]) for i in live]) if is_text else max(sizes)
    start = _start(path, grid, live, sizes, header, markers)
    live_body = live[start:]
    top = live_body[0]
    numeric = _numeric_below(grid, live_body, markers)
    if header is None:
        if start and _names_above(grid, live[start - 1], top):
            top, named, start = live[start - 1], True, start - 1
        else:
            named = _is_header(path, grid, top, numeric, markers)
    else:
        named = header is not False
    header_row = top if named else None
    body = live[start + named :]
    if not body:
        raise FileError(
            f"{shown(path)} holds a single row of cells: names without rows below, or a row without names. Export the "
            "table once more."
        )
    units_row = body[0] if named and _is_units(path, grid, body, units, markers) else None
    body = body[1:] if units_row is not None else body
    body, notes = _cut_notes(grid, body, width)
    if not body:
        raise FileError(f"{shown(path)} holds names and units, but no rows below. Export the table once more.")
    names = None if header_row is None else _clean(rows[header_row])
    index = False
    if is_text:
        names, index = _even(path, grid, names, units_row, body, width, comma)
    return Layout(live[:start], names, header_row, units_row, body, notes, empty, width, index)


def _clean(cells: Iterable) -> list[str]:
    """Turn the cells of the first row into names; what is not seen in them or around them is seldom meant."""
    return ["" if cell is None else INVISIBLE.sub("", str(cell)).strip() for cell in cells]


def _start(path: Path, grid: Grid, live: list[int], sizes: list[int], header, markers: frozenset[str]) -> int:
    """Find the first row that is as long as most; those above are titles."""
    if header not in (None, False):
        at = [k for k, i in enumerate(live) if grid.lines[i] == header]
        if not at:
            raise FileError(f"{shown(path)}: header={header!r}, but no row with cells begins in line {header}.")
        return at[0]
    if not live:
        raise FileError(f"{shown(path)} is empty. Export the table once more.")
    most = usual(sizes)
    filled = [sum(not blank(cell) for cell in grid.rows[i]) for i in live[:LOOK]]
    start = next((k for k, count in enumerate(filled) if sizes[k] >= most <= 2 * count), 0)
    while start and any(is_number(cell) for cell in grid.rows[live[start - 1]]):
        below = _numeric_below(grid, live[start:], markers)
        if below and not any(is_number(cell) for cell in grid.rows[live[start]]):
            break  # names stand below it: whatever it holds is above the table
        start -= 1  # a row of the table with gaps at its end
    return start


def _numeric_below(grid: Grid, live: list[int], markers: frozenset[str]) -> list[int]:
    """List the columns of numbers and gaps; the second row, which may have units, counts only if it is the last."""
    rows = [grid.rows[i] for i in (live[2 : 2 + LOOK] or live[1:])]
    found = []
    for j in range(max(map(len, rows), default=0)):
        cells = [row[j] for row in rows if j < len(row) and not _gap(row[j], markers)]
        if cells and all(map(is_number, cells)):
            found.append(j)
    return found


def _gap(cell: object, markers: frozenset[str]) -> bool:
    """Tell whether a cell is missing in a column of numbers."""
    return blank(cell) or (isinstance(cell, str) and cell.strip() in markers)


def _is_header(path: Path, grid: Grid, row: int, numeric: list[int], markers: frozenset[str]) -> bool:
    """Tell names from numbers in the first row; ask where numbers may be names."""
    cells = grid.rows[row]
    over = [cells[j] for j in numeric if j < len(cells) and not _gap(cells[j], markers)]
    numbers = [cell for cell in over if is_number(cell)]
    if not numbers:
        return True
    whole = [_whole(cell) for cell in numbers]
    counted = None not in whole and is_count(whole)
    if counted and blank(cells[0]) and len(numbers) == len(cells) - 1:
        return True  # a blank corner and numbered columns: how a data frame without names is saved
    years = None not in whole and 1800 <= min(whole) <= max(whole) <= 2200 and whole == sorted(set(whole))
    if years or counted or len(numbers) < len(over):
        view = ", ".join("" if cell is None else str(cell) for cell in cells[:6]) + (", …" if len(cells) > 6 else "")
        line = grid.lines[row]
        raise ask(
            path,
            f"line {line} ({view}) can be the names of the columns, or the first row of numbers.",
            ("header", line),
            ("header", False),
        )
    return False


def _whole(cell: object) -> int | None:
    """Give the integer that a cell is, if so."""
    try:
        return int(cell) if not isinstance(cell, float) or cell == int(cell) else None
    except (TypeError, ValueError, OverflowError):
        return None


def _names_above(grid: Grid, above: int, top: int) -> bool:
    """Tell whether the row above a full one of numbers has names, though not for every column."""
    if not any(map(is_number, grid.rows[top])):
        return False
    cells = [cell for cell in grid.rows[above] if not blank(cell)]
    only = len(cells) == 1 and len(grid.rows[above]) == 1 and len(grid.rows[top]) == 2 and above == top - 1
    return (len(cells) > 1 or (only and " " not in str(cells[0]).strip())) and not any(map(is_number, cells))


def _is_units(path: Path, grid: Grid, body: list[int], wanted: bool | None, markers: frozenset[str]) -> bool:
    """Tell whether the row below the names has units: short texts over at least half of the columns of numbers."""
    if wanted is not None:
        return wanted
    if len(body) < 2:
        return False
    cells = grid.rows[body[0]]
    numeric = [j for j in _numeric_below(grid, [body[0], *body], markers) if j < len(cells)]
    over = [cells[j] for j in numeric]
    texts = [cell for cell in over if not _gap(cell, markers)]
    units = [cell for cell in texts if isinstance(cell, str) and not _numeral(cell) and len(cell.strip()) <= 20]
    if not units or len(units) < len(texts) or 2 * len(units) < len(over):
        return False
    others = [cell for j, cell in enumerate(cells) if j not in numeric and not blank(cell)]
    if others:  # a text beside them may be the name of a row
        view = ", ".join(str(cell) for cell in cells[:6] if cell is not None)
        where = grid.place(body[0], 0)
        raise ask(path, f"{where} ({view}) can be units, or a row of the table.", ("units", True), ("units", False))
    return True


def _numeral(text: str) -> bool:
    """Tell a number, also one of Python's that no column of numbers may hold, such as "inf" and "1_000"."""
    try:
        float(text)
    except ValueError:
        return is_number(text)
    return True


def _cut_notes(grid: Grid, body: list[int], width: int) -> tuple[list[int], list[int]]:
    """Separate notes at the end: one text where rows have several cells."""
    end = len(body)
    first = next(j for j, cell in enumerate(grid.rows[body[0]]) if not blank(cell))
    while end > 1:
        cells, before = grid.rows[body[end - 1]], body[end - 2]
        filled = [cell for cell in cells if not blank(cell)]
        if width < 2 or len(filled) != 1 or blank(cells[first]) or is_number(cells[first]):
            break
        apart = before != body[end - 1] - 1 or len(str(cells[first])) > 40 or is_number(grid.rows[body[0]][first])
        if not apart and len(cells) == width:
            break  # the name of a row without values
        end -= 1
    return body[:end], body[end:]


def _even(
    path: Path, grid: Grid, names: list[str] | None, units: int | None, body: list[int], width: int, comma: bool
) -> tuple[list[str] | None, bool]:
    """Make the rows of a text file equally long, or say which is not; tell whether row names have no name."""
    for i in body if units is None else [units, *body]:
        row = grid.rows[i]
        if len(row) > width and not any(not blank(cell) for cell in row[width:]):
            del row[width:]
        if len(row) != width:
            cells = f"{len(row)} cell{'s' * (len(row) != 1)}"
            why = " Numbers with a decimal comma must be quoted where commas separate." if comma else ""
            raise FileError(
                f"{shown(path)} cannot be read as CSV: line {grid.lines[i]} has {cells}, most rows have {width}. "
                f"Repair that line, or check the delimiter (delimiter=…) and open quotation marks.{why}"
            )
    if names is None or len(names) == width:
        return names, False
    while len(names) > width and not names[-1]:
        names = names[:-1]
    if len(names) == width:
        return names, False
    full = max(extent(grid.rows[i]) for i in body)
    spare = [""] * (width - max(full, len(names)))  # delimiters at the ends of the rows
    if full <= len(names) < width:
        return [*names, *spare], False
    if len(names) == full - 1:
        firsts = [grid.rows[i][0].strip() for i in body]
        if len(set(firsts)) == len(firsts):
            return ["", *names, *spare], True
        twice = next(name for name in firsts if firsts.count(name) > 1)
        raise FileError(
            f"{shown(path)} has one name less than cells in a row, and the first column repeats {twice!r}, so it is no "
            f"column of row names. Complete the names in line {grid.lines[body[0]] - 1}."
        )
    hint = " Numbers with a decimal comma must be quoted where commas separate." if comma else ""
    raise FileError(
        f"{shown(path)} cannot be read as CSV: it has {len(names)} names, but most rows have {width} cells. Repair the "
        f"line of names, or say which it is (header=…).{hint}"
    )


def is_count(cells: list[int]) -> bool:
    """Tell whether integers number the rows, from 0 or from 1."""
    return len(cells) > 1 and cells[0] in (0, 1) and all(b - a == 1 for a, b in pairwise(cells))
