"""Pachinko graphs: excerpts for drawing, documents of a super-topic, and super-topics of a document."""

from __future__ import annotations

from collections.abc import Container, Hashable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from topoi.analysis.given import find_node, need_document, need_graph, with_rank
from topoi.errors import ModelError, NotFoundError
from topoi.models.dag import WORDS as WORDS
from topoi.models.graph import write_graph as write_graph
from topoi.models.resampling import LEVEL
from topoi.models.share_moments import Moments, with_interval
from topoi.models.validation import whole_number

Node = Hashable
THINNEST, THICKEST = 0.6, 9.0
# What a picture of a graph shows unless told otherwise: children of the root, of each further node, around one node.
N_SUPER, N_SUB, N_AROUND = 8, 4, 16


class Edge(NamedTuple):
    """An edge of a fitted graph: its Dirichlet parameter, its share of the parent's sum, its number of words."""

    parent: Node
    child: Node
    alpha: float
    share: float
    n_words: int


class Graph:
    """A fitted graph; nodes may be any hashable objects.

    Parameters
    ----------
    edges : iterable of Edge
        All edges, sorted by the level of the parent, as a model's ``edges()`` lists them. An edge to ``topoi.WORDS``
        means that an inner node draws words too.

    Attributes
    ----------
    root : object
        The node without parents.
    level : dict
        Length of the longest path from the root to each node.
    n_words : dict
        Number of words that go through each node.
    own : dict
        The edge to ``topoi.WORDS`` of each inner node that draws words.

    Examples
    --------
    >>> from topoi.analysis.structure import Edge, Graph
    >>> graph = Graph([Edge("root", "a", 1.0, 0.5, 3), Edge("root", "b", 1.0, 0.5, 7), Edge("a", "b", 2.0, 1.0, 3)])
    >>> graph.level["b"], graph.n_words["b"]
    (2, 10)
    """

    def __init__(self, edges: Iterable[Edge]) -> None:
        listed = list(edges)
        if not listed:
            raise ModelError("the graph has no edges")
        self.own = {edge.parent: edge for edge in listed if edge.child == WORDS}
        self.edges = [edge for edge in listed if edge.child != WORDS]
        self.below: dict[Node, list[Edge]] = {}
        self.above: dict[Node, list[Edge]] = {}
        for edge in self.edges:
            self.below.setdefault(edge.parent, []).append(edge)
            self.above.setdefault(edge.child, []).append(edge)
        self.root = listed[0].parent
        self.level = {self.root: 0}
        for edge in self.edges:  # sorted by the parent's level, so that a node's last parent is its deepest
            self.level[edge.child] = self.level.get(edge.parent, 0) + 1
        self.n_words = {node: sum(edge.n_words for edge in above) for node, above in self.above.items()}
        own_words = self.own[self.root].n_words if self.root in self.own else 0
        self.n_words[self.root] = own_words + sum(edge.n_words for edge in self.below.get(self.root, []))

    @property
    def inner(self) -> list[Node]:
        """Super-topics: inner nodes below the root, those with most words first."""
        nodes = [node for node in self.below if node != self.root]
        return sorted(nodes, key=lambda node: -self.n_words[node])

    def share(self, node: Node) -> float:
        """Share of all words that go through a node."""
        return self.n_words[node] / max(self.n_words[self.root], 1)

    def need(self, node: Node) -> Node:
        """Return the node if it exists, else raise ``NotFoundError``."""
        if node not in self.level:
            shown = ", ".join(repr(name) for name in list(self.level)[:5])
            raise NotFoundError(f"the graph has no node {node!r}; it has {shown}{' …' if len(self.level) > 5 else ''}")
        return node


class Excerpt(NamedTuple):
    """The shown part of a graph: nodes with their columns, edges, and the number of hidden edges between the nodes."""

    level: Mapping[Node, int]
    edges: list[Edge]
    n_hidden: int


def by_words(edges: Iterable[Edge]) -> list[Edge]:
    """Sort edges by their number of words, largest first."""
    return sorted(edges, key=lambda edge: -edge.n_words)


