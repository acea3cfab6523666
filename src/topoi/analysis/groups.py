"""Groups of documents compared by their topics: differences with intervals and tests, and the documents behind them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from topoi.analysis.documents import document_interval
from topoi.analysis.given import need_topic, need_topics
from topoi.analysis.groupings import REST, Pair, find_pairs, numbered_pair
from topoi.analysis.permutations import permutation_p_values
from topoi.analysis.trends import column_of
from topoi.corpus.corpus import Corpus
from topoi.errors import ModelError
from topoi.models.contract import InStore, ReadsMetadata, SeedLike
from topoi.models.large_groups import resampled_shares
from topoi.models.resampling import LEVEL, Draws, Groups, joined_draws
from topoi.models.share_moments import Moments
from topoi.models.smoothed_counts import whole_tokens
from topoi.models.validation import checked_tail, resolve_seed, whole_number

_REPLICATES = 1000
# Numbers to hold at once, eight bytes each.
_NUMBERS_AT_ONCE = 2**23

Array = NDArray[np.float64]


class Counted(NamedTuple):
    """Documents with their words per topic: a sparse matrix, documents × topics, lengths, and posterior draws.

    Counts are in parts of a word: the matrix may hold sums over so many samples.
    """

    counts: Any
    lengths: Array
    draws: Draws
    documents: pd.DataFrame
    parts: int = 1


def compare_groups(
    model: Any,
    by: str | None,
    groups: Any = None,
    corpus: Corpus | None = None,
    units: str | None = None,
    level: float = LEVEL,
    n_permutations: int = 999,
    random_state: SeedLike = 0,
) -> pd.DataFrame:
    """Topics by how much more one group of documents has of them than another, with intervals and tests.

    The difference is that of the topic's shares of the groups' words. Its interval, like those of the shares, combines
    the samples of the chain with resampled documents, as in ``topic_trends``. The p-value is that of a permutation
    test: how often documents shuffled between the groups differ as much, measured in standard errors. The q-value is
    the false-discovery rate among all rows with that p-value or a smaller one (Benjamini and Hochberg).

    Parameters
    ----------
    model : fitted model with topics, or ModelView
        Any family.
    by : str or None
        A column of ``corpus.documents``, "decade", or "authors"; None if ``groups`` are documents.
    groups : value, pair of values, list of one or two arrays, or None
        Two values are compared with each other, one with all other documents. A value of a number may be a range, as in
        ``(1990, 1999)`` or ``"1990..1999"``, both ends included. If not given, two values are compared with each other,
        and each of several with all other documents. Without ``by``: one or two arrays of numbers of documents, such as
        those of ``ModelView.documents_with``; documents that are in both are left out.
    corpus : Corpus, optional
        The documents; the training corpus if not given.
    units : str, optional
        A column whose equal values mark documents that belong together, such as passages of one speech or chapters of
        one book: they are resampled and shuffled together. Without it every document counts as independent, and
        intervals of passages are too narrow.
    level : float
        Each interval holds this much probability.
    n_permutations : int
        Least number of permutations; with thousands of documents, more of them take no longer. P-values down to
        1 / (n_permutations + 1) are exact; smaller ones are those of a tail fitted to the permutations, and orders of
        magnitude rather than digits.
    random_state : int, Generator or None
        Seed of permutations and resampled documents.

    Returns
    -------
    DataFrame
        group, other, topic, share, share_lower, share_upper, other_share, other_share_lower, other_share_upper,
        difference, lower, upper (of the difference), p_value, q_value; the topics of which a group has most more come
        first. ``attrs["n_documents"]`` has the numbers of documents, and ``attrs["note"]`` warns if the model used
        the groups: its topics then follow them, and p-values are too small.

    Examples
    --------
    >>> import topoi
    >>> words = [["tax", "cost"], ["tax", "debt"], ["peace", "war"], ["war", "army"]] * 10
    >>> corpus = topoi.Corpus.from_tokens([row * 5 for row in words], metadata={"party": ["A", "A", "B", "B"] * 10})
    >>> frame = topoi.compare_groups(topoi.LDA(2, alpha=0.1, n_iter=50, random_state=0).fit(corpus), by="party")
    >>> frame["difference"].round(1).tolist(), bool((frame["q_value"] < 0.05).all())
    ([1.0, -1.0], True)
    """
    need_topics(model, "their shares were to be compared")
    tail, wanted = checked_tail(level), whole_number("n_permutations", n_permutations, 19)
    seed = resolve_seed(random_state)
    counted = _counted(model, corpus)
    if by is None:
        pairs = [numbered_pair(groups, counted.lengths > 0)]
    else:
        pairs = find_pairs(model, counted.documents, counted.lengths, by, groups, own_authors=corpus is None)
    unit = None if units is None else _units(counted.documents, units)
    frames = [_compared(*_together(counted, pair, unit), tail, wanted, seed) for pair in pairs]
    frame = _with_rates(frames)
    frame.attrs["n_documents"] = {pair.name: len(pair.ours) for pair in pairs} | (
        {} if pairs[0].other == REST else {pairs[0].other: len(pairs[0].theirs)}
    )
    if by is not None and was_told(model, by):
        frame.attrs["note"] = f"the model itself read {by!r}: its topics follow the groups, and p-values are too small"
    return frame


def compare_pair(
    model: Any,
    pair: Pair,
    units: str | None = None,
    level: float = LEVEL,
    n_permutations: int = 999,
    random_state: SeedLike = 0,
) -> pd.DataFrame:
    """``compare_groups`` for any two groups of the model's documents, such as those that pass two filters.

    Parameters
    ----------
    model : fitted model with topics, or ModelView
        Any family.
    pair : Pair
        Names of the groups, and the numbers of their documents; see ``topoi.analysis.groupings.make_pair``.
    units, level, n_permutations, random_state
        As in ``compare_groups``.

    Examples
    --------
    >>> import numpy as np, topoi
    >>> from topoi.analysis.groups import compare_pair
    >>> from topoi.analysis.groupings import Pair
    >>> corpus = topoi.Corpus.from_tokens([["tax", "cost"] * 5, ["war", "army"] * 5] * 10)
    >>> model = topoi.LDA(2, alpha=0.1, n_iter=50, random_state=0).fit(corpus)
    >>> frame = compare_pair(model, Pair("even", "odd", np.arange(0, 20, 2), np.arange(1, 20, 2)))
    >>> frame["difference"].round(1).tolist()
    [1.0, -1.0]
    """
    need_topics(model, "their shares were to be compared")
    tail, wanted = checked_tail(level), whole_number("n_permutations", n_permutations, 19)
    counted = _counted(model, None)
    unit = None if units is None else _units(counted.documents, units)
    frame = _with_rates([_compared(*_together(counted, pair, unit), tail, wanted, resolve_seed(random_state))])
    frame.attrs["n_documents"] = {pair.name: len(pair.ours), pair.other: len(pair.theirs)}
    return frame


def _with_rates(frames: list[pd.DataFrame]) -> pd.DataFrame:
    frame = pd.concat(frames, ignore_index=True)
    frame["q_value"] = false_discovery_rates(frame["p_value"].to_numpy())
    return frame


def group_documents(
    model: Any,
    topic: int,
    by: str,
    groups: Any = None,
    corpus: Corpus | None = None,
    n: int = 10,
    level: float | None = LEVEL,
) -> pd.DataFrame:
    """Documents that make the difference between two groups: without them it would be smaller.

    Parameters
    ----------
    model, by, groups, corpus
        As in ``compare_groups``; if several groups are compared with all others, name one.
    topic : int
        The topic's number.
    n : int
        Number of documents.
    level : float, optional
        Probability of the interval of each share, as in ``topic_documents``; None leaves intervals out.

    Returns
    -------
    DataFrame
        topic, rank, document (number), id, title and year if there are any, group, share (of the document's words, a
        posterior mean as in ``topic_documents``), lower, upper (of the share; missing for documents of a ``corpus``),
        n_words (its words in the topic, rounded), effect: by how much the difference, which counts the words
        themselves, would be smaller without the document.

    Examples
    --------
    >>> import topoi
    >>> words = [["tax", "cost"], ["tax", "debt"], ["peace", "war"], ["war", "army"]] * 10
    >>> corpus = topoi.Corpus.from_tokens([row * 5 for row in words], metadata={"party": ["A", "A", "B", "B"] * 10})
    >>> model = topoi.LDA(2, alpha=0.1, n_iter=50, random_state=0).fit(corpus)
    >>> topoi.group_documents(model, 0, by="party", n=2)["rank"].tolist()
    [1, 2]
    """
    need_topics(model, "a topic was named")
    k, wanted = need_topic(model, topic), whole_number("n", n)
    model = model.load() if corpus is not None and isinstance(model, InStore) else model
    counted = _counted(model, corpus)
    pairs = find_pairs(model, counted.documents, counted.lengths, by, groups, own_authors=corpus is None)
    if len(pairs) > 1:
        raise ModelError(f"{by!r} has {len(pairs)} values; name the group, or two of them, as groups=")
    return _behind(model, counted, pairs[0], k, wanted, corpus, level)


def pair_documents(model: Any, topic: int, pair: Pair, n: int = 10, level: float | None = LEVEL) -> pd.DataFrame:
    """``group_documents`` for any two groups of the model's documents.

    Examples
    --------
    >>> import numpy as np, topoi
    >>> from topoi.analysis.groups import pair_documents
    >>> from topoi.analysis.groupings import Pair
    >>> corpus = topoi.Corpus.from_tokens([["tax", "cost"] * 5, ["war", "army"] * 5] * 10)
    >>> model = topoi.LDA(2, alpha=0.1, n_iter=50, random_state=0).fit(corpus)
    >>> len(pair_documents(model, 0, Pair("even", "odd", np.arange(0, 20, 2), np.arange(1, 20, 2)), n=3))
    3
    """
    need_topics(model, "a topic was named")
    k, wanted = need_topic(model, topic), whole_number("n", n)
    return _behind(model, _counted(model, None), pair, k, wanted, None, level)


def _behind(
    model: Any, counted: Counted, pair: Pair, k: int, wanted: int, corpus: Corpus | None, level: float | None
) -> pd.DataFrame:
    column = counted.counts[:, [k]].toarray()[:, 0] / counted.parts
    parts = [_effects(column, counted.lengths, rows, sign) for rows, sign in ((pair.ours, 1.0), (pair.theirs, -1.0))]
    rows, effect = np.concatenate([pair.ours, pair.theirs]), np.concatenate(parts)
    difference = np.subtract(*(column[each].sum() / counted.lengths[each].sum() for each in (pair.ours, pair.theirs)))
    effect = effect * (1.0 if difference >= 0 else -1.0)
    best = np.argsort(-effect, kind="stable")[:wanted]
    names = np.where(np.arange(len(rows)) < len(pair.ours), pair.name, pair.other)
    named = _named(model, counted.documents, rows[best], corpus)
    return pd.DataFrame(
        {"topic": k, "rank": np.arange(1, len(best) + 1)}
        | named
        | {"group": names[best]}
        | _document_shares(model, k, rows[best], corpus, level)
        | {"n_words": whole_tokens(column[rows[best]]), "effect": effect[best]}
    )


def false_discovery_rates(p: NDArray[Any]) -> Array:
    """Smallest false-discovery rate at which each test would be rejected (Benjamini and Hochberg 1995).

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.analysis.groups import false_discovery_rates
    >>> false_discovery_rates(np.array([0.01, 0.04, 0.03, 0.5])).round(3).tolist()
    [0.04, 0.053, 0.053, 0.5]
    """
    order = np.argsort(p, kind="stable")[::-1]
    rank = np.arange(len(p), 0, -1)
    rates = np.empty(len(p))
    rates[order] = np.minimum.accumulate(np.minimum(np.asarray(p, np.float64)[order] * len(p) / rank, 1.0))
    return rates


# The documents and their groups.


def _counted(model: Any, corpus: Corpus | None) -> Counted:
    from scipy.sparse import csr_array

    if corpus is None:
        first = model.chains_[0]
        start, topic, sums = first.documents.sums
        counts = csr_array((sums, topic.astype(np.int32), start), (len(start) - 1, first.n_topics))
        rest = first.documents.totals, first.document_draws(), model.catalogue_.documents
        return Counted(counts, *rest, first.n_samples)
    if not isinstance(corpus, Corpus):
        raise ModelError(f"corpus is {type(corpus).__name__}; pass a topoi.Corpus, whose documents have columns")
    model = model.load() if isinstance(model, InStore) else model
    dense, draws = model.topic_draws(corpus)
    sums = np.rint(dense * draws.n_draws)
    if np.allclose(sums, dense * draws.n_draws, rtol=0.0, atol=1e-6):  # means over samples, of training documents
        return Counted(csr_array(sums), dense.sum(axis=1), draws, corpus.documents, draws.n_draws)
    return Counted(csr_array(dense), dense.sum(axis=1), draws, corpus.documents)


def was_told(model: Any, by: str) -> bool:
    """Whether the model's topics depend on the column itself."""
    names: set[str] = set()
    if isinstance(model, InStore):
        given = model.settings.get("features") or []
        names = {given} if isinstance(given, str) else {str(name) for name in given}
    elif isinstance(model, ReadsMetadata) and model.reads_features:
        names = {column.name for column in model.feature_columns_}
    return by in names or (by == "decade" and "year" in names) or (by == "authors" and len(model.authors_) > 0)


