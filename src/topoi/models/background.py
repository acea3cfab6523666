"""Background topics, which hold texts together rather than having a subject: "case, simple, consider, general".

A model puts into such a topic the words that everyone uses. The signs (those of AlSumait et al. 2009) are measured
relative to the other topics of the same model: its tokens are spread over the documents as if at random, and so are its
words in the whole corpus, whatever their topic. Spread is measured by Morisita's index (1959), which does not depend on
the size of a topic. A topic of only one or two words still has a subject: "network" is in every paper of a conference
on networks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.pieces import occurrences, ranges
from topoi.kernels.jit import lean

# A background topic is less than half as concentrated as the median topic, on a log scale, …
_SPREAD = 0.5
# … for three quarters of its tokens, since every topic has some odd words, …
_QUANTILE = 0.75
# … and has at least a third of the median variety of words. …
_VARIETY = 1 / 3
# With a variety above the median, which shows that no subject holds the words together, a little less spread will do.
_SPREAD_OF_VARIED, _VARIED = 0.58, 1.2
# Width of the border in which a topic stays what it was.
_STAYS = 0.1
# With fewer topics there is no basis for comparison.
_FEWEST = 10
_WORDS_AT_ONCE = 4096


def background_topics(
    tokens: NDArray[Any],
    topic: NDArray[Any],
    doc_start: NDArray[Any],
    rows: Callable[[Any], NDArray[Any]],
    n_words: int,
    n_topics: int,
    before: NDArray[np.float64] | None = None,
    concentration: NDArray[np.float64] | None = None,
) -> NDArray[np.bool_]:
    """Flags of background topics: rather too few than wrong ones, and none among fewer than ten topics.

    Parameters
    ----------
    tokens, topic : arrays
        The word and the topic of every token, document by document.
    doc_start : array
        Start of each document's tokens, and the end of the last one's.
    rows : callable
        Function of word numbers that returns their numbers of tokens, words × topics.
    n_words, n_topics : int
        Number of words and of topics.
    before : array, optional
        1 for topics that were background topics before, -1 for those that were not, 0 if that is unknown: near the
        border, a topic stays what it was.
    concentration : array, optional
        ``log_concentration`` of the words, if it is known.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.models.background import background_topics
    >>> everywhere, subjects = np.arange(20) % 7, 7 + np.repeat(np.arange(9), 20)
    >>> tokens = np.stack([np.tile(everywhere, 9), subjects], axis=1).ravel()
    >>> topic, table = np.where(tokens < 7, 0, tokens - 6), np.zeros((16, 10))
    >>> np.add.at(table, (tokens, topic), 1)
    >>> np.flatnonzero(background_topics(tokens, topic, np.arange(0, 361, 20), table.__getitem__, 16, 10)).tolist()
    [0]
    """
    if n_topics < _FEWEST:
        return np.zeros(n_topics, bool)
    of_topics = log_concentration(topic, doc_start, n_topics)
    if concentration is None:
        concentration = log_concentration(tokens, doc_start, n_words)
    of_words, variety = upper_values_and_variety(concentration, rows, n_topics)
    usual = np.median(of_topics), np.median(of_words)
    if min(usual) <= 0.0:
        return np.zeros(n_topics, bool)
    spread, varied = (of_topics / usual[0] + of_words / usual[1]) / 2, variety / max(float(np.median(variety)), 1e-12)
    least = np.where(varied >= _VARIED, _SPREAD_OF_VARIED, _SPREAD) + (0.0 if before is None else _STAYS * before)
    return np.asarray((spread < least) & (varied >= _VARIETY))


def log_concentration(kinds: NDArray[Any], doc_start: NDArray[Any], n_kinds: int) -> NDArray[np.float64]:
    """Log of how many times likelier two tokens of a kind are to share a document than any two tokens are.

    Morisita's index of dispersion, for documents of different lengths. One pair is added on both sides, so that kinds
    too rare to judge come out near 0.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.models.background import log_concentration
    >>> log_concentration(np.array([0, 1, 0, 1, 2, 2, 2, 2]), np.array([0, 2, 4, 8]), 3).round(2).tolist()
    [-0.45, -0.45, 1.08]
    """
    size = occurrences(kinds, n_kinds).astype(np.float64)
    lengths = np.diff(doc_start).astype(np.float64)
    any_two = (lengths * (lengths - 1)).sum() / max(len(kinds) * (len(kinds) - 1.0), 1.0)
    together = np.zeros(n_kinds, np.int64)
    _pairs_together(kinds, doc_start, np.zeros(n_kinds, np.int64), together)
    # In place, as there may be millions of kinds.
    size *= size - 1
    size *= any_two
    size += 1.0
    np.divide(together + 1.0, size, out=size)
    return np.log(size, out=size)


@lean
def _pairs_together(kinds: Any, doc_start: Any, seen: Any, together: Any) -> None:
    """Add up, for each kind, the ordered pairs of its tokens within documents; ``seen`` is zero before and after."""
    for d in range(doc_start.shape[0] - 1):
        for i in range(doc_start[d], doc_start[d + 1]):
            together[kinds[i]] += 2 * seen[kinds[i]]
            seen[kinds[i]] += 1
        for i in range(doc_start[d], doc_start[d + 1]):
            seen[kinds[i]] = 0


def upper_values_and_variety(
    values: NDArray[np.float64], rows: Callable[[Any], NDArray[Any]], n_topics: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """For each topic, the value that three quarters of its tokens do not exceed, and the variety of its words.

    Variety is the number of equally frequent words that would repeat as often as the topic's do (Simpson 1949). Both
    are 0 for a topic without tokens. Words are processed in order of their values, in blocks.

    Parameters
    ----------
    values : array
        A value for each word.
    rows : callable
        Function of word numbers that returns their numbers of tokens, words × topics.
    n_topics : int
        Number of topics.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.models.background import upper_values_and_variety
    >>> table = np.array([[5, 5, 0], [2, 5, 0], [1, 0, 0]])
    >>> [found.round(2).tolist() for found in upper_values_and_variety(np.array([1.0, 2.0, 3.0]), table.__getitem__, 3)]
    [[2.0, 2.0, 0.0], [2.13, 2.0, 0.0]]
    """
    total, squares = np.zeros(n_topics), np.zeros(n_topics)
    for part in ranges(len(values), _WORDS_AT_ONCE):
        number = np.asarray(rows(part), np.float64)
        total += number.sum(axis=0)
        squares += (number**2).sum(axis=0)
    found, before = np.zeros(n_topics), np.zeros(n_topics)
    order = np.argsort(values, kind="stable")
    for part in ranges(len(values), _WORDS_AT_ONCE):
        upto = before + np.cumsum(np.asarray(rows(order[part]), np.float64), axis=0)
        here = (before < _QUANTILE * total) & (upto[-1] >= _QUANTILE * total)
        found[here] = values[order[part]][np.argmax(upto[:, here] >= _QUANTILE * total[here], axis=0)]
        before = upto[-1]
    return found, total**2 / np.maximum(squares, 1.0)
