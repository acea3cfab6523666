"""The options of ``topoi fit`` that all models share, grouped as its help shows them."""

from __future__ import annotations

from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from topoi.cli.model_options import chosen_model, complete_model
from topoi.cli.options import split_names
from topoi.models.registry import default_model, models


class OnError(StrEnum):
    """Treatment of a document that cannot be read."""

    stop = "raise"
    skip = "skip"


def count_or_share(given: str) -> int | float:
    """Parse a document frequency: a whole number counts documents, one with a point is a share of them.

    Examples
    --------
    >>> count_or_share("5"), count_or_share("0.8"), count_or_share("1.0")
    (5, 0.8, 1.0)
    """
    try:
        number = float(given) if "." in given else int(given)
    except ValueError:
        raise typer.BadParameter(f"{given!r} is not a number") from None
    if number < 0 or (isinstance(number, float) and number > 1):
        raise typer.BadParameter(f"{given!r} is neither a number of documents nor a share between 0.0 and 1.0")
    return number


def reading_options(
    text: str | None,
    authors: str | None,
    date: str | None,
    title: str | None,
    id_field: str | None,
    min_df: str | None,
    max_df: str | None,
    max_words: int | None,
    phrases: bool,
    function_words: bool | None,
) -> dict[str, Any]:
    """Settings of ``read_corpus`` from the options; None for those that were not given.

    Examples
    --------
    >>> given = reading_options("title,abstract", None, None, None, None, "0.1", None, None, False, None)
    >>> given["text"], given["min_df"], given["phrases"]
    (['title', 'abstract'], 0.1, None)
    """
    return {
        "text": split_names(text),
        "authors": split_names(authors),
        "date": date,
        "title": title,
        "id": id_field,
        "min_df": None if min_df is None else count_or_share(min_df),
        "max_df": None if max_df is None else count_or_share(max_df),
        "max_words": max_words,
        "phrases": phrases or None,
        "function_words": function_words,
    }


_field = partial(typer.Option, rich_help_panel="Fields of a document")
_word = partial(typer.Option, rich_help_panel="Words")
_model = partial(typer.Option, rich_help_panel="Model")
_sampling = partial(typer.Option, rich_help_panel="Sampling")
_output = partial(typer.Option, rich_help_panel="Output")

Source = Annotated[
    Path,
    typer.Argument(
        metavar="SOURCE",
        help="A .jsonl, .json, .csv, .tsv, .parquet, .mbox, .txt or .zip file, a folder of .txt, "
        "or what topoi encode wrote.",
    ),
]

ModelOption = Annotated[
    str | None,
    _model(
        "-m",
        "--model",
        metavar="MODEL",
        parser=chosen_model,
        autocompletion=complete_model,
        help=f"One of {', '.join(model.option for model in models().values())}.  "
        f"[default: {default_model().option}, or {default_model().without_authors} if no document has an author]",
    ),
]

Jobs = Annotated[
    int | None,
    _sampling("-j", "--jobs", metavar="N", min=1, help="Threads; they do not change the result.  [default: all]"),
]
Seed = Annotated[int, _sampling("--seed", metavar="N", min=0, help="Seed of the random draws.")]
TextFields = Annotated[str | None, _field("--text", metavar="A,B", help="Fields with the text.")]
AuthorFields = Annotated[str | None, _field("--authors", metavar="A,B", help="Fields with the authors.")]
DateField = Annotated[str | None, _field("--date", metavar="A", help="Field with the date or year.")]
TitleField = Annotated[str | None, _field("--title", metavar="A", help="Field with the title.")]
IdField = Annotated[str | None, _field("--id", metavar="A", help="Field that identifies the document.")]
OnErrorOption = Annotated[OnError, _field("--on-error", help="What to do with a document that cannot be read.")]

MinDf = Annotated[
    str | None, _word("--min-df", metavar="N", help="Drop words in fewer documents; with a point, a share: 0.01.")
]
MaxDf = Annotated[
    str | None, _word("--max-df", metavar="N", help="Drop words in more documents; with a point, a share: 0.8.")
]
MaxWords = Annotated[int | None, _word("--max-words", metavar="N", min=1, help="Keep the N most frequent words.")]
StopWords = Annotated[
    str | None, _word("--stop-words", metavar="FILE|english|none", help="Words to leave out.  [default: english]")
]
FunctionWords = Annotated[
    bool | None,
    _word(
        "--function-words/--no-function-words",
        help="Keep words like upon and while, which tell authors apart.  [default: for --model author]",
    ),
]
Phrases = Annotated[bool, _word("--phrases", help="Join words that belong together, such as new_york.")]

Output = Annotated[
    Path | None, _output("-o", "--output", metavar="FILE", help="Where to save.  [default: SOURCE's name with .topoi]")
]
Name = Annotated[
    str | None,
    _output("--name", metavar="NAME", help="What to call the model; an existing file keeps its other models."),
]
Force = Annotated[bool, _output("--force", help="Replace an existing file; with --name, only that model.")]
Quiet = Annotated[bool, _output("-q", "--quiet", help="No report, no progress, no summary.")]
