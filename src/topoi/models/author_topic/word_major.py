"""The LDA sweep, word by word: the fast form for documents whose only author is private.

Documents are taken in blocks small enough that their topic counts (16 bits each) stay in the cache. Within a block the
tokens are visited word by word, so that the word's factor stays in fast memory and the topic counts of documents need
no matrix over the whole corpus. It is the same Gibbs sampler as ``kernels.sweep`` with the tokens visited in another
order: equally exact.
"""

# numba infers the types of compiled loops.
# mypy: allow-untyped-defs, allow-incomplete-defs, no-check-untyped-defs
from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi.kernels import lanes
from topoi.kernels.counts import make_inverses, move_between_topics
from topoi.kernels.draw import differences, draw_lanes, scratch_length
from topoi.kernels.jit import compiled, inlined, lean
from topoi.kernels.random import next_bits

# Size of the topic counts of a block of documents: about half of a usual second-level cache.
_CACHE_BYTES = 2**20
_ONE = np.float32(1.0)
_ZERO = np.float32(0.0)
_SIXTEEN = np.float32(16.0)
_MASK_UP_TO = 256


class WordRuns(NamedTuple):
    """Tokens sorted by (block of documents, word): runs of one word each.

    Run ``r`` is word ``word[r]``, tokens ``start[r]`` to ``start[r+1]``; block ``b`` has runs ``block_start[b]`` to
    ``block_start[b+1]``; ``doc`` is each token's document, counted from its block's first.
    """

    word: NDArray[np.int32]
    start: NDArray[np.int64]
    block_start: NDArray[np.int64]
    doc: NDArray[np.int32]


class WordLayout(NamedTuple):
    """Tokens in run order: the runs, each token's position in document order, and the number of documents per block."""

    runs: WordRuns
    order: NDArray[np.uint32]
    block_docs: int


@inlined
def _scan(doc_topic, row, alpha, side, own, running, width):
    """Running lane sums of (doc_topic + alpha) · side, with topic ``own`` left out.

    With few topics it is masked in registers, because the vector load after a zero written to memory would wait for the
    store; with many, the wait is over before the load comes, and the mask would cost more.
    """
    sums = lanes.splat(_ZERO)
    if width <= _MASK_UP_TO:
        k = lanes.numbers()
        for j in range(0, width, 16):
            doc = lanes.add(lanes.load_uint16(doc_topic, row + j), lanes.load(alpha, j))
            weight = lanes.mul(doc, lanes.load(side, j))
            sums = lanes.add(sums, lanes.zero_where_equal(weight, k, lanes.splat(np.float32(own))))
            lanes.store(running, j, sums)
            k = lanes.add(k, lanes.splat(_SIXTEEN))
        return sums
    kept = side[own]
    side[own] = _ZERO
    for j in range(0, width, 16):
        doc = lanes.add(lanes.load_uint16(doc_topic, row + j), lanes.load(alpha, j))
        sums = lanes.add(sums, lanes.mul(doc, lanes.load(side, j)))
        lanes.store(running, j, sums)
    side[own] = kept
    return sums


@inlined
def _open_word(counts, priors, side, inverses, w):
    """Set the word's factor: (word_topic + beta) / (topic + W·beta)."""
    for k in range(side.shape[0]):
        side[k] = (np.float32(counts.word_topic[w, k]) + priors.beta[w]) * inverses.now[k]


@inlined
def _own_weight(doc_topic, counts, priors, inverses, d, w, k0):
    """Weight of the token's own topic ``k0`` with the token left out."""
    rest = np.float32(doc_topic[d, k0]) - _ONE + priors.alpha[k0]
    word = np.float32(counts.word_topic[w, k0]) - _ONE + priors.beta[w]
    return word * rest * inverses.less[k0]


