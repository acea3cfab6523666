"""Plots of evaluations: models side by side, and scores of numbers of topics."""

from __future__ import annotations

from html import escape
from importlib import import_module
from typing import Any

import numpy as np
import pandas as pd

from topoi.drawing.colours import LIGHT
from topoi.errors import ModelError
from topoi.evaluation.comparison import WORSE
from topoi.evaluation.paired import CLEAR
from topoi.evaluation.topic_search import TopicSearch
from topoi.plots.figure import graph_objects, quiet, topic_colour

# Column, title, column of the error, what to say of a value on hover.
_PANELS = (
    ("difference", "log likelihood per word,<br>against the best", "difference_error", ".4f"),
    ("completion_perplexity", "perplexity of<br>completion", "", ",.1f"),
    ("npmi", "coherence<br>(NPMI)", "", ".3f"),
    ("c_v", "coherence<br>(C_V)", "", ".3f"),
    ("exclusivity", "exclusivity", "", ".3f"),
    ("diversity", "diversity", "", ".3f"),
    ("stability", "stability", "", ".3f"),
    ("seconds", "seconds", "", ",.2f"),
)
_HUE, _GREY = 3, "#9a9a9a"
_ROW_HEIGHT, _LEAST_HEIGHT = 34, 220


def comparison(frame: pd.DataFrame) -> Any:
    """Plot a comparison of models: a row per model, a panel per measure.

    The first panel has the paired difference to the best model's held-out log likelihood per word with two standard
    errors over documents: a bar that reaches zero is no clear difference. Panels without any number are left out.

    Parameters
    ----------
    frame : DataFrame
        What ``topoi.evaluation.compare`` returned, or some of its rows.

    Returns
    -------
    plotly.graph_objects.Figure
        Displays itself in a notebook; save it with ``figure.write_html("comparison.html")``.

    Examples
    --------
    >>> import topoi
    >>> corpus = topoi.Corpus.from_tokens([["sun", "star", "sky"], ["cell", "gene", "dna"]] * 20)
    >>> train, test = corpus.split(test_size=10, random_state=0)
    >>> models = {k: topoi.LDA(k, alpha=0.1, n_iter=20, random_state=0) for k in (1, 2)}
    >>> figure = topoi.plots.comparison(topoi.evaluation.compare(models, train, test))
    >>> figure.data[0].y
    ('2', '1')
    """
    go = graph_objects()
    if not isinstance(frame, pd.DataFrame) or not {"name", "difference", "verdict"} <= set(frame.columns):
        raise ModelError("pass the frame that topoi.evaluation.compare returned")
    panels = [panel for panel in _PANELS if panel[0] in frame and frame[panel[0]].notna().any()]
    if frame.empty or not panels:
        raise ModelError("the frame has no numbers to draw")
    titles = [title for _, title, _, _ in panels]
    make = import_module("plotly.subplots").make_subplots
    widths = [2.0 if error else 1.0 for _, _, error, _ in panels]
    figure = make(rows=1, cols=len(panels), shared_yaxes=True, subplot_titles=titles, column_widths=widths)
    colours = [_colour(verdict) for verdict in frame["verdict"]]
    for column, (name, _, error, form) in enumerate(panels, start=1):
        figure.add_trace(_points(go, frame, name, error, form, colours), row=1, col=column)
    quiet(figure, "", "", "")
    figure.update_xaxes(gridcolor=LIGHT.rule, zeroline=False, nticks=3, tickangle=0, title_text="")
    figure.update_annotations(font_size=12)
    figure.update_yaxes(gridcolor=LIGHT.rule, autorange="reversed", title_text="", type="category")
    figure.update_layout(showlegend=False, height=max(_LEAST_HEIGHT, 130 + _ROW_HEIGHT * len(frame)), margin_t=70)
    if panels[0][2]:
        figure.add_vline(x=0, line={"width": 1, "color": LIGHT.rule}, row=1, col=1)
    return figure


def _colour(verdict: str) -> str:
    return _GREY if verdict == WORSE else topic_colour(_HUE)


def _points(go: Any, frame: pd.DataFrame, name: str, error: str, form: str, colours: list[str]) -> Any:
    """Dots of one measure, with two standard errors where there are any."""
    shown = [escape(str(each)) for each in frame["name"]]
    value = f"%{{x:{form}}}" + (" ± %{customdata[0]:.4f}, %{customdata[1]}" if error else "")
    errors = frame[error] if error else pd.Series(np.nan, frame.index)
    bars = {
        "type": "data",
        "array": (CLEAR * errors).fillna(0.0).tolist(),
        "thickness": 1.2,
        "width": 4,
        "color": _GREY,
    }
    return go.Scatter(
        x=frame[name].tolist(),
        y=shown,
        mode="markers",
        marker={"color": colours, "size": 9},
        error_x=bars if error else None,
        customdata=list(zip(errors, frame["verdict"], strict=True)),
        hovertemplate=f"%{{y}}: {value}<extra></extra>",
    )


def topic_numbers(search: TopicSearch) -> Any:
    """Plot a search for a number of topics: held-out log likelihood per word with paired errors, the chosen one marked.

    Parameters
    ----------
    search : TopicSearch
        What ``topoi.evaluation.search_topics`` returned.

    Returns
    -------
    plotly.graph_objects.Figure
        Displays itself in a notebook. Bars are one standard error of the difference to the best.

    Examples
    --------
    >>> import topoi
    >>> corpus = topoi.Corpus.from_tokens([["sun", "star", "sky"] * 4, ["cell", "gene", "dna"] * 4] * 15)
    >>> found = topoi.evaluation.search_topics(corpus, [1, 2], topoi.LDA(1, alpha=0.1, n_iter=20), folds=2)
    >>> topoi.plots.topic_numbers(found).data[0].x
    (1, 2)
    """
    go = graph_objects()
    if not isinstance(search, TopicSearch):
        raise ModelError("pass what topoi.evaluation.search_topics returned")
    frame = search.frame
    line = go.Scatter(
        x=frame["n_topics"].tolist(),
        y=frame["log_likelihood"].tolist(),
        mode="lines+markers",
        line={"color": _GREY, "width": 1.5},
        marker={"color": [topic_colour(_HUE) if chosen else _GREY for chosen in frame["chosen"]], "size": 10},
        error_y={"type": "data", "array": frame["difference_error"].fillna(0.0).tolist(), "thickness": 1.2, "width": 4},
        customdata=frame[["perplexity", "difference"]].to_numpy(),
        hovertemplate="%{x} topics: perplexity %{customdata[0]:,.1f}, %{customdata[1]:.4f} to the best<extra></extra>",
    )
    figure = quiet(go.Figure(line), escape(search.recommendation), "topics", "held-out log likelihood per word")
    figure.update_xaxes(type="log", tickvals=frame["n_topics"].tolist())
    return figure
