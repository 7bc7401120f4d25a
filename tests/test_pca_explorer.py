"""The explorer of ordinary components without a browser: settings, states, numbers shown, words, what it leaves."""

import json
import re

import ipywidgets
import numpy as np
import pandas as pd
import pytest
from ipywidgets.widgets import widget as registry

from dppca_nb import DataError, PCAExplorer, datasets, pca
from dppca_nb.widgets import pca as pca_widget
from dppca_nb.widgets.pca_settings import KINDS
from dppca_nb.widgets.view import SettingError

LAYOUT = "340|1.1"
IRIS = datasets.iris()
NUMBERS = IRIS.select_dtypes("number")
SPREAD = pd.DataFrame(np.random.default_rng(2).normal(size=(60, 4)) * [1, 2, 3, 400] + 7, columns=list("wxyz"))


@pytest.fixture
def make():
    """Make explorers that are closed afterwards."""
    made = []

    def build(data=IRIS, **settings):
        explorer = PCAExplorer(data, **settings)
        explorer._layouts = [LAYOUT]
        made.append(explorer)
        return explorer

    yield build
    for explorer in made:
        explorer.close()


def rows_of(explorer, role):
    (rows,) = map(json.loads, explorer._frame["rows"].values())
    return [row for row in rows if row["role"] == role]


def subtitle(explorer):
    return " · ".join(explorer._frame["words"]["subtitles"][0]["lines"])


# ----- settings -----

BAD = [
    ("method", "qr", '^method must be "svd", "eigen" or "prcomp"; got \'qr\''),
    ("method", None, "^method must be .*; got None"),
    ("center", 1, "^center must be True or False; got 1"),
    ("center", None, "^center must be True or False; got None"),
    ("scale", "yes", "^scale must be True or False; got 'yes'"),
    ("ddof", 2, "^ddof must be 0 .*; got 2"),
    ("ddof", True, "^ddof must be 0 .*; got True"),
    ("ddof", "1", "^ddof must be 0 .*; got '1'"),
    ("kind", "point", "^kind must be one of 'scores', 'vector', 'heatmap', 'shares', 'variances'; got 'point'"),
    ("kind", None, "^kind must be one of"),
    ("components", (1, 5), "^components must be between 1 and 4; got 5"),
    ("components", (1, 1), "^components must differ"),
    ("components", None, "^components must be"),
    ("color", "species", "^color must be one of 'off', 'row mean', 'Species'; got 'species'"),
    ("color", None, "^color must be one of"),
    ("variables", 0, "^variables must be at least 1; got 0"),
    ("variables", ["nope"], "^variables names 'nope'"),
    ("labels", 1, "^labels must be True or False; got 1"),
]


@pytest.mark.parametrize(("name", "value", "message"), BAD, ids=lambda part: str(part)[:20])
def test_a_bad_setting_is_refused_said_in_the_view_and_changes_nothing(make, name, value, message):
    explorer = make()
    before = {part: text for part, text in explorer._frame.items() if part not in ("error", "slow")}
    with pytest.raises(SettingError, match=message):
        setattr(explorer, name, value)
    assert re.search(message, explorer._frame["error"])
    assert {part: text for part, text in explorer._frame.items() if part not in ("error", "slow")} == before
    explorer.kind = "shares"
    assert "error" not in explorer._frame


@pytest.mark.parametrize(("name", "value", "message"), [b for b in BAD if b[1] is not None or b[0] != "color"], ids=str)
def test_a_bad_setting_is_refused_at_once(name, value, message):
    with pytest.raises(SettingError, match=message):
        PCAExplorer(IRIS, **{name: value})


def test_a_word_that_is_no_setting_is_named():
    with pytest.raises(TypeError, match=r"^epsilon is no setting; there are method, center"):
        PCAExplorer(IRIS, epsilon=1)


def test_settings_are_refused_before_the_data_are_read():
    class Unreadable:
        def __array__(self):
            raise AssertionError("read")

    with pytest.raises(SettingError, match="method"):
        PCAExplorer(Unreadable(), method="qr")


