"""What the explorer of ordinary components says: every sentence in one place, made of numbers, free of layout."""

from __future__ import annotations

import numpy as np

from dppca_nb.charts import theme
from dppca_nb.charts.results import LARGEST, divisor, share, undefined
from dppca_nb.core.align import align_signs
from dppca_nb.core.pca import PCAResult
from dppca_nb.table import LeftOut, Table
from dppca_nb.widgets.words import UNEVEN, code, left_out_note

BANNER = (
    "**Not private.** Ordinary components are computed from the rows as they are, and scores are the rows themselves, "
    "turned: whoever gets this picture, or the notebook saved with it, gets them."
)
_ROUTES = {
    "svd": "singular values of Y, the {table}: Y = UDVᵀ; scores UD; variances d²/({n})",
    "eigen": "eigenvalues of YᵀY/({n}), Y the {table}; scores YV",
    "prcomp": "R's prcomp: singular values of Y, the {table}; scores YV; variances d²/({n})",
}


def statement(result: PCAResult) -> dict:
    """State the convention in full."""
    centred = "centred" if result.center is not None else "uncentred"
    scaled = ""
    if result.scale is not None:
        spread = "standard deviations" if result.center is not None else "root mean squares about zero, as R does"
        scaled = f" divided by their {spread}"
    route = _ROUTES[result.method].format(n=divisor(result), table=f"{centred} columns{scaled}").replace("(n)", "n")
    return {"name": "Convention", "text": f"{route[0].upper()}{route[1:]}.", "reasons": []}


def status(result: PCAResult, base: PCAResult, components: tuple[int, int], planar: bool) -> tuple[str, bool]:
    """How the result compares with the definition, d²/n by singular values; True where to beware."""
    said, beware = [], False
    if result.method == "eigen" and result.rank < base.rank:
        said.append(
            f"Forming YᵀY squares the condition number: this route sees {result.rank} of {base.rank} components."
        )
        beware = True
    elif result.method != "svd" or result.ddof:
        rank = min(result.rank, base.rank)
        sure = [c for c in range(rank) if not any(c + 1 in group for group in base.tied)]
        one, other = (each.directions.to_numpy()[:, sure] for each in (result, base))
        apart = np.abs(align_signs(one, other) - other).max(initial=0.0)
        digits = "to the last digit" if apart < 1e-14 else f"to {theme.significant(float(apart), 1)}"
        said.append(f"Same directions as by singular values, {digits}.")
    if result.scale is not None:
        said.append(
            "Scaled columns have variance 1, so the variances are eigenvalues of the correlation matrix and "
            if result.center is not None
            else "Columns scaled but not centred have mean square 1, not variance 1; what are called variances "
        )
        said[-1] += f"sum to p = {result.p} by either divisor."
    elif result.ddof:
        said.append(f"Variances are n/(n − 1) = {result.n / (result.n - 1):.6g} times d²/n; shares do not change.")
    else:
        said.append("Variances are d²/n; with divisor n − 1 they would be larger by n/(n − 1), and shares the same.")
    if result.center is None:
        angle = _angle_to_mean(result)
        beware |= angle is not None
        said.append(
            "Not centred, but the means are zero up to rounding: centring would change nothing."
            if angle is None
            else f"Not centred: PC1 lies {angle:.1f}° from the direction of the mean, and counts it as variance."
        )
    if planar and (loose := undefined(result, components)):
        said.append(f"{'; '.join(loose)}.")
        beware = True
    return " ".join(said), beware


def _angle_to_mean(result: PCAResult) -> float | None:
    """Angle between PC1 and the mean of what was decomposed, in degrees; None where the mean is zero up to rounding."""
    scores = result.scores.to_numpy()  # in the basis of the directions, which span every row
    largest = np.abs(scores).max()
    if largest == 0:
        return None
    scores = scores / largest  # whose squares float64 can hold
    mean, squares = scores.mean(axis=0), np.mean(np.sum(scores**2, axis=1))
    if mean @ mean <= np.finfo(float).eps * squares:  # it is in no digit of what is decomposed
        return None
    return float(np.degrees(np.arctan2(np.linalg.norm(mean[1:]), abs(mean[0]))))


def notes(table: Table, left_out: tuple[LeftOut, ...], result: PCAResult) -> list[str]:
    """What a reader should know about the table: what was left out, what dominates."""
    found = left_out_note(left_out)
    deviations = result.deviations.to_numpy()
    ratio = _ratio(deviations)
    if result.scale is None and ratio > UNEVEN:
        widest = code(table.names[int(deviations.argmax())])
        said = theme.significant(ratio) if ratio < LARGEST else f"more than {theme.significant(LARGEST)}"
        what = "variances" if result.center is not None else "mean squares"
        found.append(
            f"The {what} of the columns differ by a factor of {said}, so the directions mostly follow {widest}. "
            "Tick Scale to give every column the same weight."
        )
    if result.rank < len(result.variances):
        found.append(
            f"{result.rank} of {len(result.variances)} components have a variance"
            + (", n − 1 at most once the columns are centred." if result.n <= result.p else ".")
        )
    return found


def _ratio(deviations: np.ndarray) -> float:
    """Largest over smallest variance of the columns that vary; 1 where none does."""
    varying = deviations[deviations > 0]
    with np.errstate(over="ignore"):
        return float((varying.max() / varying.min()) ** 2) if varying.size else 1.0


def description(title: str, lines: list[str], result: PCAResult, components: tuple[int, int]) -> str:
    """Put the picture into words, for those who do not see it."""
    said = " ".join(lines)
    if "of the variance" not in said:
        shares = ", ".join(f"PC{c} {share(result, [c])}" for c in components)
        said += f". Shares of the variance: {shares}"
    return f"{title}. {said}."
