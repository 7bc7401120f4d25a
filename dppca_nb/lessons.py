"""The lessons for a class: a version for students, one for teachers, and pages to print."""

from __future__ import annotations

import argparse
import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nbformat import NotebookNode

HERE = Path(__file__).parent
PLACES = (HERE / "notebooks", HERE.parent / "notebooks")  # in the installed package, in its source tree
START = "README.md"
HIDDEN = ("solution", "teacher")  # tags of cells that are not for students
NOTE = """\
**Student version.** Solutions have been left out; an empty cell below each question is for your answer. The cells run
wherever `dppca_nb` is installed."""
CODE, WORDS = "# Your answer\n", "*Your answer:*"


class LessonError(Exception):
    """Something that has to be put right before lessons can be written; its text says what."""


def write_lessons(
    folder: str | Path,
    *,
    versions: tuple[str, ...] = ("student", "teacher"),
    html: bool = False,
    overwrite: bool = False,
) -> list[Path]:
    """Write the lessons into ``folder/student`` and ``folder/teacher``, with their start page.

    Notebooks keep their names, their stored outputs, and their links to each other. They are executable where this
    package is installed. They are not signed as trusted, and need not be: what they hold is text, tables and pictures.
    A printed page is one file without scripts that asks for nothing in a network: explorers stand as pictures,
    formulas as MathML, and solutions can be unfolded (on paper they are unfolded).

    Parameters
    ----------
    folder : str or Path
        Where to write; made if it is not there.
    versions : tuple of str
        ``"student"``: cells tagged ``solution`` or ``teacher`` are left out, and an empty cell takes their place below
        a question. ``"teacher"``: everything, with the notes for teachers.
    html : bool
        Write a page to print beside each notebook, too, and an ``index.html``.
    overwrite : bool
        Write over files of the same names. Otherwise one of them stops everything before the first file is written.

    Returns
    -------
    list of Path
        The written files.

    Raises
    ------
    LessonError
        If a file is there already, or if a package of the extra ``lab`` is missing.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     written = write_lessons(folder, versions=("student",))
    ...     print(written[0].name, written[1].name)
    README.md 00_quickstart.ipynb
    """
    _require("nbconvert", "nbformat", *(["latex2mathml"] if html else []))
    import nbformat

    source, files = _source(), {}
    start = (source / START).read_text(encoding="utf-8")
    lessons = {path.stem: nbformat.read(path, as_version=4) for path in sorted(source.glob("[0-9]*.ipynb"))}
    for version in versions:
        target = Path(folder) / version
        begin = start if version == "teacher" else start.split("\n## For teachers", 1)[0].rstrip() + "\n"
        files[target / START] = begin
        made = {stem: make_version(lesson, version) for stem, lesson in lessons.items()}
        files |= {target / f"{stem}.ipynb": nbformat.writes(lesson) + "\n" for stem, lesson in made.items()}
        if html:
            from dppca_nb._lesson_page import page, start_page

            files[target / "index.html"] = start_page(begin)
            files |= {target / f"{stem}.html": page(lesson) for stem, lesson in made.items()}
    if not overwrite and (taken := [path for path in files if path.exists()]):
        raise LessonError(
            f"{taken[0]} is there already ({len(taken)} such files); nothing was written. "
            "Choose another folder, or add --overwrite (in Python: overwrite=True)"
        )
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return list(files)


def make_version(lesson: NotebookNode, version: str) -> NotebookNode:
    """Make the version of one lesson for ``"student"`` or ``"teacher"``; the lesson itself stays as it is.

    Parameters
    ----------
    lesson : NotebookNode
        A notebook with tagged cells.
    version : str
        ``"student"`` or ``"teacher"``.

    Returns
    -------
    NotebookNode
        A notebook of its own.
    """
    from nbconvert.preprocessors import TagRemovePreprocessor
    from nbformat import from_dict, v4

    made = from_dict(lesson)
    if version == "teacher":
        return made
    cells, tagged = [], False
    for cell in made.cells:
        begins = "solution" in _tags(cell) and not tagged
        tagged = "solution" in _tags(cell)
        if begins:  # words are asked for where the solution is of words alone
            run = made.cells[made.cells.index(cell) :]
            run = run[: next((i for i, c in enumerate(run) if "solution" not in _tags(c)), len(run))]
            code = any(c.cell_type == "code" for c in run)
            new = v4.new_code_cell(CODE) if code else v4.new_markdown_cell(WORDS)
            new.id, new.metadata = f"answer-{len(cells)}", from_dict({"tags": ["answer"]})
            cells.append(new)
        cells.append(cell)
    note = v4.new_markdown_cell(NOTE, id="student-version")
    made.cells = [cells[0], note, *cells[1:]]
    made, _ = TagRemovePreprocessor(enabled=True, remove_cell_tags=set(HIDDEN)).preprocess(made, {})
    return made


def add_options(commands: argparse._SubParsersAction) -> None:
    """Describe the command ``lessons`` to the command line.

    Parameters
    ----------
    commands : argparse subparsers
        Where commands are added.
    """
    parser = commands.add_parser(
        "lessons",
        help="write the lessons for a class: student and teacher versions, pages to print",
        description="Write the lessons as notebooks into FOLDER/student (without solutions) and FOLDER/teacher "
        "(with solutions and notes for teachers). They run wherever dppca_nb is installed.",
    )
    parser.add_argument("folder", metavar="FOLDER", type=Path, help="made if it is not there")
    one = parser.add_mutually_exclusive_group()
    one.add_argument("--student", action="store_true", help="the student version only")
    one.add_argument("--teacher", action="store_true", help="the teacher version only")
    html = "also a page to print of each lesson, one file each, no network (PDF: print it in a browser)"
    parser.add_argument("--html", action="store_true", help=html)
    parser.add_argument("--overwrite", action="store_true", help="write over files of the same names")


def run_command(options: argparse.Namespace, say: Callable[[str], None]) -> None:
    """Do what the command ``lessons`` was asked for.

    Parameters
    ----------
    options : argparse.Namespace
        As `add_options` describes them.
    say : callable
        Takes a line for the user.

    Raises
    ------
    LessonError
        As `write_lessons` does, and if the folder takes no files.
    """
    asked = tuple(name for name in ("student", "teacher") if getattr(options, name))
    versions = asked or ("student", "teacher")
    if options.html:
        say("Writing the pages takes half a minute.")
    try:
        written = write_lessons(options.folder, versions=versions, html=options.html, overwrite=options.overwrite)
    except OSError as error:
        raise LessonError(f"{options.folder} takes no files: {error.strerror or error}") from error
    for version in versions:
        mine = [path for path in written if path.parent.name == version]
        first = "index.html" if options.html else START
        say(f"{len(mine)} files in {options.folder / version}; begin with {first}")


def _tags(cell: NotebookNode) -> list[str]:
    """Read the tags of a cell."""
    return cell.metadata.get("tags", [])


def _source() -> Path:
    """Find the lessons: a wheel carries them inside the package, a source tree has them beside it."""
    for place in PLACES:
        if (place / START).exists():
            return place
    raise LessonError(f"The lessons are neither in {PLACES[0]} nor in {PLACES[1]}; install dppca_nb again")


def _require(*modules: str) -> None:
    """Refuse with what to install, before anything is read."""
    if missing := [name for name in modules if importlib.util.find_spec(name) is None]:
        raise LessonError(f'{missing[0]}, which writes lessons, is not installed. Run: pip install "dppca_nb[lab]"')
