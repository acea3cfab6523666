"""Trends of topics along time or any other column of the documents."""

from __future__ import annotations

from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from topoi.analysis.given import need_graph, need_topics
from topoi.corpus.corpus import Corpus
from topoi.errors import ModelError
from topoi.models.contract import InStore
from topoi.models.periods import PERIODS, Trend
from topoi.models.resampling import LEVEL, Draws, Groups, share_bands
from topoi.models.share_moments import Moments, change_deviations
from topoi.models.smoothed_counts import SmoothedCounts, whole_tokens
from topoi.models.validation import checked_tail

_COLUMNS = ("topic", "node", "share", "lower", "upper", "n_words")
# Expected numbers of words are kept in parts of a word.
_PARTS = 10_000
_ENDS = ("first", "first_lower", "first_upper", "last", "last_lower", "last_upper")
_MOVES = ("topic", *_ENDS, "change", "lower", "upper", "direction")


def topic_trends(
    model: Any, corpus: Corpus | None = None, by: str = "year", level: float | None = LEVEL
) -> pd.DataFrame:
    """Share of words per topic for each year, decade or value of any column (AT04, section 4.1), with intervals.

    Shares are of words, without smoothing. Training documents count with their sampled assignments, whether ``corpus``
    is the training corpus, an equal one, or a part of it. Other documents count with expected numbers, given their
    words and, if the model uses them, their authors or metadata.

    Intervals say how far a share can be relied on as that of all documents of its kind: they combine the samples of the
    chain with resampled documents, so that a year of few documents has a wide one (``topoi.models.resampling``).

    Parameters
    ----------
    model : fitted model with topics, or ModelView
        A store has the trends by year and decade precomputed.
    corpus : Corpus, optional
        The documents; the training corpus if not given.
    by : str
        A column of ``corpus.documents``, or "decade".
    level : float, optional
        Each interval holds this much probability. None leaves intervals out, and saves the time to compute them.

    Returns
    -------
    DataFrame
        The ``by`` column, topic, share (of the group's words), n_words (expected numbers need not be whole), lower and
        upper. Documents without a value, and groups without a word, are left out.

    Examples
    --------
    >>> import topoi
    >>> corpus = topoi.Corpus.from_tokens([["a", "b"]] * 4, dates=[1990, 1990, 1991, 1992])
    >>> topoi.topic_trends(topoi.LDA(1, n_iter=2, random_state=0).fit(corpus))["n_words"].tolist()
    [4.0, 2.0, 2.0]
    """
    need_topics(model, "their shares were asked for")
    if corpus is None:
        if _has_ready(model, by) and level in (None, LEVEL):
            return _trend_frame(model.yearly_shares(by), by, "topic", None, level)
        first = model.chains_[0]
        documents, counts, draws = model.catalogue_.documents, first.documents, first.document_draws()
        place, values = _placed(documents, counts.totals, by)
        doc, topic, number = counts.cells()
        table = _table((doc, topic, number), place, len(values), first.n_topics)
        return _trend_frame(_trend(values, table, place, counts.totals, draws, level), by, "topic", None, level)
    model = model.load() if isinstance(model, InStore) else model
    if not isinstance(corpus, Corpus):
        raise ModelError(f"corpus is {type(corpus).__name__}; pass a topoi.Corpus, whose documents have columns")
    counts, draws = (model.topic_counts(corpus), None) if level is None else model.topic_draws(corpus)
    lengths = counts.sum(axis=1)
    place, values = _placed(corpus.documents, lengths, by)
    table = np.zeros((len(values), counts.shape[1]))
    np.add.at(table, place[place >= 0], counts[place >= 0])
    return _trend_frame(_trend(values, table, place, lengths, draws, level), by, "topic", None, level)


def _has_ready(model: Any, by: str) -> bool:
    """Whether the model is one in a store that has the trend in its rows."""
    return isinstance(model, InStore) and model.has_periods(by)


