"""Plot of the graph of a pachinko model: super-topics, their sub-topics, and the strength of each edge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

from topoi.analysis.given import find_node, need_graph
from topoi.analysis.structure import (
    N_AROUND,
    N_SUB,
    N_SUPER,
    THICKEST,
    WORDS,
    Edge,
    Excerpt,
    Graph,
    around,
    strongest,
    thickness,
)
from topoi.drawing.layers import columns, layered, ports
from topoi.drawing.text import fit
from topoi.errors import ModelError
from topoi.models.contract import ModelLike
from topoi.models.validation import whole_number
from topoi.plots.figure import graph_objects, leading_words, quiet, rgb, topic_colours

if TYPE_CHECKING:
    import pandas as pd

_TEXT = 12
_ROW, _HIGH = 32.0, 20.0
_SIDE, _ROOT = 16.0, 38.0  # in pixels: margin, width of the root's box
_PAD = 4
_THICKEST_OF_ROOT = 2.0
_STEPS = 16  # points of a curve
_NEUTRAL = "128,128,128"
_NARROWEST = 320


class _Box(NamedTuple):
    """Drawing of a node: its name and more words, its hover text, its colour or None."""

    name: str
    more: str
    hover: str
    colour: str | None


def pachinko_graph(
    model: Any,
    n_super: int = N_SUPER,
    n_sub: int = N_SUB,
    min_share: float = 0.0,
    node: str | int | None = None,
    n_words: int = 5,
    width: int = 960,
) -> Any:
    """Plot the graph of a pachinko model from left to right: the root, super-topics, sub-topics with their words.

    The width of a line is proportional to alpha. Of a large graph, the super-topics with most words are shown, each
    with the sub-topics of largest alpha; shared sub-topics are drawn once. ``node`` shows one node in detail: its
    parents, and its children or a topic's words.

    Parameters
    ----------
    model : PachinkoAllocation or ModelView
        A fitted model; any graph.
    n_super : int
        Number of children of the root, by their number of words.
    n_sub : int
        Number of children of each further node, by alpha.
    min_share : float
        Leave out edges whose alpha is a smaller share of their parent's sum; a node's strongest edge stays.
    node : str or int, optional
        A node to show in detail, such as ``"super 3"``, or its number in ``model.dag_.nodes``.
    n_words : int
        Number of words that stand for a node; hovering shows more.
    width : int
        Width of the figure in pixels; texts are cut to fit.

    Returns
    -------
    plotly.graph_objects.Figure
        Exact numbers show on hover. For dark pages: ``figure.update_layout(template="plotly_dark")``.

    Examples
    --------
    >>> import topoi
    >>> corpus = topoi.Corpus.from_tokens([["sun", "star"], ["cell", "gene"]] * 10)
    >>> model = topoi.PachinkoAllocation(2, 3, n_iter=5, random_state=0).fit(corpus)
    >>> figure = topoi.plots.pachinko_graph(model, n_sub=2)
    >>> [box.text for box in figure.layout.annotations][:1]
    ['root']
    """
    need_graph(model)
    if not 0.0 <= min_share <= 1.0:
        raise ModelError(f"min_share is {min_share!r}; it must be between 0 and 1")
    for option, value in (("n_super", n_super), ("n_sub", n_sub), ("n_words", n_words)):
        whole_number(option, value)
    if whole_number("width", width) < _NARROWEST:
        raise ModelError(f"width is {width}; the figure needs at least {_NARROWEST} pixels")
    frame = model.edges()
    listed = (frame[name].tolist() for name in ("parent", "child", "alpha", "share", "n_words"))
    graph = Graph(Edge(*row) for row in zip(*listed, strict=True))
    if node is None:
        shown = strongest(graph, n_super, n_sub, min_share)
        n_drawn = sum(name in shown.level for name in graph.inner)
        title = f"{n_drawn} of {len(graph.inner)} super-topics, with their strongest topics; lines by alpha"
        if not graph.inner:
            title = "The root and the topics with most words"
        return _figure(model, graph, shown, frame, title, None, n_words, width)
    name = model.dag_.nodes[find_node(model, node)]
    shown = around(graph, name, N_AROUND, min_share)
    title = f"{name}: {_size(graph, model.node_sizes(), name)} of all words; lines by alpha"
    return _figure(model, graph, shown, frame, title, name, n_words, width)


def _figure(
    model: ModelLike,
    graph: Graph,
    shown: Excerpt,
    frame: object,
    title: str,
    node: str | None,
    n_words: int,
    width: int,
) -> Any:
    go = graph_objects()
    topic = _topics_of(frame)
    boxes = _boxes(model, graph, shown, topic, n_words)
    level = dict(shown.level)
    thick = thickness(shown.edges, graph.root, THICKEST, _THICKEST_OF_ROOT)
    words: list[Edge] = []
    if node is not None and node in topic and node not in graph.below:
        words = _words_of(model, node, topic[node], 2 * n_words)
        thick |= thickness(words, None, THICKEST, THICKEST)
        level |= {edge.child: level[node] + 1 for edge in words}
        boxes |= {edge.child: _word_box(edge) for edge in words}
    edges = [*shown.edges, *words]
    plan = layered(level, {(edge.parent, edge.child): edge.share for edge in edges})
    room = width - 2 * _SIDE
    gap = min(170.0, max(34.0, 0.15 * room))
    first = _ROOT if [name for name, at in level.items() if at == 0] == [graph.root] else None
    spans = columns(1 + max(level.values()), room, gap, first)
    beside = ports(plan.ways, thick, _HIGH + _PAD)
    figure = go.Figure()
    curves = {pair: _curve(spans, stops, beside[pair]) for pair, stops in plan.ways.items()}
    for pair, (x, y) in curves.items():
        line = {"width": thick[pair], "color": boxes[pair[1]].colour or boxes[pair[0]].colour or f"rgb({_NEUTRAL})"}
        figure.add_trace(go.Scatter(x=x, y=y, mode="lines", line=line, opacity=0.5, hoverinfo="skip"))
    _add_line_hovers(go, figure, curves, shown.edges)
    for key, box in boxes.items():
        _add_box(figure, spans[plan.place[key][0]], plan.place[key][1], box, key == node)
    size = 16 if width >= 600 else 13
    quiet(figure, escape(fit(title, size, width - 2 * _SIDE)), "", "")
    figure.update_layout(title_font_size=size)
    figure.update_xaxes(visible=False, range=[0, width - 2 * _SIDE], fixedrange=True)
    figure.update_yaxes(visible=False, range=[plan.size * _ROW + _ROW, -_ROW], fixedrange=True)
    height = (plan.size + 2) * _ROW + 60
    margin = {"l": _SIDE, "r": _SIDE, "t": 52, "b": 8}
    return figure.update_layout(width=width, height=height, margin=margin, showlegend=False, hovermode="closest")


def _words_of(model: Any, node: str, topic: int, n: int) -> list[Edge]:
    """Edges from a topic to its words, by their probabilities."""
    words = model.top_words(n, topic=topic)
    pairs = zip(words["word"], words["probability"], strict=True)
    return [Edge(node, ("word", str(word)), float(p), float(p), 0) for word, p in pairs]


def _word_box(edge: Edge) -> _Box:
    word = str(edge.child[1])  # type: ignore[index]
    return _Box(word, "", f"<b>{escape(word)}</b><br>P(word | {escape(str(edge.parent))}) = {edge.share:.4f}", None)


def _topics_of(frame: Any) -> dict[Any, int]:
    """Topic numbers of the nodes that draw words."""
    rows = zip(frame["parent"], frame["child"], frame["topic"], strict=True)
    known = frame["topic"].notna().tolist()
    return {p if c == WORDS else c: int(k) for (p, c, k), is_known in zip(rows, known, strict=True) if is_known}


def _boxes(model: Any, graph: Graph, shown: Excerpt, topic: Mapping[Any, int], n_words: int) -> dict[Any, _Box]:
    drawn = [topic[name] for name in shown.level if name in topic]
    words = leading_words(model, drawn, 2 * n_words)
    colours = topic_colours(model, drawn)
    labels, telling, sizes = model.node_labels(), model.node_labels(2 * n_words), model.node_sizes()
    boxes = {}
    for name in shown.level:
        if name == graph.root:
            boxes[name] = _Box(str(name), "", f"<b>{escape(str(name))}</b><br>{graph.n_words[name]:,} words", None)
            continue
        k = topic.get(name)
        listed = words[k] if k is not None else str(telling[name]).split()
        hover = f"<b>{escape(str(name))}</b>{'' if k is None else f' (topic {k})'}<br>" + _measures(graph, sizes, name)
        hover += f"<br>{escape(str(labels[name]))}<br>" + escape(", ".join(listed))
        called = str(labels[name]) if k is not None else f"{name} · {labels[name]}"
        boxes[name] = _Box(called, " ".join(listed[:n_words]), hover, None if k is None else colours[k])
    return boxes


def _size(graph: Graph, sizes: pd.DataFrame, name: object) -> str:
    """A node's share of all words, with its interval."""
    row = sizes[sizes["node"] == name]
    return f"{graph.share(name):.1%}" + "".join(
        f" ({100 * lower:.1f}–{upper:.1%})" for lower, upper in zip(row["lower"], row["upper"], strict=True)
    )


