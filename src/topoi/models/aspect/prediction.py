"""Predictions of a fitted aspect model for new documents: posteriors, likelihoods with their errors, completions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from topoi.corpus.corpus import Corpus
from topoi.engine.executors import resolve_jobs
from topoi.kernels.folding import Labels
from topoi.models.bags import Bags
from topoi.models.contract import DocumentsLike, SeedLike
from topoi.models.filtering import AUTO, tolerance
from topoi.models.fixed_topics.ep import Rule
from topoi.models.fixed_topics.importance import sample, trusted_errors
from topoi.models.fixed_topics.inference import METHODS, Corrected, Inferred, infer, infer_corrected, label_tokens
from topoi.models.fixed_topics.parameters import Parameters
from topoi.models.inputs import WeightedAuthors, checked_observed
from topoi.models.matrices import MatrixReader
from topoi.models.scores import perplexities
from topoi.models.texts import new_documents
from topoi.models.validation import choice, whole_number

ESTIMATORS = ("filter", *METHODS, "corrected", "importance")


_COLUMNS = [
    "document", "n_words", "log_likelihood", "standard_error", "effective_samples", "n_particles", "passes",
    "skipped_words", "settled",
]  # fmt: skip


def _whole(lengths: NDArray[np.float64]) -> NDArray[Any]:
    """Numbers of words, as integers if they are whole."""
    rounded = np.rint(lengths)
    return rounded.astype(np.int64) if np.allclose(rounded, lengths, rtol=0, atol=1e-9) else lengths


class AspectPredictions(MatrixReader):
    """Inference for new documents; random streams (filter, importance sampling) are named by seed and words."""

    inference: str
    _parameters_: Parameters

    def _final_rule(self) -> Rule:
        raise NotImplementedError  # abstract: the model's settings give the stopping rule

    def _lists_for(self, corpus: Corpus) -> WeightedAuthors:
        return WeightedAuthors.private(corpus.n_docs)

    def _bags(self, X: DocumentsLike) -> Bags:
        """Documents as bags of the model's words; a matrix of counts is kept, since powers need not be whole."""
        check_is_fitted(self, "n_iter_")
        corpus = new_documents(X, self.corpus_)
        if corpus is None:
            return Bags.from_matrix(self._checked_matrix(X, reset=False))
        return Bags.from_corpus(self._align(corpus)[0].corpus)

    def _infer(self, bags: Bags, method: str, evidence: bool = False) -> Inferred:
        return infer(bags, self._parameters_, method, self._final_rule(), resolve_jobs(self.n_jobs), evidence)

    def _infer_corrected(self, bags: Bags) -> Corrected:
        return infer_corrected(bags, self._parameters_, self._final_rule(), resolve_jobs(self.n_jobs))

    def _expected_counts(self, corpus: Corpus) -> NDArray[np.float64]:
        bags = self._bags(corpus)
        mean = self._infer(bags, self.inference).mean
        return bags.shared(self._parameters_.word_aspect[:, : mean.shape[1]], mean)

    def posterior(self, X: DocumentsLike) -> NDArray[np.float64]:
        """Dirichlet parameters of each document's posterior mixture; documents × aspects.

        Parameters
        ----------
        X : Corpus, list of texts, or matrix of counts
            The documents. Words the model does not know are left out.

        Examples
        --------
        >>> import topoi
        >>> model = topoi.AspectModel.from_parameters([[0.9, 0.1], [0.1, 0.9]], alpha=1.0)
        >>> model.posterior([[3, 0]]).round(2).tolist()
        [[3.27, 0.95]]
        """
        return self._infer(self._bags(X), self.inference).gamma.copy()

    def posterior_mean(self, X: DocumentsLike, estimator: str | None = None) -> NDArray[np.float64]:
        """Mean mixture of aspects of each document, documents × aspects; ``transform`` is this by the fit's inference.

        Parameters
        ----------
        X : Corpus, list of texts, or matrix of counts
            The documents. Words the model does not know are left out.
        estimator : {"ep", "vb", "corrected"}, optional
            As in ``log_likelihood``; ``"corrected"`` is the most accurate for alpha of 0.5 or more.

        Examples
        --------
        >>> import topoi
        >>> model = topoi.AspectModel.from_parameters([[0.9, 0.1], [0.1, 0.9]], alpha=1.0)
        >>> [model.posterior_mean([[3, 0]], e).round(3).tolist()[0] for e in ("ep", "vb", "corrected")]
        [[0.775, 0.225], [0.788, 0.212], [0.775, 0.225]]
        """
        estimator = choice("estimator", self.inference if estimator is None else estimator, (*METHODS, "corrected"))
        bags = self._bags(X)
        return self._infer_corrected(bags).mean if estimator == "corrected" else self._infer(bags, estimator).mean

    def log_likelihood(
        self,
        X: DocumentsLike,
        estimator: str | None = None,
        n_samples: int = 1000,
        random_state: SeedLike = None,
        n_particles: int | str = AUTO,
    ) -> NDArray[np.float64]:
        """Estimate of the log probability of each document, natural log, without multinomial coefficient.

        Parameters
        ----------
        X : Corpus, list of texts, or matrix of counts
            The documents. One with a word that no aspect has gets minus infinity. Counts in a matrix may be any
            positive numbers: powers of their words' terms.
        estimator : {"filter", "ep", "vb", "corrected", "importance"}, optional
            ``"filter"``, the default: the particle filter, as in the other families, for any alpha. ``"ep"``:
            expectation propagation, off by a tenth or less on average for alpha of 0.5 or more. ``"vb"``: the
            variational lower bound. ``"corrected"``: expectation propagation corrected by pairs of words, with a tenth
            of its error for alpha of 0.5 or more, and slower for long documents. ``"importance"``: importance sampling
            from the EP posterior, unbiased, and with an error for alpha of 1 or more. For powers that are not whole
            numbers, which particles cannot have, the default is the fit's inference.
        n_samples : int
            For importance sampling.
        random_state : int, generator or None
            For the filter and importance sampling; the fit's seed if not given.
        n_particles : "auto" or int
            For the filter: as many particles as each document's logarithm needs to settle, or this number.

        Examples
        --------
        >>> import topoi
        >>> model = topoi.AspectModel.from_parameters([[0.5, 0.5], [1.0, 0.0]], alpha=1.0)
        >>> [round(float(model.log_likelihood([[4, 6]], estimator=e)[0]), 3) for e in ("ep", "vb", "corrected")]
        [-8.347, -8.688, -8.345]
        """
        report = self.log_likelihood_report(X, estimator, n_samples, random_state, n_particles)
        return report["log_likelihood"].to_numpy()

    def log_likelihood_report(
        self,
        X: DocumentsLike,
        estimator: str | None = None,
        n_samples: int = 1000,
        random_state: SeedLike = None,
        n_particles: int | str = AUTO,
    ) -> pd.DataFrame:
        """``log_likelihood`` with its errors and diagnostics, one row per document.

        Returns
        -------
        DataFrame
            document, n_words, log_likelihood; standard_error, in nats, of the filter and of importance sampling (NaN
            where there is none: for a single filter, an alpha below 1, or too few effective draws); effective_samples
            of importance sampling; n_particles of the filter; passes, skipped_words and settled of the inference (for
            importance sampling, of the posterior it samples from); settled of the filter.

        Examples
        --------
        >>> import topoi
        >>> model = topoi.AspectModel.from_parameters([[0.5, 0.5], [1.0, 0.0]], alpha=1.0)
        >>> report = model.log_likelihood_report([[4, 6]], "importance")
        >>> bool(report["standard_error"][0] < 0.02), bool(report["effective_samples"][0] > 500)
        (True, True)
        """
        if estimator is None:
            estimator = self.inference if self._has_powers(X) else "filter"
        choice("estimator", estimator, ESTIMATORS)
        whole_number("n_samples", n_samples, 2)
        if estimator == "filter":
            lengths, run = self._filtered(X, n_particles, random_state)
            known = self._no_report(len(lengths)) | {"settled": ~(run.standard_error > tolerance(lengths))}
            return pd.DataFrame({"document": np.arange(len(lengths)), "n_words": lengths} | run._asdict() | known)[
                _COLUMNS
            ]
        return self._inferred_report(self._bags(X), estimator, n_samples, random_state)

    def _no_report(self, n_docs: int) -> dict[str, Any]:
        return {"effective_samples": np.full(n_docs, np.nan), "passes": 0, "skipped_words": 0}

    def _inferred_report(self, bags: Bags, estimator: str, n_samples: int, random_state: SeedLike) -> pd.DataFrame:
        """Report of an estimator that is based on inference."""
        errors = sizes = np.full(bags.n_docs, np.nan)
        if estimator == "corrected":
            exact = self._infer_corrected(bags)
            values, outcome = exact.evidence, exact.outcome
        else:
            found = self._infer(bags, "vb" if estimator == "vb" else "ep", estimator != "importance")
            values, outcome = found.evidence, found.outcome
        if estimator == "importance":
            seed, jobs = self._seed_of(random_state), resolve_jobs(self.n_jobs)
            sampled = sample(bags, self._parameters_, found.room, n_samples, seed, jobs)
            values, sizes, errors = (
                sampled.log_likelihood,
                sampled.effective_samples,
                trusted_errors(sampled, n_samples),
            )
        return pd.DataFrame(
            {
                "document": np.arange(bags.n_docs),
                "n_words": _whole(bags.lengths),
                "log_likelihood": values,
                "standard_error": errors,
                "effective_samples": sizes,
                "n_particles": 0,
                "passes": outcome.passes,
                "skipped_words": outcome.skipped,
                "settled": outcome.change < self._final_rule().tolerance,
            }
        )

    def _has_powers(self, X: DocumentsLike) -> bool:
        """Whether the documents are a matrix with entries that are not whole numbers."""
        check_is_fitted(self, "n_iter_")
        if new_documents(X, self.corpus_) is not None:
            return False
        times = Bags.from_matrix(self._checked_matrix(X, reset=False)).times
        return bool((times != np.rint(times)).any())

    def perplexity(
        self,
        X: DocumentsLike,
        average: str = "tokens",
        per_document: bool = False,
        estimator: str | None = None,
        n_samples: int = 1000,
        random_state: SeedLike = None,
        n_particles: int | str = AUTO,
    ) -> Any:
        """Perplexity of documents: the lower, the better the model predicts them.

        Parameters
        ----------
        X : Corpus, list of texts, or matrix of counts
            The documents. Empty ones have no perplexity and do not count.
        average : {"tokens", "documents"}
            exp(−Σ log p(d) / Σ N_d), as Minka and Lafferty report, or the mean over documents of exp(−log p(d) / N_d).
        per_document : bool
            Return the array of documents' perplexities instead (NaN for empty ones).
        estimator, n_samples, random_state, n_particles
            As in ``log_likelihood``. Models are compared by the default, ``"filter"``.

        Examples
        --------
        >>> import topoi
        >>> model = topoi.AspectModel.from_parameters([[0.5, 0.5]], alpha=1.0)
        >>> round(model.perplexity([[4, 6]]), 6)
        2.0
        """
        report = self.log_likelihood_report(X, estimator, n_samples, random_state, n_particles)
        return perplexities(report["log_likelihood"].to_numpy(), report["n_words"].to_numpy(), average, per_document)

    def score(self, X: DocumentsLike, y: object = None) -> float:
        """Mean log-likelihood per token, for scikit-learn's model selection: the higher, the better.

        Examples
        --------
        >>> import topoi
        >>> model = topoi.AspectModel(2, random_state=0).fit([[2, 1, 0], [0, 1, 2]])
        >>> model.score([[1, 1, 1]]) < 0
        True
        """
        report = self.log_likelihood_report(X)
        return float(report["log_likelihood"].sum() / max(report["n_words"].sum(), 1))

    def log_completion(self, corpus: Corpus, observed: NDArray[np.bool_], **ignored: object) -> NDArray[np.float64]:
        """Log probability of each document's unobserved tokens, by its mean mixture given the observed ones.

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
        >>> model = topoi.AspectModel.from_parameters([[0.5, 0.5]], 1.0, words=["a", "b"])
        >>> model.log_completion(corpus, np.arange(8) % 2 == 0).round(3).tolist()
        [-0.693, -0.693, -0.693, -0.693]
        """
        aligned, _ = self._align(corpus)
        observed = checked_observed(observed, len(aligned.kept))[aligned.kept]
        whole = aligned.corpus
        doc = np.repeat(np.arange(whole.n_docs), whole.doc_lengths)
        lengths = np.bincount(doc[observed], minlength=whole.n_docs)
        start = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
        seen = Corpus(tokens=whole.tokens[observed], doc_start=start, vocabulary=whole.vocabulary)
        mean = self._infer(Bags.from_corpus(seen), self.inference).mean
        words = self._parameters_.word_aspect[whole.tokens[~observed], : self._parameters_.n_aspects]
        with np.errstate(divide="ignore"):
            log_p = np.log((words * mean[doc[~observed]]).sum(axis=1))
        return np.asarray(np.bincount(doc[~observed], log_p, whole.n_docs), np.float64)

    def label_text(self, tokens: NDArray[Any], authors: NDArray[np.int64], *ignored: object) -> Labels:
        """Probabilities of aspects for every token of a new text; there are no authors.

        Examples
        --------
        >>> import numpy as np, topoi
        >>> model = topoi.AspectModel(2, random_state=0).fit([[2, 1, 0], [0, 1, 2]])
        >>> labels = model.label_text(np.array([0, 2], np.int32), np.zeros(0, np.int64))
        >>> labels.topic.shape
        (2, 2)
        """
        check_is_fitted(self, "n_iter_")
        return label_tokens(tokens, self._parameters_, self.inference, self._final_rule())[1]
