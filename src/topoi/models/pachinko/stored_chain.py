"""A chain of the pachinko family in a store, with the methods of a ``PachinkoPosterior``."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.engine.samples import Sample
from topoi.errors import StoreError
from topoi.kernels.counts import Counts, Documents, Priors
from topoi.kernels.lanes import padded
from topoi.models.mixtures import blocks
from topoi.models.pachinko.equations import Paths
from topoi.models.pachinko.graph import Graph, four_level_widths, make_graph, path_bytes
from topoi.models.pachinko.inference import document_topics, sample_document, start_document
from topoi.models.pachinko.state import make_priors
from topoi.models.pachinko.stored_graph import stored_dag
from topoi.models.stored.chain import StoredDocument
from topoi.models.stored.sampled_chain import SampledChain
from topoi.store.queries import QUERIES
from topoi.store.store import Store

_MISSING = "the paths of words are missing; load the model and save it again"


class StoredChain(SampledChain):
    """The first chain of a model in a store; see ``topoi.models.pachinko.posterior.PachinkoPosterior``.

    Parameters
    ----------
    store : Store
        The file.
    model_id, n_authors : int
        The model; it has no authors.
    settings : dict
        The model's settings.
    """

    def __init__(self, store: Store, model_id: int, n_authors: int, settings: dict[str, Any]) -> None:
        super().__init__(store, model_id, n_authors, settings)
        self._settings = settings

    @cached_property
    def can_sample(self) -> bool:  # type: ignore[override]
        """Whether the file has the graph; a damaged one may lack it."""
        return bool(self._query("SELECT EXISTS (SELECT 1 FROM dag_node WHERE model_id = :model) AS is_there")[0][0])

    @cached_property
    def _structure(self) -> tuple[Graph, int, Priors]:
        """The graph as kernels read it, the number of super-topics of the four-level model (else 0), and the priors."""
        nodes, edges = (self._query(QUERIES[name], model_id=self._model_id) for name in ("nodes", "edges"))
        dag = stored_dag(self._store.path, self._settings, nodes, edges, self.n_topics)
        try:
            alpha = np.array([row[3] for row in edges], np.float64)
        except (TypeError, ValueError) as error:
            raise StoreError(f"{self._store.path}: the graph is damaged ({error})") from error
        if not ((alpha > 0) & (alpha < np.finfo(np.float32).max)).all():
            raise StoreError(f"{self._store.path}: the graph is damaged: alpha is above zero and finite")
        widths = four_level_widths(dag)
        graph = make_graph(dag)
        return graph, widths[0] if widths else 0, make_priors(graph, alpha, self.beta)

    def document(self, number: int) -> StoredDocument:
        """A training document with its stored sample; without paths if the file lacks them."""
        document = super().document(number)
        query = "SELECT paths FROM document_path WHERE model_id = :model AND document_id = :document"
        rows = self._query(query, document=int(number))
        if not rows:
            return document
        topic = document.assignments.topic
        return document._replace(paths=self._checked_paths(topic, [rows[0][0]], np.array([len(topic)])))

    def _checked_paths(self, topic: NDArray[Any], blobs: list[Any], n_tokens: NDArray[Any]) -> NDArray[np.uint32]:
        """Paths of the words of some documents, whose topics are given, checked."""
        graph = self._structure[0]
        width = path_bytes(graph)
        sizes = [len(blob) if isinstance(blob, bytes) else -1 for blob in blobs]
        if sizes != (n_tokens * width).tolist():
            raise StoreError(f"{self._store.path}: the paths of words do not fit their topics; they are damaged")
        path = np.frombuffer(b"".join(blobs), f"<u{width}").astype(np.uint32)
        if (path >= graph.n_paths[graph.topic_node[topic]]).any():
            raise StoreError(f"{self._store.path}: a word came by a path that is not in the graph; it is damaged")
        return path

    def _stored_assignments(self, document: StoredDocument) -> Paths:
        if document.paths is None:
            raise StoreError(f"{self._store.path}: {_MISSING}")
        return Paths(document.assignments.topic, document.paths)

    def _last_sample(self, document: StoredDocument) -> Sample:
        return self._stored_assignments(document)._asdict()

    def _check_sample(self, sample: Sample, n_slots: int) -> None:
        graph = self._structure[0]
        if (sample["path"] >= graph.n_paths[graph.topic_node[self._checked(sample["topic"])]]).any():
            raise StoreError(f"{self._store.path}: a word came by a path that is not in the graph; it is damaged")

    def _private(self, authors: NDArray[np.int64]) -> bool:
        return True

    def _start(self, small: Documents, rows: Counts, stream: NDArray[np.uint64]) -> Paths:
        n = len(small.tokens)
        paths = Paths(np.zeros(n, np.uint16), np.zeros(n, np.uint32))
        start_document(small, self._structure[0], paths, rows, stream)
        return paths

    def _run(self, small: Documents, assignments: Any, wanted: NDArray[Any], rows: Counts, *rest: Any) -> None:
        graph, n_super, _ = self._structure
        priors, *outputs = rest
        sample_document(small, assignments, wanted, rows, priors, graph, n_super, *outputs)

    def _local_problem(
        self, tokens: NDArray[Any], authors: NDArray[np.int64], private: bool, weighted: bool
    ) -> tuple[Documents, Counts, Priors]:
        nobody = np.zeros((1, padded(self.n_topics)), np.float32)
        slots, weight = np.zeros(1, np.int32), np.ones(1, np.float32)
        small, counts, beta = self._local_rows(tokens, slots, weight, nobody, np.zeros(1))
        return small, counts, self._structure[2]._replace(beta=beta)

    # Mixtures: posterior means summed over paths.

    def document_shares(self, document: int) -> NDArray[np.float64]:
        """Topic shares of one training document."""
        stored = self.document(document)
        first = int(self._doc_start[document]) if self.n_samples > 1 else 0
        return self._shares(self._stored_assignments(stored), np.array([0, len(stored.tokens)]), first)[0]

    def topic_shares(self, topic: int) -> NDArray[np.float64]:
        """Share of a topic in every training document; reads the paths of all words."""
        n_docs = self._store.sizes.n_documents
        query = """
            SELECT a.topics, p.paths FROM document_assignment AS a JOIN document_path AS p
                ON p.model_id = a.model_id AND p.document_id = a.document_id
            WHERE a.model_id = :model AND a.document_id >= :first AND a.document_id < :last ORDER BY a.document_id"""
        share = np.empty(n_docs)
        for part in blocks(n_docs):
            rows = self._query(query, first=part.start, last=part.stop)
            if len(rows) != part.stop - part.start:
                raise StoreError(f"{self._store.path}: {_MISSING}")
            if not all(isinstance(each, bytes) and len(each) % 2 == 0 for each, _ in rows):
                raise StoreError(f"{self._store.path}: the topics of words are damaged")
            n_tokens = np.array([len(each) // 2 for each, _ in rows])
            topic_of = np.frombuffer(b"".join(each for each, _ in rows), "<u2").astype(np.uint16)
            self._checked(topic_of)
            paths = Paths(topic_of, self._checked_paths(topic_of, [blob for _, blob in rows], n_tokens))
            start = np.concatenate(([0], np.cumsum(n_tokens)))
            first = int(self._doc_start[part.start]) if self.n_samples > 1 else 0
            share[part] = self._shares(paths, start, first)[:, topic]
        return share

    def _shares(self, last: Paths, start: NDArray[np.int64], first: int) -> NDArray[np.float64]:
        """Shares of some documents, means over the samples; ``last`` are their last paths, from token ``first`` on."""
        n_docs, nothing = len(start) - 1, np.zeros(0, np.int32)
        documents = Documents(
            nothing, start, np.zeros(n_docs, np.int32), np.arange(n_docs + 1), np.ones(n_docs, np.float32)
        )
        samples = [last._asdict()]
        if self.n_samples > 1:
            samples = self._samples_between(first, first + len(last.topic), samples[0], 1)
        graph, _, priors = self._structure
        total, shares = np.zeros((n_docs, self.n_topics)), np.zeros((n_docs, self.n_topics))
        for sample in samples:
            paths = Paths(sample["topic"].astype(np.uint16), sample["path"].astype(np.uint32))
            document_topics(documents, paths, priors, graph, shares)
            total += shares
        return total / len(samples)
