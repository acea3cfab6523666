"""Dirichlet-multinomial regression in topoi, tomotopy and topica: one design, one prior, one rhythm of learning."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

import topoi
from topoi.models.dmr.design import Design
from topoi.models.dmr.likelihood import alpha_rows

from .base import documents_as_words
from .stepped import SteppedFit

_ENDLESS = 10**6
WARM_UP, LEARN_EVERY = 10, 10
# Steps of L-BFGS each time: topoi's own number, which is topica's default, too; tomotopy has a limit of its own.
STEPS = 20


class RegressionProblem(NamedTuple):
    """What is fitted: a corpus, its features, and the same priors for all; an intercept is added by each system."""

    corpus: topoi.Corpus
    features: dict[str, str]
    n_topics: int
    n_threads: int = 1
    alpha: float = 0.1
    beta: float = 0.01
    variance: float = 1.0
    seed: int = 1

    @property
    def design(self) -> Design:
        """A column for every name, as all systems have it."""
        return Design.learn(self.corpus, self.features)


class Regression:
    """One system. ``run`` trains on, for timing; ``fit`` trains from the start, and the rest may then be read."""

    name: str
    # More it cannot finish a fit with.
    most_coefficients = 10**9

    def __init__(self, problem: RegressionProblem):
        self.problem = problem

    @abstractmethod
    def run(self, n_sweeps: int) -> None:
        """Train for so many sweeps more."""

    @abstractmethod
    def fit(self, n_sweeps: int) -> None:
        """Train from the start."""

    @abstractmethod
    def topic_word(self) -> np.ndarray:
        """P(word | topic), topics × words."""

    @abstractmethod
    def alpha(self, corpus: topoi.Corpus) -> np.ndarray:
        """The Dirichlet of each document, by its metadata."""

    def close(self) -> None:  # noqa: B027 - not all have something to do
        """Let go of what is still running."""


class TopoiRegression(Regression):
    """``topoi.DirichletMultinomialRegression``."""

    name = "topoi"

    def __init__(self, problem: RegressionProblem):
        super().__init__(problem)
        self.model = topoi.DirichletMultinomialRegression(
            problem.n_topics,
            features=problem.features,
            variance=problem.variance,
            intercept_variance=problem.variance,
            alpha=problem.alpha,
            beta=problem.beta,
            n_warmup=WARM_UP,
            learn_every=LEARN_EVERY,
            learning="optimise",  # as the others do
            random_state=problem.seed,
            n_shards=problem.n_threads,
            n_jobs=problem.n_threads,
            evaluate_every=_ENDLESS,
            progress=False,
        )
        self._stepped = SteppedFit(self._endless_fit)

    def _endless_fit(self, after_sweep: Callable[..., bool]) -> None:
        self.model.set_params(n_iter=_ENDLESS).fit(self.problem.corpus, callback=after_sweep)

    def run(self, n_sweeps: int) -> None:
        """Let the one long fit advance."""
        self._stepped.advance(n_sweeps)

    def close(self) -> None:
        """End the long fit."""
        self._stepped.close()

    def fit(self, n_sweeps: int) -> None:
        """One fit from beginning to end."""
        self.model.set_params(n_iter=n_sweeps).fit(self.problem.corpus)

    def refit(self) -> None:
        """Fit the coefficients once more, to counts that the metadata have not shaped."""
        self.model.refit()

    def topic_word(self) -> np.ndarray:
        """The model's own."""
        return self.model.topic_word_

    def alpha(self, corpus: topoi.Corpus) -> np.ndarray:
        """exp(x·λ)."""
        return alpha_rows(self.model.design_.matrix(corpus), self.model.coefficients_)


