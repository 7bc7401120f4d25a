"""The handout in Chromium, opened from disk: nothing is resolved, nothing is asked for, everything moves."""

from __future__ import annotations

import contextlib
import re

import numpy as np
import pandas as pd
import pytest

from dppca_nb import datasets, dp_loading, handout

pytestmark = pytest.mark.browser

EVIL = ["</script><script>window.pwned=1</script>", "<img src=x onerror=window.pwned=1>", "`${window.pwned=1}`"]
TASK = "# A task\n\nMove *it*.\n\n<details>\n<summary>Answer</summary>\n\nSo.\n\n</details>\n"
SMUGGLE = """() => {
  const script = document.createElement('script'), box = document.createElement('div');
  script.textContent = 'window.pwned = 1';
  box.innerHTML = '<img src="data:," onerror="window.pwned = 2">';
  document.body.append(script, box);
}"""
# What a picture and its table show, in no order. Colour ramps are numbered as they are made. Vega words a title's
# aria-label once; nobody hears it, since the stage has a role and words of its own.
SHOWN = """() => {
  const root = document.querySelector('.dppca');
  const told = (e) => [e.tagName, ...Array.from(e.attributes, ({ name, value }) => `${name}=${value}`)
    .filter((one) => !one.startsWith('aria-label=')).sort(),
    e.childElementCount ? '' : e.textContent].join(' ').replaceAll(/gradient_[0-9]+|clip[0-9]+/g, '');
  return [...root.querySelectorAll('.chart svg *')].filter((e) => !e.closest('defs')).map(told).sort()
    .concat(root.querySelector('.table').innerHTML);
}"""
AFRESH = "({ explorer }) => { explorer.chart.key = explorer.table.form = ''; explorer.redraw(); }"
SLIDER = ".dppca input[type=range]"


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("handouts")
    small = {"components": 3, "levels": 4}
    cars = datasets.cars2004()
    evil = pd.DataFrame(np.random.default_rng(0).normal(size=(20, 3)), columns=EVIL)
    evil.attrs["title"] = EVIL[0]
    release = dp_loading(
        np.random.default_rng(0).normal(size=(900, 4)) * [4, 3, 2, 1], epsilon=0.5, delta=1e-6, calibration="analytic"
    )
    return {
        "rates": handout(datasets.usarrests(), folder / "rates.html", reference=("beside", "off"), **small),
        "cars": handout(cars, folder / "cars.html", gini=True, exercises=TASK, **small),
        "evil": handout(evil, folder / "evil.html", exercises="\n\n".join(EVIL), title=EVIL[0], **small),
        "release": handout(release, folder / "release.html", title="Survey", **small),
    }


class Page:
    """A handout that is open."""

    def __init__(self, page, path, live):
        self.page, self.asked, self.errors = page, [], []
        page.on("request", lambda request: self.asked.append(request.url))
        page.on("console", lambda message: message.type in ("error", "warning") and self.errors.append(message.text))
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.goto(path.as_uri())
        if live:
            page.wait_for_selector(".dppca[data-drawn]")

    def settle(self):
        """Wait until every picture is drawn, and its table, which follows after the next frame."""
        self.page.evaluate(
            """async () => {
              await new Promise((done) => { requestAnimationFrame(() => setTimeout(done)); });
              await Promise.all([...document.querySelectorAll('.dppca')].map((root) => root.explorer.chart.turn));
            }"""
        )

    def text(self, selector):
        return self.page.locator(selector).first.text_content()

    def picture(self):
        """Everything that is drawn, as text."""
        self.settle()
        return self.page.evaluate("() => document.querySelector('.dppca .chart svg').innerHTML")

    def kind(self, value, explorer=0):
        """Choose what is drawn."""
        self.page.locator(".dppca").nth(explorer).locator(f"input[type=radio][value={value}]").check()
        self.settle()

    def press(self, key):
        self.page.focus(SLIDER)
        self.page.keyboard.press(key)
        self.settle()


@pytest.fixture
def show(browser, pages):
    """Open a handout: ``show("rates", width=360)``. At the end it asked for nothing and reported nothing."""
    with contextlib.ExitStack() as stack:
        opened = []

        def make(name, width=1280, scheme="light", live=True):
            context = browser.new_context(
                viewport={"width": width, "height": 900}, color_scheme=scheme, java_script_enabled=live
            )
            stack.callback(context.close)
            context.set_default_timeout(20_000)
            opened.append(Page(context.new_page(), pages[name], live))
            return opened[-1]

        yield make
        for one in opened:
            assert [url for url in one.asked if not url.startswith(("file:", "data:"))] == []
            assert len([url for url in one.asked if url.startswith("file:")]) == 1
            assert one.errors == []


