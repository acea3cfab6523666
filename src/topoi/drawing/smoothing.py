"""Means over neighbouring years, and the ends of their intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate

# Years that a mean is of, and their weights.
Window = tuple[list[int], list[float]]


def window_for(n: int) -> int:
    """Number of years over which a line of ``n`` is smoothed: odd, 1 for short lines.

    Examples
    --------
    >>> window_for(13), window_for(64), window_for(237)
    (1, 3, 11)
    """
    return n // 20 // 2 * 2 + 1


def windows(values: Sequence[float | None], window: int, weights: Sequence[float], least: float = 0.0) -> list[Window]:
    """For each year, those that its mean is of, and their weights.

    Parameters
    ----------
    values : sequence of float or None
        One for each year; missing ones are in no mean.
    window : int
        Number of neighbours, fewer at the ends; 1 leaves the values as they are.
    weights : sequence of float
        Weight of each year, such as its number of words: a year of a few pages moves a line little.
    least : float
        Windows grow until their weights sum to this, so that thin years are merged with their neighbours.

    Examples
    --------
    >>> windows([0.0, 3.0, None, 6.0], 3, [2, 1, 9, 1])[1]
    ([0, 1], [2, 1])
    """
    n = len(values)
    upto = [0.0, *accumulate(w if value is not None else 0.0 for value, w in zip(values, weights, strict=True))]
    found = []
    for i in range(n):
        half = window // 2
        while upto[min(n, i + half + 1)] - upto[max(0, i - half)] < least and (i > half or i + half < n - 1):
            half += 1
        near = [j for j in range(max(0, i - half), min(n, i + half + 1)) if values[j] is not None]
        found.append((near, [weights[j] for j in near]))
    return found


def smoothed(values: Sequence[float | None], near: Sequence[Window]) -> list[float | None]:
    """Means over ``windows``; a missing value stays missing.

    Examples
    --------
    >>> smoothed([0.0, 3.0, None, 6.0], windows([0.0, 3.0, None, 6.0], 3, [1, 1, 1, 1]))
    [1.5, 1.5, None, 6.0]
    >>> smoothed([9.0, 3.0], windows([9.0, 3.0], 1, [1, 3], 2))
    [4.5, 3.0]
    """
    means: list[float | None] = []
    for value, (years, weight) in zip(values, near, strict=True):
        total = sum(weight)
        if value is None or not total > 0:
            means.append(value)
        else:
            means.append(sum(w * (values[j] or 0.0) for w, j in zip(weight, years, strict=True)) / total)
    return means


def smoothed_ends(ends: Sequence[float], values: Sequence[float | None], near: Sequence[Window]) -> list[float | None]:
    """Ends of the intervals of ``smoothed`` values, given those of the values, whose errors are independent.

    Errors of a mean add up as squares, so its interval is narrower than those of its years.

    Examples
    --------
    >>> values, weights = [0.2] * 4, [1.0] * 4
    >>> round(smoothed_ends([0.1] * 4, values, windows(values, 3, weights))[1], 3)
    0.142
    """
    found: list[float | None] = []
    for middle, (years, weight) in zip(smoothed(values, near), near, strict=True):
        errors = [w * (ends[j] - (values[j] or 0.0)) for w, j in zip(weight, years, strict=True)]
        away = math.sqrt(sum(error * error for error in errors)) / max(sum(weight), 1e-300)
        found.append(None if middle is None else middle + math.copysign(away, sum(errors)))
    return found
