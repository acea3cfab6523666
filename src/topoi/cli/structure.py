"""``topoi structure``: the graph of a pachinko model."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from topoi.cli import look
from topoi.cli.documents import document_line
from topoi.cli.options import GRAPH, AsCsv, AsJson, ModelFile, ModelName, open_view
from topoi.cli.output import check_one_format, plain_table, print_frame
from topoi.cli.saving import refuse_overwriting
from topoi.cli.topics import background_topics, labelled, labels_of, with_last, words_by_topic
from topoi.errors import ModelError

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console
    from rich.text import Text

    from topoi.store.graph_view import GraphView

_BAR_WIDTH = 6
_SPARK_WIDTH = 40


def structure(
    file: ModelFile,
    node: Annotated[
        str | None, typer.Option(metavar="NODE", help="Only this node: children, parents, documents, years.")
    ] = None,
    edges: Annotated[bool, typer.Option("--edges", help="Every edge of the graph, instead of super-topics.")] = False,
    n: Annotated[int, typer.Option("-n", "--n", metavar="N", min=1, help="Children (and documents) to show.")] = 5,
    n_words: Annotated[int, typer.Option(metavar="N", min=1, help="Words per topic and label.")] = 5,
    min_share: Annotated[
        float, typer.Option(metavar="X", min=0.0, max=1.0, help="Leave out edges with less of their parent's alpha.")
    ] = 0.0,
    prune: Annotated[
        float | None,
        typer.Option(metavar="X", min=0.0, max=1.0, help="Write the graph of the edges with at least this share."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Where --prune writes the graph, as JSON.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Let --prune replace an existing file.")] = False,
    name: ModelName = None,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """Show which topics go together: super-topics with their strongest sub-topics, or one node in detail."""
    check_one_format(as_json, as_csv)
    if sum((node is not None, edges, prune is not None)) > 1:
        raise typer.BadParameter("choose one of --node, --edges and --prune")
    if (prune is None) != (output is None):
        raise typer.BadParameter("--prune X and -o FILE go together")
    if force and prune is None:
        raise typer.BadParameter("--force goes with --prune")
    view: Any = open_view(file, name, GRAPH)
    if prune is not None and output is not None:
        write_pruned(view, prune, output, force)
    elif edges:
        frame = view.edges()
        frame = frame[frame["share"] >= min_share].reset_index(drop=True)
        print_frame(frame, as_json=as_json, as_csv=as_csv)
    elif node is not None:
        show_node(view, node, n, n_words, min_share, as_json, as_csv)
    else:
        show_super_topics(view, n, n_words, min_share, as_json, as_csv)


def write_pruned(view: GraphView, share: float, path: Path, force: bool) -> None:
    """Write a graph of the strong edges as JSON, which ``topoi fit`` can use."""
    refuse_overwriting(path, force)
    dag = view.pruned_dag(share)
    from topoi.analysis.structure import write_graph

    write_graph(path, dag)
    screen = look.console(stderr=True)
    n_edges = len(view.edges())
    screen.print(f"wrote {path}: {len(dag.edges):,} of {n_edges:,} edges", style="bold", soft_wrap=True)
    fit = f"topoi fit SOURCE --model pachinko --dag {shlex.quote(str(path))}"
    screen.print(f"\nnext: {fit}", soft_wrap=True)


def show_super_topics(view: GraphView, n: int, n_words: int, min_share: float, as_json: bool, as_csv: bool) -> None:
    """Print every super-topic with its label and share of all words, and its strongest children."""
    sizes = view.node_sizes().set_index("node")
    shares = sizes["share"].to_dict()
    if not len(view.super_nodes):
        raise ModelError("this graph has no super-topics, only topics below its root; see `topoi topics`, or --edges")
    names = sorted((view.dag_.nodes[v] for v in view.super_nodes), key=lambda each: -shares[each])
    frame = super_frame(view, names, n, n_words, min_share)
    for at, column in enumerate(("share", "lower", "upper"), 1):
        frame.insert(at, f"super_{column}", frame["super_topic"].map(sizes[column]))
    labels, telling = view.node_labels(), view.node_labels(n_words)
    own = labels_of(view)

    def render(rows: pd.DataFrame, screen: Console) -> None:
        largest = max(shares[each] for each in names) or 1.0
        width = max(len(look.printable(each)) for each in names)
        for each in names:
            ends = sizes.loc[each, "lower"], sizes.loc[each, "upper"]
            told = labelled(labels[each], telling[each].split(" "))
            screen.print(node_line(each, shares[each], ends, largest, told, width, screen.width))
            for row in rows[rows["super_topic"] == each].to_dict("records"):
                screen.print(child_line(row, own, screen.width))
        screen.print(look.interval_note())

    print_frame(frame, as_json=as_json, as_csv=as_csv, render=render)


def super_frame(view: GraphView, names: list[str], n: int, n_words: int, min_share: float) -> pd.DataFrame:
    """Frame of the strongest children of super-topics, as the browser lists them: the largest super-topic first.

    Background topics, which all super-topics have, come after the other children.
    """
    import pandas as pd

    frame = view.super_topics(view.n_topics + len(names), n_words)
    frame = with_last(frame[frame["share"] >= min_share], background_topics(view))
    place = {name: at for at, name in enumerate(names)}
    frame = frame.sort_values("super_topic", key=lambda column: column.map(place), kind="stable")
    frame = frame.groupby("super_topic", sort=False).head(n).reset_index(drop=True)
    frame["rank"] = frame.groupby("super_topic", sort=False).cumcount() + 1
    words = words_by_topic(view, n_words)
    pairs = zip(frame["topic"], frame["words"], strict=True)
    frame["words"] = [other if pd.isna(k) else " ".join(words.get(int(k), [other])) for k, other in pairs]
    return frame


def node_line(
    name: str, share: float, ends: tuple[float, float], largest: float, words: list[str], name_width: int, width: int
) -> Text:
    """Line of a super-topic: its name, its share of all words with the interval, its label."""
    from rich.text import Text

    room = width - name_width - 5 - look.INTERVAL_WIDTH - _BAR_WIDTH - 4 * len(look.GAP)
    return look.row(
        (Text(look.printable(name), style="bold"), name_width),
        (Text(look.percent(share).rjust(5), style="dim"), 5),
        (Text(look.interval(*ends), style="dim"), look.INTERVAL_WIDTH),
        (look.bar(share / largest, _BAR_WIDTH), _BAR_WIDTH),
        look.plain_words(words, room),
    )


def child_line(row: dict[Any, Any], own: dict[int, str], width: int) -> Text:
    """Indented line of a child: its topic if it has one, its share of the parent's alpha, its label and words."""
    import pandas as pd
    from rich.text import Text

    words = str(row["words"]).split(" ")
    if pd.notna(row["topic"]):
        topic = int(row["topic"])
        return look.share_line(topic, float(row["share"]), labelled(own[topic], words), width)
    return look.row(
        Text("       "),
        Text(f"{look.percent(float(row['share'])):>5}", style="dim"),
        (look.bar(float(row["share"]), 10), 10),
        look.plain_words([look.printable(row["child"]), *words], width - 28),
    )


