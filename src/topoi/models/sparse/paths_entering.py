"""Documents added to the four-level model: ``pruned_equations.enter_plain``, built from the parts of ``pruned``."""

from __future__ import annotations

import numpy as np

from topoi.kernels.draw import draw_positive
from topoi.kernels.jit import compiled, inlined, lean
from topoi.kernels.word_lists import add_to_list
from topoi.models.sparse.pruned import (
    draw_running,
    make_scratch,
    open_factor,
    set_inverse,
    set_pair,
    weigh_entering,
)


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
