"""Ordinary PCA: golden numbers of R, three routes that agree, and the cases where they may not."""

import dataclasses
import json
import time
import tracemalloc
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.decomposition import PCA
from threadpoolctl import threadpool_limits

from dppca_nb.core.align import subspace_angles
from dppca_nb.core.decompose import decompose
from dppca_nb.core.loading import dp_loading, reference_directions
from dppca_nb.core.pca import PCAResult, pca
from dppca_nb.datasets import iris, usarrests
from dppca_nb.table import DataError, as_table, scale_table

FOLDER = Path(__file__).parent / "reference" / "kendall"
GOLDEN = {path.stem: json.loads(path.read_text()) for path in sorted(FOLDER.glob("*.json"))}
WITH_PRCOMP = [name for name, golden in GOLDEN.items() if "prcomp" in golden]
WITH_EIGEN_COR = [name for name, golden in GOLDEN.items() if "eigen_cor" in golden]
METHODS = ("svd", "eigen", "prcomp")
ROWS = np.random.default_rng(4).normal(size=(40, 4)) @ np.array(
    [[3, 1, 0, 0], [0, 2, 1, 0], [0, 0, 1, 0.5], [0, 0, 0, 0.3]]
)
GRID = np.array([[1.0, 2, 0], [2, 0, 1], [4, 1, 3], [5, 6, 2], [3, 1, 1]])
IRIS = iris().select_dtypes("number")


def golden_rows(name):
    return pd.read_csv(FOLDER / f"{name}.csv").to_numpy(dtype=float)


def off(ours, theirs):
    """Largest difference of two sets of directions whose signs are free."""
    ours, theirs = np.asarray(ours), np.asarray(theirs, dtype=float).reshape(np.shape(ours))
    return np.abs(ours * np.sign((ours * theirs).sum(axis=0)) - theirs).max()


def close(ours, theirs, tolerance=1e-10):
    ours, theirs = np.asarray(ours, dtype=float), np.asarray(theirs, dtype=float).reshape(np.shape(ours))
    return np.abs(ours - theirs).max() <= tolerance * max(1.0, np.abs(theirs).max())


# Golden numbers


@pytest.mark.parametrize("name", WITH_PRCOMP)
def test_prcomp_of_r_is_rebuilt(name):
    golden, theirs = GOLDEN[name], GOLDEN[name]["prcomp"]
    made = pca(golden_rows(name), method="prcomp", scale=golden["standardize"])
    k, rank = len(theirs["sdev"]), made.rank
    assert len(made.variances) == k
    assert close(made.center, theirs["center"])
    assert close(np.sqrt(made.variances), theirs["sdev"])
    if golden["standardize"]:
        assert close(made.scale, theirs["scale"])
    else:
        assert made.scale is None
    # beyond the rank R too holds any basis
    assert off(made.directions.to_numpy()[:, :rank], np.reshape(theirs["rotation"], (-1, k))[:, :rank]) < 1e-10
    assert rank == min(golden["p"], golden["n"] - 1)


@pytest.mark.parametrize("name", WITH_PRCOMP)
def test_svd_of_r_is_rebuilt(name):
    golden, theirs = GOLDEN[name], GOLDEN[name]["svd"]
    made = pca(golden_rows(name), method="svd", scale=golden["standardize"], ddof=1)
    assert close(made.singular_values, theirs["d"])
    assert close(made.variances, theirs["var_from_d"])
    assert (
        off(made.directions.to_numpy()[:, : made.rank], np.reshape(theirs["v"], (golden["p"], -1))[:, : made.rank])
        < 1e-10
    )


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", WITH_PRCOMP)
def test_the_covariance_of_r_is_put_together_again(name, method):
    golden = GOLDEN[name]
    made = pca(golden_rows(name), method=method, scale=golden["standardize"], ddof=1)
    V = made.directions.to_numpy()
    assert close(V * made.variances.to_numpy() @ V.T, golden["cov"])


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", WITH_EIGEN_COR)
def test_the_correlation_matrix_of_r_has_these_eigenvalues_whatever_the_divisor(name, method):
    theirs = GOLDEN[name]["eigen_cor"]
    for ddof in (0, 1):
        made = pca(golden_rows(name), method=method, scale=True, ddof=ddof)
        assert close(made.variances, theirs["values"])
        assert off(made.directions, theirs["vectors"]) < 1e-10


