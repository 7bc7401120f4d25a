"""`LoadingExplorer`: private loadings that move with the budget, the component pair and the plot type."""

from __future__ import annotations

import dataclasses
import json
from functools import lru_cache

import pandas as pd

from dppca_nb.charts.choices import check_choice
from dppca_nb.charts.heatmap import heatmap_rows
from dppca_nb.charts.loading import live_spec, loading_chart, signals
from dppca_nb.charts.picture import LoadingPicture, make_picture
from dppca_nb.charts.plane import plane_rows, zoom
from dppca_nb.core.align import align_signs
from dppca_nb.core.loading import LoadingRelease
from dppca_nb.core.privacy import Budget, check_calibration
from dppca_nb.core.teaching import TeachingDraws
from dppca_nb.table import DataError, LeftOut, as_table
from dppca_nb.widgets import frame
from dppca_nb.widgets import loading_words as words
from dppca_nb.widgets.checks import described, refuse_unknown, titled, whole_number
from dppca_nb.widgets.loading_settings import LoadingSettings
from dppca_nb.widgets.view import SettingError, bundled
from dppca_nb.widgets.words import empty, plain

HEATMAP_COMPONENTS = 4
SUBTITLE_WIDTHS = (560, 400, 260, 180)  # pixels: two panels, one, a phone


@lru_cache(maxsize=1)
def _specifications() -> dict:
    """The two specifications, the same for every explorer."""
    return {"plane": live_spec("vector", 2), "heatmap": live_spec("heatmap", 2)}


