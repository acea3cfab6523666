"""``topoi coefficients``: coefficients of a regression on metadata, with standard errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from topoi.cli import look
from topoi.cli.options import COEFFICIENTS, AsCsv, AsJson, ModelFile, ModelName, loaded, open_topic_view
from topoi.cli.output import check_one_format, print_frame
from topoi.cli.topics import badge_words
from topoi.errors import NotFoundError

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

WIDEST_FEATURE = 34


def coefficients(
    file: ModelFile,
    topic: Annotated[int | None, typer.Option(metavar="K", help="Only this topic.")] = None,
    feature: Annotated[
        str | None, typer.Option(metavar="A", help="Only this feature, or one of its columns, such as party=Whig.")
    ] = None,
    n: Annotated[int, typer.Option("-n", "--n", metavar="N", min=1, help="Coefficients to show for each topic.")] = 5,
    name: ModelName = None,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """Show what makes each topic more likely, in a regression on metadata, the surest effects first."""
    check_one_format(as_json, as_csv)
    view = open_topic_view(file, name, COEFFICIENTS)
    if topic is not None:
        view.top_words(1, topic=topic)  # raises an error that lists the topics if this one does not exist
    model = loaded(view)
    frame = model.coefficients()
    if topic is not None:
        frame = frame[frame["topic"] == topic]
    if feature is not None:
        frame = of_feature(frame, feature, model.design_.names)
    drawn = model.coefficients_are_drawn_
    words = badge_words(view, 8)

    def render(rows: pd.DataFrame, screen: Console) -> None:
        draw_coefficients(rows, words, n, screen)
        note = "" if drawn else "; given the topics: too small where topics overlap, for want of draws"
        screen.print(f"log alpha, with standard errors{note}", style="dim", soft_wrap=True)

    print_frame(frame.reset_index(drop=True), as_json=as_json, as_csv=as_csv, render=render)


def of_feature(frame: pd.DataFrame, feature: str, names: list[str]) -> pd.DataFrame:
    """Select the rows of a feature, or of one of its columns."""
    column = frame["feature"]
    if feature not in names:
        found = frame[column == feature]
        if found.empty:
            from topoi.corpus.vocabulary import close_matches

            near = close_matches(feature, column.unique())
            raise NotFoundError(f"there is no feature {feature!r}; there are intercept, {', '.join(names)}{near}")
        return found
    starts = column.str.startswith((f"{feature}=", f"{feature}~"))
    return frame[starts | (column == feature)]


def draw_coefficients(frame: pd.DataFrame, words: dict[int, list[str]], n: int, screen: Console) -> None:
    """Print a heading for each topic, then its coefficients by their distance from zero in standard errors."""
    from rich.text import Text

    said = frame if (frame["feature"] == "intercept").all() else frame[frame["feature"] != "intercept"]
    there = set(said["topic"].tolist())
    for k in [topic for topic in words if topic in there]:
        rows = said[said["topic"] == k]
        screen.print(look.row(look.topic_number(k), look.topic_words(k, words[k], screen.width - 5)))
        for row in rows.reindex(rows["z"].abs().sort_values(ascending=False).index).head(n).to_dict("records"):
            label = Text(look.printable(row["feature"]), no_wrap=True)
            label.truncate(look.at_most(WIDEST_FEATURE, screen), overflow="ellipsis")
            line = look.row(
                Text(f"     {row['coefficient']:+6.2f}"),
                (Text(f"± {row['standard_error']:.2f}", style="dim"), 6),
                label,
            )
            screen.print(line)
