import copy
import errno
import json
import math
import os
import pickle
import subprocess
import sys
import threading
import time
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path

import dp_accounting
import filelock
import numpy as np
import pandas as pd
import pytest
from dp_accounting.pld import PLDAccountant
from hypothesis import given, settings
from hypothesis import strategies as st

from dppca_nb.core import ledger_file, loading, mechanism
from dppca_nb.core.account import Account, total_mu
from dppca_nb.core.gaussian import gaussian_epsilon, gaussian_mu
from dppca_nb.core.hardened import noise_source
from dppca_nb.core.ledger import BudgetError, Ledger, LedgerEntry, LedgerError
from dppca_nb.core.loading import dp_loading
from dppca_nb.core.privacy import Budget, make_guarantee
from dppca_nb.table import DataError, as_table, scale_table

ROWS = np.random.default_rng(1).normal(size=(60, 4)) * [3, 2, 1, 0.5]
NAN, INF = float("nan"), float("inf")
FIELDS = ["time", "name", "mechanism", "n", "sensitivity", "sigma", "mu", "calibration"]
FIELDS += ["cumulative_mu", "cumulative_epsilon", "randomness"]


def pay(ledger, mu=0.1, **changes):
    """Charge a mechanism of this mu."""
    said = {"n": 100, "sensitivity": mu, "sigma": 1.0, "calibration": "analytic", "randomness": "os.urandom"}
    return ledger.charge("mean", **(said | changes))


def release(ledger, data=ROWS, **changes):
    return dp_loading(data, **({"epsilon": 0.5, "delta": 1e-6, "calibration": "analytic", "ledger": ledger} | changes))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "survey.jsonl"


@pytest.fixture(params=["memory", "file"])
def ledger(request, tmp_path):
    return Ledger(1, 1e-6, path=tmp_path / "survey.jsonl" if request.param == "file" else None, name="survey")


@pytest.fixture
def draws(monkeypatch):
    """The draws of noise, as they happen."""
    seen, draw = [], mechanism.hardened_noise

    def watched(matrix, sigma):
        seen.append(len(matrix))
        return draw(matrix, sigma)

    monkeypatch.setattr(mechanism, "hardened_noise", watched)
    return seen


# What releases cost together


@pytest.mark.parametrize(("k", "epsilon"), [(1, 1.000), (5, 2.400), (20, 5.214), (100, 13.51)])
def test_k_releases_cost_their_known_epsilon_together(k, epsilon):
    ledger = Ledger(20, 1e-6)
    for _ in range(k):
        release(ledger, ROWS[:5], epsilon=1)
    assert ledger.spent == pytest.approx(epsilon, rel=4e-4)
    assert ledger.entries[-1].cumulative_epsilon == ledger.spent


@pytest.mark.parametrize("delta", [1e-9, 1e-6, 1e-3])
@pytest.mark.parametrize("mus", [[0.2367] * 20, [0.05, 0.3, 0.7], [1.0, 2.0]])
def test_the_composition_agrees_with_dp_accounting(mus, delta):
    ledger = Ledger(60, delta)
    for mu in mus:
        pay(ledger, mu)
    noise = 1 / math.sqrt(math.fsum(mu**2 for mu in mus))  # of one Gaussian release that costs as much
    assert ledger.spent == pytest.approx(dp_accounting.get_epsilon_gaussian(noise, delta), rel=1e-6)
    # It also composes by itself, from discretised losses that it rounds up.
    accountant = PLDAccountant(value_discretization_interval=1e-4)
    for mu in mus:
        accountant.compose(dp_accounting.GaussianDpEvent(1 / mu))
    assert ledger.spent == pytest.approx(accountant.get_epsilon(delta), rel=1e-3)


@given(st.lists(st.floats(1e-8, 1e3), max_size=30))
def test_mus_compose_to_the_exact_root_of_the_sum_of_their_squares(mus):
    exact = sum((Fraction(mu) ** 2 for mu in mus), Fraction(0))
    assert total_mu(mus) == pytest.approx(math.sqrt(exact), rel=1e-15, abs=0)


def test_a_million_small_charges_are_not_rounded_away():
    many = Account(Budget(100, 1e-6), (10.0, *[1e-8] * 10**6))
    assert many.spent_mu**2 - 100 == pytest.approx(1e-10, rel=0.01, abs=0)


def test_a_classical_release_is_charged_what_its_noise_gives_away_and_not_what_was_stated():
    ledger = Ledger(1, 1e-6)
    made = release(ledger, calibration="classical")
    assert ledger.spent == pytest.approx(made.guarantee.exact_epsilon, rel=1e-12)
    assert round(ledger.spent, 3) == 0.258


# What fits


