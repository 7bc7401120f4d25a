"""What strict nbval lets through while comparing nothing, what a stored notebook must not carry, and their writer."""

import base64
import dataclasses
import functools
import importlib.util
import itertools
import json
import re
import struct
import zlib
from pathlib import Path

import nbformat
import numpy as np
import pytest

from dppca_nb import Budget, as_table, datasets, dp_loading, loading_chart
from dppca_nb.core.teaching import TeachingDraws

ROOT = Path(__file__).parents[1]
PATHS = sorted((ROOT / "notebooks").glob("*.ipynb"))
REASONS = {"timing", "environment"}  # the only ones for which a comparison may be skipped
TAGS = REASONS | {"solution", "teacher", "raises-exception", "nbval-ignore-output", "nbval-skip"}
HOSTS = {"doi.org", "arxiv.org"}
MOST_BYTES = 1.5e6

each = pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)


def cells(path):
    return nbformat.read(path, as_version=4).cells


def code(path):
    return [cell for cell in cells(path) if cell.cell_type == "code"]


def tags(cell):
    return set(cell.metadata.get("tags", []))


def texts(path):
    """Yield every source and every text that is stored, but for pictures."""
    for cell in cells(path):
        yield cell.source
        for output in cell.get("outputs", []):
            yield output.get("text", "")
            yield "\n".join([output.get("ename", ""), output.get("evalue", ""), *output.get("traceback", [])])
            for kind, value in output.get("data", {}).items():
                if not kind.startswith("image/"):
                    yield value if isinstance(value, str) else json.dumps(value)


def writer():
    spec = importlib.util.spec_from_file_location("run_notebooks", ROOT / "scripts" / "run_notebooks.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# ----- stored notebooks -----


def test_there_is_a_quick_start_and_a_lesson():
    assert {path.stem for path in PATHS} >= {"00_quickstart", "01_dp_loading"}


@each
def test_outputs_come_from_one_fresh_run(path):
    # nbval compares nothing for a cell that has not run
    assert [cell.execution_count for cell in code(path)] == list(range(1, len(code(path)) + 1))


@each
def test_a_skipped_comparison_says_why(path):
    for cell in code(path):
        skipped = tags(cell) & {"nbval-ignore-output", "nbval-skip"} or re.search("NBVAL_|PYTEST_VALIDATE", cell.source)
        assert not skipped or tags(cell) & REASONS, cell.source


@each
def test_every_tag_is_known(path):
    for cell in cells(path):
        assert tags(cell) <= TAGS, cell.source


@each
def test_nothing_was_written_to_stderr(path):
    for cell in code(path):
        assert all(output.get("name") != "stderr" for output in cell.outputs), cell.source


@each
def test_what_a_cell_prints_is_stored_in_one_piece(path):
    # how often a kernel flushes is chance, and would be a change in git
    for cell in code(path):
        assert [output.output_type for output in cell.outputs].count("stream") <= 1, cell.source


@each
def test_errors_are_stored_exactly_where_they_are_meant(path):
    for cell in code(path):
        failed = any(output.output_type == "error" for output in cell.outputs)
        assert failed == ("raises-exception" in tags(cell)), cell.source


@each
def test_every_picture_has_its_numbers_beside_it(path):
    # nbval does not compare pictures
    for cell in code(path):
        for output in cell.outputs:
            data = output.get("data", {})
            if any(kind.startswith("image/") for kind in data):
                assert re.search(r"\d", data.get("text/plain", "")), cell.source


@each
def test_stored_numbers_are_rounded(path):
    # the last digits of a double differ between processors
    for cell in code(path):
        for output in cell.outputs:
            shown = output.get("text", "") + output.get("data", {}).get("text/plain", "")
            for number in re.findall(r"\d+\.\d+", re.sub(r"doi \S+", "", shown)):
                assert len(number.replace(".", "").lstrip("0")) <= 6, number


@each
def test_no_dead_widget_is_stored(path):
    assert "widgets" not in nbformat.read(path, as_version=4).metadata
    for cell in code(path):
        for output in cell.outputs:
            assert not any("jupyter.widget" in kind for kind in output.get("data", {})), cell.source


@each
def test_the_kernel_is_one_that_everybody_has(path):
    metadata = nbformat.read(path, as_version=4).metadata
    assert metadata["kernelspec"] == {"display_name": "Python 3", "language": "python", "name": "python3"}
    assert metadata["language_info"] == {"name": "python"}


@each
def test_no_time_is_stored(path):
    for cell in cells(path):
        assert set(cell.metadata) <= {"tags", "jupyter"}
        assert ("jupyter" in cell.metadata) == bool(tags(cell) & {"solution", "teacher"})  # folded, nothing else is


@each
def test_cells_have_telling_ids(path):
    ids = [cell.id for cell in cells(path)]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"[a-z]+\d?(-[a-z0-9]+)*", name) and not re.fullmatch("[0-9a-f]{8}", name) for name in ids)


