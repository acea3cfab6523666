"""Documents that may not have all topics: every kernel on random graphs and sets, against the definition."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from author_topic.small_states import empty_counts
from author_topic.test_geweke import draw_words, z_scores
from pachinko.small_states import DAGS, choices, log_joint, make_documents, open_slots, random_dag, random_state
from pachinko.test_conditional import plain_conditional, some_token
from pachinko.test_geweke import N_STATISTICS, N_WORDS, draw_paths, prior_statistics, statistics
from topoi.kernels.random import new_stream
from topoi.models.dag import Dag
from topoi.models.graph import four_level_widths, make_graph, slot_children
from topoi.models.pachinko import blocks, four_level, general
from topoi.models.pachinko.equations import (
    Paths,
    log_joint_documents,
    log_joint_limited,
    sweep_plain_limited,
)
from topoi.models.pachinko.inference import document_nodes, document_topics, limited_nodes, limited_topics
from topoi.models.pachinko.learning import learn_alpha
from topoi.models.pachinko.limited_learning import learn_limited, limited_statistics
from topoi.models.pachinko.limits import TopicLimits
from topoi.models.pachinko.node_moments import squared_shares
from topoi.models.pachinko.state import make_priors
from topoi.models.pachinko.work import PathWork


def random_sets(rng, n_docs, n_topics):
    """What documents may have, at least one topic each; some may have all."""
    allowed = rng.random((n_docs, n_topics)) < rng.choice([0.2, 0.5, 0.9], (n_docs, 1))
    allowed[np.arange(n_docs), rng.integers(0, n_topics, n_docs)] = True
    return allowed


def limited_state(dag, rng, **how):
    """A random state in which no document has a topic that it may not have, its limits, and what brute force needs."""
    allowed = random_sets(rng, 4, len(dag.topics))
    *state, rest = random_state(dag, rng, allowed=allowed, **how)
    return state, TopicLimits(state[-1], allowed, np.arange(4)), (*rest, allowed)


@given(st.integers(0, 10**6), st.sampled_from([*DAGS, "random"]))
@settings(max_examples=60, deadline=None)
def test_conditionals_equal_brute_force(seed, name):
    """The plain sampler's probabilities of whole paths, those of both fast ones, and the log joint."""
    rng = np.random.default_rng(seed)
    dag = random_dag(rng) if name == "random" else DAGS[name]
    (documents, paths, counts, priors, graph), limits, (docs, states, alpha, beta, allowed) = limited_state(dag, rng)
    i, d = some_token(rng, documents)
    logs = []
    for choice in choices(dag):
        logs.append(log_joint(dag, docs, [*states[:i], choice, *states[i + 1 :]], alpha, beta, allowed))
    exact = np.exp(np.array(logs) - max(logs))
    exact /= exact.sum()
    plain = plain_conditional(documents, paths, counts, limits.priors_of(priors, d), graph, d, i)
    plain[np.isnan(plain)] = 0.0  # the paths to a topic that is not allowed have no probabilities given the topic
    np.testing.assert_allclose(plain, exact, atol=1e-6)
    topic = np.array([k for k, _ in choices(dag)])
    by_topic = np.bincount(topic, exact, len(dag.topics))
    for found in fast_weights(documents, paths, counts, priors, graph, limits, d, i, rng):
        np.testing.assert_allclose(found / found.sum(), by_topic, atol=1e-5)
        assert not found[~allowed[d]].any()
    of_words = log_joint(dag, docs, states, alpha, beta) - float(log_joint_documents(documents, paths, priors, graph))
    found = log_joint_limited(documents, paths, priors, graph, limits.of(priors))
    assert found + of_words == pytest.approx(log_joint(dag, docs, states, alpha, beta, allowed), rel=1e-5, abs=1e-5)


def fast_weights(documents, paths, counts, priors, graph, limits, d, i, rng):
    made = limits.of(priors)
    yield general.limited_weights(documents, paths, counts, priors, graph, made, d, i)[0]
    n_super = int(graph.slot_start[1])
    if (
        len(graph.n_paths) == 1 + n_super + len(graph.topic_node)
        and n_super > 1
        and (np.diff(graph.in_start)[1 + n_super :] == n_super).all()
    ):
        for before in (-1, int(rng.integers(4))):
            yield four_level.limited_weights(documents, paths, counts, priors, n_super, made, before, d, i)[0]


