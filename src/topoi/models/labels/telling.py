"""Words that tell a topic from the collection and from the topics nearest to it, with the weight of each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.pieces import ranges
from topoi.corpus.stopwords import english_stop_words
from topoi.corpus.vocabulary import Vocabulary
from topoi.models.ranking import largest

# Leading words of a topic that a label may be made of.
N_LEADING = 30
# Number of nearest topics that a topic is compared with.
N_NEAREST = 5
# A word that is as frequent in the neighbours counts this much, so that a topic without neighbours has leading words.
_COMMON = 0.05
_CELLS_AT_ONCE = 2**16
# Decimals of scores: logarithms may differ in their last bits between processors, labels may not.
DECIMALS = 9
# Of "et al.", which is everywhere in scholarly texts; "al" is also of names, as in "Al Qaida".
_NO_SUBJECT = frozenset({"et"})

# Function of word numbers that returns P(word | topic): words × topics.
Columns = Callable[[Any], NDArray[np.float64]]


class Leading(NamedTuple):
    """Leading words of each topic, the most telling first: numbers, weights, P(word | topic); topics × words."""

    word: NDArray[np.int64]
    weight: NDArray[np.float64]
    probability: NDArray[np.float64]


def nearest_topics(columns: Columns, n_words: int, n_topics: int, n: int = N_NEAREST) -> NDArray[np.int64]:
    """The ``n`` topics nearest to each by the affinity of their words (Bhattacharyya 1943), ties by number.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.models.labels.telling import nearest_topics
    >>> rows = np.array([[0.6, 0.4, 0.0], [0.5, 0.5, 0.0], [0.0, 0.2, 0.8]])
    >>> nearest_topics(lambda words: rows.T[words], 3, 3, 1).tolist()
    [[1], [0], [1]]
    """
    affinity = np.zeros((n_topics, n_topics))
    for part in ranges(n_words, max(_CELLS_AT_ONCE // n_topics, 1)):
        roots = np.sqrt(columns(np.arange(part.start, part.stop)))
        affinity += roots.T @ roots
    affinity = np.round(affinity, DECIMALS)
    np.fill_diagonal(affinity, -1.0)
    return np.argsort(-affinity, axis=1, kind="stable")[:, : min(n, n_topics - 1)]


def leading_words(
    columns: Columns, share: NDArray[np.float64], allowed: NDArray[np.bool_], n: int = N_LEADING
) -> Leading:
    """Words with the largest part of a topic's divergence from what surrounds it.

    The weight of a word is P(word | topic) log (P(word | topic) / Q(word)), where Q is, in equal parts, the whole
    collection and the mean of the nearest topics.

    Parameters
    ----------
    columns : callable
        Function of word numbers that returns P(word | topic), words × topics.
    share : array
        Each topic's share of all words.
    allowed : array of bool
        Whether each word may stand in a label.
    n : int
        Number of words per topic.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.models.labels.telling import leading_words
    >>> rows = np.array([[0.6, 0.4, 0.0], [0.0, 0.5, 0.5]])
    >>> leading_words(lambda words: rows.T[words] + 1e-9, np.ones(2) / 2, np.ones(3, bool), 1).word.tolist()
    [[0], [2]]
    """
    n_words, n_topics = len(allowed), len(share)
    nearest = nearest_topics(columns, n_words, n_topics)
    word: NDArray[Any] = np.zeros((n_topics, 0), np.int64)
    weight: NDArray[Any] = np.zeros((n_topics, 0))
    probability: NDArray[Any] = np.zeros((n_topics, 0))
    for part in ranges(n_words, max(_CELLS_AT_ONCE // n_topics, n)):
        own = np.arange(part.start, part.stop)[allowed[part]]
        rows = np.ascontiguousarray(columns(own).T)
        around = np.broadcast_to(share @ rows, rows.shape)
        if nearest.shape[1]:
            around = (around + sum(rows[each] for each in nearest.T) / nearest.shape[1]) / 2
        # Of words that a topic cannot draw the logarithm of 1 is taken, times zero.
        ratio = np.divide(rows, around, out=np.ones_like(rows), where=rows > 0)
        told = np.round(rows * (np.log(ratio) + _COMMON), DECIMALS)
        word = np.hstack([word, np.broadcast_to(own, rows.shape)])
        weight, probability = np.hstack([weight, told]), np.hstack([probability, rows])
        best = largest(weight, n)
        word, weight, probability = (np.take_along_axis(each, best, axis=1) for each in (word, weight, probability))
    return Leading(word, weight, probability)


def allowed_words(vocabulary: Vocabulary, longest: int) -> NDArray[np.bool_]:
    """Whether each word may stand in a label: no stop word, no number, no single letter, not too long.

    If that leaves nothing, as of words that are numbers, all are allowed.

    Examples
    --------
    >>> from topoi.corpus.vocabulary import Vocabulary
    >>> from topoi.models.labels.telling import allowed_words
    >>> allowed_words(Vocabulary(["the", "gold", "1990", "x"]), 40).tolist()
    [False, True, False, False]
    """
    stop = english_stop_words() | frozenset(vocabulary.analyzer.stop_words) | _NO_SUBJECT
    found = np.array([_may_lead(str(word), stop, longest) for word in vocabulary.words], bool)
    return found if found.any() else np.ones(len(found), bool)


def _may_lead(word: str, stop: frozenset[str], longest: int) -> bool:
    letters = any(character.isalpha() for character in word)
    short = len(word) < 2 and word.isascii()
    return letters and not short and len(word) <= longest and word.isprintable() and word.casefold() not in stop
