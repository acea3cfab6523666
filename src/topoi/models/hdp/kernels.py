"""The sweep of the hierarchical Dirichlet process in sixteen SIMD lanes, and the draws between two sweeps.

``equations`` has the same in plain form. Columns 0 to K − 1 of the counts are topics, and column K, without tokens, is
the next new one: with weight alpha · b[new] it has the same formula as the others (equation 1), so the draw among K
topics and a new one is the draw of LDA among K + 1. A topic that loses its last token keeps its column and its weight
until the sweep has ended.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi.kernels import lanes
from topoi.kernels.counts import Inverses, inverse, make_inverses, move_between_topics
from topoi.kernels.dirichlet import log_rising
from topoi.kernels.draw import differences, draw_lanes, scan_products, scratch_length
from topoi.kernels.jit import compiled, inlined, lean
from topoi.kernels.random import next_bits, uniform
from topoi.kernels.special import log_dirichlet, log_gamma

_ONE = np.float32(1.0)
_ZERO = np.float32(0.0)


_NO_SETS, _NOBODY = np.zeros((1, 0), np.float32), np.zeros(0, np.int32)


class Words(NamedTuple):
    """Documents as flat tokens, and the topic's prior of each word with its sum.

    Document ``d`` may have the first topics where ``sets[doc_set[d]]`` is one, and all topics beyond.
    """

    tokens: NDArray[np.int32]
    doc_start: NDArray[np.int64]
    beta: NDArray[np.float32]
    beta_sum: float
    sets: NDArray[np.float32] = _NO_SETS
    doc_set: NDArray[np.int32] = _NOBODY


class TopicCounts(NamedTuple):
    """Whole tokens by word and topic, and by topic; columns beyond the topics are zero, room for new ones."""

    word_topic: NDArray[Any]
    topic: NDArray[np.float64]


class Scratch(NamedTuple):
    """Scratch space for one document: its counts, (counts + weights) / (topic + Σ beta), and running sums."""

    row: NDArray[np.float32]
    side: NDArray[np.float32]
    running: NDArray[np.float32]
    inverses: Inverses


@compiled
def _make_scratch(words, counts):
    width = counts.word_topic.shape[1]
    scratch = Scratch(
        lanes.aligned_floats(width),
        lanes.aligned_floats(width),
        lanes.aligned_floats(scratch_length(width)),
        make_inverses(counts.topic, words.beta_sum, width),
    )
    for j in range(scratch.running.shape[0]):
        scratch.running[j] = np.inf
    return scratch


@inlined
def _open_document(words, topic, weights, scratch, d, n):
    """Count the topics of a document, and set ``side`` for the first ``n`` columns."""
    for k in range(scratch.row.shape[0]):
        scratch.row[k] = _ZERO
    for i in range(words.doc_start[d], words.doc_start[d + 1]):
        scratch.row[topic[i]] += _ONE
    for k in range(words.sets.shape[1]):
        # No token of the document can move from or to such a topic, so nothing else sets its inverse.
        if words.sets[words.doc_set[d], k] == _ZERO:
            scratch.inverses.now[k] = _ZERO
    for k in range(n):
        _set_side(weights, scratch, k)


@inlined
def _close_document(words, counts, scratch, d):
    """Set the inverses again of the topics that the document may not have."""
    for k in range(words.sets.shape[1]):
        if words.sets[words.doc_set[d], k] == _ZERO:
            scratch.inverses.now[k] = inverse(counts.topic[k], words.beta_sum)


@inlined
def _set_side(weights, scratch, k):
    scratch.side[k] = (scratch.row[k] + weights[k]) * scratch.inverses.now[k]


@inlined
def _weigh(words, counts, weights, scratch, w, k0, n):
    """Running sums of equation 1 over ``n`` columns without the token's own topic, whose weight is returned first."""
    word = (np.float32(counts.word_topic[w, k0]) - _ONE + words.beta[w]) * scratch.inverses.less[k0]
    own = word * (scratch.row[k0] - _ONE + weights[k0])
    width = counts.word_topic.shape[1]
    scanned = (n + 15) & ~15
    sums = scan_products(counts.word_topic, w * width, words.beta[w], scratch.side, k0, scratch.running, scanned)
    return own, sums


