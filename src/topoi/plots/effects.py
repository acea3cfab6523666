"""Plot of the effects of features on a topic: dots with whiskers, the strongest first."""

from __future__ import annotations

from html import escape
from typing import Any

from topoi.analysis.effects import topic_effects
from topoi.models.contract import ModelLike
from topoi.plots.figure import graph_objects, quiet, topic_colours, topic_names

_ROW = 22  # pixels


def effects(
    model: ModelLike, topic: int, feature: str | None = None, n: int = 20, level: float = 0.8, measure: str = "auto"
) -> Any:
    """Plot the values of features that raise or lower a topic most, as dots with bands.

    For a regression: its coefficients, with whiskers from their standard errors. For a kernel topic model: the
    difference of the topic's share from that of a typical document.

    Parameters
    ----------
    model : KernelTopicModel or DirichletMultinomialRegression
        A fitted model.
    topic : int
        The topic's number.
    feature : str, optional
        One feature; all if not given.
    n : int
        Number of values.
    level : float
        Each band holds this much probability.
    measure : {"auto", "coefficient", "share"}
        As in ``topoi.topic_effects``.

    Returns
    -------
    plotly.graph_objects.Figure
        The strongest effect is at the top.

    Examples
    --------
    >>> import topoi
    >>> corpus = topoi.Corpus.from_tokens([["sun"] * 9, ["gene"] * 9] * 10, metadata={"venue": ["A", "B"] * 10})
    >>> model = topoi.DirichletMultinomialRegression(2, features=["venue"], n_iter=60, random_state=0).fit(corpus)
    >>> sorted(topoi.plots.effects(model, 0).data[0].y)
    ['venue: A', 'venue: B']
    """
    go = graph_objects()
    frame = topic_effects(model, topic, feature, n, level, measure)
    is_share = frame.attrs["measure"] == "share"
    k = int(frame["topic"].iloc[0])
    colour = topic_colours(model, [k])[k]
    names = [escape(f"{name}: {value}") for name, value in zip(frame["feature"], frame["value"], strict=True)]
    spread = {"type": "data", "symmetric": False, "color": colour, "thickness": 1.6, "width": 0}
    spread |= {
        "array": (frame["upper"] - frame["effect"]).clip(lower=0.0).tolist(),
        "arrayminus": (frame["effect"] - frame["lower"]).clip(lower=0.0).tolist(),
    }
    form = "+.1%" if is_share else "+.2f"
    band = f"%{{customdata[0]:{form}}} to %{{customdata[1]:{form}}}"
    figure = go.Figure(
        go.Scatter(
            x=frame["effect"].tolist(),
            y=names,
            mode="markers",
            marker={"color": colour, "size": 8},
            error_x=spread,
            customdata=frame[["lower", "upper"]].to_numpy().tolist(),
            hovertemplate=f"%{{y}}: %{{x:{form}}} ({band})<extra></extra>",
        )
    )
    what = "difference of the share" if is_share else "coefficient: what is added to log alpha"
    quiet(figure, escape(f"What moves topic {topic_names(model, [k])[k]}"), f"{what}, with {level:.0%} bands", "")
    figure.update_xaxes(zeroline=True, zerolinecolor="#a19a8e", tickformat="+.0%" if is_share else None)
    figure.update_yaxes(autorange="reversed", automargin=True, type="category")
    return figure.update_layout(height=130 + _ROW * len(frame), showlegend=False)
