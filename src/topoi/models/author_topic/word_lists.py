"""The author-topic sweep over lists of the words' topics: the fast form for many topics.

Once topics have settled, a word is in a few dozen of them, however many there are. With
g[a] = weight[d,a] / (author[a] + Σ alpha), and

    side[k]  =  Σ over the document's authors a of  g[a] · (author_topic[a,k] + alpha[k]) / (topic[k] + W·beta)

the weights of a token's topics are

    (word_topic[w,k] + beta) · side[k]  =  word_topic[w,k] · side[k]  +  beta · side[k]

The first part is zero outside the word's list. The sum of the second is beta times a number that is kept up to date
while a document's tokens are visited. The token's own topic is left out of both and weighed apart.

A token that moves changes ``side`` at two topics; but if it changes its author, g of two authors, and so every entry.
Therefore ``side`` is made of bounds, somewhat larger than g, and made anew only when g exceeds them. Topic and author
are drawn with the bounds, and the pair is kept with probability g / bound, otherwise drawn again: it then has exactly
the probabilities that g gives. A document's only author needs none of this, since the factor cancels.

Words in very many topics have no list: their row of counts is scanned. It is the same Gibbs sampler as
``kernels.sweep``, equally exact, with other random numbers.
"""

# numba infers the types of compiled loops.
# mypy: allow-untyped-defs, allow-incomplete-defs, no-check-untyped-defs
from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi.kernels import lanes
from topoi.kernels.counts import Inverses, make_inverses, most_authors, move_between_topics
from topoi.kernels.draw import draw_lanes, scratch_length
from topoi.kernels.jit import compiled, inlined, lean
from topoi.kernels.random import high_float, low_float, next_bits, uniform
from topoi.models.author_topic import lines
from topoi.models.author_topic.equations import recount_private_author
from topoi.models.author_topic.lines import PART, PART_BITS
from topoi.models.author_topic.listed_words import fetch_later, make_word_lists, write_back

_ONE = np.float32(1.0)
_ZERO = np.float32(0.0)
# Share of an author's tokens and alpha by which its number of tokens may fall before its bound is made anew.
_SLACK = 0.0625


class Document(NamedTuple):
    """The current document: ``side`` per topic, and ``mass``, its sum over each part of the topics and, last, over all.

    ``bound`` are the authors' factors in ``side``, which hold from ``fewest`` tokens on; with more than ``most`` they
    would be needlessly large. ``stale[0]`` tells that they must be made anew before the next token. ``share`` has
    running sums over authors; ``running`` and ``listed`` are scratch for running sums in lanes, over a part's topics
    and over a word's.
    """

    side: NDArray[np.float32]
    mass: NDArray[np.float64]
    bound: NDArray[np.float32]
    fewest: NDArray[np.float64]
    most: NDArray[np.float64]
    stale: NDArray[np.int64]
    share: NDArray[np.float32]
    running: NDArray[np.float32]
    listed: NDArray[np.float32]
    inverses: Inverses


@compiled
def make_document(documents, counts, priors):
    """Scratch space for sampling these documents."""
    width = counts.word_topic.shape[1]
    n_parts = lines.n_parts(counts.topic.shape[0])
    most = most_authors(documents)
    document = Document(
        lanes.aligned_floats(PART * n_parts + 16),
        np.zeros(n_parts + 1),
        lanes.aligned_floats(most),
        np.zeros(most),
        np.zeros(most),
        np.zeros(1, np.int64),
        lanes.aligned_floats(most),
        lanes.aligned_floats(scratch_length(PART)),
        lanes.aligned_floats(width + 16),
        make_inverses(counts.topic, priors.beta_sum, width),
    )
    for j in range(document.running.shape[0]):
        document.running[j] = np.inf
    return document


@inlined
def _set_bounds(documents, d, counts, priors, document, q0):
    """Set the authors' bounds, such that that of author ``q0`` holds with one token less."""
    first = documents.author_start[d]
    n_slots = documents.author_start[d + 1] - first
    document.stale[0] = 0
    if n_slots == 1:
        document.bound[0] = _ONE
        document.fewest[0] = 0.0
        return
    for q in range(n_slots):
        n = counts.author[documents.author[first + q]]
        slack = np.floor(_SLACK * (n + priors.alpha_sum))
        document.fewest[q] = max(n - slack, 0.0)
        document.most[q] = n + 2.0 * slack
        if q == q0 and document.fewest[q] > n - 1.0:
            # This author has so few tokens that one more or less makes a great difference to the bound.
            document.fewest[q] = n - 1.0
            document.stale[0] = 1
        document.bound[q] = documents.author_weight[first + q] / np.float32(document.fewest[q] + priors.alpha_sum)


