"""What ``topoi evaluate`` says of new documents."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

import topoi as library
from topoi.cli.evaluate import Estimator
from topoi.evaluation.heldout import ESTIMATORS

from .conftest import FIT, write_papers


@pytest.fixture(scope="module")
def held_out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = write_papers(tmp_path_factory.mktemp("held-out") / "new.jsonl", n_docs=12)
    with path.open("a", encoding="utf-8") as lines:
        record = {
            "id": "odd",
            "title": "An odd one",
            "text": "ship judge wheat zeppelin zeppelin",
            "authors": ["Nobody, X"],
        }
        lines.write(json.dumps(record) + "\n")
    return path


def answer(topoi, *arguments: object) -> list[dict]:
    run = topoi("evaluate", *arguments, "--json")
    assert run.code == 0, run.err
    return json.loads(run.out)


def test_estimators_are_those_of_the_library() -> None:
    assert tuple(each.value for each in Estimator) == ESTIMATORS


def test_numbers_are_the_librarys(topoi, lda_file: Path, held_out: Path) -> None:
    model = library.load(lda_file)
    corpus = library.read_corpus(held_out, like=model.corpus_, new_authors="drop")
    for estimator in ESTIMATORS:
        (row,) = answer(topoi, lda_file, held_out, "--estimator", estimator)
        frame = library.evaluation.heldout(model, corpus, estimator)
        assert row["log_likelihood"] == pytest.approx(frame["log_likelihood"].sum(), rel=1e-12)
        assert (row["model"], row["estimator"], row["n_docs"], row["n_unknown"]) == ("LDA", estimator, 13, 2)
        assert row["n_words"] == corpus.n_tokens
    (row,) = answer(topoi, lda_file, held_out)
    assert row["perplexity_tokens"] == pytest.approx(model.perplexity(corpus))
    rows = answer(topoi, lda_file, held_out, "--documents")
    assert list(rows[0]) == [
        "document",
        "id",
        "title",
        "year",
        "n_words",
        "log_likelihood",
        "standard_error",
        "perplexity",
    ]
    assert len(rows) == 13 and sum(r["log_likelihood"] for r in rows) == pytest.approx(row["log_likelihood"])
    table = list(csv.DictReader(io.StringIO(topoi("evaluate", lda_file, held_out, "--documents", "--csv").out)))
    assert len(table) == 13 and list(table[0]) == list(rows[0])


def test_effort_and_seed_are_passed_on(topoi, lda_file: Path, held_out: Path, monkeypatch) -> None:
    seen = []
    scored = library.evaluation.heldout
    monkeypatch.setattr(
        library.evaluation, "heldout", lambda m, *a, **k: [seen.append((m.n_jobs, *a[1:], k)), scored(m, *a, **k)][1]
    )
    answer(topoi, lda_file, held_out, "--particles", 2, "--seed", 3, "--jobs", 1)
    answer(topoi, lda_file, held_out, "--estimator", "empirical", "--samples", 7, "--jobs", 2)
    assert seen == [(1, "filter", {"n_particles": 2, "random_state": 3}), (2, "empirical", {"n_samples": 7})]


def test_people_see_the_summary_and_the_extremes(topoi, model_file: Path, held_out: Path) -> None:
    run = topoi("evaluate", model_file, held_out, "-n", 2)
    assert run.code == 0
    assert "1 document has no author that the model knows" in run.err
    lines = run.out.splitlines()
    assert lines[0].startswith("AuthorTopicModel  13 documents, 363 words, 2 unknown words left out")
    assert [line.split()[0] for line in lines[1:5]] == ["perplexity", lines[2].split()[0], "bits", "log"]
    assert "An odd one  " in lines[-1] and "predicted best" in lines and "worst" in lines
    assert max(map(len, lines)) <= 80 and "\x1b" not in run.out
    assert "predicted" not in topoi("evaluate", model_file, held_out, "-n", 0).out
    assert "all documents" in topoi("evaluate", model_file, held_out, "-n", 50).out


def test_all_models_of_a_file_side_by_side(topoi, tmp_path: Path, papers: Path, held_out: Path) -> None:
    path = tmp_path / "two.topoi"
    assert topoi("fit", papers, "-o", path, *FIT, "--name", "authors").code == 0
    assert topoi("fit", papers, "-o", path, "--model", "lda", *FIT, "--name", "plain").code == 0
    rows = answer(topoi, path, held_out, "--all")
    assert [row["name"] for row in rows] == ["authors", "plain"] and {row["n_words"] for row in rows} == {363}
    assert [{**rows[1]}[k] for k in ("model", "bits_per_word")] == [
        answer(topoi, path, held_out, "--name", "plain")[0][k] for k in ("model", "bits_per_word")
    ]
    run = topoi("evaluate", path, held_out, "--all")
    best = min(rows, key=lambda row: row["bits_per_word"])["name"]
    assert run.out.splitlines()[1].startswith(best)


def test_a_model_without_topics_is_scored_too(topoi, author_file: Path, held_out: Path) -> None:
    for estimator in ESTIMATORS:
        assert answer(topoi, author_file, held_out, "--estimator", estimator)[0]["model"] == "AuthorModel"


def test_wrong_usage(topoi, lda_file: Path, held_out: Path, tmp_path: Path) -> None:
    assert topoi("evaluate", lda_file, held_out, "--estimator", "empirical", "--particles", 3).code == 2
    assert topoi("evaluate", lda_file, held_out, "--samples", 3).code == 2
    assert topoi("evaluate", lda_file, held_out, "--all", "--documents").code == 2
    assert topoi("evaluate", lda_file, held_out, "--json", "--csv").code == 2
    missing = topoi("evaluate", lda_file, tmp_path / "nothing.jsonl")
    assert missing.code == 1 and missing.err == f"topoi: no such file: {tmp_path / 'nothing.jsonl'}\n"
    strange = tmp_path / "strange.jsonl"
    strange.write_text(json.dumps({"text": "zeppelin"}) + "\n", encoding="utf-8")
    run = topoi("evaluate", lda_file, strange)
    assert run.code == 1 and "none of the words" in run.err and run.err.count("\n") == 1
