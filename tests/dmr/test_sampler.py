"""The sampler with fixed coefficients: exact posterior, conditionals, Geweke, invariants, reductions, fixed bits."""

import hashlib
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

import topoi
from author_topic.small_states import PRIVATE, counted, dirichlet_multinomial, make_documents, plain_weights
from author_topic.test_enumeration import batch_errors
from author_topic.test_geweke import draw_words, statistics, z_scores
from topoi.engine.executors import SerialExecutor
from topoi.engine.gibbs import sweep_chains
from topoi.kernels.counts import Priors
from topoi.kernels.draw import draw_plain
from topoi.kernels.jit import compiled
from topoi.kernels.lanes import padded
from topoi.kernels.random import new_stream
from topoi.models.author_topic.equations import sweep_plain, sweep_plain_with_priors
from topoi.models.author_topic.kernels import lane_weights, sweep, sweep_with_priors
from topoi.models.author_topic.state import AuthorTopicSampler, make_priors
from topoi.models.dmr.design import Design
from topoi.models.dmr.state import Plan, RegressionSampler
from topoi.models.inputs import WeightedAuthors

BETA = np.array([0.5, 0.2, 0.9])
ALPHAS = np.array([[0.7, 0.3, 1.1], [0.1, 2.0, 0.4]])
DOCS = [([0, 1, 1], [PRIVATE]), ([2, 0, 1], [PRIVATE])]


def rows_of(alphas):
    rows = np.zeros((len(alphas), padded(alphas.shape[1])), np.float32)
    rows[:, : alphas.shape[1]] = alphas
    return rows


def room(beta, width):
    return Priors(np.zeros(width, np.float32), 0.0, *make_priors(np.ones(1), beta)[2:])


def log_joint(documents, topic, alphas, beta):
    """log P(words, topics) from the definition, each document with its own alpha."""
    by_topic = np.zeros((alphas.shape[1], len(beta)), int)
    np.add.at(by_topic, (topic, documents.tokens), 1)
    result = sum(dirichlet_multinomial(row, beta) for row in by_topic)
    for d, alpha in enumerate(alphas):
        here = topic[documents.doc_start[d] : documents.doc_start[d + 1]]
        result += dirichlet_multinomial(np.bincount(here, minlength=len(alpha)), alpha)
    return result


def exact_posterior(documents, alphas, beta):
    states = np.array(list(product(range(alphas.shape[1]), repeat=len(documents.tokens))))
    logs = np.array([log_joint(documents, state, alphas, beta) for state in states])
    p = np.exp(logs - logs.max())
    return p / p.sum()


@compiled
def visit(documents, assignments, counts, rows, priors, n_sweeps, fast, stream, visits):
    for _ in range(n_sweeps):
        if fast:
            sweep_with_priors(documents, assignments, counts, rows, priors, stream)
        else:
            sweep_plain_with_priors(documents, assignments, counts, rows, priors, stream)
        number = 0
        for i in range(len(documents.tokens)):
            number = number * len(counts.topic) + assignments.topic[i]
        visits[number] += 1


def frequencies_of(fast, alphas):
    documents = make_documents(DOCS, 0)
    found = []
    for batch in range(40):
        assignments, counts = counted(documents, [0] * 6, [0] * 6, 3, 3, 0)
        visits = np.zeros(3**6, np.int64)
        stream = new_stream(3, batch)
        visit(documents, assignments, counts, rows_of(alphas), room(BETA, 16), 4000, fast, stream, visits)
        found.append(visits / visits.sum())
    return np.array(found)


@pytest.mark.parametrize("fast", [False, True], ids=["plain", "lanes"])
def test_frequencies_equal_the_exact_posterior(fast):
    exact = exact_posterior(make_documents(DOCS, 0), ALPHAS, BETA)
    assert batch_errors(frequencies_of(fast, ALPHAS), exact).max() < 4.5


def test_enumeration_notices_documents_that_swap_their_priors():
    exact = exact_posterior(make_documents(DOCS, 0), ALPHAS, BETA)
    assert batch_errors(frequencies_of(True, ALPHAS[::-1]), exact).max() > 6


