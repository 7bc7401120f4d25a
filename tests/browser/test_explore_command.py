"""`python -m dppca_nb explore`, run for real: the page that it announces shows the live explorer."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request

import pytest

from dppca_nb.charts import theme
from dppca_nb.widgets.frame import EPSILONS

from .lab import QUIET_SETTINGS

pytestmark = pytest.mark.browser

ADDRESS = re.compile(r"^Open (http://(\S+?):(\d+)/lab/tree/(\S+)\?token=(\S+))$", re.MULTILINE)
CHART = ".dppca .chart svg"


class Command:
    """The command in a folder of its own, with every Jupyter directory temporary."""

    def __init__(self, base):
        self.root, settings = base / "root", base / "settings"
        self.root.mkdir()
        for plugin, wanted in QUIET_SETTINGS.items():
            path = settings / "@jupyterlab" / f"{plugin}.jupyterlab-settings"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(wanted))
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        directories = {
            "JUPYTER_RUNTIME_DIR": base / "runtime", "JUPYTER_CONFIG_DIR": base / "config",
            "JUPYTER_DATA_DIR": base / "data", "IPYTHONDIR": base / "ipython",
            "JUPYTERLAB_SETTINGS_DIR": settings, "JUPYTERLAB_WORKSPACES_DIR": base / "workspaces",
        }  # fmt: skip
        self.log = base / "output.txt"
        options = ["--no-browser", f"--port={port}", "--", "--LabApp.news_url=", "--LabApp.extension_manager=readonly"]
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "dppca_nb", "explore", *options, "--ServerApp.ip=127.0.0.1"],
                cwd=self.root, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, start_new_session=True,
                env={**os.environ, **{name: str(path) for name, path in directories.items()}},
            )  # fmt: skip

    def address(self) -> re.Match:
        """Wait for the line that says where the page is."""
        end = time.monotonic() + 300
        while not (found := ADDRESS.search(self.log.read_text())):
            assert self.process.poll() is None, self.log.read_text()
            assert time.monotonic() < end, self.log.read_text()
            time.sleep(0.2)
        return found

    def stop(self) -> int:
        """Ask it to end, as a terminal that is closed would, and give its exit status."""
        self.process.terminate()
        try:
            return self.process.wait(30)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            raise


@pytest.fixture(scope="module")
def command(tmp_path_factory):
    made = Command(tmp_path_factory.mktemp("explore"))
    yield made
    if made.process.poll() is None:
        made.stop()


def kernels(found: re.Match) -> list[dict]:
    request = urllib.request.Request(f"http://{found[2]}:{found[3]}/api/kernels?token={found[5]}")
    with urllib.request.urlopen(request, timeout=20) as reply:
        return json.loads(reply.read())


def test_the_page_opens_with_the_explorer_alive_and_its_slider_answers(command, browser):
    found = command.address()
    errors, outside = [], []
    context = browser.new_context(viewport={"width": 1280, "height": 1000})
    page = context.new_page()
    page.on("console", lambda message: message.type == "error" and errors.append(message.text))
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("request", lambda request: f"//{found[2]}:{found[3]}" not in request.url and outside.append(request.url))
    page.goto(found[1])
    page.wait_for_selector(CHART, timeout=120_000)
    before = page.locator(CHART).first.inner_html()
    slider = page.locator(".dppca input[type=range]").first
    slider.focus()
    slider.press("End")
    page.wait_for_function(
        f"before => document.querySelector('{CHART}').innerHTML !== before", arg=before, timeout=60_000
    )
    assert page.locator(".dppca .big").first.inner_text() == "ε = 10"
    assert len(kernels(found)) == 1, "the page must join the kernel that is there"
    assert errors == []
    assert [url for url in outside if url.startswith(("http", "ws"))] == []
    context.close()


def test_an_arrow_key_on_the_slider_moves_it_by_a_step_and_leaves_the_notebook_alone(command, browser):
    found = command.address()
    context = browser.new_context(viewport={"width": 1280, "height": 1000})
    page = context.new_page()
    page.goto(found[1])
    page.wait_for_selector(CHART, timeout=120_000)
    cells = page.locator(".jp-Notebook > .jp-WindowedPanel-outer .jp-Cell, .jp-Notebook > .jp-Cell")
    count = cells.count()
    page.locator(".jp-MarkdownCell").first.click()
    assert "jp-mod-active" in page.locator(".jp-MarkdownCell").first.get_attribute("class")
    slider = page.locator(".dppca input[type=range]").first
    slider.evaluate("slider => slider.focus()")
    low, next_to_low = (f"ε = {theme.epsilon(value)}" for value in EPSILONS[:2])
    for key, place, words in (("Home", 0, low), ("ArrowRight", 1, next_to_low), ("ArrowLeft", 0, low)):
        slider.press(key)  # first to a known place, wherever an earlier test left it
        page.wait_for_function(
            "words => document.querySelector('.dppca .big').innerText === words", arg=words, timeout=30_000
        )
        assert slider.input_value() == str(place)
    assert cells.count() == count
    assert page.locator(".jp-MarkdownHeadingCollapsed, .jp-MarkdownCell.jp-mod-collapsed").count() == 0
    assert slider.is_visible()
    context.close()


def test_ending_the_command_ends_the_server_and_its_kernel(command):
    found = command.address()
    assert command.stop() == 0
    with pytest.raises(OSError, match="refused"):
        kernels(found)
