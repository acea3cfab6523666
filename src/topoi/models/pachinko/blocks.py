"""Block moves: all tokens that a document has in one super-topic move to another together.

A document uses few super-topics (the root's parameters are small), and token by token it hardly ever leaves one for
another, since the first token to move would be alone there. So each of a document's super-topics s in turn, with its
tokens B, is redrawn from s itself and all super-topics that the document does not use:

    P(s') ∝ Π over tokens of B, one after the other: (n + alpha_r[s']) · (n[k] + alpha[s',k]) / (n + Σ alpha[s'])

where n is the number of tokens of B counted before, and n[k] that of sub-topic k. Sub-topics do not change. The reverse
move has the same block, so this is a Gibbs draw from the exact conditional.
"""

# numba infers the types of compiled loops.
# mypy: allow-untyped-defs, allow-incomplete-defs, no-check-untyped-defs
from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi.kernels.draw import draw_plain
from topoi.kernels.jit import compiled, inlined, lean
from topoi.kernels.random import uniform

# Divisions for blocks of up to this many tokens are done once for all documents.
_TABLE = 1024
_SAFE_BITS = 900.0
_SHARE_OF_SWEEPS = 0.5


class Room(NamedTuple):
    """Priors by super-topic, and scratch space to weigh one document's blocks.

    ``alpha`` is sub-topics × super-topics; ``step[n, s]`` is the factor (n + alpha_r[s]) / (n + Σ alpha[s]); weights
    stay in float64's range for ``cadence`` tokens. A document's blocks are numbered by their first tokens: ``total``
    has the tokens per super-topic, ``block`` a super-topic's block, ``order[start[b]:start[b+1]]`` the tokens of block
    b; ``number`` counts sub-topics.
    """

    root: NDArray[np.float64]
    alpha: NDArray[np.float64]
    alpha_sum: NDArray[np.float64]
    step: NDArray[np.float64]
    cadence: int
    total: NDArray[np.int64]
    block: NDArray[np.int64]
    start: NDArray[np.int64]
    order: NDArray[np.int64]
    number: NDArray[np.int64]
    weight: NDArray[np.float64]


@compiled
def make_room(priors, n_super, n_sub, longest):
    """Scratch space for documents of at most ``longest`` tokens; unused if there are no super-topics."""
    alpha = np.empty((n_sub, n_super))
    for s in range(n_super):
        for k in range(n_sub):
            alpha[k, s] = priors.alpha[n_super + s * n_sub + k]
    root = priors.alpha[:n_super].astype(np.float64)
    alpha_sum = priors.alpha_sum[1 : 1 + n_super].copy()
    step = np.empty((min(longest, _TABLE), n_super))
    for n in range(step.shape[0]):
        for s in range(n_super):
            step[n, s] = (n + root[s]) / (n + alpha_sum[s])
    return Room(
        root,
        alpha,
        alpha_sum,
        step,
        _cadence(root, alpha, alpha_sum, longest),
        np.zeros(n_super, np.int64),
        np.zeros(n_super, np.int64),
        np.zeros(n_super + 1, np.int64),
        np.zeros(longest, np.int64),
        np.zeros(n_sub, np.int64),
        np.zeros(n_super),
    )


@compiled
def _cadence(root, alpha, alpha_sum, longest):
    """Number of tokens for which no product of factors can leave float64's range."""
    if len(root) == 0:
        return 1
    least = root.min() * alpha.min() / (longest + alpha_sum.max())
    most = (longest + root.max()) * (longest + alpha.max()) / alpha_sum.min()
    return max(1, int(_SAFE_BITS / (1.0 + max(abs(math.log2(least)), abs(math.log2(most))))))


@compiled
def move_blocks(documents, docs, paths, priors, n_super, n_sub, stream):
    """Redraw the blocks of documents ``docs`` after every other sweep, by chance; changes paths and stream.

    Cost: O(tokens × super-topics), vectorised. Moves twice as often would not find better structures.
    """
    if n_super > 1 and documents.tokens.shape[0] > 0 and uniform(stream) < _SHARE_OF_SWEEPS:
        longest = np.diff(documents.doc_start).max()
        room = make_room(priors, n_super, n_sub, longest)
        for d in docs:
            move_document(documents, d, paths, room, stream)


