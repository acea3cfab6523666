"""The author-topic sampler written as its equation, and counting functions.

A token's author and topic are drawn jointly (Rosen-Zvi et al. 2009, equation 3),

    P(x = a, z = k)  ∝  (word_topic[w,k] + beta) / (topic[k] + W·beta)
                        · weight[d,a] · (author_topic[a,k] + alpha[k]) / (author[a] + Σ alpha)

with counts that leave the token out: first the topic is drawn from the sum over the document's authors, then the author
given the topic. That is exact, and costs one draw among topics and one among authors instead of one among all their
pairs. A document whose only author is private is LDA. ``kernels`` and ``word_major`` do the same in SIMD lanes.
"""

# numba infers the types of compiled loops.
# mypy: allow-untyped-defs, allow-incomplete-defs, no-check-untyped-defs
from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.kernels.counts import most_authors
from topoi.kernels.dirichlet import log_rising
from topoi.kernels.draw import draw_plain
from topoi.kernels.jit import compiled, inlined, lean
from topoi.kernels.random import uniform

_ONE = np.float32(1.0)
_ZERO = np.float32(0.0)


@lean
def random_assignments(documents, n_topics, assignments, stream):
    """Give every token a topic and one of its document's authors, each uniformly at random."""
    for d in range(documents.doc_start.shape[0] - 1):
        n_slots = documents.author_start[d + 1] - documents.author_start[d]
        for i in range(documents.doc_start[d], documents.doc_start[d + 1]):
            assignments.topic[i] = np.int64(uniform(stream) * n_topics)
            assignments.slot[i] = np.int64(uniform(stream) * n_slots) if n_slots > 1 else 0


@lean
def count(documents, assignments, counts):
    """Recount everything from the assignments (private authors' rows are recounted document by document)."""
    counts.word_topic[:] = _ZERO
    counts.topic[:] = 0
    counts.author_topic[:] = _ZERO
    counts.author[:] = 0
    add_counts(documents, assignments, counts)


@lean
def add_counts(documents, assignments, counts):
    """Add the assignments of some documents to the counts."""
    private = counts.author.shape[0] - 1
    for d in range(documents.doc_start.shape[0] - 1):
        for i in range(documents.doc_start[d], documents.doc_start[d + 1]):
            k = assignments.topic[i]
            counts.word_topic[documents.tokens[i], k] += _ONE
            counts.topic[k] += 1
            a = documents.author[documents.author_start[d] + assignments.slot[i]]
            if a != private:
                counts.author_topic[a, k] += _ONE
                counts.author[a] += 1


@inlined
def recount_private_author(documents, assignments, counts, d):
    """Set the private author's row (the last) to the document's own assignments; O(topics + tokens)."""
    private = counts.author_topic.shape[0] - 1
    slot = -1
    for p in range(documents.author_start[d], documents.author_start[d + 1]):
        if documents.author[p] == private:
            slot = p - documents.author_start[d]
    if slot < 0:
        return
    for k in range(counts.author_topic.shape[1]):
        counts.author_topic[private, k] = _ZERO
    total = 0
    for i in range(documents.doc_start[d], documents.doc_start[d + 1]):
        if assignments.slot[i] == slot:
            counts.author_topic[private, assignments.topic[i]] += _ONE
            total += 1
    counts.author[private] = total


@inlined
def move_token(counts, w, k, a, step):
    """Add (step 1) or remove (step -1) one token of word ``w``, topic ``k``, author ``a``."""
    counts.word_topic[w, k] += np.float32(step)
    counts.topic[k] += step
    counts.author_topic[a, k] += np.float32(step)
    counts.author[a] += step


@inlined
def author_share(documents, counts, priors, p, k):
    """Author ``p``'s part in topic ``k`` in float64: weight · (author_topic + alpha) / (author + Σ alpha)."""
    a = documents.author[p]
    share = (np.float64(counts.author_topic[a, k]) + priors.alpha[k]) / (counts.author[a] + priors.alpha_sum)
    return documents.author_weight[p] * share


