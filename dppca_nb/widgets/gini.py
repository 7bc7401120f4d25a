"""`GiniExplorer`: Gini components that move with the aversion parameter, beside ordinary ones, with one outlier."""

from __future__ import annotations

import dataclasses
import json
import warnings

import numpy as np

from dppca_nb.charts.circle import CircleSubject, circle_chart
from dppca_nb.charts.contribution import (
    contribution_chart,
    contribution_rows,
    contribution_signals,
    make_contribution_picture,
)
from dppca_nb.charts.correlation import TITLE, correlation_chart, correlation_rows, correlation_signals, subtitle
from dppca_nb.charts.loading import loading_chart, signals
from dppca_nb.charts.picture import make_picture
from dppca_nb.charts.plane import plane_rows, zoom
from dppca_nb.charts.score import score_chart, score_rows, score_signals
from dppca_nb.charts.score_picture import make_score_picture
from dppca_nb.charts.scree import make_scree_picture, scree_chart, scree_rows, scree_signals
from dppca_nb.charts.subject import PlainSubject
from dppca_nb.core.align import align_signs
from dppca_nb.core.gini import GiniResult, check_nu, gini_pca
from dppca_nb.core.pca import PCAResult, pca, row_labels
from dppca_nb.table import DataError, as_table
from dppca_nb.widgets import frame, gini_frame
from dppca_nb.widgets import gini_words as words
from dppca_nb.widgets.checks import described, refuse_unknown, titled
from dppca_nb.widgets.gini_settings import GiniSettings
from dppca_nb.widgets.view import SettingError, bundled
from dppca_nb.widgets.words import empty, plain

SUBTITLE_WIDTHS = (760, 560, 400, 260, 180)  # pixels: two panels, one, a phone
TESTED = 2000  # rows: a larger table would take too long to test at every step of a slider
ROWS = 30  # observations in a picture of contributions


