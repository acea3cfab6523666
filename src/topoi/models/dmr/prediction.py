"""Coefficients of a regression with their uncertainty, and predictions for documents with known metadata alone."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.special import ndtri, stdtrit
from sklearn.utils.validation import check_is_fitted

from topoi.corpus.corpus import Corpus
from topoi.errors import ModelError
from topoi.models.bags import Bags
from topoi.models.contract import DocumentsLike, MetadataLike
from topoi.models.dmr.design import Design
from topoi.models.dmr.likelihood import alpha_rows, covariance, linear_covariance, standard_errors
from topoi.models.dmr.posterior import DesignedDocuments
from topoi.models.dmr.state import RegressionChain, RegressionSampler
from topoi.models.features.columns import Column
from topoi.models.features.prediction import Belief, MetadataPredictions, shares_frame
from topoi.models.features.table import as_source, warn_unknown
from topoi.models.filtering import Filtered
from topoi.models.gaussian_points import root, softmax_points
from topoi.models.inputs import Aligned, align
from topoi.models.validation import checked_tail

Array = NDArray[np.float64]
# Fewest draws that have a spread.
_LEAST_WORTH, _MOST_ROUNDS = 2.0, 50
_DRAWS, _ROWS_AT_ONCE = 1000, 256


class Spread(Protocol):
    """Interface of the two."""

    def errors(self) -> Array:
        """Standard errors: topics × columns."""
        ...

    def of_logs(self, design: csr_matrix) -> Array:
        """Covariance of some documents' log alpha: documents × topics × topics."""
        ...


class CurvatureSpread:
    """Inverse of the curvature at the mode, given counts of topics (see ``likelihood.covariance``)."""

    def __init__(self, covariance: Array):
        self._covariance = covariance

    def errors(self) -> Array:
        """Standard errors: topics × columns."""
        return standard_errors(self._covariance)

    def of_logs(self, design: csr_matrix) -> Array:
        """Covariance of some documents' log alpha: documents × topics × topics."""
        return linear_covariance(design, self._covariance)


class DrawnSpread:
    """Draws × topics × columns, from the joint posterior of coefficients and topics.

    The draws of a chain are correlated and few: they are worth ``effective`` independent ones. Errors are enlarged so
    that ±1.645 of them cover 90 %, by Student's t for the next draw from a Gaussian of which that many draws are known.
    """

    def __init__(self, draws: Array):
        self.effective = effective_draws(draws)
        scale = spread_factor(len(draws), self.effective) / np.sqrt(len(draws) - 1)
        self._away = scale * (draws - draws.mean(axis=0))

    def errors(self) -> Array:
        """Standard errors: topics × columns."""
        return np.asarray(np.sqrt((self._away**2).sum(axis=0)))

    def of_logs(self, design: csr_matrix) -> Array:
        """Covariance of some documents' log alpha: documents × topics × topics."""
        n_draws, n_topics, n_columns = self._away.shape
        logs = design @ self._away.reshape(-1, n_columns).T
        logs = np.asarray(logs).reshape(-1, n_draws, n_topics)
        return np.asarray(np.einsum("dmk,dml->dkl", logs, logs, optimize=True))


def spread_factor(n_draws: int, worth: float) -> float:
    """Factor that enlarges the standard deviation of ``n_draws`` draws worth ``worth`` independent ones.

    (1 − 1/n) / (1 − 1/worth): correlated draws lie closer to their own mean. 1 + 1/worth: that mean is uncertain. The
    95 % quantile of Student's t, worth − 1 degrees of freedom, over that of a Gaussian: the variance is uncertain too.
    """
    variance = (1.0 - 1.0 / n_draws) / (1.0 - 1.0 / worth) * (1.0 + 1.0 / worth)
    return float(np.sqrt(variance) * stdtrit(worth - 1.0, 0.95) / ndtri(0.95))


