"""Titles of documents: who names a document names its subject, so phrases of titles make better labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.corpus import Corpus
from topoi.corpus.pieces import ranges
from topoi.models.labels.choice import Candidate
from topoi.models.labels.phrases import is_gap
from topoi.models.labels.telling import DECIMALS

# Most that titles add to a score, as a part of it, and the number of titles that add half of that.
_MOST, _HALF = 0.5, 5.0
_CELLS_AT_ONCE = 2**22


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
    titles = _titles(corpus)
    if not titles or not found:
        return list(found)
    doc, place = _in_titles(corpus, titles, found)
    support = np.zeros(len(found))
    of = np.array([one.topic for one in found])
    for rows in ranges(corpus.n_docs, max(_CELLS_AT_ONCE // n_topics, 1)):
        start = corpus.doc_start[rows.start : rows.stop + 1]
        owner = np.repeat(np.arange(rows.stop - rows.start), np.diff(start))
        cells = np.bincount(
            owner * n_topics + topic[start[0] : start[-1]], minlength=(rows.stop - rows.start) * n_topics
        )
        share = cells.reshape(-1, n_topics) / np.maximum(np.diff(start), 1)[:, None]
        here = slice(*np.searchsorted(doc, (rows.start, rows.stop)))
        np.add.at(support, place[here], share[doc[here] - rows.start, of[place[here]]])
    bonus = 1.0 + _MOST * support / (support + _HALF)
    return [
        one._replace(score=round(one.score * float(more), DECIMALS)) for one, more in zip(found, bonus, strict=True)
    ]


def _titles(corpus: Corpus) -> list[str]:
    """Titles of all documents; none if no document has one."""
    column = corpus.documents["title"].tolist() if "title" in corpus.documents else []
    texts = [title if isinstance(title, str) else "" for title in column]
    return texts if any(texts) else []


def _in_titles(
    corpus: Corpus, titles: list[str], found: Sequence[Candidate]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Documents, in order, and the positions of candidates that stand in their titles."""
    encoded = corpus.vocabulary.encode(titles)
    tokens = encoded.tokens.astype(np.int64)
    docs = np.repeat(np.arange(len(titles)), np.diff(encoded.doc_start))
    linked = np.zeros(len(tokens), bool)
    linked[1:] = is_gap(encoded.token_start[1:], encoded.token_end[:-1]) & (docs[1:] == docs[:-1])
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
