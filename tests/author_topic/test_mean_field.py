"""Mean-field inference of new documents: its plain twin, exact posteriors, long runs of sampling, order, limits."""

from itertools import product

import numpy as np
import pytest

import topoi
from topoi.errors import ModelError
from topoi.kernels.counts import Counts, Priors
from topoi.kernels.lanes import padded
from topoi.models.author_topic.equations import mean_field_plain
from topoi.models.author_topic.mean_field import PassRule, infer_documents
from topoi.models.author_topic.state import make_priors
from topoi.models.inputs import WeightedAuthors
from topoi.models.prediction import make_documents


@pytest.fixture(scope="module")
def corpus():
    return topoi.LDA(8, alpha=0.2, beta=0.05).simulate(150, 40, random_state=0)


@pytest.fixture(scope="module")
def model(corpus):
    return topoi.LDA(8, alpha=0.2, beta=0.01, n_iter=60, random_state=0, progress=False).fit(corpus)


def problem(n_topics, n_words, rng, alpha):
    table = np.zeros((n_words, padded(n_topics)), np.float32)
    table[:, :n_topics] = rng.integers(0, 9, (n_words, n_topics)) * (rng.random((n_words, n_topics)) < 0.5)
    counts = Counts(
        table, table.sum(axis=0)[:n_topics].astype(float), np.zeros((1, table.shape[1]), np.float32), np.zeros(1)
    )
    return counts, make_priors(np.full(n_topics, alpha), np.full(n_words, 0.1))


def inferred(corpus, counts, priors, rule):
    found = np.zeros((corpus.n_docs, len(counts.topic)))
    infer_documents(make_documents(corpus, WeightedAuthors.private(corpus.n_docs)), counts, priors, rule, found)
    return found


def probabilities(counts: Counts, priors: Priors):
    return (counts.word_topic[:, : len(counts.topic)].astype(float) + 0.1) / (counts.topic + priors.beta_sum)


@pytest.mark.parametrize("n_topics", [1, 3, 16, 17, 40])
@pytest.mark.parametrize("alpha", [0.5, 1e-3])
def test_kernel_is_its_equation(n_topics, alpha):
    rng = np.random.default_rng(n_topics)
    counts, priors = problem(n_topics, 12, rng, alpha)
    rows = [rng.integers(0, 12, n).tolist() for n in (1, 5, 60)] + [[3] * 500, []]
    corpus = topoi.Corpus.from_tokens([[str(w) for w in row] for row in rows], words=[str(w) for w in range(12)])
    for n_passes in (1, 4):
        found = inferred(corpus, counts, priors, PassRule(0.0, n_passes))
        for row, mixture in zip(rows, found, strict=True):
            words, times = np.unique(row, return_counts=True)
            phi = probabilities(counts, priors)[words.astype(int)]
            expected = mean_field_plain(phi, times, np.full(n_topics, alpha), n_passes)
            np.testing.assert_allclose(mixture, expected, atol=2e-5)
            assert mixture.sum() == pytest.approx(1, abs=1e-12)


def test_near_the_exact_posterior_of_short_documents():
    """All assignments of five tokens to three topics are summed over."""
    rng = np.random.default_rng(1)
    counts, priors = problem(3, 6, rng, 0.3)
    words = np.array([0, 1, 2, 2, 5])
    phi = probabilities(counts, priors)[words]
    total, mean = 0.0, np.zeros(3)
    for topics in product(range(3), repeat=5):
        number, weight = np.zeros(3), 1.0
        for i, k in enumerate(topics):
            weight *= phi[i, k] * (number[k] + 0.3)
            number[k] += 1
        total += weight
        mean += weight * (number + 0.3) / (5 + 0.9)
    corpus = topoi.Corpus.from_tokens([[str(w) for w in words]], words=[str(w) for w in range(6)])
    found = inferred(corpus, counts, priors, PassRule())[0]
    assert np.abs(found - mean / total).max() < 0.03
    assert np.abs(found - 1 / 3).max() > 0.1  # there is something to find


def test_as_near_to_a_long_run_as_the_default_number_of_samples(model, corpus):
    new = topoi.LDA(8, alpha=0.2, beta=0.05).simulate(40, 40, random_state=1)
    new = topoi.Corpus.from_tokens(
        [
            corpus.words[new.tokens[a:b] % corpus.n_words].tolist()
            for a, b in zip(new.doc_start[:-1], new.doc_start[1:], strict=True)
        ],
        words=list(corpus.words),
    )
    for documents in (corpus.subset(slice(0, 40)), new):
        long = model.transform(documents, burn_in=100, n_samples=4000)
        errors = [
            np.abs(model.transform(documents, method=each) - long).sum(axis=1).mean()
            for each in ("mean-field", "gibbs")
        ]
        assert errors[0] < 1.5 * errors[1]


def test_order_of_words_and_documents_and_threads_change_no_bit(model, corpus):
    found = model.transform(corpus, method="mean-field")
    rng = np.random.default_rng(0)
    order = rng.permutation(corpus.n_docs)
    rows = [
        rng.permutation(corpus.words[corpus.tokens[corpus.doc_start[d] : corpus.doc_start[d + 1]]]).tolist()
        for d in order
    ]
    mixed = topoi.Corpus.from_tokens(rows, words=list(corpus.words))
    model.set_params(n_jobs=2)
    assert np.array_equal(model.transform(mixed, method="mean-field"), found[order])
    model.set_params(n_jobs=1)
    lists = topoi.LDA(8, alpha=0.2, beta=0.01, n_iter=60, random_state=0, progress=False, sparse="counts").fit(corpus)
    assert np.array_equal(lists.transform(corpus, method="mean-field"), found)


def test_other_members_of_the_family_and_what_is_refused(corpus):
    rows = [["a", "b", "a"], ["c", "d"], ["b", "c"]] * 5
    by_authors = topoi.AuthorTopicModel(2, n_iter=5, random_state=0, progress=False)
    by_authors.fit(topoi.Corpus.from_tokens(rows, authors=["Ann", "Bob", "Ann; Bob"] * 5))
    assert by_authors.transform(["a b"], method="mean-field").shape == (1, 2)
    with pytest.raises(ModelError, match="mean-field' is for documents without authors .* 4 are named here; use"):
        by_authors.transform(
            topoi.Corpus.from_tokens(rows[:3], authors=["Ann", "Bob", "Ann; Bob"]), method="mean-field"
        )
    with pytest.raises(ModelError, match="method is 'vb'; it must be one of 'gibbs', 'mean-field'"):
        by_authors.transform(["a b"], method="vb")
    process = topoi.HierarchicalDirichletProcess(n_iter=5, random_state=0, progress=False).fit(corpus)
    assert process.transform(corpus, method="mean-field").shape == (150, process.n_topics_)
