"""Frozen result of one chain's samples: probabilities, and predictions for new documents."""

from __future__ import annotations

from functools import cached_property, partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.corpus import Corpus
from topoi.engine.gibbs import Chain
from topoi.errors import ModelError
from topoi.kernels.counts import Assignments, Counts, Documents, Priors
from topoi.kernels.folding import FilterPlan, Labels, SamplingPlan, Scored
from topoi.kernels.lanes import padded
from topoi.models.author_topic import likelihood
from topoi.models.author_topic.expected import ExpectedMixtures
from topoi.models.author_topic.inference import fold_in, sample_document, start_document
from topoi.models.author_topic.mean_field import PassRule, infer_documents
from topoi.models.author_topic.state import AuthorTopicSampler
from topoi.models.averages import average
from topoi.models.contract import CountSource, StoredSource
from topoi.models.guidance.documents import limits_documents
from topoi.models.kept_mixtures import KeptMixtures
from topoi.models.ranges import document_range, for_documents
from topoi.models.sampled_posterior import SampledPosterior
from topoi.models.share_moments import sampled_moments
from topoi.models.simulation import dirichlet_rows
from topoi.models.sources import ArraySource, TrainingDocument


class AuthorTopicPosterior(SampledPosterior[Assignments]):
    """Mean counts of one chain's samples, and the point estimates they give (AT09, equations 6 and 7).

    Parameters
    ----------
    source, priors
        As in ``Posterior``; priors are ``topoi.kernels.counts.Priors``.
    fictitious, fictitious_weight : bool, float or None
        Whether every training document has a private author beside its named ones, and that author's weight.
    """

    mixtures_are_dirichlet = True
    # Mixtures of documents of which no word is known; None if alpha says them.
    expected: ExpectedMixtures | None = None
    # Of a model in a store, which has no such mixtures of authors: whether nothing was said of alpha.
    alpha_left_open = False

    def __init__(
        self,
        source: CountSource,
        priors: Priors | None,
        fictitious: bool = False,
        fictitious_weight: float | None = None,
    ) -> None:
        super().__init__(source, priors)
        self._fictitious, self._fictitious_weight = fictitious, fictitious_weight

    @classmethod
    def from_chain(
        cls,
        chain: Chain,
        sampler: AuthorTopicSampler,
        corpus: Corpus,
        fictitious: bool = False,
        fictitious_weight: float | None = None,
    ) -> Self:
        """Freeze a chain."""
        told = sampler.guidance
        labelled = cls is AuthorTopicPosterior and told is not None and told.limits_documents
        kind: Any = LabelledPosterior if labelled else cls
        assignments = sampler.whole(chain)[1]
        last = {name: getattr(assignments, name) for name in sampler.sampled}
        averaged, priors = average(chain, last, sampler.n_topics, sampler.scratch), chain.priors
        found: Self = kind(
            ArraySource(
                corpus,
                chain.index,
                sampler.n_topics,
                assignments,
                partial(sampler.mean_counts, chain, averaged),
                priors,
                partial(_alpha, priors, sampler.n_topics),
                averaged,
                partial(sampler.mean_lists, averaged) if sampler.lists.all_private and told is None else None,
                sampler.lists.n_shared,
                None if told is None else told.phantoms,
            ),
            priors,
            fictitious,
            fictitious_weight,
        )
        found.guidance = told
        if sampler.alpha_left_open:
            source = found.arrays
            sizes = sampler.n_topics, source.n_samples, sampler.lists.n_shared
            found.expected = ExpectedMixtures(corpus, source.document_cells, *sizes)
        found.trace = list(chain.trace)
        return found

    @classmethod
    def from_source(cls, source: StoredSource, settings: dict[str, Any]) -> Self:
        """The posterior of a model in a store."""
        weight = settings.get("fictitious_weight")
        if weight is not None and not (isinstance(weight, int | float) and 0 <= weight <= 1):
            raise source.damaged(f"the model is damaged: fictitious_weight is a share, not {weight!r}")
        fictitious = bool(settings.get("fictitious_authors", False))
        labelled = cls is AuthorTopicPosterior and limits_documents(settings)
        kind: Any = LabelledPosterior if labelled else cls
        found: Self = kind(source, None, fictitious, None if weight is None else float(weight))
        said = [settings.get(name) for name in ("alpha", "learn_alpha", "doc_labels")]
        found.alpha_left_open = settings.get("prior") == "auto" and said == [None] * 3
        return found

    @property
    def has_private_authors(self) -> bool:
        """Whether documents have private authors beside their named ones."""
        return self._fictitious and self.source.n_authors > 0

    @cached_property
    def doc_topic(self) -> NDArray[np.float64]:
        """Topic shares of each document's own words, smoothed by alpha: documents × topics, rows sum to one."""
        lengths = np.diff(self._doc_start)
        counts = self.documents.counts(np.arange(len(lengths))) + self.alpha
        return np.asarray(counts / (lengths[:, None] + self.alpha_sum))

    def is_integrated(self, documents: Documents) -> NDArray[np.bool_]:
        """Whether a document has a private author, whose mixture is unknown."""
        upto = np.concatenate(([0], np.cumsum(documents.author == self.source.n_authors)))
        return np.asarray(upto[documents.author_start[1:]] > upto[documents.author_start[:-1]])

    def prior_groups(self, documents: Documents) -> NDArray[np.int64]:
        """Group numbers: documents with the same authors, equally weighted, have the same prior."""
        number: dict[bytes, int] = {}
        groups = np.zeros(len(documents.doc_start) - 1, np.int64)
        _, _, author, author_start, weight = documents
        for d in range(len(groups)):
            authors = slice(author_start[d], author_start[d + 1])
            key = author[authors].tobytes() + weight[authors].tobytes()
            groups[d] = number.setdefault(key, len(number))
        return groups

    def prior_mixtures(self, documents: Documents, d: int, n: int, name: tuple[int, ...]) -> NDArray[np.float64]:
        """Mixtures of authors from Dir(counts + alpha), of a private author from Dir(alpha), averaged by weight."""
        authors = slice(documents.author_start[d], documents.author_start[d + 1])
        weights = documents.author_weight[authors].astype(np.float64)
        mixtures = np.zeros((n, self.n_topics))
        for a, weight in zip(documents.author[authors].tolist(), weights / weights.sum(), strict=True):
            known = a < self.source.n_authors
            counts = self.counts.author_topic[a, : self.n_topics] if known else 0.0
            mixtures += weight * dirichlet_rows(np.random.default_rng((*name, a)), counts + self.alpha, n)
        return mixtures

    def _fold_in(
        self,
        part: Documents,
        wanted: Scored,
        plan: SamplingPlan,
        doc_topic: NDArray[np.float64],
        scores: NDArray[np.float64],
        labels: Labels,
    ) -> None:
        fold_in(part, wanted, self.kernel_counts, self.priors, plan, doc_topic, scores, labels)
        self._expect(part, wanted, doc_topic, scores)

    def _expect(
        self, part: Documents, wanted: Scored, doc_topic: NDArray[np.float64], scores: NDArray[np.float64]
    ) -> None:
        """Replace what alpha says of documents of which no word is known, if their mixtures are not their authors'."""
        if self.expected is None:
            return
        for d in np.flatnonzero((np.diff(part.doc_start) == 0) & self.is_integrated(part)):
            authors = part.author[part.author_start[d] : part.author_start[d + 1]]
            doc_topic[d] = self.expected.of(authors[authors < self.source.n_authors])
            here = slice(wanted.start[d], wanted.start[d + 1])
            words, at = np.unique(wanted.tokens[here], return_inverse=True)
            if len(words):
                scores[here] = (doc_topic[d] @ self.word_columns(words))[at]

    def text_topics(self, tokens: NDArray[Any], plan: SamplingPlan) -> NDArray[np.float64]:
        """Topic shares of a new text, as by somebody new; before the first word, those of all documents."""
        sizes = self.topic_totals
        if len(tokens) or not self.alpha_left_open or not sizes.any():
            return super().text_topics(tokens, plan)
        return np.asarray(sizes / sizes.sum(), np.float64)

    def mean_field(self, documents: Documents, n_jobs: int = 1) -> NDArray[np.float64]:
        """Topic shares of new documents without known authors, by passes over their words instead of sampling."""
        known = int(np.count_nonzero(documents.author != self.source.n_authors))
        if known or len(documents.author) != len(documents.doc_start) - 1:
            raise ModelError(
                "method='mean-field' is for documents without authors that the model knows, and "
                f"{known:,} are named here; use method='gibbs', or leave the authors out"
            )
        doc_topic = np.zeros((len(documents.doc_start) - 1, self.n_topics))

        def run(first: int, last: int) -> None:
            part = document_range(documents, first, last)
            infer_documents(part, self.kernel_counts, self.priors, PassRule(), doc_topic[first:last])
            nothing = Scored(np.zeros(0, np.int32), np.zeros(last - first + 1, np.int64))
            self._expect(part, nothing, doc_topic[first:last], np.zeros(0))

        for_documents(run, documents, n_jobs)
        return doc_topic

    def _log_likelihood(self, part: Documents, plan: FilterPlan, result: NDArray[np.float64]) -> None:
        likelihood.log_likelihood(
            part,
            self.kernel_counts,
            self.priors,
            plan.n_particles,
            plan.n_moves,
            plan.seed,
            plan.chain,
            result,
            plan.resample_below,
            plan.weighted,
        )

    # One document, from the counts of its words and authors alone.

    def _has_private(self, authors: NDArray[np.int64]) -> bool:
        return self._fictitious or not len(authors)

    def _start(self, small: Documents, rows: Counts, stream: NDArray[np.uint64]) -> Assignments:
        n = len(small.tokens)
        assignments = Assignments(np.zeros(n, np.uint16), np.zeros(n, np.uint16))
        start_document(small, assignments, rows, stream)
        return assignments

    def _last_assignments(self, document: TrainingDocument) -> Assignments:
        return Assignments(*(np.array(each, np.uint16) for each in document.assignments))

    def _run(
        self,
        small: Documents,
        assignments: Assignments,
        rows: Counts,
        priors: Priors,
        plan: SamplingPlan,
        stream: NDArray[np.uint64],
        shares: NDArray[np.float64],
        labels: Labels,
    ) -> None:
        nothing = np.zeros(0, np.int64)
        sample_document(small, assignments, nothing, rows, priors, plan, stream, shares, np.zeros(0), labels)

    def _local_problem(
        self, tokens: NDArray[Any], authors: NDArray[np.int64], private: bool, weighted: bool
    ) -> tuple[Documents, Counts, Priors]:
        width = padded(self.n_topics)
        author_topic, totals = np.zeros((len(authors) + 1, width), np.float32), np.zeros(len(authors) + 1)
        if len(authors):
            author_topic[:-1, : self.n_topics], totals[:-1] = self.source.author_rows(authors)
        slots = np.arange(len(authors) + private, dtype=np.int32)
        weight = np.ones(len(slots), np.float32)
        if weighted and private and len(authors) and self._fictitious_weight is not None:
            weight[:] = (1.0 - self._fictitious_weight) / len(authors)
            weight[-1] = self._fictitious_weight
        small, counts, beta = self._local_rows(tokens, slots, weight, author_topic, totals)
        alpha = np.zeros(width, np.float32)
        alpha[: self.n_topics] = self.alpha
        return small, counts, Priors(alpha, self.alpha_sum, beta, self.source.beta_sum)


