"""``topoi trends``: which topics rise and which fall."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from topoi.cli import look
from topoi.cli.options import AsCsv, AsJson, ModelFile, open_model
from topoi.cli.output import check_one_format, print_frame
from topoi.cli.topics import check_topic, words_by_topic

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

MAX_SPARK = 40


def trends(
    file: ModelFile,
    by: Annotated[str, typer.Option(metavar="COLUMN", help="year, decade, or any column of the documents.")] = "year",
    topic: Annotated[int | None, typer.Option(metavar="K", help="Only this topic, period by period.")] = None,
    n: Annotated[int | None, typer.Option("-n", "--n", metavar="N", min=1, help="Show the N that move most.")] = None,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """Show how the share of each topic moves with time, from the steepest rise to the steepest fall."""
    check_one_format(as_json, as_csv)
    model = open_model(file)
    if topic is not None:
        check_topic(model, topic)
    import topoi

    frame = topoi.topic_trends(model, by=by)
    if topic is not None:
        frame = frame[frame["topic"] == topic].reset_index(drop=True)
        print_frame(frame, as_json=as_json, as_csv=as_csv)
        return
    words = words_by_topic(model, 10)

    def render(_: pd.DataFrame, screen: Console) -> None:
        draw_trends(share_table(frame), words, screen, n)

    print_frame(frame, as_json=as_json, as_csv=as_csv, render=render)


def share_table(frame: pd.DataFrame) -> pd.DataFrame:
    """Shares with one row per topic and one column per period, in order."""
    period = frame.columns[0]
    return frame.pivot(index="topic", columns=period, values="share").sort_index(axis=1)


def change(shares: pd.DataFrame) -> pd.Series:
    """How much each topic's share rises over the whole span, by a least-squares line through the periods."""
    import numpy as np
    import pandas as pd

    centred = np.linspace(-0.5, 0.5, shares.shape[1]) if shares.shape[1] > 1 else np.zeros(1)
    spread = float(centred @ centred) or 1.0
    return pd.Series(shares.fillna(0.0).to_numpy() @ centred / spread, index=shares.index)


def condense(values: list[Any], width: int) -> list[Any]:
    """Neighbouring values averaged until at most ``width`` are left, so that a long series fits a line."""
    step = -(-len(values) // width)
    groups = [values[i : i + step] for i in range(0, len(values), step)]
    return [sum(group) / len(group) for group in groups]


def draw_trends(shares: pd.DataFrame, words: dict[int, list[str]], screen: Console, n: int | None) -> None:
    """A line per topic: its sparkline, its change in percentage points, its words."""
    from rich.text import Text

    moves = change(shares)
    if n is not None:
        shares = shares.loc[moves.abs().sort_values(ascending=False).index[:n]]
    order = moves.loc[shares.index].sort_values(ascending=False).index
    width = min(MAX_SPARK, max(12, screen.width // 3))
    spark = len(condense([0.0] * shares.shape[1], width))
    axis = look.axis(str(shares.columns[0]), str(shares.columns[-1]), spark)
    spark = max(spark, len(axis))
    screen.print(Text(f"topic  {axis}  change", style="dim"))
    room = screen.width - (5 + spark + 6 + 3 * len(look.GAP))
    for topic in order:
        values = condense(list(shares.loc[topic].fillna(0.0)), width)
        line = look.row(
            Text("  ") + look.topic_number(topic),
            (Text(look.sparkline(values), style=look.topic_colour(topic)), spark),
            (f"{100 * moves[topic]:+.1f}".rjust(6), 6),
            look.topic_words(topic, words[topic], room),
        )
        screen.print(line)
    screen.print(Text("change: percentage points over the whole span, by a straight line", style="dim"))
