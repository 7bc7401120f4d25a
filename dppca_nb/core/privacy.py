"""Budgets, the noise they ask for, and the guarantee that noise gives: the door to everything about privacy.

The exact privacy curve is in ``gaussian.py``, the words of a guarantee in ``guarantee.py``, the draws in ``noise.py``.
"""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass

import numpy as np

from dppca_nb.core.gaussian import gaussian_delta, gaussian_epsilon, gaussian_mu
from dppca_nb.core.guarantee import GENERATOR, Guarantee, Reason
from dppca_nb.core.noise import as_generator, standard_noise, symmetric_from_normals

__all__ = [
    "CALIBRATIONS",
    "Budget",
    "Guarantee",
    "Reason",
    "as_generator",
    "calibrate",
    "check_calibration",
    "gaussian_delta",
    "gaussian_epsilon",
    "gaussian_mu",
    "large_delta",
    "make_guarantee",
    "standard_noise",
    "symmetric_from_normals",
]

CALIBRATIONS = ("classical", "analytic")

# The largest Frobenius distance between the Kendall matrices of replace-one neighbours, times n; it is attained.
_SENSITIVITY_TIMES_N = 2.0 * math.sqrt(2.0)
# n * sigma outside this range leaves no room for its squares in double precision.
_COMPUTABLE_NOISE = (1e-150, 1e150)
# 1 part in 1e9: sigma is rounded up by it, and an exact delta above the stated one by less is rounding.
_SLACK = 1e-9

_FLOATING_POINT = (
    "The noise is double-precision noise from a generator made for statistics, not for cryptography. It is meant for "
    "teaching and exploration and is not hardened against attacks on the low-order bits of floating-point numbers "
    "(Mironov 2012, doi 10.1145/2382196.2382264)."
)
_HARDENED = (
    "The noise is exact on a public grid, so its digits give nothing away. Not protected: how long the computation "
    "takes, and what lies in the memory of the machine. Make releases where nobody watches from whom you keep the rows."
)

_RAISING = Reason(
    "equal rows would have raised an error",
    'With coincident="raise", equal rows give an error and no release: whether there is a release depends on private '
    'rows, without noise. Use coincident="zero" for anything that leaves your hands.',
)


@dataclass(frozen=True)
class Budget:
    """How much privacy a release may cost.

    Parameters
    ----------
    epsilon : float
        Finite and above 0 (no unit: a bound on a log ratio of probabilities).
    delta : float
        Strictly between 0 and 1; sensible values lie well below 1/n.

    Raises
    ------
    TypeError
        If either is not a real number (text, None, a boolean, a list, ...).
    ValueError
        If either is outside its range, or the noise it asks for cannot be represented.

    Examples
    --------
    >>> Budget(0.5, 1e-6)
    Budget(epsilon=0.5, delta=1e-06)
    """

    epsilon: float
    delta: float

    def __post_init__(self):
        epsilon = _real("epsilon", self.epsilon, "a finite number above 0", "a number such as 0.5")
        delta = _real("delta", self.delta, "a number above 0 and below 1", "a number well below 1/n such as 1e-6")
        if not (math.isfinite(epsilon) and epsilon > 0):
            raise ValueError(
                f"epsilon must be a finite number above 0; got {self.epsilon}. Set it to a number such as 0.5."
            )
        if not 0 < delta < 1:
            raise ValueError(
                f"delta must be a number above 0 and below 1; got {self.delta}. "
                "Set it to a number well below 1/n such as 1e-6."
            )
        noise = _classical_noise(epsilon, delta)
        if not _COMPUTABLE_NOISE[0] <= noise <= _COMPUTABLE_NOISE[1]:
            raise ValueError(
                f"epsilon must give noise that double precision can represent; got {self.epsilon}, whose noise scale "
                f"would be {noise:.3g}/n. Set it to a number such as 0.5."
            )
        object.__setattr__(self, "epsilon", epsilon)
        object.__setattr__(self, "delta", delta)


def calibrate(budget: Budget, n: int, calibration: str = "classical", *, slack: float = 0.0) -> float:
    r"""Noise scale for the spherical Kendall matrix of n rows.

    Parameters
    ----------
    budget : Budget
        What the release may cost.
    n : int
        Number of rows, at least 2.
    calibration : {"classical", "analytic"}
        "classical": :math:`\sigma = 4\sqrt{2\ln(1.25/\delta)}/(n\varepsilon)`, proved for epsilon < 1 only.
        "analytic": the smallest sigma whose exact delta at epsilon is at most delta for the sensitivity
        :math:`2\sqrt 2/n` plus `slack`, rounded up by 1e-9.
    slack : float
        What rounding may add to the sensitivity.

    Returns
    -------
    float
        sigma, the standard deviation of the noise on the diagonal.

    Raises
    ------
    ValueError
        If `calibration` is neither of the two, or n is below 2.

    Notes
    -----
    The classical formula takes 4/n for the sensitivity, an upper bound of the attained :math:`2\sqrt 2/n`. The R
    package of its authors, dppca, has two versions: R/loading.R uses this formula, R/helper_pca.R has the factor 2
    instead of 4. Half the noise is too little for :math:`2\sqrt 2/n`: at epsilon 1 and a stated delta of 1e-5 its
    true delta is 3.7e-5.

    References
    ----------
    Kim and Jung (2025), doi 10.1002/sam.70053; Dwork and Roth (2014), doi 10.1561/0400000042;
    Balle and Wang (2018), arXiv:1805.06530.

    Examples
    --------
    >>> round(1000 * calibrate(Budget(1, 1e-6), 1000, "analytic"), 3)
    11.949
    """
    check_calibration(calibration)
    if n < 2:
        raise ValueError(f"n must be at least 2 rows; got {n}. A pair of rows is the least that has a direction.")
    if calibration == "classical":
        return _classical_noise(budget.epsilon, budget.delta) / n
    return (_SENSITIVITY_TIMES_N / n + slack) / gaussian_mu(budget.epsilon, budget.delta) * (1 + _SLACK)


