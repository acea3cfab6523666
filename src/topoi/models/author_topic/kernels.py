"""The author-topic sweep in sixteen SIMD lanes: the draw of ``equations.sweep_plain``, made fast.

One pass over the topics writes running sums of their weights (float32, in a fixed order, so the same bits on every
machine), from which the topic is drawn; then the author given the topic. Documents with one and with two authors have
specialised code.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi.kernels import lanes
from topoi.kernels.counts import Inverses, make_inverses, most_authors, move_between_topics
from topoi.kernels.draw import differences, draw_lanes, scan_products, scratch_length
from topoi.kernels.jit import compiled, inlined, lean
from topoi.kernels.random import high_float, next_bits
from topoi.models.author_topic.equations import recount_private_author

_ONE = np.float32(1.0)
_ZERO = np.float32(0.0)
_SIXTEEN = np.float32(16.0)


@inlined
def _scan_two(word_topic, row, beta, sides, scale0, scale1, own, running, width):
    """``scan_products`` for two authors: side = scale0 · sides[0] + scale1 · sides[1]."""
    sums = lanes.splat(_ZERO)
    prior = lanes.splat(beta)
    k = lanes.numbers()
    for j in range(0, width, 16):
        word = lanes.add(lanes.load(word_topic, row + j), prior)
        side = lanes.mul(lanes.splat(scale0), lanes.load(sides, j))
        side = lanes.add(side, lanes.mul(lanes.splat(scale1), lanes.load(sides, width + j)))
        sums = lanes.add(sums, lanes.zero_where_equal(lanes.mul(word, side), k, lanes.splat(np.float32(own))))
        lanes.store(running, j, sums)
        k = lanes.add(k, lanes.splat(_SIXTEEN))
    return sums


@inlined
def _scan_many(word_topic, row, beta, sides, scales, n_slots, own, running, width):
    """``scan_products`` for three authors or more."""
    sums = lanes.splat(_ZERO)
    prior = lanes.splat(beta)
    k = lanes.numbers()
    for j in range(0, width, 16):
        word = lanes.add(lanes.load(word_topic, row + j), prior)
        side = lanes.mul(lanes.splat(scales[0]), lanes.load(sides, j))
        side = lanes.add(side, lanes.mul(lanes.splat(scales[1]), lanes.load(sides, width + j)))
        side = lanes.add(side, lanes.mul(lanes.splat(scales[2]), lanes.load(sides, 2 * width + j)))
        for q in range(3, n_slots):
            side = lanes.add(side, lanes.mul(lanes.splat(scales[q]), lanes.load(sides, q * width + j)))
        sums = lanes.add(sums, lanes.zero_where_equal(lanes.mul(word, side), k, lanes.splat(np.float32(own))))
        lanes.store(running, j, sums)
        k = lanes.add(k, lanes.splat(_SIXTEEN))
    return sums


class Scratch(NamedTuple):
    """Scratch space for sampling one document.

    ``rows[q]`` is a copy of author q's counts; ``sides[q]`` holds (rows[q,k] + alpha[k]) / (topic[k] + W·beta),
    ``scales[q]`` the author's factor weight / (author[a] + Σ alpha), ``reduced[q]`` and ``raised[q]`` the same with one
    token less and more, ``shares`` running sums over authors, ``running`` running sums over topics. ``allowed`` is one
    for the topics that the document may have, zero for others.
    """

    rows: NDArray[Any]
    sides: NDArray[np.float32]
    scales: NDArray[np.float32]
    reduced: NDArray[np.float32]
    raised: NDArray[np.float32]
    shares: NDArray[np.float32]
    running: NDArray[np.float32]
    allowed: NDArray[np.float32]
    inverses: Inverses


@compiled
def _make_scratch(documents, counts, priors):
    n_topics = counts.topic.shape[0]
    width = counts.word_topic.shape[1]
    most = most_authors(documents)
    scratch = Scratch(
        lanes.aligned_floats(most * width).view(counts.author_topic.dtype).reshape((most, width)),
        lanes.aligned_floats(most * width).reshape((most, width)),
        lanes.aligned_floats(most),
        lanes.aligned_floats(most),
        lanes.aligned_floats(most),
        lanes.aligned_floats(most),
        lanes.aligned_floats(scratch_length(n_topics)),
        lanes.aligned_floats(width),
        make_inverses(counts.topic, priors.beta_sum, width),
    )
    # Loops compile faster than array assignments.
    for k in range(width):
        scratch.allowed[k] = _ONE
    for q in range(most):
        scratch.scales[q] = scratch.reduced[q] = scratch.raised[q] = scratch.shares[q] = _ONE
    for j in range(scratch.running.shape[0]):
        scratch.running[j] = np.inf
    return scratch


@inlined
def _author_scale(documents, counts, priors, p, change):
    """Factor of an author with ``change`` more tokens."""
    total = counts.author[documents.author[p]] + change
    return documents.author_weight[p] / np.float32(total + priors.alpha_sum)


@inlined
def _move_between_authors(documents, counts, priors, scratch, first, q0, q):
    """Move one token's count from author ``q0`` to ``q``, with their factors (see ``Inverses`` for why)."""
    counts.author[documents.author[first + q0]] -= 1
    counts.author[documents.author[first + q]] += 1
    scratch.raised[q0] = scratch.scales[q0]
    scratch.scales[q0] = scratch.reduced[q0]
    scratch.reduced[q0] = _author_scale(documents, counts, priors, first + q0, -1)
    scratch.reduced[q] = scratch.scales[q]
    scratch.scales[q] = scratch.raised[q]
    scratch.raised[q] = _author_scale(documents, counts, priors, first + q, 1)


