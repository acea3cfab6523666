"""Updates of a stored model by new documents: the model and its joined corpus take the file's place, labels stay."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from topoi.errors import ModelError, StoreError
from topoi.models.base import FittedModel
from topoi.models.update_report import UpdateReport
from topoi.store.door import stored_json
from topoi.store.read import find_model
from topoi.store.replace import sole_writer
from topoi.store.save import model_entry
from topoi.store.store import Store
from topoi.store.write import save_model, set_about


def check_place(store: Store, output: Path | None) -> None:
    """Refuse an update that could not be saved, before any work."""
    if output is not None:
        if output.exists():
            raise StoreError(f"{output} exists; name a new file")
        return
    names = [str(name) for name in store.models()["name"]]
    if len(names) > 1:
        raise StoreError(
            f"{store.path} holds {len(names)} models of one corpus ({', '.join(names[:3])}{', …' if names[3:] else ''})"
            ", and an update of one changes the corpus; write the updated model to a new file (output=…, -o FILE)"
        )


def save_updated(model: FittedModel, store: Store, name: str, before: str, output: Path | None = None) -> None:
    """Save an updated model in place of the file it came from, or as a new file; its labels go with it.

    A reader finds the old contents or the new ones. ``before`` is the fingerprint of the corpus before the update: a
    file that another program has changed meanwhile is a ``StoreError``.
    """
    entry = model_entry(model, name, texts=True)
    path, about = store.path.resolve(), store.about()
    # No label can be given meanwhile.
    with sole_writer(path) as connection:
        row = connection.execute("SELECT fingerprint FROM corpus").fetchone()
        (model_id,) = find_model(connection, name, "model_id")
        n_models = connection.execute("SELECT count(*) FROM model").fetchone()[0]
        if output is None and (row is None or row[0] != before or n_models > 1):
            raise StoreError(f"{path} was changed by another program during the update; nothing was saved, try again")
        query = "SELECT topic, label, created FROM label WHERE model_id = ?"
        labels = connection.execute(query, (model_id,)).fetchall()
        save_model(output or path, model.corpus_, entry, fresh=output is None, given_labels=labels)
    if any(about):
        set_about(output or path, *about)


def list_updates(store: Store, name: str | None = None) -> list[UpdateReport]:
    """Reports of a model's updates, the last one with all topics."""
    with store.connection() as connection, store.named():
        (bundle,) = find_model(connection, name, "bundle")
        meta = stored_json(bundle, "the model", "model.bundle")
        found: Any = meta.get("fit_info", {}).get("updates", [])
        try:
            return [UpdateReport.from_dict(plain) for plain in found]
        except (ModelError, TypeError, AttributeError) as error:
            raise StoreError(f"the reports of updates are damaged: {error}") from error
