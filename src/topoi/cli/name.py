"""``topoi name``: labels of topics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from topoi.cli import look
from topoi.cli.options import AsCsv, AsJson, ModelFile, ModelName, joined, open_topic_view
from topoi.cli.output import check_one_format, print_frame
from topoi.cli.topics import with_labels, words_by_topic

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

    from topoi.store.view import ModelView

N_WORDS = 10


def name_topic(
    file: ModelFile,
    topic: Annotated[int | None, typer.Argument(metavar="[TOPIC]", help="A topic's number.")] = None,
    label: Annotated[
        list[str] | None, typer.Argument(metavar="[LABEL]...", help="What to call it; quotation marks are optional.")
    ] = None,
    remove: Annotated[bool, typer.Option("--remove", help="Take the topic's label away.")] = False,
    name: ModelName = None,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """Give a topic a label, which is then shown in place of the automatic one; without a topic, show all given."""
    check_one_format(as_json, as_csv)
    text = joined(label)
    if topic is None and remove:
        raise typer.BadParameter("--remove needs the number of a TOPIC")
    if topic is not None and (text is None) != remove:
        raise typer.BadParameter("give a LABEL for the topic, or --remove, and not both")
    if text is not None and not text.strip():
        raise typer.BadParameter("the LABEL is empty; take one away with --remove")
    view = open_topic_view(file, name)
    if topic is not None:
        view.store.set_label(view.name, topic, text)
    frame = labels_frame(view)
    if topic is not None:
        frame = frame[frame["topic"] == topic]
    elif not frame.empty:
        frame = frame[frame["label"].notna()]
    print_frame(frame.reset_index(drop=True), as_json=as_json, as_csv=as_csv, render=draw_labels)


def labels_frame(view: ModelView) -> pd.DataFrame:
    """Frame with one row per topic: the label that somebody gave it, if any, and its words."""
    import pandas as pd

    labels, words = view.store.labels(view.name), words_by_topic(view, N_WORDS)
    columns = {"topic": list(words), "label": [labels.get(topic) for topic in words], "words": list(words.values())}
    return pd.DataFrame(columns).astype({"label": object})


def draw_labels(frame: pd.DataFrame, screen: Console) -> None:
    """Print a line per topic: its number, its label, its words."""
    if frame.empty:
        screen.print("No topic has been given a label yet; `topoi topics` shows the automatic ones.")
    for row in frame.to_dict("records"):
        topic = row["topic"]
        summary = with_labels({topic: row["words"]}, {topic: row["label"]} if row["label"] else {})[topic]
        screen.print(look.row(look.topic_number(topic), look.topic_words(topic, summary, screen.width - 5)))
