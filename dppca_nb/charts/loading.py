"""`loading_chart`: a release as an Altair chart, with everything a reader needs to judge it in the picture."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import altair as alt
import pandas as pd

from dppca_nb.charts import theme
from dppca_nb.charts.choices import DIGITS
from dppca_nb.charts.heatmap import INK, heatmap_rows, heatmap_spec
from dppca_nb.charts.picture import LoadingPicture, make_picture
from dppca_nb.charts.plane import plane_rows, zoom
from dppca_nb.charts.plane_spec import SIDE, plane_spec, title_params
from dppca_nb.core.loading import LoadingRelease


class _ScriptSafe(json.JSONEncoder):
    """JSON that is safe inside a script element: a name with ``</script>`` stays a name."""

    def encode(self, o: object) -> str:
        return super().encode(o).replace("<", "\\u003c")


def _escaping(kwargs: dict) -> dict:
    """Let Altair write its JSON by `_ScriptSafe`; Altair itself does not escape it."""
    return {**kwargs, "json_kwds": {"cls": _ScriptSafe, **(kwargs.get("json_kwds") or {})}}


class _Drawn:
    """A chart that any notebook can show: a picture for the eye, its rounded numbers as text for a comparison.

    Altair's own default fetches its program from the network and stays blank without it. A renderer that the user has
    chosen is respected.
    """

    def _repr_mimebundle_(self, *args: object, **kwargs: object) -> dict | tuple | None:
        if alt.renderers.active != "default":
            return super()._repr_mimebundle_(*args, **kwargs)
        picture, size = png_output(self)
        return {"image/png": picture, "text/plain": self.digest}, {"image/png": size}

    def to_html(self, *args: object, **kwargs: object) -> str:
        """Write a page that needs no network, and in which no variable name can end the script that holds it."""
        return super().to_html(*args, **{"inline": True, **_escaping(kwargs)})

    def save(self, fp: object, format: str | None = None, **kwargs: object) -> None:  # noqa: A002 (Altair's name)
        """Save as HTML, PNG, SVG, PDF or JSON; HTML is written as by `to_html`."""
        if format == "html" or (format is None and str(fp).endswith(".html")):
            kwargs = {"inline": True, **kwargs}
        super().save(fp, format, **_escaping(kwargs))

    @property
    def digest(self) -> str:
        """What is drawn, in words and rounded numbers."""
        return self.usermeta["digest"]


class LoadingChart(_Drawn, alt.FacetChart):
    """One kind of picture: an `altair.FacetChart` that shows itself without a network."""


class LoadingCharts(_Drawn, alt.HConcatChart):
    """Several kinds side by side: an `altair.HConcatChart` that shows itself without a network."""


def png(chart: alt.TopLevelMixin, scale: float = 2) -> bytes:
    """Draw a chart as PNG, offline."""
    import vl_convert  # here: it starts a JavaScript engine, which an import of the package should not

    with _own_settings():
        spec = chart.to_dict()
    version = ".".join(alt.SCHEMA_VERSION.lstrip("v").split(".")[:2])
    return vl_convert.vegalite_to_png(spec, vl_version=version, scale=scale)


@contextmanager
def _own_settings() -> Iterator[None]:
    """Write a specification without the user's theme and data transformer, which are for the user's charts."""
    with alt.theme.enable("none"), alt.data_transformers.enable("default"):
        yield


def png_output(chart: alt.TopLevelMixin) -> tuple[bytes, dict[str, int]]:
    """PNG with twice the points it is shown at, and the size to show it at."""
    picture = png(chart, scale=2)
    width, height = (int.from_bytes(picture[at : at + 4], "big") // 2 for at in (16, 20))  # from the file's header
    return picture, {"width": width, "height": height}


def loading_chart(
    release: LoadingRelease,
    kind: str | Iterable[str] = "vector",
    components: Iterable[int] | None = None,
    variables: int | str | Iterable[str | int] = 10,
    labels: bool = True,
    reference: str | bool | None = None,
) -> alt.FacetChart | alt.HConcatChart:
    """Draw the loadings of a release.

    Variable j stands at (v[j, a], v[j, b]), the entries of two private directions: an arrow from the origin
    ("vector") or a mark ("point") on equal axes around 0, with the unit circle as a guide; or its signed entries are
    the cells of a heatmap on one fixed scale from -1 to 1. Loadings are not scaled by any eigenvalue.

    Parameters
    ----------
    release : LoadingRelease
        From `dp_loading`. Everything drawn but the reference is a function of its noisy matrix and of public facts.
    kind : {"vector", "point", "heatmap"} or a list of them
        A list gives the kinds side by side, one row per version.
    components : sequence of int
        Component numbers from 1: two of them for a vector or point picture, any number for a heatmap. By default the
        first two.
    variables : int, "all", or list of str and int
        A number picks that many of the longest rows over the components drawn (chosen from the private loadings,
        also for the reference); a list holds names or positions from 1. At most 300 are drawn.
    labels : bool
        Whether names (in a heatmap: values) are written into the picture. No two labels overlap; what finds no place
        is counted, and named in its tooltip.
    reference : bool or {"off", "beside", "underneath"}, optional
        Where to draw ordinary principal directions, which are not private. By default beside the private ones if the
        release carries them. Their signs follow the private ones.

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
    if not isinstance(release, LoadingRelease):
        raise TypeError(f"release must come from dp_loading(...); got {type(release).__name__}.")
    kinds = [kind] if isinstance(kind, str) or not isinstance(kind, Iterable) else list(kind)
    if not kinds:
        raise ValueError('kind must be "vector", "point", "heatmap" or a list of them; got an empty list.')
    components, variables = (_kept(argument) for argument in (components, variables))
    pictures = [
        make_picture(release, kind=each, components=components, variables=variables, labels=labels, reference=reference)
        for each in kinds
    ]
    if len(pictures) == 1:
        return _dressed(*_one(pictures[0]), pictures, LoadingChart)
    charts, values = zip(*(_one(picture, stacked=True) for picture in pictures), strict=True)
    merged = {name: value for each in values for name, value in each.items()}
    row = alt.hconcat(*charts, spacing=40).resolve_scale(fill="independent")
    row = row.properties(title=_title(pictures[0], title_params(bare=False), 880))
    return _dressed(row, merged, pictures, LoadingCharts)


