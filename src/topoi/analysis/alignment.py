"""One-to-one matching of the topics of two fits: optimal, or greedy as in AT09, section 4.2."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from topoi.analysis.given import need_topics
from topoi.errors import ModelError
from topoi.models.contract import ModelLike
from topoi.models.posterior import Posterior
from topoi.models.ranking import largest
from topoi.models.validation import choice, whole_number

_WORDS_SHOWN = 10
METHODS = ("optimal", "greedy")


@dataclass(frozen=True)
class Alignment:
    """Matching of two sets of topics.

    Attributes
    ----------
    pairs : DataFrame
        topic_a, topic_b, distance, shared (as in the attribute), mutual (whether each is the other's nearest among all
        topics, not only among those left unmatched), words_a, words_b (lists of the most probable words); nearest
        first.
    matrix : DataFrame
        All distances: rows are topics of a, columns topics of b, both in the order of the pairs, so that matched topics
        lie on the diagonal. If the numbers of topics differ, topics without a partner come last.
    shared : DataFrame
        In the same order, the part of their words that two topics share: 1 for equal distributions over words, 0 for
        no word in common. Unlike distances, these can be compared between alignments.
    n_common_words : int
        Number of words that both models know; everything above is computed over these.
    """

    pairs: pd.DataFrame
    matrix: pd.DataFrame
    shared: pd.DataFrame
    n_common_words: int

    def __repr__(self) -> str:
        n_a, n_b = self.matrix.shape
        mutual = int(self.pairs["mutual"].sum())
        return f"<Alignment of {n_a} and {n_b} topics: {mutual} of {len(self.pairs)} pairs are each other's nearest>"


def align_topics(
    model_a: Any,
    model_b: Any = None,
    *,
    chain_a: int = 0,
    chain_b: int | None = None,
    n_words: int = _WORDS_SHOWN,
    method: str = "optimal",
) -> Alignment:
    """Match the topics of two models, or of two chains of one, one to one.

    Distances are symmetrised KL divergences (the sum of both directions, in nats) over the words that both models know.
    If one model has more topics, some of them have no partner.

    Parameters
    ----------
    model_a, model_b : fitted models with topics, or ModelView
        Models of one corpus or of two. Without ``model_b``, two chains of ``model_a``.
    chain_a, chain_b : int
        Numbers of the chains; by default the first of each model, or the first and the second of one model.
    n_words : int
        Number of words to show of each topic.
    method : {"optimal", "greedy"}
        Optimal pairs have the smallest sum of distances. Greedy ones are found as in AT09: the nearest pair of all,
        then the nearest of the rest, and so on; the last pairs can be far worse than necessary.

    Returns
    -------
    Alignment
        ``pairs``, ``matrix`` and ``shared``, three frames.

    Examples
    --------
    >>> import topoi
    >>> corpus = topoi.Corpus.from_tokens([["sun", "star"], ["cell", "gene"]] * 10)
    >>> model = topoi.LDA(2, alpha=0.1, n_iter=50, n_chains=2, random_state=0).fit(corpus)
    >>> pairs = topoi.align_topics(model, chain_a=0, chain_b=1).pairs
    >>> [sorted(a) == sorted(b) for a, b in zip(pairs["words_a"].str[:2], pairs["words_b"].str[:2])]
    [True, True]
    """
    choice("method", method, METHODS)
    n_words = whole_number("n_words", n_words)
    alone = model_b is None
    model_b = model_a if alone else model_b
    first = _chain(model_a, chain_a, "chain_a")
    second = _chain(model_b, (1 if alone else 0) if chain_b is None else chain_b, "chain_b")
    words_a, words_b = model_a.vocabulary_.words, model_b.vocabulary_.words
    common, at_a, at_b = np.intersect1d(words_a.astype(str), words_b.astype(str), return_indices=True)
    if not len(common):
        raise ModelError("the two models have no word in common, so their topics cannot be compared")
    topics_a, topics_b = first.topics.some_columns(at_a), second.topics.some_columns(at_b)
    distance, shared = topics_a.kl_matrix(topics_b), topics_a.overlaps(topics_b)
    a, b = (optimal_pairs(distance) if method == "optimal" else greedy_pairs(distance)).T
    frame = pd.DataFrame(
        {
            "topic_a": a,
            "topic_b": b,
            "distance": distance[a, b],
            "shared": shared[a, b],
            "mutual": _mutual(distance)[a, b],
            "words_a": pd.Series(_leading_words(first, words_a, a, n_words), dtype=object),
            "words_b": pd.Series(_leading_words(second, words_b, b, n_words), dtype=object),
        }
    )
    rows, columns = (_paired_first(side, n) for side, n in zip((a, b), distance.shape, strict=True))
    index, header = pd.Index(rows, name="topic_a"), pd.Index(columns, name="topic_b")

    def table(values: NDArray[np.float64]) -> pd.DataFrame:
        return pd.DataFrame(values[np.ix_(rows, columns)], index=index, columns=header)

    return Alignment(frame, table(distance), table(shared), len(common))


def optimal_pairs(distance: NDArray[np.float64]) -> NDArray[np.int64]:
    """Pair rows and columns one to one with the smallest sum of distances; the nearest pair comes first.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.analysis.alignment import greedy_pairs, optimal_pairs
    >>> table = np.array([[1.0, 2.0], [1.5, 9.0]])
    >>> greedy_pairs(table).tolist(), optimal_pairs(table).tolist()
    ([[0, 0], [1, 1]], [[1, 0], [0, 1]])
    """
    from scipy.optimize import linear_sum_assignment  # slow to import, and only needed here

    pairs = np.stack(linear_sum_assignment(distance), axis=1).astype(np.int64)
    return pairs[np.argsort(distance[pairs[:, 0], pairs[:, 1]], kind="stable")]


def greedy_pairs(distance: NDArray[np.float64]) -> NDArray[np.int64]:
    """Pair rows and columns one to one, the smallest distance first; ties are broken by row, then column.

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
    """Mask of the cells whose row and column are each other's nearest."""
    return np.asarray(
        (distance == distance.min(axis=1, keepdims=True)) & (distance == distance.min(axis=0, keepdims=True))
    )


def _chain(model: ModelLike, chain: Any, name: str) -> Any:
    need_topics(model, "topics are what is aligned")
    index = whole_number(name, chain, 0)
    if index >= len(model.chains_):
        raise ModelError(
            f"{name} is {index}, but the model has {len(model.chains_)} chain(s), numbered from 0; "
            "fit with n_chains=2, or pass a second model"
        )
    return model.chains_[index]


def _leading_words(chain: Posterior, words: NDArray[Any], topics: NDArray[Any], n: int) -> list[list[str]]:
    return [[str(word) for word in words[largest(chain.topics.shares(k), n)[0]]] for k in topics]


def _paired_first(paired: NDArray[np.int64], n: int) -> NDArray[np.int64]:
    """Order all topics of one side: the paired ones in the order of the pairs, then the others."""
    return np.concatenate((paired, np.setdiff1d(np.arange(n), paired)))
