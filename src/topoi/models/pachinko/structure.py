"""What a fitted pachinko model says about its graph: edges with alpha, super-topics, mixtures at nodes, pruning."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from topoi.corpus.vocabulary import Vocabulary
from topoi.errors import ModelError
from topoi.models.pachinko.dag import WORDS, Dag
from topoi.models.pachinko.graph import slot_children
from topoi.models.pachinko.inference import document_nodes
from topoi.models.pachinko.posterior import PachinkoPosterior
from topoi.models.pachinko.statistics import slot_counts
from topoi.models.ranking import largest, ranked
from topoi.models.validation import whole_number

# Labels favour words that tell a node from the rest (Sievert and Shirley 2014).
_RELEVANCE = 0.6


class Structure:
    """Frames about the graph of a fitted pachinko model (first chain); mixed into the estimator."""

    dag_: Dag
    vocabulary_: Vocabulary
    _sampler: Any

    @property
    def _first(self) -> PachinkoPosterior:
        raise NotImplementedError  # abstract: the first chain, or an error if there is none yet

    def edges(self) -> pd.DataFrame:
        """Every edge with its Dirichlet parameter: parent, child, topic, alpha, share, n_words.

        ``topic`` is the child's topic id (missing for a child that draws no words); ``share`` is alpha over the sum
        of the parent's; ``n_words`` how many of the training corpus's words took the edge. "Draw a word here" of an
        inner node is an edge to ``topoi.WORDS``, with the node's own topic id.

        Examples
        --------
        >>> import topoi
        >>> corpus = topoi.Corpus.from_tokens([["a", "b"], ["c", "d"]] * 5)
        >>> model = topoi.PachinkoAllocation(1, 2, n_iter=5, random_state=0).fit(corpus)
        >>> int(model.edges()["n_words"].sum())
        40
        """
        first = self._first
        pairs = [(name, child) for name, below in slot_children(self.dag_).items() for child in below]
        topic = {name: k for k, name in enumerate(self.dag_.topics)}
        slots, numbers, _, _ = slot_counts(self._sampler.documents, first.assignments, first.graph)
        sums = np.repeat(np.asarray(first.priors.alpha_sum), np.diff(first.graph.slot_start))
        ids = [topic.get(parent if child == WORDS else child) for parent, child in pairs]
        return pd.DataFrame(
            {
                "parent": [parent for parent, _ in pairs],
                "child": [child for _, child in pairs],
                "topic": pd.array(ids, dtype="Int64"),
                "alpha": first.edge_alpha,
                "share": first.edge_alpha / sums,
                "n_words": np.bincount(slots, numbers, len(pairs)).astype(np.int64),
            }
        )

    def super_topics(self, n: int = 10, n_words: int = 3) -> pd.DataFrame:
        """Each super-topic's strongest children: super_topic, rank, child, topic, alpha, share, n_words, label, words.

        A super-topic is an inner node below the root. ``label`` is made of words that tell the super-topic from the
        others, ``words`` are the child's most probable.

        Parameters
        ----------
        n : int
            How many children per super-topic, by alpha.
        n_words : int
            How many words in labels.

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

    def node_labels(self, n_words: int = 3) -> dict[str, str]:
        """For every node but the root a short label: the words that tell it from the rest.

        Words are weighed by P(word | node) under the learned parameters, and by how much more probable they are there
        than in the whole corpus.

        Parameters
        ----------
        n_words : int
            How many words.

        Examples
        --------
        >>> import topoi
        >>> corpus = topoi.Corpus.from_tokens([["sun", "sun", "star"]] * 10)
        >>> topoi.PachinkoAllocation(1, 1, n_iter=5, random_state=0).fit(corpus).node_labels(1)
        {'super 0': 'sun', 'sub 0': 'sun'}
        """
        first = self._first
        overall = first.counts.topic @ first.topic_word
        nodes = self._node_word()
        with np.errstate(divide="ignore"):
            ranking = np.log(nodes) - (1.0 - _RELEVANCE) * np.log(overall)
        best = largest(ranking[1:], whole_number("n_words", n_words))
        words = self.vocabulary_.words
        return {name: " ".join(words[row]) for name, row in zip(self.dag_.nodes[1:], best, strict=True)}

    def _node_word(self) -> NDArray[np.float64]:
        """P(word | node) under the means of all Dirichlets: nodes × words, children before parents."""
        first, graph = self._first, self._first.graph
        number = {name: v for v, name in enumerate(self.dag_.nodes)}
        topic = {name: k for k, name in enumerate(self.dag_.topics)}
        result = np.zeros((len(number), first.topic_word.shape[1]))
        slots = slot_children(self.dag_)
        for name in reversed(self.dag_.nodes):
            v = number[name]
            if not slots[name]:
                result[v] = first.topic_word[topic[name]]
                continue
            share = first.edge_alpha[graph.slot_start[v] : graph.slot_start[v + 1]]
            rows = [first.topic_word[topic[name]] if c == WORDS else result[number[c]] for c in slots[name]]
            result[v] = (share / share.sum()) @ np.array(rows)
        return result

    def _top_words(self, n: int) -> list[str]:
        best = largest(self._first.topic_word, n)
        return [" ".join(self.vocabulary_.words[row]) for row in best]

    @property
    def doc_node_(self) -> NDArray[np.float64]:
        """For each training document the probability that a word's path goes through each node; documents × nodes.

        Posterior means; columns are ``dag_.nodes``, the root's is 1.
        """
        first = self._first
        documents = self._sampler.documents
        result = np.zeros((len(documents.doc_start) - 1, len(self.dag_.nodes)))
        document_nodes(documents, first.assignments, first.priors, first.graph, result)
        return result

    @property
    def doc_super_(self) -> NDArray[np.float64]:
        """Each training document's mixture of super-topics, posterior means; documents × super-topics (four levels)."""
        n_super = self._first.n_super
        if not n_super:
            raise ModelError("only the four-level model has one level of super-topics; see doc_node_ for all nodes")
        return self.doc_node_[:, 1 : 1 + n_super]

    def topic_correlation(self) -> pd.DataFrame:
        """Correlation of the topics' shares over the training documents; topics × topics.

        Examples
        --------
        >>> import topoi
        >>> corpus = topoi.Corpus.from_tokens([["sun", "star"], ["cell", "gene"]] * 10)
        >>> model = topoi.PachinkoAllocation(2, 2, n_iter=30, random_state=0).fit(corpus)
        >>> model.topic_correlation().round(6).iloc[0, 0].item()
        1.0
        """
        shares = self._first.doc_topic
        shares = shares - shares.mean(axis=0)
        size = np.sqrt((shares**2).sum(axis=0))
        matrix = shares.T @ shares / np.maximum(np.outer(size, size), 1e-300)
        names = pd.RangeIndex(len(matrix), name="topic")
        return pd.DataFrame(matrix, index=names, columns=names)

    def pruned_dag(self, min_share: float = 0.01) -> Dag:
        """The graph with only the edges that matter: a structure that can be fitted again.

        An edge stays if its alpha is at least ``min_share`` of its parent's sum. The root's edges stay, every node
        keeps its strongest child, and every node that loses all parents keeps the strongest. Nodes keep their order,
        and so topics their ids, as long as their levels stay.

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