def _units(documents: pd.DataFrame, units: str) -> NDArray[np.int64]:
    """Number of each document's unit; documents without a value are each their own."""
    values = column_of(documents, units)
    number = pd.factorize(values.map(str, na_action="ignore"))[0].astype(np.int64)
    alone = number < 0
    number[alone] = number.max(initial=-1) + 1 + np.arange(alone.sum())
    return number


def _together(counted: Counted, pair: Pair, unit: NDArray[np.int64] | None) -> tuple[Counted, Pair]:
    """Units in place of documents; a unit that is in both groups is one in each."""
    if unit is None:
        return counted, pair
    from scipy.sparse import csr_array

    rows = [np.unique(unit[each], return_inverse=True)[1] for each in (pair.ours, pair.theirs)]
    numbers = [int(each.max(initial=-1)) + 1 for each in rows]
    for who, n in zip((pair.name, pair.other), numbers, strict=True):
        if n < 2:
            raise ModelError(f"{who!r} has one unit; a comparison needs two or more")
    place = np.full(len(unit), -1)
    place[pair.ours], place[pair.theirs] = rows[0], rows[1] + numbers[0]
    inside, n_units = np.flatnonzero(place >= 0), sum(numbers)
    adding = csr_array((np.ones(len(inside)), (place[inside], inside)), (n_units, len(unit)))
    found = Counted(
        csr_array(adding @ counted.counts),
        np.asarray(adding @ counted.lengths),
        joined_draws(counted.draws, place, n_units),
        counted.documents,
        counted.parts,
    )
    return found, Pair(pair.name, pair.other, np.arange(numbers[0]), np.arange(numbers[0], n_units))


