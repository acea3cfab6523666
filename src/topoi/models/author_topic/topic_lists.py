"""The LDA sweep over lists of the documents' topics: the fast form for many topics.

A document of a hundred words is in a few dozen topics, however many there are. With
phi[k] = (word_topic[w,k] + beta) / (topic[k] + W·beta) the weights of a token's topics are

    (n[d,k] + alpha[k]) · phi[k]  =  n[d,k] · phi[k]  +  alpha[k] · phi[k]

The first part is zero outside the document's list. The sum of the second is the same for all documents, so it is kept
up to date while a word's tokens are visited one after the other. The token's own topic is left out of both: its weight
is the only one that changes when the token is removed, and is computed apart. Most draws end in the own topic or in the
list; the others first draw a part of the topics by the part's sum. It is the same Gibbs sampler as ``kernels.sweep``
with the tokens visited in another order: equally exact.

Between words, phi is beta / (topic[k] + W·beta) for every topic. A word changes the entries of its own topics and puts
them back in the end, so that a rare word costs little. Sums are in float64 and are computed anew every few words.
"""

# numba infers the types of compiled loops.
# mypy: allow-untyped-defs, allow-incomplete-defs, no-check-untyped-defs
from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi.kernels import lanes
from topoi.kernels.counts import Inverses, make_inverses, move_between_topics
from topoi.kernels.draw import draw_lanes, scratch_length
from topoi.kernels.jit import compiled, inlined, lean
from topoi.kernels.random import next_bits, uniform
from topoi.models.author_topic import lines
from topoi.models.author_topic.lines import PART, PART_BITS

_ONE = np.float32(1.0)
_ZERO = np.float32(0.0)
# Words between two computations of all sums from the start.
_REFRESH = 64
# Tokens between a prefetch of a document's list and its use.
_AHEAD = 6


class Word(NamedTuple):
    """The current word: ``phi`` per topic, and ``mass``, Σ alpha · phi for each part of the topics and, last, for all.

    ``alpha`` is padded to whole parts. ``opened`` are the word's topics when it was opened. ``running`` and ``listed``
    are scratch for running sums in lanes, over a part's topics and over a document's list.
    """

    phi: NDArray[np.float32]
    mass: NDArray[np.float64]
    alpha: NDArray[np.float32]
    opened: NDArray[np.uint16]
    running: NDArray[np.float32]
    listed: NDArray[np.float32]
    inverses: Inverses


@compiled
def make_lists(runs, topic_of, doc_length, n_topics):
    """Lists of the topics of documents with ``doc_length`` tokens each, in order of first appearance in the runs."""
    n_docs = doc_length.shape[0]
    first = np.zeros(n_docs + 1, np.int64)
    for d in range(n_docs):
        first[d + 1] = first[d] + (min(doc_length[d], n_topics) + 15) // 16
    lists = lines.empty_lists(first, first[n_docs], n_topics)
    _fill(lists, runs.doc, topic_of)
    return lists


@lean
def _fill(lists, doc, topic_of):
    for i in range(doc.shape[0]):
        _prefetch(lists, doc, i + _AHEAD)
        lines.add(lists, np.int64(np.uint32(doc[i])), np.int64(topic_of[i]))


@inlined
def _prefetch(lists, doc, i):
    """Fetch the first three lines of the list of a later token's document."""
    if i < doc.shape[0]:
        at = 32 * lists.first[np.uint32(doc[i])]
        lanes.prefetch(lists.line, at)
        lanes.prefetch(lists.line, at + 32)
        lanes.prefetch(lists.line, at + 64)


@compiled
def mean_lines(topic_of, at, start, room):
    """Lines of sixteen topics in the list of a token's document, on average over some documents' tokens.

    Document d has tokens ``at[start[d]:start[d + 1]]``; ``room`` is scratch, one zero per topic.
    """
    total = 0
    for d in range(start.shape[0] - 1):
        n = 0
        for j in range(start[d], start[d + 1]):
            k = topic_of[at[j]]
            n += room[k] == 0
            room[k] = 1
        for j in range(start[d], start[d + 1]):
            room[topic_of[at[j]]] = 0
        total += ((n + 15) >> 4) * (start[d + 1] - start[d])
    return total / max(start[-1], 1)


@compiled
def make_word(counts, priors, longest):
    """Scratch space for documents of at most ``longest`` tokens."""
    n_topics = counts.topic.shape[0]
    width = counts.word_topic.shape[1]
    n_parts = lines.n_parts(n_topics)
    word = Word(
        lanes.aligned_floats(PART * n_parts + 16),
        np.zeros(n_parts + 1),
        lanes.aligned_floats(PART * n_parts),
        np.zeros(width, np.uint16),
        lanes.aligned_floats(scratch_length(PART)),
        lanes.aligned_floats(min(longest, n_topics) + 16),
        make_inverses(counts.topic, priors.beta_sum, width),
    )
    word.alpha[:width] = priors.alpha
    word.running[:] = np.inf
    return word


