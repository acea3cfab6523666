"""Options and arguments that several verbs share, so that they read the same everywhere."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from topoi.cli import look
from topoi.cli.choosing import TOPICS, Need, choose_model
from topoi.errors import StoreError, TopoiError

if TYPE_CHECKING:
    from topoi.models.stored.view import ModelView


def names_beginning(context: typer.Context, incomplete: str) -> list[str]:
    """The names of the models in the file on the line that complete what was typed."""
    words = [context.params.get("file"), context.params.get("file_a"), *context.args]
    file = next((word for word in words if word is not None), "")
    try:
        from topoi.store.store import Store

        with Store(Path(str(file))) as store:
            names = [str(name) for name in store.models()["name"]]
    except (TopoiError, OSError):  # nothing to offer, and a shell that completes shows no errors
        return []
    return [name for name in names if name.startswith(incomplete)]


ModelFile = Annotated[Path, typer.Argument(metavar="FILE", help="A fitted model, as `topoi fit` saves it.")]
ModelName = Annotated[
    str | None,
    typer.Option(
        "--name",
        metavar="NAME",
        help="Which of the file's models.  [default: the one saved last]",
        autocompletion=names_beginning,
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, one object per row.", rich_help_panel="Output")]
AsCsv = Annotated[bool, typer.Option("--csv", help="Print comma-separated values.", rich_help_panel="Output")]


def check_file(path: Path) -> None:
    """Say plainly that a file is not there, or is a folder."""
    if path.is_dir():
        raise StoreError(f"{path} is a folder; name the .topoi file that `topoi fit` wrote")
    if not path.exists():
        raise FileNotFoundError(2, "No such file", str(path))


def open_view(path: Path, name: str | None, *needs: Need) -> ModelView:
    """The model in a file, read by SQL as questions need it: there at once, however large the file.

    Parameters
    ----------
    path
        The file.
    name
        Which of its models; if not given, the one saved last that has what is needed, and a note says which if that
        is not the last one.
    needs
        What the question needs of a model.
    """
    check_file(path)
    view = choose_model(path, name, needs)
    look.wear(view.topic_hues())
    return view


def open_topic_view(path: Path, name: str | None, *needs: Need) -> ModelView:
    """The same, if it is a model with topics."""
    return open_view(path, name, TOPICS, *needs)


def loaded(view: ModelView) -> Any:
    """The model itself, for what its rows in the store do not answer."""
    import topoi

    return topoi.load(view.store, view.name)


def every_chain(view: ModelView) -> Any:
    """The model with all its chains, for questions that average over them; a view knows the first chain."""
    return view if view.n_topics and view.n_chains == 1 else loaded(view)


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
