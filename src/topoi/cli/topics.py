"""``topoi topics``: a model's topics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from topoi.cli import look
from topoi.cli.options import AsCsv, AsJson, ModelFile, ModelName, open_topic_view
from topoi.cli.output import check_one_format, plain_table, print_frame

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

    from topoi.store.view import ModelView

BAR_WIDTH = 6
# Name of background topics for users, the same as in the browser.
CONNECTING = "connecting words, found in every subject:"


def topics(
    file: ModelFile,
    topic: Annotated[int | None, typer.Option(metavar="K", help="Only this topic, with probabilities.")] = None,
    n_words: Annotated[int, typer.Option(metavar="N", min=1, help="Words per topic.")] = 10,
    n_authors: Annotated[int, typer.Option(metavar="N", min=0, help="Authors per topic.")] = 5,
    name: ModelName = None,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """Show every topic with its words and its authors, or one topic in detail."""
    check_one_format(as_json, as_csv)
    view = open_topic_view(file, name)
    if topic is None:
        print_frame(topics_frame(view, n_words, n_authors), as_json=as_json, as_csv=as_csv, render=draw_topics)
        return
    frame, label = topic_frame(view, topic, n_words, n_authors), labels_of(view)[topic]

    def render(rows: pd.DataFrame, screen: Console) -> None:
        draw_topic(rows, topic, label, screen)

    print_frame(frame, as_json=as_json, as_csv=as_csv, render=render)


def labels_of(view: ModelView) -> dict[int, str]:
    """Labels of all topics: those that users gave, or the automatic ones."""
    return dict(enumerate(view.topic_labels())) if view.n_topics else {}


def words_by_topic(view: ModelView, n: int) -> dict[int, list[str]]:
    """Most distinctive words of each topic; topics in the order in which they are listed."""
    topics = view.topics(n)
    return dict(zip(topics["topic"].tolist(), topics["words"].tolist(), strict=True))


def background_topics(view: ModelView) -> set[int]:
    """Background topics (of connecting words), which are listed last."""
    return set(view.background_flags().nonzero()[0].tolist())


def with_last(frame: pd.DataFrame, background: set[int]) -> pd.DataFrame:
    """Move rows of background topics after all others, otherwise in the same order."""
    return frame.iloc[frame["topic"].isin(background).to_numpy().argsort(kind="stable")]


def badge_words(view: ModelView, n: int) -> dict[int, list[str]]:
    """Short description of each topic: its label, then its most distinctive words."""
    return with_labels(words_by_topic(view, n), labels_of(view))


def with_labels(words: dict[int, list[str]], labels: dict[int, str]) -> dict[int, list[str]]:
    """Prepend each topic's label, if it has one, to those of its words that are not in the label.

    Examples
    --------
    >>> with_labels({0: ["ship", "sail"], 1: ["wheat", "corn"]}, {1: "Wheat farming"})
    {0: ['ship', 'sail'], 1: ['Wheat farming', 'corn']}
    """
    return {topic: labelled(labels[topic], found) if topic in labels else found for topic, found in words.items()}


def labelled(label: str, words: list[str]) -> list[str]:
    """A label, then those of the words that are not in it."""
    said = {word.strip(",:") for word in label.casefold().split()}
    return [label, *(word for word in words if word.casefold() not in said)]


def topics_frame(view: ModelView, n_words: int, n_authors: int) -> pd.DataFrame:
    """Frame with one row per topic: its label, its size, its words and its authors as lists."""
    frame = view.topics(n_words)
    if view.n_authors and n_authors:
        frame["authors"] = [view.leading_authors(k, n_authors)["author"].tolist() for k in frame["topic"].tolist()]
    return frame


def topic_frame(view: ModelView, topic: int, n_words: int, n_authors: int) -> pd.DataFrame:
    """Frame of one topic's words and authors side by side by rank, with probabilities."""
    import pandas as pd

    from topoi.models.ranking import SUMMARY_RELEVANCE

    words = view.top_words(n_words, topic=topic, relevance=SUMMARY_RELEVANCE)
    columns = {
        "word": words["word"].reset_index(drop=True),
        "word_probability": words["probability"].reset_index(drop=True),
    }
    if view.n_authors and n_authors:
        names = view.leading_authors(topic, n_authors)
        columns["author"], columns["author_probability"] = names["author"], names["probability"]
    frame = pd.DataFrame(columns)
    frame.insert(0, "rank", range(1, len(frame) + 1))
    frame.insert(0, "topic", topic)
    return frame


def draw_topics(frame: pd.DataFrame, screen: Console) -> None:
    """Print one entry per topic: number, share, its interval, a small bar, label, words; authors dimmed below.

    Background topics have a heading.
    """
    from rich.text import Text

    told = False
    margin = 3 + 5 + look.INTERVAL_WIDTH + BAR_WIDTH + 4 * len(look.GAP)
    room = screen.width - margin
    largest = frame["share"].max() or 1.0
    for row in frame.to_dict("records"):
        topic = row["topic"]
        if row["background"] and not told:
            screen.print(Text(CONNECTING, style="dim"))
            told = True
        line = look.row(
            look.topic_number(topic),
            (Text(look.percent(row["share"]).rjust(5), style="dim"), 5),
            (Text(look.interval(row["lower"], row["upper"]), style="dim"), look.INTERVAL_WIDTH),
            (Text(look.bar(row["share"] / largest, BAR_WIDTH), style=look.topic_colour(topic)), BAR_WIDTH),
            look.topic_words(topic, labelled(row["label"], row["words"]), room),
        )
        screen.print(line)
        if row.get("authors"):
            screen.print(Text(" " * margin) + look.quiet_list(row["authors"], room))
    screen.print(look.interval_note())


def draw_topic(frame: pd.DataFrame, topic: int, label: str, screen: Console) -> None:
    """Print one topic's table, under its label."""
    screen.print(look.topic_words(topic, [label], screen.width))
    screen.print(plain_table(frame))
