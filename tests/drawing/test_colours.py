"""Colours: readable in both schemes for every hue, and the same numbers in Python and in the style sheets."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest

from topoi.drawing import colours
from topoi.drawing.colours import DARK, LIGHT, Scheme, contrast, hex_from_oklch

STATIC = files("topoi.web") / "static"
STYLE = (STATIC / "style.css").read_text(encoding="utf-8")
ENOUGH = 4.5  # WCAG 2, AA, for text

SCHEMES = pytest.mark.parametrize("scheme", [LIGHT, DARK], ids=["light", "dark"])


@SCHEMES
@pytest.mark.parametrize("glue", [False, True])
def test_every_hue_is_readable_as_text(scheme: Scheme, glue: bool) -> None:
    for ground in (scheme.paper, scheme.card):
        assert (
            min(contrast(colours.ink(hue, is_background=glue, scheme=scheme), ground) for hue in range(360)) >= ENOUGH
        )


@SCHEMES
def test_text_is_readable_on_every_tint(scheme: Scheme) -> None:
    tints = [colours.tint(hue, is_background=glue, scheme=scheme) for hue in range(360) for glue in (False, True)]
    assert min(contrast(scheme.ink, tint) for tint in tints) >= ENOUGH
    assert (
        min(contrast(scheme.quiet, tint) for tint in tints) >= 3
    )  # numbers set after words, and larger than they look


@SCHEMES
def test_plain_text_is_readable(scheme: Scheme) -> None:
    for text in (scheme.ink, scheme.quiet, scheme.accent):
        assert min(contrast(text, ground) for ground in (scheme.paper, scheme.card)) >= ENOUGH
    assert contrast(scheme.paper, scheme.ink) >= ENOUGH  # tooltips and chosen switches are the other way round


def properties(css: str) -> dict[str, str]:
    return dict(re.findall(r"--([\w-]+):\s*([^;]+);", css))


@SCHEMES
def test_style_sheet_has_the_same_numbers(scheme: Scheme) -> None:
    light, dark = re.findall(r":root \{(.*?)\}", STYLE, re.DOTALL)[:2]
    found = properties(light) | (properties(dark) if scheme is DARK else {})
    names = ("paper", "card", "ink", "quiet", "rule", "accent")
    assert [found[name] for name in names] == [getattr(scheme, name) for name in names]
    numbers = [float(found[name]) for name in ("L", "C", "tint-L", "tint-C", "glue-C")]
    assert numbers == list(scheme[6:])


def test_hue_sheet_is_up_to_date() -> None:
    assert (STATIC / "hues.css").read_text(encoding="utf-8") == colours.hue_sheet()


def test_hue_sheet_has_every_class() -> None:
    sheet = colours.hue_sheet()
    assert all(f".h{hue}{{--h:{hue}}}" in sheet for hue in range(360))
    assert all(f".s{step}{{--s:{10 * step}%}}" in sheet for step in range(11))


@pytest.mark.parametrize("hue", [-0.4, 0, 359.6, 720.2])
def test_hue_class_is_always_one_of_the_sheet(hue: float) -> None:
    assert 0 <= int(colours.hue_class(hue)[1:]) < 360


@pytest.mark.parametrize("probability", [None, -1.0, 0.0, 0.5, 1.0, 2.0])
def test_strength_class_is_always_one_of_the_sheet(probability: float | None) -> None:
    assert 0 <= int(colours.strength_class(probability)[1:]) <= 10


def test_style_sheet_loads_nothing_from_elsewhere() -> None:
    assert all(name.startswith("fonts/") for name in re.findall(r'url\("?([^")]*)', STYLE))
    assert "@import" not in STYLE and "http" not in STYLE


def test_colours_outside_srgb_are_brought_inside() -> None:
    assert re.fullmatch("#[0-9a-f]{6}", hex_from_oklch(0.5, 0.4, 150))
