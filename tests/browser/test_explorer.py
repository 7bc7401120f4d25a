"""The explorer in JupyterLab: mouse, keyboard, themes, two views, re-runs, files; never a request beyond loopback."""

from __future__ import annotations

import csv
import io
import math
import re
import struct
import xml.etree.ElementTree as ET
from base64 import b64decode
from pathlib import Path

import nbformat
import pytest

from .explorer_page import CONTRASTS, LIGHT_AREAS, WALK, ExplorerPage, showing

pytestmark = pytest.mark.browser

SETUP = """
import numpy as np, pandas as pd, ipywidgets
from dppca_nb import LoadingExplorer, datasets
from dppca_nb.widgets import view
view.SLOW = 60  # a busy machine must not decide what a drag does

def count(explorer):
    "Note the budget of every frame that is computed from now on."
    calls, make = [], explorer._make_frame
    explorer._make_frame = lambda layouts: (calls.append(explorer.epsilon), make(layouts))[1]
    return calls

def living():
    "Explorers that have not been closed."
    return sum(isinstance(w, LoadingExplorer) for w in list(ipywidgets.widgets.widget._instances.values()))

LONG = ["mean", "worst", "error of the mean"]
people = datasets.rand_hie().iloc[::5]
wide = datasets.elliptical(400, 30, rng=3)
wide.columns = [f"{LONG[j % 3]} of the {['radius', 'texture', 'concavity'][j // 3 % 3]} no. {j + 1}" for j in range(30)]
"""
RAND = "explorer = LoadingExplorer(people, scale=datasets.RAND_HIE_SCALES, {})\nexplorer"
WIDE = "explorer = LoadingExplorer(wide, variables=30, {})\nexplorer"
SMALL = """from dppca_nb import LoadingExplorer, datasets
explorer = LoadingExplorer(datasets.usarrests(), scale=[4, 80, 15, 9], epsilon=0.5)
explorer"""
NAMES = [
    "Sepal.Length", "mass [kg]", "odds:ratio", "t:Q", "a.1", "patient's age", '5" pipe', "back\\slash",
    'it\'s [a] "test"', "blood\npressure", "\u2764 rate", "\u6e29\u5ea6", "<img src=x onerror=window.pwned=1>",
    "</script><script>window.pwned=1</script>", "mean_arterial_pressure_at_discharge_from_ward_A",
    "mean_arterial_pressure_at_discharge_from_ward_B", "datum.loading", "a,b", "`code` **b**",
]  # fmt: skip


@pytest.fixture(scope="module")
def shared(open_notebook):
    """One notebook for the tests that need no kernel of their own: three cells, the last two rewritten by each test."""
    with open_notebook(SETUP, "", "", width=1500, height=1100) as made:
        yield made


@pytest.fixture
def show(shared):
    """Show explorers in the shared notebook and return a page object for each; nothing may go wrong meanwhile."""
    with showing(shared, SETUP) as put:
        yield put


def enter(field, text: str) -> None:
    """Type into a field over what stands there."""
    field.press("ControlOrMeta+a")
    field.press("Delete")
    field.press_sequentially(text)
    field.press("Enter")


def lit(role: str, opacity: str) -> str:
    """Expression for the variables whose marks have such an opacity."""
    chosen = f"dx.marks(root, '{role}', 'symbol').filter(([, item]) => item.opacity {opacity})"
    return f"{chosen}.map(([, item]) => item.datum.variable)"


CELLS = "dx.items(root).map(([, item]) => item).filter((item) => item.mark.marktype === 'rect' && item.datum.variable)"


def moved(before: dict, after: dict) -> bool:
    """Whether every mark has moved."""
    return before.keys() == after.keys() and all(before[name] != after[name] for name in before)


# ----- mouse -----


