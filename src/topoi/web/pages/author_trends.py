"""An author's topics along time, beside those of the whole collection."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from typing_extensions import TypedDict

from topoi.web.pages.context import PageContext
from topoi.web.pages.shapes import TopicSummary

MOST_SPANS = 8
N_TOPICS = 6


class Beside(TypedDict):
    """A topic in each span of years: its share of the author's words and of the whole collection's.

    The author's share is null in years without words.
    """

    topic: TopicSummary
    share: list[float | None]
    whole: list[float]


class BesideYears(TypedDict):
    """Spans of years, both ends included, the author's documents in each, and topics."""

    first: list[int]
    last: list[int]
    n_documents: list[int]
    topics: list[Beside]


def beside_collection(
    context: PageContext,
    years: Sequence[int],
    n_documents: Sequence[int],
    table: NDArray[np.float64],
    topics: Sequence[int],
) -> BesideYears | None:
    """Shares of an author's topics in spans of years, and what is usual at the time; None with a single span.

    Parameters
    ----------
    context : PageContext
        The model.
    years, n_documents : sequence of int
        Years of the author's documents, and their numbers.
    table : array
        The author's words, years × topics.
    topics : sequence of int
        The topics asked for.
    """
    all_years, tokens = np.array(context.cache.trends.periods), context.cache.trends.tokens
    if len(years) < 2 or not len(all_years) or not topics:
        return None
    width = max(-(-(years[-1] - years[0] + 1) // MOST_SPANS), 1)
    first = np.arange(years[0], years[-1] + 1, width)
    at = (np.array(years) - years[0]) // width
    own = np.zeros((len(first), table.shape[1]))
    np.add.at(own, at, table)
    inside = (all_years >= years[0]) & (all_years < first[-1] + width)
    whole = np.zeros((len(first), tokens.shape[0]))
    np.add.at(whole, (all_years[inside] - years[0]) // width, tokens.T[inside])
    own_total, whole_total = own.sum(axis=1), np.maximum(whole.sum(axis=1), 1.0)
    found = [
        Beside(
            topic=context.badge(k),
            share=[
                round(float(n / total), 6) if total else None for n, total in zip(own[:, k], own_total, strict=True)
            ],
            whole=[round(float(share), 6) for share in whole[:, k] / whole_total],
        )
        for k in topics[:N_TOPICS]
    ]
    return BesideYears(
        first=first.tolist(),
        last=np.minimum(first + width - 1, years[-1]).tolist(),
        n_documents=np.bincount(at, np.array(n_documents), len(first)).astype(int).tolist(),
        topics=found,
    )
