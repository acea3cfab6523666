"""``topoi demo``: two centuries of State of the Union addresses, their topics, presidents and decades."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from topoi.cli import look
from topoi.cli.fit import save
from topoi.cli.options import AsCsv, AsJson, available_cores, refuse_overwriting
from topoi.cli.output import check_one_format, print_frame
from topoi.cli.topics import authors_by_topic, words_by_topic
from topoi.cli.trends import share_table

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console
    from rich.text import Text

    from topoi.corpus.corpus import Corpus
    from topoi.models.author_topic.estimator import AuthorTopicModel

DATASET = "state-of-the-union"
N_TOPICS = 50
N_ITERATIONS = 300
N_SHOWN = 12
PEAK_WIDTH = len("1990s 9.9%")
WIDE = 116  # columns from which an entry fits on one line


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
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="No progress; only the result.")] = False,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """Fit the State of the Union addresses and show how their topics rise and fall."""
    check_one_format(as_json, as_csv)
    refuse_overwriting(output, force)
    import topoi

    status = look.console(stderr=True)
    status.quiet = quiet
    corpus = topoi.load_dataset(DATASET, unit="passage")
    status.print(opening(corpus, topics))
    model = topoi.AuthorTopicModel(
        n_topics=topics,
        n_iter=iterations,
        n_jobs=available_cores(),
        random_state=seed,
        progress=False if quiet else None,
    ).fit(corpus)
    save(model, output)
    frame = story(model, corpus)

    def render(rows: pd.DataFrame, screen: Console) -> None:
        draw_story(rows, topics, screen)

    print_frame(frame, as_json=as_json, as_csv=as_csv, render=render)
    status.print(closing(output, frame))
    if model.fit_info_.get("interrupted"):
        raise typer.Exit(130)


def opening(corpus: Corpus, n_topics: int) -> Text:
    """What is about to be fitted, in two lines."""
    from rich.text import Text

    years = corpus.documents["year"]
    size = f"{corpus.n_authors} presidents, {corpus.n_docs:,} passages, {corpus.n_tokens:,} words"
    return Text.assemble(
        ("\nState of the Union", "bold"),
        f"  {years.min()}–{years.max()}\n",
        (f"{size}, {n_topics} topics\n", "dim"),
    )


def story(model: AuthorTopicModel, corpus: Corpus) -> pd.DataFrame:
    """The topics that stand out most from their own average, in the order of their time.

    One row per topic: ``topic``, ``peak`` (the decade), ``peak_share``, ``words``, ``presidents``, ``decades`` and
    ``shares`` (lists of equal length).
    """
    import pandas as pd

    import topoi

    shares = share_table(topoi.topic_trends(model, corpus, by="decade"))
    shown = most_of_their_time(shares, N_SHOWN)
    words, presidents = words_by_topic(model, 12), authors_by_topic(model, 4)
    decades = [int(decade) for decade in shares.columns]
    rows = []
    for topic in _in_order_of_time(shares.loc[shown]):
        series = [float(share) for share in shares.loc[topic].to_numpy()]
        rows.append(
            {
                "topic": topic,
                "peak": decades[series.index(max(series))],
                "peak_share": max(series),
                "words": words[topic],
                "presidents": presidents[topic],
                "decades": decades,
                "shares": series,
            }
        )
    return pd.DataFrame(rows)


def most_of_their_time(shares: pd.DataFrame, n: int) -> list[int]:
    """The topics that stand out most in the decade of their peak, at most two for any decade.

    The measure is the topic's part of the divergence between its decade and the average decade, ``peak · log(peak /
    mean)``: large topics that are always there score low, and so do tiny ones that flicker.
    """
    import numpy as np

    peak, mean = shares.max(axis=1), shares.mean(axis=1)
    score = (peak * np.log(peak / mean)).sort_values(ascending=False)
    crowded: dict[object, int] = {}
    chosen: list[int] = []
    for topic in score.index:
        decade = shares.loc[topic].idxmax()
        crowded[decade] = crowded.get(decade, 0) + 1
        if crowded[decade] <= 2:
            chosen.append(int(topic))
    return chosen[:n]


def _in_order_of_time(shares: pd.DataFrame) -> list[int]:
    """Topics by their mean decade, so that history runs down the page; squared, so that the peak counts most."""
    import numpy as np

    weights = shares.to_numpy() ** 2
    centre = (weights @ np.arange(shares.shape[1])) / weights.sum(axis=1)
    return [int(topic) for topic in shares.index[np.argsort(centre, kind="stable")]]


def draw_story(frame: pd.DataFrame, n_topics: int, screen: Console) -> None:
    """A line of blocks per topic under a common axis of decades, with words and presidents beside it."""
    from rich.text import Text

    decades = frame["decades"].iloc[0]
    spark = len(decades)
    axis = look.axis(f"{decades[0]}s", f"{decades[-1]}s", spark)
    screen.print(Text(f"{axis}    topic, words, presidents", style="dim"))
    for row in frame.to_dict("records"):
        for line in _wide(row, spark, screen.width) if screen.width >= WIDE else _narrow(row, spark, screen.width):
            screen.print(line)
    screen.print(Text(f"\n{len(frame)} of {n_topics} topics, those that belong most to their time", style="dim"))


def _narrow(row: dict[Any, Any], spark: int, width: int) -> list[Text]:
    """Two lines: blocks and words, then the peak and the presidents in a quieter voice."""
    room = width - (spark + 3 + 2 * len(look.GAP))
    return [
        look.row(
            (_blocks(row), spark), look.topic_number(row["topic"]), look.topic_words(row["topic"], row["words"], room)
        ),
        look.row((_peak_below(row, spark), spark), ("", 3), look.quiet_list(row["presidents"], room)),
    ]


def _wide(row: dict[Any, Any], spark: int, width: int) -> list[Text]:
    """One line with everything."""
    room = min(width, 180) - (spark + 3 + PEAK_WIDTH + 4 * len(look.GAP))
    for_presidents = room * 2 // 5
    return [
        look.row(
            (_blocks(row), spark),
            (_peak(row), PEAK_WIDTH),
            look.topic_number(row["topic"]),
            (look.topic_words(row["topic"], row["words"], room - for_presidents), room - for_presidents),
            look.quiet_list(row["presidents"], for_presidents),
        )
    ]


def _blocks(row: dict[Any, Any]) -> Text:
    from rich.text import Text

    return Text(look.sparkline(row["shares"]), style=look.topic_colour(row["topic"]))


def _peak(row: dict[Any, Any]) -> Text:
    """The decade of the peak and its share."""
    from rich.text import Text

    return Text(f"{row['peak']}s {look.percent(row['peak_share'])}", style="dim")


def _peak_below(row: dict[Any, Any], spark: int) -> Text:
    """The same, moved so that it stands under the highest block."""
    from rich.text import Text

    label = _peak(row)
    column = row["decades"].index(row["peak"])
    return Text(" " * max(0, min(column - 1, spark - len(label)))) + label


def closing(output: Path, frame: pd.DataFrame) -> Text:
    """Where the model is, and two things to try with it."""
    from rich.text import Text

    president = frame["presidents"].iloc[0][0]
    return Text.assemble(
        f"\nsaved {output}; ask it more:\n",
        ("  topoi topics ", "bold"),
        f"{output}\n",
        ("  topoi authors ", "bold"),
        f"{output} {shlex.quote(president)}\n",
        ("  topoi label ", "bold"),
        f'{output} "the public debt and the price of gold"',
    )
