import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dppca_nb.core.align import align_signs, fix_signs, separation, subspace_angles, turn_angle
from dppca_nb.core.noise import standard_noise
from dppca_nb.datasets import iris


def orthonormal(seed, p=5):
    return np.linalg.qr(np.random.default_rng(seed).normal(size=(p, p)))[0]


# Signs


def test_iris_gets_the_signs_of_the_documented_rule_whatever_the_order_of_its_rows():
    X = iris().iloc[:, :4].to_numpy()
    for order in (np.arange(150), np.arange(150)[::-1], np.random.default_rng(0).permutation(150)):
        V = fix_signs(np.linalg.eigh(np.cov(X[order].T))[1][:, ::-1])
        assert V[:, 0] == pytest.approx([0.36138659, -0.08452251, 0.85667061, 0.3582892], abs=1e-8)


@given(st.integers(0, 10**6), st.integers(0, 31))
def test_the_largest_entry_is_positive_and_the_signs_that_come_in_do_not_matter(seed, bits):
    V = orthonormal(seed)
    flips = np.array([-1.0 if bits >> j & 1 else 1.0 for j in range(5)])
    fixed = fix_signs(V)
    assert np.array_equal(fixed, fix_signs(V * flips))
    assert np.array_equal(np.abs(fixed), np.abs(V))
    assert (fixed[np.abs(fixed).argmax(axis=0), np.arange(5)] > 0).all()


def test_entries_equal_to_rounding_count_as_equal_and_the_first_decides():
    a = math.sqrt(0.5)
    for jitter in (0, 1e-16, -1e-16, 9e-9, -9e-9):
        assert fix_signs(np.array([[-a], [a + jitter]]))[0, 0] > 0
        assert fix_signs(np.array([[a], [-a + jitter]]))[0, 0] > 0
    assert fix_signs(np.array([[-a], [a + 2e-8]]))[0, 0] < 0


def test_no_negative_zero_comes_out():
    V = np.array([[-1.0, 0.0], [0.0, -1.0]])
    for out in (fix_signs(V), fix_signs(-V), align_signs(V, -V), align_signs(-V, -V)):
        assert not np.signbit(out).any()


def test_signs_follow_the_other_directions_column_by_column():
    V, to = orthonormal(1), orthonormal(2)
    out = align_signs(V, to)
    assert ((out * to).sum(axis=0) >= 0).all()
    assert np.array_equal(np.abs(out), np.abs(V))
    assert np.array_equal(align_signs(-V, to), out)


def test_directions_at_a_right_angle_to_their_counterparts_keep_their_signs():
    assert align_signs(np.eye(2), np.eye(2)[:, ::-1]).tolist() == [[1, 0], [0, 1]]


def test_a_frame_comes_out_as_a_frame_and_what_came_in_is_untouched():
    frame = pd.DataFrame(-np.eye(2), index=["a.b", "c"], columns=["PC1", "PC2"]).rename_axis("variable")
    for out in (fix_signs(frame), align_signs(frame, np.eye(2))):
        pd.testing.assert_frame_equal(out, -frame + 0.0)
    assert frame.iloc[0, 0] == -1


# Angles


@pytest.mark.parametrize("degrees", [0.0, 1e-9, 1e-5, 0.5, 30.0, 60.0, 89.9999])
def test_an_angle_is_accurate_however_small(degrees):
    t = math.radians(degrees)
    a = np.eye(4)[:, :2]
    b = np.column_stack([np.eye(4)[:, 0], [0, math.cos(t), math.sin(t), 0]])
    U = orthonormal(3, 4)
    assert subspace_angles(U @ a, U @ b) == pytest.approx([degrees, 0], rel=1e-9, abs=5e-14)


def test_angles_belong_to_the_plane_and_not_to_its_axes():
    V = orthonormal(4)
    turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    turned = np.column_stack([V[:, :2] @ turn, -V[:, 2:]])
    assert subspace_angles(V, turned, k=2).max() < 1e-12
    assert subspace_angles(V, turned, k=1) == pytest.approx([math.degrees(math.acos(0.6))])


def test_angles_come_largest_first():
    angles = subspace_angles(orthonormal(5), orthonormal(6), k=2)
    assert angles[0] > angles[1] > 0


# Separation


def test_equal_shares_are_flagged_even_without_noise():
    data = np.array([[1.0, 0], [-1, 0], [0, 1], [0, -1]])
    shares = np.linalg.eigvalsh(np.cov(data.T))[::-1]
    for rounding in (0, 1e-15, 1e-12):
        assert not separation(shares + np.array([rounding, 0]), (1, 2), sigma=0.0).separated
    found = separation(shares, (1, 2), sigma=0.0)
    assert found.next_gap is None
    assert found.next_pair is None
    assert found.next_separated
    assert separation([0.5 + 1e-8, 0.5 - 1e-8], (1, 2), sigma=0.0).separated


