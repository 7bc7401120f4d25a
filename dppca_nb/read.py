"""A messy file becomes a data frame: `read_table` decides what is certain, reports it, and asks about the rest."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass

import pandas as pd

from dppca_nb import _read_excel, _read_file, _read_frame, _read_layout, _read_text
from dppca_nb._columns import listing
from dppca_nb._read_file import AmbiguousError, FileError, shown
from dppca_nb._read_frame import Given
from dppca_nb._read_numbers import APOSTROPHES, MISSING, SPACES

__all__ = ["AmbiguousError", "FileError", "ReadReport", "read_report", "read_table"]


@dataclass(frozen=True)
class ReadReport:
    """How a file was read, and what of it is not in the frame; its text is for people.

    Parameters
    ----------
    file : str
        Name of the file.
    rows, columns : int
        Shape of the frame.
    decided : tuple of str
        Encoding, delimiter, decimal mark, names, row labels, each with its evidence or place.
    left_out : tuple of str
        Titles, units, notes, blank rows and columns, sheets, with their text.
    missing : tuple of str
        For each column with gaps, which texts were taken as missing, and how often.
    text : tuple of str
        For each column that holds no numbers, why, and a remedy where there is one.
    converted : tuple of str
        For each column whose texts were changed before they were numbers, how.
    hints : tuple of str
        What looks peculiar and was left as it is.
    units : tuple of (str, str)
        Column and unit, if the file has a row of units.

    Examples
    --------
    >>> report = ReadReport("a.csv", 2, 1, ("encoding utf-8",), left_out=("blank rows: line 3",))
    >>> print(report)
    a.csv: 2 rows, 1 column
      encoding utf-8
      left out: blank rows: line 3
    """

    file: str
    rows: int
    columns: int
    decided: tuple[str, ...]
    left_out: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    text: tuple[str, ...] = ()
    converted: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    units: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        plural = ["s" * (count != 1) for count in (self.rows, self.columns)]
        lines = [f"{self.file}: {self.rows} row{plural[0]}, {self.columns} column{plural[1]}"]
        lines += self.decided
        for word, found in (
            ("left out", self.left_out),
            ("missing", (listing(list(self.missing)),) * bool(self.missing)),
            ("text", (listing(list(self.text)),) * bool(self.text)),
            ("converted", (listing(list(self.converted)),) * bool(self.converted)),
            ("look at", self.hints),
        ):
            lines += [f"{word}: {entry}" for entry in found]
        return "\n  ".join(lines)


def read_report(data: pd.DataFrame) -> ReadReport:
    r"""Tell how `read_table` read a frame.

    Parameters
    ----------
    data : DataFrame
        As `read_table` returned it, or made from it by pandas in a way that keeps ``attrs``.

    Returns
    -------
    ReadReport
        Print it. ``data.attrs["read"]`` holds the same as a plain dictionary, so that the frame can still be saved.

    Raises
    ------
    FileError
        If the frame does not come from `read_table`.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from dppca_nb import read_report, read_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "study.csv"
    ...     _ = path.write_text("height;weight\n1,75;60\n1,8;n/a\n")
    ...     print(read_report(read_table(path)))
    study.csv: 2 rows, 2 columns
      encoding utf-8 (plain ASCII)
      delimiter ';' (the rows agree on it)
      decimal comma (height: '1,75')
      names in line 1
      missing: weight: 'n/a' × 1
    """
    made = getattr(data, "attrs", {}).get("read")
    if not isinstance(made, dict):
        raise FileError("This frame does not come from read_table, or lost its attrs; it has no report.")
    return ReadReport(**made)


def read_table(
    path: str | os.PathLike,
    *,
    delimiter: str | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    encoding: str | None = None,
    header: int | bool | None = None,
    index: str | bool | None = None,
    units: bool | None = None,
    sheet: str | None = None,
    missing: Iterable[str] = (),
) -> pd.DataFrame:
    r"""Read a CSV, tab-separated or Excel file as it is meant; report what was decided, ask what is not certain.

    Parameters
    ----------
    path : str or path
        A text file with comma, semicolon, tab or bar between cells, or an .xlsx workbook (needs the extra ``excel``).
        What a file is goes by its content, not its name. Quotes around a pasted path are taken off; the address of a
        local file (``file:///…``) is a path, too.
    delimiter : str, optional
        One character between cells.
    decimal : {".", ","}, optional
        Decimal mark.
    thousands : {"", ",", ".", " ", "'"}, optional
        Mark between groups of three digits; ``""`` says that there is none. A space stands for its narrow kinds, too.
    encoding : str, optional
        Such as ``"utf-8"`` or ``"cp1252"``. A byte order mark in the file has precedence; the report says so.
    header : int or False, optional
        Line, counted from 1, that has the names; rows above it are left out. False: there are no names, and columns
        are called x1, x2, ….
    index : str or False, optional
        Column that becomes the row labels. False: none does.
    units : bool, optional
        Whether the row below the names has units and is left out.
    sheet : str, optional
        Sheet of a workbook.
    missing : iterable of str, default ()
        More texts that stand for missing cells, such as ``["-99", "unknown"]``.

    Returns
    -------
    DataFrame
        A column is numeric if every cell of it is a number or missing; otherwise it keeps its text, and the report says
        why (dates, codes with leading zeros, percentages, money and single odd cells among them). Missing are blank
        cells and, in columns of numbers only, NA, N/A, NaN, null, None, ``.``, ``-``, ``?`` and Excel's errors.
        ``attrs["title"]`` is the title in the file, or the file's name; `read_report` tells the rest.

    Raises
    ------
    FileError
        If the file cannot be read, is uneven, or an option does not suit it; the message names the line.
    AmbiguousError
        A `FileError` where two readings are plausible: it shows both on cells of the file, and names the option to
        give. ``choices`` has the options as (name, value).

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from dppca_nb import read_table
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = Path(folder.name) / "prices.csv"
    >>> _ = path.write_text("item;price\na;1,234\nb;2,500\n")
    >>> read_table(path)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    dppca_nb.read.AmbiguousError: ...: '1,234' (price, line 2) can be 1234 (decimal point) or 1.234 (decimal comma). ...
    >>> read_table(path, decimal=",")["price"].tolist()
    [1.234, 2.5]
    >>> folder.cleanup()
    """
    path = _read_file.find(path)
    _check(decimal, thousands, header)
    markers = MISSING | {*(text.strip() for text in ([missing] if isinstance(missing, str) else missing))}
    raw = _read_file.load(path)
    if raw.startswith(_read_file.ZIP):
        if not _read_excel.is_workbook(raw):
            raise FileError(f"{shown(path)} is an archive (zip). Unpack it, and give the CSV or .xlsx file in it.")
        grid, said = _read_excel.read(path, raw, sheet)
        decided, separator = [f"sheet {grid.sheet!r}"], ""
    else:
        if sheet is not None:
            raise FileError(f"{shown(path)} is text and has no sheets; leave out sheet={sheet!r}.")
        text, encoding, why = _read_file.decode(path, raw, encoding)
        separator, by, text, first_line = _read_text.choose(path, text, delimiter, (decimal, thousands))
        grid, said = _read_text.parse(path, text, separator, first_line), []
        said += ["the line that announces the delimiter"] * (first_line - 1)
        decided = [
            f"encoding {encoding} ({why})",
            f"delimiter {separator!r} ({by})" if by else "no delimiter: one column",
        ]
    layout = _read_layout.find(path, grid, header=header, units=units, markers=markers, comma=separator == ",")
    frame, found = _read_frame.build(path, grid, layout, Given(decimal, thousands, index, separator, markers))
    found["decided"], found["left_out"] = [*decided, *found["decided"]], [*said, *found["left_out"]]
    report = ReadReport(path.name, *frame.shape, **{part: tuple(entries) for part, entries in found.items()})
    frame.attrs |= {"title": _title(grid, layout) or path.stem, "read": asdict(report)}
    return frame


def _title(grid: _read_text.Grid, layout: _read_layout.Layout) -> str:
    """Find a title in the file: the only cell of its first row."""
    cells = (
        [str(cell).strip() for cell in grid.rows[layout.titles[0]] if not _read_text.blank(cell)]
        if layout.titles
        else []
    )
    return cells[0] if len(cells) == 1 and len(cells[0]) <= 100 else ""


def _check(decimal, thousands, header) -> None:
    """Refuse options that mean nothing."""
    if decimal not in (None, ".", ","):
        raise FileError(f"decimal={decimal!r} is no decimal mark; give '.' or ','.")
    if thousands is not None and thousands not in {"", ",", ".", *SPACES, *APOSTROPHES}:
        raise FileError(f"thousands={thousands!r} is no mark between thousands; give '', ',', '.', ' ' or \"'\".")
    if decimal is not None and thousands == decimal:
        raise FileError(f"decimal and thousands are both {decimal!r}; they must differ.")
    if header is True or not isinstance(header, int | None):
        raise FileError(f"header={header!r}: give the line of the names, counted from 1, or False if there are none.")
