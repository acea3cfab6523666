"""A corpus whose topic shares are known smooth functions of time, with a shift for each author."""

from __future__ import annotations

import numpy as np

import topoi

N_TOPICS, N_WORDS = 4, 60


def curves(year: np.ndarray) -> np.ndarray:
    """y of each topic, years × topics."""
    t = (np.asarray(year, float) - 1900) / 100
    return 1.5 * np.stack((np.sin(5 * t), np.cos(6 * t), np.sin(9 * t + 2), np.zeros_like(t)), axis=1)


def softmax(y: np.ndarray) -> np.ndarray:
    return np.exp(y) / np.exp(y).sum(axis=1, keepdims=True)


def planted(n_docs: int, seed: int, noise: float = 0.3, length: int = 300) -> tuple[topoi.Corpus, np.ndarray]:
    """The corpus, and each document's true shares."""
    rng = np.random.default_rng(seed)
    years = rng.integers(1900, 2000, n_docs)
    share = softmax(curves(years) + noise * rng.normal(size=(n_docs, N_TOPICS)))
    words = np.full((N_TOPICS, N_WORDS), 0.1 / N_WORDS)
    for k in range(N_TOPICS):
        words[k, k * 15 : (k + 1) * 15] += np.random.default_rng(k).dirichlet(np.full(15, 2.0)) * 0.9
    tokens = [[f"w{w}" for w in rng.choice(N_WORDS, length, p=row @ words / (row @ words).sum())] for row in share]
    # A first document with every word once, so that words have the same numbers in every corpus.
    tokens[0] = [f"w{w}" for w in range(N_WORDS)]
    authors = rng.choice(["Ann", "Bob", "Cy"], n_docs).tolist()
    return topoi.Corpus.from_tokens(tokens, authors=authors, dates=years.tolist()), share


def matched(model: topoi.KernelTopicModel) -> np.ndarray:
    """For each planted topic, the model's topic that has its words."""
    weight = np.stack([model.topic_word_[:, k * 15 : (k + 1) * 15].sum(axis=1) for k in range(N_TOPICS)])
    return weight.argmax(axis=1)
