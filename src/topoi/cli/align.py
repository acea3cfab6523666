"""``topoi align``: matching of the topics of two fits."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from topoi.cli import look
from topoi.cli.options import AsCsv, AsJson, loaded, names_beginning, open_topic_view
from topoi.cli.output import check_one_format, print_frame
from topoi.cli.topics import labels_of, with_labels, words_by_topic

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

    from topoi.store.view import ModelView


N_WORDS = 10


class Method(StrEnum):
    """Method of pairing topics."""

    optimal = "optimal"
    greedy = "greedy"


def align(
    file_a: Annotated[Path, typer.Argument(metavar="FILE_A", help="A fitted model, as `topoi fit` saves it.")],
    file_b: Annotated[
        Path | None, typer.Argument(metavar="[FILE_B]", help="Another one; without it, both are in the first.")
    ] = None,
    name_a: Annotated[
        str | None,
        typer.Option(
            "--name-a",
            "--name",
            metavar="NAME",
            autocompletion=names_beginning,
            help="The model in FILE_A.  [default: the one saved last]",
        ),
    ] = None,
    name_b: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            autocompletion=names_beginning,
            help="The model in FILE_B, or another in FILE_A.  [default: the one saved last]",
        ),
    ] = None,
    chain_a: Annotated[int, typer.Option(metavar="N", min=0, help="The chain of the first.")] = 0,
    chain_b: Annotated[
        int | None,
        typer.Option(metavar="N", min=0, help="The chain of the second.  [default: 0, or 1 of the same model]"),
    ] = None,
    method: Annotated[
        Method, typer.Option(help="Pairs with the smallest sum of distances, or the nearest first, as in the paper.")
    ] = Method.optimal,
    n: Annotated[int | None, typer.Option("-n", "--n", metavar="N", min=1, help="Show the N nearest pairs.")] = None,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """Put the topics of two models, or of two chains of one, side by side, the most similar pair first."""
    check_one_format(as_json, as_csv)
    first = open_topic_view(file_a, name_a)
    alone = file_b is None and name_b is None
    second = first if alone else open_topic_view(file_b or file_a, name_b)
    import topoi

    if alone:
        alignment = topoi.align_topics(loaded(first), chain_a=chain_a, chain_b=chain_b, method=method.value)
    else:
        models = with_chain(first, chain_a), with_chain(second, chain_b or 0)
        alignment = topoi.align_topics(*models, chain_a=chain_a, chain_b=chain_b, method=method.value)
    everything = alignment.pairs
    if not (alone or chain_a or chain_b):  # a store has lists of words for the first chain only
        for side, view in (("a", first), ("b", second)):
            words = words_by_topic(view, N_WORDS)
            everything[f"words_{side}"] = [words[int(k)] for k in everything[f"topic_{side}"]]

    # Labels are those of the first chain.
    labels_a = {} if chain_a else labels_of(first)
    labels_b = {} if chain_b or (alone and chain_b is None) else labels_of(second)

    def render(rows: pd.DataFrame, screen: Console) -> None:
        draw_pairs(rows, labels_a, labels_b, screen)
        mutual = int(everything["mutual"].sum())
        screen.print(f"{mutual} of {len(everything)} pairs are each other's nearest (=)", style="dim")

    print_frame(everything if n is None else everything.head(n), as_json=as_json, as_csv=as_csv, render=render)


def with_chain(view: ModelView, chain: int) -> Any:
    """Return the view for the first chain, which the store has precomputed; load the model for any other."""
    return loaded(view) if chain else view


def draw_pairs(frame: pd.DataFrame, labels_a: dict[int, str], labels_b: dict[int, str], screen: Console) -> None:
    """Print a line per pair: the distance, then both topics' numbers, labels and words."""
    from rich.text import Text

    room = (screen.width - (6 + 1 + 2 * 3 + 5 * len(look.GAP))) // 2
    rows = frame.to_dict("records")
    sides = []
    for side, labels in (("a", labels_a), ("b", labels_b)):
        pairs = [(row[f"topic_{side}"], row[f"words_{side}"]) for row in rows]
        sides.append([look.topic_words(k, with_labels({k: words}, labels)[k], room) for k, words in pairs])
    width = min(room, max(map(len, sides[0]), default=0)) if screen.width == look.UNBOUNDED else room
    for row, left, right in zip(rows, *sides, strict=True):
        line = look.row(
            (Text(f"{row['distance']:6.2f}", style="dim"), 6),
            look.topic_number(row["topic_a"]),
            (left, width),
            ("=" if row["mutual"] else "", 1),
            look.topic_number(row["topic_b"]),
            right,
        )
        screen.print(line)
