"""The probability of documents by particles that reconsider every earlier token before each new one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.engine.executors import resolve_jobs
from topoi.evaluation.inputs import checked_model, has_mixtures, seed_of
from topoi.models.scores import log_mean_exp
from topoi.models.validation import choice, whole_number

ALL_EARLIER = -1


def left_to_right(
    model: Any, corpus: Any, n_particles: int = 20, random_state: Any = None, weighted: bool = True
) -> NDArray[np.float64]:
    """Log probability of each document by the left-to-right algorithm, averaged over chains.

    Particles go through the document; before each word a particle draws the topics of all earlier words anew, one
    after the other. That costs time quadratic in the length of the document; ``model.log_likelihood`` is a
    particle filter that is linear in it and estimates the same.

    Parameters
    ----------
    model
        A fitted model of any family. Where documents have no mixture of their own to be integrated out (all authors
        known; an ``AuthorModel``), the result is exact.
    corpus : Corpus, list of texts, or (where the model takes one) a matrix of counts
        The documents. Words that the model does not know are left out.
    n_particles : int
        More particles, less variance.
    random_state : int, generator or None
        Seeds the draws; the fit's seed if None.
    weighted : bool
        Weigh particles by how well they predicted the words so far, which makes the estimate of the probability
        unbiased. Without, as in Wallach et al. (2009, algorithm 3): less variance, but a bias that no number of
        particles removes.

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
    checked_model(model)
    whole_number("n_particles", n_particles)
    choice("weighted", weighted, (True, False))
    if not has_mixtures(model):
        return np.asarray(model.log_likelihood(corpus))
    _, documents = model.read_documents(corpus)
    seed, jobs = seed_of(model, random_state), resolve_jobs(model.n_jobs)
    how = documents, seed, n_particles, ALL_EARLIER, jobs, 0.0, weighted
    return log_mean_exp(np.stack([chain.log_likelihood(*how) for chain in model.chains_]))
