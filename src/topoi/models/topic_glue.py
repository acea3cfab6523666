"""Topics that hold texts together rather than being about something: "case, simple, consider, general".

Such a topic is where a model puts the words that everyone uses. The signs (those of AlSumait et al. 2009) are measured
against the other topics of the same model: its tokens are spread over the documents as if at random, and so are its
words in the whole corpus, whatever topic they have. Spread is measured by Morisita's index (1959), which does not
depend on how large a topic is. A topic that consists of one word or two has a subject all the same: "network" is in
every paper of a conference on networks.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.kernels.jit import lean

# A glue topic is less than half as concentrated as the median topic, on a log scale, …
_SPREAD = 0.5
# … as far as three quarters of its tokens go, since every topic has some odd words, …
_QUANTILE = 0.75
# … and has at least a third as many words.
_VARIETY = 1 / 3
# Among fewer topics there is no telling what is usual.
_FEWEST = 10


def glue_topics(
    tokens: NDArray[Any],
    topic: NDArray[Any],
    doc_start: NDArray[Any],
    cells: tuple[NDArray[Any], NDArray[Any], NDArray[Any]],
    n_topics: int,
) -> NDArray[np.bool_]:
    """Which topics are glue: rather too few than wrong ones, and none among fewer than ten.

    Parameters
    ----------
    tokens, topic : arrays
        The word and the topic of every token, document by document.
    doc_start : array
        Where each document's tokens start, and where the last one's end.
    cells : three arrays
        Words, topics, and the numbers of tokens that are not zero.
    n_topics : int
        How many topics there are.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.models.topic_glue import glue_topics
    >>> everywhere, subjects = np.arange(20) % 7, 7 + np.repeat(np.arange(9), 20)
    >>> tokens = np.stack([np.tile(everywhere, 9), subjects], axis=1).ravel()
    >>> topic = np.where(tokens < 7, 0, tokens - 6)
    >>> cells = tokens[:14:2], np.zeros(7, int), np.array([27] * 6 + [18])
    >>> cells = tuple(np.concatenate(pair) for pair in zip(cells, (7 + np.arange(9), 1 + np.arange(9), np.full(9, 20))))
    >>> np.flatnonzero(glue_topics(tokens, topic, np.arange(0, 361, 20), cells, 10)).tolist()
    [0]
    """
    if n_topics < _FEWEST:
        return np.zeros(n_topics, bool)
    word, column, number = cells
    n_words = int(word.max(initial=-1)) + 1
    of_topics = log_concentration(topic, doc_start, n_topics)
    of_words = upper_values(log_concentration(tokens, doc_start, n_words)[word], column, number, n_topics)
    usual = np.median(of_topics), np.median(of_words)
    if min(usual) <= 0.0:
        return np.zeros(n_topics, bool)
    variety = effective_number(column, number, n_topics)
    spread = (of_topics / usual[0] + of_words / usual[1]) / 2 < _SPREAD
    return np.asarray(spread & (variety >= _VARIETY * np.median(variety)))


def log_concentration(kinds: NDArray[Any], doc_start: NDArray[Any], n_kinds: int) -> NDArray[np.float64]:
    """Log of how many times likelier two tokens of a kind are to share a document than any two tokens are.

    Morisita's index of dispersion, for documents of different lengths. One pair more is counted on both sides, so that
    what is too rare to tell comes out near 0.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.models.topic_glue import log_concentration
    >>> log_concentration(np.array([0, 1, 0, 1, 2, 2, 2, 2]), np.array([0, 2, 4, 8]), 3).round(2).tolist()
    [-0.45, -0.45, 1.08]
    """
    size = np.bincount(kinds, minlength=n_kinds).astype(np.float64)
    lengths = np.diff(doc_start).astype(np.float64)
    any_two = (lengths * (lengths - 1)).sum() / max(len(kinds) * (len(kinds) - 1.0), 1.0)
    together = np.zeros(n_kinds, np.int64)
    _pairs_together(kinds, doc_start, np.zeros(n_kinds, np.int64), together)
    return np.asarray(np.log((together + 1.0) / (size * (size - 1) * any_two + 1.0)))


@lean
def _pairs_together(kinds: Any, doc_start: Any, seen: Any, together: Any) -> None:
    """Add up, for each kind, the ordered pairs of its tokens within documents; ``seen`` is zero before and after."""
    for d in range(doc_start.shape[0] - 1):
        for i in range(doc_start[d], doc_start[d + 1]):
            together[kinds[i]] += 2 * seen[kinds[i]]
            seen[kinds[i]] += 1
        for i in range(doc_start[d], doc_start[d + 1]):
            seen[kinds[i]] = 0


def upper_values(values: NDArray[Any], group: NDArray[Any], weight: NDArray[Any], n_groups: int) -> NDArray[np.float64]:
    """The value that three quarters of each group's weight do not exceed; 0 for a group without weight.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.models.topic_glue import upper_values
    >>> upper_values(np.array([1.0, 2.0, 3.0]), np.array([0, 0, 0]), np.array([5, 2, 1]), 2).tolist()
    [2.0, 0.0]
    """
    order = np.lexsort((values, group))
    before = np.concatenate(([0], np.cumsum(weight[order])))
    total = np.bincount(group, weight, n_groups)
    wanted = np.cumsum(total) - total + _QUANTILE * total
    at = np.searchsorted(before, wanted, side="left") - 1
    return np.where(total > 0, values[order][np.maximum(at, 0)] if len(order) else 0.0, 0.0)


def effective_number(group: NDArray[Any], number: NDArray[Any], n_groups: int) -> NDArray[np.float64]:
    """How many words, equally frequent, would repeat themselves as often as each topic's do (Simpson 1949).

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.models.topic_glue import effective_number
    >>> effective_number(np.array([0, 0, 1]), np.array([5, 5, 9]), 2).tolist()
    [2.0, 1.0]
    """
    squares = np.bincount(group, number.astype(np.float64) ** 2, n_groups)
    return np.asarray(np.bincount(group, number, n_groups) ** 2 / np.maximum(squares, 1.0))
