"""A user's CSV file: how it is to be read, found out from the file, or a refusal that says what to do."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

SPREADSHEETS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods", ".numbers")


class FileError(ValueError):
    """A file that cannot be used; the message is one line and says how to put it right."""


def read_file(given: str) -> tuple[Path, dict, pd.DataFrame]:
    """Find out how a CSV file is to be read, and read it: its path, the arguments of `pandas.read_csv`, the frame."""
    path = Path(given.strip().strip("\"'")).expanduser()  # a path pasted from a file manager comes in quotes
    if path.suffix.lower() in SPREADSHEETS:
        raise FileError(f"{path.name} is a spreadsheet. Save it there as CSV (UTF-8), and give that file.")
    try:
        raw = path.resolve().read_bytes()
    except FileNotFoundError:
        raise FileError(f"There is no file {path}. Check the name and the folder, {Path.cwd()}.") from None
    except IsADirectoryError:
        raise FileError(f"{path} is a folder. Give a CSV file in it.") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise FileError(f"{path} cannot be read ({reason}). Check its permissions, or copy it elsewhere.") from None
    how, text = _decode(path, raw)
    rows = [line for line in text[:200_000].splitlines() if line.strip()][:200]
    separator, header, width = max(_splits(rows), key=lambda split: split[3])[:3] if rows else (",", [], 0)
    how |= {"sep": separator} if separator != "," else {}
    if header and width == len(header) + 1:  # names for one column fewer: row names in front, or a separator at the end
        how["index_col"] = False if all(row.rstrip().endswith(separator) for row in rows[1:]) else 0
    elif header and not header[0].strip():
        how["index_col"] = 0  # the row numbers that a data frame was saved with
    readings = []
    for decimal in ({}, {"decimal": ","}) if separator != "," else ({},):
        try:
            frame = pd.read_csv(path, **how, **decimal)
        except (ValueError, OverflowError) as error:  # pandas' own errors are ValueErrors
            raise FileError(
                f"{path} cannot be read as CSV: {' '.join(str(error).split())}. Repair that line."
            ) from None
        readings.append((frame.select_dtypes(["number", "bool"]).shape[1], {**how, **decimal}, frame))
    numeric, how, frame = max(readings, key=lambda reading: reading[0])
    if numeric < 2 or len(frame) < 2:
        raise FileError(
            f"{path} was read as {len(frame)} rows and {frame.shape[1]} columns, of which {numeric} numeric. The "
            "explorer needs at least 2 rows and 2 numeric columns: names in the first line, then rows, cells separated "
            "by commas, semicolons or tabs."
        )
    return path.resolve(), how, frame


def _decode(path: Path, raw: bytes) -> tuple[dict, str]:
    """Tell the encoding: UTF-8 with or without its mark, UTF-16 with its mark, else Windows' Western European."""
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        encodings = ("utf-16",)
    else:
        encodings = ("utf-8-sig" if raw.startswith(b"\xef\xbb\xbf") else "utf-8", "cp1252")
    for encoding in encodings:
        try:
            text = raw.decode(encoding)
        except UnicodeDecodeError:
            continue
        if "\0" not in text:
            return ({} if encoding == "utf-8" else {"encoding": encoding}), text
    raise FileError(f"{path} is not a text file that can be read as CSV. Save the table as CSV (UTF-8).")


def _splits(rows: list[str]) -> Iterator[tuple[str, list[str], int, tuple[float, int]]]:
    """Try each separator: the header's cells, the usual width of the rows, and how well the two agree."""
    for separator in (",", ";", "\t", "|"):
        header, *widths = list(csv.reader(rows, delimiter=separator))
        widths = [len(cells) for cells in widths] or [len(header)]
        usual = max(set(widths), key=widths.count)
        agree = widths.count(usual) / len(widths) if usual - len(header) in (0, 1) and usual > 1 else 0.0
        yield separator, header, usual, (agree, len(header))