@inlined
def _open(documents, d, counts, priors, document, q0):
    """Set bounds, ``side`` and ``mass`` before a token of author ``q0``; O(authors × topics / 16)."""
    _set_bounds(documents, d, counts, priors, document, q0)
    first = documents.author_start[d]
    n_slots = documents.author_start[d + 1] - first
    width = counts.word_topic.shape[1]
    n_parts = document.mass.shape[0] - 1
    document.mass[n_parts] = 0.0
    for s in range(n_parts):
        sums = lanes.splat(_ZERO)
        for j in range(s << PART_BITS, min((s + 1) << PART_BITS, width), 16):
            side = lanes.splat(_ZERO)
            for q in range(n_slots):
                at = np.int64(documents.author[first + q]) * width + j
                number = lanes.add(lanes.load(counts.author_topic, at), lanes.load(priors.alpha, j))
                side = lanes.add(side, lanes.mul(lanes.splat(document.bound[q]), number))
            side = lanes.mul(side, lanes.load(document.inverses.now, j))
            lanes.store(document.side, j, side)
            sums = lanes.add(sums, side)
        document.mass[s] = np.float64(lanes.get(lanes.prefix(sums), 15))
        document.mass[n_parts] += document.mass[s]


@inlined
def _sum_shares(documents, d, counts, priors, document, k, left_out):
    """Set ``share``: running sums over authors of bound · (author_topic + alpha); return the last.

    One token of author ``left_out`` is not counted; -1 is no author.
    """
    first = documents.author_start[d]
    total = _ZERO
    for q in range(documents.author_start[d + 1] - first):
        own = _ONE if q == left_out else _ZERO
        number = np.float32(counts.author_topic[documents.author[first + q], k])
        total += document.bound[q] * (number - own + priors.alpha[k])
        document.share[q] = total
    return total


@inlined
def _set_side(documents, d, counts, priors, document, k):
    """Compute ``side`` of one topic anew."""
    value = _sum_shares(documents, d, counts, priors, document, k, -1) * document.inverses.now[k]
    change = np.float64(value) - np.float64(document.side[k])
    document.side[k] = value
    document.mass[k >> PART_BITS] += change
    document.mass[-1] += change


@inlined
def _scan(document, lists, word_topic, w, k0):
    """Running lane sums of word_topic · side; the last ones, the number of lines, and the position of ``k0``."""
    sums = lanes.splat(_ZERO)
    own_at = -1
    if lists.first[w] < 0:
        width = word_topic.shape[1]
        for j in range(0, width, 16):
            number = lanes.load(word_topic, w * width + j)
            sums = lanes.add(sums, lanes.mul(number, lanes.load(document.side, j)))
            lanes.store(document.listed, j, sums)
        return sums, width >> 4, own_at
    n_lines = lines.n_lines(lists, w)
    for j in range(n_lines):
        at = 32 * (lists.first[w] + j)
        number = lanes.load_uint16(lists.line, at + 16)
        sums = lanes.add(sums, lanes.mul(number, lanes.gather(document.side, lists.line, at)))
        lanes.store(document.listed, 16 * j, sums)
        p = lanes.find_uint16(lists.line, at, k0)
        own_at = at + p if p < 16 else own_at
    return sums, n_lines, own_at


@inlined
def _own_weight(documents, d, counts, priors, lists, document, w, k0, q0, own_at):
    """Weight of the token's own topic, drawn with the bounds, with the token left out."""
    number = np.float32(lists.line[own_at + 16]) if own_at >= 0 else np.float32(counts.word_topic[w, k0])
    word = (number - _ONE + priors.beta[w]) * document.inverses.less[k0]
    return np.float64(word * _sum_shares(documents, d, counts, priors, document, k0, q0))


@inlined
def _line_of(listed, n_lines, lane, bound):
    """Number of the line in which a lane's running sums pass ``bound``: every eighth line first, then eight."""
    line = 0
    for j in range(7, n_lines - 1, 8):
        line += 8 * (listed[16 * j + lane] <= bound)
    for j in range(line, min(line + 8, n_lines - 1)):
        line += listed[16 * j + lane] <= bound
    return line


