"""What the project asks of itself, beside what this run measured."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

COLUMNS = {"goal": "goal", "corpus": "corpus", "asked": "asked", "measured": "measured|.2f", "met": "met"}
_RATIOS = (
    ("LDA", 100, "tomotopy", 1.4),
    ("LDA", 1000, "tomotopy", 3.0),
    ("author-topic", 100, "topica", 50.0),
    ("pachinko 50 ×", 100, "tomotopy", 25.0),
)
_THREADS = 1.7
_QUIET = 1.9  # two threads that share nothing gain at least this on a machine that is free
_SWEEP = 0.5
_SWEPT = ("LDA", "author-topic")


def rows(sections: dict[str, Any]) -> list[dict[str, Any]]:
    """The goals that this run has numbers for."""
    return [
        *_ratios(sections.get("speed", [])),
        *_sweep(sections.get("speed", [])),
        *_jobs(sections.get("threads", [])),
    ]


def _ratios(speed: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for model, n_topics, system, least in _RATIOS:
        for row in speed:
            if (row["model"], row["n_topics"], row["system"]) == (model, n_topics, system):
                goal = f"{model}, K = {n_topics}: tokens per second over {system}'s"
                yield _goal(goal, row["corpus"], f"≥ {least:g}", row["ratio"], row["ratio"] >= least)


def _sweep(speed: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for row in speed:
        if row["model"] in _SWEPT and (row["n_topics"], row["system"], row["corpus"]) == (100, "topoi", "nips12"):
            goal = f"{row['model']}, K = 100: seconds a sweep"
            yield _goal(goal, row["corpus"], f"< {_SWEEP:g}", row["wall"], row["wall"] < _SWEEP)


def _jobs(threads: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for row in threads:
        if row["n_topics"] != 100:
            continue
        goal = f"{row['model']}, K = {row['n_topics']}: n_jobs=2 over one thread"
        found = _goal(goal, row["corpus"], f"≥ {_THREADS:g}", row["speed_up"], row["speed_up"] >= _THREADS)
        if found["met"] == "no" and row["free"] < _QUIET:
            found["met"] = f"not to be told: the machine gave {row['free']:.2f}"
        yield found


def _goal(goal: str, corpus: str, asked: str, measured: float, met: bool) -> dict[str, Any]:
    return {"goal": goal, "corpus": corpus, "asked": asked, "measured": measured, "met": "yes" if met else "no"}
