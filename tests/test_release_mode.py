"""Release mode: what reaches private rows and what does not, what is spent, what is kept, and what leaks nowhere."""

import inspect
import json
import sys
import threading

import numpy as np
import pandas as pd
import pytest

from dppca_nb import BudgetError, DataError, Ledger, LoadingExplorer, LoadingRelease, dp_loading, spherical_kendall
from dppca_nb.core import desk as desk_module
from dppca_nb.core import mechanism, shelf
from dppca_nb.core.ledger import LedgerError
from dppca_nb.core.ledger_file import LedgerFile
from dppca_nb.core.preview import PreviewDraws
from dppca_nb.core.privacy import Budget
from dppca_nb.core.release import release_from_noisy
from dppca_nb.table import as_table
from dppca_nb.widgets.release_words import UNUSABLE
from dppca_nb.widgets.view import SettingError

NAMES = list("wxyz")
ROWS = np.random.default_rng(9).normal(loc=50, size=(400, 4)) @ np.diag([3, 2, 1, 0.5])
DATA = pd.DataFrame(ROWS, columns=NAMES)
OTHER = pd.DataFrame(np.random.default_rng(8).normal(size=(400, 4)), columns=NAMES)


@pytest.fixture
def make():
    """Make explorers with a ledger that are closed afterwards."""
    made = []

    def build(data=DATA, ledger=None, **settings):
        ledger = Ledger(1, 1e-6, name="survey") if ledger is None else ledger
        explorer = LoadingExplorer(data, ledger=ledger, **settings)
        explorer._layouts = ["340|1.1"]
        made.append(explorer)
        return explorer

    yield build
    for explorer in made:
        explorer.close()


@pytest.fixture
def drawn(monkeypatch):
    """How often the mechanism reached private rows."""
    calls = []
    original = mechanism.noisy_kendall

    def counted(table, **kwargs):
        calls.append(kwargs["guarantee"].epsilon)
        return original(table, **kwargs)

    for module in _users_of_the_mechanism():
        monkeypatch.setattr(module, "noisy_kendall", counted)
    return calls


def _users_of_the_mechanism():
    """Modules that hold the mechanism under its own name."""
    return [
        module
        for name, module in sys.modules.items()
        if name.startswith("dppca_nb.") and getattr(module, "noisy_kendall", None) is mechanism.noisy_kendall
    ]


def press(explorer, asked=None):
    """Confirm, as the second press of the button does."""
    explorer._handle_custom_msg({"do": "spend", "asked": asked or explorer._frame["ledger"]["asked"]}, [])


def play(explorer):
    """Move everything that a browser can move."""
    for number in range(50):
        explorer.set_state({"epsilon": 0.05 * (number + 1), "_dragging": number % 2 == 0})
    for settings in (
        {"delta": 1e-5},
        {"calibration": "classical"},
        {"draw": 3},
        {"kind": "heatmap"},
        {"kind": "point"},
        {"components": [2, 1]},
        {"variables": 2},
        {"labels": False},
        {"uncertainty": "cloud"},
        {"uncertainty": "off"},
        {"pattern": "flat"},
        {"_layouts": ["200|1.2", "404|1.1"]},
        {"top_up_to": 5.0},
        {"noise_shown": 0.01},
    ):
        explorer.set_state(settings)
    explorer.set_state({"draw": 4})
    return explorer._repr_mimebundle_()


# ----- what reaches the rows -----


def test_no_control_reaches_the_mechanism_before_a_release(make, drawn):
    explorer = make(ledger=Ledger(50, 1e-6))
    play(explorer)
    assert drawn == []
    assert explorer.ledger.entries == ()
    explorer.release()
    assert len(drawn) == 1  # so the counter counts


def test_no_control_reaches_the_mechanism_after_a_release(make, drawn):
    explorer = make(epsilon=0.3)
    explorer.release()
    entries = explorer.ledger.entries
    play(explorer)
    assert len(drawn) == 1
    assert explorer.ledger.entries == entries


def test_the_preview_is_the_same_whatever_the_rows_say(make):
    frames = []
    for data in (DATA, OTHER, DATA * 1e6 + 3, DATA.iloc[::-1]):
        explorer = make(data, title="survey")
        play(explorer)
        frames.append({**explorer._frame, "slow": None})
    assert all(frame == frames[0] for frame in frames)
    assert frames[0]["words"]["ttl"].startswith("Preview: simulated")


def test_a_release_spends_once_however_often_it_is_asked_for(make, drawn):
    explorer = make(epsilon=0.5)
    asked = explorer._frame["ledger"]["asked"]
    first = explorer.release()
    press(explorer, asked)
    press(explorer, asked)
    assert explorer.release() is first is explorer.result
    assert explorer._frame.get("error") is None
    assert len(drawn) == len(explorer.ledger.entries) == 1
    assert first.entries == explorer.ledger.entries


