"""Geweke's joint distribution test: paths and words from the prior, and by alternating sweeps with new words."""

import numpy as np
import pytest

from author_topic.small_states import empty_counts
from author_topic.test_geweke import draw_words, z_scores
from pachinko.small_states import DAGS, make_documents
from pachinko.sweeps import SWEEPS, sweeps_for
from topoi.kernels.draw import draw_plain
from topoi.kernels.jit import compiled
from topoi.kernels.random import new_stream
from topoi.models.dag import Dag
from topoi.models.graph import make_graph
from topoi.models.pachinko.equations import Paths, move_path, new_tally
from topoi.models.pachinko.state import make_priors

N_WORDS = 6
LARGER = {"four levels, several blocks": Dag.from_levels(19, 40), "LDA, several groups": Dag.from_levels(150)}


@compiled
def draw_paths(documents, paths, counts, alpha, graph, open_slots, stream):
    """New paths from the prior: from the root down, every node an urn of the current document with its open slots."""
    counts.topic[:] = 0
    topic_of = np.full(len(graph.n_paths), -1)
    topic_of[graph.topic_node] = np.arange(len(graph.topic_node))
    child = np.full(graph.slot_start[-1], -1)
    way = np.zeros(graph.slot_start[-1], np.int64)
    for v in range(len(graph.n_paths)):
        for j in range(graph.in_start[v], graph.in_start[v + 1]):
            child[graph.in_slot[j]] = v
            way[graph.in_slot[j]] = j
    weights = np.empty(graph.slot_start[-1])
    for d in range(len(documents.doc_start) - 1):
        tally = new_tally(graph)
        for i in range(documents.doc_start[d], documents.doc_start[d + 1]):
            v, path, here = 0, 0, False
            while graph.slot_start[v + 1] > graph.slot_start[v] and not here:
                first, last = graph.slot_start[v], graph.slot_start[v + 1]
                for slot in range(first, last):
                    weights[slot - first] = (tally.number[slot] + alpha[slot]) * open_slots[d, slot]
                slot = first + draw_plain(weights, last - first, stream)
                if child[slot] < 0:
                    here = True
                else:
                    path += graph.path_start[way[slot]]
                    v = child[slot]
            paths.topic[i] = topic_of[v]
            paths.path[i] = path
            counts.topic[topic_of[v]] += 1
            move_path(graph, tally, topic_of[v], path, 1)


@compiled
def statistics(documents, paths, counts, graph, out):
    """What both ways must agree on: sums of squares and products of words, topics and paths."""
    n = len(documents.tokens)
    out[:] = 0.0
    for k in range(len(counts.topic)):
        out[0] += counts.topic[k] ** 2
        for w in range(counts.word_topic.shape[0]):
            out[1] += np.float64(counts.word_topic[w, k]) ** 2
    tally = new_tally(graph)
    for i in range(documents.doc_start[1]):
        move_path(graph, tally, paths.topic[i], paths.path[i], 1)
    out[2] = (tally.number**2).sum()
    out[3] = (tally.total**2).sum()
    for slot in range(len(tally.number)):
        out[4] += slot * tally.number[slot]
    for i in range(n):
        out[5] += paths.path[i]
        out[6] += paths.topic[i] == 0
        out[7] += (documents.tokens[i] == 0) * (paths.topic[i] == 0)
        out[8] += documents.tokens[i] == documents.tokens[0]
        out[9] += (paths.topic[i] == paths.topic[n - 1]) * (paths.path[i] == paths.path[n - 1])
        out[10] += (paths.topic[i] == paths.topic[0]) * (1 + paths.path[i])


N_STATISTICS = 11


@compiled
def prior_statistics(documents, paths, counts, priors, graph, open_slots, n, stream, out):
    for s in range(n):
        draw_paths(documents, paths, counts, priors.alpha, graph, open_slots, stream)
        draw_words(documents, paths, counts, priors, stream)
        statistics(documents, paths, counts, graph, out[s])


def run(dag, kind, n_direct, n_chain, sampler_alpha=1.0):
    documents, graph = make_documents([[0] * 6] * 3), make_graph(dag)
    n_slots = int(graph.slot_start[-1])
    alpha, beta = np.linspace(0.2, 0.8, n_slots), np.linspace(0.2, 0.8, N_WORDS)
    paths, counts = Paths(np.zeros(18, np.uint16), np.zeros(18, np.uint32)), empty_counts(N_WORDS, len(dag.topics), 0)
    direct, chain = np.empty((n_direct, N_STATISTICS)), np.empty((n_chain, N_STATISTICS))
    priors, told = make_priors(graph, alpha, beta), make_priors(graph, alpha * sampler_alpha, beta)
    all_open = np.ones((3, n_slots))
    prior_statistics(documents, paths, counts, priors, graph, all_open, n_direct, new_stream(1), direct)
    stream = new_stream(2)
    draw_paths(documents, paths, counts, priors.alpha, graph, all_open, stream)
    draw_words(documents, paths, counts, priors, stream)
    loop = SWEEPS[kind].alternate
    loop(draw_words, statistics, documents, paths, counts, told, graph, n_chain, stream, chain)
    return z_scores(direct, chain)


EVERY = [(name, kind) for name in DAGS for kind in sweeps_for(DAGS[name])]


@pytest.mark.parametrize(("name", "kind"), [pair for pair in EVERY if pair[0] in ("four levels", "words and topics")])
def test_sweeps_leave_the_joint_distribution_alone(name, kind):
    assert np.abs(run(DAGS[name], kind, 40_000, 40_000)).max() < 4.5


def test_geweke_notices_a_wrong_prior():
    """The sampler is told a slightly different alpha than the one that drew the data."""
    assert np.abs(run(DAGS["diamond"], "any graph, plain", 40_000, 40_000, sampler_alpha=1.3)).max() > 6


@pytest.mark.slow
@pytest.mark.parametrize(("name", "kind"), EVERY)
def test_sweeps_leave_the_joint_distribution_alone_long(name, kind):
    assert np.abs(run(DAGS[name], kind, 400_000, 400_000)).max() < 4.5


@pytest.mark.slow
@pytest.mark.parametrize(("name", "kind"), [(name, kind) for name in LARGER for kind in sweeps_for(LARGER[name])])
def test_many_topics_too(name, kind):
    assert np.abs(run(LARGER[name], kind, 40_000, 40_000)).max() < 4.5
