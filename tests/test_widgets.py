"""The explorer without a browser: settings, states, what is computed when, what it says and what it leaves behind."""

import json
import math
import re

import ipywidgets
import numpy as np
import pandas as pd
import pytest
import traitlets
from ipywidgets.widgets import widget as ipywidgets_registry

from dppca_nb import DataError, LoadingExplorer, datasets
from dppca_nb.core import teaching
from dppca_nb.core.align import subspace_angles
from dppca_nb.core.privacy import Budget, make_guarantee
from dppca_nb.widgets import loading_frame as loading_widget
from dppca_nb.widgets import view as view_module
from dppca_nb.widgets.frame import EPSILONS
from dppca_nb.widgets.view import SettingError
from dppca_nb.widgets.words import CODE, END

LAYOUT = "340|1.1"
ROWS = np.random.default_rng(9).normal(size=(300, 4)) @ np.diag([3, 2, 1, 0.5])
DATA = pd.DataFrame(ROWS, columns=list("wxyz"))


def instances():
    return len(ipywidgets_registry._instances)


@pytest.fixture
def make():
    """Make explorers that are closed afterwards."""
    made = []

    def build(data=DATA, **settings):
        explorer = LoadingExplorer(data, **settings)
        explorer._layouts = [LAYOUT]
        made.append(explorer)
        return explorer

    yield build
    for explorer in made:
        explorer.close()


@pytest.fixture
def counted(monkeypatch):
    """How often noise and the exact matrix were computed."""
    calls = {"spherical_kendall": 0, "standard_noise": 0, "reference_directions": 0}
    for name in calls:
        original = getattr(teaching, name)

        def wrapped(*args, _name=name, _original=original, **kwargs):
            calls[_name] += 1
            return _original(*args, **kwargs)

        monkeypatch.setattr(teaching, name, wrapped)
    return calls


def frame_rows(explorer, role=None):
    (rows,) = map(json.loads, explorer._frame["rows"].values())
    return [r for r in rows if role is None or r["role"] == role]


def picture(explorer):
    """All that is shown but an error."""
    return {name: part for name, part in explorer._frame.items() if name not in {"error", "slow"}}


def said(explorer):
    """The words of the picture as one text."""
    return json.dumps(explorer._frame["words"], ensure_ascii=False)


# ----- settings -----

BAD = [
    ("epsilon", 0, "^epsilon must be a finite number above 0; got 0"),
    ("epsilon", -1, "^epsilon must be a finite number above 0; got -1"),
    ("epsilon", float("nan"), "^epsilon must be .*; got nan"),
    ("epsilon", float("inf"), "^epsilon must be .*; got inf"),
    ("epsilon", "1", "^epsilon must be .*; got '1'"),
    ("epsilon", True, "^epsilon must be .*; got True"),
    ("epsilon", [1.0], "^epsilon must be"),
    ("epsilon", 1j, "^epsilon must be"),
    ("epsilon", None, "^epsilon must be .*; got None"),
    ("delta", 0, "^delta must be a number above 0 and below 1; got 0"),
    ("delta", 1, "^delta must be a number above 0 and below 1; got 1"),
    ("delta", float("nan"), "^delta must be .*; got nan"),
    ("delta", "1e-5", "^delta must be .*; got '1e-5'"),
    ("delta", None, "^delta must be .*; got None"),
    ("calibration", "exact", '^calibration must be "classical" or "analytic"; got \'exact\''),
    ("calibration", None, "^calibration must be .*; got None"),
    ("draw", -1, "^draw must be a whole number from 0; got -1"),
    ("draw", 1.0, "^draw must be a whole number from 0; got 1.0"),
    ("draw", True, "^draw must be a whole number from 0; got True"),
    ("draw", None, "^draw must be a whole number from 0; got None"),
    ("kind", "bar", "^kind must be one of 'vector', 'point', 'heatmap'; got 'bar'"),
    ("kind", ["vector"], "^kind must be one of"),
    ("kind", None, "^kind must be one of .*; got None"),
    ("components", (1, 5), "^components must be between 1 and 4; got 5"),
    ("components", (0, 1), "^components must be between 1 and 4; got 0"),
    ("components", (2, 2), r"^components must differ from each other; got \(2, 2\)"),
    ("components", (1, 2, 3), "^components must be two numbers"),
    ("components", 1, "^components must be component numbers"),
    ("components", (1, 2.0), "^components must be whole numbers"),
    ("components", None, "^components must be .*; got None"),
    ("variables", 0, "^variables must be at least 1; got 0"),
    ("variables", "w", r"^variables must be .* For one variable write \['w'\]"),
    ("variables", ["nope"], "^variables names 'nope'"),
    ("variables", [5], "^variables must hold positions between 1 and 4; got 5"),
    ("variables", ["w", "w"], "^variables names 'w' more than once"),
    ("variables", {"w": 1}, "^variables must be a number"),
    ("variables", None, "^variables must be .*; got None"),
    ("labels", "no", "^labels must be True or False; got 'no'"),
    ("labels", 1, "^labels must be True or False; got 1"),
    ("labels", None, "^labels must be True or False; got None"),
    ("show_reference", "above", "^show_reference must be one of 'off', 'beside', 'underneath'; got 'above'"),
    ("show_reference", 1, "^show_reference must be one of .*; got 1"),
    ("show_reference", None, "^show_reference must be one of .*; got None"),
]


