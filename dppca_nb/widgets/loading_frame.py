"""From the settings of the loading explorer to one frame: rows, signals, words and the state of the controls."""

from __future__ import annotations

import dataclasses
import json
from functools import lru_cache

import numpy as np

from dppca_nb.charts.heatmap import heatmap_rows
from dppca_nb.charts.loading import live_spec, signals
from dppca_nb.charts.picture import LoadingPicture, make_picture
from dppca_nb.charts.plane import plane_rows, zoom
from dppca_nb.core.align import align_signs
from dppca_nb.core.release import LoadingRelease
from dppca_nb.core.uncertainty import LoadingUncertainty, redraw, unit_noises
from dppca_nb.widgets import frame
from dppca_nb.widgets import loading_words as words
from dppca_nb.widgets.handed_mode import Handed
from dppca_nb.widgets.loading_settings import LoadingSettings

HEATMAP_COMPONENTS = 4
SUBTITLE_WIDTHS = (560, 400, 260, 180)  # pixels: two panels, one, a phone
REDRAWS = 60  # of the noise, for what is shown of its effect
MANY_VARIABLES = 60  # with more of them, a third of the redraws: each costs an eigendecomposition


@lru_cache(maxsize=1)
def _specifications() -> dict:
    """The two specifications, the same for every explorer."""
    return {"plane": live_spec("vector", 2), "heatmap": live_spec("heatmap", 2)}


class LoadingFrames(LoadingSettings):
    """A view of loadings that draws what its mode gives, and computes only what a setting changes."""

    title: str
    _about: dict[str, str]
    _made: dict
    _nothing: list[str] | None
    _busy: str | None = None  # what is being done, while it lasts

    def __init__(self, **traits: object):
        self._drawn = {}
        self._release: LoadingRelease | None = None
        self._pair: LoadingPicture | None = None
        self._previous, self._half, self._slots = None, None, {}
        self._units: np.ndarray | None = None
        self._spread: tuple[object, LoadingUncertainty | None] = (None, None)
        super().__init__(_specs=_specifications(), **traits)

    def _picture_settings(self) -> dict:
        """Arguments of the picture shown."""
        components = self.components
        if self.kind == "heatmap":
            components = tuple(sorted({*range(1, min(HEATMAP_COMPONENTS, self._mode.p) + 1), *components}))
        return {
            "kind": self.kind,
            "components": components,
            "variables": self.variables,
            "labels": self.labels,
            "reference": self.show_reference,
            "uncertainty": self.uncertainty,
        }

    def _chosen(self) -> tuple[int, ...]:
        """Positions of the variables shown."""
        return make_picture(self._release, **{**self._picture_settings(), "uncertainty": "off"}).shown

    def _make_frame(self, layouts: list[str]) -> dict:
        if self._mode is None:
            return {"title": self.title, "empty": self._nothing}
        self._release = self._next_release()
        self._drawn = {name: getattr(self, name) for name in ("epsilon", "delta", "calibration", "draw")}
        spread = self._redraws() if self.uncertainty != "off" or isinstance(self._mode, Handed) else None
        picture = make_picture(self._release, **self._picture_settings(), spread=spread)
        pair = picture if self.kind != "heatmap" else self._pair_of(picture, spread)
        self._half, self._pair = zoom(pair, self._half, self._dragging), pair
        status, beware = self._mode.status(pair, spread)
        guarantee = self._release.guarantee
        return {
            "title": self.title,
            "badge": self._mode.badge,
            "file": "loadings",
            "banner": self._mode.banner,
            "mode": self._mode.name,
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
            "controls": {**frame.controls(self, picture), **self._mode.controls(self)},
            "readout": words.readout(guarantee),
            "status": status,
            "beware": beware,
            "notes": self._mode.notes(),
            "statement": self._mode.statement(guarantee),
            "void": bool(picture.void),
            "description": words.description(picture),
            "ledger": self._mode.strip(self),
            **({} if self._busy is None else {"busy": self._busy}),
            "code": frame.code("LoadingExplorer", self._made, self._kept(), self._mode.arguments),
        }

    def _pair_of(self, picture: LoadingPicture, spread: LoadingUncertainty | None) -> LoadingPicture:
        """Make the plane of the two components, for the table beside a heatmap."""
        return make_picture(
            self._release,
            components=self.components,
            variables=[j + 1 for j in picture.shown],
            reference=self.show_reference,
            uncertainty="off" if spread is None else self.uncertainty,
            spread=spread,
        )

    def _kept(self) -> dict:
        """Settings that lead to this view."""
        return {name: getattr(self, name) for name in self._mode.settings}

    def _settles(self) -> bool:
        return self._pair is not None and zoom(self._pair, self._half) != self._half

    def _next_release(self) -> LoadingRelease:
        """Take what is shown; signs follow the last picture, so that it does not flip under a slider."""
        release = self._mode.release(self)
        if self._mode.released is not None:
            # What is shown follows from this matrix alone: signs, axes and places of labels of the last picture would
            # tell of a release with less noise.
            if release is not self._release:
                self._half, self._slots = None, {}
            self._previous = None
            return release
        if self._previous is not None:
            release = dataclasses.replace(release, loadings=align_signs(release.loadings, self._previous))
        self._previous = release.loadings.to_numpy(copy=True)  # the caller may change what is handed out
        return release

    def _redraws(self) -> LoadingUncertainty:
        """Redraw the noise of what is shown, with noise that is kept, so that clouds move smoothly, too."""
        release, p = self._release, self._mode.p
        leading = min(p, max(HEATMAP_COMPONENTS, *self.components))
        wanted = (leading, release.guarantee.sigma, release.loadings.to_numpy().tobytes())
        if self._spread[0] != wanted:
            if self._units is None:
                self._units = unit_noises(p, REDRAWS if p <= MANY_VARIABLES else REDRAWS // 3)
            centre = self._mode.centre(self, release)
            made = redraw(centre, release.guarantee.sigma, release.loadings, self._units, leading=leading)
            self._spread = (wanted, made)
        return self._spread[1]

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
