"""``topoi label``: a text with every word in the colour of its topic."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from topoi.cli import look
from topoi.cli.options import AUTHORS, AsCsv, AsJson, ModelFile, ModelName, TextFile, given_text, open_topic_view
from topoi.cli.output import check_one_format, print_frame
from topoi.cli.topics import badge_words

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console
    from rich.text import Text

    from topoi.store.view import ModelView

UNSURE = 0.5
MARGIN = "  "


def label(
    file: ModelFile,
    text: Annotated[str | None, typer.Argument(metavar="[TEXT]", help="The text, or - for standard input.")] = None,
    from_file: TextFile = None,
    authors: Annotated[
        list[str] | None,
        typer.Option(metavar="A,B", help="Possible authors; may be repeated.  [default: somebody new]"),
    ] = None,
    seed: Annotated[int, typer.Option(metavar="N", help="Seed of the random draws.")] = 0,
    name: ModelName = None,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """Label every word of a text with its topic, and with its author where there are several."""
    check_one_format(as_json, as_csv)
    passage = given_text(text, from_file)
    view = open_topic_view(file, name, *([AUTHORS] if authors else []))
    import topoi

    frame = topoi.label_words(view, passage, authors=possible_authors(view, authors), random_state=seed)
    words = badge_words(view, 8)

    def render(labelled: pd.DataFrame, screen: Console) -> None:
        draw_labels(passage, labelled, words, screen)

    print_frame(frame, as_json=as_json, as_csv=as_csv, render=render)


def possible_authors(view: ModelView, given: list[str] | None) -> list[str] | str | None:
    """Candidate authors of the text: named ones, ``"any"`` for the likeliest of all, None for an unknown author."""
    if not given:
        return None
    if given == ["any"]:
        return "any"
    return [name for names in given for name in split_authors(view, names)]


def split_authors(view: ModelView, given: str) -> list[str]:
    """Split the value of one ``--authors``: one name, or several separated by semicolons or commas.

    A name may contain a comma ("Jordan, M"), so the whole is tried first. Unknown names are returned as they are: the
    library refuses them and suggests the nearest names.
    """
    for separator in (None, ";", ","):
        names = [given.strip()] if separator is None else [part.strip() for part in given.split(separator)]
        if all(len(view.catalogue_.authors_named([name])) for name in names):
            return names
    return [given.strip()]


def draw_labels(passage: str, frame: pd.DataFrame, words: dict[int, list[str]], screen: Console) -> None:
    """Print the text with coloured words, then a legend of its topics."""
    from rich.text import Text

    if frame.empty:
        screen.print("None of these words is in the vocabulary of the model.")
        return
    text = coloured_text(passage, frame, numbers=screen.color_system is None or screen.no_color)
    text.rstrip()
    screen.print()
    for line in text.wrap(screen, screen.width - 2 * len(MARGIN)):
        line.rstrip()
        screen.print(Text(MARGIN) + line if line else "")
    screen.print()
    draw_legend(frame, words, screen)


def coloured_text(passage: str, frame: pd.DataFrame, *, numbers: bool) -> Text:
    """Render the passage with each known word in its topic's colour, dimmed where the model is unsure.

    Parameters
    ----------
    passage
        The text as it was given.
    frame
        One row per labelled word, with ``start``, ``end``, ``topic`` and ``topic_probability``.
    numbers
        Write the topic's number after every labelled word; otherwise only where the topic changes, which is enough on
        a screen with colours.
    """
    from rich.text import Text

    text = Text()
    position, previous = 0, -1
    for row in frame.sort_values("start").to_dict("records"):
        text.append(passage[position : row["start"]], style="dim")
        weight = "" if row["topic_probability"] >= UNSURE else "dim "
        text.append(passage[row["start"] : row["end"]], style=f"{weight}{look.topic_colour(row['topic'])}")
        if numbers or row["topic"] != previous:
            text.append(look.subscript(row["topic"]), style=f"dim {look.topic_colour(row['topic'])}")
        position, previous = row["end"], row["topic"]
    text.append(passage[position:], style="dim")
    return text


def draw_legend(frame: pd.DataFrame, words: dict[int, list[str]], screen: Console) -> None:
    """Print the topics of a text, most frequent first, with their shares of its labelled words."""
    from rich.text import Text

    shares = frame["topic"].value_counts(normalize=True)
    for topic, share in zip(map(int, shares.index), shares, strict=True):
        line = Text.assemble(
            "  ",
            look.topic_number(topic),
            (f"  {look.percent(share):>4}  ", "dim"),
            look.topic_words(topic, words[topic], screen.width - 13),
        )
        screen.print(line, no_wrap=True, overflow="ellipsis")
    _draw_author_shares(frame, screen)


def _draw_author_shares(frame: pd.DataFrame, screen: Console) -> None:
    from rich.text import Text

    if "author" not in frame or frame["author"].isna().all():
        return
    shares = frame["author"].value_counts(normalize=True)
    line = look.NAME_GAP.join(f"{look.printable(name)} {look.percent(share)}" for name, share in shares.head(5).items())
    screen.print(Text(f"\n  by {line}", style="dim"))
