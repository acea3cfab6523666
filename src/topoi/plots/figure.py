"""Code shared by all figures: the lazy import of plotly, colours, and the layout."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.drawing.colours import LIGHT, hex_from_oklch, numbered_hue
from topoi.drawing.text import text_width
from topoi.drawing.timelines import dashes
from topoi.errors import ModelError
from topoi.models.contract import InStore, ModelLike
from topoi.models.labels.memory import BACKGROUND
from topoi.store.view import ModelView

_LIGHTNESS, _CHROMA = 0.6, 0.13
_BAND = 0.2  # opacity
_DASHES = ("solid", "dash", "dot", "dashdot")
NAME_SIZE = 11
PLANE = 560, 360  # pixels between the outermost points of a map, in a figure of plotly's usual size


def graph_objects() -> Any:
    """Import ``plotly.graph_objects``; a missing plotly is a ``ModelError`` that says how to install it."""
    try:
        return import_module("plotly.graph_objects")
    except ImportError:
        raise ModelError('figures need plotly; install it with: pip install "topoi[plots]"') from None


def topic_colour(topic: int) -> str:
    """Colour of a topic, derived from its number.

    Examples
    --------
    >>> from topoi.plots.figure import topic_colour
    >>> topic_colour(3) == topic_colour(3) != topic_colour(4)
    True
    """
    return hex_from_oklch(_LIGHTNESS, _CHROMA, numbered_hue(topic))


def topic_colours(model: ModelLike, topics: Sequence[int]) -> dict[int, str]:
    """The colours of some topics: those they wear in the browser if the model is in a store."""
    return {k: hex_from_oklch(_LIGHTNESS, _CHROMA, hue) for k, hue in _hues(model, topics).items()}


def topic_dashes(model: ModelLike, topics: Sequence[int]) -> dict[int, str]:
    """The dash patterns of some topics' lines: those of similar colours differ."""
    patterns = dashes(list(_hues(model, topics).values()))
    return {k: _DASHES[pattern] for k, pattern in zip(topics, patterns, strict=True)}


def _hues(model: ModelLike, topics: Sequence[int]) -> dict[int, float]:
    hues = model.topic_hues() if isinstance(model, InStore) else {}
    return {k: hues.get(k, numbered_hue(k)) for k in topics}


def rgb(colour: str) -> str:
    """The three numbers of a colour ``#rrggbb``, as plotly's ``rgba(…)`` wants them.

    Examples
    --------
    >>> from topoi.plots.figure import rgb
    >>> rgb("#ff8000")
    '255,128,0'
    """
    return ",".join(str(int(colour[i : i + 2], 16)) for i in (1, 3, 5))


def topic_names(model: Any, topics: Sequence[int]) -> dict[int, str]:
    """Number and label of each given topic; not escaped."""
    labels = topic_labels(model)
    return {k: f"{k}: {labels[k]}" for k in topics}


def topic_labels(model: Any) -> list[str]:
    """Labels of a model that has topics; not escaped."""
    return [str(label) for label in model.topic_labels()]


def are_background(model: Any) -> NDArray[np.bool_]:
    """Whether each topic is one of connecting words, which maps do not name."""
    if isinstance(model, ModelView):
        return model.background_flags()
    return np.array([label.startswith(BACKGROUND) for label in topic_labels(model)], bool)


def with_room(spots: NDArray[np.float64], names: Sequence[str], order: Sequence[int]) -> list[int]:
    """Numbers of the names that can be written around their spots without meeting others, the first in order first.

    Spots are in pixels. Empty names are left out.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.plots.figure import with_room
    >>> with_room(np.array([[0, 0], [20, 0], [20, 15]]), ["sun, star", "cell, gene", "tax"], [1, 0, 2])
    [1, 2]
    """
    chosen: list[int] = []
    for i in order:
        apart = np.abs(spots[chosen] - spots[i])
        wide = [(text_width(names[i], NAME_SIZE) + text_width(names[j], NAME_SIZE)) / 2 for j in chosen]
        if names[i] and not ((apart[:, 0] < wide) & (apart[:, 1] < 1.2 * NAME_SIZE)).any():
            chosen.append(i)
    return chosen


def leading_words(model: Any, topics: Sequence[int], n: int) -> dict[int, list[str]]:
    """First ``n`` words of each given topic."""
    return {k: [str(word) for word in model.top_words(n, topic=k)["word"]] for k in topics}


def band(go: Any, x: list[Any], lower: list[float], upper: list[float], colour: str, group: str) -> Any:
    """Trace of the area between two lines, in a pale colour; it belongs to a group of the legend."""
    return go.Scatter(
        x=x + x[::-1],
        y=upper + lower[::-1],
        mode="lines",
        line={"width": 0},
        fill="toself",
        fillcolor=f"rgba({rgb(colour)},{_BAND})",
        hoverinfo="skip",
        legendgroup=group,
        showlegend=False,
    )


def whiskers(middle: list[float], lower: list[float], upper: list[float]) -> dict[str, Any]:
    """Error bars between two ends, as plotly wants them."""
    above = [max(0.0, high - at) for high, at in zip(upper, middle, strict=True)]
    below = [max(0.0, at - low) for low, at in zip(lower, middle, strict=True)]
    return {"type": "data", "symmetric": False, "array": above, "arrayminus": below, "thickness": 1.2, "width": 3}


def quiet(figure: Any, title: str, x: str, y: str) -> Any:
    """Apply the common layout: white background, axis lines instead of boxes."""
    figure.update_layout(
        title={"text": title, "x": 0.02},
        template="plotly_white",
        font={"family": "system-ui, sans-serif", "size": 13},
        margin={"l": 60, "r": 30, "t": 60, "b": 50},
        hoverlabel={"namelength": -1},
        xaxis={"title": x, "gridcolor": LIGHT.rule, "zeroline": False},
        yaxis={"title": y, "gridcolor": LIGHT.rule, "zeroline": False},
    )
    return figure
