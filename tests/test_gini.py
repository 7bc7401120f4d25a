"""Generalized Gini PCA: golden numbers, the theorems as properties, and the data that break other programs."""

import dataclasses
import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import rankdata

from dppca_nb.core.gini import GiniResult, gini_pca
from dppca_nb.core.gini_ranks import own_sums, rank_weights, rounding_of
from dppca_nb.core.pca import pca
from dppca_nb.datasets import cars2004
from dppca_nb.table import DataError, as_table

FOLDER = Path(__file__).parent / "reference" / "gini"
GOLDEN = {p.stem: json.loads(p.read_text()) for p in sorted(FOLDER.glob("*.json")) if not p.stem.startswith("readme")}
NUS = (0.1, 0.5, 0.999, 1.0, 1.4, 2.0, 4.0, 6.0, 30.0)
CARS = cars2004()
ROWS = np.random.default_rng(1).normal(size=(60, 4)) @ np.array(
    [[2, 1, 0, 1], [0, 1, 1, 0], [0, 0, 1, -1], [0, 0, 0, 0.5]]
)


def golden_result(name, **settings):
    golden = GOLDEN[name]
    return gini_pca(pd.DataFrame(golden["X"], columns=golden["columns"]), nu=golden["nu"], **settings)


def close(ours, theirs, rtol=1e-10):
    """Every entry agrees to rtol; entries far below the largest of their column to as much of the largest."""
    ours, theirs = np.asarray(ours, dtype=float), np.asarray(theirs, dtype=float)
    assert ours.shape == theirs.shape
    floor = 1e-4 * np.abs(theirs).max(axis=0)
    return bool((np.abs(ours - theirs) <= rtol * np.maximum(np.abs(theirs), floor)).all())


def same(a, b, rtol=1e-9):
    """Whether two results agree in all that rank scale, units and offsets leave alone."""
    pairs = [
        (a.gc, b.gc),
        (a.eigenvalues, b.eigenvalues),
        (a.variable_correlations("variables"), b.variable_correlations("variables")),
        (a.observation_shares, b.observation_shares),
    ]
    return all(np.allclose(x, y, rtol=rtol, atol=rtol) for x, y in pairs)


# Golden numbers


def test_all_golden_files_are_there():
    assert len(GOLDEN) == 10
    assert {golden["nu"] for golden in GOLDEN.values()} == {0.5, 1, 1.4, 2, 4, 6, 60}


@pytest.mark.parametrize("name", GOLDEN)
def test_the_numbers_of_34_digit_arithmetic_are_rebuilt(name):
    golden, made = GOLDEN[name], golden_result(name, rank_scale="raw")
    assert close(made.gmd, golden["GMD"])
    assert close(made.gc, golden["GC"])
    assert close(made.eigenvalues, golden["eigenvalues"])
    assert close(made.mu, golden["mu"])
    assert close(made.directions, golden["eigenvectors"])
    assert close(made.scores, golden["scores"])
    assert close(made.shares("abs"), golden["pct_abs"])
    assert close(made.shares("trace"), golden["pct_trace"])
    assert close(made.score_gmd, golden["GMD_scores"])
    assert close(made.observation_shares, golden["RCT"])
    assert close(made.variable_correlations().T, golden["V"])
    assert close(made.variable_correlations("scores").T, golden["U_scores"])
    assert close(made.variable_correlations("variables").T, golden["U_variables"])
    assert close(made.circle("scores"), golden["ACT_variables"])
    small = np.abs(golden["mu"]) < 1e-2
    ours, theirs = made.observation_contributions.to_numpy(), np.array(golden["ACT"])
    assert close(ours[:, ~small], theirs[:, ~small])
    if small.any():
        assert close(ours[:, small], theirs[:, small], rtol=1e-8)


@pytest.mark.parametrize("name", GOLDEN)
def test_the_unit_scale_changes_gini_mean_differences_and_scores_by_one_factor_and_nothing_else(name):
    golden, made = GOLDEN[name], golden_result(name)
    factor = golden["n"] ** (golden["nu"] - 2.0)
    assert made.rank_scale == "unit"
    assert close(made.gmd * factor, golden["GMD"])
    assert close(made.scores / factor, golden["scores"])
    assert same(made, golden_result(name, rank_scale="raw"), rtol=1e-12)


