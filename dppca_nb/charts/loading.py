"""`loading_chart`: loadings as an Altair chart, with everything a reader needs to judge them in the picture."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import altair as alt
import numpy as np
import pandas as pd

from dppca_nb.charts.choices import DIGITS
from dppca_nb.charts.drawn import dressed, live
from dppca_nb.charts.heatmap import INK, heatmap_rows, heatmap_spec
from dppca_nb.charts.layers import title_params, written
from dppca_nb.charts.picture import LoadingPicture, make_picture
from dppca_nb.charts.plane import plane_rows, zoom
from dppca_nb.charts.plane_spec import SIDE, plane_spec
from dppca_nb.charts.spread import SURE
from dppca_nb.charts.subject import subject_of
from dppca_nb.core.pca import PCAResult
from dppca_nb.core.release import LoadingRelease
from dppca_nb.core.uncertainty import LoadingUncertainty


def loading_chart(
    result: LoadingRelease | PCAResult,
    kind: str | Iterable[str] = "vector",
    components: Iterable[int] | None = None,
    variables: int | str | Iterable[str | int] = 10,
    labels: bool = True,
    reference: str | bool | None = None,
    uncertainty: str = "off",
    *,
    spread: LoadingUncertainty | None = None,
) -> alt.FacetChart | alt.HConcatChart:
    """Draw the loadings of a private release or of ordinary components.

    Variable j stands at (v[j, a], v[j, b]), the entries of two directions: an arrow from the origin
    ("vector") or a mark ("point") on equal axes around 0, with the unit circle as a guide; or its signed entries are
    the cells of a heatmap on one fixed scale from -1 to 1. Loadings are not scaled by any eigenvalue.

    Parameters
    ----------
    result : LoadingRelease or PCAResult
        From `dp_loading`: everything drawn but the reference is a function of its noisy matrix and of public facts. Or
        from `pca`, which is not private: the subtitle states the convention, and what of the axes is not defined.
    kind : {"vector", "point", "heatmap"} or a list of them
        A list gives the kinds side by side, one row per version.
    components : sequence of int
        Component numbers from 1: two of them for a vector or point picture, any number for a heatmap. By default the
        first two.
    variables : int, "all", or list of str and int
        A number picks that many of the longest rows over the components drawn (chosen from the result, also
        for its reference); a list holds names or positions from 1. At most 300 are drawn.
    labels : bool
        Whether names (in a heatmap: values) are written into the picture. No two labels overlap; what finds no place
        is counted, and named in its tooltip.
    reference : bool or {"off", "beside", "underneath"}, optional
        Where to draw ordinary principal directions, which are not private. By default beside the private ones if the
        release carries them. Their signs follow the private ones.
    uncertainty : {"off", "ellipses", "cloud"}
        How far the noise of a release moves its loadings, seen by putting as much noise on top of it again; this costs
        nothing. An ellipse holds 90 % of redraws that are normal, and where it would be wide its points are drawn
        instead; a cloud is these points for every variable. In a heatmap either makes a cell pale, with its value in
        brackets, if fewer than 95 % of the redraws keep its sign, and "±" is half the width of the interval of 90 %.
        Privacy noise only: sampling error is not in it. Where the two axes are not separated, redraws are turned
        within their plane.
    spread : LoadingUncertainty, optional
        The redraws to show, from ``release.uncertainty(...)``; by default 200.

    Returns
    -------
    altair.FacetChart or altair.HConcatChart
        With ``save("x.html")``, ``save("x.png")`` and ``save("x.svg")`` working offline.

    Raises
    ------
    ValueError, TypeError
        If an argument is not one of the above; the message names it.

    References
    ----------
    Kim and Jung (2025), doi 10.1002/sam.70053.

    Examples
    --------
    >>> from dppca_nb import datasets, dp_loading
    >>> release = dp_loading(datasets.usarrests(), epsilon=8, delta=1e-3, rng=1)
    >>> chart = loading_chart(release, kind="point")
    >>> print(chart.digest.splitlines()[0])
    Private loadings on PC1 and PC2: point, 4 of 4 variables
    """
    subject_of(result)  # refuses what has no loadings before it is asked for any
    kinds = [kind] if isinstance(kind, str) or not isinstance(kind, Iterable) else list(kind)
    if not kinds:
        raise ValueError('kind must be "vector", "point", "heatmap" or a list of them; got an empty list.')
    components, variables = (_kept(argument) for argument in (components, variables))
    settings = {"labels": labels, "reference": reference, "uncertainty": uncertainty, "spread": spread}
    pictures = [
        make_picture(result, kind=each, components=components, variables=variables, **settings) for each in kinds
    ]
    if len(pictures) == 1:
        chart, values = _one(pictures[0])
        return dressed(chart, values, digest(pictures[0]))
    charts, values = zip(*(_one(picture, stacked=True) for picture in pictures), strict=True)
    merged = {name: value for each in values for name, value in each.items()}
    row = alt.hconcat(*charts, spacing=40).resolve_scale(fill="independent")
    row = row.properties(title=_title(pictures[0], title_params(bare=False), 880))
    return dressed(row, merged, "\n\n".join(map(digest, pictures)))


def _kept(argument: object) -> object:
    """Read an iterator once and for all; each kind looks at the argument."""
    return list(argument) if isinstance(argument, Iterator) else argument


def signals(picture: LoadingPicture, *, side: float, half: float) -> dict:
    """Values of the signals of a picture's specification, but for the colours."""
    common = {"heads": list(picture.headers()), "warn": bool(picture.void), "hl": None}
    if picture.kind == "heatmap":
        return {**common, **INK, "values": picture.labels, "fulls": picture.names, "texts": picture.texts}
    return {**common, "R": half, "u": 2 * half / side}


