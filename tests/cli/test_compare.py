"""``topoi compare``: fitted models, models fitted here, and ``topoi fit --topics auto``."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import topoi as library

from .conftest import FIT, write_papers

QUICK = ["--topics", 3, "--iterations", 40, "--jobs", 1]


@pytest.fixture(scope="module")
def held_out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_papers(tmp_path_factory.mktemp("new") / "new.jsonl", n_docs=12)


def answer(topoi, *arguments: object) -> list[dict]:
    run = topoi("compare", *arguments, "--json")
    assert run.code == 0, run.err
    return json.loads(run.out)


def test_fitted_models_of_several_files(topoi, lda_file: Path, model_file: Path, held_out: Path) -> None:
    rows = answer(topoi, lda_file, model_file, "--test", held_out, "--jobs", 1)
    assert {row["name"] for row in rows} == {"lda: LDA", "papers: AuthorTopicModel"}
    model = library.load(lda_file)
    test = library.read_corpus(held_out, like=model.corpus_, new_authors="drop")
    (row,) = (row for row in rows if row["model"] == "LDA")
    assert row["perplexity"] == pytest.approx(model.perplexity(test)) and row["peak_mb"] is None
    assert rows[0]["verdict"] == "best" and rows[0]["difference"] == 0.0 >= rows[1]["difference"]
    assert row["npmi"] == pytest.approx(library.evaluation.coherence(model, model.corpus_).attrs["mean"])


def test_models_fitted_here_are_scored_on_what_is_held_out(topoi, papers: Path, tmp_path: Path) -> None:
    path = tmp_path / "both.topoi"
    rows = answer(topoi, papers, "--models", "LDA,aspect", *QUICK, "--test-size", 8, "-o", path, "-q")
    assert {row["name"]: row["n_topics"] for row in rows} == {"lda": 3, "aspect": 3}
    corpus = library.read_corpus(papers)
    train, test = corpus.split(8, random_state=0)
    model = library.LDA(3, n_iter=40, random_state=0).fit(train)
    (row,) = (row for row in rows if row["name"] == "lda")
    assert row["n_docs"] == 8 and row["perplexity"] == pytest.approx(model.perplexity(test))
    assert set(library.open_store(path).models()["name"]) == {"lda", "aspect"}
    assert library.load(path, "lda").corpus_.n_docs == 40


def test_people_see_the_best_first_and_what_the_numbers_are(topoi, papers: Path, held_out: Path) -> None:
    run = topoi("compare", papers, "-m", "lda,author-topic", *QUICK, "--test", held_out)
    assert run.code == 0
    lines = run.out.splitlines()
    assert lines[1].startswith("author-topic") and "best" in lines[1] and "±" in lines[2]
    assert "48 documents" in run.err and "12 documents, 360 words" in run.out
    assert max(map(len, lines)) <= 80
    table = list(csv.DictReader(io.StringIO(topoi("compare", papers, "-m", "lda", *QUICK, "-q", "--csv").out)))
    assert len(table) == 1 and table[0]["second_estimator"] == "importance"


def test_wrong_usage(topoi, papers: Path, lda_file: Path, held_out: Path, tmp_path: Path) -> None:
    for code, arguments, message in [
        (2, [lda_file], "--test FILE"),
        (1, [papers], "--models A,B"),
        (1, [lda_file, "--models", "lda"], "leave out --models"),
        (2, [papers, papers, "--models", "lda"], "one source"),
        (2, [papers, "--models", "lda,lda"], "different models"),
        (2, [papers, "--models", "nonsense"], "is none of"),
        (2, [papers, "--models", "author", "--topics", 3], "does not apply to author"),
        (2, [papers, "--models", "dmr"], "--features"),
        (2, [papers, "--models", "lda", "--test", held_out, "--test-size", 3], "leave one out"),
        (2, [lda_file, "--test", held_out, "--topics", 3], "fitted here"),
        (2, [lda_file, "--test", held_out, "--json", "--csv"], "choose one"),
        (1, [lda_file, "--test", tmp_path / "absent"], "no such file"),
        (1, [papers, "--models", "lda", "-o", lda_file], "exists"),
    ]:
        run = topoi("compare", *arguments)
        assert run.code == code and message in " ".join(run.err.split()), (arguments, run.err)
    nameless = tmp_path / "nameless.jsonl"
    nameless.write_text("".join(json.dumps({"text": "ship sail ship sail"}) + "\n" for _ in range(20)))
    run = topoi("compare", nameless, "--models", "author-topic", "--max-df", "1.0")
    assert run.code == 1 and "needs authors" in run.err


def test_a_number_of_topics_is_searched_for(topoi, papers: Path, tmp_path: Path) -> None:
    path = tmp_path / "auto.topoi"
    run = topoi("fit", papers, "-m", "lda", "--topics", "auto", "-i", 30, "--alpha", "0.1", "--jobs", 1, "-o", path)
    assert run.code == 0, run.err
    model = library.load(path)
    assert "trying 2, 5, 10 topics" in run.err and f"\n{model.n_topics} topics: the " in run.err
    found = library.evaluation.search_topics(
        library.read_corpus(papers), [2, 5, 10], library.LDA(1, alpha=0.1, n_iter=30, random_state=0), 1
    )
    assert model.n_topics == found.n_topics and model.corpus_.n_docs == 48 and model.n_iter == 30
    assert topoi("fit", papers, "--topics", "automatic").code == 2
    assert topoi("fit", papers, "--model", "aspect", "--topics", "auto").code == 2


def test_plain_numbers_of_topics_are_as_before(topoi, papers: Path, tmp_path: Path) -> None:
    path = tmp_path / "three.topoi"
    assert topoi("fit", papers, "-o", path, *FIT).code == 0 and library.load(path).n_topics == 3
    assert topoi("fit", papers, "-o", path, "--topics", "-1").code == 2


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("verb", ["fit", "compare"])
def test_a_signal_ends_it_with_one_line(verb: str, number: signal.Signals, tmp_path: Path) -> None:
    source, path = write_papers(tmp_path / "many.jsonl", 3000), tmp_path / "x.topoi"
    more = ["--topics", "auto", "-m", "lda"] if verb == "fit" else ["--models", "lda", "--topics", "100"]
    command = [sys.executable, "-m", "topoi.cli.main", verb, str(source), *more, "-i", "100000", "-o", str(path)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    run = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    assert run.stderr is not None
    begun = iter(run.stderr.readline, "")
    assert any("authors" in line for line in begun)  # the report: fits come next
    time.sleep(0.7)  # on a fast machine the search for a number of topics is over in less than three
    run.send_signal(number)
    _, said = run.communicate(timeout=60)
    assert run.returncode == 128 + number and said.splitlines()[-1] == "topoi: interrupted; nothing was saved"
    assert "Traceback" not in said and not path.exists()
