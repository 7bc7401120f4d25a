"""A user's file on the command line: its options, whether it can be explored, and the call that reads it again."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from dppca_nb._read_file import find, shown
from dppca_nb.read import AmbiguousError, FileError, read_table

READING = ("delimiter", "decimal", "thousands", "encoding", "header", "index", "units", "sheet", "missing")


class OwnFile(NamedTuple):
    """A file that was read."""

    path: Path
    how: dict  # the arguments of `read_table`
    frame: pd.DataFrame


def add_reading_options(command: argparse.ArgumentParser) -> None:
    """Let a command take the arguments of `read_table`."""
    group = command.add_argument_group("how FILE is to be read, where that cannot be found out")
    group.add_argument("--delimiter", metavar="SIGN", type=_delimiter, help="between cells; tab for a tab")
    group.add_argument("--decimal", choices=[".", ","], help="decimal mark")
    group.add_argument("--thousands", metavar="SIGN", help="between groups of three digits")
    group.add_argument("--encoding", metavar="NAME", help="such as utf-8 or cp1252")
    group.add_argument("--header", metavar="LINE", type=_line_or_none, help="line of the names, from 1; or none")
    group.add_argument("--index", metavar="NAME", type=_name_or_none, help="column of row labels; or none")
    group.add_argument("--units", metavar="yes|no", type=_yes_or_no, help="whether a row of units is below the names")
    group.add_argument("--sheet", metavar="NAME", help="sheet of a workbook")
    group.add_argument("--missing", metavar="TEXT", action="append", help="stands for a missing cell; may be repeated")


def _delimiter(text: str) -> str:
    """Read a delimiter; a tab is hard to type."""
    return "\t" if text in ("tab", "\\t") else text


def _yes_or_no(text: str) -> bool:
    """Read an answer."""
    if text not in ("yes", "no"):
        raise argparse.ArgumentTypeError(f"{text!r} is neither yes nor no")
    return text == "yes"


def _line_or_none(text: str) -> int | bool:
    """Read the number of a line."""
    if text == "none":
        return False
    if not (text.isascii() and text.isdigit() and int(text) > 0):
        raise argparse.ArgumentTypeError(f"{text!r} is no line; give a number from 1, or none")
    return int(text)


def _name_or_none(text: str) -> str | bool:
    """Read the name of a column."""
    return False if text == "none" else text


def read_own(options: argparse.Namespace) -> OwnFile:
    """Read the file that the command was given, and refuse what an explorer cannot show."""
    path = find(options.file).resolve()
    if shown(path) != str(path) and not _is_text(str(path)):
        raise FileError(f"The name {shown(path)} is not valid UTF-8. Rename the file or folder, and give the new name.")
    how = {name: getattr(options, name) for name in READING if getattr(options, name) is not None}
    try:
        frame = read_table(path, **how)
    except AmbiguousError as error:
        flags = " or ".join(f"--{name}={_typed(name, value)}" for name, value in error.choices)
        raise FileError(f"{error} Here: {flags}.") from None
    numeric = numeric_part(frame)
    if numeric.shape[1] < 2 or len(frame) < 2:
        texts = "; ".join(frame.attrs["read"]["text"][:3]) if len(frame) else ""
        raise FileError(
            f"{shown(path)} was read as {len(frame)} rows and {frame.shape[1]} columns, of which {numeric.shape[1]} "
            f"numeric{f'; no numbers in {texts}' if texts else ''}. The explorer needs at least 2 rows and 2 numeric "
            "columns: names in the first line, numbers right below, cells separated by commas, semicolons or tabs."
        )
    return OwnFile(path, how, frame)


def _is_text(name: str) -> bool:
    """Tell whether a notebook, which is UTF-8, can hold a name."""
    return name.encode("utf-8", "ignore").decode("utf-8") == name


def _typed(name: str, value: object) -> str:
    """Write a value as it is typed behind an option."""
    if isinstance(value, bool):
        return "yes" if value else "no" if name == "units" else "none"
    text = "tab" if value == "\t" else str(value)
    return text if text.replace("_", "a").replace("-", "a").isalnum() or text in ".," else f'"{text}"'


def numeric_part(frame: pd.DataFrame) -> pd.DataFrame:
    """Select the columns of numbers that hold any."""
    return frame.select_dtypes(["number", "bool"]).dropna(axis=1, how="all")


def call(own: OwnFile, folder: Path) -> str:
    """Write the arguments that read the file again from a folder."""
    shown_path = own.path.relative_to(folder) if own.path.is_relative_to(folder) else own.path
    return ", ".join([repr(shown_path.as_posix()), *(f"{name}={value!r}" for name, value in own.how.items())])


def notes(frame: pd.DataFrame) -> Iterator[str]:
    """Leave out in the cell what is left out, where it is seen and undone; say what may have to be."""
    yield from (f"# {hint}" for hint in frame.attrs.get("read", {}).get("hints", ()) if "sum up" in hint)
    if frame.isna().all().any():
        yield 'data = data.dropna(axis=1, how="all")  # columns without any value'
    incomplete = int(numeric_part(frame).isna().any(axis=1).sum())
    if incomplete:
        rows = f"{incomplete} of {len(frame)} rows left out: they miss numbers"
        off = ""
        if len(frame) - incomplete < 2:  # a table of gaps is for its owner to mend
            off, rows = "# ", f"{incomplete} of {len(frame)} rows miss numbers; without the first # they are left out"
        yield f'{off}data = data.dropna(subset=data.select_dtypes(["number", "bool"]).columns)  # {rows}'