@pytest.mark.parametrize("k", [1, 2, 3, 7, 10, 49])
def test_equal_parts_of_a_budget_fit_with_their_float_dust_and_then_nothing_does(ledger, k):
    for _ in range(k):
        pay(ledger, ledger.mu / math.sqrt(k) * (1 + 9e-10))
    assert ledger.left == ledger.left_mu == 0
    with pytest.raises(BudgetError, match="what is left of the ledger of 'survey' is nothing"):
        pay(ledger, 1e-18)
    assert len(ledger.entries) == k


def test_three_squares_of_a_tenth_fit_three_tenths_and_then_a_quintillionth_does_not():
    ledger = Ledger(gaussian_epsilon(math.sqrt(0.3), 1e-6), 1e-6)
    for _ in range(3):
        pay(ledger, math.sqrt(0.1))
    with pytest.raises(BudgetError):
        pay(ledger, 1e-18)


@pytest.mark.parametrize("k", [1, 3, 10])
def test_more_than_dust_does_not_fit(ledger, k):
    for _ in range(k - 1):
        pay(ledger, ledger.mu / math.sqrt(k))
    with pytest.raises(BudgetError):
        pay(ledger, ledger.mu / math.sqrt(k) * (1 + 1e-8 * k))
    assert len(ledger.entries) == k - 1


@pytest.mark.parametrize("k", [1, 2, 4])
def test_analytic_releases_meet_their_budget_exactly(k):
    mu = gaussian_mu(0.5, 1e-6)
    ledger = Ledger(gaussian_epsilon(math.sqrt(k) * mu, 1e-6), 1e-6)
    for _ in range(k):
        release(ledger)
    assert ledger.left == 0
    with pytest.raises(BudgetError):
        pay(ledger, 1e-12)


@pytest.mark.parametrize("first", [0.05, 0.5, 0.99])
def test_what_is_left_can_be_had_in_one_release_and_no_more_than_that(first):
    ledger = Ledger(1, 1e-6)
    release(ledger, epsilon=first)
    assert ledger.left > 1 - first  # epsilons do not add up
    with pytest.raises(BudgetError):
        release(ledger, epsilon=ledger.left * 1.001)
    offered = float(repr(ledger).split("left for one more: ")[1].split(";")[0])
    assert 0.999 * ledger.left < offered <= ledger.left * (1 + 1e-9)
    release(ledger, epsilon=ledger.left)
    assert ledger.left == 0
    assert ledger.spent == pytest.approx(1, rel=1e-8)


@settings(max_examples=60, deadline=None)
@given(st.floats(0.1, 1.2), st.floats(0, 0.999), st.floats(1e-9, 0.5))
def test_the_count_of_more_releases_is_the_number_that_can_be_charged(part, already, delta):
    budget = Budget(2, delta)
    account = Account(budget, (Account(budget).mu * already,))
    mu = account.mu * part
    told, charged = account.count(mu), 0
    while account.fits(mu):
        account, charged = account.with_one_more(mu), charged + 1
    assert told == charged


@pytest.mark.parametrize("k", [1, 2, 3, 5, 11, 48, 100])
def test_the_count_is_right_where_the_last_release_meets_the_budget(k):
    account = Account(Budget(1, 1e-6))
    for factor, expected in ((1, k), (1 + 9e-10, k), (1 - 9e-10, k), (1 + 1e-8 * k, k - 1)):
        assert account.count(account.mu / math.sqrt(k) * factor) == expected


def test_nothing_more_is_counted_once_the_budget_is_met():
    met = Account(Budget(1, 1e-6), (Account(Budget(1, 1e-6)).mu * (1 - 1e-9),))
    assert not met.fits(1e-7)
    assert met.count(1e-7) == met.count(1e-18) == 0


def test_more_counts_releases_of_a_budget_and_calibration():
    ledger = Ledger(1, 1e-6)
    release(ledger)
    for budget, calibration in ((Budget(0.5, 1e-6), "analytic"), (Budget(0.1, 1e-6), "classical")):
        told = ledger.more(budget, calibration)
        trial = Ledger(1, 1e-6)
        release(trial)
        for _ in range(told):
            release(trial, epsilon=budget.epsilon, calibration=calibration)
        with pytest.raises(BudgetError):
            release(trial, epsilon=budget.epsilon, calibration=calibration)
    assert ledger.more(Budget(3, 1e-6)) == 0


def test_more_is_none_where_the_calibration_does_not_give_the_budget():
    assert not make_guarantee(Budget(30, 1e-3), 2, "classical").holds
    assert Ledger(500, 1e-3).more(Budget(30, 1e-3), "classical") == 0
    assert Ledger(500, 1e-3).more(Budget(30, 1e-3), "analytic") > 1


