"""Building blocks of charts: elements with escaped text, scales, ticks, widths of words."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from markupsafe import Markup, escape

from topoi.drawing.text import clean, fit, number, text_width
from topoi.drawing.words import clip

WIDE, NARROW = 720.0, 360.0  # the two widths in which charts are drawn; pages show the one that fits


def element(name: str, *children: object, **attributes: object) -> Markup:
    """An element; ``class_`` and ``text_anchor`` become ``class`` and ``text-anchor``, None omits an attribute.

    Examples
    --------
    >>> element("text", "a < b", x=1.25, class_="axis")
    Markup('<text x="1.2" class="axis">a &lt; b</text>')
    """
    parts = [f"<{name}"]
    for key, value in attributes.items():
        if value is None:
            continue
        text = number(value) if isinstance(value, float) else clean(value)
        parts.append(f' {key.rstrip("_").replace("_", "-")}="{escape(text)}"')
    inside = "".join(child if isinstance(child, Markup) else escape(clean(child)) for child in children)
    return Markup("".join(parts) + (f">{inside}</{name}>" if inside else "/>"))


def path(points: Iterable[tuple[float, float] | None]) -> str:
    """Path data of a line through points; None starts a new line.

    Examples
    --------
    >>> path([(0, 1), (2, 3), None, (4, 5), (6, 7)])
    'M0 1 2 3M4 5 6 7'
    """
    parts: list[str] = []
    down = False
    for point in points:
        if point is None:
            down = False
            continue
        parts.append(f"{' ' if down else 'M'}{number(point[0])} {number(point[1])}")
        down = True
    return "".join(parts)


def picture(draw: Callable[[float], tuple[float, Markup]], label: str, *, role: str = "img", kind: str = "") -> Markup:
    """A chart for wide and for narrow screens, of which a page shows one.

    Parameters
    ----------
    draw : callable
        Function of a width that returns the height and the contents.
    label : str
        Text alternative in one sentence.
    role : str
        ``img``, or ``group`` for pictures that hold links.
    kind : str
        An additional class.
    """
    pictures = []
    for name, width in (("wide", WIDE), ("narrow", NARROW)):
        height, contents = draw(width)
        box = f"0 0 {number(width)} {number(height)}"
        pictures.append(element("svg", contents, class_=name, viewBox=box, role=role, aria_label=label))
    return Markup('<div class="{}">{}</div>').format(f"chart {kind}".strip(), Markup("").join(pictures))


def ticks(high: float, n: int = 4) -> list[float]:
    """Round numbers from zero up to at most ``high``, about ``n`` steps apart.

    Examples
    --------
    >>> [round(tick, 3) for tick in ticks(0.047)]
    [0.0, 0.01, 0.02, 0.03, 0.04]
    """
    if not high > 0 or not math.isfinite(high):
        return [0.0]
    unit = 10.0 ** math.floor(math.log10(high / n))
    step = min((unit * factor for factor in (1, 2, 2.5, 5, 10)), key=lambda size: abs(high / size - n))
    return [i * step for i in range(int(high / step + 1e-9) + 1)]


def year_ticks(first: int, last: int, room: int) -> list[int]:
    """Round years between first and last, at most ``room`` of them, always including both ends.

    Examples
    --------
    >>> year_ticks(1987, 1999, 6), year_ticks(1790, 2026, 6)
    ([1987, 1990, 1995, 1999], [1790, 1850, 1900, 1950, 2026])
    """
    span = last - first
    if span <= max(1, room - 1):
        return list(range(first, last + 1))
    step = next(step for step in _YEAR_STEPS if span / step <= max(1, room - 1))
    inner = [
        year for year in range(-(-first // step) * step, last, step) if min(year - first, last - year) >= 0.6 * step
    ]
    return [first, *inner, last]


def number_ticks(low: float, high: float, room: int) -> list[float]:
    """Round numbers from low to high, at most ``room`` of them.

    Examples
    --------
    >>> number_ticks(0.13, 0.92, 5), number_ticks(-3, 14, 4)
    ([0.2, 0.4, 0.6, 0.8], [0.0, 5.0, 10.0])
    """
    if not high > low:
        return [low]
    unit = 10.0 ** math.floor(math.log10((high - low) / max(1, room)))
    step = next(unit * factor for factor in (1, 2, 5, 10, 20) if (high - low) / (unit * factor) <= max(1, room))
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [float(f"{i * step:.12g}") for i in range(first, last + 1)]


_YEAR_STEPS = [factor * 10**power for power in range(19) for factor in (1, 2, 5)]


def topic_name(summary: Mapping[str, Any], length: int = 22) -> str:
    """Name of a topic in a chart: the label that a person gave it, or the automatic one.

    Examples
    --------
    >>> topic_name({"topic": 3, "label": None, "auto_label": "gold and silver", "words": ["gold", "silver"]})
    'gold and silver'
    >>> topic_name({"topic": 3, "label": None, "auto_label": "background: great, time", "words": [], "glue": True})
    'great, time'
    """
    # Charts draw background topics in grey: the word would take the room of those that tell them apart.
    own = summary["auto_label"].removeprefix("background: ") if summary.get("glue") else summary["auto_label"]
    return clip(summary.get("label") or own, length)


def map_name(summary: Mapping[str, Any], length: int = 20) -> str:
    """Name of a topic on a map: of a list that is too long, the first word.

    Examples
    --------
    >>> map_name({"label": None, "auto_label": "District, construction"}), map_name({"label": "Gold", "auto_label": ""})
    ('District', 'Gold')
    """
    name = topic_name(summary, length)
    first = topic_name(summary, 1000).partition(",")[0]
    return first if name.endswith("…") and len(first) <= length else name


def name_within(summary: Mapping[str, Any], size: float, width: float) -> str:
    """Name of a topic that fits a width: of a list that does not, the first word rather than a piece of the next.

    Examples
    --------
    >>> topic = {"label": None, "auto_label": "America, challenge"}
    >>> name_within(topic, 12, 200), name_within(topic, 12, 80), name_within(topic, 12, 40)
    ('America, challenge', 'America', 'Amer…')
    """
    name = topic_name(summary)
    if text_width(name, size) <= width:
        return name
    first = name.partition(",")[0]
    return first if text_width(first, size) <= width else fit(name, size, width)


def other_words(summary: Mapping[str, Any]) -> list[str]:
    """Words of a topic or node to show beside its name: those that an automatic label does not have already.

    Examples
    --------
    >>> other_words({"label": None, "auto_label": "Gold coins", "words": ["gold", "silver"]})
    ['silver']
    """
    said = set() if summary["label"] else {word.strip(",:") for word in summary["auto_label"].casefold().split()}
    return [str(word) for word in summary["words"] if str(word).casefold() not in said]


def node_name(node: Mapping[str, Any], length: int = 60) -> str:
    """Name of a node of a graph in a chart: its label, or its topic's name, or its number and automatic label.

    Examples
    --------
    >>> node_name({"name": "super 3", "label": None, "auto_label": "gold + war", "topic": None, "n_children": 2})
    'super 3, gold + war'
    """
    if node["label"]:
        return clip(node["label"], length)
    if node["topic"] and not node["n_children"]:
        return f"{topic_name(node['topic'], length)} (topic {node['topic']['topic']})"
    return clip(", ".join([node["name"], node["auto_label"]]), length)