def effective_draws(draws: Array) -> float:
    """Effective number of independent draws of a chain: n / τ, where τ = 1 + 2 Σ autocorrelation.

    Autocorrelations are averaged over all coefficients, and summed as long as pairs of them are positive, none larger
    than the one before (Geyer 1992). Measured about the draws' own mean each is τ / n too small, which matters in a
    short chain: it is added back until τ does not change.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.models.dmr.prediction import effective_draws
    >>> draws = np.random.default_rng(0).standard_normal((50, 3, 4))
    >>> 40 < effective_draws(draws) <= 50, 7 < effective_draws(np.repeat(draws, 5, axis=0)[:50]) < 13
    (True, True)
    """
    n_draws = len(draws)
    away = (draws - draws.mean(axis=0)).reshape(n_draws, -1)
    size = np.sqrt((away**2).sum(axis=0))
    away = away[:, size > 0.0] / size[size > 0.0]
    if not away.size:
        return float(n_draws)
    even = n_draws // 2 * 2
    found = np.array([(away[: n_draws - lag] * away[lag:]).sum() for lag in range(even)]) / away.shape[1]
    tau = 1.0
    for _ in range(_MOST_ROUNDS):
        pairs = (found + tau / n_draws * (1.0 - np.arange(even) / n_draws)).reshape(-1, 2).sum(axis=1)
        pairs = np.minimum.accumulate(pairs) * np.logical_and.accumulate(pairs > 0.0)
        before, tau = tau, min(max(2.0 * float(pairs.sum()) - 1.0, 1.0), n_draws / _LEAST_WORTH)
        if abs(tau - before) < 1e-3 * tau:
            break
    return n_draws / tau


