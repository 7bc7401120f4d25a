import math
import os
import random
import secrets
import subprocess
import sys
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from dppca_nb import dp_loading
from dppca_nb.core import hardened
from dppca_nb.core.gaussian import gaussian_delta, gaussian_epsilon
from dppca_nb.core.hardened import (
    INTEGERS,
    OPENDP,
    discrete_gaussian,
    grid_exponent,
    hardened_noise,
    noise_source,
    rounding_slack,
)
from dppca_nb.core.kendall import kendall_error_limit
from dppca_nb.core.privacy import Budget, make_guarantee, standard_noise

DRAWS = 4000
RARE = 1e-6  # noise without a seed: a p-value below this is no accident
K = np.array([[0.5, 0.2, -0.1], [0.2, 0.3, 0.05], [-0.1, 0.05, 0.2]])
OFF = ~np.eye(3, dtype=bool)


@pytest.fixture(scope="module", params=["integers", "opendp"])
def source(request):
    """Each way to draw in turn."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "integers":
            patch.setattr(hardened, "_opendp", lambda: None)
        else:
            pytest.importorskip("opendp", reason="the extra secure is not installed, so the integers alone draw here")
        yield request.param


@pytest.fixture(scope="module")
def draws(source):
    """Noise of sigma 1 around a matrix, many times, without the matrix."""
    return np.array([hardened_noise(K, 1.0)[0] for _ in range(DRAWS)]) - K


# The distribution


def test_every_draw_is_exactly_symmetric_and_says_who_drew(source):
    noisy, randomness = hardened_noise(K, 0.3)
    assert np.array_equal(noisy, noisy.T)
    assert noisy.shape == (3, 3)
    assert randomness == noise_source() == {"integers": INTEGERS, "opendp": OPENDP}[source]


def test_noise_has_standard_deviation_sigma_on_the_diagonal_and_half_the_variance_off_it(draws):
    sd = draws.std(axis=0)
    assert np.abs(np.diag(sd) - 1).max() < 0.05
    assert np.abs(sd[OFF] * math.sqrt(2) - 1).max() < 0.05
    assert np.abs(draws.mean(axis=0)).max() < 5.5 / math.sqrt(DRAWS)


def test_entries_are_normal_and_independent(draws):
    lower = np.tril_indices(3)
    free = draws[:, *lower] * np.where(np.equal(*lower), 1, math.sqrt(2))
    assert min(stats.kstest(column, "norm").pvalue for column in free.T) > RARE
    for values in (free, free**2, np.abs(free)):
        assert np.abs(np.corrcoef(values.T) - np.eye(6)).max() < 5.5 / math.sqrt(DRAWS)


def test_each_squared_entry_and_the_squared_norm_are_chi_square(draws):
    assert stats.kstest((draws**2).sum(axis=(1, 2)), stats.chi2(6).cdf).pvalue > RARE
    for i, j in zip(*np.tril_indices(3), strict=True):
        squares = draws[:, i, j] ** 2 * (1 if i == j else 2)
        assert stats.kstest(squares, stats.chi2(1).cdf).pvalue > RARE
    forgotten = draws * np.where(OFF, math.sqrt(2), 1)  # the division by sqrt(2) left out
    assert stats.kstest((forgotten**2).sum(axis=(1, 2)), stats.chi2(6).cdf).pvalue < 1e-12


def test_the_noise_is_isotropic(draws):
    rng = np.random.default_rng(5)
    for _ in range(5):
        A = rng.normal(size=(3, 3))
        A = (A + A.T) / np.linalg.norm(A + A.T)
        assert (draws * A).sum(axis=(1, 2)).std() == pytest.approx(1, abs=0.06)


def test_halved_noise_would_not_pass(draws):
    assert np.abs(np.diag((draws / 2).std(axis=0)) - 1).min() > 0.4
    assert stats.kstest((draws**2).sum(axis=(1, 2)) / 4, stats.chi2(6).cdf).pvalue < 1e-12


def coarse(draw, scale):
    """P-value of chi-squared of whole numbers drawn against the pmf of the discrete Gaussian."""
    weights = {x: math.exp(-(x**2) / (2 * scale**2)) for x in range(-60, 61)}
    total = sum(weights.values())
    seen = Counter(draw)
    cells = [x for x in weights if weights[x] / total * len(draw) >= 10]
    counted = [seen[x] for x in cells]
    expected = [weights[x] / total * len(draw) for x in cells]
    counted.append(len(draw) - sum(counted))
    expected.append(len(draw) - sum(expected))
    return stats.chisquare(counted, expected).pvalue


@pytest.mark.parametrize("scale", [1, 2, 5])
def test_on_a_coarse_grid_the_draws_follow_the_discrete_gaussian_to_the_last_cell(source, scale):
    if source == "integers":
        drawn = [discrete_gaussian(scale) for _ in range(20_000)]
    else:
        drawn = [int(x) for x in hardened._measurement(20_000, float(scale), 0)([0.0] * 20_000)]
    assert coarse(drawn, scale) > RARE
    rounded = np.rint(np.random.default_rng(1).normal(0, scale, size=20_000)).astype(int).tolist()
    if scale == 1:  # the nearest mistake, and only here can it be told from the right thing
        assert coarse(rounded, scale) < 1e-9


def test_a_zero_that_may_have_a_sign_would_be_noticed(monkeypatch):
    """The sampler's subtle step: without it 0 comes too often."""
    monkeypatch.setattr(hardened, "_discrete_laplace", lambda scale: signed_twice(scale))
    assert coarse([discrete_gaussian(2) for _ in range(20_000)], 2) < 1e-9


