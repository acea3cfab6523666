"""Look-up of names that a user typed, with suggestions for those that are not found."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from topoi.errors import NotFoundError

_WORD = re.compile(r"\w+")
_SHOWN = 5
_CUTOFF_OF_WORDS = 0.75


def find_name(name: str, known: NDArray[Any] | Sequence[str], what: str, part: bool = True) -> int:
    """Position of a name: by exact spelling, else ignoring case, else the only one that contains it.

    Parameters
    ----------
    name : str
        As the user typed it: "lincoln", or words of the name in any order.
    known : sequence of str
        All names.
    what : str
        The kind of thing named, for messages.
    part : bool
        Whether part of a name suffices. Several names with that part are a ``NotFoundError`` that lists them.

    Examples
    --------
    >>> from topoi.models.names import find_name
    >>> known = ["Abraham Lincoln", "John Adams", "John Quincy Adams", "Gerald Ford", "Rutherford Hayes"]
    >>> find_name("lincoln", known, "president"), find_name("Ford", known, "president")
    (0, 3)
    >>> find_name("Adams", known, "president")
    Traceback (most recent call last):
    topoi.errors.NotFoundError: there is no single president 'Adams'; did you mean 'John Adams', 'John Quincy Adams'?
    """
    listed = [str(other) for other in known]
    found = matching_names(name, listed, part)
    if len(found) == 1:
        return found[0]
    which = "single " if found else ""
    close = [listed[i] for i in found] or closest(name, listed)
    shown = ", ".join(map(repr, close[:_SHOWN])) + (f" or {len(close) - _SHOWN:,} more" if len(close) > _SHOWN else "")
    hint = f"; did you mean {shown}?" if close else f"; there are {len(listed):,}"
    raise NotFoundError(f"there is no {which}{what} {name!r}{hint}")


def matching_names(name: str, listed: Sequence[str], part: bool = True) -> list[int]:
    """Positions of the names that match the input best, by the first of these rules that any name satisfies.

    The name is equal; it is equal ignoring case; and, if a part suffices, it contains all words of the input in any
    order; it contains the input.

    Examples
    --------
    >>> from topoi.models.names import matching_names
    >>> matching_names("m jordan", ["Jordan, M", "Jordan, Mary", "jordan"]), matching_names("jord", ["Jordan, M"])
    ([0], [0])
    """
    typed = str(name)
    if typed in listed:
        return [listed.index(typed)]
    folded = typed.strip().casefold()
    pieces = _WORD.findall(folded)
    if not folded or not pieces:
        return []
    lower = [other.casefold() for other in listed]
    same = [i for i, other in enumerate(lower) if other.strip() == folded]
    if same or not part:
        return same
    near = [i for i, other in enumerate(lower) if all(piece in other for piece in pieces)]
    whole = [i for i in near if set(pieces) <= set(_WORD.findall(lower[i]))]
    return whole or [i for i, other in enumerate(lower) if folded in other]


def matching_titles(title: str, listed: Sequence[str]) -> list[int]:
    """Positions of the titles equal to the input, ignoring case, or else of those that contain it.

    Unlike a name, a title may occur several times, and the order of its words matters.

    Examples
    --------
    >>> from topoi.models.names import matching_titles
    >>> matching_titles("type hints", ["Type Hints", "More on type hints"]), matching_titles("hint", ["Type Hints"])
    ([0], [0])
    """
    folded = title.strip().casefold()
    lower = [other.strip().casefold() for other in listed]
    same = [i for i, other in enumerate(lower) if folded and other == folded]
    return same or [i for i, other in enumerate(lower) if folded and folded in other]


def closest(name: str, listed: Sequence[str], cutoff: float = 0.5) -> list[str]:
    """Similar names to suggest: those that contain the name, are spelled like it, or have a word like it.

    Examples
    --------
    >>> from topoi.models.names import closest
    >>> known = ["Abraham Lincoln", "Grover Cleveland"]
    >>> closest("Grover", known), closest("Grovr Cleveland", known), closest("Linkoln", known)
    (['Grover Cleveland'], ['Grover Cleveland'], ['Abraham Lincoln'])
    """
    inside = [listed[i] for i in matching_names(name, listed)]
    like = inside[:_SHOWN] or difflib.get_close_matches(str(name), listed, _SHOWN, cutoff)
    if like:
        return like
    by_word = {word: other for other in reversed(listed) for word in _WORD.findall(other.casefold())}
    words = difflib.get_close_matches(str(name).casefold(), by_word, _SHOWN, _CUTOFF_OF_WORDS)
    return list(dict.fromkeys(by_word[word] for word in words))
