"""Tokens per second: the contenders take turns in one process, one thread each, after a warm-up."""

from __future__ import annotations

from statistics import median
from typing import Any

import topoi

from .contenders import FAMILIES, Contender, Problem, available
from .corpora import first_documents
from .report import Report, progress
from .settings import Settings
from .timing import Seconds, timed

COLUMNS = {
    "corpus": "corpus",
    "model": "model",
    "n_topics": "K",
    "system": "system",
    "algorithm": "algorithm",
    "documents": "documents|,",
    "sweeps": "sweeps",
    "wall": "s/sweep|.3f",
    "cpu": "CPU s/sweep|.3f",
    "best": "best CPU|.3f",
    "rate": "M tokens/s|.3f",
    "ratio": "topoi is|.2f",
    "best_ratio": "by best|.2f",
}
REMARK = (
    "s/sweep and CPU s/sweep are medians over the rounds, best CPU is the fastest round; M tokens/s follow from the\n"
    "CPU median. 'topoi is': that many times the system's tokens per second. Where 'documents' is less than the\n"
    "corpus has, the system was timed on those alone. A variational pass is another algorithm: compare quality instead."
)


class _Runner:
    """A contender with its clock."""

    def __init__(self, contender_class: type[Contender], problem: Problem):
        self.corpus = first_documents(problem.corpus, contender_class.share(problem.n_topics))
        self.contender = contender_class(problem._replace(corpus=self.corpus))
        self.turns: list[Seconds] = []
        self.sweeps = 0
        self.spent = 0.0
        self.per_sweep = 0.0

    def warm_up(self, enough: float) -> None:
        """Sweeps that do not count, one by one, until there are enough of them or too much time is gone."""
        spent = 0.0
        for _ in range(self.contender.warm_up):
            self.per_sweep = timed(lambda: self.contender.run(1)).wall
            spent += self.per_sweep
            if spent > enough:
                break

    def turn(self, settings: Settings) -> None:
        """One measured turn, unless the contender has used up its time."""
        if self.turns and self.spent + self.per_sweep > settings.enough:
            return
        n = max(1, min(10, round(settings.turn / max(self.per_sweep, 1e-9))))
        seconds = timed(lambda: self.contender.run(n))
        self.turns.append(seconds / n)
        self.sweeps += n
        self.spent += seconds.wall

    def row(self) -> dict[str, Any]:
        """What was measured."""
        cpu = [turn.cpu for turn in self.turns]
        return {
            "system": self.contender.name,
            "algorithm": self.contender.algorithm,
            "documents": self.corpus.n_docs,
            "tokens": self.corpus.n_tokens,
            "sweeps": self.sweeps,
            "wall": median(turn.wall for turn in self.turns),
            "cpu": median(cpu),
            "best": min(cpu),
            "rate": self.corpus.n_tokens / median(cpu) / 1e6,
            "best_rate": self.corpus.n_tokens / min(cpu) / 1e6,
        }


def compare(corpus: topoi.Corpus, name: str, family: str, n_topics: int, settings: Settings) -> list[dict[str, Any]]:
    """Rows of one contest: every contender of the family at one number of topics."""
    problem = Problem(corpus, n_topics, alpha=50.0 / n_topics)
    where = {"corpus": name, "model": FAMILIES[family], "n_topics": n_topics}
    return contest(where, problem, available(family), settings)


def contest(
    where: dict[str, Any], problem: Problem, contenders: list[type[Contender]], settings: Settings
) -> list[dict[str, Any]]:
    """Rows of some contenders that take turns at one problem."""
    title = f"speed: {where['corpus']}, {where['model']}, K = {where['n_topics']}"
    runners = []
    for contender_class in contenders:
        progress(f"{title}: warming up {contender_class.name}")
        runners.append(_Runner(contender_class, problem))
        runners[-1].warm_up(settings.enough)
    for turn in range(settings.rounds):
        progress(f"{title}: round {turn + 1} of {settings.rounds}")
        # A different one begins each round, so that nobody always runs after the same neighbour.
        at = turn % len(runners)
        for runner in runners[at:] + runners[:at]:
            runner.turn(settings)
    rows = [where | runner.row() for runner in runners]
    for runner in runners:
        runner.contender.close()
    return with_ratios(rows)


def with_ratios(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows with topoi's speed over each system's."""
    ours = rows[0]
    for row in rows[1:]:
        row["ratio"] = ours["rate"] / row["rate"]
        row["best_ratio"] = ours["best_rate"] / row["best_rate"]
    return rows


def main(corpora: dict[str, topoi.Corpus], settings: Settings, report: Report) -> None:
    """All contests: every corpus, family and number of topics."""
    for number, (name, corpus) in enumerate(corpora.items()):
        topics = settings.fewer_topics if number else settings.topics
        rows = [
            row
            for family in settings.families
            for n_topics in topics(family)
            for row in compare(corpus, name, family, n_topics, settings)
        ]
        report.section("speed", f"Speed on {name}, one thread", rows, COLUMNS, REMARK)
