"""A release with less noise by one more draw, and one with more noise at no cost, on the plain parts of a release."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from dppca_nb._columns import listing, show
from dppca_nb.core.account import total_mu
from dppca_nb.core.gaussian import gaussian_delta, gaussian_epsilon
from dppca_nb.core.guarantee import Guarantee
from dppca_nb.core.hardened import hardened_noise, noise_source, rounding_slack
from dppca_nb.core.ledger import Ledger
from dppca_nb.core.ledger_entry import LedgerEntry
from dppca_nb.core.mechanism import check_chargeable, noisy_kendall
from dppca_nb.core.privacy import Budget, make_guarantee
from dppca_nb.table import DataError, as_table, scale_table

_ROUNDING = 1e-9  # relative; `calibrate` rounds sigma up by this much
_KEPT = "Nothing was drawn and nothing was charged."


def top_up(
    noisy: np.ndarray, *, names, guarantee: Guarantee, scale, entries, data, epsilon: float, ledger: Ledger
) -> dict:
    """Draw noise on the rows of a release once more and average; see :meth:`LoadingRelease.topped_up`.

    Parameters
    ----------
    noisy, names, guarantee, scale, entries
        Of the release.
    data : Table, DataFrame or array_like, shape (n, p)
        Its rows.
    epsilon : float
        Of both draws together.
    ledger : Ledger
        Pays.

    Returns
    -------
    dict
        What changed: noisy is the average, guarantee that of one release at epsilon, entries has one more.

    Examples
    --------
    >>> ledger, guarantee = Ledger(1, 1e-6), make_guarantee(Budget(0.3, 1e-6), 3)
    >>> top_up(
    ...     np.eye(2),
    ...     names=("a", "b"),
    ...     guarantee=guarantee,
    ...     scale=None,
    ...     entries=(),
    ...     data=[[1, 2], [3, 1], [0, 5]],
    ...     epsilon=0.5,
    ...     ledger=ledger,
    ... )
    Traceback (most recent call last):
    ...
    ValueError: This release was not paid for by the ledger of 'data', whose account would then leave it out. Give the
    ledger that paid for it. Nothing was drawn and nothing was charged.
    """
    _check_paid(entries, guarantee, ledger)
    plan = plan_top_up(guarantee, len(noisy), epsilon)
    table = as_table(data)
    if (table.n, table.names) != (guarantee.n, names):
        raise DataError(
            f"A top-up needs the rows of the release: {guarantee.n} rows of {listing([*map(show, names)])}, in this "
            f"order; got {table.n} rows of {listing([*map(show, table.names)])}. {_KEPT}"
        )
    table = scale_table(table, scale)[0]
    if table.sample_scaled:
        raise DataError(
            "A top-up needs the rows of the release in their units; these are divided by their own standard "
            f"deviations, which are private. {_KEPT}"
        )
    drawn = noisy_kendall(table, guarantee=plan.draw, coincident=guarantee.coincident, ledger=ledger)
    return {
        "noisy": plan.averaged(noisy, drawn.matrix),
        "guarantee": plan.together,
        "entries": (*entries, drawn.entry),
    }


def lower(noisy: np.ndarray, *, guarantee: Guarantee, epsilon: float) -> dict:
    """Add noise to a noisy matrix until a smaller epsilon is met; see :meth:`LoadingRelease.lowered`.

    Parameters
    ----------
    noisy : ndarray, shape (p, p)
        What was released.
    guarantee : Guarantee
        What it gives.
    epsilon : float
        What the result is to give.

    Returns
    -------
    dict
        What changed: noisy has more noise, guarantee is that of one release at epsilon.

    Examples
    --------
    >>> lower(np.eye(2), guarantee=make_guarantee(Budget(0.5, 1e-6), 1000), epsilon=0.1)["guarantee"].epsilon
    0.1
    """
    lowered, sigma = plan_lowering(guarantee, len(noisy), epsilon)
    return {"noisy": hardened_noise(noisy, sigma)[0], "guarantee": lowered}


@dataclass(frozen=True)
class TopUp:
    r"""One more draw, and what it gives together with the release that is there.

    Parameters
    ----------
    have : Guarantee
        Of the release that is there.
    draw : Guarantee
        Of the draw by itself: this is what it costs.
    together : Guarantee
        Of one analytic release at the larger epsilon, and of the two averaged with weights :math:`1/\sigma^2`.
    """

    have: Guarantee
    draw: Guarantee
    together: Guarantee

    def averaged(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Average two noisy matrices of the same rows: the noise is that of one draw at the smallest sigma."""
        weight = 1 / (1 + (self.draw.sigma / self.have.sigma) ** 2)
        return first + weight * (second - first)


