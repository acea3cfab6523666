"""Plot of the documents linked with one document, coloured by topic."""

from __future__ import annotations

from html import escape
from typing import Any

import pandas as pd

from topoi.analysis.links import link_neighbourhood
from topoi.drawing.text import fit
from topoi.models.contract import ModelLike
from topoi.plots.figure import graph_objects, leading_words, quiet, topic_colours, topic_names

_WORDS = 3
_ROW, _TEXT = 30, 12
_LEFT, _RIGHT = -1.0, 1.0
_LINE = "#c9c3b8"


def link_graph(model: ModelLike, document: int | str, feature: str | None = None, n: int = 12, width: int = 960) -> Any:
    """Plot the documents that link to a document (left) and that it links to (right), coloured by strongest topic.

    Parameters
    ----------
    model : KernelTopicModel or DirichletMultinomialRegression
        A fitted model with links among its features.
    document : int or str
        A training document's position or id.
    feature : str, optional
        Name of a feature of links; the first one if not given.
    n : int
        Number of documents on either side: those whose topics are most like the document's.
    width : int
        Width of the figure in pixels; titles are cut to fit.

    Returns
    -------
    plotly.graph_objects.Figure
        Titles and shares show on hover.

    Examples
    --------
    >>> import topoi
    >>> links = [["y"], [], ["y"], ["x"]]
    >>> corpus = topoi.Corpus.from_tokens([["a"]] * 4, ids=["x", "y", "z", "w"], metadata={"cites": links})
    >>> model = topoi.KernelTopicModel(2, features=["cites"], n_iter=3, n_warmup=2, random_state=0).fit(corpus)
    >>> topoi.plots.link_graph(model, "x").data[1].text  # it is between those that link to it and those it links to
    ('', 'w', 'y')
    """
    go = graph_objects()
    frame = link_neighbourhood(model, document, feature, n)
    x, y, n_rows = _places(frame)
    topics = sorted({int(k) for k in frame["topic"]})
    words, colours = leading_words(model, topics, _WORDS), topic_colours(model, topics)
    names = topic_names(model, topics)
    titles = [str(title) for title in (frame["title"] if "title" in frame else frame["id"])]
    room = width / 3 - 40
    ways: dict[str, list[float | None]] = {"x": [], "y": []}
    for i in range(1, len(frame)):
        ways["x"] += [x[0], x[i], None]
        ways["y"] += [y[0], y[i], None]
    figure = go.Figure(
        go.Scatter(**ways, mode="lines", line={"color": _LINE, "width": 1}, hoverinfo="skip", showlegend=False)
    )
    figure.add_trace(
        go.Scatter(
            x=x,
            y=y,
            mode="markers+text",
            text=["", *(escape(fit(title, _TEXT, room)) for title in titles[1:])],  # the first is in the figure's title
            textposition=["middle left" if at < 0 else "middle right" for at in x],
            textfont={"size": _TEXT},
            marker={
                "size": [18] + [12] * (len(frame) - 1),
                "color": [colours[int(k)] for k in frame["topic"]],
                "opacity": 1.0,
            },
            showlegend=False,
            customdata=[
                [escape(title), relation, k, share, escape(", ".join(words[int(k)]))]
                for title, relation, k, share in zip(
                    titles, frame["relation"], frame["topic"], frame["share"], strict=True
                )
            ],
            hovertemplate=(
                "<b>%{customdata[0]}</b> (%{customdata[1]})<br>"
                "topic %{customdata[2]}: %{customdata[3]:.0%}<br>%{customdata[4]}<extra></extra>"
            ),
        )
    )
    for k in topics:
        dot = {"color": colours[k], "size": 10}
        figure.add_trace(go.Scatter(x=[None], y=[None], mode="markers", marker=dot, name=escape(names[k])))
    left_out = frame.attrs["n_left_out"]
    more = f"; {left_out} more" if left_out else ""
    quiet(figure, escape(fit(f"Around {titles[0]}{more}", 16, width - 80)), "", "")
    figure.update_xaxes(visible=False, range=[2.4 * _LEFT, 2.4 * _RIGHT]).update_yaxes(visible=False)
    legend = {"orientation": "h", "yanchor": "top", "y": 0.0}
    height = 160 + _ROW * n_rows
    return figure.update_layout(width=width, height=height, showlegend=True, legend=legend, hovermode="closest")


def _places(frame: pd.DataFrame) -> tuple[list[float], list[float], int]:
    """Coordinates: the document in the middle, those that link to it on the left, the others on the right."""
    sides = [0.0 if r == "itself" else _LEFT if r == "links here" else _RIGHT for r in frame["relation"]]
    heights, seen = [0.0] * len(sides), dict.fromkeys((_LEFT, _RIGHT), 0)
    totals = {side: sides.count(side) for side in seen}
    for i, side in enumerate(sides):
        if side:
            heights[i] = (totals[side] - 1) / 2 - seen[side]
            seen[side] += 1
    return sides, heights, max(3, *totals.values())