@inlined
def _close_all(word, n_topics, beta):
    """Set phi of all topics to that of a word without tokens, and sum it anew."""
    for k in range(n_topics):
        word.phi[k] = beta * word.inverses.now[k]
    n_parts = word.mass.shape[0] - 1
    for s in range(n_parts):
        a = b = c = d = 0.0
        for k in range(PART * s, PART * (s + 1), 4):
            a += np.float64(word.alpha[k]) * word.phi[k]
            b += np.float64(word.alpha[k + 1]) * word.phi[k + 1]
            c += np.float64(word.alpha[k + 2]) * word.phi[k + 2]
            d += np.float64(word.alpha[k + 3]) * word.phi[k + 3]
        word.mass[s] = (a + b) + (c + d)
    _sum_parts(word)


@inlined
def _sum_parts(word):
    n_parts = word.mass.shape[0] - 1
    word.mass[n_parts] = 0.0
    for s in range(n_parts):
        word.mass[n_parts] += word.mass[s]


@inlined
def _set_phi(word, k, value):
    """Set phi of one topic, and its part's mass; return the change of mass."""
    change = np.float64(word.alpha[k]) * (np.float64(value) - np.float64(word.phi[k]))
    word.phi[k] = value
    word.mass[k >> PART_BITS] += change
    return change


@inlined
def _open(word, word_topic, w, beta):
    """Set phi of the topics of word ``w``; return their number."""
    width = word_topic.shape[1]
    n = 0
    for first in range(0, width, 16):
        bits = lanes.nonzero(lanes.load(word_topic, w * width + first))
        while bits != 0:
            k = first + lanes.lowest(bits)
            bits &= bits - 1
            word.opened[n] = k
            n += 1
            _set_phi(word, k, (np.float32(word_topic[w, k]) + beta) * word.inverses.now[k])
    _sum_parts(word)
    return n


@inlined
def _close(word, n_opened, topic_of, first, last, n_topics, beta):
    """Set phi of the word's topics, those it had and those its tokens ``first`` to ``last`` have now, back."""
    if last - first > n_topics:
        _close_all(word, n_topics, beta)
        return
    for j in range(n_opened):
        k = np.int64(word.opened[j])
        _set_phi(word, k, beta * word.inverses.now[k])
    for i in range(first, last):
        k = np.int64(topic_of[i])
        _set_phi(word, k, beta * word.inverses.now[k])


@inlined
def _scan(word, lists, d, k0):
    """Running lane sums of number · phi over a document's list, and the position there of topic ``k0``."""
    sums = lanes.splat(_ZERO)
    first = 32 * lists.first[d]
    own_at = first
    for j in range(lines.n_lines(lists, d)):
        at = first + 32 * j
        number = lanes.load_uint16(lists.line, at + 16)
        sums = lanes.add(sums, lanes.mul(number, lanes.gather(word.phi, lists.line, at)))
        lanes.store(word.listed, 16 * j, sums)
        p = lanes.find_uint16(lists.line, at, k0)
        own_at = at + p if p < 16 else own_at
    return sums, own_at


@inlined
def _own_weight(word, lists, word_topic, w, k0, own_at, beta):
    """Weight of the token's own topic with the token left out."""
    rest = np.float32(lists.line[own_at + 16]) - _ONE + word.alpha[k0]
    return np.float64(rest * ((np.float32(word_topic[w, k0]) - _ONE + beta) * word.inverses.less[k0]))


@inlined
def _draw_inside(word, lists, d, sums, upto, left):
    """Draw a position in a document's list: the lane by the lanes' sums ``upto`` each, then the line within it."""
    bound = np.float32(left)
    lane = min(lanes.count_at_most(upto, lanes.splat(bound)), 15)
    bound -= lanes.get(upto, lane) - lanes.get(sums, lane)
    line = 0
    for j in range(lines.n_lines(lists, d) - 1):
        line += word.listed[16 * j + lane] <= bound
    return 32 * (lists.first[d] + line) + lane


@inlined
def _draw_outside(word, n_topics, left, bits):
    """Draw a topic with probability proportional to alpha · phi: its part by ``left``, then the topic by ``bits``."""
    s = 0
    while s < word.mass.shape[0] - 2 and left >= word.mass[s]:
        left -= word.mass[s]
        s += 1
    first = s << PART_BITS
    sums = lanes.splat(_ZERO)
    for j in range(0, PART, 16):
        sums = lanes.add(sums, lanes.mul(lanes.load(word.alpha, first + j), lanes.load(word.phi, first + j)))
        lanes.store(word.running, j, sums)
    return first + draw_lanes(word.running, sums, min(PART, n_topics - first), 0, _ZERO, bits)


