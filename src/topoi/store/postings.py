"""Rows of ``word_document``: the documents of each word, packed in blobs that search reads in one go.

A word has a blob for each part of the corpus that it occurs in. A blob is pairs of numbers: how much a document exceeds
the one before it (the first: its number), and how often the word occurs there. Numbers take seven bits to the byte,
lowest first; the last byte is below 128.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.corpus import Corpus
from topoi.corpus.pieces import occurrences, row_blocks
from topoi.errors import StoreError

# Tokens to a part, but for a single longer document.
BLOCK = 2**20
# Document numbers are below 2**31, and counts too.
_MOST_BYTES = 5


def posting_rows(corpus: Corpus) -> Iterator[tuple[int, int, bytes]]:
    r"""Words' numbers, parts and blobs. A part has the words of a block of documents, in order.

    One pass over the corpus; memory is that of a block.

    Examples
    --------
    >>> import topoi
    >>> from topoi.store.postings import posting_rows
    >>> list(posting_rows(topoi.Corpus.from_tokens([["a"], ["b", "a", "a"]])))
    [(0, 0, b'\x00\x01\x01\x02'), (1, 0, b'\x01\x01')]
    """
    for part, documents in enumerate(row_blocks(corpus.doc_start, BLOCK)):
        word, document, number = _pairs(corpus, documents)
        if not len(word):
            continue
        first = np.flatnonzero(np.concatenate(([True], word[1:] != word[:-1])))
        gap = np.diff(document, prepend=0)
        gap[first] = document[first]
        data, ends = packed(np.stack([gap, number], axis=1).ravel())
        edges = np.concatenate((np.concatenate(([0], ends))[2 * first], [len(data)]))
        for w, a, b in zip(word[first].tolist(), edges, edges[1:], strict=False):
            yield w, part, data[a:b].tobytes()


def _pairs(corpus: Corpus, documents: slice) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Words of some documents with these, sorted by word and document, and how often each pair occurs."""
    start = corpus.doc_start[documents.start : documents.stop + 1]
    tokens = corpus.tokens[int(start[0]) : int(start[-1])]
    n_docs = documents.stop - documents.start
    if n_docs == 1:  # perhaps a long one
        number = occurrences(tokens, corpus.n_words)
        word = np.flatnonzero(number)
        return word, np.full(len(word), documents.start), number[word]
    key = tokens * np.int64(n_docs)
    key += np.repeat(np.arange(n_docs), np.diff(start))
    key.sort()
    last = np.flatnonzero(np.concatenate((key[1:] != key[:-1], [True]))) if len(key) else np.zeros(0, np.int64)
    word, document = np.divmod(key[last], n_docs)
    return word, document + documents.start, np.diff(last, prepend=-1)


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
    parts: list[bytes], n_tokens: int, n_documents: int, limit: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Documents of a word, in order, and counts, checked against what is known of the word.

    Parameters
    ----------
    parts : list of bytes
        The blobs, in order.
    n_tokens, n_documents : int
        How often the word occurs, and in how many documents.
    limit : int
        Number of all documents.
    """
    each = [unpacked_numbers(data) for data in parts]
    if any(len(pairs) % 2 for pairs in each) or sum(map(len, each)) != 2 * n_documents:
        raise StoreError("it is damaged: a word's documents are not as many as they should be")
    nothing = np.zeros(0, np.int64)
    documents = np.concatenate([nothing, *(np.cumsum(pairs[::2]) for pairs in each)])
    counts = np.concatenate([nothing, *(pairs[1::2] for pairs in each)])
    rising = (documents[1:] > documents[:-1]).all() and (not n_documents or documents[-1] < limit)
    if not rising or not (counts > 0).all() or counts.sum() != n_tokens:
        raise StoreError("it is damaged: the documents of a word do not fit together")
    return documents, counts