# ----- numbers -----


@pytest.mark.parametrize("method", ["svd", "eigen", "prcomp"])
@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("scale", [True, False])
@pytest.mark.parametrize("ddof", [None, 0, 1])
def test_the_numbers_are_those_of_pca(make, method, center, scale, ddof):
    explorer = make(SPREAD, method=method, center=center, scale=scale, ddof=ddof)
    wanted = pca(SPREAD, method=method, center=center, scale=scale, ddof=ddof)
    pd.testing.assert_frame_equal(explorer.result.directions, wanted.directions)
    pd.testing.assert_frame_equal(explorer.result.scores, wanted.scores)
    pd.testing.assert_series_equal(explorer.result.variances, wanted.variances)
    dots = rows_of(explorer, "dot")
    drawn = np.array([[dot["x"], dot["y"]] for dot in dots])
    reach = np.abs(wanted.scores.iloc[:, :2]).to_numpy().max()
    assert drawn == pytest.approx(wanted.scores.iloc[:, :2].to_numpy(), abs=1e-3 * reach)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_a_picture_with_its_convention_and_a_plain_chart(make, kind):
    explorer = make(kind=kind, scale=True, method="prcomp")
    assert "error" not in explorer._frame
    assert "prcomp, centred, scaled, divisor n − 1" in subtitle(explorer)
    chart = explorer.chart
    assert "prcomp, centred, scaled, divisor n − 1" in chart.digest
    bundle, _ = explorer._repr_mimebundle_()
    assert bundle["image/png"].startswith(b"\x89PNG")
    assert f"scaled, divisor n − 1, {kind}" in bundle["text/plain"]


@pytest.mark.parametrize("kind", KINDS)
def test_the_live_specification_draws_the_plain_charts_picture(make, kind):
    explorer = make(kind=kind, color="Species")
    spec = explorer._specs[explorer._frame["spec"]]
    plain = explorer.chart.to_dict()
    marks = [[layer["mark"]["type"] for layer in one["spec"]["layer"]] for one in (spec, plain)]
    assert marks[0] == marks[1]
    assert json.loads(json.dumps(explorer._frame)) is not None  # nothing in it that a browser cannot be told


def test_the_table_lists_components_or_loadings(make):
    explorer = make(scale=True)
    table = explorer._frame["table"]
    assert [row["text"] for row in table["rows"]] == ["PC1", "PC2", "PC3", "PC4"]
    assert [row["share"] for row in table["rows"]] == pytest.approx(explorer.result.shares.tolist())
    assert table["rows"][-1]["together"] == "100.0 %"
    assert table["base"] == "divisor n"
    explorer.kind = "vector"
    table = explorer._frame["table"]
    assert table["columns"] == ["PC1", "PC2"]
    values = {row["variable"]: row["values"] for row in table["rows"]}
    assert values["Petal.Length"] == pytest.approx(
        explorer.result.directions.loc["Petal.Length"].tolist()[:2], abs=1e-4
    )


def test_a_combination_of_settings_is_computed_once(make, monkeypatch):
    calls = []
    original = pca_widget.pca
    monkeypatch.setattr(pca_widget, "pca", lambda *args, **kw: (calls.append(kw), original(*args, **kw))[1])
    explorer = make()
    for kind in KINDS:
        explorer.kind = kind
    explorer.method = "eigen"
    explorer.method = "svd"
    assert len({json.dumps(call, sort_keys=True) for call in calls}) == len(calls)


def test_rows_of_a_picture_are_made_for_the_views_there_are(make):
    explorer = make()
    explorer._layouts = [LAYOUT, "200|1.1"]
    assert set(explorer._frame["rows"]) == {LAYOUT, "200|1.1"}
    explorer.kind = "shares"
    assert set(explorer._frame["rows"]) == {""}