def signed_twice(scale):
    while True:
        rest = secrets.randbelow(scale)
        if hardened._happens(rest, scale):
            break
    whole = 0
    while hardened._happens(1, 1):
        whole += 1
    return (rest + scale * whole) * random.choice([1, -1])


@pytest.mark.parametrize(("numerator", "denominator"), [(0, 1), (1, 3), (1, 1), (7, 3), (10, 2)])
def test_a_coin_shows_its_exponential_chance(numerator, denominator):
    tosses = 10_000
    heads = sum(hardened._happens(numerator, denominator) for _ in range(tosses))
    assert stats.binomtest(heads, tosses, math.exp(-numerator / denominator)).pvalue > RARE


# The grid


@given(st.floats(min_value=1e-160, max_value=1e150))
def test_the_grid_lies_60_binary_digits_below_sigma_and_divides_it(sigma):
    k = grid_exponent(sigma)
    assert k <= -100
    steps = Fraction(sigma) / Fraction(2) ** k
    assert steps.denominator == 1
    assert steps >= 2**60
    assert steps < 2**61 or k == -100


@given(st.floats(-1, 1), st.integers(-200, -40))
def test_numbers_are_rounded_to_the_nearest_step(value, k):
    steps = hardened._steps(value, 1 << -k)
    assert type(steps) is int
    assert abs(Fraction(value) / Fraction(2) ** k - steps) <= Fraction(1, 2)


def test_sums_on_the_grid_are_rounded_once_to_the_nearest_double(monkeypatch):
    monkeypatch.setattr(hardened, "discrete_gaussian", lambda scale: 1)
    assert hardened._drawn_on_integers([2.0**-54], 0.5, -100) == [2.0**-54 + 2.0**-100]
    # 2**47 steps are 2**-53: halfway from 1 to the next double, so to the even one; one step more is nearer to the next
    for noise, expected in ((2**47, 1.0), (2**47 + 1, 1.0 + 2.0**-52)):
        monkeypatch.setattr(hardened, "discrete_gaussian", lambda scale, noise=noise: noise)
        assert hardened._drawn_on_integers([1.0], 0.5, -100) == [expected]


def test_opendp_rounds_its_input_to_the_grid_as_the_slack_allows_for():
    pytest.importorskip("opendp", reason="the extra secure is not installed")
    for size in (1, 9):
        rho = hardened._measurement(size, 1.0, -4).map(1.0)
        assert rho == pytest.approx((1 + 2.0**-4 * math.sqrt(size)) ** 2 / 2, rel=1e-12)


