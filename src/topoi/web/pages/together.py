"""Topics that documents have together: pairs that occur more often than by chance."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from typing_extensions import TypedDict

from topoi.web.pages.context import PageContext
from topoi.web.pages.page import Page, has_topics
from topoi.web.pages.selection import LEAST, topic_cells
from topoi.web.pages.shapes import TopicSummary

N_PAIRS, N_OF_TOPIC = 80, 8
FEWEST = 3


class TopicTogether(TypedDict):
    """A topic that documents of another have too: how many, and how many times as often as by chance."""

    topic: TopicSummary
    n_documents: int
    times: float


class TopicPair(TypedDict):
    """Two topics that documents have together."""

    topic: TopicSummary
    other: TopicSummary
    n_documents: int
    times: float


class TogetherPage(TypedDict):
    """Pairs of topics that documents have together more often than by chance, the clearest first."""

    kind: Literal["together"]
    least: float
    n_topics: int
    pairs: list[TopicPair]


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
    >>> from topoi.web.pages.together import count_together
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


def topics_together(context: PageContext) -> Together:
    """Pairs of topics in documents, kept with the model; background topics are in none."""

    def count() -> Together:
        cells = topic_cells(context)
        quiet = np.array([topic["summary"]["glue"] for topic in context.cache.topics], bool)
        quiet[list(context.cache.retired)] = True
        kept = (cells.share >= LEAST) & ~quiet[cells.topic]
        return count_together(cells.row[kept], cells.topic[kept].astype(np.int64), cells.n_documents, cells.n_topics)

    return context.cache.keep("topics together", count)


def together_with(context: PageContext, topic: int) -> list[TopicTogether]:
    """Topics that documents of a topic have too, the clearest first."""
    found = topics_together(context)
    order = np.argsort(-found.evidence[topic], kind="stable")
    clear = [
        int(k) for k in order if k != topic and found.times[topic, k] > 1 and found.n_documents[topic, k] >= FEWEST
    ]
    return [
        TopicTogether(
            topic=context.badge(k),
            n_documents=int(found.n_documents[topic, k]),
            times=round(float(found.times[topic, k]), 4),
        )
        for k in clear[:N_OF_TOPIC]
    ]


def together_page(context: PageContext) -> TogetherPage:
    """Pairs of topics that documents have together more often than by chance: how topics hang together."""
    if not context.has_topics:
        return TogetherPage(kind="together", least=LEAST, n_topics=0, pairs=[])
    found = topics_together(context)
    one, other = np.triu_indices(len(found.evidence), 1)
    kept = (found.times[one, other] > 1) & (found.n_documents[one, other] >= FEWEST)
    one, other = one[kept], other[kept]
    order = np.argsort(-found.evidence[one, other], kind="stable")[:N_PAIRS]
    pairs = [
        TopicPair(
            topic=context.badge(a),
            other=context.badge(b),
            n_documents=int(found.n_documents[a, b]),
            times=round(float(found.times[a, b]), 4),
        )
        for a, b in zip(one[order].tolist(), other[order].tolist(), strict=True)
    ]
    return TogetherPage(kind="together", least=LEAST, n_topics=len(context.topics), pairs=pairs)


PAGE = Page(
    "together",
    "Together",
    "together",
    together_page,
    TogetherPage,
    place=25,
    needs=has_topics,
    in_menu=False,
    below="overview",
)
