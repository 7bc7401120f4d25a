import json
import tracemalloc
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.stats import ortho_group

from dppca_nb.core import kendall
from dppca_nb.core.kendall import kendall_error_limit, kendall_matrix, spherical_kendall
from dppca_nb.table import DataError, as_table

REFERENCE = Path(__file__).parent / "reference" / "kendall"
GOLDEN = {path.stem: json.loads(path.read_text()) for path in sorted(REFERENCE.glob("*.json"))}
WITH_MATRIX = [name for name, golden in GOLDEN.items() if "K_longdouble" in golden]
ONLY_CENTRED = [name for name in WITH_MATRIX if not GOLDEN[name]["standardize"]]
needs_80_bits = pytest.mark.skipif(
    np.finfo(np.longdouble).eps > 1e-18, reason="long double is no wider than double here"
)


def pair_loop(values):
    """Add up the projectors pair by pair, as the definition says, in the widest numbers of the machine."""
    wide = np.asarray(values, dtype=np.longdouble)
    n, p = wide.shape
    total = np.zeros((p, p), dtype=np.longdouble)
    for i, j in combinations(range(n), 2):
        d = wide[i] - wide[j]
        if d.any():
            d /= np.abs(d).max()
            total += np.outer(d, d) / (d @ d)
    return total * 2 / (n * (n - 1))


def matrix_of(values):
    return kendall_matrix(np.asarray(values, dtype=float))[0]


def distance(a, b):
    return float(np.linalg.norm(matrix_of(a) - matrix_of(b)))


