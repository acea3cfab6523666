"""Hues and places of topics that outlive an edit: who merges two topics does not want all others in new colours."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.blocks import Blocks, Columns
from topoi.drawing.topic_layout import kept_map, most_free_hue
from topoi.store.write import ModelEntry

_FACES = "SELECT topic, hue, x, y FROM topic WHERE model_id = ? ORDER BY topic"


def with_faces_of(connection: sqlite3.Connection, model_id: int, entry: ModelEntry) -> ModelEntry:
    """The entry of an edited model, with the hues and places of the model that it replaces.

    Parameters
    ----------
    connection : Connection
        A store that still has the rows of the old model.
    model_id : int
        The old model.
    entry : ModelEntry
        The new one. Topics that the old model does not have get hues far from all others, and places
        among similar ones.
    """
    rows = faces_of(connection, model_id)
    old = {row[0]: row[1:] for row in rows}

    def turned(topics: Columns) -> Columns:
        columns: dict[str, Any] = {**topics, "hue": _hues(np.asarray(topics["topic"]), topics["hue"], old)}
        places = _places(topics, old)
        return columns if places is None else columns | {"x": places[:, 0], "y": places[:, 1]}

    return _with_topics(entry, turned) if rows else entry


def _with_topics(entry: ModelEntry, change: Callable[[Columns], Columns]) -> ModelEntry:
    """The entry with another table of topics, made when the old one is."""
    topics = entry.tables.get("topic")
    if topics is None:
        return entry
    changed = Blocks(lambda: map(change, topics)) if isinstance(topics, Blocks) else change(topics)
    return replace(entry, tables={**entry.tables, "topic": changed})


def faces_of(connection: sqlite3.Connection, model_id: int) -> list[tuple[Any, ...]]:
    """Hues and places of a model's topics: topic, hue, x, y."""
    return connection.execute(_FACES, (model_id,)).fetchall()


def places_known(faces: list[tuple[Any, ...]], n_topics: int) -> bool:
    """Whether all topics of a model have their places on the map from an earlier one, so that none is to be drawn.

    Examples
    --------
    >>> from topoi.store.faces import places_known
    >>> faces = [(0, 30, 0.1, 0.2), (1, 210, 0.3, 0.4)]
    >>> places_known(faces, 2), places_known(faces, 3), places_known([(0, 30, None, None)], 1)
    (True, False, False)
    """
    return {topic for topic, _, *place in faces if None not in place} >= set(range(n_topics))


def with_faces(entry: ModelEntry, faces: list[tuple[Any, ...]]) -> ModelEntry:
    """The entry of a model that is brought back, with the hues and places that its topics had."""
    given = {name: [face[i] for face in faces] for i, name in enumerate(("hue", "x", "y"), start=1)}

    def brought_back(topics: Columns) -> Columns:
        same = [face[0] for face in faces] == np.asarray(topics["topic"]).tolist()
        return {**topics, **given} if same else topics

    return _with_topics(entry, brought_back)


def _hues(topic: NDArray[Any], hue: Any, old: Mapping[int, Any]) -> NDArray[np.int64]:
    found: list[int] = [int(old[k][0]) for k in topic.tolist() if k in old]
    hues = np.asarray(hue, np.int64).copy()
    for i, k in enumerate(topic.tolist()):
        if k in old:
            hues[i] = old[k][0]
        else:
            hues[i] = most_free_hue(found)
            found.append(int(hues[i]))
    return hues


def _places(topics: Mapping[str, Any], old: Mapping[int, Any]) -> NDArray[np.float64] | None:
    """Places on the map, those of before where there are any; None if they cannot be had.

    The new map may be left out if all topics had places before.
    """
    new = np.array([[np.nan if v is None else v for v in topics[name]] for name in ("x", "y")], np.float64).T
    then = [old.get(k, (None, None, None))[1:] for k in np.asarray(topics["topic"]).tolist()]
    before = np.array([[np.nan if v is None else v for v in place] for place in then], np.float64)
    if np.isnan(before).all() or (np.isnan(before).any() and np.isnan(new).any()):
        return None
    return kept_map(new, before, np.asarray(topics["share"], np.float64))
