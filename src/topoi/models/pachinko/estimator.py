"""Public estimator of the family: ``PachinkoAllocation``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from topoi.corpus.blocks import Table
from topoi.corpus.corpus import Corpus
from topoi.engine.shards import Shards
from topoi.errors import ModelError
from topoi.models.contract import DocumentsLike, SeedLike
from topoi.models.dag import Dag, as_dag
from topoi.models.gibbs import GibbsModel
from topoi.models.growing import wider_setting
from topoi.models.guidance.documents import DocLabels, DocumentsOfTopics, labels_of
from topoi.models.guidance.guidance import Guidance
from topoi.models.guidance.model import Guided
from topoi.models.guidance.settings import SETTINGS, Seeds, WordsOfTopics, resolve_guidance
from topoi.models.inputs import WeightedAuthors
from topoi.models.matrices import MatrixInput
from topoi.models.pachinko.learning import EdgeAlpha, resolve_alpha
from topoi.models.pachinko.posterior import PachinkoPosterior
from topoi.models.pachinko.rows import graph_tables
from topoi.models.pachinko.simulate import simulate_pachinko
from topoi.models.pachinko.state import PachinkoSampler
from topoi.models.pachinko.structure import Structure
from topoi.models.sparse.scheme import resolve_sparse
from topoi.models.tables import ChainTables
from topoi.models.validation import choice, positive_vector, resolve_seed, whole_number

_RULES = ("moments", "moments-paper", "ml", False)
# Settings of guidance that are mappings of topics.
_BY_TOPIC = ("seeds", "ban", "pin", "doc_ban")


class PachinkoAllocation(
    Guided, Structure, ChainTables[PachinkoPosterior], MatrixInput, GibbsModel[PachinkoSampler, PachinkoPosterior]
):
    """Topics and mixtures of topics over a directed acyclic graph, which models their correlations (Li and McCallum).

    In every document each inner node of the graph has its own mixture of its children; a word follows a path from the
    root to a node that draws words. The usual graph has four levels: the root, super-topics, sub-topics, words. Fitted
    by collapsed Gibbs sampling of a word's whole path at once, which is exact unless ``sparse`` says otherwise.

    Parameters
    ----------
    n_super, n_sub : int
        Widths of the four-level model, every super-topic joined to every sub-topic.
    dag : Dag, list of edges, or nested dict, optional
        Any graph, instead of those two.
    root_alpha : float or array
        Dirichlet parameter of the root, for each child; never learned.
    alpha : float, matrix or dict
        Dirichlet parameters of the other nodes, for each child: the start of learning, or fixed. A dict maps nodes to a
        number or one number per child; a matrix is super-topics × sub-topics.
    beta : float or array
        Dirichlet parameter of topics' words, per word.
    learn_alpha : {"moments", "moments-paper", "ml", False}
        Matching moments, corrected for the noise of short documents; the paper's uncorrected rule; maximum likelihood;
        or no learning. Every ten sweeps, from the twentieth on.
    sparse : {False, "counts", "pruned", True}
        False is exact. "counts" is the same sampler, bit for bit, with sparse counts of words by topic. "pruned" makes
        every second sweep approximate: only super-topics that the document has, only sub-topics that the document or
        the word has. True does so and starts from a few documents, whose number doubles every five sweeps: the paper's
        whole scheme (section 3.2).
    seeds, seed_strength, ban, pin, doc_labels, doc_ban
        As in ``AuthorTopicModel``, for the topics in the order of ``dag_.topics`` (four levels: the sub-topics). If
        ``dag`` is given, names of topics and labels are those of its nodes. In a document that may not have all topics,
        every node has its Dirichlet restricted to children that lead to one it may have; alpha is learned from the
        children that were open to documents (not by "moments-paper").
    n_iter, n_chains, n_jobs, n_shards, executor, shared_folder, random_state, evaluate_every, average, checkpoint, \
