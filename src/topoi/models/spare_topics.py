"""Spare topics: where they begin, and whether unseen documents are better for having them.

An empty topic attracts next to nothing, because the old ones have all the words. So it begins with tokens that the old
topics explain worse in the new documents than in the old ones; ordinary sweeps decide what becomes of it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from topoi.corpus.corpus import Corpus
from topoi.corpus.pieces import row_positions

Array = NDArray[np.float64]
# Old documents that new ones are compared with, at most.
_COMPARED = 5000
# How much more surprising a word must be in new documents than in old ones: as a ratio, and in standard errors.
_LIFT, _ERRORS = 2.0, 3.0
_FEWEST_DOCS = 3
_POWER_STEPS = 30
# Part of the largest weight that a word of the pattern has, and cosine to it that a document has, at least.
_WORD_WEIGHT, _COSINE = 0.05, 0.2
# Cosine of words' counts from which a pattern is that of a topic that is there already.
_ALIKE = 0.5
# Pseudo-words by which a document's mixture is drawn to the shares of topics in the whole corpus.
_PRIOR_WORDS = 10.0
_EM_STEPS = 50
_GIVING_STEPS = 3
_CELLS = 2**22


class Cells(NamedTuple):
    """Words of documents, counted: document, word and number of each pair; and the documents' lengths."""

    doc: NDArray[np.int64]
    word: NDArray[np.int64]
    number: Array
    lengths: Array


def cells_of(corpus: Corpus, docs: NDArray[np.int64], mask: NDArray[np.bool_] | None = None) -> Cells:
    """Counted words of some documents, numbered from 0; of the tokens in ``mask`` alone, if it is given."""
    lengths = corpus.doc_lengths[docs]
    at, _ = row_positions(corpus.doc_start, docs)
    doc = np.repeat(np.arange(len(docs)), lengths)
    if mask is not None:
        at, doc = at[mask[at]], doc[mask[at]]
    keys, number = np.unique(doc * corpus.n_words + corpus.tokens[at], return_counts=True)
    doc, word = np.divmod(keys, corpus.n_words)
    return Cells(doc, word, number.astype(np.float64), np.bincount(doc, number, len(docs)).astype(np.float64))


def topic_words(corpus: Corpus, topic: NDArray[np.uint16], n_topics: int, weight: Array | None = None) -> Array:
    """Tokens of each word in each topic: topics × words."""
    keys = topic.astype(np.int64) * corpus.n_words + corpus.tokens[: len(topic)]
    return np.bincount(keys, weight, n_topics * corpus.n_words).reshape(n_topics, corpus.n_words).astype(np.float64)


def doc_topics(corpus: Corpus, docs: NDArray[np.int64], topic: NDArray[np.uint16], n_topics: int) -> Array:
    """Tokens of each topic in some documents: documents × topics."""
    found = np.zeros((len(docs), n_topics))
    for row, d in enumerate(docs.tolist()):
        found[row] = np.bincount(topic[corpus.doc_start[d] : corpus.doc_start[d + 1]], minlength=n_topics)
    return found


