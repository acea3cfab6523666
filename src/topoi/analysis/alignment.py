"""Which topics of one fit are those of another: greedy one-to-one alignment (AT09, section 4.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from topoi.analysis.distances import kl_matrix
from topoi.analysis.given import need_topics
from topoi.errors import ModelError
from topoi.models.tables import largest
from topoi.models.validation import whole_number

_WORDS_SHOWN = 10


@dataclass(frozen=True)
class Alignment:
    """Two sets of topics put side by side.

    Attributes
    ----------
    pairs : DataFrame
        topic_a, topic_b, distance, mutual (whether each is the other's nearest of all topics, and not only of those
        that were left), words_a, words_b (lists of the most probable words); most similar first.
    matrix : DataFrame
        All distances, rows topics of a, columns topics of b, both in the order of the pairs: corresponding topics
        lie on the diagonal. Topics without a partner, where the numbers differ, come last.
    n_common_words : int
        The words that both know; the distance is over these.
    """

    pairs: pd.DataFrame
    matrix: pd.DataFrame
    n_common_words: int

    def __repr__(self) -> str:
        n_a, n_b = self.matrix.shape
        mutual = int(self.pairs["mutual"].sum())
        return f"<Alignment of {n_a} and {n_b} topics: {mutual} of {len(self.pairs)} pairs are each other's nearest>"


def align_topics(
    model_a: Any, model_b: Any = None, *, chain_a: int = 0, chain_b: int | None = None, n_words: int = _WORDS_SHOWN
) -> Alignment:
    """The best one-to-one correspondence of two models' topics, or of two chains', taken pair by pair.

    All symmetrised KL distances (the sum of both directions, in nats) between topics are computed, over the words that
    both know; the nearest pair is put in correspondence, then the nearest of those that remain, and so on. Distances
    are comparable within one alignment, not between corpora of different vocabularies.

    Parameters
    ----------
    model_a, model_b : AuthorTopicModel or LDA
        Fitted models, of one corpus or of two. Without ``model_b``, two chains of ``model_a``.
    chain_a, chain_b : int
        Which chains; the first of each model, or the first and the second of one model.
    n_words : int
        How many words to show of each topic.

    Returns
    -------
    Alignment
        ``pairs`` and ``matrix``, two frames.

    Examples
    --------
    >>> import topoi
    >>> corpus = topoi.Corpus.from_tokens([["sun", "star"], ["cell", "gene"]] * 10)
    >>> model = topoi.LDA(2, alpha=0.1, n_iter=50, n_chains=2, random_state=0).fit(corpus)
    >>> pairs = topoi.align_topics(model, chain_a=0, chain_b=1).pairs
    >>> [sorted(a) == sorted(b) for a, b in zip(pairs["words_a"].str[:2], pairs["words_b"].str[:2])]
    [True, True]
    """
    alone = model_b is None
    model_b = model_a if alone else model_b
    first = _chain(model_a, chain_a, "chain_a")
    second = _chain(model_b, (1 if alone else 0) if chain_b is None else chain_b, "chain_b")
    words_a, words_b = model_a.vocabulary_.words, model_b.vocabulary_.words
    common, at_a, at_b = np.intersect1d(words_a.astype(str), words_b.astype(str), return_indices=True)
    if not len(common):
        raise ModelError("the two models have no word in common, so their topics cannot be compared")
    distance = kl_matrix(_renormalised(first, at_a), _renormalised(second, at_b))
    pairs = greedy_pairs(distance)
    n_words = whole_number("n_words", n_words)
    frame = pd.DataFrame(
        {
            "topic_a": pairs[:, 0],
            "topic_b": pairs[:, 1],
            "distance": distance[pairs[:, 0], pairs[:, 1]],
            "mutual": _mutual(distance)[pairs[:, 0], pairs[:, 1]],
            "words_a": pd.Series(_leading_words(first, words_a, pairs[:, 0], n_words), dtype=object),
            "words_b": pd.Series(_leading_words(second, words_b, pairs[:, 1], n_words), dtype=object),
        }
    )
    rows, columns = (_paired_first(side, n) for side, n in zip(pairs.T, distance.shape, strict=True))
    matrix = pd.DataFrame(
        distance[np.ix_(rows, columns)], index=pd.Index(rows, name="topic_a"), columns=pd.Index(columns, name="topic_b")
    )
    return Alignment(frame, matrix, len(common))


def greedy_pairs(distance: NDArray[np.float64]) -> NDArray[np.int64]:
    """Rows and columns paired one to one, the smallest distance first; ties by row, then column.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.analysis.alignment import greedy_pairs
    >>> greedy_pairs(np.array([[1.0, 0.1], [0.2, 0.3]])).tolist()
    [[0, 1], [1, 0]]
    """
    free_row, free_column = np.ones(distance.shape[0], bool), np.ones(distance.shape[1], bool)
    pairs: list[tuple[int, int]] = []
    for cell in np.argsort(distance, axis=None, kind="stable"):
        row, column = divmod(int(cell), distance.shape[1])
        if free_row[row] and free_column[column]:
            free_row[row] = free_column[column] = False
            pairs.append((row, column))
            if len(pairs) == min(distance.shape):
                break
    return np.array(pairs, np.int64)


def _mutual(distance: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Where a row and a column are each other's nearest."""
    return np.asarray(
        (distance == distance.min(axis=1, keepdims=True)) & (distance == distance.min(axis=0, keepdims=True))
    )


def _chain(model: Any, chain: Any, name: str) -> Any:
    need_topics(model, "topics are what is aligned")
    index = whole_number(name, chain, 0)
    if index >= len(model.chains_):
        raise ModelError(
            f"{name} is {index}, but the model has {len(model.chains_)} chain(s), numbered from 0; "
            "fit with n_chains=2, or pass a second model"
        )
    return model.chains_[index]


def _renormalised(chain: Any, words: NDArray[Any]) -> NDArray[np.float64]:
    """P(word | topic) among some of the words."""
    some = chain.topic_word[:, words]
    return np.asarray(some / some.sum(axis=1, keepdims=True))


def _leading_words(chain: Any, words: NDArray[Any], topics: NDArray[Any], n: int) -> list[list[str]]:
    return [[str(word) for word in words[row]] for row in largest(chain.topic_word[topics], n)]


def _paired_first(paired: NDArray[np.int64], n: int) -> NDArray[np.int64]:
    """All topics of one side: the paired ones in their order, then the others."""
    return np.concatenate((paired, np.setdiff1d(np.arange(n), paired)))
