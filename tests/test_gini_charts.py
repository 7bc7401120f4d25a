"""Charts of a Gini result: contributions of observations, circle of correlations, Gini correlations."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest

from dppca_nb import (
    circle_chart,
    contribution_chart,
    correlation_chart,
    datasets,
    gini_pca,
    gini_test,
    loading_chart,
    pca,
    score_chart,
    scree_chart,
)
from dppca_nb.charts.drawn import png

CARS = datasets.cars2004()
GINI, VARIANCE = gini_pca(CARS, nu=4), pca(CARS, scale=True)


def verdict(result, **settings):
    """The test without its warnings, which say what is doubtful about these few cars."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return gini_test(result, **settings)


def rows_of(chart, role, panel=0):
    return [
        row for row in chart.to_dict(validate=False)["data"]["values"] if row["role"] == role and row["panel"] == panel
    ]


def signal(chart, name):
    (value,) = [each["value"] for each in chart.to_dict(validate=False)["params"] if each["name"] == name]
    return value


# ----- contributions -----


def test_bars_are_the_contributions_of_every_observation():
    chart = contribution_chart({"variance": VARIANCE, "Gini": GINI}, component=2)
    for panel, result in enumerate((VARIANCE, GINI)):
        bars = rows_of(chart, "bar", panel)
        assert [bar["value"] for bar in bars] == pytest.approx(
            result.observation_contributions["PC2"].tolist(), abs=1e-5
        )
        assert sum(bar["value"] for bar in bars) == pytest.approx(1, abs=1e-4)
        assert rows_of(chart, "even", panel)[0]["value"] == pytest.approx(1 / 24, abs=1e-6)
    assert [bar["row"] for bar in rows_of(chart, "bar", 0)] == [bar["row"] for bar in rows_of(chart, "bar", 1)]


def test_contributions_to_an_ordinary_component_are_squares_over_their_sum():
    F = VARIANCE.scores.to_numpy()
    np.testing.assert_allclose(VARIANCE.observation_contributions, F**2 / (F**2).sum(axis=0), atol=1e-14)
    np.testing.assert_allclose(VARIANCE.observation_shares, F**2 / (F**2).sum(axis=1, keepdims=True), atol=1e-14)


@pytest.mark.parametrize("scale", [1e-150, 1e-20, 1e150])
def test_contributions_hold_at_any_magnitude_and_are_missing_beyond_the_rank(scale):
    result = pca(np.random.default_rng(1).normal(size=(3, 5)) * scale)
    assert result.observation_contributions.sum().tolist()[:2] == pytest.approx([1, 1])
    assert result.observation_contributions["PC3"].isna().all()
    assert result.observation_shares.sum(axis=1).tolist() == pytest.approx([1, 1, 1])
    with pytest.raises(ValueError, match="between 1 and 2; got 3"):
        contribution_chart(result, 3)


def test_the_largest_of_many_rows_are_drawn_in_the_order_of_the_table():
    rows = np.random.default_rng(2).normal(size=(500, 3))
    rows[[7, 400]] *= 30
    chart = contribution_chart(pca(rows), rows=5)
    drawn = [bar["row"] for bar in rows_of(chart, "bar")]
    assert len(drawn) == 5
    assert drawn.index("row 7") < drawn.index("row 400")
    assert "5 of 500 rows, the largest" in " ".join(chart.to_dict()["title"]["subtitle"])
    assert len(rows_of(contribution_chart(pca(rows), rows="all"), "bar")) == 100


def test_negative_contributions_have_room_and_a_zero_line():
    chart = contribution_chart(GINI, 1)
    assert min(bar["value"] for bar in rows_of(chart, "bar")) < 0
    assert signal(chart, "low") < 0
    assert rows_of(chart, "zero")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"results": CARS}, "must be a result of pca"),
        ({"results": GINI, "component": 7}, "between 1 and 6; got 7"),
        ({"results": GINI, "component": "PC1"}, "whole numbers"),
        ({"results": GINI, "rows": 0}, "rows must be a whole number from 1"),
        ({"results": GINI, "rows": 2.5}, "rows must be a whole number"),
        ({"results": {"a": GINI, "b": gini_pca(CARS.iloc[:20])}}, "same number of rows"),
        ({"results": pca([[1, 2], [1, 2]])}, "nothing varies"),
    ],
    ids=str,
)
def test_what_has_no_contributions_is_refused(arguments, message):
    with pytest.raises((TypeError, ValueError), match=message):
        contribution_chart(**arguments)


