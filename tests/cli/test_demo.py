"""``topoi demo`` on a tiny collection in place of the addresses."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

import topoi as library
from topoi.cli import demo
from topoi.errors import StoreError


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
def test_the_map_is_there_when_the_browser_opens(topoi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Saving places few documents; the demo places all of them."""
    monkeypatch.setattr("topoi.store.places.MOST_PLACED_BY_SAVE", 0)
    assert topoi("demo", "-q", "-o", tmp_path / "demo.topoi", *OPTIONS).code == 0
    assert library.view(tmp_path / "demo.topoi").document_places() is not None


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


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The files that the demo would have served, in place of serving them."""
    from topoi.web import run

    files: list[Path] = []

    def serve(path: Path, say) -> None:
        say("http://127.0.0.1:8765/")
        files.append(path)

    monkeypatch.setattr(run, "serve", serve)
    return files


def sit_at_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setattr(demo, "somebody_is_there", lambda: True)


@pytest.mark.usefixtures("small_demo")
def test_demo_ends_in_the_browser(topoi, tmp_path: Path, served, monkeypatch: pytest.MonkeyPatch) -> None:
    sit_at_a_terminal(monkeypatch)
    path = tmp_path / "demo.topoi"
    run = topoi("demo", "-o", path, *OPTIONS)
    assert (run.code, served) == (0, [path])
    assert "http://127.0.0.1:8765/" in run.err and "Ctrl-C" in run.err
    assert "http" not in run.out


@pytest.mark.usefixtures("small_demo")
@pytest.mark.parametrize("option", ["--no-browse", "--quiet", "--json", "--csv"])
def test_demo_does_not_serve_when_asked_not_to(topoi, tmp_path: Path, served, monkeypatch, option: str) -> None:
    sit_at_a_terminal(monkeypatch)
    assert topoi("demo", "-o", tmp_path / "demo.topoi", *OPTIONS, option).code == 0
    assert served == []


@pytest.mark.usefixtures("small_demo")
def test_demo_does_not_serve_without_a_terminal(topoi, tmp_path: Path, served) -> None:
    run = topoi("demo", "-o", tmp_path / "demo.topoi", *OPTIONS)
    assert (run.code, served) == (0, [])
    assert "topoi browse" in run.err


@pytest.mark.parametrize(
    ("stdin", "stdout", "environment", "there"),
    [(True, True, "", True), (False, True, "", False), (True, False, "", False), (True, True, "true", False)],
)
def test_a_person_has_a_terminal(monkeypatch, stdin: bool, stdout: bool, environment: str, there: bool) -> None:
    class Stream(io.StringIO):
        def __init__(self, terminal: bool) -> None:
            super().__init__()
            self.isatty = lambda: terminal

    monkeypatch.setenv("CI", environment)
    monkeypatch.setattr("sys.stdin", Stream(stdin))
    monkeypatch.setattr("sys.stdout", Stream(stdout))
    assert demo.somebody_is_there() is there


@pytest.mark.usefixtures("small_demo")
@pytest.mark.parametrize("error", [ImportError('pip install "topoi[web]"'), StoreError("no port is free")])
def test_demo_without_a_browser_has_ended_well(topoi, tmp_path: Path, monkeypatch, error: Exception) -> None:
    from topoi.web import run as web

    def refuse(path: Path, say) -> None:
        raise error

    sit_at_a_terminal(monkeypatch)
    monkeypatch.setattr(web, "serve", refuse)
    run = topoi("demo", "-o", tmp_path / "demo.topoi", *OPTIONS)
    assert run.code == 0
    assert run.err.splitlines()[-1] == str(error)


@pytest.mark.usefixtures("small_demo")
def test_demo_does_not_overwrite(topoi, tmp_path: Path) -> None:
    path = tmp_path / "demo.topoi"
    path.write_text("mine")
    assert topoi("demo", "-o", path, *OPTIONS).code == 1
    assert path.read_text() == "mine"


@pytest.mark.usefixtures("small_demo")
def test_interrupted_demo_still_shows_and_saves(topoi, tmp_path: Path, served, monkeypatch) -> None:
    sit_at_a_terminal(monkeypatch)
    complete = library.AuthorTopicModel.fit

    def interrupted(self, corpus):
        complete(self, corpus).fit_info_["interrupted"] = True
        return self

    monkeypatch.setattr(library.AuthorTopicModel, "fit", interrupted)
    run = topoi("demo", "-o", tmp_path / "demo.topoi", *OPTIONS)
    assert (run.code, served) == (130, [])
    assert "interrupted before the end; saved" in run.err and "█" in run.out
    assert library.load(tmp_path / "demo.topoi").fit_info_["interrupted"]


def test_commands_to_try_run_where_the_environment_is_not_active(tmp_path: Path, monkeypatch) -> None:
    folder = tmp_path / "my env" / "bin"
    folder.mkdir(parents=True)
    (folder / "topoi").touch()
    monkeypatch.setattr(demo.sys, "executable", str(folder / "python"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(demo.shutil, "which", lambda name: None)
    assert demo.program() == "'my env/bin/topoi'"
    monkeypatch.setattr(demo.shutil, "which", lambda name: "/usr/bin/topoi")
    assert demo.program() == "topoi"
