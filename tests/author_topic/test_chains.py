"""Invariants, reductions, recovery and fixed bits of whole fits."""

import hashlib

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

import topoi
from author_topic.small_states import counted, random_state
from topoi.engine.executors import SerialExecutor
from topoi.engine.gibbs import sweep_chains
from topoi.kernels.counts import Assignments
from topoi.kernels.random import new_stream
from topoi.models.author_topic.equations import sweep_plain
from topoi.models.author_topic.kernels import sweep
from topoi.models.author_topic.state import AuthorTopicSampler
from topoi.models.inputs import WeightedAuthors


def digest(model):
    """One number for all assignments of all chains."""
    state = hashlib.blake2b(digest_size=8)
    for chain in model.chains_:
        state.update(chain.assignments.topic.tobytes())
        state.update(chain.assignments.slot.tobytes())
    return state.hexdigest()


@pytest.fixture(scope="module")
def corpus():
    return topoi.AuthorTopicModel(6, alpha=0.2, beta=0.05).simulate(120, 60, authors=15, random_state=3)


MODELS = {
    "LDA": lambda **kw: topoi.LDA(7, prior="paper", **kw),
    "many topics": lambda **kw: topoi.LDA(270, prior="paper", alpha=0.01, **kw),  # by lists of the documents' topics
    "author-topic": lambda **kw: topoi.AuthorTopicModel(7, prior="paper", **kw),
    "authors, many topics": lambda **kw: topoi.AuthorTopicModel(  # by lists of the words' topics
        270, prior="paper", alpha=0.01, fictitious_authors=True, **kw
    ),
    "fictitious": lambda **kw: topoi.AuthorTopicModel(
        7, prior="paper", fictitious_authors=True, fictitious_weight=0.3, **kw
    ),
}


@pytest.mark.parametrize("plain", [True, False], ids=["plain", "lanes"])
@pytest.mark.parametrize("seed", range(4))
def test_counts_equal_a_recount_after_every_sweep(seed, plain):
    rng = np.random.default_rng(seed)
    documents, assignments, counts, priors, (n_words, n_authors, alpha, _) = random_state(rng, n_docs=20, n_topics=19)
    stream = new_stream(seed)
    for _ in range(5):
        (sweep_plain if plain else sweep)(documents, assignments, counts, priors, stream)
        again = counted(documents, assignments.topic, assignments.slot, n_words, len(alpha), n_authors)[1]
        assert np.array_equal(counts.word_topic, again.word_topic)
        assert np.array_equal(counts.topic, again.topic)
        assert np.array_equal(counts.author_topic[:-1], again.author_topic[:-1])
        assert np.array_equal(counts.author[:-1], again.author[:-1])


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("n_shards", [1, 3])
def test_counts_equal_a_recount_after_merge_and_resume(corpus, name, n_shards):
    model = MODELS[name](n_iter=6, n_shards=n_shards, n_jobs=2, random_state=0).fit(corpus).resume(3)
    chain = model._chains[0]
    before = [array.copy() for array in chain.counts]
    model._sampler.recount(chain)
    assert np.array_equal(before[0], chain.counts.word_topic)
    assert np.array_equal(before[1], chain.counts.topic)
    assert np.array_equal(before[2][:-1], chain.counts.author_topic[:-1])
    assert chain.counts.word_topic.sum() == corpus.n_tokens


@pytest.mark.parametrize("kernel", [sweep_plain, sweep], ids=["plain", "lanes"])
def test_one_author_per_document_is_lda(corpus, kernel):
    """A private author, and a named author who wrote nothing else, give the same draws."""
    n_docs = corpus.n_docs
    private = WeightedAuthors.private(n_docs)
    named = WeightedAuthors.from_csr(np.arange(n_docs), np.arange(n_docs + 1), n_docs, False, None)
    alpha, beta = np.full(5, 0.3), np.full(corpus.n_words, 0.05)
    results = []
    for lists in (private, named):
        sampler = AuthorTopicSampler(corpus, lists, alpha, beta)
        sampler.by_words = False
        chain = sampler.start(7, 0)
        shard = chain.shards[0]
        for s in range(5):
            kernel(shard.documents, shard.assignments, chain.counts, chain.priors, new_stream(7, 0, s))
        results.append(shard.assignments.topic.copy())
    assert np.array_equal(*results)


def test_public_lda_and_named_authors_agree_in_distribution(corpus):
    """The two fast orders of visiting tokens reach the same log joint."""
    lda = topoi.LDA(6, alpha=0.2, beta=0.05, n_iter=150, n_chains=4, random_state=0).fit(corpus)
    rows = [[f"only {d}"] for d in range(corpus.n_docs)]
    named = topoi.Corpus.from_counts(corpus.to_matrix(), list(corpus.words), authors=rows)
    model = topoi.AuthorTopicModel(6, alpha=0.2, beta=0.05, n_iter=150, n_chains=4, random_state=0).fit(named)
    means = [m.trace_.query("sweep > 50").groupby("chain")["log_joint"].mean() for m in (lda, model)]
    assert abs(means[0].mean() - means[1].mean()) < 4 * np.hypot(means[0].std(), means[1].std())


@pytest.mark.parametrize("name", MODELS)
def test_threads_and_chains_never_change_the_bits(corpus, name):
    alone = MODELS[name](n_iter=8, n_shards=4, n_jobs=1, n_chains=2, random_state=5).fit(corpus)
    together = MODELS[name](n_iter=8, n_shards=4, n_jobs=4, n_chains=2, random_state=5).fit(corpus)
    assert digest(alone) == digest(together)
    one = MODELS[name](n_iter=8, n_shards=4, n_jobs=3, n_chains=1, random_state=5).fit(corpus)
    (first,) = (chain for chain in alone.chains_ if chain.index == 0)  # the best comes first, whatever its number
    assert np.array_equal(one.chains_[0].assignments.topic, first.assignments.topic)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("learn", [False, True])
