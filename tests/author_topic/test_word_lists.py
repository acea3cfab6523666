"""The sweep over lists of the words' topics: conditionals, draws, enumeration, Geweke, recount, and its choice."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

import topoi
from author_topic.small_states import (
    PRIVATE,
    counted,
    exact_posterior,
    log_joint,
    make_documents,
    plain_weights,
    random_state,
    state_number,
)
from author_topic.test_enumeration import ALPHA, BETA, CORPORA, batch_errors
from author_topic.test_geweke import LISTS, draw_assignments, draw_words, prior_statistics, statistics, z_scores
from topoi.kernels.jit import compiled
from topoi.kernels.random import new_stream
from topoi.models.author_topic import kernels, shards, word_lists
from topoi.models.author_topic.equations import recount_private_author
from topoi.models.author_topic.listed_words import make_word_lists, mean_word_lines
from topoi.models.author_topic.shards import word_lists_pay
from topoi.models.author_topic.state import make_priors
from topoi.models.author_topic.word_lists import sweep_listed, word_listed_weights


def occurrences(documents, n_words):
    return np.bincount(documents.tokens, minlength=n_words)


def author_share(documents, assignments, counts, priors, d, i):
    """P(author of token i, topic | all others) up to a factor, topics × authors, from the definition."""
    first, last = documents.author_start[d : d + 2]
    n_topics, k0, q0 = len(counts.topic), assignments.topic[i], assignments.slot[i]
    own = slice(documents.doc_start[d], documents.doc_start[d + 1])
    shares = np.empty((n_topics, last - first))
    for q in range(last - first):
        a = documents.author[first + q]
        if a == len(counts.author) - 1:
            mine = assignments.topic[own][assignments.slot[own] == q]
            row = np.bincount(mine, minlength=n_topics).astype(float)
        else:
            row = counts.author_topic[a, :n_topics].astype(float)
        row[k0] -= q == q0
        shares[:, q] = documents.author_weight[first + q] * (row + priors.alpha[:n_topics])
        shares[:, q] /= row.sum() + priors.alpha_sum
    return shares


@given(st.integers(0, 10**6), st.sampled_from([1, 5, 16, 100, 256, 257, 1000]), st.sampled_from([1.0, 1e-3, 1e-5]))
@settings(max_examples=80, deadline=None)
def test_weights_equal_the_equation(seed, n_topics, scale):
    rng = np.random.default_rng(seed)
    state = random_state(rng, n_topics=n_topics, length=60)
    documents, assignments, counts, _, (n_words, _, alpha, beta) = state
    priors = make_priors(alpha * scale, beta * scale)
    d = int(rng.integers(len(documents.doc_start) - 1))
    i = int(rng.integers(documents.doc_start[d], documents.doc_start[d + 1]))
    times = occurrences(documents, n_words)
    fast = word_listed_weights(documents, assignments, counts, priors, times, d, i)
    topic = plain_weights(documents, assignments, counts, priors, d, i)
    shares = author_share(documents, assignments, counts, priors, d, i)
    exact = topic[:, None] * shares / shares.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(fast / fast.sum(), exact / exact.sum(), atol=1e-5)


@compiled
def first_draws(documents, assignments, counts, priors, times, n_draws, stream, visits):
    """How often the first token is drawn to each pair of topic and author, each time from the same state."""
    topic, slot = assignments.topic.copy(), assignments.slot.copy()
    word_topic, topics = counts.word_topic.copy(), counts.topic.copy()
    author_topic, author = counts.author_topic.copy(), counts.author.copy()
    for _ in range(n_draws):
        sweep_listed(documents, assignments, counts, priors, times, stream)
        visits[assignments.topic[0], assignments.slot[0]] += 1
        assignments.topic[:] = topic
        assignments.slot[:] = slot
        counts.word_topic[:] = word_topic
        counts.topic[:] = topics
        counts.author_topic[:] = author_topic
        counts.author[:] = author


# Topics, prior per topic, tokens of other shards, authors: authors of few tokens and prior have bounds of their own.
DRAWS = [
    (40, 0.02, 0, [0, 1, 2]),
    (300, 0.3, 0, [0, 1, 2]),
    (600, 0.02, 0, [0, 1, 2]),
    (600, 1.0, 50, [0, 1, 2]),
    (300, 1e-5, 0, [0, 1, 2]),
    (300, 0.02, 0, [PRIVATE, 1]),
    (300, 0.02, 0, [PRIVATE]),
]


@pytest.mark.parametrize(("n_topics", "prior", "others", "authors"), DRAWS)
def test_draws_follow_the_weights(n_topics, prior, others, authors):
    rng = np.random.default_rng(n_topics)
    words = [rng.integers(0, 3, n).tolist() for n in (30, 20, 5)]
    weights = [[1.0, 0.5, 2.0][: len(authors)], [1.0], [1.0]]
    documents = make_documents([(words[0], authors), (words[1], [0]), (words[2], [1])], 3, weights)
    n = len(documents.tokens)
    few = rng.choice(n_topics, 20)
    topic = np.where(rng.random(n) < 0.8, rng.choice(few, n), rng.integers(0, n_topics, n))
    slot = rng.integers(0, len(authors), n) * (np.arange(n) < 30)
    assignments, counts = counted(documents, topic, slot, 3, n_topics, 3)
    times = occurrences(documents, 3)
    if others:
        counts.word_topic[:, :n_topics] += others
        counts.topic[:] += 3 * others
        times = times + others * n_topics
    alpha, beta = np.full(n_topics, prior), np.array([0.5, 0.3, 0.01])
    priors = make_priors(alpha, beta)
    expected = word_listed_weights(documents, assignments, counts, priors, times, 0, 0)
    visits = np.zeros(expected.shape, np.int64)
    first_draws(documents, assignments, counts, priors, times, 20_000, new_stream(3), visits)
    expected = expected / expected.sum() * visits.sum()
    common = expected > 10
    both = np.append(visits[common], visits[~common].sum()), np.append(expected[common], expected[~common].sum())
    kept = both[1] > 5
    assert chisquare(both[0][kept], both[1][kept] * both[0][kept].sum() / both[1][kept].sum()).pvalue > 1e-4


@compiled
def visit_listed(documents, assignments, counts, priors, times, n_slots, stream, visits):
    n_topics = len(counts.topic)
    for _ in range(10_000):
        sweep_listed(documents, assignments, counts, priors, times, stream)
        number = 0
        for i in range(len(documents.tokens)):
            number = number * n_topics * n_slots[i] + assignments.topic[i] * n_slots[i] + assignments.slot[i]
        visits[number] += 1


@pytest.mark.parametrize("name", CORPORA)
def test_matches_enumeration(name):
    docs, weights = CORPORA[name]
    n_authors = 1 + max((a for _, authors in docs for a in authors), default=0)
    documents = make_documents(docs, n_authors, weights)
    states, exact = exact_posterior(documents, 3, n_authors, ALPHA, BETA)
    first = states[0]
    assignments, counts = counted(documents, [k for k, _ in first], [q for _, q in first], 3, 3, n_authors)
    assert state_number(documents, assignments, 3) == 0
    n_slots = np.repeat(np.diff(documents.author_start), np.diff(documents.doc_start))
    frequencies, times, priors = [], occurrences(documents, 3), make_priors(ALPHA, BETA)
    for batch in range(30):
        visits = np.zeros(len(states), np.int64)
        visit_listed(documents, assignments, counts, priors, times, n_slots, new_stream(2, batch), visits)
        frequencies.append(visits / visits.sum())
    assert batch_errors(np.array(frequencies), exact).max() < 4.5
    independent = 0.5 * np.sqrt(2 * exact * (1 - exact) / (np.pi * 300_000)).sum()
    assert 0.5 * np.abs(np.mean(frequencies, axis=0) - exact).sum() < 1.6 * independent


# Three authors of 12, 14 and 30 tokens in other documents, so that bounds outlast some tokens and not others.
OTHERS = [([0] * 12, [0]), ([1] * 14, [1]), ([2] * 30, [2])]


@compiled
def mean_slots(here, assignments, counts, priors, times, n, stream, total, together):
    for s in range(n):
        sweep_listed(here, assignments, counts, priors, times, stream)
        for i in range(len(here.tokens)):
            total[s * 20 // n, assignments.slot[i]] += 1
            together[s * 20 // n, assignments.topic[i]] += assignments.slot[i] == 0


def test_authors_of_some_tokens_have_their_share():
    """Other documents stay as they are: mean numbers of tokens of authors, and of one author's in topics, by sums."""
    documents = make_documents([([0, 1, 0], [0, 1, 2]), *OTHERS], 3)
    fixed = [i % 3 for i in range(56)]
    each = list(product(range(3), range(3)))
    states = list(product(each, repeat=3))
    logs = np.array(
        [
            log_joint(documents, [k for k, _ in s] + fixed, [q for _, q in s] + [0] * 56, 3, 3, ALPHA, BETA)
            for s in states
        ]
    )
    p = np.exp(logs - logs.max())
    p /= p.sum()
    slots = np.array([np.bincount([q for _, q in s], minlength=3) for s in states])
    firsts = np.array([np.bincount([k for k, q in s if q == 0], minlength=3) for s in states])
    here = make_documents([([0, 1, 0], [0, 1, 2])], 3)
    every, counts = counted(documents, [0] * 3 + fixed, [0] * 59, 3, 3, 3)
    own = every._replace(topic=every.topic[:3].copy(), slot=every.slot[:3].copy())
    total, together, n = np.zeros((20, 3)), np.zeros((20, 3)), 300_000
    mean_slots(
        here, own, counts, make_priors(ALPHA, BETA), occurrences(documents, 3), n, new_stream(8), total, together
    )
    for found, exact in ((total, p @ slots), (together, p @ firsts)):
        found = found * 20 / n
        assert (np.abs(found.mean(axis=0) - exact) < 4.5 * found.std(axis=0, ddof=1) / np.sqrt(20)).all()


