"""Parts of pages that are compiled in the background, and whether they are ready."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from typing_extensions import TypedDict

from topoi.web.pages.author import author_page
from topoi.web.pages.authors import authors_page
from topoi.web.pages.context import PageContext
from topoi.web.pages.document import document_page
from topoi.web.pages.documents import documents_page
from topoi.web.pages.page import Page
from topoi.web.pages.parse import parse_page
from topoi.web.pages.search import search_page
from topoi.web.warming import Step


class ReadyPage(TypedDict):
    """Kinds of work that are still being compiled: pages that need them say so in their own ``pending``."""

    pending: list[str]


def ready_page(context: PageContext) -> ReadyPage:
    """Whether pages of this model are complete, or parts are still being compiled."""
    return ReadyPage(pending=context.watcher.warming.pending(context.model["slug"]))


def _near(context: PageContext) -> None:
    if context.collection["n_authors"]:
        _ = context.snapshot.authors
        author_page(context, 0)


def _labels(context: PageContext) -> None:
    document_page(context, 0)


def _search(context: PageContext) -> None:
    words = context.view.vocabulary_.words[:2]
    search_page(context, " ".join(map(str, words)))


def _compare(context: PageContext) -> None:
    if context.has_topics:
        topics = context.view.chains_[0].topics.some_columns(np.arange(min(2, len(context.view.vocabulary_.words))))
        topics.kl_matrix(topics)
        topics.overlaps(topics)


def _samples(context: PageContext) -> None:
    if not context.has_topics:
        return
    document_page(context, 0, burn_in=1, samples=1, lag=1)
    # A pattern from the file may run for ever; it is only run on request.
    if context.view.vocabulary_.analyzer.pattern is None:
        words = " ".join(map(str, context.view.vocabulary_.words[:5]))
        parse_page(context, text=words, burn_in=1, samples=1, lag=1)


def _lists(context: PageContext) -> None:
    """Read what filters, counts and names need, so that the first visitor does not wait for it."""
    documents_page(context)
    if context.collection["n_authors"]:
        authors_page(context)


STEPS: Mapping[str, Step] = {
    "near": _near,
    "labels": _labels,
    "search": _search,
    "compare": _compare,
    "samples": _samples,
    "lists": _lists,
}
READY = Page("ready", "Ready", "ready", ready_page, ReadyPage, place=0)
