"""Geweke's joint distribution test of the hierarchical Dirichlet process, concentrations included."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hdp.test_sampler import run, sampler_of
from topoi.models.hdp import kernels
from topoi.models.hdp.sampler import Concentration
from topoi.models.hdp.simulate import franchise

LENGTHS = np.array([5, 3, 0, 6])
N_WORDS = 4
BETA = np.array([0.5, 1.0, 0.3, 0.7])
# Shapes and rates that keep the chain from wandering far.
ALPHA, GAMMA = (4.0, 3.0), (5.0, 3.0)


def draw_words(rng: np.random.Generator, topic: Any) -> Any:
    upto = np.cumsum(rng.dirichlet(BETA, int(topic.max()) + 1), axis=1)
    return (rng.random((len(topic), 1)) > upto[topic, :-1]).sum(axis=1)


def statistics(topic: Any, tokens: Any, alpha: float, gamma: float, n_tables: int) -> list[float]:
    sizes, doc = np.bincount(topic), np.repeat(np.arange(4), LENGTHS)
    together = topic[:, None] == topic
    words = tokens[:, None] == tokens
    return [
        len(np.unique(topic)),
        (sizes**2).sum(),
        n_tables,
        alpha,
        alpha**2,
        gamma,
        gamma**2,
        np.log(alpha) * n_tables,
        np.log(gamma) * len(np.unique(topic)),
        (together & words).sum(),
        (together & (doc[:, None] != doc)).sum(),
        (tokens == 0).sum(),
    ]


def forward(n: int, seed: int) -> Any:
    rng, rows = np.random.default_rng(seed), []
    for _ in range(n):
        alpha, gamma = rng.gamma(ALPHA[0]) / ALPHA[1], rng.gamma(GAMMA[0]) / GAMMA[1]
        topic, tables = franchise(rng, LENGTHS, alpha, gamma)
        rows.append(statistics(topic, draw_words(rng, topic), alpha, gamma, int(tables.sum())))
    return np.array(rows)


def backward(n: int, seed: int) -> Any:
    rng, rows = np.random.default_rng(seed), []
    docs = np.split(rng.integers(0, N_WORDS, LENGTHS.sum()), np.cumsum(LENGTHS)[:-1])
    starts = ALPHA[0] / ALPHA[1], GAMMA[0] / GAMMA[1]
    pair = [Concentration(start, prior) for start, prior in zip(starts, (ALPHA, GAMMA), strict=True)]
    sampler = sampler_of(docs, BETA, *pair)
    chain = sampler.start(seed, 0)
    for sweep in range(1, n + 1):
        run(sampler, chain, sweep, seed)
        chain.priors = chain.priors._replace(history=np.zeros((0, 3)))
        # New words given the topics, in place: the sampler's own copy of the corpus.
        sampler.words.tokens[:] = draw_words(rng, chain.shards[0].astype(np.int64))
        chain.counts.word_topic[:], chain.counts.topic[:] = 0, 0
        kernels.count(sampler.words.tokens, chain.shards[0], chain.counts)
        priors = chain.priors
        topic = chain.shards[0].astype(np.int64)
        rows.append(statistics(topic, sampler.words.tokens, priors.alpha, priors.gamma, int(priors.tables.sum())))
    return np.array(rows)


def errors_apart(one: Any, two: Any) -> Any:
    """Difference of means in standard errors; those of the second, a chain, by batch means."""
    batches = two.reshape(40, -1, two.shape[1]).mean(axis=1)
    variance = one.var(axis=0) / len(one) + batches.var(axis=0, ddof=1) / 40
    return (one.mean(axis=0) - two.mean(axis=0)) / np.sqrt(variance)


def test_prior_and_sampler_agree() -> None:
    found = errors_apart(forward(4_000, 1), backward(8_000, 2))
    assert (np.abs(found) < 4).all(), found


@pytest.mark.slow
def test_prior_and_sampler_agree_in_a_long_run() -> None:
    found = errors_apart(forward(30_000, 3), backward(60_000, 4))
    assert (np.abs(found) < 4).all(), found
