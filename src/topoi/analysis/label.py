"""Labels of the words of a text: their topics and, where there are authors, their authors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from topoi.analysis.authorship import likeliest_rows
from topoi.analysis.given import class_name, find_author, need_fitted, need_topics
from topoi.errors import ModelError, NotFoundError
from topoi.models.contract import InStore, ModelLike, SeedLike
from topoi.models.texts import check_known, is_numbered

_CANDIDATES = 50


def label_words(
    model: Any,
    text: str,
    authors: Sequence[str] | str | None = None,
    burn_in: int = 20,
    n_samples: int = 20,
    lag: int = 2,
    random_state: SeedLike = None,
) -> pd.DataFrame:
    """Label every word of a new text with its most probable topic and author.

    The text is cut into words as the training texts were, and sampled against the first chain; words the model does
    not know are left out.

    Parameters
    ----------
    model : AuthorTopicModel or LDA
        A fitted model.
    text : str
        The text.
    authors : list of str, "any" or None
        Candidate authors of each word; "any" takes the fifty authors most likely to have written the whole text; None
        assumes an author unknown to the model.
    burn_in, n_samples, lag : int
        Number of sweeps before the first sample, number of samples, sweeps between samples.
    random_state : int, optional
        Seed of the sampling; the fit's seed if not given.

    Returns
    -------
    DataFrame
        word, start, end (``text[start:end]``), topic, topic_probability, and author, author_probability for
        the candidates. ``frame.attrs["n_unknown"]`` counts words the model does not know.

    Examples
    --------
    >>> import topoi
    >>> corpus = topoi.Corpus.from_tokens([["sun", "star"], ["cell", "gene"]] * 10, authors=["Ann", "Bob"] * 10)
    >>> model = topoi.AuthorTopicModel(2, alpha=0.1, n_iter=50, random_state=0).fit(corpus)
    >>> topoi.label_words(model, "The sun and a gene.", authors=["Ann", "Bob"])[["word", "author"]].values.tolist()
    [['sun', 'Ann'], ['gene', 'Bob']]
    """
    need_fitted(model)
    if not isinstance(text, str):
        raise ModelError(f"text is {type(text).__name__}; pass one string")
    need_topics(model, "words are labelled with them")
    encoded = model.vocabulary_.encode([text])
    if encoded.n_unknown and is_numbered(model.vocabulary_):
        check_known(model.vocabulary_, len(encoded.tokens), encoded.n_unknown)
    rows = _candidates(model, authors, encoded.tokens)
    labels = model.label_text(encoded.tokens, rows, burn_in, n_samples, lag, random_state)
    n = len(encoded.tokens)
    topic = labels.topic.argmax(axis=1) if n else np.zeros(0, np.int64)
    columns: dict[str, Any] = {
        "word": model.vocabulary_.words[encoded.tokens],
        "start": encoded.token_start,
        "end": encoded.token_end,
        "topic": topic,
        "topic_probability": labels.topic[np.arange(n), topic],
    }
    if len(rows):
        slot = labels.slot[:, : len(rows)].argmax(axis=1) if n else np.zeros(0, np.int64)
        columns["author"] = model.authors_[rows[slot]]
        columns["author_probability"] = labels.slot[np.arange(n), slot]
    frame = pd.DataFrame(columns)
    frame.attrs.update(n_unknown=int(encoded.n_unknown), rows=rows.tolist())
    return frame


def label_document(
    view: ModelLike, document: int, burn_in: int = 0, n_samples: int = 1, lag: int = 1, random_state: SeedLike = None
) -> pd.DataFrame:
    """Label every word of a document in a store with its most probable topic and author, by sampling it again.

    Sampling starts from the stored sample; all other documents stay fixed. Without burn-in and with one sample, the
    probabilities are the conditionals of each word given the stored assignments of all others.

    Parameters
    ----------
    view : ModelView
        A model in a store, as ``topoi.view`` opens it.
    document : int
        The document's number.
    burn_in, n_samples, lag : int
        Number of sweeps before the first sample, number of samples, sweeps between samples.
    random_state : int, optional
        Seed of the sampling; the fit's seed if not given.

    Returns
    -------
    DataFrame
        word_id, start, end (in the stored text; missing without one), topic, topic_probability, and author_position (in
        the document's list of authors; one past the last is the document's own private author),
        author_probability. ``attrs["authors"]`` lists the authors' numbers.

    Examples
    --------
    >>> import pathlib, tempfile, topoi
    >>> corpus = topoi.Corpus.from_texts(["A sun is a star.", "Cells have genes."] * 10, authors=["Ann", "Bob"] * 10)
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.topoi"
    >>> topoi.AuthorTopicModel(2, alpha=0.1, n_iter=50, random_state=0).fit(corpus).save(path)
    >>> topoi.label_document(topoi.view(path), 1)["start"].tolist()
    [0, 11]
    """
    need_topics(view, "words are labelled with them")
    reader: Any = view
    if not isinstance(view, InStore):
        raise ModelError("label_document reads a model in a store; open it with topoi.view, or label the text instead")
    if isinstance(document, bool) or not isinstance(document, int | np.integer) or document < 0:
        raise NotFoundError(f"there is no document {document!r}")
    stored = reader.chains_[0].document(int(document))
    labels = reader.label_stored(stored, burn_in, n_samples, lag, random_state)
    at = np.arange(len(stored.tokens))
    topic, slot = labels.topic.argmax(axis=1), labels.slot.argmax(axis=1)
    return _document_frame(stored, topic, labels.topic[at, topic], slot, labels.slot[at, slot])


def stored_labels(view: ModelLike, document: int) -> pd.DataFrame:
    """Label the words of a document with the topics and authors of the stored sample, each with probability 1.

    Replaces ``label_document`` for documents so long that the probabilities of all words would not fit into memory.
    """
    need_topics(view, "words are labelled with them")
    stored = view.chains_[0].document(int(document))
    sure = np.ones(len(stored.tokens))
    return _document_frame(stored, stored.assignments.topic, sure, stored.assignments.slot, sure)


def _document_frame(stored: Any, topic: Any, p: Any, slot: Any, q: Any) -> pd.DataFrame:
    nowhere = np.full(len(stored.tokens), np.nan)
    frame = pd.DataFrame(
        {
            "word_id": stored.tokens,
            "start": nowhere if stored.start is None else stored.start,
            "end": nowhere if stored.end is None else stored.end,
            "topic": np.asarray(topic, np.int64),
            "topic_probability": p,
            "author_position": np.asarray(slot, np.int64),
            "author_probability": q,
        }
    )
    frame.attrs["authors"] = stored.authors.tolist()
    return frame


def _candidates(model: ModelLike, authors: Sequence[str] | str | None, tokens: NDArray[Any]) -> NDArray[np.int64]:
    """Rows of the candidate authors; empty for an unknown author."""
    if authors is None:
        return np.zeros(0, np.int64)
    if not len(model.authors_):
        raise ModelError(f"{class_name(model)} has no authors to choose from; leave out authors=")
    if isinstance(authors, str):
        if authors == "any":
            return likeliest_rows(model, tokens, _CANDIDATES)
        authors = [authors]
    if not isinstance(authors, Iterable):
        raise ModelError(f"authors is {authors!r}; pass a list of names, 'any' or None")
    found = [find_author(model, name) for name in authors]
    return np.array(list(dict.fromkeys(found)), np.int64)
