import dataclasses
import json
import math
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from dppca_nb.core import mechanism, top_up
from dppca_nb.core.account import total_mu
from dppca_nb.core.kendall import spherical_kendall
from dppca_nb.core.ledger import BudgetError, Ledger
from dppca_nb.core.loading import dp_loading
from dppca_nb.core.noise import symmetric_from_normals
from dppca_nb.core.privacy import Budget, Reason, make_guarantee
from dppca_nb.core.release import LoadingRelease, release_from_noisy
from dppca_nb.core.top_up import plan_lowering, plan_top_up
from dppca_nb.table import DataError, as_table, scale_table

NAMES = ["a.b", 'quo"te', "line\nbreak"]
ROWS = pd.DataFrame(np.random.default_rng(1).normal(size=(60, 3)) * [3, 2, 1] + [5, -7, 0.3], columns=NAMES)
SCALE = (2.5, 2.0, 0.5)
DELTA = 1e-6


def account(epsilon=3, **more):
    return Ledger(epsilon, DELTA, name="survey", **more)


def release(ledger, epsilon=0.3, **changes):
    settings = {"delta": DELTA, "calibration": "analytic", "scale": SCALE} | changes
    return dp_loading(ROWS, epsilon=epsilon, ledger=ledger, **settings)


def half_vector(matrix):
    """The coordinates in which the noise is N(0, sigma^2) and independent."""
    row, column = np.tril_indices(len(matrix), -1)
    return np.concatenate([np.diag(matrix), math.sqrt(2) * matrix[row, column]])


@pytest.fixture
def draws(monkeypatch):
    """What the hardened noise was asked for, in both places that may ask."""
    seen = []

    def counted(matrix, sigma):
        seen.append((np.array(matrix), sigma))
        return real(matrix, sigma)

    real = mechanism.hardened_noise
    for place in (mechanism, top_up):
        monkeypatch.setattr(place, "hardened_noise", counted)
    return seen


class Untouchable:
    """Fails the test as soon as anything about it is asked."""

    def __getattribute__(self, name):
        raise AssertionError(f"the data were touched: {name}")


# Top-up


def test_a_topped_up_release_has_the_guarantee_of_one_release_at_that_epsilon():
    ledger = account()
    both = release(ledger).topped_up(ROWS, epsilon=0.8, ledger=ledger)
    one = release(None, epsilon=0.8)
    assert both.guarantee == one.guarantee
    assert both.guarantee.holds
    assert (both.n, both.p, both.coincident, both.scale, both.reference) == (60, 3, "zero", SCALE, None)
    assert list(both.loadings.index) == NAMES
    assert both.noisy_kendall.equals(both.noisy_kendall.T)


def test_the_noise_of_a_topped_up_release_is_that_of_one_release():
    table = as_table(ROWS)
    exact = spherical_kendall(scale_table(table, SCALE)[0]).matrix.to_numpy()
    noise = []
    for _ in range(500):
        ledger = account()
        first = dp_loading(table, epsilon=0.4, delta=DELTA, calibration="analytic", scale=SCALE, ledger=ledger)
        both = first.topped_up(table, epsilon=0.8, ledger=ledger)
        noise.append(half_vector(both.noisy_kendall.to_numpy() - exact) / both.guarantee.sigma)
    noise = np.array(noise)
    assert stats.kstest(noise.ravel(), "norm").pvalue > 1e-4
    assert noise.var() == pytest.approx(1, abs=0.11)  # 3000 numbers: 4 standard errors
    assert np.abs(noise.var(axis=0) - 1).max() < 0.26
    assert np.abs(np.corrcoef(noise.T) - np.eye(6)).max() < 0.19
    assert np.abs(noise.mean(axis=0)).max() < 0.19


def test_weights_are_one_over_the_variances(monkeypatch):
    ledger, unit = account(), symmetric_from_normals(np.arange(1.0, 7.0), 3)
    exact = spherical_kendall(scale_table(as_table(ROWS), SCALE)[0]).matrix.to_numpy()
    monkeypatch.setattr(mechanism, "hardened_noise", lambda matrix, sigma: (matrix + unit, "a test"))
    first = release(ledger)
    monkeypatch.setattr(mechanism, "hardened_noise", lambda matrix, sigma: (matrix - 2 * unit, "a test"))
    both = first.topped_up(ROWS, epsilon=0.8, ledger=ledger)
    weights = np.array([1 / entry.sigma**2 for entry in both.entries])
    weights /= weights.sum()
    assert 0.05 < weights[0] < 0.95
    expected = exact + (weights[0] - 2 * weights[1]) * unit
    assert np.abs(both.noisy_kendall.to_numpy() - expected).max() < 1e-14
    assert 1 / sum(1 / entry.sigma**2 for entry in both.entries) == pytest.approx(both.guarantee.sigma**2, rel=1e-12)


