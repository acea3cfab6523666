"""Speeches predicted from year and president alone (KTM12, section 4.1): kernel topic models against LDA.

    python -m studies.union_kernel [--splits 5] [--seed 0]

State of the Union addresses, K = 10, the 5,000 commonest words but for stop words. Splits: a fifth of the speeches at random, eight-year blocks, or
whole presidents left out. Perplexities of the held-out speeches, and how often 80 % bands hold the shares that the
speeches' own words show. Writes docs/studies/union-kernel.json and .md.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

import topoi
from topoi.models.aspect.state import Bags
from topoi.models.kernel_topic import words

OUT = Path(__file__).parents[1] / "docs" / "studies"
N_TOPICS = 10
COVERAGES = ("coverage", "coverage_within_half_a_percent")
MODELS: dict[str, dict[str, Any]] = {
    "KTM": {},
    "KTM, bridge": {"inference": "bridge"},
}


def test_rows(corpus: topoi.Corpus, kind: str, rng: np.random.Generator) -> np.ndarray:
    """Which speeches are held out, about a fifth."""
    if kind == "random":
        return rng.permutation(corpus.n_docs) < corpus.n_docs // 5
    if kind == "blocks":
        group = corpus.documents["year"].to_numpy() // 8
    else:
        group = np.unique(corpus.documents["president"], return_inverse=True)[1]
    held = np.zeros(corpus.n_docs, bool)
    for each in rng.permutation(np.unique(group)):
        if held.sum() >= corpus.n_docs // 5:
            break
        held |= group == each
    return held


def lda_perplexity(train: topoi.Corpus, test: topoi.Corpus, seed: int) -> float:
    """LDA knows nothing of a new speech: its mixture is the mean of the learned Dirichlet."""
    model = topoi.LDA(N_TOPICS, alpha=0.5, learn_alpha="asymmetric", n_iter=300, random_state=seed).fit(train)
    alpha = np.asarray(model.chains_[0].alpha)
    log_p = np.empty(test.n_docs)
    mixture = np.tile(alpha / alpha.sum(), (test.n_docs, 1))
    words.score(Bags.from_corpus(test), np.ascontiguousarray(model.topic_word_.T), mixture, log_p)
    return float(np.exp(-log_p.sum() / test.n_tokens))


def coverage(model: topoi.KernelTopicModel, test: topoi.Corpus, slack: float = 0.0) -> float:
    """How often an 80 % band, with some slack, holds the share that the words themselves show."""
    bags = Bags.from_corpus(test)
    seen = model._fold_in(bags, np.tile(model.alpha_, (test.n_docs, 1)))
    found = model.predict(test, level=0.8)
    lower, upper = (found[name].to_numpy().reshape(seen.shape) for name in ("lower", "upper"))
    return float(((seen >= lower - slack) & (seen <= upper + slack)).mean())


def run(n_splits: int, seed: int) -> list[dict[str, Any]]:
    corpus = topoi.load_dataset("state-of-the-union", unit="speech", max_words=5000, max_df=1.0)
    rows = []
    for kind in ("random", "blocks", "presidents"):
        for split in range(n_splits):
            held = test_rows(corpus, kind, np.random.default_rng([seed, split]))
            train, test = corpus.subset(~held), corpus.subset(held)
            rows.append({"split": kind, "model": "LDA", "perplexity": lda_perplexity(train, test, split)})
            for name, settings in MODELS.items():
                begin = time.perf_counter()
                model = topoi.KernelTopicModel(N_TOPICS, features=["year", "authors"], random_state=split, **settings)
                model.fit(train)
                rows.append(
                    {
                        "split": kind,
                        "model": name,
                        "perplexity": model.perplexity(test),
                        "training": model.perplexity(train, given="words"),
                        "coverage": coverage(model, test),
                        "coverage_within_half_a_percent": coverage(model, test, 0.005),
                        "seconds": time.perf_counter() - begin,
                    }
                )
            print(rows[-3:], flush=True)
    return rows


def page(rows: list[dict[str, Any]], n_splits: int) -> str:
    lines = [
        "# Speeches predicted from year and president",
        "",
        f"State of the Union addresses, 10 topics, the 5,000 commonest words, {n_splits} splits each; perplexity of held-out speeches,",
        "mean over splits, and in brackets the share of 80 % bands that hold what the speech's own words show, exactly and within half a",
        "per cent of the speech (many topics have next to no share of a speech, and its words say little about how little).",
        "`python -m studies.union_kernel` writes this page.",
        "",
        "| model | random speeches | eight-year blocks | whole presidents |",
        "|---|---|---|---|",
    ]
    for name in ("LDA", *MODELS):
        cells = []
        for kind in ("random", "blocks", "presidents"):
            mine = [row for row in rows if row["split"] == kind and row["model"] == name]
            cell = f"{np.mean([row['perplexity'] for row in mine]):.0f}"
            if "coverage" in mine[0]:
                held = [np.mean([row[name] for row in mine]) for name in COVERAGES]
                cell += f" ({held[0]:.2f}, {held[1]:.2f})"
            cells.append(cell)
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with threadpool_limits(limits=1, user_api="blas"):
        rows = run(options.splits, options.seed)
    (OUT / "union-kernel.json").write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    (OUT / "union-kernel.md").write_text(page(rows, options.splits), encoding="utf-8")


if __name__ == "__main__":
    main()
