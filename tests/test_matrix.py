"""Pictures of matrices: which cells, on which scale, under which names, and what is refused."""

import json
import re

import numpy as np
import pandas as pd
import polars
import pyarrow
import pytest

from dppca_nb import DataError, as_table, datasets, matrix_chart
from dppca_nb.charts.drawn import png
from dppca_nb.charts.matrix import MOST_CELLS, MOST_LINES

ODD = ["Sepal.Length", "mass [kg]", 'it\'s "5" \\ pipe', "two\nlines", "❤", "\x00", "</script>", "   ", "x" * 300]


def panels(chart):
    """The matrices drawn, read back."""
    return [np.array([row["value"] for row in values]) for values in data(chart)]


def data(chart):
    """Rows of every panel; those of a single one are written at the top."""
    spec = chart.to_dict()
    return [part.get("data", spec.get("data"))["values"] for part in spec["hconcat"]]


def parameter(chart, name):
    return next(p["value"] for p in chart.to_dict(validate=False)["params"] if p["name"] == name)


def titles(chart):
    return [part["title"]["text"] for part in chart.to_dict()["hconcat"]]


def test_a_matrix_is_drawn_as_it_stands_in_square_cells():
    matrix = np.array([[1.0, -2.0, 0.5], [3.0, 0.0, -0.25]])
    chart = matrix_chart(matrix)
    (found,) = panels(chart)
    assert found.tolist() == matrix.tolist()
    (part,) = chart.to_dict()["hconcat"]
    assert part["width"] / 3 == part["height"] / 2
    assert [row["row"] for row in data(chart)[0]] == [1, 2]
    assert data(chart)[0][0]["column"] == [1, 2, 3]
    assert titles(chart) == ["2 × 3"]
    assert parameter(chart, "most") == 3.0


def test_every_cell_reaches_the_screen(tmp_path):
    matrix_chart({"a": np.eye(3), "b": np.zeros((2, 5))}).save(tmp_path / "x.svg")
    assert (
        len(re.findall(r'aria-label="column: \d+; row: \d+; value', (tmp_path / "x.svg").read_text(encoding="utf-8")))
        == 19
    )


@pytest.mark.parametrize(
    "columns",
    [
        {"a": [1, 2, 3], "b": [4, 5, 6]},
        {"a": (1, 2, 3), "b": range(4, 7)},
        {"a": np.array([1, 2, 3]), "b": pd.Series([4, 5, 6])},
        {"a": polars.Series([1, 2, 3]), "b": polars.Series([4, 5, 6])},
        {"a": pyarrow.array([1, 2, 3]), "b": pyarrow.array([4, 5, 6])},
    ],
)
def test_a_mapping_of_columns_is_one_table(columns):
    chart = matrix_chart(columns)
    (found,) = panels(chart)
    assert found.tolist() == [[1, 4], [2, 5], [3, 6]]
    assert parameter(chart, "names0") == ["a", "b"]


def test_a_mapping_of_tables_of_any_kind_and_size_is_drawn_side_by_side_on_one_scale():
    tables = {
        "array": np.eye(4) * 1e12,
        "list": [[1, 2], [3, 4], [5, 6]],
        "frame": pd.DataFrame({"flag": [True, False], "count": np.array([1, -2], np.int8)}),
        "polars": polars.DataFrame({"x": [1, 2]}),
        "columns": {"x": [1, 2], "y": [3, 4]},
        "table": as_table([[1, 2], [3, 5]]),
    }
    chart = matrix_chart(tables)
    assert titles(chart) == [
        "array: 4 × 4",
        "list: 3 × 2",
        "frame: 2 × 2",
        "polars: 2 × 1",
        "columns: 2 × 2",
        "table: 2 × 2",
    ]
    assert panels(chart)[2].tolist() == [[1, 1], [0, -2]]
    assert parameter(chart, "most") == 1e12
    spec = chart.to_dict()
    assert {json.dumps(part["encoding"]["fill"]["scale"]) for part in spec["hconcat"]} == {
        json.dumps(spec["hconcat"][0]["encoding"]["fill"]["scale"])
    }
    sizes = {(part["width"] / found.shape[1], part["height"] / found.shape[0])
             for part, found in zip(spec["hconcat"], panels(chart), strict=True)}  # fmt: skip
    assert len(sizes) == 1


