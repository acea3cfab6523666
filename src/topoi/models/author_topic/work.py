"""Documents of one shard of the author-topic family, as any machine samples them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.mapped import Scratch
from topoi.corpus.pieces import row_blocks
from topoi.kernels.counts import Assignments, Counts, Documents, Priors
from topoi.kernels.dirichlet import CountHistogram
from topoi.models.author_topic import equations
from topoi.models.author_topic.shards import DocumentShard, Orders, WordShard

# Words of the first document that are enough to compile kernels.
_FEW_WORDS = 8
TopicShard = DocumentShard | WordShard
# Sets of topics as rows of zeros and ones, and the number of each document's set.
AllowedTopics = tuple[NDArray[np.float32], NDArray[np.int32]]


class FirstPriors(NamedTuple):
    """Priors of a chain's first sweeps, in which private authors beside named ones have another weight."""

    priors: Priors
    private_weight: float


class TopicWork:
    """Documents with their authors; ``by_words`` tells that all authors are private and documents short.

    ``n_shared`` is the number of authors that documents share, and the number of the private one. ``word_times`` are
    the words' numbers of tokens in the whole corpus, if there are enough topics for lists of them.
    """

    def __init__(
        self,
        documents: Documents,
        n_topics: int,
        n_words: int,
        n_shared: int,
        by_words: bool,
        scratch: Scratch | None = None,
        word_times: NDArray[np.int64] | None = None,
        allowed: AllowedTopics | None = None,
    ) -> None:
        self.word_times, self.allowed = word_times, allowed
        self.documents, self.n_topics, self.n_words = documents, n_topics, n_words
        self.n_shared, self.by_words = n_shared, by_words
        self._scratch = scratch or Scratch()

    @cached_property
    def orders(self) -> Orders:
        """Orders of the tokens, shared by all chains."""
        return Orders(self.documents, self.n_topics, self.n_words, self._scratch)

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Rebuild the documents from ``to_arrays``."""
        n_topics, n_words, n_shared, by_words = arrays["sizes"].tolist()
        documents = Documents(*(np.array(arrays[name]) for name in Documents._fields))
        sets, times = arrays.get("allowed_sets"), arrays.get("word_times")
        allowed = None if sets is None else (sets, arrays["allowed_of"])
        return cls(documents, n_topics, n_words, n_shared, bool(by_words), word_times=times, allowed=allowed)

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Documents and sizes, and the topics that documents may have."""
        sizes = [self.n_topics, self.n_words, self.n_shared, int(self.by_words)]
        times = {} if self.word_times is None else {"word_times": self.word_times}
        told = {} if self.allowed is None else dict(zip(("allowed_sets", "allowed_of"), self.allowed, strict=True))
        return {**self.documents._asdict(), "sizes": np.array(sizes), **times, **told}

    def small(self) -> Self:
        """The first words of the first document that has any."""
        lengths = np.diff(self.documents.doc_start)
        d = int(np.argmax(lengths > 0)) if len(lengths) else 0
        tokens, doc_start, author, author_start, weight = self.documents
        first = slice(doc_start[d], doc_start[d] + min(int(lengths[d]), _FEW_WORDS))
        mine = slice(author_start[d], author_start[d + 1])
        documents = Documents(
            np.array(tokens[first]),
            np.array([0, first.stop - first.start]),
            np.array(author[mine]),
            np.array([0, mine.stop - mine.start]),
            np.array(weight[mine]),
        )
        return self._with(documents, slice(d, d + 1))

    def _with(self, documents: Documents, here: slice) -> Self:
        """The same for other documents, which are those ``here``."""
        sizes = self.n_topics, self.n_words, self.n_shared, self.by_words
        return type(self)(documents, *sizes, word_times=self.word_times, allowed=self._allowed_in(here))

    def _allowed_in(self, here: slice) -> AllowedTopics | None:
        return None if self.allowed is None else (self.allowed[0], self.allowed[1][here])

    def new(self) -> TopicShard:
        """A state without assignments."""
        if self.by_words:
            return WordShard(self.documents, self.orders, self._scratch)
        return DocumentShard(self.documents, self._scratch, self.word_times, self.allowed)

    def open(self, assignments: Mapping[str, NDArray[Any]]) -> TopicShard:
        """The state with these topics and authors."""
        state = self.new()
        topic = assignments["topic"]
        slot = assignments.get("slot")
        state.set_assignments(topic, np.zeros(len(topic), np.uint16) if slot is None else slot)
        return state

    def assignments(self, state: TopicShard) -> dict[str, NDArray[Any]]:
        """Topics and, where there are authors to choose from, authors."""
        own = state.in_document_order()
        return {"topic": own.topic} if self._all_private else {"topic": own.topic, "slot": own.slot}

    @cached_property
    def _all_private(self) -> bool:
        """Whether every document has one author, its private one."""
        author, start = self.documents.author, self.documents.author_start
        return bool((np.diff(start) == 1).all() and (author == self.n_shared).all())

    def count(self, state: TopicShard, counts: Counts) -> None:
        """Add the assignments to the counts."""
        equations.add_counts(self.documents, state.in_document_order(), counts)

    def sweep(self, state: TopicShard, counts: Counts, priors: Any, stream: NDArray[np.uint64]) -> None:
        """Sample every token once."""
        if isinstance(priors, FirstPriors):
            assert isinstance(state, DocumentShard)  # named authors are sampled document by document
            weighted = with_private_weight(self.documents, self.n_shared, priors.private_weight)
            state.sweep_weighted(weighted, counts, priors.priors, stream)
        else:
            state.sweep(counts, priors, stream)

    def log_joint(self, state: TopicShard, counts: Any, priors: Any) -> float:
        """Term of the private authors' topics, and of the choice of authors by the weights of later sweeps."""
        priors = priors.priors if isinstance(priors, FirstPriors) else priors
        return log_documents(self.documents, state.in_document_order(), counts, priors)

    def statistics(self, state: TopicShard, priors: Any) -> CountHistogram:
        """Counts of topics per private author."""
        return CountHistogram.joined(
            private_histograms(self.documents, state.in_document_order(), self.n_shared, self.n_topics)
        )


