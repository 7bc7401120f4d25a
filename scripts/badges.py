"""Print a Binder badge for the start page and for each lesson, as Markdown.

Usage: python scripts/badges.py OWNER/REPOSITORY [TAG]

Binder fetches a public repository on GitHub. A badge needs its name, which this tree does not know. Binder keeps one
image for each tag: by default v and the version of pyproject.toml, which has to be there before a badge is clicked.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path
from urllib.parse import quote

ROOT = Path(__file__).resolve().parents[1]
START = "README.md"


def badges(repository: str, tag: str | None = None) -> str:
    """Write the badges: one line each, the start page first."""
    if not re.fullmatch(r"[\w-]+/[\w.-]+", repository):
        raise ValueError(f"{repository!r} is no repository; give it as OWNER/REPOSITORY")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    image = f"https://mybinder.org/v2/gh/{repository}/{quote(tag or 'v' + project['version'], safe='')}"
    lines = []
    for name in (START, *sorted(path.name for path in (ROOT / "notebooks").glob("[0-9]*.ipynb"))):
        target = quote(f"lab/tree/notebooks/{name}", safe="")
        words = "all lessons" if name == START else Path(name).stem
        lines.append(f"[![Binder: {words}](https://mybinder.org/badge_logo.svg)]({image}?urlpath={target}) {words}")
    return "\n\n".join(lines)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    try:
        print(badges(*sys.argv[1:]))
    except ValueError as error:
        sys.exit(str(error))
