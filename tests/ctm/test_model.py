"""The fitted model: invariants, fixed bits, damaged files, likelihood against quadrature, planted correlations."""

import hashlib

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

import topoi
from ctm.small import covariance_of, exact_log_likelihood, grid, mean_of
from topoi.engine.executors import SerialExecutor
from topoi.engine.gibbs import sweep_chains
from topoi.kernels.random import new_stream
from topoi.models.ctm import equations, inference, normal
from topoi.models.ctm.correlations import by_similarity, correlation_of, summarise
from topoi.models.ctm.normal import Hyper
from topoi.models.ctm.sampler import CorrelatedSampler, summed_sweeps
from topoi.models.ctm.simulate import simulate
from topoi.models.draws import Draws


def make_sampler(n_shards=1, n_topics=5):
    corpus = topoi.LDA(5, alpha=0.2, beta=0.05).simulate(40, 30, random_state=3)
    return CorrelatedSampler(corpus, n_topics, np.full(corpus.n_words, 0.05), Hyper(1.0, 10.0, 1.0), n_shards)


def swept(sampler, n, seed=5):
    chain = sampler.start(seed, 0)
    for s in range(1, n + 1):
        sweep_chains(sampler, [chain], s, seed, SerialExecutor())
    return chain


@pytest.mark.parametrize("n_shards", [1, 3])
def test_counts_equal_a_recount_after_every_sweep(n_shards):
    sampler = make_sampler(n_shards)
    chain = sampler.start(0, 0)
    for s in range(1, 5):
        sweep_chains(sampler, [chain], s, 0, SerialExecutor())
        word_topic, topic = chain.counts.word_topic.copy(), chain.counts.topic.copy()
        sampler.recount(chain)
        assert np.array_equal(word_topic, chain.counts.word_topic) and np.array_equal(topic, chain.counts.topic)
        assert np.abs(sampler.eta(chain).sum(axis=1)).max() < 1e-9


def test_log_joint_is_the_definition():
    sampler = make_sampler(2)
    chain = swept(sampler, 3)
    docs, topics = [], []
    for shard in chain.shards:
        cuts = shard.documents.doc_start[1:-1]
        docs += np.split(shard.documents.tokens, cuts)
        topics += np.split(shard.state.topic.astype(int), cuts)
    priors = chain.priors
    given = sampler.eta(chain), priors.gaussian.mean, priors.covariance, priors.beta.astype(float)
    assert sampler.log_joint(chain) == pytest.approx(equations.log_joint(docs, topics, *given), rel=1e-8)


def test_shares_are_summed_over_the_sweeps_that_are_said():
    sampler = make_sampler(2)
    chain, seen = sampler.start(1, 0), {}
    for s in range(1, 14):
        sweep_chains(sampler, [chain], s, 1, SerialExecutor())
        eta = sampler.eta(chain)
        seen[s] = np.exp(eta - np.logaddexp.reduce(eta, axis=1, keepdims=True))
        begin, _ = summed_sweeps(s)
        assert s == 1 or s / 2 - 1 <= begin <= 3 * s / 4
        sums = np.concatenate([shard.state.shares + shard.older for shard in chain.shards])
        np.testing.assert_allclose(sums, sum(seen[t] for t in range(begin + 1, s + 1)), rtol=1e-4, atol=1e-5)


# Fixed seed, fixed bits of the topics of tokens on machines that round exp and log alike.
GOLDEN = {"one shard": "be85c1dbd44aef03", "three shards": "3c16aace99c0a33e"}


def golden_model(name):
    return make_sampler(3 if name == "three shards" else 1)


def digest(chain, sampler):
    return hashlib.blake2b(sampler.topics(chain).tobytes(), digest_size=8).hexdigest()


@pytest.mark.parametrize("name", GOLDEN)
def test_golden_run(name):
    sampler = golden_model(name)
    assert digest(swept(sampler, 20), sampler) == GOLDEN[name]


def test_restored_chain_continues_with_the_same_bits():
    sampler = make_sampler(3)
    whole, chain = swept(sampler, 9), swept(sampler, 5)
    chain = sampler.restore(0, sampler.to_arrays(chain), chain.trace)
    for s in range(6, 10):
        sweep_chains(sampler, [chain], s, 5, SerialExecutor())
    one, other = sampler.to_arrays(whole), sampler.to_arrays(chain)
    assert one.keys() == other.keys() and all(np.array_equal(one[name], other[name]) for name in one)


