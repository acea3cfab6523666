"""Titles of documents: who names a document names its subject, so phrases of titles make better labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.corpus import Corpus
from topoi.corpus.pieces import BLOCK, row_blocks
from topoi.models.labels.choice import Candidate
from topoi.models.labels.collection import TitleWords, title_words
from topoi.models.labels.telling import DECIMALS
from topoi.models.smoothed_counts import count_topics

# Most that titles add to a score, as a part of it, and the number of titles that add half of that.
_MOST, _HALF = 0.5, 5.0
_TOKENS_AT_ONCE = BLOCK


def with_titles(corpus: Corpus, topic: NDArray[Any], n_topics: int, found: Sequence[Candidate]) -> list[Candidate]:
    """Candidates with higher scores if they are phrases of titles of documents with much of the topic.

    A title counts as much as the topic has of its document's words. Without titles, nothing changes; nor do words that
    stand alone, which titles have more often than phrases.

    Parameters
    ----------
    corpus : Corpus
        The documents.
    topic : array
        Topic of every token.
    n_topics : int
        Number of topics.
    found : sequence of Candidate
        Candidates for labels.

    Examples
    --------
    >>> import numpy as np, topoi
    >>> from topoi.models.labels.choice import Candidate
    >>> from topoi.models.labels.titles import with_titles
    >>> corpus = topoi.Corpus.from_tokens([["gold", "coin"]] * 5, titles=["A gold coin"] * 5)
    >>> found = with_titles(corpus, np.zeros(10, int), 1, [Candidate(1.0, 0, (0, 1)), Candidate(1.0, 0, (1, 0))])
    >>> [one.score for one in found]
    [1.25, 1.0]
    """
    titles = title_words(corpus)
    if not len(titles.word) or not found:
        return list(found)
    doc, place = _in_titles(titles, found)
    support = np.zeros(len(found))
    of = np.array([one.topic for one in found])
    for rows in row_blocks(corpus.doc_start, _TOKENS_AT_ONCE):
        here = slice(*np.searchsorted(doc, (rows.start, rows.stop)))
        own = corpus.doc_start[rows.start : rows.stop + 1]
        mine = topic[own[0] : own[-1]].astype(np.uint16)
        share = _shares(own - own[0], mine, doc[here] - rows.start, of[place[here]], n_topics)
        np.add.at(support, place[here], share)
    bonus = 1.0 + _MOST * support / (support + _HALF)
    return [
        one._replace(score=round(one.score * float(more), DECIMALS)) for one, more in zip(found, bonus, strict=True)
    ]


def _shares(
    start: NDArray[np.int64], topic: NDArray[Any], doc: NDArray[np.int64], wanted: NDArray[np.int64], n_topics: int
) -> NDArray[np.float64]:
    """Share of a wanted topic in a document's words, for many pairs of the two."""
    first, column, number = count_topics(start, topic, n_topics)
    if not len(column):
        return np.zeros(len(doc))
    # Counts are sorted by document and topic.
    keys = np.repeat(np.arange(len(start) - 1), np.diff(first)) * n_topics + column
    at = np.minimum(np.searchsorted(keys, doc * n_topics + wanted), len(keys) - 1)
    there = np.where(keys[at] == doc * n_topics + wanted, number[at], 0)
    return np.asarray(there / np.maximum(np.diff(start)[doc], 1))


def _in_titles(titles: TitleWords, found: Sequence[Candidate]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Documents, in order, and the positions of candidates that stand in their titles."""
    docs, tokens, linked = titles.doc.astype(np.int64), titles.word.astype(np.int64), titles.linked
    document, position = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for n in (2, 3):
        mine = np.array([i for i, one in enumerate(found) if len(one.words) == n], np.int64)
        if not len(mine) or len(tokens) < n:
            continue
        # Phrases as numbers: their words are numbered among those of all candidates, so that three fit.
        known, codes = np.unique([found[i].words for i in mine], return_inverse=True)
        keys = _coded(codes.reshape(len(mine), n), len(known))
        at = np.arange(len(tokens) - n + 1)
        for i in range(1, n):
            at = at[linked[at + i]]
        runs = np.stack([tokens[at + i] for i in range(n)], axis=1)
        spot = np.minimum(np.searchsorted(known, runs), len(known) - 1)
        at, spot = at[(known[spot] == runs).all(axis=1)], spot[(known[spot] == runs).all(axis=1)]
        order = np.argsort(keys, kind="stable")
        ends = [np.searchsorted(keys, _coded(spot, len(known)), side=side, sorter=order) for side in ("left", "right")]
        times = ends[1] - ends[0]
        document.append(np.repeat(docs[at], times))
        within = np.arange(int(times.sum())) - np.repeat(np.cumsum(times) - times, times)
        position.append(mine[order[np.repeat(ends[0], times) + within]])
    doc, place = np.concatenate(document), np.concatenate(position)
    order = np.argsort(doc, kind="stable")
    return doc[order], place[order]


def _coded(words: NDArray[np.int64], n: int) -> NDArray[np.int64]:
    """Rows of up to three numbers below ``n`` as one number each."""
    code = np.zeros(len(words), np.int64)
    for column in words.T:
        code = code * n + column
    return code
