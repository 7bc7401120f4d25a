"""JupyterLab on one notebook, whose first code cell is run before the page opens."""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import sys
import threading
import time
import urllib.request
import webbrowser
from collections.abc import Callable
from pathlib import Path

PATIENCE = 120.0  # seconds for the server, for the kernel, and for the cell, before the page opens without them


def launch(notebook: Path, options: list[str], *, browser: bool, say: Callable[[str], None]) -> int:
    """Run JupyterLab on a notebook until it ends, and return its exit status."""
    from jupyter_core.paths import jupyter_runtime_dir

    command = [
        sys.executable, "-m", "jupyterlab", "--no-browser", f"--ServerApp.root_dir={notebook.parent}",
        f"--LabApp.default_url=/lab/tree/{notebook.name}", "--LabApp.news_url=",  # no question about news on the table
    ]  # fmt: skip
    if not any(option == "--debug" or "log_level" in option.replace("-", "_") for option in options):
        command.append("--Application.log_level=ERROR")  # thirty lines of a server's start tell a newcomer nothing
    if getattr(os, "geteuid", lambda: 1)() == 0:
        command.append("--allow-root")  # in containers one is often root, and JupyterLab refuses to start unless told
    # With a token of ours the server does not print its address: a page opened too early would not see the explorer.
    environment = {"JUPYTER_TOKEN": secrets.token_hex(24), **os.environ}
    runtime = Path(jupyter_runtime_dir())
    earlier = _announced(runtime)
    process = subprocess.Popen(command + options, env=environment)
    # Ctrl-C in a terminal reaches JupyterLab too, which asks whether to stop: this process must not end before it.
    # Without a terminal nobody can answer, and only this process is told.
    alone = sys.stdin is None or not sys.stdin.isatty()
    signal.signal(signal.SIGINT, (lambda *_: process.terminate()) if alone else signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: process.terminate())

    def show() -> None:
        server = _find(process, runtime, earlier, notebook.parent)
        if server:
            _show(server, runtime, notebook.name, browser, say)
        elif process.poll() is None:
            say(f"JupyterLab has not answered in {PATIENCE:g} seconds. Stop it with Ctrl-C.")

    threading.Thread(target=show, daemon=True).start()  # so that JupyterLab may end, or be ended, at any moment
    status = process.wait()
    return status if status >= 0 else 128 - status  # the shell's way of saying which signal ended it


def _show(server: dict, runtime: Path, name: str, browser: bool, say: Callable[[str], None]) -> None:
    """Run the explorer in the server, then say where its page is and open it."""
    say("JupyterLab runs. Starting the explorer; the page is ready in some seconds.")
    trouble = enliven(server, runtime, name)
    token = f"?token={server['token']}" if server["token"] else ""
    address = f"{server['url']}lab/tree/{name}{token}"
    if trouble:
        say(f"The explorer waits for you to run its cells, in the menu Run > Run All Cells ({trouble}).")
    say(f"Open {address}\nStop with Ctrl-C.")
    if browser:
        page = server["page"]  # the server's own redirect page keeps the token out of the list of processes
        webbrowser.open(page.as_uri() if page.exists() else address)


def _announced(runtime: Path) -> dict[Path, int]:
    """List the files by which running servers announce themselves, with their times."""
    return {path: path.stat().st_mtime_ns for path in runtime.glob("jpserver-*.json")}


def _find(process: subprocess.Popen, runtime: Path, earlier: dict[Path, int], folder: Path) -> dict | None:
    """Wait for a server to announce itself for this folder."""
    end = time.monotonic() + PATIENCE
    while process.poll() is None and time.monotonic() < end:
        for path, stamp in _announced(runtime).items():
            if earlier.get(path) != stamp:
                try:
                    server = json.loads(path.read_text(encoding="utf-8"))
                except ValueError:  # half written: there is another time
                    continue
                if server.get("root_dir") == str(folder):
                    return {**server, "page": path.with_name(f"{path.stem}-open.html")}
        time.sleep(0.1)
    return None


def enliven(server: dict, runtime: Path, name: str) -> str | None:
    """Run the first code cell before a page is open: the page then finds its kernel, its output and its live widget.

    Nothing depends on it. Where it fails, the reason is returned, and the cells wait to be run.
    """
    from jupyter_client import BlockingKernelClient
    from nbformat.v4 import output_from_msg

    outputs, session, client = [], None, None

    def keep(message: dict) -> None:
        if message["msg_type"] in ("execute_result", "display_data", "stream", "error"):
            outputs.append(output_from_msg(message))

    try:
        wanted = {"path": name, "name": name, "type": "notebook", "kernel": {"name": "python3"}}
        session = _ask(server, "POST", "sessions", wanted)
        client = BlockingKernelClient(connection_file=str(runtime / f"kernel-{session['kernel']['id']}.json"))
        client.load_connection_file()
        client.start_channels()
        _wait_for_ready(client)
        content = _ask(server, "GET", f"contents/{name}?type=notebook")["content"]
        cell = next(cell for cell in content["cells"] if cell["cell_type"] == "code")
        client.session.metadata = {"cellId": cell["id"]}  # as a page would say, so that a second run replaces this one
        reply = client.execute_interactive(
            "".join(cell["source"]), output_hook=keep, allow_stdin=False, timeout=PATIENCE
        )
        cell |= {"outputs": outputs, "execution_count": reply["content"]["execution_count"]}
        cell["metadata"]["trusted"] = True  # it is our own cell, just run; without this the page hides the widget
        _ask(server, "PUT", f"contents/{name}", {"type": "notebook", "format": "json", "content": content})
    except Exception as error:  # whatever it is: the notebook works without this
        if session:
            _forget(server, session)
        return f"{type(error).__name__}: {error}"
    finally:
        if client:
            client.stop_channels()
    return None


def _wait_for_ready(client: object) -> None:
    """Wait until the kernel answers; a busy machine's missed heartbeat, which the client calls a death, is none."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            client.wait_for_ready(timeout=PATIENCE)
            return
        except RuntimeError:
            if time.monotonic() > end:
                raise


def _forget(server: dict, session: dict) -> None:
    """End a session and its kernel, so that the page starts a fresh one."""
    try:
        _ask(server, "DELETE", f"sessions/{session['id']}")
    except OSError:  # the server is gone, and its kernels with it
        return


def _ask(server: dict, method: str, path: str, content: dict | None = None) -> dict:
    """Call the server's own interface."""
    request = urllib.request.Request(
        f"{server['url']}api/{path}",
        method=method,
        data=None if content is None else json.dumps(content).encode(),
        headers={"Authorization": f"token {server['token']}", "Content-Type": "application/json"},
    )
    direct = urllib.request.build_opener(
        urllib.request.ProxyHandler({})
    )  # a proxy cannot reach this machine's loopback
    with direct.open(request, timeout=PATIENCE) as reply:
        return json.loads(reply.read() or b"{}")
