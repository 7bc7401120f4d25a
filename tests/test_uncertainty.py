"""Redraws of the noise: how far it moves loadings, and whether that is how far it really moves them."""

import time
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dppca_nb import dp_loading
from dppca_nb.core import uncertainty
from dppca_nb.core.align import subspace_angles
from dppca_nb.core.noise import standard_noise
from dppca_nb.core.uncertainty import LoadingUncertainty, each_unit_noise, redraw, unit_noises

# Eigenvalues of the spherical Kendall matrix of RAND HIE under its public scales, of 20,190 rows.
RAND_SHARES = (0.2695, 0.2058, 0.1720, 0.0882, 0.0836, 0.0716, 0.0483, 0.0383, 0.0129, 0.0092)
CLASSICAL = 4 * np.sqrt(2 * np.log(1.25e6)) / 20190  # noise of these data at epsilon 1 and delta 1e-6


def frame(V):
    V = np.asarray(V, float)
    return pd.DataFrame(
        V,
        index=pd.Index([f"x{j}" for j in range(1, len(V) + 1)], name="variable"),
        columns=pd.Index([f"PC{c}" for c in range(1, V.shape[1] + 1)], name="component"),
    )


def directions(matrix):
    return np.linalg.eigh(matrix)[1][:, ::-1]


def some_matrix(p, seed=0, fall=0.6):
    Q = np.linalg.qr(np.random.default_rng(seed).normal(size=(p, p)))[0]
    return (Q * fall ** np.arange(p)) @ Q.T


def some_spread(p=6, draws=40, sigma=0.02, **more):
    matrix = some_matrix(p)
    return redraw(matrix, sigma, frame(directions(matrix)), unit_noises(p, draws), **more)


def turned(angle, mirror=False):
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    return turn * [1, -1] if mirror else turn


@pytest.mark.parametrize("shares", ["rand", "first three equal"])
@pytest.mark.parametrize("epsilon", [0.3, 0.15, 0.05])
def test_noise_on_a_released_matrix_turns_it_as_far_as_the_release_was_turned(epsilon, shares):
    exact = np.diag(RAND_SHARES) if shares == "rand" else np.diag([0.3, 0.3, 0.3, *RAND_SHARES[3:]])
    components = (1, 2) if shares == "rand" else (1, 2, 3)
    columns = [c - 1 for c in components]
    sigma, rng = CLASSICAL / epsilon, np.random.default_rng(4)
    true, estimated = [], []
    for _ in range(100):
        released = exact + sigma * standard_noise(10, rng)
        shown = directions(released)
        true.append(subspace_angles(np.eye(10)[:, columns], shown[:, columns])[0])
        spread = redraw(released, sigma, frame(shown), unit_noises(10, 60), leading=3)
        estimated.append(spread.plane_angle(components))
    assert np.median(estimated) == pytest.approx(np.median(true), rel=0.15)


def test_signs_follow_the_loadings_shown_also_where_those_are_turned_round():
    matrix = some_matrix(5)
    V = directions(matrix) * [1, -1, 1, -1, -1]
    spread = redraw(matrix, 0.01, frame(V), unit_noises(5, 50))
    assert (np.einsum("bjk,jk->bk", spread.draws, V) > 0.5).all()
    other = redraw(matrix, 0.01, frame(-V), unit_noises(5, 50))
    assert np.array_equal(other.draws, -spread.draws)


def test_without_noise_every_redraw_is_what_is_shown():
    spread = some_spread(sigma=0.0)
    shown = spread.loadings.to_numpy()
    assert np.allclose(spread.draws, shown, atol=1e-12)
    assert np.allclose(spread.lower, shown, atol=1e-12)
    assert np.allclose(spread.upper, shown, atol=1e-12)
    assert (spread.sign_kept == 1).all(axis=None)
    assert spread.plane_angle((1, 2)) < 1e-6


def test_every_redraw_is_orthonormal_and_diagonalises_its_own_matrix():
    matrix, units = some_matrix(6), unit_noises(6, 20)
    spread = redraw(matrix, 0.05, frame(directions(matrix)), units)
    for V, unit in zip(spread.draws, units, strict=True):
        inside = V.T @ (matrix + 0.05 * unit) @ V
        assert np.allclose(V.T @ V, np.eye(6), atol=1e-12)
        assert np.allclose(inside, np.diag(np.diag(inside)), atol=1e-12)
        assert (np.diff(np.diag(inside)) <= 0).all()


