"""Dirichlet-multinomial regression: seconds a sweep, coefficients' learning included, and what it predicts.

All systems have the same documents and the same design: an intercept, a column for every year and, in the larger one,
a column for every author of two papers or more. They learn every ten sweeps. Held-out documents are scored by one piece
of code, to which each system gives its topics' words and each document's alpha.
"""

from __future__ import annotations

from statistics import median
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

import topoi
from topoi.corpus.datasets import dataset_names
from topoi.corpus.vocabulary import Vocabulary
from topoi.evaluation import completion_curve
from topoi.models.author_topic.state import WeightedAuthors
from topoi.models.features.prediction import Belief, MetadataPredictions
from topoi.models.inputs import restrict

from .contenders import missing
from .contenders.regressions import (
    LEARN_EVERY,
    Regression,
    RegressionProblem,
    TomotopyRegression,
    TopicaRegression,
    TopoiRegression,
)
from .report import Report, progress
from .settings import Settings
from .timing import Seconds, timed

TOPICS, QUICK_TOPICS = (20, 100), (10,)
SWEEPS, QUICK_SWEEPS = 100, 20
OBSERVED = (0, 16, 64)
SPEED_COLUMNS = {
    "corpus": "corpus",
    "columns": "columns",
    "n_topics": "K",
    "threads": "threads",
    "system": "system",
    "turns": "turns",
    "wall": "s/sweep|.3f",
    "cpu": "CPU s/sweep|.3f",
    "rate": "M tokens/s|.2f",
    "ratio": "topoi is|.2f",
    "lowest": "lowest|.2f",
    "highest": "highest|.2f",
}
SPEED_REMARK = (
    "A turn is ten sweeps and one learning of the coefficients. Medians over turns, in which the systems alternate.\n"
    "'topoi is': that many times as fast, by CPU seconds on one thread and by the clock on two; median over rounds,\n"
    "and the lowest and highest round. On two threads all three sample approximately."
)
QUALITY_COLUMNS = {
    "corpus": "corpus",
    "columns": "columns",
    "n_topics": "K",
    "system": "system",
    "seconds": "s to train|.1f",
    "alpha": "Σ alpha|.2f",
    "perplexity_0": "metadata alone|.1f",
    "perplexity_16": "and 16 words|.1f",
    "perplexity_64": "and 64 words|.1f",
}
QUALITY_REMARK = (
    "Perplexity (over all tokens) of documents that nobody was trained on, given their metadata, or these and some of\n"
    "their words at random; the lower the better. One split, one seed, the last sample; CPU seconds. Σ alpha: its\n"
    "mean over these documents. A dash: topica inverts a matrix of all coefficients in the end, which is too much."
)


class Scorer(MetadataPredictions, BaseEstimator):
    """A system's topics and alphas in the place of a model of topoi's, so that all are scored alike."""

    n_jobs = 1

    def __init__(self, system: Regression, corpus: topoi.Corpus):
        self.system, self.vocabulary_, self.corpus_ = system, corpus.vocabulary, corpus
        self.authors_, self.n_iter_ = np.zeros(0, object), 0
        self.topic_word_ = system.topic_word()

    def fit(self) -> None:
        """Done already; a model has one."""

    def _lists_for(self, corpus: topoi.Corpus) -> WeightedAuthors:
        return WeightedAuthors.private(corpus.n_docs)

    def _beliefs(self, source: Any) -> list[Belief]:
        alpha = self.system.alpha(source)
        mean = alpha / alpha.sum(axis=1, keepdims=True)
        phi = self.topic_word_
        return [Belief(phi, lambda rows: mean[rows], lambda bags: self._folded(bags, phi, alpha))]


def with_people(corpus: topoi.Corpus) -> tuple[topoi.Corpus, dict[str, str]]:
    """The corpus with the features: authors of two documents or more and, where there are any, years as categories."""
    papers = np.bincount(corpus.doc_author, minlength=corpus.n_authors)
    regular = {str(name) for name, n in zip(corpus.authors, papers, strict=True) if n >= 2}
    people = [[name for name in names if name in regular] for names in corpus.author_lists()]
    metadata: dict[str, Any] = {"people": people}
    if "year" in corpus.documents:
        metadata["published"] = [f"{year}" for year in corpus.documents["year"]]
    found = topoi.Corpus(
        tokens=corpus.tokens,
        doc_start=corpus.doc_start,
        vocabulary=corpus.vocabulary,
        documents=topoi.Corpus.from_tokens([[]] * corpus.n_docs, metadata=metadata).documents,
    )
    return occurring(found), {name: "names" if name == "people" else "category" for name in metadata}


def occurring(corpus: topoi.Corpus) -> topoi.Corpus:
    """The corpus with the words that occur: every system has the same vocabulary then."""
    used = np.unique(corpus.tokens)
    return restrict(corpus, Vocabulary([str(word) for word in corpus.words[used]]))


def available() -> list[type[Regression]]:
    """topoi, and which of its peers are installed."""
    peers = {"tomotopy": TomotopyRegression, "topica": TopicaRegression}
    return [TopoiRegression, *(system for name, system in peers.items() if name not in missing())]


