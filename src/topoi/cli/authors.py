"""``topoi authors``: authors and their topics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from topoi.cli import look
from topoi.cli.models import counted
from topoi.cli.options import AUTHORS, AsCsv, AsJson, ModelFile, ModelName, loaded, open_view
from topoi.cli.output import check_one_format, print_frame
from topoi.cli.topics import background_topics, labels_of, with_labels, with_last, words_by_topic
from topoi.models.contract import ModelLike

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

    from topoi.store.view import ModelView

TOPICS_PER_AUTHOR = 3
WORDS_SHOWN = 10


def authors(
    file: ModelFile,
    author: Annotated[
        str | None, typer.Argument(metavar="[AUTHOR]", help="An author's name; without one, the busiest.")
    ] = None,
    n: Annotated[int, typer.Option("-n", "--n", metavar="N", min=1, help="Rows to show.")] = 10,
    name: ModelName = None,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """Show the authors with most documents and their topics, or one author's topics."""
    check_one_format(as_json, as_csv)
    view = open_view(file, name, AUTHORS)
    if not view.n_topics:
        model = loaded(view)
        frame = author_words_frame(model, n) if author is None else model.author_words(author, n)
        print_frame(frame, as_json=as_json, as_csv=as_csv, render=draw_author_words if author is None else None)
        return
    labels = labels_of(view)
    frame = authors_frame(view, n) if author is None else author_frame(view, author, n)

    def render(rows: pd.DataFrame, screen: Console) -> None:
        draw_authors(rows, labels, screen)

    print_frame(frame, as_json=as_json, as_csv=as_csv, render=render)


def busiest_authors(model: ModelLike, n: int) -> dict[str, tuple[int, int]]:
    """Authors with most documents, as the browser lists them: numbers of documents and of words in the model."""
    import numpy as np

    from topoi.analysis.authorship import author_sizes

    sizes = author_sizes(model)
    documents = model.catalogue_.n_documents(np.arange(len(sizes)))
    busiest = np.argsort(-documents, kind="stable")[:n]
    names = map(str, model.catalogue_.author_names(busiest))
    numbers = zip(documents[busiest].tolist(), sizes[busiest].tolist(), strict=True)
    return dict(zip(names, numbers, strict=True))


def authors_frame(view: ModelView, n: int) -> pd.DataFrame:
    """Frame of the authors with most documents: a few rows each, for the leading topics and their words."""
    import pandas as pd

    sizes = busiest_authors(view, n)
    last = background_topics(view)
    frame = pd.concat([_topics_of(view, author, TOPICS_PER_AUTHOR, last) for author in sizes], ignore_index=True)
    frame["n_documents"] = [sizes[author][0] for author in frame["author"]]
    frame["n_words"] = [sizes[author][1] for author in frame["author"]]
    columns = ["author", "n_documents", "n_words", "rank", "topic", "probability", "lower", "upper"]
    return _with_words(view, frame[columns])


def author_frame(view: ModelView, author: str, n: int) -> pd.DataFrame:
    """Frame of one author's topics, most probable first, with the author's numbers of words and the topics' words."""
    return _with_words(view, _topics_of(view, author, n, background_topics(view)))


def _topics_of(view: ModelView, author: str, n: int, background: set[int]) -> pd.DataFrame:
    """An author's leading topics, most probable first, background topics after all others."""
    frame = with_last(view.author_topics(author), background).head(n).reset_index(drop=True)
    frame["rank"] = range(1, len(frame) + 1)
    return frame


def _with_words(view: ModelView, frame: pd.DataFrame) -> pd.DataFrame:
    words = words_by_topic(view, WORDS_SHOWN)
    complete = frame.copy()
    complete["words"] = [words[int(k)] for k in complete["topic"]]
    return complete


def author_words_frame(model: Any, n: int) -> pd.DataFrame:
    """Frame of the authors with most documents in a model without topics, with the words they use most."""
    import pandas as pd

    sizes = busiest_authors(model, n)
    words = [list(model.author_words(author, WORDS_SHOWN)["word"]) for author in sizes]
    documents, numbers = zip(*sizes.values(), strict=True)
    return pd.DataFrame({"author": list(sizes), "n_documents": documents, "n_words": numbers, "words": words})


def draw_authors(frame: pd.DataFrame, labels: dict[int, str], screen: Console) -> None:
    """Print one entry per author: the name, then a line for each topic."""
    from rich.text import Text

    several = frame["author"].nunique() > 1
    for author, rows in frame.groupby("author", sort=False):
        heading = Text(look.printable(author), style="bold")
        if several:
            heading.append(f"  {size_of(rows.iloc[0])}", style="not bold dim")
        screen.print(heading)
        for row in rows.to_dict("records"):
            summary = with_labels({row["topic"]: row["words"]}, labels)[row["topic"]]
            ends = row["lower"], row["upper"]
            screen.print(look.share_line(row["topic"], row["probability"], summary, screen.width, ends))
    if frame["lower"].notna().any():
        screen.print(look.interval_note())


def size_of(row: Any) -> str:
    """Size of an author's work in words.

    Examples
    --------
    >>> size_of({"n_documents": 1, "n_words": 1200})
    '1 document, 1,200 words'
    """
    return f"{counted(row['n_documents'], 'document')}, {counted(row['n_words'], 'word')}"


def draw_author_words(frame: pd.DataFrame, screen: Console) -> None:
    """Print one entry per author: the name, then the words on a line."""
    from rich.text import Text

    for row in frame.to_dict("records"):
        screen.print(
            Text(look.printable(row["author"]), style="bold").append(f"  {size_of(row)}", style="not bold dim")
        )
        screen.print(Text("  ") + look.plain_words(row["words"], screen.width - 2))
