"""``topoi demo``: two centuries of State of the Union addresses, their topics, presidents and decades."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from topoi.cli import look
from topoi.cli.fit import exit_code
from topoi.cli.map import place
from topoi.cli.options import AsCsv, AsJson, available_cores
from topoi.cli.output import check_one_format, print_frame
from topoi.cli.saving import refuse_overwriting
from topoi.cli.signals import something_to_lose
from topoi.cli.topics import labelled
from topoi.cli.trends import share_table
from topoi.errors import TopoiError

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray
    from rich.console import Console
    from rich.text import Text

    from topoi.corpus.corpus import Corpus


N_WORDS = 10
N_PRESIDENTS = 3


def story(model: Any, n_topics: int) -> pd.DataFrame:
    """The topics that belong most to one decade, in the order of their time.

    Parameters
    ----------
    model
        A fitted model whose documents have dates.
    n_topics
        Number of topics; no two have their peak in the same decade.

    Returns
    -------
    DataFrame
        topic, label, peak (the decade), peak_share, words, presidents, decades and shares (lists of equal length).
    """
    import pandas as pd

    import topoi

    shares = share_table(topoi.topic_trends(model, by="decade", level=None))
    overall = model.topic_sizes()["share"].to_numpy() @ model.topic_word_
    decades = [int(decade) for decade in shares.columns]
    rows, labels = [], model.topic_labels()
    for topic in in_order_of_time(shares.loc[most_of_their_time(model, shares, overall, n_topics)]):
        series = [float(share) for share in shares.loc[topic].to_numpy()]
        rows.append(
            {
                "topic": topic,
                "label": labels[topic],
                "peak": decades[series.index(max(series))],
                "peak_share": max(series),
                "words": telling_words(model, topic),
                "presidents": leading_authors(model, topic),
                "decades": decades,
                "shares": series,
            }
        )
    return pd.DataFrame(rows)


def most_of_their_time(model: Any, shares: pd.DataFrame, overall: NDArray[np.float64], n: int) -> list[int]:
    """The topics that stand out most in the decade of their peak and in their words, one for a decade.

    The score is a product of three factors: the ratio of the peak to the topic's average; the square root of the peak,
    so that tiny topics do not win by noise; and the squared distance of the topic's words from those of the whole
    collection, so that background topics ("present", "shall", "great"), which also come and go, are left out.
    """
    import numpy as np

    peak, mean = shares.max(axis=1).to_numpy(), shares.mean(axis=1).to_numpy()
    divergence = (model.topic_word_ * np.log(model.topic_word_ / overall)).sum(axis=1)
    score = np.sqrt(peak) * np.log(np.maximum(peak, 1e-12) / np.maximum(mean, 1e-12)) * divergence**2
    chosen: dict[object, int] = {}
    for topic in np.argsort(-score, kind="stable"):
        chosen.setdefault(shares.iloc[topic].idxmax(), int(topic))
    return list(chosen.values())[:n]


def in_order_of_time(shares: pd.DataFrame) -> list[int]:
    """Sort topics by their mean decade, weighted by squared shares so that the peak counts most."""
    import numpy as np

    weights = shares.to_numpy() ** 2
    centre = (weights @ np.arange(shares.shape[1])) / weights.sum(axis=1)
    return [int(topic) for topic in shares.index[np.argsort(centre, kind="stable")]]


def telling_words(model: Any, topic: int) -> list[str]:
    """The words that tell a topic from the others: frequent in it, and more than elsewhere."""
    from topoi.models.ranking import SUMMARY_RELEVANCE

    return [str(word) for word in model.top_words(N_WORDS, topic=topic, relevance=SUMMARY_RELEVANCE)["word"]]


def leading_authors(model: Any, topic: int) -> list[str]:
    """The authors with most words of a topic, as everywhere."""
    return [str(name) for name in model.top_authors(N_PRESIDENTS, topic=topic, by="words")["author"]]


DATASET = "state-of-the-union"
N_TOPICS = 60
N_ITERATIONS = 300
N_SHOWN = 12
PEAK_WIDTH = len("1990s 9.9%")
WIDE = 116  # smallest width, in columns, at which an entry fits on one line


def demo(
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="Where to save the model.")] = Path(
        f"{DATASET}.topoi"
    ),
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
    topics: Annotated[int, typer.Option("-k", "--topics", metavar="K", min=2, help="Number of topics.")] = N_TOPICS,
    iterations: Annotated[
        int, typer.Option("-i", "--iterations", metavar="N", min=1, help="Sweeps over the corpus.")
    ] = N_ITERATIONS,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Seed of the random draws.")] = 0,
    no_browse: Annotated[bool, typer.Option("--no-browse", help="Do not end in the web browser.")] = False,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="No progress; only the result.")] = False,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """Fit the State of the Union addresses, show how their topics rise and fall, and open them in the browser."""
    check_one_format(as_json, as_csv)
    refuse_overwriting(output, force)
    import topoi

    status = look.console(stderr=True)
    status.quiet = quiet
    corpus = topoi.load_dataset(DATASET, unit="passage")
    status.print(opening(corpus, topics))
    unfitted = topoi.AuthorTopicModel(
        n_topics=topics,
        # The default, but with as much weight for a passage's own subjects as for its president's.
        fictitious_authors=True,
        n_iter=iterations,
        n_jobs=available_cores(),
        random_state=seed,
        progress=False if quiet else None,
    )
    with something_to_lose():
        model = unfitted.fit(corpus)
        model.save(output, replace_file=force)
    look.wear(topoi.view(output).topic_hues())
    frame = story(model, N_SHOWN)

    def render(rows: pd.DataFrame, screen: Console) -> None:
        draw_story(rows, topics, screen)

    print_frame(frame, as_json=as_json, as_csv=as_csv, render=render)
    interrupted = bool(model.fit_info_["interrupted"])
    status.print(closing(output, frame, interrupted), soft_wrap=True)
    if interrupted:
        raise typer.Exit(exit_code(model.fit_info_))
    view = topoi.view(output)
    if view.document_places() is None:  # so that the browser has its map at once
        place(view, available_cores(), quiet or as_json or as_csv)
    if not (no_browse or quiet or as_json or as_csv) and somebody_is_there():
        browse(output, status)


def somebody_is_there() -> bool:
    """Whether the session is interactive, so that somebody can stop a server with Ctrl-C."""
    streams = (sys.stdin, sys.stdout)
    return not os.environ.get("CI") and all(stream is not None and stream.isatty() for stream in streams)


def browse(path: Path, status: Console) -> None:
    """Show the saved model in the web browser until Ctrl-C; if that is impossible, the demo still succeeds."""

    def say(address: str) -> None:
        status.print(f"\nand in the web browser: {address}  (Ctrl-C ends the demo)", style="bold", soft_wrap=True)

    try:
        from topoi.web.run import serve

        serve(path, say=say)
    except (ImportError, TopoiError) as error:
        status.print(f"\n{error}", style="dim", soft_wrap=True)


def opening(corpus: Corpus, n_topics: int) -> Text:
    """Two lines about the corpus and the model to be fitted."""
    from rich.text import Text

    years = corpus.documents["year"]
    size = f"{corpus.n_authors} presidents, {corpus.n_docs:,} passages, {corpus.n_tokens:,} words"
    return Text.assemble(
        ("\nState of the Union", "bold"),
        f"  {years.min()}–{years.max()}\n",
        (f"{size}, {n_topics} topics\n", "dim"),
    )


def draw_story(frame: pd.DataFrame, n_topics: int, screen: Console) -> None:
    """Print a sparkline per topic under a common axis of decades, with words and presidents beside it."""
    from rich.text import Text

    decades = frame["decades"].iloc[0]
    spark = len(decades)
    axis = look.axis(f"{decades[0]}s", f"{decades[-1]}s", spark)
    wide = screen.width >= WIDE
    peak = "peak".ljust(PEAK_WIDTH) + look.GAP if wide else ""
    screen.print(Text(f"{axis}{look.GAP}{peak}topic, words, presidents", style="dim"))
    for row in frame.to_dict("records"):
        for line in _wide(row, spark, screen.width) if wide else _narrow(row, spark, screen.width):
            screen.print(line)
    screen.print(Text(f"\n{len(frame)} of {n_topics} topics, those that belong most to their time", style="dim"))


def _narrow(row: dict[Any, Any], spark: int, width: int) -> list[Text]:
    """Entry in two lines: sparkline and words, then the peak and the presidents, dimmed."""
    room = width - (spark + 3 + 2 * len(look.GAP))
    told = look.topic_words(row["topic"], labelled(row["label"], row["words"]), room)
    return [
        look.row((_blocks(row), spark), look.topic_number(row["topic"]), told),
        look.row((_peak_below(row, spark), spark), ("", 3), look.quiet_list(row["presidents"], room)),
    ]


def _wide(row: dict[Any, Any], spark: int, width: int) -> list[Text]:
    """Entry in one line."""
    room = min(width, 180) - (spark + 3 + PEAK_WIDTH + 4 * len(look.GAP))
    for_presidents = room * 2 // 5
    told = look.topic_words(row["topic"], labelled(row["label"], row["words"]), room - for_presidents)
    return [
        look.row(
            (_blocks(row), spark),
            (_peak(row), PEAK_WIDTH),
            look.topic_number(row["topic"]),
            (told, room - for_presidents),
            look.quiet_list(row["presidents"], for_presidents),
        )
    ]


def _blocks(row: dict[Any, Any]) -> Text:
    from rich.text import Text

    return Text(look.sparkline(row["shares"]), style=look.topic_colour(row["topic"]))


def _peak(row: dict[Any, Any]) -> Text:
    """Decade of the peak, and the topic's share in it."""
    from rich.text import Text

    return Text(f"{row['peak']}s {look.percent(row['peak_share'])}", style="dim")


