"""What was released: private directions, how they were made, and what follows from the noisy matrix at no cost."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pandas as pd

from dppca_nb.core.align import fix_signs
from dppca_nb.core.ledger import Ledger
from dppca_nb.core.ledger_entry import LedgerEntry
from dppca_nb.core.privacy import Guarantee
from dppca_nb.core.release_file import read_release, release_text, write_release
from dppca_nb.core.top_up import lower, top_up
from dppca_nb.core.uncertainty import LoadingUncertainty, each_unit_noise, redraw


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

    def topped_up(self, data, *, epsilon: float, ledger: Ledger) -> LoadingRelease:
        r"""Draw noise on the same rows once more, and average: nothing is lost over one release at the larger epsilon.

        The draw costs :math:`\mu_2 = \sqrt{\mu^2 - \mu_1^2}`, from the :math:`\mu_1` of this release to the
        :math:`\mu` of epsilon. With weights :math:`1/\sigma^2` the average is as noisy as one analytic release.

        Parameters
        ----------
        data : Table, DataFrame or array_like, shape (n, p)
            The rows of this release in the same units: they are divided by the same public scales.
        epsilon : float
            Of both draws together, at the delta of this release; above what this release gives exactly.
        ledger : Ledger
            The one that paid for this release.

        Returns
        -------
        LoadingRelease
            With the guarantee of one release at epsilon, and the entries of all its draws.

        Raises
        ------
        TypeError, ValueError
            Before the data are looked at: for an epsilon that is not above what there is, another ledger, a release
            whose guarantee is void, that was lowered, or that holds a reference. Nothing is charged.
        DataError
            For data that cannot be used, or have other variables or another number of rows. Nothing is charged.
        BudgetError
            If it costs more than the ledger has left. Nothing is charged, no noise is drawn.

        Examples
        --------
        >>> from dppca_nb import Ledger, dp_loading
        >>> rows, ledger = np.random.default_rng(0).normal(size=(500, 3)), Ledger(1, 1e-6)
        >>> first = dp_loading(rows, epsilon=0.3, delta=1e-6, calibration="analytic", ledger=ledger)
        >>> both = first.topped_up(rows, epsilon=0.5, ledger=ledger)
        >>> both.guarantee.epsilon, len(both.entries), round(ledger.spent, 6)
        (0.5, 2, 0.5)
        """
        parts = self._parts("topped up")
        return self._changed(parts, top_up(**parts, data=data, epsilon=epsilon, ledger=ledger))

    def lowered(self, epsilon: float) -> LoadingRelease:
        r"""Add noise until a smaller epsilon is met, to pass on less than you have. It is free: no data take part.

        The noise has the variance :math:`\sigma^2 - \sigma_1^2` and is fresh at every call: several lowered releases
        together give more than each, never more than this one.

        Parameters
        ----------
        epsilon : float
            Below what this release gives exactly, at the same delta.

        Returns
        -------
        LoadingRelease
            With the guarantee of one analytic release at epsilon, a caveat about the one it came from, and the entries
            of that one. A void guarantee stays void.

        Raises
        ------
        TypeError, ValueError
            For an epsilon that is none or not below what there is, and for a release that holds a reference.

        Examples
        --------
        >>> from dppca_nb import dp_loading
        >>> rows = np.random.default_rng(0).normal(size=(500, 3))
        >>> release = dp_loading(rows, epsilon=0.5, delta=1e-6, calibration="analytic")
        >>> release.lowered(0.3).guarantee.epsilon
        0.3
        """
        parts = self._parts("lowered")
        return self._changed(parts, lower(parts["noisy"], guarantee=self.guarantee, epsilon=epsilon))

    def uncertainty(self, draws: int = 200, *, leading: int | None = None) -> LoadingUncertainty:
        """Draw as much noise again on top: how far it moves loadings. Free, the same every time, no sampling error.

        Parameters
        ----------
        draws : int
            How many redraws, from 2 to 10,000.
        leading : int, optional
            How many components, from the first; all if left out.

        Returns
        -------
        LoadingUncertainty

        Examples
        --------
        >>> from dppca_nb import dp_loading
        >>> dp_loading([[1, 2], [3, 1], [0, 5]], epsilon=0.5, delta=1e-6).uncertainty(50)
        LoadingUncertainty(50 redraws of the noise, p=2, 2 components, 90 % intervals; not sampling error)
        """
        units = each_unit_noise(self.p, draws)
        return redraw(self.noisy_kendall, self.guarantee.sigma, self.loadings, units, leading=leading)

    def save(self, path, *, overwrite: bool = False) -> None:
        """Keep it in a file that people can read: matrix, names, guarantee, public scales, what was paid; never data.

        Parameters
        ----------
        path : str or Path
            In a folder that exists. Whoever has the file has the release.
        overwrite : bool
            Whether a file that is there may be replaced.

        Raises
        ------
        ValueError
            If a file is there or cannot be written, and for a release that holds a reference.

        Examples
        --------
        >>> import tempfile, pathlib
        >>> from dppca_nb import dp_loading
        >>> release = dp_loading([[1, 2], [3, 1], [0, 5]], epsilon=0.5, delta=1e-6)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     release.save(pathlib.Path(folder) / "release.json")
        ...     again = LoadingRelease.load(pathlib.Path(folder) / "release.json")
        >>> again.loadings.equals(release.loadings), again.guarantee == release.guarantee
        (True, True)
        """
        write_release(path, release_text(**self._parts("saved")), overwrite=overwrite)

    @staticmethod
    def load(path) -> LoadingRelease:
        """Read a release that was saved; its directions are computed from the matrix again.

        Parameters
        ----------
        path : str or Path
            Of a file that `save` wrote.

        Returns
        -------
        LoadingRelease
            Equal to the one that was saved.

        Raises
        ------
        ValueError
            Saying what is missing, impossible or at odds with the rest. That finds damage, not a careful forgery.

        Examples
        --------
        >>> LoadingRelease.load("no such release.json")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        dppca_nb.core.release_json.ReleaseFileError: The release file "no such release.json" cannot be read (...
        """
        parts = read_release(path)
        return release_from_noisy(**parts, n=parts["guarantee"].n, coincident=parts["guarantee"].coincident)

    def _parts(self, purpose: str) -> dict:
        """Return all that a release is made of, unless it holds directions without noise."""
        if self.reference is not None:
            raise ValueError(
                f"A release with a reference cannot be {purpose}: its reference was computed without noise. Leave it "
                "out with dataclasses.replace(release, reference=None)."
            )
        return {
            "noisy": self.noisy_kendall.to_numpy(),
            "names": tuple(self.noisy_kendall.index),
            "guarantee": self.guarantee,
            "scale": self.scale,
            "entries": self.entries,
        }

    def _changed(self, parts: dict, changed: dict) -> LoadingRelease:
        """Return a release of the same rows with another noise."""
        return release_from_noisy(**(parts | changed), n=self.n, coincident=self.coincident)

    def __repr__(self):
        g = self.guarantee
        state = "holds" if g.holds else "VOID: " + "; ".join(reason.brief for reason in g.reasons)
        beside = "" if self.reference is None else ", with a reference that is not private"
        paid = ""
        if self.entries:
            count = f"{len(self.entries)} entr{'y' if len(self.entries) == 1 else 'ies'}"
            how = "paid by" if sum(entry.mu**2 for entry in self.entries) < 1.0001 * g.mu**2 else "lowered from what"
            paid = f", {how} the ledger {self.entries[0].name!r}{' paid' * (how != 'paid by')} ({count})"
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
    guarantee, n, coincident, scale, entries
        As in :class:`LoadingRelease`.
    reference : ndarray, shape (p, p), optional
        Directions to carry along that are not private.

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
