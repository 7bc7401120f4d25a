"""Parts of the loading explorer's frame that are plain data: its table, the state of its controls, its code."""

from __future__ import annotations

from collections.abc import Mapping

from dppca_nb.charts import theme
from dppca_nb.charts.choices import DIGITS
from dppca_nb.charts.picture import LoadingPicture
from dppca_nb.charts.text import SAFE_FONT
from dppca_nb.table import Table

# Round steps, nearly equal on a logarithmic scale: people can read and quote them.
EPSILONS = (
    0.05, 0.06, 0.07, 0.08, 0.1, 0.12, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.8,
    1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10,
)  # fmt: skip
STEPS = [{"value": value, "text": theme.epsilon(value)} for value in EPSILONS]
DELTAS = (1e-5, 1e-6, 1e-8)


def table(pair: LoadingPicture, half: float, about: Mapping[str, str]) -> dict:
    """The linked table: loadings on the pair, longest first, with reference and redraws where they are shown."""
    rows = []
    for row, (name, text, length) in enumerate(zip(pair.names, pair.texts, pair.lengths, strict=True)):
        entry = {"variable": name, "text": text, "values": pair.private[row].tolist(), "length": float(length)}
        if name in about:
            entry["about"] = about[name]
        if pair.nonprivate is not None:
            entry["reference"] = pair.nonprivate[row].tolist()
        if pair.spread is not None:
            entry["low"], entry["high"] = (ends[row].tolist() for ends in pair.bounds)
        rows.append(entry)
    p = pair.p
    columns = [f"PC{c}" for c in pair.components]
    return {"columns": columns, "rows": rows, "half": half, "even": round(p**-0.5, DIGITS), "p": p}


def controls(explorer, picture: LoadingPicture) -> dict:
    """What the controls offer, and where they stand."""
    deltas = sorted({*DELTAS, explorer.delta}, reverse=True)
    asked = (
        "epsilon", "delta", "calibration", "kind", "components", "labels", "draw", "uncertainty", "pattern",
        "top_up_to", "noise_shown",
    )  # fmt: skip
    return {
        "settings": {name: getattr(explorer, name) for name in asked},  # what this frame answers
        "steps": STEPS,
        "epsilon": {"value": explorer.epsilon, "text": theme.epsilon(explorer.epsilon)},
        "deltas": [{"value": value, "text": theme.delta(value)} for value in deltas],
        "delta": explorer.delta,
        "calibration": explorer.calibration,
        "kind": explorer.kind,
        "components": list(explorer.components),
        "p": picture.p,
        "shown": len(picture.shown),
        "labels": explorer.labels,
        "reference": picture.reference,
        "draw": explorer.draw,
        "uncertainty": explorer.uncertainty,
    }


def plain_scale(scale: object, table: Table) -> object:
    """Write scales that were accepted as Python reads them back: by display name, or in the order of the columns."""
    if scale is None or isinstance(scale, str):
        return scale
    if hasattr(scale, "items"):  # a mapping or a Series, by the caller's labels or by display names
        given = dict(scale.items())
        labels = zip(table.names, table.originals, strict=True)
        return {name: float(given[own if own in given else name]) for name, own in labels}
    return [float(value) for value in scale]


def code(explorer: str, made: dict, settings: dict, given: str = "data") -> str:
    """One call that makes this view again, from how the explorer was made and where its settings stand."""
    arguments = {**made, **settings}
    return f"{explorer}({given}, {', '.join(f'{name}={value!r}' for name, value in arguments.items())})"


def measures(layout: str) -> tuple[float, float]:
    """Read the panel's side and the width of the font that a view asks rows for; what is absurd is brought in range."""
    side, font = map(float, layout.split("|"))
    return min(max(side, 120.0), 2000.0), min(max(font, SAFE_FONT), 2.0)


def asked(layouts: list[str]) -> list[tuple[str, float, float]]:
    """Every layout that a view asks rows for, with its measures."""
    return [(layout, *measures(layout)) for layout in layouts]