def _peak_below(row: dict[Any, Any], spark: int) -> Text:
    """Text of the peak, indented to stand under the highest block."""
    from rich.text import Text

    label = _peak(row)
    column = row["decades"].index(row["peak"])
    return Text(" " * max(0, min(column - 1, spark - len(label)))) + label


def closing(output: Path, frame: pd.DataFrame, interrupted: bool) -> Text:
    """Closing text: the path of the model, and a few commands to try with it."""
    from rich.text import Text

    president, file = frame["presidents"].iloc[0][0], shlex.quote(str(output))
    topoi = program()
    return Text.assemble(
        "\ninterrupted before the end; " if interrupted else "\n",
        f"saved {output}; ask it more:\n",
        (f"  {topoi} browse ", "bold"),
        f"{file}\n",
        (f"  {topoi} topics ", "bold"),
        f"{file}\n",
        (f"  {topoi} authors ", "bold"),
        f"{file} {shlex.quote(president)}\n",
        (f"  {topoi} label ", "bold"),
        f'{file} "the public debt and the price of gold"',
    )


def program() -> str:
    """The command that runs topoi from here: its name, or its path where the environment is not active."""
    beside = Path(sys.executable).with_name("topoi")
    if shutil.which("topoi") or not beside.exists():
        return "topoi"
    return shlex.quote(str(beside.relative_to(Path.cwd()) if beside.is_relative_to(Path.cwd()) else beside))