def test_dragging_the_slider_moves_the_arrows_in_one_kept_picture_and_ends_on_the_last_value(show, shared):
    (view,) = show(WIDE.format("epsilon=0.05"))
    view.brand()
    before, half = view.marks("private-vector"), shared.eval("explorer._half")
    view.slider.scroll_into_view_if_needed()
    box = view.slider.bounding_box()
    y = box["y"] + box["height"] / 2
    view.page.mouse.move(box["x"] + 9, y)
    view.page.mouse.down()
    view.page.mouse.move(box["x"] + box["width"] - 9, y, steps=40)
    shared.until("explorer.epsilon", 10)
    view.settle()
    assert shared.eval("explorer._dragging") is True
    assert shared.eval("explorer._half") >= half  # the scale does not shrink under the hand
    view.page.mouse.move(box["x"] + box["width"] * 0.75, y, steps=10)
    view.page.mouse.up()
    shared.until("explorer._dragging", False)
    value = view.read("Number(root.querySelector('.big').textContent.replace('ε = ', ''))")
    assert 1 < value < 10
    shared.until("explorer.epsilon", value)
    view.settle()
    assert f"ε {value:.1f} (" in view.words()
    assert view.slider.get_attribute("aria-valuetext") == f"epsilon {value:.1f}"
    assert len(before) == 30
    assert moved(before, view.marks("private-vector"))
    assert view.branded


def test_sixty_quick_moves_cost_fewer_frames_and_the_last_one_wins(show, shared):
    (view,) = show(RAND.format("epsilon=0.05"))
    shared.run("calls = count(explorer)")
    view.page.evaluate(
        """async () => { const slider = dx.root(0).querySelector('input[type=range]');
             for (let i = 0; i < 60; i += 1) {
               slider.value = i === 59 ? 17 : (i * 7) % 25;
               slider.dispatchEvent(new Event('input', { bubbles: true }));
               await new Promise((resume) => setTimeout(resume, 4));
             } }"""
    )
    shared.until("explorer.epsilon", 2)
    view.settle()
    assert shared.eval("explorer._dragging") is True
    calls = shared.eval("calls")
    assert 1 <= len(calls) < 60
    assert calls[-1] == 2
    view.read("root.querySelector('input[type=range]').dispatchEvent(new Event('change', { bubbles: true }))")
    shared.until("explorer._dragging", False)
    view.settle()
    assert shared.eval("explorer.epsilon") == 2
    assert "ε 2.0 (" in view.words()


def test_where_a_frame_takes_long_a_drag_is_drawn_once_when_released(show, shared):
    (view,) = show(RAND.format("epsilon=0.05").replace("explorer =", "view.SLOW = 0\nexplorer ="))
    shared.run("calls = count(explorer)")
    drawn = view.marks("private-vector")
    for step, kind in ((3, "input"), (10, "input"), (17, "input"), (17, "change")):
        assert shared.eval("calls") == []
        view.read(
            "(root.querySelector('input[type=range]').value = arg[0],"
            " root.querySelector('input[type=range]').dispatchEvent(new Event(arg[1], { bubbles: true })))",
            [step, kind],
        )
    assert view.root.locator(".big").inner_text() == "ε = 2.0"
    shared.until("calls", [2])
    view.settle()
    assert moved(drawn, view.marks("private-vector"))


def test_pair_plot_type_number_and_labels_change_the_picture(show, shared):
    (view,) = show(RAND.format("epsilon=3"))
    across, up = (view.root.get_by_label(f"Component {way}") for way in ("across", "up"))
    before = view.marks("private-vector")
    across.select_option("PC2")
    view.settle_on("components", [2, 1])
    assert (across.input_value(), up.input_value()) == ("2", "1")
    assert "Loadings on PC2 and PC1" in view.words()
    assert moved(before, view.marks("private-vector"))
    up.select_option("PC5")
    view.settle_on("components", [2, 5])

    assert view.marks("private-point") == {}
    view.plot("Points")
    assert len(view.marks("private-point")) == 10
    assert view.marks("private-vector") == {}
    view.plot("Heatmap")
    assert view.read(f"{CELLS}.length") == 2 * 10 * 5  # two panels of PC1 to PC4 and the PC5 that was chosen
    assert "Values" in view.root.locator(".check").inner_text()
    view.plot("Vectors")

    number = view.root.get_by_role("spinbutton")
    enter(number, "4")
    view.settle_on("variables", 4)
    assert len(view.marks("private-vector")) == len(view.marks("reference-vector")) == 4
    assert view.root.locator("tbody tr").count() == 4
    for asked, taken in (("99", 10), ("-3", 1), ("", 10)):
        enter(number, asked)
        view.settle_on("variables", taken)
    assert view.labels()
    view.root.get_by_label("Labels").uncheck()
    view.settle_on("labels", False)
    assert view.labels() == []