@pytest.mark.parametrize("leading", [1, 3, 12])
def test_few_components_of_many_are_those_of_all(leading, monkeypatch):
    p = 48
    matrix, units = some_matrix(p, fall=0.9), unit_noises(p, 8)
    shown = frame(directions(matrix))
    asked = []
    original = uncertainty._leading
    monkeypatch.setattr(uncertainty, "_leading", lambda *given: asked.append(given) or original(*given))
    few = redraw(matrix, 0.01, shown, units, leading=leading)
    every = redraw(matrix, 0.01, shown, units)
    assert [few for *_, few in asked] == [True] * 8 + [False] * 8  # the quick way was taken for the few
    assert few.draws.shape == (8, p, leading)
    assert list(few.loadings) == list(shown)[:leading]
    assert np.allclose(few.draws, every.draws[:, :, :leading], atol=1e-9)


@given(st.floats(-3.1, 3.1), st.booleans())
def test_loose_redraws_are_turned_back_by_the_angle_they_were_turned_by(angle, mirror):
    V = np.linalg.qr(np.random.default_rng(3).normal(size=(5, 2)))[0]
    spread = LoadingUncertainty(frame(V), np.stack([V @ turned(angle, mirror)] * 3))
    assert np.allclose(spread.plane((1, 2), loose=True), V, atol=1e-12)
    assert np.array_equal(spread.plane((1, 2), loose=False), spread.draws)


def test_no_other_turn_brings_a_loose_redraw_nearer_to_what_is_shown():
    spread = some_spread(draws=5, sigma=0.2)
    shown = spread.loadings.to_numpy()[:, :2]
    for best, one in zip(spread.plane((1, 2), True), spread.draws[:, :, :2], strict=True):
        assert subspace_angles(best, one).max() < 1e-5  # the plane stays
        tried = [one @ turned(a, m) for a in np.linspace(-np.pi, np.pi, 721) for m in (False, True)]
        assert np.linalg.norm(best - shown) <= min(np.linalg.norm(each - shown) for each in tried) + 1e-9


def test_a_pair_is_taken_in_the_order_asked_for():
    spread = some_spread()
    assert np.array_equal(spread.plane((3, 1), False), spread.draws[:, :, [2, 0]])
    assert np.allclose(spread.plane((3, 1), True), spread.plane((1, 3), True)[:, :, ::-1])


def test_the_interval_holds_nine_tenths_of_the_redraws_of_each_loading():
    spread = some_spread(draws=1000, sigma=0.05)
    below, above = spread.draws < spread.lower.to_numpy(), spread.draws > spread.upper.to_numpy()
    assert np.allclose(below.mean(axis=0), 0.05, atol=0.002)
    assert np.allclose(above.mean(axis=0), 0.05, atol=0.002)
    assert np.allclose(spread.bounds((1, 2), False)[0], spread.lower.iloc[:, :2])
    assert np.allclose(spread.bounds((1, 2), False)[1], spread.upper.iloc[:, :2])


def test_sign_kept_is_the_share_of_redraws_on_the_same_side_of_zero():
    shown = frame([[0.6, 0.0], [-0.8, 1.0]])
    draws = np.array([[[0.5, 0.1], [-0.9, 1]], [[-0.1, 0.2], [-1, 1]], [[0.4, -0.3], [0.2, 1]], [[0.2, 0.0], [-1, 1]]])
    kept = LoadingUncertainty(shown, draws).sign_kept
    assert kept.to_numpy().tolist() == [[0.75, 0.0], [0.75, 1.0]]
    assert kept.index.name == "variable"
    assert kept.columns.name == "component"


def test_the_plane_angle_is_the_median_over_redraws_of_the_largest_principal_angle():
    spread = some_spread(draws=31, sigma=0.1)
    other = directions(some_matrix(6, seed=8))
    for to in (None, other, frame(other)):
        base = spread.loadings.to_numpy() if to is None else other
        angles = [subspace_angles(V[:, [0, 2]], base[:, [0, 2]])[0] for V in spread.draws]
        assert spread.plane_angle((1, 3), to) == pytest.approx(np.median(angles), abs=1e-4)
    assert spread.plane_angle((1, 2)) == pytest.approx(spread.plane_angle((2, 1)), abs=1e-9)


