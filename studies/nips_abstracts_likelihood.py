"""Held-out likelihood of NIPS abstracts against the number of topics: LDA and pachinko allocation (PAM, figure 5 and table 5).

    TOPOI_DATA=folder-with-nips12-abstracts python -m studies.nips_abstracts_likelihood [--splits 3] [--sweeps 300] [--minutes 60]
    python -m studies.nips_abstracts_likelihood --page       writes the page again from the numbers of the last run

Results are saved after every fit; a second run goes on with what is missing. Writes docs/studies/nips-abstracts-likelihood.json,
.md and two .svg.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np

import topoi
from studies.chart import line_chart
from topoi import evaluation

OUT = Path(__file__).parents[1] / "docs" / "studies"
SIZES = (20, 40, 60, 80, 100, 120, 140, 160, 180)
MODELS = ("LDA", "LDA, alpha learned", "PAM")
VOCABULARY = 11_708  # as many as the paper's
PAPER = {"LDA": "11.43", "LDA, alpha learned": "", "PAM": "11.29"}
N_SAMPLES, N_PARTICLES = 1000, 50
VARIANTS = {
    "300 sweeps": (300, "moments"), "300 sweeps, the paper's rule for alpha": (300, "moments-paper"),
    "1,500 sweeps": (1500, "moments"), "1,500 sweeps, the paper's rule for alpha": (1500, "moments-paper"),
}  # fmt: skip
# How the estimators are compared on some documents: what they are given, and with how many seeds.
CHECKED_SIZE, CHECKED_DOCUMENTS = 100, 20
WAYS: dict[str, tuple[str, dict[str, Any], int]] = {
    "particle filter, 20 particles": ("filter", {"n_particles": 20}, 3),
    "particle filter, 100": ("filter", {"n_particles": 100}, 3),
    "particle filter, 500": ("filter", {"n_particles": 500}, 3),
    "particle filter, 2,000": ("filter", {"n_particles": 2000}, 1),
    "left to right, 5 particles": ("left-to-right", {"n_particles": 5}, 3),
    "left to right, 20": ("left-to-right", {"n_particles": 20}, 3),
    "left to right, unweighted, 5": ("left-to-right", {"n_particles": 5, "weighted": False}, 3),
    "left to right, unweighted, 20": ("left-to-right", {"n_particles": 20, "weighted": False}, 3),
    "empirical, 1,000 samples": ("empirical", {"n_samples": 1000}, 3),
    "empirical, 10,000": ("empirical", {"n_samples": 10_000}, 3),
    "empirical, 100,000": ("empirical", {"n_samples": 100_000}, 1),
}


def make(name: str, size: int, sweeps: int, seed: int) -> Any:
    """An unfitted model with so many topics, or sub-topics."""
    how = {"n_iter": sweeps, "random_state": seed, "n_shards": 1}
    if name == "PAM":
        return topoi.PachinkoAllocation(50, size, **how)
    return topoi.LDA(size, learn_alpha="asymmetric" if "learned" in name else False, **how)


def measure(model: Any, train: topoi.Corpus, test: topoi.Corpus) -> dict[str, float]:
    """Fit, and score the test documents by both estimators."""
    start = time.process_time()
    model.fit(train)
    fitted = time.process_time()
    report = evaluation.empirical_likelihood_report(model, test, N_SAMPLES)
    empirical, sampled = report["log_likelihood"].to_numpy(), time.process_time()
    filtered = model.log_likelihood(test, n_particles=N_PARTICLES)
    return {
        "empirical": float(empirical.sum()), "filter": float(filtered.sum()),
        "empirical bits": evaluation.bits_per_word(empirical, test), "filter bits": evaluation.bits_per_word(filtered, test),
        "effective samples": float(report["effective_samples"].median()),
        "fit seconds": fitted - start, "empirical seconds": sampled - fitted, "filter seconds": time.process_time() - sampled,
    }  # fmt: skip


def check(corpus: topoi.Corpus, sweeps: int) -> dict[str, Any]:
    """Bits per word of some documents by every way, how much a document's logarithm scatters over seeds, and the cost."""
    train, test = corpus.split(0.25, random_state=0)
    some = test.subset(range(CHECKED_DOCUMENTS))
    found: dict[str, Any] = {}
    for name in ("LDA", "PAM"):
        model = make(name, CHECKED_SIZE, sweeps, 0).fit(train)
        found[name] = {}
        for way, (estimator, options, n_seeds) in WAYS.items():
            evaluation.heldout(model, some.subset([0]), estimator, **options)  # compiles
            start = time.process_time()
            frames = [evaluation.heldout(model, some, estimator, random_state=s, **options) for s in range(n_seeds)]
            seconds = (time.process_time() - start) / n_seeds
            log_p = np.stack([frame["log_likelihood"] for frame in frames])
            found[name][way] = {
                "bits": float(np.mean([evaluation.bits_per_word(row, some) for row in log_p])), "seconds": seconds,
                "scatter": float(np.sqrt(log_p.var(axis=0, ddof=1).mean())) if n_seeds > 1 else None,
            }  # fmt: skip
            print(name, way, found[name][way], flush=True)
    return found


