"""Redraws of the noise in pictures: ellipses, clouds, pale cells; and pictures of simulated data, which say so."""

import itertools
import json
import re
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
import vl_convert

from dppca_nb import compare_chart, datasets, loading_chart, pca
from dppca_nb.charts import theme
from dppca_nb.charts.heatmap import INK, heatmap_rows
from dppca_nb.charts.loading import digest, live_spec
from dppca_nb.charts.picture import make_picture
from dppca_nb.charts.plane import plane_rows, zoom
from dppca_nb.charts.spread import CHI2, PALE, STEP, WIDE, ellipses
from dppca_nb.charts.subject import MANY
from dppca_nb.core.preview import PreviewDraws
from dppca_nb.core.privacy import Budget, make_guarantee
from dppca_nb.core.release import release_from_noisy
from dppca_nb.core.uncertainty import redraw, unit_noises
from dppca_nb.widgets import frame

KINDS = ("vector", "point", "heatmap")
PLANES = ("vector", "point")
SHOWN = ("ellipses", "cloud")


def release(shares=(0.5, 0.3, 0.1, 0.06, 0.04), n=4000, epsilon=1.0, seed=0):
    """A release with these shares, whose noise is that of n rows."""
    p = len(shares)
    Q = np.linalg.qr(np.random.default_rng(seed).normal(size=(p, p)))[0]
    return noisy((Q * np.array(shares)) @ Q.T, n, epsilon)


def noisy(matrix, n=4000, epsilon=1.0):
    return release_from_noisy(
        matrix,
        names=[f"x{j}" for j in range(1, len(matrix) + 1)],
        guarantee=make_guarantee(Budget(epsilon, 1e-6), n, "analytic"),
        n=n,
        coincident="zero",
    )


def preview(epsilon=0.5):
    return PreviewDraws(5000, ["a", "b", "c", "d"]).release(Budget(epsilon, 1e-6), "analytic", draw=0)


def redrawn(made, draws=60, **more):
    units = unit_noises(made.p, draws)
    return redraw(made.noisy_kendall, made.guarantee.sigma, made.loadings, units, **more)


def rows_of(picture, role, half=None):
    rows, _ = plane_rows(picture, side=404, half=half or zoom(picture))
    return [row for row in rows if row["role"] == role]


def points_of(row):
    return np.column_stack([row["xs"], row["ys"]]) * STEP


def svg(chart):
    return ElementTree.fromstring(vl_convert.vegalite_to_svg(chart.to_dict(validate=False), vl_version="6.4"))


def texts(tree):
    return ["".join(each.itertext()) for each in tree.iter() if each.tag.endswith("text")]


def said(picture):
    return "  ·  ".join(picture.subtitle(1000))


# ----- what is refused -----


@pytest.mark.parametrize("wrong", ["ellipse", None, True, 0.9, ["cloud"]])
def test_uncertainty_is_one_of_three_words(wrong):
    with pytest.raises(ValueError, match=r"^uncertainty must be one of 'off', 'ellipses', 'cloud'; got "):
        loading_chart(release(), uncertainty=wrong)


@pytest.mark.parametrize("kind", KINDS)
def test_components_without_noise_have_no_uncertainty_to_draw(kind):
    plain = pca(datasets.usarrests())
    with pytest.raises(
        ValueError, match=r'^uncertainty must be "off" here: these components were computed without noise'
    ):
        loading_chart(plain, kind, uncertainty="cloud")
    assert not rows_of(make_picture(plain, uncertainty="off"), "cloud")


def test_redraws_of_something_else_are_refused():
    made = release()
    with pytest.raises(TypeError, match=r"^spread must come from release\.uncertainty\(\.\.\.\); got DataFrame"):
        make_picture(made, uncertainty="cloud", spread=made.loadings)
    for other in (release(seed=1), release(shares=(0.6, 0.4))):
        with pytest.raises(ValueError, match=r"^spread .* from the same release"):
            make_picture(made, uncertainty="cloud", spread=redrawn(other))
    with pytest.raises(ValueError, match=r"^spread holds 2 components of 5 variables, and the picture needs 3 of 5"):
        make_picture(made, uncertainty="cloud", components=(1, 3), spread=redrawn(made, leading=2))
    make_picture(made, uncertainty="cloud", components=(1, 2), spread=redrawn(made, leading=2))


