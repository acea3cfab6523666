"""Plots of topic shares along time or any other feature, as a model with metadata predicts them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from importlib import import_module
from typing import Any, NamedTuple

import pandas as pd

from topoi.analysis.features import feature_columns, find_feature
from topoi.analysis.shares import share_curve
from topoi.drawing.colours import LIGHT
from topoi.models.contract import ModelLike
from topoi.models.features.columns import Number
from topoi.models.validation import choice
from topoi.plots.figure import band, graph_objects, quiet, topic_colour, topic_colours, topic_names, whiskers

_PER_ROW = 3
_GROUP_STEP = 7  # step of topic numbers whose colours mark groups, so that neighbouring groups differ


class _Line(NamedTuple):
    """Line of one topic of one group: its rows, its colour, its name, whether the legend lists it."""

    rows: pd.DataFrame
    colour: str
    name: str
    listed: bool


def topic_shares(
    model: ModelLike,
    along: str | None = None,
    given: object = None,
    topics: Sequence[int] | None = None,
    kind: str | None = None,
    values: Iterable[Any] | None = None,
    n: int = 60,
    level: float = 0.8,
    noise: bool = False,
) -> Any:
    """Plot topic shares along a feature: stacked areas of all topics, or lines of some with bands.

    Several authors (or other values in ``given``) get a panel each; lines of a single topic are overlaid. Along a
    category or names there are bars, with intervals instead of bands.

    Parameters
    ----------
    model : KernelTopicModel or DirichletMultinomialRegression
        A fitted model.
    along : str, optional
        A feature; the first number or date, or else the first feature, if not given.
    given : mapping, optional
        Values of other features, a panel or line for each row: ``{"authors": ["Grover Cleveland"]}``.
        Features that are not given have typical values, see ``topoi.share_curve``.
    topics : list of int, optional
        Numbers of the topics; all if not given.
    kind : {"stacked", "bands"}, optional
        Bands if topics are named, else stacked.
    values, n, level, noise
        As in ``topoi.share_curve``: values of the feature, number of points, probability of a band, and whether the
        band is that of a single new document.

    Returns
    -------
    plotly.graph_objects.Figure
        Displays itself in a notebook; save it with ``figure.write_html("shares.html")``.

    Examples
    --------
    >>> import topoi
    >>> words = [["war"] * 20 if year < 1950 else ["trade"] * 20 for year in range(1900, 2000)]
    >>> corpus = topoi.Corpus.from_tokens(words, dates=list(range(1900, 2000)))
    >>> model = topoi.KernelTopicModel(2, features=["year"], n_iter=40, n_warmup=20, random_state=0).fit(corpus)
    >>> len(topoi.plots.topic_shares(model, "year").data)  # two areas
    2
    >>> len(topoi.plots.topic_shares(model, "year", topics=[1]).data)  # a band and its line
    2
    """
    stacked = choice("kind", kind or ("stacked" if topics is None else "bands"), ("stacked", "bands")) == "stacked"
    go = graph_objects()
    frame = share_curve(model, along, given, topics, values, n, level, noise)
    feature = str(frame.columns[0])
    panels = _panels(model, frame, overlay=not stacked and frame["topic"].nunique() == 1)
    figure, places = _subplots(list(panels))
    is_number = isinstance(find_feature(feature_columns(model), feature), Number)
    for (row, column), lines in zip(places, panels.values(), strict=True):
        for line in lines:
            for trace in _traces(go, line, feature, stacked=stacked, is_number=is_number):
                figure.add_trace(trace, row=row, col=column)
    if not is_number:
        figure.update_layout(barmode="stack" if stacked else "group")
    quiet(figure, _title(feature, stacked, level, noise), feature, "share")
    figure.update_xaxes(title_text=feature, gridcolor=LIGHT.rule, zeroline=False)
    figure.update_yaxes(gridcolor=LIGHT.rule, zeroline=False, tickformat=".0%", rangemode="tozero")
    if stacked:
        figure.update_yaxes(range=[0, 1] if topics is None else None)
        figure.update_layout(legend_traceorder="reversed")
    if is_number and stacked:
        figure.update_layout(hovermode="x")
    if len(panels) > 1:
        figure.update_layout(margin_t=90, legend={"orientation": "h", "y": -0.3 / places[-1][0]})
    if max(row for row, _ in places) > 1:
        figure.update_layout(height=110 + 300 * max(row for row, _ in places))
    return figure


def _title(feature: str, stacked: bool, level: float, noise: bool) -> str:
    what = "a single new document" if noise else "the curve"
    return f"Topic shares by {feature}" + ("" if stacked else f", with {level:.0%} bands of {what}")


def _panels(model: ModelLike, frame: pd.DataFrame, *, overlay: bool) -> dict[str, list[_Line]]:
    """Lines of each panel, the largest topic first; one panel for each group, or one for all with ``overlay``."""
    order = frame.groupby("topic")["mean"].mean().sort_values(ascending=False, kind="stable").index.tolist()
    names, colours = topic_names(model, order), topic_colours(model, order)
    groups = list(dict.fromkeys(frame["given"]))
    if overlay and len(groups) > 1:
        rows = [frame[frame["given"] == name] for name in groups]
        return {
            names[order[0]]: [
                _Line(part, topic_colour(_GROUP_STEP * i), name, True)
                for i, (name, part) in enumerate(zip(groups, rows, strict=True))
            ]
        }
    return {
        name: [
            _Line(
                frame[(frame["given"] == name) & (frame["topic"] == k)],
                colours[k],
                names[k],
                name == groups[0],
            )
            for k in order
        ]
        for name in groups
    }


def _subplots(titles: list[str]) -> tuple[Any, list[tuple[int, int]]]:
    """Make a figure with a panel for each title; return it with the row and column of each panel."""
    make = import_module("plotly.subplots").make_subplots
    n_columns = min(len(titles), _PER_ROW)
    n_rows = -(-len(titles) // n_columns)
    shown = [escape(title) for title in titles] if len(titles) > 1 or titles[0] else None
    figure = make(rows=n_rows, cols=n_columns, shared_yaxes=True, subplot_titles=shown, vertical_spacing=0.25 / n_rows)
    return figure, [(1 + i // n_columns, 1 + i % n_columns) for i in range(len(titles))]


def _traces(go: Any, line: _Line, feature: str, *, stacked: bool, is_number: bool) -> list[Any]:
    rows = line.rows
    x, mean, lower, upper = (rows[name].tolist() for name in (feature, "mean", "lower", "upper"))
    ends = [list(pair) for pair in zip(lower, upper, strict=True)]
    template = "%{x}: %{y:.1%}" if stacked else "%{x}: %{y:.1%} (%{customdata[0]:.1%} to %{customdata[1]:.1%})"
    shared = {
        "x": x,
        "y": mean,
        "name": escape(line.name),
        "legendgroup": line.name,
        "showlegend": line.listed,
        "customdata": ends,
        "hovertemplate": template,
    }
    if not is_number:
        over = whiskers(mean, lower, upper)
        return [
            go.Bar(**shared, marker={"color": line.colour, "line": {"width": 0}}, error_y=None if stacked else over)
        ]
    if stacked:
        edge = {"width": 0.5, "color": "white"}
        return [go.Scatter(**shared, mode="lines", line=edge, stackgroup="shares", fillcolor=line.colour)]
    area = band(go, x, lower, upper, line.colour, line.name)
    return [area, go.Scatter(**shared, mode="lines", line={"color": line.colour, "width": 2})]
