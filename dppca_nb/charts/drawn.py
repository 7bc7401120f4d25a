"""Charts that show themselves without a network: as a picture, as text, and as a page that holds all it needs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager

import altair as alt

from dppca_nb.charts import theme


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


class DrawnChart(_Drawn, alt.FacetChart):
    """One kind of picture: an `altair.FacetChart` that shows itself without a network."""


class DrawnCharts(_Drawn, alt.HConcatChart):
    """Several pictures side by side: an `altair.HConcatChart` that shows itself without a network."""


def png(chart: alt.TopLevelMixin, scale: float = 2) -> bytes:
    """Draw a chart as PNG, offline."""
    import vl_convert  # here: it starts a JavaScript engine, which an import of the package should not

    with own_settings():
        spec = chart.to_dict()
    version = ".".join(alt.SCHEMA_VERSION.lstrip("v").split(".")[:2])
    return vl_convert.vegalite_to_png(spec, vl_version=version, scale=scale)


@contextmanager
def own_settings() -> Iterator[None]:
    """Write a specification without the user's theme and data transformer, which are for the user's charts."""
    with alt.theme.enable("none"), alt.data_transformers.enable("default"):
        yield


def png_output(chart: alt.TopLevelMixin) -> tuple[bytes, dict[str, int]]:
    """PNG with twice the points it is shown at, and the size to show it at."""
    picture = png(chart, scale=2)
    width, height = (int.from_bytes(picture[at : at + 4], "big") // 2 for at in (16, 20))  # from the file's header
    return picture, {"width": width, "height": height}


def dressed(chart: alt.TopLevelMixin, values: dict, digest: str) -> DrawnChart | DrawnCharts:
    """Give a chart its signals, its style, its digest, and the class that shows itself; the chart is used up."""
    dress = DrawnChart if isinstance(chart, alt.FacetChart) else DrawnCharts
    parts = {name: value for name, value in chart._kwds.items() if value is not alt.Undefined and name != "data"}
    made = dress(**parts)
    # Set as they are: Altair's own methods would copy the whole chart, rows and all, each time.
    made.data, made.params, made.usermeta = chart.data, parameters(values), {"digest": digest}
    made.config = alt.Config(**theme.CONFIG)
    return made


def parameters(values: dict) -> list[alt.VariableParameter]:
    """Declare signals; set as a whole, because Altair cannot merge those of facetted layers."""
    return [alt.VariableParameter(name=name, value=value) for name, value in {**theme.LIGHT, **values}.items()]


def live(chart: alt.FacetChart, values: dict, axes: str = "") -> dict:
    """Write the specification of a view whose words, colours and rows are all replaced while it lives.

    Vega-Lite takes signals for titles, which Altair's schema does not know; they are written in here, and for each axis
    in ``axes`` ("x", "y" or both), whose titles are the signals ``ax`` and ``ay``.
    """
    chart = chart.configure(**{**theme.CONFIG, "background": "transparent"})
    words = {"hl": None, "warn": False, "heads": ["", ""], "ttl": "", "sub": [""], "ax": "", "ay": ""}
    with own_settings():
        # not validated: that takes a second, and the tests have done it
        spec = chart.properties(params=parameters({**values, **words})).to_dict(validate=False)
    spec["title"] |= {"text": {"expr": "ttl"}, "subtitle": {"expr": "sub"}}
    for axis in axes:
        spec["spec"]["encoding"][axis]["axis"]["title"] = {"expr": f"a{axis}"}
    return spec
