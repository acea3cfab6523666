"""Frames that follow from the edges of a graph alone, for fitted models and for models in a store."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from topoi.errors import ModelError
from topoi.models.dag import WORDS, Dag
from topoi.models.ranking import ranked
from topoi.models.validation import whole_number


class NodeDocuments(NamedTuple):
    """Documents, their words with paths through a node, and the posterior mean share of such words."""

    document: NDArray[np.int64]
    n_words: NDArray[np.int64]
    share: NDArray[np.float64]


class GraphFrames:
    """Super-topics and pruning; a class with this mixin provides the graph, its edges and words."""

    dag_: Dag

    def edges(self) -> pd.DataFrame:
        """Every edge with its Dirichlet parameter: parent, child, topic, alpha, share, n_words."""
        raise NotImplementedError  # abstract: from a sample, or from rows

    def node_labels(self, n_words: int = 3) -> dict[str, str]:
        """A short label for every node but the root."""
        raise NotImplementedError  # abstract: from a sample, or from rows

    def _top_words(self, n: int) -> list[str]:
        """Most probable words of each topic."""
        raise NotImplementedError  # abstract: from a sample, or from rows

    @property
    def super_nodes(self) -> NDArray[np.int64]:
        """Numbers of the super-topics: nodes with children, without the root."""
        return np.array([v for v, name in enumerate(self.dag_.nodes) if v and self.dag_.children(name)], np.int64)

    def super_topics(self, n: int = 10, n_words: int = 3) -> pd.DataFrame:
        """Strongest children of each super-topic: super_topic, rank, child, topic, alpha, share, n_words, label, words.

        A super-topic is an inner node below the root. ``label`` consists of words that distinguish the super-topic from
        the others, ``words`` are the child's most probable.

        Parameters
        ----------
        n : int
            Number of children per super-topic, ranked by alpha.
        n_words : int
            Number of words in labels.

        Examples
        --------
        >>> import topoi
        >>> corpus = topoi.Corpus.from_tokens([["sun", "star"], ["cell", "gene"]] * 10)
        >>> model = topoi.PachinkoAllocation(2, 2, n_iter=30, random_state=0).fit(corpus)
        >>> model.super_topics(1)["super_topic"].tolist()
        ['super 0', 'super 1']
        """
        whole_number("n", n)
        edges = self.edges()
        labels = self.node_labels(n_words)
        below = edges[edges["parent"] != self.dag_.root]
        frame = below.sort_values("alpha", ascending=False, kind="stable").groupby("parent", sort=False).head(n)
        order = {name: i for i, name in enumerate(self.dag_.nodes)}
        frame = frame.sort_values("parent", key=lambda column: column.map(order), kind="stable", ignore_index=True)
        frame = frame.rename(columns={"parent": "super_topic"})
        frame["label"] = frame["super_topic"].map(labels)
        tops = self._top_words(n_words)
        pairs = zip(frame["topic"], frame["child"], strict=True)
        frame["words"] = [tops[k] if pd.notna(k) else labels[child] for k, child in pairs]
        return ranked(frame, "super_topic")

    def pruned_dag(self, min_share: float = 0.01) -> Dag:
        """The graph reduced to its important edges, as a structure to fit again.

        An edge stays if its alpha is at least ``min_share`` of its parent's sum. The root's edges stay, every node
        keeps its strongest child, and every node that would lose all parents keeps the strongest. Nodes keep their
        order, and so topics their ids, as long as their levels stay.

        Parameters
        ----------
        min_share : float
            From 0 (nothing is pruned) to 1.

        Examples
        --------
        >>> import topoi
        >>> corpus = topoi.Corpus.from_tokens([["sun", "star"], ["cell", "gene"]] * 10)
        >>> model = topoi.PachinkoAllocation(2, 2, n_iter=30, random_state=0).fit(corpus)
        >>> sparse = topoi.PachinkoAllocation(dag=model.pruned_dag(0.2), n_iter=30, random_state=0).fit(corpus)
        >>> sparse.dag_.topics
        ('sub 0', 'sub 1')
        """
        if not 0.0 <= min_share <= 1.0:
            raise ModelError(f"min_share is {min_share!r}; it must be between 0 and 1")
        edges = self.edges()
        strongest_child = edges.groupby("parent", sort=False)["share"].transform("max") == edges["share"]
        kept = (edges["share"] >= min_share) | strongest_child | (edges["parent"] == self.dag_.root)
        pairs = set(zip(edges["parent"][kept], edges["child"][kept], strict=True))
        reached = {child for _, child in pairs}
        for child, ways in edges.groupby("child", sort=False):
            if child not in reached and child != WORDS:
                pairs.add((ways["parent"].iloc[int(ways["share"].to_numpy().argmax())], child))
        place = {name: v for v, name in enumerate((*self.dag_.nodes, WORDS))}
        return Dag.from_edges(sorted(pairs, key=lambda edge: (place[edge[1]], place[edge[0]])))
