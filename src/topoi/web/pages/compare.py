"""Two models of the file side by side, their topics put in correspondence."""

from __future__ import annotations

from typing import Any

from topoi.errors import ModelError
from topoi.web.pages import parameters
from topoi.web.pages.room import Room
from topoi.web.pages.shapes import ComparePage, Matrix, Model, Pair


def compare_page(room: Room, other: parameters.OtherSlug = None) -> ComparePage:
    """The pairs of corresponding topics, the most similar first, and all distances."""
    choices = [model for model in room.state.models if model["n_topics"] and model["name"] != room.model["name"]]
    if other is None:
        return _page(room, None, choices, [], None)
    second = room.library.room(other)
    if not (room.has_topics and second.has_topics):
        raise ModelError("only models with topics can be compared")
    if second.model["name"] == room.model["name"]:
        raise ModelError("choose another model to compare with: this is the same one")
    found = room.shelf.keep(("alignment", second.shelf.digest), lambda: _aligned(room, second))
    pairs = [Pair(first=room.chip(a), second=second.chip(b), distance=distance) for a, b, distance in found["pairs"]]
    return _page(room, second.model, choices, pairs, found["matrix"])


def _aligned(room: Room, second: Room) -> dict[str, Any]:
    from topoi.analysis.alignment import align_topics

    alignment = align_topics(room.view, second.view)
    pairs = alignment.pairs
    columns = (pairs[name].tolist() for name in ("topic_a", "topic_b", "distance"))
    matrix = Matrix(
        rows=[int(k) for k in alignment.matrix.index],
        columns=[int(k) for k in alignment.matrix.columns],
        distance=alignment.matrix.to_numpy().round(3).tolist(),
    )
    return {"pairs": list(zip(*columns, strict=True)), "matrix": matrix}


def _page(
    room: Room, second: Model | None, choices: list[Model], pairs: list[Pair], matrix: Matrix | None
) -> ComparePage:
    return ComparePage(kind="compare", first=room.model, second=second, choices=choices, pairs=pairs, matrix=matrix)
