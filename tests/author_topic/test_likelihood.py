"""Predictions for new documents against sums over every state."""

from itertools import product

import numpy as np
import pytest

import topoi
from author_topic.small_states import PRIVATE, dirichlet_multinomial, make_documents, random_state
from topoi.kernels.folding import SamplingPlan, Scored, label_room
from topoi.models.author_topic.inference import fold_in
from topoi.models.author_topic.likelihood import log_likelihood


def fitted_counts(seed, n_topics=3):
    """Counts of some training corpus, with plain arrays of theta and phi."""
    _, _, counts, priors, (n_words, n_authors, alpha, beta) = random_state(
        np.random.default_rng(seed), n_docs=12, n_words=4, n_topics=n_topics, n_authors=3, length=12
    )
    phi = (counts.word_topic[:, :n_topics] + beta[:, None]) / (counts.topic + beta.sum())
    theta = (counts.author_topic[:-1, :n_topics] + alpha) / (counts.author[:-1, None] + alpha.sum())
    return counts, priors, phi, theta, alpha, n_authors


def exact_probability(words, authors, weights, phi, theta, alpha):
    """P(words): known authors' mixtures fixed, the private one's integrated out, by summing over all states."""
    weights = np.asarray(weights, float) / np.sum(weights)
    total = 0.0
    for state in product(product(range(len(alpha)), range(len(authors))), repeat=len(words)):
        p = 1.0
        own = np.zeros(len(alpha), int)
        for w, (k, q) in zip(words, state, strict=True):
            p *= phi[w, k] * weights[q] * (theta[authors[q], k] if authors[q] != PRIVATE else 1.0)
            own[k] += authors[q] == PRIVATE
        total += p * np.exp(dirichlet_multinomial(own, alpha))
    return total


DOCUMENTS = {
    "known": ([0, 3, 1, 1], [0, 2], [1.0, 1.0]),
    "private": ([0, 3, 1, 1, 0], [PRIVATE], [1.0]),
    "fictitious": ([0, 3, 1], [1, PRIVATE], [0.6, 0.4]),
    "fictitious, two authors": ([2, 3, 1], [1, PRIVATE, 0], [1.0, 2.0, 0.5]),
    "empty": ([], [PRIVATE], [1.0]),
}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_likelihood_equals_enumeration(name):
    words, authors, weights = DOCUMENTS[name]
    counts, priors, phi, theta, alpha, n_authors = fitted_counts(0)
    exact = exact_probability(words, authors, weights, phi, theta, alpha)
    documents = make_documents([(words, authors)], n_authors, [weights])
    estimates = []
    for seed in range(400):
        result = np.zeros(1)
        log_likelihood(documents, counts, priors, 10, 2, seed, 0, result)
        estimates.append(np.exp(result[0]))
    error = np.std(estimates, ddof=1) / np.sqrt(len(estimates))
    assert abs(np.mean(estimates) - exact) < 4 * error + 1e-6 * exact
    if PRIVATE in authors and words:
        assert error > 0  # different seeds, different estimates: the mean is what is unbiased


def test_resampling_of_particles_keeps_the_estimate_unbiased():
    """Few particles and no moves: the filter must resample often, and its mean must still be right."""
    words = [0, 3, 0, 0, 3, 1]
    counts, priors, phi, theta, alpha, n_authors = fitted_counts(3)
    counts.word_topic[:] = np.where(counts.word_topic > 0, counts.word_topic * 20, 0)
    counts.topic[:] = counts.word_topic.sum(axis=0)[:3]
    phi = (counts.word_topic[:, :3] + priors.beta[:, None]) / (counts.topic + priors.beta_sum)
    exact = exact_probability(words, [PRIVATE], [1.0], phi, theta, alpha)
    documents = make_documents([(words, [PRIVATE])], n_authors)
    estimates = np.empty(20_000)
    for seed in range(len(estimates)):
        result = np.zeros(1)
        log_likelihood(documents, counts, priors, 3, 0, seed, 0, result)
        estimates[seed] = np.exp(result[0])
    assert abs(estimates.mean() - exact) < 4 * estimates.std() / np.sqrt(len(estimates))


