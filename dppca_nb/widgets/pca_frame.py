"""Parts of the frame of `PCAExplorer` that are plain data: its table of components, the state of its controls."""

from __future__ import annotations

import math

import pandas as pd

from dppca_nb.charts import theme
from dppca_nb.charts.results import divisor, share
from dppca_nb.charts.score_picture import has_names
from dppca_nb.core.pca import PCAResult
from dppca_nb.table import Table

LISTED = 50  # components in the table


def table(result: PCAResult) -> dict:
    """The components with variance, the first of them; one without any where nothing varies."""
    summary = result.summary(beyond_rank=result.rank == 0).iloc[: LISTED if result.rank else 1]
    columns = (summary.index, summary.iloc[:, 1], summary["share"], summary["cumulative share"], summary["note"])
    rows = [
        {
            "text": name,
            "rank": rank,
            "variance": variance if math.isfinite(variance) else None,  # JSON has no infinity
            "said": theme.minus(f"{variance:.4g}").replace("inf", "∞"),
            "share": part,
            "percent": share(result, [rank]),
            "total": min(total, 1.0),
            "together": share(result, range(1, rank + 1)),
            "note": note,
            "hint": "tied" if any(rank in group for group in result.tied) else "arbitrary" if note else "",
        }
        for rank, (name, variance, part, total, note) in enumerate(zip(*columns, strict=True), 1)
    ]
    more = max(0, result.rank - len(rows))
    flat = len(result.variances) - len(rows) - more
    unlisted = [f"{more:,} more"] * bool(more) + [f"{flat:,} without variance not listed"] * bool(flat)
    words = {"value": "Variance", "title": f"Divisor {divisor(result)}", "base": f"divisor {divisor(result)}"}
    return {**words, "p": result.p, "rows": rows, "unlisted": unlisted}


def controls(explorer, table: Table, labels: pd.Index) -> dict:
    """What the controls offer, and where they stand."""
    asked = ("method", "center", "scale", "ddof", "kind", "components", "color", "labels")
    wanted, p = explorer.variables, table.p
    shown = p if wanted == "all" else min(p, wanted) if isinstance(wanted, int) else len(wanted)
    return {
        "settings": {name: getattr(explorer, name) for name in asked},  # what this frame answers
        "route": "n − 1" if explorer.method == "prcomp" else "n",
        "colors": list(explorer.colors),
        "named": has_names(labels),
        "p": p,
        "k": min(table.n, p),
        "shown": shown,
    }
