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
    check_choice,
    check_components,
    check_reference,
    check_truth,
    choose_variables,
)
from dppca_nb.charts.text import drawable_names, short_names, text_width
from dppca_nb.core.align import Separation, align_signs, separation, subspace_angles, turn_angle
from dppca_nb.core.loading import LoadingRelease
from dppca_nb.core.teaching import TEACHING


@dataclass(frozen=True, eq=False)
class LoadingPicture:
    """The numbers and words of one picture.

    Attributes
    ----------
    release : LoadingRelease
        Where the numbers come from.
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
    separation : Separation or None
        Whether the pair of components can be told apart; None for a heatmap.
    """

    release: LoadingRelease
    kind: str
    components: tuple[int, ...]
    labels: bool
    reference: str
    shown: tuple[int, ...]
    ordered: bool
    private: np.ndarray
    nonprivate: np.ndarray | None
    separation: Separation | None

    @cached_property
    def names(self) -> list[str]:
        """Full names of the variables drawn, in characters that can be drawn, all different."""
        every = drawable_names(tuple(self.release.loadings.index.tolist()))
        return [every[j] for j in self.shown]

    @cached_property
    def texts(self) -> list[str]:
        """Names short enough to draw, all different."""
        every = short_names(tuple(self.release.loadings.index.tolist()))
        return [every[j] for j in self.shown]

    @property
    def lengths(self) -> np.ndarray:
        """Length of each variable's row over the components drawn."""
        return np.round(np.sqrt(np.sum(self.private**2, axis=1)), DIGITS)

    @property
    def teaching(self) -> bool:
        """Whether the numbers come from data that are treated as public."""
        return TEACHING in self.release.guarantee.reasons

    @property
    def void(self) -> list[str]:
        """Why the guarantee does not hold, briefly; teaching alone claims none and so breaks none."""
        return [reason.brief for reason in self.release.guarantee.reasons if reason != TEACHING]

    @property
    def panels(self) -> tuple[int, ...]:
        """Panels drawn: 0 for the reference, 1 for the private loadings."""
        return (0, 1) if self.reference == "beside" else (1,)

    @property
    def loose(self) -> list[tuple[int, int]]:
        """Neighbouring components of a heatmap that the noise does not tell apart; a plane shows it by its axes."""
        if self.kind != "heatmap":
            return []
        shares, sigma = self.release.kendall_shares.to_numpy(), self.release.guarantee.sigma
        pairs = [(c, c + 1) for c in sorted(self.components) if c + 1 in self.components]
        return [pair for pair in pairs if not separation(shares, pair, sigma).separated]

    @cached_property
    def turn(self) -> float:
        """How far, in degrees, the two axes may turn within their plane under the noise (90 %)."""
        return turn_angle(self.separation.gap, self.release.guarantee.sigma)

    @property
    def plane_angle(self) -> float:
        """Largest principal angle, in degrees, between the private plane and the reference's."""
        columns = [c - 1 for c in self.components]
        pair = (self.release.loadings, self.release.reference)
        return float(subspace_angles(*(frame.to_numpy()[:, columns] for frame in pair))[0])

    # ----- words -----

    @property
    def _drawn_of_all(self) -> str:
        """How many variables are drawn, where not all are."""
        return f", {len(self.shown)} drawn" if len(self.shown) < self.release.p else ""

    def title(self) -> str:
        """Name what is drawn."""
        ranks = self.components
        if len(ranks) > 2 and ranks == tuple(range(ranks[0], ranks[-1] + 1)):
            what = f"PC{ranks[0]} to PC{ranks[-1]}"
        else:
            what = " and ".join(f"PC{c}" for c in ranks) if len(ranks) < 3 else ", ".join(f"PC{c}" for c in ranks)
        return f"Loadings on {what}" if self.teaching or self.reference != "off" else f"Private loadings on {what}"

    def subtitle(self, width: float) -> list[str]:
        """State the budget, what it really gives, the noise and the size, in lines of at most `width` pixels.

        First of all stands that the guarantee is void, if it is, and why.
        """
        g = self.release.guarantee
        exact = "exact" if g.calibration == "analytic" else f"exact {theme.exact_epsilon(g.exact_epsilon)}"
        parts = [
            f"ε {theme.epsilon(g.epsilon)} ({exact}), δ {theme.delta(g.delta)}",
            f"{g.calibration}, σ {theme.significant(g.sigma)}",
            f"n {theme.count(self.release.n)}, p {theme.count(self.release.p)}" + self._drawn_of_all,
        ]
        if self.teaching:
            parts.append("teaching, not a release")
        elif self.reference != "off":
            parts.append("with a reference: not a private release")
        if self.loose:
            parts.append("not separated: " + ", ".join(f"PC{a} from PC{b}" for a, b in self.loose))
        lines = _filled(parts, "  ·  ", width)
        if self.void:
            lines = _filled(f"Guarantee void: {'; '.join(self.void)}".split(), " ", width) + lines
        return lines

    def headers(self) -> tuple[str, str]:
        """Title the two panels; a single panel needs none."""
        if self.reference != "beside":
            return "Reference, not private", ""
        word = "With noise for" if self.teaching else "Released,"
        return "Reference, not private", f"{word} ε {theme.epsilon(self.release.guarantee.epsilon)}"


def make_picture(
    release: LoadingRelease,
    *,
    kind: str = "vector",
    components: Iterable[int] | None = None,
    variables: object = 10,
    labels: bool = True,
    reference: str | bool | None = None,
) -> LoadingPicture:
    """Choose, align and round what a picture shows.

    Parameters and errors are those of `loading_chart`.
    """
    check_choice("kind", kind, KINDS)
    labels = check_truth("labels", labels)
    if components is None:  # the first two; a heatmap can do with one
        components = range(1, min(2, release.p) + 1) if kind == "heatmap" else (1, 2)
    components = check_components(components, release.p, pair=kind != "heatmap")
    reference = check_reference(reference, release)
    if kind == "heatmap" and reference == "underneath":
        reference = "beside"  # cells cannot lie under cells
    columns = [c - 1 for c in components]
    private = release.loadings.to_numpy()[:, columns]
    shown = choose_variables(variables, private, list(release.loadings.index))
    nonprivate = None
    if reference != "off":
        nonprivate = _rounded(align_signs(release.reference.to_numpy()[:, columns], private)[list(shown)])
    sep = None
    if kind != "heatmap":
        sep = separation(release.kendall_shares.to_numpy(), components, release.guarantee.sigma)
    ordered = not isinstance(variables, str) and isinstance(variables, Iterable)
    drawn = _rounded(private[list(shown)])
    return LoadingPicture(release, kind, components, labels, reference, shown, ordered, drawn, nonprivate, sep)


def _filled(parts: list[str], between: str, width: float) -> list[str]:
    """Join parts into lines of at most `width` pixels; what is longer alone is broken at its spaces."""
    lines: list[str] = []
    for part in parts:
        longer = f"{lines[-1]}{between}{part}" if lines else part
        if lines and text_width(longer, 11) <= width:
            lines[-1] = longer
        elif text_width(part, 11) > width and " " in part:
            lines += _filled(part.split(), " ", width)
        else:
            lines.append(part)
    return lines


def _rounded(values: np.ndarray) -> np.ndarray:
    """Round to what is drawn, without a negative zero."""
    return np.round(values, DIGITS) + 0.0
