"""Settings of the explorer of Gini components: traits, and one check for each."""

from __future__ import annotations

import math
import numbers

import numpy as np
import traitlets

from dppca_nb.charts.choices import REFERENCES, check_components, check_truth
from dppca_nb.charts.correlation import check_size
from dppca_nb.core.gini import check_nu
from dppca_nb.table import Table
from dppca_nb.widgets.checks import choice, plain_variables, whole_number
from dppca_nb.widgets.view import LiveView, Setting

KINDS = ("scores", "vector", "circle", "contributions", "shares", "correlations")
LARGEST_THETA = 1e6


class GiniSettings(LiveView):
    """A live view of Gini components with validated settings; the checks are those of `gini_pca` and the charts."""

    _table: Table | None

    # ----- how the components are computed -----
    nu = Setting(2.0)
    row = Setting(0)
    theta = Setting(1.0)
    # ----- how they are shown -----
    kind = Setting("scores")
    components = Setting((1, 2))
    variables = Setting(10)
    labels = Setting(True)
    show_reference = Setting("beside")

    _settings = ("nu", "row", "theta", "kind", "components", "variables", "labels", "show_reference")

    @property
    def _drawable(self) -> bool:
        """Whether there are two components to draw."""
        return self._table is not None and self._table.p > 1

    # ----- validation: one check each, the same as everywhere -----

    @traitlets.validate("nu")
    def _valid_nu(self, proposal: dict) -> float:
        return self._accept(check_nu, proposal["value"])

    @traitlets.validate("row")
    def _valid_row(self, proposal: dict) -> int:
        return self._accept(self._check_row, proposal["value"])

    @traitlets.validate("theta")
    def _valid_theta(self, proposal: dict) -> float:
        return self._accept(check_theta, proposal["value"])

    @traitlets.validate("kind")
    def _valid_kind(self, proposal: dict) -> str:
        return self._accept(self._check_kind, proposal["value"])

    @traitlets.validate("components")
    def _valid_components(self, proposal: dict) -> tuple[int, ...]:
        if not self._drawable:
            return (1, 2)
        most = min(self._table.n, self._table.p)  # as many as ordinary components, which stand beside them
        return self._accept(lambda value: check_components(value, most, pair=True), proposal["value"])

    @traitlets.validate("variables")
    def _valid_variables(self, proposal: dict) -> object:
        if not self._drawable:
            return proposal["value"]
        lengths = np.zeros((self._table.p, 2))  # which are the longest does not matter for the check
        return self._accept(plain_variables, proposal["value"], lengths, self._table.names)

    @traitlets.validate("labels")
    def _valid_labels(self, proposal: dict) -> bool:
        return self._accept(check_truth, "labels", proposal["value"])

    @traitlets.validate("show_reference")
    def _valid_reference(self, proposal: dict) -> str:
        value = proposal["value"]
        if isinstance(value, bool):
            value = "beside" if value else "off"
        return self._accept(choice, "show_reference", value, REFERENCES)

    def _check_kind(self, value: object) -> str:
        kind = choice("kind", value, KINDS)
        if self._drawable and kind == "correlations":
            check_size(self._table.p)
        return kind

    def _check_row(self, value: object) -> int:
        row = whole_number("row", value)
        if self._drawable and row >= self._table.n:
            raise ValueError(f"row must be between 0 and {self._table.n - 1}, a position in the table; got {row}.")
        return row


def check_theta(value: object) -> float:
    """Check by what a row is multiplied: 1 leaves it as it is."""
    real = isinstance(value, numbers.Real) and not isinstance(value, bool | np.bool_)
    if not real or not math.isfinite(value) or not 1 <= abs(value) <= LARGEST_THETA:
        raise ValueError(f"theta must be a number of magnitude 1 to {LARGEST_THETA:g}; got {value!r}.")
    return float(value)