@compiled
def broken_bounds(documents, assignments, counts, priors, times, n, stream):
    """How often an author's factor exceeds its bound, a bound is much too large, or a part's mass wrong, in sweeps."""
    lists = make_word_lists(documents.tokens, assignments.topic, times, counts).lists
    document = word_lists.make_document(documents, counts, priors)
    below = above = wrong = 0
    for _ in range(n):
        for d in range(len(documents.doc_start) - 1):
            recount_private_author(documents, assignments, counts, d)
            document.stale[0] = 1
            first = documents.author_start[d]
            for i in range(documents.doc_start[d], documents.doc_start[d + 1]):
                word_lists._hold_bounds(documents, d, i, assignments, counts, priors, document)
                for q in range(documents.author_start[d + 1] - first):
                    out = -1.0 if q == assignments.slot[i] else 0.0
                    factor = word_lists._factor(documents, counts, priors, first + q, out)
                    below += document.bound[q] < factor
                    above += document.bound[q] > 1.25 * factor
                word_lists._sample_token(documents, d, i, assignments, counts, priors, lists, document, stream)
                for s in range(len(document.mass) - 1):
                    exact = document.side[256 * s : 256 * (s + 1)].astype(np.float64).sum()
                    wrong += abs(document.mass[s] - exact) > 1e-5 * exact
    return below, above, wrong


