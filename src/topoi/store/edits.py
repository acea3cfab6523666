"""``topoi.edit``: edits of a fitted model, or of one in a store, where each commit is one transaction.

The state before a commit stays in the file: its arrays are renamed, not written again, so that a commit costs what a
save costs and an undo gives back every bit.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from topoi.errors import ModelError, StoreError
from topoi.models.base import FittedModel
from topoi.models.editing.editor import MOST_STATES, Editor
from topoi.models.editing.records import Edit, given_names, history_frame, retired_topics
from topoi.models.gibbs import GibbsModel
from topoi.store.arrays import checksum, from_json, get_arrays, to_json, undo_prefix
from topoi.store.corpus_rows import check_digest
from topoi.store.door import stored_json
from topoi.store.faces import faces_of, with_faces, with_faces_of
from topoi.store.files import load, rebuilt
from topoi.store.migrate import migrated
from topoi.store.places import get_places, put_places
from topoi.store.read import StoredModel, find_model
from topoi.store.replace import change
from topoi.store.save import model_entry
from topoi.store.store import Store
from topoi.store.write import ModelEntry, now, put_entry, remove_rows

_LABELS = "SELECT topic, label, created FROM label WHERE model_id = ?"


def edit(model: Any, name: str | None = None, *, who: str = "") -> Editor:
    """Steer a fitted model by hand: merge, split and rename topics, ban and pin words, freeze topics, send documents.

    Parameters
    ----------
    model : fitted model, Store, or path of a store
        A model in memory, which ``editor.commit`` changes; or a store, whose model it changes.
    name : str, optional
        Which of a store's models; the one saved last if not given.
    who : str
        Who edits, for the history.

    Returns
    -------
    Editor
        With ``merge``, ``split``, ``rename``, ``ban``, ``pin``, ``freeze``, ``send``; ``preview``, ``commit``, ``undo``
        and ``history``. See ``docs/editing.md``.

    Examples
    --------
    >>> import topoi
    >>> corpus = topoi.Corpus.from_tokens([["sun", "star"], ["cell", "gene"]] * 5)
    >>> model = topoi.LDA(3, n_iter=20, random_state=0).fit(corpus)
    >>> editor = topoi.edit(model).merge(0, 1)
    >>> model = editor.commit(n_iter=5)
    >>> model.n_topics, editor.retired
    (3, [1])

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.topoi"
    >>> model.save(path)
    >>> model = topoi.edit(path).rename(0, "nature").commit()
    >>> topoi.open_store(path).labels()
    {0: 'nature'}
    """
    if isinstance(model, Store | str | Path):
        return StoreEditor(model if isinstance(model, Store) else Store(model), name, who)
    if not isinstance(model, FittedModel):
        raise ModelError(f"edit a fitted model or a store, not {type(model).__name__}")
    if name is not None:
        raise ModelError("name is for models in a store: topoi.edit(store, name)")
    return Editor(model, who)


class StoreEditor(Editor):
    """Edits of a model in a store; a commit or an undo changes the file in one transaction, other models stay.

    If another program has changed the model meanwhile, nothing is saved.

    Examples
    --------
    >>> import pathlib, tempfile, topoi
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.topoi"
    >>> topoi.LDA(3, n_iter=5, random_state=0).fit([["sun", "star"], ["cell", "gene"]] * 3).save(path)
    >>> store = topoi.open_store(path)
    >>> model = store.edit().merge(0, 2).commit(n_iter=2)
    >>> store.retired_topics()
    [2]
    >>> model = store.edit().undo()  # another editor, or another day
    >>> store.edits()[["text", "undone"]].values.tolist()
    [['merge 2 into 0', True]]
    """

    def __init__(self, store: Store, name: str | None, who: str = "") -> None:
        self._store = store
        with store.connection() as connection:
            found, self._digest = find_model(connection, name, "name, digest")
        self.name = str(found)
        super().__init__(load(store, self.name), who)

    def _finish(self, step: int, edited: GibbsModel[Any, Any]) -> None:
        done = {each.number for each in self._model.edits_}
        made = [each for each in edited.edits_ if each.number not in done]
        entry = model_entry(edited, self.name, texts=True, places=False)
        path = self._store.path.resolve()
        migrated(path)

        def put(connection: sqlite3.Connection) -> None:
            model_id = self._checked(connection)
            labels = {row[0]: row for row in connection.execute(_LABELS, (model_id,)).fetchall()}
            if made:
                _commit(connection, model_id, step, entry, labels, made)
            else:
                touched = {k for each in edited.edits_ if each.step == step for k in each.topics}
                _undo(connection, model_id, step, entry, labels, touched)

        change(path, put)
        self._digest = checksum(entry.meta, entry.arrays)
        super()._finish(step, edited)

    def _keep(self, step: int, before: dict[str, Any]) -> None:
        """The file has what was before."""

    def _checked(self, connection: sqlite3.Connection) -> int:
        model_id, digest = find_model(connection, self.name, "model_id, digest")
        if digest != self._digest:
            raise StoreError(
                f"{self._store.path}: the model {self.name!r} was changed by another program; nothing was saved, "
                "open it again and repeat the edit"
            )
        return int(model_id)

    def _state_before(self, step: int) -> dict[str, Any]:
        store = self._store
        with store.connection() as connection, store.named():
            model_id, kind = find_model(connection, self.name, "model_id, model")
            query = "SELECT bundle, digest FROM edit_state WHERE model_id = ? AND step = ?"
            row = connection.execute(query, (model_id, step)).fetchone()
            if row is None:
                raise ModelError(
                    f"step {step} cannot be undone: {store.path} does not have the model as it was before. It keeps "
                    f"the last {MOST_STATES} states, and none of before an update or another save"
                )
            meta = stored_json(row[0], "the model before the edit", "model.bundle")
            arrays = get_arrays(connection, model_id, step)
            check_digest(checksum(meta, arrays), row[1], "the model before the edit")
        stored = StoredModel(str(kind), self._model.corpus_, meta, arrays)
        return dict(rebuilt(store.path, stored).__dict__)


def _commit(
    connection: sqlite3.Connection,
    model_id: int,
    step: int,
    entry: ModelEntry,
    labels: dict[int, tuple[Any, ...]],
    made: Sequence[Edit],
) -> None:
    """Replace the model by the edited one; what it was goes to ``edit_state``."""
    columns = "step, bundle, digest, labels"
    query = f"SELECT {columns} FROM edit_state WHERE model_id = ? ORDER BY step DESC LIMIT ?"
    states = connection.execute(query, (model_id, MOST_STATES - 1)).fetchall()
    bundle, digest = connection.execute("SELECT bundle, digest FROM model WHERE model_id = ?", (model_id,)).fetchone()
    names = {topic: name for topic, name in given_names(made).items()}
    after = labels | {topic: (topic, name, now()) for topic, name in names.items() if name}
    after = {topic: row for topic, row in after.items() if topic not in names or names[topic]}
    was = "UPDATE array SET name = ? || name WHERE model_id = ? AND name NOT GLOB 'undo[0-9]*'"
    connection.execute(was, (undo_prefix(step), model_id))
    states.append((step, bundle, digest, _shown_json(labels, faces_of(connection, model_id))))
    _replace(connection, model_id, with_faces_of(connection, model_id, entry), list(after.values()), states)


def _undo(
    connection: sqlite3.Connection,
    model_id: int,
    step: int,
    entry: ModelEntry,
    labels: dict[int, tuple[Any, ...]],
    touched: set[int],
) -> None:
    """Replace the model by the one before a step; labels of the topics concerned become what they were."""
    query = "SELECT step, bundle, digest, labels FROM edit_state WHERE model_id = ?"
    states = connection.execute(query, (model_id,)).fetchall()
    kept = [row for row in states if row[0] != step]
    names, faces = _shown_before(*(row[3] for row in states if row[0] == step))
    before = {row[0]: row for row in names}
    after = {topic: row for topic, row in labels.items() if topic not in touched}
    after |= {topic: row for topic, row in before.items() if topic in touched}
    _replace(connection, model_id, with_faces(entry, faces), list(after.values()), kept)


def _replace(
    connection: sqlite3.Connection,
    model_id: int,
    entry: ModelEntry,
    labels: Sequence[tuple[Any, ...]],
    states: Sequence[tuple[Any, ...]],
) -> None:
    """Replace a model's rows; arrays of the states that are kept go over to the new ones."""
    for step, *_ in states:
        # Without a model for a moment: those of the old one are removed.
        query = "UPDATE array SET model_id = NULL WHERE model_id = ? AND name GLOB ?"
        connection.execute(query, (model_id, f"{undo_prefix(step)}*"))
    # Documents stay where they are on the map: who merges two topics knows their way about it.
    places = get_places(connection, model_id)
    remove_rows(connection, model_id)
    new_id = put_entry(connection, entry, labels)
    put_places(connection, new_id, places)
    connection.execute("UPDATE array SET model_id = ? WHERE model_id IS NULL AND name GLOB 'undo[0-9]*'", (new_id,))
    connection.executemany("INSERT INTO edit_state VALUES (?, ?, ?, ?, ?)", [(new_id, *row) for row in states])


