"""Pictures of scores: what is drawn, what colours it, what is said, what is refused."""

import json
import math
import re
import time
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import polars
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dppca_nb import datasets, pca, score_chart
from dppca_nb.charts import results, score, theme
from dppca_nb.charts.drawn import png
from dppca_nb.charts.results import percent
from dppca_nb.charts.score import SIDES, score_rows, score_signals
from dppca_nb.charts.score_picture import MOST_LABELS, MOST_ROWS, make_score_picture
from dppca_nb.charts.shades import COLOURS, SHAPES, make_shade, shade_encoding
from dppca_nb.charts.text import text_width
from dppca_nb.widgets.view import STATIC

ODD = [
    "Sepal.Length", "mass [kg]", 'it\'s "5" \\ pipe', "two\nlines", "❤", "\x00\x1b[31m", "</script><script>pwned()",
    "   ", "__proto__", 7, None, ("a", 1), "x" * 300, "x" * 299 + "y",
]  # fmt: skip


def rows(n=8, p=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, p)) * np.linspace(3, 1, p)


SPECS = {}  # a specification takes long to write; the chart stands beside it, so that its id stays its own


def spec_of(chart):
    if id(chart) not in SPECS:
        SPECS[id(chart)] = (chart, chart.to_dict())
    return SPECS[id(chart)][1]


def rows_of(chart, role=None, panel=None):
    found = spec_of(chart)["data"]["values"]
    return [r for r in found if (role is None or r["role"] == role) and (panel is None or r["panel"] == panel)]


def parameter(chart, name):
    return next(p["value"] for p in spec_of(chart)["params"] if p["name"] == name)


def written(chart):
    return json.dumps(chart.to_dict())


def subtitle(chart):
    return "  ".join(spec_of(chart)["title"]["subtitle"])


def fields_of(node):
    """Names of all fields that a specification reads."""
    if isinstance(node, dict):
        yield from (value for key, value in node.items() if key == "field" and isinstance(value, str))
        yield from (name for key, value in node.items() if key != "values" for name in fields_of(value))
    elif isinstance(node, list):
        yield from (name for value in node for name in fields_of(value))


# ----- names -----


def test_odd_names_of_rows_variables_and_colours_are_values_and_never_fields():
    table = pd.DataFrame(rows(len(ODD), 5), index=pd.Index(ODD, dtype=object), columns=ODD[:5])
    plain = score_chart(pca(rows(len(ODD), 5)), color=["a", "b"] * 7, labels=True)
    for name in ODD[::4]:
        color = pd.Series(ODD[:2] * 7, index=table.index, name=name)
        chart = score_chart(pca(table), color=color)
        assert set(fields_of(spec_of(chart))) == set(fields_of(spec_of(plain)))
    tips = [row["row"] for row in rows_of(chart, "dot")]
    assert tips[:5] == ODD[:5]
    assert tips[5] == "\ufffd\ufffd[31m"
    assert tips[9:12] == ["7", "None", "('a', 1)"]
    assert png(chart).startswith(b"\x89PNG")
    texts = [row["text"] for row in rows_of(chart, "label")]
    assert len(set(texts)) == len(texts) > 3
    assert max(map(len, texts)) < 40


def test_a_page_of_scores_is_offline_and_no_name_can_break_out_of_it(tmp_path):
    hostile = "</script><script>window.pwned=1</script>"
    table = pd.DataFrame(rows(), index=[hostile, *"abcdefg"])
    chart = score_chart({hostile: pca(table)}, color=pd.Series([hostile, "b"] * 4, table.index, name=hostile))
    for name in ("x.html", "x.svg"):
        chart.save(tmp_path / name)
    page = (tmp_path / "x.html").read_text(encoding="utf-8")
    assert "window.pwned" in page
    assert hostile not in page
    assert not re.search(r"""(?:src|href)\s*=\s*["']?(?:https?:)?//|@import|import\(["']https?:""", page)
    assert (tmp_path / "x.svg").read_text(encoding="utf-8").startswith("<svg")


