"""Empirical likelihood: average probability of documents over mixtures drawn from the fitted prior."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from topoi.corpus.corpus import Corpus
from topoi.engine.executors import Executor, open_executor, resolve_jobs
from topoi.evaluation.inputs import Readable, checked_model, known_part, no_error, read, seed_of
from topoi.kernels.bags import bag_moments, log_word_probabilities
from topoi.kernels.counts import Documents
from topoi.models.catalogue import CorpusCatalogue
from topoi.models.contract import DocumentsLike, DrawsMixtures, LoadedModel, MetadataLike, SeedLike
from topoi.models.posterior import Posterior
from topoi.models.scores import largest_shape, pareto_shapes, tail_length
from topoi.models.validation import whole_number

# Each block of samples has its own random stream, so that draws do not depend on the thread or the documents.
_SAMPLES_AT_ONCE = 64
# Largest number of elements of a matrix topics × words, or samples × words.
_NUMBERS_AT_ONCE = 4_000_000


class Sums(NamedTuple):
    """Σ P(d|s) = total · exp(top) and Σ P(d|s)² = squares · exp(2 · top) over some samples, per document.

    ``tail`` holds the largest values of log P(d|s), documents × tail length, ascending; padded with minus infinity.
    """

    top: NDArray[np.float64]
    total: NDArray[np.float64]
    squares: NDArray[np.float64]
    tail: NDArray[np.float64]

    @classmethod
    def nothing(cls, n_docs: int, n_tail: int) -> Sums:
        """Sums of no samples."""
        tail = np.full((n_docs, n_tail), -np.inf)
        return cls(np.full(n_docs, -np.inf), np.zeros(n_docs), np.zeros(n_docs), tail)

    def plus(self, other: Sums) -> Sums:
        """Sums over both sets of samples."""
        top = np.maximum(self.top, other.top)
        # Where both tops are minus infinity all sums are zero; use zero as the common factor.
        base = np.where(top > -np.inf, top, 0.0)
        mine, theirs = np.exp(self.top - base), np.exp(other.top - base)
        total = self.total * mine + other.total * theirs
        tail = np.sort(np.concatenate((self.tail, other.tail), axis=1), axis=1)[:, -self.tail.shape[1] :]
        return Sums(top, total, self.squares * mine**2 + other.squares * theirs**2, tail)


class Bags(NamedTuple):
    """Documents as bags of words: for each document its distinct words, in order, and their counts."""

    start: NDArray[np.int64]
    word: NDArray[np.int64]
    times: NDArray[np.float64]


def empirical_likelihood(
    model: LoadedModel,
    corpus: DocumentsLike,
    n_samples: int = 1000,
    random_state: SeedLike = None,
    metadata: MetadataLike | None = None,
) -> NDArray[np.float64]:
    """Log probability of each document by the empirical likelihood of Li and McCallum (section 4.1.3).

    Mixtures of topics are drawn from the fitted prior of a document; the document's probability is the mean over them
    of the product of its words' probabilities. The mean is unbiased, but for all except short documents it depends on
    the few samples that happen to be near the document: the logarithm is then too low, the more so the more topics
    there are. ``empirical_likelihood_report`` gives the effective number of samples.

    Parameters
    ----------
    model
        A fitted model of any family. Mixtures of authors are drawn from Dir(counts + alpha), those of unknown or
        fictitious authors from Dir(alpha), those of a pachinko graph's nodes from their Dirichlets, and those of models
        with features from the prior given the document's metadata. An ``AuthorModel`` has no mixtures to draw: its
        probabilities are exact.
    corpus : Corpus, list of texts, or (where the model takes one) a matrix of counts
        The documents. Words that the model does not know are left out.
    n_samples : int
        Number of mixtures drawn for each chain; documents with the same prior share them.
    random_state : int, generator or None
        Seeds the draws; the fit's seed if None.
    metadata : DataFrame or mapping of columns, optional
        Features of the documents, for models with features; those of the corpus if not given.

    Returns
    -------
    ndarray
        One natural logarithm per document, without multinomial coefficient; probabilities are averaged over chains.

    References
    ----------
    Li and McCallum, Pachinko allocation: scalable mixture models of topic correlations, 2008.

    Examples
    --------
    >>> import numpy as np, topoi
    >>> corpus = topoi.Corpus.from_tokens([["a", "b"], ["a", "a"]])
    >>> model = topoi.LDA(1, n_iter=2, random_state=0).fit(corpus)
    >>> np.exp(topoi.evaluation.empirical_likelihood(model, corpus, 10)).round(3).tolist()
    [0.188, 0.561]
    """
    report = empirical_likelihood_report(model, corpus, n_samples, random_state, metadata)
    bad = int(report["standard_error"].isna().sum())
    if bad:
        warnings.warn(
            f"{bad:,} of {len(report):,} documents rest on too few samples: probably too low, by an unknown amount; "
            "model.log_likelihood (the particle filter) is nearer, and empirical_likelihood_report says which they are",
            stacklevel=2,
        )
    return report["log_likelihood"].to_numpy()


def empirical_likelihood_report(
    model: LoadedModel,
    corpus: DocumentsLike,
    n_samples: int = 1000,
    random_state: SeedLike = None,
    metadata: MetadataLike | None = None,
) -> pd.DataFrame:
    """Empirical likelihood of each document, with its standard error and effective number of samples.

    Parameters
    ----------
    model, corpus, n_samples, random_state, metadata
        As in ``empirical_likelihood``.

    Returns
    -------
    DataFrame
        The columns that name a document; n_words, the number of words the model knows; log_likelihood; standard_error
        of the logarithm; effective_samples, (Σ P)² / Σ P²; note. Where the Pareto shape of the samples' probabilities
        is too large (above 1 − 1 / log10(samples), or 0.7), their scatter does not bound the error: the logarithm is
        probably too low, the standard error is NaN, and the note says so and suggests the particle filter.

    Examples
    --------
    >>> import topoi
    >>> corpus = topoi.Corpus.from_tokens([["a", "b"], ["a", "a"]])
    >>> model = topoi.LDA(1, n_iter=2, random_state=0).fit(corpus)
    >>> report = topoi.evaluation.empirical_likelihood_report(model, corpus, n_samples=10)
    >>> report["effective_samples"].round(6).tolist()
    [10.0, 10.0]
    """
    checked_model(model)
    whole_number("n_samples", n_samples)
    found = read(model, corpus, metadata, DrawsMixtures, "use its own log_likelihood")
    if found is None:
        own = known_part(model, corpus)
        log_p = np.asarray(model.log_likelihood(own))
        error, effective = np.zeros(len(log_p)), np.full(len(log_p), np.inf)
        shape, drawn = np.full(len(log_p), -np.inf), n_samples
    else:
        own = found.corpus
        jobs = resolve_jobs(model.n_jobs)
        log_p, error, effective, shape = _estimates(found, n_samples, seed_of(model, random_state), jobs)
        drawn = n_samples * len(found.chains)
    # Equal draws, for a document without words or a single topic, have only rounding errors.
    few = (shape > largest_shape(drawn)) & ((error > 1e-6) | (n_samples == 1)) & np.isfinite(log_p)
    notes = [no_error(k, drawn) if bad else "" for k, bad in zip(shape, few, strict=True)]
    return pd.DataFrame(
        CorpusCatalogue(own).document_columns(np.arange(own.n_docs))
        | {
            "n_words": own.doc_lengths,
            "log_likelihood": log_p,
            "standard_error": np.where(few, np.nan, error),
            "effective_samples": effective,
            "note": notes,
        }
    )


def _estimates(
    found: Readable, n_samples: int, seed: int, n_jobs: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Log of the mean over chains and samples, its standard error, the effective samples, and the Pareto tail shape."""
    bags, n_docs, n_chains = _bags(found.corpus), found.corpus.n_docs, len(found.chains)
    n_tail = tail_length(n_samples * n_chains) + 1
    everything, variance = Sums.nothing(n_docs, n_tail), np.zeros(n_docs)
    with open_executor(n_jobs, -(-n_samples // _SAMPLES_AT_ONCE)) as executor:
        each = [_chain_sums(chain, found.documents, bags, n_samples, n_tail, seed, executor) for chain in found.chains]
    for sums in each:
        everything = everything.plus(sums)
    possible = everything.top > -np.inf
    base = np.where(possible, everything.top, 0.0)
    for sums in each:
        # Variance of one chain's mean, in units of the square of the largest probability.
        scaled = np.exp(sums.top - base)
        spread = np.maximum(sums.squares - sums.total**2 / n_samples, 0.0) * scaled**2
        variance += spread / max(n_samples - 1, 1) / n_samples
    mean = np.where(possible, everything.total / (n_samples * n_chains), 1.0)
    squares = np.where(possible, everything.squares, 1.0)
    error = np.sqrt(variance) / n_chains / mean
    effective = everything.total**2 / squares
    return everything.top + np.log(mean), error, effective, pareto_shapes(everything.tail)


def _chain_sums(
    chain: Posterior, documents: Documents, bags: Bags, n_samples: int, n_tail: int, seed: int, executor: Executor
) -> Sums:
    result = Sums.nothing(len(bags.start) - 1, n_tail)
    blocks = range(0, n_samples, _SAMPLES_AT_ONCE)
    for docs in _batches(chain.prior_groups(documents), np.diff(bags.start), chain.n_topics):
        part, words = _some_bags(bags, docs)
        columns = np.ascontiguousarray(chain.word_columns(words))
        draw = partial(chain.prior_mixtures, documents, int(docs[0]))
        names = [(min(_SAMPLES_AT_ONCE, n_samples - first), (seed, chain.index, first)) for first in blocks]
        total = Sums.nothing(len(docs), n_tail)
        for sums in executor.map(partial(_block_sums, draw, columns, part), names):  # in the order of blocks
            total = total.plus(sums)
        for whole, here in zip(result, total, strict=True):
            whole[docs] = here
    return result


def _block_sums(
    draw: Callable[..., NDArray[np.float64]], columns: NDArray[np.float64], part: Bags, block: tuple[int, Any]
) -> Sums:
    """Sums of one block of samples, given as (number of samples, key of the random stream)."""
    sums = Sums.nothing(len(part.start) - 1, block[0])
    bag_moments(log_word_probabilities(draw(*block), columns), *part, *sums)
    return sums


def _batches(groups: NDArray[np.int64], sizes: NDArray[Any], n_topics: int) -> Iterator[NDArray[np.int64]]:
    """Yield batches of documents that share a prior, as many at a time as memory allows."""
    limit = _NUMBERS_AT_ONCE // max(n_topics, _SAMPLES_AT_ONCE)
    order = np.argsort(groups, kind="stable")
    for members in np.split(order, np.flatnonzero(np.diff(groups[order])) + 1):
        if len(members):
            lot = (np.cumsum(sizes[members]) - 1) // limit
            yield from np.split(members, np.flatnonzero(np.diff(lot)) + 1)


def _bags(corpus: Corpus) -> Bags:
    matrix = corpus.to_matrix()
    matrix.sum_duplicates()
    start, word = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64)
    return Bags(start, word, matrix.data.astype(np.float64))


def _some_bags(bags: Bags, docs: NDArray[np.int64]) -> tuple[Bags, NDArray[np.int64]]:
    """Select documents, with words renumbered among those that occur in them; return also the ids of these words."""
    lengths = np.diff(bags.start)[docs]
    start = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
    at = np.arange(start[-1]) + np.repeat(bags.start[docs] - start[:-1], lengths)
    words, place = np.unique(bags.word[at], return_inverse=True)
    return Bags(start, place.astype(np.int64), bags.times[at]), words
