"""The arithmetic of a budget that several releases share, and its words."""

from __future__ import annotations

import math
from dataclasses import dataclass

from dppca_nb.core.gaussian import gaussian_epsilon, gaussian_mu
from dppca_nb.core.privacy import Budget

# Relative, in mu. Sums that should meet the budget may pass it by this much ...
_DUST = 1e-9
# ... and those that come this close have met it: `calibrate` rounds sigma up by 1e-9.
_MET = 2e-9


def total_mu(mus) -> float:
    """Compose Gaussian mechanisms: the root of the sum of the squares, summed without rounding on the way.

    Parameters
    ----------
    mus : iterable of float
        One per mechanism; each may depend on what the earlier ones gave.

    Returns
    -------
    float
        The mu of all of them together; 0 for none.

    References
    ----------
    Dong, Roth and Su (2022), Gaussian differential privacy, Corollary 2, doi 10.1111/rssb.12454.

    Examples
    --------
    >>> total_mu([3.0, 4.0])
    5.0
    """
    return math.sqrt(math.fsum(mu * mu for mu in mus))


@dataclass(frozen=True)
class Quote:
    """What one more release would cost, before it is made. Every epsilon is exact, at the delta of the budget.

    Parameters
    ----------
    mu, epsilon : float
        What it costs by itself.
    spent, left : float
        Epsilon of all releases so far together, and the most that one more may cost.
    leaves : float
        What would be left after it; 0 where it does not fit.
    more : int
        How many like it would fit after it.
    fits : bool
        Whether there is room for it.
    shares : tuple of float
        Share of the budget that each release so far has taken, in squares of mu: these add up.
    share : float
        Share of the budget that it would take.

    Examples
    --------
    >>> quote = Account(Budget(1, 1e-6), (0.1, 0.1)).quote(0.1)
    >>> quote.fits, quote.more, round(quote.epsilon, 3), round(quote.leaves, 3)
    (True, 2, 0.397, 0.662)
    """

    mu: float
    epsilon: float
    spent: float
    left: float
    leaves: float
    more: int
    fits: bool
    shares: tuple[float, ...]
    share: float


@dataclass(frozen=True)
class Account:
    """A budget and what has been spent of it, in mu and in epsilon at the delta of the budget.

    Parameters
    ----------
    budget : Budget
        What all releases together may cost.
    mus : tuple of float
        What each release so far has cost.

    Examples
    --------
    >>> account = Account(Budget(1, 1e-6), (0.1, 0.1))
    >>> round(account.spent_mu, 4), round(account.left_mu, 4)
    (0.1414, 0.1898)
    >>> account.fits(0.18), account.fits(0.19), account.count(0.1)
    (True, False, 3)
    """

    budget: Budget
    mus: tuple[float, ...] = ()

    @property
    def mu(self) -> float:
        """The budget in mu."""
        return gaussian_mu(self.budget.epsilon, self.budget.delta)

    @property
    def spent_mu(self) -> float:
        """Mu of all releases together."""
        return total_mu(self.mus)

    @property
    def left_mu(self) -> float:
        """Largest mu that one more release may have; 0 as soon as the budget is met."""
        mu, spent = self.mu, self.spent_mu
        return 0.0 if spent >= mu * (1 - _MET) else math.sqrt((mu - spent) * (mu + spent))

    def epsilon(self, mu: float) -> float:
        """Exact epsilon of a mu at the delta of the budget."""
        return gaussian_epsilon(mu, self.budget.delta) if mu else 0.0

    def with_one_more(self, mu: float) -> Account:
        """Return the account after one more release."""
        return Account(self.budget, (*self.mus, mu))

    def fits(self, mu: float) -> bool:
        """Tell whether one more release may cost this mu."""
        return self.left_mu > 0 and self.with_one_more(mu).spent_mu <= self.mu * (1 + _DUST)

    def count(self, mu: float) -> int:
        """Count how many releases of this mu fit one after the other."""
        room = (self.mu * (1 + _DUST)) ** 2 - self.spent_mu**2
        before_met = (self.mu * (1 - _MET)) ** 2 - self.spent_mu**2  # the last of them starts below this
        return max(0, min(math.floor(room / mu / mu), math.ceil(before_met / mu / mu)))

    def quote(self, mu: float) -> Quote:
        """Say what one more release of this mu would cost and leave."""
        fits, after = self.fits(mu), self.with_one_more(mu)
        return Quote(
            mu=mu,
            epsilon=self.epsilon(mu),
            spent=self.epsilon(self.spent_mu),
            left=self.epsilon(self.left_mu),
            leaves=self.epsilon(after.left_mu) if fits else 0.0,
            more=after.count(mu) if fits else 0,
            fits=fits,
            shares=tuple((each / self.mu) ** 2 for each in self.mus),
            share=(mu / self.mu) ** 2,
        )

    def cost(self, mu: float, down: bool = False) -> str:
        """Write a mu as what it costs; rounded down if it is on offer, so that it can be had."""
        epsilon, mu = ((_down(x) if down else x) for x in (self.epsilon(mu), mu))
        return f"epsilon {epsilon:.4g} (mu {mu:.4g})"

    def refusal(self, mu: float, name: str) -> str:
        """Say why a release of this mu does not fit, and what to do."""
        offer = self.cost(self.left_mu, down=True) if self.left_mu else "nothing"
        remedy = "Ask for no more than that" if self.left_mu else "Release no more about these rows"
        return (
            f"This release asks for {self.cost(mu)}, but what is left of the ledger of {name!r} is {offer}: "
            f"{self.cost(self.spent_mu)} was spent of epsilon {self.budget.epsilon:g} at delta {self.budget.delta:g}, "
            f"and together they would cost {self.cost(self.with_one_more(mu).spent_mu)}. {remedy}. Nothing was drawn "
            "and nothing was charged."
        )

    def brief(self) -> str:
        """Say in one line what is spent and left."""
        left = f"left for one more: {_down(self.epsilon(self.left_mu)):.4g}" if self.left_mu else "nothing left"
        return (
            f"epsilon {self.epsilon(self.spent_mu):.4g} of {self.budget.epsilon:g} spent at delta "
            f"{self.budget.delta:g} by {self._releases}; {left}"
        )

    def lines(self) -> list[str]:
        """Say in whole sentences what is spent and left."""
        if self.left_mu:
            left = (
                f"Left: one more release may cost up to {self.cost(self.left_mu, down=True)} with analytic "
                "calibration. Epsilons do not add up; squares of mu do."
            )
        else:
            left = "Left: nothing. No further release fits, however small."
        return [f"Spent: {self.cost(self.spent_mu)} by {self._releases}.", left]

    @property
    def _releases(self) -> str:
        """Their number in words."""
        return f"{len(self.mus)} release" + "s" * (len(self.mus) != 1)


def _down(x: float) -> float:
    """Round down to four digits."""
    if x <= 0:
        return 0.0
    x *= 1 + _DUST / 2  # or a whole budget of 1 would read 0.9999
    digits = 3 - math.floor(math.log10(x))
    shown = round(x, digits)
    return shown if shown <= x else round(shown - 10.0**-digits, digits)
