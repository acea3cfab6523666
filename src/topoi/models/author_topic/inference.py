"""Sampling of new documents: Gibbs over their tokens alone, with temporary counts (Rosen-Zvi et al. 2009, section 5.2).

Each document is sampled by the same kernel as in fitting, against a private copy of the few rows of counts it
touches. So documents do not influence each other, and their order does not matter.
"""

# numba infers the types of compiled loops.
# mypy: allow-untyped-defs, allow-incomplete-defs, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from topoi.kernels.counts import Assignments
from topoi.kernels.folding import Labels, content_key, divide, local_problem
from topoi.kernels.guided import topic_for_word
from topoi.kernels.jit import compiled
from topoi.kernels.random import seed_stream
from topoi.models.author_topic.equations import (
    author_share,
    move_token,
    random_assignments,
    recount_private_author,
    topic_weights,
)
from topoi.models.author_topic.kernels import sweep


@compiled
def _add_labels(small, assignments, rows, priors, labels):
    """Add every token's conditional probabilities of topics and authors, given all other tokens."""
    n_topics = rows.topic.shape[0]
    n_slots = small.author.shape[0]
    weights = np.empty(n_topics)
    recount_private_author(small, assignments, rows, 0)
    for i in range(small.tokens.shape[0]):
        w, k0, a0 = np.int64(small.tokens[i]), assignments.topic[i], small.author[assignments.slot[i]]
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
    """Give a new document's tokens random topics and authors, and count them.

    No token gets a topic that its word is banned from: two tokens of a word would keep each other there.
    """
    n_topics = rows.topic.shape[0]
    random_assignments(small, n_topics, assignments, stream)
    for i in range(len(small.tokens)):
        k = np.int64(assignments.topic[i])
        assignments.topic[i] = topic_for_word(rows.word_topic, small.tokens[i], k, n_topics, stream)
        move_token(rows, small.tokens[i], assignments.topic[i], small.author[assignments.slot[i]], 1)


@compiled
def sample_document(small, assignments, wanted, rows, priors, plan, stream, doc_topic, scores, labels):
    """Sample one document whose tokens are already counted in ``rows``, and add to the requested outputs.

    With no burn-in and one sample, the assignments are used as they are.
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
    for j in range(scores.shape[0]):
        scores[j] *= share
    divide(labels.topic, plan.n_samples)
    divide(labels.slot, plan.n_samples)


@compiled
def fold_in(documents, scored, counts, priors, plan, doc_topic, scores, labels):
    """Sample new documents and add to the requested outputs.

    ``doc_topic[d]`` receives the mean over samples of (n[k] + alpha[k]) / (n + Σ alpha); ``scores`` the mean predictive
    probability of the scored tokens; ``labels`` each sampled token's mean probabilities.
    Cost: O(sweeps × tokens × topics).
    """
    stream = np.empty(2, np.uint64)
    for d in range(documents.doc_start.shape[0] - 1):
        small, wanted, rows, prior = local_problem(documents, scored, d, counts, priors, plan.weight)
        n, first = len(small.tokens), documents.doc_start[d] if labels.topic.shape[0] else 0
        last = first + n if labels.topic.shape[0] else 0
        here = Labels(labels.topic[first:last], labels.slot[first:last])
        there = scores[scored.start[d] : scored.start[d + 1]]
        seed_stream(stream, plan.seed, plan.chain, content_key(documents, d), 1)
        assignments = Assignments(np.zeros(n, np.uint16), np.zeros(n, np.uint16))
        start_document(small, assignments, rows, stream)
        sample_document(small, assignments, wanted, rows, prior, plan, stream, doc_topic[d], there, here)
