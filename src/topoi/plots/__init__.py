"""Figures for notebooks, made with plotly: they zoom, and tell exact numbers where the pointer is.

Install with ``pip install "topoi[plots]"``. The web browser (``topoi browse``) draws its own pictures.
"""

from topoi.plots.map import topic_map
from topoi.plots.pachinko import pachinko_graph
from topoi.plots.trends import trends

__all__ = ["pachinko_graph", "topic_map", "trends"]
