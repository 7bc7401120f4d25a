"""Whether the parts of a release that came from a file are possible, and agree with each other."""

from __future__ import annotations

import math
from dataclasses import fields

import numpy as np

from dppca_nb.core.account import total_mu
from dppca_nb.core.gaussian import gaussian_delta, gaussian_epsilon
from dppca_nb.core.guarantee import Guarantee, Reason
from dppca_nb.core.ledger_entry import LedgerEntry
from dppca_nb.core.privacy import Budget, calibrate, check_calibration
from dppca_nb.core.release_json import COPY, ReleaseFileError, fields_of, found, numbers_of

_ROUNDING = 1e-9  # relative; what the same number may differ by when another machine computes it

_NUMBERS = {"float": float, "int": int, "str": str}
_ENTRY = {f.name: _NUMBERS[f.type] for f in fields(LedgerEntry)}
_GUARANTEE = {f.name: _NUMBERS.get(f.type, list) for f in fields(Guarantee)}  # reasons and caveats are the lists
_REASON = {f.name: str for f in fields(Reason)}
_RELEASE = {
    "format": str,
    "version": int,
    "holds": bool,
    "checksum": str,
    "names": list,
    "scale": (list, type(None)),
    "guarantee": dict,
    "entries": list,
    "noisy_kendall": list,
}


def checked_parts(record: dict) -> dict:
    """Check everything that a release's file says, and bring it into the types of a release.

    Parameters
    ----------
    record : dict
        From JSON.

    Returns
    -------
    dict
        noisy, names, guarantee, scale, entries.

    Raises
    ------
    ReleaseFileError
        Saying what is wrong where.

    Examples
    --------
    >>> checked_parts({"names": ["a"]})
    Traceback (most recent call last):
    ...
    dppca_nb.core.release_json.ReleaseFileError: release must have 'format'; got none. Take the file from a copy that
    nobody changed.
    """
    record = fields_of(record, _RELEASE, "release")
    names = _names(record["names"])
    guarantee = _guarantee(record["guarantee"])
    if record["holds"] != guarantee.holds:
        raise ReleaseFileError(
            f"holds must be {found(guarantee.holds)}, as guarantee.reasons say; got {found(record['holds'])}. {COPY}"
        )
    scale = None if record["scale"] is None else tuple(numbers_of(record["scale"], len(names), "scale"))
    if scale and min(scale) <= 0:
        raise ReleaseFileError(f"scale must be above 0 for every variable; got {min(scale)}. {COPY}")
    return {
        "noisy": _matrix(record["noisy_kendall"], names),
        "names": names,
        "guarantee": guarantee,
        "scale": scale,
        "entries": _entries(record["entries"], guarantee),
    }


def _names(values: list) -> tuple[str, ...]:
    """Return unique texts, at least one and none of them empty."""
    for i, name in enumerate(values):
        if not isinstance(name, str) or not name:
            raise ReleaseFileError(f"names, number {i + 1}, must be text that is not empty; got {found(name)}. {COPY}")
        if name in values[:i]:
            raise ReleaseFileError(f"names must differ; {found(name)} is there twice. {COPY}")
    if not values:
        raise ReleaseFileError(f"names must have at least one name; got none. {COPY}")
    return tuple(values)


def _matrix(rows: list, names: tuple[str, ...]) -> np.ndarray:
    """Return a symmetric matrix of finite numbers."""
    p = len(names)
    if len(rows) != p:
        raise ReleaseFileError(f"noisy_kendall must have {p} rows, one for each variable; got {len(rows)}. {COPY}")
    matrix = np.array([numbers_of(row, p, f"noisy_kendall, row {i}") for i, row in enumerate(rows, start=1)])
    uneven = np.argwhere(matrix != matrix.T)
    if len(uneven):
        i, j = uneven[0].tolist()
        raise ReleaseFileError(
            f"noisy_kendall must be symmetric; got {matrix[i, j]} in row {i + 1}, column {j + 1} and {matrix[j, i]} in "
            f"row {j + 1}, column {i + 1}. {COPY}"
        )
    return matrix


