"""From a path to the bytes of a file, and from bytes to text; or a refusal that says what to do."""

from __future__ import annotations

import codecs
import difflib
import os
import re
import unicodedata
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote

from dppca_nb._containers import DataError

PACKED = (  # what a file begins with, how to unpack it
    (b"\x1f\x8b", "gunzip"),
    (b"\xfd7zXZ\0", "unxz"),
    (b"\x28\xb5\x2f\xfd", "unzstd"),
    (b"BZh", "bunzip2"),
)
ZIP, OLD_EXCEL = b"PK\3\4", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
OTHER_SHEETS = (".ods", ".numbers", ".xlsb", ".fods")
MARKS = (  # the longer first: the mark of UTF-32 begins as that of UTF-16
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
WESTERN = "cp1252"
RIVALS = (WESTERN, "cp1250", "cp1251", "cp850", "mac_roman")
# The mark of UTF-8 as a character, or as a program has saved it that took its bytes for letters; a quote may precede.
LEFTOVER = re.compile(rf"(\"?)(?:\ufeff|{'|'.join(re.escape(codecs.BOM_UTF8.decode(name)) for name in RIVALS)})+")
QUOTES = "\"'\N{LEFT DOUBLE QUOTATION MARK}\N{RIGHT DOUBLE QUOTATION MARK}\N{DOUBLE LOW-9 QUOTATION MARK}"
QUOTES += "\N{LEFT SINGLE QUOTATION MARK}\N{RIGHT SINGLE QUOTATION MARK}\N{SINGLE LOW-9 QUOTATION MARK}"
INSIDE = "\N{RIGHT SINGLE QUOTATION MARK}\N{SOFT HYPHEN}\N{MIDDLE DOT}"  # the signs that a Western word may hold


class FileError(DataError):
    """A file that cannot be read as a table; the message is one line and says how to put it right."""


class AmbiguousError(FileError):
    """Two plausible readings of a file; `choices` are the options of `read_table` that decide between them."""

    def __init__(self, message: str, choices: tuple[tuple[str, object], ...]):
        super().__init__(message)
        self.choices = choices

    def __reduce__(self):
        return type(self), (self.args[0], self.choices)


for _error in (FileError, AmbiguousError):
    _error.__module__ = "dppca_nb.read"  # their public address


def ask(path: Path, what: str, *choices: tuple[str, object]) -> AmbiguousError:
    """Make the error that shows two readings and names the options between which to choose."""
    options = " or ".join(f"{name}={value!r}" for name, value in choices)
    return AmbiguousError(f"{shown(path)}: {what} Give read_table the one that is meant: {options}.", choices)


def shown(path: Path) -> str:
    """Write a path in a message of one line."""
    text = str(path).encode("utf-8", "backslashreplace").decode("utf-8")
    return text if text.isprintable() else repr(text)


def find(given: str | os.PathLike) -> Path:
    """Take a path as it was typed or pasted; refuse what is no path to a file here."""
    if not isinstance(given, str | os.PathLike):
        raise FileError(f"read_table takes the path of a file, not {type(given).__name__}. as_table takes data.")
    text = os.fspath(given)
    text = os.fsdecode(text).strip().strip(QUOTES)  # a path pasted from a file manager or a text comes in quotes
    if not text.strip():
        raise FileError('The path is empty. Give the path of a file, such as "study.csv".')
    if local := re.match(r"file:(?://(?:localhost)?)?(/[^/].*)", text, re.IGNORECASE):  # as a browser shows it
        text = re.sub(r"^/(?=[A-Za-z]:)", "", unquote(local[1]))
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]+://", text):
        raise FileError(f"{text} is an address. read_table opens no network: download the file, and give its path.")
    path = Path(text)
    try:
        path = path.expanduser()
        if path.is_file():
            return path
        if path.exists():
            raise FileError(f"{shown(path)} is a folder or a device. Give a file, such as a CSV file.")
    except (OSError, RuntimeError, ValueError) as error:
        if isinstance(error, FileError):
            raise
        raise _unreadable(path, error) from None
    raise FileError(
        f"There is no file {shown(path)}. Check the spelling; a name without folders is looked for in the current "
        f"folder.{_near(path)}"
    )


