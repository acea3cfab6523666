"""Plot of the topics in which two groups of documents differ."""

from __future__ import annotations

from html import escape
from typing import Any

from topoi.analysis.groupings import REST
from topoi.analysis.groups import compare_groups
from topoi.corpus.corpus import Corpus
from topoi.errors import ModelError
from topoi.models.resampling import LEVEL
from topoi.models.validation import whole_number
from topoi.plots.figure import graph_objects, quiet, topic_colours, topic_names, whiskers

_ROW = 24  # pixels
_CLEAR = 0.05
_SHARES = ("share", "share_lower", "share_upper", "other_share", "other_share_lower", "other_share_upper")
_HOVER = ("lower", "upper", "q_value", *_SHARES)


def groups(
    model: Any,
    by: str,
    groups: Any = None,
    corpus: Corpus | None = None,
    units: str | None = None,
    n: int = 20,
    level: float = LEVEL,
) -> Any:
    """Plot the topics in which two groups of documents differ most, as dots with intervals.

    Parameters
    ----------
    model, by, groups, corpus, units, level
        As in ``topoi.compare_groups``; of several groups, name one or two.
    n : int
        Number of topics, those whose difference is largest.

    Returns
    -------
    plotly.graph_objects.Figure
        Filled dots are differences with a false-discovery rate of 5 % or less.

    Examples
    --------
    >>> import topoi
    >>> words = [["tax", "cost"], ["tax", "debt"], ["peace", "war"], ["war", "army"]] * 10
    >>> corpus = topoi.Corpus.from_tokens([row * 5 for row in words], metadata={"party": ["A", "A", "B", "B"] * 10})
    >>> model = topoi.LDA(2, alpha=0.1, n_iter=50, random_state=0).fit(corpus)
    >>> len(topoi.plots.groups(model, by="party").data[0].x)
    2
    """
    go = graph_objects()
    wanted = whole_number("n", n)
    frame = compare_groups(model, by, groups, corpus, units, level)
    if frame["group"].nunique() > 1:
        raise ModelError(f"{by!r} has {frame['group'].nunique()} values; name one, or two, as groups=")
    frame = frame.loc[frame["difference"].abs().nlargest(wanted).index.sort_values()]
    topics = frame["topic"].tolist()
    colours, called = topic_colours(model, topics), topic_names(model, topics)
    names = [escape(called[k]) for k in topics]
    ends = frame["difference"].tolist(), frame["lower"].tolist(), frame["upper"].tolist()
    clear = frame["q_value"] <= _CLEAR
    name, other = (str(frame[column].iloc[0]) for column in ("group", "other"))
    # Braces would be read as places for numbers.
    shown = [escape(each).replace("{", "&#123;").replace("}", "&#125;") for each in (name, other)]
    figure = go.Figure(
        go.Scatter(
            x=ends[0],
            y=names,
            mode="markers",
            marker={
                "size": 9,
                "color": [colours[k] if found else "white" for k, found in zip(topics, clear, strict=True)],
                "line": {"width": 1.6, "color": [colours[k] for k in topics]},
            },
            error_x=whiskers(*ends) | {"color": "#8a847a"},
            customdata=frame[[*_HOVER]].to_numpy(),
            hovertemplate="%{y}<br>difference %{x:+.2%} (%{customdata[0]:+.2%} to %{customdata[1]:+.2%}), "
            "q = %{customdata[2]:.2g}<br>"
            f"{shown[0]} %{{customdata[3]:.2%}} (%{{customdata[4]:.2%}} to %{{customdata[5]:.2%}})<br>"
            f"{shown[1]} %{{customdata[6]:.2%}} (%{{customdata[7]:.2%}} to %{{customdata[8]:.2%}})<extra></extra>",
        )
    )
    title = f"Topics of {name} beside {'those of all others' if other == REST else other}"
    quiet(figure, escape(title), f"difference of the share of words, with {level:.0%} intervals", "")
    figure.update_xaxes(zeroline=True, zerolinecolor="#a19a8e", tickformat="+.1%")
    figure.update_yaxes(autorange="reversed", automargin=True, type="category")
    return figure.update_layout(height=130 + _ROW * len(frame), showlegend=False)