def test_the_numbers_that_the_authors_printed_are_reproduced_to_every_printed_digit():
    printed = json.loads((FOLDER / "readme_printed_nu1.4.json").read_text(), parse_float=str, parse_int=str)
    made = golden_result("cars_nu1.4", rank_scale="raw")
    turned = np.sign(made.scores.to_numpy()[0] * np.array(printed["F1"], dtype=float)[0])  # their signs are LAPACK's
    ours = {
        "GCX": made.gc.to_numpy(),
        "F1": made.scores.to_numpy() * turned,
        "CTA": 100 * made.observation_contributions.to_numpy(),
        "CTR": 100 * made.observation_shares.to_numpy(),
    }
    count = 0
    for key, numbers in ours.items():
        for mine, text in zip(numbers.ravel(), np.ravel(printed[key]), strict=True):
            assert agrees(mine, text), (key, mine, text)
            count += 1
    assert count == 49 + 3 * 24 * 7  # the leave-one-out statistics make it 735, in test_gini_jackknife


def agrees(number, text):
    """Whether a number is printed like this, to as many digits."""
    digits = len(text.partition(".")[2])
    return abs(number - float(text)) <= 0.5000001 * 10.0**-digits


def test_shares_of_the_six_cars_variables_are_those_of_the_study():
    stated = {
        1.4: [78.45, 12.94, 4.85, 3.35, 0.38, 0.03],
        2: [80.36, 12.08, 4.13, 3.06, 0.33, 0.04],
        4: [83.17, 10.59, 2.99, 2.61, 0.31, -0.33],
        6: [84.85, 9.72, 3.13, 1.52, 0.27, -0.51],
    }
    for nu, shares in stated.items():
        assert (100 * gini_pca(CARS, nu=nu).shares()).round(2).tolist() == shares


# Theorems


def columns(p=None):
    """Small tables with many ties, none of whose columns is constant."""
    shapes = st.tuples(st.integers(3, 25), st.integers(1, 4) if p is None else st.just(p))
    tables = shapes.flatmap(lambda shape: arrays(float, shape, elements=st.integers(-6, 6).map(float)))
    return tables.filter(lambda X: (np.ptp(X, axis=0) > 0).all())


# the plain power has no digits left close to 1: that is test_nothing_jumps_at_one
NU = st.one_of(st.floats(0.05, 0.999), st.just(1.0), st.floats(1.001, 12))
# hypothesis finds columns that are mostly one value; they are warned of as they should be
anything = pytest.mark.filterwarnings("ignore:nu=.* is large for the tied minima:UserWarning")


def naive_gmd(X, nu):
    """Definition by definition: power of ranks over n, logarithm at 1."""
    n = len(X)
    R = (n + 1 - rankdata(X, axis=0)) / n
    g = np.log(R) if nu == 1 else R ** (nu - 1) * np.sign(nu - 1)
    return -2 * nu / (n - 1) * (X - X.mean(axis=0)).T @ (g - g.mean(axis=0))


@anything
@given(X=columns(), nu=NU)
@settings(max_examples=150, deadline=None)
def test_gini_mean_differences_follow_their_definition(X, nu):
    gmd = naive_gmd(X, nu)
    ours = gini_pca(X, nu=nu).gmd.to_numpy()
    assert np.allclose(ours, gmd, rtol=1e-9, atol=1e-12 * np.abs(gmd).max())


