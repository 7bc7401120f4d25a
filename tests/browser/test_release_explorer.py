"""Release mode in JupyterLab: preview, question, release, top-up by keyboard; saved notebooks without private rows."""

from __future__ import annotations

import json

import pytest
from nbconvert import HTMLExporter

from .explorer_page import CONTRASTS, showing

pytestmark = pytest.mark.browser

SETUP = """
import json, pathlib, tempfile
import numpy as np, pandas as pd
from dppca_nb import Ledger, LoadingExplorer, datasets
from dppca_nb.core import desk
from dppca_nb.widgets import view
view.SLOW = 60  # a busy machine must not decide what a drag does
if "folder" not in globals():  # this cell runs before every test
    folder, original = pathlib.Path(tempfile.mkdtemp()), desk.dp_loading
mixing = np.array([[3, 0.4, 0.2, 0, 0], [0, 2, 0.3, 0.1, 0], [0, 0, 1, 0.2, 0.1], [0, 0, 0, 0.7, 0], [0, 0, 0, 0, 0.5]])
rows = np.random.default_rng(4).normal(loc=37, size=(6000, 5)) @ mixing
private = pd.DataFrame(rows, columns=["income", "rent", "age", "visits", "stays"])
private.attrs["title"] = "Household survey"
calls = []
def counted(*args, **kwargs):
    calls.append(kwargs["epsilon"])
    return original(*args, **kwargs)
desk.dp_loading = counted
"""
SHOW = """
ledger = Ledger(1.2, 1e-6, path=folder / "{name}.jsonl", name="survey")
explorer = LoadingExplorer(private, ledger=ledger, epsilon={epsilon})
explorer
"""


CLIPPED = """[...root.querySelectorAll('.strip *')].filter((node) => node.clientWidth
  && node.getBoundingClientRect().right > root.getBoundingClientRect().right + 1).map((node) => node.outerHTML)"""


@pytest.fixture(scope="module")
def shared(open_notebook):
    """One notebook for all tests of this module."""
    with open_notebook(SETUP, "", "", width=1400, height=1300, name="release") as made:
        yield made


@pytest.fixture
def show(shared):
    with showing(shared, SETUP) as put:
        yield put


def ledger_text(view):
    return view.root.get_by_role("region", name="Ledger").inner_text()


def badge(view):
    return view.root.locator(".badge").first.inner_text()


def test_the_whole_release_is_done_by_keyboard_and_spends_what_it_says(show, shared):
    (view,) = show(SHOW.format(name="keys", epsilon=0.5))
    keys = view.page.keyboard
    assert badge(view) == "Release: preview"
    assert "SIMULATED DATA" in view.words()
    for step in range(5):  # the slider moves the preview alone
        view.slider.focus()
        keys.press("ArrowRight" if step % 2 else "ArrowLeft")
    view.settle()
    assert shared.eval("[calls, len(ledger.entries)]") == [[], 0]
    view.slider.focus()
    for _ in range(30):  # on with Tab, as a reader would, to the button
        keys.press("Tab")
        if view.page.evaluate("document.activeElement.textContent").startswith("Release"):
            break
    else:
        raise AssertionError("Tab never came to the button")
    cost = shared.eval("explorer._frame['ledger']['told']")
    assert cost in ledger_text(view)
    keys.press("Enter")
    confirm = view.root.get_by_role("group", name="Draw noise on the private data, once?")
    confirm.wait_for()
    assert view.page.evaluate("document.activeElement.textContent") == "Not now"
    keys.press("Escape")
    confirm.wait_for(state="hidden")
    assert view.page.evaluate("document.activeElement.textContent") == "Release…"
    keys.press("Enter")
    keys.press("Shift+Tab")
    keys.press("Enter")  # within the time of a double click: no decision
    assert confirm.is_visible()
    view.page.wait_for_timeout(700)
    keys.press("Enter")
    shared.until("explorer._frame['badge']", "Released")
    view.settle()
    shared.until("len(calls)", 1)
    assert badge(view) == "Released"
    assert shared.eval("[len(calls), len(ledger.entries)]") == [1, 1]
    assert view.root.get_by_role("region", name="Budget").is_hidden()
    assert "SIMULATED DATA" not in view.words()
    assert "Private loadings" in view.words()

    before = shared.eval("explorer.result.noisy_kendall.to_numpy().tolist()")
    view.plot("Heatmap")
    view.plot("Points")
    view.root.get_by_label("Uncertainty", exact=True).select_option("cloud")
    view.settle_on("uncertainty", "cloud")
    view.root.get_by_label("Component across", exact=True).select_option("3")
    view.settle_on("components", [3, 2])
    assert shared.eval("explorer.result.noisy_kendall.to_numpy().tolist()") == before
    assert shared.eval("[len(calls), len(ledger.entries)]") == [1, 1]

    goal = shared.eval("explorer._frame['ledger']['goal']")
    view.root.get_by_role("button", name="Top up to").focus()
    keys.press("Enter")
    view.page.wait_for_timeout(700)
    keys.press("Shift+Tab")
    keys.press("Enter")
    shared.until("[explorer.result.guarantee.epsilon, len(ledger.entries)]", [goal, 2])
    shared.until("explorer._frame.get('busy') is None", True)
    view.settle()
    assert shared.eval("abs(ledger.spent - explorer.result.guarantee.epsilon) < 1e-6")