def exact_fold_in(words, authors, counts, priors, n_topics, scored):
    """Posterior of one new document given training counts, its own tokens changing the counts: full sums."""
    private = counts.author.shape[0] - 1
    word_topic, topic = counts.word_topic[:, :n_topics].astype(float), counts.topic.astype(float)
    alpha, beta = priors.alpha[:n_topics].astype(float), priors.beta.astype(float)
    states = list(product(product(range(n_topics), range(len(authors))), repeat=len(words)))
    weights, predictive, labels = [], [], []
    for state in states:
        wt, t = word_topic.copy(), topic.copy()
        rows = [
            np.zeros(n_topics) if a == PRIVATE else counts.author_topic[a, :n_topics].astype(float) for a in authors
        ]
        assert private == counts.author_topic.shape[0] - 1
        p = 1.0
        for w, (k, q) in zip(words, state, strict=True):
            p *= (wt[w, k] + beta[w]) / (t[k] + beta.sum()) * (rows[q][k] + alpha[k]) / (rows[q].sum() + alpha.sum())
            wt[w, k] += 1
            t[k] += 1
            rows[q][k] += 1
        side = np.mean([(row + alpha) / (row.sum() + alpha.sum()) for row in rows], axis=0)
        weights.append(p)
        predictive.append([((wt[w] + beta[w]) / (t + beta.sum())) @ side for w in scored])
        labels.append([np.eye(n_topics)[k] for k, _ in state])
    weights = np.array(weights) / np.sum(weights)
    return weights @ np.array(predictive), np.tensordot(weights, np.array(labels), 1)


@pytest.mark.parametrize("authors", [[PRIVATE], [0, 1], [2, PRIVATE]], ids=["private", "known", "mixed"])
def test_fold_in_equals_enumeration(authors):
    words, scored = [0, 3, 1], [2, 0]
    counts, priors, *_, n_authors = fitted_counts(1)
    before = [array.copy() for array in counts]
    predictive, labels = exact_fold_in(words, authors, counts, priors, 3, scored)
    documents = make_documents([(words, authors)], n_authors)
    wanted = Scored(np.array(scored, np.int32), np.array([0, len(scored)]))
    doc_topic, scores, room = (
        np.zeros((1, 3)),
        np.zeros(len(scored)),
        label_room(len(documents.tokens), 3, documents.author_start, True),
    )
    fold_in(documents, wanted, counts, priors, SamplingPlan(50, 20_000, 2, 5, 0), doc_topic, scores, room)
    np.testing.assert_allclose(scores, predictive, rtol=0.01)
    np.testing.assert_allclose(room.topic, labels, atol=0.015)
    np.testing.assert_allclose(room.slot.sum(axis=1), 1.0)
    alpha = priors.alpha[:3]
    np.testing.assert_allclose(doc_topic[0], (labels.sum(axis=0) + alpha) / (3 + alpha.sum()), atol=0.01)
    for old, new in zip(before, counts, strict=True):
        assert np.array_equal(old, new)  # the training counts are untouched


@pytest.fixture(scope="module")
def simulated():
    corpus = topoi.AuthorTopicModel(5, alpha=0.2, beta=0.05).simulate(150, 50, authors=12, random_state=8)
    return corpus.split(test_size=30, random_state=0, known_authors=True)


def models(train):
    options = {"alpha": 0.2, "beta": 0.05, "n_iter": 60, "n_chains": 2, "random_state": 0}
    return [
        topoi.LDA(5, **options).fit(train),
        topoi.AuthorTopicModel(5, **options).fit(train),
        topoi.AuthorTopicModel(5, fictitious_authors=True, **options).fit(train),
        topoi.AuthorModel(n_iter=60, n_chains=2, random_state=0).fit(train),
    ]


