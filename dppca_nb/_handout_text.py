"""Text of a handout as HTML: nothing that people or files bring along is read as HTML, but for foldable answers.

The small syntax of exercises: paragraphs are divided by blank lines; lines that begin with ``#`` are headings, with
``-`` or ``*`` items of a list, with ``1.`` of a numbered one; three backquotes fence code. Within a line there are
``**strong**``, ``*emphasis*`` and code in backquotes; a backslash keeps a sign as it is. Lines of their own with
``<details>``, ``<summary>words</summary>`` and ``</details>`` make an answer that folds.
"""

from __future__ import annotations

import html
import re
import unicodedata

_INLINE = re.compile(
    r"\\([\\`*_#<>~-])|(`+)(.+?)\2|\*\*(?=\S)(.+?)(?<=\S)\*\*|\*(?=[^\s*])(.+?)(?<=[^\s*])\*", re.DOTALL
)
_SUMMARY = re.compile(r"<summary>(.*?)</summary>", re.IGNORECASE)
_ITEM = re.compile(r"\s{0,3}(?:[-*]|(\d{1,4})[.)])\s+(.*)", re.DOTALL)
_HEADING = re.compile(r"#{1,6}\s+(.*?)\s*#*$")


def escaped(text: str) -> str:
    """Escape text for HTML and its attributes; signs that no page may hold become a replacement."""
    kept = "".join(_kept(sign) for sign in str(text))
    return html.escape(kept, quote=True)


def _kept(sign: str) -> str:
    """Return a sign, a blank for an exotic line break, or a mark for one that cannot be shown."""
    if sign in "\n\t":
        return sign
    if sign in "\r\u2028\u2029":
        return " "
    return "\N{REPLACEMENT CHARACTER}" if unicodedata.category(sign) in {"Cc", "Cs"} else sign


def isolated(text: str) -> str:
    """Escape words of a user that stand within ours, with no say over the direction that ours run in."""
    return f"<bdi>{escaped(text)}</bdi>"


def inline(text: str) -> str:
    """Turn a paragraph with marks for emphasis and code into HTML."""
    made, at = [], 0
    for found in _INLINE.finditer(text):
        made.append(escaped(text[at : found.start()]))
        literal, _, code, strong, emphasis = found.groups()
        if literal is not None:
            made.append(escaped(literal))
        elif code is not None:
            made.append(f"<code>{escaped(code.strip())}</code>")
        elif strong is not None:
            made.append(f"<strong>{inline(strong)}</strong>")
        else:
            made.append(f"<em>{inline(emphasis)}</em>")
        at = found.end()
    return "".join([*made, escaped(text[at:])])


def blocks(text: str) -> str:
    """Turn exercises into HTML.

    Raises
    ------
    ValueError
        If an answer is opened and not closed, or the other way round.
    """
    made, paragraph, kind, depth, fence = [], [], "", 0, None

    def close() -> None:
        nonlocal paragraph, kind
        if paragraph and kind in ("ul", "ol"):
            first = paragraph[0][0] or "1"
            start = f' start="{int(first)}"' if kind == "ol" and int(first) != 1 else ""
            items = "".join(f"<li>{inline(words)}</li>" for _, words in paragraph)
            made.append(f"<{kind}{start}>{items}</{kind}>")
        elif paragraph:
            made.append(f"<p>{inline(' '.join(words for _, words in paragraph))}</p>")
        paragraph, kind = [], ""

    for number, line in enumerate(text.lstrip("\ufeff").splitlines(), 1):
        bare = line.strip()
        if fence is not None:
            if bare == "```":
                made.append(f"<pre><code>{escaped(chr(10).join(fence))}</code></pre>")
                fence = None
            else:
                fence.append(line)
        elif bare.startswith("```"):
            close()
            fence = []
        elif bare.lower() == "<details>":
            close()
            made.append("<details>")
            depth += 1
        elif bare.lower() == "</details>":
            close()
            depth -= 1
            if depth < 0:
                raise ValueError(f"line {number} of the exercises closes an answer that none opened: </details>")
            made.append("</details>")
        elif depth and (found := _SUMMARY.fullmatch(bare)):
            close()
            made.append(f"<summary>{inline(found[1])}</summary>")
        elif not bare:
            close()
        elif found := _HEADING.fullmatch(bare):
            close()
            made.append(f"<h3>{inline(found[1])}</h3>")
        elif found := _ITEM.fullmatch(line):
            wanted = "ul" if found[1] is None else "ol"
            if kind != wanted:
                close()
            kind = wanted
            paragraph.append((found[1], found[2]))
        elif kind in ("ul", "ol") and paragraph:
            paragraph[-1] = (paragraph[-1][0], f"{paragraph[-1][1]} {bare}")
        else:
            paragraph.append((None, bare))
    close()
    if fence is not None:
        raise ValueError("the exercises open code with ``` and do not close it.")
    if depth:
        raise ValueError("the exercises open an answer with <details> and do not close it with </details>.")
    return "\n".join(made)
