"""A small line chart as SVG text: enough for the studies' pictures, and readable in light and dark."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

_COLOURS = ("#3b6fb6", "#c8553d", "#3c8d5a", "#8a5fb0", "#8a6d3b")
_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 720, 400, 64, 150, 24, 48


def line_chart(
    series: Mapping[str, Sequence[tuple[float, float]]], x_title: str, y_title: str, log_x: bool = False
) -> str:
    """Lines with direct labels at their ends; ``log_x`` spaces x by log2(1 + x)."""

    def along(x: float) -> float:
        return math.log2(1 + x) if log_x else x

    points = [(along(x), y) for line in series.values() for x, y in line]
    low_x, high_x = min(x for x, _ in points), max(x for x, _ in points)
    step = _nice_step(min(y for _, y in points), max(y for _, y in points))
    low_y = math.floor(min(y for _, y in points) / step) * step
    high_y = math.ceil(max(y for _, y in points) / step) * step
    decimals = max(0, -math.floor(math.log10(step)))

    def place(x: float, y: float) -> tuple[float, float]:
        px = _LEFT + (along(x) - low_x) / (high_x - low_x) * (_WIDTH - _LEFT - _RIGHT)
        return px, _TOP + (high_y - y) / (high_y - low_y) * (_HEIGHT - _TOP - _BOTTOM)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" font-family="system-ui, sans-serif" '
        'font-size="13"><style>text{fill:#333}line{stroke:#ccc}@media(prefers-color-scheme:dark)'
        "{text{fill:#ddd}line{stroke:#555}}</style>"
    ]
    first_x = next(iter(series.values()))[0][0]
    for i in range(round((high_y - low_y) / step) + 1):
        value = low_y + i * step
        _, y = place(first_x, value)
        parts.append(f'<line x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{value:,.{decimals}f}</text>')
    for x, _ in next(iter(series.values())):
        parts.append(f'<text x="{place(x, low_y)[0]:.1f}" y="{_HEIGHT - 26}" text-anchor="middle">{x:g}</text>')
    middle = (_LEFT + _WIDTH - _RIGHT) / 2
    parts.append(f'<text x="{middle}" y="{_HEIGHT - 6}" text-anchor="middle">{x_title}</text>')
    parts.append(f'<text x="{_LEFT}" y="14">{y_title}</text>')
    ends = _spread({name: place(*line[-1])[1] for name, line in series.items()})
    for colour, (name, line) in zip(_COLOURS, series.items(), strict=False):
        path = " ".join(f"{px:.1f},{py:.1f}" for px, py in (place(*point) for point in line))
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2.5"/>')
        parts.append(f'<text x="{_WIDTH - _RIGHT + 10}" y="{ends[name] + 4:.1f}" style="fill:{colour}">{name}</text>')
    return "\n".join([*parts, "</svg>\n"])


def _nice_step(low: float, high: float) -> float:
    raw = (high - low) / 6
    unit = 10.0 ** math.floor(math.log10(raw))
    return min((m * unit for m in (1, 2, 5, 10) if m * unit >= raw), default=raw)


def _spread(heights: dict[str, float], gap: float = 17) -> dict[str, float]:
    """Label heights pushed apart so that they do not cover each other."""
    placed: dict[str, float] = {}
    last = -math.inf
    for name, y in sorted(heights.items(), key=lambda item: item[1]):
        last = max(y, last + gap)
        placed[name] = last
    return placed
