"""What a kernel topic model says of new documents, from their metadata, their words, or both."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from topoi.corpus.corpus import Corpus
from topoi.engine.executors import resolve_jobs
from topoi.errors import ModelError
from topoi.kernels.folding import Labels
from topoi.models.aspect.state import Bags
from topoi.models.author_topic.state import AuthorLists
from topoi.models.features.table import FeatureTable, as_source
from topoi.models.inputs import checked_observed
from topoi.models.kernel_topic import words
from topoi.models.kernel_topic.laplace_bridge import project
from topoi.models.kernel_topic.posterior import BridgePosterior, LaplacePosterior, mean_shares, share_draws
from topoi.models.prediction import Predictions
from topoi.models.ranges import for_rows
from topoi.models.scores import perplexities

Array = NDArray[np.float64]
_PASSES, _TOLERANCE = 200, 1e-5


class KernelPredictions(Predictions):
    """Predictions of a fitted kernel topic model; nothing in them is random."""

    table_: FeatureTable | None
    topic_word_: Array
    _posterior: LaplacePosterior | BridgePosterior
    _population: Array

    def _lists_for(self, corpus: Corpus) -> AuthorLists:
        return AuthorLists.private(corpus.n_docs)

    def _belief(self, features: Any, noise: bool = True, diagonal: Any = None) -> tuple[Array, Array]:
        """Mean and covariance of y at new documents."""
        check_is_fitted(self, "n_iter_")
        shape = self._posterior.hyper.shape
        if self.table_ is not None:
            return self._posterior.new(*shape.cross(self.table_.encode(features)), noise)
        n_train = len(shape.coordinates)
        try:
            cross = np.asarray(features, np.float64)
        except (TypeError, ValueError):
            cross = np.zeros(0)
        if cross.ndim != 2 or cross.shape[1] != n_train or not np.isfinite(cross).all():
            raise ModelError(
                f"the model's kernel is a matrix: pass the similarities of new documents to the {n_train} training "
                "documents, new × training"
            )
        return self._posterior.new(*shape.cross(cross, diagonal), noise)

    def predict(self, features: Any, level: float = 0.8, noise: bool = True, diagonal: Any = None) -> pd.DataFrame:
        """Topic shares of documents of which only the metadata are known, with bands.

        Parameters
        ----------
        features : DataFrame, mapping of columns, or Corpus
            The features, one row per document. Names that no training document has are as unlike all others as can
            be; a missing number is taken as the mean. With a matrix as kernel: similarities, new × training documents.
        level : float
            Each band holds this much probability, as much below as above.
        noise : bool
            Bands of the shares of a single new document; without noise those of the curve that documents vary about.
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
        if isinstance(level, bool) or not isinstance(level, numbers.Real) or not 0 < level < 1:
            raise ModelError(f"level is {level!r}; it is the probability of a band, between 0 and 1")
        mean, covariance = self._belief(features, noise, diagonal)
        tail, n_topics = (1.0 - float(level)) / 2.0, mean.shape[1]
        found = np.empty((3, *mean.shape))
        for d in range(len(mean)):
            draws = share_draws(mean[d], covariance[d])
            found[0, d] = draws.mean(axis=0)
            found[1:, d] = np.quantile(draws, (tail, 1.0 - tail), axis=0)
        columns: dict[str, Any] = {"row": np.repeat(np.arange(len(mean)), n_topics)}
        if self.table_ is not None:
            source = as_source(features)
            frame = source.to_frame() if isinstance(source, Corpus) else source
            columns |= {name: frame[name].to_numpy()[columns["row"]] for name in self.table_.names}
        columns["topic"] = np.tile(np.arange(n_topics), len(mean))
        return pd.DataFrame(columns | dict(zip(("mean", "lower", "upper"), found.reshape(3, -1), strict=True)))

    def _source(self, X: Any, metadata: Any) -> tuple[Corpus, Any]:
        """The documents, and where their features are."""
        check_is_fitted(self, "n_iter_")
        corpus = self._as_corpus(X)
        if metadata is None and self.table_ is None:
            raise ModelError(
                "the model's kernel is a matrix: pass metadata=, the documents' similarities to the others"
            )
        source = corpus if metadata is None else metadata if self.table_ is None else as_source(metadata)
        n = source.n_docs if isinstance(source, Corpus) else len(source)
        if n != corpus.n_docs:
            raise ModelError(f"metadata has {n} rows for {corpus.n_docs} documents")
        return corpus, source

    def _fold_in(self, bags: Bags, prior: Array) -> Array:
        """Mean shares of new documents, given Dirichlet priors and words."""
        counts = np.zeros_like(prior)
        word_topic = np.ascontiguousarray(self.topic_word_.T)

        def run(first: int, last: int) -> None:
            words.fold_in(bags, word_topic, prior, first, last, _TOLERANCE, _PASSES, counts)

        for_rows(run, np.diff(bags.doc_start), resolve_jobs(self.n_jobs))
        total = prior + counts
        return np.asarray(total / total.sum(axis=1, keepdims=True))

    def transform(self, X: Any, metadata: Any = None) -> Array:  # type: ignore[override]
        """Topic shares of documents with words and metadata, documents × topics; rows sum to one.

        What the metadata say, a Gaussian, is projected onto the nearest Dirichlet; the words are folded in from there.

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
        aligned, _ = self._align(corpus)
        return self._fold_in(Bags.from_corpus(aligned.corpus), project(*self._belief(source)))

    def log_likelihood(  # type: ignore[override]
        self, X: Any, given: Any = "metadata", metadata: Any = None
    ) -> Array:
        """Log probability of each document's words, natural log, under the mixture predicted for it.

        Parameters
        ----------
        X : Corpus or list of texts
            The documents.
        given : {"metadata", "words"} or int
            What the mixture is predicted from: the metadata alone; the metadata and the first so many words, which are
            not scored then; or, ``"words"``, the metadata and all the words that are scored, as a training perplexity
            is computed. The latter is no prediction.
        metadata : DataFrame or mapping of columns, optional
            The documents' features; those of the corpus if not given.

        Examples
        --------
        >>> import topoi
        >>> corpus = topoi.Corpus.from_tokens([["sun"] * 9, ["gene"] * 9] * 10, metadata={"venue": ["A", "B"] * 10})
        >>> model = topoi.KernelTopicModel(2, features=["venue"], n_iter=30, n_warmup=20, random_state=0).fit(corpus)
        >>> near, far = model.log_likelihood(["sun", "gene"], metadata={"venue": ["A", "A"]})
        >>> bool(near > far)
        True
        """
        return self._scores(X, given, metadata)[0]

    def _scores(self, X: Any, given: Any, metadata: Any) -> tuple[Array, NDArray[np.int64]]:
        """Log probabilities of documents, and of how many words."""
        corpus, source = self._source(X, metadata)
        aligned, _ = self._align(corpus)
        whole = aligned.corpus
        place = np.arange(whole.n_tokens) - np.repeat(whole.doc_start[:-1], whole.doc_lengths)
        if given == "words":
            everything = np.ones(whole.n_tokens, bool)
            return self._log_parts(whole, everything, everything, source), whole.doc_lengths
        if given == "metadata":
            given = 0
        if isinstance(given, bool) or not isinstance(given, numbers.Integral) or given < 0:
            raise ModelError(f"given is {given!r}; pass 'metadata', 'words', or how many words are observed")
        seen = place < int(given)
        return self._log_parts(whole, seen, ~seen, source), np.maximum(whole.doc_lengths - int(given), 0)

    def _log_parts(self, corpus: Corpus, seen: NDArray[np.bool_], scored: NDArray[np.bool_], source: Any) -> Array:
        mean, covariance = self._belief(source)
        if seen.any():
            mixture = self._fold_in(Bags.from_corpus(_part(corpus, seen)), project(mean, covariance))
            blind = np.bincount(_doc(corpus)[seen], minlength=corpus.n_docs) == 0
            if blind.any():
                mixture[blind] = mean_shares(mean[blind], covariance[blind])
        else:
            mixture = mean_shares(mean, covariance)
        found = np.zeros(corpus.n_docs)
        words.score(Bags.from_corpus(_part(corpus, scored)), np.ascontiguousarray(self.topic_word_.T), mixture, found)
        return found

    def perplexity(  # type: ignore[override]
        self,
        X: Any,
        given: Any = "metadata",
        average: str = "tokens",
        per_document: bool = False,
        metadata: Any = None,
    ) -> Any:
        """Perplexity of documents: the lower, the better the model predicts them.

        Parameters
        ----------
        X : Corpus or list of texts
            The documents. Those without words to score do not count.
        given, metadata
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
        found, lengths = self._scores(X, given, metadata)
        return perplexities(found, lengths, average, per_document)

    def score(self, X: Any, y: Any = None) -> float:
        """Mean log-likelihood per token given the metadata, for scikit-learn's model selection: higher is better."""
        found, lengths = self._scores(X, "metadata", None)
        return float(found.sum() / max(int(lengths.sum()), 1))

    def log_completion(  # type: ignore[override]
        self, corpus: Corpus, observed: NDArray[np.bool_], **ignored: Any
    ) -> Array:
        """Log probability of each document's unobserved tokens, given its metadata and the observed ones.

        Parameters
        ----------
        corpus : Corpus
            The documents, with their metadata.
        observed : boolean array, one per token
            Which tokens are seen.
        """
        given, source = self._source(corpus, None)
        aligned, _ = self._align(given)
        seen = checked_observed(observed, len(aligned.kept))[aligned.kept]
        return self._log_parts(aligned.corpus, seen, ~seen, source)

    def label_text(self, tokens: NDArray[Any], authors: NDArray[np.int64], *ignored: Any) -> Labels:  # type: ignore[override]
        """Probabilities of topics for every token of a new text of which no metadata are known."""
        check_is_fitted(self, "n_iter_")
        text = Corpus(tokens=tokens, doc_start=np.array([0, len(tokens)]), vocabulary=self.vocabulary_)
        mixture = self._fold_in(Bags.from_corpus(text), self._population[None].copy())[0]
        shares = self.topic_word_[:, tokens].T * mixture
        return Labels(shares / shares.sum(axis=1, keepdims=True), np.ones((len(tokens), 1)))


def _doc(corpus: Corpus) -> NDArray[np.int64]:
    return np.repeat(np.arange(corpus.n_docs), corpus.doc_lengths)


def _part(corpus: Corpus, chosen: NDArray[np.bool_]) -> Corpus:
    """The documents with some of their tokens."""
    lengths = np.bincount(_doc(corpus)[chosen], minlength=corpus.n_docs)
    start = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
    return Corpus(tokens=corpus.tokens[chosen], doc_start=start, vocabulary=corpus.vocabulary)
