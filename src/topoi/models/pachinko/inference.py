"""New documents: Gibbs over their tokens alone, against private copies of the few rows of counts they touch."""

from __future__ import annotations

import numpy as np

from topoi.kernels.folding import content_key, local_problem
from topoi.kernels.jit import compiled
from topoi.kernels.random import seed_stream
from topoi.models.pachinko import blocks, four_level, general
from topoi.models.pachinko.plain import (
    Paths,
    move_path,
    move_word,
    new_tally,
    open_document,
    random_paths,
    reach_nodes,
    reach_topic,
    topic_weights,
)


@compiled
def _sweeps(small, paths, rows, prior, graph, four, room, any_graph, n, stream):
    """``n`` sweeps of one document; ``four`` has no super-topics unless the graph is the four-level model."""
    for _ in range(n):
        if four.total.shape[0] > 0:
            four_level.sweep_with(small, paths, rows, prior, four, stream)
            blocks.move_blocks_with(small, paths, room, stream)
        else:
            general.sweep_with(small, paths, rows, prior, graph, any_graph, stream)


@compiled
def _add_labels(small, paths, rows, prior, graph, tally, reach, labels, at):
    """Add every token's conditional probabilities of topics, given all other tokens; O(edges) each."""
    weights = np.empty(rows.topic.shape[0])
    for i in range(small.tokens.shape[0]):
        w, k0 = small.tokens[i], paths.topic[i]
        move_word(rows, w, k0, -1)
        move_path(graph, tally, k0, paths.path[i], -1)
        reach_nodes(graph, tally, prior, reach)
        topic_weights(graph, tally, rows, prior, reach, w, weights)
        total = weights.sum()
        for k in range(weights.shape[0]):
            labels.topic[at + i, k] += weights[k] / total
        labels.slot[at + i, 0] += 1.0
        move_path(graph, tally, k0, paths.path[i], 1)
        move_word(rows, w, k0, 1)


@compiled
def longest_document(documents):
    """The number of tokens of the longest document."""
    longest = 0
    for d in range(documents.doc_start.shape[0] - 1):
        longest = max(longest, documents.doc_start[d + 1] - documents.doc_start[d])
    return longest


@compiled
def fold_in(documents, scored, counts, priors, graph, n_super, plan, doc_topic, scores, labels):
    """Sample new documents and add up what was asked for, as ``author_topic.inference.fold_in`` does.

    ``doc_topic[d]`` receives the mean over samples of the topics' shares, the sums over paths with the document's own
    counts; ``scores`` the mean predictive probability of the scored tokens; ``labels`` each token's mean probabilities.
    """
    n_topics = counts.topic.shape[0]
    stream = np.empty(2, np.uint64)
    tally = new_tally(graph)
    reach = np.empty(graph.n_paths.shape[0])
    weights = np.empty(n_topics)
    part = 1.0 / plan.n_samples
    room = blocks.make_room(priors, n_super, n_topics, longest_document(documents))
    for d in range(documents.doc_start.shape[0] - 1):
        small, wanted, rows, prior = local_problem(documents, scored, d, counts, priors)
        n = small.tokens.shape[0]
        seed_stream(stream, plan.seed, plan.chain, content_key(documents, d), 1)
        paths = Paths(np.zeros(n, np.uint16), np.zeros(n, np.uint32))
        random_paths(small, graph, paths, stream)
        for i in range(n):
            move_word(rows, small.tokens[i], paths.topic[i], 1)
        four = four_level.make_scratch(rows, prior, n_super)
        any_graph = general.make_scratch(rows, prior, graph)
        at = scored.start[d]
        for sample in range(plan.n_samples):
            n_sweeps = plan.lag if sample else plan.burn_in
            _sweeps(small, paths, rows, prior, graph, four, room, any_graph, n_sweeps, stream)
            open_document(small, paths, graph, tally, 0)
            reach_nodes(graph, tally, prior, reach)
            for k in range(n_topics):
                doc_topic[d, k] += part * reach_topic(graph, tally, prior, reach, k)
            for j in range(wanted.shape[0]):
                topic_weights(graph, tally, rows, prior, reach, wanted[j], weights)
                scores[at + j] += part * weights.sum()
            if labels.topic.shape[0]:
                _add_labels(small, paths, rows, prior, graph, tally, reach, labels, documents.doc_start[d])
    if labels.topic.shape[0]:
        labels.topic[:] *= part
        labels.slot[:] *= part


@compiled
def document_shares(documents, paths, priors, graph, first, last, shares):
    """Set ``shares`` to the topics' shares in documents ``first`` to ``last``: sums over paths, all counts in place."""
    tally = new_tally(graph)
    reach = np.empty(graph.n_paths.shape[0])
    for d in range(first, last):
        open_document(documents, paths, graph, tally, d)
        reach_nodes(graph, tally, priors, reach)
        for k in range(shares.shape[1]):
            shares[d - first, k] = reach_topic(graph, tally, priors, reach, k)


@compiled
def document_nodes(documents, paths, priors, graph, shares):
    """Set ``shares`` to the probability of passing through each node, for all documents: documents × nodes."""
    tally = new_tally(graph)
    for d in range(documents.doc_start.shape[0] - 1):
        open_document(documents, paths, graph, tally, d)
        reach_nodes(graph, tally, priors, shares[d])
