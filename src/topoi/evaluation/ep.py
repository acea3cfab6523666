"""Document probabilities of any fitted model with Dirichlet mixtures, by expectation propagation and by sampling.

A document of LDA, or one without known authors in an author-topic model, is a document of the aspect model with
plugged-in P(word | topic). Known authors' mixtures are plugged in as well; if a document has a private author too, a
word's probability is linear in that author's mixture λ, since Σ λ = 1: Σ_k λ_k (known(w) + ω φ_k(w)). A document of a
Dirichlet-multinomial regression has the alpha given by its metadata. A kernel topic model's mixtures are not Dirichlet:
it has its own importance sampler.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from topoi.corpus.corpus import Corpus
from topoi.engine.executors import resolve_jobs
from topoi.errors import ModelError
from topoi.evaluation.inputs import Readable, no_error
from topoi.kernels.counts import Documents
from topoi.models.bags import Bags
from topoi.models.contract import (
    DocumentsLike,
    HasChains,
    LoadedModel,
    MetadataLike,
    PriorPerDocument,
    SampledChain,
    SeedLike,
)
from topoi.models.fixed_topics.ep import Rule
from topoi.models.fixed_topics.importance import Sampled, sample, trusted_errors
from topoi.models.fixed_topics.inference import infer, infer_corrected
from topoi.models.fixed_topics.parameters import Parameters, with_padding
from topoi.models.posterior import Posterior
from topoi.models.scores import log_mean_exp, mean_error
from topoi.models.validation import choice, resolve_seed, whole_number

_RULE = Rule(1e-5, 100)
# Number of rows of word probabilities made at once for documents with known and private authors.
_ROWS_AT_ONCE = 50_000


def ep_likelihood(
    model: LoadedModel, corpus: Corpus, corrected: bool = False, metadata: MetadataLike | None = None
) -> NDArray[np.float64]:
    """Log probability of each document by expectation propagation, averaged over chains.

    Deterministic, fast, and close for alpha of 0.5 or more; for smaller alpha use ``model.log_likelihood``.

    Parameters
    ----------
    model : LDA, AuthorTopicModel, AspectModel or DirichletMultinomialRegression
        A fitted model.
    corpus : Corpus
        Test documents.
    corrected : bool
        Add the second-order correction from pairs of words: a tenth of the error for alpha of 0.5 or more, at a cost
        quadratic in a document's distinct words.
    metadata : DataFrame or mapping of columns, optional
        Features of the documents, for models with features; those of the corpus if not given.

    Returns
    -------
    array
        Natural logarithms, without multinomial coefficient; one per document.

    Examples
    --------
    >>> import topoi
    >>> corpus = topoi.Corpus.from_tokens([["a", "b"], ["a", "a"]])
    >>> model = topoi.LDA(2, alpha=1.0, n_iter=20, random_state=0).fit(corpus)
    >>> bool(abs(topoi.evaluation.ep_likelihood(model, corpus) - model.log_likelihood(corpus)).max() < 0.1)
    True
    """
    method = "corrected" if choice("corrected", corrected, (False, True)) else "ep"
    found = _read(model, corpus, metadata, "its mixtures are no Dirichlets: use model.log_likelihood")
    how = None, 0, resolve_jobs(model.n_jobs), method
    return log_mean_exp(np.stack([_estimates(found, chain, *how).log_likelihood for chain in found.chains]))


def importance_likelihood(
    model: LoadedModel,
    corpus: Corpus,
    n_samples: int = 1000,
    random_state: SeedLike = 0,
    metadata: MetadataLike | None = None,
) -> pd.DataFrame:
    """Log probability of each document by importance sampling: unbiased, with a standard error where that is valid.

    Mixtures are drawn from an approximate posterior: by expectation propagation, which suits alpha of 1 or more, or,
    for a kernel topic model, by the Laplace approximation. For smaller alpha the posterior of a document has several
    modes, and the draws cover only one: the logarithm is too low, by more than the standard error, and
    ``model.log_likelihood``, the particle filter, is more accurate in less time.

    Parameters
    ----------
    model : LDA, AuthorTopicModel, AspectModel, DirichletMultinomialRegression or KernelTopicModel
        A fitted model.
    corpus : Corpus
        Test documents.
    n_samples : int
        Mixtures drawn for each document and chain.
    random_state : int, generator or None
        Seed of the draws, which otherwise depend on a document's words alone.
    metadata : DataFrame or mapping of columns, optional
        Features of the documents, for models with features; those of the corpus if not given.

    Returns
    -------
    DataFrame
        document, n_words, log_likelihood; standard_error (in nats), NaN where the scatter of the draws does not bound
        the error: an alpha is below 1, so that draws may have missed a mode, or the Pareto shape of their weights is
        above 1 − 1 / log10(n_samples) or 0.7; effective_samples (of all chains together); note, which says why the
        standard error is missing, and what to use instead.

    Examples
    --------
    >>> import topoi
    >>> corpus = topoi.Corpus.from_tokens([["a", "b"], ["a", "a"]])
    >>> model = topoi.LDA(2, alpha=1.0, n_iter=20, random_state=0).fit(corpus)
    >>> topoi.evaluation.importance_likelihood(model, corpus).columns.tolist()
    ['document', 'n_words', 'log_likelihood', 'standard_error', 'effective_samples', 'note']
    """
    n, seed = whole_number("n_samples", n_samples, 2), resolve_seed(random_state)
    found, jobs = _read(model, corpus, metadata), resolve_jobs(model.n_jobs)
    each = [_estimates(found, chain, n, seed, jobs) for chain in found.chains]
    logs = np.stack([one.log_likelihood for one in each])
    mean = log_mean_exp(logs)
    error = mean_error(logs, mean, np.stack([trusted_errors(one, n) for one in each]))
    effective = np.sum([one.effective_samples for one in each], axis=0)
    shape = np.max([one.shape for one in each], axis=0)
    notes = [no_error(k, n) if bad else "" for k, bad in zip(shape, np.isnan(error), strict=True)]
    return pd.DataFrame(
        {
            "document": np.arange(found.corpus.n_docs),
            "n_words": found.corpus.doc_lengths,
            "log_likelihood": mean,
            "standard_error": error,
            "effective_samples": effective,
            "note": notes,
        }
    )


def _read(model: LoadedModel, corpus: DocumentsLike, metadata: MetadataLike | None, gaussian: str = "") -> Readable:
    """Read documents and chains; refuse families without Dirichlet mixtures (Gaussian ones if ``gaussian`` is set)."""
    check_is_fitted(model, "n_iter_")
    # A graph of nodes has a Dirichlet at each: its documents are no mixtures with one.
    found = None
    if isinstance(model, HasChains) and not model.has_graph:
        found = Readable(*model.documents_and_chains(corpus, metadata))
    if found is None or not all(isinstance(chain, SampledChain) or is_dirichlet(chain) for chain in found.chains):
        raise ModelError(
            f"{type(model).__name__} has no Dirichlet mixture of topics in its documents; "
            "pass another family's model, or use model.log_likelihood"
        )
    if gaussian and isinstance(found.chains[0], SampledChain):
        raise ModelError(f"{type(model).__name__} does not have this estimator; {gaussian}")
    return found


def is_dirichlet(chain: Posterior) -> bool:
    """Whether mixtures of new documents have Dirichlet priors under a chain."""
    return isinstance(chain, PriorPerDocument) or (isinstance(chain, Posterior) and chain.mixtures_are_dirichlet)


def _estimates(
    found: Readable, chain: Posterior, n_samples: int | None, seed: int, jobs: int, method: str = "ep"
) -> Sampled:
    """Log probabilities under one chain, with their error estimates; the EP evidence if ``n_samples`` is None."""
    bags = Bags.from_corpus(found.corpus)
    if isinstance(chain, SampledChain):
        return Sampled(*chain.sampled(bags, n_samples, seed, jobs))
    if isinstance(chain, PriorPerDocument):
        return _with_alphas(bags, chain.topic_word, chain.alphas(found.documents), n_samples, seed, jobs, method)
    return _with_authors(bags, found.documents, chain, n_samples, seed, jobs, method)


def _with_alphas(bags: Bags, topic_word: NDArray[np.float64], alphas: NDArray[np.float64], *how: Any) -> Sampled:
    """Estimates for documents with a Dirichlet prior each."""
    parameters = Parameters.pad(np.ascontiguousarray(topic_word.T), np.ones(len(topic_word)))
    results = np.zeros((4, bags.n_docs))
    different, group = np.unique(alphas, axis=0, return_inverse=True)
    for g, alpha in enumerate(different):
        docs = np.flatnonzero(group.reshape(-1) == g)
        results[:, docs] = _integrals(_chosen(bags, docs), parameters.with_alpha(alpha), *how)
    return Sampled(*results)


def _with_authors(
    bags: Bags, documents: Documents, chain: Posterior, n_samples: int | None, seed: int, jobs: int, method: str
) -> Sampled:
    """Estimates for documents with known authors' mixtures, with a private author's Dirichlet prior, or with both."""
    phi, alpha = np.ascontiguousarray(chain.topic_word.T), np.asarray(chain.alpha, np.float64)
    known, own = _author_shares(documents, chain, phi.shape[1])
    results = np.zeros((4, bags.n_docs))
    integrated = np.flatnonzero(own > 0)
    fixed = np.flatnonzero(own == 0)
    for d in fixed:
        here = slice(bags.doc_start[d], bags.doc_start[d + 1])
        with np.errstate(divide="ignore"):
            results[0, d] = bags.times[here] @ np.log(phi[bags.row[here]] @ known[d])
        results[2:, d] = n_samples or 0, -np.inf
    plain = own[integrated] == 1.0
    results[:, integrated[plain]] = _integrals(
        _chosen(bags, integrated[plain]), Parameters.pad(phi, alpha), n_samples, seed, jobs, method
    )
    for some in _in_parts(bags, integrated[~plain]):
        part = _chosen(bags, some)
        doc = np.repeat(some, np.diff(part.doc_start))
        rows = own[doc, None] * phi[part.row] + (phi[part.row] * known[doc]).sum(axis=1, keepdims=True)
        mixed = part._replace(row=np.arange(len(rows)))
        results[:, some] = _integrals(
            mixed, Parameters(with_padding(rows), *_padded(alpha)), n_samples, seed, jobs, method
        )
    return Sampled(*results)


def _padded(alpha: NDArray[np.float64]) -> tuple[NDArray[np.float64], int]:
    return with_padding(alpha[None, :])[0], len(alpha)


def _integrals(
    bags: Bags, parameters: Parameters, n_samples: int | None, seed: int, jobs: int, method: str
) -> NDArray[np.float64]:
    """Log probabilities, standard errors, effective samples and Pareto shapes: four rows, one column per document."""
    unknown = np.full(bags.n_docs, np.nan)
    if method == "corrected":
        return np.stack([infer_corrected(bags, parameters, _RULE, jobs).evidence, unknown, unknown, unknown])
    found = infer(bags, parameters, "ep", _RULE, jobs, n_samples is None)
    if n_samples is None:
        return np.stack([found.evidence, unknown, unknown, unknown])
    return np.stack(sample(bags, parameters, found.room, n_samples, seed, jobs))


def _chosen(bags: Bags, docs: NDArray[np.int64]) -> Bags:
    lengths = np.diff(bags.doc_start)[docs]
    start = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
    at = np.repeat(bags.doc_start[docs] - start[:-1], lengths) + np.arange(start[-1])
    return Bags(start, bags.row[at], bags.times[at])


def _in_parts(bags: Bags, docs: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Split documents into groups of about ``_ROWS_AT_ONCE`` entries."""
    upto = np.cumsum(np.diff(bags.doc_start)[docs])
    return [part for part in np.split(docs, np.flatnonzero(np.diff(upto // _ROWS_AT_ONCE)) + 1) if len(part)]


def _author_shares(
    documents: Documents, chain: Posterior, n_topics: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """For each document, the weighted mixture of its known authors, and the weight of its private author."""
    n_docs = len(documents.doc_start) - 1
    private = chain.counts.author_topic.shape[0] - 1
    doc = np.repeat(np.arange(n_docs), np.diff(documents.author_start))
    weight = documents.author_weight.astype(np.float64)
    weight = weight / np.bincount(doc, weight, n_docs)[doc]
    mine = documents.author == private
    own = np.bincount(doc[mine], weight[mine], n_docs)
    known = np.zeros((n_docs, n_topics))
    if not mine.all():
        np.add.at(known, doc[~mine], weight[~mine, None] * chain.author_topic[documents.author[~mine]])
    return known, np.where(own > 1.0 - 1e-12, 1.0, own)