@pytest.fixture(scope="module")
def lasting():
    explorer = LoadingExplorer(DATA)
    explorer._layouts = [LAYOUT]
    yield explorer
    explorer.close()


@pytest.mark.parametrize(("name", "value", "message"), BAD)
def test_a_setting_that_cannot_be_taken_is_refused_and_said_and_changes_nothing(lasting, name, value, message):
    before, shown, told = getattr(lasting, name), picture(lasting), repr(lasting)
    try:
        with pytest.raises(SettingError, match=message) as caught:
            setattr(lasting, name, value)
        assert isinstance(caught.value, ValueError)
        assert isinstance(caught.value, traitlets.TraitError)
        assert getattr(lasting, name) == before
        assert picture(lasting) == shown
        assert lasting._frame["error"] == str(caught.value)
        assert repr(lasting) == told
    finally:
        setattr(lasting, name, before)  # a valid change, even to the same value, takes the complaint away
    assert "error" not in lasting._frame


@pytest.mark.parametrize(("name", "value", "message"), BAD[::3])
def test_a_bad_setting_is_refused_at_construction_and_leaves_no_widget(name, value, message):
    before = instances()
    with pytest.raises(SettingError, match=message):
        LoadingExplorer(DATA, **{name: value})
    assert instances() == before


def test_a_complaint_is_taken_away_by_the_next_valid_change(make):
    explorer = make()
    with pytest.raises(SettingError):
        explorer.epsilon = -1
    explorer.kind = "point"
    assert "error" not in explorer._frame
    assert explorer._frame["controls"]["kind"] == "point"


def test_a_bad_value_from_the_browser_is_said_in_the_view(make):
    explorer = make()
    shown = picture(explorer)
    explorer.set_state({"components": [2, 2]})
    assert explorer.components == (1, 2)
    assert picture(explorer) == shown
    assert "components must differ" in explorer._frame.get("error", "")


def test_a_message_from_the_browser_changes_settings_as_an_assignment_does(make):
    one, other = make(), make()
    one.set_state({"epsilon": 5, "components": [3, 1], "variables": ["w", "z"], "kind": "point"})
    other.epsilon, other.components, other.variables, other.kind = 5, (3, 1), ["w", "z"], "point"
    assert repr(one) == repr(other)
    assert frame_rows(one, "private-point") == frame_rows(other, "private-point")  # labels remember their path
    assert one._frame["controls"] == other._frame["controls"]


def test_an_unknown_setting_is_refused_with_the_ones_there_are():
    before = instances()
    with pytest.raises(TypeError, match=r"^colour is no setting; there are epsilon, delta, calibration"):
        LoadingExplorer(DATA, colour="red")
    assert instances() == before


@pytest.mark.parametrize("seed", ["x", -1, None, 1.5, True])
def test_a_bad_seed_is_refused_by_name_and_leaves_no_widget(seed):
    before = instances()
    with pytest.raises((TypeError, ValueError), match=r"^seed must be"):
        LoadingExplorer(DATA, seed=seed)
    assert instances() == before


def test_a_bad_treatment_of_equal_rows_is_refused_by_name():
    with pytest.raises(ValueError, match=r"^coincident must be one of 'zero', 'raise'; got 'drop'"):
        LoadingExplorer(DATA, coincident="drop")


def test_numpy_values_and_lists_are_kept_as_plain_python(make):
    explorer = make()
    explorer.epsilon, explorer.draw, explorer.variables = np.float64(2), np.int64(3), np.array([1, 3])
    explorer.components, explorer.labels = np.array([2, 3]), np.bool_(False)
    kept = (explorer.epsilon, explorer.draw, explorer.variables, explorer.components, explorer.labels)
    assert kept == (2.0, 3, (1, 3), (2, 3), False)
    assert [type(v) for v in kept] == [float, int, tuple, tuple, bool]
    assert [type(v) for v in kept[2]] == [int, int]
    json.dumps({name: getattr(explorer, name) for name in explorer._settings})


