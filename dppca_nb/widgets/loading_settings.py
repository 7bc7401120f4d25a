"""Settings of the loading explorer: traits that code, other widgets and the browser may set, and one check for each."""

from __future__ import annotations

import traitlets

from dppca_nb.charts.choices import (
    KINDS,
    REFERENCES,
    check_components,
    check_truth,
)
from dppca_nb.core.privacy import Budget, check_calibration
from dppca_nb.core.teaching import TeachingDraws
from dppca_nb.table import Table
from dppca_nb.widgets.checks import choice, plain_variables, whole_number
from dppca_nb.widgets.view import LiveView, Setting


class LoadingSettings(LiveView):
    """A live view of loadings with validated settings; the checks are those of the functions that use the values."""

    _table: Table | None
    _draws: TeachingDraws | None  # None where there is nothing to draw

    # ----- what is drawn from data -----
    epsilon = Setting(0.5)
    delta = Setting(1e-6)
    calibration = Setting("classical")
    draw = Setting(0)
    # ----- how it is shown -----
    kind = Setting("vector")
    components = Setting((1, 2))
    variables = Setting(10)
    labels = Setting(True)
    show_reference = Setting("beside")

    _settings = (
        "epsilon", "delta", "calibration", "draw", "kind", "components", "variables", "labels", "show_reference",
    )  # fmt: skip

    # ----- validation: one check each, the same as everywhere -----

    @traitlets.validate("epsilon")
    def _valid_epsilon(self, proposal: dict) -> float:
        return self._accept(lambda value: Budget(value, 0.5).epsilon, proposal["value"])

    @traitlets.validate("delta")
    def _valid_delta(self, proposal: dict) -> float:
        return self._accept(lambda value: Budget(1.0, value).delta, proposal["value"])

    @traitlets.validate("calibration")
    def _valid_calibration(self, proposal: dict) -> str:
        return self._accept(check_calibration, proposal["value"])

    @traitlets.validate("draw")
    def _valid_draw(self, proposal: dict) -> int:
        return self._accept(whole_number, "draw", proposal["value"])

    @traitlets.validate("kind")
    def _valid_kind(self, proposal: dict) -> str:
        return self._accept(choice, "kind", proposal["value"], KINDS)

    @traitlets.validate("components")
    def _valid_components(self, proposal: dict) -> tuple[int, ...]:
        if self._draws is None:
            return (1, 2)
        return self._accept(lambda value: check_components(value, self._table.p, pair=True), proposal["value"])

    @traitlets.validate("variables")
    def _valid_variables(self, proposal: dict) -> object:
        if self._draws is None:
            return proposal["value"]
        return self._accept(self._check_variables, proposal["value"])

    @traitlets.validate("labels")
    def _valid_labels(self, proposal: dict) -> bool:
        return self._accept(check_truth, "labels", proposal["value"])

    @traitlets.validate("show_reference")
    def _valid_reference(self, proposal: dict) -> str:
        value = proposal["value"]
        if isinstance(value, bool):
            value = "beside" if value else "off"
        return self._accept(choice, "show_reference", value, REFERENCES)

    def _check_variables(self, value: object) -> object:
        return plain_variables(value, self._draws.reference[:, :2], self._table.names)
