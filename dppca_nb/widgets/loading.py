"""`LoadingExplorer`: private loadings that move with the budget, the component pair and the plot type."""

from __future__ import annotations

import pandas as pd

from dppca_nb.charts.choices import check_choice
from dppca_nb.charts.loading import loading_chart
from dppca_nb.core.ledger import Ledger
from dppca_nb.core.privacy import Budget, check_calibration
from dppca_nb.core.release import LoadingRelease
from dppca_nb.table import DataError, LeftOut, as_table
from dppca_nb.widgets import frame
from dppca_nb.widgets.checks import described, refuse_unknown, titled, whole_number
from dppca_nb.widgets.handed_mode import Handed
from dppca_nb.widgets.loading_releases import LoadingReleases
from dppca_nb.widgets.release_mode import Releasing, check_release_settings, private_table
from dppca_nb.widgets.teaching_mode import Teaching
from dppca_nb.widgets.view import SettingError, bundled
from dppca_nb.widgets.words import empty


class LoadingExplorer(LoadingReleases):
    """Move the budget and watch the loadings: a Jupyter widget.

    **Without a ledger the explorer teaches**: the data are treated as public, the exact Kendall matrix is computed
    once, and one kept noise draw is shown at whatever budget the slider says. Nothing it shows is a private release.

    **With a ledger it releases**: until then every control moves a preview on simulated rows of the same size and
    names, and no private row takes part. `release`, or the button pressed twice, draws noise on the private rows once;
    from then on everything shown is made of that one release and costs nothing. It is kept beside the ledger: running
    the cell again, another view and another day show it again. It is found by the size, names and scales of the table,
    not by its rows. `top_up` buys more accuracy without losing what was paid.

    Parameters
    ----------
    data : DataFrame, array_like or anything `as_table` takes, shape (n, p); or LoadingRelease
        Columns that are not numeric are left out and listed in the view. Data that cannot be used are explained there;
        with a ledger without a word about their rows. A release is shown without its data, as it was handed over.
    ledger : Ledger, optional
        Pays for releases. Other explorers and programs may share it.
    scale : None, array_like, mapping or "sample"
        Public positive scales that the columns are divided by, as for `dp_loading`; "sample" only while teaching.
    coincident : {"zero", "raise"}
        Pairs of equal rows count as zero, or are refused ("raise": only while teaching).
    public_sample : DataFrame or array_like, optional
        Rows of the same variables that are public, to take the pattern of the preview from.
    title : str, optional
        Name of the data; by default ``data.attrs["title"]``. Where ``data.attrs["labels"]`` says in words what the
        columns mean, tooltips say it too.
    seed : int
        Names the sequence of noise draws or previews, so that a lesson can be repeated. No release follows from it.
    **settings
        Initial values of the settings below.

    Attributes
    ----------
    epsilon, delta : float
        The budget.
    components : tuple of int
        The pair of components, numbered from 1.
    kind : {"vector", "point", "heatmap"}
    variables : int, "all", or list of str and int
        How many variables, the longest first; or which.
    labels : bool
        Names in the picture; for a heatmap, values.
    calibration : {"classical", "analytic"}
        "analytic" by default with a ledger.
    show_reference : {"off", "beside", "underneath"}
        Where ordinary principal directions stand; True and False mean "beside" and "off". Only while teaching.
    uncertainty : {"off", "ellipses", "cloud"}
        How far other noise draws would move things; in a heatmap, cells without a certain sign are faded.
    draw : int
        Number of the noise draw, or of the simulated data.
    pattern : {"gentle", "steep", "flat", "sample"}
        How fast simulated variances fall, or "sample" for the public sample. Only with a ledger.
    noise_shown : None or float
        After a release: a smaller epsilon to show it at.
    top_up_to : None or float
        After a release: the larger epsilon that the button offers.

    Raises
    ------
    SettingError
        A ``ValueError``: a setting is not one of the above. The view says so too, and keeps its last picture.

    See Also
    --------
    dp_loading : one private release without a widget.
    Ledger : what was spent, and what is left.
    loading_chart : the same pictures as plain Altair charts.

    References
    ----------
    Kim and Jung (2025), doi 10.1002/sam.70053.

    Examples
    --------
    >>> from dppca_nb import LoadingExplorer, datasets
    >>> explorer = LoadingExplorer(datasets.usarrests(), epsilon=10, scale=[4, 80, 15, 9])
    >>> explorer.kind = "point"
    >>> explorer
    LoadingExplorer('US arrests 1973', epsilon=10, delta=1e-06, classical, draw 0, point, PC1 × PC2, 4 of 4 variables, \
reference beside, teaching)
    >>> explorer.loadings.shape
    (4, 4)
    >>> explorer.close()
    """

    _esm = bundled("explorer.bundle.js")

    def __init__(
        self,
        data: object,
        *,
        ledger: Ledger | None = None,
        scale: object = None,
        coincident: str = "zero",
        public_sample: object = None,
        title: str | None = None,
        seed: int = 0,
        **settings: object,
    ):
        refuse_unknown(settings, self._settings)
        paid = data.entries[0].name if isinstance(data, LoadingRelease) and data.entries else None
        self.title = titled(data, title or paid, "Loading explorer")
        self._about = described(data)
        self._made = {"title": self.title}
        self._mode, self._left_out, self._nothing = None, (), None
        try:  # before the data are read
            seed = whole_number("seed", seed)
            check_choice("coincident", coincident, ("zero", "raise"))
            Budget(settings.get("epsilon", 0.5), settings.get("delta", 1e-6))
            check_calibration(settings.get("calibration", "classical"))
            check_release_settings(ledger, scale, coincident, public_sample)
        except (TypeError, ValueError) as error:
            raise SettingError(str(error)) from None
        try:
            self._start(data, ledger, scale, coincident, public_sample, seed)
        except DataError as error:
            self._nothing = empty(None, str(error))
        if isinstance(self._mode, Handed):
            self._mode.wanted = settings.get("epsilon")
            defaults = {"calibration": "analytic", "show_reference": "off", "uncertainty": "ellipses"}
            settings = {**defaults, **({} if public_sample is None else {"pattern": "sample"}), **settings}
        super().__init__(_view="loading", **settings)

    def _start(self, data, ledger, scale, coincident, public_sample, seed) -> None:
        """Read the data and choose the mode."""
        if isinstance(data, LoadingRelease):
            if data.p < 2:
                raise DataError("The release has 1 variable; a pair of components needs at least 2.")
            self._mode = Handed(data)
            return
        table = as_table(data, numeric_only=True) if ledger is None else private_table(data)
        self._left_out = table.left_out
        if table.p < 2:
            self._nothing = empty(table, None)
            return
        if ledger is None:
            self._mode = Teaching(table, scale=scale, coincident=coincident, seed=seed)
            self._made |= {"seed": seed, "coincident": coincident}
        else:
            sample = None if public_sample is None else as_table(public_sample, numeric_only=True)
            self._mode = Releasing(table, ledger, scale=scale, sample=sample, seed=seed)
            self._made |= {"seed": seed}
        self._made["scale"] = frame.plain_scale(scale, table)

    # ----- what is shown -----

    @property
    def loadings(self) -> pd.DataFrame:
        """Loadings shown, p × p."""
        return self.result.loadings

    @property
    def left_out(self) -> tuple[LeftOut, ...]:
        """Columns that are no variables, with the reasons."""
        return self._left_out

    @property
    def chart(self) -> object:
        """The picture as a plain Altair chart."""
        spread = None if self.uncertainty == "off" else self._redraws()
        return loading_chart(self.result, **self._picture_settings(), spread=spread)

    def new_draw(self) -> None:
        """Draw new noise, as the button does; in release mode, simulate anew."""
        self.draw += 1

    def __repr__(self) -> str:
        if self._release is None:
            return f"LoadingExplorer({self.title!r}, nothing to draw: {self._why_nothing()})"
        g, shown = self._release.guarantee, len(self._chosen())
        axes = " × ".join(f"PC{c}" for c in self.components)
        made = f"epsilon={g.epsilon:g}, delta={g.delta:g}, {g.calibration}"
        draw = "" if self._mode.released else f", draw {self.draw}"
        return (
            f"LoadingExplorer({self.title!r}, {made}{draw}, {self.kind}, {axes}, {shown} of {self._mode.p} variables, "
            f"reference {self.show_reference}, {self._mode.said})"
        )
