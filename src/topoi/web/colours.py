"""Colours of pages: hue and strength as class names, and the same colours in hex for standalone files.

The content security policy forbids inline styles, so a topic's hue is a class, ``h0`` to ``h359``, that sets one custom
property; everything else follows from it in ``style.css``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from topoi.analysis.colours import hex_from_oklch

STRENGTHS = 10


class Scheme(NamedTuple):
    """Backgrounds and text colours of one scheme, and its hues in OKLCH; the same numbers as in ``style.css``."""

    paper: str
    card: str
    ink: str
    quiet: str
    rule: str
    accent: str
    lightness: float  # of hues used for text and lines
    chroma: float
    tint_lightness: float  # of hues used as a background of text
    tint_chroma: float
    glue_chroma: float  # of background topics


LIGHT = Scheme("#fdfcf9", "#ffffff", "#1d1b18", "#6f6a61", "#e4dfd5", "#7a3b1d", 0.52, 0.13, 0.93, 0.055, 0.02)
DARK = Scheme("#171614", "#1e1d1a", "#ece7de", "#a19a8e", "#35322d", "#e2a17f", 0.78, 0.12, 0.32, 0.07, 0.02)


def hue_class(hue: float) -> str:
    """The class that sets a hue.

    Examples
    --------
    >>> hue_class(16), hue_class(359.7)
    ('h16', 'h0')
    """
    return f"h{round(hue) % 360}"


def strength_class(probability: float | None) -> str:
    """The class for the certainty of an assignment, in tenths.

    Examples
    --------
    >>> strength_class(0.87), strength_class(None)
    ('s9', 's0')
    """
    return f"s{round(STRENGTHS * min(1.0, max(0.0, probability or 0.0)))}"


def face_class(face: Mapping[str, Any]) -> str:
    """The classes of a topic: its hue, and whether it is a background topic.

    Examples
    --------
    >>> face_class({"hue": 16, "glue": True})
    'h16 glue'
    """
    return hue_class(face["hue"]) + (" glue" if face.get("glue") else "")


def alike(first: float, second: float) -> bool:
    """Whether two hues may be confused, with or without red-green blindness.

    A red-green blind person sees little of a hue but its position between blue and yellow, the sine of its angle.

    Examples
    --------
    >>> alike(20, 30), alike(30, 150), alike(90, 270)
    (True, True, False)
    """
    apart = abs((first - second + 180) % 360 - 180)
    return apart < 28 or abs(math.sin(math.radians(first)) - math.sin(math.radians(second))) < 0.3


def ink(hue: float, *, glue: bool = False, scheme: Scheme = LIGHT) -> str:
    """A hue for text and lines, in hex."""
    return hex_from_oklch(scheme.lightness, scheme.glue_chroma if glue else scheme.chroma, hue)


def tint(hue: float, *, glue: bool = False, scheme: Scheme = LIGHT) -> str:
    """A hue for the background of text, in hex."""
    return hex_from_oklch(scheme.tint_lightness, scheme.glue_chroma if glue else scheme.tint_chroma, hue)


def hue_sheet() -> str:
    """The style sheet ``hues.css``: one rule per hue and per strength."""
    hues = [f".h{hue}{{--h:{hue}}}" for hue in range(360)]
    strengths = [f".s{step}{{--s:{100 * step // STRENGTHS}%}}" for step in range(STRENGTHS + 1)]
    rows = [" ".join(rules[start : start + 8]) for rules in (hues, strengths) for start in range(0, len(rules), 8)]
    return "/* Written by topoi.web.colours.hue_sheet. */\n" + "\n".join(rows) + "\n"
