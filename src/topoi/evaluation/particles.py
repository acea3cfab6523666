"""Left-to-right estimator of document probabilities: particles resample all earlier tokens before each new one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from topoi.engine.executors import resolve_jobs
from topoi.evaluation.inputs import checked_model, read, seed_of
from topoi.models.contract import DocumentsLike, FiltersDocuments, LoadedModel, MetadataLike, SeedLike
from topoi.models.filtering import AUTO, Filtered, checked_particles, filtered, over_chains
from topoi.models.validation import choice

ALL_EARLIER = -1
_INSTEAD = "its mixtures are no Dirichlets: use model.log_likelihood, importance_likelihood or empirical_likelihood"


def left_to_right(
    model: LoadedModel,
    corpus: DocumentsLike,
    n_particles: int | str = AUTO,
    random_state: SeedLike = None,
    weighted: bool = True,
    metadata: MetadataLike | None = None,
) -> NDArray[np.float64]:
    """Log probability of each document by the left-to-right algorithm, averaged over chains.

    Particles go through the document; before each word a particle resamples the topics of all earlier words in turn.
    That takes time quadratic in the length of the document; ``model.log_likelihood`` is a particle filter that
    estimates the same quantity in linear time.

    Parameters
    ----------
    model
        A fitted model of any family except the kernel topic model, whose mixtures are not Dirichlet. Where documents
        have no mixture of their own to integrate out (all authors known; an ``AuthorModel``), the result is exact.
    corpus : Corpus, list of texts, or (where the model takes one) a matrix of counts
        The documents. Words that the model does not know are left out.
    n_particles : "auto" or int
        Number of particles; "auto" adds particles until each document's logarithm has settled.
    random_state : int, generator or None
        Seeds the draws; the fit's seed if None.
    weighted : bool
        Weigh particles by their probabilities of the words so far, which makes the estimate of the probability
        unbiased. False is the algorithm of Wallach et al. (2009, algorithm 3): less variance, but a bias that no number
        of particles removes.
    metadata : DataFrame or mapping of columns, optional
        Features of the documents, for models with features; those of the corpus if not given.

    Returns
    -------
    ndarray
        One natural logarithm per document, without multinomial coefficient.

    References
    ----------
    Wallach, Murray, Salakhutdinov and Mimno, Evaluation methods for topic models, ICML, 2009.
    Buntine, Estimating likelihoods for topic models, ACML, 2009.

    Examples
    --------
    >>> import numpy as np, topoi
    >>> corpus = topoi.Corpus.from_tokens([["a", "b"], ["a", "a"]])
    >>> model = topoi.LDA(1, n_iter=2, random_state=0).fit(corpus)
    >>> np.exp(topoi.evaluation.left_to_right(model, corpus)).round(3).tolist()
    [0.188, 0.561]
    """
    return left_to_right_runs(model, corpus, n_particles, random_state, weighted, metadata).log_likelihood


def left_to_right_runs(
    model: LoadedModel,
    corpus: DocumentsLike,
    n_particles: int | str = AUTO,
    random_state: SeedLike = None,
    weighted: bool = True,
    metadata: MetadataLike | None = None,
) -> Filtered:
    """Run ``left_to_right``; return also standard errors and numbers of particles."""
    checked_model(model)
    particles = checked_particles(n_particles)
    choice("weighted", weighted, (True, False))
    found = read(model, corpus, metadata, FiltersDocuments, _INSTEAD)
    if found is None:
        exact = np.asarray(model.log_likelihood(corpus))
        return Filtered(exact, np.zeros(len(exact)), np.zeros(len(exact), np.int64))
    how = seed_of(model, random_state), particles, ALL_EARLIER, resolve_jobs(model.n_jobs), 0.0, weighted
    return over_chains([filtered(chain, found.documents, *how) for chain in found.chains])
