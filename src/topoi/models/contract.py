"""What the rest of the program may ask of a fitted model: where its counts come from, and what only some models can.

A fitted model has ``chains_``, one frozen posterior each (``topoi.models.posterior.Posterior``). A posterior computes
all its answers from a ``CountSource``: arrays of the model in memory, or rows of a store, read by SQL when they are
needed. So one class per family serves both.

Every fitted model is a ``topoi.models.base.FittedModel``, or a ``ModelView`` of one in a store. Beyond what those have,
ask with ``isinstance`` by one of the protocols below, never by ``hasattr``: the protocol says what the name means, and
a maintainer can search for who has it and who needs it. What a *class* of models gives, before any is fitted, is in its
``family.py`` (``topoi.models.registry.Model.gives``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from topoi.engine.samples import Sample
    from topoi.errors import StoreError
    from topoi.models.smoothed_counts import Cells
    from topoi.models.sources import Rows, TrainingDocument


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

    def word_rows(self, words: Any) -> NDArray[np.float64]:
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

    def topic_cells(self) -> Rows:
        """Nonzero word counts of topics."""
        ...

    def damaged(self, what: str) -> StoreError:
        """An error about numbers that do not fit together; it names the file, if they come from one."""
        ...

    def words_before(self, word: int) -> NDArray[np.int64]:
        """Number of words that rank before a word in each topic."""
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


@runtime_checkable
class InStore(Protocol):
    """A model in a store, not loaded: answers come from rows, some of them ready-made."""

    store: Any
    name: str
    family: str
    catalogue_: Any

    def load(self) -> Any:
        """The fitted model, read as a whole."""
        ...

    def has_periods(self, by: str) -> bool:
        """Whether the rows hold trends by this column."""
        ...

    def yearly_counts(self, by: str) -> Any:
        """Years or decades, and tokens per topic in each."""
        ...

    def topic_hues(self) -> dict[int, int]:
        """The hue that each topic wears in the browser."""
        ...

    def author_perplexities(self, author: int) -> Any:
        """An author's documents, their words and perplexities."""
        ...


@runtime_checkable
class Scores(Protocol):
    """A model that gives documents a probability."""

    def log_likelihood(self, X: Any, *args: Any, **options: Any) -> NDArray[np.float64]:
        """Log probability of each document."""
        ...


@runtime_checkable
class ReportsErrors(Protocol):
    """A model whose probabilities of documents are estimates with a stated error."""

    def log_likelihood_report(self, X: Any, *args: Any, **options: Any) -> pd.DataFrame:
        """Log probabilities with standard errors and notes."""
        ...


@runtime_checkable
class HasChains(Protocol):
    """A model whose chains can be asked one by one about new documents."""

    chains_: list[Any]
    has_graph: bool

    def documents_and_chains(self, X: Any, metadata: Any) -> Any:
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
    def feature_columns_(self) -> list[Any]:
        """The features, each with what was learned about its values."""
        ...


@runtime_checkable
class HasCoefficients(Protocol):
    """A model that is linear in its metadata."""

    def coefficients(self, *args: Any, **options: Any) -> pd.DataFrame:
        """Coefficients with their errors."""
        ...


@runtime_checkable
class SampledChain(Protocol):
    """A chain whose documents' mixtures are not Dirichlet, and that integrates them out itself."""

    def sampled(self, bags: Any, n_samples: int | None, seed: int, n_jobs: int) -> Any:
        """Importance-sampled log probabilities."""
        ...


@runtime_checkable
class HasTopics(Protocol):
    """A chain with topics, each a distribution of words."""

    def word_columns(self, words: Any) -> NDArray[np.float64]:
        """P(word | topic) of some words, topics × words."""
        ...


@runtime_checkable
class DrawsMixtures(Protocol):
    """A chain that draws mixtures of topics from a document's prior."""

    def prior_mixtures(self, documents: Any, d: int, n: int, name: tuple[int, ...]) -> NDArray[np.float64]:
        """Mixtures drawn from the prior; n × topics."""
        ...


@runtime_checkable
class FiltersDocuments(Protocol):
    """A chain that estimates documents' probabilities by particles."""

    def log_likelihood(
        self,
        documents: Any,
        seed: int,
        n_particles: int,
        n_moves: int,
        n_jobs: int = 1,
        resample_below: float = 0.5,
        weighted: bool = True,
    ) -> NDArray[np.float64]:
        """Log probability of each document."""
        ...

    def is_integrated(self, documents: Any) -> NDArray[np.bool_]:
        """Whether each document's mixture is integrated out, so that its log-likelihood is an estimate, not exact."""
        ...


@runtime_checkable
class PriorPerDocument(Protocol):
    """A chain that gives each document a Dirichlet of its own."""

    topic_word: NDArray[np.float64]

    def alphas(self, documents: Any) -> NDArray[np.float64]:
        """Dirichlet parameters: documents × topics."""
        ...
