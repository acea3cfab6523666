"""LDA on sparse counts: the exact sweep draw by draw, the pruned one against brute force over its candidates."""

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from author_topic.small_states import PRIVATE, check_frequencies, counted, log_joint, make_documents
from models.test_word_lists import same_lists
from topoi.kernels.random import new_stream
from topoi.kernels.word_lists import count_lists, empty_lists
from topoi.models.author_topic.state import make_priors
from topoi.models.author_topic.word_major import sweep_words, word_runs
from topoi.models.sparse.words import (
    enter_documents,
    pruned_weights,
    sweep_words_pruned,
    sweep_words_sparse,
)


def problem(rng, n_docs=5, n_words=8, n_topics=6, length=9, low=0.05, high=2.0):
    """A random corpus, priors, a random state in run order, and its counts in lists."""
    docs = [(rng.integers(0, n_words, int(rng.integers(1, length))).tolist(), [PRIVATE]) for _ in range(n_docs)]
    documents = make_documents(docs, 0)
    alpha, beta = rng.uniform(low, high, n_topics), rng.uniform(0.01, 1.0, n_words)
    layout = word_runs(documents.tokens, documents.doc_start, 2**15)
    topic = rng.integers(0, n_topics, len(documents.tokens)).astype(np.uint16)
    return documents, layout, topic, lists_of(documents.tokens[layout.order], topic, n_words, n_topics), alpha, beta


def lists_of(tokens, topic, n_words, n_topics):
    lists = empty_lists(np.bincount(tokens, minlength=n_words), n_topics)
    count_lists(tokens, topic[None], lists)
    return lists


def in_document_order(layout, topic):
    result = np.empty_like(topic)
    result[layout.order] = topic
    return result


def brute_force(documents, topic, i, alpha, beta):
    """P(topic of token i | all others) over the candidates (document order), and how many these are."""
    d = int(np.searchsorted(documents.doc_start, i, side="right") - 1)
    others = np.arange(len(topic)) != i
    here = np.zeros(len(topic), bool)
    here[documents.doc_start[d] : documents.doc_start[d + 1]] = True
    known = set(topic[others & here]) | set(topic[others & (documents.tokens == documents.tokens[i])])
    allowed = np.array([k in known or not known for k in range(len(alpha))])
    logs = []
    for k in range(len(alpha)):
        new = topic.copy()
        new[i] = k
        logs.append(log_joint(documents, new, np.zeros_like(new), len(beta), 0, alpha, beta))
    p = np.exp(np.array(logs) - max(logs)) * allowed
    return p / p.sum(), allowed.sum()


@given(st.integers(0, 10**6), st.sampled_from([1, 5]), st.sampled_from([3, 40]))
@settings(max_examples=60, deadline=None)
def test_probabilities_equal_brute_force_over_candidates(seed, n_docs, n_words):
    rng = np.random.default_rng(seed)
    documents, layout, topic, lists, alpha, beta = problem(rng, n_docs, n_words)
    r = int(rng.integers(len(layout.runs.word)))
    i = int(rng.integers(layout.runs.start[r], layout.runs.start[r + 1]))
    priors = make_priors(alpha, beta)
    weights, n, beyond = pruned_weights(layout.runs, topic, lists, priors, layout.block_docs, r, i)
    expected, n_expected = brute_force(documents, in_document_order(layout, topic), int(layout.order[i]), alpha, beta)
    assert beyond == pytest.approx(0.0, abs=1e-12)
    if n == 0:  # the only token of a document and of a word: drawn among all
        assert n_expected == len(alpha)
        return
    np.testing.assert_allclose(weights / weights.sum(), expected, atol=1e-6)
    assert n == n_expected


@pytest.mark.parametrize("n_topics", [5, 40, 300])
def test_the_exact_sweep_draws_what_the_dense_one_draws(n_topics):
    rng = np.random.default_rng(n_topics)
    documents, layout, topic, lists, alpha, beta = problem(rng, 30, 25, n_topics, 40)
    priors, other = make_priors(alpha, beta), topic.copy()
    dense = counted(documents, in_document_order(layout, topic), np.zeros(len(topic)), 25, n_topics, 0)[1]
    streams = new_stream(3), new_stream(3)
    for _ in range(4):
        sweep_words(layout.runs, topic, dense, priors, layout.block_docs, streams[0])
        sweep_words_sparse(layout.runs, other, lists, priors, layout.block_docs, streams[1])
        assert np.array_equal(topic, other)
        assert np.array_equal(lists.word_rows(slice(None)), dense.word_topic[:, :n_topics])