@anything
@given(X=columns(), nu=NU)
@settings(max_examples=100, deadline=None)
def test_algebra_of_the_components(X, nu):
    made = gini_pca(X, nu=nu)
    p = made.p
    B, lam = made.directions.to_numpy(), made.eigenvalues.to_numpy()
    big = np.abs(made.gc.to_numpy()).max()
    assert (np.diag(made.gmd) > 0).all()
    assert (np.diag(made.gc) == 1).all()
    assert np.allclose(B.T @ B, np.eye(p), atol=1e-12)
    assert (np.diff(lam) <= 0).all()
    assert np.isclose(lam.sum(), 2 * p, rtol=1e-11 * big)
    assert np.isclose(made.mu.sum(), p, rtol=1e-11 * big)
    S = (made.gc + made.gc.T.to_numpy()).to_numpy()
    assert np.allclose(S @ B, B * lam, atol=1e-12 * big)
    # GMD of Z is GC of X; F = ZB
    Z = made.standardized.to_numpy()
    assert np.allclose(naive_gmd_by(Z, X, nu), made.gc, rtol=1e-9, atol=1e-11 * big)
    assert np.allclose(made.scores, Z @ B, rtol=1e-12, atol=1e-12 * np.abs(Z).max())
    assert np.allclose(made.scores.mean(), 0, atol=1e-12 * np.abs(Z).max())
    ggmd = made.ggmd.to_numpy()
    assert np.allclose(np.diag(ggmd), made.mu, atol=1e-12 * big)
    assert np.allclose(np.triu(ggmd, 1), -np.tril(ggmd, -1).T, atol=1e-12 * big)
    assert np.isclose(made.shares("abs").abs().sum(), 1)
    assert np.isclose(made.shares("trace").sum(), 1, rtol=1e-10 * big)
    moving = np.abs(made.mu.to_numpy()) > 1e-6 * big
    assert np.allclose(made.observation_contributions.to_numpy()[:, moving].sum(axis=0), 1)
    rows = made.observation_shares.sum(axis="columns", skipna=False)
    assert (np.isclose(rows, 1) | rows.isna()).all()
    assert np.allclose(made.inverse_transform(made.scores), X, atol=1e-11)
    assert np.allclose(made.transform(X), made.scores, rtol=1e-11, atol=1e-11 * np.abs(Z).max())
    assert np.allclose((made.circle() ** 2).sum(axis="columns"), 1)


def naive_gmd_by(Z, X, nu):
    """Values of Z, ranks of X."""
    n = len(X)
    R = (n + 1 - rankdata(X, axis=0)) / n
    g = np.log(R) if nu == 1 else R ** (nu - 1) * np.sign(nu - 1)
    return -2 * nu / (n - 1) * (Z - Z.mean(axis=0)).T @ (g - g.mean(axis=0))


@anything
@given(X=columns(), data=st.data(), nu=NU)
@settings(max_examples=60, deadline=None)
def test_increasing_affine_maps_and_the_order_of_rows_change_nothing_but_units(X, data, nu):
    p = X.shape[1]
    slopes = np.array(data.draw(st.lists(st.integers(-20, 20), min_size=p, max_size=p)))
    offsets = np.array(data.draw(st.lists(st.integers(-1000, 1000), min_size=p, max_size=p)))
    order = np.array(data.draw(st.permutations(range(len(X)))))
    a, b = gini_pca(X, nu=nu), gini_pca((X * 2.0**slopes + offsets * 2.0**slopes)[order], nu=nu)
    big = np.abs(a.gc.to_numpy()).max()
    assert np.allclose(a.gc, b.gc, rtol=1e-11, atol=1e-12 * big)
    assert np.allclose(a.eigenvalues, b.eigenvalues, atol=1e-11 * big)
    assert np.allclose(a.gmd.mul(2.0**slopes, axis=0), b.gmd, rtol=1e-10, atol=1e-12 * np.abs(b.gmd.to_numpy()).max())


@anything
@given(X=columns(p=2), nu=NU)
@settings(max_examples=60, deadline=None)
def test_an_increasing_map_of_the_ranked_variable_changes_nothing_exactly(X, nu):
    a = gini_pca(X, nu=nu).gc
    b = gini_pca(np.column_stack([X[:, 0], np.exp(X[:, 1])]), nu=nu).gc
    assert a.iloc[0, 1] == b.iloc[0, 1]


def test_an_increasing_map_of_the_other_variable_does_change_the_correlation():
    a = gini_pca(ROWS[:, :2], nu=6).gc.iloc[1, 0]
    b = gini_pca(np.column_stack([ROWS[:, 0], np.exp(ROWS[:, 1])]), nu=6).gc.iloc[1, 0]
    assert abs(a - b) > 0.01


@given(seed=st.integers(0, 10**6), n=st.integers(3, 40), nu=NU)
@settings(max_examples=80, deadline=None)
def test_gini_correlations_are_bounded_by_one_and_by_the_spread_of_the_reversed_variable(seed, n, nu):
    X = np.random.default_rng(seed).standard_exponential((n, 3))
    made = gini_pca(X, nu=nu)
    lower = -np.diag(gini_pca(-X, nu=nu).gmd) / np.diag(made.gmd)
    gc = made.gc.to_numpy()
    assert gc.max() <= 1 + 1e-12
    assert (gc >= lower[:, None] - 1e-9 * np.abs(lower[:, None])).all()
    if nu == 2:
        assert gc.min() >= -1 - 1e-12
    assert made.variable_correlations("scores").to_numpy().max() <= 1 + 1e-9


