"""Rows of models with topics for a store: counts in whole tokens, leading authors and documents, summaries, mixtures.

Counts are processed in blocks, once per table, so that memory does not grow with the corpus.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterable, Iterator
from copy import copy
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.analysis.topic_distances import jensen_shannon_of_counts, symmetrised_kl
from topoi.corpus.blocks import Blobs, Blocks, Columns, Table, position_blobs
from topoi.corpus.corpus import Corpus
from topoi.corpus.pieces import occurrences, ranges
from topoi.drawing.topic_layout import topic_hues, topic_map
from topoi.models.leaders import Leaders
from topoi.models.periods import trend_rows
from topoi.models.posterior import Posterior
from topoi.models.ranking import N_NEIGHBOURS, N_RANKED, N_WORDS, SUMMARY_RELEVANCE, relevance_scores
from topoi.models.smoothed_counts import Cells, listed
from topoi.store.tasks import Tasks

_CELLS_AT_ONCE = 2**17


def summary_tables(corpus: Corpus, first: Posterior, tasks: Tasks) -> dict[str, Table]:
    """Tables ``topic_neighbour`` and ``topic`` of a model's first chain; ``tasks`` make their parts."""
    total = first.counts.topic
    share = total / max(float(total.sum()), 1.0)
    names = tasks.begin(lambda: first.named(corpus))
    places = tasks.begin(lambda: _topic_map(first, share) if tasks.places else None)
    hues = tasks.begin(lambda: topic_hues(first.documents.cell_blocks(), first.n_topics)) if tasks.hues else None
    words = tasks.begin(lambda: _leading_words(corpus, first))
    neighbours = tasks.begin(lambda: topic_neighbours(symmetrised_kl(first.positive_columns, len(first.beta))))
    deviation = tasks.begin(lambda: first.size_moments.deviation)

    def topics() -> Columns:
        nowhere, place = [None] * first.n_topics, places()
        columns: dict[str, Any] = {
            "topic": np.arange(first.n_topics),
            "n_tokens": first.topic_sizes,
            "share": share,
            "deviation": np.asarray(deviation()),
            "alpha": first.alpha,
            "hue": np.zeros(first.n_topics, np.int64) if hues is None else hues(),
            "x": nowhere if place is None else place[:, 0],
            "y": nowhere if place is None else place[:, 1],
            "glue": names().background.astype(np.int64),
            "label": names().labels,
            "words": words(),
        }
        return columns

    return {"topic_neighbour": tasks.table(neighbours), "topic": tasks.table(topics)}


def _topic_map(first: Posterior, share: NDArray[np.float64]) -> NDArray[np.float64] | None:
    return topic_map(jensen_shannon_of_counts(_with_seeds(first), first.word_room, first.beta), share)


def _with_seeds(first: Posterior) -> Callable[[slice], NDArray[Any]]:
    """Function that returns tokens of words in topics, words × topics, with the phantom tokens of seeds."""
    told = first.source.phantoms
    if told is None:
        return first.counts.word_rows
    return lambda part: first.source.word_rows(part) + told.seed_rows(np.arange(part.start, part.stop))


