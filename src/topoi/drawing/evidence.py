"""How far numbers along time can be relied on: thin years, peaks, and years to show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from topoi.drawing.smoothing import smoothed, smoothed_ends, window_for, windows

# A mean rests on at least this part of the words of an average year.
LEAST_WORDS = 0.25


class Timeline(NamedTuple):
    """Years of a collection, their numbers of words, and the first and the last year that charts show.

    Examples
    --------
    >>> Timeline([1990, 1991, 1995], [5, 7, 1], 1990, 1991).shown
    [0, 1]
    """

    years: Sequence[int]
    words: Sequence[float]
    first: int
    last: int

    @property
    def shown(self) -> list[int]:
        """Places of the years that are shown."""
        return [i for i, year in enumerate(self.years) if self.first <= year <= self.last]


def thin_years(share: Sequence[float], lower: Sequence[float], upper: Sequence[float]) -> list[bool]:
    """Whether each year has too few words to say anything: its interval is wider than the largest reliable share.

    A share is the more reliable the higher the lower end of its interval.

    Examples
    --------
    >>> thin_years([0.02, 0.04, 0.14], [0.01, 0.03, 0.0], [0.03, 0.05, 0.4])
    [False, False, True]
    """
    if not share:
        return []
    best = max(range(len(share)), key=lambda i: lower[i])
    width = max(share[best], max(lower))
    return [b - a > 1.01 * width for a, b in zip(lower, upper, strict=True)]


def clear_peak(lower: Sequence[float | None], usual: float, shown: Sequence[int]) -> int | None:
    """Place of the year that is most surely above the usual share; None if no year surely is.

    Parameters
    ----------
    lower : sequence of float or None
        Lower ends of the intervals of the years' shares.
    usual : float
        The share of all years together.
    shown : sequence of int
        Places of the years to choose from.

    Examples
    --------
    >>> clear_peak([0.01, 0.03, 0.0], 0.02, [0, 1, 2]), clear_peak([0.01, 0.015, 0.0], 0.02, [0, 1, 2])
    (1, None)
    """
    known = [(value, -i) for i in shown if (value := lower[i]) is not None]
    best, place = max(known, default=(0.0, 0))
    return -place if best > usual else None


def usual_share(share: Sequence[float | None], words: Sequence[float]) -> float:
    """The share of all years together, from those of the years and their numbers of words.

    Examples
    --------
    >>> usual_share([0.1, 0.4, None], [20, 10, 5])
    0.2
    """
    known = [(value, n) for value, n in zip(share, words, strict=True) if value is not None]
    return sum(value * n for value, n in known) / (sum(n for _, n in known) or 1.0)


class Means(NamedTuple):
    """A smoothed line, the ends of its intervals if those of the years are known, and the number of years in a mean."""

    values: list[float | None]
    lower: list[float | None]
    upper: list[float | None]
    window: int


def reliable_means(
    share: Sequence[float | None],
    words: Sequence[float],
    ends: tuple[Sequence[float], Sequence[float]] | None = None,
) -> Means:
    """Means over neighbouring years, weighted by words; thin years are merged with more neighbours than others.

    Long lines are smoothed over more years than short ones.

    Examples
    --------
    >>> [round(value, 3) for value in reliable_means([0.9, 0.1, 0.1], [1, 100, 100]).values]
    [0.108, 0.1, 0.1]
    """
    window = window_for(len(share))
    least = LEAST_WORDS * sum(words) / max(len(words), 1)
    near = windows(share, window, words, least)
    means = smoothed(share, near)
    if ends is None:
        return Means(means, [None] * len(means), [None] * len(means), window)
    lower, upper = (smoothed_ends(end, share, near) for end in ends)
    return Means(means, lower, upper, window)
