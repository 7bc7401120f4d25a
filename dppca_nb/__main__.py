"""Command line: `explore [FILE]` opens JupyterLab on a ready notebook, `lessons FOLDER` writes those for a class."""

from __future__ import annotations

import argparse
import errno
import importlib.util
import json
import os
import re
import socket
import sys
import tempfile
from functools import partial
from pathlib import Path

from dppca_nb._handout_command import add_handout, run_handout
from dppca_nb._lab import launch
from dppca_nb._own_file import OwnFile, add_reading_options, call, notes, read_own
from dppca_nb.lessons import LessonError, add_options, run_command
from dppca_nb.read import FileError

_say = partial(print, flush=True)  # at once, also into a file or a pipe

ABOUT = """\
# Loading explorer

Each arrow is a variable of {title}. Move **ε** and watch what privacy noise does; the reference beside it is ordinary
PCA. If nothing moves, run the cells: *Run > Run All Cells*. **Teaching mode:** the data are treated as public, and
nothing shown here is private."""
SHIPPED = """\
from dppca_nb import LoadingExplorer, datasets

data = datasets.rand_hie()
explorer = LoadingExplorer(data, scale=datasets.RAND_HIE_SCALES)
explorer"""
RELEASE_NOTE = """\
## One release

A private release is one call on the data with fresh noise. Running the cell again is a second release, and the two
together cost more than either. `coincident="zero"` lets pairs of equal rows count as zero, so that no error message
depends on the rows."""
RELEASE = """\
from dppca_nb import dp_loading, loading_chart

release = dp_loading(data, epsilon=0.5, delta=1e-6, scale=datasets.RAND_HIE_SCALES, coincident="zero")
print(release.guarantee)
loading_chart(release)"""
OWN = """\
from dppca_nb import LoadingExplorer, read_report, read_table

data = read_table({call})
print(read_report(data))
{notes}# Leave out columns that are no measurements, such as one that numbers the rows: data = data.drop(columns=["id"])
# If units differ, add scale="sample": every column is then divided by its standard deviation.
explorer = LoadingExplorer(data, title={title!r})
explorer"""


# --- the notebook -----------------------------------------------------------------------------------------------------


def cells_for(own: OwnFile | None, folder: Path) -> list[tuple[str, str, str]]:
    """Say what the notebook in a folder holds: an identifier, a kind and a source for each cell."""
    if own is None:
        title = "the RAND Health Insurance Experiment (shipped with the package)"
        cells = [("explorer", "code", SHIPPED), ("note", "markdown", RELEASE_NOTE), ("release", "code", RELEASE)]
    else:
        title = _literal(own.path.name)
        lines = "".join(f"{note}\n" for note in notes(own.frame))
        source = OWN.format(call=call(own, folder), notes=lines, title=own.frame.attrs["title"])
        cells = [("explorer", "code", source)]
    return [("about", "markdown", ABOUT.format(title=title)), *cells]


def _literal(name: str) -> str:
    """Quote a name for Markdown, by more backticks than it has in a row itself."""
    shown = "".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in name)
    if "`" not in shown:
        return f"`{shown}`"
    fence = "`" * (1 + max(map(len, re.findall("`+", shown))))
    return f"{fence} {shown} {fence}"  # Markdown takes these two spaces off again


def write_notebook(cells: list[tuple[str, str, str]], folder: Path) -> Path:
    """Write the notebook under the first name that is free, or find it there; whatever else is there stays."""
    from nbformat import v4, writes

    make = {"code": v4.new_code_cell, "markdown": v4.new_markdown_cell}
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    made = v4.new_notebook(
        cells=[make[kind](source, id=name) for name, kind, source in cells], metadata={"kernelspec": kernel}
    )
    text = (writes(made) + "\n").encode()  # before a file is opened: what cannot be written leaves no empty one
    number = 1
    while True:
        path = folder / f"dppca_explore{f'-{number}' if number > 1 else ''}.ipynb"
        try:
            with path.open("xb") as file:  # "x" refuses a name that is taken
                file.write(text)
        except FileExistsError:
            if _sources(path) == [source for *_, source in cells]:
                _say(f"The notebook is {path}, as it was here already.")
                return path
            number += 1
        else:
            _say(f"The notebook is {path}, newly written.")
            return path


