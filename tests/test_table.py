"""The door: every container, kind of column, name and scale that users bring."""

import ast
import copy
import datetime
import decimal
import fractions
import importlib.util
import pathlib
import pickle
import re
import subprocess
import sys
import time
import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from dppca_nb.table import DataError, LeftOut, Table, as_matrix, as_table, scale_table

NUMBERS = [[1.0, 2.0], [2.0, 1.0], [4.0, 5.0]]


def frame(**columns):
    return pd.DataFrame(columns)


def message(data, **options):
    with pytest.raises(DataError) as caught:
        as_table(data, **options)
    return str(caught.value)


# --- the table itself ------------------------------------------------------------------------------------------------


def test_values_are_a_read_only_contiguous_float64_copy():
    source = np.asfortranarray(NUMBERS)
    table = as_table(source)
    assert table.values.dtype == np.float64
    assert table.values.flags.c_contiguous
    assert not table.values.flags.writeable
    assert not np.shares_memory(table.values, source)
    with pytest.raises(ValueError, match="read-only"):
        table.values[0, 0] = 9


LONG = np.random.default_rng(9).normal(size=(5000, 3))  # several of the blocks that rows are copied in
LONG_CONTAINERS = {
    "array": LONG,
    "Fortran array": np.asfortranarray(LONG),
    "view": np.repeat(LONG, 2, axis=1)[::-1, ::2][::-1],
    "matrix": LONG.view(np.matrix),
    "masked": np.ma.array(LONG),
    "frame": pd.DataFrame(LONG),
    "frame of columns": pd.DataFrame({f"v{j}": LONG[:, j].copy() for j in range(3)}),
    "polars": pl.DataFrame({f"v{j}": LONG[:, j] for j in range(3)}),
    "dictionary": {f"v{j}": LONG[:, j] for j in range(3)},
    "table": as_table(LONG),
}


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("name", LONG_CONTAINERS)
def test_a_matrix_to_compute_in_is_a_fresh_one_in_the_layout_that_was_asked_for(name, order):
    data, before = LONG_CONTAINERS[name], LONG.copy()
    values, names = as_matrix(data, order=order)
    assert np.array_equal(values, LONG)
    assert names == as_table(data).names
    assert values.flags.c_contiguous if order == "C" else values.flags.f_contiguous
    values[:] = 7  # writeable, and nothing of the caller's changes
    assert np.array_equal(as_matrix(data)[0], before)


@pytest.mark.parametrize("name", LONG_CONTAINERS)
def test_a_table_holds_no_memory_of_the_callers(name):
    data = LONG_CONTAINERS[name]
    if name != "table":
        owners = data.values() if isinstance(data, dict) else [np.asarray(data)]
        assert not any(np.shares_memory(as_table(data).values, owner) for owner in owners)
    assert np.array_equal(as_table(data).values, LONG)


@pytest.mark.parametrize("make", [as_table, as_matrix])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("row", [0, 2048, 4999])
def test_a_cell_of_a_long_array_that_cannot_be_used_is_named_wherever_it_is(make, bad, row):
    data = LONG.copy()
    data[row, 1] = bad
    with pytest.raises(DataError, match=f"x2: 1 {'missing' if np.isnan(bad) else 'infinite'} value[.] Drop"):
        make(data)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("make", [as_table, as_matrix])
def test_the_door_makes_one_copy(make, order):
    X = np.array(np.random.default_rng(6).normal(size=(100_000, 10)), order=order)
    for data in (X, pd.DataFrame(X)):
        make(data)
        tracemalloc.start()
        make(data)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 1.1 * X.nbytes


def test_a_table_passes_through_unchanged():
    table = as_table(NUMBERS)
    assert as_table(table) is table
    assert as_table(table, numeric_only=True) is table


def test_a_table_survives_pickle_and_its_repr_shows_no_row():
    table = as_table(frame(a=[123456.5, 2], b=[3, 4]))
    for again in (pickle.loads(pickle.dumps(table)), copy.deepcopy(table)):
        assert again.names == ("a", "b")
        assert again.values.tolist() == table.values.tolist()
        assert not again.values.flags.writeable
    assert "123456" not in repr(table)


def test_an_error_is_a_value_error_with_a_public_address_and_survives_pickle():
    error = pickle.loads(pickle.dumps(DataError("why")))
    assert isinstance(error, ValueError)
    assert type(error).__module__ == "dppca_nb.table"


# --- containers ------------------------------------------------------------------------------------------------------


class ArrowOnly:
    def __arrow_c_stream__(self, requested_schema=None):
        return pa.table({"a": [1, 2, 4], "b": [2.0, 1.0, 5.0]}).__arrow_c_stream__(requested_schema)


class InterchangeOnly:
    def __dataframe__(self, *args, **kwargs):
        return pa.table({"a": [1, 2, 4], "b": [2.0, 1.0, 5.0]}).__dataframe__()


class ArrayOnly:
    def __array__(self, dtype=None, copy=None):
        return np.array(NUMBERS)


RECORDS = np.array([(1, 2.0), (2, 1.0), (4, 5.0)], dtype=[("a", int), ("b", float)])


@pytest.mark.parametrize(
    "data",
    [
        frame(a=[1, 2, 4], b=[2.0, 1, 5]),
        frame(a=[1, 2, 4], b=[2.0, 1, 5]).convert_dtypes(),
        frame(a=[1, 2, 4], b=[2.0, 1, 5]).convert_dtypes(dtype_backend="pyarrow"),
        frame(a=[1, 2, 4], b=[2.0, 1, 5]).astype(object),
        frame(a=[1, 2, 4], b=[2.0, 1, 5]).astype(pd.SparseDtype(float, 0.0)),
        pl.DataFrame({"a": [1, 2, 4], "b": [2.0, 1, 5]}),
        pa.table({"a": [1, 2, 4], "b": [2.0, 1, 5]}),
        pa.record_batch({"a": [1, 2, 4], "b": [2.0, 1, 5]}),
        {"a": [1, 2, 4], "b": (2.0, 1, 5)},
        {"a": pd.Series([1, 2, 4]), "b": np.array([2.0, 1, 5])},
        {"a": pl.Series([1, 2, 4]), "b": pa.chunked_array([[2.0, 1, 5]])},
        RECORDS,
        RECORDS.view(np.recarray),
        ArrowOnly(),
        InterchangeOnly(),
    ],
    ids=lambda data: f"{type(data).__module__}.{type(data).__name__}",
)
def test_every_container_with_names_gives_the_same_table(data):
    table = as_table(data)
    assert table.names == ("a", "b")
    assert table.originals == ("a", "b")
    assert table.values.tolist() == NUMBERS
    assert (table.n, table.p, table.left_out) == (3, 2, ())


