"""``topoi demo`` on a tiny collection in place of the addresses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import topoi as library


@pytest.fixture
def small_demo(papers: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = library.read_corpus(papers)
    monkeypatch.setattr(library, "load_dataset", lambda name, unit: corpus)


OPTIONS = ["--topics", "4", "--iterations", "20"]


@pytest.mark.usefixtures("small_demo")
def test_demo_shows_and_saves(topoi, tmp_path: Path) -> None:
    path = tmp_path / "demo.topoi"
    run = topoi("demo", "-o", path, *OPTIONS)
    assert run.code == 0
    assert "State of the Union" in run.err and "1800–1894" in run.err
    assert "1800s" in run.out and "█" in run.out and "Cook, J" in run.out
    assert max(map(len, run.out.splitlines())) <= 80
    assert "topoi authors" in run.err
    assert library.load(path).n_topics == 4


@pytest.mark.usefixtures("small_demo")
def test_demo_uses_a_wide_terminal(topoi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "150")
    wide = topoi("demo", "-q", "-o", tmp_path / "wide.topoi", *OPTIONS).out.splitlines()
    monkeypatch.setenv("COLUMNS", "80")
    narrow = topoi("demo", "-q", "-o", tmp_path / "narrow.topoi", *OPTIONS).out.splitlines()
    assert len(wide) < len(narrow)
    assert 80 < max(map(len, wide)) <= 150


@pytest.mark.usefixtures("small_demo")
def test_demo_as_json_runs_in_the_order_of_time(topoi, tmp_path: Path) -> None:
    rows = json.loads(topoi("demo", "-q", "-o", tmp_path / "demo.topoi", *OPTIONS, "--json").out)
    assert rows and all(len(row["decades"]) == len(row["shares"]) for row in rows)
    peaks = [row["peak"] for row in rows]
    assert peaks[0] <= peaks[-1]


@pytest.mark.usefixtures("small_demo")
def test_demo_does_not_overwrite(topoi, tmp_path: Path) -> None:
    path = tmp_path / "demo.topoi"
    path.write_text("mine")
    assert topoi("demo", "-o", path, *OPTIONS).code == 1
    assert path.read_text() == "mine"


@pytest.mark.usefixtures("small_demo")
def test_interrupted_demo_still_shows_and_saves(topoi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    complete = library.AuthorTopicModel.fit

    def interrupted(self, corpus):
        complete(self, corpus).fit_info_["interrupted"] = True
        return self

    monkeypatch.setattr(library.AuthorTopicModel, "fit", interrupted)
    run = topoi("demo", "-o", tmp_path / "demo.topoi", *OPTIONS)
    assert run.code == 130
    assert "interrupted before the end; saved" in run.err and "█" in run.out
    assert library.load(tmp_path / "demo.topoi").fit_info_["interrupted"]