@pytest.mark.parametrize("alpha_sum", [1e-3, 3.0, 60.0])
def test_bounds_hold(alpha_sum):
    """Otherwise draws would be wrong, or slow if bounds are much too large; and masses are those of the sides."""
    docs = [([d % 5] * 40, [0, 1, 2, 3][: 2 + d % 3]) for d in range(4)] + [([0] * 9, [4, 5])]
    documents = make_documents(docs, 6)
    n = len(documents.tokens)
    assignments, counts = counted(documents, [0] * n, np.arange(n) % 2, 5, 300, 6)
    priors = make_priors(np.full(300, alpha_sum / 300), np.full(5, 0.1))
    state = documents, assignments, counts, priors, occurrences(documents, 5)
    assert broken_bounds(*state, 50, new_stream(1)) == (0, 0, 0)


@compiled
def listed_statistics(documents, assignments, counts, priors, n_words, n, stream, out):
    draw_assignments(documents, assignments, counts, priors, stream)
    draw_words(documents, assignments, counts, priors, stream)
    for s in range(n):
        times = np.zeros(n_words, np.int64)
        for i in range(len(documents.tokens)):
            times[documents.tokens[i]] += 1
        sweep_listed(documents, assignments, counts, priors, times, stream)
        draw_words(documents, assignments, counts, priors, stream)
        statistics(documents, assignments, counts, out[s])


