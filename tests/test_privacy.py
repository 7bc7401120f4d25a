import math
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from dppca_nb.core import gaussian
from dppca_nb.core.privacy import (
    CALIBRATIONS,
    Budget,
    Guarantee,
    Reason,
    as_generator,
    calibrate,
    gaussian_delta,
    gaussian_epsilon,
    gaussian_mu,
    make_guarantee,
    standard_noise,
    symmetric_from_normals,
)

NAN, INF = float("nan"), float("inf")
DRAWS = 4000


# Budgets


@pytest.mark.parametrize("bad", ["1", None, True, np.True_, 1j, [1.0], pd.NA, np.array(1.0)], ids=repr)
def test_a_value_that_is_no_real_number_is_refused_by_the_name_of_its_argument(bad):
    with pytest.raises(TypeError, match=r"^epsilon must be a finite number above 0; got .* such as 0\.5\.$"):
        Budget(bad, 1e-6)
    with pytest.raises(TypeError, match=r"^delta must be a number above 0 and below 1; got .* such as 1e-6\.$"):
        Budget(1.0, bad)


@pytest.mark.parametrize("bad", [0, -1, NAN, INF, -INF, 10**400, np.float64(NAN), np.int64(0)], ids=str)
def test_an_epsilon_outside_its_range_is_refused(bad):
    with pytest.raises(ValueError, match=r"^epsilon must be a finite number above 0; got .* such as 0\.5\.$"):
        Budget(bad, 1e-6)


@pytest.mark.parametrize("bad", [0, 1, 1.5, -1e-5, NAN, INF, np.float64(1.0)], ids=str)
def test_a_delta_outside_its_range_is_refused(bad):
    with pytest.raises(ValueError, match=r"^delta must be a number above 0 and below 1; got .* such as 1e-6\.$"):
        Budget(1.0, bad)


@pytest.mark.parametrize("bad", [1e-320, 5e-324, 1e-200, 1e200])
def test_an_epsilon_whose_noise_cannot_be_represented_is_refused(bad):
    with pytest.raises(ValueError, match=r"^epsilon must give noise that double precision can represent; got"):
        Budget(bad, 1e-6)


@pytest.mark.parametrize("epsilon", [np.float32(0.5), np.int64(1), 1, np.float64(2.5)], ids=repr)
def test_numpy_scalars_are_stored_as_plain_floats(epsilon):
    budget = Budget(epsilon, np.float64(1e-6))
    assert type(budget.epsilon) is float
    assert type(budget.delta) is float
    assert budget == Budget(float(epsilon), 1e-6)


# The exact privacy curve


@pytest.mark.parametrize(
    ("mu", "epsilon", "delta"),
    [  # 60-digit arithmetic
        (1e-8, 1e-8, 8.331547100426365e-10),
        (0.05, 0.4, 4.60955570000931e-18),
        (0.2, 5.0, 2.954833357710715e-139),
        (1.0, 25.0, 2.887336775547654e-134),
        (5.5, 100.0, 1.306991958025242e-54),
    ],
)
def test_delta_is_accurate_deep_in_the_tails_where_the_plain_formula_cancels(mu, epsilon, delta):
    assert gaussian_delta(mu, epsilon) == pytest.approx(delta, rel=1e-11, abs=0)


@pytest.mark.parametrize("mu", [0.05, 0.0999, 0.1001, 0.5, 2.0, 6.0])
@pytest.mark.parametrize("epsilon", [0.0, 0.05, 0.5, 3.0])
def test_delta_is_the_excess_of_one_normal_density_over_the_other(mu, epsilon):
    start = epsilon / mu + mu / 2  # beyond it the shifted density exceeds e^epsilon times the other

    def excess(t):
        return stats.norm.pdf(t - mu) - math.exp(epsilon) * stats.norm.pdf(t)

    area = integrate.quad(excess, start, start + 12, epsabs=1e-15, epsrel=1e-11)[0]
    assert gaussian_delta(mu, epsilon) == pytest.approx(area, rel=1e-8, abs=1e-14)