def _near(path: Path) -> str:
    """Suggest files of a similar name in the same folder."""
    try:
        names = {entry.name.casefold(): entry.name for entry in os.scandir(path.parent) if entry.is_file()}
    except OSError:
        return f" There is no folder {shown(path.parent)} either."
    close = [names[name] for name in difflib.get_close_matches(path.name.casefold(), names, 3, 0.7)]
    close += [name for name in sorted(names.values()) if Path(name).stem == path.name and name not in close]
    return f" Is it {' or '.join(shown(Path(name)) for name in close[:3])}?" if close else ""


def _unreadable(path: Path, error: Exception) -> FileError:
    """Say why the system does not give a file."""
    reason = getattr(error, "strerror", None) or error
    return FileError(f"{shown(path)} cannot be read ({reason}). Check its permissions, or copy it elsewhere.")


def load(path: Path) -> bytes:
    """Read a file's bytes; refuse what is certainly neither text nor a workbook."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise _unreadable(path, error) from None
    for start, how in PACKED:
        if raw.startswith(start):
            raise FileError(
                f"{shown(path)} is compressed. Unpack it with {how} or with your file manager, and give what comes out."
            )
    if raw.startswith(OLD_EXCEL):
        raise FileError(
            f"{shown(path)} is in the old Excel format, or protected by a password; neither is supported. "
            "Save it as .xlsx without a password, or as CSV (UTF-8)."
        )
    if path.suffix.lower() in OTHER_SHEETS:
        raise FileError(f"{shown(path)} is a spreadsheet of a kind that is not supported. Save it as .xlsx or CSV.")
    if not raw.strip():
        raise _empty(path)
    return raw


def _empty(path: Path) -> FileError:
    """Say that a file has no cells."""
    return FileError(f"{shown(path)} is empty. Export the table once more.")


def decode(path: Path, raw: bytes, encoding: str | None) -> tuple[str, str, str]:
    """Give the text, its encoding, and by what evidence; ask where several encodings give words."""
    given = encoding is not None
    if given:
        try:
            name = codecs.lookup(encoding).name
        except LookupError:
            raise FileError(
                f'There is no encoding {encoding!r}. Usual ones are "utf-8", "cp1252", "latin-1".'
            ) from None
        name, why, raw = _given(raw, name)
    else:
        name, why = _guess(path, raw)
    try:
        text = raw.decode(name)
    except UnicodeError as error:
        at = getattr(error, "start", None)
        where = "" if at is None else f" (byte {raw[at] if at < len(raw) else 0:#04x} in line {_line(raw[:at])})"
        if given:
            raise FileError(
                f"{shown(path)} is not text in {name}{where}. Leave out encoding=, or give another."
            ) from None
        wide = _wide(raw)
        remedy = f'It seems to be UTF-16 without a mark; give encoding="{wide}"' if wide else "Save it as CSV (UTF-8)"
        raise FileError(f"{shown(path)} is not a text file that can be read{where}. {remedy}.") from None
    if leftover := LEFTOVER.match(text):
        text, why = leftover[1] + text[leftover.end() :], f"{why}; a byte order mark within the text taken off"
    if not text.strip('\ufeff \r\n\t,;|"'):
        raise _empty(path)
    if "\0" in text:
        line = text[: text.index("\0")].count("\n") + 1
        wide = _wide(raw)
        remedy = f'; it seems to be UTF-16 without a mark: encoding="{wide}" reads it' if wide else ""
        raise FileError(
            f"{shown(path)} is not a text file: line {line} holds a NUL character. Export the table once more, as CSV "
            f"(UTF-8){remedy}."
        )
    if re.match(r"\s*<(!doctype|html|table|\?xml)", text, re.IGNORECASE):
        raise FileError(
            f"{shown(path)} is a web page or XML, whatever its name. Open it in a spreadsheet, save as CSV."
        )
    return text, name, why


def _line(raw: bytes) -> int:
    """Number of the line that bytes end in."""
    return raw.count(b"\n") + 1


def _given(raw: bytes, name: str) -> tuple[str, str, bytes]:
    """Settle a given encoding with the mark that a file begins with: the mark wins, and is no part of a name."""
    mark, marked = next(((mark, marked) for mark, marked in MARKS if raw.startswith(mark)), (b"", ""))
    if not mark:
        return name, "as given", raw
    if name.startswith(marked.removesuffix("-sig")) and name[-2:] not in ("le", "be"):
        return marked, "as given", raw
    why = f"its byte order mark, in place of {name} as given"
    if mark != codecs.BOM_UTF8:
        # Every table in UTF-16 holds NULs, for its delimiters and ends of lines; without one these are two letters.
        return (marked, why, raw) if b"\0" in raw else (name, "as given", raw)
    try:
        raw.decode(marked)
    except UnicodeDecodeError:
        return name, "as given; a byte order mark of UTF-8 taken off", raw.removeprefix(mark)
    return marked, why, raw


def _wide(raw: bytes) -> str:
    """Name the kind of UTF-16 by where the NULs are; empty for what is something else."""
    even, odd = raw[::2].count(0), raw[1::2].count(0)
    name, most, least = ("utf-16-be", even, odd) if even > odd else ("utf-16-le", odd, even)
    if 8 * most <= len(raw) or 10 * least > most:
        return ""
    try:
        return "" if "\0" in raw.decode(name) else name
    except UnicodeDecodeError:
        return ""


def _guess(path: Path, raw: bytes) -> tuple[str, str]:
    """Find the encoding by its mark, by being valid UTF-8, or by words that are words in Western Europe."""
    for mark, name in MARKS:
        if raw.startswith(mark):
            return name, "its byte order mark"
    if raw.isascii():
        return "utf-8", "plain ASCII"
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError as error:
        if b"\0" in raw:
            return "utf-8", "no text"  # decoding fails there, or the NUL is found
        if error.reason == "unexpected end of data" and error.start > 1000:
            raise FileError(f"{shown(path)} ends within a character: it was cut short. Export it once more.") from None
    else:
        return "utf-8", "all bytes are valid UTF-8"
    words = _words(raw)
    readings = {name: read for name in RIVALS if (read := _read(words, name)) is not None}
    if WESTERN in readings and all(map(_western, readings[WESTERN])):
        return WESTERN, f"not UTF-8, and words such as {readings[WESTERN][0]!r} in it"
    if not readings or any(byte < 32 and byte not in b"\t\n\v\f\r\x1a\x1b" for byte in set(raw)):
        raise FileError(f"{shown(path)} is not a text file that can be read. Save the table as CSV (UTF-8).")
    readings = dict(sorted(readings.items(), key=lambda read: not all(map(_western, read[1]))))
    views = ", ".join(f"{' '.join(map(repr, read[:2]))} in {name}" for name, read in readings.items())
    raise ask(path, f"it is not UTF-8; its words are {views}.", *(("encoding", name) for name in readings))


def _words(raw: bytes) -> list[bytes]:
    """List the words with bytes beyond ASCII, each once, in order."""
    found = re.finditer(rb"[A-Za-z\x80-\xff]*[\x80-\xff][A-Za-z\x80-\xff]*", raw)
    return list(dict.fromkeys(match[0] for match in found))


def _read(words: list[bytes], encoding: str) -> list[str] | None:
    """Decode words; None where a byte means nothing."""
    try:
        return [word.decode(encoding) for word in words]
    except UnicodeDecodeError:
        return None


def _western(word: str) -> bool:
    """Tell whether a word looks Western European: no run of three accents, no odd signs or capitals inside."""
    if re.search(r"[^\W\d_a-zA-Z]{3}", word) or not all(ord(c) < 0x100 or c in "€‚„…‘’“”•–—™‰ŒœŠšŽžŸ‹›†" for c in word):
        return False
    kinds = ["L" if c in INSIDE else unicodedata.category(c)[0] for c in word]
    if any(left == right == "L" != middle for left, middle, right in zip(kinds, kinds[1:], kinds[2:], strict=False)):
        return False  # a sign between two letters
    return not any(before.islower() and c.isupper() and ord(c) > 127 for before, c in pairwise(word))
