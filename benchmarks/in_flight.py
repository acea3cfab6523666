"""Two tokens in flight: what the dense LDA sweep would gain if draws overlapped.

    TOPOI_DATA=~/corpora python -m benchmarks.in_flight [--topics 100] [--rounds 9]

A draw waits for the one before it, which may have changed two topics. Tried here, each from the same states:

* *stale*: the next token of the word is drawn from weights that do not know of the present one's move. Not
  exact, for comparison.
* *corrected*: the same, but the second draw adds what the first changed at its two topics. Exact up to rounding.
* *two words*: tokens of two words in turns, which share only the topics' totals. The second draw is kept if what the
  first changed cannot have altered it, else drawn again, which is seldom. Exact.

None is used by ``topoi.models.author_topic.word_major``: see "Small numbers of topics" in ``docs/benchmarks.md``.
"""

# numba infers the types of compiled loops.
# mypy: allow-untyped-defs, allow-incomplete-defs, no-check-untyped-defs
from __future__ import annotations

import argparse
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from topoi.kernels import lanes
from topoi.kernels.counts import Assignments, Counts, Documents, make_inverses, move_between_topics
from topoi.kernels.draw import draw_lanes
from topoi.kernels.jit import compiled, inlined, lean
from topoi.kernels.random import high_float, low_float, new_stream, next_bits
from topoi.models.author_topic import equations
from topoi.models.author_topic.state import make_priors
from topoi.models.author_topic.word_major import (
    _open_word,
    _own_weight,
    _scan,
    documents_per_block,
    open_block,
    sweep_words,
    word_runs,
)

from .many_topics import corpora
from .report import Report, add_json
from .timing import timed

MOST_TOPICS = 128
BURN_IN = 10
COLUMNS = {
    "corpus": "corpus",
    "n_topics": "K",
    "system": "kernel",
    "moved": "moved|.2f",
    "median": "ns a token|.1f",
    "best": "best|.1f",
    "ratio": "times as fast|.2f",
    "best_ratio": "by best|.2f",
}
REMARK = (
    "CPU time of one sweep from the same state, kernels in turns. 'moved': share of tokens that change their topic."
)
_ZERO = np.float32(0.0)
_ONE = np.float32(1.0)
_TWO = np.float32(2.0)
# More than sums of 128 weights can be wrong by, relative to their total.
_ROUNDING = np.float32(2.0**-17)
_FLOAT, _INT = ir.FloatType(), ir.IntType(32)


def _vector(builder, value, n):
    kind = ir.VectorType(value.type, n)
    one = builder.insert_element(ir.Constant(kind, ir.Undefined), value, ir.Constant(_INT, 0))
    return builder.shuffle_vector(one, one, ir.Constant(ir.VectorType(_INT, n), [0] * n))


def _any_near(builder, values, bound, margin, n):
    """Whether one of n values is within the margin of its bound."""
    whole = ir.VectorType(_INT, n)
    bits = builder.and_(builder.bitcast(builder.fsub(values, bound), whole), ir.Constant(whole, [2**31 - 1] * n))
    distance = builder.bitcast(bits, ir.VectorType(_FLOAT, n))
    near = builder.fcmp_unordered("<=", distance, _vector(builder, margin, n))
    flags = ir.IntType(n)
    return builder.icmp_unsigned("!=", builder.bitcast(near, flags), ir.Constant(flags, 0))


@intrinsic
def near_lanes(typingctx, vector, bounds, margin):
    """Whether a lane is within ``margin`` of the same lane of ``bounds``."""

    def codegen(context, builder, signature, args):
        return _any_near(builder, *args, 16)

    return types.boolean(lanes.lanes, lanes.lanes, types.float32), codegen