@inlined
def _open_document(documents, assignments, counts, priors, scratch, d):
    """Set ``rows``, ``sides`` and ``scales`` for a document; O(authors × topics)."""
    recount_private_author(documents, assignments, counts, d)
    first = documents.author_start[d]
    n_slots = documents.author_start[d + 1] - first
    for q in range(n_slots):
        a = documents.author[first + q]
        scratch.scales[q] = _author_scale(documents, counts, priors, first + q, 0)
        scratch.reduced[q] = _author_scale(documents, counts, priors, first + q, -1)
        scratch.raised[q] = _author_scale(documents, counts, priors, first + q, 1)
        for k in range(counts.word_topic.shape[1]):
            scratch.rows[q, k] = counts.author_topic[a, k]
            side = (np.float32(scratch.rows[q, k]) + priors.alpha[k]) * scratch.inverses.now[k]
            scratch.sides[q, k] = side * scratch.allowed[k]


@inlined
def _without_token(counts, priors, scratch, w, k0):
    """The word's factor for topic ``k0`` with the token left out."""
    return (np.float32(counts.word_topic[w, k0]) - _ONE + priors.beta[w]) * scratch.inverses.less[k0]


@inlined
def _weigh_one(counts, priors, scratch, w, k0):
    """Running sums for a document with one author (whose factor cancels), and the weight of the token's own topic."""
    own = _without_token(counts, priors, scratch, w, k0) * (np.float32(scratch.rows[0, k0]) - _ONE + priors.alpha[k0])
    width = counts.word_topic.shape[1]
    sums = scan_products(counts.word_topic, w * width, priors.beta[w], scratch.sides, k0, scratch.running, width)
    return own, sums


@inlined
def _weigh_two(counts, priors, scratch, w, k0, q0):
    """``_weigh_one`` for two authors; all but the running sums stays in registers."""
    first_own = _ONE if q0 == 0 else _ZERO
    scale0 = scratch.reduced[0] if q0 == 0 else scratch.scales[0]
    scale1 = scratch.scales[1] if q0 == 0 else scratch.reduced[1]
    side = scale0 * (np.float32(scratch.rows[0, k0]) - first_own + priors.alpha[k0])
    side += scale1 * (np.float32(scratch.rows[1, k0]) - (_ONE - first_own) + priors.alpha[k0])
    own = _without_token(counts, priors, scratch, w, k0) * side
    width = counts.word_topic.shape[1]
    sums = _scan_two(
        counts.word_topic, w * width, priors.beta[w], scratch.sides, scale0, scale1, k0, scratch.running, width
    )
    return own, sums, scale0, scale1