def test_predictions_do_not_depend_on_order_batch_or_threads(simulated):
    train, test = simulated
    order = np.random.default_rng(0).permutation(test.n_docs)
    shuffled = test.subset(order)
    for model in models(train)[:3]:
        whole = model.transform(test)
        assert np.array_equal(whole[order], model.transform(shuffled))
        assert np.array_equal(whole[3:4], model.transform(test.subset([3])))
        likelihood = model.log_likelihood(test)
        assert np.array_equal(likelihood[order], model.log_likelihood(shuffled))
        model.n_jobs = 3
        assert np.array_equal(whole, model.transform(test))
        assert np.array_equal(likelihood, model.log_likelihood(test))


def test_chains_are_averaged_as_products(simulated):
    """p(document) is the mean over chains of whole products, not of per-word probabilities (AT09, equation 10)."""
    train, test = simulated
    model = models(train)[1]
    each = []
    for chain in model.chains_:
        log_p = np.zeros(test.n_docs)
        for d in range(test.n_docs):
            authors = test.doc_author[test.doc_author_start[d] : test.doc_author_start[d + 1]]
            side = chain.author_topic[authors].mean(axis=0)
            words = test.tokens[test.doc_start[d] : test.doc_start[d + 1]]
            log_p[d] = np.log(side @ chain.topic_word[:, words]).sum()
        each.append(log_p)
    np.testing.assert_allclose(model.log_likelihood(test), np.logaddexp(*each) - np.log(2), rtol=1e-6)
    lengths = test.doc_lengths
    documents = np.exp(-model.log_likelihood(test) / lengths).mean()
    assert model.perplexity(test, average="documents") == pytest.approx(documents)
    tokens = np.exp(-model.log_likelihood(test).sum() / lengths.sum())
    assert model.perplexity(test) == pytest.approx(tokens)
    assert model.score(test) == pytest.approx(-np.log(tokens))
    assert model.perplexity(test, per_document=True).shape == (test.n_docs,)


def test_completion_uses_the_same_words_for_every_model_and_improves(simulated):
    train, test = simulated
    curves = [topoi.evaluation.completion_curve(m, test, observed=(0, 4, 16, 1000)) for m in models(train)]
    for curve in curves:
        assert curve["observed"].tolist() == [0, 4, 16, 1000]
        assert curve["n_docs"].tolist()[-1] == 0 and np.isnan(curve["perplexity"].iloc[-1])
    lda, _, _, author = curves
    assert lda["perplexity"][2] < lda["perplexity"][0]
    assert author["perplexity"][0] > lda["perplexity"][2]


def test_a_fictitious_author_learns_from_observed_words():
    """Where documents have a mixture of their own beside their authors', seen words tell what it is."""
    story = topoi.AuthorTopicModel(5, alpha=0.1, beta=0.05, fictitious_authors=True, fictitious_weight=0.7)
    train, test = story.simulate(300, 80, authors=12, random_state=8).split(60, random_state=0, known_authors=True)
    options = {"alpha": 0.1, "beta": 0.05, "n_iter": 100, "random_state": 0}
    model = topoi.AuthorTopicModel(5, fictitious_authors=True, fictitious_weight=0.7, **options).fit(train)
    curve = topoi.evaluation.completion_curve(model, test, observed=(0, 4, 32))["perplexity"]
    assert curve[2] < 0.95 * curve[0]


def test_author_model_completion_without_observed_words_is_its_likelihood(simulated):
    train, test = simulated
    single = topoi.AuthorModel(n_iter=60, n_chains=1, random_state=0).fit(train)
    probability = np.stack([single.author_word(name) for name in single.authors_])
    first = test.subset([0])
    names = [list(single.authors_).index(name) for name in first.author_lists()[0]]
    mean = np.log(probability[names].mean(axis=0)[first.tokens]).sum()
    assert single.log_likelihood(first)[0] == pytest.approx(mean, rel=1e-9)
