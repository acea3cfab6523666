"""Validation and lookup of arguments: models, authors, topics, nodes, texts and documents.

Queries take a fitted model or a ``ModelView`` (a model in a store). Both have ``catalogue_`` (authors, documents),
``chains_`` (counts), ``vocabulary_`` and ``authors_``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from topoi.errors import ModelError, NotFoundError
from topoi.models.contract import HasTopics, InStore, ModelLike
from topoi.models.names import find_name
from topoi.models.notices import warn_user
from topoi.models.registry import giving

_LONGEST_ID, _LONGEST_TITLE = 100, 300
# A longer argument is taken for a text, not for a mistyped title.
_MOST_WORDS_OF_A_NAME = 12
_SHOWN = 5


def need_fitted(model: ModelLike) -> None:
    """Refuse a model that is not fitted."""
    if not isinstance(model, InStore):
        from sklearn.utils.validation import check_is_fitted  # slow to import, and a view does without

        check_is_fitted(model, "n_iter_")


def class_name(model: ModelLike) -> str:
    """Name of the model's class, also for a model in a store."""
    return model.family if isinstance(model, InStore) else type(model).__name__


def has_topics(model: ModelLike) -> bool:
    """Whether a fitted model has topics; the author model has none."""
    return isinstance(next(iter(model.chains_), None), HasTopics)


def need_topics(model: ModelLike, why: str, instead: str = "topics") -> None:
    """Refuse a model that is not fitted or has no topics; ``why`` says what the topics are needed for.

    ``instead`` is what a model must offer to be suggested in the error message.
    """
    need_fitted(model)
    if not has_topics(model):
        raise ModelError(f"{class_name(model)} has no topics, and {why}; fit {giving(instead)}")


def need_authors(model: ModelLike) -> None:
    """Refuse a model that is not fitted or has no authors."""
    need_fitted(model)
    if not len(model.authors_):
        raise ModelError(f"{class_name(model)} has no authors; fit {giving('authors')}")


def find_author(model: ModelLike, author: object) -> int:
    """Find the number of an author, given by name or by number."""
    if isinstance(author, str):
        return int(model.catalogue_.find_author(author))
    if isinstance(author, bool) or not isinstance(author, int | np.integer):
        raise ModelError(f"author is {author!r}; pass a name, as in {str(model.authors_[0])!r}")
    if not 0 <= author < len(model.authors_):
        raise NotFoundError(f"there is no author {author!r}; authors are numbered 0 to {len(model.authors_) - 1}")
    return int(author)


def need_topic(model: ModelLike, topic: object) -> int:
    """Return the number of an existing topic; any other is a ``NotFoundError``."""
    n_topics = model.chains_[0].n_topics
    if isinstance(topic, bool) or not isinstance(topic, int | np.integer) or not 0 <= topic < n_topics:
        raise NotFoundError(f"there is no topic {topic!r}; topics are numbered 0 to {n_topics - 1}")
    return int(topic)


def need_graph(model: Any) -> None:
    """Refuse a model that is not fitted, or has no graph of topics."""
    need_fitted(model)
    if not model.has_graph:
        raise ModelError(f"{class_name(model)} has no graph of topics; fit {giving('graph')}")


def find_node(model: Any, node: object) -> int:
    """Find the number of a node of the graph, given by name or by number."""
    nodes = model.dag_.nodes
    if isinstance(node, str):
        return find_name(node, np.array(nodes, object), "node")
    if isinstance(node, bool) or not isinstance(node, int | np.integer) or not 0 <= node < len(nodes):
        raise NotFoundError(f"there is no node {node!r}; pass a name, or a number from 0 to {len(nodes) - 1}")
    return int(node)


class Words(NamedTuple):
    """Bag of words of a text: its distinct known words, their counts, and the number of unknown words."""

    word: NDArray[np.int64]
    times: NDArray[np.int64]
    n_unknown: int

    @property
    def n_known(self) -> int:
        """Number of known words, counting repetitions."""
        return int(self.times.sum())


