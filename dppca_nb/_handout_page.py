"""The page of a handout: one HTML file that needs no network, and that no name in the data can break out of."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Sequence
from pathlib import Path

from dppca_nb._handout_book import packed
from dppca_nb._handout_frames import LaidOut, Still
from dppca_nb._handout_text import escaped, isolated
from dppca_nb.core.whole_file import write_whole
from dppca_nb.widgets.view import STATIC, bundled

# Opens the block with the program and runs it. This and the program are all that the page's policy lets run: their
# hashes stand in it, so that no script which a name might smuggle in is one of them.
LOADER = """\
(async () => {
  const bytes = Uint8Array.from(atob(document.getElementById("program").textContent), (sign) => sign.charCodeAt(0));
  const script = document.createElement("script");
  script.type = "module";
  const opened = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  script.textContent = await new Response(opened).text();
  document.head.append(script);
})().catch(() => document.documentElement.classList.add("failed"));"""
# Styles are inline because Vega and the explorer set them on elements; there is no eval, Vega's interpreter is used.
POLICY = (
    "default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
    "form-action 'none'"
)
OFF = (
    "This page is interactive: a slider moves these pictures. For that it needs JavaScript, which is off. Nothing is "
    "loaded from the network."
)
FAILED = (
    "This browser cannot run the interactive part of this page: it needs a version from 2023 or later. These are its "
    "pictures."
)
PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="dppca_nb">
<title>{title}</title>
<style>
{style}
</style>
<noscript><style>.live-only {{ display: none; }} .still {{ display: block; }}</style></noscript>
</head>
<body>
<main>
<h1 dir="auto">{title}</h1>
<p class="lead">{lead}</p>
<noscript><p class="off">{off}</p></noscript>
<p class="off failed-only">{failed}</p>
{sections}
{exercises}
<p class="source">{source}</p>
</main>
{blocks}
<script type="text/plain" id="program">{program}</script>
<script>{loader}</script>
</body>
</html>
"""


def page(*, title: str, lead: str, parts: Sequence[tuple[str, LaidOut]], exercises: str, source: str) -> str:
    """Put the page together; ``lead``, ``exercises`` and ``source`` are HTML, and titles are text."""
    program = bundled("handout.bundle.js")
    style = "\n".join((STATIC / name).read_text(encoding="utf-8") for name in ("explorer.css", "handout.css"))
    sections = "\n".join(_section(at, heading, part) for at, (heading, part) in enumerate(parts))
    blocks = "\n".join(
        f'<script type="text/plain" id="book{at}">{packed(part.text)}</script>' for at, (_, part) in enumerate(parts)
    )
    return PAGE.format(
        policy=POLICY.format(hashes=" ".join(map(_hash, (LOADER, program)))),
        title=escaped(title),
        style=_without_notes(style),
        lead=lead,
        off=OFF,
        failed=FAILED,
        sections=sections,
        exercises=f'<section class="exercises">\n<h2>Exercises</h2>\n{exercises}\n</section>' if exercises else "",
        source=source,
        blocks=blocks,
        program=packed(program),
        loader=LOADER,
    )


def _section(at: int, heading: str, part: LaidOut) -> str:
    """Place of one explorer, and its still pictures."""
    title = f"<h2>{escaped(heading)}</h2>\n" if heading else ""
    stills = "\n".join(_figure(part, still) for still in part.stills)
    return f'<section class="part">\n{title}<div class="live-only" data-book="book{at}"></div>\n{stills}\n</section>'


def _figure(part: LaidOut, still: Still) -> str:
    """Write a still picture with what has to be said about it."""
    data = base64.b64encode(still.svg.encode("utf-8", "replace")).decode("ascii")
    said = "".join(f"<p>{_rich(text)}</p>" for text in (part.banner, *still.said))
    return (
        f'<figure class="still">\n<h2>{escaped(still.name)} <small>{isolated(part.name)}</small></h2>\n'
        f'<img src="data:image/svg+xml;base64,{data}" alt="{escaped(still.description)}">\n'
        f"<figcaption>{said}</figcaption>\n</figure>"
    )


def _rich(text: str) -> str:
    """Turn sentences of an explorer, with marks for strong words and code, into HTML."""
    made = []
    for part in re.split(r"(\ue000[^\ue001]*\ue001|`[^`]*`|\*\*[^*]+\*\*)", text):
        if part[:1] == "\ue000":
            made.append(f"<code>{isolated(part[1:-1])}</code>")
        elif part[:1] == "`" and part[-1:] == "`" and len(part) > 2:
            made.append(f"<code>{escaped(part[1:-1])}</code>")
        elif part[:2] == "**" and len(part) > 4:
            made.append(f"<strong>{escaped(part[2:-2])}</strong>")
        else:
            made.append(escaped(part))
    return "".join(made)


def _hash(script: str) -> str:
    """Name a script in a policy."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


def _without_notes(style: str) -> str:
    """Leave out the comments of a style sheet, which are for us."""
    return re.sub(r"/\*.*?\*/\s*", "", style, flags=re.DOTALL)


def check_target(path: object, overwrite: bool) -> Path:
    """Say before the work whether the file can be written."""
    path = Path(path).expanduser()
    if path.is_dir():
        raise ValueError(f'"{path.name}" is a folder. Give the name of a file, such as "handout.html".')
    if path.exists() and not overwrite:
        raise ValueError(f'There is a file "{path.name}" already, and it was kept. Give another name, or overwrite it.')
    if not path.parent.is_dir():
        raise ValueError(f'"{path.name}" cannot be written: there is no folder "{path.parent.name}". Make it first.')
    return path


def write(path: Path, text: str, overwrite: bool) -> None:
    """Bring the page to disk, whole or not at all."""
    try:
        # the check once more: the pictures took a while
        write_whole(path, text.encode("utf-8"), check=lambda: check_target(path, overwrite))
    except OSError as error:
        raise ValueError(f'"{path.name}" cannot be written ({error.strerror or error}).') from error
