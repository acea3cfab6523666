"""Shared parts of simulations: Dirichlet draws, lengths, corpora with known truth."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from topoi.corpus.corpus import Corpus
from topoi.corpus.vocabulary import Vocabulary
from topoi.errors import ModelError
from topoi.models.validation import positive_vector

# Words of a simulated corpus, unless beta has one number for each.
N_WORDS = 1000


class SimulatedCorpus(Corpus):
    """A corpus with known truth."""

    truth: Any


def draw_corpus(
    rng: np.random.Generator,
    lengths: NDArray[np.int64],
    topic: NDArray[np.int64],
    topic_word: NDArray[np.float64],
    words: list[str],
    **people: Any,
) -> SimulatedCorpus:
    """Documents of the given lengths, each token's word drawn from its topic; the caller sets the truth."""
    return SimulatedCorpus(
        tokens=categorical(rng, np.cumsum(topic_word, axis=1), topic),
        doc_start=np.concatenate(([0], np.cumsum(lengths))).astype(np.int64),
        vocabulary=Vocabulary(words),
        **people,
    )


def draw_topics(rng: np.random.Generator, beta: ArrayLike, n_topics: int) -> tuple[NDArray[np.float64], list[str]]:
    """Topics drawn from their prior, topics × words, and names for the words."""
    n_words = N_WORDS if np.ndim(beta) == 0 else len(np.asarray(beta))
    prior = positive_vector("beta", beta, n_words, "the number of words")
    return dirichlet_rows(rng, prior, n_topics), invented_words(n_words)


def people_of(corpus: Corpus) -> dict[str, Any]:
    """Authors and metadata of a corpus, for ``draw_corpus`` to give its documents."""
    return {name: getattr(corpus, name) for name in ("doc_author", "doc_author_start", "authors", "documents")}


def invented_words(n: int) -> list[str]:
    """Default names of words."""
    return [f"w{w}" for w in range(n)]


def topic_shares(lengths: NDArray[np.int64], topic: NDArray[np.int64], n_topics: int) -> NDArray[np.float64]:
    """Topic shares of each document's tokens; zeros for an empty document."""
    counts = np.zeros((len(lengths), n_topics))
    np.add.at(counts, (np.repeat(np.arange(len(lengths)), lengths), topic), 1.0)
    return np.asarray(counts / np.maximum(lengths, 1)[:, None])


def dirichlet_rows(rng: np.random.Generator, parameters: NDArray[np.float64], n: int) -> NDArray[np.float64]:
    """``n`` Dirichlet draws, by logarithms of gammas, so that tiny parameters do not give rows of zeros."""
    shape = (n, len(parameters))
    log_gamma = np.log(rng.standard_gamma(parameters + 1.0, shape)) + np.log(rng.random(shape)) / parameters
    log_gamma -= log_gamma.max(axis=1, keepdims=True, initial=-np.inf)
    draws = np.exp(log_gamma)
    return np.asarray(draws / draws.sum(axis=1, keepdims=True))


def document_lengths(rng: np.random.Generator, doc_length: float, n_docs: int) -> NDArray[np.int64]:
    """Poisson lengths with mean ``doc_length``."""
    if not isinstance(doc_length, numbers.Real) or not 0 <= doc_length < 2**31:
        raise ModelError(f"doc_length is {doc_length!r}; it is a mean number of words, 0 or more")
    return rng.poisson(doc_length, n_docs)


def categorical(rng: np.random.Generator, cumulative: NDArray[np.float64], row: NDArray[np.int64]) -> NDArray[np.int64]:
    """One draw per entry of ``row`` from that row's distribution, by grouping equal rows."""
    result = np.zeros(len(row), np.int64)
    u = rng.random(len(row))
    for r in np.unique(row):
        where = row == r
        result[where] = np.searchsorted(cumulative[r], u[where] * cumulative[r, -1], side="right")
    return np.minimum(result, cumulative.shape[1] - 1)
