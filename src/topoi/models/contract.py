"""Contract between a fitted model and the rest of the program: the source of its counts, and what only some can.

A fitted model has ``chains_``, one frozen posterior each (``topoi.models.posterior.Posterior``). A posterior computes
all its answers from a ``CountSource``: arrays of the model in memory, or rows of a store, read by SQL when they are
needed. So one class per family serves both.

Every fitted model is a ``topoi.models.base.FittedModel``, or a ``ModelView`` of one in a store. Beyond what those have,
ask with ``isinstance`` by one of the protocols below, never by ``hasattr``: the protocol says what the name means, and
a maintainer can search for who has it and who needs it. What a *class* of models gives, before any is fitted, is in its
``family.py`` (``topoi.models.registry.Model.gives``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from topoi.corpus.corpus import Corpus
    from topoi.corpus.vocabulary import Vocabulary
    from topoi.engine.samples import Sample
    from topoi.errors import StoreError
    from topoi.kernels.counts import Documents
    from topoi.models.bags import Bags
    from topoi.models.base import HasPath
    from topoi.models.catalogue import Catalogue
    from topoi.models.dag import Dag
    from topoi.models.features.columns import Column
    from topoi.models.guidance.phantoms import Phantoms
    from topoi.models.periods import Trend
    from topoi.models.share_moments import Moments
    from topoi.models.smoothed_counts import Cells
    from topoi.models.sources import Rows, TrainingDocument


class HasShape(Protocol):
    """An array, a sparse matrix, or a frame of any library."""

    @property
    def shape(self) -> Any:
        """Numbers of rows and columns."""
        ...


DocumentsLike: TypeAlias = "Corpus | Iterable[Any] | HasShape"
"""Documents as people have them: a corpus, texts, lists of words, a table with texts, or a matrix of counts.

