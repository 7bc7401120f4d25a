"""Placement of labels: whatever the tips, no two labels touch and none leaves its panel."""

import math
import random
from itertools import combinations

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from dppca_nb.charts import labels
from dppca_nb.charts.labels import Tip, place_labels
from dppca_nb.charts.text import SAFE_FONT, short_names, text_width

SIDE = 340.0
QUICK = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@pytest.fixture(autouse=True)
def _no_cache():
    """Placements are cached; a test of determinism should not compare one object with itself."""
    labels._place.cache_clear()


def tip(number, text, x, y, side=SIDE, **more):
    return Tip(number, text, round(x, 2), round(y, 2), round(math.hypot(x - side / 2, y - side / 2), 4), **more)


def tips_from(points, side=SIDE, text="variable_{}"):
    return [tip(j, text.format(j), x, y, side) for j, (x, y) in enumerate(points)]


def place(tips, **changes):
    arguments = {"side": SIDE, "everything": tips, "shafts": True} | changes
    return place_labels(tips, **arguments)


def check(placed, *, side=SIDE, overhang=0.0, blocks=()):
    """No two boxes meet, none meets a block, all are inside."""
    for one, other in combinations(placed.values(), 2):
        apart = one.x1 <= other.x0 or other.x1 <= one.x0 or one.y1 <= other.y0 or other.y1 <= one.y0
        assert apart, (one, other)
    for box in placed.values():
        assert box.x0 < box.x1
        assert box.y0 < box.y1
        assert box.x0 >= 0
        assert box.y0 >= 0
        assert box.x1 <= side + overhang
        assert box.y1 <= side
        for x0, y0, x1, y1 in blocks:
            assert box.x1 <= x0 or x1 <= box.x0 or box.y1 <= y0 or y1 <= box.y0


coordinates = st.floats(0, SIDE, allow_nan=False)
names = st.text(min_size=0, max_size=30)


@given(st.lists(st.tuples(coordinates, coordinates, names), max_size=14), st.booleans(), st.sampled_from([0.0, 22.0]))
@QUICK
def test_no_two_labels_ever_overlap_and_none_leaves_its_panel(points, shafts, overhang):
    tips = [tip(j, text, x, y) for j, (x, y, text) in enumerate(points)]
    placed = place(tips, shafts=shafts, overhang=overhang)
    assert set(placed) <= set(range(len(tips)))
    check(placed, overhang=overhang)


@given(st.lists(st.tuples(coordinates, coordinates), min_size=1, max_size=10), st.data())
@QUICK
def test_labels_keep_off_places_that_are_taken(points, data):
    corner = st.tuples(coordinates, coordinates, st.floats(1, 120), st.floats(1, 60))
    blocks = [(x, y, x + w, y + h) for x, y, w, h in data.draw(st.lists(corner, max_size=4))]
    check(place(tips_from(points), blocks=blocks), blocks=blocks)


@given(st.lists(st.tuples(coordinates, coordinates), min_size=2, max_size=12), st.randoms(use_true_random=False))
@QUICK
def test_the_order_in_which_variables_come_does_not_matter(points, shuffler):
    tips = tips_from(points)
    expected = place(tips)
    wanted, everything = list(tips), list(tips)
    shuffler.shuffle(wanted)
    shuffler.shuffle(everything)
    labels._place.cache_clear()
    assert place(wanted, everything=everything) == expected


def test_the_same_tips_get_the_same_labels_also_without_the_cache():
    points = np.random.default_rng(0).uniform(0, SIDE, (14, 2))
    first = place(tips_from(points))
    labels._place.cache_clear()
    assert place(tips_from(points)) == first


def test_a_returned_placement_can_be_changed_without_changing_the_next():
    tips = tips_from([(300, 100), (40, 200)])
    first = place(tips)
    assert len(first) == 2
    first.clear()
    assert len(place(tips)) == 2


def test_nothing_wanted_is_nothing_placed():
    assert place([]) == {}
    assert place([], everything=tips_from([(10, 10)])) == {}


def test_a_single_tip_gets_its_label_close_by_and_without_a_leader():
    for x, y in [(300, 170), (40, 170), (170, 40), (170, 300), (260, 80)]:
        (label,) = place(tips_from([(x, y)])).values()
        assert label.leader is None
        dx = max(label.x0 - x, 0, x - label.x1)
        dy = max(label.y0 - y, 0, y - label.y1)
        assert math.hypot(dx, dy) < 12
        outward = (label.x0 + label.x1) / 2 - SIDE / 2, (label.y0 + label.y1) / 2 - SIDE / 2
        assert outward[0] * (x - SIDE / 2) + outward[1] * (y - SIDE / 2) > 0  # beyond the tip, not over the arrow


