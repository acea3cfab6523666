"""The pruned sweep of the four-level model: the draw of ``pruned_equations``, in time proportional to the candidates.

A super-topic that no other token of the document has is closed: its factor c (see ``four_level``) is zero, in

    base[k] = Σ over super-topics s of c[s] · (n[s,k] + alpha[s,k])

and a token of super-topic s0 sees base[k] + (c without it − c) · (n[s0,k] + alpha[s0,k]). Divided by the topics'
totals this is ``psi``. It is cached for one super-topic at a time, because most tokens of a document have the same. A
draw is one pass over the topics of the word and of the document, then one over the document's super-topics. All in
float64; where a super-topic's factor changes, ``base`` is patched, and recomputed every few patches.
"""

# numba infers the types of compiled loops.
# mypy: allow-untyped-defs, allow-incomplete-defs, no-check-untyped-defs
from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi.kernels.draw import draw_positive
from topoi.kernels.jit import compiled, inlined, lean
from topoi.kernels.random import uniform
from topoi.kernels.sparse import Bag, empty_bag, put, remove
from topoi.kernels.word_lists import add_to_list, take_from_list

_PATCHES = 64


class Scratch(NamedTuple):
    """Counts of one document and values derived from them.

    ``number[s,k]`` are its tokens, ``pair`` these + alpha, ``total[s]`` and ``sub_total[k]`` their sums, ``supers`` and
    ``subs`` those that are not zero; ``scale`` is c; ``empty_scale`` and ``empty_base`` are c and base of all
    super-topics in a document without tokens; ``inverse`` is 1 / (topic + W·beta); ``stamp`` marks the topics of the
    current word; ``chosen`` are the candidates with running sums of their weights, ``shares`` the weights of
    super-topics.
    """

    number: NDArray[np.int32]
    pair: NDArray[np.float64]
    total: NDArray[np.int64]
    sub_total: NDArray[np.int64]
    supers: Bag
    subs: Bag
    scale: NDArray[np.float64]
    base: NDArray[np.float64]
    psi: NDArray[np.float64]
    empty_scale: NDArray[np.float64]
    empty_base: NDArray[np.float64]
    inverse: NDArray[np.float64]
    stamp: NDArray[np.int64]
    chosen: NDArray[np.int64]
    running: NDArray[np.float64]
    shares: NDArray[np.float64]


@compiled
def make_scratch(counts, priors, n_super):
    """Scratch space for sweeps; closing a document restores this initial state."""
    n_sub = counts.topic.shape[0]
    scratch = Scratch(
        np.zeros((n_super, n_sub), np.int32),
        np.zeros((n_super, n_sub)),
        np.zeros(n_super, np.int64),
        np.zeros(n_sub, np.int64),
        empty_bag(n_super),
        empty_bag(n_sub),
        np.zeros(n_super),
        np.zeros(n_sub),
        np.zeros(n_sub),
        np.zeros(n_super),
        np.zeros(n_sub),
        np.zeros(n_sub),
        np.full(n_sub, -1),
        np.zeros(n_sub, np.int64),
        np.zeros(n_sub),
        np.zeros(n_super),
    )
    for k in range(n_sub):
        set_inverse(counts, priors, scratch, k)
    for s in range(n_super):
        scratch.empty_scale[s] = open_factor(priors, s, 0)
        for k in range(n_sub):
            set_pair(priors, scratch, s, k)
            scratch.empty_base[k] += scratch.empty_scale[s] * scratch.pair[s, k]
    return scratch


@inlined
def set_inverse(counts, priors, scratch, k):
    """Set the inverse of a topic's total."""
    scratch.inverse[k] = 1.0 / (counts.topic[k] + priors.beta_sum)


@inlined
def set_pair(priors, scratch, s, k):
    """Set a pair from its whole count."""
    n_super, n_sub = scratch.number.shape
    scratch.pair[s, k] = scratch.number[s, k] + np.float64(priors.alpha[n_super + s * n_sub + k])


@inlined
def open_factor(priors, s, n):
    """Factor c of a super-topic with ``n`` tokens, open even if there are none."""
    return (n + np.float64(priors.alpha[s])) / (n + priors.alpha_sum[1 + s])


@inlined
def _factor(priors, s, n):
    """Factor c of a super-topic with ``n`` tokens: zero if there are none."""
    return open_factor(priors, s, n) if n > 0 else 0.0


