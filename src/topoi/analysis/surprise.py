"""How surprising each document is: overall, by its own topics, and for its authors, beside their other documents."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

# Documents of fewer words are surprising by chance, and authors of fewer have no habits yet.
FEWEST_WORDS, FEWEST_DOCUMENTS = 30, 5
_WORDS_AT_ONCE = 4096
_CELLS_AT_ONCE = 2**23
N_REASONS = 6

Array = NDArray[np.float64]
Tokens = tuple[NDArray[Any], NDArray[Any]]


class Surprises(NamedTuple):
    """Perplexity of each document by its own topics (NaN if it is short), and the words that raise it most."""

    perplexity: Array
    reasons: NDArray[np.int32]


def document_surprises(
    chain: Any, blocks: Iterable[Tokens], n_documents: int, n_words: int, report: Callable[[int], None] = lambda n: None
) -> Surprises:
    """Perplexity of documents under their own mixtures of topics: high where no topic explains the words.

    Parameters
    ----------
    chain : posterior
        The model's posterior: ``documents`` and ``word_columns``.
    blocks : iterable of (array, array)
        Documents and words of tokens; a document's tokens are in one block.
    n_documents, n_words : int
        Sizes of the collection.
    report : callable
        Called with the number of documents done.

    Examples
    --------
    >>> import numpy as np, topoi
    >>> from topoi.analysis.surprise import document_surprises
    >>> rows = [["sun", "star"] * 20, ["cell", "gene"] * 20] * 9 + [["sun"] * 20 + ["zoo", "ark"] * 10]
    >>> corpus = topoi.Corpus.from_tokens(rows)
    >>> model = topoi.LDA(2, alpha=0.1, n_iter=50, random_state=0).fit(corpus)
    >>> document = np.repeat(np.arange(19), np.diff(corpus.doc_start))
    >>> found = document_surprises(model.chains_[0], [(document, corpus.tokens)], 19, 6)
    >>> int(np.nanargmax(found.perplexity)), sorted(corpus.vocabulary.words[found.reasons[18, :2]].tolist())
    (18, ['ark', 'zoo'])
    """
    columns = _word_columns(chain, n_words)
    perplexity = np.full(n_documents, np.nan)
    reasons = np.full((n_documents, N_REASONS), -1, np.int32)
    done = 0
    for document, word in blocks:
        found, place, length = np.unique(document, return_inverse=True, return_counts=True)
        cell, times = np.unique(place.astype(np.int64) * n_words + word, return_counts=True)
        row, own = cell // n_words, cell % n_words
        mixtures = chain.documents.shares(found).astype(np.float32)
        surprise = times * -np.log(_mixed(mixtures, columns, row, own))
        total = np.bincount(row, surprise, len(found))
        long = length >= FEWEST_WORDS
        perplexity[found[long]] = np.exp(total[long] / length[long])
        order = np.lexsort((own, -surprise, row))
        first = np.searchsorted(row[order], np.arange(len(found)))
        last = np.append(first[1:], len(order))
        for at in range(N_REASONS):
            there = first + at < last
            reasons[found[there], at] = own[order[first[there] + at]]
        done += len(found)
        report(done)
    return Surprises(perplexity, reasons)


def _word_columns(chain: Any, n_words: int) -> NDArray[np.float32]:
    """P(word | topic), words × topics."""
    found = np.empty((n_words, chain.n_topics), np.float32)
    for first in range(0, n_words, _WORDS_AT_ONCE):
        part = np.arange(first, min(first + _WORDS_AT_ONCE, n_words))
        found[part] = chain.word_columns(part).T
    return found


def _mixed(
    mixtures: NDArray[np.float32], columns: NDArray[np.float32], row: NDArray[np.int64], word: NDArray[np.int64]
) -> Array:
    """P(word | document) of each pair."""
    found = np.empty(len(row))
    step = max(_CELLS_AT_ONCE // columns.shape[1], 1)
    for first in range(0, len(row), step):
        part = slice(first, first + step)
        found[part] = np.einsum("ij,ij->i", mixtures[row[part]], columns[word[part]])
    return np.maximum(found, 1e-30)


class AuthorSurprises(NamedTuple):
    """For each document the author who is least surprised by it: number (-1 without one), and times the median."""

    author: NDArray[np.int64]
    times: Array


def author_surprises(
    author: NDArray[np.int64], document: NDArray[np.int64], perplexity: Array, n_documents: int
) -> AuthorSurprises:
    """How many times the median of its author's documents each document's perplexity is, by the author it suits best.

    Parameters
    ----------
    author, document, perplexity : array
        One entry for each document of each author.
    n_documents : int
        Size of the collection.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.analysis.surprise import author_surprises
    >>> found = author_surprises(np.zeros(5, int), np.arange(5), np.array([10.0, 20, 10, 10, 80]), 6)
    >>> found.times.tolist(), found.author.tolist()
    ([1.0, 2.0, 1.0, 1.0, 8.0, nan], [0, 0, 0, 0, 0, -1])
    """
    known = np.isfinite(perplexity) & (perplexity > 0)
    author, document, perplexity = author[known], document[known], perplexity[known]
    order = np.lexsort((perplexity, author))
    number, first, count = np.unique(author[order], return_index=True, return_counts=True)
    middle = perplexity[order]
    median = (middle[first + (count - 1) // 2] + middle[first + count // 2]) / 2
    place = np.searchsorted(number, author)
    times = np.where(count[place] >= FEWEST_DOCUMENTS, perplexity / np.maximum(median[place], 1e-300), np.nan)
    found = AuthorSurprises(np.full(n_documents, -1), np.full(n_documents, np.nan))
    usable = np.flatnonzero(np.isfinite(times))
    # The smallest of each document is written last.
    usable = usable[np.argsort(-times[usable], kind="stable")]
    found.author[document[usable]], found.times[document[usable]] = author[usable], times[usable]
    # A document with an author of few documents may be usual for that one.
    few = document[count[place] < FEWEST_DOCUMENTS]
    found.author[few], found.times[few] = -1, np.nan
    return found