checkpoint_every, progress
        As in ``AuthorTopicModel``.

    Attributes
    ----------
    topic_word_ : ndarray
        P(word | topic), one row per node that draws words, in the order of ``dag_.topics`` (four levels: the
        sub-topics).
    doc_topic_, doc_super_, doc_node_ : ndarray
        Mixtures of the training documents: posterior means.
    dag_ : Dag
        The graph.
    chains_, trace_, fit_info_
        As in ``AuthorTopicModel``.

    References
    ----------
    Li and McCallum, Pachinko allocation: scalable mixture models of topic correlations, 2008.

    Examples
    --------
    >>> import topoi
    >>> corpus = topoi.Corpus.from_tokens([["sun", "star"], ["cell", "gene"]] * 10)
    >>> model = topoi.PachinkoAllocation(n_super=2, n_sub=2, n_iter=50, random_state=0).fit(corpus)
    >>> model.topic_word_.shape, model.doc_super_.shape
    ((2, 4), (20, 2))
    """

    def __init__(
        self,
        n_super: int = 50,
        n_sub: int = 100,
        *,
        dag: Dag | Iterable[Any] | None = None,
        root_alpha: ArrayLike = 0.01,
        alpha: EdgeAlpha = 0.1,
        beta: ArrayLike = 0.01,
        learn_alpha: str | bool = "moments",
        sparse: bool | str = False,
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
        executor: Any = None,
        shared_folder: str | Path | None = None,
        random_state: SeedLike = None,
        evaluate_every: int = 10,
        average: bool = True,
        checkpoint: str | Path | None = None,
        checkpoint_every: int | str = "1min",
        progress: bool | None = None,
    ):
        self.n_super = n_super
        self.n_sub = n_sub
        self.dag = dag
        self.root_alpha = root_alpha
        self.alpha = alpha
        self.beta = beta
        self.learn_alpha = learn_alpha
        self.sparse = sparse
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
        self.executor = executor
        self.shared_folder = shared_folder
        self.random_state = random_state
        self.evaluate_every = evaluate_every
        self.average = average
        self.checkpoint = checkpoint
        self.checkpoint_every = checkpoint_every
        self.progress = progress

    def _graph(self) -> Dag:
        """The graph given by the settings."""
        if self.dag is not None:
            return as_dag(self.dag)
        return Dag.from_levels(whole_number("n_super", self.n_super), whole_number("n_sub", self.n_sub))

    def _make_sampler(self, corpus: Corpus, n_shards: Shards) -> PachinkoSampler:
        choice("learn_alpha", self.learn_alpha, _RULES)
        sparse = resolve_sparse(self.sparse, corpus.n_docs, whole_number("n_iter", self.n_iter, 0))
        dag = self._graph()
        alpha = resolve_alpha(dag, self.root_alpha, self.alpha)
        beta = positive_vector("beta", self.beta, corpus.n_words, "the number of words")
        rule = str(self.learn_alpha) if self.learn_alpha else None
        return PachinkoSampler(corpus, dag, alpha, beta, n_shards, rule, sparse, self._told(corpus, dag))

    def _told(self, corpus: Corpus, dag: Dag) -> Guidance | None:
        """The guidance. Names that the settings give to topics are, in a graph that was given, those of its nodes."""
        if self.dag is None:
            return self._guidance(corpus, len(dag.topics))
        settings = {name: getattr(self, name) for name in SETTINGS}
        labels = None if self.doc_labels is None else labels_of(self.doc_labels, corpus)
        keys = [topic for name in _BY_TOPIC if isinstance(settings[name], Mapping) for topic in settings[name]]
        names = [topic for topic in keys if isinstance(topic, str) and not topic.isdecimal()]
        names += [name for each in labels or () for name in each or ()]
        unknown = [name for name in names if name not in dag.topics]
        if unknown:
            told = ", ".join(map(repr, dag.topics[:5]))
            raise ModelError(
                f"there is no node {unknown[0]!r} that draws words in the graph; there are {told}"
                f"{', …' if len(dag.topics) > 5 else ''}"
            )
        return resolve_guidance(corpus, len(dag.topics), **settings, known=dag.topics)

    _takes_documents = True

    def why_not_edited(self) -> str | None:
        """Reason why topics cannot be edited by hand: a graph that was given; None for the four-level model."""
        return None if self.dag is None else "its topics are nodes of a graph that was given"

    def _topic_settings(self, n_spare: int) -> dict[str, Any]:
        if self.dag is not None:
            raise ModelError("spare topics have no place in a graph that was given; pass spare_topics=0")
        n_sub, alpha = self.n_sub + n_spare, self.alpha
        if isinstance(alpha, Mapping):
            alpha = {name: wider_setting(each, n_sub) for name, each in alpha.items()}
        elif alpha is not None and np.ndim(alpha) == 2:
            alpha = [wider_setting(row, n_sub) for row in np.asarray(alpha)]
        return {"n_sub": n_sub, "alpha": alpha}

    def _settings_of_fit(self) -> dict[str, Any]:
        """Settings with what was said of documents by their ids, which parts of the corpus have too."""
        return super()._settings_of_fit() | self._told_of_documents()

    def _grown_settings(self, n_words: int, n_spare: int) -> dict[str, Any]:
        return super()._grown_settings(n_words, n_spare) | self._told_of_documents()

    def _freeze(self) -> None:
        self.chains_ = [PachinkoPosterior.from_chain(chain, self._sampler, self.corpus_) for chain in self._settled]
        self.dag_ = self._sampler.dag
        self.authors_ = np.zeros(0, object)
        self.n_features_in_ = self.corpus_.n_words

    def _plain_settings(self, settings: dict[str, Any]) -> dict[str, Any]:
        # As a list of edges: JSON would not keep the order of a dict's keys, by which topics are numbered.
        dag = settings["dag"]
        return super()._plain_settings(settings | {"dag": None if dag is None else as_dag(dag)})

    def restore_bundle(self, corpus: Corpus, meta: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Self:
        """Restore what ``save`` wrote."""
        if self.dag is not None:
            self.dag = as_dag(self.dag)
        return super().restore_bundle(corpus, meta, arrays)

    def family_tables(self, corpus: Corpus) -> dict[str, Table]:
        """Nodes and edges of the graph, and the paths of words."""
        check_is_fitted(self, "n_iter_")
        return graph_tables(corpus, self.dag_, self._first)

    def _lists_for(self, corpus: Corpus) -> WeightedAuthors:
        return WeightedAuthors.private(corpus.n_docs)

    @property
    def alpha_(self) -> NDArray[np.float64]:
        """Alpha of the super-topics' edges, as given or learned; super-topics × sub-topics (four levels).

        For other graphs one number per edge, in the order of ``edges()``, the root's left out.
        """
        first = self._first
        below = first.edge_alpha[first.graph.slot_start[1] :]
        return below.reshape(first.n_super, first.n_topics) if first.n_super else below

    @property
    def beta_(self) -> NDArray[np.float64]:
        """Beta per word."""
        return self._first.beta

    def transform(self, X: DocumentsLike, burn_in: int = 20, n_samples: int = 100, lag: int = 1) -> NDArray[np.float64]:
        """Topic shares of new documents, as in ``LDA``; obeys ``set_output``.

        Examples
        --------
        >>> import topoi
        >>> model = topoi.PachinkoAllocation(2, 3, n_iter=5, random_state=0).fit([[1, 0, 2], [0, 3, 0]])
        >>> model.transform([[1, 1, 1]]).shape
        (1, 3)
        """
        return super().transform(X, burn_in, n_samples, lag)  # scikit-learn wraps only what the class itself defines

    def simulate(self, n_docs: int, doc_length: float = 100, random_state: SeedLike = None) -> Corpus:
        """Draw a corpus from the model's generative process, with new topics or, once fitted, the fitted ones.

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
            With the true topics and paths of all tokens in ``corpus.truth``.

        Examples
        --------
        >>> import topoi
        >>> corpus = topoi.PachinkoAllocation(2, 3).simulate(20, doc_length=30, random_state=0)
        >>> corpus.n_docs, corpus.truth.topic_word.shape[0]
        (20, 3)
        """
        return simulate_pachinko(self, n_docs, doc_length, resolve_seed(random_state))