def test_reference_delta_and_calibration_change_the_picture(show, shared):
    (view,) = show(RAND.format("epsilon=0.5"))
    reference = view.root.get_by_label("Non-private reference")
    panels = "root.querySelectorAll('.chart svg .role-scope.cell > g').length"
    assert view.read(panels) == 2
    for place, count in (("underneath", 1), ("off", 1), ("beside", 2)):
        reference.select_option(place)
        view.settle_on("show_reference", place)
        assert view.read(panels) == count
        assert len(view.marks("under-vector")) == (10 if place == "underneath" else 0)
        assert len(view.marks("reference-vector")) == (10 if place == "beside" else 0)

    before = view.marks("private-vector")
    view.root.get_by_label("Delta").select_option("10⁻⁸")
    view.settle_on("delta", 1e-8)
    assert "δ 10⁻⁸" in view.words()
    smaller = view.marks("private-vector")
    assert before != smaller
    view.root.get_by_role("radio", name="analytic").click()
    view.settle_on("calibration", "analytic")
    assert "analytic" in view.words()
    assert smaller != view.marks("private-vector")


def test_one_noise_draw_is_kept_until_another_is_asked_for(show, shared):
    (view,) = show(RAND.format("epsilon=0.5"))
    shared.run("kept = explorer.loadings.to_numpy().tobytes()")
    drawn = view.marks("private-vector")
    view.slider.press("End")
    view.settle_on("epsilon", 10)
    assert shared.eval("explorer.loadings.to_numpy().tobytes() == kept") is False
    for _ in range(13):
        view.slider.press("ArrowLeft")
    view.settle_on("epsilon", 0.5)
    assert shared.eval("explorer.loadings.to_numpy().tobytes() == kept") is True
    assert view.marks("private-vector") == drawn
    view.root.get_by_role("button", name="New noise draw").click()
    view.settle_on("draw", 1)
    assert moved(drawn, view.marks("private-vector"))
    assert view.root.get_by_role("button", name="New noise draw").get_attribute("title") == "Noise draw 1"


# ----- keyboard and names -----


def test_the_keyboard_alone_reaches_and_works_every_control(show, shared):
    (view,) = show(RAND.format("epsilon=0.5"))
    keys = view.page.keyboard
    view.root.get_by_role("button", name="Save picture as SVG").focus()
    keys.press("Shift+Tab")
    order, described = [], []
    for _ in range(40):
        keys.press("Tab")
        name, seen = view.read(
            """(() => { const at = document.activeElement;
                 if (!root.contains(at)) return ['', true];
                 const shown = at.type === 'radio' ? at.nextElementSibling : at, style = getComputedStyle(shown);
                 const name = at.ariaLabel || at.closest('label')?.textContent || at.textContent;
                 return [at.type === 'radio' ? at.closest('fieldset').querySelector('legend').textContent : name,
                   style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 1.5]; })()"""
        )
        if not name:
            break
        order.append(name)
        described.append(seen)
    assert order[:16] == [
        "Save picture as SVG", "Save picture as PNG", "Save the table as CSV", "Copy one call that redraws this view",
        "Privacy budget epsilon, logarithmic", "Delta", "Calibration of the noise", "New noise draw", "Plot type",
        "Component across", "Component up", "Number of variables, longest first, at most 10", "Labels",
        "Non-private reference", "Uncertainty", "Variable",
    ]  # fmt: skip
    assert [re.sub(r"\W+$", "", name) for name in order[16:19]] == ["PC1", "PC2", "Length"]
    assert len(order[19:]) == 10  # one button for each row of the table
    assert all(described), [name for name, seen in zip(order, described, strict=True) if not seen]

    view.slider.focus()
    for key, value in (("ArrowRight", 0.6), ("Home", 0.05), ("PageUp", None), ("End", 10), ("ArrowLeft", 8)):
        keys.press(key)
        if value is not None:
            shared.until("explorer.epsilon", value)
    view.settle()
    keys.press("Tab")
    keys.press("ArrowDown")
    shared.until("explorer.delta", 1e-8)
    keys.press("Tab")
    keys.press("ArrowRight")
    shared.until("explorer.calibration", "analytic")
    keys.press("Tab")
    keys.press("Enter")
    shared.until("explorer.draw", 1)
    keys.press("Tab")
    keys.press("ArrowRight")
    shared.until("explorer.kind", "point")
    keys.press("Tab")
    keys.press("ArrowDown")
    shared.until("explorer.components", [2, 1])
    keys.press("Tab")
    keys.press("Tab")
    keys.press("ArrowDown")
    shared.until("explorer.variables", 9)
    keys.press("Tab")
    keys.press("Space")
    shared.until("explorer.labels", False)
    keys.press("Tab")
    keys.press("ArrowUp")
    view.settle_on("show_reference", "off")

    name = view.root.locator("tbody .name").nth(2)
    name.focus()
    keys.press("b")  # outside the view this is Lab's key for a new cell
    assert len(shared.cells()) == 3
    keys.press("Enter")
    assert name.get_attribute("aria-pressed") == "true"
    view.slider.focus()  # the row stays lit when the focus has gone
    pinned = view.root.locator("tbody tr.pinned")
    assert pinned.count() == 1
    faded = lit("private-point", "< 0.2")
    view.waits(f"{faded}.length === 8")
    assert pinned.get_attribute("data-variable") not in view.read(faded)


