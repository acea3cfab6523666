"""Sampler of Dirichlet-multinomial regression for the engine's loop: LDA with a separate alpha for each document."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_matrix

from topoi.corpus.corpus import Corpus
from topoi.engine.gibbs import Chain
from topoi.engine.shards import Shards
from topoi.errors import ModelError
from topoi.kernels.counts import Counts, Priors
from topoi.kernels.lanes import padded
from topoi.kernels.random import new_stream
from topoi.kernels.word_lists import SparseCounts
from topoi.models.author_topic.state import AuthorTopicSampler, make_priors
from topoi.models.author_topic.work import AllowedTopics, TopicWork
from topoi.models.dmr.design import Design
from topoi.models.dmr.draws import draw, draws_at_once, metric_of
from topoi.models.dmr.grouping import Groups, grouped, same_rows
from topoi.models.dmr.likelihood import Density, Gaussian, Limits, TopicCells, alpha_rows, maximise
from topoi.models.dmr.selection import best_variance
from topoi.models.dmr.work import RegressedShard, RegressionWork, SentPriors, joined_cells
from topoi.models.draws import Draws
from topoi.models.guidance.guidance import Guidance
from topoi.models.inputs import WeightedAuthors
from topoi.models.smoothed_counts import count_topics

Array = NDArray[np.float64]
_STEPS_WITHIN = 20
# Number of the coefficients' random stream, beyond the number of any shard.
_STREAM = 2**62


class RegressionPriors(NamedTuple):
    """``Priors`` with alpha as the mean over documents, each document's row, and the coefficients behind them.

    ``variance`` is that of all coefficients except the intercept, NaN until it has been chosen. ``frozen`` are the
    topics, token by token, that the coefficients were refitted to; empty if they are the chain's own. ``draws`` are
    coefficients of this chain, sampled together with its topics.
    """

    alpha: NDArray[np.float32]
    alpha_sum: float
    beta: NDArray[np.float32]
    beta_sum: float
    rows: NDArray[np.float32]
    coefficients: Array
    variance: float
    frozen: NDArray[np.uint16]
    draws: Draws

    def of(self, row: NDArray[np.float32]) -> Priors:
        """Priors of a document with this alpha."""
        return Priors(row, math.fsum(row.tolist()), self.beta, self.beta_sum)


RegressionChain: TypeAlias = Chain[Counts | SparseCounts, RegressionPriors, RegressedShard]


class Plan(NamedTuple):
    """The coefficients' prior, and when (at intervals of sweeps after the warm-up) and how they are learned.

    ``mean`` is the prior mean, topics × columns; the variance is NaN if it is to be chosen by cross-validation.
    Coefficients are ``drawn`` from their posterior, or else maximise it.
    """

    mean: Array
    variance: float
    intercept_variance: float
    n_warmup: int
    learn_every: int
    drawn: bool = False

    def prior(self, variance: float) -> Gaussian:
        """Gaussian prior, given the variance of all but the intercept."""
        variances = np.full(self.mean.shape[1], variance)
        variances[0] = self.intercept_variance
        return Gaussian(self.mean, variances)


class RegressionSampler(AuthorTopicSampler):
    """``AuthorTopicSampler`` with only private authors, and a row of alpha for every document.

    Where guidance forbids a document a topic, its row is zero, and the coefficients are learned without that term.

    Examples
    --------
    >>> import numpy as np, topoi
    >>> from topoi.models.dmr.design import Design
    >>> from topoi.models.dmr.state import Plan, RegressionSampler
    >>> corpus = topoi.Corpus.from_tokens([["a", "b"], ["c"]])
    >>> plan = Plan(np.log([[0.5], [0.25]]), 1.0, 10.0, 0, 10)
    >>> sampler = RegressionSampler(corpus, Design(()).matrix(corpus), plan, np.full(3, 0.1))
    >>> sampler.start(0, 0).priors.rows[:, :2].tolist()
    [[0.5, 0.25], [0.5, 0.25]]
    """

    def __init__(
        self,
        corpus: Corpus,
        design: csr_matrix,
        plan: Plan,
        beta: Array,
        n_shards: Shards = 1,
        guidance: Guidance | None = None,
    ):
        alpha = np.ones(len(plan.mean))
        super().__init__(corpus, WeightedAuthors.private(corpus.n_docs), alpha, beta, n_shards, guidance=guidance)
        self.by_words = False
        self.design, self.plan = design, plan
        self.terms = Design(())
        # Initial topic of every token; random if empty.
        self.begin: NDArray[np.uint16] | None = None

    @cached_property
    def _groups(self) -> Groups | None:
        """Documents with the same features, and the same topics that they may have."""
        return same_rows(self.design, self.limits)

    @cached_property
    def limits(self) -> Limits | None:
        """Topics that documents may have, if not all."""
        told = self.guidance
        if told is None or told.allowed is None or told.doc_set is None:
            return None
        # Only a document without words may have no topic; for it nothing is learned.
        sets = np.where(told.allowed.any(axis=1, keepdims=True), told.allowed, True)
        return Limits(sets, told.doc_set.astype(np.int64))

    @cached_property
    def _works(self) -> list[TopicWork]:
        both, times, limits = zip(self._parts, self._ranges, strict=True), self._times_for_lists, self.limits
        sets = None if limits is None else limits.sets.astype(np.float32)

        def allowed(first: int, last: int) -> AllowedTopics | None:
            return None if sets is None or limits is None else (sets, limits.row[first:last].astype(np.int32))

        sizes = self.n_topics, self.n_words
        return [
            RegressionWork(part, *sizes, self.design[first:last], first, self.scratch, times, allowed(first, last))
            for part, (first, last) in both
        ]

    def priors(
        self, coefficients: Array, beta: Array, variance: float, frozen: ArrayLike = (), draws: Draws | None = None
    ) -> RegressionPriors:
        """Priors of all documents, in the form that kernels read; ``alpha`` is the mean before limits."""
        rows = np.zeros((self.n_docs, padded(self.n_topics)), np.float32)
        if self._groups is None:
            rows[:, : self.n_topics] = alpha_rows(self.design, coefficients)
        else:
            rows[:, : self.n_topics] = alpha_rows(self._groups.design, coefficients).astype(np.float32)[
                self._groups.group
            ]
        mean = rows[:, : self.n_topics].mean(axis=0, dtype=np.float64)
        if self.limits is not None:
            rows[:, : self.n_topics] = self.limits.masked(rows[:, : self.n_topics])
        draws = Draws.none(coefficients.shape) if draws is None else draws
        frozen = np.array(frozen, np.uint16)
        return RegressionPriors(*make_priors(mean, beta), rows, coefficients, variance, frozen, draws)

    def _new_chain(self, index: int, alpha: Array, beta: Array) -> RegressionChain:
        chain = super()._new_chain(index, alpha, beta)
        chain.priors = self.priors(self.plan.mean, beta, self.plan.variance)
        return chain

    def restore(self, index: int, arrays: dict[str, NDArray[Any]], trace: list[Any]) -> RegressionChain:
        """Restore a chain from the arrays of ``to_arrays``."""
        coefficients = np.array(arrays["coefficients"], np.float64)
        if coefficients.shape != self.plan.mean.shape or not np.isfinite(coefficients).all():
            raise ModelError("the saved coefficients do not fit the features")
        frozen = arrays["frozen"]
        fits = frozen.dtype == np.uint16 and frozen.shape in ((0,), (self.n_tokens,))
        if not fits or int(frozen.max(initial=0)) >= self.n_topics:
            raise ModelError("the saved counts of topics do not fit this corpus")
        none = Draws.none(coefficients.shape)
        draws = Draws(arrays.get("draws", none.values), arrays.get("drawn_at", none.sweeps))
        fits = draws.values.dtype == np.float32 and draws.sweeps.dtype == np.int64 and draws.sweeps.ndim == 1
        if not fits or draws.values.shape != (len(draws.sweeps), *coefficients.shape):
            raise ModelError("the saved draws of coefficients do not fit the features")
        if not np.isfinite(draws.values).all():
            raise ModelError("the saved draws of coefficients have values that are not finite")
        if self.guidance is not None and len(frozen):
            frozen = self.guidance.repaired(self._corpus, frozen, (0, index, 0))
        chain = super().restore(index, arrays, trace)
        chain.priors = self.priors(coefficients, arrays["beta"], float(arrays["variance"][0]), frozen, draws)
        return chain

    def start(self, seed: int, index: int) -> RegressionChain:
        """A chain with random topics, or with given initial ones."""
        chain = super().start(seed, index)
        return chain if self.begin is None else self.restore(index, self.to_arrays(chain) | {"topic": self.begin}, [])

    def is_long(self, sweep: int) -> bool:
        """Whether coefficients are learned after a sweep, which may take much longer than the sweep itself."""
        return sweep >= self.plan.n_warmup and sweep % self.plan.learn_every == 0

    def to_arrays(self, chain: RegressionChain) -> dict[str, NDArray[Any]]:
        """Assignments (two bytes per token), priors and coefficients."""
        priors = chain.priors
        return super().to_arrays(chain) | {
            "coefficients": priors.coefficients,
            "variance": np.array([priors.variance]),
            "draws": priors.draws.values,
            "drawn_at": priors.draws.sweeps,
            "frozen": priors.frozen,
        }

    def widened(self, arrays: Mapping[str, NDArray[Any]], old: Any, part: float) -> dict[str, NDArray[Any]]:
        """Priors and coefficients; those of new names are zero, new topics have the median intercept and no slopes.

        Draws are forgotten: they were of other documents.
        """
        before, coefficients = arrays["coefficients"], self.plan.mean.copy()
        place = {label: c for c, label in enumerate(self.terms.labels)}
        coefficients[: len(before), [place[label] for label in old.terms.labels]] = before
        coefficients[len(before) :, 0] = np.sort(before[:, 0])[(len(before) - 1) // 2] + math.log(part)
        none = Draws.none(coefficients.shape)
        return super().widened(arrays, old, part) | {
            "coefficients": coefficients,
            "variance": arrays["variance"],
            "draws": none.values,
            "drawn_at": none.sweeps,
            "frozen": np.zeros(0, np.uint16),
        }

    def token_rows(
        self, arrays: Mapping[str, NDArray[Any]], at: NDArray[np.int64], topics: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Documents of tokens, and each one's alpha."""
        doc = np.searchsorted(self._corpus.doc_start, at, side="right") - 1
        docs, row = np.unique(doc, return_inverse=True)
        rows = self.priors(arrays["coefficients"], arrays["beta"], float(arrays["variance"][0])).rows
        return row.astype(np.int64), rows[docs][:, topics].astype(np.float64)

    def with_weight_moved(
        self, arrays: Mapping[str, NDArray[Any]], source: int, target: int, part: float, fresh: bool
    ) -> dict[str, NDArray[Any]]:
        """Arrays with other intercepts; a fresh topic has the coefficients of the one it comes from.

        Draws are forgotten: they were of other topics.
        """
        moved = super().with_weight_moved(arrays, source, target, part, fresh)
        coefficients = np.array(arrays["coefficients"], np.float64)
        given = coefficients[source, 0] + math.log(part)
        if fresh:
            coefficients[target] = coefficients[source]
        coefficients[target, 0] = given if fresh else np.logaddexp(coefficients[target, 0], given)
        coefficients[source, 0] += math.log1p(-part)
        none = Draws.none(coefficients.shape)
        return moved | {
            "coefficients": coefficients,
            "draws": none.values,
            "drawn_at": none.sweeps,
            "frozen": np.zeros(0, np.uint16),
        }

    def cells(self, topic: NDArray[np.uint16]) -> TopicCells:
        """Topic counts of the documents, from every token's topic."""
        start, column, number = count_topics(self._corpus.doc_start, topic, self.n_topics)
        lengths = np.diff(self._corpus.doc_start).astype(np.float64)
        return TopicCells(start, column.astype(np.int64), number.astype(np.float64), lengths, self.limits)

    def fitted_cells(self, chain: RegressionChain) -> TopicCells:
        """Counts that the coefficients were fitted to."""
        frozen = chain.priors.frozen
        return self.cells(frozen if len(frozen) else self.whole(chain)[1].topic)

    def learn(self, chain: RegressionChain, sweep: int) -> None:
        """Draw the coefficients, or improve their posterior by steps of L-BFGS; first choose their variance, if asked.

        The first step always optimises: a trajectory from the prior mean would start far from the posterior's mass.
        """
        if self.learns(sweep):
            both = zip(self._works, chain.shards, strict=True)
            found = self.executor.map(lambda each: each[0].statistics(each[1], chain.priors), both)
            self.learn_from(chain, sweep, list(found))

    def learns(self, sweep: int) -> bool:
        """Whether coefficients are learned after a sweep."""
        return self.is_long(sweep)

    def learn_from(self, chain: RegressionChain, sweep: int, statistics: Sequence[Any]) -> None:
        """Learn from the topic counts of all shards' documents."""
        priors, of_documents = chain.priors, joined_cells(list(statistics))._replace(limits=self.limits)
        variance, beta = priors.variance, priors.beta.astype(np.float64)
        if np.isnan(variance):
            # Until now only words and an intercept have shaped the counts, so they are impartial.
            variance = best_variance(self.design, of_documents, self.plan.prior)
        prior, draws = self.plan.prior(variance), priors.draws
        design, cells = grouped(self._groups, self.design, of_documents)
        if not self.plan.drawn or np.array_equal(priors.coefficients, self.plan.mean):
            found = maximise(design, cells, priors.coefficients, prior, _STEPS_WITHIN, self.executor)
        else:
            rng = np.random.default_rng(new_stream(chain.seed, chain.index, sweep, _STREAM))
            metric = metric_of(design, cells, prior, rng, self.executor)
            density, several, found = Density(design, cells, prior, self.executor), [], priors.coefficients
            for _ in range(draws_at_once(found.size)):
                found, _ = draw(density, found, metric, rng)
                several.append(found)
            draws = draws.add(np.stack(several), sweep)
        chain.priors = self.priors(found, beta, variance, draws=draws)

    def summary(self, chain: RegressionChain) -> RegressionPriors:
        """Priors of the chain at its point estimate of the coefficients: the mean of its draws.

        With too few draws, the coefficients are optimised to the mode given the latest topics.
        """
        priors = chain.priors
        draws = priors.draws.settled()
        if not len(draws):
            return priors
        if priors.draws.are_enough():
            point = draws.mean(axis=0)
        else:
            design, cells = grouped(self._groups, self.design, self.fitted_cells(chain))
            prior = self.plan.prior(priors.variance)
            point = maximise(design, cells, priors.coefficients, prior, _STEPS_WITHIN)
        return self.priors(point, priors.beta.astype(np.float64), priors.variance, draws=priors.draws)

    def shared_terms(self, chain: RegressionChain) -> list[Callable[[], float]]:
        """log P(words | topics, beta), with the topics' distributions integrated out."""
        return super().shared_terms(chain)[:1]

    def log_joint_terms(self, chain: RegressionChain) -> list[Callable[[], float]]:
        """Terms of words, and of the documents of each shard: log P(topics | coefficients)."""
        both = zip(self._works, chain.shards, strict=True)
        each = [partial(work.log_joint, shard, chain.counts, chain.priors) for work, shard in both]
        return self.shared_terms(chain) + each

    def sent_priors(self, chain: RegressionChain) -> SentPriors:
        """Coefficients and beta."""
        return SentPriors(chain.priors.coefficients, chain.priors.beta, chain.priors.beta_sum)


def prior_mean(alpha: Array, n_columns: int) -> Array:
    """Prior mean: zero, except log alpha for the intercept."""
    mean = np.zeros((len(alpha), n_columns))
    mean[:, 0] = np.log(alpha)
    return mean


def checked_variance(variance: float | str) -> float:
    """Return the variance, checked; NaN if it is to be chosen."""
    if isinstance(variance, str) and variance == "cv":
        return float("nan")
    if isinstance(variance, bool) or not isinstance(variance, numbers.Real) or not 0 < float(variance) < np.inf:
        raise ModelError(f"variance is {variance!r}; pass a positive number, or 'cv' to choose it by cross-validation")
    return float(variance)
