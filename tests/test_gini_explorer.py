"""The explorer of Gini components without a browser: settings, numbers, the outlier, words, what it leaves."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from ipywidgets.widgets import widget as registry

from dppca_nb import DataError, GiniExplorer, datasets, gini_pca, pca
from dppca_nb.core.align import subspace_angles
from dppca_nb.widgets import gini as gini_widget
from dppca_nb.widgets.gini_settings import KINDS
from dppca_nb.widgets.view import SettingError

LAYOUT = "340|1.1"
CARS = datasets.cars2004()


@pytest.fixture
def make():
    """Make explorers that are closed afterwards."""
    made = []

    def build(data=CARS, **settings):
        explorer = GiniExplorer(data, **settings)
        explorer._layouts = [LAYOUT]
        made.append(explorer)
        return explorer

    yield build
    for explorer in made:
        explorer.close()


def rows_of(explorer, role, panel=None):
    (rows,) = map(json.loads, explorer._frame["rows"].values())
    return [row for row in rows if row["role"] == role and panel in (None, row["panel"])]


BAD = [
    ("nu", 0, "^nu must be a positive, finite number; got 0"),
    ("nu", "2", "^nu must be a positive, finite number; got '2'"),
    ("nu", True, "^nu must be"),
    ("nu", float("nan"), "^nu must be"),
    ("row", 24, "^row must be between 0 and 23.*; got 24"),
    ("row", -1, "^row must be a whole number from 0; got -1"),
    ("theta", 0.5, "^theta must be a number of magnitude 1 to 1e.06; got 0.5"),
    ("theta", None, "^theta must be"),
    ("kind", "heatmap", "^kind must be one of 'scores', 'vector', 'circle'"),
    ("components", (1, 7), "^components must be between 1 and 6; got 7"),
    ("variables", ["nope"], "^variables names 'nope'"),
    ("labels", 1, "^labels must be True or False; got 1"),
    ("show_reference", "left", "^show_reference must be one of"),
]


@pytest.mark.parametrize(("name", "value", "message"), BAD, ids=lambda part: str(part)[:20])
def test_a_bad_setting_is_refused_and_changes_nothing(make, name, value, message):
    explorer = make()
    before = {part: text for part, text in explorer._frame.items() if part not in ("error", "slow")}
    with pytest.raises(SettingError, match=message):
        setattr(explorer, name, value)
    assert re.search(message, explorer._frame["error"])
    assert {part: text for part, text in explorer._frame.items() if part not in ("error", "slow")} == before
    with pytest.raises(SettingError, match=message):
        GiniExplorer(CARS, **{name: value})


@pytest.mark.parametrize("nu", [0.5, 1, 1.05, 1.4, 2, 4, 20])
def test_the_numbers_are_those_of_gini_pca_and_of_scaled_variances(make, nu):
    explorer = make(nu=nu)
    wanted = gini_pca(CARS, nu=nu)
    pd.testing.assert_frame_equal(explorer.result.directions, wanted.directions)
    pd.testing.assert_frame_equal(explorer.result.scores, wanted.scores)
    pd.testing.assert_frame_equal(explorer.ordinary.directions, pca(CARS, scale=True).directions)
    drawn = np.array([[dot["x"], dot["y"]] for dot in rows_of(explorer, "dot", 0)])
    assert drawn == pytest.approx(wanted.scores.iloc[:, :2].to_numpy(), abs=1e-3)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("place", ["off", "beside", "underneath"])
def test_every_kind_is_a_picture_and_a_plain_chart(make, kind, place):
    explorer = make(nu=4, kind=kind, show_reference=place)
    assert "error" not in explorer._frame
    spec, plain = explorer._specs[explorer._frame["spec"]], explorer.chart.to_dict()
    marks = [[layer["mark"]["type"] for layer in one["spec"]["layer"]] for one in (spec, plain)]
    assert marks[0] == marks[1]
    assert explorer._repr_mimebundle_()[0]["image/png"].startswith(b"\x89PNG")
    json.dumps(explorer._frame, allow_nan=False)


def test_axes_do_not_flip_while_the_parameter_moves(make):
    explorer = make()
    before = explorer.result.directions
    for nu in (1.05, 1.2, 1.5, 2, 3, 5, 8, 12, 20, 3, 1.05):
        explorer.nu = nu
        now = explorer.result
        assert ((before * now.directions).sum() >= 0).all()
        np.testing.assert_allclose(now.standardized.to_numpy() @ now.directions.to_numpy(), now.scores, atol=1e-12)
        before = now.directions


def test_an_outlier_is_made_of_one_row_and_said_and_the_data_stay(make):
    frame = CARS.copy(deep=True)
    explorer = make(frame, row=3, theta=10)
    spoiled = CARS.copy()
    spoiled.iloc[3] *= 10
    pd.testing.assert_frame_equal(explorer.result.gc, gini_pca(spoiled).gc)
    pd.testing.assert_frame_equal(frame, CARS)
    assert "Contaminated" in explorer._frame["banner"]
    assert "Nissan Micra" in explorer._frame["banner"]
    turned = [
        subspace_angles(method(CARS).directions, method(spoiled).directions, 2)[0]
        for method in (gini_pca, lambda rows: pca(rows, scale=True))
    ]
    assert f"turned it by {turned[0]:.1f}° for Gini and by {turned[1]:.1f}° for variances" in explorer._frame["status"]
    explorer.theta = 1
    assert "Contaminated" not in explorer._frame["banner"]
    pd.testing.assert_frame_equal(explorer.result.gc, gini_pca(CARS).gc)


def test_only_what_a_setting_changes_is_computed(make, monkeypatch):
    calls = []
    original = gini_widget.gini_pca
    monkeypatch.setattr(gini_widget, "gini_pca", lambda *args, **kw: (calls.append(kw), original(*args, **kw))[1])
    explorer = make(nu=3)
    for kind in KINDS:
        explorer.kind = kind
    explorer.components = (2, 3)
    explorer.row = 5  # multiplied by 1: the same table
    assert len(calls) == 1
    explorer.theta = 10  # the table without the outlier, and with it
    assert len(calls) == 3
    explorer.theta = 20
    assert len(calls) == 4
    explorer.nu = 4
    assert len(calls) == 6


def test_the_circle_is_tested_when_nothing_is_held(make):
    explorer = make(nu=4, kind="circle")
    tested = [line for each in explorer._frame["words"]["subtitles"] for line in each["lines"] if "significant" in line]
    assert tested
    explorer._dragging = True
    explorer.nu = 5
    assert "significant" not in json.dumps(explorer._frame["words"])
    explorer._dragging = False
    assert "significant" in json.dumps(explorer._frame["words"])


def test_the_table_has_eigenvalues_and_says_what_is_negative(make):
    table = make(nu=4)._frame["table"]
    assert [row["variance"] for row in table["rows"]] == pytest.approx(gini_pca(CARS, nu=4).eigenvalues.tolist())
    assert table["rows"][-1]["hint"] == "negative"
    assert table["rows"][-1]["percent"] == "−0.3 %"
    assert table["value"] == "Eigenvalue"


def test_a_constant_column_is_explained(make):
    explorer = make(CARS.assign(site=1.0))
    assert "site" in explorer._frame["empty"][0]
    assert "rows" not in explorer._frame
    assert explorer._frame["controls"]["settings"]["nu"] == 2  # at hand: other settings may help
    assert "site" in repr(explorer)
    with pytest.raises(DataError, match="site"):
        _ = explorer.result


@pytest.mark.parametrize("data", [{"a": [1, 2, 3]}, {"a": [1, None, 2], "b": [1, 2, 3]}, [[1, 2]], "cars.csv"], ids=str)
def test_data_that_cannot_be_drawn_are_explained(make, data):
    assert make(data)._frame["empty"]


def test_a_long_table_names_its_outlier_by_position(make):
    rows = np.random.default_rng(0).normal(size=(3000, 3))
    explorer = make(rows, row=2999, theta=100)
    assert len(explorer._frame["controls"]["rows"]) == 300
    assert explorer._frame["controls"]["n"] == 3000
    assert "2999" in explorer._frame["banner"]


def test_copied_code_makes_the_same_view_again(make):
    explorer = make(title="Mine", nu=6, row=2, theta=5, kind="vector", components=(2, 3), show_reference="underneath")
    again = eval(explorer._frame["code"], {"GiniExplorer": GiniExplorer, "data": CARS})
    again._layouts = [LAYOUT]
    assert repr(again) == repr(explorer)
    assert again._frame["rows"] == explorer._frame["rows"]
    again.close()


def test_closing_leaves_nothing():
    before = len(registry._instances)
    explorer = GiniExplorer(CARS)
    explorer.close()
    assert len(registry._instances) == before


def test_a_setting_that_spoils_the_first_picture_can_be_taken_back(make):
    explorer = make(nu=1e6)
    assert "Speed" in explorer._frame["empty"][0]
    assert explorer._frame["controls"]["settings"]["nu"] == 1e6
    explorer.nu = 4
    assert "empty" not in explorer._frame
    assert "PC1" in repr(explorer)


def test_controls_follow_the_settings_beside_a_picture_that_was_kept(make):
    explorer = make({"x": [1.0, 2, 3, 5], "y": [2.0, 4, 6, 10]}, kind="contributions", show_reference="off")
    rows = explorer._frame["rows"]
    explorer.components = (2, 1)
    assert "PC2" in explorer._frame["error"]
    assert explorer._frame["controls"]["settings"]["components"] == (2, 1)
    assert explorer._frame["rows"] == rows
    assert "image/png" not in explorer._repr_mimebundle_()[0]
    explorer.components = (1, 2)
    assert "error" not in explorer._frame


def test_a_row_beyond_float64_is_explained_by_its_factor(make):
    explorer = make(CARS / CARS.max() * 1e305, theta=10)
    explorer.theta = 1e6
    assert "Row 0 times 1e+06 leaves the range of float64" in explorer._frame["error"]


COLLINEAR = {"x": [1.0, 2, 3, 5], "y": [2.0, 4, 6, 10]}
FEW = {"x": [1.0, 2], "y": [5.0, 4], "z": [0, 9]}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("data", [COLLINEAR, FEW], ids=["collinear", "two rows"])
def test_axes_without_scores_are_drawn_without_a_gap(make, data, kind):
    explorer = make(data, kind=kind)
    assert "error" not in explorer._frame
    json.dumps([explorer._frame, *map(json.loads, explorer._frame["rows"].values())], allow_nan=False)
    if kind == "circle":
        assert "PC2 without scores: drawn as 0" in " ".join(explorer._frame["words"]["subtitles"][0]["lines"])


def test_a_circle_that_cannot_be_tested_is_drawn_and_says_so(make):
    explorer = make({"x": [0, 0, 0, 0, 1], "y": [5, 4, 9, 1, 2], "z": [1, 2, 3, 4, 5]}, kind="circle")
    assert "error" not in explorer._frame
    assert explorer._frame["notes"][-1].startswith("Not tested. Constant but for one row: x.")
    explorer.kind = "vector"
    assert "Not tested" not in str(explorer._frame["notes"])
    assert make(nu=1000, kind="circle")._frame["notes"][-1].startswith("Not tested. nu=1000 is too large")


def test_correlations_of_more_variables_than_a_picture_holds_are_refused_and_the_view_goes_on(make):
    rows = np.random.default_rng(0).normal(size=(80, 61))
    explorer = make(rows, kind="shares")
    with pytest.raises(SettingError, match="at most 60 variables; got 61"):
        explorer.kind = "correlations"
    assert explorer.kind == "shares"
    explorer.nu = 4
    assert "error" not in explorer._frame
    assert make(rows[:, :60], kind="correlations")._frame["spec"] == "heatmap"
