"""How often an answer is right, by how sure it says it is: authors of texts, authors of words, topics of words.

    TOPOI_DATA=folder python -m studies.reliability [--documents 400] [--sweeps 300]
    python -m studies.reliability --page          writes the page again from the numbers there are

Of each question, the answer that topoi shows first is taken, with the probability that stands beside it. Answers are put
into bins by that probability; of each bin, the mean of what was stated is compared with the share that was right. Standard
errors are over documents, since words of one document are wrong together.

*Authors of texts*: held-out documents of one author each, among all authors of the training documents
(``topoi.likely_authors``). *Authors of words*: two held-out documents of different authors, one after the other, as one
text of both (``topoi.label_words``). *Topics of words*: texts drawn from fitted topics, so that every word's topic is known;
if the sampler is right, these are right as often as stated, whatever the topics. The page also has the coverage of intervals
and the level of tests, from the numbers of ``studies.band_coverage`` and ``studies.group_levels``.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import topoi
from studies.chart import line_chart
from studies.prior_defaults import CORPORA, UNION, corpus
from topoi.analysis.authorship import author_log_ratios

DOCS = Path(__file__).parents[1] / "docs"
NUMBERS, PAGE = DOCS / "studies" / "reliability.json", DOCS / "reliability.md"
TEXTS = (UNION, "newsgroups20", "r-devel")
N_BINS = 10
# Bins with fewer documents or words are not shown in charts.
LEAST = 20


class Answers(NamedTuple):
    """Answers to one question: the document of each, the probability that was stated, and whether it was right."""

    document: NDArray[np.int64]
    stated: NDArray[np.float64]
    right: NDArray[np.bool_]


def bins(answers: Answers, n_bins: int = N_BINS) -> list[dict[str, float]]:
    """For each bin of stated probability: answers, mean of what was stated, share right, its standard error."""
    place = np.minimum((answers.stated * n_bins).astype(np.int64), n_bins - 1)
    rows = []
    for b in range(n_bins):
        mine = place == b
        if not mine.any():
            continue
        rows.append({"answers": int(mine.sum())} | _means(Answers(*(column[mine] for column in answers))))
    return rows


def _means(answers: Answers) -> dict[str, float]:
    """Mean of what was stated, share right, and standard errors of the share and of the gap, over documents."""
    _, document = np.unique(answers.document, return_inverse=True)
    n, right, gap = len(answers.stated), float(answers.right.mean()), answers.right - answers.stated
    return {
        "documents": int(document.max() + 1),
        "stated": float(answers.stated.mean()),
        "right": right,
        "error": float(np.sqrt((np.bincount(document, answers.right - right) ** 2).sum()) / n),
        "gap": float(gap.mean()),
        "error_of_gap": float(np.sqrt((np.bincount(document, gap - gap.mean()) ** 2).sum()) / n),
    }


def summary(answers: Answers) -> dict[str, Any]:
    """All answers together, their bins, and the mean distance between stated and right, weighted by answers."""
    rows = bins(answers)
    weight = np.array([row["answers"] for row in rows]) / len(answers.stated)
    distance = float(weight @ np.abs([row["gap"] for row in rows]))
    return {"answers": len(answers.stated), **_means(answers), "distance": distance, "bins": rows}


def halves(name: str, n_documents: int) -> tuple[topoi.Corpus, topoi.Corpus]:
    """Training documents, and held-out ones of a single author who is known from training."""
    train, test = corpus(name).split(test_size=2 * n_documents, random_state=0, known_authors=True)
    single = np.flatnonzero(np.diff(test.doc_author_start) == 1)
    return train, test.subset(single[:n_documents])


def words_of(test: topoi.Corpus, d: int) -> NDArray[Any]:
    """The words of a document."""
    return test.tokens[test.doc_start[d] : test.doc_start[d + 1]]


def text_authors(model: Any, test: topoi.Corpus) -> Answers:
    """The first of the likely authors of each document."""
    calibration, rows = model.author_calibration_, []
    for d in range(test.n_docs):
        words, times = np.unique(words_of(test, d), return_counts=True)
        if not len(words):
            continue
        ratios, _ = author_log_ratios(model, words, times)
        p = np.exp(calibration.log_probabilities(ratios, int(times.sum())))
        first = int(ratios.argmax())
        rows.append((d, p[first], first == test.doc_author[test.doc_author_start[d]]))
    return Answers(*(np.array(column) for column in zip(*rows, strict=True)))


def word_authors(model: Any, test: topoi.Corpus) -> Answers:
    """Of the words of two documents of different authors in one text: which of the two wrote each."""
    rng, found = np.random.default_rng(0), []
    order = rng.permutation(test.n_docs)
    author = test.doc_author[test.doc_author_start[:-1]]
    for pair, (d, e) in enumerate(zip(order[::2], order[1::2], strict=False)):
        if author[d] == author[e]:
            continue
        parts = [words_of(test, d), words_of(test, e)]
        labels = model.label_text(np.concatenate(parts), np.array([author[d], author[e]]), random_state=pair)
        truth = np.repeat([0, 1], [len(part) for part in parts])
        first = labels.slot[:, :2].argmax(axis=1)
        stated = labels.slot[np.arange(len(truth)), first]
        found.append(Answers(np.full(len(truth), pair), stated, first == truth))
    return Answers(*(np.concatenate(column) for column in zip(*found, strict=True)))


def word_topics(model: Any, n_documents: int) -> Answers:
    """Of the words of texts that are drawn from the model's topics, as long as in training: the topic of each."""
    drawn, found = model.simulate(n_documents, float(model.corpus_.doc_lengths.mean()), random_state=0), []
    for d in range(n_documents):
        labels = model.label_text(words_of(drawn, d), np.zeros(0, np.int64), random_state=d)
        first = labels.topic.argmax(axis=1)
        truth = drawn.truth.topic[drawn.doc_start[d] : drawn.doc_start[d + 1]]
        found.append(Answers(np.full(len(first), d), labels.topic[np.arange(len(first)), first], first == truth))
    return Answers(*(np.concatenate(column) for column in zip(*found, strict=True)))


