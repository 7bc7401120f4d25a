"""`PCAExplorer`: ordinary components that move with the route, centring, scaling, divisor, pair and plot type."""

from __future__ import annotations

import dataclasses
import json
from functools import lru_cache

import pandas as pd

from dppca_nb.charts.drawn import live
from dppca_nb.charts.heatmap import heatmap_rows
from dppca_nb.charts.loading import live_spec, loading_chart, signals
from dppca_nb.charts.picture import LoadingPicture, make_picture
from dppca_nb.charts.plane import plane_rows, zoom
from dppca_nb.charts.results import convention
from dppca_nb.charts.score import score_chart, score_rows, score_signals, score_spec
from dppca_nb.charts.score_picture import make_score_picture
from dppca_nb.charts.scree import make_scree_picture, room, scree_chart, scree_rows, scree_signals, scree_spec
from dppca_nb.charts.shades import Shade
from dppca_nb.core.pca import PCAResult, check_settings, pca, row_labels
from dppca_nb.table import DataError, as_table
from dppca_nb.widgets import frame, pca_frame
from dppca_nb.widgets import pca_words as words
from dppca_nb.widgets.checks import described, refuse_unknown, titled
from dppca_nb.widgets.pca_colors import Colorings
from dppca_nb.widgets.pca_settings import COMPUTING, PCASettings
from dppca_nb.widgets.view import SettingError, bundled
from dppca_nb.widgets.words import empty, plain

HEATMAP_COMPONENTS = 6
SUBTITLE_WIDTHS = (560, 400, 260, 180)  # pixels
KEPT = 20_000_000  # scores in all results that are kept, 160 MB


@lru_cache(maxsize=1)
def _specifications() -> dict:
    """The specifications that are the same for every explorer, but for those of the scores."""
    bars = live(
        scree_spec(True, (404, 260), "share"), {"bottom": 0, "top": 1, "percents": True, "written": True}, axes="y"
    )
    return {"plane": live_spec("vector", 1), "heatmap": live_spec("heatmap", 1), "scree": bars}


@lru_cache(maxsize=16)
def _score_specification(shade: str, name: str) -> dict:
    """The specification of scores in such colours."""
    edges = {"x0": -1, "x1": 1, "y0": -1, "y1": 1, "dots": 44}
    return live(score_spec(1, 1, (404, 404), (shade, name), ("PC1", "PC2")), edges, axes="xy")