def node_trends(model: Any, by: str = "year", level: float | None = LEVEL) -> pd.DataFrame:
    """Share of words per super-topic for each year, decade or value of any column (training corpus, first chain).

    Parameters
    ----------
    model : PachinkoAllocation or ModelView
        A fitted model over a graph.
    by : str
        A column of ``corpus.documents``, or "decade".
    level : float, optional
        Each interval holds this much probability, as in ``topic_trends``; None leaves intervals out.

    Returns
    -------
    DataFrame
        The ``by`` column, node (a name), share (of the group's words, those whose paths lead through the node),
        n_words, lower, upper. Super-topics are nodes with children, the root left out; they may lie above each other,
        so shares need not sum to one.

    Examples
    --------
    >>> import topoi
    >>> corpus = topoi.Corpus.from_tokens([["a", "b"]] * 4, dates=[1990, 1990, 1991, 1992])
    >>> topoi.node_trends(topoi.PachinkoAllocation(1, 2, n_iter=2, random_state=0).fit(corpus))["n_words"].tolist()
    [4, 2, 2]
    """
    need_graph(model)
    names = [model.dag_.nodes[v] for v in model.super_nodes]
    if _has_ready(model, by) and level in (None, LEVEL):
        trend = model.yearly_node_shares(by)
    else:
        first = model.chains_[0]
        lengths = first.documents.totals
        place, values = _placed(model.catalogue_.documents, lengths, by)
        doc, node, number = first.passing(0, len(lengths))
        cells = doc, np.searchsorted(model.super_nodes, node), number
        trend = _trend(values, _table(cells, place, len(values), len(names)), place, lengths, first.node_draws(), level)
    frame = _trend_frame(trend, by, "node", names, level)
    return frame.assign(n_words=whole_tokens(frame["n_words"].to_numpy()))


def _placed(documents: pd.DataFrame, lengths: NDArray[Any], by: str) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Position of each document's value, -1 for those without words or value, and the sorted distinct values."""
    group = column_of(documents, by, _COLUMNS)
    known = group.notna().to_numpy() & (lengths > 0)
    if not known.any():
        raise ModelError(f"no document with words has a value for {by!r}")
    try:
        values, at = np.unique(group[known].to_numpy(), return_inverse=True)
    except TypeError:
        raise ModelError(f"the values of {by!r} cannot be put in order; give another column") from None
    place = np.full(len(group), -1)
    place[known] = at
    return place, values


def _table(
    cells: tuple[NDArray[Any], ...], place: NDArray[np.int64], n_groups: int, n_columns: int
) -> NDArray[np.float64]:
    """Words per group and topic (or node), from those of documents."""
    doc, column, number = cells
    at = place[doc] * n_columns + column
    inside = place[doc] >= 0
    table = np.bincount(at[inside], np.asarray(number, np.float64)[inside], n_groups * n_columns)
    return np.asarray(table, np.float64).reshape(n_groups, n_columns)


def _trend(
    values: NDArray[Any],
    table: NDArray[np.float64],
    place: NDArray[np.int64],
    lengths: NDArray[Any],
    draws: Draws | None,
    level: float | None,
) -> Trend:
    words = np.bincount(place[place >= 0], lengths[place >= 0], len(values)).astype(np.float64)
    share = table / words[:, None]
    if level is None or draws is None:
        return Trend(values, words, table, share, share, share)
    groups = Groups(place, np.asarray(lengths, np.float64), len(values))
    return Trend(values, words, table, share, *share_bands(groups, draws, share, level))


def _trend_frame(trend: Trend, by: str, column: str, names: list[str] | None, level: float | None) -> pd.DataFrame:
    """Frame of a trend, a row for each period and topic or node."""
    n_periods, n_columns = trend.share.shape
    columns: dict[str, Any] = {
        by: np.repeat(trend.periods, n_columns),
        column: np.tile(np.arange(n_columns), n_periods) if names is None else names * n_periods,
        "share": trend.share.ravel(),
        "n_words": trend.counts.ravel(),
    }
    if level is not None:
        columns |= {"lower": trend.lower.ravel(), "upper": trend.upper.ravel()}
    return pd.DataFrame(columns)


