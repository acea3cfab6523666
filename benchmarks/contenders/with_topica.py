"""topica's LDA (SparseLDA, its fastest exact sampler) and AuthorTopic, both in Rust.

The log likelihood that topica computes for a callback after every sweep costs it about three per cent of a sweep.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np
import topica

from .base import Contender, Estimates, Problem, documents_as_words, mean_of_authors
from .stepped import SteppedFit

_ENDLESS = 10**6


class _Topica(Contender):
    """What the two models share."""

    name = "topica"

    def __init__(self, problem: Problem):
        super().__init__(problem)
        vocabulary = [str(word) for word in problem.corpus.words]
        self.data = topica.Corpus.from_documents(documents_as_words(problem.corpus), vocabulary=vocabulary)
        self.model: Any = None
        self._stepped = SteppedFit(self._endless_fit)

    def _fit(self, n_sweeps: int, callback: Any) -> None:
        raise NotImplementedError

    def _endless_fit(self, after_sweep: Callable[..., bool]) -> None:
        def callback(*_: Any) -> None:
            if after_sweep():
                raise KeyboardInterrupt  # the only exception that ends a fit of topica

        with contextlib.suppress(KeyboardInterrupt):
            self._fit(_ENDLESS, callback)

    def run(self, n_sweeps: int) -> None:
        """Let the one long fit advance."""
        self._stepped.advance(n_sweeps)

    def fit(self, n_sweeps: int) -> None:
        """One fit from beginning to end."""
        self._fit(n_sweeps, False)

    def close(self) -> None:
        """Break off the long fit."""
        self._stepped.close()


class TopicaLDA(_Topica):
    """``topica.LDA(sampler="sparse")`` on one thread, without optimisation of alpha."""

    @classmethod
    def accepts(cls, problem: Problem) -> bool:
        """No more topics than words."""
        return problem.n_topics <= problem.corpus.n_words

    def _fit(self, n_sweeps: int, callback: Any) -> None:
        problem = self.problem
        self.model = topica.LDA(
            problem.n_topics,
            alpha_sum=problem.alpha * problem.n_topics,
            beta=problem.beta,
            optimize_interval=0,
            seed=problem.seed,
            num_threads=1,
            sampler="sparse",
        )
        # With an interval the last sample would come that many sweeps after ``iters``: 0 means now.
        self.model.fit(
            self.data,
            iters=n_sweeps,
            num_samples=1,
            sample_interval=0,
            keep_theta_draws=False,
            check_every=_ENDLESS,
            progress=callback,
            progress_interval=1,
        )

    def estimates(self) -> Estimates:
        """Its smoothed distributions; the vocabulary was pinned, so the columns are in order."""
        return Estimates(self.model.doc_topic, self.model.topic_word)

    def topic_word(self) -> np.ndarray:
        """The topics alone."""
        return np.asarray(self.model.topic_word)


class TopicaAuthorTopic(_Topica):
    """``topica.AuthorTopic``; it has no thread setting."""

    warm_up = 1  # a dense sampler: all its sweeps take the same time

    def __init__(self, problem: Problem):
        super().__init__(problem)
        self.author_lists = [[str(name) for name in names] for names in problem.corpus.author_lists()]

    @classmethod
    def share(cls, n_topics: int) -> float:
        """A quarter of the documents above 100 topics: a sweep over all takes a minute at 300."""
        return 1.0 if n_topics <= 100 else 0.25

    def _fit(self, n_sweeps: int, callback: Any) -> None:
        problem = self.problem
        self.model = topica.AuthorTopic(problem.n_topics, alpha=problem.alpha, beta=problem.beta, seed=problem.seed)
        self.model.fit(self.data, self.author_lists, iters=n_sweeps, progress=callback)

    def estimates(self) -> Estimates:
        """Topics, and the mean of each document's authors, whom topica sorts by name."""
        row = {name: a for a, name in enumerate(self.model.authors)}
        author_topic = self.model.author_topic[[row[str(name)] for name in self.problem.corpus.authors]]
        return Estimates(mean_of_authors(self.problem.corpus, author_topic), self.model.topic_word)
