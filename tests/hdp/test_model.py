"""The public class of the hierarchical Dirichlet process: reductions, recovery, golden runs, files, bad input."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

import topoi
from topoi.kernels.counts import Assignments, Counts, Documents, Priors
from topoi.kernels.random import new_stream
from topoi.models.author_topic.kernels import sweep as lda_sweep
from topoi.models.hdp import kernels
from topoi.models.hdp.simulate import simulate

Hdp = topoi.HierarchicalDirichletProcess


def planted(n_docs: int = 120, n_topics: int = 5, seed: int = 0) -> topoi.Corpus:
    """Documents of one to three of some topics, each with ten words of its own and ten of the next topic's."""
    rng = np.random.default_rng(seed)
    docs = []
    for _ in range(n_docs):
        mixture = rng.dirichlet(np.full(n_topics, 0.3))
        topics = rng.choice(n_topics, 50, p=mixture)
        docs.append([f"w{10 * k + rng.integers(12)}" for k in topics])
    return topoi.Corpus.from_tokens(docs)


@pytest.fixture(scope="module")
def corpus() -> topoi.Corpus:
    return planted()


@pytest.fixture(scope="module")
def fitted(corpus: topoi.Corpus) -> Any:
    return Hdp(20, n_iter=300, beta=0.1, n_chains=3, random_state=1).fit(corpus)


# Reductions.


def test_without_new_topics_and_with_fixed_shares_it_is_lda() -> None:
    """The same draws, bit for bit, as LDA with the weights of topics as its alpha."""
    rng = np.random.default_rng(0)
    n_topics, n_words, lengths = 20, 30, np.array([40, 0, 25, 60])
    start = np.concatenate(([0], np.cumsum(lengths)))
    tokens = rng.integers(0, n_words, start[-1]).astype(np.int32)
    topic = rng.integers(0, n_topics, start[-1]).astype(np.uint16)
    beta, weights = rng.uniform(0.01, 1, n_words).astype(np.float32), np.zeros(33, np.float32)
    weights[:n_topics] = rng.uniform(0.01, 1, n_topics)
    words = kernels.Words(tokens, start, beta, float(beta.sum()))
    mine = kernels.TopicCounts(np.zeros((n_words, 32), np.float32), np.zeros(32))
    kernels.count(tokens, topic, mine)
    lda = Counts(mine.word_topic.copy(), mine.topic[:n_topics].copy(), np.zeros((1, 32), np.float32), np.zeros(1))
    lists = np.zeros(4, np.int32), np.arange(5), np.ones(4, np.float32)
    other = Assignments(topic.copy(), np.zeros(len(topic), np.uint16))
    priors = Priors(weights[:32].copy(), float(weights.sum()), beta, float(beta.sum()))
    for sweep in range(5):
        found = kernels.sweep(words, topic, mine, weights, n_topics, n_topics, 1.0, 0, 0, new_stream(1, sweep))
        lda_sweep(Documents(tokens, start, *lists), other, lda, priors, new_stream(1, sweep))
        assert found == (4, start[-1], n_topics)
        assert np.array_equal(topic, other.topic) and np.array_equal(mine.word_topic, lda.word_topic)


def test_new_documents_are_those_of_lda_with_these_weights(fitted: Any, corpus: topoi.Corpus) -> None:
    """The probability of a document, its mixture integrated out under Dirichlet(alpha · b), by brute-force sampling."""
    short = corpus.subset([0]).tokens[:4]
    text = topoi.Corpus.from_tokens([[str(corpus.words[w]) for w in short]], words=list(corpus.words))
    first = fitted.chains_[0]
    theta = np.random.default_rng(0).dirichlet(first.alpha, 200_000)
    expected = np.log((theta @ first.topic_word[:, short]).prod(axis=1).mean())
    one = clone(fitted).set_params(n_chains=1, n_iter=0)
    one.__dict__.update({**fitted.__dict__, "chains_": [first]})
    assert one.log_likelihood(text)[0] == pytest.approx(expected, abs=0.05)


def test_weights_of_topics_are_alpha_times_their_mean_shares(fitted: Any) -> None:
    for chain, frozen in zip(fitted._chains, fitted.chains_, strict=True):
        known, tables = chain.priors, chain.priors.tables
        expected = known.alpha * tables / (tables.sum() + known.gamma)
        np.testing.assert_allclose(frozen.alpha, expected, rtol=1e-6)
        assert frozen.alpha_sum == pytest.approx(expected.sum(), rel=1e-6) and frozen.alpha_sum < known.alpha


