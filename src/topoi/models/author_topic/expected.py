"""Mixtures to expect of documents of which no word is known yet, where the priors were learned."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.corpus import Corpus
from topoi.models.sources import Rows

# Words of anybody's documents that are added to an author's own: the mode of the prior of alpha's sum.
_COMMON_WORDS = 50.0


class ExpectedMixtures:
    """Topics' shares of the words of all training documents, and of those of an author's documents.

    The mean of a learned Dirichlet is not the mean of the documents' mixtures: alpha is large for topics that many
    documents have a little of, and small for those that few documents have much of. After some words that is right;
    before the first, the documents' own mean says more. Likewise of an author's documents, with what their private
    authors wrote.

    Parameters
    ----------
    corpus : Corpus
        The training documents.
    cells : callable
        Returns the documents' nonzero topic counts, sums over samples (``CountSource.document_cells``).
    n_topics, n_samples, n_authors : int
        Numbers of topics, of samples, and of authors that the model distinguishes.

    Examples
    --------
    >>> import numpy as np, topoi
    >>> from topoi.models.author_topic.expected import ExpectedMixtures
    >>> corpus = topoi.Corpus.from_tokens([["sun"] * 50, ["gene"] * 50], authors=["Ann", "Bob"])
    >>> cells = np.array([0, 1, 2]), np.array([0, 1]), np.array([50, 50])
    >>> expected = ExpectedMixtures(corpus, lambda: cells, n_topics=2, n_samples=1, n_authors=2)
    >>> expected.of(np.array([0])).tolist(), expected.of(np.array([], int)).tolist()
    ([0.75, 0.25], [0.5, 0.5])
    """

    def __init__(
        self, corpus: Corpus, cells: Callable[[], Rows], n_topics: int, n_samples: int, n_authors: int
    ) -> None:
        self._corpus, self._cells = corpus, cells
        self._n_topics, self._n_samples, self._n_authors = n_topics, n_samples, n_authors

    @cached_property
    def _counts(self) -> Any:
        """Mean topic counts of the documents: documents × topics, sparse."""
        from scipy.sparse import csr_array

        start, column, sums = self._cells()
        return csr_array((sums / self._n_samples, column, start), (self._corpus.n_docs, self._n_topics))

    @cached_property
    def of_all(self) -> NDArray[np.float64]:
        """Topics' shares of all words."""
        total = np.asarray(self._counts.sum(axis=0), np.float64)
        return np.asarray(total / total.sum()) if total.sum() else np.full(self._n_topics, 1.0 / self._n_topics)

    @cached_property
    def _by_author(self) -> Any:
        """Topic counts of the authors' documents, authors × topics, sparse; the authors of a document share its words.

        Cost: O(cells of the documents × authors per document), once.
        """
        from scipy.sparse import csr_array

        start, author = self._corpus.doc_author_start, self._corpus.doc_author
        n = np.diff(start)
        share = np.repeat(1.0 / np.maximum(n, 1), n)
        written = csr_array((share, author, start), (self._corpus.n_docs, self._n_authors))
        return (written.T @ self._counts).tocsr()

    def of(self, authors: NDArray[Any]) -> NDArray[np.float64]:
        """Mean of the authors' expected mixtures; without authors, the shares of all words."""
        if not len(authors):
            return self.of_all
        counts = self._by_author[authors].toarray() + _COMMON_WORDS * self.of_all
        return np.asarray((counts / counts.sum(axis=1, keepdims=True)).mean(axis=0))
