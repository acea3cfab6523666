"""Whether kernel topic models stop in time, and what a draw is good for when they learn: bands and predictions.

    python -m studies.kernel_stop [--seeds 4]

Fits where ``tol`` ends them, after four times as many sweeps, and with hyper-parameters learned at the mode.

Planted corpora are drawn by the model: six topics, 150 documents to train and 100 held out, year and authors known. The
speeches are State of the Union addresses with ten topics, a fifth of them held out. Writes docs/studies/kernel-stop.json
after every three fits, goes on where the last run ended, and prints the tables of docs/kernel-topics.md. About a minute
of one thread for each three.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from threadpoolctl import threadpool_limits

import topoi
from studies.same_start import shown

FEATURES = ["year", "authors"]
LENGTHS = (60, 200)
NUMBERS = Path(__file__).parents[1] / "docs" / "studies" / "kernel-stop.json"
N_PLANTED, N_TRAIN, N_DOCS = 6, 150, 250
N_SPEECH_TOPICS = 10
LONGER = 4
KERNEL = topoi.Proximity(FEATURES, length_scale=[15.0, 1.0])
Shares = Callable[[Any, topoi.Corpus], NDArray[np.float64]]


def planted(length: int, seed: int) -> tuple[topoi.Corpus, topoi.Corpus, Shares]:
    """Training and test documents, and what a model's topics really have in the latter."""
    rng = np.random.default_rng(seed)
    people = [[f"author {i}"] for i in rng.integers(10, size=N_DOCS)]
    metadata = {"year": rng.integers(1900, 2000, N_DOCS).tolist(), "authors": people}
    story = topoi.KernelTopicModel(N_PLANTED, features=FEATURES, kernel=KERNEL, noise=0.3)
    whole = story.simulate(metadata, doc_length=length, random_state=seed)
    truth, is_test = whole.truth, np.arange(N_DOCS) >= N_TRAIN

    def true_shares(model: Any, _: topoi.Corpus) -> NDArray[np.float64]:
        _, match = linear_sum_assignment(-np.sqrt(model.topic_word_) @ np.sqrt(truth.topic_word).T)
        return truth.doc_topic[is_test][:, match]

    return whole.subset(~is_test), whole.subset(is_test), true_shares


def speeches(seed: int) -> tuple[topoi.Corpus, topoi.Corpus, Shares]:
    """State of the Union addresses; the truth is what a speech's own words show."""
    corpus = topoi.load_dataset("state-of-the-union", unit="speech", max_words=5000, max_df=1.0)
    train, test = corpus.split(test_size=0.2, random_state=seed)
    return train, test, shown


def problems(seeds: int) -> Iterator[tuple[str, int, Any, int]]:
    """Name, seed, what makes the documents, and number of topics."""
    for seed in range(seeds):
        for length in LENGTHS:
            yield f"planted, {length} words", seed, partial(planted, length), N_PLANTED
        yield "speeches", seed, speeches, N_SPEECH_TOPICS


def measured(name: str, problem: Any, n_topics: int, seed: int, **settings: Any) -> dict[str, Any]:
    """Fit; sweeps, seconds of the processor, coverage of 80 % bands, held-out perplexities."""
    train, test, shares = problem
    begin = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a fit that reaches its limit is a row like the others
        model = topoi.KernelTopicModel(n_topics, features=FEATURES, random_state=seed, **settings).fit(train)
    seconds = time.process_time() - begin
    draws = model.draw_shares(test)
    return {
        "name": name, "sweeps": model.n_iter_, "stopped": model.fit_info_["stopped"], "seconds": seconds,
        "coverage": topoi.evaluation.coverage(draws, shares(model, test)),
        "perplexity": float(model.perplexity(test)),
        "metadata": float(model.perplexity(test, given="metadata")),
    }  # fmt: skip


def table(rows: list[Any]) -> list[str]:
    """A line for each kind of corpus, means over seeds: at the stop and after four times as long."""
    lines = [
        "| corpus | fits | sweeps, least to most | by `tol` | coverage of 80 % bands | longer | perplexity, longer / stop "
        "| from metadata alone | CPU s | longer |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for name, mine in by_name(rows).items():
        sweeps = [first["sweeps"] for first, *_ in mine]
        ended = sum(first["stopped"] == "converged" for first, *_ in mine)
        mean = {key: [np.mean([fits[i][key] for fits in mine]) for i in (0, 1)] for key in ("coverage", "seconds")}
        ratio = {key: [longer[key] / first[key] for first, longer, _ in mine] for key in ("perplexity", "metadata")}
        said = [f"{np.mean(r):.3f} ({min(r):.3f} to {max(r):.3f})" for r in ratio.values()]
        lines.append(
            f"| {name} | {len(mine)} | {min(sweeps)} to {max(sweeps)} | {ended} | {mean['coverage'][0]:.2f} | "
            f"{mean['coverage'][1]:.2f} | {said[0]} | {said[1]} | {mean['seconds'][0]:.1f} | {mean['seconds'][1]:.1f} |"
        )
    return lines


def by_name(rows: list[Any]) -> dict[str, list[Any]]:
    """Rows of each kind of corpus."""
    return {
        name: [row for row in rows if row[0]["name"] == name] for name in dict.fromkeys(row[0]["name"] for row in rows)
    }


def table_of_learning(rows: list[Any]) -> list[str]:
    """Coverage and perplexities with hyper-parameters learned from a draw and at the mode."""
    lines = [
        "| corpus | coverage of 80 % bands, `drawn` | `expected` | perplexity, `expected` / `drawn` | from metadata alone |",
        "|---|---:|---:|---:|---:|",
    ]
    for name, mine in by_name(rows).items():
        held = [np.mean([fits[i]["coverage"] for fits in mine]) for i in (0, 2)]
        ratio = [[mode[key] / drawn[key] for drawn, _, mode in mine] for key in ("perplexity", "metadata")]
        said = [f"{np.mean(r):.3f} ({min(r):.3f} to {max(r):.3f})" for r in ratio]
        lines.append(f"| {name} | {held[0]:.2f} | {held[1]:.2f} | {said[0]} | {said[1]} |")
    return lines


def read() -> dict[str, Any]:
    """The numbers so far."""
    return json.loads(NUMBERS.read_text(encoding="utf-8")) if NUMBERS.exists() else {}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=4)
    given = parser.parse_args()
    rows = read()
    with threadpool_limits(limits=1, user_api="blas"):
        for name, seed, make, n_topics in problems(given.seeds):
            if f"{name}|{seed}" in rows:
                continue
            problem = make(seed)
            first = measured(name, problem, n_topics, seed)
            longer = measured(name, problem, n_topics, seed, tol=0.0, n_iter=LONGER * first["sweeps"])
            mode = measured(name, problem, n_topics, seed, learn_from="expected")
            rows = read() | {f"{name}|{seed}": (first, longer, mode)}
            NUMBERS.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
            print(seed, first, longer, mode, flush=True)
    found = list(rows.values())
    print("\n".join([*table(found), "", *table_of_learning(found)]))


if __name__ == "__main__":
    main()