def test_minus_one_is_no_bound_unless_nu_is_two_or_the_margins_are_symmetric():
    x = np.random.default_rng(0).standard_exponential(20_000)
    for nu, stated in ((1.4, -1.25), (4, -1.46), (6, -1.77)):
        assert abs(gini_pca(np.column_stack([x, -x]), nu=nu).gc.to_numpy().min() - stated) < 0.05
    assert abs(gini_pca(np.column_stack([x, -x]), nu=2).gc.iloc[0, 1] + 1) < 1e-12


def test_at_two_it_is_the_mean_difference_of_all_pairs():
    assert gini_pca([[1], [2], [4]]).gmd.iloc[0, 0] == pytest.approx(2.0, rel=1e-15)
    x = ROWS[:, 0]
    pairs = np.abs(x[:, None] - x).sum() / (60 * 59)
    for rank_scale in ("unit", "raw"):
        assert np.isclose(gini_pca(ROWS, rank_scale=rank_scale).gmd.iloc[0, 0], pairs, rtol=1e-13)


def test_for_whole_nu_it_estimates_twice_the_mean_less_the_mean_of_the_smallest_of_nu():
    x = np.random.default_rng(2).standard_exponential(200_000)
    for nu in (2, 3, 4, 6):  # the smallest of nu exponential variables has the mean 1/nu
        assert abs(gini_pca(x[:, None], nu=nu).gmd.iloc[0, 0] - 2 * (1 - 1 / nu)) < 0.02


@pytest.mark.parametrize("nu", [0.5, 1.0, 1.4, 2, 4, 6])
def test_for_normal_data_gini_correlations_are_correlations_for_every_nu(nu):
    R = np.array([[1, -0.5, 0.25, 0.5], [-0.5, 1, -0.9, 0], [0.25, -0.9, 1, -0.25], [0.5, 0, -0.25, 1]])
    spread = np.array([1.0, 20.0, 0.3, 5.0])
    X = np.random.default_rng(3).standard_normal((200_000, 4)) @ np.linalg.cholesky(R).T * spread
    made, usual = gini_pca(X, nu=nu), pca(X, scale=True)
    assert np.abs(made.gc.to_numpy() - R).max() < 0.02
    assert np.abs(made.mu.to_numpy() - np.linalg.eigvalsh(R)[::-1]).max() < 0.02
    assert np.abs(made.shares().to_numpy() - usual.shares.to_numpy()).max() < 0.005
    constants = {1.4: 0.576930, 2: 1.128379, 4: 2.058751, 6: 2.534413}
    if nu in constants:
        assert np.allclose(np.diag(made.gmd) / spread, constants[nu], rtol=0.01)


# nu


def test_nothing_jumps_at_one():
    at = gini_pca(CARS, nu=1)
    for step in (1e-3, 1e-6, 1e-8, 1e-10, 1e-12, 1e-15):
        for nu in (1 - step, 1 + step):
            near = gini_pca(CARS, nu=nu)
            assert np.abs(near.gc - at.gc).to_numpy().max() < 0.3 * step + 1e-13
            assert np.abs(near.eigenvalues - at.eigenvalues).max() < 2 * step + 1e-12
            if step < 1e-8:  # the factor |nu - 1| is left out
                assert np.allclose(near.scores, at.scores, atol=1e-7)


@pytest.mark.parametrize("nu", NUS)
def test_standardised_values_keep_their_order_and_their_gini_mean_differences_for_every_nu(nu):
    made = gini_pca(ROWS, nu=nu)
    assert np.allclose(gini_pca(made.standardized, nu=nu).gmd, made.gc, rtol=1e-10)
    assert np.array_equal(gini_pca(made.standardized, nu=nu).ranks, made.ranks)
    assert (made.gmd.to_numpy().diagonal() > 0).all()


@pytest.mark.parametrize("nu", [1e-9, 0.05, 50.0, 64.0, 155.0, 1000.0, 1e6])
def test_no_nu_overflows(nu):
    made = gini_pca(ROWS, nu=nu)
    for numbers in (made.gmd, made.gc, made.eigenvalues, made.scores, made.observation_shares, made.circle()):
        assert np.isfinite(numbers.to_numpy()).all()


