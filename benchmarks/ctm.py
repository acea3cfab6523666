"""Correlated topic models: processor seconds a sweep, and what they predict, beside tomotopy and topica.

    TOPOI_DATA=… python -m benchmarks.ctm [--topics 40 100] [--turns 5] [--sweeps 300] [--peer-sweeps 100]

Abstracts of NIPS, one thread. Sweeps of topoi and of tomotopy's CTModel alternate. topica's CTM is variational, so that
its iterations are no sweeps: only its fit is timed. Held-out documents, a tenth, are scored by one piece of code, the
particle filter of topoi, to which each system gives its topics' words and the mean and covariance of eta.
"""

from __future__ import annotations

import argparse
import time
from statistics import median
from typing import Any

import numpy as np

import topoi
from topoi.engine.executors import SerialExecutor
from topoi.engine.gibbs import sweep_chains
from topoi.kernels.random import new_stream
from topoi.models.ctm import inference, normal
from topoi.models.ctm.normal import Hyper
from topoi.models.ctm.sampler import CorrelatedSampler

from .report import Report, add_json, progress

BETA, RUNS, PARTICLES = 0.01, 4, 48
SPEED_COLUMNS = {
    "n_topics": "K",
    "topoi": "topoi, CPU s a sweep|.4f",
    "tomotopy": "tomotopy|.3f",
    "ratio": "ratio|.0f",
}
QUALITY_COLUMNS = {
    "n_topics": "K",
    "system": "system",
    "sweeps": "sweeps",
    "seconds": "CPU s|.0f",
    "perplexity": "perplexity|.1f",
}


def texts(corpus: topoi.Corpus) -> list[list[str]]:
    """Documents as lists of words."""
    words = [str(word) for word in corpus.words]
    return [[words[w] for w in part] for part in np.split(corpus.tokens, corpus.doc_start[1:-1])]


def tomotopy_model(documents: list[list[str]], n_topics: int, beta: float = BETA, seed: int = 1) -> Any:
    """Tomotopy's model with all documents, before its first sweep."""
    import tomotopy

    model = tomotopy.CTModel(k=n_topics, eta=beta, seed=seed)
    for document in documents:
        if document:
            model.add_doc(document)
    return model


def speed(corpus: topoi.Corpus, n_topics: int, turns: int) -> dict[str, Any]:
    """Seconds a sweep; turns alternate."""
    progress(f"speed: K = {n_topics}")
    hyper = Hyper(1.0, 2.0 * n_topics, 1.0)
    sampler = CorrelatedSampler(corpus, n_topics, np.full(corpus.n_words, BETA), hyper)
    chain, peer, sweep = sampler.start(0, 0), tomotopy_model(texts(corpus), n_topics), 0
    seconds: dict[str, list[float]] = {"topoi": [], "tomotopy": []}
    for turn in range(turns + 1):
        began = time.process_time()
        for _ in range(10):
            sweep += 1
            sweep_chains(sampler, [chain], sweep, 0, SerialExecutor())
        middle = time.process_time()
        peer.train(1, workers=1)
        if turn:  # the first turn compiles
            seconds["topoi"].append((middle - began) / 10)
            seconds["tomotopy"].append(time.process_time() - middle)
    ours, theirs = (median(seconds[name]) for name in seconds)
    return {"n_topics": n_topics, "topoi": ours, "tomotopy": theirs, "ratio": theirs / ours}


def held_out(test: topoi.Corpus, words: list[str], topic_word: Any, mean: Any, covariance: Any) -> float:
    """Perplexity of held-out documents; words that a system lacks have the least probability of any."""
    column = {word: w for w, word in enumerate(words)}
    phi = np.asarray(topic_word, np.float64)
    phi = np.concatenate((phi, np.full((len(phi), 1), phi.min())), axis=1)
    place = np.array([column.get(str(word), phi.shape[1] - 1) for word in test.words])
    mean, covariance = np.asarray(mean, np.float64), normal.centred(np.asarray(covariance, np.float64))
    gaussian, root = normal.gaussian(mean - mean.mean(), covariance), normal.root(covariance)
    total = 0.0
    for d, part in enumerate(np.split(test.tokens, test.doc_start[1:-1])):
        rows = np.ascontiguousarray(phi[:, place[part]].T)
        logs = [
            inference.log_likelihood(rows, gaussian, root, PARTICLES, 4, 0.5, True, new_stream(7, d, run))
            for run in range(RUNS)
        ]
        total += np.logaddexp.reduce(logs) - np.log(RUNS)
    return float(np.exp(-total / test.n_tokens))


def quality(corpus: topoi.Corpus, n_topics: int, n_sweeps: int, peer_sweeps: int) -> list[dict[str, Any]]:
    """Held-out perplexities of three systems."""
    train, test = corpus.split(test_size=0.1, random_state=0)
    documents, words = texts(train), [str(word) for word in train.words]
    rows = []

    def score(system: str, sweeps: int | None, began: float, *parts: Any) -> None:
        row = {"n_topics": n_topics, "system": system, "sweeps": sweeps, "seconds": time.process_time() - began}
        progress(f"quality: K = {n_topics}, {system} took {row['seconds']:.0f} CPU s")
        rows.append(row | {"perplexity": held_out(test, *parts)})

    began = time.process_time()
    ours = topoi.CorrelatedTopicModel(n_topics, beta=BETA, n_iter=n_sweeps, random_state=0).fit(train)
    score("topoi", n_sweeps, began, words, ours.topic_word_, ours.mean_, ours.covariance_)
    began = time.process_time()
    import topica

    theirs = topica.CTM(n_topics, seed=1)
    theirs.fit([document for document in documents if document], num_threads=1)
    covariance = np.zeros((n_topics, n_topics))  # the last topic is the reference, of which eta is zero
    covariance[:-1, :-1] = np.asarray(theirs.topic_covariance)[: n_topics - 1, : n_topics - 1]
    mean = np.append(np.asarray(theirs.eta_mean)[:, : n_topics - 1].mean(axis=0), 0.0)
    score("topica", None, began, list(theirs.vocabulary), theirs.topic_word, mean, covariance)
    began = time.process_time()
    peer = tomotopy_model(documents, n_topics)
    peer.train(peer_sweeps, workers=1)
    topic_word = np.array([peer.get_topic_word_dist(k) for k in range(n_topics)])
    parts = list(peer.used_vocabs), topic_word, peer.prior_mean, peer.prior_cov
    score("tomotopy", peer_sweeps, began, *parts)
    return rows


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--topics", nargs="*", type=int, default=[40, 100])
    for name, default in (("turns", 5), ("sweeps", 300), ("peer-sweeps", 100)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--no-quality", action="store_true")
    add_json(parser)
    given = parser.parse_args()
    corpus, report = topoi.load_dataset("nips12-abstracts"), Report()
    rows = [speed(corpus, n_topics, given.turns) for n_topics in given.topics]
    report.section("speed", "A sweep, one thread", rows, SPEED_COLUMNS)
    for n_topics in [] if given.no_quality else given.topics:
        rows = quality(corpus, n_topics, given.sweeps, given.peer_sweeps)
        report.section("quality", f"Held-out documents, K = {n_topics}", rows, QUALITY_COLUMNS)
    report.write(given.json)


if __name__ == "__main__":
    main()
