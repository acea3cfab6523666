"""Map of documents: dots on a plane, near if they have similar topics."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np

from topoi.analysis.given import need_topics
from topoi.analysis.trends import column_of
from topoi.drawing.document_layout import document_places
from topoi.drawing.document_map import leading_topics, topic_anchors
from topoi.errors import ModelError
from topoi.models.contract import ModelLike
from topoi.models.validation import whole_number
from topoi.plots.figure import (
    NAME_SIZE,
    PLANE,
    are_background,
    graph_objects,
    quiet,
    topic_colours,
    topic_labels,
    with_room,
)
from topoi.store.view import ModelView

_MOST_NAMED = 40
_LONGEST_TITLE = 90


def document_map(model: ModelLike, *, colour: str | None = None, n_names: int = _MOST_NAMED, places: Any = None) -> Any:
    """Plot every training document as a dot: near ones have similar shares of topics.

    Places are those of the file if the model is a view of one that has them (``topoi map``, or the page Map of the
    browser); otherwise they are computed, which takes a while for many documents. Both are the same numbers.

    Parameters
    ----------
    model : fitted model or ModelView
        A model with topics.
    colour : str, optional
        A column of the documents, such as ``"year"``, to colour by; by default dots have the colour of their leading
        topic.
    n_names : int
        Topics that are named on the map, those with most documents first; background topics are not, nor those whose
        name would meet another.
    places : array, optional
        Places of all documents, documents × 2, if they are known already.

    Returns
    -------
    plotly.graph_objects.Figure
        Titles show on hover.

    Examples
    --------
    >>> import topoi
    >>> corpus = topoi.Corpus.from_tokens([["sun", "star"], ["cell", "gene"]] * 5)
    >>> figure = topoi.plots.document_map(topoi.LDA(2, alpha=0.1, n_iter=20, random_state=0).fit(corpus))
    >>> len(figure.data[0].x)
    10
    """
    need_topics(model, "documents are placed by theirs")
    go = graph_objects()
    wanted = whole_number("n_names", n_names, 0)
    chain = model.chains_[0]
    spots = _places(model) if places is None else np.asarray(places, np.float64)
    if spots.shape != (len(chain.documents), 2):
        raise ModelError(
            f"places has the shape {spots.shape}; it needs a row of two for each of {len(chain.documents)}"
        )
    is_background = are_background(model)
    topic = leading_topics(chain, is_background)
    placed = np.flatnonzero(~np.isnan(spots).any(axis=1))
    labels, hues = topic_labels(model), topic_colours(model, range(chain.n_topics))
    figure = go.Figure(
        go.Scattergl(
            x=spots[placed, 0].tolist(),
            y=spots[placed, 1].tolist(),
            mode="markers",
            marker=_marker(model, colour, placed, [hues[int(k)] for k in topic[placed]]),
            text=_titles(model, placed),
            customdata=[escape(labels[int(k)]) for k in topic[placed]],
            hovertemplate="%{text}<br>%{customdata}<extra></extra>",
        )
    )
    anchors, numbers = topic_anchors(spots, topic, chain.n_topics)
    # Topics of connecting words have no name: it would say nothing of a subject.
    order = np.argsort(-np.where(is_background, 0, numbers), kind="stable")
    able = [int(k) for k in order if numbers[k] and not is_background[k]]
    pixels = min(PLANE) / max(float(np.ptp(spots[placed], axis=0).max()), 1e-12) if len(placed) else 0.0
    for k in with_room(anchors * pixels, labels, able)[:wanted]:
        figure.add_annotation(
            x=float(anchors[k, 0]),
            y=float(anchors[k, 1]),
            text=escape(labels[k]),
            showarrow=False,
            font={"size": NAME_SIZE, "color": hues[k] if colour is None else "#1d1b18"},
            bgcolor="rgba(255,255,255,0.8)",
        )
    # As in the browser, y grows downwards.
    figure.update_xaxes(visible=False).update_yaxes(visible=False, scaleanchor="x", autorange="reversed")
    return quiet(figure, "Documents by their topics", "", "")


def _places(model: ModelLike) -> Any:
    stored = model.document_places() if isinstance(model, ModelView) else None
    return document_places(model) if stored is None else stored


def _marker(model: ModelLike, colour: str | None, placed: Any, own: list[str]) -> dict[str, Any]:
    size = float(np.clip(300.0 / np.sqrt(max(len(placed), 1)), 2.5, 9.0))
    if colour is None:
        return {"size": size, "opacity": 0.7, "color": own}
    import pandas as pd

    values = column_of(model.catalogue_.documents, colour).iloc[placed]
    if pd.api.types.is_numeric_dtype(values):
        numbers = pd.to_numeric(values).to_numpy(np.float64, na_value=np.nan)
        return {"size": size, "opacity": 0.7, "color": numbers, "colorscale": "Viridis", "showscale": True}
    codes, _ = pd.factorize(values.map(str))
    return {"size": size, "opacity": 0.7, "color": codes, "colorscale": "Turbo"}


def _titles(model: ModelLike, placed: Any) -> list[str]:
    columns = model.catalogue_.document_columns(placed)
    names = columns.get("title", columns["id"])
    return [
        escape(str(name if name is not None else d)[:_LONGEST_TITLE]) for d, name in zip(placed, names, strict=True)
    ]
