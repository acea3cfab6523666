"""A chain of the family in a store: words' probabilities are read at once; new texts are inferred as by a fit."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.errors import StoreError
from topoi.kernels.folding import Labels, SamplingPlan
from topoi.models.aspect.ep import Rule
from topoi.models.aspect.inference import METHODS, label_tokens
from topoi.models.aspect.state import Parameters
from topoi.models.stored import chain
from topoi.models.stored.chain import StoredDocument
from topoi.store.arrays import get_array
from topoi.store.store import Store

# Bounds of a stored stopping rule, so that no file can make inference endless, and the class's defaults.
_MOST_PASSES = 10_000
_USUAL = {"inference_tol": 1e-5, "max_passes": 100, "damping": 1.0}


class StoredChain(chain.StoredChain):
    """An aspect model in a store; see ``topoi.models.aspect.labels.AspectChain``.

    Parameters
    ----------
    store : Store
        The file.
    model_id, n_authors : int
        The model; it has no authors.
    settings : dict
        The model's settings.
    """

    can_sample = True
    words_by_tokens = False

    def __init__(self, store: Store, model_id: int, n_authors: int, settings: dict[str, Any]) -> None:
        super().__init__(store, model_id, n_authors, settings)
        self._method = "vb" if settings.get("inference") == METHODS[1] else METHODS[0]
        self._rule = _stored_rule(settings)

    @cached_property
    def _aspects(self) -> Parameters:
        with self._store.connection() as connection:
            shape = (len(self.beta), self.n_topics)
            words = np.asarray(get_array(connection, self._model_id, "word_aspect", shape), np.float64)
        # Check here: kernels do not check these numbers.
        if not (np.isfinite(words).all() and (words >= 0).all() and (words <= 1).all()):
            raise StoreError(f"{self._store.path}: the words of the aspects are no probabilities")
        if not (np.isfinite(self.alpha).all() and (self.alpha > 0).all()):
            raise StoreError(f"{self._store.path}: alpha is not positive")
        return Parameters.pad(words, self.alpha)

    def word_columns(self, words: Any) -> NDArray[np.float64]:
        """P(word | aspect) of some words, aspects × words."""
        return np.asarray(self._aspects.word_aspect[np.asarray(words, np.int64), : self.n_topics].T)

    def _labels(self, tokens: NDArray[Any]) -> tuple[NDArray[np.float64], Labels]:
        return label_tokens(tokens, self._aspects, self._method, self._rule)

    def label_text(self, tokens: NDArray[Any], authors: NDArray[np.int64], plan: SamplingPlan) -> Labels:
        """Probabilities of aspects for every token of a new text; nothing is sampled, so the plan has no effect."""
        return self._labels(tokens)[1]

    def text_topics(self, tokens: NDArray[Any], plan: SamplingPlan) -> NDArray[np.float64]:
        """Mean mixture of a new text."""
        return self._labels(tokens)[0]

    def label_document(self, document: StoredDocument, plan: SamplingPlan) -> Labels:
        """Probabilities of aspects for every token of a training document."""
        return self._labels(document.tokens)[1]


def _stored_rule(settings: dict[str, Any]) -> Rule:
    """The stopping rule of a stored model; numbers that cannot be one are replaced by the defaults.

    Examples
    --------
    >>> from topoi.models.aspect.stored_chain import _stored_rule
    >>> _stored_rule({"max_passes": 20, "inference_tol": -1.0, "damping": "x"})[:3]
    (1e-05, 20, 1.0)
    """
    most = {"inference_tol": 1.0, "max_passes": _MOST_PASSES, "damping": 1.0}
    found = {}
    for name, usual in _USUAL.items():
        value = settings.get(name)
        found[name] = value if isinstance(value, int | float) and 0 < value <= most[name] else usual
    return Rule(float(found["inference_tol"]), int(found["max_passes"]), float(found["damping"]))