def speed(name: str, problem: RegressionProblem, settings: Settings) -> list[dict[str, Any]]:
    """Rows of one contest."""
    columns = len(problem.design.labels)
    where = {"corpus": name, "columns": columns, "n_topics": problem.n_topics, "threads": problem.n_threads}
    title = f"regression: {name}, K = {problem.n_topics}, {problem.n_threads} threads"
    systems = [system(problem) for system in available()]
    for system in systems:
        progress(f"{title}: warming up {system.name}")
        system.run(2 * LEARN_EVERY)
    turns: list[list[Seconds]] = [[] for _ in systems]
    for number in range(settings.rounds):
        progress(f"{title}: round {number + 1} of {settings.rounds}")
        order = [(number + i) % len(systems) for i in range(len(systems))]
        for i in order:
            if sum(turn.wall for turn in turns[i]) * LEARN_EVERY > settings.enough:
                continue
            turns[i].append(timed(lambda s=systems[i]: s.run(LEARN_EVERY)) / LEARN_EVERY)  # type: ignore[misc]
    rows = []
    for system, taken in zip(systems, turns, strict=True):
        clock = [turn.cpu if problem.n_threads == 1 else turn.wall for turn in taken]
        ours = [turn.cpu if problem.n_threads == 1 else turn.wall for turn in turns[0]]
        ratios = [theirs / mine for theirs, mine in zip(clock, ours, strict=False)]
        row = where | {"system": system.name, "turns": len(taken), "wall": median(turn.wall for turn in taken)}
        row |= {"cpu": median(turn.cpu for turn in taken), "rate": problem.corpus.n_tokens / median(clock) / 1e6}
        if system is not systems[0]:
            row |= {"ratio": median(ratios), "lowest": min(ratios), "highest": max(ratios)}
        rows.append(row)
        system.close()
    return rows


def quality(name: str, problem: RegressionProblem, test: topoi.Corpus, n_sweeps: int) -> list[dict[str, Any]]:
    """Rows of held-out perplexities."""
    compile_first(problem)
    rows: list[dict[str, Any]] = []
    where = {"corpus": name, "columns": len(problem.design.labels), "n_topics": problem.n_topics}
    for kind in available():
        if where["columns"] * problem.n_topics > kind.most_coefficients:
            rows.append(where | {"system": kind.name})
            continue
        progress(f"regression: {name}, K = {problem.n_topics}: {n_sweeps} sweeps of {kind.name}")
        system = kind(problem)
        seconds = timed(lambda s=system: s.fit(n_sweeps)).cpu  # type: ignore[misc]
        rows.append(where | {"system": kind.name, "seconds": seconds} | predicted(system, test))
        if isinstance(system, TopoiRegression):
            seconds += timed(system.refit).cpu
            rows.append(where | {"system": f"{kind.name}, refitted", "seconds": seconds} | predicted(system, test))
        system.close()
    return rows


def compile_first(problem: RegressionProblem) -> None:
    """Let topoi do once what it does only once."""
    few = problem._replace(corpus=problem.corpus.subset(slice(0, 20)))
    system = TopoiRegression(few)
    system.fit(2 * LEARN_EVERY)
    system.refit()


def predicted(system: Regression, test: topoi.Corpus) -> dict[str, float]:
    """What a system says of documents that it has not seen."""
    curve = completion_curve(Scorer(system, system.problem.corpus), test, OBSERVED, average="tokens")
    found = {f"perplexity_{n}": float(p) for n, p in zip(OBSERVED, curve["perplexity"], strict=True)}
    return found | {"alpha": float(system.alpha(test).sum(axis=1).mean())}


def main(corpora: dict[str, topoi.Corpus], settings: Settings, report: Report) -> None:
    """The last corpus given, the real one if there is one, with its metadata."""
    name, corpus = list(corpora.items())[-1]
    if name == "nips12" and name in dataset_names():
        corpus = topoi.load_dataset(name, min_df=5)
    corpus, features = with_people(corpus)
    topics = QUICK_TOPICS if settings.quick else TOPICS
    designs = [features] if len(features) == 1 else [{"published": "category"}, features]
    for n_threads in (1, 2):
        rows = [
            row
            for design in designs
            for n_topics in topics
            for row in speed(name, RegressionProblem(corpus, design, n_topics, n_threads), settings)
        ]
        title = f"Dirichlet-multinomial regression, {n_threads} thread{'s' if n_threads > 1 else ''}"
        report.section("dmr_speed", title, rows, SPEED_COLUMNS, SPEED_REMARK)
    train, test = corpus.split(test_size=0.1, random_state=0)
    train = occurring(train)
    test = restrict(test, train.vocabulary)
    n_sweeps = QUICK_SWEEPS if settings.quick else SWEEPS
    rows = [
        row
        for design in designs
        for n_topics in topics
        for row in quality(name, RegressionProblem(train, design, n_topics), test, n_sweeps)
    ]
    report.section("dmr_quality", "What regressions predict of new documents", rows, QUALITY_COLUMNS, QUALITY_REMARK)
