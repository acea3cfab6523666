"""Averages of probabilities over documents, tokens and chains."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from topoi.models.validation import choice


def perplexities(
    log_likelihood: NDArray[np.float64], lengths: NDArray[Any], average: str = "tokens", per_document: bool = False
) -> Any:
    """Perplexity over all tokens, its mean over documents, or that of each; empty documents are skipped.

    NaN if there are no words at all.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.models.scores import perplexities
    >>> log_p, lengths = np.log([0.25, 0.25]), np.array([2, 1])
    >>> round(perplexities(log_p, lengths), 6), round(perplexities(log_p, lengths, "documents"), 6)
    (2.519842, 3.0)
    """
    choice("average", average, ("documents", "tokens"))
    with np.errstate(invalid="ignore", divide="ignore"):
        each = np.where(lengths > 0, np.exp(-log_likelihood / np.maximum(lengths, 1)), np.nan)
    if per_document:
        return each
    if not (lengths > 0).any():
        return float("nan")
    if average == "tokens":
        return float(np.exp(-log_likelihood.sum() / lengths.sum()))
    return float(np.nanmean(each))


def log_mean_exp(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Log of the mean of exp over the first axis, as used to average documents' probabilities over chains.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.models.scores import log_mean_exp
    >>> log_mean_exp(np.log([[0.2], [0.4]])).round(6).tolist() == [round(float(np.log(0.3)), 6)]
    True
    """
    return np.asarray(logsumexp(values, axis=0) - np.log(len(values)))


def mean_error(
    logs: NDArray[np.float64], mean: NDArray[np.float64], errors: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Standard error of ``mean = log_mean_exp(logs)`` from those of the logs; chains × documents.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.models.scores import log_mean_exp, mean_error
    >>> logs = np.log([[0.3], [0.1]])
    >>> mean_error(logs, log_mean_exp(logs), np.array([[0.1], [0.1]])).round(4).tolist()
    [0.0791]
    """
    with np.errstate(invalid="ignore"):
        share = np.where(np.isfinite(mean), np.exp(logs - mean), 0.0) / len(logs)
    return np.asarray(np.sqrt(((share * errors) ** 2).sum(axis=0)))
