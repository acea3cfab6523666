"""The output file of a fit: checks before any work, the checkpoint beside it, and a save that may not take long."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from topoi.cli import look
from topoi.errors import StoreError

if TYPE_CHECKING:
    from topoi.cli.signals import Asked
    from topoi.corpus.corpus import Corpus
    from topoi.models.registry import Model

# A signal ends the program within two seconds; the last part of them is for saying so and for leaving.
_SECONDS_TO_SAVE = 1.3
# No save takes less than this.
_LEAST_SECONDS = 0.1
_CHECKPOINT_EVERY = "10min"


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


def checkpoint_beside(path: Path, name: str | None) -> Path:
    """File that keeps the progress of a fit until its model is saved.

    Examples
    --------
    >>> checkpoint_beside(Path("papers.topoi"), None).name, checkpoint_beside(Path("papers.topoi"), "a/b").name
    ('papers.topoi.checkpoint', 'papers.topoi.a_b.checkpoint')
    """
    part = "" if name is None else "." + re.sub(r"[^\w.-]", "_", name)[:80]
    return path.with_name(f"{path.name}{part}.checkpoint")


def checkpoint_settings(model: Model, typed: dict[str, Any], checkpoint: Path) -> dict[str, Any]:
    """Settings by which a model keeps its progress; none if it cannot, or if the user said where."""
    flags = [option.flag for option in model.options if option.setting == "checkpoint"]
    if not flags or typed.get(flags[0]) is not None:
        return {}
    return {"checkpoint": checkpoint, "checkpoint_every": _CHECKPOINT_EVERY}


def save_soon(asked: Asked, checkpoint: Path | None, save: Callable[[], None]) -> bool:
    """Save an interrupted fit; give up, if there is a checkpoint, rather than keep the user waiting.

    Returns whether the model was saved. A save is whole or not at all.
    """
    from topoi.engine.interruption import Abandoned, run_within

    if checkpoint is None or not checkpoint.exists():
        save()
        return True
    left = asked.left(_SECONDS_TO_SAVE)
    if left < _LEAST_SECONDS:
        return False
    try:
        run_within(left, save)
    except Abandoned:
        return False
    return True


def say_how_to_go_on(checkpoint: Path, n_sweeps: int) -> None:
    """Tell where an interrupted fit is kept, and how it goes on or ends."""
    look.say(
        f"topoi: that would take long; {n_sweeps:,} sweeps are kept in {checkpoint}: the same command goes on from "
        f"there, and with -i {n_sweeps} it saves the model as it is",
        err=True,
    )


@contextmanager
def naming(checkpoint: Path | None) -> Iterator[None]:
    """Say, if a signal ends the block, that the checkpoint has the fit."""
    try:
        yield
    except KeyboardInterrupt as stop:
        if checkpoint is None or not checkpoint.exists():
            raise
        kept = f"interrupted; what was kept is in {checkpoint}, and the same command goes on from there"
        raise type(stop)(kept) from stop
