"""A small line chart and a picture of a matrix as SVG text: enough for the studies, and readable in light and dark."""

from __future__ import annotations

import base64
import io
import math
from collections.abc import Callable, Collection, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

# Of lines and of the names beside them, at least 4.5:1 on the manual's light and dark ground.
COLOURS = ("#2f66b0", "#b5452e", "#2a7a48", "#7d50a6", "#80622f", "#1f7a87", "#a83a70", "#5d6470")
_DARK = ("#7fabe8", "#ec8c76", "#74c794", "#bd9ae0", "#cfb07a", "#6cc3d0", "#e58ab8", "#a9b0bc")
# Points of a line that each have their x written below; of longer lines round numbers are.
_MOST_TICKS = 12
_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 720, 400, 64, 150, 24, 48


def line_chart(
    series: Mapping[str, Sequence[tuple[float, float]]],
    x_title: str,
    y_title: str,
    log_x: bool = False,
    *,
    x_scale: Callable[[float], float] | None = None,
    log_y: bool = False,
    dashed: Collection[str] = (),
    alike: Mapping[str, str] | None = None,
    marks: Mapping[str, float] | None = None,
) -> str:
    """Lines with direct labels at their ends; ``log_x`` spaces x by log2(1 + x), ``x_scale`` by any other rule.

    ``log_y`` has a line for each power of ten; the names in ``dashed`` are drawn so; a line in ``alike`` has the colour of the one it names.
    ``marks`` are upright dotted lines at their x, named inside the picture, in the colour of the line that ``alike`` has for them.
    """
    alike, marks = alike or {}, marks or {}
    own = {name: i % len(COLOURS) for i, name in enumerate(name for name in series if name not in alike)}
    hue = {name: own[alike.get(name, name)] for name in series}

    def along(x: float) -> float:
        if x_scale is not None:
            return x_scale(x)
        return math.log2(1 + x) if log_x else x

    def up(y: float) -> float:
        return math.log10(y) if log_y else y

    right = max(_RIGHT, 16 + round(7.2 * max(map(len, series))))
    points = [(along(x), up(y)) for line in series.values() for x, y in line]
    low_x, high_x = min(x for x, _ in points), max(x for x, _ in points)
    step = 1.0 if log_y else _nice_step(min(y for _, y in points), max(y for _, y in points))
    low_y = math.floor(min(y for _, y in points) / step) * step
    high_y = math.ceil(max(y for _, y in points) / step) * step
    decimals = max(0, -math.floor(math.log10(step)))

    def place(x: float, y: float) -> tuple[float, float]:
        px = _LEFT + (along(x) - low_x) / (high_x - low_x) * (_WIDTH - _LEFT - right)
        return px, _TOP + (high_y - up(y)) / (high_y - low_y) * (_HEIGHT - _TOP - _BOTTOM)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" font-family="system-ui, sans-serif" '
        f'font-size="13">{style()}'
    ]
    first_x, first_y = next(iter(series.values()))[0]
    for i in range(round((high_y - low_y) / step) + 1):
        value = 10.0 ** (low_y + i) if log_y else low_y + i * step
        _, y = place(first_x, value)
        label = f"{value:g}" if log_y else f"{value:,.{decimals}f}"
        parts.append(f'<line x1="{_LEFT}" x2="{_WIDTH - right}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{label}</text>')
    before = -math.inf
    shown = [x for x, _ in next(iter(series.values()))]
    if len(shown) > _MOST_TICKS and x_scale is None and not log_x:
        every = _nice_step(low_x, high_x)
        shown = [every * i for i in range(math.ceil(low_x / every), math.floor(high_x / every) + 1)]
    for x in shown:
        px, label = place(x, first_y)[0], f"{x:g}"
        if px - before >= 4 + 8 * len(label):  # labels that would touch are left out
            parts.append(f'<text x="{px:.1f}" y="{_HEIGHT - 26}" text-anchor="middle">{label}</text>')
            before = px
    middle = (_LEFT + _WIDTH - right) / 2
    parts.append(f'<text x="{middle}" y="{_HEIGHT - 6}" text-anchor="middle">{x_title}</text>')
    parts.append(f'<text x="{_LEFT}" y="14">{y_title}</text>')
    ends = _spread({name: place(*line[-1])[1] for name, line in series.items()})
    for name, line in series.items():
        dashes = ' stroke-dasharray="6 4"' if name in dashed else ""
        path = " ".join(f"{px:.1f},{py:.1f}" for px, py in (place(*point) for point in line))
        parts.append(f'<polyline points="{path}" class="l{hue[name]}"{dashes}/>')
        parts.append(f'<text x="{_WIDTH - right + 10}" y="{ends[name] + 4:.1f}" class="n{hue[name]}">{name}</text>')
    for i, (name, x) in enumerate(marks.items()):
        px, bottom = place(x, first_y)[0], _HEIGHT - _BOTTOM
        colour = own[alike[name]]
        parts.append(f'<polyline points="{px:.1f},{_TOP} {px:.1f},{bottom}" class="l{colour}" stroke-dasharray="2 4"/>')
        parts.append(f'<text x="{px + 5:.1f}" y="{bottom - 8 - 17 * i}" class="n{colour}">{name}</text>')
    return "\n".join([*parts, "</svg>\n"])


