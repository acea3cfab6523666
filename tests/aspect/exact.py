"""Exact answers for small problems, by quadrature over mixtures: what inference is compared with."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import gammaln, logsumexp, roots_jacobi

from topoi.models.bags import Bags
from topoi.models.fixed_topics.parameters import Parameters


class Exact(NamedTuple):
    log_likelihood: float
    mean: np.ndarray
    # E[p_a λ_a / Σ p λ] for each word and aspect.
    shares: np.ndarray


def summed(mixtures, log_weights, words, times):
    """Integrals over weighted points: words is p(w|a), words × aspects."""
    terms = mixtures @ words.T
    log_values = log_weights + (np.log(terms) * times).sum(axis=1)
    total = logsumexp(log_values)
    weights = np.exp(log_values - total)
    shares = np.einsum("s,sa,wa,sw->wa", weights, mixtures, words, 1.0 / terms)
    return Exact(float(total - logsumexp(log_weights)), weights @ mixtures, shares)


def two_aspects(words, times, alpha, n=200):
    """Gauss-Jacobi quadrature: exact but for rounding, the integrand is a polynomial."""
    x, weights = roots_jacobi(n, alpha[1] - 1, alpha[0] - 1)
    share = (x + 1) / 2
    return summed(np.stack([share, 1 - share], axis=1), np.log(weights), words, times)


def three_aspects(words, times, alpha, n=60):
    """The same over λ1 and λ2 / (1 − λ1), which are independent under a Dirichlet."""
    x, u = roots_jacobi(n, alpha[1] + alpha[2] - 1, alpha[0] - 1)
    y, v = roots_jacobi(n, alpha[2] - 1, alpha[1] - 1)
    first, second = np.meshgrid((x + 1) / 2, (y + 1) / 2, indexing="ij")
    mixtures = np.stack([first, (1 - first) * second, (1 - first) * (1 - second)], axis=-1).reshape(-1, 3)
    return summed(mixtures, (np.log(u)[:, None] + np.log(v)).ravel(), words, times)


def sampled(words, times, alpha, gamma, n, rng):
    """Plain importance sampling, half from the prior and half from Dir(gamma): estimate, its error, and the mean."""
    draws = np.concatenate([rng.dirichlet(alpha, n // 2), rng.dirichlet(gamma, n // 2)])
    draws = np.maximum(draws, 1e-300)

    def density(at):
        return gammaln(at.sum()) - gammaln(at).sum() + ((at - 1) * np.log(draws)).sum(axis=1)

    prior = density(alpha)
    proposal = np.logaddexp(prior, density(np.asarray(gamma))) - np.log(2)
    logs = prior - proposal + (np.log(draws @ words.T) * times).sum(axis=1)
    top = logs.max()
    weights = np.exp(logs - top)
    error = weights.std() / np.sqrt(n) / weights.mean()
    return top + np.log(weights.mean()), error, weights @ draws / weights.sum()


def one_document(words, times, alpha):
    """A document that has every word, and the model, as kernels read them."""
    bags = Bags(np.array([0, len(times)]), np.arange(len(times)), np.asarray(times, np.float64))
    return bags, Parameters.pad(np.asarray(words, np.float64), np.asarray(alpha, np.float64))


def random_problem(rng, n_aspects, alpha, most_words=12):
    """Random aspects over twenty words, and some of them as often as chance will have it: hard for any alpha."""
    n = int(rng.integers(1, most_words))
    words = rng.dirichlet(np.full(20, 0.5), n_aspects).T[:n]
    return words, rng.integers(1, 8, n).astype(np.float64), np.full(n_aspects, float(alpha))


def typical_problem(rng, n_aspects, alpha):
    """Random aspects over ten words, and a document of up to ten words that the model itself has drawn."""
    words, prior = rng.dirichlet(np.ones(10), n_aspects).T, np.full(n_aspects, float(alpha))
    times = rng.multinomial(rng.integers(1, 11), words @ rng.dirichlet(prior)).astype(np.float64)
    return words[times > 0], times[times > 0], prior
