"""How well and how fast documents are placed on a map, beside openTSNE and umap-learn on the same shares of topics.

    TOPOI_DATA=~/corpora python -m benchmarks.document_map nips12-abstracts newsgroups20 acl.topoi

An argument is a corpus, to which LDA is fitted first, or a store. All get the square roots of the same shares, whose
Euclidean distances are Hellinger's. *Trustworthiness* (Venna and Kaski): how far from a document those are that the map
puts next to it, 1 is best. *Kept*: which part of a document's nearest neighbours are its nearest on the map. Both over
``--queries`` documents against all. *Nearest topic*: the same of the topics that the map names, for the two maps of
topics. Times are processor seconds of the whole process, compilation left out, since other programs share the machine.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import topoi
from topoi.drawing.document_layout import document_places
from topoi.drawing.topic_layout import topic_map

from .report import Report, add_json, progress

NEIGHBOURS = (10, 30)


def fitted(name: str, n_topics: int, n_iter: int) -> Any:
    """A view of a store, or LDA fitted to a corpus."""
    if Path(name).suffix == ".topoi":
        return topoi.view(name)
    progress(f"fit {n_topics} topics to {name}")
    return topoi.LDA(n_topics, n_iter=n_iter, random_state=0, progress=False).fit(topoi.load_dataset(name))


def roots(model: Any) -> tuple[np.ndarray, np.ndarray]:
    """Square roots of the shares of documents that have words, and which those are."""
    chain = model.chains_[0]
    rows = np.flatnonzero(chain.documents.totals > 0)
    if chain.mixtures_are_counts:
        return np.sqrt(chain.documents.unsmoothed().shares(rows)).astype(np.float32), rows
    return np.sqrt(np.asarray(chain.mixtures)[rows]).astype(np.float32), rows


def quality(own: np.ndarray, places: np.ndarray, queries: np.ndarray) -> dict[str, float]:
    """Trustworthiness and neighbours kept, of some documents against all."""
    n, found = len(own), dict[str, list[float]]()
    for d in queries:
        near = _order(-(own @ own[d]), d)
        rank = np.zeros(n, np.int64)
        rank[near] = np.arange(1, n)
        here = _order(((places - places[d]) ** 2).sum(axis=1), d)
        for k in NEIGHBOURS:
            excess = np.maximum(rank[here[:k]] - k, 0).sum()
            found.setdefault(f"trust_{k}", []).append(1.0 - 2.0 * excess / (k * (2 * n - 3 * k - 1)))
            found.setdefault(f"kept_{k}", []).append(len(np.intersect1d(near[:k], here[:k])) / k)
    return {name: float(np.mean(values)) for name, values in found.items()}


def _order(distance: np.ndarray, own: int) -> np.ndarray:
    order = np.argsort(distance, kind="stable")
    return order[order != own]


def contenders(model: Any, own: np.ndarray, rows: np.ndarray, jobs: int) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Names, and functions that give places of the documents with words."""
    yield "topoi", lambda: document_places(model, n_jobs=jobs)[rows]
    try:
        import openTSNE

        yield "openTSNE", lambda: np.asarray(openTSNE.TSNE(n_jobs=jobs, random_state=0).fit(own))
    except ImportError:
        progress("openTSNE is not installed")
    try:
        import umap

        yield "umap-learn", lambda: umap.UMAP(n_jobs=jobs, n_neighbors=30).fit_transform(own)
    except ImportError:
        progress("umap-learn is not installed")


def nearest_topic(model: Any) -> dict[str, float]:
    """Median place of a topic's most similar topic among the discs nearest to it, and how often it is the nearest."""
    from topoi.analysis.topic_distances import jensen_shannon_of_counts

    chain = model.chains_[0]
    words = np.ascontiguousarray(chain.source.word_rows(np.arange(len(chain.beta))))
    distance = jensen_shannon_of_counts(lambda part: words[part], chain.word_room, chain.beta)
    places = topic_map(distance, chain.topic_totals / chain.topic_totals.sum())
    assert places is not None
    apart = np.linalg.norm(places[:, None] - places, axis=2) + np.diag(np.full(len(places), np.inf))
    best = (distance + np.diag(np.full(len(places), np.inf))).argmin(axis=1)
    rank = (apart < apart[np.arange(len(places)), best][:, None]).sum(axis=1) + 1
    return {"rank": float(np.median(rank)), "nearest": float((rank == 1).mean())}


def cpu() -> float:
    """Processor seconds of this process."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _compile() -> None:
    """Place the documents of a small collection, so that no compilation is measured."""
    texts = [[f"w{(7 * d + i) % 40}" for i in range(9)] for d in range(400)]
    document_places(topoi.LDA(5, n_iter=5, random_state=0, progress=False).fit(texts))


def measured(name: str, model: Any, given: argparse.Namespace) -> list[dict[str, Any]]:
    """A row for each contender."""
    own, rows = roots(model)
    chance = np.random.default_rng(0)
    queries = chance.choice(len(own), min(given.queries, len(own)), replace=False)
    _compile()
    found = []
    for who, place in contenders(model, own, rows, given.jobs):
        if given.only and who not in given.only:
            continue
        progress(f"{name}: {who}")
        before, began = cpu(), time.perf_counter()
        places = place()
        took = {"cpu": cpu() - before, "seconds": time.perf_counter() - began}
        progress(f"{name}: {who} took {took['cpu']:.0f} CPU s")
        found.append({"corpus": name, "documents": len(own), "system": who, **took, **quality(own, places, queries)})
    return found


def main() -> None:
    """Measure and print tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="+", help="names of corpora, or stores")
    parser.add_argument("--topics", type=int, default=100)
    parser.add_argument("--iterations", type=int, default=200)
    parser.add_argument("--queries", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", nargs="*", help="systems to measure")
    add_json(parser)
    given = parser.parse_args()
    report, topics = Report(), []
    for name in given.what:
        model = fitted(name, given.topics, given.iterations)
        title = Path(name).stem
        topics.append({"corpus": title, "n_topics": model.chains_[0].n_topics, **nearest_topic(model)})
        report.section("documents", f"Maps of documents: {title}", measured(title, model, given), COLUMNS)
    report.section("topics", "A topic's most similar topic on the map", topics, TOPIC_COLUMNS)
    report.write(given.json)


COLUMNS = {
    "corpus": "corpus",
    "documents": "documents|,d",
    "system": "system",
    "trust_10": "trust, 10|.3f",
    "trust_30": "trust, 30|.3f",
    "kept_10": "kept, 10|.3f",
    "kept_30": "kept, 30|.3f",
    "cpu": "CPU s|.0f",
    "seconds": "s|.0f",
}
TOPIC_COLUMNS = {
    "corpus": "corpus",
    "n_topics": "topics|d",
    "rank": "its rank, median|.1f",
    "nearest": "nearest|.0%",
}

if __name__ == "__main__":
    main()
