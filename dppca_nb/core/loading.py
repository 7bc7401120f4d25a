"""Private principal directions: the spherical Kendall matrix, noise, and what follows from the noisy matrix."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pandas as pd
from scipy.linalg import null_space

from dppca_nb.core.align import fix_signs
from dppca_nb.core.kendall import spherical_kendall
from dppca_nb.core.ledger import Ledger
from dppca_nb.core.pca import pca
from dppca_nb.core.privacy import (
    Budget,
    Guarantee,
    Reason,
    as_generator,
    check_calibration,
    large_delta,
    make_guarantee,
    standard_noise,
)
from dppca_nb.table import as_table, scale_table

SAMPLE_SCALE = Reason(
    "columns were scaled by their own standard deviations",
    "The columns were divided by standard deviations computed from these very rows. A single row can change those, "
    "and with them every other row, which the noise does not cover. Give public scales instead.",
)
_EQUAL_SCALE = Reason(
    "scales equal the columns' own standard deviations",
    "The given scales equal the sample's: the standard deviations of these very rows. A single row can change those, "
    "and with them every other row, which the noise does not cover. Give public scales, known without the rows, "
    "instead.",
)
_REFERENCE = (
    "The result also holds reference directions computed without noise. They are not private: with them this is no "
    "private-only release. Leave reference out before you pass it on."
)


@dataclass(frozen=True, eq=False, repr=False)
class LoadingRelease:
    """Private directions and how they were made.

    Everything but `reference` is a function of the noisy matrix and of public facts.

    Parameters
    ----------
    loadings : DataFrame, shape (p, p)
        Private directions in columns ("PC1", "PC2", ...), by decreasing share; the index is named "variable", the
        columns "component". Unit length, no unit, the entry of largest magnitude positive.
    noisy_kendall : DataFrame, shape (p, p)
        The Kendall matrix with its noise: this is what was released.
    kendall_shares : Series, length p
        Eigenvalues of the noisy matrix, decreasing. They may be negative, and they are not variances.
    guarantee : Guarantee
        What the noise gives, every reason why it does not hold, and what it does not cover.
    n : int
        Number of rows, public.
    coincident : {"raise", "zero"}
        How pairs of equal rows were treated.
    reference : DataFrame, shape (p, p), or None
        Ordinary principal directions of the sample covariance. NOT private: present only where it was asked for, and
        then the object as a whole must not be passed on as a private result.

    See Also
    --------
    dp_loading : make one from data.
    release_from_noisy : make one from a matrix that already has its noise.

    Examples
    --------
    >>> rows = np.random.default_rng(0).normal(size=(500, 2)) * [3, 1]
    >>> release = dp_loading(rows, epsilon=2, delta=1e-4)
    >>> list(release.loadings), release.kendall_shares.index.name, release.reference is None
    (['PC1', 'PC2'], 'component', True)
    """

    loadings: pd.DataFrame
    noisy_kendall: pd.DataFrame
    kendall_shares: pd.Series
    guarantee: Guarantee
    n: int
    coincident: str
    reference: pd.DataFrame | None = None

    @property
    def p(self) -> int:
        """Number of variables."""
        return len(self.loadings)

    def __repr__(self):
        g = self.guarantee
        state = "holds" if g.holds else "VOID: " + "; ".join(reason.brief for reason in g.reasons)
        beside = "" if self.reference is None else ", with a reference that is not private"
        return (
            f"LoadingRelease(n={self.n}, p={self.p}, epsilon={g.epsilon:g}, delta={g.delta:g}, "
            f"calibration={g.calibration!r}, guarantee {state}{beside})"
        )


def dp_loading(
    data,
    *,
    epsilon: float,
    delta: float,
    calibration: str = "classical",
    coincident: str = "zero",
    scale=None,
    rng=None,
    reference: bool = False,
    ledger: Ledger | None = None,
) -> LoadingRelease:
    r"""Release principal directions under (epsilon, delta)-differential privacy.

    Gaussian noise is added to the spherical Kendall matrix
    :math:`K = \frac{2}{n(n-1)}\sum_{i<j} d_{ij}d_{ij}^\top/\lVert d_{ij}\rVert^2`, :math:`d_{ij} = x_i - x_j`, and the
    directions are the eigenvectors of the sum. Neighbouring data sets differ in one row; n is public. Centring is not
    needed: K is made of differences.

    Parameters
    ----------
    data : Table, DataFrame or array_like, shape (n, p)
        Numeric columns, at least 2 rows, no missing values.
    epsilon, delta : float
        The budget: epsilon finite and above 0, delta strictly between 0 and 1 and well below 1/n.
    calibration : {"classical", "analytic"}
        How the noise follows from the budget, see :func:`dppca_nb.core.privacy.calibrate`.
    coincident : {"zero", "raise"}
        What to do with pairs of equal rows: let them count as zero with the divisor unchanged, or refuse them. "raise"
        voids the guarantee: whether the error appears depends on private rows.
    scale : None, array_like, mapping or "sample"
        Public positive scales that the columns are divided by. "sample" takes standard deviations from the rows and
        voids the guarantee; so do numbers that equal them, and a Table that was scaled by them before.
    rng : None, int, SeedSequence, BitGenerator or Generator
        Leave it out for fresh noise. Anything else voids the guarantee.
    reference : bool
        Also compute ordinary principal directions, which are not private.
    ledger : Ledger, optional
        Where the release is paid for, after everything else was checked and before noise is drawn. With a ledger only
        what is private is released: whatever would void the guarantee is refused, and so is a reference.

    Returns
    -------
    LoadingRelease
        Frozen.

    Raises
    ------
    TypeError, ValueError
        For a bad budget, calibration, coincident, rng or ledger, before the data are looked at; with a ledger also for
        settings that void the guarantee, and for a Table or scales that do. Nothing is charged.
    BudgetError
        If more would be spent than the ledger has left. Nothing is charged, no noise is drawn.
    DataError
        For data or scales that cannot be used, and for coincident rows with ``coincident="raise"``.

    Warns
    -----
    UserWarning
        If delta is not below 1/n.

    References
    ----------
    Kim and Jung (2025), Robust and differentially private principal component analysis, doi 10.1002/sam.70053.

    Examples
    --------
    >>> rows = np.random.default_rng(1).normal(size=(400, 3)) * [3, 2, 1]
    >>> release = dp_loading(rows, epsilon=1, delta=1e-4, calibration="analytic")
    >>> release
    LoadingRelease(n=400, p=3, epsilon=1, delta=0.0001, calibration='analytic', guarantee holds)
    >>> release.loadings.shape
    (3, 3)
    """
    budget = Budget(epsilon, delta)
    check_calibration(calibration)
    if not (isinstance(coincident, str) and coincident in ("raise", "zero")):
        raise ValueError(f'coincident must be "raise" or "zero"; got {coincident!r}. Choose one of the two.')
    generator, seeded = as_generator(rng)
    reasons = (seeded,) if seeded else ()
    if ledger is not None:
        # The same for every n and all rows, and said before a row is read: "raise" would tell something about them.
        sample = (SAMPLE_SCALE,) if isinstance(scale, str) and scale == "sample" else ()
        early = make_guarantee(budget, 2, calibration, reasons=(*sample, *reasons), coincident=coincident)
        _check_chargeable(ledger, early, reference)

    table, from_sample = scale_table(as_table(data), scale)
    scaling = [_EQUAL_SCALE] if from_sample and not isinstance(scale, str) else [SAMPLE_SCALE] * table.sample_scaled
    if budget.delta * table.n >= 1:
        warnings.warn(large_delta(budget, table.n), UserWarning, stacklevel=2)
    kendall = spherical_kendall(table, coincident=coincident)
    guarantee = make_guarantee(
        budget,
        table.n,
        calibration,
        reasons=(*scaling, *reasons),
        caveats=(_REFERENCE,) if reference else (),
        coincident=coincident,
    )
    if ledger is not None:
        _check_chargeable(ledger, guarantee, reference)  # once more: now the scales are known
        ledger.charge(
            "spherical Kendall matrix",
            n=table.n,
            sensitivity=guarantee.sensitivity,
            sigma=guarantee.sigma,
            calibration=calibration,
            randomness="numpy PCG64, seeded by the operating system",
        )
    return release_from_noisy(
        kendall.matrix.to_numpy() + guarantee.sigma * standard_noise(table.p, generator),
        names=table.names,
        guarantee=guarantee,
        n=table.n,
        coincident=coincident,
        reference=reference_directions(table) if reference else None,
    )


def _check_chargeable(ledger: Ledger, guarantee: Guarantee, reference: bool) -> None:
    """Refuse to spend on a release that would not be private."""
    if not isinstance(ledger, Ledger):
        raise TypeError(
            f"ledger must be a Ledger or None; got {type(ledger).__name__}. Make one: Ledger(epsilon=1, delta=1e-6)."
        )
    if not guarantee.holds:
        why = " ".join(reason.text for reason in guarantee.reasons)
        raise ValueError(f"A ledger pays for releases whose guarantee holds, so nothing was charged. {why}")
    if reference:
        raise ValueError(
            "reference must be False with a ledger: ordinary directions are computed without noise. Nothing was "
            "charged. Leave it out, or make the reference by itself with pca."
        )


def release_from_noisy(
    noisy: np.ndarray,
    *,
    names,
    guarantee: Guarantee,
    n: int,
    coincident: str,
    reference: np.ndarray | None = None,
) -> LoadingRelease:
    """Follow a noisy Kendall matrix to its directions: free post-processing, no data and no randomness.

    Parameters
    ----------
    noisy : ndarray, shape (p, p)
        Symmetric, with its noise.
    names : sequence of str, length p
        The variables.
    guarantee : Guarantee
        What the noise gives.
    n : int
        Number of rows.
    coincident : {"raise", "zero"}
        How pairs of equal rows were treated.
    reference : ndarray, shape (p, p), optional
        Directions to carry along that are not private.

    Returns
    -------
    LoadingRelease
        Frozen.

    Examples
    --------
    >>> from dppca_nb.core.privacy import make_guarantee
    >>> made = make_guarantee(Budget(1, 1e-6), 100, "analytic")
    >>> release_from_noisy(
    ...     np.diag([0.2, 0.8]), names=["a", "b"], guarantee=made, n=100, coincident="zero"
    ... ).loadings
    component  PC1  PC2
    variable
    a          0.0  1.0
    b          1.0  0.0
    """
    shares, V = np.linalg.eigh(np.ascontiguousarray(noisy))
    # Views, because whoever renames the index of one release must not rename that of the next.
    variables = _labels(tuple(names), "variable").view()
    components = _labels(tuple(f"PC{i}" for i in range(1, len(shares) + 1)), "component").view()
    return LoadingRelease(
        loadings=pd.DataFrame(fix_signs(V[:, ::-1]), index=variables, columns=components),
        noisy_kendall=pd.DataFrame(noisy, index=variables, columns=variables, copy=True),
        kendall_shares=pd.Series(shares[::-1], index=components, name="kendall_share", copy=True),
        guarantee=guarantee,
        n=int(n),
        coincident=coincident,
        reference=None if reference is None else pd.DataFrame(reference, index=variables, columns=components),
    )


@lru_cache(maxsize=16)  # building an index of text costs pandas more than the eigenvectors of a small matrix do
def _labels(names: tuple[str, ...], title: str) -> pd.Index:
    """Return the named index of these labels."""
    return pd.Index(names, name=title)


def reference_directions(data) -> np.ndarray:
    """Ordinary principal directions of all p variables, by :func:`dppca_nb.core.pca.pca`. Not private.

    Parameters
    ----------
    data : Table, DataFrame or array_like, shape (n, p)
        Numbers, at least 2 rows.

    Returns
    -------
    ndarray, shape (p, p)
        By decreasing variance, signs fixed. With p > n - 1 the last columns are any basis of what is left.

    Examples
    --------
    >>> reference_directions(np.array([[1.0, 1.0], [6.0, 13.0]])).round(4)
    array([[ 0.3846,  0.9231],
           [ 0.9231, -0.3846]])
    """
    V = pca(data).directions.to_numpy()
    p, k = V.shape
    return V if k == p else np.hstack([V, fix_signs(null_space(V.T))])