def variants(corpus: topoi.Corpus) -> dict[str, float]:
    """Bits per word by empirical likelihood of the paper's best PAM, fitted for longer, and with the paper's rule for alpha."""
    train, test = corpus.split(0.25, random_state=0)
    found = {}
    for what, (sweeps, rule) in VARIANTS.items():
        model = topoi.PachinkoAllocation(50, 160, learn_alpha=rule, n_iter=sweeps, random_state=0, n_shards=1).fit(
            train
        )
        found[what] = evaluation.bits_per_word(evaluation.empirical_likelihood(model, test, N_SAMPLES), test)
        print(what, found[what], flush=True)
    return found


def run(numbers: Path, splits: int, sweeps: int, minutes: float) -> None:
    """Everything that is not in the file yet, until the time is up."""
    end = time.monotonic() + 60 * minutes
    corpus = topoi.load_dataset("nips12-abstracts", min_df=1, max_df=1.0, max_words=VOCABULARY)
    result = json.loads(numbers.read_text(encoding="utf-8")) if numbers.exists() else {"runs": {}}
    result |= {"corpus": repr(corpus)[9:-1], "sweeps": sweeps, "samples": N_SAMPLES, "particles": N_PARTICLES}
    for split in range(splits):
        train, test = corpus.split(0.25, random_state=split)
        for size in SIZES:
            for name in MODELS:
                key = f"{name}|{size}|{split}"
                if key in result["runs"] or time.monotonic() > end:
                    continue
                result["runs"][key] = measure(make(name, size, sweeps, split), train, test)
                print(key, result["runs"][key], flush=True)
                numbers.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    for part, make_part in {"variants": lambda: variants(corpus), "check": lambda: check(corpus, sweeps)}.items():
        if part not in result:
            result[part] = make_part()
            numbers.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


def complete_splits(result: dict[str, Any]) -> list[int]:
    """The splits in which every model of every size was measured."""
    splits = sorted({int(key.rpartition("|")[2]) for key in result["runs"]})
    return [s for s in splits if all(f"{m}|{k}|{s}" in result["runs"] for m in MODELS for k in SIZES)]


def bits(result: dict[str, Any], estimator: str) -> np.ndarray:
    """Bits per word: models × sizes × splits."""
    splits = complete_splits(result)
    runs = result["runs"]
    return np.array([[[runs[f"{m}|{k}|{s}"][f"{estimator} bits"] for s in splits] for k in SIZES] for m in MODELS])


def with_error(values: np.ndarray, digits: int = 3) -> str:
    """A mean with its standard error."""
    error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return f"{values.mean():.{digits}f}" + ("" if np.isnan(error) else f" ± {error:.{digits}f}")


