"""The lessons for a class: what is left out, what stays, what a printed page asks for, and the start page."""

import ast
import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import nbformat
import pytest
from nbformat import v4

from dppca_nb import __main__ as command_line
from dppca_nb import lessons
from dppca_nb._lesson_page import page, start_page
from dppca_nb.lessons import LessonError, make_version, write_lessons

ROOT = Path(__file__).parents[1]
PATHS = sorted((ROOT / "notebooks").glob("[0-9]*.ipynb"))
HIDDEN = {"solution", "teacher"}
PAPERS = ("https://doi.org/", "https://arxiv.org/")

each = pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)


def tags(cell):
    return set(cell.metadata.get("tags", []))


def read(path):
    return nbformat.read(path, as_version=4)


def cell(source, *marks, code=False):
    make = v4.new_code_cell if code else v4.new_markdown_cell
    return make(source, metadata={"tags": list(marks)} if marks else {})


def small(*cells):
    return v4.new_notebook(cells=[cell("# Small"), *cells])


# ----- versions -----


@each
def test_students_get_no_solution_and_no_note_for_teachers_and_everything_else(path):
    lesson = read(path)
    made = make_version(lesson, "student")
    assert not any(tags(c) & HIDDEN for c in made.cells)
    new = [c for c in made.cells if c.id == "student-version" or tags(c) == {"answer"}]
    assert [c for c in made.cells if c not in new] == [c for c in lesson.cells if not tags(c) & HIDDEN]
    assert len(new) > 1
    nbformat.validate(made)


@each
def test_every_question_is_followed_by_an_empty_cell_to_write_in(path):
    made = make_version(read(path), "student").cells
    asked = [place for place, c in enumerate(made) if re.search(r"^#+ Exercise", c.source, re.M)]
    assert asked
    for place in asked:
        assert tags(made[place + 1]) == {"answer"}
        assert not made[place + 1].get("outputs")


@each
def test_teachers_get_the_lesson_as_it_is(path):
    lesson = read(path)
    assert make_version(lesson, "teacher") == lesson


def test_a_lesson_is_not_changed_by_its_student_version():
    lesson = small(cell("why?"), cell("# because", "solution", code=True))
    before = json.dumps(lesson)
    make_version(lesson, "student")
    assert json.dumps(lesson) == before


def test_a_solution_of_words_and_code_leaves_one_cell_for_code_and_one_of_words_a_cell_for_words():
    lesson = small(
        cell("why?"),
        cell("because", "solution"),
        cell("1 + 1", "solution", code=True),
        cell("and how?"),
        cell("so", "solution"),
        cell("# For teachers", "teacher"),
    )
    made = make_version(lesson, "student").cells
    assert [(c.cell_type, c.source) for c in made] == [
        ("markdown", "# Small"),
        ("markdown", lessons.NOTE),
        ("markdown", "why?"),
        ("code", lessons.CODE),
        ("markdown", "and how?"),
        ("markdown", lessons.WORDS),
    ]


def names(tree, context):
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, context)}


@each
def test_no_cell_of_the_student_version_needs_a_solution(path):
    # a name that a solution makes, or makes anew, is not read below before another cell has made it
    suspects = set()
    for c in read(path).cells:
        if c.cell_type == "code":
            tree = ast.parse(c.source)
            made = names(tree, ast.Store) | {node.name for node in tree.body if hasattr(node, "name")}
            if "solution" in tags(c):
                suspects |= made
            else:
                assert not names(tree, ast.Load) & suspects - made, c.source
                suspects -= made


@each
def test_a_solution_begins_by_saying_that_it_is_one(path):
    # it is the only line that is seen while the cell is folded
    for c in read(path).cells:
        if "solution" in tags(c):
            assert c.source.startswith(("# Solution", "# Answers") if c.cell_type == "code" else "**Solution"), c.source


@pytest.mark.parametrize("number", range(5))
def test_a_lesson_ends_with_notes_for_teachers(number):
    last = read(PATHS[number]).cells[-1]
    assert tags(last) == {"teacher"}
    assert "For teachers" in last.source.splitlines()[0]


# ----- pages -----


