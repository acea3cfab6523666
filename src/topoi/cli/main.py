"""The ``topoi`` program: its commands, help in groups, and errors as one line and an exit code."""

from __future__ import annotations

import io
import sys
import warnings
from collections.abc import Sequence
from functools import cache
from signal import SIGINT, SIGTERM
from typing import Annotated, Any

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup

from topoi import __version__
from topoi.cli import (
    align,
    authors,
    browse,
    coefficients,
    compare,
    demo,
    documents,
    edit,
    encode,
    evaluate,
    export,
    fit,
    groups,
    importing,
    label,
    look,
    map,
    models,
    name,
    predict,
    reviewers,
    search,
    similar,
    structure,
    topics,
    trends,
    unusual,
    update,
    warm,
    words,
)
from topoi.errors import TopoiError
from topoi.kernels import preparing

_OTHER = "Other options"


class GroupedCommand(TyperCommand):
    """A command that lists its options under their panels, in the order in which panels first occur."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments, then the options by group."""
        groups: dict[str, list[tuple[str, str]]] = {}
        arguments = []
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is None:
                continue
            if isinstance(parameter, TyperArgument):
                arguments.append(record)
            else:
                groups.setdefault(getattr(parameter, "rich_help_panel", None) or _OTHER, []).append(record)
        if arguments:
            with formatter.section("Arguments"):
                formatter.write_dl(arguments)
        last = groups.pop(_OTHER, [])
        for title, records in [*groups.items(), (_OTHER, last)]:
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)


# Commands as the help lists them: by what a person wants to do, each section in the order of a first visit.
SECTIONS = {
    "Start": ("demo", "fit", "browse"),
    "Ask a model": (
        "topics", "authors", "documents", "words", "search", "label", "trends", "groups", "unusual", "similar",
        "likely", "reviewers", "structure", "predict", "coefficients",
    ),
    "Judge models": ("evaluate", "compare", "align"),
    "Change a model": ("name", "edit", "update"),
    "Files": ("models", "map", "export", "import", "encode"),
    "The program": ("warm", "version"),
}  # fmt: skip


class GroupedProgram(TyperGroup):
    """The program, whose help lists commands in sections."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands with a line each, by section."""
        width = max(len(name) for name in self.commands)
        for title, names in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl(
                    [(name.ljust(width), self.commands[name].get_short_help_str(limit=80)) for name in names]
                )


# Base class of typer's usage errors (BadParameter and UsageError), which typer does not export.
_USAGE_ERROR: type[Exception] = typer.BadParameter.__mro__[2]

