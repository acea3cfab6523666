"""Terminal formatting: consoles safe from control characters, colours of topics, bars, words cut to a width."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from topoi.drawing.colours import hex_from_oklch, numbered_hue
from topoi.errors import safe_text

if TYPE_CHECKING:
    from rich.text import Text


# Readable on light and dark backgrounds: contrast of at least 3:1 against white and 5:1 against black for every hue.
LIGHTNESS = 0.64
CHROMA = 0.125

BLOCKS = "▁▂▃▄▅▆▇█"
SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
GAP = "  "
# Width of output to files and pipes: lines are not cut.
UNBOUNDED = 100_000
NAME_GAP = " · "  # not a comma, which names may contain: "Jordan, M"


def console(*, stderr: bool = False) -> Console:
    """Make a console without automatic highlighting, and without colour when piped or when NO_COLOR is set.

    Output to a file or a pipe is not cut, unless COLUMNS is set.
    """
    from topoi.cli.look import SafeConsole

    screen = SafeConsole(highlight=False, stderr=stderr, emoji=False, markup=False)
    if not (screen.is_terminal or os.environ.get("COLUMNS")):
        screen.width = UNBOUNDED
    return screen


def at_most(width: int, screen: Console) -> int:
    """Limit of a column's width on a terminal; unlimited in a file or pipe."""
    return width if screen.width < UNBOUNDED else UNBOUNDED


def say(text: object, *, err: bool = False, end: bool = True) -> None:
    """Print a line unchanged, except that control characters are shown as escapes."""
    typer.echo(safe_text(text), err=err, nl=end)


# Hues of topics in the store being read.
_hues: dict[int, float] = {}


def wear(hues: Mapping[int, float]) -> None:
    """Set the hues of topics to those of the browser, for all later output."""
    _hues.clear()
    _hues.update(hues)


def topic_colour(topic: int) -> str:
    """Colour of a topic: its hue in the store, or a golden-angle step from its number, at a fixed lightness.

    Examples
    --------
    >>> wear({})
    >>> topic_colour(3) == topic_colour(3)
    True
    >>> len({topic_colour(k) for k in range(100)})
    100
    """
    return hex_from_oklch(LIGHTNESS, CHROMA, _hues.get(topic, numbered_hue(topic)))


def sparkline(values: Iterable[float | None]) -> str:
    """Sparkline with a block per value, the full block for the highest; a missing value is a blank.

    Examples
    --------
    >>> sparkline([0, 1, 2, None, 4])
    '▁▃▅ █'
    """
    known = list(values)
    highest = max((value for value in known if value is not None), default=0.0)
    return "".join(" " if value is None else _block(value, highest) for value in known)


def _block(value: float, highest: float) -> str:
    if highest <= 0:
        return BLOCKS[0]
    return BLOCKS[min(7, int(8 * value / highest))]


def subscript(topic: int) -> str:
    """Topic number as Unicode subscript digits."""
    return str(topic).translate(SUBSCRIPTS)


def percent(share: float) -> str:
    """Format a share in per cent, with one decimal below ten per cent.

    Examples
    --------
    >>> percent(0.0234), percent(0.42)
    ('2.3%', '42%')
    """
    return f"{100 * share:.0f}%" if share >= 0.0995 else f"{100 * share:.1f}%"


def interval(lower: float, upper: float) -> str:
    """Format an interval of shares in per cent, without the sign; empty if it is not known.

    Examples
    --------
    >>> interval(0.0184, 0.0281), interval(0.18, 0.281), interval(float("nan"), float("nan"))
    ('1.8–2.8', '18–28', '')
    """
    if lower != lower or upper != upper:
        return ""
    return "–".join(percent(end).removesuffix("%") for end in (lower, upper))


def share_and_interval(row: Mapping[Any, Any], name: str) -> str:
    """A share of a row with its interval, padded; the ends are ``name_lower`` and ``name_upper``.

    Examples
    --------
    >>> share_and_interval({"share": 0.12, "share_lower": 0.1, "share_upper": 0.15}, "share")
    '  12% 10–15   '
    """
    ends = interval(row[f"{name}_lower"], row[f"{name}_upper"])
    return f"{percent(row[name]):>5} {ends:<{INTERVAL_WIDTH}}"


def printable(text: object) -> str:
    r"""Put a text on one line without control characters, so that text from a file cannot control the terminal.

    Examples
    --------
    >>> printable("a title\non two lines\x1b[2J")
    'a title on two lines [2J'
    """
    return " ".join("".join(c if c.isprintable() else " " for c in str(text)).split())


