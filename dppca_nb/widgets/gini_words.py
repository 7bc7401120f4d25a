"""What the explorer of Gini components says: every sentence in one place, made of numbers, free of layout."""

from __future__ import annotations

from dppca_nb.charts import theme
from dppca_nb.charts.results import percent, undefined
from dppca_nb.core.align import subspace_angles
from dppca_nb.core.gini import GiniResult
from dppca_nb.core.pca import PCAResult
from dppca_nb.table import LeftOut
from dppca_nb.widgets.words import code, left_out_note

BANNER = (
    "**Not private.** Gini components are robust, not secret: scores are the rows themselves, turned, and whoever gets "
    "this picture, or the notebook saved with it, gets them."
)


def readout(nu: float) -> str:
    """What the aversion parameter looks at, under the large number."""
    if abs(nu - 2) < 1e-9:
        return "all ranks weigh alike"
    return "looks at small values" if nu > 2 else "looks at large values"


def status(result: GiniResult, ordinary: PCAResult, clean: tuple, components: tuple[int, int]) -> tuple[str, bool]:
    """How far the method lies from variances, and what an outlier did to both; True where to beware."""
    said, beware = [], False
    columns = [c - 1 for c in components]
    apart = subspace_angles(result.directions.to_numpy()[:, columns], ordinary.directions.to_numpy()[:, columns])[0]
    plane = " and ".join(f"PC{c}" for c in components)
    said.append(f"The plane of {plane} lies {apart:.1f}° from that of variances.")
    if clean is not None:
        turned = [_turned(one, other, columns) for one, other in zip(clean, (result, ordinary), strict=True)]
        said.append(f"The outlier turned it by {turned[0]:.1f}° for Gini and by {turned[1]:.1f}° for variances.")
    if loose := undefined(result, components):
        said.append(f"{'; '.join(loose)}.")
        beware = True
    return " ".join(said), beware


def _turned(one: GiniResult | PCAResult, other: GiniResult | PCAResult, columns: list[int]) -> float:
    """Largest angle between two planes of one method, in degrees."""
    return float(subspace_angles(one.directions.to_numpy()[:, columns], other.directions.to_numpy()[:, columns])[0])


def outlier(name: str, theta: float) -> list[str]:
    """Say which row was multiplied, so that nobody takes the picture for that of the data."""
    if theta == 1:
        return []
    return [f"**Contaminated.** The row {code(name)} is multiplied by {theme.minus(f'{theta:g}')}; the data are not."]


def notes(result: GiniResult, left_out: tuple[LeftOut, ...]) -> list[str]:
    """What a reader should know about the table and the result."""
    return [*left_out_note(left_out), *result.warnings]


def statement(result: GiniResult) -> dict:
    """State the convention in full."""
    text = (
        f"Eigenvectors of GC + GCᵀ, where GC holds the Gini correlations at ν {result.nu:g}: values by row, ranks by "
        "column. Each column is divided by its own Gini mean difference. Shares are of the sum of |λ|."
    )
    return {"name": "Convention", "text": text, "reasons": []}


def description(title: str, lines: list[str], result: GiniResult, components: tuple[int, int]) -> str:
    """Put the picture into words, for those who do not see it."""
    shares = ", ".join(f"PC{c} {percent(result.shares().iloc[c - 1])}" for c in components)
    return f"{title}. {' '.join(lines)}. Shares of the Gini index: {shares}."
