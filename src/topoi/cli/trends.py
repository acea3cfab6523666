"""``topoi trends``: rising and falling topics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from topoi.cli import look
from topoi.cli.options import AsCsv, AsJson, ModelFile, ModelName, open_topic_view
from topoi.cli.output import check_one_format, print_frame
from topoi.cli.topics import CONNECTING, background_topics, badge_words, with_last

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console
    from rich.text import Text


MAX_SPARK = 40
_FIGURES = 2 * (5 + 1 + look.INTERVAL_WIDTH) + 3
_EXPLAINED = "shares of the earliest and the latest tenth of all words (90%); ≈: not clear"
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
        view.top_words(1, topic=topic)  # raises an error that lists the topics if this one does not exist
    import topoi

    frame = topoi.topic_trends(view, by=by)
    if topic is not None:
        frame = frame[frame["topic"] == topic].reset_index(drop=True)
        print_frame(frame, as_json=as_json, as_csv=as_csv)
        return
    words, background = badge_words(view, 10), background_topics(view)

    def render(rows: pd.DataFrame, screen: Console) -> None:
        if is_ordered(rows):
            draw_trends(view, rows, words, background, screen, n)
        else:
            draw_groups(rows, words, background, screen, n)

    print_frame(frame, as_json=as_json, as_csv=as_csv, render=render)


def is_ordered(frame: pd.DataFrame) -> bool:
    """Whether the periods are numbers, so that topics can rise and fall."""
    from pandas.api.types import is_numeric_dtype

    return is_numeric_dtype(frame[frame.columns[0]])


def share_table(frame: pd.DataFrame) -> pd.DataFrame:
    """Table of shares with one row per topic and one column per period, in order."""
    period = frame.columns[0]
    return frame.pivot(index="topic", columns=period, values="share").sort_index(axis=1)


def condense(values: list[Any], width: int) -> list[Any]:
    """Average neighbouring values until at most ``width`` are left, so that a long series fits a line."""
    step = -(-len(values) // width)
    groups = [values[i : i + step] for i in range(0, len(values), step)]
    return [sum(group) / len(group) for group in groups]


def draw_trends(
    view: Any,
    frame: pd.DataFrame,
    words: dict[int, list[str]],
    background: set[int],
    screen: Console,
    n: int | None,
) -> None:
    """Print a line per topic: sparkline, shares of the earliest and the latest tenth of all words, and its words.

    Background topics come last, and are left out of the ``n`` that move most: their changes are of little interest.
    """
    from rich.text import Text

    from topoi.analysis.trends import topic_moves

    moves = topic_moves(view, frame)
    passing = _passing(view, frame, background, n)
    if n is not None:
        moving = moves[(moves["direction"] != 0) & ~moves["topic"].isin(background)]
        moves = moves.loc[moving["change"].abs().nlargest(n).index.sort_values()]
        if moves.empty and passing.empty:
            screen.print(
                Text("no topic clearly rises or falls from the earliest to the latest tenth of all words", style="dim")
            )
            return
    moves = with_last(moves, background)
    totals, counts = word_table(frame)
    width = min(MAX_SPARK, max(12, screen.width // 4))
    whole = condense(totals, width)
    axis = look.axis(str(counts.columns[0]), str(counts.columns[-1]), len(whole))
    spark = max(len(whole), len(axis))
    screen.print(Text(f"topic  {axis.ljust(spark)}  first → last", style="dim"))
    room = screen.width - (5 + spark + _FIGURES + 3 * len(look.GAP))
    told = False
    for row in moves.to_dict("records"):
        topic = row["topic"]
        if topic in background and not told:
            screen.print(Text(CONNECTING, style="dim"))
            told = True
        part = condense(list(counts.loc[topic]), width)
        values = [x / max(total, 1e-300) for x, total in zip(part, whole, strict=True)]
        line = look.row(
            Text("  ") + look.topic_number(topic),
            (Text(look.sparkline(values), style=look.topic_colour(topic)), spark),
            (_figures(row), _FIGURES),
            look.topic_words(topic, words[topic], room),
        )
        screen.print(line)
    draw_passing(passing, words, screen)
    screen.print(Text(_EXPLAINED, style="dim"))


def _passing(view: Any, frame: pd.DataFrame, background: set[int], n: int | None) -> pd.DataFrame:
    """Topics that came and went, without those of connecting words; none if there are too few periods."""
    from topoi.analysis.passing import passing_topics

    found = passing_topics(view, frame)
    return found[~found["topic"].isin(background)].head(len(found) if n is None else n)


def draw_passing(rows: pd.DataFrame, words: dict[int, list[str]], screen: Console) -> None:
    """Print the topics that came and went: shares of the earliest, their best and the latest tenth of all words."""
    from rich.text import Text

    if rows.empty:
        return
    screen.print(Text("came and went: shares of the earliest, the best and the latest tenth, and when", style="dim"))
    width = 3 * (5 + 1 + look.INTERVAL_WIDTH) + 6
    for row in rows.to_dict("records"):
        shares = " → ".join(look.share_and_interval(row, name) for name in ("first", "peak", "last"))
        when = f"{row['since']}–{row['until']}" if row["since"] != row["until"] else str(row["since"])
        room = screen.width - (5 + width + 9 + 3 * len(look.GAP))
        told = look.topic_words(row["topic"], words[row["topic"]], room)
        screen.print(
            look.row(Text("  ") + look.topic_number(row["topic"]), (Text(shares), width), (Text(when), 9), told)
        )


def _figures(row: dict[Any, Any]) -> Text:
    """Both shares with their intervals, and whether they clearly differ."""
    from rich.text import Text

    sides = (look.share_and_interval(row, name) for name in ("first", "last"))
    sign = "→" if row["direction"] else "≈"
    return Text(f" {sign} ".join(sides).rstrip(), style="" if row["direction"] else "dim")


def word_table(frame: pd.DataFrame) -> tuple[list[float], pd.DataFrame]:
    """Words per period, and a table of words with one row per topic and one column per period, in order."""
    period = frame.columns[0]
    table = frame.pivot(index="topic", columns=period, values="n_words").sort_index(axis=1).fillna(0.0)
    return [float(x) for x in table.sum(axis=0)], table


def draw_groups(
    frame: pd.DataFrame, words: dict[int, list[str]], background: set[int], screen: Console, n: int | None
) -> None:
    """Print the largest topics of each group, for groups without an order, such as parties; background topics last."""
    from rich.text import Text

    for group, rows in frame.groupby(frame.columns[0], sort=True):
        screen.print(Text(look.printable(group), style="bold"))
        by_size = with_last(rows.sort_values("share", ascending=False, kind="stable"), background)
        for row in by_size.head(n or TOPICS_PER_GROUP).to_dict("records"):
            screen.print(look.share_line(row["topic"], row["share"], words[row["topic"]], screen.width))
