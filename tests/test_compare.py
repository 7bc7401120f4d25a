"""Loadings of several methods side by side: one scale, the same variables, aligned signs, angles as numbers."""

import numpy as np
import pandas as pd
import pytest

from dppca_nb import compare_chart, datasets, dp_loading, pca
from dppca_nb.core.align import subspace_angles

IRIS = datasets.iris().drop(columns="Species")
ONE, OTHER = pca(IRIS), pca(IRIS, scale=True)


def rows_of(chart, role, panel):
    return [
        row for row in chart.to_dict(validate=False)["data"]["values"] if row["role"] == role and row["panel"] == panel
    ]


def heads(chart):
    (found,) = [each["value"] for each in chart.to_dict(validate=False)["params"] if each["name"] == "heads"]
    return found


def test_every_result_has_a_panel_and_an_angle_to_the_first():
    chart = compare_chart({"covariance": ONE, "correlation": OTHER})
    angle = subspace_angles(ONE.directions, OTHER.directions, 2)[0]
    assert heads(chart) == ["covariance", ["correlation", f"{angle:.1f}° from covariance"]]
    for panel, result in enumerate((ONE, OTHER)):
        places = {row["variable"]: (row["x"], row["y"]) for row in rows_of(chart, "private-vector", panel)}
        for name, place in places.items():
            assert np.abs(place) == pytest.approx(result.directions.loc[name].abs().tolist()[:2], abs=1e-4)


def test_signs_follow_the_first():
    turned = pca(-IRIS.to_numpy() @ np.diag([1.0, 1, 1, 1]))
    base = pca(IRIS.to_numpy())
    chart = compare_chart({"one": base, "other": turned})
    one, other = ({r["variable"]: (r["x"], r["y"]) for r in rows_of(chart, "private-vector", k)} for k in (0, 1))
    assert one == other
    assert heads(chart)[1][1] == "0.0° from one"


def test_the_variables_are_those_of_the_first_in_its_order_wherever_they_stand_in_the_other_table():
    shuffled = pca(IRIS[IRIS.columns[::-1]])
    chart = compare_chart({"one": ONE, "other": shuffled}, variables=2)
    one, other = ([row["variable"] for row in rows_of(chart, "private-vector", k)] for k in (0, 1))
    assert one == other
    assert len(one) == 2
    assert heads(chart)[1][1] == "0.0° from one"


def test_a_heatmap_has_the_same_rows_in_every_panel():
    chart = compare_chart({"one": ONE, "other": OTHER}, (1, 2, 3), kind="heatmap")
    one, other = (
        sorted((r["rank"], r["variable"]) for r in rows_of(chart, "cell", k) if r["component"] == "PC1") for k in (0, 1)
    )
    assert one == other
    assert [rank for rank, _ in one] == [0, 1, 2, 3]


def test_a_void_guarantee_and_an_ordinary_result_are_said_in_the_picture():
    seeded = dp_loading(IRIS, epsilon=5, delta=1e-3, rng=1)
    chart = compare_chart({"ordinary": ONE, "private": seeded})
    said = " ".join(chart.to_dict()["title"]["subtitle"])
    assert "private: guarantee void (seeded noise)" in said
    assert "not a private release" in said
    honest = dp_loading(IRIS, epsilon=5, delta=1e-3)
    said = " ".join(compare_chart({"a": honest, "b": honest}).to_dict()["title"]["subtitle"])
    assert "void" not in said
    assert "not a private release" not in said


def test_the_digest_has_the_angle_and_the_numbers():
    digest = compare_chart({"covariance": ONE, "correlation": OTHER}).digest
    assert "correlation, 30.6° apart: svd, centred, scaled, divisor n" in digest
    assert f"{ONE.directions.loc['Petal.Length', 'PC1']:.4f}" in digest


@pytest.mark.parametrize(
    ("results", "message"),
    [
        (ONE, "at least two results"),
        ({"one": ONE}, "at least two results"),
        ({"one": ONE, "other": pca(IRIS.iloc[:, :3])}, "other variables than the first"),
        ({"one": ONE, "other": IRIS}, "must be results of"),
        ([ONE, OTHER], "must be results of"),
        ({str(k): ONE for k in range(7)}, "1 to 6 results"),
    ],
    ids=str,
)
def test_what_cannot_be_compared_is_refused(results, message):
    with pytest.raises((TypeError, ValueError), match=message):
        compare_chart(results)


def test_odd_names_are_values():
    names = ["a.b", "t:Q", "</script>", "it's [1]"]
    frame = pd.DataFrame(IRIS.to_numpy(), columns=names)
    chart = compare_chart({"<b>": pca(frame), 'say "x"': pca(frame, scale=True)}, kind="heatmap")
    assert {row["variable"] for row in rows_of(chart, "cell", 1)} == set(names)
