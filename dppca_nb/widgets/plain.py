"""What the explorers of ordinary and of Gini components share: their table, and how components are shown."""

from __future__ import annotations

import numpy as np
import traitlets

from dppca_nb.charts.choices import check_components, check_truth
from dppca_nb.table import LeftOut, Table
from dppca_nb.widgets.checks import plain_variables
from dppca_nb.widgets.view import LiveView, Setting


class PlainView(LiveView):
    """A live view of components that are not private."""

    _table: Table | None

    components = Setting((1, 2))
    variables = Setting(10)
    labels = Setting(True)

    @property
    def left_out(self) -> tuple[LeftOut, ...]:
        """Columns that are no variables, with the reasons."""
        return () if self._table is None else self._table.left_out

    @property
    def _drawable(self) -> bool:
        """Whether there are two components to draw."""
        return self._table is not None and self._table.p > 1

    def _writes_names(self) -> bool | None:
        """Whether names of rows are written: by the default of the chart, unless labels are off."""
        return None if self.labels else False

    @traitlets.validate("components")
    def _valid_components(self, proposal: dict) -> tuple[int, ...]:
        if not self._drawable:
            return (1, 2)
        most = min(self._table.n, self._table.p)  # Gini components beyond it have no ordinary ones beside them
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
