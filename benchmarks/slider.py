"""From a key press on the budget slider to the painted picture: in JupyterLab, in a handout; and Python's share of it.

Run `python benchmarks/slider.py` on a quiet machine; it needs Chromium (DPPCA_CHROMIUM names one). A key press counts
until the frame in which the arrows have moved is painted. The pauses between two presses are those of a hand, and
random, so that no beat of the screen or of this script favours a result. Python's share is one change of epsilon with
the Kendall matrix in hand, in this process and without a browser. A machine can be twice as slow as an hour before:
the first line says how long ten million additions take in Python.
"""

import os
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import sync_playwright

sys.path.insert(0, str(Path(__file__).parent.parent))  # the browser fixtures are no part of the package

from dppca_nb import LoadingExplorer, datasets, handout
from tests.browser.lab import CHROMIUM_FLAGS, LabServer, OpenNotebook, find_chromium, write_notebook

PRESSES = 60
PAUSE_MS = (60, 140)
TARGET_MS = {"painted": 80.0, "python": 5.0, "handout": 30.0}  # at p = 50
SETUP = "from dppca_nb import LoadingExplorer, datasets"
SHOW = "explorer = LoadingExplorer(datasets.elliptical(1000, {p}, rng=1), variables={shown}, epsilon=0.5)\nexplorer"
# One key press: the clock starts at the keydown's own time stamp and stops in the frame after the picture has changed.
# The first frame callback after a change runs before it is painted; a message posted there arrives right after.
LISTEN = """() => {
  const root = document.querySelector('.dppca'), slider = root.querySelector('input[type=range]');
  window.spent = [];
  let pressed = null;
  slider.addEventListener('keydown', (event) => { pressed = event.timeStamp; });
  const heard = new MutationObserver(() => {
    if (pressed === null) return;
    const from = pressed;
    pressed = null;
    requestAnimationFrame(() => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => window.spent.push(performance.now() - from);
      port2.postMessage(null);
    });
  });
  heard.observe(root.querySelector('.chart'), { subtree: true, childList: true, attributes: true });
  slider.focus();
}"""


def python_ms(p, shown):
    """Median milliseconds of one change of epsilon: every budget once up and once down, so that none is cached."""
    explorer = LoadingExplorer(datasets.elliptical(1000, p, rng=1), variables=shown, epsilon=0.5)
    explorer._layouts = ["404|1.10"]  # what a view asks for
    spent, budgets = [], [step["value"] for step in explorer._frame["controls"]["steps"]]
    for budget in (*budgets, *budgets[-2::-1]):
        start = time.perf_counter()
        explorer.epsilon = budget
        spent.append(1e3 * (time.perf_counter() - start))
    explorer.close()
    return statistics.median(spent)


def painted_ms(page):
    """Median and largest milliseconds from a key press to the painted frame, of the explorer on a page."""
    page.wait_for_selector(".dppca[data-drawn]")
    page.wait_for_timeout(1000)
    page.evaluate(LISTEN)
    pause = random.Random(1)
    for k in range(PRESSES):
        # Page keys are as good as arrows, and no front end takes them for shortcuts of its own
        page.keyboard.press("PageUp" if k % 4 < 2 else "PageDown")
        page.wait_for_function(
            "(k) => window.spent.length > k", arg=k, polling=50
        )  # not at every frame: that is work, too
        page.wait_for_timeout(pause.uniform(*PAUSE_MS))
    times = page.evaluate("() => window.spent")
    return statistics.median(times), max(times)


def report(place, p, shown, painted, largest, python=None):
    """Print a line, and where it misses a target."""
    print(
        f"{place:>8} {p:>5} {shown:>6} {painted:>16.0f} {largest:>8.0f} {'' if python is None else f'{python:.1f}':>15}"
    )
    found = {"handout": painted} if place == "handout" else {"painted": painted, "python": python}
    for name, value in found.items():
        if p == 50 and value > TARGET_MS[name]:
            print(f"      {name}: over the target of {TARGET_MS[name]:g} ms")
    sys.stdout.flush()


def main():
    start = time.perf_counter()
    sum(range(10_000_000))
    speed = time.perf_counter() - start
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    print(f"load {load} on {os.cpu_count()} processors; ten million additions take {1e3 * speed:.0f} ms")
    print(f"{PRESSES} key presses each, milliseconds")
    print(f"{'':>8} {'p':>5} {'drawn':>6} {'painted, median':>16} {'largest':>8} {'Python, median':>15}")
    folder = Path(tempfile.mkdtemp())
    server = LabServer(folder).start()
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=find_chromium(), headless=True, args=CHROMIUM_FLAGS)
            for p in (12, 50):
                path = handout(
                    datasets.elliptical(1000, p, rng=1), folder / f"{p}.html", components=2, uncertainty="off"
                )
                page = browser.new_page(viewport={"width": 1400, "height": 1100})
                page.goto(path.as_uri())
                report("handout", p, 12, *painted_ms(page))
                page.close()
            path = write_notebook(server.root / "slider.ipynb", SETUP, "")
            page = browser.new_context(viewport={"width": 1500, "height": 1100}).new_page()
            notebook = OpenNotebook(server, page, path).open()
            notebook.run_all()
            for p, shown in ((10, 10), (50, 10), (50, 50), (300, 10), (300, 300)):
                notebook.put(SETUP, SHOW.format(p=p, shown=shown))
                report("Lab", p, shown, *painted_ms(page), python_ms(p, shown))
            notebook.close()
            browser.close()
    finally:
        server.stop()


if __name__ == "__main__":
    main()