def test_fifty_is_no_large_nu_for_a_million_rows():
    X = np.random.default_rng(5).standard_normal((1_000_000, 2))
    for rank_scale in ("unit", "raw"):
        made = gini_pca(X, nu=50, rank_scale=rank_scale)
        assert np.isfinite(made.gmd.to_numpy()).all()
        assert np.abs(made.gc.to_numpy() - np.eye(2)).max() < 0.02
        assert np.allclose(made.observation_shares.sum(axis="columns"), 1)
        assert np.isclose(np.abs(made.observation_contributions.to_numpy()).sum(axis=0), 1, atol=10).all()


def test_a_large_nu_looks_at_the_smallest_value_only():
    gc = gini_pca(ROWS, nu=1e6).gc.to_numpy()
    low = ROWS[ROWS.argmin(axis=0)] - ROWS.mean(axis=0)  # row k: where variable k is smallest
    assert np.allclose(gc, (low / np.diag(low)).T, rtol=1e-9)


def test_raw_ranks_that_leave_double_precision_are_refused_and_the_unit_scale_named():
    with pytest.raises(ValueError, match=r'nu=400 with 60 rows .* use rank_scale="unit"'):
        gini_pca(ROWS, nu=400, rank_scale="raw")
    with pytest.raises(ValueError, match="moderate nu"):
        gini_pca(ROWS, nu=1e-309)


@pytest.mark.parametrize("nu", [0, -1, math.nan, math.inf, -math.inf, 0.0])
def test_a_nu_out_of_range_is_refused_before_the_data_are_read(nu):
    with pytest.raises(ValueError, match="nu must be a positive, finite number; got"):
        gini_pca("no data", nu=nu)


@pytest.mark.parametrize("nu", ["2", None, True, False, 2j, [2.0], np.array([2.0]), pd.NA, np.bool_(True)])
def test_a_nu_that_is_no_number_is_refused_before_the_data_are_read(nu):
    with pytest.raises(TypeError, match="nu must be a positive, finite number; got"):
        gini_pca("no data", nu=nu)


@pytest.mark.parametrize("nu", [3, np.int64(3), np.float32(3), np.float64(3)])
def test_every_kind_of_number_is_a_nu(nu):
    made = gini_pca(ROWS, nu=nu)
    assert made.nu == 3.0
    assert type(made.nu) is float
    assert same(made, gini_pca(ROWS, nu=3.0), rtol=1e-15)


@pytest.mark.parametrize("value", ["Unit", "", None, True, 1, ["unit"]])
def test_words_that_are_no_choice_are_refused(value):
    with pytest.raises(ValueError, match='rank_scale must be "unit" or "raw"; got'):
        gini_pca("no data", rank_scale=value)
    made = gini_pca(ROWS)
    with pytest.raises(ValueError, match='kind must be "abs" or "trace"; got'):
        made.shares(value)
    for method in (made.variable_correlations, made.circle):
        with pytest.raises(ValueError, match='normalize must be "scores" or "variables"; got'):
            method(value)


# Data


def test_three_rows_are_measured_by_hand():
    made = gini_pca({"a": [1, 2, 4], "b": [3, 3, 0]}, nu=2)
    assert made.ranks["a"].tolist() == [3, 2, 1]
    assert made.ranks["b"].tolist() == [1.5, 1.5, 3]
    # -2 * sum of (values - mean) * ranks / 3; a less its mean is (-4, -1, 5)/3, b less its mean (1, 1, -2)
    expected = -2 / 3 * np.array([[(-12 - 2 + 5) / 3, (-6 - 1.5 + 15) / 3], [3 + 2 - 2, 1.5 + 1.5 - 6]])
    assert np.allclose(made.gmd, expected, rtol=1e-14)
    assert np.allclose(made.gc, expected / np.diag(expected)[:, None], rtol=1e-14)
    assert np.allclose(made.center, [7 / 3, 2])


