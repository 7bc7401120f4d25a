"""The one place where noise meets private data: what was checked is charged, what was charged gets its noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dppca_nb.core.account import Account
from dppca_nb.core.hardened import hardened_noise, noise_source
from dppca_nb.core.kendall import spherical_kendall
from dppca_nb.core.ledger import BudgetError, Ledger
from dppca_nb.core.ledger_entry import LedgerEntry
from dppca_nb.core.privacy import Guarantee, standard_noise
from dppca_nb.table import Table


@dataclass(frozen=True, eq=False)
class Drawn:
    """A Kendall matrix with its noise.

    Parameters
    ----------
    matrix : ndarray, shape (p, p)
        Exactly symmetric.
    entry : LedgerEntry or None
        What it cost; None without a ledger.
    randomness : str
        Where the noise came from.
    """

    matrix: np.ndarray
    entry: LedgerEntry | None
    randomness: str


def noisy_kendall(
    table: Table,
    *,
    guarantee: Guarantee,
    coincident: str,
    generator: np.random.Generator | None = None,
    ledger: Ledger | None = None,
    mechanism: str = "spherical Kendall matrix",
) -> Drawn:
    """Compute the Kendall matrix, pay for it, and draw its noise, in this order.

    Parameters
    ----------
    table : Table, shape (n, p)
        Private rows, scaled.
    guarantee : Guarantee
        For the n of the table: its sigma is that of the noise, its sensitivity and slack are what is charged. For
        hardened noise it needs the slack.
    coincident : {"raise", "zero"}
        What to do with pairs of equal rows.
    generator : numpy.random.Generator, optional
        Where noise that is not hardened comes from; by default the noise is hardened.
    ledger : Ledger, optional
        Pays.
    mechanism : str
        What the ledger calls it.

    Returns
    -------
    Drawn
        The matrix with its noise, and what it cost.

    Raises
    ------
    TypeError, ValueError
        As :func:`check_chargeable`. Nothing is charged, no noise is drawn.
    BudgetError, LedgerError
        From the ledger. No noise is drawn.
    DataError
        For coincident rows that are to be refused. Nothing is charged.

    Examples
    --------
    >>> from dppca_nb.core.privacy import Budget, make_guarantee
    >>> from dppca_nb.table import as_table
    >>> from dppca_nb.core.hardened import rounding_slack
    >>> guarantee = make_guarantee(Budget(0.5, 1e-6), 9, "analytic", slack=rounding_slack(9, 9))
    >>> ledger = Ledger(1, 1e-6)
    >>> drawn = noisy_kendall(as_table(np.eye(9)), guarantee=guarantee, coincident="zero", ledger=ledger)
    >>> drawn.matrix.shape, ledger.entries == (drawn.entry,)
    ((9, 9), True)
    """
    if ledger is not None:
        check_chargeable(ledger, guarantee)
    randomness = guarantee.randomness if generator is not None else noise_source()  # which imports OpenDP
    entry, K = None, None
    try:
        K = spherical_kendall(table, coincident=coincident).matrix.to_numpy()
        if ledger is not None:
            entry = ledger.charge(
                mechanism,
                n=table.n,
                sensitivity=guarantee.sensitivity + guarantee.slack,
                sigma=guarantee.sigma,
                calibration=guarantee.calibration,
                randomness=randomness,
            )
        if generator is not None:
            return Drawn(K + guarantee.sigma * standard_noise(table.p, generator), entry, randomness)
        matrix, randomness = hardened_noise(K, guarantee.sigma)
        return Drawn(matrix, entry, randomness)
    except BaseException as error:
        if ledger is None:
            raise
        K = None  # tracebacks can be made to show variables: this one must not, nor the frames below
        raise error.with_traceback(None) from None


def check_chargeable(ledger: Ledger, guarantee: Guarantee) -> None:
    """Refuse to spend on a release that would not be private, or that cannot be paid, before a row is read.

    Parameters
    ----------
    ledger : Ledger
        Who would pay.
    guarantee : Guarantee
        Of the release.

    Raises
    ------
    TypeError
        If it is no ledger.
    ValueError
        If the guarantee does not hold.
    BudgetError
        If it costs more than is left.

    Examples
    --------
    >>> from dppca_nb.core.privacy import Budget, make_guarantee
    >>> check_chargeable(Ledger(1, 1e-6), make_guarantee(Budget(0.5, 1e-6), 100))
    """
    if not isinstance(ledger, Ledger):
        raise TypeError(
            f"ledger must be a Ledger or None; got {type(ledger).__name__}. Make one: Ledger(epsilon=1, delta=1e-6)."
        )
    if not guarantee.holds:
        why = " ".join(reason.text for reason in guarantee.reasons)
        raise ValueError(f"A ledger pays for releases whose guarantee holds, so nothing was charged. {why}")
    account = Account(ledger.budget, tuple(entry.mu for entry in ledger.entries))
    if not account.fits(guarantee.mu):  # the ledger asks again when it is charged: others may have been faster
        raise BudgetError(account.refusal(guarantee.mu, ledger.name))
