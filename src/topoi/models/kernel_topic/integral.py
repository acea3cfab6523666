"""Probability of new documents, with y integrated out under a Gaussian belief by importance sampling.

log p(words) = log ∫ Π_w (softmax(y) · φ_w)^n_w N(y; m, C) dy, the logistic normal's counterpart of what a particle
filter estimates for a Dirichlet. Most draws come from Student's t about the Laplace approximation of the posterior, one
in ten from the belief itself, which keeps the weights bounded. Coordinates are those in which the belief is standard.
"""

from __future__ import annotations

import zlib
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln
from threadpoolctl import threadpool_limits

from topoi.kernels.counts import Documents
from topoi.models.bags import Bags
from topoi.models.contract import Chosen
from topoi.models.filtering import AUTO, Filtered, tolerance
from topoi.models.gaussian_points import root
from topoi.models.kernel_topic.fitting import softmax
from topoi.models.kernel_topic.folding_in import axes, laplace
from topoi.models.ranges import for_rows
from topoi.models.scores import pareto_shapes, tail_length

Array = NDArray[np.float64]
_FIRST, _MOST = 500, 32_000
# One in this many draws is from the belief; degrees of freedom of the others.
_FROM_BELIEF, _FREEDOM = 10, 6.0
# Smallest share and number of effective draws for a reliable standard error.
_LEAST_SHARE, _LEAST_DRAWS = 0.05, 100.0


class Target(NamedTuple):
    """One document: its words' P(word | topic), topics × words, their counts, and y = mean + root · z."""

    words: Array
    times: Array
    mean: Array
    root: Array

    def log_likelihoods(self, z: Array) -> Array:
        """Log probabilities of the words for some draws of z."""
        chance = softmax(self.mean + z @ self.root.T) @ self.words
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(chance) @ self.times)


class Proposal(NamedTuple):
    """Student's t about ``centre``, with its scale matrix as eigenvectors times roots of eigenvalues."""

    centre: Array
    vectors: Array
    scales: Array

    @classmethod
    def about(cls, centre: Array, spread: Array) -> Proposal:
        """The proposal with a given scale matrix."""
        values, vectors = np.linalg.eigh(spread)
        return cls(centre, vectors, np.sqrt(np.maximum(values, 1e-12)))

    def draw(self, rng: np.random.Generator, n: int) -> Array:
        """Draws; n × topics."""
        normal = rng.standard_normal((n, len(self.centre)))
        stretch = np.sqrt(_FREEDOM / rng.chisquare(_FREEDOM, (n, 1)))
        return np.asarray(self.centre + (normal * stretch * self.scales) @ self.vectors.T)

    def log_density(self, z: Array) -> Array:
        """Log densities of some points."""
        n = len(self.centre)
        apart = (((z - self.centre) @ self.vectors / self.scales) ** 2).sum(axis=1)
        norm = gammaln((_FREEDOM + n) / 2) - gammaln(_FREEDOM / 2) - n / 2 * np.log(_FREEDOM * np.pi)
        return np.asarray(norm - np.log(self.scales).sum() - (_FREEDOM + n) / 2 * np.log1p(apart / _FREEDOM))


class Integrals(NamedTuple):
    """Per document: log of the estimate, its scatter, effective draws, draws, and the shape of the weights' tail."""

    log_likelihood: Array
    error: Array
    effective: Array
    n_draws: NDArray[np.int64]
    shape: Array

    @classmethod
    def room(cls, n_docs: int) -> Integrals:
        """Zeros for ``n_docs`` documents."""
        logs, error, effective, shape = np.zeros((4, n_docs))
        return cls(logs, error, effective, np.zeros(n_docs, np.int64), shape)