@pytest.mark.parametrize(
    "data",
    [
        NUMBERS,
        tuple(map(tuple, NUMBERS)),
        [np.array(row) for row in NUMBERS],
        [pd.Series(row) for row in NUMBERS],
        np.array(NUMBERS),
        np.array(NUMBERS, dtype=object),
        np.array(NUMBERS).view(np.matrix),
        np.ma.array(NUMBERS),
        np.ma.array(NUMBERS, mask=np.zeros((3, 2))),
        ArrayOnly(),
    ],
    ids=lambda data: type(data).__name__,
)
def test_every_container_without_names_gives_x1_to_xp(data):
    table = as_table(data)
    assert table.names == table.originals == ("x1", "x2")
    assert table.values.tolist() == NUMBERS


@pytest.mark.parametrize("series", [pd.Series([1, 2], name="q"), pl.Series("q", [1, 2])], ids=["pandas", "polars"])
def test_a_series_is_one_named_column(series):
    table = as_table(series)
    assert (table.names, table.p, table.values.tolist()) == (("q",), 1, [[1.0], [2.0]])


def test_row_labels_of_a_frame_are_no_variable():
    assert as_table(frame(a=[1, 2]).set_index(pd.Index([10, 20], name="id"))).names == ("a",)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (sparse.csr_matrix(NUMBERS), r"sparse matrix .*X\.toarray\(\)"),
        (sparse.coo_array(NUMBERS), r"sparse matrix .*X\.toarray\(\)"),
        (sparse.dok_matrix(NUMBERS), r"sparse matrix .*dok_matrix.*X\.toarray\(\)"),
        (sparse.dok_array(NUMBERS), r"sparse matrix .*X\.toarray\(\)"),
        (sparse.csr_array, r"Got the class csr_array itself"),
        (
            np.zeros(3, dtype=[("a", float), ("b", float, (2,))]),
            r"field 'b' holds an array of shape \(2,\) in every row",
        ),
        (np.array([1.0, 2]), r"one-dimensional array of shape \(2,\).*reshape\(-1, 1\)"),
        (pd.Index([1, 2]), r"one-dimensional array of shape \(2,\)"),
        (np.zeros((2, 2, 2)), r"shape \(2, 2, 2\); exactly two dimensions"),
        (np.float64(3), r"shape \(\); exactly two dimensions"),
        ([1, 2], r"Row 1 of the list is int; a list of rows"),
        (["ab", "cd"], r"Row 1 of the list is str"),
        ([[[1], [2]], np.zeros((2, 2))], r"Row 2 of the list is numpy.ndarray"),
        ([[1, 2], [3]], r"Row 2 has 1 entries and row 1 has 2"),
        ([{"a": 1}, {"a": 2}], r"list of dictionaries: pass pandas\.DataFrame"),
        ("data.csv", r"Got str.*read the file first.*read_csv"),
        (b"1,2", r"Got bytes.*read the file first"),
        (pathlib.Path("data.csv"), r"PosixPath|WindowsPath"),
        (pl.LazyFrame({"a": [1, 2]}), r"lazy frame .*\.collect\(\)"),
        (None, r"Got None, which is not tabular\. Pass a data frame"),
        (7, r"Got int, which is not tabular"),
        ({1, 2}, r"Got set, which is not tabular"),
        (iter([[1, 2]]), r"Got list_iterator, which is not tabular"),
        (pd.DataFrame, r"Got the class DataFrame itself"),
        ({"a": [1, 2], "b": [1]}, r"differ in length: \{'a': 2, 'b': 1\}"),
        ({"a": 1}, r"Column 'a' of the dictionary is int"),
        ({"a": "xy"}, r"Column 'a' of the dictionary is str"),
        ({"a": {"b": 1}}, r"Column 'a' of the dictionary is dict"),
        ({"a": np.zeros((2, 2))}, r"Column 'a' of the dictionary has 2 dimensions"),
        ({"a": pd.Series([1, 2]), "b": pd.Series([1, 2], index=[1, 0])}, r"different row labels: align them"),
    ],
)
def test_what_is_not_tabular_is_refused_with_a_remedy(data, text):
    assert re.search(text, message(data))


def test_an_open_file_is_refused_with_a_remedy(tmp_path):
    (tmp_path / "a.csv").write_text("a\n1\n")
    with (tmp_path / "a.csv").open() as file:
        assert "read the file first" in message(file)


