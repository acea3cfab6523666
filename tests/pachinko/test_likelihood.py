"""Predictions for new documents against sums over every path of every token."""

from itertools import product

import numpy as np
import pytest

from author_topic.small_states import dirichlet_multinomial
from pachinko.small_states import DAGS, all_paths, choices, make_documents, random_state
from topoi.kernels.folding import SamplingPlan, Scored, label_room
from topoi.models.graph import four_level_widths, slot_children
from topoi.models.pachinko.inference import document_topics, fold_in
from topoi.models.pachinko.likelihood import log_likelihood
from topoi.models.pachinko.state import make_priors

KINDS = [(name, 0) for name in DAGS] + [("four levels", 2)]


def fitted(name, seed=0):
    """Counts of some training corpus on a graph."""
    dag = DAGS[name]
    _, _, counts, priors, graph, (_, _, alpha, beta) = random_state(
        dag, np.random.default_rng(seed), n_docs=12, n_words=4, length=12
    )
    return dag, counts, priors, graph, alpha, beta


def log_prior(dag, state, alpha):
    """log P(paths of one document), by the definition."""
    ways, slots = all_paths(dag), [(u, v) for u, below in slot_children(dag).items() for v in below]
    number = dict.fromkeys(slots, 0)
    for k, path in state:
        for slot in ways[k][path]:
            number[slot] += 1
    result = 0.0
    for node, below in slot_children(dag).items():
        if below:
            prior = [alpha[slots.index((node, child))] for child in below]
            result += dirichlet_multinomial([number[node, child] for child in below], prior)
    return result


@pytest.mark.parametrize(("name", "n_super"), KINDS)
@pytest.mark.parametrize(("n_particles", "n_moves"), [(10, 2), (3, 0)], ids=["moves", "resampling"])
def test_likelihood_is_unbiased(name, n_super, n_particles, n_moves):
    dag, counts, priors, graph, alpha, beta = fitted(name)
    if n_moves == 0:  # sharper topics: the filter must resample often
        counts.word_topic[:] *= 20
        counts.topic[:] = counts.word_topic.sum(axis=0)[: len(counts.topic)]
    phi = (counts.word_topic[:, : len(dag.topics)] + beta[:, None]) / (counts.topic + beta.sum())
    words = [0, 3, 1, 3]
    exact = sum(
        np.exp(log_prior(dag, state, alpha)) * np.prod([phi[w, k] for w, (k, _) in zip(words, state, strict=True)])
        for state in product(choices(dag), repeat=len(words))
    )
    documents = make_documents([words, []])
    estimates = np.empty(3000)
    for seed in range(len(estimates)):
        result = np.zeros(2)
        log_likelihood(documents, counts, priors, graph, n_super, n_particles, n_moves, seed, 0, result)
        estimates[seed] = np.exp(result[0])
    assert result[1] == 0.0
    assert abs(estimates.mean() - exact) < 4 * estimates.std() / np.sqrt(len(estimates)) + 1e-6 * exact


@pytest.mark.parametrize("n_moves", [3, 0])
def test_four_level_filter_is_the_general_one(n_moves):
    """The same random numbers, the same estimates but for rounding: the sides are what sums over paths give."""
    _, counts, priors, graph, alpha, beta = fitted("four levels")
    if n_moves == 0:  # documents that keep to what they begin with: particles must be copied, with their sides
        priors = make_priors(graph, alpha * 0.03, beta)
    documents = make_documents([[0, 3, 1, 3, 2, 2, 0] * 8, [1]])
    both = np.zeros((2, 2))
    for n_super, result in zip((0, 2), both, strict=True):
        log_likelihood(documents, counts, priors, graph, n_super, 5, n_moves, 1, 0, result)
    np.testing.assert_allclose(*both, rtol=1e-9)


@pytest.mark.parametrize(("name", "n_super"), KINDS)
def test_fold_in_equals_enumeration(name, n_super):
    dag, counts, priors, graph, alpha, beta = fitted(name, 1)
    before = [array.copy() for array in counts]
    words, scored = [0, 3, 1], [2, 0]
    n_topics = len(dag.topics)
    weights, predictive, labels, shares = [], [], [], []
    everything = choices(dag)
    for state in product(everything, repeat=len(words)):
        wt, t = counts.word_topic[:, :n_topics].astype(float), counts.topic.astype(float)
        p = np.exp(log_prior(dag, state, alpha))
        for w, (k, _) in zip(words, state, strict=True):
            p *= (wt[w, k] + beta[w]) / (t[k] + beta.sum())
            wt[w, k] += 1
            t[k] += 1
        now = log_prior(dag, state, alpha)
        share = np.zeros(n_topics)
        for k, path in everything:
            share[k] += np.exp(log_prior(dag, [*state, (k, path)], alpha) - now)
        weights.append(p)
        shares.append(share)
        predictive.append([((wt[w] + beta[w]) / (t + beta.sum())) @ share for w in scored])
        labels.append([np.eye(n_topics)[k] for k, _ in state])
    weights = np.array(weights) / np.sum(weights)
    documents = make_documents([words])
    wanted = Scored(np.array(scored, np.int32), np.array([0, len(scored)]))
    doc_topic, scores, room = (
        np.zeros((1, n_topics)),
        np.zeros(len(scored)),
        label_room(len(documents.tokens), n_topics, documents.author_start, True),
    )
    plan = SamplingPlan(50, 20_000, 2, 5, 0)
    fold_in(documents, wanted, counts, priors, graph, n_super, plan, doc_topic, scores, room)
    np.testing.assert_allclose(scores, weights @ np.array(predictive), rtol=0.01)
    np.testing.assert_allclose(room.topic, np.tensordot(weights, np.array(labels), 1), atol=0.015)
    np.testing.assert_allclose(doc_topic[0], weights @ np.array(shares), atol=0.01)
    np.testing.assert_allclose(room.slot, 1.0)
    for old, new in zip(before, counts, strict=True):
        assert np.array_equal(old, new)  # the training counts are untouched


def test_shares_of_training_documents_are_predictive_probabilities():
    rng = np.random.default_rng(4)
    dag = DAGS["words and topics"]
    documents, paths, _, priors, graph, (docs, states, alpha, _) = random_state(dag, rng)
    shares = np.zeros((len(docs), len(dag.topics)))
    document_topics(documents, paths, priors, graph, shares)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    last = states[-len(docs[-1]) :]
    now = log_prior(dag, last, alpha)
    expected = np.zeros(len(dag.topics))
    for k, path in choices(dag):
        expected[k] += np.exp(log_prior(dag, [*last, (k, path)], alpha) - now)
    np.testing.assert_allclose(shares[-1], expected, rtol=1e-6)
    assert four_level_widths(dag) is None