@pytest.mark.parametrize("count", [2, 5, 16])
def test_identical_tips_still_get_labels_that_do_not_overlap(count):
    placed = place(tips_from([(260.0, 120.0)] * count))
    check(placed)
    assert len(placed) >= 2


@pytest.mark.parametrize("count", [1, 2, 8])
@pytest.mark.parametrize("shafts", [True, False])
def test_tips_at_the_very_origin_do_no_harm(count, shafts):
    placed = place(tips_from([(SIDE / 2, SIDE / 2)] * count), shafts=shafts)
    check(placed)


@pytest.mark.parametrize("corner", [(0, 0), (SIDE, 0), (0, SIDE), (SIDE, SIDE), (SIDE, SIDE / 2), (0, SIDE / 2)])
def test_a_tip_on_the_rim_keeps_its_label_inside(corner):
    placed = place(tips_from([corner]))
    check(placed)
    assert len(placed) == 1


def test_a_crowd_gets_some_labels_and_the_longest_arrow_its_own():
    rng = np.random.default_rng(1)
    points = SIDE / 2 + rng.normal(0, 30, (60, 2))
    points[17] = (SIDE - 30, 40)
    tips = tips_from(points)
    placed = place(tips)
    check(placed)
    assert 17 in placed
    assert 3 <= len(placed) < 60


def test_a_name_wider_than_the_panel_is_left_out_and_leaves_the_others_alone():
    tips = [tip(0, "W" * 200, 300, 60), tip(1, "short", 60, 250)]
    placed = place(tips)
    assert set(placed) == {1}
    assert placed[1] == place(tips[1:], everything=tips)[1]


def test_a_panel_too_small_for_any_label_gets_none():
    assert place(tips_from([(5, 5), (10, 3)], side=12.0), side=12.0) == {}


@pytest.mark.parametrize("font", [1.1, 1.3, 1.6, 2.0])
def test_a_wider_font_makes_wider_boxes_that_still_do_not_overlap(font):
    rng = np.random.default_rng(2)
    tips = tips_from(rng.uniform(0, SIDE, (12, 2)))
    placed = place(tips, font=font)
    check(placed)
    for number, label in placed.items():
        assert label.x1 - label.x0 == pytest.approx(text_width(tips[number].text, 11, font))
        assert label.y1 - label.y0 == pytest.approx(14)


def test_the_box_holds_its_text_where_it_is_aligned():
    placed = place(tips_from([(230, 170), (110, 170), (170, 60), (170, 280)]))
    assert [placed[j].align for j in range(4)] == ["left", "right", "center", "center"]


@given(st.lists(st.tuples(coordinates, coordinates), min_size=1, max_size=10))
@QUICK
def test_a_label_far_from_its_tip_has_a_leader_from_the_tip_to_its_box(points):
    tips = tips_from(points)
    for number, label in place(tips).items():
        own = tips[number]
        distance = math.hypot(max(label.x0 - own.x, 0, own.x - label.x1), max(label.y0 - own.y, 0, own.y - label.y1))
        if label.leader is None:
            assert distance <= 9
        else:
            assert label.leader[:2] == (own.x, own.y)
            assert label.x0 <= label.leader[2] <= label.x1
            assert label.y0 <= label.leader[3] <= label.y1


def test_a_label_stays_in_its_slot_when_its_tip_moves_a_little():
    rng = np.random.default_rng(3)
    points = rng.uniform(40, SIDE - 40, (8, 2))
    first = place(tips_from(points))
    slots = {number: label.slot for number, label in first.items()}
    kept = place(tips_from(points), previous=slots)
    assert {n: k.slot for n, k in kept.items()} == slots
    moved = place(tips_from(points + rng.normal(0, 0.4, points.shape)), previous=slots)
    same = sum(moved[n].slot == slots[n] for n in moved if n in slots)
    assert same >= len(slots) - 1


def test_slots_of_variables_that_are_gone_are_forgotten():
    tips = tips_from([(300, 100)])
    assert place(tips, previous={99: 3}) == place(tips)


