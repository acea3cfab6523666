"""Resampled shares of large groups: the moments of the bootstrap, its skewness, and small groups beside large ones."""

import numpy as np
import pytest

from topoi.models import large_groups
from topoi.models.large_groups import _standard_gamma, resampled_shares
from topoi.models.resampling import Block, Draws, Groups, one_draw, resample, stacked_draws


def counts_of(n, seed, rare=0):
    """Counts of two common topics and one that ``rare`` documents have."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(5, 60, n)
    counts = np.zeros((n, 3))
    counts[:, :2] = rng.multinomial(lengths, [0.4, 0.6])
    where = rng.choice(n, rare, replace=False)
    counts[where, 2] = rng.integers(1, 30, rare)
    return counts


@pytest.mark.parametrize("sizes", [(2000, 1500), (40, 2500)], ids=["both large", "one small"])
@pytest.mark.parametrize("rare", [2, 400])
def test_quantiles_are_those_of_the_bootstrap(sizes, rare):
    tables = [counts_of(sum(sizes), seed, rare) for seed in (0, 1)]
    tables[1][:, 2] = tables[0][:, 2]
    totals = tables[0].sum(axis=1)
    for table in tables:  # documents are as long in all draws
        table[:, 1] += totals - table.sum(axis=1)
    tables = [np.maximum(table, 0.0) for table in tables]
    lengths = tables[0].sum(axis=1)
    groups = Groups(np.repeat([0, 1], sizes), lengths, 2)
    draws = stacked_draws(tables)
    found = resampled_shares(groups, draws, 4000, 0)
    plain = resample(groups, draws, n_replicates=4000, seed=1).shares
    for g in (0, 1):
        wanted, given = (np.quantile(each[g], (0.05, 0.5, 0.95), axis=1) for each in (plain, found))
        width = wanted[2] - wanted[0]
        assert (np.abs(wanted - given) <= 0.08 * width + 1e-12).all()


def test_skewness_goes_from_an_exponential_to_a_normal_distribution():
    rng = np.random.default_rng(0)
    residuals = np.array([[1.0, 0.0], [-1.0, 0.0], [0.1, 0.1]])
    second, third = (residuals**2).sum(axis=1), (residuals**3).sum(axis=1)
    drawn = _standard_gamma(third, second, 200_000, rng)
    np.testing.assert_allclose(drawn.mean(axis=1), 0.0, atol=0.01)
    np.testing.assert_allclose(drawn.var(axis=1), 1.0, atol=0.03)
    np.testing.assert_allclose((drawn**3).mean(axis=1), 2 * third / second**1.5, atol=0.1)
    assert drawn[0].min() > -1.001 and drawn[1].max() < 1.001, "an exponential weight is not below zero"


def test_small_collections_are_resampled_as_they_were(monkeypatch):
    counts = counts_of(300, 0, 20)
    groups = Groups(np.arange(300) % 2, counts.sum(axis=1), 2)
    plain = resample(groups, one_draw(counts), n_replicates=50, seed=3).shares
    assert np.array_equal(resampled_shares(groups, one_draw(counts), 50, 3), plain)
    monkeypatch.setattr(large_groups, "LARGE", 100)
    assert not np.array_equal(resampled_shares(groups, one_draw(counts), 50, 3), plain)


def test_blocks_and_documents_in_no_group_do_not_matter():
    counts = counts_of(3000, 0, 50)
    of = np.arange(3000) % 3 - 1
    whole = resampled_shares(Groups(of, counts.sum(axis=1), 2), one_draw(counts), 200, 0)
    others = counts.copy()
    others[of < 0] = 1.0

    def blocks():
        for first in range(0, 3000, 700):
            yield Block(first, next(one_draw(others[first : first + 700]).blocks()).draws)

    parts = resampled_shares(Groups(of, counts.sum(axis=1), 2), Draws(1, 3, blocks), 200, 0)
    np.testing.assert_allclose(parts, whole, rtol=1e-9)