@given(st.integers(0, 10**6), st.sampled_from([(2, 3), (3, 2), (17, 40), (5, 150)]), st.sampled_from([1.0, 1e-3]))
@settings(max_examples=40, deadline=None)
def test_four_level_lanes_equal_plain(seed, widths, size):
    rng = np.random.default_rng(seed)
    how = {"length": 30, "low": 0.1 * size, "high": 2.0 * size}
    (documents, paths, counts, priors, graph), limits, rest = limited_state(Dag.from_levels(*widths), rng, **how)
    i, d = some_token(rng, documents)
    plain = plain_conditional(documents, paths, counts, limits.priors_of(priors, d), graph, d, i)
    before, made = int(rng.integers(-1, 4)), limits.of(priors)
    subs, supers = four_level.limited_weights(documents, paths, counts, priors, widths[0], made, before, d, i)
    fast = (subs / subs.sum())[:, None] * supers / supers.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(fast.ravel(), np.nan_to_num(plain), atol=1e-5)
    assert not subs[~rest[-1][d]].any()


@pytest.mark.parametrize("seed", range(6))
def test_a_block_is_drawn_from_the_joint(seed):
    dag, rng = Dag.from_levels(4, 3), np.random.default_rng(seed)
    state, limits, (docs, states, alpha, beta, allowed) = limited_state(dag, rng, length=5, low=0.01)
    documents, paths, _, priors, _ = state
    room = blocks._limited_room(priors, 4, 3, 5, limits.of(priors))
    for d in range(4):
        blocks.set_sums(room, limits.of(priors), d)
        here = range(documents.doc_start[d], documents.doc_start[d + 1])
        for b in range(blocks.list_blocks(paths, here[0], here[-1] + 1, room)):
            block = room.order[room.start[b] : room.start[b + 1]]
            s0 = int(paths.path[block[0]])
            blocks.weigh_block(paths, b, s0, room)
            free = np.flatnonzero(room.weight)
            moved = [[(k, s if i in block else p) for i, (k, p) in enumerate(states)] for s in free]
            logs = np.array([log_joint(dag, docs, each, alpha, beta, allowed) for each in moved])
            exact = np.exp(logs - logs.max())
            np.testing.assert_allclose(room.weight[free] / room.weight.sum(), exact / exact.sum(), rtol=2e-5)


@pytest.mark.parametrize("name", ["four levels", "words and topics"])
def test_documents_that_may_have_everything_are_sampled_to_the_bit_as_without_limits(name):
    dag, rng = DAGS[name], np.random.default_rng(3)
    documents, paths, counts, priors, graph, _ = random_state(dag, rng, n_docs=20, length=30)
    sets = np.ones((2, len(dag.topics)), bool)
    sets[0, 1:] = False
    made = TopicLimits(graph, sets, np.ones(20)).of(priors)
    copies = [Paths(*(each.copy() for each in paths)) for _ in range(2)]
    tables = [counts._replace(word_topic=counts.word_topic.copy(), topic=counts.topic.copy()) for _ in range(2)]
    streams = [new_stream(5), new_stream(5)]
    for _ in range(20):
        if four_level_widths(dag):
            four_level.sweep_four_level(documents, copies[0], tables[0], priors, 2, streams[0])
            blocks.move_blocks(documents, np.arange(20), copies[0], priors, 2, 3, streams[0])
            four_level.sweep_limited(documents, copies[1], tables[1], priors, 2, made, streams[1])
            blocks.move_limited(documents, copies[1], priors, 2, 3, made, streams[1])
        else:
            general.sweep_general(documents, copies[0], tables[0], priors, graph, streams[0])
            general.sweep_limited(documents, copies[1], tables[1], priors, graph, made, streams[1])
    assert all(np.array_equal(a, b) for a, b in zip(*copies, strict=True)) and np.array_equal(*streams)
    assert not np.array_equal(copies[0].topic, paths.topic)
    assert log_joint_limited(documents, paths, priors, graph, made) == log_joint_documents(
        documents, paths, priors, graph
    )


