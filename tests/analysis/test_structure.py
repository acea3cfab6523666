"""What a picture shows of a graph: the strongest of it, or what is around a node."""

from __future__ import annotations

import pytest

import topoi
from topoi.analysis.structure import Edge, Graph, around, children, strongest, thickness
from topoi.errors import ModelError, NotFoundError


def edge(parent, child, alpha, share, n_words):
    return Edge(parent, child, float(alpha), share, n_words)


@pytest.fixture
def graph():
    """Two super-topics over three topics, one of which the root draws from as well; ``b`` draws words itself."""
    return Graph(
        [
            edge("root", "a", 1, 0.4, 50),
            edge("root", "b", 1, 0.4, 30),
            edge("root", "z", 1, 0.2, 20),
            edge("a", "x", 1, 0.1, 5),
            edge("a", "y", 6, 0.6, 25),
            edge("a", "z", 3, 0.3, 20),
            edge("b", "x", 8, 0.8, 20),
            edge("b", "y", 1, 0.1, 6),
            edge("b", topoi.WORDS, 1, 0.1, 4),
        ]
    )


def pairs(shown):
    return {edge[:2] for edge in shown.edges}


def test_what_is_known_of_a_graph(graph):
    assert graph.root == "root"
    assert graph.level == {"root": 0, "a": 1, "b": 1, "z": 2, "x": 2, "y": 2}
    assert graph.n_words == {"root": 100, "a": 50, "b": 30, "z": 40, "x": 25, "y": 31}
    assert graph.share("z") == 0.4
    assert graph.inner == ["a", "b"]
    assert graph.own["b"].n_words == 4
    with pytest.raises(ModelError, match="no edges"):
        Graph([])


def test_children_by_alpha_the_weak_left_out_and_some_last(graph):
    assert [e.child for e in children(graph, "a")] == ["y", "z", "x"]
    assert [e.child for e in children(graph, "a", 0.3)] == ["y", "z"]
    assert [e.child for e in children(graph, "a", 0.9)] == ["y"]
    assert [e.child for e in children(graph, "a", last={"y"})] == ["z", "x", "y"]


def test_strongest(graph):
    shown = strongest(graph, 2, 1)
    assert pairs(shown) == {("root", "a"), ("root", "b"), ("a", "y"), ("b", "x")}
    assert shown.n_hidden == 2  # a → x and b → y lead from one node shown to another
    assert strongest(graph, 2, 1).level == {"root": 0, "a": 1, "b": 1, "y": 2, "x": 2}
    assert pairs(strongest(graph, 1, 2)) == {("root", "a"), ("a", "y"), ("a", "z")}
    everything = strongest(graph, 9, 9)
    assert len(everything.edges) == 8 and everything.n_hidden == 0
    assert ("b", "y") not in pairs(strongest(graph, 9, 9, 0.2))
    assert pairs(strongest(graph, 1, 1, last={"y"})) == {("root", "a"), ("a", "z")}


def test_a_level_is_never_too_long():
    edges = [edge("root", f"s{i}", 1, 0.25, 10 * i) for i in range(4)]
    edges += [edge(f"s{i}", f"m{i}{j}", 1 + j, 0.3, 5 * i + j) for i in range(4) for j in range(3)]
    edges += [edge(f"m{i}{j}", f"t{i}{j}{k}", 1, 0.2, i) for i in range(4) for j in range(3) for k in range(5)]
    shown = strongest(Graph(edges), 2, 2)
    widths = [list(shown.level.values()).count(at) for at in range(4)]
    assert widths == [1, 2, 4, 4]
    assert {node for node, at in shown.level.items() if at == 1} == {"s3", "s2"}
    assert all(e.parent in shown.level and e.child in shown.level for e in shown.edges)


def test_around_a_node(graph):
    shown = around(graph, "b", 9)
    assert shown.level == {"root": 0, "b": 1, "x": 2, "y": 2} and shown.n_hidden == 0
    assert pairs(around(graph, "z", 1)) == {("root", "z")}
    assert [e.parent for e in around(graph, "x", 9).edges] == ["b", "a"]  # those that give it most words first
    assert pairs(around(graph, "a", 2, last={"y"})) == {("root", "a"), ("a", "z"), ("a", "x")}
    assert around(graph, "root", 9).level["root"] == 0
    with pytest.raises(NotFoundError, match="no node 'q'; it has 'root', 'a'"):
        around(graph, "q", 3)


def test_lines_are_as_thick_as_alpha(graph):
    thick = thickness(graph.edges, "root", 8.0, 2.0)
    assert thick["b", "x"] == 8.0 and thick["a", "y"] == 6.0 and thick["root", "z"] == 2.0
    assert thickness([edge("root", "a", 0, 0.0, 0)], "root", 8.0, 2.0) == {("root", "a"): 0.6}