app = typer.Typer(
    name="topoi",
    cls=GroupedProgram,
    help="What a collection of documents is about, who writes about what, and how it moves.",
    epilog="Start with `topoi demo`, or `topoi fit papers.jsonl -o papers.topoi`.",
    no_args_is_help=True,
    rich_markup_mode=None,
    # main() prints expected errors as one line; a traceback needs --traceback.
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

app.command("fit", cls=GroupedCommand, short_help="Fit a model to documents and save it.")(fit.fit)
app.command("update", cls=GroupedCommand, short_help="Add new documents to a fitted model.")(update.update)
app.command("edit", cls=GroupedCommand, short_help="Change topics by hand: merge, split, ban, …")(edit.edit)
app.command("encode", cls=GroupedCommand, short_help="Put documents on disk that memory cannot hold.")(encode.encode)
app.command("topics", short_help="Topics with their words and authors.")(topics.topics)
app.command("structure", short_help="Which topics go together, in a model over a graph.")(structure.structure)
app.command("authors", short_help="Authors and what they write about.")(authors.authors)
app.command("label", short_help="A text, each word with its topic.")(label.label)
app.command("trends", short_help="Topics that rise and fall.")(trends.trends)
app.command("groups", short_help="Topics in which groups of documents differ.")(groups.groups)
app.command("documents", short_help="Documents of a topic, topics of a document.")(documents.documents)
app.command("words", short_help="Topics of a word.")(words.words)
app.command("unusual", short_help="An author's most surprising documents.")(unusual.unusual)
app.command("search", short_help="Documents for some words, the best first.")(search.search)
app.command("similar", short_help="Authors who write about the same.")(similar.similar)
app.command("likely", short_help="Who could have written a text.")(reviewers.likely)
app.command("reviewers", short_help="Who could review a text.")(reviewers.reviewers)
app.command("predict", short_help="Topics that metadata alone suggest, with bands.")(predict.predict)
app.command("coefficients", short_help="Which metadata make a topic more likely.")(coefficients.coefficients)
app.command("align", short_help="Topics of two fits side by side.")(align.align)
app.command("evaluate", short_help="How well a model predicts new documents.")(evaluate.evaluate)
app.command("compare", short_help="Models side by side on new documents.")(compare.compare)
app.command("models", short_help="The models of a file.")(models.models)
app.command("map", short_help="Give each document a place on the map.")(map.place_documents)
app.command("name", short_help="Give a topic a label.")(name.name_topic)
app.command("browse", short_help="Read a model in the web browser.")(browse.browse)
app.command("export", short_help="Write the web pages, or files for other programs.")(export.export)
app.command("import", short_help="Go on with a model that MALLET fitted.")(importing.import_state)
app.command("demo", short_help="Fit two centuries of State of the Union addresses.")(demo.demo)
app.command("warm", short_help="Compile the samplers now, so that nothing waits later.")(warm.warm)


@app.command("version", short_help="The version of topoi.")
def version() -> None:
    """Print the version of topoi."""
    typer.echo(__version__)


def _print_version(asked: bool) -> None:
    if asked:
        version()
        raise typer.Exit


@app.callback()
def program(
    traceback: Annotated[bool, typer.Option("--traceback", help="Show where an error came from.")] = False,
    show_version: Annotated[
        bool, typer.Option("--version", help="Show the version and end.", is_eager=True, callback=_print_version)
    ] = False,
) -> None:
    """What a collection of documents is about, who writes about what, and how it moves."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return 0 for success, 1 for an error (one line printed), 2 wrong usage, 130 Ctrl-C, 143 SIGTERM.

    Parameters
    ----------
    arguments
        Command-line arguments without the program's name; by default those of this process.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    traceback = "--traceback" in _options(given)
    if traceback:
        # An option of the program, not of its commands; users append it to the line that failed, so move it forward.
        given = ["--traceback", *(word for word in given if word != "--traceback")]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("default", UserWarning)
            warnings.showwarning = _show_warning  # type: ignore[assignment]
            with preparing.watching(_Note(given)):
                code = _command()(given, prog_name="topoi", standalone_mode=False)
            return code if isinstance(code, int) else 0
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    except (KeyboardInterrupt, typer.Abort) as stop:
        # click turns KeyboardInterrupt into Abort.
        signalled = stop if isinstance(stop, KeyboardInterrupt) else stop.__cause__
        if not isinstance(signalled, KeyboardInterrupt):
            return 1
        look.say(f"topoi: {signalled or 'interrupted'}", err=True)
        return 128 + (SIGTERM if type(signalled).__name__ == "Terminated" else SIGINT)
    except _USAGE_ERROR as error:
        message = io.StringIO()
        error.show(message)  # type: ignore[attr-defined]
        look.say(message.getvalue(), err=True, end=False)
        return int(error.exit_code)  # type: ignore[attr-defined]
    except (TopoiError, OSError, ImportError) as error:
        if traceback:
            raise
        look.say(f"topoi: {_one_line(error)}", err=True)
        return 1


@cache
def _command() -> Any:
    """Build the command with all subcommands; cached, since building takes longer than most commands run."""
    return typer.main.get_command(app)


def _show_warning(message: Warning | str, *where: object, **more: object) -> None:
    """Print a warning's message without the line of code it came from."""
    look.say(f"topoi: note: {' '.join(str(message).split())}", err=True)


class _Note:
    """Print once, on a terminal and without ``--quiet``, that kernels are being compiled."""

    def __init__(self, arguments: list[str]) -> None:
        quiet = any(word in ("-q", "--quiet") for word in _options(arguments))
        self._due = not quiet and sys.stderr is not None and sys.stderr.isatty()

    def __call__(self, busy: bool) -> None:
        if busy and self._due:
            self._due = False
            look.say(f"topoi: {preparing.MESSAGE}; takes some seconds", err=True)


def _options(arguments: list[str]) -> list[str]:
    """Arguments that may hold options: those before a lone ``--``."""
    return arguments[: arguments.index("--")] if "--" in arguments else arguments


def _one_line(error: Exception) -> str:
    if isinstance(error, FileNotFoundError) and error.filename is not None:
        return f"no such file: {error.filename}"
    if isinstance(error, OSError) and error.strerror and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return " ".join(str(error).split()) or type(error).__name__


if __name__ == "__main__":
    sys.exit(main())