@inlined
def _draw_inside(document, lists, w, sums, upto, n_lines, left):
    """Draw one of the word's topics by the lanes' sums ``upto`` each; the topic and its position, -1 without a list."""
    bound = np.float32(left)
    lane = min(lanes.count_at_most(upto, lanes.splat(bound)), 15)
    line = _line_of(document.listed, n_lines, lane, bound - (lanes.get(upto, lane) - lanes.get(sums, lane)))
    if lists.first[w] < 0:
        return 16 * line + lane, -1
    at = 32 * (lists.first[w] + line) + lane
    return np.int64(lists.line[at]), at


@inlined
def _draw_outside(document, n_topics, left, bits):
    """Draw a topic with probability proportional to ``side``: its part by ``left``, then the topic by ``bits``."""
    s = 0
    while s < document.mass.shape[0] - 2 and left >= document.mass[s]:
        left -= document.mass[s]
        s += 1
    first = s << PART_BITS
    sums = lanes.splat(_ZERO)
    for j in range(0, PART, 16):
        sums = lanes.add(sums, lanes.load(document.side, first + j))
        lanes.store(document.running, j, sums)
    return first + draw_lanes(document.running, sums, min(PART, n_topics - first), 0, _ZERO, bits)


@inlined
def _factor(documents, counts, priors, p, change):
    """An author's factor g with ``change`` more tokens."""
    total = counts.author[documents.author[p]] + change + priors.alpha_sum
    return documents.author_weight[p] / np.float32(total)


@inlined
def _draw_author(documents, d, counts, priors, document, k, k0, q0, bits):
    """Draw an author given the topic with the bounds; and whether the pair is kept."""
    first = documents.author_start[d]
    total = _sum_shares(documents, d, counts, priors, document, k, q0 if k == k0 else -1)
    q = 0
    for p in range(documents.author_start[d + 1] - first - 1):
        q += document.share[p] <= high_float(bits) * total
    factor = _factor(documents, counts, priors, first + q, -1.0 if q == q0 else 0.0)
    return q, low_float(bits) * document.bound[q] < factor


@compiled
def sweep_listed(documents, assignments, counts, priors, times, stream):
    """One exact sweep; changes assignments, counts and stream. ``times`` are the words' tokens in the counts.

    Cost: O(topics of the word / 16 + authors) per token, O(authors × topics / 16) per document.
    """
    words = make_word_lists(documents.tokens, assignments.topic, times, counts)
    document = make_document(documents, counts, priors)
    for d in range(documents.doc_start.shape[0] - 1):
        _sweep_document(documents, d, assignments, counts, priors, words.lists, document, stream)
    write_back(words, counts.word_topic)


@compiled
def sweep_listed_with_priors(documents, assignments, counts, alpha, priors, times, stream):
    """``sweep_listed`` with a separate alpha for each document and one private author each.

    ``priors.alpha`` is scratch for one row; see ``kernels.sweep_with_priors``.
    """
    words = make_word_lists(documents.tokens, assignments.topic, times, counts)
    document = make_document(documents, counts, priors)
    for d in range(documents.doc_start.shape[0] - 1):
        priors.alpha[:] = alpha[d]
        _sweep_document(documents, d, assignments, counts, priors, words.lists, document, stream)
    write_back(words, counts.word_topic)


@lean
def _sweep_document(documents, d, assignments, counts, priors, lists, document, stream):
    recount_private_author(documents, assignments, counts, d)
    document.stale[0] = 1
    for i in range(documents.doc_start[d], documents.doc_start[d + 1]):
        fetch_later(lists, documents.tokens, i)
        _hold_bounds(documents, d, i, assignments, counts, priors, document)
        _sample_token(documents, d, i, assignments, counts, priors, lists, document, stream)


@inlined
def _hold_bounds(documents, d, i, assignments, counts, priors, document):
    """Open the document anew unless all bounds hold with token ``i`` left out."""
    q0 = np.int64(assignments.slot[i])
    author = documents.author[documents.author_start[d] + q0]
    if document.stale[0] or counts.author[author] - 1.0 < document.fewest[q0]:
        _open(documents, d, counts, priors, document, q0)


