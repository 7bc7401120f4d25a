"""Palette, sizes and number formats: every colour and every digit of a picture is decided here."""

from __future__ import annotations

import math
import re
from decimal import Decimal

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"

# Okabe-Ito blue and vermilion; every text colour has contrast >= 5 on the background, every mark >= 3.9.
# The widget replaces these by what the page around it uses, so the names are the signals of each specification.
LIGHT = {
    "ink": "#1a1a1a",
    "muted": "#5f6368",
    "faint": "#d0d0d0",
    "bg": "#ffffff",
    "ring": "#e4e4e4",
    "ring1": "#bdbdbd",
    "axisc": "#cfcfcf",
    "blue": "#0072B2",
    "grey": "#5c5f63",
    "warntext": "#a84a00",
    "orange": "#D55E00",
    "heatlow": "#D55E00",
    "heatmid": "#ffffff",
    "heathigh": "#0072B2",
}

CONFIG = {
    "background": "#ffffff",
    "font": FONT,
    "view": {"stroke": None},
    "title": {
        "anchor": "start",
        "fontSize": 14,
        "fontWeight": 600,
        "frame": "group",
        "subtitleFontSize": 11,
        "subtitleFontWeight": 400,
        "subtitlePadding": 5,
        "subtitleLineHeight": 15,
    },
    "axis": {
        "labelFontSize": 10,
        "titleFontSize": 11,
        "titleFontWeight": 500,
        "domain": False,
        "tickSize": 4,
        "grid": False,
        "labelPadding": 3,
    },
}

SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


_NORMAL = {value: key for key, value in SUPERSCRIPT.items()}


def plain_powers(text: str) -> str:
    """Write 10⁻⁶ as 1e-6, for pictures drawn without a browser: few fonts have the raised digits.

    >>> plain_powers("δ 10⁻⁶, σ 2 · 10⁻⁵")
    'δ 1e-6, σ 2e-5'
    """
    return re.sub(r"(?:([\d.]+) · )?10([⁻⁰¹²³⁴-⁹]+)", lambda m: f"{m[1] or 1}e{m[2].translate(_NORMAL)}", text)


def minus(text: str) -> str:
    """Typeset a number's sign: a true minus, and no sign on a zero."""
    if text.startswith("-") and not text.strip("-0."):
        return text[1:]
    return text.replace("-", "−")


def number(value: float, digits: int = 2) -> str:
    """Fix the number of decimals: ``-0.004`` reads ``0.00``."""
    return minus(f"{value:.{digits}f}")


def significant(value: float, digits: int = 2) -> str:
    """Keep two significant digits, never in exponent form between 1e-6 and 1e6."""
    if value == 0 or not math.isfinite(value):
        return minus(f"{value:g}")
    places = digits - 1 - math.floor(math.log10(abs(value)))
    if places > 8 or places < -6:
        base, exponent = f"{value:.{digits - 1}e}".split("e")
        return minus(base) + " · 10" + str(int(exponent)).translate(SUPERSCRIPT)
    return minus(f"{value:.{max(places, 0)}f}")


def epsilon(value: float) -> str:
    """Write a stated epsilon the way people quote it, 0.05, 0.50, 1.0, 10, and never as another budget."""
    least = 2 if value < 0.995 else 1 if value < 9.95 else 0
    for places in range(least, 13):
        if math.isclose(value, round(value, places), rel_tol=1e-9):
            return f"{value:,.{places}f}"
    return _scientific(value)


def exact_epsilon(value: float) -> str:
    """Write a computed epsilon with two or three significant digits."""
    return significant(value, 2 if value < 1 else 3)


def delta(value: float) -> str:
    """Write a delta as a power of ten, with every digit it has.

    >>> delta(1e-6), delta(1.25e-5)
    ('10⁻⁶', '1.25 · 10⁻⁵')
    """
    return _scientific(value).removeprefix("1 · ")


def _scientific(value: float) -> str:
    """Write every digit of the shortest decimal that reads back as the value."""
    _, figures, exponent = Decimal(repr(float(value))).normalize().as_tuple()
    lead = "".join(map(str, figures))
    power = str(exponent + len(lead) - 1).translate(SUPERSCRIPT)
    return f"{lead[0]}{'.' * (len(lead) > 1)}{lead[1:]} · 10{power}"


def count(value: int) -> str:
    """Group thousands."""
    return f"{value:,}"
