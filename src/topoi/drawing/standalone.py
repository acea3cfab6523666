"""A chart of a page as a standalone file: plain colours instead of classes, a background, a title, no links."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Mapping

from topoi.drawing.colours import LIGHT, ink, tint
from topoi.drawing.text import clean, number

SANS = "'Noto Sans', 'Segoe UI', 'Helvetica Neue', Arial, 'Liberation Sans', sans-serif"
_NAMESPACE = "http://www.w3.org/2000/svg"
_MARGIN, _HEAD = 20.0, 34.0
_SHADE_STEPS = 8


def standalone_svg(markup: str, title: str) -> str:
    """A standalone picture, in the light colours.

    Parameters
    ----------
    markup : str
        Result of a function of ``charts``; the wide one of its two widths is used.
    title : str
        Written above the picture.
    """
    found = ET.fromstring(str(markup))
    chart = found if found.tag == "svg" else found.find("svg")
    if chart is None:
        raise ValueError("there is no chart in the markup")
    width, height = (float(value) for value in chart.attrib["viewBox"].split()[2:])
    full_width, full_height = width + 2 * _MARGIN, height + _HEAD + 2 * _MARGIN
    root = ET.Element(
        "svg",
        {
            "xmlns": _NAMESPACE,
            "width": number(full_width),
            "height": number(full_height),
            "viewBox": f"0 0 {number(full_width)} {number(full_height)}",
            "font-family": SANS,
            "role": "img",
        },
    )
    ET.SubElement(root, "title").text = clean(title)
    ET.SubElement(root, "desc").text = chart.get("aria-label", "")
    ET.SubElement(root, "rect", {"width": "100%", "height": "100%", "fill": LIGHT.paper})
    heading = ET.SubElement(
        root, "text", {"x": number(_MARGIN), "y": "34", "font-size": "16", "font-weight": "600", "fill": LIGHT.ink}
    )
    heading.text = clean(title)
    field = ET.SubElement(root, "g", {"transform": f"translate({number(_MARGIN)} {number(_HEAD + _MARGIN)})"})
    for child in chart:
        field.append(_plain(child, None, False))
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _plain(old: ET.Element, hue: float | None, is_background: bool) -> ET.Element:
    """A copy with colours instead of classes; the hue is inherited from the nearest ancestor that has one."""
    classes = old.get("class", "").split()
    for name in classes:
        if name[0] == "h" and name[1:].isdigit():
            hue, is_background = float(name[1:]), "glue" in classes
    kept = {key: value for key, value in old.attrib.items() if key not in ("class", "href", "tabindex")}
    new = ET.Element("g" if old.tag == "a" else old.tag, {**kept, **_look(old.tag, classes, hue, is_background)})
    new.text, new.tail = old.text, old.tail
    new.extend(_plain(child, hue, is_background) for child in old)
    return new


def _look(tag: str, classes: list[str], around: float | None, is_background: bool) -> Mapping[str, str]:
    """The presentation attributes that ``style.css`` gives to an element of these classes."""
    hue = 0.0 if around is None else around
    colour = ink(hue, is_background=is_background)
    for name in classes:
        if name in _FIXED:
            return _FIXED[name]
        if name.startswith("shade"):
            return {"fill": LIGHT.accent, "fill-opacity": f"{1 - (int(name[5:]) - 1) / _SHADE_STEPS:.2f}"}
        if name == "run":
            return {"fill": "none", "stroke": LIGHT.accent, "stroke-width": "1.5"}
    if "way" in classes:
        plain = {"stroke": LIGHT.quiet, "stroke-opacity": "0.35"}
        return {"fill": "none", **(plain if "plain" in classes else {"stroke": colour, "stroke-opacity": "0.45"})}
    if "box" in classes:
        if around is None:
            return {"fill": LIGHT.card, "stroke": LIGHT.quiet, "stroke-opacity": "0.55"}
        return {"fill": tint(hue, is_background=is_background), "stroke": colour, "stroke-opacity": "0.55"}
    if "area" in classes:
        return {"fill": colour, "stroke": LIGHT.paper, "stroke-width": "0.7"}
    if "spread" in classes:
        return {"fill": colour, "fill-opacity": "0.16"}
    if "point" in classes:
        return {"fill": colour, "fill-opacity": "0.4"}
    if "ring" in classes:
        return {"fill": LIGHT.paper, "stroke": colour, "stroke-width": "1.6"}
    if "fine" in classes:
        return {"fill": "none", "stroke": colour, "stroke-opacity": "0.4", "stroke-width": "1"}
    if "thin" in classes:
        return {"fill": "none", "stroke": LIGHT.ink, "stroke-opacity": "0.55", "stroke-width": "1"}
    if "whisker" in classes:
        return {"fill": "none", "stroke": colour, "stroke-width": "1.6"}
    if "unsure" in classes:
        if "line" in classes:
            return {"fill": "none", "stroke": colour, "stroke-opacity": "0.4", "stroke-width": "1.2"}
        return {"fill": colour, "fill-opacity": "0.12", "stroke": colour, "stroke-opacity": "0.6"}
    if "fill" in classes:
        return {"fill": colour, **({"fill-opacity": "0.7"} if "soft" in classes else {})}
    if "pale" in classes:
        return {"fill": tint(hue, is_background=is_background)}
    if "disc" in classes:
        return {"fill": colour, "fill-opacity": "0.3", "stroke": colour}
    if "line" in classes:
        dashes = next((_DASHES[name] for name in classes if name in _DASHES), {})
        return {"fill": "none", "stroke": colour, "stroke-width": "1.8", "stroke-linejoin": "round", **dashes}
    if "faint" in classes:
        return {"fill": "none", "stroke": colour, "stroke-opacity": "0.28", "stroke-width": "0.8"}
    if "lead" in classes:
        return {"fill": "none", "stroke": colour, "stroke-opacity": "0.5"}
    if "name" in classes:
        size = "15" if "big" in classes else "11" if "small" in classes else "12"
        return {"fill": colour, "font-size": size, "font-weight": "600"}
    if "peak" in classes:
        return {"fill": colour, "font-size": "11", "font-weight": "600"}
    return {}


_DASHES = {
    "dash1": {"stroke-dasharray": "7 4"},
    "dash2": {"stroke-dasharray": "2 3"},
    "dash3": {"stroke-dasharray": "9 3 2 3"},
}

_FIXED: Mapping[str, Mapping[str, str]] = {
    "axis": {"fill": LIGHT.quiet, "font-size": "11"},
    "grid": {"fill": "none", "stroke": LIGHT.rule},
    "base": {"fill": "none", "stroke": LIGHT.quiet, "stroke-opacity": "0.6"},
    "other": {"fill": LIGHT.rule},
    "panel": {"fill": LIGHT.ink, "font-size": "13", "font-weight": "600"},
    "within": {"fill": LIGHT.paper, "font-size": "12", "font-weight": "600"},
    "row-name": {"fill": LIGHT.ink, "font-size": "12"},
    "run-end": {"fill": LIGHT.quiet, "font-size": "11"},
    "field": {"fill": LIGHT.card, "stroke": LIGHT.rule},
    "band": {"fill": LIGHT.paper, "fill-opacity": "0"},
    "dot": {"fill": LIGHT.quiet, "fill-opacity": "0.6"},
    "first": {"fill": LIGHT.ink, "font-size": "12.5", "font-weight": "600"},
    "rest": {"fill": LIGHT.quiet, "font-size": "12.5"},
    "all": {"fill": LIGHT.ink, "font-size": "12.5"},
    "sub": {"font-size": "9", "font-weight": "400", "fill": LIGHT.quiet},
}