@pytest.mark.parametrize("name", WITH_PRCOMP)
def test_the_eigen_route_agrees_with_r_where_it_can(name):
    golden = GOLDEN[name]
    made = pca(golden_rows(name), method="eigen", scale=golden["standardize"], ddof=1)
    # the exception: one column a million times as wide, so the squares differ by 12 digits
    tolerance = 1e-3 if name == "col_1e6" else 1e-10
    theirs = np.reshape(golden["svd"]["v"], (golden["p"], -1))
    assert off(made.directions.to_numpy()[:, : made.rank], theirs[:, : made.rank]) < tolerance
    assert np.sqrt(made.variances[: made.rank]).to_numpy() == pytest.approx(
        golden["prcomp"]["sdev"][: made.rank], rel=tolerance
    )
    assert made.rank == min(golden["p"], golden["n"] - 1)


def test_there_are_golden_numbers_to_rebuild():
    assert len(WITH_PRCOMP) >= 8
    assert len(WITH_EIGEN_COR) >= 2


# Conventions


def test_the_divisor_follows_the_method_and_can_be_chosen():
    assert [pca(IRIS, method=method).ddof for method in METHODS] == [0, 0, 1]
    with_n1, with_n = [4.228242, 0.242671, 0.078210, 0.023835], [4.200053, 0.241053, 0.077689, 0.023676]
    for method in METHODS:
        assert pca(IRIS, method=method, ddof=1).variances.to_numpy() == pytest.approx(with_n1, abs=1e-6)
        assert pca(IRIS, method=method, ddof=0).variances.to_numpy() == pytest.approx(with_n, abs=1e-6)
    assert (pca(IRIS).divisor, pca(IRIS, method="prcomp").divisor) == ("n", "n - 1")


def test_scaled_variances_sum_to_the_number_of_variables():
    made = pca(IRIS, method="prcomp", scale=True)
    assert made.variances.to_numpy() == pytest.approx([2.918498, 0.914030, 0.146757, 0.020715], abs=1e-6)
    for method in METHODS:
        assert pca(IRIS, method=method, scale=True).variances.sum() == pytest.approx(4, rel=1e-14)


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("scale", [True, False])
@pytest.mark.parametrize("ddof", [0, 1])
def test_the_three_routes_give_the_same_numbers(center, scale, ddof):
    one, *others = (pca(GRID, method=method, center=center, scale=scale, ddof=ddof) for method in METHODS)
    for other in others:
        for field in ("directions", "scores", "singular_values", "variances", "shares", "scaled_loadings"):
            assert np.abs(getattr(one, field) - getattr(other, field)).to_numpy().max() < 1e-12
        assert one.rank == other.rank == 3
    moments = np.asarray(GRID) - (GRID.mean(axis=0) if center else 0)
    moments = moments.T @ moments / (5 - ddof)
    spread = np.sqrt(np.diag(moments)) if scale else np.ones(3)
    assert one.variances.to_numpy() == pytest.approx(
        np.linalg.eigvalsh(moments / np.outer(spread, spread))[::-1], rel=1e-12
    )


def test_without_centring_r_scales_by_the_root_mean_square_about_zero():
    made = pca(GRID, method="prcomp", center=False, scale=True)
    rms = np.sqrt((GRID**2).sum(axis=0) / 4)
    assert made.center is None
    assert made.scale.to_numpy() == pytest.approx(rms, rel=1e-14)
    assert not np.allclose(rms, GRID.std(axis=0, ddof=1))
    assert np.allclose(made.scores, GRID / rms @ made.directions.to_numpy(), atol=1e-13)


def test_scores_are_the_prepared_data_times_the_directions():
    for method in METHODS:
        for center, scale in [(True, True), (True, False), (False, True), (False, False)]:
            made = pca(IRIS, method=method, center=center, scale=scale)
            Y = IRIS.to_numpy() - (0 if made.center is None else made.center.to_numpy())
            Y = Y / (1 if made.scale is None else made.scale.to_numpy())
            assert np.abs(made.scores.to_numpy() - Y @ made.directions.to_numpy()).max() < 1e-12


