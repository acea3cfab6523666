"""Models without authors as scikit-learn transformers, fitted to a matrix of counts instead of a corpus."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import validate_data

from topoi.corpus.corpus import Corpus
from topoi.engine.loop import SweepInfo
from topoi.models.contract import DocumentsLike
from topoi.models.inputs import counts_corpus
from topoi.models.prediction import DocumentReader, Predictions
from topoi.models.texts import new_documents, training_corpus


class HasTopicWord(Protocol):
    """A model with topics."""

    @property
    def topic_word_(self) -> NDArray[np.float64]:
        """P(word | topic): topics × words."""
        ...


class MatrixReader(ClassNamePrefixFeaturesOutMixin, TransformerMixin, DocumentReader):
    """Mixin that lets a model take a corpus, texts or a matrix of counts.

    The class itself must define ``transform``: scikit-learn wraps only methods that the class defines.
    """

    def __sklearn_tags__(self) -> Any:
        """Scikit-learn tags: input is non-negative whole numbers, sparse or dense."""
        tags = super().__sklearn_tags__()
        # There is no tag for counts; this one says that numbers are whole.
        tags.input_tags.categorical = True
        tags.input_tags.positive_only = True
        tags.input_tags.sparse = True
        return tags

    def fit(self, X: DocumentsLike, y: object = None, callback: Callable[[SweepInfo], Any] | None = None) -> Self:
        """Fit the model to a corpus, to texts, or to a matrix of counts.

        Parameters
        ----------
        X : Corpus, list of texts or of lists of words, table with texts, or matrix of counts (documents × words)
            Texts are cut into words by the defaults of ``Corpus.from_texts``. Tables are frames of pandas, polars and
            others with one column of texts; a frame of numbers is a matrix whose columns are words. Counts are whole
            numbers: tf-idf and other weights are refused.
        y : None
            Ignored; scikit-learn's convention.
        callback : callable, optional
            Called with a ``SweepInfo`` after each sweep; a true result ends the fit.

        Examples
        --------
        >>> import topoi
        >>> topoi.LDA(2, n_iter=5, random_state=0).fit([[1, 0, 2], [0, 3, 0]]).n_features_in_
        3
        """
        return self._fit_corpus(self._training_corpus(X), callback)

    def _training_corpus(self, X: DocumentsLike) -> Corpus:
        corpus = training_corpus(X)
        if corpus is None:
            return self._corpus_from_matrix(X, reset=True)
        self.__dict__.pop("feature_names_in_", None)  # left by an earlier fit to a frame
        return corpus

    def _checked_matrix(self, X: DocumentsLike, reset: bool) -> Any:
        if isinstance(X, list | tuple):
            # Scikit-learn would convert lists to the first dtype below and truncate fractions.
            X = np.asarray(X)
        return validate_data(
            self, X, reset=reset, accept_sparse="csr", dtype=[np.int64, np.float64], ensure_non_negative=True
        )

    def _corpus_from_matrix(self, X: DocumentsLike, reset: bool) -> Corpus:
        matrix = self._checked_matrix(X, reset)
        words = getattr(self, "feature_names_in_", None) if reset else self.vocabulary_.words
        return counts_corpus(matrix, words)

    def _as_corpus(self, X: DocumentsLike) -> Corpus:
        corpus = new_documents(X, self.corpus_)
        return self._corpus_from_matrix(X, reset=False) if corpus is None else corpus

    @property
    def components_(self: HasTopicWord) -> NDArray[np.float64]:
        """P(word | topic), under scikit-learn's name."""
        return self.topic_word_

    @property
    def _n_features_out(self: HasTopicWord) -> int:
        return len(self.topic_word_)


class MatrixInput(MatrixReader, Predictions):
    """``MatrixReader`` for models that sample new documents."""
