"""Summary measures of predictions of documents."""

from __future__ import annotations

import numbers

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.corpus import Corpus
from topoi.errors import ModelError


def bits_per_word(log_likelihood: object, lengths: object) -> float:
    """Average number of bits per word: −Σ log2 P(d) / Σ n_d.

    Parameters
    ----------
    log_likelihood : array
        Natural logarithms, one per document, of any estimator.
    lengths : Corpus or array of int
        Number of words scored in each document. A corpus counts all its words: if the model does not know some of them,
        pass ``n_words`` of ``heldout`` instead.

    Returns
    -------
    float
        Lower is better; two to this power is the perplexity per token. NaN if there are no words.

    Examples
    --------
    >>> import numpy as np, topoi
    >>> round(topoi.evaluation.bits_per_word(np.log([0.25, 0.125]), [2, 3]), 6)
    1.0
    """
    log_p = np.asarray(log_likelihood, np.float64)
    numbers = lengths.doc_lengths if isinstance(lengths, Corpus) else np.asarray(lengths)
    if log_p.shape != numbers.shape or log_p.ndim != 1:
        raise ModelError(f"there are {log_p.size} log-likelihoods for {numbers.size} documents; pass one for each")
    total = float(numbers.sum())
    return float(-log_p.sum() / np.log(2.0) / total) if total > 0 else float("nan")


def crps(draws: object, observed: object) -> NDArray[np.float64]:
    """Continuous ranked probability score (CRPS) of predictions given as draws: E|X − x| − ½ E|X − X'|.

    The score has the unit of the predicted quantity; for a point prediction it is the absolute error. It penalises
    distributions that are too wide as well as those that are too narrow.

    Parameters
    ----------
    draws : array
        Draws from the predictive distribution along the first axis, for example ``model.draw_shares(...)``.
    observed : array
        Observed values, in the shape of one draw.

    Returns
    -------
    ndarray
        The score of each entry; lower is better.

    References
    ----------
    Gneiting and Raftery, Strictly proper scoring rules, prediction, and estimation, JASA 2007.

    Examples
    --------
    >>> import topoi
    >>> topoi.evaluation.crps([[0.2], [0.2]], [0.5]).round(6).tolist()
    [0.3]
    >>> topoi.evaluation.crps([[0.0], [1.0]], [0.5]).round(6).tolist()
    [0.25]
    """
    x, seen = _drawn(draws, observed)
    n = len(x)
    ordered = np.sort(x, axis=0)
    # Among all pairs, the i-th smallest draw is the larger one i times and the smaller one n − 1 − i times.
    weight = (2.0 * np.arange(n) - n + 1.0) / n**2
    return np.asarray(np.abs(x - seen).mean(axis=0) - np.tensordot(weight, ordered, axes=1))


def coverage(draws: object, observed: object, level: float = 0.8, slack: float = 0.0) -> float:
    """Coverage of predictive bands: the share of observed values inside, about 80 % for calibrated 80 % bands.

    Parameters
    ----------
    draws, observed : array
        As in ``crps``.
    level : float
        Share of the draws inside a band; the rest lies half below and half above.
    slack : float
        Distance outside the band that still counts as inside, for observations of limited precision.

    Examples
    --------
    >>> import numpy as np, topoi
    >>> draws = np.linspace(0, 1, 1001)[:, None] * np.ones(3)
    >>> round(topoi.evaluation.coverage(draws, [0.05, 0.5, 0.95], level=0.8), 3)
    0.333
    """
    if isinstance(level, bool) or not isinstance(level, numbers.Real) or not 0 < float(level) < 1:
        raise ModelError(f"level is {level!r}; it is the probability of a band, between 0 and 1")
    x, seen = _drawn(draws, observed)
    lower, upper = np.quantile(x, ((1.0 - level) / 2.0, (1.0 + level) / 2.0), axis=0)
    return float(((seen >= lower - slack) & (seen <= upper + slack)).mean())


def _drawn(draws: object, observed: object) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    x, seen = np.asarray(draws, np.float64), np.asarray(observed, np.float64)
    if x.ndim == 0 or not len(x) or x.shape[1:] != seen.shape:
        raise ModelError(f"draws have the shape {x.shape}, what was seen {seen.shape}; pass draws along a first axis")
    if not (np.isfinite(x).all() and np.isfinite(seen).all()):
        raise ModelError("draws, or what was seen, have entries that are not finite numbers")
    return x, seen