def test_the_price_of_a_slot_counts_other_tips_so_labels_leave_them_free():
    tips = tips_from([(240.0, 170.0), (256.0, 170.0)], text="abcdef{}")
    placed = place(tips, shafts=False)
    assert len(placed) == 2
    for number, label in placed.items():
        other = tips[1 - number]
        assert not (label.x0 < other.x < label.x1 and label.y0 < other.y < label.y1)


# ----- widths -----


@given(st.text(max_size=60), st.floats(6, 40), st.floats(1, 2))
def test_a_width_is_positive_grows_with_the_text_and_with_the_font(text, px, font):
    width = text_width(text, px, font)
    assert width >= 2
    assert text_width(text + "x", px, font) > width
    assert text_width(text, px * 2, font) >= width
    assert text_width(text, px, font * 1.2) >= width


def test_wide_scripts_take_an_em_and_combining_marks_nothing():
    assert text_width("温度", 10, 1.0) >= 20 + 2
    assert text_width("e\u0301", 10) == text_width("e", 10)
    assert text_width("W" * 10, 10) > 2 * text_width("i" * 10, 10)


# Advance widths of Helvetica (Adobe's published metrics, thousandths of an em): the usual face's own numbers.
HELVETICA = {
    "a": 556, "b": 556, "c": 500, "d": 556, "e": 556, "f": 278, "g": 556, "h": 556, "i": 222, "j": 222, "k": 500,
    "l": 222, "m": 833, "n": 556, "o": 556, "p": 556, "q": 556, "r": 333, "s": 500, "t": 278, "u": 556, "v": 500,
    "w": 722, "x": 500, "y": 500, "z": 500, "A": 667, "B": 667, "C": 722, "D": 722, "E": 667, "F": 611, "G": 778,
    "H": 722, "I": 278, "J": 500, "K": 667, "L": 556, "M": 833, "N": 722, "O": 778, "P": 667, "Q": 778, "R": 722,
    "S": 667, "T": 611, "U": 722, "V": 667, "W": 944, "X": 667, "Y": 667, "Z": 611, "0": 556, "9": 556, " ": 278,
    "_": 556, "-": 333, ".": 278, "(": 333, ")": 333, "@": 1015, "%": 889, "&": 667, "#": 556, "+": 584, "=": 584,
}  # fmt: skip


@pytest.mark.parametrize("char", HELVETICA)
def test_the_table_bounds_every_letter_of_helvetica(char):
    assert text_width(char * 100, 10) - 2 >= HELVETICA[char]


# ----- short names -----


@given(st.lists(st.text(max_size=60), max_size=30, unique=True), st.integers(8, 40))
@example(["a" * 50 + "1" + "b" * 50, "a" * 50 + "2" + "b" * 50], 10)
@example(["a (2)", "a", " a", "a "], 10)
@example(["", " ", "\n", "(blank)"], 26)
@settings(max_examples=150, deadline=None)
def test_short_names_are_one_line_each_and_all_different(given_names, limit):
    made = short_names(given_names, limit)
    assert len(made) == len(given_names)
    assert len(set(made)) == len(made)
    for text in made:
        assert text.strip()
        assert not any(char in text for char in "\n\r\t\v\f\x85\u2028\u2029")


@given(st.lists(st.text("abcxyz_. ", min_size=1, max_size=12), unique=True, max_size=12))
def test_names_that_fit_are_kept_as_they_are(given_names):
    assume(all(name == " ".join(name.split()) for name in given_names))
    assert short_names(given_names) == given_names


def test_only_as_much_of_a_long_name_is_shown_as_tells_it_apart():
    middle = [f"{'x' * 30}{digit}{'y' * 30}" for digit in "12345"]
    made = short_names(middle)
    assert len(set(made)) == 5
    assert made[0] == "x" * 12 + "…" + "y" * 13
    assert all("…" in text or text == name for text, name in zip(made, middle, strict=True))


def test_two_thousand_alike_names_are_shortened_in_no_time():
    import time

    started = time.perf_counter()
    made = short_names([f"{'gene_expression_of_' * 3}{j:04d}{'_after_treatment' * 3}" for j in range(2000)])
    assert time.perf_counter() - started < 5
    assert len(set(made)) == 2000


def test_placement_does_not_touch_the_global_random_state():
    np.random.seed(1)  # noqa: NPY002 (the global state is what is tested)
    random.seed(1)
    place(tips_from([(10, 10), (300, 300)]))
    assert np.random.get_state()[1][0] == 1  # noqa: NPY002
    before = random.getstate()
    place(tips_from([(11, 10), (300, 300)]))
    assert random.getstate() == before
    assert SAFE_FONT >= 1
