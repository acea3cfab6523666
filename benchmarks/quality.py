"""Held-out likelihood against seconds of training: what a user waits for.

Every system trains on the same 90 % of each document's tokens. Its estimates are scored by one function on the rest,
the mean of log Σ_k doc_topic[d, k] · topic_word[k, w]. The joint log-likelihood would not do: it is highest when all
tokens share one topic, and variational systems have none.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

import topoi

from .contenders import FAMILIES, Contender, Estimates, Problem, available
from .corpora import Heldout, Split, first_documents, hold_out
from .report import Report, progress
from .settings import Settings
from .timing import timed

REMARK = (
    "Mean log-likelihood of a held-out token, in nats: higher is better. Every value is a fit of its own, from the\n"
    "start, one seed, its last state; converting the corpus and scoring are not counted. A dash: no fit of that length."
)
LEVEL_COLUMNS = {
    "system": "system",
    "level": "level it reaches|.4f",
    "sweeps": "sweeps",
    "seconds": "its seconds|.2f",
    "ours": "topoi's seconds|.2f",
    "ratio": "topoi is|.1f",
    "common": "seconds to the lowest|.2f",
}
LEVEL_REMARK = (
    "The best level of each system, and how soon topoi is there: that many times as fast ('–': not in its time).\n"
    "The last column: the seconds each needs to the lowest of these levels. Interpolated over log seconds."
)


class Point(NamedTuple):
    """The score after some training."""

    seconds: float
    cpu: float
    sweeps: int
    score: float


def score(estimates: Estimates, heldout: Heldout, block: int = 20_000) -> float:
    """Mean log-likelihood of the held-out tokens; in blocks, for a token needs a row of topics."""
    word_topic = np.ascontiguousarray(np.asarray(estimates.topic_word, np.float64).T)
    doc_topic = np.asarray(estimates.doc_topic, np.float64)
    total = 0.0
    for begin in range(0, len(heldout.doc), block):
        here = slice(begin, begin + block)
        p = np.einsum("ik,ik->i", doc_topic[heldout.doc[here]], word_topic[heldout.word[here]])
        total += float(np.log(p).sum())
    return total / len(heldout.doc)


def curve(contender_class: type[Contender], problem: Problem, heldout: Heldout, train_for: float) -> list[Point]:
    """Scores of fits with 1, 2, 4, … sweeps, each from the start, until the next would take over ``train_for``."""
    points: list[Point] = []
    n = 1
    while not points or 2 * points[-1].seconds < train_for:
        contender = contender_class(problem)
        seconds = timed(lambda c=contender, n=n: c.fit(n))  # type: ignore[misc]
        points.append(Point(*seconds, n, score(contender.estimates(), heldout)))
        contender.close()
        n *= 2
    return points


def curves(split: Split, family: str, n_topics: int, settings: Settings) -> dict[str, list[Point]]:
    """The curve of every contender of a family."""
    found = {}
    problem = Problem(split.train, n_topics, alpha=50.0 / n_topics)
    for contender_class in available(family):
        progress(f"quality: {FAMILIES[family]}, K = {n_topics}: {contender_class.name}")
        compile_first(contender_class, split.train)
        found[contender_class.name] = curve(contender_class, problem, split.heldout, settings.train_for)
    return found


def compile_first(contender_class: type[Contender], corpus: topoi.Corpus, n_topics: int = 8) -> None:
    """Let a system do once what it does only once (topoi compiles its kernels: others for many topics than for few)."""
    problem = Problem(first_documents(corpus, 4 / corpus.n_docs), n_topics, alpha=0.5)
    if not contender_class.accepts(problem):
        problem = problem._replace(n_topics=8)
    small = contender_class(problem)
    small.fit(2)
    small.close()


def reached(points: list[Point], level: float) -> float | None:
    """The seconds at which a curve first has the level, between two points on the line over log seconds."""
    before = None
    for point in points:
        if point.score >= level:
            if before is None or point.score == before.score:
                return point.seconds
            share = (level - before.score) / (point.score - before.score)
            return float(before.seconds * (point.seconds / before.seconds) ** share)
        before = point
    return None


def grid(found: dict[str, list[Point]], longest: float) -> list[dict[str, Any]]:
    """Rows of seconds × systems: the latest score that a system had at that time."""
    first = min(points[0].seconds for points in found.values())
    rows: list[dict[str, Any]] = []
    at = 2.0 ** np.ceil(np.log2(first))
    while at <= 2 * longest:
        row: dict[str, Any] = {"seconds": float(at)}
        for name, points in found.items():
            known = [point.score for point in points if point.seconds <= at]
            # A curve that has ended is not carried on: the system might become better yet.
            row[name] = known[-1] if known and at < 2 * points[-1].seconds else None
        if any(row[name] is not None for name in found):
            rows.append(row)
        at *= 2
    return rows


def levels(found: dict[str, list[Point]]) -> list[dict[str, Any]]:
    """For each peer: the best it reaches, when, and when topoi is there."""
    rows = []
    lowest = min(max(point.score for point in points) for points in found.values())
    for name, points in found.items():
        best = max(points, key=lambda point: point.score)
        row: dict[str, Any] = {"system": name, "level": best.score, "sweeps": best.sweeps, "seconds": best.seconds}
        if name != "topoi":
            row["ours"] = reached(found["topoi"], best.score)
            row["ratio"] = None if row["ours"] is None else best.seconds / row["ours"]
        rows.append(row | {"common": reached(points, lowest)})
    return rows


def main(corpora: dict[str, topoi.Corpus], settings: Settings, report: Report) -> None:
    """Both families on the last corpus given, the real one if there is one, at their smallest number of topics."""
    name, corpus = list(corpora.items())[-1]
    for family in settings.families:
        label = FAMILIES[family]
        n_topics = min(settings.topics(family))
        part = first_documents(corpus, settings.author_share if family == "author-topic" else 1.0)
        split = hold_out(part)
        found = curves(split, family, n_topics, settings)
        title = f"Held-out likelihood against seconds: {name}, {label}, K = {n_topics}, {part.n_docs:,} documents"
        longest = max(points[-1].seconds for points in found.values())
        columns = {"seconds": "seconds|g"} | {system: f"{system}|.4f" for system in found}
        where = {"corpus": name, "model": label, "n_topics": n_topics}
        report.section("quality", title, [where | row for row in grid(found, longest)], columns, REMARK)
        report.section(
            "quality_levels", "Time to the same level", [where | r for r in levels(found)], LEVEL_COLUMNS, LEVEL_REMARK
        )
        report.sections.setdefault("quality_curves", []).append(
            where | {system: [point._asdict() for point in points] for system, points in found.items()}
        )