def geweke(name, n_topics, alpha_sum, n_direct, n_chain, length=6):
    lists, weights = LISTS[name]
    documents = make_documents([([0] * length, authors) for authors in lists], 5, weights)
    priors = make_priors(np.full(n_topics, alpha_sum / n_topics), np.linspace(0.2, 0.8, 6))
    n = len(documents.tokens)
    assignments, counts = counted(documents, [0] * n, [0] * n, 6, n_topics, 5)
    direct, chain = np.empty((n_direct, 9)), np.empty((n_chain, 9))
    prior_statistics(documents, assignments, counts, priors, n_direct, new_stream(1), direct)
    listed_statistics(documents, assignments, counts, priors, 6, n_chain, new_stream(2), chain)
    return z_scores(direct, chain)


@pytest.mark.parametrize(("n_topics", "alpha_sum", "length"), [(4, 1.6, 6), (90, 30.0, 25)])
@pytest.mark.parametrize("name", LISTS)
def test_geweke(name, n_topics, alpha_sum, length):
    """Two ways to draw words, topics and authors agree; with 30 for Σ alpha bounds outlast several tokens."""
    assert np.abs(geweke(name, n_topics, alpha_sum, 20_000, 20_000, length)).max() < 4.5


@pytest.mark.slow
@pytest.mark.parametrize(("n_topics", "alpha_sum", "length"), [(4, 1.6, 6), (40, 40.0, 20), (300, 4.0, 30)])
@pytest.mark.parametrize("name", LISTS)
def test_geweke_long(name, n_topics, alpha_sum, length):
    assert np.abs(geweke(name, n_topics, alpha_sum, 60_000, 60_000, length)).max() < 4.5


@pytest.mark.parametrize("kind", [np.float32, pytest.param(np.int32, marks=pytest.mark.slow)])
@pytest.mark.parametrize("n_topics", [1, 17, 300])
def test_counts_equal_a_recount(n_topics, kind):
    """Half of the documents are in another shard, so that lists come from tokens and from rows."""
    rng = np.random.default_rng(n_topics)
    state = random_state(rng, n_docs=40, n_words=120, n_topics=n_topics, length=60)
    documents, assignments, counts, priors, (n_words, n_authors, _, _) = state
    counts = counts._replace(word_topic=counts.word_topic.astype(kind), author_topic=counts.author_topic.astype(kind))
    half, slots = documents.doc_start[20], documents.author_start[20]
    here = documents._replace(
        tokens=documents.tokens[:half].copy(),
        doc_start=documents.doc_start[:21],
        author=documents.author[:slots],
        author_start=documents.author_start[:21],
        author_weight=documents.author_weight[:slots],
    )
    own = assignments._replace(topic=assignments.topic[:half], slot=assignments.slot[:half])
    times, before = occurrences(documents, n_words), own.topic.copy()
    for sweep in range(5):
        sweep_listed(here, own, counts, priors, times, new_stream(1, sweep))
    again = counted(documents, assignments.topic, assignments.slot, n_words, n_topics, n_authors)[1]
    assert np.array_equal(again.word_topic, counts.word_topic) and np.array_equal(again.topic, counts.topic)
    assert np.array_equal(again.author_topic[:-1], counts.author_topic[:-1])
    assert np.array_equal(again.author[:-1], counts.author[:-1])
    assert n_topics == 1 or (before != own.topic).any()


