"""Lists of the topics of words, made from counts for one sweep and written back into them."""

# numba infers the types of compiled loops.
# mypy: allow-untyped-defs, allow-incomplete-defs, no-check-untyped-defs
from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi.kernels import lanes
from topoi.kernels.jit import compiled, inlined, lean
from topoi.models.author_topic import lines
from topoi.models.author_topic.lines import TopicLists

_ONE = np.float32(1.0)
_ZERO = np.float32(0.0)
# Tokens between a prefetch of a word's list and its use.
_AHEAD = 6
# A line of a list costs as much as this many vectors of a row.
_VECTORS_PER_LINE = 4
_LARGEST_UINT16 = 2**16 - 1


class WordLists(NamedTuple):
    """Topics of the words: ``lists.first`` is negative for words without a list.

    ``before`` are the topics that the lists had at first, those of word w from ``start[w]`` on.
    """

    lists: TopicLists
    before: NDArray[np.uint16]
    start: NDArray[np.int64]


@inlined
def _is_long(n, n_topics):
    """Whether a row of counts is faster than a list of ``n`` topics."""
    return _VECTORS_PER_LINE * n > n_topics


@compiled
def make_word_lists(tokens, topic_of, times, counts):
    """Lists of the topics of the words of some tokens; ``times`` are the words' numbers of tokens in the counts."""
    n_words, n_topics = times.shape[0], counts.topic.shape[0]
    here = np.zeros(n_words, np.int64)
    for i in range(tokens.shape[0]):
        here[tokens[i]] += 1
    first = np.full(n_words, -1)
    total = 0
    for w in range(n_words):
        if here[w] > 0 and times[w] <= _LARGEST_UINT16:
            first[w] = total
            total += (min(times[w], n_topics) + 15) >> 4
    lists = lines.empty_lists(first, total, n_topics)
    _fill(lists, tokens, topic_of, here, times, counts.word_topic)
    start = np.zeros(n_words + 1, np.int64)
    for w in range(n_words):
        if _is_long(np.int64(lists.length[w]), n_topics):
            lists.first[w] = -1
            lists.length[w] = 0
        start[w + 1] = start[w] + lists.length[w]
    before = np.empty(start[-1], np.uint16)
    for w in range(n_words):
        for n in range(lists.length[w]):
            before[start[w] + n] = lists.line[lines.place(lists, w, n)]
    return WordLists(lists, before, start)


@lean
def _fill(lists, tokens, topic_of, here, times, word_topic):
    """Fill the lists: from the tokens here if these are all tokens of a word, otherwise from its row of counts."""
    for w in range(times.shape[0]):
        if lists.first[w] >= 0 and here[w] != times[w]:
            _fill_from_row(lists, w, word_topic)
    for i in range(tokens.shape[0]):
        fetch_later(lists, tokens, i)
        w = np.int64(np.uint32(tokens[i]))
        if lists.first[w] >= 0 and here[w] == times[w]:
            lines.add(lists, w, np.int64(topic_of[i]))


@inlined
def _fill_from_row(lists, w, word_topic):
    width = word_topic.shape[1]
    n = 0
    for j in range(0, width, 16):
        bits = lanes.nonzero(lanes.load(word_topic, w * width + j))
        while bits != 0:
            k = j + lanes.lowest(bits)
            bits &= bits - 1
            at = lines.place(lists, w, n)
            lists.line[at] = np.uint16(k)
            lists.line[at + 16] = np.uint16(word_topic[w, k])
            n += 1
    lists.length[w] = np.int32(n)


@inlined
def fetch_later(lists, tokens, i):
    """Prefetch the first two lines of the list of the word of a token some after ``i``."""
    if i + _AHEAD < tokens.shape[0]:
        at = 32 * max(lists.first[np.uint32(tokens[i + _AHEAD])], 0)
        lanes.prefetch(lists.line, at)
        lanes.prefetch(lists.line, at + 32)


@lean
def write_back(words, word_topic):
    """Write the lists into the rows of counts."""
    for w in range(word_topic.shape[0]):
        for n in range(words.start[w], words.start[w + 1]):
            word_topic[w, words.before[n]] = _ZERO
        for n in range(words.lists.length[w]):
            at = lines.place(words.lists, w, n)
            word_topic[w, words.lists.line[at]] = words.lists.line[at + 16]


@compiled
def mean_word_lines(tokens, times, counts):
    """Lines of the lists of some tokens' words, on average, words without a list apart; and the share of these."""
    n_topics = counts.topic.shape[0]
    width = counts.word_topic.shape[1]
    total = without = 0
    for i in range(tokens.shape[0]):
        w = np.int64(tokens[i])
        n = 0
        for j in range(0, width, 16):
            n += lanes.count_at_most(lanes.splat(_ONE), lanes.load(counts.word_topic, w * width + j))
        is_long = times[w] > _LARGEST_UINT16 or _is_long(n, n_topics)
        without += is_long
        total += 0 if is_long else (n + 15) >> 4
    return total / max(tokens.shape[0], 1), without / max(tokens.shape[0], 1)
