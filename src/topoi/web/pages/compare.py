"""Comparison of two models of the file, with their topics aligned."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.errors import ModelError
from topoi.web.pages import parameters
from topoi.web.pages.context import PageContext
from topoi.web.pages.shapes import ComparePage, Matrix, Pair, Unpaired


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
        Pair(first=context.chip(a), second=second.chip(b), shared=shared, distance=distance)
        for a, b, shared, distance in found["pairs"]
    ]
    return page


def _aligned(context: PageContext, second: PageContext) -> dict[str, Any]:
    from topoi.analysis.alignment import align_topics

    alignment = align_topics(context.view, second.view)
    columns = (alignment.pairs[name].tolist() for name in ("topic_a", "topic_b", "shared", "distance"))
    shared = alignment.shared.to_numpy()
    matrix = Matrix(
        rows=[int(k) for k in alignment.shared.index],
        columns=[int(k) for k in alignment.shared.columns],
        shared=shared.round(3).tolist(),
    )
    return {"pairs": list(zip(*columns, strict=True)), "matrix": matrix, "unpaired": _unpaired(shared)}


def _unpaired(shared: NDArray[np.float64]) -> Unpaired | None:
    """Shared words of topics that are not pairs, for comparison with a pair's; pairs are on the diagonal."""
    others = shared[np.eye(*shared.shape) == 0]
    if not len(others):
        return None
    return Unpaired(median=float(np.median(others)), most=float(np.quantile(others, 0.9)))
