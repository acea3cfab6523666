"""Labels of all topics of a chain: phrases that tell them apart, background topics named as such."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, count
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.corpus import Corpus
from topoi.models.background import background_topics
from topoi.models.labels.choice import candidates, choose, stem
from topoi.models.labels.phrases import count_phrases
from topoi.models.labels.surface import completed, occurrences, one_line, written
from topoi.models.labels.telling import allowed_words, leading_words
from topoi.models.labels.titles import with_titles
from topoi.models.posterior import Posterior

LONGEST = 40
BACKGROUND = "background: "
# A second word with this part of the first one's weight is named beside it.
_BESIDE = 0.6
# Words that begin alike with so many letters say the same: classification, classifier.
_ALIKE = 5


class TopicNames(NamedTuple):
    """Labels of all topics, flags of background topics, and of topics with a subject: neither background nor empty."""

    labels: list[str]
    background: NDArray[np.bool_]
    subject: NDArray[np.bool_]

    def with_names(self, given: Sequence[str]) -> TopicNames:
        """The same with names that a person gave to the first topics; labels stay unique."""
        taken = {name.casefold() for name in given}
        made = [label if label.casefold() not in taken else f"{label} ({k})" for k, label in enumerate(self.labels)]
        return self._replace(labels=[*given, *made[len(given) :]]) if given else self


def flag_background(corpus: Corpus, first: Posterior) -> NDArray[np.bool_]:
    """Flags of a chain's background topics (see ``topoi.models.background``)."""

    def word_sums(words: Any) -> NDArray[np.float64]:
        """Tokens of some words in each topic, summed over the samples: whole numbers, words × topics."""
        return np.rint(np.asarray(first.counts.word_rows(words), np.float64) * first.n_samples)

    return background_topics(
        corpus.tokens, first.assignments.topic, corpus.doc_start, word_sums, corpus.n_words, first.n_topics
    )


def name_topics(corpus: Corpus, first: Posterior) -> TopicNames:
    """A label for each topic of a chain: unique, at most 40 characters, the same on every machine.

    A label is a phrase of two or three of the topic's leading words, or one of them. Background topics are called
    "background" with two of their words; a topic without words has its number.

    Parameters
    ----------
    corpus : Corpus
        The training corpus.
    first : Posterior
        The chain, in memory.
    """
    background = flag_background(corpus, first)
    total, topic, words = first.topic_totals, first.assignments.topic, corpus.words
    if not total.any():  # known topics, no documents
        total = np.ones(first.n_topics)
    share = total / float(total.sum())
    allowed = allowed_words(corpus.vocabulary, LONGEST)
    leading = leading_words(lambda at: first.positive_columns(at).T, share, allowed)
    found = candidates(leading, total, count_phrases(corpus, topic, leading.word))
    found = with_titles(corpus, topic, first.n_topics, found)
    subject = ~background & (total >= 0.5)
    short = [one for one in found if subject[one.topic] and _may_stand([str(words[w]) for w in one.words])]
    chosen = choose(short, words, first.n_topics)
    chosen, places = completed(corpus, chosen, occurrences(corpus, topic, chosen), allowed)
    labels, taken = written(corpus, chosen, places), set[str]()
    for k, own in enumerate(chosen):
        more = _beside(own, words, leading.word[k], leading.weight[k])
        labels[k] += more if len(labels[k]) + len(more) <= LONGEST else ""
    for k, label in enumerate(labels):
        # As written, a label may be longer than its words, or the same as another.
        labels[k] = label if len(label) <= LONGEST and label.casefold() not in taken else ""
        taken.add(labels[k].casefold())
    for k in np.flatnonzero([not label for label in labels]).tolist():
        listed = [one_line(str(words[w])) for w in leading.word[k]] if total[k] >= 0.5 else []
        prefix = BACKGROUND if background[k] else ""
        labels[k] = next(label for label in _lists(prefix, listed, k) if label.casefold() not in taken)
        taken.add(labels[k].casefold())
    return TopicNames(labels, background, subject)


def _may_stand(words: list[str]) -> bool:
    """Whether words make a label: short enough, and not the "al" of "et al." alone."""
    return sum(len(word) + 1 for word in words) <= LONGEST + 1 and words != ["al"]


def _beside(
    chosen: tuple[int, ...], words: NDArray[Any], leading: NDArray[np.int64], weight: NDArray[np.float64]
) -> str:
    """The next leading word after a comma, where a word stands alone although another tells almost as much."""
    if len(chosen) != 1:
        return ""
    own = stem(words[chosen[0]])
    other = next((i for i, w in enumerate(leading) if stem(words[w])[:_ALIKE] != own[:_ALIKE]), None)
    if other is None or weight[other] < _BESIDE * weight[leading == chosen[0]][0]:
        return ""
    return f", {one_line(str(words[leading[other]]))}"


def _lists(prefix: str, words: list[str], topic: int) -> Iterator[str]:
    """Two leading words with a comma, then others, and in the end the number of the topic."""
    for first, second in combinations(dict.fromkeys(words), 2):
        if stem(first) != stem(second) and len(prefix) + len(first) + len(second) + 2 <= LONGEST:
            yield f"{prefix}{first}, {second}"
    yield f"{prefix}topic {topic}"
    yield from (f"{prefix}topic {topic} ({n})" for n in count(2))