def _shown_json(labels: dict[int, tuple[Any, ...]], faces: list[tuple[Any, ...]]) -> str:
    return to_json({"labels": [list(row) for row in labels.values()], "faces": [list(row) for row in faces]})


def _shown_before(text: object) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    """Labels, and hues and places of topics, as they were before an edit."""
    found = from_json(text, "the labels before the edit")
    labels = [(int(topic), str(label), str(created)) for topic, label, created in found.get("labels", [])]
    faces = [(int(k), int(hue), *(None if v is None else float(v) for v in (x, y)))
             for k, hue, x, y in found.get("faces", [])]  # fmt: skip
    return labels, faces


def list_edits(store: Store, name: str | None = None) -> list[Edit]:
    """Edits of a model in a store."""
    with store.connection() as connection, store.named():
        (model_id,) = find_model(connection, name, "model_id")
        rows = connection.execute("SELECT record FROM edit WHERE model_id = ? ORDER BY number", (model_id,)).fetchall()
        try:
            return [Edit.from_dict(from_json(record, "the record of an edit")) for (record,) in rows]
        except ModelError as error:
            raise StoreError(f"the edits are damaged: {error}") from error


def edits_frame(store: Store, name: str | None = None) -> pd.DataFrame:
    """Edits of a model in a store, one row each; see ``Editor.history``."""
    return history_frame(list_edits(store, name))


def stored_retired(store: Store, name: str | None = None) -> list[int]:
    """Topics of a model in a store that were merged into others."""
    return retired_topics(list_edits(store, name))
