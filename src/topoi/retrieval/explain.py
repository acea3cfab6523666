"""Why documents answer a query: the words that they have, the topics that carry them, their text with words marked."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from topoi.corpus.vocabulary import object_array
from topoi.retrieval import equations
from topoi.retrieval.index import Passage
from topoi.retrieval.ranking import Evidence, Settings

Array = NDArray[np.float64]


class Explanation(NamedTuple):
    """Why a document has its score.

    Attributes
    ----------
    score : float
        The document's score: the sum of the terms' contributions.
    terms : DataFrame
        A row per term: term, kind ("word" or "author"), times (in the query), n_in_document, language and topics
        (the two models' P(term | document) / P(term); NaN for a model that the method does not use), by_topics (the
        topic model's part of the term's probability), contribution (to the score).
    topics : DataFrame
        topic, share (of the document), part (of the query's probabilities that it accounts for), the largest part
        first; of the first chain.
    pieces : list of (str, bool)
        The document's text, cut where the query's words begin and end; true for a word of the query. Empty if the
        text is not known.
    """

    score: float
    terms: pd.DataFrame
    topics: pd.DataFrame
    pieces: list[tuple[str, bool]]


class Reasons:
    """The numbers behind the scores of some documents; chains are averaged term by term.

    Parameters
    ----------
    evidence : Evidence
        The query's terms.
    documents : array
        The documents.
    method : str
        How they were scored.
    settings : Settings
        Parameters of the scores.
    """

    def __init__(self, evidence: Evidence, documents: NDArray[np.int64], method: str, settings: Settings) -> None:
        self._evidence, self._documents, self._method, self._settings = evidence, documents, method, settings
        self.counts = evidence.counts_in(documents)
        self._lengths = evidence.index.lengths[documents]

    @cached_property
    def names(self) -> list[str]:
        """The terms as text."""
        index, terms = self._evidence.index, self._evidence.terms
        people: Any = index.catalogue.author_names(terms.authors) if len(terms.authors) else []
        return [*map(str, index.vocabulary.words[terms.words]), *map(str, people)]

    def matched(self) -> list[list[str]]:
        """The terms that each document has."""
        return [[name for name, n in zip(self.names, row, strict=True) if n] for row in self.counts]

    @cached_property
    def language(self) -> Array | None:
        """The language model's ratios, documents × terms."""
        if self._method not in ("mixture", "language"):
            return None
        return equations.language_ratios(self.counts, self._lengths, self._evidence.background, self._settings.mu)

    @cached_property
    def _mixtures(self) -> list[Array]:
        """Each chain's mixtures of the documents, documents × topics."""
        topics = self._evidence.topics
        if topics is None or self._method not in ("mixture", "topics"):
            return []
        return [topics.document_mixtures(chain, self._documents) for chain, _ in self._evidence.columns]

    @cached_property
    def topics(self) -> Array | None:
        """The topic model's ratios, documents × terms: means over the chains."""
        if not self._mixtures:
            return None
        each = [own @ columns for own, (_, columns) in zip(self._mixtures, self._evidence.columns, strict=True)]
        return np.asarray(np.mean(each, axis=0))

    @property
    def _weight(self) -> float:
        """Weight of the language model."""
        return {"mixture": self._settings.weight, "topics": 0.0}.get(self._method, 1.0)

    @cached_property
    def ratios(self) -> Array:
        """P(term | document) / P(term), documents × terms."""
        parts = ((self.language, self._weight), (self.topics, 1.0 - self._weight))
        return np.sum([weight * part for part, weight in parts if part is not None], axis=0)

    @cached_property
    def contributions(self) -> Array:
        """Part of the score that each term adds, documents × terms."""
        weights, settings = self._evidence.weights, self._settings
        if self._method == "bm25":
            lengths = self._evidence.index.lengths
            idf = equations.inverse_document_frequency(self._evidence.n_documents, len(lengths), settings.idf)
            mean_length = float(lengths.mean()) if lengths.any() else 1.0
            room = settings.k1 * (1 - settings.b + settings.b * self._lengths / mean_length)
            return np.asarray(self.counts * (settings.k1 + 1) / (self.counts + room[:, None]) * idf * weights)
        return np.asarray(np.log(self.ratios) * weights / self._evidence.terms.n)

    @cached_property
    def topic_parts(self) -> Array:
        """Part of the query's probabilities that each topic of the first chain accounts for, documents × topics."""
        if not self._mixtures:
            return np.zeros((len(self._documents), 0))
        own, (_, columns) = self._mixtures[0], self._evidence.columns[0]
        of_terms = self._evidence.weights / self._evidence.terms.n / self.ratios
        return np.asarray((1.0 - self._weight) * own * (of_terms @ columns.T))

    def leading_topics(self, n: int, least: float) -> list[list[int]]:
        """At most ``n`` topics of each document that account for at least ``least``, the largest part first."""
        parts = self.topic_parts
        order = np.argsort(-parts, axis=1, kind="stable")[:, :n]
        return [[int(k) for k in best if row[k] >= least] for row, best in zip(parts, order, strict=True)]

    def explanation(self, at: int = 0) -> Explanation:
        """The whole explanation of one of the documents."""
        terms, nothing = self._evidence.terms, np.full(len(self.names), np.nan)
        language, topics = (nothing if each is None else each[at] for each in (self.language, self.topics))
        by_topics = nothing if self.topics is None else (1.0 - self._weight) * topics / self.ratios[at]
        frame = pd.DataFrame(
            {
                "term": object_array(self.names),
                "kind": np.repeat(np.array(["word", "author"], object), [len(terms.words), len(terms.authors)]),
                "times": self._evidence.weights.astype(np.int64),
                "n_in_document": self.counts[at].astype(np.int64),
                "language": language,
                "topics": topics,
                "by_topics": by_topics,
                "contribution": self.contributions[at],
            }
        )
        passage = self._evidence.index.passage(int(self._documents[at]))
        score = float(self.contributions[at].sum())
        return Explanation(score, frame, self._topic_frame(at), marked(passage, terms.words))

    def _topic_frame(self, at: int) -> pd.DataFrame:
        parts = self.topic_parts[at]
        order = np.argsort(-parts, kind="stable")
        share = self._mixtures[0][at][order] if self._mixtures else np.zeros(0)
        return pd.DataFrame({"topic": order, "share": share, "part": parts[order]})


def marked(passage: Passage, words: NDArray[np.int64]) -> list[tuple[str, bool]]:
    """A text cut where some words begin and end; true for the words. Empty if text or places are not known.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.retrieval.index import Passage
    >>> marked(Passage(np.array([4, 7]), np.array([2, 6]), np.array([5, 9]), "A sun sets."), np.array([7]))
    [('A sun ', False), ('set', True), ('s.', False)]
    """
    text, start, end = passage.text, passage.start, passage.end
    if text is None or start is None or end is None:
        return []
    pieces: list[tuple[str, bool]] = []
    at = 0
    for i in np.flatnonzero(np.isin(passage.tokens, words)):
        first, last = int(start[i]), int(end[i])
        if first >= at:
            pieces += [(text[at:first], False), (text[first:last], True)]
            at = last
    pieces.append((text[at:], False))
    return [piece for piece in pieces if piece[0]]