def test_polars_is_not_imported_unless_the_user_has():
    code = (
        "import sys; from dppca_nb.table import as_table; as_table([[1, 2], [3, 4]]); as_table({'a': [1, 2]}); "
        "sys.exit('polars was imported' if 'polars' in sys.modules else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-300:]


def test_the_door_imports_no_front_end():
    modules = [importlib.util.find_spec(f"dppca_nb.{name}").origin for name in ("table", "_columns", "_containers")]
    for module in modules:
        tree = ast.parse(pathlib.Path(module).read_text(encoding="utf-8"))
        froms = [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
        plain = [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
        tops = {name.split(".")[0] for name in froms + plain}
        assert not tops & {"altair", "ipywidgets", "anywidget", "polars", "pyarrow"}
        assert not any(name.startswith(("dppca_nb.core", "dppca_nb.charts", "dppca_nb.widgets")) for name in froms)


# --- shapes ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "shape"),
    [
        ([[1.0, 2.0]], "(1, 2)"),
        (np.zeros((0, 3)), "(0, 3)"),
        (np.zeros((3, 0)), "(3, 0)"),
        ([], "(0, 0)"),
        ([[], []], "(2, 0)"),
        ({}, "(0, 0)"),
        (pd.DataFrame(), "(0, 0)"),
        (frame(a=[1.0, 2.0]).query("a > 5"), "(0, 1)"),
        (pl.DataFrame({"a": ["x"]}), "(1, 1)"),
    ],
)
def test_too_few_rows_or_no_column_is_an_error_with_the_shape(data, shape):
    text = message(data)
    assert f"shape {shape}" in text
    assert "at least 2 rows and 1 column" in text


def test_two_rows_one_column_and_more_columns_than_rows_are_fine():
    assert as_table([[1.0], [2.0]]).values.shape == (2, 1)
    assert as_table(np.random.default_rng(3).normal(size=(5, 10))).values.shape == (5, 10)


def test_a_very_wide_table_keeps_its_column_order():
    wide = pd.DataFrame(np.arange(4000.0).reshape(2, 2000), columns=[f"gene_{i}" for i in range(2000)])
    table = as_table(wide)
    assert table.names[10:12] == ("gene_10", "gene_11")
    assert table.values[1, 10] == 2010


# --- missing and infinite --------------------------------------------------------------------------------------------


def test_missing_cells_are_counted_by_column_and_no_row_is_shown():
    text = message(frame(h=[1.0, 2, np.nan, 777], w=[2.0, 1, 3, 5]))
    assert "h: 1 missing value." in text
    assert "w:" not in text
    assert "dropna" in text
    assert "impute" in text
    assert "777" not in text


def test_missing_and_infinite_cells_of_all_columns_come_in_one_error():
    data = frame(log_income=[0, -np.inf, np.inf, 3.0], rooms=[2, None, np.nan, 4], both=[np.nan, np.inf, 1.0, 2])
    text = message(data)
    assert "log_income: 2 infinite values; rooms: 2 missing values; both: 1 missing value, 1 infinite value." in text


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([1, None, 4], dtype="Int64"),
        pd.Series([1, None, 4], dtype="UInt8"),
        pd.Series([1.5, None, 4], dtype="Float64"),
        pd.Series([True, None, False], dtype="boolean"),
        pd.Series([1, None, 4], dtype="int64[pyarrow]"),
        pd.Series([1, None, 4], dtype="double[pyarrow]"),
        pd.Series([True, None, False], dtype="bool[pyarrow]"),
        pd.Series([1, None, 4], dtype=object),
        pd.Series([1, np.nan, 4], dtype=object),
        pd.Series([1, pd.NA, 4], dtype=object),
        pd.Series([1, pd.NaT, 4], dtype=object),
        pd.Series([1, decimal.Decimal("NaN"), 4], dtype=object),
        pd.Series([1, decimal.Decimal("sNaN"), 4], dtype=object),
        pd.Series([1, np.nan, 4], dtype=pd.SparseDtype(float)),
    ],
    ids=lambda column: str(column.dtype),
)
def test_every_kind_of_missing_cell_in_a_pandas_column_counts(column):
    assert "a: 1 missing value." in message(pd.DataFrame({"a": column, "b": [2.0, 1, 5]}))


@pytest.mark.parametrize(
    "data",
    [
        pl.DataFrame({"len": [1, None, 4], "wid": [2.0, 1, 5]}),
        pl.DataFrame({"len": [1.0, float("nan"), 4.0], "wid": [2.0, 1, 5]}),
        pl.DataFrame({"len": [True, None, False], "wid": [2.0, 1, 5]}),
        pa.table({"len": [1, None, 4], "wid": [2.0, 1, 5]}),
        {"len": [1, None, 4], "wid": [2.0, 1, 5]},
        {"len": np.ma.array([1, 999, 4], mask=[0, 1, 0]), "wid": [2.0, 1, 5]},
        {"len": [1, decimal.Decimal("sNaN"), 4], "wid": [2.0, 1, 5]},
        {"len": pd.array([1, None, 4], dtype="Int64"), "wid": [2.0, 1, 5]},
        {"len": pa.array([1, None, 4]), "wid": [2.0, 1, 5]},
    ],
    ids=["null", "NaN", "boolean", "arrow", "dict", "masked", "signalling", "extension array", "arrow array"],
)
def test_missing_cells_of_other_containers_are_named_too(data):
    assert "len: 1 missing value." in message(data)


@pytest.mark.parametrize("dtype", [float, int, object])
def test_masked_cells_are_missing_and_the_hidden_number_is_never_used(dtype):
    hidden = np.ma.array([[1, 999], [2, 3], [3, 5], [4, 4]], mask=[[0, 1], [0, 0], [0, 0], [0, 0]], dtype=dtype)
    assert "x2: 1 missing value." in message(hidden)
    assert "999" not in message(hidden)


def test_the_masked_constant_in_a_list_is_missing():
    assert "x2: 1 missing value." in message([[1, np.ma.masked], [2, 3]])


def test_a_column_with_no_value_at_all_is_missing_not_text():
    assert "a: 2 missing values." in message(frame(a=[None, None], b=[1, 2]))
    assert "a: 2 missing values." in message(pl.DataFrame({"a": [None, None], "b": [1, 2]}))


def test_infinite_numbers_in_object_columns_are_infinite():
    data = frame(a=pd.Series([1, float("-inf"), decimal.Decimal("Infinity")], dtype=object))
    assert "a: 2 infinite values." in message(data)


def test_missing_cells_of_columns_left_out_do_not_matter():
    table = as_table(frame(a=[1.0, 2], who=["x", None]), numeric_only=True)
    assert table.names == ("a",)


