"""The sampler as a whole: exact posterior of the topics of a tiny corpus, and Geweke's joint distribution test."""

from contextlib import nullcontext

import numpy as np
import pytest

from author_topic.test_enumeration import batch_errors
from author_topic.test_geweke import z_scores
from ctm.small import covariance_of, exact_topics, made, mean_of
from topoi.kernels.draw import draw_plain
from topoi.kernels.jit import compiled
from topoi.kernels.random import new_stream
from topoi.models.blas import one_thread
from topoi.models.ctm import normal
from topoi.models.ctm.kernels import sweep
from topoi.models.ctm.normal import Hyper

BETA = np.array([0.5, 0.2, 0.9])
DOCS = {2: [np.array([0, 1, 1]), np.array([2, 0, 1, 2])], 3: [np.array([0, 1, 1]), np.array([2, 0])]}


@compiled
def visit(documents, state, counts, words, gaussian, n_sweeps, stream, visits):
    for _ in range(n_sweeps):
        sweep(documents, state, counts, words, gaussian, stream)
        number = 0
        for i in range(len(documents.tokens)):
            number = number * len(counts.topic) + state.topic[i]
        visits[number] += 1


def frequencies(n_topics, mean, covariance):
    docs, found = DOCS[n_topics], []
    for batch in range(40):
        topics = [np.zeros(len(doc), int) for doc in docs]
        documents, state, counts, words = made(docs, topics, np.zeros((len(docs), n_topics)), BETA)
        visits = np.zeros(n_topics ** len(documents.tokens), np.int64)
        visit(documents, state, counts, words, normal.gaussian(mean, covariance), 4000, new_stream(3, batch), visits)
        found.append(visits / visits.sum())
    return np.array(found)


@pytest.mark.parametrize("n_topics", [2, 3])
def test_frequencies_equal_the_exact_posterior(n_topics):
    rng = np.random.default_rng(n_topics)
    mean, covariance = mean_of(rng, n_topics), covariance_of(rng, n_topics)
    exact = exact_topics(DOCS[n_topics], mean, covariance, BETA)
    assert batch_errors(frequencies(n_topics, mean, covariance), exact).max() < 4.5


def test_enumeration_notices_another_covariance():
    rng = np.random.default_rng(3)
    mean, covariance = mean_of(rng, 3), covariance_of(rng, 3)
    exact = exact_topics(DOCS[3], mean, covariance, BETA)
    assert batch_errors(frequencies(3, mean, 1.5 * covariance), exact).max() > 6


@compiled
def draw_words(documents, state, counts, beta, stream):
    """New words given topics, the topics' distributions integrated out: one urn per topic."""
    counts.word_topic[:] = 0.0
    counts.topic[:] = 0.0
    weights = np.empty(len(beta))
    for i in range(len(documents.tokens)):
        k = state.topic[i]
        for w in range(len(weights)):
            weights[w] = np.float64(counts.word_topic[w, k]) + beta[w]
        w = draw_plain(weights, len(weights), stream)
        documents.tokens[i] = w
        counts.word_topic[w, k] += 1.0
        counts.topic[k] += 1.0


@compiled
def draw_topics(documents, state, stream):
    """New topics given eta."""
    for d in range(len(documents.doc_start) - 1):
        power = np.exp(state.eta[d] - state.eta[d].max())
        for i in range(documents.doc_start[d], documents.doc_start[d + 1]):
            state.topic[i] = draw_plain(power, len(power), stream)


def statistics(documents, state, counts, mean, covariance):
    """What both ways must agree on; logarithms where moments might not exist."""
    size = np.log(np.diag(covariance))
    share = np.exp(state.eta - np.logaddexp.reduce(state.eta, axis=1, keepdims=True))
    return [
        (counts.topic**2).sum(), (counts.word_topic**2).sum(), (state.topic == 0).sum(),
        (documents.tokens == documents.tokens[0]).sum(), (state.topic == state.topic[-1]).sum(),
        size[0], size[1], covariance[0, 1] / np.sqrt(covariance[0, 0] * covariance[1, 1]),
        np.tanh(mean[0]), np.tanh(mean[1]) ** 2, share[0, 0], (share**2).sum(), share[1, 0] * share[2, 1],
    ]  # fmt: skip


def geweke(n_topics, n, hyper, told):
    """Statistics of independent draws from the story, and of a chain that samples backward and draws new words."""
    beta, rng = np.linspace(0.2, 0.8, 6), np.random.default_rng(5)
    topics = [np.zeros(6, int)] * 3
    documents, state, counts, words = made([np.zeros(6, int)] * 3, topics, np.zeros((3, n_topics)), beta)
    stream, direct, chain = new_stream(1), [], []
    for _ in range(n):
        mean, covariance = normal.draw(np.zeros((0, n_topics)), hyper, rng)
        state.eta[:] = mean + rng.standard_normal((3, n_topics - 1)) @ normal.root(covariance)
        draw_topics(documents, state, stream)
        draw_words(documents, state, counts, words.beta, stream)
        direct.append(statistics(documents, state, counts, mean, covariance))
    for _ in range(n):
        mean, covariance = normal.draw(state.eta, told, rng)
        sweep(documents, state, counts, words, normal.gaussian(mean, covariance), stream)
        draw_words(documents, state, counts, words.beta, stream)
        chain.append(statistics(documents, state, counts, mean, covariance))
    return np.abs(z_scores(np.array(direct), np.array(chain))).max()


HYPER = Hyper(1.5, 8.0, 1.0)


@pytest.fixture(autouse=True)
def _no_limits(monkeypatch):
    """One thread for the whole test: setting the number anew for every tiny matrix takes most of the time."""
    with one_thread():
        monkeypatch.setattr(normal, "one_thread", nullcontext)
        yield


def test_sweeps_leave_the_joint_distribution_alone():
    assert geweke(3, 3000, HYPER, HYPER) < 4.5


def test_geweke_notices_a_wrong_prior():
    assert geweke(3, 3000, HYPER, HYPER._replace(variance=1.0)) > 6


@pytest.mark.slow
@pytest.mark.parametrize("n_topics", [2, 4, 18])
def test_sweeps_leave_the_joint_distribution_alone_long(n_topics):
    hyper = Hyper(1.5, n_topics + 5.0, 1.0)
    assert geweke(n_topics, 30_000, hyper, hyper) < 4.5