def test_true_and_false_are_words_for_the_reference(make):
    explorer = make(show_reference=False)
    assert explorer.show_reference == "off"
    explorer.show_reference = True
    assert explorer.show_reference == "beside"


def test_settings_at_construction_are_those_shown(make):
    explorer = make(
        epsilon=2, delta=1e-5, kind="heatmap", components=(3, 1), variables=["z", "w"], labels=False, draw=4
    )
    controls = explorer._frame["controls"]
    assert controls["epsilon"]["value"] == 2
    assert controls["delta"] == 1e-5
    assert controls["components"] == [3, 1]
    assert (controls["kind"], controls["shown"], controls["labels"], controls["draw"]) == ("heatmap", 2, False, 4)
    assert {r["variable"] for r in json.loads(explorer._frame["rows"][""])} == {"z", "w"}


def test_a_slider_of_ipywidgets_can_be_linked_both_ways(make):
    explorer = make()
    slider = ipywidgets.FloatLogSlider(value=1, base=10, min=-2, max=2)
    link = traitlets.link((slider, "value"), (explorer, "epsilon"))
    assert explorer.epsilon == 1
    slider.value = 3.0
    assert explorer.result.guarantee.epsilon == 3
    explorer.epsilon = 0.5
    assert slider.value == 0.5
    link.unlink()
    slider.close()


def test_it_stands_in_boxes_of_ipywidgets(make):
    explorer = make()
    box = ipywidgets.VBox([explorer, ipywidgets.Label("below")])
    assert box.children[0] is explorer
    box.close()


def test_several_changes_at_once_make_one_frame(make, monkeypatch):
    explorer, frames = make(), []
    explorer.observe(lambda change: frames.append(change["new"]), "_frame")
    with explorer.hold_trait_notifications():
        explorer.epsilon, explorer.components, explorer.kind = 3, (1, 3), "point"
    assert len(frames) == 1
    assert frames[0]["controls"]["components"] == [1, 3]


# ----- what is computed when -----


def test_sixty_changes_of_the_budget_compute_the_exact_matrix_once_and_draw_once(make, counted):
    explorer = make()
    for epsilon in np.geomspace(0.01, 100, 60):
        explorer.epsilon = float(epsilon)
    assert counted == {"spherical_kendall": 1, "standard_noise": 1, "reference_directions": 1}
    assert explorer.result.guarantee.epsilon == 100


def test_no_change_of_the_view_draws_noise_or_changes_a_number(make, counted):
    explorer = make()
    first = explorer.result.noisy_kendall.copy()
    explorer.components = (1, 3)
    explorer.components = (3, 1)
    explorer.labels = False
    explorer.kind = "heatmap"
    explorer.kind = "point"
    explorer.variables = 2
    explorer.variables = ["w", "x"]
    explorer.show_reference = "underneath"
    explorer.show_reference = "off"
    explorer._layouts = [LAYOUT, "200|1.3"]
    explorer._layouts = [LAYOUT]
    explorer._repr_mimebundle_()
    _ = explorer.chart, explorer.loadings, repr(explorer)
    explorer.epsilon = 5
    explorer.epsilon = 0.5
    assert counted["standard_noise"] == counted["spherical_kendall"] == 1
    pd.testing.assert_frame_equal(explorer.result.noisy_kendall, first, check_exact=True)


def test_one_new_draw_is_one_draw(make, counted):
    explorer = make()
    first = explorer.loadings
    explorer.new_draw()
    assert explorer.draw == 1
    assert counted["standard_noise"] == 2
    assert not np.allclose(explorer.loadings, first)
    explorer.draw = 0
    pd.testing.assert_frame_equal(explorer.loadings.abs(), first.abs(), check_exact=True)


def test_back_to_the_same_budget_gives_the_same_loadings_with_the_same_signs(make):
    explorer = make()
    first = explorer.loadings
    for epsilon in (0.6, 0.8, 1, 0.8, 0.6, 0.5):
        explorer.epsilon = epsilon
    pd.testing.assert_frame_equal(explorer.loadings, first, check_exact=True)


def test_a_change_to_the_value_there_is_computes_nothing(make, monkeypatch):
    explorer = make()
    calls = []
    original = LoadingExplorer._make_frame
    monkeypatch.setattr(
        LoadingExplorer, "_make_frame", lambda self, layouts: calls.append(1) or original(self, layouts)
    )
    explorer.epsilon = 0.5
    explorer.components = [1, 2]
    explorer.variables = 10
    explorer._layouts = [LAYOUT]
    explorer._dragging = True
    assert calls == []
    explorer.epsilon = 0.6
    assert calls == [1]


