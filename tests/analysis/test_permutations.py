"""Permutation tests: groupings by shuffles and by turned circles, exact sums, tails beyond the permutations."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.stats import norm

from topoi.analysis import permutations
from topoi.analysis.permutations import (
    Sums,
    _Circles,
    circle_sizes,
    permutation_p_values,
    statistics,
    tail_p_value,
)
from topoi.models.blas import one_thread


def made(n, effect=0.0, seed=0, n_topics=4):
    """Counts of documents, a third of which are ours; the first topic is commoner there by ``effect``."""
    rng = np.random.default_rng(seed)
    ours = rng.permutation(n) < n // 3
    lengths = rng.integers(5, 60, n)
    means = np.tile([0.5, 0.3, 0.19, 0.01][:n_topics], (n, 1))
    means[ours, 0] += effect
    mixtures = rng.standard_gamma(means * 4)
    return rng.multinomial(lengths, mixtures / mixtures.sum(axis=1, keepdims=True)), lengths.astype(float), ours


def test_sums_of_turned_circles_are_those_of_turned_marks():
    counts, _, ours = made(53)
    order = np.random.default_rng(1).permutation(53)
    circles = _Circles(ours, order, 5, 10)
    found = circles.sums(np.ascontiguousarray(counts.T.astype(float)))
    laid_out = circles.sums(circles.laid_out(csr_array(counts).tocsc()), laid_out=True)
    np.testing.assert_allclose(found, laid_out, atol=1e-9)
    marks, values = ours[order], counts[order]
    for turn in range(10):
        turned = np.concatenate([np.roll(marks[:50].reshape(5, 10), turn, axis=1).ravel(), marks[50:]])
        np.testing.assert_allclose(found[:, turn], turned @ values, atol=1e-9)
    assert sorted(np.rint(found[0]))[0] >= 0 and np.rint(found[:, 0]).tolist() == (ours @ counts).tolist()


@pytest.mark.parametrize("effect", [0.0, 0.1])
def test_circles_and_shuffles_agree(effect, monkeypatch):
    counts, lengths, ours = made(4500, effect)
    turned = permutation_p_values(csr_array(counts), lengths, ours, 999, 0)
    monkeypatch.setattr(permutations, "MANY_DOCUMENTS", 10**9)
    shuffled = permutation_p_values(csr_array(counts), lengths, ours, 999, 0)
    np.testing.assert_allclose(turned, shuffled, atol=0.06)
    if effect:
        assert max(turned[0], shuffled[0]) < 1e-4
        assert np.log(turned[0]) == pytest.approx(np.log(shuffled[0]), rel=0.25)


def test_both_ways_have_the_same_statistic():
    counts, lengths, ours = made(4200, 0.1)
    ways = permutations._turned, permutations._shuffled
    how = csr_array(counts).tocsc(), lengths, ours, 3, np.random.default_rng(0)
    turned, shuffled = (next(iter(way(*how)))[1].seen for way in ways)
    np.testing.assert_allclose(turned, shuffled, rtol=1e-12)


def test_hardly_a_document_is_left_over():
    for n in (4096, 4999, 10_007, 62_444, 1_000_003):
        n_circles, size = circle_sizes(n)
        assert n * 0.98 < n_circles * size <= n and 2000 <= size <= 9000


@pytest.mark.parametrize("n", [40, 4200])
def test_topics_without_words_and_equal_shares_do_not_differ(n):
    """A single topic has all words of all documents; one that nobody has, none: any grouping is as good."""
    lengths = np.random.default_rng(0).integers(5, 60, n).astype(float)
    counts = np.stack([lengths, np.zeros(n)], axis=1)
    ours = np.arange(n) % 3 == 0
    assert permutation_p_values(csr_array(counts), lengths, ours, 99, 0).tolist() == [1.0, 1.0]


@pytest.mark.parametrize("n", [40, 4200])
def test_ties_count_as_ties(n):
    """One document alone has the topic: its share is one standard error wherever the document is."""
    ours = np.arange(n) < n // 4
    counts = np.zeros((n, 2), np.int64)
    counts[:, 1] = 20
    counts[-1] = 7, 13
    p = permutation_p_values(csr_array(counts), np.full(n, 20.0), ours, 999, 0)
    assert p.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("n", [150, 4200])
def test_numbers_do_not_depend_on_threads_or_parts(n):
    counts, lengths, ours = made(n, 0.02)
    plain = permutation_p_values(csr_array(counts), lengths, ours, 199, 3)
    with one_thread():
        assert np.array_equal(plain, permutation_p_values(csr_array(counts), lengths, ours, 199, 3))
    # Sums over five samples of the same counts, and means that are no whole numbers.
    np.testing.assert_allclose(permutation_p_values(csr_array(counts * 5), lengths, ours, 199, 3, parts=5), plain)
    halves = permutation_p_values(csr_array(counts / 2), lengths / 2, ours, 199, 3)
    np.testing.assert_allclose(halves, plain)


def test_tails_go_on_where_permutations_end():
    rng = np.random.default_rng(0)
    for p in (1e-4, 1e-6, 1e-9):
        found = []
        for _ in range(200):
            largest = np.sort(np.abs(rng.standard_normal(999)))[-250:]
            found.append(tail_p_value(largest, norm.isf(p / 2), 999))
        # The fitted tail is wider than the normal one, the more so the farther out.
        assert p / 2 < np.exp(np.mean(np.log(found))) < p**0.75
    assert tail_p_value(np.full(250, 2.0), 9.0, 999) == 1.0, "nothing to fit"
    heavy = np.sort(np.abs(rng.standard_t(3, 999)))[-250:]
    assert (
        tail_p_value(heavy, 6.0, 999) > 1e-4 > tail_p_value(np.sort(np.abs(rng.standard_normal(999)))[-250:], 6.0, 999)
    )


def test_no_p_value_is_below_that_of_all_groupings():
    """Of eight documents there are seventy groupings, of which one is ours."""
    counts = np.stack([np.repeat([19, 1], 4), np.repeat([1, 19], 4)], axis=1) + np.arange(8)[:, None] % 2 * [[0, 1]]
    p = permutation_p_values(csr_array(counts), counts.sum(axis=1).astype(float), np.arange(8) < 4, 19, 0)
    assert (p >= 1 / 70).all() and (p < 0.2).all()


@pytest.mark.parametrize(("n", "repeats"), [(60, 200), (4200, 40)])
def test_levels_hold_also_beyond_the_permutations(n, repeats):
    """The whole story, in numbers: ``python -m studies.group_levels``."""
    found = np.concatenate(
        [
            permutation_p_values(csr_array(counts), lengths, ours, 99, seed)
            for seed in range(repeats)
            for counts, lengths, ours in [made(n, 0.0, seed)]
        ]
    )
    assert (found <= 0.05).mean() == pytest.approx(0.05, abs=4 * np.sqrt(0.05 * 0.95 / len(found)))
    assert (found <= 0.002).sum() <= 0.002 * len(found) + 4 * np.sqrt(0.002 * len(found))


def test_statistics_are_the_same_from_sums_of_either_group():
    counts, lengths, ours = made(30)
    table = Sums(counts.astype(float), counts * lengths[:, None], counts.astype(float) ** 2)
    sizes = np.stack([lengths, lengths**2, np.ones(30)], axis=1)
    totals = Sums(*(each.sum(axis=0) for each in table))
    both = [
        statistics(
            Sums(*(marks[None].astype(float) @ each for each in table)), totals, marks[None] @ sizes, sizes.sum(axis=0)
        )
        for marks in (ours, ~ours)
    ]
    np.testing.assert_allclose(both[0], -both[1])