def _expected(cells: Cells, theta: Array, phi: Array) -> Array:
    """Σ over topics of theta · phi for every cell, in blocks."""
    found = np.empty(len(cells.word))
    step = max(_CELLS // phi.shape[0], 1)
    for first in range(0, len(found), step):
        here = slice(first, first + step)
        found[here] = np.einsum("ck,ck->c", theta[cells.doc[here]], phi.T[cells.word[here]])
    return found


def unexplained(
    corpus: Corpus, topic: NDArray[np.uint16], beta: Array, n_old_docs: int, n_old_topics: int, n_topics: int
) -> NDArray[np.int64]:
    """Tokens of new documents that one more topic may begin with: those of words that go together and surprise.

    ``topic`` has the present topics of all tokens, new documents last. Empty if nothing in the new documents is more
    surprising than it was in the old ones.
    """
    n_old_tokens = int(corpus.doc_start[n_old_docs])
    # Old topics as old documents have them; spare topics that have begun already as they are.
    counts = topic_words(corpus, topic[:n_old_tokens], n_topics)
    counts[n_old_topics:] = topic_words(corpus, topic, n_topics)[n_old_topics:]
    phi = (counts + beta) / (counts + beta).sum(axis=1, keepdims=True)
    prior = _PRIOR_WORDS * _shares(counts)
    old = np.unique(np.linspace(0, n_old_docs - 1, _COMPARED).astype(np.int64))
    new = np.arange(n_old_docs, corpus.n_docs)
    matrices = []
    for docs in (old, new):
        cells = cells_of(corpus, docs)
        theta = doc_topics(corpus, docs, topic, n_topics) + prior
        theta /= theta.sum(axis=1, keepdims=True)
        expected = cells.lengths[cells.doc] * _expected(cells, theta, phi)
        surprise = np.maximum(cells.number - expected, 0.0) / np.sqrt(expected + 1.0)
        matrices.append(csr_matrix((np.minimum(surprise, 3.0), (cells.doc, cells.word)), (len(docs), corpus.n_words)))
    words = _surprising(*matrices)
    return _tokens_of_pattern(corpus, matrices[1], words, n_old_docs)


def _shares(counts: Array) -> Array:
    sizes = counts.sum(axis=1) + 1.0
    return np.asarray(sizes / sizes.sum())


def _surprising(old: csr_matrix, new: csr_matrix) -> NDArray[np.bool_]:
    """Words that surprise in new documents more than they do in old ones."""
    means, errors = [], []
    for each in (old, new):
        mean = np.asarray(each.mean(axis=0)).ravel()
        square = np.asarray(each.multiply(each).mean(axis=0)).ravel()
        means.append(mean)
        errors.append((square - mean**2) / max(each.shape[0], 1))
    in_docs = np.asarray((new > 0.5).sum(axis=0)).ravel()
    clear = means[1] - means[0] > _ERRORS * np.sqrt(errors[0] + errors[1])
    return np.asarray(clear & (means[1] > _LIFT * means[0]) & (in_docs >= _FEWEST_DOCS))


def _tokens_of_pattern(
    corpus: Corpus, surprise: csr_matrix, words: NDArray[np.bool_], n_old_docs: int
) -> NDArray[np.int64]:
    """Tokens of the words that surprise together in most documents: the leading singular vectors of the surprise."""
    surprise = csr_matrix(surprise.multiply(words[None, :]))
    norm = np.sqrt(np.asarray(surprise.multiply(surprise).sum(axis=1)).ravel())
    if np.count_nonzero(norm) < _FEWEST_DOCS:
        return np.zeros(0, np.int64)
    rows = csr_matrix(surprise.multiply(1.0 / np.maximum(norm, 1e-12)[:, None]))
    pattern: Array = np.asarray(rows.sum(axis=0), np.float64).ravel()
    for _ in range(_POWER_STEPS):
        pattern = np.asarray(rows.T @ (rows @ (pattern / np.linalg.norm(pattern))))
    pattern = pattern / np.linalg.norm(pattern)
    docs = np.flatnonzero(rows @ pattern > _COSINE)
    chosen = pattern > _WORD_WEIGHT * pattern.max()
    if len(docs) < _FEWEST_DOCS:
        return np.zeros(0, np.int64)
    at, _ = row_positions(corpus.doc_start, n_old_docs + docs)
    return np.asarray(at[chosen[corpus.tokens[at]]])


def most_like(corpus: Corpus, topic: NDArray[np.uint16], at: NDArray[np.int64], first: int, last: int) -> int | None:
    """The topic from ``first`` to before ``last`` that has the words of some tokens already; None if there is none."""
    words = np.bincount(corpus.tokens[at], minlength=corpus.n_words)
    for k in range(first, last):
        there = np.bincount(corpus.tokens[: len(topic)][topic == k], minlength=corpus.n_words)
        if words @ there > _ALIKE * np.linalg.norm(words) * np.linalg.norm(there):
            return k
    return None


class Gain(NamedTuple):
    """Gain in log likelihood per word of unseen documents, its standard error, and the number of those documents."""

    mean: float
    error: float
    n_docs: int


def gains(
    corpus: Corpus,
    topic: NDArray[np.uint16],
    beta: Array,
    n_old_topics: int,
    n_topics: int,
    unseen: Corpus,
    rng: np.random.Generator,
) -> list[Gain]:
    """What each spare topic adds to the prediction of either half of unseen documents from the other half.

    Topics come in one after the other, the largest first, after the old ones; one that is not in yet has given its
    tokens back to the topics that are. Topics are held fixed; a document's mixture is inferred from half of its words
    by EM, drawn to the corpus's shares.
    """
    half = np.zeros(unseen.n_tokens, bool)
    half[rng.permutation(unseen.n_tokens)[: unseen.n_tokens // 2]] = True
    docs = np.arange(unseen.n_docs)
    halves = cells_of(unseen, docs, half), cells_of(unseen, docs, ~half)
    lengths = halves[0].lengths + halves[1].lengths
    counts = topic_words(corpus, topic, n_topics)
    spare = np.arange(n_old_topics, n_topics)
    order = spare[np.argsort(-counts[spare].sum(axis=1), kind="stable")]
    before = _completion(_given_back(corpus, topic, counts, beta, order), beta, *halves)
    found = {}
    for n, k in enumerate(order.tolist()):
        now = _completion(_given_back(corpus, topic, counts, beta, order[n + 1 :]), beta, *halves)
        found[k] = _gain(now - before, lengths)
        before = now
    return [found[k] for k in spare.tolist()]


def _given_back(
    corpus: Corpus, topic: NDArray[np.uint16], counts: Array, beta: Array, without: NDArray[np.int64]
) -> Array:
    """Counts of the other topics after the tokens of topics ``without`` went to them, by parts."""
    kept = np.setdiff1d(np.arange(len(counts)), without)
    at = np.flatnonzero(np.isin(topic, without))
    doc = np.searchsorted(corpus.doc_start, at, side="right") - 1
    docs, row = np.unique(doc, return_inverse=True)
    base = counts[kept]
    theta = doc_topics(corpus, docs, topic, len(counts))[:, kept] + _PRIOR_WORDS * _shares(base)
    words = corpus.tokens[at]
    result, step = base, max(_CELLS // len(kept), 1)
    for _ in range(_GIVING_STEPS if len(at) else 0):
        phi = (result + beta) / (result + beta).sum(axis=1, keepdims=True)
        result = base.copy()
        for first in range(0, len(at), step):
            here = slice(first, first + step)
            parts = theta[row[here]] * phi.T[words[here]]
            parts /= parts.sum(axis=1, keepdims=True)
            np.add.at(result.T, words[here], parts)
    return result


def _completion(counts: Array, beta: Array, first: Cells, second: Cells) -> Array:
    """Log likelihood of both halves of every document, each given the other."""
    phi = (counts + beta) / (counts + beta).sum(axis=1, keepdims=True)
    prior = _PRIOR_WORDS * _shares(counts)
    result = np.zeros(len(first.lengths))
    for seen, scored in ((first, second), (second, first)):
        each = scored.number * np.log(_expected(scored, _mixtures(seen, phi, prior), phi))
        result += np.bincount(scored.doc, each, len(result))
    return result


def _mixtures(seen: Cells, phi: Array, prior: Array) -> Array:
    """Mixtures of documents that their words suggest: documents × topics."""
    n_docs, n_cells = len(seen.lengths), len(seen.doc)
    theta = np.tile(prior / prior.sum(), (n_docs, 1))
    of_doc = csr_matrix((seen.number, (seen.doc, np.arange(n_cells))), (n_docs, n_cells))
    words = phi.T[seen.word]
    for _ in range(_EM_STEPS):
        parts = theta[seen.doc] * words
        parts /= parts.sum(axis=1, keepdims=True)
        theta = (of_doc @ parts + prior) / (seen.lengths[:, None] + prior.sum())
    return np.asarray(theta)


def _gain(each: Array, lengths: Array) -> Gain:
    """Mean per word over documents, and its standard error (of a ratio)."""
    n, total = int(np.count_nonzero(lengths)), float(lengths.sum())
    if n < 2:
        return Gain(float("nan"), float("nan"), n)
    mean = float(each.sum() / total)
    spread = float((((each - mean * lengths)[lengths > 0]) ** 2).sum() * n / (n - 1))
    return Gain(mean, float(np.sqrt(spread)) / total, n)
