import base64
import dataclasses
import gzip
import hashlib
import json
import re
from html.parser import HTMLParser
from itertools import pairwise, product
from string import ascii_letters

import numpy as np
import pandas as pd
import pytest

from dppca_nb import DataError, GiniExplorer, Ledger, LoadingExplorer, datasets, dp_loading, handout
from dppca_nb import _handout_frames as frames
from dppca_nb import _handout_page as page
from dppca_nb.__main__ import main
from dppca_nb._handout_book import GRAIN, Axis, Book, packed
from dppca_nb._handout_text import blocks, escaped, inline
from dppca_nb.widgets.frame import EPSILONS

SMALL = {"components": 2, "levels": 2, "uncertainty": "off"}
EVIL = [
    "</script><script>window.pwned=1</script>",
    "<img src=x onerror=window.pwned=1>",
    "<!-- <script>",
    "'\"><svg onload=window.pwned=1>",
    "a\u2028b\u2029c",
    "\u202eright to left",
    "`${window.pwned=1}`",
    "&lt;b&gt;",
    "]]>{{7*7}}",
]
RELEASE_ROWS = np.random.default_rng(0).normal(size=(500, 4)) * [4, 3, 2, 1]


def evil_data():
    rows = np.random.default_rng(0).normal(size=(12, len(EVIL)))
    data = pd.DataFrame(rows, columns=EVIL)
    data.attrs = {
        "title": EVIL[0],
        "source": EVIL[1],
        "licence": EVIL[3],
        "labels": dict(pairwise(EVIL)),
    }
    return data


def release(**more):
    return dp_loading(RELEASE_ROWS, **{"epsilon": 0.5, "delta": 1e-6, "calibration": "analytic", **more})


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return handout(datasets.usarrests(), tmp_path_factory.mktemp("made") / "a.html", scale="sample", **SMALL)


class Elements(HTMLParser):
    """Elements of a page with their attributes, and the texts of its scripts."""

    def __init__(self, text):
        super().__init__()
        self.found, self.scripts, self.text, self._inside = [], [], "", None
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        self._inside = tag
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag):
        self._inside = None

    def handle_data(self, data):
        if self._inside == "script":
            self.scripts[-1] += data
        elif self._inside != "style":
            self.text += data

    def all(self, tag):
        return [attributes for name, attributes in self.found if name == tag]


def books(text):
    """What lies in the blocks of a page."""
    return [unpacked(block) for block in re.findall(r'id="book\d">([^<]*)</script>', text)]


def unpacked(block):
    return gzip.decompress(base64.b64decode(block)).decode()


def read(text):
    """Read a book as the page does: all frames, by the positions of the settings."""
    head, *lines = text.split("\n")
    index, at = json.loads(head), 0

    def take(count):
        nonlocal at
        at += count
        return lines[at - count : at]

    parts = [(path, take(count)) for path, count in index["parts"]]
    roles = [take(count) for count in index["roles"]]
    assert at == len(lines)
    numbers, found = np.full(len(parts), -1), {}
    places = product(*(range(len(axis["values"])) for axis in index["axes"]))
    for place, steps in zip(places, index["frames"], strict=True):
        numbers = numbers + steps
        frame = {}
        for (path, kept), number in zip(parts, numbers, strict=True):
            if number < 0:
                continue
            value, target = json.loads(kept[number]), frame
            if path == ["rows"]:
                value = {layout: rows_of(named, roles) for layout, named in value.items()}
            for name in path[:-1]:
                target = target.setdefault(name, {})
            target[path[-1]] = value
        if "table" in frame:
            columns = frame["table"]["rows"]
            rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
            frame["table"]["rows"] = [{key: value for key, value in row.items() if value is not None} for row in rows]
        found[place] = frame
    return index, found


def rows_of(named, roles):
    at, rows = [-1] * len(roles), []
    for letter, step in re.findall(r"([a-zA-Z])(-?\d*)", named):
        role = ascii_letters.index(letter)
        at[role] += int(step or 1)
        rows.append(json.loads(roles[role][at[role]]))
    return rows


# ----- the page -----


