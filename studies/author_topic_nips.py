"""NIPS 1987–1999 with author-topic models: topics and authors (AT09, figure 1) and completion curves (figure 11).

    TOPOI_DATA=folder-with-nips12 python -m studies.author_topic_nips [--chains 4] [--sweeps 500] [--jobs -1]

Writes docs/studies/author-topic-nips.md and the curve beside it.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import pandas as pd

import topoi
from studies.chart import line_chart

OUT = Path(__file__).parents[1] / "docs" / "studies"
# What the eight topics of the paper's figure 1 are about: one telling word each.
TELLING = ["retina", "handwritten", "kernel", "ica", "bayesian", "reinforcement", "hinton", "motor"]
SETTINGS = {"beta": 0.01, "random_state": 0}


def fit_all(train: topoi.Corpus, options: dict) -> dict:
    """The four models of the paper's section 6.4."""
    settings = SETTINGS | options
    return {
        "author-topic": topoi.AuthorTopicModel(100, alpha=0.5, **settings).fit(train),
        "LDA": topoi.LDA(100, alpha=0.5, **settings).fit(train),
        "fictitious": topoi.AuthorTopicModel(100, alpha=0.5, fictitious_authors=True, **settings).fit(train),
        "author": topoi.AuthorModel(**settings).fit(train),
    }


def curves(models: dict, test: topoi.Corpus) -> pd.DataFrame:
    """Perplexity after n observed words, one column per model."""
    columns = {}
    for name, model in models.items():
        frame = topoi.evaluation.completion_curve(model, test).set_index("observed")
        columns[name] = frame["perplexity"]
        n_docs = frame["n_docs"]
    return pd.DataFrame(columns).assign(documents=n_docs)


def telling_topics(model: topoi.AuthorTopicModel) -> list[int]:
    """For each telling word the topic in which it has the highest probability; each topic once."""
    chosen: list[int] = []
    for word in TELLING:
        column = model.topic_word_[:, model.vocabulary_.index(word)].copy()
        column[chosen] = -1
        chosen.append(int(column.argmax()))
    return chosen


def topic_tables(model: topoi.AuthorTopicModel) -> str:
    """Eight topics with their ten words and ten authors."""
    parts = []
    for k in telling_topics(model):
        words, authors = model.top_words(10, topic=k), model.top_authors(10, topic=k)
        rows = [f"**Topic {k}**", "", "| word | P | author | P | words |", "|---|---:|---|---:|---:|"]
        for w, a in zip(words.itertuples(), authors.itertuples(), strict=True):
            rows.append(f"| {w.word} | {w.probability:.4f} | {a.author} | {a.probability:.4f} | {a.n_words} |")
        parts.append("\n".join(rows))
    return "\n\n".join(parts)


def as_markdown(table: pd.DataFrame) -> str:
    """A frame of numbers as a markdown table."""
    head = f"| observed | {' | '.join(table.columns)} |\n|---:|{'---:|' * len(table.columns)}\n"
    return head + "\n".join(
        f"| {n} | {' | '.join(f'{v:,.0f}' for v in row)} |"
        for n, row in zip(table.index, table.to_numpy(), strict=True)
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chains", type=int, default=4)
    parser.add_argument("--sweeps", type=int, default=500)
    parser.add_argument("--jobs", type=int, default=-1)
    arguments = parser.parse_args()
    corpus = topoi.load_dataset("nips12", min_df=5)
    train, test = corpus.split(test_size=183, random_state=0, known_authors=True)
    options = {"n_iter": arguments.sweeps, "n_chains": arguments.chains, "n_jobs": arguments.jobs, "n_shards": 1}
    start = time.perf_counter()
    models = fit_all(train, options)
    seconds = time.perf_counter() - start
    table = curves(models, test)
    whole = topoi.AuthorTopicModel(100, alpha=0.5, n_iter=arguments.sweeps, n_shards=1, **SETTINGS).fit(corpus)
    sweep = corpus.n_tokens / whole.fit_info_["tokens_per_second"]
    lines = {n: list(zip(table.index, table[n], strict=True)) for n in ("author-topic", "LDA", "fictitious")}
    OUT.mkdir(parents=True, exist_ok=True)
    chart = line_chart(lines, "observed words of the test document", "perplexity of the rest", log_x=True)
    (OUT / "author-topic-nips.svg").write_text(chart, encoding="utf-8")
    text = PAGE.format(
        corpus=repr(corpus)[9:-1], n_train=train.n_docs, n_test=test.n_docs, chains=arguments.chains,
        sweeps=arguments.sweeps, table=as_markdown(table), topics=topic_tables(whole), sweep=sweep, seconds=seconds,
    )  # fmt: skip
    (OUT / "author-topic-nips.md").write_text(text, encoding="utf-8")
    print(json.dumps({"seconds": seconds, "curves": table.to_dict()}, indent=1))


PAGE = """# Author-topic models on NIPS

The collection of the author-topic papers: {corpus} (words in at least five papers, English stop words removed;
the papers used W = 13,649 and N = 2,301,375). K = 100, alpha = 0.5, beta = 0.01. Everything on this page is made by

    TOPOI_DATA=folder-with-nips12 python -m studies.author_topic_nips --chains {chains} --sweeps {sweeps}

## Eight topics (Rosen-Zvi et al. 2009, figure 1)

One chain of {sweeps} sweeps over the whole collection, {sweep:.2f} s a sweep on one thread (the paper: 22 s). Topics are chosen
by one telling word each, the paper's where it names one; P is P(word | topic) and P(author | topic); the last column is the
number of the author's words in the topic. The text is OCR, and names are "surname, initial": namesakes are one author.

{topics}

## Completion curves (figure 11)

{n_train:,} training and {n_test} test papers, every author of a test paper known from training; {chains} chains of {sweeps} sweeps
per model (the paper: 10 chains of 2,000). Perplexity of the rest of a test paper after some of its words, chosen at
random and the same for all models, were observed; mean over documents. Fitting all four models took {seconds:,.0f} s.

{table}

![Perplexity of the rest against observed words](author-topic-nips.svg)

As in the paper: with few words observed the author-topic models win, because they know the authors; with many, LDA wins, because
it learns the document's own mixture; a fictitious author lies between and is always better than plain
author-topic; the author model without topics is far worse. What differs from the paper is said below.
"""

if __name__ == "__main__":
    main()
