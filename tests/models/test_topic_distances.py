"""Distances between topics, pair by pair and word by word."""

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon
from scipy.stats import entropy

from topoi.analysis import topic_distances
from topoi.analysis.topic_distances import jensen_shannon, jensen_shannon_of_counts, symmetrised_kl
from topoi.models.smoothed_counts import kl_matrix


@pytest.fixture
def counts():
    """Words × topics, most of them zero; one topic has no words at all."""
    chance = np.random.default_rng(0)
    numbers = chance.poisson(chance.gamma(0.05, 20.0, (300, 8))).astype(np.float32)
    numbers[:, 3] = 0
    return numbers


@pytest.fixture
def beta():
    return np.random.default_rng(1).uniform(0.005, 0.2, 300)


@pytest.fixture
def topics(counts, beta):
    return ((counts + beta[:, None]) / (counts.sum(axis=0) + beta.sum())).T


@pytest.mark.parametrize("size", [7, 300, 4096])
def test_symmetrised_kl_is_that_of_each_pair(topics, monkeypatch, size):
    monkeypatch.setattr(topic_distances, "_WORDS_AT_ONCE", size)
    expected = [[entropy(p, q) + entropy(q, p) for q in topics] for p in topics]
    np.testing.assert_allclose(symmetrised_kl(lambda words: topics[:, words], 300), expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(kl_matrix(topics, topics), expected, rtol=1e-9, atol=1e-9)


def test_jensen_shannon_is_that_of_each_pair(counts, beta, topics):
    expected = [[jensenshannon(p, q) for q in topics] for p in topics]
    np.testing.assert_allclose(jensen_shannon(lambda words: topics[:, words], 300), expected, atol=1e-7)
    padded = np.pad(counts, ((0, 0), (0, 5)))  # as samplers keep them
    room = counts.sum(axis=0) + beta.sum()
    np.testing.assert_allclose(jensen_shannon_of_counts(lambda words: padded[words], room, beta), expected, atol=1e-7)
