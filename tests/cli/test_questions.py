"""What ``unusual``, ``similar``, ``likely``, ``reviewers``, ``align``, ``documents`` and ``words`` answer."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pandas as pd
import pytest

from topoi.cli.documents import draw_similar
from topoi.cli.look import console
from topoi.cli.main import main
from topoi.cli.similar import Measure
from topoi.models.smoothed_counts import MEASURES

from .conftest import COURT, FIELD, FIT, SEA, write_papers

QUESTIONS = {
    "unusual": ["Drake, F"],
    "similar": ["Drake, F"],
    "likely": ["ship harbor"],
    "reviewers": ["ship harbor"],
    "documents": ["--topic", "1"],
    "words": ["ship"],
    "groups": ["authors", "--group", "Drake, F"],
}
NEED_TOPICS = ["similar", "reviewers", "documents", "words", "align", "groups"]


@pytest.fixture(scope="module")
def chains_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("chains")
    path = folder / "chains.topoi"
    papers, how = write_papers(folder / "papers.jsonl"), (*FIT, "--chains", "2", "--prior", "paper")
    assert main(["fit", str(papers), "-o", str(path), *how]) == 0
    return path


def answer(topoi, *arguments: object) -> list[dict]:
    run = topoi(*arguments, "--json")
    assert (run.code, run.err) == (0, ""), run.err
    return json.loads(run.out)


def topic_of(topoi, model_file: Path, word: str) -> int:
    return answer(topoi, "words", model_file, word)[0]["topic"]


@pytest.mark.parametrize("verb", [*QUESTIONS, "align"])
def test_people_json_and_csv_get_the_same_rows(topoi, chains_file: Path, verb: str) -> None:
    arguments = [verb, chains_file, *QUESTIONS.get(verb, [])]
    rows = answer(topoi, *arguments)
    table = list(csv.DictReader(io.StringIO(topoi(*arguments, "--csv").out)))
    assert len(rows) == len(table) > 0
    assert list(rows[0]) == list(table[0])
    run = topoi(*arguments)
    assert (run.code, run.err) == (0, "")
    assert max(map(len, run.out.splitlines())) <= 80
    assert "\x1b" not in run.out, "no colour when piped"
    assert topoi(*arguments, "--json", "--csv").code == 2


@pytest.mark.parametrize("verb", NEED_TOPICS)
def test_a_model_without_topics_is_refused(topoi, author_file: Path, verb: str) -> None:
    run = topoi(verb, author_file, *QUESTIONS.get(verb, []))
    assert run.code == 1
    assert "has no topics" in run.err and run.err.count("\n") == 1


@pytest.mark.parametrize("verb", ["unusual", "similar", "likely", "reviewers"])
def test_a_model_without_authors_is_refused(topoi, lda_file: Path, verb: str) -> None:
    run = topoi(verb, lda_file, *QUESTIONS[verb])
    assert run.code == 1
    advice = f"fit one with --model author-topic, into the same file with -o {lda_file} --name NAME"
    assert run.err == f"topoi: the LDA in {lda_file} knows no authors; {advice}\n"


def test_unusual(topoi, model_file: Path, author_file: Path) -> None:
    rows = answer(topoi, "unusual", model_file, "tull, j", "-n", 3)
    assert list(rows[0]) == ["document", "id", "title", "year", "n_words", "perplexity"]
    assert [row["document"] % 4 for row in rows] == [2, 2, 2]
    assert rows[0]["perplexity"] >= rows[1]["perplexity"] >= rows[2]["perplexity"] > 1
    lines = topoi("unusual", model_file, "Tull, J", "-n", 3).out.splitlines()
    assert lines[0].startswith("Tull, J  12 documents, median perplexity ")
    assert lines[1].split()[1:] == [str(rows[0]["year"]), *rows[0]["title"].split(), rows[0]["id"]]
    assert len(answer(topoi, "unusual", author_file, "Tull, J")) == 10
    assert topoi("unusual", model_file, "Tul, J").err.startswith("topoi: there is no author 'Tul, J'; did you mean")


def test_similar(topoi, model_file: Path) -> None:
    rows = answer(topoi, "similar", model_file, "Drake, F", "--measure", "hellinger")
    assert [row["name"] for row in rows][0] == "Cook, J"
    assert rows[0]["topics"] == [topic_of(topoi, model_file, "ship")]
    first = topoi("similar", model_file, "Drake, F").out.splitlines()[0]
    assert first.startswith("Cook, J") and set(first.partition("0.00")[2].replace(",", "").split()[1:]) <= set(SEA)
    assert topoi("similar", model_file, "Drake, F", "--measure", "taxi").code == 2
    assert topoi("similar", model_file, "Drake, F", "--min-words", 9999).out == "Nobody is left.\n"


def test_measures_are_those_of_the_library() -> None:
    assert tuple(measure.value for measure in Measure) == MEASURES


def test_likely(topoi, model_file: Path, author_file: Path, tmp_path: Path, monkeypatch) -> None:
    for file in (model_file, author_file):
        assert answer(topoi, "likely", file, "the", "judge", "and", "jury")[0]["author"] == "Coke, E"
    direct = topoi("likely", model_file, "judge and jury").out
    monkeypatch.setattr("sys.stdin", io.StringIO("judge and jury"))
    assert topoi("likely", model_file, "-").out == direct
    path = tmp_path / "text.txt"
    path.write_text("judge and jury")
    assert topoi("likely", model_file, "--file", path).out == direct
    assert topoi("likely", model_file, "judge", "--file", path).code == 2
    run = topoi("likely", model_file, "quantum")
    assert (run.code, run.err.count("\n")) == (1, 1) and "nor a text with a known word" in run.err


def test_reviewers(topoi, model_file: Path) -> None:
    rows = answer(topoi, "reviewers", model_file, "the ship left the harbor", "--exclude", "drake, f")
    assert rows[0]["author"] == "Cook, J" and "Drake, F" not in {row["author"] for row in rows}
    text = topoi("reviewers", model_file, "ship", "--exclude", "Drake, F;Cook, J").out
    assert text.splitlines()[-1] == "left out: 2 excluded, 0 co-authors"
    assert topoi("reviewers", model_file, "ship", "--exclude", "Drake, F", "--exclude", "Cook, J").out == text
    assert "Cook, J" not in text


def test_reviewers_excludes_known_names_beside_unknown_ones(topoi, model_file: Path) -> None:
    run = topoi("reviewers", model_file, "ship", "--exclude", "Drake, F; Newcomer, N", "--json")
    assert "Drake, F" not in {row["author"] for row in json.loads(run.out)}
    assert run.err.startswith("topoi: note: not known as an author") and "'Newcomer, N'" in run.err


def test_reviewers_takes_no_part_of_a_name_as_excluded(topoi, model_file: Path) -> None:
    run = topoi("reviewers", model_file, "ship", "--exclude", "Drake")
    assert run.code == 2 and "did you mean 'Drake, F'" in " ".join(run.err.split()) and not run.out


def test_reviewers_of_a_table_of_submissions(topoi, model_file: Path, tmp_path: Path) -> None:
    table = tmp_path / "papers.csv"
    table.write_text('id,abstract,authors\nx1,"the ship, the harbor","Drake, F"\nx2,the judge,\n')
    rows = answer(topoi, "reviewers", model_file, "--submissions", table, "-n", "2")
    assert [row["submission"] for row in rows] == ["x1", "x1", "x2", "x2"]
    assert rows[0]["author"] == "Cook, J" and "Drake, F" not in {row["author"] for row in rows[:2]}
    table.write_text("text\nthe ship\n\nquantum\n")
    run = topoi("reviewers", model_file, "--submissions", table)
    assert run.code == 1 and "papers.csv: line 4: the model knows none" in run.err


def test_align(topoi, model_file: Path, chains_file: Path, lda_file: Path) -> None:
    same = answer(topoi, "align", model_file, model_file)
    assert all(row["topic_a"] == row["topic_b"] and row["mutual"] for row in same)
    chains = answer(topoi, "align", chains_file, "-n", 2)
    assert len(chains) == 2 and set(chains[0]["words_a"]) == set(chains[0]["words_b"])
    assert answer(topoi, "align", chains_file, "--chain-a", 1, "--chain-b", 0, "-n", 2)[0]["topic_a"] in (
        row["topic_b"] for row in chains
    )
    run = topoi("align", model_file, lda_file)
    assert run.out.splitlines()[-1] == "3 of 3 pairs are each other's nearest (=)"
    assert "has 1 chain(s)" in topoi("align", model_file).err


def test_documents_have_their_ids_behind_their_titles(capsys: pytest.CaptureFixture[str]) -> None:
    alike = [{"id": f"p{i}", "title": "Annual message", "year": 1900, "score": 0.5} for i in range(2)]
    draw_similar(pd.DataFrame([*alike, {"id": "p2", "title": None, "year": 1901, "score": 0.4}]), console())
    assert [line.split("  ")[-1].strip() for line in capsys.readouterr().out.splitlines()] == ["p0", "p1", "p2"]
    long = alike[0] | {"title": "A title that is much longer than a line of a terminal of eighty characters can show"}
    draw_similar(pd.DataFrame([long]), console())
    (line,) = capsys.readouterr().out.splitlines()
    assert "A title that is" in line and line.endswith("…  p0") and len(line) <= 80


def test_documents(topoi, model_file: Path) -> None:
    topic = topic_of(topoi, model_file, "wheat")
    rows = answer(topoi, "documents", model_file, "--topic", topic, "-n", 12)
    assert {int(row["id"].removeprefix("p")) % 4 for row in rows} == {2}
    own = answer(topoi, "documents", model_file, "p2")
    assert (own[0]["topic"], own[0]["n_words"]) == (topic, 30)
    alike = answer(topoi, "documents", model_file, "p2", "--similar", "-n", 5)
    assert {row["document"] % 4 for row in alike} == {2}
    assert set(topoi("documents", model_file, "p2").out.splitlines()[0].replace(",", "").split()[4:]) <= set(FIELD)
    assert "Paper " in topoi("documents", model_file, "p2", "--similar").out
    for wrong in ([], ["p2", "--topic", 1], ["--topic", 1, "--similar"]):
        assert topoi("documents", model_file, *wrong).code == 2
    assert topoi("documents", model_file, "--topic", 9).err == (
        "topoi: there is no topic 9; topics are numbered 0 to 2\n"
    )
    assert "neither the id nor the title of a document" in topoi("documents", model_file, "p999").err


def test_documents_by_title(topoi, model_file: Path) -> None:
    by_id = topoi("documents", model_file, "p17", "--json")
    for title in ("Paper 17", "paper 17", "per 17"):
        run = topoi("documents", model_file, title, "--json")
        assert (run.out, run.err) == (by_id.out, "")
    run = topoi("documents", model_file, "Paper")
    assert run.code == 1 and "documents have 'Paper' in their title: p0 (Paper 0)" in run.err
    run = topoi("documents", model_file, "wheat and verdict")
    assert run.code == 0
    assert run.err == "topoi: note: no document has the id or title 'wheat and verdict': it is read as a new text\n"
    text = topoi("documents", model_file, "wheat and verdict", "--text")
    assert (text.code, text.err, text.out) == (0, "", run.out)
    assert "'p17' is no text with a known word" in topoi("documents", model_file, "p17", "--text").err
    assert topoi("documents", model_file, "--text", "--topic", 1).code == 2


def test_words(topoi, model_file: Path) -> None:
    rows = answer(topoi, "words", model_file, "verdict", "-n", 2)
    assert list(rows[0]) == ["word", "rank", "topic", "probability", "word_rank", "n_words"]
    assert rows[0]["probability"] > 0.99 and rows[0]["word_rank"] <= 10
    lines = topoi("words", model_file, "verdict", "-n", 1).out.splitlines()
    assert lines[0] == "verdict" and set(lines[1].replace(",", "").split()[4:]) <= set(COURT)
    assert "did you mean 'verdict'" in topoi("words", model_file, "verdct").err


def test_documents_without_title_and_year(topoi, tmp_path: Path) -> None:
    source, path = tmp_path / "bare.jsonl", tmp_path / "bare.topoi"
    records = [{"id": f"d{i}", "text": "ship sail tide", "authors": ["Ann"]} for i in range(3)]
    source.write_text("\n".join(json.dumps(record) for record in records))
    assert topoi("fit", source, "-o", path, "-k", 1, "-i", 2, "--max-df", "1.0", "-q").code == 0
    lines = topoi("unusual", path, "Ann").out.splitlines()
    assert [line.split()[-1] for line in lines[1:]] == ["d0", "d1", "d2"]
    assert topoi("similar", path, "Ann").out == "Nobody is left.\n"


def test_groups_and_the_documents_behind_them(topoi, chains_file: Path) -> None:
    rows = answer(topoi, "groups", chains_file, "authors", "--group", "Drake, F")
    assert [row["difference"] for row in rows] == sorted((row["difference"] for row in rows), reverse=True)
    best = rows[0]["topic"]
    documents = answer(topoi, "groups", chains_file, "authors", "--group", "Drake, F", "--topic", best, "-n", 3)
    assert [row["rank"] for row in documents] == [1, 2, 3] and documents[0]["effect"] > 0
    shown = topoi("groups", chains_file, "authors", "--group", "Drake, F", "-n", 1)
    assert shown.out.startswith("Drake, F (") and "all others" in shown.out and "intervals hold 90%" in shown.out
    run = topoi("groups", chains_file, "authors", "--other", "Drake, F")
    assert run.code == 2 and "--other needs --group" in run.err
    run = topoi("groups", chains_file, "colour")
    assert run.code == 1 and "no column 'colour'" in run.err
