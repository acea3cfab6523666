"""Plot of topics along time, as lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from topoi.analysis.given import need_topic
from topoi.analysis.trends import hottest_topics, topic_trends
from topoi.corpus.corpus import Corpus
from topoi.models.contract import ModelLike
from topoi.plots.figure import graph_objects, leading_words, quiet, topic_colours

_RISING, _FALLING = 4, 3
_WORDS = 3


def trends(
    model: ModelLike, corpus: Corpus | None = None, topics: Sequence[int] | None = None, by: str = "year"
) -> Any:
    """Plot a line per topic: its share of the words of each year, decade or value of any column.

    Parameters
    ----------
    model : AuthorTopicModel, LDA or ModelView
        A fitted model.
    corpus : Corpus, optional
        The documents; the training corpus if not given.
    topics : list of int, optional
        Numbers of the topics; if not given, those that rise and fall most, or the largest if none does.
    by : str
        A column of the documents, or "decade".

    Returns
    -------
    plotly.graph_objects.Figure
        Displays itself in a notebook; save it with ``figure.write_html("trends.html")``.

    Examples
    --------
    >>> import topoi
    >>> corpus = topoi.Corpus.from_tokens([["a", "b"], ["c", "d"]] * 4, dates=[1990 + d for d in range(8)])
    >>> model = topoi.LDA(2, n_iter=5, random_state=0).fit(corpus)
    >>> len(topoi.plots.trends(model, topics=[1]).data)
    1
    """
    go = graph_objects()
    frame = topic_trends(model, corpus, by)
    chosen = _moving(frame) if topics is None else [need_topic(model, k) for k in topics]
    words = leading_words(model, chosen, _WORDS)
    colours = topic_colours(model, chosen)
    figure = go.Figure()
    for k in chosen:
        mine = frame[frame["topic"] == k]
        figure.add_trace(
            go.Scatter(
                x=mine[by].tolist(),
                y=mine["share"].tolist(),
                customdata=mine["n_words"].tolist(),
                name=f"{k}: {', '.join(words[k])}",
                mode="lines+markers",
                line={"color": colours[k], "width": 2},
                marker={"size": 5},
                hovertemplate="%{x}: %{y:.2%} of the words (%{customdata:,.0f})",
            )
        )
    figure.update_yaxes(tickformat=".1%", rangemode="tozero")
    return quiet(figure, f"Share of words by {by}", by, "share of words")


def _moving(frame: Any) -> list[int]:
    """Topics that rise most and those that fall most; the largest if none does."""
    order = hottest_topics(frame)
    rising, falling = (order.loc[order["direction"] == way, "topic"].tolist() for way in (1, -1))
    largest = frame.groupby("topic")["n_words"].sum().nlargest(_RISING).index
    return [int(k) for k in [*rising[:_RISING], *falling[::-1][:_FALLING]] or largest]
