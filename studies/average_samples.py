"""The last sample of a chain against the mean of the samples in its second half: perplexity of held-out documents.

    TOPOI_DATA=folder python -m studies.average_samples [--corpus nips12-abstracts] [--topics 50] [--sweeps 200]
        [--docs 5000] [--models lda,author-topic,pachinko,regression]

Prints a table: perplexity of whole documents, and of the half of their words that is not seen, by the last sample and by
the mean, which ``average=False`` and ``True`` give from the same chain. State of the Union needs no folder.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

import topoi

UNION = "state-of-the-union"


def read(name: str, n_docs: int) -> topoi.Corpus:
    """A corpus, or some of its documents."""
    corpus = topoi.load_dataset(UNION, unit="passage") if name == UNION else topoi.load_dataset(name)
    if corpus.n_docs <= n_docs:
        return corpus
    return corpus.subset(np.sort(np.random.default_rng(0).choice(corpus.n_docs, n_docs, replace=False)))


def models(n_topics: int) -> dict[str, Any]:
    """The families, by name: what makes a model with some options."""
    return {
        "lda": lambda **o: topoi.LDA(n_topics, prior="paper", alpha=0.1, **o),
        "author-topic": lambda **o: topoi.AuthorTopicModel(n_topics, prior="paper", alpha=0.1, **o),
        "pachinko": lambda **o: topoi.PachinkoAllocation(max(n_topics // 5, 2), n_topics, **o),
        "regression": lambda **o: topoi.DirichletMultinomialRegression(n_topics, features=["year"], **o),
    }


def scores(model: Any, test: topoi.Corpus) -> tuple[float, float]:
    """Perplexity per token of whole documents, and of the unseen half of their words."""
    whole = float(model.perplexity(test, average="tokens"))
    seen = np.random.default_rng(1).random(test.n_tokens) < 0.5
    return whole, float(np.exp(-model.log_completion(test, seen).sum() / (~seen).sum()))


def main() -> None:
    """Fit every model twice from one seed, and print what each estimate scores."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", default=UNION)
    parser.add_argument("--topics", type=int, default=50)
    parser.add_argument("--sweeps", type=int, default=200)
    parser.add_argument("--docs", type=int, default=5000)
    parser.add_argument("--models", default="lda,author-topic,pachinko,regression")
    given = parser.parse_args()
    train, test = read(given.corpus, given.docs).split(test_size=0.1, random_state=0)
    print(f"{given.corpus}: {train.n_docs:,} documents, {train.n_tokens:,} words; {given.topics} topics")
    print("| model | samples | whole: last | mean | | half: last | mean | |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    for name in given.models.split(","):
        make = models(given.topics)[name]
        options = {"n_iter": given.sweeps, "random_state": 0, "n_shards": 1}
        last, mean = (make(average=average, **options).fit(train) for average in (False, True))
        cells = [f"{name} | {mean.fit_info_['averaged_samples']}"]
        for before, after in zip(scores(last, test), scores(mean, test), strict=True):
            cells.append(f"{before:,.0f} | {after:,.0f} | {100 * (after / before - 1):+.1f} %")
        print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
