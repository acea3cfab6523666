"""Uncertainty of single shares: one author's or document's share of a topic, and a topic's share of all words.

**An author, or a document.** Given one sample of a chain, its words per topic are known, and the mixture of topics has
the posterior Dirichlet(n + alpha): the share p of one topic is Beta, with mean m_s = (n_s + alpha) / T_s and variance
m_s (1 − m_s) / (T_s + 1), where T_s is the number of words plus the sum of alpha. The posterior of p is the mixture of
these over the samples, whose variance is

    mean of m_s (1 − m_s) / (T_s + 1)     what the words leave open, given their topics
    + variance of m_s over the samples    what the samples leave open about the topics of the words.

The latter is estimated from a few samples, at most eleven, and the mean shown rests on the same few: S samples with
variance B give (1 + 1 / S) B. With a single sample it is unknown and left out.

**Who wrote the words** of a document: each sample names the author of every word, so that only the samples' spread is
left.

**A group of documents**, such as all of them or those of one year: the share of a topic in their words is a ratio of
sums. Its variance by the Bayesian bootstrap (independent exponential weights of the documents, as in
``topoi.models.resampling``) is, to first order, Σ (n_d − p N_d)² / (Σ N_d)². To a group are added ``EXTRA`` documents
of the collection, for the reason given there. The variance of the share over the samples is added.

**Intervals** are those of the Beta distribution with the same mean and variance: deterministic, within 0 and 1, for any
level, and from two numbers, which a store can keep. Where its density is highest at 0 (a topic of which there is hardly
a word) or at 1, the interval begins or ends there. It is widened to include the share that is shown, which matters only
for shares so small that the mean of the Beta lies beyond its quantiles.
``python -m studies.band_coverage`` shows what intervals hold, and compares them with quantiles of the mixture itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi.models.resampling import EXTRA, LEVEL
from topoi.models.smoothed_counts import SmoothedCounts, blocks
from topoi.models.validation import checked_tail

if TYPE_CHECKING:
    import pandas as pd

    from topoi.models.contract import KnowsShares

Array = NDArray[np.float64]
# Between-sample deviations in memory and in a store: two bytes, so that both give the same intervals.
DEVIATION_TYPE = np.float16
# The largest and the least sum of a Beta's parameters that stand for no, and for complete, uncertainty.
_SURE, _UNSURE = 1e12, 1e-3


class Moments(NamedTuple):
    """Means and standard deviations of shares; ``deviation`` is None if the model has no posterior of them."""

    mean: Array
    deviation: Array | None

    def some(self, at: Any) -> Moments:
        """Moments of some of the shares."""
        return Moments(self.mean[at], None if self.deviation is None else self.deviation[at])

    def interval(self, level: float = LEVEL, share: Array | None = None) -> tuple[Array, Array]:
        """Lower and upper ends of intervals, widened to include ``share``, by default the mean; NaN if unknown.

        Examples
        --------
        >>> import numpy as np
        >>> from topoi.models.share_moments import Moments
        >>> lower, upper = Moments(np.array([0.2, 0.0]), np.array([0.1, 0.0])).interval(0.9)
        >>> lower.round(3).tolist(), upper.round(3).tolist()
        ([0.061, 0.0], [0.385, 0.0])
        """
        tail = checked_tail(level)
        shown = self.mean if share is None else np.asarray(share, np.float64)
        if self.deviation is None:
            return np.full(shown.shape, np.nan), np.full(shown.shape, np.nan)
        lower, upper = _beta_ends(self.mean, self.deviation, tail)
        return np.minimum(lower, shown), np.maximum(upper, shown)


def _beta_ends(mean: Array, deviation: Array, tail: float) -> tuple[Array, Array]:
    """Quantiles ``tail`` and 1 − ``tail`` of the Beta distributions with these moments."""
    from scipy.special import betaincinv  # slow to import

    # Most authors lack most topics, whose shares all have the same moments: compute each pair once.
    pairs, at = np.unique(np.stack((mean, deviation), axis=-1).reshape(-1, 2), axis=0, return_inverse=True)
    m, variance = pairs[:, 0], pairs[:, 1] ** 2
    ends = np.repeat(m[None], 2, axis=0)
    open_ = (m > 0) & (m < 1) & (variance > 0)
    with np.errstate(over="ignore", divide="ignore"):
        total = np.clip(m * (1 - m) / np.where(open_, variance, 1.0) - 1, _UNSURE, _SURE)[open_]
    a, b = m[open_] * total, (1 - m[open_]) * total
    ends[0, open_] = np.where(a <= 1, 0.0, betaincinv(a, b, tail))
    ends[1, open_] = np.where(b <= 1, 1.0, betaincinv(a, b, 1 - tail))
    lower, upper = ends[:, at.ravel()].reshape(2, *mean.shape)
    return lower, upper


def sampled_moments(counts: Array, alpha: Array) -> Moments:
    """Moments of mixtures of topics, from their words per topic in each sample; see the module.

    Parameters
    ----------
    counts : array
        Samples × topics, or samples × rows × topics.
    alpha : array
        The Dirichlet parameter of each topic, of all rows or of each.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.models.share_moments import sampled_moments
    >>> found = sampled_moments(np.array([[8.0, 2.0], [6.0, 4.0]]), np.array([1.0, 1.0]))
    >>> found.mean.round(3).tolist(), found.deviation.round(3).tolist()
    ([0.667, 0.333], [0.193, 0.193])
    """
    total = counts.sum(axis=-1, keepdims=True) + alpha.sum(axis=-1, keepdims=True)
    shares = (counts + alpha) / np.maximum(total, 1e-300)
    within = (shares * (1 - shares) / (total + 1)).mean(axis=0)
    return Moments(shares.mean(axis=0), np.sqrt(within + between_samples(shares) ** 2))


def writer_moments(samples: list[NDArray[Any]], n_writers: int) -> Moments:
    """Shares of a document's possible authors in its words, from the author of every word in each sample.

    Given a sample, the author of every word is known, and so are the shares; only samples disagree. A single one does
    not say by how much.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.models.share_moments import writer_moments
    >>> writer_moments([np.array([0, 0, 1, 1]), np.array([0, 0, 0, 0])], 2).mean.tolist()
    [0.75, 0.25]
    """
    shares = np.array([np.bincount(each, minlength=n_writers) / max(len(each), 1) for each in samples], np.float64)
    return Moments(shares.mean(axis=0), between_samples(shares) if len(samples) > 1 else None)


def between_samples(values: Array) -> Array:
    """Standard deviation that samples (the first axis) leave open about a value whose mean over them is shown."""
    n = len(values)
    return np.asarray(values.std(axis=0, ddof=1) * np.sqrt(1 + 1 / n)) if n > 1 else np.zeros(values.shape[1:])


def mixture_moments(mean: Array, total: Array, between: Array) -> Moments:
    """Moments of mixtures of topics from their means, the sums of their Dirichlet parameters, and the samples' spread.

    The same as ``sampled_moments`` if all samples have the same number of words.

    Parameters
    ----------
    mean, between : array
        Means, and standard deviations between samples, rows × topics.
    total : array
        Words of each row, plus the sum of alpha.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.models.share_moments import mixture_moments
    >>> float(mixture_moments(np.array([[0.5]]), np.array([24.0]), np.array([[0.0]])).deviation[0, 0])
    0.1
    """
    within = np.maximum(mean * (1 - mean) - between**2, 0.0) / (total[..., None] + 1)
    return Moments(mean, np.sqrt(within + between**2))


def dirichlet_moments(parameters: Array) -> Moments:
    """Moments of Dirichlet distributions, along the last axis.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.models.share_moments import dirichlet_moments
    >>> dirichlet_moments(np.array([12.0, 12.0])).deviation.tolist()
    [0.1, 0.1]
    """
    total = parameters.sum(axis=-1, keepdims=True)
    mean = parameters / total
    return Moments(mean, np.sqrt(mean * (1 - mean) / (total + 1)))


def deviations_of_rows(samples: Iterable[Any], alpha: Array, alpha_sum: float) -> Array:
    """Standard deviations between samples of shares (n + alpha) / T of rows of counts, for all cells with a count.

    Parameters
    ----------
    samples : iterable of sparse matrices
        Counts n, rows × topics, of each sample; T is a row's sum, with that of alpha.
    alpha, alpha_sum
        Smoothing of each topic, and its sum.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> from topoi.models.share_moments import deviations_of_rows
    >>> samples = [csr_array(np.array([[8.0, 0.0]])), csr_array(np.array([[6.0, 2.0]]))]
    >>> deviations_of_rows(samples, np.ones(2), 2.0).round(3).tolist()
    [0.173, 0.173]
    """
    sums: list[Any] = []
    rest: Any = 0.0
    n = 0
    for counts in samples:
        n += 1
        inverse = 1.0 / (counts.sum(axis=1) + alpha_sum)
        rest = rest + np.stack([inverse, inverse**2])
        weight = np.repeat(inverse, np.diff(counts.indptr))
        # Sums of the shares' powers need the cells with a count alone.
        values = counts.data * weight, (counts.data * weight) ** 2, counts.data * weight**2
        parts = [type(counts)((each, counts.indices, counts.indptr), counts.shape) for each in values]
        sums = [total + part for total, part in zip(sums, parts, strict=True)] if sums else parts
    first, square, mixed = sums
    row = np.repeat(np.arange(len(rest[0])), np.diff(first.indptr))
    own, inverse = alpha[first.indices], rest[:, row]
    mean = (first.data + own * inverse[0]) / n
    mean_square = (square.data + 2 * own * mixed.data + own**2 * inverse[1]) / n
    # As ``between_samples`` has it.
    return np.sqrt(np.maximum(mean_square - mean**2, 0.0) * n / (n - 1) * (1 + 1 / n))


class Sums(NamedTuple):
    """Sums over documents with words: how many, their words per topic n and in all N, and n², n·N, N²."""

    n_docs: float | Array
    counts: Array
    words: float | Array
    squares: Array
    products: Array
    word_squares: float | Array

    def with_others(self, others: Sums, weight: float | Array) -> Sums:
        """The sums, with those of other documents, each of which counts ``weight`` times."""
        return Sums(
            self.n_docs + weight * others.n_docs,
            self.counts + weight * others.counts,
            self.words + weight * others.words,
            self.squares + weight * others.squares,
            self.products + weight * others.products,
            self.word_squares + weight * others.word_squares,
        )

    def residuals(self, share: Array) -> Array:
        """Σ (n − share · N)² of each topic."""
        return np.maximum(self.squares - 2 * share * self.products + share**2 * self.word_squares, 0.0)

    def variance(self) -> Array:
        """Variance of each topic's share of the words, if documents are resampled."""
        correction = np.where(self.n_docs > 1, self.n_docs / np.maximum(self.n_docs - 1, 1e-9), 1.0)
        return np.asarray(self.residuals(self.counts / self.words) / self.words**2 * correction)


