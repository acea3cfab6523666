"""One front for all estimators: held-out documents in, a row per document out, and the numbers that sum them up."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from topoi.corpus.corpus import Corpus
from topoi.evaluation.empirical import empirical_likelihood
from topoi.evaluation.inputs import checked_model, known_part
from topoi.evaluation.measures import bits_per_word
from topoi.evaluation.particles import left_to_right
from topoi.models.catalogue import CorpusCatalogue
from topoi.models.scores import perplexities
from topoi.models.validation import choice

ESTIMATORS = ("filter", "left-to-right", "empirical")


def log_likelihoods(model: Any, corpus: Any, estimator: str = "filter", **options: Any) -> NDArray[np.float64]:
    """Log probability of each document by the estimator of that name, with the estimator's own options."""
    name = choice("estimator", estimator.replace("_", "-") if isinstance(estimator, str) else estimator, ESTIMATORS)
    checked_model(model)
    if name == "empirical":
        return empirical_likelihood(model, corpus, **options)
    if name == "left-to-right":
        return left_to_right(model, corpus, **options)
    exact = not getattr(model, "has_mixtures", True)
    return np.asarray(model.log_likelihood(corpus, **({} if exact else options)))


def heldout(model: Any, corpus: Any, estimator: str = "filter", **options: Any) -> pd.DataFrame:
    """How well a model predicts documents that it has not seen, document by document.

    Parameters
    ----------
    model
        A fitted model of any family.
    corpus : Corpus, list of texts, or (where the model takes one) a matrix of counts
        The documents.
    estimator : {"filter", "left-to-right", "empirical"}
        ``model.log_likelihood``, ``left_to_right`` or ``empirical_likelihood``.
    **options
        The estimator's own: ``n_particles``, ``n_samples``, ``random_state``. Of a model with features ``"filter"`` is
        its own ``log_likelihood``, whose option is ``given``: ``"metadata"``, ``"words"`` or how many words are seen.

    Returns
    -------
    DataFrame
        The columns that name a document; n_words, those that were scored; n_unknown, those that the model does not
        know and that were left out; log_likelihood; perplexity (NaN without words).

    Examples
    --------
    >>> import topoi
    >>> corpus = topoi.Corpus.from_tokens([["a", "b"]] * 4)
    >>> model = topoi.LDA(1, n_iter=2, random_state=0).fit(corpus)
    >>> topoi.evaluation.heldout(model, corpus)["perplexity"].round(6).tolist()
    [2.0, 2.0, 2.0, 2.0]
    """
    known = known_part(checked_model(model), corpus)
    given = corpus.doc_lengths if isinstance(corpus, Corpus) else known.doc_lengths
    log_p = log_likelihoods(model, known, estimator, **options)
    seen = options.get("given")
    # Words that are shown to the model are not scored.
    shown = min(int(seen), known.n_tokens) if isinstance(seen, numbers.Integral) else 0
    scored = np.maximum(known.doc_lengths - shown, 0)
    return pd.DataFrame(
        CorpusCatalogue(known).document_columns(np.arange(known.n_docs))
        | {
            "n_words": scored,
            "n_unknown": given - known.doc_lengths,
            "log_likelihood": log_p,
            "perplexity": perplexities(log_p, scored, per_document=True),
        }
    )


def heldout_summary(frame: pd.DataFrame) -> pd.DataFrame:
    """The numbers that papers report, from the rows of ``heldout``.

    Parameters
    ----------
    frame : DataFrame
        What ``heldout`` returned, or some of its rows.

    Returns
    -------
    DataFrame
        One row: n_docs, n_words, n_unknown, log_likelihood (the sum), perplexity_documents (the mean over documents),
        perplexity_tokens, bits_per_word (the logarithm of that to base two).

    Examples
    --------
    >>> import topoi
    >>> corpus = topoi.Corpus.from_tokens([["a", "b"]] * 4)
    >>> model = topoi.LDA(1, n_iter=2, random_state=0).fit(corpus)
    >>> summary = topoi.evaluation.heldout_summary(topoi.evaluation.heldout(model, corpus))
    >>> summary[["n_docs", "n_words"]].iloc[0].tolist(), round(float(summary["bits_per_word"].iloc[0]), 6)
    ([4, 8], 1.0)
    """
    log_p, lengths = frame["log_likelihood"].to_numpy(), frame["n_words"].to_numpy()
    return pd.DataFrame(
        {
            "n_docs": [len(frame)],
            "n_words": [int(lengths.sum())],
            "n_unknown": [int(frame["n_unknown"].sum())],
            "log_likelihood": [float(log_p.sum())],
            "perplexity_documents": [perplexities(log_p, lengths)],
            "perplexity_tokens": [float(2.0 ** bits_per_word(log_p, lengths))],
            "bits_per_word": [bits_per_word(log_p, lengths)],
        }
    )
