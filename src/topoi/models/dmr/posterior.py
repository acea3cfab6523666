"""Frozen result of one chain's samples, and documents with their rows of the design."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from topoi.corpus.corpus import Corpus
from topoi.errors import ModelError, StoreError
from topoi.kernels.counts import Counts, Documents, Priors
from topoi.kernels.folding import FilterPlan, Labels, SamplingPlan, Scored
from topoi.kernels.lanes import padded
from topoi.models.author_topic import likelihood
from topoi.models.author_topic.inference import fold_in
from topoi.models.author_topic.posterior import AuthorTopicPosterior, without_closed
from topoi.models.contract import StoredSource
from topoi.models.dmr.likelihood import alpha_rows
from topoi.models.guidance.documents import limits_documents
from topoi.models.kept_mixtures import KeptMixtures
from topoi.models.ranges import document_range
from topoi.models.share_moments import sampled_moments
from topoi.models.simulation import dirichlet_rows


class DesignedDocuments(NamedTuple):
    """Documents, and the nonzero values of their rows of the design."""

    tokens: NDArray[np.int32]
    doc_start: NDArray[np.int64]
    column: NDArray[np.int32]
    row_start: NDArray[np.int64]
    value: NDArray[np.float32]

    @classmethod
    def from_corpus(cls, corpus: Corpus, design: csr_matrix) -> DesignedDocuments:
        """Documents in the model's words, with their rows."""
        start, column = design.indptr.astype(np.int64), design.indices.astype(np.int32)
        return cls(corpus.tokens, corpus.doc_start, column, start, design.data.astype(np.float32))

    def rows(self, n_columns: int) -> csr_matrix:
        """The rows of the design."""
        shape = len(self.doc_start) - 1, n_columns
        return csr_matrix((self.value.astype(np.float64), self.column, self.row_start), shape=shape)


