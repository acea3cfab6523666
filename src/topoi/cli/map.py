"""``topoi map``: places of the documents on a map."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from topoi.cli import look
from topoi.cli.options import AsCsv, AsJson, ModelFile, ModelName, available_cores, open_topic_view
from topoi.cli.output import check_one_format, print_frame

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

    from topoi.store.view import ModelView


def place_documents(
    file: ModelFile,
    anew: Annotated[bool, typer.Option("--anew", help="Compute the places even if the file has them.")] = False,
    jobs: Annotated[
        int | None, typer.Option("-j", "--jobs", metavar="N", min=1, help="Threads.  [default: one for each core]")
    ] = None,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="No progress.")] = False,
    name: ModelName = None,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """Give each document a place on a map, near others with similar topics, and keep the places in the file.

    The page Map of `topoi browse` shows them. Saving does this for a thousand documents or fewer. Places do not depend
    on the number of threads.
    """
    check_one_format(as_json, as_csv)
    view = open_topic_view(file, name)
    if anew or view.document_places() is None:
        place(view, jobs or available_cores(), quiet or as_json or as_csv)
    print_frame(places_frame(view), as_json=as_json, as_csv=as_csv, render=draw_summary)


def place(view: ModelView, n_jobs: int, quiet: bool) -> None:
    """Compute the places of a model's documents, with a bar on a terminal, and keep them in its file."""
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    screen = look.console(stderr=True)
    columns = (TextColumn("Map"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=screen, transient=True, disable=quiet or not screen.is_terminal) as bar:
        task = bar.add_task("Map", total=1.0)
        view.store.place_documents(view.name, n_jobs=n_jobs, progress=lambda part: bar.update(task, completed=part))


def places_frame(view: ModelView) -> pd.DataFrame:
    """Frame with one row per document that has a place: its number, id, title and year if there are any, x and y."""
    import numpy as np
    import pandas as pd

    places = view.document_places()
    if places is None:
        places = np.full((view.catalogue_.size, 2), np.nan)
    placed = np.flatnonzero(~np.isnan(places).any(axis=1))
    frame = pd.DataFrame(view.catalogue_.document_columns(placed))
    return frame.assign(x=places[placed, 0], y=places[placed, 1])


def draw_summary(frame: pd.DataFrame, screen: Console) -> None:
    """Print how many documents have a place, and where to look at them."""
    n = len(frame)
    screen.print(f"{n:,} document{'' if n == 1 else 's'} on the map; `topoi browse` shows it, --csv prints the places.")
