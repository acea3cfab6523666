"""Automatic labels of topics beside the single words that stood for them, and their stability, on seven corpora.

    TOPOI_DATA=folder python -m studies.topic_labels [--only nips12-abstracts] [--sweeps 150] [--rows 20]
    TOPOI_DATA=folder python -m studies.topic_labels --cost

Corpora whose files are not in the folder are left out; the State of the Union comes with topoi's ``data`` extra. Each is
fitted with two seeds, and the first fit goes on for 50 sweeps: labels of the same topics before and after are compared,
made with the former ones in mind, as users have them, and made anew. Of topics that are each other's nearest in the two
fits by their words, those with labels that share a word are counted: all, and those whose overlap (the probability that
both give to the same words) is above the median. Prints Markdown: one line of measures for each corpus, then its largest
topics. With ``--cost``, the seconds for all labels of all ACL abstracts with 300 topics.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Callable
from operator import eq
from typing import Any, NamedTuple

import numpy as np

import topoi
from topoi.errors import TopoiError
from topoi.models.labels.choice import stem
from topoi.models.labels.make import name_topics
from topoi.models.ranking import SUMMARY_RELEVANCE


class Setting(NamedTuple):
    """A corpus, and a model with so many topics."""

    corpus: Callable[[], topoi.Corpus]
    model: Callable[..., Any]
    what: str


def every_fourth() -> topoi.Corpus:
    """A quarter of the ACL abstracts, of all years."""
    corpus = topoi.load_dataset("acl-abstracts")
    return corpus.subset(range(0, corpus.n_docs, 4))


def every_third() -> topoi.Corpus:
    """A third of the messages of r-devel, of all years."""
    corpus = topoi.load_dataset("r-devel")
    return corpus.subset(range(0, corpus.n_docs, 3))


def passages(**options: Any) -> Any:
    """The model of ``topoi demo``."""
    return topoi.AuthorTopicModel(60, fictitious_authors=True, **options)


def plain(n_topics: int) -> Callable[..., Any]:
    """LDA with so many topics."""
    return lambda **options: topoi.LDA(n_topics, **options)


def whole(name: str, n_topics: int) -> Setting:
    """All of a corpus."""
    return Setting(lambda: topoi.load_dataset(name), plain(n_topics), f"LDA, {n_topics} topics")


SETTINGS = {
    "state-of-the-union": Setting(
        lambda: topoi.load_dataset("state-of-the-union", unit="passage"), passages, "the model of the demo"
    ),
    "nips12-abstracts": whole("nips12-abstracts", 50),
    "acl-abstracts": Setting(every_fourth, plain(80), "every fourth abstract, LDA, 80 topics"),
    "newsgroups20": whole("newsgroups20", 50),
    "wikipedia-science": whole("wikipedia-science", 50),
    "r-devel": Setting(every_third, plain(60), "every third message, LDA, 60 topics"),
    "cacm": whole("cacm", 40),
}
COLUMNS = (
    *("corpus", "topics", "phrases", "topics that share their word", "labels used twice"),
    *("same after 50 sweeps", "the same made anew", "shares a word"),
    *("pairs after a restart", "overlap", "share a word", "of the upper half", "same label", "same single word"),
)
N_MORE = 50


def single_words(model: Any) -> list[str]:
    """The word that stood for each topic: the most relevant one."""
    frame = model.top_words(1, relevance=SUMMARY_RELEVANCE)
    return [str(word) for word in frame["word"]]


class Restart(NamedTuple):
    """Topics of two fits that are each other's nearest: their number, the median overlap, and what their names share."""

    n_pairs: int
    overlap: float
    similar: float
    similar_above: float
    same_above: float
    same_word_above: float


def agreement(first: Any, second: Any) -> Restart:
    """What topics that are each other's nearest have in common; the last three of those with much overlap."""
    pairs = topoi.align_topics(first, second).pairs
    pairs = pairs[pairs["mutual"]]
    at = list(zip(pairs["topic_a"].astype(int), pairs["topic_b"].astype(int), strict=True))
    words, labels = ((make(first), make(second)) for make in (single_words, lambda model: model.topic_labels()))
    same_word = np.array([words[0][a] == words[1][b] for a, b in at])
    same = np.array([labels[0][a].casefold() == labels[1][b].casefold() for a, b in at])
    similar = np.array([share_a_word(labels[0][a], labels[1][b]) for a, b in at])
    overlap = float(pairs["shared"].median())
    above = pairs["shared"].to_numpy() > overlap
    shares = (float(each[above].mean()) for each in (similar, same, same_word))
    return Restart(len(at), overlap, float(similar.mean()), *shares)