# ----- ellipses -----


@pytest.mark.parametrize("angle", [0, 30, 90, 150])
def test_an_ellipse_holds_nine_tenths_of_normal_redraws_wherever_it_points(angle):
    turn = np.radians(angle)
    axes = np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
    points = np.random.default_rng(1).normal(size=(40_000, 2)) * [0.08, 0.02] @ axes + [0.3, -0.2]
    (found,) = ellipses(points[:, None])
    assert (found.x, found.y) == pytest.approx((0.3, -0.2), abs=0.002)
    assert (found.long, found.short) == pytest.approx((0.08 * CHI2**0.5, 0.02 * CHI2**0.5), rel=0.02)
    assert min((found.turn - angle) % 180, (angle - found.turn) % 180) < 0.5
    inside = (points - [found.x, found.y]) @ axes.T / [found.long, found.short]
    assert np.mean(np.sum(inside**2, axis=1) < 1) == pytest.approx(0.9, abs=0.005)


def test_ellipses_are_drawn_where_redraws_lie_as_large_and_turned_as_they_are():
    made = release()
    chart = loading_chart(made, uncertainty="ellipses", variables="all")
    picture = make_picture(made, uncertainty="ellipses", variables="all")
    half = zoom(picture)
    layer = next(i for i, each in enumerate(chart.to_dict()["spec"]["layer"]) if "'ellipse'" in str(each))
    (group,) = [g for g in svg(chart).iter() if (g.get("class") or "").endswith(f" child_layer_{layer}_marks")]
    paths = [each for each in group if each.get("transform")]
    assert len(paths) == 5
    for path, redraws in zip(paths, np.swapaxes(picture.redraws, 0, 1), strict=True):
        x, y, turn = map(float, re.fullmatch(r"translate\((.*),(.*)\) rotate\((.*)\)", path.get("transform")).groups())
        long = -float(re.match(r"M([-\d.]+),0", path.get("d")).group(1))
        covariance = np.cov(redraws * [1, -1] * 404 / (2 * half), rowvar=False)  # in pixels, downward
        values, vectors = np.linalg.eigh(covariance)
        assert (x, y) == pytest.approx(202 + redraws.mean(axis=0) * [1, -1] * 202 / half, abs=0.1)
        assert long == pytest.approx((CHI2 * values[1]) ** 0.5, rel=0.01)
        along = np.cos(np.radians(turn)) * vectors[0, 1] + np.sin(np.radians(turn)) * vectors[1, 1]
        assert abs(along) > 0.999


def test_a_wide_ellipse_is_drawn_as_its_points_and_that_is_said():
    made = release()
    picture = make_picture(made, uncertainty="ellipses", variables="all")
    longest = max(found.long for found in picture.ellipses)
    for half, wide in ((longest / WIDE * 1.01, False), (longest / WIDE * 0.99, True)):
        clouds, notes = rows_of(picture, "cloud", half), rows_of(picture, "note", half)
        assert len(clouds) + len(rows_of(picture, "ellipse", half)) == 5
        assert bool(clouds) is wide
        assert any(note["text"] == "wide ones as points" for note in notes) is wide


def test_ellipses_leave_labels_where_they_were():
    made = release(epsilon=5)
    off, on = (make_picture(made, uncertainty=each) for each in ("off", "ellipses"))
    assert not rows_of(on, "cloud")
    assert rows_of(on, "label") == rows_of(off, "label")


def test_a_variable_without_its_name_shows_its_ellipse_only_when_lit():
    made = release(shares=np.array([0.72**j for j in range(30)]) / 3.6, n=50_000)
    picture = make_picture(made, uncertainty="ellipses", variables="all")
    named = {row["variable"] for row in rows_of(picture, "label") if row["vis"]}
    found = rows_of(picture, "ellipse")
    assert 0 < len(named) < 30
    assert {row["variable"] for row in found if row["op"]} == named
    assert len(found) == 30
    bare = make_picture(made, uncertainty="ellipses", variables="all", labels=False)
    assert all(row["op"] for row in rows_of(bare, "ellipse"))


