"""The samplers' long-run frequencies against the exact posterior, by summing over every state."""

import numpy as np
import pytest

from author_topic.small_states import PRIVATE, counted, exact_posterior, make_documents, state_number
from topoi.kernels.jit import compiled
from topoi.kernels.random import new_stream
from topoi.models.author_topic.equations import count, sweep_plain
from topoi.models.author_topic.kernels import sweep
from topoi.models.author_topic.state import make_priors
from topoi.models.author_topic.word_major import sweep_words, word_runs

ALPHA = np.array([0.7, 0.3, 1.1])
BETA = np.array([0.5, 0.2, 0.9])


@compiled
def visit(documents, assignments, counts, priors, n_sweeps, fast, stream, visits):
    n_slots = np.ones(len(documents.tokens), np.int64)
    for d in range(len(documents.doc_start) - 1):
        for i in range(documents.doc_start[d], documents.doc_start[d + 1]):
            n_slots[i] = documents.author_start[d + 1] - documents.author_start[d]
    n_topics = len(counts.topic)
    for _ in range(n_sweeps):
        if fast:
            sweep(documents, assignments, counts, priors, stream)
        else:
            sweep_plain(documents, assignments, counts, priors, stream)
        number = 0
        for i in range(len(documents.tokens)):
            number = number * n_topics * n_slots[i] + assignments.topic[i] * n_slots[i] + assignments.slot[i]
        visits[number] += 1


CORPORA = {
    "LDA": ([([0, 1, 1], [PRIVATE]), ([2, 0, 1], [PRIVATE])], None),
    "one author": ([([0, 1, 2], [0]), ([2, 0], [0])], None),
    "two authors": ([([0, 1], [0, 1]), ([2, 1], [1])], None),
    "three authors": ([([0, 1], [0, 1, 2]), ([2], [1, 2])], None),
    "five authors": ([([0, 1, 1], [0, 1, 2, 3, 4])], None),
    "weighted private": ([([0, 1], [0, PRIVATE]), ([2, 0], [PRIVATE, 0])], [[0.3, 0.7], [2.0, 0.5]]),
}


def batch_errors(frequencies, exact):
    """Largest |frequency − probability| in units of its batch-means standard error, for the commonest states."""
    common = np.argsort(-exact)[:60]
    means = frequencies[:, common].mean(axis=0)
    errors = frequencies[:, common].std(axis=0, ddof=1) / np.sqrt(len(frequencies))
    return np.abs(means - exact[common]) / np.maximum(errors, 1e-9)


@pytest.mark.parametrize("fast", [False, True], ids=["plain", "lanes"])
@pytest.mark.parametrize("name", CORPORA)
def test_matches_enumeration(name, fast):
    docs, weights = CORPORA[name]
    n_authors = 1 + max((a for _, authors in docs for a in authors), default=0)
    documents = make_documents(docs, n_authors, weights)
    states, exact = exact_posterior(documents, 3, n_authors, ALPHA, BETA)
    first = states[0]
    assignments, counts = counted(documents, [k for k, _ in first], [q for _, q in first], 3, 3, n_authors)
    assert state_number(documents, assignments, 3) == 0
    frequencies = []
    for batch in range(30):
        visits = np.zeros(len(states), np.int64)
        visit(documents, assignments, counts, make_priors(ALPHA, BETA), 10_000, fast, new_stream(1, batch), visits)
        frequencies.append(visits / visits.sum())
    assert batch_errors(np.array(frequencies), exact).max() < 4.5
    # Total variation: independent draws would give this much; sweeps are a little correlated.
    independent = 0.5 * np.sqrt(2 * exact * (1 - exact) / (np.pi * 300_000)).sum()
    assert 0.5 * np.abs(np.mean(frequencies, axis=0) - exact).sum() < 1.6 * independent


def test_word_order_matches_enumeration():
    documents = make_documents(CORPORA["LDA"][0], 0)
    states, exact = exact_posterior(documents, 3, 0, ALPHA, BETA)
    runs, order, block_docs = word_runs(documents.tokens, documents.doc_start, 2**15)
    priors = make_priors(ALPHA, BETA)
    assignments, counts = counted(documents, [0] * 6, [0] * 6, 3, 3, 0)
    topic = assignments.topic[order]
    place = np.array([3 ** (5 - i) for i in range(6)])[order]
    frequencies = []
    for batch in range(30):
        visits = np.zeros(len(states), np.int64)
        visit_words(runs, topic, counts, priors, block_docs, place, new_stream(2, batch), visits)
        frequencies.append(visits / visits.sum())
    assert batch_errors(np.array(frequencies), exact).max() < 4.5
    recounted = counted(documents, assignments.topic, [0] * 6, 3, 3, 0)[1]
    assignments.topic[order] = topic
    count(documents, assignments, recounted)
    assert np.array_equal(recounted.word_topic, counts.word_topic)


@compiled
def visit_words(runs, topic, counts, priors, block_docs, place, stream, visits):
    for _ in range(10_000):
        sweep_words(runs, topic, counts, priors, block_docs, stream)
        number = 0
        for i in range(len(topic)):
            number += place[i] * topic[i]
        visits[number] += 1


def test_enumeration_notices_a_wrong_prior():
    """The test above can fail: frequencies under another alpha are far outside its bounds."""
    documents = make_documents(CORPORA["two authors"][0], 2)
    states, exact = exact_posterior(documents, 3, 2, ALPHA, BETA)
    assignments, counts = counted(documents, [0] * 4, [0] * 4, 3, 3, 2)
    frequencies = []
    for batch in range(30):
        visits = np.zeros(len(states), np.int64)
        wrong = make_priors(ALPHA * 1.2, BETA)
        visit(documents, assignments, counts, wrong, 10_000, True, new_stream(1, batch), visits)
        frequencies.append(visits / visits.sum())
    assert batch_errors(np.array(frequencies), exact).max() > 6
