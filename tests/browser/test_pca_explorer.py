"""The explorer of ordinary components in JupyterLab: every control, mouse and keyboard, themes, narrow, files."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from .explorer_page import CONTRASTS, LIGHT_AREAS, showing

pytestmark = pytest.mark.browser

SETUP = """
import numpy as np, pandas as pd
from dppca_nb import PCAExplorer, datasets
names = ["a.b", "t:Q", "<img src=x onerror=window.pwned=1>", "it's"]
long = [f"row {i} with a name that is rather long" for i in range(10)]
odd = pd.DataFrame(np.random.default_rng(1).normal(size=(12, 4)), columns=names)
odd.index = ["</script><script>window.pwned=1</script>", "x[0]", *long]
odd["group [m]"] = ["<b>one</b>", "two"] * 6
"""
IRIS = "explorer = PCAExplorer(datasets.iris(), {})\nexplorer"
STATES = "explorer = PCAExplorer(datasets.usarrests(), scale=True, {})\nexplorer"
ITEMS = """dx.items(root).map(([, item]) => item)
  .filter((item) => item.datum.role === '{}' && item.mark.marktype === '{}')"""
DOTS, BARS = ITEMS.format("dot", "symbol"), ITEMS.format("bar", "rect")
# boxes of what is written into the picture, in its panel
TEXTS = """dx.items(root).filter(([, item]) => item.mark.marktype === 'text' && !item.stroke
    && ['label', 'note'].includes(item.datum.role))
  .map(([node, item]) => {
    const box = node.getBoundingClientRect(), frame = dx.frame(node), { left, top, width, height } = frame;
    return [item.text, box.left - left, box.top - top, box.right - left, box.bottom - top, width, height]; })"""
CLIPPED = """[...root.querySelectorAll('th button')]
  .filter((node) => node.getBoundingClientRect().right > node.parentElement.getBoundingClientRect().right + 1)
  .map((node) => node.textContent)"""
CONTROLS = {
    "Component across", "Colour of the points", "Number of variables, longest first, at most 4", "Labels", "Values",
}  # fmt: skip


@pytest.fixture(scope="module")
def shared(open_notebook):
    """One notebook for all tests of this module."""
    with open_notebook(SETUP, "", "", width=1500, height=1200) as made:
        yield made


@pytest.fixture
def show(shared):
    with showing(shared, SETUP) as put:
        yield put


def places(view):
    return view.read(f"{DOTS}.map((item) => [item.x, item.y])")


def test_route_centring_scaling_and_divisor_change_the_picture(show, shared):
    (view,) = show(IRIS.format("color='Species'"))
    view.brand()
    assert len(places(view)) == 150
    before = places(view)
    view.root.get_by_role("radio", name="prcomp").click()
    view.settle_on("method", "prcomp")
    assert places(view) == before  # the same scores
    assert "prcomp, centred, not scaled, divisor n − 1" in view.words()
    view.root.get_by_role("checkbox", name="Scale").click()
    view.settle_on("scale", True)
    assert places(view) != before
    assert "PC1 score, 73.0 % of the variance" in view.words()
    view.root.get_by_label("Divisor of the variances").select_option("n")
    view.settle_on("ddof", 0)
    assert "scaled, divisor n" in view.words()
    assert view.root.locator("td.length").first.inner_text() == "2.918"
    view.root.get_by_role("checkbox", name="Centre").click()
    view.settle_on("center", False)
    assert "not centred" in view.words()
    assert "from the direction of the mean" in view.root.locator(".status").inner_text()
    assert view.branded  # one picture, never embedded again


def test_every_kind_is_drawn_with_its_own_controls_and_table(show, shared):
    (view,) = show(IRIS.format("scale=True"))
    bars = "root.querySelectorAll('.table tbody tr').length"
    for name, controls in (
        ("Loadings", {"Component across", "Number of variables, longest first, at most 4", "Labels"}),
        ("Heatmap", {"Number of variables, longest first, at most 4", "Values"}),
        ("Shares", set()),
        ("Variances", set()),
        ("Scores", {"Component across", "Colour of the points"}),
    ):
        view.plot(name)
        for control in CONTROLS:
            fields = view.root.get_by_label(control, exact=True)
            assert bool(fields.count() and fields.first.is_visible()) == (control in controls), (name, control)
        assert view.read(bars) == 4
        assert (
            view.root.locator(".chart")
            .get_attribute("aria-label")
            .startswith(
                {"Shares": "Shares of", "Variances": "Variances of", "Scores": "Scores on"}.get(name, "Loadings on")
            )
        )
    view.plot("Shares")
    heights = view.read(f"{BARS}.map((item) => item.height)")
    shares = shared.eval("explorer.result.shares.tolist()")
    assert [h / heights[0] for h in heights] == pytest.approx([s / shares[0] for s in shares], abs=0.01)
    view.plot("Loadings")
    assert view.marks("private-vector").keys() == set(shared.eval("list(explorer.result.directions.index)"))


def test_pair_and_colour_change_the_scores(show, shared):
    (view,) = show(IRIS.format("scale=True"))
    before = places(view)
    view.root.get_by_label("Component across").select_option("PC3")
    view.settle_on("components", [3, 2])
    assert [y for _, y in places(view)] != [y for _, y in before] or places(view) != before
    view.root.get_by_label("Component up").select_option("PC3")  # the other one's value swaps the two
    view.settle_on("components", [2, 3])
    one = set(view.read(f"{DOTS}.map((item) => item.fill)"))
    assert len(one) == 1
    view.root.get_by_label("Colour of the points").select_option("Species")
    view.settle_on("color", "Species")
    assert len(set(view.read(f"{DOTS}.map((item) => item.fill)"))) == 3
    assert len(set(view.read(f"{DOTS}.map((item) => String(item.shape))"))) == 3
    assert all(name in view.words() for name in ("Species", "setosa", "versicolor", "virginica"))
    view.root.get_by_label("Colour of the points").select_option("row mean")
    view.settle_on("color", "row mean")
    assert len(set(view.read(f"{DOTS}.map((item) => item.fill)"))) > 50


@pytest.mark.parametrize("width", [1100, 700, 360])
def test_names_of_rows_never_overlap_and_stay_in_the_panel(show, shared, width):
    (view,) = show(STATES.format(""))
    view.width(width)
    texts = view.read(TEXTS)
    assert len(texts) > (10 if width == 360 else 30)
    for i, (one, left, top, right, bottom, wide, high) in enumerate(texts):
        assert left >= -2, one
        assert right <= wide + 24, one
        assert top >= -3, one
        assert bottom <= high + 3, one
        for other, x0, y0, x1, y1, *_ in texts[:i]:
            assert min(right, x1) - max(left, x0) <= 1 or min(bottom, y1) - max(top, y0) <= 2, (one, other)


@pytest.mark.parametrize("width", [360, 700])
@pytest.mark.parametrize("kind", ["Scores", "Loadings", "Heatmap", "Shares"])
def test_a_narrow_page_scrolls_downwards_only(show, width, kind):
    (view,) = show(IRIS.format("scale=True, color='Species'"))
    view.plot(kind)
    view.width(width)
    assert view.read("root.scrollWidth - root.clientWidth") <= 0
    beyond = view.read(
        """[...root.querySelectorAll('*')].filter((node) => !node.closest('.spoken, defs') && !node.closest('svg *')
             && node.clientWidth && node.getBoundingClientRect().right > root.getBoundingClientRect().right + 1)
           .map((node) => `${node.tagName}.${node.getAttribute('class')}`)"""
    )
    assert beyond == []
    assert view.read(CLIPPED) == []


@pytest.mark.parametrize("kind", ["scores", "vector", "heatmap", "shares"])
def test_both_themes_keep_the_contrast_of_every_text(show, shared, kind):
    (view,) = show(IRIS.format(f"scale=True, color='Species', kind='{kind}'"))
    for theme in ("light", "dark"):
        if theme == "dark":
            shared.theme("JupyterLab Dark")
            view.waits("dx.light(dx.behind(root)) < 0.05 && root.dataset.dark === 'true'")
            view.page.wait_for_timeout(300)
            bars = "rgb(86, 180, 233)"  # the colour of the data in this theme
            assert [area for area in view.check(LIGHT_AREAS) if bars not in area] == []
        found = view.check(CONTRASTS)
        assert len(found) > 30
        assert [(text, round(ratio, 2)) for text, ratio in found if ratio < 4.5] == []


def test_the_keyboard_alone_works_every_control(show, shared):
    (view,) = show(IRIS.format(""))
    keys = view.page.keyboard
    view.root.get_by_role("button", name="Copy one call").focus()
    for key, trait, value in (
        ("Tab", None, None), ("ArrowRight", "method", "eigen"), ("Tab", None, None), ("Space", "center", False),
        ("Tab", None, None), ("Space", "scale", True), ("Tab", None, None), ("ArrowDown", "ddof", 0),
        ("Tab", None, None), ("ArrowRight", "kind", "vector"), ("Tab", None, None), ("ArrowDown", "components", [2, 1]),
    ):  # fmt: skip
        keys.press(key)
        if trait:
            view.settle_on(trait, value)
    assert "Loadings on PC2 and PC1" in view.words()


def test_tables_sort_and_save_what_they_show(show, shared):
    (view,) = show(IRIS.format("scale=True"))
    first = "root.querySelector('.table tbody tr').textContent"
    assert view.read(first).startswith("PC1")
    view.root.get_by_role("button", name="Component").click()
    assert view.read(first).startswith("PC4")
    view.root.get_by_role("button", name="Share").click()
    assert view.read(first).startswith("PC1")
    with view.page.expect_download() as download:
        view.root.get_by_role("button", name="Save the table as CSV").click()
    lines = list(csv.reader(io.StringIO(Path(download.value.path()).read_text(encoding="utf-8"))))
    assert lines[0] == ["component", "variance (divisor n)", "share", "cumulative share", "note"]
    assert [float(line[2]) for line in lines[1:]] == pytest.approx(shared.eval("explorer.result.shares.tolist()"))
    with view.page.expect_download() as download:
        view.root.get_by_role("button", name="Save picture as SVG").click()
    assert "Scores on PC1 and PC2" in Path(download.value.path()).read_text(encoding="utf-8")
    assert download.value.suggested_filename == "iris-scores.svg"


def test_odd_names_are_drawn_as_they_are(show, shared):
    (view,) = show("explorer = PCAExplorer(odd, color='group [m]')\nexplorer")
    assert "x[0]" in view.words()
    assert "<b>one</b>" in view.words()
    view.plot("Loadings")
    view.plot("Heatmap")
    assert not view.page.evaluate("window.pwned === 1")


def test_a_refused_setting_is_said_and_the_last_picture_stays(show, shared):
    (view,) = show("explorer = PCAExplorer(datasets.iris().assign(site=5.0))\nexplorer")
    before = places(view)
    view.root.get_by_role("checkbox", name="Scale").click()
    view.waits("root.querySelector('.status').textContent.includes('Constant: site')")
    assert "The last picture is kept" in view.root.locator(".status").inner_text()
    assert places(view) == before
    view.root.get_by_role("checkbox", name="Scale").click()
    view.waits("!root.querySelector('.status').textContent.includes('Constant')")


def test_two_views_and_both_explorers_live_on_one_page(show, shared):
    one, two = show(IRIS.format(""), "explorer")
    one.root.get_by_role("radio", name="prcomp").click()
    one.settle_on("method", "prcomp")
    two.settle()
    assert "divisor n − 1" in two.words()
    assert two.root.get_by_role("radio", name="prcomp").is_checked()


def test_a_setting_that_leaves_nothing_to_draw_can_be_taken_back_in_the_view(show, shared):
    still = "explorer = PCAExplorer(datasets.iris().assign(site=5.0), scale=True)\nexplorer"
    (view,) = show(still, settle=False)
    view.waits("root.querySelector('.empty').checkVisibility()")
    assert "Constant: site" in view.root.locator(".empty").inner_text()
    scale = view.root.get_by_role("checkbox", name="Scale")
    assert scale.is_checked()
    assert not view.root.locator(".main").is_visible()
    scale.click()
    view.settle_on("scale", False)
    assert not view.root.locator(".empty").is_visible()
    assert len(places(view)) == 150
    scale.click()  # now there is a last picture
    view.waits("root.querySelector('.status.bad')")
    assert "Constant: site" in view.root.locator(".status").inner_text()
    assert len(places(view)) == 150