def _guarantee(value: dict) -> Guarantee:
    """Return a guarantee whose numbers agree, and whose reasons are there where the numbers ask for one."""
    got = fields_of(value, _GUARANTEE, "guarantee")
    got["reasons"] = tuple(
        Reason(**fields_of(reason, _REASON, f"guarantee.reasons, number {i},"))
        for i, reason in enumerate(got["reasons"], start=1)
    )
    for i, caveat in enumerate(got["caveats"], start=1):
        if not isinstance(caveat, str):
            raise ReleaseFileError(f"guarantee.caveats, number {i}, must be text; got {found(caveat)}. {COPY}")
    g = Guarantee(**got | {"caveats": tuple(got["caveats"])})
    try:
        budget = Budget(g.epsilon, g.delta)
        check_calibration(g.calibration)
    except ValueError as error:
        raise ReleaseFileError(f"guarantee: {error} {COPY}") from error
    if g.coincident not in ("raise", "zero"):
        raise ReleaseFileError(f'guarantee.coincident must be "raise" or "zero"; got {found(g.coincident)}. {COPY}')
    if not 2 <= g.n <= 2**53:
        raise ReleaseFileError(f"guarantee.n must be a whole number from 2 to 2**53; got {found(g.n)}. {COPY}")
    if g.slack < 0 or g.sigma <= 0:
        name, low = ("slack", "at least 0") if g.slack < 0 else ("sigma", "above 0")
        raise ReleaseFileError(f"guarantee.{name} must be {low}; got {getattr(g, name)}. {COPY}")
    _agree(g.sensitivity, 2 * math.sqrt(2) / g.n, "guarantee.sensitivity", "2 * sqrt(2) / n")
    _agree(g.mu, (g.sensitivity + g.slack) / g.sigma, "guarantee.mu", "(sensitivity + slack) / sigma")
    _agree(g.exact_delta, gaussian_delta(g.mu, g.epsilon), "guarantee.exact_delta", "what mu gives at epsilon")
    _agree(g.exact_epsilon, gaussian_epsilon(g.mu, g.delta), "guarantee.exact_epsilon", "what mu gives at delta")
    own = calibrate(budget, g.n, g.calibration, slack=g.slack)
    _agree(g.sigma, own, "guarantee.sigma", f"that of the {g.calibration} calibration")
    if g.holds and (g.exact_delta > g.delta * (1 + _ROUNDING) or g.coincident == "raise"):
        what = f"its delta is {g.exact_delta:.3g}" if g.coincident == "zero" else 'coincident is "raise"'
        raise ReleaseFileError(f"guarantee.reasons must not be empty, since {what}; got none. {COPY}")
    return g


def _entries(values: list, guarantee: Guarantee) -> tuple[LedgerEntry, ...]:
    """Return charges that pay for the guarantee, or none at all."""
    entries = []
    for i, value in enumerate(values, start=1):
        where = f"entries, number {i},"
        entry = LedgerEntry(**fields_of(value, _ENTRY, where))
        if entry.n != guarantee.n or entry.name != (entries or [entry])[0].name:
            raise ReleaseFileError(f"{where} is of other data: {found([entry.name, entry.n])}. {COPY}")
        if not (entry.sensitivity > 0 and entry.sigma > 0):
            raise ReleaseFileError(f"{where} must have a sensitivity and a sigma above 0. {COPY}")
        _agree(entry.mu, entry.sensitivity / entry.sigma, f"{where} mu", "sensitivity / sigma")
        if entry.cumulative_mu < entry.mu * (1 - _ROUNDING) or entry.cumulative_epsilon < 0:
            raise ReleaseFileError(f"{where} costs more than all charges up to it together. {COPY}")
        entries.append(entry)
    paid = total_mu(entry.mu for entry in entries)
    if entries and paid < guarantee.mu * (1 - _ROUNDING):
        raise ReleaseFileError(
            f"entries must add up to the mu of the guarantee, {guarantee.mu}, or more; got {paid}. {COPY}"
        )
    return tuple(entries)


def _agree(got: float, expected: float, where: str, what: str) -> None:
    """Refuse a number that is not what follows from others."""
    # An epsilon or delta next to 0 is the difference of much larger numbers.
    if not math.isclose(got, expected, rel_tol=_ROUNDING, abs_tol=1e-12 if "epsilon" in where else 1e-300):
        raise ReleaseFileError(f"{where} must be {what} = {expected}; got {got}. {COPY}")
