"""One lesson as one page to print: no script, no network, formulas as MathML."""

from __future__ import annotations

import re
from base64 import b64decode
from copy import deepcopy
from functools import cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nbformat import NotebookNode

STYLE = Path(__file__).with_name("_lesson_page.css")
TEMPLATE = Path(__file__).with_name("_lesson_page.html.j2")
# the browser itself is told that nothing may be fetched or run
POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
{style}
</style>
</head>
<body>
<main>
{body}
</main>
</body>
</html>
"""


def page(lesson: NotebookNode) -> str:
    """Turn a notebook with its stored outputs into one HTML file."""
    from pygments.formatters import HtmlFormatter

    lesson = deepcopy(lesson)
    for cell in lesson.cells:
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            if "image/png" in data:
                # charts say their size; the pictures of a lesson's own helper have twice the points, too
                width = int.from_bytes(b64decode(data["image/png"][:64])[16:20], "big") // 2
                shown = {"width": width, **output.metadata.get("image/png", {})}
                output.metadata["image/png"] = {**shown, "alt": data.get("text/plain", "")}  # to be read out
    title = re.search(r"^# (.+)", lesson.cells[0].source, re.M)
    colours = HtmlFormatter(style="default").get_style_defs(".highlight")
    body, _ = _exporter().from_notebook_node(lesson)
    return PAGE.format(
        policy=POLICY,
        title=escape(title[1] if title else "Lesson"),
        style=f"{STYLE.read_text(encoding='utf-8')}{colours}",
        body=body,
    )


def start_page(markdown: str) -> str:
    """Turn the start page into HTML."""
    from nbformat import v4

    return page(v4.new_notebook(cells=[v4.new_markdown_cell(markdown)]))


def _mathml(formula: str, display: str) -> str:
    """Translate a formula; bars that TeX leaves as they are would otherwise grow with what stands beside them."""
    from latex2mathml.converter import convert

    return re.sub("<mo>(?=&#x0(?:2016|007C);)", '<mo stretchy="false">', convert(formula, display=display))


@cache
def _exporter() -> Any:
    """Make the exporter: nbconvert's plain HTML, with our template and our Markdown."""
    from nbconvert import HTMLExporter
    from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

    class Renderer(IPythonRenderer):
        """Markdown whose formulas need no script, and whose links lead from page to page."""

        def inline_math(self, body: str) -> str:
            """Write a formula of a line."""
            return _mathml(body, "inline")

        def block_math(self, body: str) -> str:
            """Write a formula that stands alone."""
            return _mathml(body, "block")

        def link(self, text: str, url: str, title: str | None = None) -> str:
            """Lead to the page of a lesson instead of its notebook."""
            if "://" not in url:
                url = re.sub(r"\.ipynb\b", ".html", re.sub(r"^README\.md", "index.html", url))
            return super().link(text, url, title)

    def markdown(source: str) -> str:
        """Turn Markdown into HTML."""
        return MarkdownWithMath(renderer=Renderer(escape=False, exclude_anchor_links=True)).render(source)

    exporter = HTMLExporter(
        raw_template=TEMPLATE.read_text(encoding="utf-8"), exclude_input_prompt=True, exclude_output_prompt=True
    )
    exporter.register_filter("markdown2html", markdown)
    return exporter
