"""gensim's LdaModel and AuthorTopicModel: variational Bayes, another algorithm, so a pass is not a Gibbs sweep."""

from __future__ import annotations

from typing import Any

import numpy as np
from gensim.models import AuthorTopicModel, LdaModel

from .base import Contender, Estimates, Problem, documents_as_counts, mean_of_authors


class _Gensim(Contender):
    """What the two models share."""

    name = "gensim"
    algorithm = "variational"
    warm_up = 1

    def __init__(self, problem: Problem):
        super().__init__(problem)
        self.documents = documents_as_counts(problem.corpus)
        self.id2word = {w: str(word) for w, word in enumerate(problem.corpus.words)}
        self.model: Any = None

    def settings(self) -> dict[str, Any]:
        """Fixed priors and no evaluation while training; everything else as gensim has it."""
        problem = self.problem
        return {
            "num_topics": problem.n_topics,
            "id2word": self.id2word,
            "alpha": problem.alpha,
            "eta": problem.beta,
            "eval_every": 0,
            "random_state": problem.seed,
        }


class GensimLDA(_Gensim):
    """``gensim.models.LdaModel``."""

    @classmethod
    def share(cls, n_topics: int) -> float:
        """A twentieth of the documents above 100 topics: a pass over all takes minutes."""
        return 1.0 if n_topics <= 100 else 0.05

    def run(self, n_sweeps: int) -> None:
        """Further passes over the same documents; only for timing, since ``update`` starts its step sizes anew."""
        if self.model is None:
            return self.fit(n_sweeps)
        self.model.state.numdocs = 0  # else gensim takes them for new documents
        return self.model.update(self.documents, passes=n_sweeps)

    def fit(self, n_sweeps: int) -> None:
        """All passes with one schedule of step sizes."""
        self.model = LdaModel(self.documents, passes=n_sweeps, **self.settings())

    def estimates(self) -> Estimates:
        """Means of the variational distributions; documents need one more step, which is not counted."""
        gamma, _ = self.model.inference(self.documents)
        return Estimates(gamma / gamma.sum(axis=1, keepdims=True), self.model.get_topics())


class GensimAuthorTopic(_Gensim):
    """``gensim.models.AuthorTopicModel``."""

    def __init__(self, problem: Problem):
        super().__init__(problem)
        self.doc2author = {d: [str(name) for name in names] for d, names in enumerate(problem.corpus.author_lists())}

    @classmethod
    def share(cls, n_topics: int) -> float:
        """A quarter of the documents above 100 topics."""
        return 1.0 if n_topics <= 100 else 0.25

    def run(self, n_sweeps: int) -> None:
        """Further passes over the same documents."""
        if self.model is None:
            return self.fit(n_sweeps)
        self.model.state.numdocs = 0
        return self.model.update(passes=n_sweeps)

    def fit(self, n_sweeps: int) -> None:
        """All passes with one schedule of step sizes."""
        self.model = AuthorTopicModel(self.documents, doc2author=self.doc2author, passes=n_sweeps, **self.settings())

    def estimates(self) -> Estimates:
        """Means of the variational distributions, and the mean of each document's authors."""
        rows = [self.model.author2id[str(name)] for name in self.problem.corpus.authors]
        gamma = np.asarray(self.model.state.gamma, np.float64)[rows]
        author_topic = gamma / gamma.sum(axis=1, keepdims=True)
        return Estimates(mean_of_authors(self.problem.corpus, author_topic), self.model.get_topics())
