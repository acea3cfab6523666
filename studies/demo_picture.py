"""The demo's output as a picture for the README.

topoi demo && python -m studies.demo_picture state-of-the-union.topoi docs/demo.svg
"""

from __future__ import annotations

import sys
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import TerminalTheme

import topoi
from topoi.cli.demo import N_SHOWN, draw_story, opening, story

THEME = TerminalTheme(
    (250, 249, 246), (45, 45, 45),
    [(45, 45, 45), (176, 58, 46), (60, 122, 67), (160, 110, 20), (46, 93, 160), (122, 70, 150), (30, 120, 130), (120, 120, 120)],
)  # fmt: skip
# Rich's own template loads a font from another host; this one uses the reader's.
TEMPLATE = """<svg viewBox="0 0 {terminal_width} {terminal_height}" xmlns="http://www.w3.org/2000/svg" role="img"
 aria-label="topoi demo: topics of the State of the Union addresses by decade">
<style>:root {{ --paper: #fdfcf9; --ink: #1d1b18; --quiet: #6f6a61 }}
@media (prefers-color-scheme: dark) {{ :root {{ --paper: #171614; --ink: #ece7de; --quiet: #a19a8e }} }}
.{unique_id}-matrix {{ font-family: ui-monospace, Menlo, Consolas, monospace; font-size: {char_height}px;
 line-height: {line_height}px; font-variant-east-asian: full-width }} {styles}</style>
<defs><clipPath id="{unique_id}-clip-terminal"><rect width="{terminal_width}" height="{terminal_height}"/></clipPath>{lines}</defs>
<rect width="100%" height="100%" fill="var(--paper)"/>
<g transform="translate(12, 4) scale(0.98)" clip-path="url(#{unique_id}-clip-terminal)">{backgrounds}
<g class="{unique_id}-matrix">{matrix}</g></g></svg>
"""


# Colours of the theme above, bright and dim, as rich writes them, that are others in the dark; those of topics suit both.
SCHEMED = {"#2d2d2d": "var(--ink)", "#7f7e7d": "var(--quiet)"}


def main(model_file: str, picture: str) -> None:
    """Draw the story of a saved model."""
    model = topoi.load(model_file)
    screen = Console(
        record=True, width=100, force_terminal=True, color_system="truecolor", file=Path("/dev/null").open("w")
    )
    screen.print(opening(model.corpus_, model.n_topics))
    draw_story(story(model, N_SHOWN), model.n_topics, screen)
    svg = screen.export_svg(theme=THEME, code_format=TEMPLATE)
    for colour, name in SCHEMED.items():
        svg = svg.replace(f"fill: {colour}", f"fill: {name}")
    Path(picture).write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