def children(graph: Graph, node: Node, min_share: float = 0.0, last: Container[Node] = ()) -> list[Edge]:
    """A node's edges to its children by alpha, those to nodes in ``last`` after all others.

    Edges with a share below ``min_share`` are left out, except the strongest.

    Examples
    --------
    >>> from topoi.analysis.structure import Edge, Graph, children
    >>> graph = Graph([Edge("root", "a", 3.0, 0.6, 3), Edge("root", "b", 1.0, 0.2, 1), Edge("root", "c", 1.0, 0.2, 1)])
    >>> [edge.child for edge in children(graph, "root", 0.5)], [edge.child for edge in children(graph, "root", 0, "a")]
    (['a'], ['b', 'c', 'a'])
    """
    ranked = sorted(graph.below.get(node, []), key=lambda edge: -edge.alpha)
    kept = [edge for i, edge in enumerate(ranked) if not i or edge.share >= min_share]
    return sorted(kept, key=lambda edge: edge.child in last)


def strongest(graph: Graph, n_super: int, n_sub: int, min_share: float = 0.0, last: Container[Node] = ()) -> Excerpt:
    """Excerpt of the root, its children with most words, their strongest children, and so on down.

    Parameters
    ----------
    graph : Graph
        The whole graph.
    n_super : int
        Number of children of the root.
    n_sub : int
        Number of children of every other node, by alpha. A level has at most ``n_super * n_sub`` nodes.
    min_share : float
        Edges with a smaller share of their parent's alpha are left out, except a node's strongest.
    last : container of nodes
        Children ranked after all others, such as background topics, which every node has.

    Examples
    --------
    >>> from topoi.analysis.structure import Edge, Graph, strongest
    >>> edges = [Edge("root", f"s{i}", 0.01, 0.5, 10 * i) for i in range(3)]
    >>> edges += [Edge(f"s{i}", f"t{j}", i + j, 0.5, 5 * i) for i in range(3) for j in range(2)]
    >>> [edge[:2] for edge in strongest(Graph(edges), 1, 1).edges]
    [('root', 's2'), ('s2', 't1')]
    """
    level: dict[Node, int] = {graph.root: 0}
    edges: list[Edge] = []
    inflow: dict[Node, int] = {}
    nodes_of: dict[int, list[Node]] = {}
    for node in graph.level:
        nodes_of.setdefault(graph.level[node], []).append(node)
    for at in sorted(nodes_of):
        wanted = [node for node in nodes_of[at] if node in inflow]
        if at > 1:
            wanted = sorted(wanted, key=lambda node: -inflow[node])[: n_super * n_sub]
        level |= dict.fromkeys(wanted, at)
        for node in wanted if at else [graph.root]:
            is_root = node == graph.root
            ranked = by_words(graph.below.get(node, [])) if is_root else children(graph, node, min_share, last)
            for edge in ranked[: n_super if is_root else n_sub]:
                edges.append(edge)
                inflow[edge.child] = inflow.get(edge.child, 0) + edge.n_words
    return _packed(graph, level, [edge for edge in edges if edge.child in level])


def around(graph: Graph, node: Node, n: int, min_share: float = 0.0, last: Container[Node] = ()) -> Excerpt:
    """Excerpt around a node: its ``n`` parents that pass it most words, and its ``n`` strongest children.

    Examples
    --------
    >>> from topoi.analysis.structure import Edge, Graph, around
    >>> graph = Graph([Edge("root", "a", 1.0, 1.0, 3), Edge("a", "x", 2.0, 0.4, 1), Edge("a", "y", 3.0, 0.6, 2)])
    >>> dict(around(graph, "a", 1).level)
    {'root': 0, 'a': 1, 'y': 2}
    """
    graph.need(node)
    above = by_words(graph.above.get(node, []))[:n]
    below = children(graph, node, min_share, last)[:n]
    level = {edge.parent: 0 for edge in above} | {node: 1} | {edge.child: 2 for edge in below}
    return _packed(graph, level, [*above, *below])


def _packed(graph: Graph, level: Mapping[Node, int], edges: list[Edge]) -> Excerpt:
    """Build an excerpt: number the columns without gaps, and count the hidden edges between the shown nodes."""
    column = {at: i for i, at in enumerate(sorted(set(level.values())))}
    n_between = sum(edge.parent in level and edge.child in level for edge in graph.edges)
    return Excerpt({node: column[at] for node, at in level.items()}, edges, n_between - len(edges))