class RegressionPosterior(KeptMixtures, AuthorTopicPosterior):
    """The posterior of LDA, but with new documents' alpha computed from their metadata.

    New documents are ``DesignedDocuments``; those with the same metadata have the same prior.
    """

    _stored: StoredSource | None = None
    _has_sets = False

    @classmethod
    def from_source(cls, source: StoredSource, settings: dict[str, Any]) -> Self:
        """The posterior of a model in a store."""
        found = super().from_source(source, settings)
        found._stored, found._has_sets = source, limits_documents(settings)
        return found

    @property
    def coefficients(self) -> NDArray[np.float64]:
        """Coefficients, topics × columns of the design."""
        return np.asarray(self.priors.coefficients)

    @cached_property
    def doc_topic(self) -> NDArray[np.float64]:
        """Topic shares of each document's words, smoothed by its own alpha: documents × topics."""
        counts = self.documents.counts(np.arange(len(self._doc_start) - 1))
        counts += self.priors.rows[:, : self.n_topics].astype(np.float64)
        return np.asarray(counts / counts.sum(axis=1, keepdims=True))

    def deviation_range(self, first: int, last: int) -> NDArray[np.float64]:
        """Deviations of documents' mixtures, given their own alpha and their words in every sample."""
        alpha = self.priors.rows[first:last, : self.n_topics].astype(np.float64)
        spread = sampled_moments(self._sample_counts(first, last), alpha).deviation
        return np.zeros(alpha.shape) if spread is None else spread

    def alphas(self, documents: Documents | DesignedDocuments) -> NDArray[np.float64]:
        """Dirichlet parameters of each document: documents × topics."""
        return alpha_rows(_designed(documents).rows(self.coefficients.shape[1]), self.coefficients)

    def _priors_of(self, document: int, priors: Priors) -> Priors:
        """Priors with the alpha that a training document's own metadata give."""
        row = np.zeros(padded(self.n_topics), np.float32)
        row[: self.n_topics] = self._alpha_of(document)
        return priors._replace(alpha=row, alpha_sum=math.fsum(row.tolist()))

    def _rows_of(self, document: int, rows: Counts) -> Counts:
        return without_closed(rows, self.document_shares(document)) if self._has_sets else rows

    def _alpha_of(self, document: int) -> NDArray[np.float64]:
        if self._stored is None:
            return np.asarray(self.priors.rows[document, : self.n_topics], np.float64)
        design, coefficients = self._stored_design
        return alpha_rows(design[document], coefficients)[0]

    @cached_property
    def _stored_design(self) -> tuple[csr_matrix, NDArray[np.float64]]:
        """The design of the training documents and the coefficients of a model in a store, checked."""
        source = self._stored
        assert source is not None
        try:
            point = np.asarray(source.array("design_point", (self.n_topics, None)), np.float64)
        except StoreError as error:
            raise source.damaged("the coefficients are missing; load the model and save it again") from error
        start = source.array("design_start", (len(self._doc_start),)).astype(np.int64)
        n = int(start[-1])
        column, data = source.array("design_column", (n,)).astype(np.int64), source.array("design_data", (n,))
        ordered = start[0] == 0 and (np.diff(start) >= 0).all()
        inside = column.min(initial=0) >= 0 and column.max(initial=-1) < point.shape[1]
        if not (ordered and inside and np.isfinite(point).all() and np.isfinite(data).all()):
            raise source.damaged("the design of the regression is damaged")
        return csr_matrix((data, column, start), shape=(len(start) - 1, point.shape[1])), point

    def is_integrated(self, documents: Documents | DesignedDocuments) -> NDArray[np.bool_]:
        """True for all documents: every mixture is unknown."""
        return np.ones(len(documents.doc_start) - 1, bool)

    def prior_mixtures(
        self, documents: Documents | DesignedDocuments, d: int, n: int, name: tuple[int, ...]
    ) -> NDArray[np.float64]:
        """Mixtures from the Dirichlet given by the metadata."""
        alpha = self.alphas(document_range(documents, d, d + 1))[0]
        return dirichlet_rows(np.random.default_rng(name), alpha, n)

    def _each(self, part: Documents | DesignedDocuments) -> Iterator[tuple[int, slice, Documents, Priors]]:
        """Documents one by one, as if by a private author, with their priors."""
        rows = np.zeros((len(part.doc_start) - 1, padded(self.n_topics)), np.float32)
        rows[:, : self.n_topics] = self.alphas(part)
        one = np.zeros(1, np.int32), np.array([0, 1], np.int64), np.ones(1, np.float32)
        for d, row in enumerate(rows):
            words = slice(part.doc_start[d], part.doc_start[d + 1])
            tokens = part.tokens[words]
            yield d, words, Documents(tokens, np.array([0, len(tokens)], np.int64), *one), self.priors.of(row)

    def _fold_in(
        self,
        part: Documents | DesignedDocuments,
        wanted: Scored,
        plan: SamplingPlan,
        doc_topic: NDArray[np.float64],
        scores: NDArray[np.float64],
        labels: Labels,
    ) -> None:
        for d, words, document, priors in self._each(part):
            there = slice(wanted.start[d], wanted.start[d + 1])
            tokens = wanted.tokens[there]
            scored = Scored(tokens, np.array([0, len(tokens)], np.int64))
            mine = Labels(labels.topic[words], labels.slot[words, :1]) if len(labels.topic) else labels
            fold_in(document, scored, self.kernel_counts, priors, plan, doc_topic[d : d + 1], scores[there], mine)

    def _log_likelihood(
        self, part: Documents | DesignedDocuments, plan: FilterPlan, result: NDArray[np.float64]
    ) -> None:
        for d, _, document, priors in self._each(part):
            likelihood.log_likelihood(
                document,
                self.kernel_counts,
                priors,
                plan.n_particles,
                plan.n_moves,
                plan.seed,
                plan.chain,
                result[d : d + 1],
                plan.resample_below,
                plan.weighted,
            )


def _designed(documents: Documents | DesignedDocuments) -> DesignedDocuments:
    """The documents, whose rows of the design give their priors; there is no prior without them."""
    if not isinstance(documents, DesignedDocuments):
        raise ModelError("these documents have no rows of the design; read them with model.read_documents")
    return documents
