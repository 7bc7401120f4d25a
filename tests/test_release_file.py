import hashlib
import json
import math
import os
import stat
from dataclasses import asdict, replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dppca_nb.core.ledger import Ledger
from dppca_nb.core.noise import symmetric_from_normals
from dppca_nb.core.privacy import Budget, Reason, make_guarantee
from dppca_nb.core.release_file import ReleaseFileError, read_release, release_parts, release_text, write_release

N = 400
NASTY = [
    "a.b",
    'quo"te',
    "line\nbreak",
    "tab\t",
    "back\\slash",
    "é",
    "変数",
    "😀",
    "\ud800",
    "\u2028",
    "</script>",
    "x\x00",
]


def guarantee(**changes):
    settings = {"n": N, "calibration": "analytic"} | changes
    return make_guarantee(Budget(0.5, 1e-6), **settings)


def paid(made):
    return Ledger(1, 1e-6, name="survey").charge(
        "spherical Kendall matrix",
        n=N,
        sensitivity=made.sensitivity + made.slack,
        sigma=made.sigma,
        randomness="a test",
        calibration="analytic",
    )


ENTRY = paid(guarantee())


def parts(p=3, **changes):
    z = np.random.default_rng(3).normal(size=p * (p + 1) // 2)
    given = {
        "noisy": symmetric_from_normals(z, p),
        "names": tuple(f"x{i}" for i in range(p)),
        "guarantee": guarantee(),
        "scale": tuple(0.1 * (i + 1) for i in range(p)),
        "entries": (ENTRY,),
    }
    return given | changes


def same(one, two):
    noisy = np.asarray(one["noisy"]).tobytes() == np.asarray(two["noisy"]).tobytes()
    return noisy and {**one, "noisy": 0} == {**two, "noisy": 0}


def record():
    return json.loads(release_text(**parts()))


def back(changed):
    return release_parts(json.dumps(changed))


# Round trips


def test_every_part_comes_back_to_the_last_bit():
    assert same(release_parts(release_text(**parts())), parts())
    assert same(release_parts(release_text(**parts(scale=None, entries=()))), parts(scale=None, entries=()))


@given(
    st.lists(st.text(min_size=1), min_size=1, max_size=4, unique=True),
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=10, max_size=10),
    st.floats(1e-300, 1e300),
)
def test_any_names_and_any_finite_numbers_come_back(names, numbers, scale):
    p = len(names)
    noisy = np.zeros((p, p))
    noisy[np.tril_indices(p)] = numbers[: p * (p + 1) // 2]
    noisy = np.tril(noisy) + np.tril(noisy, -1).T
    given = parts(p, noisy=noisy, names=tuple(names), scale=(scale,) * p)
    assert same(release_parts(release_text(**given)), given)


@given(st.text(alphabet=st.characters(categories=["Cs"]), min_size=1, max_size=3))
def test_halves_of_characters_come_back_or_are_refused(name):
    given = parts(1, names=(name,))
    pair = any("\ud800" <= a < "\udc00" <= b for a, b in pairwise(name))
    if pair:
        with pytest.raises(ReleaseFileError, match=r"two halves of one character side by side.*Rename"):
            release_text(**given)
    else:
        text = release_text(**given)
        assert text.encode("utf-8")
        assert same(release_parts(text), given)


def test_names_of_every_nasty_kind_come_back_through_a_file(tmp_path):
    given = parts(len(NASTY), names=tuple(NASTY))
    write_release(tmp_path / "release.json", release_text(**given))
    assert same(read_release(tmp_path / "release.json"), given)


@pytest.mark.parametrize("p", [1, 200])
def test_one_variable_and_two_hundred_fit(p):
    given = parts(p)
    text = release_text(**given)
    assert same(release_parts(text), given)
    assert len(text) < 4000 + p * p * 26


@given(
    st.floats(0.01, 20),
    st.floats(1e-12, 0.3),
    st.integers(2, 10**7),
    st.sampled_from(["classical", "analytic"]),
    st.sampled_from([0.0, 1e-9, 0.5]),
)
def test_every_guarantee_that_can_be_made_comes_back(epsilon, delta, n, calibration, slack):
    made = make_guarantee(Budget(epsilon, delta), n, calibration, slack=slack / n)
    assert release_parts(release_text(**parts(guarantee=made, entries=())))["guarantee"] == made


def test_a_void_guarantee_stays_void_with_its_reasons():
    why = (Reason("seeded noise", "The noise was seeded.\nLeave rng out."), Reason("é", "😀"))
    made = guarantee(reasons=why, caveats=("A caveat.",), coincident="raise")
    got = release_parts(release_text(**parts(guarantee=made, entries=())))["guarantee"]
    assert not got.holds
    assert got == made
    assert got.reasons[:2] == why
    assert "A caveat." in got.caveats


# Readable


def test_people_can_read_the_file():
    lines = release_text(**parts(names=("age", "é", "😀"))).splitlines()
    assert lines[:3] == ["{", '  "format": "dppca_nb release",', '  "version": 1,']
    assert '  "holds": true,' in lines
    assert '    "é",' in lines
    assert '    "😀"' in lines
    assert '    "epsilon": 0.5,' in lines
    assert len(lines[-5:]) == 5
    assert [len(json.loads(line.rstrip(","))) for line in lines[-5:-2]] == [3, 3, 3]
    assert lines[-2:] == ["  ]", "}"]


def test_other_white_space_order_and_whole_numbers_do_no_harm():
    changed = record()
    changed = dict(reversed(changed.items()))
    assert same(release_parts(json.dumps(changed, indent=7)), parts())
    given = parts(scale=(1.0, 2.0, 3.0))
    whole = json.loads(release_text(**given))
    whole["scale"] = [1, 2, 3]
    assert same(back(whole), given)


# What is refused


@pytest.mark.parametrize("at", ["", "guarantee", "entries"])
def test_a_key_too_many_and_a_key_too_few_are_named(at):
    def inside(changed):
        return {"": changed, "guarantee": changed["guarantee"], "entries": changed["entries"][0]}[at]

    for key in list(inside(record())):
        if key in ("format", "version"):
            continue
        changed = record()
        del inside(changed)[key]
        with pytest.raises(ReleaseFileError, match=f"must have '{key}'; got none. Take the file from a copy"):
            back(changed)
    changed = record()
    inside(changed)["rows"] = [1, 2]
    with pytest.raises(ReleaseFileError, match=r'has "rows", which does not belong there. Take the file'):
        back(changed)


def leaves(value, path=()):
    """Every place of a record that holds a text, a number or a truth."""
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(inner, (*path, key))
    else:
        yield path


def put(changed, path, value):
    for key in path[:-1]:
        changed = changed[key]
    changed[path[-1]] = value


def at(changed, path):
    for key in path:
        changed = changed[key]
    return changed


def other(value):
    """The nearest value of the same type that is not this one."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    return math.nextafter(value, 2 * value + 1) if isinstance(value, float) else value + "x"


def test_the_smallest_change_anywhere_is_noticed():
    paths = list(leaves(record()))
    assert len(paths) > 40
    for path in paths:
        changed = record()
        put(changed, path, other(at(changed, path)))
        with pytest.raises(ReleaseFileError, match=r"Take the file from a copy|Give a file that|update yours"):
            back(changed)


def test_another_type_anywhere_is_named():
    for path in leaves(record()):
        for value in (None, True, [], {}, "text", 0.5):
            changed = record()
            if type(value) is type(at(changed, path)):
                continue
            put(changed, path, value)
            with pytest.raises(ReleaseFileError, match=r"must|no release"):
                back(changed)


def consistent(changed):
    """A changed record with the checksum that somebody who knows how may compute: the other checks must find it."""
    content = {key: changed[key] for key in ("names", "scale", "guarantee", "entries", "noisy_kendall")}
    text = json.dumps(content, sort_keys=True)
    return changed | {"checksum": "sha256 " + hashlib.sha256(text.encode()).hexdigest()}


def test_the_checksum_of_the_tests_is_that_of_the_file():
    assert consistent(record()) == record()


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("format", "other", "^It is no release"),
        ("version", 2, "^version must be 1; got 2. A newer dppca_nb"),
        ("version", True, "^version must be 1; got true"),
        ("holds", False, "^holds must be true, as guarantee.reasons say; got false"),
        ("names", [], "^names must have at least one name; got none"),
        ("names", ["x0", "", "x2"], '^names, number 2, must be text that is not empty; got ""'),
        ("names", ["x0", "x1", "x0"], '^names must differ; "x0" is there twice'),
        ("names", ["x0", "x1"], "^scale must be a list of 2 numbers, one for each variable; got 3 of them"),
        ("scale", [1.0, 0.0, 1.0], "^scale must be above 0 for every variable; got 0.0"),
        ("scale", [1.0, "2", 1.0], '^scale, number 2, must be a finite number; got "2"'),
        ("noisy_kendall", [[1.0]], "^noisy_kendall must have 3 rows, one for each variable; got 1"),
        ("noisy_kendall.1", [1.0, 2.0], "^noisy_kendall, row 2 must be a list of 3 numbers.*got 2 of them"),
        ("noisy_kendall.1.2", 0.25, "^noisy_kendall must be symmetric; got 0.25 in row 2, column 3 and"),
        ("noisy_kendall.1.1", 10**400, "^noisy_kendall, row 2, number 2, must be a finite number; got 1000"),
        ("guarantee.epsilon", 0.7, "^guarantee.exact_delta must be what mu gives at epsilon = "),
        ("guarantee.epsilon", -1.0, "^guarantee: epsilon must be a finite number above 0; got -1.0"),
        ("guarantee.delta", 1e-5, "^guarantee.exact_epsilon must be what mu gives at delta = "),
        ("guarantee.delta", 2.0, "^guarantee: delta must be"),
        ("guarantee.n", 401, r"^guarantee.sensitivity must be 2 \* sqrt\(2\) / n = "),
        ("guarantee.n", 1, r"^guarantee.n must be a whole number from 2 to 2\*\*53; got 1"),
        ("guarantee.n", 10**400, "^guarantee.n must be a whole number from 2"),
        ("guarantee.calibration", "classical", "^guarantee.sigma must be that of the classical calibration = "),
        ("guarantee.calibration", "exact", "^guarantee: calibration must be"),
        ("guarantee.sensitivity", 0.5, "^guarantee.sensitivity must be"),
        ("guarantee.sigma", 0.02, r"^guarantee.mu must be \(sensitivity \+ slack\) / sigma = "),
        ("guarantee.sigma", 0.0, "^guarantee.sigma must be above 0; got 0.0"),
        ("guarantee.slack", -1e-9, "^guarantee.slack must be at least 0; got -1e-09"),
        ("guarantee.slack", 1e-3, r"^guarantee.mu must be \(sensitivity \+ slack\) / sigma = "),
        ("guarantee.mu", 0.01, r"^guarantee.mu must be \(sensitivity \+ slack\) / sigma = .*; got 0.01. Take"),
        ("guarantee.mu", 0.0, r"^guarantee.mu must be"),
        ("guarantee.exact_delta", 1e-9, "^guarantee.exact_delta must be what mu gives at epsilon = "),
        ("guarantee.exact_epsilon", 0.1, "^guarantee.exact_epsilon must be what mu gives at delta = "),
        ("guarantee.coincident", "drop", '^guarantee.coincident must be "raise" or "zero"; got "drop"'),
        ("guarantee.coincident", "raise", '^guarantee.reasons must not be empty, since coincident is "raise"'),
        ("guarantee.reasons", [{"brief": "a"}], "^guarantee.reasons, number 1, must have 'text'; got none"),
        ("guarantee.reasons", ["seeded"], '^guarantee.reasons, number 1, must be an object; got "seeded"'),
        ("guarantee.caveats", [1], "^guarantee.caveats, number 1, must be text; got 1"),
        ("entries.0.n", 401, r'^entries, number 1, is of other data: \["survey", 401\]'),
        ("entries.0.sigma", 0.5, "^entries, number 1, mu must be sensitivity / sigma = "),
        ("entries.0.sigma", 0.0, "^entries, number 1, must have a sensitivity and a sigma above 0"),
        ("entries.0.mu", 0.5, "^entries, number 1, mu must be"),
        ("entries.0.cumulative_mu", 0.01, "^entries, number 1, costs more than all charges up to it together"),
        ("entries.0.time", 5, "^entries, number 1,.time must be text; got 5"),
    ],
)
def test_what_cannot_be_is_refused_with_the_place_and_the_remedy(path, value, message):
    changed = record()
    put(changed, [int(key) if key.isdigit() else key for key in path.split(".")], value)
    with pytest.raises(ReleaseFileError, match=message) as caught:
        back(consistent(changed))
    assert str(caught.value).endswith((". Take the file from a copy that nobody changed.", "yours.", "save() wrote."))


def test_charges_that_pay_for_less_than_the_guarantee_are_refused():
    cheap = Ledger(1, 1e-6, name="survey").charge("mean", n=N, sensitivity=0.01, sigma=1, randomness="a test")
    changed = record() | {"entries": [asdict(cheap)]}
    with pytest.raises(
        ReleaseFileError, match=r"^entries must add up to the mu of the guarantee, .* or more; got 0.01"
    ):
        back(consistent(changed))


def test_charges_of_two_data_sets_are_refused():
    changed = record()
    changed["entries"].append(changed["entries"][0] | {"name": "other"})
    with pytest.raises(ReleaseFileError, match=r"^entries, number 2, is of other data"):
        back(consistent(changed))


def test_a_guarantee_whose_noise_is_too_small_needs_a_reason():
    made = guarantee(calibration="classical")
    loose = make_guarantee(Budget(60, 1e-6), N, "classical")
    assert made.holds
    assert not loose.holds
    changed = json.loads(release_text(**parts(guarantee=loose, entries=())))
    changed["guarantee"]["reasons"] = []
    changed["holds"] = True
    with pytest.raises(ReleaseFileError, match=r"^guarantee.reasons must not be empty, since its delta is"):
        back(consistent(changed))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "^It is not whole JSON: line 1, column 1"),
        ("[]", "^It is no release"),
        ("1", "^It is no release"),
        ('{"a": 1, "a": 2}', '^The key "a" is there twice'),
        ('{"a": NaN}', "^Every number must be finite; got NaN"),
        ('{"a": -Infinity}', "^Every number must be finite; got -Infinity"),
        ("[" * 100000, "^It is not JSON that a release is made of"),
        ("1" * 5000, "^It is not JSON that a release is made of"),
        (release_text(**parts())[:-20], "^It is not whole JSON: line "),
        ("null", "^It is no release"),
    ],
    ids=range(10),
)
def test_what_is_no_json_of_ours_is_refused(text, message):
    with pytest.raises(ReleaseFileError, match=message):
        release_parts(text)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_release_that_could_not_be_loaded_is_not_saved(bad):
    with pytest.raises(
        ReleaseFileError, match=r"^This release cannot be saved, since it could not be loaded: Every num"
    ):
        release_text(**parts(noisy=np.diag([1.0, bad, 1.0])))
    with pytest.raises(ReleaseFileError, match=r"^This release cannot be saved.*symmetric"):
        release_text(**parts(noisy=np.arange(9.0).reshape(3, 3)))
    with pytest.raises(ReleaseFileError, match=r"^This release cannot be saved.*names must differ"):
        release_text(**parts(names=("a", "a", "b")))
    with pytest.raises(ReleaseFileError, match=r"^This release cannot be saved.*guarantee.mu"):
        release_text(**parts(guarantee=replace(guarantee(), mu=0.5)))


# The file


def test_a_file_that_is_there_is_kept_unless_told_otherwise(tmp_path):
    path = tmp_path / "release.json"
    path.write_text("precious")
    with pytest.raises(
        ReleaseFileError, match=r'^There is a file "release.json" already, and it was kept.*overwrite=T'
    ):
        write_release(path, "{}")
    assert path.read_text() == "precious"
    write_release(path, "{}", overwrite=True)
    assert path.read_text() == "{}"
    assert [each.name for each in tmp_path.iterdir()] == ["release.json"]


def test_a_file_appears_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "release.json"
    path.write_text("old")
    seen = []

    def full(descriptor):
        assert stat.S_ISREG(os.fstat(descriptor).st_mode)
        seen.append((os.fstat(descriptor).st_size, path.read_text()))
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(ReleaseFileError, match=r"cannot be written \(No space left on device\). Give a path"):
        write_release(path, "new text", overwrite=True)
    assert seen == [(8, "old")]  # the new text is on its way to disk while the old one still stands
    assert path.read_text() == "old"
    assert [each.name for each in tmp_path.iterdir()] == ["release.json"]


def test_a_damaged_file_is_named(tmp_path):
    path = tmp_path / "mine.json"
    for content, message in (
        (b"\xff\xfe", '^The release file "mine.json" is not text in UTF-8. Take'),
        (b"{", '^The release file "mine.json" cannot be used. It is not whole JSON'),
    ):
        path.write_bytes(content)
        with pytest.raises(ReleaseFileError, match=message):
            read_release(path)
    with pytest.raises(ReleaseFileError, match=r'^The release file ".*" cannot be read \(Is a directory\)'):
        read_release(tmp_path)


def test_a_mark_that_editors_put_in_front_does_no_harm(tmp_path):
    path = tmp_path / "release.json"
    path.write_bytes(b"\xef\xbb\xbf" + release_text(**parts()).replace("\n", "\r\n").encode("utf-8"))
    assert same(read_release(path), parts())
