"""What a document is about, which documents a topic is in, and which documents are alike."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from topoi.analysis.authors import shared_topics
from topoi.analysis.distances import distances
from topoi.analysis.given import document_columns, find_document, need_topic, need_topics, with_rank
from topoi.analysis.probabilities import blocks, document_counts
from topoi.errors import ModelError
from topoi.models.validation import whole_number


def document_topics(model: Any, document: int | str, n: int | None = None) -> pd.DataFrame:
    """The topics of one document, the largest share first (first chain).

    Parameters
    ----------
    model : AuthorTopicModel or LDA
        A fitted model.
    document : int or str
        A training document's position or id, or a new text.
    n : int, optional
        How many topics; all if not given.

    Returns
    -------
    DataFrame
        topic, rank, share (of the document's words, smoothed by alpha as in ``doc_topic_`` and ``transform``), n_words
        (in the sample; of a new text expected and rounded).

    Examples
    --------
    >>> import topoi
    >>> corpus = topoi.Corpus.from_tokens([["sun", "star"], ["cell", "gene"]] * 10, ids=[f"p{d}" for d in range(20)])
    >>> model = topoi.LDA(2, alpha=0.1, n_iter=50, random_state=0).fit(corpus)
    >>> topoi.document_topics(model, "p4", n=1)["n_words"].tolist()
    [2]
    """
    need_topics(model, "a document's topics were asked for")
    counts = _topic_counts(model, find_document(model, document), document)
    alpha = model.chains_[0].alpha
    share = (counts + alpha) / (counts.sum() + alpha.sum())
    best = np.argsort(-share, kind="stable")[: None if n is None else whole_number("n", n)]
    columns = {"topic": best, "share": share[best], "n_words": np.rint(counts[best]).astype(np.int64)}
    return with_rank(pd.DataFrame(columns), 1)


def topic_documents(model: Any, topic: int, n: int = 10) -> pd.DataFrame:
    """The training documents with most of a topic (first chain).

    Parameters
    ----------
    model : AuthorTopicModel or LDA
        A fitted model.
    topic : int
        The topic's number.
    n : int
        How many documents.

    Returns
    -------
    DataFrame
        topic, rank, document (position), id, title and year if there are any, share (smoothed by alpha as in
        ``doc_topic_``, so that a few words are no proof), n_words (of the document, in this topic). Documents without
        words are left out.

    Examples
    --------
    >>> import topoi
    >>> corpus = topoi.Corpus.from_tokens([["a", "b"] * 3, ["a", "b"] * 9])
    >>> topoi.topic_documents(topoi.LDA(1, n_iter=2, random_state=0).fit(corpus), 0)["n_words"].tolist()
    [6, 18]
    """
    need_topics(model, "documents are ranked by one of them")
    k = need_topic(model, topic)
    chain, lengths = model.chains_[0], model.corpus_.doc_lengths
    doc = np.repeat(np.arange(len(lengths)), lengths)
    counts = np.bincount(doc[chain.assignments.topic == k], minlength=len(lengths))
    share = (counts + chain.alpha[k]) / (lengths + chain.alpha.sum())
    rows = np.flatnonzero(lengths > 0)
    best = rows[np.argsort(-share[rows], kind="stable")[: whole_number("n", n)]]
    columns = {"topic": np.full(len(best), k), **document_columns(model.corpus_, best)}
    return with_rank(pd.DataFrame(columns | {"share": share[best], "n_words": counts[best]}), 1)


def similar_documents(model: Any, document: int | str, n: int = 10, measure: str = "jensen-shannon") -> pd.DataFrame:
    """The training documents whose topics are nearest to a document's or a text's (first chain).

    Parameters
    ----------
    model : AuthorTopicModel or LDA
        A fitted model.
    document : int or str
        A training document's position or id, or a new text.
    n : int
        How many documents.
    measure : {"jensen-shannon", "hellinger", "cosine", "symmetrised-kl"}
        How shares of topics are compared. Symmetrised KL compares the smoothed shares of ``doc_topic_``, the
        others the shares of the document's own words.

    Returns
    -------
    DataFrame
        document (position), rank, id, title and year if there are any, distance, n_words, topics: a list of at most
        three topics of which both have more than an even share. Documents without words are left out.

    Examples
    --------
    >>> import topoi
    >>> corpus = topoi.Corpus.from_tokens([["sun", "star"], ["cell", "gene"]] * 3)
    >>> model = topoi.LDA(2, alpha=0.1, n_iter=50, random_state=0).fit(corpus)
    >>> topoi.similar_documents(model, 0, n=2)["document"].tolist()
    [2, 4]
    """
    need_topics(model, "documents are compared by theirs")
    position = find_document(model, document)
    chain, lengths = model.chains_[0], model.corpus_.doc_lengths
    counts = _topic_counts(model, position, document)
    if not counts.any():
        raise ModelError(f"document {document!r} has no words, so it is like no other")
    # Smoothing pulls short documents towards each other whatever they are about; only KL cannot do without it.
    prior = chain.alpha if measure == "symmetrised-kl" else np.zeros(chain.n_topics)
    own = _shares(counts[None] + prior)[0]
    distance = np.empty(len(lengths))
    for part in blocks(len(lengths)):
        distance[part] = distances(own, _shares(document_counts(model, part) + prior), measure)
    rows = np.flatnonzero(lengths > 0)
    rows = rows[rows != position]
    best = rows[np.argsort(distance[rows], kind="stable")[: whole_number("n", n)]]
    others = [_shares(document_counts(model, slice(d, d + 1)) + prior)[0] for d in best]
    columns = document_columns(model.corpus_, best) | {
        "distance": distance[best],
        "n_words": lengths[best],
        "topics": pd.Series([shared_topics(own, other) for other in others], dtype=object),
    }
    return with_rank(pd.DataFrame(columns), 1)


def _shares(counts: NDArray[Any]) -> NDArray[np.float64]:
    """Rows divided by their sums; a row of zeros is even."""
    totals = counts.sum(axis=1, keepdims=True)
    return np.where(totals > 0, counts / np.maximum(totals, 1e-300), 1.0 / counts.shape[1])


def _topic_counts(model: Any, position: int | None, document: int | str) -> NDArray[np.float64]:
    """Words per topic: the sample's of a training document, the expected ones of a new text."""
    if position is not None:
        return document_counts(model, slice(position, position + 1))[0].astype(np.float64)
    alpha = model.chains_[0].alpha
    n_words = len(model.vocabulary_.encode([document]).tokens)
    share = np.asarray(model.transform([document]))[0]
    return np.asarray((share * (n_words + alpha.sum()) - alpha).clip(0))