def measured(n_documents: int, n_sweeps: int) -> dict[str, Any]:
    """All three questions."""
    found: dict[str, Any] = {"texts": {}, "words": {}, "topics": {}, "documents": n_documents, "sweeps": n_sweeps}
    begin = time.process_time()
    for name in TEXTS:
        train, test = halves(name, n_documents)
        given = {"n_iter": n_sweeps, "n_shards": 1, "random_state": 0, "progress": False}
        authors = topoi.AuthorTopicModel(CORPORA[name].n_topics, **given).fit(train)
        found["texts"][name] = {"n_authors": train.n_authors} | summary(text_authors(authors, test))
        found["words"][name] = summary(word_authors(authors, test))
        lda = topoi.LDA(CORPORA[name].n_topics, **given).fit(train)
        found["topics"][name] = summary(word_topics(lda, n_documents))
        shown = {part: {key: found[part][name][key] for key in ("stated", "right", "distance")} for part in _PARTS}
        print(name, shown, flush=True)
    return found | {"seconds": round(time.process_time() - begin)}


_PARTS = ("texts", "words", "topics")
HEAD = """# How far to trust a number

topoi puts a probability or an interval beside nearly every answer. This page says how far you can rely on them. An answer with a probability of 80 % should be right eight times in ten, an interval of 90 % should hold the truth nine times in ten, and a
test at 5 % should give a false alarm once in twenty. Where this is not so, the page says by how much, so that you can allow for it.

In the pictures, answers whose probabilities are exactly right would lie on the dashed line. *Stated* is the mean probability that topoi gave to its answers, *right* is how often they were right, and *gap* is *right* less *stated*: if it is below zero, topoi was too sure. *Distance* is the mean size of the gap over the bins of the picture. Errors are standard errors over documents.

The numbers of the first three sections were made by

    TOPOI_DATA=folder python -m studies.reliability

with {documents} held-out documents of each collection and {sweeps} sweeps, everything else by default ({seconds:,} seconds of processor time). All numbers: [reliability.json](studies/reliability.json).
"""
_TITLES = {
    "texts": (
        "Who wrote a text",
        "These are answers of `topoi.likely_authors`, which the browser's page for pasted texts shows, too: the author named first, among all that the model knows, for held-out documents of one author. The probabilities are calibrated on training documents that the model is made to "
        "forget ([how](authorship.md)). They assume that one of the known authors wrote the text.",
        "the author named first",
    ),
    "words": (
        "Who wrote which word",
        "These are answers of `topoi.label_words` with two candidates: two held-out documents of different authors were joined into one text. A word alone says little about who wrote it, and the model does not know that authors take turns by passages, not by words. "
        "It takes its guess about one word as evidence for the next, and so tends to be too sure. The table says by how much.",
        "the likelier of two",
    ),
    "topics": (
        "Which topic a word has",
        "This is what the colour of a word shows. Nobody knows the right topic of a word in a real text, so texts are drawn from the topics of a fitted LDA. This checks the sampler and its defaults (20 sweeps to begin with, "
        "20 samples), not whether topics make sense.",
        "the likeliest topic",
    ),
}


def _table(rows: dict[str, Any]) -> list[str]:
    lines = ["| collection | answers | stated | right | gap | distance |", "|---|---:|---:|---:|---:|---:|"]
    for name, row in rows.items():
        gap = f"{100 * row['gap']:+.1f} ± {100 * row['error_of_gap']:.1f}"
        lines.append(
            f"| {name} | {row['answers']:,} | {row['stated']:.1%} | {row['right']:.1%} | {gap} | {100 * row['distance']:.1f} |"
        )
    return lines


