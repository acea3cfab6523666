"""Models as the matrices that pyLDAvis and OCTIS take."""

from __future__ import annotations

from typing import Any

import numpy as np

from topoi.exchange.contents import doc_lengths, leading_words, mixtures, posterior_of, topic_words, words_of


def to_pyldavis(model: Any) -> dict[str, Any]:
    """Keyword arguments of ``pyLDAvis.prepare``, with topics under their own numbers.

    pyLDAvis sorts topics by size and counts them from 1, unless it is told not to: ``sort_topics=False`` and
    ``start_index=0`` are among the arguments. Words that no document has are left out, because pyLDAvis divides by how
    often a word occurs.

    Parameters
    ----------
    model : fitted model or view
        A model with topics.

    Returns
    -------
    dict
        ``topic_term_dists`` (topics × words), ``doc_topic_dists`` (documents × topics), ``doc_lengths``, ``vocab``,
        ``term_frequency``, ``sort_topics`` and ``start_index``.

    Examples
    --------
    >>> import topoi
    >>> corpus = topoi.Corpus.from_tokens([["sun", "star", "sun"], ["cell"], []])
    >>> found = topoi.exchange.to_pyldavis(topoi.LDA(2, n_iter=5, random_state=0).fit(corpus))
    >>> found["vocab"], found["term_frequency"].tolist(), found["doc_lengths"].tolist()
    (['sun', 'star', 'cell'], [2, 1, 1], [3, 1, 0])
    """
    posterior = posterior_of(model)
    times = posterior.word_times.astype(np.int64)
    occurring = np.flatnonzero(times)
    words, topics = words_of(model), topic_words(model)[:, occurring]
    return {
        "topic_term_dists": topics / topics.sum(axis=1, keepdims=True),
        "doc_topic_dists": mixtures(model),
        "doc_lengths": doc_lengths(posterior),
        "vocab": [words[w] for w in occurring],
        "term_frequency": times[occurring],
        "sort_topics": False,
        "start_index": 0,
    }


def to_octis(model: Any, n_words: int = 10) -> dict[str, Any]:
    """Output of a model as OCTIS's measures take it.

    Parameters
    ----------
    model : fitted model or view
        A model with topics.
    n_words : int
        Words of each topic; those of which a topic has no token are left out.

    Returns
    -------
    dict
        ``topics`` (a list of words for each topic), ``topic-word-matrix`` (topics × words) and
        ``topic-document-matrix`` (topics × documents).

    Examples
    --------
    >>> import topoi
    >>> corpus = topoi.Corpus.from_tokens([["sun", "star", "sun"], ["cell"]])
    >>> model = topoi.LDA.from_assignments(corpus, [0, 0, 0, 1], n_topics=2, alpha=0.1)
    >>> found = topoi.exchange.to_octis(model)
    >>> found["topics"], found["topic-word-matrix"].shape, found["topic-document-matrix"].shape
    ([['sun', 'star'], ['cell']], (2, 3), (2, 2))
    """
    return {
        "topics": leading_words(model, n_words),
        "topic-word-matrix": topic_words(model),
        "topic-document-matrix": np.ascontiguousarray(mixtures(model).T),
    }
