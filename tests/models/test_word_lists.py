"""Counts of words in lists against the same counts in a matrix."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topoi.kernels.counts import Counts
from topoi.kernels.jit import compiled
from topoi.kernels.word_lists import (
    add_to_list,
    close_row,
    copy_row,
    count_lists,
    empty_lists,
    insert_from_row,
    keep_from_row,
    open_row,
    take_from_list,
)


def counted(tokens, topic, n_words, n_topics):
    """The same counts in lists and in a matrix."""
    lists = empty_lists(np.bincount(tokens, minlength=n_words), n_topics)
    count_lists(tokens, topic[None], lists)
    dense = np.zeros((n_words, n_topics), np.float32)
    np.add.at(dense, (tokens, topic), 1.0)
    return lists, dense


def some_tokens(rng, n=60, n_words=9, n_topics=7):
    return rng.integers(0, n_words, n).astype(np.int32), rng.integers(0, n_topics, n).astype(np.uint16)


@compiled
def move(tokens, topic, new, counts):
    for i in range(len(tokens)):
        take_from_list(counts, tokens[i], topic[i])
        add_to_list(counts, tokens[i], new[i])
        topic[i] = new[i]


@compiled
def rewrite(counts, n_topics):
    row = np.zeros(n_topics)
    for w in range(len(counts.length)):
        open_row(counts, w, row)
        close_row(counts, w, row)


@compiled
def move_in_rows(tokens, topic, new, counts, n_topics):
    """The same through rows, word by word."""
    row = np.zeros(n_topics)
    for w in range(len(counts.length)):
        open_row(counts, w, row)
        for i in range(len(tokens)):
            if tokens[i] == w:
                row[topic[i]] -= 1
                row[new[i]] += 1
        keep_from_row(counts, w, row)
        for i in range(len(tokens)):
            if tokens[i] == w:
                insert_from_row(counts, w, new[i], row)
    return row


@compiled
def rows_of(counts, n_words, n_topics):
    rows = np.zeros((n_words, n_topics))
    for w in range(n_words):
        copy_row(counts, w, rows[w])
    return rows


def same_lists(one, other):
    """Whether two say the same in the same order; what lies beyond a list's end is of no account."""
    cells = zip(one.word_cells(), other.word_cells(), strict=True)
    return np.array_equal(one.length, other.length) and all(np.array_equal(a, b) for a, b in cells)


@given(st.integers(0, 10**6))
@settings(max_examples=40, deadline=None)
def test_moves_leave_what_a_recount_finds(seed):
    rng = np.random.default_rng(seed)
    tokens, topic = some_tokens(rng)
    lists, _ = counted(tokens, topic, 9, 7)
    by_rows, _ = counted(tokens, topic, 9, 7)
    for _ in range(3):
        new = rng.integers(0, 7, len(tokens)).astype(np.uint16)
        assert not move_in_rows(tokens, topic, new, by_rows, 7).any()
        move(tokens, topic, new, lists)
        assert same_lists(by_rows, lists)
        again, dense = counted(tokens, topic, 9, 7)
        assert same_lists(lists, again)
        assert np.array_equal(lists.word_rows(slice(None)), dense)
    rewrite(lists, 7)
    assert same_lists(lists, again)


def test_both_forms_answer_alike():
    tokens, topic = some_tokens(np.random.default_rng(2))
    lists, dense = counted(tokens, topic, 9, 7)
    matrix = Counts(
        np.pad(dense, ((0, 0), (0, 9))), np.bincount(topic, minlength=7).astype(float), lists.author_topic, lists.author
    )
    assert np.array_equal(lists.topic, matrix.topic)
    for one, other in zip(lists.word_cells(), matrix.word_cells(), strict=True):
        assert np.array_equal(one, other)
    for words in (slice(2, 5), [8, 0, 3], np.array([1])):
        assert np.array_equal(lists.word_rows(words), matrix.word_rows(words))
    beta = np.linspace(0.1, 0.9, 9).astype(np.float32)
    assert lists.log_words(beta, 4.5) == matrix.log_words(beta, 4.5)
    assert np.array_equal(rows_of(lists, 9, 7), rows_of(matrix, 9, 7))


def test_room_is_no_more_than_tokens_and_topics():
    lists = empty_lists(np.array([3, 1000, 0]), 50)
    assert np.diff(lists.start).tolist() == [3, 50, 0]
    assert len(lists.entry_topic) == len(lists.entry_number) == 53
    with pytest.raises(NotImplementedError):
        copy_row(lists, 0, np.zeros(50))