def test_the_button_releases_what_it_asked_about(make):
    explorer = make(epsilon=0.3)
    assert explorer._frame["ledger"]["yes"] == "Spend ε 0.30 and release"
    press(explorer)
    assert explorer._frame["badge"] == "Released"
    assert explorer._frame.get("busy") is None
    assert explorer.result.guarantee.epsilon == 0.3
    assert explorer.result.guarantee.holds


def test_an_answer_to_another_question_draws_nothing(make, drawn):
    explorer = make(epsilon=0.3)
    asked = explorer._frame["ledger"]["asked"]
    explorer.epsilon = 0.8
    press(explorer, asked)
    assert drawn == []
    assert explorer._frame["error"].startswith("The settings changed between the question and the answer")
    for nonsense in ({"draws": 0}, {"epsilon": 0.8}, {**asked, "draws": 7}):
        press(explorer, nonsense)
    explorer._handle_custom_msg("spend", [])
    explorer._handle_custom_msg({"do": "spend"}, [])
    assert drawn == []


def test_two_threads_that_press_at_once_pay_once(make, monkeypatch):
    explorer = make(epsilon=0.3)
    asked, barrier = explorer._frame["ledger"]["asked"], threading.Barrier(4)
    threads = [threading.Thread(target=lambda: (barrier.wait(), press(explorer, asked))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(explorer.ledger.entries) == 1
    assert explorer._frame["badge"] == "Released"


def test_two_explorers_of_one_ledger_pay_once_and_show_the_same(make):
    ledger = Ledger(1, 1e-6)
    one, two = make(ledger=ledger, epsilon=0.3), make(ledger=ledger, epsilon=0.5)
    barrier = threading.Barrier(2)
    threads = [threading.Thread(target=lambda e=e: (barrier.wait(), e.release())) for e in (one, two)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(ledger.entries) == 1
    assert one.result is two.result
    assert one._frame["badge"] == two._frame["badge"] == "Released"


# ----- what is kept -----


def test_running_the_cell_again_shows_the_release_and_spends_nothing(make, drawn):
    ledger = Ledger(1, 1e-6)
    first = make(ledger=ledger, epsilon=0.3).release()
    again = make(ledger=ledger, epsilon=0.7)
    assert again._frame["badge"] == "Released"
    assert again.release() is first
    assert len(drawn) == 1


def test_a_restart_of_the_kernel_finds_the_release(make, tmp_path, drawn):
    path = tmp_path / "survey.jsonl"
    first = make(ledger=Ledger(1, 1e-6, path=path), epsilon=0.3).release()
    again = make(ledger=Ledger(1, 1e-6, path=path))
    assert again._frame["badge"] == "Released"
    pd.testing.assert_frame_equal(again.result.noisy_kendall, first.noisy_kendall, check_exact=True)
    assert again.result.guarantee == first.guarantee
    assert len(drawn) == 1


@pytest.mark.parametrize(
    ("data", "settings"),
    [
        (DATA.iloc[:-1], {}),
        (DATA.rename(columns={"w": "v"}), {}),
        (DATA[["x", "w", "y", "z"]], {}),
        (DATA, {"scale": [3, 2, 1, 1]}),
    ],
    ids=["another n", "another name", "another order", "another scale"],
)
def test_another_table_or_scale_is_another_release(make, tmp_path, data, settings):
    for ledger in (Ledger(1, 1e-6), Ledger(1, 1e-6, path=tmp_path / "survey.jsonl")):
        make(ledger=ledger, epsilon=0.3).release()
        other = make(data, ledger=ledger, epsilon=0.3, **settings)
        assert other._frame["badge"] == "Release: preview"
        other.release()
        assert len(ledger.entries) == 2


def test_a_crash_between_draw_and_display_loses_no_entry(make, tmp_path, monkeypatch):
    path = tmp_path / "survey.jsonl"
    explorer = make(ledger=Ledger(1, 1e-6, path=path), epsilon=0.3)

    def crash(self, release):
        raise KeyboardInterrupt

    monkeypatch.setattr(shelf.Shelf, "put", crash)
    with pytest.raises(KeyboardInterrupt):
        explorer.release()
    monkeypatch.undo()
    again = Ledger(1, 1e-6, path=path)
    assert len(again.entries) == 1
    assert make(ledger=again)._frame["badge"] == "Release: preview"


def test_a_ledger_that_lost_the_entry_of_a_kept_release_is_noticed(make, tmp_path):
    path = tmp_path / "survey.jsonl"
    make(ledger=Ledger(1, 1e-6, path=path), epsilon=0.3).release()
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-1]))
    with pytest.raises(ValueError, match=r'"survey.jsonl.release-1.json" was paid for on .* has no such entry'):
        make(ledger=Ledger(1, 1e-6, path=path))