def sums_of(documents: SmoothedCounts, rows: NDArray[Any] | None = None) -> Sums:
    """Sums over some documents, or all.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.models.share_moments import sums_of
    >>> from topoi.models.smoothed_counts import SmoothedCounts
    >>> sums_of(SmoothedCounts.from_counts(np.array([[3, 1], [0, 2]]), np.ones(2))).products.tolist()
    [12.0, 8.0]
    """
    n_topics, totals = len(documents.alpha), documents.totals
    lengths = totals if rows is None else totals[rows]
    sums = np.zeros((3, n_topics))
    if rows is None:
        for doc, topic, n in documents.cell_blocks():
            for sum_, weight in zip(sums, (n, n * n, n * totals[doc]), strict=True):
                sum_ += np.bincount(topic, weight, n_topics)
    else:
        for part in blocks(len(rows)):
            counts, own = documents.counts(rows[part]), lengths[part]
            sums += counts.sum(axis=0), (counts * counts).sum(axis=0), own @ counts
    return Sums(float((lengths > 0).sum()), sums[0], float(lengths.sum()), sums[1], sums[2], float(lengths @ lengths))


def group_moments(group: Sums, collection: Sums | None = None, between: Array | None = None) -> Moments:
    """Moments of topics' shares of the words of a group of documents.

    Parameters
    ----------
    group : Sums
        The group's documents.
    collection : Sums, optional
        All documents, of which ``EXTRA`` are added to the group; none if the group is the whole collection.
    between : array, optional
        Standard deviation of each topic's share between samples.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.models.share_moments import group_moments, sums_of
    >>> from topoi.models.smoothed_counts import SmoothedCounts
    >>> documents = SmoothedCounts.from_counts(np.array([[9, 1], [7, 3], [8, 2], [1, 9]]), np.ones(2))
    >>> alone = group_moments(sums_of(documents, np.array([3])), sums_of(documents))
    >>> several = group_moments(sums_of(documents, np.array([0, 1, 2])), sums_of(documents))
    >>> bool(several.deviation[0] < alone.deviation[0])
    True
    """
    if collection is not None and collection.n_docs:
        group = group.with_others(collection, EXTRA / collection.n_docs)
    if not group.words:
        return Moments(np.zeros(len(group.counts)), np.zeros(len(group.counts)))
    variance = group.variance() + (0.0 if between is None else between**2)
    return Moments(group.counts / group.words, np.sqrt(variance))