@compiled
def move_limited(documents, paths, priors, n_super, n_sub, limits, stream):
    """``move_blocks`` for all documents, each with the super-topics' sums of alpha over its own sub-topics.

    A block's sub-topics are those that its document has, so that every super-topic stays open to it.
    """
    if n_super > 1 and documents.tokens.shape[0] > 0 and uniform(stream) < _SHARE_OF_SWEEPS:
        longest = np.diff(documents.doc_start).max()
        room = _limited_room(priors, n_super, n_sub, longest, limits)
        for d in range(documents.doc_start.shape[0] - 1):
            set_sums(room, limits, limits.doc_set[d])
            move_document(documents, d, paths, room, stream)


@compiled
def _limited_room(priors, n_super, n_sub, longest, limits):
    """``make_room`` without the table of divisions, which are others in every set."""
    room = make_room(priors, n_super, n_sub, longest)
    return Room(
        room.root,
        room.alpha,
        room.alpha_sum,
        np.empty((0, n_super)),
        _cadence(room.root, room.alpha, limits.alpha_sum[:, 1 : 1 + n_super], longest),
        room.total,
        room.block,
        room.start,
        room.order,
        room.number,
        room.weight,
    )


@lean
def set_sums(room, limits, row):
    """Set the sums of alpha to those of the documents of a set."""
    for s in range(room.alpha_sum.shape[0]):
        room.alpha_sum[s] = limits.alpha_sum[row, 1 + s]


@lean
def move_document(documents, d, paths, room, stream):
    """Redraw each block of one document once."""
    n_blocks = list_blocks(paths, documents.doc_start[d], documents.doc_start[d + 1], room)
    for b in range(n_blocks):
        s0 = np.int64(paths.path[room.order[room.start[b]]])
        weigh_block(paths, b, s0, room)
        _move_block(paths, b, s0, draw_plain(room.weight, room.weight.shape[0], stream), room)


@lean
def list_blocks(paths, first, last, room):
    """List a document's blocks; return their number.

    They are ordered by their first tokens, which no move changes. An order by super-topics would depend on what was
    drawn, and the draws would no longer be exact.
    """
    total, block, start, order = room.total, room.block, room.start, room.order
    total[:] = 0
    n_blocks = 0
    for i in range(first, last):
        s = np.int64(paths.path[i])
        if total[s] == 0:
            block[s] = n_blocks
            n_blocks += 1
        total[s] += 1
        start[block[s] + 1] = total[s]
    start[0] = 0
    for b in range(n_blocks):
        start[b + 1] += start[b]
    for i in range(last - 1, first - 1, -1):
        s = np.int64(paths.path[i])
        total[s] -= 1
        order[start[block[s]] + total[s]] = i
    for b in range(n_blocks):
        total[paths.path[order[start[b]]]] = start[b + 1] - start[b]
    return n_blocks


@lean
def weigh_block(paths, b, s0, room):
    """Set the weights of all super-topics for block ``b``, now in ``s0``; zero for the others in use."""
    weight, alpha, step = room.weight, room.alpha, room.step
    n_super = weight.shape[0]
    first, last = room.start[b], room.start[b + 1]
    for s in range(n_super):
        weight[s] = 1.0 if s == s0 or room.total[s] == 0 else 0.0
    for j in range(first, last):
        k = np.int64(paths.topic[room.order[j]])
        n = j - first
        here = np.float64(room.number[k])
        room.number[k] += 1
        if n < step.shape[0]:
            for s in range(n_super):
                weight[s] *= step[n, s] * (here + alpha[k, s])
        else:
            for s in range(n_super):
                weight[s] *= (n + room.root[s]) / (n + room.alpha_sum[s]) * (here + alpha[k, s])
        if n % room.cadence == room.cadence - 1:
            _rescale(weight)
    for j in range(first, last):
        room.number[paths.topic[room.order[j]]] = 0


@inlined
def _rescale(weight):
    """Scale the largest weight to about one, by a power of two, so that nothing is rounded."""
    most = 0.0
    for s in range(weight.shape[0]):
        most = max(most, weight[s])
    factor = math.ldexp(1.0, -math.frexp(most)[1])
    for s in range(weight.shape[0]):
        weight[s] *= factor


@lean
def _move_block(paths, b, s0, s, room):
    """Move block ``b`` to super-topic ``s``, unless it has no weight, which rounding may have drawn."""
    if s == s0 or room.weight[s] == 0.0:
        return
    for j in range(room.start[b], room.start[b + 1]):
        paths.path[room.order[j]] = s
    room.total[s] = room.total[s0]
    room.total[s0] = 0
