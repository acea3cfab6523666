"""Pages without the parts that make them large: a chart of two hundred years has thousands of elements, twice."""

from __future__ import annotations

import re

_NARROW = re.compile(r'<svg class="narrow".*?</svg>', re.DOTALL)
_RECT = r'<rect x="([-\d.]+)" y="([-\d.]+)" width="([\d.]+)" height="([\d.]+)" class="([\w -]+)"/>'
_RECTS = re.compile(
    r'(?:<rect x="[-\d.]+" y="[-\d.]+" width="[\d.]+" height="[\d.]+" class="(?P<kind>[\w -]+)"/>)'
    r'(?:<rect x="[-\d.]+" y="[-\d.]+" width="[\d.]+" height="[\d.]+" class="(?P=kind)"/>)+'
)
_PATHS = re.compile(r'<path d="[^"]*" class="(?P<kind>[\w -]+)"/>(?:<path d="[^"]*" class="(?P=kind)"/>)+')
_PATH = re.compile(r'<path d="([^"]*)"')
_BANDS = re.compile(r'<rect[^>]*class="band"[^>]*>(?:<title>[^<]*</title>)?(?:</rect>)?')
_MOST_BANDS = 60


def lean(html: str) -> str:
    """A page with charts in one size, neighbouring shapes of one class as one, and no tooltips for each of many years.

    Examples
    --------
    >>> from topoi.web.reader.lean import lean
    >>> one = '<rect x="1" y="2" width="3" height="4" class="fill"/>'
    >>> lean(f'<svg class="wide">{one}{one.replace("1", "5")}</svg><svg class="narrow">{one}</svg>')
    '<svg class="wide"><path d="M1 2h3v4h-3zM5 2h3v4h-3z" class="fill"/></svg>'
    """
    without = _NARROW.sub("", html) if '<svg class="wide"' in html else html
    if len(_BANDS.findall(without)) > _MOST_BANDS:
        without = _BANDS.sub("", without)
    return _PATHS.sub(_joined, _RECTS.sub(_as_path, without))


def _as_path(match: re.Match[str]) -> str:
    shapes = "".join(f"M{x} {y}h{w}v{h}h-{w}z" for x, y, w, h, _ in re.findall(_RECT, match[0]))
    return f'<path d="{shapes}" class="{match["kind"]}"/>'


def _joined(match: re.Match[str]) -> str:
    return f'<path d="{"".join(_PATH.findall(match[0]))}" class="{match["kind"]}"/>'