@compiled
def sweep_lists(runs, topic_of, counts, priors, doc_length, stream):
    """One exact LDA sweep over word runs; changes topics (in run order), word and topic counts, and stream.

    Cost: O(topics of the document / 16) per token, O(topics / 16) per word.
    """
    longest = 0
    for d in range(doc_length.shape[0]):
        longest = max(longest, doc_length[d])
    lists = make_lists(runs, topic_of, doc_length, counts.topic.shape[0])
    word = make_word(counts, priors, longest)
    _sweep(runs, topic_of, counts, priors, lists, word, stream)


@lean
def _sweep(runs, topic_of, counts, priors, lists, word, stream):
    n_topics = counts.topic.shape[0]
    for r in range(runs.word.shape[0]):
        beta = priors.beta[runs.word[r]]
        if r % _REFRESH == 0 or priors.beta[runs.word[r - 1]] != beta:
            _close_all(word, n_topics, beta)
        w = np.int64(runs.word[r])
        n_opened = _open(word, counts.word_topic, w, beta)
        first, last = runs.start[r], runs.start[r + 1]
        for i in range(first, last):
            _prefetch(lists, runs.doc, i + _AHEAD)
            _sample_token(runs, i, w, topic_of, counts, priors, lists, word, beta, stream)
        _close(word, n_opened, topic_of, first, last, n_topics, beta)


@inlined
def _sample_token(runs, i, w, topic_of, counts, priors, lists, word, beta, stream):
    d = np.int64(np.uint32(runs.doc[i]))
    k0 = np.int64(topic_of[i])
    rest = word.mass.shape[0] - 1
    phi0 = word.phi[k0]
    mass0 = np.float64(word.alpha[k0]) * phi0
    word.phi[k0] = _ZERO
    sums, own_at = _scan(word, lists, d, k0)
    upto = lanes.prefix(sums)
    inside = np.float64(lanes.get(upto, 15))
    own = _own_weight(word, lists, counts.word_topic, w, k0, own_at, beta)
    left = uniform(stream) * (own + inside + (word.mass[rest] - mass0)) - own
    k = k0
    if left >= inside:
        word.mass[k0 >> PART_BITS] -= mass0
        k = _draw_outside(word, counts.topic.shape[0], left - inside, next_bits(stream))
        word.mass[k0 >> PART_BITS] += mass0
        # By rounding, a topic that the word is banned from may be drawn: it stays where it is.
        k = k if word.phi[k] > _ZERO else k0
        if k != k0:
            lines.take(lists, d, own_at)
            lines.add(lists, d, k)
    elif left >= 0.0:
        at = _draw_inside(word, lists, d, sums, upto, left)
        # By rounding, an unused place may be drawn, or a topic that weighs nothing here: the own one, or one that the
        # word is banned from.
        if lists.line[at] != lists.unused[0] and word.phi[lists.line[at]] > _ZERO:
            k = np.int64(lists.line[at])
            lists.line[at + 16] += np.uint16(1)
            lines.take(lists, d, own_at)
    word.phi[k0] = phi0
    if k != k0:
        topic_of[i] = k
        counts.word_topic[w, k0] -= _ONE
        counts.word_topic[w, k] += _ONE
        move_between_topics(counts.topic, word.inverses, priors.beta_sum, k0, k)
        change = _set_phi(word, k0, (np.float32(counts.word_topic[w, k0]) + beta) * word.inverses.now[k0])
        change += _set_phi(word, k, (np.float32(counts.word_topic[w, k]) + beta) * word.inverses.now[k])
        word.mass[rest] += change


@compiled
def listed_weights(runs, i, w, topic_of, counts, priors, doc_length):
    """Weights from which ``sweep_lists`` would draw a topic for token ``i`` of word ``w``; for tests."""
    n_topics = counts.topic.shape[0]
    d = runs.doc[i]
    k0 = np.int64(topic_of[i])
    lists = make_lists(runs, topic_of, doc_length, n_topics)
    word = make_word(counts, priors, doc_length.max())
    _close_all(word, n_topics, priors.beta[w])
    _open(word, counts.word_topic, w, priors.beta[w])
    phi0 = word.phi[k0]
    word.phi[k0] = _ZERO
    sums, own_at = _scan(word, lists, d, k0)
    outside = word.mass[-1] - np.float64(word.alpha[k0]) * phi0
    weights = word.alpha[:n_topics] * word.phi[:n_topics].astype(np.float64)
    weights *= outside / weights.sum() if outside > 0.0 else 0.0
    for n in range(lists.length[d]):
        k = np.int64(lists.line[lines.place(lists, d, n)])
        before = np.float64(word.listed[n - 16]) if n >= 16 else 0.0
        weights[k] += np.float64(word.listed[n]) - before
    weights[k0] = _own_weight(word, lists, counts.word_topic, w, k0, own_at, priors.beta[w])
    return weights
