"""Comparison of two models of the file, with their topics aligned."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from typing_extensions import TypedDict

from topoi.errors import ModelError
from topoi.web.pages import parameters
from topoi.web.pages.context import PageContext
from topoi.web.pages.page import Kept, Page, PageFile, numbered
from topoi.web.pages.shapes import Model, TopicSummary
from topoi.web.pages.text import short
from topoi.web.tables import Tables, lists_in

if TYPE_CHECKING:
    import pandas as pd

N_WORDS = 12
_ALL = -1
_LONGEST_WORD = 100


class Pair(TypedDict):
    """Two corresponding topics: what part of their words both have, and their symmetrised KL distance in nats.

    ``clear`` is false if they share no more than nine in ten topics that are no pair: then they are no match.
    """

    first: TopicSummary
    second: TopicSummary
    shared: float
    distance: float
    clear: bool


class Unmatched(TypedDict):
    """A topic without a partner, the topic of the other model that shares most with it, and how much they share."""

    topic: TopicSummary
    nearest: TopicSummary
    shared: float


class SideWord(TypedDict):
    """A word of two topics: its probabilities in both, and the smaller one, which is what both share of it."""

    word_id: int
    word: str
    first: float
    second: float
    shared: float


class SideBySide(TypedDict):
    """Two topics beside each other: what part of their words they share, and words of both and of either."""

    first: TopicSummary
    second: TopicSummary
    shared: float
    both: list[SideWord]
    only_first: list[SideWord]
    only_second: list[SideWord]


class Matrix(TypedDict):
    """Part of their words that any two topics share; corresponding topics are on the diagonal."""

    rows: list[int]
    columns: list[int]
    shared: list[list[float]]


class Unpaired(TypedDict):
    """Words shared by topics that are no pair: half of them less than the median, nine of ten less than most."""

    median: float
    most: float


class ComparePage(TypedDict):
    """Two models side by side."""

    kind: Literal["compare"]
    first: Model
    second: Model | None
    choices: list[Model]
    pairs: list[Pair]
    matrix: Matrix | None
    unpaired: Unpaired | None
    unmatched_first: list[Unmatched]
    unmatched_second: list[Unmatched]
    beside: SideBySide | None
    pending: list[str]


def compare_page(
    context: PageContext,
    other: parameters.OtherSlug = None,
    first: parameters.FirstTopic = None,
    second: parameters.SecondTopic = None,
) -> ComparePage:
    """The pairs of corresponding topics, the nearest first, what all topics of both models share, and two in detail."""
    choices = [
        model for model in context.snapshot.models if model["n_topics"] and model["name"] != context.model["name"]
    ]
    page = ComparePage(
        kind="compare",
        first=context.model,
        second=None,
        choices=choices,
        pairs=[],
        matrix=None,
        unpaired=None,
        unmatched_first=[],
        unmatched_second=[],
        beside=None,
        pending=context.pending("compare") if other is not None else [],
    )
    if other is None:
        return page
    compared = context.watcher.context(other)
    if not (context.has_topics and compared.has_topics):
        raise ModelError("only models with topics can be compared")
    if compared.model["name"] == context.model["name"]:
        raise ModelError("choose another model to compare with: this is the same one")
    page["second"] = compared.model
    if page["pending"]:
        return page
    found = context.cache.keep(("alignment", compared.cache.digest), lambda: _aligned(context, compared))
    page["matrix"], page["unpaired"] = found["matrix"], found["unpaired"]
    usual = found["unpaired"]["most"] if found["unpaired"] else 0.0
    page["pairs"] = [
        Pair(first=context.badge(a), second=compared.badge(b), shared=shared, distance=distance, clear=shared > usual)
        for a, b, shared, distance in found["pairs"]
    ]
    page["unmatched_first"], page["unmatched_second"] = (
        [Unmatched(topic=own.badge(k), nearest=others.badge(near), shared=shared) for k, near, shared in rows]
        for own, others, rows in ((context, compared, found["alone"][0]), (compared, context, found["alone"][1]))
    )
    if first is not None and second is not None:
        page["beside"] = _beside(context, compared, first, second)
    return page


def _beside(context: PageContext, compared: PageContext, first: int, second: int) -> SideBySide:
    """Two topics word by word."""
    context.check_topic(first)
    compared.check_topic(second)
    sides = ((context, first), (compared, second))
    rows = [side.rows("topic_word_counts", topic=topic, n=_ALL) for side, topic in sides]
    names = {row[0]: row[1] for side in rows for row in side}
    p, q = ({row[0]: row[3] for row in side} for side in rows)
    words = [
        SideWord(
            word_id=w,
            word=short(name, _LONGEST_WORD),
            first=p.get(w, 0.0),
            second=q.get(w, 0.0),
            shared=min(p.get(w, 0.0), q.get(w, 0.0)),
        )
        for w, name in sorted(names.items())
    ]
    return SideBySide(
        first=context.badge(first),
        second=compared.badge(second),
        shared=sum(word["shared"] for word in words),
        both=_leading(words, lambda word: word["shared"]),
        only_first=_leading(words, lambda word: word["first"] - word["second"]),
        only_second=_leading(words, lambda word: word["second"] - word["first"]),
    )


def _leading(words: list[SideWord], size: Callable[[SideWord], float]) -> list[SideWord]:
    return sorted((word for word in words if size(word) > 0), key=size, reverse=True)[:N_WORDS]


def _aligned(context: PageContext, second: PageContext) -> dict[str, Any]:
    from topoi.analysis.alignment import align_topics

    alignment = align_topics(context.view, second.view)
    pairs = alignment.pairs
    retired = pairs["topic_a"].isin(context.cache.retired) | pairs["topic_b"].isin(second.cache.retired)
    columns = (pairs.loc[~retired, name].tolist() for name in ("topic_a", "topic_b", "shared", "distance"))
    kept = [
        [int(k) not in side.cache.retired for k in numbers]
        for side, numbers in ((context, alignment.shared.index), (second, alignment.shared.columns))
    ]
    table = alignment.shared.loc[kept[0], kept[1]]
    shared = table.to_numpy()
    matrix = Matrix(
        rows=[int(k) for k in table.index],
        columns=[int(k) for k in table.columns],
        shared=shared.round(3).tolist(),
    )
    n_pairs = int((~retired).sum())
    return {
        "pairs": list(zip(*columns, strict=True)),
        "matrix": matrix,
        "unpaired": _unpaired(shared),
        "alone": (_alone(table.iloc[n_pairs:]), _alone(table.T.iloc[n_pairs:])),
    }


def _alone(table: pd.DataFrame) -> list[tuple[int, int, float]]:
    """Topics without a partner: each with the one that shares most with it, and how much; the largest first."""
    rows = [
        (int(k), int(row.idxmax()), float(row.max()))
        for k, row in zip(table.index, (table.loc[k] for k in table.index), strict=True)
    ]
    return sorted(rows, key=lambda row: (-row[2], row[0]))


def _unpaired(shared: NDArray[np.float64]) -> Unpaired | None:
    """Shared words of topics that are not pairs, for comparison with a pair's; pairs are on the diagonal."""
    others = shared[np.eye(*shared.shape) == 0]
    if not len(others):
        return None
    return Unpaired(median=float(np.median(others)), most=float(np.quantile(others, 0.9)))


