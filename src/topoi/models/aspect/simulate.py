"""Simulation: aspects' words; in each document a mixture of aspects; then words."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi.models.aspect.state import mixture_prior
from topoi.models.simulation import (
    SimulatedCorpus,
    categorical,
    dirichlet_rows,
    document_lengths,
    draw_corpus,
    draw_topics,
)
from topoi.models.validation import whole_number

if TYPE_CHECKING:
    from topoi.models.aspect.estimator import AspectModel

_WORDS_PRIOR = 0.1


class AspectTruth(NamedTuple):
    """Truth of a simulated corpus: aspects, their prior, every document's mixture, every token's aspect."""

    aspect_word: NDArray[np.float64]
    alpha: NDArray[np.float64]
    doc_aspect: NDArray[np.float64]
    aspect: NDArray[np.int64]


def simulate_aspects(model: AspectModel, n_docs: int, doc_length: float, seed: int) -> SimulatedCorpus:
    """Draw a corpus with the model's settings; aspects and alpha are the fitted ones if there are any."""
    rng = np.random.default_rng(seed)
    whole_number("n_docs", n_docs)
    if hasattr(model, "n_iter_"):
        aspect_word, alpha, words = model.aspect_word_, model.alpha_, list(model.vocabulary_.words)
    else:
        n_aspects = whole_number("n_aspects", model.n_aspects)
        alpha = mixture_prior(model.alpha, n_aspects)
        aspect_word, words = draw_topics(rng, _WORDS_PRIOR, n_aspects)
    mixtures = dirichlet_rows(rng, alpha, n_docs)
    lengths = document_lengths(rng, doc_length, n_docs)
    doc = np.repeat(np.arange(n_docs), lengths)
    aspect = categorical(rng, np.cumsum(mixtures, axis=1), doc)
    corpus = draw_corpus(rng, lengths, aspect, aspect_word, words)
    corpus.truth = AspectTruth(aspect_word, alpha, mixtures, aspect)
    return corpus
