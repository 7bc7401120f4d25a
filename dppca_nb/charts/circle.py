"""`circle_chart`: how variables go with two Gini components, in the unit circle; what is not significant is pale."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from dppca_nb.charts.choices import check_components
from dppca_nb.charts.drawn import DrawnChart
from dppca_nb.charts.loading import loading_chart
from dppca_nb.charts.subject import PlainSubject
from dppca_nb.core.gini_result import GiniResult

LEVEL = 0.05


class CircleSubject(PlainSubject):
    """Cosines between variables and Gini components, with the verdict of a test where there is one."""

    what = "Circle of correlations,"

    def __init__(self, result: GiniResult, normalize: str = "scores", test: pd.DataFrame | None = None):
        super().__init__(result)
        self.normalize, self.test = normalize, test
        cosines = result.circle(normalize)
        self.flat = cosines.columns[cosines.isna().all()]  # axes without scores, which have no correlations
        self.loadings = cosines.fillna(0.0)

    def significant(self, component: int) -> list[str]:
        """Variables whose correlation with a component differs from 0 at the level."""
        p = self.test["p"].xs(f"PC{component}", level="component")
        return [name for name in self.loadings.index if p[name] < LEVEL]

    def pale(self, components: tuple[int, ...]) -> frozenset[str]:
        """Variables that are significant on none of these components."""
        if self.test is None:
            return frozenset()
        return frozenset(self.loadings.index).difference(*(self.significant(c) for c in components))

    def statement(self, components: tuple[int, ...], drawn: str, *, compared: bool, plane: bool) -> list[str]:
        """State the convention, the shares, the size, and the verdict of the test."""
        said = super().statement(components, drawn, compared=compared, plane=plane)
        if self.normalize == "variables":
            said.insert(1, "over the variables' own Gini")
        said += [f"{name} without scores: drawn as 0" for c in components if (name := f"PC{c}") in self.flat]
        if self.test is not None:
            verdicts = [f"PC{c}: {', '.join(self.significant(c)) or 'none'}" for c in components]
            said.append(f"significant at 5 % on {'; on '.join(verdicts)}")
            if self.pale(components):
                said.append("pale: on neither")
        return said


def circle_chart(
    result: GiniResult,
    components: Iterable[int] = (1, 2),
    *,
    test: pd.DataFrame | None = None,
    normalize: str = "scores",
    variables: int | str | Iterable[str | int] = 10,
    labels: bool = True,
) -> DrawnChart:
    """Draw the circle of correlations of a Gini result: variables as arrows inside the unit circle. Not private.

    Parameters
    ----------
    result : GiniResult
        From `gini_pca`.
    components : pair of int
        Two component numbers from 1.
    test : DataFrame, optional
        From `gini_test` with these components among its axes: variables that are significant at 5 % on neither of the
        two are drawn pale, and the subtitle lists the others.
    normalize : {"scores", "variables"}
        As for :meth:`GiniResult.circle`.
    variables : int, "all", or list of str and int
        As for `loading_chart`.
    labels : bool
        Whether names are written into the picture.

    Returns
    -------
    altair.FacetChart

    Raises
    ------
    ValueError, TypeError
        If an argument is not one of the above; the message names it.

    Examples
    --------
    >>> from dppca_nb import circle_chart, datasets, gini_pca
    >>> print(circle_chart(gini_pca(datasets.cars2004())).digest.splitlines()[0])
    Circle of correlations, PC1 and PC2: vector, 6 of 6 variables
    """
    if not isinstance(result, GiniResult):
        raise TypeError(f"result must come from gini_pca(...); got {type(result).__name__}.")
    components = check_components(components, result.p, pair=True)
    subject = CircleSubject(result, normalize, _checked(test, result, normalize))
    if test is not None:
        tested = {str(name) for name in test.index.get_level_values("component")}
        if missing := [f"PC{c}" for c in components if f"PC{c}" not in tested]:
            raise ValueError(f"the test has no {' and no '.join(missing)}: make it with axes that include these.")
    return loading_chart(subject, components=components, variables=variables, labels=labels)


def _checked(test: object, result: GiniResult, normalize: str) -> pd.DataFrame | None:
    """Refuse what is no table of `gini_test` of this very result: its verdicts would be those on other arrows."""
    if test is None:
        return None
    if not isinstance(test, pd.DataFrame) or "p" not in test or test.index.names != ["component", "variable"]:
        raise TypeError("test must be a table from gini_test(...), with a column p for every component and variable.")
    if set(test.index.get_level_values("variable")) != set(result.directions.index):
        raise ValueError("the test is of other variables than the result; make it from this result.")
    wanted = result.variable_correlations(normalize).T.stack(future_stack=True).reindex(test.index)
    if "U" not in test or not np.allclose(test["U"], wanted, rtol=1e-9, atol=1e-9, equal_nan=True):
        raise ValueError(
            f"the test is of another result than this one: make it with gini_test(result, normalize={normalize!r})."
        )
    return test
