"""The one way to the terminal: no text of a file, and no file's name, steers it."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from topoi.errors import safe_text


class SafeConsole(Console):
    """A console that shows control characters of what it prints as escapes; its own colours stay."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """The segments of something to print, made safe."""
        for segment in super().render(renderable, options):
            text, style, control = segment
            yield segment if control or text.isprintable() else Segment(safe_text(text), style)
