"""What one picture of scores shows: which rows, which numbers, which words. Layout comes later."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from dppca_nb.charts import results as words
from dppca_nb.charts import theme
from dppca_nb.charts.choices import DIGITS, check_components, check_truth
from dppca_nb.charts.shades import Shade, make_shade
from dppca_nb.charts.text import drawable, filled
from dppca_nb.core.pca import PCAResult

MOST_ROWS = 2000  # a picture of more points is a smear, and a heavy one
MOST_LABELS = 60


@dataclass(frozen=True, eq=False)
class ScorePicture:
    """The numbers and words of one picture of scores.

    Attributes
    ----------
    results : dict of str to PCAResult or DataFrame
        What is compared; one alone has the name "".
    components : tuple of int
        Two of them, numbered from 1.
    shade : Shade or None
        What colours the points.
    labels : bool
        Whether the names of rows are written into the picture.
    names : list of str
        Of all rows.
    points : ndarray, shape (number of results, n, 2)
    drawn : ndarray of int
        Positions of the rows that are drawn.
    """

    results: dict[str, PCAResult | pd.DataFrame]
    components: tuple[int, int]
    shade: Shade | None
    labels: bool
    names: list[str]
    points: np.ndarray
    drawn: np.ndarray

    @property
    def n(self) -> int:
        """Number of observations."""
        return self.points.shape[1]

    @cached_property
    def window(self) -> tuple[float, float, float]:
        """Middle across, middle up, and half-width of what all panels show."""
        low, high = self.points.min(axis=(0, 1)), self.points.max(axis=(0, 1))
        half = float(np.max((high - low) * [1, 1 / self.aspect])) / 2 * 1.12
        x, y = low / 2 + high / 2
        return float(x), float(y), half or 1.0

    @cached_property
    def aspect(self) -> float:
        """Height of a panel over its width: units are equal on both axes, and a flat cloud needs no high panel."""
        across, up = np.ptp(self.points, axis=(0, 1))
        return max(0.45, min(1.0, round(20 * up / across) / 20)) if across > 0 else 1.0

    @cached_property
    def places(self) -> int:
        """Decimals that are drawn: a fraction of a pixel."""
        return DIGITS - math.floor(math.log10(self.window[2]))

    def axis(self, which: int) -> str:
        """Name an axis: the component, and its share where one result says it."""
        component = self.components[which]
        (result, *others) = self.results.values()
        if others or not isinstance(result, PCAResult):
            return f"PC{component} score"
        return f"PC{component} score, {words.percent(result.shares.iloc[component - 1])} of the variance"

    def title(self) -> str:
        """Name what is drawn."""
        return "Scores on PC{} and PC{}".format(*self.components)

    def subtitle(self, width: float) -> list[str]:
        """State the convention and the size, in lines of at most `width` pixels."""
        few = len(self.drawn) < self.n
        parts = [f"{theme.count(len(self.drawn))} of {theme.count(self.n)} rows drawn"] if few else []
        (result, *others) = self.results.values()
        if others:
            parts = [f"n {theme.count(self.n)}, one scale for all panels", *parts]
        elif isinstance(result, PCAResult):
            said = words.undefined(result, self.components)
            parts = [words.convention(result), words.size(result), *parts, *said]
        else:
            parts = [f"n {theme.count(self.n)}", *parts]
        return filled(parts, "  ·  ", width)

    def heads(self) -> list[str | list[str]]:
        """Title every panel: the name of its result, and how it was computed."""
        made = [isinstance(result, PCAResult) for result in self.results.values()]
        if len(made) == 1 or not any(made):
            return list(self.results)
        pairs = zip(self.results.items(), made, strict=True)
        return [[name, words.convention(result, name) if known else "as given"] for (name, result), known in pairs]


def make_score_picture(
    results: object, components: Iterable[int] = (1, 2), *, color: object = None, labels: bool | None = None
) -> ScorePicture:
    """Choose and check what a picture shows; parameters and errors are those of `score_chart`."""
    found = words.named(results, (PCAResult, pd.DataFrame), "a result of pca(...) or a frame of scores")
    tables = {name: _scores(name, result) for name, result in found.items()}
    sizes = {name: len(table) for name, table in tables.items()}
    if len(set(sizes.values())) > 1:
        listing = ", ".join(f"{name!r} {n}" for name, n in sizes.items())
        raise ValueError(f"results that stand side by side must have the same number of rows; got {listing}.")
    components = check_components(components, min(table.shape[1] for table in tables.values()), pair=True)
    columns = [c - 1 for c in components]
    points = np.stack([table.to_numpy(dtype=float)[:, columns] for table in tables.values()])
    if not np.isfinite(points).all():
        raise ValueError("scores must be finite; some are missing, infinite or beyond the range of float64.")
    first = next(iter(tables.values()))
    names = [drawable(str(label)) for label in first.index]
    speaking = not pd.api.types.is_numeric_dtype(first.index) and first.index.is_unique
    labels = speaking and len(names) <= MOST_LABELS if labels is None else check_truth("labels", labels)
    shade = make_shade(color, first.index)
    return ScorePicture(found, components, shade, labels, names, points, _drawn(points))


def _scores(name: str, result: PCAResult | pd.DataFrame) -> pd.DataFrame:
    """Scores of a result; a frame of scores must hold at least two numeric columns."""
    if isinstance(result, PCAResult):
        return result.scores
    numeric = all(pd.api.types.is_numeric_dtype(kind) for kind in result.dtypes)
    if not numeric or len(result) == 0:
        which = f"named {name!r} " if name else ""
        raise ValueError(
            f"the frame of scores {which}must have rows, and a numeric column for every component; "
            f"got {result.shape[0]} rows and {', '.join(map(str, result.dtypes))}."
        )
    return result


def _drawn(points: np.ndarray) -> np.ndarray:
    """Rows to draw: all, or evenly spaced ones and those that reach farthest."""
    n = points.shape[1]
    if n <= MOST_ROWS:
        return np.arange(n)
    outermost = np.concatenate([points.argmin(axis=1).ravel(), points.argmax(axis=1).ravel()])
    return np.unique([*np.linspace(0, n - 1, MOST_ROWS - outermost.size).astype(int), *outermost])
