"""Every word of a text with its topic and, where there are authors, its author."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from topoi.analysis.authorship import likeliest_rows
from topoi.errors import ModelError
from topoi.kernels.counts import Documents
from topoi.models.names import find_name

_CANDIDATES = 50


def label_words(
    model: Any,
    text: str,
    authors: Sequence[str] | str | None = None,
    burn_in: int = 20,
    n_samples: int = 20,
    lag: int = 2,
    random_state: Any = None,
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
        Who may have written it: the candidates among whom each word is divided; "any" takes the fifty
        authors most likely to have written the whole; None assumes somebody new.
    burn_in, n_samples, lag : int
        Gibbs sweeps before and between samples.
    random_state : int, optional
        Another seed than the fit's.

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
    check_is_fitted(model, "n_iter_")
    if not isinstance(text, str):
        raise ModelError(f"text is {type(text).__name__}; pass one string")
    if not hasattr(model, "label_tokens"):
        raise ModelError(f"{type(model).__name__} has no topics to label words with")
    encoded = model.vocabulary_.encode([text])
    rows = _candidates(model, authors, encoded.tokens)
    documents = _one_document(model, encoded.tokens, rows)
    labels = model.label_tokens(documents, burn_in, n_samples, lag, random_state)
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
    frame.attrs["n_unknown"] = int(encoded.n_unknown)
    return frame


def _candidates(model: Any, authors: Sequence[str] | str | None, tokens: NDArray[Any]) -> NDArray[np.int64]:
    """Rows of the authors among whom the words are divided; none for somebody new."""
    if authors is None:
        return np.zeros(0, np.int64)
    if not len(model.authors_):
        raise ModelError(f"{type(model).__name__} has no authors to choose from; leave out authors=")
    if isinstance(authors, str):
        if authors == "any":
            return likeliest_rows(model, tokens, _CANDIDATES)
        authors = [authors]
    if not isinstance(authors, Iterable):
        raise ModelError(f"authors is {authors!r}; pass a list of names, 'any' or None")
    found = [find_name(name, model.authors_, "author") for name in authors]
    return np.array(list(dict.fromkeys(found)), np.int64)


def _one_document(model: Any, tokens: NDArray[Any], rows: NDArray[np.int64]) -> Documents:
    """One document whose possible authors are ``rows``, or a private author if there are none."""
    private = model.chains_[0].counts.author_topic.shape[0] - 1
    author = rows.astype(np.int32) if len(rows) else np.array([private], np.int32)
    edges = np.array([0, len(tokens)]), np.array([0, len(author)])
    weight = np.ones(len(author), np.float32)
    return Documents(np.ascontiguousarray(tokens, np.int32), edges[0], author, edges[1], weight)