DAMAGED = {
    "topic": [lambda a: a + np.uint16(9), lambda a: a[1:], lambda a: a.astype(np.int64)],
    "eta": [lambda a: a[1:], lambda a: a + 1.0, lambda a: a * np.nan, lambda a: a * 1e9, lambda a: a.astype("f4")],
    "mean": [lambda a: a[1:], lambda a: a + 1.0, lambda a: a * np.inf],
    "covariance": [lambda a: a[1:], lambda a: a + np.eye(5), lambda a: -a, lambda a: a * np.nan, lambda a: a * 0.0],
    "beta": [lambda a: a[1:], lambda a: -a],
    "shares": [lambda a: a[1:], lambda a: -1.0 - a, lambda a: a.astype(np.float64)],
    "older_shares": [lambda a: a[:, 1:], lambda a: a * np.nan],
    "draws": [lambda a: a[:, 1:], lambda a: a * np.nan, lambda a: a.astype(np.float64)],
    "drawn_at": [lambda a: a[1:], lambda a: a.astype(np.float64)],
}


@pytest.mark.parametrize("name", DAMAGED)
@pytest.mark.filterwarnings("ignore:invalid value")
def test_damaged_arrays_are_refused(name):
    sampler = make_sampler()
    chain = swept(sampler, 6)
    arrays = sampler.to_arrays(chain)
    sampler.restore(0, arrays, [])
    for damage in DAMAGED[name]:
        with pytest.raises(topoi.ModelError, match="saved|not finite|shape"):
            sampler.restore(0, arrays | {name: damage(arrays[name])}, [])


@pytest.mark.parametrize("n_topics", [1, 2, 3])
@pytest.mark.parametrize("n_moves", [4, -1])
def test_likelihood_is_that_of_quadrature(n_topics, n_moves):
    rng = np.random.default_rng(n_topics)
    mean, covariance = mean_of(rng, n_topics), covariance_of(rng, n_topics, 4.0)
    phi = rng.dirichlet(np.full(20, 0.3), n_topics).T[rng.integers(0, 20, 15)]
    gaussian, root = normal.gaussian(mean, covariance), normal.root(covariance)
    logs = [inference.log_likelihood(phi, gaussian, root, 30, n_moves, 0.5, True, new_stream(1, n)) for n in range(300)]
    exact = exact_log_likelihood(phi, mean, covariance) if n_topics > 1 else float(np.log(phi).sum())
    ratio = np.exp(np.array(logs) - exact)  # the estimate of the probability itself is unbiased
    assert abs(ratio.mean() - 1.0) < 4.5 * ratio.std() / np.sqrt(len(ratio)) + 1e-9
    assert ratio.std() < 1.5


def test_folding_in_is_that_of_quadrature():
    rng = np.random.default_rng(4)
    mean, covariance = mean_of(rng, 3), covariance_of(rng, 3, 4.0)
    phi, wanted = rng.dirichlet(np.full(20, 0.3), 3).T[rng.integers(0, 20, (2, 8))]
    points, weight = grid(mean, covariance, 201)
    share = np.exp(points - np.logaddexp.reduce(points, axis=1, keepdims=True))
    weight = weight * np.exp(np.log(share @ phi.T).sum(axis=1))
    weight /= weight.sum()
    runs = []
    for n in range(30):
        shares, scores, labels = np.zeros(3), np.zeros(8), np.zeros((8, 3))
        how = 20, 200, 1, new_stream(2, n)
        inference.fold_in(phi, wanted, normal.gaussian(mean, covariance), *how, shares, scores, labels)
        runs.append(np.concatenate((shares, scores, labels.ravel())))
    own = share[:, None, :] * phi
    labels = weight @ (own / own.sum(axis=2, keepdims=True)).reshape(len(weight), -1)
    exact = np.concatenate((weight @ share, weight @ (share @ wanted.T), labels))
    error = np.std(runs, axis=0, ddof=1) / np.sqrt(len(runs))
    assert (np.abs(np.mean(runs, axis=0) - exact) / error).max() < 4.5


PLANTED = np.array([[1.0, 0.8, 0.0, 0.0], [0.8, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, -0.7], [0.0, 0.0, -0.7, 1.0]])


def fitted(seed, n_iter=300):
    """A fit to planted correlations, its topics in the order of the true ones, and the true correlations."""
    hyper = Hyper(1.0, 8.0, 1.0)
    corpus = simulate(300, 80, 4, np.full(60, 0.1), hyper, seed, np.zeros(4), 3 * PLANTED)
    model = topoi.CorrelatedTopicModel(4, beta=0.1, n_iter=n_iter, random_state=seed).fit(corpus)
    order = linear_sum_assignment(-corpus.truth.topic_word @ model.topic_word_.T)[1]
    return model, order, correlation_of(corpus.truth.covariance)


@pytest.fixture(scope="module")
def planted():
    return fitted(0)


def test_planted_correlations_are_found(planted):
    model, order, truth = planted
    found = model.correlation_[np.ix_(order, order)]
    np.testing.assert_allclose(found, truth, atol=0.15)
    frame = model.topic_correlations()
    assert {int(frame["topic"][0]), int(frame["other"][0])} == set(order[:2])
    assert (frame["low"] < frame["correlation"]).all() and (frame["correlation"] < frame["high"]).all()
    assert frame["correlation"].is_monotonic_decreasing
    np.testing.assert_allclose(model.covariance_.sum(axis=1), 0.0, atol=1e-9)