def test_the_slider_moves_picture_and_words_by_keyboard(show):
    page = show("rates")
    words = (".dppca .big", ".dppca .small", ".dppca .status", ".dppca .guarantee", ".dppca table")
    before = [page.picture(), *map(page.text, words)]
    page.press("ArrowRight")
    after = [page.picture(), *map(page.text, words)]
    assert all(old != new for old, new in zip(before, after, strict=True))
    assert page.page.get_attribute(SLIDER, "aria-valuetext") == f"epsilon {page.text('.dppca .big').split()[-1]}"
    page.press("ArrowLeft")
    assert [page.text(word) for word in words] == before[1:]
    page.press("End")
    assert page.text(".dppca .big") == "ε = 10"


def test_a_step_moves_the_marks_and_rows_there_are_and_draws_once(show):
    page = show("cars")
    page.press("Home")
    page.page.evaluate(
        """() => {
          const root = document.querySelector('.dppca'), { explorer } = root, redraw = explorer.redraw;
          window.drawn = 0;
          explorer.redraw = function () { window.drawn += 1; redraw.call(this); };
          window.rows = [...root.querySelectorAll('tbody tr')];
          window.stood = [...root.querySelectorAll('.chart .mark-symbol path, .chart .mark-text text')];
        }"""
    )
    before = page.text(".dppca table")
    for _ in range(3):  # one of them changes the height of the words
        page.press("ArrowRight")
    page.page.wait_for_timeout(200)  # what is drawn twice is drawn by a later frame
    assert page.text(".dppca table") != before
    assert page.page.evaluate("window.drawn") == 3
    assert page.page.evaluate("window.rows.every((row) => row.isConnected)")
    kept = page.page.evaluate("window.stood.filter((node) => node.isConnected).length / window.stood.length")
    assert kept > 0.8  # some notes and leaders come and go


@pytest.mark.parametrize("name", ["cars", "rates", "release"])
def test_a_picture_that_was_moved_is_the_one_drawn_afresh(show, name):
    page = show(name)
    for kind in ("vector", "heatmap", "point"):
        page.kind(kind)
        for uncertainty in ("off", "ellipses"):
            page.page.locator(".dppca select[aria-label=Uncertainty]").first.select_option(uncertainty)
            for key in ("End", "ArrowLeft", "Home"):
                page.press(key)
                moved = page.page.evaluate(SHOWN)
                page.page.eval_on_selector(".dppca", AFRESH)
                page.settle()
                assert moved == page.page.evaluate(SHOWN), (kind, uncertainty, key)


def test_the_focus_stays_on_a_variable_whose_row_moves(show):
    page = show("cars")
    at = "document.activeElement.closest('tr')"
    names, rows = set(), set()
    for step in range(4):
        page.page.evaluate(
            """(step) => { const input = document.querySelector('.dppca input[type=range]');
              input.value = step; input.dispatchEvent(new Event('input')); }""",
            step,
        )
        page.settle()
        if not names:
            page.page.locator(".dppca td .name").nth(1).focus()
        names.add(page.page.evaluate(f"{at}.dataset.variable"))
        rows.add(page.page.evaluate(f"{at}.rowIndex"))
    assert len(names) == 1 < len(rows)


def test_pair_kind_reference_and_uncertainty_are_answered(show):
    page = show("rates")
    page.page.select_option("select[aria-label='Pair of components']", "2,3")
    assert "Loadings on PC2 and PC3" in page.picture()
    assert page.text(".dppca th:nth-child(2)") == "PC2"
    page.page.select_option("select[aria-label='Uncertainty']", "ellipses")
    assert "90 %" in page.picture()
    assert page.page.locator(".dppca td svg .whisker").count() == 8
    page.page.select_option("select[aria-label='Non-private reference']", "off")
    assert "Reference, not private" not in page.picture()
    page.kind("point")
    assert page.page.locator(".dppca .mark-symbol path").count() > 0
    page.kind("heatmap")
    assert "Loadings on PC1 to PC4" in page.picture()
    page.press("Home")
    assert "ε 0.05" in page.picture()


def test_only_what_lies_in_the_page_is_offered(show):
    page = show("rates")
    for hidden in ("Delta", "Calibration of the noise", "Pattern of the simulated data"):
        assert not page.page.get_by_label(hidden, exact=True).first.is_visible()
    for text in ("New noise draw", "Variables"):
        assert not page.page.get_by_text(text, exact=True).first.is_visible()
    offered = page.page.eval_on_selector_all(
        "select[aria-label='Non-private reference'] option", "(all) => all.filter((o) => !o.hidden).map((o) => o.value)"
    )
    assert offered == ["off", "beside"]
    cars = show("cars")
    assert not cars.page.get_by_label("Non-private reference").is_visible()


def test_gini_components_and_exercises_stand_below(show):
    page = show("cars")
    gini = page.page.locator(".dppca").nth(1)
    before = gini.locator(".big").text_content()
    gini.locator("input[type=range]").first.focus()
    page.page.keyboard.press("End")
    page.settle()
    assert before != gini.locator(".big").text_content() == "ν = 20"
    for kind in ("vector", "circle", "contributions", "shares", "correlations", "scores"):
        page.kind(kind, explorer=1)
        assert gini.locator(".chart svg").count() == 1
    assert not gini.get_by_label("Factor by which one row is multiplied").is_visible()
    answer = page.page.get_by_text("So.")
    assert not answer.is_visible()
    page.page.get_by_text("Answer").click()
    assert answer.is_visible()


