"""Pruned sweeps and documents that come in, against brute force from the joint over the paper's candidates."""

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from author_topic.small_states import check_frequencies
from models.test_word_lists import same_lists
from pachinko.small_states import DAGS, all_paths, choices, log_joint, make_documents, random_dag, random_state
from topoi.kernels.jit import compiled
from topoi.kernels.random import new_stream
from topoi.kernels.word_lists import count_lists, empty_lists
from topoi.models.dag import Dag
from topoi.models.graph import four_level_widths, make_graph
from topoi.models.pachinko.equations import Paths, move_path, new_tally, random_paths, way_in
from topoi.models.pachinko.row_blocks import sweep_rows
from topoi.models.pachinko.state import make_priors
from topoi.models.sparse.pruned import enter_documents, pruned_weights, sweep_pruned, sweep_pruned_afresh
from topoi.models.sparse.pruned_equations import enter_plain, make_room, sweep_pruned_plain, weigh_open, weigh_ways


def candidates(dag, docs, states, i):
    """Which of ``choices(dag)`` the paper considers for token ``i``, from the other tokens' paths alone."""
    paths = all_paths(dag)
    d = int(np.searchsorted(np.cumsum([len(words) for words in docs]), i, side="right"))
    first = sum(len(words) for words in docs[:d])
    words = [w for doc in docs for w in doc]
    here = [states[j] for j in range(first, first + len(docs[d])) if j != i]
    if not here:
        return [True] * len(choices(dag))
    passed = {parent for k, p in here for parent, _ in paths[k][p]} | {dag.root}
    topics = {k for k, _ in here} | {k for j, (k, _) in enumerate(states) if j != i and words[j] == words[i]}
    name = dag.topics
    return [
        k in topics and {parent for parent, _ in paths[k][p] if parent != name[k]} <= passed for k, p in choices(dag)
    ]


def brute_force(dag, docs, states, alpha, beta, i):
    """P(path of token i | all others) among the candidates, by evaluating the joint for each; and how many they are."""
    states = list(states)
    allowed = candidates(dag, docs, states, i)
    logs = []
    for choice in choices(dag):
        states[i] = choice
        logs.append(log_joint(dag, docs, states, alpha, beta))
    p = np.exp(np.array(logs) - max(logs)) * allowed
    return p / p.sum(), sum(allowed)


def lists_of(documents, paths, n_words, n_topics):
    lists = empty_lists(np.bincount(documents.tokens, minlength=n_words), n_topics)
    count_lists(documents.tokens, paths.topic[None], lists)
    return lists


@compiled
def plain_conditional(documents, paths, counts, priors, graph, d, i, entering):
    """The probabilities of all (topic, path) that the plain sweep would draw from, made of its pieces.

    The token must be out of ``counts``. With ``entering`` the document has only the tokens before ``i``.
    """
    tally, room = new_tally(graph), make_room(graph)
    begin, end = documents.doc_start[d], documents.doc_start[d + 1]
    for j in range(begin, i if entering else end):
        if j != i:
            move_path(graph, tally, paths.topic[j], paths.path[j], 1)
            room.in_document[paths.topic[j]] += 1
    everywhere = entering or end - begin == 1
    n_paths = weigh_open(graph, tally, counts, priors, room, documents.tokens[i], everywhere, entering)
    result = np.zeros(graph.n_paths[graph.topic_node].sum())
    at = 0
    for k in range(len(counts.topic)):
        for path in range(graph.n_paths[graph.topic_node[k]]):
            p = room.weights[k] / room.weights.sum()
            v, rest = graph.topic_node[k], path
            while v > 0 and p > 0.0:
                chosen = way_in(graph, v, rest)
                n = weigh_ways(graph, tally, priors, room, v, everywhere)
                p *= room.shares[chosen - graph.in_start[v]] / room.shares[:n].sum()
                rest -= graph.path_start[chosen]
                v = graph.in_parent[chosen]
            result[at] = p
            at += 1
    return result, n_paths


def without(documents, paths, n_words, n_topics, i):
    """Counts without token ``i``."""
    rest = np.delete(np.arange(len(documents.tokens)), i)
    lists = empty_lists(np.bincount(documents.tokens, minlength=n_words), n_topics)
    count_lists(documents.tokens[rest], paths.topic[rest][None], lists)
    return lists


