"""Topics of a document, documents of a topic, and similar documents."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from topoi.analysis.authors import shared_topics
from topoi.analysis.given import find_document, need_topic, need_topics, with_rank
from topoi.errors import ModelError
from topoi.models.resampling import LEVEL
from topoi.models.share_moments import Moments, with_interval
from topoi.models.smoothed_counts import MEASURES, whole_tokens
from topoi.models.validation import choice, whole_number
from topoi.retrieval.expertise import bag_scores, index_of

# Similarity by words and topics, beside the measures of distance between topics: a paper's nearest by the mixture is
# more often one by the same authors (studies.mixture_weight).
MIXTURE = "mixture"


def document_topics(
    model: Any, document: int | str, n: int | None = None, *, text: bool = False, level: float | None = LEVEL
) -> pd.DataFrame:
    """The topics of one document, the largest share first (first chain).

    Parameters
    ----------
    model : AuthorTopicModel, LDA or ModelView
        A fitted model.
    document : int or str
        A training document's position, its id, its title or a part of its title alone; or a new text.
    n : int, optional
        Number of topics; all if not given.
    text : bool
        Read ``document`` as a new text even if it is an id or a title. Otherwise it is read as a text only if it is
        neither an id nor part of a title, with a warning if it is short.
    level : float, optional
        Each interval holds this much probability. None leaves intervals out.

    Returns
    -------
    DataFrame
        topic, rank, share (of the document's words, smoothed by alpha, as in ``doc_topic_`` and ``transform``), n_words
        (expected number, rounded), lower, upper: the interval of the share, which is wide for a short document
        (``topoi.models.share_moments``). Ends are missing (NaN) for a new text, and for a model without a posterior of
        its mixtures (PLSI).

    Examples
    --------
    >>> import topoi
    >>> corpus = topoi.Corpus.from_tokens([["sun", "star"], ["cell", "gene"]] * 10, ids=[f"p{d}" for d in range(20)])
    >>> model = topoi.LDA(2, alpha=0.1, n_iter=50, random_state=0).fit(corpus)
    >>> topoi.document_topics(model, "p4", n=1)["n_words"].tolist()
    [2]
    """
    need_topics(model, "a document's topics were asked for")
    position = find_document(model, document, text)
    if position is None:
        moments = Moments(np.asarray(model.transform([document]))[0], None)
        counts = _expected_counts(model, document, moments.mean)
    else:
        moments, counts = _moments(model, position, level), _topic_counts(model, position, document)
    best = np.argsort(-moments.mean, kind="stable")[: None if n is None else whole_number("n", n)]
    columns = {"topic": best, "share": moments.mean[best], "n_words": whole_tokens(counts[best])}
    ends = None if level is None else moments.some(best).interval(level)
    return with_rank(with_interval(pd.DataFrame(columns), ends), 1)


def _moments(model: Any, document: int, level: float | None) -> Moments:
    """A document's mixture; without a level, which intervals need, its deviations are not computed."""
    chain = model.chains_[0]
    return Moments(chain.document_shares(document), None) if level is None else chain.document_moments(document)


def topic_documents(model: Any, topic: int, n: int = 10, level: float | None = LEVEL) -> pd.DataFrame:
    """The training documents with most of a topic (first chain).

    Parameters
    ----------
    model : AuthorTopicModel, LDA or ModelView
        A fitted model.
    topic : int
        The topic's number.
    n : int
        Number of documents.
    level : float, optional
        Probability of the interval of each share, as in ``document_topics``; None leaves intervals out.

    Returns
    -------
    DataFrame
        topic, rank, document (position), id, title and year if there are any, share (smoothed by alpha, as in
        ``doc_topic_``, so that short documents do not lead by chance), n_words (of the document, in this topic), lower,
        upper. Documents without words are left out.

    Examples
    --------
    >>> import topoi
    >>> corpus = topoi.Corpus.from_tokens([["a", "b"] * 3, ["a", "b"] * 9])
    >>> topoi.topic_documents(topoi.LDA(1, n_iter=2, random_state=0).fit(corpus), 0)["n_words"].tolist()
    [6, 18]
    """
    need_topics(model, "documents are ranked by one of them")
    k, wanted = need_topic(model, topic), whole_number("n", n)
    best, counts, share = _leading(model.chains_[0], k, wanted)
    columns = {"topic": np.full(len(best), k), **model.catalogue_.document_columns(best)}
    frame = pd.DataFrame(columns | {"share": share, "n_words": whole_tokens(counts)})
    return with_rank(with_interval(frame, document_interval(model, k, best, share, level)), 1, best)


def document_interval(
    model: Any, topic: int, documents: NDArray[np.int64], share: NDArray[np.float64], level: float | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Ends of intervals of training documents' shares of a topic; NaN if unknown, None without a level."""
    if level is None:
        return None
    spread = [_moments(model, int(d), level).deviation for d in documents]
    known = [each[topic] for each in spread if each is not None]
    return Moments(share, np.array(known, np.float64) if len(known) == len(spread) else None).interval(level)


def _leading(chain: Any, topic: int, n: int) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """Documents with the largest shares of a topic, their numbers of words in it, and the shares."""
    counts, share = chain.documents.column(topic), chain.topic_shares(topic)
    rows = np.flatnonzero(chain.documents.totals > 0)
    best = rows[np.argsort(-share[rows], kind="stable")[:n]]
    return best, counts[best], share[best]


def similar_documents(
    model: Any, document: int | str, n: int = 10, measure: str = MIXTURE, *, text: bool = False
) -> pd.DataFrame:
    """The training documents most like a document or a text, by words and topics or by topics alone.

    Parameters
    ----------
    model : AuthorTopicModel, LDA or ModelView
        A fitted model.
    document : int or str
        A training document's position, its id, its title or a part of its title alone; or a new text.
    n : int
        Number of documents.
    measure : {"mixture", "jensen-shannon", "hellinger", "cosine", "symmetrised-kl"}
        ``"mixture"`` ranks by words and topics, as ``topoi.Search`` does for a query of all the document's words
        (chains are averaged). The others are distances between shares of topics (first chain): symmetrised KL compares
        the smoothed shares of ``doc_topic_``, the rest the unsmoothed shares of the document's own words.
    text : bool
        Whether ``document`` is a new text, as in ``document_topics``.

    Returns
    -------
    DataFrame
        document (position), rank, id, title and year if there are any, score (only of the mixture: the mean over the
        document's words of log(P(word | similar document) / P(word)), comparable between documents, 0 for "no more
        likely than anywhere"), distance (between shares of topics; Jensen-Shannon for the mixture), n_words, topics: a
        list of at most three topics of which both have more than an even share. Documents without words are left out.

    Examples
    --------
    >>> import topoi
    >>> corpus = topoi.Corpus.from_tokens([["sun", "star"], ["cell", "gene"]] * 3)
    >>> model = topoi.LDA(2, alpha=0.1, n_iter=50, random_state=0).fit(corpus)
    >>> topoi.similar_documents(model, 0, n=2)["document"].tolist()
    [2, 4]
    """
    need_topics(model, "documents are compared by theirs")
    position = find_document(model, document, text)
    by_words = choice("measure", measure, (*MEASURES, MIXTURE)) == MIXTURE
    measure = MEASURES[1] if by_words else measure
    documents = model.chains_[0].documents
    counts = _topic_counts(model, position, document)
    if not counts.any():
        raise ModelError(f"document {document!r} has no words, so it is like no other")
    # Smoothing makes short documents alike whatever their topics; only KL needs it, to avoid zeros.
    compared = documents if measure == "symmetrised-kl" else documents.unsmoothed()
    own = (counts + compared.alpha) / (counts.sum() + compared.alpha_sum)
    rows = np.flatnonzero(documents.totals > 0)
    rows, n = rows[rows != position], whole_number("n", n)
    score = _word_scores(model, position, document) if by_words else None
    if score is not None:
        best = rows[np.argsort(-score[rows], kind="stable")[:n]]
        distance = compared.some_distances(own, measure, best)
    else:
        best, distance = compared.nearest(own, measure, n, rows)
    columns = model.catalogue_.document_columns(best) | {
        **({} if score is None else {"score": score[best]}),
        "distance": distance,
        "n_words": whole_tokens(documents.totals[best]),
        "topics": pd.Series([shared_topics(own, other) for other in compared.shares(best)], dtype=object),
    }
    return with_rank(pd.DataFrame(columns), 1, best)


def _word_scores(model: Any, position: int | None, document: int | str) -> NDArray[np.float64]:
    """Score of every training document for the words of a document or a text."""
    if position is None:
        words, times = np.unique(model.vocabulary_.encode([document]).tokens, return_counts=True)
    else:
        words, times = np.unique(index_of(model).passage(position).tokens, return_counts=True)
    return bag_scores(model, words, times, authors=False)


def _topic_counts(model: Any, position: int | None, document: int | str) -> NDArray[np.float64]:
    """Words per topic: sampled counts for a training document, expected counts for a new text."""
    if position is not None:
        return np.asarray(model.chains_[0].documents.counts(position)[0])
    return _expected_counts(model, document, np.asarray(model.transform([document]))[0])


def _expected_counts(model: Any, text: int | str, share: NDArray[np.float64]) -> NDArray[np.float64]:
    """Expected words per topic of a new text, from its smoothed topic shares: the prior's part is subtracted."""
    alpha = model.chains_[0].alpha
    n_words = len(model.vocabulary_.encode([text]).tokens)
    return np.asarray((share * (n_words + alpha.sum()) - alpha).clip(0))
