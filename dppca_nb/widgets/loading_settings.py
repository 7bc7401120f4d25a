"""Settings of the loading explorer: the traits that it shares with the browser, and the check of each."""

from __future__ import annotations

import numpy as np
import traitlets

from dppca_nb.charts.choices import (
    KINDS,
    REFERENCES,
    UNCERTAINTIES,
    check_components,
    check_truth,
)
from dppca_nb.core.privacy import Budget, check_calibration
from dppca_nb.widgets.checks import choice, plain_variables, whole_number
from dppca_nb.widgets.handed_mode import Handed
from dppca_nb.widgets.teaching_mode import Teaching
from dppca_nb.widgets.view import LiveView, Setting


class LoadingSettings(LiveView):
    """A live view of loadings with validated settings; the checks are those of the functions that use the values."""

    _mode: Teaching | Handed | None  # None where there is nothing to draw
    _drawn: dict[str, object]  # settings that the last picture was drawn from

    # ----- what is drawn from data, or simulated before a release -----
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
    uncertainty = Setting("off")
    # ----- of release mode alone -----
    pattern = Setting("gentle")
    top_up_to = Setting(None)
    noise_shown = Setting(None)

    _settings = (
        "epsilon", "delta", "calibration", "draw", "kind", "components", "variables", "labels", "show_reference",
        "uncertainty", "pattern", "top_up_to", "noise_shown",
    )  # fmt: skip

    # ----- validation: one check each, the same as everywhere -----

    @traitlets.validate("epsilon")
    def _valid_epsilon(self, proposal: dict) -> float:
        return self._accept(self._of_budget, "epsilon", lambda value: Budget(value, 0.5).epsilon, proposal["value"])

    @traitlets.validate("delta")
    def _valid_delta(self, proposal: dict) -> float:
        return self._accept(self._of_budget, "delta", lambda value: Budget(1.0, value).delta, proposal["value"])

    @traitlets.validate("calibration")
    def _valid_calibration(self, proposal: dict) -> str:
        return self._accept(self._of_budget, "calibration", check_calibration, proposal["value"])

    @traitlets.validate("draw")
    def _valid_draw(self, proposal: dict) -> int:
        return self._accept(self._of_budget, "draw", lambda value: whole_number("draw", value), proposal["value"])

    @traitlets.validate("kind")
    def _valid_kind(self, proposal: dict) -> str:
        return self._accept(choice, "kind", proposal["value"], KINDS)

    @traitlets.validate("components")
    def _valid_components(self, proposal: dict) -> tuple[int, ...]:
        if self._mode is None:
            return (1, 2)
        return self._accept(lambda value: check_components(value, self._mode.p, pair=True), proposal["value"])

    @traitlets.validate("variables")
    def _valid_variables(self, proposal: dict) -> object:
        if self._mode is None:
            return proposal["value"]
        return self._accept(self._check_variables, proposal["value"])

    @traitlets.validate("labels")
    def _valid_labels(self, proposal: dict) -> bool:
        return self._accept(check_truth, "labels", proposal["value"])

    @traitlets.validate("show_reference")
    def _valid_reference(self, proposal: dict) -> str:
        return self._accept(self._check_reference, proposal["value"])

    @traitlets.validate("uncertainty")
    def _valid_uncertainty(self, proposal: dict) -> str:
        return self._accept(choice, "uncertainty", proposal["value"], UNCERTAINTIES)

    @traitlets.validate("pattern", "top_up_to", "noise_shown")
    def _valid_of_release(self, proposal: dict) -> object:
        return self._accept(self._check_of_release, proposal["trait"].name, proposal["value"])

    def _of_budget(self, name: str, check: object, value: object) -> object:
        """Check what a release is drawn from; once there is one, it cannot be changed any more."""
        taken = check(value)
        if self._fixed and taken != self._drawn[name]:  # not the trait: while messages are held it is the new value
            raise ValueError(
                f"{name} cannot be changed to {value!r}: these data were released. For more accuracy use top_up_to and "
                "top_up(); for less, noise_shown."
            )
        return taken

    @property
    def _fixed(self) -> bool:
        """Whether there is a release, so that nothing is drawn from these settings any more."""
        return bool(self._drawn) and isinstance(self._mode, Handed) and self._mode.released is not None

    def _check_variables(self, value: object) -> object:
        lengths = np.zeros((self._mode.p, 2))  # which are the longest does not matter for the check
        return plain_variables(value, lengths, self._mode.names)

    def _check_reference(self, value: object) -> str:
        if isinstance(value, bool):
            value = "beside" if value else "off"
        choice("show_reference", value, REFERENCES)
        if isinstance(self._mode, Handed) and value != "off":
            raise ValueError(
                f"show_reference must be 'off' for a release; got {value!r}. A reference is computed without noise: "
                "make it with pca, apart from what you release."
            )
        return value

    def _check_of_release(self, name: str, value: object) -> object:
        if not isinstance(self._mode, Handed):
            if self._mode is not None and value != getattr(type(self), name).default_value:
                raise ValueError(f"{name} belongs to release mode; got {value!r}. Give the explorer a ledger for it.")
            return value
        return getattr(self._mode, f"check_{name}")(value)
