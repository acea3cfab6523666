"""Frozen result of a fit: aspects, mixtures of the training documents, inference of new texts."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.corpus import Corpus
from topoi.kernels.counts import Documents, Priors
from topoi.kernels.folding import FilterPlan, Labels
from topoi.models.contract import CountSource, StoredSource
from topoi.models.drawn import DrawnPosterior, DrawnSource
from topoi.models.fixed_topics.ep import Rule
from topoi.models.fixed_topics.importance import log_likelihood
from topoi.models.fixed_topics.inference import METHODS, label_tokens
from topoi.models.fixed_topics.parameters import Parameters
from topoi.models.share_moments import dirichlet_moments
from topoi.models.simulation import dirichlet_rows
from topoi.models.smoothed_counts import SmoothedCounts

# Bounds of a stored stopping rule, so that no file can make inference endless, and the class's defaults.
_MOST_PASSES = 10_000
# Tokens that an aspect without documents is given, and the weight of the words that it does not have.
_TOKENS, _TRACE = 1e9, 1e-3
_USUAL = {"inference_tol": 1e-5, "max_passes": 100, "damping": 1.0}


class AspectPosterior(DrawnPosterior):
    """The fitted aspects.

    Parameters
    ----------
    source, priors, gamma
        As in ``DrawnPosterior``.
    parameters : Parameters or callable
        The aspects, or a function that reads them when they are needed.
    method : {"ep", "vb"}
        Inference of new texts.
    rule : Rule, optional
        When inference ends.
    """

    mixtures_are_dirichlet = True

    def __init__(
        self,
        source: CountSource,
        priors: Priors | None,
        gamma: NDArray[np.float64] | None,
        parameters: Parameters | Callable[[], Parameters],
        method: str = METHODS[0],
        rule: Rule | None = None,
    ) -> None:
        super().__init__(source, priors, gamma)
        self._given, self._method, self._rule = parameters, method, rule or stopping_rule({})

    @classmethod
    def from_fit(
        cls,
        corpus: Corpus,
        parameters: Parameters,
        gamma: NDArray[np.float64],
        seed: int,
        method: str = METHODS[0],
        rule: Rule | None = None,
    ) -> Self:
        """Freeze fitted parameters and posteriors."""
        alpha = parameters.alpha[: parameters.n_aspects]
        source = DrawnSource(corpus, parameters.word_aspect, gamma, alpha, seed)
        return cls(source, source.priors, gamma, parameters, method, rule)

    @classmethod
    def from_source(cls, source: StoredSource, settings: dict[str, Any]) -> Self:
        """The posterior of a model in a store."""
        method = METHODS[1] if settings.get("inference") == METHODS[1] else METHODS[0]
        return cls(source, None, None, lambda: _stored_parameters(source), method, stopping_rule(settings))

    @cached_property
    def parameters(self) -> Parameters:
        """The aspects as kernels read them."""
        return self._given if isinstance(self._given, Parameters) else self._given()

    @cached_property
    def word_topic(self) -> NDArray[np.float64]:
        """P(word | aspect), words × aspects."""
        return self.parameters.word_aspect[:, : self.n_topics]

    @cached_property
    def topics(self) -> SmoothedCounts:
        """Word counts of the aspects; of given ones, which have no documents, in proportion to their probabilities."""
        if self.source.topic_totals.any():
            return super().topics
        return SmoothedCounts.from_counts(self.word_topic.T * _TOKENS, np.full(len(self.word_topic), _TRACE))

    def deviation_range(self, first: int, last: int) -> NDArray[np.float64] | None:
        """Deviations of the Dirichlet posteriors of documents' mixtures."""
        return None if self._gamma is None else dirichlet_moments(self._gamma[first:last]).deviation

    def _label_tokens(self, tokens: NDArray[Any]) -> tuple[NDArray[np.float64], Labels]:
        return label_tokens(tokens, self.parameters, self._method, self._rule)

    def _log_likelihood(self, part: Documents, plan: FilterPlan, result: NDArray[np.float64]) -> None:
        log_likelihood(
            part,
            self.parameters.writable().word_aspect,
            self.priors,
            self.n_topics,
            plan.n_particles,
            plan.n_moves,
            plan.seed,
            plan.chain,
            result,
            plan.resample_below,
            plan.weighted,
        )

    def prior_mixtures(self, documents: Documents, d: int, n: int, name: tuple[int, ...]) -> NDArray[np.float64]:
        """Mixtures from Dir(alpha), the same for all documents."""
        return dirichlet_rows(np.random.default_rng(name), self.alpha, n)


def _stored_parameters(source: StoredSource) -> Parameters:
    words = np.asarray(source.array("word_aspect", (len(source.beta), source.n_topics)), np.float64)
    # Check here: kernels do not check these numbers.
    if not (np.isfinite(words).all() and (words >= 0).all() and (words <= 1).all()):
        raise source.damaged("the words of the aspects are no probabilities")
    if not (np.isfinite(source.alpha).all() and (source.alpha > 0).all()):
        raise source.damaged("alpha is not positive")
    return Parameters.pad(words, source.alpha)


def stopping_rule(settings: dict[str, Any]) -> Rule:
    """The stopping rule of a stored model; numbers that cannot be one are replaced by the defaults.

    Examples
    --------
    >>> from topoi.models.aspect.posterior import stopping_rule
    >>> stopping_rule({"max_passes": 20, "inference_tol": -1.0, "damping": "x"})[:3]
    (1e-05, 20, 1.0)
    """
    most = {"inference_tol": 1.0, "max_passes": _MOST_PASSES, "damping": 1.0}
    found = {}
    for name, usual in _USUAL.items():
        value = settings.get(name)
        found[name] = value if isinstance(value, int | float) and 0 < value <= most[name] else usual
    return Rule(float(found["inference_tol"]), int(found["max_passes"]), float(found["damping"]))
