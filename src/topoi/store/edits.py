"""``topoi.edit``: edits of a fitted model, or of one in a store, where each commit is one transaction.

The state before a commit stays in the file (``edit_states``), so that an undo gives back every bit.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pandas as pd

from topoi.engine.executors import resolve_jobs
from topoi.errors import ModelError, StoreError
from topoi.models.base import FittedModel
from topoi.models.editing.editor import MOST_STATES, Editor, note_edits
from topoi.models.editing.records import Edit, history_frame, retired_topics
from topoi.models.gibbs import GibbsModel
from topoi.store.arrays import checksum, get_arrays
from topoi.store.corpus_rows import check_digest
from topoi.store.door import stored_json
from topoi.store.edit_states import StoredStates, automatic_before, is_of_names
from topoi.store.faces import faces_of, places_known, with_faces_of
from topoi.store.files import load, rebuilt
from topoi.store.migrate import migrated
from topoi.store.read import StoredModel, find_model, read_edits
from topoi.store.replace import change
from topoi.store.save import bare_entry, model_entry
from topoi.store.store import Store
from topoi.store.tasks import Tasks, open_tasks


def edit(model: Any, name: str | None = None, *, who: str = "", n_jobs: int | None = None) -> Editor:
    """Steer a fitted model by hand: merge, split and rename topics, ban and pin words, freeze topics, send documents.

    Parameters
    ----------
    model : fitted model, Store, or path of a store
        A model in memory, which ``editor.commit`` changes; or a store, whose model it changes.
    name : str, optional
        Which of a store's models; the one saved last if not given.
    who : str
        Who edits, for the history.
    n_jobs : int, optional
        Threads, -1 for all cores; those of the model's settings if not given. They do not change the result.

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
        return StoreEditor(model if isinstance(model, Store) else Store(model), name, who, n_jobs)
    if not isinstance(model, FittedModel):
        raise ModelError(f"edit a fitted model or a store, not {type(model).__name__}")
    if name is not None:
        raise ModelError("name is for models in a store: topoi.edit(store, name)")
    return Editor(model, who, n_jobs)


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

    def __init__(self, store: Store, name: str | None, who: str = "", n_jobs: int | None = None) -> None:
        self._store = store
        with store.connection() as connection:
            found, self._digest = find_model(connection, name, "name, digest")
        self.name = str(found)
        super().__init__(load(store, self.name), who, n_jobs)

    def _finish(self, step: int, edited: GibbsModel[Any, Any]) -> None:
        done = {each.number for each in self._model.edits_}
        made = [each for each in edited.edits_ if each.number not in done]
        path = self._store.path.resolve()
        migrated(path)
        if made:
            self._digest = self._commit(path, step, edited, made)
        else:
            self._digest = self._undo(path, step, edited)
        super()._finish(step, edited)

    def _commit(self, path: Path, step: int, edited: GibbsModel[Any, Any], made: Sequence[Edit]) -> str:
        """Replace the model by the edited one; return its digest."""
        only_names = edited._chains is self._model._chains

        def put(connection: sqlite3.Connection) -> None:
            model_id = self._checked(connection)
            states = StoredStates(connection, model_id)
            if only_names:
                states.rename(step, bare_entry(edited, self.name, {}), made)
                return
            with self._tasks(edited, faces_of(connection, model_id)) as tasks:
                entry = model_entry(edited, self.name, True, tasks, places=False)
                states.commit(step, with_faces_of(connection, model_id, entry), made)

        return self._changed(path, put)

    def _undo(self, path: Path, step: int, edited: GibbsModel[Any, Any]) -> str:
        """Replace the model by what it was before a step; return its digest."""
        bare, touched = bare_entry(edited, self.name, {}), set[int]()
        for each in edited.edits_:
            touched |= set(each.topics) if each.step == step else set()

        def put(connection: sqlite3.Connection) -> None:
            states = StoredStates(connection, self._checked(connection))
            if states.go_back(step, bare, touched):
                return
            with self._tasks(edited, states.faces_before(step)) as tasks:
                states.undo(step, model_entry(edited, self.name, True, tasks, places=False), touched)

        return self._changed(path, put)

    def _changed(self, path: Path, put: Callable[[sqlite3.Connection], None]) -> str:
        """Change the file; return the digest that the model has then."""
        digests = list[str]()

        def put_and_read(connection: sqlite3.Connection) -> None:
            put(connection)
            digests.append(str(find_model(connection, self.name, "digest")[0]))

        change(path, put_and_read)
        return digests[-1]

    def _tasks(self, edited: GibbsModel[Any, Any], faces: list[tuple[Any, ...]]) -> AbstractContextManager[Tasks]:
        """Where rows are made: on as many threads as sweeps are. ``faces`` are known hues and places of topics."""
        known = places_known(faces, edited.chains_[0].n_topics)
        n_jobs = edited.n_jobs if self._n_jobs is None else self._n_jobs
        return open_tasks(resolve_jobs(n_jobs), hues=False, places=not known)

    def _refresh(self) -> None:
        """Take over names that were given in the store meanwhile."""
        with self._store.connection() as connection, self._store.named():
            model_id, digest = find_model(connection, self.name, "model_id, digest")
            if digest == self._digest:
                note_edits(self._model, [each.to_dict() for each in read_edits(connection, model_id)])

    def _keep(self, step: int, before: dict[str, Any]) -> None:
        """The file has what was before."""

    def _checked(self, connection: sqlite3.Connection) -> int:
        model_id, digest = find_model(connection, self.name, "model_id, digest")
        if digest != self._digest or read_edits(connection, model_id) != self._model.edits_:
            raise StoreError(
                f"{self._store.path}: the model {self.name!r} was changed by another program; nothing was saved, "
                "open it again and repeat the edit"
            )
        return int(model_id)

    def _state_before(self, step: int) -> dict[str, Any]:
        store = self._store
        with store.connection() as connection, store.named():
            model_id, kind = find_model(connection, self.name, "model_id, model")
            query = "SELECT bundle, digest, labels FROM edit_state WHERE model_id = ? AND step = ?"
            row = connection.execute(query, (model_id, step)).fetchone()
            if row is None:
                raise ModelError(
                    f"step {step} cannot be undone: {store.path} does not have the model as it was before. It keeps "
                    f"the last {MOST_STATES} states, and none of before an update or another save"
                )
            if is_of_names(row[2]):
                return dict(self._model.__dict__)
            meta = stored_json(row[0], "the model before the edit", "model.bundle")
            arrays = get_arrays(connection, model_id, step)
            check_digest(checksum(meta, arrays), row[1], "the model before the edit")
        stored = StoredModel(str(kind), self._model.corpus_, meta, arrays, automatic_before(row[2]))
        return dict(rebuilt(store.path, stored).__dict__)


def list_edits(store: Store, name: str | None = None) -> list[Edit]:
    """Edits of a model in a store."""
    with store.connection() as connection, store.named():
        (model_id,) = find_model(connection, name, "model_id")
        return read_edits(connection, model_id)


def edits_frame(store: Store, name: str | None = None) -> pd.DataFrame:
    """Edits of a model in a store, one row each; see ``Editor.history``."""
    return history_frame(list_edits(store, name))


def stored_retired(store: Store, name: str | None = None) -> list[int]:
    """Topics of a model in a store that were merged into others."""
    return retired_topics(list_edits(store, name))
