"""Label placement, since Vega-Lite has none: deterministic, and no two labels overlap.

Every candidate place of every label is priced at once with numpy; a greedy pass, longest
arrow first, and a few improvement sweeps then choose among them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from dppca_nb.charts.text import SAFE_FONT, text_width

_DISTANCE = np.array([4, 10, 17, 26, 37, 50, 65, 82], float)
_TURN = np.radians([0, 15, -15, 30, -30, 48, -48, 68, -68, 90, -90, 115, -115, 145, -145])
_GAP = np.repeat(_DISTANCE, _TURN.size)
_ANGLE = np.tile(_TURN, _DISTANCE.size)
_LEADER_GAP = 9.0  # farther than this from its tip, a label needs a line to it
_TOO_DEAR = 11.0  # better no label than a muddle
_PROMISING = 48  # candidates of one label that are looked at closely
_SHORTLIST = 20  # candidates of one label that are tried against the others, cheapest first


class Tip(NamedTuple):
    """A variable's end point in pixels; ``dim`` marks one that is drawn but not labelled."""

    id: int
    text: str
    x: float
    y: float
    length: float
    dim: bool = False


class Label(NamedTuple):
    """A placed label: its box in pixels, how its text is aligned, the end of its leader, and its slot."""

    x0: float
    y0: float
    x1: float
    y1: float
    align: str
    leader: tuple[float, float, float, float] | None
    slot: int


def place_labels(
    wanted: Sequence[Tip],
    *,
    side: float,
    everything: Sequence[Tip],
    shafts: bool,
    blocks: Sequence[tuple[float, float, float, float]] = (),
    overhang: float = 0.0,
    previous: Mapping[int, int] | None = None,
    font: float = SAFE_FONT,
    px: float = 11.0,
) -> dict[int, Label]:
    """Place as many of the wanted labels as fit without any two of them touching.

    Parameters
    ----------
    wanted : sequence of Tip
        The variables to label, in pixels of a square panel whose origin lies at its centre.
    side : float
        Side of the panel in pixels.
    everything : sequence of Tip
        All tips drawn, which labels should not cover.
    shafts : bool
        Whether arrows run from the centre to each tip.
    blocks : sequence of (x0, y0, x1, y1)
        Places that are taken, such as notes.
    overhang : float
        How far a label may run out of the panel on the right.
    previous : mapping of id to slot, optional
        The last picture's slots; keeping one is a little cheaper, so labels do not jump while a slider moves.
    font, px : float
        Width factor and size of the text.

    Returns
    -------
    dict of id to Label
        Variables that found no good place are absent.
    """
    order = sorted(wanted, key=lambda tip: (-tip.length, tip.id))
    if not order:
        return {}
    slots = tuple(sorted((previous or {}).items()))
    crowd = tuple(sorted(everything, key=lambda tip: tip.id))
    return dict(_place(tuple(order), crowd, tuple(blocks), slots, side, shafts, overhang, font, px))


@lru_cache(maxsize=64)
def _place(order, everything, blocks, previous, side, shafts, overhang, font, px):
    """Place labels; cached, because one panel often stays while the other moves."""
    options = _price(order, side, everything, shafts, blocks, overhang, dict(previous), font, px)
    placed: dict[int, Label] = {}
    for tip in order:
        _choose(tip, options[tip.id], placed)
    for _ in range(4):  # improvement: each label in turn against all the others
        moved = False
        for tip in order:
            before = placed.pop(tip.id, None)
            _choose(tip, options[tip.id], placed)
            after = placed.get(tip.id)
            moved |= (before and before.slot) != (after and after.slot)
        if not moved:
            break
    return placed


