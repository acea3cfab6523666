"""Phrases of a topic: two or three of its leading words that stand side by side in the texts, all in the topic."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.corpus import Corpus
from topoi.corpus.mapped import release
from topoi.corpus.pieces import BLOCK, row_blocks

# Most characters between two words of a phrase: a space or a hyphen, no full stop with a space. Scripts without spaces,
# as Chinese, have none.
_GAP = 1
NO_WORD = -1
_TOKENS_AT_ONCE = BLOCK
# Cells of a table that positions are looked up in, four bytes each.
_MOST_CELLS = 2**24


class Phrases(NamedTuple):
    """Phrases with their numbers of occurrences: topics, words (phrases × 3, the third may be -1), times."""

    topic: NDArray[np.int64]
    word: NDArray[np.int64]
    times: NDArray[np.int64]


def count_phrases(corpus: Corpus, topic: NDArray[Any], leading: NDArray[np.int64]) -> Phrases:
    """Count the phrases of each topic's leading words, in blocks of documents.

    Words are side by side if at most one character stands between them in the text; in a corpus without texts, if no
    word of the vocabulary stands between them. A corpus of counts, which has no order of words, has no phrases.

    Parameters
    ----------
    corpus : Corpus
        The documents.
    topic : array
        Topic of every token.
    leading : array
        Leading words of each topic: topics × words.

    Examples
    --------
    >>> import numpy as np, topoi
    >>> from topoi.models.labels.phrases import count_phrases
    >>> corpus = topoi.Corpus.from_tokens([["red", "fish"], ["big", "red", "fish"]])
    >>> found = count_phrases(corpus, np.zeros(5, int), np.array([[0, 1, 2]]))
    >>> [(corpus.words[row[row >= 0]].tolist(), int(n)) for row, n in zip(found.word, found.times)]
    [(['red', 'fish'], 2), (['big', 'red'], 1), (['big', 'red', 'fish'], 1)]
    """
    n = leading.shape[1]
    places = _places(leading, corpus.n_words)
    pairs, triples = _Tally(), _Tally()
    for tokens, own, linked in token_blocks(corpus, topic) if n and has_order(corpus) else ():
        place = places(own, tokens)
        # Two words of one topic, side by side: the position of the second.
        ends = np.flatnonzero(linked & (place >= 0) & (np.roll(place, 1) >= 0) & (own == np.roll(own, 1)))
        pair = place[ends - 1] * n + place[ends] % n
        pairs.add(pair)
        after = np.flatnonzero(np.diff(ends) == 1) + 1
        triples.add(pair[after - 1] * n + place[ends[after]] % n)
    return _named(leading, pairs, triples)


def has_order(corpus: Corpus) -> bool:
    """Whether words are in reading order: false if no document has a word after one of a larger number.

    Examples
    --------
    >>> import numpy as np, topoi
    >>> from topoi.models.labels.phrases import has_order
    >>> counted = topoi.Corpus.from_counts(np.eye(3, dtype=int))
    >>> has_order(topoi.Corpus.from_tokens([["b", "a", "b"]])), has_order(counted)
    (True, False)
    """
    if corpus.token_start is not None:
        return True
    for part in row_blocks(corpus.doc_start, _TOKENS_AT_ONCE):
        here = slice(corpus.doc_start[part.start], corpus.doc_start[part.stop])
        falls = np.diff(corpus.tokens[here], prepend=0) < 0
        first = corpus.doc_start[part] - here.start
        falls[first[first < len(falls)]] = False
        if falls.any():
            return True
    return False


def token_blocks(corpus: Corpus, topic: NDArray[Any]) -> Iterator[tuple[NDArray[Any], NDArray[Any], NDArray[Any]]]:
    """Blocks of documents: words, topics, and whether each word follows the one before without a gap."""
    starts, ends = corpus.token_start, corpus.token_end
    for part in row_blocks(corpus.doc_start, _TOKENS_AT_ONCE):
        here = slice(int(corpus.doc_start[part.start]), int(corpus.doc_start[part.stop]))
        tokens, own = corpus.tokens[here].astype(np.int64), topic[here].astype(np.int64)
        if not len(tokens):
            continue
        linked = np.ones(len(tokens), bool)
        if starts is not None and ends is not None:
            linked[1:] = is_gap(starts[here][1:], ends[here][:-1])
            release(starts[here], ends[here])
        first = corpus.doc_start[part.start : part.stop] - here.start
        linked[first[first < len(linked)]] = False
        release(corpus.tokens[here], topic[here])
        yield tokens, own, linked


def is_gap(start: Any, end: Any) -> Any:
    """Whether at most one character stands between the end of a word and the start of the next."""
    return start - end <= _GAP


def _places(leading: NDArray[np.int64], n_words: int) -> Callable[[NDArray[Any], NDArray[Any]], NDArray[Any]]:
    """Function of topics and words that returns the position of each pair among the leading ones; -1 if it has none.

    Positions are looked up in a table of topics × words that lead anywhere. One that would be too large is searched.
    """
    n_topics, n = leading.shape
    words = np.unique(leading)
    if n_topics * len(words) <= _MOST_CELLS:
        column = np.full(n_words, len(words), np.int32)
        column[words] = np.arange(len(words))
        table = np.full((n_topics, len(words) + 1), NO_WORD, np.int32)
        table[np.arange(n_topics)[:, None], column[leading]] = np.arange(leading.size).reshape(leading.shape)
        return lambda topic, word: table[topic, column[word]].astype(np.int64)
    keys = (np.arange(n_topics)[:, None] * n_words + leading).ravel()
    order = np.argsort(keys, kind="stable")

    def searched(topic: NDArray[Any], word: NDArray[Any]) -> NDArray[Any]:
        wanted = topic * n_words + word
        at = order[np.minimum(np.searchsorted(keys, wanted, sorter=order), len(keys) - 1)]
        return np.where(keys[at] == wanted, at, NO_WORD)

    return searched


class _Tally:
    """Numbers of occurrences of keys that arrive in blocks."""

    def __init__(self) -> None:
        self.keys = self.times = np.zeros(0, np.int64)

    def add(self, keys: NDArray[np.int64]) -> None:
        new, times = np.unique(keys, return_counts=True)
        self.keys, place = np.unique(np.concatenate([self.keys, new]), return_inverse=True)
        summed = np.zeros(len(self.keys), np.int64)
        np.add.at(summed, place, np.concatenate([self.times, times]))
        self.times = summed


def _named(leading: NDArray[np.int64], pairs: _Tally, triples: _Tally) -> Phrases:
    """Keys as topics and words; pairs come first."""
    n = max(leading.shape[1], 1)
    begin, third = np.divmod(triples.keys, n)
    third = np.concatenate([np.full(len(pairs.keys), NO_WORD), third])
    place, second = np.divmod(np.concatenate([pairs.keys, begin]), n)
    topic, first = np.divmod(place, n)
    last = np.where(third >= 0, leading[topic, third], NO_WORD)
    word = np.stack([leading[topic, first], leading[topic, second], last], axis=1)
    return Phrases(topic, word, np.concatenate([pairs.times, triples.times]))