def test_both_ways_of_computing_delta_meet_where_they_change_over():
    below, above = np.nextafter(0.1, 0), 0.1
    for epsilon in (1e-6, 0.01, 0.1, 1.0, 3.0):
        assert gaussian_delta(below, epsilon) == pytest.approx(gaussian_delta(above, epsilon), rel=1e-11, abs=0)
    assert gaussian._mills_slope(1e6) == pytest.approx(1e-12, rel=1e-11, abs=0)
    assert gaussian._mills_slope(50.0) == pytest.approx(gaussian._mills_slope(np.nextafter(50, 51)), rel=1e-9, abs=0)


@pytest.mark.parametrize(("mu", "epsilon"), [(1e-150, 1e10), (1e-8, 1e4), (0.5, 1e300)])
def test_a_delta_below_the_smallest_double_is_zero(mu, epsilon):
    assert gaussian_delta(mu, epsilon) == 0.0


@given(st.floats(-6, 2), st.floats(-6, 4), st.floats(1.001, 3))
def test_delta_grows_with_mu_and_falls_with_epsilon(log_mu, log_epsilon, factor):
    mu, epsilon = 10**log_mu, 10**log_epsilon
    here = gaussian_delta(mu, epsilon)
    assert 0 <= gaussian_delta(mu, epsilon * factor) <= here <= gaussian_delta(mu * factor, epsilon) <= 1
    if 1e-300 < here < 0.99:
        assert gaussian_delta(mu, epsilon * factor) < here < gaussian_delta(mu * factor, epsilon)


@given(st.floats(-6, 2), st.floats(-300, -0.01))
def test_epsilon_inverts_delta_and_falls_as_delta_grows(log_mu, log_delta):
    mu, delta = 10**log_mu, 10**log_delta
    epsilon = gaussian_epsilon(mu, delta)
    if epsilon == 0:
        assert gaussian_delta(mu, 0.0) <= delta
    else:
        assert gaussian_delta(mu, epsilon) == pytest.approx(delta, rel=1e-8, abs=0)
    assert gaussian_epsilon(mu, math.sqrt(delta)) <= epsilon <= gaussian_epsilon(1.5 * mu, delta)


def test_a_release_that_delta_alone_covers_has_epsilon_zero():
    assert gaussian_epsilon(1e-9, 1e-6) == 0.0


# Calibration


@pytest.mark.parametrize(
    ("epsilon", "delta", "mu", "n_sigma"),
    [(1, 1e-6, 0.23670, 11.949), (1, 1e-5, 0.26805, 10.552), (0.5, 1e-6, 0.12411, 22.790), (3, 1e-4, 0.81756, 3.460)],
)
def test_the_analytic_noise_has_its_known_size(epsilon, delta, mu, n_sigma):
    made = make_guarantee(Budget(epsilon, delta), 1000, "analytic")
    assert round(made.mu, 5) == mu
    assert round(1000 * made.sigma, 3) == n_sigma


@pytest.mark.parametrize(
    ("nominal", "exact"),
    [(0.1, ".046"), (0.5, ".258"), (1, ".540"), (2, "1.14"), (3, "1.77"), (5, "3.10"), (10, "6.81")],
)
def test_the_classical_noise_gives_its_known_exact_epsilon(nominal, exact):
    digits = len(exact.split(".")[1])
    made = make_guarantee(Budget(nominal, 1e-6), 77)
    assert f"{made.exact_epsilon:.{digits}f}".lstrip("0") == exact
    assert made.holds


def test_the_classical_formula_fails_at_epsilon_10_where_the_sensitivity_is_the_loose_bound():
    classical = calibrate(Budget(10, 1e-6), 100)
    assert gaussian_delta(4 / 100 / classical, 10) == pytest.approx(1.90e-6, abs=0.005e-6)


