"""Options and arguments that several verbs share, so that they read the same everywhere."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from topoi.errors import ModelError, StoreError

if TYPE_CHECKING:
    from topoi.models.author_topic.estimator import AuthorTopicModel

ModelFile = Annotated[Path, typer.Argument(metavar="FILE", help="A fitted model, as `topoi fit` saves it.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, one object per row.", rich_help_panel="Output")]
AsCsv = Annotated[bool, typer.Option("--csv", help="Print comma-separated values.", rich_help_panel="Output")]


def open_model(path: Path) -> AuthorTopicModel:
    """The model in a file, with a plain message where there is none."""
    if path.is_dir():
        raise StoreError(f"{path} is a folder; name the .topoi file that `topoi fit` wrote")
    if not path.exists():
        raise FileNotFoundError(2, "No such file", str(path))
    import topoi

    model: Any = topoi.load(path)
    return model


def open_topic_model(path: Path) -> AuthorTopicModel:
    """The model in a file, if it is one with topics."""
    model = open_model(path)
    if not has_topics(model):
        raise ModelError(f"the {type(model).__name__} in {path} has no topics; see `topoi authors {path}`")
    return model


def has_topics(model: object) -> bool:
    """Whether a model has topics; the author model has none."""
    return hasattr(model, "topic_sizes")


def has_authors(model: AuthorTopicModel) -> bool:
    """Whether a model tells authors apart; LDA does not."""
    return len(model.authors_) > 0


def refuse_overwriting(path: Path, force: bool) -> None:
    """Stop before any work is done if the result could not be written, or would replace an earlier one unasked."""
    if path.is_dir():
        raise StoreError(f"{path} is a folder; name a file to write")
    if path.exists() and not force:
        raise StoreError(f"{path} exists; choose another file with -o, or replace it with --force")
    if not path.absolute().parent.is_dir():
        raise StoreError(f"cannot write {path}: there is no folder {path.absolute().parent}")
    if not os.access(path.absolute().parent, os.W_OK):
        raise StoreError(f"cannot write {path}: no permission to write in {path.absolute().parent}")


def available_cores() -> int:
    """The number of cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def split_names(names: str | None) -> list[str] | None:
    """The parts of a comma-separated list; None stays None."""
    if names is None:
        return None
    return [part.strip() for part in names.split(",") if part.strip()]