def test_a_page_holds_everything_and_asks_nobody(made):
    text = made.read_text(encoding="utf-8")
    seen = Elements(text)
    assert not seen.all("link")
    assert not seen.all("iframe")
    assert all(script.get("src") is None for script in seen.all("script"))
    assert {image["src"][:26] for image in seen.all("img")} == {"data:image/svg+xml;base64,"}
    for style in re.findall(r"<style>(.*?)</style>", text, re.DOTALL):
        assert not re.search(r"url\(|@import", style)
    assert not re.findall(r"(?:https?|wss?|ftp):|//\w+\.", re.sub(r'id="(program|book0)">[^<]*<', "", text))


def test_the_policy_lets_only_the_two_scripts_of_the_page_run(made):
    text = made.read_text(encoding="utf-8")
    seen = Elements(text)
    policy = next(meta["content"] for meta in seen.all("meta") if meta.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe-eval" not in policy
    assert "unsafe-inline" not in policy.split("style-src")[0]
    program = unpacked(re.search(r'id="program">([^<]*)<', text)[1])
    hashes = {base64.b64encode(hashlib.sha256(code.encode()).digest()).decode() for code in (program, page.LOADER)}
    assert set(re.findall(r"sha256-([^']+)", policy)) == hashes
    runs = [script for script, about in zip(seen.scripts, seen.all("script"), strict=True) if "type" not in about]
    assert runs == [page.LOADER]


def test_a_page_says_what_it_is_and_shows_a_picture_of_each_kind_without_a_script(made):
    seen = Elements(made.read_text(encoding="utf-8"))
    assert seen.text.count("treated as public") == 3
    assert "interactive" in seen.text
    assert len(seen.all("img")) == 3
    assert all("Loadings on PC1" in image["alt"] for image in seen.all("img"))
    assert "US arrests 1973" in seen.text


def test_the_same_data_make_the_same_bytes(made, tmp_path):
    again = handout(datasets.usarrests(), tmp_path / "b.html", scale="sample", **SMALL)
    assert again.read_bytes() == made.read_bytes()
    other = handout(datasets.usarrests(), tmp_path / "c.html", scale="sample", seed=1, **SMALL)
    assert other.read_bytes() != made.read_bytes()


def test_names_that_are_markup_stay_text_everywhere(tmp_path):
    path = handout(evil_data(), tmp_path / "e.html", title=EVIL[0], exercises="\n\n".join(EVIL), gini=True, **SMALL)
    text = path.read_text(encoding="utf-8")
    seen, plain = (
        Elements(text),
        Elements(handout(datasets.iris(), tmp_path / "p.html", gini=True, **SMALL).read_text()),
    )
    tags = {"script", "style", "meta", "title", "h1", "svg", "iframe"}
    assert [tag for tag, _ in seen.found if tag in tags] == [tag for tag, _ in plain.found if tag in tags]
    assert all(not name.startswith("on") for _, attributes in seen.found for name in attributes)
    assert "<!--" not in text
    assert not set("\u2028\u2029") & set(text)
    assert text.count("</script") == text.count("<script") == 4
    for name in (EVIL[0], EVIL[1], EVIL[3], EVIL[6].strip("`")):
        assert name in seen.text
    for image in seen.all("img"):
        drawing = Elements(base64.b64decode(image["src"].partition(",")[2]).decode())
        assert not {tag for tag, _ in drawing.found} & {"script", "img", "foreignobject", "a"}


def test_words_of_a_user_have_no_say_over_the_direction_of_ours(tmp_path):
    data = pd.DataFrame(RELEASE_ROWS[:9])
    data.attrs = {"title": "\u202eevil", "source": "\u202esource"}
    text = handout(data, tmp_path / "b.html", **SMALL).read_text(encoding="utf-8")
    body = text[text.index('<p class="lead">') : text.index('id="book0"')]
    assert "\u202e" in body
    left = re.sub(r"<bdi>[^<]*</bdi>|alt=\"[^\"]*\"", "", body)
    assert "\u202e" not in left


def test_twelve_variables_at_all_levels_take_less_than_a_megabyte_and_a_half(tmp_path):
    seen = []
    path = handout(datasets.elliptical(300, 12, rng=1), tmp_path / "p12.html", progress=lambda *at: seen.append(at))
    assert path.stat().st_size < 1.5e6
    assert seen[-1] == (900, 900)
    assert [done for done, _ in seen] == list(range(1, 901))


def test_the_source_and_the_licence_stand_in_the_last_line(tmp_path):
    data = pd.DataFrame(RELEASE_ROWS[:9])
    data.attrs = {"source": "A survey.", "licence": "CC0"}
    last = handout(data, tmp_path / "a.html", **SMALL).read_text().partition('class="source">')[2].partition("</p>")[0]
    assert re.sub("<[^>]*>", "", last) == "Data: A survey. Licence: CC0. Made with dppca_nb."
    last = handout(data, tmp_path / "b.html", source="Mine", **SMALL).read_text().partition('class="source">')[2]
    assert re.sub("<[^>]*>", "", last.partition("</p>")[0]) == "Data: Mine. Made with dppca_nb."


# ----- the frames -----


def test_a_book_gives_back_the_frames_of_the_explorer():
    explorer = LoadingExplorer(datasets.iris())
    shown = {"show_reference": ("beside", "off"), "uncertainty": ("off", "ellipses")}
    axes = frames.loading_axes(explorer, 3, 3, shown)
    index, found = read(frames.lay_out(explorer, axes, lambda: None).text)
    assert len(found) == frames.size(axes) == 3 * 3 * 3 * 2 * 2
    assert [axis["name"] for axis in index["axes"]] == [axis.name for axis in axes]
    for place in ((0, 0, 0, 0, 0), (2, 2, 1, 1, 0), (1, 1, 2, 0, 1)):
        frames._set(explorer, axes, place)
        frame, kept = explorer._frame, found[place]
        for part in ("title", "banner", "readout", "status", "statement", "description", "code", "notes", "void"):
            assert kept[part] == json.loads(json.dumps(frame[part])), part
        assert kept["controls"]["settings"] == json.loads(json.dumps(frame["controls"]["settings"]))
        assert kept["table"]["half"] == frame["table"]["half"]
        assert [row["values"] for row in kept["table"]["rows"]] == [row["values"] for row in frame["table"]["rows"]]
        layout = "" if place[2] == 2 else frames.LAYOUTS[0]
        marks = {"private-vector", "private-point", "reference-vector", "cell"}
        wanted = [row for row in json.loads(frame["rows"][layout]) if row["role"] in marks]
        assert wanted
        assert [row for row in kept["rows"][layout] if row["role"] in marks] == wanted
    explorer.close()


def test_every_kind_and_pair_of_a_level_has_the_same_signs():
    explorer = LoadingExplorer(datasets.elliptical(60, 5, rng=8))  # whose signs a walk that jumps back would lose
    axes = frames.loading_axes(explorer, 4, 2, {"show_reference": ("off",), "uncertainty": ("off",)})
    _, found = read(frames.lay_out(explorer, axes, lambda: None).text)
    explorer.close()
    for level in range(4):
        signs = {}
        for (at, *_), frame in found.items():
            if at == level:
                for c, name in enumerate(frame["table"]["columns"]):
                    values = {row["variable"]: row["values"][c] for row in frame["table"]["rows"]}
                    assert signs.setdefault(name, values) == values


def test_a_cloud_is_kept_to_half_a_pixel():
    rng = np.random.default_rng(0)
    xs, ys = (rng.integers(-9000, 9000, size=60).tolist() for _ in range(2))
    book = Book([Axis("a", (1,))])
    book.add((0,), {"rows": {"x": json.dumps([{"role": "cloud", "xs": xs, "ys": ys, "op": 0.3}])}})
    [row] = read(book.text())[1][0,]["rows"]["x"]
    points = np.column_stack([np.cumsum(row["xs"]), row["ys"]]) * row["grain"]
    wanted = np.array(sorted(zip(xs, ys, strict=True), key=lambda p: (round(p[0] / GRAIN), round(p[1] / GRAIN))))
    assert np.abs(points - wanted).max() <= GRAIN / 2


def test_equal_parts_are_written_once():
    book = Book([Axis("a", (1, 2, 3))])
    for place in range(3):
        book.add((place,), {"same": "words", "own": place, "table": {"rows": [{"n": 1}, {"n": 2, "more": 3}]}})
    index, found = read(book.text())
    assert [count for path, count in index["parts"] if path == ["same"]] == [1]
    assert found[2,] == {"same": "words", "own": 2, "table": {"rows": [{"n": 1}, {"n": 2, "more": 3}]}}


def test_a_part_that_some_frames_lack_is_missing_in_them_alone():
    book = Book([Axis("a", (1, 2, 3))])
    for place, frame in enumerate(({"x": 1}, {"x": 1, "late": 2}, {"x": 3})):
        book.add((place,), frame)
    assert list(read(book.text())[1].values()) == [{"x": 1}, {"x": 1, "late": 2}, {"x": 3}]


@pytest.mark.parametrize("wanted", [2, 3, 7, 24, 25])
def test_levels_are_steps_of_the_explorer_with_both_ends(wanted):
    chosen, start = frames.levels_of(EPSILONS, wanted, 0.5)
    assert len(set(chosen)) == wanted
    assert set(chosen) <= set(EPSILONS)
    assert (chosen[0], chosen[-1]) == (EPSILONS[0], EPSILONS[-1])
    assert abs(chosen[start] - 0.5) == min(abs(each - 0.5) for each in chosen)


def test_gini_components_follow_where_asked(tmp_path):
    text = handout(datasets.cars2004(), tmp_path / "g.html", gini=True, **SMALL).read_text(encoding="utf-8")
    [_, gini] = books(text)
    index, found = read(gini)
    assert index["view"] == "gini"
    assert [axis["name"] for axis in index["axes"]] == ["nu", "components", "kind", "show_reference"]
    explorer = GiniExplorer(datasets.cars2004(), nu=20)
    assert found[1, 0, 0, 0]["readout"] == explorer._frame["readout"]
    explorer.close()
    assert text.count('class="still"') == 3 + 6


def test_a_large_table_has_no_pictures_of_its_rows():
    explorer = GiniExplorer(datasets.elliptical(150, 3, rng=1))
    kinds = frames.gini_axes(explorer, 2, 3, ("beside",))[2].values
    explorer.close()
    assert kinds == ("vector", "circle", "shares", "correlations")


# ----- releases -----


def test_a_release_is_handed_out_with_a_slider_that_only_lowers(tmp_path):
    text = handout(release(), tmp_path / "r.html", title="Survey", levels=6, components=2).read_text(encoding="utf-8")
    index, found = read(books(text)[0])
    level = index["axes"][0]
    assert level["name"] == "noise_shown"
    assert level["values"][-1] is None
    assert level["start"] == 5
    assert level["values"][:-1] == sorted(level["values"][:-1])
    assert max(level["values"][:-1]) < 0.5
    assert "treated as public" not in text
    frame = found[5, 0, 0, 0, 0]
    assert frame["badge"] == "Released"
    assert frame["statement"]["text"].startswith("**Holds:**")
    assert [axis["values"] for axis in index["axes"] if axis["name"] == "show_reference"] == [["off"]]


def test_what_is_released_is_shown_as_it_is(tmp_path):
    given = release()
    text = handout(given, tmp_path / "r.html", levels=2, components=2, variables="all").read_text(encoding="utf-8")
    _, found = read(books(text)[0])
    for row in found[1, 0, 0, 0, 0]["table"]["rows"]:
        np.testing.assert_allclose(row["values"], given.loadings.loc[row["variable"]].iloc[:2], atol=1e-4)


def test_a_void_release_is_marked_as_void(tmp_path):
    given = release(rng=np.random.default_rng(1))
    text = handout(given, tmp_path / "v.html", levels=2, components=2).read_text(encoding="utf-8")
    assert all(frame["void"] for frame in read(books(text)[0])[1].values())
    assert Elements(text).text.count("must not be published as private") == 3


def test_a_weak_release_has_one_level_and_no_slider(tmp_path):
    text = handout(release(epsilon=0.05), tmp_path / "w.html", components=2).read_text(encoding="utf-8")
    assert read(books(text)[0])[0]["axes"][0]["values"] == [None]


# ----- refusals -----


def test_a_ledger_is_refused_because_many_levels_are_many_releases(tmp_path):
    ledger = Ledger(epsilon=1, delta=1e-5)
    for call in (lambda path: handout(RELEASE_ROWS, path, ledger=ledger), lambda path: handout(ledger, path)):
        with pytest.raises(ValueError, match=r"each of them would be a release.*Release once.*release\.save"):
            call(tmp_path / "x.html")
    assert list(tmp_path.iterdir()) == []


def test_an_explorer_is_refused(tmp_path):
    explorer = LoadingExplorer(datasets.iris())
    with pytest.raises(TypeError, match="data or one release; got a LoadingExplorer"):
        handout(explorer, tmp_path / "x.html")
    explorer.close()


def test_a_release_with_a_reference_or_gini_components_of_one_are_refused(tmp_path):
    with pytest.raises(ValueError, match="reference was computed without noise"):
        handout(release(reference=True), tmp_path / "x.html")
    with pytest.raises(ValueError, match="need the rows"):
        handout(release(), tmp_path / "x.html", gini=True)


def test_a_picture_of_teaching_is_no_release(tmp_path):
    explorer = LoadingExplorer(datasets.iris())
    shown = dataclasses.replace(explorer.result, reference=None)
    explorer.close()
    with pytest.raises(DataError, match="never released"):
        handout(shown, tmp_path / "x.html")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"levels": 1}, "levels must be a whole number from 2 to 25; got 1"),
        ({"levels": 26}, "levels must be"),
        ({"components": True}, "components must be a whole number from 2 to 6; got True"),
        ({"components": 2.5}, "components must be"),
        ({"reference": "left"}, "reference must be one of 'off'"),
        ({"uncertainty": ()}, "uncertainty must be one word or several"),
        ({"uncertainty": ("off", "off")}, "several different"),
        ({"exercises": "<details>\nno end"}, "do not close it"),
        ({"variables": 0}, "variables must be at least 1"),
        ({"gini": "yes"}, "gini must be True or False"),
    ],
)
def test_an_argument_that_cannot_be_taken_is_named(tmp_path, settings, message):
    with pytest.raises((ValueError, TypeError), match=message):
        handout(datasets.iris(), tmp_path / "x.html", **settings)
    assert list(tmp_path.iterdir()) == []