def _eight_blocks(context, builder, signature, args):
    """Eight running sums of one lane, after ``extra`` is added from block ``since`` on, for each of several pairs."""
    start = builder.gep(context.make_array(signature.args[0])(context, builder, args[0]).data, [args[1]])
    kind, whole = ir.VectorType(_FLOAT, 8), ir.VectorType(_INT, 8)
    values = ir.Constant(kind, ir.Undefined)
    for i in range(8):
        value = builder.load(builder.gep(start, [ir.Constant(ir.IntType(64), 16 * i)]))
        values = builder.insert_element(values, value, ir.Constant(_INT, i))
    added = None
    for since, extra in zip(args[2:-1:2], args[3:-1:2], strict=False):
        after = builder.icmp_signed(
            ">=", ir.Constant(whole, list(range(8))), _vector(builder, builder.trunc(since, _INT), 8)
        )
        more = builder.select(after, _vector(builder, extra, 8), ir.Constant(kind, [0.0] * 8))
        added = more if added is None else builder.fadd(added, more)
    return builder.fadd(values, added)


@intrinsic
def near_blocks(typingctx, running, at, since, extra, bound, margin):
    """Whether one of eight running sums is within ``margin`` of ``bound``."""

    def codegen(context, builder, signature, args):
        values = _eight_blocks(context, builder, signature, args[:4] + args[5:])
        return _any_near(builder, values, _vector(builder, args[4], 8), args[5], 8)

    return types.boolean(running, types.intp, types.intp, *[types.float32] * 3), codegen


@intrinsic
def count_blocks(typingctx, running, at, s0, e0, s1, e1, s2, e2, bound):
    """How many of eight running sums are at most ``bound``, after three additions."""

    def codegen(context, builder, signature, args):
        values = _eight_blocks(context, builder, signature, args)
        below = builder.fcmp_ordered("<=", values, _vector(builder, args[-1], 8))
        return builder.zext(builder.ctpop(builder.bitcast(below, ir.IntType(8))), ir.IntType(64))

    pairs = [types.intp, types.float32] * 3
    return types.int64(running, types.intp, *pairs, types.float32), codegen


@inlined
def _draw(running, sums, n, own, own_weight, bits):
    """``draw_lanes`` for at most 128 topics, with what a check of the draw needs."""
    upto = lanes.add_from(lanes.prefix(sums), own & 15, own_weight)
    bound = lanes.mul(lanes.splat(high_float(bits)), lanes.last(upto))
    lane = min(lanes.count_at_most(upto, bound), min(n, 16) - 1)
    extra = own_weight if lane == own & 15 else _ZERO
    target = low_float(bits) * (running[16 * ((n - 1) >> 4) + lane] + extra)
    block = lanes.count_eight_blocks(running, lane, own >> 4, extra, target)
    return 16 * min(block, (n - 1 - lane) >> 4) + lane, upto, bound, lane, extra, target


@inlined
def _draw_corrected(running, upto, n, own, own_weight, k0, change0, k1, change1, bits):
    """The same with the weights of three topics changed: ``upto`` are the lanes' sums without these."""
    zero = lanes.splat(_ZERO)
    changes = lanes.add(lanes.add_from(zero, k0 & 15, change0), lanes.add_from(zero, k1 & 15, change1))
    upto = lanes.add(upto, lanes.add(lanes.add_from(zero, own & 15, own_weight), changes))
    lane = lanes.count_at_most(upto, lanes.mul(lanes.splat(high_float(bits)), lanes.last(upto)))
    lane = min(lane, min(n, 16) - 1)
    e = own_weight if lane == own & 15 else _ZERO
    e0 = change0 if lane == k0 & 15 else _ZERO
    e1 = change1 if lane == k1 & 15 else _ZERO
    target = low_float(bits) * (running[16 * ((n - 1) >> 4) + lane] + (e + (e0 + e1)))
    block = count_blocks(running, lane, own >> 4, e, k0 >> 4, e0, k1 >> 4, e1, target)
    return 16 * min(block, (n - 1 - lane) >> 4) + lane


