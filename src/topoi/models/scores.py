"""Log probabilities of documents: averages, perplexities, and whether errors of estimates can be trusted.

The largest importance weights follow a generalised Pareto distribution, whose shape k tells which moments exist: no
variance for k ≥ 1/2, no mean for k ≥ 1 (Vehtari et al. 2024). Above 0.7, or 1 − 1 / log10(draws) if that is less, the
draws are too few for a reliable error. The shape describes the draws that were made; it cannot show what all of them
have missed.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from topoi.models.validation import choice

Array = NDArray[np.float64]
_LARGEST_SHAPE = 0.7
# Fewer weights above a threshold have no shape. The estimate is shrunk towards 1/2 as by ten weights more.
_FEWEST, _PRIOR_WEIGHTS, _PRIOR_SHAPE = 5, 10.0, 0.5
# If the largest weight is below five times the threshold, no weight matters much, whatever the shape.
_NARROW = 0.2


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


def tail_length(n_draws: int) -> int:
    """Number of the largest weights that make up the tail: a fifth, or 3 √n if that is less."""
    return int(min(0.2 * n_draws, 3.0 * np.sqrt(n_draws)))


def largest_shape(n_draws: int) -> float:
    """Largest shape at which ``n_draws`` draws have a reliable error.

    Examples
    --------
    >>> from topoi.models.scores import largest_shape
    >>> [round(largest_shape(n), 3) for n in (100, 1000, 100_000)]
    [0.5, 0.667, 0.7]
    """
    return min(1.0 - 1.0 / math.log10(max(n_draws, 2)), _LARGEST_SHAPE)


def pareto_shapes(tails: Array) -> Array:
    """Shapes of tails, given as ascending logarithms, the first being the threshold; rows × (1 + length).

    By the estimator of Zhang and Stephens (2009). Minus infinity where no weight is much above the threshold,
    infinity where too few are above it.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.models.scores import pareto_shapes, tail_length
    >>> draws = np.random.default_rng(0).pareto(2.0, (1, 100_000))
    >>> tails = np.sort(np.log(draws))[:, -tail_length(100_000) - 1 :]
    >>> pareto_shapes(tails).round(1).tolist()
    [0.5]
    """
    return np.array([_shape(row) for row in tails])


def _shape(tail: Array) -> float:
    if tail[-1] == -np.inf:
        return -np.inf
    above = np.exp(tail - tail[-1])
    if len(tail) > _FEWEST and above[0] >= _NARROW:
        return -np.inf
    above = above[1:] - above[0]
    above = above[above > 1e-12]
    n = len(above)
    if n < _FEWEST:
        return np.inf
    m = 30 + int(np.sqrt(n))
    quartile = above[int(n / 4 + 0.5) - 1]
    theta = 1.0 / above[-1] + (1.0 - np.sqrt(m / (np.arange(1, m + 1) - 0.5))) / (3.0 * quartile)
    shapes = np.log1p(-theta[:, None] * above).mean(axis=1)
    profile = n * (np.log(-theta / shapes) - shapes - 1.0)
    weight = np.exp(profile - profile.max())
    best = float(theta @ weight / weight.sum())
    shape = float(np.log1p(-best * above).mean())
    return (n * shape + _PRIOR_WEIGHTS * _PRIOR_SHAPE) / (n + _PRIOR_WEIGHTS)
