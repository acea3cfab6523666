"""Rows of a model and of what it was before edits: nothing that stays the same is written again.

Before a commit, the arrays of the model are renamed, and its rows stay under the model's old number, which is then no
model's any more: a reader by number of model does not find them. An undo gives them their model back. Rows are kept for
the last commit alone; states before have arrays, from which rows are made. Names change neither.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

from topoi.models.editing.editor import MOST_STATES
from topoi.models.editing.records import Edit, given_names
from topoi.store.arrays import checksum, from_json, to_json, undo_prefix
from topoi.store.faces import faces_of, with_faces
from topoi.store.places import get_places, put_places
from topoi.store.read import automatic_labels, read_edits
from topoi.store.write import (
    ModelEntry,
    edit_columns,
    now,
    put_entry,
    put_labels,
    put_model,
    put_table,
    remove_rows,
    remove_tables,
)

# States before changes of names are small.
_MOST_NAMES = 200
_IS_UNDO = "name GLOB 'undo[0-9]*'"
Labels = dict[int, tuple[Any, ...]]
State = tuple[int, str, str, str]


class StoredStates:
    """A model of a store and its states before edits, in a transaction of ``connection``."""

    def __init__(self, connection: sqlite3.Connection, model_id: int) -> None:
        self._connection, self._id = connection, model_id
        query = "SELECT topic, label, created FROM label WHERE model_id = ?"
        self._labels: Labels = {row[0]: row for row in connection.execute(query, (model_id,)).fetchall()}
        query = "SELECT step, bundle, digest, labels FROM edit_state WHERE model_id = ? ORDER BY step"
        self._states: list[State] = connection.execute(query, (model_id,)).fetchall()

    def commit(self, step: int, entry: ModelEntry, made: Sequence[Edit]) -> None:
        """Put an edited model in the place of the model, which becomes a state."""
        connection = self._connection
        bundle, digest = connection.execute(
            "SELECT bundle, digest FROM model WHERE model_id = ?", (self._id,)
        ).fetchone()
        shown = self._shown() | {"rows": self._id, "number": self._id}
        states = _shortened([*map(self._without_rows, self._states), (step, bundle, digest, to_json(shown))])
        prefix = undo_prefix(step)
        connection.execute(
            f"UPDATE array SET name = ? || name WHERE model_id = ? AND NOT {_IS_UNDO}", (prefix, self._id)
        )
        new_id = self._next_id()
        self._move_states(new_id, states)
        for table in ("edit", "label", "edit_state", "model"):
            connection.execute(f"DELETE FROM {table} WHERE model_id = ?", (self._id,))
        put_entry(connection, entry, list(self._named(made).values()), new_id)
        # Documents stay where they are on the map: who merges two topics knows their way about it.
        put_places(connection, new_id, get_places(connection, self._id))
        self._put_states(new_id, states)

    def rename(self, step: int, entry: ModelEntry, made: Sequence[Edit]) -> None:
        """Change names alone."""
        shown = to_json(self._shown() | {"names": True})
        self._put_names(entry, self._named(made), _shortened([*self._states, (step, "{}", "", shown)]))

    def note_name(self, topic: int, label: str, who: str) -> None:
        """Note a name in the history; the label itself is to be written, and the model's own records stay."""
        before = self._labels.get(topic)
        if label == ("" if before is None else before[1]):
            return
        edits = read_edits(self._connection, self._id)
        step = 1 + max((edit.step for edit in edits), default=0)
        edit = Edit("rename", (topic,), label=label, number=len(edits) + 1, step=step, created=now(), who=who)
        put_table(self._connection, self._id, "edit", edit_columns([edit]))
        states = _shortened([*self._states, (step, "{}", "", to_json(self._shown() | {"names": True}))])
        self._move_states(self._id, states)
        self._connection.execute("DELETE FROM edit_state WHERE model_id = ?", (self._id,))
        self._put_states(self._id, states)

    def go_back(self, step: int, entry: ModelEntry, touched: set[int]) -> bool:
        """Undo a step whose rows are in the file; return whether they are."""
        shown = self._before(step)
        kept = [state for state in self._states if state[0] != step]
        if shown.get("names") is True:
            self._put_names(entry, self._labels_before(shown, touched), kept)
            return True
        old_id = shown.get("rows")
        if not isinstance(old_id, int) or not self._has_rows(old_id):
            return False
        connection = self._connection
        self._move_states(old_id, [*kept, (step, "", "", "")])
        remove_rows(connection, self._id, states=False)
        prefix = undo_prefix(step)
        names = "UPDATE array SET name = substr(name, ?) WHERE model_id = ? AND name GLOB ?"
        connection.execute(names, (len(prefix) + 1, old_id, f"{prefix}*"))
        put_model(connection, entry, old_id)
        self._put_edits(old_id, entry, self._labels_before(shown, touched))
        self._put_states(old_id, kept)
        return True

    def undo(self, step: int, entry: ModelEntry, touched: set[int]) -> None:
        """Undo a step whose rows are made anew."""
        shown = self._before(step)
        kept = [state for state in self._states if state[0] != step]
        number = shown.get("number")
        new_id = number if isinstance(number, int) and self._is_free(number) else self._next_id()
        self._move_states(new_id, kept)
        places = get_places(self._connection, self._id)
        remove_rows(self._connection, self._id)
        labels = self._labels_before(shown, touched)
        put_entry(self._connection, with_faces(entry, _faces(shown)), list(labels.values()), new_id)
        put_places(self._connection, new_id, places)
        self._put_states(new_id, kept)

    def faces_before(self, step: int) -> list[tuple[Any, ...]]:
        """Hues and places of topics before a step."""
        return _faces(self._before(step))

    def _put_names(self, entry: ModelEntry, labels: Labels, states: Sequence[State]) -> None:
        """Write what names change: the records of edits, wherever they are, labels and states."""
        row = (to_json(entry.meta), checksum(entry.meta, entry.arrays), self._id)
        self._connection.execute("UPDATE model SET bundle = ?, digest = ? WHERE model_id = ?", row)
        for table in ("edit", "label", "edit_state"):
            self._connection.execute(f"DELETE FROM {table} WHERE model_id = ?", (self._id,))
        self._put_edits(self._id, entry, labels)
        self._put_states(self._id, states)

    def _put_edits(self, model_id: int, entry: ModelEntry, labels: Labels) -> None:
        self._connection.execute("DELETE FROM edit WHERE model_id = ?", (model_id,))
        put_table(self._connection, model_id, "edit", entry.tables["edit"])
        put_labels(self._connection, model_id, list(labels.values()))

    def _put_states(self, model_id: int, states: Sequence[State]) -> None:
        self._connection.executemany("INSERT INTO edit_state VALUES (?, ?, ?, ?, ?)", [(model_id, *s) for s in states])

    def _move_states(self, model_id: int, states: Sequence[State]) -> None:
        """Give another number to the arrays of states that are kept; arrays and rows of others go."""
        kept = {step for step, *_ in states}
        for step, *_ in self._states:
            if step not in kept:
                self._forget(step)
        query = f"UPDATE array SET model_id = ? WHERE model_id = ? AND {_IS_UNDO}"
        self._connection.execute(query, (model_id, self._id))

    def _forget(self, step: int) -> None:
        """Remove the arrays and rows of a state."""
        which = "model_id = ? AND name GLOB ?", (self._id, f"{undo_prefix(step)}*")
        parts = f"DELETE FROM array_part WHERE array_id IN (SELECT array_id FROM array WHERE {which[0]})"
        self._connection.execute(parts, which[1])
        self._connection.execute(f"DELETE FROM array WHERE {which[0]}", which[1])
        self._without_rows(next(state for state in self._states if state[0] == step))

    def _without_rows(self, state: State) -> State:
        """A state whose rows, if there are any, are removed."""
        shown = _parsed(state[3])
        rows = shown.pop("rows", None)
        if isinstance(rows, int) and self._has_rows(rows):
            remove_tables(self._connection, rows)
        return (*state[:3], to_json(shown))

    def _has_rows(self, model_id: int) -> bool:
        """Whether there are rows of a model that is none any more."""
        query = (
            "SELECT count(*) FROM topic WHERE model_id = :id AND NOT EXISTS (SELECT * FROM model WHERE model_id = :id)"
        )
        return bool(self._connection.execute(query, {"id": model_id}).fetchone()[0])

    def _is_free(self, model_id: int) -> bool:
        """Whether no model has a number, nor rows of a state."""
        queries = (f"SELECT EXISTS (SELECT * FROM {table} WHERE model_id = ?)" for table in ("model", "topic", "array"))
        return not any(self._connection.execute(query, (model_id,)).fetchone()[0] for query in queries)

    def _next_id(self) -> int:
        return int(self._connection.execute("SELECT max(model_id) + 1 FROM model").fetchone()[0])

    def _shown(self) -> dict[str, Any]:
        """Labels, automatic ones, and hues and places of topics, as JSON can hold them."""
        faces = faces_of(self._connection, self._id)
        automatic = [label for _, label in automatic_labels(self._connection, self._id)]
        given = [list(row) for row in self._labels.values()]
        return {"labels": given, "faces": [list(row) for row in faces], "automatic": automatic}

    def _before(self, step: int) -> dict[str, Any]:
        return _parsed(next(state[3] for state in self._states if state[0] == step))

    def _named(self, made: Sequence[Edit]) -> Labels:
        """Labels after edits."""
        names = given_names(made)
        given: Labels = {topic: (topic, name, now()) for topic, name in names.items() if name}
        return {topic: row for topic, row in self._labels.items() if topic not in names} | given

    def _labels_before(self, shown: Mapping[str, Any], touched: set[int]) -> Labels:
        """Labels in which those of the topics concerned are what they were."""
        before: Labels = {int(k): (int(k), str(label), str(when)) for k, label, when in shown.get("labels", [])}
        after = {topic: row for topic, row in self._labels.items() if topic not in touched}
        return after | {topic: row for topic, row in before.items() if topic in touched}


def is_of_names(shown: object) -> bool:
    """Whether a state, given by its column ``labels``, is that before a change of names alone."""
    return _parsed(shown).get("names") is True


def automatic_before(shown: object) -> list[str]:
    """Automatic labels of all topics in a state, given by its column ``labels``."""
    return [str(label) for label in _parsed(shown).get("automatic", [])]


def _parsed(text: object) -> dict[str, Any]:
    return from_json(text, "the labels before the edit")


def _faces(shown: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    return [(int(k), int(hue), *(None if v is None else float(v) for v in (x, y)))
            for k, hue, x, y in shown.get("faces", [])]  # fmt: skip


def _shortened(states: Sequence[State]) -> list[State]:
    """The last states, of which those before changes of names count little."""
    n_full, n_names, kept = 0, 0, list[State]()
    for state in reversed(states):
        of_names = is_of_names(state[3])
        n_full, n_names = n_full + (not of_names), n_names + of_names
        if n_full > MOST_STATES or n_names > _MOST_NAMES:
            break
        kept.append(state)
    return kept[::-1]