def weighted_sums(documents: SmoothedCounts, *weights: Array) -> list[Sums]:
    """Sums over documents that count in part, for several weights of all documents; words are read once.

    A document's words are multiplied by its weight, their squares by its square.
    """
    n_topics = len(documents.alpha)
    sums = np.zeros((len(weights), 3, n_topics))
    lengths = [documents.totals * weight for weight in weights]
    for doc, topic, n in documents.cell_blocks():
        for weight, own, found in zip(weights, lengths, sums, strict=True):
            inside = np.flatnonzero(weight[doc])
            at, part = topic[inside], n[inside] * weight[doc[inside]]
            for sum_, value in zip(found, (part, part * part, part * own[doc[inside]]), strict=True):
                sum_ += np.bincount(at, value, n_topics)
    return [
        Sums(float((own > 0).sum()), found[0], float(own.sum()), found[1], found[2], float(own @ own))
        for own, found in zip(lengths, sums, strict=True)
    ]


def part_variance(part: Sums, collection: Sums) -> Array:
    """Variance of topics' shares of the words of a part of the collection."""
    if not (part.words and collection.n_docs):
        return np.zeros(len(part.counts))
    # What is shown is the share of the part's own words, so the weight of the added ones is undone.
    more = 1 + EXTRA * collection.words / collection.n_docs / part.words
    return np.asarray((group_moments(part, collection).deviation * more) ** 2)  # type: ignore[operator]


