"""LDA and Dirichlet-multinomial regression by the word part of kernel topic models, from the very same start.

A comparison of priors needs everything else to be equal: here all models share words among topics by the same compiled
sweep, from the same random shares, and the first hundred sweeps are the same. ``topoi.LDA`` and
``topoi.DirichletMultinomialRegression`` sample instead.
"""

from __future__ import annotations

import time
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, hstack
from sklearn.base import BaseEstimator

import topoi
from topoi.models.bags import Bags
from topoi.models.dmr.design import Design
from topoi.models.dmr.likelihood import Gaussian, TopicCells, alpha_rows, covariance, linear_covariance, maximise
from topoi.models.dmr.prediction import _share_draws
from topoi.models.dmr.selection import VARIANCES, held_out
from topoi.models.features import folding
from topoi.models.features.prediction import Belief, MetadataPredictions
from topoi.models.features.table import as_source, values_of
from topoi.models.inputs import WeightedAuthors
from topoi.models.kernel_topic.fitting import Counts, smoothed

Array = NDArray[np.float64]
WARM_ALPHA, FIRST_ALPHA, INTERCEPT_VARIANCE = 0.5, 0.1, 10.0
N_WARMUP, N_SWEEPS, LEARN_EVERY, STEPS = 100, 50, 5, 200


class PaperDesign:
    """The features of Hennig et al. 2012, section 4.1: 100 bumps in time of width 5 years, and a column per author."""

    def __init__(self, corpus: topoi.Corpus) -> None:
        years = corpus.documents["year"].to_numpy(float)
        self.centres = np.linspace(years.min(), years.max(), 100)
        self._names = Design.learn(corpus, ["authors"])

    def matrix(self, source: Any) -> csr_matrix:
        """Documents × columns."""
        years = np.array(values_of(as_source(source), "year"), float)
        bumps = np.exp(-0.5 * ((years[:, None] - self.centres) / 5.0) ** 2)
        return csr_matrix(hstack([self._names.matrix(source), csr_matrix(bumps)]))


class Regression(MetadataPredictions, BaseEstimator):
    """alpha = exp(x·λ), with λ learned every five sweeps; without features it is LDA with a learned alpha.

    ``designs`` are candidates, made from the training corpus; if there are several, or several ``variances``, the pair
    is chosen by how well it predicts the topics of left-out documents after the warm-up. ``refit`` fits λ once more to
    counts that the metadata have not shaped, by sweeps with one alpha for all.
    """

    n_jobs = 1
    authors_ = np.zeros(0, object)

    def __init__(self, n_topics: int, designs: Any = None, variances: Any = (0.5,), random_state: int = 0) -> None:
        self.n_topics, self.designs, self.variances, self.random_state = n_topics, designs, variances, random_state

    def _lists_for(self, corpus: topoi.Corpus) -> WeightedAuthors:
        return WeightedAuthors.private(corpus.n_docs)

    def _prior(self, n_columns: int, variance: float) -> Gaussian:
        mean = np.zeros((self.n_topics, n_columns))
        mean[:, 0] = np.log(FIRST_ALPHA)
        return Gaussian(mean, np.concatenate(([INTERCEPT_VARIANCE], np.full(n_columns - 1, variance))))

    def fit(self, corpus: topoi.Corpus) -> Self:
        """Warm up as a kernel topic model does, choose, and go on with the prior that is chosen."""
        begin = time.perf_counter()
        self.counts = Counts(Bags.from_corpus(corpus), corpus.n_words, self.n_topics, self.random_state, 0.01)
        base = np.full_like(self.counts.doc_topic, WARM_ALPHA)
        for _ in range(N_WARMUP):
            self.counts.sweep(base, True)
        self.counts.recount()
        made = self.designs or {"none": lambda train: Design(())}
        self._choose(corpus, {name: make(corpus) for name, make in made.items()})
        self._sweep(self.design, self.matrix, self.prior)
        self.corpus_, self.vocabulary_, self.n_iter_ = corpus, corpus.vocabulary, N_WARMUP + N_SWEEPS
        self._keep()
        self.seconds = time.perf_counter() - begin
        return self

    def _choose(self, corpus: topoi.Corpus, designs: dict[str, Any]) -> None:
        options, best = [], -np.inf
        for name, design in designs.items():
            matrix = design.matrix(corpus)
            priors = [self._prior(matrix.shape[1], v) for v in self.variances]
            alone = len(designs) * len(priors) == 1
            scores = [0.0] if alone else held_out(matrix, cells_of(self.counts.doc_topic), priors)
            options += [(score, name, design, matrix, p) for score, p in zip(scores, priors, strict=True)]
        for score, name, design, matrix, prior in options:
            if score > best:
                best, self.design, self.matrix, self.prior = score, design, matrix, prior
                self.chosen = {"design": name, "variance": float(prior.variance[-1])}

    def _sweep(self, design: Any, matrix: csr_matrix, prior: Gaussian) -> None:
        coefficients = prior.mean
        for sweep in range(N_SWEEPS):
            if sweep % LEARN_EVERY == 0:
                coefficients = maximise(matrix, cells_of(self.counts.doc_topic), coefficients, prior, STEPS)
                base = alpha_rows(matrix, coefficients)
            self.counts.sweep(base, True)
        self.counts.recount()
        self.cells = cells_of(self.counts.doc_topic)
        self.coefficients = maximise(matrix, self.cells, coefficients, prior, STEPS)

    def _keep(self) -> None:
        self.topic_word_ = self.counts.topic_word
        self.alpha_ = alpha_rows(self.matrix, self.coefficients).mean(axis=0)

    def refit(self) -> Self:
        """Coefficients for counts under one alpha; topics stay as they are."""
        one = csr_matrix(np.ones((self.matrix.shape[0], 1)))
        self._sweep(None, one, self._prior(1, 1.0))
        self.coefficients = maximise(self.matrix, self.cells, self.prior.mean, self.prior, 5 * STEPS)
        return self

    def _beliefs(self, source: Any) -> list[Belief]:
        alpha = alpha_rows(self.design.matrix(source), self.coefficients)
        mean = alpha / alpha.sum(axis=1, keepdims=True)
        words = self.topic_word_
        return [Belief(words, lambda rows: mean[rows], lambda bags: self._folded(bags, words, alpha))]

    def draw_shares(self, source: Any) -> Array:
        """Shares of new documents, draws × documents × topics, with the coefficients' errors."""
        design = self.design.matrix(source)
        spread = linear_covariance(design, covariance(self.matrix, self.cells, self.coefficients, self.prior))
        logs = np.log(alpha_rows(design, self.coefficients))
        return np.stack([_share_draws(one, here, True) for one, here in zip(logs, spread, strict=True)], axis=1)


