"""tomotopy's LDA and pachinko allocation: exact Gibbs sampling in C++ with vector instructions."""

from __future__ import annotations

import numpy as np
import tomotopy

from .base import Contender, Estimates, Problem, documents_as_words


class TomotopyLDA(Contender):
    """``tomotopy.LDAModel`` with one worker and no optimisation of alpha."""

    name = "tomotopy"

    def __init__(self, problem: Problem):
        super().__init__(problem)
        self.model = tomotopy.LDAModel(k=problem.n_topics, alpha=problem.alpha, eta=problem.beta, seed=problem.seed)
        for words in documents_as_words(problem.corpus):
            self.model.add_doc(words)
        self.model.optim_interval = 0

    def run(self, n_sweeps: int) -> None:
        """Train on; tomotopy keeps its chain."""
        self.model.train(n_sweeps, workers=1)

    def estimates(self) -> Estimates:
        """Its smoothed distributions."""
        doc_topic = np.array([doc.get_topic_dist() for doc in self.model.docs], np.float64)
        return Estimates(doc_topic, self.topic_word().astype(np.float64))

    def topic_word(self) -> np.ndarray:
        """Its topics, with the columns in the corpus's order of words."""
        at = {word: column for column, word in enumerate(self.model.used_vocabs)}
        columns = [at[str(word)] for word in self.problem.corpus.words]
        found = np.empty((self.model.k, len(columns)), np.float32)
        for k in range(self.model.k):
            found[k] = np.asarray(self.model.get_topic_word_dist(k), np.float32)[columns]
        return found


class TomotopyPachinko(Contender):
    """``tomotopy.PAModel`` with one worker and no optimisation of its parameters."""

    name = "tomotopy"
    warm_up = 2  # a dense sampler: all its sweeps take the same time

    def __init__(self, problem: Problem):
        super().__init__(problem)
        self.model = tomotopy.PAModel(
            k1=problem.n_super,
            k2=problem.n_topics,
            alpha=problem.root_alpha,
            subalpha=problem.alpha,
            eta=problem.beta,
            seed=problem.seed,
        )
        for words in documents_as_words(problem.corpus):
            self.model.add_doc(words)
        self.model.optim_interval = 0

    @classmethod
    def share(cls, n_topics: int) -> float:
        """A quarter of the documents at 100 sub-topics, a fiftieth beyond: a sweep over all takes many seconds."""
        return 0.25 if n_topics <= 100 else 0.02

    def run(self, n_sweeps: int) -> None:
        """Train on; tomotopy keeps its chain."""
        self.model.train(n_sweeps, workers=1)

    def estimates(self) -> Estimates:
        """Not asked for: only speed is compared."""
        raise NotImplementedError