@st.composite
def tables(draw, max_rows=40, max_columns=5):
    """Draw ordinary rows, then what hurts: far clusters, an outlier, twins near and exact, mixed units, an offset."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, p = draw(st.integers(2, max_rows)), draw(st.integers(2, max_columns))
    values = rng.normal(size=(n, p))
    if draw(st.booleans()):
        values[: n // 2] += 10.0 ** draw(st.integers(6, 9))
    if draw(st.booleans()):
        values[rng.integers(n), rng.integers(p)] = 1e9
    if draw(st.booleans()):
        values[n // 3] = values[0] + 10.0 ** -draw(st.integers(3, 14)) * rng.normal(size=p)
    if draw(st.booleans()):
        values[rng.integers(n)] = values[rng.integers(n)]
    if draw(st.booleans()):
        values *= 10.0 ** rng.integers(-6, 7, size=p)
    if draw(st.booleans()):
        values += 10.0 ** draw(st.integers(0, 8))
    return values


@pytest.fixture(params=[None, 4], ids=["one block", "blocks of 4"])
def block(request, monkeypatch):
    if request.param:
        monkeypatch.setattr(kendall, "_block_rows", lambda p: request.param)


@pytest.mark.parametrize("name", WITH_MATRIX)
def test_matrix_agrees_with_80_bit_sums(name, block):
    expected = np.array(GOLDEN[name]["K_longdouble"])
    estimate = spherical_kendall(pd.read_csv(REFERENCE / f"{name}.xproc.csv"))
    assert np.abs(estimate.matrix.to_numpy() - expected).max() < 1e-14
    assert estimate.coincident_pairs == 0


@pytest.mark.parametrize("name", ONLY_CENTRED)
def test_centring_by_the_caller_changes_nothing(name):
    raw, centred = (pd.read_csv(REFERENCE / f"{name}.{kind}") for kind in ("csv", "xproc.csv"))
    # Subtracting the mean of a column rounds the rows themselves, by 1e-16 of numbers up to 1e7 times the differences.
    assert np.abs(spherical_kendall(raw).matrix - spherical_kendall(centred).matrix).to_numpy().max() < 1e-10


def test_every_data_set_of_the_reference_is_compared():
    assert len(WITH_MATRIX) == 8


@needs_80_bits
@settings(max_examples=150, deadline=None)
@given(tables(), st.sampled_from([3, 8, 768]))
def test_error_bound_holds(values, rows):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kendall, "_block_rows", lambda p: rows)
        matrix, error_bound, _, _ = kendall_matrix(values)
    assert np.linalg.norm((matrix - pair_loop(values)).astype(float)) <= error_bound


def test_error_bound_counts_recomputed_pairs():
    rows = np.vstack((np.ones((1, 2)), np.random.default_rng(14).normal(size=(40, 2)) * 1e-160))
    _, error_bound, exact_pairs, _ = kendall_matrix(rows)
    assert exact_pairs == 40 * 39 // 2
    # No pair can be promised to err by less than a few units of roundoff per column and per row of its block.
    assert error_bound > (2 * 2 + 2 * 41) * 2.0**-53


@pytest.mark.parametrize("name", GOLDEN)
def test_the_limit_known_beforehand_is_not_below_the_bound_of_any_reference_file(name):
    suffix = "" if (REFERENCE / f"{name}.csv").exists() else ".xproc"
    table = as_table(pd.read_csv(REFERENCE / f"{name}{suffix}.csv"), numeric_only=True)
    assert 0 < kendall_matrix(table.values)[1] <= kendall_error_limit(table.n, table.p)


@settings(max_examples=100, deadline=None)
@given(tables(max_rows=60), st.sampled_from([2, 3, 4, 7, 8, 16, 768]), st.integers(1, 8))
def test_the_limit_known_beforehand_is_not_below_the_bound_of_any_data_set(values, rows, copies):
    """With blocks of any size, and with rows that repeat: then fewer rows are in fewer blocks than the limit allows."""
    values = np.repeat(values, copies, axis=0)[: max(len(values), 40)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kendall, "_block_rows", lambda p: rows)
        error_bound, limit = kendall_matrix(values)[1], kendall_error_limit(*values.shape)
    assert error_bound <= limit


def test_the_limit_is_half_met_by_two_clusters_whose_pairs_are_almost_close_enough_to_be_recomputed():
    """Rows of a cluster are equally far apart and far from the shift between both clusters: rho is 92 for each pair."""
    simplex = np.column_stack((np.eye(9) * 0.21 / np.sqrt(2), np.ones(9)))
    values = np.vstack((simplex, simplex - 2 * np.eye(10)[9]))
    _, error_bound, exact_pairs, _ = kendall_matrix(values)
    assert exact_pairs == 0
    assert 0.4 < error_bound / kendall_error_limit(18, 10) < 1


def test_the_limit_of_one_column_is_that_of_its_single_division():
    assert kendall_error_limit(10, 1) == kendall_matrix(np.arange(10.0)[:, None])[1] == 2.0**-53


def test_error_bound_is_of_use_on_ordinary_data():
    values = np.random.default_rng(0).normal(size=(2000, 20))
    assert kendall_matrix(values)[1] < 5e-13


@needs_80_bits
def test_close_pairs_in_an_outlying_cluster_are_recomputed():
    rng = np.random.default_rng(1)
    values = rng.normal(size=(60, 3))
    values[:20] += 1e9
    matrix, error_bound, exact_pairs, _ = kendall_matrix(values)
    assert exact_pairs == 20 * 19 // 2
    assert error_bound < 1e-12
    assert np.abs(matrix - pair_loop(values)).max() < 1e-15


@pytest.mark.parametrize(("cluster", "most"), [(2000, 0.03), (1, 0.001)], ids=["two far clusters", "an outlier at 1e9"])
def test_far_rows_leave_most_pairs_on_the_fast_path(cluster, most):
    values = np.random.default_rng(2).normal(size=(4000, 8))
    values[:cluster] += 1e9 if cluster == 1 else 1e6
    _, error_bound, exact_pairs, _ = kendall_matrix(values)
    assert exact_pairs < most * 4000 * 3999 / 2
    assert error_bound < 1e-11


def test_two_rows_give_the_projector_on_their_difference():
    estimate = spherical_kendall([[1.0, 1.0], [6.0, 13.0]])
    assert np.abs(estimate.matrix.to_numpy() - np.array([[25, 60], [60, 144]]) / 169).max() < 1e-16


def test_result_is_labelled_and_counts_its_pairs():
    frame = pd.DataFrame({"a.b": [0, 0, 1, 0], "é": [0, 0, 0, 0]})
    estimate = spherical_kendall(frame, coincident="zero")
    assert list(estimate.matrix.index) == list(estimate.matrix.columns) == ["a.b", "é"]
    assert estimate.matrix.index.name == estimate.matrix.columns.name == "variable"
    assert (estimate.n, estimate.coincident_pairs, estimate.exact_pairs) == (4, 3, 0)
    assert estimate.matrix.loc["a.b", "a.b"] == pytest.approx(0.5, abs=1e-15)


def test_one_column_gives_the_share_of_pairs_that_differ():
    assert spherical_kendall([[1.0], [2.5], [-7.0]]).matrix.to_numpy().tolist() == [[1.0]]
    assert spherical_kendall([[1.0], [1.0], [2.0]], coincident="zero").matrix.to_numpy().tolist() == [[2 / 3]]


@pytest.mark.parametrize("p", [1, 3])
def test_equal_rows_throughout_give_the_zero_matrix(p):
    matrix, error_bound, exact_pairs, coincident_pairs = kendall_matrix(np.full((5, p), 0.1))
    assert not matrix.any()
    assert error_bound < 1e-15
    assert (exact_pairs, coincident_pairs) == (0, 10)


def test_refusal_names_the_equal_rows_of_iris_and_the_remedy():
    iris = pd.read_csv(REFERENCE / "iris_dup.csv")
    with pytest.raises(DataError, match=r"Rows 102 and 143 \(counted from 1\).* 1 of 11,175\. Use coincident=\"zero\""):
        spherical_kendall(iris)
    estimate = spherical_kendall(iris, coincident="zero")
    assert estimate.coincident_pairs == 1
    assert np.trace(estimate.matrix) == pytest.approx(1 - 1 / 11175, abs=1e-14)


def test_refusal_names_the_first_of_several_coincident_pairs():
    rows = [[9, 1], [5, 5], [-2, 0], [5, 5], [9, 2], [-2, 0], [-2, 0]]
    with pytest.raises(DataError, match=r"Rows 2 and 4 .* coincident pairs: 4 of 21"):
        spherical_kendall(rows)


def test_negative_zero_coincides_with_zero():
    assert kendall_matrix(np.array([[0.0, 1.0], [-0.0, 1.0]]))[3] == 1


@pytest.mark.parametrize("wrong", ["drop", "", None, True, 0])
def test_unknown_rule_for_coincident_pairs_is_refused(wrong):
    with pytest.raises(ValueError, match=rf'^coincident is {wrong!r}; it must be "raise" or "zero"\.$'):
        spherical_kendall([[0, 1], [1, 0]], coincident=wrong)


@pytest.mark.parametrize("wrong", [np.array(["raise", "zero"]), ["zero"], {"zero"}, np.zeros(2)], ids=repr)
def test_a_rule_for_coincident_pairs_that_is_no_text_is_refused_in_the_same_words(wrong):
    with pytest.raises(ValueError, match=r'(?s)^coincident is .*; it must be "raise" or "zero"\.$'):
        spherical_kendall([[0, 1], [1, 0]], coincident=wrong)


@pytest.mark.parametrize("n", [0, 1])
def test_fewer_than_two_rows_are_refused(n):
    with pytest.raises(DataError, match="at least 2 rows"):
        spherical_kendall(np.ones((n, 3)))
    with pytest.raises(DataError, match=rf"shape \({n}, 3\).* at least 2 rows"):
        kendall_matrix(np.ones((n, 3)))


@pytest.mark.parametrize("c", [1e-200, 1e-100, 1e-9, 1e9, 1e100, 1e200])
def test_units_of_measurement_do_not_matter(c):
    iris = pd.read_csv(REFERENCE / "iris_unique.csv").to_numpy()
    assert np.abs(matrix_of(c * iris) - matrix_of(iris)).max() < 1e-13


@pytest.mark.parametrize("exponent", [-1000, -300, 300, 1000])
def test_a_power_of_two_changes_no_digit(exponent):
    values = np.random.default_rng(3).normal(size=(50, 4))
    assert np.array_equal(matrix_of(np.ldexp(values, exponent)), matrix_of(values))


def test_smallest_numbers_of_all_have_directions():
    values = np.random.default_rng(4).integers(-9, 10, size=(30, 3)).astype(float)
    assert np.abs(matrix_of(values * 5e-324) - matrix_of(values)).max() < 1e-14


def test_largest_numbers_of_all_do_not_overflow():
    values = np.random.default_rng(5).choice([-1.0, -0.5, 0.25, 1.0], size=(30, 3))
    assert np.abs(matrix_of(values * np.finfo(float).max) - matrix_of(values)).max() < 1e-14


def test_rows_that_differ_in_the_smallest_number_do_not_coincide_beside_the_largest():
    rows = np.array([[0.0, 0.0], [5e-324, 0.0], [1.7e308, 1.7e308], [-1.7e308, 1.7e308]])
    matrix, _, _, coincident_pairs = kendall_matrix(rows, coincident="raise")
    lines = np.array([[1, 0], [1, 0], [1, 1], [1, 1], [1, -1], [1, -1]]).T  # over all six pairs
    assert coincident_pairs == 0
    assert (
        np.abs(matrix - lines / np.linalg.norm(lines, axis=0) @ (lines / np.linalg.norm(lines, axis=0)).T / 6).max()
        < 1e-15
    )


def test_the_matrix_is_the_same_where_the_caller_makes_every_floating_point_event_an_error():
    rng = np.random.default_rng(15)
    spread = rng.normal(size=(60, 3)) * 10.0 ** rng.integers(-320, 300, size=(60, 3))
    huge = rng.choice([-1.0, -0.5, 0.25, 1.0], size=(30, 3)) * np.finfo(float).max
    for values in (spread, huge, spread[:, :2] * [1, 0], np.vstack((huge, spread)), np.full((5, 2), 1e-320)):
        expected = kendall_matrix(values)
        with np.errstate(all="raise"):
            found = kendall_matrix(values)
        assert np.array_equal(found[0], expected[0])
        assert found[1:] == expected[1:]


def test_pairs_of_every_size_count_alike():
    rows = [[0, 0], [1e-300, 0], [1e-150, 1e-150], [0, 1.0], [1e150, 0], [0, 1e300], [1e300, 1e300]]
    assert np.abs(matrix_of(rows) - pair_loop(np.array(rows))).max() < 1e-15


@pytest.mark.parametrize("spread", [1e-170, 1e-160, 1e-154, 1e-145, 1e-139])
def test_a_cluster_whose_squared_distances_underflow_is_recomputed(spread):
    rows = np.random.default_rng(13).normal(size=(21, 3)) * spread
    rows[0] = 1
    matrix, _, exact_pairs, _ = kendall_matrix(rows)
    assert np.abs(matrix - pair_loop(rows)).max() < 1e-15
    assert (exact_pairs == 190) or spread > 1e-140


def test_rows_beside_each_other_in_a_far_place_are_recomputed():
    rows = np.array([[1e9, 1e9], [1e9 + 2**-20, 1e9], [1e9, 1e9 + 2**-20], [0, 1], [1, 0]])
    assert np.abs(matrix_of(rows) - pair_loop(rows)).max() < 1e-15


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint8, np.int32, np.uint64, np.float16, np.float32, np.longdouble])
def test_numbers_of_every_type_are_subtracted_in_float64(dtype):
    values = np.random.default_rng(6).choice([0, 1, 100], size=(25, 3)).astype(dtype)
    expected = spherical_kendall(values.astype(float), coincident="zero").matrix
    assert spherical_kendall(values, coincident="zero").matrix.equals(expected)


def test_a_small_column_stays_beside_a_large_one():
    values = np.random.default_rng(7).normal(size=(40, 3)) * [1, 1e-10, 1e-13]
    matrix = matrix_of(values)
    assert np.abs(matrix - pair_loop(values)).max() < 1e-15
    assert matrix[1, 1] > 0


def test_input_is_only_read():
    values = np.random.default_rng(8).normal(size=(30, 3))
    before = values.copy()
    values.flags.writeable = False
    kendall_matrix(values)
    assert np.array_equal(values, before)


def test_a_table_passes_through():
    table = as_table(np.eye(4))
    assert spherical_kendall(table).matrix.equals(spherical_kendall(np.eye(4)).matrix)


def test_twins_are_weighed_not_repeated():
    rng = np.random.default_rng(9)
    distinct, which = rng.normal(size=(50, 4)), rng.integers(50, size=3000)
    counts = np.bincount(which, minlength=50)
    expected = (
        sum(counts[i] * counts[j] * pair_loop(distinct[[i, j]]) for i, j in combinations(range(50), 2))
        * 2
        / (3000 * 2999)
    )
    matrix, _, _, coincident_pairs = kendall_matrix(distinct[which])
    assert np.abs(matrix - expected).max() < 1e-15
    assert coincident_pairs == (counts * (counts - 1) // 2).sum()


def test_memory_stays_within_a_few_blocks():
    values = np.random.default_rng(10).normal(size=(4000, 50))
    values[:2000] += 1e6
    tracemalloc.start()
    try:
        kendall_matrix(values)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 30e6  # one 4000 x 4000 matrix has 128e6 bytes


def test_a_very_wide_table_agrees_with_its_unit_differences():
    values = np.random.default_rng(11).normal(size=(20, 2000))
    i, j = np.triu_indices(20, 1)
    units = values[i] - values[j]
    units /= np.linalg.norm(units, axis=1, keepdims=True)
    assert np.abs(matrix_of(values) - units.T @ units / 190).max() < 1e-15


@settings(max_examples=60, deadline=None)
@given(tables())
def test_matrix_is_symmetric_semi_definite_and_its_trace_is_the_share_of_pairs_that_differ(values):
    n, p = values.shape
    matrix, error_bound, _, coincident_pairs = kendall_matrix(values)
    assert np.array_equal(matrix, matrix.T)
    assert np.linalg.eigvalsh(matrix)[0] > -1e-15 - error_bound
    assert abs(np.trace(matrix) - (1 - coincident_pairs / (n * (n - 1) / 2))) <= np.sqrt(p) * error_bound + 1e-15


@settings(max_examples=60, deadline=None)
@given(tables(), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(values, random):
    order = list(range(len(values)))
    random.shuffle(order)
    (one, bound_one, _, same), (other, bound_other, _, too) = kendall_matrix(values), kendall_matrix(values[order])
    assert np.linalg.norm(one - other) <= bound_one + bound_other
    assert same == too


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(-(2**40), 2**40), st.integers(2, 6))
def test_a_common_shift_changes_nothing(seed, shift, p):
    values = np.random.default_rng(seed).integers(-50, 50, size=(30, p)).astype(float)
    assert np.abs(matrix_of(values + shift) - matrix_of(values)).max() < 1e-13


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 6))
def test_rotated_rows_give_the_rotated_matrix(seed, p):
    values = np.random.default_rng(seed).normal(size=(30, p))
    Q = ortho_group(p, seed=np.random.default_rng(seed)).rvs()
    assert np.abs(matrix_of(values @ Q) - Q.T @ matrix_of(values) @ Q).max() < 1e-12


@settings(max_examples=200, deadline=None)
@given(tables(max_rows=15, max_columns=4), st.integers(0, 2**32 - 1), st.booleans(), st.booleans())
def test_replacing_one_row_moves_the_matrix_by_no_more_than_its_sensitivity(values, seed, lattice, twin):
    rng = np.random.default_rng(seed)
    if lattice:  # many rows coincide
        values = rng.integers(0, 2, size=values.shape).astype(float)
    n, p = values.shape
    neighbour = values.copy()
    neighbour[0] = values[-1] if twin else rng.normal(size=p) * 10.0 ** rng.integers(-3, 10)
    assert distance(values, neighbour) <= 2 * np.sqrt(2) / n * (1 + 1e-12)


@pytest.mark.parametrize("p", [2, 4])
@pytest.mark.parametrize("others", ["scattered", "some coincide"])
def test_the_worst_neighbour_that_a_search_finds_comes_up_to_the_sensitivity_and_not_beyond(others, p):
    n, rng = 8, np.random.default_rng(12)
    rest = rng.normal(size=(n - 1, p))
    if others == "some coincide":
        rest[:4] = rest[0]

    def place(direction, log_radius):
        return [10.0 ** np.clip(log_radius, -6, 9) * np.divide(direction, np.linalg.norm(direction))]

    def shortfall(point):
        (*one, near), (*two, far) = point[: p + 1], point[p + 1 :]
        moved = distance(np.vstack((rest, place(one, near))), np.vstack((rest, place(two, far))))
        return 1 - moved * n / (2 * np.sqrt(2))

    starts = rng.normal(size=(3, 2 * p + 2))
    found = [minimize(shortfall, start, method="Powell", options={"maxiter": 3}) for start in starts]
    assert -1e-12 < min(result.fun for result in found) < 1e-3


@pytest.mark.parametrize("n", [2, 3, 50])
def test_the_sensitivity_is_attained_where_all_other_rows_coincide(n):
    before, after = np.zeros((n, 2)), np.zeros((n, 2))
    before[0, 0] = after[0, 1] = 1
    assert distance(before, after) == pytest.approx(2 * np.sqrt(2) / n, abs=1e-12)


def test_dividing_by_the_pairs_that_differ_would_break_the_sensitivity():
    n = 50
    before, after = np.zeros((n, 2)), np.zeros((n, 2))
    before[0, 0] = after[0, 1] = 1
    before, after = matrix_of(before), matrix_of(after)
    renormalised = np.linalg.norm(before / np.trace(before) - after / np.trace(after))
    assert renormalised / (2 * np.sqrt(2) / n) == pytest.approx(25)


@pytest.mark.parametrize("p", [2, 3, 6])
def test_rows_with_coincidences_beside_which_one_is_replaced_keep_the_sensitivity_only_with_the_divisor_unchanged(p):
    n, rng = 12, np.random.default_rng(3)
    kept, broken = 0.0, 0.0
    for _ in range(200):
        before = rng.normal(size=(3, p))[rng.integers(0, 3, size=n) * (rng.random(n) < 0.3)]
        after = before.copy()
        after[0] = before[rng.integers(n)] if rng.random() < 0.3 else rng.normal(size=p) * 10.0 ** rng.integers(-3, 6)
        pair = [matrix_of(values) for values in (before, after)]
        kept = max(kept, np.linalg.norm(pair[0] - pair[1]))
        pair = [K / max(np.trace(K), 1e-9) for K in pair]
        broken = max(broken, np.linalg.norm(pair[0] - pair[1]))
    assert kept <= 2 * np.sqrt(2) / n * (1 + 1e-12)
    assert broken > 2 * np.sqrt(2) / n * 1.5
