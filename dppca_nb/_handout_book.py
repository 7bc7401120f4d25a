"""The frames of an explorer as one compressed text: what frames have in common is written once.

Line 1 is the index, the lines after it are JSON texts that frames are put together from. A page reads only the lines
that it needs. A row of a picture is a line, and so is every other part of a frame; a part that holds parts is opened
once. Most lines serve several frames: a budget has the same numbers as arrows and as points, and in every width. Lines
of one sort stand together, because they pack better among their like.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, product
from string import ascii_letters

TABLE = ("table", "rows")  # the part that is written by columns, each of which is a line
GRAIN = 20  # units of a cloud's coordinates that are kept: half a pixel of the largest panel


@dataclass(frozen=True)
class Axis:
    """A setting that readers may change, and its values; the first one is shown at the start."""

    name: str
    values: tuple
    start: int = 0


class Book:
    """Frames for every combination of some settings.

    Parameters
    ----------
    axes : sequence of Axis
        Frames are kept in the order of their product, the last axis fastest.
    """

    def __init__(self, axes: Sequence[Axis]):
        self.axes = tuple(axes)
        self._parts: dict[tuple[str, ...], dict[str, int]] = {}  # the lines of each part, with their numbers
        self._roles: dict[str, dict[str, int]] = {}  # the same for the rows of pictures, by what they draw
        self._named: dict[str, str] = {}
        self._frames: dict[tuple, dict[tuple[str, ...], int]] = {}

    def add(self, place: tuple, frame: dict) -> None:
        """Keep a frame under the positions of the values of the axes."""
        found = {}
        for name, part in frame.items():
            if name == "rows":
                found["rows",] = {layout: self._row_numbers(text) for layout, text in part.items()}
            elif isinstance(part, dict) and part:
                for inner, value in part.items():
                    if (name, inner) == TABLE:
                        columns = {column: None for row in value for column in row}
                        found |= {(*TABLE, column): [row.get(column) for row in value] for column in columns}
                    else:
                        found[name, inner] = value
            else:
                found[name,] = part
        self._frames[place] = {path: _number(self._parts, path, value) for path, value in found.items()}

    def text(self, **more: object) -> str:
        """Write everything: the index with what else the page should know, then the lines."""
        frames, before = [], dict.fromkeys(self._parts, -1)
        for place in product(*(range(len(axis.values)) for axis in self.axes)):
            frame = {path: self._frames[place].get(path, -1) for path in self._parts}
            frames.append([frame[path] - before[path] for path in self._parts])  # mostly 0, which packs well
            before = frame
        index = {
            "axes": [{"name": axis.name, "values": axis.values, "start": axis.start} for axis in self.axes],
            "parts": [[path, len(lines)] for path, lines in self._parts.items()],
            "roles": [len(lines) for lines in self._roles.values()],
            "frames": frames,
            **more,
        }
        return "\n".join([_json(index), *chain(*self._parts.values(), *self._roles.values())])

    def _row_numbers(self, text: str) -> str:
        """Name the lines of rows: a letter for the role, and how far the line is from the last one of it, if not 1."""
        if text in self._named:
            return self._named[text]
        said, before = [], {}
        for row in json.loads(text):
            role = row.get("role", "")
            number = _number(self._roles, role, _thinned(row) if "xs" in row else row)
            step = number - before.get(role, -1)
            before[role] = number
            said.append(f"{ascii_letters[list(self._roles).index(role)]}{'' if step == 1 else step}")
        self._named[text] = "".join(said)
        return self._named[text]


def _number(lines: dict, sort: object, value: object) -> int:
    """Number of a line among those of its sort, to which it is added if it is new."""
    known = lines.setdefault(sort, {})
    return known.setdefault(_json(value), len(known))


def _thinned(row: dict) -> dict:
    """Write a cloud short: on a coarser grid, from left to right, as steps; the order of points says nothing."""
    points = sorted((round(x / GRAIN), round(y / GRAIN)) for x, y in zip(row["xs"], row["ys"], strict=True))
    across = [x for x, _ in points]
    steps = [x - before for x, before in zip(across, [0, *across], strict=False)]
    return {**row, "xs": steps, "ys": [y for _, y in points], "grain": GRAIN}


# as short as it goes, on one line
_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode


def packed(text: str) -> str:
    """Compress a text into letters that mean nothing in HTML or JavaScript, the same at every run."""
    # surrogates, which a careless file may hold, have no UTF-8
    data = gzip.compress(text.encode("utf-8", "replace"), compresslevel=9, mtime=0)
    return base64.b64encode(data[:9] + b"\xff" + data[10:]).decode("ascii")  # byte 9 names the machine's system
