"""Loadings of ordinary components: the same pictures as of a release, with what is known and not defined about them."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from dppca_nb import datasets, loading_chart, pca
from dppca_nb.charts.drawn import png
from dppca_nb.charts.loading import digest
from dppca_nb.charts.picture import make_picture
from dppca_nb.charts.plane import plane_rows, zoom
from dppca_nb.charts.subject import subject_of

KINDS = ("vector", "point", "heatmap")
SQUARE = [[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]]


def rows(n=30, p=4, seed=0):
    return np.random.default_rng(seed).normal(size=(n, p)) * np.linspace(3, 1, p)


def said(picture):
    return "  ·  ".join(picture.subtitle(1000))


def marks(picture, role):
    return [row for row in plane_rows(picture, side=404, half=zoom(picture))[0] if row["role"] == role]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("method", ["svd", "eigen", "prcomp"])
def test_the_loadings_drawn_are_those_of_the_result_with_its_convention_shares_and_size(kind, method):
    result = pca(datasets.usarrests(), method=method, scale=True)
    picture = make_picture(result, kind=kind, components=(3, 1), variables="all")
    assert picture.private == pytest.approx(result.directions[["PC3", "PC1"]].to_numpy(), abs=5.1e-5)
    divisor = "n − 1" if method == "prcomp" else "n"
    shares = "PC3 8.9 %, PC1 62.0 % of the variance"
    assert said(picture) == f"{method}, centred, scaled, divisor {divisor}  ·  {shares}  ·  n 50, p 4"
    assert picture.title() == "Loadings on PC3 and PC1"
    assert "Private" not in digest(picture)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({}, "svd, centred, not scaled, divisor n  "),
        ({"center": False, "scale": True}, "svd, not centred, scaled, divisor n  "),
        ({"method": "prcomp", "center": False}, "prcomp, not centred, not scaled, divisor n − 1  "),
        ({"method": "eigen", "ddof": 1}, "eigen, centred, not scaled, divisor n − 1  "),
    ],
)
def test_every_choice_of_the_convention_is_said(settings, words):
    assert said(make_picture(pca(rows(), **settings))).startswith(words)


def test_a_chart_of_ordinary_components_is_drawn_and_saved_as_that_of_a_release(tmp_path):
    chart = loading_chart(pca(datasets.usarrests(), scale=True), ["vector", "heatmap"])
    assert chart.to_dict()["title"]["text"] == "Loadings on PC1 and PC2"
    chart.save(tmp_path / "x.html")
    assert not re.search(
        r"""(?:src|href)\s*=\s*["']?(?:https?:)?//""", (tmp_path / "x.html").read_text(encoding="utf-8")
    )
    assert png(chart).startswith(b"\x89PNG")


@pytest.mark.parametrize("kind", KINDS)
def test_some_of_the_variables_are_said_to_be_some(kind):
    picture = make_picture(pca(rows(p=14)), kind=kind)
    assert len(picture.shown) == 10
    assert "n 30, p 14, 10 drawn" in said(picture)


# ----- what is not defined -----


@pytest.mark.parametrize("kind", ["vector", "point"])
def test_axes_of_equal_variances_are_dashed_with_a_note_and_a_sentence(kind):
    picture = make_picture(pca(SQUARE), kind=kind)
    assert all(row["dash"] for row in marks(picture, "axis"))
    assert [row["text"] for row in marks(picture, "note")] == ["axes may point anywhere"]
    assert marks(picture, "arc")
    assert "equal variances: only the span of PC1 and PC2 is defined" in said(picture)
    assert "not separated" in digest(picture)


def test_one_axis_of_a_tied_pair_beside_another_is_not_dashed_but_the_sentence_stays():
    table = np.zeros((6, 3))
    table[[0, 1, 2, 3, 4, 5], [0, 0, 1, 1, 2, 2]] = [3, -3, 1, -1, 1, -1]
    picture = make_picture(pca(table), components=(1, 2))
    assert not any(row["dash"] for row in marks(picture, "axis"))
    assert "equal variances: only the span of PC2 and PC3 is defined" in said(picture)
    assert all(row["dash"] for row in marks(make_picture(pca(table), components=(2, 3)), "axis"))


