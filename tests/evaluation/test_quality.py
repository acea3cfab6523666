"""Exclusivity, diversity and stability are what their definitions say."""

from __future__ import annotations

import numpy as np
import pytest

import topoi
from topoi.errors import ModelError
from topoi.evaluation import coherence, diversity, exclusivity, stability


@pytest.fixture(scope="module")
def corpus() -> topoi.Corpus:
    rng = np.random.default_rng(0)
    groups = [[f"{g}{i}" for i in range(8)] for g in "abc"]
    return topoi.Corpus.from_tokens([rng.choice(groups[d % 3], 20).tolist() for d in range(60)])


@pytest.fixture(scope="module")
def model(corpus: topoi.Corpus) -> topoi.LDA:
    return topoi.LDA(3, alpha=1.0, beta=0.1, n_iter=100, n_chains=3, random_state=1).fit(corpus)


def ranks(values):
    """Average ranks, written out: 1 + the number of smaller values + half of the other equal ones."""
    return np.array([1 + (values < v).sum() + ((values == v).sum() - 1) / 2 for v in values])


@pytest.mark.parametrize("weight", [0.0, 0.5, 0.7, 1.0])
def test_frex_is_stms(weight):
    """stm: columns of topics, ranks over words, the sum over the M most probable words."""
    phi = np.random.default_rng(2).dirichlet(np.full(30, 0.3), 4)
    fitted = topoi.AspectModel.from_parameters(phi, 1.0)
    found = exclusivity(fitted, n_words=6, weight=weight)
    topics = fitted.chains_[0].topic_word
    for k, row in enumerate(topics):
        exclusive, frequent = ranks(row / topics.sum(axis=0)) / 30, ranks(row) / 30
        frex = 1 / (weight / exclusive + (1 - weight) / frequent)
        assert 6 * found.loc[k, "exclusivity"] == pytest.approx(frex[np.argsort(-row)[:6]].sum())
    assert found.attrs["mean"] == found["exclusivity"].mean()


def test_topics_apart_are_more_exclusive_than_topics_alike():
    apart = topoi.AspectModel.from_parameters([[0.5, 0.4, 0.06, 0.04], [0.04, 0.06, 0.4, 0.5]], 1.0)
    alike = topoi.AspectModel.from_parameters([[0.5, 0.4, 0.06, 0.04], [0.4, 0.5, 0.04, 0.06]], 1.0)
    assert exclusivity(apart, 2).attrs["mean"] > exclusivity(alike, 2).attrs["mean"] + 0.1
    assert diversity(apart, 2) == 1.0 and diversity(alike, 2) == 0.5


def test_diversity_of_lists_of_any_length():
    assert diversity([["a", "b", "c"], ["a"]]) == 3 / 4
    assert diversity([["a", "b", "c"], ["a"]], n_words=1) == 1 / 2


def test_chains_that_find_the_planted_topics_are_stable(corpus, model):
    frame = stability(model, n_words=8)
    assert len(frame) == 9 and set(zip(frame["chain_a"], frame["chain_b"], strict=True)) == {(0, 1), (0, 2), (1, 2)}
    assert frame["overlap"].tolist() == [1.0] * 9 and frame["cosine"].min() > 0.99
    assert frame.attrs["overlap"] == 1.0
    # Numbers of a single pair, by hand.
    a, b = model.chains_[0].topic_word, model.chains_[2].topic_word
    for row in frame[(frame["chain_a"] == 0) & (frame["chain_b"] == 2)].itertuples():
        p, q = a[row.topic_a], b[row.topic_b]
        assert row.cosine == pytest.approx(p @ q / np.sqrt((p @ p) * (q @ q)))
        assert row.shared == pytest.approx(np.minimum(p, q).sum(), abs=1e-3)  # of counts, without the prior


def test_topics_of_noise_are_not_stable():
    rng = np.random.default_rng(3)
    noise = topoi.Corpus.from_tokens([[f"w{w}" for w in rng.integers(0, 200, 20)] for _ in range(60)])
    fits = [topoi.LDA(5, n_iter=20, random_state=seed).fit(noise) for seed in (0, 1)]
    frame = stability(fits)
    assert len(frame) == 5 and frame.attrs["overlap"] < 0.4
    same = stability([fits[0], fits[0]])
    assert same["overlap"].tolist() == [1.0] * 5 and same["cosine"].tolist() == pytest.approx([1.0] * 5)


def test_bad_input_is_refused_in_words(corpus, model):
    alone = topoi.LDA(2, n_iter=2, random_state=0).fit(corpus)
    for call, message in [
        (lambda: stability(alone), "n_chains=2"),
        (lambda: stability([]), "list of fitted models"),
        (lambda: stability([["a"]]), "list of fitted models"),
        (lambda: exclusivity(model, weight=1.5), "from 0 to 1"),
        (lambda: exclusivity(model, n_words=0), "at least 1"),
        (lambda: diversity(model, n_words=0), "at least 1"),
    ]:
        with pytest.raises(ModelError, match=message):
            call()


def test_a_view_of_a_store_answers_as_the_model_does(corpus, model, tmp_path):
    model.save(tmp_path / "m.topoi")
    view = topoi.view(tmp_path / "m.topoi")
    assert (
        coherence(view, corpus, n_words=5)["coherence"].tolist()
        == coherence(model, corpus, n_words=5)["coherence"].tolist()
    )
    assert exclusivity(view, 5)["exclusivity"].tolist() == pytest.approx(exclusivity(model, 5)["exclusivity"].tolist())
    assert diversity(view, 5) == diversity(model, 5)