# Recovery.


def test_planted_topics_and_their_number_are_found(fitted: Any, corpus: topoi.Corpus) -> None:
    last = np.bincount(fitted.chains_[0].assignments.topic)
    assert (np.diff(last) <= 0).all() and len(last) == fitted.n_topics_
    assert (fitted.topic_sizes()["share"] > 0.05).sum() == 5 and 5 <= fitted.n_topics_ <= 9
    number = {str(word): w for w, word in enumerate(corpus.words)}
    for k in range(5):
        own = [number[f"w{w}"] for w in range(10 * k + 2, 10 * k + 10)]
        assert fitted.topic_word_[:5][:, own].sum(axis=1).max() > 0.6


def test_concentrations_of_the_story_are_found() -> None:
    drawn = simulate(150, 60, alpha=2.0, gamma=3.0, beta=np.full(200, 0.05), random_state=3)
    model = Hdp(10, beta=0.05, n_iter=150, random_state=0).fit(drawn)
    late = model.topic_counts_trace()[50:]
    assert abs(late["n_topics"].mean() - len(drawn.truth.tables)) <= 0.25 * len(drawn.truth.tables)
    assert 1.2 < late["alpha"].mean() < 3.0 and 1.0 < late["gamma"].mean() < 8.0


# Estimates.


def test_estimates_are_means_of_samples_that_know_the_same_topics(fitted: Any) -> None:
    first = fitted.chains_[0]
    assert len(first.averaged) == fitted.fit_info_["averaged_samples"] > 5
    for sample in first.averaged.samples:
        assert sample["topic"].max() < fitted.n_topics_ and len(sample["topic"]) == fitted.corpus_.n_tokens
    expected = np.mean([np.bincount(s["topic"], minlength=fitted.n_topics_) for s in first.averaged.samples], axis=0)
    np.testing.assert_allclose(first.topic_totals, expected)
    np.testing.assert_allclose(fitted.doc_topic_.sum(axis=1), 1.0)
    np.testing.assert_allclose(fitted.topic_word_.sum(axis=1), 1.0)


def test_traces_of_topics_and_concentrations(fitted: Any) -> None:
    frame = fitted.topic_counts_trace()
    assert list(frame.columns) == ["chain", "sweep", "n_topics", "alpha", "gamma"] and len(frame) == 3 * 300
    last = frame[frame["sweep"] == 300].set_index("chain")
    for place, chain in enumerate(fitted.chains_):
        assert last.loc[chain.index, "n_topics"] == chain.n_topics == fitted.fit_info_["n_topics"][place]
    assert fitted.n_topics_ == fitted.chains_[0].n_topics


def test_fixed_concentrations_stay(corpus: topoi.Corpus) -> None:
    frame = Hdp(n_iter=5, alpha=0.7, gamma=2.5, random_state=0).fit(corpus).topic_counts_trace()
    assert (frame["alpha"] == 0.7).all() and (frame["gamma"] == 2.5).all()
    frame = Hdp(n_iter=5, alpha="learned", gamma=2.5, random_state=0).fit(corpus).topic_counts_trace()
    assert frame["alpha"].nunique() == 5 and (frame["gamma"] == 2.5).all()


# Files and bits.


def digest(model: Any) -> str:
    arrays = model.to_bundle()[1]
    return hashlib.sha256(
        b"".join(np.ascontiguousarray(arrays[name]).tobytes() for name in sorted(arrays))
    ).hexdigest()[:16]


GOLDEN = {"learned": "3a6427ea7568d177", "fixed": "0e30cb7748543a01"}


def golden_model(name: str) -> Any:
    fixed = {"alpha": 1.5, "gamma": 4.0} if name == "fixed" else {}
    return Hdp(3, beta=0.05, n_iter=30, n_chains=2, random_state=7, progress=False, **fixed).fit(planted(40))


@pytest.mark.parametrize("name", GOLDEN)
def test_golden_run(name: str) -> None:
    assert digest(golden_model(name)) == GOLDEN[name]