def test_overspending_names_asked_left_spent_and_what_to_do(ledger):
    release(ledger, epsilon=0.7)
    with pytest.raises(BudgetError) as caught:
        release(ledger, epsilon=0.9)
    assert isinstance(caught.value, ValueError)
    assert str(caught.value) == (
        "This release asks for epsilon 0.9 (mu 0.2146), but what is left of the ledger of 'survey' is epsilon 0.6776 "
        "(mu 0.1648): epsilon 0.7 (mu 0.1699) was spent of epsilon 1 at delta 1e-06, and together they would cost "
        "epsilon 1.17 (mu 0.2737). Ask for no more than that. Nothing was drawn and nothing was charged."
    )


# A release and its entry


def test_an_entry_says_everything_about_its_charge(ledger):
    before = datetime.now(UTC)
    made = release(ledger).guarantee
    release(ledger, epsilon=0.1, calibration="classical")
    first, second = ledger.entries
    assert tuple(first.__dataclass_fields__) == tuple(FIELDS)
    assert datetime.fromisoformat(first.time).utcoffset() == timedelta(0)
    assert abs(datetime.fromisoformat(first.time) - before) < timedelta(seconds=20)
    assert (first.name, first.mechanism, first.n) == ("survey", "spherical Kendall matrix", 60)
    assert (first.sensitivity, first.sigma, first.mu) == (made.sensitivity + made.slack, made.sigma, made.mu)
    assert made.slack > 0
    assert first.mu == first.sensitivity / first.sigma
    assert [entry.calibration for entry in ledger.entries] == ["analytic", "classical"]
    assert first.randomness == made.randomness == noise_source()
    assert (first.cumulative_mu, first.cumulative_epsilon) == (first.mu, pytest.approx(0.5, rel=1e-8))
    assert second.cumulative_mu == pytest.approx(math.hypot(first.mu, second.mu), rel=1e-15)
    assert second.cumulative_epsilon == gaussian_epsilon(second.cumulative_mu, 1e-6) == ledger.spent
    assert ledger.spent_mu == second.cumulative_mu


def test_entries_make_a_table_of_plain_values(ledger):
    entry = pay(ledger, n=np.int64(7), sensitivity=np.float32(0.5), sigma=np.float64(5))
    assert [type(value) for value in vars(entry).values()] == [str] * 3 + [int] + [float] * 3 + [str] + [float] * 2 + [
        str
    ]
    assert list(pd.DataFrame(ledger.entries).columns) == FIELDS
    assert ledger.entries == (entry,)


def test_a_release_is_charged_once_before_its_noise_is_drawn(ledger, monkeypatch):
    seen, draw = [], mechanism.hardened_noise

    def watched(matrix, sigma):
        seen.append(len(ledger.entries))
        return draw(matrix, sigma)

    monkeypatch.setattr(mechanism, "hardened_noise", watched)
    release(ledger)
    release(ledger, epsilon=0.1)
    assert seen == [1, 2]
    assert len(ledger.entries) == 2


def test_overspending_raises_before_any_noise_is_drawn(ledger, draws):
    with pytest.raises(BudgetError):
        release(ledger, epsilon=1.001)
    assert draws == []
    assert ledger.entries == ()
    release(ledger)
    assert draws == [4]


@pytest.mark.parametrize(
    "changes",
    [
        {"data": np.array([[1.0, NAN], [2, 3], [4, 5]])},
        {"data": np.zeros((1, 2))},
        {"scale": [1, 2, 3]},
        {"scale": [1, 2, 3, 0]},
        {"epsilon": NAN},
        {"calibration": "no"},
    ],
)
def test_a_release_that_fails_before_its_draw_costs_nothing(ledger, draws, changes):
    with pytest.raises((DataError, ValueError)):
        release(ledger, **changes)
    assert ledger.entries == ()
    assert draws == []


def test_a_matrix_that_cannot_be_computed_costs_nothing(ledger, monkeypatch):
    def broken(*args, **kwargs):
        raise MemoryError

    monkeypatch.setattr(mechanism, "spherical_kendall", broken)
    with pytest.raises(MemoryError):
        release(ledger)
    assert ledger.entries == ()


def test_a_release_that_fails_after_its_draw_counts(ledger, monkeypatch):
    def broken(*args, **kwargs):
        raise MemoryError

    monkeypatch.setattr(loading, "release_from_noisy", broken)
    with pytest.raises(MemoryError):
        release(ledger)
    assert len(ledger.entries) == 1


