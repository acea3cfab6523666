"""Phrases of a topic: two or three of its leading words that stand side by side in the texts, all in the topic."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.corpus import Corpus
from topoi.corpus.mapped import release
from topoi.corpus.pieces import BLOCK, ranges

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
    for block in token_blocks(corpus, topic) if n and has_order(corpus) else ():
        place, own = places(block.topic, block.word), block.topic
        # Two words of one topic, side by side: the position of the first.
        begins = np.flatnonzero(block.linked[1:] & (place[:-1] >= 0) & (place[1:] >= 0) & (own[:-1] == own[1:]))
        pair = place[begins] * n + place[begins + 1] % n
        pairs.add(pair[begins < block.n])
        again = np.flatnonzero(np.diff(begins) == 1)  # two tokens beyond the block end no triple that begins there
        triples.add(pair[again] * n + place[begins[again] + 2] % n)
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
    for part in ranges(corpus.n_tokens, _TOKENS_AT_ONCE):
        here = slice(max(part.start - 1, 0), part.stop)
        falls = np.diff(corpus.tokens[here]) < 0
        falls[_starts_within(corpus, here.start + 1, here.stop)] = False
        if falls.any():
            return True
    return False


class TokenBlock(NamedTuple):
    """Some tokens in order: the first ``n`` are the block's own, those beyond complete phrases that begin in it.

    ``linked`` says whether a word follows the one before without a gap, in the same document; the first has none.
    """

    first: int
    n: int
    word: NDArray[np.int64]
    topic: NDArray[np.int64]
    linked: NDArray[np.bool_]


def token_blocks(corpus: Corpus, topic: NDArray[Any], beyond: int = 2) -> Iterator[TokenBlock]:
    """Blocks of tokens, however long a document is, each with a few tokens beyond its end.

    Examples
    --------
    >>> import numpy as np, topoi
    >>> from topoi.models.labels.phrases import token_blocks
    >>> corpus = topoi.Corpus.from_tokens([["red", "fish"], ["fish"]])
    >>> [(block.n, block.word.tolist(), block.linked.tolist()) for block in token_blocks(corpus, np.zeros(3, int))]
    [(3, [0, 1, 1], [False, True, False])]
    """
    starts, ends = corpus.token_start, corpus.token_end
    for part in ranges(corpus.n_tokens, _TOKENS_AT_ONCE):
        here = slice(part.start, min(part.stop + beyond, corpus.n_tokens))
        word, own = corpus.tokens[here].astype(np.int64), topic[here].astype(np.int64)
        linked = np.ones(len(word), bool)
        linked[0] = False
        if starts is not None and ends is not None:
            linked[1:] = is_gap(starts[here][1:], ends[here][:-1])
            release(starts[here], ends[here])
        linked[_starts_within(corpus, here.start, here.stop)] = False
        release(corpus.tokens[here], topic[here])
        yield TokenBlock(part.start, part.stop - part.start, word, own, linked)


def _starts_within(corpus: Corpus, first: int, last: int) -> NDArray[np.int64]:
    """Starts of documents from ``first`` to before ``last``, counted from ``first``."""
    here = slice(*np.searchsorted(corpus.doc_start, (first, last)))
    return np.asarray(corpus.doc_start[here] - first, np.int64)


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
