"""One charge of a ledger, and what a caller may say of it."""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass

import numpy as np

_COMPUTABLE_MU = (1e-150, 1e150)  # beyond, its square leaves double precision


class LedgerError(ValueError):
    """A ledger's file cannot be trusted or used, and says what to do about it.

    Nothing is charged and no noise is drawn when it is raised.

    Examples
    --------
    >>> issubclass(LedgerError, ValueError)
    True
    """


@dataclass(frozen=True)
class LedgerEntry:
    """One charge.

    Parameters
    ----------
    time : str
        When, in UTC (ISO 8601).
    name : str
        The data set, as its owner calls it.
    mechanism : str
        What was released.
    n : int
        Number of rows, public.
    sensitivity : float
        Largest distance that one replaced row can move the result, in the units of the result.
    sigma : float
        Standard deviation of the noise, in the same units.
    mu : float
        ``sensitivity / sigma``.
    calibration : str
        How sigma was chosen.
    cumulative_mu : float
        Of all charges up to this one together.
    cumulative_epsilon : float
        The exact epsilon of all of them at the delta of the ledger.
    randomness : str
        Where the noise comes from.

    Examples
    --------
    >>> from dppca_nb.core.ledger import Ledger
    >>> entry = Ledger(1, 1e-6).charge("mean", n=100, sensitivity=0.01, sigma=0.08, randomness="os.urandom")
    >>> entry.mechanism, entry.mu, entry.cumulative_mu
    ('mean', 0.125, 0.125)
    """

    time: str
    name: str
    mechanism: str
    n: int
    sensitivity: float
    sigma: float
    mu: float
    calibration: str
    cumulative_mu: float
    cumulative_epsilon: float
    randomness: str


def checked_charge(mechanism, n, sensitivity, sigma, calibration, randomness) -> dict:
    """Check what a caller says of a charge.

    Parameters
    ----------
    mechanism, calibration, randomness : str
        Not empty.
    n : int
        At least 1.
    sensitivity, sigma : float
        Finite and above 0.

    Returns
    -------
    dict
        The fields of a :class:`LedgerEntry` that follow from it, mu among them, as plain Python values.

    Raises
    ------
    TypeError, ValueError
        Naming the argument.

    Examples
    --------
    >>> checked_charge("mean", 100, 0.5, 2, "given", "os.urandom")["mu"]
    0.25
    """
    for argument, text in (("mechanism", mechanism), ("calibration", calibration), ("randomness", randomness)):
        check_text(argument, text)
    if not isinstance(n, numbers.Integral) or isinstance(n, bool) or n < 1:
        raise ValueError(f"n must be a whole number of at least 1; got {n!r}. Give the number of rows.")
    sensitivity, sigma = _positive("sensitivity", sensitivity), _positive("sigma", sigma)
    mu = sensitivity / sigma
    if not _COMPUTABLE_MU[0] <= mu <= _COMPUTABLE_MU[1]:
        raise ValueError(
            f"sensitivity / sigma must be a number that double precision can square; got {mu:.3g}. Check the units."
        )
    return {
        "mechanism": str(mechanism),
        "n": int(n),
        "sensitivity": sensitivity,
        "sigma": sigma,
        "mu": mu,
        "calibration": str(calibration),
        "randomness": str(randomness),
    }


def check_text(argument: str, value) -> None:
    """Refuse what is no text, or an empty one.

    Parameters
    ----------
    argument : str
        Its name.
    value : str
        To check.

    Raises
    ------
    TypeError, ValueError
        Naming the argument.

    Examples
    --------
    >>> check_text("name", "")
    Traceback (most recent call last):
    ...
    ValueError: name must not be empty. Write a few words.
    """
    if not isinstance(value, str):
        raise TypeError(f"{argument} must be text; got {value!r} ({type(value).__name__}). Write a few words.")
    if not value.strip():
        raise ValueError(f"{argument} must not be empty. Write a few words.")


def _positive(argument: str, value) -> float:
    """Return a finite number above 0 as float, or say which argument is none."""
    if not isinstance(value, numbers.Real) or isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{argument} must be a finite number above 0; got {value!r} ({type(value).__name__}).")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not 0 < number < math.inf:
        raise ValueError(f"{argument} must be a finite number above 0; got {number}. Nothing was charged.")
    return number
