"""Finding a name that a person typed, and saying kindly when it is not there."""

from __future__ import annotations

import difflib
from typing import Any

from numpy.typing import NDArray

from topoi.errors import NotFoundError


def find_name(name: str, known: NDArray[Any], what: str) -> int:
    """The position of a name; upper and lower case may differ if that is unambiguous.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.models.names import find_name
    >>> find_name("ann", np.array(["Ann", "Bob"], object), "author")
    0
    """
    listed = list(known)
    if name in listed:
        return listed.index(name)
    folded = str(name).casefold()
    same = [i for i, other in enumerate(listed) if other.casefold() == folded]
    if len(same) == 1:
        return same[0]
    inside = [other for other in listed if folded and folded in other.casefold()]
    close = inside[:5] or difflib.get_close_matches(str(name), listed, 5, 0.5)
    hint = f"; did you mean {', '.join(map(repr, close))}?" if close else f"; there are {len(listed):,}"
    raise NotFoundError(f"there is no {what} {name!r}{hint}")