class Untouchable:
    """Fails the test as soon as anything about it is asked."""

    def __getattribute__(self, name):
        raise AssertionError(f"the data were touched: {name}")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rng": 0}, "nothing was charged. The noise came from a generator that was handed in or seeded"),
        ({"rng": np.random.default_rng()}, "Leave rng out"),
        ({"scale": "sample"}, "Give public scales instead"),
        ({"coincident": "raise"}, 'Use coincident="zero"'),
        ({"reference": True}, "^reference must be False with a ledger.* Leave it out, or make the reference by itself"),
        ({"epsilon": 30, "delta": 1e-3, "calibration": "classical"}, 'Use calibration="analytic" or a smaller epsilon'),
    ],
)
def test_settings_that_void_the_guarantee_are_refused_before_a_row_is_read(changes, message, draws):
    ledger = Ledger(100, 1e-3)
    with pytest.raises(ValueError, match=message):
        release(ledger, Untouchable(), **changes)
    assert ledger.entries == ()
    assert draws == []


@pytest.mark.parametrize(
    ("data", "scale"),
    [
        (scale_table(as_table(ROWS), "sample")[0], None),
        (ROWS, ROWS.std(axis=0, ddof=1)),
        (ROWS, ROWS.std(axis=0)),
    ],
    ids=["scaled table", "scales of the sample", "the same by n"],
)
def test_scales_that_turn_out_to_be_the_samples_own_are_refused_and_cost_nothing(ledger, draws, data, scale):
    with pytest.raises(ValueError, match=r"nothing was charged.*Give public scales"):
        release(ledger, data, scale=scale)
    assert ledger.entries == ()
    assert draws == []


@pytest.mark.parametrize(
    "wrong", [object(), "survey.jsonl", Budget(1, 1e-6), 1.0, False], ids=lambda x: type(x).__name__
)
def test_only_a_ledger_is_taken_for_a_ledger(wrong):
    with pytest.raises(TypeError, match=r"^ledger must be a Ledger or None; got .* Make one: Ledger\("):
        release(wrong, Untouchable())


def test_a_release_with_a_ledger_is_the_same_mechanism(ledger, monkeypatch):
    monkeypatch.setattr(mechanism, "hardened_noise", lambda K, sigma: (K + sigma * np.eye(len(K)), noise_source()))
    with_one, without = release(ledger), release(None)
    pd.testing.assert_frame_equal(with_one.noisy_kendall, without.noisy_kendall, check_exact=True)
    assert with_one.guarantee == without.guarantee


def test_the_file_holds_nothing_that_depends_on_the_rows(tmp_path):
    written = []
    for i, rows in enumerate((ROWS, np.random.default_rng(2).normal(size=(60, 4)) ** 3 + 1e6)):
        release(Ledger(1, 1e-6, path=tmp_path / f"{i}.jsonl", name="survey"), rows)
        written.append([json.loads(line) for line in (tmp_path / f"{i}.jsonl").read_text().splitlines()])
        written[-1][1].pop("time")
    assert written[0] == written[1]


# Arguments


@pytest.mark.parametrize("bad", [0, -1, NAN, INF, "1", None, True, 1j])
def test_a_bad_budget_is_refused_before_a_file_is_made(path, bad):
    for arguments in ((bad, 1e-6), (1, bad)):
        with pytest.raises((TypeError, ValueError), match=r"^(epsilon|delta) must be"):
            Ledger(*arguments, path=path)
    assert list(path.parent.iterdir()) == []


@pytest.mark.parametrize("argument", ["sensitivity", "sigma"])
@pytest.mark.parametrize("bad", [0, -1.0, NAN, INF, -INF, 10**400, "1", None, True, np.True_, 1j, [1.0]], ids=repr)
def test_a_bad_scale_of_a_charge_is_refused_by_its_name(ledger, argument, bad):
    with pytest.raises((TypeError, ValueError), match=f"^{argument} must be a finite number above 0; got"):
        pay(ledger, **{argument: bad})
    assert ledger.entries == ()


@pytest.mark.parametrize("bad", [0, -1, 1.5, "3", None, True])
def test_a_bad_number_of_rows_is_refused(ledger, bad):
    with pytest.raises(ValueError, match=r"^n must be a whole number of at least 1; got"):
        pay(ledger, n=bad)


@pytest.mark.parametrize("bad", ["", "  ", None, 3, b"x"])
def test_texts_must_say_something(ledger, bad):
    for argument in ("calibration", "randomness"):
        with pytest.raises((TypeError, ValueError), match=f"^{argument} must"):
            pay(ledger, **{argument: bad})
    with pytest.raises((TypeError, ValueError), match=r"^mechanism must"):
        ledger.charge(bad, n=3, sensitivity=1, sigma=100, randomness="x")
    if bad is not None:
        with pytest.raises((TypeError, ValueError), match=r"^name must"):
            Ledger(1, 1e-6, name=bad)