@inlined
def _move(i, d, w, k0, k, topic_of, counts, priors, doc_topic, side, inverses):
    topic_of[i] = k
    doc_topic[d, k0] -= np.uint16(1)
    doc_topic[d, k] += np.uint16(1)
    counts.word_topic[w, k0] -= _ONE
    counts.word_topic[w, k] += _ONE
    move_between_topics(counts.topic, inverses, priors.beta_sum, k0, k)
    _set_side(w, k0, k, counts, priors, side, inverses)


@inlined
def _set_side(w, k0, k, counts, priors, side, inverses):
    side[k0] = (np.float32(counts.word_topic[w, k0]) + priors.beta[w]) * inverses.now[k0]
    side[k] = (np.float32(counts.word_topic[w, k]) + priors.beta[w]) * inverses.now[k]


@inlined
def _weight(doc_topic, priors, side, d, k):
    return (np.float32(doc_topic[d, k]) + priors.alpha[k]) * side[k]


@inlined
def _one_token(i, w, doc, topic_of, counts, priors, doc_topic, side, inverses, running, stream):
    n, width = counts.topic.shape[0], doc_topic.shape[1]
    d, k0 = np.int64(np.uint32(doc[i])), np.int64(topic_of[i])
    own = _own_weight(doc_topic, counts, priors, inverses, d, w, k0)
    sums = _scan(doc_topic, d * width, priors.alpha, side, k0, running, width)
    k = draw_lanes(running, sums, n, k0, own, next_bits(stream))
    if k != k0:
        _move(i, d, w, k0, k, topic_of, counts, priors, doc_topic, side, inverses)


@lean
def _block_of_pairs(exact, runs, b, topic_of, counts, priors, doc_topic, sides, inverses, running, stream):
    """Two tokens of a word at a time, the second's weights corrected if ``exact``."""
    open_block(runs, b, topic_of, doc_topic)
    n, width, doc, side = counts.topic.shape[0], doc_topic.shape[1], runs.doc, sides[0]
    for r in range(runs.block_start[b], runs.block_start[b + 1]):
        w = np.int64(np.uint32(runs.word[r]))
        _open_word(counts, priors, side, inverses, w)
        i = runs.start[r]
        while i + 1 < runs.start[r + 1]:
            d, e = np.int64(np.uint32(doc[i])), np.int64(np.uint32(doc[i + 1]))
            k0, q0 = np.int64(topic_of[i]), np.int64(topic_of[i + 1])
            own = _own_weight(doc_topic, counts, priors, inverses, d, w, k0)
            other = _own_weight(doc_topic, counts, priors, inverses, e, w, q0)
            sums = _scan(doc_topic, d * width, priors.alpha, side, k0, running[0], width)
            upto = lanes.prefix(_scan(doc_topic, e * width, priors.alpha, side, q0, running[1], width))
            k = _draw(running[0], sums, n, k0, own, next_bits(stream))[0]
            change0 = change = _ZERO
            if k != k0:
                before0, before = _weight(doc_topic, priors, side, e, k0), _weight(doc_topic, priors, side, e, k)
                _move(i, d, w, k0, k, topic_of, counts, priors, doc_topic, side, inverses)
                if exact:
                    other = _own_weight(doc_topic, counts, priors, inverses, e, w, q0)
                    change0 = _ZERO if k0 == q0 else _weight(doc_topic, priors, side, e, k0) - before0
                    change = _ZERO if k == q0 else _weight(doc_topic, priors, side, e, k) - before
            q = _draw_corrected(running[1], upto, n, q0, other, k0, change0, k, change, next_bits(stream))
            if q != q0:
                _move(i + 1, e, w, q0, q, topic_of, counts, priors, doc_topic, side, inverses)
            i += 2
        if i < runs.start[r + 1]:
            _one_token(i, w, doc, topic_of, counts, priors, doc_topic, side, inverses, running[0], stream)