def test_a_release_has_a_slider_that_lowers_it(show):
    page = show("release")
    assert page.text(".dppca .big") == "ε = 0.50"
    assert page.page.get_attribute(SLIDER, "aria-valuetext") == "as released"
    at_release = page.picture()
    page.press("Home")
    assert page.text(".dppca .big") == "ε = 0.05"
    assert page.picture() != at_release
    assert page.text(".dppca .badge") == "Released"
    page.press("End")
    assert page.text(".dppca .big") == "ε = 0.50"


def test_names_that_are_markup_run_nothing_and_are_shown(show):
    page = show("evil")
    assert page.page.evaluate("() => window.pwned") is None
    assert page.page.title() == EVIL[0]
    assert page.text("h1") == EVIL[0]
    for _ in range(2):
        page.press("ArrowRight")
    page.kind("heatmap")
    assert "<script>" in page.page.evaluate("() => document.querySelector('.dppca').textContent")
    assert page.page.evaluate("() => document.querySelectorAll('main img:not(.still img), iframe').length") == 0
    assert page.page.evaluate("() => window.pwned") is None


def test_the_policy_stops_a_script_that_got_in(show):
    page = show("rates")
    page.page.evaluate(SMUGGLE)
    page.page.wait_for_timeout(200)
    assert page.page.evaluate("() => window.pwned") is None
    assert len([text for text in page.errors if "Content Security Policy" in text]) == 2
    page.errors.clear()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 700, 1366])
@pytest.mark.parametrize("name", ["rates", "cars", "release"])
def test_a_page_fits_its_window(show, name, width, scheme):
    page = show(name, width, scheme)
    page.settle()
    assert page.page.evaluate("() => document.documentElement.scrollWidth") == width
    for box in page.page.eval_on_selector_all(
        ".dppca .chart svg", "(all) => all.map((e) => e.getBoundingClientRect().right)"
    ):
        assert box <= width


def test_a_dark_system_has_a_dark_page(show):
    page = show("rates", scheme="dark")
    assert page.page.evaluate("() => document.querySelector('.dppca').dataset.dark") == "true"
    assert page.page.evaluate("() => getComputedStyle(document.body).backgroundColor") == "rgb(17, 17, 17)"
    page.page.emulate_media(color_scheme="light")
    page.page.wait_for_function("() => document.querySelector('.dppca').dataset.dark === 'false'")


@pytest.mark.parametrize(("name", "plots"), [("rates", 3), ("release", 3), ("cars", 3 + 6 + 1)])
def test_print_has_one_page_for_each_plot(show, name, plots):
    page = show(name)
    printed = page.page.pdf(prefer_css_page_size=True, print_background=False)
    assert len(re.findall(rb"/Type\s*/Page\b(?!s)", printed)) == plots  # the last of cars: its exercises
    page.page.emulate_media(media="print")
    assert page.page.locator("figure.still img").count() == len(page.page.query_selector_all("figure.still"))
    assert page.page.locator("figure.still img").first.is_visible()
    for gone in (".dppca", ".off", "details"):
        for one in page.page.query_selector_all(gone):
            assert not one.is_visible()


def test_print_of_a_dark_system_is_black_on_white(show):
    page = show("rates", scheme="dark")
    page.page.emulate_media(media="print", color_scheme="dark")
    assert page.page.evaluate("() => getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.page.evaluate("() => getComputedStyle(document.querySelector('h1')).color") == "rgb(0, 0, 0)"


def test_without_javascript_a_page_says_what_it_is_and_shows_its_pictures(show):
    page = show("rates", live=False)
    said = page.page.locator("noscript .off")
    assert "it needs JavaScript, which is off" in said.text_content()
    assert said.bounding_box()["height"] > 20
    assert page.page.locator("figure.still img").count() == 3
    for image in page.page.query_selector_all("figure.still img"):
        assert image.is_visible()
    assert page.page.get_by_text("This browser cannot run").is_hidden()


def test_a_browser_that_is_too_old_is_told_so(browser, pages):
    context = browser.new_context()
    page = context.new_page()
    page.add_init_script("delete globalThis.DecompressionStream")
    page.goto(pages["rates"].as_uri())
    page.get_by_text("This browser cannot run").wait_for(state="visible")
    assert page.locator("figure.still img").first.is_visible()
    context.close()


def test_pictures_and_tables_can_be_saved(show):
    page = show("rates")
    for button, name in (
        ("Save picture as SVG", "us-arrests-1973-loadings.svg"),
        ("Save picture as PNG", "us-arrests-1973-loadings.png"),
        ("Save the table as CSV", "us-arrests-1973-loadings.csv"),
    ):
        with page.page.expect_download() as saved:
            page.page.get_by_label(button).click()
        assert saved.value.suggested_filename == name