def test_what_a_component_is_of_each_observation_stands_beside_an_even_part():
    chart = contribution_chart({"variance": VARIANCE, "Gini": GINI}, 2, kind="observation")
    for panel, result in enumerate((VARIANCE, GINI)):
        bars = [bar["value"] for bar in rows_of(chart, "bar", panel)]
        assert bars == pytest.approx(result.observation_shares["PC2"].tolist(), abs=1e-5)
        assert rows_of(chart, "even", panel)[0]["value"] == pytest.approx(1 / 6, abs=1e-5)
    assert "PC2 as part of each observation" in chart.digest
    centred = pca([[1.0, 0], [-1, 0], [0, 1], [0, -1], [0, 0]])
    assert rows_of(contribution_chart(centred, kind="observation"), "bar")[4]["value"] == 0
    with pytest.raises(ValueError, match="kind must be one of 'component', 'observation'; got 'rct'"):
        contribution_chart(GINI, kind="rct")


# ----- circle -----


def test_arrows_are_the_cosines():
    chart = circle_chart(GINI, (1, 3))
    places = {row["variable"]: (row["x"], row["y"]) for row in rows_of(chart, "private-vector", 1)}
    for name, place in places.items():
        assert place == pytest.approx(GINI.circle().loc[name, ["PC1", "PC3"]].tolist(), abs=1e-4)
    assert "Circle of correlations, PC1 and PC3" in chart.digest


def test_the_verdict_of_the_test_is_in_the_picture():
    test = verdict(GINI, axes=(1, 2))
    test.loc[:, "p"] = 0.5
    test.loc[("PC2", "Speed"), "p"] = 0.01
    chart = circle_chart(GINI, test=test)
    pale = {row["variable"]: row["op"] for row in rows_of(chart, "private-vector", 1)}
    assert pale["Speed"] == 1
    assert all(op < 0.5 for name, op in pale.items() if name != "Speed")
    assert "significant at 5 % on PC1: none; on PC2: Speed" in chart.digest


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"result": VARIANCE}, "must come from gini_pca"),
        ({"result": GINI, "test": 1}, "must be a table from gini_test"),
        ({"result": GINI, "components": (1, 3), "test": verdict(GINI, axes=(1, 2))}, "has no PC3"),
        ({"result": GINI, "normalize": "x"}, "normalize must be"),
        ({"result": GINI, "test": verdict(gini_pca(CARS.iloc[:, :4]))}, "other variables"),
    ],
    ids=lambda part: str(part)[:30],
)
def test_what_has_no_circle_is_refused(arguments, message):
    with pytest.raises((TypeError, ValueError), match=message):
        circle_chart(**arguments)


# ----- correlations -----


def test_the_row_says_whose_values_and_the_column_whose_ranks():
    cells = {(r["variable"], r["component"]): r["loading"] for r in rows_of(correlation_chart(GINI), "cell")}
    assert cells[("Weight", "Speed")] == pytest.approx(GINI.gc.loc["Weight", "Speed"], abs=1e-4)
    assert cells[("Weight", "Speed")] != pytest.approx(GINI.gc.loc["Speed", "Weight"], abs=1e-2)
    assert "row: whose values, column: whose ranks" in correlation_chart(GINI).digest


def test_an_entry_below_minus_one_keeps_its_number_and_the_darkest_shade():
    x = np.random.default_rng(0).exponential(size=4000)
    cells = rows_of(correlation_chart(gini_pca(pd.DataFrame({"x": x, "y": -x}), nu=6)), "cell")
    (low,) = [cell for cell in cells if cell["text"].startswith("−1.")]
    assert low["loading"] == -1
    assert low["length"] < -1.5


