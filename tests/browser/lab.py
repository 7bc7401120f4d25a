"""JupyterLab in headless Chromium: a server of our own, a notebook open in it, a line to its kernel.

Every Jupyter directory is temporary, every name but the loopback address fails to resolve.
"""

from __future__ import annotations

import ast
import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path

import nbformat
from jupyter_client import BlockingKernelClient

CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
CHROMIUM_FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--force-color-profile=srgb",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
]  # fmt: skip
QUIET_SETTINGS = {  # no news, no update check, no saving of its own accord, every cell in the page
    "apputils-extension/notification": {"checkForUpdates": False, "fetchNews": "false", "doNotDisturbMode": True},
    "docmanager-extension/plugin": {"autosave": False},
    "notebook-extension/tracker": {"windowingMode": "none"},
}


def find_chromium() -> str | None:
    """Path of the browser: DPPCA_CHROMIUM, or the first one on the search path."""
    named = os.environ.get("DPPCA_CHROMIUM")
    return next(filter(None, map(shutil.which, [named, *CHROMIUM_NAMES] if named else CHROMIUM_NAMES)), None)


class LabServer:
    """A JupyterLab server on a free loopback port, in a process group of its own."""

    def __init__(self, base: Path):
        self.base, self.root, self.runtime = base, base / "root", base / "runtime"
        for name in ("root", "runtime", "config", "data", "settings", "workspaces", "ipython"):
            (base / name).mkdir()
        for plugin, settings in QUIET_SETTINGS.items():
            path = base / "settings" / "@jupyterlab" / f"{plugin}.jupyterlab-settings"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(settings))
        with contextlib.closing(socket.socket()) as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"

    def start(self) -> LabServer:
        directories = {
            "JUPYTER_RUNTIME_DIR": self.runtime, "JUPYTER_CONFIG_DIR": self.base / "config",
            "JUPYTER_DATA_DIR": self.base / "data", "IPYTHONDIR": self.base / "ipython",
            "JUPYTERLAB_SETTINGS_DIR": self.base / "settings", "JUPYTERLAB_WORKSPACES_DIR": self.base / "workspaces",
        }  # fmt: skip
        options = [
            "--no-browser", "--allow-root", "--ip=127.0.0.1", f"--port={self.port}", "--ServerApp.port_retries=0",
            "--IdentityProvider.token=", "--ServerApp.disable_check_xsrf=True", f"--ServerApp.root_dir={self.root}",
            "--LabApp.news_url=", "--LabApp.extension_manager=readonly", "--LabApp.expose_app_in_browser=True",
            "--LabApp.check_for_updates_class=jupyterlab.handlers.announcements.NeverCheckForUpdate",
            "--ServerApp.terminals_enabled=False", "--ServerApp.shutdown_no_activity_timeout=1200",
        ]  # fmt: skip
        self.log = (self.base / "server.log").open("wb")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "jupyterlab", *options],
            env={**os.environ, **{name: str(path) for name, path in directories.items()}, "JUPYTER_PLATFORM_DIRS": "1"},
            stdout=self.log, stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
        deadline = time.monotonic() + 90
        while True:
            try:
                self.api("status")
                return self
            except OSError:
                if self.process.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError((self.base / "server.log").read_text()[-3000:]) from None
                time.sleep(0.1)

    def api(self, path: str, method: str = "GET") -> object:
        """Call the server's own interface."""
        with urllib.request.urlopen(
            urllib.request.Request(f"{self.url}/api/{path}", method=method), timeout=20
        ) as reply:
            raw = reply.read()
        return json.loads(raw) if raw else None

    def sessions(self, path: str | None = None) -> list[dict]:
        return [one for one in self.api("sessions") if path in (None, one["path"])]

    def stop(self) -> None:
        for session in self.sessions():
            with contextlib.suppress(OSError):
                self.api(f"sessions/{session['id']}", "DELETE")
        os.killpg(self.process.pid, signal.SIGTERM)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait(10)
        self.log.close()


