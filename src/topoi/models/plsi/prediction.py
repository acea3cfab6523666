"""Predictions for new documents, whose mixtures a model without a prior must fit to their own words."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from topoi.corpus.corpus import Corpus
from topoi.kernels.folding import Labels
from topoi.models.bags import Bags
from topoi.models.contract import DocumentsLike, SeedLike
from topoi.models.filtering import AUTO
from topoi.models.inputs import WeightedAuthors, checked_observed
from topoi.models.matrices import MatrixReader
from topoi.models.plsi import kernels
from topoi.models.prediction import FilterReports
from topoi.models.scores import perplexities
from topoi.models.validation import choice

ESTIMATORS = ("integrated", "folded-in")


class FoldedIn(MatrixReader, FilterReports):
    """Folding in, and what follows from it."""

    def _lists_for(self, corpus: Corpus) -> WeightedAuthors:
        return WeightedAuthors.private(corpus.n_docs)

    def _corpus_bags(self, corpus: Corpus) -> Bags:
        return Bags.from_corpus(corpus)

    def _bags(self, X: DocumentsLike) -> Bags:
        """Documents as bags of the model's words."""
        return self._corpus_bags(self._align(X)[0].corpus)

    def _expected_counts(self, corpus: Corpus) -> NDArray[np.float64]:
        bags, first = self._bags(corpus), self.chains_[0]
        return bags.shared(first.word_topic, first.fold_in(bags))

    def log_likelihood(
        self,
        X: DocumentsLike,
        estimator: str = "integrated",
        n_particles: int | str = AUTO,
        random_state: SeedLike = None,
    ) -> NDArray[np.float64]:
        """Log probability of each document, natural log, without multinomial coefficient.

        The model itself gives new documents none, having no prior of mixtures; there are two ways to lend it one.

        Parameters
        ----------
        X : Corpus, list of texts, or matrix of counts
            The documents. One with a word that no topic has gets minus infinity.
        estimator : {"integrated", "folded-in"}
            ``"integrated"``: the mixture is integrated out, by the particle filter of the other families, under the
            Dirichlet that was fitted to the training documents' mixtures. It can be compared with other models.
            ``"folded-in"``: the mixture that suits these very words best is plugged in, as Hofmann does. It has seen
            what it predicts: always too high, the more so the more topics, and no basis to compare models.
        n_particles, random_state
            As in ``LDA``, for ``"integrated"``.

        Examples
        --------
        >>> import topoi
        >>> model = topoi.PLSI(2, random_state=0).fit([[4, 0, 2], [0, 3, 0]] * 5)
        >>> new = [[2, 1, 1]]
        >>> bool(model.log_likelihood(new)[0] < model.log_likelihood(new, estimator="folded-in")[0])
        True
        """
        if choice("estimator", estimator, ESTIMATORS) == "integrated":
            return self._filtered(X, n_particles, random_state)[1].log_likelihood
        check_is_fitted(self, "n_iter_")
        bags, first = self._bags(X), self.chains_[0]
        return np.asarray(kernels.score(bags, first.word_topic, first.fold_in(bags)))

    def perplexity(
        self,
        X: DocumentsLike,
        average: str = "tokens",
        per_document: bool = False,
        estimator: str = "integrated",
        n_particles: int | str = AUTO,
        random_state: SeedLike = None,
    ) -> Any:
        """Perplexity of documents: the lower, the better the model predicts them.

        For a number that needs no prior at all, predict some words of each document from others:
        ``topoi.evaluation.completion_curve``.

        Parameters
        ----------
        X, average, per_document
            As in ``LDA``.
        estimator, n_particles, random_state
            As in ``log_likelihood``: ``"folded-in"`` is no held-out perplexity.

        Examples
        --------
        >>> import topoi
        >>> corpus = topoi.Corpus.from_tokens([["a", "b"]] * 4)
        >>> round(topoi.PLSI(1, random_state=0).fit(corpus).perplexity(corpus), 6)
        2.0
        """
        found = self.log_likelihood(X, estimator, n_particles, random_state)
        return perplexities(found, self._align(X)[0].corpus.doc_lengths, average, per_document)

    def log_completion(self, corpus: Corpus, observed: NDArray[np.bool_], **ignored: Any) -> NDArray[np.float64]:
        """Log probability of each document's unobserved tokens, by the mixture folded in from the observed ones.

        Parameters
        ----------
        corpus : Corpus
            The documents.
        observed : boolean array, one per token
            Which tokens are seen.

        Examples
        --------
        >>> import numpy as np, topoi
        >>> corpus = topoi.Corpus.from_tokens([["a", "b"]] * 4)
        >>> model = topoi.PLSI(1, random_state=0).fit(corpus)
        >>> model.log_completion(corpus, np.arange(8) % 2 == 0).round(3).tolist()
        [-0.693, -0.693, -0.693, -0.693]
        """
        aligned, _ = self._align(corpus)
        seen = checked_observed(observed, len(aligned.kept))[aligned.kept]
        parts = [self._corpus_bags(_tokens_of(aligned.corpus, chosen)) for chosen in (seen, ~seen)]
        first = self.chains_[0]
        return np.asarray(kernels.score(parts[1], first.word_topic, first.fold_in(parts[0])))

    def label_text(self, tokens: NDArray[Any], authors: NDArray[np.int64], *ignored: Any) -> Labels:
        """Probabilities of topics for every token of a new text; there are no authors.

        Examples
        --------
        >>> import numpy as np, topoi
        >>> model = topoi.PLSI(2, random_state=0).fit([[2, 1, 0], [0, 1, 2]])
        >>> labels = model.label_text(np.array([0, 2], np.int32), np.zeros(0, np.int64))
        >>> labels.topic.shape
        (2, 2)
        """
        check_is_fitted(self, "n_iter_")
        found: Labels = self.chains_[0].label_text(tokens, authors, None)
        return found


def _tokens_of(corpus: Corpus, chosen: NDArray[np.bool_]) -> Corpus:
    """The documents reduced to the chosen tokens."""
    doc = np.repeat(np.arange(corpus.n_docs), corpus.doc_lengths)
    lengths = np.bincount(doc[chosen], minlength=corpus.n_docs)
    start = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
    return Corpus(tokens=corpus.tokens[chosen], doc_start=start, vocabulary=corpus.vocabulary)
