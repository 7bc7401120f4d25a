"""What may colour the points of `PCAExplorer`: columns that are no variables, and values of the caller's own."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from dppca_nb._columns import display_names
from dppca_nb.charts.shades import COLOURS, Shade, make_shade
from dppca_nb.charts.text import drawable_names
from dppca_nb.core.pca import PCAResult

OFF, ROW_MEAN = "off", "row mean"


class Colorings:
    """Colourings by the names that the control shows; those of the caller's data stay as they were when offered."""

    def __init__(self):
        self._shades: dict[str, Shade | None] = {OFF: None, ROW_MEAN: None}  # the mean differs with every result
        self.own: str | None = None  # the name of the caller's own colours

    @property
    def names(self) -> tuple[str, ...]:
        """What there is to choose from."""
        return tuple(self._shades)

    def offer_columns(self, data: object, left_out: Iterable[str]) -> None:
        """Offer the columns of a pandas frame that are no variables and have few levels."""
        if not isinstance(data, pd.DataFrame):
            return
        for position, name in enumerate(display_names(data.columns)):
            if name in left_out and (shade := _few_levels(data.iloc[:, position], name)):
                self._offer(shade)

    def choose(self, color: object, rows: pd.Index) -> str:
        """Return the name of what is asked for; values of the caller's own are offered first."""
        if color is None or isinstance(color, str):
            return OFF if color is None else color
        self.own = self._offer(make_shade(color, rows))
        return self.own

    def _offer(self, shade: Shade) -> str:
        """Offer a colouring by a name that means no other one; return the name."""
        name = drawable_names((*self._shades, shade.name))[-1]
        self._shades[name] = shade
        return name

    def of(self, name: str, result: PCAResult) -> pd.Series | Shade | None:
        """What colours the points of a result; the mean of a row is that of its centred and scaled entries."""
        if name == ROW_MEAN:
            return (result.scores @ result.directions.mean().to_numpy()).rename(ROW_MEAN)
        return self._shades[name]

    def legends(self) -> dict[str, tuple[str, str]]:
        """Kind of every colouring, and title of its legend."""
        own = {name: (shade.kind, shade.name) for name, shade in self._shades.items() if shade is not None}
        return {OFF: ("", ""), ROW_MEAN: ("number", ROW_MEAN), **own}


def _few_levels(values: pd.Series, name: str) -> Shade | None:
    """Take a column as colours; None if it has a gap, too many levels, or some that cannot be told apart."""
    try:
        few = values.nunique() <= len(COLOURS)
        return make_shade(values.rename(name).reset_index(drop=True), pd.RangeIndex(len(values))) if few else None
    except (TypeError, ValueError):
        return None
