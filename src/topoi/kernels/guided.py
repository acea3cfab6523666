"""First topics of tokens where not every word or document may have every topic."""

# numba infers the types of compiled loops.
# mypy: allow-untyped-defs, allow-incomplete-defs, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from topoi.kernels.draw import draw_positive
from topoi.kernels.jit import compiled


@compiled
def draw_start(tokens, doc_start, topic, rows, row, sets, doc_set, anew, stream):
    """Draw topics that are not allowed among those that are; with ``anew`` also those of seed words.

    ``rows[row[w]]`` has the seeds of word ``w`` per topic, -1 where it is banned; ``sets[doc_set[d]]`` is one for the
    topics of document ``d``. A seed word is drawn by its seeds, if the document may have one of their topics; any other
    uniformly among what is left. Cost: O(topics) for each token that is drawn.
    """
    n_topics = rows.shape[1]
    weights = np.zeros(n_topics)
    for d in range(doc_start.shape[0] - 1):
        allowed = sets[doc_set[d]]
        for i in range(doc_start[d], doc_start[d + 1]):
            own = rows[row[tokens[i]]]
            k = np.int64(topic[i])
            fits = k < n_topics and own[k] >= 0 and allowed[k] > 0
            if fits and not anew:
                continue
            seeded = 0.0
            for j in range(n_topics):
                weights[j] = own[j] * allowed[j] if own[j] > 0 else 0.0
                seeded += weights[j]
            if fits and seeded == 0.0:
                continue
            if seeded == 0.0:
                for j in range(n_topics):
                    weights[j] = allowed[j] if own[j] >= 0 else 0.0
            topic[i] = draw_positive(weights, n_topics, stream)