def _choose(tip: Tip, candidates: list[tuple], placed: dict[int, Label]) -> None:
    """Give one label its cheapest place beside those already placed, if any is good enough."""
    best, best_cost = None, _TOO_DEAR
    for own, x0, y0, x1, y1, slot, cos, far, near_x, near_y in candidates:
        if own >= best_cost:
            break
        align = "left" if cos > 0.35 else "right" if cos < -0.35 else "center"
        leader = (tip.x, tip.y, near_x, near_y) if far else None
        box, cost = Label(x0, y0, x1, y1, align, leader, slot), own
        for other in placed.values():
            if x0 - 1 < other.x1 and x1 + 1 > other.x0 and y0 - 1 < other.y1 and y1 + 1 > other.y0:
                break
            if leader and _inside(leader, other):
                cost += 6
            if other.leader and _inside(other.leader, box):
                cost += 6
            if leader and other.leader and _cross(leader, other.leader):
                cost += 4
        else:
            if cost < best_cost:
                best, best_cost = box, cost
    if best is not None:
        placed[tip.id] = best


def _price(order, side, everything, shafts, blocks, overhang, previous, font, px):
    """Price each candidate by what does not depend on other labels; cheapest first, ties by slot."""
    centre, height = side / 2, px + 3
    tip_x, tip_y = (np.array([[getattr(tip, axis)] for tip in order]) for axis in "xy")
    width = np.array([[text_width(tip.text, px, font)] for tip in order])
    angle = np.arctan2(tip_y - centre, tip_x - centre) + _ANGLE
    cos, sin = np.cos(angle), np.sin(angle)
    mid_x = tip_x + _GAP * cos + np.clip(1.7 * cos, -1, 1) * width / 2
    mid_y = tip_y + _GAP * sin + np.clip(1.7 * sin, -1, 1) * height / 2
    box = (mid_x - width / 2, mid_y - height / 2, mid_x + width / 2, mid_y + height / 2)
    x0, y0, x1, y1 = box
    near_x, near_y = np.clip(tip_x, x0, x1), np.clip(tip_y, y0 + 2, y1 - 2)
    leader = np.hypot(near_x - tip_x, near_y - tip_y) > _LEADER_GAP

    cost = 0.07 * (_GAP - 4) + 0.8 * (_ANGLE / np.radians(60)) ** 2 + 0.7 * leader
    for row, tip in enumerate(order):
        if tip.id in previous:
            cost[row, previous[tip.id]] -= 0.9
    cost[(x0 < 1) | (x1 > side + overhang) | (y0 < 1) | (y1 > side - 1)] = np.inf
    if len(blocks):
        bx0, by0, bx1, by1 = np.asarray(blocks, float).T
        x0_, y0_, x1_, y1_ = (edge[..., None] for edge in box)
        taken = (x0_ - 2 < bx1) & (x1_ + 2 > bx0) & (y0_ - 2 < by1) & (y1_ + 2 > by0)
        cost[taken.any(-1)] = np.inf

    # Only what is near its tip and free is looked at closely; the rest is dear whatever lies under it.
    rows = np.arange(len(order))[:, None]
    slots = np.argsort(np.round(cost, 6), axis=-1, kind="stable")[:, :_PROMISING]
    cost, cos, leader, near_x, near_y, *box = (a[rows, slots] for a in (cost, cos, leader, near_x, near_y, *box))
    cost += _price_marks(order, everything, box, (tip_x, tip_y, near_x, near_y), leader, centre, shafts)

    best = np.lexsort((slots, np.round(cost, 6)), axis=-1)[:, :_SHORTLIST]
    columns = [a[rows, best].tolist() for a in (cost, *box, slots, cos, leader, near_x, near_y)]
    return {tip.id: list(zip(*found, strict=True)) for tip, *found in zip(order, *columns, strict=True)}


