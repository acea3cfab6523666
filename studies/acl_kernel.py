"""Abstracts predicted from year and authors: a kernel topic model against LDA and a tuned regression.

    TOPOI_DATA=folder python -m studies.acl_kernel [--documents 5000 20000] [--only lda dmr ktm] [--seed 0]

Abstracts of computational linguistics (acl-abstracts), the 5,000 commonest words but for stop words, K = 20. Three sets
of documents at random: for training, 1,000 for validation, 2,000 for the test. Perplexity of the test's abstracts from
year and authors alone, and given their first 4 and 16 words as well. The regression (DMR) has its prior variance by
cross-validation, and of three widths and of joint fits and refits the best by the validation set's perplexity from
metadata; LDA is the same regression without features, whose alpha is learned; both are sampled, 400 sweeps. For the
kernel topic model nothing is chosen by the validation set. Rows of earlier runs are kept in
docs/studies/acl-kernel.json; acl-kernel.md is written from all of them.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import topoi

OUT = Path(__file__).parents[1] / "docs" / "studies"
FILE = OUT / "acl-kernel.json"
N_TOPICS, N_VALIDATION, N_TEST = 20, 1000, 2000
GIVEN = ("metadata", 4, 16)
WIDTHS = (4, 2, 8)


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
    found = {"validation": float(model.perplexity(data.validation, given="metadata"))}
    return found | {f"test_{given}": float(model.perplexity(data.test, given=given)) for given in GIVEN}


def regression(data: Parts, features: list[str], width: Any, variance: Any, seed: int) -> Any:
    """A regression by 400 sweeps."""
    return topoi.DirichletMultinomialRegression(
        N_TOPICS, features=features, width=width, variance=variance, n_iter=400, n_warmup=100, random_state=seed,
        learning="optimise", progress=False,
    ).fit(data.train)  # fmt: skip


class Stopwatch:
    """Seconds by the clock and of the processor since it was made."""

    def __init__(self) -> None:
        self._wall, self._cpu = time.perf_counter(), time.process_time()

    def read(self) -> dict[str, float]:
        """Both."""
        return {"seconds": time.perf_counter() - self._wall, "cpu_seconds": time.process_time() - self._cpu}


Rows = Iterator[dict[str, Any]]


def lda_rows(data: Parts, seed: int) -> Rows:
    """LDA, by Gibbs sampling."""
    watch = Stopwatch()
    model = regression(data, [], None, 1.0, seed)
    yield {"model": "LDA"} | watch.read() | scores(model, data)


def dmr_rows(data: Parts, seed: int, variance: Any = "cv") -> Rows:
    """The regression with each width, as fitted jointly and refitted on frozen counts with larger variances."""
    for width in WIDTHS:
        watch = Stopwatch()
        model = regression(data, ["year", "authors"], width, variance, seed)
        variance = float(model.fit_info_["variance"])
        name = {"model": "DMR", "width": width}
        yield name | {"refitted": False, "variance": variance} | watch.read() | scores(model, data)
        for times in (1, 3, 10):
            model.refit(variance=times * variance)
            yield name | {"refitted": True, "variance": times * variance} | watch.read() | scores(model, data)


def kernel_rows(data: Parts, seed: int) -> Rows:
    """The kernel topic model."""
    watch = Stopwatch()
    model = topoi.KernelTopicModel(N_TOPICS, features=["year", "authors"], random_state=seed, n_jobs=2, progress=False)
    model.set_params(solver="iterative").fit(data.train)
    row = {"model": "KTM"} | watch.read()
    row["megabytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    row |= {"kernel": repr(model.kernel_), "noise": model.noise_.tolist(), "amplitude": model.amplitude_.tolist()}
    watch = Stopwatch()
    row |= scores(model, data)
    yield row | {f"{name}_of_scores": value for name, value in watch.read().items()}


PARTS = {"lda": lda_rows, "dmr": dmr_rows, "ktm": kernel_rows}


def page(rows: list[dict[str, Any]]) -> str:
    """A table for each number of documents; of the regressions the best by the validation set."""
    lines = [
        "# Abstracts predicted from year and authors",
        "",
        "Computational linguistics, the 5,000 commonest words, 20 topics; perplexity of 2,000 test abstracts from year and authors alone, and",
        "with their first 4 and 16 words. LDA and the regression (DMR) by 400 Gibbs sweeps; the regression has its variance by cross-validation, and",
        "of joint fits and of refits the best by 1,000 validation abstracts among those tried. The kernel topic model (KTM) by its own evidence. CPU",
        "seconds of the fit (of a regression with those of the choice of variance where it was made); memory is the process's peak. One seed.",
        "`TOPOI_DATA=folder python -m studies.acl_kernel` writes this page.",
    ]
    for n in sorted({row["documents"] for row in rows}):
        mine = [row for row in rows if row["documents"] == n]
        lines += [
            "",
            f"## {n:,} training documents",
            "",
            "| model | metadata | 4 words | 16 words | CPU s | MB |",
            "|---|---|---|---|---|---|",
        ]
        tried = [f"{title(row).removeprefix('DMR, ')}" for row in mine if row["model"] == "DMR"]
        for row in [*(r for r in mine if r["model"] == "LDA"), *best(mine), *(r for r in mine if r["model"] == "KTM")]:
            cells = [f"{row[f'test_{given}']:.0f}" for given in GIVEN]
            cells += [f"{row[name]:.0f}" if name in row else "" for name in ("cpu_seconds", "megabytes")]
            lines.append(f"| {title(row)} | {' | '.join(cells)} |")
        lines += ["", f"Regressions tried: {'; '.join(tried)}."]
    return "\n".join(lines) + "\n"


def best(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The best regression among joint fits, and among refits."""
    both = [[r for r in rows if r["model"] == "DMR" and r["refitted"] == refitted] for refitted in (False, True)]
    return [min(some, key=lambda row: row["validation"]) for some in both if some]


def title(row: dict[str, Any]) -> str:
    """A model's name with its settings."""
    if row["model"] != "DMR":
        return str(row["model"])
    kind = "refitted" if row["refitted"] else "joint"
    return f"DMR, {kind}, width {row['width']}, variance {row['variance']:g}"


def keep(row: dict[str, Any]) -> None:
    """Put a row into the file, in place of an earlier one of the same settings."""
    rows = stored()
    same = [name for name in ("documents", "seed", "model", "width", "refitted", "variance")]
    rows = [old for old in rows if any(old.get(name) != row.get(name) for name in same)]
    FILE.write_text(json.dumps([*rows, row], indent=1) + "\n", encoding="utf-8")


def stored() -> list[dict[str, Any]]:
    """All rows so far."""
    return json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else []


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, nargs="*", default=[5000, 20000])
    parser.add_argument("--only", choices=tuple(PARTS), nargs="*", default=list(PARTS))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--variance", type=float, help="the regression's, known from an earlier cross-validation")
    options = parser.parse_args()
    for n in options.documents:
        data = parts(n, options.seed)
        for name in options.only:
            known = (options.variance,) if name == "dmr" and options.variance else ()
            for row in PARTS[name](data, options.seed, *known):
                keep({"documents": n, "seed": options.seed} | row)
                print(json.dumps(row), flush=True)
    (OUT / "acl-kernel.md").write_text(page(stored()), encoding="utf-8")


if __name__ == "__main__":
    main()
