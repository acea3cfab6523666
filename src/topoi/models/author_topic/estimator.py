"""Public estimators of the author-topic family: ``AuthorTopicModel`` and ``LDA``."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from topoi.corpus.corpus import Corpus
from topoi.engine.loop import SweepInfo
from topoi.engine.shards import Shards
from topoi.errors import ModelError
from topoi.models.author_topic.author_model import AuthorModel, check_authors, check_lacking
from topoi.models.author_topic.base import TopicModel
from topoi.models.author_topic.posterior import AuthorTopicPosterior
from topoi.models.author_topic.priors import private_authors
from topoi.models.author_topic.state import AuthorTopicSampler, TopicChain
from topoi.models.contract import DocumentsLike, SeedLike
from topoi.models.guidance.documents import DocLabels, DocumentsOfTopics
from topoi.models.guidance.settings import Seeds, WordsOfTopics
from topoi.models.inputs import WeightedAuthors
from topoi.models.matrices import MatrixInput
from topoi.models.prediction import GIBBS
from topoi.models.texts import corpus_with
from topoi.models.validation import choice, whole_number

__all__ = ["LDA", "AuthorModel", "AuthorTopicModel"]


class AuthorTopicModel(TopicModel):
    """Topics shared by all documents, and for each author a mixture of them (Rosen-Zvi et al. 2004, 2009).

    Every word of a document is attributed to one of the document's authors, who draws a topic from their own mixture;
    the topic draws the word. Fitted by exact collapsed Gibbs sampling. "Authors" may be anything that could explain a
    word: see ``Corpus.with_authors``.

    Parameters
    ----------
    n_topics : int
        Number of topics.
    prior : {"auto", "paper"}
        What happens to alpha, beta and ``fictitious_authors`` where they are not given. "auto" learns alpha and beta,
        and gives documents private authors unless those of one author are all alike: see ``docs/author-topic.md``.
        "paper" takes the papers' numbers, 50 / n_topics and 0.01, fixed, and no fictitious authors.
    alpha : float or array, optional
        Dirichlet parameter of authors' mixtures, per topic; one that is given is not learned unless ``learn_alpha``.
    beta : float or array, optional
        Dirichlet parameter of topics' words, per word; one that is given is not learned unless ``learn_beta``.
    n_iter : int
        Gibbs sweeps.
    fictitious_authors : bool, optional
        Give each document an additional author of its own, for what its known authors do not explain. If neither this
        nor alpha is given, ``prior`` decides.
    fictitious_weight : float, optional
        Prior probability of that author; the others share the rest. If not given, all have the same.
    no_authors : {"private", "raise"}
        Documents without authors get a private one (with one warning), or are refused.
    learn_alpha : bool or {"symmetric", "asymmetric"}, optional
        Learn alpha by maximum likelihood every ten sweeps; True is asymmetric. If neither this nor alpha is given,
        ``prior`` decides.
    learn_beta : bool, optional
        Learn one beta for all words by maximum likelihood. If neither this nor beta is given, ``prior`` decides.
    seeds : dict, optional
        Words that topics should have: ``{"trade": ["tariff", "import"]}``. The seeded topics come first, and have these
        names. A mapping of words to numbers instead of a list gives each its own strength. See ``docs/guidance.md``.
    seed_strength : int, optional
        How often each seed word counts as seen in its topic before the fit: if not given, a hundredth of the mean size
        of a topic.
    ban, pin : dict, optional
        Words that a topic, by number or name, may not have; and words that only this topic may have.
    doc_labels : str, list or dict, optional
        Topics of documents: a column of the documents, or a list of names for each. A document may have only
        the topics of its labels, and topics that are not labels; None is for a document that may have all. Alpha is
        then not learned.
    doc_ban : dict, optional
        Documents, by id or number, that may not have a topic: ``{3: ["report-17"]}``.
    n_chains : int
        Independent chains; point estimates are those of the best, predictions average over all.
    n_jobs : int
        Threads, -1 for all cores. Never changes the result.
    n_shards : int or "auto"
        Parts that a sweep samples independently (see ``docs/threads.md``); 1 is exact. "auto" depends on the corpus
        alone.
    executor : dask.distributed.Client, optional
        Sweep the shards on the workers of this cluster; see ``docs/cluster.md``. Never changes the result.
    shared_folder : path or address, optional
        Folder that all workers of the cluster can reach. It keeps what a fit goes back to when a worker is lost;
        without it, this process does.
    random_state : int, generator or None
        The same number gives the same bits.
    evaluate_every : int
        Sweeps between values of the log joint in ``trace_``.
    average : bool
        Estimate by the mean of samples from the second half of each chain: five to ten and the last. That is better
        than the last sample alone, which False uses. Samples take a byte per token each (two with more than 256
        topics), and as much again for authors.
    checkpoint : path, optional
        File for the progress of the fit; an existing one is continued.
    checkpoint_every : int or str
        Sweeps, or a time such as "5min", between checkpoints.
    progress : bool, optional
        Show a bar; if not given, on a terminal only.

    Attributes
    ----------
    topic_word_, author_topic_, doc_topic_ : ndarray
        Rows are probabilities. Topic ids are 0-based and never re-sorted.
    chains_ : list
        One posterior per chain, the one with the highest mean log joint first; ``chains_[0].index`` is its number.
    trace_ : DataFrame
        chain, sweep, log_joint, log_joint_per_token.
    fit_info_ : dict
        Seed, sweeps, shards, whether the sampler was exact or interrupted, speed; ``"averaged_samples"``,
        ``"best_chain"``, and ``"changed_topics"``, those that became others in the second half: see
        ``docs/author-topic.md``.

    References
    ----------
    Rosen-Zvi, Chemudugunta, Griffiths, Smyth and Steyvers, Learning author-topic models from text corpora, ACM TOIS,
    2009.

    Examples
    --------
    >>> import topoi
    >>> corpus = topoi.Corpus.from_tokens([["sun", "star"], ["cell", "gene"]] * 10, authors=["Ann", "Bob"] * 10)
    >>> model = topoi.AuthorTopicModel(2, alpha=0.1, n_iter=50, random_state=0).fit(corpus)
    >>> model.author_topic_.round(1).max(axis=1).tolist()
    [1.0, 1.0]
    """

    def __init__(
        self,
        n_topics: int = 100,
        *,
        prior: str = "auto",
        alpha: ArrayLike | None = None,
        beta: ArrayLike | None = None,
        n_iter: int = 500,
        fictitious_authors: bool | None = None,
        fictitious_weight: float | None = None,
        no_authors: str = "private",
        learn_alpha: bool | str | None = None,
        learn_beta: bool | None = None,
        seeds: Seeds | None = None,
        seed_strength: int | None = None,
        ban: WordsOfTopics | None = None,
        pin: WordsOfTopics | None = None,
        doc_labels: DocLabels | None = None,
        doc_ban: DocumentsOfTopics | None = None,
        n_chains: int = 1,
        n_jobs: int | None = 1,
        n_shards: int | str = "auto",
        executor: Any = None,
        shared_folder: str | Path | None = None,
        random_state: SeedLike = None,
        evaluate_every: int = 10,
        average: bool = True,
        checkpoint: str | Path | None = None,
        checkpoint_every: int | str = "1min",
        progress: bool | None = None,
    ):
        self.n_topics = n_topics
        self.prior = prior
        self.alpha = alpha
        self.beta = beta
        self.n_iter = n_iter
        self.fictitious_authors = fictitious_authors
        self.fictitious_weight = fictitious_weight
        self.no_authors = no_authors
        self.learn_alpha = learn_alpha
        self.learn_beta = learn_beta
        self.seeds = seeds
        self.seed_strength = seed_strength
        self.ban = ban
        self.pin = pin
        self.doc_labels = doc_labels
        self.doc_ban = doc_ban
        self.n_chains = n_chains
        self.n_jobs = n_jobs
        self.n_shards = n_shards
        self.executor = executor
        self.shared_folder = shared_folder
        self.random_state = random_state
        self.evaluate_every = evaluate_every
        self.average = average
        self.checkpoint = checkpoint
        self.checkpoint_every = checkpoint_every
        self.progress = progress

    def fit(self, corpus: DocumentsLike, y: object = None, callback: Callable[[SweepInfo], Any] | None = None) -> Self:
        """Fit the model to a corpus with authors.

        Parameters
        ----------
        corpus : Corpus, or table with texts and authors
            Documents with authors; plain texts and matrices of counts have none, use ``LDA`` for them.
        y : None
            Ignored; scikit-learn's convention.
        callback : callable, optional
            Called with a ``SweepInfo`` after each sweep; a true result ends the fit.

        Examples
        --------
        >>> import topoi
        >>> corpus = topoi.Corpus.from_tokens([["a", "b"], ["c", "d"]], authors=["Ann", "Bob"])
        >>> topoi.AuthorTopicModel(2, n_iter=5, random_state=0).fit(corpus).n_iter_
        5
        """
        corpus = corpus_with("authors", corpus, "AuthorTopicModel")
        check_authors(corpus, self.no_authors)
        return self._fit_corpus(corpus, callback)

    def _new_corpus(self, X: DocumentsLike) -> Corpus:
        new = super()._new_corpus(X)
        check_lacking(new, self.no_authors)
        return new

    def _author_lists(self, corpus: Corpus) -> WeightedAuthors:
        if self.fictitious_authors is not None:
            choice("fictitious_authors", self.fictitious_authors, (False, True))
        weight = self.fictitious_weight
        if weight is not None and not (isinstance(weight, numbers.Real) and 0.0 < weight < 1.0):
            raise ModelError(f"fictitious_weight is {weight!r}; it is a probability, between 0 and 1")
        if weight is not None and not self.fictitious_authors:
            raise ModelError("fictitious_weight is given but fictitious_authors is False; set fictitious_authors=True")
        # Alpha and private authors together say how mixtures are distributed: alpha that is given changes nothing else.
        left_open = self.fictitious_authors is None and self.alpha is None and self.learn_alpha is None
        if left_open and self.prior == "auto":
            return self._listed(corpus, *private_authors(corpus))
        return self._listed(corpus, bool(self.fictitious_authors), None if weight is None else float(weight))

    def _listed(self, corpus: Corpus, fictitious: bool, weight: float | None) -> WeightedAuthors:
        return WeightedAuthors.from_csr(
            corpus.doc_author, corpus.doc_author_start, corpus.n_authors, fictitious, weight
        )

    def _lists_for(self, corpus: Corpus) -> WeightedAuthors:
        return self._listed(corpus, self._sampler.lists.fictitious, self._sampler.lists.fictitious_weight)

    def _frozen(self, chain: TopicChain, sampler: AuthorTopicSampler, corpus: Corpus) -> AuthorTopicPosterior:
        chosen = sampler.lists.fictitious, sampler.lists.fictitious_weight
        return AuthorTopicPosterior.from_chain(chain, sampler, corpus, *chosen)

    def _settings_of_fit(self) -> dict[str, Any]:
        """Settings with what was chosen for the training documents, which later documents must not change."""
        lists = self._sampler.lists
        chosen = {"fictitious_authors": lists.fictitious, "fictitious_weight": lists.fictitious_weight}
        return super()._settings_of_fit() | chosen

    def _sampler_like(self, old: AuthorTopicSampler, corpus: Corpus, n_shards: Shards) -> AuthorTopicSampler:
        """A sampler of more documents, which have private authors if those of ``old`` have."""
        chosen = {"fictitious_authors": old.lists.fictitious, "fictitious_weight": old.lists.fictitious_weight}
        return type(self)(**self.get_params(deep=False) | chosen)._make_sampler(corpus, n_shards)

    @property
    def author_topic_(self) -> NDArray[np.float64]:
        """P(topic | author), authors × topics: the mean of the best chain's samples."""
        return self._first.author_topic


