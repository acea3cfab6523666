"""``topoi reviewers`` and ``topoi likely``: possible reviewers and possible authors of a text."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from topoi.cli.label import split_authors
from topoi.cli.look import NAME_GAP, printable, say
from topoi.cli.options import (
    AUTHORS,
    AsCsv,
    AsJson,
    ModelFile,
    ModelName,
    TextFile,
    TextWords,
    every_chain,
    given_text,
    joined,
    open_topic_view,
    open_view,
)
from topoi.cli.output import check_one_format, print_frame
from topoi.cli.similar import draw_authors_with_topics
from topoi.cli.topics import badge_words
from topoi.errors import ModelError

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

    from topoi.store.view import ModelView


def reviewers(
    file: ModelFile,
    text: TextWords = None,
    from_file: TextFile = None,
    exclude: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="An author of the text, left out with all co-authors; may be repeated."),
    ] = None,
    n: Annotated[int, typer.Option("-n", "--n", metavar="N", min=1, help="Reviewers to show.")] = 10,
    min_words: Annotated[
        int | None,
        typer.Option(metavar="N", min=0, help="Leave out authors with fewer words.  [default: the prior's weight]"),
    ] = None,
    min_documents: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, help="Leave out authors of fewer documents.  [default: 3 if a hundred have so many]"
        ),
    ] = None,
    since: Annotated[
        int | None, typer.Option(metavar="YEAR", help="Leave out authors without a document of this year or later.")
    ] = None,
    submissions: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", exists=True, dir_okay=False, help="A CSV table of many texts: text, title, authors, id."
        ),
    ] = None,
    name: ModelName = None,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """Show the authors who know the subject of a text best, without its own authors and their co-authors."""
    check_one_format(as_json, as_csv)
    if submissions is not None and (text or from_file is not None):
        raise typer.BadParameter("give a text, or a table with --submissions, not both")
    passage = "" if submissions is not None else given_text(joined(text), from_file)
    view = open_topic_view(file, name, AUTHORS)
    import numpy as np

    import topoi
    from topoi.analysis.reviewers import usual_least

    if min_documents is None:
        min_documents = usual_least(view.catalogue_.n_documents(np.arange(len(view.authors_))))
    limits: dict[str, Any] = {"min_words": min_words, "min_documents": min_documents, "since": since}
    model = every_chain(view)
    if submissions is not None:
        print_frame(for_submissions(view, model, submissions, n, limits), as_json=as_json, as_csv=as_csv)
        return
    own = excluded(view, exclude)
    refuse_slips(view, own)
    frame = with_titles(view, topoi.recommend_reviewers(model, passage, n=n, exclude=own, **limits))
    words = badge_words(view, 8)

    def render(rows: pd.DataFrame, screen: Console) -> None:
        figures = [
            f"{fit:>3} of 100, {count:,} doc{' ' if count == 1 else 's'}"
            for fit, count in zip(rows["fit"], rows["n_documents"], strict=True)
        ]
        draw_authors_with_topics(rows, "author", figures, words, screen)
        screen.print(left_out(frame.attrs), style="dim")

    print_frame(frame, as_json=as_json, as_csv=as_csv, render=render)


def with_titles(view: ModelView, frame: pd.DataFrame) -> pd.DataFrame:
    """Reviewers with titles, or ids, in place of the numbers of their papers."""
    import numpy as np
    import pandas as pd

    numbers = sorted({d for own in frame["papers"] for d in own})
    columns = view.catalogue_.document_columns(np.array(numbers, np.int64)) if numbers else {"id": []}
    shown = [str(t or i) for t, i in zip(columns.get("title", columns["id"]), columns["id"], strict=True)]
    titles = dict(zip(numbers, shown, strict=True))
    named = frame.assign(papers=pd.Series([[titles[d] for d in own] for own in frame["papers"]], dtype=object))
    named.attrs = frame.attrs
    return named


def for_submissions(view: ModelView, model: Any, path: Path, n: int, limits: dict[str, Any]) -> pd.DataFrame:
    """Reviewers of every text of a CSV table, whose authors and their co-authors are left out of its own list."""
    import pandas as pd

    import topoi
    from topoi.analysis.submissions import decoded, read_submissions

    found = []
    try:
        for one in read_submissions(decoded(path.read_bytes())):
            if not one.text:
                raise ModelError(f"line {one.line:,} has no text; one of text, abstract and title should have it")
            own = excluded(view, [one.authors] if one.authors else None)
            try:
                frame = with_titles(view, topoi.recommend_reviewers(model, one.text, n=n, exclude=own, **limits))
            except ModelError as error:
                raise ModelError(f"line {one.line:,}: {error}") from error
            frame.insert(0, "submission", one.identifier)
            found.append(frame)
    except ModelError as error:
        raise ModelError(f"{path.name}: {error}") from error
    return pd.concat(found, ignore_index=True)


def excluded(view: ModelView, given: list[str] | None) -> list[str]:
    """Names given by ``--exclude``; semicolons always separate names, commas only between known names."""
    parts = [part for names in given or [] for part in names.split(";") if part.strip()]
    return [name for part in parts for name in split_authors(view, part)]


def refuse_slips(view: ModelView, names: list[str]) -> None:
    """Refuse a name that nobody has but that is part of somebody's: whoever is meant would stay on the list."""
    from topoi.models.names import matching_names

    for name in names:
        if not len(view.catalogue_.authors_named([name])):
            known = [str(other) for other in view.authors_]
            meant = [known[i] for i in matching_names(name, known)[:3]]
            if meant:
                told = " or ".join(printable(repr(each)) for each in meant)
                raise typer.BadParameter(f"--exclude {name}: nobody has exactly this name; did you mean {told}?")