def test_a_damaged_release_is_refused_by_name(make, tmp_path):
    path = tmp_path / "survey.jsonl"
    make(ledger=Ledger(1, 1e-6, path=path), epsilon=0.3).release()
    kept = tmp_path / "survey.jsonl.release-1.json"
    kept.write_text(kept.read_text()[:-20])
    with pytest.raises(ValueError, match=r"survey\.jsonl\.release-1\.json"):
        make(ledger=Ledger(1, 1e-6, path=path))


# ----- after the release -----


@pytest.mark.parametrize(
    ("name", "value"), [("epsilon", 0.9), ("delta", 1e-5), ("calibration", "classical"), ("draw", 5)]
)
def test_after_a_release_its_budget_cannot_be_changed(make, name, value):
    explorer = make(epsilon=0.3)
    explorer.release()
    before = explorer._frame["rows"]
    explorer.set_state({name: value})  # as a second view does that was dragged meanwhile
    assert "these data were released" in explorer._frame["error"]
    assert getattr(explorer, name) != value
    with pytest.raises(SettingError, match=f"^{name} cannot be changed to .*: these data were released"):
        setattr(explorer, name, value)
    assert explorer._frame["rows"] == before


def test_a_top_up_is_the_same_as_one_release_at_the_larger_epsilon(make):
    explorer = make(epsilon=0.3, ledger=Ledger(1, 1e-6))
    explorer.release()
    goal = explorer._frame["ledger"]["goal"]
    assert goal > 0.3
    press(explorer)
    assert explorer.result.guarantee.epsilon == goal
    assert len(explorer.result.entries) == 2
    assert explorer.ledger.spent == pytest.approx(goal, rel=1e-6)


def test_a_top_up_is_not_paid_twice(make):
    explorer = make(epsilon=0.3)
    explorer.release()
    asked = explorer._frame["ledger"]["asked"]
    press(explorer, asked)
    press(explorer, asked)
    assert len(explorer.ledger.entries) == 2
    reached = explorer.result
    assert explorer.top_up(reached.guarantee.epsilon) is reached
    assert len(explorer.ledger.entries) == 2


def test_the_desk_takes_a_release_to_an_epsilon_once():
    desk = desk_module.ReleaseDesk(as_table(DATA), Ledger(2, 1e-6))
    desk.release(Budget(0.5, 1e-6), "classical")
    assert desk.top_up_mu(0.5) > 0  # the classical noise gives 0.26
    once = desk.top_up(0.8)
    assert desk.top_up(0.8) is desk.top_up(0.3) is once
    assert len(desk.ledger.entries) == 2


def test_what_the_budget_does_not_hold_is_refused_before_noise_is_drawn(make, drawn):
    explorer = make(ledger=Ledger(0.5, 1e-6), epsilon=0.8)
    strip = explorer._frame["ledger"]
    assert not strip["enabled"]
    assert strip["told"] == "Not enough budget: this needs ε 0.80, and ε 0.50 is left. Lower ε."
    with pytest.raises(BudgetError):
        explorer.release()
    assert explorer._frame["error"].startswith("This release asks for epsilon 0.8")
    explorer.epsilon = 0.4
    assert "error" not in explorer._frame
    explorer.release()
    with pytest.raises(BudgetError):
        explorer.top_up(2)
    assert len(explorer.ledger.entries) == 1


def test_less_accuracy_is_free_and_stays_the_same_at_every_look(make):
    explorer = make(epsilon=0.5)
    release = explorer.release()
    explorer.noise_shown = 0.2
    lower = explorer.result.noisy_kendall
    assert explorer.result.guarantee.epsilon == 0.2
    explorer.noise_shown = 0.1
    explorer.noise_shown = 0.2
    pd.testing.assert_frame_equal(explorer.result.noisy_kendall, lower, check_exact=True)
    explorer.noise_shown = None
    assert explorer.result is release
    assert len(explorer.ledger.entries) == 1
    with pytest.raises(SettingError, match=r"^noise_shown must be None or an epsilon below that of the release \(it"):
        explorer.noise_shown = 0.7


# ----- what leaks nowhere -----


def private_texts():
    """Numbers of the private table, and of what follows from it without noise, as they could be written."""
    K = spherical_kendall(DATA).matrix.to_numpy()
    values = [*ROWS[:50].ravel(), *K.ravel(), *np.linalg.eigvalsh(K), *ROWS.mean(axis=0), *ROWS.std(axis=0)]
    values += [*ROWS.std(axis=0, ddof=1), *ROWS.min(axis=0), *ROWS.max(axis=0)]
    return {f"{value:.{digits}g}".lstrip("-") for value in values for digits in (6, 17)}


