"""The words' side: counts, fixed points and scores by hand."""

from __future__ import annotations

import numpy as np
import pytest

import topoi
from kernel_topic.planted import N_TOPICS, planted
from topoi.models.bags import Bags
from topoi.models.features import folding
from topoi.models.kernel_topic import kernels
from topoi.models.kernel_topic.fitting import Counts

CORPUS, _ = planted(20, seed=0, length=50)
BAGS = Bags.from_corpus(CORPUS)
RNG = np.random.default_rng(0)


@pytest.mark.parametrize("counted", [False, True])
def test_a_sweep_keeps_the_counts(counted: bool) -> None:
    counts = Counts(BAGS, CORPUS.n_words, N_TOPICS, 0, 0.01)
    for _ in range(5):
        counts.sweep(RNG.gamma(1.0, size=(20, N_TOPICS)), counted)
    kept = [counts.doc_topic.copy(), counts.word_topic.copy(), counts.topic.copy()]
    counts.recount()
    for before, after in zip(kept, (counts.doc_topic, counts.word_topic, counts.topic), strict=True):
        assert before == pytest.approx(after, abs=1e-9)
    assert counts.doc_topic.sum(axis=1) == pytest.approx(CORPUS.doc_lengths)
    assert counts.word_topic.sum(axis=1) == pytest.approx(np.bincount(CORPUS.tokens, minlength=CORPUS.n_words))


@pytest.mark.parametrize("counted", [False, True])
def test_a_share_follows_the_rule(counted: bool) -> None:
    """The last entry of a sweep, by hand: nothing changes after it."""
    counts = Counts(BAGS, CORPUS.n_words, N_TOPICS, 0, 0.3)
    base = RNG.gamma(1.0, size=(20, N_TOPICS))
    before = counts.shares.copy()
    counts.sweep(base, counted)
    w, n, own, found = BAGS.row[-1], BAGS.times[-1], before[-1], counts.shares[-1]
    moved = n * (found - own)
    side = base[-1] + (counts.doc_topic[-1] - moved - own if counted else 0.0)
    weight = side * (counts.word_topic[w] - moved - own + 0.3) / (counts.topic - moved - own + 0.3 * CORPUS.n_words)
    assert found == pytest.approx(weight / weight.sum(), rel=1e-9)


def test_folding_in_ends_at_its_fixed_point() -> None:
    word_topic = RNG.dirichlet(np.full(CORPUS.n_words, 0.3), N_TOPICS).T.copy()
    prior = RNG.gamma(1.0, size=(20, N_TOPICS))
    found = np.zeros((20, N_TOPICS))
    folding.fold_in(BAGS, word_topic, prior, 0, 20, 1e-12, 5000, found)
    assert found.sum(axis=1) == pytest.approx(CORPUS.doc_lengths)
    for d in range(20):
        mine = slice(BAGS.doc_start[d], BAGS.doc_start[d + 1])
        share = np.full((mine.stop - mine.start, N_TOPICS), 1 / N_TOPICS)
        for _ in range(300):  # a token's share solves share ∝ phi (prior + counts − share)
            share = word_topic[BAGS.row[mine]] * (prior[d] + found[d] - share)
            share /= share.sum(axis=1, keepdims=True)
        assert BAGS.times[mine] @ share == pytest.approx(found[d], abs=1e-5)


def test_scores_are_those_of_the_mixture() -> None:
    word_topic = RNG.dirichlet(np.full(CORPUS.n_words, 0.3), N_TOPICS).T.copy()
    mixture = RNG.dirichlet(np.ones(N_TOPICS), 20)
    found = np.zeros(20)
    folding.score(BAGS, word_topic, mixture, found)
    log_p = np.log(mixture @ word_topic.T)
    by_hand = [log_p[d, CORPUS.tokens[CORPUS.doc_start[d] : CORPUS.doc_start[d + 1]]].sum() for d in range(20)]
    assert found == pytest.approx(by_hand)


def test_drawn_counts_are_whole_and_right_on_average() -> None:
    """Topics are drawn with probabilities in proportion to the mixture times (N_wk + beta) / (N_k + W beta)."""
    corpus = topoi.Corpus.from_tokens([["a", "b", "b", "a"], [], ["c"] * 6])
    bags = Bags.from_corpus(corpus)
    side = np.array([[0.7, 0.2, 0.1], [0.1, 0.0, 0.9], [0.25, 0.25, 0.5]])
    word_topic = np.array([[3.0, 1.0, 0.5], [0.0, 4.0, 1.0], [2.0, 0.0, 2.0]])
    topic, beta = word_topic.sum(axis=0), 0.1
    rng, found = np.random.default_rng(0), np.empty((3, 3))
    total = np.zeros((3, 3))
    for _ in range(4000):
        kernels.draw_counts(bags, side, word_topic, topic, beta, rng.random(10), found)
        assert found.sum(axis=1).tolist() == [4.0, 0.0, 6.0] and (found == np.round(found)).all()
        total += found
    weight = side[:, None] * (word_topic + beta) / (topic + 3 * beta)  # documents × words × topics
    share = weight / weight.sum(axis=2, keepdims=True)
    expected = np.array([2 * share[0, 0] + 2 * share[0, 1], np.zeros(3), 6 * share[2, 2]])
    assert total / 4000 == pytest.approx(expected, abs=0.06)
