"""The sweep, compiled: tokens' topics in sixteen lanes, then the document's eta one component at a time.

``equations`` has the same conditionals in plain form. A token's topic has P(z = k) ∝ exp(eta[k]) · phi[w,k]. A
component of eta has a log-concave conditional, drawn exactly by rejection from three exponentials that touch it: no
auxiliary variables, no tuning, and no step that could be refused.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi.kernels import lanes
from topoi.kernels.counts import make_inverses, move_between_topics
from topoi.kernels.draw import differences, draw_lanes, scan_products, scratch_length
from topoi.kernels.jit import compiled, inlined, lean
from topoi.kernels.random import next_bits, uniform

_ZERO, _ONE = np.float32(0.0), np.float32(1.0)
# Steps towards the mode, distance from it (squared, in standard deviations) at which they end, and distance of the
# outer tangents, which is best for a Gaussian. None of these changes what is drawn, only how often a draw is refused.
_MOST_STEPS, _NEAR, _APART = 40, 0.09, math.sqrt(2.0)
# Refusals after which a component stays as it is; about four in five draws are accepted, so this never happens.
_MOST_REFUSALS = 1000
# The sum of the other topics' exp(eta) is a difference; below this share of the whole it is summed anew.
_LEAST_REST, _TINY = 0.01, 1e-300
# exp(eta) is taken relative to a top, which is chosen anew before it could overflow.
_HIGHEST = 300.0


class Documents(NamedTuple):
    """Consecutive documents: words, and the offset of each document's first."""

    tokens: NDArray[np.int32]
    doc_start: NDArray[np.int64]


class State(NamedTuple):
    """State that a sweep changes: tokens' topics, documents' eta (rows sum to zero), sums of their shares of topics."""

    topic: NDArray[np.uint16]
    eta: NDArray[np.float64]
    shares: NDArray[np.float32]


class Words(NamedTuple):
    """Dirichlet parameter of each word, and their sum."""

    beta: NDArray[np.float32]
    beta_sum: float


class Gaussian(NamedTuple):
    """Mean and precision of eta in the space of vectors that sum to zero: so do the mean and all rows."""

    mean: NDArray[np.float64]
    precision: NDArray[np.float64]


class Scratch(NamedTuple):
    """Scratch space for one document: ``power`` is exp(eta − top), ``pull`` the precision times (eta − mean)."""

    power: NDArray[np.float64]
    pull: NDArray[np.float64]
    number: NDArray[np.float64]
    side: NDArray[np.float32]
    sides: NDArray[np.float32]
    running: NDArray[np.float32]