@inlined
def topic_weights(documents, counts, priors, d, w, weights):
    """Fill ``weights`` with P(z = k), up to a factor, for a token of word ``w`` that is not in the counts."""
    for k in range(counts.topic.shape[0]):
        side = 0.0
        for p in range(documents.author_start[d], documents.author_start[d + 1]):
            side += author_share(documents, counts, priors, p, k)
        word = np.float64(counts.word_topic[w, k]) + priors.beta[w]
        weights[k] = word / (counts.topic[k] + priors.beta_sum) * side


@compiled
def sweep_plain(documents, assignments, counts, priors, stream):
    """One sweep in float64, written as the equation: the reference that the fast sweep is tested against.

    Uses one uniform per decision, none where there is one choice. Changes assignments, counts and stream.
    Cost: O(tokens × authors per document × topics).
    """
    weights = np.empty(counts.topic.shape[0])
    shares = np.empty(most_authors(documents))
    for d in range(documents.doc_start.shape[0] - 1):
        _sweep_document(documents, d, assignments, counts, priors, weights, shares, stream)


@compiled
def sweep_plain_with_priors(documents, assignments, counts, alpha, priors, stream):
    """``sweep_plain`` with a separate alpha for each document, its row of ``alpha``; ``priors.alpha`` is scratch."""
    weights = np.empty(counts.topic.shape[0])
    shares = np.empty(most_authors(documents))
    for d in range(documents.doc_start.shape[0] - 1):
        priors.alpha[:] = alpha[d]
        _sweep_document(documents, d, assignments, counts, priors, weights, shares, stream)


@lean
def _sweep_document(documents, d, assignments, counts, priors, weights, shares, stream):
    n_topics = counts.topic.shape[0]
    recount_private_author(documents, assignments, counts, d)
    first = documents.author_start[d]
    n_slots = documents.author_start[d + 1] - first
    for i in range(documents.doc_start[d], documents.doc_start[d + 1]):
        w = documents.tokens[i]
        move_token(counts, w, assignments.topic[i], documents.author[first + assignments.slot[i]], -1)
        topic_weights(documents, counts, priors, d, w, weights)
        k = draw_plain(weights, n_topics, stream)
        for q in range(n_slots):
            shares[q] = author_share(documents, counts, priors, first + q, k)
        q = draw_plain(shares, n_slots, stream)
        assignments.topic[i] = k
        assignments.slot[i] = q
        move_token(counts, w, k, documents.author[first + q], 1)


@lean
def log_joint_documents(documents, assignments, counts, priors, before):
    """Log joint of the documents: private authors' topics, and the choice of authors; added to that of those before.

    Uses the private author's row as scratch and changes nothing else. Cost: O(documents × topics + tokens).
    """
    private = counts.author.shape[0] - 1
    result = before
    for d in range(documents.doc_start.shape[0] - 1):
        first = documents.author_start[d]
        last = documents.author_start[d + 1]
        counts.author[private] = 0
        recount_private_author(documents, assignments, counts, d)
        if counts.author[private] > 0:
            result -= log_rising(np.float64(counts.author[private]), priors.alpha_sum)
            for k in range(counts.topic.shape[0]):
                n = np.float64(counts.author_topic[private, k])
                result += log_rising(n, np.float64(priors.alpha[k]))
        if last - first > 1:
            total = 0.0
            for p in range(first, last):
                total += documents.author_weight[p]
            for i in range(documents.doc_start[d], documents.doc_start[d + 1]):
                result += math.log(documents.author_weight[first + assignments.slot[i]] / total)
    return result


def mean_field_plain(phi: NDArray[np.float64], times: NDArray[Any], alpha: NDArray[np.float64], n_passes: int) -> Any:
    """Mean mixture of one document by ``mean_field``'s equation: ``phi`` is distinct words × topics.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.models.author_topic.equations import mean_field_plain
    >>> mean_field_plain(np.eye(2), np.array([2, 1]), np.array([0.5, 0.5]), 3).tolist()
    [0.625, 0.375]
    """
    share = np.zeros_like(phi)
    for _ in range(n_passes):
        for w in range(len(phi)):
            others = times @ share - share[w]
            weight = phi[w] * (np.maximum(others, 0.0) + alpha)
            share[w] = weight / weight.sum()
    number = times @ share + alpha
    return number / number.sum()
