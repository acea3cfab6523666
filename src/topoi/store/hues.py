"""Evenly spaced hues for topics: one place on the colour wheel for each, filled in golden-angle order."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

GOLDEN_ANGLE = 137.50776405003785  # degrees; successive multiples stay well apart on the wheel
_FIRST_HUE = 30


def golden_places(n: int) -> NDArray[np.int64]:
    """Place of each of ``n`` topics on the wheel: the rank of its golden-angle hue.

    Examples
    --------
    >>> from topoi.store.hues import golden_places
    >>> golden_places(5).tolist()
    [0, 2, 4, 1, 3]
    """
    angle = np.arange(n) * GOLDEN_ANGLE % 360.0
    places = np.empty(n, np.int64)
    places[np.argsort(angle, kind="stable")] = np.arange(n)
    return places


def place_hues(places: NDArray[Any]) -> NDArray[np.int64]:
    """The hues (0 to 359) of all places of a wheel, in the given order.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.store.hues import place_hues
    >>> place_hues(np.array([2, 0, 1])).tolist()
    [270, 30, 150]
    """
    n = max(len(places), 1)
    return (_FIRST_HUE + (360 * places.astype(np.int64) + n // 2) // n) % 360