class GiniExplorer(GiniSettings):
    """Move the aversion parameter and watch Gini components beside ordinary ones: a Jupyter widget. Not private.

    Parameters
    ----------
    data : DataFrame, array_like or anything `as_table` takes, shape (n, p)
        Columns that are not numeric are left out and listed in the view. Data that cannot be used are explained there.
    title : str, optional
        Name of the data; by default ``data.attrs["title"]``.
    **settings
        Initial values of the settings below.

    Attributes
    ----------
    nu : float
        The aversion parameter; the slider runs from 1.05 to 20, code may set any positive number.
    row : int
        Position, from 0, of the row that is made an outlier.
    theta : float
        By what that row is multiplied, magnitude 1 (not at all) to 1e6. The data stay as they are.
    kind : {"scores", "vector", "circle", "contributions", "shares", "correlations"}
        Projection of the observations; loadings; circle of correlations, in which variables that the full jackknife
        test finds significant at 5 % on neither axis are pale (tables of up to 2,000 rows, when no slider is held);
        contributions of observations to the first component of the pair; shares; Gini correlations.
    components : tuple of int
        The pair of components, numbered from 1.
    variables : int, "all", or list of str and int
        How many variables of the loadings, the longest first; or which.
    labels : bool
        Names in the picture.
    show_reference : {"off", "beside", "underneath"}
        Where ordinary components of the scaled table stand, of the same rows and with the signs of the Gini ones.

    Raises
    ------
    SettingError
        A ``ValueError``: a setting is not one of the above. The view says so too, and keeps its last picture.

    See Also
    --------
    gini_pca, gini_test : the numbers.

    References
    ----------
    Charpentier, Mussard and Ouraga (2021), arXiv 1910.10133.

    Examples
    --------
    >>> from dppca_nb import GiniExplorer, datasets
    >>> explorer = GiniExplorer(datasets.cars2004(), nu=4)
    >>> explorer.kind = "circle"
    >>> explorer
    GiniExplorer('Cars 2004', ν 4, circle, PC1 × PC2, reference beside)
    >>> explorer.result.shares().round(3).tolist()
    [0.832, 0.106, 0.03, 0.026, 0.003, -0.003]
    >>> explorer.close()
    """

    _esm = bundled("explorer.bundle.js")

    def __init__(self, data: object, *, title: str | None = None, **settings: object):
        refuse_unknown(settings, self._settings)
        self.title = titled(data, title, "Gini components")
        self._about = described(data)
        try:  # before the data are read
            check_nu(settings.get("nu", 2.0))
        except (TypeError, ValueError) as error:
            raise SettingError(str(error)) from None
        self._table, self._problem = None, None
        self._clean: tuple[GiniResult, PCAResult] | None = None
        self._untouched: tuple[float, tuple[GiniResult, PCAResult]] | None = None  # without the outlier, by nu
        self._computed: tuple | None = None
        self._result, self._ordinary, self._previous, self._half, self._untested = None, None, None, None, []
        try:
            self._table = as_table(data, numeric_only=True)
            self._rows = row_labels(data, self._table.n)
        except DataError as error:
            self._problem = str(error)
        super().__init__(_view="gini", _specs=gini_frame.specifications() if self._drawable else {}, **settings)

    # ----- what is shown -----

    @property
    def result(self) -> GiniResult:
        """The numbers shown, with the signs shown; of the contaminated table where theta is not 1."""
        if self._result is None:
            raise DataError(self._why_nothing())
        return self._result

    @property
    def ordinary(self) -> PCAResult:
        """The ordinary components of the same rows."""
        if self._ordinary is None:
            raise DataError(self._why_nothing())
        return self._ordinary

    @property
    def chart(self) -> object:
        """The picture as a plain Altair chart."""
        result = self.result
        if self.kind == "scores":
            return score_chart(self._side_by_side(), self.components, labels=self._writes_names())
        if self.kind == "contributions":
            return contribution_chart(self._side_by_side(), self.components[0], rows=ROWS)
        if self.kind == "shares":
            return scree_chart(self._side_by_side())
        if self.kind == "correlations":
            return correlation_chart(result)
        if self.kind == "circle":
            return circle_chart(
                result, self.components, test=self._test(), variables=self.variables, labels=self.labels
            )
        return loading_chart(self._subject(), **self._loading_settings())

    def __repr__(self) -> str:
        if self._result is None or "empty" in self._frame:
            return f"GiniExplorer({self.title!r}, nothing to draw: {self._why_nothing()})"
        parts = [repr(self.title), f"ν {self.nu:g}"]
        if self.theta != 1:
            parts.append(f"row {self.row} × {self.theta:g}")
        parts += [self.kind, " × ".join(f"PC{c}" for c in self.components), f"reference {self.show_reference}"]
        return f"GiniExplorer({', '.join(parts)})"

    def _why_nothing(self) -> str:
        """Why there are no components."""
        return plain(" ".join(self._frame.get("empty") or [self._frame.get("error", "not computed yet")]))

    # ----- computing -----

    def _compute(self, values: np.ndarray) -> tuple[GiniResult, PCAResult]:
        """Gini and ordinary components of rows, with the names of the rows."""
        rows = dataclasses.replace(self._table, values=values)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the result carries them, and the view says them
            gini = gini_pca(rows, nu=self.nu)
        ordinary = pca(rows, scale=True)
        return tuple(dataclasses.replace(one, scores=one.scores.set_axis(self._rows)) for one in (gini, ordinary))

    def _update(self) -> None:
        """Compute what is shown; signs follow the last picture, so that it does not flip under a slider."""
        wanted = (self.nu, self.theta, self.row if self.theta != 1 else None)
        if wanted == self._computed:
            return  # what is shown changes otherwise: kind, pair, names
        values, clean = self._table.values, None
        if self.theta != 1:
            if self._untouched is None or self._untouched[0] != self.nu:
                self._untouched = (self.nu, self._compute(values))
            clean, values = self._untouched[1], values.copy()
            with np.errstate(over="ignore"):
                values[self.row] *= self.theta
            if not np.isfinite(values[self.row]).all():
                raise DataError(f"Row {self.row} times {self.theta:g} leaves the range of float64: lower theta.")
        gini, ordinary = self._compute(values)
        if self._previous is not None:
            directions = align_signs(gini.directions, self._previous)
            signs = np.sign((directions * gini.directions).sum())
            gini = dataclasses.replace(gini, directions=directions, scores=gini.scores * signs)
        self._previous = gini.directions.to_numpy(copy=True)
        self._result, self._ordinary, self._clean, self._computed = gini, ordinary, clean, wanted

    def _test(self) -> object:
        """Test of the variables on the pair of axes; None where it would take too long, or there is none."""
        skip = self._dragging or not 4 <= self._table.n <= TESTED
        test, self._untested = (None, []) if skip else gini_frame.tested(self._result, self.components)
        return test

    # ----- the frame -----

    def _side_by_side(self) -> object:
        """The results that a picture compares."""
        if self.show_reference == "off":
            return self._result
        return {"Gini": self._result, "variance": self._ordinary}

    def _loading_settings(self) -> dict:
        """Arguments of a picture of loadings."""
        return {
            "components": self.components,
            "variables": self.variables,
            "labels": self.labels,
            "reference": self.show_reference if self.kind == "vector" else "off",
        }

    def _subject(self) -> PlainSubject:
        """What a picture of arrows is about."""
        if self.kind == "circle":
            return CircleSubject(self._result, test=self._test())
        return PlainSubject(self._result, None if self.show_reference == "off" else self._ordinary)

    def _settles(self) -> bool:
        return self._drawable and self.kind == "circle"

    def _make_frame(self, layouts: list[str]) -> dict:
        if not self._drawable:
            return {"title": self.title, "empty": empty(self._table, self._problem)}
        outlier = words.outlier(str(self._rows[self.row]), self.theta)
        settled = {
            "title": self.title,
            "badge": "Not private",
            "banner": " ".join([words.BANNER, *outlier]),
            "controls": gini_frame.controls(self, self._table, self._rows),
            "readout": words.readout(self.nu),
        }
        try:
            self._update()
            drawn = self._picture(layouts)
        except ValueError as error:
            if "rows" not in self._frame:
                return {**settled, "empty": [str(error)]}
            # The last picture stays, with controls that stand where the settings do: another step leads out.
            return {**self._frame, "controls": settled["controls"], "readout": settled["readout"], "error": str(error)}
        said = drawn["words"]
        status, beware = words.status(self._result, self._ordinary, self._clean, self.components)
        return {
            **settled,
            "file": self.kind,
            **drawn,
            "status": status,
            "beware": beware or bool(outlier),
            "notes": [*words.notes(self._result, self.left_out), *(self._untested if self.kind == "circle" else [])],
            "statement": words.statement(self._result),
            "description": words.description(said["ttl"], said["subtitles"][0]["lines"], self._result, self.components),
            "code": frame.code("GiniExplorer", {"title": self.title}, self._standing()),
        }

    def _picture(self, layouts: list[str]) -> dict:
        """The parts of the frame that depend on the kind of picture."""
        compared = self._side_by_side()
        panels = 1 if self.show_reference == "off" else 2
        if self.kind == "scores":
            picture = make_score_picture(compared, self.components, labels=self._writes_names())
            rows = {layout: score_rows(picture, side=side, font=font) for layout, side, font in frame.asked(layouts)}
            axes = {"ax": picture.axis(0), "ay": picture.axis(1)}
            return self._parts(f"scores{panels}", panels, score_signals(picture), rows, picture, axes)
        if self.kind == "contributions":
            picture = make_contribution_picture(compared, self.components[0], rows=ROWS)
            rows = {"": contribution_rows(picture)}
            drawn = self._parts(f"contributions{panels}", panels, contribution_signals(picture), rows, picture)
            return {**drawn, "across": len(picture.names)}
        if self.kind == "shares":
            picture = make_scree_picture(compared)
            axes = {"ax": "", "ay": picture.axis()}
            drawn = self._parts(
                f"scree{panels}", 1, scree_signals(picture, 404), {"": scree_rows(picture)}, picture, axes
            )
            return {**drawn, "across": len(picture.components)}
        if self.kind == "correlations":
            rows = {"": correlation_rows(self._result)}
            drawn = self._parts("heatmap", 1, correlation_signals(self._result), rows, None)
            return {**drawn, "across": self._table.p}
        picture = make_picture(self._subject(), **self._loading_settings())
        self._half = zoom(picture, self._half, self._dragging)
        rows = {
            layout: plane_rows(picture, side=side, half=self._half, font=font)[0]
            for layout, side, font in frame.asked(layouts)
        }
        axes = {name: f"PC{c}" for name, c in zip(("ax", "ay"), self.components, strict=True)}
        values = signals(picture, side=1, half=self._half)
        drawn = self._parts("plane", len(picture.panels), values, rows, picture, axes)
        return {**drawn, "table": frame.table(picture, self._half, self._about)}

    def _parts(
        self, spec: str, panels: int, values: dict, rows: dict, picture: object, axes: dict | None = None
    ) -> dict:
        """Parts that every kind has, with the table of components."""
        title = TITLE if picture is None else picture.title()
        lines = (lambda width: subtitle(self._result, width)) if picture is None else picture.subtitle
        said = {"ttl": title, "subtitles": [{"width": width, "lines": lines(width)} for width in SUBTITLE_WIDTHS]}
        return {
            "spec": spec,
            "panels": panels,
            "signals": values,
            # as text: ipywidgets would look for buffers in every single value
            "rows": {layout: json.dumps(each) for layout, each in rows.items()},
            "words": {**said, "ax": "", "ay": "", **(axes or {})},
            "table": gini_frame.table(self._result),
        }

    def _standing(self) -> dict:
        """Settings as they stand."""
        return {name: getattr(self, name) for name in self._settings}

    def _static_chart(self) -> object:
        try:
            return self.chart
        except ValueError:  # the view, or the text in its place, says why
            return None
