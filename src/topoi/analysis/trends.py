"""Trends of topics along time or any other column of the documents."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from topoi.analysis.given import need_graph, need_topics
from topoi.corpus.corpus import Corpus
from topoi.errors import ModelError
from topoi.models.contract import InStore
from topoi.models.smoothed_counts import whole_tokens

_COLUMNS = ("topic", "node", "share", "n_words")


def topic_trends(model: Any, corpus: Corpus | None = None, by: str = "year") -> pd.DataFrame:
    """Share of words per topic for each year, decade or value of any column (AT04, section 4.1).

    Shares are of words, without smoothing. Training documents count with their sampled assignments, whether ``corpus``
    is the training corpus, an equal one, or a part of it. Other documents count with expected numbers, given their
    words and, if the model uses them, their authors or metadata.

    Parameters
    ----------
    model : fitted model with topics, or ModelView
        A store has the trends by year and decade precomputed; for other columns, or a corpus, the model is loaded.
    corpus : Corpus, optional
        The documents; the training corpus if not given.
    by : str
        A column of ``corpus.documents``, or "decade".

    Returns
    -------
    DataFrame
        The ``by`` column, topic, share (of the group's words), n_words (expected numbers need not be whole). Documents
        without a value, and groups without a word, are left out.

    Examples
    --------
    >>> import topoi
    >>> corpus = topoi.Corpus.from_tokens([["a", "b"]] * 4, dates=[1990, 1990, 1991, 1992])
    >>> topoi.topic_trends(topoi.LDA(1, n_iter=2, random_state=0).fit(corpus))["n_words"].tolist()
    [4.0, 2.0, 2.0]
    """
    need_topics(model, "their shares were asked for")
    if corpus is None and _has_ready(model, by):
        values, table = model.yearly_counts(by)
        return _trend_frame(values, table, by)
    model = _loaded(model)
    documents = model.corpus_ if corpus is None else corpus
    if not isinstance(documents, Corpus):
        raise ModelError(f"corpus is {type(documents).__name__}; pass a topoi.Corpus, whose documents have columns")
    group = _groups(documents, by)
    counts = model.topic_counts(documents)
    known, values, at = _places(group, counts.sum(axis=1) > 0, by)
    table = np.zeros((len(values), counts.shape[1]))
    np.add.at(table, at, counts[known])
    return _trend_frame(values, table, by)


def _has_ready(model: Any, by: str) -> bool:
    """Whether the model is one in a store that has the trend in its rows."""
    return isinstance(model, InStore) and model.has_periods(by)


def _loaded(model: Any) -> Any:
    """The model itself, if this is a view of one in a store."""
    return model.load() if isinstance(model, InStore) else model


def node_trends(model: Any, by: str = "year") -> pd.DataFrame:
    """Share of words per super-topic for each year, decade or value of any column (training corpus, first chain).

    Parameters
    ----------
    model : PachinkoAllocation or ModelView
        A fitted model over a graph.
    by : str
        A column of ``corpus.documents``, or "decade".

    Returns
    -------
    DataFrame
        The ``by`` column, node (a name), share (of the group's words, those whose paths lead through the node),
        n_words. Super-topics are nodes with children, the root left out; they may lie above each other, so
        shares need not sum to one.

    Examples
    --------
    >>> import topoi
    >>> corpus = topoi.Corpus.from_tokens([["a", "b"]] * 4, dates=[1990, 1990, 1991, 1992])
    >>> topoi.node_trends(topoi.PachinkoAllocation(1, 2, n_iter=2, random_state=0).fit(corpus))["n_words"].tolist()
    [4, 2, 2]
    """
    need_graph(model)
    if _has_ready(model, by):
        values, total, table = model.yearly_node_counts(by)
    else:
        model = _loaded(model)
        lengths = model.corpus_.doc_lengths
        known, values, at = _places(_groups(model.corpus_, by), lengths > 0, by)
        place = np.full(len(lengths), len(values), np.int64)  # documents without a value go to an extra row
        place[known] = at
        total = np.bincount(at, lengths[known], len(values))
        doc, node, number = model.node_counts()
        table = np.zeros((len(values) + 1, len(model.super_nodes)))
        np.add.at(table, (place[doc], np.searchsorted(model.super_nodes, node)), number)
        table = table[:-1]
    names = [model.dag_.nodes[v] for v in model.super_nodes]
    return pd.DataFrame(
        {
            by: np.repeat(values, len(names)),
            "node": names * len(values),
            "share": (table / total[:, None]).ravel(),
            "n_words": whole_tokens(table.ravel()),
        }
    )


def _places(group: pd.Series, has_words: NDArray[np.bool_], by: str) -> tuple[NDArray[Any], ...]:
    """Mask of documents with words and a value, the sorted distinct values, and the index of each document's value."""
    known = group.notna().to_numpy() & has_words
    if not known.any():
        raise ModelError(f"no document with words has a value for {by!r}")
    try:
        return known, *np.unique(group[known].to_numpy(), return_inverse=True)
    except TypeError:
        raise ModelError(f"the values of {by!r} cannot be put in order; give another column") from None


def _trend_frame(values: NDArray[Any], table: NDArray[np.float64], by: str) -> pd.DataFrame:
    """Frame of shares from a table of words per value and topic."""
    n_topics = table.shape[1]
    return pd.DataFrame(
        {
            by: np.repeat(values, n_topics),
            "topic": np.tile(np.arange(n_topics), len(values)),
            "share": (table / table.sum(axis=1, keepdims=True)).ravel(),
            "n_words": table.ravel(),
        }
    )


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
    first = _share_of_tenth(share.to_numpy(), words)
    last = _share_of_tenth(share.to_numpy()[::-1], words[::-1])
    shown = np.array([[_as_written(x) for x in side] for side in (first, last)])
    columns = {"topic": share.columns, "first": first, "last": last, "change": last - first}
    direction = (shown[1] > shown[0]).astype(np.int64) - (shown[1] < shown[0])
    frame = pd.DataFrame(columns | {"direction": direction})
    return frame.sort_values(["direction", "change"], ascending=False, kind="stable", ignore_index=True)


def _share_of_tenth(share: NDArray[np.float64], words: NDArray[np.float64]) -> NDArray[np.float64]:
    """Share of each topic in the first tenth of all words; the period in which the tenth ends counts in part."""
    before = np.cumsum(words) - words
    taken = np.clip(0.1 * words.sum() - before, 0.0, words)
    return np.asarray(taken @ share / max(taken.sum(), 1e-300))


def _as_written(share: float) -> float:
    """Round a share to per cent as tables print it."""
    return round(100.0 * share, 0 if share >= 0.0995 else 1)


def _groups(corpus: Corpus, by: str) -> pd.Series:
    documents = corpus.documents
    if by in _COLUMNS:
        raise ModelError(f"{by!r} is a column of the result; rename it in corpus.documents to group by it")
    if by == "decade" and "decade" not in documents and "year" in documents:
        return documents["year"] // 10 * 10
    if by not in documents:
        raise ModelError(f"the documents have no column {by!r}; there are: {', '.join(map(str, documents))}")
    return documents[by]