def test_three_top_ups_add_up_in_the_ledger():
    ledger = account()
    made = release(ledger, epsilon=0.2)
    for count, epsilon in enumerate((0.21, 0.5, 1.7), start=2):
        made = made.topped_up(ROWS, epsilon=epsilon, ledger=ledger)
        assert made.entries == ledger.entries
        assert len(made.entries) == count
        assert ledger.entries[-1].calibration == "top-up"
        assert ledger.entries[-1].n == 60
        assert ledger.spent_mu == pytest.approx(made.guarantee.mu, rel=1e-12)
        assert ledger.spent == pytest.approx(epsilon, rel=1e-8)
        assert ledger.spent <= epsilon
        assert made.guarantee.epsilon == epsilon
        assert made.guarantee.sigma == pytest.approx(release(None, epsilon=epsilon).guarantee.sigma, rel=1e-15)
    assert "3 more" not in ledger.summary()
    assert "(4 entries)" in repr(made)


def test_a_classical_release_is_topped_up_from_what_it_gives_exactly():
    ledger = account()
    first = release(ledger, epsilon=0.5, calibration="classical")
    assert first.guarantee.exact_epsilon == pytest.approx(0.258, abs=1e-3)
    both = first.topped_up(ROWS, epsilon=0.4, ledger=ledger)
    assert both.guarantee.calibration == "analytic"
    assert both.guarantee.epsilon == 0.4
    assert ledger.spent_mu == pytest.approx(both.guarantee.mu, rel=1e-12)


@pytest.mark.parametrize(("calibration", "epsilon"), [("analytic", 0.3), ("analytic", 0.1), ("classical", 0.12)])
def test_an_epsilon_that_there_is_already_is_refused_before_the_data_are_touched(calibration, epsilon):
    ledger = account()
    first = release(ledger, calibration=calibration)
    gives = re.escape(f"{first.guarantee.exact_epsilon:.6g} at delta 1e-06; got {epsilon:g}.")
    with pytest.raises(ValueError, match=rf"^epsilon must be above what this release gives already, {gives}.*Nothing"):
        first.topped_up(Untouchable(), epsilon=epsilon, ledger=ledger)
    assert len(ledger.entries) == 1


@pytest.mark.parametrize(
    ("epsilon", "error"), [(0, ValueError), (math.nan, ValueError), ("1", TypeError), (None, TypeError)]
)
def test_what_is_no_epsilon_is_refused(epsilon, error):
    ledger = account()
    first = release(ledger)
    with pytest.raises(error, match=r"^epsilon must be"):
        first.topped_up(Untouchable(), epsilon=epsilon, ledger=ledger)
    with pytest.raises(error, match=r"^epsilon must be"):
        first.lowered(epsilon)


def test_a_ledger_that_cannot_pay_keeps_everything_as_it_was(draws):
    ledger = account(epsilon=0.5)
    first = release(ledger)
    before = ledger.entries
    draws.clear()
    with pytest.raises(BudgetError, match=r"Nothing was drawn and nothing was charged"):
        first.topped_up(ROWS, epsilon=0.6, ledger=ledger)
    assert draws == []
    assert ledger.entries == before
    assert first.topped_up(ROWS, epsilon=0.5, ledger=ledger).guarantee.epsilon == 0.5  # to the last bit of it
    assert ledger.left == 0