def test_a_message_about_thousands_of_columns_lists_fifty_and_counts_the_rest():
    text = message(np.full((2, 2000), np.nan))
    assert "x50: 2 missing values; and 1950 more." in text
    assert "x51" not in text


# --- kinds of columns ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "dtype",
    [*"bhilqBHILQefdg?", "Int8", "UInt64", "Float32", "boolean", "int16[pyarrow]", "float[pyarrow]", "bool[pyarrow]"],
)
def test_every_numeric_dtype_becomes_float64(dtype):
    table = as_table(pd.DataFrame({"a": pd.Series([1, 0, 1]).astype(dtype)}))
    assert table.values.dtype == np.float64
    assert table.values.ravel().tolist() == [1.0, 0.0, 1.0]


def test_booleans_become_zero_and_one():
    assert as_table(frame(smoker=[True, False], age=[30.0, 40])).values.tolist() == [[1.0, 30.0], [0.0, 40.0]]
    assert as_table(np.array([[True, False], [False, True]])).values.tolist() == [[1.0, 0.0], [0.0, 1.0]]


def test_an_object_column_of_real_numbers_is_numeric():
    numbers = [1, 2.5, True, np.bool_(False), np.float32(0.5), np.int8(-3), fractions.Fraction(1, 4)]
    numbers.append(decimal.Decimal("1.1"))
    table = as_table(pd.DataFrame({"a": pd.Series(numbers, dtype=object)}))
    assert table.values.ravel().tolist() == [1.0, 2.5, 1.0, 0.0, 0.5, -3.0, 0.25, 1.1]


def test_decimal_columns_of_arrow_and_polars_are_numeric():
    column = pa.array([decimal.Decimal("1.25"), decimal.Decimal("-2")], pa.decimal128(10, 2))
    for data in (pa.table({"a": column}), pl.from_arrow(pa.table({"a": column}))):
        assert as_table(data).values.ravel().tolist() == [1.25, -2.0]


DAY = datetime.date(2024, 1, 1)


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        (pd.date_range("2024-01-01", periods=2), "dates and times"),
        (pd.date_range("2024-01-01", periods=2, tz="UTC"), "dates and times"),
        (pd.Series([DAY, DAY], dtype=object), "dates and times"),
        (pd.Series([datetime.time(1), None], dtype=object), "dates and times"),
        (pd.Series([DAY, DAY], dtype="date32[pyarrow]"), "dates and times"),
        (pd.to_timedelta([1, 2]), "durations"),
        (pd.period_range("2024", periods=2), "periods"),
        (pd.interval_range(0, 2), "intervals"),
        (pd.Categorical([3, 1]), "categories"),
        (pd.Categorical(["u", "v"], ordered=True), "categories"),
        (pd.Series(pd.arrays.ArrowExtensionArray(pa.array([3, 1]).dictionary_encode())), "categories"),
        (["a", "b"], "text"),
        (pd.Series(["a", None], dtype=object), "text"),
        (pd.array(["a", "b"], dtype="string"), "text"),
        (pd.Series(["a", "b"], dtype=pd.ArrowDtype(pa.string())), "text"),
        (pd.Series([b"a", b"b"], dtype=object), "bytes"),
        (np.array([1j, 2]), "complex numbers"),
        (pd.Series([1j, 2j], dtype=object), "complex numbers"),
        (pd.Series([1, "a"], dtype=object), "a mixture of numbers and text"),
        (pd.Series([1, DAY], dtype=object), "a mixture of dates and times and numbers"),
        (pd.Series([[1], [2]], dtype=object), "objects of type list"),
    ],
)
def test_what_is_no_number_is_refused_by_name_or_left_out_with_the_reason(column, kind):
    data = pd.DataFrame({"x": [1.0, 2.0], "odd": column})
    text = message(data)
    assert f"not numeric: odd ({kind}" in text
    assert "numeric_only=True" in text
    table = as_table(data, numeric_only=True)
    assert table.names == ("x",)
    assert table.left_out == (LeftOut("odd", kind),)


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        (pl.Series([DAY, DAY]), "dates and times"),
        (pl.Series([datetime.timedelta(1)] * 2), "durations"),
        (pl.Series(["u", "v"]), "text"),
        (pl.Series(["u", "v"], dtype=pl.Categorical), "categories"),
        (pl.Series(["u", "v"], dtype=pl.Enum(["u", "v"])), "categories"),
        (pl.Series([{"f": 1}, {"f": 2}]), "nested values"),
        (pl.Series([[1], [2]]), "nested values"),
    ],
    ids=lambda value: str(getattr(value, "dtype", "")),
)
def test_polars_columns_that_are_no_numbers_are_left_out_with_the_reason(column, kind):
    table = as_table(pl.DataFrame({"odd": column, "x": [1.0, 2.0]}), numeric_only=True)
    assert table.names == ("x",)
    assert table.left_out == (LeftOut("odd", kind),)


LEVELS = pd.Categorical([30, 10])


@pytest.mark.parametrize(
    "column",
    [
        LEVELS,
        pd.Series(LEVELS),
        pd.CategoricalIndex(LEVELS),
        pd.arrays.ArrowExtensionArray(pa.array([30, 10]).dictionary_encode()),
        pa.array([30, 10]).dictionary_encode(),
        pa.chunked_array([pa.array([30, 10]).dictionary_encode()]),
    ],
    ids=lambda column: type(column).__name__,
)
def test_categories_in_a_dictionary_are_labels_as_in_a_frame(column):
    data = {"x": [1.0, 2.0], "odd": column}
    assert "not numeric: odd (categories" in message(data)
    assert as_table(data, numeric_only=True).left_out == (LeftOut("odd", "categories"),)


