"""Rows of models with topics for a store: counts in whole tokens, and the leading authors and documents of topics.

Counts are processed in blocks, once per table, so that memory does not grow with the corpus.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.corpus import Corpus
from topoi.models.leaders import Leaders
from topoi.models.mixtures import Cells, blocks, listed, whole_tokens
from topoi.models.topic_counts import TopicCounts
from topoi.models.topic_faces import face_tables
from topoi.store.blocks import Blobs, Blocks, Columns, Table
from topoi.store.corpus_rows import position_blobs, years
from topoi.store.entry import N_RANKED
from topoi.store.mixture_rows import pack_mixture

# Function that returns a number for each of some counts, given their rows, their columns and the counts.
Weigh = Callable[[NDArray[Any], NDArray[Any], NDArray[Any]], NDArray[np.float64]]


def topic_tables(
    corpus: Corpus,
    first: TopicCounts,
    n_authors: int,
    private: bool,
    share: Weigh | None = None,
    probability: Weigh | None = None,
) -> dict[str, Table]:
    """The tables of a model with topics.

    Parameters
    ----------
    corpus, first : Corpus, TopicCounts
        The training corpus, and the model's first chain.
    n_authors, private : int, bool
        0 and true if the model has no authors.
    share : callable, optional
        Function of documents, topics and numbers that returns shares, to rank documents by; smoothed counts if absent.
    probability : callable, optional
        Function of words, topics and numbers that returns probabilities; smoothed counts if absent.
    """
    first = first.sparing()
    documents, words = first.documents.cell_blocks, first.word_blocks
    share, probability = share or _smoothed_shares(corpus, first), probability or _smoothed_words(first)
    tables: dict[str, Table] = {
        **face_tables(corpus, first),
        "topic_word": Blocks(lambda: _weighed(words(), ("word_id", "topic", "n_tokens", "probability"), probability)),
        "document_topic": Blocks(
            lambda: (_columns(("document_id", "topic", "n_tokens"), listed(*cells)) for cells in documents())
        ),
        "topic_document": ranked_rows(documents(), first.n_topics, ("document_id", "share"), share),
        "topic_trend": trend_rows(corpus, "topic", first.n_topics, documents()),
        "document_assignment": {
            "document_id": range(corpus.n_docs),
            "topics": Blobs(first.assignments.topic, corpus.doc_start, "<u2"),
            "author_positions": [None] * corpus.n_docs
            if private
            else position_blobs(first.assignments.slot, corpus.doc_start),
        },
    }
    mixtures = {"document": (documents, corpus.n_docs)}
    if first.n_samples > 1:
        mixtures["word"] = words, corpus.n_words
    if n_authors:
        tables |= _author_tables(first, n_authors)
        mixtures["author"] = (lambda: author_blocks(first, n_authors)), n_authors
    return tables | {"mixture": Blocks(lambda: (_mixture(first, kind, *of) for kind, of in mixtures.items()))}


def author_blocks(first: TopicCounts, n_authors: int) -> Iterator[Cells]:
    """Nonzero topic counts of authors, in blocks of authors."""
    for part in blocks(n_authors):
        counts = first.counts.author_topic[part, : first.n_topics]
        a, k = np.nonzero(counts)
        yield a + part.start, k, first.exact(counts[a, k])


def count_pairs(row: NDArray[Any], column: NDArray[Any], n_columns: int) -> tuple[NDArray[Any], ...]:
    """Number of occurrences of each pair, in order: rows, columns, numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.models.topic_rows import count_pairs
    >>> [a.tolist() for a in count_pairs(np.array([0, 1, 0]), np.array([2, 0, 2]), 3)]
    [[0, 1], [2, 0], [2, 1]]
    """
    keys, number = np.unique(row.astype(np.int64) * n_columns + column, return_counts=True)
    return keys // n_columns, keys % n_columns, number


def averaging_parameters(first: TopicCounts) -> dict[str, Any]:
    """Parameters of a stored model about averaging: the chain of its rows, and the samples that they are means of.

    Rows have rounded means; ``topic_sums`` are the topics' tokens summed over the samples. ``changed`` lists, for each
    earlier sample, the topics that have become others since; ``n_kept`` is the number of samples in the arrays.
    """
    n = first.n_samples
    sums = np.rint(first.topic_totals * n).astype(np.int64).tolist()
    changed, kept = ([], 0) if first.averaged is None else (first.averaged.changed, first.averaged.kept)
    return {"chain": first.index, "n_samples": n, "n_kept": kept, "topic_sums": sums, "changed": changed}


def _mixture(first: TopicCounts, kind: str, cells: Callable[[], Iterator[Cells]], n_rows: int) -> Columns:
    """One row of counts in the packed form of a mixture: sums over the samples."""
    sums = ((row, k, np.rint(n * first.n_samples)) for row, k, n in cells())
    return {name: [value] for name, value in ({"kind": kind} | pack_mixture(sums, n_rows)).items()}


def _columns(names: tuple[str, ...], values: tuple[NDArray[Any], ...]) -> Columns:
    return dict(zip(names, values, strict=True))


def _weighed(cells: Iterable[Cells], names: tuple[str, ...], weigh: Weigh) -> Iterator[Columns]:
    """Displayed counts, with the values of ``weigh`` for them."""
    for row, k, n in cells:
        yield _columns(names, (*listed(row, k, n), weigh(row, k, n)[n >= 0.5]))


def _smoothed_words(first: TopicCounts) -> Weigh:
    beta, room = first.beta, first.counts.topic + first.priors.beta_sum
    return lambda w, k, n: (n + beta[w]) / room[k]


def _smoothed_shares(corpus: Corpus, first: TopicCounts) -> Weigh:
    room, alpha = corpus.doc_lengths + first.alpha.sum(), first.alpha
    return lambda doc, k, n: (n + alpha[k]) / room[doc]


def _author_tables(first: TopicCounts, n_authors: int) -> dict[str, Table]:
    # Ranked by words, not by the topic's share of an author's work, which would put authors of one paper first.
    sums, alpha = np.zeros(first.n_topics), first.alpha
    for _, k, n in author_blocks(first, n_authors):
        np.add.at(sums, k, n)
    sums += n_authors * alpha

    def probability(_: NDArray[Any], k: NDArray[Any], n: NDArray[Any]) -> NDArray[np.float64]:
        return np.asarray((n + alpha[k]) / sums[k])

    def rows() -> Iterator[Columns]:
        for cells in author_blocks(first, n_authors):
            yield _columns(("author_id", "topic", "n_tokens"), listed(*cells))

    ranked = ranked_rows(author_blocks(first, n_authors), first.n_topics, ("author_id", "probability"), probability)
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


def trend_rows(corpus: Corpus, name: str, n_rows: int, cells: Iterable[Cells]) -> dict[str, Any]:
    """Tokens per topic (or other ``name``) and year, for all rows in every year with tokens.

    ``cells`` are blocks of documents, topics and numbers of tokens.
    """
    year, lengths = years(corpus), corpus.doc_lengths
    dated = np.isfinite(year) & (np.abs(year) < 1e9)
    values, at = np.unique(year[dated & (lengths > 0)].astype(np.int64), return_inverse=True)
    place = np.zeros(corpus.n_docs, np.int64)
    place[dated & (lengths > 0)] = at
    total = np.bincount(at, lengths[dated & (lengths > 0)], len(values))
    table = np.zeros((n_rows, len(values)))
    for doc, row, n in cells if len(values) else ():
        known = dated[doc]
        np.add.at(table, (row[known], place[doc[known]]), n[known])
    return {
        name: np.repeat(np.arange(n_rows), len(values)),
        "year": np.tile(values, n_rows),
        "n_tokens": whole_tokens(table.ravel()),
        "share": (table / np.maximum(total, 1)).ravel(),
    }
