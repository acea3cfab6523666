"""Simulation: topics' words; in each document a mixture at every node; then paths and words."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi.models.graph import Graph, make_graph, slot_nodes
from topoi.models.pachinko.learning import resolve_alpha
from topoi.models.simulation import (
    SimulatedCorpus,
    dirichlet_rows,
    document_lengths,
    draw_corpus,
    draw_topics,
    topic_shares,
)
from topoi.models.validation import whole_number

if TYPE_CHECKING:
    from topoi.models.pachinko.estimator import PachinkoAllocation


class PachinkoTruth(NamedTuple):
    """Parameters that a simulated corpus was drawn from, and every token's topic and path (numbered per topic)."""

    topic_word: NDArray[np.float64]
    alpha: NDArray[np.float64]
    doc_topic: NDArray[np.float64]
    topic: NDArray[np.int64]
    path: NDArray[np.int64]


def simulate_pachinko(model: PachinkoAllocation, n_docs: int, doc_length: float, seed: int) -> SimulatedCorpus:
    """Draw a corpus with the model's settings; topics and alpha are the fitted ones if there are any."""
    rng = np.random.default_rng(seed)
    whole_number("n_docs", n_docs)
    dag = model._graph()
    if hasattr(model, "n_iter_"):
        first = model.chains_[0]
        topic_word, alpha, words = first.topic_word, first.edge_alpha, list(model.vocabulary_.words)
    else:
        alpha = resolve_alpha(dag, model.root_alpha, model.alpha)
        topic_word, words = draw_topics(rng, model.beta, len(dag.topics))
    graph = make_graph(dag)
    lengths = document_lengths(rng, doc_length, n_docs)
    drawn = [_document_paths(rng, graph, alpha, int(n)) for n in lengths]
    topic, path = (np.concatenate([pair[i] for pair in drawn]) for i in (0, 1))
    corpus = draw_corpus(rng, lengths, topic, topic_word, words)
    corpus.truth = PachinkoTruth(topic_word, alpha, topic_shares(lengths, topic, len(dag.topics)), topic, path)
    return corpus


def _document_paths(
    rng: np.random.Generator, graph: Graph, alpha: NDArray[np.float64], n: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Topics and path numbers of one document's tokens, which go down the graph together."""
    topic_of = np.full(len(graph.n_paths), -1)
    topic_of[graph.topic_node] = np.arange(len(graph.topic_node))
    child, way = slot_nodes(graph), np.zeros(len(alpha), np.int64)
    way[graph.in_slot] = np.arange(len(graph.in_slot))
    at, path, topic = np.zeros(n, np.int64), np.zeros(n, np.int64), np.full(n, -1)
    for u in range(len(graph.n_paths)):
        here = np.flatnonzero((at == u) & (topic < 0))
        slots = slice(graph.slot_start[u], graph.slot_start[u + 1])
        if slots.start == slots.stop:
            topic[here] = topic_of[u]
        elif len(here):
            theta = dirichlet_rows(rng, alpha[slots], 1)[0]
            slot = slots.start + rng.choice(len(theta), len(here), p=theta)
            stays = child[slot] < 0
            topic[here[stays]] = topic_of[u]
            at[here[~stays]] = child[slot[~stays]]
            path[here[~stays]] += graph.path_start[way[slot[~stays]]]
    return topic, path
