r"""Noise that withstands attacks on floating-point numbers: an exact discrete Gaussian on a public grid."""

from __future__ import annotations

import math
import secrets

import numpy as np

from dppca_nb.core.kendall import kendall_error_limit

OPENDP = "OpenDP: exact discrete Gaussian, cryptographic randomness"
INTEGERS = "Python integers: exact discrete Gaussian, randomness of the operating system"

_DIGITS = 60  # binary digits of the grid below sigma
_COARSEST = -100  # the grid stays this fine however large sigma is, or it would eat small sensitivities
_UNIT = 2.0**-53  # unit roundoff of float64


def hardened_noise(matrix: np.ndarray, sigma: float) -> tuple[np.ndarray, str]:
    r"""Add symmetric Gaussian noise to a symmetric matrix so that no digit of the sum tells more than it should.

    The coordinates are the diagonal and :math:`\sqrt 2` times the strict lower triangle, whose Euclidean norm is the
    Frobenius norm of the matrix. They are rounded to a grid of spacing :math:`2^k` that follows from `sigma` alone, and
    each gets a draw from the discrete Gaussian on that grid, :math:`P(x) \propto \exp(-x^2/2\sigma^2)`, without any
    approximation. All that follows, such as rounding the sum to float64, uses no private number.

    The extra ``secure`` brings OpenDP, which then draws. Without it the draws are made on Python's integers with the
    randomness of the operating system, by the algorithm of Canonne, Kamath and Steinke.

    Parameters
    ----------
    matrix : ndarray, shape (p, p)
        Exactly symmetric, finite.
    sigma : float
        Standard deviation of the noise on the diagonal, above 0, public.

    Returns
    -------
    noisy : ndarray, shape (p, p)
        Exactly symmetric.
    randomness : str
        Who drew, as :func:`noise_source` says.

    Raises
    ------
    ValueError
        If a number is not finite, or sigma not above 0. Nothing is drawn.

    Notes
    -----
    Of two vectors of the grid at distance D the discrete Gaussian gives away exactly what the Gaussian does in terms
    of Rényi divergence: the release is :math:`\rho`-zCDP with :math:`\rho = \mu^2/2, \mu = D/\sigma`.

    The exact curve delta(epsilon) of the Gaussian holds as well, up to far less than the 1e-9 by which sigma is rounded
    up. Let s be sigma in units of the grid, at least :math:`2^{60}`, and N the number of coordinates. Spread every
    point of the grid evenly over its cube. The density so made and that of the continuous Gaussian differ, within 40 s
    of the ball of radius :math:`s\sqrt N`, by a factor of :math:`e^{\pm\eta}`,
    :math:`\eta \le 2N (1 + 40/\sqrt N) / s`, and outside lies less than :math:`e^{-800}` of the mass. Both
    neighbours have such a density, so :math:`\delta_{discrete}(\varepsilon) \le e^{\eta}\,\delta(\varepsilon - 2\eta)`.
    A mu that is larger by a part h raises delta by :math:`h\mu\varphi(a)` and one of epsilon smaller by
    :math:`2\eta` by at most :math:`2.6\,\eta\,\varphi(a)`, with the same :math:`\varphi(a)`: so
    :math:`h = 2.6\,\eta/\mu` makes up for it. With 100 variables and a million rows h is below 1e-19, because the grid
    is never coarser than :math:`2^{-100}`, and :math:`e^\eta - 1` is below 2e-14.

    What this does not hide: how long a draw takes, and what lies in the memory of the machine.

    References
    ----------
    Canonne, Kamath and Steinke (2020), The discrete Gaussian for differential privacy, arXiv:2004.00010.
    Mironov (2012), On significance of the least significant bits for differential privacy,
    doi 10.1145/2382196.2382264.

    Examples
    --------
    >>> noisy, randomness = hardened_noise(np.eye(3), 0.1)
    >>> noisy.shape, bool((noisy == noisy.T).all()), randomness in (OPENDP, INTEGERS)
    ((3, 3), True, True)
    """
    matrix, sigma = np.asarray(matrix, dtype=float), float(sigma)
    if not np.isfinite(matrix).all():  # OpenDP would take NaN for 0 and infinity for the largest number
        raise ValueError("The matrix has entries that are not finite. Nothing was drawn.")
    if not 0 < sigma < math.inf:
        raise ValueError(f"sigma must be a finite number above 0; got {sigma}. Nothing was drawn.")
    p, lower = len(matrix), np.tril_indices(len(matrix), -1)
    with np.errstate(under="ignore"):
        weighted = np.concatenate([np.diag(matrix), math.sqrt(2.0) * matrix[lower]])
    source = noise_source()
    draw = _drawn_by_opendp if source == OPENDP else _drawn_on_integers
    drawn = np.array(draw(weighted.tolist(), sigma, grid_exponent(sigma))) + 0.0  # no -0.0
    noisy = np.diag(drawn[:p])
    with np.errstate(under="ignore"):
        noisy[lower] = noisy.T[lower] = drawn[p:] / math.sqrt(2.0)
    return noisy, source


