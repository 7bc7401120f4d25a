"""Names and their widths: what can be drawn, how short, and how wide it will be, without measuring a font.

Widths come from a table of advance widths that is safe for the usual sans-serif faces; a browser with a wider font
raises ``font`` once.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

# Advance widths of a plain sans-serif face, in thousandths of an em.
_CLASSES = {
    "iljI|.,:;'!": 270,
    "ftr()[]-/ ": 345,
    "ckszvxyJ": 530,
    "abdeghnopqu0123456789": 590,
    "ABEFKLPSTVXYZ": 670,
    "CDGHNOQRU&": 740,
    "mM": 880,
    "wW%": 900,
    "@—…": 1000,
}
_ADVANCE = {char: width for chars, width in _CLASSES.items() for char in chars}
SAFE_FONT = 1.1  # covers Helvetica, Arial, Segoe UI, Inter and San Francisco


@lru_cache(maxsize=4096)
def _ems(text: str) -> float:
    """Advance width in ems; wide scripts take a whole em, combining marks none."""
    total = 0
    for char in text:
        known = _ADVANCE.get(char)
        if known is None:
            known = 0 if unicodedata.combining(char) else 1050 if unicodedata.east_asian_width(char) in "WF" else 640
        total += known
    return total / 1000


def text_width(text: str, px: float, font: float = SAFE_FONT) -> float:
    """Bound the width of ``text`` in pixels at ``px`` pixels a em."""
    return font * px * _ems(text) + 2


def short_names(names: Sequence[str], limit: int = 26) -> list[str]:
    r"""Names for a picture: one line each, cut in the middle where long, and still all different.

    >>> short_names(["blood\npressure", "mean_arterial_pressure_ward_A", "mean_arterial_pressure_ward_B"], 16)
    ['blood pressure', 'mean_ar…e_ward_A', 'mean_ar…e_ward_B']
    """
    return list(_short_names(tuple(names), limit))


@lru_cache(maxsize=16)
def _short_names(names: tuple[str, ...], limit: int) -> tuple[str, ...]:
    """Shorten; cached, because a table's names stay while its picture moves."""
    used: set[str] = set()
    result = []
    for name in names:
        line = re.sub(r"\s+", " ", drawable(name)).strip() or "(blank)"
        width, text, serial = limit, line, 2
        if len(line) > limit:
            text = _cut(line, width)
        while text in used and width < len(line):  # show more of it until it differs
            width += 4
            text = line if width >= len(line) else _cut(line, width)
        base = text
        while text in used:
            text, serial = f"{base} ({serial})", serial + 1
        used.add(text)
        result.append(text)
    return tuple(result)


# What XML 1.0 and UTF-8 cannot hold: a renderer may end the whole process over one of them.
_UNDRAWABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def drawable(text: str) -> str:
    r"""Replace characters that no picture can hold by a visible mark; all others stay.

    >>> drawable("a\x1b[31m"), drawable("mass [kg]")
    ('a�[31m', 'mass [kg]')
    """
    return _UNDRAWABLE.sub("\ufffd", text)


@lru_cache(maxsize=16)
def drawable_names(names: tuple[str, ...]) -> tuple[str, ...]:
    """Make names drawable and keep them different; nearly always they already are."""
    used: set[str] = set()
    result = []
    for name in map(drawable, names):
        text, serial = name, 2
        while text in used:
            text, serial = f"{name} ({serial})", serial + 1
        used.add(text)
        result.append(text)
    return tuple(result)


def _cut(line: str, width: int) -> str:
    """Keep both ends: names of one table tend to differ there."""
    tail = width // 2
    return line[: width - tail - 1] + "…" + line[-tail:]


def filled(parts: list[str], between: str, width: float) -> list[str]:
    """Join parts into lines of at most `width` pixels; what is longer alone is broken at its spaces."""
    lines: list[str] = []
    for part in parts:
        longer = f"{lines[-1]}{between}{part}" if lines else part
        if lines and text_width(longer, 11) <= width:
            lines[-1] = longer
        elif text_width(part, 11) > width and " " in part:
            lines += filled(part.split(), " ", width)
        else:
            lines.append(part)
    return lines
