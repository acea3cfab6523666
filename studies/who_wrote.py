"""Whose mixture finds the author of a held-out document: P(topic | author), or topics' shares of all that authors wrote.

    TOPOI_DATA=folder python -m studies.who_wrote [--corpora a,b] [--sweeps 200] [--seed 0]

Author-topic models with the default priors, where documents have private authors. P(topic | author) is of the words that
the model gives to the named authors; what they wrote also has an equal part of the private authors' words
(``topoi.models.written``). Held-out documents have authors known from training; with several authors, the best rank of
one of them counts. Perplexity is that of a document under this author alone.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

import topoi
from studies.prior_defaults import CORPORA, UNION, split

SHOWN = (UNION, "nips12-abstracts", "newsgroups20", "r-devel")
HEAD = "| corpus | mixture | first | among five | median rank | perplexity |\n|---|---|---:|---:|---:|---:|"


def ranks(chain: Any, mixtures: Any, test: topoi.Corpus) -> tuple[np.ndarray, float]:
    """Rank of the author of each held-out document among all (0 is the first), and the perplexity under that author."""
    found, log_p, n_words = [], 0.0, 0
    for d in range(test.n_docs):
        words, times = np.unique(test.tokens[test.doc_start[d] : test.doc_start[d + 1]], return_counts=True)
        if not len(words):
            continue
        score = mixtures.log_likelihoods(chain.word_columns(words), times)
        best = score[test.doc_author[test.doc_author_start[d] : test.doc_author_start[d + 1]]].max()
        found.append(int((score > best).sum()))
        log_p, n_words = log_p + float(best), n_words + int(times.sum())
    return np.array(found), float(np.exp(-log_p / n_words))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", default=",".join(SHOWN))
    parser.add_argument("--sweeps", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    print(HEAD)
    for name in given.corpora.split(","):
        train, test = split(name, given.seed)
        model = topoi.AuthorTopicModel(
            CORPORA[name].n_topics, n_iter=given.sweeps, n_shards=1, random_state=given.seed, progress=False
        ).fit(train)
        chain = model.chains_[0]
        for what, mixtures in (("P(topic \\| author)", chain.authors), ("all that they wrote", chain.written)):
            rank, perplexity = ranks(chain, mixtures, test)
            first, five = (rank == 0).mean(), (rank < 5).mean()
            print(
                f"| {name} | {what} | {first:.0%} | {five:.0%} | {1 + np.median(rank):.0f} | {perplexity:,.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
