"""Ordinary PCA against scikit-learn on a million rows, in processor time and in memory.

Run `python benchmarks/pca.py`. Both sides start from the same raw array and end with the scores; each checks the rows
on its way. Everything runs on one thread, in turn, in one process. Compare ratios between machines, not seconds.
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
    yield f"n={N:,} p={P}: the door alone, as_table", f"{in_turn(lambda: as_table(rows), repeats=3)[0]:.2f} s"
    yield "  its peak, in copies of the rows", f"{peak(lambda: as_table(rows)):.2f}"
    for method, solver in ROUTES:

        def ours(data=rows, method=method):
            return pca(data, method=method)

        def theirs(solver=solver):
            return PCA(svd_solver=solver).fit_transform(rows)

        raw, checked, other = in_turn(ours, lambda ours=ours: ours(table), theirs, repeats=5)
        yield f"{method}: pca(rows), the door included", f"{raw:.2f} s"
        yield f"  / scikit-learn's {solver}", f"{raw / other:.2f}"
        yield "  the same from a Table", f"{checked / other:.2f}"
        yield "  peak, in copies of the rows", f"{peak(ours):.2f}"
        yield "  peak of scikit-learn's", f"{peak(theirs):.2f}"
        made, found = pca(rows, method=method, ddof=1), PCA(svd_solver=solver).fit(rows)
        off = np.abs(made.variances / found.explained_variance_ - 1).max()
        yield "  largest relative difference of a variance", f"{off:.0e}"


if __name__ == "__main__":
    for name, figure in figures():
        print(f"{name:<60}{figure:>12}", flush=True)