@inlined
def _sample_token(documents, d, i, assignments, counts, priors, lists, document, stream):
    w = np.int64(np.uint32(documents.tokens[i]))
    k0, q0 = np.int64(assignments.topic[i]), np.int64(assignments.slot[i])
    n_topics = counts.topic.shape[0]
    is_shared = documents.author_start[d + 1] - documents.author_start[d] > 1
    side0 = document.side[k0]
    document.side[k0] = _ZERO
    document.mass[k0 >> PART_BITS] -= side0
    sums, n_lines, own_at = _scan(document, lists, counts.word_topic, w, k0)
    upto = lanes.prefix(sums)
    inside = np.float64(lanes.get(upto, 15))
    own = _own_weight(documents, d, counts, priors, lists, document, w, k0, q0, own_at)
    total = own + inside + priors.beta[w] * (document.mass[-1] - side0)
    kept = False
    while not kept:
        k, q, at, kept = k0, q0, -1, True
        left = uniform(stream) * total - own
        if left >= inside:
            k = _draw_outside(document, n_topics, (left - inside) / priors.beta[w], next_bits(stream))
        elif left >= 0.0:
            k, at = _draw_inside(document, lists, w, sums, upto, n_lines, left)
            # By rounding, an unused place may be drawn, or the own topic, which weighs nothing here.
            if k >= n_topics or k == k0:
                k, at = k0, -1
        if is_shared:
            q, kept = _draw_author(documents, d, counts, priors, document, k, k0, q0, next_bits(stream))
    document.side[k0] = side0
    document.mass[k0 >> PART_BITS] += side0
    if k != k0:
        _move_word(lists, counts, w, k0, own_at, k, at)
        move_between_topics(counts.topic, document.inverses, priors.beta_sum, k0, k)
    if k != k0 or q != q0:
        assignments.topic[i] = k
        _move(documents, d, counts, priors, document, k0, q0, k, q)
    if q != q0:
        assignments.slot[i] = q


@inlined
def _move_word(lists, counts, w, k0, own_at, k, at):
    """Move a token of word ``w`` from topic ``k0``, at ``own_at`` of the list, to ``k``, at ``at`` or -1 if unknown."""
    if lists.first[w] < 0:
        counts.word_topic[w, k0] -= _ONE
        counts.word_topic[w, k] += _ONE
        return
    if at >= 0:
        lists.line[at + 16] += np.uint16(1)
    lines.take(lists, w, own_at)
    if at < 0:
        lines.add(lists, w, k)


@inlined
def _move(documents, d, counts, priors, document, k0, q0, k, q):
    """Move a token from author ``q0`` and topic ``k0`` to ``q`` and ``k``."""
    first = documents.author_start[d]
    before, after = documents.author[first + q0], documents.author[first + q]
    counts.author_topic[before, k0] -= _ONE
    counts.author_topic[after, k] += _ONE
    _set_side(documents, d, counts, priors, document, k0)
    if k != k0:
        _set_side(documents, d, counts, priors, document, k)
    if q != q0:
        counts.author[before] -= 1.0
        counts.author[after] += 1.0
        if counts.author[after] > document.most[q]:
            document.stale[0] = 1


@compiled
def word_listed_weights(documents, assignments, counts, priors, times, d, i):
    """Weights, topics × authors, from which ``sweep_listed`` would draw token ``i`` of document ``d``; for tests."""
    n_topics, first = counts.topic.shape[0], documents.author_start[d]
    n_slots = documents.author_start[d + 1] - first
    w, k0, q0 = np.int64(documents.tokens[i]), np.int64(assignments.topic[i]), np.int64(assignments.slot[i])
    lists = make_word_lists(documents.tokens, assignments.topic, times, counts).lists
    document = make_document(documents, counts, priors)
    recount_private_author(documents, assignments, counts, d)
    _open(documents, d, counts, priors, document, q0)
    side0 = document.side[k0]
    document.side[k0] = _ZERO
    _, n_lines, own_at = _scan(document, lists, counts.word_topic, w, k0)
    topic = document.side[:n_topics].astype(np.float64)
    topic *= priors.beta[w] * (document.mass[-1] - side0) / max(topic.sum(), 1e-300)
    for n in range(16 * n_lines):
        k = np.int64(lists.line[lines.place(lists, w, n)]) if lists.first[w] >= 0 else n
        if k < n_topics:
            before = np.float64(document.listed[n - 16]) if n >= 16 else 0.0
            topic[k] += np.float64(document.listed[n]) - before
    topic[k0] = _own_weight(documents, d, counts, priors, lists, document, w, k0, q0, own_at)
    weights = np.empty((n_topics, n_slots))
    for k in range(n_topics):
        total = _sum_shares(documents, d, counts, priors, document, k, q0 if k == k0 else -1)
        for q in range(n_slots):
            share = np.float64(document.share[q]) - (np.float64(document.share[q - 1]) if q > 0 else 0.0)
            factor = _factor(documents, counts, priors, first + q, -1.0 if q == q0 else 0.0)
            kept = factor / document.bound[q] if n_slots > 1 else 1.0
            weights[k, q] = topic[k] * share / total * kept
    return weights
