"""Models with topics as rows of a store: counts in whole tokens, and who and what comes first in each topic."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.corpus import Corpus
from topoi.models.mixtures import listed, whole_tokens
from topoi.models.topic_counts import TopicCounts
from topoi.models.topic_faces import face_tables
from topoi.store.corpus_rows import cut_blobs, position_blobs, years
from topoi.store.entry import N_RANKED
from topoi.store.mixture_rows import pack_mixture

Columns = dict[str, Any]


class Ranked(NamedTuple):
    """Positions of the chosen values, group by group, and their ranks from 1."""

    at: NDArray[Any]
    rank: NDArray[Any]


def topic_tables(corpus: Corpus, first: TopicCounts, n_authors: int, private: bool) -> dict[str, Columns]:
    """The tables of a model with topics; ``n_authors`` is 0, and ``private`` true, if it knows no authors."""
    topic = first.assignments.topic
    doc, k, n = _document_cells(corpus, first)
    word, kw, nw = first.counts.word_cells()
    cells = word, kw, first.exact(nw)
    tables = {
        **face_tables(corpus, first, (doc, k, n), cells),
        "topic_word": _topic_word(first, *cells),
        "document_topic": _columns(("document_id", "topic", "n_tokens"), listed(doc, k, n)),
        "topic_document": _topic_document(first, corpus.doc_lengths, doc, k, n),
        "topic_trend": trend_rows(corpus, "topic", first.n_topics, doc, k, n),
        "document_assignment": {
            "document_id": range(corpus.n_docs),
            "topics": cut_blobs(topic.astype("<u2"), corpus.doc_start),
            "author_positions": [None] * corpus.n_docs
            if private
            else position_blobs(first.assignments.slot, corpus.doc_start),
        },
    }
    mixtures = [{"kind": "document"} | _packed(first, doc, k, n, corpus.n_docs)]
    if first.n_samples > 1:
        mixtures += [{"kind": "word"} | _packed(first, *cells, corpus.n_words)]
    if n_authors:
        counts = first.counts.author_topic[:n_authors, : first.n_topics]
        a, ka = np.nonzero(counts)
        of = a, ka, first.exact(counts[a, ka])
        tables |= _author_tables(first, n_authors, *of)
        mixtures += [{"kind": "author"} | _packed(first, *of, n_authors)]
    return tables | {"mixture": {name: [each[name] for each in mixtures] for name in mixtures[0]}}


def count_pairs(row: NDArray[Any], column: NDArray[Any], n_columns: int) -> tuple[NDArray[Any], ...]:
    """How often each pair occurs, in order: rows, columns, numbers.

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
    """For the parameters of a model in a store: the chain its rows are of, and the samples that they are means of.

    Rows have rounded means; ``topic_sums`` are the topics' tokens summed over the samples. ``changed`` lists, for each
    of the earlier samples, topics that have become others since; ``n_kept`` is how many samples the arrays have.
    """
    n = first.n_samples
    sums = np.rint(first.topic_totals * n).astype(np.int64).tolist()
    changed, kept = ([], 0) if first.averaged is None else (first.averaged.changed, first.averaged.kept)
    return {"chain": first.index, "n_samples": n, "n_kept": kept, "topic_sums": sums, "changed": changed}


def _document_cells(corpus: Corpus, first: TopicCounts) -> tuple[NDArray[Any], ...]:
    if first.n_samples > 1:
        return first.documents.cells()
    doc = np.repeat(np.arange(corpus.n_docs), corpus.doc_lengths)
    return count_pairs(doc, first.assignments.topic, first.n_topics)


def _packed(first: TopicCounts, row: NDArray[Any], k: NDArray[Any], n: NDArray[Any], n_rows: int) -> Columns:
    """Counts as a mixture has them: sums over the samples."""
    return pack_mixture(row, k, np.rint(n * first.n_samples), n_rows)


def _columns(names: tuple[str, ...], values: tuple[NDArray[Any], ...]) -> Columns:
    return dict(zip(names, values, strict=True))