def test_the_classical_sigma_is_the_formula_of_its_source():
    assert calibrate(Budget(0.5, 1e-6), 250) == pytest.approx(
        4 * math.sqrt(2 * math.log(1.25e6)) / 250 / 0.5, rel=1e-14
    )


@pytest.mark.parametrize("delta", [5e-324, 1e-300, 1e-12, 1e-6, 1e-3, 0.5, 0.999])
@pytest.mark.parametrize("epsilon", [1e-6, 1e-3, 0.1, 1.0, 10.0, 1e4])
def test_the_analytic_noise_meets_its_budget_and_hardly_more(epsilon, delta):
    made = make_guarantee(Budget(epsilon, delta), 500, "analytic")
    assert made.holds
    assert made.exact_delta <= delta
    assert made.exact_epsilon <= epsilon
    if delta > 1e-300:  # below it doubles have lost their digits
        assert gaussian_delta(made.mu * (1 + 2e-9), epsilon) > delta


@pytest.mark.parametrize("delta", [1e-300, 1e-6, 0.999])
@pytest.mark.parametrize("epsilon", [1e-140, 1e-6, 1.0, 1e4, 1e140])
@pytest.mark.parametrize("calibration", CALIBRATIONS)
def test_extreme_budgets_give_numbers_and_no_warning(calibration, epsilon, delta):
    with np.errstate(all="raise"), warnings.catch_warnings(action="error"):
        made = make_guarantee(Budget(epsilon, delta), 3, calibration)
    assert 0 < made.sigma < INF
    assert 0 <= made.exact_delta <= 1
    assert 0 <= made.exact_epsilon < INF


@pytest.mark.parametrize("calibration", CALIBRATIONS)
def test_a_larger_budget_never_needs_more_noise(calibration):
    sigmas = np.array(
        [
            [calibrate(Budget(e, d), 100, calibration) for d in np.geomspace(1e-12, 0.5, 9)]
            for e in np.geomspace(0.01, 50, 9)
        ]
    )
    assert (np.diff(sigmas, axis=0) < 0).all()
    assert (np.diff(sigmas, axis=1) < 0).all()


@given(st.floats(-2, -1e-9), st.floats(-12, -2))
def test_the_analytic_noise_is_smaller_than_the_classical_where_that_is_proved(log_epsilon, log_delta):
    budget = Budget(10**log_epsilon, 10**log_delta)
    assert calibrate(budget, 100, "analytic") < calibrate(budget, 100)


def test_at_epsilon_1_and_delta_1e_6_the_analytic_noise_is_056_of_the_classical():
    budget = Budget(1, 1e-6)
    assert calibrate(budget, 100, "analytic") / calibrate(budget, 100) == pytest.approx(0.56, abs=0.005)


@pytest.mark.parametrize("bad", ["Analytic", "gauss", None, 1, ["classical"]], ids=repr)
def test_an_unknown_calibration_is_answered_with_the_two_choices(bad):
    with pytest.raises(ValueError, match=r'^calibration must be "classical" or "analytic"; got'):
        calibrate(Budget(1, 1e-6), 100, bad)


def test_fewer_than_two_rows_have_no_calibration():
    with pytest.raises(ValueError, match=r"^n must be at least 2 rows; got 1"):
        calibrate(Budget(1, 1e-6), 1)


# Guarantees


def flat(text):
    """Join what the summary wraps."""
    return " ".join(text.split())


def test_classical_noise_too_small_for_its_budget_is_void_with_the_remedy():
    made = make_guarantee(Budget(30, 1e-3), 100)
    assert not made.holds
    assert made.exact_delta == pytest.approx(0.0037131, rel=1e-4)
    (reason,) = made.reasons
    assert reason.brief == "the classical noise is too small for epsilon 30"
    assert 'Use calibration="analytic"' in str(reason)
    assert make_guarantee(Budget(30, 1e-3), 100, "analytic").holds