def test_the_table_says_what_it_does_not_list_and_nothing_else(make):
    wide = np.random.default_rng(1).normal(size=(70, 80))
    assert make(wide)._frame["table"]["unlisted"] == ["19 more", "1 without variance not listed"]
    assert len(make(wide)._frame["table"]["rows"]) == 50
    assert make(SPREAD)._frame["table"]["unlisted"] == []
    still = make(np.ones((4, 3)))._frame["table"]
    assert [row["text"] for row in still["rows"]] == ["PC1"]
    assert still["rows"][0]["hint"] == "arbitrary"
    assert still["unlisted"] == ["2 without variance not listed"]


def test_table_and_picture_write_the_same_numbers(make):
    nearly = np.diag([1e12, 1e-5, 1e-6]) @ np.array([[1.0, 0, 0], [-1, 1, 0], [0, -1, 1]])
    for data in (nearly, SPREAD, SPREAD * 1e-9):
        for kind, column in (("shares", "percent"), ("variances", "said")):
            explorer = make(data, kind=kind)
            (rows,) = map(json.loads, explorer._frame["rows"].values())
            written = [row["said"] for row in rows if row["role"] == "bar"]
            assert [row[column] for row in explorer._frame["table"]["rows"]] == written
    assert make(nearly)._frame["table"]["rows"][-1]["together"] == "100.0 %"


def test_values_are_written_over_the_bars_only_where_there_is_room_for_the_widest(make):
    short = make(SPREAD, kind="shares")._frame["room"]
    long = make(SPREAD * 1e-140, kind="variances")._frame["room"]
    assert long > 1.2 * short


def test_only_the_last_results_of_a_large_table_are_kept(make, monkeypatch):
    monkeypatch.setattr(pca_widget, "KEPT", 3 * SPREAD.size)
    explorer = make(SPREAD)
    for method in ("svd", "eigen", "prcomp"):
        for center in (True, False):
            explorer.method, explorer.center = method, center
            assert explorer.result.method == method
    assert len(explorer._results) == 3


# ----- colours and names -----


def test_columns_that_are_left_out_and_have_few_levels_may_colour_the_points(make):
    frame = IRIS.assign(many=[f"id {i}" for i in range(150)], gap=["a", None] * 75)
    explorer = make(frame)
    assert explorer.colors == ("off", "row mean", "Species")
    explorer.color = "Species"
    assert {dot["shade"] for dot in rows_of(explorer, "dot")} == {"setosa", "versicolor", "virginica"}
    assert explorer._frame["spec"] == "scores Species"


def test_the_row_mean_is_that_of_what_is_decomposed(make):
    explorer = make(NUMBERS, scale=True, ddof=1, color="row mean")
    Y = (NUMBERS - NUMBERS.mean()) / NUMBERS.std()
    shades = [dot["shade"] for dot in rows_of(explorer, "dot")]
    assert shades == pytest.approx(Y.mean(axis=1).tolist(), abs=1e-5)


def test_values_of_your_own_colour_the_points(make):
    explorer = make(NUMBERS, color=pd.Series(range(150), name="time"))
    assert explorer.color == "time"
    assert [dot["shade"] for dot in rows_of(explorer, "dot")] == list(range(150))
    with pytest.raises(SettingError, match="one value for each of the 150 rows"):
        PCAExplorer(NUMBERS, color=[1, 2])


@pytest.mark.parametrize("name", ["off", "row mean", "s", "a\x00b", "a\x01b"])
def test_a_colouring_never_takes_the_name_of_another(make, name):
    frame = NUMBERS.assign(**{"off": ["u", "v"] * 75, "row mean": ["w", "x"] * 75, "s": "y", "a\x00b": "z"})
    explorer = make(frame, color=pd.Series(["own", "mine"] * 75, name=name))
    assert explorer.colors[:4] == ("off", "row mean", "off (2)", "row mean (2)")
    assert len(set(explorer.colors)) == 7
    assert explorer.color == explorer.colors[-1]
    shades = {}
    for color in explorer.colors:
        explorer.color = color
        shades[color] = {dot.get("shade") for dot in rows_of(explorer, "dot")}
        assert explorer._frame["spec"] in explorer._specs
    assert list(shades.values())[:1] == [{None}]
    assert len(shades["row mean"]) > 50
    assert [sorted(shades[color]) for color in explorer.colors[2:]] == [
        ["u", "v"], ["w", "x"], ["y"], ["z"], ["mine", "own"],
    ]  # fmt: skip


