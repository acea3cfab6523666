"""topoi through its public interface: ``fit``, with a callback where it takes turns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import topoi

from .base import Contender, Estimates, Problem, mean_of_authors
from .stepped import SteppedFit

_ENDLESS = 10**6


class TopoiLDA(Contender):
    """``topoi.LDA``, one shard (exact) and one thread unless told otherwise."""

    name = "topoi"
    model_class: Any = topoi.LDA

    def __init__(self, problem: Problem, n_shards: int = 1, n_jobs: int = 1):
        super().__init__(problem)
        self.model = self.model_class(
            *self.widths(),
            alpha=problem.alpha,
            beta=problem.beta,
            random_state=problem.seed,
            n_shards=n_shards,
            n_jobs=n_jobs,
            evaluate_every=_ENDLESS,
            average=False,  # the last sample, as of all others
            progress=False,
        )
        self._stepped = SteppedFit(self._endless_fit)

    def widths(self) -> tuple[int, ...]:
        """How many topics of each kind."""
        return (self.problem.n_topics,)

    def _endless_fit(self, after_sweep: Callable[..., bool]) -> None:
        self.model.set_params(n_iter=_ENDLESS).fit(self.problem.corpus, callback=after_sweep)

    def run(self, n_sweeps: int) -> None:
        """Let the one long fit advance."""
        self._stepped.advance(n_sweeps)

    def fit(self, n_sweeps: int) -> None:
        """One fit from beginning to end."""
        self.model.set_params(n_iter=n_sweeps).fit(self.problem.corpus)

    def close(self) -> None:
        """End the long fit."""
        self._stepped.close()

    def estimates(self) -> Estimates:
        """The model's own point estimates."""
        return Estimates(self.model.doc_topic_, self.model.topic_word_)

    def topic_word(self) -> np.ndarray:
        """The topics alone."""
        return np.asarray(self.model.topic_word_)


class TopoiAuthorTopic(TopoiLDA):
    """``topoi.AuthorTopicModel``."""

    model_class = topoi.AuthorTopicModel

    def estimates(self) -> Estimates:
        """Topics, and the mean of each document's authors."""
        doc_topic = mean_of_authors(self.problem.corpus, self.model.author_topic_)
        return Estimates(doc_topic, self.model.topic_word_)


class TopoiPachinko(TopoiLDA):
    """``topoi.PachinkoAllocation`` with four levels and fixed alpha."""

    model_class = topoi.PachinkoAllocation

    def __init__(self, problem: Problem, n_shards: int = 1, n_jobs: int = 1):
        super().__init__(problem, n_shards, n_jobs)
        self.model.set_params(root_alpha=problem.root_alpha, learn_alpha=False)

    def widths(self) -> tuple[int, ...]:
        """Super-topics, then sub-topics."""
        return (self.problem.n_super, self.problem.n_topics)
