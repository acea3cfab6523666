"""Each sampler's conditional probabilities of whole paths against brute force from the joint, on random states."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pachinko.small_states import DAGS, choices, log_joint, make_documents, random_dag, random_state
from topoi.kernels.jit import compiled
from topoi.kernels.random import new_stream
from topoi.models.dag import Dag
from topoi.models.graph import make_graph
from topoi.models.pachinko.equations import (
    Paths,
    count,
    most_ways,
    move_path,
    move_word,
    new_tally,
    open_document,
    path_probability,
    random_paths,
    reach_nodes,
    share,
    topic_weights,
    way_in,
)
from topoi.models.pachinko.four_level import four_level_weights, make_scratch, sweep_with
from topoi.models.pachinko.general import general_weights
from topoi.models.pachinko.state import make_priors


def brute_force(dag, docs, states, alpha, beta, i):
    """P(path of token i | all other tokens), by evaluating the whole joint for every path."""
    states = list(states)
    logs = []
    for choice in choices(dag):
        states[i] = choice
        logs.append(log_joint(dag, docs, states, alpha, beta))
    p = np.exp(np.array(logs) - max(logs))
    return p / p.sum()


@compiled
def plain_conditional(documents, paths, counts, priors, graph, d, i):
    """The probabilities of all (topic, path) that ``sweep_plain`` would draw from, made of its pieces."""
    n_topics = len(counts.topic)
    tally = new_tally(graph)
    reach, weights = np.empty(len(graph.n_paths)), np.empty(n_topics)
    k0, w = paths.topic[i], documents.tokens[i]
    open_document(documents, paths, graph, tally, d)
    move_word(counts, w, k0, -1)
    move_path(graph, tally, k0, paths.path[i], -1)
    reach_nodes(graph, tally, priors, reach)
    topic_weights(graph, tally, counts, priors, reach, w, weights)
    result = np.empty(graph.n_paths[graph.topic_node].sum())
    at = 0
    for k in range(n_topics):
        for path in range(graph.n_paths[graph.topic_node[k]]):
            result[at] = weights[k] / weights.sum() * given_topic(graph, tally, priors, reach, k, path)
            at += 1
    move_word(counts, w, k0, 1)
    return result


@compiled
def given_topic(graph, tally, priors, reach, k, path):
    """The probability with which ``draw_path`` goes this way up."""
    v, rest, result = graph.topic_node[k], path, 1.0
    while v > 0:
        chosen = way_in(graph, v, rest)
        total, mine = 0.0, 0.0
        for j in range(graph.in_start[v], graph.in_start[v + 1]):
            u = graph.in_parent[j]
            weight = reach[u] * share(tally, priors, u, graph.in_slot[j])
            total += weight
            mine += weight if j == chosen else 0.0
        result *= mine / total
        rest -= graph.path_start[chosen]
        v = graph.in_parent[chosen]
    return result


def some_token(rng, documents):
    i = int(rng.integers(len(documents.tokens)))
    return i, int(np.searchsorted(documents.doc_start, i, side="right") - 1)


@given(st.integers(0, 10**6), st.sampled_from([*DAGS, "random"]))
@settings(max_examples=80, deadline=None)
def test_plain_probabilities_equal_brute_force(seed, name):
    rng = np.random.default_rng(seed)
    dag = random_dag(rng) if name == "random" else DAGS[name]
    documents, paths, counts, priors, graph, rest = random_state(dag, rng)
    i, d = some_token(rng, documents)
    plain = plain_conditional(documents, paths, counts, priors, graph, d, i)
    docs, states, alpha, beta = rest
    np.testing.assert_allclose(plain, brute_force(dag, docs, states, alpha, beta, i), atol=1e-6)


@given(st.integers(0, 10**6))
@settings(max_examples=40, deadline=None)
def test_sums_over_paths_are_sums_over_paths(seed):
    """The dynamic programme gives what adding up every path gives."""
    rng = np.random.default_rng(seed)
    documents, paths, _, priors, graph, _ = random_state(random_dag(rng), rng)
    summed, added = sums_over_paths(documents, paths, priors, graph)
    np.testing.assert_allclose(summed, added, rtol=1e-12)
    assert added.sum() == pytest.approx(1.0)


@compiled
def sums_over_paths(documents, paths, priors, graph):
    tally = new_tally(graph)
    reach = np.empty(len(graph.n_paths))
    open_document(documents, paths, graph, tally, 0)
    reach_nodes(graph, tally, priors, reach)
    summed, added = np.zeros(len(graph.topic_node)), np.zeros(len(graph.topic_node))
    for k in range(len(graph.topic_node)):
        v = graph.topic_node[k]
        emit = share(tally, priors, v, graph.emit_slot[v]) if graph.emit_slot[v] >= 0 else 1.0
        summed[k] = reach[v] * emit
        for path in range(graph.n_paths[v]):
            added[k] += path_probability(graph, tally, priors, k, path)
    return summed, added


@given(st.integers(0, 10**6), st.sampled_from([*DAGS, "random", "large"]), st.sampled_from([1.0, 1e-3]))
@settings(max_examples=80, deadline=None)
def test_general_lanes_equal_plain(seed, name, size):
    rng = np.random.default_rng(seed)
    dag = DAGS.get(name) or (random_dag(rng) if name == "random" else random_dag(rng, 8, 60))
    state = random_state(dag, rng, length=30, low=0.1 * size, high=2.0 * size)
    documents, paths, counts, priors, graph, _ = state
    i, d = some_token(rng, documents)
    plain = plain_conditional(documents, paths, counts, priors, graph, d, i)
    topics, ways = general_weights(documents, paths, counts, priors, graph, d, i)
    # Going up, a way is taken in proportion to what reaches the node through it: the same products from the top down.
    given = []
    for v in range(len(graph.n_paths)):
        here = range(graph.in_start[v], graph.in_start[v + 1])
        total = sum(ways[j] for j in here)
        given.append(np.concatenate([ways[j] / total * given[graph.in_parent[j]] for j in here]) if v else np.ones(1))
    topics /= topics.sum()
    fast = np.concatenate([topics[k] * given[v] for k, v in enumerate(graph.topic_node)])
    np.testing.assert_allclose(fast, plain, atol=1e-5)


SIZES = [(1, 1), (2, 3), (3, 2), (16, 16), (17, 40), (5, 150), (130, 20)]


@given(st.integers(0, 10**6), st.sampled_from(SIZES), st.sampled_from([1.0, 1e-3]))
@settings(max_examples=80, deadline=None)
def test_four_level_lanes_equal_plain(seed, widths, size):
    """Also with priors so small that leaving the token out by subtraction would lose its weight to rounding."""
    rng = np.random.default_rng(seed)
    state = random_state(Dag.from_levels(*widths), rng, length=30, low=0.1 * size, high=2.0 * size)
    documents, paths, counts, priors, graph, _ = state
    i, d = some_token(rng, documents)
    plain = plain_conditional(documents, paths, counts, priors, graph, d, i)
    subs, supers = four_level_weights(documents, paths, counts, priors, widths[0], d, i)
    fast = (subs / subs.sum())[:, None] * supers / supers.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(fast.ravel(), plain, atol=1e-5)


@pytest.mark.parametrize("widths", [(7, 40), (50, 100)])
def test_sides_do_not_drift(widths):
    """After thousands of moves within one document its sides are those of its whole counts, sparse priors included."""
    rng = np.random.default_rng(5)
    dag = Dag.from_levels(*widths)
    documents, paths, counts, priors, graph, _ = random_state(dag, rng, n_docs=1, n_words=30, length=2)
    documents = make_documents([rng.integers(0, 30, 3000).tolist()])
    n = len(documents.tokens)
    alpha = rng.gamma(0.2, 1.0, len(priors.alpha)) + 1e-4
    alpha[: widths[0]] = 0.01
    priors = make_priors(graph, alpha, priors.beta.astype(float))
    paths = Paths(np.zeros(n, np.uint16), np.zeros(n, np.uint32))
    stream = new_stream(1)
    random_paths(documents, graph, paths, stream)
    count(documents, paths, counts)
    for _ in range(3):
        scratch = make_scratch(counts, priors, widths[0])
        sweep_with(documents, paths, counts, priors, scratch, stream)
        number = np.zeros(widths)
        np.add.at(number, (paths.path, paths.topic), 1)
        total, alpha = number.sum(axis=1), priors.alpha.astype(float)
        scale = (total + alpha[: widths[0]]) / (total + priors.alpha_sum[1 : 1 + widths[0]])
        exact = scale @ (number + alpha[widths[0] :].reshape(widths))
        np.testing.assert_allclose(scratch.side[: widths[1]] / exact.sum(), exact / exact.sum(), atol=1e-6)
        np.testing.assert_allclose(scratch.side[: widths[1]], exact, rtol=1e-3)
        assert not scratch.number.any() and not scratch.total.any()  # what a document left behind is cleared
        assert np.array_equal(scratch.pair_of[:, : widths[0]].T, scratch.pair[:, : widths[1]])


def test_paths_are_numbered_as_the_graph_lists_them():
    graph = make_graph(DAGS["diamond"])
    assert graph.n_paths.tolist() == [1, 1, 1, 2, 3, 2]
    assert most_ways(graph) == 2
