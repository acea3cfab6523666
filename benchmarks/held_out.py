"""Time to the same held-out level, LDA: processor seconds of fitting, beside tomotopy and topica.

The rule, laid down before the runs (but after a trial with 1,000 simulated documents, too few to learn from: there the
first sweep was the best, hence "for good" below):

* A tenth of the documents, at most 300, is held out. Everybody trains on the others from a random start, one thread,
  with K · alpha = 5 and beta = 0.01, both fixed: fits of 1, 2, 4, … sweeps, each from the start, until the next would
  take more than the budget of processor seconds. Converting the corpus and scoring are not counted.
* Everybody's topics (the last sample, smoothed by beta) are scored by one function: half of each held-out document's
  tokens give its mixture under a symmetric Dirichlet of the same alpha, and the mean log-likelihood of the other half
  under that mixture is the level.
* The level to reach is the lowest among those of the contenders' longest fits: what the slowest of them reaches within
  its budget. The seconds to it are those after which no longer fit is below it, interpolated over log seconds between
  the fits on both sides. The ratio is the fastest peer's seconds over topoi's.
"""

from __future__ import annotations

import gc
from typing import Any, NamedTuple

import numpy as np

import topoi

from .contenders import Contender, Problem, available
from .corpora import compact
from .quality import Point, compile_first, reached
from .report import Report, progress
from .timing import timed

MOST_DOCUMENTS = 300
STEPS = 30
ALPHA_SUM = 5.0
GOAL = 3.0
CURVE_COLUMNS = {
    "corpus": "corpus",
    "n_topics": "K",
    "system": "system",
    "sweeps": "sweeps",
    "seconds": "CPU s|.2f",
    "score": "level|.4f",
}
COLUMNS = {
    "corpus": "corpus",
    "n_topics": "K",
    "level": "level|.4f",
    "set_by": "set by",
    "ours": "topoi, CPU s|.2f",
    "peer": "fastest peer",
    "theirs": "its CPU s|.2f",
    "ratio": "ratio|.1f",
    "asked": "asked|.1f",
}
REMARK = (
    "CPU seconds to the lowest level among the longest fits (nats a held-out token), for good; one seed. A star: our\n"
    "fits are never below it, so that its seconds are no more than those of one sweep."
)


class HeldOut(NamedTuple):
    """A document's seen words with their numbers, and the words to predict."""

    seen: np.ndarray
    number: np.ndarray
    unseen: np.ndarray


def split(corpus: topoi.Corpus, seed: int = 1) -> tuple[topoi.Corpus, list[HeldOut]]:
    """Training documents, and held-out ones in two halves; words are those of the training documents."""
    rng = np.random.default_rng(seed)
    shuffled = rng.permutation(corpus.n_docs)
    n_out = min(MOST_DOCUMENTS, corpus.n_docs // 10)
    train = compact(corpus.subset(np.sort(shuffled[n_out:])))
    column = np.full(corpus.n_words, -1)
    column[np.unique(np.concatenate([corpus.tokens[_range(corpus, d)] for d in shuffled[n_out:]]))] = np.arange(
        train.n_words
    )
    documents = []
    for d in np.sort(shuffled[:n_out]):
        words = column[corpus.tokens[_range(corpus, d)]]
        words = rng.permutation(words[words >= 0])
        if len(words) >= 2:
            seen, number = np.unique(words[: len(words) // 2], return_counts=True)
            documents.append(HeldOut(seen, number.astype(np.float32), words[len(words) // 2 :]))
    return train, documents


def _range(corpus: topoi.Corpus, d: int) -> slice:
    return slice(int(corpus.doc_start[d]), int(corpus.doc_start[d + 1]))


def completion(topic_word: np.ndarray, documents: list[HeldOut], alpha: float) -> float:
    """Mean log-likelihood of the unseen tokens.

    A document's mixture theta is the fixed point of theta[k] ∝ alpha + Σ over seen tokens of the topic's share in them.
    """
    by_word = np.ascontiguousarray(np.asarray(topic_word, np.float32).T)
    total, n_tokens = 0.0, 0
    for seen, number, unseen in documents:
        rows = by_word[seen]
        theta = np.full(rows.shape[1], 1.0 / rows.shape[1], np.float32)
        for _ in range(STEPS):
            theta = alpha + theta * ((number / (rows @ theta)) @ rows)
            theta /= theta.sum()
        total += float(np.log(by_word[unseen] @ theta.astype(np.float64)).sum())
        n_tokens += len(unseen)
    return total / n_tokens


def curve(contender_class: type[Contender], problem: Problem, documents: list[HeldOut], budget: float) -> list[Point]:
    """Levels of fits with 1, 2, 4, … sweeps, each from the start; ``seconds`` are the processor's."""
    points: list[Point] = []
    n = 1
    while not points or 2 * points[-1].seconds < budget:
        contender = contender_class(problem)
        seconds = timed(lambda c=contender, n=n: c.fit(n)).cpu  # type: ignore[misc]
        points.append(Point(seconds, seconds, n, completion(contender.topic_word(), documents, problem.alpha)))
        contender.close()
        progress(f"held-out: K = {problem.n_topics}, {contender.name}, {n} sweeps: {points[-1].score:.4f}")
        del contender
        gc.collect()  # contenders refer to themselves, and hold gigabytes with 10,000 topics
        n *= 2
    return points


def reached_for_good(points: list[Point], level: float) -> float:
    """Seconds after which no fit is below a level that the last one has."""
    below = [number for number, point in enumerate(points) if point.score < level]
    if not below:
        return points[0].seconds
    found = reached(points[below[-1] :], level)
    assert found is not None
    return found


def outcome(found: dict[str, list[Point]]) -> dict[str, Any]:
    """The level to reach, and who is there when."""
    slowest = min(found, key=lambda name: found[name][-1].score)
    level = found[slowest][-1].score
    when = {name: reached_for_good(points, level) for name, points in found.items()}
    ours = when.pop("topoi")
    peer = min(when, key=lambda name: when[name])
    never_below = all(point.score >= level for point in found["topoi"])
    return {
        "level": level,
        "set_by": slowest + "*" * never_below,
        "ours": ours,
        "peer": peer,
        "theirs": when[peer],
        "ratio": when[peer] / ours,
        "asked": GOAL,
    }


def exact_samplers(problem: Problem) -> list[type[Contender]]:
    """The systems whose algorithm is Gibbs sampling and that can fit the problem, topoi first."""
    return [each for each in available("lda") if each.algorithm == "exact Gibbs" and each.accepts(problem)]


def contests(name: str, corpus: topoi.Corpus, topics: tuple[int, ...], budget: float, report: Report) -> None:
    """All exact samplers on one corpus, at every number of topics."""
    train, documents = split(corpus)
    progress(f"held-out: {name}: {train}, {len(documents)} documents held out")
    rows = []
    for n_topics in topics:
        problem = Problem(train, n_topics, alpha=ALPHA_SUM / n_topics)
        where = {"corpus": name, "n_topics": n_topics}
        found = {}
        for each in exact_samplers(problem):
            compile_first(each, train, n_topics)
            found[each.name] = curve(each, problem, documents, budget)
        every = [where | {"system": system} | point._asdict() for system, points in found.items() for point in points]
        report.section("held_out_curves", f"Held-out level: {name}, K = {n_topics}", every, CURVE_COLUMNS)
        rows.append(where | outcome(found))
    report.section("held_out", f"Time to the same held-out level: {name}", rows, COLUMNS, REMARK)
