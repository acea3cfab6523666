"""The graph of topics: all super-topics with their topics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from typing_extensions import TypedDict

from topoi.analysis.structure import N_SUB, N_SUPER, strongest
from topoi.drawing import charts
from topoi.drawing.words import clip
from topoi.web.pages import parameters
from topoi.web.pages.context import PageContext
from topoi.web.pages.graph import ALL, background_nodes, children_of, graph_of, node_summary, picture_of
from topoi.web.pages.page import Page, Picture, has_graph
from topoi.web.pages.shapes import GraphEdge, GraphNode, NodePart, NodeSummary

N_CHILDREN = 6


class SuperTopic(TypedDict):
    """A super-topic, the interval (0.9) of its share of all words, and its strongest children."""

    node: NodeSummary
    lower: float
    upper: float
    children: list[NodePart]


class StructurePage(TypedDict):
    """A graph of topics: all super-topics, the largest first, and a picture of the strongest nodes and edges.

    ``n_hidden`` counts the edges between nodes of the picture that it leaves out.
    """

    kind: Literal["structure"]
    n_super: int
    n_topics: int
    n_edges: int
    most: int
    min_share: float | None
    super_topics: list[SuperTopic]
    nodes: list[GraphNode]
    edges: list[GraphEdge]
    n_hidden: int


def structure_page(
    context: PageContext, most: parameters.MostNodes = N_SUPER, min_share: parameters.MinShare = None
) -> StructurePage:
    """All super-topics with their strongest topics, and a picture of the largest."""
    kept = graph_of(context)
    graph = kept.graph
    shown = strongest(graph, most, N_SUB if min_share is None else ALL, min_share or 0.0, background_nodes(context))
    return StructurePage(  # type: ignore[typeddict-item]
        kind="structure",
        n_super=len(graph.inner),
        n_topics=len(context.topics),
        n_edges=len(graph.edges),
        most=most,
        min_share=min_share,
        super_topics=[
            SuperTopic(
                node=node_summary(context, node, trend=True),
                lower=ends[0],
                upper=ends[1],
                children=children_of(context, node, N_CHILDREN),
            )
            for node, ends in ((node, kept.ends[node]) for node in graph.inner)  # type: ignore[call-overload]
        ],
        **picture_of(context, shown),
    )


def _chart(view: Mapping[str, Any], site: Mapping[str, Any]) -> Picture | None:
    if not view["edges"]:
        return None
    return Picture(charts.graph(view["nodes"], view["edges"]), f"{clip(site['title'], 120)}: structure of topics")


def _python(view: Mapping[str, Any], site: Mapping[str, Any]) -> str:
    return "model.edges()"


PAGE = Page(
    "structure",
    "Structure",
    "structure",
    structure_page,
    StructurePage,
    place=30,
    needs=has_graph,
    chart=_chart,
    python=_python,
)