def test_results_whose_names_look_alike_are_all_drawn():
    result = pca(rows())
    chart = score_chart({"\x00": result, "\x01": result, "a" * 300: result, "a" * 299 + "b": result})
    heads = [head[0] for head in parameter(chart, "heads")]
    assert heads[:2] == ["\ufffd", "\ufffd (2)"]
    assert len(set(heads)) == 4
    assert {row["panel"] for row in rows_of(chart, "dot")} == {0, 1, 2, 3}


@pytest.mark.parametrize("count", [2, 3, 4, 6])
def test_no_line_of_a_panels_title_runs_into_the_next_panel(count):
    result = pca(rows(), method="prcomp", center=False, scale=False)
    chart = score_chart({f"{'a long name that goes on ' * 5}{i}": result for i in range(count)})
    side = SIDES[{2: 2, 3: 3, 4: 2, 6: 3}[count]]
    for head in parameter(chart, "heads"):
        assert "not centred, not scaled" in " ".join(head).replace(",  ", ", ")
        for line in head:
            assert text_width(line, 11.5) < side + 26, line


# ----- scales -----


@pytest.mark.parametrize("unit", [1e-300, 1e-154, 1e-13, 1.0, 1e12, 1e154, 1e299])
def test_a_unit_changes_no_picture_but_the_numbers_on_its_axes(unit):
    plain, scaled = (score_chart(pca(rows(n=12) * scale)) for scale in (1.0, unit))
    for name in ("x0", "x1", "y0", "y1"):
        assert parameter(scaled, name) / unit == pytest.approx(parameter(plain, name), rel=1e-5)
    one, other = (np.array([(r["x"], r["y"]) for r in rows_of(chart, "dot")]) for chart in (plain, scaled))
    assert np.abs(other / unit - one).max() < 2e-3 * parameter(plain, "x1")
    assert png(scaled).startswith(b"\x89PNG")


def test_scores_too_large_or_too_alike_to_be_drawn_are_refused():
    frame = pd.DataFrame(rows(), columns=["PC1", "PC2", "PC3"])
    with pytest.raises(ValueError, match=r"^scores must be finite and below 1e\+300; some are not"):
        score_chart(frame * 1e307)
    with pytest.raises(ValueError, match=r"^scores must differ by more than 1e-300 to be drawn. Use a larger unit"):
        score_chart(frame * 1e-310)


def test_far_from_zero_neighbours_are_told_apart():
    frame = pd.DataFrame(rows() + np.array([1e8, 0, 0]))
    chart = score_chart(frame)
    dots = rows_of(chart, "dot")
    assert [r["x"] for r in dots] == pytest.approx(frame[0].tolist(), abs=1e-3)
    assert len({r["tip"].split(", ")[0] for r in dots}) == 8
    assert f"{dots[0]['x']:.3f}" in chart.digest


def test_a_constant_table_is_one_dot_at_zero_and_the_subtitle_says_why():
    chart = score_chart(pca(np.full((5, 3), 7.0)))
    assert {(r["x"], r["y"]) for r in rows_of(chart, "dot")} == {(0.0, 0.0)}
    assert parameter(chart, "x0") < 0 < parameter(chart, "x1")
    assert "nothing varies: directions arbitrary" in subtitle(chart)
    assert spec_of(chart)["spec"]["encoding"]["x"]["axis"]["title"] == "PC1 score, 0.0 % of the variance"


def test_components_beyond_the_rank_are_drawn_and_said_to_have_no_variance():
    wide = pca(rows(n=5, p=10))
    chart = score_chart(wide, (4, 5))
    assert {r["y"] for r in rows_of(chart, "dot")} == {0.0}
    assert "PC5 without variance: direction arbitrary" in subtitle(chart)
    with pytest.raises(ValueError, match=r"^components must be between 1 and 5; got 6"):
        score_chart(wide, (1, 6))
    pair = score_chart(pca([[1.0, 1.0], [6.0, 13.0]]))
    assert [r["x"] for r in rows_of(pair, "dot")] == [-6.5, 6.5]


