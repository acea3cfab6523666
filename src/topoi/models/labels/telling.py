"""Words that tell a topic from the collection and from the topics nearest to it, with the weight of each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.corpus import Corpus
from topoi.corpus.pieces import occurrences, ranges
from topoi.corpus.stopwords import english_stop_words
from topoi.corpus.vocabulary import Vocabulary
from topoi.models.labels.collection import once, word_concentration
from topoi.models.labels.function_words import function_words
from topoi.models.leaders import Leaders

# Leading words of a topic that a label may be made of.
N_LEADING = 30
# Number of nearest topics that a topic is compared with.
N_NEAREST = 5
# A word that is as frequent in the neighbours counts this much, so that a topic without neighbours has leading words.
_COMMON = 0.05
# A word counts in full if it is as concentrated as the one that three quarters of all tokens do not exceed; at least a
# quarter.
_QUANTILE, _LEAST_CONTENT = 0.75, 0.25
_CELLS_AT_ONCE, _CELLS_TO_MULTIPLY = 2**16, 2**19
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
    for part in ranges(n_words, max(_CELLS_TO_MULTIPLY // n_topics, 1)):
        roots = np.sqrt(columns(np.arange(part.start, part.stop)))
        affinity += roots.T @ roots
    affinity = np.round(affinity, DECIMALS)
    np.fill_diagonal(affinity, -1.0)
    return np.argsort(-affinity, axis=1, kind="stable")[:, : min(n, n_topics - 1)]


def leading_words(
    columns: Columns,
    share: NDArray[np.float64],
    allowed: NDArray[np.bool_],
    n: int = N_LEADING,
    content: NDArray[np.float64] | None = None,
    plain: NDArray[np.bool_] | None = None,
) -> Leading:
    """Words with the largest part of a topic's divergence from what surrounds it.

    The weight of a word is P(word | topic) log (P(word | topic) / Q(word)), where Q is, in equal parts, the whole
    collection and the mean of the nearest topics; times the word's content, if that is given.

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
    content : array, optional
        Factor of each word's weight, as ``content_factors`` finds them.
    plain : array of bool, optional
        Topics whose words are weighed without ``content``: background topics, which have none.

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
    # Every topic has a weight for every allowed word.
    n = min(n, int(np.count_nonzero(allowed)))
    leaders = Leaders(n_topics, n)
    for part in ranges(n_words, max(_CELLS_AT_ONCE // n_topics, n, 1)):
        own = np.arange(part.start, part.stop)[allowed[part]]
        rows = np.ascontiguousarray(columns(own).T)
        around = np.broadcast_to(share @ rows, rows.shape)
        if nearest.shape[1]:
            around = (around + sum(rows[each] for each in nearest.T) / nearest.shape[1]) / 2
        # Of words that a topic cannot draw the logarithm of 1 is taken, times zero.
        ratio = np.divide(rows, around, out=np.ones_like(rows), where=rows > 0)
        told = np.round(rows * (np.log(ratio) + _COMMON) * _factors(content, own, plain), DECIMALS)
        topic, at = np.nonzero(told >= leaders.least[:, None])
        leaders.add(topic, told[topic, at], own[at])
    found = leaders.found()
    word, weight = found.number.reshape(n_topics, n), found.value.reshape(n_topics, n)
    return Leading(word, weight, _probabilities(columns, word))


def _probabilities(columns: Columns, word: NDArray[np.int64]) -> NDArray[np.float64]:
    """P(word | topic) of some words of each topic, topics × words."""
    found = np.empty(word.shape)
    words, place = np.unique(word, return_inverse=True)
    place = place.reshape(word.shape)
    for part in ranges(len(words), max(_CELLS_AT_ONCE // len(word), 1)):
        rows = columns(words[part])
        topic, at = np.nonzero((place >= part.start) & (place < part.stop))
        found[topic, at] = rows[place[topic, at] - part.start, topic]
    return found


def _factors(
    content: NDArray[np.float64] | None, words: NDArray[np.int64], plain: NDArray[np.bool_] | None
) -> NDArray[np.float64] | float:
    """Factors of the weights of some words: topics × words, or one for all."""
    if content is None:
        return 1.0
    return content[words] if plain is None else np.where(plain[:, None], 1.0, content[words])


@once
def content_factors(corpus: Corpus) -> NDArray[np.float64]:
    """Factors from 0.25 to 1 for words by how much they are about something: those with a subject come in bursts.

    This burstiness (Church and Gale 1995) is measured by ``log_concentration`` in documents, whatever the topics are,
    relative to the word that three quarters of all tokens do not exceed. In texts so short that hardly any word is
    repeated this tells nothing: all factors are 1.

    Examples
    --------
    >>> import topoi
    >>> from topoi.models.labels.telling import content_factors
    >>> rows = [["often", "gold", "gold", "gold"], ["often", "gene", "gene", "gene"], ["often", "ship", "ship", "ship"]]
    >>> content_factors(topoi.Corpus.from_tokens(rows)).round(2).tolist()
    [0.27, 1.0, 1.0, 1.0]
    """
    concentration = word_concentration(corpus)
    order = np.argsort(concentration, kind="stable")
    upto = np.cumsum(occurrences(corpus.tokens, corpus.n_words)[order])
    if not len(upto) or not upto[-1]:
        return np.ones(corpus.n_words)
    usual = float(concentration[order[np.searchsorted(upto, _QUANTILE * upto[-1])]])
    if usual <= 0:
        return np.ones(corpus.n_words)
    lacking = 1.0 - np.clip(concentration / usual, _LEAST_CONTENT, 1.0)
    # Where even the concentrated words are hardly so, the differences are noise.
    return np.round(1.0 - min(usual, 1.0) * lacking, DECIMALS)


def allowed_words(vocabulary: Vocabulary, longest: int, times: NDArray[Any] | None = None) -> NDArray[np.bool_]:
    """Whether each word may stand in a label: no stop word, no number, no single letter, not too long.

    With the numbers of tokens (``times``), function words of other languages are found too, if the corpus is in one. If
    that leaves nothing, as of words that are numbers, all are allowed.

    Examples
    --------
    >>> from topoi.corpus.vocabulary import Vocabulary
    >>> from topoi.models.labels.telling import allowed_words
    >>> allowed_words(Vocabulary(["the", "gold", "1990", "x"]), 40).tolist()
    [False, True, False, False]
    """
    stop = english_stop_words() | frozenset(vocabulary.analyzer.stop_words) | _NO_SUBJECT
    if times is not None:
        stop |= function_words(vocabulary.words, times)
    found = np.array([_may_lead(str(word), stop, longest) for word in vocabulary.words], bool)
    return found if found.any() else np.ones(len(found), bool)


def _may_lead(word: str, stop: frozenset[str], longest: int) -> bool:
    letters = any(character.isalpha() for character in word)
    short = len(word) < 2 and word.isascii()
    return letters and not short and len(word) <= longest and word.isprintable() and word.casefold() not in stop