def test_every_control_has_a_name_and_the_picture_a_description(show, shared):
    (view,) = show(RAND.format(""))
    controls = re.findall(
        r"^\s*- (button|slider|combobox|radio|checkbox|spinbutton|textbox|group|region)\b(.*)$",
        view.root.aria_snapshot(), re.M,
    )  # fmt: skip
    nameless = [role for role, rest in controls if not re.match(r' "[^"]+"', rest)]
    assert nameless == [], view.root.aria_snapshot()
    assert len(controls) > 30
    description = view.root.locator(".chart").get_attribute("aria-label")
    assert description.startswith("Loadings on PC1 and PC2. ε 0.50")
    view.slider.press("End")
    view.settle_on("epsilon", 10)
    assert view.root.locator(".chart").get_attribute("aria-label").startswith("Loadings on PC1 and PC2. ε 10")
    view.waits("root.querySelector('.spoken[role=status]').textContent.includes('ε 10')")


def test_what_is_pinned_or_pointed_at_is_what_is_lit(show, shared):
    (view,) = show(RAND.format("epsilon=3"))
    bright = lit("private-vector", "> 0.2")
    name = view.root.locator("tbody tr").last.get_attribute("data-variable")
    view.root.locator("tbody .name").last.click()
    view.root.locator("h3").hover()
    view.root.locator("th button").first.click()
    assert view.root.locator("tbody tr.pinned").get_attribute("data-variable") == name
    assert view.root.locator("tbody .name[aria-pressed=true]").count() == 1
    view.root.locator("th button").last.click()
    shared.run("explorer.variables = 3")
    view.settle()
    view.waits(f"{bright}.length === 3")  # one that is not drawn fades nothing
    shared.run("explorer.variables = 10")
    view.settle()
    view.waits(f"{bright}.length === 1")
    assert view.read(bright) == [name]
    view.root.locator("tbody tr.pinned .name").click()

    view.root.locator("tbody tr").first.hover()
    before = view.root.locator("tbody tr").first.get_attribute("data-variable")
    shared.run("explorer.epsilon = 0.05")
    for draw in range(1, 20):  # which keeps the columns, and in time puts another variable under the pointer
        shared.run(f"explorer.draw = {draw}")
        view.settle()
        now = view.root.locator("tbody tr").first.get_attribute("data-variable")
        if now != before:
            break
    assert before != now
    view.waits(f"String({bright}) === arg", now)
    assert [now] == [view.root.locator("tbody tr.lit").get_attribute("data-variable")]

    view.root.locator("tbody .name").last.focus()
    shared.run("explorer.variables = 3")
    view.settle()
    assert view.read("document.activeElement === root.querySelector('th button')")  # near where it was, and on no other


def test_a_table_that_is_scrolled_by_keyboard_keeps_the_focus(show, shared):
    (view,) = show(WIDE.format("epsilon=1"))
    view.root.locator(".scroll").focus()
    for setting in ("epsilon = 2", "components = (2, 3)"):  # rows are kept; the table is made anew
        shared.run(f"explorer.{setting}")
        view.settle()
        assert view.read("document.activeElement === root.querySelector('.scroll')")