def test_neither_state_nor_saved_output_nor_message_holds_a_private_number(make, tmp_path, capsys, caplog):
    path = tmp_path / "survey.jsonl"
    explorer = make(ledger=Ledger(1, 1e-6, path=path, name="survey"), epsilon=0.3)
    seen = []

    def look():
        bundle, _ = explorer._repr_mimebundle_()
        state = {name: value for name, value in explorer.get_state().items() if name != "_esm"}
        seen.append(json.dumps(state, default=str) + repr(explorer) + str({**bundle, "image/png": None}))
        seen.append(explorer.chart.to_json() if explorer._release is not None else "")

    look()
    explorer.release()
    look()
    explorer.top_up()
    explorer.noise_shown = 0.1
    look()
    with pytest.raises(SettingError):
        explorer.show_reference = "beside"
    look()
    files = [each.read_text(encoding="utf-8") for each in tmp_path.iterdir() if each.suffix in {".json", ".jsonl"}]
    assert len(files) == 3
    captured = capsys.readouterr()
    everything = "\n".join([*seen, *files, captured.out, captured.err, caplog.text])
    found = [text for text in private_texts() if text in everything]
    assert found == []
    assert str(DATA.to_numpy()[0, 0])[:8] in repr(DATA.to_numpy()[0, 0])  # the search would see one


def test_the_search_sees_a_private_number_that_is_let_out(make):
    explorer = make()
    explorer._frame = {**explorer._frame, "slip": float(ROWS[3, 2])}
    state = json.dumps({name: value for name, value in explorer.get_state().items() if name != "_esm"}, default=str)
    assert any(text in state for text in private_texts())


@pytest.mark.parametrize(
    "data",
    [
        DATA.mask(DATA.iloc[37, 2] == DATA),
        DATA.assign(w=np.inf),
        DATA.astype(object).mask(DATA.iloc[37, 2] == DATA, "oops 37"),
        DATA.iloc[:1],
    ],
    ids=["a missing value", "infinite values", "text in a number column", "one row"],
)
def test_what_is_wrong_with_private_rows_is_not_written(make, data):
    explorer = make(data)
    frame = explorer._frame
    said = json.dumps([frame.get("empty"), frame.get("notes"), frame.get("error")]) + repr(explorer)
    for tell in ("37", "38", "oops", "infinite", "missing"):
        assert tell not in said
    if explorer._mode is None:
        assert explorer._frame["empty"][0] == UNUSABLE or "by its type" in explorer._frame["empty"][0]
        with pytest.raises(DataError, match=r"cannot be released as it is|numbers by its type"):
            explorer.release()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"coincident": "raise"}, '^coincident must be "zero" with a ledger'),
        ({"scale": "sample"}, '^scale must not be "sample" with a ledger'),
        ({"show_reference": "beside"}, "^show_reference must be 'off' for a release"),
        ({"pattern": "sample"}, "^pattern must be one of"),
        ({"pattern": None}, "^pattern must be one of"),
        ({"noise_shown": 0.1}, r"^noise_shown must be None or an epsilon below .*\(there is none yet\)"),
        ({"top_up_to": 0.1}, r"^top_up_to must be None or an epsilon above .*\(there is none yet\)"),
        ({"uncertainty": "yes"}, "^uncertainty must be one of"),
        ({"ledger": {"epsilon": 1}}, "^ledger must be a Ledger or None; got dict"),
    ],
)
def test_what_release_mode_cannot_take_is_refused_by_name(make, settings, message):
    with pytest.raises(SettingError, match=message):
        make(**settings)


@pytest.mark.parametrize("name", ["pattern", "top_up_to", "noise_shown"])
def test_settings_of_release_mode_are_refused_while_teaching(name):
    explorer = LoadingExplorer(DATA)
    with pytest.raises(SettingError, match=f"^{name} belongs to release mode"):
        setattr(explorer, name, 0.1)
    for call in (explorer.release, explorer.top_up):
        with pytest.raises(ValueError, match="needs a ledger"):
            call()
    explorer.close()


# ----- preview -----


def test_the_preview_has_the_noise_of_all_rows_and_follows_its_pattern():
    draws = PreviewDraws(20_190, NAMES)
    assert draws.release(Budget(1, 1e-6), "analytic", 0).guarantee.sigma == pytest.approx(11.949 / 20_190, rel=1e-3)
    first = [np.linalg.eigvalsh(PreviewDraws(5000, NAMES, pattern=name).exact(0))[-1] for name in ("flat", "steep")]
    assert first[0] < first[1] - 0.1


def test_a_public_sample_gives_the_preview_its_pattern(make):
    sample = OTHER @ np.diag([9, 1, 1, 1])
    sample.columns = NAMES
    explorer = make(public_sample=sample, epsilon=8, ledger=Ledger(50, 1e-6))
    assert explorer.pattern == "sample"
    assert abs(explorer.loadings.loc["w", "PC1"]) > 0.8
    with pytest.raises(DataError, match="must have the variables"):
        raise DataError(" ".join(make(public_sample=sample[["x", "w", "y", "z"]])._frame["empty"]))


