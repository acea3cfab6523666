"""``topoi predict``: topic shares predicted from metadata alone, with bands."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from topoi.cli import look
from topoi.cli.feature_values import grid, notes, read_table
from topoi.cli.options import FEATURES, AsCsv, AsJson, ModelFile, ModelName, loaded, open_topic_view
from topoi.cli.output import LIST_SEPARATOR, check_one_format, print_frame
from topoi.cli.topics import badge_words
from topoi.cli.trends import MAX_SPARK, condense
from topoi.errors import ModelError

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

FEWEST_FOR_CURVE = 4


def predict(
    file: ModelFile,
    values: Annotated[
        list[str] | None,
        typer.Argument(metavar="FEATURE=VALUE", help="Values of features: year=1893, year=1900:1950:10."),
    ] = None,
    table: Annotated[
        Path | None, typer.Option("--from", metavar="TABLE", help="A file of features instead, one row per document.")
    ] = None,
    level: Annotated[float, typer.Option(metavar="P", help="How much probability a band holds.")] = 0.8,
    curve: Annotated[bool, typer.Option("--curve", help="Bands of the mean, not of a single document.")] = False,
    topic: Annotated[int | None, typer.Option(metavar="K", help="Only this topic.")] = None,
    n: Annotated[int, typer.Option("-n", "--n", metavar="N", min=1, help="Topics to show, the largest first.")] = 10,
    name: ModelName = None,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """Show the topics that metadata alone suggest: how much would she have written about trade in 1893?"""
    check_one_format(as_json, as_csv)
    if (not values) == (table is None):
        raise typer.BadParameter("give values of features, such as year=1893, or a file of them with --from")
    if not 0 < level < 1:
        raise typer.BadParameter(f"--level {level:g}: a probability between 0 and 1")
    view = open_topic_view(file, name, FEATURES)
    if topic is not None:
        view.top_words(1, topic=topic)  # raises an error that lists the topics if this one does not exist
    model = loaded(view)
    columns = feature_columns(model, file)
    frame = grid(values or [], columns) if table is None else read_table(table, columns)
    for note in notes(frame, columns, table is None):
        look.say(f"topoi: note: {look.printable(note)}", err=True)
    found = model.predict(frame, level=level, noise=not curve)
    if topic is not None:
        found = found[found["topic"] == topic].reset_index(drop=True)
    words = badge_words(view, 10)

    def render(rows: pd.DataFrame, screen: Console) -> None:
        along = running(frame, columns)
        if along is None:
            draw_rows(rows, frame, words, n, screen)
        else:
            draw_curves(rows, frame[along].tolist(), words, n, screen)
        of = "the mean" if curve else "a single document"
        where = "" if along is None else ", with --csv or --json"
        screen.print(f"bands: {100 * level:g} % for {of}{where}", style="dim")

    print_frame(found, as_json=as_json, as_csv=as_csv, render=render)


def feature_columns(model: Any, file: Path) -> list[Any]:
    """Features of a model; an error if they were given as a matrix, without names."""
    columns = model.feature_columns_
    if not columns:
        raise ModelError(f"the {type(model).__name__} in {file} has no features by name: predict from Python instead")
    return list(columns)


def running(frame: pd.DataFrame, columns: list[Any]) -> str | None:
    """Name of the number that has several values while all else is constant; None if there is no such one."""
    texts = frame.astype(str)
    varied = [column for column in columns if texts[column.name].nunique() > 1]
    if len(varied) != 1 or varied[0].kind != "number" or len(frame) < FEWEST_FOR_CURVE:
        return None
    values = frame[varied[0].name].tolist()
    return str(varied[0].name) if all(isinstance(value, int | float) for value in values) else None


def draw_rows(rows: pd.DataFrame, frame: pd.DataFrame, words: dict[int, list[str]], n: int, screen: Console) -> None:
    """Print a heading for every row of features, then its largest topics: share, bar, band, words."""
    from rich.text import Text

    for at in range(len(frame)):
        part = rows[rows["row"] == at]
        screen.print(Text(heading(frame.iloc[at].to_dict()), style="bold"), no_wrap=True, overflow="ellipsis")
        for row in part.nlargest(n, "mean").to_dict("records"):
            band = f"{look.percent(row['lower'])}–{look.percent(row['upper'])}"
            line = look.row(
                Text("  ") + look.topic_number(row["topic"]),
                Text(f"{look.percent(row['mean']):>5}", style="dim"),
                (Text(look.bar(row["mean"], 10), style=look.topic_colour(row["topic"])), 10),
                (Text(band, style="dim"), 11),
                look.topic_words(row["topic"], words[row["topic"]], screen.width - 39),
            )
            screen.print(line)


def heading(values: dict[Any, Any]) -> str:
    """Heading of a row of features.

    Examples
    --------
    >>> heading({"year": 1893, "authors": ["Ann", "Bob"], "venue": None})
    'year 1893 · authors Ann; Bob'
    """
    parts = []
    for name, value in values.items():
        if isinstance(value, list):
            value = LIST_SEPARATOR.join(map(str, value))
        if value is not None and value == value and value != "":
            parts.append(look.printable(f"{name} {value}"))
    return look.NAME_GAP.join(parts) or "nothing known"


def draw_curves(rows: pd.DataFrame, along: list[Any], words: dict[int, list[str]], n: int, screen: Console) -> None:
    """Print a line per topic: sparkline of its share along a number, the first and the last share, its words."""
    from rich.text import Text

    shares = rows.pivot(index="topic", columns="row", values="mean").sort_index(axis=1)
    largest = shares.mean(axis=1).sort_values(ascending=False).index[:n]
    width = min(MAX_SPARK, max(12, screen.width // 3))
    spark = len(condense([0.0] * len(along), width))
    axis = look.axis(f"{along[0]:g}", f"{along[-1]:g}", spark)
    spark = max(spark, len(axis))
    screen.print(Text(f"topic  {axis.ljust(spark)}  first  last", style="dim"))
    room = screen.width - (5 + spark + 5 + 4 + 4 * len(look.GAP))
    for topic in largest:
        values = list(shares.loc[topic])
        line = look.row(
            Text("  ") + look.topic_number(int(topic)),
            (Text(look.sparkline(condense(values, width)), style=look.topic_colour(int(topic))), spark),
            (look.percent(values[0]).rjust(5), 5),
            (look.percent(values[-1]).rjust(4), 4),
            look.topic_words(int(topic), words[int(topic)], room),
        )
        screen.print(line)