def test_a_top_up_draws_hardened_noise_once_and_after_it_is_paid(draws, monkeypatch):
    ledger = account()
    first = release(ledger)
    assert len(draws) == 1
    first.topped_up(ROWS, epsilon=0.5, ledger=ledger)
    assert len(draws) == 2
    assert draws[1][1] == ledger.entries[1].sigma
    exact = spherical_kendall(scale_table(as_table(ROWS), SCALE)[0]).matrix.to_numpy()
    assert np.array_equal(draws[1][0], exact)

    def interrupted(matrix, sigma):
        raise KeyboardInterrupt

    monkeypatch.setattr(mechanism, "hardened_noise", interrupted)
    with pytest.raises(KeyboardInterrupt):
        first.topped_up(ROWS, epsilon=0.5, ledger=ledger)
    assert len(ledger.entries) == 3  # paid for, though nothing came of it


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (ROWS[:59], r"^A top-up needs the rows of the release: 60 rows of .*; got 59 rows of .*Nothing was drawn and"),
        (ROWS[NAMES[::-1]], r"in this order; got 60 rows of 'line\\nbreak'; quo\"te; a.b\. Nothing"),
        (ROWS.rename(columns={"a.b": "A.B"}), r"got 60 rows of A\.B; "),
        (ROWS[NAMES[:2]], r"got 60 rows of a\.b; quo\"te\. "),
        (ROWS.assign(more=1.0), r"; more\. "),
        (ROWS.to_numpy(), r"got 60 rows of x1; x2; x3\. "),
        (ROWS.mask(ROWS.iloc[0, 0] == ROWS), r"missing"),
        (scale_table(as_table(ROWS), "sample")[0], r"divided by their own standard deviations, which are private"),
        (dict(zip(NAMES, (ROWS * [2.5, 2, 0.5] / ROWS.std() * 1.0).to_numpy().T, strict=True)), r"standard deviations"),
    ],
    ids=range(9),
)
def test_other_data_are_refused_before_anything_is_charged(data, message, draws):
    ledger = account()
    first = release(ledger)
    draws.clear()
    with pytest.raises(DataError, match=message):
        first.topped_up(data, epsilon=0.5, ledger=ledger)
    assert draws == []
    assert len(ledger.entries) == 1


def test_only_the_ledger_that_paid_pays_for_more(tmp_path):
    ledger = account()
    first, unpaid = release(ledger), release(None)
    other = account()
    release(other)
    for made, payer in ((first, other), (first, account()), (unpaid, ledger)):
        with pytest.raises(
            ValueError, match=r"^This release was not paid for by the ledger of 'survey', whose account"
        ):
            made.topped_up(Untouchable(), epsilon=0.5, ledger=payer)
    with pytest.raises(TypeError, match=r"^ledger must be a Ledger"):
        first.topped_up(Untouchable(), epsilon=0.5, ledger=None)
    assert (len(ledger.entries), len(other.entries)) == (1, 1)


def test_a_void_release_is_not_topped_up():
    ledger = account()
    seeded = release(None, rng=3)
    with pytest.raises(ValueError, match=r"^A ledger pays for releases whose guarantee holds.*seeded"):
        seeded.topped_up(Untouchable(), epsilon=0.5, ledger=ledger)
    assert ledger.entries == ()


def test_a_release_with_a_reference_is_neither_topped_up_nor_lowered_nor_saved(tmp_path):
    made = release(None, reference=True)
    for use, what in (
        (lambda: made.topped_up(Untouchable(), epsilon=0.5, ledger=account()), "topped up"),
        (lambda: made.lowered(0.1), "lowered"),
        (lambda: made.save(tmp_path / "release.json"), "saved"),
    ):
        with pytest.raises(ValueError, match=rf"^A release with a reference cannot be {what}: .*replace\(release, ref"):
            use()
    assert list(tmp_path.iterdir()) == []
    dataclasses.replace(made, reference=None).save(tmp_path / "release.json")
    assert LoadingRelease.load(tmp_path / "release.json").reference is None


@given(st.floats(0.01, 5), st.floats(1.0001, 50), st.floats(1e-10, 1e-3), st.integers(2, 10**6), st.integers(1, 50))
@settings(max_examples=60)
def test_what_is_paid_for_is_never_less_than_what_is_promised(epsilon, times, delta, n, p):
    slack = top_up.rounding_slack(n, p)
    have = make_guarantee(Budget(epsilon, delta), n, "analytic", slack=slack)
    plan = plan_top_up(have, p, epsilon * times)
    assert total_mu([have.mu, plan.draw.mu]) == pytest.approx(plan.together.mu, rel=1e-12)
    assert 1 / have.sigma**2 + 1 / plan.draw.sigma**2 == pytest.approx(1 / plan.together.sigma**2, rel=1e-12)
    assert plan.draw.mu * plan.draw.sigma == pytest.approx(have.sensitivity + slack, rel=1e-15)
    assert plan.draw.holds


# Lowering


def test_a_lowered_release_has_the_guarantee_of_one_release_at_that_epsilon(draws):
    ledger = account()
    first = release(ledger, epsilon=0.8)
    draws.clear()
    less = first.lowered(0.3)
    assert len(draws) == 1
    assert np.array_equal(draws[0][0], first.noisy_kendall)
    g, one = less.guarantee, release(None, epsilon=0.3).guarantee
    assert (g.epsilon, g.delta, g.calibration, g.n, g.holds) == (0.3, DELTA, "analytic", 60, True)
    assert g.sigma == pytest.approx(one.sigma, rel=1e-9)
    assert g.exact_epsilon == pytest.approx(0.3, rel=1e-8)
    assert g.exact_epsilon <= 0.3
    assert g.slack >= 2 * one.slack  # it was rounded twice
    assert less.entries == first.entries == ledger.entries
    assert [c for c in g.caveats if "lowered from a release at epsilon 0.8" in c and "keep it to yourself" in c]
    assert less.scale == SCALE
    assert first.guarantee.epsilon == 0.8