@lean
def _block_of_two_words(runs, b, topic_of, counts, priors, doc_topic, sides, inverses, running, stream):
    """The words of a block's first half in turns with those of its second half."""
    open_block(runs, b, topic_of, doc_topic)
    n, width, start, doc = counts.topic.shape[0], doc_topic.shape[1], runs.start, runs.doc
    r, end = runs.block_start[b], runs.block_start[b + 1]
    if r == end:
        return
    half = r + 1
    while half < end and 2 * start[half] < start[r] + start[end]:
        half += 1
    i, j = start[r], start[half]
    r, s = r - 1, half - 1  # opened by their first tokens
    w = v = np.int64(0)
    side, side2 = sides[0], sides[1]
    for _ in range(min(start[half] - i, start[end] - j)):
        if i == start[r + 1]:
            r += 1
            w = np.int64(np.uint32(runs.word[r]))
            _open_word(counts, priors, side, inverses, w)
        if j == start[s + 1]:
            s += 1
            v = np.int64(np.uint32(runs.word[s]))
            _open_word(counts, priors, side2, inverses, v)
        d, e = np.int64(np.uint32(doc[i])), np.int64(np.uint32(doc[j]))
        k0, q0 = np.int64(topic_of[i]), np.int64(topic_of[j])
        own = _own_weight(doc_topic, counts, priors, inverses, d, w, k0)
        other = _own_weight(doc_topic, counts, priors, inverses, e, v, q0)
        sums = _scan(doc_topic, d * width, priors.alpha, side, k0, running[0], width)
        sums2 = _scan(doc_topic, e * width, priors.alpha, side2, q0, running[1], width)
        bits, bits2 = next_bits(stream), next_bits(stream)
        k = _draw(running[0], sums, n, k0, own, bits)[0]
        q, upto, bound, lane, extra, target = _draw(running[1], sums2, n, q0, other, bits2)
        if k != k0:
            before0, before = side2[k0], side2[k]
            _move(i, d, w, k0, k, topic_of, counts, priors, doc_topic, side, inverses)
            _set_side(v, k0, k, counts, priors, side2, inverses)
            margin = abs(_own_weight(doc_topic, counts, priors, inverses, e, v, q0) - other)
            margin += (np.float32(doc_topic[e, k0]) + priors.alpha[k0]) * abs(side2[k0] - before0)
            margin += (np.float32(doc_topic[e, k]) + priors.alpha[k]) * abs(side2[k] - before)
            margin = _TWO * margin + _ROUNDING * lanes.get(upto, 15)
            near = near_lanes(upto, bound, margin)
            if d == e or near or near_blocks(running[1], lane, q0 >> 4, extra, target, margin):
                other = _own_weight(doc_topic, counts, priors, inverses, e, v, q0)
                sums2 = _scan(doc_topic, e * width, priors.alpha, side2, q0, running[1], width)
                q = _draw(running[1], sums2, n, q0, other, bits2)[0]
        if q != q0:
            _move(j, e, v, q0, q, topic_of, counts, priors, doc_topic, side2, inverses)
            _set_side(w, q0, q, counts, priors, side, inverses)
        i += 1
        j += 1
    while i < start[half]:
        if i == start[r + 1]:
            r += 1
            w = np.int64(np.uint32(runs.word[r]))
            _open_word(counts, priors, side, inverses, w)
        _one_token(i, w, doc, topic_of, counts, priors, doc_topic, side, inverses, running[0], stream)
        i += 1
    while j < start[end]:
        if j == start[s + 1]:
            s += 1
            v = np.int64(np.uint32(runs.word[s]))
            _open_word(counts, priors, side2, inverses, v)
        _one_token(j, v, doc, topic_of, counts, priors, doc_topic, side2, inverses, running[0], stream)
        j += 1


