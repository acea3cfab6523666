"""Predictions of a kernel topic model for new documents, from their metadata, their words, or both."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from topoi.corpus.corpus import Corpus
from topoi.engine.executors import resolve_jobs
from topoi.errors import ModelError
from topoi.kernels.counts import Documents
from topoi.models.bags import Bags
from topoi.models.contract import DocumentsLike, MetadataLike
from topoi.models.features.columns import Column
from topoi.models.features.prediction import Belief, MetadataPredictions, shares_frame
from topoi.models.features.table import FeatureTable, MetadataSource, as_source, warn_unknown
from topoi.models.filtering import Filtered
from topoi.models.inputs import WeightedAuthors, align
from topoi.models.kernel_topic.folding_in import fold_in
from topoi.models.kernel_topic.integral import BelievedDocuments
from topoi.models.kernel_topic.posterior import (
    N_DRAWS,
    BridgePosterior,
    LaplacePosterior,
    LargePosterior,
    mean_shares,
    share_draws,
)
from topoi.models.prediction import make_documents
from topoi.models.ranges import for_rows
from topoi.models.validation import checked_tail, whole_number

Array = NDArray[np.float64]


class KernelPredictions(MetadataPredictions):
    """Predictions of a fitted kernel topic model; only the integration over y is random."""

    topic_word_: Array
    table_: FeatureTable | None
    _posterior: LaplacePosterior | LargePosterior | BridgePosterior

    @property
    def feature_columns_(self) -> list[Column]:
        """Columns of the features: name, kind, and range or names; empty if the kernel is a matrix."""
        check_is_fitted(self, "n_iter_")
        return [] if self.table_ is None else list(self.table_.columns)

    @property
    def reads_features(self) -> bool:
        """Whether documents have features; not if the kernel is a matrix."""
        return self.table_ is not None

    def _lists_for(self, corpus: Corpus) -> WeightedAuthors:
        return WeightedAuthors.private(corpus.n_docs)

    def _belief(self, features: MetadataLike, noise: bool = True, diagonal: float | None = None) -> tuple[Array, Array]:
        """Mean and covariance of y at new documents."""
        check_is_fitted(self, "n_iter_")
        shape = self._posterior.hyper.shape
        if self.table_ is not None:
            return self._posterior.new(self.table_.encode(features), noise)
        cross = _similarities(features, len(shape.coordinates))
        return self._posterior.new(cross, noise, _own_similarity(diagonal))

    def _beliefs(self, source: MetadataSource) -> list[Belief]:
        mean, covariance = self._belief(source)

        def means(rows: NDArray[np.bool_]) -> Array:
            return mean_shares(mean[rows], covariance[rows])

        def shares(bags: Bags) -> Array:
            return self._with_words(bags, mean, covariance)

        return [Belief(self.topic_word_, means, shares)]

    def documents_and_chains(
        self, X: DocumentsLike, metadata: MetadataLike | None = None
    ) -> tuple[Corpus, Documents, list[Any]]:
        """Documents, and the topics with the beliefs that the metadata give about each document."""
        corpus, source = self._source(X, metadata)
        aligned = align(corpus, self.vocabulary_, None).corpus
        documents = make_documents(aligned, WeightedAuthors.private(aligned.n_docs))
        return aligned, documents, [BelievedDocuments(self.topic_word_, *self._belief(source))]

    def _integrated(
        self, X: DocumentsLike, metadata: MetadataLike | None, n_particles: int | str, seed: int
    ) -> tuple[NDArray[np.int64], Filtered]:
        corpus, _, chains = self.documents_and_chains(X, metadata)
        found = chains[0].integrated(Bags.from_corpus(corpus), n_particles, seed, resolve_jobs(self.n_jobs))
        return corpus.doc_lengths, found

    def _with_words(self, bags: Bags, mean: Array, covariance: Array) -> Array:
        """Mean shares of documents given their words, folded in on several threads; documents are independent."""
        found = np.empty_like(mean)

        def run(first: int, last: int) -> None:
            rows = slice(first, last)
            found[rows] = fold_in(bags.part(first, last), self.topic_word_, mean[rows], covariance[rows])

        with threadpool_limits(limits=1, user_api="blas"):
            for_rows(run, np.diff(bags.doc_start), resolve_jobs(self.n_jobs))
        return found

    def _as_metadata(self, metadata: MetadataLike) -> MetadataSource:
        if self.table_ is not None:
            return as_source(metadata)
        return _similarities(metadata, len(self._posterior.hyper.shape.coordinates))

    def _source(self, X: DocumentsLike, metadata: MetadataLike | None) -> tuple[Corpus, MetadataSource]:
        check_is_fitted(self, "n_iter_")
        if metadata is None and self.table_ is None:
            raise ModelError(
                "the model's kernel is a matrix: pass metadata=, the documents' similarities to the others"
            )
        return super()._source(X, metadata)

    def predict(
        self, features: MetadataLike, level: float = 0.8, noise: bool = True, diagonal: float | None = None
    ) -> pd.DataFrame:
        """Topic shares of documents of which only the metadata are known, with bands.

        Parameters
        ----------
        features : DataFrame, mapping of columns, or Corpus
            The features, one row per document. Names that no training document has are at the largest distance from all
            others, and cause a warning; a missing number becomes the mean. With a matrix as kernel: similarities, new ×
            training documents.
        level : float
            Probability of each band, with equal tails.
        noise : bool
            Bands of the shares of a single new document; without noise, those of the curve that documents vary about.
        diagonal : float, optional
            With a matrix as kernel: a new document's similarity to itself; the training documents' mean if not given.

        Returns
        -------
        DataFrame
            row, the features, topic, mean, lower, upper; one line per row and topic. The mean is that of the
            shares, not the shares at the mean of y.

        Examples
        --------
        >>> import topoi
        >>> corpus = topoi.Corpus.from_tokens([["sun"] * 9, ["gene"] * 9] * 10, metadata={"venue": ["A", "B"] * 10})
        >>> model = topoi.KernelTopicModel(2, features=["venue"], n_iter=30, n_warmup=20, random_state=0).fit(corpus)
        >>> found = model.predict({"venue": ["A"]})
        >>> list(found.columns), bool(found["mean"].max() > 0.8)
        (['row', 'venue', 'topic', 'mean', 'lower', 'upper'], True)
        """
        tail = checked_tail(level)
        check_is_fitted(self, "n_iter_")
        features = self._as_metadata(features)
        warn_unknown(self.feature_columns_, features if self.table_ is not None else {})
        mean, covariance = self._belief(features, noise, diagonal)
        found = np.empty((3, *mean.shape))
        for d in range(len(mean)):
            draws = share_draws(mean[d], covariance[d])
            found[0, d] = draws.mean(axis=0)
            found[1:, d] = np.quantile(draws, (tail, 1.0 - tail), axis=0)
        return shares_frame(features, [] if self.table_ is None else self.table_.names, found)

    def draw_shares(
        self, features: MetadataLike, n_draws: int = N_DRAWS, noise: bool = True, diagonal: float | None = None
    ) -> Array:
        """Topic shares at fixed points that represent the predicted distribution, as ``predict`` summarises them.

        Parameters
        ----------
        features, noise, diagonal
            As in ``predict``.
        n_draws : int
            Number of points; an odd number is made even, since every point has its mirror image.

        Returns
        -------
        ndarray
            Draws × rows × topics; topics of one draw sum to one.

        Examples
        --------
        >>> import topoi
        >>> corpus = topoi.Corpus.from_tokens([["sun"] * 9, ["gene"] * 9] * 10, metadata={"venue": ["A", "B"] * 10})
        >>> model = topoi.KernelTopicModel(2, features=["venue"], n_iter=30, n_warmup=20, random_state=0).fit(corpus)
        >>> model.draw_shares({"venue": ["A", "B", "B"]}, 500).shape
        (500, 3, 2)
        """
        n_draws = whole_number("n_draws", n_draws, 2)
        mean, covariance = self._belief(features, noise, diagonal)
        found = np.empty((n_draws + n_draws % 2, *mean.shape))
        for d in range(len(mean)):
            found[:, d] = share_draws(mean[d], covariance[d], n_draws)
        return found


def _similarities(given: MetadataLike, n_train: int) -> Array:
    """Similarities of new × training documents for a model whose kernel is a matrix, checked."""
    try:
        cross = np.asarray(given, np.float64)
    except (TypeError, ValueError):
        cross = np.zeros(0)
    if cross.ndim != 2 or cross.shape[1] != n_train or not np.isfinite(cross).all():
        raise ModelError(
            f"the model's kernel is a matrix: pass the similarities of new documents to the {n_train} training "
            "documents, new × training"
        )
    return cross


def _own_similarity(diagonal: float | None) -> float | None:
    if diagonal is None:
        return None
    if isinstance(diagonal, bool) or not isinstance(diagonal, numbers.Real) or not 0 <= float(diagonal) < np.inf:
        raise ModelError(f"diagonal is {diagonal!r}; it is a new document's similarity to itself, a number from 0")
    return float(diagonal)
