"""``topoi models``: list of a file's models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from topoi.cli import look
from topoi.cli.options import AsCsv, AsJson, ModelFile, check_file
from topoi.cli.output import check_one_format, print_frame

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

WIDEST_NAME = 30


def models(file: ModelFile, as_json: AsJson = False, as_csv: AsCsv = False) -> None:
    """Show the models of a file, in the order in which they were saved."""
    check_one_format(as_json, as_csv)
    check_file(file)
    import topoi

    with topoi.open_store(file) as store:
        frame = store.models()
        frame["n_labels"] = [len(store.labels(name)) for name in frame["name"]]
        frame["n_updates"] = [len(store.updates(name)) for name in frame["name"]]
    print_frame(frame, as_json=as_json, as_csv=as_csv, render=draw_models)


def draw_models(frame: pd.DataFrame, screen: Console) -> None:
    """Print a line per model: name, family, size, settings of the fit, time of saving."""
    from rich.text import Text

    rows = frame.to_dict("records")
    names = [look.printable(row["name"])[: look.at_most(WIDEST_NAME, screen)] for row in rows]
    families = [str(row["model"]) for row in rows]
    width, family_width = max(map(len, names), default=0), max(map(len, families), default=0)
    for row, name, family in zip(rows, names, families, strict=True):
        line = look.row(
            (Text(name, style="bold"), width),
            (family, family_width),
            Text(f"{about(row)}, saved {str(row['created'])[:10]}", style="dim"),
        )
        screen.print(line, soft_wrap=True)
    if len(rows) > 1:
        screen.print(Text("the last is the one that is asked without --name", style="dim"))


def about(row: dict[Any, Any]) -> str:
    """Size of a model in words.

    Examples
    --------
    >>> about({"n_topics": 100, "n_labels": 2, "n_iter": 500, "n_chains": 1, "n_updates": 0})
    '100 topics, 2 labels, 500 sweeps'
    """
    import pandas as pd

    parts = [] if pd.isna(row["n_topics"]) else [counted(row["n_topics"], "topic")]
    parts += [counted(row["n_labels"], "label")] if row["n_labels"] else []
    parts += [] if pd.isna(row["n_iter"]) else [counted(row["n_iter"], "sweep")]
    alone = pd.isna(row["n_chains"]) or row["n_chains"] == 1
    chains = "" if alone else f" of {counted(row['n_chains'], 'chain')}"
    return ", ".join(parts) + chains + (f", {counted(row['n_updates'], 'update')}" if row["n_updates"] else "")


def counted(number: int, what: str) -> str:
    """Number and noun, in the plural unless the number is 1.

    Examples
    --------
    >>> counted(1, "topic"), counted(1200, "sweep")
    ('1 topic', '1,200 sweeps')
    """
    return f"{number:,} {what}{'' if number == 1 else 's'}"
