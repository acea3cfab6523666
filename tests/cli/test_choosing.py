"""Which model answers, which family is fitted, and which document is meant, where the user has not said."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import topoi as library
from topoi.cli.main import main
from topoi.models.registry import model_named, models

from .conftest import FIT, write_papers


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An author-topic model, and an LDA that was added later."""
    folder = tmp_path_factory.mktemp("both")
    path, papers = folder / "both.topoi", write_papers(folder / "papers.jsonl")
    assert main(["fit", str(papers), "-o", str(path), *FIT, "--name", "who"]) == 0
    assert main(["fit", str(papers), "-o", str(path), *FIT, "--name", "what", "-m", "lda"]) == 0
    return path


AUTHORS_NEEDED = [
    ["authors"],
    ["similar", "Drake, F"],
    ["unusual", "Drake, F"],
    ["likely", "ship harbor"],
    ["reviewers", "ship harbor"],
    ["label", "ship harbor", "--authors", "Drake, F"],
]


@pytest.mark.parametrize("verb", AUTHORS_NEEDED, ids=lambda verb: verb[0])
def test_the_newest_model_with_authors_answers_and_is_named(topoi, both: Path, verb: list[str]) -> None:
    run = topoi(verb[0], both, *verb[1:], "--json")
    assert run.code == 0
    assert run.err == f"topoi: note: the LDA in {both} knows no authors; 'who' answers instead\n"
    named = topoi(verb[0], both, *verb[1:], "--json", "--name", "who")
    assert (named.err, named.out) == ("", run.out)
    refused = topoi(verb[0], both, *verb[1:], "--name", "what")
    assert (refused.code, refused.out) == (1, "")
    assert refused.err == f"topoi: the LDA in {both} knows no authors; this one can answer: --name who\n"


def test_a_model_that_can_answer_does_so_without_a_note(topoi, both: Path) -> None:
    run = topoi("topics", both, "--json")
    assert run.err == "" and run.out == topoi("topics", both, "--json", "--name", "what").out


@pytest.mark.parametrize("verb", [["structure"], ["coefficients"], ["predict", "year=1800"]], ids=lambda verb: verb[0])
def test_what_no_model_has_is_advised_in_the_words_of_the_command_line(topoi, both: Path, verb: list[str]) -> None:
    run = topoi(verb[0], both, *verb[1:])
    assert (run.code, run.err.count("\n")) == (1, 1)
    assert "; fit one with --model " in run.err and run.err.endswith(f"-o {both} --name NAME\n")


@pytest.fixture(scope="module")
def nameless(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("texts")
    for i, line in enumerate(write_papers(folder / "papers.jsonl").read_text().splitlines()):
        (folder / f"{i}.txt").write_text(json.loads(line)["text"])
    (folder / "papers.jsonl").unlink()
    return folder


def test_a_folder_of_texts_is_fitted_by_lda_and_that_is_said(topoi, nameless: Path, tmp_path: Path) -> None:
    path = tmp_path / "m.topoi"
    run = topoi("fit", nameless, "-o", path, *FIT)
    assert run.code == 0
    assert (
        run.err.startswith("topoi: note: no document has an author, so LDA is fitted; ") and "--authors A,B" in run.err
    )
    assert library.view(path).family == "LDA"
    refused = topoi("authors", path)
    assert refused.code == 1 and "no document has an author: fit again" in refused.err and "fit one" not in refused.err


@pytest.mark.parametrize("asked", [["--model", "author-topic"], ["--model", "author"], ["--fictitious-authors"]])
def test_authors_that_were_asked_for_are_not_done_without(topoi, nameless: Path, tmp_path: Path, asked) -> None:
    run = topoi("fit", nameless, "-o", tmp_path / "m.topoi", "-q", *asked)
    assert run.code == 1 and not (tmp_path / "m.topoi").exists()
    assert run.err.startswith(f"topoi: {' '.join(asked)} needs authors, and no document has one; ")
    assert "corpus." not in run.err, "advice for Python"


def test_families_by_any_name() -> None:
    for name, model in models().items():
        assert getattr(library, name) is model.model_class and model.model_class.__name__ == name
        spelled = (model.option, model.option.upper(), model.option.replace("-", "_"), name, name.lower())
        assert {model_named(each).name for each in spelled} == {name}


def test_a_family_in_capitals_is_fitted(topoi, papers: Path, tmp_path: Path) -> None:
    assert topoi("fit", papers, "-o", tmp_path / "m.topoi", *FIT, "--model", "LDA").code == 0
    assert library.view(tmp_path / "m.topoi").family == "LDA"
    wrong = topoi("fit", papers, "-o", tmp_path / "n.topoi", "--model", "lsa")
    assert wrong.code == 2 and "'lsa' is none of author-topic, lda, author," in wrong.err


def test_likely_takes_a_document(topoi, model_file: Path) -> None:
    text = library.view(model_file).store.sql("SELECT text FROM document WHERE identifier = 'p2'")["text"].iloc[0]
    as_text = topoi("likely", model_file, "--text", text, "--json")
    assert as_text.err == ""
    for name in (["p2"], ["Paper", "2"], ["paper 2"]):
        run = topoi("likely", model_file, *name, "--json")
        assert run.out == as_text.out
        assert run.err == "topoi: note: document p2, Paper 2, by Tull, J: the model was fitted to it\n"
    mistyped = topoi("likely", model_file, "harbor")
    assert mistyped.err.startswith("topoi: note: no document has the id or title 'harbor': it is read as a new text")
    several = topoi("likely", model_file, "paper")
    assert several.code == 1 and "documents have 'paper' in their title" in several.err


def test_likely_of_a_document_whose_text_was_left_out(topoi, papers: Path, tmp_path: Path) -> None:
    corpus = library.read_corpus(papers)
    model = library.AuthorTopicModel(2, n_iter=2, random_state=0).fit(corpus)
    model.save(tmp_path / "m.topoi", corpus=False)
    run = topoi("likely", tmp_path / "m.topoi", "2")
    assert run.code == 1 and "the text of document 2 is not in" in run.err


def completions(words: str) -> list[str]:
    """What a shell would offer behind these words."""
    shell = {"_TOPOI_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(len(words.split()))}
    command = [sys.executable, "-m", "topoi.cli.main"]
    done = subprocess.run(command, env=os.environ | shell, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.slow
def test_verbs_families_and_names_complete(both: Path) -> None:
    assert set(completions("topoi ")) >= {"fit", "topics", "browse"}
    assert completions("topoi fit papers.jsonl --model ") == [model.option for model in models().values()]
    assert completions(f"topoi topics {both} --name ") == ["who", "what"]
    assert completions("topoi topics absent.topoi --name ") == []
