"""What labels need of a collection whatever its topics are: made once, since edits and sweeps ask for it again."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, NamedTuple, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.corpus import Corpus
from topoi.models.background import log_concentration
from topoi.models.labels.phrases import is_gap

T = TypeVar("T")
_KNOWN: WeakKeyDictionary[Corpus, dict[str, Any]] = WeakKeyDictionary()


def once(make: Callable[[Corpus], T]) -> Callable[[Corpus], T]:
    """A function of a corpus whose result is kept as long as the corpus is.

    Examples
    --------
    >>> import topoi
    >>> from topoi.models.labels.collection import once
    >>> corpus, made = topoi.Corpus.from_tokens([["a"]]), []
    >>> names = once(lambda corpus: made.append(1) or corpus.words.tolist())
    >>> names(corpus), names(corpus), len(made)
    (['a'], ['a'], 1)
    """

    @wraps(make)
    def known(corpus: Corpus) -> T:
        own = _KNOWN.setdefault(corpus, {})
        key = f"{make.__module__}.{make.__qualname__}"
        if key not in own:
            own[key] = make(corpus)
        return own[key]  # type: ignore[no-any-return]

    return known


@once
def word_concentration(corpus: Corpus) -> NDArray[np.float64]:
    """How much each word comes in bursts: its ``log_concentration`` in documents."""
    return log_concentration(corpus.tokens, corpus.doc_start, corpus.n_words)


class TitleWords(NamedTuple):
    """Words of all titles: documents, words, and whether each follows the one before it without a gap."""

    doc: NDArray[np.int32]
    word: NDArray[np.int32]
    linked: NDArray[np.bool_]


@once
def title_words(corpus: Corpus) -> TitleWords:
    """Words of the documents' titles that are in the vocabulary; none if no document has a title."""
    column = corpus.documents["title"].tolist() if "title" in corpus.documents else []
    titles = [title if isinstance(title, str) else "" for title in column]
    if not any(titles):
        return TitleWords(np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0, bool))
    encoded = corpus.vocabulary.encode(titles)
    doc = np.repeat(np.arange(len(titles), dtype=np.int32), np.diff(encoded.doc_start))
    linked = np.zeros(len(encoded.tokens), bool)
    linked[1:] = is_gap(encoded.token_start[1:], encoded.token_end[:-1]) & (doc[1:] == doc[:-1])
    return TitleWords(doc, encoded.tokens, linked)
