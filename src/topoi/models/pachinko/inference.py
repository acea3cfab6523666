"""Sampling of new documents: Gibbs over their tokens alone, against private copies of the few rows they touch."""

# numba infers the types of compiled loops.
# mypy: allow-untyped-defs, allow-incomplete-defs, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from topoi.kernels.folding import Labels, content_key, local_problem, multiply
from topoi.kernels.guided import topic_for_word
from topoi.kernels.jit import compiled
from topoi.kernels.random import seed_stream
from topoi.models.pachinko import blocks, four_level, general
from topoi.models.pachinko.equations import (
    Paths,
    move_path,
    move_word,
    new_tally,
    open_document,
    random_path,
    random_paths,
    reach_nodes,
    reach_topic,
    topic_weights,
)
from topoi.models.pachinko.limits import limit_priors, room_for_priors


@compiled
def _sweeps(small, paths, rows, prior, graph, four, room, any_graph, n, stream):
    """``n`` sweeps of one document; ``four`` has no super-topics unless the graph is the four-level model."""
    for _ in range(n):
        if four.total.shape[0] > 0:
            four_level.sweep_with(small, paths, rows, prior, four, stream)
            blocks.move_document(small, 0, paths, room, stream)
        else:
            general.sweep_with(small, paths, rows, prior, graph, any_graph, stream)


@compiled
def _add_labels(small, paths, rows, prior, graph, tally, reach, labels):
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
            labels.topic[i, k] += weights[k] / total
        labels.slot[i, 0] += 1.0
        move_path(graph, tally, k0, paths.path[i], 1)
        move_word(rows, w, k0, 1)


@compiled
def start_document(small, graph, paths, rows, stream):
    """Give a new document's tokens random paths, and count them; no word starts in a topic that it is banned from."""
    random_paths(small, graph, paths, stream)
    for i in range(small.tokens.shape[0]):
        k0 = np.int64(paths.topic[i])
        k = topic_for_word(rows.word_topic, small.tokens[i], k0, rows.topic.shape[0], stream)
        if k != k0:
            paths.topic[i] = k
            paths.path[i] = random_path(graph, k, stream)
        move_word(rows, small.tokens[i], paths.topic[i], 1)


@compiled
def sample_document(small, paths, wanted, rows, prior, graph, n_super, plan, stream, doc_topic, scores, labels):
    """Sample one document whose tokens are already counted in ``rows``, and add to the requested outputs.

    With no burn-in and one sample, the paths are used as they are.
    """
    tally = new_tally(graph)
    reach = np.empty(graph.n_paths.shape[0])
    weights = np.empty(rows.topic.shape[0])
    four = four_level.make_scratch(rows, prior, n_super)
    room = blocks.make_room(prior, n_super, rows.topic.shape[0], small.tokens.shape[0])
    any_graph = general.make_scratch(rows, prior, graph)
    part = 1.0 / plan.n_samples
    for sample in range(plan.n_samples):
        n_sweeps = plan.lag if sample else plan.burn_in
        _sweeps(small, paths, rows, prior, graph, four, room, any_graph, n_sweeps, stream)
        open_document(small, paths, graph, tally, 0)
        reach_nodes(graph, tally, prior, reach)
        for k in range(rows.topic.shape[0]):
            doc_topic[k] += part * reach_topic(graph, tally, prior, reach, k)
        for j in range(wanted.shape[0]):
            topic_weights(graph, tally, rows, prior, reach, wanted[j], weights)
            scores[j] += part * weights.sum()
        if labels.topic.shape[0]:
            _add_labels(small, paths, rows, prior, graph, tally, reach, labels)
    multiply(labels.topic, part)
    multiply(labels.slot, part)


@compiled
def fold_in(documents, scored, counts, priors, graph, n_super, plan, doc_topic, scores, labels):
    """Sample new documents and add to the requested outputs, as ``author_topic.inference.fold_in`` does.

    ``doc_topic[d]`` receives the mean over samples of the topics' shares (sums over paths, with the document's own
    counts); ``scores`` the mean predictive probability of the scored tokens; ``labels`` each token's mean
    probabilities.
    """
    stream = np.empty(2, np.uint64)
    for d in range(documents.doc_start.shape[0] - 1):
        small, wanted, rows, prior = local_problem(documents, scored, d, counts, priors, plan.weight)
        n, first = len(small.tokens), documents.doc_start[d] if labels.topic.shape[0] else 0
        last = first + n if labels.topic.shape[0] else 0
        here = Labels(labels.topic[first:last], labels.slot[first:last])
        there = scores[scored.start[d] : scored.start[d + 1]]
        seed_stream(stream, plan.seed, plan.chain, content_key(documents, d), 1)
        paths = Paths(np.zeros(n, np.uint16), np.zeros(n, np.uint32))
        start_document(small, graph, paths, rows, stream)
        sample_document(small, paths, wanted, rows, prior, graph, n_super, plan, stream, doc_topic[d], there, here)


@compiled
def document_topics(documents, paths, priors, graph, shares):
    """Set ``shares`` to the topic shares of all documents, sums over paths: documents × topics."""
    tally = new_tally(graph)
    reach = np.empty(graph.n_paths.shape[0])
    for d in range(documents.doc_start.shape[0] - 1):
        open_document(documents, paths, graph, tally, d)
        reach_nodes(graph, tally, priors, reach)
        for k in range(shares.shape[1]):
            shares[d, k] = reach_topic(graph, tally, priors, reach, k)


@compiled
def document_nodes(documents, paths, priors, graph, shares):
    """Set ``shares`` to the probability of passing through each node, for all documents: documents × nodes."""
    tally = new_tally(graph)
    for d in range(documents.doc_start.shape[0] - 1):
        open_document(documents, paths, graph, tally, d)
        reach_nodes(graph, tally, priors, shares[d])


@compiled
def limited_topics(documents, paths, priors, graph, limits, shares):
    """``document_topics`` of documents that have only the topics of their sets; see ``limits``."""
    tally, own = new_tally(graph), room_for_priors(priors)
    reach = np.empty(graph.n_paths.shape[0])
    for d in range(documents.doc_start.shape[0] - 1):
        limit_priors(limits, limits.doc_set[d], priors, own)
        open_document(documents, paths, graph, tally, d)
        reach_nodes(graph, tally, own, reach)
        for k in range(shares.shape[1]):
            shares[d, k] = reach_topic(graph, tally, own, reach, k)


@compiled
def limited_nodes(documents, paths, priors, graph, limits, shares):
    """``document_nodes`` of documents that have only the topics of their sets; see ``limits``."""
    tally, own = new_tally(graph), room_for_priors(priors)
    for d in range(documents.doc_start.shape[0] - 1):
        limit_priors(limits, limits.doc_set[d], priors, own)
        open_document(documents, paths, graph, tally, d)
        reach_nodes(graph, tally, own, shares[d])
