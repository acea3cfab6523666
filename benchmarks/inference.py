"""Topic shares of very many new documents: seconds of ``transform`` by its two methods, and of the peers' inference.

``python -m benchmarks.inference`` fits an LDA to a fifth of the abstracts in ``$TOPOI_DATA`` (without them,
to a simulated corpus) and infers the others, repeated up to 100,000 documents. Slower ways are measured on a part. The
distance of both methods from a long run says what their speed costs.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np

import topoi
from topoi.corpus.datasets import dataset_names

from .contenders.base import documents_as_words
from .corpora import compact, simulated
from .report import Report, add_json, progress
from .timing import Seconds, timed

COLUMNS = {
    "system": "system",
    "how": "how",
    "threads": "threads",
    "documents": "documents|,",
    "cpu": "CPU µs/document|.0f",
    "wall": "wall µs/document|.0f",
    "rate": "documents/s|,.0f",
}
FIT = {"documents": "documents|,", "tokens": "tokens|,", "words": "words|,", "n_topics": "K", "sweeps": "sweeps"}
ACCURACY = {
    "how": "how",
    "alpha": "alpha|.4f",
    "shares": "mean sum of differences|.4f",
    "largest": "mean largest|.4f",
    "first": "same first topic|.3f",
}
_LONG = 4000


def new_documents(corpus: topoi.Corpus, n: int) -> topoi.Corpus:
    """The corpus from the beginning, again and again, until there are ``n`` documents."""
    return corpus.subset(np.arange(n) % corpus.n_docs)


def row(system: str, how: str, threads: int, n: int, seconds: Seconds) -> dict[str, Any]:
    """One line of the table."""
    each = seconds / n
    micro = {"cpu": 1e6 * each.cpu, "wall": 1e6 * each.wall, "rate": 1 / each.wall}
    return {"system": system, "how": how, "threads": threads, "documents": n} | micro


def ours(model: topoi.LDA, new: topoi.Corpus, n_sampled: int) -> list[dict[str, Any]]:
    """Both methods on one and on two threads."""
    rows = []
    for method, some in (("mean-field", new), ("gibbs", new_documents(new, n_sampled))):
        model.transform(some.subset([0]), method=method)  # compiles
        for threads in (1, 2):
            progress(f"topoi, {method}, {threads} threads")
            model.set_params(n_jobs=threads)
            rows.append(row("topoi", method, threads, some.n_docs, timed(lambda: model.transform(some, method=method))))  # noqa: B023
    return rows


def distances(model: topoi.LDA, some: topoi.Corpus) -> list[dict[str, Any]]:
    """How far ways to infer are from a long run; also with a smaller alpha, where topics are harder to tell."""
    first, rows = model.chains_[0], []
    given = first.priors
    for share in (1.0, 0.1, 0.01):
        first.priors = given._replace(alpha=given.alpha * np.float32(share), alpha_sum=given.alpha_sum * share)
        progress(f"distances at alpha = {first.priors.alpha[0]:.4f}")
        long = model.transform(some, burn_in=200, n_samples=_LONG)
        ways = {
            "mean-field": model.transform(some, method="mean-field"),
            "gibbs, 20 + 100 sweeps": model.transform(some),
            "gibbs, 10 + 10 sweeps": model.transform(some, burn_in=10, n_samples=10),
        }
        for how, found in ways.items():
            apart = np.abs(found - long)
            rows.append(
                {
                    "how": how,
                    "alpha": float(first.priors.alpha[0]),
                    "shares": float(apart.sum(axis=1).mean()),
                    "largest": float(apart.max(axis=1).mean()),
                    "first": float((found.argmax(axis=1) == long.argmax(axis=1)).mean()),
                }
            )
    first.priors = given
    return rows


def with_tomotopy(train: topoi.Corpus, new: topoi.Corpus, n_topics: int, n_sweeps: int) -> list[dict[str, Any]]:
    """``LDAModel.infer`` with its default of 100 sweeps."""
    import tomotopy

    model = tomotopy.LDAModel(k=n_topics, alpha=50 / n_topics, eta=0.01, seed=1)
    for words in documents_as_words(train):
        model.add_doc(words)
    model.train(n_sweeps, workers=2)
    rows = []
    for threads in (1, 2):
        documents = [model.make_doc(words) for words in documents_as_words(new)]
        seconds = timed(lambda: model.infer(documents, workers=threads))  # noqa: B023
        rows.append(row("tomotopy", "gibbs, 100 sweeps", threads, new.n_docs, seconds))
    return rows


def with_topica(train: topoi.Corpus, new: topoi.Corpus, n_topics: int, n_sweeps: int) -> list[dict[str, Any]]:
    """``LDA.transform`` with its defaults, on the threads it chooses."""
    import topica

    model = topica.LDA(n_topics, alpha_sum=50.0, beta=0.01, seed=1)
    model.fit(list(documents_as_words(train)), iters=n_sweeps)
    words = list(documents_as_words(new))
    return [row("topica", "gibbs, its defaults", 0, new.n_docs, timed(lambda: model.transform(words)))]


PEERS: dict[str, Callable[..., list[dict[str, Any]]]] = {"tomotopy": with_tomotopy, "topica": with_topica}


def main() -> None:
    """Measure, and print tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--topics", type=int, default=300)
    parser.add_argument("--sweeps", type=int, default=60)
    parser.add_argument("--peer-sweeps", type=int, default=20, help="sweeps of the peers' fits")
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--sampled", type=int, default=4_000, help="documents for the slower ways")
    parser.add_argument("--quick", action="store_true", help="a small simulated corpus")
    add_json(parser)
    options, report = parser.parse_args(), Report()
    real = "acl-abstracts" in dataset_names() and not options.quick
    corpus = compact(topoi.load_dataset("acl-abstracts", min_df=5)) if real else simulated(quick=options.quick)
    train = corpus.subset(np.arange(0, corpus.n_docs, 5))
    others = corpus.subset(np.flatnonzero(np.arange(corpus.n_docs) % 5))
    progress(f"fitting {options.topics} topics to {train}")
    model = topoi.LDA(
        options.topics, prior="paper", n_iter=options.sweeps, random_state=0, n_jobs=2, progress=False
    ).fit(train)
    fit = {"documents": train.n_docs, "tokens": train.n_tokens, "words": train.n_words}
    fit |= {"n_topics": options.topics, "sweeps": options.sweeps}
    report.section("fit", "The fitted model", [fit], FIT)
    new, part = new_documents(others, options.documents), new_documents(others, options.sampled)
    progress(f"inferring {new}")
    report.section("transform", "Topic shares of new documents", ours(model, new, options.sampled), COLUMNS)
    apart = distances(model, others.subset(np.arange(min(300, others.n_docs))))
    report.section("distances", "Distance from a long run", apart, ACCURACY)
    for name, measure in PEERS.items():
        if find_spec(name):
            progress(name)
            rows = measure(train, part, options.topics, options.peer_sweeps)
            report.section("transform", f"Topic shares of new documents: {name}", rows, COLUMNS)
    report.write(options.json)


if __name__ == "__main__":
    main()
