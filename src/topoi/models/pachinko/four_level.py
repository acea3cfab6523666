"""The four-level sweep in sixteen SIMD lanes: the draw of ``equations.sweep_four_level_plain``, made fast.

With c[s] = (n[s] + alpha_r[s]) / (n[s] + Σ alpha[s]) the document's side of sub-topic k is

    side[k] = Σ over super-topics s of c[s] · (n[s,k] + alpha[s,k])

so one pass over the sub-topics draws k, and one over the super-topics draws s given k: O(super + sub) instead of
O(super × sub). A token that changes its super-topic changes two factors c, and with them the whole ``side``. It is
patched in one pass, its entries at the two sub-topics are recomputed from whole counts, and all of it is recomputed
every few changes, so that rounding errors cannot accumulate.
"""

# numba infers the types of compiled loops.
# mypy: allow-untyped-defs, allow-incomplete-defs, no-check-untyped-defs
from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi.kernels import lanes
from topoi.kernels.counts import Inverses, Priors, make_inverses, move_between_topics
from topoi.kernels.draw import differences, draw_lanes, scratch_length
from topoi.kernels.jit import compiled, inlined, lean
from topoi.kernels.lanes import N_LANES
from topoi.kernels.random import next_bits

_ONE = np.float32(1.0)
_ZERO = np.float32(0.0)
_SIXTEEN = np.float32(16.0)
# All sides are recomputed after this many patches per super-topic: rarely enough to cost little.
_PATCHES = 4


class Scratch(NamedTuple):
    """Counts of one document and values derived from them.

    ``number[s,k]`` are its tokens; ``pair[s,k]`` and ``pair_of[k,s]`` hold number + alpha in both layouts, always set
    from whole counts; ``total[s]`` is the number of tokens of a super-topic; ``scale`` its factor c, ``less`` and
    ``more`` the same with one token less and more; ``side`` as above; ``running`` and ``upper`` are running sums over
    sub- and super-topics.
    """

    number: NDArray[np.int32]
    pair: NDArray[np.float32]
    pair_of: NDArray[np.float32]
    total: NDArray[np.int64]
    scale: NDArray[np.float32]
    less: NDArray[np.float32]
    more: NDArray[np.float32]
    side: NDArray[np.float32]
    running: NDArray[np.float32]
    upper: NDArray[np.float32]
    inverses: Inverses