# Numbers.


def _compared(counted: Counted, pair: Pair, tail: float, n_permutations: int, seed: int) -> pd.DataFrame:
    group = np.full(len(counted.lengths), -1)
    group[pair.ours], group[pair.theirs] = 0, 1
    groups = Groups(group, counted.lengths, 2)
    shares = np.stack([_share(counted, rows) for rows in (pair.ours, pair.theirs)])
    (lower, upper), ends = _ends(groups, counted.draws, shares, tail, seed)
    difference = shares[0] - shares[1]
    columns: dict[str, Any] = {"group": pair.name, "other": pair.other, "topic": np.arange(counted.draws.n_columns)}
    for name, share, low, high in zip(("share", "other_share"), shares, *ends, strict=True):
        columns |= {name: share, f"{name}_lower": low, f"{name}_upper": high}
    p = permutation_test(counted, pair, n_permutations, seed)
    columns |= {"difference": difference, "lower": lower, "upper": upper, "p_value": p}
    order = np.argsort(-difference, kind="stable")
    return pd.DataFrame(columns).iloc[order].reset_index(drop=True)


def _share(counted: Counted, rows: NDArray[np.int64]) -> Array:
    mark = np.zeros(len(counted.lengths))
    mark[rows] = 1.0
    return np.asarray(mark @ counted.counts) / counted.parts / counted.lengths[rows].sum()


