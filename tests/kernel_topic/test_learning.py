"""What hyper-parameters are learned from."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF

import topoi
from topoi.models.bags import Bags
from topoi.models.kernel_topic import fitting
from topoi.models.kernel_topic.evidence import Hyper, Shape
from topoi.models.kernel_topic.gaussian_process import marginals, serially, sites_at, solve

N_TOPICS, N_DOCS = 3, 6


def test_topics_are_drawn_given_a_draw_of_y(monkeypatch) -> None:
    """Over seeds, y varies as its posterior does at the mode; sites are at that y, of a topic for every word."""
    rng = np.random.default_rng(0)
    corpus = topoi.Corpus.from_tokens([[f"w{w}" for w in rng.integers(8, size=12)] for _ in range(N_DOCS)])
    counts = fitting.Counts(Bags.from_corpus(corpus), corpus.n_words, N_TOPICS, 0, 0.1)
    hyper = Hyper(Shape(RBF(2.0), np.arange(N_DOCS)[:, None]), np.array([1.0, 2.0, 0.5]), np.array([0.4, 0.2, 0.3]))
    schedule = fitting.Schedule(10, 0, 5, 20, 10, 0, False, True, draws=True)
    at = fitting.first_y(counts.doc_topic)
    seen = []

    def noted(y, found):
        seen.append((y, found))
        return sites_at(y, found)

    monkeypatch.setattr(fitting, "sites_at", noted)
    n_draws = 3000
    for seed in range(n_draws):
        fitting.Process(hyper, at, schedule._replace(seed=seed), serially)._drawn(counts)
    assert all((y == at).all() and (found == counts.doc_topic).all() for y, found in seen[::2])
    draws = np.array([y for y, _ in seen[1::2]])
    whole = np.array([found for _, found in seen[1::2]])
    assert (whole == np.round(whole)).all() and (whole.sum(axis=2) == 12).all()
    prior = hyper.prior()
    expected = np.diagonal(marginals(prior, solve(prior, sites_at(at, counts.doc_topic))), axis1=1, axis2=2)
    assert draws.var(axis=0) / expected == pytest.approx(np.ones((N_DOCS, N_TOPICS)), abs=0.15)
    assert draws.mean(axis=0) == pytest.approx(at, abs=0.15)
    # A document that is drawn towards a topic has more words in it.
    share = fitting.softmax(draws)
    together = [np.corrcoef(share[:, d, k], whole[:, d, k])[0, 1] for d in range(N_DOCS) for k in range(N_TOPICS)]
    assert min(together) > 0.2
