"""``topoi similar``: authors with similar mixtures of topics."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from topoi.cli import look
from topoi.cli.options import AUTHORS, AsCsv, AsJson, ModelFile, ModelName, open_topic_view
from topoi.cli.output import check_one_format, print_frame
from topoi.cli.topics import badge_words

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console
    from rich.text import Text

WIDEST_NAME = 28


class Measure(StrEnum):
    """Measure of distance between mixtures of topics."""

    symmetrised_kl = "symmetrised-kl"
    jensen_shannon = "jensen-shannon"
    hellinger = "hellinger"
    cosine = "cosine"


def similar(
    file: ModelFile,
    author: Annotated[str, typer.Argument(metavar="AUTHOR", help="An author's name.")],
    n: Annotated[int, typer.Option("-n", "--n", metavar="N", min=1, help="Authors to show.")] = 10,
    measure: Annotated[Measure, typer.Option(help="How mixtures of topics are compared.")] = Measure.symmetrised_kl,
    min_words: Annotated[
        int | None,
        typer.Option(metavar="N", min=0, help="Leave out authors with fewer words.  [default: the prior's weight]"),
    ] = None,
    name: ModelName = None,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """Show the authors whose mixtures of topics are nearest to one author's, and the topics they share."""
    check_one_format(as_json, as_csv)
    view = open_topic_view(file, name, AUTHORS)
    import topoi

    frame = topoi.similar_authors(view, author, n=n, measure=measure.value, min_words=min_words)
    words = badge_words(view, 8)

    def render(rows: pd.DataFrame, screen: Console) -> None:
        draw_authors_with_topics(rows, "name", [f"{d:.2f}" for d in rows["distance"]], words, screen)

    print_frame(frame, as_json=as_json, as_csv=as_csv, render=render)


def draw_authors_with_topics(
    frame: pd.DataFrame, name: str, figures: list[str], words: dict[int, list[str]], screen: Console
) -> None:
    """Print a line per author: name, figures, the shared topics' numbers and the words of the first."""
    from rich.text import Text

    if frame.empty:
        screen.print("Nobody is left.")
        return
    names = [look.printable(author)[: look.at_most(WIDEST_NAME, screen)] for author in frame[name]]
    width, figure_width = max(map(len, names)), max(map(len, figures))
    numbers = [_numbers(topics) for topics in frame["topics"]]
    number_width = max(map(len, numbers))
    room = screen.width - (width + figure_width + number_width + 3 * len(look.GAP))
    for author, figure, number, topics in zip(names, figures, numbers, frame["topics"], strict=True):
        line = look.row((author, width), (Text(figure.rjust(figure_width), style="dim"), figure_width))
        if topics:
            line = look.row(
                (line, width + figure_width + len(look.GAP)),
                (number, number_width),
                look.topic_words(topics[0], words[topics[0]], room),
            )
        screen.print(line)


def _numbers(topics: list[int]) -> Text:
    from rich.text import Text

    line = Text()
    for topic in topics:
        line.append_text(look.topic_number(topic))
    return line
