"""Colours of topics, in notebooks, terminals and pages.

A saved model has evenly spaced hues, chosen once so that topics of the same documents differ (``wheel_hues``); before
that a topic's number gives its hue (``numbered_hue``). The content security policy of pages forbids inline styles, so
there a hue is a class, ``h0`` to ``h359``, that sets one custom property; everything else follows from it in
``style.css``. Files to download have the same colours in hex.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

GOLDEN_ANGLE = 137.50776405003785  # degrees; successive multiples stay well apart on the wheel
STRENGTHS = 10
_FIRST_HUE, _FIRST_HUE_OF_AUTHORS = 30, 210


def numbered_hue(topic: int) -> float:
    """Hue in degrees that a topic's number alone gives, for a model that is in no store: a golden-angle step for each.

    Examples
    --------
    >>> numbered_hue(0), round(numbered_hue(1), 1)
    (30.0, 167.5)
    """
    return (_FIRST_HUE + topic * GOLDEN_ANGLE) % 360


def author_hue(position: int) -> int:
    """Hue of an author within one text or picture, in golden-angle steps of its own.

    Examples
    --------
    >>> author_hue(0), author_hue(1)
    (210, 348)
    """
    return round(_FIRST_HUE_OF_AUTHORS + position * GOLDEN_ANGLE) % 360


def golden_places(n: int) -> NDArray[np.int64]:
    """Place of each of ``n`` topics on the wheel: the rank of its golden-angle hue.

    Examples
    --------
    >>> from topoi.drawing.colours import golden_places
    >>> golden_places(5).tolist()
    [0, 2, 4, 1, 3]
    """
    import numpy as np  # here, so that the command line need not wait for it

    angle = np.arange(n) * GOLDEN_ANGLE % 360.0
    places = np.empty(n, np.int64)
    places[np.argsort(angle, kind="stable")] = np.arange(n)
    return places


def wheel_hues(places: NDArray[Any]) -> NDArray[np.int64]:
    """The hues (0 to 359) of all places of a wheel, in the given order.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.drawing.colours import wheel_hues
    >>> wheel_hues(np.array([2, 0, 1])).tolist()
    [270, 30, 150]
    """
    n = max(len(places), 1)
    return (_FIRST_HUE + (360 * places.astype("int64") + n // 2) // n) % 360


def hex_from_oklch(lightness: float, chroma: float, hue: float) -> str:
    """Convert OKLCH to the nearest sRGB colour ``#rrggbb``, by Ottosson's OKLab matrices.

    Examples
    --------
    >>> hex_from_oklch(1.0, 0.0, 0.0), hex_from_oklch(0.64, 0.125, 30.0)
    ('#ffffff', '#cd6c5d')
    """
    a = chroma * math.cos(math.radians(hue))
    b = chroma * math.sin(math.radians(hue))
    long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
    medium = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3
    linear = (
        4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short,
        -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short,
        -0.0041960863 * long - 0.7034186147 * medium + 1.7076147010 * short,
    )
    return "#" + "".join(f"{round(255 * _gamma(value)):02x}" for value in linear)


def contrast(first: str, second: str) -> float:
    """WCAG contrast ratio of two ``#rrggbb`` colours: 1 for equal ones, 21 for black on white.

    Examples
    --------
    >>> contrast("#000000", "#ffffff")
    21.0
    """
    darker, lighter = sorted((_luminance(first), _luminance(second)))
    return (lighter + 0.05) / (darker + 0.05)


def _gamma(linear: float) -> float:
    clipped = min(1.0, max(0.0, linear))
    return 12.92 * clipped if clipped <= 0.0031308 else 1.055 * clipped ** (1 / 2.4) - 0.055


def _luminance(colour: str) -> float:
    red, green, blue = (_linear(int(colour[i : i + 2], 16) / 255) for i in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(value: float) -> float:
    return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4


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
    background_chroma: float  # of background topics


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


def topic_class(summary: Mapping[str, Any]) -> str:
    """The classes of a topic: its hue, and whether it is a background topic.

    Examples
    --------
    >>> topic_class({"hue": 16, "glue": True})
    'h16 glue'
    """
    return hue_class(summary["hue"]) + (" glue" if summary.get("glue") else "")


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


def ink(hue: float, *, is_background: bool = False, scheme: Scheme = LIGHT) -> str:
    """A hue for text and lines, in hex."""
    return hex_from_oklch(scheme.lightness, scheme.background_chroma if is_background else scheme.chroma, hue)


def tint(hue: float, *, is_background: bool = False, scheme: Scheme = LIGHT) -> str:
    """A hue for the background of text, in hex."""
    return hex_from_oklch(scheme.tint_lightness, scheme.background_chroma if is_background else scheme.tint_chroma, hue)


def hue_sheet() -> str:
    """The style sheet ``hues.css``: one rule per hue and per strength."""
    hues = [f".h{hue}{{--h:{hue}}}" for hue in range(360)]
    strengths = [f".s{step}{{--s:{100 * step // STRENGTHS}%}}" for step in range(STRENGTHS + 1)]
    rows = [" ".join(rules[start : start + 8]) for rules in (hues, strengths) for start in range(0, len(rules), 8)]
    return "/* Written by topoi.drawing.colours.hue_sheet. */\n" + "\n".join(rows) + "\n"
