"""Settings of the explorer of Gini components: traits, and one check for each."""

from __future__ import annotations

import math
import numbers

import numpy as np
import traitlets

from dppca_nb.charts.choices import REFERENCES
from dppca_nb.charts.correlation import check_size
from dppca_nb.core.gini import check_nu
from dppca_nb.widgets.checks import choice, whole_number
from dppca_nb.widgets.plain import PlainView
from dppca_nb.widgets.view import Setting

KINDS = ("scores", "vector", "circle", "contributions", "shares", "correlations")
LARGEST_THETA = 1e6


class GiniSettings(PlainView):
    """A live view of Gini components with validated settings; the checks are those of `gini_pca` and the charts."""

    # ----- how the components are computed -----
    nu = Setting(2.0)
    row = Setting(0)
    theta = Setting(1.0)
    # ----- how they are shown -----
    kind = Setting("scores")
    show_reference = Setting("beside")

    _settings = ("nu", "row", "theta", "kind", "components", "variables", "labels", "show_reference")

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
