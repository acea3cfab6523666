"""Expectation propagation and variational inference as in the paper (Minka and Lafferty 2002, section 4).

One document: ``p[w, a]`` is p(w|a) for its words, ``n[w]`` the count of each, ``alpha[a]`` the prior's parameters.
``ep`` and ``vb`` do the same for many documents, in SIMD lanes, without differences of large numbers, and with larger
steps where those are safe; the tests compare them with this file.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma, gammaln, logsumexp

Array = NDArray[np.float64]


def expectation_propagation(p: Array, n: Array, alpha: Array, n_passes: int) -> tuple[Array, float]:
    """Parameters γ of the approximate posterior, and the estimate of log p(document); section 4.2.

    Each word's term t_w(λ) = Σ_a p(w|a) λ_a (12) is approximated by a site s_w Π_a λ_a^β_wa (14).
    """
    beta, log_s = np.zeros(p.shape), np.zeros(len(n))
    gamma = alpha.copy()  # (16) with β = 0
    for _ in range(n_passes):
        for w in range(len(n)):
            cavity = gamma - beta[w]  # (17)
            if (cavity <= 0).any():
                continue
            matched = match_moments(p[w], cavity)
            step = min(1.0, 1.0 / n[w])  # "the safest stepsize", which makes γ = γ'
            new = step * (matched - cavity) + (1.0 - step) * beta[w]  # (18)
            moved = gamma + n[w] * (new - beta[w])  # (21)
            if (moved <= 0).any():
                continue
            gamma, beta[w] = moved, new
    for w in range(len(n)):
        cavity = gamma - beta[w]
        log_s[w] = np.log(p[w] @ cavity / cavity.sum()) + log_beta(cavity) - log_beta(gamma)  # (19), (20)
    return gamma, float(log_beta(gamma) - log_beta(alpha) + n @ log_s)  # (22)


def match_moments(p: Array, cavity: Array) -> Array:
    """Parameters γ' of the Dirichlet with the mean and variance of t(λ) D(λ | cavity)."""
    total = cavity.sum()
    z = p @ cavity / total  # (19)
    mean = cavity / total * (p + p @ cavity) / (1.0 + total) / z  # (23)
    square = cavity / total * (cavity + 1.0) / (1.0 + total) * (2.0 * p + p @ cavity) / (2.0 + total) / z  # (24)
    return (mean - square).sum() / (square - mean**2).sum() * mean  # (25)


def variational_bound(p: Array, n: Array, alpha: Array, n_passes: int) -> tuple[Array, float]:
    """Parameters γ of the approximate posterior, and the lower bound of log p(document); section 4.1."""
    gamma = alpha + n.sum() / len(alpha)
    with np.errstate(divide="ignore"):
        log_p = np.log(p)
    for _ in range(n_passes):
        log_q = log_p + digamma(gamma)  # (11)
        log_q = log_q - logsumexp(log_q, axis=1, keepdims=True)
        gamma = alpha + n @ np.exp(log_q)  # (10)
    surprise = np.where(p > 0, np.exp(log_q) * (np.where(p > 0, log_p, 0.0) - log_q), 0.0)
    return gamma, float(log_beta(gamma) - log_beta(alpha) + n @ surprise.sum(axis=1))  # (6) with (9)


def log_beta(a: Array) -> float:
    """Log of the Dirichlet distribution's normaliser, log Π Γ(a_i) − log Γ(Σ a_i)."""
    return float(gammaln(a).sum() - gammaln(a.sum()))
