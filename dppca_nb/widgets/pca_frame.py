"""Parts of the frame of `PCAExplorer` that are plain data: its table of components, the state of its controls."""

from __future__ import annotations

from dppca_nb.charts.results import divisor, percent
from dppca_nb.charts.score_picture import has_names
from dppca_nb.core.pca import PCAResult

LISTED = 50  # components in the table


def table(result: PCAResult) -> dict:
    """The components with variance, the first of them; one without any where nothing varies."""
    summary = result.summary(beyond_rank=result.rank == 0).iloc[: LISTED if result.rank else 1]
    together = summary["cumulative share"].where(summary["cumulative share"] < 1 - 1e-12, 1.0)  # all, but for rounding
    columns = (summary.index, summary.iloc[:, 1], summary["share"], together, summary["note"])
    rows = [
        {
            "text": name,
            "rank": rank,
            "variance": variance,
            "said": f"{variance:.4g}",
            "share": share,
            "percent": percent(share),
            "total": total,
            "together": percent(total),
            "note": note,
            "hint": "tied" if rank in {c for group in result.tied for c in group} else "",
        }
        for rank, (name, variance, share, total, note) in enumerate(zip(*columns, strict=True), 1)
    ]
    return {"divisor": divisor(result), "p": result.p, "rows": rows, "hidden": len(result.variances) - result.rank}


def controls(explorer, p: int) -> dict:
    """What the controls offer, and where they stand."""
    asked = ("method", "center", "scale", "ddof", "kind", "components", "color", "labels")
    wanted = explorer.variables
    shown = p if wanted == "all" else min(p, wanted) if isinstance(wanted, int) else len(wanted)
    return {
        "settings": {name: getattr(explorer, name) for name in asked},  # what this frame answers
        "route": "n − 1" if explorer.method == "prcomp" else "n",
        "colors": list(explorer.colors),
        "named": has_names(explorer.result.scores.index),
        "p": p,
        "k": len(explorer.result.variances),
        "shown": shown,
    }
