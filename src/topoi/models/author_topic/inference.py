"""New documents: Gibbs over their tokens alone, the counts updated temporarily (Rosen-Zvi et al. 2009, section 5.2).

Each document is sampled by the same kernel as in fitting, against a private copy of the few rows of counts it
touches, so documents do not influence each other, and their order is immaterial.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi.kernels.counts import Assignments, Counts, Documents, Priors, most_authors
from topoi.kernels.jit import compiled, lean
from topoi.kernels.random import seed_stream
from topoi.models.author_topic.kernels import sweep
from topoi.models.author_topic.plain import (
    author_share,
    move_token,
    random_assignments,
    recount_private_author,
    topic_weights,
)


class Scored(NamedTuple):
    """Tokens to be predicted from the sampled ones of the same document."""

    tokens: NDArray[np.int32]
    start: NDArray[np.int64]


class Labels(NamedTuple):
    """Where to add up each token's probabilities of topics and of authors (positions); no rows: not wanted."""

    topic: NDArray[np.float64]
    slot: NDArray[np.float64]


@lean
def content_key(documents, d):
    """A number that depends on a document's words and authors alone: its random stream's name."""
    key = np.uint64(0xCBF29CE484222325)
    for i in range(documents.doc_start[d], documents.doc_start[d + 1]):
        key = (key ^ np.uint64(documents.tokens[i] + 1)) * np.uint64(0x100000001B3)
    for p in range(documents.author_start[d], documents.author_start[d + 1]):
        key = (key ^ np.uint64(documents.author[p] + 1)) * np.uint64(0x100000001B3)
        key ^= key >> np.uint64(29)
    return np.int64(key >> np.uint64(1))


@compiled
def _local_problem(documents, scored, d, counts, priors):
    """Document ``d`` with its own small vocabulary and author rows, and copies of the counts it touches."""
    tokens = documents.tokens[documents.doc_start[d] : documents.doc_start[d + 1]]
    wanted = scored.tokens[scored.start[d] : scored.start[d + 1]]
    words = np.unique(np.concatenate((tokens, wanted)))
    authors = documents.author[documents.author_start[d] : documents.author_start[d + 1]]
    weights = documents.author_weight[documents.author_start[d] : documents.author_start[d + 1]]
    private = counts.author.shape[0] - 1
    word_topic = np.empty((len(words), counts.word_topic.shape[1]), np.float32)
    beta = np.empty(len(words), np.float32)
    for j in range(len(words)):
        word_topic[j] = counts.word_topic[words[j]]
        beta[j] = priors.beta[words[j]]
    author_topic = np.zeros((len(authors) + 1, counts.word_topic.shape[1]), np.float32)
    author = np.zeros(len(authors) + 1, np.int64)
    local = np.empty(len(authors), np.int32)
    for q in range(len(authors)):
        local[q] = len(authors) if authors[q] == private else q
        if authors[q] != private:
            author_topic[q] = counts.author_topic[authors[q]]
            author[q] = counts.author[authors[q]]
    small = Documents(
        np.searchsorted(words, tokens).astype(np.int32),
        np.array([0, len(tokens)]),
        local,
        np.array([0, len(authors)]),
        weights.copy(),
    )
    rows = Counts(word_topic, counts.topic.copy(), author_topic, author)
    return small, np.searchsorted(words, wanted), rows, Priors(priors.alpha, priors.alpha_sum, beta, priors.beta_sum)


@compiled
def _add_labels(small, assignments, rows, priors, labels):
    """Add every token's conditional probabilities of topics and authors, given all other tokens."""
    n_topics = rows.topic.shape[0]
    n_slots = small.author.shape[0]
    weights = np.empty(n_topics)
    recount_private_author(small, assignments, rows, 0)
    for i in range(small.tokens.shape[0]):
        w, k0, a0 = small.tokens[i], assignments.topic[i], small.author[assignments.slot[i]]
        move_token(rows, w, k0, a0, -1)
        topic_weights(small, rows, priors, 0, w, weights)
        total = weights.sum()
        for k in range(n_topics):
            labels.topic[i, k] += weights[k] / total
            side = 0.0
            for q in range(n_slots):
                side += author_share(small, rows, priors, q, k)
            for q in range(n_slots):
                labels.slot[i, q] += weights[k] / total * author_share(small, rows, priors, q, k) / side
        move_token(rows, w, k0, a0, 1)


