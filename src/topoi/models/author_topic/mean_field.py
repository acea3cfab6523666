"""Topic shares of many new documents at once, without sampling: collapsed mean-field inference given the topics.

Every token has probabilities of topics of its own, all tokens of a word in a document the same, and is updated in turn
given the expected numbers of the document's other tokens (CVB0: Asuncion, Welling, Smyth and Teh 2009, equation 9,
with the topics fixed),

    g[w,k]  ∝  phi[w,k] · (N[k] − g[w,k] + alpha[k]),        N[k] = Σ over w of times[w] · g[w,k]

A pass costs O(distinct words × topics) vector operations and no random numbers, and a few passes do. Words are taken by
their numbers in the model, so the result depends neither on the order of words nor on that of documents.
"""

# numba infers the types of compiled loops.
# mypy: allow-untyped-defs, allow-incomplete-defs, no-check-untyped-defs
from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi.kernels import lanes
from topoi.kernels.counts import make_inverses, sort_range
from topoi.kernels.jit import compiled, inlined, lean
from topoi.kernels.word_lists import copy_row

_ZERO, _ONE = np.float32(0.0), np.float32(1.0)


class PassRule(NamedTuple):
    """When to stop: a pass moves less than the share ``tol`` of a document's tokens, or after ``most`` passes."""

    tol: float = 0.01
    most: int = 100


class Scratch(NamedTuple):
    """Scratch space for one document: its tokens, sorted; for each distinct word its row of phi, the weights of its
    topics, their inverse sum, and the number of its tokens; ``number`` is N, ``before`` that of the pass before.
    """

    token: NDArray[np.int32]
    phi: NDArray[np.float32]
    weight: NDArray[np.float32]
    scale: NDArray[np.float32]
    times: NDArray[np.float32]
    number: NDArray[np.float32]
    before: NDArray[np.float32]


@compiled
def infer_documents(documents, counts, priors, rule, doc_topic):
    """Set ``doc_topic`` to the posterior means of the mixtures of documents, each by a private author.

    Memory: 8 bytes × topics × the most distinct words that a document can have.
    """
    width = priors.alpha.shape[0]
    longest = 1
    for d in range(documents.doc_start.shape[0] - 1):
        longest = max(longest, documents.doc_start[d + 1] - documents.doc_start[d])
    most = min(longest, priors.beta.shape[0])
    inverses = make_inverses(counts.topic, priors.beta_sum, width)
    scratch = Scratch(
        np.empty(longest, np.int32),
        lanes.aligned_floats(most * width).reshape((most, width)),
        lanes.aligned_floats(most * width).reshape((most, width)),
        np.zeros(most, np.float32),
        np.zeros(most, np.float32),
        lanes.aligned_floats(width),
        lanes.aligned_floats(width),
    )
    for d in range(documents.doc_start.shape[0] - 1):
        n_words = _open_document(documents, d, counts, priors, inverses.now, scratch)
        _infer(n_words, priors.alpha, rule, documents.doc_start[d + 1] - documents.doc_start[d], scratch)
        total = 0.0
        for k in range(counts.topic.shape[0]):
            doc_topic[d, k] = np.float64(scratch.number[k]) + priors.alpha[k]
            total += doc_topic[d, k]
        for k in range(counts.topic.shape[0]):
            doc_topic[d, k] /= total


@compiled
def _open_document(documents, d, counts, priors, inverse, scratch):
    """Collect the document's distinct words with their rows of phi; return their number."""
    first, n = documents.doc_start[d], documents.doc_start[d + 1] - documents.doc_start[d]
    for i in range(n):
        scratch.token[i] = documents.tokens[first + i]
    sort_range(scratch.token, 0, n)
    j = -1
    for i in range(n):
        w = scratch.token[i]
        if i == 0 or w != scratch.token[i - 1]:
            j += 1
            _open_word(counts, w, priors.beta[w], inverse, scratch.phi[j], scratch.weight[j])
            scratch.scale[j] = scratch.times[j] = _ZERO
        scratch.times[j] += _ONE
    return j + 1


@lean
def _open_word(counts, w, beta, inverse, phi, weight):
    for k in range(phi.shape[0]):
        phi[k] = weight[k] = _ZERO
    copy_row(counts, w, phi)
    for k in range(phi.shape[0]):
        phi[k] = (phi[k] + beta) * inverse[k]


@lean
def _infer(n_words, alpha, rule, n, scratch):
    """Passes over the words until N settles; the first starts from no token at all."""
    width = alpha.shape[0]
    for k in range(width):
        scratch.number[k] = _ZERO
    for _ in range(rule.most):
        for k in range(width):
            scratch.before[k] = scratch.number[k]
        for j in range(n_words):
            _update_word(j, alpha, scratch, width)
        moved = 0.0
        for k in range(width):
            moved += abs(scratch.number[k] - scratch.before[k])
        if moved <= rule.tol * n:
            return


@inlined
def _update_word(j, alpha, scratch, width):
    """Set the weights of word ``j`` given the other tokens, and N; rounding cannot make a number of tokens negative."""
    sums = lanes.splat(_ZERO)
    scale, times, row = lanes.splat(scratch.scale[j]), lanes.splat(scratch.times[j]), j * width
    for b in range(0, width, 16):
        own = lanes.mul(lanes.load(scratch.weight, row + b), scale)
        number = lanes.load(scratch.number, b)
        others = lanes.add(lanes.positive(lanes.sub(number, own)), lanes.load(alpha, b))
        weight = lanes.mul(lanes.load(scratch.phi, row + b), others)
        sums = lanes.add(sums, weight)
        lanes.store(scratch.weight, row + b, weight)
        lanes.store(scratch.number, b, lanes.positive(lanes.sub(number, lanes.mul(times, own))))
    scratch.scale[j] = _ONE / lanes.get(lanes.prefix(sums), 15)
    share = lanes.splat(scratch.times[j] * scratch.scale[j])
    for b in range(0, width, 16):
        weight = lanes.mul(lanes.load(scratch.weight, row + b), share)
        lanes.store(scratch.number, b, lanes.add(lanes.load(scratch.number, b), weight))