def test_directions_scaled_loadings_and_correlations_are_three_things():
    frame = pd.DataFrame([[2.0, 0], [0, 3], [4, 1], [6, 8]], columns=["a", "b"])
    for method, ddof in [("svd", 0), ("eigen", 1), ("prcomp", 1)]:
        made = pca(frame, method=method, ddof=ddof)
        L = made.directions.to_numpy() * np.sqrt(made.variances.to_numpy())
        assert np.allclose(made.scaled_loadings, L, atol=1e-14)
        assert np.allclose(L @ L.T, np.cov(frame.T, ddof=ddof), atol=1e-12)
        expected = np.corrcoef(frame.T, made.scores.T)[:2, 2:]
        assert np.allclose(made.correlations, expected, atol=1e-13)
        assert (made.correlations**2).sum(axis=1).to_numpy() == pytest.approx([1, 1], rel=1e-13)
        scaled = pca(frame, method=method, ddof=ddof, scale=True)
        assert np.allclose(scaled.scaled_loadings, scaled.correlations, atol=1e-15)
        assert not np.allclose(made.scaled_loadings, made.correlations)


def test_signs_follow_one_rule_in_all_routes_and_ignore_the_order_of_rows():
    expected = [0.36138659, -0.08452251, 0.85667061, 0.3582892]
    shuffled = IRIS.sample(frac=1, random_state=1)
    for method in METHODS:
        for frame in (IRIS, shuffled, -IRIS):
            V = pca(frame, method=method).directions.to_numpy()
            assert V[:, 0] == pytest.approx(expected, abs=1e-6)
            assert (V[np.abs(V).argmax(axis=0), range(4)] > 0).all()


def test_shares_are_of_the_total_variance():
    made = pca(np.vstack([np.eye(3), -np.eye(3)]))
    assert made.shares.to_numpy() == pytest.approx([1 / 3] * 3, rel=1e-14)
    assert made.summary()["cumulative share"].to_numpy() == pytest.approx([1 / 3, 2 / 3, 1], rel=1e-14)
    total = usarrests().to_numpy(dtype=float).var(axis=0).sum()
    assert pca(usarrests()).shares["PC1"] == pytest.approx(pca(usarrests()).variances["PC1"] / total, rel=1e-13)


# The result


def test_a_result_is_labelled_and_frozen():
    frame = pd.DataFrame(ROWS, columns=["a.b", "c", "d", "é"])
    made = pca(frame, scale=True)
    components = ["PC1", "PC2", "PC3", "PC4"]
    for table in (made.directions, made.scores, made.scaled_loadings, made.correlations):
        assert list(table.columns) == components
        assert table.columns.name == "component"
    for labelled in (made.directions, made.center, made.scale, made.deviations, made.correlations):
        assert list(labelled.index) == ["a.b", "c", "d", "é"]
        assert labelled.index.name == "variable"
    for series in (made.singular_values, made.variances, made.shares, made.summary()):
        assert list(series.index) == components
        assert series.index.name == "component"
    assert made.scores.index.equals(pd.RangeIndex(40))
    assert made.scores.index.name == "row"
    assert (made.n, made.p, made.rank, made.method, made.ddof, made.tied) == (40, 4, 4, "svd", 0, ())
    with pytest.raises(dataclasses.FrozenInstanceError):
        made.rank = 1


def test_scores_keep_the_row_labels_of_a_frame_so_that_its_other_columns_line_up():
    flowers = iris()
    chosen = flowers[flowers.index % 3 == 1]
    scores = pca(chosen.select_dtypes("number")).scores
    assert list(scores.index) == list(chosen.index)
    kind = flowers.columns[~flowers.columns.isin(IRIS.columns)][0]
    assert scores.assign(kind=chosen[kind])["kind"].notna().all()
    double = chosen.select_dtypes("number").set_index(pd.MultiIndex.from_product([["x", "y"], range(25)]))
    assert pca(double).scores.index[26] == ("y", 1)
    assert pca(double).scores.index.names == ["row"]
    assert chosen.index.name is None


def test_the_text_and_the_table_tell_the_convention():
    assert repr(pca(ROWS, method="eigen", center=False)) == (
        "PCAResult(n=40, p=4, method='eigen', center=False, scale=False, ddof=0, rank=4)"
    )
    assert "variance (divisor n)" in pca(ROWS).summary()
    table = pca(ROWS, method="prcomp").summary()
    assert table["variance (divisor n - 1)"].sum() == pytest.approx(ROWS.var(axis=0, ddof=1).sum(), rel=1e-13)
    assert (table["note"] == "").all()


# Shapes


