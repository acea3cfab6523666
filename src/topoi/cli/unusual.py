"""``topoi unusual``: an author's documents that are least like the others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from topoi.cli import look
from topoi.cli.documents import document_line
from topoi.cli.options import AUTHORS, AsCsv, AsJson, ModelFile, ModelName, loaded, open_view
from topoi.cli.output import check_one_format, print_frame

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console


def unusual(
    file: ModelFile,
    author: Annotated[str, typer.Argument(metavar="AUTHOR", help="An author's name.")],
    n: Annotated[int, typer.Option("-n", "--n", metavar="N", min=1, help="Documents to show.")] = 10,
    name: ModelName = None,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """Show an author's documents from the most to the least surprising, as if nobody else had a part in them."""
    check_one_format(as_json, as_csv)
    view = open_view(file, name, AUTHORS)
    import topoi

    frame = topoi.unusual_documents(view, author=author)
    if frame.empty:  # a file of an older topoi does not have them precomputed
        frame = topoi.unusual_documents(loaded(view), author=author)

    def render(rows: pd.DataFrame, screen: Console) -> None:
        draw_unusual(rows, frame, screen)

    print_frame(frame.head(n), as_json=as_json, as_csv=as_csv, render=render)


def draw_unusual(rows: pd.DataFrame, everything: pd.DataFrame, screen: Console) -> None:
    """Print the name, then a line per document: perplexity, year, title; with the median for comparison."""
    from rich.text import Text

    median = everything["perplexity"].median()
    number = f"{len(everything):,} document{'' if len(everything) == 1 else 's'}"
    middle = "" if median != median else f", median perplexity {median:,.0f}"
    heading = Text(look.printable(everything.attrs["author"]), style="bold")
    screen.print(heading.append(f"  {number}{middle}", style="not bold dim"))
    for row in rows.to_dict("records"):
        score = "–" if row["perplexity"] != row["perplexity"] else f"{row['perplexity']:,.0f}"
        screen.print(document_line(look.row((Text(score.rjust(9)), 9)), row, screen.width))