def live_spec(kind: str, panels: int) -> dict:
    """Specification of a live picture of loadings."""
    if kind == "heatmap":
        names = {**INK, "values": True, "fulls": [""], "texts": [""], "cellh": 26, "cellw": 60}
        return live(heatmap_spec(panels), names)
    return live(plane_spec(panels), {"R": 1, "u": 0.005}, axes="xy")


def _one(picture: LoadingPicture, stacked: bool = False) -> tuple[alt.FacetChart, dict]:
    """Draw one kind, with the signals it needs; ``stacked`` puts the reference above the private panel."""
    panels = len(picture.panels)
    columns = 1 if stacked else panels
    if picture.kind == "heatmap":
        width = int(min(420 if panels == 1 else 320, 70 * len(picture.components) + 40))
        cell = max(16, min(34, 400 // len(picture.shown)))
        if stacked:  # as high as the panels beside it, where there is room
            cell = max(cell, SIDE / len(picture.shown))
        chart = heatmap_spec(panels, columns, width, cell * len(picture.shown)).copy()
        rows, values = heatmap_rows(picture), signals(picture, side=width, half=1)
        values |= {"cellh": cell, "cellw": width / len(picture.components)}
    else:
        side, half = SIDE if columns == 1 else 340, zoom(picture)
        chart = plane_spec(panels, columns, side, tuple(f"PC{c}" for c in picture.components)).copy()
        rows, _ = plane_rows(picture, side=side, half=half)
        values = signals(picture, side=side, half=half)
    if stacked:  # the row of kinds has one title
        chart.title = alt.Undefined
    else:
        chart.title = _title(picture, chart.title, 440 * columns)
    chart.data = alt.InlineData(values=rows, name=f"rows_{picture.kind}")
    return chart, values


def _title(picture: LoadingPicture, title: alt.TitleParams, width: float) -> alt.TitleParams:
    """Write the words of a picture into its title."""
    return written(title, picture.title(), picture.subtitle(width), bool(picture.void))


def digest(picture: LoadingPicture) -> str:
    """Say what a picture shows, in words and rounded numbers."""
    panels = []
    for panel in picture.panels if picture.nonprivate is None or picture.reference == "beside" else (0, 1):
        values = picture.private if panel == 1 else picture.nonprivate
        name = picture.subject.name if panel == 1 else "reference "
        for column, component in enumerate(picture.components):
            panels.append(pd.Series(values[:, column], index=picture.texts, name=f"{name}PC{component}"))
    frame = pd.concat(panels, axis=1)
    head = f"{picture.title()}: {picture.kind}, {len(picture.shown)} of {picture.p} variables"
    lines = [head, *picture.subtitle(1000)]
    if picture.axes is not None and picture.axes.loose:
        lines.append(f"The two axes are not separated: they may turn by {picture.axes.turn:.0f}° within their plane.")
    if picture.spread is not None:
        lines.append(_spread_said(picture))
    return "\n".join([*lines, frame.to_string(float_format=f"%.{DIGITS}f")])


def _spread_said(picture: LoadingPicture) -> str:
    """Say how far redraws of the noise move what is drawn."""
    if picture.kind == "heatmap":
        sure = int(np.sum(picture.kept >= SURE))
        return f"{sure} of {picture.kept.size} loadings keep their sign in {100 * SURE:g} % of the redraws."
    return f"Half of the redraws turn the plane by more than {picture.spread.plane_angle(picture.components):.1f}°."