def test_other_extension_arrays_and_indexes_in_a_dictionary_are_columns():
    data = {"a": pd.array([1, 2], dtype="Int64"), "b": pd.Index([3, 4]), "c": pd.Series([5, 6], index=["u", "v"])}
    assert as_table(data).values.tolist() == [[1, 3, 5], [2, 4, 6]]
    assert "odd (periods" in message(data | {"odd": pd.period_range("2024", periods=2)})


def test_several_columns_that_are_no_numbers_are_named_in_one_error():
    data = frame(when=pd.date_range("2024-01-01", periods=2), name=["a", "b"], x=[1.0, np.nan])
    text = message(data)
    assert "when (dates and times); name (text). Convert" in text
    assert "x: 1 missing value" in text


@pytest.mark.parametrize(
    ("texts", "form"),
    [
        (["17", "2"], "#"),
        ([" -38 ", "1e3"], "#"),
        (["1.5e-3", "2"], "#.#e-#"),
        (["28,75", "3,5"], "#,#"),
        (["1_000", "nan"], "#_#"),
        (["-inf", "1 200"], "# #"),
        (["65 %", "7%"], "# %"),
        (["٤٢", "٧"], "#"),
    ],
)
def test_text_that_looks_like_numbers_is_still_text_and_shows_its_form_but_no_digit(texts, form):
    text = message(frame(a=texts))
    looks = "a (text, which looks like numbers but must be converted explicitly"
    assert f"{looks}, in a form like {form!r})" in text
    assert not re.search(r"\d", text)


def test_text_that_looks_like_numbers_without_a_digit_has_no_form():
    assert "a (text, which looks like numbers but must be converted explicitly). Convert" in message(
        frame(a=["nan"] * 2)
    )


def test_text_that_is_no_number_makes_no_such_claim():
    assert "looks like" not in message(frame(a=["1", "n/a"]))
    assert "looks like" not in message(frame(a=["12 Elm Street", "x"]))


def test_a_very_long_text_of_digits_is_judged_at_once():
    start = time.perf_counter()
    assert "looks like" not in message(frame(a=["1" * 30_000 + "x", "2"]))
    assert time.perf_counter() - start < 2


@pytest.mark.parametrize("cell", ["Qxy", "z" * 500, "41 Qxy"])
@pytest.mark.parametrize("other", ["41", 41, None, 41.5, b"41"])
def test_no_message_quotes_a_cell(cell, other):
    for data in (frame(a=[cell, other]), pl.DataFrame({"a": [cell, "41"]}), [[cell, 1], [other, 2]]):
        text = message(data)
        assert "Qxy" not in text
        assert "zz" not in text
        assert "41" not in text


def test_categories_name_the_explicit_remedy():
    assert ".astype(float)" in message(frame(stage=pd.Categorical([3, 1])))
    levels = frame(stage=pd.Categorical([3, 1, 2])).astype(float)
    assert as_table(levels).values.ravel().tolist() == [3.0, 1.0, 2.0]


def test_numeric_only_without_a_numeric_column_lists_what_was_left_out():
    text = message(frame(who=["a", "b"], kind=pd.Categorical([1, 2])), numeric_only=True)
    assert re.match(r"No numeric column is left\. Left out: who \(text.*; kind \(categories", text)


def test_columns_of_an_array_keep_their_position_in_their_name_when_others_are_left_out():
    data = np.array([[1, "a", 3], [4, "b", 6]], dtype=object)
    table = as_table(data, numeric_only=True)
    assert (table.names, table.left_out) == (("x1", "x3"), (LeftOut("x2", "text"),))


# --- integers and precision ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.int8, np.int32])
def test_small_integers_are_float64_before_any_product_can_overflow(dtype):
    data = np.array([[100, 1], [-100, 2], [90, 3], [-90, 5]], dtype=dtype)
    values = as_table(data).values
    assert (values.T @ values)[0, 0] == 36200


@pytest.mark.parametrize(
    "column",
    [
        np.array([2**53 + 1, 1]),
        np.array([-(2**63) + 1, 1]),
        np.array([2**64 - 1, 1], dtype=np.uint64),
        pd.array([2**53 + 1, 1], dtype="Int64"),
        pd.Series([2**53 + 1, 1], dtype="int64[pyarrow]"),
        pd.Series([2**53 + 1, 1], dtype=object),
        pd.Series([decimal.Decimal(2**53 + 1), 1], dtype=object),
        pd.Series([decimal.Decimal(f"{2**53 + 1}.00"), 1], dtype=object),
        pd.Series([fractions.Fraction(2**53 + 1), 1], dtype=object),
    ],
)
def test_integers_that_float64_would_change_are_refused_by_name(column):
    text = message(pd.DataFrame({"id": column}))
    assert "id: 1 integer beyond 2**53 would lose digits" in text
    assert "identifier" in text


def test_integers_of_polars_that_float64_would_change_are_refused_too():
    assert "id: 1 integer" in message(pl.DataFrame({"id": [2**53 + 1, 1]}))
    assert "id: 1 integer" in message(pl.DataFrame({"id": pl.Series([2**100 + 1, 1], dtype=pl.Int128)}))


def test_decimal_columns_that_hold_integers_beyond_float64_are_refused_too():
    column = pa.array([decimal.Decimal(2**53 + 1), decimal.Decimal(1)], pa.decimal128(30, 2))
    for data in (pa.table({"id": column}), pl.from_arrow(pa.table({"id": column})), {"id": column}):
        assert "id: 1 integer" in message(data)


def test_decimals_that_float64_holds_or_that_only_have_their_fraction_rounded_are_fine():
    exact = [decimal.Decimal(2**53 + 2), decimal.Decimal("1e22"), decimal.Decimal("9007199254740995.6")]
    assert as_table(frame(a=exact)).values.ravel().tolist() == [2.0**53 + 2, 1e22, 2.0**53 + 4]


def test_large_integers_that_float64_holds_exactly_are_fine():
    exact = [2**60, -(2**63), 2**53, 12345678901234]
    assert as_table(frame(a=exact)).values.ravel().tolist() == [float(value) for value in exact]


