"""Processor seconds of questions to a fitted model, asked in this process: the last section of docs/questions.md.

    python -m benchmarks.questions papers.topoi

The file has an author-topic model. Each question is asked of three authors or documents, after one that compiles and
warms; the median is printed. Authors are those with the number of documents nearest to a hundred.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import topoi

from .report import Report, add_json

ASKED = 3
MODEL = {"documents": "documents|,", "authors": "authors|,", "n_topics": "K"}
COLUMNS = {"question": "question", "seconds": "CPU s|.2f"}


def seconds(ask: Callable[[Any], Any], of: Sequence[Any]) -> float:
    """Median of the processor seconds of a question, the first left out."""
    found = []
    for each in of:
        begin = time.process_time()
        ask(each)
        found.append(time.process_time() - begin)
    return statistics.median(found[1:])


def questions(model: Any, corpus: topoi.Corpus) -> list[dict[str, Any]]:
    """Seconds of each question."""
    n_documents = np.bincount(corpus.doc_author, minlength=corpus.n_authors)
    busy = np.argsort(np.abs(n_documents - 100), kind="stable")[: ASKED + 1]
    authors = [str(corpus.authors[a]) for a in busy]
    documents = [corpus.n_docs * part // (ASKED + 2) for part in range(1, ASKED + 2)]
    texts = [corpus[d].text for d in documents]
    asked: dict[str, tuple[Callable[[Any], Any], Sequence[Any]]] = {
        "unusual documents of an author of about 100": (
            lambda name: topoi.unusual_documents(model, corpus, author=name),
            authors,
        ),
        "similar authors": (lambda name: topoi.similar_authors(model, name), authors),
        "similar documents": (lambda d: topoi.similar_documents(model, d), documents),
        "likely authors of a text": (lambda text: topoi.likely_authors(model, text), texts),
        "reviewers for a text": (lambda text: topoi.recommend_reviewers(model, text), texts),
        "topics of two runs aligned": (lambda other: topoi.align_topics(model, other), [model] * 2),
    }
    return [{"question": name, "seconds": seconds(ask, of)} for name, (ask, of) in asked.items()]


def main() -> None:
    """Ask, and print tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", help="an author-topic model with its corpus")
    add_json(parser)
    given, report = parser.parse_args(), Report()
    model = topoi.load(given.file)
    corpus = model.corpus_
    facts = {"documents": corpus.n_docs, "authors": corpus.n_authors, "n_topics": model.n_topics}
    report.section("model", "The model", [facts], MODEL)
    report.section("questions", "Questions", questions(model, corpus), COLUMNS)
    report.write(given.json)


if __name__ == "__main__":
    main()
