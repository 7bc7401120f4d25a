"""`python -m dppca_nb handout`: its options, what its argument names, and the page made of it."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from dppca_nb import datasets
from dppca_nb._own_file import add_reading_options, numeric_part, read_own
from dppca_nb._read_file import shown
from dppca_nb.core.release import LoadingRelease
from dppca_nb.handout import handout

# Data sets by name: how they are made, the public scales they have, where they come from.
SHIPPED = {
    "cars2004": (datasets.cars2004, None, "M. Tenenhaus, auto_2004 (published technical data of 24 cars)"),
    "iris": (datasets.iris, None, "R. A. Fisher (1936), doi 10.1111/j.1469-1809.1936.tb02137.x"),
    "rand_hie": (
        datasets.rand_hie,
        datasets.RAND_HIE_SCALES,
        "RAND Health Insurance Experiment, in the extract of P. Deb and P. K. Trivedi (2002), "
        "doi 10.1016/S0167-6296(02)00008-5; public domain",
    ),
    "usarrests": (datasets.usarrests, None, "D. R. McNeil (1977), Interactive Data Analysis, Wiley; as in R"),
}
PARTS = 5  # progress is said that often


def add_handout(commands: argparse._SubParsersAction) -> None:
    """Describe the command."""
    command = commands.add_parser(
        "handout",
        help="write an explorer as one HTML page that needs no network",
        description="Write the loading explorer as one HTML page for a class: it opens from disk, without a network. "
        "Data are treated as public, and the page says so. Of private data give one saved release.",
    )
    command.add_argument(
        "file",
        metavar="DATA",
        help=f"a CSV, tab-separated or .xlsx file; a release that was saved (JSON); or one of {', '.join(SHIPPED)}",
    )
    command.add_argument("-o", "--output", required=True, metavar="FILE.html", help="the page to write")
    command.add_argument("--title", help="of the page")
    command.add_argument("--components", type=int, default=4, metavar="N", help="pairs of the first N (default: 4)")
    command.add_argument("--levels", type=int, default=25, metavar="N", help="steps of the slider (default: 25)")
    command.add_argument("--exercises", metavar="FILE.md", help="text with # headings, lists, **strong**, <details>")
    command.add_argument("--gini", action="store_true", help="Gini components, too")
    command.add_argument("--scale", choices=["none", "sample"], help="divide columns by their standard deviations")
    command.add_argument("--source", metavar="TEXT", help="where the data come from, for the last line")
    command.add_argument("--overwrite", action="store_true", help="replace a page that is there")
    add_reading_options(command)


def run_handout(options: argparse.Namespace, say: Callable[[str], None]) -> int:
    """Make the page.

    Raises
    ------
    ValueError
        If there is something to put right first.
    """
    data, more = _data(options, say)
    exercises = None if options.exercises is None else _text(options.exercises)
    reached = 0

    def progress(done: int, total: int) -> None:
        nonlocal reached
        if done == 1:
            say(f"Laying out {total:,} pictures …")
        if done * PARTS // total > reached and done < total:
            reached = done * PARTS // total
            say(f"  {done:,} of {total:,}")

    try:
        path = handout(
            data,
            options.output,
            title=options.title,
            components=options.components,
            levels=options.levels,
            exercises=exercises,
            gini=options.gini,
            overwrite=options.overwrite,
            progress=progress,
            **more,
        )
    except KeyboardInterrupt:
        say("Interrupted; no page was written.")
        return 130
    except ValueError as error:
        raise ValueError(str(error).replace("or overwrite it", "or add --overwrite")) from None
    say(f"The page is {shown(path.resolve())} ({path.stat().st_size / 1e6:.1f} MB). It needs no network.")
    return 0


def _data(options: argparse.Namespace, say: Callable[[str], None]) -> tuple[object, dict]:
    """Find out what was named, and read it."""
    more = {"source": options.source, "scale": "sample" if options.scale == "sample" else None}
    path = Path(options.file).expanduser()
    if options.file in SHIPPED and not path.exists():
        made, scale, source = SHIPPED[options.file]
        if scale is not None and not options.scale:
            say("The columns are divided by their public scales.")
        return made(), {
            "source": options.source or source,
            "scale": more["scale"] if options.scale else scale,
        }
    if _is_release(path):
        if options.scale:
            raise ValueError("A release has its scales; leave --scale out.")
        release = LoadingRelease.load(path)
        return release, {"source": options.source}
    frame = read_own(options).frame
    numeric = numeric_part(frame)
    kept = numeric.dropna()
    if len(kept) < len(numeric):
        say(f"{len(numeric) - len(kept):,} of {len(numeric):,} rows left out: they miss numbers.")
    if numeric.shape[1] < frame.shape[1]:
        others = ", ".join(shown(str(name)) for name in frame.columns if name not in numeric.columns)
        say(f"Left out, no numbers: {others}.")
    kept.attrs = dict(frame.attrs)
    return kept, more


def _is_release(path: Path) -> bool:
    """Tell by its first sign whether a file can be a saved release; which it is, is checked when it is read."""
    try:
        with path.open("rb") as file:
            return file.read(64).removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{")
    except OSError:
        return False  # the reader of tables says why


def _text(name: str) -> str:
    """Read the exercises."""
    path = Path(name).expanduser()
    try:
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise ValueError(f"{shown(path)} cannot be read ({error.strerror or error}). Check --exercises.") from None
    except UnicodeDecodeError:
        raise ValueError(f"{shown(path)} is not text in UTF-8. Save the exercises as UTF-8.") from None
