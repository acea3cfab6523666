"""Resampled documents: what is drawn, what it does not depend on, and what intervals hold."""

import numpy as np
import pytest

import topoi
from topoi.models.resampling import EXTRA, Block, Draw, Draws, Groups, one_draw, resample, share_bands, stacked_draws


def counts_of(rng, n_docs, n_columns=3, n=20):
    return rng.multinomial(n, rng.dirichlet(np.full(n_columns, 0.7), n_docs)).reshape(n_docs, n_columns).astype(float)


def in_blocks(draws: Draws, size: int) -> Draws:
    """The same draws, in smaller blocks of documents."""

    def blocks():
        (whole,) = draws.blocks()
        n_docs = len(whole.draws[0].start) - 1
        for first in range(0, n_docs, size):
            part = []
            for start, column, number in whole.draws:
                own = start[first : min(first + size, n_docs) + 1]
                part.append(Draw(own - own[0], column[own[0] : own[-1]], number[own[0] : own[-1]]))
            yield Block(first, part)

    return Draws(draws.n_draws, draws.n_columns, blocks)


@pytest.mark.parametrize("size", [1, 3, 100])
def test_neither_blocks_of_documents_nor_of_groups_matter(size):
    rng = np.random.default_rng(0)
    tables = [counts_of(rng, 17) for _ in range(3)]
    draws, groups = stacked_draws(tables), Groups(rng.integers(-1, 4, 17), np.full(17, 20.0), 4)
    whole = resample(groups, draws, n_replicates=10)
    other = resample(groups, in_blocks(draws, size), n_replicates=10)
    np.testing.assert_allclose(other.counts, whole.counts)
    np.testing.assert_allclose(other.words, whole.words)
    np.testing.assert_allclose(whole.counts.sum(axis=1), whole.words)


def test_weights_of_documents_do_not_depend_on_the_groups_asked_for(monkeypatch):
    monkeypatch.setattr("topoi.models.resampling.EXTRA", 0)
    rng = np.random.default_rng(1)
    draws, groups = one_draw(counts_of(rng, 30)), Groups(rng.integers(0, 3, 30), np.full(30, 20.0), 3)
    whole = resample(groups, draws, n_replicates=7)
    for g in range(3):
        np.testing.assert_allclose(resample(groups, draws, slice(g, g + 1), 7).counts[0], whole.counts[g])


def test_variance_is_that_of_the_bayesian_bootstrap(monkeypatch):
    """With documents of equal length the variance of a weighted mean is the sample variance over n + 1 (Rubin 1981)."""
    monkeypatch.setattr("topoi.models.resampling.EXTRA", 0)
    counts = counts_of(np.random.default_rng(2), 40)
    found = resample(Groups(np.zeros(40, np.int64), np.full(40, 20.0), 1), one_draw(counts), n_replicates=20_000)
    expected = (counts / 20).var(axis=0) / 41
    np.testing.assert_allclose(found.shares[0].mean(axis=1), counts.mean(axis=0) / 20, atol=0.002)
    np.testing.assert_allclose(found.shares[0].var(axis=1), expected, rtol=0.05)


def test_documents_of_others_are_added_to_every_group():
    """The expected weight of a group's own documents is n / (n + EXTRA)."""
    counts = np.repeat([[20.0, 0.0], [0.0, 20.0]], [3, 997], axis=0)
    groups = Groups(np.repeat([0, 1], [3, 997]), np.full(1000, 20.0), 2)
    share = resample(groups, one_draw(counts), n_replicates=20_000).shares
    assert share[0, 0].mean() == pytest.approx((3 + EXTRA * 0.003) / (3 + EXTRA), abs=0.01)
    assert share[1, 1].mean() == pytest.approx((997 + EXTRA * 0.997) / (997 + EXTRA), abs=0.001)


def test_every_draw_has_its_turn():
    tables = [np.tile(row, (50, 1)) for row in np.eye(4) * 20.0]
    groups = Groups(np.zeros(50, np.int64), np.full(50, 20.0), 1)
    shares = resample(groups, stacked_draws(tables), n_replicates=10).shares[0]
    np.testing.assert_allclose(shares.argmax(axis=0), np.arange(10) % 4)
    np.testing.assert_allclose(shares.max(axis=0), 1.0)


@pytest.mark.parametrize(("n_docs", "least"), [(1, 0.8), (3, 0.8), (10, 0.8), (60, 0.84)])
def test_intervals_hold_the_share_of_the_population(n_docs, least):
    """True shares of 40 groups, whose documents scatter about them; without others' documents far fewer are held."""
    rng = np.random.default_rng(n_docs)
    held = []
    for seed in range(12):
        truth = np.clip(0.1 * np.exp(0.7 * rng.standard_normal(40)), 0.01, 0.8)
        theta = rng.beta(5 * truth, 5 * (1 - truth), (n_docs, 40)).T.ravel()
        lengths = np.maximum(rng.lognormal(4, 0.5, 40 * n_docs).round(), 1).astype(np.int64)
        first = rng.binomial(lengths, theta)
        counts = np.column_stack([first, lengths - first]).astype(float)
        group = np.repeat(np.arange(40), n_docs)
        share = np.add.reduceat(counts, np.arange(0, len(counts), n_docs))
        share = share / share.sum(axis=1, keepdims=True)
        ends = share_bands(Groups(group, lengths.astype(float), 40), one_draw(counts), share, seed=seed)
        held.append(((ends[0][:, 0] <= truth) & (truth <= ends[1][:, 0])).mean())
    assert least <= np.mean(held) <= 0.98


def test_draws_of_a_model_are_its_samples():
    rng = np.random.default_rng(3)
    corpus = topoi.Corpus.from_tokens([rng.choice(list("abcdef"), n).tolist() for n in (5, 0, 9, 30)])
    chain = topoi.LDA(3, n_iter=40, random_state=0).fit(corpus).chains_[0]
    found = chain.document_draws()
    assert found.n_draws == chain.n_samples > 5 and found.n_columns == 3
    (block,) = found.blocks()
    for draw, sample in zip(block.draws, chain.averaged.samples, strict=True):
        for d in range(4):
            mine = sample["topic"][corpus.doc_start[d] : corpus.doc_start[d + 1]]
            cells = slice(draw.start[d], draw.start[d + 1])
            assert dict(zip(draw.column[cells], draw.number[cells], strict=True)) == {
                k: n for k, n in enumerate(np.bincount(mine, minlength=3)) if n
            }


def test_without_columns_there_are_no_bands() -> None:
    """A graph whose inner nodes are none but the root has no trends of them."""
    groups = Groups(np.array([0, 1, 1]), np.ones(3), 2)
    lower, upper = share_bands(groups, one_draw(np.zeros((3, 0))), np.zeros((2, 0)))
    assert lower.shape == upper.shape == (2, 0)