# ----- clouds -----


@pytest.mark.parametrize("kind", PLANES)
def test_a_cloud_holds_every_redraw_of_every_variable_drawn(kind):
    made = release()
    spread = redrawn(made)
    picture = make_picture(
        made, kind=kind, components=(3, 1), variables=["x4", "x2"], uncertainty="cloud", spread=spread
    )
    clouds = rows_of(picture, "cloud")
    assert [row["variable"] for row in clouds] == ["x4", "x2"]
    for row, position in zip(clouds, (3, 1), strict=True):
        assert np.abs(points_of(row) - spread.draws[:, position][:, [2, 0]]).max() <= STEP / 2 + 1e-12
    assert not rows_of(picture, "ellipse")


def test_redraws_of_loose_axes_are_turned_within_their_plane_before_they_are_drawn():
    made = release(shares=(0.301, 0.3, 0.2, 0.1, 0.099))
    picture = make_picture(made, uncertainty="cloud", variables="all")
    assert picture.axes.loose
    turned = picture.spread.plane((1, 2), loose=True)
    assert not np.allclose(turned, picture.spread.plane((1, 2), loose=False), atol=0.1)
    for row, position in zip(rows_of(picture, "cloud"), picture.shown, strict=True):
        assert np.abs(points_of(row) - turned[:, position]).max() <= STEP
    tight = make_picture(made, uncertainty="cloud", components=(1, 3))
    assert not tight.axes.loose
    assert np.array_equal(tight.redraws, tight.spread.plane((1, 3), loose=False)[:, list(tight.shown)])


def test_sixty_redraws_of_ten_variables_are_few_bytes():
    made = release(shares=np.array([0.7**j for j in range(10)]) / 3.3, n=800)
    size = {}
    for each in ("off", *SHOWN):
        picture = make_picture(made, uncertainty=each, spread=redrawn(made))
        size[each] = len(json.dumps(plane_rows(picture, side=404, half=zoom(picture))[0]))
    assert size["cloud"] - size["off"] < 10 * 60 * 16
    assert size["ellipses"] <= size["cloud"]


def test_the_pointer_is_told_the_interval_of_both_loadings():
    made = release()
    picture = make_picture(made, uncertainty="ellipses", variables=["x2"])
    low, high = picture.bounds
    ends = [f"({theme.number(low[0, c])} to {theme.number(high[0, c])})" for c in (0, 1)]
    (tip,) = (row["tip"] for row in rows_of(picture, "hit"))
    assert tip == ", ".join(f"{theme.number(picture.private[0, c], 4)} {ends[c]}" for c in (0, 1))
    (tip,) = (row["tip"] for row in rows_of(make_picture(made, variables=["x2"]), "hit"))
    assert "to" not in tip


# ----- heatmaps -----


@pytest.mark.parametrize("uncertainty", SHOWN)
def test_a_cell_is_pale_and_in_brackets_where_its_sign_is_unsure_and_says_how_far_it_moves(uncertainty):
    made = release(n=900)
    picture = make_picture(made, kind="heatmap", components=(1, 2, 4), uncertainty=uncertainty, variables="all")
    spread, columns = picture.spread, ["PC1", "PC2", "PC4"]
    cells = {(row["variable"], row["component"]): row for row in heatmap_rows(picture)}
    seen = set()
    for variable, component in itertools.product(made.loadings.index, columns):
        row, kept = cells[variable, component], spread.sign_kept.loc[variable, component]
        value = theme.number(made.loadings.loc[variable, component])
        expected = None if kept >= 0.95 else PALE["likely"] if kept >= 0.8 else PALE["unsure"]
        seen.add(expected)
        assert row.get("op") == expected
        assert row["text"] == (value if expected is None else f"({value})")
        width = (spread.upper.loc[variable, component] - spread.lower.loc[variable, component]) / 2
        assert float(row["ends"].removeprefix("±")) == pytest.approx(width, abs=0.0052)
        assert row["redraws"].endswith(f"sign kept in {int(100 * kept + 1e-9)} %")
    assert seen == {None, PALE["likely"], PALE["unsure"]}