def test_equal_variances_are_said_to_define_a_plane_only():
    chart = score_chart(pca([[1.0, 0], [-1, 0], [0, 1], [0, -1]]))
    assert "equal variances: only the span of PC1 and PC2 is defined" in subtitle(chart)


def test_units_are_equal_on_both_axes_of_every_panel():
    for data in (rows(20), rows(20) * [100, 1, 1], rows(20) @ np.ones((3, 3))):
        chart = score_chart({"a": pca(data), "b": pca(data * 2)})
        spec = spec_of(chart)["spec"]
        across, up = (parameter(chart, f"{axis}1") - parameter(chart, f"{axis}0") for axis in "xy")
        assert up / across == pytest.approx(spec["height"] / spec["width"], rel=0.01)
        for row in rows_of(chart, "dot"):
            assert parameter(chart, "x0") < row["x"] < parameter(chart, "x1")
            assert parameter(chart, "y0") < row["y"] < parameter(chart, "y1")


# ----- what is refused -----


@pytest.mark.parametrize(
    ("components", "error", "message"),
    [
        ((True, 2), TypeError, "^components must be whole numbers from 1.*; got True"),
        ((1, 2.0), TypeError, "^components must be whole numbers from 1.*; got 2.0"),
        ((1, 4), ValueError, "^components must be between 1 and 3; got 4"),
        ((0, 1), ValueError, "^components must be between 1 and 3; got 0"),
        ((2, 2), ValueError, "^components must differ from each other"),
        ((1,), ValueError, "^components must be two numbers"),
        ("12", TypeError, "^components must be component numbers"),
    ],
)
def test_a_bad_pair_of_components_is_refused(components, error, message):
    with pytest.raises(error, match=message):
        score_chart(pca(rows()), components)


@pytest.mark.parametrize("one", [pca([[1.0], [2.0], [4.0]]), pd.DataFrame({"PC1": [1.0, 2.0]})])
def test_one_component_makes_no_picture_of_scores(one):
    with pytest.raises(ValueError, match=r"^a picture of scores needs two components; these scores have 1\.$"):
        score_chart(one)


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        (None, TypeError, "^results must be a result of pca.* or a frame of scores, or a mapping .*; got NoneType"),
        (rows(), TypeError, "^results must be .*; got ndarray"),
        ({}, ValueError, "^a picture compares 1 to 6 results; got 0"),
        ({str(i): pca(rows()) for i in range(7)}, ValueError, "^a picture compares 1 to 6 results; got 7"),
        ({1: pca(rows())}, TypeError, "^the names of results must be texts; got 1"),
        ({" ": pca(rows())}, TypeError, "^the names of results must be texts; got ' '"),
        ({"a": rows()}, TypeError, "^the result named 'a' must be a result of pca"),
        ({"a": pca(rows(8)), "b": pca(rows(9))}, ValueError, "^results .* the same number of rows; got 'a' 8, 'b' 9"),
        (pd.DataFrame({"PC1": [1.0], "PC2": ["a"]}), ValueError, "^the frame of scores must have rows, and a numeric"),
        (pd.DataFrame({"PC1": [], "PC2": []}), ValueError, "^the frame of scores must have rows"),
        (pd.DataFrame({"a": [1j, 2], "b": [1.0, 2]}), ValueError, "^the frame of scores .*; got 2 rows and complex128"),
        (pd.DataFrame({"a": [1.0, np.nan], "b": [1.0, 2]}), ValueError, "^scores must be finite; some are missing"),
        (pd.DataFrame({"a": [1, None], "b": [1, 2]}, dtype="Int64"), ValueError, "^scores must be finite; some are m"),
        (pd.DataFrame({"a": [1.0, np.inf], "b": [1.0, 2]}), ValueError, "^scores must be finite and below"),
    ],
)
def test_what_has_no_scores_is_refused_by_name(wrong, error, message):
    with pytest.raises(error, match=message):
        score_chart(wrong)


