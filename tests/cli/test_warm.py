"""``topoi warm``, and the note while something is compiled."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from topoi.cli import warming
from topoi.cli.main import _Note
from topoi.kernels import preparing
from topoi.models.registry import models


def test_warm_names_its_steps_and_where_the_result_is(topoi) -> None:
    topoi("warm", "--model", "lda", "-q")
    run = topoi("warm", "--model", "lda")
    assert run.code == 0 and run.out == ""
    lines = run.err.splitlines()
    assert [line.split("  ")[0] for line in lines[:3]] == ["reading a corpus", "lda: fit", "lda: many topics"]
    assert all(line.endswith(" s") for line in lines[:3])
    assert lines[-2].startswith("nothing to compile (")
    assert Path(lines[-1].removeprefix("kept in ")).is_dir()


def test_warm_counts_what_is_compiled(topoi, monkeypatch: pytest.MonkeyPatch) -> None:
    def compile_two() -> None:
        for _ in range(2):
            preparing.begin()
            preparing.end()

    monkeypatch.setattr(warming, "steps", lambda families, folder: [(families[0].option, compile_two)])
    run = topoi("warm", "--model", "Pachinko")
    assert run.err.startswith("pachinko") and "2 kernels compiled in" in run.err
    assert topoi("warm", "-q").err == ""


def test_warm_refuses_unknown_families(topoi) -> None:
    run = topoi("warm", "--model", "tfidf")
    assert run.code == 2 and "tfidf" in run.err


def test_every_family_has_steps(tmp_path: Path) -> None:
    names = [name for name, _ in warming.steps(list(models().values()), tmp_path)]
    assert {name.partition(":")[0] for name in names[1:-1]} == {model.option for model in models().values()}
    assert names[-1] == "map of documents"


@pytest.mark.parametrize(
    ("words", "terminal", "notes"),
    [(["label"], True, 1), (["label"], False, 0), (["fit", "-q"], True, 0), (["fit", "--", "-q"], True, 1)],
)
def test_note_once_and_only_where_somebody_reads_it(
    words: list[str], terminal: bool, notes: int, capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    with preparing.watching(_Note(words)):
        assert capsys.readouterr().err == ""  # nothing is being compiled
        for _ in range(3):
            preparing.begin()
            preparing.end()
    assert capsys.readouterr().err.count(preparing.MESSAGE) == notes
