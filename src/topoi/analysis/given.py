"""What people hand to a question, checked and found: models, texts, documents; and how answers name documents."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from topoi.corpus.corpus import Corpus
from topoi.corpus.vocabulary import close_matches
from topoi.errors import ModelError, NotFoundError


def has_topics(model: Any) -> bool:
    """Whether a fitted model has topics; the author model has none."""
    # Asked of a method, because asking for ``topic_word_`` would compute it.
    return hasattr(model, "topic_sizes")


def need_topics(model: Any, why: str, instead: str = "an AuthorTopicModel or LDA") -> None:
    """Refuse a model that is not fitted or has no topics; ``why`` says what the topics are needed for."""
    check_is_fitted(model, "n_iter_")
    if not has_topics(model):
        raise ModelError(f"{type(model).__name__} has no topics, and {why}; fit {instead}")


def need_authors(model: Any) -> None:
    """Refuse a model that is not fitted or tells no authors apart."""
    check_is_fitted(model, "n_iter_")
    if not len(model.authors_):
        raise ModelError(f"{type(model).__name__} has no authors; fit an AuthorTopicModel")


def need_topic(model: Any, topic: Any) -> int:
    """The number of a topic that exists."""
    n_topics = model.chains_[0].n_topics
    if isinstance(topic, bool) or not isinstance(topic, int | np.integer) or not 0 <= topic < n_topics:
        raise NotFoundError(f"there is no topic {topic!r}; topics are numbered 0 to {n_topics - 1}")
    return int(topic)


class Words(NamedTuple):
    """A text as the model sees it: its distinct known words, how often each occurs, how many are unknown."""

    word: NDArray[np.int64]
    times: NDArray[np.int64]
    n_unknown: int

    @property
    def n_known(self) -> int:
        """The known words, repetitions counted."""
        return int(self.times.sum())


def words_of(model: Any, text: Any) -> Words:
    """The words of a text, cut as the training texts were; a text without a known word is a ``ModelError``."""
    if not isinstance(text, str):
        raise ModelError(f"text is {type(text).__name__}; pass one string")
    encoded = model.vocabulary_.encode([text])
    if not len(encoded.tokens):
        raise ModelError("the model knows none of the words of this text, so it cannot say anything about it")
    return Words(*np.unique(encoded.tokens, return_counts=True), int(encoded.n_unknown))


def find_document(model: Any, document: Any) -> int | None:
    """The position of a training document given as a position or an id; None if it is a text instead."""
    corpus = model.corpus_
    if isinstance(document, str):
        at = np.flatnonzero(corpus.documents["id"].to_numpy() == document)
        if len(at):
            return int(at[0])
        if not len(model.vocabulary_.encode([document]).tokens):
            near = close_matches(document, corpus.documents["id"].tolist()) if len(document) < 100 else ""
            shown = document if len(document) < 60 else f"{document[:57]}..."
            raise NotFoundError(f"{shown!r} is neither the id of a document nor a text with a known word{near}")
        return None
    if isinstance(document, bool) or not isinstance(document, int | np.integer):
        raise ModelError(f"document is {type(document).__name__}; pass a position, an id or a text")
    if not 0 <= document < corpus.n_docs:
        raise NotFoundError(f"there is no document {document}; documents are numbered 0 to {corpus.n_docs - 1}")
    return int(document)


def document_columns(corpus: Corpus, rows: NDArray[Any]) -> dict[str, Any]:
    """How answers name documents: position, id and, where the corpus has them, title and year."""
    named = corpus.documents.iloc[rows]
    columns: dict[str, Any] = {"document": rows, "id": named["id"].to_numpy()}
    for name in ("title", "year"):
        if name in named:
            columns[name] = named[name].array
    return columns


def with_rank(frame: pd.DataFrame, at: int) -> pd.DataFrame:
    """The frame with its rows numbered from 1 in a column ``rank``."""
    frame.insert(at, "rank", np.arange(1, len(frame) + 1))
    return frame
