"""Prove the net: a notebook run under strict nbval fails when the package, or one stored digit, is broken.

Each break is made in a copy, and must be noticed first in the very cell that shows what was broken; so all cells before
it agree with what is stored, and the failure is no accident of the copy.
"""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True)
class Break:
    """One defect: a text in a file that is replaced by another, and the cell that shows it."""

    file: str
    found: str
    put: str
    notebook: str
    cell: str


BREAKS = {
    "the divisor n instead of n - 1": Break(
        "dppca_nb/core/kendall.py",
        "pairs = n * (n - 1) // 2",
        "pairs = n * n // 2",
        "01_dp_loading.ipynb",
        "kendall-check",
    ),
    "no rule for signs": Break(
        "dppca_nb/core/align.py",
        "values[deciding, np.arange(values.shape[1])] < 0)",
        "np.arange(values.shape[1]) < 0)",
        "01_dp_loading.ipynb",
        "pca",
    ),
    "the axes of a chart swapped": Break(
        "dppca_nb/charts/plane.py",
        "x, y = float(values[row, 0]), float(values[row, 1])",
        "y, x = float(values[row, 0]), float(values[row, 1])",
        "00_quickstart.ipynb",
        "numbers-read",
    ),
    "a slider that redraws nothing": Break(
        "dppca_nb/widgets/view.py",
        'self.observe(self._on_change, [*self._settings, "_layouts", "_dragging"])',
        "",
        "00_quickstart.ipynb",
        "drag-after",
    ),
    "budgets that are not validated": Break(
        "dppca_nb/core/privacy.py",
        "if not (math.isfinite(epsilon) and epsilon > 0):",
        "if False:",
        "00_quickstart.ipynb",
        "state-error",
    ),
    "one stored digit edited": Break(
        "notebooks/01_dp_loading.ipynb",
        "Murder    0.042 ",
        "Murder    0.043 ",
        "01_dp_loading.ipynb",
        "pca",
    ),
}


def copy_to(folder):
    """Copy the package and the notebooks; the copy of the package says when it is imported."""
    shutil.copytree(ROOT / "dppca_nb", folder / "dppca_nb", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "notebooks", folder / "notebooks", ignore=shutil.ignore_patterns(".*"))
    with (folder / "dppca_nb" / "__init__.py").open("a") as door:
        door.write(f"\n__import__('pathlib').Path({str(folder / 'imported')!r}).touch()\n")


def strict_nbval(folder, notebook):
    """Run one notebook of the copy, up to the first cell that fails; return pytest's report."""
    (folder / "pytest.ini").write_text("[pytest]\n")  # nothing of what stands above or in the project
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "COV_"))}
    options = [
        "--nbval",
        "--nbval-current-env",
        "--nbval-sanitize-with=notebooks/nbval.cfg",
        "--nbval-cell-timeout=120",
    ]
    options += ["-x", "-v", "--color=no", "-c", "pytest.ini", "-p", "no:cacheprovider"]
    run = subprocess.run(
        [sys.executable, "-m", "pytest", f"notebooks/{notebook}", *options],
        cwd=folder,
        env=environment | {"PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert (folder / "imported").exists(), f"The kernel did not import the copy.\n{run.stdout}\n{run.stderr}"
    return run.returncode, run.stdout


def number_of(notebook, name):
    """Number that nbval gives to the cell with this id: code cells only, from 0."""
    code = [cell.id for cell in nbformat.read(ROOT / "notebooks" / notebook, as_version=4).cells if "outputs" in cell]
    return code.index(name)


@pytest.mark.parametrize("name", BREAKS)
def test_strict_nbval_notices(name, tmp_path):
    broken = BREAKS[name]
    copy_to(tmp_path)
    target = tmp_path / broken.file
    text = target.read_text(encoding="utf-8")
    assert text.count(broken.found) == 1, f"{broken.found!r} stands {text.count(broken.found)} times in {broken.file}"
    target.write_text(text.replace(broken.found, broken.put), encoding="utf-8")
    code, report = strict_nbval(tmp_path, broken.notebook)
    assert code == 1, report
    failed = re.findall(r"^FAILED (\S+)::Cell (\d+)", report, re.M) or re.findall(r"(\S+)::Cell (\d+) FAILED", report)
    assert [int(number) for _, number in failed[:1]] == [number_of(broken.notebook, broken.cell)], report
    assert "Cell outputs differ" in report


def test_strict_nbval_passes_where_nothing_is_broken(tmp_path):
    copy_to(tmp_path)
    code, report = strict_nbval(tmp_path, "00_quickstart.ipynb")
    assert code == 0, report
    assert "passed" in report
