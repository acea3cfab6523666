"""Labels of all topics of a chain: phrases that tell them apart, background topics named as such."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, count
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.corpus import Corpus
from topoi.corpus.pieces import occurrences as token_counts
from topoi.models.background import background_topics
from topoi.models.labels.choice import alike, candidates, choose, stem
from topoi.models.labels.collection import once, word_concentration
from topoi.models.labels.memory import BACKGROUND, LONGEST, Kept, kept_labels
from topoi.models.labels.phrases import count_phrases
from topoi.models.labels.surface import completed, occurrences, one_line, written
from topoi.models.labels.telling import Leading, allowed_words, content_factors, leading_words
from topoi.models.labels.titles import with_titles
from topoi.models.posterior import Posterior

# A second word with this part of the first one's weight is named beside it.
_BESIDE = 0.3


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


def flag_background(corpus: Corpus, first: Posterior, former: Sequence[str] = ()) -> NDArray[np.bool_]:
    """Flags of a chain's background topics (see ``topoi.models.background``); ``former`` labels count for a little."""

    def word_sums(words: Any) -> NDArray[np.float64]:
        """Tokens of some words in each topic, summed over the samples: whole numbers, words × topics."""
        return np.rint(np.asarray(first.counts.word_rows(words), np.float64) * first.n_samples)

    before = np.zeros(first.n_topics)
    for k, label in enumerate(former[: first.n_topics]):
        before[k] = 1 if label.startswith(BACKGROUND) else -1
    how = corpus.doc_start, word_sums, corpus.n_words, first.n_topics, before, word_concentration(corpus)
    return background_topics(corpus.tokens, first.assignments.topic, *how)


@once
def label_words(corpus: Corpus) -> NDArray[np.bool_]:
    """Whether each word of a collection may stand in a label."""
    return allowed_words(corpus.vocabulary, LONGEST, token_counts(corpus.tokens, corpus.n_words))


def name_topics(corpus: Corpus, first: Posterior, former: Sequence[str] = ()) -> TopicNames:
    """A label for each topic of a chain: unique, at most 40 characters, the same on every machine.

    A label is a phrase of two or three of the topic's leading words, or a list of one or two of them. Background topics
    are called "background" with two of their words; a topic without words has its number.

    Parameters
    ----------
    corpus : Corpus
        The training corpus.
    first : Posterior
        The chain, in memory.
    former : sequence of str
        Labels that the topics had before the chain went on: each stays unless another is clearly better.
    """
    background = flag_background(corpus, first, former)
    total, topic, words = first.topic_totals, first.assignments.topic, corpus.words
    if not total.any():  # known topics, no documents
        total = np.ones(first.n_topics)
    share, allowed = total / float(total.sum()), label_words(corpus)
    leading = leading_words(
        lambda at: first.positive_columns(at).T, share, allowed, content=content_factors(corpus), plain=background
    )
    found = candidates(leading, total, count_phrases(corpus, topic, leading.word))
    found = with_titles(corpus, topic, first.n_topics, found)
    subject = ~background & (total >= 0.5)
    short = [one for one in found if subject[one.topic] and _may_stand([str(words[w]) for w in one.words])]
    kept = kept_labels(former, short, leading, words, background & (total >= 0.5)) if former else {}
    chosen = choose(short, words, first.n_topics, {k: one.words for k, one in kept.items()})
    labels = _written(corpus, topic, chosen, kept, leading, allowed, background)
    _fill(labels, leading, words, background, total)
    return TopicNames(labels, background, subject)


def _written(
    corpus: Corpus,
    topic: NDArray[Any],
    chosen: list[tuple[int, ...]],
    kept: dict[int, Kept],
    leading: Leading,
    allowed: NDArray[np.bool_],
    background: NDArray[np.bool_],
) -> list[str]:
    """Labels as the texts write them, unique and short; empty where that cannot be."""
    words = corpus.words
    firsts = [own if k not in kept else () for k, own in enumerate(chosen)]
    firsts, places = completed(corpus, firsts, occurrences(corpus, topic, firsts), allowed)
    labels = written(corpus, firsts, places)
    alone = {stem(str(words[own[0]])) for own in chosen if len(own) == 1}
    seconds = [_beside(own, words, leading.word[k], leading.weight[k], alone) for k, own in enumerate(firsts)]
    more = written(corpus, seconds, occurrences(corpus, topic, seconds))
    taken = {one.label.casefold() for one in kept.values()}
    for k, (label, other) in enumerate(zip(labels, more, strict=True)):
        if k in kept:
            labels[k] = kept[k].label
            continue
        both = f"{label}, {other}" if other else label
        # As written, a label may be longer than its words, or the same as another.
        fits = (each for each in (both, label) if len(each) <= LONGEST and each.casefold() not in taken)
        labels[k] = next(fits, "")
        taken.add(labels[k].casefold())
    return labels


def _fill(
    labels: list[str],
    leading: Leading,
    words: NDArray[Any],
    background: NDArray[np.bool_],
    total: NDArray[np.float64],
) -> None:
    """Give labels to the topics that have none: two words of background topics, or a number."""
    taken = {label.casefold() for label in labels if label}
    for k in np.flatnonzero([not label for label in labels]).tolist():
        listed = [one_line(str(words[w])) for w in leading.word[k]] if total[k] >= 0.5 else []
        prefix = BACKGROUND if background[k] else ""
        labels[k] = next(label for label in _lists(prefix, listed, k) if label.casefold() not in taken)
        taken.add(labels[k].casefold())


def _may_stand(words: list[str]) -> bool:
    """Whether words make a label: short enough, and not the "al" of "et al." alone."""
    return sum(len(word) + 1 for word in words) <= LONGEST + 1 and words != ["al"]


def _beside(
    chosen: tuple[int, ...],
    words: NDArray[Any],
    leading: NDArray[np.int64],
    weight: NDArray[np.float64],
    alone: set[str],
) -> tuple[int, ...]:
    """The next leading word, to be named after one that stands alone; none that does so elsewhere (``alone``)."""
    if len(chosen) != 1:
        return ()
    own, least = str(words[chosen[0]]), _BESIDE * weight[leading == chosen[0]][0]
    for other, told in zip(leading.tolist(), weight.tolist(), strict=True):
        name = str(words[other])
        if told >= least and name != "al" and not alike(name, own) and stem(name) not in alone:
            return (other,)
    return ()


def _lists(prefix: str, words: list[str], topic: int) -> Iterator[str]:
    """Two leading words with a comma, then others, and in the end the number of the topic."""
    for first, second in combinations(dict.fromkeys(words), 2):
        if not alike(first, second) and len(prefix) + len(first) + len(second) + 2 <= LONGEST:
            yield f"{prefix}{first}, {second}"
    yield f"{prefix}topic {topic}"
    yield from (f"{prefix}topic {topic} ({n})" for n in count(2))
