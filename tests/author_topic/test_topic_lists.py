"""The sweep over lists of the documents' topics: conditionals, draws, enumeration, Geweke, recount, and its choice."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

import topoi
from author_topic.small_states import PRIVATE, counted, exact_posterior, make_documents
from author_topic.test_enumeration import ALPHA, BETA, CORPORA, batch_errors
from author_topic.test_geweke import draw_assignments, draw_words, statistics
from topoi.kernels.counts import Assignments
from topoi.kernels.jit import compiled
from topoi.kernels.random import new_stream
from topoi.models.author_topic import shards, topic_lists
from topoi.models.author_topic.equations import count
from topoi.models.author_topic.lines import MOST_TOPICS
from topoi.models.author_topic.shards import lists_pay
from topoi.models.author_topic.state import make_priors
from topoi.models.author_topic.topic_lists import listed_weights, make_word, sweep_lists
from topoi.models.author_topic.word_major import word_runs

ALL = 2**20


def random_texts(rng, n_topics, n_docs=4, longest=60, n_words=7):
    docs = [(rng.integers(0, n_words, rng.integers(1, longest)), [PRIVATE]) for _ in range(n_docs)]
    documents = make_documents(docs, 0)
    # Few topics, so that lists have numbers above one, and some anywhere.
    few = rng.choice(n_topics, min(n_topics, 20), replace=False)
    topic = np.where(rng.random(len(documents.tokens)) < 0.8, rng.choice(few, len(documents.tokens)), 0)
    topic = np.where(rng.random(len(topic)) < 0.2, rng.integers(0, n_topics, len(topic)), topic)
    alpha, beta = rng.uniform(0.01, 1.5, n_topics), rng.uniform(0.01, 1.0, n_words)
    assignments, counts = counted(documents, topic, np.zeros(len(topic)), n_words, n_topics, 0)
    runs, order, _ = word_runs(documents.tokens, documents.doc_start, ALL)
    return documents, assignments, counts, alpha, beta, runs, order


def equation(documents, assignments, counts, alpha, beta, i):
    """P(topic of token i | all others), up to a factor, from the definition."""
    n_topics, w, k0 = len(alpha), documents.tokens[i], assignments.topic[i]
    d = np.searchsorted(documents.doc_start, i, side="right") - 1
    own = slice(documents.doc_start[d], documents.doc_start[d + 1])
    one = np.eye(n_topics)[k0]
    in_document = np.bincount(assignments.topic[own], minlength=n_topics) - one + alpha
    word = counts.word_topic[w, :n_topics] - one + beta[w]
    return word / (counts.topic - one + beta.sum()) * in_document


@given(st.integers(0, 10**6), st.sampled_from([1, 5, 16, 100, 256, 257, 1000]), st.sampled_from([1.0, 1e-3, 1e-5]))
@settings(max_examples=80, deadline=None)
def test_weights_equal_the_equation(seed, n_topics, scale):
    rng = np.random.default_rng(seed)
    documents, assignments, counts, alpha, beta, runs, order = random_texts(rng, n_topics)
    alpha, beta = alpha * scale, beta * scale
    at = int(rng.integers(len(order)))
    i = int(order[at])
    lengths = np.diff(documents.doc_start)
    priors = make_priors(alpha, beta)
    fast = listed_weights(runs, at, int(documents.tokens[i]), assignments.topic[order], counts, priors, lengths)
    exact = equation(documents, assignments, counts, alpha, beta, i)
    np.testing.assert_allclose(fast / fast.sum(), exact / exact.sum(), atol=1e-5)


@compiled
def opened_and_closed(counts, priors, w, topic_of, n_opened):
    """phi and masses before a word is opened, and after it is closed again; so many of its topics were there before."""
    n_topics = len(counts.topic)
    word = make_word(counts, priors, 1)
    topic_lists._close_all(word, n_topics, priors.beta[w])
    before = word.phi.copy(), word.mass.copy()
    n = topic_lists._open(word, counts.word_topic, w, priors.beta[w])
    n = n if n_opened < 0 else n_opened
    topic_lists._close(word, n, topic_of, 0, len(topic_of), n_topics, priors.beta[w])
    return before, (word.phi, word.mass)


@pytest.mark.parametrize("there", ["tokens of other shards", "tokens that came to new topics"])
def test_a_closed_word_leaves_nothing_behind(there):
    rng = np.random.default_rng(4)
    _, _, counts, alpha, beta, _, _ = random_texts(rng, 300)
    topics = np.flatnonzero(counts.word_topic[2]).astype(np.uint16)
    given = (topics[:0], -1) if there == "tokens of other shards" else (topics, 0)
    (phi, mass), (phi_after, mass_after) = opened_and_closed(counts, make_priors(alpha, beta), 2, *given)
    assert len(topics) > 3 and np.array_equal(phi, phi_after)
    np.testing.assert_allclose(mass_after[:-1], mass[:-1], rtol=1e-12)


@compiled
def first_draws(runs, topic, counts, priors, lengths, n_draws, stream, visits):
    """How often the first token of the first run is drawn to each topic, each time from the same state."""
    for _ in range(n_draws):
        now = topic.copy()
        word_topic, topics = counts.word_topic.copy(), counts.topic.copy()
        sweep_lists(runs, now, counts, priors, lengths, stream)
        visits[now[0]] += 1
        counts.word_topic[:] = word_topic
        counts.topic[:] = topics


@pytest.mark.parametrize(("n_topics", "prior"), [(40, 0.02), (300, 0.3), (600, 0.02), (600, 300.0)])
def test_draws_follow_the_weights(n_topics, prior):
    """In the last case all tokens here are in one topic, which has most of the mass outside lists, too."""
    rng = np.random.default_rng(n_topics)
    documents, assignments, counts, _, _, runs, order = random_texts(rng, n_topics, n_docs=2, longest=90, n_words=3)
    if prior > 1:
        assignments, counts = counted(documents, [300] * len(documents.tokens), assignments.slot, 3, n_topics, 0)
        counts.word_topic[1, :n_topics] += 50  # in other shards
        counts.topic[:] += 50
    alpha, beta = np.full(n_topics, prior), np.full(3, 0.5 if prior < 1 else 0.01)
    lengths = np.diff(documents.doc_start)
    visits = np.zeros(n_topics, np.int64)
    state = runs, assignments.topic[order], counts, make_priors(alpha, beta), lengths
    first_draws(*state, 20_000, new_stream(3), visits)
    exact = equation(documents, assignments, counts, alpha, beta, int(order[0]))
    expected = exact / exact.sum() * visits.sum()
    common = expected > 10
    both = np.append(visits[common], visits[~common].sum()), np.append(expected[common], expected[~common].sum())
    kept = both[1] > 5
    assert chisquare(both[0][kept], both[1][kept] * both[0][kept].sum() / both[1][kept].sum()).pvalue > 1e-4


@compiled
def visit_lists(runs, topic, counts, priors, lengths, place, stream, visits):
    for _ in range(10_000):
        sweep_lists(runs, topic, counts, priors, lengths, stream)
        number = 0
        for i in range(len(topic)):
            number += place[i] * topic[i]
        visits[number] += 1


def test_matches_enumeration():
    documents = make_documents(CORPORA["LDA"][0], 0)
    states, exact = exact_posterior(documents, 3, 0, ALPHA, BETA)
    runs, order, _ = word_runs(documents.tokens, documents.doc_start, ALL)
    assignments, counts = counted(documents, [0] * 6, [0] * 6, 3, 3, 0)
    topic, place = assignments.topic[order], np.array([3 ** (5 - i) for i in range(6)])[order]
    frequencies = []
    for batch in range(30):
        visits = np.zeros(len(states), np.int64)
        lengths = np.diff(documents.doc_start)
        visit_lists(runs, topic, counts, make_priors(ALPHA, BETA), lengths, place, new_stream(2, batch), visits)
        frequencies.append(visits / visits.sum())
    assert batch_errors(np.array(frequencies), exact).max() < 4.5
    independent = 0.5 * np.sqrt(2 * exact * (1 - exact) / (np.pi * 300_000)).sum()
    assert 0.5 * np.abs(np.mean(frequencies, axis=0) - exact).sum() < 1.6 * independent


# Lengths of documents, topics and Σ alpha; documents of one line each have no room for a topic too many.
GEWEKE = [([40, 25, 3], 20, 4.0), ([40, 25, 3], 300, 4.0), ([16] * 5, 300, 16.0)]


@pytest.mark.parametrize(("lengths", "n_topics", "alpha_sum"), GEWEKE)
def test_geweke(lengths, n_topics, alpha_sum):
    """Two ways to draw words and topics agree: from the prior, and by sweeps that alternate with new words."""
    documents = make_documents([([0] * n, [PRIVATE]) for n in lengths], 0)
    priors = make_priors(np.full(n_topics, alpha_sum / n_topics), np.array([0.5, 0.3, 0.9, 0.4, 0.6, 0.2]))
    n, lengths = sum(lengths), np.array(lengths)
    doc = np.repeat(np.arange(len(lengths)), lengths)
    assignments, counts = counted(documents, [0] * n, [0] * n, 6, n_topics, 0)
    stream = new_stream(5)
    one, two = np.empty((4000, 10)), np.empty((4000, 10))

    def look(row):
        statistics(documents, assignments, counts, row[:9])
        row[9] = (np.bincount(doc * n_topics + assignments.topic) ** 2).sum()

    for row in one:
        draw_assignments(documents, assignments, counts, priors, stream)
        draw_words(documents, assignments, counts, priors, stream)
        look(row)
    for row in two:
        for _ in range(3):
            draw_words(documents, assignments, counts, priors, stream)
            runs, order, _ = word_runs(documents.tokens, documents.doc_start, ALL)
            topic = assignments.topic[order]
            sweep_lists(runs, topic, counts, priors, lengths, stream)
            assignments.topic[order] = topic
        look(row)
    moving = one.std(axis=0) > 0
    batches = two.reshape(40, 100, 10).mean(axis=1)
    error = np.sqrt(one.var(axis=0) / len(one) + batches.var(axis=0, ddof=1) / 40)
    assert (np.abs(one.mean(axis=0) - two.mean(axis=0))[moving] < 4.5 * error[moving]).all()


@pytest.mark.parametrize("n_topics", [1, 17, 300])
def test_counts_equal_a_recount(n_topics):
    rng = np.random.default_rng(n_topics)
    documents, assignments, counts, alpha, beta, runs, order = random_texts(rng, n_topics, 30, 80, n_words=200)
    topic, priors = assignments.topic[order], make_priors(alpha, beta)
    for sweep in range(5):
        sweep_lists(runs, topic, counts, priors, np.diff(documents.doc_start), new_stream(1, sweep))
    now = Assignments(np.empty_like(topic), assignments.slot)
    now.topic[order] = topic
    again = counted(documents, now.topic, now.slot, 200, n_topics, 0)[1]
    count(documents, now, again)
    assert np.array_equal(again.word_topic, counts.word_topic) and np.array_equal(again.topic, counts.topic)


def test_the_choice_is_by_counts():
    assert not lists_pay(100, 6, 0.05, 0.01, 0.1) and lists_pay(1000, 6, 0.05, 0.01, 0.1)
    assert not lists_pay(1000, 40, 0.05, 0.01, 0.1) and lists_pay(4000, 40, 0.05, 0.01, 0.1)
    assert MOST_TOPICS + 256 == 2**16


@pytest.fixture(scope="module")
def short_texts():
    return topoi.LDA(30, alpha=0.05, beta=np.full(400, 0.02)).simulate(600, 20, random_state=1)


def test_fits_with_many_topics_use_lists_and_keep_their_bits(short_texts, monkeypatch, tmp_path):
    used = []
    sweep = shards.topic_lists.sweep_lists
    monkeypatch.setattr(shards.topic_lists, "sweep_lists", lambda *args: used.append(1) or sweep(*args))
    settings = {"n_iter": 12, "random_state": 3, "n_shards": 2, "n_chains": 2}
    model = topoi.LDA(400, **settings).fit(short_texts)
    assert used
    for n_jobs in (2, 3):
        again = topoi.LDA(400, n_jobs=n_jobs, **settings).fit(short_texts)
        assert np.array_equal(again.topic_word_, model.topic_word_)
    part = topoi.LDA(400, **settings | {"n_iter": 5}).fit(short_texts)
    path = tmp_path / "part.topoi"
    part.save(path)
    assert np.array_equal(topoi.load(path).resume(7).topic_word_, model.topic_word_)


def test_fits_change_the_kernel_as_topics_settle(monkeypatch):
    """Long documents begin with too many topics for lists; the change of kernel keeps every token."""
    corpus = topoi.LDA(8, alpha=0.02, beta=np.full(500, 0.02)).simulate(30, 700, random_state=2)
    used = []
    for module, name in ((shards.topic_lists, "sweep_lists"), (shards.word_major, "sweep_words")):
        sweep = getattr(module, name)
        monkeypatch.setattr(module, name, lambda *args, sweep=sweep, name=name: used.append(name) or sweep(*args))
    model = topoi.LDA(200, alpha=0.01, n_iter=60, random_state=1).fit(corpus)
    assert used[0] == "sweep_words" and used[-1] == "sweep_lists"
    again = topoi.LDA(200, alpha=0.01, n_iter=20, random_state=1).fit(corpus).resume(40)
    assert np.array_equal(again.topic_word_, model.topic_word_)
