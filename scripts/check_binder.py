"""Check binder/ without docker: what repo2docker would do, then the same steps in a clean environment.

Usage: python scripts/check_binder.py

Fetches packages, writes into a temporary folder only. The clean environment has the Python of binder/runtime.txt: this
one, or one on the search path, or one that uv fetches. Without any the check fails: another Python is another image.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# of what the image brings, the part that our pins might get in the way of
IMAGE = ("comm", "ipykernel", "ipython", "ipywidgets", "jupyter_client", "jupyter_server", "jupyterlab", "traitlets")
EXTENSIONS = ("anywidget", "@jupyter-widgets/jupyterlab-manager")  # prebuilt ones, no Node
TRUST = """
import sys, nbformat
from nbformat.sign import NotebookNotary
print(*[path for path in sys.argv[1:] if not NotebookNotary().check_signature(nbformat.read(path, 4))])
"""
BUILDPACK = """
import sys
from repo2docker.app import Repo2Docker
print(next(pack.__name__ for pack in Repo2Docker().buildpacks if pack(base_image="any").detect()))
"""


class BinderError(Exception):
    """Something that would break the image, or leave it without what lessons need."""


def main() -> None:
    """Run all steps, and say what each took."""
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="dppca_binder_") as folder:
        work = Path(folder)
        repo = copied(work / "repo")
        version = python_of(repo)
        with step("tools: repo2docker and uv"):
            run(sys.executable, "-m", "venv", work / "tools")
            tools = work / "tools" / "bin"
            run(tools / "python", "-m", "pip", "install", "-q", "uv")
            run(tools / "uv", "pip", "install", "-q", "--python", tools / "python", "jupyter-repo2docker")
        with step(f"plan of repo2docker, Python {version}"):
            chosen = run(tools / "python", "-c", BUILDPACK, cwd=repo).strip()
            plan = run(tools / "python", "-m", "repo2docker", "--no-build", "--debug", ".", cwd=repo)
            check_plan(plan, chosen, version)
        env = {**os.environ, "HOME": str(work), "VIRTUAL_ENV": str(work / "env")}
        env["JUPYTER_DATA_DIR"] = str(work / "data")  # has the signatures of trusted notebooks
        env["PATH"] = f"{work / 'env' / 'bin'}{os.pathsep}{os.environ['PATH']}"
        for name in ("PYTHONPATH", "PYTHONHOME", "JUPYTER_PATH", "JUPYTER_CONFIG_DIR", "IPYTHONDIR"):
            env.pop(name, None)
        with step("image, then the pins"):
            run(tools / "uv", "venv", "-q", "--seed", "--python", python(version), work / "env")
            locked = run(tools / "python", "-c", "import repo2docker; print(repo2docker.__path__[0])").strip()
            image = image_pins(Path(locked), version)
            run(tools / "uv", "pip", "install", "-q", *image, env=env)
            # Binder lets pip add what is missing: without that, pip check below finds a pin that was forgotten
            run(tools / "uv", "pip", "install", "-q", "--no-deps", "-r", repo / "binder" / "requirements.txt", env=env)
        with step("postBuild, without a registry"):
            run(repo / "binder" / "postBuild", cwd=repo, env={**env, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": ""})
        with step("pip check, extensions, trust"):
            run("python", "-m", "pip", "check", env=env)
            check_extensions(run("jupyter", "labextension", "list", env=env))
            lessons = sorted(path.relative_to(repo).as_posix() for path in repo.glob("notebooks/*.ipynb"))
            if untrusted := run("python", "-c", TRUST, *lessons, cwd=repo, env=env).strip():
                raise BinderError(f"not trusted after postBuild: {untrusted}")
        with step("JupyterLab on the address of each badge"):
            check_server([*lessons, "notebooks/README.md"], repo, env)
        with step("nbval inside, quick start"):
            run(tools / "uv", "pip", "install", "-q", "pytest", "nbval", env=env)
            run("pytest", "-q", "-p", "no:cacheprovider", lessons[0], cwd=repo, env=env)
    print(f"binder/ is sound: {time.monotonic() - start:.0f} s in all")


@contextmanager
def step(name: str) -> Iterator[None]:
    """Say what is done, and how long it took."""
    start = time.monotonic()
    print(f"{name} ...", end=" ", flush=True)
    yield
    print(f"{time.monotonic() - start:.1f} s", flush=True)


def run(*command: object, cwd: Path | None = None, env: dict[str, str] | None = None) -> str:
    """Run one program and return all that it says; its failure is ours, with its last lines."""
    words = [str(word) for word in command]
    words[0] = shutil.which(words[0], path=(env or os.environ)["PATH"]) or words[0]
    done = subprocess.run(
        words, cwd=cwd, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    if done.returncode:
        tail = "\n".join(done.stdout.splitlines()[-25:])
        raise BinderError(f"{' '.join(map(str, command))}: status {done.returncode}\n{tail}")
    return done.stdout


def copied(target: Path) -> Path:
    """Copy what git would hand to Binder: no ignored file, such as a bundle made earlier, hides a gap."""
    names = run("git", "ls-files", "-co", "--exclude-standard", cwd=ROOT).splitlines()
    for name in names:
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)
    return target


def python_of(repo: Path) -> str:
    """Read runtime.txt; without it the image has a Python of its own choice, which the pins are not for."""
    text = (repo / "binder" / "runtime.txt").read_text(encoding="utf-8").strip()
    if not (found := re.fullmatch(r"python-(3\.\d+)", text)):
        raise BinderError(f'binder/runtime.txt must be like "python-3.11", not {text!r}')
    return found[1]


def python(version: str) -> str:
    """Choose the Python of the clean environment; a bare version lets uv look further, and fetch it."""
    if sys.version.startswith(f"{version}."):
        return sys.executable
    return shutil.which(f"python{version}") or version


def check_plan(plan: str, buildpack: str, version: str) -> None:
    """Read the Dockerfile that repo2docker would build."""
    if buildpack != "PythonBuildPack":
        raise BinderError(f"repo2docker would use {buildpack}, which ignores requirements.txt")
    if f"python={version}\n" not in plan:
        raise BinderError(f"repo2docker does not take Python {version} from runtime.txt")
    # dependencies before the repository: otherwise every commit installs them again
    order = ('-r "binder/requirements.txt"', "COPY --chown=0:0 src/ ${REPO_DIR}", "RUN ./binder/postBuild")
    places = [plan.find(part) for part in order]
    if -1 in places or places != sorted(places):
        raise BinderError("the image would not have pins, repository and postBuild in this order")


def image_pins(package: Path, version: str) -> list[str]:
    """Read from repo2docker which versions its image brings."""
    lock = package / "buildpacks" / "conda" / f"environment.py-{version}-linux-64.lock"
    text = lock.read_text(encoding="utf-8")
    pins = [f"{name}=={found[1]}" for name in IMAGE if (found := re.search(rf"/{name}-([\d.]+)-", text))]
    if not any(pin.startswith("jupyterlab==") for pin in pins):
        raise BinderError(f"{lock.name} of repo2docker names no JupyterLab")
    return pins


def check_extensions(listing: str) -> None:
    """Require the prebuilt extensions that draw widgets."""
    for name in EXTENSIONS:
        if not re.search(rf"{re.escape(name)} v\S+ .*enabled.*OK", listing):
            raise BinderError(f"JupyterLab lists no working extension {name}:\n{listing}")


def check_server(paths: list[str], repo: Path, env: dict[str, str]) -> None:
    """Start JupyterLab as the image does, and ask for each page and for the file that it opens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    token = secrets.token_hex(16)
    lab = shutil.which("jupyter-lab", path=env["PATH"])
    options = ["--no-browser", "--allow-root", f"--ServerApp.port={port}", "--ServerApp.port_retries=0"]
    server = subprocess.Popen(
        [lab, *options],
        cwd=repo,
        env={**env, "JUPYTER_TOKEN": token},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # a proxy cannot reach this loopback

    def ask(path: str) -> tuple[int, str]:
        request = urllib.request.Request(f"http://127.0.0.1:{port}/{path}", headers={"Authorization": f"token {token}"})
        try:
            with direct.open(request, timeout=30) as reply:
                return reply.status, reply.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, ""
        except OSError:  # not listening yet
            return 0, ""

    try:
        end = time.monotonic() + 60
        while ask("api")[0] != 200:
            if time.monotonic() > end or server.poll() is not None:
                raise BinderError("JupyterLab does not answer")
            time.sleep(0.2)
        for path in paths:
            # the page answers 200 for a file that is not there, too: so ask for the file as well
            found = ask(f"lab/tree/{path}")[0], ask(f"api/contents/{path}?content=0")[0]
            if found != (200, 200):
                raise BinderError(f"JupyterLab answers {found} for {path}")
        if "Markdown Preview" not in ask("lab/api/settings/@jupyterlab/docmanager-extension:plugin")[1]:
            raise BinderError("the start page would open as its source")
        if ask("api/contents/notebooks/no-such.ipynb?content=0")[0] != 404:
            raise BinderError("JupyterLab answers for a file that is not there: this check proves nothing")
    finally:
        server.terminate()
        server.wait(timeout=30)


if __name__ == "__main__":
    try:
        main()
    except BinderError as error:
        print(f"\n{error}", file=sys.stderr)
        sys.exit(1)