@compiled
def make_scratch(counts, priors, n_super):
    """Scratch space for sweeps; ``close_document`` restores this initial state."""
    n_sub = counts.topic.shape[0]
    width = counts.word_topic.shape[1]
    upper_width = N_LANES * ((n_super + N_LANES - 1) // N_LANES)
    scratch = Scratch(
        np.zeros((n_super, n_sub), np.int32),
        lanes.aligned_floats(n_super * width).reshape((n_super, width)),
        lanes.aligned_floats(n_sub * upper_width).reshape((n_sub, upper_width)),
        np.zeros(n_super, np.int64),
        lanes.aligned_floats(upper_width),
        np.zeros(n_super, np.float32),
        np.zeros(n_super, np.float32),
        lanes.aligned_floats(width),
        lanes.aligned_floats(scratch_length(n_sub)),
        lanes.aligned_floats(scratch_length(n_super)),
        make_inverses(counts.topic, priors.beta_sum, width),
    )
    scratch.running[:] = np.inf
    scratch.upper[:] = np.inf
    for s in range(n_super):
        for k in range(n_sub):
            _set_pair(priors, scratch, s, k)
    return scratch


@inlined
def _alpha(priors, scratch, s, k):
    """Alpha of the edge from super-topic ``s`` to sub-topic ``k``; the root's slots come first."""
    return priors.alpha[scratch.number.shape[0] + s * scratch.number.shape[1] + k]


@inlined
def _set_pair(priors, scratch, s, k):
    """Set both layouts of one entry from its whole count."""
    value = np.float32(scratch.number[s, k]) + _alpha(priors, scratch, s, k)
    scratch.pair[s, k] = value
    scratch.pair_of[k, s] = value


@inlined
def _factor(priors, s, n):
    """Factor c of a super-topic with ``n`` tokens."""
    return np.float32(n + priors.alpha[s]) / np.float32(n + priors.alpha_sum[1 + s])


@inlined
def _set_scale(priors, scratch, s):
    scratch.scale[s] = _factor(priors, s, scratch.total[s])
    scratch.less[s] = _factor(priors, s, scratch.total[s] - 1)
    scratch.more[s] = _factor(priors, s, scratch.total[s] + 1)


@inlined
def _move_between_supers(priors, scratch, s0, s):
    """Move one token's count from super-topic ``s0`` to ``s``, with their factors (as for ``Inverses``)."""
    scratch.total[s0] -= 1
    scratch.total[s] += 1
    scratch.more[s0] = scratch.scale[s0]
    scratch.scale[s0] = scratch.less[s0]
    scratch.less[s0] = _factor(priors, s0, scratch.total[s0] - 1)
    scratch.less[s] = scratch.scale[s]
    scratch.scale[s] = scratch.more[s]
    scratch.more[s] = _factor(priors, s, scratch.total[s] + 1)


@inlined
def _sum_sides(scratch):
    """Compute ``side`` by its definition; O(super × sub / 16)."""
    width = scratch.side.shape[0]
    for j in range(0, width, 16):
        sums = lanes.splat(_ZERO)
        for s in range(scratch.number.shape[0]):
            sums = lanes.add(sums, lanes.mul(lanes.splat(scratch.scale[s]), lanes.load(scratch.pair, s * width + j)))
        lanes.store(scratch.side, j, sums)


@inlined
def _open_document(documents, paths, priors, scratch, d):
    """Count a document; O(tokens + super × sub / 16)."""
    for i in range(documents.doc_start[d], documents.doc_start[d + 1]):
        scratch.number[paths.path[i], paths.topic[i]] += 1
        scratch.total[paths.path[i]] += 1
    for i in range(documents.doc_start[d], documents.doc_start[d + 1]):
        _set_pair(priors, scratch, np.int64(paths.path[i]), np.int64(paths.topic[i]))
    for s in range(scratch.number.shape[0]):
        _set_scale(priors, scratch, s)
    _sum_sides(scratch)


@inlined
def _close_document(documents, paths, priors, scratch, d):
    """Remove a document's counts; O(tokens)."""
    for i in range(documents.doc_start[d], documents.doc_start[d + 1]):
        s, k = np.int64(paths.path[i]), np.int64(paths.topic[i])
        scratch.number[s, k] = 0
        scratch.total[s] = 0
        _set_pair(priors, scratch, s, k)


@inlined
def _scan_subs(word_topic, row, beta, scratch, s0, step, own):
    """Running lane sums of (word_topic + beta) · inverse · (side + step · pair[s0]), sub-topic ``own`` left out."""
    width = scratch.side.shape[0]
    sums = lanes.splat(_ZERO)
    prior = lanes.splat(beta)
    change = lanes.splat(step)
    k = lanes.numbers()
    for j in range(0, width, 16):
        word = lanes.mul(lanes.add(lanes.load(word_topic, row + j), prior), lanes.load(scratch.inverses.now, j))
        side = lanes.mul(change, lanes.load(scratch.pair, s0 * width + j))
        side = lanes.add(lanes.load(scratch.side, j), side)
        sums = lanes.add(sums, lanes.zero_where_equal(lanes.mul(word, side), k, lanes.splat(np.float32(own))))
        lanes.store(scratch.running, j, sums)
        k = lanes.add(k, lanes.splat(_SIXTEEN))
    return sums


@inlined
def _scan_supers(scratch, k, own, keep):
    """Lane sums of scale · pair_of[k], super-topic ``own`` left out; running sums in ``upper`` if ``keep``."""
    width = scratch.scale.shape[0]
    sums = lanes.splat(_ZERO)
    s = lanes.numbers()
    for j in range(0, width, 16):
        weight = lanes.mul(lanes.load(scratch.scale, j), lanes.load(scratch.pair_of, k * width + j))
        sums = lanes.add(sums, lanes.zero_where_equal(weight, s, lanes.splat(np.float32(own))))
        if keep:
            lanes.store(scratch.upper, j, sums)
        s = lanes.add(s, lanes.splat(_SIXTEEN))
    return sums


@inlined
def _own_share(priors, scratch, s0, k, left_out):
    """Contribution of the token's own super-topic to the side of ``k``, with the token left out."""
    return scratch.less[s0] * (np.float32(scratch.number[s0, k] - left_out) + _alpha(priors, scratch, s0, k))


@inlined
def _own_side(priors, scratch, s0, k0):
    """Side of the token's own sub-topic with the token left out, summed directly to avoid cancellation."""
    others = lanes.get(lanes.prefix(_scan_supers(scratch, k0, s0, False)), 15)
    return others + _own_share(priors, scratch, s0, k0, 1)


@inlined
def _weigh_subs(counts, priors, scratch, w, s0, k0):
    """Running sums over sub-topics, and the side and weight of the token's own, separately."""
    own_side = _own_side(priors, scratch, s0, k0)
    own = (np.float32(counts.word_topic[w, k0]) - _ONE + priors.beta[w]) * scratch.inverses.less[k0] * own_side
    step = scratch.less[s0] - scratch.scale[s0]
    sums = _scan_subs(counts.word_topic, w * scratch.side.shape[0], priors.beta[w], scratch, s0, step, k0)
    return own_side, own, sums


@inlined
def _weigh_supers(priors, scratch, s0, k0, k):
    """Running sums over super-topics given sub-topic ``k``, and the weight of the token's own, separately."""
    own = _own_share(priors, scratch, s0, k, 1 if k == k0 else 0)
    return own, _scan_supers(scratch, k, s0, True)


@inlined
def _patch_sides(scratch, s0, s, step0, step):
    """Add the change of two factors to all sides."""
    width = scratch.side.shape[0]
    change0 = lanes.splat(step0)
    change = lanes.splat(step)
    for j in range(0, width, 16):
        side = lanes.add(lanes.load(scratch.side, j), lanes.mul(change0, lanes.load(scratch.pair, s0 * width + j)))
        side = lanes.add(side, lanes.mul(change, lanes.load(scratch.pair, s * width + j)))
        lanes.store(scratch.side, j, side)


@inlined
def _move(priors, scratch, s0, k0, s, k, side0, side):
    """Move a token from (s0, k0) to (s, k); ``side0`` and ``side`` are the sides of k0 and k with the token left out.

    Returns whether all sides were patched.
    """
    scratch.number[s0, k0] -= 1
    pair = np.float32(scratch.number[s, k]) + _alpha(priors, scratch, s, k)
    pair0 = np.float32(scratch.number[s, k0]) + _alpha(priors, scratch, s, k0)
    scratch.number[s, k] += 1
    if s == s0:
        scale = scratch.scale[s]
        step = scale - scratch.less[s]
    else:
        scale = scratch.more[s]
        step = scale - scratch.scale[s]
        _patch_sides(scratch, s0, s, scratch.less[s0] - scratch.scale[s0], step)
        _move_between_supers(priors, scratch, s0, s)
    _set_pair(priors, scratch, s0, k0)
    _set_pair(priors, scratch, s, k)
    scratch.side[k0] = side0 + step * pair0
    scratch.side[k] = side + step * pair + scale
    return s != s0


@compiled
def sweep_four_level(documents, paths, counts, priors, n_super, stream):
    """One exact sweep; changes paths, counts and stream. Cost: O(tokens × (super + sub) / 16)."""
    sweep_with(documents, paths, counts, priors, make_scratch(counts, priors, n_super), stream)


@compiled
def sweep_limited(documents, paths, counts, priors, n_super, limits, stream):
    """``sweep_four_level`` in which a document has only the sub-topics of its set; see ``limits``.

    Super-topics are always open, since each leads to all sub-topics. A sub-topic that is not allowed has pairs of zero,
    and so no side. Where the set is not that of the document before, O(changed sub-topics × super) more.
    """
    own = Priors(priors.alpha, priors.alpha_sum.copy(), priors.beta, priors.beta_sum)
    _sweep_limited(documents, paths, counts, own, limits, make_scratch(counts, priors, n_super), stream)


@lean
def _sweep_limited(documents, paths, counts, priors, limits, scratch, stream):
    row = -1
    for d in range(documents.doc_start.shape[0] - 1):
        if limits.doc_set[d] != row:
            _change_set(priors, scratch, limits, row, limits.doc_set[d])
            row = limits.doc_set[d]
        _sweep_document(documents, d, paths, counts, priors, scratch, stream)


@lean
def _change_set(priors, scratch, limits, before, row):
    """Open and close sub-topics for the documents of another set, and set the super-topics' sums of alpha."""
    for u in range(limits.alpha_sum.shape[1]):
        priors.alpha_sum[u] = limits.alpha_sum[row, u]
    for k in range(limits.topics.shape[1]):
        was_open = before < 0 or limits.topics[before, k]
        if was_open != limits.topics[row, k]:
            for s in range(scratch.number.shape[0]):
                scratch.pair[s, k] = _ZERO if was_open else _alpha(priors, scratch, s, k)


@lean
def sweep_with(documents, paths, counts, priors, scratch, stream):
    """``sweep_four_level`` in a given scratch, whose inverses must be those of the counts."""
    for d in range(documents.doc_start.shape[0] - 1):
        _sweep_document(documents, d, paths, counts, priors, scratch, stream)


@lean
def _sweep_document(documents, d, paths, counts, priors, scratch, stream):
    tokens, doc_start, _, _, _ = documents
    word_topic, topic, _, _ = counts
    n_super, n_sub = scratch.number.shape
    width = word_topic.shape[1]
    last_token = tokens.shape[0] - 1
    _open_document(documents, paths, priors, scratch, d)
    patches = 0
    for i in range(doc_start[d], doc_start[d + 1]):
        w = np.int64(np.uint32(tokens[i]))
        ahead = np.int64(np.uint32(tokens[min(i + 4, last_token)])) * width
        for j in range(0, width, 16):
            lanes.prefetch(word_topic, ahead + j)
        k0 = np.int64(paths.topic[i])
        s0 = np.int64(paths.path[i])
        side0, own, sums = _weigh_subs(counts, priors, scratch, w, s0, k0)
        k = draw_lanes(scratch.running, sums, n_sub, k0, own, next_bits(stream))
        # By rounding, a sub-topic may be drawn that the word or the document may not have: the token stays where it is.
        if k != k0 and (np.float32(word_topic[w, k]) + priors.beta[w] <= _ZERO or scratch.pair[s0, k] <= _ZERO):
            continue
        own, sums = _weigh_supers(priors, scratch, s0, k0, k)
        s = draw_lanes(scratch.upper, sums, n_super, s0, own, next_bits(stream))
        if k == k0 and s == s0:
            continue
        paths.path[i] = s
        paths.topic[i] = k
        side = side0 if k == k0 else lanes.get(lanes.prefix(sums), 15) + own
        patches += _move(priors, scratch, s0, k0, s, k, side0, side)
        if patches == _PATCHES * n_super:
            _sum_sides(scratch)
            patches = 0
        if k != k0:
            word_topic[w, k0] -= _ONE
            word_topic[w, k] += _ONE
            move_between_topics(topic, scratch.inverses, priors.beta_sum, k0, k)
    _close_document(documents, paths, priors, scratch, d)


@compiled
def four_level_weights(documents, paths, counts, priors, n_super, d, i):
    """Weights from which ``sweep_four_level`` would draw token ``i``'s sub-topic, and its super-topic given each.

    Uses the functions of the sweep itself, and leaves the state as it was; for tests.
    """
    return _weights(documents, paths, counts, priors, make_scratch(counts, priors, n_super), d, i)


@compiled
def limited_weights(documents, paths, counts, priors, n_super, limits, before, d, i):
    """``four_level_weights`` for ``sweep_limited``, after a document of set ``before``, or of none if it is -1."""
    own = Priors(priors.alpha, priors.alpha_sum.copy(), priors.beta, priors.beta_sum)
    scratch = make_scratch(counts, priors, n_super)
    if before >= 0:
        _change_set(own, scratch, limits, -1, before)
    _change_set(own, scratch, limits, before, limits.doc_set[d])
    return _weights(documents, paths, counts, own, scratch, d, i)


@compiled
def _weights(documents, paths, counts, priors, scratch, d, i):
    n_super, n_sub = scratch.number.shape
    _open_document(documents, paths, priors, scratch, d)
    w, s0, k0 = np.int64(documents.tokens[i]), np.int64(paths.path[i]), np.int64(paths.topic[i])
    _, own, _ = _weigh_subs(counts, priors, scratch, w, s0, k0)
    subs = differences(scratch.running, n_sub)
    subs[k0] += own
    supers = np.empty((n_sub, n_super))
    for k in range(n_sub):
        own, _ = _weigh_supers(priors, scratch, s0, k0, k)
        supers[k] = differences(scratch.upper, n_super)
        supers[k, s0] += own
    return subs, supers