def test_one_big_and_one_long_matrix_have_cells_of_one_size():
    chart = matrix_chart({"thin": np.ones((30, 2)), "fat": np.ones((2, 30))})
    thin, fat = chart.to_dict()["hconcat"]
    assert (thin["width"], thin["height"]) == (fat["height"], fat["width"])


@pytest.mark.parametrize("unit", [1e-299, 1e-13, 1e12, 1e154, 1e299])
def test_any_unit_is_drawn_and_written_short(unit):
    matrix = np.array([[1.0, -2.0], [0.5, 1.0 / 3]]) * unit
    chart = matrix_chart(matrix)
    (found,) = panels(chart)
    assert found / unit == pytest.approx(matrix / unit, rel=1e-3)
    assert max(map(len, chart.digest.splitlines())) < 30
    assert png(chart).startswith(b"\x89PNG")


def test_a_legend_needs_no_row_of_zeros(tmp_path):
    for unit, label in ((1e-13, "1e−13"), (1e12, "1e+12"), (1, "0.5")):
        matrix_chart(np.eye(2) * unit).save(tmp_path / "x.svg")
        drawn = (tmp_path / "x.svg").read_text(encoding="utf-8")
        assert f">{label}<" in drawn
        assert "000000<" not in drawn


@pytest.mark.parametrize("unit", [1e-310, 1e305])
def test_magnitudes_that_cannot_be_drawn_are_refused(unit):
    with pytest.raises(ValueError, match=r"^the largest magnitude must be between 1e-300 and 1e\+300; got"):
        matrix_chart(np.eye(2) * unit)


def test_a_matrix_of_zeros_has_a_scale_and_cells_that_can_be_seen():
    chart = matrix_chart(np.zeros((3, 4)) * -1.0)
    assert parameter(chart, "most") == 1.0
    assert "-0" not in json.dumps(data(chart))
    (part,) = chart.to_dict()["hconcat"]
    assert part["mark"]["stroke"] != {"expr": "bg"}
    assert "-0" not in chart.digest


def test_names_stand_along_the_top_unless_there_are_too_many_or_none():
    states = datasets.usarrests()
    correlations = matrix_chart(states.corr())
    assert parameter(correlations, "names0") == ["Murder", "Assault", "UrbanPop", "Rape"]
    axis = correlations.to_dict()["hconcat"][0]["encoding"]["x"]["axis"]
    assert (axis["labelExpr"], axis["orient"]) == ("names0[datum.value - 1]", "top")
    for unnamed in (np.eye(4), pd.DataFrame(np.eye(13), columns=[f"v{j}" for j in range(13)]).iloc[:5]):
        axis = matrix_chart(unnamed).to_dict()["hconcat"][0]["encoding"]["x"]["axis"]
        assert axis["labelExpr"] == "datum.value"


def test_odd_names_are_values_and_a_page_is_safe_and_offline(tmp_path):
    frame = pd.DataFrame(np.arange(27.0).reshape(3, 9), columns=ODD)
    chart = matrix_chart(dict.fromkeys([ODD[0], "\x00", "\x01", ODD[6], ODD[8]], frame), title=ODD[6] + "\x00")
    assert titles(chart)[1:3] == ["\ufffd: 3 × 9", "\ufffd (2): 3 × 9"]
    assert all(len(title) < 70 for title in titles(chart))
    texts = parameter(chart, "names0")
    assert len(set(texts)) == 9
    assert max(map(len, texts)) <= 18
    specified = json.dumps([{**part, "data": None, "title": None} for part in chart.to_dict()["hconcat"]])
    assert set(re.findall(r'"field": "([^"]*)"', specified)) == {"row", "column", "value", "name"}
    for name in ("x.html", "x.png"):
        chart.save(tmp_path / name)
    page = (tmp_path / "x.html").read_text(encoding="utf-8")
    assert page.count("</script>") == page.count("<script")
    assert not re.search(r"""(?:src|href)\s*=\s*["']?(?:https?:)?//""", page)


