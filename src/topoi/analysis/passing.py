"""Topics that came and went: clearly larger somewhere in the middle than at both ends."""

from __future__ import annotations

from statistics import NormalDist
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from topoi.analysis.trends import PlacedDocuments, as_written, placed_documents
from topoi.corpus.corpus import Corpus
from topoi.models.resampling import LEVEL
from topoi.models.share_moments import Moments, as_whole, part_variance, sums_of, weighted_sums
from topoi.models.validation import checked_tail

N_PARTS = 10
_SIDES = ("first", "peak", "last")


def passing_topics(
    model: Any, trends: pd.DataFrame, corpus: Corpus | None = None, level: float = LEVEL
) -> pd.DataFrame:
    """Topics that came and went, those that stood out most first, with intervals.

    All words are divided, in the order of time, into ten parts of equal size. A topic came and went if its share of one
    of the eight inner parts is clearly larger than its shares of the first and of the last, and these are nearer to
    each other than to it. Since the largest of eight is chosen, a difference is clear only if its interval at the level
    corrected for eight choices (Bonferroni) excludes zero.

    Parameters
    ----------
    model : fitted model with topics, or ModelView
        The model that the trends are of.
    trends : DataFrame
        As ``topoi.topic_trends`` returns it, by a column of numbers.
    corpus : Corpus, optional
        The documents that the trends are of; the training corpus if not given.
    level : float
        Each interval holds this much probability.

    Returns
    -------
    DataFrame
        topic, first, peak and last (shares of these parts of all words), each with ``_lower`` and ``_upper``; since and
        until (the first and the last period of the part in which the topic is largest); height (the peak above the
        larger of both ends), lower, upper (of the height).

    Examples
    --------
    >>> import topoi
    >>> from topoi.analysis.passing import passing_topics
    >>> rows = [["a", "b"]] * 20 + [["c", "d"]] * 20 + [["a", "b"]] * 20
    >>> corpus = topoi.Corpus.from_tokens(rows, dates=[1990] * 20 + [1991] * 20 + [1992] * 20)
    >>> model = topoi.LDA(2, alpha=0.1, n_iter=50, random_state=0).fit(corpus)
    >>> found = passing_topics(model, topoi.topic_trends(model))
    >>> found[["peak", "since", "until"]].round(1).values.tolist()
    [[1.0, 1991.0, 1991.0]]
    """
    found = placed_documents(model, trends, corpus)
    parts = [stretch(found.words, i / N_PARTS, (i + 1) / N_PARTS) for i in range(N_PARTS)]
    share = _shares(found, parts, trends)
    inner = share[1:-1]
    best = 1 + np.argmax(inner, axis=0)
    shares = np.stack((share[0], inner.max(axis=0), share[-1]))
    if not len(found.words):
        return _frame(np.array([], np.int64), shares, np.zeros((4, 0)), best, parts, found.periods, level)
    deviations = _deviations(found, parts, best)
    frame = _frame(np.arange(share.shape[1]), shares, deviations, best, parts, found.periods, level)
    return frame[_clear(shares, deviations, level)].sort_values(
        "height", ascending=False, kind="stable", ignore_index=True
    )


def stretch(words: NDArray[np.float64], start: float, end: float) -> NDArray[np.float64]:
    """Part of each period's words that is between two places in the order of all words, given as parts of these.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.analysis.passing import stretch
    >>> stretch(np.array([2.0, 40.0, 58.0]), 0.1, 0.5).round(3).tolist()
    [0.0, 0.8, 0.138]
    """
    before, total = np.cumsum(words) - words, words.sum()
    reached = [np.clip(place * total - before, 0.0, words) for place in (start, end)]
    return np.asarray((reached[1] - reached[0]) / np.maximum(words, 1e-300))


def _shares(found: PlacedDocuments, parts: list[NDArray[np.float64]], trends: pd.DataFrame) -> NDArray[np.float64]:
    """Shares of topics of each part of all words, parts × topics."""
    by = trends.columns[0]
    share = trends.pivot(index=by, columns="topic", values="share").fillna(0.0).sort_index().to_numpy()
    taken = np.stack([found.words * part for part in parts])
    return np.asarray(taken @ share / np.maximum(taken.sum(axis=1, keepdims=True), 1e-300))


def _deviations(
    found: PlacedDocuments, parts: list[NDArray[np.float64]], best: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Standard deviations of the shares of the first, the best and the last part, and of both differences: 5 × topics.

    Documents of a period that reaches into two parts are in both; differences of these are taken for independent,
    which makes their intervals too wide rather than too narrow.
    """
    collection = sums_of(found.documents)
    sums = weighted_sums(found.documents, *(as_whole(found.part(part)) for part in parts))
    variance = np.stack([part_variance(part, collection) for part in sums])
    own = variance[best, np.arange(len(best))]
    return np.sqrt(np.stack((variance[0], own, variance[-1], own + variance[0], own + variance[-1])))


def _clear(shares: NDArray[np.float64], deviations: NDArray[np.float64], level: float) -> NDArray[np.bool_]:
    first, peak, last = shares
    written = as_written(shares)
    reach = NormalDist().inv_cdf(1.0 - checked_tail(level) / (N_PARTS - 2))
    above = (peak - first > reach * deviations[3]) & (peak - last > reach * deviations[4])
    return np.asarray(
        above & (written[1] > written[[0, 2]]).all(axis=0) & (abs(last - first) < peak - np.maximum(first, last))
    )


def _frame(
    topics: NDArray[np.int64],
    shares: NDArray[np.float64],
    deviations: NDArray[np.float64],
    best: NDArray[np.int64],
    parts: list[NDArray[np.float64]],
    periods: NDArray[Any],
    level: float,
) -> pd.DataFrame:
    columns: dict[str, Any] = {"topic": topics}
    for name, share, deviation in zip(_SIDES, shares, deviations, strict=False):
        lower, upper = Moments(share, deviation).interval(level)
        columns |= {name: share, f"{name}_lower": lower, f"{name}_upper": upper}
    inside = [np.flatnonzero(parts[part] > 0) for part in best]
    columns["since"], columns["until"] = ([periods[at[end]] for at in inside] for end in (0, -1))
    height = shares[1] - np.maximum(shares[0], shares[2])
    deviation = np.where(shares[0] >= shares[2], deviations[3], deviations[4])
    reach = NormalDist().inv_cdf(1.0 - checked_tail(level)) * deviation
    return pd.DataFrame(columns | {"height": height, "lower": height - reach, "upper": height + reach})