@compiled
def make_scratch(n_topics):
    """Scratch space for ``n_topics`` topics."""
    width = -(-n_topics // 16) * 16
    running = lanes.aligned_floats(scratch_length(n_topics))
    for j in range(running.shape[0]):
        running[j] = np.inf
    return Scratch(
        np.zeros(n_topics),
        np.zeros(n_topics),
        np.zeros(n_topics),
        np.zeros(n_topics, np.float32),
        lanes.aligned_floats(width),
        running,
    )


@compiled
def sweep(documents, state, counts, words, gaussian, stream):
    """Draw every token's topic and every document's eta once; changes state, counts and stream.

    Cost: O(tokens × topics / 16 + documents × topics²).
    """
    _sweep(documents, state, counts, words, gaussian, 0.0, stream)


@compiled
def warm_up(documents, state, counts, words, gaussian, alpha, stream):
    """``sweep`` with tokens' topics drawn as in LDA with this alpha: from a random start, it finds topics sooner."""
    _sweep(documents, state, counts, words, gaussian, alpha, stream)


@compiled
def _sweep(documents, state, counts, words, gaussian, alpha, stream):
    scratch = make_scratch(counts.topic.shape[0])
    inverses = make_inverses(counts.topic, words.beta_sum, counts.word_topic.shape[1])
    _sweep_documents(documents, state, counts, words, gaussian, alpha, scratch, inverses, stream)


@lean
def _sweep_documents(documents, state, counts, words, gaussian, alpha, scratch, inverses, stream):
    n_topics = counts.topic.shape[0]
    for d in range(documents.doc_start.shape[0] - 1):
        if alpha > 0.0:
            count_topics(documents, d, state.topic, scratch.number)
            for k in range(n_topics):
                scratch.power[k] = scratch.number[k] + alpha
        else:
            set_power(state.eta, d, scratch.power)
        gain = _ONE if alpha > 0.0 else _ZERO
        sweep_tokens(documents, d, state.topic, counts, words, gain, scratch, inverses, stream)
        count_topics(documents, d, state.topic, scratch.number)
        total = draw_eta(state.eta, d, scratch.number, gaussian, scratch, stream)
        for k in range(n_topics):
            state.shares[d, k] += np.float32(scratch.power[k] / total)


@inlined
def count_topics(documents, d, topic, number):
    """Set ``number`` to how many of the document's tokens each topic has."""
    for k in range(number.shape[0]):
        number[k] = 0.0
    for i in range(documents.doc_start[d], documents.doc_start[d + 1]):
        number[np.int64(topic[i])] += 1.0


@inlined
def set_power(eta, d, power):
    """Set ``power`` to exp(eta − top) of a row of eta, the largest being one; return the top and the sum."""
    top = eta[d, 0]
    for k in range(power.shape[0]):
        top = max(top, eta[d, k])
    total = 0.0
    for k in range(power.shape[0]):
        power[k] = math.exp(eta[d, k] - top)
        total += power[k]
    return top, total


@inlined
def _set_sides(scratch, inverses):
    """Document sides of the draw: exp(eta), and the same over (topic[k] + W·beta)."""
    for k in range(scratch.power.shape[0]):
        scratch.side[k] = np.float32(scratch.power[k])
        scratch.sides[k] = scratch.side[k] * inverses.now[k]


@inlined
def _weigh(counts, words, gain, scratch, inverses, w, k0):
    """Running sums of the weights of all topics but the token's own, and the weight of that, the token left out."""
    width = counts.word_topic.shape[1]
    own = (np.float32(counts.word_topic[w, k0]) - _ONE + words.beta[w]) * inverses.less[k0] * (scratch.side[k0] - gain)
    sums = scan_products(counts.word_topic, w * width, words.beta[w], scratch.sides, k0, scratch.running, width)
    return own, sums


@lean
def sweep_tokens(documents, d, topic, counts, words, gain, scratch, inverses, stream):
    """Draw the topics of a document's tokens given ``power``, to which each adds ``gain``: none if it is exp(eta)."""
    tokens, doc_start = documents
    n_topics, width = counts.topic.shape[0], counts.word_topic.shape[1]
    last_token = tokens.shape[0] - 1
    _set_sides(scratch, inverses)
    for i in range(doc_start[d], doc_start[d + 1]):
        w = np.int64(np.uint32(tokens[i]))
        ahead = np.int64(np.uint32(tokens[min(i + 4, last_token)])) * width
        for j in range(0, width, 16):
            lanes.prefetch(counts.word_topic, ahead + j)
        k0 = np.int64(topic[i])
        own, sums = _weigh(counts, words, gain, scratch, inverses, w, k0)
        k = draw_lanes(scratch.running, sums, n_topics, k0, own, next_bits(stream))
        if k != k0:
            topic[i] = k
            counts.word_topic[w, k0] -= _ONE
            counts.word_topic[w, k] += _ONE
            move_between_topics(counts.topic, inverses, words.beta_sum, k0, k)
            scratch.side[k0] -= gain
            scratch.side[k] += gain
            scratch.sides[k0] = scratch.side[k0] * inverses.now[k0]
            scratch.sides[k] = scratch.side[k] * inverses.now[k]


@compiled
def token_weights(documents, state, counts, words, d, i):
    """Weights from which ``sweep`` would draw the topic of token ``i`` of document ``d``; for tests."""
    scratch = make_scratch(counts.topic.shape[0])
    inverses = make_inverses(counts.topic, words.beta_sum, counts.word_topic.shape[1])
    set_power(state.eta, d, scratch.power)
    _set_sides(scratch, inverses)
    k0 = np.int64(state.topic[i])
    own, _ = _weigh(counts, words, _ZERO, scratch, inverses, np.int64(documents.tokens[i]), k0)
    weights = differences(scratch.running, counts.topic.shape[0])
    weights[k0] += own
    return weights


@lean
def draw_eta(eta, d, number, gaussian, scratch, stream):
    """Draw the components of row ``d`` of eta in turn, given how many tokens each topic has; O(topics²).

    A component moves along e[k] while the others stay. The prior ignores a constant added to all of them, as the
    softmax does, so this is a Gibbs step along a line of the space of vectors that sum to zero; the row is centred in
    the end. Sets ``power`` to exp(eta − top) and returns its sum.
    """
    mean, precision = gaussian
    power, pull = scratch.power, scratch.pull
    n_topics = power.shape[0]
    top, total = set_power(eta, d, power)
    if n_topics == 1:
        return total
    n = 0.0
    for k in range(n_topics):
        n += number[k]
        pull[k] = 0.0
    for k in range(n_topics):
        apart = eta[d, k] - mean[k]
        for j in range(n_topics):
            pull[j] += apart * precision[k, j]
    for k in range(n_topics):
        rest = total - power[k]
        if rest < _LEAST_REST * total:
            rest = 0.0
            for j in range(n_topics):
                if j != k:
                    rest += power[j]
        now, own = eta[d, k], precision[k, k]
        against = top + math.log(max(rest, _TINY))
        new = draw_component(now, now - pull[k] / own, own, number[k], n, against, stream)
        eta[d, k] = new
        for j in range(n_topics):
            pull[j] += (new - now) * precision[k, j]
        if new - top > _HIGHEST:
            top, total = set_power(eta, d, power)
        else:
            power[k] = math.exp(new - top)
            total = rest + power[k]
    middle = 0.0
    for k in range(n_topics):
        middle += eta[d, k]
    for k in range(n_topics):
        eta[d, k] -= middle / n_topics
    _, total = set_power(eta, d, power)
    return total


@inlined
def _height_and_slope(x, centre, precision, own, n, against):
    """Log density of a component, up to a constant, and its derivative."""
    apart = x - centre
    small = math.exp(-abs(x - against))
    share = (1.0 if x > against else small) / (1.0 + small)
    height = own * x - 0.5 * precision * apart * apart - n * (max(x - against, 0.0) + math.log1p(small))
    return height, own - precision * apart - n * share


@lean
def _near_mode(x, centre, precision, own, n, against):
    """A point near the mode and the curvature there: Newton's steps, bisection where they leave the bracket."""
    low, high = centre + (own - n) / precision, centre + own / precision
    x = min(max(x, low), high)
    bend = precision
    for _ in range(_MOST_STEPS):
        share = 1.0 / (1.0 + math.exp(against - x))
        slope = own - precision * (x - centre) - n * share
        bend = precision + n * share * (1.0 - share)
        if slope * slope <= _NEAR * bend:
            break
        if slope > 0.0:
            low = x
        else:
            high = x
        x += slope / bend
        if not low < x < high:
            x = 0.5 * (low + high)
    return x, bend


@lean
def draw_component(start, centre, precision, own, n, against, stream):
    """Draw x with log density own·x − precision (x − centre)² / 2 − n log(1 + exp(x − against)).

    ``own`` of ``n`` tokens have the topic; ``against`` is the log of the sum of the others' exp(eta). The density is
    log-concave, so tangents lie above it: the proposal is made of those at three points about the mode, and is accepted
    by the distance between them and the density. Exact whatever the points; ``start`` is where the search begins.
    """
    middle, bend = _near_mode(start, centre, precision, own, n, against)
    width = _APART / math.sqrt(bend)
    height, slope = _height_and_slope(middle, centre, precision, own, n, against)
    left, right = middle - width, middle + width
    height_left, rise = _height_and_slope(left, centre, precision, own, n, against)
    while rise <= 0.0:
        left -= width
        height_left, rise = _height_and_slope(left, centre, precision, own, n, against)
    height_right, fall = _height_and_slope(right, centre, precision, own, n, against)
    while fall >= 0.0:
        right += width
        height_right, fall = _height_and_slope(right, centre, precision, own, n, against)
    # The tangents cross at ``first`` and ``last``; areas are relative to the density at the middle.
    first = (height - height_left + rise * left - slope * middle) / (rise - slope)
    last = (height_right - height + slope * middle - fall * right) / (slope - fall)
    at_first, at_last = math.exp(slope * (first - middle)), math.exp(slope * (last - middle))
    flat = abs(slope * (last - first)) < 1e-6
    area_left, area_right = at_first / rise, -at_last / fall
    area = 0.5 * (at_first + at_last) * (last - first) if flat else (at_last - at_first) / slope
    for _ in range(_MOST_REFUSALS):
        u = (1.0 - uniform(stream)) * (area_left + area + area_right)
        if u < area_left:
            x = first + math.log(u / area_left) / rise
            bound = height_left + rise * (x - left)
        elif u < area_left + area:
            v = (u - area_left) / area
            x = first + (v * (last - first) if flat else math.log1p(v * (at_last / at_first - 1.0)) / slope)
            bound = height + slope * (x - middle)
        else:
            v = (u - area_left - area) / area_right
            x = last + math.log(max(v, _TINY)) / fall
            bound = height_right + fall * (x - right)
        gap, _ = _height_and_slope(x, centre, precision, own, n, against)
        if math.log(1.0 - uniform(stream)) <= gap - bound:
            return x
    return start
