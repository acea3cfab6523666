"""Kernels that are none, and questions to a model that cannot be answered."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.exceptions import NotFittedError
from sklearn.gaussian_process.kernels import RBF, CompoundKernel

import topoi
from topoi.errors import ModelError

N_DOCS = 8
SIMILAR = np.exp(-0.1 * np.subtract.outer(np.arange(N_DOCS), np.arange(N_DOCS)) ** 2)


def corpus() -> topoi.Corpus:
    return topoi.Corpus.from_tokens([["sun"] * 5, ["gene"] * 5] * 4, dates=list(range(1990, 1990 + N_DOCS)))


def small(**settings) -> topoi.KernelTopicModel:
    return topoi.KernelTopicModel(2, n_iter=5, n_warmup=5, random_state=0, **settings)


@pytest.fixture(scope="module")
def model() -> topoi.KernelTopicModel:
    return small(kernel=SIMILAR).fit(corpus())


@pytest.mark.parametrize("solver", ["exact", "iterative"])
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"kernel": SIMILAR * 1e20}, "divide it by the mean of its diagonal"),
        ({"kernel": pd.DataFrame(SIMILAR)}, "kernel is a DataFrame"),
        ({"kernel": csr_matrix(SIMILAR)}, "kernel is a csr_matrix"),
        ({"kernel": CompoundKernel([RBF(1), RBF(2)]), "features": ["year"]}, "gave a matrix of shape"),
    ],
)
def test_what_is_no_kernel_is_refused(settings, message: str, solver: str) -> None:
    with pytest.raises(ModelError, match=message):
        small(solver=solver, **settings).fit(corpus())


@pytest.mark.parametrize("alpha", [0, -1.0, np.nan, "x", None, True])
def test_the_alpha_of_a_proximity_is_positive(alpha) -> None:
    with pytest.raises(ModelError, match="alpha is"):
        small(features=["year"], kernel=topoi.Proximity(alpha=alpha)).fit(corpus())
    assert "alpha=" in repr(topoi.Proximity(alpha=alpha))


def test_a_function_too_large_for_iterations_is_refused() -> None:
    with pytest.raises(ModelError, match="too large|not positive definite"):
        small(features=["year"], solver="iterative", kernel=lambda a, b: 1e40 * np.exp(-np.abs(a - b.T))).fit(corpus())


@pytest.mark.parametrize("diagonal", [np.nan, np.inf, -1.0, "x", [1.0, 1.0], True])
def test_a_similarity_to_itself_is_a_number(model, diagonal) -> None:
    with pytest.raises(ModelError, match="diagonal is"):
        model.predict(SIMILAR[:2], diagonal=diagonal)


@pytest.mark.parametrize("metadata", [5, "x", SIMILAR[0], SIMILAR[:1, :3]])
def test_metadata_of_a_matrix_are_similarities(model, metadata) -> None:
    with pytest.raises(ModelError, match="new × training"):
        model.transform(["sun"], metadata=metadata)


@pytest.mark.parametrize("question", ["transform", "log_likelihood", "perplexity", "score", "predict", "draw_shares"])
def test_an_unfitted_model_says_so(question: str) -> None:
    with pytest.raises(NotFittedError):
        getattr(small(features=["year"]), question)(corpus())