def test_signs_and_order_are_continuous_along_a_path_of_budgets(make):
    explorer = make(epsilon=4.0, delta=1e-5, seed=1)
    before = explorer.loadings.to_numpy()
    for epsilon in (4.1, 4.2, 4.3):
        explorer.epsilon = epsilon
        after = explorer.loadings.to_numpy()
        assert (np.sum(before * after, axis=0) > 0.999).all()
        before = after


@pytest.mark.parametrize("draw", range(4))
def test_no_arrow_is_mirrored_under_a_slider_whatever_the_noise(make, draw):
    explorer = make(draw=draw)
    explorer.epsilon = EPSILONS[0]
    before = explorer.loadings.to_numpy()
    for epsilon in EPSILONS[1:]:
        explorer.epsilon = epsilon
        after = explorer.loadings.to_numpy()
        assert (np.sum(before * after, axis=0) >= 0).all()
        before = after


def test_the_release_shown_is_what_it_says(make):
    explorer = make(epsilon=2, calibration="analytic")
    release = explorer.result
    assert release.guarantee.sigma == make_guarantee(Budget(2, 1e-6), 300, "analytic").sigma
    V = release.loadings.to_numpy()
    M = release.noisy_kendall.to_numpy()
    assert np.allclose(M @ V, V * release.kendall_shares.to_numpy(), atol=1e-12)
    assert not release.guarantee.holds
    drawn = {r["variable"]: (r["x"], r["y"]) for r in frame_rows(explorer, "private-vector")}
    for name, row in release.loadings[["PC1", "PC2"]].iterrows():
        assert drawn[name] == tuple(row.round(4) + 0.0)


def test_the_chart_is_the_view_as_a_plain_chart(make):
    explorer = make(kind="point", components=(2, 4), variables=3, show_reference="underneath")
    spec = explorer.chart.to_dict()
    private = [r for r in spec["data"]["values"] if r["role"] == "private-point"]
    here = frame_rows(explorer, "private-point")
    key = ("variable", "x", "y")
    assert [[r[k] for k in key] for r in private] == [[r[k] for k in key] for r in here]
    assert spec["title"]["text"] == explorer._frame["words"]["ttl"]


def test_swapped_components_swap_the_axes(make):
    explorer = make(components=(1, 2))
    first = {r["variable"]: (r["x"], r["y"]) for r in frame_rows(explorer, "private-vector")}
    explorer.components = (2, 1)
    swapped = {r["variable"]: (r["y"], r["x"]) for r in frame_rows(explorer, "private-vector")}
    assert first == swapped
    assert explorer._frame["words"]["ax"] == "PC2"


def test_a_layout_only_adds_rows_and_the_numbers_stay(make):
    explorer = make()
    first = frame_rows(explorer, "hit")
    explorer._layouts = [LAYOUT, "200|1.4"]
    assert set(explorer._frame["rows"]) == {LAYOUT, "200|1.4"}
    for rows in map(json.loads, explorer._frame["rows"].values()):
        assert [r for r in rows if r["role"] == "hit"] == first


def test_a_layout_that_makes_no_sense_is_said_and_survived(make):
    explorer = make()
    explorer._layouts = ["wide"]
    assert "error" in explorer._frame
    explorer._layouts = [LAYOUT]
    explorer.epsilon = 2
    assert "error" not in explorer._frame
    assert explorer._frame["controls"]["epsilon"]["value"] == 2


# ----- failures -----


def test_a_failure_while_drawing_is_said_and_the_explorer_goes_on(make, monkeypatch):
    explorer = make()
    shown = picture(explorer)

    def fail(*args, **kwargs):
        raise RuntimeError("the machine is tired")

    monkeypatch.setattr(loading_widget, "make_picture", fail)
    explorer.epsilon = 2
    assert explorer._frame["error"] == "RuntimeError: the machine is tired"
    assert picture(explorer) == shown
    monkeypatch.undo()
    explorer.epsilon = 3
    assert "error" not in explorer._frame
    assert explorer._frame["controls"]["epsilon"]["value"] == 3


def test_after_a_failure_the_same_setting_can_be_tried_again(make, monkeypatch):
    explorer = make()
    monkeypatch.setattr(loading_widget, "make_picture", lambda *a, **k: 1 / 0)
    explorer.epsilon = 2
    monkeypatch.undo()
    explorer.epsilon = 3
    explorer.epsilon = 2
    assert "error" not in explorer._frame


def test_two_settings_that_do_not_go_together_are_said(make):
    explorer = make()
    explorer.delta = 1e-300
    explorer.epsilon = 0.5
    assert "error" not in explorer._frame
    assert math.isfinite(explorer.result.guarantee.sigma)