@inlined
def _weigh_many(counts, priors, scratch, n_slots, w, k0, q0):
    """``_weigh_one`` for three authors or more; leaves the token out of its author's factor until the draw is done."""
    scratch.scales[q0] = scratch.reduced[q0]
    side = _ZERO
    for q in range(n_slots):
        own = _ONE if q == q0 else _ZERO
        side += scratch.scales[q] * (np.float32(scratch.rows[q, k0]) - own + priors.alpha[k0])
    width = counts.word_topic.shape[1]
    sums = _scan_many(
        counts.word_topic, w * width, priors.beta[w], scratch.sides, scratch.scales, n_slots, k0, scratch.running, width
    )
    return _without_token(counts, priors, scratch, w, k0) * side, sums


@inlined
def _slot_of_two(rows, alpha, scale0, scale1, k, k0, q0, bits):
    """Draw one of two authors given the topic: P(q) ∝ scale · (rows[q,k] + alpha[k]), the token itself left out."""
    here = _ONE if k == k0 else _ZERO
    share0 = scale0 * (np.float32(rows[0, k]) - (here if q0 == 0 else _ZERO) + alpha[k])
    share1 = scale1 * (np.float32(rows[1, k]) - (_ZERO if q0 == 0 else here) + alpha[k])
    return np.int64(share0 <= high_float(bits) * (share0 + share1))


@inlined
def _slot_of_many(scratch, alpha, n_slots, k, k0, q0, bits):
    """Draw one of several authors given the topic."""
    total = _ZERO
    for p in range(n_slots):
        left_out = _ONE if (p == q0 and k == k0) else _ZERO
        total += scratch.scales[p] * (np.float32(scratch.rows[p, k]) - left_out + alpha[k])
        scratch.shares[p] = total
    target = high_float(bits) * total
    q = 0
    for p in range(n_slots - 1):
        q += scratch.shares[p] <= target
    return q


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
        move_between_topics(counts.topic, scratch.inverses, priors.beta_sum, k0, k)
    for p in range(n_slots):
        scratch.sides[p, k0] = (np.float32(scratch.rows[p, k0]) + priors.alpha[k0]) * scratch.inverses.now[k0]
        scratch.sides[p, k] = (np.float32(scratch.rows[p, k]) + priors.alpha[k]) * scratch.inverses.now[k]


@compiled
def sweep(documents, assignments, counts, priors, stream):
    """One exact sweep in sixteen lanes; changes assignments, counts and stream.

    In ``Scratch.sides`` only the two topics that a token leaves and joins change, and they are recomputed from whole
    counts, so nothing drifts. Cost: O(tokens × authors per document × topics / 16).
    """
    _sweep(documents, assignments, counts, priors, _make_scratch(documents, counts, priors), stream)


@compiled
def sweep_allowed(documents, assignments, counts, priors, sets, doc_set, stream):
    """``sweep`` in which document ``d`` may have the topics where ``sets[doc_set[d]]`` is one; it is zero elsewhere."""
    scratch = _make_scratch(documents, counts, priors)
    for d in range(documents.doc_start.shape[0] - 1):
        _allow(scratch, sets, doc_set[d])
        _sweep_document(documents, d, assignments, counts, priors, scratch, stream)


@inlined
def _allow(scratch, sets, row):
    for k in range(sets.shape[1]):
        scratch.allowed[k] = sets[row, k]


