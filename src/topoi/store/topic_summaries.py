"""Summaries of topics: sizes, colours, places on a map, leading words, and similar topics."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.analysis.background import background_topics
from topoi.analysis.topic_distances import jensen_shannon_of_counts, symmetrised_kl
from topoi.corpus.corpus import Corpus
from topoi.corpus.pieces import occurrences, ranges
from topoi.drawing.topic_layout import topic_hues, topic_map
from topoi.models.posterior import Posterior
from topoi.models.ranking import N_NEIGHBOURS, N_WORDS, SUMMARY_RELEVANCE, relevance_scores
from topoi.store.leaders import Leaders

_CELLS_AT_ONCE = 2**17


def summary_tables(corpus: Corpus, first: Posterior) -> dict[str, dict[str, Any]]:
    """Tables ``topic`` and ``topic_neighbour`` of a model's first chain."""
    total = first.counts.topic
    share = total / max(float(total.sum()), 1.0)
    room = total + first.source.beta_sum
    places = topic_map(jensen_shannon_of_counts(first.counts.word_rows, room, first.beta), share)
    nowhere = [None] * first.n_topics

    def word_sums(words: Any) -> NDArray[np.float64]:
        """Tokens of some words in each topic, summed over the samples: whole numbers, words × topics."""
        return np.rint(np.asarray(first.counts.word_rows(words), np.float64) * first.n_samples)

    background = background_topics(
        corpus.tokens, first.assignments.topic, corpus.doc_start, word_sums, corpus.n_words, first.n_topics
    )
    topic = {
        "topic": np.arange(first.n_topics),
        "n_tokens": first.topic_sizes,
        "share": share,
        "alpha": first.alpha,
        "hue": topic_hues(first.documents.cell_blocks(), first.n_topics),
        "x": nowhere if places is None else places[:, 0],
        "y": nowhere if places is None else places[:, 1],
        "glue": background.astype(np.int64),
        "words": _leading_words(corpus, first, room),
    }
    return {"topic": topic, "topic_neighbour": topic_neighbours(symmetrised_kl(first.word_columns, len(first.beta)))}


def _leading_words(corpus: Corpus, first: Posterior, room: NDArray[np.float64]) -> list[str]:
    """Most relevant words of each topic, as JSON lists; by plain probability many topics would begin alike."""
    times, beta = occurrences(corpus.tokens, corpus.n_words), first.beta
    leaders = Leaders(first.n_topics, N_WORDS)
    for part in ranges(corpus.n_words, max(_CELLS_AT_ONCE // first.n_topics, 1)):
        probability = (first.source.word_rows(part) + beta[part, None]) / room
        score = relevance_scores(probability.T, times[part], SUMMARY_RELEVANCE)
        topic, word = np.nonzero(score >= leaders.least[:, None])
        leaders.add(topic, score[topic, word], word + part.start)
    found = leaders.found()
    lists = np.split(corpus.words[found.number], np.searchsorted(found.group, np.arange(1, first.n_topics)))
    return [json.dumps([str(word) for word in best], ensure_ascii=False) for best in lists]


def topic_neighbours(distance: NDArray[np.float64]) -> dict[str, Any]:
    """Nearest other topics of each topic, ties by number.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.store.topic_summaries import topic_neighbours
    >>> topic_neighbours(np.array([[0.0, 3.0, 2.0], [3.0, 0.0, 1.0], [2.0, 1.0, 0.0]]))["other"].tolist()
    [2, 1, 2, 0, 1, 0]
    """
    n_topics = len(distance)
    apart = distance + np.diag(np.full(n_topics, np.inf))
    n = min(N_NEIGHBOURS, n_topics - 1)
    other = np.argsort(apart, axis=1, kind="stable")[:, :n]
    return {
        "topic": np.repeat(np.arange(n_topics), n),
        "rank": np.tile(np.arange(1, n + 1), n_topics),
        "other": other.ravel(),
        "distance": np.take_along_axis(distance, other, axis=1).ravel(),
    }
