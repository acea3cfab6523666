"""Predictions of a model with metadata for new documents: from the metadata alone, the words, or both."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from topoi.corpus.corpus import Corpus
from topoi.engine.executors import resolve_jobs
from topoi.errors import ModelError
from topoi.kernels.counts import Documents
from topoi.kernels.folding import Labels
from topoi.models.bags import Bags
from topoi.models.contract import DocumentsLike, MetadataLike, SeedLike
from topoi.models.features import folding
from topoi.models.features.columns import Column, feature_bytes
from topoi.models.features.folding import PASSES, TOLERANCE, fold_labels
from topoi.models.features.table import MetadataSource, as_source, values_of
from topoi.models.filtering import AUTO, Filtered, checked_particles
from topoi.models.inputs import Aligned, align, checked_observed
from topoi.models.prediction import DocumentReader, make_documents, report_frame
from topoi.models.ranges import for_rows
from topoi.models.scores import log_mean_exp, perplexities

Array = NDArray[np.float64]


class Belief(NamedTuple):
    """Prediction of one chain for some documents before their words are read.

    ``topic_word`` are its topics, ``means(rows)`` the mean shares of some documents, and ``shares(bags)`` those of all
    given their words; documents × topics.
    """

    topic_word: Array
    means: Callable[[NDArray[np.bool_]], Array]
    shares: Callable[[Bags], Array]


class MetadataPredictions(DocumentReader):
    """Predictions from metadata and words; only the integration over mixtures is random.

    ``alpha_`` is the Dirichlet of a document without known metadata.
    """

    @property
    def reads_features(self) -> bool:
        """Whether documents have features."""
        return True

    def _beliefs(self, source: MetadataSource) -> list[Belief]:
        """Belief of each chain about documents with these metadata."""
        raise NotImplementedError  # abstract: each family's own

    @property
    def feature_columns_(self) -> list[Column]:
        """Columns of the features: name, kind, and range or names."""
        raise NotImplementedError  # abstract: each family's own

    def _align(self, X: DocumentsLike) -> tuple[Aligned, Documents]:
        """Documents in the model's words; their authors, which may be a feature, stay as they are."""
        check_is_fitted(self, "n_iter_")
        aligned = align(self._as_corpus(X), self.vocabulary_, None)
        return aligned, make_documents(aligned.corpus, self._lists_for(aligned.corpus))

    def _as_metadata(self, metadata: MetadataLike) -> MetadataSource:
        return as_source(metadata)

    def _source(self, X: DocumentsLike, metadata: MetadataLike | None) -> tuple[Corpus, MetadataSource]:
        """The documents, and the source of their features."""
        check_is_fitted(self, "n_iter_")
        corpus = self._as_corpus(X)
        source = corpus if metadata is None else self._as_metadata(metadata)
        n = source.n_docs if isinstance(source, Corpus) else len(source)
        if n != corpus.n_docs:
            raise ModelError(f"metadata has {n} rows for {corpus.n_docs} documents")
        return corpus, source

    def _beside_words(self, corpus: Corpus) -> list[bytes]:
        """Features of each document as bytes, without those that the file lacks for the training documents."""
        found = [b""] * corpus.n_docs
        for column in self.feature_columns_:
            if column.name == "authors" or column.name in self.corpus_.documents:
                values = feature_bytes(column, values_of(corpus, column.name))
                found = [a + b for a, b in zip(found, values, strict=True)]
        return found

    def _expected_counts(self, corpus: Corpus) -> Array:
        bags = Bags.from_corpus(corpus)
        belief = self._beliefs(self._source(corpus, None)[1])[0]
        return bags.shared(np.ascontiguousarray(belief.topic_word.T), belief.shares(bags))

    def _folded(self, bags: Bags, topic_word: Array, prior: Array) -> Array:
        """Mean shares of new documents, given Dirichlet priors and words."""
        total = prior + self._folded_counts(bags, topic_word, prior)
        return np.asarray(total / total.sum(axis=1, keepdims=True))

    def _folded_counts(self, bags: Bags, topic_word: Array, prior: Array) -> Array:
        """Expected words of each topic in new documents, given Dirichlet priors; documents × topics."""
        counts = np.zeros_like(prior)
        word_topic = np.ascontiguousarray(topic_word.T)

        def run(first: int, last: int) -> None:
            folding.fold_in(bags, word_topic, prior, first, last, TOLERANCE, PASSES, counts)

        for_rows(run, np.diff(bags.doc_start), resolve_jobs(self.n_jobs))
        return counts

    def transform(self, X: DocumentsLike, metadata: MetadataLike | None = None) -> Array:
        """Topic shares of documents with words and metadata, documents × topics; rows sum to one.

        The metadata give the prior; the words are then folded in (first chain).

        Parameters
        ----------
        X : Corpus or list of texts
            The documents. Words the model does not know are left out.
        metadata : DataFrame or mapping of columns, optional
            Their features; those of the corpus if not given.

        Examples
        --------
        >>> import topoi
        >>> corpus = topoi.Corpus.from_tokens([["sun"] * 9, ["gene"] * 9] * 10, metadata={"venue": ["A", "B"] * 10})
        >>> model = topoi.KernelTopicModel(2, features=["venue"], n_iter=30, n_warmup=20, random_state=0).fit(corpus)
        >>> bool(model.transform(["sun sun"], metadata={"venue": ["A"]}).max() > 0.9)
        True
        """
        corpus, source = self._source(X, metadata)
        bags = Bags.from_corpus(align(corpus, self.vocabulary_, None).corpus)
        return self._beliefs(source)[0].shares(bags)

    def log_likelihood(
        self,
        X: DocumentsLike,
        given: int | str | None = None,
        metadata: MetadataLike | None = None,
        n_particles: int | str = AUTO,
        random_state: SeedLike = None,
    ) -> Array:
        """Log probability of each document's words given its metadata, natural log, without multinomial coefficient.

        By default the document's mixture of topics is integrated out under the prior given by the metadata, as in the
        other families. ``given`` selects other quantities, in which a predicted mixture is plugged in.

        Parameters
        ----------
        X : Corpus or list of texts
            The documents.
        given : {"metadata", "words"} or int, optional
            The words are scored one by one under the mean mixture predicted from the metadata alone; from the metadata
            and the first ``given`` words, which are then not scored; or, with ``"words"``, from the metadata and all
            the scored words, as for a training perplexity. The latter is no prediction.
        metadata : DataFrame or mapping of columns, optional
            The documents' features; those of the corpus if not given.
        n_particles : "auto" or int
            Particles (draws, for a kernel topic model) by which the mixture is integrated out: as many as each
            document's logarithm needs to settle, or this number.
        random_state : int, generator or None
            Seeds the draws; the fit's seed if None. With ``given`` nothing is drawn.

        Examples
        --------
        >>> import topoi
        >>> corpus = topoi.Corpus.from_tokens([["sun"] * 9, ["gene"] * 9] * 10, metadata={"venue": ["A", "B"] * 10})
        >>> model = topoi.KernelTopicModel(2, features=["venue"], n_iter=30, n_warmup=20, random_state=0).fit(corpus)
        >>> near, far = model.log_likelihood(["sun", "gene"], metadata={"venue": ["A", "A"]})
        >>> bool(near > far)
        True
        """
        return self._scores(X, given, metadata, n_particles, random_state)[1].log_likelihood

    def log_likelihood_report(
        self,
        X: DocumentsLike,
        given: int | str | None = None,
        metadata: MetadataLike | None = None,
        n_particles: int | str = AUTO,
        random_state: SeedLike = None,
    ) -> pd.DataFrame:
        """``log_likelihood`` with its errors, one row per document.

        Returns
        -------
        DataFrame
            document, n_words (those scored), log_likelihood; standard_error, in nats: zero where a mixture is plugged
            in, NaN for a single filter or too few effective draws; n_particles.

        Examples
        --------
        >>> import topoi
        >>> corpus = topoi.Corpus.from_tokens([["sun"] * 9, ["gene"] * 9] * 10, metadata={"venue": ["A", "B"] * 10})
        >>> model = topoi.DirichletMultinomialRegression(2, features=["venue"], n_iter=60, random_state=0).fit(corpus)
        >>> model.log_likelihood_report(corpus).columns.tolist()
        ['document', 'n_words', 'log_likelihood', 'standard_error', 'n_particles']
        """
        return report_frame(*self._scores(X, given, metadata, n_particles, random_state))

    def _integrated(
        self, X: DocumentsLike, metadata: MetadataLike | None, n_particles: int | str, seed: int
    ) -> tuple[NDArray[np.int64], Filtered]:
        """Lengths of documents, and their log probabilities with mixtures integrated out."""
        raise NotImplementedError  # abstract: each family's own

    def _scores(
        self,
        X: DocumentsLike,
        given: int | str | None,
        metadata: MetadataLike | None,
        n_particles: int | str = AUTO,
        random_state: SeedLike = None,
    ) -> tuple[NDArray[np.int64], Filtered]:
        """Number of words scored of each document, and log probabilities."""
        particles = checked_particles(n_particles)
        if given is None:
            check_is_fitted(self, "n_iter_")
            return self._integrated(X, metadata, particles, self._seed_of(random_state))
        corpus, source = self._source(X, metadata)
        whole = align(corpus, self.vocabulary_, None).corpus
        place = np.arange(whole.n_tokens) - np.repeat(whole.doc_start[:-1], whole.doc_lengths)
        nothing = np.zeros(whole.n_docs), np.zeros(whole.n_docs, np.int64)
        if isinstance(given, str) and given == "words":
            everything = np.ones(whole.n_tokens, bool)
            return whole.doc_lengths, Filtered(self._log_parts(whole, everything, everything, source), *nothing)
        if isinstance(given, str) and given == "metadata":
            given = 0
        if isinstance(given, bool) or not isinstance(given, numbers.Integral) or given < 0:
            raise ModelError(f"given is {given!r}; pass None, 'metadata', 'words', or how many words are observed")
        shown = np.minimum(whole.doc_lengths, min(int(given), whole.n_tokens))
        seen = place < np.repeat(shown, whole.doc_lengths)
        return whole.doc_lengths - shown, Filtered(self._log_parts(whole, seen, ~seen, source), *nothing)

    def _log_parts(
        self, corpus: Corpus, seen: NDArray[np.bool_], scored: NDArray[np.bool_], source: MetadataSource
    ) -> Array:
        """Log probabilities of the scored tokens given the seen ones, averaged over chains."""
        given, rest = Bags.from_corpus(_part(corpus, seen)), Bags.from_corpus(_part(corpus, scored))
        blind = np.bincount(_doc(corpus)[seen], minlength=corpus.n_docs) == 0
        each = []
        for belief in self._beliefs(source):
            mixture = np.empty((corpus.n_docs, len(belief.topic_word)))
            if not blind.all():
                mixture[:] = belief.shares(given)
            if blind.any():
                mixture[blind] = belief.means(blind)
            found = np.zeros(corpus.n_docs)
            folding.score(rest, np.ascontiguousarray(belief.topic_word.T), mixture, found)
            each.append(found)
        return each[0] if len(each) == 1 else log_mean_exp(np.stack(each))

    def perplexity(
        self,
        X: DocumentsLike,
        given: int | str | None = None,
        average: str = "tokens",
        per_document: bool = False,
        metadata: MetadataLike | None = None,
        n_particles: int | str = AUTO,
        random_state: SeedLike = None,
    ) -> Any:
        """Perplexity of documents: the lower, the better the model predicts them.

        Parameters
        ----------
        X : Corpus or list of texts
            The documents. Those without words to score do not count.
        given, metadata, n_particles, random_state
            As in ``log_likelihood``.
        average : {"tokens", "documents"}
            exp(−Σ log p / Σ words), or the mean over documents of exp(−log p / words).
        per_document : bool
            Return the array of documents' perplexities instead (NaN for empty ones).

        Examples
        --------
        >>> import topoi
        >>> corpus = topoi.Corpus.from_tokens([["sun"] * 9, ["gene"] * 9] * 10, metadata={"venue": ["A", "B"] * 10})
        >>> model = topoi.KernelTopicModel(2, features=["venue"], n_iter=30, n_warmup=20, random_state=0).fit(corpus)
        >>> bool(model.perplexity(corpus) < 1.5)
        True
        """
        lengths, found = self._scores(X, given, metadata, n_particles, random_state)
        return perplexities(found.log_likelihood, lengths, average, per_document)

    def score(self, X: DocumentsLike, y: object = None) -> float:
        """Mean log-likelihood per token given the metadata, for scikit-learn's model selection: higher is better.

        Examples
        --------
        >>> import topoi
        >>> corpus = topoi.Corpus.from_tokens([["sun"] * 9, ["gene"] * 9] * 10, metadata={"venue": ["A", "B"] * 10})
        >>> model = topoi.DirichletMultinomialRegression(2, features=["venue"], n_iter=60, random_state=0).fit(corpus)
        >>> bool(-0.1 < model.score(corpus) < 0)
        True
        """
        lengths, found = self._scores(X, None, None)
        return float(found.log_likelihood.sum() / max(int(lengths.sum()), 1))

    def log_completion(self, corpus: Corpus, observed: NDArray[np.bool_], **ignored: object) -> Array:
        """Log probability of each document's unobserved tokens, given its metadata and the observed ones.

        Parameters
        ----------
        corpus : Corpus
            The documents, with their metadata.
        observed : boolean array, one per token
            Which tokens are seen.

        Examples
        --------
        >>> import topoi
        >>> corpus = topoi.Corpus.from_tokens([["sun"] * 9, ["gene"] * 9] * 10, metadata={"venue": ["A", "B"] * 10})
        >>> model = topoi.DirichletMultinomialRegression(2, features=["venue"], n_iter=60, random_state=0).fit(corpus)
        >>> import numpy as np
        >>> seen = np.arange(corpus.n_tokens) % 2 == 0
        >>> model.log_completion(corpus, seen).shape
        (20,)
        """
        given, source = self._source(corpus, None)
        aligned = align(given, self.vocabulary_, None)
        seen = checked_observed(observed, len(aligned.kept))[aligned.kept]
        return self._log_parts(aligned.corpus, seen, ~seen, source)

    def label_text(self, tokens: NDArray[Any], authors: NDArray[np.int64], *ignored: object) -> Labels:
        """Probabilities of topics for every token of a new text without known metadata (first chain).

        Examples
        --------
        >>> import topoi
        >>> corpus = topoi.Corpus.from_tokens([["sun"] * 9, ["gene"] * 9] * 10, metadata={"venue": ["A", "B"] * 10})
        >>> model = topoi.DirichletMultinomialRegression(2, features=["venue"], n_iter=60, random_state=0).fit(corpus)
        >>> import numpy as np
        >>> labels = model.label_text(np.array([0, 1], np.int32), np.zeros(0, np.int64))
        >>> labels.topic.shape
        (2, 2)
        """
        check_is_fitted(self, "n_iter_")
        return fold_labels(np.ascontiguousarray(self.chains_[0].topic_word.T), self.chains_[0].alpha, tokens)[1]


def shares_frame(features: MetadataLike, names: list[str], found: Array) -> pd.DataFrame:
    """Means, lower and upper ends (3 × documents × topics) as a frame: row, the features, topic, mean, lower, upper."""
    _, n_rows, n_topics = found.shape
    columns: dict[str, Any] = {"row": np.repeat(np.arange(n_rows), n_topics)}
    if names:
        source = as_source(features)
        frame = source.to_frame() if isinstance(source, Corpus) else source
        columns |= {name: frame[name].to_numpy()[columns["row"]] for name in names}
    columns["topic"] = np.tile(np.arange(n_topics), n_rows)
    return pd.DataFrame(columns | dict(zip(("mean", "lower", "upper"), found.reshape(3, -1), strict=True)))


def _doc(corpus: Corpus) -> NDArray[np.int64]:
    return np.repeat(np.arange(corpus.n_docs), corpus.doc_lengths)


def _part(corpus: Corpus, chosen: NDArray[np.bool_]) -> Corpus:
    """The documents reduced to the chosen tokens."""
    lengths = np.bincount(_doc(corpus)[chosen], minlength=corpus.n_docs)
    start = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
    return Corpus(tokens=corpus.tokens[chosen], doc_start=start, vocabulary=corpus.vocabulary)
