"""``topoi structure`` shows and prunes a graph of topics; ``topoi fit --dag`` reads one."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pandas as pd
import pytest

import topoi as library
from topoi.cli.main import main
from topoi.cli.topics import background_topics, with_last
from topoi.errors import ModelError
from topoi.models.graph import read_graph

FIT = ["--model", "pachinko", "-i", "85", "-j", "1", "-q"]
GRAPH = {"root": {"land": ["farm", "court"], "water": ["sea", "court", "<words>"]}}


@pytest.fixture(scope="session")
def pachinko_file(papers: Path) -> Path:
    path = papers.with_name("pachinko.topoi")
    assert main(["fit", str(papers), *FIT, "--super", "2", "--sub", "4", "-o", str(path)]) == 0
    return path


@pytest.fixture(scope="session")
def graph_file(papers: Path) -> Path:
    path, graph = papers.with_name("graph.topoi"), papers.with_name("graph.json")
    graph.write_text(json.dumps(GRAPH), encoding="utf-8")
    assert main(["fit", str(papers), *FIT, "--dag", str(graph), "-o", str(path)]) == 0
    return path


def test_super_topics(topoi, pachinko_file: Path) -> None:
    view = library.view(pachinko_file)
    rows = json.loads(topoi("structure", pachinko_file, "--json", "-n", 3, "--n-words", 2).out)
    # Topics of connecting words come last, and super-topics by size.
    sizes = {row["super_topic"]: row["super_share"] for row in rows}
    assert list(sizes.values()) == sorted(sizes.values(), reverse=True)
    expected = with_last(view.super_topics(view.n_topics, 2), background_topics(view))
    expected = pd.concat([expected[expected["super_topic"] == name].head(3) for name in sizes])
    assert [row["child"] for row in rows] == expected["child"].tolist()
    telling = view.top_words(2, relevance=0.6).groupby("topic")["word"].agg(" ".join)
    assert [row["words"] for row in rows] == telling[expected["topic"]].tolist()
    assert [row["alpha"] for row in rows] == pytest.approx(expected["alpha"].tolist())
    shares = {row["super_topic"]: row["super_share"] for row in rows}
    assert sum(shares.values()) == pytest.approx(1)
    strong = json.loads(topoi("structure", pachinko_file, "--json", "--min-share", 0.3).out)
    assert strong and all(row["share"] >= 0.3 for row in strong) and len(strong) < 8
    table = topoi("structure", pachinko_file, "--csv").out.splitlines()
    head = "super_topic,super_share,super_lower,super_upper,rank,child,topic,alpha,share,n_words,label,words"
    assert table[0] == head and len(table) == 9
    sizes = view.node_sizes().set_index("node")
    for row in rows:
        ends = sizes.loc[row["super_topic"], ["lower", "upper"]].tolist()
        assert [row["super_lower"], row["super_upper"]] == pytest.approx(ends, rel=1e-12)
        assert row["super_lower"] <= row["super_share"] <= row["super_upper"]
    assert "probability of 90%" in topoi("structure", pachinko_file).out


def test_children_that_are_super_topics_themselves(topoi, papers: Path, tmp_path: Path) -> None:
    """Five levels: a child of the upper super-topics is no topic, and has a label of its own."""
    corpus = library.read_corpus(papers)
    path = tmp_path / "five.topoi"
    library.PachinkoAllocation(dag=library.Dag.from_levels(2, 2, 3), n_iter=4, random_state=0).fit(corpus).save(path)
    rows = json.loads(topoi("structure", path, "--json").out)
    inner = [row for row in rows if row["topic"] is None]
    assert inner and all(row["words"] for row in inner) and len(inner) < len(rows)
    assert topoi("structure", path).out


def test_for_people(topoi, pachinko_file: Path, graph_file: Path) -> None:
    for file in (pachinko_file, graph_file):
        names = library.view(file).dag_.nodes
        run = topoi("structure", file)
        assert (run.code, run.err) == (0, "")
        assert max(map(len, run.out.splitlines())) <= 80
        assert not any(line.endswith(" ") for line in run.out.splitlines()) and "\x1b" not in run.out
        assert names[1] in run.out and names[2] in run.out
        for name in names:
            run = topoi("structure", file, "--node", name)
            assert run.code == 0 and run.out.startswith(name) and max(map(len, run.out.splitlines())) <= 80
            assert ("documents" in run.out) == (name != "root")


def test_a_label_that_a_person_gave_is_shown(topoi, pachinko_file: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.topoi"
    copy.write_bytes(pachinko_file.read_bytes())
    assert topoi("name", copy, 1, "Seafaring \x1b[2J").code == 0
    out = topoi("structure", copy).out
    assert "Seafaring" in out and "\x1b" not in out


def test_one_node(topoi, graph_file: Path) -> None:
    view = library.view(graph_file)
    rows = json.loads(topoi("structure", graph_file, "--node", "WATER", "-n", 2, "--json").out)
    kinds = {kind: [row for row in rows if row["kind"] == kind] for kind in ("child", "parent", "document", "year")}
    edges = view.edges().query("parent == 'water'").sort_values("alpha", ascending=False, kind="stable")
    assert [row["name"] for row in kinds["child"]] == edges["child"].tolist()[:2]
    assert [row["topic"] for row in kinds["child"]] == edges["topic"].tolist()[:2]
    assert [row["name"] for row in kinds["parent"]] == ["root"]
    expected = library.node_documents(view, "water", 2)
    assert [row["id"] for row in kinds["document"]] == expected["id"].tolist()
    for name in ("share", "lower", "upper"):
        assert [row[name] for row in kinds["document"]] == pytest.approx(expected[name].tolist())
    trend = library.node_trends(view).query("node == 'water'")
    assert [row["n_words"] for row in kinds["year"]] == trend["n_words"].tolist()
    assert [row["upper"] for row in kinds["year"]] == pytest.approx(trend["upper"].tolist())
    everything = json.loads(topoi("structure", graph_file, "--node", "water", "-n", 9, "--json").out)
    own = next(row for row in everything if row["name"] == "<words>")
    assert own["topic"] == view.dag_.topics.index("water")
    leaf = json.loads(topoi("structure", graph_file, "--node", "court", "--json").out)
    assert [row["name"] for row in leaf if row["kind"] == "parent"][0] in ("land", "water")
    assert (
        sum(row["n_words"] for row in leaf if row["kind"] == "year")
        == view.topic_sizes()["n_words"][view.dag_.topics.index("court")]
    )
    run = topoi("structure", graph_file, "--node", "wader")
    assert run.code == 1 and run.err.startswith("topoi: there is no node 'wader'; did you mean 'water'")


def test_edges(topoi, graph_file: Path) -> None:
    rows = json.loads(topoi("structure", graph_file, "--edges", "--json").out)
    assert len(rows) == 7 and rows[0]["parent"] == "root"
    some = json.loads(topoi("structure", graph_file, "--edges", "--min-share", 0.4, "--json").out)
    assert some == [row for row in rows if row["share"] >= 0.4]
    assert "<words>" in topoi("structure", graph_file, "--edges").out


def test_models_without_a_graph_are_one_line(topoi, lda_file: Path, author_file: Path, papers: Path, tmp_path) -> None:
    for file in (lda_file, author_file):
        run = topoi("structure", file)
        assert run.code == 1 and run.out == "" and "has no graph of topics" in run.err and run.err.count("\n") == 1
    flat = tmp_path / "flat.json"
    flat.write_text('{"root": ["a", "b"]}')
    assert topoi("fit", papers, *FIT, "--dag", flat, "-o", tmp_path / "flat.topoi").code == 0
    run = topoi("structure", tmp_path / "flat.topoi")
    assert run.code == 1 and "no super-topics" in run.err and run.err.count("\n") == 1


def test_prune_and_fit_again(topoi, pachinko_file: Path, papers: Path, tmp_path: Path) -> None:
    pruned = tmp_path / "pruned.json"
    run = topoi("structure", pachinko_file, "--prune", 0.3, "-o", pruned)
    assert run.code == 0 and "--dag" in run.err and run.out == ""
    assert os.listdir(tmp_path) == ["pruned.json"]
    dag = library.view(pachinko_file).pruned_dag(0.3)
    assert read_graph(pruned) == dag
    before = pruned.read_bytes()
    run = topoi("structure", pachinko_file, "--prune", 0.0, "-o", pruned)
    assert run.code == 1 and "--force" in run.err and pruned.read_bytes() == before
    assert topoi("structure", pachinko_file, "--prune", 0.0, "-o", pruned, "--force").code == 0
    assert pruned.read_bytes() != before
    pruned.write_bytes(before)
    assert topoi("fit", papers, *FIT, "--dag", pruned, "-o", tmp_path / "sparse.topoi").code == 0
    assert library.view(tmp_path / "sparse.topoi").dag_ == dag
    run = topoi("structure", pachinko_file, "--prune", 0.1, "-o", tmp_path / "nowhere" / "x.json")
    assert run.code == 1 and "no folder" in run.err


@pytest.mark.parametrize(
    "options",
    [
        ["--prune", "0.1"],
        ["-o", "x.json"],
        ["--force"],
        ["--edges", "--node", "a"],
        ["--prune", "0.1", "-o", "x.json", "--edges"],
        ["--min-share", "2"],
        ["--json", "--csv"],
    ],
)
def test_wrong_usage(topoi, pachinko_file: Path, options: list[str]) -> None:
    assert topoi("structure", pachinko_file, *options).code == 2


def test_dag_and_widths_do_not_go_together(topoi, papers: Path, tmp_path: Path) -> None:
    graph = tmp_path / "g.json"
    graph.write_text(json.dumps(GRAPH))
    for options in (["--super", "2"], ["--sub", "3"]):
        run = topoi("fit", papers, *FIT, "--dag", graph, *options, "-o", tmp_path / "x.topoi")
        assert run.code == 2 and "--dag" in run.err
    run = topoi("fit", papers, "--model", "lda", "--dag", graph, "-o", tmp_path / "x.topoi")
    assert run.code == 2 and "does not apply" in run.err


def test_both_forms_of_a_graph(tmp_path: Path) -> None:
    path = tmp_path / "g.json"
    expected = library.Dag.from_dict(GRAPH)
    path.write_text(json.dumps(GRAPH), encoding="utf-8-sig")
    assert read_graph(path) == expected
    path.write_text(json.dumps(expected.to_plain()))
    assert read_graph(path) == expected


WRONG = {
    "bad JSON": ('{"root": ["a",\n "b"],\n oops}', "line 3"),
    "nothing": ("", "line 1"),
    "a number": ("7", "holds a int"),
    "null": ("null", "holds nothing"),
    "no edges": ("[]", "no edges"),
    "a cycle": ('[["r", "a"], ["a", "b"], ["b", "a"]]', "cycle: 'a' → 'b' → 'a'"),
    "two roots": ('[["r", "a"], ["s", "a"]]', "2 nodes without parents, 'r', 's'"),
    "an edge twice": ('[["r", "a"], ["r", "a"]]', "listed twice"),
    "three in an edge": ('[["r", "a", "b"]]', "must be a pair"),
    "a number as a name": ('{"root": [1, 2]}', "children are names"),
    "an object in a list": ('{"root": [{"a": "b"}]}', "children are names"),
    "a key twice": ('{"root": {"a": ["x"], "a": ["y"]}}', "'a' stands twice"),
    "words above": ('[["<words>", "a"]]', "words have no children"),
    "too deep": ('{"a":' * 5000 + "1" + "}" * 5000, "nested too deeply"),
    "not UTF-8": (b'{"root": ["\xff"]}', "not a text in UTF-8"),
    "too large": (b" " * (16 * 2**20 + 1), "larger than 16 MB"),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_graph_that_is_wrong_is_named_with_its_file(topoi, papers: Path, tmp_path: Path, what: str) -> None:
    path = tmp_path / "wrong.json"
    content, expected = WRONG[what]
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ModelError) as error:
        read_graph(path)
    assert "wrong.json" in str(error.value) and expected in str(error.value)
    run = topoi("fit", papers, *FIT, "--dag", path, "-o", tmp_path / "x.topoi")
    assert run.code == 1 and "wrong.json" in run.err and run.err.count("\n") == 1
    assert not (tmp_path / "x.topoi").exists()


def test_a_graph_that_is_not_a_file(topoi, papers: Path, tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "missing.json"):
        run = topoi("fit", papers, *FIT, "--dag", path, "-o", tmp_path / "x.topoi")
        assert run.code == 1 and str(path) in run.err and run.err.count("\n") == 1


def test_a_damaged_graph_is_one_line(topoi, pachinko_file: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.topoi"
    copy.write_bytes(pachinko_file.read_bytes())
    with closing(sqlite3.connect(copy)) as connection, connection:
        connection.execute("UPDATE dag_edge SET child = 99 WHERE parent = 1 AND position = 0")
    for options in ([], ["--node", "super 0"], ["--edges"]):
        run = topoi("structure", copy, *options)
        assert run.code == 1 and "copy.topoi" in run.err and run.err.count("\n") == 1


@pytest.mark.slow
def test_questions_do_without_loading_the_model(pachinko_file: Path) -> None:
    """One process asks all of them, and says after each what is imported."""
    script = (
        "import json, sys; from topoi.cli.main import main\n"
        "for verb in json.loads(sys.argv[1]):\n"
        "    assert main(verb) == 0\n"
        "    print(verb, *sys.modules, file=sys.stderr)"
    )
    asked = [["structure"], ["structure", "--node", "super 0"], ["topics"], ["trends"]]
    verbs = json.dumps([[verb[0], str(pachinko_file), *verb[1:]] for verb in asked])
    done = subprocess.run([sys.executable, "-c", script, verbs], capture_output=True, text=True, check=True)
    lines = done.stderr.splitlines()
    assert len(lines) == len(asked)
    for line in lines:
        assert {"sklearn", "topoi.store.files", "topoi.models.gibbs"}.isdisjoint(line.split()), line.split("]")[0]
