"""What a release guarantees, why it may not, and what it does not cover: in numbers and in words."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass

GENERATOR = "numpy generator, double precision"
_WIDTH = 96  # characters of a line of the summary


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

    Neighbouring data sets differ in one row; n is public.

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
        ``(sensitivity + slack) / sigma``: the release is mu-Gaussian differentially private.
    exact_delta : float
        The delta that this noise gives at the stated epsilon.
    exact_epsilon : float
        The epsilon that this noise gives at the stated delta; 0 where delta alone covers it.
    reasons : tuple of Reason
        Why the guarantee does not hold; empty if it holds.
    caveats : tuple of str
        What it does not cover even though it holds.
    coincident : {"zero", "raise"}
        How pairs of equal rows are treated: they count as zero, or make an error instead of a release.
    slack : float
        What rounding may add to the distance between the matrices of neighbours, in the units of `sensitivity`; 0
        where it is not covered.
    randomness : str
        Where the noise comes from.

    See Also
    --------
    dppca_nb.core.privacy.make_guarantee : build one, with the calibration check done.

    Examples
    --------
    >>> from dppca_nb.core.privacy import Budget, make_guarantee
    >>> made = make_guarantee(Budget(0.5, 1e-6), n=1000)
    >>> made.holds, round(made.exact_epsilon, 3)
    (True, 0.258)
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
    coincident: str = "zero"
    slack: float = 0.0
    randomness: str = GENERATOR

    @property
    def hardened(self) -> bool:
        """True if the noise is an exact discrete Gaussian and `slack` covers the rounding."""
        return self.slack > 0

    @property
    def rho(self) -> float:
        """``mu**2 / 2``: the release is rho-zero-concentrated differentially private."""
        return self.mu**2 / 2

    @property
    def holds(self) -> bool:
        """True if nothing is known that breaks the stated guarantee."""
        return not self.reasons

    def summary(self) -> str:
        """Tell in plain words what is guaranteed, and every reason and caveat.

        Returns
        -------
        str
            Lines of at most 96 characters; what continues a line is indented.

        Examples
        --------
        >>> from dppca_nb.core.privacy import Budget, make_guarantee
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
        equal_rows = "; coincident pairs of rows count as zero" * (self.coincident == "zero")
        bound = ", computed with the bound 4/n on the sensitivity" * (self.calibration == "classical")
        lines += [
            "Neighbouring data sets differ in one replaced row; the number of rows, "
            f"n = {self.n}, is public{equal_rows}.",
            f"Noise: {self.calibration} calibration, sigma {self.sigma:.4g}{bound}; attained sensitivity 2*sqrt(2)/n = "
            f"{self.sensitivity:.4g}, mu {self.mu:.4g}.",
        ]
        if self.hardened:
            lines.append(
                f"Hardened noise ({self.randomness}): rho {self.rho:.4g} (zCDP); "
                f"{self.slack:.2g} for rounding is added to the sensitivity."
            )
        if self.caveats:
            lines += ["What it does not cover:", *(f"  - {caveat}" for caveat in self.caveats)]
        return "\n".join(map(_wrapped, lines))

    def __str__(self):
        return self.summary()


def _wrapped(line: str) -> str:
    """Break a long line between words; what continues it hangs under its text."""
    hang = " " * (re.match(r" +(\d+\.|-) |", line).end() or 2)
    # Neither DOIs nor numbers such as 1e-06 may be broken: they are copied.
    return textwrap.fill(line, _WIDTH, subsequent_indent=hang, break_long_words=False, break_on_hyphens=False)
