"""The graph of a pachinko model: how it is made, what is refused, and that it comes back from every form."""

import copy
import pickle
import sys

import pytest

import topoi
from topoi import WORDS, Dag
from topoi.errors import ModelError
from topoi.models.dag import as_dag

ODD = [("root", "a"), ("root", "b"), ("a", "x"), ("b", "x"), ("a", "y"), ("root", "y"), ("b", WORDS)]


def test_nodes_come_after_their_parents_and_topics_follow_them():
    dag = Dag.from_edges([("b", "x"), ("a", "y"), ("root", "b"), ("root", "a"), ("x", "y")])
    assert dag.root == "root" and dag.nodes == ("root", "b", "a", "x", "y")
    assert dag.topics == ("y",)
    assert [dag.level(name) for name in dag.nodes] == [0, 1, 1, 2, 3]
    assert dag.children("x") == ("y",) and dag.parents("y") == ("a", "x")


def test_inner_nodes_emit_only_if_they_say_so():
    assert Dag.from_edges(ODD).topics == ("b", "x", "y")
    assert Dag.from_edges([*ODD, ("x", WORDS)]).topics == ("b", "x", "y")  # a leaf may say what it is
    assert Dag.from_edges([("root", WORDS)]).topics == ("root",)


def test_levels():
    dag = Dag.from_levels(2, 3)
    assert dag == Dag.from_levels([2, 3])
    assert dag.shape == (1, 2, 3) and dag.topics == ("sub 0", "sub 1", "sub 2")
    assert Dag.from_levels(2, 2, 2).topics == ("level 3 topic 0", "level 3 topic 1")


def test_readable_repr():
    assert repr(Dag.from_levels(50, 100)) == "Dag(root → 50 → 100 → words; 5,050 edges, 100 topics)"
    assert repr(Dag.from_edges(ODD)) == "Dag(root → 2 → 2 → words; 6 edges, 3 topics, also words from 'b')"
    assert repr(Dag.from_edges([("r", "a")])) == "Dag(r → 1 → words; 1 edge, 1 topic)"


def test_the_order_of_nodes_survives_every_form():
    dag = Dag.from_edges([("b", "x"), ("a", "y"), ("root", "b"), ("root", "a"), ("b", WORDS)])
    for again in (
        Dag.from_edges(dag.edges),
        as_dag([list(edge) for edge in dag.edges]),
        pickle.loads(pickle.dumps(dag)),
    ):
        assert again == dag and again.nodes == dag.nodes and hash(again) == hash(dag)
    assert copy.deepcopy(dag) is dag


@pytest.mark.parametrize(
    "graph",
    [
        {"root": {"a": {"x": None, "y": {}}, "b": ["x"]}},
        {"root": {"a": ["x", "y"], "b": "x"}},
        {"root": ["a", "b"], "a": ["x", "y"], "b": ["x"]},
    ],
    ids=["nested", "lists", "side by side"],
)
def test_dicts(graph):
    dag = as_dag(graph)
    assert set(dag.edges) == {("root", "a"), ("root", "b"), ("a", "x"), ("a", "y"), ("b", "x")}
    assert dag.topics == ("x", "y")


BAD = {
    "cycle": ([("r", "a"), ("a", "b"), ("b", "a")], "a cycle: 'a' → 'b' → 'a'|a cycle: 'b' → 'a' → 'b'"),
    "whole cycle": ([("a", "b"), ("b", "c"), ("c", "a")], "has a cycle: "),
    "loop": ([("r", "a"), ("a", "a")], "a cycle: 'a' → 'a'"),
    "two roots": ([("r", "a"), ("s", "a")], "2 nodes without parents, 'r', 's'"),
    "unreached": ([("r", "a"), ("x", "y")], "2 nodes without parents, 'r', 'x': all but the root must be reached"),
    "twice": ([("r", "a"), ("r", "a")], r"\('r', 'a'\) is listed twice"),
    "from words": ([("r", "a"), (WORDS, "a")], "begins at topoi.WORDS; words have no children"),
    "not a pair": ([("r", "a", "b")], r"an edge is \('r', 'a', 'b'\); it must be a pair"),
    "a string": (["ra"], "an edge is 'ra'; it must be a pair"),
    "not a name": ([("r", 3)], "has the node 3; nodes are named by strings"),
    "empty": ([], "the graph has no edges"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_graphs_are_refused_by_the_names_of_their_nodes(name):
    edges, message = BAD[name]
    with pytest.raises(ModelError, match=message):
        Dag.from_edges(edges)


def test_other_mistakes_say_what_to_do():
    with pytest.raises(ModelError, match="no node 'z'; it has 'root', 'a', 'b', 'x', 'y'"):
        Dag.from_edges(ODD).children("z")
    with pytest.raises(ModelError, match="the width of level 2 is 0; it must be a whole number of at least 1"):
        Dag.from_levels(3, 0)
    with pytest.raises(ModelError, match="at least one level"):
        Dag.from_levels()
    with pytest.raises(ModelError, match="dag is 3; pass a topoi.Dag, a list of edges"):
        as_dag(3)
    with pytest.raises(ModelError, match="the children of 'r' are 3; pass a dict, a list of names, or None"):
        Dag.from_dict({"r": 3})
    with pytest.raises(ModelError, match="from_dict needs a dict"):
        Dag.from_dict([("r", "a")])


def test_networkx_both_ways():
    networkx = pytest.importorskip("networkx")
    dag = Dag.from_edges(ODD)
    graph = dag.to_networkx()
    assert graph.nodes["x"] == {"level": 2, "topic": 1} and graph.nodes["a"]["topic"] is None
    again = Dag.from_networkx(graph)
    assert set(again.edges) == set(dag.edges) and again.topics == dag.topics
    assert Dag.from_networkx(networkx.DiGraph([(0, 1), (0, 2)])).nodes == ("0", "1", "2")
    with pytest.raises(ModelError, match="pass a networkx.DiGraph"):
        Dag.from_networkx(networkx.Graph([(0, 1)]))


def test_networkx_is_asked_for_only_when_used(monkeypatch):
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(ImportError, match="to_networkx needs networkx: pip install networkx"):
        topoi.Dag.from_levels(2).to_networkx()
