"""Coherence of topics: how often their leading words occur together in a reference corpus."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from topoi.corpus.corpus import Corpus
from topoi.errors import ModelError
from topoi.evaluation.topic_words import leading_words
from topoi.evaluation.windows import count_windows
from topoi.models.contract import DocumentsLike
from topoi.models.validation import choice, whole_number

# What is added to the probability of a pair, as Röder, Both and Hinneburg (2015) have it.
_EPSILON = 1e-12
# Tokens of a window, as they found best; None for whole documents.
WINDOWS = {"npmi": 10, "c_v": 110, "u_mass": None, "uci": 10}
_ALSO = {"c_npmi": "npmi", "c_uci": "uci", "umass": "u_mass", "cv": "c_v"}


def coherence(
    topics: object, corpus: DocumentsLike, measure: str = "npmi", n_words: int = 10, window: int | str | None = None
) -> pd.DataFrame:
    """Coherence of each topic: do its leading words occur together in the documents of a reference corpus?

    The measures are those of Röder, Both and Hinneburg (2015), with the numbers that gensim gives for the same counts.
    ``docs/evaluation.md`` says what each is good for.

    Parameters
    ----------
    topics
        A fitted model, or the topics of any library: a list of lists of words, a dict from topics to such lists, or a
        frame with the columns topic and word.
    corpus : Corpus, or list of lists of words
        The reference: the training documents, held-out ones, or others in which people write as they do. Words are
        compared as strings.
    measure : {"npmi", "c_v", "u_mass", "uci"}
        ``"npmi"`` is the mean normalised pointwise mutual information of all pairs, from −1 (never together) over 0
        (independent) to 1 (always together). ``"uci"`` is the same without the normalisation. ``"u_mass"`` is the mean
        log P(word | earlier word). ``"c_v"`` is the mean cosine between a word's vector of NPMIs and the sum of them.
    n_words : int
        Number of leading words of each topic.
    window : int, "document" or None
        Tokens of the sliding window in which words are together; None is 10 for npmi and uci, 110 for c_v, whole
        documents for u_mass.

    Returns
    -------
    DataFrame
        topic; coherence, the higher the better; n_missing, the number of the topic's words that never occur in the
        corpus; words. ``attrs["mean"]`` is the mean over topics. There is no NaN: a pair with a word that never occurs
        has the NPMI −1 and adds nothing to c_v; for uci and u_mass, which have no least value, such a word counts as
        if it had occurred once, alone.

    References
    ----------
    Röder, Both and Hinneburg, Exploring the space of topic coherence measures, WSDM, 2015.

    Examples
    --------
    >>> import topoi
    >>> corpus = topoi.Corpus.from_tokens([["sun", "star"], ["cell", "gene"]] * 5)
    >>> found = topoi.evaluation.coherence([["sun", "star"], ["sun", "gene"]], corpus)
    >>> found["coherence"].round(2).tolist()
    [1.0, -0.95]
    >>> model = topoi.LDA(2, alpha=0.1, n_iter=50, random_state=0).fit(corpus)
    >>> round(topoi.evaluation.coherence(model, corpus, n_words=2).attrs["mean"], 2)
    1.0
    """
    name = choice("measure", _ALSO.get(str(measure).lower(), measure), tuple(WINDOWS))
    size = _window(window, name)
    lists = leading_words(topics, n_words, least=2)
    reference = _reference(corpus)
    words = list(dict.fromkeys(word for each in lists for word in each.words))
    place = {word: i for i, word in enumerate(words)}
    rows = [np.array([place[word] for word in each.words], np.int64) for each in lists]
    counts = count_windows(reference, words, rows, size)
    if not counts.times.any():
        raise ModelError(
            "none of the topics' words occurs in the corpus; are they spelled, and cased, in the same way?"
        )
    tables = [counts.matrix(row) for row in rows]
    frame = pd.DataFrame(
        {
            "topic": [each.topic for each in lists],
            "coherence": [_MEASURES[name](table, counts.n_windows) for table in tables],
            "n_missing": [int((np.diagonal(table) == 0).sum()) for table in tables],
            "words": pd.Series([each.words for each in lists], dtype=object),
        }
    )
    frame.attrs |= {"mean": float(frame["coherence"].mean()), "measure": name, "n_windows": counts.n_windows}
    return frame


def _window(window: object, measure: str) -> int | None:
    if window is None:
        return WINDOWS[measure]
    if isinstance(window, str):
        choice("window", window, ("document",))
        return None
    return whole_number("window", window, 2)


def _reference(corpus: DocumentsLike) -> Corpus:
    if isinstance(corpus, Corpus):
        found = corpus
    elif isinstance(corpus, list | tuple) and all(isinstance(row, list | tuple) for row in corpus):
        found = Corpus.from_tokens([list(row) for row in corpus])
    else:
        raise ModelError(f"corpus is {type(corpus).__name__}; pass a topoi.Corpus, or a list of lists of words")
    if not found.n_tokens:
        raise ModelError("the reference corpus has no words")
    return found


def _log_ratio(table: NDArray[np.int64], n_windows: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """PMI of all pairs, and −log P(both); a word without a window counts as if it had one, alone."""
    both = table / n_windows + _EPSILON
    single = np.maximum(np.diagonal(table), 1) / n_windows
    return np.log(both / np.outer(single, single)), -np.log(both)


def _normalised(table: NDArray[np.int64], n_windows: int) -> NDArray[np.float64]:
    """NPMI of all pairs; 1 for words that are in every window, −1 for pairs with a word that is in none."""
    ratio, surprise = _log_ratio(table, n_windows)
    always = table == n_windows
    values = np.where(always, 1.0, ratio / np.where(always, 1.0, surprise))
    never = np.diagonal(table) == 0
    return np.where(never[:, None] | never, -1.0, values)


def _mean_pair(values: NDArray[np.float64]) -> float:
    return float(values[np.triu_indices(len(values), 1)].mean())


def _npmi(table: NDArray[np.int64], n_windows: int) -> float:
    return _mean_pair(_normalised(table, n_windows))


def _uci(table: NDArray[np.int64], n_windows: int) -> float:
    return _mean_pair(_log_ratio(table, n_windows)[0])


def _u_mass(table: NDArray[np.int64], n_windows: int) -> float:
    """Mean of log P(later and earlier word) / P(earlier word)."""
    earlier = np.maximum(np.diagonal(table), 1) / n_windows
    return _mean_pair(np.log((table / n_windows + _EPSILON) / earlier[:, None]))


def _c_v(table: NDArray[np.int64], n_windows: int) -> float:
    """Mean cosine of each word's NPMIs with the sum of all words' NPMIs."""
    occurs = np.diagonal(table) > 0
    return mean_cosine(np.where(occurs[:, None] & occurs, _normalised(table, n_windows), 0.0))


def mean_cosine(vectors: NDArray[np.float64]) -> float:
    """Mean cosine of rows with the sum of all rows; a row of zeros counts as zero."""
    total = vectors.sum(axis=0)
    length = np.linalg.norm(vectors, axis=1) * np.linalg.norm(total)
    return float((vectors @ total / np.where(length > 0, length, 1.0)).mean())


_MEASURES: dict[str, Callable[[NDArray[np.int64], int], float]] = {
    "npmi": _npmi,
    "c_v": _c_v,
    "u_mass": _u_mass,
    "uci": _uci,
}
