"""Scale: the cost of a sweep against tokens, topics and workers, and held-out likelihood against seconds.

``make bench-scale``, or ``python -m benchmarks.scale [--only tokens topics workers quality] [--quick]``

Documents of about a hundred words by the Zipf–Mandelbrot law of ``benchmarks.on_disk``. Workers are processes on this
machine with one thread each, so no more of them can be faster than there are cores. Beside each measurement of workers
stands the prediction of ``topoi.engine.cluster.cost``, with speeds that are measured in the same run.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from statistics import median
from typing import Any

import numpy as np

import topoi
from topoi.engine.cluster.cost import Machine, predict
from topoi.engine.cluster.deltas import apply, differences
from topoi.engine.loop import SweepInfo

from .contenders import Contender, Problem, available
from .corpora import hold_out, simulated
from .on_disk import blocks, words
from .quality import LEVEL_COLUMNS, LEVEL_REMARK, REMARK, compile_first, curve, grid, levels
from .report import Report, add_json, progress
from .timing import timed

PARTS = ("tokens", "topics", "workers", "quality")
_TOKENS = (1e6, 3e6, 1e7, 3e7, 1e8)
_TOPICS = (10, 30, 100, 300, 1000, 3000, 10_000)
_WORKERS = (1, 2, 4)
# Sweeps before the clock starts, in which topics form, and sweeps that are measured.
_WARM_UP, _MEASURED = 6, 5
COST_COLUMNS = {
    "tokens": "tokens|,d",
    "n_topics": "K",
    "seconds": "CPU s a sweep|.3f",
    "per_token": "ns a token|.0f",
    "ratio": "to the first|.2f",
}
COST_REMARK = (
    "Processor seconds, one thread, exact; medians of sweeps 8 to 11. 'to the first': the cost of a token (or of one\n"
    "token and one topic) over that in the first row; 1 is a straight line."
)
WORKER_COLUMNS = {
    "tokens": "tokens|,d",
    "n_topics": "K",
    "n_shards": "shards",
    "n_workers": "workers",
    "seconds": "s a sweep|.3f",
    "threads": "as threads|.3f",
    "speed_up": "times one worker|.2f",
    "sent": "MB a sweep|.2f",
    "predicted": "predicted s|.3f",
    "off": "off by|+.0%",
    "predicted_sent": "predicted MB|.2f",
    "sent_off": "off by|+.0%",
}
WORKER_REMARK = (
    "Wall seconds, medians of sweeps 8 to 11. 'as threads': the same shards in one process with as many threads.\n"
    "'MB a sweep': the sum of all changes of counts, which every worker and the client receive."
)


def zipf_corpus(n_tokens: int) -> topoi.Corpus:
    """Documents of about a hundred words in memory."""
    lengths, tokens = (np.concatenate(part) for part in zip(*blocks(n_tokens), strict=True))
    start = np.concatenate(([0], np.cumsum(lengths)))
    vocabulary = topoi.Corpus.from_tokens([words()]).vocabulary
    return topoi.Corpus(tokens=tokens.astype(np.int32), doc_start=start, vocabulary=vocabulary)


def sweeps(corpus: topoi.Corpus, clock: Callable[[], float], **settings: Any) -> tuple[float, topoi.LDA]:
    """Median seconds of a sweep after warming up."""
    times: list[float] = []

    def note(info: SweepInfo) -> None:
        times.append(clock())

    never = 2 * (_WARM_UP + _MEASURED)
    settings = {"random_state": 0, "progress": False, "average": False, "evaluate_every": never} | settings
    model = topoi.LDA(settings.pop("n_topics"), prior="paper", n_iter=_WARM_UP, **settings).fit(corpus)
    # Apart, so that bytes are those of the measured sweeps: more tokens move in the first ones.
    model.resume(_MEASURED, callback=note)
    return median(np.diff(times)), model


def against_tokens(numbers: tuple[float, ...], report: Report) -> None:
    """The cost of a sweep against the number of tokens."""
    rows: list[dict[str, Any]] = []
    for n_tokens in numbers:
        progress(f"tokens: {n_tokens:,.0f}")
        corpus = zipf_corpus(int(n_tokens))
        seconds, _ = sweeps(corpus, time.process_time, n_topics=100, n_shards=1)
        row = {"tokens": corpus.n_tokens, "n_topics": 100, "seconds": seconds}
        rows.append(row | {"per_token": 1e9 * seconds / corpus.n_tokens})
        rows[-1]["ratio"] = rows[-1]["per_token"] / rows[0]["per_token"]
    report.section("tokens", "A sweep against tokens", rows, COST_COLUMNS, COST_REMARK)


def against_topics(n_tokens: int, numbers: tuple[int, ...], report: Report) -> None:
    """The cost of a sweep against the number of topics."""
    corpus = zipf_corpus(n_tokens)
    rows: list[dict[str, Any]] = []
    for n_topics in numbers:
        progress(f"topics: {n_topics:,}")
        seconds, _ = sweeps(corpus, time.process_time, n_topics=n_topics, n_shards=1)
        row = {"tokens": corpus.n_tokens, "n_topics": n_topics, "seconds": seconds}
        rows.append(row | {"per_token": 1e9 * seconds / corpus.n_tokens})
        first = rows[0]
        rows[-1]["ratio"] = rows[-1]["per_token"] / n_topics / (first["per_token"] / first["n_topics"])
    report.section("topics", "A sweep against topics", rows, COST_COLUMNS, COST_REMARK)


@contextmanager
def local_workers(n_workers: int) -> Iterator[Any]:
    """A client of a cluster on this machine."""
    from distributed import Client, LocalCluster

    settings: dict[str, Any] = {"threads_per_worker": 1, "dashboard_address": None, "host": "127.0.0.1"}
    with LocalCluster(n_workers=n_workers, **settings) as cluster, Client(cluster) as client:
        yield client


def nothing(*given: Any) -> None:
    """A task."""


def pass_over_cells(n_cells: int) -> float:
    """Seconds of one pass over counts on a worker."""
    rng = np.random.default_rng(0)
    old = rng.integers(0, 9, n_cells).astype(np.float32)
    new = old + (rng.random(n_cells) < 0.2)
    pieces = differences([old], [new], 1)
    # Five passes: a copy, a comparison of two arrays in two steps, a sum, and what finds the changes.
    work = median(
        timed(lambda: (old.copy(), differences([old], [new], 1), apply([old], pieces))).wall for _ in range(5)
    )
    return work / 5


def measured_machine(client: Any, tokens_per_second: float, n_cells: int) -> Machine:
    """The speeds of this machine and of its scheduler; counts are passed over by all workers at a time."""
    workers = list(client.nthreads())
    passes = [client.submit(pass_over_cells, n_cells, workers=[worker], pure=False) for worker in workers]
    one_pass = median(client.gather(passes))
    alone = client.submit(pass_over_cells, n_cells, workers=workers[:1], pure=False).result()
    data = client.submit(np.ones, 2**22, workers=workers[:1], pure=False)
    data.result()
    copied = median(
        timed(lambda: client.submit(nothing, data, workers=workers[-1:], pure=False).result()).wall for _ in range(3)
    )
    latency = median(timed(lambda: client.submit(nothing, pure=False).result()).wall for _ in range(9))
    many = timed(lambda: client.gather([client.submit(nothing, i, pure=False) for i in range(200)])).wall
    bandwidth = 8 * 2**22 / max(copied - latency, 1e-4) if len(workers) > 1 else 1e9
    return Machine(tokens_per_second, n_cells / one_pass, bandwidth, many / 200, 4 * latency, n_cells / alone)


def movement(model: topoi.LDA) -> tuple[Any, float]:
    """Counts of words by topics at the end of a fit, and the share of tokens that one more sweep moves."""
    first = model.chains_[0]
    before, counts = first.assignments.topic.copy(), first.counts.word_topic[:, : model.n_topics].copy()
    model.executor = None
    after = model.resume(1).chains_[0].assignments.topic
    return counts, float((before != after).mean())


def against_workers(n_tokens: int, n_topics: int, n_shards: int, numbers: tuple[int, ...], report: Report) -> None:
    """The time of a sweep against the number of workers, and its prediction."""
    corpus = zipf_corpus(n_tokens)
    n_cells = corpus.n_words * (-(-n_topics // 16) * 16)
    how = {"n_topics": n_topics, "n_shards": n_shards}
    rows: list[dict[str, Any]] = []
    for n_workers in numbers:
        progress(f"workers: {n_workers}")
        as_threads, _ = sweeps(corpus, time.perf_counter, **how, n_jobs=n_workers)
        with local_workers(n_workers) as client:
            seconds, model = sweeps(corpus, time.perf_counter, **how, executor=client)
            # A thread's speed while as many others work: cores share caches and memory, and more threads share cores.
            machine = measured_machine(client, corpus.n_tokens / as_threads / n_workers, n_cells)
        sent = model.fit_info_["bytes_per_sweep"]
        counts, moved = movement(model)
        cost = predict(
            *(corpus.n_tokens, corpus.n_words, n_topics, n_workers, machine),
            n_shards=n_shards,
            moved=moved,
            word_topic=counts,
        )
        row = {"tokens": corpus.n_tokens, "n_workers": n_workers, "seconds": seconds, "threads": as_threads, **how}
        row |= {"moved": moved, "sent": sent / 1e6, "predicted": cost.seconds, "off": cost.seconds / seconds - 1}
        row |= {"predicted_sent": cost.bytes_merged / 1e6, "sent_off": cost.bytes_merged / sent - 1}
        row |= {f"machine_{name}": speed for name, speed in machine._asdict().items()}
        rows.append(row | {"speed_up": (rows[0] if rows else row)["seconds"] / seconds})
    report.section("workers", "A sweep against workers", rows, WORKER_COLUMNS, WORKER_REMARK)


def others() -> list[type[Contender]]:
    """Spark's LDA and gensim's distributed mode, if they are installed: pyspark with a Java, and Pyro4."""
    found: list[type[Contender]] = []
    for module, needs, name in (
        ("with_spark", "pyspark.ml", "SparkLDA"),
        ("with_gensim_workers", "Pyro4", "GensimWorkers"),
    ):
        if find_spec(needs.partition(".")[0]) and (needs != "pyspark.ml" or shutil.which("java")):
            found.append(getattr(import_module(f".contenders.{module}", __package__), name))
        else:
            progress(f"{name} is left out: {needs} is not installed")
    return found


def quality(train_for: float, report: Report) -> None:
    """Held-out likelihood against seconds: all systems that are installed, one thread or process each."""
    split = hold_out(simulated())
    problem = Problem(split.train, 100, alpha=0.5)
    found = {}
    for contender_class in [*available("lda"), *others()]:
        progress(f"quality: {contender_class.name}")
        compile_first(contender_class, split.train)
        found[contender_class.name] = curve(contender_class, problem, split.heldout, train_for)
    longest = max(points[-1].seconds for points in found.values())
    columns = {"seconds": "seconds|g"} | {system: f"{system}|.4f" for system in found}
    report.section("quality", "Held-out likelihood against seconds, K = 100", grid(found, longest), columns, REMARK)
    report.section("levels", "Time to the same level", levels(found), LEVEL_COLUMNS, LEVEL_REMARK)


def main(given: list[str]) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--tokens", type=float, nargs="+", default=_TOKENS)
    parser.add_argument("--topics", type=int, nargs="+", default=_TOPICS)
    parser.add_argument("--workers", type=int, nargs="+", default=_WORKERS)
    parser.add_argument("--budget", type=float, default=30.0, help="seconds of the longest fit, of quality")
    parser.add_argument("--quick", action="store_true", help="small numbers: a check that it runs")
    add_json(parser)
    options = parser.parse_args(given)
    if options.quick:
        options.tokens, options.topics, options.workers = (1e5, 3e5), (10, 30), (1, 2)
    report = Report()
    for part in options.only:
        if part == "tokens":
            against_tokens(tuple(options.tokens), report)
        elif part == "topics":
            against_topics(100_000 if options.quick else 1_000_000, tuple(options.topics), report)
        elif part == "workers":
            sizes = [(300_000, 20)] if options.quick else [(4_000_000, 100), (16_000_000, 100), (4_000_000, 500)]
            for n_tokens, n_topics in sizes:
                against_workers(n_tokens, n_topics, 4, tuple(options.workers), report)
        else:
            quality(2.0 if options.quick else options.budget, report)
    report.write(options.json)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
