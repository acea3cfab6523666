"""Topic shares along a feature: predicted from metadata, and those of the training documents."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from topoi.analysis.features import axis, feature_columns, find_feature, groups, training_values
from topoi.analysis.given import need_topic
from topoi.errors import ModelError
from topoi.models.features.columns import Column, Number, as_names, as_numbers
from topoi.models.validation import whole_number

_OWN_COLUMNS = ("given", "topic", "mean", "lower", "upper")


def share_curve(
    model: Any,
    along: str | None = None,
    given: Any = None,
    topics: Sequence[int] | None = None,
    values: Iterable[Any] | None = None,
    n: int = 60,
    level: float = 0.8,
    noise: bool = False,
) -> pd.DataFrame:
    """Topic shares along a feature, with bands: "how much would this author have written about it, year by year?"

    All other features have typical values: a number its mean, a category the commonest one, authors and other names one
    that no training document has, and links none.

    Parameters
    ----------
    model : KernelTopicModel or DirichletMultinomialRegression
        A fitted model.
    along : str, optional
        A feature; the first number or date, or else the first feature, if not given.
    given : mapping or DataFrame, optional
        Values of other features, one curve for each row: ``{"authors": ["Ann", "Bob"]}`` gives two curves,
        ``{"authors": [["Ann", "Bob"]]}`` one, of documents that both write together. A value None is the typical one.
    topics : list of int, optional
        Numbers of the topics; all if not given.
    values : list, optional
        Values of the feature; a grid over the training range, or the 20 names with most documents, if not given.
    n : int
        Largest number of points of a grid.
    level : float
        Each band holds this much probability.
    noise : bool
        Whether bands are those of a single new document; by default they are those of the mean curve.

    Returns
    -------
    DataFrame
        The feature, given (a text for the legend), topic, mean, lower, upper.

    Examples
    --------
    >>> import topoi
    >>> words = [["war"] * 20 if year < 1950 else ["trade"] * 20 for year in range(1900, 2000)]
    >>> corpus = topoi.Corpus.from_tokens(words, dates=list(range(1900, 2000)))
    >>> model = topoi.KernelTopicModel(2, features=["year"], n_iter=40, n_warmup=20, random_state=0).fit(corpus)
    >>> frame = topoi.share_curve(model, "year", n=4, topics=[0])
    >>> list(frame.columns), frame["year"].tolist()
    (['year', 'given', 'topic', 'mean', 'lower', 'upper'], [1900.0, 1933.0, 1966.0, 1999.0])
    """
    columns = feature_columns(model)
    column = find_feature(columns, along)
    if column.name in _OWN_COLUMNS:
        raise ModelError(f"{column.name!r} is a column of the result; rename it in corpus.documents to go along it")
    chosen = _chosen(model, topics)
    at = axis(model, column, values, whole_number("n", n, 2))
    rows = groups(model, given, column.name)
    source = {name: [row[1].get(name) for row in rows for _ in at] for name in columns} | {column.name: at * len(rows)}
    found = model.predict(source, level=level, noise=noise)
    shape = (len(rows), len(at), model.chains_[0].n_topics)
    parts = {name: found[name].to_numpy().reshape(shape)[:, :, chosen] for name in ("mean", "lower", "upper")}
    shown = [_shown(column, value) for value in at] if not isinstance(column, Number) else at
    n_chosen = len(chosen)
    return pd.DataFrame(
        {
            column.name: np.tile(np.repeat(np.array(shown, object), n_chosen), len(rows)),
            "given": np.repeat(np.array([name for name, _ in rows], object), len(at) * n_chosen),
            "topic": np.tile(np.array(chosen, np.int64), len(rows) * len(at)),
            **{name: part.ravel() for name, part in parts.items()},
        }
    ).infer_objects()


def document_points(model: Any, along: str | None = None, given: Any = None) -> pd.DataFrame:
    """Training documents to plot beside a curve: their values of a feature, and their topic shares.

    Parameters
    ----------
    model : KernelTopicModel or DirichletMultinomialRegression
        A fitted model with its metadata.
    along : str, optional
        A number or date; the first one if not given.
    given : mapping, optional
        As in ``share_curve``: select the documents that have all these names. Numbers do not select.

    Returns
    -------
    DataFrame
        The feature, given, document, and a column of shares for each topic (by number).

    Examples
    --------
    >>> import topoi
    >>> from topoi.analysis.shares import document_points
    >>> corpus = topoi.Corpus.from_tokens([["a"], ["b"]] * 4, dates=list(range(1990, 1998)))
    >>> model = topoi.DirichletMultinomialRegression(2, features=["year"], n_iter=2, random_state=0).fit(corpus)
    >>> document_points(model, "year")["document"].tolist()
    [0, 1, 2, 3, 4, 5, 6, 7]
    """
    columns = feature_columns(model)
    column = find_feature(columns, along)
    if not isinstance(column, Number):
        raise ModelError(f"{column.name!r} is no number or date: documents are not points along it")
    place = as_numbers(column.name, training_values(model, column), column.date)
    shares = np.asarray(model.doc_topic_)
    parts = []
    for name, row in groups(model, given, column.name):
        chosen = np.flatnonzero(~np.isnan(place) & _has(model, columns, row, given))
        frame = pd.DataFrame({column.name: place[chosen], "given": name, "document": chosen})
        parts.append(pd.concat([frame, pd.DataFrame(shares[chosen])], axis=1))
    return pd.concat(parts, ignore_index=True)


def _chosen(model: Any, topics: Any) -> list[int]:
    if topics is None:
        return list(range(model.chains_[0].n_topics))
    if not isinstance(topics, Iterable):
        raise ModelError(f"topics is {topics!r}; pass a list of topics")
    found = [need_topic(model, k) for k in topics]
    if not found:
        raise ModelError("topics is empty; name at least one topic")
    return found


def _shown(column: Column, value: Any) -> str:
    return ", ".join(as_names([value], getattr(column, "single", False))[0])


def _has(model: Any, columns: dict[str, Column], row: dict[str, Any], given: Any) -> Any:
    """Mask of the documents that have all names of a row; an unseen name, which no document has, is ignored."""
    found = np.ones(model.corpus_.n_docs, bool)
    for name in given if given is not None else ():
        column = columns[name]
        if isinstance(column, Number):
            continue
        single = getattr(column, "single", False)
        wanted = set(as_names([row[name]], single)[0])
        if wanted <= set(getattr(column, "levels", wanted)):
            found &= [wanted <= set(own) for own in as_names(training_values(model, column), single)]
    return found
