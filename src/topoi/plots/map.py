"""Map of topics: circles on a plane, near if they share words, large if they have many."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np

from topoi.analysis.given import need_topics
from topoi.analysis.topic_distances import jensen_shannon
from topoi.drawing.topic_layout import topic_map as places_of
from topoi.errors import ModelError
from topoi.models.contract import ModelLike
from topoi.plots.figure import (
    NAME_SIZE,
    PLANE,
    are_background,
    graph_objects,
    leading_words,
    quiet,
    topic_colours,
    topic_labels,
    with_room,
)

_LARGEST = 60.0  # diameter in pixels
_WORDS = 10


def topic_map(model: ModelLike) -> Any:
    """Plot topics as circles on a plane: near ones share words, the area is the share of all words.

    Distances are square roots of Jensen–Shannon divergences between the topics' word distributions, brought to two
    dimensions by a neighbour embedding (t-SNE): the nearest circle is, as a rule, the most similar topic.

    Parameters
    ----------
    model : AuthorTopicModel, LDA or ModelView
        A fitted model with three or more topics.

    Returns
    -------
    plotly.graph_objects.Figure
        A topic's share, with its interval of probability 0.9, and its words show on hover. Names that would meet
        that of a larger topic are left out.

    Examples
    --------
    >>> import topoi
    >>> corpus = topoi.Corpus.from_tokens([["a", "b"], ["c", "d"], ["e", "f"]] * 5)
    >>> figure = topoi.plots.topic_map(topoi.LDA(3, n_iter=5, random_state=0).fit(corpus))
    >>> len(figure.data[0].x)
    3
    """
    need_topics(model, "they are what the map shows")
    go = graph_objects()
    chain = model.chains_[0]
    share = chain.topic_sizes / max(int(chain.topic_sizes.sum()), 1)
    words_of = chain.topics.shares(np.arange(chain.n_topics))
    places = places_of(jensen_shannon(lambda words: words_of[:, words], words_of.shape[1]), share)
    if places is None:
        raise ModelError(f"a map needs at least three topics; this model has {chain.n_topics}")
    words = leading_words(model, range(chain.n_topics), _WORDS)
    sizes = chain.size_moments
    told = np.stack((np.arange(chain.n_topics), sizes.mean, *sizes.interval()), axis=1).tolist()
    # Topics of connecting words have no name: it would say nothing of a subject.
    labels = np.where(are_background(model), "", topic_labels(model)).tolist()
    named = set(with_room(places * PLANE, labels, np.argsort(-share, kind="stable").tolist()))
    figure = go.Figure(
        go.Scatter(
            x=places[:, 0].tolist(),
            y=places[:, 1].tolist(),
            mode="markers+text",
            text=[escape(label) if k in named else "" for k, label in enumerate(labels)],
            textfont={"size": NAME_SIZE},
            cliponaxis=False,
            marker={
                "size": (_LARGEST * np.sqrt(share / share.max())).tolist(),
                "color": list(topic_colours(model, range(chain.n_topics)).values()),
                "opacity": 0.55,
                "line": {"width": 0},
            },
            customdata=[[*row, escape(", ".join(words[k]))] for k, row in enumerate(told)],
            hovertemplate=(
                "topic %{customdata[0]}: %{customdata[1]:.1%} (%{customdata[2]:.1%} to %{customdata[3]:.1%})"
                "<br>%{customdata[4]}<extra></extra>"
            ),
        )
    )
    figure.update_xaxes(visible=False).update_yaxes(visible=False)
    return quiet(figure, "Topics by their words", "", "")