def _tables(view: Mapping[str, Any]) -> Tables:
    return lists_in(view, matrix=_matrix_rows(view["matrix"]) if view["matrix"] else [])


def _matrix_rows(matrix: Mapping[str, Any]) -> list[dict[str, Any]]:
    columns = [f"topic_{k}" for k in matrix["columns"]]
    rows = zip(matrix["rows"], matrix["shared"], strict=True)
    return [{"topic": k} | dict(zip(columns, shares, strict=True)) for k, shares in rows]


def _files(context: PageContext, kept: Kept) -> Iterator[PageFile]:
    yield PageFile("compare", compare_page)
    others = [model["slug"] for model in context.snapshot.models if model["n_topics"]]
    yield from numbered("compare", compare_page, [slug for slug in others if slug != context.model["slug"]])


def _has_two_models(context: PageContext) -> bool:
    return context.has_topics and sum(bool(model["n_topics"]) for model in context.snapshot.models) > 1


def _with_other(parameters: dict[str, Any]) -> bool:
    return parameters.get("other") is not None


def _python(view: Mapping[str, Any], site: Mapping[str, Any]) -> str | None:
    if view["second"] is None:
        return None
    return f"topoi.align_topics(model, topoi.view(model.store, {view['second']['name']!r})).pairs"


PAGE = Page(
    "compare",
    "Compare",
    "compare",
    compare_page,
    ComparePage,
    place=120,
    also="compare/{other}",
    needs=_has_two_models,
    costly=_with_other,
    tables=_tables,
    files=_files,
    python=_python,
)
