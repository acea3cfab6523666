"""Priors that are left open: what is learned, from what prior, and what a fit, a file and an update keep of it."""

import numpy as np
import pytest

import topoi
from topoi.kernels.dirichlet import NO_PRIOR, rounded
from topoi.models.author_topic import priors
from topoi.models.author_topic.priors import (
    ALIKE,
    PRIVATE_WEIGHT,
    Learning,
    likeness,
    prior_of_alpha,
    private_authors,
    what_is_learned,
)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (("auto", None, None, None, None), ("asymmetric", True, True, True)),
        (("auto", 0.1, None, None, None), (None, True, False, True)),
        (("auto", None, 0.1, None, None), ("asymmetric", False, True, False)),
        (("auto", 0.1, 0.1, None, None), (None, False, False, False)),
        (("auto", None, None, True, True), ("asymmetric", True, False, False)),
        (("auto", None, None, "symmetric", False), ("symmetric", False, False, False)),
        (("auto", None, None, False, None), (None, True, False, True)),
        (("paper", None, None, None, None), (None, False, False, False)),
        (("paper", None, None, True, True), ("asymmetric", True, False, False)),
    ],
)
def test_what_is_said_is_done_and_the_rest_is_learned_with_a_prior(given, expected):
    found = what_is_learned(*given, n_authors=7, n_words=100)
    priors = found.alpha_prior != NO_PRIOR, found.beta_prior != NO_PRIOR
    assert (found.learn_alpha, found.learn_beta, *priors) == expected


def test_the_prior_of_alpha_has_its_mode_at_the_papers_sum():
    for n_authors in (0, 10, 10_000):
        prior = prior_of_alpha(n_authors)
        assert (prior.shape - 1) / prior.rate == pytest.approx(50.0)
        assert prior.shape == n_authors + 3
    beta = what_is_learned("auto", None, None, None, None, 5, 2000).beta_prior
    assert (beta.shape - 1) / beta.rate == pytest.approx(0.01 * 2000)


@pytest.fixture(scope="module")
def corpus():
    return topoi.AuthorTopicModel(5, alpha=0.2, beta=0.05).simulate(80, 40, authors=12, random_state=3)


def same(one, other):
    return np.array_equal(one.topic_word_, other.topic_word_) and np.array_equal(one.alpha_, other.alpha_)


@pytest.mark.parametrize("kind", [topoi.LDA, topoi.AuthorTopicModel])
def test_the_papers_priors_are_one_word_away(corpus, kind):
    options = {"n_iter": 40, "random_state": 0}
    more = {"fictitious_authors": False} if kind is topoi.AuthorTopicModel else {}
    paper = kind(5, prior="paper", **options).fit(corpus)
    spelled = kind(5, alpha=10.0, beta=0.01, learn_alpha=False, learn_beta=False, **more, **options).fit(corpus)
    assert same(paper, spelled)
    assert paper.alpha_.tolist() == [10.0] * 5
    learned = kind(5, **options).fit(corpus)
    assert np.ptp(learned.alpha_) > 0 and learned.beta_[0] != paper.beta_[0]
    nearly = kind(5, learn_alpha=True, learn_beta=True, **more, **options).fit(corpus)
    assert not same(learned, nearly)  # the prior of the concentration has an effect


def test_learned_priors_have_few_digits_so_that_the_last_ones_of_a_machine_do_not_matter(corpus):
    model = topoi.LDA(5, n_iter=30, random_state=0).fit(corpus)
    for values in (model.alpha_, model.beta_[:1]):
        assert np.array_equal(rounded(values * (1 + 1e-12)), values)
    assert not np.array_equal(rounded(np.array([0.1])), [0.1])


def test_bad_priors_are_refused(corpus):
    with pytest.raises(topoi.TopoiError, match="prior is 'none'; it must be one of 'auto', 'paper'"):
        topoi.LDA(3, prior="none").fit(corpus)


def test_many_authors_pull_the_concentration_to_that_of_the_papers():
    """Authors of one short document look concentrated: by maximum likelihood the sum of alpha is far smaller."""
    rng = np.random.default_rng(0)
    words = [[f"w{k}{i}" for i in rng.integers(0, 30, 40)] for k in rng.integers(0, 5, 200)]
    single = topoi.Corpus.from_tokens(words, authors=[f"a{d}" for d in range(200)])
    how = {"n_iter": 60, "random_state": 0, "fictitious_authors": False}
    free = topoi.AuthorTopicModel(5, learn_alpha=True, learn_beta=True, **how).fit(single).alpha_.sum()
    held = topoi.AuthorTopicModel(5, **how).fit(single).alpha_.sum()
    assert 2 * free < held < 50.0


