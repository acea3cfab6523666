"""New documents' words on top of a Gaussian belief."""

from __future__ import annotations

import numpy as np
import pytest

from topoi.models.bags import Bags
from topoi.models.kernel_topic.folding_in import _Documents, _mode, fold_in
from topoi.models.kernel_topic.posterior import mean_shares, share_draws

RNG = np.random.default_rng(5)
N_TOPICS, N_WORDS, N_DOCS = 4, 12, 9
TOPICS = RNG.dirichlet(np.full(N_WORDS, 0.4), N_TOPICS)
MEAN = RNG.normal(size=(N_DOCS, N_TOPICS))
_ROOTS = RNG.normal(size=(N_DOCS, N_TOPICS, N_TOPICS))
COVARIANCE = 0.4 * _ROOTS @ _ROOTS.swapaxes(1, 2) + 0.3 * np.eye(N_TOPICS)


def bags_of(rows: list[list[int]]) -> Bags:
    pairs = [np.unique(np.array(row, np.int64), return_counts=True) for row in rows]
    start = np.concatenate(([0], np.cumsum([len(word) for word, _ in pairs]))).astype(np.int64)
    return Bags(
        start, np.concatenate([word for word, _ in pairs]), np.concatenate([n for _, n in pairs]).astype(np.float64)
    )


def words(n: int, seed: int = 0) -> list[list[int]]:
    rng = np.random.default_rng(seed)
    return [rng.integers(0, N_WORDS, n).tolist() for _ in range(N_DOCS)]


def test_without_words_it_is_the_prediction() -> None:
    assert fold_in(bags_of([[]] * N_DOCS), TOPICS, MEAN, COVARIANCE) == pytest.approx(mean_shares(MEAN, COVARIANCE))


def test_words_that_all_topics_share_say_nothing() -> None:
    same = np.tile(TOPICS[:1], (N_TOPICS, 1))
    found = fold_in(bags_of(words(50)), same, MEAN, COVARIANCE)
    assert found == pytest.approx(mean_shares(MEAN, COVARIANCE), abs=1e-6)


@pytest.mark.parametrize(("n_words", "within"), [(1, 0.012), (5, 0.03), (25, 0.03)])
def test_it_is_near_the_exact_posterior(n_words: int, within: float) -> None:
    """Exact by weighing many draws of the belief by the words' probability."""
    rows = words(n_words)
    found = fold_in(bags_of(rows), TOPICS, MEAN, COVARIANCE)
    exact = np.empty_like(found)
    for d, row in enumerate(rows):
        draws = share_draws(MEAN[d], COVARIANCE[d], 40_000)
        weight = np.exp(np.log(draws @ TOPICS[:, row]).sum(axis=1))
        exact[d] = weight @ draws / weight.sum()
    assert np.abs(found - exact).mean() < within
    assert np.abs(found - exact).mean() < 0.35 * np.abs(mean_shares(MEAN, COVARIANCE) - exact).mean()


def test_many_words_speak_for_themselves() -> None:
    rng = np.random.default_rng(1)
    true = np.array([0.1, 0.2, 0.3, 0.4])
    row = rng.choice(N_WORDS, 20_000, p=true @ TOPICS).tolist()
    found = fold_in(bags_of([row] * 2), TOPICS, MEAN[:2], COVARIANCE[:2])
    assert found == pytest.approx(np.tile(true, (2, 1)), abs=0.03)


def test_company_does_not_matter() -> None:
    rows = words(7)
    rows[3] = []
    together = fold_in(bags_of(rows), TOPICS, MEAN, COVARIANCE)
    for d in range(N_DOCS):
        here = slice(d, d + 1)
        assert (fold_in(bags_of(rows[here]), TOPICS, MEAN[here], COVARIANCE[here])[0] == together[d]).all()


def test_the_mode_has_no_slope() -> None:
    bags = bags_of(words(25))
    doc = np.repeat(np.arange(N_DOCS), np.diff(bags.doc_start))
    documents = _Documents(TOPICS.T[bags.row], bags.times, doc, MEAN, np.linalg.inv(COVARIANCE))
    y = _mode(documents)
    for k in range(N_TOPICS):
        step = 1e-4 * np.eye(N_TOPICS)[k]
        slope = (documents.shares(y + step)[2] - documents.shares(y - step)[2]) / 2e-4
        assert np.abs(slope).max() < 0.01
