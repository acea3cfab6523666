"""A model in a store whose topics are nodes of a graph: frames about the graph, read by SQL."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from topoi.errors import StoreError
from topoi.models.dag import WORDS, Dag
from topoi.models.graph import GraphFrames, NodeDocuments, slot_children, telling_words
from topoi.models.periods import Trend
from topoi.models.ranking import N_RANKED, N_WORDS, largest
from topoi.models.share_moments import Moments
from topoi.models.smoothed_counts import whole_tokens
from topoi.models.validation import whole_number
from topoi.store.door import stored_json
from topoi.store.graph_rows import stored_dag
from topoi.store.view import ModelView


class GraphView(ModelView, GraphFrames):
    """A fitted model in a store whose topics are nodes of a graph; made by ``topoi.view``."""

    def _node_rows(self) -> list[Any]:
        rows = self.rows("nodes")
        if not rows:
            raise StoreError(f"{self.store.path}: the graph is missing; load the model and save it again")
        return rows

    @cached_property
    def dag_(self) -> Dag:  # type: ignore[override]
        """The graph."""
        return stored_dag(self.store.path, self.settings, self._node_rows(), self.rows("edges"), self.n_topics)

    def edges(self) -> pd.DataFrame:
        """Every edge with its Dirichlet parameter, as in a fitted model's ``edges``.

        Examples
        --------
        >>> import pathlib, tempfile, topoi
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.topoi"
        >>> topoi.PachinkoAllocation(1, 2, n_iter=5, random_state=0).fit([[1, 2], [2, 1]]).save(path)
        >>> topoi.view(path).edges()["child"].tolist()
        ['super 0', 'sub 0', 'sub 1']
        """
        dag = self.dag_
        pairs = [(name, child) for name, below in slot_children(dag).items() for child in below]
        topic = {name: k for k, name in enumerate(dag.topics)}
        _, _, _, alpha, share, n_tokens = zip(*self.rows("edges"), strict=True)
        ids = [topic.get(parent if child == WORDS else child) for parent, child in pairs]
        return pd.DataFrame(
            {
                "parent": [parent for parent, _ in pairs],
                "child": [child for _, child in pairs],
                "topic": pd.array(ids, dtype="Int64"),
                "alpha": np.array(alpha, np.float64),
                "share": np.array(share, np.float64),
                "n_words": np.array(n_tokens, np.int64),
            }
        )

    def _node_sizes(self) -> tuple[NDArray[np.int64], Moments]:
        _, _, _, _, _, n_tokens, share, _, _, _, deviation = zip(*self._node_rows(), strict=True)
        return np.array(n_tokens, np.int64), Moments(np.array(share, np.float64), np.array(deviation, np.float64))

    def node_labels(self, n_words: int | None = None) -> dict[str, str]:
        """A short label for every node but the root, as in a fitted model's ``node_labels``.

        Examples
        --------
        >>> import pathlib, tempfile, topoi
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.topoi"
        >>> corpus = topoi.Corpus.from_tokens([["sun", "sun", "star"]] * 10)
        >>> topoi.PachinkoAllocation(1, 1, n_iter=5, random_state=0).fit(corpus).save(path)
        >>> topoi.view(path).node_labels(1)
        {'super 0': 'sun', 'sub 0': 'sun'}
        """
        rows = self._node_rows()[1:]
        if n_words is None:
            own = self.topic_labels()
            return {row[1]: row[8] if row[4] or row[3] is None else own[row[3]] for row in rows}
        wanted = whole_number("n_words", n_words)
        if wanted > N_WORDS:
            return self._long_labels(wanted)
        with self.store.named():
            words = [stored_json(row[9], "the list of a node's words", "words") for row in rows]
        return {row[1]: " ".join(listed[:wanted]) for row, listed in zip(rows, words, strict=True)}

    def _long_labels(self, n: int) -> dict[str, str]:
        """Labels of more words than the rows have, computed from all counts."""
        alpha = self.edges()["alpha"].to_numpy()
        topic_word = self._first.topics.shares(np.arange(self.n_topics))
        best = telling_words(self.dag_, alpha, topic_word, self._first.topic_totals, n)
        words = self.vocabulary_.words
        return {name: " ".join(words[row]) for name, row in zip(self.dag_.nodes[1:], best, strict=True)}

    def _top_words(self, n: int) -> list[str]:
        lists = []
        for topic in range(self.n_topics):
            listed = [row[1] for row in self.rows("topic_words", topic=topic, n=n)]
            if len(listed) < n:
                # Rows leave out words of which the topic has less than half a token.
                listed = self.vocabulary_.words[largest(self._first.topics.shares([topic]), n)[0]].tolist()
            lists.append(" ".join(map(str, listed)))
        return lists

    def leading_documents(self, node: int, n: int) -> NodeDocuments:
        """Documents with the largest share of a node, among those with a word whose path leads there."""
        known = self._node_rows()[node]
        if known[4]:
            found = [row[:1] + row[4:] for row in self.rows("node_documents", node=node, n=n)]
        elif n <= N_RANKED:
            found = [row[1:2] + row[5:] for row in self.rows("topic_documents", topic=known[3], n=n)]
        else:
            number = whole_tokens(self._first.documents.column(known[3]))
            share = self._first.topic_shares(known[3])
            doc = np.flatnonzero(number)
            best = doc[np.argsort(-share[doc], kind="stable")[:n]]
            return NodeDocuments(best, number[best], share[best])
        return NodeDocuments(*_columns(found))

    def nodes_of_document(self, document: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
        """Super-topics of a training document, with the numbers of words through them, and shares."""
        inner = self.super_nodes
        node, number, share = _columns(self.rows("document_nodes", document_id=document, n=-1))
        if not np.isin(node, inner).all():
            raise StoreError(f"{self.store.path}: a table names a node that is not there")
        order = np.argsort(node, kind="stable")
        return node[order], number[order], share[order]

    def yearly_node_shares(self, by: str) -> Trend:
        """Words through each super-topic by year or decade, and their shares with intervals."""
        return self._trend("node", by, self.super_nodes)


def _columns(rows: list[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Rows of a number, a count and a share, as arrays."""
    first, second, third = list(zip(*rows, strict=True)) or [(), (), ()]
    return np.array(first, np.int64), np.array(second, np.int64), np.array(third, np.float64)