def matrix_picture(values: ArrayLike, rows: str, columns: str, what: str, ticks: Sequence[float]) -> str:
    """Matrix as a square of cells, the darker the smaller, and a key beside it, from the first of the ``ticks`` to the last."""
    from matplotlib.image import imsave  # slow to load, and line charts do without

    def cells(numbers: ArrayLike, box: str) -> str:
        file = io.BytesIO()
        imsave(file, np.asarray(numbers, float), vmin=ticks[0], vmax=ticks[-1], cmap="YlGnBu_r", format="png")
        data = base64.b64encode(file.getvalue()).decode("ascii")
        return f'<image {box} preserveAspectRatio="none" style="image-rendering:pixelated" href="data:image/png;base64,{data}"/>'

    size, left, top, key = 400, 64, 40, 520
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {top + size + 32}" font-family="system-ui, sans-serif" '
        f'font-size="13">{style()}',
        cells(values, f'x="{left}" y="{top}" width="{size}" height="{size}"'),
        cells(np.linspace(ticks[-1], ticks[0], 200)[:, None], f'x="{key}" y="{top}" width="18" height="{size}"'),
        f'<text x="{left}" y="{top - 12}">{rows} (down) and {columns} (across)</text>',
        f'<text x="{key}" y="{top + size + 22}">{what}</text>',
    ]
    for tick in ticks:
        y = top + size * (ticks[-1] - tick) / (ticks[-1] - ticks[0])
        parts.append(f'<text x="{key + 26}" y="{y + 4:.1f}">{tick:g}</text>')
    return "\n".join([*parts, "</svg>\n"])


def style() -> str:
    """Colours of text, grid, lines and names, in light and in dark."""

    def hues(colours: Sequence[str]) -> str:
        return "".join(f".l{i}{{stroke:{hue}}}.n{i}{{fill:{hue}}}" for i, hue in enumerate(colours))

    return (
        "<style>text{fill:#4a463f}line{stroke:#e4dfd5}polyline{fill:none;stroke-width:2;stroke-linejoin:round}"
        f"{hues(COLOURS)}@media(prefers-color-scheme:dark){{text{{fill:#bdb6aa}}line{{stroke:#35322d}}{hues(_DARK)}}}</style>"
    )


def _nice_step(low: float, high: float) -> float:
    raw = (high - low) / 6
    unit = 10.0 ** math.floor(math.log10(raw))
    return min((m * unit for m in (1, 2, 5, 10) if m * unit >= raw), default=raw)


def _spread(heights: dict[str, float], gap: float = 17) -> dict[str, float]:
    """Label heights pushed apart so that they do not cover each other, and upwards where they would leave the picture."""
    placed: dict[str, float] = {}
    last = -math.inf
    for name, y in sorted(heights.items(), key=lambda item: item[1]):
        last = max(y, last + gap)
        placed[name] = last
    most = float(_HEIGHT - _BOTTOM)
    for name in reversed(placed):
        placed[name] = most = min(placed[name], most)
        most -= gap
    return placed
