"""Document probabilities of any fitted model with Dirichlet mixtures, by expectation propagation and by sampling.

A document of LDA, or one without known authors in an author-topic model, is a document of the aspect model whose words
P(word | topic) are plugged in. Known authors' mixtures are plugged in as well; if a document has a private author too,
a word's probability is linear in that author's mixture λ, since Σ λ = 1: Σ_k λ_k (known(w) + ω φ_k(w)).
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
from topoi.kernels.counts import Documents
from topoi.models.aspect.ep import Rule
from topoi.models.aspect.importance import Sampled, sample
from topoi.models.aspect.inference import infer, infer_corrected
from topoi.models.aspect.state import Parameters, with_padding
from topoi.models.bags import Bags
from topoi.models.scores import log_mean_exp
from topoi.models.validation import choice, resolve_seed, whole_number

_RULE = Rule(1e-5, 100)
# Rows of words' probabilities that are made at once for documents with known and private authors.
_ROWS_AT_ONCE = 50_000


def ep_likelihood(model: Any, corpus: Corpus, corrected: bool = False) -> NDArray[np.float64]:
    """Log probability of each document by expectation propagation, averaged over chains.

    Deterministic, fast, and close for alpha of 0.5 or more; for smaller alpha use ``importance_likelihood``.

    Parameters
    ----------
    model : LDA, AuthorTopicModel or AspectModel
        A fitted model.
    corpus : Corpus
        Test documents.
    corrected : bool
        Add what pairs of words contribute: a tenth of the error for alpha of 0.5 or more, at a cost that grows with
        the square of a document's distinct words.

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
    return log_mean_exp(np.stack([_estimates(model, chain, corpus, None, 0, method)[0] for chain in _chains(model)]))


def importance_likelihood(model: Any, corpus: Corpus, n_samples: int = 1000, random_state: Any = 0) -> pd.DataFrame:
    """Log probability of each document by importance sampling from the EP posterior: unbiased, with its error.

    Parameters
    ----------
    model : LDA, AuthorTopicModel or AspectModel
        A fitted model.
    corpus : Corpus
        Test documents.
    n_samples : int
        Mixtures drawn for each document and chain.
    random_state : int, generator or None
        Seeds the draws, which otherwise depend on a document's words alone.

    Returns
    -------
    DataFrame
        document, n_words, log_likelihood, standard_error (in nats), effective_samples (of all chains together).

    Examples
    --------
    >>> import topoi
    >>> corpus = topoi.Corpus.from_tokens([["a", "b"], ["a", "a"]])
    >>> model = topoi.LDA(2, alpha=1.0, n_iter=20, random_state=0).fit(corpus)
    >>> topoi.evaluation.importance_likelihood(model, corpus).columns.tolist()
    ['document', 'n_words', 'log_likelihood', 'standard_error', 'effective_samples']
    """
    n, seed = whole_number("n_samples", n_samples, 2), resolve_seed(random_state)
    each = [Sampled(*_estimates(model, chain, corpus, n, seed)) for chain in _chains(model)]
    logs = np.stack([found.log_likelihood for found in each])
    mean = log_mean_exp(logs)
    with np.errstate(invalid="ignore"):
        shares = np.where(np.isfinite(mean), np.exp(logs - mean), 0.0) / len(each)
    errors = np.sqrt(((shares * [found.standard_error for found in each]) ** 2).sum(axis=0))
    aligned, _ = model._align(corpus)
    return pd.DataFrame(
        {
            "document": np.arange(corpus.n_docs),
            "n_words": aligned.corpus.doc_lengths,
            "log_likelihood": mean,
            "standard_error": errors,
            "effective_samples": np.sum([found.effective_samples for found in each], axis=0),
        }
    )


def _chains(model: Any) -> list[Any]:
    check_is_fitted(model, "n_iter_")
    chains = getattr(model, "chains_", [])
    # A graph of nodes has a Dirichlet at each: its documents are no mixtures with one.
    if not chains or not hasattr(chains[0], "topic_word") or hasattr(model, "dag_"):
        raise ModelError(
            f"{type(model).__name__} has no Dirichlet mixture of topics in its documents; "
            "pass an LDA, AuthorTopicModel or AspectModel, or use model.log_likelihood"
        )
    return list(chains)


def _estimates(
    model: Any, chain: Any, corpus: Corpus, n_samples: int | None, seed: int, method: str = "ep"
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Logarithms, standard errors and effective samples under one chain; without samples, by EP evidence."""
    aligned, documents = model._align(corpus)
    bags = Bags.from_corpus(aligned.corpus)
    phi, alpha = np.ascontiguousarray(chain.topic_word.T), np.asarray(chain.alpha, np.float64)
    known, own = _author_shares(documents, chain, phi.shape[1])
    results = np.zeros((3, bags.n_docs))
    jobs = resolve_jobs(getattr(model, "n_jobs", 1))
    integrated = np.flatnonzero(own > 0)
    fixed = np.flatnonzero(own == 0)
    for d in fixed:
        here = slice(bags.doc_start[d], bags.doc_start[d + 1])
        with np.errstate(divide="ignore"):
            results[0, d] = bags.times[here] @ np.log(phi[bags.row[here]] @ known[d])
        results[2, d] = n_samples or 0
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
    return results[0], results[1], results[2]


def _padded(alpha: NDArray[np.float64]) -> tuple[NDArray[np.float64], int]:
    return with_padding(alpha[None, :])[0], len(alpha)


def _integrals(
    bags: Bags, parameters: Parameters, n_samples: int | None, seed: int, jobs: int, method: str
) -> NDArray[np.float64]:
    """Logarithms, standard errors, effective samples: one column per document."""
    unknown = np.full(bags.n_docs, np.nan)
    if method == "corrected":
        return np.stack([infer_corrected(bags, parameters, _RULE, jobs).evidence, unknown, unknown])
    found = infer(bags, parameters, "ep", _RULE, jobs, n_samples is None)
    if n_samples is None:
        return np.stack([found.evidence, unknown, unknown])
    return np.stack(sample(bags, parameters, found.room, n_samples, seed, jobs))


def _chosen(bags: Bags, docs: NDArray[np.int64]) -> Bags:
    lengths = np.diff(bags.doc_start)[docs]
    start = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
    at = np.repeat(bags.doc_start[docs] - start[:-1], lengths) + np.arange(start[-1])
    return Bags(start, bags.row[at], bags.times[at])


def _in_parts(bags: Bags, docs: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Documents in groups whose entries are not too many to have rows of their own."""
    upto = np.cumsum(np.diff(bags.doc_start)[docs])
    return [part for part in np.split(docs, np.flatnonzero(np.diff(upto // _ROWS_AT_ONCE)) + 1) if len(part)]


def _author_shares(documents: Documents, chain: Any, n_topics: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """For each document the known authors' mixture, weighted, and the weight of its private author."""
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