def test_a_gap_is_judged_against_three_root_two_times_the_noise_scale():
    assert separation([0.6, 0.4], (1, 2), sigma=0.047).separated
    found = separation([0.6, 0.4], (2, 1), sigma=0.0472)
    assert not found.separated
    assert found.gap == pytest.approx(0.2)
    assert found.threshold == pytest.approx(3 * 2**0.5 * 0.0472)


def test_one_pair_of_equal_shares_in_ninety_passes_for_separated():
    # the gap that noise opens between two equal shares is Rayleigh with scale sqrt(2) sigma: exp(-9/2) = 1.1 %
    rng = np.random.default_rng(5)
    draws = [np.linalg.eigvalsh(np.eye(2) / 2 + 0.01 * standard_noise(2, rng))[::-1] for _ in range(20_000)]
    passed = np.mean([separation(shares, (1, 2), sigma=0.01).separated for shares in draws])
    assert passed == pytest.approx(np.exp(-4.5), rel=0.25)


@pytest.mark.parametrize(
    ("components", "gap", "next_gap", "next_pair"),
    [
        ((1, 2), 0.30, 0.05, (2, 3)),
        ((2, 3), 0.05, 0.03, (3, 4)),
        ((1, 3), 0.35, 0.03, (3, 4)),
        ((3, 1), 0.35, 0.03, (3, 4)),
        ((1, 4), 0.38, 0.03, (4, 3)),  # the neighbour above the pair's last one
        ((1, 5), 0.58, 0.20, (5, 4)),
        ((3, 4), 0.03, 0.05, (3, 2)),
    ],
)
def test_the_nearest_outsider_is_found_above_between_and_below_the_pair(components, gap, next_gap, next_pair):
    found = separation([0.55, 0.25, 0.20, 0.17, -0.03], components, sigma=0.0)
    assert found.gap == pytest.approx(gap)
    assert found.next_gap == pytest.approx(next_gap)
    assert found.next_pair == next_pair


def test_a_plane_tied_with_another_component_is_flagged_on_its_own():
    found = separation([0.6, 0.21, 0.19], (1, 2), sigma=0.01)
    assert found.separated
    assert not found.next_separated


# Turning


@pytest.mark.parametrize("gap_in_sigmas", [0.5, 2.0, 3.0, 6.0, 30.0])
@pytest.mark.parametrize("q", [0.5, 0.9])
def test_the_turn_is_the_quantile_of_simulated_turns_of_the_block(gap_in_sigmas, q):
    sigma, draws = 0.02, 200_000
    rng = np.random.default_rng(11)
    across, along = rng.normal(scale=math.sqrt(2) * sigma, size=(2, draws))
    theta = np.degrees(np.abs(np.arctan2(across, gap_in_sigmas * sigma + along))) / 2
    assert turn_angle(gap_in_sigmas * sigma, sigma, q) == pytest.approx(min(np.quantile(theta, q), 45), rel=0.01)


def test_the_turn_is_what_the_noise_of_the_mechanism_does_to_a_pair():
    rng, sigma, gap = np.random.default_rng(12), 0.01, 0.05
    angles = []
    for _ in range(3000):
        V = np.linalg.eigh(np.diag([gap, 0.0]) + sigma * standard_noise(2, rng))[1]
        angles.append(math.degrees(math.atan2(abs(V[1, 1]), abs(V[0, 1]))))
    assert turn_angle(gap, sigma) == pytest.approx(np.quantile(angles, 0.9), rel=0.06)


def test_the_turn_falls_with_the_gap_and_only_their_ratio_matters():
    gaps = np.geomspace(1e-3, 1e3, 60)
    turns = np.array([turn_angle(gap, 0.1) for gap in gaps])
    assert (np.diff(turns) <= 0).all()
    assert (np.diff(turns[turns < 45]) < 0).all()
    assert turns[0] == 45.0
    assert turn_angle(0.3, 0.1) == pytest.approx(turn_angle(3e-5, 1e-5), rel=1e-9)
    # far apart, theta is normal with sd sigma / (sqrt(2) gap)
    assert turn_angle(1e3, 0.1) == pytest.approx(math.degrees(1.6448536 * 0.1 / math.sqrt(2) / 1e3), rel=1e-6)


@pytest.mark.parametrize(("gap", "turn"), [(0.1, 0.0), (0.0, 45.0)])
def test_without_noise_only_a_tie_turns(gap, turn):
    assert turn_angle(gap, 0.0) == turn
    assert turn_angle(0.0, 1.0) == 45.0
