"""Parts of the frame of `GiniExplorer` that are plain data: specifications, table of components, state of controls."""

from __future__ import annotations

import warnings
from functools import lru_cache

import pandas as pd

from dppca_nb.charts import theme
from dppca_nb.charts.contribution import contribution_spec
from dppca_nb.charts.drawn import live
from dppca_nb.charts.loading import live_spec
from dppca_nb.charts.results import percent, share
from dppca_nb.charts.score import score_spec
from dppca_nb.charts.scree import scree_spec
from dppca_nb.charts.text import short_names
from dppca_nb.core.gini import GiniResult
from dppca_nb.core.gini_test import gini_test
from dppca_nb.table import Table

LISTED = 50  # components in the table
OFFERED = 300  # rows that the control of the outlier lists by name
# Round steps, nearly equal on a logarithmic scale: people can read and quote them.
NUS = (
    1.05, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.8, 2, 2.25, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 10, 12, 14, 16, 18, 20,
)  # fmt: skip
THETAS = (1, 1.5, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 200, 500, 1000)


@lru_cache(maxsize=1)
def specifications() -> dict:
    """The specifications, the same for every explorer; a name that ends in 2 has two panels."""
    edges = {"x0": -1, "x1": 1, "y0": -1, "y1": 1, "dots": 44}
    titles = ("PC1", "PC2")
    scores = {f"scores{k}": live(score_spec(k, k, (404, 404), ("", ""), titles), edges, axes="xy") for k in (1, 2)}
    ends = {"low": 0, "high": 1}
    bars = {f"contributions{k}": live(contribution_spec(k, k, (404, 404)), ends) for k in (1, 2)}
    scree = {"bottom": 0, "top": 1, "percents": True, "written": True}
    shares = {f"scree{k}": live(scree_spec(k == 1, (404, 260), "share"), scree, axes="y") for k in (1, 2)}
    return {"plane": live_spec("vector", 2), "heatmap": live_spec("heatmap", 1), **scores, **bars, **shares}


def tested(result: GiniResult, components: tuple[int, int]) -> tuple[pd.DataFrame | None, list[str]]:
    """Test of the variables on these axes; where there is none, a note why: the circle needs no test."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the view says what is not told apart
        try:
            return gini_test(result, axes=components), []
        except ValueError as error:
            return None, [f"Not tested. {error}"]


def table(result: GiniResult) -> dict:
    """The components, the first of them, with eigenvalues and shares."""
    shares, tied = result.shares(), {c for group in result.tied for c in group}
    total, rows, notes = 0.0, [], result.summary()["note"]
    for rank, (name, value) in enumerate(result.eigenvalues.iloc[:LISTED].items(), 1):
        part = float(shares.iloc[rank - 1])
        total += part
        hint = "negative" if value < 0 else "tied" if rank in tied else ""
        rows.append(
            {
                "text": name,
                "rank": rank,
                "variance": float(value),
                "said": theme.minus(f"{value:.4g}"),
                "share": part,
                "percent": share(result, [rank]),
                "total": total,
                "together": percent(round(total, 12)),
                "note": notes.iloc[rank - 1],
                "hint": hint,
            }
        )
    more = result.p - len(rows)
    words = {
        "value": "Eigenvalue",
        "title": "λ of GC + GCᵀ; half of it is the Gini index of the axis",
        "base": "of GC + GCᵀ",
    }
    return {**words, "p": result.p, "rows": rows, "unlisted": [f"{more:,} more"] * bool(more)}


def controls(explorer, table: Table, labels: pd.Index) -> dict:
    """What the controls offer, and where they stand."""
    asked = ("nu", "row", "theta", "kind", "components", "labels", "show_reference")
    wanted, p = explorer.variables, table.p
    shown = p if wanted == "all" else min(p, wanted) if isinstance(wanted, int) else len(wanted)
    return {
        "settings": {name: getattr(explorer, name) for name in asked},  # what this frame answers
        "nus": [{"value": value, "text": f"{value:g}"} for value in NUS],
        "thetas": [{"value": value, "text": f"{value:g}"} for value in THETAS],
        "rows": offered(labels),
        "n": table.n,
        "p": p,
        "k": min(table.n, p),
        "shown": shown,
    }


def offered(labels: pd.Index) -> list[str]:
    """Names of the rows that may be the outlier; the first of a long table, all of which code can name."""
    return short_names([str(label) for label in labels[:OFFERED]], 30)
