"""Coefficients given counts of topics sampled without metadata, and comparison of settings on such counts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.utils.validation import check_is_fitted

from topoi.corpus.corpus import Corpus
from topoi.engine.executors import Executor, open_executor, resolve_jobs
from topoi.engine.gibbs import sweep_chains
from topoi.engine.interruption import Abandoned, interruptible
from topoi.errors import ModelError
from topoi.kernels.dirichlet import CountHistogram, learn_dirichlet
from topoi.models.contract import FeaturesLike
from topoi.models.dmr.design import Design, WidthLike
from topoi.models.dmr.grouping import grouped, same_rows
from topoi.models.dmr.likelihood import Gaussian, TopicCells, maximise
from topoi.models.dmr.selection import VARIANCES, best_variance, held_out
from topoi.models.dmr.state import Plan, RegressionChain, RegressionSampler, checked_variance, prior_mean
from topoi.models.draws import Draws
from topoi.models.guidance.guidance import Guidance
from topoi.models.validation import positive_vector, whole_number

_LEARN_EVERY, _SEED = 10, 0
_STEPS_AFTER = 1000
# Where alpha is learned by the regression's own likelihood: steps, and a prior variance that is next to none.
_STEPS_WITHIN, _FLAT = 20, 100.0


def frozen_topics(
    sampler: RegressionSampler,
    corpus: Corpus,
    chain: RegressionChain,
    sweeps: range,
    seed: int,
    executor: Executor,
    stop: Callable[[], bool] | None = None,
) -> NDArray[np.uint16]:
    """Topics of all tokens after some sweeps from the chain's state with the same alpha for all documents.

    That alpha is learned by maximum likelihood on the way. The chain is not changed. ``stop`` may end the sweeps early.
    """
    never = sweeps.stop + 1
    beta = chain.priors.beta.astype(np.float64)
    same = csr_matrix(np.ones((sampler.n_docs, 1)))
    plan = Plan(np.zeros((sampler.n_topics, 1)), 1.0, 1.0, never, 1)
    twin = RegressionSampler(corpus, same, plan, beta, len(chain.shards), sampler.guidance)
    none = Draws.none(plan.mean.shape)
    arrays = sampler.to_arrays(chain) | {"coefficients": plan.mean, "frozen": np.zeros(0, np.uint16)}
    arrays |= {"draws": none.values, "drawn_at": none.sweeps}
    copy = twin.restore(chain.index, arrays, [])
    alpha = np.asarray(chain.priors.alpha[: sampler.n_topics], np.float64)
    for sweep in sweeps:
        if stop is not None and stop():
            break
        if (sweep - sweeps.start) % _LEARN_EVERY == 0:
            alpha = _learned_alpha(twin, copy, alpha)
            copy.priors = twin.priors(np.log(alpha)[:, None], beta, 1.0)
        sweep_chains(twin, [copy], sweep, seed, executor)
    return twin.whole(copy)[1].topic


def topics_of_words(
    corpus: Corpus,
    alpha: NDArray[np.float64],
    beta: NDArray[np.float64],
    n_iter: int,
    executor: Executor,
    guidance: Guidance | None = None,
) -> tuple[NDArray[np.uint16], TopicCells]:
    """Topics of all tokens after a short run without metadata, and their counts per document, to compare settings by.

    It is always the same run, so that a choice based on it depends neither on the seed of a fit, nor on its number of
    chains, nor on a checkpoint. A signal ends it after the current sweep.
    """
    same = csr_matrix(np.ones((corpus.n_docs, 1)))
    plan = Plan(np.log(alpha)[:, None], 1.0, 1.0, n_iter + 1, 1)
    sampler = RegressionSampler(corpus, same, plan, beta, guidance=guidance)
    start, sweeps = sampler.start(_SEED, 0), range(1, n_iter + 1)
    with interruptible() as interruption:
        try:
            work = partial(frozen_topics, sampler, corpus, start, sweeps, _SEED, executor, stop=interruption.is_set)
            topic = interruption.run(work)
        except Abandoned:
            interruption.give_up("the first sweeps were done")
    return topic, sampler.cells(topic)


def _learned_alpha(
    sampler: RegressionSampler, chain: RegressionChain, alpha: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Alpha of all documents by maximum likelihood, from ``alpha`` on; where there are limits, that of own topics."""
    cells = sampler.cells(sampler.whole(chain)[1].topic)
    if cells.limits is None:
        histogram = CountHistogram.from_counts(cells.topic, cells.number, cells.total, sampler.n_topics)
        return learn_dirichlet(histogram, alpha, symmetric=False)
    design, together = grouped(same_rows(sampler.design, cells.limits), sampler.design, cells)
    start = np.log(alpha)[:, None]
    return np.exp(maximise(design, together, start, Gaussian(start, np.array([_FLAT])), _STEPS_WITHIN)[:, 0])


