"""``topoi topics`` and ``topoi authors``: what a model found, and who writes about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from topoi.cli import look
from topoi.cli.options import AsCsv, AsJson, ModelFile, open_model
from topoi.cli.output import check_one_format, print_frame
from topoi.errors import ModelError, NotFoundError

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

    from topoi.models.author_topic.estimator import AuthorTopicModel

BAR_WIDTH = 6
TOPICS_PER_AUTHOR = 3


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
    model = open_model(file)
    if topic is None:
        print_frame(topics_frame(model, n_words, n_authors), as_json=as_json, as_csv=as_csv, render=draw_topics)
    else:
        print_frame(topic_frame(model, topic, n_words, n_authors), as_json=as_json, as_csv=as_csv)


def authors(
    file: ModelFile,
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="An author; without one, the busiest.")] = None,
    n: Annotated[int, typer.Option("-n", "--n", metavar="N", min=1, help="Rows to show.")] = 10,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """Show the authors with most words and their topics, or one author's topics."""
    check_one_format(as_json, as_csv)
    model = open_model(file)
    if not has_authors(model):
        raise ModelError(f"the model in {file} knows no authors; fit one with --model author-topic")
    if name is None:
        print_frame(authors_frame(model, n), as_json=as_json, as_csv=as_csv, render=draw_authors)
    else:
        frame = author_frame(model, known_author(model, name), n)
        print_frame(frame, as_json=as_json, as_csv=as_csv, render=draw_authors)


def has_authors(model: AuthorTopicModel) -> bool:
    """Whether a model tells authors apart."""
    names = getattr(model, "authors_", None)
    return names is not None and len(names) > 0


def words_by_topic(model: AuthorTopicModel, n: int) -> dict[int, list[str]]:
    """The most probable words of each topic."""
    return {int(k): list(rows["word"]) for k, rows in model.top_words(n).groupby("topic")}


def authors_by_topic(model: AuthorTopicModel, n: int) -> dict[int, list[str]]:
    """The leading authors of each topic; empty if the model knows none."""
    if n == 0 or not has_authors(model):
        return {}
    return {int(k): list(rows["author"]) for k, rows in model.top_authors(n).groupby("topic")}


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

    check_topic(model, topic)
    words = model.top_words(n_words).query("topic == @topic")
    columns = {
        "word": words["word"].reset_index(drop=True),
        "word_probability": words["probability"].reset_index(drop=True),
    }
    if has_authors(model) and n_authors:
        names = model.top_authors(n_authors).query("topic == @topic")
        columns["author"] = names["author"].reset_index(drop=True)
        columns["author_probability"] = names["probability"].reset_index(drop=True)
    frame = pd.DataFrame(columns)
    frame.insert(0, "rank", range(1, len(frame) + 1))
    frame.insert(0, "topic", topic)
    return frame


def check_topic(model: AuthorTopicModel, topic: int) -> None:
    """Refuse a topic that the model does not have."""
    known = model.topic_sizes()["topic"]
    if topic not in set(known):
        raise NotFoundError(f"no topic {topic}; topics are numbered {known.min()} to {known.max()}")


def known_author(model: AuthorTopicModel, name: str) -> str:
    """The author of that name, letter case aside; otherwise an error that offers the nearest names."""
    from difflib import get_close_matches

    names = [str(known) for known in model.authors_]
    if name in names:
        return name
    folded = {known.casefold(): known for known in names}
    if name.casefold() in folded:
        return folded[name.casefold()]
    near = [folded[match] for match in get_close_matches(name.casefold(), list(folded), n=5, cutoff=0.5)]
    near += [known for known in names if name.casefold() in known.casefold() and known not in near][:5]
    hint = f"did you mean {' or '.join(repr(match) for match in near[:5])}?" if near else "`topoi authors` lists some"
    raise NotFoundError(f"no author {name!r} among {len(names):,}; {hint}")


def authors_frame(model: AuthorTopicModel, n: int) -> pd.DataFrame:
    """The authors with most words, each with a few rows: the leading topics and their words."""
    import pandas as pd

    sizes = author_sizes(model)
    busiest = sorted(sizes, key=lambda author: (-sizes[author], author))[:n]
    parts = [model.author_topics(author, n=TOPICS_PER_AUTHOR) for author in busiest]
    frame = pd.concat(parts, ignore_index=True)
    frame["n_words"] = [sizes[author] for author in frame["author"]]
    return _with_words(model, frame[["author", "n_words", "rank", "topic", "probability"]])


def author_sizes(model: AuthorTopicModel) -> dict[str, int]:
    """The number of words of each author."""
    return {str(author): int(rows["n_words"].iloc[0]) for author, rows in model.author_topics(n=1).groupby("author")}


def author_frame(model: AuthorTopicModel, author: str, n: int) -> pd.DataFrame:
    """One author's topics, most probable first, with their words."""
    return _with_words(model, model.author_topics(author, n=n)[["author", "rank", "topic", "probability"]])


def _with_words(model: AuthorTopicModel, frame: pd.DataFrame) -> pd.DataFrame:
    words = words_by_topic(model, 10)
    complete = frame.reset_index(drop=True)
    complete["words"] = [words[int(k)] for k in complete["topic"]]
    return complete


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


def draw_authors(frame: pd.DataFrame, screen: Console) -> None:
    """One entry per author: the name, then a line for each topic."""
    from rich.text import Text

    for author, rows in frame.groupby("author", sort=False):
        heading = Text(str(author), style="bold")
        if "n_words" in rows:
            heading.append(f"  {rows['n_words'].iloc[0]:,} words", style="not bold dim")
        screen.print(heading)
        for row in rows.to_dict("records"):
            line = look.row(
                Text("  ") + look.topic_number(row["topic"]),
                Text(f"{look.percent(row['probability']):>5}", style="dim"),
                (Text(look.bar(row["probability"], 10), style=look.topic_colour(row["topic"])), 10),
                look.topic_words(row["topic"], row["words"], screen.width - 26),
            )
            screen.print(line)
