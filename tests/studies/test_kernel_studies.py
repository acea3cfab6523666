"""The parts of the studies of kernel topic models that could be wrong without anybody noticing."""

from __future__ import annotations

import numpy as np
import pytest

import topoi
from topoi.models.features.prediction import MetadataPredictions

comparison = pytest.importorskip("studies.kernel_comparison", reason="the studies are not part of an installed package")
same_start = pytest.importorskip("studies.same_start")
bridge = pytest.importorskip("studies.bridge_figure")
links = pytest.importorskip("studies.links_kernel")


@pytest.fixture(scope="module")
def corpus() -> topoi.Corpus:
    years = list(range(1900, 1960))
    words = [["war", "army"] * 10 if year < 1930 else ["trade", "tax"] * 10 for year in years]
    return topoi.Corpus.from_tokens(words, authors=["Ann", "Bob"] * 30, dates=years)


def test_folds_hold_whole_groups_and_every_document_once() -> None:
    group = np.repeat(np.arange(12), np.arange(1, 13))
    found = comparison.folds(group, 4, np.random.default_rng(0))
    assert all(len(set(found[group == each])) == 1 for each in range(12))
    assert np.bincount(found, minlength=4).min() >= 0.5 * len(group) / 4


def test_ratios_are_paired_by_split() -> None:
    numbers = {"a": [100.0, 300.0], "b": [200.0, 600.0]}
    rows = [
        {"kind": "random", "split": i, "model": name, "perplexity": {"0": value}}
        for name, each in numbers.items()
        for i, value in enumerate(each)
    ]
    line = comparison.ratios(rows[::-1], [("a", "b")], ["random"], "0")[-1]
    assert line == "| a / b | 0.500 ± 0.000 |"
    assert len(comparison.complete(rows[:3], ["a", "b"])) == 2


def test_the_start_is_that_of_a_kernel_topic_model(corpus) -> None:
    """With a warm-up alone the expected counts are the very same."""
    mine = same_start.Regression(2, random_state=3)
    mine._sweep = lambda *ignored: setattr(mine, "coefficients", mine.prior.mean)
    mine.fit(corpus)
    settings = dict(features=["year"], n_iter=100, n_warmup=100, random_state=3, learn_kernel=False)
    theirs = topoi.KernelTopicModel(2, **settings).fit(corpus)
    assert (mine.counts.doc_topic == theirs._posterior.counts).all()
    assert (mine.topic_word_ == theirs.topic_word_).all()


def test_regressions_learn_from_metadata(corpus) -> None:
    plain = same_start.Regression(2, random_state=0).fit(corpus)
    designs = same_start.widths(["year", "authors"], 5, 20)
    tuned = same_start.Regression(2, designs, same_start.TUNED_VARIANCES, random_state=0).fit(corpus)
    paper = same_start.Regression(2, {"paper": same_start.PaperDesign}, random_state=0).fit(corpus)
    assert isinstance(plain, MetadataPredictions)
    blind = plain.perplexity(corpus, given="metadata")
    assert max(each.perplexity(corpus, given="metadata") for each in (tuned, paper)) < 0.8 * blind
    assert tuned.draw_shares(corpus).shape == (1000, corpus.n_docs, 2)
    assert tuned.refit().perplexity(corpus, given="metadata") < 0.9 * blind
    found = same_start.measured(plain, corpus, corpus, (0, 4))
    assert found["own_words"] < found["perplexity"]["0"] and 0 <= found["coverage"] <= 1


def test_links_go_both_ways() -> None:
    lists = [["b", "x", "a"], [], ["a"]]
    corpus = topoi.Corpus.from_tokens([["w"]] * 3, ids=["a", "b", "c"], metadata={"links": lists})
    assert links.both_ways(corpus).documents["links"].tolist() == [["b", "c"], ["a"], ["a"]]


def test_slices_sample_the_posterior() -> None:
    """Of two topics, by sums over a fine grid."""
    factor, counts = np.array([[0.5, -0.5], [-0.5, 0.5]]), np.array([3.0, 0.0])
    samples = bridge.slices(np.random.default_rng(0), counts, factor, 8000)
    grid = np.linspace(-5, 5, 2001)
    weight = np.exp(-(grid**2) / (2 * 0.5) - 3 * np.log1p(np.exp(-2 * grid)))
    assert samples[:, 0].mean() == pytest.approx((weight @ grid) / weight.sum(), abs=0.03)
    assert np.abs(samples.sum(axis=1)).max() < 1e-9
