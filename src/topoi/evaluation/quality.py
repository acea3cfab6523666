"""Measures of topics that need no documents: exclusivity, diversity, stability over chains."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import rankdata

from topoi.analysis.alignment import align_topics
from topoi.analysis.given import need_topics
from topoi.errors import ModelError
from topoi.evaluation.topic_words import is_model, leading_words
from topoi.models.contract import LoadedModel
from topoi.models.ranking import largest
from topoi.models.validation import whole_number


def exclusivity(model: LoadedModel, n_words: int = 10, weight: float = 0.7) -> pd.DataFrame:
    """Exclusivity of each topic: are its leading words frequent in it and rare in the others (FREX)?

    A word's FREX in a topic is the harmonic mean of two ranks, each as a share of the vocabulary: that of its share of
    the topic, P(word | topic), and that of the topic's share of the word, P(word | topic) / Σ P(word | topics).

    Parameters
    ----------
    model
        A fitted model with topics.
    n_words : int
        Number of leading words of each topic.
    weight : float
        Weight of the second rank, exclusivity. 0.7 is that of ``exclusivity`` in R's stm; 0.5 that of its FREX labels.

    Returns
    -------
    DataFrame
        topic; exclusivity, the mean FREX of the topic's leading words, between 0 and 1 (stm has the sum: ``n_words``
        times this); words. ``attrs["mean"]`` is the mean over topics.

    References
    ----------
    Bischof and Airoldi, Summarizing topical content with word frequency and exclusivity, ICML, 2012.
    Roberts, Stewart and Tingley, stm: an R package for structural topic models, 2019.

    Examples
    --------
    >>> import topoi
    >>> corpus = topoi.Corpus.from_tokens([["sun", "star"], ["cell", "gene"]] * 10)
    >>> model = topoi.LDA(2, alpha=0.1, n_iter=50, random_state=0).fit(corpus)
    >>> topoi.evaluation.exclusivity(model, n_words=2)["exclusivity"].round(3).tolist()
    [0.875, 0.875]
    """
    need_topics(model, "their words are what is measured")
    n = whole_number("n_words", n_words)
    if isinstance(weight, bool) or not isinstance(weight, numbers.Real) or not 0 <= float(weight) <= 1:
        raise ModelError(f"weight is {weight!r}; it is the weight of exclusivity against frequency, from 0 to 1")
    topic_word = np.asarray(model.chains_[0].topic_word)
    score = _frex(topic_word, float(weight))
    best = largest(topic_word, n)
    words = model.vocabulary_.words
    frame = pd.DataFrame(
        {
            "topic": np.arange(len(best)),
            "exclusivity": np.take_along_axis(score, best, axis=1).mean(axis=1),
            "words": pd.Series([[str(words[w]) for w in row] for row in best], dtype=object),
        }
    )
    frame.attrs["mean"] = float(frame["exclusivity"].mean())
    return frame


def _frex(topic_word: NDArray[np.float64], weight: float) -> NDArray[np.float64]:
    """FREX of every word in every topic: topics × words."""
    n_words = topic_word.shape[1]
    total = topic_word.sum(axis=0)
    exclusive = rankdata(topic_word / np.where(total > 0, total, 1.0), axis=1) / n_words
    frequent = rankdata(topic_word, axis=1) / n_words
    return np.asarray(1.0 / (weight / exclusive + (1.0 - weight) / frequent))


def diversity(topics: object, n_words: int = 25) -> float:
    """Diversity of topics: the share of different words among the leading words of all topics.

    Parameters
    ----------
    topics
        A fitted model, or lists of words, as in ``coherence``.
    n_words : int
        Number of leading words of each topic.

    Returns
    -------
    float
        1 if no two topics share a leading word; 1 / number of topics if all have the same.

    References
    ----------
    Dieng, Ruiz and Blei, Topic modeling in embedding spaces, TACL, 2020.

    Examples
    --------
    >>> import topoi
    >>> topoi.evaluation.diversity([["sun", "star"], ["sun", "moon"]])
    0.75
    """
    lists = [each.words for each in leading_words(topics, n_words)]
    return len(set().union(*lists)) / sum(map(len, lists))


def stability(models: object, n_words: int = 10) -> pd.DataFrame:
    """Stability of topics over chains: does another chain find the same topics?

    Topics of each pair of chains are matched one to one with the smallest sum of distances, as by ``align_topics``.

    Parameters
    ----------
    models
        A fitted model with several chains, or a list of fitted models, of which all chains are compared.
    n_words : int
        Number of leading words of each topic.

    Returns
    -------
    DataFrame
        A row for each topic and pair of chains: chain_a, chain_b (numbered through all models), topic_a, topic_b;
        overlap, the share of leading words that both have; cosine, of their distributions over words; shared, the part
        of these distributions that they share. ``attrs`` has the means of the three columns.

    Examples
    --------
    >>> import topoi
    >>> corpus = topoi.Corpus.from_tokens([["sun", "star"], ["cell", "gene"]] * 10)
    >>> model = topoi.LDA(2, alpha=0.1, n_iter=50, n_chains=2, random_state=0).fit(corpus)
    >>> topoi.evaluation.stability(model, n_words=2)["overlap"].tolist()
    [1.0, 1.0]
    """
    whole_number("n_words", n_words)
    chains = [(model, chain) for model in _models(models) for chain in range(len(model.chains_))]
    if len(chains) < 2:
        raise ModelError("there is only one chain; fit with n_chains=2 or more, or pass a list of models")
    frames = [
        _pair(*chains[a], *chains[b], n_words).assign(chain_a=a, chain_b=b)
        for a, b in combinations(range(len(chains)), 2)
    ]
    columns = ["chain_a", "chain_b", "topic_a", "topic_b", "overlap", "cosine", "shared"]
    frame = pd.concat(frames, ignore_index=True)[columns]
    frame.attrs |= {name: float(frame[name].mean()) for name in ("overlap", "cosine", "shared")}
    return frame


def _models(models: object) -> Sequence[Any]:
    several = [models] if is_model(models) else models
    if not isinstance(several, list | tuple) or not several or not all(map(is_model, several)):
        raise ModelError("stability is of a fitted model with several chains, or of a list of fitted models")
    for model in several:
        need_topics(model, "stability is theirs")
    return several


def _pair(model_a: Any, chain_a: int, model_b: Any, chain_b: int, n_words: int) -> pd.DataFrame:
    alignment = align_topics(model_a, model_b, chain_a=chain_a, chain_b=chain_b, n_words=n_words)
    pairs = alignment.pairs
    words_a, words_b = model_a.vocabulary_.words.astype(str), model_b.vocabulary_.words.astype(str)
    _, at_a, at_b = np.intersect1d(words_a, words_b, return_indices=True)
    a = model_a.chains_[chain_a].word_columns(at_a)[pairs["topic_a"]]
    b = model_b.chains_[chain_b].word_columns(at_b)[pairs["topic_b"]]
    length = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
    both = [len(set(x) & set(y)) / len(x) for x, y in zip(pairs["words_a"], pairs["words_b"], strict=True)]
    return pd.DataFrame(
        {
            "topic_a": pairs["topic_a"],
            "topic_b": pairs["topic_b"],
            "overlap": both,
            "cosine": (a * b).sum(axis=1) / length,
            "shared": pairs["shared"],
        }
    )
