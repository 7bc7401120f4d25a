"""Checks of settings that more than one explorer has, and what explorers read off the data beside the numbers."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping

import numpy as np

from dppca_nb.charts.choices import check_choice, choose_variables


def choice(argument: str, value: object, choices: tuple[str, ...]) -> str:
    """Return a word that is one of the choices."""
    check_choice(argument, value, choices)
    return value


def whole_number(argument: str, value: object) -> int:
    """Return a whole number from 0."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer) or value < 0:
        raise ValueError(f"{argument} must be a whole number from 0; got {value!r}.")
    return int(value)


def plain_variables(value: object, loadings: np.ndarray, names: tuple[str, ...]) -> object:
    """Check a choice of variables against a table, and keep what a browser can be told: text and whole numbers."""
    if isinstance(value, Iterable) and not isinstance(value, str | Mapping):
        value = list(value)
    choose_variables(value, loadings, list(names))
    if isinstance(value, list):
        return tuple(str(item) if isinstance(item, str) else operator.index(item) for item in value)
    return str(value) if isinstance(value, str) else operator.index(value)


def refuse_unknown(settings: Mapping[str, object], known: tuple[str, ...]) -> None:
    """Refuse a keyword that is no setting, by name."""
    unknown = set(settings) - set(known)
    if unknown:
        raise TypeError(f"{', '.join(sorted(unknown))} is no setting; there are {', '.join(known)}.")


def described(data: object) -> dict[str, str]:
    """What the columns mean, where ``data.attrs["labels"]`` says it."""
    labels = getattr(data, "attrs", {}).get("labels")
    return {str(key): str(text) for key, text in labels.items()} if isinstance(labels, Mapping) else {}


def titled(data: object, title: str | None, otherwise: str) -> str:
    """Name of the data: as given, as ``data.attrs["title"]`` has it, or a name for want of a better one."""
    return title or getattr(data, "attrs", {}).get("title") or otherwise
