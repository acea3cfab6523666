"""The choice of labels: every topic's phrases and words by score, and no label twice or inside another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from os.path import commonprefix
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi.models.labels.phrases import Phrases
from topoi.models.labels.telling import DECIMALS, Leading

# Score of a word that stands alone, against that of a phrase in which all its occurrences stand.
_ALONE = 0.3
# Power of the share of a word's occurrences that stand in the phrase.
_COHESION = 0.5
# The weightiest word of a phrase has at least this part of the largest weight in the topic.
_CORE = 0.5
# Words are alike if they begin with the same letters: so many, and so large a part of the longer word.
_ALIKE, _ALIKE_PART = 4, 0.5
# A pair that stands in a longer phrase this often is a part of it, as "neural machine" is.
_PART = 0.5
# Standard deviations by which a phrase must be more frequent than chance would have it.
_SIGNIFICANT = 2.0
# Candidates kept of each topic: others than the first are needed only where the first are taken.
_KEPT = 60


class Candidate(NamedTuple):
    """A possible label of a topic: its score and its words."""

    score: float
    topic: int
    words: tuple[int, ...]


def candidates(leading: Leading, sizes: NDArray[np.float64], phrases: Phrases) -> list[Candidate]:
    """Phrases and words that may become labels, scored.

    The score of a phrase is the mean weight of its words, each multiplied by the square root of the share of the word's
    occurrences that stand in the phrase: words that always stand together tell one thing, not two. Chance neighbours,
    and pairs that mostly are parts of a longer phrase, are left out. A phrase of the two words that would make a list,
    as "human rights" for "rights, human", comes before the list.

    Parameters
    ----------
    leading : Leading
        Leading words of each topic.
    sizes : array
        Tokens of each topic.
    phrases : Phrases
        Phrases of those words.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.models.labels.choice import candidates
    >>> from topoi.models.labels.phrases import Phrases
    >>> from topoi.models.labels.telling import Leading
    >>> words = Leading(np.array([[4, 7]]), np.array([[0.5, 0.3]]), np.array([[0.2, 0.1]]))
    >>> found = Phrases(np.array([0]), np.array([[7, 4, -1]]), np.array([60]))
    >>> [one.words for one in candidates(words, np.array([1000.0]), found)]
    [(7, 4), (4,), (7,)]
    """
    n_topics = len(sizes)
    listed: list[list[Candidate]] = [
        [Candidate(float(_ALONE * weight), k, (int(word),)) for word, weight in zip(*rows, strict=True) if weight > 0]
        for k, rows in enumerate(zip(leading.word, leading.weight, strict=True))
    ]
    for k, words, score in _scored(leading, sizes, phrases):
        listed[k].append(Candidate(score, k, words))
    for k in range(n_topics):
        listed[k] = sorted(_phrases_before_lists(listed[k]), key=_order)[:_KEPT]
    return [one for row in listed for one in row]


def _phrases_before_lists(found: list[Candidate]) -> list[Candidate]:
    """Candidates of a topic; a phrase of two words scores as much as the better of the two, if these are the best."""
    single = [one for one in found if len(one.words) == 1][:2]
    best = {one.words[0] for one in single}
    return [
        one._replace(score=max(one.score, single[0].score)) if len(single) == 2 and set(one.words) == best else one
        for one in found
    ]


def _order(one: Candidate) -> tuple[float, int, int, tuple[int, ...]]:
    return -one.score, one.topic, -len(one.words), one.words


def _scored(
    leading: Leading, sizes: NDArray[np.float64], phrases: Phrases
) -> Iterator[tuple[int, tuple[int, ...], float]]:
    """Phrases that are no chance neighbours, no parts of others, and repeat no word, with their scores."""
    if not len(phrases.topic):
        return
    own = phrases.word >= 0
    at = _flat_places(leading.word, phrases)
    # A place without a word counts for nothing in a maximum, a product or a sum.
    weight = np.where(own, leading.weight.ravel()[at], -np.inf)
    probability = np.where(own, leading.probability.ravel()[at], 1.0)
    first, second, third = phrases.word.T
    size, times = sizes[phrases.topic], phrases.times
    fit = (weight.max(axis=1) >= _CORE * leading.weight[phrases.topic, 0]) & (first != second)
    fit &= (third != first) & (third != second)
    chance = probability[:, 0] * probability[:, 1] * probability[:, 2] * size
    fit &= times - chance >= _SIGNIFICANT * np.sqrt(times)
    covered = np.minimum(times[:, None] / np.maximum(probability * size[:, None], 1.0), 1.0) ** _COHESION
    part = np.where(own, weight * covered, 0.0)
    score = (part[:, 0] + part[:, 1] + part[:, 2]) / own.sum(axis=1)
    longer = _longer(phrases)
    for i in np.flatnonzero(fit & (score > 0)).tolist():
        k, words = int(phrases.topic[i]), tuple(w for w in phrases.word[i].tolist() if w >= 0)
        if longer.get((k, words), 0) < _PART * times[i]:
            yield k, words, round(float(score[i]), DECIMALS)


def _flat_places(leading: NDArray[np.int64], phrases: Phrases) -> NDArray[np.int64]:
    """Positions of the words of phrases among all leading words, one row after the other; any for a missing word."""
    above = int(leading.max(initial=0)) + 1
    keys = (np.arange(len(leading))[:, None] * above + leading).ravel()
    order = np.argsort(keys, kind="stable")
    wanted = phrases.topic[:, None] * above + phrases.word
    return np.asarray(order[np.minimum(np.searchsorted(keys, wanted, sorter=order), len(keys) - 1)])


def _longer(phrases: Phrases) -> dict[tuple[int, tuple[int, ...]], int]:
    """How often pairs of each topic stand in their most frequent phrase of three words."""
    found: dict[tuple[int, tuple[int, ...]], int] = {}
    three = phrases.word[:, 2] >= 0
    rows = (each[three].tolist() for each in (phrases.topic, phrases.word, phrases.times))
    for k, (a, b, c), times in zip(*rows, strict=True):
        for pair in ((a, b), (b, c)):
            found[k, pair] = max(times, found.get((k, pair), 0))
    return found


def choose(
    found: Sequence[Candidate],
    words: Sequence[str] | NDArray[Any],
    n_topics: int,
    kept: Mapping[int, tuple[int, ...]] | None = None,
) -> list[tuple[int, ...]]:
    """Words of each topic's label; the best-scored candidates choose first, empty if nothing is left.

    A label repeats no other, nor is one part of another; singular and plural count as the same. Topics whose labels
    are known (``kept``) have theirs before all others.

    Examples
    --------
    >>> from topoi.models.labels.choice import Candidate, choose
    >>> found = [Candidate(0.9, 0, (0, 1)), Candidate(0.8, 1, (2,)), Candidate(0.7, 1, (1,)), Candidate(0.1, 1, (0,))]
    >>> choose(found, ["income", "tax", "taxes"], 2)
    [(0, 1), ()]
    """
    kept = kept or {}
    stems = {w: stem(str(words[w])) for one in found for w in one.words}
    taken, inside = set[tuple[str, ...]](), set[tuple[str, ...]]()
    chosen: list[tuple[int, ...]] = [()] * n_topics

    def give(topic: int, own: tuple[int, ...]) -> None:
        form = tuple(stems[w] for w in own)
        chosen[topic] = own
        taken.update({form, tuple(sorted(form))})
        inside.update(_parts(form))

    for topic, own in kept.items():
        if own:
            give(topic, own)
    for one in sorted(found, key=_order):
        form = tuple(stems[w] for w in one.words)
        if chosen[one.topic] or one.topic in kept or len(set(form)) < len(form) or form in inside:
            continue
        if not taken & {*_parts(form), tuple(sorted(form))}:
            give(one.topic, one.words)
    return chosen


def _parts(form: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """All runs of neighbouring words of a phrase, itself included."""
    for first in range(len(form)):
        for last in range(first + 1, len(form) + 1):
            yield form[first:last]


def stem(word: str) -> str:
    """A word without its plural ending and in lower case: rough, but enough to see that two labels would be one.

    Examples
    --------
    >>> from topoi.models.labels.choice import stem
    >>> [stem(word) for word in ("Taxes", "tax", "countries", "country", "bus", "news", "men")]
    ['tax', 'tax', 'country', 'country', 'bus', 'new', 'man']
    """
    folded = word.casefold().removesuffix("'s").removesuffix("’s")
    if folded.endswith(("men", "children")):
        return folded[:-3] + ("" if folded.endswith("children") else "man")
    if len(folded) > 4 and folded.endswith("ies"):
        return folded[:-3] + "y"
    if len(folded) > 4 and folded.endswith(("sses", "shes", "ches", "xes", "zes")):
        return folded[:-2]
    if len(folded) > 3 and folded.endswith("s") and not folded.endswith(("ss", "us", "is")):
        return folded[:-1]
    return folded


def alike(one: str, other: str) -> bool:
    """Whether two words begin alike, so that naming both says little more: classification, classifier.

    Examples
    --------
    >>> from topoi.models.labels.choice import alike
    >>> alike("classification", "classifiers"), alike("constitution", "construction"), alike("bias", "Biases")
    (True, False, True)
    """
    if stem(one) == stem(other):
        return True
    a, b = one.casefold(), other.casefold()
    return len(commonprefix([a, b])) >= max(_ALIKE, _ALIKE_PART * max(len(a), len(b)))