def test_integers_ties_and_small_types_are_what_their_floats_are():
    data = np.array([[1, 2], [2, 1], [4, 3], [4, 3], [2, 5]])
    expected = gini_pca(data.astype(float), nu=2.5)
    for kind in (np.int8, np.int32, np.uint16, np.float32, np.float16, np.longdouble, object):
        assert np.array_equal(gini_pca(data.astype(kind), nu=2.5).gmd, expected.gmd)
    wide = np.array([[100, 1], [-100, 2], [90, 3], [-90, 5]], dtype=np.int8)
    assert np.array_equal(gini_pca(wide).gc, gini_pca(wide.astype(float)).gc)
    order = [4, 2, 0, 3, 1]
    assert np.allclose(gini_pca(data[order], nu=2.5).gc, expected.gc, rtol=1e-14)
    assert np.allclose(gini_pca(data[order], nu=2.5).scores, expected.scores.to_numpy()[order], rtol=1e-12, atol=1e-14)


def test_layouts_and_read_only_data_give_the_same_and_stay_as_they_are():
    X = np.random.default_rng(5).normal(size=(40, 6))
    locked = X.copy()
    locked.flags.writeable = False
    for data in (locked, np.asfortranarray(X), X[::-1][::-1], np.repeat(X, 2, axis=1)[:, ::2], as_table(X)):
        before = np.array(data.values if hasattr(data, "values") else data)
        assert np.array_equal(gini_pca(data, nu=3).scores, gini_pca(X, nu=3).scores)
        assert np.array_equal(data.values if hasattr(data, "values") else data, before)
    frame = pd.DataFrame(X)
    made = gini_pca(frame)
    assert frame.equals(pd.DataFrame(X))
    assert not np.shares_memory(made.standardized.to_numpy(), frame.to_numpy())


def test_whole_numbers_beyond_two_to_the_53_keep_their_order_and_differences():
    small = np.array([0, 2, 4, 10, 6])
    other = np.array([1.0, 5, 2, 3, 9])
    big = gini_pca({"a": small + 2**53, "b": other}, nu=3)
    assert np.allclose(big.gmd, gini_pca({"a": small, "b": other}, nu=3).gmd, rtol=1e-15)
    with pytest.raises(DataError, match="a"):  # float64 cannot hold these: the door says so
        gini_pca({"a": small + 2**53 + 1, "b": other})


def test_units_do_not_matter_from_1e_minus_300_to_1e300():
    expected = gini_pca(ROWS, nu=3)
    for unit in ([1, 1e-10, 1e-13, 1], [1e300, 1, 1e-300, 1e-160], [1e-305] * 4, [1e307] * 4):
        made = gini_pca(ROWS * unit, nu=3)
        assert np.allclose(made.gc, expected.gc, rtol=1e-10, atol=1e-12)
        assert np.allclose(made.scores, expected.scores, rtol=1e-9, atol=1e-9)
        assert np.allclose(np.diag(made.gmd) / unit, np.diag(expected.gmd), rtol=1e-10)
        assert np.allclose(made.transform(ROWS * unit), expected.scores, rtol=1e-9, atol=1e-9)
        assert np.allclose(made.inverse_transform(made.scores) / unit, ROWS, rtol=1e-9, atol=1e-9)


