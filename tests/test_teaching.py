"""Teaching draws: one kept noise draw, the exact matrix once, any number of budgets."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dppca_nb.core import teaching
from dppca_nb.core.align import subspace_angles
from dppca_nb.core.loading import SAMPLE_SCALE
from dppca_nb.core.privacy import Budget, calibrate, standard_noise
from dppca_nb.core.release import LoadingRelease
from dppca_nb.core.teaching import TEACHING, TeachingDraws
from dppca_nb.table import DataError, as_table

ROWS = np.random.default_rng(9).normal(size=(300, 4)) @ np.diag([3, 2, 1, 0.5])
TABLE = as_table(pd.DataFrame(ROWS, columns=list("wxyz")))
BUDGET = Budget(0.5, 1e-5)


@pytest.fixture
def counted(monkeypatch):
    """How often the exact matrix and the noise were computed."""
    calls = {"spherical_kendall": 0, "standard_noise": 0, "reference_directions": 0}

    def counting(name):
        original = getattr(teaching, name)

        def wrapped(*args, **kwargs):
            calls[name] += 1
            return original(*args, **kwargs)

        monkeypatch.setattr(teaching, name, wrapped)

    for name in calls:
        counting(name)
    return calls


@given(st.sampled_from([0.05, 0.3, 1, 2.5, 10]), st.sampled_from([1e-5, 1e-6, 1e-8]), st.booleans(), st.integers(0, 50))
@settings(max_examples=30, deadline=None)
def test_a_release_is_the_exact_matrix_plus_sigma_times_the_kept_draw(epsilon, delta, analytic, draw):
    calibration = "analytic" if analytic else "classical"
    draws = TeachingDraws(TABLE, seed=3)
    made = draws.release(Budget(epsilon, delta), calibration, draw)
    sigma = calibrate(Budget(epsilon, delta), 300, calibration)
    noise = standard_noise(4, np.random.default_rng([3, draw]))
    assert np.array_equal(made.noisy_kendall.to_numpy(), draws.kendall.matrix.to_numpy() + sigma * noise)
    assert made.guarantee.sigma == sigma
    assert made.n == 300


def test_sixty_budgets_compute_the_exact_matrix_once_and_draw_once(counted):
    draws = TeachingDraws(TABLE)
    for epsilon in np.geomspace(0.01, 100, 60):
        draws.release(Budget(float(epsilon), 1e-5), "classical", 0)
    assert counted == {"spherical_kendall": 1, "standard_noise": 1, "reference_directions": 1}
    draws.release(BUDGET, "analytic", 1)
    draws.release(BUDGET, "classical", 1)
    assert counted["standard_noise"] == 2


def test_going_back_to_a_budget_or_to_a_draw_gives_the_same_numbers():
    draws = TeachingDraws(TABLE)
    first = draws.release(BUDGET, "classical", 0)
    draws.release(Budget(10, 1e-8), "classical", 0)
    draws.release(BUDGET, "classical", 7)
    again = draws.release(BUDGET, "classical", 0)
    pd.testing.assert_frame_equal(first.noisy_kendall, again.noisy_kendall, check_exact=True)
    pd.testing.assert_frame_equal(first.loadings, again.loadings, check_exact=True)


def test_two_draws_and_two_seeds_differ_and_the_same_pair_agrees():
    noise = {
        (seed, draw): TeachingDraws(TABLE, seed=seed).release(BUDGET, "classical", draw).noisy_kendall.to_numpy()
        for seed in (0, 1)
        for draw in (0, 1)
    }
    values = list(noise.values())
    assert all(not np.allclose(a, b) for i, a in enumerate(values) for b in values[:i])
    again = TeachingDraws(TABLE, seed=1).release(BUDGET, "classical", 1).noisy_kendall.to_numpy()
    assert np.array_equal(noise[1, 1], again)


def test_the_noise_of_many_draws_has_the_scale_that_is_stated():
    draws = TeachingDraws(TABLE)
    sigma = calibrate(BUDGET, 300, "classical")
    exact = draws.kendall.matrix.to_numpy()
    noise = np.array([draws.release(BUDGET, "classical", k).noisy_kendall.to_numpy() - exact for k in range(400)])
    diagonal, off = noise[:, range(4), range(4)], noise[:, *np.tril_indices(4, -1)]
    assert np.std(diagonal) == pytest.approx(sigma, rel=5 / np.sqrt(2 * diagonal.size))
    assert np.std(off) == pytest.approx(sigma / np.sqrt(2), rel=5 / np.sqrt(2 * off.size))
    assert abs(noise.mean()) < 5 * sigma / np.sqrt(noise.size / 2)


def test_directions_move_smoothly_along_budgets():
    draws = TeachingDraws(TABLE, seed=1)
    path = [draws.release(Budget(e, 1e-5), "classical", 0).loadings.to_numpy() for e in (4.0, 4.1, 4.2, 4.3)]
    for before, after in pairwise(path):
        assert np.abs(np.abs(np.sum(before * after, axis=0)) - 1).max() < 1e-3


def test_nothing_that_teaching_shows_claims_a_guarantee():
    draws = TeachingDraws(TABLE)
    made = draws.release(BUDGET, "analytic", 0)
    assert isinstance(made, LoadingRelease)
    assert not made.guarantee.holds
    assert made.guarantee.reasons == (TEACHING,)
    assert "two of them give the exact matrix back" in " ".join(str(r) for r in made.guarantee.reasons)


def test_two_budgets_over_one_draw_do_give_the_exact_matrix_back_as_the_text_says():
    draws = TeachingDraws(TABLE)
    one, two = (draws.release(Budget(e, 1e-5), "classical", 0) for e in (0.5, 1.0))
    back = 2 * two.noisy_kendall - one.noisy_kendall
    assert np.allclose(back, draws.kendall.matrix, atol=1e-12)


def test_scales_from_the_sample_are_a_second_reason_and_public_ones_are_none():
    sample = TeachingDraws(TABLE, scale="sample").release(BUDGET, "classical", 0)
    assert sample.guarantee.reasons == (TEACHING, SAMPLE_SCALE)
    public = TeachingDraws(TABLE, scale=[3, 2, 1, 0.5]).release(BUDGET, "classical", 0)
    assert public.guarantee.reasons == (TEACHING,)


def test_scales_divide_the_columns_before_anything_else():
    scaled = TeachingDraws(TABLE, scale=[3, 2, 1, 0.5])
    by_hand = TeachingDraws(as_table(pd.DataFrame(ROWS / [3, 2, 1, 0.5], columns=list("wxyz"))))
    assert np.allclose(scaled.kendall.matrix, by_hand.kendall.matrix, atol=1e-14)
    assert np.allclose(np.abs(scaled.reference), np.abs(by_hand.reference), atol=1e-12)


def test_the_reference_is_that_of_ordinary_principal_components():
    made = TeachingDraws(TABLE).release(BUDGET, "classical", 0)
    expected = np.linalg.eigh(np.cov(ROWS.T))[1][:, ::-1]
    assert np.allclose(np.abs(made.reference), np.abs(expected), atol=1e-10)


def test_the_exact_angle_is_that_of_the_matrix_without_noise():
    draws = TeachingDraws(TABLE)
    V = np.linalg.eigh(draws.kendall.matrix.to_numpy())[1][:, ::-1]
    for pair in [(1, 2), (2, 4), (4, 1)]:
        columns = [c - 1 for c in pair]
        expected = subspace_angles(V[:, columns], draws.reference[:, columns])[0]
        assert draws.exact_angle(pair) == pytest.approx(expected)


def test_more_budget_brings_the_directions_to_the_exact_ones():
    draws = TeachingDraws(TABLE)
    exact = np.linalg.eigh(draws.kendall.matrix.to_numpy())[1][:, ::-1]
    V = draws.release(Budget(1e6, 1e-5), "classical", 0).loadings.to_numpy()
    assert subspace_angles(V, exact, k=2)[0] < 0.01


def test_equal_rows_count_as_zero_or_are_refused():
    twice = as_table(pd.DataFrame(np.vstack([ROWS[:3], ROWS[:1]])))
    draws = TeachingDraws(twice)
    assert draws.coincident_share == pytest.approx(1 / 6)
    assert np.trace(draws.kendall.matrix) == pytest.approx(5 / 6)
    with pytest.raises(DataError):
        TeachingDraws(twice, coincident="raise")
    assert TeachingDraws(TABLE).coincident_share == 0


@pytest.mark.parametrize("unit", [1e-200, 1e-12, 1, 1e12, 1e200])
def test_the_spread_of_columns_does_not_depend_on_their_common_unit(unit):
    frame = pd.DataFrame(ROWS * [1000, 1, 1, 1] * unit, columns=["income", "x", "y", "z"])
    draws = TeachingDraws(as_table(frame))
    deviations = np.std(ROWS * [1000, 1, 1, 1], axis=0)
    assert draws.spread == pytest.approx(deviations.max() / deviations.min())
    assert draws.widest == "income"


def test_constant_columns_do_not_count_towards_the_spread():
    frame = pd.DataFrame({"a": [1.0, 2, 3, 5], "site": [5.0, 5, 5, 5], "b": [1.0, 0, 2, 1]})
    draws = TeachingDraws(as_table(frame))
    assert 1 < draws.spread < 5
    assert draws.widest == "a"


@pytest.mark.parametrize("rows", [7, 10, 50, 333])
@pytest.mark.parametrize("value", [0.1, 0.3, 1 / 3, 1e9 + 0.1])
def test_a_constant_column_of_decimals_is_constant_although_its_mean_is_rounded(value, rows):
    count = np.arange(rows)
    frame = pd.DataFrame({"a": 2.0 * (count % 5), "site": np.full(rows, value), "b": count % 3})
    assert 1 <= TeachingDraws(as_table(frame)).spread < 10


def test_a_large_common_offset_does_not_make_columns_uneven():
    frame = pd.DataFrame(ROWS + 1e9, columns=list("wxyz"))
    assert TeachingDraws(as_table(frame)).spread == pytest.approx(TeachingDraws(TABLE).spread, rel=1e-3)


@pytest.mark.parametrize("rows", [np.zeros((3, 2)), np.full((5, 3), 7.5)])
def test_a_table_without_any_variation_is_no_error(rows):
    draws = TeachingDraws(as_table(pd.DataFrame(rows)))
    made = draws.release(BUDGET, "classical", 0)
    assert draws.coincident_share == 1
    assert draws.spread == 1
    assert np.isfinite(made.loadings.to_numpy()).all()


def test_more_columns_than_rows_work():
    wide = as_table(np.random.default_rng(3).normal(size=(5, 10)))
    made = TeachingDraws(wide).release(BUDGET, "classical", 0)
    assert made.loadings.shape == made.reference.shape == (10, 10)


def test_the_global_random_state_and_the_callers_table_stay_as_they_are():
    np.random.seed(5)  # noqa: NPY002 (the global state is what is tested)
    before, rows = np.random.get_state()[1].copy(), ROWS.copy()  # noqa: NPY002
    TeachingDraws(TABLE, scale="sample", seed=5).release(BUDGET, "classical", 2)
    assert np.array_equal(np.random.get_state()[1], before)  # noqa: NPY002
    assert np.array_equal(ROWS, rows)