@pytest.mark.parametrize(
    "values", [[[1], [2]], [{"a": 1}, {"a": 2}], [1j, 2j], [None, "a"], [object(), object()]], ids=lambda v: str(v)[:12]
)
def test_a_column_that_can_colour_nothing_is_not_offered(make, values):
    explorer = make(NUMBERS.assign(odd=pd.Series(values * 75, dtype=object), s=["u", "v"] * 75))
    assert explorer.colors == ("off", "row mean", "s")


def test_what_the_caller_changes_afterwards_changes_no_picture(make):
    own, frame = np.arange(150.0), IRIS.copy(deep=True)
    explorer = make(frame, color=own)
    before = explorer._frame["rows"]
    own[:] = 0
    frame.iloc[:, 0] = 0.0
    frame["Species"] = "gone"
    explorer.method = "eigen"
    explorer.method = "svd"
    assert explorer._frame["rows"] == before
    explorer.color = "Species"
    assert {dot["shade"] for dot in rows_of(explorer, "dot")} == {"setosa", "versicolor", "virginica"}


def test_names_of_rows_are_written_where_there_are_some(make):
    named = make(datasets.usarrests(), scale=True)
    assert len(rows_of(named, "label")) >= 25
    assert named._frame["controls"]["named"]
    named.labels = False
    assert rows_of(named, "label") == []
    assert not make()._frame["controls"]["named"]


# ----- what is said -----


def test_the_convention_is_stated_in_full(make):
    explorer = make(method="eigen", ddof=1)
    assert explorer._frame["statement"]["text"] == "Eigenvalues of YᵀY/(n − 1), Y the centred columns; scores YV."
    explorer.set_trait("method", "prcomp")
    explorer.center, explorer.scale = False, True
    assert "divided by their root mean squares about zero, as R does" in explorer._frame["statement"]["text"]


def test_the_status_gives_the_ratio_of_the_variances(make):
    explorer = make(method="prcomp")
    assert "Variances are n/(n − 1) = 1.00671 times d²/n" in explorer._frame["status"]
    assert "Same directions as by singular values, to the last digit" in explorer._frame["status"]
    assert not explorer._frame["beware"]
    explorer.scale = True
    assert "sum to p = 4 by either divisor" in explorer._frame["status"]


def test_columns_scaled_but_not_centred_are_not_said_to_have_variance_one(make):
    explorer = make(NUMBERS, scale=True)
    assert "Scaled columns have variance 1" in explorer._frame["status"]
    explorer.center = False
    assert explorer.result.variances.sum() == pytest.approx(4)
    assert "mean square 1, not variance 1" in explorer._frame["status"]
    assert "Scaled columns have variance 1" not in explorer._frame["status"]
    assert "sum to p = 4 by either divisor" in explorer._frame["status"]


def test_data_that_are_not_centred_are_warned_of_with_the_angle_to_the_mean(make):
    explorer = make(NUMBERS, center=False)
    mean = NUMBERS.mean().to_numpy()
    cosine = abs(explorer.result.directions["PC1"] @ mean) / np.linalg.norm(mean)
    assert f"PC1 lies {np.degrees(np.arccos(cosine)):.1f}° from the direction of the mean" in explorer._frame["status"]
    assert explorer._frame["beware"]


@pytest.mark.parametrize("unit", [1e-300, 1e-170, 1, 1e170, 1e300])
def test_the_angle_to_the_mean_does_not_depend_on_the_unit(make, unit):
    status = make(NUMBERS * unit, center=False, kind="vector")._frame["status"]
    assert re.search(r"PC1 lies \d+\.\d°", status)[0] == "PC1 lies 1.9°"


