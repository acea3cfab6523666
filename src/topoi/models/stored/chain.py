"""A chain of a model with topics in a store: the same numbers as in memory, read by SQL on demand."""

from __future__ import annotations

import json
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.checked_json import read_json
from topoi.engine.samples import MOST_SAMPLES
from topoi.errors import NotFoundError, StoreError
from topoi.kernels.counts import Assignments
from topoi.models.mixtures import DocumentMixtures, Mixtures, whole_tokens
from topoi.store.arrays import get_array, unpacked
from topoi.store.door import model_parameters, stored_json
from topoi.store.store import Store

_LARGEST_BETA = 1e30


class StoredDocument(NamedTuple):
    """A training document: its tokens, their positions in its text, and their assignments in the stored sample.

    ``paths`` are set if the model's topics are nodes of a graph; ``number`` is the document's number.
    """

    tokens: NDArray[np.int32]
    start: NDArray[np.int64] | None
    end: NDArray[np.int64] | None
    assignments: Assignments
    authors: NDArray[np.int64]
    paths: NDArray[np.uint32] | None = None
    number: int = 0


class Averaging(NamedTuple):
    """The chain of the rows, and the samples that they are means of; see ``topic_rows.averaging_parameters``."""

    chain: int = 0
    n_samples: int = 1
    n_kept: int = 0
    topic_sums: NDArray[np.int64] | None = None
    changed: tuple[list[int], ...] = ()