class LoadingExplorer(LoadingSettings):
    """Move the budget and watch the loadings: a Jupyter widget.

    Without a ledger the explorer teaches: the data are treated as public, the exact Kendall matrix is computed once,
    and one kept noise draw is shown at whatever budget the slider says, until a new draw is asked for. Nothing it
    shows is a private release; `dp_loading` makes one.

    Parameters
    ----------
    data : DataFrame, array_like or anything `as_table` takes, shape (n, p)
        Columns that are not numeric are left out and listed in the view. Data that cannot be used are explained there.
    ledger : None
        Release mode keeps its accounts in a ledger; it is not part of this version.
    scale : None, array_like, mapping or "sample"
        Public positive scales that the columns are divided by, as for `dp_loading`.
    coincident : {"zero", "raise"}
        Pairs of equal rows count as zero, or are refused.
    title : str, optional
        Name of the data; by default ``data.attrs["title"]``. Where ``data.attrs["labels"]`` says in words what the
        columns mean, tooltips say it too.
    seed : int
        Names the sequence of noise draws, so that a lesson can be repeated.
    **settings
        Initial values of the settings below.

    Attributes
    ----------
    epsilon, delta : float
        The budget.
    components : tuple of int
        The pair of components, numbered from 1.
    kind : {"vector", "point", "heatmap"}
    variables : int, "all", or list of str and int
        How many variables, the longest first; or which.
    labels : bool
        Names in the picture; for a heatmap, values.
    calibration : {"classical", "analytic"}
    show_reference : {"off", "beside", "underneath"}
        Where ordinary principal directions stand; True and False mean "beside" and "off".
    draw : int
        Number of the noise draw.

    Raises
    ------
    SettingError
        A ``ValueError``: a setting is not one of the above. The view says so too, and keeps its last picture.

    See Also
    --------
    dp_loading : one private release.
    loading_chart : the same pictures as plain Altair charts.

    References
    ----------
    Kim and Jung (2025), doi 10.1002/sam.70053.

    Examples
    --------
    >>> from dppca_nb import LoadingExplorer, datasets
    >>> explorer = LoadingExplorer(datasets.usarrests(), epsilon=10, scale=[4, 80, 15, 9])
    >>> explorer.kind = "point"
    >>> explorer
    LoadingExplorer('US arrests 1973', epsilon=10, delta=1e-06, classical, draw 0, point, PC1 × PC2, 4 of 4 variables, \
reference beside, teaching)
    >>> explorer.loadings.shape
    (4, 4)
    >>> explorer.close()
    """

    _esm = bundled("explorer.bundle.js")

    def __init__(
        self,
        data: object,
        *,
        ledger: None = None,
        scale: object = None,
        coincident: str = "zero",
        title: str | None = None,
        seed: int = 0,
        **settings: object,
    ):
        if ledger is not None:
            raise ValueError(
                "release mode is not part of this version, so a ledger cannot be used. "
                "For one private release call dp_loading(data, epsilon=…, delta=…, coincident='zero')."
            )
        refuse_unknown(settings, self._settings)
        self.title = titled(data, title, "Loading explorer")
        self._about = described(data)
        seed = whole_number("seed", seed)
        try:  # before the data are read
            Budget(settings.get("epsilon", 0.5), settings.get("delta", 1e-6))
            check_calibration(settings.get("calibration", "classical"))
            check_choice("coincident", coincident, ("zero", "raise"))
        except (TypeError, ValueError) as error:
            raise SettingError(str(error)) from None
        self._made = {"title": self.title, "seed": seed, "coincident": coincident}
        self._draws, self._table, self._problem = None, None, None
        self._release, self._previous, self._pair, self._half, self._slots = None, None, None, None, {}
        try:
            self._table = as_table(data, numeric_only=True)
            if self._table.p > 1:
                self._draws = TeachingDraws(self._table, scale=scale, coincident=coincident, seed=seed)
                self._made["scale"] = frame.plain_scale(scale, self._table)
        except DataError as error:
            self._problem = str(error)
        super().__init__(_view="loading", _specs=_specifications(), **settings)

    # ----- what is shown -----

    @property
    def release(self) -> LoadingRelease:
        """The numbers shown, with the signs shown; its guarantee says that nothing is claimed while teaching."""
        if self._release is None:
            raise DataError(self._why_nothing())
        return self._release

    @property
    def loadings(self) -> pd.DataFrame:
        """Loadings shown, p × p."""
        return self.release.loadings

    @property
    def left_out(self) -> tuple[LeftOut, ...]:
        """Columns that are no variables, with the reasons."""
        return () if self._table is None else self._table.left_out

    @property
    def chart(self) -> object:
        """The picture as a plain Altair chart."""
        return loading_chart(self.release, **self._picture_settings())

    def new_draw(self) -> None:
        """Draw new noise, as the button does."""
        self.draw += 1

    def __repr__(self) -> str:
        if self._release is None:
            return f"LoadingExplorer({self.title!r}, nothing to draw: {self._why_nothing()})"
        shown = len(self._chosen())
        axes = " × ".join(f"PC{c}" for c in self.components)
        return (
            f"LoadingExplorer({self.title!r}, epsilon={self.epsilon:g}, delta={self.delta:g}, {self.calibration}, "
            f"draw {self.draw}, {self.kind}, {axes}, {shown} of {self._table.p} variables, "
            f"reference {self.show_reference}, teaching)"
        )

    def _why_nothing(self) -> str:
        """Why there are no loadings."""
        if self._draws is not None:
            return self._frame.get("error", "not computed yet")
        return plain(" ".join(empty(self._table, self._problem)))

    # ----- the frame -----

    def _picture_settings(self) -> dict:
        """Arguments of the picture shown."""
        components = self.components
        if self.kind == "heatmap":
            components = tuple(sorted({*range(1, min(HEATMAP_COMPONENTS, self._table.p) + 1), *components}))
        return {
            "kind": self.kind,
            "components": components,
            "variables": self.variables,
            "labels": self.labels,
            "reference": self.show_reference,
        }

    def _chosen(self) -> tuple[int, ...]:
        """Positions of the variables shown."""
        return make_picture(self._release, **self._picture_settings()).shown

    def _make_frame(self, layouts: list[str]) -> dict:
        if self._draws is None:
            return {"title": self.title, "empty": empty(self._table, self._problem)}
        self._release = self._next_release()
        picture = make_picture(self._release, **self._picture_settings())
        pair = (
            picture
            if self.kind != "heatmap"
            else make_picture(
                self._release,
                components=self.components,
                variables=[j + 1 for j in picture.shown],
                reference=self.show_reference,
            )
        )
        self._half, self._pair = zoom(pair, self._half, self._dragging), pair
        exact = self._draws.exact_angle(self.components)
        status, beware = words.status(pair, exact)
        guarantee = self._release.guarantee
        return {
            "title": self.title,
            "badge": "Teaching",
            "file": "loadings",
            "banner": words.BANNER,
            "spec": "heatmap" if self.kind == "heatmap" else "plane",
            "panels": len(picture.panels),
            "across": len(picture.components),
            "signals": signals(picture, side=1, half=self._half),
            "words": {
                "ttl": picture.title(),
                "subtitles": [{"width": width, "lines": picture.subtitle(width)} for width in SUBTITLE_WIDTHS],
                "ax": f"PC{self.components[0]}",
                "ay": f"PC{self.components[1]}",
            },
            # as text: ipywidgets would look for buffers in every single value
            "rows": {layout: json.dumps(rows) for layout, rows in self._rows(picture, layouts).items()},
            "table": frame.table(pair, self._half, self._about),
            "controls": frame.controls(self, picture),
            "readout": words.readout(guarantee),
            "status": status,
            "beware": beware,
            "notes": words.notes(self._draws, self._table.left_out),
            "statement": words.guarantee(guarantee),
            "void": bool(picture.void),
            "description": words.description(picture),
            "code": frame.code("LoadingExplorer", self._made, {name: getattr(self, name) for name in self._settings}),
        }

    def _settles(self) -> bool:
        return self._pair is not None and zoom(self._pair, self._half) != self._half

    def _next_release(self) -> LoadingRelease:
        """Scale the kept draw to the budget; signs follow the last picture, so that it does not flip under a slider."""
        release = self._draws.release(Budget(self.epsilon, self.delta), self.calibration, self.draw)
        if self._previous is not None:
            release = dataclasses.replace(release, loadings=align_signs(release.loadings, self._previous))
        self._previous = release.loadings.to_numpy(copy=True)  # the caller may change what is handed out
        return release

    def _rows(self, picture: LoadingPicture, layouts: list[str]) -> dict[str, list[dict]]:
        """Rows for every layout that a view asks for; a heatmap needs only one set."""
        if picture.kind == "heatmap":
            return {"": heatmap_rows(picture)}
        rows = {}
        for layout in layouts:
            side, font = frame.measures(layout)
            rows[layout], self._slots[layout] = plane_rows(
                picture, side=side, half=self._half, font=font, previous=self._slots.get(layout)
            )
        self._slots = {layout: self._slots[layout] for layout in rows}
        return rows

    def _static_chart(self) -> object:
        return None if self._release is None else self.chart