# ----- data that cannot be drawn -----

HOPELESS = {
    "empty": (pd.DataFrame(), "at least 2 rows and 1 column"),
    "one column": (pd.DataFrame({"x": [1.0, 2, 4]}), "1 numeric column; a pair of components needs at least 2"),
    "one number column": (pd.DataFrame({"x": [1.0, 2], "t": ["a", "b"]}), "1 numeric column"),
    "text only": (pd.DataFrame({"t": ["a", "b"]}), "No numeric column is left"),
    "missing": (pd.DataFrame({"h": [1, np.nan, 3], "w": [1, 2, 3]}), "h: 1 missing value"),
    "infinite": (pd.DataFrame({"h": [1, -np.inf, 3], "w": [1, 2, 3]}), "h: 1 infinite value"),
    "one row": (pd.DataFrame({"a": [1.0], "b": [2.0]}), "at least 2 rows"),
    "filtered to nothing": (DATA.iloc[:0], "at least 2 rows"),
    "a path": ("data.csv", "read the file first"),
    "nothing": (None, "not tabular"),
    "a number": (5, "not tabular"),
}


@pytest.mark.parametrize("case", HOPELESS)
def test_data_that_cannot_be_drawn_are_explained_and_raise_only_when_asked_for(make, case):
    data, words = HOPELESS[case]
    explorer = make(data)
    assert any(words in sentence for sentence in explorer._frame["empty"])
    assert "rows" not in explorer._frame
    for name in ("result", "loadings", "chart"):
        with pytest.raises(DataError, match=re.escape(words)):
            getattr(explorer, name)
    assert words in repr(explorer)
    assert "nothing to draw" in repr(explorer)
    bundle, _ = explorer._repr_mimebundle_()
    assert "image/png" not in bundle
    assert words in bundle["text/plain"]


@pytest.mark.parametrize("case", ["empty", "one column"])
def test_an_explorer_with_nothing_to_draw_still_takes_settings_and_refuses_bad_ones(make, case):
    explorer = make(HOPELESS[case][0], components=(3, 4), variables=["anything"])
    explorer.epsilon, explorer.kind = 3, "point"
    with pytest.raises(SettingError):
        explorer.epsilon = -1
    with pytest.raises(SettingError):
        explorer.kind = "bar"
    explorer.new_draw()
    assert explorer._frame["empty"]


def test_equal_rows_are_explained_where_they_are_refused_and_counted_where_not(make):
    twice = pd.concat([DATA.head(5), DATA.head(1)])
    refused = make(twice, coincident="raise")
    assert refused._frame["empty"]
    with pytest.raises(DataError):
        _ = refused.result
    counted = make(twice)
    assert any(re.match(r"1 pairs? of rows", note) for note in counted._frame["notes"])


def test_a_scale_that_does_not_fit_is_explained(make):
    explorer = make(scale=[1, 2])
    assert any("scale" in sentence for sentence in explorer._frame["empty"])


def test_scales_from_the_sample_void_the_guarantee_in_plain_sight(make):
    explorer = make(scale="sample")
    assert explorer._frame["void"]
    assert "Guarantee void" in said(explorer)
    assert explorer._frame["void"]
    assert explorer._frame["signals"]["warn"]
    plain = make()
    assert not plain._frame["void"]
    assert not plain._frame["signals"]["warn"]


@pytest.mark.parametrize("data", [np.zeros((5, 3)), np.full((4, 2), 3.5), np.eye(2)])
def test_a_table_without_variation_is_drawn_and_said(make, data):
    explorer = make(data)
    assert "error" not in explorer._frame
    assert explorer._frame["rows"]


def test_two_columns_offer_two_components(make):
    explorer = make(DATA[["w", "x"]])
    assert explorer._frame["controls"]["p"] == 2
    with pytest.raises(SettingError, match="between 1 and 2; got 3"):
        explorer.components = (1, 3)
    explorer.kind = "heatmap"
    assert {r["component"] for r in json.loads(explorer._frame["rows"][""])} == {"PC1", "PC2"}


def test_a_wide_table_shows_ten_variables_and_refuses_all(make):
    wide = pd.DataFrame(np.random.default_rng(0).normal(size=(20, 301)))
    explorer = make(wide)
    assert explorer._frame["controls"]["shown"] == 10
    with pytest.raises(SettingError, match="at most 300 variables"):
        explorer.variables = "all"


# ----- words -----


def test_columns_that_were_left_out_are_listed_with_the_reason(make):
    data = DATA.assign(when=pd.date_range("2024-01-01", periods=300), name="a")
    (note,) = [n for n in make(data)._frame["notes"] if "Left out" in n]
    assert f"{CODE}when{END} (" in note
    assert f"{CODE}name{END} (" in note


