"""What one picture of loadings shows: which variables, which numbers, which words. Layout comes later."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dppca_nb.charts import theme
from dppca_nb.charts.labels import short_names, text_width
from dppca_nb.core.align import Separation, align_signs, separation, subspace_angles, turn_angle
from dppca_nb.core.loading import LoadingRelease
from dppca_nb.core.teaching import TEACHING

KINDS = ("vector", "point", "heatmap")
REFERENCES = ("off", "beside", "underneath")
MOST_VARIABLES = 300  # a picture of more than these is a smear, and a heavy one
DIGITS = 4  # what is drawn is rounded, so that the last bit of a CPU changes no picture


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
        """Full names of the variables drawn."""
        index = self.release.loadings.index.tolist()
        return [index[j] for j in self.shown]

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
        return [reason.brief for reason in self.release.guarantee.reasons if reason is not TEACHING]

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
            f"n {theme.count(self.release.n)}, p {theme.count(self.release.p)}",
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
    components: Iterable[int] = (1, 2),
    variables: object = 10,
    labels: bool = True,
    reference: str | bool | None = None,
) -> LoadingPicture:
    """Choose, align and round what a picture shows.

    Parameters and errors are those of `loading_chart`.
    """
    check_choice("kind", kind, KINDS)
    labels = check_truth("labels", labels)
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
    """Join parts into lines of at most `width` pixels; a part alone may be longer."""
    lines: list[str] = []
    for part in parts:
        longer = f"{lines[-1]}{between}{part}" if lines else part
        if lines and text_width(longer, 11) <= width:
            lines[-1] = longer
        else:
            lines.append(part)
    return lines


def _rounded(values: np.ndarray) -> np.ndarray:
    """Round to what is drawn, without a negative zero."""
    return np.round(values, DIGITS) + 0.0


def check_choice(argument: str, value: object, choices: tuple[str, ...]) -> None:
    """Refuse a word that is not one of the choices."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{argument} must be one of {', '.join(map(repr, choices))}; got {value!r}.")


def check_truth(argument: str, value: object) -> bool:
    """Take True or False and nothing else for it."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{argument} must be True or False; got {value!r}.")
    return bool(value)


def check_components(components: Iterable[int], p: int, *, pair: bool) -> tuple[int, ...]:
    """Validate component numbers (from 1): exactly two different ones for a plane, any different ones for a heatmap.

    Raises
    ------
    ValueError
        If a number is not between 1 and p, is given twice, or the count is wrong.
    TypeError
        If something is not a whole number.
    """
    if isinstance(components, str | bytes) or not isinstance(components, Iterable):
        raise TypeError(f"components must be component numbers such as (1, 2); got {components!r}.")
    chosen = []
    for item in components:
        if isinstance(item, bool | np.bool_):
            raise TypeError(f"components must be whole numbers from 1, such as (1, 2); got {item!r}.")
        try:
            chosen.append(operator.index(item))
        except TypeError:
            raise TypeError(f"components must be whole numbers from 1, such as (1, 2); got {item!r}.") from None
    if pair and p < 2:
        raise ValueError(
            "a vector or point picture needs two components, and this table has one variable; "
            'use kind="heatmap" or give more variables.'
        )
    if pair and len(chosen) != 2:
        raise ValueError(f"components must be two numbers, such as (1, 2); got {len(chosen)}: {tuple(chosen)}.")
    if not chosen:
        raise ValueError("components must name at least one component, such as (1, 2); got none.")
    for c in chosen:
        if not 1 <= c <= p:
            raise ValueError(f"components must be between 1 and {p}; got {c}.")
    if len(set(chosen)) < len(chosen):
        raise ValueError(f"components must differ from each other; got {tuple(chosen)}.")
    return tuple(chosen)


def check_reference(reference: object, release: LoadingRelease) -> str:
    """Settle where the reference stands; None means beside where the release carries one."""
    if reference is None:
        return "off" if release.reference is None else "beside"
    if isinstance(reference, bool | np.bool_):
        reference = "beside" if reference else "off"
    check_choice("reference", reference, REFERENCES)
    if reference != "off" and release.reference is None:
        raise ValueError(
            f"reference={reference!r} needs a reference, and this release carries none: "
            "make it with dp_loading(..., reference=True). A reference is not private."
        )
    return reference


def choose_variables(variables: object, private: np.ndarray, names: list[str]) -> tuple[int, ...]:
    """Turn the ``variables`` argument into positions.

    A whole number picks that many of the longest rows, the longest first (all, if there are fewer); ``"all"`` keeps
    the order of the columns; a list holds names (text) or positions from 1 (whole numbers), in the order wanted.
    """
    p = len(names)
    if isinstance(variables, str):
        if variables != "all":
            raise ValueError(
                f'variables must be a number, "all", or a list of names or of positions from 1; got {variables!r}. '
                f"For one variable write [{variables!r}]."
            )
        chosen = list(range(p))
    elif isinstance(variables, bool | np.bool_ | dict | None.__class__):
        raise TypeError(
            f'variables must be a number, "all", or a list of names or of positions from 1; got {variables!r}.'
        )
    elif isinstance(variables, Iterable):
        chosen = [_position(item, names) for item in variables]
        if not chosen:
            raise ValueError("variables must name at least one variable; got an empty list.")
        if len(set(chosen)) < len(chosen):
            twice = next(names[j] for j in chosen if chosen.count(j) > 1)
            raise ValueError(f"variables names {twice!r} more than once.")
    else:
        try:
            wanted = operator.index(variables)
        except TypeError:
            raise TypeError(
                f'variables must be a whole number, "all", or a list of names or positions; got {variables!r}.'
            ) from None
        if wanted < 1:
            raise ValueError(f"variables must be at least 1; got {wanted}.")
        length = np.round(np.sqrt(np.sum(private**2, axis=1)), DIGITS + 4)
        chosen = np.lexsort((np.arange(p), -length))[:wanted].tolist()
    if len(chosen) > MOST_VARIABLES:
        raise ValueError(
            f"a picture holds at most {MOST_VARIABLES} variables; got {len(chosen):,}. "
            f"Give a number, such as variables=20 for the 20 longest; release.loadings has them all."
        )
    return tuple(chosen)


def _position(item: object, names: list[str]) -> int:
    """Position of one variable given by name or by number from 1."""
    if isinstance(item, str):
        if item not in names:
            near = [name for name in names if name.strip().lower() == item.strip().lower()]
            hint = f" Did you mean {near[0]!r}?" if near else f" The names begin {', '.join(map(repr, names[:5]))}."
            raise ValueError(f"variables names {item!r}, which is not a variable of this table.{hint}")
        return names.index(item)
    if isinstance(item, bool | np.bool_):
        raise TypeError(f"variables must hold names or positions from 1; got {item!r}.")
    try:
        rank = operator.index(item)
    except TypeError:
        raise TypeError(f"variables must hold names or positions from 1; got {item!r}.") from None
    if not 1 <= rank <= len(names):
        raise ValueError(f"variables must hold positions between 1 and {len(names)}; got {rank}.")
    return rank - 1
