"""Geweke's joint distribution test ("getting it right", 2004): two ways to draw words and assignments must agree.

The first way draws assignments from the prior, then words. The second alternates a sweep of the sampler with new
words given the assignments; it has the same distribution only if the sweep leaves the posterior invariant for
*every* data set, long documents and many blocks of topics included, which enumeration cannot reach.
"""

import numpy as np
import pytest

from author_topic.small_states import PRIVATE, counted, make_documents
from topoi.kernels.draw import draw_plain
from topoi.kernels.jit import compiled
from topoi.kernels.random import new_stream
from topoi.models.author_topic.equations import sweep_plain
from topoi.models.author_topic.kernels import sweep
from topoi.models.author_topic.state import make_priors
from topoi.models.author_topic.word_major import sweep_words, word_runs

N_WORDS = 6


@compiled
def draw_words(documents, assignments, counts, priors, stream):
    """New words given topics, the topics' distributions integrated out: one urn per topic."""
    counts.word_topic[:] = 0.0
    weights = np.empty(len(priors.beta))
    for i in range(len(documents.tokens)):
        k = assignments.topic[i]
        for w in range(len(weights)):
            weights[w] = np.float64(counts.word_topic[w, k]) + priors.beta[w]
        w = draw_plain(weights, len(weights), stream)
        documents.tokens[i] = w
        counts.word_topic[w, k] += 1.0


@compiled
def draw_assignments(documents, assignments, counts, priors, stream):
    """New authors and topics from the prior, the authors' mixtures integrated out."""
    counts.topic[:] = 0
    counts.author_topic[:] = 0.0
    counts.author[:] = 0
    private = len(counts.author) - 1
    weights = np.empty(len(counts.topic))
    for d in range(len(documents.doc_start) - 1):
        counts.author_topic[private] = 0.0
        first, last = documents.author_start[d], documents.author_start[d + 1]
        for i in range(documents.doc_start[d], documents.doc_start[d + 1]):
            q = draw_plain(documents.author_weight[first:last].astype(np.float64), last - first, stream)
            a = documents.author[first + q]
            for k in range(len(weights)):
                weights[k] = np.float64(counts.author_topic[a, k]) + priors.alpha[k]
            k = draw_plain(weights, len(weights), stream)
            assignments.topic[i] = k
            assignments.slot[i] = q
            counts.author_topic[a, k] += 1.0
            counts.author[a] += 1
            counts.topic[k] += 1


@compiled
def statistics(documents, assignments, counts, out):
    """What both ways must agree on: sums of squares and products of words, topics, authors."""
    n = len(documents.tokens)
    out[:] = 0.0
    for k in range(len(counts.topic)):
        out[0] += counts.topic[k] ** 2
        for w in range(counts.word_topic.shape[0]):
            out[1] += np.float64(counts.word_topic[w, k]) ** 2
    for a in range(len(counts.author) - 1):
        for k in range(len(counts.topic)):
            out[2] += np.float64(counts.author_topic[a, k]) ** 2
    for i in range(n):
        out[3] += assignments.slot[i]
        out[4] += assignments.topic[i] == 0
        out[5] += (documents.tokens[i] == 0) * (assignments.topic[i] == 0)
        out[6] += documents.tokens[i] == documents.tokens[0]
        out[7] += assignments.topic[i] == assignments.topic[n - 1]
        out[8] += assignments.slot[i] == assignments.slot[0]


@compiled
def prior_statistics(documents, assignments, counts, priors, n, stream, out):
    for s in range(n):
        draw_assignments(documents, assignments, counts, priors, stream)
        draw_words(documents, assignments, counts, priors, stream)
        statistics(documents, assignments, counts, out[s])


@compiled
def sampler_statistics(documents, assignments, counts, priors, n, fast, stream, out):
    draw_assignments(documents, assignments, counts, priors, stream)
    draw_words(documents, assignments, counts, priors, stream)
    for s in range(n):
        if fast:
            sweep(documents, assignments, counts, priors, stream)
        else:
            sweep_plain(documents, assignments, counts, priors, stream)
        draw_words(documents, assignments, counts, priors, stream)
        statistics(documents, assignments, counts, out[s])


