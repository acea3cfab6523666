"""The author-topic sampler: one collapsed Gibbs sweep, in lanes and in plain form.

A token's author and topic are drawn jointly (Rosen-Zvi et al. 2009, equation 3),

    P(x = a, z = k)  ∝  (word_topic[w,k] + beta) / (topic[k] + W·beta)
                        · weight[d,a] · (author_topic[a,k] + alpha[k]) / (author[a] + Σ alpha)

with counts that leave the token out: first the topic from the sum over the document's authors, then the author
given the topic. That is exact, and costs one draw among topics and one among authors instead of one among all
their pairs. A document whose only author is private is LDA.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi.kernels import lanes
from topoi.kernels.counts import most_authors
from topoi.kernels.dirichlet import log_rising
from topoi.kernels.draw import differences, draw_lanes, draw_plain, scratch_length
from topoi.kernels.jit import compiled, inlined, lean
from topoi.kernels.random import high_float, next_bits, uniform

_ONE = np.float32(1.0)
_ZERO = np.float32(0.0)
_SIXTEEN = np.float32(16.0)


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
    """One sweep in float64, written as the equation reads: the twin that the fast sweep is tested against.

    One uniform per decision, none where there is one choice. Changes assignments, counts and stream.
    Cost: O(tokens × authors per document × topics).
    """
    n_topics = counts.topic.shape[0]
    weights = np.empty(n_topics)
    shares = np.empty(most_authors(documents))
    for d in range(documents.doc_start.shape[0] - 1):
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


@inlined
def _inverse(n, prior_sum):
    return _ONE / np.float32(n + prior_sum)


@inlined
def _scan(word_topic, row, beta, sides, scales, n_slots, own, running, width):
    """Running lane sums of (word_topic + beta) · Σ_q scale[q] · side[q], topic ``own`` left out.

    Unrolled for one to three authors. The topic left out is masked in registers: writing a zero to memory would make
    the vector load that follows wait for the store.
    """
    sums = lanes.splat(_ZERO)
    prior = lanes.splat(beta)
    k = lanes.numbers()
    next_block = lanes.splat(_SIXTEEN)
    left_out = lanes.splat(np.float32(own))
    if n_slots == 1:
        for j in range(0, width, 16):
            word = lanes.add(lanes.load(word_topic, row + j), prior)
            weight = lanes.mul(word, lanes.load(sides, j))
            sums = lanes.add(sums, lanes.zero_where_equal(weight, k, left_out))
            lanes.store(running, j, sums)
            k = lanes.add(k, next_block)
        return sums
    scale0 = lanes.splat(scales[0])
    scale1 = lanes.splat(scales[1])
    if n_slots == 2:
        for j in range(0, width, 16):
            word = lanes.add(lanes.load(word_topic, row + j), prior)
            side = lanes.mul(scale0, lanes.load(sides, j))
            side = lanes.add(side, lanes.mul(scale1, lanes.load(sides, width + j)))
            sums = lanes.add(sums, lanes.zero_where_equal(lanes.mul(word, side), k, left_out))
            lanes.store(running, j, sums)
            k = lanes.add(k, next_block)
        return sums
    scale2 = lanes.splat(scales[2])
    for j in range(0, width, 16):
        word = lanes.add(lanes.load(word_topic, row + j), prior)
        side = lanes.mul(scale0, lanes.load(sides, j))
        side = lanes.add(side, lanes.mul(scale1, lanes.load(sides, width + j)))
        side = lanes.add(side, lanes.mul(scale2, lanes.load(sides, 2 * width + j)))
        for q in range(3, n_slots):
            side = lanes.add(side, lanes.mul(lanes.splat(scales[q]), lanes.load(sides, q * width + j)))
        sums = lanes.add(sums, lanes.zero_where_equal(lanes.mul(word, side), k, left_out))
        lanes.store(running, j, sums)
        k = lanes.add(k, next_block)
    return sums


@inlined
def _draw_slot(shares, n_slots, bits):
    """A position below ``n_slots``, given running sums of the authors' weights."""
    target = high_float(bits) * shares[n_slots - 1]
    q = 0
    for p in range(n_slots - 1):
        q += shares[p] <= target
    return q