def _leading_words(corpus: Corpus, first: Posterior) -> list[str]:
    """Most relevant words of each topic, as JSON lists; by plain probability many topics would begin alike."""
    times = occurrences(corpus.tokens, corpus.n_words)
    leaders = Leaders(first.n_topics, N_WORDS)
    for part in ranges(corpus.n_words, max(_CELLS_AT_ONCE // first.n_topics, 1)):
        score = relevance_scores(first.word_columns(part), times[part], SUMMARY_RELEVANCE)
        # A word that is banned from a topic scores minus infinity.
        topic, word = np.nonzero((score >= leaders.least[:, None]) & (score > -np.inf))
        leaders.add(topic, score[topic, word], word + part.start)
    found = leaders.found()
    lists = np.split(corpus.words[found.number], np.searchsorted(found.group, np.arange(1, first.n_topics)))
    return [json.dumps([str(word) for word in best], ensure_ascii=False) for best in lists]


def topic_neighbours(distance: NDArray[np.float64]) -> dict[str, Any]:
    """Nearest other topics of each topic, ties by number.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.store.topic_rows import topic_neighbours
    >>> topic_neighbours(np.array([[0.0, 3.0, 2.0], [3.0, 0.0, 1.0], [2.0, 1.0, 0.0]]))["other"].tolist()
    [2, 1, 2, 0, 1, 0]
    """
    n_topics = len(distance)
    apart = distance + np.diag(np.full(n_topics, np.inf))
    n = min(N_NEIGHBOURS, n_topics - 1)
    other = np.argsort(apart, axis=1, kind="stable")[:, :n]
    return {
        "topic": np.repeat(np.arange(n_topics), n),
        "rank": np.tile(np.arange(1, n + 1), n_topics),
        "other": other.ravel(),
        "distance": np.take_along_axis(distance, other, axis=1).ravel(),
    }


# Documents to a row of ``document_share``, and the type of its numbers.
SHARES_AT_ONCE, SHARE_TYPE = 1024, "<f2"
_TYPES = {"row_start": "<i8", "topic": "<u2", "n_tokens": "<u4"}
DEVIATIONS = "<f2"


def pack_mixture(cells: Iterable[tuple[NDArray[Any], NDArray[Any], NDArray[Any]]], n_rows: int) -> dict[str, Any]:
    """Columns of a ``mixture`` row after its kind, from blocks of (row, topic, count) triples sorted by row.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.store.topic_rows import pack_mixture
    >>> sorted(pack_mixture([(np.array([0, 0, 2]), np.array([1, 4, 0]), np.array([7, 1, 2]))], 3))
    ['n_rows', 'n_tokens', 'row_start', 'topic']
    """
    start, topics, numbers = np.zeros(n_rows + 1, np.int64), _Packer("topic"), _Packer("n_tokens")
    for row, topic, n_tokens in cells:
        if len(row):
            start[row[0] + 1 : row[-1] + 2] += np.bincount(row - row[0])
        topics.add(topic)
        numbers.add(n_tokens)
    np.cumsum(start, out=start)
    starts = _Packer("row_start")
    for part in ranges(n_rows + 1):
        starts.add(start[part])
    return {"n_rows": n_rows, "row_start": starts.bytes(), "topic": topics.bytes(), "n_tokens": numbers.bytes()}


def pack_shares(shares: NDArray[Any]) -> bytes:
    """Mixtures of some documents, or their deviations, as a blob of ``document_share``."""
    return zlib.compress(shares.astype(SHARE_TYPE).tobytes(), 1)


class _Packer:
    """Incremental compression of numbers."""

    def __init__(self, name: str) -> None:
        self._dtype, self._packer, self._parts = _TYPES[name], zlib.compressobj(1), list[bytes]()

    def add(self, values: NDArray[Any]) -> None:
        self._parts.append(self._packer.compress(values.astype(self._dtype).tobytes()))

    def bytes(self) -> bytes:
        return b"".join([*self._parts, self._packer.flush()])


# Function that returns a number for each of some counts, given their rows, their columns and the counts.
Weigh = Callable[[NDArray[Any], NDArray[Any], NDArray[Any]], NDArray[np.float64]]


def topic_tables(corpus: Corpus, first: Posterior, tasks: Tasks | None = None) -> dict[str, Table]:
    """The tables that all models with topics have, from the first chain of a fitted model.

    Parameters
    ----------
    corpus : Corpus
        The training corpus.
    first : Posterior
        The chain.
    tasks : Tasks, optional
        Where tables that are long in the making are made; they are the last ones to be written.
    """
    tasks = tasks or Tasks()
    source = first.arrays.sparing()
    if source is not first.source:
        first = copy(first)
        first.source = source
    documents, words, n_authors = first.documents.cell_blocks, source.word_blocks, source.n_authors
    names = "word_id", "topic", "n_tokens", "probability"
    summary = summary_tables(corpus, first, tasks)
    trends = tasks.begin(lambda: trend_rows(corpus, "topic", documents(), first.document_draws()))
    leading = tasks.begin(lambda: ranked_rows(documents(), first.n_topics, ("document_id", "share"), first.shares_of))
    tables: dict[str, Table] = {
        "topic_word": Blocks(lambda: chain(_weighed(words(), names, first.probabilities_of), _seeds(first, names))),
        "document_topic": Blocks(
            lambda: (_columns(("document_id", "topic", "n_tokens"), listed(*cells)) for cells in documents())
        ),
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
    if first.has_private_authors:
        mixtures["written"] = first.written.cell_blocks, n_authors
    if not first.mixtures_are_counts:
        tables["document_share"] = Blocks(lambda: _share_rows(first, corpus.n_docs))
    packed = [tasks.begin(partial(_mixture, first, kind, *of)) for kind, of in mixtures.items()]
    tables["mixture"] = Blocks(lambda: (row() for row in packed))
    tables |= {
        "topic_trend": tasks.table(lambda: trends()["year"]),
        "topic_decade": tasks.table(lambda: trends()["decade"]),
    }
    return tables | {"topic_document": tasks.table(leading)} | summary


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
    found: dict[str, Any] = {"kind": kind} | pack_mixture(sums, n_rows) | {"deviation": None}
    if kind == "written" or (kind == "author" and first.n_samples > 1 and not first.has_private_authors):
        found["deviation"] = zlib.compress(first.written_deviations.astype(DEVIATIONS).tobytes(), 1)
    return {name: [value] for name, value in found.items()}


def _share_rows(first: Posterior, n_docs: int) -> Iterator[Columns]:
    """Mixtures of documents that do not follow from their counts."""
    for part, rows in enumerate(ranges(n_docs, SHARES_AT_ONCE)):
        shares, spread = first.mixture_range(rows.start, rows.stop), first.deviation_range(rows.start, rows.stop)
        yield {
            "part": [part],
            "shares": [pack_shares(shares)],
            "deviations": [None if spread is None else pack_shares(spread)],
        }


def _columns(names: tuple[str, ...], values: tuple[NDArray[Any], ...]) -> Columns:
    return dict(zip(names, values, strict=True))


def _weighed(cells: Iterable[Cells], names: tuple[str, ...], weigh: Weigh) -> Iterator[Columns]:
    """Displayed counts, with the values of ``weigh`` for them."""
    for row, k, n in cells:
        yield _columns(names, (*listed(row, k, n), weigh(row, k, n)[n >= 0.5]))


def _seeds(first: Posterior, names: tuple[str, ...]) -> Iterator[Columns]:
    """Seed words that a topic has no tokens of: they have a probability all the same."""
    told = first.source.phantoms
    if told is None or not len(told.word):
        return
    word, place = np.unique(told.word, return_inverse=True)
    lacking = first.source.word_rows(word)[place, told.topic] < 0.5
    w, k = told.word[lacking], told.topic[lacking]
    n = first.source.word_rows(word)[place, told.topic][lacking]
    yield _columns(names, (w, k, np.zeros(len(w), np.int64), first.probabilities_of(w, k, n)))


def _author_tables(first: Posterior, n_authors: int) -> dict[str, Table]:
    # Ranked by words, not by the topic's share of an author's work, which would put authors of one paper first.
    sums, alpha = np.zeros(first.n_topics), first.alpha
    written = first.written.cell_blocks if first.has_private_authors else first.arrays.author_blocks
    for _, k, n in written():
        np.add.at(sums, k, n)
    sums += n_authors * alpha

    def probability(_: NDArray[Any], k: NDArray[Any], n: NDArray[Any]) -> NDArray[np.float64]:
        return np.asarray((n + alpha[k]) / sums[k])

    def rows() -> Iterator[Columns]:
        for cells in first.arrays.author_blocks():
            yield _columns(("author_id", "topic", "n_tokens"), listed(*cells))

    ranked = ranked_rows(written(), first.n_topics, ("author_id", "probability"), probability)
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
