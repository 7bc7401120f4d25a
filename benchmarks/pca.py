"""Ordinary PCA against scikit-learn on a million rows, in processor time and in memory.

Run `python benchmarks/pca.py` (scikit-learn is needed here and nowhere else). Everything runs on one thread, both sides
in turn on the same rows and both up to the scores. Compare ratios between machines, not seconds.
"""

import os

os.environ["OPENBLAS_NUM_THREADS"] = os.environ["MKL_NUM_THREADS"] = "1"  # read once, when numpy is imported

import time
import tracemalloc

import numpy as np
from sklearn.decomposition import PCA

from dppca_nb.core.pca import pca
from dppca_nb.table import as_table

N, P = 1_000_000, 20
ROUTES = (("eigen", "covariance_eigh"), ("svd", "full"))


def in_turn(*calls, repeats):
    """Least processor time of each call; taken in turn, so that all meet the same state of the machine."""
    least = [np.inf] * len(calls)
    for _ in range(repeats):
        for k, call in enumerate(calls):
            start = time.process_time()
            call()
            least[k] = min(least[k], time.process_time() - start)
    return least


def peak(call):
    """Most memory that was allocated on top of what there was, in copies of the rows."""
    tracemalloc.start()
    call()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most / (8 * N * P)


def figures():
    rows = np.random.default_rng(0).normal(size=(N, P)) * np.arange(1, P + 1) + 5
    table = as_table(rows)
    yield f"n={N:,} p={P}: the door, as_table", f"{in_turn(lambda: as_table(rows), repeats=3)[0]:.2f} s"
    yield "  its peak, in copies of the rows", f"{peak(lambda: as_table(rows)):.2f}"
    for method, solver in ROUTES:
        ours, with_door, theirs = in_turn(
            lambda method=method: pca(table, method=method),
            lambda method=method: pca(rows, method=method),
            lambda solver=solver: PCA(svd_solver=solver).fit_transform(rows),
            repeats=4,
        )
        yield f"{method}: pca(table)", f"{ours:.2f} s"
        yield f"  / scikit-learn's {solver}, from checked rows", f"{ours / theirs:.2f}"
        yield f"  / scikit-learn's {solver}, door included", f"{with_door / theirs:.2f}"
        yield (
            "  peak, in copies (centred matrix, scores)",
            f"{peak(lambda method=method: pca(table, method=method)):.2f}",
        )
        yield (
            "  peak of scikit-learn's",
            f"{peak(lambda solver=solver: PCA(svd_solver=solver).fit_transform(rows)):.2f}",
        )
        made, other = pca(table, method=method, ddof=1), PCA(svd_solver=solver).fit(rows)
        off = np.abs(made.variances / other.explained_variance_ - 1).max()
        yield "  largest relative difference of a variance", f"{off:.0e}"


if __name__ == "__main__":
    for name, figure in figures():
        print(f"{name:<60}{figure:>12}", flush=True)