@pytest.mark.parametrize("data", [NUMBERS - NUMBERS.mean(), NUMBERS * 0])
def test_means_of_zero_have_no_direction(make, data):
    explorer = make(data, center=False, kind="shares")
    assert "the means are zero up to rounding" in explorer._frame["status"]
    assert "°" not in explorer._frame["status"]
    assert not explorer._frame["beware"]


def test_widths_of_columns_are_compared_without_leaving_the_range_of_numbers(make):
    explorer = make(SPREAD * [1e-66, 1, 1, 1e90], kind="shares")
    assert (
        "differ by a factor of more than 1.0 · 10³⁰⁰, so the directions mostly follow \ue000z"
        in explorer._frame["notes"][0]
    )
    explorer.center = False
    assert "The mean squares of the columns differ" in explorer._frame["notes"][0]


def test_equal_variances_are_a_plane_in_words_and_picture(make):
    square = pd.DataFrame([[1.0, 0], [-1, 0], [0, 1], [0, -1]], columns=["a", "b"])
    explorer = make(square, kind="vector")
    assert "only the span of PC1 and PC2 is defined" in explorer._frame["status"]
    assert explorer._frame["beware"]
    assert all(row["dash"] for row in rows_of(explorer, "axis"))
    explorer.kind = "shares"
    assert [row["hint"] for row in explorer._frame["table"]["rows"]] == ["tied", "tied"]


def test_three_equal_variances_are_listed_as_a_sentence_does(make):
    explorer = make(np.vstack([np.eye(3), -np.eye(3)]))
    assert "only the span of PC1, PC2 and PC3 is defined" in explorer._frame["status"]
    assert "only the span of PC1, PC2 and PC3 is defined" in subtitle(explorer).replace("\n", " ")


def test_the_route_that_squares_the_condition_number_says_what_it_lost(make):
    wide = pd.DataFrame(np.random.default_rng(1).normal(size=(80, 3)) * [1, 1e9, 1], columns=list("abc"))
    explorer = make(wide, method="eigen")
    assert "this route sees 1 of 3 components" in explorer._frame["status"]
    assert explorer._frame["beware"]
    assert "mostly follow \ue000b\ue001" in explorer._frame["notes"][0]


def test_components_without_variance_are_counted_and_left_out(make):
    fat = np.random.default_rng(1).normal(size=(3, 8))
    explorer = make(fat, kind="shares")
    assert [row["text"] for row in explorer._frame["table"]["rows"]] == ["PC1", "PC2"]
    assert explorer._frame["table"]["unlisted"] == ["1 without variance not listed"]
    assert "2 of 3 components have a variance, n − 1 at most" in explorer._frame["notes"][0]


def test_everything_shown_says_that_it_is_not_private(make):
    explorer = make()
    assert explorer._frame["badge"] == "Not private"
    assert "Not private" in explorer._frame["banner"]


# ----- data that cannot be drawn -----


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"a": [1, 2, 3]}, "1 numeric column"),
        ({"a": [1, 2, None], "b": [1, 2, 3]}, "missing"),
        (pd.DataFrame({"a": ["x", "y"], "b": ["u", "v"]}), "No numeric column"),
        ("iris.csv", "read the file first"),
        ([[1, 2]], "at least 2 rows"),
    ],
    ids=str,
)
def test_data_that_cannot_be_drawn_are_explained_in_the_view(make, data, words):
    explorer = make(data)
    assert words in " ".join(explorer._frame["empty"])
    assert words in repr(explorer)
    with pytest.raises(DataError, match=re.escape(words)):
        _ = explorer.result


def test_a_constant_column_refuses_scaling_and_the_last_picture_stays(make):
    explorer = make(NUMBERS.assign(site=5.0))
    before = explorer._frame["rows"]
    explorer.scale = True
    assert "Constant: site" in explorer._frame["error"]
    assert explorer._frame["rows"] == before
    explorer.scale = False
    assert "error" not in explorer._frame


