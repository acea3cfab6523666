"""Compiled loops of the kernel topic model: topic shares of words, rank-one updates, products of sparse rows.

The shares are those of collapsed variational inference (Teh et al. 2007) without its second-order terms, with a
document's mixture explicit: q(k | word w of document d) ∝ side_dk · (N_wk + β) / (N_k + Wβ), where a token's own share
is left out of the counts. Kernel topic models have side_dk = exp(y_dk); the warm-up is LDA, α + N_dk.
"""

from __future__ import annotations

import numpy as np

from topoi.kernels.jit import compiled, lean


@compiled
def count(bags, shares, doc_topic, word_topic, topic):
    """Expected counts from the shares of all entries (word of a document); O(entries × topics)."""
    doc_topic[:] = 0.0
    word_topic[:] = 0.0
    topic[:] = 0.0
    for d in range(bags.doc_start.shape[0] - 1):
        for i in range(bags.doc_start[d], bags.doc_start[d + 1]):
            for k in range(topic.shape[0]):
                n = bags.times[i] * shares[i, k]
                doc_topic[d, k] += n
                word_topic[bags.row[i], k] += n
                topic[k] += n


@lean
def _share_words(bags, d, shares, doc_topic, word_topic, topic, base, counted, beta, new):
    """Recompute the shares of one document's words, one after the other, and update the counts."""
    n_topics, beta_sum = topic.shape[0], beta * word_topic.shape[0]
    for i in range(bags.doc_start[d], bags.doc_start[d + 1]):
        w, n, total = bags.row[i], bags.times[i], 0.0
        for k in range(n_topics):
            own = shares[i, k]
            side = base[k] + (max(doc_topic[d, k] - own, 0.0) if counted else 0.0)
            new[k] = side * (max(word_topic[w, k] - own, 0.0) + beta) / (max(topic[k] - own, 0.0) + beta_sum)
            total += new[k]
        for k in range(n_topics):
            share = new[k] / total
            change = n * (share - shares[i, k])
            shares[i, k] = share
            doc_topic[d, k] += change
            word_topic[w, k] += change
            topic[k] += change


@compiled
def sweep(bags, shares, doc_topic, word_topic, topic, base, counted, beta):
    """Recompute the shares of all words, document by document; O(entries × topics).

    ``base`` is each document's side, documents × topics, to which its own counts are added if ``counted``.
    """
    new = np.empty(topic.shape[0])
    for d in range(bags.doc_start.shape[0] - 1):
        _share_words(bags, d, shares, doc_topic, word_topic, topic, base[d], counted, beta, new)


@compiled
def share_document(bags, d, shares, doc_topic, word_topic, topic, base, beta, n_passes):
    """Passes over one document alone, with its own counts, for inference that goes from one to the next."""
    new = np.empty(topic.shape[0])
    for _ in range(n_passes):
        _share_words(bags, d, shares, doc_topic, word_topic, topic, base, True, beta, new)


@compiled
def draw_counts(bags, side, word_topic, topic, beta, uniform, doc_topic):
    """Topic counts of every document with one topic drawn for each word; O(words × topics).

    Topics have probabilities in proportion to side_dk · (N_wk + β) / (N_k + Wβ). ``uniform`` has a number below one for
    every word, in order.
    """
    doc_topic[:] = 0.0
    n_topics, at, beta_sum = topic.shape[0], 0, beta * word_topic.shape[0]
    sums = np.empty(n_topics)
    for d in range(bags.doc_start.shape[0] - 1):
        for i in range(bags.doc_start[d], bags.doc_start[d + 1]):
            w, total = bags.row[i], 0.0
            for k in range(n_topics):
                total += side[d, k] * (word_topic[w, k] + beta) / (topic[k] + beta_sum)
                sums[k] = total
            for _ in range(int(bags.times[i])):
                k = 0
                while k < n_topics - 1 and uniform[at] * total >= sums[k]:
                    k += 1
                doc_topic[d, k] += 1.0
                at += 1


@lean
def subtract_outer(covariance, column, scale):
    """C_k −= scale_k · c_k c_kᵀ for every topic, in place; O(topics × documents²)."""
    for k in range(covariance.shape[0]):
        for i in range(covariance.shape[1]):
            factor = scale[k] * column[k, i]
            for j in range(covariance.shape[2]):
                covariance[k, i, j] -= factor * column[k, j]


@compiled
def multiply_rows(start, index, value, columns, first, last, result):
    """Set rows ``first`` to ``last`` of ``result`` to those of the product; O(entries × columns).

    Each row is summed in the order of its entries, whatever the ranges.
    """
    n_columns = columns.shape[1]
    for d in range(first, last):
        for k in range(n_columns):
            result[d, k] = 0.0
        for i in range(start[d], start[d + 1]):
            other, weight = index[i], value[i]
            for k in range(n_columns):
                result[d, k] += weight * columns[other, k]
