"""Settings of the explorer of ordinary components: traits, and one check for each."""

from __future__ import annotations

import numpy as np
import traitlets

from dppca_nb.charts.choices import check_components, check_truth
from dppca_nb.core.pca import check_settings
from dppca_nb.table import Table
from dppca_nb.widgets.checks import choice, plain_variables
from dppca_nb.widgets.view import LiveView, Setting

COMPUTING = ("method", "center", "scale", "ddof")
KINDS = ("scores", "vector", "heatmap", "shares", "variances")


class PCASettings(LiveView):
    """A live view of ordinary components with validated settings; the checks are those of `pca` and the charts."""

    _table: Table | None

    # ----- how the components are computed -----
    method = Setting("svd")
    center = Setting(True)
    scale = Setting(False)
    ddof = Setting(None)
    # ----- how they are shown -----
    kind = Setting("scores")
    components = Setting((1, 2))
    color = Setting("off")
    variables = Setting(10)
    labels = Setting(True)

    _settings = (*COMPUTING, "kind", "components", "color", "variables", "labels")

    @property
    def colors(self) -> tuple[str, ...]:
        """What may colour the points, by the names that the control shows."""
        raise NotImplementedError

    @property
    def _drawable(self) -> bool:
        """Whether there are two components to draw."""
        return self._table is not None and self._table.p > 1

    # ----- validation: one check each, the same as everywhere -----

    @traitlets.validate("method")
    def _valid_method(self, proposal: dict) -> str:
        return self._accept(_one_of_pca, "method", proposal["value"])

    @traitlets.validate("center")
    def _valid_center(self, proposal: dict) -> bool:
        return self._accept(_one_of_pca, "center", proposal["value"])

    @traitlets.validate("scale")
    def _valid_scale(self, proposal: dict) -> bool:
        return self._accept(_one_of_pca, "scale", proposal["value"])

    @traitlets.validate("ddof")
    def _valid_ddof(self, proposal: dict) -> int | None:
        return self._accept(_one_of_pca, "ddof", proposal["value"])

    @traitlets.validate("kind")
    def _valid_kind(self, proposal: dict) -> str:
        return self._accept(choice, "kind", proposal["value"], KINDS)

    @traitlets.validate("components")
    def _valid_components(self, proposal: dict) -> tuple[int, ...]:
        if not self._drawable:
            return (1, 2)
        most = min(self._table.n, self._table.p)
        return self._accept(lambda value: check_components(value, most, pair=True), proposal["value"])

    @traitlets.validate("color")
    def _valid_color(self, proposal: dict) -> str:
        return self._accept(choice, "color", proposal["value"], self.colors)

    @traitlets.validate("variables")
    def _valid_variables(self, proposal: dict) -> object:
        if not self._drawable:
            return proposal["value"]
        lengths = np.zeros((self._table.p, 2))  # which are the longest does not matter for the check
        return self._accept(plain_variables, proposal["value"], lengths, self._table.names)

    @traitlets.validate("labels")
    def _valid_labels(self, proposal: dict) -> bool:
        return self._accept(check_truth, "labels", proposal["value"])


def _one_of_pca(name: str, value: object) -> object:
    """Check one argument of `pca`, in plain types that a browser understands."""
    given = {"method": "svd", "center": True, "scale": False, "ddof": None, name: value}
    check_settings(**given)
    return value.item() if isinstance(value, np.generic) else value
