"""How far estimates of documents' probabilities are off, and whether their errors say so: tables of docs/evaluation.md.

    python -m studies.likelihood_errors                              # the first two tables, a few minutes
    TOPOI_DATA=… python -m studies.likelihood_errors --part real     # the third: a real corpus

Topics and documents of the first two are drawn, so that nothing but the estimator is at work. The truth is that of
filters with very many particles. Rules for errors were chosen on other documents.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

import topoi
from topoi.corpus.vocabulary import Vocabulary
from topoi.models.filtering import spread_words
from topoi.models.scores import log_mean_exp
from topoi.models.simulation import dirichlet_rows

ALPHAS = (0.01, 0.03, 0.1, 0.5, 1.0)
# Words of a document: documents, and particles of each of four filters.
LONG = {30: (20, 3000), 300: (6, 800), 1500: (2, 400)}
SHORT = {10: (24, 2000), 60: (12, 2000), 300: (6, 600)}
STATED_ALPHAS = (0.03, 0.1, 0.5, 1.0)
SEED = 5


def problem(
    n_topics: int, n_words: int, alpha: float, length: int, n_docs: int, seed: int | None = SEED
) -> tuple[Any, topoi.Corpus]:
    """A model with known topics, and documents that it has drawn."""
    rng = np.random.default_rng(0 if seed is None else (seed, length, int(1000 * alpha)))
    topics = rng.dirichlet(np.full(n_words, 0.05), n_topics) + 1e-7
    topics /= topics.sum(axis=1, keepdims=True)
    shares = dirichlet_rows(rng, np.full(n_topics, alpha), n_docs)
    tokens = [rng.choice(n_words, p=topics[k]) for share in shares for k in rng.choice(n_topics, length, p=share)]
    words = [f"w{i}" for i in range(n_words)]
    start = np.arange(n_docs + 1) * length
    corpus = topoi.Corpus(tokens=np.array(tokens, np.int32), doc_start=start, vocabulary=Vocabulary(words))
    return topoi.AspectModel.from_parameters(topics, alpha, words=words), corpus


def truth(model: Any, corpus: topoi.Corpus, n_particles: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Log probabilities by four large filters, and their standard errors."""
    chain, documents = model.chains_[0], model.read_documents(corpus)[1]
    each = [chain.log_likelihood(spread_words(chain, documents), 900 + s, n_particles, 4) for s in range(4)]
    return log_mean_exp(np.stack(each)), np.std(each, axis=0, ddof=1) / 2


def growth() -> None:
    """Errors of perplexity and times of 20 particles and of as many as it takes."""
    print("| words | alpha | 20 particles | auto | particles | time |\n|---:|---:|---:|---:|---:|---:|")
    for length, (n_docs, n_particles) in LONG.items():
        for alpha in ALPHAS:
            model, corpus = problem(50, 2000, alpha, length, n_docs, None)
            exact = truth(model, corpus, n_particles)[0]
            off, seconds = [], []
            for particles in (20, "auto"):
                begin = time.process_time()
                found = [model.log_likelihood_report(corpus, n_particles=particles, random_state=s) for s in range(2)]
                seconds.append(time.process_time() - begin)
                off.append(np.expm1(np.mean([(exact - each["log_likelihood"]).mean() for each in found]) / length))
            number = found[0]["n_particles"].mean()
            ratio = seconds[1] / seconds[0]
            print(
                f"| {length:,} | {alpha} | {off[0]:+.1%} | {off[1]:+.1%} | {number:.0f} | {ratio:.1f} × |", flush=True
            )


def shares(model: Any, corpus: topoi.Corpus, n_particles: int, n_seeds: int) -> str:
    """Cells of a table: for each estimator how many errors are stated, and in how many the truth is within two."""
    exact, spread = truth(model, corpus, n_particles)
    estimators: list[Callable[[int], Any]] = [
        lambda s: model.log_likelihood_report(corpus, random_state=s),
        lambda s: topoi.evaluation.importance_likelihood(model, corpus, random_state=s),
        lambda s: topoi.evaluation.empirical_likelihood_report(model, corpus, random_state=s),
    ]
    cells = []
    for estimate in estimators:
        reports = [estimate(s) for s in range(n_seeds)]
        off = np.concatenate([np.abs(each["log_likelihood"] - exact) for each in reports])
        error = np.concatenate([np.hypot(each["standard_error"], spread) for each in reports])
        stated = ~np.isnan(error)
        inside = f"{np.mean(off[stated] <= 2 * error[stated] + 1e-9):.0%}" if stated.any() else "–"
        cells.append(f"{stated.mean():.0%}, {inside}")
    return " | ".join(cells)


def coverage() -> None:
    """How often errors are stated, and how often the truth is within two of them."""
    print("\n| words | alpha | filter | importance | empirical |\n|---:|---:|---|---|---|")
    for length, (n_docs, n_particles) in SHORT.items():
        for alpha in STATED_ALPHAS:
            model, corpus = problem(20, 500, alpha, length, n_docs)
            print(f"| {length} | {alpha} | {shares(model, corpus, n_particles, 4)} |", flush=True)


def real(name: str, n_docs: int = 60) -> None:
    """The same for held-out documents of a corpus, and what as many particles as it takes cost beside 20."""
    corpus = topoi.load_dataset(name)
    train, test = corpus.split(test_size=n_docs, random_state=SEED)
    print(f"\n{name}: {np.median(test.doc_lengths):.0f} words in the median document")
    print("| alpha | filter | importance | empirical | particles | time |\n|---:|---|---|---|---:|---:|")
    for alpha in (0.1, 1.0):
        model = topoi.LDA(20, prior="paper", alpha=alpha, n_iter=200, random_state=SEED).fit(train)
        seconds = []
        for particles in (20, 20, "auto"):
            begin = time.process_time()
            found = model.log_likelihood_report(test, n_particles=particles, random_state=1)
            seconds.append(time.process_time() - begin)
        ratio, number = seconds[2] / seconds[1], found["n_particles"].mean()
        print(f"| {alpha} | {shares(model, test, 1000, 2)} | {number:.0f} | {ratio:.1f} × |", flush=True)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--part", choices=("growth", "coverage", "real"), help="only this table")
    parser.add_argument("--corpus", default="nips12-abstracts", help="of the part real")
    given = parser.parse_args()
    if given.part in (None, "growth"):
        growth()
    if given.part in (None, "coverage"):
        coverage()
    if given.part == "real":
        real(given.corpus)


if __name__ == "__main__":
    main()
