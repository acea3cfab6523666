"""Documents that a document links to, and that link to it, with their topics."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from topoi.analysis.features import feature_columns, training_values
from topoi.analysis.given import need_document
from topoi.errors import ModelError
from topoi.models.contract import ModelLike
from topoi.models.features.columns import Column, Links, Names, as_names
from topoi.models.validation import whole_number


def link_features(model: Any) -> list[str]:
    """Names of the model's features that are links between its documents.

    Examples
    --------
    >>> import topoi
    >>> from topoi.analysis.links import link_features
    >>> corpus = topoi.Corpus.from_tokens([["a"]] * 3, ids=["x", "y", "z"], metadata={"cites": [["y"], ["z"], ["x"]]})
    >>> link_features(topoi.KernelTopicModel(2, features=["cites"], n_iter=3, n_warmup=2, random_state=0).fit(corpus))
    ['cites']
    """
    columns = feature_columns(model)
    ids = set(model.corpus_.documents["id"])
    return [name for name, column in columns.items() if _is_links(column, ids)]


def _is_links(column: Column, ids: set[str]) -> bool:
    """Whether a column holds links; a regression stores links as names, so names that are document ids count too."""
    if isinstance(column, Links):
        return True
    if not isinstance(column, Names) or column.single or column.name == "authors":
        return False
    return 2 * len(ids.intersection(column.levels)) >= len(column.levels) > 0


def link_neighbourhood(model: Any, document: int | str, feature: str | None = None, n: int = 12) -> pd.DataFrame:
    """Documents linked with one document, in either direction, each with its strongest topic.

    Parameters
    ----------
    model : KernelTopicModel or DirichletMultinomialRegression
        A fitted model with links among its features.
    document : int or str
        A training document's position, id or title.
    feature : str, optional
        Name of a feature of links; the first one if not given.
    n : int
        Number of documents on either side: those whose topics are most like the document's.

    Returns
    -------
    DataFrame
        document (position), id, title and year if there are any, relation ("itself", "links here", "linked", or
        "both"), similarity (Σ √(share · share'), 1 for the same topics), topic, share. ``attrs["n_left_out"]`` counts
        the others.

    Examples
    --------
    >>> import topoi
    >>> links = [["y"], [], ["y"], ["x"]]
    >>> corpus = topoi.Corpus.from_tokens([["a"]] * 4, ids=["x", "y", "z", "w"], metadata={"cites": links})
    >>> model = topoi.KernelTopicModel(2, features=["cites"], n_iter=3, n_warmup=2, random_state=0).fit(corpus)
    >>> topoi.link_neighbourhood(model, "x")[["id", "relation"]].to_numpy().tolist()
    [['x', 'itself'], ['w', 'links here'], ['y', 'linked']]
    """
    name = _checked_feature(model, feature)
    position = need_document(model, document)
    most = whole_number("n", n)
    out, back = _neighbours(model, name, position)
    shares = np.asarray(model.doc_topic_)
    similarity = np.sqrt(shares) @ np.sqrt(shares[position])
    parts = [(position, "itself")]
    for found, relation in ((back - out, "links here"), (out, "linked")):
        nearest = sorted(found, key=lambda d: (-similarity[d], d))[:most]
        parts += [(d, "both" if relation == "linked" and d in back else relation) for d in nearest]
    rows = np.array([d for d, _ in parts], np.int64)
    strongest = shares[rows].argmax(axis=1)
    frame = pd.DataFrame(
        {
            **model.catalogue_.document_columns(rows),
            "relation": [relation for _, relation in parts],
            "similarity": similarity[rows],
            "topic": strongest,
            "share": shares[rows, strongest],
        }
    )
    frame.attrs["n_left_out"] = len(out | back) + 1 - len(rows)
    return frame


def _checked_feature(model: ModelLike, feature: str | None) -> str:
    there = link_features(model)
    if not there:
        raise ModelError("none of the model's features are links between its documents")
    if feature is not None and feature not in there:
        raise ModelError(f"{feature!r} is no feature of links; there are: {', '.join(map(repr, there))}")
    return there[0] if feature is None else feature


def _neighbours(model: Any, name: str, position: int) -> tuple[set[int], set[int]]:
    """Documents that a document links to, and those that link to it."""
    rows = as_names(training_values(model, feature_columns(model)[name]), False)
    ids = [str(each) for each in model.corpus_.documents["id"]]
    place = {each: d for d, each in enumerate(ids)}
    out = {place[to] for to in rows[position] if to in place} - {position}
    back = {d for d, row in enumerate(rows) if ids[position] in row} - {position}
    return out, back
