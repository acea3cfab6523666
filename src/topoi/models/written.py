"""Words that authors wrote, of models in which documents have private authors beside their named ones.

A private author is a device of the model: it takes what a document is about beyond what its authors write about
elsewhere. The named authors wrote those words all the same. What people ask, who writes about what, is answered by an
author's own words together with an equal part of the private ones of each of the author's documents; what the model
expects of an author's next word stays P(topic | author), without them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.corpus import Corpus
from topoi.corpus.pieces import ranges
from topoi.engine.samples import Sample
from topoi.models.resampling import EXTRA
from topoi.models.share_moments import DEVIATION_TYPE, Sums, deviations_of_rows


class Written(NamedTuple):
    """Nonzero topic counts of authors: start of each row, topics, sums over the samples, and shares' deviations."""

    start: NDArray[np.int64]
    topic: NDArray[np.int64]
    sums: NDArray[np.int64]
    deviation: NDArray[np.float16]


def written_words(corpus: Corpus, samples: Sequence[Sample], alpha: NDArray[np.float64], alpha_sum: float) -> Written:
    """Count each author's own words, and an equal part of the private author's in each of the author's documents.

    Deviations are those of shares if documents are resampled (``share_moments.group_moments``), and between samples.
    What an author wrote of a document is one observation, since its words have subjects in common. Cost: O(tokens ×
    samples + pairs of a document and an author × topics of the document).

    Parameters
    ----------
    corpus : Corpus
        The training documents.
    samples : sequence of dict
        Each has the ``topic`` of every token, and as ``slot`` the place of its author in its document's list; a private
        author comes after the named ones.
    alpha, alpha_sum
        Smoothing of each topic's count of an author, and its sum.

    Examples
    --------
    >>> import numpy as np, topoi
    >>> from topoi.models.written import written_words
    >>> corpus = topoi.Corpus.from_tokens([["sun", "sun", "sky"]], authors=[["Ann", "Bob"]])
    >>> sample = {"topic": np.array([0, 1, 1]), "slot": np.array([0, 2, 2])}
    >>> written = written_words(corpus, [sample], np.ones(2), 2.0)
    >>> written.start.tolist(), written.topic.tolist(), written.sums.tolist()
    ([0, 2, 3], [0, 1, 1], [1, 1, 1])
    """
    each = [_words_of_pairs(corpus, sample, len(alpha)) for sample in samples]
    parts, n_pairs = sum(each) / len(samples), len(corpus.doc_author)
    of_author = _matrix(np.ones(n_pairs), corpus.doc_author, np.arange(n_pairs), (corpus.n_authors, n_pairs))
    counts, variance = _resampled(parts, of_author)
    if len(samples) > 1:
        variance += deviations_of_rows((_sorted(of_author @ one) for one in each), alpha, alpha_sum) ** 2
    sums = np.rint(counts.data * len(samples)).astype(np.int64)
    kept = sums > 0
    row = np.repeat(np.arange(corpus.n_authors), np.diff(counts.indptr))[kept]
    start = np.concatenate(([0], np.cumsum(np.bincount(row, minlength=corpus.n_authors)))).astype(np.int64)
    topic, deviation = counts.indices[kept].astype(np.int64), np.sqrt(variance[kept]).astype(DEVIATION_TYPE)
    return Written(start, topic, sums[kept], deviation)


def _resampled(parts: Any, of_author: Any) -> tuple[Any, NDArray[np.float64]]:
    """Authors' words per topic, sparse, and each cell's variance of the share if parts of documents are resampled."""
    lengths = np.asarray(parts.sum(axis=1))
    each = parts, parts.power(2), parts.multiply(lengths[:, None]).tocsr()
    counts, squares, products = (_sorted(of_author @ one) for one in each)
    row, topic = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr)), counts.indices
    sizes = lengths > 0, lengths, lengths**2
    n, words, word_squares = ((of_author @ size)[row] for size in sizes)
    group = Sums(n, counts.data, words, squares.data, products.data, word_squares)
    in_all = [np.asarray(one.sum(axis=0))[topic] for one in each]
    n_all, words_all, word_squares_all = (float(size.sum()) for size in sizes)
    collection = Sums(n_all, in_all[0], words_all, in_all[1], in_all[2], word_squares_all)
    return counts, group.with_others(collection, EXTRA / max(n_all, 1.0)).variance()


def _words_of_pairs(corpus: Corpus, sample: Sample, n_topics: int) -> Any:
    """Words per topic of each document's authors in it, rows as ``corpus.doc_author``; sparse."""
    first, n_authors = corpus.doc_author_start, np.diff(corpus.doc_author_start)
    n_pairs, n_docs = len(corpus.doc_author), corpus.n_docs
    own, private = _matrix([], [], [], (n_pairs, n_topics)), _matrix([], [], [], (n_docs, n_topics))
    for part in ranges(corpus.n_tokens):
        ends = np.clip(corpus.doc_start, part.start, part.stop)
        doc = np.repeat(np.arange(n_docs), ends[1:] - ends[:-1])
        slot, topic = sample["slot"][part].astype(np.int64), sample["topic"][part].astype(np.int64)
        named = slot < n_authors[doc]
        pair, ones = first[doc] + slot, np.ones(len(doc))
        own = own + _matrix(ones[named], pair[named], topic[named], own.shape)
        private = private + _matrix(ones[~named], doc[~named], topic[~named], private.shape)
    doc = np.repeat(np.arange(n_docs), n_authors)
    equal = _matrix(1.0 / n_authors[doc], np.arange(n_pairs), doc, (n_pairs, n_docs))
    return own + equal @ private


def _matrix(values: Any, row: Any, column: Any, shape: tuple[int, int]) -> Any:
    """A sparse matrix; values at the same place are added up."""
    from scipy.sparse import csr_array

    return csr_array((np.asarray(values, np.float64), (np.asarray(row, np.int64), np.asarray(column, np.int64))), shape)


def _sorted(matrix: Any) -> Any:
    matrix.sort_indices()
    return matrix