def _ends(
    groups: Groups, draws: Draws, shares: Array, tail: float, seed: int
) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    """Ends of the intervals of differences, and of the groups' shares (groups × topics)."""
    n = min(_REPLICATES, max(_NUMBERS_AT_ONCE // (2 * draws.n_columns), 200))
    found = resampled_shares(groups, draws, n, seed)
    return _around(shares[0] - shares[1], found[0] - found[1], tail), _around(shares, found, tail)


def _around(value: Array, replicates: Array, tail: float) -> tuple[Array, Array]:
    """Quantiles of replicates (the last axis), widened to include the values themselves."""
    lower, upper = np.quantile(replicates, (tail, 1.0 - tail), axis=-1)
    return np.minimum(lower, value), np.maximum(upper, value)


def permutation_test(counted: Counted, pair: Pair, n_permutations: int, seed: int) -> Array:
    """P-value of each topic: how often other groupings differ by as many standard errors, or more."""
    inside = np.zeros(len(counted.lengths), bool)
    inside[pair.ours] = inside[pair.theirs] = True
    ours = np.zeros(len(inside), bool)
    ours[pair.ours] = True
    counts = counted.counts if inside.all() else counted.counts[np.flatnonzero(inside)]
    return permutation_p_values(
        counts, counted.lengths[inside], ours[inside], n_permutations, seed, parts=counted.parts
    )


def _effects(column: Array, lengths: Array, rows: NDArray[np.int64], sign: float) -> Array:
    """Decrease of the difference if each document of a group were left out."""
    total, words = column[rows].sum(), lengths[rows].sum()
    without = (total - column[rows]) / np.maximum(words - lengths[rows], 1e-300)
    return np.asarray(sign * (total / words - without))


def _named(model: Any, documents: pd.DataFrame, rows: NDArray[np.int64], corpus: Corpus | None) -> dict[str, Any]:
    if corpus is None:
        return dict(model.catalogue_.document_columns(rows))
    frame = documents.iloc[rows]
    return {"document": rows} | {name: frame[name].array for name in ("id", "title", "year") if name in frame}


def _document_shares(
    model: Any, topic: int, rows: NDArray[np.int64], corpus: Corpus | None, level: float | None
) -> dict[str, Array]:
    """Shares of a topic in documents, and their intervals; those of other documents than the model's have no ends."""
    if corpus is None:
        share = model.chains_[0].topic_shares(topic)[rows]
        ends = document_interval(model, topic, rows, share, level)
    else:
        share = np.asarray(model.transform(corpus.subset(rows)))[:, topic]
        ends = None if level is None else Moments(share, None).interval(level)
    return {"share": share} | ({} if ends is None else {"lower": ends[0], "upper": ends[1]})