def test_classical_noise_at_epsilon_1_or_more_that_holds_says_that_its_proof_does_not_reach_it():
    proof = "proof of the classical calibration ends below epsilon 1"
    assert any(proof in caveat for caveat in make_guarantee(Budget(1, 1e-6), 100).caveats)
    assert not any(proof in caveat for caveat in make_guarantee(Budget(0.99, 1e-6), 100).caveats)
    assert not any(proof in caveat for caveat in make_guarantee(Budget(3, 1e-6), 100, "analytic").caveats)
    assert not any(proof in caveat for caveat in make_guarantee(Budget(30, 1e-3), 100).caveats)


def test_a_delta_that_is_not_below_one_over_n_is_a_caveat():
    assert any("is not below 1/n" in caveat for caveat in make_guarantee(Budget(1, 0.01), 100).caveats)
    assert not any("is not below 1/n" in caveat for caveat in make_guarantee(Budget(1, 0.0099), 100).caveats)


def test_noise_of_a_generator_is_said_not_to_be_hardened():
    made = make_guarantee(Budget(0.5, 1e-6), 100)
    assert not made.hardened
    assert "not hardened" in flat(str(made))
    assert "10.1145/2382196.2382264" in flat(str(made))
    assert "zCDP" not in str(made)


def test_hardened_noise_says_who_drew_what_it_covers_and_what_stays_unprotected():
    made = make_guarantee(Budget(0.5, 1e-6), 100, "analytic", slack=1e-9, randomness="dice")
    text = flat(str(made))
    assert made.hardened
    assert "not hardened" not in text
    assert f"Hardened noise (dice): rho {made.rho:.4g} (zCDP); 1e-09 for rounding is added to the sensitivity." in text
    assert "Not protected: how long the computation takes, and what lies in the memory" in text


@pytest.mark.parametrize("slack", [0.0, 1e-9])
def test_no_guarantee_claims_security(slack):
    text = flat(str(make_guarantee(Budget(0.5, 1e-6), 100, slack=slack)))
    for claim in ("secure", "anonymous", "safe to publish"):
        assert claim not in text


def test_the_summary_names_the_adjacency_and_every_reason_and_caveat():
    reasons = (Reason("one", "First sentence."), Reason("two", "Second sentence."))
    made = make_guarantee(Budget(2, 0.02), 100, reasons=reasons, caveats=("Something else.",))
    text = flat(made.summary())
    assert text.startswith("The guarantee is VOID.")
    assert "n = 100, is public" in text
    assert "one replaced row" in text
    assert "coincident pairs of rows count as zero" in text
    for piece in (*map(str, reasons), *made.caveats):
        assert piece in text
    assert str(make_guarantee(Budget(0.5, 1e-6), 100)).startswith("The guarantee holds: epsilon 0.5 at delta 1e-06")


def test_the_summary_says_with_which_sensitivity_the_classical_noise_was_computed():
    bound = "computed with the bound 4/n"
    assert bound in flat(make_guarantee(Budget(0.5, 1e-6), 100).summary())
    assert bound not in flat(make_guarantee(Budget(0.5, 1e-6), 100, "analytic").summary())


def test_half_the_classical_noise_misses_its_budget_as_the_docstring_says():
    n, half = 20, calibrate(Budget(1, 1e-5), 20) / 2
    assert gaussian_delta(2 * math.sqrt(2) / n / half, 1.0) == pytest.approx(3.7e-5, abs=0.05e-5)
    assert "3.7e-5" in calibrate.__doc__


def test_the_summary_has_no_long_lines_and_hangs_what_continues_them():
    reason = Reason("long", "A sentence that goes on " + "and on " * 30 + "to doi 10.1145/2382196.2382264.")
    made = make_guarantee(Budget(1, 0.02), 100, reasons=(reason,), caveats=("a caveat " * 30,), coincident="raise")
    lines = made.summary().split("\n")
    assert max(map(len, lines)) <= 96
    first = next(i for i, line in enumerate(lines) if line.startswith("  1. A sentence"))
    assert lines[first + 1].startswith("     on and")
    assert flat(str(reason)) in flat(made.summary())