def topic_moves(
    model: Any,
    trends: pd.DataFrame,
    corpus: Corpus | None = None,
    level: float = LEVEL,
) -> pd.DataFrame:
    """``hottest_topics`` with intervals: a topic whose change is not clear, given its interval, has direction 0.

    The documents of each tenth are a group like any other, and are resampled as such
    (``topoi.models.share_moments``); those of the period in which a tenth ends count in part.

    Parameters
    ----------
    model : fitted model with topics, or ModelView
        The model that the trends are of.
    trends : DataFrame
        As ``topic_trends`` returns it.
    corpus : Corpus, optional
        The documents that the trends are of; the training corpus if not given.
    level : float
        Each interval holds this much probability.

    Returns
    -------
    DataFrame
        topic, first, first_lower, first_upper, last, last_lower, last_upper, change, lower, upper (of the change),
        direction.

    Examples
    --------
    >>> import topoi
    >>> from topoi.analysis.trends import topic_moves
    >>> corpus = topoi.Corpus.from_tokens([["a", "b"]] * 20 + [["c", "d"]] * 20, dates=[1990] * 20 + [1991] * 20)
    >>> model = topoi.LDA(2, alpha=0.1, n_iter=50, random_state=0).fit(corpus)
    >>> topic_moves(model, topoi.topic_trends(model))["direction"].tolist()
    [1, -1]
    """
    found = placed_documents(model, trends, corpus)
    fractions = [found.part(tenth(found.words, way)) for way in (1, -1)]
    frame = hottest_topics(trends)
    topics, tail = frame["topic"].to_numpy(np.int64), checked_tail(level)
    deviations = change_deviations(found.documents, *fractions)[:, topics]
    for name, deviation in zip(("first", "last"), deviations, strict=False):
        ends = Moments(frame[name].to_numpy(), deviation).interval(level)
        frame[f"{name}_lower"], frame[f"{name}_upper"] = ends
    reach = NormalDist().inv_cdf(1.0 - tail) * deviations[2]
    frame["lower"], frame["upper"] = frame["change"] - reach, frame["change"] + reach
    frame["direction"] = np.where(frame["change"].abs() > reach, frame["direction"], 0)
    return _by_change(frame[list(_MOVES)])


class PlacedDocuments(NamedTuple):
    """Documents of trends: their words per topic, the place of each one's period (-1: none), words of all periods."""

    documents: SmoothedCounts
    place: NDArray[np.int64]
    words: NDArray[np.float64]
    periods: NDArray[Any]

    def part(self, of_periods: NDArray[np.float64]) -> NDArray[np.float64]:
        """The part of each document that is in a stretch of time, from the part of each period that is in it."""
        return np.asarray(np.append(of_periods, 0.0)[self.place])


def placed_documents(model: Any, trends: pd.DataFrame, corpus: Corpus | None = None) -> PlacedDocuments:
    """The documents that trends are of, with their periods; of the training corpus if none is given."""
    by = str(trends.columns[0])
    words = trends.groupby(by)["n_words"].sum().sort_index()
    if corpus is None:
        documents = model.chains_[0].documents
        values = _values(model, by)
    else:
        model = model.load() if isinstance(model, InStore) else model
        counts = model.topic_counts(corpus)
        documents = SmoothedCounts.from_counts(counts, np.zeros(counts.shape[1]), _PARTS)
        values = column_of(corpus.documents, by)
    place = pd.Series(np.arange(len(words)), words.index).reindex(values).fillna(-1).to_numpy(np.int64)
    return PlacedDocuments(documents, place, words.to_numpy(float), words.index.to_numpy())