def test_results_of_other_rows_or_of_another_order_do_not_stand_side_by_side():
    states = datasets.usarrests()
    with pytest.raises(ValueError, match=r"^results .* the same rows in the same order; the row labels of 'a' and 'b'"):
        score_chart({"a": pca(states), "b": pca(states.iloc[::-1])})
    chart = score_chart({"array": pca(states.to_numpy()), "frame": pca(states)})  # positions are no names
    assert [row["row"] for row in rows_of(chart, "dot", 0)] == states.index.tolist()


@pytest.mark.parametrize("wrong", ["no", 0, None.__class__, [True]])
def test_labels_takes_nothing_but_true_and_false(wrong):
    with pytest.raises(TypeError, match=r"^labels must be True or False"):
        score_chart(pca(rows()), labels=wrong)


# ----- frames of scores -----


def test_a_frame_of_components_goes_by_their_names_and_any_other_by_position():
    scores = pca(rows(12, 4)).scores
    swapped = score_chart(scores[["PC4", "PC3"]], (3, 4))
    assert [(r["x"], r["y"]) for r in rows_of(swapped, "dot")] == [
        (r["x"], r["y"]) for r in rows_of(score_chart(scores, (3, 4)), "dot")
    ]
    with pytest.raises(ValueError, match=r"^components must be among those of the scores, PC4, PC3; got 1"):
        score_chart(scores[["PC4", "PC3"]])
    with pytest.raises(ValueError, match=r"^a picture of scores needs two components; these scores share 1\.$"):
        score_chart({"a": scores[["PC1", "PC2"]], "b": scores[["PC2", "PC3"]]})
    named = score_chart(scores[["PC4", "PC3"]].set_axis(["Dim.1", "x:Q"], axis="columns"))
    assert [r["x"] for r in rows_of(named, "dot")] == [r["y"] for r in rows_of(swapped, "dot")]
    assert spec_of(named)["spec"]["encoding"]["x"]["axis"]["title"] == "PC1 score"


# ----- many rows -----


def test_of_many_rows_some_are_drawn_with_the_outermost_and_the_subtitle_says_how_many():
    data = rows(20_000, 5)
    data[777:797] += 60 * np.array([1, 1, 0, 0, 0])  # outliers off both axes
    result = pca(data)
    score_chart(pca(rows()), color=range(8))  # what is cached is
    start = time.process_time()
    chart = score_chart(result, color=data[:, 0])
    assert time.process_time() - start < 3  # 0.6 s on an idle machine
    dots = rows_of(chart, "dot")
    assert MOST_ROWS - 100 < len(dots) <= MOST_ROWS
    assert f"{len(dots):,} of 20,000 rows drawn" in subtitle(chart)
    assert {str(row) for row in range(777, 797)} <= {row["row"] for row in dots}
    assert f"and {20_000 - 8:,} more rows" in chart.digest
    assert "rows drawn" not in subtitle(score_chart(pca(rows(2000))))


# ----- colour -----


def shades(color, n=8):
    shade = make_shade(color, pd.RangeIndex(n))
    fields = [shade.of(row) for row in range(n)]
    return [(row["shade"], row.get("rank"), row["shown"]) for row in fields]


def test_dots_carry_the_colours_of_their_rows_in_every_panel():
    result, color = pca(rows()), list("aabbccab")
    chart = score_chart({"a": result, "b": result}, color=color)
    for panel in (0, 1):
        assert [(r["shade"], r["rank"], r["shown"]) for r in rows_of(chart, "dot", panel)] == shades(color)


def order(color, n=8):
    """Categories as the legend has them."""
    return [text for _, text in sorted({(rank, text) for text, rank, _ in shades(color, n)})]


