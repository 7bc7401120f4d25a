"""The command line: what it refuses, the notebook it writes, how it starts JupyterLab; and the README's example."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import json
import lzma
import os
import re
import signal
import socket
import stat
import zipfile
from pathlib import Path

import nbformat
import pandas as pd
import pytest
from nbclient import NotebookClient

from dppca_nb import __main__ as command
from dppca_nb import _lab, read_table
from dppca_nb._own_file import OwnFile, read_own
from dppca_nb.read import FileError

ROOT = Path(__file__).parent.parent
SEMICOLONS = "a;b;c\n1,5;2,5;0,1\n2,5;3,5;0,4\n0,5;9,0;0,2\n"
NAME = "dppca_explore.ipynb"


def zipped(text):
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("a.csv", text)
    return made.getvalue()


@pytest.fixture
def started(tmp_path, monkeypatch):
    """The command in an empty current folder, with JupyterLab replaced by a list of how it was started."""
    calls = []

    def launch(notebook, options, *, browser, say):
        calls.append({"notebook": notebook, "options": options, "browser": browser})
        return 7

    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setattr(command, "launch", launch)
    return calls


def code(path):
    return [cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]


def written(path, text, encoding="utf-8"):
    path.write_bytes(text if isinstance(text, bytes) else text.encode(encoding))
    return path


# --- arguments --------------------------------------------------------------------------------------------------------


def test_without_arguments_behind_explore_the_notebook_is_in_the_current_folder_and_the_browser_opens(started, capsys):
    assert command.main(["explore"]) == 7
    assert started == [{"notebook": Path.cwd() / NAME, "options": [], "browser": True}]
    assert capsys.readouterr().out == f"The notebook is {Path.cwd() / NAME}, newly written.\n"


def test_the_arguments_are_those_that_python_was_called_with(started, monkeypatch):
    monkeypatch.setattr("sys.argv", ["dppca_nb", "explore", "--no-browser"])
    assert command.main() == 7
    assert started[0]["browser"] is False


def test_a_port_that_was_asked_for_is_not_replaced_by_another(started, monkeypatch):
    monkeypatch.setattr(command, "_port_trouble", lambda port: None)
    command.main(["explore", "--port", "9000"])
    assert started[0]["options"] == ["--ServerApp.port=9000", "--ServerApp.port_retries=0"]


def test_what_stands_behind_two_dashes_goes_to_jupyterlab(started, monkeypatch):
    monkeypatch.setattr(command, "_port_trouble", lambda port: None)
    command.main(["explore", "--port=9000", "--", "--ServerApp.ip=0.0.0.0", "--debug"])
    assert started[0]["options"][2:] == ["--ServerApp.ip=0.0.0.0", "--debug"]


def test_a_port_that_is_taken_is_said_before_anything_is_written_or_started(started, capsys):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = str(other.getsockname()[1])
        assert command.main(["explore", "--port", port]) == 1
    said = capsys.readouterr()
    assert said == ("", f"dppca_nb: Port {port} is taken. Leave out --port, or choose another.\n")
    assert started == []
    assert list(Path.cwd().iterdir()) == []
    assert command.main(["explore", "--port", port]) == 7, "it is free again"


def test_a_port_that_is_forbidden_is_not_called_taken(started, capsys, monkeypatch):
    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("socket.socket.bind", refuse)
    assert command.main(["explore", "--port", "80"]) == 1
    assert "Port 80 cannot be used (Permission denied). Leave out --port" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["explore", "--prot", "9"], "unrecognized arguments: --prot"),
        (["explore", "a.csv", "b.csv"], "unrecognized arguments: b.csv"),
        (["explore", "--port", "0"], "'0' is no port; give a whole number from 1 to 65535"),
        (["explore", "--port", "65536"], "'65536' is no port"),
        (["explore", "--port", "http"], "'http' is no port"),
        (["discover"], "invalid choice: 'discover'"),
        ([], "the following arguments are required: command"),
    ],
)
def test_what_is_not_understood_is_refused_before_anything_is_written(started, capsys, arguments, message):
    with pytest.raises(SystemExit) as ended:
        command.main(arguments)
    assert ended.value.code == 2
    assert message in capsys.readouterr().err
    assert started == []
    assert list(Path.cwd().iterdir()) == []


def test_without_jupyterlab_the_remedy_is_said_and_nothing_is_written(started, capsys, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert command.main(["explore"]) == 1
    assert capsys.readouterr().err == 'dppca_nb: JupyterLab is not installed. Run: pip install "dppca_nb[lab]"\n'
    assert started == []
    assert list(Path.cwd().iterdir()) == []


# --- a user's file ----------------------------------------------------------------------------------------------------


def given(*arguments):
    return command._parser().parse_args(["explore", *arguments])


def test_a_file_is_read_as_read_table_reads_it(tmp_path):
    path = written(tmp_path / "täst 1.csv", SEMICOLONS)
    own = read_own(given(str(path)))
    assert own.how == {}
    pd.testing.assert_frame_equal(own.frame, read_table(path))


def test_the_options_of_read_table_can_be_given_and_are_in_the_cell(started):
    text = "titles; above; it\n\nn\ta\tb\n1\t1,234\t-99\n2\t2,345\t4\n3\t3,456\t7\n"
    written(Path("a.txt"), text.encode("cp1252"))
    options = ["--delimiter=tab", "--decimal=,", "--encoding=cp1252", "--header=3", "--index=n", "--missing=-99"]
    assert command.main(["explore", "a.txt", *options]) == 7
    line = code(NAME)[0].splitlines()[2]
    how = r"delimiter='\t', decimal=',', encoding='cp1252', header=3, index='n', missing=['-99']"
    assert line == f"data = read_table('a.txt', {how})"
    names = {"read_table": read_table}
    exec(line, names)
    assert names["data"]["a"].tolist() == [1.234, 2.345, 3.456]
    assert names["data"]["b"].isna().tolist() == [True, False, False]
    assert names["data"].index.tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    ("text", "flags"),
    [
        ("a;b\n1,234;3\n2,345;4\n", r"Here: --decimal=\. or --decimal=,\."),
        ("n,2001,2002\nA,1,2\nB,3,5\n", r"Here: --header=1 or --header=none\."),
        ("a;x\n1;\xce\xe4\xe8\xed\n2;b\n".encode("latin-1"), "Here: --encoding=cp1252 or "),
        ("n,h,w\nA,cm,kg\nB,3,5\nC,3,7\n", r"Here: --units=yes or --units=no\."),
        (",b,c\n1.5,2,3\n1.7,4,5\n", r'Here: --index="\(unnamed 1\)" or --index=none\.'),
    ],
)
def test_a_question_names_the_options_of_the_command(started, capsys, text, flags):
    written(Path("a.csv"), text)
    assert command.main(["explore", "a.csv"]) == 1
    assert re.search(flags, capsys.readouterr().err)
    assert started == []


def test_a_line_that_is_none_is_refused(capsys):
    with pytest.raises(SystemExit):
        given("a.csv", "--header=first")
    assert "'first' is no line; give a number from 1, or none" in capsys.readouterr().err


def test_a_workbook_is_explored(started):
    pd.DataFrame({"a": [1, 2, 4], "b": [3.5, 1, 2]}).to_excel("book.xlsx", index=False)
    assert command.main(["explore", "book.xlsx"]) == 7
    assert "data = read_table('book.xlsx')" in code(NAME)[0]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        pytest.param("absent.csv", None, "There is no file .*absent.csv. Check the spelling", id="absent"),
        pytest.param(".", None, "is a folder or a device", id="folder"),
        pytest.param("a.ods", "a", "a.ods is a spreadsheet of a kind that is not supported", id="spreadsheet"),
        pytest.param("a.csv", "", "is empty", id="empty"),
        pytest.param("a.csv", "\n \n", "is empty", id="blank"),
        pytest.param("a.csv", b"\x89PNG\r\n\x1a\n\0\0\0", "is not a text file", id="picture"),
        pytest.param("a.csv", b"a,b\n\x81,\x8d\n", "is not UTF-8; its words are", id="no-known-encoding"),
        pytest.param("a.csv", b"\xff\xfea", "is not a text file", id="broken-utf-16"),
        pytest.param(
            "a.csv", "a\n1\n2\n", "2 rows and 1 columns, of which 1 numeric.* The explorer needs", id="one-column"
        ),
        pytest.param("a.csv", "a,b\n", "holds a single row of cells: names without rows", id="no-rows"),
        pytest.param("a.csv", "h,w\nx,2\ny,kg\n", r"no numbers in h; w \(1 of 2 cells no number: 'kg'", id="texts"),
        pytest.param("a.csv", "a,b\n1,\n2,\n", "of which 1 numeric", id="column-without-values"),
        pytest.param(
            "a.csv",
            "a,b\n1,2\n3,4,5,6\n7,8\n",
            "cannot be read as CSV: line 3 has 4 cells, most rows have 2",
            id="ragged",
        ),
        pytest.param("a.csv", 'a,b\n"1,2\n3,4\n', "cannot be read as CSV", id="open-quotation"),
        pytest.param("a.csv", 'a,b\n"' + "1,2\n" * 100_000, "cannot be read as CSV", id="long-open-quotation"),
        pytest.param("a.csv.gz", gzip.compress(b"a,b\n1,2\n3,4\n"), "is compressed.* Unpack it", id="gz"),
        pytest.param("a.csv", gzip.compress(b"a,b\n1,2\n3,4\n"), "is compressed.* Unpack it", id="gz-named-csv"),
        pytest.param("a.csv.bz2", bz2.compress(b"a,b\n1,2\n3,4\n", 1), "is compressed.* Unpack it", id="bz2"),
        pytest.param("a.csv.xz", lzma.compress(b"a,b\n1,2\n3,4\n"), "is compressed.* Unpack it", id="xz"),
        pytest.param("a.csv.zst", b"\x28\xb5\x2f\xfd\x04a,b", "is compressed.* Unpack it", id="zst"),
        pytest.param("a.zip", zipped("a,b\n1,2\n3,4\n"), "is an archive", id="zip"),
        pytest.param("n" * 300, None, "cannot be read", id="long-name"),
        pytest.param("~nobody-of-this-name/a.csv", None, "cannot be read", id="home-of-nobody"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_in_one_line_before_anything_is_written(
    started, tmp_path, capsys, name, text, message
):
    given = name if name.startswith("~") else str(tmp_path / name)
    if text is not None:
        written(tmp_path / name, text)
    assert command.main(["explore", given]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert re.fullmatch(r"dppca_nb: [^\n]*" + message + r"[^\n]*\n", said.err)
    assert started == []
    assert list(Path.cwd().iterdir()) == []


@pytest.mark.parametrize("end", ["gz", "bz2", "xz", "zst", "zip", "tar", "tar.gz", "ZIP"])
def test_plain_text_whose_name_promises_compression_is_read_as_text_here_and_in_the_notebook(started, end):
    written(Path(f"a.{end}"), SEMICOLONS)
    assert command.main(["explore", f"a.{end}"]) == 7
    names = {"read_table": read_table}
    exec(code(NAME)[0].splitlines()[2], names)
    assert names["data"].iloc[0].tolist() == [1.5, 2.5, 0.1]


@pytest.mark.parametrize("place", ["bad\udcff.csv", "bad\udcff/a.csv"])
def test_a_name_that_is_not_utf_8_is_refused_in_one_line(started, tmp_path, capsys, place):
    try:
        (tmp_path / place).parent.mkdir(exist_ok=True)
        path = written(tmp_path / place, SEMICOLONS)
    except (OSError, UnicodeError):
        pytest.skip("this file system has no such names")
    assert command.main(["explore", str(path)]) == 1
    said = capsys.readouterr()
    assert re.fullmatch(r"dppca_nb: The name .*bad\\udcff.* is not valid UTF-8. Rename [^\n]*\n", said.err)
    assert started == []
    assert list(Path.cwd().iterdir()) == []


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_refused(tmp_path):
    path = written(tmp_path / "a.csv", SEMICOLONS)
    path.chmod(0)
    with pytest.raises(FileError, match=r"cannot be read \(Permission denied\)"):
        read_own(given(str(path)))


def test_quotes_around_a_pasted_path_and_the_home_folder_are_understood(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    path = written(tmp_path / "my data.csv", SEMICOLONS)
    for pasted in (f'"{path}"', f" '{path}' ", "~/my data.csv"):
        assert read_own(given(pasted)).path == path.resolve()


# --- the notebook -----------------------------------------------------------------------------------------------------


def test_the_cell_shows_how_the_file_was_read_with_a_name_that_follows_the_folder(started, tmp_path):
    written(Path("täst's.csv"), "\ufeffa;b\n1,5;2\n2,5;3\n")
    assert command.main(["explore", "täst's.csv"]) == 7
    assert code(NAME)[0].splitlines()[2:4] == ["""data = read_table("täst's.csv")""", "print(read_report(data))"]
    outside = written(tmp_path / "b.csv", SEMICOLONS)
    command.main(["explore", str(outside)])
    assert repr(outside.resolve().as_posix()) in code("dppca_explore-2.ipynb")[0]


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("a b.csv", "`a b.csv`"),
        ("a`b.csv", "`` a`b.csv ``"),
        ("`a``b`.csv", "``` `a``b`.csv ```"),
        ("a\nb\x1b.csv", "`a\ufffdb\ufffd.csv`"),
    ],
)
def test_the_title_shows_any_file_name_as_it_is(tmp_path, name, title):
    frame = pd.DataFrame({"a": [1, 2], "b": [3, 5]})
    frame.attrs["title"] = "a"
    own = OwnFile(tmp_path / name, {}, frame)
    cells = command.cells_for(own, tmp_path)
    assert f"a variable of {title}. Move" in cells[0][2]


def test_a_notebook_that_cannot_be_written_leaves_no_empty_one(tmp_path):
    with pytest.raises(UnicodeEncodeError):
        command.write_notebook([("about", "markdown", "\udcff")], tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_rows_with_gaps_are_left_out_unless_too_few_would_stay(started):
    written(Path("a.csv"), "a,b\n1,2\n,3\n4,5\n")
    written(Path("b.csv"), "a,b\n1,\n,3\n4,5\n")
    command.main(["explore", "a.csv"])
    command.main(["explore", "b.csv"])
    (some,) = (line for line in code(NAME)[0].splitlines() if "dropna" in line)
    (most,) = (line for line in code("dppca_explore-2.ipynb")[0].splitlines() if "dropna" in line)
    assert some.startswith("data = data.dropna(subset=")
    assert most.startswith("# data = data.dropna(subset=")
    assert most.endswith("# 2 of 3 rows miss numbers; without the first # they are left out")
    names = {"data": pd.read_csv("a.csv").assign(text=[None, "x", None])}
    exec(some, names)
    assert names["data"]["a"].tolist() == [1, 4], "gaps in columns of text cost no rows"


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("a,b\n1,2\n,3\n4,5\n", "# 1 of 3 rows left out: they miss numbers"),
        ("a;b;c\n1;2;\n3;4;\n", 'data = data.dropna(axis=1, how="all")  # columns without any value'),
        ("city,a,b\nx,1,2\ny,3,4\nTotal,4,6\n", "# line 4 seems to sum up others"),
    ],
)
def test_what_is_peculiar_in_a_file_is_said_in_the_cell(started, text, note):
    written(Path("a.csv"), text)
    command.main(["explore", "a.csv"])
    written(Path("plain.csv"), "a,b\n1,2\n3,4\n")
    command.main(["explore", "plain.csv"])
    assert note in code(NAME)[0]
    assert note not in code("dppca_explore-2.ipynb")[0]


def test_the_notebook_says_how_to_run_it_and_that_nothing_in_it_is_private(started):
    command.main(["explore"])
    about = nbformat.read(NAME, as_version=4).cells[0].source
    for words in (
        "Run > Run All Cells",
        "the data are treated as public",
        "nothing shown here is private",
    ):
        assert words in " ".join(about.split())


def test_a_notebook_of_ours_is_used_again_with_what_was_computed_in_it(started, capsys):
    command.main(["explore"])
    notebook = nbformat.read(NAME, as_version=4)
    notebook.cells[-1].outputs = [nbformat.v4.new_output("stream", text="a result")]
    nbformat.write(notebook, NAME)
    before = Path(NAME).read_bytes()
    command.main(["explore"])
    assert Path(NAME).read_bytes() == before
    assert [path.name for path in Path.cwd().iterdir()] == [NAME]
    assert capsys.readouterr().out.endswith(f"{NAME}, as it was here already.\n")


@pytest.mark.parametrize("other", ["{}", "[]", '{"cells": [1]}', "no notebook", '{"cells": []}'])
def test_whatever_else_has_the_name_stays_and_the_next_free_name_is_taken(started, other):
    written(Path(NAME), other)
    Path("dppca_explore-2.ipynb").mkdir()
    command.main(["explore"])
    assert Path(NAME).read_text() == other
    assert started[0]["notebook"].name == "dppca_explore-3.ipynb"


def test_an_edited_notebook_is_not_overwritten(started):
    command.main(["explore"])
    edited = Path(NAME).read_text(encoding="utf-8").replace("explorer = ", "mine = ")
    Path(NAME).write_text(edited, encoding="utf-8")
    command.main(["explore"])
    assert Path(NAME).read_text(encoding="utf-8") == edited
    assert started[1]["notebook"].name == "dppca_explore-2.ipynb"


def test_a_folder_that_takes_no_files_is_left_for_a_temporary_one(started, tmp_path, capsys, monkeypatch):
    def refuse(dir):  # noqa: A002 - the argument's own name
        raise PermissionError(13, "Permission denied", str(dir))

    monkeypatch.setattr("tempfile.TemporaryFile", refuse)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    written(Path("a.csv"), SEMICOLONS)
    command.main(["explore", "a.csv"])
    notebook = started[0]["notebook"]
    assert notebook.parent.parent == tmp_path.resolve()
    assert f"takes no files, so {notebook.parent} is used" in capsys.readouterr().out
    assert repr((Path.cwd() / "a.csv").resolve().as_posix()) in code(notebook)[0], "the file stays where it is"
    assert [path.name for path in Path.cwd().iterdir()] == ["a.csv"]


def run(path):
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": path.parent}}
    ).execute()
    return [[output.get("data", {}) for output in cell.outputs] for cell in notebook.cells if cell.cell_type == "code"]


def test_the_notebook_for_the_shipped_data_runs(started):
    command.main(["explore"])
    explorer, release = run(started[0]["notebook"])
    assert explorer[-1]["text/plain"].startswith("LoadingExplorer('RAND HIE', epsilon=0.5")
    assert "application/vnd.jupyter.widget-view+json" in explorer[-1]
    assert "epsilon 0.5" in release[-1]["text/plain"] or "ε" in release[-1]["text/plain"]
    assert "image/png" in release[-1]


def test_the_notebook_for_a_file_with_semicolons_runs(started):
    written(Path("a.csv"), SEMICOLONS)
    command.main(["explore", "a.csv"])
    ((*_, explorer),) = run(started[0]["notebook"])
    assert explorer["text/plain"].startswith("LoadingExplorer('a', epsilon=0.5")
    assert "3 of 3 variables" in explorer["text/plain"]


def test_the_notebook_for_a_file_with_control_characters_and_gaps_runs(started):
    written(Path("a`\x1b.csv"), "a\x1b[31m,b,c\n1,2,5\n3,5,\n4,1,2\n7,7,1\n")
    assert command.main(["explore", "a`\x1b.csv"]) == 7
    ((*_, explorer),) = run(started[0]["notebook"])
    assert "3 of 3 variables" in explorer["text/plain"]


# --- JupyterLab -------------------------------------------------------------------------------------------------------


class FakeProcess:
    """Stands for JupyterLab: remembers how it was started, and has ended."""

    def __init__(self, command, env, status):
        self.command, self.env, self.status, self.ended = command, env, status, False

    def poll(self):
        return self.status

    wait = poll

    def terminate(self):
        self.ended = True


def launched(monkeypatch, tmp_path, options=(), status=0, user=1000):
    made, handlers = [], {}
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path / "runtime"))
    monkeypatch.delenv("JUPYTER_TOKEN", raising=False)
    monkeypatch.setattr("os.geteuid", lambda: user, raising=False)
    monkeypatch.setattr(signal, "signal", handlers.__setitem__)
    monkeypatch.setattr("subprocess.Popen", lambda line, env: made.append(FakeProcess(line, env, status)) or made[0])
    code = _lab.launch(tmp_path / NAME, list(options), browser=False, say=lambda text: None)
    return code, made[0], handlers


def test_jupyterlab_is_started_on_the_notebook_with_its_folder_as_root(monkeypatch, tmp_path):
    code, process, _ = launched(monkeypatch, tmp_path, ["--ServerApp.port=9000"])
    assert code == 0
    assert process.command[1:3] == ["-m", "jupyterlab"]
    assert f"--ServerApp.root_dir={tmp_path}" in process.command
    assert f"--LabApp.default_url=/lab/tree/{NAME}" in process.command
    assert "--LabApp.news_url=" in process.command
    assert process.command[-1] == "--ServerApp.port=9000"


def test_root_is_allowed_only_to_root(monkeypatch, tmp_path):
    assert "--allow-root" not in launched(monkeypatch, tmp_path, user=1000)[1].command
    assert "--allow-root" in launched(monkeypatch, tmp_path, user=0)[1].command


def test_the_token_is_fresh_and_never_on_the_command_line(monkeypatch, tmp_path):
    first, second = (launched(monkeypatch, tmp_path)[1] for _ in range(2))
    assert len(first.env["JUPYTER_TOKEN"]) >= 40
    assert first.env["JUPYTER_TOKEN"] != second.env["JUPYTER_TOKEN"]
    assert first.env["JUPYTER_TOKEN"] not in " ".join(first.command)


def test_a_wish_about_the_log_is_respected(monkeypatch, tmp_path):
    assert "--Application.log_level=ERROR" in launched(monkeypatch, tmp_path)[1].command
    assert "--Application.log_level=ERROR" not in launched(monkeypatch, tmp_path, ["--log-level=INFO"])[1].command
    assert "--Application.log_level=ERROR" not in launched(monkeypatch, tmp_path, ["--debug"])[1].command


@pytest.mark.parametrize(("status", "code"), [(0, 0), (1, 1), (-15, 143)])
def test_the_exit_status_is_that_of_jupyterlab(monkeypatch, tmp_path, status, code):
    assert launched(monkeypatch, tmp_path, status=status)[0] == code


@pytest.mark.parametrize("terminal", [True, False])
def test_signals_are_passed_on_unless_the_terminal_does_it(monkeypatch, tmp_path, terminal):
    monkeypatch.setattr("sys.stdin", type("Input", (), {"isatty": staticmethod(lambda: terminal)}))
    _, process, handlers = launched(monkeypatch, tmp_path)
    handlers[signal.SIGTERM](signal.SIGTERM, None)
    assert process.ended
    process.ended = False
    if terminal:
        assert handlers[signal.SIGINT] is signal.SIG_IGN
    else:
        handlers[signal.SIGINT](signal.SIGINT, None)
        assert process.ended


def test_the_server_is_found_by_its_folder_among_old_foreign_and_half_written_ones(tmp_path, monkeypatch):
    monkeypatch.setattr(_lab, "PATIENCE", 0.3)
    folder = tmp_path / "here"
    old = written(tmp_path / "jpserver-1.json", json.dumps({"root_dir": str(folder), "url": "old"}))
    earlier = _lab._announced(tmp_path)
    written(tmp_path / "jpserver-2.json", json.dumps({"root_dir": str(tmp_path), "url": "foreign"}))
    written(tmp_path / "jpserver-3.json", '{"root_dir":')
    running = FakeProcess([], {}, None)
    assert _lab._find(running, tmp_path, earlier, folder) is None
    written(tmp_path / "jpserver-4.json", json.dumps({"root_dir": str(folder), "url": "ours"}))
    found = _lab._find(running, tmp_path, earlier, folder)
    assert found["url"] == "ours"
    assert found["page"] == tmp_path / "jpserver-4-open.html"
    (tmp_path / "jpserver-4.json").unlink()
    os.utime(old, ns=(1, 1))  # the number of the process was given out once more
    assert _lab._find(running, tmp_path, earlier, folder)["url"] == "old"
    assert _lab._find(FakeProcess([], {}, 1), tmp_path, earlier, folder) is None


def test_a_server_that_cannot_be_asked_leaves_a_page_whose_cells_wait(tmp_path, monkeypatch):
    said, opened = [], []
    monkeypatch.setattr("webbrowser.open", opened.append)
    server = {"url": "http://127.0.0.1:9/", "token": "t", "page": tmp_path / "none.html"}
    _lab._show(server, tmp_path, NAME, True, said.append)
    assert said[1].startswith("The explorer waits for you to run its cells, in the menu Run > Run All Cells (URLError")
    assert said[2] == f"Open http://127.0.0.1:9/lab/tree/{NAME}?token=t\nStop with Ctrl-C."
    assert opened == [f"http://127.0.0.1:9/lab/tree/{NAME}?token=t"]
    page = written(tmp_path / "open.html", "")
    _lab._show({**server, "page": page}, tmp_path, NAME, True, said.append)
    assert opened[1] == page.as_uri(), "the token stays out of the list of processes"


# --- the README -------------------------------------------------------------------------------------------------------


def test_the_examples_of_the_readme_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    examples = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    assert examples
    for example in examples:
        exec(compile(example, "README.md", "exec"), {})
    assert capsys.readouterr().out.startswith("The guarantee holds: epsilon 0.5 at delta 1e-06")
    assert "<svg" in (tmp_path / "loadings.svg").read_text(encoding="utf-8")


def test_the_readme_opens_with_a_sentence_a_picture_and_the_two_commands():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    _, sentence, picture, *_ = text.split("\n\n")
    assert sentence.count(". ") == 0
    assert "docs/explorer.png" in picture
    assert re.findall(r"```sh\n(.*?)\n```", text, re.DOTALL) == [
        'pip install -e ".[lab]" && python -m dppca_nb explore',
        'pip install -e ".[test]" && pytest',
    ]


def test_what_the_readme_points_to_exists():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    tree = re.search(r"## The house\n\n```\n(.*?)```", text, re.DOTALL)[1]
    names = re.findall(r"^[│├└─ ]*─ (\S+)", tree, re.MULTILINE)
    assert "dppca_nb/" in names
    for name in names:
        assert (ROOT / name).exists() or (ROOT / "dppca_nb" / name).exists(), name
    for link in re.findall(r"\]\((?!https://doi)(.*?)\)", text):
        if not link.startswith("docs/") or (ROOT / "docs").exists():
            assert (ROOT / link).exists(), link


def test_ci_runs_the_command_of_the_readme():
    script = ROOT / ".ci" / "run"
    assert 'pip install -e ".[test]" && pytest\n' in script.read_text(encoding="utf-8")
    with contextlib.suppress(NotImplementedError):
        assert os.name == "nt" or script.stat().st_mode & stat.S_IXUSR
