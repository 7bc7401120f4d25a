"""Scree plots: shares and variances of one result or of several, what is said of them, what is refused."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from dppca_nb import datasets, pca, scree_chart
from dppca_nb.charts.drawn import png
from dppca_nb.charts.scree import MOST_COMPONENTS, digest, make_scree_picture, scree_rows, scree_signals
from dppca_nb.charts.text import text_width

SPECS = {}  # a specification takes long to write; the chart stands beside it, so that its id stays its own


def spec_of(chart):
    if id(chart) not in SPECS:
        SPECS[id(chart)] = (chart, chart.to_dict())
    return SPECS[id(chart)][1]


def rows(n=12, p=4, seed=0):
    return np.random.default_rng(seed).normal(size=(n, p)) * np.linspace(3, 1, p)


def drawn(picture, role="bar"):
    return [row for row in scree_rows(picture) if row["role"] == role]


def subtitle(picture):
    return "  ·  ".join(picture.subtitle(1000))


@pytest.mark.parametrize("kind", ["shares", "variances"])
def test_the_bars_are_the_numbers_of_the_result(kind):
    result = pca(datasets.usarrests(), method="prcomp", scale=True)
    chart = scree_chart(result, kind)
    bars = [row for row in spec_of(chart)["data"]["values"] if row["role"] == "bar"]
    assert [row["component"] for row in bars] == ["PC1", "PC2", "PC3", "PC4"]
    wanted = getattr(result, kind).tolist()
    assert [row["value"] for row in bars] == pytest.approx(wanted, rel=1e-5)
    assert [float(v) for v in chart.digest.splitlines()[-1].split()] == pytest.approx(wanted, abs=5.1e-5)
    assert spec_of(chart)["title"]["subtitle"][0].startswith("prcomp, centred, scaled, divisor n − 1")
    axis = spec_of(chart)["spec"]["encoding"]["y"]["axis"]["title"]
    assert axis == {"shares": "Share of the total variance", "variances": "Variance (divisor n − 1)"}[kind]


def test_the_equal_share_is_drawn_and_its_value_said_where_nothing_can_lie_over_it():
    picture = make_scree_picture(pca(rows()))
    assert [row["value"] for row in drawn(picture, "even")] == [0.25]
    assert "dashed: 1/p = 25.0 %" in subtitle(picture)
    for other in (make_scree_picture(pca(rows()), "variances"), make_scree_picture(pca([[1.0], [2], [4]]))):
        assert not drawn(other, "even")
        assert "dashed" not in subtitle(other)
    several = make_scree_picture({"a": pca(rows()), "b": pca(rows(seed=1))})
    assert "dashed" not in subtitle(several)


@pytest.mark.parametrize("unit", [1e-149, 1e-13, 1e12, 1e149])
@pytest.mark.parametrize("kind", ["shares", "variances"])
def test_a_unit_changes_the_numbers_of_variances_and_nothing_of_shares(unit, kind):
    plain, scaled = (make_scree_picture(pca(rows() * scale), kind) for scale in (1.0, unit))
    factor = 1 if kind == "shares" else unit**2
    assert [row["value"] / factor for row in drawn(scaled)] == pytest.approx([row["value"] for row in drawn(plain)])
    assert scaled.top / factor == pytest.approx(plain.top, rel=1e-5)


def test_a_picture_in_tiny_units_is_drawn():
    assert png(scree_chart(pca(rows() * 1e-13), "variances")).startswith(b"\x89PNG")


@pytest.mark.parametrize("unit", [1e-300, 1e-155, 1e154, 1e300])
def test_variances_beyond_the_range_of_numbers_are_refused_while_their_shares_are_drawn(unit):
    result = pca(rows() * unit * 3)
    assert len(drawn(make_scree_picture(result))) == 4
    with pytest.raises(ValueError, match=r'^variances are too large or too small to be drawn; .*draw kind="shares"'):
        make_scree_picture(result, "variances")


def test_components_without_variance_are_left_out_and_counted():
    wide = make_scree_picture(pca(rows(n=5, p=10)))
    assert [row["component"] for row in drawn(wide)] == ["PC1", "PC2", "PC3", "PC4"]
    assert "1 component without variance not drawn" in subtitle(wide)
    line = make_scree_picture(pca(np.outer(np.arange(6.0), [1, 2, 3])))
    assert [row["said"] for row in drawn(line)] == ["100.0 %"]
    assert "2 components without variance not drawn" in subtitle(line)


@pytest.mark.parametrize("kind", ["shares", "variances"])
def test_a_constant_table_is_one_zero_and_the_subtitle_says_why(kind):
    picture = make_scree_picture(pca(np.ones((5, 3))), kind)
    assert [(row["component"], row["value"]) for row in drawn(picture)] == [("PC1", 0.0)]
    assert picture.top == 1.0
    assert "nothing varies: directions arbitrary" in subtitle(picture)
    assert "not drawn" not in subtitle(picture)


def test_equal_variances_are_said_to_define_a_plane_only():
    square = pca([[1.0, 0], [-1, 0], [0, 1], [0, -1]])
    assert "equal variances: only the span of PC1 and PC2 is defined" in subtitle(make_scree_picture(square))


def test_of_many_components_the_first_are_drawn_and_the_subtitle_says_of_how_many():
    wide = pca(rows(n=300, p=200))
    for asked, count in ((20, 20), ("all", MOST_COMPONENTS), (1000, MOST_COMPONENTS), (np.int64(3), 3)):
        picture = make_scree_picture(wide, components=asked)
        assert len(drawn(picture)) == count
        assert f"first {count} of 200 components" in subtitle(picture)
    chart = scree_chart(wide, components="all")
    assert spec_of(chart)["spec"]["width"] <= 900
    assert "first" not in subtitle(make_scree_picture(pca(rows())))


@pytest.mark.parametrize(("kind", "unit"), [("shares", 1), ("variances", 1), ("variances", 1e-13), ("variances", 1e12)])
@pytest.mark.parametrize("p", [2, 4, 6, 7, 8, 9, 12])
def test_values_are_written_only_where_they_do_not_run_into_each_other(kind, unit, p):
    picture = make_scree_picture(pca(rows(n=60, p=p) * unit), kind)
    widest = max(text_width(row["text"], 10.5, 1.0) for row in drawn(picture))
    room = 404 / p
    if scree_signals(picture, 404)["written"]:
        assert widest <= room
    else:
        assert room < max(46, 1.25 * widest)


def test_several_results_are_lines_that_state_their_conventions():
    made = {name: pca(rows(), method=name) for name in ("svd", "eigen", "prcomp")}
    picture = make_scree_picture(made, "variances")
    assert picture.legend() == [
        "svd: centred, not scaled, divisor n",
        "eigen: centred, not scaled, divisor n",
        "prcomp: centred, not scaled, divisor n − 1",
    ]
    assert subtitle(picture) == "n 12, p 4"
    assert picture.axis() == "Variance (divisor: see legend)"
    areas = [row["area"] for row in drawn(picture, "mark") if row["component"] == "PC1"]
    assert areas == sorted(areas, reverse=True)  # so that marks that coincide are all seen
    assert len(set(areas)) == 3
    assert png(scree_chart(made)).startswith(b"\x89PNG")


def test_the_size_of_every_result_is_said_where_sizes_differ():
    picture = make_scree_picture({"a": pca(rows()), "b": pca(rows(n=5, p=9)), "c": pca(np.ones((7, 2)))})
    assert [entry.split("divisor n, ")[1] for entry in picture.legend()] == ["n 12, p 4", "n 5, p 9", "n 7, p 2"]
    assert subtitle(picture) == ""
    lines = {k: [r["value"] for r in drawn(picture, "mark") if r["order"] == k] for k in range(3)}
    assert list(map(len, lines.values())) == [4, 4, 1]
    assert lines[2] == [0.0]
    assert "nan" not in digest(picture).lower()
    assert spec_of(scree_chart(dict(picture.results)))["title"]["subtitle"] == []


def test_odd_names_are_values_and_no_two_lines_share_one(tmp_path):
    names = ["\x00a", "\x01a", "mass [kg].x:Q", "two\nlines", "</script><script>pwned()", "x" * 300]
    chart = scree_chart({name: pca(rows(seed=i)) for i, name in enumerate(names)})
    entries = list(dict.fromkeys(row["result"] for row in spec_of(chart)["data"]["values"]))
    assert len(entries) == 6
    assert all(
        "\n" not in entry and len(entry) < 110 and "centred, not scaled, divisor n" in entry for entry in entries
    )
    fields = set(re.findall(r'"field": "([^"]*)"', json.dumps(spec_of(chart)["spec"])))
    assert fields == {"component", "rank", "value", "result", "order", "area", "said", "panel"} - {"panel"}
    chart.save(tmp_path / "x.html")
    page = (tmp_path / "x.html").read_text(encoding="utf-8")
    assert "pwned()" in page
    assert "</script><script>pwned" not in page
    assert not re.search(r"""(?:src|href)\s*=\s*["']?(?:https?:)?//""", page)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((rows(),), TypeError, r"^results must be a result of pca.*, or a mapping of names to them; got ndarr"),
        (({},), ValueError, "^a picture compares 1 to 6 results; got 0"),
        (({None: pca(rows())},), TypeError, "^the names of results must be texts; got None"),
        (({"a": pd.DataFrame(rows())},), TypeError, "^the result named 'a' must be a result of pca"),
        ((pca(rows()), "share"), ValueError, "^kind must be one of 'shares', 'variances'; got 'share'"),
        ((pca(rows()), None), ValueError, "^kind must be one of .*; got None"),
        ((pca(rows()), "shares", 0), ValueError, '^components must be a whole number from 1 or "all"; got 0'),
        ((pca(rows()), "shares", True), ValueError, "^components must be a whole number from 1 .*; got True"),
        ((pca(rows()), "shares", 2.0), TypeError, "^components must be a whole number or .*; got 2.0"),
        ((pca(rows()), "shares", "two"), TypeError, "^components must be a whole number or .*; got 'two'"),
        ((pca(rows()), "shares", (1, 2)), TypeError, r"^components must be a whole number or .*; got \(1, 2\)"),
    ],
)
def test_a_bad_argument_is_refused_by_name(arguments, error, message):
    with pytest.raises(error, match=message):
        make_scree_picture(*arguments)


def test_the_same_result_gives_the_same_specification_and_its_last_bits_do_not_count():
    result = pca(rows())
    first = json.dumps(scree_chart(result).to_dict())
    scree_chart({"a": result, "b": result}).to_dict()
    assert json.dumps(scree_chart(result).to_dict()) == first
    assert not re.search(r"\b(param|view)_?\d+\b", first)
    for seed in range(8):
        data = rows(seed=seed)
        shaken = data * (1 + np.random.default_rng(seed).uniform(-1e-14, 1e-14, data.shape))
        for kind in ("shares", "variances"):
            made = [make_scree_picture(pca(each), kind) for each in (data, shaken)]
            one, other = ((scree_rows(each), scree_signals(each, 404), digest(each)) for each in made)
            assert json.dumps(one) == json.dumps(other)