@pytest.mark.parametrize("sigma", [1e-200, 1e200])
def test_a_mu_whose_square_is_lost_is_refused(ledger, sigma):
    with pytest.raises(ValueError, match=r"^sensitivity / sigma must be a number that double precision can square"):
        pay(ledger, 1.0, sigma=sigma)
    assert ledger.entries == ()


# The file


def test_the_file_is_json_lines_that_only_grow(path):
    ledger = Ledger(1, 1e-6, path=path, name='a "b"\n\u2028é')
    before = path.read_bytes()
    assert json.loads(before) == {"ledger": 1, "name": 'a "b"\n\u2028é', "epsilon": 1.0, "delta": 1e-6}
    for k in range(1, 4):
        entry = pay(ledger, 0.1)
        content = path.read_bytes()
        assert content.startswith(before)
        assert content.endswith(b"\n")
        assert content.count(b"\n") == k + 1
        assert json.loads(content.splitlines()[-1]) == vars(entry)
        before = content
    assert list(vars(entry)) == FIELDS


def test_an_entry_is_whole_and_synced_before_charge_returns(path, monkeypatch):
    ledger = Ledger(1, 1e-6, path=path)
    synced, sync = [], os.fsync

    def watched(descriptor):
        sync(descriptor)
        assert os.path.samestat(os.fstat(descriptor), path.stat())
        synced.append(path.read_bytes())

    monkeypatch.setattr("os.fsync", watched)
    pay(ledger)
    assert synced == [path.read_bytes()]
    assert synced[0].count(b"\n") == 2


def test_a_new_file_and_its_name_in_the_folder_are_synced(path, monkeypatch):
    synced, sync = [], os.fsync

    def watched(descriptor):
        sync(descriptor)
        synced.append((path.exists(), os.fstat(descriptor).st_ino))

    monkeypatch.setattr("os.fsync", watched)
    Ledger(1, 1e-6, path=path)
    assert synced == [(False, path.stat().st_ino), (True, path.parent.stat().st_ino)]


def test_a_ledger_is_found_again_with_all_that_was_spent(path):
    first = Ledger(1, 1e-6, path=path, name="survey")
    entry = pay(first, 0.2)
    again = Ledger(1.0, np.float64(1e-6), path=str(path), name="survey")
    assert again.entries == (entry,)
    assert again.spent == first.spent
    with pytest.raises(BudgetError):
        pay(again, 0.2)


def test_two_ledgers_on_one_file_see_what_the_other_spends(path):
    one, two = Ledger(1, 1e-6, path=path), Ledger(1, 1e-6, path=path)
    pay(one, 0.2)
    assert two.spent == one.spent > 0
    with pytest.raises(BudgetError):
        pay(two, 0.2)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"epsilon": 2}, r"was opened with epsilon 1\.0 and delta 1e-06, not 2\.0 and 1e-06.* another path"),
        ({"delta": 1e-5}, r"was opened with epsilon 1\.0 and delta 1e-06, not 1\.0 and 1e-05"),
        ({"name": "other"}, r"is that of 'survey', not of 'other'. Give that name, or another path"),
    ],
)
def test_the_file_of_another_budget_or_name_is_refused_and_left_alone(path, asked, message):
    pay(Ledger(1, 1e-6, path=path, name="survey"))
    before = path.read_bytes()
    with pytest.raises(LedgerError, match=message):
        Ledger(**({"epsilon": 1, "delta": 1e-6, "path": path, "name": "survey"} | asked))
    assert path.read_bytes() == before


def test_a_name_is_taken_from_the_file_if_none_is_given(path):
    assert Ledger(1, 1e-6, path=path).name == "survey"
    other = path.with_name("x.jsonl")
    Ledger(1, 1e-6, path=other, name="census")
    assert Ledger(1, 1e-6, path=other).name == "census"
    assert Ledger(1, 1e-6).name == "data"