# Geweke's test.


def sweep_once(kind, documents, paths, counts, priors, graph, limits, stream):
    if kind == "four levels":
        n_super, n_sub = int(graph.slot_start[1]), len(counts.topic)
        four_level.sweep_limited(documents, paths, counts, priors, n_super, limits, stream)
        blocks.move_limited(documents, paths, priors, n_super, n_sub, limits, stream)
    elif kind == "any graph":
        general.sweep_limited(documents, paths, counts, priors, graph, limits, stream)
    else:
        sweep_plain_limited(documents, paths, counts, priors, graph, limits, stream)


GEWEKE = [
    (name, kind)
    for name in ("four levels", "words and topics", "diamond")
    for kind in ("plain", "any graph", "four levels")
]
GEWEKE = [pair for pair in GEWEKE if pair[1] != "four levels" or pair[0] == "four levels"]


def geweke(name, kind, n, told_sets=None):
    dag = DAGS[name]
    documents, graph = make_documents([[0] * 6] * 3), make_graph(dag)
    n_topics, slots = len(dag.topics), [(u, v) for u, below in slot_children(dag).items() for v in below]
    allowed = np.ones((3, n_topics), bool)
    allowed[0, 0], allowed[2, 1:] = False, False
    is_open = np.array([[slot in open_slots(dag, row) for slot in slots] for row in allowed], float)
    alpha, beta = np.linspace(0.2, 0.8, len(slots)), np.linspace(0.2, 0.8, N_WORDS)
    priors = make_priors(graph, alpha, beta)
    limits = TopicLimits(graph, allowed if told_sets is None else told_sets, np.arange(3)).of(priors)
    paths, counts = Paths(np.zeros(18, np.uint16), np.zeros(18, np.uint32)), empty_counts(N_WORDS, n_topics, 0)
    direct, chain = np.empty((n, N_STATISTICS)), np.empty((n, N_STATISTICS))
    prior_statistics(documents, paths, counts, priors, graph, is_open, n, new_stream(1), direct)
    stream = new_stream(2)
    draw_paths(documents, paths, counts, priors.alpha, graph, is_open, stream)
    draw_words(documents, paths, counts, priors, stream)
    for out in chain:
        sweep_once(kind, documents, paths, counts, priors, graph, limits, stream)
        draw_words(documents, paths, counts, priors, stream)
        statistics(documents, paths, counts, graph, out)
    return np.abs(z_scores(direct, chain)).max()


@pytest.mark.parametrize(("name", "kind"), [("words and topics", "any graph")])
def test_sweeps_leave_the_joint_distribution_alone(name, kind):
    assert geweke(name, kind, 20_000) < 4.5


@pytest.mark.slow
@pytest.mark.parametrize(("name", "kind"), GEWEKE)
def test_sweeps_leave_the_joint_distribution_alone_long(name, kind):
    assert geweke(name, kind, 400_000) < 4.5


@pytest.mark.slow
def test_geweke_notices_other_sets():
    assert geweke("diamond", "any graph", 40_000, np.ones((3, 2), bool)) > 6


# Estimates.


