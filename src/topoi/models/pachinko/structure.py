"""Graph of a fitted pachinko model: edges with alpha, labels, mixtures at nodes."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from topoi.corpus.corpus import Corpus
from topoi.corpus.vocabulary import Vocabulary
from topoi.errors import ModelError
from topoi.models.dag import WORDS
from topoi.models.graph import GraphFrames, NodeDocuments, node_names, slot_children, telling_words
from topoi.models.pachinko.posterior import PachinkoPosterior
from topoi.models.people import names_of_people
from topoi.models.ranking import largest
from topoi.models.share_moments import Moments
from topoi.models.smoothed_counts import blocks, listed, whole_tokens
from topoi.models.validation import whole_number


class Structure(GraphFrames):
    """Frames about the graph of a fitted pachinko model (first chain); mixed into the estimator."""

    has_graph = True

    vocabulary_: Vocabulary
    corpus_: Corpus
    _first: PachinkoPosterior

    def edges(self) -> pd.DataFrame:
        """Every edge with its Dirichlet parameter: parent, child, topic, alpha, share, n_words.

        ``topic`` is the child's topic id (missing for a child that draws no words); ``share`` is alpha over the sum of
        the parent's; ``n_words`` is the number of words of the training corpus that took the edge. "Draw a word here"
        of an inner node is an edge to ``topoi.WORDS``, with the node's own topic id.

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
        sums = np.repeat(np.asarray(first.priors.alpha_sum), np.diff(first.graph.slot_start))
        ids = [topic.get(parent if child == WORDS else child) for parent, child in pairs]
        return pd.DataFrame(
            {
                "parent": [parent for parent, _ in pairs],
                "child": [child for _, child in pairs],
                "topic": pd.array(ids, dtype="Int64"),
                "alpha": first.edge_alpha,
                "share": first.edge_alpha / sums,
                "n_words": whole_tokens(first.slot_sizes),
            }
        )

    def node_labels(self, n_words: int | None = None) -> dict[str, str]:
        """A short label for every node but the root.

        A topic has that of ``topic_labels``; a super-topic is called by the two topics that distinguish it most from
        the others, as in "Indian tribes + public lands".

        Parameters
        ----------
        n_words : int, optional
            List this many words that distinguish each node instead, weighted by P(word | node) under the learned
            parameters, and by how much more probable they are there than in the whole corpus.

        Examples
        --------
        >>> import topoi
        >>> corpus = topoi.Corpus.from_tokens([["sun", "sun", "star"]] * 10)
        >>> topoi.PachinkoAllocation(1, 1, n_iter=5, random_state=0).fit(corpus).node_labels(1)
        {'super 0': 'sun', 'sub 0': 'sun'}
        """
        first = self._first
        if n_words is None:
            found = node_names(self.dag_, first.edge_alpha, first.named(self.corpus_))
            labels = dict(zip(self.dag_.nodes[1:], found, strict=True))
            return labels | {self.dag_.topics[k]: name for k, name in names_of_people(self).items()}
        wanted = whole_number("n_words", n_words)
        best = telling_words(self.dag_, first.edge_alpha, first.topic_word, first.counts.topic, wanted)
        words = self.vocabulary_.words
        return {name: " ".join(words[row]) for name, row in zip(self.dag_.nodes[1:], best, strict=True)}

    def _top_words(self, n: int) -> list[str]:
        best = largest(self._first.topic_word, n)
        return [" ".join(self.vocabulary_.words[row]) for row in best]

    def _node_sizes(self) -> tuple[NDArray[np.int64], Moments]:
        first = self._first
        share = first.node_totals / max(self.corpus_.n_tokens, 1)
        return whole_tokens(first.node_totals), Moments(share, first.node_deviations())

    def node_counts(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
        """Numbers of words of each training document through each super-topic: documents, nodes, means above zero.

        Examples
        --------
        >>> import topoi
        >>> model = topoi.PachinkoAllocation(1, 2, n_iter=5, random_state=0).fit([[1, 2], [2, 3]])
        >>> [part.tolist() for part in model.node_counts()]
        [[0, 1], [1, 1], [3.0, 5.0]]
        """
        return self._first.passing(0, self.corpus_.n_docs)

    def leading_documents(self, node: int, n: int) -> NodeDocuments:
        """Documents with the largest share of a node, among those with a word whose path leads there.

        Examples
        --------
        >>> import topoi
        >>> corpus = topoi.Corpus.from_tokens([["a", "b"] * 3, ["a", "b"] * 9])
        >>> model = topoi.PachinkoAllocation(1, 2, n_iter=2, random_state=0).fit(corpus)
        >>> found = model.leading_documents(model.dag_.nodes.index("super 0"), 1)
        >>> found.document.tolist(), found.n_words.tolist()
        ([0], [6])
        """
        first, name = self._first, self.dag_.nodes[node]
        if self.dag_.children(name):
            doc, through, number = listed(*self.node_counts())
            doc, number = doc[through == node], number[through == node]
        else:
            number = whole_tokens(first.documents.column(self.dag_.topics.index(name)))
            doc = np.flatnonzero(number)
            number = number[doc]
        share = np.empty(len(doc))
        for part in blocks(self.corpus_.n_docs):
            here = slice(*np.searchsorted(doc, (part.start, part.stop)))
            share[here] = first.doc_node_range(part.start, part.stop)[doc[here] - part.start, node]
        best = np.argsort(-share, kind="stable")[:n]
        return NodeDocuments(doc[best], number[best], share[best])

    def nodes_of_document(self, document: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
        """Super-topics of a training document, with the numbers of words through them, and shares.

        Examples
        --------
        >>> import topoi
        >>> corpus = topoi.Corpus.from_tokens([["a", "b"] * 3, ["a", "b"] * 9])
        >>> model = topoi.PachinkoAllocation(1, 2, n_iter=2, random_state=0).fit(corpus)
        >>> nodes, n_words, share = model.nodes_of_document(1)
        >>> [model.dag_.nodes[node] for node in nodes], n_words.tolist()
        (['super 0'], [18])
        """
        first = self._first
        _, node, number = listed(*first.passing(document, document + 1))
        return node, number, first.doc_node_range(document, document + 1)[0, node]

    @property
    def doc_node_(self) -> NDArray[np.float64]:
        """Probability that a word's path goes through each node, for each training document; documents × nodes.

        Posterior means; columns are ``dag_.nodes``, and the root's is 1.
        """
        return self._first.doc_node_range(0, self.corpus_.n_docs)

    @property
    def doc_super_(self) -> NDArray[np.float64]:
        """Super-topic mixtures of the training documents, posterior means; documents × super-topics (four levels)."""
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
