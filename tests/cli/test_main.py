"""The program as a whole: help that is quick, errors in one line, exit codes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import topoi as library
from thinning import slow_unless
from topoi.cli import main as program
from topoi.errors import ModelError

HEAVY = {"numba", "numpy", "pandas", "scipy", "sklearn"}


def test_help_imports_nothing_heavy() -> None:
    script = (
        "import sys; from topoi.cli.main import main; code = main(['--help']);"
        "sys.stderr.write(' '.join(sys.modules)); sys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "Usage: topoi" in done.stdout
    assert HEAVY.isdisjoint(done.stderr.split())


QUICK = [["topics"], ["authors"], ["trends"], ["similar", "Drake, F"], ["words", "ship"], ["unusual", "Drake, F"]]


@pytest.mark.parametrize(
    "verb", slow_unless(lambda verb: verb[0] in ("topics", "similar"), QUICK), ids=lambda verb: verb[0]
)
def test_questions_do_without_loading_the_model(model_file: Path, verb: list[str]) -> None:
    script = (
        "import sys; from topoi.cli.main import main; code = main(sys.argv[1:]);"
        "sys.stderr.write(' '.join(sys.modules)); sys.exit(code)"
    )
    command = [sys.executable, "-c", script, verb[0], str(model_file), *verb[1:]]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert {"sklearn", "topoi.store.files", "topoi.models.gibbs"}.isdisjoint(done.stderr.split())


@pytest.mark.parametrize("way", ["version", "--version"])
def test_version(topoi, way: str) -> None:
    run = topoi(way)
    assert (run.code, run.out) == (0, f"{library.__version__}\n")


def test_no_verb_shows_the_verbs(topoi) -> None:
    run = topoi()
    assert run.code == 2
    assert "trends" in run.out + run.err


@pytest.mark.parametrize(
    "arguments", [("nonsense",), ("topics",), ("topics", "f.topoi", "--nonsense"), ("fit", "a", "--topics", "0")]
)
def test_wrong_usage_exits_2(topoi, arguments) -> None:
    run = topoi(*arguments)
    assert run.code == 2
    assert run.out == ""
    assert "Usage: topoi" in run.err


def test_missing_file_is_one_line(topoi) -> None:
    run = topoi("topics", "absent.topoi")
    assert (run.code, run.out, run.err) == (1, "", "topoi: no such file: absent.topoi\n")


def test_file_of_another_kind_is_one_line(topoi, tmp_path: Path) -> None:
    path = tmp_path / "letter.topoi"
    path.write_text("Dear reader,\n" * 100)
    run = topoi("topics", path)
    assert run.code == 1
    assert run.err.startswith("topoi: ") and run.err.count("\n") == 1


def test_folder_is_one_line(topoi, tmp_path: Path) -> None:
    run = topoi("topics", tmp_path)
    assert run.code == 1
    assert "is a folder" in run.err


def test_long_messages_stay_on_one_line(topoi, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def refuse(path, name):
        raise ModelError("first line\n   second line")

    monkeypatch.setattr(library, "view", refuse, raising=False)
    path = tmp_path / "m.topoi"
    path.touch()
    assert topoi("topics", path).err == "topoi: first line second line\n"


@pytest.mark.parametrize(
    "arguments", [("--traceback", "topics", "absent.topoi"), ("topics", "absent.topoi", "--traceback")]
)
def test_traceback_on_request(topoi, arguments) -> None:
    with pytest.raises(FileNotFoundError):
        topoi(*arguments)


def test_traceback_after_two_dashes_is_text(topoi, model_file: Path) -> None:
    assert topoi("label", model_file, "--json", "--", "--traceback").code == 0


def test_interrupt_exits_130(topoi, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def interrupt(path, name):
        raise KeyboardInterrupt

    monkeypatch.setattr(library, "view", interrupt, raising=False)
    path = tmp_path / "m.topoi"
    path.touch()
    assert topoi("topics", path).code == 130


@pytest.mark.parametrize("module", ["topoi", "topoi.cli.main"])
def test_runs_as_a_process(model_file: Path, module: str) -> None:
    command = [sys.executable, "-m", module, "topics", str(model_file), "--csv"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("topic,label,n_words,share,lower,upper,background,words,authors\n")
    assert done.stderr == ""


def test_a_closed_pipe_is_no_error(model_file: Path) -> None:
    command = f"'{sys.executable}' -m topoi.cli.main topics '{model_file}' --json | head -c 1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, env=os.environ)
    assert done.stdout == "["
    assert "Traceback" not in done.stderr


def test_error_messages_for_the_system(tmp_path: Path) -> None:
    assert program._one_line(PermissionError(13, "Permission denied", "x.topoi")) == "x.topoi: Permission denied"
    assert program._one_line(ImportError()) == "ImportError"


def test_every_command_stands_in_one_section_of_the_help(capsys):
    sections, app = program.SECTIONS, program.app

    listed = [name for names in sections.values() for name in names]
    assert sorted(listed) == sorted(command.name for command in app.registered_commands)
    assert program.main(["--help"]) == 0
    shown = capsys.readouterr().out
    places = [shown.index(f"{title}:") for title in sections]
    assert places == sorted(places) and "browse        Read a model in the web browser." in shown
