"""Settings of the explorer of ordinary components: traits, and one check for each."""

from __future__ import annotations

import numpy as np
import traitlets

from dppca_nb.core.pca import check_settings
from dppca_nb.widgets.checks import choice
from dppca_nb.widgets.plain import PlainView
from dppca_nb.widgets.view import Setting

COMPUTING = ("method", "center", "scale", "ddof")
KINDS = ("scores", "vector", "heatmap", "shares", "variances")


class PCASettings(PlainView):
    """A live view of ordinary components with validated settings; the checks are those of `pca` and the charts."""

    # ----- how the components are computed -----
    method = Setting("svd")
    center = Setting(True)
    scale = Setting(False)
    ddof = Setting(None)
    # ----- how they are shown -----
    kind = Setting("scores")
    color = Setting("off")

    _settings = (*COMPUTING, "kind", "components", "color", "variables", "labels")

    @property
    def colors(self) -> tuple[str, ...]:
        """What may colour the points, by the names that the control shows."""
        raise NotImplementedError

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

    @traitlets.validate("color")
    def _valid_color(self, proposal: dict) -> str:
        return self._accept(choice, "color", proposal["value"], self.colors)


def _one_of_pca(name: str, value: object) -> object:
    """Check one argument of `pca`, in plain types that a browser understands."""
    given = {"method": "svd", "center": True, "scale": False, "ddof": None, name: value}
    check_settings(**given)
    return value.item() if isinstance(value, np.generic) else value