def test_equal_rows_that_raise_void_every_guarantee_made_of_them():
    made = make_guarantee(Budget(0.5, 1e-6), 100, coincident="raise")
    assert [reason.brief for reason in made.reasons] == ["equal rows would have raised an error"]


def test_a_guarantee_is_frozen_and_states_its_own_arithmetic():
    made = make_guarantee(Budget(0.5, 1e-6), np.int64(150), "analytic")
    assert made.sensitivity == 2 * math.sqrt(2) / 150
    assert made.mu == made.sensitivity / made.sigma
    assert made.exact_delta == gaussian_delta(made.mu, 0.5)
    assert made.exact_epsilon == gaussian_epsilon(made.mu, 1e-6)
    assert type(made.n) is int
    assert pickle.loads(pickle.dumps(made)) == made
    with pytest.raises(AttributeError):
        made.sigma = 0.0
    assert isinstance(made, Guarantee)


@pytest.mark.parametrize("calibration", CALIBRATIONS)
def test_the_slack_of_rounding_is_added_to_the_sensitivity(calibration):
    slack = 0.1 * 2 * math.sqrt(2) / 40
    made = make_guarantee(Budget(0.7, 1e-5), 40, calibration, slack=slack)
    plainly = make_guarantee(Budget(0.7, 1e-5), 40, calibration)
    assert made.sensitivity == plainly.sensitivity
    assert made.slack == slack
    assert made.mu * made.sigma == pytest.approx(1.1 * made.sensitivity, rel=1e-14)
    assert made.exact_epsilon == gaussian_epsilon(made.mu, 1e-5) <= 0.7
    assert made.holds
    if calibration == "analytic":  # the noise grows, so that the budget is met
        assert made.sigma == pytest.approx(1.1 * plainly.sigma, rel=1e-14)
        assert made.mu == pytest.approx(plainly.mu, rel=1e-14)
    else:  # the noise is a formula, so its exact budget grows
        assert made.sigma == plainly.sigma
        assert made.exact_epsilon > plainly.exact_epsilon


def test_a_slack_that_classical_noise_does_not_cover_voids_the_guarantee():
    assert not make_guarantee(Budget(0.7, 1e-5), 40, slack=2 * math.sqrt(2) / 40).holds


def test_mu_of_a_budget_is_what_its_noise_gives():
    made = make_guarantee(Budget(0.7, 1e-5), 40, "analytic")
    assert made.mu == pytest.approx(gaussian_mu(0.7, 1e-5), rel=2e-9)


# Noise


@pytest.fixture(scope="module")
def draws():
    rng = np.random.default_rng(20240601)
    return np.array([standard_noise(4, rng) for _ in range(DRAWS)])


def test_noise_is_symmetric_and_filled_in_the_order_of_the_reference():
    r = math.sqrt(2)
    E = symmetric_from_normals([1, 2, 3, 4, *(r * np.arange(5, 11))], 4)
    expected = [[1, 5, 6, 7], [5, 2, 8, 9], [6, 8, 3, 10], [7, 9, 10, 4]]
    assert pytest.approx(np.array(expected), rel=1e-15) == E
    assert np.array_equal(E, E.T)
    assert symmetric_from_normals([-2.5], 1).tolist() == [[-2.5]]


def test_noise_uses_its_generator_for_exactly_one_number_per_free_entry():
    rng, other = np.random.default_rng(3), np.random.default_rng(3)
    first = standard_noise(5, rng)
    assert np.array_equal(first, symmetric_from_normals(other.standard_normal(15), 5))
    assert rng.standard_normal() == other.standard_normal()


