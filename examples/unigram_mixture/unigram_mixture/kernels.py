"""The sweep, compiled: arrays in, arrays out. ``equations`` has the same in plain form."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi.kernels.dirichlet import log_rising
from topoi.kernels.draw import draw_plain
from topoi.kernels.jit import compiled, inlined
from topoi.kernels.random import uniform


class Documents(NamedTuple):
    """Documents as bags: for each the distinct words, and how often they occur."""

    start: NDArray[np.int64]
    word: NDArray[np.int32]
    times: NDArray[np.float32]


class Counts(NamedTuple):
    """What the shards share. The engine copies and sums these arrays, so they hold whole numbers."""

    word_topic: NDArray[np.float32]
    topic: NDArray[np.float64]
    docs: NDArray[np.float64]


class Priors(NamedTuple):
    """Dirichlet parameters of topics among documents and of words in topics, and the sum of the latter."""

    alpha: NDArray[np.float64]
    beta: NDArray[np.float64]
    beta_sum: float


@inlined
def move(documents, d, k, counts, step):
    """Add document ``d`` to topic ``k`` (step 1) or take it away (step -1)."""
    for i in range(documents.start[d], documents.start[d + 1]):
        counts.word_topic[documents.word[i], k] += np.float32(step) * documents.times[i]
        counts.topic[k] += step * np.float64(documents.times[i])
    counts.docs[k] += step


@compiled
def topic_weights(documents, d, counts, priors, weights):
    """Set ``weights`` to P(z[d] = k | rest) up to a factor; the counts leave the document out (equation 1)."""
    best = -np.inf
    for k in range(weights.shape[0]):
        n = 0.0
        weight = math.log(counts.docs[k] + priors.alpha[k])
        for i in range(documents.start[d], documents.start[d + 1]):
            w, times = documents.word[i], np.float64(documents.times[i])
            weight += log_rising(times, np.float64(counts.word_topic[w, k]) + priors.beta[w])
            n += times
        weights[k] = weight - log_rising(n, counts.topic[k] + priors.beta_sum)
        best = max(best, weights[k])
    for k in range(weights.shape[0]):
        weights[k] = math.exp(weights[k] - best)


@compiled
def start(documents, topic, counts, stream):
    """Give every document that has words a topic at random, and count it."""
    for d in range(topic.shape[0]):
        if documents.start[d + 1] > documents.start[d]:
            topic[d] = np.int64(uniform(stream) * counts.topic.shape[0])
            move(documents, d, topic[d], counts, 1)


@compiled
def count(documents, topic, counts):
    """Count every document that has words under its topic; the counts are zero before."""
    for d in range(topic.shape[0]):
        if documents.start[d + 1] > documents.start[d]:
            move(documents, d, topic[d], counts, 1)


@compiled
def sweep(documents, topic, counts, priors, stream):
    """Draw the topic of every document once; O(topics × distinct words of the documents)."""
    weights = np.empty(counts.topic.shape[0])
    for d in range(topic.shape[0]):
        if documents.start[d + 1] > documents.start[d]:
            move(documents, d, topic[d], counts, -1)
            topic_weights(documents, d, counts, priors, weights)
            topic[d] = draw_plain(weights, weights.shape[0], stream)
            move(documents, d, topic[d], counts, 1)