def _topic_word(first: TopicCounts, w: NDArray[Any], k: NDArray[Any], n: NDArray[Any]) -> Columns:
    probability = (n + first.beta[w]) / (first.counts.topic[k] + first.priors.beta_sum)
    return _columns(("word_id", "topic", "n_tokens"), listed(w, k, n)) | {"probability": probability[n >= 0.5]}


def _author_tables(
    first: TopicCounts, n_authors: int, a: NDArray[Any], k: NDArray[Any], n: NDArray[Any]
) -> dict[str, Columns]:
    # By words, not by how much of an author's work the topic is: that would put authors of one paper first.
    sums = np.bincount(k, n, first.n_topics) + n_authors * first.alpha
    probability = ((n + first.alpha[k]) / sums[k])[n >= 0.5]
    a, k, n = listed(a, k, n)
    ranked = rank_within(k, probability, a)
    return {
        "author_topic": {"author_id": a, "topic": k, "n_tokens": n},
        "topic_author": {
            "topic": k[ranked.at],
            "rank": ranked.rank,
            "author_id": a[ranked.at],
            "n_tokens": n[ranked.at],
            "probability": probability[ranked.at],
        },
    }


def _topic_document(
    first: TopicCounts, lengths: NDArray[Any], doc: NDArray[Any], k: NDArray[Any], n: NDArray[Any]
) -> Columns:
    share = ((n + first.alpha[k]) / (lengths[doc] + first.alpha.sum()))[n >= 0.5]
    doc, k, n = listed(doc, k, n)
    ranked = rank_within(k, share, doc)
    return {
        "topic": k[ranked.at],
        "rank": ranked.rank,
        "document_id": doc[ranked.at],
        "n_tokens": n[ranked.at],
        "share": share[ranked.at],
    }


def documents_by_share(tables: dict[str, Columns], share: NDArray[np.float64]) -> Columns:
    """The table ``topic_document`` with documents ranked by ``share`` (documents × topics), not by smoothed counts."""
    doc, k, n = (tables["document_topic"][name] for name in ("document_id", "topic", "n_tokens"))
    ranked = rank_within(k, share[doc, k], doc)
    return {
        "topic": k[ranked.at],
        "rank": ranked.rank,
        "document_id": doc[ranked.at],
        "n_tokens": n[ranked.at],
        "share": share[doc, k][ranked.at],
    }


def rank_within(group: NDArray[Any], value: NDArray[Any], number: NDArray[Any]) -> Ranked:
    """The largest ``N_RANKED`` values of each group, ties by number."""
    order = np.lexsort((number, -value, group))
    sizes = np.bincount(group) if len(group) else np.zeros(0, np.int64)
    rank = np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    kept = rank < N_RANKED
    return Ranked(order[kept], rank[kept] + 1)


def trend_rows(
    corpus: Corpus, name: str, n_rows: int, doc: NDArray[Any], row: NDArray[Any], n: NDArray[Any]
) -> Columns:
    """Tokens per topic (or other ``name``) and year, for all rows in every year that has any tokens."""
    year, lengths = years(corpus), corpus.doc_lengths
    dated = np.isfinite(year) & (np.abs(year) < 1e9)
    values, at = np.unique(year[dated & (lengths > 0)].astype(np.int64), return_inverse=True)
    place = np.zeros(corpus.n_docs, np.int64)
    place[dated & (lengths > 0)] = at
    total = np.bincount(at, lengths[dated & (lengths > 0)], len(values))
    known = dated[doc]
    cells = row[known] * len(values) + place[doc[known]]
    table = np.bincount(cells, n[known], n_rows * len(values)).reshape(n_rows, len(values))
    return {
        name: np.repeat(np.arange(n_rows), len(values)),
        "year": np.tile(values, n_rows),
        "n_tokens": whole_tokens(table.ravel()),
        "share": (table / np.maximum(total, 1)).ravel(),
    }