def test_columns_of_very_different_spread_are_hinted_at_and_nothing_is_scaled_unasked(make):
    rng = np.random.default_rng(2)
    data = pd.DataFrame(
        {"income_eur": rng.normal(3e4, 8e3, 80), "height_m": rng.normal(1.7, 0.1, 80), "share": rng.uniform(0, 1, 80)}
    )
    explorer = make(data, epsilon=1e4, delta=1e-2)
    (note,) = [n for n in explorer._frame["notes"] if "variances of the columns" in n]
    assert f"{CODE}income_eur{END}" in note
    assert "scale=" in note
    assert abs(explorer.result.reference.loc["income_eur", "PC1"]) > 0.999999
    scaled = make(data, scale={"income_eur": 8e3, "height_m": 0.1, "share": 0.3})
    assert not [n for n in scaled._frame["notes"] if "variances of the columns" in n]
    assert not [n for n in make()._frame["notes"] if "variances of the columns" in n]


def test_a_constant_column_is_not_taken_for_one_of_tiny_spread(make):
    data = DATA.assign(site=0.1)
    assert not [n for n in make(data)._frame["notes"] if "variances of the columns" in n]


def test_teaching_is_said_in_the_banner_the_title_the_subtitle_and_the_repr(make):
    explorer = make()
    assert "treated as public" in explorer._frame["banner"]
    assert not explorer._frame["words"]["ttl"].startswith("Private")
    assert "teaching, not a release" in said(explorer)
    assert "Guarantee void" not in said(explorer)
    assert repr(explorer).endswith("teaching)")
    assert explorer._frame["statement"]["text"].startswith("None is claimed while teaching")


def test_the_readout_gives_the_exact_budget_and_the_noise(make):
    assert make(epsilon=0.5)._frame["readout"].startswith("exact 0.26 · σ ")
    assert make(epsilon=5)._frame["readout"].startswith("exact 3.10 · σ ")
    assert make(calibration="analytic")._frame["readout"].startswith("exact · σ ")


def test_the_status_gives_angles_and_bewares_of_what_is_not_separated(make):
    explorer = make(epsilon=1e4)
    assert "well separated" in explorer._frame["status"]
    assert not explorer._frame["beware"]
    angle = float(re.search(r"Plane ([\d.]+)° from the reference", explorer._frame["status"])[1])
    V, R = explorer.loadings.to_numpy(), explorer.result.reference.to_numpy()
    assert angle == pytest.approx(subspace_angles(V, R, k=2)[0], abs=0.051)
    explorer.epsilon = 0.05
    assert explorer._frame["beware"]
    assert "not separated" in explorer._frame["status"]


def test_the_title_comes_from_the_data_unless_given(make):
    data = DATA.copy()
    data.attrs["title"] = "My measurements"
    assert make(data)._frame["title"] == "My measurements"
    assert make(data, title="Other")._frame["title"] == "Other"
    assert make()._frame["title"] == "Loading explorer"
    assert make(ROWS)._frame["title"] == "Loading explorer"


def test_the_repr_tells_every_setting_and_nothing_that_changes_between_runs(make):
    explorer = make(epsilon=2.5, kind="heatmap", components=(3, 1), variables=2)
    text = repr(explorer)
    for word in ("epsilon=2.5", "delta=1e-06", "classical", "draw 0", "heatmap", "PC3 × PC1", "2 of 4 variables"):
        assert word in text
    assert text == repr(make(epsilon=2.5, kind="heatmap", components=(3, 1), variables=2))
    assert "0x" not in text


def test_the_copied_code_makes_the_same_view(make):
    explorer = make(epsilon=2, kind="point", components=(3, 1), variables=["z", "w"], seed=4, scale=[3, 2, 1, 0.5])
    explorer.new_draw()
    again = eval(explorer._frame["code"], {"LoadingExplorer": LoadingExplorer, "data": DATA})
    again._layouts = [LAYOUT]
    assert repr(again) == repr(explorer)
    shown = frame_rows(explorer, "private-point")
    assert [abs(r["x"]) for r in frame_rows(again, "private-point")] == [abs(r["x"]) for r in shown]
    again.close()


def test_odd_names_are_values_in_the_frame_and_never_code(make):
    evil = "</script><script>window.pwned=1</script>"
    data = DATA.set_axis(["a.b", evil, 'it\'s [a] "test"', "blood\npressure"], axis=1)
    explorer = make(data)
    assert {r["variable"] for r in frame_rows(explorer, "hit")} == set(data.columns)
    assert {r["variable"] for r in explorer._frame["table"]["rows"]} == set(data.columns)
    assert evil not in json.dumps(explorer._specs)


