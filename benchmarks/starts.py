"""Starts of LDA's chains other than random topics for all words: held-out levels against processor seconds.

    TOPOI_DATA=~/corpora python -m benchmarks.starts [--topics 100 1000] [--corpus NAME] [--seeds 3] [--json FILE]

The parts of corpora, the split and the score are those of ``benchmarks.many_topics --held-out``. A start is only an
initialisation: all sweeps are exact. Printed are the seconds, everything included, to the mean level that a random
start has after 16, 64 and 128 sweeps, for good, and the mean level after all sweeps.

* ``random``: every word has a random topic.
* ``documents``: every document has one random topic.
* ``growing``: a random sixteenth of the documents is swept 16 times from a random start, then twice as many, whose new
  words take the topic of a random word of the same kind, and so on until all are in.
* ``longer``: the same with 32 sweeps each, and one random topic to a document at first.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

import topoi
from topoi.corpus.mapped import Scratch
from topoi.corpus.pieces import row_positions
from topoi.kernels.counts import Assignments, Counts, Documents
from topoi.kernels.lanes import padded
from topoi.kernels.random import new_stream
from topoi.models.author_topic import equations
from topoi.models.author_topic.shards import Orders, WordShard
from topoi.models.author_topic.state import make_priors

from .held_out import ALPHA_SUM, HeldOut, completion, split
from .many_topics import parts
from .report import Report, add_json, progress

STARTS = ("random", "documents", "growing", "longer")
MARKS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 400)
LEVELS = (16, 64, 128)
BETA = 0.01
_HALVINGS = 4
COLUMNS = {"corpus": "corpus", "n_topics": "K", "start": "start"}
COLUMNS |= {f"to_{mark}": f"to {mark}|.2f" for mark in LEVELS} | {"level": "level after all|.3f"}
REMARK = (
    "CPU seconds to the mean level of a random start after so many sweeps, for good, on average over seeds; a dash:\n"
    "not reached by every seed. The last column is the mean level after the last sweep."
)


class Chain:
    """One chain over some documents, from given topics."""

    def __init__(self, tokens: np.ndarray, doc_start: np.ndarray, n_words: int, n_topics: int, topic: np.ndarray):
        n_docs, width, topic = len(doc_start) - 1, padded(n_topics), topic.astype(np.uint16)
        alone = np.zeros(n_docs, np.int32), np.arange(n_docs + 1), np.ones(n_docs, np.float32)
        documents = Documents(tokens.astype(np.int32), doc_start, *alone)
        self._priors = make_priors(np.full(n_topics, ALPHA_SUM / n_topics), np.full(n_words, BETA))
        self._shard = WordShard(documents, Orders(documents, n_topics, n_words, Scratch()))
        none = np.zeros((1, width), np.float32), np.zeros(1)
        self._counts = Counts(np.zeros((n_words, width), np.float32), np.zeros(n_topics), *none)
        self._shard.set_assignments(topic, topic)
        equations.count(documents, Assignments(topic, np.zeros(len(topic), np.uint16)), self._counts)

    def sweep(self, seed: int, number: int) -> None:
        """Sample every token once."""
        self._shard.sweep(self._counts, self._priors, new_stream(seed, number))

    def topic(self) -> np.ndarray:
        """Topics of the tokens, document by document."""
        return self._shard.in_document_order().topic.astype(np.int64)

    def topic_word(self) -> np.ndarray:
        """P(word | topic)."""
        counts = self._counts.word_topic[:, : len(self._counts.topic)].T + BETA
        return np.asarray(counts / counts.sum(axis=1, keepdims=True))


def first_topics(
    start: str, train: topoi.Corpus, n_topics: int, seed: int, rng: np.random.Generator
) -> tuple[np.ndarray, int]:
    """Topics of all tokens to begin with, and the number of sweeps over parts that were needed for them."""
    lengths = train.doc_lengths
    if start == "random":
        return rng.integers(0, n_topics, train.n_tokens), 0
    if start == "documents":
        return np.repeat(rng.integers(0, n_topics, train.n_docs), lengths), 0
    order, n_sweeps, number = rng.permutation(train.n_docs), 32 if start == "longer" else 16, 0
    topic, known = np.zeros(0, np.int64), np.zeros(0, np.int64)
    for part in [2.0 ** (i - _HALVINGS) for i in range(_HALVINGS + 1)]:
        at, doc_start = row_positions(train.doc_start, order[: max(1, int(part * train.n_docs))])
        tokens = np.asarray(train.tokens, np.int64)[at]
        topic = np.concatenate([topic, _more(known, topic, tokens[len(topic) :], train.n_words, n_topics, rng)])
        if start == "longer" and not len(known):
            topic = np.repeat(rng.integers(0, n_topics, len(doc_start) - 1), np.diff(doc_start))
        known = tokens
        if part < 1.0:
            chain = Chain(tokens, doc_start, train.n_words, n_topics, topic)
            for _ in range(n_sweeps):
                number += 1
                chain.sweep(seed, number)
            topic = chain.topic()
    found = np.empty(train.n_tokens, np.int64)
    found[at] = topic
    return found, number


def _more(
    known: np.ndarray, topic: np.ndarray, new: np.ndarray, n_words: int, n_topics: int, rng: np.random.Generator
) -> np.ndarray:
    """Topics of new tokens: of a random known token of the same word; random for words that are not known."""
    by_word, times = np.argsort(known, kind="stable"), np.bincount(known, minlength=n_words)
    first = np.cumsum(times) - times
    found = rng.integers(0, n_topics, len(new))
    here = times[new] > 0
    at = first[new[here]] + (rng.random(int(here.sum())) * times[new[here]]).astype(np.int64)
    found[here] = topic[by_word[at]]
    return found


def curve(start: str, train: topoi.Corpus, documents: list[HeldOut], n_topics: int, seed: int) -> np.ndarray:
    """Processor seconds and levels at the marks: two rows."""
    began = time.process_time()
    topic, number = first_topics(start, train, n_topics, seed, np.random.default_rng(seed))
    chain = Chain(train.tokens, train.doc_start, train.n_words, n_topics, topic)
    spent, found = time.process_time() - began, []
    for last, mark in zip((0, *MARKS), MARKS, strict=False):
        began = time.process_time()
        for sweep in range(last, mark):
            chain.sweep(seed, number + sweep + 1)
        spent += time.process_time() - began
        found.append((spent, completion(chain.topic_word(), documents, ALPHA_SUM / n_topics)))
    return np.array(found).T


def seconds_to(level: float, curves: list[np.ndarray]) -> float | None:
    """Mean seconds after which no later mark is below the level, over log seconds; None if one never gets there."""
    found = []
    for seconds, score in curves:
        below = np.flatnonzero(score < level)
        at = int(below[-1]) + 1 if len(below) else 0
        if at == len(score):
            return None
        part = 1.0 if at == 0 else (level - score[at - 1]) / (score[at] - score[at - 1])
        ends = np.log(seconds[[max(at - 1, 0), at]])
        found.append(float(np.exp(ends[0] + part * (ends[1] - ends[0]))))
    return float(np.mean(found))


def compare(name: str, corpus: topoi.Corpus, n_topics: int, n_seeds: int) -> list[dict[str, Any]]:
    """All starts with some seeds each."""
    train, documents = split(corpus)
    curve("random", train, documents, n_topics, n_seeds)  # compiles the kernels
    curves: dict[str, list[np.ndarray]] = {start: [] for start in STARTS}
    for seed in range(n_seeds):
        for start in STARTS:
            curves[start].append(curve(start, train, documents, n_topics, seed))
            progress(f"starts: {name}, K = {n_topics}, {start}, seed {seed}: {curves[start][-1][1, -1]:.4f}")
    random = np.mean(curves["random"], axis=0)[1]
    levels = {mark: float(random[MARKS.index(mark)]) for mark in LEVELS}
    return [
        {
            "corpus": name,
            "n_topics": n_topics,
            "start": start,
            **{f"to_{mark}": seconds_to(level, curves[start]) for mark, level in levels.items()},
            "level": float(np.mean([each[1, -1] for each in curves[start]])),
        }
        for start in STARTS
    ]


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--topics", type=int, nargs="+", default=[100, 1000])
    parser.add_argument("--corpus", choices=sorted(parts()), nargs="+", help="all, if not given")
    parser.add_argument("--seeds", type=int, default=3)
    add_json(parser)
    arguments = parser.parse_args()
    report, rows = Report(), []
    for name, make in parts().items():
        if not arguments.corpus or name in arguments.corpus:
            corpus = make()
            for n_topics in arguments.topics:
                rows += compare(name, corpus, n_topics, arguments.seeds)
    report.section("starts", "Starts of LDA", rows, COLUMNS, REMARK)
    report.write(arguments.json)


if __name__ == "__main__":
    main()