def show_node(view: GraphView, node: str, n: int, n_words: int, min_share: float, as_json: bool, as_csv: bool) -> None:
    """Print one node: children, parents, documents and years."""
    from topoi.analysis.given import find_node

    number = find_node(view, node)
    frame = node_frame(view, number, n, n_words, min_share)
    _, name, _, topic, _, _, share, alpha_sum, _, _, _ = view.rows("node", node=number)[0]
    label = view.node_labels().get(name, "")
    ends = view.node_sizes().iloc[number - 1] if number else None

    def render(rows: pd.DataFrame, screen: Console) -> None:
        from rich.text import Text

        screen.print(look.row(Text(look.printable(name), style="bold"), Text(look.printable(label))))
        told = "" if ends is None else f" ({look.interval(ends['lower'], ends['upper'])})"
        facts = [f"{look.percent(share)} of all words{told}"]
        facts += [] if topic is None else [f"topic {topic}"]
        facts += [f"alpha sums to {alpha_sum:,.4g}"] if alpha_sum else []
        screen.print(Text(look.NAME_GAP.join(facts), style="dim"))
        for kind, heading in (("child", "children"), ("parent", "parents")):
            part = rows[rows["kind"] == kind]
            if len(part):
                screen.print(Text(f"\n{heading}", style="dim"))
                columns = ["rank", "name", "topic", "alpha", "share", "n_words", "words"]
                screen.print(plain_table(part[[c for c in columns if kind == "child" or c != "topic"]]))
        draw_documents(rows[rows["kind"] == "document"], screen)
        draw_years(rows[rows["kind"] == "year"], screen)

    print_frame(frame, as_json=as_json, as_csv=as_csv, render=render)


