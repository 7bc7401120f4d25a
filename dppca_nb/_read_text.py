"""From text to a grid of cells: which delimiter, and where rows are uneven or a quotation stays open."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from dppca_nb._read_file import FileError, ask, shown
from dppca_nb._read_numbers import is_number

DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
NONE = "\x1f"  # stands in no text: all of a line is one cell
SAMPLE = 200  # rows that decide on the delimiter
ANNOUNCED = re.compile(r'"?sep=(.)"?[^\S\n\r]*(\r\n|\r|\n)', re.IGNORECASE)


class Grid(NamedTuple):
    """Cells as they stand in a file, blank rows among them."""

    rows: list[list]
    lines: list[int]  # the line where each row begins, from 1
    sheet: str | None = None  # of a workbook

    def place(self, row: int, column: int) -> str:
        """Say where a cell is, as the program shows it that made the file."""
        if self.sheet is None:
            return f"line {self.lines[row]}"
        letters, column = "", column + 1
        while column:
            column, rest = divmod(column - 1, 26)
            letters = chr(65 + rest) + letters
        return f"cell {letters}{self.lines[row]}"


def blank(cell: object) -> bool:
    """Tell whether a cell has nothing in it."""
    return cell is None or (isinstance(cell, str) and (not cell or cell.isspace()))


def extent(cells: list) -> int:
    """Count the cells up to the last that is not blank."""
    for j in range(len(cells), 0, -1):
        if not blank(cells[j - 1]):
            return j
    return 0


def usual(sizes: list[int]) -> int:
    """Give the most frequent size, the greater of two equally frequent ones."""
    counts = Counter(sizes)
    return max(counts, key=lambda size: (counts[size], size)) if counts else 0


def _records(text: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Parse the text; each row with the line it begins in."""
    spaced = delimiter != "\t" and re.search(re.escape(delimiter) + ' +"', text) is not None
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True, skipinitialspace=spaced)
    line = 1
    for row in reader:
        yield line, row
        line = reader.line_num + 1


def parse(path: Path, text: str, delimiter: str, first_line: int = 1) -> Grid:
    """Parse the whole text into a grid."""
    rows, lines = [], []
    try:
        for line, row in _records(text, delimiter):
            rows.append(row)
            lines.append(line + first_line - 1)
    except csv.Error as error:
        begun = lines[-1] + 1 if lines else first_line
        raise FileError(
            f"{shown(path)} cannot be read as CSV: the row that begins near line {begun} has a quotation mark that is "
            f"not closed, or is closed too early ({error}). Repair that line."
        ) from None
    return Grid(rows, lines)


class _Split(NamedTuple):
    """How well a delimiter splits the first rows."""

    delimiter: str
    score: float  # agreement of the widths, plus the share of numbers, plus 0.5 if the first row agrees as well
    short: bool  # one name less than cells
    width: int
    row: list[str]  # the first below the names


def choose(path: Path, text: str, given: str | None, marks: tuple[str | None, ...]) -> tuple[str, str, str, int]:
    """Give the delimiter, by what evidence, the text that is left, and the number of its first line.

    A comma among `marks`, those that the caller says are in numbers, separates only where such numbers are quoted.
    """
    first_line = 1
    if announced := ANNOUNCED.match(text):
        text, first_line = text[announced.end() :], 2
    if given is not None:
        if len(given) != 1 or given in '"\r\n':
            raise FileError(f"delimiter={given!r} is no delimiter; give one character, such as ',' or ';' or '\\t'.")
        return given, "as given", text, first_line
    if announced:
        return announced[1], "the first line announces it", text, first_line
    splits = [split for split in (_try(text, delimiter, marks) for delimiter in DELIMITERS) if split]
    if not splits:
        _refuse_spaces(path, text)
        return NONE, "", text, first_line
    best, *others = sorted(splits, key=lambda split: split.score, reverse=True)
    if others and best.score - others[0].score < 0.1:
        one, two = (f"{split.row} by {split.delimiter!r}" for split in (best, others[0]))
        choices = (("delimiter", best.delimiter), ("delimiter", others[0].delimiter))
        raise ask(path, f"a row can be {one}, or {two}.", *choices)
    if best.delimiter == "," and best.short and best.width == 2 and all(map(is_number, best.row)) and not any(marks):
        raise ask(
            path,
            f"below one name, {','.join(best.row)!r} can be one number with a decimal comma, one with a comma between "
            f"thousands, or {best.row[1]!r} in a row named {best.row[0]!r}.",
            ("decimal", ","),
            ("thousands", ","),
            ("delimiter", ","),
        )
    return best.delimiter, "the rows agree on it", text, first_line


def _try(text: str, delimiter: str, marks: tuple[str | None, ...]) -> _Split | None:
    """Split the first rows by a delimiter; None if they do not become a table of at least two columns."""
    if delimiter not in text:
        return None
    try:
        rows = [row for _, row in islice(_records(text, delimiter), SAMPLE) if extent(row)]
    except csv.Error:
        return None
    width = usual([len(row) for row in rows])
    if width < 2 or (delimiter in marks and not any(delimiter in cell for row in rows for cell in row)):
        return None
    top = next(i for i, row in enumerate(rows) if len(row) >= width)
    body = [row for row in rows[top:] if len(row) == width]
    agree = len(body) / len(rows)
    if agree < 0.5:
        return None
    short = top == 1 and len(rows[0]) == width - 1 and any(map(is_number, body[0])) and not is_number(rows[0][0])
    cells = [cell for row in body[1:] or body for cell in row if not blank(cell)]
    score = agree + sum(map(is_number, cells)) / max(len(cells), 1) + 0.5 * (top == 0 and len(rows[0]) == width)
    return _Split(delimiter, score, short, width, body[0])


def _refuse_spaces(path: Path, text: str) -> None:
    """Refuse columns that are set apart by spaces, which would become one column of text."""
    rows = [line.split() for line in islice(text.splitlines(), SAMPLE) if line.strip()]
    if len(rows) > 1 and len(rows[0]) > 1 and len({*map(len, rows)}) == 1 and sum(map(is_number, rows[-1])) > 1:
        raise FileError(
            f"{shown(path)} seems to hold {len(rows[0])} columns set apart by spaces. Save it with commas, semicolons "
            r"or tabs, or read it yourself with pandas.read_csv(path, sep=r'\s+')."
        )
