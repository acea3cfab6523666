"""Invariants and reductions of the samplers."""

import numpy as np
import pytest

from author_topic.small_states import empty_counts
from pachinko.small_states import DAGS, log_joint, make_documents, random_alpha, random_dag, random_state
from pachinko.sweeps import SWEEPS, sweeps_for
from topoi.kernels.counts import Assignments
from topoi.kernels.random import new_stream
from topoi.models.author_topic import equations as author_equations
from topoi.models.author_topic.state import make_priors as author_priors
from topoi.models.dag import Dag
from topoi.models.graph import make_graph
from topoi.models.pachinko import equations
from topoi.models.pachinko.equations import Paths, count
from topoi.models.pachinko.state import make_priors


@pytest.mark.parametrize(("name", "kind"), [(name, kind) for name in DAGS for kind in sweeps_for(DAGS[name])])
def test_counts_equal_a_recount_after_every_sweep(name, kind):
    rng = np.random.default_rng(len(name))
    documents, paths, counts, priors, graph, _ = random_state(DAGS[name], rng, n_docs=20, n_words=9)
    again = empty_counts(9, len(DAGS[name].topics), 0)
    stream = new_stream(4)
    for _ in range(5):
        SWEEPS[kind].sweep(documents, paths, counts, priors, graph, stream)
        count(documents, paths, again)
        assert np.array_equal(counts.word_topic, again.word_topic)
        assert np.array_equal(counts.topic, again.topic)
        assert (paths.path < graph.n_paths[graph.topic_node[paths.topic]]).all()


def texts(rng, n_docs=30, n_words=12, length=25):
    return make_documents([rng.integers(0, n_words, length).tolist() for _ in range(n_docs)])


def test_a_three_level_graph_is_lda():
    """From random start to last sweep the same draws as the author-topic family's plain sampler."""
    rng = np.random.default_rng(0)
    documents, n_topics = texts(rng), 7
    alpha, beta = rng.uniform(0.05, 1.0, n_topics), rng.uniform(0.01, 0.5, 12)
    graph = make_graph(Dag.from_levels(n_topics))
    n = len(documents.tokens)
    paths, ours = Paths(np.zeros(n, np.uint16), np.zeros(n, np.uint32)), empty_counts(12, n_topics, 0)
    theirs, lda = Assignments(np.zeros(n, np.uint16), np.zeros(n, np.uint16)), empty_counts(12, n_topics, 0)
    equations.random_paths(documents, graph, paths, new_stream(1))
    author_equations.random_assignments(documents, n_topics, theirs, new_stream(1))
    assert np.array_equal(paths.topic, theirs.topic)
    equations.count(documents, paths, ours)
    author_equations.count(documents, theirs, lda)
    one, other = new_stream(2), new_stream(2)
    for _ in range(10):
        equations.sweep_plain(documents, paths, ours, make_priors(graph, alpha, beta), graph, one)
        author_equations.sweep_plain(documents, theirs, lda, author_priors(alpha, beta), other)
        assert np.array_equal(paths.topic, theirs.topic)
    assert np.array_equal(one, other)  # not one random number more


def test_a_four_level_graph_is_the_four_level_model():
    rng = np.random.default_rng(1)
    dag = Dag.from_levels(4, 6)
    documents, graph, alpha, beta = texts(rng), make_graph(dag), random_alpha(dag, rng), rng.uniform(0.01, 0.5, 12)
    priors = make_priors(graph, alpha, beta)
    n = len(documents.tokens)
    states = []
    for four_level in (False, True):
        paths, counts = Paths(np.zeros(n, np.uint16), np.zeros(n, np.uint32)), empty_counts(12, 6, 0)
        equations.random_paths(documents, graph, paths, new_stream(1))
        equations.count(documents, paths, counts)
        stream = new_stream(2)
        for _ in range(10):
            if four_level:
                equations.sweep_four_level_plain(documents, paths, counts, priors, 4, stream)
            else:
                equations.sweep_plain(documents, paths, counts, priors, graph, stream)
        states.append((*paths, stream))
    for one, other in zip(*states, strict=True):
        assert np.array_equal(one, other)


@pytest.mark.parametrize("name", [*DAGS, "random"])
def test_log_joint_of_paths_equals_brute_force(name):
    rng = np.random.default_rng(8)
    dag = random_dag(rng) if name == "random" else DAGS[name]
    documents, paths, _, priors, graph, (docs, states, alpha, beta) = random_state(dag, rng)
    words = log_joint(dag, [[] for _ in docs], [], alpha, beta)
    assert words == 0.0
    found = equations.log_joint_documents(documents, paths, priors, graph)
    of_words = sum_of_words(docs, states, len(dag.topics), beta)
    assert found == pytest.approx(log_joint(dag, docs, states, alpha, beta) - of_words, rel=1e-6)


def sum_of_words(docs, states, n_topics, beta):
    from author_topic.small_states import dirichlet_multinomial

    by_topic = np.zeros((n_topics, len(beta)), int)
    for w, (k, _) in zip([w for words in docs for w in words], states, strict=True):
        by_topic[k, w] += 1
    return sum(dirichlet_multinomial(row, beta) for row in by_topic)
