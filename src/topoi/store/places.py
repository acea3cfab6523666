"""Places of documents on a map, in a store: read, computed on demand, and written in one transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from topoi.errors import ModelError, StoreError
from topoi.store.insert import insert_rows
from topoi.store.read import find_model
from topoi.store.replace import change

if TYPE_CHECKING:
    from topoi.store.store import Store
    from topoi.store.view import ModelView

# Saving a model computes the places of so many documents, which takes a second; for more, they are asked for.
MOST_PLACED_BY_SAVE = 1000
_THERE = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'document_place'"


def place_columns(places: NDArray[np.float64]) -> dict[str, Any]:
    """Columns of ``document_place`` after the model; documents without a place (nan) are left out.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.store.places import place_columns
    >>> place_columns(np.array([[0.0, 1.0], [np.nan, np.nan]]))["document_id"].tolist()
    [0]
    """
    placed = np.flatnonzero(~np.isnan(places).any(axis=1))
    return {"document_id": placed, "x": places[placed, 0], "y": places[placed, 1]}


def stored_places(view: ModelView) -> NDArray[np.float64] | None:
    """Places of all documents of a model in a store, documents × 2, nan for those without; None if it has none."""
    with view.store.connection() as connection:
        if not connection.execute(_THERE).fetchone()[0]:
            return None
    rows = view.rows("document_places")
    if not rows:
        return None
    found = np.full((view.store.sizes.n_documents, 2), np.nan)
    table = np.array(rows, np.float64)
    found[table[:, 0].astype(np.int64)] = table[:, 1:]
    return found


def place_documents(
    store: Store, name: str | None = None, n_jobs: int | None = -1, progress: Callable[[float], None] | None = None
) -> int:
    """Compute the places of a model's documents and write them, in place of any before; return how many there are.

    A reader finds the old places or the new ones. If another program has changed the model meanwhile, nothing is saved.
    """
    from topoi.drawing.document_layout import document_places
    from topoi.store.view import view

    with store.connection() as connection:
        found, digest = find_model(connection, name, "name, digest")
    model = view(store, str(found))
    if not model.chains_:
        raise ModelError(f"{model.family} has no topics, by which documents could be placed on a map")
    columns = place_columns(document_places(model, n_jobs=n_jobs, progress=progress))
    rows = list(zip(*(columns[column].tolist() for column in ("document_id", "x", "y")), strict=True))

    def put(connection: sqlite3.Connection) -> None:
        model_id, now = find_model(connection, str(found), "model_id, digest")
        if now != digest:
            raise StoreError(
                f"{store.path}: the model {found!r} was changed by another program while its documents were placed; "
                "nothing was saved, try again"
            )
        put_places(connection, int(model_id), rows)

    change(store.path.resolve(), put)
    return len(rows)


def put_places(connection: sqlite3.Connection, model_id: int, rows: list[tuple[Any, ...]]) -> None:
    """Replace a model's places: document, x and y each."""
    connection.execute("DELETE FROM document_place WHERE model_id = ?", (model_id,))
    insert_rows(connection, "document_place", ((model_id, *row) for row in rows))


def get_places(connection: sqlite3.Connection, model_id: int) -> list[tuple[Any, ...]]:
    """A model's places as they are: document, x and y each."""
    query = "SELECT document_id, x, y FROM document_place WHERE model_id = ? ORDER BY document_id"
    return connection.execute(query, (model_id,)).fetchall()
