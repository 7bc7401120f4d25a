"""`compare_chart`: loadings of several methods side by side, on one scale, with aligned signs and angles in degrees."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping

import altair as alt
import numpy as np
import pandas as pd

from dppca_nb.charts.choices import DIGITS, check_choice
from dppca_nb.charts.drawn import DrawnChart, dressed
from dppca_nb.charts.heatmap import heatmap_rows, heatmap_spec
from dppca_nb.charts.layers import written
from dppca_nb.charts.loading import signals
from dppca_nb.charts.picture import LoadingPicture, make_picture
from dppca_nb.charts.plane import plane_rows, zoom
from dppca_nb.charts.plane_spec import plane_spec
from dppca_nb.charts.results import named
from dppca_nb.charts.subject import RESULTS
from dppca_nb.core.align import align_signs, subspace_angles

KINDS = ("vector", "point", "heatmap")
SIDES = {1: 404, 2: 340, 3: 264}  # pixels, by the number of panels in a row


def compare_chart(
    results: Mapping[str, object],
    components: Iterable[int] | None = None,
    *,
    kind: str = "vector",
    variables: int | str | Iterable[str | int] = 10,
    labels: bool = True,
) -> DrawnChart:
    """Draw the loadings of several results side by side: one scale, the same variables, aligned signs.

    Parameters
    ----------
    results : mapping of names to results of `dp_loading`, `pca` or `gini_pca`
        2 to 6, of tables with the same variables. Signs follow the first; every other head says the largest principal
        angle, in degrees, between its plane (or space) and that of the first.
    components : sequence of int, optional
        Component numbers from 1: two of them for a vector or point picture, any number for a heatmap. By default the
        first two.
    kind : {"vector", "point", "heatmap"}
    variables : int, "all", or list of str and int
        As for `loading_chart`; the longest are those of the first result.
    labels : bool
        Whether names (in a heatmap: values) are written into the picture.

    Returns
    -------
    altair.FacetChart

    Raises
    ------
    ValueError, TypeError
        If an argument is not one of the above; the message names it.

    Examples
    --------
    >>> from dppca_nb import compare_chart, datasets, pca
    >>> iris = datasets.iris().drop(columns="Species")
    >>> made = {"covariance": pca(iris), "correlation": pca(iris, scale=True)}
    >>> print(compare_chart(made).digest.splitlines()[1])
    covariance: svd, centred, not scaled, divisor n  ·  PC1 92.5 %, PC2 5.3 % of the variance  ·  n 150, p 4
    >>> print(compare_chart(made).digest.splitlines()[2][:55])
    correlation, 30.6° apart: svd, centred, scaled, divisor
    """
    check_choice("kind", kind, KINDS)
    found = named(results, RESULTS, "results of dp_loading(...), pca(...) or gini_pca(...)")
    if len(found) < 2:
        raise ValueError("compare_chart needs at least two results, such as {'ordinary': pca(data), ...}; got one.")
    settings = {"kind": kind, "labels": labels, "reference": "off"}
    leader = make_picture(next(iter(found.values())), components=components, variables=variables, **settings)
    order = leader.subject.loadings.index
    chosen = [order[j] for j in leader.shown]
    pictures, angles = [leader], [None]
    for name, result in list(found.items())[1:]:
        picture = make_picture(result, components=leader.components, variables="all", **settings)
        if set(picture.subject.loadings.index) != set(order):
            raise ValueError(f"the result named {name!r} has other variables than the first: compare one table.")
        picture, angle = _aligned(picture, leader, chosen)
        pictures.append(picture)
        angles.append(angle)
    base = next(iter(found))
    heads = [
        base,
        *([name, f"{angle:.1f}° from {base}"] for name, angle in zip(list(found)[1:], angles[1:], strict=True)),
    ]
    chart, values = _draw(pictures)
    title = leader.title().replace("Private loadings", "Loadings")
    voids = [
        f"{name}: guarantee void ({'; '.join(one.void)})" for name, one in zip(found, pictures, strict=True) if one.void
    ]
    said = [f"{len(found)} results, one scale, signs as in {base}"]
    if not all(picture.subject.private for picture in pictures):
        said.append("not a private release")
    chart.title = written(chart.title, title, [*voids, "  ·  ".join(said)], warn=bool(voids))
    digest = _digest(title, found, angles, pictures)
    return dressed(chart, {**values, "heads": heads, "warn": bool(voids)}, digest)


def _aligned(picture: LoadingPicture, leader: LoadingPicture, chosen: list[str]) -> tuple[LoadingPicture, float]:
    """Bring a picture to the variables and signs of the first; return the angle between their spaces."""
    columns = [c - 1 for c in leader.components]
    base = leader.subject.loadings
    mine = picture.subject.loadings.reindex(base.index).to_numpy()[:, columns]
    angle = float(subspace_angles(base.to_numpy()[:, columns], mine)[0])
    frame = pd.DataFrame(align_signs(mine, base.to_numpy()[:, columns]), index=base.index)
    positions = tuple(picture.subject.loadings.index.get_indexer(chosen))
    values = np.round(frame.loc[chosen].to_numpy(), DIGITS) + 0.0
    return dataclasses.replace(picture, shown=positions, ordered=True, private=values), angle


def _draw(pictures: list[LoadingPicture]) -> tuple[alt.FacetChart, dict]:
    """Draw a panel for each picture."""
    count, leader = len(pictures), pictures[0]
    columns = count if count <= 3 else 2 if count == 4 else 3
    side = SIDES[columns]
    half = max(zoom(picture) for picture in pictures)
    values, rows = signals(leader, side=side, half=half), []
    for panel, picture in enumerate(pictures):
        made = heatmap_rows(picture) if leader.kind == "heatmap" else plane_rows(picture, side=side, half=half)[0]
        rows += [{**row, "panel": panel} for row in made]
    if leader.kind == "heatmap":
        across, down = len(leader.components), len(leader.shown)
        cell = max(16, min(34, 400 // down))
        width = int(min(side, 70 * across + 40))
        chart = heatmap_spec(count, columns, width, cell * down).copy()
        values |= {"cellh": cell, "cellw": width / across}
        rows = [{**row, "rank": leader.names.index(row["variable"])} if row["role"] == "cell" else row for row in rows]
    else:
        chart = plane_spec(count, columns, side, tuple(f"PC{c}" for c in leader.components)).copy()
    chart.data = alt.InlineData(values=rows, name="rows")
    return chart, values


def _digest(title: str, found: dict, angles: list, pictures: list[LoadingPicture]) -> str:
    """Say what is compared, in words and rounded numbers."""
    lines, columns = [f"{title}: {pictures[0].kind}"], []
    for name, angle, picture in zip(found, angles, pictures, strict=True):
        apart = "" if angle is None else f", {angle:.1f}° apart"
        lines.append(f"{name}{apart}: {'  '.join(picture.subtitle(1000))}")
        for column, component in enumerate(picture.components):
            columns.append(pd.Series(picture.private[:, column], pictures[0].texts, name=f"{name} PC{component}"))
    return "\n".join([*lines, pd.concat(columns, axis=1).to_string(float_format=f"%.{DIGITS}f")])