def test_the_noise_of_a_lowered_release_is_that_of_one_release():
    first = release(None, epsilon=0.8)
    g = first.guarantee
    extra = math.sqrt(first.lowered(0.5).guarantee.sigma ** 2 - g.sigma**2)
    noise = [
        half_vector(first.lowered(0.5).noisy_kendall.to_numpy() - first.noisy_kendall.to_numpy()) for _ in range(500)
    ]
    noise = np.array(noise) / extra
    assert stats.kstest(noise.ravel(), "norm").pvalue > 1e-4
    assert noise.var() == pytest.approx(1, abs=0.11)
    assert np.abs(np.corrcoef(noise.T) - np.eye(6)).max() < 0.19


@given(st.floats(0.02, 5), st.floats(0.01, 0.9999), st.floats(1e-10, 1e-3), st.integers(2, 10**6), st.integers(1, 50))
@settings(max_examples=60)
def test_variances_add_up_when_a_release_is_lowered(epsilon, part, delta, n, p):
    have = make_guarantee(Budget(epsilon, delta), n, "analytic", slack=top_up.rounding_slack(n, p))
    less, sigma = plan_lowering(have, p, epsilon * part)
    assert have.sigma**2 + sigma**2 == pytest.approx(less.sigma**2, rel=1e-12)
    assert less.mu < have.mu
    assert less.holds


@pytest.mark.parametrize(("calibration", "epsilon"), [("analytic", 0.3), ("analytic", 0.5), ("classical", 0.2)])
def test_lowering_to_no_less_is_refused(calibration, epsilon, draws):
    first = release(None, calibration=calibration)
    draws.clear()
    gives = re.escape(f"{first.guarantee.exact_epsilon:.6g} at delta 1e-06; got {epsilon:g}.")
    with pytest.raises(
        ValueError, match=rf"^epsilon must be below what this release gives already, {gives}.*topped_up"
    ):
        first.lowered(epsilon)
    assert draws == []


def test_a_topped_up_release_is_lowered_and_then_not_topped_up_again(tmp_path):
    ledger = account()
    both = release(ledger).topped_up(ROWS, epsilon=0.8, ledger=ledger)
    less = both.lowered(0.5)
    assert len(less.entries) == 2
    twice = less.lowered(0.2)
    caveats = " ".join(twice.guarantee.caveats)
    assert "from a release at epsilon 0.8" in caveats
    assert "from a release at epsilon 0.5" in caveats
    twice.save(tmp_path / "release.json")
    for made in (less, twice, LoadingRelease.load(tmp_path / "release.json")):
        for epsilon in (0.6, 0.9):
            with pytest.raises(
                ValueError, match=r"^This release was lowered from one that gives more, .*Top up that one"
            ):
                made.topped_up(Untouchable(), epsilon=epsilon, ledger=ledger)
    assert len(ledger.entries) == 2
    assert both.topped_up(ROWS, epsilon=0.9, ledger=ledger).guarantee.epsilon == 0.9  # that one is


@pytest.mark.parametrize(
    "changes", [{"rng": 3}, {"coincident": "raise"}, {"scale": "sample"}, {"epsilon": 60, "calibration": "classical"}]
)
def test_a_void_release_stays_void_when_it_is_lowered_and_kept(changes, tmp_path):
    made = release(None, **changes)
    assert not made.guarantee.holds
    less = made.lowered(made.guarantee.exact_epsilon / 2)
    assert less.guarantee.reasons == made.guarantee.reasons
    less.save(tmp_path / "release.json")
    again = LoadingRelease.load(tmp_path / "release.json")
    assert again.guarantee == less.guarantee
    assert "VOID" in repr(again)
    assert again.scale is None or changes.get("scale") != "sample"


# Keeping


def same(one, two):
    for field in ("loadings", "noisy_kendall"):
        pd.testing.assert_frame_equal(getattr(one, field), getattr(two, field), check_exact=True)
    pd.testing.assert_series_equal(one.kendall_shares, two.kendall_shares, check_exact=True)
    fields = ("guarantee", "n", "coincident", "scale", "entries", "reference")
    assert [getattr(one, f) for f in fields] == [getattr(two, f) for f in fields]
    assert repr(one) == repr(two)


