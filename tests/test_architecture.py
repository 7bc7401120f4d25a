"""The house rules that a machine can check: who may import whom, what an import does, what may not be in a file."""

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import dppca_nb

PACKAGE = Path(dppca_nb.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))
TREES = {path: ast.parse(path.read_text(encoding="utf-8")) for path in FILES}
LAYERS = ("table", "core", "charts", "widgets", "handout", "__main__")  # each may import those before it
ROOMS = {  # layers of several modules without a folder of their own
    **dict.fromkeys(("datasets", "_columns", "_containers", "_scales", "_simulated"), "table"),
    **dict.fromkeys(("read", "_read_excel", "_read_file", "_read_frame"), "table"),
    **dict.fromkeys(("_read_layout", "_read_numbers", "_read_text"), "table"),
    **dict.fromkeys(("_handout_book", "_handout_frames", "_handout_page", "_handout_text"), "handout"),
    **dict.fromkeys(("_handout_command", "_lab", "_own_file", "lessons", "_lesson_page"), "__main__"),
}
LAB = {
    "jupyter_client",
    "jupyter_core",
    "latex2mathml",
    "nbconvert",
    "nbformat",
    "pygments",
}  # of the extra "lab": for the command line alone, and there only when asked
LONGEST = 330  # lines: "a module that passes ~300 lines is telling you it holds two ideas"


def identity(path):
    return path.relative_to(PACKAGE).as_posix()


def layer(module):
    """Layer of a module inside the package; None for the public door, which imports from all."""
    parts = module.split(".")[1:]
    if not parts:
        return None
    return LAYERS.index(ROOMS.get(parts[0], parts[0]))


def module_name(path):
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(path):
    """Full names of all modules that a file imports, also inside functions."""
    package = module_name(path) if path.name == "__init__.py" else module_name(path).rpartition(".")[0]
    for node in ast.walk(TREES[path]):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            source = ".".join([*base, *([node.module] if node.module else [])])
            for alias in node.names:
                yield f"{source}.{alias.name}", node.lineno


def known(name):
    """The module inside the package that a dotted name starts with."""
    parts = name.split(".")
    while parts:
        path = PACKAGE.parent.joinpath(*parts)
        if path.with_suffix(".py").exists() or (path / "__init__.py").exists():
            return ".".join(parts)
        parts.pop()
    return None


def test_there_is_a_package_to_check():
    assert len(FILES) > 15
    assert {"table.py", "core/kendall.py", "charts/loading.py", "widgets/view.py"} <= set(map(identity, FILES))


@pytest.mark.parametrize("path", FILES, ids=identity)
def test_imports_go_one_way(path):
    own = layer(module_name(path))
    if own is None:
        return
    for name, line in imports(path):
        if name.split(".")[0] == "dppca_nb":
            target = layer(known(name))
            if target is None and LAYERS[own] == "__main__":
                continue  # commands come in by the public door
            assert target is not None, f"line {line}: the public door is not for the inside; import {name} directly"
            assert target <= own, f"line {line}: {LAYERS[own]} imports {name} of {LAYERS[target]}"


def test_no_two_modules_import_each_other():
    graph = {module_name(p): {known(n) for n, _ in imports(p) if n.startswith("dppca_nb.")} for p in FILES}
    graph.pop("dppca_nb")
    done = set()

    def visit(module, trail):
        assert module not in trail, f"circle: {' -> '.join([*trail, module])}"
        if module not in done:
            for other in graph.get(module, ()):
                visit(other, [*trail, module])
            done.add(module)

    for module in graph:
        visit(module, [])


@pytest.mark.parametrize(
    "path",
    [p for p in FILES if identity(p).startswith(("core/", "table", "_")) and not identity(p).startswith("_handout_")],
    ids=identity,
)
def test_numbers_know_no_screen(path):
    screen = {"altair", "anywidget", "ipywidgets", "IPython", "traitlets", "vl_convert", "matplotlib"}
    found = {name.split(".")[0] for name, _ in imports(path)} & screen
    assert not found


@pytest.mark.parametrize("path", [p for p in FILES if identity(p).startswith("charts/")], ids=identity)
def test_charts_know_no_widget(path):
    found = {name.split(".")[0] for name, _ in imports(path)} & {"anywidget", "ipywidgets", "IPython", "traitlets"}
    assert not found