``topoi.models.texts`` recognises which of them it was given; what it does not know is a ``ModelError``.
"""

MetadataLike: TypeAlias = "Corpus | Mapping[str, Any] | Sequence[Any] | HasShape"
"""Metadata of documents: a corpus, a frame, or a mapping of columns; for a precomputed kernel, similarities."""

FeaturesLike: TypeAlias = "str | Sequence[str] | Mapping[str, str | None]"
"""Features that a model is to read: names of columns, or a mapping of names to kinds."""

SeedLike: TypeAlias = "int | np.integer | np.random.Generator | np.random.RandomState | None"
"""Seed of a fit or a draw, as ``topoi.models.validation.resolve_seed`` reads it."""

Chosen: TypeAlias = "slice | Sequence[int] | NDArray[Any]"
"""Rows or columns to choose from an array."""


class CountSource(Protocol):
    """Counts of one chain: means over its samples, of whole tokens. ``n_authors`` is 0 if the model has no authors."""

    index: int
    n_authors: int

    @property
    def n_topics(self) -> int:
        """The number of topics."""
        ...

    @property
    def n_samples(self) -> int:
        """Number of samples that the counts are means of."""
        ...

    @property
    def alpha(self) -> NDArray[np.float64]:
        """Weight by which each topic's count in a document is smoothed."""
        ...

    @property
    def alpha_sum(self) -> float:
        """Sum of alpha, as kernels read it."""
        ...

    @property
    def beta(self) -> NDArray[np.float64]:
        """The Dirichlet parameter of each word."""
        ...

    @property
    def beta_sum(self) -> float:
        """Sum of beta, as kernels read it."""
        ...

    @property
    def phantoms(self) -> Phantoms | None:
        """Prior of words in topics beyond beta, if the model was guided. No count of the source includes it."""
        ...

    @property
    def topic_sizes(self) -> NDArray[np.int64]:
        """Tokens per topic, rounded."""
        ...

    @property
    def topic_totals(self) -> NDArray[np.float64]:
        """Tokens per topic."""
        ...

    @property
    def doc_start(self) -> NDArray[np.int64]:
        """Offset of each document's first token, then the end of the last document."""
        ...

    def word_rows(self, words: Chosen) -> NDArray[np.float64]:
        """Tokens of some words per topic: words × topics."""
        ...

    def author_rows(self, authors: NDArray[np.int64]) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """Tokens of some authors per topic (authors × topics), and in all."""
        ...

    def word_blocks(self) -> Iterator[Cells]:
        """Nonzero topic counts of words, in blocks."""
        ...

    def document_cells(self) -> Rows:
        """Nonzero topic counts of documents."""
        ...

    def document_mixtures(self) -> NDArray[np.float32] | None:
        """Mixtures of documents that are kept beside their counts; None if they follow from what is in memory."""
        ...

    def author_cells(self) -> Rows:
        """Nonzero topic counts of authors."""
        ...

    def author_deviations(self) -> NDArray[np.float16]:
        """Standard deviations between samples of authors' shares, for the cells of ``author_cells``."""
        ...

    def written_cells(self) -> tuple[Rows, NDArray[np.float16]]:
        """Nonzero topic counts of what authors wrote, with their parts of private authors' words; shares' deviations.

        As in ``topoi.models.written``; only of models in which documents have private authors beside named ones.
        """
        ...

    def size_deviations(self) -> NDArray[np.float64] | None:
        """Standard deviations of topics' shares of all words, as kept; None if they follow from what is in memory."""
        ...

    def document_moments(self, document: int) -> Moments | None:
        """Mixture of a document as kept beside its counts; None if it follows from what is in memory."""
        ...

    def topic_cells(self) -> Rows:
        """Nonzero word counts of topics."""
        ...

    def damaged(self, what: str) -> StoreError:
        """An error about numbers that do not fit together; it names the file, if they come from one."""
        ...

    def words_before(self, word: int, topics: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
        """Number of words that rank before a word in each of some topics, by default of all."""
        ...

    def document(self, number: int) -> TrainingDocument:
        """A training document with its last sample."""
        ...

    def document_samples(self, document: TrainingDocument) -> list[Sample]:
        """All samples of a training document's tokens, the last sample last."""
        ...

    def samples(self, first: int, last: int) -> list[Sample]:
        """All samples of the tokens of documents ``first`` to ``last``, the last sample last."""
        ...

    def topic_samples(self, first: int, last: int) -> list[NDArray[Any]]:
        """Topics of the tokens of documents ``first`` to ``last`` in all samples, the last sample last."""
        ...


class Names(Protocol):
    """Names of authors, by number: an array, or rows of a store."""

    def __len__(self) -> int: ...

    def __getitem__(self, rows: Any, /) -> Any: ...


class ModelLike(Protocol):
    """A fitted model, or a view of one in a store: what every one of them has, and most questions need."""

    # One posterior per chain, the best first; empty if the model has no topics. A family's own classes add to
    # ``topoi.models.posterior.Posterior``, so ask with isinstance for more.
    @property
    def chains_(self) -> list[Any]:
        """Posteriors of the chains."""
        ...

    @property
    def catalogue_(self) -> Catalogue:
        """Authors and documents of the training corpus."""
        ...

    @property
    def vocabulary_(self) -> Vocabulary:
        """The words, and the analyser that cuts text into them."""
        ...

    @property
    def authors_(self) -> Names:
        """Names of the authors; none if the model has no authors."""
        ...


class LoadedModel(ModelLike, Protocol):
    """A fitted model in memory, as evaluations read it."""

    n_jobs: int | None
    fit_info_: dict[str, Any]
    corpus_: Corpus

    @property
    def has_mixtures(self) -> bool:
        """Whether documents have mixtures of topics."""
        ...

    @property
    def log_likelihood(self) -> Callable[..., NDArray[np.float64]]:
        """Log probability of each document; families differ in how it is to be estimated."""
        ...

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Settings, as of any scikit-learn estimator."""
        ...

    def to_bundle(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """The model as JSON-able settings and plain arrays."""
        ...


class StoredSource(CountSource, Protocol):
    """Counts of a model in a store, which may also have arrays and a graph of the family."""

    @property
    def has_graph(self) -> bool:
        """Whether the store has a graph of the model's topics."""
        ...

    def graph(self) -> tuple[Dag, NDArray[np.float64]]:
        """The graph, checked, and the Dirichlet parameter of each edge."""
        ...

    def array(self, name: str, shape: tuple[int | None, ...]) -> NDArray[Any]:
        """An array of the model, of a known shape; None for a length that is not known."""
        ...


@runtime_checkable
class InStore(Protocol):
    """A model in a store, not loaded: answers come from rows, some of them ready-made."""

    store: HasPath
    name: str
    family: str
    settings: dict[str, Any]
    catalogue_: Catalogue

    def load(self) -> Any:
        """The fitted model, read as a whole."""
        ...

    def has_periods(self, by: str) -> bool:
        """Whether the rows hold trends by this column."""
        ...

    def yearly_shares(self, by: str) -> Trend:
        """Words per topic by year or decade, and their shares with intervals."""
        ...

    def topic_hues(self) -> dict[int, int]:
        """The hue that each topic wears in the browser."""
        ...

    def author_perplexities(self, author: int) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.float64]]:
        """An author's documents, their words and perplexities."""
        ...