def test_the_preview_tells_how_far_a_release_would_be_off(make):
    explorer = make(epsilon=0.1)
    assert explorer._frame["beware"]
    assert "With n = 400 rows this budget says little" in explorer._frame["status"]


# ----- the ledger's strip -----


def test_the_bar_is_drawn_in_squares_of_mu_which_add_up(make):
    ledger = Ledger(1, 1e-6)
    for _ in range(3):
        dp_loading(OTHER, epsilon=0.3, delta=1e-6, calibration="analytic", ledger=ledger)
    strip = make(ledger=ledger, epsilon=0.3)._frame["ledger"]
    assert strip["shares"] == pytest.approx([(ledger.entries[0].mu / ledger.mu) ** 2] * 3, abs=1e-6)
    assert strip["share"] == pytest.approx(strip["shares"][0], rel=1e-5)
    assert [part["text"] for part in strip["legend"]][:2] == ["spent ε 0.54", "this release ε 0.30"]


def test_a_thousand_entries_make_a_bar_that_can_be_drawn(make):
    ledger = Ledger(1, 1e-6)
    for _ in range(1000):
        ledger.charge("mean", n=400, sensitivity=1, sigma=1000, randomness="os.urandom")
    shares = make(ledger=ledger)._frame["ledger"]["shares"]
    assert len(shares) == 40
    assert sum(shares) == pytest.approx(1000 * (1e-3 / ledger.mu) ** 2, rel=1e-3)


def test_a_ledger_that_vanishes_stops_spending_and_not_looking(make, tmp_path):
    path = tmp_path / "survey.jsonl"
    explorer = make(ledger=Ledger(1, 1e-6, path=path), epsilon=0.3)
    path.unlink()
    explorer.kind = "point"
    assert "cannot be read" in explorer._frame["ledger"]["told"]
    assert explorer._frame["rows"]
    with pytest.raises(LedgerError):
        explorer.release()


def test_the_code_of_a_release_shows_it_again(make):
    ledger = Ledger(1, 1e-6)
    explorer = make(ledger=ledger, epsilon=0.3, title="survey")
    explorer.release()
    explorer.kind = "heatmap"
    code = explorer._frame["code"]
    again = eval(code, {"LoadingExplorer": LoadingExplorer, "data": DATA, "ledger": ledger})
    assert again.result is explorer.result
    assert again.kind == "heatmap"
    assert len(ledger.entries) == 1
    again.close()


def test_the_promise_is_told_in_plain_words_and_right(make):
    explorer = make(epsilon=1.0, ledger=Ledger(2, 1e-6))
    explorer.release()
    statement = explorer._frame["statement"]
    assert statement["text"].startswith("**Holds:** (ε 1.0, δ 10⁻⁶), exactly ε 1.00.")
    told = " ".join(statement["points"])
    assert "up to a factor of 2.72" in told
    assert "no more than 73.1 %" in told
    for part in ("To whom", "Not promised", "several rows"):
        assert part in told


def test_a_calibration_that_would_not_hold_is_refused_on_the_button(make):
    explorer = make(epsilon=6.0, ledger=Ledger(50, 1e-6), calibration="classical", delta=1e-2)
    guarantee = explorer._frame["statement"]
    enabled = explorer._frame["ledger"]["enabled"]
    assert enabled == (not guarantee["reasons"])


def test_the_desk_reads_rows_in_two_places_only():
    source = inspect.getsource(desk_module)
    assert source.count("self._table") == 3  # kept, released, topped up


def test_a_kept_release_can_be_handed_over(make, tmp_path):
    explorer = make(epsilon=0.3)
    explorer.release().save(tmp_path / "handed.json")
    handed = LoadingRelease.load(tmp_path / "handed.json")
    pd.testing.assert_frame_equal(handed.loadings, explorer.loadings, check_exact=True)


def test_the_table_is_kept_as_it_was(make):
    data = DATA.copy()
    explorer = make(data, epsilon=1.0)
    data.iloc[:, :] = 0.0
    release = explorer.release()
    exact = spherical_kendall(as_table(DATA)).matrix
    assert np.linalg.norm(release.noisy_kendall - exact) < 8 * release.guarantee.sigma


# ----- a release that was handed over -----


@pytest.fixture
def handed(make, tmp_path):
    """A release as someone has it who never saw the data."""
    make(epsilon=0.5, ledger=Ledger(1, 1e-6)).release().save(tmp_path / "handed.json")
    return LoadingRelease.load(tmp_path / "handed.json")