def with_private_weight(documents: Documents, n_shared: int, weight: float) -> Documents:
    """The documents with this prior probability of their private authors; named ones share the rest evenly.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.kernels.counts import Documents
    >>> from topoi.models.author_topic.work import with_private_weight
    >>> none, author = np.zeros(0, np.int32), np.array([0, 1, 2, 1], np.int32)  # the private author is number 2
    >>> documents = Documents(none, np.array([0, 0, 0]), author, np.array([0, 3, 4]), np.ones(4, np.float32))
    >>> with_private_weight(documents, 2, 0.5).author_weight.tolist()
    [0.25, 0.25, 0.5, 1.0]
    """
    private = documents.author == n_shared
    n = np.diff(documents.author_start)
    upto = np.concatenate(([0], np.cumsum(private)))
    has_private = upto[documents.author_start[1:]] > upto[documents.author_start[:-1]]
    both = np.repeat(has_private & (n > 1), n)
    named = np.repeat((1.0 - weight) / np.maximum(n - 1, 1), n)
    weights = np.where(both, np.where(private, weight, named), documents.author_weight)
    return documents._replace(author_weight=weights.astype(np.float32))


def log_documents(documents: Documents, assignments: Assignments, counts: Any, priors: Any) -> float:
    """Log joint of private authors' topics and of the choice of authors; the counts give sizes and types alone."""
    # The kernel needs the private author's row as scratch; pages of zeros that nobody touches take no memory.
    rows = np.zeros(counts.author_topic.shape, counts.author_topic.dtype)
    scratch = counts._replace(author_topic=rows, author=np.zeros(len(counts.author)))
    return float(equations.log_joint_documents(documents, assignments, scratch, priors, 0.0))


def private_histograms(
    documents: Documents, assignments: Assignments, n_shared: int, n_topics: int
) -> Iterator[CountHistogram]:
    """Counts of topics per private author, in blocks of documents; an empty one if there are no documents."""
    topic, slot = assignments
    private = documents.author == n_shared
    none = np.zeros(0, np.int64)
    yield CountHistogram.from_counts(none, none, none, n_topics)
    for part in row_blocks(documents.doc_start):
        own = documents.doc_start[part.start : part.stop + 1]
        here, lengths = slice(own[0], own[-1]), np.diff(own)
        doc = np.repeat(np.arange(part.start, part.stop), lengths)
        mine = private[documents.author_start[doc] + slot[here]]
        keys, number = np.unique(doc[mine] * n_topics + topic[here][mine], return_counts=True)
        totals = np.bincount(keys // n_topics, number).astype(np.int64)
        yield CountHistogram.from_counts(keys % n_topics, number, totals, n_topics)
