"""Drawing a regression's coefficients beside maximising them, on real documents: time, prediction and acceptance.

    TOPOI_DATA=… python -m studies.dmr_learning

A tenth of the documents is held out, for each of two seeds. Columns: processor seconds of a fit; perplexity of the
held-out documents with their mixtures integrated out, and given metadata alone; the share of trajectories accepted;
how many independent draws the settled ones are worth.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

import topoi
from topoi.models.dmr import state

#: corpus, options of loading, features, topics
CASES = [
    ("state-of-the-union", {"unit": "speech"}, ["year", "authors"], 10),
    ("nips12-abstracts", {}, ["year"], 20),
]
SEEDS, N_ITER = (0, 1), 300


@contextmanager
def counted() -> Iterator[list[bool]]:
    """Whether each trajectory drawn meanwhile was accepted."""
    accepted: list[bool] = []
    plain = state.draw

    def draw(*given: Any) -> Any:
        found = plain(*given)
        accepted.append(found[1])
        return found

    state.draw = draw
    try:
        yield accepted
    finally:
        state.draw = plain


def row(corpus: topoi.Corpus, features: list[str], n_topics: int, learning: str) -> str:
    """Means over seeds, as cells of a table."""
    found = []
    for seed in SEEDS:
        train, test = corpus.split(test_size=0.1, random_state=seed)
        options = {"features": features, "learning": learning, "n_iter": N_ITER, "random_state": seed}
        with counted() as accepted:
            begin = time.process_time()
            model = topoi.DirichletMultinomialRegression(n_topics, **options).fit(train)
            seconds = time.process_time() - begin
        worth = getattr(model._spread(), "effective", np.nan)
        scores = model.perplexity(test), model.perplexity(test, given="metadata")
        found.append((seconds, *scores, np.mean(accepted) if accepted else np.nan, worth))
    seconds, whole, metadata, share, worth = np.mean(found, axis=0)
    return f"{seconds:.1f} | {whole:.0f} | {metadata:.0f} | {share:.2f} | {worth:.0f}".replace("nan", "–")


def main() -> None:
    """Print the table."""
    print("| corpus | learning | CPU s | perplexity | from metadata | accepted | draws are worth |")
    print("|---|---|---|---|---|---|---|")
    for name, options, features, n_topics in CASES:
        corpus = topoi.load_dataset(name, **options)
        row(corpus.subset(np.arange(40)), features, 2, "sample")  # compiled before anything is timed
        for learning in ("optimise", "sample"):
            cells = row(corpus, features, n_topics, learning)
            print(f"| {name}, {', '.join(features)}, {n_topics} topics | `{learning}` | {cells} |", flush=True)


if __name__ == "__main__":
    main()
