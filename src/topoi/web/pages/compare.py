"""Comparison of two models of the file, with their topics aligned."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from typing_extensions import TypedDict

from topoi.errors import ModelError
from topoi.web.pages import parameters
from topoi.web.pages.context import PageContext
from topoi.web.pages.page import Kept, Page, PageFile, numbered
from topoi.web.pages.shapes import Model, TopicSummary
from topoi.web.tables import Tables, lists_in


class Pair(TypedDict):
    """Two corresponding topics: what part of their words both have, and their symmetrised KL distance in nats."""

    first: TopicSummary
    second: TopicSummary
    shared: float
    distance: float


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


def compare_page(context: PageContext, other: parameters.OtherSlug = None) -> ComparePage:
    """The pairs of corresponding topics, the nearest first, and what all topics of both models share."""
    choices = [
        model for model in context.snapshot.models if model["n_topics"] and model["name"] != context.model["name"]
    ]
    page = ComparePage(
        kind="compare", first=context.model, second=None, choices=choices, pairs=[], matrix=None, unpaired=None
    )
    if other is None:
        return page
    second = context.watcher.context(other)
    if not (context.has_topics and second.has_topics):
        raise ModelError("only models with topics can be compared")
    if second.model["name"] == context.model["name"]:
        raise ModelError("choose another model to compare with: this is the same one")
    found = context.cache.keep(("alignment", second.cache.digest), lambda: _aligned(context, second))
    page["second"], page["matrix"], page["unpaired"] = second.model, found["matrix"], found["unpaired"]
    page["pairs"] = [
        Pair(first=context.badge(a), second=second.badge(b), shared=shared, distance=distance)
        for a, b, shared, distance in found["pairs"]
    ]
    return page


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
    return {"pairs": list(zip(*columns, strict=True)), "matrix": matrix, "unpaired": _unpaired(shared)}


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