@runtime_checkable
class Scores(Protocol):
    """A model that gives documents a probability."""

    @property
    def log_likelihood(self) -> Callable[..., NDArray[np.float64]]:
        """Log probability of each document; families differ in how it is to be estimated."""
        ...


@runtime_checkable
class ReportsErrors(Protocol):
    """A model whose probabilities of documents are estimates with a stated error."""

    @property
    def log_likelihood_report(self) -> Callable[..., pd.DataFrame]:
        """Log probabilities with standard errors and notes; takes what ``log_likelihood`` does."""
        ...


@runtime_checkable
class HasChains(Protocol):
    """A model whose chains can be asked one by one about new documents."""

    chains_: list[Any]
    has_graph: bool

    def documents_and_chains(
        self, X: DocumentsLike, metadata: MetadataLike | None
    ) -> tuple[Corpus, Documents, list[Any]]:
        """Documents in the model's words, in the form in which chains read them, and the chains."""
        ...


@runtime_checkable
class ReadsMetadata(Protocol):
    """A model whose topics depend on metadata.

    ``reads_features`` is false if it was given a matrix of similarities in place of features.
    """

    @property
    def reads_features(self) -> bool:
        """Whether documents have features."""
        ...

    @property
    def feature_columns_(self) -> list[Column]:
        """The features, each with what was learned about its values."""
        ...


@runtime_checkable
class HasCoefficients(Protocol):
    """A model that is linear in its metadata."""

    def coefficients(self) -> pd.DataFrame:
        """Coefficients with their errors."""
        ...


@runtime_checkable
class KnowsCorrelations(Protocol):
    """A model that knows which topics go together."""

    @property
    def correlation_(self) -> NDArray[np.float64]:
        """Correlations of topics, topics × topics."""
        ...

    @property
    def topic_order_(self) -> NDArray[np.int64]:
        """An order of the topics in which correlated ones are neighbours."""
        ...

    def topic_correlations(self, level: float = 0.9) -> pd.DataFrame:
        """Correlations of all pairs with intervals."""
        ...


@runtime_checkable
class KnowsShares(Protocol):
    """A chain that knows how uncertain single shares are (``topoi.models.share_moments``).

    All that derive from ``topoi.models.posterior.Posterior`` do; moments without deviations say that a family has no
    posterior of the shares, and intervals are then unknown.
    """

    def author_moments(self, authors: NDArray[np.int64]) -> Moments:
        """Topics' shares of what some authors wrote, authors × topics."""
        ...

    def document_moments(self, document: int) -> Moments:
        """Mixture of a training document."""
        ...

    def group_moments(self, documents: NDArray[np.int64]) -> Moments:
        """Topics' shares of the words of some training documents together, as of documents of their kind."""
        ...

    @property
    def size_moments(self) -> Moments:
        """Topics' shares of all words."""
        ...


@runtime_checkable
class SampledChain(Protocol):
    """A chain whose documents' mixtures are not Dirichlet, and that integrates them out itself."""

    def sampled(self, bags: Bags, n_samples: int | None, seed: int, n_jobs: int) -> tuple[NDArray[np.float64], ...]:
        """Importance-sampled log probabilities, standard errors, effective draws, and shapes of weights' tails."""
        ...


@runtime_checkable
class HasTopics(Protocol):
    """A chain with topics, each a distribution of words."""

    def word_columns(self, words: Chosen) -> NDArray[np.float64]:
        """P(word | topic) of some words, topics × words."""
        ...


@runtime_checkable
class DrawsMixtures(Protocol):
    """A chain that draws mixtures of topics from a document's prior."""

    def prior_mixtures(self, documents: Documents, d: int, n: int, name: tuple[int, ...]) -> NDArray[np.float64]:
        """Mixtures drawn from the prior; n × topics."""
        ...


@runtime_checkable
class FiltersDocuments(Protocol):
    """A chain that estimates documents' probabilities by particles."""

    def log_likelihood(
        self,
        documents: Documents,
        seed: int,
        n_particles: int,
        n_moves: int,
        n_jobs: int = 1,
        resample_below: float = 0.5,
        weighted: bool = True,
    ) -> NDArray[np.float64]:
        """Log probability of each document."""
        ...

    def is_integrated(self, documents: Documents) -> NDArray[np.bool_]:
        """Whether each document's mixture is integrated out, so that its log-likelihood is an estimate, not exact."""
        ...


@runtime_checkable
class PriorPerDocument(Protocol):
    """A chain that gives each document a Dirichlet of its own."""

    topic_word: NDArray[np.float64]

    def alphas(self, documents: Documents) -> NDArray[np.float64]:
        """Dirichlet parameters: documents × topics."""
        ...
