"""Texts and numbers in SVG drawings, shared by all pictures."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

ELLIPSIS = "…"

# Characters that XML 1.0 forbids, escaped or not: a name with a null byte must not break a chart.
_ILLEGAL = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class Picture(str):
    """An SVG picture as text: a notebook shows it, ``Path("graph.svg").write_text(picture)`` keeps it.

    Examples
    --------
    >>> Picture("<svg></svg>")._repr_svg_()
    '<svg></svg>'
    """

    __slots__ = ()

    def _repr_html_(self) -> str:
        return str(self)

    def _repr_svg_(self) -> str:
        return str(self)


def clean(text: object) -> str:
    """A text without the characters that XML forbids.

    Examples
    --------
    >>> clean("a" + chr(0) + "b")
    'ab'
    """
    return _ILLEGAL.sub("", str(text))


def number(value: float) -> str:
    """A coordinate to a tenth of a pixel, in as few characters as possible.

    Examples
    --------
    >>> number(12.04), number(3.0), number(-0.01)
    ('12', '3', '0')
    """
    text = f"{value:.1f}"
    return "0" if text == "-0.0" else text.removesuffix(".0")


def text_width(text: str, size: float) -> float:
    """Approximate width of a text in an unknown font."""
    return size * sum(map(_character_width, text))


@lru_cache(maxsize=4096)
def _character_width(character: str) -> float:
    if unicodedata.east_asian_width(character) in "WF":
        return 1.0
    if character in "mwMW":
        return 0.9
    return 0.7 if character.isupper() else 0.57


def fit(text: str, size: float, width: float) -> str:
    """A text, cut off with an ellipsis where it would exceed a width.

    Examples
    --------
    >>> fit("reinforcement", 12, 60)
    'reinfor…'
    """
    if text_width(text, size) <= width:
        return text
    room, kept = width / size - _character_width(ELLIPSIS), 0
    for character in text:
        room -= _character_width(character)
        if room < 0:
            break
        kept += 1
    return text[: max(kept, 1)] + ELLIPSIS


def spread(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Positions near the wanted ones, in the same order, at least ``gap`` apart and, if there is room, within bounds.

    Examples
    --------
    >>> spread([10, 11, 40], 12, 0, 100)
    [4.5, 16.5, 40.0]
    """
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    # Blocks of labels that touch move together, around the mean of their wanted positions.
    blocks: list[tuple[float, list[int]]] = []
    for i in order:
        blocks.append((wanted[i], [i]))
        while len(blocks) > 1 and _top(blocks[-1], gap) < _bottom(blocks[-2], gap) + gap:
            _, members = blocks.pop()
            _, earlier = blocks.pop()
            joined = earlier + members
            middle = sum(wanted[j] for j in joined) / len(joined)
            half = gap * (len(joined) - 1) / 2
            blocks.append((min(max(middle, low + half), max(high - half, low + half)), joined))
    places = [0.0] * len(wanted)
    for middle, members in blocks:
        for position, i in enumerate(members):
            places[i] = middle + gap * (position - (len(members) - 1) / 2)
    return places


def _top(block: tuple[float, list[int]], gap: float) -> float:
    return block[0] - gap * (len(block[1]) - 1) / 2


def _bottom(block: tuple[float, list[int]], gap: float) -> float:
    return block[0] + gap * (len(block[1]) - 1) / 2
