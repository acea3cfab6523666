"""The graph of topics behind several pages: its nodes, their summaries, and excerpts for pictures."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple, cast

import numpy as np

from topoi.analysis.structure import WORDS, Edge, Excerpt, Graph, by_words, children
from topoi.errors import NotFoundError, StoreError
from topoi.models.registry import giving
from topoi.models.share_moments import Moments
from topoi.store.door import stored_json
from topoi.web.pages.context import PageContext
from topoi.web.pages.parts import banded_documents, listed_rows
from topoi.web.pages.shapes import (
    GraphEdge,
    GraphNode,
    NodePart,
    NodeShare,
    NodeSummary,
    SuperTopicPart,
    TopicDocument,
    YearShares,
)
from topoi.web.pages.text import one_line, short

N_SUPER_OF_TOPIC = 6
N_SUPER_OF_DOCUMENT = 5
MOST_EDGES = 2000
ALL = 10**6
_LONGEST_NAME = 100
_LONGEST_WORD = 100
_MOST_WORDS = 30
_WORDS_OF_A_SUMMARY = 10
_MOST_SHARE = 1.000001
# Names made by ``Dag.from_levels``, which say nothing about a node.
_COUNTED = re.compile(r"(super|sub|topic|level \d+ topic) \d+")


class GraphCache(NamedTuple):
    """Cache of a graph: its edges, its nodes without topic summaries, and their trends.

    ``ends`` are those of intervals of the nodes' shares of all words; ``deviations`` are of the parts that edges, by
    parent and child, have of their children's words.
    """

    graph: Graph
    nodes: list[dict[str, Any]]
    ends: list[tuple[float, float]]
    deviations: dict[tuple[Any, Any], float]
    years: list[int]
    trends: dict[int, YearShares]


def super_topics_of(context: PageContext, topic: int) -> list[SuperTopicPart]:
    """The super-topics that draw most of a topic's words; none in a model without a graph."""
    if not context.has_graph:
        return []
    kept = graph_of(context)
    node = next((n["node"] for n in kept.nodes if n["topic"] == topic), None)
    above = by_words(kept.graph.above.get(node, []))
    found = [edge for edge in above if edge.parent != kept.graph.root and edge.n_words > 0][:N_SUPER_OF_TOPIC]
    part = np.array([edge.n_words / kept.graph.n_words[edge.child] for edge in found])
    moments = Moments(part, np.array([kept.deviations[edge.parent, edge.child] for edge in found]))
    return [
        SuperTopicPart(**part_of(context, edge.parent, edge), part=float(share), lower=float(first), upper=float(last))
        for edge, share, first, last in zip(found, part, *moments.interval(), strict=True)
    ]


def documents_of(context: PageContext, node: int, n: int) -> list[TopicDocument]:
    """The documents with the largest shares of a super-topic."""
    rows = context.rows("node_works", node=node, n=n)
    return banded_documents(context, "node", node, rows, context.view.chains_[0].document_node_moments)


def super_topics_in(context: PageContext, document: int, listed: object) -> list[NodeShare]:
    """Super-topics of a document, from a JSON list of numbers, words and shares; empty without a graph."""
    if not context.has_graph:
        return []
    rows = listed_rows(listed, "a list of super-topics", 3)
    n_nodes = len(graph_of(context).nodes)
    if any(row[0] >= n_nodes or type(row[1]) is not int or not _is_share(row[2]) for row in rows):
        raise StoreError(f"{context.view.store.path}: a table names a node that is not there, or no share")
    if not rows:
        return []
    nodes, share = [row[0] for row in rows], np.array([row[2] for row in rows], np.float64)
    ends = context.view.chains_[0].document_node_moments(document).some(nodes).interval(share=share)
    return [
        NodeShare(node=node_summary(context, v), share=p, n_tokens=n, lower=float(first), upper=float(last))
        for (v, n, p), first, last in zip(rows, *ends, strict=True)
    ]


def _is_share(value: object) -> bool:
    return isinstance(value, int | float) and 0 <= value <= _MOST_SHARE


def inner_nodes(context: PageContext) -> list[Any]:
    """Nodes that have a page: those with children, except the root."""
    return sorted(graph_of(context).graph.inner)  # type: ignore[type-var]


def graph_of(context: PageContext) -> GraphCache:
    """The cached graph; a model without one is a ``NotFoundError``."""
    if not context.has_graph:
        raise NotFoundError(f"the topics of this model hang on no graph; those of {giving('graph')} do")
    return context.cache.keep("graph", lambda: _read(context))