def test_a_release_comes_back_from_its_file_as_it_was(tmp_path):
    ledger = account()
    first = release(ledger)
    kinds = {
        "paid": first,
        "topped up": first.topped_up(ROWS, epsilon=0.5, ledger=ledger),
        "lowered": first.lowered(0.1),
        "classical": release(None, calibration="classical", scale=None),
        "void": release(None, rng=3, coincident="raise"),
        "one variable": dp_loading(ROWS[["a.b"]], epsilon=1, delta=DELTA),
    }
    for name, made in kinds.items():
        made.save(tmp_path / f"{name}.json")
        same(LoadingRelease.load(tmp_path / f"{name}.json"), made)
        assert LoadingRelease.load(str(tmp_path / f"{name}.json")).loadings.columns.name == "component"


@given(
    st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), min_size=1, max_size=5, unique=True),
    st.integers(0, 2**32),
    st.floats(1e-3, 1e3),
)
def test_any_names_and_numbers_come_back_from_a_file(tmp_path_factory, names, seed, size):
    p = len(names)
    noisy = size * symmetric_from_normals(np.random.default_rng(seed).normal(size=p * (p + 1) // 2), p)
    made = release_from_noisy(
        noisy,
        names=names,
        guarantee=make_guarantee(Budget(0.5, DELTA), 60, "analytic", reasons=(Reason("test", names[0]),)),
        n=60,
        coincident="zero",
        scale=(size,) * p,
    )
    path = tmp_path_factory.mktemp("any") / "release.json"
    made.save(path)
    same(LoadingRelease.load(path), made)


def test_a_loaded_release_is_topped_up_by_the_ledger_that_is_opened_again(tmp_path):
    first = release(account(path=tmp_path / "survey.jsonl"))
    first.save(tmp_path / "release.json")
    ledger = account(path=tmp_path / "survey.jsonl")
    both = LoadingRelease.load(tmp_path / "release.json").topped_up(ROWS, epsilon=0.5, ledger=ledger)
    assert both.entries == ledger.entries
    assert ledger.spent == pytest.approx(0.5, rel=1e-8)


def test_a_file_that_is_there_is_kept(tmp_path):
    path = tmp_path / "release.json"
    first, second = release(None), release(None)
    first.save(path)
    with pytest.raises(ValueError, match=r'^There is a file "release.json" already, and it was kept'):
        second.save(path)
    same(LoadingRelease.load(path), first)
    second.save(path, overwrite=True)
    same(LoadingRelease.load(path), second)
    assert [each.name for each in tmp_path.iterdir()] == ["release.json"]


def numbers(value):
    """Every number of a record."""
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from numbers(inner)
    elif isinstance(value, float):
        yield value


def private_numbers(scaled):
    """What a release must not hold: cells, exact shares and entries, and moments, as they are and scaled."""
    for frame in (ROWS, pd.DataFrame(scaled.values)):
        yield from frame.to_numpy().ravel().tolist()
        for moment in (frame.mean(), frame.std(), frame.std(ddof=0), frame.median(), frame.min(), frame.max()):
            yield from moment.tolist()
        exact = spherical_kendall(frame).matrix.to_numpy()
        yield from exact.ravel().tolist()
        yield from np.linalg.eigvalsh(exact).tolist()
        yield from np.linalg.eigh(exact)[1].ravel().tolist()
        yield from np.cov(frame.to_numpy().T).ravel().tolist()


@pytest.mark.parametrize(
    "scale", [SCALE, None, "sample", ROWS.std().to_numpy()], ids=["public", "none", "own", "equal"]
)
def test_no_private_number_is_in_the_file(scale, tmp_path):
    secret = tmp_path / "secret folder"
    secret.mkdir()
    ledger = account(path=secret / "ledger.jsonl") if scale is SCALE or scale is None else None
    made = [release(ledger, scale=scale)]
    if ledger:
        made += [made[0].topped_up(ROWS, epsilon=0.5, ledger=ledger), made[0].lowered(0.1)]
    for each in made:
        path = tmp_path / f"{each.guarantee.epsilon}.json"
        each.save(path)
        content = path.read_bytes()
        written = np.array(list(numbers(json.loads(content))))
        hidden = list(private_numbers(scale_table(as_table(ROWS), scale)[0]))
        assert len(hidden) > 350
        for number in hidden:
            if len(repr(number)) > 6:  # "1.0" may begin any number
                assert repr(number).encode() not in content
            assert np.abs(written / number - 1).min() > 1e-9
        for word in (b"secret", b"jsonl", str(tmp_path).encode()):
            assert word not in content
