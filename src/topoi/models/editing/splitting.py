"""Splitting of a topic: a restricted Gibbs run over its tokens alone, between it and new topics.

All other tokens keep their topics, and every token its author or path. So what is left of the model's conditional is

    P(z = m)  ∝  (word_topic[w,m] + beta[w,m]) / (topic[m] + Σ beta[·,m]) · (row_topic[r,m] + alpha[r,m])

where r is the mixture that the token draws from: a document, an author, or a document's super-topic. The sum over the
other topics of a mixture does not depend on m. Topics that take part have no other tokens, so the run needs nothing
but the tokens themselves.
"""

# numba infers the types of compiled loops.
# mypy: allow-untyped-defs, allow-incomplete-defs, no-check-untyped-defs
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from topoi.kernels.draw import draw_plain
from topoi.kernels.jit import lean
from topoi.kernels.random import new_stream
from topoi.models.growing import Arrays

Array = NDArray[np.float64]
# Beginnings that are tried, and sweeps of each: first with more weight on mixtures' priors, lest a mixture is held
# together by its first few tokens, then by the model's own conditional.
_BEGINNINGS, _LOOSE_SWEEPS, _SWEEPS = 3, 15, 25
_LOOSE = 1.0
# In place of zero, where a word is banned from a topic: the same for all states.
_SMALLEST = 1e-300


class Restricted(NamedTuple):
    """Tokens of a topic that is split: their words and mixtures, numbered from 0, and the priors of both.

    ``beta`` is words × topics, and ``beta_sum`` its sum over all words of the vocabulary; ``alpha`` mixtures × topics.
    """

    word: NDArray[np.int64]
    row: NDArray[np.int64]
    beta: Array
    beta_sum: Array
    alpha: Array


class RestrictedCounts(NamedTuple):
    """Counts of a state: words × topics, topics, mixtures × topics."""

    word_topic: Array
    topic: Array
    row_topic: Array


def split_tokens(problem: Restricted, seed: int, sweep: int, key: int) -> NDArray[np.int64]:
    """The topic of each token, numbered from 0, after the best of a few restricted runs.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.models.editing.splitting import Restricted, split_tokens
    >>> word, row = np.array([0, 1, 0, 1, 2, 3, 2, 3]), np.array([0, 0, 1, 1, 2, 2, 3, 3])
    >>> problem = Restricted(word, row, np.full((4, 2), 0.01), np.full(2, 0.04), np.full((4, 2), 0.1))
    >>> found = split_tokens(problem, seed=0, sweep=0, key=0)
    >>> bool((found[:4] == found[0]).all() and (found[4:] == 1 - found[0]).all())
    True
    """
    best, found = -np.inf, np.zeros(len(problem.word), np.int64)
    for beginning in range(_BEGINNINGS):
        stream = new_stream(seed, beginning, sweep, key)
        choice = np.full(len(problem.word), -1, np.int64)
        counts = empty_counts(problem)
        loose = problem._replace(alpha=problem.alpha + _LOOSE)
        for number in range(_LOOSE_SWEEPS + _SWEEPS):
            restricted_sweep(loose if number < _LOOSE_SWEEPS else problem, choice, counts, stream)
        joint = log_joint(problem, counts)
        if joint > best:
            best, found = joint, choice
    return by_size(found, problem.alpha.shape[1])


def empty_counts(problem: Restricted) -> RestrictedCounts:
    """Counts of no tokens."""
    n_topics = problem.alpha.shape[1]
    return RestrictedCounts(np.zeros(problem.beta.shape), np.zeros(n_topics), np.zeros((len(problem.alpha), n_topics)))


def restricted_problem(
    sampler: Any, arrays: Arrays, tokens: NDArray[Any], at: NDArray[np.int64], topics: NDArray[np.int64]
) -> Restricted:
    """The tokens ``at``, which are all that these ``topics`` have."""
    words, word = np.unique(tokens[at], return_inverse=True)
    row, alpha = sampler.token_rows(arrays, at, topics)
    prior = np.asarray(arrays["beta"], np.float64)
    beta, beta_sum = np.tile(prior[words][:, None], len(topics)), np.full(len(topics), prior.sum())
    if sampler.guidance is not None:
        phantoms = sampler.guidance.phantoms
        beta = np.maximum(beta + phantoms.rows(words, prior)[:, topics], 0.0)
        beta_sum = beta_sum + phantoms.totals(prior)[topics]
    return Restricted(word.astype(np.int64), row, beta, beta_sum, alpha)


def restricted_sweep(problem: Restricted, choice: NDArray[np.int64], counts: RestrictedCounts, stream: Any) -> None:
    """Draw every token's topic once; tokens with topic -1 are not in the counts yet."""
    _sweep(*problem, choice, *counts, np.empty(len(counts.topic)), stream)


@lean
def _sweep(word, row, beta, beta_sum, alpha, choice, word_topic, topic, row_topic, weights, stream):
    n_topics = topic.shape[0]
    for i in range(word.shape[0]):
        w, r, m = word[i], row[i], choice[i]
        if m >= 0:
            word_topic[w, m] -= 1.0
            topic[m] -= 1.0
            row_topic[r, m] -= 1.0
        for m in range(n_topics):
            here = (word_topic[w, m] + beta[w, m]) / (topic[m] + beta_sum[m])
            weights[m] = here * (row_topic[r, m] + alpha[r, m])
        m = draw_plain(weights, n_topics, stream)
        choice[i] = m
        word_topic[w, m] += 1.0
        topic[m] += 1.0
        row_topic[r, m] += 1.0


def log_joint(problem: Restricted, counts: RestrictedCounts) -> float:
    """Log joint probability of words and topics, up to what does not depend on the state."""
    words = gammaln(np.maximum(counts.word_topic + problem.beta, _SMALLEST)).sum()
    totals = gammaln(counts.topic + problem.beta_sum).sum()
    return float(words - totals + gammaln(counts.row_topic + problem.alpha).sum())


def by_size(choice: NDArray[np.int64], n_topics: int) -> NDArray[np.int64]:
    """The same with the topics numbered by size, the largest first: it keeps the old topic's number."""
    sizes = np.bincount(choice, minlength=n_topics)
    rank = np.empty(n_topics, np.int64)
    rank[np.argsort(-sizes, kind="stable")] = np.arange(n_topics)
    return np.asarray(rank[choice])
