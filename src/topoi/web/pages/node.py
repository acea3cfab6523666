"""A super-topic of the graph of topics."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Literal

from typing_extensions import TypedDict

from topoi.analysis.structure import N_AROUND, Excerpt, around, by_words
from topoi.drawing import charts
from topoi.drawing.svg import node_name
from topoi.errors import NotFoundError
from topoi.web.pages import parameters
from topoi.web.pages.context import PageContext
from topoi.web.pages.graph import (
    ALL,
    GraphCache,
    background_nodes,
    children_of,
    documents_of,
    graph_of,
    inner_nodes,
    node_summary,
    part_of,
    picture_of,
)
from topoi.web.pages.page import Kept, Page, PageFile, Picture, has_graph, numbered
from topoi.web.pages.shapes import GraphEdge, GraphNode, NodePart, NodeSummary, TopicDocument, YearShares
from topoi.web.pages.timespan import YearSpan, collection_span
from topoi.web.tables import Tables, lists_in, rows_by_year

N_PARENTS = 12
N_DOCUMENTS = 15


class NodeWord(TypedDict):
    """A word that tells a node from others."""

    word_id: int
    word: str


class NodePage(TypedDict):
    """A super-topic: what it draws from and what draws from it, words, documents, trend.

    ``lower`` and ``upper`` are the ends of the interval (0.9) of its share of all words.
    ``own`` is the part of its words that it draws itself, null if it draws none.
    """

    kind: Literal["node"]
    node: NodeSummary
    lower: float
    upper: float
    min_share: float | None
    own: NodePart | None
    parents: list[NodePart]
    children: list[NodePart]
    words: list[NodeWord]
    documents: list[TopicDocument]
    trend: YearShares | None
    span: YearSpan | None
    nodes: list[GraphNode]
    edges: list[GraphEdge]
    n_hidden: int


def node_page(
    context: PageContext,
    node: parameters.Node,
    min_share: parameters.MinShare = None,
    from_: parameters.FirstYear = None,
    to: parameters.LastYear = None,
) -> NodePage:
    """A super-topic: its topics, words, documents and trend."""
    kept = graph_of(context)
    graph = kept.graph
    _check(kept, node)
    least = 0.0 if min_share is None else min_share
    shown = around(graph, node, N_AROUND if min_share is None else ALL, least, background_nodes(context))
    own = graph.own.get(node)
    above = by_words(graph.above[node])
    return NodePage(  # type: ignore[typeddict-item]
        kind="node",
        node=node_summary(context, node, trend=True),
        lower=kept.ends[node][0],
        upper=kept.ends[node][1],
        min_share=min_share,
        own=None if own is None else part_of(context, node, own),
        parents=[part_of(context, edge.parent, edge) for edge in above if edge.parent != graph.root][:N_PARENTS],
        children=children_of(context, node, N_AROUND if min_share is None else ALL, least),
        words=_words(context, kept.nodes[node]["all_words"]),
        documents=documents_of(context, node, N_DOCUMENTS),
        trend=_trend(kept, node),
        span=collection_span(context, from_, to),
        **picture_of(context, _without(graph.root, shown)),
    )


def _check(kept: GraphCache, node: int) -> None:
    if not 0 <= node < len(kept.nodes):
        raise NotFoundError(f"there is no node {node} in this graph; nodes are numbered 0 to {len(kept.nodes) - 1}")
    if node == kept.graph.root:
        raise NotFoundError("node 0 is the root, through which every word goes; see the structure page")
    if node not in kept.graph.below:
        raise NotFoundError(f"node {node} is no super-topic but topic {kept.nodes[node]['topic']}, which has its page")


def _words(context: PageContext, words: list[str]) -> list[NodeWord]:
    return [NodeWord(word_id=number, word=word) for number, word in context.rows("words_named", ids=json.dumps(words))]


def _trend(kept: GraphCache, node: int) -> YearShares | None:
    return kept.trends.get(node)


def _without(root: object, shown: Excerpt) -> Excerpt:
    """The excerpt without the root, which is above every node."""
    edges = [edge for edge in shown.edges if edge.parent != root]
    level = {node: at for node, at in shown.level.items() if node != root}
    first = min(level.values())
    return Excerpt({node: at - first for node, at in level.items()}, edges, shown.n_hidden)


def _chart(view: Mapping[str, Any], site: Mapping[str, Any]) -> Picture | None:
    if not view["edges"]:
        return None
    return Picture(charts.graph(view["nodes"], view["edges"]), node_name(view["node"]))


def _tables(view: Mapping[str, Any]) -> Tables:
    return lists_in(view, trend=rows_by_year(view["trend"]))


def _files(context: PageContext, kept: Kept) -> Iterator[PageFile]:
    return numbered("structure", node_page, inner_nodes(context))


def _python(view: Mapping[str, Any], site: Mapping[str, Any]) -> str:
    return f"topoi.node_documents(model, {view['node']['node']}, {N_DOCUMENTS})"


PAGE = Page(
    "node",
    "Super-topic",
    "structure/{node}",
    node_page,
    NodePage,
    place=40,
    needs=has_graph,
    in_menu=False,
    below="structure",
    chart=_chart,
    tables=_tables,
    files=_files,
    python=_python,
)
