"""Rows of models with topics for a store: counts in whole tokens, and the leading authors and documents of topics.

Counts are processed in blocks, once per table, so that memory does not grow with the corpus.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.blocks import Blobs, Blocks, Columns, Table, position_blobs
from topoi.corpus.corpus import Corpus
from topoi.corpus.pieces import ranges
from topoi.models.periods import trend_rows
from topoi.models.posterior import Posterior
from topoi.models.ranking import N_RANKED
from topoi.models.smoothed_counts import Cells, listed
from topoi.store.leaders import Leaders
from topoi.store.mixture_rows import SHARES_AT_ONCE, pack_mixture, pack_shares
from topoi.store.topic_summaries import summary_tables

# Function that returns a number for each of some counts, given their rows, their columns and the counts.
Weigh = Callable[[NDArray[Any], NDArray[Any], NDArray[Any]], NDArray[np.float64]]


def topic_tables(corpus: Corpus, first: Posterior) -> dict[str, Table]:
    """The tables that all models with topics have, from the first chain of a fitted model."""
    source = first.arrays.sparing()
    if source is not first.source:
        first = copy(first)
        first.source = source
    documents, words, n_authors = first.documents.cell_blocks, source.word_blocks, source.n_authors
    tables: dict[str, Table] = {
        **summary_tables(corpus, first),
        "topic_word": Blocks(
            lambda: _weighed(words(), ("word_id", "topic", "n_tokens", "probability"), first.probabilities_of)
        ),
        "document_topic": Blocks(
            lambda: (_columns(("document_id", "topic", "n_tokens"), listed(*cells)) for cells in documents())
        ),
        "topic_document": ranked_rows(documents(), first.n_topics, ("document_id", "share"), first.shares_of),
        "topic_trend": trend_rows(corpus, "topic", first.n_topics, documents()),
        "document_assignment": {
            "document_id": range(corpus.n_docs),
            "topics": Blobs(source.assignments.topic, corpus.doc_start, "<u2"),
            "author_positions": position_blobs(source.assignments.slot, corpus.doc_start)
            if n_authors
            else [None] * corpus.n_docs,
        },
    }
    mixtures = {"document": (documents, corpus.n_docs)}
    if first.n_samples > 1:
        mixtures["word"] = words, corpus.n_words
    if n_authors:
        tables |= _author_tables(first, n_authors)
        mixtures["author"] = source.author_blocks, n_authors
    if not first.mixtures_are_counts:
        tables["document_share"] = Blocks(lambda: _share_rows(first, corpus.n_docs))
    return tables | {"mixture": Blocks(lambda: (_mixture(first, kind, *of) for kind, of in mixtures.items()))}


def topic_parameters(first: Posterior) -> dict[str, Any]:
    """Fitted numbers of a model with topics that are in none of its tables.

    Rows have rounded means; ``topic_sums`` are the topics' tokens summed over the samples. ``changed`` lists, for each
    earlier sample, the topics that have become others since; ``n_kept`` is the number of samples in the arrays.
    """
    beta, n, averaged = np.unique(first.beta), first.n_samples, first.averaged
    found = {
        "alpha_sum": first.alpha_sum,
        "beta_sum": first.source.beta_sum,
        "beta": float(beta[0]) if len(beta) == 1 else None,
    }
    if averaged is None:
        return found
    sums = np.rint(first.topic_totals * n).astype(np.int64).tolist()
    kept = {"n_kept": averaged.kept, "topic_sums": sums, "changed": averaged.changed}
    return found | {"chain": first.index, "n_samples": n, **kept}


def _mixture(first: Posterior, kind: str, cells: Callable[[], Iterator[Cells]], n_rows: int) -> Columns:
    """One row of counts in the packed form of a mixture: sums over the samples."""
    sums = ((row, k, np.rint(n * first.n_samples)) for row, k, n in cells())
    return {name: [value] for name, value in ({"kind": kind} | pack_mixture(sums, n_rows)).items()}


def _share_rows(first: Posterior, n_docs: int) -> Iterator[Columns]:
    """Mixtures of documents that do not follow from their counts."""
    for part, rows in enumerate(ranges(n_docs, SHARES_AT_ONCE)):
        yield {"part": [part], "shares": [pack_shares(first.mixture_range(rows.start, rows.stop))]}


def _columns(names: tuple[str, ...], values: tuple[NDArray[Any], ...]) -> Columns:
    return dict(zip(names, values, strict=True))


def _weighed(cells: Iterable[Cells], names: tuple[str, ...], weigh: Weigh) -> Iterator[Columns]:
    """Displayed counts, with the values of ``weigh`` for them."""
    for row, k, n in cells:
        yield _columns(names, (*listed(row, k, n), weigh(row, k, n)[n >= 0.5]))


def _author_tables(first: Posterior, n_authors: int) -> dict[str, Table]:
    # Ranked by words, not by the topic's share of an author's work, which would put authors of one paper first.
    sums, alpha = np.zeros(first.n_topics), first.alpha
    for _, k, n in first.arrays.author_blocks():
        np.add.at(sums, k, n)
    sums += n_authors * alpha

    def probability(_: NDArray[Any], k: NDArray[Any], n: NDArray[Any]) -> NDArray[np.float64]:
        return np.asarray((n + alpha[k]) / sums[k])

    def rows() -> Iterator[Columns]:
        for cells in first.arrays.author_blocks():
            yield _columns(("author_id", "topic", "n_tokens"), listed(*cells))

    ranked = ranked_rows(first.arrays.author_blocks(), first.n_topics, ("author_id", "probability"), probability)
    return {"author_topic": Blocks(rows), "topic_author": ranked}


def ranked_rows(cells: Iterable[Cells], n_topics: int, names: tuple[str, str], weigh: Weigh) -> Columns:
    """The first ``N_RANKED`` documents (or authors) of each topic, ranked by ``weigh`` of their counts."""
    leaders = Leaders(n_topics, N_RANKED)
    for row, k, n in cells:
        value = weigh(row, k, n)[n >= 0.5]
        row, k, whole = listed(row, k, n)
        leaders.add(k, value, row, whole)
    found = leaders.found()
    return {
        "topic": found.group,
        "rank": found.rank,
        names[0]: found.number,
        "n_tokens": found.tokens,
        names[1]: found.value,
    }
