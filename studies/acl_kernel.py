"""Abstracts predicted from year and authors: a kernel topic model against LDA and a tuned regression.

    TOPOI_DATA=folder python -m studies.acl_kernel [--documents 20000] [--only dmr] [--seed 0]

Abstracts of computational linguistics (acl-abstracts), the 5,000 commonest words but for stop words, K = 20. Three sets of
documents at random: for training, 1,000 for validation, 2,000 for the test. Perplexity of the test's abstracts from
year and authors alone, and given their first 4 and 16 words as well. The regression (DMR) has its prior variance by
cross-validation and the best width and kind of fit, by the validation set's perplexity from metadata; LDA is the
same regression without features, whose alpha is learned; the kernel topic model has nothing chosen for it.
Writes docs/studies/acl-kernel.json (one row per model, kept from earlier runs) and .md.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import topoi

OUT = Path(__file__).parents[1] / "docs" / "studies"
N_TOPICS, N_VALIDATION, N_TEST = 20, 1000, 2000
GIVEN = ("metadata", 4, 16)
WIDTHS = (2, 4, 8)


class Parts(NamedTuple):
    """The three sets of documents."""

    train: topoi.Corpus
    validation: topoi.Corpus
    test: topoi.Corpus


def parts(n_train: int, seed: int) -> Parts:
    """Documents at random; test and validation are the same for every number of training documents."""
    path = Path(os.environ["TOPOI_DATA"]) / "acl-abstracts.jsonl.gz"
    whole = topoi.read_corpus(path, max_words=5000)
    order = np.random.default_rng(seed).permutation(whole.n_docs)
    cuts = np.cumsum([N_TEST, N_VALIDATION, n_train])
    test, validation, train = np.split(order[: cuts[-1]], cuts[:-1])
    return Parts(*(whole.subset(np.sort(rows)) for rows in (train, validation, test)))


def scores(model: Any, data: Parts) -> dict[str, float]:
    """Perplexities of validation and test."""
    found = {"validation": float(model.perplexity(data.validation))}
    return found | {f"test_{given}": float(model.perplexity(data.test, given=given)) for given in GIVEN}


def regression(data: Parts, features: list[str], width: Any, seed: int) -> Any:
    return topoi.DirichletMultinomialRegression(
        N_TOPICS, features=features, width=width, variance="cv" if features else 1.0, n_iter=400, n_warmup=100,
        random_state=seed, progress=False,
    ).fit(data.train)  # fmt: skip


def lda_rows(data: Parts, seed: int) -> list[dict[str, Any]]:
    """LDA, by Gibbs sampling."""
    begin = time.perf_counter()
    model = regression(data, [], None, seed)
    return [{"model": "LDA", "seconds": time.perf_counter() - begin} | scores(model, data)]


def dmr_rows(data: Parts, seed: int) -> list[dict[str, Any]]:
    """The regression with each width, as fitted jointly and refitted on frozen counts."""
    rows = []
    for width in WIDTHS:
        begin = time.perf_counter()
        model = regression(data, ["year", "authors"], width, seed)
        for refitted in (False, True):
            if refitted:
                model.refit(variance="cv")
            row = {"model": "DMR", "width": width, "refitted": refitted, "variance": model.fit_info_.get("variance")}
            rows.append(row | {"seconds": time.perf_counter() - begin} | scores(model, data))
            print(rows[-1], flush=True)
    return rows


def kernel_rows(data: Parts, seed: int) -> list[dict[str, Any]]:
    """The kernel topic model, on two threads."""
    begin = time.perf_counter()
    model = topoi.KernelTopicModel(
        N_TOPICS, features=["year", "authors"], random_state=seed, n_jobs=2, progress=False
    ).fit(data.train)
    fitted = time.perf_counter() - begin
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    found = {"model": "KTM", "seconds": fitted, "megabytes": peak} | scores(model, data)
    return [found | {"seconds_of_scores": time.perf_counter() - begin - fitted, "kernel": repr(model.kernel_)}]


PARTS = {"lda": lda_rows, "dmr": dmr_rows, "ktm": kernel_rows}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, nargs="+", default=[5000, 20000])
    parser.add_argument("--only", choices=tuple(PARTS), nargs="+", default=list(PARTS))
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    for n in options.documents:
        data = parts(n, options.seed)
        print(n, data.train, flush=True)
        for name in options.only:
            rows = [{"documents": n, "seed": options.seed} | row for row in PARTS[name](data, options.seed)]
            print(json.dumps(rows), flush=True)


if __name__ == "__main__":
    main()