def z_scores(direct, chain, n_batches=50):
    batches = chain[: len(chain) // n_batches * n_batches].reshape(n_batches, -1, chain.shape[1]).mean(axis=1)
    variance = batches.var(axis=0, ddof=1) / n_batches + direct.var(axis=0) / len(direct)
    return (chain.mean(axis=0) - direct.mean(axis=0)) / np.sqrt(np.maximum(variance, 1e-12))


LISTS = {
    "LDA": ([[PRIVATE]] * 3, None),
    "authors": ([[0, 1], [1, 2, 3], [0], [0, 1, 2, 3, 4]], None),
    "fictitious": ([[0, PRIVATE], [PRIVATE, 0, 1], [1, PRIVATE]], [[0.7, 0.3], [0.4, 0.3, 0.3], [0.5, 0.5]]),
}


def run(name, n_topics, fast, n_direct, n_chain, sampler_alpha=1.0):
    lists, weights = LISTS[name]
    documents = make_documents([([0] * 6, authors) for authors in lists], 5, weights)
    alpha, beta = np.linspace(0.2, 0.6, n_topics), np.linspace(0.2, 0.8, N_WORDS)
    n = len(documents.tokens)
    assignments, counts = counted(documents, [0] * n, [0] * n, N_WORDS, n_topics, 5)
    direct, chain = np.empty((n_direct, 9)), np.empty((n_chain, 9))
    prior_statistics(documents, assignments, counts, make_priors(alpha, beta), n_direct, new_stream(1), direct)
    told = make_priors(alpha * sampler_alpha, beta)
    sampler_statistics(documents, assignments, counts, told, n_chain, fast, new_stream(2), chain)
    return z_scores(direct, chain)


@pytest.mark.parametrize("fast", [False, True], ids=["plain", "lanes"])
@pytest.mark.parametrize("name", LISTS)
def test_sweeps_leave_the_joint_distribution_alone(name, fast):
    assert np.abs(run(name, 4, fast, 40_000, 40_000)).max() < 4.5


def test_geweke_notices_a_wrong_prior():
    """The sampler is told a slightly different alpha than the one that drew the data."""
    assert np.abs(run("authors", 4, True, 40_000, 40_000, sampler_alpha=1.2)).max() > 6


@pytest.mark.slow
@pytest.mark.parametrize("n_topics", [4, 40, 150])
@pytest.mark.parametrize("fast", [False, True], ids=["plain", "lanes"])
@pytest.mark.parametrize("name", LISTS)
def test_sweeps_leave_the_joint_distribution_alone_long(name, n_topics, fast):
    assert np.abs(run(name, n_topics, fast, 400_000, 400_000)).max() < 4.5


@pytest.mark.slow
@pytest.mark.parametrize("n_topics", [4, 40, 150])
def test_word_order_leaves_the_joint_distribution_alone(n_topics):
    """The word-by-word sweep: its order follows the words, so it is set up anew for every data set."""
    documents = make_documents([([0] * 6, [PRIVATE])] * 3, 0)
    priors = make_priors(np.linspace(0.2, 0.6, n_topics), np.linspace(0.2, 0.8, N_WORDS))
    assignments, counts = counted(documents, [0] * 18, [0] * 18, N_WORDS, n_topics, 0)
    direct, chain = np.empty((200_000, 9)), np.empty((25_000, 9))
    prior_statistics(documents, assignments, counts, priors, len(direct), new_stream(1), direct)
    stream = new_stream(2)
    draw_assignments(documents, assignments, counts, priors, stream)
    draw_words(documents, assignments, counts, priors, stream)
    for s in range(len(chain)):
        runs, order, block_docs = word_runs(documents.tokens, documents.doc_start, 2**15)
        topic = assignments.topic[order]
        sweep_words(runs, topic, counts, priors, block_docs, stream)
        assignments.topic[order] = topic
        draw_words(documents, assignments, counts, priors, stream)
        statistics(documents, assignments, counts, chain[s])
    assert np.abs(z_scores(direct, chain)).max() < 4.5
