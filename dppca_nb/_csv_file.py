"""A user's CSV file: how it is to be read, found out from the file, or a refusal that says what to do."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import pandas as pd

SEPARATORS = (",", ";", "\t", "|")
SPREADSHEETS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods", ".numbers")
UNPACKED_BY_NAME = (".gz", ".bz2", ".xz", ".zst", ".zip", ".tar")  # pandas goes by the name, whatever is in the file
PACKED = (
    b"\x1f\x8b",
    b"\xfd7zXZ\0",
    b"\x28\xb5\x2f\xfd",
    b"PK\3\4",
    *(b"BZh%d1AY&SY" % level for level in range(1, 10)),
)


class FileError(ValueError):
    """A file that cannot be used; the message is one line and says how to put it right."""


def read_file(given: str) -> tuple[Path, dict, pd.DataFrame]:
    """Find out how a CSV file is to be read, and read it: its path, the arguments of `pandas.read_csv`, the frame."""
    path = Path(given.strip().strip("\"'"))  # a path pasted from a file manager comes in quotes
    if path.suffix.lower() in SPREADSHEETS:
        raise FileError(f"{path.name} is a spreadsheet. Save the sheet as CSV (UTF-8), and give that file.")
    try:
        path = path.expanduser()
        if path.exists() and not path.is_file():
            raise FileError(f"{path} is a folder or a device. Give a CSV file.")
        path, raw = _writable(path.resolve()), path.read_bytes()
    except FileNotFoundError:
        raise FileError(
            f"There is no file {path}. Check the spelling; a name without folders is looked for in the current folder."
        ) from None
    except (OSError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise FileError(f"{path} cannot be read ({reason}). Check its permissions, or copy it elsewhere.") from None
    if raw.startswith(PACKED):
        raise FileError(f"{path} is compressed, or a spreadsheet. Unpack it, or save it as CSV, and give the CSV file.")
    how, text = _decode(path, raw)
    how |= {"compression": None} if path.suffix.lower() in UNPACKED_BY_NAME else {}
    rows = [line for line in text[:100_000].splitlines() if line.strip()][:200]
    if not rows:
        raise FileError(f"{path} is empty. Export the table once more.")
    separator, header, width, _ = max(map(_split(rows), SEPARATORS), key=lambda split: split[3])
    how |= {"sep": separator} if separator != "," else {}
    if width == len(header) + 1:  # one name too few: row names in front, or separators at the ends of the rows
        how["index_col"] = False if all(row.rstrip(" ").endswith(separator) for row in rows[1:]) else 0
    elif not header[0].strip():
        how["index_col"] = 0  # the row numbers that a data frame was saved with
    readings = []
    for decimal in ({}, {"decimal": ","}) if separator != "," else ({},):
        try:
            readings.append(({**how, **decimal}, pd.read_csv(path, **how, **decimal)))
        except (ValueError, OverflowError) as error:  # pandas' own errors are ValueErrors
            raise FileError(
                f"{path} cannot be read as CSV ({' '.join(str(error).split())}). Repair the file."
            ) from None
    how, frame = max(readings, key=lambda reading: numeric_part(reading[1]).shape[1])
    numeric = numeric_part(frame)
    if numeric.shape[1] < 2 or len(frame) < 2:
        others = [name for name in frame.columns if name not in numeric][:3] if len(frame) else []
        texts = ", ".join(f'{name} ("{frame[name].iloc[0]}")' for name in others)
        raise FileError(
            f"{path} was read as {len(frame)} rows and {frame.shape[1]} columns, of which {numeric.shape[1]} numeric"
            f"{f'; no numbers in {texts}' if texts else ''}. The explorer needs at least 2 rows and 2 numeric columns: "
            "names in the first line, numbers right below, cells separated by commas, semicolons or tabs."
        )
    return path, how, frame


def numeric_part(frame: pd.DataFrame) -> pd.DataFrame:
    """Select the columns of numbers that hold any."""
    return frame.select_dtypes(["number", "bool"]).dropna(axis=1, how="all")


def _writable(path: Path) -> Path:
    """Refuse a path with bytes that are no text: a notebook is UTF-8 and cannot hold it."""
    shown = str(path).encode("utf-8", "backslashreplace").decode("utf-8")
    if shown != str(path):
        raise FileError(f"The name {shown} is not valid UTF-8. Rename the file or folder, and give the new name.")
    return path


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


def _split(rows: list[str]) -> Callable[[str], tuple[str, list[str], int, tuple[float, int]]]:
    """Try a separator: it, the header's cells, the usual width of the rows, and how well these two agree."""

    def split(separator: str) -> tuple[str, list[str], int, tuple[float, int]]:
        header, *others = csv.reader(rows, delimiter=separator)
        widths = [len(cells) for cells in others] or [len(header)]
        usual = max(set(widths), key=widths.count)
        agree = widths.count(usual) / len(widths) if usual - len(header) in (0, 1) and usual > 1 else 0.0
        return separator, header, usual, (agree, len(header))

    return split