def test_a_relative_path_stays_where_it_was_when_the_folder_changes(tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    ledger = Ledger(1, 1e-6, path="a.jsonl")
    monkeypatch.chdir(tmp_path / "elsewhere")
    pay(ledger)
    assert Ledger(1, 1e-6, path=tmp_path / "a.jsonl").entries == ledger.entries
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(LedgerError, match=r'There is no folder "none" for the ledger "a\.jsonl"\. Make it first'):
        Ledger(1, 1e-6, path=tmp_path / "none" / "a.jsonl")


# What a crash, a full disk or a careless copy leaves behind


def test_a_file_cut_anywhere_is_refused_or_counted_and_never_undercounts(path):
    ledger = Ledger(1, 1e-6, path=path)
    pay(ledger, 0.05)
    before = path.stat().st_size
    pay(ledger, 0.1)
    content = path.read_bytes()
    for size in range(before + 1, len(content) - 1):
        path.write_bytes(content[:size])
        with pytest.raises(LedgerError, match=r"The last line \(3\) .* is incomplete.* delete this one line"):
            Ledger(1, 1e-6, path=path)
        with pytest.raises(LedgerError, match="incomplete"):
            pay(ledger)
        assert path.read_bytes() == content[:size]


def test_after_the_remedy_for_an_incomplete_line_the_ledger_goes_on(path):
    pay(Ledger(1, 1e-6, path=path), 0.05)
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"time": "2026')
    with pytest.raises(LedgerError, match="incomplete"):
        Ledger(1, 1e-6, path=path)
    path.write_bytes(whole)  # what the message says
    pay(Ledger(1, 1e-6, path=path), 0.05)
    assert len(Ledger(1, 1e-6, path=path).entries) == 2


def test_a_last_line_that_lacks_only_its_end_counts_and_is_ended_by_the_next_entry(path):
    ledger = Ledger(1, 1e-6, path=path)
    first = pay(ledger, 0.05)
    path.write_bytes(path.read_bytes()[:-1])
    again = Ledger(1, 1e-6, path=path)
    assert again.entries == (first,)
    second = pay(again, 0.1)
    assert Ledger(1, 1e-6, path=path).entries == (first, second)


@pytest.mark.parametrize(
    "content", [b"", b'{"ledger": 1, "na', b"{}\n", b"\n", b"a,b\n1,2\n", b"\x00" * 40, b"[[" * 9999]
)
def test_a_file_that_no_ledger_wrote_is_refused_and_left_alone(path, content):
    path.write_bytes(content)
    with pytest.raises(LedgerError, match=r"has no whole first line|Line 1 of the ledger"):
        Ledger(1, 1e-6, path=path)
    assert path.read_bytes() == content


def rewritten(lines, number, **changes):
    record = json.loads(lines[number]) | changes
    return [*lines[:number], json.dumps({k: v for k, v in record.items() if v is not ...}), *lines[number + 1 :]]


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda x: [x[0], x[2], x[3]], "do not add up"),
        (lambda x: rewritten(x, 3, cumulative_mu=0.1), "do not add up"),
        (lambda x: rewritten(x, 2, mu=0.01, sensitivity=0.01), "do not add up"),
        (lambda x: [x[0], x[1][:30], *x[2:]], "Line 2 .* is not what a ledger writes"),
        (lambda x: [x[0], "", *x[1:]], "Line 2"),
        (lambda x: [*x[:3], x[3].replace("0.1,", "NaN,", 1)], "Line 4"),
        (lambda x: rewritten(x, 3, sigma=0.5), "Line 4"),
        (lambda x: rewritten(x, 3, mu=-0.1, sensitivity=-0.1), "Line 4"),
        (lambda x: rewritten(x, 3, mu=True), "Line 4"),
        (lambda x: rewritten(x, 3, mu="0.1"), "Line 4"),
        (lambda x: rewritten(x, 3, mu=...), "Line 4"),
        (lambda x: rewritten(x, 3, extra=1), "Line 4"),
        (lambda x: rewritten(x, 3, name="other"), "Line 4"),
        (lambda x: rewritten(x, 0, ledger=2), "Line 1"),
        (lambda x: rewritten(x, 0, delta=5.0), r"was opened with epsilon 1\.0 and delta 5\.0"),
        (lambda x: [*x, x[0]], "Line 5"),
    ],
)
def test_lost_and_changed_lines_are_found_and_nothing_is_charged_on_top(path, spoil, message):
    ledger = Ledger(1, 1e-6, path=path)
    for mu in (0.05, 0.07, 0.1):
        pay(ledger, mu)
    spoilt = "\n".join(spoil(path.read_text().splitlines())) + "\n"
    path.write_text(spoilt)
    for use in (lambda: Ledger(1, 1e-6, path=path), lambda: pay(ledger), lambda: ledger.spent):
        with pytest.raises(LedgerError, match=message):
            use()
    assert path.read_text() == spoilt
    assert "not usable" in repr(ledger)


def test_an_open_ledger_notices_that_its_file_went_back_or_away(path, draws):
    ledger = Ledger(1, 1e-6, path=path)
    pay(ledger, 0.05)
    earlier = path.read_bytes()
    pay(ledger, 0.1)
    path.write_bytes(earlier)
    with pytest.raises(LedgerError, match=r"has lost entries that it had. Put back the file"):
        release(ledger)
    path.unlink()
    with pytest.raises(LedgerError, match=r"cannot be read .* Put the file back"):
        release(ledger)
    assert not path.exists()
    assert draws == []


