"""Perplexities of authors' documents, each as if one of its authors alone had written it.

The same numbers as ``topoi.analysis.authorship.log_likelihoods_by``, for all authors and documents at once. An author
has words in few topics, and only those cost time: the smoothing term is the same for all authors.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.corpus import Corpus
from topoi.kernels.counts import Counts, Priors
from topoi.kernels.jit import compiled, lean
from topoi.models.author_topic.author_words import Choices, PairCounts
from topoi.models.scores import log_mean_exp, perplexities


def written_by(corpus: Corpus) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Distinct pairs of author and document, in order: authors, documents, positions in the documents' author lists.

    Examples
    --------
    >>> import topoi
    >>> from topoi.models.author_topic.surprise import written_by
    >>> corpus = topoi.Corpus.from_tokens([["a"], ["b"]], authors=[["Ann", "Bob"], ["Ann"]])
    >>> [part.tolist() for part in written_by(corpus)]
    [[0, 0, 1], [0, 1, 0], [0, 0, 1]]
    """
    doc = np.repeat(np.arange(corpus.n_docs), np.diff(corpus.doc_author_start))
    keys, first = np.unique(corpus.doc_author.astype(np.int64) * corpus.n_docs + doc, return_index=True)
    author, doc = np.divmod(keys, max(corpus.n_docs, 1))
    return author, doc, first - corpus.doc_author_start[doc]


def surprise_rows(corpus: Corpus, log_probabilities: list[NDArray[np.float64]]) -> dict[str, Any]:
    """Columns of ``author_document``, from each chain's log probabilities of the pairs of ``written_by``."""
    author, doc, _ = written_by(corpus)
    log_probability = log_mean_exp(np.stack(log_probabilities))
    perplexity = perplexities(log_probability, corpus.doc_lengths[doc], per_document=True)
    return {"author_id": author, "document_id": doc, "perplexity": perplexity}


def by_topics(corpus: Corpus, counts: Counts, priors: Priors) -> NDArray[np.float64]:
    """Log probability of each pair's document under its author's mixture of topics, for one chain."""
    author, doc, _ = written_by(corpus)
    result = np.zeros(len(author))
    _by_topics(author, doc, corpus.tokens, corpus.doc_start, counts, priors, result)
    return result


@compiled
def _by_topics(
    author: NDArray[np.int64],
    doc: NDArray[np.int64],
    tokens: NDArray[np.int32],
    doc_start: NDArray[np.int64],
    counts: Counts,
    priors: Priors,
    result: NDArray[np.float64],
) -> None:
    """Set ``result`` for each pair, authors in order. O(tokens of all pairs × topics that the author has words in)."""
    n_topics = counts.topic.shape[0]
    inverse = 1.0 / (counts.topic + priors.beta_sum)
    prior = _prior_probabilities(counts, priors, inverse)
    topic = np.empty(n_topics, np.int64)
    weight = np.empty(n_topics)
    n = 0
    total = 0.0
    last = -1
    for j in range(author.shape[0]):
        a = author[j]
        if a != last:
            last, n, total = a, 0, 0.0
            for k in range(n_topics):
                if counts.author_topic[a, k] > 0:
                    topic[n] = k
                    weight[n] = counts.author_topic[a, k] * inverse[k]
                    total += weight[n]
                    n += 1
        room = counts.author[a] + priors.alpha_sum
        for i in range(doc_start[doc[j]], doc_start[doc[j] + 1]):
            w = tokens[i]
            mass = prior[w] + priors.beta[w] * total
            for t in range(n):
                mass += weight[t] * counts.word_topic[w, topic[t]]
            result[j] += np.log(mass / room)


@compiled
def _prior_probabilities(counts: Counts, priors: Priors, inverse: NDArray[np.float64]) -> NDArray[np.float64]:
    """Σ_k alpha[k] · phi[k, w] of each word: its probability for an author without words, times the sum of alpha."""
    prior = np.zeros(priors.beta.shape[0])
    for w in range(len(prior)):
        for k in range(len(inverse)):
            prior[w] += priors.alpha[k] * inverse[k] * (np.float64(counts.word_topic[w, k]) + priors.beta[w])
    return prior


def by_words(
    corpus: Corpus, choices: Choices, counts: PairCounts, beta: NDArray[np.float64], beta_sum: float
) -> NDArray[np.float64]:
    """Log probability of each pair's document under its author's words, for one chain of the author model."""
    author, doc, position = written_by(corpus)
    result = np.zeros(len(author))
    _by_words(doc, position, choices, counts, beta, beta_sum, result)
    return result


@lean
def _by_words(
    doc: NDArray[np.int64],
    position: NDArray[np.int64],
    choices: Choices,
    counts: PairCounts,
    beta: NDArray[np.float64],
    beta_sum: float,
    result: NDArray[np.float64],
) -> None:
    for j in range(doc.shape[0]):
        d = doc[j]
        first = choices.author_start[d]
        n_authors = choices.author_start[d + 1] - first
        room = counts.author[choices.author[first + position[j]]] + beta_sum
        for i in range(choices.doc_start[d], choices.doc_start[d + 1]):
            at = choices.pair_start[d] + (i - choices.doc_start[d]) * n_authors + position[j]
            result[j] += np.log((counts.pair[choices.pair[at]] + beta[choices.tokens[i]]) / room)
