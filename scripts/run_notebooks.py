"""Run every notebook in a fresh kernel and store what it shows: the only writer of outputs.

Usage: python scripts/run_notebooks.py [notebook ...]

What differs between two runs or two machines is left out, so that a second run changes nothing in git: execution
times, ids of widgets that are gone, the author's paths in tracebacks, the name of the author's kernel. A notebook whose
run fails stays as it was.
"""

from __future__ import annotations

import base64
import sys
import zlib
from pathlib import Path

import nbformat
from nbclient import NotebookClient

NOTEBOOKS = Path(__file__).resolve().parents[1] / "notebooks"
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
FOLDED = {"solution", "teacher"}  # so that nobody reads a solution before trying, or a note that is not for them
DEAD = ("application/vnd.jupyter.widget-view+json",)  # points to a model in the kernel that drew it
SIGNATURE = b"\x89PNG\r\n\x1a\n"


def run(path: Path) -> None:
    """Run one notebook from its own folder and write it back with its outputs."""
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        cell.metadata = {"tags": cell.metadata["tags"]} if cell.metadata.get("tags") else {}
        if FOLDED & set(cell.metadata.get("tags", [])):
            cell.metadata["jupyter"] = {"source_hidden": True}
            if cell.cell_type == "code":
                cell.metadata["jupyter"]["outputs_hidden"] = True
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    notebook.metadata = METADATA
    NotebookClient(
        notebook,
        timeout=120,
        kernel_name="python3",
        record_timing=False,
        coalesce_streams=True,  # how often a kernel flushes is chance
        store_widget_state=False,
        resources={"metadata": {"path": str(path.parent)}},
    ).execute()
    notebook.metadata = METADATA  # the kernel has written its version here
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            tidy(output)
    nbformat.validate(notebook)
    nbformat.write(notebook, path)


def tidy(output: dict) -> None:
    """Take out of one output what the next run would change, and what weighs without showing more."""
    if output.output_type == "error":
        output.traceback = [f"{output.ename}: {output.evalue}"]
    data = output.get("data", {})
    for kind in DEAD:
        data.pop(kind, None)
    if "image/png" in data:
        data["image/png"] = base64.b64encode(squeezed(base64.b64decode(data["image/png"]))).decode()


def squeezed(png: bytes) -> bytes:
    """Pack the same pixels tighter: the renderer compresses for speed, git wants it small (a third)."""
    chunks, position = [], len(SIGNATURE)
    while position < len(png):
        length = int.from_bytes(png[position : position + 4], "big")
        chunks.append((png[position + 4 : position + 8], png[position + 8 : position + 8 + length]))
        position += length + 12
    pixels = zlib.compress(zlib.decompress(b"".join(body for name, body in chunks if name == b"IDAT")), 9)
    first = next(i for i, (name, _) in enumerate(chunks) if name == b"IDAT")
    kept = [chunk for chunk in chunks if chunk[0] != b"IDAT"]
    kept.insert(first, (b"IDAT", pixels))
    return SIGNATURE + b"".join(_chunk(*chunk) for chunk in kept)


def _chunk(name: bytes, body: bytes) -> bytes:
    """Write one chunk of a PNG file: length, name, body, check sum."""
    return len(body).to_bytes(4, "big") + name + body + zlib.crc32(name + body).to_bytes(4, "big")


if __name__ == "__main__":
    for notebook_path in [Path(name).resolve() for name in sys.argv[1:]] or sorted(NOTEBOOKS.glob("*.ipynb")):
        run(notebook_path)
        print(f"{notebook_path.name}: {notebook_path.stat().st_size / 1e6:.2f} MB")