@pytest.mark.parametrize(
    ("color", "expected"),
    [
        ([True, False] * 4, ["False", "True"]),
        (np.array([True, False] * 4), ["False", "True"]),
        (pd.array([True, False] * 4, dtype="boolean"), ["False", "True"]),
        ([True] * 8, ["True"]),
        (list("babababa"), ["b", "a"]),
        (pd.Series(list("babababa"), dtype="string"), ["b", "a"]),
        (pd.Categorical(list("babababa"), categories=list("zabycdefgh")), ["a", "b"]),
        (pd.Categorical([2, 1] * 4), ["1", "2"]),
        (polars.Series("group", list("babababa")), ["b", "a"]),
        (["10", "9"] * 4, ["10", "9"]),
        ([1, "1", True, "True"] * 2, ["1", "1 (2)", "True", "True (2)"]),
        (["\x00", "\x01"] * 4, ["\ufffd", "\ufffd (2)"]),
        (["", " "] * 4, ["(blank)", "(blank) (2)"]),
        (["a\nb", "c"] * 4, ["a b", "c"]),
        (list(pd.to_datetime(["2021-05-01", "2020-01-01"])) * 4, ["2021-05-01 00:00:00", "2020-01-01 00:00:00"]),
    ],
)
def test_categories_keep_their_order_and_no_two_look_alike(color, expected):
    assert order(color) == expected


@pytest.mark.parametrize(
    "color",
    [
        [3, 4] * 4, [3.0, 4.0] * 4, np.array([3, 4] * 4, np.int8), np.array([3, 4] * 4, np.float16), range(3, 11),
        pd.Series([3, 4] * 4, dtype="Int64"), polars.Series("x", [3, 4] * 4), [np.float64(3), 4] * 4, [3] * 8,
        pd.array([3.0, 4.0] * 4, dtype="Float64"), [10**30, 10**29] * 4,
    ],
)  # fmt: skip
def test_numbers_are_numbers_however_they_come(color):
    found = shades(color)
    assert [value for value, _, _ in found] == pytest.approx([float(value) for value in color], rel=1e-5)
    assert {rank for _, rank, _ in found} == {None}


def test_the_colours_of_numbers_far_from_zero_differ_and_their_tooltips_too():
    found = shades(1.6e9 + np.arange(8) / 4)
    assert len({value for value, _, _ in found}) == len({said for _, _, said in found}) == 8
    tiny = shades(np.arange(8) * 1e-13)
    assert tiny[3][2] == "colour 3e−13"


@pytest.mark.parametrize(
    ("name", "title"),
    [(None, "colour"), ("", "colour"), ("  ", "colour"), (0, "0"), (("a", 1), "('a', 1)"), ("a.b[c]", "a.b[c]"),
     ("\x00", "\ufffd"), ("two\nlines", "two lines")],
)  # fmt: skip
@pytest.mark.parametrize("values", [range(8), list("abababab")])
def test_the_title_of_a_legend_is_the_name_of_the_colours(name, title, values):
    shade = make_shade(pd.Series(list(values), name=name), pd.RangeIndex(8))
    encoding = shade_encoding(shade.kind, shade.name)
    assert {channel["legend"]["title"] for channel in encoding.values()} == {title}


