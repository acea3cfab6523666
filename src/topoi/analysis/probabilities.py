"""Rows of a chain's probabilities, computed from its counts for the few words, authors or documents that are asked for.

The whole matrices (``Posterior.topic_word``, ``author_topic``, ``doc_topic``) take hundreds of megabytes for large
collections; a question about one author needs one row.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

_ROWS_AT_ONCE = 4096


def author_mixtures(chain: Any, rows: Any) -> NDArray[np.float64]:
    """P(topic | author) of some authors: rows of ``chain.author_topic``."""
    counts = chain.counts.author_topic[rows, : chain.n_topics].astype(np.float64) + chain.alpha
    return np.asarray(counts / (chain.counts.author[rows, None] + chain.priors.alpha_sum))


def word_columns(chain: Any, words: Any) -> NDArray[np.float64]:
    """P(word | topic) of some words, topics × words: columns of ``chain.topic_word``."""
    counts = chain.counts.word_topic[words, : chain.n_topics].astype(np.float64) + chain.beta[words, None]
    return np.asarray((counts / (chain.counts.topic + chain.priors.beta_sum)).T)


def document_counts(model: Any, documents: slice) -> NDArray[np.int64]:
    """Words per training document and topic, in the first chain's sample, of documents next to each other."""
    chain, start = model.chains_[0], model.corpus_.doc_start
    topic = chain.assignments.topic[start[documents.start] : start[documents.stop]]
    n_docs = documents.stop - documents.start
    doc = np.repeat(np.arange(n_docs), np.diff(start[documents.start : documents.stop + 1]))
    cells = np.bincount(doc * chain.n_topics + topic, minlength=n_docs * chain.n_topics)
    return cells.reshape(n_docs, chain.n_topics)


def author_sizes(model: Any) -> NDArray[np.int64]:
    """Words that the first chain's sample gives to each author."""
    chain = model.chains_[0]
    sizes = chain.counts.author if hasattr(chain, "counts") else chain.author
    return np.asarray(sizes[: len(model.authors_)], np.int64)


def blocks(n_rows: int) -> Iterator[slice]:
    """Slices that cover all rows, each small enough to work on at once."""
    for first in range(0, n_rows, _ROWS_AT_ONCE):
        yield slice(first, min(first + _ROWS_AT_ONCE, n_rows))