@pytest.mark.parametrize("dtype", ["int64", object])
def test_an_identifier_of_eighteen_digits_is_refused_not_rounded(dtype):
    assert "would lose digits" in message(frame(a=np.array([123456789012345678, 1], dtype=dtype)))


@pytest.mark.skipif(np.finfo(np.longdouble).max == np.finfo(float).max, reason="longdouble is float64 on this machine")
def test_magnitudes_beyond_float64_are_refused():
    data = np.array([["1e4000", "1"], ["1e-4000", "2"]]).astype(np.longdouble)
    assert "x1: 2 values beyond its range" in message(data)
    assert "infinite value" not in message(data)


def test_python_numbers_beyond_float64_are_refused_not_called_infinite():
    data = frame(a=pd.Series([10**400, -(10**400)], dtype=object), b=[decimal.Decimal("1e-400")] * 2)
    text = message(data)
    assert "a: 2 values beyond its range; b: 2 values beyond its range" in text
    assert "infinite value" not in text


def test_every_memory_layout_gives_the_same_values_and_changes_nothing():
    X = np.random.default_rng(5).normal(size=(40, 6))
    frozen = X.copy()
    frozen.flags.writeable = False
    variants = [frozen, np.asfortranarray(X), X[::-1][::-1], np.repeat(X, 2, axis=1)[:, ::2], X.astype(">f8")]
    variants += [X.astype(np.longdouble), pd.DataFrame(X)]
    for variant in variants:
        before = np.array(variant, copy=True)
        assert np.array_equal(as_table(variant).values, X)
        assert np.array_equal(np.asarray(variant), before)


def test_low_precision_keeps_exactly_the_stored_values():
    X = np.random.default_rng(5).normal(size=(40, 6))
    for low in (X.astype(np.float32), X.astype(np.float16)):
        assert np.array_equal(as_table(low).values, low.astype(np.float64))


def test_very_small_and_very_large_values_are_kept():
    extreme = [[1e-200, 1e200], [5e-324, -1.7e308]]
    assert as_table(extreme).values.tolist() == extreme


# --- names -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "names",
    [
        ["Sepal.Length", "mass [kg]", "odds:ratio", "t:Q", "a.1"],
        ["patient's age", '5" pipe', "back\\slash", 'it\'s [a] "test"', "<b>&amp;"],
        ["blood\npressure", "❤ rate", "_id2", " padded ", "温度"],
        ["x1", "x2", "x10", "n" * 200 + "A", "n" * 200 + "B"],
    ],
)
def test_names_keep_their_exact_characters_and_order(names):
    assert as_table(pd.DataFrame(np.zeros((2, 5)), columns=names)).names == tuple(names)
    assert as_table(pl.DataFrame({name: [0.0, 1.0] for name in names})).names == tuple(names)


def named(labels):
    data = pd.DataFrame(np.zeros((2, len(labels))))
    data.columns = pd.Index(labels, dtype=object, tupleize_cols=False)
    return as_table(data)


@pytest.mark.parametrize(
    ("labels", "names"),
    [
        (["a", "a", "b"], ("a", "a (2)", "b")),
        (["a", "a", "a"], ("a", "a (2)", "a (3)")),
        (["a", "a", "a (2)"], ("a", "a (3)", "a (2)")),
        (["a (2)", "a", "a"], ("a (2)", "a", "a (3)")),
        (["a", "a", "a (2)", "a (2)"], ("a", "a (3)", "a (2)", "a (2) (2)")),
        ([3, "3"], ("3", "3 (2)")),
        (["a", "b", "c", "   "], ("a", "b", "c", "(unnamed 4)")),
        (["", None, np.nan, pd.NA, pd.NaT], tuple(f"(unnamed {j})" for j in range(1, 6))),
        (["\n", "\t "], ("(unnamed 1)", "(unnamed 2)")),
        (["\u200b", "\ufeff ", "\x00", "\u2060\u00ad"], tuple(f"(unnamed {j})" for j in range(1, 5))),
        (["\u3164", "\ufe0f", ("\u200b", "v")], ("(unnamed 1)", "(unnamed 2)", "v")),
        (["a\u200b", "\ufeffa", "\x07", "\x07b"], ("a\u200b", "\ufeffa", "(unnamed 3)", "\x07b")),
        (["\ud800", "a\uffff"], ("\ud800", "a\uffff")),
        ([" ", "(unnamed 1)"], ("(unnamed 1) (2)", "(unnamed 1)")),
        ([0, 1, 10, 2], ("0", "1", "10", "2")),
        ([2001, 2002, "extra"], ("2001", "2002", "extra")),
        ([2.5, True, DAY], ("2.5", "True", "2024-01-01")),
        ([("v", 2001), ("v", 2002)], ("v / 2001", "v / 2002")),
        ([("id", ""), ("v", "mean"), ("", "")], ("id", "v / mean", "(unnamed 3)")),
        ([("v", 2001), "v / 2001"], ("v / 2001", "v / 2001 (2)")),
    ],
)
def test_display_names_are_unique_text_for_every_kind_of_label(labels, names):
    table = named(labels)
    assert table.names == names
    assert all(own is label or own == label for own, label in zip(table.originals, labels, strict=True))


@given(st.lists(st.sampled_from(["a", "a (2)", "a (3)", "a (2) (2)", " ", "(unnamed 1)", 1, "1", None]), min_size=1))
@settings(max_examples=200, deadline=None)
def test_display_names_are_always_unique_text(labels):
    names = named(labels).names
    assert len(set(names)) == len(labels)
    assert all(isinstance(name, str) and name.strip() for name in names)


def test_the_columns_of_a_pivot_are_joined():
    long = frame(id=[1, 1, 2, 2], yr=[2001, 2002] * 2, v=[1.0, 2, 3, 5], w=[2.0, 1, 4, 4])
    table = as_table(long.pivot(index="id", columns="yr", values=["v", "w"]))
    assert table.names == ("v / 2001", "v / 2002", "w / 2001", "w / 2002")
    assert table.originals[0] == ("v", 2001)
    assert table.values.tolist() == [[1.0, 2.0, 2.0, 1.0], [3.0, 5.0, 4.0, 4.0]]