@pytest.mark.parametrize("path", FILES, ids=identity)
def test_nothing_is_imported_that_users_do_not_have(path):
    allowed = {
        "dppca_nb",
        "numpy",
        "scipy",
        "pandas",
        "narwhals",
        "filelock",
        "opendp",  # of the extra "secure", imported where it draws
        "threadpoolctl",
        "altair",
        "anywidget",
        "ipywidgets",
        "traitlets",
    }
    allowed |= {"vl_convert", "IPython", *sys.stdlib_module_names}
    found = {name.split(".")[0] for name, _ in imports(path)} - allowed
    if layer(module_name(path)) == LAYERS.index("__main__"):
        at_import = [n for n in TREES[path].body if isinstance(n, ast.Import | ast.ImportFrom)]
        assert not LAB & {getattr(n, "module", None) or n.names[0].name.split(".")[0] for n in at_import}
        found -= LAB
    if identity(path) == "_read_excel.py":  # of the extra "excel": there alone, and only when a workbook is read
        at_import = [n for n in TREES[path].body if isinstance(n, ast.Import)]
        assert "openpyxl" not in {alias.name for node in at_import for alias in node.names}
        found -= {"openpyxl"}
    assert not found


@pytest.mark.parametrize("path", [p for p in FILES if p.name != "__main__.py"], ids=identity)
def test_nothing_prints_displays_or_captures(path):
    for node in ast.walk(TREES[path]):
        if isinstance(node, ast.Call):
            called = getattr(node.func, "id", getattr(node.func, "attr", None))
            assert called not in {"print", "display", "clear_output", "interact", "Output"}, f"line {node.lineno}"
    names = {name.rpartition(".")[2] for name, _ in imports(path)}
    assert not names & {"display", "clear_output", "interact", "Output"}


@pytest.mark.parametrize("path", FILES, ids=identity)
def test_nothing_sets_a_global_seed_or_draws_from_one(path):
    for node in ast.walk(TREES[path]):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Attribute):
            owner = node.value
            if owner.attr == "random" and getattr(owner.value, "id", "") == "np":
                allowed = {"default_rng", "Generator", "SeedSequence", "BitGenerator", "RandomState"}
                assert node.attr in allowed, f"line {node.lineno}: np.random.{node.attr}"


@pytest.mark.parametrize("path", FILES, ids=identity)
def test_a_module_holds_one_idea(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= LONGEST


@pytest.mark.parametrize("path", FILES, ids=identity)
def test_no_file_waits_to_be_finished(path):
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"\b(TODO|FIXME|XXX|HACK)\b", text)
    for node in ast.walk(TREES[path]):
        if isinstance(node, ast.FunctionDef) and [type(s) for s in node.body] == [ast.Pass]:
            pytest.fail(f"line {node.lineno}: {node.name} does nothing")


@pytest.mark.parametrize(
    "path",
    [*FILES, *sorted(PACKAGE.glob("widgets/static/[!_]*[!e].js")), *PACKAGE.glob("widgets/static/*.css")],
    ids=identity,
)
def test_no_file_holds_a_path_of_somebodys_machine(path):
    if path.name.endswith(".bundle.js"):
        return  # made on the spot, ignored by git
    folders = "|".join(["work", "home", "root", "tmp", "Users"])
    text = path.read_text(encoding="utf-8")
    assert not re.search(rf"""["'`\s(]/({folders})/\w""", text)
    assert not re.search(r"[A-Z]:\\\\\w", text)


# ----- docstrings -----


def public_definitions():
    for path, tree in TREES.items():
        hidden = path.name.startswith("_") and path.name not in {"__init__.py", "__main__.py"}
        for node in tree.body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_") and not hidden:
                yield pytest.param(node, id=f"{identity(path)}:{node.name}")


@pytest.mark.parametrize("node", list(public_definitions()))
def test_every_public_name_says_what_it_is(node):
    assert ast.get_docstring(node), node.name
    if isinstance(node, ast.ClassDef):
        for member in node.body:
            if isinstance(member, ast.FunctionDef) and not member.name.startswith("_"):
                assert ast.get_docstring(member), f"{node.name}.{member.name}"