def cells_of(counts: Array) -> TopicCells:
    """Expected counts in the form in which the regression reads them."""
    n_docs, n_topics = counts.shape
    kept = counts > 1e-9
    start = np.concatenate(([0], np.cumsum(kept.sum(axis=1)))).astype(np.int64)
    topic = np.broadcast_to(np.arange(n_topics), counts.shape)[kept]
    return TopicCells(start, topic.astype(np.int64), counts[kept], np.where(kept, counts, 0.0).sum(axis=1))


def shown(model: Any, corpus: topoi.Corpus) -> Array:
    """The shares that documents' own words show, under a weak prior that is the same for all models."""
    n_topics = len(model.topic_word_)
    return np.asarray(
        model._folded(Bags.from_corpus(corpus), model.topic_word_, np.full((corpus.n_docs, n_topics), WARM_ALPHA))
    )


def fit_of(model: Any, corpus: topoi.Corpus, shares: Array) -> float:
    """The perplexity of documents whose shares are known."""
    log_p = np.empty(corpus.n_docs)
    words = np.ascontiguousarray(model.topic_word_.T)
    folding.score(Bags.from_corpus(corpus), words, np.ascontiguousarray(shares), log_p)
    return float(np.exp(-log_p.sum() / corpus.n_tokens))


def before_words(model: Any, corpus: topoi.Corpus) -> float:
    """The perplexity of documents of which the model knows the metadata alone."""
    return float(topoi.evaluation.completion_curve(model, corpus, (0,), average="tokens")["perplexity"].item())


def measured(model: Any, train: topoi.Corpus, test: topoi.Corpus, observed: tuple[int, ...]) -> dict[str, Any]:
    """Everything that is reported of a fitted model."""
    curve = topoi.evaluation.completion_curve(model, test, observed, average="tokens")
    draws, seen = model.draw_shares(test), shown(model, test)
    counts = model.counts.doc_topic if isinstance(model, Regression) else model._posterior.counts
    return {
        "perplexity": dict(zip(map(str, observed), curve["perplexity"].tolist(), strict=True)),
        "own_words": fit_of(model, test, seen),
        "training": fit_of(model, train, smoothed(counts)),
        "training_from_metadata": before_words(model, train),
        "coverage": topoi.evaluation.coverage(draws, seen),
        "coverage_within_half_a_percent": topoi.evaluation.coverage(draws, seen, slack=0.005),
        "crps": float(topoi.evaluation.crps(draws, seen).mean()),
    }


def widths(features: list[str], *years: float) -> dict[str, Any]:
    """Candidate designs: bumps in time of some widths."""
    return {f"{w:g} years": (lambda train, w=w: Design.learn(train, features, w)) for w in years}


LDA: dict[str, Any] = {}
PAPER: dict[str, Any] = {"designs": {"paper": PaperDesign}}
TUNED_VARIANCES = VARIANCES