def thickness(edges: Iterable[Edge], root: Node, thickest: float, thickest_of_root: float) -> dict[Any, float]:
    """Line width of each edge: proportional to alpha, with a visible minimum.

    The root's parameters are on another scale, and equal unless the user set them: its lines are kept thin.

    Examples
    --------
    >>> from topoi.analysis.structure import Edge, thickness
    >>> edges = [Edge("root", "a", 0.1, 1.0, 5), Edge("a", "x", 3.0, 0.75, 4), Edge("a", "y", 1.0, 0.25, 1)]
    >>> thickness(edges, "root", 9, 2)
    {('root', 'a'): 2.0, ('a', 'x'): 9.0, ('a', 'y'): 3.0}
    """
    listed = list(edges)
    limits = {True: thickest_of_root, False: thickest}
    largest = {True: 0.0, False: 0.0}
    for edge in listed:
        largest[edge.parent == root] = max(largest[edge.parent == root], edge.alpha)
    found = {}
    for edge in listed:
        part = edge.alpha / max(largest[edge.parent == root], 1e-300)
        found[edge.parent, edge.child] = max(THINNEST, limits[edge.parent == root] * part)
    return found


def node_documents(model: Any, node: str | int, n: int = 10, level: float | None = LEVEL) -> pd.DataFrame:
    """The training documents with most of a node of the graph, such as a super-topic (first chain).

    Parameters
    ----------
    model : PachinkoAllocation or ModelView
        A fitted model over a graph.
    node : str or int
        A node's name or number, as in ``model.dag_.nodes``; not the root.
    n : int
        Number of documents.
    level : float, optional
        Each interval holds this much probability. None leaves intervals out.

    Returns
    -------
    DataFrame
        node, rank, document (position), id, title and year if there are any, share (posterior mean of the probability
        that a word's path leads through the node, as in ``doc_node_``), n_words (number of the document's words whose
        paths do), lower, upper: the interval of the share (``topoi.models.share_moments``). Documents without such a
        word are left out.

    Examples
    --------
    >>> import topoi
    >>> corpus = topoi.Corpus.from_tokens([["a", "b"] * 3, ["a", "b"] * 9])
    >>> model = topoi.PachinkoAllocation(1, 2, n_iter=2, random_state=0).fit(corpus)
    >>> topoi.node_documents(model, "super 0")["n_words"].tolist()
    [6, 18]
    """
    need_graph(model)
    number, wanted = find_node(model, node), whole_number("n", n)
    if number == 0:
        raise ModelError(f"{model.dag_.root!r} is the root, through which every word goes; name a node below it")
    found = model.leading_documents(number, wanted)
    name = np.full(len(found.document), model.dag_.nodes[number], object)
    columns = {"node": name, **model.catalogue_.document_columns(found.document)}
    frame = pd.DataFrame(columns | {"share": found.share, "n_words": found.n_words})
    if level is not None:
        spread = [model.chains_[0].document_node_moments(int(d)).deviation[number] for d in found.document]
        frame = with_interval(frame, Moments(found.share, np.array(spread, np.float64)).interval(level))
    return with_rank(frame, 1, found.document)


def document_nodes(model: Any, document: int | str, n: int | None = None, level: float | None = LEVEL) -> pd.DataFrame:
    """The super-topics of a training document, the largest share first (first chain).

    Parameters
    ----------
    model : PachinkoAllocation or ModelView
        A fitted model over a graph.
    document : int or str
        A training document's position, id or title.
    n : int, optional
        Number of super-topics; all if not given.
    level : float, optional
        Each interval holds this much probability. None leaves intervals out.

    Returns
    -------
    DataFrame
        node (a name), rank, share, n_words, lower and upper as in ``node_documents``. Super-topics are nodes with
        children, the root left out; those that no word's path leads through are left out too.

    Examples
    --------
    >>> import topoi
    >>> corpus = topoi.Corpus.from_tokens([["a", "b"] * 3, ["a", "b"] * 9])
    >>> model = topoi.PachinkoAllocation(1, 2, n_iter=2, random_state=0).fit(corpus)
    >>> topoi.document_nodes(model, 1)[["node", "n_words"]].values.tolist()
    [['super 0', 18]]
    """
    need_graph(model)
    position = need_document(model, document)
    node, number, share = model.nodes_of_document(position)
    best = np.argsort(-share, kind="stable")[: None if n is None else whole_number("n", n)]
    names = np.array([model.dag_.nodes[v] for v in node[best]], object)
    frame = pd.DataFrame({"node": names, "share": share[best], "n_words": number[best]})
    if level is not None:
        deviation = model.chains_[0].document_node_moments(position).deviation[node[best]]
        frame = with_interval(frame, Moments(share[best], deviation).interval(level))
    return with_rank(frame, 1, node[best])
