"""First sweeps of the author-topic model with default priors: private authors weigh more."""

import numpy as np
import pytest

import topoi
from topoi.kernels.random import new_stream
from topoi.models.author_topic import state
from topoi.models.author_topic.priors import FIRST_PRIVATE_WEIGHT, FIRST_SWEEPS
from topoi.models.author_topic.work import FirstPriors, with_private_weight

HOW = {"random_state": 4, "n_shards": 2, "fictitious_authors": True, "fictitious_weight": 0.2}


@pytest.fixture(scope="module")
def corpus():
    plan = topoi.AuthorTopicModel(4, alpha=0.1, beta=0.05, fictitious_authors=True)
    return plan.simulate(60, 30, authors=9, random_state=5)


def private_share(model):
    """Share of words that private authors have in the last sample."""
    sampler = model._sampler
    documents, assignments = sampler.whole(model._chains[0])
    doc = np.repeat(np.arange(len(documents.doc_start) - 1), np.diff(documents.doc_start))
    writer = documents.author[documents.author_start[doc] + assignments.slot]
    return float((writer == sampler.lists.n_shared).mean())


def same(one, other):
    return np.array_equal(one.topic_word_, other.topic_word_) and np.array_equal(one.alpha_, other.alpha_)


def test_private_authors_have_most_words_first_and_give_them_back(corpus):
    model = topoi.AuthorTopicModel(4, n_iter=FIRST_SWEEPS, **HOW).fit(corpus)
    first = private_share(model)
    assert first > 0.75
    assert private_share(model.resume(40)) < first - 0.2


def test_a_fit_that_ends_early_is_settled_in_a_copy(corpus, tmp_path):
    """Estimates have named authors' words; the chain itself goes on as if the fit had not ended."""
    model = topoi.AuthorTopicModel(4, n_iter=12, **HOW).fit(corpus)
    named = model.chains_[0].counts.author.sum() / corpus.n_tokens
    assert named > 1 - private_share(model) + 0.15
    model.save(tmp_path / "m.topoi")
    again = topoi.load(tmp_path / "m.topoi")
    assert same(model, again) and np.array_equal(model.author_topic_, again.author_topic_)
    other = topoi.AuthorTopicModel(4, n_iter=12, **HOW | {"n_jobs": 2}).fit(corpus)
    assert np.array_equal(model.author_topic_, other.author_topic_)
    longer = topoi.AuthorTopicModel(4, n_iter=20, **HOW).fit(corpus)
    assert same(longer, again.resume(8)) and np.array_equal(longer.author_topic_, again.author_topic_)


@pytest.mark.parametrize("given", [{"alpha": 0.1}, {"prior": "paper"}, {"learn_alpha": True}])
def test_where_alpha_was_said_all_sweeps_are_alike(corpus, given, monkeypatch):
    as_is = topoi.AuthorTopicModel(4, n_iter=12, **HOW, **given).fit(corpus)
    monkeypatch.setattr(state, "FIRST_SWEEPS", 0)
    assert same(as_is, topoi.AuthorTopicModel(4, n_iter=12, **HOW, **given).fit(corpus))


def test_a_resumed_fit_goes_from_the_first_sweeps_to_the_others(corpus, tmp_path):
    whole = topoi.AuthorTopicModel(4, n_iter=FIRST_SWEEPS + 5, n_jobs=2, **HOW).fit(corpus)
    part = topoi.AuthorTopicModel(4, n_iter=FIRST_SWEEPS - 5, **HOW).fit(corpus)
    part.save(tmp_path / "part.topoi")
    assert same(whole, topoi.load(tmp_path / "part.topoi").resume(10))
    stopped = {"checkpoint": tmp_path / "fit.checkpoint", "checkpoint_every": 1}
    how = HOW | {"n_iter": FIRST_SWEEPS + 5} | stopped
    topoi.AuthorTopicModel(4, **how).fit(corpus, callback=lambda info: info.sweep == FIRST_SWEEPS)
    assert same(whole, topoi.AuthorTopicModel(4, **how).fit(corpus))


def test_workers_of_a_cluster_get_the_priors_of_the_next_sweep(corpus):
    """They get new ones when something was learned, as after the last of the first sweeps."""
    model = topoi.AuthorTopicModel(4, n_iter=FIRST_SWEEPS, **HOW).fit(corpus)
    sampler, chain = model._sampler, model._chains[0]
    assert sampler.learns(FIRST_SWEEPS)
    assert sampler.sent_priors(chain) is chain.priors
    chain.sweep = FIRST_SWEEPS - 1
    sent = sampler.sent_priors(chain)
    assert isinstance(sent, FirstPriors) and sent.private_weight == FIRST_PRIVATE_WEIGHT
    work = sampler.shard_work(0)
    other = type(work).from_arrays(work.to_arrays())
    there = other.open(sampler.give_assignments(chain, 0))
    counts = type(chain.counts)(*(np.array(each) for each in chain.counts))
    other.sweep(there, counts, sent, new_stream(1, 0, 3, 0))
    # The first shard's sweep here, as the last of the first sweeps.
    chain.sweep = FIRST_SWEEPS
    sampler.sample(chain, 0, chain.counts, new_stream(1, 0, 3, 0))
    assert np.array_equal(there.assignments.slot, chain.shards[0].assignments.slot)
    assert np.array_equal(counts.word_topic, chain.counts.word_topic)
    joint = other.log_joint(there, counts, sent)
    assert joint == other.log_joint(there, counts, chain.priors)


def test_only_documents_with_named_authors_are_weighted_anew(corpus):
    model = topoi.AuthorTopicModel(4, n_iter=1, **HOW).fit(corpus)
    documents = model._sampler.shard_work(0).documents
    found = with_private_weight(documents, model._sampler.lists.n_shared, 0.2)
    np.testing.assert_allclose(found.author_weight, documents.author_weight, rtol=1e-6)
    alone = topoi.LDA(4, n_iter=1, random_state=0).fit(corpus)._sampler.shard_work(0).documents
    assert np.array_equal(with_private_weight(alone, 0, 0.5).author_weight, alone.author_weight)
