"""Author-topic and regression models at 100 to 4,000 topics: topoi's two kernels, and its peers.

    TOPOI_DATA=~/corpora python -m benchmarks.many_topics_authors [--topics 100 1000] [--corpus NAME] [--json FILE]
    TOPOI_DATA=~/corpora python -m benchmarks.many_topics_authors --costs

All systems take turns on one thread; see ``speed`` and ``dmr``. ``--costs`` measures the dense kernel and the one with
lists of the words' topics from the same states: the figures behind ``shards.word_lists_pay``. The regression has a
column for every year.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import topoi
from topoi.corpus.datasets import dataset_names
from topoi.kernels.random import new_stream
from topoi.models.author_topic import kernels, word_lists
from topoi.models.author_topic.listed_words import mean_word_lines
from topoi.models.author_topic.state import AuthorTopicSampler
from topoi.models.inputs import WeightedAuthors

from . import dmr, speed
from .contenders import FAMILIES, Problem, available
from .contenders.regressions import RegressionProblem
from .corpora import compact
from .many_topics import corpora
from .report import Report, add_json, progress
from .settings import Settings
from .timing import timed

TOPICS = (100, 300, 1000, 4000)
COST_COLUMNS = {
    "corpus": "corpus",
    "model": "model",
    "n_topics": "K",
    "alpha_sum": "K·alpha|.0f",
    "sweep": "sweep",
    "authors": "authors|.1f",
    "lines": "lines|.1f",
    "without": "no list|.2f",
    "lists": "lists, ns|.0f",
    "dense": "dense, ns|.0f",
    "ratio": "ratio|.2f",
}
_MODELS = ("author-topic", "regression")


def costs(
    name: str, corpus: topoi.Corpus, topics: tuple[int, ...], models: tuple[str, ...], alpha_sums: tuple[float, ...]
) -> Iterator[dict[str, Any]]:
    """Nanoseconds per token of both kernels from the same states."""
    for model in models:
        for n_topics in topics:
            for alpha_sum in alpha_sums:
                yield from _costs_at({"corpus": name, "model": model}, corpus, n_topics, alpha_sum)


def _costs_at(where: dict[str, Any], corpus: topoi.Corpus, n_topics: int, alpha_sum: float) -> Iterator[dict[str, Any]]:
    alpha = np.full(n_topics, alpha_sum / n_topics)
    named = where["model"] == _MODELS[0]
    people = corpus.doc_author, corpus.doc_author_start, corpus.n_authors, False, None
    lists = WeightedAuthors.from_csr(*people) if named else WeightedAuthors.private(corpus.n_docs)
    sampler = AuthorTopicSampler(corpus, lists, alpha, np.full(corpus.n_words, 0.01))
    sampler.by_words = False
    chain = sampler.start(1, 0)
    documents, assignments = chain.shards[0].documents, chain.shards[0].assignments
    times = np.bincount(corpus.tokens, minlength=corpus.n_words)
    priors = chain.priors
    rows = np.zeros((0, 0), np.float32) if named else np.repeat(priors.alpha[None], corpus.n_docs, axis=0)
    room = priors._replace(alpha=np.zeros_like(priors.alpha))

    def sweep(by_lists: bool, number: int) -> float:
        """Nanoseconds per token of a sweep."""
        state, stream = (documents, assignments, chain.counts), new_stream(1, number)
        ways: dict[tuple[bool, bool], Callable[[], Any]] = {
            (True, True): lambda: word_lists.sweep_listed(*state, priors, times, stream),
            (True, False): lambda: kernels.sweep(*state, priors, stream),
            (False, True): lambda: word_lists.sweep_listed_with_priors(*state, rows, room, times, stream),
            (False, False): lambda: kernels.sweep_with_priors(*state, rows, room, stream),
        }
        return timed(ways[named, by_lists]).cpu / corpus.n_tokens * 1e9

    authors = float(np.diff(documents.author_start) @ np.diff(documents.doc_start) / corpus.n_tokens)
    sweep(False, 0)
    at = 0
    for target in (1, 10, 40):
        while at < target:
            at += 1
            sweep(True, at)
        lines, without = mean_word_lines(documents.tokens, times, chain.counts)
        turns = [(sweep(True, 1000 * at + i), sweep(False, 2000 * at + i)) for i in range(3)]
        by_lists, dense = (min(turn[i] for turn in turns) for i in range(2))
        found = {"n_topics": n_topics, "alpha_sum": alpha_sum, "sweep": at, "authors": authors, "lines": lines}
        yield where | found | {"without": without, "lists": by_lists, "dense": dense, "ratio": dense / by_lists}


def contests(name: str, corpus: topoi.Corpus, topics: tuple[int, ...], report: Report) -> None:
    """Measure all systems that sample at every number of topics."""
    rows = []
    corpus = compact(corpus.subset(np.flatnonzero(np.diff(corpus.doc_author_start))))  # topica has no private authors
    settings = Settings(rounds=4, turn=1.0, enough=25.0)
    for n_topics in topics:
        where = {"corpus": name, "model": FAMILIES["author-topic"], "n_topics": n_topics}
        samplers = [each for each in available("author-topic") if each.algorithm == "exact Gibbs"]
        rows += speed.contest(where, Problem(corpus, n_topics, alpha=50.0 / n_topics), samplers, settings)
    report.section("speed", f"Many topics, authors: {name}, one thread", rows, speed.COLUMNS, speed.REMARK)


def dated(name: str) -> topoi.Corpus | None:
    """The collection with its years, which contests of other models do without; None if it has none."""
    whole, _, part = name.partition("/")
    if whole not in dataset_names():
        return None
    corpus = topoi.load_dataset(whole, min_df=5)
    return corpus.subset(slice(0, None, int(part or 1))) if "year" in corpus.documents else None


def regressions(name: str, topics: tuple[int, ...], report: Report) -> None:
    """Measure all systems with a column for every year."""
    corpus = dated(name)
    if corpus is None:
        progress(f"regression: {name} has no years")
        return
    years = [f"{year}" for year in corpus.documents["year"]]
    described = topoi.Corpus(
        tokens=corpus.tokens,
        doc_start=corpus.doc_start,
        vocabulary=corpus.vocabulary,
        documents=topoi.Corpus.from_tokens([[]] * corpus.n_docs, metadata={"published": years}).documents,
    )
    rows = []
    for n_topics in topics:
        problem = RegressionProblem(dmr.occurring(described), {"published": "category"}, n_topics)
        rows += dmr.speed(name, problem, Settings(rounds=4, enough=60.0))
    report.section("regression", f"Many topics, regression: {name}", rows, dmr.SPEED_COLUMNS, dmr.SPEED_REMARK)


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--topics", type=int, nargs="+", default=TOPICS)
    parser.add_argument("--corpus", choices=list(corpora()), nargs="+", default=["acl-abstracts/4", "nips12"])
    parser.add_argument("--models", choices=_MODELS, nargs="+", default=_MODELS)
    parser.add_argument("--alpha-sums", type=float, nargs="+", default=(50.0, 5.0), help="of --costs")
    parser.add_argument("--costs", action="store_true", help="topoi's two kernels from the same states")
    add_json(parser)
    arguments = parser.parse_args()
    report, topics = Report(), tuple(arguments.topics)
    for name in arguments.corpus:
        corpus = corpora()[name]()
        if arguments.costs:
            rows = list(costs(name, corpus, topics, tuple(arguments.models), tuple(arguments.alpha_sums)))
            report.section("costs", f"Two kernels: {name}", rows, COST_COLUMNS, "")
            continue
        if _MODELS[0] in arguments.models:
            contests(name, corpus, topics, report)
        if _MODELS[1] in arguments.models:
            regressions(name, topics, report)
    report.write(arguments.json)


if __name__ == "__main__":
    main()
