"""What one picture of loadings shows: which variables, which numbers, which words. Layout comes later."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dppca_nb.charts import theme
from dppca_nb.charts.choices import (
    DIGITS,
    KINDS,
    UNCERTAINTIES,
    check_choice,
    check_components,
    check_reference,
    check_truth,
    choose_variables,
)
from dppca_nb.charts.spread import Ellipse, ellipses
from dppca_nb.charts.subject import Axes, Subject, subject_of
from dppca_nb.charts.text import drawable_names, filled, short_names
from dppca_nb.core.align import align_signs, subspace_angles
from dppca_nb.core.pca import PCAResult
from dppca_nb.core.release import LoadingRelease
from dppca_nb.core.uncertainty import LoadingUncertainty, quantiles

ROOMY = 14  # rows of a heatmap, as high as they are drawn, that have room for half-widths


@dataclass(frozen=True, eq=False)
class LoadingPicture:
    """The numbers and words of one picture.

    Attributes
    ----------
    subject : Subject
        What the picture is about.
    kind : {"vector", "point", "heatmap"}
    components : tuple of int
        Numbered from 1; exactly two unless a heatmap.
    labels : bool
        Whether names (for a heatmap: values) are written into the picture.
    reference : {"off", "beside", "underneath"}
    shown : tuple of int
        Positions of the variables drawn: the longest first, or in the order that was asked for.
    ordered : bool
        Whether the order of ``shown`` was asked for by naming the variables.
    private, nonprivate : ndarray, shape (len(shown), len(components))
        Loadings, rounded; ``nonprivate`` is None where no reference is drawn. Its signs follow the private ones.
    axes : Axes or None
        Whether the axes of the plane are defined; None for a heatmap.
    uncertainty : {"off", "ellipses", "cloud"}
        How redraws of the noise are drawn; in a heatmap they make cells pale.
    spread : LoadingUncertainty or None
        The redraws; None where none are drawn.
    """

    subject: Subject
    kind: str
    components: tuple[int, ...]
    labels: bool
    reference: str
    shown: tuple[int, ...]
    ordered: bool
    private: np.ndarray
    nonprivate: np.ndarray | None
    axes: Axes | None
    uncertainty: str = "off"
    spread: LoadingUncertainty | None = None

    @cached_property
    def every(self) -> tuple[str, ...]:
        """Names of all variables of the table."""
        return tuple(self.subject.loadings.index.tolist())

    @cached_property
    def names(self) -> list[str]:
        """Full names of the variables drawn, in characters that can be drawn, all different."""
        names = drawable_names(self.every)
        return [names[j] for j in self.shown]

    @cached_property
    def texts(self) -> list[str]:
        """Names short enough to draw, all different."""
        names = short_names(self.every)
        return [names[j] for j in self.shown]

    @property
    def lengths(self) -> np.ndarray:
        """Length of each variable's row over the components drawn."""
        return np.round(np.sqrt(np.sum(self.private**2, axis=1)), DIGITS)

    @property
    def void(self) -> list[str]:
        """Why the guarantee does not hold, briefly."""
        return list(self.subject.voids)

    @property
    def p(self) -> int:
        """Number of variables of the table."""
        return len(self.subject.loadings)

    @cached_property
    def pale(self) -> frozenset[int]:
        """Positions of the variables that are drawn pale."""
        pale = self.subject.pale(self.components)
        return frozenset(j for j in self.shown if self.every[j] in pale)

    @property
    def panels(self) -> tuple[int, ...]:
        """Panels drawn: 0 for the reference, 1 for the subject."""
        return (0, 1) if self.reference == "beside" else (1,)

    @cached_property
    def plane_angle(self) -> float:
        """Largest principal angle, in degrees, between the plane drawn and the reference's."""
        columns = [c - 1 for c in self.components]
        pair = (self.subject.loadings, self.subject.reference)
        return float(subspace_angles(*(frame.to_numpy()[:, columns] for frame in pair))[0])

    # ----- redraws of the noise, where they are drawn -----

    @cached_property
    def redraws(self) -> np.ndarray:
        """Redrawn loadings, shape (B, len(shown), len(components)); turned within their plane if the axes are loose."""
        return self.spread.plane(self.components, self.axes is not None and self.axes.loose)[:, list(self.shown)]

    @cached_property
    def ellipses(self) -> list[Ellipse]:
        """Ellipse of each variable's redraws on the two components."""
        return ellipses(self.redraws)

    @cached_property
    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Both ends of the interval that holds 90 % of the redraws of each loading, rounded."""
        lower, upper = quantiles(self.redraws, self.spread.level)
        return _rounded(lower), _rounded(upper)

    @cached_property
    def kept(self) -> np.ndarray:
        """Share of the redraws in which each loading keeps its sign."""
        return np.mean(self.redraws * self.private > 0, axis=0)

    # ----- words -----

    def title(self) -> str:
        """Name what is drawn."""
        ranks = self.components
        if len(ranks) > 2 and ranks == tuple(range(ranks[0], ranks[-1] + 1)):
            what = f"PC{ranks[0]} to PC{ranks[-1]}"
        else:
            what = " and ".join(f"PC{c}" for c in ranks) if len(ranks) < 3 else ", ".join(f"PC{c}" for c in ranks)
        words = self.subject.what
        return f"{words if self.reference == 'off' else words.replace('Private loadings', 'Loadings')} {what}"

    def subtitle(self, width: float) -> list[str]:
        """State how the numbers were made, in lines of at most `width` pixels.

        First of all stands that a guarantee is void, if it is, and why.
        """
        lines = filled(self._parts, "  ·  ", width)
        if self.void:
            lines = filled(f"Guarantee void: {'; '.join(self.void)}".split(), " ", width) + lines
        return lines

    @cached_property
    def _parts(self) -> list[str]:
        """Parts of the subtitle, the same for every width."""
        drawn = f", {len(self.shown)} drawn" if len(self.shown) < self.p else ""
        compared, plane = self.reference != "off", self.kind != "heatmap"
        parts = self.subject.statement(self.components, drawn, compared=compared, plane=plane)
        return [*parts, *self._spread_words()]

    def _spread_words(self) -> list[str]:
        """Say what the redraws are, and what they leave out."""
        if self.spread is None:
            return []
        drawn = f"{theme.count(len(self.spread.draws))} noise redraws, not sampling error"
        if self.kind == "heatmap":
            widths = self.labels and len(self.shown) <= ROOMY
            return [f"pale{', in brackets' * self.labels}: sign unsure", f"{'± 90 % of ' * widths}{drawn}"]
        return [f"90 % ellipses of {drawn}" if self.uncertainty == "ellipses" else f"cloud of {drawn}"]

    def headers(self) -> tuple[str, str]:
        """Title the two panels; a single panel needs none."""
        return self.subject.reference_panel, self.subject.panel if self.reference == "beside" else ""


def make_picture(
    result: LoadingRelease | PCAResult,
    *,
    kind: str = "vector",
    components: Iterable[int] | None = None,
    variables: object = 10,
    labels: bool = True,
    reference: str | bool | None = None,
    uncertainty: str = "off",
    spread: LoadingUncertainty | None = None,
) -> LoadingPicture:
    """Choose, align and round what a picture shows.

    Parameters and errors are those of `loading_chart`.
    """
    subject = subject_of(result)
    check_choice("kind", kind, KINDS)
    check_choice("uncertainty", uncertainty, UNCERTAINTIES)
    labels = check_truth("labels", labels)
    count = subject.loadings.shape[1]
    if components is None:  # the first two; a heatmap can do with one
        components = range(1, min(2, count) + 1) if kind == "heatmap" else (1, 2)
    components = check_components(components, count, pair=kind != "heatmap")
    reference = check_reference(reference, subject.reference)
    if kind == "heatmap" and reference == "underneath":
        reference = "beside"  # cells cannot lie under cells
    columns = [c - 1 for c in components]
    drawn = subject.loadings.to_numpy()[:, columns]
    shown = choose_variables(variables, drawn, subject.loadings.index.tolist())
    nonprivate = None
    if reference != "off":
        nonprivate = _rounded(align_signs(subject.reference.to_numpy()[:, columns], drawn)[list(shown)])
    axes = subject.axes(components) if kind != "heatmap" else None
    ordered = not isinstance(variables, str) and isinstance(variables, Iterable)
    values = _rounded(drawn[list(shown)])
    if uncertainty == "off":
        spread = None
    else:
        spread = subject.redraws(max(components)) if spread is None else _checked(spread, subject, columns)
    return LoadingPicture(
        subject, kind, components, labels, reference, shown, ordered, values, nonprivate, axes, uncertainty, spread
    )


def _checked(spread: object, subject: Subject, columns: list[int]) -> LoadingUncertainty:
    """Refuse redraws of other loadings than those drawn."""
    if not isinstance(spread, LoadingUncertainty):
        raise TypeError(f"spread must come from release.uncertainty(...); got {type(spread).__name__}.")
    shown, (p, k) = spread.loadings, spread.loadings.shape
    if p != len(subject.loadings) or k <= max(columns):
        raise ValueError(
            f"spread holds {k} components of {p} variables, and the picture needs {max(columns) + 1} of "
            f"{len(subject.loadings)}. Make it from the same release, with enough components."
        )
    if np.abs(shown.to_numpy()[:, columns] - subject.loadings.to_numpy()[:, columns]).max() > 1e-6:
        raise ValueError("spread is of other loadings than those drawn. Make it from the same release.")
    return spread


def _rounded(values: np.ndarray) -> np.ndarray:
    """Round to what is drawn, without a negative zero."""
    return np.round(values, DIGITS) + 0.0
