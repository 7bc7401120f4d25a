"""The exact privacy curve of a Gaussian mechanism: delta, epsilon and mu, each from the other two."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from scipy.optimize import brentq
from scipy.special import erfcx, log_ndtr

_SQRT2 = math.sqrt(2.0)
# Five Gauss-Legendre nodes: the integrand below is smooth over an interval of at most 0.1.
_NODES, _WEIGHTS = (v.tolist() for v in np.polynomial.legendre.leggauss(5))


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
    return math.exp(_log_delta(float(mu), epsilon / mu - mu / 2))


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
    if _log_delta(mu, -mu / 2) <= target:
        return 0.0
    top = math.sqrt(-2 * target)  # delta <= Phi(-x) <= exp(-x^2/2)
    bottom = max(-mu / 2, -40.0)  # Phi(40) is 1 in double precision, above any delta
    x = brentq(lambda x: _log_delta(mu, x) - target, bottom, top, xtol=1e-14, rtol=1e-14)
    return mu * (x + mu / 2)


@lru_cache(maxsize=1024)  # a slider comes back to the same budgets
def gaussian_mu(epsilon: float, delta: float) -> float:
    """Largest mu at which a Gaussian mechanism is (epsilon, delta)-private.

    Solves ``gaussian_delta(mu, epsilon) = delta`` to 1e-12 relative.

    Parameters
    ----------
    epsilon : float
        Above 0.
    delta : float
        Strictly between 0 and 1.

    Returns
    -------
    float
        Sensitivity divided by the least standard deviation that the noise may have.

    References
    ----------
    Balle and Wang (2018), Improving the Gaussian mechanism for differential privacy, Algorithm 1, PMLR 80,
    arXiv:1805.06530.

    Examples
    --------
    >>> round(gaussian_mu(1.0, 1e-6), 5)
    0.2367
    """
    target = math.log(delta)
    z = math.sqrt(-2.0 * target)
    # Two bounds from below: delta <= exp(-x^2/2), and delta at epsilon 0 <= mu/sqrt(2 pi).
    low = max(2.0 * epsilon / (z + math.sqrt(z * z + 2.0 * epsilon)), delta * math.sqrt(2 * math.pi))
    low *= 1 - 1e-12

    def excess(mu):
        return _log_delta(mu, epsilon / mu - mu / 2) - target

    high = 1.5 * low
    while excess(high) < 0:
        low, high = high, 2.0 * high
    log_mu = brentq(lambda t: excess(math.exp(t)), math.log(low), math.log(high), xtol=1e-12, rtol=1e-12)
    return math.exp(log_mu)


def _log_delta(mu: float, x: float) -> float:
    """Return log(gaussian_delta) at epsilon = mu (x + mu/2), relatively accurate where the two tails all but cancel."""
    if x > 1e150:  # squares overflow; delta is long below the smallest double
        return -math.inf
    # In x, epsilon itself is never needed: e^epsilon phi(x + mu) = phi(x), so no large numbers are subtracted.
    if mu < 0.1:
        # phi(x) (R(x) - R(x + mu)) with Mills' ratio R; the difference is an integral of -R' over a short way.
        area = mu / 2 * sum(w * _mills_slope(x + mu / 2 * (1 + t)) for t, w in zip(_NODES, _WEIGHTS, strict=True))
        return -x * x / 2 - math.log(2 * math.pi) / 2 + math.log(area)
    first = float(log_ndtr(-x))
    if first == -math.inf:
        return first
    # log of e^epsilon Phi(-x - mu) / Phi(-x), from scaled tails where the plain ones would underflow
    upper = float(erfcx((x + mu) / _SQRT2))
    ratio = math.log(upper / float(erfcx(x / _SQRT2))) if x > 0 else math.log(upper / 2) - x * x / 2 - first
    return first + (math.log(-math.expm1(ratio)) if ratio > -math.log(2) else math.log1p(-math.exp(ratio)))


def _mills_slope(t: float) -> float:
    """Return -R'(t) = 1 - t R(t) for Mills' ratio R of the standard normal."""
    if t > 50:  # the difference has lost four digits here; the asymptotic series has not
        u = 1 / t / t
        return u * (1 - 3 * u * (1 - 5 * u * (1 - 7 * u)))
    return 1 - t * math.sqrt(math.pi / 2) * float(erfcx(t / _SQRT2))
