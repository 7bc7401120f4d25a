"""What was released: private directions, how they were made, and what follows from the noisy matrix at no cost."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pandas as pd

from dppca_nb.core.align import fix_signs
from dppca_nb.core.ledger_entry import LedgerEntry
from dppca_nb.core.privacy import Guarantee


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
    scale : tuple of float, length p, or None
        The PUBLIC scales that the columns were divided by, in column order; None if none were given. Scales of the
        sample are private and never kept.
    entries : tuple of LedgerEntry
        What the release cost, one for each draw that a ledger paid for.

    See Also
    --------
    dppca_nb.dp_loading : make one from data.
    release_from_noisy : make one from a matrix that already has its noise.

    Examples
    --------
    >>> from dppca_nb.core.privacy import Budget, make_guarantee
    >>> made = make_guarantee(Budget(2, 1e-4), 500, "analytic")
    >>> release = release_from_noisy(
    ...     np.diag([0.9, 0.1]), names=["a", "b"], guarantee=made, n=500, coincident="zero"
    ... )
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
    scale: tuple[float, ...] | None = None
    entries: tuple[LedgerEntry, ...] = ()

    @property
    def p(self) -> int:
        """Number of variables."""
        return len(self.loadings)

    def __repr__(self):
        g = self.guarantee
        state = "holds" if g.holds else "VOID: " + "; ".join(reason.brief for reason in g.reasons)
        beside = "" if self.reference is None else ", with a reference that is not private"
        paid = ""
        if self.entries:
            count = f"{len(self.entries)} entr{'y' if len(self.entries) == 1 else 'ies'}"
            paid = f", paid by the ledger {self.entries[0].name!r} ({count})"
        return (
            f"LoadingRelease(n={self.n}, p={self.p}, epsilon={g.epsilon:g}, delta={g.delta:g}, "
            f"calibration={g.calibration!r}, guarantee {state}{paid}{beside})"
        )


def release_from_noisy(
    noisy: np.ndarray,
    *,
    names,
    guarantee: Guarantee,
    n: int,
    coincident: str,
    reference: np.ndarray | None = None,
    scale: tuple[float, ...] | None = None,
    entries: tuple[LedgerEntry, ...] = (),
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
    scale : tuple of float, length p, optional
        The public scales.
    entries : tuple of LedgerEntry
        What it cost.

    Returns
    -------
    LoadingRelease
        Frozen.

    Examples
    --------
    >>> from dppca_nb.core.privacy import Budget, make_guarantee
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
        scale=scale,
        entries=entries,
    )


@lru_cache(maxsize=16)  # building an index of text costs pandas more than the eigenvectors of a small matrix do
def _labels(names: tuple[str, ...], title: str) -> pd.Index:
    """Return the named index of these labels."""
    return pd.Index(names, name=title)
