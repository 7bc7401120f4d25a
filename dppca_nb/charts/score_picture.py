"""What one picture of scores shows: which rows, which numbers, which words. Layout comes later."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from dppca_nb.charts import results as words
from dppca_nb.charts import theme
from dppca_nb.charts.choices import DIGITS, check_components, check_truth
from dppca_nb.charts.shades import Shade, make_shade
from dppca_nb.charts.text import drawable, filled, short_names
from dppca_nb.core.align import align_signs

MOST_ROWS = 2000  # a picture of more points is a smear, and a heavy one
MOST_FARTHEST = 200  # of these, in all panels together, the outermost: outliers are what a picture of scores is for
MOST_LABELS = 60


@dataclass(frozen=True, eq=False)
class ScorePicture:
    """The numbers and words of one picture of scores.

    Attributes
    ----------
    results : dict of str to result or DataFrame
        What is compared; one alone has the name "".
    components : tuple of int
        Two of them, numbered from 1.
    shade : Shade or None
        What colours the points.
    labels : bool
        Whether the names of rows are written into the picture.
    names : dict of int to str
        Of the rows that are drawn, by position.
    points : ndarray, shape (number of results, n, 2)
    drawn : ndarray of int
        Positions of the rows that are drawn.
    """

    results: dict[str, words.Components | pd.DataFrame]
    components: tuple[int, int]
    shade: Shade | None
    labels: bool
    names: dict[int, str]
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
        half = float(f"{half or 1.0:.6g}")  # so that the last bit of a CPU changes no picture
        x, y = (round(float(middle), _places(half)) + 0.0 for middle in low / 2 + high / 2)
        return x, y, half

    @cached_property
    def aspect(self) -> float:
        """Height of a panel over its width: units are equal on both axes, and a flat cloud needs no high panel."""
        across, up = np.ptp(self.points, axis=(0, 1))
        return max(0.45, min(1.0, round(20 * round(up / across, 6)) / 20)) if across > 0 else 1.0

    @cached_property
    def places(self) -> int:
        """Decimals that are drawn: a fraction of a pixel."""
        return _places(self.window[2])

    @cached_property
    def figures(self) -> int:
        """Significant digits that say as much as the decimals do, far from zero too."""
        x, y, half = self.window
        largest = math.floor(math.log10(max(abs(x), abs(y), half)))
        return min(15, max(DIGITS, largest + self.places))

    def rounded(self, value: float) -> float:
        """Round a coordinate to what is drawn."""
        return round(float(value), self.places) + 0.0

    def axis(self, which: int) -> str:
        """Name an axis: the component, and its share where one result says it."""
        component = self.components[which]
        (result, *others) = self.results.values()
        if others or not isinstance(result, words.RESULTS):
            return f"PC{component} score"
        return f"PC{component} score, {words.shares(result, (component,)).removeprefix(f'PC{component} ')}"

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
        elif isinstance(result, words.RESULTS):
            said = words.undefined(result, self.components)
            parts = [words.convention(result), words.size(result), *parts, *said]
        else:
            parts = [f"n {theme.count(self.n)}", *parts]
        return filled(parts, "  ·  ", width)

    def heads(self, width: float = 400) -> list[str | list[str]]:
        """Title every panel: the name of its result, and how it was computed, in lines of at most `width` pixels."""
        if len(self.results) == 1:
            return [""]
        names = short_names(list(self.results), int(width / 8))
        made = [
            [line for part in words.headed(name, result)[1:] for line in filled(part.split(", "), ", ", 0.92 * width)]
            if isinstance(result, words.RESULTS)
            else ["as given"]
            for name, result in self.results.items()
        ]  # 0.92: a header is bold
        if not any(isinstance(result, words.RESULTS) for result in self.results.values()):
            return names
        return [[name, *lines] for name, lines in zip(names, made, strict=True)]


def make_score_picture(
    results: object, components: Iterable[int] = (1, 2), *, color: object = None, labels: bool | None = None
) -> ScorePicture:
    """Choose and check what a picture shows; parameters and errors are those of `score_chart`."""
    found = words.named(
        results, (*words.RESULTS, pd.DataFrame), "a result of pca(...) or gini_pca(...), or a frame of scores"
    )
    tables = {name: _scores(name, result) for name, result in found.items()}
    index = words.observations(tables)
    places = [_places_of_components(table) for table in tables.values()]
    shared = [c for c in places[0] if all(c in others for others in places)]
    if len(shared) < 2:
        whose = "have" if len(tables) == 1 else "share"
        raise ValueError(f"a picture of scores needs two components; these scores {whose} {len(shared) or 'none'}.")
    components = check_components(components, max(shared), pair=True)
    if absent := [c for c in components if c not in shared]:
        listing = ", ".join(f"PC{c}" for c in shared[:9])
        raise ValueError(f"components must be among those of the scores, {listing}; got {absent[0]}.")
    columns = [[where[c] for c in components] for where in places]
    pairs = [table.iloc[:, pair] for table, pair in zip(tables.values(), columns, strict=True)]
    if any(pair.isna().to_numpy().any() for pair in pairs):
        raise ValueError("scores must be finite; some are missing. Leave those rows out of every result.")
    points = np.stack([pair.to_numpy(dtype=float) for pair in pairs])
    if not (np.abs(points) < words.LARGEST).all():
        raise ValueError(f"scores must be finite and below {words.LARGEST:g}; some are not.")
    if 0 < np.ptp(points, axis=1).max() < 1 / words.LARGEST:
        raise ValueError(f"scores must differ by more than {1 / words.LARGEST:g} to be drawn. Use a larger unit.")
    _turn(points, list(found.values()), components)
    labels = has_names(index) if labels is None else check_truth("labels", labels)
    shade, drawn = make_shade(color, index), _drawn(points)
    names = {int(row): drawable(str(index[row])) for row in drawn}
    return ScorePicture(found, components, shade, labels, names, points, drawn)


def _turn(points: np.ndarray, results: list, components: tuple[int, ...]) -> None:
    """Give later results, in place, the signs of the first, if both have directions of the same variables."""
    first, columns = results[0], [c - 1 for c in components]
    for one, result in zip(points[1:], results[1:], strict=True):
        if isinstance(first, words.RESULTS) and isinstance(result, words.RESULTS):
            base, other = first.directions, result.directions.reindex(first.directions.index)
            if len(base) == len(result.directions) and not other.isna().to_numpy().any():
                turned = align_signs(other.to_numpy()[:, columns], base.to_numpy()[:, columns])
                one *= np.sign(np.einsum("jk,jk->k", turned, other.to_numpy()[:, columns]))


def has_names(index: pd.Index) -> bool:
    """Whether rows have names of their own that a picture can hold, all different; numbers are none."""
    return not pd.api.types.is_numeric_dtype(index) and index.is_unique and len(index) <= MOST_LABELS


def _scores(name: str, result: words.Components | pd.DataFrame) -> pd.DataFrame:
    """Scores of a result; a frame of scores must hold real numbers."""
    if isinstance(result, words.RESULTS):
        return result.scores
    types = pd.api.types
    numeric = all(types.is_numeric_dtype(kind) and not types.is_complex_dtype(kind) for kind in result.dtypes)
    if not numeric or len(result) == 0:
        which = f"named {name!r} " if name else ""
        raise ValueError(
            f"the frame of scores {which}must have rows, and a numeric column for every component; "
            f"got {result.shape[0]} rows and {', '.join(map(str, result.dtypes))}."
        )
    return result


def _places_of_components(table: pd.DataFrame) -> dict[int, int]:
    """Where each component stands: by the name, if all columns are called PC1, PC7, ..., by position if not."""
    found = [re.fullmatch(r"PC([1-9]\d*)", name) if isinstance(name, str) else None for name in table.columns]
    numbers = [int(match[1]) for match in found if match]
    if len(numbers) < table.shape[1] or not table.columns.is_unique:
        numbers = range(1, table.shape[1] + 1)
    return {number: place for place, number in enumerate(numbers)}


def _places(half: float) -> int:
    """Decimals that are drawn in a window of this half-width: a fraction of a pixel."""
    return DIGITS - math.floor(math.log10(half))


def _drawn(points: np.ndarray) -> np.ndarray:
    """Rows to draw: all, or evenly spaced ones, and of every panel those that reach farthest."""
    n = points.shape[1]
    if n <= MOST_ROWS:
        return np.arange(n)
    middle, size = np.median(points, axis=1, keepdims=True), np.ptp(points) or 1.0
    reach = np.round(np.hypot(*np.moveaxis((points - middle) / size, -1, 0)), DIGITS + 2)
    farthest = np.argsort(-reach, axis=1, kind="stable")[:, : MOST_FARTHEST // len(points)]
    extreme = [np.round(points / size, DIGITS + 2).argmin(axis=1), np.round(points / size, DIGITS + 2).argmax(axis=1)]
    kept = np.unique(np.concatenate([farthest.ravel(), *(each.ravel() for each in extreme)]))
    return np.unique([*np.linspace(0, n - 1, MOST_ROWS - kept.size).astype(int), *kept])