class RegressionPredictions(MetadataPredictions):
    """Predictions of a fitted Dirichlet-multinomial regression."""

    design_: Design
    n_iter_: int
    n_warmup: int
    _sampler: RegressionSampler
    _chains: list[RegressionChain]

    @property
    def feature_columns_(self) -> list[Column]:
        """Columns of the features: name, kind, and range or names."""
        check_is_fitted(self, "n_iter_")
        return [term.column for term in self.design_.terms]

    def _align(self, X: DocumentsLike) -> tuple[Aligned, DesignedDocuments]:  # type: ignore[override]
        check_is_fitted(self, "n_iter_")
        aligned = align(self._as_corpus(X), self.vocabulary_, None)
        return aligned, DesignedDocuments.from_corpus(aligned.corpus, self.design_.matrix(aligned.corpus))

    def documents_and_chains(  # type: ignore[override]
        self, X: DocumentsLike, metadata: MetadataLike | None = None
    ) -> tuple[Corpus, DesignedDocuments, list[Any]]:
        """Documents with their rows of the design, from which the chains compute their priors."""
        corpus, source = self._source(X, metadata)
        aligned = align(corpus, self.vocabulary_, None).corpus
        return aligned, DesignedDocuments.from_corpus(aligned, self.design_.matrix(source)), self.chains_

    def _integrated(
        self, X: DocumentsLike, metadata: MetadataLike | None, n_particles: int | str, seed: int
    ) -> tuple[NDArray[np.int64], Filtered]:
        return self._filtered(X, n_particles, seed, metadata)

    def _beliefs(self, source: MetadataLike) -> list[Belief]:
        design = self.design_.matrix(source)
        return [self._belief(chain.topic_word, alpha_rows(design, chain.coefficients)) for chain in self.chains_]

    def _expected_counts(self, corpus: Corpus) -> Array:
        alpha = alpha_rows(self.design_.matrix(corpus), self.chains_[0].coefficients)
        return self._folded_counts(Bags.from_corpus(corpus), self.chains_[0].topic_word, alpha)

    def _belief(self, topic_word: Array, alpha: Array) -> Belief:
        mean = alpha / alpha.sum(axis=1, keepdims=True)
        return Belief(topic_word, lambda rows: mean[rows], lambda bags: self._folded(bags, topic_word, alpha))

    def _spread(self) -> Spread:
        """Uncertainty of the first chain's coefficients, computed on first use."""
        check_is_fitted(self, "n_iter_")
        if self._known_spread is None:
            priors = self.chains_[0].priors
            if np.isnan(priors.variance):
                raise ModelError(
                    "nothing has been learned of the features yet: variance='cv' is chosen after "
                    f"{self.n_warmup} sweeps of warm-up, and {self.n_iter_} were run; resume(), or refit()"
                )
            if priors.draws.are_enough():
                self._known_spread = DrawnSpread(priors.draws.settled())
            else:
                sampler, prior = self._sampler, self._sampler.plan.prior(priors.variance)
                cells = sampler.fitted_cells(self._chains[0])
                self._known_spread = CurvatureSpread(covariance(sampler.design, cells, priors.coefficients, prior))
        return self._known_spread

    _known_spread: Spread | None = None

    @property
    def coefficients_are_drawn_(self) -> bool:
        """Whether errors and bands come from draws; with too few draws, they use the curvature given the topics."""
        return isinstance(self._spread(), DrawnSpread)

    def coefficients(self) -> pd.DataFrame:
        """The coefficients of the first chain: topic, feature, coefficient, standard_error, z.

        log alpha of a topic is the sum of its coefficients times the features' values: a coefficient of 0.7 for
        ``party=Whig`` doubles the topic's alpha in Whig documents. Coefficients are means of ``coefficient_draws_``,
        sampled together with the topics, so they include the topics' uncertainty. Errors are the draws' standard
        deviations, enlarged because draws are few and correlated, so that 1.645 of them are a 90 % interval if the
        model holds and the chain has found the topics. No interval covers topics that the chain has not found, nor a
        ``beta`` far from the words' true spread, which shrinks slopes towards zero (docs/dmr.md has figures).

        With ``learning="optimise"``, after a ``refit``, and after so few sweeps that draws are too few, they are the
        mode and its curvature *given* the counts of topics, and errors are too small where topics overlap.

        Examples
        --------
        >>> import topoi
        >>> corpus = topoi.Corpus.from_tokens([["sun"] * 9, ["gene"] * 9] * 10, metadata={"venue": ["A", "B"] * 10})
        >>> model = topoi.DirichletMultinomialRegression(2, features=["venue"], n_iter=60, random_state=0).fit(corpus)
        >>> frame = model.coefficients()
        >>> list(frame.columns), frame["feature"].unique().tolist()
        (['topic', 'feature', 'coefficient', 'standard_error', 'z'], ['intercept', 'venue=A', 'venue=B'])
        """
        error = self._spread().errors().ravel()
        found = self.chains_[0].coefficients
        n_topics, n_columns = found.shape
        return pd.DataFrame(
            {
                "topic": np.repeat(np.arange(n_topics), n_columns),
                "feature": np.tile(np.array(self.design_.labels, object), n_topics),
                "coefficient": found.ravel(),
                "standard_error": error,
                "z": found.ravel() / error,
            }
        )

    def predict(self, features: MetadataLike, level: float = 0.8, noise: bool = True) -> pd.DataFrame:
        """Topic shares of documents of which only the metadata are known, with bands (first chain).

        Parameters
        ----------
        features : DataFrame, mapping of columns, or Corpus
            The features, one row per document. A missing number contributes nothing. A name that no training document
            has, and the curve of a date beyond the training range, are as uncertain as under the prior; both cause a
            warning.
        level : float
            Probability of each band, with equal tails.
        noise : bool
            Bands of the shares of a single new document, drawn from its Dirichlet; without noise, those of the
            Dirichlet's mean. Both include the uncertainty of the coefficients.

        Returns
        -------
        DataFrame
            row, the features, topic, mean, lower, upper; one line per row and topic. The mean is alpha / Σ alpha.

        Examples
        --------
        >>> import topoi
        >>> corpus = topoi.Corpus.from_tokens([["sun"] * 9, ["gene"] * 9] * 10, metadata={"venue": ["A", "B"] * 10})
        >>> model = topoi.DirichletMultinomialRegression(2, features=["venue"], n_iter=60, random_state=0).fit(corpus)
        >>> found = model.predict({"venue": ["A"]})
        >>> list(found.columns), bool(found["mean"].max() > 0.8)
        (['row', 'venue', 'topic', 'mean', 'lower', 'upper'], True)
        """
        tail = checked_tail(level)
        spread = self._spread()
        source = as_source(features)
        warn_unknown(self.feature_columns_, source)
        design = self.design_.matrix(source)
        alpha = alpha_rows(design, self.chains_[0].coefficients)
        found = np.empty((3, *alpha.shape))
        found[0] = alpha / alpha.sum(axis=1, keepdims=True)
        unseen = self.chains_[0].priors.variance * self.design_.unseen(source)
        for first in range(0, len(alpha), _ROWS_AT_ONCE):
            rows = slice(first, first + _ROWS_AT_ONCE)
            for d, here in enumerate(spread.of_logs(design[rows]), first):
                draws = _share_draws(np.log(alpha[d]), here + unseen[d] * np.eye(len(here)), noise)
                found[1:, d] = np.quantile(draws, (tail, 1.0 - tail), axis=0)
        return shares_frame(source, self.design_.names, found)


def _share_draws(mean: Array, spread: Array, noise: bool) -> Array:
    """Shares at fixed points that represent a Gaussian of log alpha, or draws from their Dirichlets."""
    logs = softmax_points(mean, root(spread), _DRAWS)
    if not noise:
        weight = np.exp(logs - logs.max(axis=1, keepdims=True))
        return np.asarray(weight / weight.sum(axis=1, keepdims=True))
    rng, alpha = np.random.default_rng(0), np.exp(np.clip(logs, np.log(1e-6), np.log(1e6)))
    draws = np.log(rng.standard_gamma(alpha + 1.0)) + np.log(rng.random(alpha.shape)) / alpha
    shares = np.exp(draws - draws.max(axis=1, keepdims=True))
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))