def _kept(argument: object) -> object:
    """Read an iterator once and for all; each kind looks at the argument."""
    return list(argument) if isinstance(argument, Iterator) else argument


def signals(picture: LoadingPicture, *, side: float, half: float) -> dict:
    """Values of the signals of a picture's specification, but for the colours."""
    header_0, header_1 = picture.headers()
    common = {"h0": header_0, "h1": header_1, "warn": bool(picture.void), "hl": None}
    if picture.kind == "heatmap":
        return {**common, **INK, "values": picture.labels, "fulls": picture.names, "texts": picture.texts}
    return {**common, "R": half, "u": 2 * half / side}


def live_spec(kind: str, panels: int) -> dict:
    """Specification of a view whose words, colours and rows are all replaced while it lives.

    Vega-Lite takes signals for titles, which Altair's schema does not know; they are written in here.
    """
    chart = heatmap_spec(panels) if kind == "heatmap" else plane_spec(panels)
    names = {**INK, "R": 1, "u": 0.005, "hl": None, "warn": False, "h0": "", "h1": "", "ttl": ""}
    names |= {"sub": [""], "ax": "", "ay": "", "values": True, "fulls": [""], "texts": [""], "cellh": 26, "cellw": 60}
    chart = chart.configure(**{**theme.CONFIG, "background": "transparent"})
    with _own_settings():
        spec = chart.properties(params=_parameters(names)).to_dict()
    spec["title"] |= {"text": {"expr": "ttl"}, "subtitle": {"expr": "sub"}}
    if kind != "heatmap":
        for channel, name in (("x", "ax"), ("y", "ay")):
            spec["spec"]["encoding"][channel]["axis"]["title"] = {"expr": name}
    return spec


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
        chart.title = _title(picture, chart.title.copy(), 440 * columns)
    chart.data = alt.InlineData(values=rows, name=f"rows_{picture.kind}")
    return chart, values


def _title(picture: LoadingPicture, title: alt.TitleParams, width: float) -> alt.TitleParams:
    """Write the words of a picture into its title."""
    title.text, title.color = picture.title(), theme.LIGHT["ink"]
    title.subtitle = [theme.plain_powers(line) for line in picture.subtitle(width)]
    title.subtitleColor = theme.LIGHT["warntext" if picture.void else "muted"]
    return title


def _dressed(chart: alt.TopLevelMixin, values: dict, pictures: list[LoadingPicture], dress: type) -> alt.TopLevelMixin:
    """Give a chart its signals, its style, its digest, and the class that shows itself."""
    chart = chart.configure(**theme.CONFIG).properties(
        params=_parameters(values), usermeta={"digest": "\n\n".join(map(digest, pictures))}
    )
    return dress(**{name: value for name, value in chart._kwds.items() if value is not alt.Undefined})


def _parameters(values: dict) -> list[alt.VariableParameter]:
    """Declare signals; set as a whole, because Altair cannot merge those of facetted layers."""
    return [alt.VariableParameter(name=name, value=value) for name, value in {**theme.LIGHT, **values}.items()]


def digest(picture: LoadingPicture) -> str:
    """Say what a picture shows, in words and rounded numbers."""
    total, panels = picture.release.p, []
    for panel in picture.panels if picture.nonprivate is None or picture.reference == "beside" else (0, 1):
        values = picture.private if panel == 1 else picture.nonprivate
        name = "private" if panel == 1 else "reference"
        for column, component in enumerate(picture.components):
            panels.append(pd.Series(values[:, column], index=picture.texts, name=f"{name} PC{component}"))
    frame = pd.concat(panels, axis=1)
    head = f"{picture.title()}: {picture.kind}, {len(picture.shown)} of {total} variables"
    lines = [head, *picture.subtitle(1000)]
    if picture.separation is not None and not picture.separation.separated:
        lines.append(f"The two axes are not separated: they may turn by {picture.turn:.0f}° within their plane.")
    return "\n".join([*lines, frame.to_string(float_format=f"%.{DIGITS}f")])