def test_the_table_has_a_row_for_each_variable_and_four_numbers_for_each_component():
    spread = some_spread(p=3)
    table = spread.table()
    assert table.index.name == "variable"
    assert table.columns.names == ["component", "value"]
    assert table.shape == (3, 12)
    assert list(table["PC2"]) == ["loading", "lower", "upper", "sign kept"]
    for name, part in (("loading", spread.loadings), ("lower", spread.lower), ("sign kept", spread.sign_kept)):
        assert np.array_equal(table["PC2"][name], part["PC2"]), name


def test_a_spread_says_what_it_leaves_out():
    assert repr(some_spread(leading=1)) == (
        "LoadingUncertainty(40 redraws of the noise, p=6, 1 component, 90 % intervals; not sampling error)"
    )


def test_redraws_are_the_same_every_time_and_have_the_law_of_the_noise():
    units = unit_noises(4, 4000)
    assert np.array_equal(units, unit_noises(4, 4000))
    assert np.array_equal(units[:50], unit_noises(4, 50))
    assert not np.array_equal(units[:50], unit_noises(4, 50, seed=1))
    assert np.array_equal(units, np.swapaxes(units, 1, 2))
    assert np.allclose(units.std(axis=0), np.where(np.eye(4), 1, np.sqrt(0.5)), rtol=0.05)
    assert np.abs(units.mean(axis=0)).max() < 4 / np.sqrt(4000)


@pytest.mark.parametrize("p", [5, 45])
def test_draws_taken_one_at_a_time_are_the_same(p):
    matrix, units = some_matrix(p), unit_noises(p, 6)
    assert np.array_equal(np.stack(list(each_unit_noise(p, 6))), units)
    shown = frame(directions(matrix))
    one, all_at_once = (redraw(matrix, 0.01, shown, each, leading=2) for each in (each_unit_noise(p, 6), units))
    assert np.array_equal(one.draws, all_at_once.draws)


def test_redraws_of_many_variables_need_little_room():
    matrix = np.diag(np.linspace(1, 0, 400))
    shown = frame(np.eye(400))
    tracemalloc.start()
    redraw(matrix, 1e-4, shown, each_unit_noise(400, 12), leading=2)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 12 * 400 * 400 * 8  # all units at once would be this much


def test_no_redraw_is_a_draw_that_teaching_or_a_preview_shows():
    units = unit_noises(3, 2)
    for entropy in (0, [0], [0, 0], [0, 1], [0, 0, 1], [0, 1, 1], [0, 2]):
        shown = standard_noise(3, np.random.default_rng(entropy))
        assert not any(np.allclose(shown, unit) for unit in units), entropy


@pytest.mark.parametrize("draws", [1, 0, -3, 10_001])
def test_too_few_or_too_many_draws_are_refused(draws):
    with pytest.raises(ValueError, match=r"draws must be a whole number from 2 to 10,000"):
        unit_noises(3, draws)


@pytest.mark.parametrize("draws", [2.5, "200", None])
def test_draws_that_are_no_whole_number_are_refused(draws):
    with pytest.raises(TypeError, match="draws must be a whole number"):
        unit_noises(3, draws)


def test_sixty_redraws_of_ten_variables_cost_a_slider_step_next_to_nothing():
    matrix, units = some_matrix(10), unit_noises(10, 60)
    shown = frame(directions(matrix))
    times = []
    for _ in range(15):
        start = time.perf_counter()
        redraw(matrix, 0.01, shown, units, leading=4)
        times.append(time.perf_counter() - start)
    assert min(times) < 0.005


def test_a_release_gives_its_own_uncertainty_for_nothing_and_the_same_every_time():
    release = dp_loading(np.random.default_rng(0).normal(size=(300, 4)) * [3, 2, 1, 1], epsilon=2, delta=1e-4)
    spread = release.uncertainty()
    assert spread.draws.shape == (200, 4, 4)
    assert spread.loadings.equals(release.loadings)
    assert np.array_equal(spread.draws, release.uncertainty(200).draws)
    for V, unit in zip(spread.draws[:5], unit_noises(4, 5), strict=True):
        inside = V.T @ (release.noisy_kendall.to_numpy() + release.guarantee.sigma * unit) @ V
        assert np.allclose(inside, np.diag(np.diag(inside)), atol=1e-12)
    assert release.uncertainty(20, leading=2).draws.shape == (20, 4, 2)
    assert list(release.uncertainty(20, leading=2).table()["PC2"]) == ["loading", "lower", "upper", "sign kept"]
    with pytest.raises(ValueError, match="draws must be a whole number from 2"):
        release.uncertainty(1)
