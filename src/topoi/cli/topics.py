"""``topoi topics``: what a model found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from topoi.cli import look
from topoi.cli.options import AsCsv, AsJson, ModelFile, has_authors, open_topic_model
from topoi.cli.output import check_one_format, print_frame

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

    from topoi.models.author_topic.estimator import AuthorTopicModel

BAR_WIDTH = 6


def topics(
    file: ModelFile,
    topic: Annotated[int | None, typer.Option(metavar="K", help="Only this topic, with probabilities.")] = None,
    n_words: Annotated[int, typer.Option(metavar="N", min=1, help="Words per topic.")] = 10,
    n_authors: Annotated[int, typer.Option(metavar="N", min=0, help="Authors per topic.")] = 5,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """Show every topic with its words and its authors, or one topic in detail."""
    check_one_format(as_json, as_csv)
    model = open_topic_model(file)
    if topic is None:
        print_frame(topics_frame(model, n_words, n_authors), as_json=as_json, as_csv=as_csv, render=draw_topics)
    else:
        print_frame(topic_frame(model, topic, n_words, n_authors), as_json=as_json, as_csv=as_csv)


def words_by_topic(model: AuthorTopicModel, n: int) -> dict[int, list[str]]:
    """The most probable words of each topic."""
    return _lists(model.top_words(n), "word")


def authors_by_topic(model: AuthorTopicModel, n: int) -> dict[int, list[str]]:
    """The leading authors of each topic."""
    return _lists(model.top_authors(n), "author")


def _lists(frame: pd.DataFrame, column: str) -> dict[int, list[str]]:
    lists: dict[int, list[str]] = {}
    for topic, value in zip(frame["topic"].tolist(), frame[column].tolist(), strict=True):
        lists.setdefault(int(topic), []).append(str(value))
    return lists


def topics_frame(model: AuthorTopicModel, n_words: int, n_authors: int) -> pd.DataFrame:
    """One row per topic: its size, its words and its authors as lists."""
    frame = model.topic_sizes()[["topic", "n_words", "share"]].copy()
    words = words_by_topic(model, n_words)
    frame["words"] = [words.get(int(k), []) for k in frame["topic"]]
    if has_authors(model) and n_authors:
        names = authors_by_topic(model, n_authors)
        frame["authors"] = [names.get(int(k), []) for k in frame["topic"]]
    return frame


def topic_frame(model: AuthorTopicModel, topic: int, n_words: int, n_authors: int) -> pd.DataFrame:
    """One topic's words and authors side by side by rank, with probabilities."""
    import pandas as pd

    words = model.top_words(n_words, topic=topic)
    columns = {
        "word": words["word"].reset_index(drop=True),
        "word_probability": words["probability"].reset_index(drop=True),
    }
    if has_authors(model) and n_authors:
        names = model.top_authors(n_authors, topic=topic)
        columns["author"] = names["author"].reset_index(drop=True)
        columns["author_probability"] = names["probability"].reset_index(drop=True)
    frame = pd.DataFrame(columns)
    frame.insert(0, "rank", range(1, len(frame) + 1))
    frame.insert(0, "topic", topic)
    return frame


def draw_topics(frame: pd.DataFrame, screen: Console) -> None:
    """One entry per topic: number, share with a small bar, words; authors below in a quieter voice."""
    from rich.text import Text

    margin = 3 + 5 + BAR_WIDTH + 3 * len(look.GAP)
    largest = frame["share"].max()
    for row in frame.to_dict("records"):
        line = look.row(
            look.topic_number(row["topic"]),
            (Text(look.percent(row["share"]).rjust(5), style="dim"), 5),
            (Text(look.bar(row["share"] / largest, BAR_WIDTH), style=look.topic_colour(row["topic"])), BAR_WIDTH),
            look.topic_words(row["topic"], row["words"], screen.width - margin),
        )
        screen.print(line)
        if row.get("authors"):
            screen.print(Text(" " * margin) + look.quiet_list(row["authors"], screen.width - margin))
