"""LDA at 100 to 10,000 topics, on long and on short documents, beside tomotopy and topica.

    TOPOI_DATA=~/corpora python -m benchmarks.many_topics [--topics 100 1000] [--corpus NAME] [--json FILE]
    TOPOI_DATA=~/corpora python -m benchmarks.many_topics --held-out [--budget 6]
    TOPOI_DATA=~/corpora python -m benchmarks.many_topics --memory --topics 10000
    TOPOI_DATA=~/corpora python -m benchmarks.many_topics --costs

Every system samples the same tokens on one thread, in turns, after a warm-up; see ``speed``. The goals are the speed
over that of the fastest peer in the same contest. ``--held-out`` measures the time to the same held-out level on
smaller parts of these corpora: the rule is in ``held_out``. ``--memory`` measures the peak of each system in a process
of its own. ``--costs`` measures topoi's two kernels at the same states: the figures behind
``topoi.models.author_topic.shards.lists_pay``.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import topoi
from topoi.corpus.datasets import dataset_names
from topoi.corpus.mapped import Scratch
from topoi.kernels.counts import Assignments, Counts, Documents
from topoi.kernels.lanes import padded
from topoi.kernels.random import new_stream
from topoi.models.author_topic import equations, topic_lists, word_major
from topoi.models.author_topic.shards import Orders
from topoi.models.author_topic.state import make_priors

from . import held_out, memory, speed
from .contenders import FAMILIES, Problem
from .corpora import compact, save
from .held_out import exact_samplers
from .report import Report, add_json
from .settings import Settings
from .timing import timed

TOPICS = (100, 300, 1000, 4000, 10_000)
GOALS = {100: 1.8, 300: 1.8, 1000: 2.5, 4000: 4.0, 10_000: 4.0}
COLUMNS = {
    "corpus": "corpus",
    "n_topics": "K",
    "rate": "topoi, M tokens/s|.2f",
    "peer": "fastest peer",
    "peer_rate": "its M tokens/s|.2f",
    "ratio": "ratio|.2f",
    "asked": "asked|.1f",
}
COST_COLUMNS = {
    "corpus": "corpus",
    "n_topics": "K",
    "alpha_sum": "K·alpha|.0f",
    "sweep": "sweep",
    "lines": "lines|.1f",
    "runs": "runs/token|.3f",
    "words": "words/token|.3f",
    "lists": "lists, ns|.0f",
    "dense": "dense, ns|.0f",
}


def corpora() -> dict[str, Callable[[], topoi.Corpus]]:
    """The collections: every fourth ACL abstract, the NIPS papers, and simulated short documents."""
    found: dict[str, Callable[[], topoi.Corpus]] = {"short": short_documents}
    if "acl-abstracts" in dataset_names():
        every = lambda: topoi.load_dataset("acl-abstracts", min_df=5)  # noqa: E731
        found["acl-abstracts/4"] = lambda: compact(every().subset(slice(0, None, 4)))
    if "nips12" in dataset_names():
        found["nips12"] = lambda: compact(topoi.load_dataset("nips12", min_df=5))
    return found


def parts() -> dict[str, Callable[[], topoi.Corpus]]:
    """About 300,000 tokens of each, on which many fits can be made.

    Simulated topics differ more than in the contests of speed: 10,000 documents are too few to learn those.
    """
    found: dict[str, Callable[[], topoi.Corpus]] = {"short": lambda: short_documents(10_000, concentration=20.0)}
    if "acl-abstracts" in dataset_names():
        every = lambda: topoi.load_dataset("acl-abstracts", min_df=5)  # noqa: E731
        found["acl-abstracts/16"] = lambda: compact(every().subset(slice(0, None, 16)))
    if "nips12" in dataset_names():
        found["nips12/8"] = lambda: compact(topoi.load_dataset("nips12", min_df=5).subset(slice(0, None, 8)))
    return found


def short_documents(n_docs: int = 30_000, length: int = 30, concentration: float = 200.0) -> topoi.Corpus:
    """Documents of thirty words, drawn from LDA with 500 topics over 10,000 words of Zipf-like frequency.

    The smaller the concentration, the more topics differ.
    """
    base = 1.0 / (np.arange(10_000) + 10.0)
    model = topoi.LDA(500, alpha=3.0 / 500, beta=base * (concentration / base.sum()))
    return compact(model.simulate(n_docs, length, random_state=0))


def contests(name: str, corpus: topoi.Corpus, topics: tuple[int, ...], report: Report) -> None:
    """Measure all systems at every number of topics."""
    rows, best = [], []
    for n_topics in topics:
        problem = Problem(corpus, n_topics, alpha=50.0 / n_topics)
        where = {"corpus": name, "model": FAMILIES["lda"], "n_topics": n_topics}
        samplers = exact_samplers(problem)
        # With 10,000 topics a peer's sweep takes many seconds: a few must do.
        settings = Settings(rounds=4, turn=1.0, enough=25.0 if n_topics < 10_000 else 12.0)
        found = speed.contest(where, problem, samplers, settings)
        rows += found
        peer = max(found[1:], key=lambda row: row["rate"], default=None)
        if peer is not None:
            best.append(
                {
                    "corpus": name,
                    "n_topics": n_topics,
                    "rate": found[0]["rate"],
                    "peer": peer["system"],
                    "peer_rate": peer["rate"],
                    "ratio": peer["ratio"],
                    "asked": GOALS.get(n_topics, 0.0),
                }
            )
    report.section("speed", f"Many topics: {name}, one thread", rows, speed.COLUMNS, speed.REMARK)
    report.section("goals", f"Many topics: {name}, beside the fastest peer", best, COLUMNS, "")


def memories(name: str, corpus: topoi.Corpus, topics: tuple[int, ...], report: Report) -> None:
    """Peaks of all samplers after a short fit."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "corpus.npz"
        save(corpus, path)
        rows = []
        for n_topics in topics:
            samplers = exact_samplers(Problem(corpus, n_topics, alpha=50.0 / n_topics))
            found = memory.compare("lda", corpus, path, n_topics, samplers)
            rows += [{"corpus": name} | row for row in found]
    report.section("memory", f"Memory: {name}, {corpus.n_tokens:,} tokens", rows, memory.COLUMNS, memory.REMARK)


