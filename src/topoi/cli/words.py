"""``topoi words``: the topics of a word."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from topoi.cli import look
from topoi.cli.options import AsCsv, AsJson, ModelFile, ModelName, open_topic_view
from topoi.cli.output import check_one_format, print_frame
from topoi.cli.topics import badge_words

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console


def words(
    file: ModelFile,
    word: Annotated[str, typer.Argument(metavar="WORD", help="A word of the vocabulary.")],
    n: Annotated[int, typer.Option("-n", "--n", metavar="N", min=1, help="Topics to show.")] = 5,
    name: ModelName = None,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """Show which topics a word comes from, and where it ranks in each."""
    check_one_format(as_json, as_csv)
    view = open_topic_view(file, name)
    import topoi

    frame = topoi.word_topics(view, word, n=n)
    leading = badge_words(view, 8)

    def render(rows: pd.DataFrame, screen: Console) -> None:
        draw_word(rows, leading, screen)

    print_frame(frame, as_json=as_json, as_csv=as_csv, render=render)


def draw_word(frame: pd.DataFrame, leading: dict[int, list[str]], screen: Console) -> None:
    """Print the word, then a line per topic: share of the word's occurrences, its rank there, the topic's words."""
    from rich.text import Text

    screen.print(Text(look.printable(frame["word"].iloc[0]), style="bold"))
    ranks = [f"{rank:,}." for rank in frame["word_rank"]]
    width = max(map(len, ranks))
    for row, rank in zip(frame.to_dict("records"), ranks, strict=True):
        line = look.share_line(row["topic"], row["probability"], [], screen.width)
        room = screen.width - (24 + width + 2 * len(look.GAP))
        screen.print(
            look.row(
                (line, 24),
                (Text(rank.rjust(width), style="dim"), width),
                look.topic_words(row["topic"], leading[row["topic"]], room),
            )
        )
