"""``topoi trends``: which topics rise and which fall."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from topoi.cli import look
from topoi.cli.options import AsCsv, AsJson, ModelFile, ModelName, open_topic_view
from topoi.cli.output import check_one_format, print_frame
from topoi.cli.topics import faces_by_topic

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

    from topoi.models.stored.view import ModelView


MAX_SPARK = 40
TOPICS_PER_GROUP = 5


def trends(
    file: ModelFile,
    by: Annotated[str, typer.Option(metavar="COLUMN", help="year, decade, or any column of the documents.")] = "year",
    topic: Annotated[int | None, typer.Option(metavar="K", help="Only this topic, period by period.")] = None,
    n: Annotated[int | None, typer.Option("-n", "--n", metavar="N", min=1, help="Show the N that move most.")] = None,
    name: ModelName = None,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """Show how the share of each topic moves with time, from the steepest rise to the steepest fall."""
    check_one_format(as_json, as_csv)
    view = open_topic_view(file, name)
    if topic is not None:
        view.top_words(1, topic=topic)  # says which topics there are, if this is none of them
    import topoi

    frame = topoi.topic_trends(view, by=by)
    if topic is not None:
        frame = frame[frame["topic"] == topic].reset_index(drop=True)
        print_frame(frame, as_json=as_json, as_csv=as_csv)
        return
    words = faces_by_topic(view, 10)

    def render(rows: pd.DataFrame, screen: Console) -> None:
        if is_ordered(rows):
            draw_trends(rows, words, background_topics(view), screen, n)
        else:
            draw_groups(rows, words, screen, n)

    print_frame(frame, as_json=as_json, as_csv=as_csv, render=render)


def is_ordered(frame: pd.DataFrame) -> bool:
    """Whether the periods are numbers, so that rising and falling means something."""
    from pandas.api.types import is_numeric_dtype

    return is_numeric_dtype(frame[frame.columns[0]])


def share_table(frame: pd.DataFrame) -> pd.DataFrame:
    """Shares with one row per topic and one column per period, in order."""
    period = frame.columns[0]
    return frame.pivot(index="topic", columns=period, values="share").sort_index(axis=1)


def condense(values: list[Any], width: int) -> list[Any]:
    """Neighbouring values averaged until at most ``width`` are left, so that a long series fits a line."""
    step = -(-len(values) // width)
    groups = [values[i : i + step] for i in range(0, len(values), step)]
    return [sum(group) / len(group) for group in groups]


def draw_trends(
    frame: pd.DataFrame, words: dict[int, list[str]], background: set[int], screen: Console, n: int | None
) -> None:
    """A line per topic: its sparkline, its shares of the earliest and the latest tenth of all words, its words."""
    from rich.text import Text

    from topoi.analysis.trends import hottest_topics

    moves = hottest_topics(frame)
    if n is not None:
        moving = moves[(moves["direction"] != 0) & ~moves["topic"].isin(background)]
        moves = moves.loc[moving["change"].abs().nlargest(n).index.sort_values()]
        if moves.empty:
            screen.print(
                Text("no topic rises or falls from the earliest to the latest tenth of all words", style="dim")
            )
            return
    totals, counts = word_table(frame)
    width = min(MAX_SPARK, max(12, screen.width // 3))
    whole = condense(totals, width)
    axis = look.axis(str(counts.columns[0]), str(counts.columns[-1]), len(whole))
    spark = max(len(whole), len(axis))
    screen.print(Text(f"topic  {axis.ljust(spark)}  first → last", style="dim"))
    room = screen.width - (5 + spark + 13 + 3 * len(look.GAP))
    for row in moves.to_dict("records"):
        topic = row["topic"]
        part = condense(list(counts.loc[topic]), width)
        values = [x / max(total, 1e-300) for x, total in zip(part, whole, strict=True)]
        line = look.row(
            Text("  ") + look.topic_number(topic),
            (Text(look.sparkline(values), style=look.topic_colour(topic)), spark),
            (f"{look.percent(row['first']):>5} → {look.percent(row['last']):<5}", 13),
            look.topic_words(topic, words[topic], room),
        )
        screen.print(line)
    screen.print(Text("first, last: shares of the earliest and of the latest tenth of all words", style="dim"))


def word_table(frame: pd.DataFrame) -> tuple[list[float], pd.DataFrame]:
    """Words per period, and with one row per topic and one column per period, in order."""
    period = frame.columns[0]
    table = frame.pivot(index="topic", columns=period, values="n_words").sort_index(axis=1).fillna(0.0)
    return [float(x) for x in table.sum(axis=0)], table


def background_topics(view: ModelView) -> set[int]:
    """Topics of words that connect others; that they come and go is no news."""
    query = "SELECT topic FROM topic WHERE model_id = ? AND glue"
    return {topic for (topic,) in view.store.rows(query, (view.model_id,))}


def draw_groups(frame: pd.DataFrame, words: dict[int, list[str]], screen: Console, n: int | None) -> None:
    """For periods without an order, such as parties: the largest topics of each."""
    from rich.text import Text

    for group, rows in frame.groupby(frame.columns[0], sort=True):
        screen.print(Text(look.printable(group), style="bold"))
        for row in rows.nlargest(n or TOPICS_PER_GROUP, "share").to_dict("records"):
            screen.print(look.share_line(row["topic"], row["share"], words[row["topic"]], screen.width))