def noise_source() -> str:
    """Say who draws hardened noise here: OpenDP if it is installed, else Python's integers.

    Returns
    -------
    str
        As ledgers and guarantees write it.

    Examples
    --------
    >>> noise_source() in (OPENDP, INTEGERS)
    True
    """
    return INTEGERS if _opendp() is None else OPENDP


def grid_exponent(sigma: float) -> int:
    """Power of two that is the spacing of the grid: 60 binary digits below sigma, and at most 2**-100.

    Parameters
    ----------
    sigma : float
        Finite, above 0. It is a whole multiple of the spacing.

    Returns
    -------
    int

    Examples
    --------
    >>> grid_exponent(0.5), grid_exponent(2.0**-200)
    (-100, -260)
    """
    return min(math.frexp(sigma)[1] - 1 - _DIGITS, _COARSEST)


def rounding_slack(n: int, p: int) -> float:
    r"""Bound of what rounding adds to the distance between the matrices of two neighbours, to add to the sensitivity.

    .. math:: 2 (L + 2u) + 2^{-100}\sqrt{p(p+1)/2}

    L is :func:`~dppca_nb.core.kendall.kendall_error_limit`, each matrix meets it once; the weights :math:`\sqrt 2`
    round each by :math:`2u = 2^{-52}`, because no Kendall matrix has a norm above 1; the grid, never coarser than
    :math:`2^{-100}`, moves each coordinate by half its spacing.

    Parameters
    ----------
    n, p : int
        Rows and variables.

    Returns
    -------
    float
        In units of the Kendall matrix. It depends on nothing private.

    Examples
    --------
    >>> rounding_slack(1000, 10) < 1e-7 * (2 * 2**0.5 / 1000)
    True
    """
    return 2 * (kendall_error_limit(n, p) + 2 * _UNIT) + 2.0**_COARSEST * math.sqrt(p * (p + 1) / 2)


def _opendp():
    """Import OpenDP, which takes long and comes with the extra alone; None if it is not there."""
    try:
        # Not its prelude, which would import scikit-learn too and take five times as long.
        from opendp import domains, measurements, metrics, mod
    except ImportError:
        return None
    mod.enable_features("contrib")
    return domains, measurements, metrics


def _drawn_by_opendp(values: list[float], sigma: float, k: int) -> list[float]:
    """Round to the grid, add noise and convert, all in OpenDP."""
    return _measurement(len(values), sigma, k)(values)


def _measurement(size: int, sigma: float, k: int):
    """Make OpenDP's Gaussian mechanism for vectors of this size on the grid 2**k."""
    domains, measurements, metrics = _opendp()
    vectors = domains.vector_domain(domains.atom_domain(T=float, nan=False), size)
    return measurements.make_gaussian(vectors, metrics.l2_distance(T=float), scale=sigma, k=k)


def _drawn_on_integers(values: list[float], sigma: float, k: int) -> list[float]:
    """Round to the grid, add noise and convert, all in integers: the quotient of two is rounded correctly."""
    steps = 1 << -k
    scale = _steps(sigma, steps)
    return [(_steps(value, steps) + discrete_gaussian(scale)) / steps for value in values]


def _steps(value: float, steps: int) -> int:
    """Count the steps of the grid to a number, rounded to the nearest."""
    numerator, denominator = value.as_integer_ratio()
    return (2 * numerator * steps + denominator) // (2 * denominator)


def discrete_gaussian(scale: int) -> int:
    r"""Draw a whole number x with probability proportional to :math:`\exp(-x^2/2s^2)`, exactly.

    Parameters
    ----------
    scale : int
        s, at least 1.

    Returns
    -------
    int

    References
    ----------
    Canonne, Kamath and Steinke (2020), Algorithms 1 to 3, arXiv:2004.00010.

    Examples
    --------
    >>> abs(discrete_gaussian(1)) < 40
    True
    """
    while True:
        x = _discrete_laplace(scale)
        # exp(-|x|/s) exp(-(|x| - s)^2 / 2s^2) is exp(-x^2/2s^2) up to a constant
        if _happens((abs(x) - scale) ** 2, 2 * scale**2):
            return x


def _discrete_laplace(scale: int) -> int:
    """Draw a whole number x with probability proportional to exp(-|x|/scale)."""
    while True:
        rest = secrets.randbelow(scale)
        if not _happens(rest, scale):
            continue
        whole = 0
        while _happens(1, 1):
            whole += 1
        x = rest + scale * whole
        if secrets.randbits(1):
            return x
        if x:  # or 0, which has no sign, would come twice as often
            return -x


def _happens(numerator: int, denominator: int) -> bool:
    """Toss a coin that shows True with probability exp(-numerator/denominator)."""
    while numerator > denominator:
        if not _happens(1, 1):
            return False
        numerator -= denominator
    # The chance that exactly the first k - 1 tosses of chances x, x/2, x/3, ... succeed, summed over odd k, is exp(-x).
    k = 1
    while secrets.randbelow(denominator * k) < numerator:
        k += 1
    return k % 2 == 1
