"""Frozen result of a fit: topics, mixtures of the training documents, inference of new texts by folding in."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.corpus import Corpus
from topoi.errors import ModelError
from topoi.kernels.counts import Documents
from topoi.kernels.dirichlet import maximise_polya
from topoi.kernels.folding import FilterPlan, Labels
from topoi.models.bags import Bags
from topoi.models.drawn import DrawnPosterior, DrawnSource
from topoi.models.fixed_topics.importance import log_likelihood
from topoi.models.plsi import kernels
from topoi.models.plsi.fitting import FOLDING, checked_shares
from topoi.models.simulation import dirichlet_rows

Array = NDArray[np.float64]

# Documents that the Dirichlet of mixtures is fitted to, evenly spaced, and steps of Newton's method.
_DOCS, _STEPS = 2000, 30
_LEAST = 1e-300


class PlsiPosterior(DrawnPosterior):
    """The fitted topics.

    Parameters
    ----------
    source, priors, gamma
        As in ``DrawnPosterior``; ``source.alpha`` is the Dirichlet that was fitted to the training documents' mixtures.
    word_topic : array or callable
        P(w|z), words × topics, or a function that reads it when it is needed.
    power : float
        The power of tempered EM, by which new documents are folded in too; 1 for plain EM.
    """

    mixtures_are_dirichlet = True

    def __init__(
        self,
        source: Any,
        priors: Any,
        gamma: Array | None,
        word_topic: Array | Callable[[], Array],
        power: float = 1.0,
    ) -> None:
        super().__init__(source, priors, gamma)
        self._given, self._power = word_topic, power

    @classmethod
    def from_fit(
        cls, corpus: Corpus, word_topic: Array, doc_topic: Array, alpha: Array, seed: int, power: float = 1.0
    ) -> Self:
        """Freeze fitted topics and mixtures."""
        source = DrawnSource(corpus, word_topic, doc_topic, alpha, seed)
        return cls(source, source.priors, doc_topic, word_topic, power)

    @classmethod
    def from_source(cls, source: Any, settings: dict[str, Any]) -> Self:
        """The posterior of a model in a store."""
        shape, power = (len(source.beta), source.n_topics), float(source.array("power", (1,))[0])
        if not 0 < power <= 1:
            raise source.damaged(f"the power of tempered EM is from 0 to 1, not {power}")
        return cls(source, None, None, lambda: _stored_words(source, shape), power)

    @cached_property
    def word_topic(self) -> Array:
        """P(w|z), words × topics."""
        return self._given() if callable(self._given) else self._given

    def deviation_range(self, first: int, last: int) -> None:
        """None: the mixtures are maximum-likelihood estimates, without a posterior, so their intervals are unknown."""

    # Questions take logarithms of these, so they are never zero.

    @cached_property
    def topic_word(self) -> Array:
        """P(word | topic): topics × words, rows sum to one."""
        return np.maximum(np.ascontiguousarray(self.word_topic.T), _LEAST)

    def word_columns(self, words: Any) -> Array:
        """P(word | topic) of some words, topics × words."""
        return np.maximum(super().word_columns(words), _LEAST)

    def fold_in(self, bags: Bags) -> Array:
        """Mixtures of new documents by EM with the topics fixed: documents × topics."""
        found = np.zeros((bags.n_docs, self.n_topics))
        kernels.fold_in(bags, self.word_topic, self._power, *FOLDING, found)
        return found

    def _label_tokens(self, tokens: NDArray[Any]) -> tuple[Array, Labels]:
        words, times = np.unique(np.asarray(tokens, np.int64), return_counts=True)
        mixture = self.fold_in(Bags(np.array([0, len(words)]), words, times.astype(np.float64)))[0]
        topic = np.zeros((len(tokens), self.n_topics))
        kernels.label(np.asarray(tokens, np.int64), self.word_topic, mixture, self._power, topic)
        return mixture, Labels(topic, np.ones((len(tokens), 1)))

    def _log_likelihood(self, part: Documents, plan: FilterPlan, result: Array) -> None:
        n_particles, n_moves, seed, chain, *rest = plan
        how = n_particles, n_moves, seed, chain, result, *rest
        log_likelihood(part, np.require(self.word_topic, requirements=("C", "W")), self.priors, self.n_topics, *how)

    def prior_mixtures(self, documents: Documents, d: int, n: int, name: tuple[int, ...]) -> Array:
        """Mixtures from the fitted Dirichlet, the same for all documents."""
        return dirichlet_rows(np.random.default_rng(name), self.alpha, n)


def _stored_words(source: Any, shape: tuple[int, int]) -> Array:
    try:
        return checked_shares(source.array("word_topic", shape), "word_topic", shape)
    except ModelError as error:
        raise source.damaged(f"the topics are damaged ({error})") from error


def fitted_dirichlet(doc_topic: Array, lengths: NDArray[Any]) -> Array:
    """The Dirichlet under which the training documents' expected tokens of topics are most probable.

    The mixtures themselves often have zeros, of which no Dirichlet would be the most probable.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.models.plsi.posterior import fitted_dirichlet
    >>> rows = np.random.default_rng(0).dirichlet([2.0, 0.5], 1000)
    >>> bool(np.allclose(fitted_dirichlet(rows, np.full(1000, 10_000)), [2.0, 0.5], rtol=0.15))
    True
    """
    rows = np.flatnonzero(lengths > 0)
    rows = rows[np.unique(np.linspace(0, len(rows) - 1, min(len(rows), _DOCS)).astype(np.int64))]
    counts = doc_topic[rows] * lengths[rows, None]
    start = np.maximum(counts.sum(axis=0) / counts.sum(), 1e-3)
    return maximise_polya(counts, start, _STEPS, 1e-3, 1e3)
