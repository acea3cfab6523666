"""Probability of new documents: theta of known authors is plugged in, that of private ones integrated out.

A document whose authors are all known has P(w_d) = Π_i Σ_k Σ_a weight[a] · theta[a,k] · phi[k,w_i], the authors'
weights summing to one (Rosen-Zvi et al. 2009, below equation 10). A private author's theta is unknown; its prior mean
would make the model a unigram, so it is integrated out by particles that go through the document from left to right.
Three parameters of ``log_likelihood`` select the algorithm: a particle filter, linear in the length, or the
left-to-right algorithms of Wallach et al. (2009, section 4.4) and Buntine (2009), quadratic in it.
"""

# numba infers the types of compiled loops.
# mypy: allow-untyped-defs, allow-incomplete-defs, no-check-untyped-defs
from __future__ import annotations

import math

import numpy as np

from topoi.kernels.folding import content_key, word_probabilities
from topoi.kernels.jit import compiled
from topoi.kernels.random import seed_stream
from topoi.models.fixed_topics.particles import integrated


@compiled
def log_likelihood(
    documents, counts, priors, n_particles, n_moves, seed, chain, result, resample_below=0.5, weighted=True
):
    """Set ``result[d]`` to the log probability of each document, natural log, without multinomial coefficient.

    Before each token a particle redraws ``n_moves`` random earlier ones, or all of them in turn if it is negative.
    Particles are resampled when their effective number falls below the share ``resample_below``. With ``weighted``, the
    estimate is unbiased for any of these settings: a weight is the product of a particle's predictive probabilities so
    far. Without it, each token's predictive probability is the plain mean over particles, and the estimate is that of
    Wallach et al., which is biased for any number of particles.

    Cost: O(tokens × topics) where all authors are known, else × n_particles × (1 + n_moves).
    """
    n_topics = counts.topic.shape[0]
    private = counts.author.shape[0] - 1
    stream = np.empty(2, np.uint64)
    known = np.empty(n_topics)
    for d in range(documents.doc_start.shape[0] - 1):
        first, last = documents.author_start[d], documents.author_start[d + 1]
        total = 0.0
        for p in range(first, last):
            total += documents.author_weight[p]
        known[:] = 0.0
        own = 0.0
        for p in range(first, last):
            a = documents.author[p]
            weight = documents.author_weight[p] / total
            if a == private:
                own = weight
                continue
            for k in range(n_topics):
                number = np.float64(counts.author_topic[a, k]) + priors.alpha[k]
                known[k] += weight * (number / (counts.author[a] + priors.alpha_sum))
        phi = word_probabilities(documents, d, counts, priors)
        if own == 0.0:
            result[d] = 0.0
            for i in range(phi.shape[0]):
                result[d] += math.log((phi[i] * known).sum())
        else:
            seed_stream(stream, seed, chain, content_key(documents, d), 2)
            how = n_particles, n_moves, resample_below, weighted
            result[d] = integrated(phi, known, own, priors, how, stream)
