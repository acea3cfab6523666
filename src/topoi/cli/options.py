"""Parts that several commands share: options and arguments, choice of a model, and texts given in three ways."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from topoi.cli import look
from topoi.cli.look import printable, say
from topoi.errors import ModelError, StoreError, TopoiError
from topoi.models.registry import options_giving

if TYPE_CHECKING:
    from topoi.store.view import ModelView


class Need(NamedTuple):
    """Requirement of a command that not every model meets.

    Attributes
    ----------
    met
        Predicate of a view: whether the model meets it.
    lacking
        Text of the error about a model that does not.
    families
        The options of ``topoi fit`` that give models that do.
    """

    met: Callable[[ModelView], bool]
    lacking: str
    families: str


TOPICS = Need(lambda view: view.n_topics > 0, "has no topics", options_giving("topics"))
AUTHORS = Need(lambda view: view.n_authors > 0, "knows no authors", options_giving("authors"))
GRAPH = Need(lambda view: view.has_graph, "has no graph of topics", options_giving("graph"))
FEATURES = Need(lambda view: "features" in view.settings, "has no features to predict from", options_giving("features"))
COEFFICIENTS = Need(lambda view: "coefficients" in view.gives, "has no coefficients", options_giving("coefficients"))


def choose_model(path: Path, name: str | None, needs: Sequence[Need]) -> ModelView:
    """Open the model of that name; without a name, the one saved last that meets all of ``needs``.

    If that is not the one saved last, a note on standard error says so. An error about a named model that does not meet
    them suggests one that does.
    """
    import topoi

    view = topoi.view(path, name)
    lacking = _lacking(view, needs)
    if lacking is None:
        return view
    able = [other for other in _others(view) if _lacking(other, needs) is None]
    problem = f"the {view.family} in {path} {lacking.lacking}"
    if not able:
        raise ModelError(f"{problem}; {_advice(view, lacking, path, name)}")
    if name is not None:
        raise ModelError(f"{problem}; this one can answer: --name {shlex.quote(printable(able[0].name))}")
    chosen = able[0]
    say(f"topoi: note: {problem}; {printable(chosen.name)!r} answers instead", err=True)
    return chosen


def _lacking(view: ModelView, needs: Sequence[Need]) -> Need | None:
    return next((need for need in needs if not need.met(view)), None)


def _others(view: ModelView) -> list[ModelView]:
    """The file's other models, newest first."""
    import topoi

    names = [str(name) for name in view.store.models()["name"]]
    return [topoi.view(view.store, name) for name in reversed(names) if name != view.name]


def _advice(view: ModelView, lacking: Need, path: Path, name: str | None) -> str:
    """Advice for the error when no model of the file meets the needs."""
    if lacking is TOPICS and view.n_authors:
        which = "" if name is None else f" --name {shlex.quote(printable(name))}"
        return f"see `topoi authors {path}{which}`, or fit one with {lacking.families}"
    if lacking is AUTHORS and not view.store.sql("SELECT n_authors FROM corpus")["n_authors"].sum():
        return "no document has an author: fit again and name the fields that hold them, --authors A,B"
    return f"fit one with {lacking.families}, into the same file with -o {shlex.quote(str(path))} --name NAME"


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


TextWords = Annotated[list[str] | None, typer.Argument(metavar="[TEXT]...", help="The text, or - for standard input.")]
TextFile = Annotated[Path | None, typer.Option("--file", metavar="FILE", help="Read the text from a file.")]


def given_text(text: str | None, from_file: Path | None) -> str:
    """Return the text given in one of the three ways; none at all is a usage error."""
    if text is not None and from_file is not None:
        raise typer.BadParameter("give TEXT or --file, not both")
    if from_file is not None:
        passage = from_file.read_text(encoding="utf-8", errors="replace")
    elif text == "-" or (text is None and not sys.stdin.isatty()):
        passage = sys.stdin.read()
    else:
        passage = text or ""
    if not passage.strip():
        raise typer.BadParameter("there is no text; give TEXT, - to read standard input, or --file FILE")
    return passage


def joined(words: list[str] | None) -> str | None:
    """Join the words of an unquoted text."""
    return " ".join(words) if words else None