@pytest.mark.parametrize(
    ("color", "error", "message"),
    [
        (list("abcdefgh"), ValueError, "^color has 8 categories; at most 7 can be told apart"),
        (pd.date_range("2020", periods=8), ValueError, "^color has 8 categories"),
        ([1.0, np.nan] * 4, ValueError, "^color has 4 missing values; give every row one"),
        (["a"] * 7 + [None], ValueError, "^color has 1 missing value; give every row one"),
        (pd.Series([1, None] * 4, dtype="Int64"), ValueError, "^color has 4 missing values"),
        (polars.Series("x", [1.5] * 7 + [None]), ValueError, "^color has 1 missing value;"),
        ([1, 2], ValueError, "^color must hold one value for each of the 8 rows; got 2 values"),
        (np.ones((8, 2)), ValueError, "^color must hold one value for each of the 8 rows; got a table"),
        ([("a", 1), ("b",)] * 4, ValueError, "^color must hold one value for each of the 8 rows; got a table or"),
        (pd.DataFrame({"a": range(8)}), ValueError, "^color must hold one value .*; got a table"),
        (pd.Series(range(8), index=range(1, 9)), ValueError, "^color is a Series whose row labels are not those"),
        ([np.inf] * 8, ValueError, r"^color has infinite values, or beyond 1e\+300"),
        ([10**400] * 8, ValueError, "^color has infinite values"),
        ([1j] * 8, TypeError, "^color must hold real numbers"),
        ([object()] * 8, TypeError, "^color must hold numbers, or categories such as texts; got object"),
        ("abcdefgh", TypeError, "^color must be a sequence of 8 values, one for each row; got str"),
        (b"abcdefgh", TypeError, "^color must be a sequence .*; got bytes"),
        ({"a": 1}, TypeError, "^color must be a sequence .*; got dict"),
        (3, TypeError, "^color must be a sequence .*; got int"),
        ((i for i in range(8)), TypeError, "^color must be a sequence .*; got generator"),
    ],
)
def test_what_can_be_no_colour_is_refused(color, error, message):
    with pytest.raises(error, match=message):
        score_chart(pca(rows()), color=color)


def test_colours_follow_the_row_labels_of_the_scores():
    states = datasets.usarrests()
    color = pd.Series(range(50), index=states.index, name="rank")
    assert [row["shade"] for row in rows_of(score_chart(pca(states), color=color), "dot")] == list(range(50))
    with pytest.raises(ValueError, match="row labels are not those"):
        score_chart(pca(states), color=color.iloc[::-1])


def test_colours_that_were_checked_are_taken_as_they_are():
    shade = make_shade(list("abababab"), pd.RangeIndex(8))
    assert written(score_chart(pca(rows()), color=shade)) == written(score_chart(pca(rows()), color=list("abababab")))


def contrast(one, other):
    """Contrast of two colours after WCAG 2."""

    def luminance(colour):
        parts = [int(colour.lstrip("#")[i : i + 2], 16) / 255 for i in (0, 2, 4)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return np.dot(linear, [0.2126, 0.7152, 0.0722])

    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)


def dark_tokens():
    """Colours of the explorer's dark theme, by the names that the signals have."""
    css = (Path(STATIC) / "explorer.css").read_text(encoding="utf-8")
    block = re.search(r'\[data-dark="true"\] \{(.*?)\}', css, re.DOTALL)[1]
    found = dict(re.findall(r"--dx-([a-z0-9-]+): (?:var\([^,]*, )?(#[0-9a-f]{3,6})", block))
    names = {"private": "blue", "orange": "orange", "reference": "grey", "ink": "ink"}
    return {signal: found[token] for token, signal in names.items()}


@pytest.mark.parametrize("behind", ["#ffffff", "#111111"])
def test_every_colour_of_a_category_stands_out_in_both_themes(behind):
    signals = theme.LIGHT if behind == "#ffffff" else dark_tokens()
    for colour in COLOURS:
        shown = colour if isinstance(colour, str) else signals[colour.to_dict()["expr"]]
        assert contrast(shown, behind) >= 3, (colour, behind)
    assert len(COLOURS) == len(SHAPES) == len(set(SHAPES))


# ----- labels -----


