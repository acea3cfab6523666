"""The sampler of the hierarchical Dirichlet process against its equations, enumeration, and the generative story."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from scipy.special import logsumexp

import topoi
from topoi.engine.gibbs import Chain
from topoi.kernels.random import new_stream
from topoi.models.hdp import equations, kernels
from topoi.models.hdp.sampler import Concentration, HdpSampler


def corpus_of(docs: list[Any], n_words: int) -> topoi.Corpus:
    words = [f"w{w}" for w in range(n_words)]
    return topoi.Corpus.from_tokens([[words[w] for w in doc] for doc in docs], words=words)


def sampler_of(docs: list[Any], beta: Any, alpha: Any = 0.8, gamma: Any = 1.3, **more: Any) -> HdpSampler:
    pair = [each if isinstance(each, Concentration) else Concentration(each) for each in (alpha, gamma)]
    settings = {"n_topics": 2, "max_topics": 100} | more
    return HdpSampler(corpus_of(docs, len(beta)), settings["n_topics"], settings["max_topics"], *pair, np.array(beta))


def random_docs(rng: np.random.Generator, n_words: int, lengths: Any) -> list[Any]:
    return [rng.integers(0, n_words, n) for n in lengths]


def random_state(seed: int, n_topics: int = 4, n_words: int = 5) -> tuple[Any, ...]:
    """Documents, topics of which every one has a token, shares, and a chain in that state."""
    rng = np.random.default_rng(seed)
    docs = random_docs(rng, n_words, [7, 5, 0, 9])
    topic = np.concatenate([np.arange(n_topics), rng.integers(0, n_topics, 21 - n_topics)]).astype(np.uint16)
    beta, alpha = rng.uniform(0.1, 2, n_words), float(rng.uniform(0.3, 5))
    sampler = sampler_of(docs, beta, alpha)
    b = rng.dirichlet(np.ones(n_topics + 1))
    weights = (alpha * b).astype(np.float32)
    arrays = sampler.to_arrays(sampler.start(seed, 0))
    arrays |= {"topic": topic, "weights": weights, "tables": np.ones(n_topics, np.int64)}
    chain = sampler.restore(0, arrays | {"concentrations": np.array([alpha, 1.3])}, [])
    return docs, np.split(topic.astype(int), np.cumsum([7, 5, 0])), alpha, b, beta, sampler, chain


def run(sampler: HdpSampler, chain: Chain, sweep: int, seed: int = 3) -> None:
    chain.sweep, chain.seed = sweep, seed
    sampler.sample(chain, 0, chain.counts, new_stream(seed, chain.index, sweep, 0))
    sampler.learn(chain, sweep)


# Conditionals.


@pytest.mark.parametrize(("seed", "n_topics"), [(0, 1), (1, 4), (2, 15), (3, 16), (4, 17)])
def test_lanes_have_the_conditional_of_the_equation(seed: int, n_topics: int) -> None:
    docs, z, alpha, b, beta, sampler, chain = random_state(seed, n_topics)
    at = 0
    for d, doc in enumerate(docs):
        for i in range(len(doc)):
            expected = equations.conditional(docs, z, d, i, alpha, b, sampler.words.beta.astype(float))
            how = sampler.words, chain.shards[0], chain.counts, chain.priors.weights, n_topics + 1
            found = kernels.lane_weights(*how, d, at)
            np.testing.assert_allclose(found / found.sum(), expected, rtol=1e-5, atol=1e-7)
            at += 1


def test_equation_is_the_ratio_of_joints() -> None:
    """Equation 1 follows from the joint of words and topics, with a share of zero tokens for a new topic."""
    docs, z, alpha, b, beta, _, _ = random_state(5)
    for d, i in ((0, 2), (1, 0), (3, 8)):
        logs = []
        for k in range(len(b)):
            changed = [each.copy() for each in z]
            changed[d][i] = k
            room = np.append(b, 0.0)  # the new topic is one of those that joints are about
            room[-1] = 1e-300
            logs.append(equations.log_words(docs, changed, beta) + equations.log_topics(changed, alpha, room))
        expected = np.exp(logs - logsumexp(logs))
        np.testing.assert_allclose(equations.conditional(docs, z, d, i, alpha, b, beta), expected, rtol=1e-9)


def test_log_joint_is_that_of_the_equations() -> None:
    docs, z, alpha, b, beta, sampler, chain = random_state(6)
    expected = equations.log_words(docs, z, beta) + equations.log_topics(z, alpha, b)
    assert sampler.log_joint(chain) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize(("n", "weight"), [(1, 0.3), (4, 0.3), (6, 2.5)])
def test_tables_are_antoniaks(n: int, weight: float) -> None:
    stream, weights = new_stream(n), np.array([weight], np.float32)
    seen = np.zeros(n + 1)
    for _ in range(20_000):
        seen[kernels.draw_tables(np.array([0, n]), np.zeros(n, np.uint16), weights, 1, stream)[0]] += 1
    expected = equations.table_probabilities(n, weight)
    assert (np.abs(seen / 20_000 - expected) < 5 * np.sqrt(expected * (1 - expected) / 20_000) + 1e-12).all()


def quantiles_agree(draws: Any, grid: Any, logs: Any) -> None:
    """The draws' ranks under a density given on a grid are uniform: nine quantiles, five errors of batch means."""
    weight = np.exp(logs - logs.max()) * np.gradient(grid)
    cumulative = np.cumsum(weight) / weight.sum()
    for q in np.arange(0.1, 1.0, 0.1):
        below = draws < np.interp(q, cumulative, grid)
        batches = below.reshape(50, -1).mean(axis=1)
        assert abs(batches.mean() - q) < 5 * batches.std() / np.sqrt(50) + 1e-3, q