def test_a_full_disk_leaves_no_half_line_and_nothing_is_drawn(path, monkeypatch, draws):
    ledger = Ledger(1, 1e-6, path=path)
    pay(ledger, 0.05)
    before = path.read_bytes()
    write, calls = os.write, []

    def filling(descriptor, data):
        calls.append(len(data))
        if len(calls) > 1:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(descriptor, data[:20])

    with monkeypatch.context() as patch:
        patch.setattr(ledger_file.os, "write", filling)
        with pytest.raises(LedgerError, match=r"cannot be written .*No space left.* Make room"):
            release(ledger)
    assert len(calls) == 2
    assert path.read_bytes() == before
    assert draws == []
    release(ledger, epsilon=0.1)
    assert len(ledger.entries) == 2


def test_a_write_in_several_pieces_is_one_line(path, monkeypatch):
    write = os.write
    ledger = Ledger(1, 1e-6, path=path)
    monkeypatch.setattr(ledger_file.os, "write", lambda descriptor, data: write(descriptor, data[:7]))
    entry = pay(ledger)
    assert Ledger(1, 1e-6, path=path).entries == (entry,)


def test_an_entry_whose_sync_fails_is_not_released_on(path, monkeypatch, draws):
    ledger = Ledger(1, 1e-6, path=path)

    def failing(descriptor):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr("os.fsync", failing)
    with pytest.raises(LedgerError, match="Nothing was released"):
        release(ledger)
    assert draws == []


def test_whoever_holds_the_lock_too_long_is_not_overrun(path, monkeypatch):
    ledger = Ledger(1, 1e-6, path=path)
    monkeypatch.setattr(ledger_file, "_PATIENCE", 0.05)
    with (
        filelock.FileLock(f"{path}.lock"),
        pytest.raises(LedgerError, match=r"held the lock .* Wait for it or end it"),
    ):
        pay(ledger)
    assert pay(ledger).mu == 0.1


# Threads and processes


