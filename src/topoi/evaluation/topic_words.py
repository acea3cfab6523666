"""Leading words of topics, of a model or as lists of any library."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from topoi.analysis.given import need_topics
from topoi.errors import ModelError
from topoi.models.base import FittedModel
from topoi.models.contract import InStore
from topoi.models.validation import whole_number

_NEEDED = "pass a fitted model, or a list of words for each topic"


class TopicWords(NamedTuple):
    """The leading words of one topic, with its number or name."""

    topic: Any
    words: list[str]


def leading_words(topics: object, n_words: int, least: int = 1) -> list[TopicWords]:
    """First ``n_words`` words of every topic, the most probable first.

    Parameters
    ----------
    topics
        A fitted model or a view of one; or what other libraries give: a list of lists of words, or of (word, weight)
        pairs, a dict from topics to such lists, or a frame with the columns topic and word.
    n_words : int
        Number of words per topic; a shorter list is used whole.
    least : int
        Fewest words that a topic must have.

    Examples
    --------
    >>> from topoi.evaluation.topic_words import leading_words
    >>> [each.words for each in leading_words([["sun", "star", "sky"], [("cell", 0.3), ("gene", 0.1)]], 2)]
    [['sun', 'star'], ['cell', 'gene']]
    """
    whole_number("n_words", n_words, least)
    found = [TopicWords(topic, list(words)[:n_words]) for topic, words in _lists(topics, n_words)]
    if not found:
        raise ModelError(f"there are no topics; {_NEEDED}")
    for topic, words in found:
        if len(words) < least:
            raise ModelError(f"topic {topic!r} has {len(words)} words; it needs at least {least}")
        if len(set(words)) < len(words):
            twice = next(word for word in words if words.count(word) > 1)
            raise ModelError(f"topic {topic!r} lists {twice!r} more than once; give each word once")
    return found


def is_model(given: object) -> bool:
    """Whether this is a model, fitted or not, rather than lists of words."""
    return isinstance(given, FittedModel | InStore)


def _lists(topics: Any, n_words: int) -> Iterable[tuple[Any, list[str]]]:
    if is_model(topics):
        need_topics(topics, "its topics' words are what is measured")
        return _of_frame(topics.top_words(n_words))
    if isinstance(topics, pd.DataFrame):
        return _of_frame(topics)
    if isinstance(topics, Mapping):
        return [(topic, _words(topic, row)) for topic, row in topics.items()]
    if isinstance(topics, str) or not isinstance(topics, Iterable):
        raise ModelError(f"topics are {type(topics).__name__}; {_NEEDED}")
    return [(k, _words(k, row)) for k, row in enumerate(topics)]


def _of_frame(frame: pd.DataFrame) -> list[tuple[Any, list[str]]]:
    if not {"topic", "word"} <= set(frame.columns):
        raise ModelError(f"the frame has the columns {list(frame.columns)}; it needs topic and word, as top_words has")
    return [(k, [str(w) for w in rows]) for k, rows in frame.groupby("topic", sort=False)["word"]]


def _words(topic: object, row: object) -> list[str]:
    """Words of one topic; of (word, weight) pairs, the first of each."""
    if isinstance(row, str) or not isinstance(row, Iterable):
        raise ModelError(f"topic {topic!r} is {row!r}; {_NEEDED}")
    words = [each[0] if isinstance(each, tuple | list) and len(each) == 2 else each for each in row]
    wrong = [word for word in words if not isinstance(word, str | np.str_)]
    if wrong:
        raise ModelError(f"topic {topic!r} has {wrong[0]!r} among its words; words are strings")
    return [str(word) for word in words]
