"""Two threads: topoi with two shards on one and on two threads, beside its exact single chain."""

from __future__ import annotations

import hashlib
from concurrent.futures import ThreadPoolExecutor
from statistics import mean, median
from typing import Any

import topoi

from .contenders import FAMILIES, Problem
from .contenders.ours import TopoiAuthorTopic, TopoiLDA
from .corpora import hold_out, simulated
from .quality import score
from .report import Report, progress
from .settings import Settings
from .timing import Seconds, timed

# (shards, threads): exact; approximate on one thread; approximate on two.
LAYOUTS = ((1, 1), (2, 1), (2, 2))
SEEDS = (1, 2, 3)
_TURN = 4  # sweeps
# Hashed by each thread of ``free_cores``: about as long as a turn.
_BLOCK, _BLOCKS = bytes(10_000_000), 60
_CLASSES: dict[str, type[TopoiLDA]] = {"lda": TopoiLDA, "author-topic": TopoiAuthorTopic}
COLUMNS = {
    "corpus": "corpus",
    "tokens": "tokens|,",
    "model": "model",
    "n_topics": "K",
    "exact": "1 shard, 1 thread|.3f",
    "one": "2 shards, 1 thread|.3f",
    "two": "2 shards, 2 threads|.3f",
    "speed_up": "n_jobs=2 is|.2f",
    "over_exact": "over exact|.2f",
    "work": "CPU of 2 over 1|.2f",
    "free": "machine gave|.2f",
}
REMARK = (
    "Wall seconds a sweep, medians of alternating turns. 'n_jobs=2 is': times as fast as n_jobs=1 with the same two\n"
    "shards, which give the same bits; 'over exact': times as fast as the exact chain. 'CPU of 2 over 1': processor\n"
    "time of two threads over one's, 1 if threads cost nothing. 'machine gave': the speed-up of two threads that\n"
    "share nothing, measured in the same turns; with two idle cores it is near 2, and no program can do better."
)
QUALITY_COLUMNS = {
    "model": "model",
    "n_topics": "K",
    "sweeps": "sweeps",
    "exact": "exact|.4f",
    "shards": "2 shards|.4f",
    "difference": "difference|+.4f",
    "least": "least|+.4f",
    "most": "most|+.4f",
}
QUALITY_REMARK = "Held-out log-likelihood per token: means over three seeds, and the range of the differences."


def compare(corpus: topoi.Corpus, name: str, family: str, n_topics: int, settings: Settings) -> dict[str, Any]:
    """Seconds a sweep of the three layouts, in turns."""
    problem = Problem(corpus, n_topics, alpha=50.0 / n_topics)
    contenders = [_CLASSES[family](problem, n_shards=shards, n_jobs=jobs) for shards, jobs in LAYOUTS]
    progress(f"threads: {name}, {FAMILIES[family]}, K = {n_topics}: warming up")
    turns: list[list[Seconds]] = [[] for _ in contenders]
    free = []
    for contender in contenders:
        contender.run(5)
    for _ in range(settings.rounds):
        for contender, seconds in zip(contenders, turns, strict=True):
            seconds.append(timed(lambda c=contender: c.run(_TURN)) / _TURN)  # type: ignore[misc]
        free.append(free_cores())
    for contender in contenders:
        contender.close()
    exact, one, two = (median(turn.wall for turn in seconds) for seconds in turns)
    _, one_cpu, two_cpu = (median(turn.cpu for turn in seconds) for seconds in turns)
    where = {"corpus": name, "tokens": corpus.n_tokens, "model": FAMILIES[family], "n_topics": n_topics}
    gains = {"speed_up": one / two, "over_exact": exact / two, "work": two_cpu / one_cpu, "free": median(free)}
    return where | {"exact": exact, "one": one, "two": two} | gains


def free_cores() -> float:
    """How much more two threads do than one: hashing, which shares neither memory nor Python's lock."""

    def work(blocks: int) -> None:
        digest = hashlib.sha256()
        for _ in range(blocks):
            digest.update(_BLOCK)

    one = timed(lambda: work(_BLOCKS)).wall
    with ThreadPoolExecutor(2) as pool:
        two = timed(lambda: list(pool.map(work, [_BLOCKS, _BLOCKS]))).wall
    return 2 * one / two


def quality(corpus: topoi.Corpus, family: str, n_topics: int, settings: Settings) -> dict[str, Any]:
    """Held-out likelihood after equally many sweeps, exact and in two shards."""
    split = hold_out(corpus)
    scores: dict[int, list[float]] = {1: [], 2: []}
    for seed in SEEDS:
        progress(f"threads: held-out likelihood of shards, {FAMILIES[family]}, seed {seed}")
        for shards, found in scores.items():
            contender = _CLASSES[family](
                Problem(split.train, n_topics, 50.0 / n_topics, seed=seed), n_shards=shards, n_jobs=shards
            )
            contender.fit(settings.shard_sweeps)
            found.append(score(contender.estimates(), split.heldout))
    differences = [approximate - exact for exact, approximate in zip(scores[1], scores[2], strict=True)]
    return {
        "model": FAMILIES[family],
        "n_topics": n_topics,
        "sweeps": settings.shard_sweeps,
        "exact": mean(scores[1]),
        "shards": mean(scores[2]),
        "difference": mean(differences),
        "least": min(differences),
        "most": max(differences),
    }


def main(corpora: dict[str, topoi.Corpus], settings: Settings, report: Report) -> None:
    """Both families on the first corpus and on one of twice its size, then what shards do to quality."""
    name, corpus = next(iter(corpora.items()))
    sizes = {name: corpus, "simulated × 2": simulated(settings.quick, times=2)}
    families = {family: min(settings.topics(family)) for family in settings.families}
    rows = [
        compare(part, size, family, n_topics, settings)
        for size, part in sizes.items()
        for family, n_topics in families.items()
    ]
    report.section("threads", "Two threads", rows, COLUMNS, REMARK)
    found = [quality(corpus, family, n_topics, settings) for family, n_topics in families.items()]
    report.section("threads_quality", "What two shards do to quality", found, QUALITY_COLUMNS, QUALITY_REMARK)
