"""The public class of the hierarchical Dirichlet process."""

from __future__ import annotations

import numbers
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from topoi.corpus.corpus import Corpus
from topoi.engine.loop import Outcome
from topoi.engine.shards import Shards
from topoi.errors import ModelError
from topoi.models.gibbs import GibbsModel
from topoi.models.guidance.documents import DocLabels, DocumentsOfTopics
from topoi.models.guidance.model import Guided, guided_names
from topoi.models.guidance.settings import SETTINGS, Seeds, WordsOfTopics, resolve_named
from topoi.models.hdp.posterior import HdpPosterior
from topoi.models.hdp.sampler import LARGEST, Concentration, HdpSampler
from topoi.models.inputs import WeightedAuthors
from topoi.models.matrices import MatrixInput
from topoi.models.notices import warn_user
from topoi.models.prediction import GIBBS
from topoi.models.tables import ChainTables
from topoi.models.validation import positive_vector, whole_number

LEARNED = "learned"
_ALPHA_PRIOR, _GAMMA_PRIOR = (1.0, 1.0), (1.0, 0.1)


class HierarchicalDirichletProcess(Guided, MatrixInput, ChainTables, GibbsModel):
    """LDA whose number of topics is learned, by direct-assignment Gibbs sampling; a scikit-learn transformer.

    All documents share an endless list of topics with shares b, and a document's mixture is drawn around b. Topics come
    and go while words are sampled. Takes a ``Corpus``, a list of texts, or a matrix of counts.

    Parameters
    ----------
    n_topics : int
        Number of topics to start with. Chains lose topics faster than they find new ones, so begin with more than you
        expect; with far fewer, 500 sweeps are too few.
    alpha : float, optional
        Concentration of documents' mixtures around the common shares. It is a sum over topics, not the weight of each.
        Drawn under its prior if not given (or ``"learned"``).
    gamma : float, optional
        Concentration of the common shares: the larger, the more topics. Drawn under its prior if not given.
    alpha_prior, gamma_prior : (float, float), optional
        Shape and rate of the gamma priors of the two concentrations; (1, 1) and (1, 0.1) if not given.
    beta : float or array
        Dirichlet parameter of topics' words, per word. The number of topics depends on it: a smaller one gives more.
    max_topics : int
        Most topics there may be, at the start too. If they are reached, there is a warning, and the samples are no
        longer exact.
    seeds, seed_strength, ban, pin, doc_labels, doc_ban
        As in ``LDA``, for topics with a name, that of seeds or of a label: they come first, keep their numbers, and are
        there even without words. Other topics come and go, and only ``pin`` concerns them: it keeps words out of them.
    n_shards : 1 or "auto"
        Always one: topics made in different shards are different topics.
    n_iter, n_chains, n_jobs, random_state, evaluate_every, average, checkpoint, checkpoint_every, progress
        As in ``LDA``.

    Attributes
    ----------
    n_topics_ : int
        Number of topics of the best chain's last sample.
    topic_word_, doc_topic_ : ndarray
        Rows are probabilities. Topics are numbered by their size in the last sample, after those with a name.
    alpha_ : ndarray
        Weight of each topic in the prior of documents' mixtures: the concentration times the topic's share.
    chains_, trace_, fit_info_
        As in ``LDA``; ``fit_info_`` also has each chain's ``"n_topics"``, ``"alpha"`` and ``"gamma"``.

    References
    ----------
    Teh, Jordan, Beal and Blei, Hierarchical Dirichlet processes, JASA, 2006.

    Examples
    --------
    >>> import topoi
    >>> corpus = topoi.Corpus.from_tokens([["sun", "star", "moon"] * 2, ["cell", "gene", "enzyme"] * 2] * 10)
    >>> model = topoi.HierarchicalDirichletProcess(1, beta=0.1, n_iter=200, random_state=0).fit(corpus)
    >>> model.n_topics_
    2
    """

    def __init__(
        self,
        n_topics: int = 100,
        *,
        alpha: Any = None,
        gamma: Any = None,
        alpha_prior: Any = None,
        gamma_prior: Any = None,
        beta: Any = 0.01,
        max_topics: int = 1000,
        seeds: Seeds | None = None,
        seed_strength: int | None = None,
        ban: WordsOfTopics | None = None,
        pin: WordsOfTopics | None = None,
        doc_labels: DocLabels | None = None,
        doc_ban: DocumentsOfTopics | None = None,
        n_iter: int = 500,
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
        self.alpha = alpha
        self.gamma = gamma
        self.alpha_prior = alpha_prior
        self.gamma_prior = gamma_prior
        self.beta = beta
        self.max_topics = max_topics
        self.seeds = seeds
        self.seed_strength = seed_strength
        self.ban = ban
        self.pin = pin
        self.doc_labels = doc_labels
        self.doc_ban = doc_ban
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

    def _make_sampler(self, corpus: Corpus, n_shards: Shards) -> HdpSampler:
        if n_shards != 1 and self.n_shards != "auto":
            raise ModelError(
                f"n_shards is {n_shards}; topics made in different shards are different topics, so this model has one: "
                "pass 1 or 'auto', and n_chains for more threads"
            )
        n_topics, max_topics = whole_number("n_topics", self.n_topics), whole_number("max_topics", self.max_topics)
        if max_topics > LARGEST:
            raise ModelError(f"max_topics is {max_topics}; at most {LARGEST} are possible")
        if corpus.n_tokens == 0:
            raise ModelError("the corpus has no words: nothing to fit")
        alpha = concentration("alpha", self.alpha, _ALPHA_PRIOR if self.alpha_prior is None else self.alpha_prior)
        gamma = concentration("gamma", self.gamma, _GAMMA_PRIOR if self.gamma_prior is None else self.gamma_prior)
        beta = positive_vector("beta", self.beta, corpus.n_words, "the number of words")
        told = resolve_named(corpus, n_topics, **{name: getattr(self, name) for name in SETTINGS})
        return HdpSampler(corpus, min(n_topics, max_topics), max_topics, alpha, gamma, beta, told)

    def _settings_of_fit(self) -> dict[str, Any]:
        """Settings with what was said of documents by their ids, which parts of the corpus have too."""
        return super()._settings_of_fit() | self._told_of_documents()

    def _finish(self, outcome: Outcome, done: int) -> None:
        super()._finish(outcome, done)
        if outcome.sweep > done and self.fit_info_["max_topics_reached"]:
            warn_user(f"there were {self.max_topics} topics, and no more were possible: raise max_topics, or beta")

    def why_not_edited(self) -> str | None:
        """Reason why topics cannot be edited by hand."""
        return "its topics are numbered by size after every sweep, so that numbers and names would not stay"

    def _numbers_stay(self, shown: int | None, topic: int) -> bool:
        return super()._numbers_stay(shown, topic) and topic < len(guided_names(self.chains_[0]))

    def identity_of_fit(self) -> dict[str, Any]:
        """As of other models, and the number of sweeps: each gives the topics new numbers."""
        return super().identity_of_fit() | {"n_sweeps": self.fit_info_["n_sweeps"]}

    def _freeze(self) -> None:
        self.chains_ = [HdpPosterior.from_hdp(chain, self._sampler, self.corpus_) for chain in self._settled]
        self.authors_ = np.zeros(0, object)
        self.n_features_in_ = self.corpus_.n_words

    def _lists_for(self, corpus: Corpus) -> WeightedAuthors:
        return WeightedAuthors.private(corpus.n_docs)

    @property
    def n_topics_(self) -> int:
        """Number of topics of the best chain's last sample."""
        return int(self._first.n_topics)

    @property
    def alpha_(self) -> NDArray[np.float64]:
        """Weight of each topic in the prior of documents' mixtures (first chain)."""
        return self._first.alpha

    def topic_counts_trace(self) -> pd.DataFrame:
        """Number of topics, alpha and gamma after every sweep: chain, sweep, n_topics, alpha, gamma.

        Examples
        --------
        >>> import topoi
        >>> model = topoi.HierarchicalDirichletProcess(n_iter=3, random_state=0).fit([[1, 2], [2, 1]])
        >>> model.topic_counts_trace()["sweep"].tolist()
        [1, 2, 3]
        """
        check_is_fitted(self, "n_iter_")
        frames = []
        for chain in sorted(self._chains, key=lambda chain: chain.index):
            n_topics, alpha, gamma = chain.priors.history.T
            sweep = np.arange(1, len(n_topics) + 1)
            columns = {"n_topics": n_topics.astype(np.int64), "alpha": alpha, "gamma": gamma}
            frames.append(pd.DataFrame({"chain": chain.index, "sweep": sweep} | columns))
        return pd.concat(frames, ignore_index=True)

    def transform(
        self, X: Any, burn_in: int = 20, n_samples: int = 100, lag: int = 1, method: str = GIBBS
    ) -> NDArray[np.float64]:
        """Topic shares of new documents, as in ``LDA``, among the topics there are; obeys ``set_output``.

        Examples
        --------
        >>> import topoi
        >>> model = topoi.HierarchicalDirichletProcess(n_iter=5, random_state=0).fit([[1, 0, 2], [0, 3, 0]])
        >>> model.transform([[1, 1, 1]]).shape == (1, model.n_topics_)
        True
        """
        # scikit-learn wraps only what the class itself defines
        return self._shares(X, burn_in, n_samples, lag, method)


def concentration(name: str, value: Any, prior: Any) -> Concentration:
    """A concentration from its setting: fixed, or drawn from the mean of its gamma prior on.

    Examples
    --------
    >>> from topoi.models.hdp.model import concentration
    >>> concentration("gamma", None, (1.0, 0.1)), concentration("gamma", 2.0, (1.0, 0.1)).prior
    (Concentration(start=10.0, prior=(1.0, 0.1)), None)
    """
    if value is None or (isinstance(value, str) and value == LEARNED):
        shape, rate = positive_vector(f"{name}_prior", prior, 2, "shape and rate")
        return Concentration(float(shape / rate), (float(shape), float(rate)))
    if isinstance(value, bool) or not isinstance(value, numbers.Real) or not 1e-30 <= float(value) <= 1e30:
        raise ModelError(f"{name} is {value!r}; it must be one positive number, or None to learn it")
    return Concentration(float(value))
