"""Simulation: a function for each topic, each document's y about it, shares, then words."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi.errors import ModelError
from topoi.models.contract import MetadataLike
from topoi.models.features.table import corpus_of
from topoi.models.gaussian_points import root
from topoi.models.kernel_topic.fitting import softmax
from topoi.models.kernel_topic.gaussian_process import Prior
from topoi.models.kernel_topic.solvers import MOST_EXACT, set_up
from topoi.models.simulation import (
    SimulatedCorpus,
    categorical,
    document_lengths,
    draw_corpus,
    draw_topics,
    people_of,
)
from topoi.models.validation import positive_vector, whole_number

if TYPE_CHECKING:
    from topoi.models.kernel_topic.estimator import KernelTopicModel

_WORDS_PRIOR, _MEAN_VARIANCE = 0.1, 1.0


class KernelTruth(NamedTuple):
    """Truth of a simulated corpus: topics, each document's y and shares, every token's topic."""

    topic_word: NDArray[np.float64]
    y: NDArray[np.float64]
    doc_topic: NDArray[np.float64]
    topic: NDArray[np.int64]


def simulate_kernel_topics(
    model: KernelTopicModel, features: MetadataLike, doc_length: float, seed: int
) -> SimulatedCorpus:
    """Draw a corpus of documents with these features, with the model's settings or, once fitted, its posterior."""
    rng = np.random.default_rng(seed)
    empty = corpus_of(features)
    n_docs = empty.n_docs
    if hasattr(model, "n_iter_"):
        topic_word, words = model.topic_word_, list(model.vocabulary_.words)
        mean, covariance = model._belief(empty)
        y = mean + np.einsum("dkl,dl->dk", root(covariance), rng.standard_normal(mean.shape))
    else:
        n_topics = whole_number("n_topics", model.n_topics, 2)
        topic_word, words = draw_topics(rng, _WORDS_PRIOR, n_topics)
        if n_docs > MOST_EXACT:
            raise ModelError(
                f"{n_docs:,} documents to draw, at most {MOST_EXACT:,} from functions drawn anew; draw fewer"
            )
        shape = set_up(empty, model.features, model.kernel, "exact", model.inference).shape
        noise = positive_vector("noise", model.noise, n_topics, "n_topics")
        prior = Prior(shape.matrix(), np.ones(n_topics), noise, _MEAN_VARIANCE)
        draws = rng.standard_normal((n_topics, n_docs))
        y = np.stack([root(prior.covariance(k)) @ draws[k] for k in range(n_topics)], axis=1)
    shares, lengths = softmax(y), document_lengths(rng, doc_length, n_docs)
    topic = categorical(rng, np.cumsum(shares, axis=1), np.repeat(np.arange(n_docs), lengths))
    corpus = draw_corpus(rng, lengths, topic, topic_word, words, **people_of(empty))
    corpus.truth = KernelTruth(topic_word, y, shares, topic)
    return corpus
