"""``topoi encode``: a collection of documents as a folder of arrays, for collections larger than memory."""

from __future__ import annotations

import shlex
import signal
from pathlib import Path
from typing import Annotated

import typer

from topoi.cli import fit_options as given
from topoi.cli import look
from topoi.cli.fit import default_output, is_encoded, keeps_function_words, read, report
from topoi.cli.signals import handled, raise_terminated
from topoi.errors import CorpusError
from topoi.models.registry import default_model


def encode(
    source: given.Source,
    text: given.TextFields = None,
    authors: given.AuthorFields = None,
    date: given.DateField = None,
    title: given.TitleField = None,
    id_field: given.IdField = None,
    on_error: given.OnErrorOption = given.OnError.stop,
    min_df: given.MinDf = None,
    max_df: given.MaxDf = None,
    max_words: given.MaxWords = None,
    stop_words: given.StopWords = None,
    function_words: Annotated[
        bool | None,
        typer.Option(
            "--function-words/--no-function-words",
            help="Keep words like upon and while, which tell authors apart.  [default: off]",
            rich_help_panel="Words",
        ),
    ] = None,
    phrases: given.Phrases = False,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FOLDER", help="A new folder.  [default: SOURCE's name with .corpus]"),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an encoded corpus that is there.")] = False,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="No report.")] = False,
) -> None:
    """Read documents into a folder of arrays on disk, from which models are fitted without holding them in memory."""
    folder = output or default_folder(source)
    if is_encoded(folder) and not force:
        raise CorpusError(f"{folder} is an encoded corpus; name another folder with -o, or replace it with --force")
    keep = keeps_function_words(default_model(), function_words, stop_words)
    reading = given.reading_options(text, authors, date, title, id_field, min_df, max_df, max_words, phrases, keep)
    # Exceptions, not exits, so that an unfinished folder is removed.
    with handled(signal.default_int_handler, raise_terminated):
        corpus = read(source, on_error, stop_words, reading | {"on_disk": folder, "replace": force})
    if quiet:
        return
    screen = look.console(stderr=True)
    report(corpus, screen)
    size = sum(path.stat().st_size for path in folder.iterdir())
    screen.print(f"wrote {folder} ({size / 1e6:.1f} MB)", style="bold", soft_wrap=True)
    screen.print(f"\nnext: topoi fit {shlex.quote(str(folder))}", soft_wrap=True)


def default_folder(source: Path) -> Path:
    """Path of the source's name with the suffix ``.corpus``, in the current folder.

    Examples
    --------
    >>> str(default_folder(Path("data/papers.v2.jsonl.gz")))
    'papers.v2.corpus'
    """
    return default_output(source).with_suffix(".corpus")