@pytest.mark.parametrize("method", METHODS)
def test_more_columns_than_rows_leave_at_most_n_minus_1_components_with_variance(method):
    X = np.random.default_rng(3).normal(size=(5, 10))
    made = pca(X, method=method)
    assert made.directions.shape == (10, 5)
    assert made.scores.shape == (5, 5)
    assert made.rank == 4
    assert (made.variances.iloc[4], made.singular_values.iloc[4], made.shares.iloc[4]) == (0, 0, 0)
    assert (made.scores["PC5"] == 0).all()
    assert (made.scaled_loadings["PC5"] == 0).all()
    V = made.directions.to_numpy()
    assert np.abs(V.T @ V - np.eye(5)).max() < 1e-13
    assert np.abs(made.directions - pca(X).directions).iloc[:, :4].to_numpy().max() < 1e-12
    assert list(made.summary().index) == ["PC1", "PC2", "PC3", "PC4"]
    assert made.summary(beyond_rank=True)["note"].tolist() == [""] * 4 + ["no variance, arbitrary direction"]
    assert pca(X, method=method, center=False).rank == 5


@pytest.mark.parametrize("method", METHODS)
def test_two_rows_have_one_component(method):
    made = pca([[1, 1], [6, 13]], method=method, ddof=1)
    assert made.directions["PC1"].to_numpy() == pytest.approx([5 / 13, 12 / 13], abs=1e-15)
    assert made.variances.tolist() == [pytest.approx(84.5, rel=1e-14), 0]
    assert pca([[1, 1], [6, 13]], method=method, ddof=0).variances["PC1"] == pytest.approx(42.25, rel=1e-14)
    assert made.shares.tolist() == [1, 0]
    assert made.rank == 1


@pytest.mark.parametrize("method", METHODS)
def test_one_column_has_the_direction_one(method):
    made = pca(pd.DataFrame({"x": [1.0, 2, 4]}), method=method, ddof=1)
    assert made.directions.to_numpy().tolist() == [[1.0]]
    assert made.variances["PC1"] == pytest.approx(7 / 3, rel=1e-14)
    assert made.shares["PC1"] == 1


@pytest.mark.parametrize("rows", [0, 1])
def test_too_few_rows_are_a_data_error(rows):
    with pytest.raises(DataError, match=rf"shape \({rows}, 2\); at least 2 rows"):
        pca(np.zeros((rows, 2)))


@pytest.mark.parametrize("method", METHODS)
def test_a_very_wide_table_needs_no_more_than_p_squared_numbers(method):
    X = np.random.default_rng(0).normal(size=(20, 1000))
    tracemalloc.start()
    made = pca(X, method=method)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert made.rank == 19
    assert peak < (4 if method == "eigen" else 0.5) * 8 * 1000**2
    assert subspace_angles(made.directions, pca(X).directions, k=19)[0] < 1e-6


# Degenerate data


@pytest.mark.parametrize("method", METHODS)
def test_equal_variances_are_reported_as_a_plane(method):
    made = pca([[1.0, 0], [-1, 0], [0, 1], [0, -1]], method=method, ddof=1)
    assert made.variances.to_numpy() == pytest.approx([2 / 3, 2 / 3], rel=1e-14)
    assert made.tied == ((1, 2),)
    V = made.directions.to_numpy()
    assert np.allclose(V @ V.T, np.eye(2), atol=1e-14)
    assert made.summary()["note"].tolist() == [
        "only the span with PC2 is defined",
        "only the span with PC1 is defined",
    ]
    assert "tied=((1, 2),)" in repr(made)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("unit", [1e-200, 1e-9, 1, 1e200])
def test_ties_are_found_in_any_unit_place_and_rotation(method, unit):
    Q = np.linalg.qr(np.random.default_rng(2).normal(size=(5, 5)))[0]
    X = np.vstack([np.eye(5), -np.eye(5)]) * [3, 2, 2, 1, 1] @ Q.T * unit
    assert pca(X, method=method).tied == ((2, 3), (4, 5))
    if unit == 1:
        assert pca(X + 1e7, method=method).tied == ((2, 3), (4, 5))
        assert pca(X * [1, 1, 1, 1, 1.00001], method=method).tied == ()


def test_variances_are_equal_up_to_a_relative_gap_of_1e_9():
    cross = np.vstack([np.eye(2), -np.eye(2)])
    for method in METHODS:
        assert pca(cross * [1 + 1e-10, 1], method=method).tied == ((1, 2),)
        assert pca(cross * [1 + 1e-8, 1], method=method).tied == ()


def test_the_eigen_route_says_that_it_cannot_tell_small_components_apart():
    X = np.vstack([np.eye(3), -np.eye(3)]) * [1, 1.000001e-5, 1e-5]
    assert pca(X).tied == ()
    assert pca(X, method="eigen").tied == ((2, 3),)


def test_variances_far_apart_in_size_are_not_taken_for_equal():
    for method in METHODS:
        assert pca(golden_rows("col_1e6"), method=method).tied == ()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("offset", [0, 1, 1e8])