@given(st.integers(0, 10**6), st.sampled_from([1, 2, 5, 17, 40]))
@settings(max_examples=40, deadline=None)
def test_weights_equal_brute_force(seed, n_topics):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 9, 4)
    documents = make_documents([(rng.integers(0, 6, n).tolist(), [PRIVATE]) for n in lengths], 0)
    n = len(documents.tokens)
    alphas, beta = rng.uniform(0.01, 2.0, (4, n_topics)), rng.uniform(0.01, 1.0, 6)
    topic = rng.integers(0, n_topics, n)
    assignments, counts = counted(documents, topic, [0] * n, 6, n_topics, 0)
    i = int(rng.integers(n))
    d = int(np.searchsorted(documents.doc_start, i, side="right") - 1)
    logs = np.empty(n_topics)
    for k in range(n_topics):
        topic[i] = k
        logs[k] = log_joint(documents, topic, alphas, beta)
    exact = np.exp(logs - logs.max())
    exact /= exact.sum()
    priors = make_priors(alphas[d], beta)
    plain = plain_weights(documents, assignments, counts, priors, d, i)
    fast = lane_weights(documents, assignments, counts, priors, d, i)
    np.testing.assert_allclose(plain / plain.sum(), exact, atol=1e-6)
    np.testing.assert_allclose(fast / fast.sum(), exact, atol=1e-5)


@compiled
def draw_topics(documents, assignments, counts, rows, stream):
    counts.topic[:] = 0
    for d in range(len(documents.doc_start) - 1):
        number = np.zeros(len(counts.topic))
        for i in range(documents.doc_start[d], documents.doc_start[d + 1]):
            k = draw_plain(number + rows[d, : len(number)], len(number), stream)
            assignments.topic[i] = k
            number[k] += 1.0
            counts.topic[k] += 1


@compiled
def both_ways(documents, assignments, counts, rows, told, priors, n, fast, stream, direct, chain):
    for s in range(n):
        draw_topics(documents, assignments, counts, rows, stream)
        draw_words(documents, assignments, counts, priors, stream)
        statistics(documents, assignments, counts, direct[s])
    for s in range(n):
        if fast:
            sweep_with_priors(documents, assignments, counts, told, priors, stream)
        else:
            sweep_plain_with_priors(documents, assignments, counts, told, priors, stream)
        draw_words(documents, assignments, counts, priors, stream)
        statistics(documents, assignments, counts, chain[s])


def geweke(n_topics, fast, n, wrong=1.0):
    documents = make_documents([([0] * 6, [PRIVATE])] * 3, 0)
    assignments, counts = counted(documents, [0] * 18, [0] * 18, 6, n_topics, 0)
    alphas = np.random.default_rng(0).uniform(0.1, 1.5, (3, n_topics)) / np.sqrt(n_topics)
    told = alphas.copy()
    told[1] *= wrong
    direct, chain = np.empty((n, 9)), np.empty((n, 9))
    priors = room(np.linspace(0.2, 0.8, 6), padded(n_topics))
    both_ways(
        documents, assignments, counts, rows_of(alphas), rows_of(told), priors, n, fast, new_stream(1), direct, chain
    )
    return np.abs(z_scores(direct, chain)).max()


@pytest.mark.parametrize("fast", [False, True], ids=["plain", "lanes"])
def test_sweeps_leave_the_joint_distribution_alone(fast):
    assert geweke(4, fast, 40_000) < 4.5


def test_geweke_notices_one_wrong_document():
    assert geweke(4, True, 40_000, wrong=2.0) > 6


@pytest.mark.slow
@pytest.mark.parametrize("n_topics", [4, 40, 150])
@pytest.mark.parametrize("fast", [False, True], ids=["plain", "lanes"])
def test_sweeps_leave_the_joint_distribution_alone_long(n_topics, fast):
    assert geweke(n_topics, fast, 300_000) < 4.5


@pytest.mark.parametrize(
    "own, lda", [(sweep_plain_with_priors, sweep_plain), (sweep_with_priors, sweep)], ids=["plain", "lanes"]
)
def test_constant_features_are_lda(own, lda):
    """The same alpha in every document: the same draws as LDA's kernels of the same order."""
    rng = np.random.default_rng(2)
    documents = make_documents([(rng.integers(0, 30, 50).tolist(), [PRIVATE]) for _ in range(20)], 0)
    topic = rng.integers(0, 19, 1000)
    alpha, beta = rng.uniform(0.05, 1.0, 19), rng.uniform(0.01, 0.2, 30)
    results = []
    for kernel, given_ in (
        (own, (rows_of(np.tile(alpha, (20, 1))), room(beta, 32))),
        (lda, (make_priors(alpha, beta),)),
    ):
        assignments, counts = counted(documents, topic, [0] * 1000, 30, 19, 0)
        for s in range(5):
            kernel(documents, assignments, counts, *given_, new_stream(7, 0, s))
        results.append(assignments.topic.copy())
    assert np.array_equal(*results)
    assert not np.array_equal(results[0], topic)


