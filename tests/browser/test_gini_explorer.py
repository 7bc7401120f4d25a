"""The explorer of Gini components in JupyterLab: sliders, outlier, every kind, themes, narrow pages."""

from __future__ import annotations

import pytest

from .explorer_page import CONTRASTS, LIGHT_AREAS, showing

pytestmark = pytest.mark.browser

SETUP = """
import numpy as np
from dppca_nb import GiniExplorer, datasets
from dppca_nb.widgets import view
view.SLOW = 60  # a busy machine must not decide what a drag does
"""
CARS = "explorer = GiniExplorer(datasets.cars2004(), {})\nexplorer"
KINDS = {
    "Projection": "scores", "Loadings": "vector", "Circle": "circle", "Contributions": "contributions",
    "Shares": "shares", "Correlations": "correlations",
}  # fmt: skip
DOTS = """dx.items(root).map(([, item]) => item)
  .filter((item) => item.datum.role === 'dot' && item.mark.marktype === 'symbol')
  .map((item) => [item.datum.panel, item.x, item.y])"""


@pytest.fixture(scope="module")
def shared(open_notebook):
    """One notebook for all tests of this module."""
    with open_notebook(SETUP, "", "", width=1500, height=1300) as made:
        yield made


@pytest.fixture
def show(shared):
    with showing(shared, SETUP) as put:
        yield put


def choose(view, name):
    view.root.get_by_role("radio", name=name).click()
    view.settle_on("kind", KINDS[name])


def test_the_slider_moves_the_points_in_one_kept_picture_and_ends_on_the_last_value(show, shared):
    (view,) = show(CARS.format(""))
    view.brand()
    before = view.read(DOTS)
    slider = view.root.get_by_role("slider", name="Aversion parameter nu")
    box = slider.bounding_box()
    mouse = view.page.mouse
    mouse.move(box["x"] + box["width"] * 0.35, box["y"] + box["height"] / 2)
    mouse.down()
    for step in range(20):
        mouse.move(box["x"] + box["width"] * (0.35 + 0.03 * step), box["y"] + box["height"] / 2)
    mouse.up()
    settled = "explorer._frame['controls']['settings']['nu'] == explorer.nu > 8 and not explorer._dragging"
    view.notebook.until(settled, True)
    view.settle()
    nu = shared.eval("explorer.nu")
    assert f"ν {nu:g}" in view.words()
    assert view.root.locator(".big").inner_text() == f"ν = {nu:g}"
    after = view.read(DOTS)
    assert [row for row in before if row[0] == 0] != [row for row in after if row[0] == 0]
    assert view.branded


def test_the_outlier_dial_moves_both_methods_and_says_so(show, shared):
    (view,) = show(CARS.format("nu=2"))
    before = view.read(DOTS)
    view.root.get_by_label("Row that is multiplied", exact=True).select_option("Nissan Micra 1.2 65")
    view.settle_on("row", 3)
    slider = view.root.get_by_role("slider", name="Factor by which one row is multiplied")
    slider.focus()
    for _ in range(6):
        view.page.keyboard.press("ArrowRight")
    view.settle_on("theta", 10.0)
    assert "Contaminated" in view.root.locator(".banner").inner_text()
    assert "for Gini and by" in view.root.locator(".status").inner_text()
    assert view.read(DOTS) != before
    view.page.keyboard.press("Home")
    view.settle_on("theta", 1.0)
    assert "Contaminated" not in view.root.locator(".banner").inner_text()
    assert view.read(DOTS) == before


@pytest.mark.parametrize("width", [1100, 360])
def test_every_kind_is_drawn_with_its_own_controls(show, shared, width):
    (view,) = show(CARS.format("nu=4"))
    view.width(width)
    for name, kind in KINDS.items():
        choose(view, name)
        assert view.root.get_by_label("Component across").is_visible() == (kind not in ("shares", "correlations"))
        assert view.root.get_by_label("Ordinary components").is_visible() == (kind not in ("circle", "correlations"))
        assert view.read("root.querySelector('.chart svg').getBoundingClientRect().height") > 150
        assert view.read("root.scrollWidth - root.clientWidth") <= 1  # a fraction of a pixel is rounded up
        right = "node.getBoundingClientRect().right > root.getBoundingClientRect().right + 1"
        beyond = (
            f"[...root.querySelectorAll('.strip *, th button')].filter((node) => {right}).map((n) => n.textContent)"
        )
        assert view.read(beyond) == []
    choose(view, "Loadings")
    view.root.get_by_label("Ordinary components").select_option("underneath")
    view.settle_on("show_reference", "underneath")
    assert len(view.marks("under-vector")) == 6


@pytest.mark.parametrize("kind", list(KINDS.values()))
def test_both_themes_keep_the_contrast_of_every_text(show, shared, kind):
    (view,) = show(CARS.format(f"nu=4, kind='{kind}'"))
    for theme in ("light", "dark"):
        if theme == "dark":
            shared.theme("JupyterLab Dark")
            view.waits("dx.light(dx.behind(root)) < 0.05 && root.dataset.dark === 'true'")
            view.page.wait_for_timeout(300)
            bars = ("rgb(86, 180, 233)", "rgb(240, 130, 46)")  # the colours of the data in this theme
            assert [area for area in view.check(LIGHT_AREAS) if not area.endswith(bars)] == []
        found = view.check(CONTRASTS)
        if kind == "correlations":  # numbers lie on cells, whose ink test_charts measures
            found = [(text, ratio) for text, ratio in found if not text.replace(".", "").isdigit()]
        assert len(found) > 25
        assert [(text, round(ratio, 2)) for text, ratio in found if ratio < 4.5] == []


def test_a_long_table_takes_the_position_of_its_outlier(show, shared):
    (view,) = show("explorer = GiniExplorer(np.random.default_rng(0).normal(size=(1000, 4)), theta=50)\nexplorer")
    field = view.root.get_by_label("Position of the row that is multiplied, from 0")
    field.fill("999")
    field.press("Enter")
    view.settle_on("row", 999)
    view.waits("root.querySelector('.banner').textContent.includes('999')")
    assert "1,000" in view.words()