@inlined
def _step_pair(priors, scratch, s, k, step):
    """Add or remove a token's pair; update the sets and the super-topic's factor."""
    scratch.number[s, k] += step
    scratch.total[s] += step
    scratch.sub_total[k] += step
    set_pair(priors, scratch, s, k)
    if step > 0:
        put(scratch.supers, s)
        put(scratch.subs, k)
    else:
        if scratch.total[s] == 0:
            remove(scratch.supers, s)
        if scratch.sub_total[k] == 0:
            remove(scratch.subs, k)
    scratch.scale[s] = _factor(priors, s, scratch.total[s])


@inlined
def _sum_base(scratch):
    """Compute ``base`` by its definition; O(the document's super-topics × sub-topics)."""
    scratch.base[:] = 0.0
    for at in range(scratch.supers.size[0]):
        s = scratch.supers.member[at]
        scale = scratch.scale[s]
        for k in range(scratch.base.shape[0]):
            scratch.base[k] += scale * scratch.pair[s, k]


@inlined
def _sum_base_at(scratch, k):
    total = 0.0
    for at in range(scratch.supers.size[0]):
        s = scratch.supers.member[at]
        total += scratch.scale[s] * scratch.pair[s, k]
    scratch.base[k] = total


@inlined
def _set_psi(scratch, s0, step, k):
    scratch.psi[k] = (scratch.base[k] + step * scratch.pair[s0, k]) * scratch.inverse[k]


@inlined
def _open_document(documents, paths, priors, scratch, d):
    for i in range(documents.doc_start[d], documents.doc_start[d + 1]):
        _step_pair(priors, scratch, np.int64(paths.path[i]), np.int64(paths.topic[i]), 1)
    _sum_base(scratch)


@inlined
def _close_document(documents, paths, priors, scratch, d):
    for i in range(documents.doc_start[d], documents.doc_start[d + 1]):
        _step_pair(priors, scratch, np.int64(paths.path[i]), np.int64(paths.topic[i]), -1)


@inlined
def _own_side(priors, scratch, s0, k0):
    """Side of the token's own sub-topic with the token left out, summed directly."""
    side = 0.0
    for at in range(scratch.supers.size[0]):
        s = scratch.supers.member[at]
        if s == s0:
            side += _factor(priors, s, scratch.total[s] - 1) * (scratch.pair[s, k0] - 1.0)
        else:
            side += scratch.scale[s] * scratch.pair[s, k0]
    return side


@inlined
def _weigh_subs(counts, priors, scratch, w, s0, k0, mark):
    """List candidates with running sums of their weights, for a token still in all counts; return their number."""
    beta = np.float64(priors.beta[w])
    n = 0
    total = 0.0
    first = counts.start[w]
    for e in range(first, first + counts.length[w]):
        k = np.int64(counts.entry_topic[e])
        scratch.stamp[k] = mark
        if k == k0:
            rest = counts.entry_number[e] - 1
            if rest == 0 and scratch.sub_total[k0] == 1:
                continue
            side = _own_side(priors, scratch, s0, k0)
            total += (rest + beta) / (counts.topic[k0] - 1 + priors.beta_sum) * side
        else:
            total += (counts.entry_number[e] + beta) * scratch.psi[k]
        scratch.chosen[n] = k
        scratch.running[n] = total
        n += 1
    for at in range(scratch.subs.size[0]):
        k = scratch.subs.member[at]
        if scratch.stamp[k] != mark:
            total += beta * scratch.psi[k]
            scratch.chosen[n] = k
            scratch.running[n] = total
            n += 1
    return n


@inlined
def draw_running(scratch, n, stream):
    """Draw one of the candidates, by bisection."""
    left = uniform(stream) * scratch.running[n - 1]
    low, high = 0, n - 1
    while low < high:
        middle = (low + high) >> 1
        if scratch.running[middle] > left:
            high = middle
        else:
            low = middle + 1
    return scratch.chosen[low]


@inlined
def _weigh_supers(priors, scratch, s0, k0, k):
    """Weights of the document's super-topics given sub-topic ``k``, with the token left out; returns their number."""
    n = scratch.supers.size[0]
    for at in range(n):
        s = scratch.supers.member[at]
        if s == s0:
            pair = scratch.pair[s, k] - (1.0 if k == k0 else 0.0)
            scratch.shares[at] = _factor(priors, s, scratch.total[s] - 1) * pair
        else:
            scratch.shares[at] = scratch.scale[s] * scratch.pair[s, k]
    return n


