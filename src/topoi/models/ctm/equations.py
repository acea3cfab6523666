"""The model's equations in plain float64, as the README has them: slow, and easy to check."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, logsumexp
from scipy.stats import multivariate_normal

from topoi.models.ctm.normal import basis

Array = NDArray[np.float64]


def log_words(tokens: NDArray[Any], topic: NDArray[Any], n_topics: int, beta: Array) -> float:
    """log P(words | topics of tokens), with the topics' distributions of words integrated out."""
    total = 0.0
    for k in range(n_topics):
        counts = np.bincount(tokens[topic == k], minlength=len(beta))
        total += (gammaln(counts + beta) - gammaln(beta)).sum()
        total -= gammaln(counts.sum() + beta.sum()) - gammaln(beta.sum())
    return float(total)


def log_prior(eta: Array, mean: Array, covariance: Array) -> float:
    """Log density of a row of eta among vectors that sum to zero: equation 1."""
    v = basis(len(mean))
    if not v.size:
        return 0.0
    return float(multivariate_normal(v.T @ mean, v.T @ covariance @ v).logpdf(v.T @ eta))


def log_topics(number: NDArray[Any], eta: Array) -> float:
    """log P(topics of a document's tokens | eta): equation 2."""
    return float(number @ eta - number.sum() * logsumexp(eta))


def log_joint(
    docs: list[NDArray[Any]], topics: list[NDArray[Any]], eta: Array, mean: Array, covariance: Array, beta: Array
) -> float:
    """log P(words, topics, eta | mean, covariance, beta)."""
    n_topics = len(mean)
    total = log_words(np.concatenate(docs), np.concatenate(topics), n_topics, beta)
    for topic, row in zip(topics, eta, strict=True):
        total += log_prior(row, mean, covariance) + log_topics(np.bincount(topic, minlength=n_topics), row)
    return total


def token_conditional(
    docs: list[NDArray[Any]], topics: list[NDArray[Any]], d: int, i: int, eta: Array, beta: Array
) -> Array:
    """P(topic of token i of document d | all else): equation 3, the counts leaving the token out."""
    n_topics = eta.shape[1]
    word_topic = np.zeros((len(beta), n_topics))
    for doc, topic in zip(docs, topics, strict=True):
        np.add.at(word_topic, (doc, topic), 1.0)
    word = docs[d][i]
    word_topic[word, topics[d][i]] -= 1.0
    weight = np.exp(eta[d]) * (word_topic[word] + beta[word]) / (word_topic.sum(axis=0) + beta.sum())
    return np.asarray(weight / weight.sum())


def log_component(x: Any, k: int, number: NDArray[Any], eta: Array, mean: Array, precision: Array) -> Any:
    """Log density, up to a constant, of component k of a document's eta given the others: equation 4.

    Along this line all components but the k-th stay; a constant that is added to all of them changes nothing.
    """
    apart, others = eta - mean, np.arange(len(eta)) != k
    centre = mean[k] - precision[k, others] @ apart[others] / precision[k, k]
    against = logsumexp(eta[others])
    return number[k] * x - 0.5 * precision[k, k] * (x - centre) ** 2 - number.sum() * np.logaddexp(0.0, x - against)