def share_a_word(one: str, other: str) -> bool:
    """Whether two labels have a word in common, whatever its number."""
    return bool(_stems(one) & _stems(other))


def _stems(label: str) -> set[str]:
    return {stem(word.strip(",:")) for word in label.removeprefix("background: ").replace("-", " ").split()}


def after_more_sweeps(model: Any) -> tuple[float, float, float]:
    """Shares of topics whose labels are equal after 50 more sweeps: as users have them, made anew, sharing a word."""
    before = model.topic_labels()
    model.resume(N_MORE)
    anew = name_topics(model.corpus_, model.chains_[0]).labels
    equal, again, similar = (
        float(np.mean([like(a, b) for a, b in zip(before, labels, strict=True)]))
        for labels, like in ((model.topic_labels(), eq), (anew, eq), (anew, share_a_word))
    )
    return equal, again, similar


def measure(name: str, n_iter: int, n_rows: int) -> tuple[list[str], list[str]]:
    """A line of measures, and the table of the largest topics."""
    setting = SETTINGS[name]
    corpus = setting.corpus()
    first, second = (
        setting.model(n_iter=n_iter, random_state=seed, n_jobs=1, progress=False).fit(corpus) for seed in (0, 1)
    )
    labels, words = first.topic_labels(), single_words(first)
    pairs = agreement(first, second)
    twice, double = (sum(n for n in Counter(each).values() if n > 1) for each in (words, labels))
    phrases = sum(" " in label and "," not in label for label in labels)
    sizes = first.topic_sizes(level=None)["share"]
    table = [f"\n{name} ({setting.what}; {corpus.n_docs:,} documents)\n", "| share | word | label | words |"]
    table.append("|---:|---|---|---|")
    listed = first.top_words(6, relevance=SUMMARY_RELEVANCE).groupby("topic")["word"].apply(list)
    for k in sizes.sort_values(ascending=False, kind="stable").index[:n_rows]:
        table.append(f"| {sizes[k]:.1%} | {words[k]} | **{labels[k]}** | {', '.join(listed[k])} |")
    line = [name, *map(str, (len(labels), phrases, twice, double))]
    line += [f"{share:.0%}" for share in after_more_sweeps(first)]
    line += [str(pairs.n_pairs), f"{pairs.overlap:.2f}", *(f"{share:.0%}" for share in pairs[2:])]
    return line, table


def cost(n_topics: int = 300, n_iter: int = 10) -> str:
    """Seconds of the processor for the labels of all ACL abstracts."""
    corpus = topoi.load_dataset("acl-abstracts")
    model = topoi.LDA(n_topics, n_iter=n_iter, random_state=0, n_jobs=1, progress=False).fit(corpus)
    model.chains_[0].positive_columns(np.arange(1))  # counts are made when first asked for
    begin = time.process_time()
    labels = name_topics(corpus, model.chains_[0]).labels
    seconds = time.process_time() - begin
    return f"{len(labels)} labels of {corpus.n_docs:,} documents, {corpus.n_tokens:,} tokens: {seconds:.1f} seconds"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=list(SETTINGS), help="one corpus")
    parser.add_argument("--sweeps", type=int, default=150)
    parser.add_argument("--rows", type=int, default=20, help="topics shown of each corpus")
    parser.add_argument("--cost", action="store_true", help="time the labels of all ACL abstracts, 300 topics")
    given = parser.parse_args()
    if given.cost:
        print(cost())
        return
    lines, tables = [], []
    for name in [given.only] if given.only else SETTINGS:
        try:
            line, table = measure(name, given.sweeps, given.rows)
        except (TopoiError, ImportError) as error:
            print(f"{name} is left out: {error}")
            continue
        lines.append(line)
        tables += table
    print("|", " | ".join(COLUMNS), "|")
    print("|---|" + "---:|" * (len(COLUMNS) - 1))
    for line in lines:
        print("|", " | ".join(line), "|")
    print("\n".join(tables))


if __name__ == "__main__":
    main()
