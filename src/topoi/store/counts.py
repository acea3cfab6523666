"""Counts of a model with topics in a store: the same numbers as in memory, read by SQL on demand."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.checked_json import read_json
from topoi.corpus.pieces import ranges
from topoi.engine.samples import MOST_SAMPLES, Sample
from topoi.errors import ModelError, NotFoundError, StoreError
from topoi.kernels.counts import Assignments
from topoi.models.averages import settled
from topoi.models.dag import Dag
from topoi.models.graph import Graph, make_graph, path_bytes
from topoi.models.guidance.phantoms import Phantoms
from topoi.models.share_moments import DEVIATION_TYPE, Moments
from topoi.models.smoothed_counts import Cells, SmoothedCounts
from topoi.models.sources import Rows, TrainingDocument
from topoi.store.arrays import LastParts, get_array, get_rows, unpacked
from topoi.store.door import model_parameters, stored_json
from topoi.store.graph_rows import stored_dag
from topoi.store.queries import QUERIES
from topoi.store.store import Store
from topoi.store.topic_rows import DEVIATIONS, SHARE_TYPE, SHARES_AT_ONCE

_LARGEST_BETA = 1e30
_MISSING = "the paths of words are missing; load the model and save it again"


class Averaging(NamedTuple):
    """The chain of the rows, and the samples that they are means of; see ``topic_rows.averaging_parameters``."""

    chain: int = 0
    n_samples: int = 1
    n_kept: int = 0
    topic_sums: NDArray[np.int64] | None = None
    changed: tuple[list[int], ...] = ()


class StoredCounts:
    """Counts of the first chain of a model in a store; see ``topoi.models.contract.CountSource``.

    Parameters
    ----------
    store : Store
        The file.
    model_id, n_authors : int
        The model, and the number of authors it distinguishes (0 for LDA).
    settings : dict
        The model's settings.
    """

    def __init__(self, store: Store, model_id: int, n_authors: int, settings: dict[str, Any]) -> None:
        self._store, self._model_id, self.n_authors, self._settings = store, model_id, n_authors, settings
        # The document read last and its samples, for pages that ask several questions about it: whole tuples, which
        # threads may replace at any time.
        self._last_document: tuple[int, TrainingDocument] | None = None
        self._last_samples: tuple[TrainingDocument, list[Sample]] | None = None
        self._last_parts = LastParts()

    def damaged(self, what: str) -> StoreError:
        """An error that names the file."""
        return StoreError(f"{self._store.path}: {what}")

    def _query(self, query: str, **parameters: object) -> list[tuple[Any, ...]]:
        return self._store.rows(query, {"model": self._model_id, **parameters}, self._limits)

    @cached_property
    def _limits(self) -> dict[str, int]:
        """Numbers of topics, words, documents and authors, for checking rows that name them."""
        return self._store.sizes.limits | {"topic": len(self._topic_rows[0])}

    @cached_property
    def _topic_rows(self) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
        query = "SELECT topic, n_tokens, alpha, deviation FROM topic WHERE model_id = :model ORDER BY topic"
        rows = self._store.rows(query, {"model": self._model_id})
        if [row[0] for row in rows] != list(range(len(rows))) or not rows:
            raise self.damaged("the topics are not numbered from 0")
        alpha = np.array([row[2] for row in rows], np.float64)
        if not (alpha > 0).all():
            raise StoreError(f"{self._store.path} is damaged: alpha is not positive")
        return np.array([row[1] for row in rows], np.int64), alpha, self._spread([row[3] for row in rows])

    def _spread(self, values: Any) -> NDArray[np.float64]:
        """Standard deviations of shares, checked; none of numbers from 0 to 1 is above 1."""
        found = np.asarray(values, np.float64)
        if not ((found >= 0) & (found <= 1)).all():
            raise self.damaged("the deviations of shares are damaged")
        return found

    def size_deviations(self) -> NDArray[np.float64]:
        """Standard deviations of topics' shares of all words."""
        return self._topic_rows[2]

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
            raise self.damaged(f"the model's parameters are damaged ({error})") from error
        whole = sums.shape == (self.n_topics,) and (sums >= 0).all() and 0 <= chain
        if not whole or not 1 <= n <= MOST_SAMPLES or len(changed) != n - 1 or not n - 1 <= kept <= n:
            raise self.damaged("the model's parameters do not fit together")
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
        """Sum of alpha, as kernels read it."""
        return self._parameters["alpha_sum"]

    @property
    def beta_sum(self) -> float:
        """Sum of beta, as kernels read it."""
        return self._parameters["beta_sum"]

    @cached_property
    def beta(self) -> NDArray[np.float64]:
        """The Dirichlet parameter of each word."""
        beta = np.asarray(self.array(f"chain{self.index}_beta", (self._store.sizes.n_words,)), np.float64)
        if not ((beta > 0) & (beta < _LARGEST_BETA)).all():
            raise StoreError(f"{self._store.path} is damaged: beta is not always above zero and finite")
        return beta

    @cached_property
    def phantoms(self) -> Phantoms | None:
        """Prior of words in topics beyond beta, if the model was guided."""
        name = f"chain{self.index}_phantoms"
        rows = self._query("SELECT shape FROM array WHERE model_id = :model AND name = :name", name=name)
        if not rows:
            return None
        shape = re.fullmatch(r"\[(\d{1,9}), 3\]", str(rows[0][0]))
        if shape is None:
            raise self.damaged("the guidance of the topics is damaged")
        try:
            return Phantoms.from_array(self.array(name, (int(shape[1]), 3)), self._store.sizes.n_words, self.n_topics)
        except ModelError as error:
            raise self.damaged(str(error)) from error

    def array(self, name: str, shape: tuple[int | None, ...]) -> NDArray[Any]:
        """An array of the model, of a known shape; None for a length that is not known."""
        with self._store.connection() as connection:
            return get_array(connection, self._model_id, name, shape)

    def author_cells(self) -> Rows:
        """Nonzero topic counts of authors."""
        if not self.n_authors:
            return np.zeros(1, np.int64), np.zeros(0, np.int64), np.zeros(0, np.int64)
        return self._authors.sums

    def document_cells(self) -> Rows:
        """Nonzero topic counts of documents."""
        return self._documents.sums

    def document_mixtures(self) -> NDArray[np.float32]:
        """Mixtures of documents that do not follow from their counts, documents × topics."""
        query = "SELECT part, shares FROM document_share WHERE model_id = :model ORDER BY part"
        n_docs, rows = self._store.sizes.n_documents, self._query(query)
        parts = list(ranges(n_docs, SHARES_AT_ONCE))
        if [row[0] for row in rows] != list(range(len(parts))):
            raise self.damaged("the mixtures of documents are missing; load the model and save it again")
        sizes = [(part.stop - part.start) * self.n_topics for part in parts]
        with self._store.named():
            each = [_numbers(data, SHARE_TYPE, n) for (_, data), n in zip(rows, sizes, strict=True)]
        found = np.concatenate([np.zeros(0, np.float32), *each]).astype(np.float32).reshape(n_docs, self.n_topics)
        # Check here: a search adds them up.
        if not ((found >= 0) & (found <= 1)).all():
            raise self.damaged("the mixtures of documents are no probabilities")
        return found

    def document_moments(self, document: int) -> Moments:
        """Mixture of a document that does not follow from its counts, with deviations if the model knows them."""
        query = "SELECT shares, deviations FROM document_share WHERE model_id = :model AND part = :part"
        part, at = divmod(document, SHARES_AT_ONCE)
        rows = self._query(query, part=part)
        if not rows:
            raise self.damaged("the mixtures of documents are missing; load the model and save it again")
        n = min(self._store.sizes.n_documents - part * SHARES_AT_ONCE, SHARES_AT_ONCE)
        shares, spread = (
            None if blob is None else _numbers(blob, SHARE_TYPE, n * self.n_topics).reshape(n, self.n_topics)[at]
            for blob in rows[0]
        )
        if shares is None or not ((shares >= 0) & (shares <= 1)).all():
            raise self.damaged("the mixtures of documents are no probabilities")
        return Moments(shares.astype(np.float64), None if spread is None else self._spread(spread))

    def author_deviations(self) -> NDArray[np.float16]:
        """Standard deviations between samples of authors' shares, for the cells of ``author_cells``."""
        n_cells, blob = len(self.author_cells()[1]), self._author_mixture[1] if self.n_authors else None
        if blob is None:
            return np.zeros(n_cells, DEVIATION_TYPE)
        found = _numbers(blob, DEVIATIONS, n_cells)
        self._spread(found)
        return found.astype(DEVIATION_TYPE)

    def written_cells(self) -> tuple[Rows, NDArray[np.float16]]:
        """Nonzero topic counts of what authors wrote, and deviations of shares (``topoi.models.written``)."""
        written, blob = self._mixtures("written", self.n_authors)
        found = _numbers(blob, DEVIATIONS, len(written.sums[1]))
        self._spread(found)
        return written.sums, found.astype(DEVIATION_TYPE)

    @cached_property
    def _author_mixture(self) -> tuple[SmoothedCounts, Any]:
        return self._mixtures("author", self.n_authors)

    @property
    def _authors(self) -> SmoothedCounts:
        return self._author_mixture[0]

    @cached_property
    def _documents(self) -> SmoothedCounts:
        return self._mixtures("document", self._store.sizes.n_documents)[0]

    @cached_property
    def doc_start(self) -> NDArray[np.int64]:
        """Offset of each document's first token, then the end of the last document."""
        return np.concatenate(([0], np.cumsum(np.rint(self._documents.totals)))).astype(np.int64)

    def _mixtures(self, kind: str, n_rows: int) -> tuple[SmoothedCounts, Any]:
        """Counts, and deviations of shares as they are in the file."""
        query = """
            SELECT n_rows, row_start, topic AS topic_blob, n_tokens AS n_tokens_blob, deviation AS deviation_blob
            FROM mixture WHERE model_id = :model AND kind = :kind"""
        rows = self._query(query, kind=kind)
        if not rows:
            raise self.damaged(f"the mixtures of the kind {kind!r} are missing; load the model and save it again")
        n, starts, topics, numbers, deviations = rows[0]
        if n != n_rows:
            raise self.damaged(f"mixtures of {n} rows, where there are {n_rows}")
        start = _numbers(starts, "<i8", n_rows + 1)
        n_cells = int(start[-1])
        whole = start[0] == 0 and (np.diff(start) >= 0).all() and n_cells <= n_rows * self.n_topics
        topic = _numbers(topics, "<u2", n_cells if whole else 0)
        number = _numbers(numbers, "<u4", n_cells if whole else 0)
        if not whole or topic.max(initial=0) >= self.n_topics:
            raise self.damaged(f"the mixtures of the kind {kind!r} do not fit together")
        return SmoothedCounts(start, topic, number, self.alpha, self.n_samples), deviations

    def topic_cells(self) -> Rows:
        """Nonzero word counts of topics; reads a million rows or more."""
        if self.n_samples > 1:
            start, topic, sums = self._words.sums
            order = np.argsort(topic, kind="stable")
            word = np.repeat(np.arange(len(start) - 1), np.diff(start))[order]
            return np.searchsorted(topic[order], np.arange(self.n_topics + 1)), word, sums[order]
        table = np.concatenate([np.zeros((0, 3), np.int64), *self._table_blocks()])
        table = table[np.lexsort((table[:, 1], table[:, 0]))]
        return np.searchsorted(table[:, 0], np.arange(self.n_topics + 1)), table[:, 1], table[:, 2]

    def _table_blocks(self) -> Iterator[NDArray[np.int64]]:
        """Topics, words and numbers of tokens, in blocks of rows."""
        query = "SELECT topic, word_id, n_tokens FROM topic_word WHERE model_id = :model"
        for rows in self._store.blocks(query, {"model": self._model_id}, self._limits):
            yield np.array(rows, np.int64)

    def word_blocks(self) -> Iterator[Cells]:
        """Nonzero topic counts of words, in blocks."""
        if self.n_samples > 1:
            yield from self._words.cell_blocks()
            return
        for table in self._table_blocks():
            yield table[:, 1], table[:, 0], table[:, 2].astype(np.float64)

    @cached_property
    def _words(self) -> SmoothedCounts:
        """Sparse topic counts of the words; the table ``topic_word`` has them rounded."""
        return self._mixtures("word", len(self.beta))[0]

    def word_rows(self, words: object) -> NDArray[np.float64]:
        """Tokens of some words per topic, words × topics: means over the samples; the words must be distinct."""
        if self.n_samples > 1:
            return self._words.counts(np.asarray(words, np.int64))
        known, place = np.unique(np.asarray(words, np.int64), return_inverse=True)
        query = """
            SELECT word_id, topic, n_tokens FROM topic_word
            WHERE model_id = :model AND word_id IN (SELECT value FROM json_each(:words))"""
        table = np.array(self._query(query, words=json.dumps(known.tolist())), np.int64).reshape(-1, 3)
        counts = np.zeros((len(known), self.n_topics))
        counts[np.searchsorted(known, table[:, 0]), table[:, 1]] = table[:, 2]
        return counts[place]

    def author_rows(self, authors: NDArray[np.int64]) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """Tokens of some authors per topic (authors × topics) and in all: means over the samples."""
        if self.n_samples > 1:
            return self._authors.counts(authors), self._authors.totals[authors]
        query = """
            SELECT author_id, topic, n_tokens FROM author_topic
            WHERE model_id = :model AND author_id IN (SELECT value FROM json_each(:authors))"""
        known = np.unique(authors)
        table = np.array(self._query(query, authors=json.dumps(known.tolist())), np.int64).reshape(-1, 3)
        counts = np.zeros((len(known), self.n_topics))
        counts[np.searchsorted(known, table[:, 0]), table[:, 1]] = table[:, 2]
        rows = counts[np.searchsorted(known, authors)]
        return rows, rows.sum(axis=1)

    def _checked(self, topics: NDArray[Any]) -> NDArray[Any]:
        if len(topics) and not (0 <= topics.min() and topics.max() < self.n_topics):
            raise self.damaged("a table names a topic that is not there")
        return topics

    def words_before(self, word: int, topics: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
        """Number of words that rank before a word in some topics, by probability, ties by the word's number."""
        wanted = np.arange(self.n_topics) if topics is None else np.asarray(topics, np.int64)
        query = """
            SELECT t.topic,
                (SELECT count(*) FROM topic_word AS o INDEXED BY topic_word_by_topic
                 WHERE o.model_id = :model AND o.topic = t.topic AND o.probability > coalesce(w.probability, -1.0))
                    AS n_before,
                (SELECT count(*) FROM topic_word AS o INDEXED BY topic_word_by_topic
                 WHERE o.model_id = :model AND o.topic = t.topic AND o.probability = w.probability
                    AND o.word_id < :word) AS n_same,
                w.n_tokens IS NULL AS absent,
                (SELECT count(*) FROM topic_word AS o INDEXED BY topic_word_by_topic
                 WHERE w.n_tokens IS NULL AND o.model_id = :model AND o.topic = t.topic AND o.word_id < :word)
                    AS n_lacking
            FROM json_each(:topics) AS i CROSS JOIN topic AS t ON t.model_id = :model AND t.topic = i.value
            LEFT JOIN topic_word AS w ON w.model_id = t.model_id AND w.word_id = :word AND w.topic = t.topic
            ORDER BY i.key"""
        found = self._query(query, word=int(word), topics=json.dumps(wanted.tolist()))
        if len(found) != len(wanted):
            raise self.damaged("a topic is missing")
        table = np.array(found, np.int64).reshape(-1, 5)
        _, more, same, absent, before = table.T
        # A word that a topic lacks ranks after all that it has and, among those it lacks, by number.
        return np.asarray(more + same + absent * (word - before))

    @cached_property
    def _parameters(self) -> dict[str, float]:
        rows = self._query("SELECT parameters FROM model WHERE model_id = :model")
        try:
            return model_parameters(rows[0][0] if rows else None)
        except StoreError as error:
            raise self.damaged(f"{error}") from error

    def document(self, number: int) -> TrainingDocument:
        """A training document with its last sample; without paths if the file lacks them."""
        kept = self._last_document
        if kept is None or kept[0] != number:
            self._last_document = kept = int(number), self._read_document(number)
        return kept[1]

    def _read_document(self, number: int) -> TrainingDocument:
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
            document = self._document(*rows[0])._replace(number=int(number))
        except (TypeError, ValueError, IndexError) as error:
            raise self.damaged(f"document {number} is damaged ({error})") from error
        if not self.has_graph:
            return document
        query = "SELECT paths FROM document_path WHERE model_id = :model AND document_id = :document"
        paths = self._query(query, document=int(number))
        if not paths:
            return document
        topic = document.assignments.topic
        return document._replace(paths=self._checked_paths(topic, [paths[0][0]], np.array([len(topic)])))

    def _n_slots(self, n_authors: int) -> int:
        """Number of possible authors of a document; the one after the named authors is its private author."""
        return n_authors + (bool(self._settings.get("fictitious_authors", False)) or not n_authors)

    def samples(self, first: int, last: int) -> list[Sample]:
        """All samples of the tokens of documents ``first`` to ``last``, the last sample last."""
        if last - first == 1:
            return self.document_samples(self._of_its_length(first))
        return self._samples_between(first, last, self._last_paths(first, last), 1)

    def _of_its_length(self, number: int) -> TrainingDocument:
        """A document with as many words as its row says: kernels read that many topics, and do not check."""
        document = self.document(number)
        if len(document.assignments.topic) != self.doc_start[number + 1] - self.doc_start[number]:
            raise self.damaged(f"document {number} has more words, or fewer, than its length")
        return document

    def document_samples(self, document: TrainingDocument) -> list[Sample]:
        """All samples of a training document's tokens, the last sample last."""
        kept = self._last_samples
        if kept is None or kept[0] is not document:
            self._last_samples = kept = document, self._read_samples(document)
        return kept[1]

    def _read_samples(self, document: TrainingDocument) -> list[Sample]:
        newest: Sample = {"topic": document.assignments.topic}
        if self.has_graph:
            if document.paths is None:
                raise self.damaged(_MISSING)
            newest["path"] = document.paths
        elif self.n_authors:
            newest["slot"] = document.assignments.slot
        n_slots = self._n_slots(len(document.authors))
        return self._samples_between(document.number, document.number + 1, newest, n_slots)

    def topic_samples(self, first: int, last: int) -> list[NDArray[Any]]:
        """Topics of the tokens of documents ``first`` to ``last`` in all samples, the last sample last."""
        if last - first == 1:
            return [sample["topic"] for sample in self.document_samples(self._of_its_length(first))]
        query = """
            SELECT topics FROM document_assignment
            WHERE model_id = :model AND document_id >= :first AND document_id < :last ORDER BY document_id"""
        rows = self._query(query, first=first, last=last)
        newest: Sample = {"topic": self._last_topics(first, last, [row[0] for row in rows])}
        return [sample["topic"] for sample in self._samples_between(first, last, newest, 1)]

    def _last_topics(self, first: int, last: int, blobs: list[Any]) -> NDArray[np.uint16]:
        """Topics of the words of several documents in the last sample, checked."""
        if not all(isinstance(each, bytes) and len(each) % 2 == 0 for each in blobs):
            raise self.damaged("the topics of words are damaged")
        if [len(each) // 2 for each in blobs] != np.diff(self.doc_start[first : last + 1]).tolist():
            raise self.damaged("documents have more words, or fewer, than their topics")
        topic = np.frombuffer(b"".join(blobs), "<u2").astype(np.uint16)
        self._checked(topic)
        return topic

    def _last_paths(self, first: int, last: int) -> Sample:
        """The last sample of several documents of a model with a graph."""
        query = """
            SELECT a.topics, p.paths FROM document_assignment AS a JOIN document_path AS p
                ON p.model_id = a.model_id AND p.document_id = a.document_id
            WHERE a.model_id = :model AND a.document_id >= :first AND a.document_id < :last ORDER BY a.document_id"""
        rows = self._query(query, first=first, last=last)
        if len(rows) != last - first:
            raise self.damaged(_MISSING)
        topic = self._last_topics(first, last, [each for each, _ in rows])
        n_tokens = np.diff(self.doc_start[first : last + 1])
        return {"topic": topic, "path": self._checked_paths(topic, [blob for _, blob in rows], n_tokens)}

    def _samples_between(self, first: int, last: int, newest: Sample, n_slots: int) -> list[Sample]:
        if self.n_samples == 1:
            return [newest]
        begin, end = (int(self.doc_start[d]) for d in (first, last))
        shape = int(self.doc_start[-1]), self._averaging.n_kept
        if end - begin != len(newest["topic"]):
            raise self.damaged("the topics of words are damaged")
        with self._store.connection() as connection:
            names = [f"chain{self.index}_samples_{name}" for name in newest]
            found = get_rows(connection, self._model_id, names, shape, range(begin, end), self._last_parts)
            tables = dict(zip(newest, found, strict=True))
        samples = []
        for i, topics in enumerate(self._averaging.changed):
            sample = {name: table[:, i] for name, table in tables.items()}
            self._check_sample(sample, n_slots)
            samples.append(settled(sample, newest, topics))
        return [*samples, newest]

    def _check_sample(self, sample: Sample, n_slots: int) -> None:
        """Raise an error for unknown topics, authors or paths: kernels do not check bounds."""
        self._checked(sample["topic"])
        if "slot" in sample and int(sample["slot"].max(initial=0)) >= n_slots:
            raise self.damaged("a document has fewer authors than its samples say")
        if "path" in sample and not self._is_path(sample["topic"], sample["path"]):
            raise self.damaged("a word came by a path that is not in the graph; it is damaged")

    # The graph, if topics are its nodes.

    @cached_property
    def has_graph(self) -> bool:
        """Whether the file has a graph of the model's topics."""
        return bool(self._query("SELECT EXISTS (SELECT 1 FROM dag_node WHERE model_id = :model) AS is_there")[0][0])

    def graph(self) -> tuple[Dag, NDArray[np.float64]]:
        """The graph, checked, and the Dirichlet parameter of each edge."""
        edges = self._graph[1]
        try:
            return self._graph[0], np.array([row[3] for row in edges], np.float64)
        except (TypeError, ValueError) as error:
            raise self.damaged(f"the graph is damaged ({error})") from error

    @cached_property
    def _graph(self) -> tuple[Dag, list[Any]]:
        nodes, edges = (self._query(QUERIES[name], model_id=self._model_id) for name in ("nodes", "edges"))
        return stored_dag(self._store.path, self._settings, nodes, edges, self.n_topics), edges

    @cached_property
    def _arrays(self) -> Graph:
        return make_graph(self._graph[0])

    def _is_path(self, topic: NDArray[Any], path: NDArray[Any]) -> bool:
        """Whether these paths lead to these topics."""
        return not (path >= self._arrays.n_paths[self._arrays.topic_node[topic]]).any()

    def _checked_paths(self, topic: NDArray[Any], blobs: list[Any], n_tokens: NDArray[Any]) -> NDArray[np.uint32]:
        """Paths of the words of some documents, whose topics are given, checked."""
        width = path_bytes(self._arrays)
        sizes = [len(blob) if isinstance(blob, bytes) else -1 for blob in blobs]
        if sizes != (n_tokens * width).tolist():
            raise self.damaged("the paths of words do not fit their topics; they are damaged")
        path = np.frombuffer(b"".join(blobs), f"<u{width}").astype(np.uint32)
        if not self._is_path(topic, path):
            raise self.damaged("a word came by a path that is not in the graph; it is damaged")
        return path

    def _document(self, words: Any, starts: Any, lengths: Any, *rest: Any) -> TrainingDocument:
        n_tokens, topics, positions, listed = rest
        sizes = self._store.sizes
        word_bytes, start_bytes, length_bytes = sizes.word_id_bytes, sizes.start_bytes, sizes.length_bytes
        if len(words) != n_tokens * word_bytes or topics is None:
            raise ValueError("it has more words, or fewer, than it says")
        tokens = np.frombuffer(words, f"<u{word_bytes}").astype(np.int32)
        topic = np.frombuffer(topics, "<u2").astype(np.uint16)
        authors = np.array(read_json(listed, [int]) if self.n_authors else [], np.int64)
        slot = np.zeros(len(tokens), np.uint16)
        if positions is not None:
            width = 2 if len(positions) == 2 * len(tokens) and len(tokens) else 1
            slot = np.frombuffer(positions, f"<u{width}").astype(np.uint16)
        # Check here: kernels do not check bounds.
        n_slots = self._n_slots(len(authors))
        if not (len(topic) == len(slot) == len(tokens) == n_tokens) or int(slot.max(initial=0)) >= n_slots:
            raise ValueError("its tokens and their assignments do not fit together")
        if len(authors) and not (0 <= authors.min() and authors.max() < self.n_authors):
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
        return TrainingDocument(tokens, start, end, Assignments(topic, slot), authors)


def _numbers(packed: object, dtype: str, n: int) -> NDArray[Any]:
    return np.frombuffer(unpacked(packed, n * np.dtype(dtype).itemsize, "mixture"), dtype)