def test_settings_that_can_be_changed_stay_at_hand_where_there_is_no_first_picture(make):
    explorer = make(NUMBERS.assign(site=5.0), scale=True)
    assert "Constant: site" in explorer._frame["empty"][0]
    assert "nothing to draw: Constant: site" in repr(explorer)
    assert explorer._frame["controls"]["settings"]["scale"] is True
    explorer.scale = False
    assert "empty" not in explorer._frame
    assert rows_of(explorer, "dot")


@pytest.mark.parametrize(("unit", "words"), [(1e303, "below 1e+300"), (1e-310, "Use a larger unit")])
def test_a_picture_that_cannot_be_drawn_is_explained_and_leaves_the_numbers(make, unit, words):
    explorer = make(SPREAD * unit)
    assert words in explorer._frame["empty"][0]
    assert words in repr(explorer)
    bundle, _ = explorer._repr_mimebundle_()
    assert "image/png" not in bundle
    assert words in bundle["text/plain"]
    assert explorer.result.rank == 4
    explorer.kind = "vector"
    assert "empty" not in explorer._frame
    assert explorer._repr_mimebundle_()[0]["image/png"]
    before = explorer._frame["rows"]
    explorer.kind = "variances"
    assert "too large or too small to be drawn" in explorer._frame["error"]
    assert explorer._frame["rows"] == before
    assert "image/png" not in explorer._repr_mimebundle_()[0]


def test_marks_around_names_are_for_the_view_alone(make):
    explorer = make({"a": [1, 2, 3]})
    assert "\ue000a\ue001" in " ".join(explorer._frame["empty"])
    assert "Numeric: a." in repr(explorer)


def test_a_table_in_which_nothing_varies_is_drawn_and_said(make):
    explorer = make(pd.DataFrame({"a": [1.0, 1, 1], "b": [2.0, 2, 2]}))
    for kind in KINDS:
        explorer.kind = kind
        assert "error" not in explorer._frame, explorer._frame["error"]
    assert "0 of 2 components have a variance" in explorer._frame["notes"][0]


@pytest.mark.parametrize("shape", [(2, 2), (2, 30), (30, 2), (5, 400), (3000, 3)])
@pytest.mark.parametrize("scale", [1e-200, 1e-150, 1e-13, 1e12, 1e150, 1e200])
def test_shapes_and_magnitudes_of_all_kinds_are_drawn(make, shape, scale):
    explorer = make(np.random.default_rng(3).normal(size=shape) * scale)
    for kind in ("scores", "vector", "heatmap", "shares"):
        explorer.kind = kind
        assert "error" not in explorer._frame, explorer._frame["error"]
        json.dumps(explorer._frame, allow_nan=False)


# ----- what it leaves behind -----


def test_copied_code_makes_the_same_view_again(make):
    explorer = make(
        title="My data", method="prcomp", scale=True, kind="vector", components=(2, 3), variables=["Petal.Width"]
    )
    again = eval(explorer._frame["code"], {"PCAExplorer": PCAExplorer, "data": IRIS})
    again._layouts = [LAYOUT]
    assert repr(again) == repr(explorer)
    assert again._frame["rows"] == explorer._frame["rows"]
    again.close()


def test_copied_code_holds_no_data(make):
    own = make(NUMBERS, color=pd.Series(np.arange(150) + 0.123, name="secret"))
    assert ".123" not in own._frame["code"]
    assert own._frame["code"].endswith("# coloured by values of your own: color='secret'")
    eval(own._frame["code"], {"PCAExplorer": PCAExplorer, "data": NUMBERS}).close()


def test_closing_leaves_nothing():
    before = len(registry._instances)
    explorer = PCAExplorer(IRIS)
    explorer.close()
    explorer.close()
    assert len(registry._instances) == before
    assert isinstance(explorer, ipywidgets.DOMWidget)


def test_the_callers_data_stay_as_they_are(make):
    frame = IRIS.copy(deep=True)
    explorer = make(frame, scale=True, color="Species")
    explorer.kind = "vector"
    explorer.result.scores.iloc[0, 0] = 99
    pd.testing.assert_frame_equal(frame, IRIS)