class StoredChain(DocumentMixtures):
    """The first chain of a model in a store; see ``topoi.models.topic_counts.TopicCounts``.

    Methods that need sampling are in ``sampled_chain``.

    Parameters
    ----------
    store : Store
        The file.
    model_id, n_authors : int
        The model, and the number of authors it distinguishes (0 for LDA).
    settings : dict
        The model's settings.
    """

    can_sample = False
    # Whether a topic's words are ordered by their tokens, so that the first rows are its leading words.
    words_by_tokens = True

    def __init__(self, store: Store, model_id: int, n_authors: int, settings: dict[str, Any]) -> None:
        self._store, self._model_id, self._n_authors = store, model_id, n_authors

    def _query(self, query: str, **parameters: Any) -> list[tuple[Any, ...]]:
        return self._store.rows(query, {"model": self._model_id, **parameters}, self._limits)

    @cached_property
    def _limits(self) -> dict[str, int]:
        """Numbers of topics, words, documents and authors, for checking rows that name them."""
        return self._store.sizes.limits | {"topic": len(self._topic_rows[0])}

    @cached_property
    def _topic_rows(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        query = "SELECT topic, n_tokens, alpha FROM topic WHERE model_id = :model ORDER BY topic"
        rows = self._store.rows(query, {"model": self._model_id})
        if [row[0] for row in rows] != list(range(len(rows))) or not rows:
            raise StoreError(f"{self._store.path}: the topics are not numbered from 0")
        alpha = np.array([row[2] for row in rows], np.float64)
        if not (alpha > 0).all():
            raise StoreError(f"{self._store.path} is damaged: alpha is not positive")
        return np.array([row[1] for row in rows], np.int64), alpha

    @cached_property
    def _averaging(self) -> Averaging:
        text = self._query("SELECT parameters FROM model WHERE model_id = :model")[0][0]
        given = stored_json(text, "the model's parameters", {})
        if "n_samples" not in given:
            return Averaging()
        try:
            sums = np.array(given["topic_sums"], np.int64)
            changed = tuple([int(k) for k in topics] for topics in given["changed"])
            chain, n, kept = (int(given[name]) for name in ("chain", "n_samples", "n_kept"))
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise StoreError(f"{self._store.path}: the model's parameters are damaged ({error})") from error
        whole = sums.shape == (self.n_topics,) and (sums >= 0).all() and 0 <= chain
        if not whole or not 1 <= n <= MOST_SAMPLES or len(changed) != n - 1 or not n - 1 <= kept <= n:
            raise StoreError(f"{self._store.path}: the model's parameters do not fit together")
        return Averaging(chain, n, kept, sums, changed)

    @property
    def index(self) -> int:
        """The chain's number."""
        return self._averaging.chain

    @property
    def n_samples(self) -> int:
        """Number of samples that the counts are means of."""
        return self._averaging.n_samples

    @property
    def topic_totals(self) -> NDArray[np.float64]:
        """Tokens per topic: means over the samples."""
        sums = self._averaging.topic_sums
        return (self.topic_sizes if sums is None else sums) / self.n_samples

    @property
    def n_topics(self) -> int:
        """The number of topics."""
        return len(self.topic_sizes)

    @property
    def topic_sizes(self) -> NDArray[np.int64]:
        """Tokens per topic, rounded."""
        return self._topic_rows[0]

    @property
    def alpha(self) -> NDArray[np.float64]:
        """The Dirichlet parameter of each topic."""
        return self._topic_rows[1]

    @property
    def alpha_sum(self) -> float:
        """Sum of alpha."""
        return float(self.alpha.sum())

    @cached_property
    def beta(self) -> NDArray[np.float64]:
        """The Dirichlet parameter of each word."""
        n_words = self._store.sizes.n_words
        with self._store.connection() as connection:
            beta = get_array(connection, self._model_id, f"chain{self.index}_beta", (n_words,))
        beta = np.asarray(beta, np.float64)
        if not ((beta > 0) & (beta < _LARGEST_BETA)).all():
            raise StoreError(f"{self._store.path} is damaged: beta is not always above zero and finite")
        return beta

    @cached_property
    def authors(self) -> Mixtures:
        """Sparse topic counts of the authors."""
        return self._mixtures("author", self._n_authors) if self._n_authors else _no_rows(self.alpha)

    @cached_property
    def documents(self) -> Mixtures:
        """Sparse topic counts of the documents."""
        return self._mixtures("document", self._store.sizes.n_documents)

    def _mixtures(self, kind: str, n_rows: int) -> Mixtures:
        query = """
            SELECT n_rows, row_start, topic AS topic_blob, n_tokens AS n_tokens_blob FROM mixture
            WHERE model_id = :model AND kind = :kind"""
        rows = self._query(query, kind=kind)
        if not rows:
            raise StoreError(f"{self._store.path}: the mixtures of each {kind} are missing; save the model again")
        n, starts, topics, numbers = rows[0]
        if n != n_rows:
            raise StoreError(f"{self._store.path}: mixtures of {n} rows, where there are {n_rows}")
        start = _numbers(starts, "<i8", n_rows + 1)
        n_cells = int(start[-1])
        whole = start[0] == 0 and (np.diff(start) >= 0).all() and n_cells <= n_rows * self.n_topics
        topic = _numbers(topics, "<u2", n_cells if whole else 0)
        number = _numbers(numbers, "<u4", n_cells if whole else 0)
        if not whole or topic.max(initial=0) >= self.n_topics:
            raise StoreError(f"{self._store.path}: the mixtures of each {kind} do not fit together")
        return Mixtures(start, topic, number, self.alpha, self.n_samples)

    @cached_property
    def topics(self) -> Mixtures:
        """Sparse word counts of the topics; reads a million rows or more."""
        if self.n_samples > 1:
            start, topic, sums = self._words.sums
            order = np.argsort(topic, kind="stable")
            word = np.repeat(np.arange(len(start) - 1), np.diff(start))[order]
            edges = np.searchsorted(topic[order], np.arange(self.n_topics + 1))
            return Mixtures(edges, word, sums[order], self.beta, self.n_samples)
        query = "SELECT topic, word_id, n_tokens FROM topic_word WHERE model_id = :model"
        blocks = self._store.blocks(query, {"model": self._model_id}, self._limits)
        parts = [np.array(rows, np.int64) for rows in blocks]
        table = np.concatenate(parts) if parts else np.zeros((0, 3), np.int64)
        table = table[np.lexsort((table[:, 1], table[:, 0]))]
        start = np.searchsorted(table[:, 0], np.arange(self.n_topics + 1))
        return Mixtures(start, table[:, 1], table[:, 2], self.beta)

    @cached_property
    def _words(self) -> Mixtures:
        """Sparse topic counts of the words; the table ``topic_word`` has them rounded."""
        return self._mixtures("word", len(self.beta))

    def word_columns(self, words: Any) -> NDArray[np.float64]:
        """P(word | topic) of some words, topics × words."""
        wanted = np.asarray(words, np.int64)
        rows = self._words.counts(wanted) if self.n_samples > 1 else self._word_rows(wanted).astype(np.float64)
        counts = rows + self.beta[wanted, None]
        return np.asarray((counts / (self.topic_totals + self._parameters["beta_sum"])).T)

    def word_counts(self, word: int) -> NDArray[np.int64]:
        """Tokens of one word per topic."""
        return whole_tokens(self._word_rows(np.array([word]))[0])

    def _word_rows(self, words: NDArray[np.int64]) -> NDArray[Any]:
        """Tokens per word and topic; the words must be distinct."""
        if self.n_samples > 1:
            return self._words.counts(words).astype(np.float32)
        query = """
            SELECT word_id, topic, n_tokens FROM topic_word
            WHERE model_id = :model AND word_id IN (SELECT value FROM json_each(:words))"""
        table = np.array(self._query(query, words=json.dumps(words.tolist())), np.int64).reshape(-1, 3)
        counts = np.zeros((len(words), self.n_topics), np.int64)
        order = np.argsort(words)
        counts[order[np.searchsorted(words[order], table[:, 0])], table[:, 1]] = table[:, 2]
        return counts

    def _checked(self, topics: NDArray[Any]) -> NDArray[Any]:
        if len(topics) and not (0 <= topics.min() and topics.max() < self.n_topics):
            raise StoreError(f"{self._store.path}: a table names a topic that is not there")
        return topics

    def words_before(self, word: int) -> NDArray[np.int64]:
        """Number of words that rank before a word in each topic, by probability, ties by the word's number."""
        query = """
            SELECT t.topic,
                (SELECT count(*) FROM topic_word AS o INDEXED BY topic_word_by_topic
                 WHERE o.model_id = :model AND o.topic = t.topic AND o.n_tokens >= coalesce(w.n_tokens, 0)
                    AND (o.n_tokens > coalesce(w.n_tokens, 0) OR (:mean AND o.probability > w.probability)))
                    AS n_before,
                (SELECT count(*) FROM topic_word AS o INDEXED BY topic_word_by_topic
                 WHERE o.model_id = :model AND o.topic = t.topic AND o.n_tokens = w.n_tokens
                    AND (NOT :mean OR o.probability = w.probability) AND o.word_id < :word) AS n_same,
                w.n_tokens IS NULL AS absent,
                (SELECT count(*) FROM topic_word AS o INDEXED BY topic_word_by_topic
                 WHERE w.n_tokens IS NULL AND o.model_id = :model AND o.topic = t.topic AND o.word_id < :word)
                    AS n_lacking
            FROM topic AS t LEFT JOIN topic_word AS w
                ON w.model_id = t.model_id AND w.word_id = :word AND w.topic = t.topic
            WHERE t.model_id = :model ORDER BY t.topic"""
        table = np.array(self._query(query, word=int(word), mean=self.n_samples > 1), np.int64)
        _, more, same, absent, before = table.T
        # A word that a topic lacks ranks after all that it has and, among those it lacks, by number.
        return np.asarray(more + same + absent * (word - before))

    @cached_property
    def _parameters(self) -> dict[str, float]:
        rows = self._query("SELECT parameters FROM model WHERE model_id = :model")
        try:
            return model_parameters(rows[0][0] if rows else None)
        except StoreError as error:
            raise StoreError(f"{self._store.path}: {error}") from error

    def document(self, number: int) -> StoredDocument:
        """A training document with its stored sample."""
        query = """
            SELECT t.word_ids, t.starts, t.lengths, d.n_tokens, a.topics, a.author_positions,
                   (SELECT json_group_array(author_id) FROM
                       (SELECT author_id FROM document_author WHERE document_id = :document ORDER BY position))
                       AS authors
            FROM document_token AS t JOIN document AS d USING (document_id)
            LEFT JOIN document_assignment AS a ON a.model_id = :model AND a.document_id = t.document_id
            WHERE t.document_id = :document"""
        rows = self._query(query, document=int(number))
        if not rows:
            raise NotFoundError(f"there is no document {number}")
        try:
            return self._document(*rows[0])._replace(number=int(number))
        except (TypeError, ValueError, IndexError) as error:
            raise StoreError(f"{self._store.path}: document {number} is damaged ({error})") from error

    def _n_slots(self, n_authors: int) -> int:
        """Number of possible authors, private ones included, of a document with ``n_authors`` named ones."""
        return n_authors

    def _document(self, words: Any, starts: Any, lengths: Any, *rest: Any) -> StoredDocument:
        n_tokens, topics, positions, listed = rest
        sizes = self._store.sizes
        word_bytes, start_bytes, length_bytes = sizes.word_id_bytes, sizes.start_bytes, sizes.length_bytes
        if len(words) != n_tokens * word_bytes or topics is None:
            raise ValueError("it has more words, or fewer, than it says")
        tokens = np.frombuffer(words, f"<u{word_bytes}").astype(np.int32)
        topic = np.frombuffer(topics, "<u2").astype(np.uint16)
        authors = np.array(read_json(listed, [int]) if self._n_authors else [], np.int64)
        slot = np.zeros(len(tokens), np.uint16)
        if positions is not None:
            width = 2 if len(positions) == 2 * len(tokens) and len(tokens) else 1
            slot = np.frombuffer(positions, f"<u{width}").astype(np.uint16)
        # Check here: kernels do not check bounds.
        n_slots = max(self._n_slots(len(authors)), 1)
        if not (len(topic) == len(slot) == len(tokens) == n_tokens) or int(slot.max(initial=0)) >= n_slots:
            raise ValueError("its tokens and their assignments do not fit together")
        if len(authors) and not (0 <= authors.min() and authors.max() < self._n_authors):
            raise ValueError("an author that is not there")
        if int(tokens.max(initial=0)) >= len(self.beta):
            raise ValueError("a word that is not in the vocabulary")
        self._checked(topic.astype(np.int64))
        start = end = None
        if starts is not None and lengths is not None:
            start = np.frombuffer(starts, f"<u{start_bytes}").astype(np.int64)
            end = start + np.frombuffer(lengths, f"<u{length_bytes}").astype(np.int64)
            if len(start) != n_tokens or len(end) != n_tokens:
                raise ValueError("its words and their places do not fit together")
        return StoredDocument(tokens, start, end, Assignments(topic, slot), authors)


def _no_rows(alpha: NDArray[np.float64]) -> Mixtures:
    nothing = np.zeros(0, np.int64)
    return Mixtures(np.zeros(1, np.int64), nothing, nothing, alpha)


def _numbers(packed: Any, dtype: str, n: int) -> NDArray[Any]:
    return np.frombuffer(unpacked(packed, n * np.dtype(dtype).itemsize, "mixture"), dtype)
