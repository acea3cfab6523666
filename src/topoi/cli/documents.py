"""``topoi documents``: the documents of a topic, the topics of a document, and documents like it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from topoi.cli import look
from topoi.cli.options import AsCsv, AsJson, ModelFile, ModelName, every_chain, open_topic_view
from topoi.cli.output import check_one_format, print_frame
from topoi.cli.topics import badge_words

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console
    from rich.text import Text

    from topoi.store.view import ModelView


_LEAST_OF_TITLE = 16


def document_line(start: Text, row: dict[Any, Any], width: int) -> Text:
    """Line of ``start``, then the document's year, title and id; the title is cut so that the line fits the width."""
    from rich.text import Text

    year = _or_nothing(row.get("year"))
    title = _or_nothing(row.get("title"))
    line = start.copy()
    if "year" in row:
        line.append(f"{look.GAP}{year:>4}", style="dim")
    name = look.printable(str(row["id"]))
    if title and title != name:
        shown = Text(look.GAP + look.printable(title))
        shown.truncate(max(width - len(line) - len(look.GAP + name), _LEAST_OF_TITLE), overflow="ellipsis")
        line.append_text(shown)
        line.append(look.GAP + name, style="dim")
    else:
        line.append(look.GAP + name)
    line.truncate(width, overflow="ellipsis")
    line.rstrip()
    return line


def _or_nothing(value: Any) -> str:
    import pandas as pd

    return "" if value is None or pd.isna(value) else str(value)


def documents(
    file: ModelFile,
    document: Annotated[
        str | None,
        typer.Argument(metavar="[ID]", help="A document's id, or its title: show its topics.", show_default=False),
    ] = None,
    topic: Annotated[int | None, typer.Option(metavar="K", help="Show the documents with most of this topic.")] = None,
    similar: Annotated[bool, typer.Option("--similar", help="Show the documents most like ID.")] = False,
    text: Annotated[bool, typer.Option("--text", help="ID is a new text, not a document of the file.")] = False,
    n: Annotated[int, typer.Option("-n", "--n", metavar="N", min=1, help="Rows to show.")] = 10,
    name: ModelName = None,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """Show the documents with most of a topic, or one document's topics, or the documents most like it."""
    check_one_format(as_json, as_csv)
    if (document is None) == (topic is None):
        raise typer.BadParameter("give --topic K or the ID of a document")
    if (similar or text) and document is None:
        raise typer.BadParameter(f"--{'similar' if similar else 'text'} needs the ID of a document, or a text")
    view = open_topic_view(file, name)
    import topoi

    if topic is not None:
        print_frame(topoi.topic_documents(view, topic, n=n), as_json=as_json, as_csv=as_csv, render=draw_shares)
    elif similar:
        model, asked = who_knows(view, str(document), text)
        frame = topoi.similar_documents(model, asked, n=n, text=isinstance(asked, str))
        print_frame(frame, as_json=as_json, as_csv=as_csv, render=draw_similar)
    else:
        model, asked = who_knows(view, str(document), text)
        frame = topoi.document_topics(model, asked, n=n, text=isinstance(asked, str))
        words = badge_words(view, 8)

        def render(rows: pd.DataFrame, screen: Console) -> None:
            for row in rows.to_dict("records"):
                ends = row["lower"], row["upper"]
                screen.print(look.share_line(row["topic"], row["share"], words[row["topic"]], screen.width, ends))
            if rows["lower"].notna().any():
                screen.print(look.interval_note())

        print_frame(frame, as_json=as_json, as_csv=as_csv, render=render)


def who_knows(view: ModelView, document: str, text: bool) -> tuple[Any, int | str]:
    """Return a model and a document to query it with: the view and a position, or all chains and a new text."""
    from topoi.analysis.given import find_document

    position = find_document(view, document, text)
    return (every_chain(view), document) if position is None else (view, position)


def draw_shares(frame: pd.DataFrame, screen: Console) -> None:
    """Print a line per document: the topic's share with its interval and a bar, year, title."""
    from rich.text import Text

    for row in frame.to_dict("records"):
        told = look.interval(row["lower"], row["upper"])
        between = [(Text(told, style="dim"), look.INTERVAL_WIDTH)] if told else []
        start = look.row(
            Text(f"{look.percent(row['share']):>5}", style="dim"),
            *between,
            (Text(look.bar(row["share"], 10), style=look.topic_colour(row["topic"])), 10),
        )
        width = 5 + len(look.GAP) + 10 + (look.INTERVAL_WIDTH + len(look.GAP)) * len(between)
        start.append(" " * (width - len(start)))
        screen.print(document_line(start, row, screen.width))
    if frame["lower"].notna().any():
        screen.print(look.interval_note())


def draw_similar(frame: pd.DataFrame, screen: Console) -> None:
    """Print a line per document: the score, year, title."""
    from rich.text import Text

    for row in frame.to_dict("records"):
        screen.print(document_line(Text(f"{row['score']:5.2f}", style="dim"), row, screen.width))
