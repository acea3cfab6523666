"""The equations of probabilistic latent semantic indexing on dense matrices, numbered as in the README."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def log_likelihood(counts: Array, word_topic: Array, doc_topic: Array) -> float:
    """log P(words | documents): Σ n(d,w) log Σ_z P(w|z) P(z|d) (equation 1); counts are documents × words."""
    predicted = doc_topic @ word_topic.T
    there = counts > 0
    return float((counts[there] * np.log(predicted[there])).sum())


def responsibilities(word_topic: Array, doc_topic: Array, power: float = 1.0) -> Array:
    """P(z | d, w), documents × words × topics (equation 2); a power below one tempers it."""
    joint = (doc_topic[:, None, :] * word_topic[None, :, :]) ** power
    return np.asarray(joint / joint.sum(axis=2, keepdims=True))


def em_step(
    counts: Array, word_topic: Array, doc_topic: Array, power: float = 1.0, smoothing: float = 0.0
) -> tuple[Array, Array]:
    """One step of EM (equations 2 to 4): new P(w|z), words × topics, and new P(z|d), documents × topics."""
    expected = counts[:, :, None] * responsibilities(word_topic, doc_topic, power)
    by_word, by_document = expected.sum(axis=0) + smoothing, expected.sum(axis=1)
    return by_word / by_word.sum(axis=0), by_document / by_document.sum(axis=1, keepdims=True)