@each
def test_no_path_of_the_author_is_stored(path):
    absolute = re.compile(r"(?<![\w.:/)])/(?:[\w.-]+/)+[\w.-]*|\b[A-Z]:\\\w")
    for text in texts(path):
        assert not absolute.search(text), absolute.search(text)


@each
def test_addresses_lead_to_papers_only(path):
    for text in texts(path):
        assert set(re.findall(r"https?://([^/\s)]+)", text)) <= HOSTS, text


@each
def test_every_exercise_has_a_solution_that_can_be_left_out(path):
    found = cells(path)
    for place, cell in enumerate(found):
        if cell.cell_type == "markdown" and re.search(r"^#+ Exercise", cell.source, re.M):
            assert "solution" in tags(found[place + 1]), cell.source


@each
def test_links_between_notebooks_lead_somewhere(path):
    for text in texts(path):
        for target in re.findall(r"\]\(([\w.]+\.ipynb)\)", text):
            assert (path.parent / target).exists(), target


@each
def test_a_notebook_is_light_enough_for_git(path):
    assert path.stat().st_size < MOST_BYTES


@each
def test_teaching_mode_is_said_once(path):
    assert "\n".join(cell.source for cell in cells(path) if cell.cell_type == "markdown").count("teaching mode") == 1


# ----- the last bit -----


@functools.cache
def releases():
    rows = datasets.elliptical(600, 8, rng=1)
    loose = TeachingDraws(as_table(rows)).release(Budget(0.5, 1e-6), "analytic", draw=1)  # axes not separated
    return loose, dp_loading(rows, epsilon=9, delta=1e-6, coincident="zero", rng=2, reference=True)


def scaled(release, factor):
    """Multiply every number of a result that is not public."""
    guarantee = dataclasses.replace(
        release.guarantee,
        **{name: factor * getattr(release.guarantee, name) for name in ("sigma", "mu", "exact_epsilon", "exact_delta")},
    )
    frames = {name: factor * getattr(release, name) for name in ("loadings", "noisy_kendall", "kendall_shares")}
    return dataclasses.replace(release, **frames, reference=factor * release.reference, guarantee=guarantee)


PICTURES = [*itertools.product(["vector", "point"], ["off", "beside", "underneath"]), ("heatmap", "beside")]
PICTURES += [(["vector", "point", "heatmap"], "beside")]


@pytest.mark.parametrize(("kind", "reference"), PICTURES, ids=str)
def test_the_last_bit_of_a_processor_changes_no_picture(kind, reference):
    for release in releases():
        plain = loading_chart(release, kind, reference=reference).to_dict(validate=False)
        for factor in (1 - 1e-13, 1 + 1e-13):
            assert loading_chart(scaled(release, factor), kind, reference=reference).to_dict(validate=False) == plain