def test_table_and_picture_point_at_each_other_and_columns_sort(show, shared):
    (view,) = show(RAND.format("epsilon=3"))
    row = view.root.locator("tbody tr").nth(3)
    name = row.get_attribute("data-variable")
    row.hover()
    bright = lit("private-vector", "> 0.2")
    view.waits(f"{bright}.length === 1")
    assert view.read(bright) == [name]
    view.root.locator("h3").hover()
    view.waits(f"{bright}.length === 10")
    head = view.root.locator("th button").nth(1)
    for direction in ("descending", "ascending"):
        head.click()
        values = [
            float(text.replace("−", "-")) for text in view.root.locator("td.number:nth-child(2) span").all_inner_texts()
        ]
        assert values == sorted(values, reverse=direction == "descending")
        assert view.root.locator("th").nth(1).get_attribute("aria-sort") == direction


# ----- themes and widths -----


def test_the_dark_theme_is_followed_live_and_every_text_keeps_its_contrast(show, shared):
    (view,) = show(RAND.format("epsilon=0.05"))
    view.brand()
    fills = "[...new Set(dx.marks(root, 'private-vector', 'symbol').map(([node]) => getComputedStyle(node).fill))]"
    light = view.read(fills)
    assert light == ["rgb(0, 114, 178)"]
    for theme in ("light", "dark"):
        if theme == "dark":
            shared.theme("JupyterLab Dark")
            view.waits(f"String({fills}) === 'rgb(86, 180, 233)'")
            assert view.read("dx.light(dx.behind(root)) < 0.05")
            assert view.check(LIGHT_AREAS) == []
        found = view.check(CONTRASTS)
        assert len(found) > 80
        assert [(text, round(ratio, 2)) for text, ratio in found if ratio < 4.5] == []
    assert view.branded
    assert view.read("getComputedStyle(root.querySelector('.chart svg')).backgroundColor") == "rgba(0, 0, 0, 0)"


@pytest.mark.parametrize("width", [360, 700])
@pytest.mark.parametrize("kind", ["Vectors", "Heatmap"])
def test_a_narrow_page_scrolls_downwards_only(show, shared, width, kind):
    (view,) = show(WIDE.format("epsilon=2"))
    view.plot(kind)
    view.width(width)
    assert (
        view.read("[root.scrollWidth - root.clientWidth, root.querySelector('.main').scrollWidth - root.clientWidth]")[
            0
        ]
        <= 0
    )
    beyond = view.read(
        """[...root.querySelectorAll('*')].filter((node) => !node.closest('.spoken, defs') && !node.closest('svg *')
             && node.clientWidth && node.getBoundingClientRect().right > root.getBoundingClientRect().right + 1)
           .map((node) => `${node.tagName}.${node.getAttribute('class')}`)"""
    )
    assert beyond == []
    heads = view.read(
        "[...root.querySelectorAll('.chart svg text')]"
        ".filter((node) => /^(Reference, not|With noise)/.test(node.textContent))"
        ".map((node) => { const box = node.getBoundingClientRect(); return [box.left, box.top]; })"
    )
    assert len(heads) == 2
    (x0, y0), (x1, y1) = heads
    assert (abs(x1 - x0) < 2 and y1 - y0 > 100) if width == 360 else (x1 - x0 > 100 and abs(y1 - y0) < 2)
    assert view.root.locator(".table").bounding_box()["y"] > view.root.locator(".chart").bounding_box()["y"] + 100


@pytest.mark.parametrize("data", [RAND, WIDE], ids=["RAND", "thirty long names"])
def test_no_two_labels_overlap_at_any_budget(show, shared, data):
    (view,) = show(data.format("epsilon=10"))
    sides = set()
    for width in (1100, 360):
        view.width(width)
        for kind in ("Vectors", "Points"):
            view.plot(kind)
            found = view.check(WALK)
            assert found["overlaps"] == [], (width, kind)
            assert found["outside"] == [], (width, kind)
            assert found["labels"] > 25 * 2 * 3
            assert found["notes"] > 25
            sides |= set(found["sides"])
            shared.until("explorer._dragging", False)
            view.settle()
    assert len(sides) == 2  # the two widths were two sizes of panel


