"""Spherical Kendall matrix against plain loops, against the machine's own matrix product, and in memory.

Run `python benchmarks/kendall.py`. Everything runs on one thread. Compare ratios between machines, not seconds.
"""

import os

os.environ["OPENBLAS_NUM_THREADS"] = os.environ["MKL_NUM_THREADS"] = "1"  # read once, when numpy is imported

import sys
import time
import tracemalloc
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from dppca_nb.core.kendall import _blocks, kendall_matrix, spherical_kendall
from dppca_nb.datasets import RAND_HIE_SCALES, rand_hie
from dppca_nb.table import as_table, scale_table

try:
    from numba import njit
except ImportError:  # only one row of the table needs it
    njit = None


def row_loop(values):
    """One cross product per row: the shortest fast way to write it in numpy."""
    n, p = values.shape
    total = np.zeros((p, p))
    for i in range(n - 1):
        d = values[i + 1 :] - values[i]
        d /= np.sqrt(np.einsum("ij,ij->i", d, d))[:, None]
        total += d.T @ d
    return total * 2 / (n * (n - 1))


def pair_loop(values):
    """Pair by pair, to be compiled."""
    n, p = values.shape
    total, d = np.zeros((p, p)), np.empty(p)
    for i in range(n - 1):
        for j in range(i + 1, n):
            square = 0.0
            for k in range(p):
                d[k] = values[i, k] - values[j, k]
                square += d[k] * d[k]
            for k in range(p):
                weighted = d[k] / square
                for m in range(k + 1):
                    total[k, m] += weighted * d[m]
    return (total + np.tril(total, -1).T) * 2 / (n * (n - 1))


def seconds(call, repeats=1):
    """Least processor time of several runs: on one thread it leaves out what else the machine does."""
    spent = []
    for _ in range(repeats):
        start = time.process_time()
        call()
        spent.append(time.process_time() - start)
    return min(spent)


def products(values):
    """Count the floating-point operations of the matrix products over all pairs of blocks."""
    n, p = values.shape
    sizes = [len(block) for block in _blocks(values, np.arange(n))]
    pairs = [(a, b) for i, a in enumerate(sizes) for b in sizes[i:]]
    return sum(2 * a * b * ((p + 2) + (p + 1)) + 2 * (a + b) * p * p for a, b in pairs)


def resident(kind):
    """Read this process's resident memory in bytes: "VmRSS" now, "VmHWM" at its highest (Linux)."""
    with Path("/proc/self/status").open() as lines:
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(kind))


def resident_growth(n, p):
    values = np.random.default_rng(0).normal(size=(n, p))
    kendall_matrix(values[:2000])  # the library's own buffers are not the algorithm's
    before = resident("VmRSS")
    kendall_matrix(values)
    return resident("VmHWM") - before


def speed():
    values = np.random.default_rng(0).normal(size=(5000, 20))
    ours = seconds(lambda: kendall_matrix(values), 5)
    yield "n=5000 p=20", f"{ours:.3f} s"
    yield "  numpy row loop / ours", f"{seconds(lambda: row_loop(values), 2) / ours:.1f}"
    if njit:
        compiled = njit(pair_loop)
        compiled(values[:3])
        yield "  numba pair loop / ours", f"{seconds(lambda: compiled(values), 2) / ours:.1f}"
    yield "  largest difference from the row loop", f"{np.abs(row_loop(values) - kendall_matrix(values)[0]).max():.1e}"


def size():
    values = np.random.default_rng(0).normal(size=(20_000, 200))
    square = np.random.default_rng(1).normal(size=(3000, 3000))
    ours, dgemm = np.inf, np.inf
    for _ in range(3):  # taken in turns, so that both meet the same state of the machine
        ours = min(ours, seconds(lambda: kendall_matrix(values)))
        dgemm = min(dgemm, seconds(lambda: square @ square))
    ratio = (products(values) / ours) / (2 * 3000**3 / dgemm)
    yield "n=20000 p=200", f"{ours:.2f} s"
    yield "  flop rate of its products / of a square dgemm", f"{ratio:.2f}"
    tracemalloc.start()
    kendall_matrix(values)
    yield "  peak of allocations beyond the data", f"{tracemalloc.get_traced_memory()[1] / 1e6:.0f} MB"
    tracemalloc.stop()
    if sys.platform == "linux":
        with get_context("spawn").Pool(1) as fresh:  # a peak once reached hides the next
            growth = fresh.apply(resident_growth, (20_000, 200))
        yield "  peak of resident memory beyond the data", f"{growth / 1e6:.0f} MB"


def twins():
    people, _ = scale_table(as_table(rand_hie()), RAND_HIE_SCALES)
    estimate = spherical_kendall(people, coincident="zero")
    yield "RAND HIE, 20190 x 10", f"{seconds(lambda: spherical_kendall(people, coincident='zero'), 2):.2f} s"
    yield "  trace", f"{np.trace(estimate.matrix):.6f}"
    yield "  coincident / recomputed pairs", f"{estimate.coincident_pairs:,} / {estimate.exact_pairs:,}"
    rows = np.random.default_rng(2).normal(size=people.values.shape)
    ratio = seconds(lambda: kendall_matrix(people.values), 2) / seconds(lambda: kendall_matrix(rows), 2)
    yield "  time / that of as many rows without twins", f"{ratio:.2f}"


def shapes():
    rng = np.random.default_rng(3)
    wide = rng.normal(size=(20, 2000))
    yield "n=20 p=2000", f"{seconds(lambda: kendall_matrix(wide)):.2f} s"
    clusters = rng.normal(size=(20_000, 20))
    clusters[:10_000] += 1e6
    _, bound, exact, _ = kendall_matrix(clusters)
    yield "two clusters 1e6 apart, n=20000 p=20", f"{seconds(lambda: kendall_matrix(clusters)):.2f} s"
    yield "  recomputed pairs, error bound", f"{exact / (20_000 * 19_999 / 2):.2%}, {bound:.0e}"


if __name__ == "__main__":
    for part in (speed, size, twins, shapes):
        for name, figure in part():
            print(f"{name:<50}{figure:>20}", flush=True)