def left_out(attrs: dict[Any, Any]) -> str:
    """Text about the authors left out.

    Examples
    --------
    >>> left_out({"n_excluded": 1, "n_coauthors": 2, "n_too_few_words": 0})
    'left out: 1 excluded, 2 co-authors'
    """
    parts = [f"{attrs['n_excluded']:,} excluded", f"{attrs['n_coauthors']:,} co-authors"]
    if attrs["n_too_few_words"]:
        parts.append(f"{attrs['n_too_few_words']:,} with too few words")
    if attrs.get("n_others"):
        parts.append(f"{attrs['n_others']:,} by the number or years of their documents")
    return f"left out: {', '.join(parts)}"


def likely(
    file: ModelFile,
    text: Annotated[
        list[str] | None,
        typer.Argument(metavar="[TEXT]...", help="A text, - for standard input, or a document's id or title."),
    ] = None,
    from_file: TextFile = None,
    is_text: Annotated[bool, typer.Option("--text", help="TEXT is a new text, not a document of the file.")] = False,
    n: Annotated[int, typer.Option("-n", "--n", metavar="N", min=1, help="Authors to show.")] = 10,
    name: ModelName = None,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """Show the authors most likely to have written a text, if one of them wrote it alone.

    Probabilities are among the authors of the model and calibrated: right about as often as they say.
    """
    check_one_format(as_json, as_csv)
    passage = given_text(joined(text), from_file)
    view = open_view(file, name, AUTHORS)
    if text and text != ["-"] and not is_text:
        passage = text_of_document(view, passage) or passage
    import topoi

    print_frame(topoi.likely_authors(every_chain(view), passage, n=n), as_json=as_json, as_csv=as_csv)


def text_of_document(view: ModelView, given: str) -> str | None:
    """Text of the document of that id or title, with a note that names it; None for a new text."""
    from topoi.analysis.given import find_document

    with warnings.catch_warnings():
        if len(given.split()) > 1:  # expect a text; only a single word may be a mistyped id
            warnings.simplefilter("ignore", UserWarning)
        position = find_document(view, given)
    if position is None:
        return None
    ((identifier, title, text),) = view.store.sql(
        "SELECT identifier, title, text FROM document WHERE document_id = ?", (position,)
    ).itertuples(index=False)
    what = f"{printable(identifier)}, {printable(title)}" if title else printable(identifier)
    if not text:
        raise ModelError(f"the text of document {what} is not in {view.store.path}; give it with --file")
    by = view.catalogue_.author_names([row[1] for row in view.rows("document_authors", document_id=position)])
    names = NAME_GAP.join(map(printable, by)) or "nobody"
    say(f"topoi: note: document {what}, by {names}: the model was fitted to it", err=True)
    return str(text)
