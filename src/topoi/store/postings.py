"""Rows of ``word_document``: the documents of each word, packed in one blob that search reads in one go.

A blob is pairs of numbers: how much a document's number exceeds the one before it (the first: the number itself), and
how often the word occurs there. Numbers take seven bits to the byte, lowest first; the last byte is below 128.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.corpus import Corpus
from topoi.corpus.pieces import occurrences, ranges, row_blocks
from topoi.errors import StoreError

# Document numbers are below 2**31, and counts too.
_MOST_BYTES = 5


def posting_rows(corpus: Corpus) -> Iterator[tuple[int, bytes]]:
    r"""Words' numbers and blobs, in order; words that do not occur have empty ones.

    Works in blocks of words with at most a million tokens, or of one word; each takes a pass over all tokens.

    Examples
    --------
    >>> import topoi
    >>> from topoi.store.postings import posting_rows
    >>> list(posting_rows(topoi.Corpus.from_tokens([["a"], ["b", "a", "a"]])))
    [(0, b'\x00\x01\x01\x02'), (1, b'\x01\x01')]
    """
    start = np.concatenate(([0], np.cumsum(occurrences(corpus.tokens, corpus.n_words))))
    for words in row_blocks(start):
        word, document, number = _pairs(corpus, words)
        first = np.concatenate(([True], word[1:] != word[:-1])) if len(word) else np.zeros(0, bool)
        gap = np.where(first, document, document - np.concatenate(([0], document[:-1])))
        data, ends = packed(np.stack([gap, number], axis=1).ravel())
        pairs = np.searchsorted(word, np.arange(words.start, words.stop + 1))
        edges = np.concatenate(([0], ends))[2 * pairs]
        for w, a, b in zip(range(words.start, words.stop), edges, edges[1:], strict=False):
            yield w, data[a:b].tobytes()


def _pairs(corpus: Corpus, words: slice) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Words of a range with their documents, sorted by word and document, and how often each pair occurs."""
    found = []
    for part in ranges(corpus.n_tokens):
        tokens = corpus.tokens[part]
        at = np.flatnonzero((tokens >= words.start) & (tokens < words.stop))
        document = np.searchsorted(corpus.doc_start, at + part.start, side="right") - 1
        found.append(tokens[at].astype(np.int64) * corpus.n_docs + document)
    keys, number = np.unique(np.concatenate([np.zeros(0, np.int64), *found]), return_counts=True)
    return *np.divmod(keys, max(corpus.n_docs, 1)), number.astype(np.int64)


def packed(values: NDArray[np.int64]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Numbers at seven bits to the byte, and where each ends.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.store.postings import packed
    >>> [part.tolist() for part in packed(np.array([5, 300]))]
    [[5, 172, 2], [1, 3]]
    """
    size = np.ones(len(values), np.int64)
    for n in range(1, _MOST_BYTES):
        size += values >= 2 ** (7 * n)
    ends = np.cumsum(size)
    data = np.zeros(int(ends[-1]) if len(ends) else 0, np.uint8)
    for n in range(_MOST_BYTES):
        some = np.flatnonzero(size > n)
        more = np.where(size[some] > n + 1, 128, 0)
        data[ends[some] - size[some] + n] = ((values[some] >> (7 * n)) & 127) | more
    return data, ends


def unpacked_numbers(data: bytes) -> NDArray[np.int64]:
    """The numbers of ``packed``; anything that is not such a list is a ``StoreError``.

    Examples
    --------
    >>> from topoi.store.postings import unpacked_numbers
    >>> unpacked_numbers(bytes([5, 172, 2])).tolist()
    [5, 300]
    """
    given = np.frombuffer(data, np.uint8)
    if not len(given):
        return np.zeros(0, np.int64)
    ends = np.flatnonzero(given < 128)
    starts = np.concatenate(([0], ends[:-1] + 1)) if len(ends) else ends
    size = ends - starts + 1
    if not len(ends) or ends[-1] != len(given) - 1 or size.max() > _MOST_BYTES:
        raise StoreError("it is damaged: the documents of a word are not a list of numbers")
    shift = 7 * (np.arange(len(given)) - np.repeat(starts, size))
    return np.add.reduceat((given & 127).astype(np.int64) << shift, starts)


def read_postings(
    data: bytes, n_tokens: int, n_documents: int, limit: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Documents of a word, in order, and counts, checked against what is known of the word.

    Parameters
    ----------
    data : bytes
        The blob.
    n_tokens, n_documents : int
        How often the word occurs, and in how many documents.
    limit : int
        Number of all documents.
    """
    pairs = unpacked_numbers(data)
    if len(pairs) != 2 * n_documents:
        raise StoreError("it is damaged: a word's documents are not as many as they should be")
    documents, counts = np.cumsum(pairs[::2]), pairs[1::2]
    rising = (pairs[2::2] > 0).all() and (not n_documents or documents[-1] < limit)
    if not rising or not (counts > 0).all() or counts.sum() != n_tokens:
        raise StoreError("it is damaged: the documents of a word do not fit together")
    return documents, counts
