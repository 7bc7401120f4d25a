"""binder/: its pins agree with pyproject.toml, and the check of it, and the badges, notice what is wrong."""

import importlib.util
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
BINDER = ROOT / "binder"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
ADDRESS = r"https://mybinder\.org/v2/gh/[^\s)]+"
PATHS = sorted((ROOT / "notebooks").glob("[0-9]*.ipynb"))


def script(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


CHECK, BADGES = script("check_binder"), script("badges")


def requirements(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    lines = [re.sub(r"(^|\s)#.*", "", line).strip() for line in lines]
    return [Requirement(line) for line in lines if line]


PINS = {canonicalize_name(pin.name): pin for pin in requirements(BINDER / "requirements.txt")}
ASKED = [Requirement(text) for text in PROJECT["project"]["dependencies"] + PROJECT["build-system"]["requires"]]
EXTRAS = {
    name: [Requirement(text) for text in texts] for name, texts in PROJECT["project"]["optional-dependencies"].items()
}


# ----- the files -----


@pytest.mark.parametrize("asked", ASKED + EXTRAS["excel"], ids=str)
def test_every_dependency_is_pinned_within_the_range_of_the_project(asked):
    pin = PINS[canonicalize_name(asked.name)]
    (exact,) = pin.specifier
    assert exact.operator == "=="
    assert asked.specifier.contains(exact.version)


def test_what_is_compiled_has_the_names_and_ranges_of_the_project():
    written = {canonicalize_name(r.name): r.specifier for r in requirements(BINDER / "requirements.in")}
    known = {canonicalize_name(r.name): r.specifier for r in ASKED + EXTRAS["excel"] + EXTRAS["lab"]}
    assert written.pop("editables")  # hatchling's own, for -e
    assert {name: known[name] for name in written} == written
    assert set(written) >= {canonicalize_name(r.name) for r in ASKED + EXTRAS["excel"]}
    assert set(written) <= set(PINS)


def test_every_pin_is_exact_and_has_one_line():
    found = requirements(BINDER / "requirements.txt")
    assert len(found) == len(PINS) > 20
    for pin in found:
        assert re.fullmatch(r"==[\w.!+]+", str(pin.specifier)), pin
        assert pin.marker is None
        assert pin.url is None


def test_pins_name_no_address_no_folder_and_not_what_the_image_brings():
    text = (BINDER / "requirements.txt").read_text(encoding="utf-8")
    assert not re.search(r"://|^\s*(-|\.)|--|\s@\s", text, re.M)
    assert not {"jupyterlab", "notebook", "jupyterhub", "dppca-nb", "opendp"} & set(PINS)


def test_the_python_of_the_image_is_one_that_the_project_runs_on():
    version = CHECK.python_of(ROOT)
    assert Requirement(f"python{PROJECT['project']['requires-python']}").specifier.contains(f"{version}.0")
    assert f"--python-version {version} " in (BINDER / "requirements.in").read_text(encoding="utf-8")


def test_post_build_is_executable_also_in_git():
    assert os.access(BINDER / "postBuild", os.X_OK)
    listed = subprocess.run(
        ["git", "ls-files", "-s", "binder/postBuild"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listed.returncode == 0 and listed.stdout:  # an unpacked archive is no checkout
        assert listed.stdout.startswith("100755 ")


def test_post_build_installs_the_package_alone_and_trusts_the_lessons():
    text = (BINDER / "postBuild").read_text(encoding="utf-8")
    assert text.startswith("#!")
    assert "pip install --no-deps --no-build-isolation -e ." in text
    assert "jupyter trust notebooks/*.ipynb" in text


# ----- the check notices -----

PLAN = """\
Building conda environment for python=3.11
COPY --chown=0:0 src/binder/requirements.txt ${REPO_DIR}/binder/requirements.txt
RUN ${KERNEL_PYTHON_PREFIX}/bin/pip install --no-cache-dir -r "binder/requirements.txt"
COPY --chown=0:0 src/ ${REPO_DIR}/
RUN ./binder/postBuild
"""
LISTING = """\
JupyterLab v4.4.9
        @jupyter-widgets/jupyterlab-manager v5.0.15 enabled \x1b[32mOK\x1b[0m (python, jupyterlab_widgets)
        anywidget v0.11.0 enabled \x1b[32mOK\x1b[0m (python, anywidget)
"""


def test_a_sound_plan_passes():
    CHECK.check_plan(PLAN, "PythonBuildPack", "3.11")


@pytest.mark.parametrize(
    ("plan", "buildpack", "version", "said"),
    [
        (PLAN, "CondaBuildPack", "3.11", "CondaBuildPack, which ignores"),
        (PLAN, "PythonBuildPack", "3.12", "does not take Python 3.12"),
        (PLAN.replace("RUN ./binder/postBuild\n", ""), "PythonBuildPack", "3.11", "in this order"),
        ("\n".join([*PLAN.splitlines()[::3], *PLAN.splitlines()[1:]]), "PythonBuildPack", "3.11", "in this order"),
    ],
)
def test_a_plan_that_makes_another_image_is_refused(plan, buildpack, version, said):
    with pytest.raises(CHECK.BinderError, match=said):
        CHECK.check_plan(plan, buildpack, version)


def test_extensions_have_to_be_there_and_to_work():
    CHECK.check_extensions(LISTING)
    for broken in (LISTING.replace("anywidget v", "other v"), LISTING.replace("v5.0.15 enabled", "v5.0.15 disabled")):
        with pytest.raises(CHECK.BinderError, match="no working extension"):
            CHECK.check_extensions(broken)


@pytest.mark.parametrize("text", ["", "3.11", "python-3", "python-3.11.4\n"])
def test_a_runtime_that_names_no_python_is_refused(text, tmp_path):
    (tmp_path / "binder").mkdir()
    (tmp_path / "binder" / "runtime.txt").write_text(text, encoding="utf-8")
    with pytest.raises(CHECK.BinderError, match=r"must be like"):
        CHECK.python_of(tmp_path)


def test_the_image_is_read_from_what_repo2docker_locks(tmp_path):
    lock = tmp_path / "buildpacks" / "conda" / "environment.py-3.11-linux-64.lock"
    lock.parent.mkdir(parents=True)
    lock.write_text(
        "noarch/jupyterlab-4.4.9-pyh_0.conda#1\nnoarch/jupyterlab_server-2.27.3-pyh_1.conda\n", encoding="utf-8"
    )
    assert CHECK.image_pins(tmp_path, "3.11") == ["jupyterlab==4.4.9"]
    lock.write_text("noarch/other-1.0-0.conda\n", encoding="utf-8")
    with pytest.raises(CHECK.BinderError, match="no JupyterLab"):
        CHECK.image_pins(tmp_path, "3.11")


def test_the_clean_environment_has_this_python_or_one_of_its_own():
    assert CHECK.python(f"{sys.version_info.major}.{sys.version_info.minor}") == sys.executable
    assert CHECK.python("3.999") == "3.999"  # for uv to find


def test_a_program_that_fails_is_told_with_its_last_lines():
    with pytest.raises(CHECK.BinderError, match="status 3\nlast words"):
        CHECK.run(sys.executable, "-c", "import sys; print('last words'); sys.exit(3)")


def test_the_copy_for_the_check_has_what_git_has_and_no_bundle(tmp_path):
    if not (ROOT / ".git").exists():
        pytest.skip("an unpacked archive is no checkout")
    copy = CHECK.copied(tmp_path / "repo")
    assert os.access(copy / "binder" / "postBuild", os.X_OK)
    assert (copy / "dppca_nb" / "lessons.py").exists()
    assert not list(copy.rglob("*.bundle.js"))


# ----- badges -----


def test_there_is_a_badge_for_each_lesson_and_one_for_the_start_page():
    lines = BADGES.badges("owner/some.repo").split("\n\n")
    targets = []
    for line in lines:
        address = urlsplit(re.search(r"\]\((https://mybinder\.org/v2/\S+)\) \S", line)[1])
        assert address.path == f"/v2/gh/owner/some.repo/v{PROJECT['project']['version']}"
        targets.append(parse_qs(address.query)["urlpath"][0])
    assert targets == [f"lab/tree/notebooks/{name}" for name in ("README.md", *(path.name for path in PATHS))]


def test_a_badge_may_name_another_tag():
    assert unquote(BADGES.badges("a/b", "spring 2027")).count("/v2/gh/a/b/spring 2027?") == len(PATHS) + 1


@pytest.mark.parametrize("name", ["repo", "a/b/c", "https://github.com/a/b", "a b/c", ""])
def test_a_repository_that_is_none_is_refused(name):
    with pytest.raises(ValueError, match="OWNER/REPOSITORY"):
        BADGES.badges(name)


@pytest.mark.parametrize("path", [ROOT / "README.md", ROOT / "notebooks" / "README.md"], ids=["README", "lessons"])
def test_badges_that_are_shown_are_those_of_a_repository_that_is_known(path):
    shown = set(re.findall(ADDRESS, path.read_text(encoding="utf-8")))
    known = re.search(r"github\.com/([\w-]+/[\w.-]+)", str(PROJECT["project"].get("urls", "")))
    made = set(re.findall(ADDRESS, BADGES.badges(known[1]))) if known else set()  # any other leads nowhere
    assert shown == made if path.parent == ROOT else shown <= made