@inlined
def _move(words, counts, weights, scratch, w, k0, k):
    """Record that a token moves from topic ``k0`` to another topic ``k``."""
    scratch.row[k0] -= _ONE
    scratch.row[k] += _ONE
    counts.word_topic[w, k0] -= _ONE
    counts.word_topic[w, k] += _ONE
    move_between_topics(counts.topic, scratch.inverses, words.beta_sum, k0, k)
    _set_side(weights, scratch, k0)


@inlined
def break_stick(weights, n_topics, gamma, stream):
    """Divide the weight of new topics: the share Beta(1, gamma) stays with column ``n_topics``, the rest moves on."""
    kept = math.exp(math.log(1.0 - uniform(stream)) / gamma)
    rest = np.float64(weights[n_topics])
    weights[n_topics] = rest * (1.0 - kept)
    weights[n_topics + 1] = rest * kept


@compiled
def sweep(words, topic, counts, weights, n_topics, most, gamma, d, i, stream):
    """Draw the topics of all tokens from token ``i`` of document ``d`` on; changes all but the words.

    Returns the document and the token to go on with, and the number of topics. It ends early, for the caller to widen
    the counts, when the last column has become a topic. Once there are ``most`` topics there are no new ones.
    Cost: O(tokens × topics / 16).
    """
    return _sweep(words, topic, counts, weights, n_topics, most, gamma, d, i, _make_scratch(words, counts), stream)


@lean
def _sweep(words, topic, counts, weights, n_topics, most, gamma, d, i, scratch, stream):
    tokens, doc_start, _, _, _, _ = words
    width, last_token = counts.word_topic.shape[1], tokens.shape[0] - 1
    while d < doc_start.shape[0] - 1:
        n = min(n_topics + 1, most)
        _open_document(words, topic, weights, scratch, d, n)
        while i < doc_start[d + 1]:
            w = np.int64(np.uint32(tokens[i]))
            ahead = np.int64(np.uint32(tokens[min(i + 4, last_token)])) * width
            for j in range(0, n, 16):
                lanes.prefetch(counts.word_topic, ahead + j)
            k0 = np.int64(topic[i])
            own, sums = _weigh(words, counts, weights, scratch, w, k0, n)
            k = draw_lanes(scratch.running, sums, n, k0, own, next_bits(stream))
            i += 1
            # By rounding, a topic of weight zero may be drawn, one that the word or the document may not have: the
            # token stays where it is.
            if k == k0 or (np.float32(counts.word_topic[w, k]) + words.beta[w]) * scratch.side[k] <= _ZERO:
                continue
            topic[i - 1] = k
            _move(words, counts, weights, scratch, w, k0, k)
            if k == n_topics:
                break_stick(weights, n_topics, gamma, stream)
                n_topics += 1
                if n_topics == width and width < most:
                    return d, i, n_topics
                if n_topics < min(most, width):
                    _set_side(weights, scratch, n_topics)
                n = min(n_topics + 1, most)
            _set_side(weights, scratch, k)
        _close_document(words, counts, scratch, d)
        d += 1
    return d, i, n_topics


@compiled
def lane_weights(words, topic, counts, weights, n, d, i):
    """Weights from which ``sweep`` would draw the topic of token ``i`` of document ``d``; for tests."""
    scratch = _make_scratch(words, counts)
    _open_document(words, topic, weights, scratch, d, n)
    k0 = np.int64(topic[i])
    own, _ = _weigh(words, counts, weights, scratch, np.int64(words.tokens[i]), k0, n)
    found = differences(scratch.running, n)
    found[k0] += own
    return found


@compiled
def start(topic, n_topics, stream):
    """Give every token one of ``n_topics`` topics at random."""
    for i in range(topic.shape[0]):
        topic[i] = np.int64(uniform(stream) * n_topics)


@lean
def count(tokens, topic, counts):
    """Count every token under its topic; the counts are zero before."""
    for i in range(tokens.shape[0]):
        counts.word_topic[tokens[i], topic[i]] += _ONE
        counts.topic[topic[i]] += 1


@compiled
def reorder(counts, order, n_before):
    """Give column ``order[j]`` the number j; columns that are not in ``order`` have no tokens."""
    row = np.zeros(n_before, counts.word_topic.dtype)
    for w in range(counts.word_topic.shape[0]):
        for k in range(n_before):
            row[k] = counts.word_topic[w, k]
            counts.word_topic[w, k] = _ZERO
        for j in range(order.shape[0]):
            counts.word_topic[w, j] = row[order[j]]