def test_same_bits_after_a_file_and_on_threads(fitted: Any, corpus: topoi.Corpus, tmp_path: Path) -> None:
    assert digest(clone(fitted).set_params(n_jobs=2).fit(corpus)) == digest(fitted)
    fitted.save(tmp_path / "m.topoi")
    loaded = topoi.load(tmp_path / "m.topoi")
    assert digest(loaded) == digest(fitted) and loaded.topic_counts_trace().equals(fitted.topic_counts_trace())
    assert digest(loaded.resume(7)) == digest(clone(fitted).set_params(n_iter=307).fit(corpus))


def test_view_of_a_store_labels_documents_by_the_samples(fitted: Any, tmp_path: Path) -> None:
    fitted.save(tmp_path / "m.topoi")
    view, loaded = topoi.view(tmp_path / "m.topoi"), topoi.load(tmp_path / "m.topoi")
    for number in (0, 5):
        seen = view.chains_[0].document_samples(view.chains_[0].document(number))
        held = loaded.chains_[0].document_samples(loaded.chains_[0].document(number))
        assert all(np.array_equal(one["topic"], two["topic"]) for one, two in zip(seen, held, strict=True))
        # Counts of a document's own words in all samples are taken off before it is sampled: they must be there.
        labels = topoi.label_document(view, number, burn_in=3, n_samples=2)
        assert (labels["topic"].to_numpy() == seen[-1]["topic"]).mean() > 0.6
    np.testing.assert_allclose(view.transform(["w1 w2 w33"]), loaded.transform(["w1 w2 w33"]), rtol=1e-6)


def test_a_sample_that_names_a_topic_of_no_token_is_refused(fitted: Any) -> None:
    chain = fitted._sampler.restore(0, fitted._sampler.to_arrays(fitted._chains[0]), [])
    chain.samples = {260: {"topic": np.full(fitted.corpus_.n_tokens, fitted.n_topics_, np.uint16)}}
    with pytest.raises(topoi.ModelError, match="a topic that is not there"):
        type(fitted.chains_[0]).from_hdp(chain, fitted._sampler, fitted.corpus_)


# Bad input.


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"n_shards": 2}, "n_shards is 2; topics made in different shards"),
        ({"max_topics": 2**16}, "max_topics is 65536"),
        ({"max_topics": 0}, "max_topics is 0"),
        ({"gamma": 0.0}, "gamma is 0.0; it must be one positive number, or None to learn it"),
        ({"alpha": [1.0, 2.0]}, "alpha is"),
        ({"gamma": "fixed"}, "gamma is 'fixed'"),
        ({"alpha_prior": (1.0,)}, "alpha_prior has 1 entries"),
        ({"gamma_prior": (1.0, 0.0)}, "gamma_prior has the value 0.0"),
        ({"gamma_prior": "flat"}, "gamma_prior is 'flat'"),
    ],
)
def test_wrong_settings_say_what_to_do(settings: dict[str, Any], said: str, corpus: topoi.Corpus) -> None:
    with pytest.raises(topoi.ModelError, match=said):
        Hdp(**{"n_iter": 2} | settings).fit(corpus)


def test_auto_is_one_shard_for_a_large_corpus(corpus: topoi.Corpus) -> None:
    assert Hdp()._make_sampler(corpus, 4).start(0, 0).shards[0].shape == (corpus.n_tokens,)


def test_reaching_the_most_topics_warns_once(corpus: topoi.Corpus, tmp_path: Path) -> None:
    model = Hdp(2, max_topics=3, gamma=50.0, n_iter=5, random_state=0)
    with pytest.warns(UserWarning, match="there were 3 topics, and no more were possible: raise max_topics"):
        model.fit(corpus)
    assert model.n_topics_ <= 3 and model.fit_info_["max_topics_reached"]


def test_no_more_topics_than_allowed_at_the_start(corpus: topoi.Corpus) -> None:
    assert Hdp(20, max_topics=7)._make_sampler(corpus, 1).start(0, 0).priors.n_topics == 7


def test_documents_without_words_and_a_corpus_without_any() -> None:
    model = Hdp(n_iter=3, random_state=0).fit(topoi.Corpus.from_tokens([["a"], [], ["b", "b"], []]))
    np.testing.assert_allclose(model.doc_topic_[1], model.alpha_ / model.alpha_.sum(), rtol=1e-6)
    with pytest.raises(topoi.ModelError, match="nothing to fit"):
        Hdp(n_iter=3).fit(topoi.Corpus.from_tokens([[], []], words=["a"]))
