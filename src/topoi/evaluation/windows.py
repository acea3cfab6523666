"""Numbers of windows that contain a word, and that contain both words of a pair."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.corpus import Corpus
from topoi.kernels.jit import lean


class WindowCounts(NamedTuple):
    """Numbers of windows: of all, of those with each word, of those with both words of each pair.

    ``first`` and ``second`` are the numbers of a pair's words, ``first < second``.
    """

    n_windows: int
    times: NDArray[np.int64]
    first: NDArray[np.int64]
    second: NDArray[np.int64]
    together: NDArray[np.int64]

    def matrix(self, words: NDArray[np.int64]) -> NDArray[np.int64]:
        """Windows with both words, for all pairs of a topic's words; on the diagonal windows with the word."""
        a, b = np.minimum.outer(words, words), np.maximum.outer(words, words)
        n = len(self.times)
        at = np.searchsorted(self.first * n + self.second, a * n + b)
        found = self.together[np.minimum(at, len(self.together) - 1)] if len(self.together) else np.zeros_like(a)
        return np.where(a == b, self.times[a], found)


def count_windows(
    corpus: Corpus, words: Sequence[str], topics: Sequence[NDArray[np.int64]], window: int | None
) -> WindowCounts:
    """Count the windows of a corpus that contain given words, and pairs of words of the same topic.

    A window of ``window`` tokens slides over each document, one token at a time; a document that is not longer is one
    window. Repeated words count once per window. The time is linear in the tokens.

    Parameters
    ----------
    corpus : Corpus
        The documents.
    words : sequence of str
        The words to count; those that the corpus does not have are in no window.
    topics : sequence of arrays of int
        For each topic, the numbers of its words in ``words``.
    window : int or None
        Tokens of a window; None for whole documents.

    Examples
    --------
    >>> import numpy as np, topoi
    >>> from topoi.evaluation.windows import count_windows
    >>> corpus = topoi.Corpus.from_tokens([["a", "b", "c", "a"], ["b"]])
    >>> counts = count_windows(corpus, ["a", "b"], [np.array([0, 1])], 2)
    >>> counts.n_windows, counts.times.tolist(), counts.together.tolist()
    (4, [2, 3], [1])
    """
    number = np.full(corpus.n_words + 1, -1, np.int64)
    known = [w in corpus.vocabulary for w in words]
    number[[corpus.vocabulary.index(w) for w, here in zip(words, known, strict=True) if here]] = np.flatnonzero(known)
    n = len(words)
    first, second = _pairs(topics, n)
    # Each word's partners, and the numbers of the pairs.
    order = np.argsort(np.concatenate((first, second)), kind="stable")
    partner = np.concatenate((second, first))[order]
    pair = np.tile(np.arange(len(first)), 2)[order]
    start = np.searchsorted(np.concatenate((first, second))[order], np.arange(n + 1))
    times, together = np.zeros(n, np.int64), np.zeros(len(first), np.int64)
    n_windows = _slide(
        number[corpus.tokens.astype(np.int64)],
        corpus.doc_start.astype(np.int64),
        0 if window is None else window,
        (start, partner, pair),
        (np.zeros(n, np.int64), np.zeros(n, np.int64)),
        times,
        together,
    )
    return WindowCounts(int(n_windows), times, first, second, together)


def _pairs(topics: Sequence[NDArray[np.int64]], n: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """All pairs of different words that share a topic, each once, in order."""
    codes = [np.zeros(0, np.int64)]
    for words in topics:
        i, j = np.triu_indices(len(words), 1)
        codes.append(np.minimum(words[i], words[j]) * n + np.maximum(words[i], words[j]))
    first, second = np.divmod(np.unique(np.concatenate(codes)), max(n, 1))
    return first, second


@lean
def _slide(word: Any, doc_start: Any, size: Any, pairs: Any, state: Any, times: Any, together: Any) -> Any:
    """Slide a window over all documents; return the number of windows.

    ``word`` is −1 for tokens that are not counted. ``state`` has each word's number of tokens in the window, and the
    window at which it came in. Counts change only when a word leaves: by the windows since it, and each partner that is
    still there, came in.
    """
    inside, entered = state
    n_windows = 0
    for d in range(doc_start.shape[0] - 1):
        first, end = doc_start[d], doc_start[d + 1]
        length = end - first
        here = length if size == 0 or size > length else size
        last = length - here  # number of the document's last window
        for i in range(first, first + here):
            if word[i] >= 0:
                if inside[word[i]] == 0:
                    entered[word[i]] = 0
                inside[word[i]] += 1
        for t in range(1, last + 1):
            _leave(word[first + t - 1], t, pairs, state, times, together)
            w = word[first + t + here - 1]
            if w >= 0:
                if inside[w] == 0:
                    entered[w] = t
                inside[w] += 1
        for i in range(first + last, end):
            _leave(word[i], last + 1, pairs, state, times, together)
        n_windows += last + 1
    return n_windows


@lean
def _leave(w: Any, now: Any, pairs: Any, state: Any, times: Any, together: Any) -> None:
    """Take a token out of the window."""
    start, partner, pair = pairs
    inside, entered = state
    if w < 0:
        return
    inside[w] -= 1
    if inside[w] > 0:
        return
    times[w] += now - entered[w]
    for j in range(start[w], start[w + 1]):
        if inside[partner[j]] > 0:
            together[pair[j]] += now - max(entered[w], entered[partner[j]])
