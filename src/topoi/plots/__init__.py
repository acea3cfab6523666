"""Interactive figures for notebooks, made with plotly: zoomable, with exact numbers on hover.

Install with ``pip install "topoi[plots]"``. The web browser (``topoi browse``) draws its own pictures.
"""

from topoi.plots.correlations import topic_correlations
from topoi.plots.documents import document_map
from topoi.plots.effects import effects
from topoi.plots.evaluations import comparison, topic_numbers
from topoi.plots.groups import groups
from topoi.plots.links import link_graph
from topoi.plots.map import topic_map
from topoi.plots.pachinko import pachinko_graph
from topoi.plots.shares import topic_shares
from topoi.plots.trends import trends

__all__ = [
    "comparison",
    "document_map",
    "effects",
    "groups",
    "link_graph",
    "pachinko_graph",
    "topic_correlations",
    "topic_map",
    "topic_numbers",
    "topic_shares",
    "trends",
]