def test_dependent_columns_lower_the_rank_and_have_no_variance_at_all(method, offset):
    a, b = np.random.default_rng(7).normal(size=(2, 200))
    X = np.column_stack([a, b, a + b, 2 * a - b]) + offset
    made = pca(X, method=method)
    assert made.rank == 2
    assert made.variances.tolist()[2:] == [0, 0]
    assert (made.scores[["PC3", "PC4"]] == 0).all(axis=None)
    assert made.shares.sum() == pytest.approx(1, rel=1e-15)
    assert subspace_angles(made.directions, pca(X - offset).directions, k=2)[0] < 1e-5
    assert pca(X * 1e-6, method=method, scale=True).rank == 2


@given(
    n=st.integers(2, 9),
    p=st.integers(1, 6),
    inner=st.integers(1, 4),
    method=st.sampled_from(METHODS),
    center=st.booleans(),
    seed=st.integers(0, 10**6),
)
@settings(max_examples=120, deadline=None)
def test_components_put_the_data_together_again(n, p, inner, method, center, seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(-9, 10, size=(n, inner)) @ rng.integers(-9, 10, size=(inner, p))  # often of low rank
    made = pca(X, method=method, center=center)
    Y = X - X.mean(axis=0) if center else X.astype(float)
    size = max(np.abs(Y).max(), 1e-9)
    V, Z = made.directions.to_numpy(), made.scores.to_numpy()
    assert np.abs(Z @ V.T - Y).max() < 1e-6 * size
    assert np.abs(V.T @ V - np.eye(min(n, p))).max() < 1e-13
    assert np.abs(Z.T @ Z / (n - made.ddof) - np.diag(made.variances)).max() < 1e-6 * size**2
    assert (made.variances >= 0).all()
    assert made.variances.is_monotonic_decreasing
    assert made.rank == np.count_nonzero(made.variances) == np.linalg.matrix_rank(Y, tol=1e-7 * size)
    assert made.shares.sum() == pytest.approx(1 if made.rank else 0, rel=1e-14)


def test_data_without_any_variation_have_rank_0_and_no_shares():
    for method in METHODS:
        made = pca(np.full((4, 3), 0.1), method=method)
        assert made.rank == 0
        assert made.shares.tolist() == made.variances.tolist() == [0, 0, 0]
        assert made.directions.to_numpy().T @ made.directions.to_numpy() == pytest.approx(np.eye(3))
        assert len(made.summary()) == 0
        assert made.correlations.isna().all(axis=None)


# Constant columns


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("value", [5.0, 0.1, 1e9 + 0.1])
@pytest.mark.parametrize("n", [4, 10, 333])
def test_a_constant_column_loads_on_no_component_with_variance(method, value, n):
    count = np.arange(n)
    frame = pd.DataFrame({"a": count % 4 + 1.0, "site": value, "c": count % 3})
    made = pca(frame, method=method)
    assert made.rank == 2
    assert made.directions.loc["site"].tolist()[:2] == [0, 0]
    assert made.center["site"] == value
    assert made.correlations.loc["site"].isna().all()
    assert made.correlations.drop("site").notna().all(axis=None)


@pytest.mark.parametrize("method", METHODS)
def test_a_constant_column_among_many_has_no_correlation_and_no_loading(method):
    X = np.random.default_rng(2).normal(size=(54, 35))
    X[:, 20] = 0.1
    made = pca(X, method=method)
    assert (made.directions.loc["x21"].iloc[:34] == 0).all()
    assert made.correlations.loc["x21"].isna().all()


@pytest.mark.parametrize("method", METHODS)
def test_scaling_a_constant_column_is_an_error_that_names_it(method):
    frame = pd.DataFrame({"a": [1.0, 2, 3, 4], "site": 5.0, "line\nbreak": 0.1, "c": [1.0, 0, 2, 1]})
    with pytest.raises(DataError, match=r"^Constant: site; 'line\\nbreak'\. .*leave it out, or use scale=False"):
        pca(frame, method=method, scale=True)


def test_without_centring_only_a_column_of_zeros_cannot_be_scaled():
    frame = pd.DataFrame({"a": [1.0, 2, 3, 4], "site": 5.0, "none": 0.0})
    with pytest.raises(DataError, match=r"^All zero: none\. "):
        pca(frame, center=False, scale=True)
    made = pca(frame.drop(columns="none"), center=False, scale=True, ddof=1)
    assert made.scale["site"] == pytest.approx(np.sqrt(100 / 3))


@pytest.mark.parametrize("value", [1 / 3, 1e200])
@pytest.mark.parametrize("n", [2, 10])
def test_what_counts_as_constant_is_decided_as_for_scales_of_the_sample(value, n):
    def refused(call):
        try:
            call()
        except DataError as error:
            assert "Constant: near." in str(error)  # noqa: PT017 (both outcomes are expected)
            return True
        return False

    found = []
    for steps in range(0, 70):
        column = np.full(n, value)
        column[0] += steps * np.spacing(value)
        table = as_table({"near": column, "other": np.arange(n)})
        found.append(refused(lambda table=table: pca(table, scale=True, ddof=0)))
        assert found[-1] == refused(lambda table=table: scale_table(table, "sample"))
    assert set(found) == {True, False}


def test_tiny_units_are_genuine():
    Z = np.random.default_rng(1).normal(size=(60, 3))
    expected = pca(Z, scale=True, ddof=0)
    for units in ([1.0, 1e-10, 1e-13], [1e-300, 1e300, 1]):
        for method in METHODS:
            made = pca(Z * units, scale=True, method=method, ddof=0)
            assert made.shares.to_numpy() == pytest.approx(expected.shares.to_numpy(), rel=1e-10)
            assert off(made.directions, expected.directions) < 1e-8
            assert made.scale.to_numpy() / np.array(units) == pytest.approx(expected.scale.to_numpy(), rel=1e-12)
    assert pca(Z * [1.0, 1e-10, 1e-13]).rank == 3


# Offsets, units, number types


@pytest.mark.parametrize("method", METHODS)
def test_a_large_common_offset_costs_no_more_than_its_rounding(method):
    Z = np.random.default_rng(1).normal(size=(50, 2)) @ np.array([[2, 0], [1, 0.5]])
    made = pca(Z + 1e8, method=method, ddof=1)
    V = made.directions.to_numpy()
    assert np.allclose(V * made.variances.to_numpy() @ V.T, np.cov(Z.T), atol=2e-7)
    assert np.allclose(V * made.variances.to_numpy() @ V.T, [[4.253188, 0.470106], [0.470106, 0.176030]], atol=1e-6)
    assert np.abs(made.scores.mean()).max() < 1e-13


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("unit", [1e-200, 1e-150, 1e150, 1e200, 1e304])
def test_extreme_units_change_only_the_unit(method, unit):
    expected, made = pca(ROWS, method=method), pca(ROWS * unit, method=method)
    assert off(made.directions, expected.directions) < 1e-12
    assert made.shares.to_numpy() == pytest.approx(expected.shares.to_numpy(), rel=1e-12)
    assert made.singular_values.to_numpy() / unit == pytest.approx(expected.singular_values.to_numpy(), rel=1e-12)
    assert made.scores.to_numpy() / unit == pytest.approx(expected.scores.to_numpy(), rel=1e-9, abs=1e-12)
    assert made.center.to_numpy() / unit == pytest.approx(expected.center.to_numpy(), rel=1e-9, abs=1e-12)
    assert made.scaled_loadings.to_numpy() / unit == pytest.approx(
        expected.scaled_loadings.to_numpy(), rel=1e-9, abs=1e-12
    )
    assert np.allclose(made.correlations, expected.correlations, atol=1e-12)
    assert made.rank == 4


def test_variances_beyond_the_range_are_infinite_or_zero_without_a_warning():
    for method in METHODS:
        made = pca([[1.7e308, 0], [-1.7e308, 0]], method=method)
        assert np.isinf(made.singular_values["PC1"])
        assert (made.directions.loc["x1", "PC1"], made.shares["PC1"], made.scores.loc[0, "PC1"]) == (1, 1, 1.7e308)
    assert np.isinf(pca(ROWS * 1e200).variances).all()
    assert (pca(ROWS * 1e-200).variances == 0).all()


@pytest.mark.parametrize("method", METHODS)
def test_integers_and_booleans_are_computed_in_double_precision(method):
    for data in (
        np.array([[100, 1], [-100, 2], [90, 3], [-90, 5]], dtype=np.int8),
        np.array([[50000, 1], [-50000, 2], [70000, 4]], dtype=np.int32),
        np.array([[True, False], [False, False], [True, True]]),
    ):
        made, expected = pca(data, method=method), pca(data.astype(float), method=method)
        pd.testing.assert_frame_equal(made.directions, expected.directions, check_exact=True)
        pd.testing.assert_series_equal(made.variances, expected.variances, check_exact=True)


def test_memory_layouts_and_precisions_give_one_result_and_nothing_of_the_callers_changes():
    X = np.random.default_rng(5).normal(size=(40, 6))
    frozen = X.copy()
    frozen.flags.writeable = False
    table = as_table(X)
    variants = [X, frozen, np.asfortranarray(X), X[::-1][::-1], np.repeat(X, 2, axis=1)[:, ::2], table]
    variants += [X.astype(np.longdouble), pd.DataFrame(X)]
    copies = [np.array(getattr(v, "values", v)) for v in variants]
    for method in METHODS:
        for settings_ in ({}, {"scale": True}, {"center": False}):
            expected = pca(X.copy(), method=method, **settings_)
            for variant in variants:
                made = pca(variant, method=method, **settings_)
                assert np.abs(made.scores.to_numpy() - expected.scores.to_numpy()).max() < 1e-10
        assert off(pca(X.astype(np.float32), method=method).directions, pca(X).directions) < 1e-5
    for variant, copy in zip(variants, copies, strict=True):
        assert np.array_equal(getattr(variant, "values", variant), copy)
    assert not table.values.flags.writeable


LONG = np.random.default_rng(6).normal(size=(200_000, 20)) * np.arange(1, 21) + 5


@pytest.mark.parametrize(("method", "most"), [("svd", 2.2), ("prcomp", 2.2), ("eigen", 1.1)])
@pytest.mark.parametrize("container", [np.array, np.asfortranarray, pd.DataFrame, as_table])
def test_beside_the_data_there_are_the_centred_matrix_and_the_scores(container, method, most):
    data = container(LONG)
    pca(LONG[:100], method=method)
    tracemalloc.start()
    pca(data, method=method)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < most * LONG.nbytes


@pytest.mark.parametrize("settings_", [{}, {"scale": True}, {"center": False}], ids=str)
@pytest.mark.parametrize("method", METHODS)
def test_every_container_gives_the_same_result_to_the_last_bit_and_is_left_as_it_was(method, settings_):
    X = np.random.default_rng(5).normal(size=(5000, 3)) * [3, 2, 1] + [0, 1e6, 5]  # several blocks of rows
    expected = pca(X.copy(), method=method, **settings_)
    frozen = X.copy()
    frozen.flags.writeable = False
    variants = [X, frozen, np.asfortranarray(X), np.repeat(X, 2, axis=1)[::-1, ::2][::-1], X.view(np.matrix)]
    variants += [np.ma.array(X), pd.DataFrame(X), pd.DataFrame({f"x{j}": X[:, j] for j in (0, 1, 2)}), as_table(X)]
    for variant in variants:
        before = np.array(getattr(variant, "values", variant))
        made = pca(variant, method=method, **settings_)
        for field in ("directions", "scores", "singular_values", "shares", "deviations"):
            assert np.array_equal(getattr(made, field), getattr(expected, field)), (type(variant), field)
        assert np.array_equal(getattr(variant, "values", variant), before)


@pytest.mark.parametrize("method", METHODS)
def test_integers_are_left_as_they_were_and_counted_in_double_precision_in_every_block(method):
    X = np.random.default_rng(5).integers(-9, 9, size=(5000, 3))
    before = X.copy()
    assert np.array_equal(pca(X, method=method).scores, pca(X.astype(float), method=method).scores)
    assert np.array_equal(X, before)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("offset", [1e9 + 0.1, 1 / 3, 1e-200])
def test_constant_columns_of_long_tables_become_zeros_too(method, offset):
    X = LONG[:50_000, :4].copy()
    X[:, 2] = offset
    made = pca(X, method=method)
    assert made.rank == 3
    assert made.center["x3"] == offset
    assert made.deviations["x3"] == 0
    assert (made.directions.loc["x3"].iloc[:3] == 0).all()


@pytest.mark.parametrize("method", METHODS)
def test_long_tables_far_from_zero_and_in_any_order_lose_no_digit(method):
    X = np.floor(np.sort(np.random.default_rng(2).standard_cauchy(size=(20_000, 3)), axis=0).clip(-1e6, 1e6))
    X[:, 1] = X[::-1, 1] * np.arange(20_000)
    X[:, 2] = np.arange(20_000) % 1000
    expected, made = pca(X, method=method), pca(X + 2.0**46, method=method)  # these sums are exact
    assert off(made.directions, expected.directions) < 1e-12
    assert made.shares.to_numpy() == pytest.approx(expected.shares.to_numpy(), rel=1e-12)
    assert close(made.scores, expected.scores, 1e-12)
    assert np.abs(made.center - 2.0**46 - expected.center).max() <= np.spacing(2.0**46)


# Settings


class Untouchable:
    """Fails the test as soon as anything about it is asked."""

    def __getattribute__(self, name):
        raise AssertionError(f"the data were touched: {name}")


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"method": "SVD"}, ValueError, '^method must be "svd", "eigen" or "prcomp"; got \'SVD\''),
        ({"method": ["svd"]}, ValueError, "^method must be"),
        ({"center": 1}, TypeError, "^center must be True or False; got 1"),
        ({"scale": "sample"}, TypeError, "^scale must be True or False; got 'sample'"),
        ({"scale": [1, 2]}, TypeError, r"^scale must be True or False; got \[1, 2\]"),
        ({"ddof": 2}, ValueError, r"^ddof must be 0 \(divisor n\), 1 \(divisor n - 1\) or None .*; got 2"),
        ({"ddof": True}, ValueError, "^ddof must be"),
        ({"ddof": 0.5}, ValueError, "^ddof must be"),
    ],
)
def test_a_bad_setting_is_refused_before_the_data_are_touched(changes, error, message):
    with pytest.raises(error, match=message):
        pca(Untouchable(), **changes)


