"""Many topics: the sweep over lists of the words' topics, each document with its own alpha."""

import numpy as np
import pytest

import topoi
from author_topic.small_states import PRIVATE, counted, make_documents
from author_topic.test_enumeration import batch_errors
from author_topic.test_geweke import draw_words, statistics, z_scores
from dmr.test_sampler import ALPHAS, BETA, DOCS, draw_topics, exact_posterior, room, rows_of
from topoi.kernels.jit import compiled
from topoi.kernels.lanes import padded
from topoi.kernels.random import new_stream
from topoi.models.author_topic.state import make_priors
from topoi.models.author_topic.word_lists import sweep_listed, sweep_listed_with_priors
from topoi.models.dmr import work


@compiled
def visit(documents, assignments, counts, rows, priors, times, n_sweeps, stream, visits):
    for _ in range(n_sweeps):
        sweep_listed_with_priors(documents, assignments, counts, rows, priors, times, stream)
        number = 0
        for i in range(len(documents.tokens)):
            number = number * len(counts.topic) + assignments.topic[i]
        visits[number] += 1


def test_frequencies_equal_the_exact_posterior():
    documents, found = make_documents(DOCS, 0), []
    times = np.bincount(documents.tokens, minlength=3)
    for batch in range(40):
        assignments, counts = counted(documents, [0] * 6, [0] * 6, 3, 3, 0)
        visits = np.zeros(3**6, np.int64)
        given = rows_of(ALPHAS), room(BETA, 16), times
        visit(documents, assignments, counts, *given, 4000, new_stream(3, batch), visits)
        found.append(visits / visits.sum())
    assert batch_errors(np.array(found), exact_posterior(documents, ALPHAS, BETA)).max() < 4.5


def test_constant_features_are_one_private_author_each():
    """The same alpha in every document: the same draws as the author-topic kernel's."""
    rng = np.random.default_rng(2)
    documents = make_documents([(rng.integers(0, 30, 50).tolist(), [PRIVATE]) for _ in range(20)], 0)
    topic, times = rng.integers(0, 190, 1000), np.bincount(documents.tokens, minlength=30)
    alpha, beta = rng.uniform(0.005, 0.1, 190), rng.uniform(0.01, 0.2, 30)
    results = []
    for own in (True, False):
        assignments, counts = counted(documents, topic, [0] * 1000, 30, 190, 0)
        for s in range(5):
            here, stream = (documents, assignments, counts), new_stream(7, 0, s)
            if own:
                sweep_listed_with_priors(*here, rows_of(np.tile(alpha, (20, 1))), room(beta, 192), times, stream)
            else:
                sweep_listed(*here, make_priors(alpha, beta), times, stream)
        results.append(assignments.topic.copy())
        again = counted(documents, assignments.topic, [0] * 1000, 30, 190, 0)[1]
        assert np.array_equal(again.word_topic, counts.word_topic) and np.array_equal(again.topic, counts.topic)
    assert np.array_equal(*results) and not np.array_equal(results[0], topic)


@compiled
def both_ways(documents, assignments, counts, rows, told, priors, n_words, stream, direct, chain):
    for s in range(len(direct)):
        draw_topics(documents, assignments, counts, rows, stream)
        draw_words(documents, assignments, counts, priors, stream)
        statistics(documents, assignments, counts, direct[s])
    for s in range(len(chain)):
        times = np.zeros(n_words, np.int64)
        for i in range(len(documents.tokens)):
            times[documents.tokens[i]] += 1
        sweep_listed_with_priors(documents, assignments, counts, told, priors, times, stream)
        draw_words(documents, assignments, counts, priors, stream)
        statistics(documents, assignments, counts, chain[s])


def geweke(n_topics, n, wrong=1.0):
    documents = make_documents([([0] * 6, [PRIVATE])] * 3, 0)
    assignments, counts = counted(documents, [0] * 18, [0] * 18, 6, n_topics, 0)
    alphas = np.random.default_rng(0).uniform(0.1, 1.5, (3, n_topics)) / np.sqrt(n_topics)
    told = alphas.copy()
    told[1] *= wrong
    direct, chain = np.empty((n, 9)), np.empty((n, 9))
    priors = room(np.linspace(0.2, 0.8, 6), padded(n_topics))
    both_ways(documents, assignments, counts, rows_of(alphas), rows_of(told), priors, 6, new_stream(1), direct, chain)
    return np.abs(z_scores(direct, chain)).max()


@pytest.mark.slow
@pytest.mark.parametrize("n_topics", [4, 40, 300])
def test_geweke(n_topics):
    assert geweke(n_topics, 100_000) < 4.5


@pytest.mark.slow
def test_geweke_notices_one_wrong_document():
    assert geweke(4, 40_000, wrong=2.0) > 6


def test_fits_with_many_topics_use_lists_and_keep_their_bits(monkeypatch, tmp_path):
    drawn = topoi.LDA(30, alpha=0.05, beta=np.full(400, 0.02)).simulate(300, 20, random_state=1)
    texts = [drawn.tokens[a:b] for a, b in zip(drawn.doc_start[:-1], drawn.doc_start[1:], strict=True)]
    corpus = topoi.Corpus.from_tokens(
        [[f"w{w}" for w in text] for text in texts], metadata={"kind": [f"k{d % 3}" for d in range(300)]}
    )
    used = []
    sweep = work.word_lists.sweep_listed_with_priors
    monkeypatch.setattr(work.word_lists, "sweep_listed_with_priors", lambda *args: used.append(1) or sweep(*args))
    settings = {"features": ["kind"], "n_warmup": 4, "learn_every": 4, "random_state": 3, "n_shards": 2}
    model = topoi.DirichletMultinomialRegression(300, n_iter=8, **settings).fit(corpus)
    assert used
    again = topoi.DirichletMultinomialRegression(300, n_iter=8, n_jobs=2, **settings).fit(corpus)
    assert np.array_equal(again.topic_word_, model.topic_word_)
    part = topoi.DirichletMultinomialRegression(300, n_iter=5, **settings).fit(corpus)
    path = tmp_path / "part.topoi"
    part.save(path)
    assert np.array_equal(topoi.load(path).resume(3).topic_word_, model.topic_word_)