def _read(context: PageContext) -> GraphCache:
    listed = context.rows("graph_nodes")
    nodes = [_node(context, row) for row in listed]
    sizes = Moments(*(np.array([row[at] for row in listed], np.float64) for at in (6, 8)))
    edges = context.rows("graph_edges")
    missing = f"{context.view.store.path}: the graph is missing; load the model and save it again"
    if [node["node"] for node in nodes] != list(range(len(nodes))) or not edges:
        raise StoreError(missing)
    if not all(0 <= row[0] < len(nodes) and (row[1] is None or row[0] < row[1] < len(nodes)) for row in edges):
        raise StoreError(f"{context.view.store.path}: an edge of the graph leads nowhere")
    graph = Graph(Edge(row[0], WORDS if row[1] is None else row[1], *row[2:5]) for row in edges)
    if len(graph.level) != len(nodes):
        raise StoreError(f"{context.view.store.path}: a node of the graph has no parents")
    years: list[int] = []
    trends: dict[int, YearShares] = {}
    rows = context.rows("graph_trends")
    if rows:
        years = sorted({row[1] for row in rows})
        if years != context.years:
            raise StoreError(f"{context.view.store.path}: shares of nodes and of topics are of different years")
        place = {year: at for at, year in enumerate(years)}
        trends = {node: _empty_trend(years) for node in {row[0] for row in rows}}
        for node, year, *values in rows:
            for name, value in zip(("n_tokens", "share", "lower", "upper"), values, strict=True):
                trends[node][name][place[year]] = value  # type: ignore[literal-required]
    ends = list(zip(*(end.tolist() for end in sizes.interval()), strict=True))
    return GraphCache(graph, nodes, ends, {(row[0], row[1]): row[5] for row in edges}, years, trends)


def _empty_trend(years: list[int]) -> YearShares:
    share, lower, upper = ([0.0] * len(years) for _ in range(3))
    return YearShares(years=years, share=share, lower=lower, upper=upper, n_tokens=[0] * len(years))


def _node(context: PageContext, row: tuple[Any, ...]) -> dict[str, Any]:
    number, name, _, topic, n_children, n_tokens, share, words, _, named = row
    with context.view.store.named():
        known = stored_json(words, f"node {number} of the graph", "words")
    listed = [short(word, _LONGEST_WORD) for word in known][:_MOST_WORDS]
    name = short(one_line(name), _LONGEST_NAME) or str(number)
    label = None if _COUNTED.fullmatch(name) else name
    summary = {"node": number, "name": name, "label": label, "auto_label": short(one_line(named), _LONGEST_NAME)}
    summary |= {
        "words": listed[:_WORDS_OF_A_SUMMARY],
        "share": float(share),
        "n_tokens": n_tokens,
        "n_children": n_children,
    }
    return {"node": number, "summary": summary, "topic": topic, "all_words": listed}


def node_summary(context: PageContext, node: Any, *, trend: bool = False) -> NodeSummary:
    """Summary of a node, with that of its topic if it draws words."""
    kept = graph_of(context)
    known = kept.nodes[node]
    line = kept.trends.get(node) if trend else None
    topic = None if known["topic"] is None else context.badge(known["topic"])
    rounded = None if line is None else np.round(line["share"], 6).tolist()
    return cast(NodeSummary, {**known["summary"], "topic": topic, "trend": rounded})


def node_ends(context: PageContext, node: int) -> tuple[list[float], list[float]] | None:
    """Ends of the intervals of a node's shares of all years; None without years."""
    line = graph_of(context).trends.get(node)
    return None if line is None else (line["lower"], line["upper"])


def part_of(context: PageContext, node: object, edge: Edge) -> NodePart:
    """A node at the other end of an edge, with the edge's numbers."""
    return NodePart(node=node_summary(context, node), alpha=edge.alpha, share=edge.share, n_tokens=edge.n_words)


def children_of(context: PageContext, node: object, n: int, min_share: float = 0.0) -> list[NodePart]:
    """The strongest children of a node; background topics, which all super-topics have, come last."""
    below = children(graph_of(context).graph, node, min_share, background_nodes(context))[:n]
    return [part_of(context, edge.child, edge) for edge in below]


def background_nodes(context: PageContext) -> frozenset[Any]:
    """Nodes that are background topics."""
    topics, kept = context.cache.topics, graph_of(context)
    known = [(node["node"], node["topic"]) for node in kept.nodes if node["topic"] is not None]
    return frozenset(node for node, topic in known if topic < len(topics) and topics[topic]["summary"]["glue"])


def picture_of(context: PageContext, shown: Excerpt) -> Any:
    """Nodes and edges of a picture; of very many edges only the strongest."""
    edges = sorted(shown.edges, key=lambda edge: -edge.share)[:MOST_EDGES]
    nodes = _reached(shown, edges)
    return {
        "nodes": [
            GraphNode(node=node_summary(context, node), column=shown.level[node], lower=ends[0], upper=ends[1])
            for node, ends in ((node, graph_of(context).ends[node]) for node in nodes)
        ],
        "edges": [
            GraphEdge(parent=edge.parent, child=edge.child, alpha=edge.alpha, share=edge.share, n_tokens=edge.n_words)  # type: ignore[typeddict-item]
            for edge in edges
        ],
        "n_hidden": shown.n_hidden + len(shown.edges) - len(edges),
    }


def _reached(shown: Excerpt, edges: Iterable[Edge]) -> list[Any]:
    ends = {end for edge in edges for end in (edge.parent, edge.child)}
    return [node for node in shown.level if node in ends]