@pytest.mark.parametrize("path", FILES, ids=identity)
def test_every_module_says_what_it_is_for(path):
    assert ast.get_docstring(TREES[path])


@pytest.mark.parametrize("name", [n for n in dppca_nb.__all__ if n != "datasets"])
def test_every_name_of_the_public_door_has_an_example_that_runs(name):
    doc = getattr(dppca_nb, name).__doc__
    assert ">>> " in doc


@pytest.mark.parametrize("name", [n for n in dir(dppca_nb.datasets) if not n.startswith("_")])
def test_every_data_set_has_an_example(name):
    made = getattr(dppca_nb.datasets, name)
    if callable(made) and made.__module__.startswith("dppca_nb"):
        assert ">>> " in made.__doc__


def test_the_public_door_is_complete_sorted_and_opens_nothing_else():
    assert dppca_nb.__all__ == sorted(dppca_nb.__all__)
    for name in dppca_nb.__all__:
        assert getattr(dppca_nb, name) is not None
    tree = TREES[PACKAGE / "__init__.py"]
    assert {type(node) for node in tree.body} <= {ast.Expr, ast.ImportFrom, ast.Import, ast.Assign}


# ----- what an import does -----

SILENT = """
import json, sys
import altair as alt, numpy as np
np.random.seed(7)
before = [alt.renderers.active, dict(alt.renderers.options), alt.data_transformers.active,
          dict(alt.data_transformers.options), alt.theme.active, alt.theme.options]
state = np.random.get_state()
options = np.get_printoptions()
import dppca_nb
after = [alt.renderers.active, dict(alt.renderers.options), alt.data_transformers.active,
         dict(alt.data_transformers.options), alt.theme.active, alt.theme.options]
now = np.random.get_state()
same = all(np.array_equal(a, b) for a, b in zip(state, now)) and options == np.get_printoptions()
from ipywidgets.widgets import widget
sys.__stdout__.write(json.dumps({
    "altair": before == after, "numpy": same, "widgets": len(widget._instances),
    "modules": sorted({name.split(".")[0] for name in sys.modules}), "threads": __import__("threading").active_count(),
}))
"""


@pytest.fixture(scope="module")
def imported(tmp_path_factory):
    """A fresh process that imports the package in an empty folder, with warnings as errors."""
    folder = tmp_path_factory.mktemp("empty")
    # only warnings of this package: those of others at import are theirs
    command = [sys.executable, "-W", "error:::dppca_nb", "-c", SILENT]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=True)
    return done, json.loads(done.stdout), folder


def test_an_import_prints_and_warns_nothing_and_leaves_no_file(imported):
    done, _, folder = imported
    assert done.stdout.startswith("{")
    assert done.stderr == ""
    assert list(folder.iterdir()) == []


def test_an_import_changes_neither_altair_nor_numpy_and_makes_no_widget(imported):
    _, found, _ = imported
    assert found["altair"]
    assert found["numpy"]
    assert found["widgets"] == 0
    assert found["threads"] == 1


def test_an_import_pulls_in_no_extra_and_starts_no_engine(imported):
    _, found, _ = imported
    heavy = {"jupyterlab", "notebook", "vl_convert", "polars", "matplotlib", "sklearn", "statsmodels", "playwright"}
    heavy |= {
        "nbconvert",
        "latex2mathml",
        "opendp",
        "openpyxl",
        "pytest",
        "hypothesis",
        "nbclient",
        "nbformat",
        "requests",
    }
    assert not heavy & set(found["modules"])


CLOCK = "import time; s = time.process_time(); import {}; print(time.process_time() - s)"


def seconds(modules):
    """Processor time of an import in a process of its own: a busy machine does not lengthen it much."""
    command = [sys.executable, "-c", CLOCK.format(modules)]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


@pytest.mark.skipif(os.environ.get("CI") == "slow", reason="a machine that counts its seconds for others")
def test_an_import_is_cheap_beside_the_libraries_it_stands_on():
    base, ours = [], []
    for _ in range(5):  # in turn, so that a busy machine is busy for both, and the least of each is what it costs
        base.append(seconds("numpy, pandas, altair"))
        ours.append(seconds("dppca_nb"))
    assert min(ours) < 1.5 * min(base)
