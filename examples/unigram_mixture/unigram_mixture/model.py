"""The public class."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from topoi.corpus.corpus import Corpus
from topoi.models.contract import DocumentsLike, SeedLike
from topoi.models.gibbs import GibbsModel
from topoi.models.inputs import WeightedAuthors
from topoi.models.matrices import MatrixInput
from topoi.models.tables import Tables
from topoi.models.validation import positive_vector, whole_number
from unigram_mixture.posterior import UnigramPosterior
from unigram_mixture.sampler import UnigramSampler


class UnigramMixture(MatrixInput, Tables[UnigramPosterior], GibbsModel[UnigramSampler, UnigramPosterior]):
    """Documents of one topic each, by collapsed Gibbs sampling; a scikit-learn transformer.

    Parameters
    ----------
    n_topics : int
        Number of topics.
    alpha : float or array
        Dirichlet parameter of the topics' shares of documents, per topic.
    beta : float or array
        Dirichlet parameter of topics' words, per word.
    n_iter, n_chains, n_jobs, n_shards, random_state, evaluate_every, average, checkpoint, checkpoint_every, progress
        As in ``topoi.LDA``.

    Attributes
    ----------
    topic_word_, doc_topic_ : ndarray
        P(word | topic) and P(topic | document).
    theta_ : ndarray
        P(topic).

    Examples
    --------
    >>> import topoi
    >>> corpus = topoi.Corpus.from_tokens([["sun", "star"], ["cell", "gene"]] * 5)
    >>> model = UnigramMixture(2, n_iter=20, random_state=0).fit(corpus)
    >>> model.transform(["sun and star", "gene"]).round().sum(axis=0).tolist()
    [1.0, 1.0]
    """

    def __init__(
        self,
        n_topics: int = 20,
        *,
        alpha: ArrayLike = 1.0,
        beta: ArrayLike = 0.01,
        n_iter: int = 500,
        n_chains: int = 1,
        n_jobs: int | None = 1,
        n_shards: int | str = "auto",
        random_state: SeedLike = None,
        evaluate_every: int = 10,
        average: bool = True,
        checkpoint: str | Path | None = None,
        checkpoint_every: int | str = "1min",
        progress: bool | None = None,
    ):
        self.n_topics = n_topics
        self.alpha = alpha
        self.beta = beta
        self.n_iter = n_iter
        self.n_chains = n_chains
        self.n_jobs = n_jobs
        self.n_shards = n_shards
        self.random_state = random_state
        self.evaluate_every = evaluate_every
        self.average = average
        self.checkpoint = checkpoint
        self.checkpoint_every = checkpoint_every
        self.progress = progress

    # What a family adds to the loop, to files and to predictions.

    def _make_sampler(self, corpus: Corpus, n_shards: int) -> UnigramSampler:
        n_topics = whole_number("n_topics", self.n_topics)
        alpha = positive_vector("alpha", self.alpha, n_topics, "n_topics")
        beta = positive_vector("beta", self.beta, corpus.n_words, "the number of words")
        return UnigramSampler(corpus, alpha, beta, n_shards)

    def _freeze(self) -> None:
        corpus = self.corpus_
        self.chains_ = [UnigramPosterior.from_chain(chain, self._sampler, corpus) for chain in self._settled]
        self.authors_ = np.zeros(0, object)
        self.n_features_in_ = corpus.n_words

    def _lists_for(self, corpus: Corpus) -> WeightedAuthors:
        return WeightedAuthors.private(corpus.n_docs)

    # What the model has learned.

    @property
    def topic_word_(self) -> NDArray[np.float64]:
        """P(word | topic): the mean of the best chain's samples."""
        return self._first.topic_word

    @property
    def doc_topic_(self) -> NDArray[np.float64]:
        """P(topic | document) of the training documents."""
        return self._first.doc_topic

    @property
    def theta_(self) -> NDArray[np.float64]:
        """P(topic) of a document."""
        return self._first.theta

    def transform(self, X: DocumentsLike, burn_in: int = 20, n_samples: int = 100, lag: int = 1) -> NDArray[np.float64]:
        """P(topic | words) of new documents, exactly; the other arguments are those of all models, and without effect.

        Examples
        --------
        >>> UnigramMixture(2, n_iter=5, random_state=0).fit([[1, 0, 2], [0, 3, 0]]).transform([[1, 1, 1]]).shape
        (1, 2)
        """
        return super().transform(X, burn_in, n_samples, lag)  # scikit-learn wraps only what the class itself defines