def some_token(rng, documents):
    i = int(rng.integers(len(documents.tokens)))
    return i, int(np.searchsorted(documents.doc_start, i, side="right") - 1)


@given(st.integers(0, 10**6), st.sampled_from([*DAGS, "random"]), st.sampled_from([2, 8]))
@settings(max_examples=80, deadline=None)
def test_plain_probabilities_equal_brute_force_over_candidates(seed, name, length):
    rng = np.random.default_rng(seed)
    dag = random_dag(rng) if name == "random" else DAGS[name]
    documents, paths, counts, priors, graph, rest = random_state(dag, rng, length=length, n_words=12)
    i, d = some_token(rng, documents)
    lists = without(documents, paths, 12, len(dag.topics), i)
    found, n_paths = plain_conditional(documents, paths, lists, priors, graph, d, i, False)
    docs, states, alpha, beta = rest
    expected, n_expected = brute_force(dag, docs, states, alpha, beta, i)
    np.testing.assert_allclose(found, expected, atol=1e-6)
    assert n_paths == n_expected


SIZES = [(1, 1), (2, 3), (3, 2), (16, 16), (17, 40), (5, 150), (130, 20)]


@given(st.integers(0, 10**6), st.sampled_from(SIZES), st.sampled_from([1.0, 1e-3]))
@settings(max_examples=60, deadline=None)
def test_four_level_probabilities_equal_plain(seed, widths, size):
    rng = np.random.default_rng(seed)
    dag = Dag.from_levels(*widths)
    state = random_state(dag, rng, length=30, low=0.1 * size, high=2.0 * size)
    documents, paths, _, priors, graph, _ = state
    i, d = some_token(rng, documents)
    if documents.doc_start[d + 1] - documents.doc_start[d] == 1:
        return  # sampled apart: see below
    whole = lists_of(documents, paths, 6, widths[1])
    subs, supers, n_paths = pruned_weights(documents, paths, whole, priors, widths[0], d, i)
    lists = without(documents, paths, 6, widths[1], i)
    plain, n_expected = plain_conditional(documents, paths, lists, priors, graph, d, i, False)
    sums = supers.sum(axis=1, keepdims=True)
    fast = (subs / subs.sum())[:, None] * supers / np.where(sums > 0, sums, 1.0)
    np.testing.assert_allclose(fast.ravel(), plain, atol=1e-9)
    assert n_paths == n_expected


@given(st.integers(0, 10**6), st.sampled_from([*DAGS, "random"]))
@settings(max_examples=40, deadline=None)
def test_a_token_that_comes_in_has_its_words_topics(seed, name):
    """The last document comes in: brute force over topics that the word has among tokens before, or all."""
    rng = np.random.default_rng(seed)
    dag = random_dag(rng) if name == "random" else DAGS[name]
    documents, paths, _, priors, graph, (docs, states, alpha, beta) = random_state(dag, rng, n_words=9)
    d = len(docs) - 1
    i = int(rng.integers(documents.doc_start[d], documents.doc_start[d + 1]))
    lists = empty_lists(np.bincount(documents.tokens, minlength=9), len(dag.topics))
    count_lists(documents.tokens[:i], paths.topic[:i][None], lists)
    found, n_paths = plain_conditional(documents, paths, lists, priors, graph, d, i, True)
    docs = [*docs[:d], docs[d][: i + 1 - documents.doc_start[d]]]
    known = {states[j][0] for j in range(i) if documents.tokens[j] == documents.tokens[i]}
    allowed = np.array([k in known or not known for k, _ in choices(dag)])
    logs = np.array([log_joint(dag, docs, [*states[:i], choice], alpha, beta) for choice in choices(dag)])
    p = np.exp(logs - logs.max()) * allowed
    np.testing.assert_allclose(found, p / p.sum(), atol=1e-6)
    assert n_paths == allowed.sum()


def some_texts(rng, lengths, n_words=20):
    return make_documents([rng.integers(0, n_words, n).tolist() for n in lengths])