@pytest.mark.parametrize("panels", [1, 2, 3])
def test_no_two_names_overlap_none_hides_a_dot_and_the_count_is_right(panels, monkeypatch):
    placed = []
    real = score.place_labels
    monkeypatch.setattr(score, "place_labels", lambda *args, **more: placed.append(real(*args, **more)) or placed[-1])
    result = pca(datasets.usarrests(), scale=True)
    chart = score_chart({str(i): result for i in range(panels)} if panels > 1 else result)
    spec, side = spec_of(chart)["spec"], SIDES[panels]
    assert spec["width"] == side
    x0, x1, y0, y1 = (parameter(chart, name) for name in ("x0", "x1", "y0", "y1"))
    assert len(placed) == panels
    for panel in range(panels):
        across = [(r["x"] - x0) / (x1 - x0) * side for r in rows_of(chart, "dot", panel)]
        down = [(y1 - r["y"]) / (y1 - y0) * spec["height"] for r in rows_of(chart, "dot", panel)]
        boxes = []
        for row in rows_of(chart, "label", panel):
            wide = text_width(row["text"], 10.5) - 4
            x, y = (row["x"] - x0) / (x1 - x0) * side, (y1 - row["y"]) / (y1 - y0) * spec["height"]
            left = x - wide * {"left": 0, "center": 0.5, "right": 1}[row["align"]]
            boxes.append((left, y - 6, left + wide, y + 6))
        (note,) = rows_of(chart, "note", panel)
        assert note["text"] == f"{50 - len(boxes)} not labelled"
        assert len(boxes) > 14
        boxes.append((4, spec["height"] - 16, 4 + text_width(note["text"], 10.5) - 4, spec["height"] - 4))
        for one, other in combinations(boxes, 2):
            assert one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]
        for left, top, right, bottom in boxes:
            assert 0 <= left < right <= side
            assert 0 <= top < bottom <= spec["height"]
            assert not any(left < x < right and top < y < bottom for x, y in zip(across, down, strict=True))


def test_no_line_to_a_name_passes_through_another_dot():
    chart = score_chart({str(i): pca(datasets.usarrests(), scale=True) for i in range(2)})
    scale = SIDES[2] / (parameter(chart, "x1") - parameter(chart, "x0"))
    dots = np.array([(r["x"], r["y"]) for r in rows_of(chart, "dot", 0)]) * scale
    leaders = rows_of(chart, "leader", 0)
    assert leaders
    for row in leaders:
        start, end = (np.array([row[f"x{n}"], row[f"y{n}"]]) * scale for n in ("", "2"))
        along = np.clip((dots - start) @ (end - start) / ((end - start) @ (end - start)), 0, 1)
        distance = np.hypot(*(dots - start - along[:, None] * (end - start)).T)
        assert (distance < 2.9).sum() == 1  # its own


def test_names_are_written_where_rows_have_them_and_are_few():
    named = pd.DataFrame(rows(MOST_LABELS), index=[f"row {i}" for i in range(MOST_LABELS)])
    assert rows_of(score_chart(pca(named)), "label")
    assert not rows_of(score_chart(pca(named), labels=False), "label")
    assert not rows_of(score_chart(pca(rows())), "label")
    assert rows_of(score_chart(pca(rows()), labels=True), "label")
    more = pd.DataFrame(rows(MOST_LABELS + 1), index=[f"row {i}" for i in range(MOST_LABELS + 1)])
    assert not rows_of(score_chart(pca(more)), "label")
    assert not rows_of(score_chart(pca(named.set_axis(["twin"] * MOST_LABELS))), "label")


# ----- words and numbers -----


@given(st.one_of(st.floats(0, 1), st.floats(0, 1e-3), st.floats(0, 1e-3).map(lambda x: 1 - x)))
@settings(max_examples=300)
def test_a_percentage_reads_nothing_or_all_only_if_it_is(share):
    text = percent(share)
    assert (text == "0.0 %") == (share == 0)
    assert (text == "100.0 %") == (share == 1)
    if text[0] not in "<>":
        assert float(text.removesuffix(" %")) == pytest.approx(100 * share, abs=0.0501)


def test_a_share_reads_all_of_the_variance_only_if_no_other_component_has_any():
    nearly = pca([[1.0, 0.0], [-1.0, 0.0], [0.0, 1e-10], [0.0, -1e-10]])
    assert nearly.rank == 2
    assert nearly.shares["PC1"] == 1.0  # by rounding
    assert results.share(nearly, [1]) == "> 99.9 %"
    assert results.share(nearly, [2]) == "< 0.1 %"
    assert results.share(nearly, [1, 2]) == "100.0 %"
    many = pca(rows(300, 7))
    assert results.share(many, range(1, 8)) == "100.0 %"
    assert results.share(many, [7]) != "0.0 %"