class PCAExplorer(PCASettings):
    """Choose a route and watch the components: a Jupyter widget. Not private.

    Parameters
    ----------
    data : DataFrame, array_like or anything `as_table` takes, shape (n, p)
        Columns that are not numeric are left out and listed in the view; those of a pandas frame with at most 7 levels
        may colour the points. Data that cannot be used are explained in the view.
    title : str, optional
        Name of the data; by default ``data.attrs["title"]``.
    color : str or sequence of length n, optional
        "off", "row mean" (of what is decomposed), or the name of a column that may colour the points; or numbers or
        categories of your own, one for each row. A name that is taken gets a number: `colors` lists what there is.
    **settings
        Initial values of the settings below.

    Attributes
    ----------
    method : {"svd", "eigen", "prcomp"}
    center, scale : bool
    ddof : {None, 0, 1}
        As for `pca`.
    kind : {"scores", "vector", "heatmap", "shares", "variances"}
    components : tuple of int
        The pair of components, numbered from 1.
    color : str
    variables : int, "all", or list of str and int
        How many variables of the loadings, the longest first; or which.
    labels : bool
        Names in the picture; for a heatmap, values.

    Raises
    ------
    SettingError
        A ``ValueError``: a setting is not one of the above. The view says so too, and keeps its last picture.

    See Also
    --------
    pca : the numbers.
    score_chart, scree_chart, loading_chart : the same pictures as plain Altair charts.

    Examples
    --------
    >>> from dppca_nb import PCAExplorer, datasets
    >>> explorer = PCAExplorer(datasets.iris(), scale=True, color="Species")
    >>> explorer.method = "prcomp"
    >>> explorer
    PCAExplorer('Iris', prcomp, centred, scaled, divisor n − 1, scores, PC1 × PC2, colour Species)
    >>> explorer.result.rank
    4
    >>> explorer.close()
    """

    _esm = bundled("explorer.bundle.js")

    def __init__(self, data: object, *, title: str | None = None, color: object = "off", **settings: object):
        refuse_unknown(settings, self._settings)
        self.title = titled(data, title, "Principal components")
        self._about = described(data)
        computing = {name: settings[name] for name in COMPUTING if name in settings}
        try:  # before the data are read
            check_settings(**{"method": "svd", "center": True, "scale": False, "ddof": None, **computing})
        except (TypeError, ValueError) as error:
            raise SettingError(str(error)) from None
        self._table, self._problem = None, None
        self._colors = Colorings()
        self._results: dict[tuple, PCAResult] = {}
        self._result, self._half = None, None
        try:
            self._table = as_table(data, numeric_only=True)
            self._rows = row_labels(data, self._table.n)
        except DataError as error:
            self._problem, color = str(error), "off"
        else:
            self._colors.offer_columns(data, {column.name for column in self.left_out})
            try:
                color = self._colors.choose(color, self._rows)
            except (TypeError, ValueError) as error:
                raise SettingError(str(error)) from None
        super().__init__(_view="pca", _specs=self._specifications(), color=color, **settings)

    def _specifications(self) -> dict:
        """The specifications of all kinds; the scores have one for each colouring."""
        if not self._drawable:
            return {}
        legends = self._colors.legends().items()
        return {**_specifications(), **{f"scores {name}": _score_specification(*legend) for name, legend in legends}}

    # ----- what is shown -----

    @property
    def result(self) -> PCAResult:
        """The numbers shown."""
        if self._result is None:
            raise DataError(self._why_nothing())
        return self._result

    @property
    def colors(self) -> tuple[str, ...]:
        """What may colour the points."""
        return self._colors.names

    @property
    def chart(self) -> object:
        """The picture as a plain Altair chart."""
        result = self.result
        if self.kind == "scores":
            return score_chart(result, self.components, color=self._shade(), labels=self._writes_names())
        if self.kind in ("shares", "variances"):
            return scree_chart(result, self.kind)
        return loading_chart(result, **self._loading_settings())

    def __repr__(self) -> str:
        if self._result is None or "empty" in self._frame:
            return f"PCAExplorer({self.title!r}, nothing to draw: {self._why_nothing()})"
        parts = [repr(self.title), convention(self._result), self.kind]
        if self.kind in ("scores", "vector"):
            parts.append(" × ".join(f"PC{c}" for c in self.components))
        if self.kind == "scores":
            parts.append(f"colour {self.color}")
        return f"PCAExplorer({', '.join(parts)})"

    def _why_nothing(self) -> str:
        """Why there are no components, or no picture of them."""
        return plain(" ".join(self._frame.get("empty") or [self._frame.get("error", "not computed yet")]))

    # ----- the frame -----

    def _compute(self, **changed: object) -> PCAResult:
        """Components by the present settings; the last few are kept."""
        wanted = {name: getattr(self, name) for name in COMPUTING} | changed
        wanted["ddof"] = check_settings(**wanted)
        key = tuple(wanted.values())
        made = self._results.pop(key, None)
        if made is None:
            made = pca(self._table, **wanted)
            made = dataclasses.replace(made, scores=made.scores.set_axis(self._rows))
        self._results[key] = made  # the latest is the last
        while len(self._results) * made.scores.size > KEPT and len(self._results) > 2:
            del self._results[next(iter(self._results))]
        return made

    def _shade(self) -> pd.Series | Shade | None:
        """What colours the points."""
        return self._colors.of(self.color, self._result)

    def _loading_settings(self) -> dict:
        """Arguments of a picture of loadings."""
        components = self.components
        if self.kind == "heatmap":
            components = tuple(range(1, max(1, min(HEATMAP_COMPONENTS, self._result.rank)) + 1))
        return {"kind": self.kind, "components": components, "variables": self.variables, "labels": self.labels}

    def _make_frame(self, layouts: list[str]) -> dict:
        if not self._drawable:
            return {"title": self.title, "empty": empty(self._table, self._problem)}
        settled = {
            "title": self.title,
            "badge": "Not private",
            "banner": words.BANNER,
            "controls": pca_frame.controls(self, self._table, self._rows),
        }
        try:
            self._result = self._compute()
            picture, drawn = self._picture(layouts)
        except ValueError as error:
            if "rows" in self._frame:
                raise  # the last picture stays
            return {**settled, "empty": [str(error)]}
        result = self._result
        planar = self.kind in ("scores", "vector")
        status, beware = words.status(result, self._compute(method="svd", ddof=0), self.components, planar)
        return {
            **settled,
            "file": self.kind if self.kind in ("scores", "shares", "variances") else "loadings",
            "panels": 1,
            **drawn,
            "words": {
                "ttl": picture.title(),
                "subtitles": [{"width": width, "lines": picture.subtitle(width)} for width in SUBTITLE_WIDTHS],
                **drawn["words"],
            },
            "status": status,
            "beware": beware,
            "notes": words.notes(self._table, self.left_out, result),
            "statement": words.statement(result),
            "description": words.description(picture.title(), picture.subtitle(1000), result, self.components),
            "code": self._code(),
        }

    def _code(self) -> str:
        """One call that makes this view again; colours of the caller's own are named and not copied."""
        settings = {name: getattr(self, name) for name in self._settings}
        if self.color != self._colors.own:
            return frame.code("PCAExplorer", {"title": self.title}, settings)
        call = frame.code("PCAExplorer", {"title": self.title}, {**settings, "color": "off"})
        return f"{call}  # coloured by values of your own: color={self.color!r}"

    def _picture(self, layouts: list[str]) -> tuple[object, dict]:
        """The picture of this kind, and the parts of the frame that depend on the kind."""
        if self.kind == "scores":
            picture = make_score_picture(
                self._result, self.components, color=self._shade(), labels=self._writes_names()
            )
            rows = {}
            for layout in layouts:
                side, font = frame.measures(layout)
                rows[layout] = json.dumps(score_rows(picture, side=side, font=font))
            axes = {"ax": picture.axis(0), "ay": picture.axis(1)}
            return picture, self._parts(f"scores {self.color}", score_signals(picture), rows, axes)
        if self.kind in ("shares", "variances"):
            picture = make_scree_picture(self._result, self.kind)
            rows = {"": json.dumps(scree_rows(picture))}
            drawn = self._parts("scree", scree_signals(picture, 404), rows, {"ax": "", "ay": picture.axis()})
            return picture, {**drawn, "room": room(picture)}
        picture = make_picture(self._result, **self._loading_settings())
        return picture, self._loadings(picture, layouts)

    def _loadings(self, picture: LoadingPicture, layouts: list[str]) -> dict:
        """Parts of the frame of a picture of loadings."""
        pair = picture
        if self.kind == "heatmap":
            shown = [j + 1 for j in picture.shown]
            pair = make_picture(self._result, components=self.components, variables=shown)
            rows = {"": json.dumps(heatmap_rows(picture))}
        self._half = zoom(pair, self._half)
        if self.kind == "vector":
            rows = {}
            for layout in layouts:
                side, font = frame.measures(layout)
                rows[layout] = json.dumps(plane_rows(picture, side=side, half=self._half, font=font)[0])
        axes = {name: f"PC{c}" for name, c in zip(("ax", "ay"), self.components, strict=True)}
        spec = "heatmap" if self.kind == "heatmap" else "plane"
        drawn = self._parts(spec, signals(picture, side=1, half=self._half), rows, axes)
        table = frame.table(pair, self._half, self._about)
        return {**drawn, "across": len(picture.components), "table": table}

    def _parts(self, spec: str, values: dict, rows: dict, axes: dict) -> dict:
        """Parts that every kind has, with the table of components."""
        return {"spec": spec, "signals": values, "rows": rows, "words": axes, "table": pca_frame.table(self._result)}

    def _static_chart(self) -> object:
        try:
            return self.chart
        except ValueError:  # the view, or the text in its place, says why
            return None
