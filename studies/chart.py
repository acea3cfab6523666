"""A small line chart as SVG text: enough for the studies' pictures, and readable in light and dark."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import cycle

_COLOURS = ("#3b6fb6", "#c8553d", "#3c8d5a", "#8a5fb0", "#8a6d3b", "#3a8f9c", "#b0457a", "#6b7280")
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
) -> str:
    """Lines with direct labels at their ends; ``log_x`` spaces x by log2(1 + x), ``x_scale`` by any other rule.

    ``log_y`` has a line for each power of ten; the names in ``dashed`` are drawn so.
    """

    def along(x: float) -> float:
        if x_scale is not None:
            return x_scale(x)
        return math.log2(1 + x) if log_x else x

    def up(y: float) -> float:
        return math.log10(y) if log_y else y

    points = [(along(x), up(y)) for line in series.values() for x, y in line]
    low_x, high_x = min(x for x, _ in points), max(x for x, _ in points)
    step = 1.0 if log_y else _nice_step(min(y for _, y in points), max(y for _, y in points))
    low_y = math.floor(min(y for _, y in points) / step) * step
    high_y = math.ceil(max(y for _, y in points) / step) * step
    decimals = max(0, -math.floor(math.log10(step)))

    def place(x: float, y: float) -> tuple[float, float]:
        px = _LEFT + (along(x) - low_x) / (high_x - low_x) * (_WIDTH - _LEFT - _RIGHT)
        return px, _TOP + (high_y - up(y)) / (high_y - low_y) * (_HEIGHT - _TOP - _BOTTOM)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" font-family="system-ui, sans-serif" '
        'font-size="13"><style>text{fill:#333}line{stroke:#ccc}@media(prefers-color-scheme:dark)'
        "{text{fill:#ddd}line{stroke:#555}}</style>"
    ]
    first_x, first_y = next(iter(series.values()))[0]
    for i in range(round((high_y - low_y) / step) + 1):
        value = 10.0 ** (low_y + i) if log_y else low_y + i * step
        _, y = place(first_x, value)
        label = f"{value:g}" if log_y else f"{value:,.{decimals}f}"
        parts.append(f'<line x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{label}</text>')
    before = -math.inf
    for x, _ in next(iter(series.values())):
        px, label = place(x, first_y)[0], f"{x:g}"
        if px - before >= 4 + 8 * len(label):  # labels that would touch are left out
            parts.append(f'<text x="{px:.1f}" y="{_HEIGHT - 26}" text-anchor="middle">{label}</text>')
            before = px
    middle = (_LEFT + _WIDTH - _RIGHT) / 2
    parts.append(f'<text x="{middle}" y="{_HEIGHT - 6}" text-anchor="middle">{x_title}</text>')
    parts.append(f'<text x="{_LEFT}" y="14">{y_title}</text>')
    ends = _spread({name: place(*line[-1])[1] for name, line in series.items()})
    for colour, (name, line) in zip(cycle(_COLOURS), series.items(), strict=False):
        dashes = ' stroke-dasharray="6 4"' if name in dashed else ""
        path = " ".join(f"{px:.1f},{py:.1f}" for px, py in (place(*point) for point in line))
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2.5"{dashes}/>')
        parts.append(f'<text x="{_WIDTH - _RIGHT + 10}" y="{ends[name] + 4:.1f}" style="fill:{colour}">{name}</text>')
    return "\n".join([*parts, "</svg>\n"])


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
    most = _HEIGHT - 8.0
    for name in reversed(placed):
        placed[name] = most = min(placed[name], most)
        most -= gap
    return placed
