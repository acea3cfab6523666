"""``topoi update``: new documents for a model in a file."""

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
    assert topoi("name", path, 2, "labelled").code == 0
    return path


@pytest.fixture
def more(tmp_path: Path) -> Path:
    path = tmp_path / "more.jsonl"
    rows = [
        {"id": f"n{i}", "text": f"{' '.join(SEA[i % 3 :])} rocket moon the", "authors": ["Verne, J"], "year": 1865}
        for i in range(8)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_update_is_reported_and_kept(topoi: Callable[..., Run], file: Path, more: Path) -> None:
    run = topoi("update", file, more, "-i", 5, "--spare-topics", 1, "-j", 1)
    assert run.code == 0, run.err
    assert "8 documents" in run.out and "1 new author" in run.out and "2 new words: moon, rocket" in run.out
    assert "topic 3 is new" in run.out and "saved" in run.err
    store = library.open_store(file)
    assert store.labels() == {2: "labelled"} and store.sizes.n_documents == 56
    assert "the" not in store.corpus().words and store.corpus().texts[-1].endswith("rocket moon the")
    assert topoi("update", file).out == run.out
    rows = json.loads(topoi("update", file, "--json").out)
    assert [row["topic"] for row in rows] == [0, 1, 2, 3] and rows[2]["label"] == "labelled" and rows[3]["new"]
    assert "1 update" in topoi("models", file).out
    assert json.loads(topoi("models", file, "--json").out)[0]["n_updates"] == 1


def test_known_documents_and_words(topoi: Callable[..., Run], file: Path, more: Path) -> None:
    before = file.read_bytes()
    run = topoi("update", file, file.with_name("papers.jsonl"), "-q")
    assert run.code == 1 and "'p0'" in run.err and "--skip-known" in run.err and file.read_bytes() == before
    assert topoi("update", file, more, "-i", 1, "-q", "--no-new-words").code == 0
    assert library.open_store(file).sizes.n_words == 30
    run = topoi("update", file, more, "-i", 1, "--skip-known", "-q")
    assert run.code == 0 and library.open_store(file).sizes.n_documents == 56


def test_a_new_file(topoi: Callable[..., Run], file: Path, more: Path) -> None:
    before, there = file.read_bytes(), file.with_name("there.topoi")
    assert topoi("fit", file.with_name("papers.jsonl"), "-o", file, "--name", "second", "-m", "lda", *FIT).code == 0
    before = file.read_bytes()
    run = topoi("update", file, more, "-i", 1)
    assert run.code == 1 and "-o FILE" in run.err
    assert topoi("update", file, more, "-i", 1, "-q", "-o", there, "--name", "AuthorTopicModel").code == 0
    assert file.read_bytes() == before and library.open_store(there).labels() == {2: "labelled"}
    assert topoi("update", file, more, "-i", 1, "-o", there).code == 1


def test_mistakes_are_said(topoi: Callable[..., Run], file: Path, more: Path, tmp_path: Path) -> None:
    assert "has not been updated" in topoi("update", file).err
    assert topoi("update", file, tmp_path / "nothing.jsonl").code == 1
    assert topoi("update", tmp_path / "nothing.topoi", more).code == 1
    (tmp_path / "empty.jsonl").write_text("")
    assert "empty" in topoi("update", file, tmp_path / "empty.jsonl").err
    assert (
        topoi("fit", file.with_name("papers.jsonl"), "-m", "author", "-i", 2, "-q", "-o", tmp_path / "a.topoi").code
        == 0
    )
    run = topoi("update", tmp_path / "a.topoi", more)
    assert run.code == 1 and "cannot take in new documents" in run.err