def as_whole(weight: Array) -> Array:
    """Weights divided by the largest: a hundredth of every document is no smaller a group than all of them."""
    return np.asarray(weight / max(float(weight.max(initial=0.0)), 1e-300))


def change_deviations(documents: SmoothedCounts, first: Array, last: Array) -> Array:
    """Standard deviations of topics' shares of two groups of documents, and of their difference: 3 × topics.

    Parameters
    ----------
    documents : SmoothedCounts
        Words of all documents per topic.
    first, last : array
        The part of each document that is in the first group, and in the last.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.models.share_moments import change_deviations
    >>> from topoi.models.smoothed_counts import SmoothedCounts
    >>> documents = SmoothedCounts.from_counts(np.array([[9, 1], [7, 3], [8, 2], [1, 9]]), np.ones(2))
    >>> change_deviations(documents, np.ones(4), np.ones(4))[2].tolist()
    [0.0, 0.0]
    """
    both = np.sqrt(first * last)
    weights = [as_whole(first), as_whole(last), both / max(float(np.sqrt(first.max() * last.max())), 1e-300)]
    *groups, common = weighted_sums(documents, *weights)
    collection = sums_of(documents)
    variance = np.stack([*(part_variance(group, collection) for group in groups), np.zeros(len(documents.alpha))])
    variance[2] = variance[0] + variance[1]
    if both.any():
        shares = [group.counts / max(group.words, 1e-300) for group in groups]
        product = common.squares - sum(shares) * common.products + shares[0] * shares[1] * common.word_squares
        variance[2] -= 2 * product / max(groups[0].words * groups[1].words, 1e-300)
        variance[2, :] = np.where((first == last).all(), 0.0, np.maximum(variance[2], 0.0))
    return np.sqrt(variance)


def author_interval(
    chain: KnowsShares, authors: NDArray[np.int64], topics: NDArray[np.int64], level: float | None
) -> tuple[Array, Array] | None:
    """Ends of intervals of authors' shares of some topics each (authors × topics); None without a level."""
    if level is None:
        return None
    ends = []
    for part in blocks(len(authors)):
        mean, deviation = chain.author_moments(authors[part])
        chosen = topics[part]
        spread = None if deviation is None else np.take_along_axis(deviation, chosen, axis=1)
        ends.append(Moments(np.take_along_axis(mean, chosen, axis=1), spread).interval(level))
    lower, upper = (np.concatenate([end.ravel() for end in each]) for each in zip(*ends, strict=True))
    return lower, upper


def with_interval(frame: pd.DataFrame, interval: tuple[Array, Array] | None) -> pd.DataFrame:
    """The frame with columns ``lower`` and ``upper`` at its end, if there is an interval."""
    return frame if interval is None else frame.assign(lower=interval[0], upper=interval[1])
