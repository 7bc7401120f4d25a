"""Rows of vector and point pictures: two components across and up, one panel each for reference and private loadings.

Each row has a ``role``, and each layer of the specification draws the rows of one role. Everything that moves is in the
rows and in a few signals, so that a live view never replaces the specification.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from dppca_nb.charts import theme
from dppca_nb.charts.labels import Tip, place_labels
from dppca_nb.charts.picture import LoadingPicture
from dppca_nb.charts.plane_spec import NOTE, SIDE
from dppca_nb.charts.spread import WIDE, cloud_fields, ellipse_fields
from dppca_nb.charts.text import SAFE_FONT, text_width

LADDER = (0.25, 0.32, 0.4, 0.5, 0.62, 0.78, 0.92, 1.12)  # half-widths of the panel
OVERHANG = 22  # pixels that a label may run into the gutter on the right


def zoom(picture: LoadingPicture, current: float | None = None, moving: bool = False) -> float:
    """Choose the half-width of the panels: up at once, down only when far too wide and nothing is being dragged."""
    reach = np.abs(picture.private).max(initial=0.0)
    if picture.nonprivate is not None:
        reach = max(reach, np.abs(picture.nonprivate).max(initial=0.0))
    need = next((step for step in LADDER if step >= reach * 1.14), LADDER[-1])
    if current is None or need > current or (not moving and need < 0.7 * current):
        return need
    return current


@dataclass
class _Panel:
    """Pixels, taken places and rows of one panel."""

    number: int
    side: float
    half: float
    rows: list[dict] = field(default_factory=list)
    blocks: list[tuple[float, float, float, float]] = field(default_factory=list)

    def put(self, role: str, x: float, y: float, **more: object) -> None:
        """Add a row at data coordinates."""
        self.rows.append({"panel": self.number, "role": role, "x": _round(x), "y": _round(y), **more})

    def px(self, x: float) -> float:
        """Pixels from the left."""
        return self.side / 2 * (1 + x / self.half)

    def py(self, y: float) -> float:
        """Pixels from the top."""
        return self.side / 2 * (1 - y / self.half)

    def x(self, px: float) -> float:
        """Data coordinate of pixels from the left."""
        return (2 * px / self.side - 1) * self.half

    def y(self, py: float) -> float:
        """Data coordinate of pixels from the top."""
        return (1 - 2 * py / self.side) * self.half

    def note(self, text: str, corner: str, line: int, font: float, warn: bool = False) -> None:
        """Write a note into a corner and keep labels off it."""
        width = text_width(text, NOTE, font) + 6
        left, top = corner.endswith("left"), corner.startswith("top")
        middle = 10 + 14 * line if top else self.side - 10 - 14 * line
        at = self.x(4 if left else self.side - 3)
        self.put("note", at, self.y(middle), text=text, align="left" if left else "right", warn=warn)
        x0 = 0 if left else self.side - width
        self.blocks.append((x0, middle - 8, x0 + width, middle + 8))


def _round(value: float) -> float:
    """Round a coordinate to a fraction of a pixel."""
    return round(float(value), 4) + 0.0


def plane_rows(
    picture: LoadingPicture,
    *,
    side: float = SIDE,
    half: float,
    font: float = SAFE_FONT,
    previous: Mapping[int, Mapping[int, int]] | None = None,
) -> tuple[list[dict], dict[int, dict[int, int]]]:
    """Rows of a vector or point picture, and the slots of its labels by panel for the next one."""
    rows, slots = [], {}
    for number in picture.panels:
        panel = _Panel(number, side, half)
        _guides(panel, picture, font)
        slots[number] = _variables(panel, picture, font, (previous or {}).get(number, {}))
        rows += panel.rows
    return rows, slots


def _guides(panel: _Panel, picture: LoadingPicture, font: float) -> None:
    """Rings, zero lines, and what is said about them."""
    half = panel.half
    if picture.subject.watermark:
        panel.put("watermark", 0, 0, text=picture.subject.watermark)
    for radius in (0.5, 1) if half > 0.8 else (0.2, 0.4, 0.6, 1) if half > 0.4 else (0.1, 0.2, 0.3, 0.4, 1):
        panel.put("ring", 0, 0, r=radius)
    loose = panel.number == 1 and picture.axes.loose
    panel.put("axis", -half, 0, x2=half, y2=0, dash=loose)
    panel.put("axis", 0, -half, x2=0, y2=half, dash=loose)
    notes = []
    if loose:
        turn = picture.axes.turn
        _arcs(panel, min(turn, 42.0))
        notes.append(("axes may point anywhere" if turn > 43.5 else f"axes free to turn ±{turn:.0f}°", True))
    if half < 0.72:
        notes.append(("unit circle lies outside", False))
    room = panel.side - 10 - text_width("99 more not labelled", NOTE, font)
    lift = int(picture.labels and any(text_width(text, NOTE, font) > room for text, _ in notes))
    for line, (text, warn) in enumerate(notes):
        panel.note(text, "bottom right", line + lift, font, warn)
    if panel.number == 1 and picture.reference == "underneath":
        panel.note(f"planes {picture.plane_angle:.1f}° apart", "top right", 0, font)
    ellipses = picture.ellipses if panel.number == 1 and picture.uncertainty == "ellipses" else []
    if max((found.long for found in ellipses), default=0) > WIDE * half:
        panel.note("wide ones as points", "bottom left", 1, font)
    # the place of "n more not labelled" is taken before it is known whether it is needed
    panel.blocks.append((0, panel.side - 18, text_width("99 more not labelled", NOTE, font) + 8, panel.side))


def _arcs(panel: _Panel, turn: float) -> None:
    """Two arcs on the rim: the axes may lie anywhere along them."""
    radius, reach = panel.half * 0.95, math.radians(turn)
    for name, base in (("across", 0.0), ("up", math.pi / 2)):
        (x0, y0), (x1, y1) = ((math.cos(at), -math.sin(at)) for at in (base - reach, base + reach))
        path = f"M{x0:.4f},{y0:.4f}A1,1 0 0 0 {x1:.4f},{y1:.4f}"  # the outline of a symbol 2 units wide
        panel.put("arc", 0, 0, arc=name, radius=_round(radius), path=path)
        for step in range(0, 25, 2):  # gaps between these are smaller than any label
            at = base - reach + 2 * reach * step / 24
            x, y = panel.px(radius * math.cos(at)), panel.py(radius * math.sin(at))
            panel.blocks.append((x - 5, y - 5, x + 5, y + 5))
        for end in (-1, 1):
            at = base + end * reach
            angle = -math.degrees(at + end * math.pi / 2)
            panel.put("archead", radius * math.cos(at), radius * math.sin(at), angle=round(angle, 2) + 0.0)


def _variables(panel: _Panel, picture: LoadingPicture, font: float, previous: Mapping[int, int]) -> dict[int, int]:
    """Arrows or points, their labels, and the targets for the pointer."""
    values = picture.private if panel.number == 1 else picture.nonprivate
    lengths = np.round(np.hypot(values[:, 0], values[:, 1]), 4)
    tips = [
        Tip(j, text, round(panel.px(x), 2), round(panel.py(y), 2), length)
        for j, text, (x, y), length in zip(picture.shown, picture.texts, values.tolist(), lengths.tolist(), strict=True)
    ]
    under = picture.nonprivate if panel.number == 1 and picture.reference == "underneath" else None
    labels = _labels(panel, picture, tips, under, font, previous)
    skipped = len(tips) - len(labels)
    if picture.labels and skipped:
        panel.note(f"{skipped} more not labelled", "bottom left", 0, font)
    if panel.number == 1 and picture.spread is not None:
        _spread(panel, picture, labels)
    side = "private" if panel.number == 1 else "reference"
    for row, (tip, name) in enumerate(zip(tips, picture.names, strict=True)):
        x, y = float(values[row, 0]), float(values[row, 1])
        on = tip.id in labels or not picture.labels
        if under is not None:
            ux, uy = float(under[row, 0]), float(under[row, 1])
            panel.put(f"under-{picture.kind}", ux, uy, variable=name, op=0.9 if on else 0.35)
            if on:
                panel.put("link", ux, uy, variable=name, x2=x, y2=y)
        panel.put(f"{side}-{picture.kind}", x, y, variable=name, op=1 if on and tip.id not in picture.pale else 0.38)
        _write(panel, tip, name, labels.get(tip.id), font)
        panel.put("hit", x, y, variable=name, tip=_said(picture, panel.number, row, (x, y)), length=tip.length)
    panel.put("pad", panel.x(panel.side + OVERHANG), 0)
    return {key: label.slot for key, label in labels.items()}


def _spread(panel: _Panel, picture: LoadingPicture, labels: Mapping[int, object]) -> None:
    """Redraws of the noise: for each variable an ellipse, or a cloud if that is asked for or the ellipse is wide."""
    for row, found in enumerate(picture.ellipses):
        name = picture.names[row]
        shown = picture.shown[row] in labels or not picture.labels
        if picture.uncertainty == "cloud" or found.long > WIDE * panel.half:
            panel.put("cloud", 0, 0, variable=name, **cloud_fields(picture.redraws[:, row], shown))
        else:
            panel.put("ellipse", found.x, found.y, variable=name, **ellipse_fields(found, shown))


def _said(picture: LoadingPicture, panel: int, row: int, values: tuple[float, float]) -> str:
    """Both loadings of a variable in full, with the intervals of the redraws where these are drawn."""
    texts = [theme.number(value, 4) for value in values]
    if picture.spread is not None and panel == 1:
        low, high = ([theme.number(float(end[row, column])) for column in (0, 1)] for end in picture.bounds)
        texts = [f"{text} ({a} to {b})" for text, a, b in zip(texts, low, high, strict=True)]
    return ", ".join(texts)


def _labels(panel, picture, tips, under, font, previous):
    """Place the labels of the longest variables that clear the crowd at the origin."""
    if not picture.labels:
        return {}
    most = max(5, min(16, int(panel.side // 26)))
    longest = {tip.id for tip in sorted(tips, key=lambda tip: (-tip.length, tip.id))[:most]}
    # both panels label the same variables: those that are longest on the private side
    chosen = set(picture.shown[:most]) if picture.reference == "beside" else longest
    wanted = [tip for tip in tips if tip.id in chosen and tip.length > 0.075 * panel.half]
    lit = {tip.id for tip in wanted}
    crowd = [tip._replace(dim=tip.id not in lit) for tip in tips]
    if under is not None:
        crowd += [
            Tip(-1 - tip.id, "", round(panel.px(x), 2), round(panel.py(y), 2), 1.0, picture.kind == "vector")
            for tip, (x, y) in zip(tips, under, strict=True)
        ]
    return place_labels(
        wanted,
        side=panel.side,
        everything=crowd,
        shafts=picture.kind == "vector",
        blocks=[tuple(round(edge, 2) for edge in block) for block in panel.blocks],
        overhang=OVERHANG,
        previous=previous,
        font=font,
    )


def _write(panel, tip, name, label, font):
    """Write a placed label with its leader, or a hidden one that shows when the variable is lit."""
    if label is not None:
        if label.leader:
            *start, end_x, end_y = label.leader
            x2, y2 = _round(panel.x(end_x)), _round(panel.y(end_y))
            panel.put("leader", panel.x(start[0]), panel.y(start[1]), x2=x2, y2=y2, variable=name)
        x = {"left": label.x0 + 1, "right": label.x1 - 1, "center": (label.x0 + label.x1) / 2}[label.align]
        y, align, visible = (label.y0 + label.y1) / 2, label.align, True
    else:
        reach = text_width(tip.text, 12, font) / 2
        x = max(reach, min(panel.side + 20 - reach, tip.x))
        y, align, visible = tip.y + (-13 if tip.y <= panel.side / 2 else 13), "center", False
    panel.put("label", panel.x(x), panel.y(y), variable=name, text=tip.text, align=align, vis=visible)
