"""``topoi align``: which topics of one fit are those of another."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from topoi.cli import look
from topoi.cli.options import AsCsv, AsJson, open_topic_model
from topoi.cli.output import check_one_format, print_frame

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console


def align(
    file_a: Annotated[Path, typer.Argument(metavar="FILE_A", help="A fitted model, as `topoi fit` saves it.")],
    file_b: Annotated[
        Path | None, typer.Argument(metavar="[FILE_B]", help="Another one; without it, two chains of the first.")
    ] = None,
    chain_a: Annotated[int, typer.Option(metavar="N", min=0, help="The chain of the first.")] = 0,
    chain_b: Annotated[
        int | None,
        typer.Option(metavar="N", min=0, help="The chain of the second.  [default: 0, or 1 of the same file]"),
    ] = None,
    n: Annotated[int | None, typer.Option("-n", "--n", metavar="N", min=1, help="Show the N nearest pairs.")] = None,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """Put the topics of two models, or of two chains, side by side, the most similar pair first."""
    check_one_format(as_json, as_csv)
    first = open_topic_model(file_a)
    second = None if file_b is None else open_topic_model(file_b)
    import topoi

    everything = topoi.align_topics(first, second, chain_a=chain_a, chain_b=chain_b).pairs

    def render(rows: pd.DataFrame, screen: Console) -> None:
        draw_pairs(rows, screen)
        mutual = int(everything["mutual"].sum())
        screen.print(f"{mutual} of {len(everything)} pairs are each other's nearest (=)", style="dim")

    print_frame(everything if n is None else everything.head(n), as_json=as_json, as_csv=as_csv, render=render)


def draw_pairs(frame: pd.DataFrame, screen: Console) -> None:
    """A line per pair: the distance, then both topics' numbers and words."""
    from rich.text import Text

    room = (screen.width - (6 + 1 + 2 * 3 + 5 * len(look.GAP))) // 2
    for row in frame.to_dict("records"):
        line = look.row(
            (Text(f"{row['distance']:6.2f}", style="dim"), 6),
            look.topic_number(row["topic_a"]),
            (look.topic_words(row["topic_a"], row["words_a"], room), room),
            ("=" if row["mutual"] else "", 1),
            look.topic_number(row["topic_b"]),
            look.topic_words(row["topic_b"], row["words_b"], room),
        )
        screen.print(line)
