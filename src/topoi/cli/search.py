"""``topoi search``: documents for some words and authors, each with its reasons; and measures of search."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from topoi.cli import look
from topoi.cli.documents import document_line
from topoi.cli.options import AsCsv, AsJson, ModelFile, ModelName, joined, loaded, open_view
from topoi.cli.output import check_one_format, print_frame
from topoi.cli.topics import badge_words

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

    from topoi.retrieval.search import Search
    from topoi.store.view import ModelView

_SHOWN = 8


class Method(StrEnum):
    """Ways to score documents."""

    mixture = "mixture"
    topics = "topics"
    language = "language"
    bm25 = "bm25"


def search(
    file: ModelFile,
    query: Annotated[list[str] | None, typer.Argument(metavar="[QUERY]...", help="The words looked for.")] = None,
    author: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only documents by this author; may be repeated.")
    ] = None,
    first: Annotated[int | None, typer.Option("--from", metavar="YEAR", help="Only documents of this year on.")] = None,
    last: Annotated[int | None, typer.Option("--to", metavar="YEAR", help="Only documents up to this year.")] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN=VALUE", help="Only documents with this metadata; may be repeated."),
    ] = None,
    like: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="An author as part of the query: who writes like this; may be repeated."),
    ] = None,
    method: Annotated[
        Method | None, typer.Option(help="How documents are scored.  [default: mixture, or language without topics]")
    ] = None,
    weight: Annotated[
        float | None, typer.Option(metavar="SHARE", min=0.0, max=1.0, help="Weight of the words in the mixture.")
    ] = None,
    n: Annotated[int, typer.Option("-n", "--n", metavar="N", min=1, help="Documents to show.")] = 10,
    name: ModelName = None,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """Show the documents that answer a query best: those with its words, and those on its topics."""
    check_one_format(as_json, as_csv)
    text = joined(query) or ""
    if not text.strip() and not like:
        raise typer.BadParameter("there is nothing to look for; give QUERY, or --like NAME")
    view = open_view(file, name)
    found = searched(view, {} if weight is None else {"weight": weight}).query(
        text,
        like,
        n,
        None if method is None else method.value,
        by=author or None,
        years=None if first is None and last is None else (first, last),
        where=conditions(where or []),
    )
    words = badge_words(view, _SHOWN) if view.n_topics else {}

    def render(rows: pd.DataFrame, screen: Console) -> None:
        draw_hits(rows, words, screen)

    if found.attrs["unknown"]:
        listed = ", ".join(look.printable(word) for word in found.attrs["unknown"][:_SHOWN])
        look.say(f"topoi: note: not in any document: {listed}", err=True)
    print_frame(found, as_json=as_json, as_csv=as_csv, render=render)


def searched(view: ModelView, options: dict[str, Any]) -> Search:
    """A search by all chains of a model; one chain is read from the file as needed."""
    import topoi

    return topoi.Search(view if view.n_chains == 1 or not view.n_topics else loaded(view), **options)


def conditions(given: list[str]) -> dict[str, str]:
    """Conditions on metadata.

    Examples
    --------
    >>> conditions(["venue=ACL", "note=a=b"])
    {'venue': 'ACL', 'note': 'a=b'}
    """
    found = {}
    for each in given:
        column, equals, value = each.partition("=")
        if not equals or not column.strip():
            raise typer.BadParameter(f"--where {each}: give COLUMN=VALUE")
        found[column.strip()] = value.strip()
    return found


def draw_hits(frame: pd.DataFrame, words: dict[int, list[str]], screen: Console) -> None:
    """Print two lines per document: score, year, title; then the words that it has, and its first topic's words."""
    from rich.text import Text

    if frame.empty:
        screen.print("No document.")
        return
    for row in frame.to_dict("records"):
        start = Text(f"{row['score']:6.2f}", style="dim")
        screen.print(document_line(start, row, screen.width))
        line = Text(" " * 6 + look.GAP)
        matched = ", ".join(look.printable(word) for word in row["matched"][:_SHOWN])
        line.append(f"has {matched or 'none of these words'}")
        if row["topics"]:
            line.append(look.GAP)
            topic = row["topics"][0]
            line.append_text(look.topic_words(topic, words[topic], max(screen.width - len(line), 0)))
        line.truncate(screen.width, overflow="ellipsis")
        line.rstrip()
        screen.print(line)


def print_search_measures(
    file: Path, name: str | None, queries: Path, qrels: Path, measures: list[str] | None, as_json: bool, as_csv: bool
) -> None:
    """Print the quality of every method of search on a file of queries and judgements."""
    from topoi.retrieval.judged import read_judgements, read_queries
    from topoi.retrieval.measures import MEASURES, evaluate_search

    asked, judged = read_queries(queries), read_judgements(qrels)
    found = evaluate_search(searched(open_view(file, name), {}), asked, judged, measures=measures or MEASURES)

    def render(frame: pd.DataFrame, screen: Console) -> None:
        draw_measures(frame, screen)

    print_frame(found, as_json=as_json, as_csv=as_csv, render=render)


def draw_measures(frame: pd.DataFrame, screen: Console) -> None:
    """Print a line per method: its measures, and how sure its lead over the language model is."""
    from rich.text import Text

    names = [str(name) for name in frame.columns[1:-3]]
    n = int(frame["n_queries"].iloc[0])
    screen.print(Text(f"{n:,} judged {'query' if n == 1 else 'queries'}", style="dim"))
    screen.print(Text(" " * 8 + "".join(f"{name:>10}" for name in names) + "  against language", style="dim"))
    for row in frame.to_dict("records"):
        figures = "".join(f"{row[name]:10.4f}" for name in names)
        line = Text(f"{row['method']:8}{figures}")
        if row["p"] == row["p"]:
            line.append(f"  {row['difference']:+.4f} (p = {row['p']:.4f})", style="dim")
        screen.print(line)
