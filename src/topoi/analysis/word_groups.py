"""Words that one group of documents uses more than another, with intervals that know that words come in documents."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from topoi.analysis.groups import false_discovery_rates
from topoi.models.validation import checked_tail

# Words of both groups together that are added to each: little is said of what few words say little about.
PRIOR_WORDS = 500.0
FEWEST_DOCUMENTS = 3

Array = NDArray[np.float64]
# Documents and words of some tokens, a document's tokens all in one block.
Tokens = tuple[NDArray[Any], NDArray[Any]]


@dataclass
class WordTotals:
    """Sums over documents from which shares of words and their variances follow.

    Attributes
    ----------
    n_documents : int
        Documents with words.
    length, squares : float
        Sums of the documents' lengths and of their squares.
    count, count_squares, count_lengths : array
        For each word, sums of its counts in documents, of their squares, and of their products with the lengths.
    documents : array
        Number of documents with each word.
    """

    n_documents: int
    length: float
    squares: float
    count: Array
    count_squares: Array
    count_lengths: Array
    documents: NDArray[np.int64]


def sum_words(blocks: Iterable[Tokens], n_words: int) -> WordTotals:
    """Add up the words of a group's documents.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.analysis.word_groups import sum_words
    >>> totals = sum_words([(np.array([0, 0, 0, 1]), np.array([2, 2, 1, 2]))], 3)
    >>> totals.count.tolist(), totals.count_squares.tolist(), totals.count_lengths.tolist()
    ([0.0, 1.0, 3.0], [0.0, 1.0, 5.0], [0.0, 3.0, 7.0])
    """
    count, squares, lengths = (np.zeros(n_words) for _ in range(3))
    found = WordTotals(0, 0.0, 0.0, count, squares, lengths, np.zeros(n_words, np.int64))
    for document, word in blocks:
        if not len(word):
            continue
        _, place, length = np.unique(document, return_inverse=True, return_counts=True)
        cell, number = np.unique(place.astype(np.int64) * n_words + word, return_counts=True)
        own, of_word = length[cell // n_words], cell % n_words
        found.n_documents += len(length)
        found.length += float(length.sum())
        found.squares += float((length.astype(np.float64) ** 2).sum())
        found.count += np.bincount(of_word, number, n_words)
        found.count_squares += np.bincount(of_word, number.astype(np.float64) ** 2, n_words)
        found.count_lengths += np.bincount(of_word, number.astype(np.float64) * own, n_words)
        found.documents += np.bincount(of_word, minlength=n_words)
    return found


def compare_words(ours: WordTotals, theirs: WordTotals, level: float = 0.9) -> pd.DataFrame:
    """Words by how much more often one group of documents uses them than another.

    Shares are smoothed: 500 words of both groups together are added to each. The logarithm of their ratio has a
    standard error by documents as units (a ratio estimator), and at least that of independent words.

    Parameters
    ----------
    ours, theirs : WordTotals
        Sums of ``sum_words``.
    level : float
        Each interval holds this much probability.

    Returns
    -------
    DataFrame
        word (number), n_words, other_n_words, share, other_share (as counted), ratio, lower, upper (of the smoothed
        shares), score (log ratio in standard errors), q_value (false-discovery rate); what the first group uses most
        more comes first. Words of fewer than three documents are left out.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.analysis.word_groups import compare_words, sum_words
    >>> d = np.repeat(np.arange(40), 50)
    >>> one = sum_words([(d, np.arange(2000) % 4)], 5)
    >>> other = sum_words([(d, np.minimum(np.arange(2000) % 8, 3))], 5)
    >>> frame = compare_words(one, other)
    >>> frame["word"].tolist()[-1], bool(frame["ratio"].iloc[-1] < 1)
    (3, True)
    """
    from scipy.special import ndtr, ndtri

    quantile = float(ndtri(1.0 - checked_tail(level)))
    together = (ours.count + theirs.count) / max(ours.length + theirs.length, 1.0)
    word = np.flatnonzero(ours.documents + theirs.documents >= FEWEST_DOCUMENTS)
    prior = PRIOR_WORDS * together[word]
    (first, first_variance), (second, second_variance) = (_log_share(each, word, prior) for each in (ours, theirs))
    log_ratio, error = first - second, np.sqrt(first_variance + second_variance)
    score = log_ratio / np.maximum(error, 1e-300)
    frame = pd.DataFrame(
        {
            "word": word,
            "n_words": ours.count[word].astype(np.int64),
            "other_n_words": theirs.count[word].astype(np.int64),
            "share": ours.count[word] / max(ours.length, 1.0),
            "other_share": theirs.count[word] / max(theirs.length, 1.0),
            "ratio": np.exp(log_ratio),
            "lower": np.exp(log_ratio - quantile * error),
            "upper": np.exp(log_ratio + quantile * error),
            "score": score,
            "q_value": false_discovery_rates(2.0 * ndtr(-np.abs(score))),
        }
    )
    return frame.iloc[np.argsort(-score, kind="stable")].reset_index(drop=True)


def _log_share(totals: WordTotals, word: NDArray[np.int64], prior: Array) -> tuple[Array, Array]:
    """Logarithms of smoothed shares of words, and their variances."""
    length = totals.length + PRIOR_WORDS
    count = totals.count[word]
    share = np.maximum((count + prior) / length, 1e-300)
    plain = count / max(totals.length, 1.0)
    # Σ (n - p L)² over documents: words come in bursts, and documents are the independent units.
    residual = totals.count_squares[word] - 2 * plain * totals.count_lengths[word] + plain**2 * totals.squares
    bursts = np.maximum(residual, 0.0) * totals.n_documents / max(totals.n_documents - 1, 1)
    variance = np.maximum(bursts, count + prior) / length**2
    return np.log(share), variance / share**2
