"""The choice of labels: every topic's phrases and words by score, and no label twice or inside another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi.models.labels.phrases import Phrases
from topoi.models.labels.telling import DECIMALS, Leading

# Weight of a word that stands alone, against one whose occurrences all stand in the phrase.
_ALONE = 0.3
# Power of the share of a word's occurrences that stand in the phrase.
_COHESION = 0.5
# A phrase has at least one of the topic's words with the largest weights, so many of them.
_CORE = 4
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

    A phrase has the weights of all its words, so that one that covers more of what tells the topic is better. Each is
    multiplied by the square root of the share of the word's occurrences that stand in the phrase. Chance neighbours,
    and pairs that mostly are parts of a longer phrase, are left out.

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
        listed[k] = sorted(listed[k], key=_order)[:_KEPT]
    return [one for row in listed for one in row]


def _order(one: Candidate) -> tuple[float, int, tuple[int, ...]]:
    return -one.score, one.topic, one.words


def _scored(
    leading: Leading, sizes: NDArray[np.float64], phrases: Phrases
) -> Iterator[tuple[int, tuple[int, ...], float]]:
    """Phrases that are no chance neighbours, no parts of others, and repeat no word, with their scores."""
    longer = _longer(phrases)
    place = [{int(w): i for i, w in enumerate(row)} for row in leading.word]
    for k, row, times in zip(phrases.topic.tolist(), phrases.word.tolist(), phrases.times.tolist(), strict=True):
        words = tuple(w for w in row if w >= 0)
        at = [place[k][w] for w in words]
        if min(at) >= _CORE or len(set(words)) < len(words) or longer.get((k, words), 0) >= _PART * times:
            continue
        own = leading.probability[k, at] * sizes[k]
        chance = float(np.prod(leading.probability[k, at])) * sizes[k]
        if times - chance < _SIGNIFICANT * np.sqrt(times):
            continue
        covered = np.minimum(times / np.maximum(own, 1.0), 1.0) ** _COHESION
        score = float((leading.weight[k, at] * covered).sum())
        if score > 0:
            yield k, words, round(score, DECIMALS)


def _longer(phrases: Phrases) -> dict[tuple[int, tuple[int, ...]], int]:
    """How often pairs of each topic stand in their most frequent phrase of three words."""
    found: dict[tuple[int, tuple[int, ...]], int] = {}
    for k, (a, b, c), times in zip(phrases.topic.tolist(), phrases.word.tolist(), phrases.times.tolist(), strict=True):
        for pair in ((a, b), (b, c)) if c >= 0 else ():
            found[k, pair] = max(times, found.get((k, pair), 0))
    return found


def choose(found: Sequence[Candidate], words: Sequence[str] | NDArray[Any], n_topics: int) -> list[tuple[int, ...]]:
    """Words of each topic's label; the best-scored candidates choose first, empty if nothing is left.

    A label repeats no other, nor is one part of another; singular and plural count as the same.

    Examples
    --------
    >>> from topoi.models.labels.choice import Candidate, choose
    >>> found = [Candidate(0.9, 0, (0, 1)), Candidate(0.8, 1, (2,)), Candidate(0.7, 1, (1,)), Candidate(0.1, 1, (0,))]
    >>> choose(found, ["income", "tax", "taxes"], 2)
    [(0, 1), ()]
    """
    stems = {w: stem(str(words[w])) for one in found for w in one.words}
    taken, inside = set[tuple[str, ...]](), set[tuple[str, ...]]()
    chosen: list[tuple[int, ...]] = [()] * n_topics
    for one in sorted(found, key=_order):
        if chosen[one.topic]:
            continue
        form = tuple(stems[w] for w in one.words)
        if len(set(form)) < len(form) or form in inside or taken & set(_parts(form)) or tuple(sorted(form)) in taken:
            continue
        chosen[one.topic] = one.words
        taken |= {form, tuple(sorted(form))}
        inside |= set(_parts(form))
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
    >>> [stem(word) for word in ("Taxes", "tax", "countries", "country", "bus", "news")]
    ['tax', 'tax', 'country', 'country', 'bus', 'new']
    """
    folded = word.casefold().removesuffix("'s").removesuffix("’s")
    if len(folded) > 4 and folded.endswith("ies"):
        return folded[:-3] + "y"
    if len(folded) > 4 and folded.endswith(("sses", "shes", "ches", "xes", "zes")):
        return folded[:-2]
    if len(folded) > 3 and folded.endswith("s") and not folded.endswith(("ss", "us", "is")):
        return folded[:-1]
    return folded
