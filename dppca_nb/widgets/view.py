"""One live view: a specification sent once, rows and signals replaced in place, and a picture for readers without it.

Explorers derive from `LiveView`; what they compute and say goes into one synced frame, so that a change is one message.
"""

from __future__ import annotations

import threading
import time
import weakref
from functools import cache
from pathlib import Path

import anywidget
import traitlets
from threadpoolctl import ThreadpoolController

from dppca_nb.charts.drawn import png_output

STATIC = Path(__file__).parent / "static"
SLOW = 0.15  # seconds: a change that takes longer waits until the slider is released
MOST_LAYOUTS = 8

_alive: weakref.WeakSet[LiveView] = weakref.WeakSet()


class Setting(traitlets.Any):
    """A trait of any type whose check also sees None, and which the browser shares."""

    allow_none = False

    def __init__(self, default: object):
        super().__init__(default)
        self.tag(sync=True)


class SettingError(traitlets.TraitError, ValueError):
    """A setting that cannot be taken; the widget keeps its last picture and says why."""


def bundled(name: str) -> str:
    """Read a module that the build hook made; without it, say how to make it."""
    path = STATIC / name
    if not path.exists():
        raise FileNotFoundError(
            f"{path.name} is missing: installing the package makes it. In a source tree run `pip install -e .`."
        )
    return path.read_text(encoding="utf-8")


class LiveView(anywidget.AnyWidget):
    """A live chart with controls in the browser; derived classes say what it shows.

    A derived class names the settings that lead to another frame (`_settings`) and makes a frame (`_make_frame`). It
    validates its traits with `_accept`, so that a setting which cannot be taken is said in the view and raised.
    """

    _css = (STATIC / "explorer.css").read_text(encoding="utf-8")  # a path would make anywidget keep every instance
    # ----- to the browser -----
    _view = traitlets.Unicode(help="Which view of the module shows it.").tag(sync=True)
    _specs = traitlets.Dict(help="Vega-Lite specifications by name, sent once.").tag(sync=True)
    _frame = traitlets.Dict(help="Rows, signals and words of the picture shown.").tag(sync=True)
    # ----- from the browser -----
    _layouts = traitlets.List(traitlets.Unicode(), help="Panel side and font width that the views need.").tag(sync=True)
    _dragging = traitlets.Bool(False, help="Whether a slider is being dragged.").tag(sync=True)

    _settings: tuple[str, ...] = ()

    def __init__(self, **traits: object):
        # JupyterLab handles messages of widgets in a thread of their own, beside the one that runs cells.
        self._turn = threading.RLock()
        self._shown: object = None
        self._refused: str | None = None
        self._seconds = 0.0
        super().__init__(**traits)
        self._replace_earlier()
        self.observe(self._on_change, [*self._settings, "_layouts", "_dragging"])
        self._redraw()

    # ----- one path from a change to a frame -----

    def _on_change(self, change: dict) -> None:
        if change["name"] != "_dragging":
            self._redraw()
        elif not change["new"] and self._settles():
            self._shown = None
            self._redraw()

    def _settles(self) -> bool:
        """Whether the picture changes when a slider is let go, though no setting does."""
        return False

    def _redraw(self) -> None:
        """Make a frame if the settings differ from those of the last one; a failure is said in the view."""
        with self._turn:
            self._redraw_now()

    def _redraw_now(self) -> None:
        wanted = (tuple(map(repr, (getattr(self, name) for name in self._settings))), tuple(self._layouts))
        if wanted == self._shown:
            return
        started = time.perf_counter()
        try:
            with _blas().limit(limits=1, user_api="blas"):  # threads would wait for each other and for the browser
                frame = self._make_frame(self._layouts[-MOST_LAYOUTS:])
        except Exception as error:  # whatever it is: the widget goes on with its last picture
            self._shown = None
            self._say(f"{type(error).__name__}: {error}")
            return
        self._shown = wanted
        self._seconds = time.perf_counter() - started
        said = {} if self._refused is None else {"error": self._refused}
        self._frame = {**frame, **said, "slow": self._seconds > SLOW}

    def _make_frame(self, layouts: list[str]) -> dict:
        """Compute what is shown; rows for each layout."""
        raise NotImplementedError

    def _say(self, error: str | None) -> None:
        """Write beside the last picture why there is no newer one."""
        if self._frame.get("error") != error:
            kept = {name: part for name, part in self._frame.items() if name != "error"}
            self._frame = kept if error is None else {**kept, "error": error}

    def _accept(self, check: object, *args: object) -> object:
        """Validate one setting: what the check returns is taken, what it raises is said in the view and raised."""
        try:
            taken, self._refused = check(*args), None
        except (TypeError, ValueError) as error:
            self._refused = str(error)
            raise SettingError(self._refused) from None
        finally:
            self._say(self._refused)
        return taken

    def set_state(self, sync_data: dict) -> None:
        """Take settings from the browser; one that cannot be taken is said in the view, where its cause is."""
        try:
            super().set_state(sync_data)
        except SettingError as error:
            self.send_state(list(sync_data))  # the browser goes back to what holds
            self._say(str(error))  # again: what was said inside was rolled back with the setting

    # ----- life cycle -----

    def _replace_earlier(self) -> None:
        """Close what the same cell made when it ran before: its outputs are gone, its module still takes memory."""
        self._cell, self._run = _running_cell()
        for other in list(_alive):
            if self._cell and other._cell == self._cell and other._run != self._run:
                other.close()
        _alive.add(self)

    def close(self) -> None:
        """Close every view and forget; closing twice does no harm."""
        _alive.discard(self)
        self.unobserve_all()
        self.layout.close()
        super().close()
        vars(self).pop("_repr_mimebundle_", None)  # ipywidgets takes it away; the static picture stays

    # ----- without a browser -----

    def _repr_mimebundle_(self, **kwargs: object) -> tuple[dict, dict] | None:
        """Add a static picture and a text to the live view, for saved notebooks and pages that run no widgets."""
        made = None if self.comm is None else super()._repr_mimebundle_(**kwargs)  # None: closed
        bundle, metadata = made if isinstance(made, tuple) else (made, {})
        bundle = {**(bundle or {}), "text/plain": repr(self)}
        chart = self._static_chart()
        if chart is not None:
            bundle["image/png"], size = png_output(chart)
            metadata = {**metadata, "image/png": size}
        return bundle, metadata

    def _static_chart(self) -> object:
        """Chart that stands for the view where no widget runs; None where there is nothing to draw."""
        raise NotImplementedError


@cache
def _blas() -> ThreadpoolController:
    """The linear algebra libraries of this process, looked up once."""
    return ThreadpoolController()


def _running_cell() -> tuple[str | None, str | None]:
    """Identify the notebook cell being run, and this run of it; None where the front end does not say."""
    try:
        from IPython import get_ipython

        parent = get_ipython().kernel.get_parent("shell")
        return parent["metadata"].get("cellId"), parent["header"]["msg_id"]
    except (ImportError, AttributeError, KeyError, TypeError):
        return None, None