def test_lists_equal_a_recount_after_every_sweep(n_topics=12):
    rng = np.random.default_rng(4)
    documents, layout, topic, lists, alpha, beta = problem(rng, 40, 25, n_topics, 30)
    stream, tokens = new_stream(8), documents.tokens[layout.order]
    for _ in range(6):
        considered = sweep_words_pruned(layout.runs, topic, lists, make_priors(alpha, beta), layout.block_docs, stream)
        assert 0 < considered < n_topics * len(topic)
        assert same_lists(lists, lists_of(tokens, topic, 25, n_topics))
        assert np.array_equal(lists.topic, np.bincount(topic, minlength=n_topics))


@numba.njit(error_model="numpy")
def many_sweeps(runs, block_docs, tokens, topic, lists, priors, n, stream, visits):
    start = topic.copy()
    for _ in range(n):
        topic[:] = start
        count_lists(tokens, topic[None], lists)
        sweep_words_pruned(runs, topic, lists, priors, block_docs, stream)
        number = 0
        for i in range(len(topic)):
            number = number * len(lists.topic) + topic[i]
        visits[number] += 1


@numba.njit(error_model="numpy")
def many_entries(documents, docs, topic, lists, priors, n, stream, visits):
    for _ in range(n):
        lists.length[:] = 0
        lists.topic[:] = 0
        enter_documents(documents, docs, topic, lists, priors, stream)
        number = 0
        for i in range(len(topic)):
            number = number * len(lists.topic) + topic[i]
        visits[number] += 1


def numbered(exact, n_topics, n_states):
    """Probabilities of states by their numbers."""
    expected = np.zeros(n_states)
    for state, p in exact.items():
        number = 0
        for k in state:
            number = number * n_topics + k
        expected[number] = p
    return expected


def test_whole_sweeps_have_the_transition_probabilities_of_the_scheme():
    """From one state, many sweeps: frequencies of every state after it, lists and sums being kept up on the way."""
    documents = make_documents([([0, 0, 1], [PRIVATE]), ([0, 1], [PRIVATE]), ([2], [PRIVATE])], 0)
    alpha, beta = np.array([0.3, 0.8, 0.5]), np.array([0.3, 0.6, 0.2])
    layout = word_runs(documents.tokens, documents.doc_start, 2**15)
    topic = np.array([0, 1, 0, 2, 1, 2], np.uint16)
    exact = {tuple(topic.tolist()): 1.0}
    for at in range(len(topic)):
        after = {}
        for state, p in exact.items():
            i = int(layout.order[at])
            each, _ = brute_force(documents, in_document_order(layout, np.array(state)), i, alpha, beta)
            for k, q in enumerate(each):
                if q > 0:
                    new = (*state[:at], k, *state[at + 1 :])
                    after[new] = after.get(new, 0.0) + p * q
        exact = after
    tokens = documents.tokens[layout.order]
    lists, visits = lists_of(tokens, topic, 3, 3), np.zeros(3**6, np.int64)
    priors = make_priors(alpha, beta)
    many_sweeps(layout.runs, layout.block_docs, tokens, topic, lists, priors, 60_000, new_stream(1), visits)
    check_frequencies(visits, numbered(exact, 3, len(visits)))


def test_documents_that_come_in_take_their_words_topics():
    """Into empty counts: each token given those before it, among its word's topics; all, for a word not seen before."""
    documents = make_documents([([0, 1], [PRIVATE]), ([0, 0, 1], [PRIVATE])], 0)
    alpha, beta = np.array([0.3, 0.8, 0.5]), np.array([0.3, 0.6])
    exact = {(): 1.0}
    for i in range(5):
        after = {}
        small = documents._replace(tokens=documents.tokens[: i + 1], doc_start=np.minimum(documents.doc_start, i + 1))
        for state, p in exact.items():
            known = {state[j] for j in range(i) if documents.tokens[j] == documents.tokens[i]} or set(range(3))
            logs = [log_joint(small, [*state, k], [0] * (i + 1), 2, 0, alpha, beta) for k in range(3)]
            q = np.exp(np.array(logs) - max(logs)) * [k in known for k in range(3)]
            for k in known:
                after[*state, k] = p * q[k] / q.sum()
        exact = after
    lists, topic, visits = empty_lists(np.array([3, 2]), 3), np.zeros(5, np.uint16), np.zeros(3**5, np.int64)
    many_entries(documents, np.array([0, 1]), topic, lists, make_priors(alpha, beta), 60_000, new_stream(2), visits)
    check_frequencies(visits, numbered(exact, 3, len(visits)))