# ----- two views -----


def test_two_views_stay_in_step_with_one_frame_a_change(show, shared):
    first, second = show(RAND.format("epsilon=0.5"), "explorer")
    second.width(480)
    first.settle()
    assert len(shared.eval("explorer._layouts")) == 2
    shared.run("calls = count(explorer)")
    for acting, trait, value in ((first, "delta", 1e-8), (second, "draw", 1)):
        before = [view.marks("private-vector") for view in (first, second)]
        if trait == "delta":
            acting.root.get_by_label("Delta").select_option("10⁻⁸")
        else:
            acting.root.get_by_role("button", name="New noise draw").click()
        shared.until(f"explorer.{trait}", value)
        for view, old in zip((first, second), before, strict=True):
            view.settle()
            assert moved(old, view.marks("private-vector"))
    assert len(shared.eval("calls")) == 2
    for acting, key, value in ((first, "End", 10), (second, "Home", 0.05)):
        acting.slider.press(key)
        shared.until("explorer.epsilon", value)
        for view in (first, second):
            view.waits("root.querySelector('.chart svg').textContent.includes(arg)", f"ε {value} (")
        assert first.slider.get_attribute("aria-valuetext") == second.slider.get_attribute("aria-valuetext")
        assert first.slider.input_value() == second.slider.input_value()
    shared.until("explorer._dragging", False)
    assert len(shared.eval("calls")) <= 6  # a key press moves the slider and lets it go; the scale may settle then

    second.plot("Points")
    first.settle()
    for view in (first, second):
        checked = [radio.get_attribute("value") for radio in view.root.locator("input:checked[type=radio]").all()]
        assert checked == ["classical", "point"]
    groups = [
        set(view.read("[...root.querySelectorAll('input[type=radio]')].map((radio) => radio.name)"))
        for view in (first, second)
    ]
    assert not groups[0] & groups[1]
    shared.put(SETUP, RAND.format(""), "None", only=[2])
    shared.until("len(explorer._layouts)", 1)  # the view that is gone asks for nothing


def test_a_view_in_a_panel_of_its_own_stays_in_step(show, shared):
    (view,) = show(RAND.format("epsilon=0.5"))
    opened = shared.output_view(cell=1)
    try:
        other = ExplorerPage(shared, 1)
        other.root.wait_for()
        other.settle()
        other.slider.press("End")
        shared.until("explorer.epsilon", 10)
        for one in (view, other):
            one.settle()
            assert "ε 10 (" in one.words()
    finally:
        opened()


# ----- names, files, states -----


def test_names_are_shown_as_they_are_and_never_run(show, shared):
    names = [*NAMES, "same", "same", "   "]
    shared.run(f"odd = pd.DataFrame(np.random.default_rng(1).normal(size=(60, {len(names)})), columns={names!r})")
    (view,) = show("explorer = LoadingExplorer(odd, variables='all', epsilon=10)\nexplorer")
    shown = shared.eval("list(explorer.loadings.index)")
    assert set(NAMES) < set(shown)
    assert len(set(shown)) == len(names)
    assert set(view.marks("private-vector")) == set(shown)
    assert {row.get_attribute("data-variable") for row in view.root.locator("tbody tr").all()} == set(shown)
    assert {name.get_attribute("title") for name in view.root.locator("tbody .name").all()} == set(shown)
    said = view.read(
        """dx.marks(root, 'hit').map(([node, item]) => {
             const box = node.getBoundingClientRect();
             const at = { bubbles: true, clientX: box.x + box.width / 2, clientY: box.y + box.height / 2 };
             node.dispatchEvent(new PointerEvent('pointermove', at));
             node.dispatchEvent(new MouseEvent('mousemove', at));
             return root.querySelector('.tip b')?.textContent ?? null; })"""
    )
    assert set(said) == set(shown)
    assert len(view.root.locator("tbody .name").all_inner_texts()) == len(
        set(view.root.locator("tbody .name").all_inner_texts())
    )
    view.plot("Heatmap")
    cells = view.read(f"{CELLS}.map((item) => item.datum.variable)")
    assert set(cells) == set(shown)
    assert len(cells) == 2 * 4 * len(names)
    assert view.page.evaluate("() => window.pwned") is None


