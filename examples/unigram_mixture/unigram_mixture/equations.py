"""The model's equations in plain float64, as the README has them: slow, and easy to check."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln


def log_joint(docs: list[NDArray[Any]], z: NDArray[Any], alpha: NDArray[Any], beta: NDArray[Any]) -> float:
    """log P(words, z), theta and phi integrated out: a Dirichlet-multinomial of documents, one of words per topic."""
    total = _log_sequence(np.bincount(z, minlength=len(alpha)), alpha)
    for k in range(len(alpha)):
        mine = [doc for doc, topic in zip(docs, z, strict=True) if topic == k]
        words = np.concatenate([*mine, np.zeros(0, np.int64)]).astype(np.int64)
        total += _log_sequence(np.bincount(words, minlength=len(beta)), beta)
    return float(total)


def conditional(
    docs: list[NDArray[Any]], z: NDArray[Any], d: int, alpha: NDArray[Any], beta: NDArray[Any]
) -> NDArray[np.float64]:
    """P(z[d] = k | all else) for every k: equation 1 of the README."""
    others = [j for j in range(len(docs)) if j != d]
    n_docs = np.bincount(z[others], minlength=len(alpha))
    own = np.bincount(docs[d], minlength=len(beta))
    log_weight = np.log(n_docs + alpha)
    for k in range(len(alpha)):
        counts = sum((np.bincount(docs[j], minlength=len(beta)) for j in others if z[j] == k), np.zeros(len(beta)))
        log_weight[k] += _log_rising(counts + beta, own).sum() - _log_rising((counts + beta).sum(), own.sum())
    weight = np.exp(log_weight - log_weight.max())
    return np.asarray(weight / weight.sum())


def _log_rising(x: Any, n: Any) -> Any:
    """The logarithm of x (x + 1) … (x + n − 1)."""
    return gammaln(x + n) - gammaln(x)


def _log_sequence(counts: NDArray[Any], prior: NDArray[Any]) -> float:
    """Log probability of a sequence with these counts, its distribution drawn from Dirichlet(prior)."""
    return float(_log_rising(prior, counts).sum() - _log_rising(prior.sum(), counts.sum()))
