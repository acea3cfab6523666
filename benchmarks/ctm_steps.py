"""Ways of drawing a document's eta in a correlated topic model, by effective samples per second.

    python -m benchmarks.ctm_steps [--topics 20] [--docs 400] [--length 80] [--seconds 20]

Whole chains on a simulated corpus: tokens' topics, eta, mean and covariance are all drawn, and only the step of eta
differs. All chains begin at the truth. Effective samples are of shares of topics in documents, and of covariances;
seconds are those of the processor.
"""

from __future__ import annotations

import argparse
import math
import time
from typing import Any

import numpy as np

from topoi.engine.gibbs import Chain
from topoi.kernels.counts import make_inverses
from topoi.kernels.jit import compiled, lean
from topoi.kernels.random import new_stream, uniform
from topoi.kernels.special import normal as draw_normal
from topoi.models.ctm import kernels, normal
from topoi.models.ctm.sampler import CorrelatedSampler
from topoi.models.ctm.simulate import simulate

from .report import Report, add_json, progress

_CUT = 0.64
STEPS = {
    "exact conditionals": 0,
    "Pólya–Gamma": 1,
    "elliptical slice, 5": 2,
    "exact, twice": 3,
    "exact and slice, 5": 4,
}
COLUMNS = {
    "step": "step",
    "rate": "sweeps/s|.1f",
    "shares_least": "shares: least ESS/s|.2f",
    "shares": "median|.2f",
    "covariances_least": "covariances: least ESS/s|.2f",
    "covariances": "median|.2f",
}


@lean
def _series(n, x):
    """Terms of the alternating series of the Jacobi density."""
    middle = (n + 0.5) * math.pi
    if x > _CUT:
        return middle * math.exp(-middle * middle * x / 2)
    return middle * (2 / math.pi / x) ** 1.5 * math.exp(-2 * (n + 0.5) * (n + 0.5) / x)


@lean
def _inverse_gaussian(z, stream):
    """An inverse Gaussian of mean 1/z below the cut."""
    if z < 1 / _CUT:
        while True:
            first, second = -math.log(1 - uniform(stream)), -math.log(1 - uniform(stream))
            if first * first <= 2 * second / _CUT:
                x = _CUT / (1 + _CUT * first) ** 2
                if uniform(stream) <= math.exp(-0.5 * z * z * x):
                    return x
    while True:
        y = draw_normal(stream) ** 2
        x = 1 / z + 0.5 / (z * z) * (y - math.sqrt(4 * z * y + y * y))
        if uniform(stream) > 1 / (1 + z * x):
            x = 1 / (z * z * x)
        if x <= _CUT:
            return x


@lean
def _below(x):
    return 0.5 * math.erfc(-x / math.sqrt(2.0))


@lean
def polya_gamma_one(tilt, stream):
    """PG(1, tilt) by Devroye's method (Polson, Scott and Windle 2013)."""
    z = 0.5 * abs(tilt)
    rate = math.pi**2 / 8 + z * z / 2
    p = math.pi / (2 * rate) * math.exp(-rate * _CUT)
    root = math.sqrt(1 / _CUT)
    q = 2 * math.exp(-z) * (_below(root * (_CUT * z - 1)) + math.exp(2 * z) * _below(-root * (_CUT * z + 1)))
    while True:
        if uniform(stream) < p / (p + q):
            x = _CUT - math.log(1 - uniform(stream)) / rate
        else:
            x = _inverse_gaussian(z, stream)
        total = _series(0, x)
        y = uniform(stream) * total
        n = 0
        while True:
            n += 1
            if n % 2:
                total -= _series(n, x)
                if y <= total:
                    return 0.25 * x
            else:
                total += _series(n, x)
                if y > total:
                    break


@lean
def polya_gamma_eta(eta, d, number, gaussian, scratch, stream):
    """Components in turn by Pólya–Gamma augmentation (Chen, Zhu, Wang, Zheng and Zhang 2013)."""
    mean, precision = gaussian
    n_topics = len(number)
    n = 0.0
    for k in range(n_topics):
        n += number[k]
    for k in range(n_topics):
        pull, others = 0.0, 0.0
        for j in range(n_topics):
            pull += precision[k, j] * (eta[d, j] - mean[j])
            if j != k:
                others += math.exp(eta[d, j])
        against, own = math.log(others), precision[k, k]
        centre, tilt = eta[d, k] - pull / own, eta[d, k] - against
        weight = 0.0
        for _ in range(int(n)):
            weight += polya_gamma_one(tilt, stream)
        total = own + weight
        middle = (own * centre + number[k] - 0.5 * n + weight * against) / total
        eta[d, k] = middle + draw_normal(stream) / math.sqrt(total)
    middle = 0.0
    for k in range(n_topics):
        middle += eta[d, k] / n_topics
    for k in range(n_topics):
        eta[d, k] -= middle


@lean
def _log_likelihood(eta, number, n):
    top, total, found = -np.inf, 0.0, 0.0
    for k in range(len(number)):
        top = max(top, eta[k])
    for k in range(len(number)):
        total += math.exp(eta[k] - top)
        found += number[k] * eta[k]
    return found - n * (top + math.log(total))


