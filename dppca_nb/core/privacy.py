"""Budgets, the Gaussian mechanism's exact privacy, its noise, and the guarantee a release carries."""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.optimize import brentq
from scipy.special import erfcx, log_ndtr

CALIBRATIONS = ("classical", "analytic")

# The largest Frobenius distance between the Kendall matrices of replace-one neighbours, times n; it is attained.
_SENSITIVITY_TIMES_N = 2.0 * math.sqrt(2.0)
# n * sigma outside this range leaves no room for its squares in double precision.
_COMPUTABLE_NOISE = (1e-150, 1e150)
# 1 part in 1e9: sigma is rounded up by it, and an exact delta above the stated one by less is rounding.
_SLACK = 1e-9
_NODES, _WEIGHTS = (v.tolist() for v in np.polynomial.legendre.leggauss(5))

_FLOATING_POINT = (
    "The noise is double-precision noise from a generator made for statistics, not for cryptography. It is meant for "
    "teaching and exploration and is not hardened against attacks on the low-order bits of floating-point numbers "
    "(Mironov 2012, doi 10.1145/2382196.2382264)."
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


@dataclass(frozen=True)
class Reason:
    """Why a stated guarantee does not hold.

    Parameters
    ----------
    brief : str
        A few words for a chart's subtitle.
    text : str
        Full sentences with the remedy.

    Examples
    --------
    >>> print(Reason("seeded noise", "The noise came from a seeded generator. Leave rng out."))
    The noise came from a seeded generator. Leave rng out.
    """

    brief: str
    text: str

    def __str__(self):
        return self.text


@dataclass(frozen=True)
class Guarantee:
    """What the noise of one release really gives, and whether the stated budget holds.

    Neighbouring data sets differ in one row; n is public. Coincident pairs of rows count as zero.

    Parameters
    ----------
    epsilon, delta : float
        The stated budget.
    n : int
        Number of rows.
    calibration : {"classical", "analytic"}
        How sigma was chosen.
    sensitivity : float
        Largest Frobenius distance between the Kendall matrices of neighbours, ``2 * sqrt(2) / n``.
    sigma : float
        Standard deviation of the noise on the diagonal, in units of the (unitless) Kendall matrix.
    mu : float
        ``sensitivity / sigma``: the release is mu-Gaussian differentially private.
    exact_delta : float
        The delta that this noise gives at the stated epsilon.
    exact_epsilon : float
        The epsilon that this noise gives at the stated delta; 0 where delta alone covers it.
    reasons : tuple of Reason
        Why the guarantee does not hold; empty if it holds.
    caveats : tuple of str
        What it does not cover even though it holds.

    See Also
    --------
    make_guarantee : build one, with the calibration check done.
    """

    epsilon: float
    delta: float
    n: int
    calibration: str
    sensitivity: float
    sigma: float
    mu: float
    exact_delta: float
    exact_epsilon: float
    reasons: tuple[Reason, ...] = ()
    caveats: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """True if nothing is known that breaks the stated guarantee."""
        return not self.reasons

    def summary(self) -> str:
        """Tell in plain words what is guaranteed, and every reason and caveat.

        Returns
        -------
        str
            Several lines.

        Examples
        --------
        >>> print(make_guarantee(Budget(0.5, 1e-6), 1000, "analytic").summary().split(" (")[0])
        The guarantee holds: epsilon 0.5 at delta 1e-06
        """
        exact = f"exactly epsilon {self.exact_epsilon:.3g} at this delta, delta {self.exact_delta:.3g} at this epsilon"
        stated = f"epsilon {self.epsilon:g} at delta {self.delta:g}"
        if self.holds:
            lines = [f"The guarantee holds: {stated} ({exact})."]
        else:
            lines = [
                f"The guarantee is VOID. {stated} was stated; do not publish this result as private:",
                *(f"  {i}. {reason}" for i, reason in enumerate(self.reasons, start=1)),
                f"The noise scale by itself would give {exact}.",
            ]
        lines += [
            f"Neighbouring data sets differ in one replaced row; the number of rows, n = {self.n}, is public; "
            "coincident pairs of rows count as zero.",
            f"Noise: {self.calibration} calibration, sigma {self.sigma:.4g}, sensitivity 2*sqrt(2)/n = "
            f"{self.sensitivity:.4g}, mu {self.mu:.4g}.",
        ]
        if self.caveats:
            lines += ["What it does not cover:", *(f"  - {caveat}" for caveat in self.caveats)]
        return "\n".join(lines)

    def __str__(self):
        return self.summary()


def gaussian_delta(mu: float, epsilon: float) -> float:
    r"""Smallest delta at which a Gaussian mechanism is (epsilon, delta)-private.

    .. math:: \delta = \Phi(\mu/2 - \varepsilon/\mu) - e^{\varepsilon}\,\Phi(-\mu/2 - \varepsilon/\mu)

    evaluated on the logarithmic scale, so that neither tail is lost.

    Parameters
    ----------
    mu : float
        Sensitivity divided by the noise's standard deviation, above 0.
    epsilon : float
        At least 0.

    Returns
    -------
    float
        Between 0 and 1; 0 where it is below the smallest positive double.

    References
    ----------
    Balle and Wang (2018), Improving the Gaussian mechanism for differential privacy, Theorem 8, PMLR 80,
    arXiv:1805.06530.

    Examples
    --------
    >>> round(gaussian_delta(0.2367, 1.0), 9)
    1e-06
    """
    return math.exp(_log_delta(float(mu), float(epsilon)))


def gaussian_epsilon(mu: float, delta: float) -> float:
    """Smallest epsilon at which a Gaussian mechanism is (epsilon, delta)-private.

    Solves ``gaussian_delta(mu, epsilon) = delta``.

    Parameters
    ----------
    mu : float
        Sensitivity divided by the noise's standard deviation, above 0.
    delta : float
        Strictly between 0 and 1.

    Returns
    -------
    float
        At least 0; exactly 0 if the mechanism is (0, delta)-private.

    References
    ----------
    Dong, Roth and Su (2022), Gaussian differential privacy, Corollary 1, doi 10.1111/rssb.12454.

    Examples
    --------
    >>> round(gaussian_epsilon(0.2367, 1e-6), 4)
    1.0
    """
    mu, target = float(mu), math.log(delta)
    if _log_delta(mu, 0.0) <= target:
        return 0.0

    # x = epsilon/mu - mu/2 is of order 1 whatever mu is, so an absolute tolerance on it is a relative one on epsilon.
    def excess(x):
        return _log_delta(mu, mu * max(x + mu / 2, 0.0)) - target

    top = math.sqrt(-2 * target)  # delta <= Phi(-x) <= exp(-x^2/2)
    return mu * (brentq(excess, -mu / 2, top, xtol=1e-14, rtol=1e-14) + mu / 2)


def calibrate(budget: Budget, n: int, calibration: str = "classical") -> float:
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
        :math:`2\sqrt 2/n`, rounded up by 1e-9.

    Returns
    -------
    float
        sigma, the standard deviation of the noise on the diagonal.

    Raises
    ------
    ValueError
        If `calibration` is neither of the two, or n is below 2.

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
    return _SENSITIVITY_TIMES_N / n / _analytic_mu(budget.epsilon, budget.delta) * (1 + _SLACK)


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

    Returns
    -------
    Guarantee
        With a reason added where the noise is too small for the budget.

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
    sigma = calibrate(budget, n, calibration)
    sensitivity = _SENSITIVITY_TIMES_N / n
    mu = sensitivity / sigma
    exact_delta = gaussian_delta(mu, budget.epsilon)
    own_caveats = [_FLOATING_POINT]
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
    if budget.delta >= 1 / n:
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


def standard_noise(p: int, rng: np.random.Generator) -> np.ndarray:
    """Symmetric Gaussian noise of unit scale, isotropic in the Frobenius inner product.

    Parameters
    ----------
    p : int
        Number of variables.
    rng : numpy.random.Generator
        Where the p(p+1)/2 normals come from.

    Returns
    -------
    ndarray, shape (p, p)
        Diagonal N(0, 1), off the diagonal N(0, 1/2), independent on and below the diagonal. Multiply by sigma.

    Examples
    --------
    >>> E = standard_noise(3, np.random.default_rng(1))
    >>> E.shape, bool((E == E.T).all())
    ((3, 3), True)
    """
    return symmetric_from_normals(rng.standard_normal(p * (p + 1) // 2), p)


def symmetric_from_normals(z: np.ndarray, p: int) -> np.ndarray:
    """Fold p(p+1)/2 independent normals of one scale into a symmetric matrix.

    Parameters
    ----------
    z : array_like, shape (p(p+1)/2,)
        The diagonal first, then the strict lower triangle column by column.
    p : int
        Number of variables.

    Returns
    -------
    ndarray, shape (p, p)
        Entries off the diagonal are divided by sqrt(2), so the Frobenius norm squared is the sum of z squared.

    Examples
    --------
    >>> symmetric_from_normals([1.0, 2.0, 2**0.5], 2).round(6)
    array([[1., 1.],
           [1., 2.]])
    """
    z = np.asarray(z, dtype=float)
    E = np.empty((p, p))
    np.fill_diagonal(E, z[:p])
    column, row = np.triu_indices(p, k=1)  # the upper triangle by rows is the lower one by columns
    E[row, column] = E[column, row] = z[p:] / math.sqrt(2.0)
    return E


def as_generator(rng=None) -> tuple[np.random.Generator, Reason | None]:
    """Turn what a caller gave into a Generator, and say if that makes the noise predictable.

    numpy's global random state is neither read nor set.

    Parameters
    ----------
    rng : None, int, SeedSequence, BitGenerator or Generator
        None draws fresh entropy from the operating system. Anything else may be repeated by whoever knows it.

    Returns
    -------
    generator : numpy.random.Generator
        The given one itself if it is a Generator.
    reason : Reason or None
        None for fresh entropy.

    Raises
    ------
    TypeError
        For a RandomState, a boolean, a float, text or anything else.
    ValueError
        For a negative integer.

    Examples
    --------
    >>> as_generator(7)[1].brief
    'seeded noise'
    >>> as_generator()[1] is None
    True
    """
    if rng is None:
        return np.random.default_rng(), None
    integer = isinstance(rng, numbers.Integral) and not isinstance(rng, bool)
    known = (np.random.Generator, np.random.SeedSequence, np.random.BitGenerator)
    if not (integer or isinstance(rng, known)):
        raise TypeError(
            f"rng must be None, an integer of at least 0, a SeedSequence, a BitGenerator or a Generator; got {rng!r} "
            f"({type(rng).__name__}). Leave it out for fresh noise, or give numpy.random.default_rng(0)."
        )
    if integer and rng < 0:
        raise ValueError(f"rng must be an integer of at least 0 if it is one; got {rng}. Leave it out for fresh noise.")
    return np.random.default_rng(rng), Reason(
        "seeded noise",
        "The noise came from a generator that was handed in or seeded: whoever can repeat it can take the noise off "
        "again. Leave rng out.",
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


@lru_cache(maxsize=1024)  # a slider comes back to the same budgets
def _analytic_mu(epsilon: float, delta: float) -> float:
    """Return the largest mu whose exact delta at epsilon is delta."""
    target = math.log(delta)
    z = math.sqrt(-2.0 * target)
    # Two bounds from below: delta <= exp(-x^2/2), and delta at epsilon 0 <= mu/sqrt(2 pi).
    low = max(2.0 * epsilon / (z + math.sqrt(z * z + 2.0 * epsilon)), delta * math.sqrt(2 * math.pi))
    low *= 1 - 1e-12
    high = 1.5 * low
    while _log_delta(high, epsilon) < target:
        low, high = high, 2.0 * high
    log_mu = brentq(
        lambda t: _log_delta(math.exp(t), epsilon) - target, math.log(low), math.log(high), xtol=1e-12, rtol=1e-12
    )
    return math.exp(log_mu)


def _log_delta(mu: float, epsilon: float) -> float:
    """Return log(gaussian_delta), kept relatively accurate where the two tails all but cancel."""
    x, y = epsilon / mu - mu / 2, epsilon / mu + mu / 2
    if mu < 0.1:
        # phi(x) (R(x) - R(y)) with Mills' ratio R; the difference as an integral of -R' over the short way from x to y.
        middle = epsilon / mu
        area = mu / 2 * sum(w * _mills_slope(middle + t * mu / 2) for t, w in zip(_NODES, _WEIGHTS, strict=True))
        return -x * x / 2 - math.log(2 * math.pi) / 2 + math.log(area)
    a, b = float(log_ndtr(-x)), epsilon + float(log_ndtr(-y))
    if b >= a:  # both tails equal to the last bit: below anything a double can hold
        return -math.inf
    d = b - a
    return a + (math.log(-math.expm1(d)) if d > -math.log(2) else math.log1p(-math.exp(d)))


def _mills_slope(t: float) -> float:
    """Return -R'(t) = 1 - t R(t) for Mills' ratio R of the standard normal."""
    if t > 50:  # the difference has lost four digits here; the asymptotic series has not
        u = 1 / t / t
        return u * (1 - 3 * u * (1 - 5 * u * (1 - 7 * u)))
    return 1 - t * math.sqrt(math.pi / 2) * float(erfcx(t / math.sqrt(2)))
