"""A look at a chain while it settles after an edit: sizes of topics, words of those concerned, where they came from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from topoi.models.ranking import SUMMARY_RELEVANCE, largest, relevance_scores

if TYPE_CHECKING:
    from topoi.corpus.corpus import Corpus

N_WORDS = 10


@dataclass(frozen=True)
class Glance:
    """A state of a chain between two sweeps.

    Attributes
    ----------
    sizes : list of int
        Tokens of each topic.
    words : dict
        For each topic concerned, its ten most telling words.
    sources : dict
        For each topic concerned, the topics that its tokens had before the edit, and how many had each.
    """

    sizes: list[int]
    words: dict[int, list[str]]
    sources: dict[int, dict[int, int]]


def take_glance(
    corpus: Corpus, topics: Sequence[int], before: NDArray[Any], now: NDArray[Any], n_topics: int
) -> Glance:
    """Look at a state, given by the topics of all tokens before the edit and now. Cost: O(tokens × topics concerned).

    Parameters
    ----------
    corpus : Corpus
        The documents.
    topics : sequence of int
        The topics concerned.
    before, now : array
        The topic of each token.
    n_topics : int
        Number of topics now.

    Examples
    --------
    >>> import numpy as np, topoi
    >>> from topoi.models.editing.glance import take_glance
    >>> corpus = topoi.Corpus.from_tokens([["sun", "star"], ["cell", "gene"]])
    >>> take_glance(corpus, [0], np.array([0, 0, 1, 1]), np.array([0, 0, 0, 1]), 2)
    Glance(sizes=[3, 1], words={0: ['sun', 'star', 'cell']}, sources={0: {0: 2, 1: 1}})
    """
    times = np.bincount(corpus.tokens, minlength=corpus.n_words)
    words, sources = dict[int, list[str]](), dict[int, dict[int, int]]()
    for k in topics:
        own = np.flatnonzero(now == k)
        words[k] = telling_words(corpus, np.bincount(corpus.tokens[own], minlength=corpus.n_words), times)
        came = np.bincount(before[own])
        sources[k] = {int(j): int(came[j]) for j in np.flatnonzero(came)}
    return Glance(np.bincount(now, minlength=n_topics).tolist(), words, sources)


def telling_words(corpus: Corpus, counts: NDArray[Any], times: NDArray[Any]) -> list[str]:
    """The most telling of a topic's own words.

    Parameters
    ----------
    corpus : Corpus
        The documents.
    counts : array
        Tokens of each word in the topic.
    times : array
        Tokens of each word in all.

    Examples
    --------
    >>> import numpy as np, topoi
    >>> from topoi.models.editing.glance import telling_words
    >>> telling_words(topoi.Corpus.from_tokens([["a", "b"]]), np.array([0, 1]), np.array([1, 1]))
    ['b']
    """
    own = np.flatnonzero(counts > 0)
    shares = counts[own] / max(float(counts.sum()), 1.0)
    best = largest(relevance_scores(shares[None], times[own], SUMMARY_RELEVANCE), N_WORDS)[0]
    return [str(word) for word in corpus.words[own[best]]]