def costs(name: str, corpus: topoi.Corpus, topics: tuple[int, ...]) -> Iterator[dict[str, Any]]:
    """Nanoseconds per token of both kernels from the same states."""
    for n_topics in topics:
        for alpha_sum in (50.0, 5.0):
            yield from _costs_at(name, corpus, n_topics, alpha_sum)


def _costs_at(name: str, corpus: topoi.Corpus, n_topics: int, alpha_sum: float) -> Iterator[dict[str, Any]]:
    n, lengths = corpus.n_tokens, np.diff(corpus.doc_start)
    lists = np.zeros(corpus.n_docs, np.int32)
    starts = np.arange(corpus.n_docs + 1)
    documents = Documents(
        corpus.tokens.astype(np.int32), corpus.doc_start, lists, starts, np.ones(corpus.n_docs, np.float32)
    )
    priors = make_priors(np.full(n_topics, alpha_sum / n_topics), np.full(corpus.n_words, 0.01))
    orders = Orders(documents, n_topics, corpus.n_words, Scratch())
    kinds = {by_lists: orders.get(by_lists) for by_lists in (True, False)}
    topic = np.random.default_rng(0).integers(0, n_topics, n).astype(np.uint16)
    width = padded(n_topics)

    def sweep(by_lists: bool, number: int) -> tuple[float, np.ndarray]:
        """Nanoseconds per token of a sweep from the present topics, and the topics after it."""
        runs, order, block_docs = kinds[by_lists].layout
        counts = Counts(np.zeros((corpus.n_words, width), np.float32), np.zeros(n_topics), *_no_authors(width))
        equations.count(documents, Assignments(topic, np.zeros(n, np.uint16)), counts)
        own, stream = topic[order], new_stream(1, number)
        if by_lists:
            seconds = timed(lambda: topic_lists.sweep_lists(runs, own, counts, priors, lengths, stream))
        else:
            seconds = timed(lambda: word_major.sweep_words(runs, own, counts, priors, block_docs, stream))
        after = np.empty_like(topic)
        after[order] = own
        return seconds.cpu / n * 1e9, after

    every, room, at = np.arange(n), np.zeros(n_topics, np.int64), 0
    for target in (1, 10, 40):
        while at < target:
            at += 1
            topic = sweep(True, at)[1]
        yield {
            "corpus": name,
            "n_topics": n_topics,
            "alpha_sum": alpha_sum,
            "sweep": at,
            "lines": topic_lists.mean_lines(topic, every, corpus.doc_start, room),
            "runs": len(kinds[False].layout.runs.word) / n,
            "words": corpus.n_words / n,
            "lists": min(sweep(True, 1000 + i)[0] for i in range(3)),
            "dense": min(sweep(False, 2000 + i)[0] for i in range(3)),
        }


def _no_authors(width: int) -> tuple[np.ndarray, np.ndarray]:
    return np.zeros((1, width), np.float32), np.zeros(1)


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--topics", type=int, nargs="+", default=TOPICS)
    parser.add_argument("--corpus", choices=sorted({*corpora(), *parts()}), nargs="+", help="all, if not given")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--held-out", action="store_true", help="time to the same held-out level")
    what.add_argument("--memory", action="store_true", help="peaks of memory")
    what.add_argument("--costs", action="store_true", help="topoi's two kernels from the same states")
    parser.add_argument("--budget", type=float, default=6.0, help="processor seconds of the longest held-out fit")
    add_json(parser)
    arguments = parser.parse_args()
    report, topics = Report(), tuple(arguments.topics)
    for name, make in (parts() if arguments.held_out else corpora()).items():
        if arguments.corpus and name not in arguments.corpus:
            continue
        corpus = make()
        if arguments.held_out:
            held_out.contests(name, corpus, topics, arguments.budget, report)
        elif arguments.memory:
            memories(name, corpus, topics, report)
        elif arguments.costs:
            rows = list(costs(name, corpus, tuple(k for k in topics if k <= 4000)))
            report.section("costs", f"Two kernels: {name}", rows, COST_COLUMNS, "")
        else:
            contests(name, corpus, topics, report)
    report.write(arguments.json)


if __name__ == "__main__":
    main()
