"""The equations of the hierarchical Dirichlet process in plain float64, numbered as in the README.

``z`` has every token's topic, document by document; topics are numbered from 0 without gaps. ``b`` has the shares of
the topics and, last, of all new ones together.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, logsumexp

Docs = list[NDArray[Any]]


def conditional(
    docs: Docs, z: list[NDArray[Any]], d: int, i: int, alpha: float, b: NDArray[Any], beta: NDArray[Any]
) -> NDArray[np.float64]:
    """P(z[d][i] = k | all else) for every topic, and for a new one last (equation 1)."""
    n_topics, w = len(b) - 1, docs[d][i]
    in_document, word_topic = np.zeros(n_topics + 1), np.zeros((len(beta), n_topics + 1))
    for e, (doc, topics) in enumerate(zip(docs, z, strict=True)):
        for j, (word, k) in enumerate(zip(doc, topics, strict=True)):
            if (e, j) != (d, i):
                word_topic[word, k] += 1
                in_document[k] += e == d
    words = (word_topic[w] + beta[w]) / (word_topic.sum(axis=0) + beta.sum())
    weight = (in_document + alpha * b) * words
    return np.asarray(weight / weight.sum())


def log_words(docs: Docs, z: list[NDArray[Any]], beta: NDArray[Any], named: NDArray[Any] | None = None) -> float:
    """log P(words | z), the topics' distributions integrated out; ``named`` has the priors of the first topics.

    A prior of zero is that of a word that the topic cannot have.
    """
    words, topics = np.concatenate(docs), np.concatenate(z)
    first = np.zeros((0, len(beta))) if named is None else named
    total = 0.0
    for k in range(int(topics.max(initial=-1)) + 1):
        counts = np.bincount(words[topics == k], minlength=len(beta))
        prior = np.asarray(first[k] if k < len(first) else beta)
        if counts[prior == 0].any():
            return -np.inf
        counts, prior = counts[prior > 0], prior[prior > 0]
        total += (gammaln(counts + prior) - gammaln(prior)).sum()
        total -= gammaln(counts.sum() + prior.sum()) - gammaln(prior.sum()) if len(prior) else 0.0
    return float(total)


def log_topics(z: list[NDArray[Any]], alpha: float, b: NDArray[Any]) -> float:
    """log P(z | b), the documents' mixtures integrated out."""
    total = 0.0
    for topics in z:
        counts, weight = np.bincount(topics, minlength=len(b) - 1), alpha * b[:-1]
        total += (gammaln(counts + weight) - gammaln(weight)).sum() - gammaln(len(topics) + alpha) + gammaln(alpha)
    return float(total)


@cache
def tables_number(n: int, m: int) -> int:
    """Unsigned Stirling number of the first kind: ways to seat ``n`` tokens at ``m`` tables, up to a factor.

    Examples
    --------
    >>> from topoi.models.hdp.equations import tables_number
    >>> [tables_number(3, m) for m in range(4)]
    [0, 2, 3, 1]
    """
    if n == 0 or m == 0:
        return int(n == m)
    return tables_number(n - 1, m - 1) + (n - 1) * tables_number(n - 1, m)


def table_probabilities(n: int, weight: float) -> NDArray[np.float64]:
    """P(m tables | n tokens of a topic of this weight in a document), m from 0 to n (equation 2; Antoniak 1974)."""
    log_weights = [np.log(float(tables_number(n, m))) + m * np.log(weight) for m in range(1, n + 1)]
    return np.concatenate([[0.0], np.exp(log_weights - logsumexp(log_weights))])


def log_partition(z: list[NDArray[Any]], alpha: float, gamma: float, n_named: int = 0) -> float:
    """log P(z) as a partition of the tokens, with b integrated out: a sum over all numbers of tables (equation 6).

    The first ``n_named`` topics are there without tokens too, and have a phantom table each (equation 7).
    """
    n_topics = max(int(np.concatenate(z).max()) + 1, n_named)
    counts = np.stack([np.bincount(topics, minlength=n_topics) for topics in z])
    terms = []
    for tables in _all_tables(counts):
        ways = sum(
            np.log(float(tables_number(n, m)))
            for n, m in zip(counts.ravel().tolist(), tables.ravel().tolist(), strict=True)
        )
        per_topic, total = tables.sum(axis=0), tables.sum()
        per_topic[:n_named] += 1
        base = gamma + n_named
        franchise = (n_topics - n_named) * np.log(gamma) + gammaln(per_topic).sum() + gammaln(base)
        terms.append(ways + total * np.log(alpha) + franchise - gammaln(base + total))
    lengths = counts.sum(axis=1)
    return float(logsumexp(terms) - (gammaln(lengths + alpha) - gammaln(alpha)).sum())


def _all_tables(counts: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """Numbers of tables that documents × topics with these counts can have."""
    for tables in itertools.product(*(range(min(n, 1), n + 1) for n in counts.ravel().tolist())):
        yield np.array(tables).reshape(counts.shape)


def log_posterior_gamma(
    gamma: NDArray[Any], n_topics: int, n_tables: int, shape: float, rate: float, n_named: int = 0
) -> NDArray[np.float64]:
    """log P(gamma | topics, tables) up to a constant, which equation 4 draws from; ``n_topics`` without the named."""
    prior, base = (shape - 1) * np.log(gamma) - rate * gamma, gamma + n_named
    return np.asarray(prior + n_topics * np.log(gamma) + gammaln(base) - gammaln(base + n_tables))


def log_posterior_alpha(
    alpha: NDArray[Any], lengths: NDArray[Any], n_tables: int, shape: float, rate: float
) -> NDArray[np.float64]:
    """log P(alpha | documents' lengths, tables) up to a constant, which equation 5 draws from."""
    prior = (shape - 1) * np.log(alpha) - rate * alpha
    documents = sum(gammaln(alpha) - gammaln(alpha + n) for n in lengths.tolist() if n)
    return np.asarray(prior + n_tables * np.log(alpha) + documents)