def test_data_without_two_numeric_columns_are_refused_in_the_words_of_the_explorer(tmp_path):
    with pytest.raises(DataError, match="1 numeric column"):
        handout(pd.DataFrame({"a": [1.0, 2, 3], "b": list("xyz")}), tmp_path / "x.html")


def test_a_file_that_is_there_is_kept_unless_told_otherwise(tmp_path):
    path = tmp_path / "there.html"
    path.write_text("mine")
    with pytest.raises(ValueError, match=r'"there.html" already, and it was kept'):
        handout(datasets.iris(), path, **SMALL)
    assert path.read_text() == "mine"
    handout(datasets.iris(), path, overwrite=True, **SMALL)
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")
    with pytest.raises(ValueError, match="is a folder"):
        handout(datasets.iris(), tmp_path, **SMALL)


def test_an_interruption_leaves_no_half_file(tmp_path):
    def stop(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        handout(datasets.iris(), tmp_path / "x.html", progress=stop, **SMALL)
    assert list(tmp_path.iterdir()) == []


def test_a_write_that_fails_leaves_no_half_file(tmp_path, monkeypatch):
    monkeypatch.setattr("os.fsync", lambda number: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(ValueError, match="No space left"):
        page.write(tmp_path / "x.html", "text", overwrite=False)
    assert list(tmp_path.iterdir()) == []


# ----- exercises -----


def test_the_small_syntax_becomes_elements():
    made = blocks(
        "# One `x`\n\nFirst\nline, **bold**, *slanted*, `a*b*c`.\n\n- one\n  goes on\n- two\n\n3. three\n4. four\n\n"
        "<details>\n<summary>Answer</summary>\n\nNo \\*stars\\*.\n\n</details>\n\n```\n<b>\n\n  code\n```\n"
    )
    assert made.split("\n") == [
        "<h3>One <code>x</code></h3>",
        "<p>First line, <strong>bold</strong>, <em>slanted</em>, <code>a*b*c</code>.</p>",
        "<ul><li>one goes on</li><li>two</li></ul>",
        '<ol start="3"><li>three</li><li>four</li></ol>',
        "<details>",
        "<summary>Answer</summary>",
        "<p>No *stars*.</p>",
        "</details>",
        "<pre><code>&lt;b&gt;",
        "",
        "  code</code></pre>",
    ]


def test_an_item_that_mentions_an_index_does_not_end_the_list_of_answers():
    with pytest.raises(ValueError, match="line 3 of the exercises closes an answer that none opened"):
        blocks("a\n\n</details>")
    with pytest.raises(ValueError, match="open code"):
        blocks("```\nx")


@pytest.mark.parametrize("name", EVIL)
def test_everything_else_in_exercises_is_text(name):
    for place in (
        name,
        f"- {name}",
        f"# {name}",
        f"**{name}**",
        f"<details>\n<summary>{name}</summary>\n{name}\n</details>",
    ):
        known = {"p", "ul", "ol", "li", "h3", "strong", "em", "code", "details", "summary"}
        assert {tag for tag, _ in Elements(blocks(place)).found} <= known
        assert all(not attributes for _, attributes in Elements(blocks(place)).found)


def test_signs_that_no_page_may_hold_are_replaced():
    assert escaped("a\0b\x1b\ud800\u2028c<>&\"'") == "a\ufffdb\ufffd\ufffd c&lt;&gt;&amp;&quot;&#x27;"
    assert inline("2 * 3 * 4 and a_b_c") == "2 * 3 * 4 and a_b_c"


def test_a_block_is_letters_only():
    assert re.fullmatch(r"[A-Za-z0-9+/=]+", packed("</script>\ud800é" * 50))


# ----- the command -----


def test_the_command_makes_a_page_of_a_shipped_data_set(tmp_path, capsys):
    task = tmp_path / "task.md"
    task.write_text("# Task\n", encoding="utf-8-sig")
    options = ["--components=2", "--levels=2", f"--exercises={task}", "--title=Rates", "--scale=sample"]
    assert main(["handout", "usarrests", "-o", str(tmp_path / "a.html"), *options]) == 0
    said = capsys.readouterr().out
    assert "Laying out 12 pictures" in said
    assert "a.html (0." in said
    text = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert "<title>Rates</title>" in text
    assert "<h3>Task</h3>" in text
    assert "McNeil" in text


def test_the_command_reads_a_messy_file_and_says_what_it_left_out(tmp_path, capsys):
    path = tmp_path / "own.csv"
    path.write_text("a;b;c\n1,5;2;x\n2,5;1;y\n3;;z\n4,1;5;u\n9;1;r\n")
    assert main(["handout", str(path), "-o", str(tmp_path / "o.html"), "--levels=2"]) == 0
    said = capsys.readouterr().out
    assert "1 of 5 rows left out" in said
    assert "Left out, no numbers: c." in said


def test_the_command_knows_a_saved_release_by_its_content(tmp_path, capsys):
    release().save(tmp_path / "release.txt")
    assert main(["handout", str(tmp_path / "release.txt"), "-o", str(tmp_path / "r.html"), "--levels=2"]) == 0
    assert "One private release of 500 rows" in (tmp_path / "r.html").read_text(encoding="utf-8")
    (tmp_path / "other.json").write_text('{"a": 1}')
    assert main(["handout", str(tmp_path / "other.json"), "-o", str(tmp_path / "n.html")]) == 1
    assert "other.json" in capsys.readouterr().err
    assert not (tmp_path / "n.html").exists()


def test_the_command_says_what_is_wrong_on_one_line(tmp_path, capsys):
    there = tmp_path / "there.html"
    there.write_text("mine")
    for arguments, message in (
        (["iris", "-o", str(there)], "add --overwrite"),
        (["no such.csv", "-o", str(tmp_path / "x.html")], "no such.csv"),
        (["iris", "-o", str(tmp_path / "x.html"), "--exercises", str(tmp_path / "none.md")], "Check --exercises"),
        (["iris", "-o", str(tmp_path / "x.html"), "--levels=1"], "levels must be"),
    ):
        assert main(["handout", *arguments]) == 1
        said = capsys.readouterr().err
        assert message in said
        assert said.startswith("dppca_nb: ")
        assert said.count("\n") == 1
    assert there.read_text() == "mine"