def test_both_columns_of_a_repeated_name_keep_their_own_values():
    table = as_table(pd.DataFrame([[1, 2, 3], [4, 5, 6]], columns=["a", "a", "b"]))
    assert table.values.tolist() == [[1, 2, 3], [4, 5, 6]]


def test_invisible_characters_of_a_name_are_spelled_out_in_messages():
    assert r"'blood\npressure': 1 missing value" in message(pd.DataFrame({"blood\npressure": [1.0, None]}))


# --- duplicates and constants ----------------------------------------------------------------------------------------


def test_duplicate_rows_and_constant_columns_pass_the_door():
    data = frame(q1=[0.0, 0, 1], q2=[0.0, 0, 0])
    assert as_table(data).values.tolist() == [[0, 0], [0, 0], [1, 0]]


@pytest.mark.parametrize(
    "constant",
    [
        [5.0] * 4,
        [0.0] * 4,
        [1e-200] * 4,
        [0.3, 0.1 + 0.2, 0.3, 0.1 + 0.2],
        [1e200, np.nextafter(1e200, 0), 1e200, 1e200],
    ],
    ids=["five", "zero", "tiny", "rounding", "rounding of a large number"],
)
def test_a_constant_column_has_no_sample_scale_and_is_named(constant):
    table = as_table(frame(a=[1.0, 2, 3, 4], site=constant, c=[1.0, 0, 2, 1], ward=[7.0] * 4))
    with pytest.raises(DataError, match=r"^Constant: site; ward\. .*leave it out, or give public scales"):
        scale_table(table, "sample")
    scaled, from_sample = scale_table(table, [1, 2, 1, 7])
    assert not from_sample
    assert scaled.values[:, 3].tolist() == [1.0] * 4


@pytest.mark.parametrize("unit", [1e-10, 1e-13, 1e-200, 1e-310, 1e150, 1e300])
def test_a_small_or_large_unit_is_no_constant_and_scaling_is_unit_free(unit):
    Z = np.random.default_rng(1).normal(size=(60, 3))
    reference = scale_table(as_table(Z), "sample")[0].values
    scaled = scale_table(as_table(Z * [1.0, unit, 1.0]), "sample")[0].values
    np.testing.assert_allclose(scaled, reference, rtol=1e-8)
    np.testing.assert_allclose(scaled, Z / Z.std(axis=0, ddof=1), rtol=1e-8)


def test_seconds_on_a_large_offset_are_no_constant():
    seconds = 1.7e9 + np.arange(100_000) % 60 * 1e-3
    assert scale_table(as_table({"t": seconds}), "sample")[1]


# --- scales ----------------------------------------------------------------------------------------------------------


TABLE = as_table(pd.DataFrame([[1.0, 2, 3], [4, 5, 7]], columns=["a", "a", 10]))


def test_no_scale_leaves_the_table_as_it_is():
    scaled, from_sample = scale_table(TABLE, None)
    assert scaled is TABLE
    assert from_sample is False


def test_the_sample_scale_is_the_standard_deviation_with_n_minus_one_and_says_so():
    scaled, from_sample = scale_table(TABLE, "sample")
    assert from_sample is True
    np.testing.assert_allclose(scaled.values.std(axis=0, ddof=1), 1, rtol=1e-14)
    assert (scaled.names, scaled.originals) == (TABLE.names, TABLE.originals)


SPREAD = pd.DataFrame(np.random.default_rng(4).normal(1e5, [1, 20, 3e-3], size=(30, 3)), columns=["a", "b", "c"])


@pytest.mark.parametrize("ddof", [0, 1])
@pytest.mark.parametrize("unit", [1e-300, 1.0, 1e300])
def test_given_scales_that_equal_the_sample_standard_deviations_count_as_sample(ddof, unit):
    table = as_table(SPREAD * unit)
    scales = pd.Series(SPREAD.to_numpy().std(axis=0, ddof=ddof) * unit, index=SPREAD.columns)
    for scale in (scales, scales.to_numpy(), dict(scales), scales * (1 + 1e-10)):
        scaled, from_sample = scale_table(table, scale)
        assert from_sample is True
        assert scaled.sample_scaled is True
    for scale in (scales * (1 + 1e-6), scales * [1, 1, 1.01], scales * 2):
        scaled, from_sample = scale_table(table, scale)
        assert from_sample is False
        assert scaled.sample_scaled is False


def test_a_constant_variable_hides_no_scale_from_the_sample():
    table = as_table(SPREAD.assign(site=5.0))
    assert scale_table(table, np.maximum(table.values.std(axis=0, ddof=1), [0, 0, 0, 1]))[1]
    assert not scale_table(as_table([[1.0], [1.0]]), [1.0])[1]


def test_scale_one_for_rows_that_were_standardised_before_is_the_sample_scale():
    assert scale_table(as_table((SPREAD - SPREAD.mean()) / SPREAD.std()), [1, 1, 1])[1]


def test_a_table_remembers_that_its_scale_came_from_the_sample():
    assert TABLE.sample_scaled is False
    scaled, _ = scale_table(TABLE, "sample")
    again, from_sample = scale_table(scaled, [3, 2, 1])
    assert (again.sample_scaled, from_sample) == (True, False)
    assert scale_table(again, None)[0].sample_scaled
    assert as_table(scaled).sample_scaled
    assert pickle.loads(pickle.dumps(scaled)).sample_scaled
    assert copy.deepcopy(again).sample_scaled
    assert scale_table(TABLE, [3, 2, 1])[0].sample_scaled is False