def test_a_drawn_heatmap_fades_cells_and_writes_what_is_under_them():
    chart = loading_chart(release(n=900), "heatmap", (1, 2, 4), uncertainty="ellipses")
    tree = svg(chart)
    opacities = {float(each.get("fill-opacity")) for each in tree.iter() if each.get("fill-opacity")}
    assert {1.0, PALE["likely"], PALE["unsure"]} <= opacities
    assert sum(text.startswith("±") for text in texts(tree)) == 15
    assert sum(text.startswith("(") for text in texts(tree)) > 3


def test_only_the_released_panel_is_faded():
    made = release(n=900)
    beside = pd.DataFrame(made.loadings.to_numpy(), made.loadings.index, made.loadings.columns)
    both = release_from_noisy(
        made.noisy_kendall.to_numpy(),
        names=list(made.loadings.index),
        guarantee=made.guarantee,
        n=made.n,
        coincident="zero",
        reference=beside.to_numpy(),
    )
    for row in heatmap_rows(make_picture(both, kind="heatmap", uncertainty="cloud")):
        assert ("ends" in row) is (row["panel"] == 1)
    picture = make_picture(both, uncertainty="cloud")
    assert {row["panel"] for row in rows_of(picture, "cloud")} == {1}


def luminance(rgb):
    share = np.asarray(rgb, float) / 255
    return np.where(share <= 0.03928, share / 12.92, ((share + 0.055) / 1.055) ** 2.4) @ [0.2126, 0.7152, 0.0722]


def test_numbers_are_readable_on_every_pale_cell_of_either_theme():
    ends = {+1: np.array([0, 0x72, 0xB2]), -1: np.array([0xD5, 0x5E, 0])}
    for middle, inks in (
        (255, {"high": INK["inkhigh"], "low": INK["inklow"], "mid": 0}),
        (21, {"high": 2, "low": 0.89, "mid": 255}),
    ):
        for opacity, value in itertools.product(PALE.values(), np.arange(-100, 101) / 100):
            full = middle * (1 - abs(value)) + ends[1 if value >= 0 else -1] * abs(value)
            fill = full * opacity + middle * (1 - opacity)
            shade = value * opacity
            ink = 255 if shade > inks["high"] else 0 if shade < -inks["low"] else inks["mid"]
            high, low = sorted((luminance(fill), luminance([ink] * 3)), reverse=True)
            assert (high + 0.05) / (low + 0.05) >= 4.5, (middle, opacity, value)


# ----- what is said -----


def test_a_picture_says_what_its_redraws_are_and_that_sampling_error_is_not_among_them():
    made = release()
    for kind, shown in itertools.product(KINDS, SHOWN):
        words = said(make_picture(made, kind=kind, uncertainty=shown))
        assert "200 noise redraws, not sampling error" in words
        assert ("90 % ellipses of" in words) is (kind != "heatmap" and shown == "ellipses")
        assert ("cloud of" in words) is (kind != "heatmap" and shown == "cloud")
        assert ("pale, in brackets: sign unsure" in words) is (kind == "heatmap")
        assert "redraws" not in said(make_picture(made, kind=kind))
    assert "30 noise redraws" in said(make_picture(made, uncertainty="cloud", spread=redrawn(made, 30)))


def test_half_widths_are_promised_only_where_they_are_written():
    made = release(shares=np.array([0.8**j for j in range(16)]) / 5, n=2000)
    for variables, labels in ((14, True), (15, True), (5, False)):
        settings = {"kind": "heatmap", "variables": variables, "labels": labels, "uncertainty": "cloud"}
        words = said(make_picture(made, **settings))
        drawn = svg(loading_chart(made, **settings)).iter()
        visible = {each.get("opacity") for each in drawn if re.fullmatch(r"±[\d.]+", each.text or "")}
        assert len(visible) == 1
        assert ("± 90 %" in words) is (float(visible.pop()) > 0)
        assert ("in brackets" in words) is labels
        assert "200 noise redraws, not sampling error" in words