def size_table(result: dict[str, Any]) -> str:
    """Every model of every size by both estimators; the best size of each column in bold."""
    columns = {(e, m): bits(result, e)[i] for e in ("empirical", "filter") for i, m in enumerate(MODELS)}
    lines = ["| topics | " + " | ".join(f"{e}: {m}" for e, m in columns) + " |", "|---:|" + "---:|" * len(columns)]
    for j, size in enumerate(SIZES):
        cells = []
        for column in columns.values():
            best = column.mean(axis=1).argmin() == j
            cells.append(f"**{with_error(column[j])}**" if best else with_error(column[j]))
        lines.append(f"| {size} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def best_table(result: dict[str, Any]) -> str:
    """Each model at its best size, beside the paper's table 5."""
    lines = [
        "| | the paper | by empirical likelihood | at | by particle filter | at |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for i, m in enumerate(MODELS):
        cells = []
        for estimator in ("empirical", "filter"):
            column = bits(result, estimator)[i]
            j = int(column.mean(axis=1).argmin())
            cells += [with_error(column[j]), str(SIZES[j])]
        lines.append(f"| {m} | {PAPER[m]} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def difference_table(result: dict[str, Any]) -> str:
    """PAM against LDA on the same splits and sizes."""
    lines = [
        "| topics | empirical: PAM − LDA | filter: PAM − LDA | filter: PAM − LDA, alpha learned |",
        "|---:|---:|---:|---:|",
    ]
    empirical, filtered = bits(result, "empirical"), bits(result, "filter")
    for j, size in enumerate(SIZES):
        cells = [empirical[2, j] - empirical[0, j], filtered[2, j] - filtered[0, j], filtered[2, j] - filtered[1, j]]
        lines.append(f"| {size} | " + " | ".join(with_error(c) for c in cells) + " |")
    return "\n".join(lines)


def check_table(result: dict[str, Any]) -> str:
    """The estimators on the same documents."""
    names = list(result["check"])
    heads = " | ".join(f"{n}: bits per word | scatter | ms per document" for n in names)
    lines = [f"| | {heads} |", "|---|" + "---:|---:|---:|" * len(names)]
    for way in WAYS:
        cells = []
        for name in names:
            row = result["check"][name][way]
            scatter = "" if row["scatter"] is None else f"{row['scatter']:.2f}"
            cells.append(f"{row['bits']:.3f} | {scatter} | {1000 * row['seconds'] / CHECKED_DOCUMENTS:,.0f}")
        lines.append(f"| {way} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def page(result: dict[str, Any]) -> str:
    """The numbers as text."""
    runs = result["runs"]
    effective = {
        m: [np.mean([runs[f"{m}|{k}|{s}"]["effective samples"] for s in complete_splits(result)]) for k in SIZES]
        for m in MODELS
    }
    return PAGE.format(
        sizes=size_table(result), best=best_table(result), differences=difference_table(result), checked=check_table(result),
        few=min(min(v) for v in effective.values()), many=max(max(v) for v in effective.values()),
        n_splits=len(complete_splits(result)), seconds=sum(sum(v for k, v in r.items() if k.endswith("seconds")) for r in runs.values()),
        documents=CHECKED_DOCUMENTS, size=CHECKED_SIZE, variants="; ".join(f"{k} {v:.3f}" for k, v in result["variants"].items()), verdict=VERDICT,
        **{k: result[k] for k in ("corpus", "sweeps", "samples", "particles")},
    )  # fmt: skip


def write(result: dict[str, Any]) -> None:
    """The page and its pictures."""
    for estimator, what in {"empirical": "by empirical likelihood", "filter": "by particle filter"}.items():
        means = bits(result, estimator).mean(axis=2)
        lines = {m: list(zip(SIZES, means[i].tolist(), strict=True)) for i, m in enumerate(MODELS)}
        chart = line_chart(lines, "topics (PAM: sub-topics)", f"bits per word {what}, lower is better")
        (OUT / f"nips-abstracts-{estimator}.svg").write_text(chart, encoding="utf-8")
    (OUT / "nips-abstracts-likelihood.md").write_text(page(result), encoding="utf-8")


def main() -> None:
    """Run, or write the page again."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--sweeps", type=int, default=300)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--page", action="store_true")
    arguments = parser.parse_args()
    numbers = OUT / "nips-abstracts-likelihood.json"
    if not arguments.page:
        run(numbers, arguments.splits, arguments.sweeps, arguments.minutes)
    (OUT / "nips-abstracts-likelihood.md").write_text(
        page(json.loads(numbers.read_text(encoding="utf-8"))), encoding="utf-8"
    )


VERDICT = ""

PAGE = """# Held-out likelihood of NIPS abstracts

Figure 5 and table 5 of Li and McCallum compare LDA and pachinko allocation on abstracts of NIPS papers: 75 % of them for training, the
log-likelihood of the rest against the number of topics, estimated by *empirical likelihood* with 1,000 samples. LDA is best with 40
topics and falls; PAM is better everywhere and goes on rising to 160. Here the same is done by the same estimator, and by one that is nearer
to the truth.

The collection is `nips12-abstracts` ({corpus}), cut to as many words as the paper's (11,708); the paper has 1,647 documents and
114,142 tokens. Settings: LDA with alpha = 50 / topics, and with alpha learned; PAM with 50 super-topics, alpha learned by moments; beta = 0.01;
one chain of {sweeps} sweeps, its last sample (the paper: ten samples after 2,000 sweeps). {n_splits} random splits; means with standard errors
over splits, which contain the differences between test sets. HDP and CTM, which the paper also has, are not available yet. Made by

    TOPOI_DATA=folder-with-nips12-abstracts python -m studies.nips_abstracts_likelihood

in {seconds:,.0f} s of processor time.

## Bits per word

{sizes}

*empirical*: `topoi.evaluation.empirical_likelihood` with {samples:,} samples; *filter*: `model.log_likelihood`, a particle filter with {particles} particles. The best size of
each column is in bold.

![By empirical likelihood](nips-abstracts-empirical.svg)

![By particle filter](nips-abstracts-filter.svg)

Each model at its best:

{best}

The same test documents, PAM less LDA (negative: PAM is better):

{differences}

PAM with 160 sub-topics by empirical likelihood, first split: {variants}.

## How far the estimators can be trusted

The same {documents} test documents, models with {size} topics. *Scatter* is the standard deviation of a document's log-likelihood over seeds, in nats. All
but the unweighted ones are unbiased estimates of the probability, so that their logarithms are too low on average, and of two the one with fewer bits
is nearer to the truth.

{checked}

{verdict}"""

if __name__ == "__main__":
    main()
