"""``topoi edit``: topics of a model in a file, changed by hand."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import topoi as library

from .conftest import FIT, SEA, Run, write_papers


@pytest.fixture
def file(tmp_path: Path, topoi: Callable[..., Run]) -> Path:
    papers = write_papers(tmp_path / "papers.jsonl")
    path = tmp_path / "papers.topoi"
    assert topoi("fit", papers, "-o", path, *FIT).code == 0
    return path


def test_preview_changes_nothing_and_a_commit_can_be_undone(topoi: Callable[..., Run], file: Path) -> None:
    before, words = file.read_bytes(), library.load(file).topic_word_
    run = topoi("edit", file, "merge", 0, 2, "--preview")
    assert run.code == 0 and "topic 2, retired" in run.out and file.read_bytes() == before
    shown = json.loads(topoi("edit", file, "merge", 0, 2, "--preview", "--json").out)
    assert [row["state"] for row in shown["topics"]] == ["kept", "retired"] and file.read_bytes() == before
    assert topoi("edit", file, "history").out == "No edits yet.\n"
    run = topoi("edit", file, "merge", 0, 2, "--sweeps", 3, "--who", "Ann", "-j", 1)
    assert run.code == 0 and "saved" in run.err and "merge 2 into 0" in run.out
    assert library.open_store(file).retired_topics() == [2]
    assert topoi("edit", file, "rename", 0, "the", "sea", "-q").out == ""
    assert library.open_store(file).labels() == {0: "the sea"}
    rows = json.loads(topoi("edit", file, "history", "--json").out)
    assert [(row["text"], row["who"], row["n_iter"]) for row in rows] == [
        ("merge 2 into 0", "Ann", 3),
        ("call 0 'the sea'", "", 0),
    ]
    assert "2. call 0 'the sea'" in topoi("edit", file, "undo").out
    assert topoi("edit", file, "undo", "-q").code == 0 and library.open_store(file).labels() == {}
    assert (library.load(file).topic_word_ == words).all()
    run = topoi("edit", file, "undo")
    assert run.code == 1 and "nothing to undo" in run.err


def test_every_action(topoi: Callable[..., Run], file: Path) -> None:
    send = ["send", "p1", "--to", 2, "--away-from", 0]
    for action in (["split", 0], ["ban", 0, *SEA[:2]], ["pin", 1, SEA[2]], ["freeze", 1], send):
        run = topoi("edit", file, *action, "-i", 1, "-q")
        assert run.code == 0, run.err
    model = library.load(file)
    found = model.chains_[0].assignments.topic
    words = model.corpus_.words[model.corpus_.tokens]
    assert (found[words == SEA[2]] == 1).all()
    for word in SEA[:2]:
        assert not (found[words == word] == 0).any()
    assert library.open_store(file).edits()["kind"].tolist() == ["split", "ban", "pin", "freeze", "send"]
    assert topoi("edit", file, "split", 0, 3, "--preview", "--csv").out.startswith("topic,state,")


@pytest.mark.parametrize(
    ("arguments", "code", "what"),
    [
        (["merge", 0, 0], 1, "with itself"),
        (["merge", 0], 2, "merge TOPIC OTHER"),
        (["merge", 0, "one"], 2, "'one' is no number"),
        (["merge", 0, 99], 1, "no topic 99"),
        (["ban", 0], 2, "ban TOPIC WORD"),
        (["ban", 0, "nowhere"], 1, "no word 'nowhere'"),
        (["send", "p0", "p1"], 2, "send DOCUMENT"),
        (["send", "px"], 1, "no document 'px'"),
        (["split", 0, "--to", 1], 2, "split TOPIC"),
        (["undo", "--preview"], 2, "--preview"),
        (["undo", 3], 2, "FILE undo"),
        (["burn", 0], 2, "burn"),
    ],
)
def test_what_cannot_be_done(
    topoi: Callable[..., Run], file: Path, arguments: list[object], code: int, what: str
) -> None:
    before = file.read_bytes()
    run = topoi("edit", file, *arguments)
    assert run.code == code and what in run.err and "Traceback" not in run.err and file.read_bytes() == before
