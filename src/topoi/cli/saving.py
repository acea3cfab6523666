"""Checks of the output file, made before any work: errors that would prevent saving are raised first."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from topoi.errors import StoreError

if TYPE_CHECKING:
    from topoi.corpus.corpus import Corpus


def refuse_overwriting(path: Path, force: bool, instead: str = "") -> None:
    """Raise an error if the result could not be written, or would replace a file without ``--force``.

    Parameters
    ----------
    path
        The file to be written.
    force
        Whether an existing file may be replaced.
    instead
        Alternative for an existing file, for the message.
    """
    if path.is_dir():
        raise StoreError(f"{path} is a folder; name a file to write")
    if path.exists() and not force:
        raise StoreError(f"{path} exists; choose another file with -o, {instead}or replace it with --force")
    _check_folder(path)


def refuse_name(path: Path, name: str, force: bool) -> None:
    """Raise an error if a model of that name could not be saved, or would replace one without ``--force``.

    The file's other models stay, even with ``--force``.
    """
    from topoi.store.write import check_name

    try:
        check_name(name)
    except StoreError as error:
        raise typer.BadParameter(f"--name: {error}") from error
    if not path.exists() or path.is_dir():
        refuse_overwriting(path, force)
        return
    _check_folder(path)
    import topoi

    with topoi.open_store(path) as store:
        taken = name in set(store.models()["name"])
    if taken and not force:
        raise StoreError(f"{path} has a model {name!r} already; choose another --name, or replace it with --force")


def refuse_corpus(path: Path, corpus: Corpus, source: Path) -> None:
    """Raise an error if the file that a model is to be added to holds another corpus than the one read."""
    if not path.exists():
        return
    import topoi

    with topoi.open_store(path) as store:
        _ = store.sizes  # a store without a corpus is refused here
        there = store.sql("SELECT fingerprint, n_documents, n_tokens FROM corpus").iloc[0]
    if there["fingerprint"] != corpus.fingerprint():
        raise StoreError(
            f"{path} holds another corpus ({there['n_documents']:,} documents, {there['n_tokens']:,} words of text; "
            f"{source}, as it was read now, has {corpus.n_docs:,} and {corpus.n_tokens:,}): one file, one corpus; "
            "read it with the same options as before, or save to another file with -o"
        )


def _check_folder(path: Path) -> None:
    folder = path.absolute().parent
    if not folder.is_dir():
        raise StoreError(f"cannot write {path}: there is no folder {folder}")
    if not os.access(folder, os.W_OK):
        raise StoreError(f"cannot write {path}: no permission to write in {folder}")