class Seen(HTMLParser):
    """What a page is made of, and every address that a browser would fetch by itself."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.fetched, self.links, self.text, self.alts = [], [], [], [], []
        self.feed(text)

    def handle_starttag(self, name, attributes):
        values = dict(attributes)
        self.elements.append(name)
        self.fetched += [values[key] for key in ("src", "srcset", "data", "poster", "background") if key in values]
        self.links += [values["href"]] if name == "a" else []
        self.fetched += [values["href"]] if name in {"link", "base", "image", "use"} else []
        self.alts += [values.get("alt")] if name == "img" else []

    def handle_data(self, data):
        self.text.append(data)


@pytest.fixture(scope="module")
def pages():
    return {path.stem: page(make_version(read(path), "teacher")) for path in PATHS}


@each
def test_a_page_fetches_nothing_and_runs_nothing(path, pages):
    seen = Seen(pages[path.stem])
    assert not {"script", "iframe", "object", "embed", "link", "base"} & set(seen.elements)
    assert all(address.startswith("data:image/png;base64,") for address in seen.fetched)
    assert not re.search(r"@import|url\(", pages[path.stem])
    assert "default-src 'none'" in pages[path.stem]


@each
def test_a_page_holds_every_picture_with_words_for_it(path, pages):
    pictures = [
        output.data
        for c in read(path).cells
        for output in c.get("outputs", [])
        if "image/png" in output.get("data", {})
    ]
    seen = Seen(pages[path.stem])
    assert pictures
    assert seen.alts == [data["text/plain"] for data in pictures]


@each
def test_every_formula_of_a_page_is_drawn_without_a_script(path, pages):
    source = "\n".join(c.source for c in read(path).cells if c.cell_type == "markdown")
    source = re.sub(r"`[^`\n]*`", "", source)
    formulas = re.findall(r"\$\$.+?\$\$|\$[^$]+?\$", source, re.S)
    seen = Seen(pages[path.stem])
    assert seen.elements.count("math") == len(formulas)
    words = re.sub(r"<pre>.*?</pre>|<code>.*?</code>|<style.*?</style>", "", pages[path.stem], flags=re.S)
    assert not re.search(r"\\[a-zA-Z]{2,}|\$", re.sub(r'"[^"]*"', "", words))


@each
def test_links_of_a_page_lead_to_pages(path, pages):
    names_of_pages = {f"{p.stem}.html" for p in PATHS} | {"index.html"}
    for target in Seen(pages[path.stem]).links:
        assert target.startswith(PAPERS) or target in names_of_pages, target


def test_solutions_fold_together_and_notes_are_marked():
    lesson = small(
        cell("why?"),
        cell("because", "solution"),
        cell("1 + 1", "solution", code=True),
        cell("and how?"),
        cell("so", "solution"),
        cell("# For teachers", "teacher"),
    )
    made = page(lesson)
    assert made.count("<details") == made.count("</details>") == 2
    folded = re.findall(r"<details.*?</details>", made, re.S)
    assert "because" in folded[0]
    assert 'class="mi">1<' in folded[0]
    assert "how?" not in "".join(folded)
    assert re.search(r'<aside class="teacher">.*For teachers.*</aside>', made, re.S)
    assert "<details" not in page(make_version(lesson, "student"))


def test_a_page_escapes_what_only_looks_like_markup():
    output = v4.new_output("stream", text="<script>alert(1)</script>")
    code = cell("a = '<script>alert(2)</script>'", code=True)
    code.outputs = [output]
    picture = v4.new_output("display_data", {"image/png": "iVBORw0KGgo=", "text/plain": '"><script>alert(3)</script>'})
    other = cell("b", code=True)
    other.outputs = [picture]
    made = page(v4.new_notebook(cells=[cell("# A <b> & c"), code, other]))
    assert "script" not in Seen(made).elements
    assert "<title>A &lt;b&gt; &amp; c</title>" in made


def test_bars_of_a_norm_do_not_grow():
    made = page(small(cell(r"$h(\lVert z\rVert)\frac{z}{\lvert z\rvert}$")))
    assert len(re.findall(r'<mo stretchy="false">(?:‖|\|)', made)) == 4


# ----- the start page -----

START = (ROOT / "notebooks" / "README.md").read_text(encoding="utf-8")
ROWS = [
    [part.strip() for part in line.strip("|").split("|")] for line in START.splitlines() if re.match(r"\| \d", line)
]


def test_the_start_page_has_every_lesson_once_and_in_order():
    assert [int(row[0]) for row in ROWS] == list(range(len(PATHS)))
    assert [re.search(r"\]\((.+?)\)", row[1])[1] for row in ROWS] == [path.name for path in PATHS]
    assert [int(path.name[:2]) for path in PATHS] == list(range(len(PATHS)))


def test_the_start_page_says_of_every_lesson_what_it_teaches_needs_and_takes():
    for row in ROWS:
        assert len(row) == 6
        assert all(row)
        least, most = map(int, row[4].split(" – "))
        assert 5 <= least <= most <= 180


def test_the_start_page_says_the_minutes_that_lessons_say():
    for row, path in zip(ROWS, PATHS, strict=True):
        said = re.search(r"takes about (\d+) minutes", read(path).cells[0].source)
        assert not said or row[4].startswith(f"{said[1]} – ")


def test_the_printed_start_page_leads_to_printed_lessons():
    assert [link for link in Seen(start_page(START)).links if link.endswith(".html")] == [
        f"{path.stem}.html" for path in PATHS
    ]


def test_commands_of_the_start_page_are_understood():
    found = re.findall(r"^python -m dppca_nb ([^#\n]+)", START, re.M)
    assert len(found) >= 2
    for words in found:
        command_line._parser().parse_args(words.split())


# ----- the command -----


def test_the_command_writes_both_versions_with_their_start_pages(tmp_path, capsys):
    assert command_line.main(["lessons", str(tmp_path / "class")]) == 0
    for version in ("student", "teacher"):
        names_written = {path.name for path in (tmp_path / "class" / version).iterdir()}
        begin = (tmp_path / "class" / version / "README.md").read_text(encoding="utf-8")
        assert ("For teachers" in begin) == (version == "teacher")
        assert names_written == {"README.md"} | {path.name for path in PATHS}
        assert f"{version}; begin with README.md" in capsys.readouterr().out or version == "teacher"


def test_the_command_writes_one_version_with_pages(tmp_path, capsys, monkeypatch):
    few = tmp_path / "few"
    few.mkdir()
    nbformat.write(small(cell("why?"), cell("because", "solution")), few / "00_small.ipynb")
    (few / "README.md").write_text("# Start\n", encoding="utf-8")
    monkeypatch.setattr(lessons, "PLACES", (tmp_path / "no", few))
    assert command_line.main(["lessons", str(tmp_path / "class"), "--student", "--html"]) == 0
    written = {path.relative_to(tmp_path / "class").as_posix() for path in (tmp_path / "class").rglob("*.*")}
    assert written == {f"student/{name}" for name in ("README.md", "index.html", "00_small.ipynb", "00_small.html")}
    assert "4 files" in capsys.readouterr().out
    assert "because" not in (tmp_path / "class" / "student" / "00_small.html").read_text(encoding="utf-8")


def test_a_file_that_is_there_stops_everything_before_the_first_is_written(tmp_path, capsys):
    mine = tmp_path / "teacher" / PATHS[-1].name
    mine.parent.mkdir()
    mine.write_text("my own notes", encoding="utf-8")
    assert command_line.main(["lessons", str(tmp_path)]) == 1
    said = capsys.readouterr().err
    assert mine.name in said
    assert "--overwrite" in said
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [mine]
    assert mine.read_text(encoding="utf-8") == "my own notes"
    write_lessons(tmp_path, overwrite=True)
    assert mine.read_text(encoding="utf-8") != "my own notes"


def test_both_versions_at_once_are_no_choice(tmp_path, capsys):
    with pytest.raises(SystemExit):
        command_line.main(["lessons", str(tmp_path), "--student", "--teacher"])
    assert "not allowed with" in capsys.readouterr().err


def test_a_folder_that_is_a_file_is_said(tmp_path, capsys):
    (tmp_path / "class").write_text("", encoding="utf-8")
    assert command_line.main(["lessons", str(tmp_path / "class")]) == 1
    assert "takes no files" in capsys.readouterr().err


@pytest.mark.parametrize(("missing", "html"), [("nbconvert", False), ("latex2mathml", True)])
def test_a_missing_extra_is_said_with_what_to_install(tmp_path, monkeypatch, missing, html):
    real = lessons.importlib.util.find_spec
    monkeypatch.setattr(lessons.importlib.util, "find_spec", lambda name: None if name == missing else real(name))
    with pytest.raises(LessonError, match=rf'{missing}.*pip install "dppca_nb\[lab\]"'):
        write_lessons(tmp_path, html=html)
    assert list(tmp_path.iterdir()) == []


def test_an_installation_without_lessons_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(lessons, "PLACES", (tmp_path / "a", tmp_path / "b"))
    with pytest.raises(LessonError, match="install dppca_nb again"):
        write_lessons(tmp_path / "class")


def test_the_command_line_opens_without_the_lessons_packages():
    code = (
        "import sys; sys.modules.update(nbconvert=None, nbformat=None, latex2mathml=None);"
        "import dppca_nb.__main__, dppca_nb._lesson_page"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
