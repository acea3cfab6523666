"""The graph of topics: all super-topics with their topics."""

from __future__ import annotations

from topoi.analysis.structure import N_SUB, N_SUPER, strongest
from topoi.web.pages import parameters
from topoi.web.pages.context import PageContext
from topoi.web.pages.graph import ALL, background_nodes, children_of, graph_of, node_face, picture_of
from topoi.web.pages.shapes import StructurePage, SuperTopic

N_CHILDREN = 6


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
        n_topics=context.view.n_topics,
        n_edges=len(graph.edges),
        most=most,
        min_share=min_share,
        super_topics=[
            SuperTopic(node=node_face(context, node, trend=True), children=children_of(context, node, N_CHILDREN))
            for node in graph.inner
        ],
        **picture_of(context, shown),
    )