@given(st.integers(0, 10**6), st.sampled_from([*DAGS, "random"]))
@settings(max_examples=30, deadline=None)
def test_shares_are_those_of_the_restricted_dirichlets(seed, name):
    rng = np.random.default_rng(seed)
    dag = random_dag(rng) if name == "random" else DAGS[name]
    (documents, paths, _, priors, graph), limits, (_, _, _, _, allowed) = limited_state(dag, rng)
    n_nodes, made = len(graph.n_paths), limits.of(priors)
    topics, nodes = np.zeros((4, len(dag.topics))), np.zeros((4, n_nodes))
    limited_topics(documents, paths, priors, graph, made, topics)
    limited_nodes(documents, paths, priors, graph, made, nodes)
    np.testing.assert_allclose(topics.sum(axis=1), 1.0)
    assert not topics[~allowed].any() and (topics[allowed] > 0).all()
    for d in range(4):
        own, shares, through = limits.priors_of(priors, d), np.zeros((1, len(dag.topics))), np.zeros((1, n_nodes))
        here = slice(documents.doc_start[d], documents.doc_start[d + 1])
        part = make_documents([documents.tokens[here].tolist()])
        mine = Paths(paths.topic[here], paths.path[here])
        document_topics(part, mine, own, graph, shares)
        document_nodes(part, mine, own, graph, through)
        assert np.array_equal(shares[0], topics[d]) and np.array_equal(through[0], nodes[d])
        slots = [(u, v) for u, below in slot_children(dag).items() for v in below]
        is_open = [slot in open_slots(dag, allowed[d]) for slot in slots]
        np.testing.assert_array_equal(own.alpha > 0, is_open)
        np.testing.assert_allclose(own.alpha[is_open], priors.alpha[is_open])


def test_deviations_are_those_of_the_graph_without_what_is_closed():
    rng = np.random.default_rng(0)
    weights = rng.uniform(0.5, 3.0, (3, 2 + 2 * 4))
    closed = np.array([False] * 2 + [False, True, False, True] * 2)
    few = squared_shares(make_graph(Dag.from_levels(2, 2)), weights[:, ~closed])
    all_of_it = squared_shares(make_graph(Dag.from_levels(2, 4)), np.where(closed, 0.0, weights))
    np.testing.assert_allclose(all_of_it.drawn[:, [3, 5]], few.drawn[:, 3:])
    np.testing.assert_allclose(all_of_it.through[:, :3], few.through[:, :3])
    assert not all_of_it.drawn[:, [4, 6]].any()
    dag = Dag.from_dict({"root": {"a": ["x"], "b": ["y", "z"]}})
    assert dag.nodes == ("root", "a", "b", "x", "y", "z")
    found = squared_shares(make_graph(dag), np.array([[1.0, 0.0, 2.0, 0.0, 0.0]]))  # b is closed
    assert found.drawn.tolist() == [[0, 0, 0, 1, 0, 0]] and found.through.tolist() == [[1, 1, 0, 1, 0, 0]]


# Learning.


def drawn_documents(dag, alpha, allowed, doc_set, length, seed):
    """Paths drawn from the restricted priors, down from the root; words do not matter."""
    rng = np.random.default_rng(seed)
    graph = make_graph(dag)
    documents = make_documents([[0] * length] * len(doc_set))
    n = length * len(doc_set)
    paths, counts = Paths(np.zeros(n, np.uint16), np.zeros(n, np.uint32)), empty_counts(1, len(dag.topics), 0)
    slots = [(u, v) for u, below in slot_children(dag).items() for v in below]
    is_open = np.array([[slot in open_slots(dag, row) for slot in slots] for row in allowed], float)
    draw_paths(documents, paths, counts, alpha, graph, is_open[doc_set], new_stream(int(rng.integers(2**31))))
    return documents, paths, graph


SETS = np.array([[1, 1, 1, 0], [0, 1, 1, 1], [1, 0, 1, 1], [0, 0, 1, 1], [1, 0, 0, 0]], bool)


@pytest.mark.parametrize("rule", ["moments", "ml"])
def test_alpha_is_found_again(rule):
    dag = Dag.from_levels(2, 4)
    true = np.array([1.0, 1.0, 4.0, 1.0, 0.5, 2.5, 0.3, 3.0, 2.0, 0.7])
    doc_set = np.arange(6000) % 5
    documents, paths, graph = drawn_documents(dag, true, SETS, doc_set, 60, 1)
    limits = TopicLimits(graph, SETS, doc_set)
    alpha = np.ones(10)
    for _ in range(30 if rule == "ml" else 1):
        found = [limited_statistics(graph, documents, paths, limits, rule)]
        alpha = learn_limited(graph, limits, found, alpha, rule)
    assert alpha[:2].tolist() == [1.0, 1.0]
    np.testing.assert_allclose(alpha[2:], true[2:], rtol=0.15)
    # As if every document had been free to have all topics: what they may not have would seem rare.
    free = learn_alpha(graph, [(documents, paths)], np.ones(10), "moments")
    assert np.abs(np.log(free[2:] / true[2:])).max() > 0.4


