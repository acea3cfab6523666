"""Topics that documents have together, more often than by chance."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

# A document has a topic if at least this part of its words is in it; pairs in fewer documents are coincidences.
LEAST = 0.1
FEWEST_TOGETHER = 3


class Together(NamedTuple):
    """Documents with each pair of topics, how many times that is what chance gives, and the evidence (G²)."""

    n_documents: NDArray[np.int64]
    times: NDArray[np.float64]
    evidence: NDArray[np.float64]


def count_together(row: NDArray[np.int32], topic: NDArray[np.int64], n_documents: int, n_topics: int) -> Together:
    """Count pairs of topics in documents; ``row`` and ``topic`` name the documents of each topic.

    The evidence is the likelihood ratio of the fourfold table, positive where the pair is commoner than by chance.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.analysis.together import count_together
    >>> found = count_together(np.array([0, 0, 1, 1, 2, 3]), np.array([0, 1, 0, 1, 2, 2]), 4, 3)
    >>> found.n_documents[0].tolist(), found.times[0, 1].item(), bool(found.evidence[0, 1] > found.evidence[0, 2])
    ([2, 2, 0], 2.0, True)
    """
    from scipy.sparse import csr_array

    has = csr_array((np.ones(len(row)), (row, topic)), (n_documents, n_topics))
    both = np.asarray((has.T @ has).todense())
    own = np.diag(both)
    expected = np.outer(own, own) / max(n_documents, 1)
    times = both / np.maximum(expected, 1e-300)
    table = (both, own[:, None] - both, own[None, :] - both, n_documents - own[:, None] - own[None, :] + both)
    first, second = own / max(n_documents, 1), 1 - own / max(n_documents, 1)
    chance = [
        n_documents * np.outer(a, b) for a, b in ((first, first), (first, second), (second, first), (second, second))
    ]
    ratio = np.zeros_like(both)
    for seen, usual in zip(table, chance, strict=True):
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio += np.where(seen > 0, seen * np.log(seen / np.maximum(usual, 1e-300)), 0.0)
    return Together(both.astype(np.int64), times, np.where(times > 1, 2 * ratio, -2 * ratio))


def clear_pairs(found: Together, n: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pairs of topics that are together more often than by chance, those with most evidence first.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.analysis.together import clear_pairs, count_together
    >>> row, topic = np.repeat(np.arange(8), 2), np.array([0, 1] * 4 + [2, 3] * 4)
    >>> clear_pairs(count_together(row, topic, 8, 4), 1)
    (array([0]), array([1]))
    """
    one, other = np.triu_indices(len(found.evidence), 1)
    kept = (found.times[one, other] > 1) & (found.n_documents[one, other] >= FEWEST_TOGETHER)
    one, other = one[kept], other[kept]
    order = np.argsort(-found.evidence[one, other], kind="stable")[:n]
    return one[order], other[order]
