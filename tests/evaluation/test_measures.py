"""Scores of predictive draws, and documents that keep their authors on the way to a model."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

import topoi
from topoi.errors import ModelError
from topoi.evaluation import coverage, crps


def test_crps_is_that_of_a_gaussian() -> None:
    """Its closed form: Gneiting and Raftery 2007, equation 21."""
    draws = norm.ppf((np.arange(4000) + 0.5) / 4000)[:, None] * [1.0, 3.0]
    z = np.array([0.4, -1.5 / 3])
    known = np.array([1.0, 3.0]) * (z * (2 * norm.cdf(z) - 1) + 2 * norm.pdf(z) - 1 / np.sqrt(np.pi))
    assert crps(draws, [0.4, -1.5]) == pytest.approx(known, abs=2e-3)


def test_crps_is_the_mean_over_all_pairs() -> None:
    rng = np.random.default_rng(0)
    draws, seen = rng.normal(size=(7, 2, 3)), rng.normal(size=(2, 3))
    pairs = np.abs(draws[:, None] - draws[None]).mean(axis=(0, 1))
    assert crps(draws, seen) == pytest.approx(np.abs(draws - seen).mean(axis=0) - 0.5 * pairs)


def test_coverage_counts_both_sides_and_has_slack() -> None:
    draws = np.linspace(0, 1, 101)[:, None] * np.ones(4)
    seen = [0.05, 0.2, 0.8, 0.95]
    assert coverage(draws, seen, 0.8) == 0.5
    assert coverage(draws, seen, 0.8, slack=0.051) == 1.0
    assert coverage(draws, seen, 0.5) == 0.0


@pytest.mark.parametrize("level", [0, 1.0, 80, True, "0.8"])
def test_a_level_is_a_probability(level) -> None:
    with pytest.raises(ModelError, match="level"):
        coverage([[0.1], [0.2]], [0.1], level)


@pytest.mark.parametrize("measure", [crps, coverage])
def test_draws_must_fit_what_was_seen(measure) -> None:
    with pytest.raises(ModelError, match="first axis"):
        measure([[0.1, 0.2]], [0.1])
    with pytest.raises(ModelError, match="finite"):
        measure([[np.nan]], [0.1])


@pytest.mark.parametrize("family", [topoi.KernelTopicModel, topoi.DirichletMultinomialRegression])
def test_authors_that_are_features_reach_the_model(family) -> None:
    """With nothing else seen the perplexity is that from metadata; other words in the corpus change nothing."""
    words = {"Ann": ["sun", "sky"] * 9, "Bob": ["gene", "cell"] * 9}
    people = ["Ann", "Bob"] * 10
    corpus = topoi.Corpus.from_tokens([words[name] for name in people], authors=people)
    model = family(2, features=["authors"], n_iter=80, n_warmup=20, random_state=0).fit(corpus)
    alone = model.perplexity(corpus, given="metadata")
    assert alone < 2.5 and model.perplexity(corpus) < 2.5
    other = topoi.Corpus.from_tokens([["cell", "gene"] * 9, ["sky", "sun"] * 9], authors=["Bob", "Ann"])
    for seen in (corpus, other):
        first = topoi.evaluation.completion_curve(model, seen, observed=(0,), average="tokens")["perplexity"][0]
        assert first == pytest.approx(model.perplexity(seen, given="metadata")) and first < 2.5
        found = topoi.evaluation.heldout(model, seen)
        assert topoi.evaluation.heldout_summary(found)["perplexity_tokens"][0] < 2.5