@compiled
def _add_scores(small, assignments, wanted, rows, priors, scores):
    """Add the probability of every wanted word as the document's next one."""
    weights = np.empty(rows.topic.shape[0])
    weight = small.author_weight.sum()
    recount_private_author(small, assignments, rows, 0)
    for j in range(len(wanted)):
        topic_weights(small, rows, priors, 0, wanted[j], weights)
        scores[j] += weights.sum() / weight


@compiled
def start_document(small, assignments, rows, stream):
    """Give a new document's tokens random topics and authors, and count them."""
    random_assignments(small, rows.topic.shape[0], assignments, stream)
    for i in range(len(small.tokens)):
        move_token(rows, small.tokens[i], assignments.topic[i], small.author[assignments.slot[i]], 1)


@compiled
def sample_document(small, assignments, wanted, rows, priors, plan, stream, doc_topic, scores, labels):
    """Sample one document whose tokens are already counted in ``rows``, and add up what was asked for.

    With neither burn-in nor a second sample, the assignments are taken as they stand.
    """
    n, n_topics = len(small.tokens), rows.topic.shape[0]
    share = 1.0 / plan.n_samples
    for s in range(plan.burn_in + (plan.n_samples - 1) * plan.lag + 1):
        if n > 0 and (s > 0 or plan.burn_in > 0):
            sweep(small, assignments, rows, priors, stream)
        if s < plan.burn_in or (s - plan.burn_in) % plan.lag:
            continue
        for k in range(n_topics):
            doc_topic[k] += share * priors.alpha[k] / (n + priors.alpha_sum)
        for i in range(n):
            doc_topic[assignments.topic[i]] += share / (n + priors.alpha_sum)
        if len(wanted):
            _add_scores(small, assignments, wanted, rows, priors, scores)
        if labels.topic.shape[0]:
            _add_labels(small, assignments, rows, priors, labels)
    scores *= share
    labels.topic[:] /= plan.n_samples
    labels.slot[:] /= plan.n_samples


@compiled
def fold_in(documents, scored, counts, priors, plan, doc_topic, scores, labels):
    """Sample new documents and add up what was asked for.

    ``doc_topic[d]`` receives the mean over samples of (n[k] + alpha[k]) / (n + Σ alpha); ``scores`` the mean predictive
    probability of the scored tokens; ``labels`` each sampled token's mean probabilities.
    Cost: O(sweeps × tokens × topics).
    """
    stream = np.empty(2, np.uint64)
    for d in range(documents.doc_start.shape[0] - 1):
        small, wanted, rows, prior = _local_problem(documents, scored, d, counts, priors)
        n, first = len(small.tokens), documents.doc_start[d] if labels.topic.shape[0] else 0
        last = first + n if labels.topic.shape[0] else 0
        here = Labels(labels.topic[first:last], labels.slot[first:last])
        there = scores[scored.start[d] : scored.start[d + 1]]
        seed_stream(stream, plan.seed, plan.chain, content_key(documents, d), 1)
        assignments = Assignments(np.zeros(n, np.uint16), np.zeros(n, np.uint16))
        start_document(small, assignments, rows, stream)
        sample_document(small, assignments, wanted, rows, prior, plan, stream, doc_topic[d], there, here)


def label_room(documents: Documents, n_topics: int, wanted: bool) -> Labels:
    """Zeroed ``Labels`` for all tokens of ``documents``, or empty ones."""
    n = len(documents.tokens) if wanted else 0
    return Labels(np.zeros((n, n_topics)), np.zeros((n, int(most_authors(documents)))))