class Refitting:
    """Methods of a fitted regression that use its counts of topics; mixed into the estimator."""

    corpus_: Corpus
    n_iter_: int
    n_jobs: int | None
    features: FeaturesLike | None
    width: WidthLike
    _sampler: RegressionSampler
    _chains: list[RegressionChain]
    _seed: int

    def _freeze(self) -> None:
        raise NotImplementedError  # abstract: the estimator's

    def refit(self, n_iter: int = 50, variance: float | str | None = None) -> Self:
        """Refit the coefficients to counts of topics sampled without metadata.

        Every document's topics are sampled for some sweeps under one alpha for all, and the coefficients maximised
        given the result: what a regression of the topics of a plain LDA on the metadata would say. The fitted topics do
        not change. The result describes that sample of topics and is no better estimate of the coefficients. Where
        topics overlap, it is shrunk towards zero (the topics were sampled as if metadata made no difference), and its
        errors, from the curvature given the counts, leave out the uncertainty of the topics. For intervals use the
        draws of the fit.

        Parameters
        ----------
        n_iter : int
            Sweeps with one alpha for all documents.
        variance : float or "cv", optional
            Another prior variance of the coefficients.

        Examples
        --------
        >>> import topoi
        >>> corpus = topoi.Corpus.from_tokens([["sun"] * 9, ["gene"] * 9] * 10, metadata={"venue": ["A", "B"] * 10})
        >>> model = topoi.DirichletMultinomialRegression(2, features=["venue"], n_iter=60, random_state=0).fit(corpus)
        >>> model.refit(10).fit_info_["refitted"]
        True
        """
        check_is_fitted(self, "n_iter_")
        given = None if variance is None else checked_variance(variance)
        sampler, found = self._sampler, []
        for chain, topic in zip(self._chains, self._frozen(n_iter), strict=True):
            cells, spread = sampler.cells(topic), chain.priors.variance if given is None else given
            if np.isnan(spread):
                spread = best_variance(sampler.design, cells, sampler.plan.prior)
            prior = sampler.plan.prior(spread)
            coefficients = maximise(sampler.design, cells, sampler.plan.mean, prior, _STEPS_AFTER)
            found.append(sampler.priors(coefficients, chain.priors.beta.astype(np.float64), spread, topic))
        for chain, priors in zip(self._chains, found, strict=True):
            chain.priors = priors
        self._freeze()
        return self

    def _frozen(self, n_iter: int, n_chains: int | None = None) -> list[NDArray[np.uint16]]:
        sweeps = range(self.n_iter_ + 1, self.n_iter_ + 1 + whole_number("n_iter", n_iter))
        chains = self._chains[:n_chains]
        with open_executor(resolve_jobs(self.n_jobs), len(chains[0].shards)) as executor:
            return [frozen_topics(self._sampler, self.corpus_, c, sweeps, self._seed, executor) for c in chains]

    def cross_validate(
        self, variances: Sequence[float] = VARIANCES, widths: Sequence[WidthLike] = (None,), n_iter: int = 50
    ) -> pd.DataFrame:
        """Score other settings by cross-validation: how well they predict topics of left-out documents (first chain).

        Counts are those of ``refit``. Topics are not refitted, so it is quick. Fit again with the best settings.

        Parameters
        ----------
        variances : list of floats
            Prior variances.
        widths : list
            Values for ``width``; None, alone, is that of the fit. Others need the metadata in ``corpus_``.
        n_iter : int
            Sweeps with one alpha for all documents.

        Returns
        -------
        DataFrame
            width, variance, log_likelihood: of left-out counts, per token, in five folds. The best comes first.

        Examples
        --------
        >>> import topoi
        >>> corpus = topoi.Corpus.from_tokens([["sun"] * 9, ["gene"] * 9] * 10, metadata={"venue": ["A", "B"] * 10})
        >>> model = topoi.DirichletMultinomialRegression(2, features=["venue"], n_iter=60, random_state=0).fit(corpus)
        >>> model.cross_validate([0.001, 1.0], n_iter=10)["variance"].tolist()
        [1.0, 0.001]
        """
        check_is_fitted(self, "n_iter_")
        variances, widths = _several("variances", variances), _several("widths", widths)
        values = sorted(float(each) for each in positive_vector("variances", variances, len(variances), "their number"))
        sampler, plan = self._sampler, self._sampler.plan
        cells = sampler.cells(self._frozen(n_iter, 1)[0])
        rows = []
        for width in widths:
            own = width is None and len(widths) == 1
            matrix = sampler.design if own else Design.learn(self.corpus_, self.features, width).matrix(self.corpus_)
            mean = prior_mean(np.exp(plan.mean[:, 0]), matrix.shape[1])
            priors = [plan._replace(mean=mean).prior(each) for each in values]
            for each, score in zip(values, held_out(matrix, cells, priors), strict=True):
                rows.append({"width": self.width if own else width, "variance": each, "log_likelihood": score})
        frame = pd.DataFrame(rows, columns=["width", "variance", "log_likelihood"])
        return frame.sort_values("log_likelihood", ascending=False, kind="stable", ignore_index=True)


def _several(name: str, given: object) -> list[Any]:
    if isinstance(given, str | Mapping) or not isinstance(given, Iterable):
        raise ModelError(f"{name} is {given!r}; pass a list")
    found = list(given)
    if not found:
        raise ModelError(f"{name} is empty; name at least one")
    return found
