"""``topoi groups``: topics in which groups of documents differ."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from topoi.cli import look
from topoi.cli.options import AsCsv, AsJson, ModelFile, ModelName, open_topic_view
from topoi.cli.output import check_one_format, print_frame
from topoi.cli.topics import badge_words

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

_SHOWN = 8
_CLEAR = 0.05


def groups(
    file: ModelFile,
    by: Annotated[str, typer.Argument(metavar="COLUMN", help="A column of the documents, decade, or authors.")],
    group: Annotated[
        str | None, typer.Option(metavar="VALUE", help="This value only; numbers may be ranges, as in 1990..1999.")
    ] = None,
    other: Annotated[
        str | None, typer.Option(metavar="VALUE", help="Compare with this value instead of all other documents.")
    ] = None,
    topic: Annotated[
        int | None, typer.Option(metavar="K", help="The documents that make the difference in this topic.")
    ] = None,
    n: Annotated[
        int | None, typer.Option("-n", "--n", metavar="N", min=1, help="Topics, or documents, to show.")
    ] = None,
    units: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Documents with equal values of it belong together: speeches.")
    ] = None,
    level: Annotated[float, typer.Option(metavar="P", help="Probability that intervals hold.")] = 0.9,
    permutations: Annotated[int, typer.Option(metavar="N", min=19, help="Permutations of each test.")] = 999,
    seed: Annotated[int, typer.Option(metavar="N", help="Seed of permutations and resampled documents.")] = 0,
    name: ModelName = None,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """Show the topics of which one group of documents has more than another, with intervals and tests."""
    check_one_format(as_json, as_csv)
    if other is not None and group is None:
        raise typer.BadParameter("--other needs --group, the value that it is compared with")
    view = open_topic_view(file, name)
    import topoi

    chosen = None if group is None else [group] if other is None else [group, other]
    if topic is not None:
        frame = topoi.group_documents(view, topic, by, chosen, n=n or 10, level=level)
        print_frame(frame, as_json=as_json, as_csv=as_csv)
        return
    frame = topoi.compare_groups(
        view, by, chosen, units=units, level=level, n_permutations=permutations, random_state=seed
    )
    note, sizes = frame.attrs.get("note"), frame.attrs["n_documents"]
    words = badge_words(view, 8)

    def render(rows: pd.DataFrame, screen: Console) -> None:
        from rich.text import Text

        for _, part in rows.groupby(["group", "other"], sort=False):
            draw_pair(part, sizes, words, screen, n or _SHOWN)
        for line in _explained(level, note):
            screen.print(Text(line, style="dim"))

    print_frame(frame, as_json=as_json, as_csv=as_csv, render=render)


def _explained(level: float, note: str | None) -> list[str]:
    told = [f"intervals hold {level:.0%}; q: false-discovery rate among all topics"]
    return [*told, f"note: {note}"] if note else told


def draw_pair(frame: pd.DataFrame, sizes: dict[str, int], words: dict[int, list[str]], screen: Console, n: int) -> None:
    """Print the topics in which two groups differ most, those of which the first has more at the top."""
    from rich.text import Text

    name, other = (str(frame[column].iloc[0]) for column in ("group", "other"))
    heading = Text(look.printable(name), style="bold")
    heading.append(f" ({sizes[name]:,} documents) and {look.printable(other)}", style="dim")
    if other in sizes:
        heading.append(f" ({sizes[other]:,})", style="dim")
    screen.print(heading)
    most = frame.loc[frame["difference"].abs().nlargest(n).index.sort_values()]
    for row in most.to_dict("records"):
        screen.print(_line(row, words, screen.width))


def _line(row: Mapping[Any, Any], words: dict[int, list[str]], width: int) -> Any:
    from rich.text import Text

    shares = "  ".join(look.share_and_interval(row, name) for name in ("share", "other_share"))
    ends = f"{100 * row['difference']:+5.1f} ({100 * row['lower']:+.1f} to {100 * row['upper']:+.1f})"
    rate = f"q {row['q_value']:.3f}"
    figures = Text(f"{shares} {ends:<23} {rate}", style="" if row["q_value"] <= _CLEAR else "dim")
    room = width - (5 + len(figures) + 2 * len(look.GAP))
    topic = row["topic"]
    return look.row(
        Text("  ") + look.topic_number(topic), (figures, len(figures)), look.topic_words(topic, words[topic], room)
    )
