"""Scores of many documents for the terms of a query: products with mixtures of topics, and sums of logarithms."""

from __future__ import annotations

import numpy as np

from topoi.kernels.jit import compiled

# Documents at once: the sums of a query's terms for them stay in the fastest cache.
_DOCUMENTS = 1024
# Ratios multiplied before a logarithm is taken; each is between 1e-15 and 1e15.
_FACTORS = 16


@compiled
def term_products(mixtures, columns):
    """Σ over topics of mixture × column: terms × documents.

    Mixtures are topics × documents and read once, four topics in a go, so that sums are loaded and stored a quarter as
    often; columns are topics × terms. A general matrix product packs the mixtures first, which takes longer than this.
    """
    n_topics, n_docs = mixtures.shape
    n_terms = columns.shape[1]
    found = np.zeros((n_terms, n_docs), np.float32)
    whole = n_topics - n_topics % 4
    for first in range(0, n_docs, _DOCUMENTS):
        here = slice(first, min(first + _DOCUMENTS, n_docs))
        for k in range(0, whole, 4):
            m0, m1, m2, m3 = mixtures[k, here], mixtures[k + 1, here], mixtures[k + 2, here], mixtures[k + 3, here]
            for j in range(n_terms):
                c0, c1, c2, c3 = columns[k, j], columns[k + 1, j], columns[k + 2, j], columns[k + 3, j]
                own = found[j, here]
                for d in range(len(own)):
                    own[d] += (c0 * m0[d] + c1 * m1[d]) + (c2 * m2[d] + c3 * m3[d])
        for k in range(whole, n_topics):
            m0 = mixtures[k, here]
            for j in range(n_terms):
                c0, own = columns[k, j], found[j, here]
                for d in range(len(own)):
                    own[d] += c0 * m0[d]
    return found


@compiled
def log_likelihoods(start, unit, count, length, mu, weight, topics, times):
    """Σ over terms of times · log(weight · language + (1 − weight) · topics), of every unit.

    Term j occurs in ``unit[start[j]:start[j + 1]]``, in rising order, ``count`` times divided by its background, so
    that (count + mu) / (length + mu) is its ratio under the language model. ``topics`` has its ratios under the topic
    model, terms × units, and is not read if the weight is 1. Terms that occur once each share a logarithm.
    """
    n_terms, n_units = len(times), len(length)
    found = np.zeros(n_units)
    room = np.empty(_DOCUMENTS)
    ratio = np.empty(_DOCUMENTS)
    product = np.empty(_DOCUMENTS)
    at = start[:-1].copy()
    for first in range(0, n_units, _DOCUMENTS):
        n = min(_DOCUMENTS, n_units - first)
        for d in range(n):
            room[d] = weight / (length[first + d] + mu)
            product[d] = 1.0
        pending = 0
        for j in range(n_terms):
            for d in range(n):
                ratio[d] = mu * room[d]
            if weight < 1.0:
                own = topics[j, first : first + n]
                for d in range(n):
                    ratio[d] += (1.0 - weight) * own[d]
            i = at[j]
            while i < start[j + 1] and unit[i] < first + n:
                ratio[unit[i] - first] += count[i] * room[unit[i] - first]
                i += 1
            at[j] = i
            if times[j] == 1.0:
                for d in range(n):
                    product[d] *= ratio[d]
                pending += 1
            else:
                for d in range(n):
                    found[first + d] += times[j] * np.log(ratio[d])
            if pending == _FACTORS or (pending and j == n_terms - 1):
                for d in range(n):
                    found[first + d] += np.log(product[d])
                    product[d] = 1.0
                pending = 0
    return found