def raced(ledgers, attempts, mu):
    """Charge from one thread per ledger; return how many charges went through."""
    paid, start = [], threading.Barrier(len(ledgers))

    def run(ledger):
        start.wait()
        for _ in range(attempts):
            with suppress(BudgetError):
                paid.append(pay(ledger, mu))

    threads = [threading.Thread(target=run, args=(ledger,)) for ledger in ledgers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return paid


@pytest.mark.parametrize("shared", ["memory", "one ledger on a file", "a ledger per thread on a file"])
def test_threads_neither_spend_twice_nor_lose_an_entry(path, shared, monkeypatch):
    fits = Account.fits

    def slow(account, mu):
        time.sleep(0.001)  # all others get their turn between the check and the entry
        return fits(account, mu)

    monkeypatch.setattr(Account, "fits", slow)
    mu = gaussian_mu(1, 1e-6) / math.sqrt(40)
    if shared == "a ledger per thread on a file":
        ledgers = [Ledger(1, 1e-6, path=path) for _ in range(4)]
    else:
        ledgers = [Ledger(1, 1e-6, path=None if shared == "memory" else path)] * 4
    paid = raced(ledgers, attempts=15, mu=mu)
    assert len(paid) == 40
    assert sorted(paid, key=lambda e: e.cumulative_mu) == list(ledgers[0].entries)
    assert len({entry.cumulative_mu for entry in paid}) == 40


CHARGING = """
import sys, time
from pathlib import Path
from dppca_nb.core.ledger import BudgetError, Ledger
path, mu, own = Path(sys.argv[1]), float(sys.argv[2]), sys.argv[3]
path.with_name(own).touch()
while len(list(path.parent.glob("ready*"))) < 2:
    time.sleep(0.001)
ledger, paid = Ledger(1, 1e-6, path=path), 0
for _ in range(30):
    try:
        ledger.charge(own, n=9, sensitivity=mu, sigma=1, randomness="none")
        paid += 1
    except BudgetError:
        pass
print(paid)
"""


def test_processes_neither_spend_twice_nor_lose_an_entry(path):
    mu = gaussian_mu(1, 1e-6) / math.sqrt(40)
    running = [
        subprocess.Popen([sys.executable, "-c", CHARGING, path, str(mu), f"ready{i}"], stdout=subprocess.PIPE)
        for i in range(2)
    ]
    paid = [int(process.communicate(timeout=60)[0]) for process in running]
    assert [process.returncode for process in running] == [0, 0]
    entries = Ledger(1, 1e-6, path=path).entries  # made by whichever came first
    assert sum(paid) == len(entries) == 40
    for i, count in enumerate(paid):
        assert [entry.mechanism for entry in entries].count(f"ready{i}") == count


CRASHING = """
import os, sys
import numpy as np
from dppca_nb import Ledger, dp_loading
from dppca_nb.core import mechanism
mechanism.hardened_noise = lambda matrix, sigma: os._exit(7)  # at the very moment of the draw
dp_loading(np.eye(9), epsilon=0.5, delta=1e-6, calibration="analytic", ledger=Ledger(1, 1e-6, path=sys.argv[1]))
"""


def test_a_kernel_that_dies_at_the_draw_has_paid(path):
    died = subprocess.run([sys.executable, "-c", CRASHING, path], check=False)
    assert died.returncode == 7
    ledger = Ledger(1, 1e-6, path=path)
    assert [entry.mechanism for entry in ledger.entries] == ["spherical Kendall matrix"]
    assert ledger.spent == pytest.approx(0.5, rel=1e-8)


# In memory


def test_a_ledger_in_memory_writes_nothing_and_says_so(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ledger = Ledger(1, 1e-6)
    pay(ledger)
    assert ledger.path is None
    assert list(tmp_path.iterdir()) == []
    assert "Kept in memory only: a restart of the kernel forgets what was spent." in " ".join(ledger.summary().split())


def test_a_copy_spends_from_the_same_account(ledger):
    for twin in (copy.copy(ledger), copy.deepcopy(ledger)):
        pay(twin, 0.01)
    assert len(ledger.entries) == 2


def test_a_ledger_goes_to_another_program_only_by_its_file(path, monkeypatch):
    kept = Ledger(1, 1e-6, path=path, name="survey")
    pay(kept)
    again = pickle.loads(pickle.dumps(kept))
    assert (again.name, again.entries) == ("survey", kept.entries)
    memory = Ledger(1, 1e-6)
    with pytest.raises(TypeError, match="Give it a path"):
        pickle.dumps(memory)
    monkeypatch.setattr(os, "getpid", lambda: -1)  # as in a forked process
    with pytest.raises(LedgerError, match="Give it a path"):
        pay(memory)
    assert pay(kept).mu == 0.1


# Words


def test_the_summary_says_what_was_spent_what_is_left_and_for_how_many_it_lasts(path):
    ledger = Ledger(1, 1e-6, path=path, name="survey")
    release(ledger, epsilon=0.5)
    assert ledger.summary(Budget(0.4, 1e-6)) == (
        "Ledger of 'survey': epsilon 1 at delta 1e-06 (mu 0.2367) for all releases together.\n"
        "Spent: epsilon 0.5 (mu 0.1241) by 1 release.\n"
        "Left: one more release may cost up to epsilon 0.8411 (mu 0.2015) with analytic calibration.\n"
        "  Epsilons do not add up; squares of mu do.\n"
        "4 more like this: epsilon 0.4 at delta 1e-06, analytic calibration.\n"
        "Kept in survey.jsonl: every entry is on disk before its noise is drawn.\n"
        "It knows of no release of the same rows that was not charged to it."
    )
    assert "\n2 more like the last one.\n" in str(ledger)
    assert max(map(len, ledger.summary(Budget(0.1, 1e-6), "classical").splitlines())) <= 96


def test_the_summary_of_a_new_and_of_an_empty_ledger(ledger):
    assert "Spent: epsilon 0 (mu 0) by 0 releases." in ledger.summary()
    assert "may cost up to epsilon 1 (mu 0.2367) with" in ledger.summary()
    assert "like the last" not in ledger.summary()
    assert "Over a million more like this" in ledger.summary(Budget(1e-9, 1e-15))
    release(ledger, epsilon=1)
    assert "Left: nothing. No further release fits, however small." in ledger.summary()
    assert "0 more like the last one." in ledger.summary()


def test_the_summary_warns_of_a_delta_that_protects_little():
    ledger = Ledger(1, 0.01)
    pay(ledger, n=99)
    assert "Warning" not in ledger.summary()
    pay(ledger, n=100)
    assert "Warning: delta 0.01 is not below 1/n = 0.01" in ledger.summary()


def test_the_text_of_a_ledger_tells_its_state(path):
    ledger = Ledger(1, 1e-6, path=path, name="survey")
    release(ledger, epsilon=0.5)
    assert repr(ledger) == (
        "Ledger('survey': epsilon 0.5 of 1 spent at delta 1e-06 by 1 release; left for one more: 0.8411; "
        "in survey.jsonl)"
    )
    release(ledger, epsilon=ledger.left)
    assert repr(ledger).endswith("by 2 releases; nothing left; in survey.jsonl)")
    assert isinstance(ledger.entries[0], LedgerEntry)


def test_a_ledger_writes_beside_its_file_nothing_but_its_lock(path):
    release(Ledger(1, 1e-6, path=path))
    assert {file.name for file in Path(path.parent).iterdir()} <= {"survey.jsonl", "survey.jsonl.lock"}