@compiled
def sweep_with_priors(documents, assignments, counts, alpha, priors, stream):
    """``sweep`` with a separate alpha for each document, its row of ``alpha``, and one private author each.

    ``priors.alpha`` is scratch for one row. Its sum is not read: the factor of an only author cancels. Where a row is
    zero, the document cannot have the topic.
    """
    scratch = _make_scratch(documents, counts, priors)
    for d in range(documents.doc_start.shape[0] - 1):
        priors.alpha[:] = alpha[d]
        _sweep_document(documents, d, assignments, counts, priors, scratch, stream)


@lean
def _sweep(documents, assignments, counts, priors, scratch, stream):
    for d in range(documents.doc_start.shape[0] - 1):
        _sweep_document(documents, d, assignments, counts, priors, scratch, stream)


@lean
def _sweep_document(documents, d, assignments, counts, priors, scratch, stream):
    tokens, doc_start, author, author_start, _ = documents
    word_topic, topic, _, _ = counts
    n_topics = topic.shape[0]
    width = word_topic.shape[1]
    last_token = tokens.shape[0] - 1
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
        q = 0
        if n_slots == 1:
            own, sums = _weigh_one(counts, priors, scratch, w, k0)
            k = draw_lanes(scratch.running, sums, n_topics, k0, own, next_bits(stream))
        elif n_slots == 2:
            own, sums, scale0, scale1 = _weigh_two(counts, priors, scratch, w, k0, q0)
            k = draw_lanes(scratch.running, sums, n_topics, k0, own, next_bits(stream))
            q = _slot_of_two(scratch.rows, priors.alpha, scale0, scale1, k, k0, q0, next_bits(stream))
        else:
            whole_scale = scratch.scales[q0]
            own, sums = _weigh_many(counts, priors, scratch, n_slots, w, k0, q0)
            k = draw_lanes(scratch.running, sums, n_topics, k0, own, next_bits(stream))
            q = _slot_of_many(scratch, priors.alpha, n_slots, k, k0, q0, next_bits(stream))
            scratch.scales[q0] = whole_scale
        # By rounding, a topic of weight zero may be drawn, one that the word or the document may not have: the token
        # stays where it is.
        if k != k0 and (np.float32(word_topic[w, k]) + priors.beta[w]) * scratch.sides[0, k] <= _ZERO:
            k = k0
            q = q0
        if k != k0 or q != q0:
            assignments.topic[i] = k
            _move(counts, priors, scratch, author, first, n_slots, w, k0, k, q0, q)
        if q != q0:
            assignments.slot[i] = q
            _move_between_authors(documents, counts, priors, scratch, first, q0, q)


@compiled
def lane_weights(documents, assignments, counts, priors, d, i):
    """Weights from which ``sweep`` would draw the topic of token ``i`` of document ``d``; for tests.

    Uses the functions of the sweep itself, and leaves the state as it was.
    """
    return _weights(documents, assignments, counts, priors, _make_scratch(documents, counts, priors), d, i)


@compiled
def allowed_weights(documents, assignments, counts, priors, sets, doc_set, d, i):
    """``lane_weights`` for ``sweep_allowed``."""
    scratch = _make_scratch(documents, counts, priors)
    _allow(scratch, sets, doc_set[d])
    return _weights(documents, assignments, counts, priors, scratch, d, i)


@compiled
def _weights(documents, assignments, counts, priors, scratch, d, i):
    _open_document(documents, assignments, counts, priors, scratch, d)
    n_slots = documents.author_start[d + 1] - documents.author_start[d]
    w = np.int64(documents.tokens[i])
    k0 = np.int64(assignments.topic[i])
    q0 = np.int64(assignments.slot[i])
    if n_slots == 1:
        own, _ = _weigh_one(counts, priors, scratch, w, k0)
    elif n_slots == 2:
        own, _, _, _ = _weigh_two(counts, priors, scratch, w, k0, q0)
    else:
        own, _ = _weigh_many(counts, priors, scratch, n_slots, w, k0, q0)
    weights = differences(scratch.running, counts.topic.shape[0])
    weights[k0] += own
    return weights
