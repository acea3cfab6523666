"""Colours for screens: hues in OKLCH, where equal steps look equal, and WCAG contrast ratios."""

from __future__ import annotations

import math

GOLDEN_ANGLE = 137.50776405003785  # degrees; successive multiples stay well apart on the wheel


def topic_hue(topic: int) -> float:
    """Hue of a topic in degrees: a golden-angle step for each topic number.

    Examples
    --------
    >>> topic_hue(0), round(topic_hue(1), 1)
    (30.0, 167.5)
    """
    return (30 + topic * GOLDEN_ANGLE) % 360


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