@lean
def renumber(topic, place):
    """Set every token's topic to its new number."""
    for i in range(topic.shape[0]):
        topic[i] = place[topic[i]]


@lean
def renumbered(sample, place, topic, found):
    """Set ``found`` to a sample in new numbers; tokens of topics that are gone (place -1) take those in ``topic``."""
    for i in range(sample.shape[0]):
        k = place[sample[i]]
        found[i] = topic[i] if k < 0 else k


@compiled
def draw_tables(doc_start, topic, weights, n_topics, stream):
    """Tables of every topic, drawn given the topics: per document a sum of Bernoulli draws (equation 2); O(tokens)."""
    tables, number = np.zeros(n_topics, np.int64), np.zeros(n_topics, np.int64)
    for d in range(doc_start.shape[0] - 1):
        for i in range(doc_start[d], doc_start[d + 1]):
            # Token j of a topic in a document opens a table with probability w / (w + j), the first one always.
            k = np.int64(topic[i])
            weight = np.float64(weights[k])
            if number[k] == 0 or uniform(stream) * (weight + number[k]) < weight:
                tables[k] += 1
            number[k] += 1
        for i in range(doc_start[d], doc_start[d + 1]):
            number[topic[i]] = 0
    return tables


@inlined
def _log_beta(a, b, stream):
    """Log of a draw from Beta(a, b)."""
    x, y = log_gamma(stream, a), log_gamma(stream, b)
    largest = max(x, y)
    return x - largest - math.log(math.exp(x - largest) + math.exp(y - largest))


@compiled
def draw_gamma(gamma, n_topics, n_tables, shape, rate, stream):
    """Draw gamma given the numbers of topics and tables, by Escobar and West's auxiliary variable (equation 4)."""
    rate -= _log_beta(gamma + 1.0, np.float64(n_tables), stream)
    odds = (shape + n_topics - 1.0) / (n_tables * rate)
    shape += n_topics - (0.0 if uniform(stream) * (1.0 + odds) < odds else 1.0)
    return math.exp(log_gamma(stream, shape)) / rate


@compiled
def draw_gamma_named(gamma, n_named, n_others, n_tables, shape, rate, stream):
    """Draw gamma where ``n_named`` topics have a phantom table each, ``n_others`` have none (equation 4 of the named).

    Γ(gamma + L) / Γ(gamma + L + m) is an integral over eta in (0, 1) of eta^(gamma + L − 1) (1 − eta)^(m − 1): given
    eta, gamma has a gamma distribution.
    """
    rate -= _log_beta(gamma + n_named, np.float64(n_tables), stream)
    return math.exp(log_gamma(stream, shape + n_others)) / rate


@compiled
def draw_alpha(alpha, lengths, n_tables, shape, rate, stream):
    """Draw alpha given the documents' lengths and the number of tables, by auxiliary variables (equation 5)."""
    shape += n_tables
    for d in range(lengths.shape[0]):
        if lengths[d] > 0:
            rate -= _log_beta(alpha + 1.0, np.float64(lengths[d]), stream)
            shape -= 1.0 if uniform(stream) * (lengths[d] + alpha) < lengths[d] else 0.0
    return math.exp(log_gamma(stream, shape)) / rate


@compiled
def draw_shares(tables, gamma, stream):
    """Shares of the topics, and of all new ones together last, drawn from Dirichlet(tables, gamma) (equation 3)."""
    n = tables.shape[0]
    parameters, found = np.empty(n + 1), np.empty(n + 1)
    for k in range(n):
        parameters[k] = tables[k]
    parameters[n] = gamma
    log_dirichlet(stream, parameters, n + 1, found)
    for k in range(n + 1):
        found[k] = math.exp(found[k])
    return found


@compiled
def log_documents(doc_start, topic, weights, n_topics, alpha):
    """log P(topics of all tokens | alpha, b): a Dirichlet-multinomial per document."""
    number, total = np.zeros(n_topics, np.int64), 0.0
    for d in range(doc_start.shape[0] - 1):
        total -= log_rising(np.float64(doc_start[d + 1] - doc_start[d]), alpha)
        for i in range(doc_start[d], doc_start[d + 1]):
            number[topic[i]] += 1
        for i in range(doc_start[d], doc_start[d + 1]):
            k = topic[i]
            total += log_rising(np.float64(number[k]), np.float64(weights[k]))
            number[k] = 0
    return total