def test_axes_of_different_variances_are_plain():
    picture = make_picture(pca(rows()))
    assert not any(row["dash"] for row in marks(picture, "axis"))
    assert not marks(picture, "note")
    assert "span" not in said(picture)


@pytest.mark.parametrize("kind", KINDS)
def test_components_without_variance_are_said_to_be_arbitrary(kind):
    line = pca(np.outer(np.arange(6.0), [1, 2, 3]))
    assert "PC2 without variance: direction arbitrary" in said(make_picture(line, kind=kind))
    assert "PC1 100.0 %, PC2 0.0 % of the variance" in said(make_picture(line, kind=kind))
    none = make_picture(pca(np.ones((5, 3))), kind=kind)
    assert "PC1 0.0 %, PC2 0.0 % of the variance" in said(none)
    assert "nothing varies: directions arbitrary" in said(none)


def test_axes_of_two_components_without_variance_are_dashed():
    line = pca(np.outer(np.arange(6.0), [1, 2, 3]))
    assert all(row["dash"] for row in marks(make_picture(line, components=(2, 3)), "axis"))
    assert not any(row["dash"] for row in marks(make_picture(line, components=(1, 2)), "axis"))


# ----- shapes -----


@pytest.mark.parametrize("n", [5, 30])
def test_a_heatmap_of_all_components_has_as_many_as_there_are_and_all_of_the_variance(n):
    result = pca(rows(n=n, p=10))
    count = min(n, 10)
    picture = make_picture(result, kind="heatmap", components=range(1, count + 1), variables="all")
    assert picture.private.shape == (10, count)
    assert "together 100.0 % of the variance" in said(picture)
    fewer = make_picture(result, kind="heatmap", components=range(1, 5), variables="all")
    assert ("together 100.0 %" in said(fewer)) == (n == 5)  # of five centred rows, four components are all
    with pytest.raises(ValueError, match=rf"^components must be between 1 and {count}; got {count + 1}"):
        make_picture(result, kind="heatmap", components=(1, count + 1))


def test_one_variable_is_a_heatmap_of_one_cell():
    one = pca(pd.DataFrame({"height": [1.0, 2.0, 4.0]}))
    picture = make_picture(one, kind="heatmap")
    assert picture.private.tolist() == [[1.0]]
    assert "PC1 100.0 % of the variance" in said(picture)
    with pytest.raises(ValueError, match='needs two components, and this table has one variable; use kind="heatmap"'):
        make_picture(one)


@pytest.mark.parametrize("place", ["beside", "underneath", True])
@pytest.mark.parametrize("kind", KINDS)
def test_ordinary_components_have_no_reference_beside_them(place, kind):
    with pytest.raises(ValueError, match=r"needs a reference, and this result carries none"):
        loading_chart(pca(rows()), kind, reference=place)
    assert make_picture(pca(rows()), kind=kind, reference=False).reference == "off"


def test_nothing_of_ordinary_components_is_called_private_or_void():
    subject = subject_of(pca(rows()))
    assert (subject.private, list(subject.voids), subject.reference) == (False, [], None)


def test_odd_names_of_variables_are_values():
    names = ["Sepal.Length", "mass [kg]:Q", "two\nlines", "\x1b[31m", "</script>", "x" * 300]
    for kind in KINDS:
        chart = loading_chart(pca(pd.DataFrame(rows(p=6), columns=names)), kind, variables="all")
        plain = loading_chart(pca(rows(p=6)), kind, variables="all")
        one, other = (
            set(re.findall(r'"field": "([^"]*)"', json.dumps(each.to_dict()["spec"]))) for each in (chart, plain)
        )
        assert one == other
        assert {"two\nlines", "\ufffd[31m", "</script>"} <= {
            row.get("variable") for row in chart.to_dict(validate=False)["data"]["values"]
        }


def test_the_same_components_give_the_same_picture_and_their_last_bits_do_not_count():
    for seed in range(5):
        data = rows(seed=seed)
        shaken = data * (1 + np.random.default_rng(seed).uniform(-1e-14, 1e-14, data.shape))
        made = [make_picture(pca(each), variables="all") for each in (data, shaken)]
        one, other = ((plane_rows(each, side=404, half=zoom(each))[0], digest(each)) for each in made)
        assert json.dumps(one) == json.dumps(other)
