"""Options and arguments that several commands share, so that they read the same everywhere."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from topoi.cli import look
from topoi.cli.choosing import TOPICS, Need, choose_model
from topoi.errors import StoreError, TopoiError

if TYPE_CHECKING:
    from topoi.store.view import ModelView


def names_beginning(context: typer.Context, incomplete: str) -> list[str]:
    """Shell completion of the names of models in the file on the command line."""
    words = [context.params.get("file"), context.params.get("file_a"), *context.args]
    file = next((word for word in words if word is not None), "")
    try:
        from topoi.store.store import Store

        with Store(Path(str(file))) as store:
            names = [str(name) for name in store.models()["name"]]
    except (TopoiError, OSError):  # no completions; errors are not shown during completion
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
    """Raise a plain error if a file does not exist, or is a folder."""
    if path.is_dir():
        raise StoreError(f"{path} is a folder; name the .topoi file that `topoi fit` wrote")
    if not path.exists():
        raise FileNotFoundError(2, "No such file", str(path))


def open_view(path: Path, name: str | None, *needs: Need) -> ModelView:
    """Open a model in a file as a view, which reads rows by SQL as needed: instant, however large the file.

    Parameters
    ----------
    path
        The file.
    name
        Name of the model; if not given, the one saved last that meets the needs, with a note if that is not the one
        saved last.
    needs
        Requirements of the command.
    """
    check_file(path)
    view = choose_model(path, name, needs)
    look.wear(view.topic_hues())
    return view


def open_topic_view(path: Path, name: str | None, *needs: Need) -> ModelView:
    """Open a model with topics, as ``open_view`` does."""
    return open_view(path, name, TOPICS, *needs)


def loaded(view: ModelView) -> Any:
    """Load the whole model, for queries that its rows in the store cannot answer."""
    import topoi

    return topoi.load(view.store, view.name)


def every_chain(view: ModelView) -> Any:
    """Model with all its chains, for queries that average over them; a view has the first chain only."""
    return view if view.n_topics and view.n_chains == 1 else loaded(view)


def available_cores() -> int:
    """Number of cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def split_names(names: str | None) -> list[str] | None:
    """Split a comma-separated list; None stays None."""
    if names is None:
        return None
    return [part.strip() for part in names.split(",") if part.strip()]
