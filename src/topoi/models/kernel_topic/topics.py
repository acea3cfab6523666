"""Topics of a fitted kernel topic model, and the labels of new texts without known metadata."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.corpus import Corpus
from topoi.kernels.counts import Priors
from topoi.kernels.folding import Labels
from topoi.models.contract import CountSource, StoredSource
from topoi.models.drawn import DrawnPosterior, DrawnSource
from topoi.models.features.folding import fold_labels


class KernelTopics(DrawnPosterior):
    """The fitted topics; ``alpha`` is the Dirichlet nearest to the training documents' shares.

    Parameters
    ----------
    source, priors, gamma
        As in ``DrawnPosterior``.
    topic_word : array or callable
        P(word | topic), topics × words; or a function that reads it when it is needed.
    deviation : array, optional
        Standard deviations of the training documents' shares, documents × topics.
    """

    def __init__(
        self,
        source: CountSource,
        priors: Priors | None,
        gamma: NDArray[np.float64] | None,
        topic_word: NDArray[np.float64] | Callable[[], NDArray[np.float64]],
        deviation: NDArray[np.float64] | None = None,
    ) -> None:
        super().__init__(source, priors, gamma)
        self._given, self._deviation = topic_word, deviation

    @classmethod
    def from_fit(
        cls,
        corpus: Corpus,
        topic_word: NDArray[np.float64],
        alpha: NDArray[np.float64],
        gamma: NDArray[np.float64],
        seed: int,
        deviation: NDArray[np.float64] | None = None,
    ) -> Self:
        """Freeze fitted topics and the documents' mixtures."""
        source = DrawnSource(corpus, np.ascontiguousarray(topic_word.T), gamma, alpha, seed)
        return cls(source, source.priors, gamma, topic_word, deviation)

    @classmethod
    def from_source(cls, source: StoredSource, settings: dict[str, Any]) -> Self:
        """The posterior of a model in a store."""
        return cls(source, None, None, lambda: _stored_words(source))

    @cached_property
    def word_topic(self) -> NDArray[np.float64]:
        """P(word | topic), words × topics."""
        return np.ascontiguousarray((self._given() if callable(self._given) else self._given).T)

    def deviation_range(self, first: int, last: int) -> NDArray[np.float64] | None:
        """Deviations of documents' shares under the Gaussian posterior of their y; None after an interrupted fit."""
        return None if self._deviation is None else self._deviation[first:last]

    def _label_tokens(self, tokens: NDArray[Any]) -> tuple[NDArray[np.float64], Labels]:
        return fold_labels(self.word_topic, self.alpha, tokens)


def _stored_words(source: StoredSource) -> NDArray[np.float64]:
    found = np.asarray(source.array("topic_word", (source.n_topics, len(source.beta))), np.float64)
    # Check here: kernels do not check these numbers.
    if not (np.isfinite(found).all() and (found > 0).all() and (found <= 1).all()):
        raise source.damaged("the words of the topics are no probabilities")
    return found
