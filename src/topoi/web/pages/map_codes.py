"""Whole numbers as text, six bits to a character, as the map's script reads them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
# A coordinate is a whole number of steps, from 0 to this; the next number is no place.
PLACE_STEPS = 32766
_CODES = np.frombuffer(ALPHABET.encode("ascii"), np.uint8)


def coded(values: NDArray[np.int64], width: int) -> str:
    """Numbers below 64 to the power of ``width`` as text of ``width`` characters each, the highest six bits first.

    The first characters of all numbers come first, then the second ones: equal ones side by side pack better.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.web.pages.map_codes import coded
    >>> coded(np.array([0, 1, 64]), 2)
    'AABABA'
    """
    digits = [(values >> (6 * (width - 1 - i))) & 63 for i in range(width)]
    return _CODES[np.concatenate(digits)].tobytes().decode("ascii") if len(values) else ""


def decoded(text: str, width: int) -> NDArray[np.int64]:
    """Inverse of ``coded``.

    Examples
    --------
    >>> from topoi.web.pages.map_codes import decoded
    >>> decoded("AABABA", 2).tolist()
    [0, 1, 64]
    """
    worth = np.zeros(128, np.int64)
    worth[_CODES] = np.arange(64)
    digits = worth[np.frombuffer(text.encode("ascii"), np.uint8)].reshape(width, -1)
    found = np.zeros(digits.shape[1], np.int64)
    for row in digits:
        found = found * 64 + row
    return found


def coded_places(places: NDArray[np.float64]) -> str:
    """Places between 0 and 1, documents × 2, as text: five characters each; nan is no place."""
    nowhere = np.isnan(places).any(axis=1)
    steps = np.rint(np.clip(np.nan_to_num(places), 0.0, 1.0) * PLACE_STEPS).astype(np.int64)
    steps[nowhere] = PLACE_STEPS + 1
    return coded(steps[:, 0] * (PLACE_STEPS + 2) + steps[:, 1], 5)
