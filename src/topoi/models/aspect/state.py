"""Input of learning besides the documents: their entries by word, and settings, checked."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from topoi.errors import ModelError
from topoi.models.bags import Bags
from topoi.models.validation import positive_vector


class ByWord(NamedTuple):
    """Entries of bags sorted by word, each word's in the order of documents, as the M-step reads them."""

    start: NDArray[np.int64]
    doc: NDArray[np.int64]
    entry: NDArray[np.int64]

    @classmethod
    def from_bags(cls, bags: Bags, n_words: int) -> ByWord:
        """Sort the entries by word."""
        entry = np.argsort(bags.row, kind="stable")
        doc = np.repeat(np.arange(bags.n_docs), np.diff(bags.doc_start))
        start = np.searchsorted(bags.row[entry], np.arange(n_words + 1))
        return cls(start.astype(np.int64), doc[entry], entry)


def mixture_prior(alpha: ArrayLike | None, n_aspects: int) -> NDArray[np.float64]:
    """The setting ``alpha`` as one number per aspect; None is 5 / n_aspects, at most 0.5.

    Examples
    --------
    >>> from topoi.models.aspect.state import mixture_prior
    >>> mixture_prior(None, 2).tolist(), mixture_prior(None, 50)[0]
    ([0.5, 0.5], np.float64(0.1))
    """
    return positive_vector("alpha", min(5.0 / n_aspects, 0.5) if alpha is None else alpha, n_aspects, "n_aspects")


def checked_aspects(aspect_word: ArrayLike) -> NDArray[np.float64]:
    """Check P(word | aspect) given by the user, aspects × words: rows must be probabilities.

    Examples
    --------
    >>> from topoi.models.aspect.state import checked_aspects
    >>> checked_aspects([[0.25, 0.75]]).sum()
    np.float64(1.0)
    """
    try:
        given = np.array(aspect_word, np.float64)
    except (TypeError, ValueError):
        raise ModelError("aspect_word is not a matrix of numbers; pass aspects × words") from None
    if given.ndim != 2 or not given.size:
        raise ModelError(f"aspect_word has the shape {given.shape}; pass a matrix, aspects × words")
    if not np.isfinite(given).all() or (given < 0).any():
        raise ModelError("aspect_word has entries that are negative or not finite; its rows are probabilities")
    sums = given.sum(axis=1)
    if np.abs(sums - 1.0).max() > 1e-6:
        worst = int(np.abs(sums - 1.0).argmax())
        raise ModelError(f"row {worst} of aspect_word sums to {sums[worst]:.6g}; each row must sum to one")
    return np.asarray(given / sums[:, None])