@pytest.mark.slow
def test_whole_numbers_give_the_same_draws():
    """Counts of int32, for words or authors of more than 2**24 tokens."""
    found = []
    for kind in (np.float32, np.int32):
        state = random_state(np.random.default_rng(5), n_docs=30, n_words=50, n_topics=200, length=50)
        documents, assignments, counts, priors, _ = state
        counts = counts._replace(
            word_topic=counts.word_topic.astype(kind), author_topic=counts.author_topic.astype(kind)
        )
        sweep_listed(documents, assignments, counts, priors, occurrences(documents, 50), new_stream(4))
        found.append((assignments.topic, assignments.slot))
    assert np.array_equal(found[0][0], found[1][0]) and np.array_equal(found[0][1], found[1][1])


def test_words_without_a_list():
    """A word in many topics, one that might overflow sixteen bits, and one that does not occur here have no list."""
    documents = make_documents([([0] * 40 + [1] * 40 + [2] * 3, [PRIVATE])], 0)
    topic = np.concatenate((np.arange(40), np.arange(40) % 2, [5, 5, 6]))
    assignments, counts = counted(documents, topic, [0] * 83, 4, 80, 0)
    words = make_word_lists(documents.tokens, assignments.topic, np.array([40, 40, 2**16, 9]), counts)
    assert words.lists.first.tolist() == [-1, 3, -1, -1] and words.lists.length.tolist() == [0, 2, 0, 0]
    assert sorted(words.before.tolist()) == [0, 1]
    lines, without = mean_word_lines(documents.tokens, np.array([40, 40, 3, 0]), counts)
    assert (lines, without) == (43 / 83, 40 / 83)


def test_the_choice_is_by_counts():
    assert word_lists_pay(1000, 3, 100, 6, 0.1) and not word_lists_pay(100, 2, 1000, 2, 0.4)
    assert not word_lists_pay(300, 1, 100, 5, 0.9) and word_lists_pay(4000, 1, 100, 20, 0.1)
    # Documents of two words are opened for every other token.
    assert word_lists_pay(300, 3, 100, 3, 0) and not word_lists_pay(300, 3, 1.5, 3, 0)


@pytest.fixture(scope="module")
def papers():
    return topoi.AuthorTopicModel(30, alpha=0.05, beta=np.full(400, 0.02)).simulate(300, 40, 60, random_state=1)


def test_fits_with_many_topics_use_lists_and_keep_their_bits(papers, monkeypatch, tmp_path):
    used = []
    sweep = shards.word_lists.sweep_listed
    monkeypatch.setattr(shards.word_lists, "sweep_listed", lambda *args: used.append(1) or sweep(*args))
    settings = {"n_iter": 12, "random_state": 3, "n_shards": 2, "n_chains": 2}
    model = topoi.AuthorTopicModel(400, **settings).fit(papers)
    assert used
    for n_jobs in (2, 3):
        again = topoi.AuthorTopicModel(400, n_jobs=n_jobs, **settings).fit(papers)
        assert np.array_equal(again.topic_word_, model.topic_word_)
    part = topoi.AuthorTopicModel(400, **settings | {"n_iter": 5}).fit(papers)
    path = tmp_path / "part.topoi"
    part.save(path)
    assert np.array_equal(topoi.load(path).resume(7).topic_word_, model.topic_word_)


def test_fits_change_the_kernel_as_topics_settle(monkeypatch):
    """Frequent words begin in too many topics for lists."""
    corpus = topoi.AuthorTopicModel(8, alpha=0.02, beta=np.full(40, 0.02)).simulate(60, 100, 5, random_state=2)
    used = []
    for module, name in ((word_lists, "sweep_listed"), (kernels, "sweep")):
        sweep = getattr(module, name)
        monkeypatch.setattr(module, name, lambda *args, sweep=sweep, name=name: used.append(name) or sweep(*args))
    model = topoi.AuthorTopicModel(300, alpha=0.01, n_iter=60, random_state=1).fit(corpus)
    assert used[0] == "sweep" and used[-1] == "sweep_listed"
    again = topoi.AuthorTopicModel(300, alpha=0.01, n_iter=20, random_state=1).fit(corpus).resume(40)
    assert np.array_equal(again.topic_word_, model.topic_word_)
