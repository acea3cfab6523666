"""Probability of documents by particles that go through them from left to right, as for LDA."""

from __future__ import annotations

import numpy as np

from topoi.kernels.folding import content_key
from topoi.kernels.jit import compiled
from topoi.kernels.random import seed_stream
from topoi.models.author_topic.likelihood import integrated


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
