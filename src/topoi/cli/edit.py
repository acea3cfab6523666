"""``topoi edit``: topics of a fitted model, changed by hand."""

from __future__ import annotations

import json
from collections.abc import Sequence
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from topoi.cli import fit_options as given
from topoi.cli import look
from topoi.cli.fit import exit_code
from topoi.cli.options import AsCsv, AsJson, ModelFile, ModelName, available_cores, check_file
from topoi.cli.output import check_one_format, print_frame
from topoi.cli.signals import nothing_to_lose, something_to_lose

if TYPE_CHECKING:
    from topoi.models.editing.editor import Editor
    from topoi.models.editing.preview import Preview

_how = partial(typer.Option, rich_help_panel="Sampling")


class Action(Enum):
    """What to do."""

    merge = "merge"
    split = "split"
    rename = "rename"
    ban = "ban"
    pin = "pin"
    freeze = "freeze"
    send = "send"
    undo = "undo"
    history = "history"


_USAGE = {
    Action.merge: "merge TOPIC OTHER...",
    Action.split: "split TOPIC [PARTS]",
    Action.rename: "rename TOPIC [NAME]...",
    Action.ban: "ban TOPIC WORD...",
    Action.pin: "pin TOPIC WORD...",
    Action.freeze: "freeze TOPIC...",
    Action.send: "send DOCUMENT --to TOPIC --away-from TOPIC",
    Action.undo: "undo",
    Action.history: "history",
}


def edit(
    file: ModelFile,
    action: Annotated[Action, typer.Argument(metavar="ACTION", help=f"One of: {'; '.join(_USAGE.values())}.")],
    what: Annotated[
        list[str] | None, typer.Argument(metavar="[WHAT]...", help="Numbers of topics, words, a document's id.")
    ] = None,
    to: Annotated[int | None, typer.Option("--to", metavar="TOPIC", help="Where to send a document's words.")] = None,
    away_from: Annotated[
        int | None,
        typer.Option(
            "--away-from",
            metavar="TOPIC",
            help="The topic that a document may no longer use.  [default: that of most of its words]",
        ),
    ] = None,
    preview: Annotated[bool, typer.Option("--preview", help="Show what would change, and change nothing.")] = False,
    who: Annotated[str, typer.Option("--who", metavar="NAME", help="Who edits, for the history.")] = "",
    name: ModelName = None,
    sweeps: Annotated[int, _how("-i", "--sweeps", metavar="N", min=0, help="Sweeps over all documents.")] = 20,
    jobs: given.Jobs = None,
    quiet: given.Quiet = False,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """Change topics by hand: merge, split, rename, ban or pin words, freeze, send documents elsewhere; undo it."""
    check_one_format(as_json, as_csv)
    check_file(file)
    words = what or []
    _need(not words or action not in (Action.undo, Action.history), action)
    if preview and action in (Action.undo, Action.history):
        raise typer.BadParameter(f"--preview is for edits, not for {action.value}")
    with nothing_to_lose():
        import topoi

        store = topoi.open_store(file)
        if action is Action.history:
            print_frame(store.edits(name), as_json=as_json, as_csv=as_csv, render=_draw_history)
            return
        editor = topoi.edit(store, name, who=who, n_jobs=jobs or available_cores())
        editor.model.set_params(progress=False if quiet or preview else None)
        if action is not Action.undo:
            _apply(editor, action, words, to, away_from)
            shown = editor.preview()
        if preview:
            _show(shown, as_json, as_csv)
            return
    with something_to_lose():
        model = editor.undo() if action is Action.undo else editor.commit(sweeps)
    if not quiet:
        look.console(stderr=True).print(f"saved {file}", style="bold", soft_wrap=True)
    if action is Action.undo:
        if not quiet or as_json or as_csv:
            print_frame(editor.history(), as_json=as_json, as_csv=as_csv, render=_draw_history)
    elif not quiet or as_json or as_csv:
        _show(shown, as_json, as_csv)
    if model.fit_info_["interrupted"]:
        raise typer.Exit(exit_code(model.fit_info_))


def _apply(editor: Editor, action: Action, words: list[str], to: int | None, away_from: int | None) -> None:
    """Make the edit that the arguments say, on a draft."""
    if action is Action.send:
        _need(len(words) == 1, action)
        document = words[0]
        known = editor.model.catalogue_.find_document(document)
        editor.send(int(document) if known is None and document.isdecimal() else document, to, away_from)
        return
    _need(to is None and away_from is None and bool(words), action)
    topic, rest = _numbers(words[:1], action)[0], words[1:]
    if action is Action.merge:
        _need(bool(rest), action)
        editor.merge(topic, *_numbers(rest, action))
    elif action is Action.split:
        _need(len(rest) <= 1, action)
        editor.split(topic, *_numbers(rest, action))
    elif action is Action.rename:
        editor.rename(topic, " ".join(rest))
    elif action is Action.freeze:
        for k in (topic, *_numbers(rest, action)):
            editor.freeze(k)
    else:
        _need(bool(rest), action)
        (editor.ban if action is Action.ban else editor.pin)(topic, rest)


def _numbers(words: Sequence[str], action: Action) -> list[int]:
    for word in words:
        if not word.isdecimal():
            raise typer.BadParameter(f"{word!r} is no number; use: topoi edit FILE {_USAGE[action]}")
    return [int(word) for word in words]


def _need(right: bool, action: Action) -> None:
    if not right:
        raise typer.BadParameter(f"use: topoi edit FILE {_USAGE[action]}")


def _show(preview: Preview, as_json: bool, as_csv: bool) -> None:
    """Print what an edit changes; CSV has the topics alone."""
    if as_json:
        look.say(json.dumps(preview.to_dict(), ensure_ascii=False, indent=1))
    elif as_csv:
        print_frame(preview.topics, as_csv=True)
    else:
        look.say(repr(preview))


def _draw_history(frame: Any, screen: Any) -> None:
    if frame.empty:
        screen.print("No edits yet.")
    for row in frame.to_dict("records"):
        undone = ", undone" if row["undone"] else ""
        who = f", {look.printable(row['who'])}" if row["who"] else ""
        line = f"{row['number']}. {look.printable(row['text'])} ({row['created']}{who}{undone})"
        screen.print(line, style="dim" if row["undone"] else None, markup=False, highlight=False, soft_wrap=True)
