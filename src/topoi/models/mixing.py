"""Mixture of words and topics: how much each counts, and authors scored by it.

P(word | author) is a language model of all that the author wrote, smoothed towards the whole collection, mixed with the
author's topics. ``topoi.Search`` mixes the same for documents; both weights were chosen by ``studies.mixture_weight``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from topoi.corpus.corpus import Corpus
from topoi.kernels.ranking import log_likelihoods
from topoi.models.posterior import Posterior

# Weight of the language model, and number of words of the whole collection that smooth it.
WEIGHT, MU = 0.75, 300.0
# Words that are scored at once: authors × words numbers of eight bytes are held.
_WORDS_AT_ONCE = 16


def background_shares(times: NDArray[Any], n_tokens: int) -> NDArray[np.float64]:
    """P(word): its share of all words; half an occurrence if there is none.

    Examples
    --------
    >>> import numpy as np
    >>> background_shares(np.array([5, 0]), 10).tolist()
    [0.5, 0.05]
    """
    return np.asarray(np.maximum(times, 0.5) / max(n_tokens, 1))


class AuthorMixtures:
    """Authors of a corpus, and their topics in a chain, to score texts by.

    Parameters
    ----------
    corpus : Corpus
        The documents.
    posterior : Posterior
        A chain's topics and its authors' mixtures of them.
    """

    def __init__(self, corpus: Corpus, posterior: Posterior) -> None:
        self._posterior = posterior
        counts = author_counts(corpus).tocsc()
        counts.sort_indices()
        self._counts, self._lengths = counts, np.asarray(counts.sum(axis=1), np.float64).ravel()
        times = np.bincount(corpus.tokens, minlength=corpus.n_words)
        self._background = background_shares(times, corpus.n_tokens)

    def log_ratios(self, text: NDArray[Any]) -> NDArray[np.float64]:
        """log(P(text | author) / P(text)) of each author, the text's words taken to be independent."""
        words, times = np.unique(text, return_counts=True)
        total = np.zeros(len(self._lengths))
        for first in range(0, len(words), _WORDS_AT_ONCE):
            part = slice(first, first + _WORDS_AT_ONCE)
            total += self._some(words[part], times[part].astype(np.float64))
        return total

    def _some(self, words: NDArray[Any], times: NDArray[np.float64]) -> NDArray[np.float64]:
        background = self._background[words]
        topics = self._posterior.written.word_probabilities(self._posterior.word_columns(words) / background)
        own = self._counts[:, words]
        number = own.data / np.repeat(background, np.diff(own.indptr))
        lists = own.indptr.astype(np.int64), own.indices.astype(np.int64), number
        ratios = np.ascontiguousarray(topics[: len(self._lengths)].T)
        return np.asarray(log_likelihoods(*lists, self._lengths, MU, WEIGHT, ratios, times))


def author_counts(corpus: Corpus, evenly: bool = False) -> sparse.csr_matrix:
    """Counts of words by author, authors × words: each author has all words of a document, or an even part of them.

    Examples
    --------
    >>> import topoi
    >>> corpus = topoi.Corpus.from_tokens([["a"], ["a", "b"]], authors=["Ann", ["Ann", "Bob"]])
    >>> author_counts(corpus).toarray().tolist(), author_counts(corpus, evenly=True).toarray().tolist()
    ([[2.0, 1.0], [1.0, 1.0]], [[1.5, 0.5], [0.5, 0.5]])
    """
    number = np.diff(corpus.doc_author_start)
    weight = np.repeat(1.0 / np.maximum(number, 1) if evenly else np.ones(len(number)), number)
    written = sparse.csr_matrix((weight, corpus.doc_author, corpus.doc_author_start), (corpus.n_docs, corpus.n_authors))
    words = sparse.csr_matrix(
        (np.ones(corpus.n_tokens), corpus.tokens, corpus.doc_start), (corpus.n_docs, corpus.n_words)
    )
    return (written.T @ words).tocsr()