class TomotopyRegression(Regression):
    """``tomotopy.DMRModel``: all features are names among ``multi_metadata``, so that its design is everybody's."""

    name = "tomotopy"

    def __init__(self, problem: RegressionProblem):
        super().__init__(problem)
        tomotopy = import_module("tomotopy")
        self.model = tomotopy.DMRModel(
            k=problem.n_topics,
            alpha=problem.alpha,
            eta=problem.beta,
            sigma=float(np.sqrt(problem.variance)),
            seed=problem.seed,
        )
        self._design = problem.design
        for words, names in zip(documents_as_words(problem.corpus), self._names(problem.corpus), strict=True):
            self.model.add_doc(words, metadata="all", multi_metadata=names)
        self.model.burn_in, self.model.optim_interval = WARM_UP, LEARN_EVERY

    def _names(self, corpus: topoi.Corpus) -> list[list[str]]:
        labels = np.array(self._design.labels, object)
        matrix = self._design.matrix(corpus)
        rows = np.split(matrix.indices, matrix.indptr[1:-1])
        return [labels[row[row > 0]].tolist() for row in rows]

    def run(self, n_sweeps: int) -> None:
        """Train on; tomotopy keeps its chain."""
        self.model.train(n_sweeps, workers=self.problem.n_threads)

    def fit(self, n_sweeps: int) -> None:
        """The first training."""
        self.run(n_sweeps)

    def topic_word(self) -> np.ndarray:
        """Its smoothed distributions, with the columns in the corpus's order of words."""
        at = {word: column for column, word in enumerate(self.model.used_vocabs)}
        columns = [at[str(word)] for word in self.problem.corpus.words]
        return np.array([self.model.get_topic_word_dist(k) for k in range(self.model.k)], np.float64)[:, columns]

    def alpha(self, corpus: topoi.Corpus) -> np.ndarray:
        """Its own prior of each document's names."""
        return np.array([self.model.get_topic_prior("all", names) for names in self._names(corpus)], np.float64)


class TopicaRegression(Regression):
    """``topica.DMR(sampler="sparse")``, which takes a dense matrix of features.

    At the end of every fit it inverts the curvature of all coefficients, topics × columns on a side, and cannot be told
    not to: with many columns that takes hours or does not fit in memory. A long fit for timing is thus left hanging in
    its thread, not ended.
    """

    name = "topica"
    most_coefficients = 3000

    def __init__(self, problem: RegressionProblem):
        super().__init__(problem)
        self._topica = import_module("topica")
        vocabulary = [str(word) for word in problem.corpus.words]
        self._data = self._topica.Corpus.from_documents(documents_as_words(problem.corpus), vocabulary=vocabulary)
        self._design = problem.design
        self._features = self._design.matrix(problem.corpus).toarray()[:, 1:]
        self._stepped = SteppedFit(self._endless_fit)
        self.model: Any = None

    def _fit(self, n_sweeps: int, callback: Any) -> None:
        problem = self.problem
        self.model = self._topica.DMR(
            problem.n_topics,
            beta=problem.beta,
            optimize_interval=LEARN_EVERY,
            burn_in=WARM_UP,
            seed=problem.seed,
            alpha=problem.alpha,
            prior_variance=problem.variance,
            lbfgs_iters=STEPS,
            num_threads=problem.n_threads,
        )
        self.model.fit(
            self._data,
            self._features,
            iters=n_sweeps,
            num_samples=1,
            sample_interval=0,
            keep_theta_draws=False,
            check_every=_ENDLESS,
            progress=callback,
            progress_interval=1,
        )

    def _endless_fit(self, after_sweep: Callable[..., bool]) -> None:
        def callback(*_: Any) -> None:
            after_sweep()

        self._fit(_ENDLESS, callback)

    def run(self, n_sweeps: int) -> None:
        """Let the one long fit advance."""
        self._stepped.advance(n_sweeps)

    def fit(self, n_sweeps: int) -> None:
        """One fit from beginning to end."""
        self._fit(n_sweeps, False)

    def topic_word(self) -> np.ndarray:
        """Its smoothed distributions; the vocabulary was pinned, so the columns are in order."""
        return np.asarray(self.model.topic_word, np.float64)

    def alpha(self, corpus: topoi.Corpus) -> np.ndarray:
        """exp(x·λ), its intercept first, as in the design."""
        return np.exp(self._design.matrix(corpus) @ np.asarray(self.model.feature_effects).T) + 1e-10
