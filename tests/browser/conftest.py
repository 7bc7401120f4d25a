"""Fixtures that drive JupyterLab in Chromium. Without a browser they skip, saying so; in CI they fail."""

from __future__ import annotations

import contextlib
import itertools
import os
import re

import pytest

from .lab import CHROMIUM_FLAGS, LabServer, OpenNotebook, find_chromium, write_notebook


def _missing(what: str) -> None:
    """Skip on a user's machine; fail in CI, where a browser test that cannot run is a failure."""
    if os.environ.get("CI"):
        pytest.fail(f"{what}; in CI the browser tests must run")
    pytest.skip(what)


@pytest.fixture(scope="session")
def lab_server(tmp_path_factory):
    server = LabServer(tmp_path_factory.mktemp("lab")).start()
    yield server
    server.stop()


@pytest.fixture(scope="session")
def browser():
    path = find_chromium()
    if path is None:
        _missing("no Chromium or Chrome found on PATH (DPPCA_CHROMIUM names one)")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        _missing("playwright is not installed")
    with sync_playwright() as playwright:
        made = playwright.chromium.launch(executable_path=path, headless=True, args=CHROMIUM_FLAGS)
        yield made
        made.close()


@pytest.fixture(scope="session")
def open_notebook(lab_server, browser):
    """Open cells as a notebook, run them, close it at the end: ``with open_notebook("source", width=1280) as nb``."""
    numbers = itertools.count()

    @contextlib.contextmanager
    def make(*cells, width=1280, height=1000, theme="light", run=True, name="notebook"):
        stem = re.sub(r"[^A-Za-z0-9]+", "-", f"{name}-{next(numbers)}").strip("-")[-80:]
        path = write_notebook(lab_server.root / f"{stem}.ipynb", *cells)
        context = browser.new_context(viewport={"width": width, "height": height}, accept_downloads=True)
        context.set_default_timeout(20_000)
        try:
            context.grant_permissions(["clipboard-read", "clipboard-write"])
            made = OpenNotebook(lab_server, context.new_page(), path).open()
            try:
                if theme == "dark":
                    made.theme("JupyterLab Dark")
                if run:
                    made.run_all()
                yield made
            finally:
                made.close()
        finally:
            context.close()

    return make


@pytest.fixture
def notebook(open_notebook, request):
    """Open notebooks that are closed when the test ends: ``notebook("source", ..., width=1280)``."""
    with contextlib.ExitStack() as stack:
        yield lambda *cells, **options: stack.enter_context(open_notebook(*cells, name=request.node.name, **options))