def four_level_problem(seed, lengths, widths=(4, 30)):
    rng = np.random.default_rng(seed)
    documents, graph = some_texts(rng, lengths), make_graph(Dag.from_levels(*widths))
    alpha = rng.gamma(0.3, 1.0, graph.slot_start[-1]) + 1e-3
    priors = make_priors(graph, alpha, rng.uniform(0.01, 0.5, 20))
    n = len(documents.tokens)
    return documents, graph, priors, Paths(np.zeros(n, np.uint16), np.zeros(n, np.uint32))


def test_four_level_documents_come_in_as_plain_ones_do():
    """The same candidates and weights: from the same random numbers the same draws."""
    documents, graph, priors, one = four_level_problem(1, [25, 1, 40, 7])
    two = Paths(*(array.copy() for array in one))
    docs = np.array([2, 0, 3, 1])
    times = np.bincount(documents.tokens, minlength=20)
    plain, fast, streams = empty_lists(times, 30), empty_lists(times, 30), (new_stream(3), new_stream(3))
    expected = enter_plain(documents, docs, one, plain, priors, graph, streams[0])
    assert enter_documents(documents, docs, two, fast, priors, 4, streams[1]) == expected
    for a, b in zip((*one, streams[0], *plain), (*two, streams[1], *fast), strict=True):
        assert np.array_equal(a, b)
    assert same_lists(plain, lists_of(documents, one, 20, 30))


def test_single_tokens_are_drawn_among_all_paths():
    documents, graph, priors, one = four_level_problem(2, [1] * 60)
    random_paths(documents, graph, one, new_stream(1))
    two, docs = Paths(*(array.copy() for array in one)), np.arange(60)
    lists = [lists_of(documents, one, 20, 30) for _ in range(2)]
    assert sweep_pruned_plain(documents, docs, one, lists[0], priors, graph, new_stream(5)) == 60 * 120
    assert sweep_pruned(documents, docs, two, lists[1], priors, 4, new_stream(5)) == 60 * 120
    assert np.array_equal(one.topic, two.topic) and np.array_equal(one.path, two.path)


def test_what_is_kept_from_token_to_token_is_what_counts_say():
    documents, graph, priors, one = four_level_problem(6, [300, 90, 1, 40])
    random_paths(documents, graph, one, new_stream(2))
    two, docs = Paths(*(array.copy() for array in one)), np.arange(4)
    lists = [lists_of(documents, one, 20, 30) for _ in range(2)]
    streams = new_stream(5), new_stream(5)
    for _ in range(3):
        random_paths(documents, graph, one, new_stream(int(streams[0][0] >> np.uint64(2))))
        two.topic[:], two.path[:] = one.topic, one.path
        for each in lists:
            count_lists(documents.tokens, one.topic[None], each)
        sweep_pruned(documents, docs, one, lists[0], priors, 4, streams[0])
        sweep_pruned_afresh(documents, docs, two, lists[1], priors, 4, streams[1])
        assert np.array_equal(one.topic, two.topic) and np.array_equal(one.path, two.path)


def sweeps_of(dag):
    """Every sweep on sparse counts that a graph can have, behind one signature."""
    widths = four_level_widths(dag)
    n_super = widths[0] if widths else 0
    found = {
        "exact": lambda *a: sweep_rows(*a[:-1], n_super, a[-1]),
        "plain": sweep_pruned_plain,
        "entering": enter_plain,
    }
    if widths:
        found |= {
            "four levels": lambda *a: sweep_pruned(*a[:-2], n_super, a[-1]),
            "four levels entering": lambda *a: enter_documents(*a[:-2], n_super, a[-1]),
        }
    return found


