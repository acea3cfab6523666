"""Common interface of all estimators: a row per held-out document, and summary statistics."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from topoi.corpus.corpus import Corpus
from topoi.evaluation.empirical import empirical_likelihood_report
from topoi.evaluation.inputs import checked_model, known_part
from topoi.evaluation.measures import bits_per_word
from topoi.evaluation.particles import left_to_right_runs
from topoi.models.catalogue import CorpusCatalogue
from topoi.models.contract import DocumentsLike, LoadedModel, ReportsErrors
from topoi.models.scores import perplexities
from topoi.models.validation import choice

ESTIMATORS = ("filter", "left-to-right", "empirical")


def log_likelihoods(
    model: LoadedModel, corpus: DocumentsLike, estimator: str = "filter", **options: object
) -> NDArray[np.float64]:
    """Log probability of each document by the estimator of that name, with the estimator's own options."""
    return _estimates(model, corpus, estimator, **options)[0]


def _estimates(
    model: Any, corpus: DocumentsLike, estimator: str, **options: Any
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Log probability of each document, and its standard error."""
    name = choice("estimator", estimator.replace("_", "-") if isinstance(estimator, str) else estimator, ESTIMATORS)
    checked_model(model)
    if name == "left-to-right":
        found = left_to_right_runs(model, corpus, **options)
        return found.log_likelihood, found.standard_error
    if name == "filter" and not model.has_mixtures:
        exact = np.asarray(model.log_likelihood(corpus))
        return exact, np.zeros(len(exact))
    if name == "filter" and not isinstance(model, ReportsErrors):
        log_p = np.asarray(model.log_likelihood(corpus, **options))
        return log_p, np.full(len(log_p), np.nan)
    report = (
        empirical_likelihood_report(model, corpus, **options)
        if name == "empirical"
        else model.log_likelihood_report(corpus, **options)
    )
    return report["log_likelihood"].to_numpy(), report["standard_error"].to_numpy()


def heldout(model: LoadedModel, corpus: DocumentsLike, estimator: str = "filter", **options: object) -> pd.DataFrame:
    """Held-out log likelihood and perplexity of each document.

    The quantity is the same for all families: the log probability of the words given the document's authors or
    metadata, if the model uses them, with its mixture of topics integrated out.

    Parameters
    ----------
    model
        A fitted model of any family.
    corpus : Corpus, list of texts, or (where the model takes one) a matrix of counts
        The documents.
    estimator : {"filter", "left-to-right", "empirical"}
        ``model.log_likelihood``, ``left_to_right`` or ``empirical_likelihood``.
    **options
        Options of the estimator: ``n_particles``, ``n_samples``, ``random_state``; for a model with features
        ``metadata`` and, with ``"filter"``, ``given``, which selects another quantity than the common one.

    Returns
    -------
    DataFrame
        The columns that name a document; n_words, the number of words scored; n_unknown, the number of words left out
        because the model does not know them; log_likelihood; standard_error of the estimate in nats (NaN if it has
        none); perplexity (NaN without words).

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
    log_p, error = _estimates(model, known, estimator, **options)
    seen = options.get("given")
    # Observed words are not scored.
    shown = min(int(seen), known.n_tokens) if isinstance(seen, numbers.Integral) else 0
    scored = np.maximum(known.doc_lengths - shown, 0)
    return pd.DataFrame(
        CorpusCatalogue(known).document_columns(np.arange(known.n_docs))
        | {
            "n_words": scored,
            "n_unknown": given - known.doc_lengths,
            "log_likelihood": log_p,
            "standard_error": error,
            "perplexity": perplexities(log_p, scored, per_document=True),
        }
    )


def heldout_summary(frame: pd.DataFrame) -> pd.DataFrame:
    """Summary statistics, as papers report them, from the rows of ``heldout``.

    Parameters
    ----------
    frame : DataFrame
        What ``heldout`` returned, or some of its rows.

    Returns
    -------
    DataFrame
        One row: n_docs, n_words, n_unknown, log_likelihood (the sum), perplexity_documents (the mean over documents),
        perplexity_tokens (over all words: what ``model.perplexity`` is), bits_per_word (its logarithm to base two).

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
            "perplexity_documents": [perplexities(log_p, lengths, "documents")],
            "perplexity_tokens": [float(2.0 ** bits_per_word(log_p, lengths))],
            "bits_per_word": [bits_per_word(log_p, lengths)],
        }
    )