def fitting(items: Iterable[str], width: int, gap: str = GAP) -> list[str]:
    """First items that fit in a width, at least one; items are not split.

    Examples
    --------
    >>> fitting(["gold", "silver", "coinage"], 12)
    ['gold', 'silver']
    """
    kept: list[str] = []
    used = 0
    for item in map(printable, items):
        used += len(item) + (len(gap) if kept else 0)
        if kept and used > width:
            break
        kept.append(item)
    return kept


def row(*cells: tuple[str | Text, int] | Text) -> Text:
    """Join cells side by side, each padded to its width; a last cell without a width is not padded.

    Lines are built by hand, not as a rich table, so that none ends in blanks when piped into a file.
    """
    from rich.text import Text

    line = Text(no_wrap=True, overflow="ellipsis")
    for cell in cells:
        content, width = (cell, 0) if isinstance(cell, Text) else cell
        content = Text(content) if isinstance(content, str) else content
        if line:
            line.append(GAP)
        line.append_text(content)
        line.append(" " * (width - len(content)))
    line.rstrip()
    return line


def topic_number(topic: int) -> Text:
    """Topic number, right-aligned, in the topic's colour."""
    from rich.text import Text

    return Text(f"{topic:>3}", style=f"bold {topic_colour(topic)}")


def topic_words(topic: int, words: Sequence[str], width: int) -> Text:
    """As many words of a topic as fit: the first in its colour, those from the sixth on dimmed."""
    from rich.text import Text

    line = Text(no_wrap=True, overflow="ellipsis")
    for rank, word in enumerate(fitting(words, width)):
        if rank:
            line.append(GAP)
        line.append(word, style=f"bold {topic_colour(topic)}" if rank == 0 else "" if rank < 5 else "dim")
    line.truncate(max(width, 1), overflow="ellipsis")
    return line


def plain_words(words: Sequence[str], width: int) -> Text:
    """As many words as fit on a line."""
    from rich.text import Text

    return Text(GAP.join(fitting(words, width)), no_wrap=True, overflow="ellipsis")


def quiet_list(names: Sequence[str], width: int) -> Text:
    """As many names as fit on a line, dimmed."""
    from rich.text import Text

    return Text(NAME_GAP.join(fitting(names, width, NAME_GAP)), style="dim", no_wrap=True, overflow="ellipsis")


def bar(fraction: float, width: int) -> str:
    """Bar drawn in eighths of a block, padded to its width.

    Examples
    --------
    >>> bar(0.5, 4), bar(0.03, 4)
    ('██  ', '▏   ')
    """
    eighths = max(1, round(8 * width * min(1.0, fraction))) if fraction > 0 else 0
    full, rest = divmod(eighths, 8)
    return ("█" * full + ("", *"▏▎▍▌▋▊▉")[rest]).ljust(width)


def axis(first: str, last: str, width: int) -> str:
    """Axis labels: the first and last value at the two ends of a width, if they fit.

    Examples
    --------
    >>> axis("1790", "2020", 12)
    '1790    2020'
    """
    if len(first) + len(last) + 1 > width:
        return first.ljust(width)
    return first + last.rjust(width - len(first))


INTERVAL_WIDTH = 8


def interval_note() -> Text:
    """Line below a list of shares that says what the range after each share is."""
    from rich.text import Text

    return Text("ranges hold a share with a probability of 90%", style="dim")


def share_line(
    topic: int, share: float, words: Sequence[str], width: int, ends: tuple[float, float] | None = None
) -> Text:
    """Indented line of one topic among several: number, share, its interval if there is one, bar, words."""
    from rich.text import Text

    told = interval(*ends) if ends is not None else ""
    between = [(Text(told, style="dim"), INTERVAL_WIDTH)] if told else []
    return row(
        Text("  ") + topic_number(topic),
        Text(f"{percent(share):>5}", style="dim"),
        *between,
        (Text(bar(share, 10), style=topic_colour(topic)), 10),
        topic_words(topic, words, width - 26 - (INTERVAL_WIDTH + len(GAP)) * len(between)),
    )


class SafeConsole(Console):
    """Console that escapes control characters in the text it prints; its own colours stay."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Yield the segments of a renderable, with control characters escaped."""
        for segment in super().render(renderable, options):
            text, style, control = segment
            yield segment if control or text.isprintable() else Segment(safe_text(text), style)