def test_gamma_is_drawn_from_its_posterior() -> None:
    stream, value, draws = new_stream(1), 1.0, []
    for _ in range(20_000):
        value = kernels.draw_gamma(value, 3, 11, 1.5, 0.4, stream)
        draws.append(value)
    grid = np.exp(np.linspace(-8, 4, 4001))
    quantiles_agree(np.array(draws), grid, equations.log_posterior_gamma(grid, 3, 11, 1.5, 0.4))


def test_alpha_is_drawn_from_its_posterior() -> None:
    stream, value, draws, lengths = new_stream(2), 1.0, [], np.array([4, 0, 9, 1, 6])
    for _ in range(20_000):
        value = kernels.draw_alpha(value, lengths, 7, 2.0, 0.7, stream)
        draws.append(value)
    grid = np.exp(np.linspace(-8, 4, 4001))
    quantiles_agree(np.array(draws), grid, equations.log_posterior_alpha(grid, lengths, 7, 2.0, 0.7))


def test_shares_are_drawn_from_their_dirichlet() -> None:
    stream, tables = new_stream(3), np.array([4, 1, 2])
    draws = np.array([kernels.draw_shares(tables, 1.5, stream) for _ in range(20_000)])
    mean = np.array([4, 1, 2, 1.5]) / 8.5
    np.testing.assert_allclose(draws.mean(axis=0), mean, atol=5 * 0.2 / np.sqrt(20_000))
    np.testing.assert_allclose(draws.var(axis=0), mean * (1 - mean) / 9.5, rtol=0.06)


def test_sticks_are_broken_by_beta() -> None:
    stream, shares = new_stream(4), []
    for _ in range(20_000):
        weights = np.array([0.5, 2.0, 0.0], np.float32)
        kernels.break_stick(weights, 1, 3.0, stream)
        shares.append(weights[1] / 2.0)
        assert weights[1] + weights[2] == pytest.approx(2.0, rel=1e-6) and weights[0] == 0.5
    assert np.mean(shares) == pytest.approx(0.25, abs=5 * 0.2 / np.sqrt(20_000))
    assert np.quantile(shares, 0.5) == pytest.approx(1 - 0.5 ** (1 / 3), abs=0.01)


# Enumeration.


def partitions(n: int) -> list[tuple[int, ...]]:
    """All partitions of ``n`` tokens, as topics numbered by first occurrence."""
    found: list[tuple[int, ...]] = [()]
    for _ in range(n):
        found = [(*p, k) for p in found for k in range(max(p, default=-1) + 2)]
    return found


