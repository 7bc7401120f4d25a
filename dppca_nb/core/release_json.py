"""JSON of which every key, type and number is checked, with messages that say what was found where."""

from __future__ import annotations

import json
import math

COPY = "Take the file from a copy that nobody changed."

_WORDS = {
    int: "a whole number",
    str: "text",
    bool: "true or false",
    list: "a list",
    (list, type(None)): "a list or null",
    dict: "an object",
}


class ReleaseFileError(ValueError):
    """A release cannot be kept in a file, or a file is no release that can be trusted; it says where and what to do.

    Examples
    --------
    >>> issubclass(ReleaseFileError, ValueError)
    True
    """


def parsed(text: str):
    """Read JSON in which no key comes twice and every number is finite.

    Parameters
    ----------
    text : str
        A whole document.

    Returns
    -------
    dict, list, str, int, float, bool or None
        What it holds.

    Raises
    ------
    ReleaseFileError
        With the line and column where reading stopped, the key, or the number.

    Examples
    --------
    >>> parsed('{"mu": 0.5}')
    {'mu': 0.5}
    """
    try:
        return json.loads(text, object_pairs_hook=_once, parse_constant=_refuse)
    except json.JSONDecodeError as error:
        raise ReleaseFileError(
            f"It is not whole JSON: line {error.lineno}, column {error.colno}: {error.msg}. {COPY}"
        ) from error
    except ReleaseFileError:
        raise
    except (ValueError, RecursionError) as error:  # a number of thousands of digits, lists in lists without end
        raise ReleaseFileError(f"It is not JSON that a release is made of. {COPY}") from error


def found(value) -> str:
    """Write a value as the file has it, cut to what a message can hold.

    Parameters
    ----------
    value : object
        From JSON.

    Returns
    -------
    str
        At most 60 characters.

    Examples
    --------
    >>> found(True), found("a")
    ('true', '"a"')
    """
    text = json.dumps(value)
    return text if len(text) <= 60 else text[:57] + "..."


def fields_of(value, kinds: dict, where: str) -> dict:
    """Return an object with exactly these keys, whose values have these types.

    Parameters
    ----------
    value : object
        From JSON.
    kinds : dict of str -> type
        float takes whole numbers too, and makes floats of them.
    where : str
        What a message calls the object.

    Returns
    -------
    dict
        In the order of `kinds`.

    Raises
    ------
    ReleaseFileError
        Naming the first key or value that is wrong.

    Examples
    --------
    >>> fields_of({"mu": 1}, {"mu": float}, "guarantee")
    {'mu': 1.0}
    """
    if not isinstance(value, dict):
        raise ReleaseFileError(f"{where} must be an object; got {found(value)}. {COPY}")
    absent, more = [key for key in kinds if key not in value], [key for key in value if key not in kinds]
    if absent or more:
        what = f"must have {absent[0]!r}; got none" if absent else f"has {found(more[0])}, which does not belong there"
        raise ReleaseFileError(f"{where} {what}. {COPY}")
    return {key: _typed(value[key], kind, f"{where}.{key}".removeprefix("release.")) for key, kind in kinds.items()}


def numbers_of(values, count: int, where: str) -> list[float]:
    """Return a list of so many finite floats.

    Parameters
    ----------
    values : object
        From JSON.
    count : int
        How many there must be.
    where : str
        What a message calls them.

    Returns
    -------
    list of float
        Whole numbers became floats.

    Raises
    ------
    ReleaseFileError
        Naming the first that is wrong.

    Examples
    --------
    >>> numbers_of([1, 0.5], 2, "scale")
    [1.0, 0.5]
    """
    if not isinstance(values, list) or len(values) != count:
        got = f"{len(values)} of them" if isinstance(values, list) else found(values)
        raise ReleaseFileError(f"{where} must be a list of {count} numbers, one for each variable; got {got}. {COPY}")
    return [_number(value, f"{where}, number {i},") for i, value in enumerate(values, start=1)]


def _number(value, where: str) -> float:
    """Return a finite float."""
    try:
        number = float(value) if type(value) in (int, float) else math.nan
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise ReleaseFileError(f"{where} must be a finite number; got {found(value)}. {COPY}")
    return number


def _typed(value, kind, where: str):
    """Return a value of a type."""
    if kind is float:
        return _number(value, where)
    if type(value) not in (kind if isinstance(kind, tuple) else (kind,)):  # a boolean is no number here
        raise ReleaseFileError(f"{where} must be {_WORDS[kind]}; got {found(value)}. {COPY}")
    return value


def _once(pairs: list) -> dict:
    """Make an object of pairs with different keys."""
    made = {}
    for key, value in pairs:
        if key in made:
            raise ReleaseFileError(f"The key {found(key)} is there twice in one object. {COPY}")
        made[key] = value
    return made


def _refuse(constant: str):
    """Refuse NaN and infinities, which are no JSON either."""
    raise ReleaseFileError(f"Every number must be finite; got {constant}. {COPY}")
