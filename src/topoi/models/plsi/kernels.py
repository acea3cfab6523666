"""EM steps over the words that documents have, compiled; ``equations`` has the same on dense matrices."""

from __future__ import annotations

import math

import numpy as np

from topoi.kernels.jit import compiled, inlined, lean


@inlined
def _share(word_topic, w, mixture, power, part):
    """Set ``part`` to (P(w|z) P(z|d)) ** power; return its sum, and P(w|d). Four sums hide the latency of additions."""
    n = part.shape[0]
    for k in range(n):
        part[k] = word_topic[w, k] * mixture[k]
    plain = _sum(part)
    if power == 1.0:
        return plain, plain
    for k in range(n):
        part[k] = part[k] ** power
    return _sum(part), plain


@inlined
def _sum(values):
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    n = values.shape[0]
    for k in range(0, n - 3, 4):
        a += values[k]
        b += values[k + 1]
        c += values[k + 2]
        d += values[k + 3]
    for k in range(n - n % 4, n):
        a += values[k]
    return (a + b) + (c + d)


@compiled
def expect(bags, word_topic, doc_topic, power, by_word, by_document):
    """Add expected tokens to ``by_word`` and ``by_document`` (equation 2); return log P(words | documents).

    ``by_word`` is words × topics, ``by_document`` documents × topics. Cost: O(words of documents × topics).
    """
    part = np.empty(word_topic.shape[1])
    return _expect(bags, word_topic, doc_topic, power, by_word, by_document, part)


@lean
def _expect(bags, word_topic, doc_topic, power, by_word, by_document, part):
    doc_start, row, times = bags
    result = 0.0
    for d in range(doc_start.shape[0] - 1):
        for i in range(doc_start[d], doc_start[d + 1]):
            w = row[i]
            total, probability = _share(word_topic, w, doc_topic[d], power, part)
            if total > 0.0:
                scale = times[i] / total
                for k in range(part.shape[0]):
                    by_word[w, k] += scale * part[k]
                    by_document[d, k] += scale * part[k]
            result += times[i] * (math.log(probability) if probability > 0.0 else -np.inf)
    return result


@lean
def maximise(by_word, by_document, smoothing, word_topic, doc_topic):
    """Set P(w|z) and P(z|d) to shares of expected tokens (equations 3 and 4).

    A topic without tokens, and a document without words, keep what they have.
    """
    for k in range(by_word.shape[1]):
        total = 0.0
        for w in range(by_word.shape[0]):
            total += by_word[w, k] + smoothing
        if total > 0.0:
            for w in range(by_word.shape[0]):
                word_topic[w, k] = (by_word[w, k] + smoothing) / total
    for d in range(by_document.shape[0]):
        total = _sum(by_document[d])
        if total > 0.0:
            for k in range(by_document.shape[1]):
                doc_topic[d, k] = by_document[d, k] / total


@compiled
def score(bags, word_topic, doc_topic):
    """log P(words | documents) of each document, under mixtures that are given (equation 1)."""
    doc_start, row, times = bags
    part, found = np.empty(word_topic.shape[1]), np.zeros(doc_start.shape[0] - 1)
    for d in range(found.shape[0]):
        for i in range(doc_start[d], doc_start[d + 1]):
            _, probability = _share(word_topic, row[i], doc_topic[d], 1.0, part)
            found[d] += times[i] * (math.log(probability) if probability > 0.0 else -np.inf)
    return found


@compiled
def fold_in(bags, word_topic, power, n_steps, tolerance, doc_topic):
    """Set ``doc_topic`` to new documents' mixtures by EM with the topics fixed (equation 5), from an even one.

    Ends when a step changes no share by more than ``tolerance``. Words that no topic has are left out.
    """
    doc_start, row, times = bags
    n_topics = word_topic.shape[1]
    part, new = np.empty(n_topics), np.empty(n_topics)
    for d in range(doc_start.shape[0] - 1):
        for k in range(n_topics):
            doc_topic[d, k] = 1.0 / n_topics
        for _ in range(n_steps):
            new[:] = 0.0
            for i in range(doc_start[d], doc_start[d + 1]):
                total, _ = _share(word_topic, row[i], doc_topic[d], power, part)
                if total > 0.0:
                    for k in range(n_topics):
                        new[k] += times[i] / total * part[k]
            length, moved = _sum(new), 0.0
            if length == 0.0:
                break
            for k in range(n_topics):
                moved = max(moved, abs(new[k] / length - doc_topic[d, k]))
                doc_topic[d, k] = new[k] / length
            if moved <= tolerance:
                break


@compiled
def label(tokens, word_topic, mixture, power, topic):
    """Set ``topic`` to P(z | d, w) of every token (equation 2); the mixture itself for a word that no topic has."""
    part = np.empty(word_topic.shape[1])
    for i in range(tokens.shape[0]):
        total, _ = _share(word_topic, tokens[i], mixture, power, part)
        for k in range(part.shape[0]):
            topic[i, k] = part[k] / total if total > 0.0 else mixture[k]
