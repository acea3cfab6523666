"""Loops of the author model: no topics, each author has a distribution over words (AT09, section 6.2).

    P(x = a)  ∝  weight[d,a] · (pair[a,w] + beta) / (author[a] + W·beta)

Only (author, word) pairs that can occur are stored: memory follows the corpus, not authors × words.
"""

# numba infers the types of compiled loops.
# mypy: allow-untyped-defs, allow-incomplete-defs, no-check-untyped-defs
from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi.kernels.dirichlet import log_rising
from topoi.kernels.draw import draw_plain
from topoi.kernels.folding import content_key
from topoi.kernels.jit import compiled, lean
from topoi.kernels.random import seed_stream, uniform


class Choices(NamedTuple):
    """Documents with the number of the pair of each token and each of its possible authors.

    Token ``i`` of document ``d`` has pairs ``pair[pair_start[d] + (i - doc_start[d]) * n_authors + q]``, -1 where the
    pair never occurs in training.
    """

    tokens: NDArray[np.int32]
    doc_start: NDArray[np.int64]
    author: NDArray[np.int64]
    author_start: NDArray[np.int64]
    pair: NDArray[np.int64]
    pair_start: NDArray[np.int64]


class PairCounts(NamedTuple):
    """Tokens per (author, word) pair and per author: whole numbers for a sampler, means for a posterior."""

    pair: NDArray[Any]
    author: NDArray[Any]


@lean
def random_slots(choices, slot, stream):
    """Give every token one of its document's authors, uniformly."""
    for d in range(choices.doc_start.shape[0] - 1):
        n = choices.author_start[d + 1] - choices.author_start[d]
        for i in range(choices.doc_start[d], choices.doc_start[d + 1]):
            slot[i] = np.int64(uniform(stream) * n) if n > 1 else 0


@lean
def count_pairs(choices, slot, counts, sign):
    """Add (sign 1) all tokens to the counts, or take them out (sign -1)."""
    for d in range(choices.doc_start.shape[0] - 1):
        first = choices.author_start[d]
        n = choices.author_start[d + 1] - first
        for i in range(choices.doc_start[d], choices.doc_start[d + 1]):
            at = choices.pair_start[d] + (i - choices.doc_start[d]) * n
            counts.pair[choices.pair[at + slot[i]]] += sign
            counts.author[choices.author[first + slot[i]]] += sign


@compiled
def sweep_authors(choices, slot, counts, beta, beta_sum, stream):
    """One exact Gibbs sweep; changes slots, counts and stream. O(tokens × authors per document)."""
    most = 1
    for d in range(choices.author_start.shape[0] - 1):
        most = max(most, choices.author_start[d + 1] - choices.author_start[d])
    weights = np.empty(most)
    for d in range(choices.doc_start.shape[0] - 1):
        first = choices.author_start[d]
        n = choices.author_start[d + 1] - first
        if n == 1:
            continue
        for i in range(choices.doc_start[d], choices.doc_start[d + 1]):
            at = choices.pair_start[d] + (i - choices.doc_start[d]) * n
            counts.pair[choices.pair[at + slot[i]]] -= 1
            counts.author[choices.author[first + slot[i]]] -= 1
            for q in range(n):
                total = counts.author[choices.author[first + q]] + beta_sum
                weights[q] = (counts.pair[choices.pair[at + q]] + beta[choices.tokens[i]]) / total
            q = draw_plain(weights, n, stream)
            slot[i] = q
            counts.pair[choices.pair[at + q]] += 1
            counts.author[choices.author[first + q]] += 1


@compiled
def complete(choices, observed, counts, beta, beta_sum, plan, result):
    """Set ``result[d]`` to the log probability of a document's unobserved tokens given the observed ones.

    The observed tokens are sampled by ``plan`` (see ``SamplingPlan``) and the predictions averaged over the
    samples. A document whose only author is private (-1) has that author's words integrated out exactly.
    """
    stream = np.empty(2, np.uint64)
    for d in range(choices.doc_start.shape[0] - 1):
        first, n_tokens = choices.doc_start[d], choices.doc_start[d + 1] - choices.doc_start[d]
        authors = choices.author[choices.author_start[d] : choices.author_start[d + 1]]
        words = np.unique(choices.tokens[first : first + n_tokens])
        word = np.searchsorted(words, choices.tokens[first : first + n_tokens])
        if len(authors) == 1 and authors[0] < 0:
            result[d] = _new_author(word, observed[first : first + n_tokens], words, beta, beta_sum)
            continue
        n = len(authors)
        extra = np.zeros((n, len(words)))
        total = np.zeros(n)
        base = np.zeros((n, len(words)))
        for i in range(n_tokens):
            for q in range(n):
                pair = choices.pair[choices.pair_start[d] + i * n + q]
                base[q, word[i]] = plan.weight * ((counts.pair[pair] if pair >= 0 else 0) + beta[words[word[i]]])
        for q in range(n):
            total[q] = plan.weight * (counts.author[authors[q]] + beta_sum)
        seed_stream(stream, plan.seed, plan.chain, content_key(choices, d), 3)
        slot = np.zeros(n_tokens, np.int64)
        for i in range(n_tokens):
            if observed[first + i]:
                slot[i] = np.int64(uniform(stream) * n)
                extra[slot[i], word[i]] += 1.0
                total[slot[i]] += 1.0
        score = np.zeros(n_tokens)
        weights = np.empty(n)
        for s in range(plan.burn_in + (plan.n_samples - 1) * plan.lag + 1):
            for i in range(n_tokens):
                if not observed[first + i]:
                    continue
                extra[slot[i], word[i]] -= 1.0
                total[slot[i]] -= 1.0
                for q in range(n):
                    weights[q] = (base[q, word[i]] + extra[q, word[i]]) / total[q]
                slot[i] = draw_plain(weights, n, stream)
                extra[slot[i], word[i]] += 1.0
                total[slot[i]] += 1.0
            if s >= plan.burn_in and (s - plan.burn_in) % plan.lag == 0:
                for i in range(n_tokens):
                    for q in range(n):
                        score[i] += (base[q, word[i]] + extra[q, word[i]]) / total[q] / n
        result[d] = 0.0
        for i in range(n_tokens):
            if not observed[first + i]:
                result[d] += math.log(score[i] / plan.n_samples)


@compiled
def _new_author(word, observed, words, beta, beta_sum):
    """Log probability of the unobserved tokens of a new author: a ratio of Pólya probabilities."""
    every = np.zeros(len(words))
    seen = np.zeros(len(words))
    for i in range(len(word)):
        every[word[i]] += 1.0
        seen[word[i]] += observed[i]
    result = log_rising(seen.sum(), beta_sum) - log_rising(every.sum(), beta_sum)
    for w in range(len(words)):
        prior = np.float64(beta[words[w]])
        result += log_rising(every[w], prior) - log_rising(seen[w], prior)
    return result