def test_a_release_is_explored_without_its_data(handed):
    explorer = LoadingExplorer(handed, title="survey")
    assert explorer.result is handed
    assert explorer.ledger is None
    assert explorer._frame["badge"] == "Released"
    assert explorer._frame["ledger"] is None
    assert explorer._frame["statement"]["text"].startswith("**Holds:**")
    explorer.noise_shown = 0.1
    assert explorer.result.guarantee.epsilon == 0.1
    assert eval(explorer._frame["code"], {"LoadingExplorer": LoadingExplorer, "release": handed}).noise_shown == 0.1
    for call in (explorer.release, explorer.top_up):
        with pytest.raises(ValueError, match="needs the data and their ledger"):
            call()
    with pytest.raises(SettingError, match=r"^top_up_to needs the data and their ledger"):
        explorer.top_up_to = 3
    with pytest.raises(SettingError, match=r"^noise_shown must be None or an epsilon below"):
        explorer.noise_shown = 0.5001
    explorer.close()


def test_what_was_never_released_is_not_explored_as_a_release():
    for shown in (LoadingExplorer(DATA), LoadingExplorer(DATA, ledger=Ledger(1, 1e-6))):
        explorer = LoadingExplorer(shown.result)
        assert "This was never released" in explorer._frame["empty"][0]
        for each in (shown, explorer):
            each.close()


# ----- what a hostile reviewer found -----


def test_what_is_shown_with_more_noise_follows_from_that_matrix_alone(handed):
    explorer = LoadingExplorer(handed)
    explorer._layouts = ["340|1.1"]
    frames = []
    for before in (None, 0.1, 0.3):  # whatever was looked at before
        explorer.noise_shown = before
        explorer.noise_shown = 0.05
        lowered = explorer.result
        frames.append([explorer._frame["rows"], explorer._frame["table"], explorer._frame["signals"]])
        pd.testing.assert_frame_equal(lowered.loadings, _signed(lowered), check_exact=True)
    assert frames[0] == frames[1] == frames[2]
    explorer.close()


def _signed(release):
    """Directions of a release, from its matrix and nothing else."""
    return release_from_noisy(
        release.noisy_kendall.to_numpy(),
        names=list(release.loadings.index),
        guarantee=release.guarantee,
        n=release.n,
        coincident=release.coincident,
    ).loadings


@pytest.mark.parametrize("cell", [2.5, "n/a", None, "oops"])
def test_which_columns_are_variables_does_not_depend_on_cells(make, cell):
    mixed = DATA.assign(extra=pd.Series([1.5] * 399 + [cell], dtype=object))
    text = DATA.assign(extra=pd.Series([1.5] * 399 + [cell]).astype(str))
    for data in (mixed, text, mixed[["extra"]]):
        told = make(data)._frame["empty"][0]
        assert told.startswith("With a ledger every column must be numbers by its type; these are not:")
        assert "extra" in told
    rows = [[*row, value] for row, value in zip(ROWS.tolist(), [1.5] * 399 + [cell], strict=True)]
    assert (make(rows)._frame.get("empty") == [UNUSABLE]) == (cell != 2.5)


def test_what_a_cell_raises_is_not_written(make):
    class Cell(float):
        def __float__(self):
            raise RuntimeError("SECRET 4711")

    for data in (np.array([[Cell(1), 2.0], [3.0, 4.0]], dtype=object), [[Cell(1), 2.0], [3.0, 4.0]]):
        explorer = make(data)
        assert "4711" not in json.dumps(explorer._frame)


def test_scales_of_the_sample_are_refused_without_saying_what_they_are(make):
    explorer = make(scale=DATA.std().tolist())
    said = json.dumps(explorer._frame) + repr(explorer)
    assert "must be public" in said
    assert not any(text in said for text in private_texts())
    assert "standard deviation" not in said


@pytest.mark.parametrize("fails", ["hardened_noise", "charge"])
def test_a_traceback_with_its_variables_does_not_hold_the_exact_matrix(monkeypatch, fails):
    ledger, exact = Ledger(1, 1e-6), spherical_kendall(DATA).matrix.to_numpy()

    def broken(*args, **kwargs):
        raise MemoryError

    monkeypatch.setattr(*((mechanism, fails) if fails == "hardened_noise" else (Ledger, fails)), broken)
    with pytest.raises(MemoryError) as caught:
        dp_loading(DATA, epsilon=0.5, delta=1e-6, calibration="analytic", ledger=ledger)
    trace, seen = caught.value.__traceback__, []
    while trace is not None:
        seen += [value for name, value in trace.tb_frame.f_locals.items() if name != "exact"]
        trace = trace.tb_next
    arrays = [np.asarray(value) for value in seen if isinstance(value, np.ndarray | pd.DataFrame)]
    assert not any(array.shape == exact.shape and np.allclose(array, exact) for array in arrays)
    assert caught.value.__context__ is None


def test_a_disk_that_is_full_is_noticed_before_anything_is_paid(make, tmp_path, monkeypatch):
    explorer = make(ledger=Ledger(1, 1e-6, path=tmp_path / "survey.jsonl"), epsilon=0.3)

    def full(self, data):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.write_bytes", full)
    with pytest.raises(LedgerError, match="No release can be kept beside the ledger"):
        explorer.release()
    assert explorer.ledger.entries == ()