def _sources(path: Path) -> list[str] | None:
    """Read the sources of a notebook's cells; None if it is none."""
    try:
        return ["".join(cell["source"]) for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]]
    except (OSError, ValueError, LookupError, TypeError):
        return None


# --- the command line -------------------------------------------------------------------------------------------------


def main(arguments: list[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments : list of str, optional
        By default those that Python was called with. What stands behind ``--`` goes to JupyterLab.

    Returns
    -------
    int
        Exit status: JupyterLab's own, or 1 with a line on the error stream if there is something to put right first.

    Raises
    ------
    SystemExit
        With status 2 for an unknown option, and 0 for ``--help``.
    """
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    cut = arguments.index("--") if "--" in arguments else len(arguments)
    options, passed = _parser().parse_args(arguments[:cut]), arguments[cut + 1 :]
    if options.command == "lessons":
        try:
            run_command(options, _say)
        except LessonError as error:
            print(f"dppca_nb: {error}", file=sys.stderr)
            return 1
        return 0
    if options.command == "handout":
        try:
            return run_handout(options, _say)
        except ValueError as error:
            print(f"dppca_nb: {error}", file=sys.stderr)
            return 1
    if importlib.util.find_spec("jupyterlab") is None:
        print('dppca_nb: JupyterLab is not installed. Run: pip install "dppca_nb[lab]"', file=sys.stderr)
        return 1
    try:
        own = None if options.file is None else read_own(options)
    except FileError as error:
        print(f"dppca_nb: {error}", file=sys.stderr)
        return 1
    if options.port is not None and (trouble := _port_trouble(options.port)):
        print(f"dppca_nb: {trouble}. Leave out --port, or choose another.", file=sys.stderr)
        return 1
    folder = _home()
    notebook = write_notebook(cells_for(own, folder), folder)
    if options.port is not None:  # a port asked for is not silently replaced by the next one that is free
        passed = [f"--ServerApp.port={options.port}", "--ServerApp.port_retries=0", *passed]
    return launch(notebook, passed, browser=not options.no_browser, say=_say)


def _home() -> Path:
    """Choose the folder of the notebook: the current one, if it takes files."""
    try:
        folder = Path.cwd().resolve()
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError:
        folder = Path(tempfile.mkdtemp(prefix="dppca_explore_")).resolve()
        _say(f"The current folder takes no files, so {folder} is used: copy what you want to keep.")
        return folder


def _port(text: str) -> int:
    """Read a port number."""
    if not (text.isascii() and text.isdigit() and 1 <= int(text) <= 65535):
        raise argparse.ArgumentTypeError(f"{text!r} is no port; give a whole number from 1 to 65535")
    return int(text)


def _port_trouble(port: int) -> str | None:
    """Say why a server cannot have a port of this machine, if so."""
    with socket.socket() as probe:
        if (
            os.name != "nt"
        ):  # as the server does: a port that was in use a moment ago is free (on Windows: also if taken)
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                return f"Port {port} is taken"
            return f"Port {port} cannot be used ({error.strerror or error})"
    return None


def _parser() -> argparse.ArgumentParser:
    """Describe the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m dppca_nb", description="See what differential privacy does to principal components."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    explore = commands.add_parser(
        "explore",
        help="open JupyterLab with the loading explorer",
        description="Open JupyterLab on a notebook with the loading explorer, written into the current folder.",
        epilog="Options behind -- go to JupyterLab itself: python -m dppca_nb explore -- --ServerApp.ip=0.0.0.0",
    )
    file_help = "a CSV, tab-separated or .xlsx file; without it, the shipped RAND HIE data"
    explore.add_argument("file", nargs="?", metavar="FILE", help=file_help)
    add_reading_options(explore)
    explore.add_argument("--no-browser", action="store_true", help="do not open a browser; the address is printed")
    explore.add_argument("--port", type=_port, metavar="N", help="port of the server (default: the first one free)")
    add_handout(commands)
    add_options(commands)
    return parser


if __name__ == "__main__":
    for _stream in (sys.stdout, sys.stderr):  # a file name that the terminal cannot show must not end the program
        _stream.reconfigure(errors="backslashreplace")
    sys.exit(main())