@inlined
def _move(priors, scratch, s0, k0, s, k):
    """Move a token between pairs, and update ``base``."""
    if s != s0:
        step0 = _factor(priors, s0, scratch.total[s0] - 1) - scratch.scale[s0]
        step = _factor(priors, s, scratch.total[s] + 1) - scratch.scale[s]
        for j in range(scratch.base.shape[0]):
            scratch.base[j] += step0 * scratch.pair[s0, j] + step * scratch.pair[s, j]
    _step_pair(priors, scratch, s, k, 1)
    _step_pair(priors, scratch, s0, k0, -1)
    _sum_base_at(scratch, k0)
    _sum_base_at(scratch, k)


@inlined
def _move_word(counts, priors, scratch, w, k0, k):
    take_from_list(counts, w, k0)
    add_to_list(counts, w, k)
    counts.topic[k0] -= 1
    counts.topic[k] += 1
    set_inverse(counts, priors, scratch, k0)
    set_inverse(counts, priors, scratch, k)


@compiled
def sweep_pruned(documents, docs, paths, counts, priors, n_super, stream):
    """One pruned sweep over documents ``docs``; changes paths, sparse counts, stream; returns the paths considered."""
    return _sweep_pruned(documents, docs, paths, counts, priors, make_scratch(counts, priors, n_super), stream, False)


@compiled
def sweep_pruned_afresh(documents, docs, paths, counts, priors, n_super, stream):
    """``sweep_pruned`` without values cached between tokens, except counts: the same draws, slowly; for tests."""
    return _sweep_pruned(documents, docs, paths, counts, priors, make_scratch(counts, priors, n_super), stream, True)


@lean
def _sweep_pruned(documents, docs, paths, counts, priors, scratch, stream, afresh):
    considered = 0
    n_sub = counts.topic.shape[0]
    for c in range(docs.shape[0]):
        d = docs[c]
        begin, end = documents.doc_start[d], documents.doc_start[d + 1]
        if end - begin == 1:
            considered += _sample_alone(documents, paths, counts, priors, scratch, begin, stream)
            continue
        _open_document(documents, paths, priors, scratch, d)
        seen_by = -1
        step = 0.0
        patches = 0
        for i in range(begin, end):
            w, k0, s0 = np.int64(documents.tokens[i]), np.int64(paths.topic[i]), np.int64(paths.path[i])
            if afresh:
                seen_by = -1
                _sum_base(scratch)
                for k in range(n_sub):
                    set_inverse(counts, priors, scratch, k)
            if seen_by != s0:
                seen_by = s0
                step = _factor(priors, s0, scratch.total[s0] - 1) - scratch.scale[s0]
                for k in range(n_sub):
                    _set_psi(scratch, s0, step, k)
            n = _weigh_subs(counts, priors, scratch, w, s0, k0, i)
            considered += n * (scratch.supers.size[0] - (scratch.total[s0] == 1))
            k = draw_running(scratch, n, stream)
            n = _weigh_supers(priors, scratch, s0, k0, k)
            s = scratch.supers.member[draw_positive(scratch.shares, n, stream)]
            if k == k0 and s == s0:
                continue
            paths.topic[i] = k
            paths.path[i] = s
            _move(priors, scratch, s0, k0, s, k)
            if k != k0:
                _move_word(counts, priors, scratch, w, k0, k)
            if s == s0:
                _set_psi(scratch, s0, step, k0)
                _set_psi(scratch, s0, step, k)
                continue
            seen_by = -1
            patches += 1
            if patches == _PATCHES:
                _sum_base(scratch)
                patches = 0
        _close_document(documents, paths, priors, scratch, d)
    return considered


@inlined
def weigh_entering(counts, priors, scratch, w, base, everywhere):
    """Candidates of a token to be added, and running sums of their weights: the word's sub-topics, or all."""
    beta = np.float64(priors.beta[w])
    total = 0.0
    first = counts.start[w]
    if everywhere:
        for k in range(counts.topic.shape[0]):
            scratch.psi[k] = beta
            scratch.chosen[k] = k
        for e in range(first, first + counts.length[w]):
            scratch.psi[counts.entry_topic[e]] += counts.entry_number[e]
        for k in range(counts.topic.shape[0]):
            total += scratch.psi[k] * base[k] * scratch.inverse[k]
            scratch.running[k] = total
        return counts.topic.shape[0]
    n = 0
    for e in range(first, first + counts.length[w]):
        k = np.int64(counts.entry_topic[e])
        total += (counts.entry_number[e] + beta) * base[k] * scratch.inverse[k]
        scratch.chosen[n] = k
        scratch.running[n] = total
        n += 1
    return n