class Scratch(NamedTuple):
    """Room for one document's sampling.

    ``rows[q]`` is a copy of author q's counts; ``sides[q]`` holds (rows[q,k] + alpha[k]) / (topic[k] + W·beta), ``scales[q]``
    the author's factor weight / (author[a] + Σ alpha), ``shares`` running sums over authors, ``running`` running sums
    over topics, ``inverse`` 1 / (topic[k] + W·beta).
    """

    rows: NDArray[np.float32]
    sides: NDArray[np.float32]
    scales: NDArray[np.float32]
    shares: NDArray[np.float32]
    running: NDArray[np.float32]
    inverse: NDArray[np.float32]


@compiled
def _make_scratch(documents, counts, priors):
    n_topics = counts.topic.shape[0]
    width = counts.word_topic.shape[1]
    most = most_authors(documents)
    scratch = Scratch(
        lanes.aligned_floats(most * width).reshape((most, width)),
        lanes.aligned_floats(most * width).reshape((most, width)),
        np.ones(most, np.float32),
        np.ones(most, np.float32),
        lanes.aligned_floats(scratch_length(n_topics)),
        lanes.aligned_floats(width),
    )
    scratch.running[:] = np.inf
    for k in range(n_topics):
        scratch.inverse[k] = _inverse(counts.topic[k], priors.beta_sum)
    return scratch


@inlined
def _author_scale(documents, counts, priors, p, left_out):
    """An author's factor, weight / (author + Σ alpha), with ``left_out`` of the author's tokens left out."""
    total = counts.author[documents.author[p]] - left_out
    return documents.author_weight[p] / np.float32(total + priors.alpha_sum)


@inlined
def _open_document(documents, assignments, counts, priors, scratch, d):
    """Set ``rows``, ``sides`` and ``scales`` for a document; O(authors × topics)."""
    recount_private_author(documents, assignments, counts, d)
    first = documents.author_start[d]
    n_slots = documents.author_start[d + 1] - first
    for q in range(n_slots):
        a = documents.author[first + q]
        scratch.scales[q] = _author_scale(documents, counts, priors, first + q, 0)
        for k in range(counts.word_topic.shape[1]):
            scratch.rows[q, k] = counts.author_topic[a, k]
            scratch.sides[q, k] = (scratch.rows[q, k] + priors.alpha[k]) * scratch.inverse[k]
    if n_slots == 1:
        scratch.scales[0] = _ONE  # one author's factor cancels


@inlined
def _own_weight(counts, priors, scratch, n_slots, w, k0, q0):
    """The weight of the token's own topic ``k0`` with the token left out."""
    side = _ZERO
    for q in range(n_slots):
        own = _ONE if q == q0 else _ZERO
        side += scratch.scales[q] * (scratch.rows[q, k0] - own + priors.alpha[k0])
    word = counts.word_topic[w, k0] - _ONE + priors.beta[w]
    return word * side * _inverse(counts.topic[k0] - 1, priors.beta_sum)


@inlined
def _move(counts, priors, scratch, author, first, n_slots, w, k0, k, q0, q):
    """Record that a token moves from topic ``k0`` and author ``q0`` to ``k`` and ``q``."""
    scratch.rows[q0, k0] -= _ONE
    scratch.rows[q, k] += _ONE
    counts.author_topic[author[first + q0], k0] -= _ONE
    counts.author_topic[author[first + q], k] += _ONE
    if k != k0:
        counts.word_topic[w, k0] -= _ONE
        counts.word_topic[w, k] += _ONE
        counts.topic[k0] -= 1
        counts.topic[k] += 1
        scratch.inverse[k0] = _inverse(counts.topic[k0], priors.beta_sum)
        scratch.inverse[k] = _inverse(counts.topic[k], priors.beta_sum)
    for p in range(n_slots):
        scratch.sides[p, k0] = (scratch.rows[p, k0] + priors.alpha[k0]) * scratch.inverse[k0]
        scratch.sides[p, k] = (scratch.rows[p, k] + priors.alpha[k]) * scratch.inverse[k]