def test_numpy_booleans_and_integers_are_settings_too():
    made = pca(ROWS, center=np.True_, scale=np.False_, ddof=np.int64(1))
    assert (made.ddof, made.center is None, made.scale) == (1, False, None)
    assert type(made.ddof) is type(made.rank) is int


def test_columns_that_are_not_numbers_are_named():
    with pytest.raises(DataError, match="not numeric: who"):
        pca(pd.DataFrame({"a": [1, 2], "who": ["x", "y"]}))


# One PCA in the project


@pytest.mark.parametrize("shape", [(50, 4), (5, 10), (2, 3), (7, 1)])
def test_the_reference_of_a_private_release_is_this_pca(shape):
    X = np.random.default_rng(8).normal(size=shape)
    made = pca(X)
    k = min(shape)
    assert np.array_equal(reference_directions(X)[:, :k], made.directions.to_numpy())
    released = dp_loading(X, epsilon=1, delta=1e-3, reference=True, coincident="zero")
    assert np.array_equal(released.reference.to_numpy()[:, :k], made.directions.to_numpy())


def test_a_result_is_made_by_the_public_class():
    assert isinstance(pca(ROWS), PCAResult)


def test_scores_are_made_in_blocks_without_loss():
    Y = np.random.default_rng(1).normal(size=(5000, 3)) * [3, 2, 1]
    found = decompose(Y.copy(), list("abc"), eigen=True)
    assert np.abs(found.scores - (Y - Y.mean(axis=0)) @ found.directions).max() < 1e-12