def saved(view: ExplorerPage, button: str) -> bytes:
    """Press an export button and return the file."""
    with view.page.expect_download() as download:
        view.root.get_by_role("button", name=button).click()
    return Path(download.value.path()).read_bytes()


def test_saved_files_hold_what_is_shown(show, shared):
    names = ['5" pipe', "a,b", "two\nlines", "\u6e29\u5ea6", "<b>&amp;"]
    shared.run(f"odd = pd.DataFrame(np.random.default_rng(1).normal(size=(60, 5)), columns={names!r})")
    shared.theme("JupyterLab Dark")
    (view,) = show("explorer = LoadingExplorer(odd, epsilon=8)\nexplorer")
    text = saved(view, "Save picture as SVG").decode()
    assert not re.search(r"currentColor|var\(|--dx", text)
    picture = ET.fromstring(text)
    words = {"".join(node.itertext()) for node in picture.iter("{http://www.w3.org/2000/svg}text")}
    assert {"Loadings on PC1 and PC2", "With noise for ε 8.0", *view.labels()} <= words
    background = view.read("dx.rgb(dx.behind(root))")
    painted = [node.get("fill") for node in picture.iter() if node.tag.endswith(("rect", "path"))]
    assert f"rgb({', '.join(map(str, map(int, background)))})" in painted

    png = saved(view, "Save picture as PNG")
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", png[16:24])
    assert (width, height) == tuple(2 * round(float(picture.get(side))) for side in ("width", "height"))
    assert view.read("root.querySelector('.chart svg').style.backgroundColor") == "transparent"

    rows = list(csv.reader(io.StringIO(saved(view, "Save the table as CSV").decode(), newline="")))
    assert rows[0] == ["variable", "PC1", "PC2", "length", "reference PC1", "reference PC2"]
    assert sorted(row[0] for row in rows[1:]) == sorted(names)
    loadings = shared.eval("explorer.loadings.round(4).to_dict('index')")
    for name, *values in rows[1:]:
        assert [float(value) for value in values[:2]] == pytest.approx([loadings[name][c] for c in ("PC1", "PC2")])
        assert float(values[2]) == pytest.approx(math.hypot(*map(float, values[:2])), abs=1.1e-4)


def test_the_copied_code_makes_the_same_explorer(show, shared):
    (view,) = show("explorer = LoadingExplorer(people, scale=datasets.RAND_HIE_SCALES, seed=4, epsilon=0.3)\nexplorer")
    view.plot("Points")
    view.slider.press("End")
    view.settle_on("epsilon", 10)
    view.root.get_by_role("button", name="New noise draw").click()
    view.settle_on("draw", 1)
    view.root.get_by_role("button", name="Copy one call").click()
    view.waits("root.querySelector('.export').textContent.includes('Copied')")
    code = view.page.evaluate("() => navigator.clipboard.readText()")
    shared.run(f"data, first = people, explorer\n{code}\nagain, explorer = explorer, first")
    assert shared.eval("[again.kind, again.epsilon, again.draw]") == ["point", 10, 1]
    assert shared.eval("np.abs(np.abs(again.loadings) - np.abs(explorer.loadings)).to_numpy().max()") < 1e-12
    shared.run("again.close()")


def test_a_wrong_setting_is_said_and_the_last_picture_kept(show, shared):
    (view,) = show(RAND.format("epsilon=0.5"))
    before = view.marks("private-vector")
    shared.run("try:\n    explorer.epsilon = float('nan')\nexcept ValueError as error:\n    said = str(error)")
    status = view.root.locator(".status")
    view.waits("root.querySelector('.status').textContent.includes('Not redrawn.')")
    assert shared.eval("said") in status.inner_text()
    assert "got nan" in status.inner_text()
    assert view.read("Number(getComputedStyle(root.querySelector('.chart')).opacity) < 0.5")
    assert view.marks("private-vector") == before
    assert shared.eval("explorer.epsilon") == 0.5
    view.slider.press("End")
    view.settle_on("epsilon", 10)
    assert "Not redrawn" not in status.inner_text()
    assert view.read("getComputedStyle(root.querySelector('.chart')).opacity") == "1"
    assert moved(before, view.marks("private-vector"))