@compiled
def _sweep(how, runs, topic_of, counts, priors, block_docs, stream):
    width = counts.word_topic.shape[1]
    doc_topic = lanes.aligned_floats(block_docs * width // 2).view(np.uint16).reshape((block_docs, width))
    sides = lanes.aligned_floats(2 * width).reshape((2, width))
    running = lanes.aligned_floats(2 * MOST_TOPICS).reshape((2, MOST_TOPICS))
    running[:] = np.inf
    inverses = make_inverses(counts.topic, priors.beta_sum, width)
    for b in range(runs.block_start.shape[0] - 1):
        if how == 2:
            _block_of_two_words(runs, b, topic_of, counts, priors, doc_topic, sides, inverses, running, stream)
        else:
            _block_of_pairs(how == 1, runs, b, topic_of, counts, priors, doc_topic, sides, inverses, running, stream)


KERNELS: dict[str, Callable[..., None]] = {
    "as it is": sweep_words,
    "stale (not exact)": lambda *arguments: _sweep(0, *arguments),
    "corrected": lambda *arguments: _sweep(1, *arguments),
    "two words": lambda *arguments: _sweep(2, *arguments),
}


def compare(name: str, corpus: Any, n_topics: int, rounds: int) -> list[dict[str, Any]]:
    """Nanoseconds a token of all kernels from the same state, in turns."""
    n, n_docs, width = corpus.n_tokens, corpus.n_docs, lanes.padded(n_topics)
    no_authors = np.zeros(n_docs, np.int32), np.arange(n_docs + 1), np.ones(n_docs, np.float32)
    documents = Documents(corpus.tokens.astype(np.int32), corpus.doc_start, *no_authors)
    priors = make_priors(np.full(n_topics, 50.0 / n_topics), np.full(corpus.n_words, 0.01))
    runs, order, block_docs = word_runs(documents.tokens, documents.doc_start, documents_per_block(width))
    topic = np.random.default_rng(0).integers(0, n_topics, n).astype(np.uint16)

    def count() -> Counts:
        empty = np.zeros((corpus.n_words, width), np.float32), np.zeros(n_topics)
        counts = Counts(*empty, np.zeros((1, width), np.float32), np.zeros(1))
        equations.count(documents, Assignments(topic, np.zeros(n, np.uint16)), counts)
        return counts

    def sweep(kernel: Callable[..., None], seed: int) -> tuple[float, np.ndarray]:
        counts, own, stream = count(), topic[order], new_stream(1, seed)
        seconds = timed(lambda: kernel(runs, own, counts, priors, block_docs, stream))
        after = np.empty_like(topic)
        after[order] = own
        return seconds.cpu / n * 1e9, after

    for seed in range(BURN_IN):
        topic = sweep(sweep_words, seed)[1]
    moved = {kind: float((sweep(kernel, BURN_IN)[1] != topic).mean()) for kind, kernel in KERNELS.items()}
    spent: dict[str, list[float]] = {kind: [] for kind in KERNELS}
    for turn in range(rounds):
        at = turn % len(KERNELS)
        for kind in [*KERNELS][at:] + [*KERNELS][:at]:
            spent[kind].append(sweep(KERNELS[kind], BURN_IN + 1)[0])
    rows = [
        {"corpus": name, "n_topics": n_topics, "system": kind, "moved": moved[kind]}
        | {"median": median(times), "best": min(times)}
        for kind, times in spent.items()
    ]
    for row in rows:
        row |= {"ratio": rows[0]["median"] / row["median"], "best_ratio": rows[0]["best"] / row["best"]}
    return rows


def main() -> None:
    """Print a table for each corpus."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--topics", type=int, nargs="+", default=[100], choices=range(17, MOST_TOPICS + 1), metavar="K")
    parser.add_argument("--corpus", choices=list(corpora()), nargs="+", default=list(corpora()))
    parser.add_argument("--rounds", type=int, default=9)
    add_json(parser)
    arguments, report = parser.parse_args(), Report()
    for name in arguments.corpus:
        corpus = corpora()[name]()
        rows = [row for n_topics in arguments.topics for row in compare(name, corpus, n_topics, arguments.rounds)]
        report.section("in_flight", f"Two tokens in flight: {name}", rows, COLUMNS, REMARK)
    report.write(arguments.json)


if __name__ == "__main__":
    main()
