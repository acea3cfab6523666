"""What stands in a file, or in its name, is shown in a terminal and does not steer it."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import sys
from pathlib import Path

import pytest

import topoi as library
from topoi.cli.main import main
from topoi.errors import StoreError, TopoiError, safe_text
from topoi.web.export import Limits, export_site

EVIL = "\x1b[2J\x1b]0;owned\x07\x9b31m\u202egnp.exe\u2066\x7f\r"
# Bytes that are no UTF-8, an escape sequence and a line end.
NAME = os.fsdecode(b"bad\xff\x1b[31m\n.topoi")
COLOURS = re.compile(r"\x1b\[[0-9;]*m")
UNSAFE = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch):
    """Run the command line in a terminal: the exit code and all that it wrote."""
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)

    def run(*arguments: object) -> tuple[int, str]:
        screen = Terminal()
        monkeypatch.setattr(sys, "stdout", screen)
        monkeypatch.setattr(sys, "stderr", screen)
        code = main([str(argument) for argument in arguments])
        monkeypatch.undo()
        return code, screen.getvalue()

    return run


def hostile_corpus() -> library.Corpus:
    texts = [f"stars{EVIL} shine over {EVIL} planets", "genes make cells and cells make genes"] * 8
    return library.Corpus.from_texts(
        texts,
        authors=[f"Ann{EVIL}", f"Bob{EVIL}"] * 8,
        titles=[f"title {d}{EVIL}" for d in range(16)],
        ids=[f"id {d}{EVIL}" for d in range(16)],
        dates=[2000 + d // 4 for d in range(16)],
        metadata={"venue": [f"ACL{EVIL}", f"NIPS{EVIL}"] * 8},
        min_df=1,
        max_df=1.0,
    )


@pytest.fixture(scope="module")
def hostile(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("hostile") / NAME
    corpus = hostile_corpus()
    options = {"n_iter": 5, "random_state": 0}
    library.AuthorTopicModel(2, alpha=0.1, **options).fit(corpus).save(path, name="at")
    library.PachinkoAllocation(2, 2, **options).fit(corpus).save(path, name="four")
    dmr = library.DirichletMultinomialRegression(2, features=["venue"], n_warmup=2, **options)
    dmr.fit(corpus).save(path, name="dmr")
    return path


VERBS = [
    ("models",),
    ("topics", "--name", "at"),
    ("topics", "--name", "at", "--topic", "1"),
    ("authors", "--name", "at"),
    ("authors", f"Ann{EVIL}", "--name", "at"),
    ("authors", f"Nobody{EVIL}", "--name", "at"),
    ("documents", "--topic", "0", "--name", "at"),
    ("documents", f"id 3{EVIL}", "--name", "at"),
    ("documents", f"id 3{EVIL}", "--similar", "--name", "at"),
    ("documents", f"nothing{EVIL}", "--name", "at"),
    ("words", "stars", "--name", "at"),
    ("words", f"no{EVIL}", "--name", "at"),
    ("trends", "--name", "at"),
    ("trends", "--by", "venue", "--name", "at"),
    ("trends", "--by", f"x{EVIL}", "--name", "at"),
    ("similar", f"Bob{EVIL}", "--name", "at"),
    ("unusual", f"Bob{EVIL}", "--name", "at"),
    ("label", f"stars {EVIL} shine", "--name", "at"),
    ("likely", f"stars {EVIL} shine", "--name", "at"),
    ("reviewers", "stars shine", "--name", "at"),
    ("structure", "--name", "four"),
    ("structure", "--node", "super 0", "--name", "four"),
    ("predict", f"venue=ACL{EVIL}", "--name", "dmr"),
    ("predict", f"venue=none{EVIL}", "--name", "dmr"),
    ("coefficients", "--name", "dmr"),
    ("topics", "--name", f"no{EVIL}"),
    ("topics", f"--no{EVIL}"),
    (f"verb{EVIL}",),
]


@pytest.mark.parametrize("form", ["", "--json", "--csv"])
@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: ascii(" ".join(verb))[:40])
def test_verbs_write_nothing_that_a_terminal_obeys(terminal, hostile, verb, form):
    first, *rest = verb
    code, screen = terminal(first, hostile, *rest, *([form] if form else []))
    assert code in (0, 1, 2) and screen
    assert UNSAFE.findall(COLOURS.sub("", screen)) == []
    assert "\x1b[2J" not in screen and "\x1b[31m" not in screen


def test_programs_get_the_data(topoi, hostile):
    rows = json.loads(topoi("documents", hostile, "--topic", "0", "--name", "at", "--json").out)
    assert {row["title"] for row in rows} <= {f"title {d}{EVIL}" for d in range(16)}
    assert EVIL.strip() in topoi("documents", hostile, "--topic", "0", "--name", "at", "--csv").out


def test_messages_of_errors_are_safe(tmp_path):
    for error in (TopoiError(EVIL), StoreError(f"{tmp_path / NAME} is damaged"), library.NotFoundError(EVIL)):
        assert UNSAFE.findall(str(error)) == []
    with pytest.raises(StoreError, match=r"bad\\udcff\\x1b\[31m"):
        library.load(tmp_path / NAME)
    assert safe_text("line\nanother\tcolumn, héllo 日本 👨‍👩‍👧") == "line\nanother\tcolumn, héllo 日本 👨‍👩‍👧"


def test_names_that_are_no_text_are_saved_loaded_and_exported(hostile, tmp_path, terminal):
    path = shutil.copy(hostile, tmp_path / NAME)
    model = library.load(path, "at")
    model.save(path, name="again")
    library.open_store(path).set_label("again", 0, "stars")
    assert library.open_store(path).labels("again") == {0: "stars"}
    folder = tmp_path / os.fsdecode(b"site\xff")
    assert export_site(path, folder, Limits(1, 1)) > 0
    assert "bad\\udcff" in (folder / "index.html").read_text(encoding="utf-8")
    checkpoint = tmp_path / os.fsdecode(b"fit\xff.check")
    for n_iter in (3, 5):
        library.LDA(2, n_iter=n_iter, random_state=0, checkpoint=checkpoint).fit(model.corpus_).save(path, name="lda")
    code, screen = terminal("models", path)
    assert code == 0 and UNSAFE.findall(COLOURS.sub("", screen)) == []


def test_pages_of_a_file_with_such_a_name(hostile):
    from web.conftest import client_of

    client = client_of(hostile)
    for page in ("/m/at/", "/m/at/models", "/m/at/topic/99", "/m/at/documents.json", "/m/nothing/"):
        answer = client.get(page)
        assert answer.status_code in (200, 404) and "\x1b" not in answer.text


def test_corpora_in_such_a_folder(tmp_path, terminal):
    folder = tmp_path / os.fsdecode(b"papers\xff\x1b[31m")
    folder.mkdir()
    for d in range(12):
        words = "stars shine brightly tonight" if d % 2 else "genes make living cells"
        (folder / os.fsdecode(b"paper%d\xff.txt" % d)).write_text(f"{words} {words}", encoding="utf-8")
    target = tmp_path / os.fsdecode(b"papers\xff.topoi")
    code, screen = terminal("fit", folder, "-o", target, "--topics", "2", "-i", "5", "--model", "lda", "--min-df", "1")
    assert code == 0, screen
    bare = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]|\r", "", screen)  # what draws the bar of progress
    assert UNSAFE.findall(bare) == [] and "papers\\udcff\\x1b[31m" in bare
    assert terminal("topics", target)[0] == 0