def _price_marks(order, everything, box, lead, leader, centre, shafts):
    """Price of covering tips, of lying on or leading across shafts, and of lying on the zero lines."""
    x0, y0, x1, y1 = (edge[..., None] for edge in box)
    qx, qy, size = (np.array([getattr(tip, name) for tip in everything]) for name in ("x", "y", "length"))
    dim = np.array([tip.dim for tip in everything])
    ids = np.array([tip.id for tip in everything])
    other = ids != np.array([[[tip.id]] for tip in order])
    length = np.array([[[tip.length]] for tip in order])
    reach = 5.0
    covers = (qx > x0 - reach) & (qx < x1 + reach) & (qy > y0 - reach) & (qy < y1 + reach) & other
    cost = np.sum(covers * np.where(size < 0.12 * length, 1.0, np.where(dim, 2.5, 8.0)), axis=-1)
    shaft_x, shaft_y = (qx, qy) if shafts else (qx[:0], qy[:0])
    # shafts from the centre; the zero lines are four more
    end_x = np.concatenate([shaft_x, [2 * centre, 0, centre, centre]])
    end_y = np.concatenate([shaft_y, [centre, centre, 2 * centre, 0]])
    run = _run((centre, centre), (end_x, end_y), (x0, y0, x1, y1))
    cost += 0.03 * np.sum(run[..., len(shaft_x) :], axis=-1)
    if shafts:
        run = run[..., : len(shaft_x)]
        fixed, each = np.where(dim, 0.5, 1.8), np.where(dim, 0.02, 0.05)
        priced = np.where(other, fixed + each * run, 2.2 + 0.1 * run)
        cost += np.sum(np.where(run > 0, priced, 0.0), axis=-1)
        tip_x, tip_y, near_x, near_y = (a[..., None] for a in lead)
        crossing = _crossing(tip_x, tip_y, near_x, near_y, centre, centre, qx, qy) & leader[..., None] & other
        cost += np.sum(crossing * np.where(dim, 0.6, 2.2), axis=-1)
    return cost


def _run(start, end, box):
    """Length of each segment inside each box (Liang-Barsky clipping), broadcast."""
    (ax, ay), (bx, by) = start, end
    x0, y0, x1, y1 = box
    dx, dy = np.subtract(bx, ax), np.subtract(by, ay)
    length = np.hypot(dx, dy)
    dx, dy = (np.where(np.abs(step) < 1e-9, 1e-9, step) for step in (dx, dy))  # upright or level, all but exactly
    enter_x, leave_x = (x0 - ax) / dx, (x1 - ax) / dx
    enter_y, leave_y = (y0 - ay) / dy, (y1 - ay) / dy
    low = np.maximum(np.minimum(enter_x, leave_x), np.minimum(enter_y, leave_y))
    high = np.minimum(np.maximum(enter_x, leave_x), np.maximum(enter_y, leave_y))
    return np.maximum(np.minimum(high, 1) - np.maximum(low, 0), 0) * length


def _crossing(ax, ay, bx, by, cx, cy, dx, dy):
    """Whether segments ab and cd cross, broadcast."""
    turn = lambda px, py, qx, qy, rx, ry: (ry - py) * (qx - px) > (qy - py) * (rx - px)  # noqa: E731 (local, one line)
    return (turn(ax, ay, cx, cy, dx, dy) != turn(bx, by, cx, cy, dx, dy)) & (
        turn(ax, ay, bx, by, cx, cy) != turn(ax, ay, bx, by, dx, dy)
    )


def _cross(p: tuple[float, float, float, float], q: tuple[float, float, float, float]) -> bool:
    """Whether two leaders cross."""
    return bool(_crossing(*p, *q))


def _inside(line: tuple[float, float, float, float], box: Label) -> bool:
    """Whether a leader runs through a box."""
    ax, ay, bx, by = line
    if max(ax, bx) < box.x0 or min(ax, bx) > box.x1 or max(ay, by) < box.y0 or min(ay, by) > box.y1:
        return False  # the cheap answer, and nearly always the one
    return float(_run((ax, ay), (bx, by), (box.x0, box.y0, box.x1, box.y1))) > 0
