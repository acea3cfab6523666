"""Exact sweeps on sparse counts: one block of documents at a time, with the rows of its words expanded.

The sweeps of ``four_level`` and ``general`` see a small vocabulary of their own and make the same draws as from dense
counts. However large the corpus, rows take at most ``_BLOCK_BYTES`` (more only if one document needs more).
"""

# numba infers the types of compiled loops.
# mypy: allow-untyped-defs, allow-incomplete-defs, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from topoi.kernels import lanes
from topoi.kernels.counts import Counts, Documents, Priors
from topoi.kernels.jit import compiled, lean
from topoi.kernels.word_lists import insert_from_row, keep_from_row, open_row
from topoi.models.pachinko import four_level, general
from topoi.models.pachinko.equations import Paths

_BLOCK_BYTES = 2**25


@compiled
def sweep_rows(documents, docs, paths, counts, priors, graph, n_super, stream):
    """One exact sweep over documents ``docs``; changes paths, sparse counts and stream.

    ``n_super`` is 0 unless the graph is the four-level model.
    """
    width = counts.author_topic.shape[1]
    longest = 1
    for c in range(docs.shape[0]):
        longest = max(longest, documents.doc_start[docs[c] + 1] - documents.doc_start[docs[c]])
    most = min(max(_BLOCK_BYTES // (4 * width), longest), counts.length.shape[0])
    rows = lanes.aligned_floats(most * width).view(counts.author_topic.dtype).reshape((most, width))
    local = Counts(rows, counts.topic, counts.author_topic, counts.author)
    place = np.full(counts.length.shape[0], -1, np.int32)
    words = np.empty(most, np.int64)
    prior = Priors(priors.alpha, priors.alpha_sum, np.empty(most, np.float32), priors.beta_sum)
    four = four_level.make_scratch(local, priors, n_super)
    any_graph = general.make_scratch(local, priors, graph)
    first = 0
    while first < docs.shape[0]:
        last, n_words, n = _take_block(documents, docs, first, place, words, longest)
        small, mine = _local_documents(documents, docs, first, last, paths, place, n)
        for r in range(n_words):
            prior.beta[r] = priors.beta[words[r]]
            open_row(counts, words[r], rows[r])
        if n_super > 0:
            four_level.sweep_with(small, mine, local, prior, four, stream)
        else:
            general.sweep_with(small, mine, local, prior, graph, any_graph, stream)
        for r in range(n_words):
            keep_from_row(counts, words[r], rows[r])
            place[words[r]] = -1
        for i in range(n):
            insert_from_row(counts, words[small.tokens[i]], mine.topic[i], rows[small.tokens[i]])
        _write_back(documents, docs, first, last, paths, mine)
        first = last


@lean
def _take_block(documents, docs, first, place, words, longest):
    """Take documents while there is room for the words of one more, and number their words.

    Returns the start of the next block, the number of words, and the number of tokens.
    """
    n_words, n = 0, 0
    c = first
    while c < docs.shape[0] and (c == first or n_words + longest <= words.shape[0] or words.shape[0] == place.shape[0]):
        for i in range(documents.doc_start[docs[c]], documents.doc_start[docs[c] + 1]):
            w = documents.tokens[i]
            if place[w] < 0:
                place[w] = n_words
                words[n_words] = w
                n_words += 1
            n += 1
        c += 1
    return c, n_words, n


@compiled
def _local_documents(documents, docs, first, last, paths, place, n):
    """Documents of the block with its own word numbers, and their paths."""
    tokens, start = np.empty(n, np.int32), np.zeros(last - first + 1, np.int64)
    topic, path = np.empty(n, np.uint16), np.empty(n, np.uint32)
    at = 0
    for c in range(first, last):
        for i in range(documents.doc_start[docs[c]], documents.doc_start[docs[c] + 1]):
            tokens[at] = place[documents.tokens[i]]
            topic[at] = paths.topic[i]
            path[at] = paths.path[i]
            at += 1
        start[c - first + 1] = at
    small = Documents(tokens, start, documents.author, documents.author_start, documents.author_weight)
    return small, Paths(topic, path)


@lean
def _write_back(documents, docs, first, last, paths, mine):
    at = 0
    for c in range(first, last):
        for i in range(documents.doc_start[docs[c]], documents.doc_start[docs[c] + 1]):
            paths.topic[i] = mine.topic[at]
            paths.path[i] = mine.path[at]
            at += 1
