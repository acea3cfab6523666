"""Likelihood of a text under each author alone, as used by queries about authorship."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from topoi.analysis.given import class_name, find_author, has_topics, need_authors, with_rank, words_of
from topoi.corpus.corpus import Corpus
from topoi.errors import ModelError
from topoi.models.scores import log_mean_exp
from topoi.models.smoothed_counts import whole_tokens
from topoi.models.validation import whole_number
from topoi.retrieval.expertise import bag_evidence
from topoi.retrieval.ranking import Settings, Units, scores


def likely_authors(model: Any, text: str, n: int = 10, candidates: Sequence[str] | str | None = None) -> pd.DataFrame:
    """The authors most likely to have written a text alone, among those the model knows.

    An author's words are drawn from the mixture of ``topoi.Search`` and ``recommend_reviewers``: a language model of
    all that the author wrote, and the author's topics; without topics, from the model's own words of each author.
    The prior over authors is uniform. Probabilities are calibrated by leave-one-out scores of the training documents:
    they go to the right author as often as stated (see ``docs/authorship.md``). They are probabilities *among the
    authors of the model* (or the candidates): that somebody else wrote the text is not considered. The first call for a
    fitted model takes a few seconds to calibrate; saved models include the calibration.

    Parameters
    ----------
    model : AuthorModel, AuthorTopicModel or ModelView
        A fitted model; chains are averaged.
    text : str
        The text; words the model does not know are left out.
    n : int
        Number of authors.
    candidates : list of str, optional
        Consider only these authors.

    Returns
    -------
    DataFrame
        author, rank, log_likelihood (natural, of the whole text, words taken to be independent), probability
        (calibrated; over all authors of the model, or the candidates), n_words (number of the author's own words),
        score (mean over the text's words of log(P(word | author) / P(word)), as in ``recommend_reviewers``;
        comparable between texts, and 0 means "no more likely than by anybody"). All three have the same order.
        ``frame.attrs`` has ``n_known`` and ``n_unknown``, the numbers of the text's words that the model knows and does
        not know, and ``n_calibration``, the number of documents used for calibration. If that is 0, no author has two
        documents, and the probabilities, which then assume that words are independent, are far too confident.

    Examples
    --------
    >>> import topoi
    >>> corpus = topoi.Corpus.from_tokens([["sun", "star"], ["cell", "gene"]] * 10, authors=["Ann", "Bob"] * 10)
    >>> model = topoi.AuthorTopicModel(2, alpha=0.1, n_iter=50, random_state=0).fit(corpus)
    >>> topoi.likely_authors(model, "A gene in every cell.", n=1)["author"].tolist()
    ['Bob']
    """
    need_authors(model)
    wanted = whole_number("n", n)
    words = words_of(model, text)
    rows = _candidate_rows(model, candidates)
    ratios, background = author_log_ratios(model, words.word, words.times)
    ratio, calibration = ratios[rows], model.author_calibration_
    probability = np.exp(calibration.log_probabilities(ratio, words.n_known))
    best = np.argsort(-ratio, kind="stable")[:wanted]
    columns = {
        "author": model.authors_[rows[best]],
        "log_likelihood": ratio[best] + background,
        "probability": probability[best],
        "n_words": author_sizes(model)[rows[best]],
        "score": ratio[best] / words.n_known,
    }
    frame = with_rank(pd.DataFrame(columns), 1, rows[best])
    frame.attrs.update(n_known=words.n_known, n_unknown=words.n_unknown, n_calibration=calibration.n_documents)
    return frame


def author_log_ratios(model: Any, words: NDArray[Any], times: NDArray[Any]) -> tuple[NDArray[np.float64], float]:
    """log(P(text | author) / P(text)) of each author alone, and log P(text), for a bag of words.

    P(word | author) is the mixture of words and topics; in a model without topics the model's own.
    """
    evidence = bag_evidence(model, words, times)
    background = float(np.log(evidence.background) @ evidence.weights)
    if not has_topics(model):
        return author_log_likelihoods(model, words, times) - background, background
    return evidence.terms.n * scores(Units(evidence.index, authors=True), evidence, "mixture", Settings()), background


def _candidate_rows(model: Any, candidates: Sequence[str] | str | None) -> NDArray[np.int64]:
    """Rows of the candidates; all authors by default."""
    if candidates is None:
        return np.arange(len(model.authors_))
    given = [candidates] if isinstance(candidates, str) else list(candidates)
    if not given:
        raise ModelError("candidates is empty; name at least one author, or leave it out")
    return np.unique([find_author(model, name) for name in given])


def likeliest_rows(model: Any, tokens: NDArray[Any], n: int) -> NDArray[np.int64]:
    """Rows of the ``n`` authors under whom, as sole author, the tokens are most probable; most probable first."""
    if not len(tokens):
        return np.arange(min(n, len(model.authors_)))
    score = author_log_likelihoods(model, *np.unique(tokens, return_counts=True))
    return np.argsort(-score, kind="stable")[:n]


def author_log_likelihoods(model: Any, words: NDArray[Any], times: NDArray[Any]) -> NDArray[np.float64]:
    """Log probability of a bag of words under each author alone; chains' probabilities of the whole bag are averaged.

    An author's mixture is that of all that the author wrote, private authors' words included: it finds the author of a
    held-out document more often than P(topic | author) does (``topoi.models.written``, ``studies/who_wrote.py``).

    Cost: O(chains × nonzero author–topic counts × distinct words).
    """
    if not has_topics(model):
        if not model.chains_:
            raise ModelError(f"{class_name(model)} in a store cannot be asked this; load it with topoi.load")
        return np.asarray(model.author_log_likelihoods(words, times))
    each = [chain.written.log_likelihoods(chain.word_columns(words), times) for chain in model.chains_]
    return log_mean_exp(np.stack(each))


def author_sizes(model: Any) -> NDArray[np.int64]:
    """Number of words that each author wrote, in the first chain."""
    chain = model.chains_[0]
    return whole_tokens(chain.written.totals if has_topics(model) else chain.author[: len(model.authors_)])


def log_likelihoods_by(model: Any, author: int, corpus: Corpus) -> NDArray[np.float64]:
    """Log probability of each document as if the author alone had written it, averaged over chains.

    The corpus must use the model's word ids; its own authors are ignored.
    """
    if not has_topics(model):
        return np.asarray(model.log_likelihood(_by_one(model, author, corpus)))
    words, place = np.unique(corpus.tokens, return_inverse=True)
    doc = np.repeat(np.arange(corpus.n_docs), corpus.doc_lengths)
    totals = []
    for chain in model.chains_:
        log_p = np.log(chain.authors.shares(author)[0] @ chain.word_columns(words))
        totals.append(np.bincount(doc, log_p[place], corpus.n_docs))
    return log_mean_exp(np.stack(totals))


def _by_one(model: Any, author: int, corpus: Corpus) -> Corpus:
    """Copy of the corpus with the given author as the only author of every document."""
    return Corpus(
        tokens=corpus.tokens,
        doc_start=corpus.doc_start,
        vocabulary=model.vocabulary_,
        doc_author=np.full(corpus.n_docs, author),
        doc_author_start=np.arange(corpus.n_docs + 1),
        authors=model.authors_,
    )
