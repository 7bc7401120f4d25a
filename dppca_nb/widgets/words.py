"""What all explorers say. Every sentence is made of numbers and names, free of layout.

Sentences may hold `code` in backquotes and **strong** words; the view turns them into elements, never into HTML.
"""

from __future__ import annotations

from dppca_nb.table import LeftOut, Table

# Around words of the user, which may hold any character that people type.
CODE, END = "\ue000", "\ue001"
UNEVEN = 1e3  # columns whose variances differ by more than this factor are one column in disguise


def code(name: str) -> str:
    """Mark words that are the user's own."""
    return f"{CODE}{name}{END}"


def plain(text: str) -> str:
    """Drop the marks around the user's own words, for text that no view lays out."""
    return text.replace(CODE, "").replace(END, "")


def left_out_note(left_out: tuple[LeftOut, ...]) -> list[str]:
    """Say which columns are no variables, and why."""
    columns = ", ".join(f"{code(column.name)} ({column.reason})" for column in left_out)
    return [f"Left out: {columns}."] * bool(left_out)


def empty(table: Table | None, error: str | None) -> list[str]:
    """Why there is nothing to draw, and what to do about it."""
    if error is not None:
        return [error]
    sentences = [
        "The table has 1 numeric column; a pair of components needs at least 2.",
        f"Numeric: {code(table.names[0])}.",
    ]
    sentences[-1] = " ".join([sentences[-1], *left_out_note(table.left_out)])
    return [*sentences, "Give at least one more numeric column, or turn a text column into 0/1 columns first."]