class OpenNotebook:
    """A notebook open in Lab: its page, what the page asked of the network, and its kernel."""

    def __init__(self, server: LabServer, page, path: Path):
        self.server, self.page, self.path = server, page, path
        self.external: list[str] = []
        self.errors: list[str] = []
        self._kernel = None

    def open(self) -> OpenNotebook:
        page = self.page
        page.on("request", lambda r: self._outside(r.url) and self.external.append(r.url))
        page.on("console", lambda m: m.type == "error" and self.errors.append(m.text))
        page.on("pageerror", lambda e: self.errors.append(f"{e}\n{e.stack}"))
        return self._go()

    def _go(self) -> OpenNotebook:
        page = self.page
        # a workspace of its own: without a dot in its name, or Lab never opens the file
        page.goto(f"{self.server.url}/lab/workspaces/{self.path.stem}/tree/{self.path.name}?reset")
        # asked again and again: Lab may load the page anew in between, and a promise would be gone with the old one
        page.wait_for_function(
            """() => { const app = window.jupyterapp;
                 app?.restored.then(() => { app.isRestored = true; });
                 const at = app?.isRestored && app.shell.currentWidget;
                 return at?.context?.isReady && at.content?.widgets && at.context.sessionContext.isReady
                   && at.context.sessionContext.session?.kernel?.status === 'idle'; }""",
            timeout=60_000,
        )
        return self

    def _outside(self, url: str) -> bool:
        return url.startswith(("http", "ws")) and not url.split("://")[1].startswith(f"127.0.0.1:{self.server.port}")

    def command(self, name: str) -> None:
        self.page.evaluate(f"() => window.jupyterapp.commands.execute('{name}')")

    def run_all(self, timeout: float = 120) -> None:
        """Run every cell by Lab's own command, and raise the first error that one prints."""
        self.page.evaluate(
            """() => { for (const cell of window.jupyterapp.shell.currentWidget.content.model.cells)
                         if (cell.type === 'code') cell.executionCount = null; }"""
        )
        self.command("notebook:run-all-cells")
        self.page.wait_for_function(
            """() => [...window.jupyterapp.shell.currentWidget.content.model.cells].every((cell) =>
                 cell.type !== 'code' || !cell.sharedModel.source.trim()
                 || (cell.executionCount !== null && cell.executionState !== 'running'))""",
            timeout=timeout * 1000,
        )
        self._raise()

    def _raise(self) -> None:
        """Raise the first error that a cell has printed."""
        for cell in self.cells():
            for output in cell.get("outputs", []):
                assert output["output_type"] != "error", "\n".join(output["traceback"])

    def put(self, *sources: str, only: list[int] | None = None) -> None:
        """Rewrite the cells and run them; ``only`` names the cells to rewrite and run."""
        self.page.evaluate(
            """async ([sources, only]) => {
                 const panel = window.jupyterapp.shell.currentWidget, cells = panel.content.model.cells;
                 for (const at of only ?? sources.keys()) {
                   cells.get(at).sharedModel.setSource(sources[at]);
                   cells.get(at).clearExecution();
                 } }""",
            [sources, only],
        )
        for at in only or range(len(sources)):
            if sources[at].strip():
                self.page.evaluate(
                    "(at) => { window.jupyterapp.shell.currentWidget.content.activeCellIndex = at; }", at
                )
                self.page.evaluate("() => window.jupyterapp.commands.execute('notebook:run-cell')")
        self._raise()

    def theme(self, name: str) -> None:
        """Change Lab's theme, live, and wait until Lab's splash has gone: two within 200 ms remove one node twice."""
        self.page.evaluate("(theme) => window.jupyterapp.commands.execute('apputils:change-theme', { theme })", name)
        self.page.wait_for_function(
            "(name) => document.body.dataset.jpThemeName === name && !document.getElementById('jupyterlab-splash')",
            arg=name,
        )

    def output_view(self, cell: int) -> Callable[[], None]:
        """Show the output of a cell in a panel of its own; call what is returned to close the panel."""
        self.page.evaluate(
            """async (cell) => {
                 const { shell, commands } = window.jupyterapp, notebook = shell.currentWidget;
                 const before = [...shell.widgets('main')];
                 notebook.content.activeCellIndex = cell;
                 await commands.execute('notebook:create-output-view');
                 const panels = [...shell.widgets('main')].filter((one) => !before.includes(one));
                 window.opened = { notebook, panels };
               }""",
            cell,
        )

        def close() -> None:
            self.page.evaluate(
                """() => { for (const one of opened.panels) one.dispose();
                     window.jupyterapp.shell.activateById(opened.notebook.id); }"""
            )
            self.page.wait_for_function("() => window.jupyterapp.shell.currentWidget === opened.notebook")

        return close

    def restart(self) -> None:
        """Restart the kernel, as Lab's command does once confirmed."""
        if self._kernel is not None:
            self._kernel.stop_channels()
            self._kernel = None
        self.page.evaluate(
            "() => window.jupyterapp.shell.currentWidget.context.sessionContext.session.kernel.restart()"
        )
        self.page.wait_for_function(
            "() => window.jupyterapp.shell.currentWidget.context.sessionContext.session.kernel.status === 'idle'"
        )

    def save(self) -> None:
        """Save the notebook."""
        self.page.evaluate("() => window.jupyterapp.shell.currentWidget.context.save()")

    def reopen(self) -> None:
        """Shut the kernel down and open the saved file again, running nothing."""
        self.close()
        self.page.goto("about:blank")
        self._go()

    def cells(self) -> list[dict]:
        return self.page.evaluate(
            "() => [...window.jupyterapp.shell.currentWidget.content.model.cells].map((cell) => cell.toJSON())"
        )

    def eval(self, expression: str) -> object:
        """Value of a Python expression in the notebook's kernel."""
        if self._kernel is None:
            kernel_id = self.server.sessions(self.path.name)[0]["kernel"]["id"]
            self._kernel = BlockingKernelClient(connection_file=str(self.server.runtime / f"kernel-{kernel_id}.json"))
            self._kernel.load_connection_file()
            self._kernel.start_channels()
            self._kernel.wait_for_ready(timeout=30)
        wanted = {"value": f"__import__('json').dumps({expression})"}
        reply = self._kernel.execute("", user_expressions=wanted, silent=True, reply=True, timeout=30)
        value = reply["content"]["user_expressions"]["value"]
        assert value["status"] == "ok", value
        return json.loads(ast.literal_eval(value["data"]["text/plain"]))

    def run(self, code: str) -> None:
        """Run code in the kernel without a cell."""
        self.eval("None")
        reply = self._kernel.execute(code, reply=True, timeout=60)
        assert reply["content"]["status"] == "ok", reply["content"]

    def until(self, expression: str, wanted: object, seconds: float = 15) -> None:
        """Wait until an expression in the kernel has a value."""
        end = time.monotonic() + seconds
        while (found := self.eval(expression)) != wanted:
            assert time.monotonic() < end, f"{expression}: {found!r}, wanted {wanted!r}"
            time.sleep(0.05)

    def close(self) -> None:
        if self._kernel is not None:
            self._kernel.stop_channels()
            self._kernel = None
        for session in self.server.sessions(self.path.name):
            self.server.api(f"sessions/{session['id']}", "DELETE")


def write_notebook(path: Path, *cells: str) -> Path:
    """Write code cells as a notebook."""
    made = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(source) for source in cells],
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
    )
    nbformat.write(made, path)
    return path