def canonical(topic: Any) -> tuple[int, ...]:
    first: dict[int, int] = {}
    return tuple(first.setdefault(k, len(first)) for k in topic.tolist())


@pytest.mark.parametrize(("alpha", "gamma"), [(0.8, 1.3), pytest.param(3.0, 0.4, marks=pytest.mark.slow)])
def test_partitions_have_their_exact_probabilities(alpha: float, gamma: float) -> None:
    """Every partition of five tokens, with shares and tables summed over, against long runs of the sampler."""
    docs, beta = [np.array([0, 1, 0]), np.array([1, 1])], np.array([0.6, 0.3], np.float32).astype(float)
    states = partitions(5)
    logs = []
    for state in states:
        z = [np.array(state[:3]), np.array(state[3:])]
        logs.append(equations.log_partition(z, alpha, gamma) + equations.log_words(docs, z, beta))
    exact = np.exp(logs - logsumexp(logs))
    sampler = sampler_of(docs, beta, alpha, gamma)
    chain, n = sampler.start(5, 0), 40_000
    number = {state: j for j, state in enumerate(states)}
    seen = np.zeros((40, len(states)))
    for sweep in range(n):
        run(sampler, chain, sweep + 1, seed=5)
        chain.priors = chain.priors._replace(history=np.zeros((0, 3)))
        seen[sweep * 40 // n, number[canonical(chain.shards[0])]] += 1
    frequency = seen / seen.sum(axis=1, keepdims=True)
    error = frequency.std(axis=0, ddof=1) / np.sqrt(40)
    assert (np.abs(frequency.mean(axis=0) - exact) < 4.5 * error + 3e-4).all()
    n_topics = np.array([max(state) + 1 for state in states])
    for k in range(1, 4):
        batches = frequency[:, n_topics == k].sum(axis=1)
        assert abs(batches.mean() - exact[n_topics == k].sum()) < 4 * batches.std(ddof=1) / np.sqrt(40), k


def test_partitions_of_the_prior_sum_to_one() -> None:
    """The exact sum that the sampler is compared with is itself a distribution."""
    total = [equations.log_partition([np.array(s[:3]), np.array(s[3:])], 0.8, 1.3) for s in partitions(5)]
    assert np.exp(logsumexp(total)) == pytest.approx(1.0, rel=1e-9)


# Invariants.


def recount_is_the_same(sampler: HdpSampler, chain: Chain) -> None:
    again = sampler.restore(0, sampler.to_arrays(chain), [])
    n = chain.priors.n_topics
    width = min(len(chain.counts.topic), len(again.counts.topic))
    assert np.array_equal(chain.counts.word_topic[:, :width], again.counts.word_topic[:, :width])
    assert np.array_equal(chain.counts.topic[:width], again.counts.topic[:width])
    assert not chain.counts.topic[n:].any() and not chain.counts.word_topic[:, n:].any()
    assert (np.diff(chain.counts.topic[:n]) <= 0).all() and (chain.counts.topic[:n] > 0).all()
    assert (chain.priors.tables >= 1).all() and chain.priors.tables.sum() <= sampler.n_tokens
    assert chain.priors.weights[: n + 1].sum() == pytest.approx(chain.priors.alpha, rel=1e-5)
    assert not chain.priors.weights[n + 1 :].any()


def test_counts_are_a_recount_while_topics_come_and_go() -> None:
    rng = np.random.default_rng(0)
    drawn = Concentration(2.0, (4.0, 2.0)), Concentration(8.0, (8.0, 1.0))
    sampler = sampler_of(random_docs(rng, 30, [20] * 12), np.full(30, 0.05), *drawn, n_topics=1)
    chain, numbers = sampler.start(0, 0), Counter()
    for sweep in range(1, 40):
        run(sampler, chain, sweep)
        recount_is_the_same(sampler, chain)
        numbers[chain.priors.n_topics] += 1
    assert len(numbers) > 3 and max(numbers) > 5


def test_counts_are_widened_within_a_sweep_without_changing_a_draw() -> None:
    rng = np.random.default_rng(1)
    docs = random_docs(rng, 60, [25] * 12)
    chains = []
    for wide in (False, True):
        sampler = sampler_of(docs, np.full(60, 0.01), 30.0, 200.0, n_topics=1)
        chain = sampler.start(0, 0)
        if wide:
            sampler.widen(chain, 500)
        for sweep in range(1, 4):
            run(sampler, chain, sweep)
        chains.append(chain)
    one, two = chains
    assert one.priors.n_topics > 33
    assert np.array_equal(one.shards[0], two.shards[0]) and one.priors.alpha == two.priors.alpha
    recount_is_the_same(sampler, one)


@pytest.mark.parametrize("most", [5, 16])
def test_there_are_never_more_topics_than_allowed(most: int) -> None:
    rng = np.random.default_rng(1)
    sampler = sampler_of(random_docs(rng, 60, [25] * 12), np.full(60, 0.01), 30.0, 200.0, n_topics=1, max_topics=most)
    chain = sampler.start(0, 0)
    for sweep in range(1, 6):
        run(sampler, chain, sweep)
        recount_is_the_same(sampler, chain)
    assert chain.priors.history[:, 0].max() == most
    assert sampler.notes([chain])["max_topics_reached"]


def test_samples_are_renumbered_with_the_topics() -> None:
    """A topic keeps its tokens in earlier samples under its new number; tokens of a dead one take their present one."""
    docs = [np.array([0, 1, 2, 0]), np.array([1, 2])]
    sampler = sampler_of(docs, np.ones(3))
    arrays = sampler.to_arrays(sampler.start(0, 0))
    arrays |= {"weights": np.array([0.1, 0.2, 0.3, 0.4], np.float32), "tables": np.ones(3, np.int64)}
    chain = sampler.restore(0, arrays | {"topic": np.array([2, 2, 1, 2, 1, 2], np.uint16)}, [])
    before = np.array([0, 2, 1, 2, 1, 0], np.uint16)
    chain.samples = {1: {"topic": before}}
    sampler.settle(chain)
    assert chain.shards[0].tolist() == [0, 0, 1, 0, 1, 0] and chain.priors.n_topics == 2
    np.testing.assert_allclose(chain.priors.weights[:3], [0.3, 0.2, 0.0])  # of new topics: drawn next
    assert chain.counts.topic[:3].tolist() == [4, 2, 0]
    assert chain.samples[1]["topic"].tolist() == [0, 0, 1, 0, 1, 0]
    assert before.tolist() == [0, 2, 1, 2, 1, 0]  # what an interrupted fit would return to is as it was


# Files.


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("topic", np.full(21, 4, np.uint16), "topics of words do not fit"),
        ("topic", np.zeros(20, np.uint16), "topics of words do not fit"),
        ("topic", np.zeros(21, np.int64), "topics of words do not fit"),
        ("beta", np.ones(5), "beta is not that"),
        ("tables", np.array([1, 1, 1, 0]), "tables of topics"),
        ("tables", np.ones(4), "tables of topics"),
        ("history", np.zeros((3, 2)), "tables of topics"),
        ("weights", np.array([1, 1, 1, 0, 1], np.float32), "weights of topics"),
        ("weights", np.ones(5), "weights of topics"),
        ("weights", np.ones(4, np.float32), "weights of topics"),
        ("weights", np.array([1, 1, 1, 1, np.nan], np.float32), "weights of topics"),
        ("concentrations", np.array([1.0, -1.0]), "weights of topics"),
        ("concentrations", np.ones(3), "weights of topics"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(name: str, value: Any, said: str) -> None:
    *_, sampler, chain = random_state(0)
    arrays = sampler.to_arrays(chain)
    with pytest.raises(topoi.ModelError, match=said):
        sampler.restore(0, arrays | {name: value}, [])


def test_samples_that_do_not_fit_are_refused() -> None:
    *_, sampler, _ = random_state(0)
    with pytest.raises(topoi.ModelError, match="a topic that is not there"):
        sampler.check_sample({"topic": np.full(21, 100, np.uint16)})