def words_of(model: ModelLike, text: object) -> Words:
    """Tokenize a text as the training texts were; a text without a known word is a ``ModelError``."""
    if not isinstance(text, str):
        raise ModelError(f"text is {type(text).__name__}; pass one string")
    encoded = model.vocabulary_.encode([text])
    if not len(encoded.tokens):
        raise ModelError("the model knows none of the words of this text, so it cannot say anything about it")
    return Words(*np.unique(encoded.tokens, return_counts=True), int(encoded.n_unknown))


def find_document(model: ModelLike, document: object, text: bool = False) -> int | None:
    """Find the position of a training document, given as a position, an id or a title; None for a new text.

    A part of a title is enough if no other document has it. Anything else is read as a new text, with a warning if it
    is short; ``text=True`` skips the lookup.
    """
    if not isinstance(document, str):
        return _checked_position(model, document)
    at = None if text else _titled(model, document)
    if at is not None:
        return at
    if not len(model.vocabulary_.encode([document]).tokens):
        near = "" if len(document) >= _LONGEST_ID else model.catalogue_.near_documents(document)
        what = "no text" if text else "neither the id nor the title of a document, nor a text"
        raise NotFoundError(f"{_short(document)!r} is {what} with a known word{near}")
    if not text and len(document.split()) <= _MOST_WORDS_OF_A_NAME:
        near = "" if len(document) >= _LONGEST_ID else model.catalogue_.near_documents(document)
        warn_user(f"no document has the id or title {_short(document)!r}: it is read as a new text{near}")
    return None


def need_document(model: ModelLike, document: object) -> int:
    """Find the position of a training document, given as a position, an id or a title; else ``NotFoundError``."""
    if not isinstance(document, str):
        return _checked_position(model, document)
    at = _titled(model, document)
    if at is None:
        near = "" if len(document) >= _LONGEST_ID else model.catalogue_.near_documents(document)
        raise NotFoundError(f"there is no document with the id or title {_short(document)!r}{near}")
    return at


def _titled(model: ModelLike, document: str) -> int | None:
    """Find the document of an id, a title, or a part of a title; None if none matches, an error if several do."""
    catalogue = model.catalogue_
    at = catalogue.find_document(document)
    if at is not None or len(document) > _LONGEST_TITLE:
        return None if at is None else int(at)
    found = catalogue.find_titles(document)
    if len(found) > 1:
        columns = catalogue.document_columns(np.array(found[:_SHOWN]))
        shown = ", ".join(f"{i} ({_short(t)})" for i, t in zip(columns["id"], columns["title"], strict=True))
        more = f" and {len(found) - _SHOWN:,} more" if len(found) > _SHOWN else ""
        message = f"{len(found):,} documents have {_short(document)!r} in their title: {shown}{more}"
        raise NotFoundError(f"{message}; pass an id, or say that it is a text")
    return int(found[0]) if found else None


def _short(text: str) -> str:
    return text if len(text) < 60 else f"{text[:57]}..."


def _checked_position(model: ModelLike, document: object) -> int:
    catalogue = model.catalogue_
    if isinstance(document, bool) or not isinstance(document, int | np.integer):
        raise ModelError(f"document is {type(document).__name__}; pass a position, an id, a title or a text")
    if not 0 <= document < catalogue.size:
        raise NotFoundError(f"there is no document {document}; documents are numbered 0 to {catalogue.size - 1}")
    return int(document)


def with_rank(frame: pd.DataFrame, at: int, rows: NDArray[Any] | None = None) -> pd.DataFrame:
    """Insert a column ``rank``, from 1; ``attrs["rows"]`` keeps the numbers of the authors or documents listed."""
    frame.insert(at, "rank", np.arange(1, len(frame) + 1))
    if rows is not None:
        frame.attrs["rows"] = rows.tolist()
    return frame
