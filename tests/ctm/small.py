"""Small states of the correlated topic model, and integrals over eta by quadrature."""

from itertools import product

import numpy as np

from topoi.kernels.counts import Counts
from topoi.kernels.lanes import padded
from topoi.models.ctm import equations, normal
from topoi.models.ctm.kernels import Documents, State, Words


def covariance_of(rng, n_topics, size=1.5):
    root = rng.normal(size=(n_topics, n_topics + 2))
    return normal.centred(size * root @ root.T / (n_topics + 2) + 0.2 * np.eye(n_topics))


def mean_of(rng, n_topics):
    mean = rng.normal(size=n_topics)
    return mean - mean.mean()


def made(docs, topics, eta, beta):
    """What the kernels read: documents, state, counts, words."""
    tokens, topic = np.concatenate(docs).astype(np.int32), np.concatenate(topics).astype(np.uint16)
    start = np.concatenate(([0], np.cumsum([len(doc) for doc in docs]))).astype(np.int64)
    n_topics = eta.shape[1]
    word_topic = np.zeros((len(beta), padded(n_topics)), np.float32)
    np.add.at(word_topic, (tokens, topic), 1.0)
    counts = Counts(
        word_topic,
        word_topic.sum(axis=0)[:n_topics].astype(np.float64),
        np.zeros((1, padded(n_topics)), np.float32),
        np.zeros(1),
    )
    state = State(topic, np.ascontiguousarray(eta, np.float64), np.zeros(eta.shape, np.float32))
    return Documents(tokens, start), state, counts, Words(beta.astype(np.float32), float(beta.sum()))


def grid(mean, covariance, n=81, reach=6.5):
    """Points that sum to zero and their prior probabilities: a fine grid about the mean, for two or three topics."""
    v = normal.basis(len(mean))
    values, vectors = np.linalg.eigh(v.T @ covariance @ v)
    ticks = np.linspace(-reach, reach, n)
    axes = np.array(list(product(ticks, repeat=len(values))))
    weight = np.exp(-0.5 * (axes**2).sum(axis=1))
    return mean + (axes * np.sqrt(values)) @ vectors.T @ v.T, weight / weight.sum()


def exact_topics(docs, mean, covariance, beta):
    """P(topics of all tokens | words): every assignment, eta integrated out by quadrature."""
    n_topics, tokens = len(mean), np.concatenate(docs)
    points, weight = grid(mean, covariance)
    log_share = points - np.logaddexp.reduce(points, axis=1, keepdims=True)
    ends = np.cumsum([0, *(len(doc) for doc in docs)])
    logs = []
    for state in product(range(n_topics), repeat=len(tokens)):
        topic = np.array(state)
        found = equations.log_words(tokens, topic, n_topics, beta)
        for a, b in zip(ends[:-1], ends[1:], strict=True):
            number = np.bincount(topic[a:b], minlength=n_topics)
            found += np.log(weight @ np.exp(log_share @ number))
        logs.append(found)
    p = np.exp(np.array(logs) - max(logs))
    return p / p.sum()


def exact_log_likelihood(phi, mean, covariance):
    """log P(words) of a document with P(word | topic) given, tokens × topics."""
    points, weight = grid(mean, covariance, 201)
    share = np.exp(points - np.logaddexp.reduce(points, axis=1, keepdims=True))
    return float(np.log(weight @ np.exp(np.log(share @ phi.T).sum(axis=1))))