@compiled
def sweep_words(runs, topic_of, counts, priors, block_docs, stream):
    """One exact LDA sweep over word runs; changes topics (in run order), word and topic counts, and stream."""
    n_topics = counts.topic.shape[0]
    width = counts.word_topic.shape[1]
    doc_topic = lanes.aligned_floats(block_docs * width // 2).view(np.uint16).reshape((block_docs, width))
    side = lanes.aligned_floats(width)
    inverses = make_inverses(counts.topic, priors.beta_sum, width)
    running = lanes.aligned_floats(scratch_length(n_topics))
    running[:] = np.inf
    for b in range(runs.block_start.shape[0] - 1):
        _sweep_block(runs, b, topic_of, counts, priors, doc_topic, side, inverses, running, stream)


@lean
def _sweep_block(runs, b, topic_of, counts, priors, doc_topic, side, inverses, running, stream):
    open_block(runs, b, topic_of, doc_topic)
    for r in range(runs.block_start[b], runs.block_start[b + 1]):
        sweep_run(runs, r, runs.word[r], topic_of, counts, priors, doc_topic, side, inverses, running, stream)


@inlined
def open_block(runs, b, topic_of, doc_topic):
    """Count the topics of a block's documents."""
    _, start, block_start, doc = runs
    for d in range(doc_topic.shape[0]):
        for k in range(doc_topic.shape[1]):
            doc_topic[d, k] = 0
    for i in range(start[block_start[b]], start[block_start[b + 1]]):
        doc_topic[np.uint32(doc[i]), topic_of[i]] += np.uint16(1)


@inlined
def sweep_run(runs, r, row, topic_of, counts, priors, doc_topic, side, inverses, running, stream):
    """Sample the tokens of run ``r``, whose word is number ``row`` in counts and priors."""
    _, start, _, doc = runs
    word_topic, topic, _, _ = counts
    alpha, _, beta, beta_sum = priors
    n_topics = topic.shape[0]
    width = word_topic.shape[1]
    w = np.int64(np.uint32(row))
    _open_word(counts, priors, side, inverses, w)
    for i in range(start[r], start[r + 1]):
        d = np.int64(np.uint32(doc[i]))
        k0 = np.int64(topic_of[i])
        own = _own_weight(doc_topic, counts, priors, inverses, d, w, k0)
        sums = _scan(doc_topic, d * width, alpha, side, k0, running, width)
        k = draw_lanes(running, sums, n_topics, k0, own, next_bits(stream))
        # By rounding, a topic of weight zero may be drawn, one that the word is banned from: it stays where it is.
        if k != k0 and side[k] > _ZERO:
            topic_of[i] = k
            doc_topic[d, k0] -= np.uint16(1)
            doc_topic[d, k] += np.uint16(1)
            word_topic[w, k0] -= _ONE
            word_topic[w, k] += _ONE
            move_between_topics(topic, inverses, beta_sum, k0, k)
            side[k0] = (np.float32(word_topic[w, k0]) + beta[w]) * inverses.now[k0]
            side[k] = (np.float32(word_topic[w, k]) + beta[w]) * inverses.now[k]


@compiled
def word_lane_weights(doc_topic, counts, priors, d, w, k0):
    """Weights from which ``sweep_words`` would draw a topic for word ``w`` in document ``d``; for tests."""
    n_topics = counts.topic.shape[0]
    width = counts.word_topic.shape[1]
    side = np.zeros(width, np.float32)
    inverses = make_inverses(counts.topic, priors.beta_sum, width)
    running = np.full(scratch_length(n_topics), np.float32(np.inf), np.float32)
    _open_word(counts, priors, side, inverses, w)
    own = _own_weight(doc_topic, counts, priors, inverses, d, w, k0)
    _scan(doc_topic, d * width, priors.alpha, side, k0, running, width)
    weights = differences(running, n_topics)
    weights[k0] += own
    return weights


def documents_per_block(width: int) -> int:
    """Number of documents whose topic counts, ``width`` each, stay in the cache."""
    return max(_CACHE_BYTES // (2 * width), 64)


def word_runs(tokens: NDArray[np.int32], doc_start: NDArray[np.int64], per_block: int) -> WordLayout:
    """Sort tokens by blocks of at most ``per_block`` documents, and by word."""
    block_docs = min(per_block, max(len(doc_start) - 1, 1))
    runs, order = _sort_by_word(tokens, doc_start, block_docs, int(tokens.max(initial=-1)) + 1)
    return WordLayout(runs, order, block_docs)


@compiled
def _sort_by_word(tokens, doc_start, block_docs, n_words):
    """Counting sort, block by block: the runs, and the tokens' positions in document order.

    Allocates only the result per token: 8 bytes. Cost: O(tokens + blocks × words).
    """
    n_docs = len(doc_start) - 1
    n_blocks = (n_docs + block_docs - 1) // block_docs
    place = np.zeros(n_words, np.int64)
    block_start = np.zeros(n_blocks + 1, np.int64)
    for b in range(n_blocks):
        _count_words(tokens, doc_start, b, block_docs, place)
        block_start[b + 1] = block_start[b] + (place > 0).sum()
    word = np.empty(block_start[-1], np.int32)
    start = np.empty(block_start[-1] + 1, np.int64)
    doc = np.empty(len(tokens), np.int32)
    order = np.empty(len(tokens), np.uint32)
    run = 0
    for b in range(n_blocks):
        _count_words(tokens, doc_start, b, block_docs, place)
        at = doc_start[b * block_docs]
        for w in range(n_words):
            n = place[w]
            if n > 0:
                word[run] = w
                start[run] = at
                place[w] = at
                at += n
                run += 1
        for d in range(b * block_docs, min((b + 1) * block_docs, n_docs)):
            for i in range(doc_start[d], doc_start[d + 1]):
                j = place[tokens[i]]
                place[tokens[i]] += 1
                order[j] = i
                doc[j] = d - b * block_docs
    start[run] = len(tokens)
    return WordRuns(word, start, block_start, doc), order


@lean
def _count_words(tokens, doc_start, b, block_docs, counts):
    """Set ``counts`` to the number of occurrences of each word in block ``b``."""
    for w in range(len(counts)):
        counts[w] = 0
    last = min((b + 1) * block_docs, len(doc_start) - 1)
    for i in range(doc_start[b * block_docs], doc_start[last]):
        counts[tokens[i]] += 1
