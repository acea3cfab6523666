"""Sweeps of the hierarchical Dirichlet process beside tomotopy's, one thread each, on the same corpus.

    python -m benchmarks.hdp [--corpus nips12-abstracts] [--beta 0.1] [--start 20]

Both run 200 sweeps from as many topics, with concentrations that are learned, and are then timed in turns of ten
sweeps, in processor time. The number of topics is each one's own, so it is printed beside the time.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np

import topoi

from .report import Report, add_json, progress

SWEEPS, TURNS, PER_TURN = 200, 10, 10
CORPUS = {"corpus": "corpus", "documents": "documents|,", "tokens": "tokens|,", "words": "words|,", "beta": "beta|g"}
COLUMNS = {"system": "system", "ms": "ms a sweep|.1f", "rate": "M tokens/s|.2f", "n_topics": "topics"}


def ours(corpus: topoi.Corpus, beta: float, start: int) -> tuple[Callable[[], None], Callable[[], int]]:
    """Our model after its first sweeps, as something to sweep on with, and its number of topics."""
    settings = {"n_iter": SWEEPS, "random_state": 0, "progress": False, "average": False, "evaluate_every": 10**6}
    model = topoi.HierarchicalDirichletProcess(start, beta=beta, **settings).fit(corpus)
    return lambda: model.resume(PER_TURN) and None, lambda: model.n_topics_


def theirs(corpus: topoi.Corpus, beta: float, start: int) -> tuple[Callable[[], None], Callable[[], int]]:
    """Tomotopy's model likewise."""
    import tomotopy

    model = tomotopy.HDPModel(min_cf=0, min_df=0, rm_top=0, initial_k=start, alpha=1.0, eta=beta, gamma=1.0, seed=1)
    for first, last in zip(corpus.doc_start[:-1], corpus.doc_start[1:], strict=True):
        model.add_doc([str(corpus.words[w]) for w in corpus.tokens[first:last]])
    model.train(SWEEPS, workers=1)
    return lambda: model.train(PER_TURN, workers=1), lambda: model.live_k


def main() -> None:
    """Print milliseconds per sweep, the median over turns, and the topics."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", default="nips12-abstracts")
    parser.add_argument("--beta", type=float, default=0.1)
    parser.add_argument("--start", type=int, default=20)
    add_json(parser)
    arguments, report = parser.parse_args(), Report()
    corpus = topoi.load_dataset(arguments.corpus)
    facts = {"documents": corpus.n_docs, "tokens": corpus.n_tokens, "words": corpus.n_words, "beta": arguments.beta}
    report.section("corpus", "The corpus", [{"corpus": arguments.corpus} | facts], CORPUS)
    progress(f"{SWEEPS} sweeps first")
    both = {"topoi": ours, "tomotopy": theirs}
    made = {name: make(corpus, arguments.beta, arguments.start) for name, make in both.items()}
    times: dict[str, list[float]] = {name: [] for name in made}
    for turn in range(TURNS):
        progress(f"turn {turn + 1} of {TURNS}")
        for name, (run, _) in made.items():
            begin = time.process_time()
            run()
            times[name].append((time.process_time() - begin) / PER_TURN)
    rows = []
    for name, (_, topics) in made.items():
        middle = float(np.median(times[name]))
        speed = corpus.n_tokens / middle / 1e6
        rows.append({"system": name, "ms": 1000 * middle, "rate": speed, "n_topics": int(topics())})
    report.section("hdp", "The hierarchical process, one thread", rows, COLUMNS)
    report.write(arguments.json)


if __name__ == "__main__":
    main()