def test_charts_of_many_variables_make_do_with_fewer_redraws():
    p = MANY + 1
    made = noisy(np.diag(np.linspace(1, 0, p)))
    assert "40 noise redraws" in said(make_picture(made, uncertainty="cloud", variables=3))


def test_the_digest_counts_sure_signs_and_measures_the_plane():
    made = release(n=900)
    plane, cells = (make_picture(made, kind=each, uncertainty="ellipses") for each in ("vector", "heatmap"))
    angle = plane.spread.plane_angle((1, 2))
    assert f"Half of the redraws turn the plane by more than {angle:.1f}°." in digest(plane)
    sure = int((cells.spread.sign_kept.iloc[:, :2] >= 0.95).sum(axis=None))
    assert 0 < sure < 10
    assert f"{sure} of 10 loadings keep their sign in 95 % of the redraws." in digest(cells)
    assert "redraws" not in digest(make_picture(made))


def test_a_chart_of_a_release_is_the_same_every_time_with_its_redraws():
    one, two = (loading_chart(release(), list(KINDS), uncertainty="cloud").to_json() for _ in range(2))
    assert one == two


def test_live_specifications_have_every_layer_whether_or_not_there_are_redraws():
    for kind, roles in (("vector", ("ellipse", "cloud", "watermark")), ("heatmap", ("cell", "watermark"))):
        filters = {layer["transform"][0]["filter"] for layer in live_spec(kind, 1)["spec"]["layer"]}
        assert {f"datum.role == '{role}'" for role in roles} <= filters


# ----- simulated data -----


@pytest.mark.parametrize("kind", KINDS)
def test_a_picture_of_simulated_data_says_so_in_its_title_its_subtitle_and_across_the_picture(kind):
    made = preview()
    picture = make_picture(made, kind=kind)
    assert picture.title() == "Preview: simulated loadings on PC1 and PC2"
    assert "simulated, not a release" in said(picture)
    assert "void" not in said(picture)
    assert picture.void == []
    assert not picture.subject.private
    chart = loading_chart(made, kind)
    assert texts(svg(chart)).count("SIMULATED DATA") == 1
    assert "Private" not in chart.digest
    assert "SIMULATED DATA" not in texts(svg(loading_chart(release(), kind)))


def test_the_watermark_lies_within_the_picture_and_is_faint():
    for kind, components in (("vector", (1, 2)), ("heatmap", (1, 2)), ("heatmap", (1, 2, 3, 4))):
        chart = loading_chart(preview(), kind, components)
        (mark,) = (
            each
            for each in svg(chart).iter()
            if "".join(each.itertext()) == "SIMULATED DATA" and each.tag.endswith("text")
        )
        assert float(mark.get("opacity")) <= 0.1
        width = 404 if kind == "vector" else 70 * len(components) + 40
        assert float(mark.get("font-size").removesuffix("px")) == pytest.approx(width / 9, rel=0.01)
        assert float(re.match(r"translate\(([\d.]+),", mark.get("transform")).group(1)) == pytest.approx(
            width / 2, abs=1
        )


@pytest.mark.parametrize("kind", KINDS)
def test_simulated_data_beside_others_keep_their_mark(kind):
    chart = compare_chart({"steep": preview(1), "small": preview(0.3)}, kind=kind)
    assert texts(svg(chart)).count("SIMULATED DATA") == 2
    assert "not a private release" in str(chart.to_dict()["title"]["subtitle"])


# ----- the table -----


def test_the_table_has_the_ends_of_each_interval_where_redraws_are_shown():
    made = release()
    picture = make_picture(made, uncertainty="ellipses", variables=3)
    rows = frame.table(picture, 1.0, {})["rows"]
    low, high = picture.bounds
    for row, variable in enumerate(rows):
        assert (variable["low"], variable["high"]) == (low[row].tolist(), high[row].tolist())
        assert all(a < b for a, b in zip(variable["low"], variable["high"], strict=True))
    assert all("low" not in row for row in frame.table(make_picture(made), 1.0, {})["rows"])
