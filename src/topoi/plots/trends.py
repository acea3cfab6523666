"""Plot of topics along time, as lines."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from pandas.api.types import is_numeric_dtype

from topoi.analysis.given import need_topic
from topoi.analysis.trends import topic_moves, topic_trends
from topoi.corpus.corpus import Corpus
from topoi.models.contract import ModelLike
from topoi.models.periods import PERIODS, main_span
from topoi.plots.figure import (
    are_background,
    band,
    graph_objects,
    quiet,
    topic_colours,
    topic_dashes,
    topic_names,
    whiskers,
)

_RISING, _FALLING = 4, 3


def trends(
    model: ModelLike, corpus: Corpus | None = None, topics: Sequence[int] | None = None, by: str = "year"
) -> Any:
    """Plot a line per topic: its share of the words of each year, decade or value of any column, in a band.

    Parameters
    ----------
    model : AuthorTopicModel, LDA or ModelView
        A fitted model.
    corpus : Corpus, optional
        The documents; the training corpus if not given.
    topics : list of int, optional
        Numbers of the topics; if not given, those that clearly rise and fall most, or the largest if none does, without
        background topics.
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
    2
    """
    go = graph_objects()
    frame = topic_trends(model, corpus, by)
    chosen = _moving(model, frame, corpus) if topics is None else [need_topic(model, k) for k in topics]
    names = topic_names(model, chosen)
    colours, patterns = topic_colours(model, chosen), topic_dashes(model, chosen)
    is_number = is_numeric_dtype(frame[by])
    figure = go.Figure()
    for k in chosen:
        mine = frame[frame["topic"] == k]
        ends = mine["lower"].tolist(), mine["upper"].tolist()
        if is_number:
            figure.add_trace(band(go, mine[by].tolist(), *ends, colours[k], str(k)))
        figure.add_trace(
            go.Scatter(
                x=mine[by].tolist(),
                y=mine["share"].tolist(),
                customdata=mine[["n_words", "lower", "upper"]].to_numpy(),
                legendgroup=str(k),
                name=escape(names[k]),
                mode="lines+markers",
                line={"color": colours[k], "width": 2, "dash": patterns[k]},
                marker={"size": 5},
                error_y=None if is_number else whiskers(mine["share"].tolist(), *ends),
                hovertemplate="%{x}: %{y:.2%} (%{customdata[1]:.2%} to %{customdata[2]:.2%}) of the words",
            )
        )
    figure.update_yaxes(tickformat=".1%", rangemode="tozero")
    if by in PERIODS and is_number:
        # Where nearly all words are; a double click shows all years.
        words = frame.groupby(by)["n_words"].sum().sort_index()
        first, last = main_span(words.index.to_numpy(), words.to_numpy())
        figure.update_xaxes(range=[first - 0.5 * PERIODS[by], last + 0.5 * PERIODS[by]])
    return quiet(figure, f"Share of words by {by}", by, "share of words")


def _moving(model: ModelLike, frame: Any, corpus: Corpus | None) -> list[int]:
    """Topics that clearly rise most and those that fall most, or the largest if none does; no background topics."""
    order, is_background = topic_moves(model, frame, corpus), are_background(model)
    if not is_background.all():
        order, frame = (each[~is_background[each["topic"]]] for each in (order, frame))
    rising, falling = (order.loc[order["direction"] == way, "topic"].tolist() for way in (1, -1))
    largest = frame.groupby("topic")["n_words"].sum().nlargest(_RISING).index
    return [int(k) for k in [*rising[:_RISING], *falling[::-1][:_FALLING]] or largest]