# Against scikit-learn


@pytest.mark.parametrize(("method", "solver"), [("svd", "full"), ("eigen", "covariance_eigh"), ("prcomp", "full")])
def test_scikit_learn_finds_the_same_up_to_sign(method, solver):
    theirs = PCA(svd_solver=solver)
    scores = theirs.fit_transform(IRIS.to_numpy())
    made = pca(IRIS, method=method, ddof=1)
    assert off(made.directions, theirs.components_.T) < 1e-10
    assert off(made.scores, scores) < 1e-10
    assert made.variances.to_numpy() == pytest.approx(theirs.explained_variance_, rel=1e-10)
    assert made.shares.to_numpy() == pytest.approx(theirs.explained_variance_ratio_, rel=1e-10)
    assert made.singular_values.to_numpy() == pytest.approx(theirs.singular_values_, rel=1e-10)


@pytest.mark.parametrize(("method", "solver"), [("svd", "full"), ("eigen", "covariance_eigh")])
def test_from_raw_rows_to_scores_it_takes_no_more_than_twice_the_time_of_scikit_learn(method, solver):
    def ours():
        return pca(LONG, method=method)

    def theirs():
        return PCA(svd_solver=solver).fit_transform(LONG)

    least = {ours: np.inf, theirs: np.inf}
    with threadpool_limits(1):  # processor time counts the seconds of every thread
        for _ in range(5):
            for call in least:  # in turn, so that a busy machine is busy for both
                start = time.process_time()
                call()
                least[call] = min(least[call], time.process_time() - start)
    assert least[ours] < 2 * least[theirs]  # benchmarks/pca.py has the ratio itself, of a million rows
