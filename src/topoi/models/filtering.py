"""Log probabilities of documents by particle filters, with as many particles as each document needs.

A family's kernel runs one filter of a given number of particles. This module runs four independent filters, and again
with more particles where they disagree, until the logarithm of their mean settles.

The probability of a document does not depend on the order of its words, but the variance of the estimate does: a filter
that meets one word ten times in a row, as in a matrix of counts, or vague words first, commits its particles before it
knows what the document is about. ``spread_words`` puts words in a better order.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr

from topoi.errors import ModelError
from topoi.kernels.counts import Documents
from topoi.models.contract import FiltersDocuments, HasTopics
from topoi.models.ranges import some_documents
from topoi.models.scores import log_mean_exp, mean_error
from topoi.models.validation import whole_number

Array = NDArray[np.float64]

AUTO = "auto"
# Number of earlier words that a single filter redraws before each new one.
N_MOVES = 4
_RUNS, _FIRST, _MOST = 4, 12, 768
# Standard error at which to stop: 0.08 √n nats for n words. Half its square, by which the logarithm would be too low
# without the jackknife, is 0.3 % of perplexity.
_TOLERANCE, _LEAST_TOLERANCE = 0.08, 0.05
# Widening of each error so that two errors from four runs cover 95 % by Student's t with three degrees of freedom.
_STUDENT = 1.6
_WORDS_AT_ONCE = 4096


class Filtered(NamedTuple):
    """Per document: log of the estimate, its standard error (in nats; NaN of a single run), and number of particles."""

    log_likelihood: Array
    standard_error: Array
    n_particles: NDArray[np.int64]


def checked_particles(n_particles: int | str) -> int | str:
    """``"auto"``, or a whole number.

    Examples
    --------
    >>> from topoi.models.filtering import checked_particles
    >>> checked_particles("auto"), checked_particles(20)
    ('auto', 20)
    """
    if isinstance(n_particles, str):
        if n_particles != AUTO:
            raise ModelError(f"n_particles is {n_particles!r}; pass 'auto' or a whole number of at least 1")
        return AUTO
    return whole_number("n_particles", n_particles)


def tolerance(lengths: NDArray[Any]) -> Array:
    """Standard error at which the logarithm for a document of ``lengths`` words counts as settled."""
    return np.maximum(_LEAST_TOLERANCE, _TOLERANCE * np.sqrt(lengths))


def filtered(
    chain: FiltersDocuments,
    documents: Documents,
    seed: int,
    n_particles: int | str,
    n_moves: int,
    n_jobs: int,
    resample_below: float = 0.5,
    weighted: bool = True,
) -> Filtered:
    """Log probabilities of documents under one chain, by one filter each or, with ``"auto"``, as many as they need.

    See ``FilterPlan`` for the schedule. Random streams are named by seed, run, chain and content, so that
    neither threads nor other documents change a result.
    """

    def estimates(some: Documents, seed: int, n_particles: int, n_moves: int) -> Array:
        return chain.log_likelihood(some, seed, n_particles, n_moves, n_jobs, resample_below, weighted)

    lengths, hidden = np.diff(documents.doc_start), chain.is_integrated(documents)
    if not isinstance(n_particles, str):
        found = estimates(documents, seed, n_particles, n_moves)
        return Filtered(found, np.where(hidden, np.nan, 0.0), np.where(hidden, n_particles, 0))
    result = Filtered(np.zeros(len(lengths)), np.zeros(len(lengths)), np.zeros(len(lengths), np.int64))
    known = np.flatnonzero(~hidden)
    if len(known):
        result.log_likelihood[known] = estimates(some_documents(documents, known), seed, 1, 0)
    # For each run, the log of the sum over its filters of particles × estimate.
    sums, wanted = np.full((_RUNS, len(lengths)), -np.inf), np.where(hidden, _FIRST, 0)
    while wanted.any():
        for n in np.unique(wanted[wanted > 0]).tolist():
            rows = np.flatnonzero(wanted == n)
            part = some_documents(documents, rows)
            for run in range(_RUNS):
                found = estimates(part, _run_seed(seed, n, run), n, n_moves)
                sums[run, rows] = np.logaddexp(sums[run, rows], found + np.log(n))
            result.n_particles[rows] += _RUNS * n
        rows = np.flatnonzero(wanted)
        each = sums[:, rows] - np.log(result.n_particles[rows] / _RUNS)
        error = _spread(each) / np.sqrt(_RUNS)
        result.log_likelihood[rows], result.standard_error[rows] = _log_mean(each), _STUDENT * error
        more_needed = (error > tolerance(lengths[rows])) & (wanted[rows] < _MOST)
        wanted[rows] = np.where(more_needed, 2 * wanted[rows], 0)
    return result


def over_chains(each: list[Filtered]) -> Filtered:
    """Probabilities of documents averaged over chains, and the errors of the averages."""
    logs = np.stack([found.log_likelihood for found in each])
    mean = log_mean_exp(logs)
    return Filtered(
        mean,
        mean_error(logs, mean, np.stack([found.standard_error for found in each])),
        np.sum([found.n_particles for found in each], axis=0),
    )


def spread_words(chain: HasTopics, documents: Documents) -> Documents:
    """The documents with their words in an order that suits a filter; it depends on the words alone.

    Each word's occurrences are spread evenly over the document; of words at the same position, those that are most
    informative about topics come first.
    """
    lengths, tokens = np.diff(documents.doc_start), documents.tokens
    doc = np.repeat(np.arange(len(lengths)), lengths)
    order = np.lexsort((tokens, doc))
    first = np.flatnonzero(np.diff(doc[order], prepend=-1) | np.diff(tokens[order], prepend=-1))
    times = np.diff(first, append=len(order))
    place = np.arange(len(order)) - np.repeat(first, times) + 0.5
    words, at = np.unique(tokens[order], return_inverse=True)
    new = np.lexsort((tokens[order], _vagueness(chain, words)[at], place / np.repeat(times, times), doc[order]))
    return documents._replace(tokens=np.ascontiguousarray(tokens[order][new]))


def _vagueness(chain: HasTopics, words: NDArray[Any]) -> Array:
    """Entropy of P(topic | word), given equally probable topics."""
    found = np.zeros(len(words))
    for begin in range(0, len(words), _WORDS_AT_ONCE):
        part = words[begin : begin + _WORDS_AT_ONCE]
        share = np.asarray(chain.word_columns(part))
        share = share / np.maximum(share.sum(axis=0), 1e-300)
        found[begin : begin + len(part)] = entr(share).sum(axis=0)
    return found


def _log_mean(logs: Array) -> Array:
    """Log of the mean over runs, with most of its downward bias removed by the jackknife (Quenouille 1956)."""
    whole = log_mean_exp(logs)
    others = [log_mean_exp(np.delete(logs, run, axis=0)) for run in range(_RUNS)]
    with np.errstate(invalid="ignore"):
        found = _RUNS * whole - (_RUNS - 1) * np.mean(others, axis=0)
    return np.where(np.isfinite(found), found, whole)


def _spread(logs: Array) -> Array:
    """Standard deviations over runs; 0 where the document is impossible in all of them."""
    found = np.zeros(logs.shape[1])
    possible = np.isfinite(logs).all(axis=0)
    found[possible] = logs[:, possible].std(axis=0, ddof=1)
    return found


def _run_seed(seed: int, n_particles: int, run: int) -> int:
    return int(np.random.SeedSequence((seed, n_particles, run)).generate_state(1, np.uint64)[0] >> np.uint64(1))
