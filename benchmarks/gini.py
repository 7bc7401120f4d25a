"""Gini PCA: a fit against argsorting its columns, and the jackknife against leaving every row out.

Run `python benchmarks/gini.py`. Everything runs on one thread, in turn, in one process. The naive jackknife leaves out
some rows only, spread over all, and its time is scaled up to all of them: every row costs it the same. Compare ratios
between machines, not seconds.
"""

import os

os.environ["OPENBLAS_NUM_THREADS"] = os.environ["MKL_NUM_THREADS"] = "1"  # read once, when numpy is imported

import time
import warnings

import numpy as np
from scipy.stats import rankdata

from dppca_nb.core.gini import gini_pca
from dppca_nb.core.gini_jackknife import Setting, frozen_statistics, full_statistics
from dppca_nb.core.gini_test import gini_test

N_FIT, N_TEST, P, LEFT_OUT = 1_000_000, 2000, 10, 100
WAYS = [("frozen", "variables"), ("frozen", "scores"), ("full", "variables"), ("full", "scores")]


def in_turn(*calls, repeats):
    """Least processor time of each call; taken in turn, so that all meet the same state of the machine."""
    least = [np.inf] * len(calls)
    for _ in range(repeats):
        for k, call in enumerate(calls):
            start = time.process_time()
            call()
            least[k] = min(least[k], time.process_time() - start)
    return least


def weights(X, nu):
    """Centred weights of the ranks, as everybody would write them down."""
    r = len(X) + 1 - rankdata(X, axis=0)
    g = r ** (nu - 1)
    return g - g.mean(axis=0)


def naive(result, X, jackknife, normalize, rows):
    """Leave the rows out one by one and rank everything again; all axes."""
    Z, F, B, nu = result.standardized.to_numpy(), result.scores.to_numpy(), result.directions.to_numpy(), result.nu
    found = []
    for i in rows:
        x, f = np.delete(X, i, 0), np.delete(F, i, 0)
        g = weights(x, nu)
        if jackknife == "full":
            x = x - x.mean(axis=0)
            gc = x.T @ g
            own = np.diag(gc)
            gc = gc / own[:, None]
            b = np.linalg.eigh(gc + gc.T)[1][:, ::-1]
            b = b * np.where((b * B).sum(axis=0) < 0, -1, 1)
            if normalize == "variables":
                found.append(b.T @ gc)
                continue
            f = -x / own @ b
        u = f.T @ g
        if normalize == "scores":
            u /= (f * weights(f, nu)).sum(axis=0)[:, None]
        else:
            u /= (np.delete(Z, i, 0) * g).sum(axis=0)
        found.append(u)
    return np.array(found)


def ours(result, jackknife, normalize):
    """All rows, all axes."""
    on = Setting(
        result.standardized.to_numpy(),
        result.scores.to_numpy(),
        result.directions.to_numpy(),
        result.double_ranks,
        result.nu,
    )
    axes, by_scores = list(range(result.p)), normalize == "scores"
    if jackknife == "full":
        return full_statistics(on, axes, by_scores=by_scores).statistics
    return np.stack(list(frozen_statistics(on, axes, by_scores=by_scores)), axis=2)


def figures():
    mix = np.eye(P) + 0.3 * np.random.default_rng(1).normal(size=(P, P))
    X = np.random.default_rng(0).standard_normal((N_FIT, P)) @ mix
    columns = [np.ascontiguousarray(column) for column in X.T]
    for nu in (2.0, 1.4):
        fit, sort = in_turn(lambda nu=nu: gini_pca(X, nu=nu), lambda: list(map(np.argsort, columns)), repeats=3)
        yield f"n={N_FIT:,} p={P} nu={nu}: gini_pca, the door included", f"{fit:.2f} s"
        yield "  / np.argsort of its columns", f"{fit / sort:.2f}"
    X = np.random.default_rng(2).standard_t(5, size=(N_TEST, P)) @ mix
    result, rows = gini_pca(X, nu=1.4), range(0, N_TEST, N_TEST // LEFT_OUT)
    for jackknife, normalize in WAYS:
        slow, fast, table = in_turn(
            lambda j=jackknife, n=normalize: naive(result, X, j, n, rows),
            lambda j=jackknife, n=normalize: ours(result, j, n),
            lambda j=jackknife, n=normalize: gini_test(result, jackknife=j, normalize=n),
            repeats=3,
        )
        yield f"n={N_TEST} p={P} {jackknife}, by {normalize}: all axes", f"{fast:.3f} s"
        yield f"  the naive way / this ({LEFT_OUT} rows left out, scaled up)", f"{slow * N_TEST / len(rows) / fast:.0f}"
        yield "  the naive way / gini_test, its table included", f"{slow * N_TEST / len(rows) / table:.0f}"
        off = np.abs(ours(result, jackknife, normalize)[rows] - naive(result, X, jackknife, normalize, rows)).max()
        yield "  largest difference of a statistic", f"{off:.0e}"


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # neighbouring axes of such data are not told apart, and it does not matter here
    for name, figure in figures():
        print(f"{name:<70}{figure:>10}", flush=True)