@pytest.mark.parametrize("kind", ["vector", "point", "heatmap"])
def test_a_change_that_a_reader_could_see_changes_the_picture(kind):
    release = releases()[0]
    charts = (loading_chart(each, kind).to_dict(validate=False) for each in (release, scaled(release, 0.999)))
    assert next(charts) != next(charts)


# ----- the writer -----


def png(pixels, parts=3):
    """Make a PNG of grey pixels whose data come in several chunks, packed loosely."""
    height, width = pixels.shape
    packed = zlib.compress(b"".join(b"\0" + row.tobytes() for row in pixels), 0)
    cuts = np.linspace(0, len(packed), parts + 1).astype(int)
    bodies = [(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)), (b"pHYs", bytes(9))]
    bodies += [(b"IDAT", packed[start:end]) for start, end in itertools.pairwise(cuts)]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
        for name, body in [*bodies, (b"IEND", b"")]
    )


def chunks(picture):
    position = 8
    while position < len(picture):
        (length,) = struct.unpack(">I", picture[position : position + 4])
        name, body = picture[position + 4 : position + 8], picture[position + 8 : position + 8 + length]
        assert struct.unpack(">I", picture[position + 8 + length : position + 12 + length])[0] == zlib.crc32(
            name + body
        )
        yield name, body
        position += length + 12


def test_the_writer_packs_pictures_tighter_and_keeps_every_pixel():
    before = png(np.zeros((50, 40), dtype=np.uint8))
    after = writer().squeezed(before)
    assert len(after) < len(before) / 5
    assert [name for name, _ in chunks(after)] == [b"IHDR", b"pHYs", b"IDAT", b"IEND"]
    pixels = [
        zlib.decompress(b"".join(body for name, body in chunks(picture) if name == b"IDAT"))
        for picture in (before, after)
    ]
    assert pixels[0] == pixels[1]
    assert writer().squeezed(after) == after


def test_the_writer_takes_out_what_the_next_run_would_change():
    view = {"application/vnd.jupyter.widget-view+json": {"model_id": "1"}, "text/plain": "Explorer(epsilon=1)"}
    picture = base64.b64encode(png(np.zeros((5, 4), dtype=np.uint8))).decode()
    shown = nbformat.v4.new_output("display_data", {**view, "image/png": picture})
    failed = nbformat.v4.new_output("error", ename="E", evalue="why", traceback=["File somewhere", "E: why"])
    for output in (shown, failed):
        writer().tidy(output)
    assert set(shown.data) == {"text/plain", "image/png"}
    assert failed.traceback == ["E: why"]


def test_the_writer_runs_a_notebook_from_top_to_bottom_and_twice_gives_the_same_file(tmp_path):
    path = tmp_path / "small.ipynb"
    notebook = nbformat.v4.new_notebook(metadata={"kernelspec": {"name": "mine", "display_name": "Mine"}})
    notebook.cells = [
        nbformat.v4.new_code_cell("a = 1", id="first", execution_count=7, metadata={"execution": {"busy": "now"}}),
        nbformat.v4.new_code_cell("a / 0", id="second", metadata={"tags": ["raises-exception"]}),
        nbformat.v4.new_code_cell("print('x', flush=True)\nprint('y', flush=True)\na + 1", id="third"),
    ]
    nbformat.write(notebook, path)
    writer().run(path)
    once = path.read_bytes()
    stored = nbformat.read(path, as_version=4)
    assert [cell.execution_count for cell in stored.cells] == [1, 2, 3]
    assert stored.cells[1].outputs[0].traceback == ["ZeroDivisionError: division by zero"]
    assert stored.cells[2].outputs[0].text == "x\ny\n"
    assert stored.cells[2].outputs[1].data == {"text/plain": "2"}
    assert stored.metadata.kernelspec.name == "python3"
    assert [dict(cell.metadata) for cell in stored.cells] == [{}, {"tags": ["raises-exception"]}, {}]
    writer().run(path)
    assert path.read_bytes() == once
