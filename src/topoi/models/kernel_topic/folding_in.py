"""Folding in of new documents' words: from a Gaussian belief about y to mean topic shares, with topics fixed.

The most probable y given the words is found first, with the words' topics summed out; then the Laplace approximation
there. The curvature is that of the words themselves, Σ_w n_w [(diag π − ππᵀ) − (diag r_w − r_w r_wᵀ)], where r_w are
the topics of word w: a word that all topics share says nothing, and leaves the belief as wide as it was. Without words
the result is the mean of the softmax, as in predictions.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi.models.bags import Bags
from topoi.models.kernel_topic.fitting import softmax
from topoi.models.kernel_topic.posterior import mean_shares

Array = NDArray[np.float64]
_STEPS, _TOLERANCE, _HALVINGS, _AT_ONCE = 200, 1e-4, 30, 64


class _Documents(NamedTuple):
    """A batch of documents: entries' P(word | topic), counts and documents; beliefs as means and precisions."""

    likelihood: Array
    times: Array
    doc: NDArray[np.int64]
    mean: Array
    precision: Array

    def shares(self, y: Array) -> tuple[Array, Array, Array]:
        """Topics r of every entry, the documents' mixtures, and the log posteriors of y."""
        mixture = softmax(y)
        r = self.likelihood * mixture[self.doc]
        total = r.sum(axis=1)
        r /= total[:, None]
        value = np.bincount(self.doc, self.times * np.log(total), len(y))
        return r, mixture, value - 0.5 * ((y - self.mean) * self.pull(y)).sum(axis=1)

    def pull(self, y: Array) -> Array:
        """Precision times the distance of y from the belief's mean."""
        return np.asarray((self.precision @ (y - self.mean)[..., None])[..., 0])

    def some(self, wanted: NDArray[np.bool_]) -> _Documents:
        """A subset of the documents."""
        kept = wanted[self.doc]
        place = np.cumsum(wanted) - 1
        rest = self.likelihood[kept], self.times[kept], place[self.doc[kept]]
        return _Documents(*rest, self.mean[wanted], self.precision[wanted])


def fold_in(bags: Bags, topic_word: Array, mean: Array, covariance: Array) -> Array:
    """Mean topic shares of documents given their words and Gaussian beliefs about y; documents × topics.

    Documents do not change each other's results, whatever their order.
    """
    found = np.empty_like(mean)
    for rows, y, spread in laplace(bags, topic_word, mean, covariance):
        found[rows] = mean_shares(y, spread)
    return found


def laplace(bags: Bags, topic_word: Array, mean: Array, covariance: Array) -> Iterator[tuple[slice, Array, Array]]:
    """Laplace approximations of documents' y given their words: slices of documents, their modes and covariances."""
    word_topic = np.ascontiguousarray(topic_word.T)
    for first in range(0, len(mean), _AT_ONCE):
        rows = slice(first, min(first + _AT_ONCE, len(mean)))
        part = bags.part(rows.start, rows.stop)
        doc = np.repeat(np.arange(part.n_docs), np.diff(part.doc_start))
        values, vectors = axes(covariance[rows])
        precision = (vectors / values[:, None]) @ vectors.swapaxes(1, 2)
        documents = _Documents(word_topic[part.row], part.times, doc, mean[rows], precision)
        y = _mode(documents)
        yield rows, y, _spread(documents, y, 1.0 / values[:, -1])


def axes(covariance: Array) -> tuple[Array, Array]:
    """Eigenvalues of beliefs' covariances, bounded away from zero, and the eigenvectors."""
    values, vectors = np.linalg.eigh(covariance)
    return np.maximum(values, 1e-10 * values[..., -1:]), vectors


def _mode(documents: _Documents) -> Array:
    """Newton's method with the curvature of words whose topics are known, an upper bound of the curvature."""
    y, active = documents.mean.copy(), np.unique(documents.doc)
    for _ in range(_STEPS):
        if not len(active):
            break
        wanted = np.isin(np.arange(len(y)), active)
        here, now = documents.some(wanted), y[active]
        r, mixture, value = here.shares(now)
        counts = _sums(here, r)
        total = counts.sum(axis=1)
        slope = counts - total[:, None] * mixture - here.pull(now)
        step = np.linalg.solve(here.precision + total[:, None, None] * _curvature(mixture), slope[..., None])[..., 0]
        length = np.ones(len(now))
        for _ in range(_HALVINGS):
            worse = here.shares(now + length[:, None] * step)[2] < value - 1e-9 * np.abs(value)
            if not worse.any():
                break
            length[worse] *= 0.5
        moved = length[:, None] * step
        y[active] = now + moved
        active = active[np.abs(moved).max(axis=1) > _TOLERANCE]
    return y


def _sums(documents: _Documents, r: Array) -> Array:
    """Expected counts of each document's topics."""
    n_docs, n_topics = documents.mean.shape
    weighed = r * documents.times[:, None]
    return np.stack([np.bincount(documents.doc, weighed[:, k], n_docs) for k in range(n_topics)], axis=1)


def _curvature(share: Array) -> Array:
    """diag π − ππᵀ."""
    return np.asarray(share[:, :, None] * np.eye(share.shape[1]) - share[:, :, None] * share[:, None, :])


def _spread(documents: _Documents, y: Array, least: Array) -> Array:
    """Posterior covariance at the mode; in no direction wider than the belief's widest."""
    r, mixture, _ = documents.shares(y)
    counts = _sums(documents, r)
    bend = documents.precision + counts.sum(axis=1)[:, None, None] * _curvature(mixture)
    bend -= counts[:, :, None] * np.eye(y.shape[1])
    weighed = r * documents.times[:, None]
    start = np.searchsorted(documents.doc, np.arange(len(y) + 1))
    for d in range(len(y)):
        mine = slice(start[d], start[d + 1])
        bend[d] += weighed[mine].T @ r[mine]
    values, vectors = np.linalg.eigh(bend)
    return np.asarray((vectors / np.maximum(values, least[:, None])[:, None]) @ vectors.swapaxes(1, 2))
