"""Folding in: sampling new documents against the fixed counts of a fit, as shared by all families."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi.kernels.counts import Counts, Documents, Priors
from topoi.kernels.jit import compiled, inlined, lean
from topoi.kernels.word_lists import copy_row

# The weight of training documents beside which a new one is lost: float32 holds 24 bits, and counts times this number.
FIXED = 2.0**60


class SamplingPlan(NamedTuple):
    """Schedule of sampling new documents: burn-in sweeps, then samples ``lag`` sweeps apart; seed and chain.

    A training word counts ``weight`` times in the topics, a word of the new document once: with ``FIXED`` topics stay
    what training made them, to the last bit.
    """

    burn_in: int
    n_samples: int
    lag: int
    seed: int
    chain: int
    weight: float = 1.0


class FilterPlan(NamedTuple):
    """Schedule of a particle filter: particles, earlier words redrawn before each new one (all if negative), streams.

    Particles are resampled when their effective number falls below the share ``resample_below``. Estimates are unbiased
    if ``weighted``; see ``author_topic.likelihood``.
    """

    n_particles: int
    n_moves: int
    seed: int
    chain: int = 0
    resample_below: float = 0.5
    weighted: bool = True


class Scored(NamedTuple):
    """Tokens to predict from the sampled tokens of the same document."""

    tokens: NDArray[np.int32]
    start: NDArray[np.int64]


class Labels(NamedTuple):
    """Accumulators of each token's probabilities of topics and of authors (by position); without rows if not wanted."""

    topic: NDArray[np.float64]
    slot: NDArray[np.float64]


@lean
def content_key(documents, d):
    """Hash of a document's words and authors, which keys its random stream."""
    key = np.uint64(0xCBF29CE484222325)
    for i in range(documents.doc_start[d], documents.doc_start[d + 1]):
        key = (key ^ np.uint64(documents.tokens[i] + 1)) * np.uint64(0x100000001B3)
    for p in range(documents.author_start[d], documents.author_start[d + 1]):
        key = (key ^ np.uint64(documents.author[p] + 1)) * np.uint64(0x100000001B3)
        key ^= key >> np.uint64(29)
    return np.int64(key >> np.uint64(1))


@inlined
def divide(table, by):
    """Divide a table in place; ``table /= by`` would make numba compile broadcasting with its error messages."""
    for i in range(table.shape[0]):
        for j in range(table.shape[1]):
            table[i, j] /= by


@inlined
def multiply(table, by):
    """Multiply a table in place; a loop for the same reason as in ``divide``."""
    for i in range(table.shape[0]):
        for j in range(table.shape[1]):
            table[i, j] *= by


@compiled
def local_problem(documents, scored, d, counts, priors, weight):
    """Copy document ``d`` with a local vocabulary and local author rows, and the counts that it uses.

    Counts and priors of words are multiplied by ``weight``; see ``SamplingPlan``.
    """
    tokens = documents.tokens[documents.doc_start[d] : documents.doc_start[d + 1]]
    wanted = scored.tokens[scored.start[d] : scored.start[d + 1]]
    words = np.unique(np.concatenate((tokens, wanted)))
    authors = documents.author[documents.author_start[d] : documents.author_start[d + 1]]
    weights = documents.author_weight[documents.author_start[d] : documents.author_start[d + 1]]
    private = counts.author.shape[0] - 1
    width = counts.author_topic.shape[1]
    word_topic = np.zeros((len(words), width), np.float32)
    beta = np.empty(len(words), np.float32)
    for j in range(len(words)):
        copy_row(counts, words[j], word_topic[j])
        beta[j] = weight * priors.beta[words[j]]
    multiply(word_topic, weight)
    topic = counts.topic.copy()
    for k in range(len(topic)):
        topic[k] *= weight
    author_topic = np.zeros((len(authors) + 1, width), np.float32)
    author = np.zeros(len(authors) + 1)
    local = np.empty(len(authors), np.int32)
    for q in range(len(authors)):
        local[q] = len(authors) if authors[q] == private else q
        if authors[q] != private:
            for k in range(width):  # an assignment of rows takes numba three seconds to compile
                author_topic[q, k] = counts.author_topic[authors[q], k]
            author[q] = counts.author[authors[q]]
    small = Documents(
        np.searchsorted(words, tokens).astype(np.int32),
        np.array([0, len(tokens)]),
        local,
        np.array([0, len(authors)]),
        weights.copy(),
    )
    rows = Counts(word_topic, topic, author_topic, author)
    prior = Priors(priors.alpha, priors.alpha_sum, beta, weight * priors.beta_sum)
    return small, np.searchsorted(words, wanted), rows, prior


def label_room(n_tokens: int, n_topics: int, item_start: NDArray[np.int64], wanted: bool) -> Labels:
    """Zeroed ``Labels`` for all tokens of documents whose lists of authors begin at ``item_start``, or empty ones."""
    n = n_tokens if wanted else 0
    return Labels(np.zeros((n, n_topics)), np.zeros((n, int(np.diff(item_start).max(initial=1)))))


@compiled
def word_probabilities(documents, d, counts, priors):
    """P(word | topic) of each token of the document: tokens × topics."""
    first, last = documents.doc_start[d], documents.doc_start[d + 1]
    phi = np.zeros((last - first, counts.topic.shape[0]))
    for i in range(last - first):
        w = documents.tokens[first + i]
        copy_row(counts, w, phi[i])
        for k in range(counts.topic.shape[0]):
            phi[i, k] = (phi[i, k] + priors.beta[w]) / (counts.topic[k] + priors.beta_sum)
    return phi