class LabelledPosterior(KeptMixtures, AuthorTopicPosterior):
    """The posterior of documents that may not have all topics: their mixtures have the others' prior alone."""

    def _alphas(self, first: int, last: int) -> NDArray[np.float64]:
        """Alpha of documents ``first`` to ``last``, zero for topics that they may not have."""
        told = self.guidance
        if told is None or told.allowed is None or told.doc_set is None:
            return np.broadcast_to(self.alpha, (last - first, self.n_topics))
        return np.asarray(self.alpha * told.allowed[told.doc_set[first:last]])

    @cached_property
    def doc_topic(self) -> NDArray[np.float64]:
        """Topic shares of each document's own words, smoothed by alpha of its topics: documents × topics."""
        n_docs = len(self._doc_start) - 1
        counts = self.documents.counts(np.arange(n_docs)) + self._alphas(0, n_docs)
        return np.asarray(counts / counts.sum(axis=1, keepdims=True))

    def deviation_range(self, first: int, last: int) -> NDArray[np.float64]:
        """Deviations of documents' mixtures, given the topics they may have and their words in every sample."""
        alpha = np.array(self._alphas(first, last))
        spread = sampled_moments(self._sample_counts(first, last), alpha).deviation
        return np.zeros(alpha.shape) if spread is None else spread

    def _rows_of(self, document: int, rows: Counts) -> Counts:
        return without_closed(rows, self.document_shares(document))


def without_closed(rows: Counts, shares: NDArray[np.float64]) -> Counts:
    """Counts as a document sees them that may not have the topics of which it has no share, in memory or in a store.

    Those topics are as if they had infinitely many words: no word has a weight there.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.kernels.counts import Counts
    >>> from topoi.models.author_topic.posterior import without_closed
    >>> none = np.zeros((0, 2), np.float32), np.zeros(0)
    >>> without_closed(Counts(none[0], np.array([3.0, 5.0]), *none), np.array([1.0, 0.0])).topic.tolist()
    [3.0, inf]
    """
    return rows._replace(topic=np.where(shares == 0.0, np.inf, rows.topic))


def _alpha(priors: Priors, n_topics: int) -> tuple[NDArray[np.float64], float]:
    return np.asarray(priors.alpha[:n_topics], np.float64), float(priors.alpha_sum)
