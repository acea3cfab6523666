"""Updates against a refit and against no update: perplexity of held-out new documents, and processor time.

    TOPOI_DATA=folder python -m studies.updating [--topics 50] [--sweeps 500] [--seeds 3]

The NIPS abstracts up to 1997 are fitted; those of 1998 and 1999 are the update, except for half of 1999, which is held
out. All models have the vocabulary of all abstracts, so that perplexities are comparable. Then the report of an update
by all of 1998 and 1999 with spare topics, of a model that has not seen their words.
"""

from __future__ import annotations

import argparse
import copy
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import topoi

CORPUS, LAST_OLD, HELD_OUT = "nips12-abstracts", 1997, 1999


def parts() -> tuple[topoi.Corpus, topoi.Corpus, topoi.Corpus]:
    """Old documents, new ones, and held-out ones."""
    corpus = topoi.load_dataset(CORPUS)
    year = corpus.documents["year"].to_numpy()
    held = np.zeros(corpus.n_docs, bool)
    held[np.flatnonzero(year == HELD_OUT)[::2]] = True
    return corpus.subset(year <= LAST_OLD), corpus.subset((year > LAST_OLD) & ~held), corpus.subset(held)


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """Result and processor seconds."""
    began = time.process_time()
    return work(), time.process_time() - began


def contenders(n_topics: int, n_sweeps: int, seed: int) -> dict[str, tuple[Any, float]]:
    """Fitted models with the processor seconds of what came after the first fit."""
    old, new, _ = parts()
    both = old.extended(new)

    def model(k: int = n_topics) -> Any:
        return topoi.LDA(k, prior="paper", alpha=0.1, n_iter=n_sweeps, random_state=seed, progress=False)

    first = model().fit(old)
    found = {"no update": (first, 0.0)}
    for n_iter in (0, 50, 100, 200):
        found[f"update, {n_iter} sweeps"] = timed(lambda n=n_iter: copy.copy(first).update(new, n))  # type: ignore[misc]
    found["update, 100 sweeps, 5 spare topics"] = timed(lambda: copy.copy(first).update(new, 100, 5))
    found["refit"] = timed(lambda: model().fit(both))
    found[f"refit, {n_topics + 5} topics"] = timed(lambda: model(n_topics + 5).fit(both))
    return found


def reported(n_topics: int, n_sweeps: int) -> Any:
    """A model of the old abstracts in their own words, updated by all new ones."""
    corpus = topoi.load_dataset(CORPUS)
    year = corpus.documents["year"].to_numpy()
    old, new = corpus.subset(year <= LAST_OLD), corpus.subset(year > LAST_OLD)
    known = topoi.Corpus.from_texts(old.texts, ids=old.documents["id"], dates=old.documents["year"], min_df=3)
    model = topoi.LDA(n_topics, prior="paper", alpha=0.1, n_iter=n_sweeps, random_state=0, progress=False)
    return model.fit(known).update(new, spare_topics=5)


def main() -> None:
    """Print the table, and the report of an update with spare topics."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--topics", type=int, default=50)
    parser.add_argument("--sweeps", type=int, default=500)
    parser.add_argument("--seeds", type=int, default=3)
    given = parser.parse_args()
    old, new, held = parts()
    print(f"{old.n_docs:,} old documents, {new.n_docs:,} new ones, {held.n_docs:,} held out; {given.topics} topics")
    contenders(5, 5, 0)  # compile
    rows: dict[str, list[tuple[float, float]]] = {}
    for seed in range(given.seeds):
        for name, (model, seconds) in contenders(given.topics, given.sweeps, seed).items():
            rows.setdefault(name, []).append((model.perplexity(held, average="tokens"), seconds))
    print("| | perplexity of held-out documents | processor seconds |")
    print("|---|---:|---:|")
    for name, values in rows.items():
        perplexity, seconds = np.mean(values, axis=0)
        print(f"| {name} | {perplexity:,.0f} | {seconds:.2f} |")
    print()
    print(reported(given.topics, given.sweeps).update_report_)


if __name__ == "__main__":
    main()