def plan_top_up(have: Guarantee, p: int, epsilon: float) -> TopUp:
    r"""Work out the draw that takes a release from :math:`\mu_1` to the :math:`\mu` of a larger epsilon.

    Precisions add up: :math:`1/\sigma^2 = 1/\sigma_1^2 + 1/\sigma_2^2`, and with them squares of mu. So nothing is
    lost over one release at the larger epsilon, neither in noise nor in budget.

    Parameters
    ----------
    have : Guarantee
        Of the release that is there.
    p : int
        Number of variables.
    epsilon : float
        Of both together, at the delta of the release.

    Returns
    -------
    TopUp
        The draw and the result.

    Raises
    ------
    TypeError, ValueError
        For an epsilon that is none, or not above what the release gives already.

    References
    ----------
    Dong, Roth and Su (2022), Gaussian differential privacy, Corollary 2, doi 10.1111/rssb.12454.

    Examples
    --------
    >>> have = make_guarantee(Budget(0.3, 1e-6), 1000, "analytic")
    >>> plan = plan_top_up(have, 3, 0.5)
    >>> round(have.mu**2 + plan.draw.mu**2, 9) == round(plan.together.mu**2, 9)
    True
    """
    budget = Budget(epsilon, have.delta)
    together = make_guarantee(
        budget,
        have.n,
        "analytic",
        coincident=have.coincident,
        slack=max(have.slack, rounding_slack(have.n, p)),
        randomness=_sources(have),
    )
    if together.sigma >= have.sigma * (1 - _ROUNDING):
        raise ValueError(
            f"epsilon must be above what this release gives already, {have.exact_epsilon:.6g} at delta {have.delta:g}; "
            f"got {budget.epsilon:g}. Ask for more, or use lowered(epsilon) for less. {_KEPT}"
        )
    sigma = have.sigma * together.sigma / math.sqrt((have.sigma - together.sigma) * (have.sigma + together.sigma))
    mu = (together.sensitivity + together.slack) / sigma
    own = gaussian_epsilon(mu, have.delta)
    draw = replace(
        together,
        calibration="top-up",
        randomness=noise_source(),
        sigma=sigma,
        mu=mu,
        epsilon=own,
        exact_epsilon=own,
        exact_delta=gaussian_delta(mu, own),
    )
    return TopUp(have, draw, together)


def plan_lowering(have: Guarantee, p: int, epsilon: float) -> tuple[Guarantee, float]:
    r"""Work out the noise that takes a release down to a smaller epsilon, at no cost.

    Variances add up: the extra noise has :math:`\sigma^2 - \sigma_1^2`.

    Parameters
    ----------
    have : Guarantee
        Of the release that is there. If it does not hold, neither does the result, for the same reasons.
    p : int
        Number of variables.
    epsilon : float
        Wanted, at the delta of the release.

    Returns
    -------
    lowered : Guarantee
        Of one analytic release at this epsilon, with a caveat more.
    sigma : float
        Of the extra noise.

    Raises
    ------
    TypeError, ValueError
        For an epsilon that is none, or not below what the release gives already.

    Examples
    --------
    >>> have = make_guarantee(Budget(0.5, 1e-6), 1000, "analytic")
    >>> lowered, sigma = plan_lowering(have, 3, 0.3)
    >>> round(lowered.sigma**2, 12) == round(have.sigma**2 + sigma**2, 12)
    True
    """
    budget = Budget(epsilon, have.delta)
    made = make_guarantee(
        budget,
        have.n,
        "analytic",
        coincident=have.coincident,
        # With the extra noise the matrix is rounded once more.
        slack=have.slack + rounding_slack(have.n, p) if have.hardened else 0.0,
        randomness=_sources(have),
    )
    if made.sigma <= have.sigma * (1 + _ROUNDING):
        raise ValueError(
            f"epsilon must be below what this release gives already, {have.exact_epsilon:.6g} at delta "
            f"{have.delta:g}; got {budget.epsilon:g}. Ask for less; for more, use topped_up(data, epsilon=..., "
            "ledger=...), which costs budget."
        )
    caveat = (
        f"It was lowered from a release at epsilon {have.epsilon:g} by adding noise to it. Whoever has that one "
        "has its guarantee, not this one: keep it to yourself if this one is what others get."
    )
    reasons = tuple(dict.fromkeys((*have.reasons, *made.reasons)))
    caveats = tuple(dict.fromkeys((*made.caveats, *have.caveats, caveat)))
    sigma = math.sqrt((made.sigma - have.sigma) * (made.sigma + have.sigma))
    return replace(made, reasons=reasons, caveats=caveats), sigma


def _check_paid(entries: tuple[LedgerEntry, ...], have: Guarantee, ledger: Ledger) -> None:
    """Refuse to top up what would make the account of a ledger say less than was spent, or pay twice."""
    check_chargeable(ledger, have)
    known = ledger.entries
    if not entries or any(entry not in known for entry in entries):
        raise ValueError(
            f"This release was not paid for by the ledger of {ledger.name!r}, whose account would then leave it out. "
            f"Give the ledger that paid for it. {_KEPT}"
        )
    if total_mu(entry.mu for entry in entries) > have.mu * (1 + _ROUNDING):
        raise ValueError(
            "This release was lowered from one that gives more, which is paid for: topping this one up would pay for "
            f"it again. Top up that one, or lower it less. {_KEPT}"
        )


def _sources(have: Guarantee) -> str:
    """Say where the noise of a release with a draw more comes from."""
    source = noise_source()
    return have.randomness if source in have.randomness else f"{have.randomness}; {source}"