@pytest.mark.parametrize(("name", "kind"), [(name, kind) for name in DAGS for kind in sweeps_of(DAGS[name])])
def test_lists_equal_a_recount_after_every_sweep_of_some_documents(name, kind):
    rng = np.random.default_rng(len(name))
    documents, paths, _, priors, graph, _ = random_state(DAGS[name], rng, n_docs=20, n_words=9, length=12)
    n_topics, docs, out = len(DAGS[name].topics), np.arange(0, 20, 2), np.arange(1, 20, 2)
    tokens_in = np.repeat(np.isin(np.arange(20), docs), np.diff(documents.doc_start))
    before = Paths(*(array.copy() for array in paths))
    lists = lists_of(documents, paths, 9, n_topics)
    stream = new_stream(4)
    for _ in range(5):
        if "entering" in kind:  # the chosen documents must be out
            count_lists(documents.tokens[~tokens_in], paths.topic[~tokens_in][None], lists)
        sweeps_of(DAGS[name])[kind](documents, docs, paths, lists, priors, graph, stream)
        assert same_lists(lists, lists_of(documents, paths, 9, n_topics))
        assert np.array_equal(lists.topic, np.bincount(paths.topic, minlength=n_topics))
        assert (paths.path < graph.n_paths[graph.topic_node[paths.topic]]).all()
    assert np.array_equal(paths.topic[~tokens_in], before.topic[~tokens_in]) and len(out)


def transitions(dag, docs, states, alpha, beta):
    """The probability of every state after one pruned sweep: brute-force conditionals multiplied, token by token."""
    found = {tuple(states): 1.0}
    for i in range(len(states)):
        after = {}
        for state, p in found.items():
            each, _ = brute_force(dag, docs, state, alpha, beta, i)
            for choice, q in zip(choices(dag), each, strict=True):
                if q > 0:
                    new = (*state[:i], choice, *state[i + 1 :])
                    after[new] = after.get(new, 0.0) + p * q
        found = after
    return found


def looped(sweep):
    @numba.njit(error_model="numpy")
    def loop(documents, paths, lists, priors, graph, first, n_choices, n, stream, visits):
        topic, path, docs = paths.topic.copy(), paths.path.copy(), np.arange(len(documents.doc_start) - 1)
        for _ in range(n):
            paths.topic[:] = topic
            paths.path[:] = path
            count_lists(documents.tokens, paths.topic[None], lists)
            sweep(documents, docs, paths, lists, priors, graph, stream)
            number = 0
            for i in range(len(documents.tokens)):
                number = number * n_choices + first[paths.topic[i]] + paths.path[i]
            visits[number] += 1

    return loop


@compiled
def four_level_sweep(documents, docs, paths, counts, priors, graph, stream):
    sweep_pruned(documents, docs, paths, counts, priors, graph.slot_start[1], stream)


LOOPS = {"plain": looped(sweep_pruned_plain), "four levels": looped(four_level_sweep)}
START = {"four levels": [(0, 0), (1, 1), (0, 1), (2, 1)], "words and topics": [(0, 0), (1, 0), (3, 0), (2, 1)]}
STARTS = [
    ("four levels", "four levels", [[0, 1, 0], [1]]),
    ("four levels", "four levels", [[0, 1, 0, 1]]),
    ("words and topics", "plain", [[0, 1, 0], [1]]),
]


@pytest.mark.parametrize(("name", "kind", "docs"), STARTS)
def test_whole_sweeps_have_the_transition_probabilities_of_the_scheme(name, kind, docs):
    """From one state, many sweeps: frequencies of every state after it, sets and lists being kept up on the way."""
    dag = DAGS[name]
    rng = np.random.default_rng(5)
    graph = make_graph(dag)
    alpha, beta = rng.gamma(0.7, 1.0, graph.slot_start[-1]) + 0.05, np.array([0.3, 0.6])
    any_choice = choices(dag)
    states = [choice if choice in any_choice else any_choice[-1] for choice in START[name]]
    exact = transitions(dag, docs, states, alpha, beta)
    documents = make_documents(docs)
    paths = Paths(np.array([k for k, _ in states], np.uint16), np.array([p for _, p in states], np.uint32))
    lists = lists_of(documents, paths, 2, len(dag.topics))
    n_paths = graph.n_paths[graph.topic_node]
    visits, n = np.zeros(len(any_choice) ** 4, np.int64), 40_000
    first = np.cumsum(n_paths) - n_paths
    priors = make_priors(graph, alpha, beta)
    LOOPS[kind](documents, paths, lists, priors, graph, first, len(any_choice), n, new_stream(7), visits)
    expected = np.zeros(len(visits))
    for state, p in exact.items():
        number = 0
        for choice in state:
            number = number * len(any_choice) + any_choice.index(choice)
        expected[number] = p
    check_frequencies(visits, expected)
