"""What may be asked of a picture, and one check for each question; charts and widgets use the same ones."""

from __future__ import annotations

import operator
from collections.abc import Iterable

import numpy as np

KINDS = ("vector", "point", "heatmap")
REFERENCES = ("off", "beside", "underneath")
UNCERTAINTIES = ("off", "ellipses", "cloud")
MOST_VARIABLES = 300  # a picture of more than these is a smear, and a heavy one
DIGITS = 4  # what is drawn is rounded, so that the last bit of a CPU changes no picture


def check_choice(argument: str, value: object, choices: tuple[str, ...]) -> None:
    """Refuse a word that is not one of the choices."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{argument} must be one of {', '.join(map(repr, choices))}; got {value!r}.")


def check_truth(argument: str, value: object) -> bool:
    """Take True or False and nothing else for it."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{argument} must be True or False; got {value!r}.")
    return bool(value)


def check_components(components: Iterable[int], p: int, *, pair: bool) -> tuple[int, ...]:
    """Validate component numbers (from 1): exactly two different ones for a plane, any different ones for a heatmap.

    Raises
    ------
    ValueError
        If a number is not between 1 and p, is given twice, or the count is wrong.
    TypeError
        If something is not a whole number.
    """
    if isinstance(components, str | bytes) or not isinstance(components, Iterable):
        raise TypeError(f"components must be component numbers such as (1, 2); got {components!r}.")
    chosen = []
    for item in components:
        if isinstance(item, bool | np.bool_):
            raise TypeError(f"components must be whole numbers from 1, such as (1, 2); got {item!r}.")
        try:
            chosen.append(operator.index(item))
        except TypeError:
            raise TypeError(f"components must be whole numbers from 1, such as (1, 2); got {item!r}.") from None
    if pair and p < 2:
        raise ValueError(
            "a vector or point picture needs two components, and this table has one variable; "
            'use kind="heatmap" or give more variables.'
        )
    if pair and len(chosen) != 2:
        raise ValueError(f"components must be two numbers, such as (1, 2); got {len(chosen)}: {tuple(chosen)}.")
    if not chosen:
        raise ValueError("components must name at least one component, such as (1, 2); got none.")
    for c in chosen:
        if not 1 <= c <= p:
            raise ValueError(f"components must be between 1 and {p}; got {c}.")
    if len(set(chosen)) < len(chosen):
        raise ValueError(f"components must differ from each other; got {tuple(chosen)}.")
    return tuple(chosen)


def check_reference(reference: object, directions: object) -> str:
    """Settle where the reference stands; None means beside where there are reference directions."""
    if reference is None:
        return "off" if directions is None else "beside"
    if isinstance(reference, bool | np.bool_):
        reference = "beside" if reference else "off"
    check_choice("reference", reference, REFERENCES)
    if reference != "off" and directions is None:
        raise ValueError(
            f"reference={reference!r} needs a reference, and this result carries none: "
            "make a release with dp_loading(..., reference=True). A reference is not private."
        )
    return reference


def choose_variables(variables: object, private: np.ndarray, names: list[str]) -> tuple[int, ...]:
    """Turn the ``variables`` argument into positions.

    A whole number picks that many of the longest rows, the longest first (all, if there are fewer); ``"all"`` keeps
    the order of the columns; a list holds names (text) or positions from 1 (whole numbers), in the order wanted.
    """
    p = len(names)
    if isinstance(variables, str):
        if variables != "all":
            raise ValueError(
                f'variables must be a number, "all", or a list of names or of positions from 1; got {variables!r}. '
                f"For one variable write [{variables!r}]."
            )
        chosen = list(range(p))
    elif isinstance(variables, bool | np.bool_ | dict | set | frozenset | bytes | None.__class__):
        raise TypeError(
            f'variables must be a number, "all", or a list of names or of positions from 1; got {variables!r}.'
        )
    elif isinstance(variables, Iterable) and np.ndim(variables) > 0:
        chosen = [_position(item, names) for item in variables]
        if not chosen:
            raise ValueError("variables must name at least one variable; got an empty list.")
        if len(set(chosen)) < len(chosen):
            twice = next(names[j] for j in chosen if chosen.count(j) > 1)
            raise ValueError(f"variables names {twice!r} more than once.")
    else:
        try:
            wanted = operator.index(variables)
        except TypeError:
            raise TypeError(
                f'variables must be a whole number, "all", or a list of names or positions; got {variables!r}.'
            ) from None
        if wanted < 1:
            raise ValueError(f"variables must be at least 1; got {wanted}.")
        length = np.round(np.sqrt(np.sum(private**2, axis=1)), DIGITS + 4)
        chosen = np.lexsort((np.arange(p), -length))[:wanted].tolist()
    if len(chosen) > MOST_VARIABLES:
        raise ValueError(
            f"a picture holds at most {MOST_VARIABLES} variables; got {len(chosen):,}. "
            f"Give a number, such as variables=20 for the 20 longest; the result has them all."
        )
    return tuple(chosen)


def _position(item: object, names: list[str]) -> int:
    """Position of one variable given by name or by number from 1."""
    if isinstance(item, str):
        if item not in names:
            near = [name for name in names if name.strip().lower() == item.strip().lower()]
            hint = f" Did you mean {near[0]!r}?" if near else f" The names begin {', '.join(map(repr, names[:5]))}."
            raise ValueError(f"variables names {item!r}, which is not a variable of this table.{hint}")
        return names.index(item)
    if isinstance(item, bool | np.bool_):
        raise TypeError(f"variables must hold names or positions from 1; got {item!r}.")
    try:
        rank = operator.index(item)
    except TypeError:
        raise TypeError(f"variables must hold names or positions from 1; got {item!r}.") from None
    if not 1 <= rank <= len(names):
        raise ValueError(f"variables must hold positions between 1 and {len(names)}; got {rank}.")
    return rank - 1