@pytest.mark.parametrize(("n", "p"), [(2, 1), (50, 4), (20_190, 10), (500, 100)])
@pytest.mark.parametrize("epsilon", [0.01, 1, 30])
def test_opendp_agrees_on_what_the_noise_of_a_release_costs(n, p, epsilon):
    pytest.importorskip("opendp", reason="the extra secure is not installed")
    made = make_guarantee(Budget(epsilon, 1e-9), n, "analytic", slack=rounding_slack(n, p))
    measurement = hardened._measurement(p * (p + 1) // 2, made.sigma, grid_exponent(made.sigma))
    assert measurement.map(made.sensitivity + made.slack) == pytest.approx(made.rho, rel=1e-9)
    assert made.rho == made.mu**2 / 2


@pytest.mark.parametrize("sigma", [1e-159, 1e-150, 1e-30, 1e-12])
def test_tiny_noise_leaves_the_matrix_and_moves_what_is_as_small(source, sigma):
    tiny = np.diag([0.5, 0.0, sigma])
    noisy, _ = hardened_noise(tiny, sigma)
    assert noisy[0, 0] == pytest.approx(0.5, abs=10 * sigma)
    assert 0 < abs(noisy[1, 1]) < 10 * sigma
    assert 0 < abs(noisy[1, 0]) < 10 * sigma
    assert noisy[2, 2] != sigma
    drawn = np.array([hardened_noise(tiny, sigma)[0][1, 1] for _ in range(300)]) / sigma
    assert 0.75 < drawn.std() < 1.25


@pytest.mark.parametrize("sigma", [1e8, 1e150])
def test_huge_noise_is_drawn_in_full(source, sigma):
    drawn = np.array([hardened_noise(K[:1, :1], sigma)[0][0, 0] for _ in range(300)]) / sigma
    assert 0.75 < drawn.std() < 1.25


def test_large_noise_does_not_coarsen_the_grid_beyond_the_sensitivity():
    assert grid_exponent(1e150) == -100
    assert 2.0**-100 * math.sqrt(5050) < 1e-18 * 2 * math.sqrt(2) / 10**9


def test_one_variable_gets_one_draw(source):
    noisy, _ = hardened_noise(np.array([[0.7]]), 0.1)
    assert noisy.shape == (1, 1)
    assert noisy[0, 0] != 0.7


def test_no_zero_has_a_sign(source, monkeypatch):
    monkeypatch.setattr(hardened, "_drawn_by_opendp", lambda values, sigma, k: [-0.0] * len(values))
    monkeypatch.setattr(hardened, "_drawn_on_integers", lambda values, sigma, k: [-0.0] * len(values))
    noisy, _ = hardened_noise(np.array([[-0.0, -1e-300], [-1e-300, 0.0]]), 1.0)
    assert not np.signbit(noisy).any()


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("place", [(0, 0), (2, 1)])
def test_what_is_not_finite_is_refused_before_anything_is_drawn(source, monkeypatch, bad, place):
    def never(*args):
        raise AssertionError("noise was drawn")

    monkeypatch.setattr(hardened, "_drawn_by_opendp", never)
    monkeypatch.setattr(hardened, "_drawn_on_integers", never)
    broken = K.copy()
    broken[place] = bad
    with pytest.raises(ValueError, match=r"not finite\. Nothing was drawn"):
        hardened_noise(broken, 1.0)
    for sigma in (bad, 0.0, -1.0):
        with pytest.raises(ValueError, match=r"^sigma must be .* Nothing was drawn"):
            hardened_noise(K, sigma)


def test_noise_works_where_the_caller_makes_every_floating_point_event_an_error(source):
    tiny = np.array([[5e-324, 1e-323], [1e-323, 0.0]])
    with np.errstate(all="raise"):
        noisy, _ = hardened_noise(tiny, 1e-150)
    assert np.isfinite(noisy).all()


# Randomness


def test_no_seed_reaches_the_noise_and_numpy_is_neither_read_nor_set(source):
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    drawn = []
    for _ in range(2):
        np.random.seed(1)  # noqa: NPY002
        random.seed(1)
        drawn.append(hardened_noise(K, 1.0)[0])
        assert np.random.rand() == 0.417022004702574  # noqa: NPY002
        assert random.random() == 0.13436424411240122
    assert not np.isclose(*drawn).any()
    np.random.set_state(("MT19937", before, 624))  # noqa: NPY002


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_process_draws_other_noise(source):
    """In a fresh program: forking the test run itself would copy its threads' locks."""
    forced = "hardened._opendp = lambda: None" if source == "integers" else ""
    program = f"""
import os, sys
import numpy as np
from dppca_nb.core import hardened
{forced}
hardened.hardened_noise(np.eye(2), 1.0)
child = os.fork()
sys.stdout.write(repr(hardened.hardened_noise(np.eye(2), 1.0)[0].tolist()) + "\\n")
sys.stdout.flush()
if child:
    os.waitpid(child, 0)
else:
    os._exit(0)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert len(lines) == len(set(lines)) == 2


# What floating-point noise gives away


ABSENT, PRESENT = np.diag([0.0, 0.2]), np.diag([0.2, 0.0])  # the worst neighbours of 10 rows
SIGMA = 0.3


def marked(noisy):
    """Whether the first entry has digits below those that 0.2 + noise could have."""
    value = noisy[0, 0]
    return abs(value) < 2.0**-5 and Fraction(float(value)) * 2**55 % 1 != 0


def test_noise_in_double_precision_marks_what_only_one_of_two_neighbours_can_give():
    """Noise near -0.2 is a whole multiple of 2**-55, as is 0.2: small sums have no digit below. Small noise has."""
    rng = np.random.default_rng(8)
    seen = dict.fromkeys(("absent", "present"), 0)
    for _ in range(10_000):
        noise = SIGMA * standard_noise(2, rng)
        seen["absent"] += marked(ABSENT + noise)
        seen["present"] += marked(PRESENT + noise)
    assert seen["present"] == 0
    assert seen["absent"] > 300  # each of them gives the row away for certain, at any epsilon


def test_hardened_noise_carries_no_such_mark(source):
    draws = 1500
    seen = [sum(marked(hardened_noise(matrix, SIGMA)[0]) for _ in range(draws)) for matrix in (ABSENT, PRESENT)]
    densities = [stats.norm(m, SIGMA).cdf(2.0**-5) - stats.norm(m, SIGMA).cdf(-(2.0**-5)) for m in (0.0, 0.2)]
    for count, chance in zip(seen, densities, strict=True):
        # near 0 almost every double has digits there, and its chance is that of the value, not of its digits
        assert 0.5 * chance < count / draws < 1.1 * chance + 0.03


def test_both_neighbours_land_on_the_same_public_grid(source, monkeypatch):
    """On a coarse grid it can be seen: every coordinate is a whole number of steps, whatever the matrix was."""
    monkeypatch.setattr(hardened, "_COARSEST", 0)
    monkeypatch.setattr(hardened, "_DIGITS", 3)
    for matrix in (ABSENT, PRESENT, np.array([[1 / 3, 0.1], [0.1, 2 / 3]])):
        for _ in range(20):
            noisy, _ = hardened_noise(matrix, SIGMA)
            assert (np.diag(noisy) * 2**5 % 1 == 0).all()
            steps = noisy[1, 0] * math.sqrt(2) * 2**5
            assert steps == pytest.approx(round(steps), abs=1e-12)


# What it covers


def test_the_slack_covers_every_rounding_and_stays_small_beside_the_sensitivity():
    for n in (2, 100, 20_190, 10**6):
        for p in (1, 2, 20, 100):
            slack = rounding_slack(n, p)
            assert slack > 2 * kendall_error_limit(n, p) + 2.0**-100 * math.sqrt(p * (p + 1) / 2)
            assert slack < 1e-3 * 2 * math.sqrt(2) / n


@pytest.mark.parametrize("mu", [1e-6, 0.1, 1.0, 5.0])
@pytest.mark.parametrize("delta", [1e-12, 1e-6, 0.01])
def test_the_rounding_up_of_sigma_is_worth_far_more_than_the_grid_costs(mu, delta):
    """The claim of the docstring: raising mu by 1e-9 raises delta by more than the grid can."""
    epsilon = gaussian_epsilon(mu, delta)
    size, n = 100 * 101 // 2, 10**6
    sigma = 2 * math.sqrt(2) / n / mu
    scale = sigma / 2.0 ** grid_exponent(sigma)
    eta = 2 * size * (1 + 40 / math.sqrt(size)) / scale
    assert eta < 2e-14
    assert 2.6 * eta / mu < 1e-19
    if epsilon > 0:
        gained = gaussian_delta(mu * (1 + 1e-9), epsilon) / gaussian_delta(mu, epsilon) - 1
        assert gained > 1e-10 > math.expm1(eta)


def test_the_discrete_curve_is_that_of_the_continuous_gaussian_on_a_grid_much_coarser_than_ours():
    """Summed exactly over the grid, one coordinate, scale 200: already then they differ by less than a part in 100."""
    scale, shift = 200, 100
    x = np.arange(-40 * scale, 40 * scale + 1)
    log_p = -(x**2) / (2 * scale**2)
    log_q = -((x - shift) ** 2) / (2 * scale**2)
    total = np.exp(log_p).sum()
    for epsilon in (0.1, 0.5, 1.0):
        discrete = np.maximum(np.exp(log_q) - math.exp(epsilon) * np.exp(log_p), 0).sum() / total
        eta = 2 * 1 * (1 + 40) / scale
        assert discrete == pytest.approx(gaussian_delta(shift / scale, epsilon), rel=1e-2)
        assert discrete <= math.exp(eta) * gaussian_delta(shift / scale, max(epsilon - 2 * eta, 0))


def test_without_the_extra_a_release_works_and_says_who_drew(monkeypatch):
    monkeypatch.setitem(sys.modules, "opendp", None)  # an import of it fails
    made = dp_loading(np.random.default_rng(0).normal(size=(30, 3)), epsilon=1, delta=1e-6, calibration="analytic")
    assert noise_source() == made.guarantee.randomness == INTEGERS
    assert made.guarantee.holds
