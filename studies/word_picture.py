"""Words of texts coloured by which of two authors they are given to, as SVG text, readable in light and dark."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import NamedTuple

_COLOURS = ("#c8553d", "#3b6fb6")
_WIDTH, _LINE, _SIZE, _ADVANCE = 860, 23, 14, 8.43  # a monospaced letter is 0.602 of its size wide
_COLUMNS = int((_WIDTH - 32) / _ADVANCE)


class Span(NamedTuple):
    """A labelled word: where it stands in its text, and the probability that it is the first author's."""

    start: int
    end: int
    p: float


def word_picture(names: Sequence[str], blocks: Sequence[tuple[str, str, Sequence[Span]]]) -> str:
    """Blocks of (heading, text, labelled words); a word's ground is its likelier author's colour, the stronger the surer.

    A mark (1 or 2) after each word says the same without colour; unlabelled words have neither.
    """
    parts: list[str] = []
    y = 34
    for name, colour, x, mark in zip(names, _COLOURS, (16, _WIDTH / 2), "¹²", strict=True):
        parts.append(f'<rect x="{x}" y="{y - 13}" width="16" height="16" rx="3" fill="{colour}" fill-opacity="0.6"/>')
        parts.append(f'<text x="{x + 24}" y="{y}">given to {escape(name)} {mark}</text>')
    for heading, text, spans in blocks:
        y += 2 * _LINE
        parts.append(f'<text x="16" y="{y}" class="heading">{escape(heading)}</text>')
        for line in _lines(text, spans):
            y += _LINE
            x = 16.0
            for word, span in line:
                shown = word
                if span is not None:
                    first = span.p >= 0.5
                    sure = abs(span.p - 0.5) * 2
                    shown = word + ("¹" if first else "²")
                    parts.append(
                        f'<rect x="{x - 2:.1f}" y="{y - 14}" width="{len(shown) * _ADVANCE + 3:.1f}" height="19" rx="3" '
                        f'fill="{_COLOURS[0 if first else 1]}" fill-opacity="{0.08 + 0.57 * sure:.2f}"/>'
                    )
                parts.append(f'<text x="{x:.1f}" y="{y}" class="word">{escape(shown)}</text>')
                x += (len(shown) + 1) * _ADVANCE
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {y + 20}" role="img" font-size="{_SIZE}" '
        f'font-family="system-ui, sans-serif" aria-label="Words of two glued abstracts, by author">'
        "<style>text{fill:#222}.word{font-family:ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace}.heading{font-weight:600}"
        "@media(prefers-color-scheme:dark){text{fill:#eee}}</style>"
    )
    return "\n".join([head, *parts, "</svg>\n"])


def _lines(text: str, spans: Sequence[Span]) -> Iterator[list[tuple[str, Span | None]]]:
    """The words of a text, with their labels, in lines that fit; a word of several labelled parts takes the first's."""
    line: list[tuple[str, Span | None]] = []
    used, at = 0, 0
    for word in text.split():
        at = text.index(word, at)
        span = next((s for s in spans if at <= s.start < at + len(word)), None)
        at += len(word)
        length = len(word) + (span is not None) + 1
        if used + length > _COLUMNS and line:
            yield line
            line, used = [], 0
        line.append((word, span))
        used += length
    if line:
        yield line