def test_a_top_up_that_cannot_be_kept_is_shown_and_not_paid_again(make, tmp_path, monkeypatch):
    path = tmp_path / "survey.jsonl"
    explorer = make(ledger=Ledger(1, 1e-6, path=path), epsilon=0.3)
    explorer.release()

    def full(self, where, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(LoadingRelease, "save", full)
    topped = explorer.top_up(0.5)
    assert explorer.result is topped
    assert "The release is not kept" in explorer._frame["notes"][0]
    assert explorer.top_up(0.5) is topped
    assert len(explorer.ledger.entries) == 2
    monkeypatch.undo()
    explorer.kind = "point"
    explorer.release()
    explorer._catch_up(explorer.ledger)
    again = make(ledger=Ledger(1, 1e-6, path=path))
    pd.testing.assert_frame_equal(again.result.noisy_kendall, topped.noisy_kendall, check_exact=True)


def test_a_file_in_the_way_of_a_release_costs_nothing(make, tmp_path):
    path = tmp_path / "survey.jsonl"
    explorer = make(ledger=Ledger(1, 1e-6, path=path), epsilon=0.3)
    explorer.release()
    kept = tmp_path / "survey.jsonl.release-1.json"
    (tmp_path / "survey.jsonl.release-2.json").write_bytes(kept.read_bytes())
    topped = explorer.top_up(0.5)
    assert explorer.result is topped
    assert LoadingRelease.load(tmp_path / "survey.jsonl.release-3.json").entries == topped.entries


def test_a_ledger_that_is_gone_is_not_begun_again_beside_its_releases(make, tmp_path):
    path = tmp_path / "survey.jsonl"
    make(ledger=Ledger(1, 1e-6, path=path), epsilon=0.3).release()
    path.unlink()
    with pytest.raises(
        LedgerError, match=r"is missing, and releases that it paid for lie there: survey\.jsonl\.release-1"
    ):
        Ledger(1, 1e-6, path=path)


def test_an_interrupt_while_releasing_is_said(make, monkeypatch):
    explorer = make(epsilon=0.3)

    def stop(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(mechanism, "hardened_noise", stop)
    with pytest.raises(KeyboardInterrupt):
        explorer.release()
    assert "It stopped with KeyboardInterrupt. The ledger says whether it was charged" in explorer._frame["error"]
    assert explorer._frame.get("busy") is None
    assert len(explorer._frame["ledger"]["shares"]) == 1


def test_scales_that_are_changed_later_change_nothing(make):
    scale, ledger = [3.0, 2.0, 1.0, 1.0], Ledger(1, 1e-6)
    explorer = make(ledger=ledger, scale=scale, epsilon=0.3)
    scale[0] = 99.0
    assert explorer.release().scale == (3.0, 2.0, 1.0, 1.0)


def test_two_threads_that_call_release_both_get_it(make):
    explorer, found, barrier = make(epsilon=0.3), [], threading.Barrier(2)
    threads = [threading.Thread(target=lambda: (barrier.wait(), found.append(explorer.release()))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found[0] is found[1] is explorer.result


# ----- what the first user of it found awkward -----


def test_more_than_is_left_is_refused_before_the_matrix_is_computed(monkeypatch):
    computed = []
    monkeypatch.setattr(mechanism, "spherical_kendall", lambda *args, **kwargs: computed.append(1) or 1 / 0)
    with pytest.raises(BudgetError):
        dp_loading(DATA, epsilon=2, delta=1e-6, calibration="analytic", ledger=Ledger(1, 1e-6))
    assert computed == []


def test_a_refused_top_up_leaves_the_offer_as_it_was(make):
    explorer = make(epsilon=0.3)
    explorer.release()
    offered = explorer._frame["ledger"]["goal"]
    with pytest.raises(BudgetError):
        explorer.top_up(5)
    assert explorer.top_up_to is None
    explorer.noise_shown = 0.1
    assert explorer.top_up().guarantee.epsilon == offered
    assert explorer.noise_shown is None
    assert explorer.result.guarantee.epsilon == offered


def test_a_cell_that_asks_for_more_than_was_released_is_told_so(make):
    ledger = Ledger(2, 1e-6)
    make(ledger=ledger, epsilon=0.3).release()
    assert not any("asks for" in note for note in make(ledger=ledger)._frame["notes"])
    told = make(ledger=ledger, epsilon=0.7)._frame["notes"][-1]
    assert (
        told
        == "The cell asks for ε 0.70, and what was released has ε 0.30: `explorer.top_up(0.7)` adds what is missing."
    )


def test_a_release_says_where_it_comes_from(handed):
    explorer = LoadingExplorer(handed)
    assert explorer.title == handed.entries[0].name
    with pytest.raises(ValueError, match=r"^release\(\) needs the data and their ledger"):
        explorer.release()
    assert "lowered from what the ledger" in repr(handed.lowered(0.1))
    assert "lowered" not in repr(handed)
    explorer.close()


def test_more_noise_than_was_released_is_no_better_promise_than_the_release(make, handed):
    explorer = make(epsilon=1.0, ledger=Ledger(3, 1e-6))
    explorer.release()
    explorer.top_up(2)
    assert "Topped up" in str(explorer._frame["statement"]["points"])
    explorer.noise_shown = 0.2
    told = str(explorer._frame["statement"]["points"])
    assert "Topped up" not in told
    assert "has what it gives: ε 2.00" in told
    lowered = LoadingExplorer(handed.lowered(0.1))
    assert "It was lowered from a release at epsilon 0.5" in str(lowered._frame["statement"]["points"])
    lowered.close()


def test_a_damaged_ledger_is_said_and_leaves_no_view_busy(make, tmp_path):
    path = tmp_path / "survey.jsonl"
    explorer = make(ledger=Ledger(1, 1e-6, path=path), epsilon=0.3)
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(LedgerError):
        explorer.release()
    assert explorer._frame.get("busy") is None
    assert "survey.jsonl" in explorer._frame["error"]


def test_a_setting_that_moves_while_noise_is_drawn_leaves_the_view_busy(make, monkeypatch):
    explorer, seen, original = make(epsilon=0.3), [], mechanism.hardened_noise

    def slow(*args, **kwargs):
        explorer.kind = "point"
        seen.append(explorer._frame.get("busy"))
        return original(*args, **kwargs)

    monkeypatch.setattr(mechanism, "hardened_noise", slow)
    explorer.release()
    assert seen[0].startswith("Computing")
    assert explorer._frame.get("busy") is None


@pytest.mark.parametrize("epsilon", ["x", -1, True, float("nan")])
def test_a_top_up_to_what_is_no_epsilon_is_refused_by_name(make, epsilon):
    explorer = make(epsilon=0.3)
    explorer.release()
    with pytest.raises((TypeError, ValueError), match=r"^epsilon must be a finite number above 0"):
        explorer.top_up(epsilon)
    assert len(explorer.ledger.entries) == 1


def test_a_classical_release_is_topped_up_from_what_it_really_gives(make):
    explorer = make(epsilon=0.5, calibration="classical")
    explorer.release()
    assert explorer.top_up(0.4).guarantee.epsilon == 0.4


def test_a_file_that_the_ledger_did_not_pay_for_is_not_taken_for_the_release(make, tmp_path):
    path = tmp_path / "survey.jsonl"
    ledger = Ledger(1, 1e-6, path=path)
    release = make(ledger=ledger, epsilon=0.3).release()
    for number, other in enumerate(
        [release.lowered(0.1), dp_loading(DATA, epsilon=0.3, delta=1e-6, calibration="analytic", rng=1)], start=2
    ):
        where = tmp_path / f"survey.jsonl.release-{number}.json"
        other.save(where)
        with pytest.raises(ValueError, match=r"is not what the ledger of 'survey' paid for"):
            make(ledger=Ledger(1, 1e-6, path=path))
        where.unlink()


def test_a_void_release_is_shown_as_what_it_is():
    void = dp_loading(DATA, epsilon=0.5, delta=1e-6, calibration="analytic", rng=1)
    explorer = LoadingExplorer(void)
    assert explorer._frame["badge"] == "Not private"
    assert explorer._frame["banner"].startswith("**Void.**")
    assert explorer._frame["void"]
    beside = LoadingExplorer(dp_loading(DATA, epsilon=0.5, delta=1e-6, calibration="analytic", reference=True))
    assert "holds a reference" in beside._frame["empty"][0]
    for each in (explorer, beside):
        each.close()


def test_a_plane_that_noise_rules_is_not_said_to_be_near(make):
    explorer = make(DATA.iloc[:50], epsilon=0.5)
    for _ in range(2):
        assert explorer._frame["beware"]
        assert "or more" in explorer._frame["status"]
        assert "says little" in explorer._frame["status"]
        explorer.release()


def test_a_closed_explorer_hears_no_press(make, drawn):
    explorer = make(epsilon=0.3)
    explorer.close()
    press(explorer)
    assert drawn == []


def test_a_step_reads_the_file_of_the_ledger_once(make, tmp_path, monkeypatch):
    explorer, reads, original = make(ledger=Ledger(3, 1e-6, path=tmp_path / "l.jsonl")), [], LedgerFile.read
    monkeypatch.setattr(LedgerFile, "read", lambda self: reads.append(1) or original(self))
    explorer.epsilon = 0.3
    assert len(reads) == 1
    explorer.release()
    reads.clear()
    explorer.kind = "point"
    assert len(reads) == 1