@lean
def slice_eta(eta, d, number, mean, root, room, stream):
    """One step of elliptical slice sampling (Murray, Adams and MacKay 2010)."""
    n_topics = len(number)
    n = 0.0
    for k in range(n_topics):
        n += number[k]
        room[0, k] = 0.0
    for j in range(root.shape[0]):
        x = draw_normal(stream)
        for k in range(n_topics):
            room[0, k] += x * root[j, k]
    bound = _log_likelihood(eta[d], number, n) + math.log(1 - uniform(stream))
    angle = 2 * math.pi * uniform(stream)
    low, high = angle - 2 * math.pi, angle
    while True:
        for k in range(n_topics):
            room[1, k] = mean[k] + (eta[d, k] - mean[k]) * math.cos(angle) + room[0, k] * math.sin(angle)
        if _log_likelihood(room[1], number, n) > bound:
            break
        if angle < 0:
            low = angle
        else:
            high = angle
        angle = low + (high - low) * uniform(stream)
    for k in range(n_topics):
        eta[d, k] = room[1, k]


@compiled
def sweep(documents, state, counts, words, gaussian, root, step, stream):
    """``kernels.sweep`` with another step of eta."""
    scratch = kernels.make_scratch(counts.topic.shape[0])
    inverses = make_inverses(counts.topic, words.beta_sum, counts.word_topic.shape[1])
    room = np.zeros((2, counts.topic.shape[0]))
    for d in range(documents.doc_start.shape[0] - 1):
        kernels.set_power(state.eta, d, scratch.power)
        kernels.sweep_tokens(documents, d, state.topic, counts, words, np.float32(0.0), scratch, inverses, stream)
        kernels.count_topics(documents, d, state.topic, scratch.number)
        if step == 1:
            polya_gamma_eta(state.eta, d, scratch.number, gaussian, scratch, stream)
        if step == 0 or step == 3 or step == 4:
            kernels.draw_eta(state.eta, d, scratch.number, gaussian, scratch, stream)
        if step == 3:
            kernels.draw_eta(state.eta, d, scratch.number, gaussian, scratch, stream)
        if step == 2 or step == 4:
            for _ in range(5):
                slice_eta(state.eta, d, scratch.number, gaussian.mean, root, room, stream)


class OtherSampler(CorrelatedSampler):
    """The sampler with another step of eta."""

    step = 0

    def sample(self, chain, shard, counts, stream):
        """Draw topics and eta."""
        mine, priors = chain.shards[shard], chain.priors
        values, vectors = np.linalg.eigh(priors.covariance)
        root = np.ascontiguousarray((vectors[:, 1:] * np.sqrt(np.maximum(values[1:], 0))).T)
        sweep(mine.documents, mine.state, counts, priors.words, priors.gaussian, root, self.step, stream)


def effective(draws: np.ndarray) -> np.ndarray:
    """Effective samples of each column, by arviz."""
    import arviz

    return np.array([float(arviz.ess(np.ascontiguousarray(column)[None])) for column in draws.T])


def truth_chain(sampler: OtherSampler, truth) -> Chain:
    """A chain at the truth of a simulated corpus."""
    chain = sampler.start(0, 0)
    shard = chain.shards[0]
    shard.state.topic[:], shard.state.eta[:] = truth.topic, truth.eta
    sampler.recount(chain)
    gaussian = normal.gaussian(truth.mean, truth.covariance)
    chain.priors = chain.priors._replace(gaussian=gaussian, covariance=truth.covariance)
    return chain


def measured(name: str, sampler: OtherSampler, truth, cells, pairs, least: float) -> dict[str, Any]:
    """Sweeps and effective samples a second of one way, after twenty sweeps."""
    progress(name)
    step = sampler.step = STEPS[name]
    chain = truth_chain(sampler, truth)
    chain.seed, shares, covariances, sweeps, began = 3, [], [], 0, 0.0
    while sweeps < 20 or time.process_time() - began < least:
        sweeps += 1
        if sweeps == 20:
            began, shares, covariances = time.process_time(), [], []
        sampler.sample(chain, 0, chain.counts, new_stream(3, step, sweeps))
        sampler.learn(chain, sweeps)
        eta = chain.shards[0].state.eta
        shares.append((np.exp(eta) / np.exp(eta).sum(axis=1, keepdims=True))[cells])
        covariances.append(chain.priors.covariance[pairs[0], pairs[1]])
    spent = time.process_time() - began
    row: dict[str, Any] = {"step": name, "rate": (sweeps - 20) / spent}
    for key, draws in (("shares", shares), ("covariances", covariances)):
        found = effective(np.array(draws)) / spent
        row |= {f"{key}_least": float(np.quantile(found, 0.05)), key: float(np.median(found))}
    return row


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in (("topics", 20), ("docs", 400), ("length", 80), ("seconds", 20)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--only", nargs="*", type=int, default=list(STEPS.values()))
    add_json(parser)
    given = parser.parse_args()
    hyper, beta = normal.Hyper(1.0, 2.0 * given.topics, 1.0), np.full(500, 0.05)
    corpus = simulate(given.docs, given.length, given.topics, beta, hyper, random_state=1)
    rng = np.random.default_rng(0)
    cells = rng.integers(0, given.docs, 60), rng.integers(0, given.topics, 60)
    pairs = rng.integers(0, given.topics, (2, 60))
    report, rows = Report(), []
    for name in [name for name, step in STEPS.items() if step in given.only]:
        sampler = OtherSampler(corpus, given.topics, beta, hyper)
        rows.append(measured(name, sampler, corpus.truth, cells, pairs, given.seconds))
    report.section("steps", "Steps of eta", rows, COLUMNS, "least: a twentieth of the 60 numbers have fewer.")
    report.write(given.json)


if __name__ == "__main__":
    main()