class LDA(MatrixInput, TopicModel):
    """Latent Dirichlet allocation by exact collapsed Gibbs sampling; a scikit-learn transformer.

    It is the author-topic model in which each document has one private author. Takes a ``Corpus``, a list of texts, or
    a matrix of counts, as from ``CountVectorizer``. Parameters and attributes are those of ``AuthorTopicModel`` except
    those about authors.

    Parameters
    ----------
    n_topics : int
        Number of topics.
    prior, alpha, beta, n_iter, learn_alpha, learn_beta, seeds, seed_strength, ban, pin, doc_labels, doc_ban, \
n_chains, n_jobs, n_shards, executor, shared_folder, random_state, evaluate_every, average, checkpoint, \
checkpoint_every, progress
        As in ``AuthorTopicModel``.
    sparse : {False, "counts", "pruned", True}
        False is exact. "counts" is the same sampler, bit for bit, with sparse counts of words by topic, which takes
        less memory where there are many topics. "pruned" makes every second sweep approximate: among the topics that
        the document or the word has already. True does so and starts from a few documents, whose number doubles every
        five sweeps (Li and McCallum, section 3.2). See ``docs/pachinko.md`` for costs and benefits.

    References
    ----------
    Griffiths and Steyvers, Finding scientific topics, PNAS, 2004.

    Li and McCallum, Pachinko allocation: scalable mixture models of topic correlations, 2008.

    Examples
    --------
    >>> import numpy as np, topoi
    >>> counts = np.array([[4, 4, 0, 0], [0, 0, 4, 4]] * 5)
    >>> model = topoi.LDA(2, alpha=0.1, n_iter=50, random_state=0)
    >>> model.fit_transform(counts).round(1).max(axis=1).tolist()[:2]
    [1.0, 1.0]
    """

    def __init__(
        self,
        n_topics: int = 100,
        *,
        prior: str = "auto",
        alpha: ArrayLike | None = None,
        beta: ArrayLike | None = None,
        n_iter: int = 500,
        learn_alpha: bool | str | None = None,
        learn_beta: bool | None = None,
        seeds: Seeds | None = None,
        seed_strength: int | None = None,
        ban: WordsOfTopics | None = None,
        pin: WordsOfTopics | None = None,
        doc_labels: DocLabels | None = None,
        doc_ban: DocumentsOfTopics | None = None,
        sparse: bool | str = False,
        n_chains: int = 1,
        n_jobs: int | None = 1,
        n_shards: int | str = "auto",
        executor: Any = None,
        shared_folder: str | Path | None = None,
        random_state: SeedLike = None,
        evaluate_every: int = 10,
        average: bool = True,
        checkpoint: str | Path | None = None,
        checkpoint_every: int | str = "1min",
        progress: bool | None = None,
    ):
        self.n_topics = n_topics
        self.prior = prior
        self.alpha = alpha
        self.beta = beta
        self.n_iter = n_iter
        self.learn_alpha = learn_alpha
        self.learn_beta = learn_beta
        self.seeds = seeds
        self.seed_strength = seed_strength
        self.ban = ban
        self.pin = pin
        self.doc_labels = doc_labels
        self.doc_ban = doc_ban
        self.sparse = sparse
        self.n_chains = n_chains
        self.n_jobs = n_jobs
        self.n_shards = n_shards
        self.executor = executor
        self.shared_folder = shared_folder
        self.random_state = random_state
        self.evaluate_every = evaluate_every
        self.average = average
        self.checkpoint = checkpoint
        self.checkpoint_every = checkpoint_every
        self.progress = progress

    @classmethod
    def from_assignments(
        cls,
        corpus: Corpus,
        topics: ArrayLike,
        n_topics: int,
        *,
        alpha: ArrayLike | None = None,
        beta: ArrayLike = 0.01,
        **settings: Any,
    ) -> Self:
        """Make a fitted model from the topic of every word, as another program has sampled them.

        The model is at this one sample, after no sweeps of its own; ``resume`` goes on from it. Its log joint is the
        first value of ``trace_``.

        Parameters
        ----------
        corpus : Corpus
            The documents.
        topics : array of int
            Topic of each of the corpus's tokens, in order.
        n_topics : int
            Number of topics.
        alpha, beta
            As in the class.
        **settings
            Other settings, such as ``random_state``, or ``learn_alpha`` for ``resume``.

        Examples
        --------
        >>> import topoi
        >>> corpus = topoi.Corpus.from_tokens([["sun", "star"], ["cell", "gene"]])
        >>> model = topoi.LDA.from_assignments(corpus, [0, 0, 1, 1], n_topics=2, alpha=0.1, random_state=0)
        >>> model.top_words(2, topic=1)["word"].tolist(), model.doc_topic_.round(2).tolist()
        (['cell', 'gene'], [[0.95, 0.05], [0.05, 0.95]])
        """
        if not isinstance(corpus, Corpus):
            raise ModelError(f"corpus is {type(corpus).__name__}; pass a topoi.Corpus")
        model = cls(n_topics, alpha=alpha, beta=beta, **settings)
        return model._take_state(corpus, model._given_state(corpus, np.asarray(topics)))

    def _given_state(self, corpus: Corpus, topics: NDArray[Any]) -> dict[str, NDArray[Any]]:
        """Checked topics of tokens, and the priors, in the form in which the sampler restores a chain."""
        if corpus.n_tokens == 0:
            raise ModelError("the corpus has no words: nothing has a topic")
        if topics.dtype.kind not in "iu" or topics.shape != (corpus.n_tokens,):
            shape = "×".join(map(str, topics.shape))
            raise ModelError(
                f"topics are {shape} of {topics.dtype}; pass one whole number for each of the {corpus.n_tokens} words"
            )
        n_topics = whole_number("n_topics", self.n_topics)
        if topics.min() < 0 or topics.max() >= n_topics:
            wrong = topics[(topics < 0) | (topics >= n_topics)][0]
            raise ModelError(f"topics has the value {wrong}; topics are numbered 0 to {n_topics - 1}")
        if self.sparse:
            raise ModelError(f"sparse is {self.sparse!r}; a model from given topics is sampled with sparse=False")
        alpha, beta = self._priors(corpus, n_topics)
        return {"topic": topics.astype(np.uint16), "alpha": alpha, "beta": beta}

    @property
    def _sparse(self) -> bool | str:
        return self.sparse

    def _freeze(self) -> None:
        super()._freeze()
        self.n_features_in_ = self.corpus_.n_words

    def _author_lists(self, corpus: Corpus) -> WeightedAuthors:
        return self._lists_for(corpus)

    def _lists_for(self, corpus: Corpus) -> WeightedAuthors:
        return WeightedAuthors.private(corpus.n_docs)

    def transform(
        self, X: DocumentsLike, burn_in: int = 20, n_samples: int = 100, lag: int = 1, method: str = GIBBS
    ) -> NDArray[np.float64]:
        """Topic shares of new documents, as in ``AuthorTopicModel``; obeys ``set_output``.

        Examples
        --------
        >>> import topoi
        >>> topoi.LDA(2, n_iter=5, random_state=0).fit([[1, 0, 2], [0, 3, 0]]).transform([[1, 1, 1]]).shape
        (1, 2)
        """
        # scikit-learn wraps only what the class itself defines
        return self._shares(X, burn_in, n_samples, lag, method)
