"""Document probabilities by importance sampling (unbiased, with a standard error where there is one) or by particles.

Mixtures are drawn from an inferred posterior and, one in ten, from the prior, which keeps weights bounded where that
posterior is too narrow. Weights count both sources (Veach and Guibas 1995: the balance heuristic).

With alpha of 1 or more the posterior of a mixture is log-concave: it has one mode, which one Dirichlet can cover, and
the shape of the weights' tail tells whether it does (``models.scores``). With smaller alpha a document may have several
explanations, of which the draws cover one: the logarithm is then too low, and nothing in the draws shows it. So an
error is given only for alpha of 1 or more.
"""

# numba infers the types of compiled loops.
# mypy: allow-untyped-defs, allow-incomplete-defs, no-check-untyped-defs
from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi.kernels.folding import content_key
from topoi.kernels.jit import compiled, lean
from topoi.kernels.random import seed_stream
from topoi.kernels.special import log_beta, log_dirichlet
from topoi.models.bags import Bags
from topoi.models.fixed_topics.parameters import Parameters
from topoi.models.fixed_topics.particles import integrated
from topoi.models.fixed_topics.vb import word_norm
from topoi.models.ranges import for_rows
from topoi.models.scores import largest_shape, pareto_shapes, tail_length

_FROM_PRIOR = 10


class Sampled(NamedTuple):
    """Per document: log of the estimate, its scatter (in nats), the effective number of weights, and their shape.

    The shape is that of the weights' tail, see ``models.scores``; NaN where the draws may have missed a mode.
    """

    log_likelihood: NDArray[np.float64]
    standard_error: NDArray[np.float64]
    effective_samples: NDArray[np.float64]
    shape: NDArray[np.float64]


@lean
def _content_key(bags, d):
    """Hash of a document's words and counts, the name of its random stream."""
    key = np.uint64(0xCBF29CE484222325)
    for i in range(bags.doc_start[d], bags.doc_start[d + 1]):
        key = (key ^ np.uint64(bags.row[i] + 1)) * np.uint64(0x100000001B3)
        key = (key ^ np.uint64(np.int64(bags.times[i] * 1024.0))) * np.uint64(0x100000001B3)
        key ^= key >> np.uint64(29)
    return np.int64(key >> np.uint64(1))


@lean
def _log_density(draw, parameters, n, norm):
    """Log density of a Dirichlet at a mixture given by logarithms."""
    result = -norm
    for a in range(n):
        result += (parameters[a] - 1.0) * draw[a]
    return result


@compiled
def sample_documents(bags, parameters, gamma, first, last, n_samples, seed, logs, errors, sizes, tails):
    """Sample documents ``first`` to ``last``, drawing from the posteriors in ``gamma``. O(samples × words × aspects).

    ``tails`` receives the logarithms of each document's largest weights.
    """
    n, width = parameters.n_aspects, parameters.alpha.shape[0]
    draw, mixture, weight = np.zeros(width), np.zeros(width), np.zeros(n_samples)
    stream = np.zeros(2, np.uint64)
    prior_norm = log_beta(parameters.alpha, n)
    n_prior = (n_samples + _FROM_PRIOR - 1) // _FROM_PRIOR
    log_share, log_rest = math.log(n_prior / n_samples), -np.inf
    if n_prior < n_samples:
        log_rest = math.log(1.0 - n_prior / n_samples)
    for d in range(first, last):
        seed_stream(stream, seed, 0, 1, _content_key(bags, d))
        norm = log_beta(gamma[d], n)
        largest = -np.inf
        for s in range(n_samples):
            log_dirichlet(stream, parameters.alpha if s < n_prior else gamma[d], n, draw)
            for a in range(n):
                mixture[a] = math.exp(draw[a])
            value = 0.0
            for i in range(bags.doc_start[d], bags.doc_start[d + 1]):
                chance = word_norm(parameters.word_aspect, bags.row[i], mixture, width)
                value += bags.times[i] * math.log(chance) if chance > 0.0 else -np.inf
            prior = _log_density(draw, parameters.alpha, n, prior_norm)
            # Log of target over proposal, both divided by the prior's density.
            beyond = log_rest + _log_density(draw, gamma[d], n, norm) - prior
            top = max(log_share, beyond)
            weight[s] = value - top - math.log(math.exp(log_share - top) + math.exp(beyond - top))
            largest = max(largest, weight[s])
        tails[d] = np.sort(weight)[n_samples - tails.shape[1] :]
        total, squares = 0.0, 0.0
        if largest > -np.inf:
            for s in range(n_samples):
                share = math.exp(weight[s] - largest)
                total += share
                squares += share * share
        if total <= 0.0:
            logs[d], errors[d], sizes[d] = -np.inf, 0.0, 0.0
            continue
        mean = total / n_samples
        logs[d] = largest + math.log(mean)
        variance = max(squares / n_samples - mean * mean, 0.0)
        errors[d] = math.sqrt(variance / max(n_samples - 1, 1)) / mean
        sizes[d] = total * total / squares


