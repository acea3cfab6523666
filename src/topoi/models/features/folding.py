"""New documents with known topics and a Dirichlet prior each, compiled: expected counts and probabilities."""

from __future__ import annotations

import math

import numpy as np

from topoi.kernels.jit import compiled


@compiled
def fold_in(bags, word_topic, prior, first, last, tolerance, max_passes, doc_topic):
    """Set ``doc_topic`` to expected topic counts of new documents; P(word | topic) and Dirichlet priors are fixed.

    ``word_topic`` is words × topics, ``prior`` documents × topics. Passes end when no count changes by ``tolerance``
    per word.
    """
    n_topics = prior.shape[1]
    new = np.empty(n_topics)
    for d in range(first, last):
        begin, end = bags.doc_start[d], bags.doc_start[d + 1]
        shares = np.empty((end - begin, n_topics))
        length = 0.0
        doc_topic[d] = 0.0
        for i in range(begin, end):
            total = 0.0
            for k in range(n_topics):
                new[k] = word_topic[bags.row[i], k] * prior[d, k]
                total += new[k]
            length += bags.times[i]
            for k in range(n_topics):
                shares[i - begin, k] = new[k] / total if total > 0.0 else 1.0 / n_topics
                doc_topic[d, k] += bags.times[i] * shares[i - begin, k]
        for _ in range(max_passes):
            largest = 0.0
            for i in range(begin, end):
                total = 0.0
                for k in range(n_topics):
                    own = shares[i - begin, k]
                    new[k] = word_topic[bags.row[i], k] * (prior[d, k] + max(doc_topic[d, k] - own, 0.0))
                    total += new[k]
                for k in range(n_topics):
                    share = new[k] / total if total > 0.0 else 1.0 / n_topics
                    change = bags.times[i] * (share - shares[i - begin, k])
                    shares[i - begin, k] = share
                    doc_topic[d, k] += change
                    largest = max(largest, abs(change))
            if largest < tolerance * length:
                break


@compiled
def score(bags, word_topic, mixture, log_p):
    """Σ n log Σ_k P(w | k) mixture_dk for every document; O(entries × topics)."""
    for d in range(bags.doc_start.shape[0] - 1):
        total = 0.0
        for i in range(bags.doc_start[d], bags.doc_start[d + 1]):
            p = 0.0
            for k in range(mixture.shape[1]):
                p += word_topic[bags.row[i], k] * mixture[d, k]
            total += bags.times[i] * math.log(p)
        log_p[d] = total