def _measures(graph: Graph, sizes: pd.DataFrame, name: object) -> str:
    text = f"{graph.n_words[name]:,} words, {_size(graph, sizes, name)} of all"
    if name in graph.own:
        edge = graph.own[name]
        text += f"<br>of which {edge.n_words:,} are drawn here (alpha {edge.alpha:.4g}, share {edge.share:.1%})"
    return text


def _curve(
    spans: Sequence[tuple[float, float]], stops: Sequence[tuple[int, float]], beside: tuple[float, float]
) -> tuple[list[float], list[float]]:
    """Points of the curve from the right side of the first box to the left side of the last."""
    x: list[float] = []
    y: list[float] = []
    rows = [_ROW * place for _, place in stops]
    rows[0], rows[-1] = rows[0] + beside[0], rows[-1] + beside[1]
    for i in range(len(stops) - 1):
        start, end = spans[stops[i][0]][1], spans[stops[i + 1][0]][0]
        for step in range(_STEPS + 1):
            t = step / _STEPS
            x.append(start + (end - start) * (1.5 * t * (1 - t) + t**3))
            y.append(rows[i] + (rows[i + 1] - rows[i]) * (3 * t * t - 2 * t**3))
    return x, y


def _add_line_hovers(go: Any, figure: Any, curves: Mapping[Any, Any], edges: Sequence[Edge]) -> None:
    """Add hover texts with an edge's numbers to its line: near the child's end, where lines are apart."""
    x, y, texts = [], [], []
    for edge in edges:
        line_x, line_y = curves[edge.parent, edge.child]
        text = (
            f"{escape(str(edge.parent))} → <b>{escape(str(edge.child))}</b><br>alpha {edge.alpha:.4g}"
            f"<br>{edge.share:.1%} of the parent’s<br>{edge.n_words:,} words"
        )
        for at in (len(line_x) // 2, len(line_x) - 5):
            x.append(line_x[at])
            y.append(line_y[at])
            texts.append(text)
    look = {"size": 12, "opacity": 0}
    figure.add_trace(
        go.Scatter(x=x, y=y, mode="markers", marker=look, hovertext=texts, hovertemplate="%{hovertext}<extra></extra>")
    )


def _add_box(figure: Any, span: tuple[float, float], along: float, box: _Box, is_chosen: bool) -> None:
    width = span[1] - span[0]
    text = fit(f"{box.name} {box.more}".strip(), _TEXT, width - 2 * _PAD - 2)
    first, rest = escape(text[: len(box.name)]), escape(text[len(box.name) :])
    strong = box.colour is not None
    tone = rgb(box.colour) if box.colour else _NEUTRAL
    figure.add_annotation(
        x=span[0],
        y=_ROW * along,
        xanchor="left",
        yanchor="middle",
        showarrow=False,
        text=f"<b>{first}</b>{rest}" if strong else first + rest,
        font={"size": _TEXT},
        align="left",
        width=width - 2 * _PAD - 2,
        height=_HIGH,
        borderpad=_PAD - 1,
        borderwidth=2 if is_chosen else 1,
        bordercolor=f"rgba({tone},0.8)",
        bgcolor=f"rgba({tone},{0.18 if strong else 0.07})",
        hovertext=box.hover,
        captureevents=True,
    )