def make_sampler(n_topics=6):
    corpus = topoi.LDA(5, alpha=0.2, beta=0.05).simulate(60, 40, random_state=3)
    design = csr_matrix(np.column_stack([np.ones(60), np.arange(60) % 3 == 0]))
    mean = np.column_stack([np.log(np.linspace(0.1, 0.5, n_topics)), np.linspace(-1, 1, n_topics)])
    return RegressionSampler(corpus, design, Plan(mean, 1.0, 10.0, 10**6, 1), np.full(corpus.n_words, 0.05), 3)


@pytest.fixture(scope="module")
def sampler():
    return make_sampler()


def test_every_shard_has_the_alpha_of_its_documents(sampler):
    chain = sampler.start(0, 0)
    expected = np.exp(sampler.design @ sampler.plan.mean.T)
    at = 0
    for shard in chain.shards:
        n = len(shard.documents.doc_start) - 1
        np.testing.assert_allclose(chain.priors.rows[shard.here, :6], expected[at : at + n], rtol=1e-6)
        at += n
    assert at == 60 and (chain.priors.rows[:, 6:] == 0).all()
    np.testing.assert_allclose(chain.priors.alpha[:6], expected.mean(axis=0), rtol=1e-6)


def test_counts_equal_a_recount_after_every_sweep(sampler):
    chain = sampler.start(0, 0)
    for s in range(1, 5):
        sweep_chains(sampler, [chain], s, 0, SerialExecutor())
        word_topic, topic = chain.counts.word_topic.copy(), chain.counts.topic.copy()
        sampler.recount(chain)
        assert np.array_equal(word_topic, chain.counts.word_topic) and np.array_equal(topic, chain.counts.topic)


def test_log_joint_is_the_definition(sampler):
    chain = sampler.start(0, 0)
    documents, assignments = sampler.whole(chain)
    alphas = chain.priors.rows[:, :6].astype(float)
    exact = log_joint(documents, assignments.topic.astype(int), alphas, chain.priors.beta.astype(float))
    assert sampler.log_joint(chain) == pytest.approx(exact, rel=1e-9)


# Fixed alphas, fixed seed, fixed bits; made anew only by a change that is meant to alter draws.
# Many topics are sampled over lists of the words' topics.
GOLDEN = {"three shards": "3cb2f001687ca306", "many topics": "dc02bea60e5472fc"}


def golden_model(name):
    """Every token's topic after 20 sweeps."""
    n_topics = 300 if name == "many topics" else 6
    sampler = make_sampler(n_topics)
    chain = sampler.start(5, 0)
    # Numbers that every machine has alike: an exponential may differ in its last bit.
    alphas = (1 + np.arange(60 * n_topics).reshape(60, n_topics) % 7) / 8
    chain.priors = chain.priors._replace(rows=rows_of(alphas))
    for s in range(1, 21):
        sweep_chains(sampler, [chain], s, 5, SerialExecutor())
    return sampler.whole(chain)[1].topic


def digest(topics):
    return hashlib.blake2b(topics.tobytes(), digest_size=8).hexdigest()


@pytest.mark.parametrize("name", GOLDEN)
def test_golden_run(name):
    assert digest(golden_model(name)) == GOLDEN[name]


@pytest.mark.parametrize("n_shards", [1, 3])
def test_no_features_are_lda(n_shards):
    """An intercept alone, never learned: bit for bit the sampler of LDA with that alpha, shards and engine included."""
    corpus = topoi.LDA(5, alpha=0.2, beta=0.05).simulate(50, 30, random_state=4)
    alpha, beta = np.array([0.5, 0.25, 1.0, 0.125, 2.0]), np.full(corpus.n_words, 0.05)
    mean = np.log(alpha)[:, None]
    own = RegressionSampler(corpus, Design(()).matrix(corpus), Plan(mean, 1.0, 1.0, 10**6, 1), beta, n_shards)
    lda = AuthorTopicSampler(corpus, WeightedAuthors.private(corpus.n_docs), alpha, beta, n_shards)
    lda.by_words = False  # LDA's faster order of tokens, word by word, is for one alpha only
    found = []
    for each in (own, lda):
        chain = each.start(9, 0)
        for s in range(1, 8):
            sweep_chains(each, [chain], s, 9, SerialExecutor())
        found.append((each.whole(chain)[1].topic.copy(), each.log_joint(chain)))
    assert np.array_equal(found[0][0], found[1][0])
    assert found[0][1] == pytest.approx(found[1][1], rel=1e-6)