def test_pressing_twice_in_two_views_and_running_again_spend_once(show, shared):
    cell = SHOW.format(name="twice", epsilon=0.5)
    view, other = show(cell, "explorer")
    shared.run("explorer.log.setLevel(50)")
    asked = shared.eval("explorer._frame['ledger']['asked']")
    for each in (view, other):
        each.root.get_by_role("button", name="Release…").click()
    view.page.wait_for_timeout(700)
    for each in (view, other):  # the second finds that it was done: its button may be gone by then
        each.read("[...root.querySelectorAll('.confirm .solid')].forEach((button) => button.click())")
    shared.until("explorer._frame['badge']", "Released")
    for each in (view, other):
        each.settle()
        assert badge(each) == "Released"
    shared.run(f"explorer._handle_custom_msg({{'do': 'spend', 'asked': {asked!r}}}, [])")
    assert shared.eval("len(ledger.entries)") == 1
    first = shared.eval("explorer.result.noisy_kendall.to_numpy().tolist()")
    (view,) = show(cell)
    assert badge(view) == "Released"
    assert shared.eval("explorer.result.noisy_kendall.to_numpy().tolist()") == first
    assert shared.eval("len(ledger.entries)") == 1


def test_a_saved_notebook_holds_the_release_and_no_private_number(show, shared):
    (view,) = show(SHOW.format(name="saved", epsilon=0.8))
    shared.run("explorer.release()")
    view.settle()
    shared.command("notebook:run-all-cells")
    shared.until("explorer._frame['badge']", "Released")
    shared.save()
    shared.page.wait_for_timeout(500)
    saved = shared.path.read_text(encoding="utf-8")
    values = shared.eval(
        "[*rows[:40].ravel().tolist(), *rows.mean(axis=0).tolist(), *rows.std(axis=0).tolist(),"
        " *__import__('dppca_nb').spherical_kendall(private).matrix.to_numpy().ravel().tolist()]"
    )
    exported, _ = HTMLExporter().from_filename(str(shared.path))
    private = [f"{value:.{digits}g}".lstrip("-") for value in values for digits in (6, 17)]
    assert any(number in repr(values) for number in private)
    for text in (saved, exported, shared.page.content()):
        assert [number for number in private if number in text] == []
    outputs = [output for cell in json.loads(saved)["cells"] for output in cell.get("outputs", [])]
    assert any("released" in "".join(output.get("data", {}).get("text/plain", "")) for output in outputs)


@pytest.mark.parametrize("theme", ["JupyterLab Light", "JupyterLab Dark"])
def test_every_state_can_be_read_in_both_themes_and_on_a_phone(show, shared, theme):
    (view,) = show(SHOW.format(name=f"theme{theme[-1]}", epsilon=0.5))
    shared.theme(theme)
    view.settle()

    def readable():
        assert [pair for pair in view.check(CONTRASTS) if pair[1] < 4.5 and pair[0] != "SIMULATED DATA"] == []
        for pixels in (1100, 700, 360):
            view.width(pixels)
            assert view.read(CLIPPED) == []
        view.width(None)

    readable()
    view.root.get_by_role("button", name="Release…").click()
    readable()
    view.root.get_by_role("button", name="Not now").click()
    shared.run("explorer.release()")
    view.settle()
    view.root.locator("summary").click()
    readable()