@pytest.mark.parametrize("rule", ["moments", "ml"])
def test_learning_from_documents_that_may_have_everything_is_the_usual_rule(rule):
    dag, rng = DAGS["words and topics"], np.random.default_rng(2)
    *state, _ = random_state(dag, rng, n_docs=40, length=30)
    documents, paths, _, priors, graph = state
    alpha = priors.alpha.astype(float)
    sets = np.ones((2, len(dag.topics)), bool)
    sets[1, :2] = False
    limits = TopicLimits(graph, sets, np.zeros(40))
    parts = [limited_statistics(graph, documents, paths, limits, rule)]
    expected = learn_alpha(graph, [(documents, paths)], alpha, rule)
    np.testing.assert_allclose(learn_limited(graph, limits, parts, alpha, rule), expected, rtol=2e-4)


@pytest.mark.parametrize("rule", ["moments", "ml"])
def test_statistics_of_parts_add_up_and_single_open_children_tell_nothing(rule):
    dag, rng = Dag.from_levels(3, 4), np.random.default_rng(4)
    allowed = SETS[rng.integers(0, 5, 4)]
    documents, paths, _, priors, graph, _ = random_state(dag, rng, n_docs=4, length=40, allowed=allowed)
    limits = TopicLimits(graph, allowed, np.arange(4))
    alpha = priors.alpha.astype(float)
    whole = [limited_statistics(graph, documents, paths, limits, rule)]
    halves = []
    for first, last in ((0, 1), (1, 4)):
        here = slice(documents.doc_start[first], documents.doc_start[last])
        part = documents._replace(
            tokens=documents.tokens[here], doc_start=documents.doc_start[first : last + 1] - here.start
        )
        mine = Paths(paths.topic[here], paths.path[here])
        halves.append(limited_statistics(graph, part, mine, limits.some(slice(first, last)), rule))
    assert np.array_equal(*(learn_limited(graph, limits, each, alpha, rule) for each in (whole, halves)))
    alone = TopicLimits(graph, np.eye(4, dtype=bool), np.zeros(4))
    paths.topic[:] = 0
    assert np.array_equal(
        learn_limited(graph, alone, [limited_statistics(graph, documents, paths, alone, rule)], alpha, rule), alpha
    )


def test_a_document_without_words_may_be_left_without_topics():
    graph = make_graph(Dag.from_levels(2, 3))
    limits = TopicLimits(graph, np.array([[True, False, False], [False] * 3]), np.array([0, 1]))
    assert limits.sets.tolist() == [[True, False, False], [True] * 3]
    arrays = limits.to_arrays()
    assert arrays["doc_set"].tolist() == [0, 1] and limits.some(slice(1, 2)).to_arrays()["allowed"].tolist() == [
        [1] * 3
    ]


def test_a_worker_has_the_limits_of_its_documents():
    dag, rng = Dag.from_levels(2, 3), np.random.default_rng(6)
    (documents, paths, counts, priors, graph), limits, _ = limited_state(dag, rng)
    work = PathWork(documents, graph, 2, "moments", limits=limits)
    copy = PathWork.from_arrays({name: np.array(array) for name, array in work.to_arrays().items()})
    assert copy.log_joint(paths, counts, priors) == work.log_joint(paths, counts, priors)
    free = PathWork(documents, graph, 2, "moments")
    assert free.log_joint(paths, counts, priors) != work.log_joint(paths, counts, priors)
    first = make_documents([documents.tokens[: documents.doc_start[1]].tolist()])
    small = work.small()
    few = len(small.documents.tokens)
    mine = Paths(paths.topic[:few], paths.path[:few])
    alone = PathWork(first, graph, 2, "moments", limits=limits.some(slice(0, 1)))
    assert few == len(first.tokens)
    assert small.log_joint(mine, counts, priors) == alone.log_joint(mine, counts, priors)
