"""Correlations of topics as a heat map, in an order in which similar topics are neighbours."""

from __future__ import annotations

from html import escape
from typing import Any

from topoi.errors import ModelError
from topoi.models.contract import KnowsCorrelations, ModelLike
from topoi.models.registry import giving
from topoi.plots.figure import graph_objects, quiet, topic_names


def topic_correlations(model: ModelLike, level: float = 0.9) -> Any:
    """Plot which topics are found in the same documents, and which are not.

    Topics are ordered so that correlated ones are neighbours.

    Parameters
    ----------
    model : CorrelatedTopicModel
        A fitted model that knows correlations of topics.
    level : float
        Probability that the intervals hold, which show on hover.

    Returns
    -------
    plotly.graph_objects.Figure
        A heat map; red is together, blue is apart.

    Examples
    --------
    >>> import topoi
    >>> corpus = topoi.CorrelatedTopicModel(4).simulate(40, 20, random_state=0)
    >>> model = topoi.CorrelatedTopicModel(4, n_iter=60, random_state=0).fit(corpus)
    >>> figure = topoi.plots.topic_correlations(model)
    >>> len(figure.data[0].x)
    4
    """
    if not isinstance(model, KnowsCorrelations):
        raise ModelError(f"{type(model).__name__} knows no correlations of topics; fit {giving('correlations')}")
    go = graph_objects()
    order, matrix = model.topic_order_.tolist(), model.correlation_
    bounds = {(row.topic, row.other): (row.low, row.high) for row in model.topic_correlations(level).itertuples()}
    names = [escape(name) for name in topic_names(model, order).values()]
    cells = [[(a, b, *bounds.get((min(a, b), max(a, b)), (1.0, 1.0))) for b in order] for a in order]
    figure = go.Figure(
        go.Heatmap(
            z=[[None if a == b else float(matrix[a, b]) for b in order] for a in order],
            x=names,
            y=names,
            zmin=-1,
            zmax=1,
            colorscale="RdBu",
            reversescale=True,
            customdata=cells,
            hovertemplate="topics %{customdata[0]} and %{customdata[1]}: %{z:.2f}<br>"
            f"{level:.0%} interval %{{customdata[2]:.2f}} to %{{customdata[3]:.2f}}<extra></extra>",
        )
    )
    figure.update_yaxes(autorange="reversed", scaleanchor="x")
    return quiet(figure, "Topics that go together", "", "")
