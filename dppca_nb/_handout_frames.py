"""Lay out an explorer: walk its settings, take its own frames, and keep a still picture of each kind."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from xml.dom import minidom

import altair as alt

from dppca_nb._handout_book import Axis, Book
from dppca_nb.charts import theme
from dppca_nb.charts.drawn import own_settings
from dppca_nb.core.release import LoadingRelease
from dppca_nb.table import DataError
from dppca_nb.widgets.frame import EPSILONS
from dppca_nb.widgets.gini import GiniExplorer
from dppca_nb.widgets.gini_frame import NUS
from dppca_nb.widgets.loading import LoadingExplorer
from dppca_nb.widgets.view import LiveView
from dppca_nb.widgets.words import plain

# Panels that labels are placed for, in pixels, and the width of their font. A page shows each wider, too.
LAYOUTS = ("236|1.10", "320|1.10")
KINDS = {"vector": "Vectors", "point": "Points", "heatmap": "Heatmap"}
GINI_KINDS = {
    "scores": "Projection", "vector": "Loadings", "circle": "Circle", "contributions": "Contributions",
    "shares": "Shares", "correlations": "Correlations",
}  # fmt: skip
GINI_COMPONENTS = 3
DOTS = 100  # observations up to which pictures of observations are laid out: each is one frame per step and pair
CELLS = 60  # variables up to which Gini correlations are laid out
INNER = ("show_reference", "uncertainty")


@dataclass(frozen=True)
class Still:
    """A picture that needs no script: for print, and for readers without JavaScript."""

    kind: str
    name: str
    svg: str
    description: str
    said: tuple[str, ...]


@dataclass(frozen=True)
class LaidOut:
    """An explorer as a page can hold it."""

    view: str
    name: str
    banner: str
    text: str  # of the book
    stills: tuple[Still, ...]


def levels_of(steps: Sequence[float], wanted: int, start: float) -> tuple[tuple[float, ...], int]:
    """Choose that many of the steps, evenly and with both ends, and the one nearest to where to start."""
    last = len(steps) - 1
    chosen = [steps[round(i * last / (wanted - 1))] for i in range(wanted)] if wanted <= last else steps
    chosen = tuple(map(float, chosen))
    return chosen, min(range(len(chosen)), key=lambda i: abs(chosen[i] - start))


def pairs_of(components: int, p: int) -> tuple[tuple[int, int], ...]:
    """All pairs of the first components."""
    return tuple(combinations(range(1, min(components, p) + 1), 2))


def loading_axes(explorer: LoadingExplorer, levels: int, components: int, settings: dict) -> list[Axis]:
    """What readers of a page of private loadings may change."""
    lower = explorer._frame["controls"].get("lower")
    if lower is None:
        level = Axis("epsilon", *levels_of(EPSILONS, levels, 0.5))
    else:
        smaller = tuple(sorted(step for step, _ in lower))
        if len(smaller) >= levels:
            smaller, _ = levels_of(smaller, levels - 1, 0) if levels > 2 else (smaller[-1:], 0)
        level = Axis("noise_shown", (*smaller, None), len(smaller))
    pairs = pairs_of(components, explorer._frame["controls"]["p"])
    return [
        level,
        Axis("components", pairs),
        Axis("kind", tuple(KINDS)),
        *(Axis(name, settings[name]) for name in INNER),
    ]


def gini_axes(explorer: GiniExplorer, levels: int, components: int, references: tuple[str, ...]) -> list[Axis]:
    """What readers of a page of Gini components may change."""
    controls = explorer._frame["controls"]
    many = {"scores", "contributions"} if controls["n"] > DOTS else set()
    many |= {"correlations"} if controls["p"] > CELLS else set()
    return [
        Axis("nu", *levels_of(NUS, levels, 2)),
        Axis("components", pairs_of(min(components, GINI_COMPONENTS), controls["k"])),
        Axis("kind", tuple(kind for kind in GINI_KINDS if kind not in many)),
        Axis("show_reference", references),
    ]


def size(axes: list[Axis]) -> int:
    """Number of frames of a page."""
    return math.prod(len(axis.values) for axis in axes)


def refuse_empty(explorer: LiveView) -> None:
    """Refuse data of which there is nothing to draw, in the words of the explorer."""
    if "empty" in explorer._frame:
        raise DataError(plain(" ".join(explorer._frame["empty"])))


def lay_out(explorer: LiveView, axes: list[Axis], said: Callable[[], None]) -> LaidOut:
    """Take the frame of every combination; ``said`` is called after each."""
    explorer._layouts = list(LAYOUTS)
    book, outer, inner = Book(axes), axes[1:3], axes[3:]
    steps = list(range(len(axes[0].values)))
    for turn, where in enumerate(product(*(range(len(axis.values)) for axis in outer))):
        # Up and down in turn: signs follow the picture before, and so every kind and pair meets the same ones.
        for step in steps if turn % 2 == 0 else reversed(steps):
            for rest in product(*(range(len(axis.values)) for axis in inner)):
                place = (step, *where, *rest)
                book.add(place, _frame(explorer, axes, place))
                said()
    start = tuple(axis.start for axis in axes)
    frame = _frame(explorer, axes, start)
    stills = tuple(_still(explorer, axes, start, at) for at in range(len(axes[2].values)))
    specs = {name: {**spec, "usermeta": {"embedOptions": {"ast": True}}} for name, spec in explorer._specs.items()}
    view = "loading" if isinstance(explorer, LoadingExplorer) else "gini"
    text = book.text(view=view, specs=specs)
    return LaidOut(view, explorer.title, frame["banner"], text, stills)


def _set(explorer: LiveView, axes: list[Axis], place: tuple) -> None:
    """Put the settings where a place says, all at once."""
    with explorer.hold_trait_notifications():
        for axis, at in zip(axes, place, strict=True):
            setattr(explorer, axis.name, axis.values[at])


def _frame(explorer: LiveView, axes: list[Axis], place: tuple) -> dict:
    """Take a frame, with the steps that the page has."""
    _set(explorer, axes, place)
    frame = dict(explorer._frame)
    if "error" in frame:
        raise DataError(f"A page cannot be laid out. {plain(frame['error'])}")
    frame["controls"] = {**frame["controls"], **_steps(explorer, axes[0])}
    frame["slow"] = False  # whatever it took here
    return frame


def _steps(explorer: LiveView, level: Axis) -> dict:
    """Steps of the slider, as the page has them."""
    if level.name == "epsilon":
        return {"steps": [{"value": value, "text": theme.epsilon(value)} for value in level.values]}
    if level.name == "nu":
        return {"nus": [{"value": value, "text": f"{value:g}"} for value in level.values]}
    value = explorer._mode.released.guarantee.exact_epsilon
    return {"released": {"value": value, "text": theme.exact_epsilon(value)}}


def _still(explorer: LiveView, axes: list[Axis], start: tuple, kind: int) -> Still:
    """Draw one kind as it stands at the start."""
    place = (*start[:2], kind, *start[3:])
    frame = _frame(explorer, axes, place)
    statement = frame["statement"]
    parts = [frame["status"], f"{statement['name']}: {statement['text']}", *statement["reasons"]]
    names = KINDS if axes[0].name != "nu" else GINI_KINDS
    kind = axes[2].values[kind]
    return Still(kind, names[kind], svg(explorer.chart), frame["description"], tuple(parts))


def svg(chart: alt.TopLevelMixin) -> str:
    """Draw a chart as SVG, offline."""
    import vl_convert  # here: it starts a JavaScript engine

    with own_settings():
        spec = chart.to_dict(validate=False)  # that takes a second, and the tests of the charts have done it
    version = ".".join(alt.SCHEMA_VERSION.lstrip("v").split(".")[:2])
    return slim(vl_convert.vegalite_to_svg(spec, vl_version=version))


def slim(drawing: str) -> str:
    """Leave out of an SVG what no picture shows, and name its parts by their order, not by what was drawn before."""
    document, ids = minidom.parseString(drawing), {}
    for node in document.getElementsByTagName("*"):
        if node.hasAttribute("id"):
            name = ids.setdefault(f"url(#{node.getAttribute('id')})", f"i{len(ids)}")
            node.setAttribute("id", name)
    for node in document.getElementsByTagName("*"):
        for name, value in list(node.attributes.items()):
            if name.startswith(("aria-", "role", "class")):
                node.removeAttribute(name)
            elif value in ids:
                node.setAttribute(name, f"url(#{ids[value]})")
            elif name in ("d", "transform", "x", "y", "x1", "y1", "x2", "y2", "width", "height"):
                node.setAttribute(name, re.sub(r"-?\d+\.\d{3,}", lambda found: f"{float(found[0]):.2f}", value))
    return document.documentElement.toxml()


def explorer_of(data: object, **made: object) -> LoadingExplorer:
    """Make the explorer of the page."""
    if isinstance(data, LoadingRelease):
        made = {name: value for name, value in made.items() if name in ("title", "variables")}
    return LoadingExplorer(data, **made)