def test_shares_of_documents_are_close_to_the_truth(planted):
    model, order, _ = planted
    eta = model.corpus_.truth.eta
    truth = np.exp(eta - np.logaddexp.reduce(eta, axis=1, keepdims=True))
    assert np.abs(model.doc_topic_[:, order] - truth).mean() < 0.05
    np.testing.assert_allclose(model.doc_topic_.sum(axis=1), 1.0)
    assert np.abs(model.transform(model.corpus_) - model.doc_topic_).mean() < 0.02


def test_view_has_the_shares_of_the_model(planted, tmp_path):
    model = planted[0]
    model.save(tmp_path / "m.topoi")
    view, first = topoi.view(tmp_path / "m.topoi"), model.chains_[0]
    np.testing.assert_allclose(view.chains_[0].document_shares(3), first.document_shares(3), rtol=1e-6)
    assert np.array_equal(view.chains_[0].covariance, first.covariance)
    loaded = topoi.load(tmp_path / "m.topoi")
    assert loaded.topic_correlations().equals(model.topic_correlations())


@pytest.mark.slow
def test_intervals_hold_the_truth_as_often_as_they_say():
    """Six pairs in each corpus whose topics were found; 90 % intervals of one chain may hold a little less."""
    inside = []
    for seed in range(20):
        model, order, truth = fitted(seed, 1000)
        found, true = (np.asarray(each) for each in (model.topic_word_[order], model.corpus_.truth.topic_word))
        alike = (found * true).sum(axis=1) / np.linalg.norm(found, axis=1) / np.linalg.norm(true, axis=1)
        if alike.min() < 0.9:  # two topics that mostly occur together were merged
            continue
        frame, place = model.topic_correlations(0.9), np.argsort(order)
        true = truth[place[frame["topic"]], place[frame["other"]]]
        inside += ((frame["low"] <= true) & (true <= frame["high"])).tolist()
    assert len(inside) >= 60 and 0.75 <= np.mean(inside) <= 0.98, (len(inside), np.mean(inside))


def test_draws_before_a_topic_changed_are_left_out():
    rng = np.random.default_rng(0)
    values = np.array([covariance_of(rng, 3) for _ in range(60)], np.float32)
    draws, last = Draws(values, np.arange(1, 61)), covariance_of(rng, 3)
    found = summarise(draws, last, np.array([0, 45, 58]), 0.9)
    late, later = correlation_of(values[30:].astype(float)), correlation_of(values[45:].astype(float))
    assert found.mean[0, 1] == pytest.approx(later[:, 0, 1].mean(), rel=1e-5)
    assert found.low[0, 1] == pytest.approx(np.quantile(later[:, 0, 1], 0.05), rel=1e-5)
    assert found.mean[0, 2] == pytest.approx(correlation_of(last)[0, 2]) and np.isnan(found.low[0, 2])
    whole = summarise(draws, last, np.zeros(3, np.int64), 0.9)
    assert whole.high[1, 2] == pytest.approx(np.quantile(late[:, 1, 2], 0.95), rel=1e-5)


def test_similar_topics_are_neighbours():
    order = by_similarity(PLANTED[np.ix_([0, 2, 1, 3], [0, 2, 1, 3])]).tolist()
    assert sorted(order) == [0, 1, 2, 3] and abs(order.index(0) - order.index(2)) == 1


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"variance": 0.0}, "variance is 0.0; pass a number above 0"),
        ({"variance": "wide"}, "variance is 'wide'"),
        ({"freedom": 3}, "freedom is 3; pass a number above 3"),
        ({"mean_weight": -1}, "mean_weight is -1"),
        ({"mean_weight": True}, "mean_weight is True"),
    ],
)
def test_wrong_settings_are_named(settings, said):
    with pytest.raises(topoi.ModelError, match=said):
        topoi.CorrelatedTopicModel(3, n_iter=1, **settings).fit(topoi.Corpus.from_tokens([["a", "b"]]))


def test_one_topic_empty_documents_and_no_sweeps():
    corpus = topoi.Corpus.from_tokens([["a", "b"], [], ["a"]])
    for n_topics, n_iter in ((1, 3), (2, 3), (3, 0)):
        model = topoi.CorrelatedTopicModel(n_topics, n_iter=n_iter, random_state=0).fit(corpus)
        assert model.doc_topic_.shape == (3, n_topics) and np.isfinite(model.log_likelihood(corpus)).all()
        assert np.isnan(model.topic_correlations()["low"]).all()
        np.testing.assert_allclose(model.transform(corpus).sum(axis=1), 1.0)


def test_simulated_from_a_fit():
    model = topoi.CorrelatedTopicModel(2, n_iter=3, random_state=0).fit(topoi.Corpus.from_tokens([["a", "b"]] * 4))
    corpus = model.simulate(6, 9, random_state=0)
    assert corpus.n_docs == 6 and list(corpus.words) == ["a", "b"]
    assert np.array_equal(corpus.truth.topic_word, model.topic_word_)