def sample(
    bags: Bags, parameters: Parameters, room: NDArray[np.float64], n_samples: int, seed: int, n_jobs: int = 1
) -> Sampled:
    """Probabilities of all documents, from their posteriors (documents × aspects, padded).

    Random streams are named by seed and words, so that neither threads nor the order of documents change the result.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.models.fixed_topics.importance import sample
    >>> from topoi.models.fixed_topics.parameters import Parameters, with_padding
    >>> from topoi.models.bags import Bags
    >>> bags = Bags(np.array([0, 2]), np.array([0, 1]), np.array([4.0, 6.0]))
    >>> parameters = Parameters.pad(np.array([[0.5, 1.0], [0.5, 0.0]]), np.ones(2))
    >>> found = sample(bags, parameters, with_padding(np.array([[5.5, 1.2]])), 20_000, 0)
    >>> bool(abs(found.log_likelihood[0] + 8.34497) < 4 * found.standard_error[0])
    True
    """
    parameters = parameters.writable()
    logs, errors, sizes = np.zeros((3, bags.n_docs))
    tails = np.zeros((bags.n_docs, tail_length(n_samples) + 1))

    def run(first: int, last: int) -> None:
        sample_documents(bags, parameters, room, first, last, n_samples, seed, logs, errors, sizes, tails)

    for_rows(run, np.diff(bags.doc_start), n_jobs)
    one_mode = bool((parameters.alpha[: parameters.n_aspects] >= 1.0).all())
    return Sampled(logs, errors, sizes, pareto_shapes(tails) if one_mode else np.full(bags.n_docs, np.nan))


def trusted_errors(found: Sampled, n_samples: int) -> NDArray[np.float64]:
    """Standard errors, NaN where the scatter of the draws is not a valid error.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.models.fixed_topics.importance import Sampled, trusted_errors
    >>> found = Sampled(np.full(2, -9.0), np.array([0.01, 0.35]), np.array([700.0, 8.0]), np.array([0.2, 0.9]))
    >>> trusted_errors(found, 1000).tolist()
    [0.01, nan]
    """
    # Equal draws, for a document without words or with one aspect, have no error but rounding.
    exact = (found.standard_error < 1e-6) & np.isfinite(found.log_likelihood)
    return np.where((found.shape <= largest_shape(n_samples)) | exact, found.standard_error, np.nan)


@compiled
def log_likelihood(
    documents,
    word_aspect,
    priors,
    n_aspects,
    n_particles,
    n_moves,
    seed,
    chain,
    result,
    resample_below=0.5,
    weighted=True,
):
    """Set ``result[d]`` to the log probability of each document; see ``author_topic.likelihood.log_likelihood``.

    The document's mixture is integrated out; nothing else is unknown. Minus infinity for a document with a word that no
    aspect draws.
    """
    stream, nobody = np.empty(2, np.uint64), np.zeros(n_aspects)
    how = n_particles, n_moves, resample_below, weighted
    for d in range(documents.doc_start.shape[0] - 1):
        first, last = documents.doc_start[d], documents.doc_start[d + 1]
        phi = np.empty((last - first, n_aspects))
        for i in range(last - first):
            phi[i] = word_aspect[documents.tokens[first + i], :n_aspects]
        seed_stream(stream, seed, chain, content_key(documents, d), 2)
        result[d] = integrated(phi, nobody, 1.0, priors, how, stream)
