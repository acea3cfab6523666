"""A query's terms: the words of its text that the collection knows, and authors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi.errors import ModelError
from topoi.retrieval.index import DocumentIndex

# A longer query is no query; a text of this length still takes only seconds.
LONGEST_QUERY = 200_000
_SHOWN = 5


class Terms(NamedTuple):
    """Terms of a query: its distinct words in reading order, how often each occurs, and authors, each once."""

    words: NDArray[np.int64]
    times: NDArray[np.float64]
    authors: NDArray[np.int64]
    unknown: tuple[str, ...] = ()

    @property
    def weights(self) -> NDArray[np.float64]:
        """Number of occurrences of each term, words first."""
        return np.concatenate([self.times, np.ones(len(self.authors))])

    @property
    def n(self) -> float:
        """Number of occurrences of all terms."""
        return float(self.times.sum()) + len(self.authors)

    def __bool__(self) -> bool:
        return bool(len(self.words) or len(self.authors))


def find_terms(
    index: DocumentIndex, text: str, authors: Sequence[str] | str | None = None, allow_none: bool = False
) -> Terms:
    """Find the terms of a query; one without a known word and without an author is a ``ModelError``, unless allowed.

    Examples
    --------
    >>> import topoi
    >>> from topoi.retrieval.index import CorpusIndex
    >>> from topoi.retrieval.terms import find_terms
    >>> index = CorpusIndex(topoi.Corpus.from_tokens([["sun", "star"], ["moon", "sun"]]))
    >>> found = find_terms(index, "Sun, sun and planets")
    >>> found.times.tolist(), found.unknown
    ([2.0], ('and', 'planets'))
    """
    if not isinstance(text, str):
        raise ModelError(f"the query is {type(text).__name__}; pass one string")
    if len(text) > LONGEST_QUERY:
        raise ModelError(f"the query has {len(text):,} characters; at most {LONGEST_QUERY:,} are read")
    people = _find_authors(index, authors)
    encoded = index.vocabulary.encode([text])
    words, first, times = np.unique(encoded.tokens, return_index=True, return_counts=True)
    order = np.argsort(first)
    counted = words[order].astype(np.int64), times[order].astype(np.float64)
    found = Terms(*counted, people, _unknown(index, text, encoded.n_unknown))
    if not found and not allow_none:
        raise ModelError(_reason(text, found.unknown))
    return found


def _unknown(index: DocumentIndex, text: str, n: int) -> tuple[str, ...]:
    """Distinct words of the text that the vocabulary lacks, stop words left out, in reading order."""
    if not n:
        return ()
    vocabulary = index.vocabulary
    return tuple(dict.fromkeys(word for word, _, _ in vocabulary.analyzer.words(text) if word not in vocabulary))


def _reason(text: str, unknown: tuple[str, ...]) -> str:
    if unknown:
        more = f" and {len(unknown) - _SHOWN:,} more" if len(unknown) > _SHOWN else ""
        return f"no document has any of these words: {', '.join(unknown[:_SHOWN])}{more}"
    if text.strip():
        return "the query has only stop words, numbers or signs; add a word that says what is wanted"
    return "the query is empty; give some words, or an author"


def _find_authors(index: DocumentIndex, authors: Any) -> NDArray[np.int64]:
    names = [] if authors is None else [authors] if isinstance(authors, str) else list(authors)
    if not all(isinstance(name, str) for name in names):
        raise ModelError(f"authors is {authors!r}; pass a list of names")
    if names and not index.n_authors:
        raise ModelError("the documents have no authors")
    return np.array(sorted({index.catalogue.find_author(name) for name in names}), np.int64)