def test_scaling_works_where_the_caller_makes_every_floating_point_event_an_error():
    tiny = as_table(np.random.default_rng(2).normal(size=(9, 2)) * [1, 5e-324 * 7])
    with np.errstate(all="raise"):
        assert scale_table(tiny, "sample")[0].sample_scaled
        with pytest.raises(DataError, match=r"leave the range of float64: x1\."):
            scale_table(as_table([[0.0]] * 9 + [[5e-324]]), "sample")
        assert scale_table(as_table([[1e-200, 1e200], [1e-190, 2.0]]), [1e-190, 1e200])[0].n == 2


@pytest.mark.parametrize(
    "scale",
    [
        [1, 2, 4],
        (1.0, np.float32(2), fractions.Fraction(4)),
        np.array([1, 2, 4]),
        {"a": 1, "a (2)": 2, "10": 4},
        {"10": 4, "a (2)": 2, "a": 1},
        {"a": 1, "a (2)": 2, 10: 4},
        pd.Series({"a": 1, "a (2)": 2, "10": 4}),
    ],
)
def test_public_scales_go_by_position_display_name_or_own_label(scale):
    scaled, from_sample = scale_table(TABLE, scale)
    assert from_sample is False
    assert scaled.values.tolist() == [[1, 1, 0.75], [4, 2.5, 1.75]]
    assert not scaled.values.flags.writeable
    assert TABLE.values.tolist() == [[1, 2, 3], [4, 5, 7]]


def test_what_was_left_out_stays_listed_after_scaling():
    table = as_table(frame(a=[1, 2], who=["x", "y"]), numeric_only=True)
    assert scale_table(table, [2])[0].left_out == table.left_out


BAD = [0, -1, 0.0, np.nan, np.inf, -np.inf, True, np.bool_(True), "2", None, 1j, pd.NA, 10**400, [2]]


@pytest.mark.parametrize("bad", BAD, ids=[repr(bad)[:12] for bad in BAD])
@pytest.mark.parametrize("as_mapping", [True, False])
def test_a_scale_that_is_no_positive_finite_number_is_refused_by_name(bad, as_mapping):
    scale = {"a": 1, "a (2)": bad, "10": 4} if as_mapping else [1, bad, 4]
    with pytest.raises(DataError, match=r"scale of a \(2\) is .*; a positive, finite number is needed"):
        scale_table(TABLE, scale)


@pytest.mark.parametrize(
    ("scale", "text"),
    [
        ([1, 2], r"shape \(2,\); one number for each of the 3 variables .*a; a \(2\); 10"),
        ([[1, 2, 3]], r"shape \(1,\)"),
        (np.array([[1, 2, 3]]), r"shape \(1, 3\)"),
        (2.0, r"shape \(\)"),
        ("std", r"Got scale='std': pass None, \"sample\""),
        ({"a": 1, "a (2)": 2}, r"no number for 10\."),
        ({}, r"no number for a; a \(2\); 10\."),
        ({"a": 1, "a (2)": 2, "10": 4, "c": 1}, r"names 'c', which is no variable; they are a; a \(2\); 10"),
        ({"a": 1, "a (2)": 2, "10": 4, 10: 4}, r"names the variable 10 twice"),
        ([1e-320, 1, 1], r"leave the range of float64: a\."),
    ],
)
def test_a_scale_that_does_not_fit_the_variables_is_refused(scale, text):
    table = as_table(pd.DataFrame([[1e10, 2, 3], [4, 5, 7]], columns=["a", "a", 10]))
    with pytest.raises(DataError, match=text):
        scale_table(table, scale)


def test_an_own_label_that_two_variables_share_is_no_key():
    table = as_table(pd.DataFrame([[1.0, 2], [4, 5]], columns=[7, 7]))
    with pytest.raises(DataError, match="names 7, which is no variable"):
        scale_table(table, {7: 1, "7 (2)": 1})
    assert scale_table(table, {"7": 1, "7 (2)": 1})[0].values.tolist() == table.values.tolist()


def test_a_quotient_that_vanishes_is_refused_not_rounded_to_zero():
    with pytest.raises(DataError, match=r"leave the range of float64: x1\."):
        scale_table(as_table([[1e-200, 1], [2e-200, 2]]), [1e200, 1])


def test_a_hand_made_table_is_copied_and_frozen_too():
    values = np.asfortranarray(NUMBERS)
    table = Table(values=values, names=["a", "b"], originals=["a", "b"])
    values[0, 0] = 99
    assert table.values[0, 0] == 1
    assert table.values.flags.c_contiguous
    assert not table.values.flags.writeable
    assert (table.names, table.left_out) == (("a", "b"), ())


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ([[1.0, np.nan], [2, 3]], "missing or infinite"),
        ([[1.0, np.inf], [2, 3]], "missing or infinite"),
        (np.ma.array([[1.0, 999], [2, 3]], mask=[[0, 1], [0, 0]]), "missing or infinite"),
        ([1.0, 2], r"shape \(2,\)"),
        (np.zeros((2, 2, 2)), r"shape \(2, 2, 2\)"),
        ([[1.0, 2]], r"shape \(1, 2\)"),
        (np.zeros((2, 0)), r"shape \(2, 0\)"),
        ([["1", "2"], ["3", "4"]], "type <U1"),
        ([[1j, 2], [3, 4]], "type complex128"),
        ([[1, 2], [3]], "no matrix"),
    ],
)
def test_a_hand_made_table_of_no_finite_matrix_is_refused(values, text):
    with pytest.raises(DataError, match=rf"{text}.* with as_table\(data\)"):
        Table(values=values, names=["a", "b"], originals=["a", "b"])


@pytest.mark.parametrize(
    ("names", "originals"), [(["a"], ["a"]), (["a", "b"], ["a"]), (["a", "a"], ["a", "a"]), ([1, 2], [1, 2])]
)
def test_a_hand_made_table_needs_a_unique_text_for_every_column(names, originals):
    with pytest.raises(DataError, match=r"A Table of 2 columns got \d names, .* unique texts.*as_table\(data\)"):
        Table(values=NUMBERS, names=names, originals=originals)