# ----- what is synced -----


def state(explorer):
    return {name: value for name, value in explorer.get_state().items() if name not in {"_esm", "_css", "layout"}}


@pytest.mark.parametrize("kind", ["vector", "point", "heatmap"])
@pytest.mark.parametrize("reference", ["off", "beside", "underneath"])
def test_the_state_is_plain_json_without_nan_in_every_view(make, kind, reference):
    explorer = make(kind=kind, show_reference=reference)
    json.dumps(state(explorer), allow_nan=False)


@pytest.mark.parametrize("case", HOPELESS)
def test_the_state_is_plain_json_where_there_is_nothing_to_draw(make, case):
    json.dumps(state(make(HOPELESS[case][0])), allow_nan=False)


@pytest.mark.parametrize("epsilon", [1e-9, 0.05, 1, 1e3, 1e9])
@pytest.mark.parametrize("calibration", ["classical", "analytic"])
def test_the_state_is_plain_json_for_any_budget(make, epsilon, calibration):
    explorer = make(epsilon=epsilon, calibration=calibration)
    assert "error" not in explorer._frame
    json.dumps(state(explorer), allow_nan=False)


def test_neither_the_data_nor_the_exact_matrix_is_in_what_is_synced(make):
    explorer = make()
    text = json.dumps(state(explorer))
    numbers = set(re.findall(r"-?\d+\.\d{5,}", text))
    exact = explorer._mode.draws.kendall.matrix.to_numpy().ravel()
    for value in [*ROWS.ravel(), *exact, *explorer.result.noisy_kendall.to_numpy().ravel()]:
        assert f"{value:.5f}" not in text
        assert repr(float(value)) not in numbers
    assert str(ROWS[0, 0])[:8] not in text


def test_the_specifications_are_sent_once_and_are_the_same_for_every_explorer(make):
    one, other = make(), make(datasets.usarrests(), kind="heatmap")
    assert json.dumps(one._specs) == json.dumps(other._specs)
    seen = []
    one.observe(seen.append, "_specs")
    one.epsilon, one.kind, one.components = 3, "heatmap", (2, 3)
    assert seen == []


# ----- life cycle -----


def test_twenty_explorers_made_and_closed_leave_no_widget_behind():
    before = instances()
    for _ in range(20):
        LoadingExplorer(DATA).close()
    assert instances() == before


def test_closing_twice_does_no_harm_and_a_closed_explorer_reacts_no_more(make, counted):
    explorer = make()
    explorer.close()
    explorer.close()
    frame = explorer._frame
    explorer.draw = 5
    assert explorer._frame is frame
    assert counted["standard_noise"] == 1


def test_closing_takes_away_the_callers_observers(make):
    explorer, seen = make(), []
    explorer.observe(seen.append, "epsilon")
    explorer.close()
    explorer.epsilon = 3
    assert seen == []


def test_a_second_explorer_does_not_make_the_first_one_react(make):
    first, second = make(), make()
    frame = first._frame
    second.epsilon = 5
    assert first._frame is frame
    assert first.epsilon == 0.5


def test_a_cell_that_runs_again_closes_what_it_made_before_and_nothing_else(make, monkeypatch):
    monkeypatch.setattr(view_module, "_running_cell", lambda: ("cell-1", "run-1"))
    first, twin = make(), make()
    assert first.comm is not None
    assert twin.comm is not None  # two explorers of one run stay
    monkeypatch.setattr(view_module, "_running_cell", lambda: ("cell-2", "run-2"))
    elsewhere = make()
    monkeypatch.setattr(view_module, "_running_cell", lambda: ("cell-1", "run-3"))
    again = make()
    assert first.comm is None
    assert twin.comm is None
    assert elsewhere.comm is not None
    assert again.comm is not None


def test_outside_a_notebook_nothing_is_closed(make):
    assert view_module._running_cell() == (None, None)
    first = make()
    make()
    assert first.comm is not None


def test_dead_explorers_are_not_kept_alive_by_the_package():
    import gc
    import weakref

    explorer = LoadingExplorer(DATA)
    gone = weakref.ref(explorer)
    explorer.close()
    del explorer
    gc.collect()
    assert gone() is None, "something holds a closed explorer, and with it the data"


# ----- without a browser -----


@pytest.mark.parametrize("kind", ["vector", "heatmap"])
def test_a_saved_notebook_holds_a_picture_a_text_and_the_live_view(make, kind):
    explorer = make(kind=kind)
    bundle, metadata = explorer._repr_mimebundle_()
    assert bundle["image/png"].startswith(b"\x89PNG")
    assert bundle["text/plain"] == repr(explorer)
    assert bundle["application/vnd.jupyter.widget-view+json"]["model_id"] == explorer.model_id
    assert isinstance(metadata, dict)


