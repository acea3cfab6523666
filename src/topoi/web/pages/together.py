"""Topics that documents have together: pairs that occur more often than by chance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from typing_extensions import TypedDict

from topoi.analysis.together import FEWEST_TOGETHER, LEAST, Together, clear_pairs
from topoi.store.whole import together_in
from topoi.web.pages.context import PageContext
from topoi.web.pages.page import Page, has_topics
from topoi.web.pages.selection import topic_cells
from topoi.web.pages.shapes import TopicSummary

N_PAIRS, N_OF_TOPIC = 80, 8


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


def topics_together(context: PageContext) -> Together:
    """Pairs of topics in documents, kept with the model; background topics are in none."""
    return context.cache.keep("topics together", lambda: together_in(context.view, topic_cells(context)))


def together_with(context: PageContext, topic: int) -> list[TopicTogether]:
    """Topics that documents of a topic have too, the clearest first."""
    found = topics_together(context)
    order = np.argsort(-found.evidence[topic], kind="stable")
    clear = [
        int(k)
        for k in order
        if k != topic and found.times[topic, k] > 1 and found.n_documents[topic, k] >= FEWEST_TOGETHER
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
    one, other = clear_pairs(found, N_PAIRS)
    pairs = [
        TopicPair(
            topic=context.badge(a),
            other=context.badge(b),
            n_documents=int(found.n_documents[a, b]),
            times=round(float(found.times[a, b]), 4),
        )
        for a, b in zip(one.tolist(), other.tolist(), strict=True)
    ]
    return TogetherPage(kind="together", least=LEAST, n_topics=len(context.topics), pairs=pairs)


def _python(view: Mapping[str, Any], site: Mapping[str, Any]) -> str | None:
    return f"model.topics_together({N_PAIRS})" if view["pairs"] else None


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
    python=_python,
)