def _picture(part: str, rows: dict[str, Any], title: str) -> str:
    """Write a chart of one question; returns its name."""
    series = {"as stated": [(float(p), float(p)) for p in range(0, 101, 20)]}
    for name, row in rows.items():
        points = [(100 * b["stated"], 100 * b["right"]) for b in row["bins"] if b["documents"] >= LEAST]
        if len(points) > 1:
            series[name] = points
    chart = line_chart(series, "stated, %", f"right, % ({title})", dashed=("as stated",))
    path = NUMBERS.with_name(f"reliability-{part}.svg")
    path.write_text(chart, encoding="utf-8")
    return path.name


def _lowest() -> float:
    """The least coverage of the table, in percent."""
    cells = [row.split("|")[2] for row in _intervals()[2:]]
    return min(float(part.rpartition(":")[2]) for cell in cells for part in cell.split(","))


def _intervals() -> list[str]:
    """Coverage of intervals by kind, from the study that measures it."""
    found = json.loads((DOCS / "studies" / "band-coverage.json").read_text(encoding="utf-8"))
    shares = found["shares"]
    kinds = {
        "topic shares of an author, by documents": shares["authors"],
        "of a document (LDA), by words": shares["documents"]["LDA"],
        "of a year, by documents": found["trends"],
        "of the whole collection, by documents": shares["sizes"],
        "parts that authors have in a document, by words": {
            k: v for k, v in found["writers"].items() if k != "corpora"
        },
    }
    lines = ["| intervals of 90 % | hold the truth in, % |", "|---|---|"]
    for kind, rows in kinds.items():
        cells = ", ".join(f"{size}: {100 * row['held']:.0f}" for size, row in rows.items())
        lines.append(f"| {kind} | {cells} |")
    for name in ("groups that differ", "groups that do not"):
        row = found[name]  # shares are kept with three digits, too few to round a second time
        held = round(row["held"] * row["intervals"]) / row["intervals"]
        lines.append(f"| difference between two {name} | {100 * held:.0f} |")
    return lines


def _levels() -> list[str]:
    rows = json.loads((DOCS / "studies" / "group-levels.json").read_text(encoding="utf-8"))
    lines = ["| groups of | permutations | below 5 % | below 1 % | below 0.1 % |", "|---|---:|---:|---:|---:|"]
    for row in rows:
        cells = " | ".join(f"{100 * share:.2f}" for share in row["common"][:3])
        lines.append(f"| {row['ours']} and {row['theirs']:,} | {row['n_permutations']} | {cells} |")
    return lines


def write(found: dict[str, Any]) -> None:
    """Write the page and its pictures."""
    parts = [HEAD.format(**found)]
    for part, (title, text, short) in _TITLES.items():
        name = _picture(part, found[part], short)
        alt = f"How often {short} was right, against what was stated"
        parts += [f"## {title}\n", text + "\n", f"![{alt}](studies/{name})\n", "\n".join(_table(found[part])) + "\n"]
    parts += [
        "## What intervals hold\n",
        "These were counted on simulated collections, whose true shares are known ([which intervals these are, and the command](groups.md#what-the-intervals-hold)). Before each colon stands the number of documents or words, after it how often the interval held the truth:\n",
        "\n".join(_intervals()) + "\n",
        f"The lowest number of the table is {_lowest():.0f}. With much evidence intervals are too narrow, since they take the topics themselves as known; with little evidence some hold the truth more often than they promise. If much depends on an interval, fit several chains and compare.\n",
        "## How often a test gives a false alarm\n",
        "Pairs of groups that do not differ in their topics were tested. The table says in how many tests of a hundred the p-value was below 5, 1 and 0.1 % all the same; it should be 5, 1 and 0.1 ([the tests, and the command](groups.md)):\n",
        "\n".join(_levels()) + "\n",
        "## Where to read on\n",
        "* Some intervals are counted on the pages of their models: those of [coefficients](dmr.md#how-often-intervals-hold-the-truth) and of [correlations](ctm.md#what-the-numbers-mean), and the [bands of kernel topic models](kernel-topics.md#whether-a-fit-ends-in-time). They hold the truth less often than they promise.\n"
        "* Held-out likelihoods have standard errors, and a rule that says when these cannot be trusted: [evaluation](evaluation.md).\n"
        "* Topics differ from run to run: [how many are found again](studies/papers/at09.md#at09-fig5), and how [labels](labels.md) keep up with them.\n"
        "* Lists of namesakes and odd papers are for looking through, not verdicts: [how often such a list is right](studies/namesakes.md).\n"
        "* How we know that the samplers themselves are right: [correctness](correctness.md).",
    ]
    PAGE.write_text("\n".join(parts) + "\n", encoding="utf-8")


def main() -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=400)
    parser.add_argument("--sweeps", type=int, default=300)
    parser.add_argument("--page", action="store_true", help="only write the page")
    given = parser.parse_args()
    if not given.page:
        NUMBERS.write_text(json.dumps(measured(given.documents, given.sweeps), indent=1) + "\n", encoding="utf-8")
    write(json.loads(NUMBERS.read_text(encoding="utf-8")))


if __name__ == "__main__":
    main()
