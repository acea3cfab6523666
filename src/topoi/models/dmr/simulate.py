"""Simulation: coefficients, each document's Dirichlet by its metadata, shares, then words."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi.errors import ModelError
from topoi.models.contract import MetadataLike
from topoi.models.dmr.design import Design
from topoi.models.dmr.likelihood import Gaussian, alpha_rows
from topoi.models.dmr.state import Plan, checked_variance, prior_mean
from topoi.models.features.table import corpus_of
from topoi.models.simulation import (
    SimulatedCorpus,
    categorical,
    dirichlet_rows,
    document_lengths,
    draw_corpus,
    draw_topics,
    people_of,
)
from topoi.models.validation import positive_vector, whole_number

if TYPE_CHECKING:
    from topoi.models.dmr.estimator import DirichletMultinomialRegression


class RegressionTruth(NamedTuple):
    """Truth of a simulated corpus: topics, coefficients, documents' alphas and shares, tokens' topics."""

    topic_word: NDArray[np.float64]
    coefficients: NDArray[np.float64]
    alpha: NDArray[np.float64]
    doc_topic: NDArray[np.float64]
    topic: NDArray[np.int64]


def simulate_regression(
    model: DirichletMultinomialRegression, features: MetadataLike, doc_length: float, seed: int
) -> SimulatedCorpus:
    """Draw a corpus of documents with these features, with the model's settings or, once fitted, its first chain."""
    rng = np.random.default_rng(seed)
    empty = corpus_of(features)
    if hasattr(model, "n_iter_"):
        topic_word, words = model.topic_word_, list(model.vocabulary_.words)
        design, coefficients = model.design_, model.coefficients_
    else:
        n_topics = whole_number("n_topics", model.n_topics)
        topic_word, words = draw_topics(rng, model.beta, n_topics)
        design = Design.learn(empty, model.features, model.width)
        prior = _prior(model, n_topics, len(design.labels))
        coefficients = prior.mean + np.sqrt(prior.variance) * rng.standard_normal(prior.mean.shape)
    alpha = alpha_rows(design.matrix(empty), coefficients)
    shares = np.array([dirichlet_rows(rng, row, 1)[0] for row in alpha]).reshape(alpha.shape)
    lengths = document_lengths(rng, doc_length, empty.n_docs)
    topic = categorical(rng, np.cumsum(shares, axis=1), np.repeat(np.arange(empty.n_docs), lengths))
    corpus = draw_corpus(rng, lengths, topic, topic_word, words, **people_of(empty))
    corpus.truth = RegressionTruth(topic_word, coefficients, alpha, shares, topic)
    return corpus


def _prior(model: DirichletMultinomialRegression, n_topics: int, n_columns: int) -> Gaussian:
    variance = checked_variance(model.variance)
    if np.isnan(variance):
        raise ModelError("variance is 'cv', which takes documents to choose it by; pass a number to simulate")
    spread = float(positive_vector("intercept_variance", model.intercept_variance, 1, "the intercept")[0])
    alpha = positive_vector("alpha", model.alpha, n_topics, "n_topics")
    return Plan(prior_mean(alpha, n_columns), variance, spread, 0, 1).prior(variance)