def test_a_setting_that_fails_and_is_set_back_clears_the_message(show, shared):
    (view,) = show(RAND.format("epsilon=0.5"))
    shared.run("try:\n    explorer.kind = 'pie'\nexcept ValueError:\n    pass")
    view.waits("root.querySelector('.status').textContent.includes('Not redrawn.')")
    shared.run("explorer.kind = 'vector'")
    view.waits("!root.querySelector('.status').textContent.includes('Not redrawn.')")


def test_where_nothing_can_be_drawn_the_view_says_why(show, shared):
    one, gap = show(
        "LoadingExplorer(pd.DataFrame({'height': [1.0, 2, 4], 'town': list('abc')}))",
        "LoadingExplorer(pd.DataFrame({'a': [1.0, np.nan, 3], 'b': [2.0, 1, 5]}))",
        settle=False,
    )
    for view, words in (
        (one, ("No loadings to draw yet", "1 numeric column", "height", "town")),
        (gap, ("No loadings", "a")),
    ):
        text = view.root.inner_text()
        assert all(word in text for word in words), text
        assert not view.slider.is_visible()
        assert view.root.locator(".chart svg").count() == 0


def test_scales_from_the_sample_void_the_guarantee_in_words_and_badge(show, shared):
    (fine,) = show(RAND.format(""))
    assert not fine.root.get_by_text("Guarantee void", exact=True).is_visible()
    (view,) = show("explorer = LoadingExplorer(people, scale='sample')\nexplorer")
    assert view.root.get_by_text("Guarantee void", exact=True).is_visible()
    assert "Guarantee void: " in view.words()
    assert "must not be published as private" in view.root.locator(".guarantee").inner_text()
    assert view.root.locator(".guarantee li").count() == 1


# ----- life of a cell -----


def test_running_the_cell_again_leaves_one_explorer_and_a_restart_leaves_none_behind(open_notebook):
    with open_notebook(SETUP, SMALL, width=1300) as notebook:
        models = set()
        for _ in range(3):
            notebook.run_all()
            view = ExplorerPage(notebook)
            view.settle()
            models.add(notebook.eval("explorer.model_id"))
        assert len(models) == 3
        assert notebook.eval("living()") == 1
        alive = notebook.eval("sorted(ipywidgets.widgets.widget._instances)")
        assert models & set(alive) == {notebook.eval("explorer.model_id")}
        assert view.page.locator(".dppca").count() == 1
        assert notebook.eval("len(explorer._layouts)") == 1
        view.slider.press("End")
        view.settle_on("epsilon", 10)

        notebook.restart()
        notebook.run_all()
        view = ExplorerPage(notebook)
        view.settle()
        assert view.page.locator(".dppca").count() == 1
        assert notebook.eval("living()") == 1
        view.slider.press("Home")
        view.settle_on("epsilon", 0.05)
        assert "ε 0.05 (" in view.words()
        assert notebook.external == []
        assert notebook.errors == []


def test_a_saved_notebook_from_elsewhere_shows_the_picture_although_nothing_runs(open_notebook):
    with open_notebook(SMALL, width=1300) as notebook:
        ExplorerPage(notebook).settle()
        notebook.save()
        saved = nbformat.read(notebook.path, as_version=4)
        (output,) = saved.cells[0].outputs
        assert output.data["text/plain"].startswith("LoadingExplorer('US arrests 1973', epsilon=0.5")
        assert b64decode(output.data["image/png"]).startswith(b"\x89PNG")
        assert "widgets" not in saved.metadata
        # Written by other hands the file is not trusted, and Lab takes the picture. In a file that it trusts Lab 4.6
        # looks for the widget alone, and says "Error displaying widget: model not found" until the cell is run.
        saved.cells[0].source += "  # from elsewhere"
        nbformat.write(saved, notebook.path)
        notebook.reopen()
        picture = notebook.page.locator(".jp-OutputArea-output img")
        picture.wait_for()
        assert picture.evaluate("(img) => img.decode().then(() => img.naturalWidth)") > 400
        assert "Error" not in notebook.page.locator(".jp-OutputArea").inner_text()
        assert notebook.external == []
        assert notebook.errors == []