def _values(model: Any, by: str) -> pd.Series:
    """Values of a column of the training documents; of a store, years are quicker to read than all columns."""
    if _has_ready(model, by):
        return pd.Series(model.catalogue_.document_years() // PERIODS[by] * PERIODS[by])
    return column_of(model.catalogue_.documents, by)


def hottest_topics(trends: pd.DataFrame) -> pd.DataFrame:
    """Topics from the steepest rise to the steepest fall: topic, first, last, change, direction.

    ``first`` and ``last`` are a topic's shares of the earliest and of the latest tenth of all words, so that a year
    with few words has little weight; ``change`` is their difference. ``direction`` is 1 for a rising topic, -1 for a
    falling one, and 0 if both shares print the same in per cent (one decimal below ten).

    Parameters
    ----------
    trends : DataFrame
        As ``topic_trends`` returns it; sorted here by its first column.

    Examples
    --------
    >>> import pandas as pd
    >>> from topoi.analysis.trends import hottest_topics
    >>> columns = {"year": [1, 1, 2, 2], "topic": [0, 1, 0, 1], "share": [0.1, 0.9, 0.3, 0.7], "n_words": 1}
    >>> found = hottest_topics(pd.DataFrame(columns))
    >>> found["topic"].tolist(), found["change"].round(3).tolist(), found["direction"].tolist()
    ([0, 1], [0.2, -0.2], [1, -1])
    """
    by = trends.columns[0]
    share = trends.pivot(index=by, columns="topic", values="share").fillna(0.0).sort_index()
    words = trends.groupby(by)["n_words"].sum().to_numpy(dtype=float)
    taken = np.stack([words * tenth(words, way) for way in (1, -1)])
    first, last = taken @ share.to_numpy() / np.maximum(taken.sum(axis=1, keepdims=True), 1e-300)
    shown = as_written(np.stack((first, last)))
    columns = {"topic": share.columns, "first": first, "last": last, "change": last - first}
    direction = (shown[1] > shown[0]).astype(np.int64) - (shown[1] < shown[0])
    return _by_change(pd.DataFrame(columns | {"direction": direction}))


def _by_change(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.sort_values(["direction", "change"], ascending=False, kind="stable", ignore_index=True)


def tenth(words: NDArray[np.float64], way: int = 1) -> NDArray[np.float64]:
    """Part of each period's words that is in the first tenth of all words; in the last tenth if ``way`` is -1.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.analysis.trends import tenth
    >>> tenth(np.array([2.0, 40.0, 58.0])).tolist(), tenth(np.array([2.0, 40.0, 58.0]), -1).round(3).tolist()
    ([1.0, 0.2, 0.0], [0.0, 0.0, 0.172])
    """
    ordered = words[::way]
    before = np.cumsum(ordered) - ordered
    taken = np.clip(0.1 * words.sum() - before, 0.0, ordered) / np.maximum(ordered, 1e-300)
    return np.asarray(taken[::way])


def as_written(share: NDArray[np.float64]) -> NDArray[np.float64]:
    """Shares rounded to per cent as tables print them: two that look the same are the same.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.analysis.trends import as_written
    >>> as_written(np.array([0.00231, 0.4167])).tolist()
    [0.2, 42.0]
    """
    return np.where(share >= 0.0995, np.round(100.0 * share), np.round(100.0 * share, 1))


def column_of(documents: pd.DataFrame, by: str, own: tuple[str, ...] = ()) -> pd.Series:
    """Values of a column of the documents, or their decades; ``own`` are columns of the result."""
    if by in own:
        raise ModelError(f"{by!r} is a column of the result; rename it in corpus.documents to group by it")
    if by == "decade" and "decade" not in documents and "year" in documents:
        return documents["year"] // 10 * 10
    if by == "authors" and by not in documents:
        what = "a document may have several authors, so 'authors' makes no groups here"
        raise ModelError(f"{what}; compare_groups takes it, for two authors")
    if by not in documents:
        raise ModelError(f"the documents have no column {by!r}; there are: {', '.join(map(str, documents))}")
    return documents[by]
