"""Choice of a file's model for a command: the named one, else the newest that has what the command needs."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from topoi.cli.look import printable, say
from topoi.errors import ModelError
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