def test_the_module_that_is_sent_is_complete_and_asks_for_nothing():
    source = LoadingExplorer._esm
    source = getattr(source, "_path", source)
    text = str(source)
    assert len(text) > 500_000
    assert not re.search(r"""import\s*\(?\s*["']https?:|from\s*["']https?:|cdn\.|esm\.sh""", text)


def test_a_missing_module_says_how_to_make_it(monkeypatch, tmp_path):
    monkeypatch.setattr(view_module, "STATIC", tmp_path)
    with pytest.raises(FileNotFoundError, match=r"x\.bundle\.js is missing: .*pip install -e \."):
        view_module.bundled("x.bundle.js")


def test_a_view_that_does_not_say_what_it_shows_says_so():
    with pytest.raises(NotImplementedError):
        view_module.LiveView._make_frame(None, [])
    with pytest.raises(NotImplementedError):
        view_module.LiveView._static_chart(None)


def test_a_hint_is_given_from_a_thousandfold_variance_on(make):
    hinted = lambda ratio: any(  # noqa: E731 (local, one line)
        "variances of the columns" in note
        for note in make(pd.DataFrame({"a": [0.0, ratio, 0, ratio], "b": [0.0, 1, 1, 0]}))._frame["notes"]
    )
    assert hinted(1001**0.5)
    assert not hinted(999**0.5)


def test_names_with_backquotes_and_stars_reach_the_notes_unharmed(make):
    data = DATA.assign(**{"le`f**t": "text"})
    (note,) = [n for n in make(data)._frame["notes"] if "Left out" in n]
    assert f"{CODE}le`f**t{END} (text)" in note


def test_a_control_character_in_a_name_is_drawn_as_a_mark_and_ends_no_process(make):
    data = DATA.rename(columns={"w": "a\x1b[31m", "x": "a\x00[31m", "y": "\ufffe"})
    explorer = make(data, variables="all")
    bundle, _ = explorer._repr_mimebundle_()
    assert bundle["image/png"].startswith(b"\x89PNG")
    names = [row["variable"] for row in explorer._frame["table"]["rows"]]
    assert len(set(names)) == 4
    assert "\x1b" not in json.dumps(explorer._frame, ensure_ascii=False)


def test_copied_code_names_scales_that_came_as_a_series_in_any_order(make):
    scale = pd.Series({"z": 1.0, "y": 2.0, "x": 3.0, "w": 100.0})
    explorer = make(scale=scale)
    again = eval(explorer._frame["code"], {"LoadingExplorer": LoadingExplorer, "data": DATA})
    pd.testing.assert_frame_equal(again.loadings, explorer.loadings)
    again.close()


def test_changing_what_was_handed_out_changes_no_later_picture(make):
    one, other = make(), make()
    one.loadings.iloc[:, 0] *= -1
    one.epsilon = other.epsilon = 2
    pd.testing.assert_frame_equal(one.loadings, other.loadings)


def test_a_closed_explorer_still_shows_its_picture_as_text_and_png(make):
    explorer = make()
    explorer.close()
    bundle, _ = explorer._repr_mimebundle_()
    assert bundle["image/png"].startswith(b"\x89PNG")
    assert bundle["text/plain"].startswith("LoadingExplorer(")


def test_the_users_altair_theme_and_transformer_do_not_reach_the_explorer():
    import altair as alt

    from dppca_nb.charts.loading import live_spec

    plain = live_spec("vector", 2)

    @alt.theme.register("loud", enable=False)
    def loud():
        return {"config": {"rule": {"strokeWidth": 9}}}

    with alt.theme.enable("loud"):
        assert live_spec("vector", 2) == plain


def test_settings_are_refused_before_the_data_are_read():
    class Untouchable:
        def __array__(self, *args, **kwargs):
            raise AssertionError("the data were read")

    for setting in ({"epsilon": -1}, {"delta": 2}, {"calibration": "x"}, {"coincident": "x"}, {"seed": -1}):
        with pytest.raises(ValueError, match=next(iter(setting))):
            LoadingExplorer(Untouchable(), **setting)


def test_a_tie_with_a_third_component_is_said_even_where_the_pair_is_tied(make):
    status = make(np.vstack([np.eye(3), -np.eye(3)]), epsilon=1e6)._frame["status"]
    assert "PC1 and PC2 are not separated" in status
    assert "another draw may show another plane" in status
    assert "Read the plane" not in status
