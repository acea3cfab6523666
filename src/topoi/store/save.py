"""A fitted model as rows and a bundle of a store."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from topoi.corpus.blocks import Table
from topoi.drawing.document_layout import document_places
from topoi.models.base import ABOUT_ESTIMATES, FREE_TO_CHANGE, FittedModel
from topoi.models.people import names_of_people
from topoi.models.posterior import Posterior
from topoi.store.arrays import checksum
from topoi.store.corpus_rows import bare
from topoi.store.places import MOST_PLACED_BY_SAVE, place_columns
from topoi.store.store import Store
from topoi.store.tasks import Tasks
from topoi.store.topic_rows import topic_parameters, topic_tables
from topoi.store.write import ModelEntry, edit_columns, save_model


def save_fitted(model: FittedModel, path: Any, name: str | None, texts: bool, replace_file: bool) -> None:
    """Write a fitted model and its corpus; see ``FittedModel.save``."""
    place = path.path if isinstance(path, Store) else Path(path)
    save_model(place, model.corpus_, model_entry(model, name or type(model).__name__, texts), texts, replace_file)


def model_entry(
    model: FittedModel, name: str, texts: bool, tasks: Tasks | None = None, places: bool = True
) -> ModelEntry:
    """The entry of a fitted model: tables that all models with topics have, and its family's own.

    Parameters
    ----------
    model : FittedModel
        The model.
    name : str
        Its name in the store.
    texts : bool
        Whether texts and metadata are stored.
    tasks : Tasks, optional
        Where rows are made that take long; those of threads may still be in the making when the entry is written.
    places : bool
        Whether documents get places on the map, if there are few of them.
    """
    corpus, trace = model.corpus_ if texts else bare(model.corpus_), model.trace_
    first = next(iter(model.chains_), None)
    tables: dict[str, Table] = {
        **(topic_tables(corpus, first, tasks) if isinstance(first, Posterior) else {}),
        **model.family_tables(corpus),
        "trace": {column: trace[column].to_numpy() for column in ("chain", "sweep", "log_joint")},
    }
    if places and isinstance(first, Posterior) and corpus.n_docs <= MOST_PLACED_BY_SAVE:
        tables["document_place"] = place_columns(document_places(model, n_jobs=1))
    return bare_entry(model, name, tables)


def bare_entry(model: FittedModel, name: str, tables: Mapping[str, Table]) -> ModelEntry:
    """The entry of a fitted model with the tables that are given, and its edits."""
    meta, arrays = model.bundle_pieces()
    first = next(iter(model.chains_), None)
    settings = {k: v for k, v in meta["settings"].items() if k not in FREE_TO_CHANGE | ABOUT_ESTIMATES}
    identity = settings | model.identity_of_fit()
    return ModelEntry(
        name=name,
        model=meta["model"],
        n_topics=first.n_topics if isinstance(first, Posterior) else None,
        n_iter=model.n_iter_,
        n_chains=model.fit_info_["n_chains"],
        seed=identity["seed"],
        chain=checksum(identity | {"corpus": model.corpus_.fingerprint()}, {}),
        meta=meta,
        arrays=arrays,
        tables={**tables, **({"edit": edit_columns(model.edits_)} if model.edits_ else {})},
        parameters=(topic_parameters(first) if isinstance(first, Posterior) else {}) | model.family_parameters(),
        edits=model.edits_,
        names=names_of_people(model),
    )