@pytest.mark.parametrize("kind", [topoi.LDA, topoi.AuthorTopicModel])
def test_learned_priors_have_the_same_bits_for_threads_files_and_resumed_fits(corpus, kind, tmp_path):
    how = {"random_state": 2, "n_shards": 3}
    whole = kind(5, n_iter=45, n_jobs=2, **how).fit(corpus)
    half = kind(5, n_iter=25, **how).fit(corpus)
    half.save(tmp_path / "half.topoi")
    assert same(whole, topoi.load(tmp_path / "half.topoi").resume(20))
    assert same(whole, half.resume(20))


def by_brute_force(corpus):
    """``likeness`` by comparing every pair of tokens."""
    start = corpus.doc_author_start
    rows = [
        (d, corpus.doc_author[start[d]], corpus.tokens[i])
        for d in np.flatnonzero(np.diff(start) == 1)
        for i in range(corpus.doc_start[d], corpus.doc_start[d + 1])
    ]
    within, across = [], []
    for n, (d, a, w) in enumerate(rows):
        for e, b, v in rows[:n]:
            if a == b:
                (within if d == e else across).append(w == v)
    return np.mean(within) / np.mean(across)


def test_likeness_compares_pairs_of_words():
    rng = np.random.default_rng(0)
    words = [[f"w{w}" for w in rng.integers(0, 9, rng.integers(0, 12))] for _ in range(30)]
    names = [[["Ann"], ["Bob"], ["Ann", "Bob"], []][n] for n in rng.integers(0, 4, 30)]
    corpus = topoi.Corpus.from_tokens(words, authors=names)
    assert likeness(corpus) == pytest.approx(by_brute_force(corpus))


def test_likeness_tells_the_author_topic_model_from_one_with_private_authors():
    model = topoi.AuthorTopicModel(10, alpha=0.1, beta=0.02)
    alike = model.simulate(600, 60, authors=30, random_state=0)
    assert likeness(alike) == pytest.approx(1.0, abs=0.1)
    assert private_authors(alike) == (False, None)
    own = model.set_params(fictitious_authors=True).simulate(600, 60, authors=30, random_state=0)
    assert likeness(own) > ALIKE
    assert private_authors(own) == (True, PRIVATE_WEIGHT)


def test_where_nothing_can_be_compared_documents_get_private_authors():
    words = [["a", "b", "c"]] * 4
    several = topoi.Corpus.from_tokens(words, authors=[["Ann", "Bob"]] * 4)
    once = topoi.Corpus.from_tokens(words, authors=["Ann", "Bob", "Cid", "Dan"])
    assert np.isnan(likeness(several)) and np.isnan(likeness(once))
    assert private_authors(several) == private_authors(once) == (True, PRIVATE_WEIGHT)
    assert private_authors(topoi.Corpus.from_tokens(words)) == (False, None)


def test_many_words_are_looked_at_in_part(corpus, monkeypatch):
    whole = likeness(corpus)
    monkeypatch.setattr(priors, "_MOST_WORDS", 300)
    assert likeness(corpus) != whole


def test_a_file_and_an_update_keep_what_was_chosen_for_the_training_documents(tmp_path):
    """A rule that looked again, at other documents, would change the model."""
    corpus = topoi.AuthorTopicModel(4, alpha=0.1, beta=0.05).simulate(60, 30, authors=5, random_state=0)
    chosen = private_authors(corpus)
    assert chosen == (False, None)
    model = topoi.AuthorTopicModel(4, n_iter=25, random_state=0).fit(corpus)
    lists = model._sampler.lists
    assert (lists.fictitious, lists.fictitious_weight) == chosen
    assert model.fictitious_authors is None
    model.save(tmp_path / "model.topoi")
    loaded = topoi.load(tmp_path / "model.topoi")
    assert (loaded.fictitious_authors, loaded.fictitious_weight) == chosen
    words = [[corpus.words[d % 10]] * 30 for d in range(300)]
    many = topoi.Corpus.from_tokens(words, authors=[str(corpus.authors[0])] * 300)
    assert private_authors(many) != chosen
    assert model.transform(many.subset(np.arange(3))).shape == (3, 4)
    model.update(many, n_iter=5)
    assert model._sampler.lists.fictitious == chosen[0]
    shown = topoi.document_topics(topoi.view(tmp_path / "model.topoi"), 0)
    assert shown["share"].sum() == pytest.approx(1.0)


def test_learning_is_arguments_of_the_sampler():
    assert Learning()._asdict() == {
        "learn_alpha": None,
        "learn_beta": False,
        "alpha_prior": NO_PRIOR,
        "beta_prior": NO_PRIOR,
    }
