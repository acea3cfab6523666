"""``topoi authors``: who writes about what."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from topoi.cli import look
from topoi.cli.options import AsCsv, AsJson, ModelFile, has_authors, has_topics, open_model
from topoi.cli.output import check_one_format, print_frame
from topoi.cli.topics import words_by_topic
from topoi.errors import ModelError

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

TOPICS_PER_AUTHOR = 3
WORDS_SHOWN = 10


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
        raise ModelError(f"the {type(model).__name__} in {file} knows no authors; fit one with --model author-topic")
    if not has_topics(model):
        frame = author_words_frame(model, n) if name is None else model.author_words(name, n)
        print_frame(frame, as_json=as_json, as_csv=as_csv, render=draw_author_words if name is None else None)
        return
    frame = authors_frame(model, n) if name is None else author_frame(model, name, n)
    print_frame(frame, as_json=as_json, as_csv=as_csv, render=draw_authors)


def busiest_authors(model: Any, n: int) -> dict[str, int]:
    """The authors to whom most words are assigned, and how many."""
    import numpy as np

    chain = model.chains_[0]
    sizes = (chain.counts.author if has_topics(model) else chain.author)[: len(model.authors_)]
    return {str(model.authors_[a]): int(sizes[a]) for a in np.argsort(-sizes, kind="stable")[:n]}


def authors_frame(model: Any, n: int) -> pd.DataFrame:
    """The busiest authors, each with a few rows: the leading topics and their words."""
    import pandas as pd

    sizes = busiest_authors(model, n)
    frame = pd.concat([model.author_topics(author, n=TOPICS_PER_AUTHOR) for author in sizes], ignore_index=True)
    frame["n_words"] = [sizes[author] for author in frame["author"]]
    return _with_words(model, frame[["author", "n_words", "rank", "topic", "probability"]])


def author_frame(model: Any, author: str, n: int) -> pd.DataFrame:
    """One author's topics, most probable first, with the number of words they rest on and the topics' words."""
    return _with_words(model, model.author_topics(author, n=n))


def _with_words(model: Any, frame: pd.DataFrame) -> pd.DataFrame:
    words = words_by_topic(model, WORDS_SHOWN)
    complete = frame.copy()
    complete["words"] = [words[int(k)] for k in complete["topic"]]
    return complete


def author_words_frame(model: Any, n: int) -> pd.DataFrame:
    """The busiest authors of a model without topics, with the words they use most."""
    import pandas as pd

    sizes = busiest_authors(model, n)
    words = [list(model.author_words(author, WORDS_SHOWN)["word"]) for author in sizes]
    return pd.DataFrame({"author": list(sizes), "n_words": list(sizes.values()), "words": words})


def draw_authors(frame: pd.DataFrame, screen: Console) -> None:
    """One entry per author: the name, then a line for each topic."""
    from rich.text import Text

    several = frame["author"].nunique() > 1
    for author, rows in frame.groupby("author", sort=False):
        heading = Text(str(author), style="bold")
        if several:
            heading.append(f"  {rows['n_words'].iloc[0]:,} words", style="not bold dim")
        screen.print(heading)
        for row in rows.to_dict("records"):
            screen.print(look.share_line(row["topic"], row["probability"], row["words"], screen.width))


def draw_author_words(frame: pd.DataFrame, screen: Console) -> None:
    """One entry per author: the name, then the words on a line."""
    from rich.text import Text

    for row in frame.to_dict("records"):
        heading = Text(str(row["author"]), style="bold").append(f"  {row['n_words']:,} words", style="not bold dim")
        screen.print(heading)
        screen.print(Text("  ") + look.plain_words(row["words"], screen.width - 2))
