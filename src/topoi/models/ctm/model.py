"""The public class."""

from __future__ import annotations

import numbers
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from topoi.corpus.corpus import Corpus
from topoi.corpus.pieces import ArrayOrPieces
from topoi.engine.shards import Shards
from topoi.errors import ModelError
from topoi.models.ctm.correlations import by_similarity
from topoi.models.ctm.normal import Hyper
from topoi.models.ctm.posterior import COVARIANCE, MEAN, SHARES, CorrelatedPosterior
from topoi.models.ctm.sampler import CorrelatedSampler
from topoi.models.ctm.simulate import simulate
from topoi.models.gibbs import GibbsModel
from topoi.models.inputs import WeightedAuthors
from topoi.models.matrices import MatrixInput
from topoi.models.simulation import N_WORDS
from topoi.models.tables import ChainTables
from topoi.models.validation import choice, positive_vector, resolve_seed, whole_number

Array = NDArray[np.float64]


class CorrelatedTopicModel(MatrixInput, ChainTables, GibbsModel):
    """Topics that go together or shun each other (Blei and Lafferty 2007), by exact Gibbs sampling.

    A document's mixture is softmax(eta) of a normal vector eta, whose covariance says which topics are found in the
    same documents; LDA's Dirichlet cannot. Tokens' topics, documents' eta, and eta's mean and covariance are all
    sampled, none of them by an approximation.

    Parameters
    ----------
    n_topics : int
        Number of topics.
    beta : float or array
        Dirichlet parameter of topics' words, per word.
    variance : float
        Prior mean of eta's variances. The larger, the fewer topics a document is expected to have.
    freedom : float, optional
        Degrees of freedom of the covariance's inverse-Wishart prior, more than ``n_topics``; by default twice as many.
        The more, the closer correlations are drawn to none, as by that many documents.
    mean_weight : float
        Number of documents that the prior of eta's mean, which is zero, counts for.
    n_warmup : int
        First sweeps, in which tokens' topics are drawn as in LDA: from a random start this finds topics sooner.
    n_iter, n_chains, n_jobs, n_shards, random_state, evaluate_every, average, checkpoint, checkpoint_every, progress
        As in ``LDA``.

    Attributes
    ----------
    topic_word_, doc_topic_ : ndarray
        Rows are probabilities. Documents' shares are the mean of softmax(eta) over sweeps.
    correlation_, covariance_ : ndarray
        Of the components of eta (first chain): means over draws, topics × topics. ``topic_correlations()`` has
        intervals too.
    mean_ : ndarray
        Mean of eta, which sums to zero.
    chains_, trace_, fit_info_
        As in ``LDA``.

    Notes
    -----
    Softmax ignores a constant added to all components, so eta sums to zero. Unrelated topics therefore have a small
    negative correlation, −1 / (n_topics − 1) if they are all alike; two topics always have −1.

    References
    ----------
    Blei and Lafferty, A correlated topic model of Science, Annals of Applied Statistics, 2007.

    Examples
    --------
    >>> import topoi
    >>> words = [["sun", "star", "orbit", "comet"], ["cell", "gene"], ["vote", "law"]]
    >>> corpus = topoi.Corpus.from_tokens([words[d % 3] * 5 for d in range(60)])
    >>> model = topoi.CorrelatedTopicModel(3, n_iter=60, random_state=0).fit(corpus)
    >>> model.correlation_.shape, model.doc_topic_.sum(axis=1).round(6).min()
    ((3, 3), np.float64(1.0))
    """

    def __init__(
        self,
        n_topics: int = 40,
        *,
        beta: Any = 0.01,
        variance: float = 1.0,
        freedom: float | None = None,
        mean_weight: float = 1.0,
        n_iter: int = 500,
        n_warmup: int = 20,
        n_chains: int = 1,
        n_jobs: int | None = 1,
        n_shards: int | str = "auto",
        random_state: Any = None,
        evaluate_every: int = 10,
        average: bool = True,
        checkpoint: str | Path | None = None,
        checkpoint_every: int | str = "1min",
        progress: bool | None = None,
    ):
        self.n_topics = n_topics
        self.beta = beta
        self.variance = variance
        self.freedom = freedom
        self.mean_weight = mean_weight
        self.n_iter = n_iter
        self.n_warmup = n_warmup
        self.n_chains = n_chains
        self.n_jobs = n_jobs
        self.n_shards = n_shards
        self.random_state = random_state
        self.evaluate_every = evaluate_every
        self.average = average
        self.checkpoint = checkpoint
        self.checkpoint_every = checkpoint_every
        self.progress = progress

    # What the family adds to the loop, to files and to predictions.

    def _hyper(self, n_topics: int) -> Hyper:
        freedom = 2.0 * n_topics if self.freedom is None else _number("freedom", self.freedom, n_topics, 1e9)
        return Hyper(
            _number("variance", self.variance, 0.0, 1e4), freedom, _number("mean_weight", self.mean_weight, 0.0, 1e9)
        )

    def _make_sampler(self, corpus: Corpus, n_shards: Shards) -> CorrelatedSampler:
        n_topics = whole_number("n_topics", self.n_topics)
        beta = positive_vector("beta", self.beta, corpus.n_words, "the number of words")
        n_warmup = whole_number("n_warmup", self.n_warmup, 0)
        return CorrelatedSampler(corpus, n_topics, beta, self._hyper(n_topics), n_shards, n_warmup)

    _takes_documents = True

    def why_not_edited(self) -> str | None:
        """Reason why topics cannot be edited by hand."""
        return "a topic that is new or gone would leave the covariance of all topics to its prior"

    def _freeze(self) -> None:
        averages = choice("average", self.average, (True, False))
        how = self._sampler, self.corpus_, averages
        self.chains_ = [CorrelatedPosterior.from_chain(chain, *how) for chain in self._settled]
        self.authors_ = np.zeros(0, object)
        self.n_features_in_ = self.corpus_.n_words

    def _lists_for(self, corpus: Corpus) -> WeightedAuthors:
        return WeightedAuthors.private(corpus.n_docs)

    def _state(self) -> tuple[dict[str, Any], dict[str, ArrayOrPieces]]:
        progress, arrays = super()._state()
        first = self.chains_[0]
        read_by_views = {MEAN: first.mean, COVARIANCE: first.covariance, SHARES: first.doc_topic.astype(np.float32)}
        return progress, arrays | read_by_views

    # What the model has learned.

    @property
    def mean_(self) -> Array:
        """Mean of eta, which sums to zero (first chain, last sweep)."""
        return self._first.mean.copy()

    @property
    def covariance_(self) -> Array:
        """Covariance of eta, topics × topics: the mean of the first chain's draws."""
        return self._first.covariance.copy()

    @property
    def correlation_(self) -> Array:
        """Correlations of the components of eta, topics × topics: the mean over the first chain's draws."""
        return self._first.correlations().mean

    @property
    def topic_order_(self) -> NDArray[np.int64]:
        """An order of the topics in which correlated ones are neighbours, for tables and figures."""
        return by_similarity(self.correlation_)

    def topic_correlations(self, level: float = 0.9) -> pd.DataFrame:
        """Correlations of all pairs of topics, the largest first: topic, other, correlation, low, high.

        A positive one says that documents which have more of one topic than usual, also have more of the other. The
        interval holds ``level`` of the draws of the second half of the first chain; it is missing (NaN) after too few
        sweeps, or if a topic became what it is too recently.

        Parameters
        ----------
        level : float
            Probability that the interval is to hold.

        Examples
        --------
        >>> import topoi
        >>> corpus = topoi.CorrelatedTopicModel(3).simulate(50, 20, random_state=0)
        >>> model = topoi.CorrelatedTopicModel(3, n_iter=60, random_state=0).fit(corpus)
        >>> model.topic_correlations().columns.tolist()
        ['topic', 'other', 'correlation', 'low', 'high']
        """
        _number("level", level, 0.0, 1.0)
        return self._first.correlations(level).frame()

    def transform(self, X: Any, burn_in: int = 20, n_samples: int = 100, lag: int = 1) -> Array:
        """Topic shares of new documents, documents × topics; rows sum to one.

        Gibbs sampling of eta given the document's words, with the topics, mean and covariance of the first chain.

        Parameters
        ----------
        X : Corpus, list of texts or of lists of words, table with texts, or matrix of counts
            The documents. Words the model does not know are left out.
        burn_in, n_samples, lag : int
            Sweeps.

        Examples
        --------
        >>> import topoi
        >>> model = topoi.CorrelatedTopicModel(2, n_iter=5, random_state=0).fit([[1, 0, 2], [0, 3, 0]])
        >>> model.transform([[1, 1, 1]]).shape
        (1, 2)
        """
        return super().transform(X, burn_in, n_samples, lag)  # scikit-learn wraps only what the class itself defines

    def simulate(self, n_docs: int, doc_length: float = 100, random_state: Any = None) -> Corpus:
        """Draw a corpus from the generative process; topics, mean and covariance are new or, once fitted, the fitted.

        Parameters
        ----------
        n_docs : int
            Number of documents.
        doc_length : float
            Mean length; lengths are Poisson.
        random_state : int, generator or None
            Seeds the draw.

        Returns
        -------
        Corpus
            With topics, mean, covariance, eta and every token's topic in ``corpus.truth``.

        Examples
        --------
        >>> import topoi
        >>> corpus = topoi.CorrelatedTopicModel(3).simulate(10, 20, random_state=0)
        >>> corpus.truth.covariance.shape
        (3, 3)
        """
        n_topics = whole_number("n_topics", self.n_topics)
        fitted: dict[str, Any] = {}
        size = N_WORDS if np.ndim(self.beta) == 0 else len(self.beta)
        if hasattr(self, "n_iter_"):
            fitted = {"mean": self.mean_, "covariance": self.covariance_, "topic_word": self.topic_word_}
            fitted["words"], size = list(self.vocabulary_.words), self.corpus_.n_words
        beta = positive_vector("beta", self.beta, size, "the number of words")
        seed = resolve_seed(random_state)
        return simulate(
            whole_number("n_docs", n_docs), doc_length, n_topics, beta, self._hyper(n_topics), seed, **fitted
        )


def _number(name: str, value: Any, above: float, most: float) -> float:
    """A setting that is a number above one bound and at most the other."""
    is_number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if not is_number or not above < float(value) <= most:
        raise ModelError(f"{name} is {value!r}; pass a number above {above:g}, at most {most:g}")
    return float(value)
