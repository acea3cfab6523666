"""What ``topoi search`` finds, and how ``topoi evaluate --queries`` measures it."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

import topoi as library
from topoi.cli.main import main
from topoi.cli.search import Method
from topoi.retrieval.ranking import METHODS

from .conftest import FIT, write_papers


@pytest.fixture(scope="module")
def chains_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("chains")
    papers = write_papers(folder / "papers.jsonl")
    assert main(["fit", str(papers), "-o", str(folder / "chains.topoi"), *FIT, "--chains", "2"]) == 0
    return folder / "chains.topoi"


def answer(topoi, *arguments: object) -> list[dict]:
    run = topoi("search", *arguments, "--json")
    assert (run.code, run.err) == (0, ""), run.err
    return json.loads(run.out)


def test_methods_are_those_of_the_library() -> None:
    assert tuple(each.value for each in Method) == METHODS


def test_people_json_and_csv_get_the_same_rows(topoi, model_file: Path) -> None:
    rows = answer(topoi, model_file, "ship", "harbor", "-n", 4)
    assert list(rows[0]) == ["document", "rank", "id", "title", "year", "score", "matched", "topics"]
    table = list(csv.DictReader(io.StringIO(topoi("search", model_file, "ship harbor", "-n", 4, "--csv").out)))
    assert [row["id"] for row in table] == [row["id"] for row in rows]
    lines = topoi("search", model_file, "ship harbor", "-n", 4).out.splitlines()
    assert len(lines) == 8 and max(map(len, lines)) <= 80
    assert lines[0].endswith(f"{rows[0]['title']}  {rows[0]['id']}") and lines[1].strip().startswith("has ship, harbor")


def test_the_chains_are_averaged(topoi, chains_file: Path) -> None:
    frame = library.Search(library.load(chains_file)).query("ship wheat")
    rows = answer(topoi, chains_file, "ship wheat")
    assert [row["score"] for row in rows] == pytest.approx(frame["score"].tolist())


def test_documents_with_none_of_the_words_are_found_and_said_to_be(topoi, model_file: Path) -> None:
    lines = topoi("search", model_file, "verdict", "--author", "Drake, F").out.splitlines()
    assert all("has none of these words" in line for line in lines[1::2])
    assert all(row["matched"] for row in answer(topoi, model_file, "verdict", "-n", 48, "--method", "language"))
    assert topoi("search", model_file, "verdict", "--author", "Drake, F", "--method", "bm25").out == "No document.\n"


def test_filters(topoi, model_file: Path) -> None:
    rows = answer(topoi, model_file, "ship", "--author", "Drake, F", "--from", 1801, "--to", 1802, "-n", 50)
    assert rows and {row["year"] for row in rows} == {1801, 1802}
    assert [row["id"] for row in answer(topoi, model_file, "ship", "--where", "id=p8")] == ["p8"]
    assert answer(topoi, model_file, "--like", "Tull, J", "-n", 1)[0]["matched"] == ["Tull, J"]


def test_unknown_words_are_named(topoi, model_file: Path) -> None:
    run = topoi("search", model_file, "ship", "zeppelin", "--json")
    assert run.code == 0 and "not in any document: zeppelin" in run.err
    assert json.loads(run.out)


def test_a_model_without_topics_is_searched_by_words(topoi, author_file: Path) -> None:
    rows = answer(topoi, author_file, "ship")
    assert rows and all(row["matched"] == ["ship"] and row["topics"] == [] for row in rows)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ([], 2, "nothing to look for"),
        (["zeppelin"], 1, "no document has any of these words: zeppelin"),
        (["ship", "--where", "venue"], 2, "COLUMN=VALUE"),
        (["ship", "--where", "venue=A"], 1, "no column 'venue'"),
        (["ship", "--author", "Nobody"], 1, "Nobody"),
        (["ship", "--weight", "2"], 2, "--weight"),
        (["ship", "--json", "--csv"], 2, "--json and --csv"),
    ],
)
def test_mistakes(topoi, model_file: Path, arguments: list[str], code: int, message: str) -> None:
    run = topoi("search", model_file, *arguments)
    assert run.code == code and message in run.err and "Traceback" not in run.err


@pytest.fixture
def judged(tmp_path: Path) -> list[object]:
    queries, qrels = tmp_path / "queries.jsonl", tmp_path / "qrels.tsv"
    queries.write_text('{"id": 1, "text": "ship harbor"}\n{"id": "2", "text": "wheat", "authors": ["Tull, J"]}\n')
    qrels.write_text("1\tp0\t1\n1\tp1\t0\n2\tp2\t2\n")
    return ["--queries", queries, "--qrels", qrels]


def test_search_is_measured(topoi, model_file: Path, judged: list[object]) -> None:
    pytest.importorskip("ir_measures")
    run = topoi("evaluate", model_file, *judged, "--json")
    assert (run.code, run.err) == (0, "")
    rows = json.loads(run.out)
    assert [row["method"] for row in rows] == list(METHODS)
    assert list(rows[0]) == ["method", "AP", "P@10", "nDCG@10", "nDCG", "difference", "p", "n_queries"]
    search = library.Search(library.view(model_file))
    rank = search.ranked("ship harbor")["id"].tolist().index("p0") + 1
    second = search.ranked("wheat", ["Tull, J"])["id"].tolist().index("p2") + 1
    assert rows[0]["AP"] == pytest.approx((1 / rank + 1 / second) / 2)
    assert "2 judged queries" in topoi("evaluate", model_file, *judged, "--measures", "RR").out


def test_mistakes_in_files_of_queries(topoi, model_file: Path, judged: list[object], tmp_path: Path) -> None:
    assert topoi("evaluate", model_file, *judged[:2]).code == 2
    assert topoi("evaluate", model_file).code == 2
    assert topoi("evaluate", model_file, tmp_path, *judged).code == 2
    assert topoi("evaluate", model_file, tmp_path, "--measures", "AP").code == 2
    for text in ("", "no tab\n", '{"id": 1}\n', '{"id": 1, "text": 3}\n', "1\ta\n1\tb\n", '{"id":\n', "[" * 10**5):
        Path(str(judged[1])).write_text(text)
        run = topoi("evaluate", model_file, *judged)
        assert run.code == 1 and "queries.jsonl" in run.err and "Traceback" not in run.err
    Path(str(judged[1])).write_text("1\tship\n")
    for text in ("1 p0\n", "1 p0 x\n", "1 0 p0 1 1\n", "1 p0 0\n", f"1 p0 {10**30}\n"):
        Path(str(judged[3])).write_text(text)
        run = topoi("evaluate", model_file, *judged)
        assert run.code == 1 and "qrels.tsv" in run.err
    assert topoi("evaluate", model_file, "--queries", tmp_path / "x", "--qrels", judged[3]).code == 1
