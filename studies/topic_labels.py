"""Automatic labels of topics beside the single words that stood for them, on four corpora.

    TOPOI_DATA=folder python -m studies.topic_labels [--only nips12] [--sweeps 200] [--rows 20]

Corpora whose files are not in the folder are left out; the State of the Union comes with topoi's ``data`` extra. Each is
fitted with two seeds. Of topics that are each other's nearest in the two fits by their words, those with the same single
word, the same label, and labels that share a word are counted. Prints Markdown: one line of measures for each corpus, then its largest topics.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

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


def passages(**options: Any) -> Any:
    """The model of ``topoi demo``."""
    return topoi.AuthorTopicModel(60, alpha=0.05, fictitious_authors=True, **options)


def plain(n_topics: int) -> Callable[..., Any]:
    """LDA with so many topics and a small alpha."""
    return lambda **options: topoi.LDA(n_topics, alpha=0.1, **options)


SETTINGS = {
    "state-of-the-union": Setting(
        lambda: topoi.load_dataset("state-of-the-union", unit="passage"), passages, "the model of the demo"
    ),
    "nips12": Setting(lambda: topoi.load_dataset("nips12"), plain(50), "LDA, 50 topics"),
    "acl-abstracts": Setting(every_fourth, plain(100), "every fourth abstract, LDA, 100 topics"),
    "newsgroups20": Setting(lambda: topoi.load_dataset("newsgroups20"), plain(50), "LDA, 50 topics"),
}
COLUMNS = (
    *("corpus", "topics", "phrases", "topics that share their word", "labels used twice", "pairs after a restart"),
    *("same word", "same label", "labels share a word", "seconds"),
)


def single_words(model: Any) -> list[str]:
    """The word that stood for each topic: the most relevant one."""
    frame = model.top_words(1, relevance=SUMMARY_RELEVANCE)
    return [str(word) for word in frame["word"]]


def agreement(first: Any, second: Any) -> tuple[int, float, float, float]:
    """Number of topics that are each other's nearest; shares with the same word, label, and a word of it in common."""
    pairs = topoi.align_topics(first, second).pairs
    pairs = pairs[pairs["mutual"]]
    at = list(zip(pairs["topic_a"].astype(int), pairs["topic_b"].astype(int), strict=True))
    words, labels = ((make(first), make(second)) for make in (single_words, lambda model: model.topic_labels()))
    same_word = sum(words[0][a] == words[1][b] for a, b in at)
    same = sum(labels[0][a].casefold() == labels[1][b].casefold() for a, b in at)
    similar = sum(bool(_stems(labels[0][a]) & _stems(labels[1][b])) for a, b in at)
    n = max(len(at), 1)
    return len(at), same_word / n, same / n, similar / n


def _stems(label: str) -> set[str]:
    return {stem(word.strip(",:")) for word in label.removeprefix("background: ").split()}


def measure(name: str, n_iter: int, n_rows: int) -> tuple[list[str], list[str]]:
    """A line of measures, and the table of the largest topics."""
    setting = SETTINGS[name]
    corpus = setting.corpus()
    first, second = (
        setting.model(n_iter=n_iter, random_state=seed, n_jobs=1, progress=False).fit(corpus) for seed in (0, 1)
    )
    begin = time.process_time()
    labels = name_topics(corpus, first.chains_[0]).labels
    seconds = time.process_time() - begin
    words = single_words(first)
    n_pairs, same_word, same, similar = agreement(first, second)
    twice, double = (sum(n for n in Counter(each).values() if n > 1) for each in (words, labels))
    phrases = sum(" " in label and "," not in label for label in labels)
    line = [name, *map(str, (len(labels), phrases, twice, double, n_pairs))]
    line += [f"{same_word:.0%}", f"{same:.0%}", f"{similar:.0%}", f"{seconds:.1f}"]
    sizes = first.topic_sizes(level=None)["share"]
    table = [f"\n{name} ({setting.what}; {corpus.n_docs:,} documents)\n", "| share | word | label | words |"]
    table.append("|---:|---|---|---|")
    listed = first.top_words(6, relevance=SUMMARY_RELEVANCE).groupby("topic")["word"].apply(list)
    for k in sizes.sort_values(ascending=False, kind="stable").index[:n_rows]:
        table.append(f"| {sizes[k]:.1%} | {words[k]} | **{labels[k]}** | {', '.join(listed[k])} |")
    return line, table


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=list(SETTINGS), help="one corpus")
    parser.add_argument("--sweeps", type=int, default=200)
    parser.add_argument("--rows", type=int, default=20, help="topics shown of each corpus")
    given = parser.parse_args()
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