def test_noise_has_standard_deviation_1_on_the_diagonal_and_half_the_variance_off_it(draws):
    sd = draws.std(axis=0)
    off = ~np.eye(4, dtype=bool)
    assert np.abs(np.diag(sd) - 1).max() < 0.05
    assert np.abs(sd[off] * math.sqrt(2) - 1).max() < 0.05
    assert np.abs(draws.mean(axis=0)).max() < 0.06


def test_entries_of_the_noise_are_normal_and_independent(draws):
    free = draws[:, *np.tril_indices(4)]
    free = free / np.where(np.equal(*np.tril_indices(4)), 1, math.sqrt(0.5))
    assert min(stats.kstest(column, "norm").pvalue for column in free.T) > 1e-3
    correlation = np.corrcoef(free.T) - np.eye(10)
    assert np.abs(correlation).max() < 4.5 / math.sqrt(DRAWS)
    squares = np.corrcoef((free**2).T) - np.eye(10)
    assert np.abs(squares).max() < 4.5 / math.sqrt(DRAWS)


def test_the_squared_frobenius_norm_of_the_noise_is_chi_square_in_the_number_of_free_entries(draws):
    def p_value(matrices):
        return stats.kstest((matrices**2).sum(axis=(1, 2)), stats.chi2(10).cdf).pvalue

    assert p_value(draws) > 1e-3
    forgotten = draws * np.where(np.eye(4), 1, math.sqrt(2))  # the division by sqrt(2) left out
    assert p_value(forgotten) < 1e-12


def test_the_noise_is_isotropic(draws):
    """Turning the coordinates changes nothing: the sd along any unit symmetric matrix is 1."""
    rng = np.random.default_rng(5)
    for _ in range(5):
        A = rng.normal(size=(4, 4))
        A = (A + A.T) / np.linalg.norm(A + A.T)
        assert (draws * A).sum(axis=(1, 2)).std() == pytest.approx(1, abs=0.05)


# Randomness


def test_no_rng_draws_fresh_entropy_each_time_and_gives_no_reason():
    (one, first), (two, second) = as_generator(), as_generator(None)
    assert first is None
    assert second is None
    assert one.integers(2**62) != two.integers(2**62)


@pytest.mark.parametrize(
    "seed",
    [0, np.int64(7), np.uint8(7), np.random.SeedSequence(7), np.random.PCG64(7), np.random.default_rng(7)],
    ids=lambda seed: type(seed).__name__,
)
def test_anything_that_can_be_repeated_is_accepted_and_named_as_seeded(seed):
    rng, reason = as_generator(seed)
    assert isinstance(rng, np.random.Generator)
    assert reason.brief == "seeded noise"
    assert "Leave rng out." in reason.text


def test_the_same_integer_gives_the_same_noise_and_a_generator_is_used_as_it_is():
    assert as_generator(7)[0].normal() == as_generator(np.int64(7))[0].normal() == np.random.default_rng(7).normal()
    mine = np.random.default_rng(7)
    assert as_generator(mine)[0] is mine


@pytest.mark.parametrize(
    "bad", [True, np.True_, 1.0, "7", [1, 2], np.random.RandomState(7), np.random], ids=lambda bad: type(bad).__name__
)
def test_other_sources_of_randomness_are_refused_with_the_remedy(bad):
    with pytest.raises(TypeError, match=r"^rng must be None, an integer .* Leave it out for fresh noise"):
        as_generator(bad)


def test_a_negative_seed_is_refused():
    with pytest.raises(ValueError, match=r"^rng must be an integer of at least 0 if it is one; got -1"):
        as_generator(-1)


def test_the_global_random_state_is_never_touched():
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    for seed in (None, 3, np.random.default_rng(3)):
        standard_noise(3, as_generator(seed)[0])
    assert np.array_equal(before, np.random.get_state()[1])  # noqa: NPY002
    np.random.seed(0)  # noqa: NPY002
    first = as_generator()[0].normal()
    np.random.seed(0)  # noqa: NPY002
    assert as_generator()[0].normal() != first
