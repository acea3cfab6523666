"""Conversion of matrices of counts, lists of words and gensim's bags to flat arrays of word ids."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from topoi.corpus.vocabulary import Vocabulary
from topoi.errors import CorpusError

if TYPE_CHECKING:
    import scipy.sparse

_MOST_TOKENS = 1 << 40


def word_list(vocabulary: Any) -> list[str]:
    """Return the words by id from a list, a mapping of word to id, or a Vocabulary.

    Examples
    --------
    >>> from topoi.corpus.counts import word_list
    >>> word_list({"b": 1, "a": 0})
    ['a', 'b']
    """
    if isinstance(vocabulary, str):
        raise CorpusError("the vocabulary is one string; give a list of words")
    if isinstance(vocabulary, Vocabulary):
        return vocabulary.words.tolist()
    if not isinstance(vocabulary, Mapping):
        return [str(word) for word in vocabulary]
    words = sorted(vocabulary, key=lambda word: vocabulary[word])
    if [int(vocabulary[word]) for word in words] != list(range(len(words))):
        raise CorpusError("the vocabulary must map the words to the columns 0, 1, 2, … without gaps")
    return [str(word) for word in words]


def token_rows(
    token_lists: Iterable[Iterable[str]], words: Sequence[str] | None
) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Return word ids, row starts and words of lists of words; with given words, another word is an error.

    Examples
    --------
    >>> from topoi.corpus.counts import token_rows
    >>> token_rows([["b", "a"], ["b"]], None)[2]
    ['b', 'a']
    """
    ids = {} if words is None else {word: w for w, word in enumerate(words)}
    n_given = len(ids)
    tokens: list[int] = []
    starts = [0]
    for d, row in enumerate(token_lists):
        if isinstance(row, str):
            raise CorpusError(f"document {d} is a string, not a list of words; use from_texts for texts")
        for word in row:
            if not isinstance(word, str):
                raise CorpusError(f"document {d} has a word of type {type(word).__name__}: {word!r}")
            tokens.append(ids.setdefault(word, len(ids)))
        starts.append(len(tokens))
        if words is not None and len(ids) > n_given:
            raise CorpusError(f"the word {list(ids)[n_given]!r} of document {d} is not among the given words")
    return np.array(tokens, np.int32), np.array(starts, np.int64), list(ids)


def count_rows(matrix: Any) -> tuple[np.ndarray, np.ndarray, int]:
    """Return word ids, row starts and the number of columns of a matrix of counts.

    Examples
    --------
    >>> from topoi.corpus.counts import count_rows
    >>> count_rows([[0, 2], [1, 0]])[0].tolist()
    [1, 1, 0]
    """
    import scipy.sparse

    if isinstance(matrix, pd.DataFrame):
        matrix = matrix.to_numpy()
    try:
        rows = scipy.sparse.csr_matrix(matrix, copy=True)
    except (TypeError, ValueError) as problem:
        raise CorpusError(f"this is not a matrix of numbers: {problem}") from None
    if rows.dtype.kind not in "iufb":
        raise CorpusError(f"the matrix holds {rows.dtype}, not counts")
    rows.sum_duplicates()
    values = rows.data
    with np.errstate(invalid="ignore"):
        bad = ~((values >= 0) & (values == np.floor(values)))
    if bad.any():
        at = int(np.flatnonzero(bad)[0])
        row = int(np.searchsorted(rows.indptr, at, side="right")) - 1
        place = f"row {row}, column {rows.indices[at]}"
        raise CorpusError(f"counts must be whole and not negative, but {place} holds {values[at]!s}")
    if values.sum(dtype=np.float64) > _MOST_TOKENS:
        raise CorpusError(f"the counts add up to {values.sum(dtype=np.float64):.3g} words, more than can be handled")
    counts = values.astype(np.int64)
    ends = np.concatenate([[0], np.cumsum(counts)])
    return np.repeat(rows.indices.astype(np.int32), counts), ends[rows.indptr], rows.shape[1]


def gensim_rows(
    corpus: Iterable[Iterable[tuple[int, float]]], id2word: Mapping[int, str] | None
) -> tuple[scipy.sparse.csr_matrix, list[str]]:
    """Return gensim's bags of words as a matrix of counts, and the words by id.

    Examples
    --------
    >>> from topoi.corpus.counts import gensim_rows
    >>> gensim_rows([[(1, 3)]], {0: "a", 1: "b"})[0].toarray().tolist()
    [[0.0, 3.0]]
    """
    columns: list[int] = []
    values: list[float] = []
    starts = [0]
    for d, bag in enumerate(corpus):
        try:
            for word, count in bag:
                columns.append(int(word))
                values.append(float(count))
        except (TypeError, ValueError):
            raise CorpusError(f"document {d} is not a list of (word id, count) pairs") from None
        starts.append(len(columns))
    if columns and min(columns) < 0:
        raise CorpusError(f"word ids are not negative, but there is {min(columns)}")
    n_words = max(columns, default=-1) + 1
    if id2word is not None:
        n_words = max([n_words, *(int(w) + 1 for w in id2word.keys())])  # noqa: SIM118 (a Dictionary iterates oddly)
    shape = (len(starts) - 1, n_words)
    import scipy.sparse

    matrix = scipy.sparse.csr_matrix((np.array(values), np.array(columns, np.int64), np.array(starts)), shape=shape)
    return matrix, [_gensim_word(id2word, w) for w in range(n_words)]


def _gensim_word(id2word: Mapping[int, str] | None, w: int) -> str:
    if id2word is None:
        return str(w)
    try:
        return str(id2word[w])
    except (KeyError, IndexError):
        raise CorpusError(f"id2word has no word for the id {w}") from None


def gensim_authors(
    n_docs: int,
    author2doc: Mapping[Any, Iterable[int]] | None,
    doc2author: Mapping[int, Iterable[Any]] | None,
) -> list[list[str]]:
    """Return each document's authors from one of gensim's two mappings.

    Examples
    --------
    >>> from topoi.corpus.counts import gensim_authors
    >>> gensim_authors(2, {"Ann": [0, 1], "Bob": [1]}, None)
    [['Ann'], ['Ann', 'Bob']]
    """
    authors: list[list[str]] = [[] for _ in range(n_docs)]
    pairs: Iterable[tuple[Any, Any]] = ()
    if author2doc is not None:
        pairs = ((d, name) for name, docs in author2doc.items() for d in docs)
    elif doc2author is not None:
        pairs = (
            (d, name) for d, names in doc2author.items() for name in ([names] if isinstance(names, str) else names)
        )
    for d, name in pairs:
        if not isinstance(d, (int, np.integer)) or not 0 <= d < n_docs:
            raise CorpusError(f"author {name!r} has the document {d!r}, but the documents are 0 to {n_docs - 1}")
        authors[d].append(str(name))
    return authors
