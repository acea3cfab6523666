"""Numbers, years and long texts in the words of pictures and pages."""

from __future__ import annotations

from topoi.drawing.text import ELLIPSIS

NARROW_SPACE = "\u202f"  # between a figure and its unit


def percent(share: float | None) -> str:
    """A share in per cent, with one decimal below ten per cent.

    Examples
    --------
    >>> percent(0.0234), percent(0.42), percent(0.0001), percent(None)
    ('2.3\u202f%', '42\u202f%', '< 0.1\u202f%', '–')
    """
    if share is None:
        return "–"
    if 0 < share < 0.0005:
        return f"< 0.1{NARROW_SPACE}%"
    return f"{100 * share:.{0 if share >= 0.0995 else 1}f}{NARROW_SPACE}%"


def percent_mark(share: float) -> str:
    """A share at an axis, where it is a round number.

    Examples
    --------
    >>> percent_mark(0.05), percent_mark(0.1), percent_mark(0.005), percent_mark(-0.02)
    ('5\u202f%', '10\u202f%', '0.5\u202f%', '−2\u202f%')
    """
    return f"{round(100 * share, 6):g}{NARROW_SPACE}%".replace("-", "−")


def percents(lower: float | None, upper: float | None) -> str:
    """An interval of shares in per cent; empty if it is not known.

    Examples
    --------
    >>> percents(0.183, 0.281), percents(0.0842, 0.12), percents(0.0, 0.021), percents(None, None)
    ('18–28\u202f%', '8.4–12\u202f%', '0–2.1\u202f%', '')
    """
    if lower is None or upper is None:
        return ""
    first = percent(lower).removesuffix(f"{NARROW_SPACE}%") if lower >= 0.0005 else "0"
    last = percent(upper)
    return last if percent(lower) == last else f"{first}–{last.removeprefix('< ')}"


def thousands(number: float | None) -> str:
    """A count with separators; a small number that is not whole keeps two decimals.

    Examples
    --------
    >>> thousands(2353106), thousands(0.5), thousands(None)
    ('2,353,106', '0.50', '–')
    """
    if number is None:
        return "–"
    if isinstance(number, float) and abs(number) < 10 and not number.is_integer():
        return f"{number:.2f}"
    return f"{number:,.0f}"


def rounded(number: float | None) -> str:
    """A count rounded to millions or billions, for sentences.

    Examples
    --------
    >>> rounded(2353106), rounded(10432), rounded(7)
    ('2.4 million', '10,432', '7')
    """
    if number is None or number < 1e6:
        return thousands(number)
    return f"{number / 1e6:.1f} million" if number < 1e9 else f"{number / 1e9:.1f} billion"


def count(number: float | None, one: str, many: str | None = None) -> str:
    """A count with its noun.

    Examples
    --------
    >>> count(1, "document"), count(1234, "document"), count(2, "story", "stories")
    ('1 document', '1,234 documents', '2 stories')
    """
    return f"{thousands(number)} {one if number == 1 else many or one + 's'}"


def span(first: int | None, last: int | None) -> str:
    """The years from first to last as text; empty without years.

    Examples
    --------
    >>> span(1989, 1999), span(1994, 1994), span(None, None)
    ('1989–1999', '1994', '')
    """
    if first is None or last is None:
        return ""
    return str(first) if first == last else f"{first}–{last}"


def clip(text: object, length: int = 160) -> str:
    """A text cut at the end of a word, with an ellipsis if something was left out.

    Examples
    --------
    >>> clip("a dynamical model of priming", 20)
    'a dynamical model…'
    """
    text = str(text)
    if len(text) <= length:
        return text
    cut = text[: length - 1]
    space = cut.rfind(" ", length // 2)
    return (cut[:space] if space > 0 else cut).rstrip(" ,;:.") + ELLIPSIS