def check_calibration(calibration: str) -> str:
    """Pass "classical" and "analytic" through and refuse anything else.

    Parameters
    ----------
    calibration : str
        The name to check.

    Returns
    -------
    str
        The same name.

    Raises
    ------
    ValueError
        Naming the two choices.

    Examples
    --------
    >>> check_calibration("analytic")
    'analytic'
    """
    if not (isinstance(calibration, str) and calibration in CALIBRATIONS):
        raise ValueError(f'calibration must be "classical" or "analytic"; got {calibration!r}. Choose one of the two.')
    return calibration


def make_guarantee(
    budget: Budget,
    n: int,
    calibration: str = "classical",
    *,
    reasons: tuple[Reason, ...] = (),
    caveats: tuple[str, ...] = (),
    coincident: str = "zero",
    slack: float = 0.0,
    randomness: str = GENERATOR,
) -> Guarantee:
    """State what a release with this budget and calibration gives, after checking the calibration.

    Parameters
    ----------
    budget : Budget
        The stated budget.
    n : int
        Number of rows, at least 2.
    calibration : {"classical", "analytic"}
        As in :func:`calibrate`.
    reasons : tuple of Reason
        What else is known to break the guarantee.
    caveats : tuple of str
        What else it does not cover.
    coincident : {"zero", "raise"}
        How pairs of equal rows are treated.
    slack : float
        What rounding may add to the sensitivity, see :func:`dppca_nb.core.hardened.rounding_slack`; 0 for noise that is
        not hardened.
    randomness : str
        Where the noise comes from.

    Returns
    -------
    Guarantee
        With a reason added where the noise is too small for the budget, and where equal rows would raise an error.

    Raises
    ------
    ValueError
        As :func:`calibrate`.

    Examples
    --------
    >>> made = make_guarantee(Budget(0.5, 1e-6), 1000)
    >>> made.holds, round(made.exact_epsilon, 3)
    (True, 0.258)
    """
    sigma = calibrate(budget, n, calibration, slack=slack)
    sensitivity = _SENSITIVITY_TIMES_N / n
    mu = (sensitivity + slack) / sigma
    exact_delta = gaussian_delta(mu, budget.epsilon)
    own_caveats = [_HARDENED if slack else _FLOATING_POINT]
    if coincident == "raise":
        reasons = (*reasons, _RAISING)
    if exact_delta > budget.delta * (1 + _SLACK):
        reasons = (
            *reasons,
            Reason(
                f"the {calibration} noise is too small for epsilon {budget.epsilon:g}",
                f"At epsilon {budget.epsilon:g} the {calibration} noise gives delta {exact_delta:.3g}, more than the "
                f'stated {budget.delta:g}: its proof ends below epsilon 1. Use calibration="analytic" or a smaller '
                "epsilon.",
            ),
        )
    elif calibration == "classical" and budget.epsilon >= 1:
        own_caveats.append(
            f"The proof of the classical calibration ends below epsilon 1; at epsilon {budget.epsilon:g} it is the "
            f"exact delta, {exact_delta:.3g}, that shows the stated budget to hold."
        )
    if budget.delta * n >= 1:
        own_caveats.append(large_delta(budget, n))
    return Guarantee(
        epsilon=budget.epsilon,
        delta=budget.delta,
        n=int(n),
        calibration=calibration,
        sensitivity=sensitivity,
        sigma=sigma,
        mu=mu,
        exact_delta=exact_delta,
        exact_epsilon=gaussian_epsilon(mu, budget.delta),
        reasons=tuple(reasons),
        caveats=(*own_caveats, *caveats),
        coincident=coincident,
        slack=slack,
        randomness=randomness,
    )


def large_delta(budget: Budget, n: int) -> str:
    """Say why a delta of 1/n or more protects little.

    Parameters
    ----------
    budget : Budget
        Whose delta is at least 1/n.
    n : int
        Number of rows.

    Returns
    -------
    str
        One sentence and the remedy.

    Examples
    --------
    >>> large_delta(Budget(1, 0.1), 10).split(":")[0]
    'delta 0.1 is not below 1/n = 0.1'
    """
    return (
        f"delta {budget.delta:g} is not below 1/n = {1 / n:.3g}: a mechanism that publishes one whole row at random "
        "would meet it. Choose a delta well below 1/n."
    )


def _real(name: str, value, allowed: str, example: str) -> float:
    """Return a real number as float, or raise a TypeError that names the argument."""
    if isinstance(value, numbers.Real) and not isinstance(value, (bool, np.bool_)):
        try:
            return float(value)
        except OverflowError:
            return math.inf if value > 0 else -math.inf
    raise TypeError(f"{name} must be {allowed}; got {value!r} ({type(value).__name__}). Set it to {example}.")


def _classical_noise(epsilon: float, delta: float) -> float:
    """Return n times the classical sigma."""
    return 4.0 * math.sqrt(2.0 * (math.log(1.25) - math.log(delta))) / epsilon  # 1.25/delta could overflow