def draw_documents(rows: pd.DataFrame, screen: Console) -> None:
    """Print a line per document: its share of the node with the interval, year, title."""
    from rich.text import Text

    if len(rows):
        screen.print(Text("\ndocuments", style="dim"))
    for row in rows.rename(columns={"name": "title"}).to_dict("records"):
        ends = look.interval(row["lower"], row["upper"]).ljust(look.INTERVAL_WIDTH)
        start = Text(f"{look.percent(row['share']):>5}{look.GAP}{ends}{look.GAP}", style="dim")
        start += Text(look.bar(row["share"], 10))
        screen.print(document_line(start, row, screen.width))


def draw_years(rows: pd.DataFrame, screen: Console) -> None:
    """Print a sparkline of the node's share of each year's words."""
    from rich.text import Text

    from topoi.cli.trends import condense

    if not len(rows):
        return
    values = condense(rows["share"].tolist(), _SPARK_WIDTH)
    first, last = int(rows["year"].iloc[0]), int(rows["year"].iloc[-1])
    screen.print(Text("\nshare of each year's words", style="dim"))
    screen.print(Text(f"{first} {look.sparkline(values)} {last}"))


def node_frame(view: GraphView, node: int, n: int, n_words: int, min_share: float) -> pd.DataFrame:
    """Frame of all about a node: kind (child, parent, document, year), rank, name, id, topic, year, and numbers."""
    import pandas as pd

    import topoi

    labels = view.node_labels(n_words)
    topic = view.rows("node", node=node)[0][3]
    rows: list[dict[str, Any]] = []
    background, listed = background_topics(view), words_by_topic(view, n_words)
    children = sorted(view.rows("node_children", node=node, n=-1), key=lambda row: row[2] in background)
    for _, child, of, alpha, share, number, _ in [row for row in children if row[4] >= min_share][:n]:
        row = {"kind": "child", "name": topoi.WORDS if child is None else child, "topic": of, "alpha": alpha}
        words = labels.get(child, "") if of is None else " ".join(listed[of])
        rows.append(row | {"share": share, "n_words": number, "words": words})
    for _, parent, alpha, share, number, _ in view.rows("node_parents", node=node, n=n):
        row = {"kind": "parent", "name": parent, "alpha": alpha, "share": share, "n_words": number}
        rows.append(row | {"words": labels.get(parent, "")})
    if node:
        for found in topoi.node_documents(view, node, n).to_dict("records"):
            row = {"kind": "document", "name": found.get("title"), "id": found["id"], "year": found.get("year")}
            rows.append(row | {name: found[name] for name in ("share", "n_words", "lower", "upper")})
        is_inner = node in view.super_nodes
        years = view.rows("node_trend", node=node) if is_inner else view.rows("topic_trend", topic=topic)
        names = ("year", "n_words", "share", "lower", "upper")
        rows += [{"kind": "year"} | dict(zip(names, row, strict=True)) for row in years]
    columns = ["kind", "rank", "name", "id", "topic", "year", "alpha", "share", "lower", "upper", "n_words", "words"]
    frame = pd.DataFrame(rows, columns=columns)
    frame["rank"] = frame.groupby("kind", sort=False).cumcount() + 1
    return frame.astype({"topic": "Int64", "year": "Int64", "n_words": "Int64"})