def test_resume_and_reload_give_the_same_bits_as_one_fit(corpus, name, learn, tmp_path):
    options = {"random_state": 2, "learn_alpha": learn, "learn_beta": learn}
    whole = MODELS[name](n_iter=45, **options).fit(corpus)
    half = MODELS[name](n_iter=25, **options).fit(corpus)
    half.save(tmp_path / "half.topoi")
    resumed = topoi.load(tmp_path / "half.topoi").resume(20)
    assert digest(resumed) == digest(half.resume(20)) == digest(whole)
    assert np.array_equal(resumed.topic_word_, whole.topic_word_)
    assert np.array_equal(resumed.alpha_, whole.alpha_)


# A fingerprint of 20 sweeps. It may be made anew only by a change that is meant to alter draws (a new random
# stream, another order of visiting tokens), and the change must say so.
GOLDEN = {
    "LDA": "fe9725fd1cfe709b",
    "many topics": "37c476a9dcf23d1f",
    "author-topic": "ba47624a2a0b7b02",
    "authors, many topics": "13021f52726539b0",
    "fictitious": "5fea9c125433c9d5",
}


@pytest.mark.parametrize("name", MODELS)
def test_golden_run(name):
    assert digest(golden_model(name)) == GOLDEN[name]


def golden_model(name):
    """A fit whose corpus is made of integers alone, so that it is the same everywhere."""
    rng = [(i * 2654435761) % 2**32 for i in range(1, 4001)]
    docs = [[f"w{x % 97}" for x in rng[d * 40 : d * 40 + 40]] for d in range(100)]
    authors = [[f"a{(d * 7 + j) % 13}" for j in range(1 + d % 4)] for d in range(100)]
    corpus = topoi.Corpus.from_tokens(docs, authors=authors)
    return MODELS[name](n_iter=20, n_shards=2, random_state=11).fit(corpus)


def match(found, true):
    """How well planted topics are found: cosine similarity under the best one-to-one matching."""
    unit = [m / np.linalg.norm(m, axis=1, keepdims=True) for m in (found, true)]
    similarity = unit[0] @ unit[1].T
    rows, columns = linear_sum_assignment(-similarity)
    return similarity[rows, columns], dict(zip(rows, columns, strict=True))


def test_recovers_planted_topics_and_authors():
    planted = topoi.AuthorTopicModel(8, alpha=0.1, beta=0.02).simulate(400, 80, authors=40, random_state=1)
    model = topoi.AuthorTopicModel(8, alpha=0.1, beta=0.02, n_iter=300, random_state=0).fit(planted)
    similarity, matched = match(model.topic_word_, planted.truth.topic_word)
    assert similarity.min() > 0.97
    order = [k for k, _ in sorted(matched.items(), key=lambda pair: pair[1])]
    assert np.abs(model.author_topic_[:, order] - planted.truth.author_topic).mean() < 0.03


def test_recovers_planted_topics_of_lda():
    planted = topoi.LDA(8, alpha=0.1, beta=0.02).simulate(400, 80, random_state=1)
    model = topoi.LDA(8, alpha=0.1, beta=0.02, n_iter=300, random_state=0).fit(planted)
    similarity, matched = match(model.topic_word_, planted.truth.topic_word)
    assert similarity.min() > 0.97
    order = [k for k, _ in sorted(matched.items(), key=lambda pair: pair[1])]
    assert np.abs(model.doc_topic_[:, order] - planted.truth.doc_topic).mean() < 0.03


def test_learned_priors_come_near_the_true_ones():
    true = np.array([0.05, 0.1, 0.2, 0.4, 0.8])
    planted = topoi.LDA(5, alpha=true, beta=0.05).simulate(600, 80, random_state=4)
    model = topoi.LDA(5, alpha=1.0, beta=0.5, n_iter=300, learn_alpha="asymmetric", learn_beta=True, random_state=0)
    model.fit(planted)
    np.testing.assert_allclose(np.sort(model.alpha_), true, rtol=0.35)
    np.testing.assert_allclose(model.beta_[0], 0.05, rtol=0.15)
    equal = topoi.LDA(5, alpha=1.0, beta=0.05, n_iter=200, learn_alpha="symmetric", random_state=0).fit(planted)
    assert len(set(equal.alpha_)) == 1 and 0.1 < equal.alpha_[0] < 0.6


def test_shards_sample_only_their_own_documents(corpus):
    """In one sweep of two shards the first shard's draws do not see the second's."""
    alpha, beta = np.full(4, 0.5), np.full(corpus.n_words, 0.1)
    sampler = AuthorTopicSampler(corpus, WeightedAuthors.private(corpus.n_docs), alpha, beta, n_shards=2)
    chain = sampler.start(3, 0)
    other = sampler.start(3, 0)
    second = other.shards[1]
    sampler.sample(other, 0, other.counts, new_stream(3, 0, 1, 0))
    sweep_chains(sampler, [chain], 1, 3, SerialExecutor())
    assert np.array_equal(chain.shards[0].topic, other.shards[0].topic)
    assert not np.array_equal(chain.shards[1].topic, second.topic)
    assert isinstance(chain.shards[0].in_document_order(), Assignments)
