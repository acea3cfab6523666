"""Files of several models: ``--name`` on every verb, ``topoi models``, and labels by ``topoi name``."""

from __future__ import annotations

import csv
import io
import json
import sqlite3
from pathlib import Path

import pytest

import topoi as library
from topoi.cli.main import main

from .conftest import FIELD, FIT, write_papers

QUESTIONS = {
    "topics": [],
    "authors": [],
    "label": ["ship harbor"],
    "trends": [],
    "documents": ["--topic", "0"],
    "words": ["ship"],
    "unusual": ["Drake, F"],
    "similar": ["Drake, F"],
    "likely": ["ship harbor"],
    "reviewers": ["ship harbor"],
}


@pytest.fixture(scope="module")
def several(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of three models: three topics, then four, then none."""
    folder = tmp_path_factory.mktemp("several")
    papers, path = write_papers(folder / "papers.jsonl"), folder / "several.topoi"
    for name, options in {"three": [], "four": ["-k", "4"]}.items():
        assert main(["fit", str(papers), "-o", str(path), *FIT, *options, "--name", name]) == 0
    assert main(["fit", str(papers), "-o", str(path), "-m", "author", "-i", "5", "-q", "--name", "no topics"]) == 0
    return path


@pytest.fixture(scope="module")
def three(several: Path) -> Path:
    """The first of them alone in a file."""
    path = several.with_name("three.topoi")
    library.load(several, "three").save(path)
    return path


def rows(run) -> list[dict]:
    assert (run.code, run.err) == (0, ""), run.err
    return json.loads(run.out)


@pytest.mark.parametrize("verb", QUESTIONS)
def test_a_name_chooses_the_model(topoi, several: Path, three: Path, verb: str) -> None:
    arguments = [*QUESTIONS[verb], "--json"]
    chosen = rows(topoi(verb, several, *arguments, "--name", "three"))
    assert chosen == rows(topoi(verb, three, *arguments))
    if verb not in ("unusual", "similar", "likely", "reviewers", "documents"):
        assert chosen != rows(topoi(verb, several, *arguments, "--name", "four"))


@pytest.mark.parametrize("verb", [*QUESTIONS, "align"])
def test_an_unknown_name_is_answered_with_those_there_are(topoi, several: Path, verb: str) -> None:
    run = topoi(verb, several, *QUESTIONS.get(verb, []), "--name", "five")
    assert (run.code, run.err) == (
        1,
        "topoi: there is no model 'five'; there are: 'three', 'four', 'no topics'\n",
    )


def test_without_a_name_the_last_one_that_can_answers(topoi, several: Path) -> None:
    run = topoi("topics", several, "--json")
    said = f"topoi: note: the AuthorModel in {several} has no topics; 'four' answers instead\n"
    assert (run.code, run.err) == (0, said)
    assert run.out == topoi("topics", several, "--json", "--name", "four").out
    refused = topoi("topics", several, "--name", "no topics")
    assert refused.code == 1 and refused.err.endswith("has no topics; this one can answer: --name four\n")
    assert rows(topoi("authors", several, "--json")) == rows(topoi("authors", several, "--json", "--name", "no topics"))


ANSWERS = {
    "similar": lambda model: library.similar_authors(model, "Drake, F"),
    "unusual": lambda model: library.unusual_documents(model, author="Drake, F").head(10),
    "likely": lambda model: library.likely_authors(model, "ship harbor"),
    "reviewers": lambda model: library.recommend_reviewers(model, "ship harbor"),
    "documents": lambda model: library.topic_documents(model, 0),
    "words": lambda model: library.word_topics(model, "ship", n=5),
    "trends": lambda model: library.topic_trends(model),
    "label": lambda model: library.label_words(model, "ship harbor", random_state=0),
}


@pytest.mark.parametrize("verb", ANSWERS)
def test_answers_are_those_of_the_model_itself(topoi, several: Path, verb: str) -> None:
    expected = ANSWERS[verb](library.load(several, "four"))
    answered = rows(topoi(verb, several, *QUESTIONS[verb], "--name", "four", "--json"))
    assert list(answered[0]) == list(expected.columns)
    for column in expected:
        told = [row[column] for row in answered]
        known = expected[column].tolist()
        if column == "papers":  # by their titles
            known = [[f"Paper {number}" for number in own] for own in known]
        assert told == (pytest.approx(known) if isinstance(known[0], float) else known)


def test_topics_and_authors_are_those_of_the_model_itself(topoi, several: Path) -> None:
    model = library.load(several, "four")
    topics = rows(topoi("topics", several, "--name", "four", "--json", "--n-words", 3, "--n-authors", 2))
    sizes = model.topic_sizes().sort_values("share", ascending=False, kind="stable")
    assert [row["topic"] for row in topics] == sizes["topic"].tolist()
    assert [row["n_words"] for row in topics] == sizes["n_words"].tolist()
    for row in topics:
        assert row["words"] == model.top_words(3, topic=row["topic"], relevance=0.6)["word"].tolist()
        authors = model.top_authors(2, topic=row["topic"], by="words")
        assert row["authors"] == authors["author"][authors["n_words"] > 0].tolist()
    one = rows(topoi("authors", several, "tull, j", "--name", "four", "--json"))
    expected = model.author_topics("Tull, J")
    assert [row["topic"] for row in one] == expected["topic"].tolist()
    assert [row["probability"] for row in one] == pytest.approx(expected["probability"].tolist())
    assert {row["author"]: row["n_words"] for row in rows(topoi("authors", several, "--name", "four", "--json"))} == {
        name: 360 for name in model.authors_
    }


def test_several_chains_are_averaged(topoi, tmp_path: Path) -> None:
    path = tmp_path / "chains.topoi"
    options = ["-k", "3", "-i", "3", "-j", "1", "-q", "--chains", "2"]  # so few sweeps that the chains differ
    assert main(["fit", str(write_papers(tmp_path / "papers.jsonl")), "-o", str(path), *options]) == 0
    model, text = library.load(path), "ship harbor wheat"
    for verb, question in (("likely", library.likely_authors), ("reviewers", library.recommend_reviewers)):
        expected = question(model, text, n=2)
        column = "log_likelihood" if verb == "likely" else "score"
        assert expected[column].tolist() != pytest.approx(question(library.view(path), text, n=2)[column].tolist())
        answered = rows(topoi(verb, path, text, "-n", 2, "--json"))
        assert [row[column] for row in answered] == pytest.approx(expected[column].tolist())
    shares = [row["share"] for row in rows(topoi("documents", path, text, "--text", "--json"))]
    assert shares == pytest.approx(library.document_topics(model, text, text=True)["share"].tolist())


def test_models(topoi, several: Path) -> None:
    table = rows(topoi("models", several, "--json"))
    assert [(row["name"], row["model"], row["n_topics"], row["n_labels"]) for row in table] == [
        ("three", "AuthorTopicModel", 3, 0),
        ("four", "AuthorTopicModel", 4, 0),
        ("no topics", "AuthorModel", None, 0),
    ]
    text = topoi("models", several, "--csv").out
    assert list(csv.DictReader(io.StringIO(text)))[2]["n_topics"] == ""
    lines = topoi("models", several).out.splitlines()
    assert lines[0].startswith("three      AuthorTopicModel  3 topics, 60 sweeps, saved 2")
    assert lines[2].startswith("no topics  AuthorModel       5 sweeps, saved 2")
    assert lines[3] == "the last is the one that is asked without --name"
    assert max(map(len, lines)) <= 80
    assert topoi("models", several, "--json", "--csv").code == 2


def test_models_of_no_file(topoi, tmp_path: Path) -> None:
    assert topoi("models", tmp_path / "absent.topoi").err == f"topoi: no such file: {tmp_path / 'absent.topoi'}\n"
    assert "is a folder" in topoi("models", tmp_path).err


def test_align_two_models_of_one_file(topoi, several: Path, three: Path) -> None:
    pairs = rows(topoi("align", several, "--name", "three", "--name-b", "four", "--json"))
    first, second = library.load(several, "three"), library.load(several, "four")
    expected = library.align_topics(first, second).pairs
    assert [(row["topic_a"], row["topic_b"]) for row in pairs] == list(
        zip(expected["topic_a"], expected["topic_b"], strict=True)
    )
    assert [row["distance"] for row in pairs] == pytest.approx(expected["distance"].tolist())
    assert pairs == rows(topoi("align", three, several, "--name-b", "four", "--json"))
    assert pairs == rows(topoi("align", several, "--name-a", "three", "--name-b", "four", "--chain-b", 0, "--json"))
    greedy = rows(topoi("align", several, "--name", "three", "--name-b", "four", "--method", "greedy", "--json"))
    expected = library.align_topics(first, second, method="greedy").pairs
    assert [row["shared"] for row in greedy] == pytest.approx(expected["shared"].tolist())
    assert topoi("align", several, "--name", "three", "--name-b", "four", "--method", "best").code == 2
    assert "has 1 chain(s)" in topoi("align", several, "--name", "three", "--name-b", "four", "--chain-b", 1).err
    assert "has 1 chain(s)" in topoi("align", several, "--name", "three").err
    assert "has no topics" in topoi("align", several, "--name", "three", "--name-b", "no topics").err


@pytest.fixture
def labelled(several: Path, tmp_path: Path) -> Path:
    path = tmp_path / "labelled.topoi"
    library.load(several, "three").save(path)
    return path


def topic_of(topoi, file: Path, word: str) -> int:
    return rows(topoi("words", file, word, "--json"))[0]["topic"]


def test_a_named_topic_is_shown_with_its_label(topoi, labelled: Path) -> None:
    assert topoi("name", labelled).out.startswith("No topic has been given a label yet")
    automatic = dict(enumerate(library.view(labelled).topic_labels()))
    topic = topic_of(topoi, labelled, "wheat")
    [row] = rows(topoi("name", labelled, topic, "work", "on", "the land", "--json"))
    assert (row["topic"], row["label"], set(row["words"])) == (topic, "work on the land", set(FIELD))
    assert rows(topoi("name", labelled, "--json")) == [row]
    table = {row["topic"]: row["label"] for row in rows(topoi("topics", labelled, "--json"))}
    assert table == automatic | {topic: "work on the land"} and len(set(automatic.values())) == 3
    assert rows(topoi("models", labelled, "--json"))[0]["n_labels"] == 1
    assert "1 label," in topoi("models", labelled).out
    for verb in ("topics", "authors", "trends", "name"):
        run = topoi(verb, labelled)
        assert "work on the land" in run.out
        assert max(map(len, run.out.splitlines())) <= 80
    for arguments in (["words", "wheat"], ["documents", "p2"], ["label", "wheat and barley"], ["authors", "Tull, J"]):
        assert "work on the land" in topoi(arguments[0], labelled, *arguments[1:]).out
    assert topoi("topics", labelled, "--topic", topic).out.startswith("work on the land\n")
    assert topoi("align", labelled, labelled).out.count("work on the land") == 2


def test_a_label_is_changed_and_taken_away(topoi, labelled: Path) -> None:
    topoi("name", labelled, 1, "first")
    topoi("name", labelled, 1, "second")
    assert library.open_store(labelled).labels() == {1: "second"}
    [row] = rows(topoi("name", labelled, 1, "--remove", "--json"))
    assert (row["topic"], row["label"]) == (1, None)
    assert library.open_store(labelled).labels() == {}
    assert "second" not in topoi("topics", labelled).out
    assert library.view(labelled).topic_labels()[1] in topoi("topics", labelled).out


def test_naming_refuses(topoi, labelled: Path, several: Path) -> None:
    for wrong in ([1], [1, "sea", "--remove"], ["--remove"], [1, " "], ["sea", "sea"], [1, "sea", "--json", "--csv"]):
        assert topoi("name", labelled, *wrong).code == 2, wrong
    assert topoi("name", labelled, 3, "sea").err == "topoi: there is no topic 3; topics are numbered 0 to 2\n"
    assert "has no topics" in topoi("name", several, 0, "sea").err
    assert "at most 1000 characters" in topoi("name", labelled, 0, "x" * 1001).err
    assert library.open_store(labelled).labels() == {}


def test_a_label_of_one_model_is_not_that_of_another(topoi, several: Path) -> None:
    assert topoi("name", several, 0, "only here", "--name", "four").code == 0
    assert "only here" in topoi("topics", several, "--name", "four").out
    assert "only here" not in topoi("topics", several, "--name", "three").out
    assert topoi("name", several, 0, "--remove", "--name", "four").code == 0


def test_a_long_or_wild_label_keeps_to_its_line(topoi, labelled: Path) -> None:
    library.open_store(labelled).set_label(None, 1, "\x1b[2Jred\n" + "very " * 100)
    for verb in ("topics", "trends", "authors", "name"):
        out = topoi(verb, labelled).out
        assert "\x1b" not in out and "[2Jred very" in out
        assert max(map(len, out.splitlines())) <= 80


def test_trends_without_years_say_which_columns_there_are(topoi, tmp_path: Path) -> None:
    path = tmp_path / "bare.topoi"
    library.LDA(2, n_iter=2, random_state=0).fit([[1, 2], [2, 1]]).save(path)
    run = topoi("trends", path)
    assert run.code == 1 and "there are: " in run.err


def test_a_column_called_decade_is_that_column(topoi, tmp_path: Path) -> None:
    source, path = tmp_path / "papers.jsonl", tmp_path / "m.topoi"
    records = [json.loads(line) | {"decade": "roaring"} for line in write_papers(source).read_text().splitlines()]
    source.write_text("\n".join(map(json.dumps, records)))
    assert topoi("fit", source, "-o", path, *FIT).code == 0
    assert {row["decade"] for row in rows(topoi("trends", path, "--by", "decade", "--json"))} == {"roaring"}
    assert {row["year"] for row in rows(topoi("trends", path, "--json"))} >= {1800, 1894}


def test_unusual_documents_that_a_file_does_not_have_ready(topoi, several: Path, tmp_path: Path) -> None:
    path = tmp_path / "old.topoi"
    path.write_bytes(several.read_bytes())
    before = rows(topoi("unusual", path, "Drake, F", "--name", "three", "--json"))
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("DELETE FROM author_document")
    connection.close()
    after = rows(topoi("unusual", path, "Drake, F", "--name", "three", "--json"))
    assert [row["document"] for row in after] == [row["document"] for row in before]
