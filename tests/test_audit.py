"""An audit: whoever sees releases of the worst neighbours tries to tell them apart, end to end through `dp_loading`."""

import math
from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy.stats import beta

from dppca_nb import dp_loading
from dppca_nb.core import hardened, mechanism
from dppca_nb.core.kendall import spherical_kendall
from dppca_nb.core.privacy import Budget, make_guarantee, standard_noise

N, EPSILON, DELTA = 2, 1.0, 0.45  # a large delta takes few draws to test, and the formula is the same for all
DRAWS = 450  # of each data set
ALPHA = 1e-6  # of all bounds of one audit together
LOOKS = np.linspace(0.0, 2.0, 5)  # thresholds in units of sigma, fixed before anything is seen


def worst_neighbours(n):
    """Two data sets that differ in one row, which beside equal rows sets every direction."""
    present, absent = np.zeros((n, 2)), np.zeros((n, 2))
    present[0], absent[0] = [1, 0], [0, 1]
    return present, absent


def exact(rows):
    return spherical_kendall(rows, coincident="zero").matrix.to_numpy()


def seen(matrix):
    """What the attacker looks at: how far a release lies from one neighbour's matrix towards the other's."""
    return (matrix[0, 0] - matrix[1, 1]) / math.sqrt(2)


def proved_epsilon(present, absent, thresholds, delta):
    """Largest epsilon that the counts prove with confidence 1 - ALPHA (Clopper and Pearson; both tails)."""
    best, part = 0.0, ALPHA / (4 * len(thresholds))
    for t in thresholds:
        for hits, false in (((present > t).sum(), (absent > t).sum()), ((absent < -t).sum(), (present < -t).sum())):
            low = beta.ppf(part, hits, len(present) - hits + 1) if hits else 0.0
            high = beta.ppf(1 - part, false + 1, len(absent) - false) if false < len(absent) else 1.0
            if low > delta:
                best = max(best, math.log((low - delta) / high))
    return best


def audit(n=N, epsilon=EPSILON, delta=DELTA, draws=DRAWS):
    """Release both neighbours many times by `dp_loading`, and prove what can be proved."""
    release = partial(dp_loading, epsilon=epsilon, delta=delta, calibration="analytic")
    first = release(worst_neighbours(n)[0]).guarantee
    assert first.holds
    views = [
        np.array([seen(release(rows).noisy_kendall.to_numpy()) for _ in range(draws)]) for rows in worst_neighbours(n)
    ]
    return proved_epsilon(*views, LOOKS * first.sigma, delta)


@pytest.fixture(params=["integers", "opendp"])
def source(request, monkeypatch):
    """Each way to draw hardened noise in turn."""
    if request.param == "integers":
        monkeypatch.setattr(hardened, "_opendp", lambda: None)
    else:
        pytest.importorskip("opendp", reason="the extra secure is not installed, so the integers alone draw here")


@pytest.mark.parametrize("n", [N, 10])
def test_the_neighbours_of_the_audit_are_the_worst_there_are(n):
    present, absent = worst_neighbours(n)
    assert (absent != present).any(axis=1).sum() == 1
    moved = exact(present) - exact(absent)
    assert np.linalg.norm(moved) == pytest.approx(2 * math.sqrt(2) / n, abs=1e-12)
    assert seen(moved) == pytest.approx(np.linalg.norm(moved), rel=1e-12)


def test_releases_of_the_worst_neighbours_cannot_be_told_apart_beyond_the_stated_epsilon(source):
    assert audit() < EPSILON


def test_the_audit_notices_noise_that_was_halved(source, monkeypatch):
    draw = mechanism.hardened_noise
    monkeypatch.setattr(mechanism, "hardened_noise", lambda K, sigma: draw(K, sigma / 2))
    assert audit() > 1.1 * EPSILON


def test_the_audit_notices_a_matrix_divided_by_the_pairs_that_differ(monkeypatch):
    class Renormalised:
        def __init__(self, data, coincident):
            K = exact(data)
            self.matrix = pd.DataFrame(K / np.trace(K))

    budget = {"n": 10, "epsilon": 0.5, "delta": 0.09, "draws": 200}
    assert audit(**budget) < 0.5
    monkeypatch.setattr(mechanism, "spherical_kendall", Renormalised)
    assert audit(**budget) > 0.8


# Many draws of noise that is quick, without the release around it


def many(shrink, draws=20_000):
    """Audit numpy's noise at an ordinary budget."""
    sigma, rng = make_guarantee(Budget(1.0, 0.01), 10, "analytic").sigma * shrink, np.random.default_rng(99)
    matrices = map(exact, worst_neighbours(10))
    views = [np.array([seen(K + sigma * standard_noise(2, rng)) for _ in range(draws)]) for K in matrices]
    return proved_epsilon(*views, LOOKS * sigma, 0.01)


def test_with_many_draws_the_audit_proves_most_of_the_stated_epsilon_and_never_more():
    assert 0.5 < many(1.0) < 1.0


def test_with_many_draws_the_audit_notices_noise_that_was_halved():
    assert many(0.5) > 1.5