@inlined
def _sample_alone(documents, paths, counts, priors, scratch, i, stream):
    """Sample the only token of a document: all pairs are candidates."""
    w, k0 = np.int64(documents.tokens[i]), np.int64(paths.topic[i])
    take_from_list(counts, w, k0)
    counts.topic[k0] -= 1
    set_inverse(counts, priors, scratch, k0)
    n_super = scratch.shares.shape[0]
    n = weigh_entering(counts, priors, scratch, w, scratch.empty_base, True)
    k = draw_running(scratch, n, stream)
    for s in range(n_super):
        scratch.shares[s] = scratch.empty_scale[s] * scratch.pair[s, k]
    paths.path[i] = draw_positive(scratch.shares, n_super, stream)
    paths.topic[i] = k
    add_to_list(counts, w, k)
    counts.topic[k] += 1
    set_inverse(counts, priors, scratch, k)
    return n * n_super


@compiled
def pruned_weights(documents, paths, counts, priors, n_super, d, i):
    """Weights from which ``sweep_pruned`` would draw token ``i``'s sub-topic, and its super-topic given each.

    For tests. Uses the functions of the sweep itself, for a document of several tokens. Also returns the number of
    paths considered.
    """
    scratch = make_scratch(counts, priors, n_super)
    _open_document(documents, paths, priors, scratch, d)
    w, k0, s0 = np.int64(documents.tokens[i]), np.int64(paths.topic[i]), np.int64(paths.path[i])
    step = _factor(priors, s0, scratch.total[s0] - 1) - scratch.scale[s0]
    n_sub = counts.topic.shape[0]
    for k in range(n_sub):
        _set_psi(scratch, s0, step, k)
    n = _weigh_subs(counts, priors, scratch, w, s0, k0, i)
    subs, supers = np.zeros(n_sub), np.zeros((n_sub, n_super))
    for j in range(n):
        subs[scratch.chosen[j]] = scratch.running[j] - (scratch.running[j - 1] if j else 0.0)
        _weigh_supers(priors, scratch, s0, k0, scratch.chosen[j])
        for at in range(scratch.supers.size[0]):
            supers[scratch.chosen[j], scratch.supers.member[at]] = scratch.shares[at]
    return subs, supers, n * (scratch.supers.size[0] - (scratch.total[s0] == 1))


@compiled
def enter_documents(documents, docs, paths, counts, priors, n_super, stream):
    """Add documents one after the other; changes paths, sparse counts and stream. Returns the paths considered."""
    return _enter(documents, docs, paths, counts, priors, make_scratch(counts, priors, n_super), stream)


@lean
def _enter(documents, docs, paths, counts, priors, scratch, stream):
    considered = 0
    n_super = scratch.shares.shape[0]
    for c in range(docs.shape[0]):
        begin, end = documents.doc_start[docs[c]], documents.doc_start[docs[c] + 1]
        for k in range(scratch.base.shape[0]):
            scratch.base[k] = scratch.empty_base[k]
        for s in range(n_super):
            scratch.scale[s] = scratch.empty_scale[s]
        for i in range(begin, end):
            w = np.int64(documents.tokens[i])
            n = weigh_entering(counts, priors, scratch, w, scratch.base, counts.length[w] == 0)
            considered += n * n_super
            k = draw_running(scratch, n, stream)
            for s in range(n_super):
                scratch.shares[s] = scratch.scale[s] * scratch.pair[s, k]
            s = draw_positive(scratch.shares, n_super, stream)
            paths.topic[i] = k
            paths.path[i] = s
            add_to_list(counts, w, k)
            counts.topic[k] += 1
            set_inverse(counts, priors, scratch, k)
            _count_entered(priors, scratch, s, k)
        for i in range(begin, end):
            s, k = np.int64(paths.path[i]), np.int64(paths.topic[i])
            scratch.number[s, k] = 0
            scratch.total[s] = 0
            set_pair(priors, scratch, s, k)
    return considered


@inlined
def _count_entered(priors, scratch, s, k):
    """Count a pair in a document for which all super-topics are open."""
    old = scratch.scale[s]
    scratch.total[s] += 1
    scratch.scale[s] = open_factor(priors, s, scratch.total[s])
    step = scratch.scale[s] - old
    for j in range(scratch.base.shape[0]):
        scratch.base[j] += step * scratch.pair[s, j]
    scratch.number[s, k] += 1
    set_pair(priors, scratch, s, k)
    scratch.base[k] += scratch.scale[s]
