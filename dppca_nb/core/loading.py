"""Private principal directions: from data to a release."""

from __future__ import annotations

import warnings

import numpy as np
from scipy.linalg import null_space

from dppca_nb._scales import public_scales
from dppca_nb.core.align import fix_signs
from dppca_nb.core.hardened import noise_source, rounding_slack
from dppca_nb.core.ledger import Ledger
from dppca_nb.core.mechanism import check_chargeable, noisy_kendall
from dppca_nb.core.pca import pca
from dppca_nb.core.privacy import (
    GENERATOR,
    Budget,
    Reason,
    as_generator,
    check_calibration,
    large_delta,
    make_guarantee,
)
from dppca_nb.core.release import LoadingRelease, release_from_noisy
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
        Leave it out for fresh, hardened noise (:func:`dppca_nb.core.hardened.hardened_noise`). Anything else gives
        noise in double precision and voids the guarantee.
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
    generator, reasons = None, ()
    if rng is not None:
        generator, seeded = as_generator(rng)
        reasons = (seeded,)
    if ledger is not None:
        # The same for every n and all rows, and said before a row is read: "raise" would tell something about them.
        sample = (SAMPLE_SCALE,) if isinstance(scale, str) and scale == "sample" else ()
        early = make_guarantee(budget, 2, calibration, reasons=(*sample, *reasons), coincident=coincident)
        check_chargeable(ledger, early)
        if reference:
            raise ValueError(
                "reference must be False with a ledger: ordinary directions are computed without noise. Nothing was "
                "charged. Leave it out, or make the reference by itself with pca."
            )

    table = as_table(data)
    given = None if scale is None or isinstance(scale, str) else tuple(public_scales(table, scale).tolist())
    table, from_sample = scale_table(table, scale)
    scaling = [_EQUAL_SCALE] if from_sample and given else [SAMPLE_SCALE] * table.sample_scaled
    if budget.delta * table.n >= 1:
        warnings.warn(large_delta(budget, table.n), UserWarning, stacklevel=2)
    guarantee = make_guarantee(
        budget,
        table.n,
        calibration,
        reasons=(*scaling, *reasons),
        caveats=(_REFERENCE,) if reference else (),
        coincident=coincident,
        slack=rounding_slack(table.n, table.p) if generator is None else 0.0,
        randomness=noise_source() if generator is None else GENERATOR,
    )
    drawn = noisy_kendall(table, guarantee=guarantee, coincident=coincident, generator=generator, ledger=ledger)
    return release_from_noisy(
        drawn.matrix,
        names=table.names,
        guarantee=guarantee,
        n=table.n,
        coincident=coincident,
        reference=reference_directions(table) if reference else None,
        scale=None if from_sample else given,
        entries=(drawn.entry,) if drawn.entry else (),
    )


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