class BelievedDocuments:
    """Fitted topics, and Gaussian beliefs about some documents' y before their words are read.

    It takes the place of a chain in evaluations; its documents' priors are not Dirichlets.
    """

    index = 0

    def __init__(self, topic_word: Array, mean: Array, covariance: Array) -> None:
        self.topic_word, self.mean, self.covariance = topic_word, mean, covariance

    @property
    def n_topics(self) -> int:
        """The number of topics."""
        return len(self.topic_word)

    def word_columns(self, words: Chosen) -> Array:
        """P(word | topic) of some words, topics × words."""
        return np.asarray(self.topic_word[:, words])

    def prior_groups(self, documents: Documents) -> NDArray[np.int64]:
        """Group numbers: documents of the same mean and covariance have the same prior."""
        both = np.concatenate((self.mean, self.covariance.reshape(len(self.mean), -1)), axis=1)
        return np.asarray(np.unique(both, axis=0, return_inverse=True)[1].reshape(-1), np.int64)

    def prior_mixtures(self, documents: Documents, d: int, n: int, name: tuple[int, ...]) -> Array:
        """Mixtures of topics from the document's logistic normal; n × topics."""
        draws = np.random.default_rng(name).standard_normal((n, self.n_topics))
        return softmax(self.mean[d] + draws @ root(self.covariance[d]).T)

    def integrated(self, bags: Bags, n_draws: int | str, seed: int, n_jobs: int) -> Filtered:
        """Log probabilities of the documents, standard errors and draws; NaN where too few draws are effective."""
        found = self._integrals(bags, n_draws, seed, n_jobs)
        honest = is_honest(found.effective, found.n_draws)
        error = np.where(honest | (found.n_draws == 0), found.error, np.nan)
        return Filtered(found.log_likelihood, error, found.n_draws)

    def sampled(self, bags: Bags, n_draws: int, seed: int, n_jobs: int) -> tuple[Array, Array, Array, Array]:
        """Log probabilities of the documents, standard errors, effective draws, and the shape of weights' tails."""
        found = self._integrals(bags, n_draws, seed, n_jobs)
        return found.log_likelihood, found.error, found.effective, found.shape

    def _integrals(self, bags: Bags, n_draws: int | str, seed: int, n_jobs: int) -> Integrals:
        """Integrals on several threads; documents are independent of each other."""
        found = Integrals.room(bags.n_docs)

        def run(first: int, last: int) -> None:
            rows = slice(first, last)
            belief = self.mean[rows], self.covariance[rows]
            part = integrate(bags.part(first, last), self.topic_word, *belief, n_draws, seed)
            for whole, here in zip(found, part, strict=True):
                whole[rows] = here

        with threadpool_limits(limits=1, user_api="blas"):
            for_rows(run, np.diff(bags.doc_start), n_jobs)
        return found


def is_honest(effective: Any, n_draws: Any) -> Any:
    """Whether enough of the draws are effective for their scatter to be an error of the logarithm."""
    return effective >= np.maximum(_LEAST_DRAWS, _LEAST_SHARE * n_draws)


def integrate(
    bags: Bags, topic_word: Array, mean: Array, covariance: Array, n_draws: int | str, seed: int
) -> Integrals:
    """Log probabilities of documents by ``n_draws`` draws each, or as many as they need to settle.

    Random streams are named by seed and words, so that other documents do not change a result.
    """
    found = Integrals.room(len(mean))
    for rows, modes, spreads in laplace(bags, topic_word, mean, covariance):
        values, vectors = axes(covariance[rows])
        for i, d in enumerate(range(rows.start, rows.stop)):
            here = slice(bags.doc_start[d], bags.doc_start[d + 1])
            scale = np.sqrt(values[i])
            target = Target(topic_word[:, bags.row[here]], bags.times[here], mean[d], vectors[i] * scale)
            turned = vectors[i] / scale
            proposal = Proposal.about((modes[i] - mean[d]) @ turned, turned.T @ spreads[i] @ turned)
            name = bags.row[here].tobytes() + bags.times[here].tobytes()
            one = _sampled(target, proposal, n_draws, np.random.default_rng((seed, zlib.crc32(name))))
            for whole, number in zip(found, one, strict=True):
                whole[d] = number
    return found


def _sampled(
    target: Target, proposal: Proposal, n_draws: int | str, rng: np.random.Generator
) -> tuple[float, float, float, int, float]:
    """Log of the estimate, its scatter, effective draws, draws, and the shape of their weights."""
    if not len(target.times):
        return 0.0, 0.0, 0.0, 0, -np.inf
    allowed = float(tolerance(target.times.sum()))
    weights = _log_weights(target, proposal, _FIRST if isinstance(n_draws, str) else n_draws, rng)
    while True:
        n, top = len(weights), weights.max()
        if top == -np.inf:
            return -np.inf, 0.0, 0.0, n, -np.inf
        share = np.exp(weights - top)
        effective = float(share.sum() ** 2 / (share**2).sum())
        error = float(share.std(ddof=1) / share.mean() / np.sqrt(n)) if n > 1 else np.nan
        if n_draws != AUTO or (is_honest(effective, n) and error <= allowed) or n >= _MOST:
            shape = float(pareto_shapes(np.sort(weights)[None, -tail_length(n) - 1 :])[0])
            return float(top + np.log(share.mean())), error, effective, n, shape
        weights = np.concatenate((weights, _log_weights(target, proposal, n, rng)))


def _log_weights(target: Target, proposal: Proposal, n: int, rng: np.random.Generator) -> Array:
    """Log weights of draws by the balance heuristic (Veach and Guibas 1995)."""
    n_belief = -(-n // _FROM_BELIEF)
    n_topics = len(target.mean)
    z = np.concatenate((rng.standard_normal((n_belief, n_topics)), proposal.draw(rng, n - n_belief)))
    belief = -0.5 * ((z**2).sum(axis=1) + n_topics * np.log(2 * np.pi))
    with np.errstate(divide="ignore"):
        shares = np.log(n_belief / n), np.log(1.0 - n_belief / n)
    mixed = np.logaddexp(shares[0], shares[1] + proposal.log_density(z) - belief)
    return np.asarray(target.log_likelihoods(z) - mixed)