def test_a_huge_offset_costs_no_more_digits_than_it_took_from_the_data():
    exact = np.round(ROWS * 2**20) / 2**20  # with 2**27 added, float64 still holds every digit
    made, expected = gini_pca(exact + 2.0**27, nu=3), gini_pca(exact, nu=3)
    assert np.allclose(made.gc, expected.gc, rtol=1e-12, atol=1e-13)
    assert np.allclose(made.scores, expected.scores, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("value", [5.0, 0.0, -1e300, 1e-310])
def test_constant_columns_are_named(value):
    data = pd.DataFrame({"a": [1.0, 2, 3, 4], "site": value, "c": [1.0, 0, 2, 1], "dull": value})
    with pytest.raises(DataError, match=r"Constant: site; dull\. .* leave it out"):
        gini_pca(data)


def test_a_column_that_varies_by_rounding_only_is_constant():
    with pytest.raises(DataError, match="Constant: x1"):
        gini_pca(np.array([[0.1 + 0.2, 1], [0.3, 2], [0.3, 4]]))


def test_two_rows_are_enough():
    made = gini_pca([[1.0, 5], [3, 4]], nu=1.4)
    assert np.allclose(made.gc, [[1, -1], [-1, 1]])
    assert np.allclose(made.eigenvalues, [4, 0])
    assert made.gmd.iloc[0, 0] == pytest.approx(2 * 1.4 * 2 * (1 - 0.5**0.4) / 2)
    assert made.observation_contributions["PC1"].tolist() == pytest.approx([0.5, 0.5])
    assert made.observation_contributions["PC2"].isna().all()  # nothing is left to contribute to
    assert made.variable_correlations()["PC2"].isna().all()
    assert np.allclose((made.circle() ** 2).sum(axis="columns"), 1)


def test_one_variable_is_its_own_component():
    made = gini_pca(ROWS[:, :1], nu=3)
    assert made.gc.to_numpy() == [[1.0]]
    assert made.shares().tolist() == [1.0]
    assert np.allclose(made.variable_correlations(), 1)


def test_more_variables_than_rows_give_a_component_for_each_variable():
    made = gini_pca(np.random.default_rng(6).normal(size=(5, 12)), nu=3)
    assert made.directions.shape == (12, 12)
    assert made.scores.shape == (5, 12)
    assert np.isclose(made.mu.sum(), 12)


def test_duplicate_rows_share_ranks_and_scores():
    X = np.vstack([ROWS, ROWS[:7], ROWS[:3]])
    made = gini_pca(X, nu=3)
    assert np.allclose(made.scores[:7], made.scores[60:67], rtol=1e-12, atol=1e-13)
    R = len(X) + 1 - rankdata(X, axis=0)
    assert np.array_equal(made.ranks, R)
    # scores of equal rows are tied, whatever rounding makes of them
    F = made.scores.to_numpy()
    F = np.vstack([F[:60], F[:7], F[:3]])
    g = ((len(X) + 1 - rankdata(F, axis=0)) / len(X)) ** 2
    assert np.allclose(made.score_gmd, -6 / (len(X) - 1) * ((F - F.mean(axis=0)) * g).sum(axis=0), rtol=1e-12)


def test_the_ties_of_scores_are_looked_for_by_the_size_of_a_typical_row():
    rows = np.ones((5, 4))
    rows[0] = 1e9
    assert rounding_of(rows) == pytest.approx(2e-13)


@pytest.mark.parametrize("nu", [0.5, 2.0, 3.0])
def test_sums_over_sorted_values_are_those_over_averaged_ranks(nu):
    rng = np.random.default_rng(7)
    values = np.sort(rng.integers(0, 6, (20, 12)).astype(float), axis=1)
    R = 13 - rankdata(values, axis=1)
    weights = rank_weights(12, nu)
    g = weights[np.rint(2 * R).astype(int)]
    expected = -((values - values.mean(axis=1, keepdims=True)) * g).sum(axis=1)
    assert np.allclose(own_sums(values, weights, 0.0), expected, rtol=1e-12)
    assert np.allclose(own_sums(values + rng.uniform(0, 1e-14, values.shape), weights, 1e-12), expected, rtol=1e-9)
    if nu != 2:
        assert not np.allclose(own_sums(values, weights, -1.0), expected, rtol=1e-3)


# What is said


def test_a_result_is_labelled_frozen_and_says_how_it_was_made():
    made = gini_pca(CARS, nu=1.4)
    assert isinstance(made, GiniResult)
    components = [f"PC{i}" for i in range(1, 7)]
    assert made.directions.index.name == "variable"
    assert made.directions.index.tolist() == CARS.columns.tolist()
    assert made.directions.columns.name == "component"
    assert made.directions.columns.tolist() == components
    assert made.scores.index.tolist() == CARS.index.tolist()
    for frame in (made.scores, made.standardized, made.observation_contributions, made.observation_shares):
        assert frame.index.name == "row"
        assert frame.shape == (24, 6)
    assert made.gmd.index.name == made.gc.index.name == "variable"
    assert made.gmd.columns.name == made.gc.columns.name == "ranks of"
    for numbers in (made.eigenvalues, made.mu, made.shares()):
        assert numbers.index.tolist() == components
    assert made.variable_correlations().index.name == "variable"
    assert made.circle().columns.name == "component"
    assert (made.n, made.p, made.nu, made.rank_scale, made.warnings, made.tied) == (24, 6, 1.4, "unit", (), ())
    assert repr(made) == "GiniResult(n=24, p=6, nu=1.4, rank_scale='unit')"
    with pytest.raises(dataclasses.FrozenInstanceError):
        made.nu = 2.0
    deciding = made.directions.abs().to_numpy().argmax(axis=0)
    assert (made.directions.to_numpy()[deciding, range(6)] > 0).all()


def test_rows_without_labels_are_numbered_from_zero():
    assert gini_pca(ROWS).scores.index.tolist() == list(range(60))
    assert gini_pca(ROWS).directions.index.tolist() == ["x1", "x2", "x3", "x4"]


def test_negative_eigenvalues_are_kept_and_said():
    made = gini_pca(CARS, nu=6)
    assert made.eigenvalues["PC6"] < 0
    assert made.warnings == (
        "Negative eigenvalues: 1. Gini correlations need not be positive semidefinite; "
        'shares("abs") and shares("trace") differ.',
    )
    assert made.summary().loc["PC6", "note"] == "negative"
    assert repr(made).endswith("negative eigenvalues: 1)")
    heavy = [gini_pca(np.random.default_rng(s).standard_t(1.2, size=(12, 4)), nu=4) for s in range(100)]
    assert all(np.isrealobj(made.eigenvalues) and (np.diff(made.eigenvalues) <= 0).all() for made in heavy)
    assert any(made.warnings for made in heavy)


def test_equal_eigenvalues_are_a_span_and_not_two_findings():
    made = gini_pca([[1.0, 0], [-1, 0], [0, 1], [0, -1]])
    assert np.allclose(made.eigenvalues, 2)
    assert made.tied == ((1, 2),)
    assert made.summary()["note"].tolist() == ["only the span with PC2 is defined", "only the span with PC1 is defined"]
    assert made.warnings == (
        "Equal eigenvalues: PC1, PC2. Only their span is defined; the axes within it are arbitrary.",
    )


def test_tied_minima_are_warned_of_when_nu_is_large_for_them():
    assert gini_pca(CARS, nu=60).nu == 60  # without a warning
    with pytest.warns(UserWarning, match="nu=200 is large for the tied minima of Speed: .* smaller nu"):
        made = gini_pca(CARS, nu=200)
    assert any("Speed" in text for text in made.warnings)
    assert np.abs(made.gc.loc["Speed"]).max() > 20
    with pytest.raises(ValueError, match="nu=100000 is too large: nothing is left of Speed"):
        gini_pca(CARS, nu=1e5)


# New rows


def test_new_rows_are_measured_by_the_old_ones():
    made = gini_pca(CARS, nu=4)
    some = made.transform(CARS.iloc[[3, 5]])
    assert np.allclose(some, made.scores.iloc[[3, 5]])
    assert some.index.tolist() == CARS.index[[3, 5]].tolist()
    assert np.allclose(made.transform(CARS[CARS.columns[::-1]]), made.scores)
    assert np.allclose(made.transform(CARS.to_numpy()), made.scores)
    for one in (CARS.iloc[[3]], CARS.to_numpy()[[3]], [CARS.to_numpy()[3].tolist()]):
        assert np.allclose(made.transform(one), made.scores.iloc[[3]])
        assert len(made.transform(one)) == 1
    assert np.allclose(made.inverse_transform(some), CARS.iloc[[3, 5]])
    two = made.inverse_transform(made.scores[["PC1", "PC2"]])
    assert two.columns.tolist() == CARS.columns.tolist()
    assert np.allclose(made.transform(two)[["PC1", "PC2"]], made.scores[["PC1", "PC2"]])
    assert np.allclose(made.transform(two)["PC3"], 0)


def test_rows_of_other_variables_are_refused_by_name():
    made = gini_pca(CARS)
    with pytest.raises(DataError, match=r"Absent: Width\. Not in the result: Breadth"):
        made.transform(CARS.rename(columns={"Width": "Breadth"}))
    with pytest.raises(DataError, match="5 columns; the result has 6 variables: Cylinder"):
        made.transform(CARS.to_numpy()[:, :5])
    with pytest.raises(DataError, match="missing"):
        made.transform(CARS.astype(float).replace(1124.0, np.nan))
    with pytest.raises(ValueError, match=r"1 to 6 columns; got shape \(24, 7\)"):
        made.inverse_transform(np.ones((24, 7)))
    with pytest.raises(ValueError, match="two dimensions"):
        made.inverse_transform([1.0, 2.0])