@pytest.mark.parametrize("names", [list(range(3)), [("a", 1), ("a", 2), ("b", 1)], ["a", "a", "b"], [None, 1, "1"]])
def test_any_labels_of_columns_are_drawn_and_differ(names):
    frame = pd.DataFrame(np.eye(3))
    frame.columns = pd.Index(names, tupleize_cols=False, dtype=object)
    assert len(set(parameter(matrix_chart(frame), "names0"))) == 3


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        (np.ones((667, 30)), ValueError, r"^a picture holds at most 20,000 cells; got 20,010\. Draw some"),
        ({"a": np.ones((100, 100)), "b": np.ones((100, 101))}, ValueError, "^a picture holds at most 20,000 .* 20,100"),
        (np.ones((MOST_LINES + 1, 2)), ValueError, "^a picture holds at most 1,000 rows or columns; got 1,001"),
        (np.ones((2, MOST_LINES + 1)), ValueError, "^a picture holds at most 1,000 rows or columns; got 1,001"),
        ({str(i): np.eye(2) for i in range(7)}, ValueError, "^a picture compares 1 to 6 matrices; got 7"),
        ({1: np.eye(2)}, TypeError, "^the names of matrices must be texts; got 1"),
        ({" ": np.eye(2)}, TypeError, "^the names of matrices must be texts; got ' '"),
        ({"a": [1, 2, 3], "b": np.eye(3)}, DataError, "^Column 'b' of the dictionary has 2 dimensions"),
        ({"a": 1, "b": 2}, DataError, "^Got int, which is not tabular"),
        ({"a": [[1], [2, 3]]}, DataError, "^Row 2 has 2 entries and row 1 has 1"),
        ({}, DataError, "."),
        (None, DataError, "^Got None, which is not tabular"),
        ([[1.0, np.nan], [1, 2]], DataError, "."),
        ([["a", "b"], ["c", "d"]], DataError, "."),
    ],
)
def test_what_is_no_matrix_or_too_large_is_refused(wrong, error, message):
    with pytest.raises(error, match=message):
        matrix_chart(wrong)


@pytest.mark.parametrize("title", [None, 3, ["a"]])
def test_a_title_is_a_text(title):
    with pytest.raises(TypeError, match=r"^title must be a text; got"):
        matrix_chart(np.eye(2), title=title)


def test_as_many_cells_as_are_allowed_are_drawn():
    (found,) = panels(matrix_chart(np.ones((MOST_CELLS // 100, 100))))
    assert found.size == MOST_CELLS


def test_the_same_matrix_gives_the_same_specification_and_its_last_bits_do_not_count():
    matrix = np.random.default_rng(0).normal(size=(5, 4))
    kept = matrix.copy()
    first = json.dumps(matrix_chart(matrix).to_dict())
    shaken = matrix * (1 + np.random.default_rng(1).uniform(-1e-13, 1e-13, matrix.shape))
    assert json.dumps(matrix_chart(shaken).to_dict()) == first
    assert not re.search(r"\b(param|view)_?\d+\b", first)
    assert np.array_equal(matrix, kept)
    with pd.option_context("display.precision", 1, "display.width", 10):
        assert json.dumps(matrix_chart(matrix).to_dict()) == first


def test_the_digest_has_the_numbers_to_four_digits():
    matrix = np.array([[1.23456, -1000.0], [1e-9, 7.0]])
    assert matrix_chart(matrix, title="T").digest.splitlines() == [
        "T", "2 × 2", "     x1    x2", "1 1.235 -1000", "2 1e-09     7",
    ]  # fmt: skip