def test_the_numbers_of_the_digest_and_of_the_dots_are_those_of_the_result():
    result = pca(rows(12), method="prcomp", scale=True)
    chart = score_chart(result, (3, 1))
    wanted = result.scores[["PC3", "PC1"]].to_numpy()
    assert np.array([(r["x"], r["y"]) for r in rows_of(chart, "dot")]) == pytest.approx(wanted, abs=6e-5)
    lines = chart.digest.splitlines()
    assert lines[0] == "Scores on PC3 and PC1"
    assert lines[1] == "prcomp, centred, scaled, divisor n − 1  ·  n 12, p 3"
    assert [[float(v) for v in line.split()[1:]] for line in lines[3:11]] == pytest.approx(wanted[:8], abs=6e-5)
    assert lines[11:] == ["and 4 more rows"]


def test_the_options_of_pandas_change_no_digest():
    chart = score_chart(pca(rows()))
    with pd.option_context("display.precision", 1, "display.max_columns", 1, "display.max_rows", 2):
        assert score_chart(pca(rows())).digest == chart.digest


def test_results_side_by_side_state_their_conventions_and_share_one_scale():
    data = rows(12)
    chart = score_chart({"svd": pca(data), "R": pca(data, method="prcomp"), "as given": pca(data).scores})
    assert parameter(chart, "heads") == [
        ["svd", "centred, not scaled, divisor n"],
        ["R", "prcomp, centred, not scaled, divisor n − 1"],
        ["as given", "as given"],
    ]
    assert subtitle(chart) == "n 12, one scale for all panels"
    assert "svd: centred, not scaled, divisor n" in chart.digest


# ----- purity -----


def test_the_same_scores_give_the_same_specification_and_stay_as_they_are():
    table = pd.DataFrame(rows(12), index=list("abcdefghijkl"))
    result, color = pca(table), pd.Series(list("ab") * 6, index=table.index, name="group")
    before = (result.scores.copy(), color.copy())
    first = written(score_chart({"a": result, "b": result}, color=color))
    score_chart(pca(rows(9)), color=range(9)).to_dict()
    assert written(score_chart({"a": result, "b": result}, color=color)) == first
    assert not re.search(r"\b(param|view)_?\d+\b|0x[0-9a-f]{6}", first)
    pd.testing.assert_frame_equal(result.scores, before[0])
    pd.testing.assert_series_equal(color, before[1])


def test_no_zero_has_a_sign():
    frame = pd.DataFrame([[-1e-9, 1.0], [-0.0, -1.0], [1.0, -1e-12]])
    chart = score_chart(frame, color=[-0.0, -1e-12, 1.0])
    drawn = f"{json.dumps(rows_of(chart), ensure_ascii=False)} {chart.digest}"
    assert not re.search(r"[-\u2212]0(?:\.0*)?(?![\d.])", drawn)


def test_the_last_bits_of_a_processor_change_no_picture():
    for seed in range(8):
        scores = pca(rows(40, seed=seed)).scores
        shake = 1 + np.random.default_rng(seed).uniform(-1e-13, 1e-13, scores.shape)
        made = []
        for frame in (scores, scores * shake):
            picture = make_score_picture(frame, labels=True, color=frame["PC1"])
            made.append((score_rows(picture, side=404), score_signals(picture), score.digest(picture)))
        assert json.dumps(made[0]) == json.dumps(made[1]), seed


def test_a_chart_does_not_change_the_specification_that_it_was_made_from():
    chart = score_chart(pca(rows()))
    chart.title.text = "mine"
    chart.spec.width = 10
    again = score_chart(pca(rows())).to_dict()
    assert again["spec"]["width"] == SIDES[1]
    assert again["title"]["text"] == "Scores on PC1 and PC2"
    assert math.isclose(again["spec"]["height"] / SIDES[1], make_score_picture(pca(rows())).aspect, rel_tol=0.01)
