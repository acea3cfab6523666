"""Correlated topics and the hierarchical process beside tomotopy and topica: several sizes, long and short documents.

    TOPOI_DATA=… python -m benchmarks.rivals [--family ctm hdp] [--corpus cranfield nips12] [--sweeps 400] [--seed 0]

One thread each, processor time. Every sampler is scored after half of its sweeps and after all: where both agree it has
settled. A tenth of the documents is held out and scored by one piece of code, topoi's particle filter, to which each
system gives its topics' words and the prior of mixtures: for correlated topics the mean and covariance of eta; for the
process a Dirichlet fitted, by the same code for all, to the words per topic of each system's training documents.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import topoi
from topoi.models.plsi.posterior import fitted_dirichlet

from .ctm import held_out, texts, tomotopy_model
from .report import Report, add_json, progress

#: Documents that are taken of each corpus: short ones, and long ones.
CORPORA: dict[str, tuple[dict[str, Any], int]] = {
    "cranfield": ({"text": ["title", "text"]}, 800),
    "nips12": ({}, 110),
}
BETA = 0.05
COLUMNS = {
    "corpus": "corpus",
    "start": "from",
    "n_topics": "topics",
    "system": "system",
    "sweeps": "sweeps",
    "ms": "ms a sweep|.1f",
    "seconds": "CPU s|.1f",
    "half": "perplexity after half|,.0f",
    "perplexity": "after all|,.0f",
}
CORPUS_COLUMNS = {"corpus": "corpus", "documents": "documents|,", "tokens": "tokens|,", "words": "words|,"}
# Seconds, topics and perplexity at some moment of a fit.
Stage = tuple[float, int, float]


def some_documents(name: str) -> tuple[topoi.Corpus, topoi.Corpus]:
    """Training and held-out documents, with the words of the former alone, so that all systems have the same."""
    options, n_docs = CORPORA[name]
    corpus = topoi.load_dataset(name, **options)
    chosen = np.sort(np.random.default_rng(0).choice(corpus.n_docs, n_docs, replace=False))
    parts = corpus.subset(chosen).split(test_size=0.1, random_state=0)
    train = topoi.Corpus.from_tokens([document for document in texts(parts[0]) if document])
    known = set(map(str, train.words))
    rows = [[word for word in document if word in known] for document in texts(parts[1])]
    return train, topoi.Corpus.from_tokens(rows, words=list(map(str, train.words)))


def dirichlet_perplexity(test: topoi.Corpus, words: list[str], topic_word: Any, counts: Any) -> float:
    """Perplexity of held-out documents with these topics; ``counts`` are of training documents × topics."""
    counts = np.asarray(counts, np.float64)
    column = {word: w for w, word in enumerate(words)}
    phi = np.asarray(topic_word, np.float64)
    phi = np.concatenate((phi, np.full((len(phi), 1), phi.min())), axis=1)
    phi = phi[:, [column.get(str(word), phi.shape[1] - 1) for word in test.words]]
    lengths = counts.sum(axis=1)
    alpha = fitted_dirichlet(counts / np.maximum(lengths, 1e-300)[:, None], lengths)
    model = topoi.AspectModel.from_parameters(
        phi / phi.sum(axis=1, keepdims=True), np.maximum(alpha, 1e-6), list(map(str, test.words))
    )
    return float(model.perplexity(test))


def our_stages(model: Any, train: topoi.Corpus, half: int, score: Callable[[Any], float]) -> Iterator[Stage]:
    """A model of topoi after half of its sweeps and after all; compiled by a short fit before."""
    type(model)(**model.get_params() | {"n_iter": 2}).fit(train)
    began, spent = time.process_time(), 0.0
    model.fit(train)
    for turn in range(2):
        if turn:
            began = time.process_time()
            model.resume(half)
        spent += time.process_time() - began
        yield spent, model.chains_[0].n_topics, score(model)


def tomotopy_stages(model: Any, half: int, n_topics: Callable[[], int], score: Callable[[], float]) -> Iterator[Stage]:
    """A model of tomotopy likewise."""
    model.train(0, workers=1)
    spent = 0.0
    for _ in range(2):
        began = time.process_time()
        model.train(half, workers=1)
        spent += time.process_time() - began
        yield spent, n_topics(), score()


def correlated(
    train: topoi.Corpus, test: topoi.Corpus, n_topics: int, half: int, seed: int
) -> dict[str, Iterator[Stage]]:
    """Three systems' correlated topic models; topica's is variational, and stops where it has converged."""
    documents, words = texts(train), [str(word) for word in train.words]
    ours = topoi.CorrelatedTopicModel(n_topics, beta=BETA, n_iter=half, random_state=seed, progress=False)

    def score(model: Any) -> float:
        return held_out(test, words, model.topic_word_, model.mean_, model.covariance_)

    theirs = tomotopy_model(documents, n_topics, BETA, 1 + seed)

    def their_score() -> float:
        topic_word = np.array([theirs.get_topic_word_dist(k) for k in range(n_topics)])
        return held_out(test, list(theirs.used_vocabs), topic_word, theirs.prior_mean, theirs.prior_cov)

    def variational() -> Iterator[Stage]:
        import topica

        began = time.process_time()
        model = topica.CTM(n_topics, seed=1 + seed)
        model.fit([document for document in documents if document], num_threads=1)
        spent = time.process_time() - began
        covariance = np.zeros((n_topics, n_topics))  # the last topic is the reference, of which eta is zero
        covariance[:-1, :-1] = np.asarray(model.topic_covariance)[: n_topics - 1, : n_topics - 1]
        mean = np.append(np.asarray(model.eta_mean)[:, : n_topics - 1].mean(axis=0), 0.0)
        yield spent, n_topics, held_out(test, list(model.vocabulary), model.topic_word, mean, covariance)

    return {
        "topoi": our_stages(ours, train, half, score),
        "tomotopy": tomotopy_stages(theirs, half, lambda: n_topics, their_score),
        "topica, variational": variational(),
    }


def process(train: topoi.Corpus, test: topoi.Corpus, start: int, half: int, seed: int) -> dict[str, Iterator[Stage]]:
    """Three systems' hierarchical processes; topica's cannot be told where to begin, or go on: it is fitted twice."""
    documents, words = [each for each in texts(train) if each], [str(word) for word in train.words]
    settings = {"n_iter": half, "random_state": seed, "progress": False}
    ours = topoi.HierarchicalDirichletProcess(start, beta=BETA, **settings)

    def score(model: Any) -> float:
        return dirichlet_perplexity(test, words, model.topic_word_, model.topic_counts(train))

    import tomotopy

    options = {"min_cf": 0, "min_df": 0, "rm_top": 0, "alpha": 1.0, "gamma": 1.0, "seed": 1 + seed}
    theirs = tomotopy.HDPModel(initial_k=start, eta=BETA, **options)
    for document in documents:
        theirs.add_doc(document)

    def their_score() -> float:
        live = [k for k in range(theirs.k) if theirs.is_live_topic(k)]
        topic_word = np.array([theirs.get_topic_word_dist(k) for k in live])
        counts = np.array([np.bincount(doc.topics, minlength=theirs.k)[live] for doc in theirs.docs])
        return dirichlet_perplexity(test, list(theirs.used_vocabs), topic_word, counts)

    def another() -> Iterator[Stage]:
        import topica

        for sweeps in (half, 2 * half):
            began = time.process_time()
            model = topica.HDP(beta=BETA, alpha=1.0, gamma=1.0, seed=1 + seed)
            model.fit(documents, iters=sweeps, keep_theta_draws=False)
            spent = time.process_time() - began
            counts = np.asarray(model.doc_topic) * np.array([len(each) for each in documents])[:, None]
            yield spent, model.num_topics, dirichlet_perplexity(test, list(model.vocabulary), model.topic_word, counts)

    return {
        "topoi": our_stages(ours, train, half, score),
        "tomotopy": tomotopy_stages(theirs, half, lambda: theirs.live_k, their_score),
        "topica": another(),
    }


FAMILIES = {"hdp": (process, (20, 100)), "ctm": (correlated, (20, 60))}


def row(system: str, stages: Iterator[Stage], n_sweeps: int) -> dict[str, Any]:
    """A fit to its end; one that is variational has a single stage, and no sweeps."""
    found = list(stages)
    seconds, n_topics, perplexity = found[-1]
    fit = {"n_topics": n_topics, "system": system, "seconds": seconds, "perplexity": perplexity}
    if len(found) == 2:
        fit |= {"sweeps": n_sweeps, "ms": 1000 * seconds / n_sweeps, "half": found[0][2]}
    return fit


def main() -> None:
    """Print a table per family and corpus."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--family", nargs="*", default=list(FAMILIES), choices=list(FAMILIES))
    parser.add_argument("--corpus", nargs="*", default=list(CORPORA), choices=list(CORPORA))
    parser.add_argument("--topics", nargs="*", type=int, help="topics, for the process those at the start")
    parser.add_argument("--sweeps", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    add_json(parser)
    given = parser.parse_args()
    report, parts = Report(), {name: some_documents(name) for name in given.corpus}
    sizes = [
        {"corpus": name, "documents": train.n_docs, "tokens": train.n_tokens, "words": train.n_words}
        for name, (train, _) in parts.items()
    ]
    report.section("corpora", "Training documents", sizes, CORPUS_COLUMNS)
    for family in given.family:
        systems, starts = FAMILIES[family]
        for corpus, (train, test) in parts.items():
            rows = []
            for start in given.topics or starts:
                for name, stages in systems(train, test, start, given.sweeps // 2, given.seed).items():
                    progress(f"{family}, {corpus}, {start} topics: {name}")
                    rows.append({"corpus": corpus, "start": start} | row(name, stages, given.sweeps))
            report.section(family, f"{family}: {corpus}", rows, COLUMNS)
    report.write(given.json)


if __name__ == "__main__":
    main()
