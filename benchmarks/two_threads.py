"""``n_jobs=2`` by the clock for every family, and tomotopy with two workers beside it.

    TOPOI_DATA=~/corpora python -m benchmarks.two_threads [--family LDA DMR] [--documents 15000] [--alone]

The same fit on one thread and on two, which give the same bits, takes turns with itself: two shards for Gibbs samplers;
two chains for the hierarchical process, which has one shard; blocks of documents or topics for the others. tomotopy is
trained with one worker and with two, where it has the model. Wall time is what this is about: nothing else may run.
``threads`` compares shards with the exact chain, in speed and in quality.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from importlib import import_module
from statistics import median
from typing import Any, NamedTuple

import numpy as np

import topoi
from topoi.corpus.datasets import dataset_names

from .contenders import missing
from .contenders.base import documents_as_words
from .contenders.stepped import SteppedFit
from .report import Report, add_json, progress
from .threads import free_cores
from .timing import Seconds, timed

GOAL = 1.85
BETA = 0.01
_ENDLESS = 10**6
COLUMNS = {
    "model": "model",
    "size": "K",
    "documents": "documents|,",
    "tokens": "tokens|,",
    "system": "system",
    "one": "1 thread|.3f",
    "two": "2 threads|.3f",
    "speed_up": "2 over 1|.2f",
    "work": "CPU of 2 over 1|.2f",
    "free": "machine gave|.2f",
    "asked": "asked|.2f",
}
REMARK = (
    "Wall seconds a sweep (a pass of EM for EP and VB), medians of alternating turns. 'CPU of 2 over 1': processor\n"
    "time of two threads over one's. 'machine gave': the speed-up of two threads that share nothing, in the same\n"
    "turns; with two idle cores it is near 2, and no program can do better."
)
Advance = Callable[[int], None]


class Family(NamedTuple):
    """A model on ``n_jobs`` threads, its peer, and how it is measured.

    ``turn`` is the number of sweeps of a turn, a multiple of the interval at which parameters are learned; ``most`` is
    the largest number of documents, for models whose passes take long.
    """

    size: str
    ours: Callable[[int], Any]
    theirs: Callable[[Any], Any] | None
    turn: int
    warm_up: int
    most: int = 10**9


def _gibbs(model_class: Any, *widths: int, **settings: Any) -> Callable[[int], Any]:
    shared = {"n_shards": 2, "average": False} | settings
    return lambda n_jobs: model_class(*widths, n_jobs=n_jobs, **shared)


def _others(model_class: Any, width: int, **settings: Any) -> Callable[[int], Any]:
    return lambda n_jobs: model_class(width, n_jobs=n_jobs, tol=0.0, **settings)


FAMILIES: dict[str, Family] = {
    "LDA": Family(
        "100", _gibbs(topoi.LDA, 100, prior="paper", alpha=0.5), lambda t: t.LDAModel(k=100, alpha=0.5, eta=BETA), 4, 10
    ),
    "author-topic": Family("100", _gibbs(topoi.AuthorTopicModel, 100, prior="paper"), None, 4, 10),
    "pachinko": Family(
        "50 × 100",
        _gibbs(topoi.PachinkoAllocation, 50, 100, learn_alpha=False),
        lambda t: t.PAModel(k1=50, k2=100, alpha=0.01, subalpha=0.1, eta=BETA),
        1,
        2,
    ),
    "DMR": Family(
        "100",
        _gibbs(topoi.DirichletMultinomialRegression, 100, features=["year"], n_warmup=10, learn_every=10),
        lambda t: t.DMRModel(k=100, alpha=0.1, eta=BETA),
        10,
        20,
    ),
    "HDP, two chains": Family(
        "100 at first",
        _gibbs(topoi.HierarchicalDirichletProcess, 100, n_shards=1, n_chains=2),
        lambda t: t.HDPModel(initial_k=100, gamma=1.0, alpha=1.0, eta=BETA),
        4,
        10,
    ),
    "CTM": Family("40", _gibbs(topoi.CorrelatedTopicModel, 40, n_warmup=4), lambda t: t.CTModel(k=40, eta=BETA), 2, 6),
    "aspect, EP": Family("50", _others(topoi.AspectModel, 50), None, 1, 2),
    "aspect, VB": Family("50", _others(topoi.AspectModel, 50, inference="vb"), None, 1, 2),
    "kernel": Family(
        "20", _others(topoi.KernelTopicModel, 20, features=["year", "authors"], n_warmup=20), None, 20, 40, 500
    ),
}


def our_fit(family: Family, corpus: topoi.Corpus, n_jobs: int) -> tuple[Advance, Callable[[], None]]:
    """Functions that let a long fit advance, and end it."""
    model = family.ours(n_jobs)
    model.set_params(n_iter=_ENDLESS, random_state=1, evaluate_every=_ENDLESS, progress=False)
    every = getattr(model, "n_chains", 1)  # a callback comes after each chain's sweep
    stepped = SteppedFit(lambda after_sweep: model.fit(corpus, callback=after_sweep))
    return lambda n: stepped.advance(every * n), stepped.close


def their_fit(family: Family, corpus: topoi.Corpus, n_jobs: int) -> tuple[Advance, Callable[[], None]]:
    """The same for tomotopy with so many workers."""
    assert family.theirs is not None
    model = family.theirs(import_module("tomotopy"))
    years = corpus.documents["year"].astype(str).tolist() if "year" in corpus.documents else [""] * corpus.n_docs
    for words, year in zip(documents_as_words(corpus), years, strict=True):
        if words:
            # Only regression reads metadata.
            model.add_doc(words, **({"metadata": year} if type(model).__name__ == "DMRModel" else {}))
    return lambda n: model.train(n, workers=n_jobs), lambda: None


def compare(name: str, family: Family, corpus: topoi.Corpus, rounds: int, alone: bool) -> list[dict[str, Any]]:
    """Rows of topoi and, unless it is ``alone``, of its peer: one thread and two, in turns."""
    systems = {"topoi": our_fit}
    if family.theirs is not None and not alone and "tomotopy" not in missing():
        systems["tomotopy"] = their_fit
    rows = []
    for system, make in systems.items():
        progress(f"two threads: {name}, {system}: warming up")
        fits = [make(family, corpus, n_jobs) for n_jobs in (1, 2)]
        turns: list[list[Seconds]] = [[], []]
        free = []
        for advance, _ in fits:
            advance(family.warm_up)
        for turn in range(rounds):
            for number in (turn % 2, 1 - turn % 2):
                advance = fits[number][0]
                turns[number].append(timed(lambda f=advance: f(family.turn)) / family.turn)  # type: ignore[misc]
            free.append(free_cores())
        for _, close in fits:
            close()
        (one, one_cpu), (two, two_cpu) = (
            (median(turn.wall for turn in seconds), median(turn.cpu for turn in seconds)) for seconds in turns
        )
        progress(f"two threads: {name}, {system}: {one:.3f} s and {two:.3f} s, {one / two:.2f} times as fast")
        rows.append(
            {"model": name, "size": family.size, "documents": corpus.n_docs, "tokens": corpus.n_tokens}
            | {"system": system, "one": one, "two": two, "speed_up": one / two, "work": two_cpu / one_cpu}
            | {"free": median(free), "asked": GOAL if system == "topoi" else None}
        )
    return rows


def some_documents(corpus: topoi.Corpus, n_docs: int) -> topoi.Corpus:
    """Documents at even distances, with their metadata."""
    if n_docs >= corpus.n_docs:
        return corpus
    return corpus.subset(np.linspace(0, corpus.n_docs - 1, n_docs).astype(np.int64))


def main() -> None:
    """Print a table of the families that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--family", nargs="+", choices=list(FAMILIES), default=list(FAMILIES))
    parser.add_argument("--corpus", default="acl-abstracts", choices=dataset_names())
    parser.add_argument("--documents", type=int, default=10**9, help="at most so many, at even distances")
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--alone", action="store_true", help="without tomotopy, some of whose models take minutes")
    add_json(parser)
    arguments = parser.parse_args()
    corpus, report = topoi.load_dataset(arguments.corpus, min_df=5), Report()
    rows: list[dict[str, Any]] = []
    for name in arguments.family:
        family = FAMILIES[name]
        part = some_documents(corpus, min(arguments.documents, family.most))
        rows += compare(name, family, part, arguments.rounds, arguments.alone)
    report.section("two_threads", f"Two threads: {arguments.corpus}", rows, COLUMNS, REMARK)
    report.write(arguments.json)


if __name__ == "__main__":
    main()