@compiled
def sweep(documents, assignments, counts, priors, stream):
    """One exact sweep in sixteen lanes; changes assignments, counts and stream.

    Only the two topics that a token leaves and joins change in ``Scratch.sides``, and they are recomputed from whole
    counts, so nothing drifts. Cost: O(tokens × authors per document × topics / 16).
    """
    _sweep(documents, assignments, counts, priors, _make_scratch(documents, counts, priors), stream)


@lean
def _sweep(documents, assignments, counts, priors, scratch, stream):
    tokens, doc_start, author, author_start, _ = documents
    word_topic, topic, _, author_total = counts
    alpha, beta = priors.alpha, priors.beta
    rows, sides, scales, shares, running, _ = scratch
    n_topics = topic.shape[0]
    width = word_topic.shape[1]
    last_token = tokens.shape[0] - 1
    for d in range(doc_start.shape[0] - 1):
        _open_document(documents, assignments, counts, priors, scratch, d)
        first = author_start[d]
        n_slots = author_start[d + 1] - first
        for i in range(doc_start[d], doc_start[d + 1]):
            w = np.int64(np.uint32(tokens[i]))
            ahead = np.int64(np.uint32(tokens[min(i + 4, last_token)])) * width
            for j in range(0, width, 16):
                lanes.prefetch(word_topic, ahead + j)
            k0 = np.int64(assignments.topic[i])
            q0 = np.int64(assignments.slot[i])
            whole_scale = scales[q0]
            if n_slots > 1:
                scales[q0] = _author_scale(documents, counts, priors, first + q0, 1)
            own = _own_weight(counts, priors, scratch, n_slots, w, k0, q0)
            sums = _scan(word_topic, w * width, beta[w], sides, scales, n_slots, k0, running, width)
            k = draw_lanes(running, sums, n_topics, k0, own, next_bits(stream))
            q = 0
            if n_slots > 1:
                total = _ZERO
                for p in range(n_slots):
                    left_out = _ONE if (p == q0 and k == k0) else _ZERO
                    total += scales[p] * (rows[p, k] - left_out + alpha[k])
                    shares[p] = total
                q = _draw_slot(shares, n_slots, next_bits(stream))
            scales[q0] = whole_scale
            if k != k0 or q != q0:
                assignments.topic[i] = k
                _move(counts, priors, scratch, author, first, n_slots, w, k0, k, q0, q)
            if q != q0:
                assignments.slot[i] = q
                author_total[author[first + q0]] -= 1
                author_total[author[first + q]] += 1
                scales[q0] = _author_scale(documents, counts, priors, first + q0, 0)
                scales[q] = _author_scale(documents, counts, priors, first + q, 0)


@compiled
def lane_weights(documents, assignments, counts, priors, d, i):
    """The weights from which ``sweep`` would draw the topic of token ``i`` of document ``d``; for tests.

    Made of the very pieces of the sweep. Leaves the state as it was.
    """
    scratch = _make_scratch(documents, counts, priors)
    _open_document(documents, assignments, counts, priors, scratch, d)
    first = documents.author_start[d]
    n_slots = documents.author_start[d + 1] - first
    width = counts.word_topic.shape[1]
    w = np.int64(documents.tokens[i])
    k0 = np.int64(assignments.topic[i])
    q0 = np.int64(assignments.slot[i])
    if n_slots > 1:
        scratch.scales[q0] = _author_scale(documents, counts, priors, first + q0, 1)
    own = _own_weight(counts, priors, scratch, n_slots, w, k0, q0)
    sides, scales, running = scratch.sides, scratch.scales, scratch.running
    _scan(counts.word_topic, w * width, priors.beta[w], sides, scales, n_slots, k0, running, width)
    weights = differences(running, counts.topic.shape[0])
    weights[k0] += own
    return weights


@lean
def log_joint_documents(documents, assignments, counts, priors):
    """The documents' part of the log joint: private authors' topics, and the choice of authors.

    Uses the private author's row as scratch; everything else is left alone. Cost: O(documents × topics + tokens).
    """
    private = counts.author.shape[0] - 1
    result = 0.0
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