def test_too_many_variables_are_refused():
    with pytest.raises(ValueError, match="at most 60 variables; got 61"):
        correlation_chart(gini_pca(np.random.default_rng(0).normal(size=(80, 61))))
    with pytest.raises(TypeError, match="gini_pca"):
        correlation_chart(VARIANCE)


# ----- the other charts of a Gini result -----


def test_scores_of_a_later_result_follow_the_signs_of_the_first():
    chart = score_chart({"Gini": GINI, "variance": VARIANCE})
    places = [np.array([[dot["x"], dot["y"]] for dot in rows_of(chart, "dot", panel)]) for panel in (0, 1)]
    for axis in (0, 1):
        assert np.corrcoef(places[0][:, axis], places[1][:, axis])[0, 1] > 0.3


def test_a_negative_eigenvalue_is_drawn_below_zero_and_said():
    chart = scree_chart(GINI)
    values = [row["value"] for row in rows_of(chart, "bar")]
    assert values == pytest.approx(GINI.shares().tolist(), abs=1e-5)
    assert values[-1] < 0
    assert "PC6 with a negative eigenvalue" in chart.digest
    with pytest.raises(ValueError, match="has eigenvalues and no variances"):
        scree_chart({"a": GINI, "b": VARIANCE}, "variances")


def test_the_aversion_parameter_stands_in_every_picture():
    for draw in (score_chart, scree_chart, loading_chart, circle_chart, correlation_chart, contribution_chart):
        assert "Gini, ν 4" in " ".join(draw(GINI).to_dict()["title"]["subtitle"])


def test_odd_names_are_values_in_every_picture():
    frame = pd.DataFrame(CARS.to_numpy(), columns=["a.b", "t:Q", "</script>", "it's [1]", "\u2764", "x\ny"])
    frame.index = [f"<b>{i}</b>.[{i}]" for i in range(24)]
    result = gini_pca(frame)
    for chart in (
        circle_chart(result),
        correlation_chart(result),
        contribution_chart({"<i>": result, "b": pca(frame)}),
    ):
        assert png(chart).startswith(b"\x89PNG")
        assert '</script>"' not in chart.to_html().split("vegaEmbed(")[-1]


def test_an_axis_without_scores_has_cosines_of_0_and_the_circle_says_so():
    chart = circle_chart(gini_pca({"x": [1.0, 2, 3, 5], "y": [2.0, 4, 6, 10]}))
    assert "PC2 without scores: drawn as 0" in chart.digest
    json.dumps(chart.to_dict(), allow_nan=False)
    assert "without scores" not in circle_chart(GINI).digest


def quietly(result, **options):
    """Test without warnings of axes that are close."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return gini_test(result, **options)


def test_a_test_of_another_result_has_no_say_in_the_circle():
    others = [gini_pca(CARS, nu=2), gini_pca(CARS.iloc[1:], nu=4)]
    for test in (*map(quietly, others), quietly(GINI, normalize="variables"), quietly(GINI).drop(columns="U")):
        with pytest.raises(ValueError, match="the test is of another result"):
            circle_chart(GINI, test=test)
    assert "significant" in circle_chart(GINI, (3, 1), test=quietly(GINI, axes=[3, 1])).digest
    slopes = quietly(GINI, normalize="variables", jackknife="frozen")
    assert "significant" in circle_chart(GINI, test=slopes, normalize="variables").digest
    with pytest.raises(TypeError, match=r"^components must be component numbers"):
        circle_chart(GINI, 3, test=slopes, normalize="variables")


def test_contributions_of_other_rows_do_not_stand_beside_each_other():
    with pytest.raises(ValueError, match="the same rows in the same order"):
        contribution_chart({"a": GINI, "b": pca(CARS.iloc[::-1], scale=True)})
    with pytest.raises(ValueError, match="the same number of rows; got 'a' 24, 'b' 23"):
        contribution_chart({"a": GINI, "b": pca(CARS.iloc[1:], scale=True)})


def test_contributions_say_no_negative_zero_and_refuse_rows_that_are_no_number():
    assert "-0.0000" not in contribution_chart(gini_pca({"x": [1, 2, 4]})).digest
    with pytest.raises(TypeError, match=r"^rows must be a whole number"):
        contribution_chart(GINI, rows=np.array([1, 2]))
