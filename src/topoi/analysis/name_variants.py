"""Names that may be one person's: initials, accents, missing middle names, order; nothing where others fit as well."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from sys import intern
from typing import NamedTuple

_SUFFIXES = frozenset({"jr", "sr", "ii", "iii", "iv"})
# Letters that have no decomposition; others lose their accents by themselves.
_LETTERS = str.maketrans({"ł": "l", "ø": "o", "đ": "d", "ð": "d", "þ": "th", "ß": "ss", "æ": "ae", "œ": "oe", "ı": "i"})

_LONGEST_NAME = 300
_APOSTROPHES = str.maketrans("", "", "'’`")
_WORD = re.compile(r"[^\W_]+")


class Name(NamedTuple):
    """A name in parts: family name and given names, folded; ``is_whole`` is false if it has numbers or one part."""

    family: str
    given: tuple[str, ...]
    is_whole: bool

    @property
    def key(self) -> str:
        """Text to sort by: the family name first."""
        return " ".join([self.family, *self.given])


def parse_name(text: str) -> Name:
    """Parts of a name as "Family, Given" or "Given Family"; folded to plain small letters.

    Examples
    --------
    >>> from topoi.analysis.name_variants import parse_name
    >>> parse_name("Jordan, Michael I."), parse_name("Lluís Màrquez").family
    (Name(family='jordan', given=('michael', 'i'), is_whole=True), 'marquez')
    """
    before, comma, after = text[:_LONGEST_NAME].partition(",")
    family, given = _parts(before), [part for part in _parts(after) if part not in _SUFFIXES] if comma else []
    if not given:
        parts = [part for part in family if part not in _SUFFIXES] or family
        family, given = parts[-1:], parts[:-1]
    whole = bool(family and given) and not any(part.isdecimal() for part in [*family, *given])
    # Of a family name in several parts, as in "van Noord, Gertjan", the last counts, as it does without a comma.
    return Name(family[-1] if family else "", (*given, *family[:-1]), whole)


def _parts(text: str) -> list[str]:
    plain = text.lower()
    if not plain.isascii():
        spelled = unicodedata.normalize("NFKD", text.casefold().translate(_LETTERS))
        plain = "".join(c for c in spelled if not unicodedata.combining(c))
    # Most names are somebody else's too: each is kept once.
    return [intern(word) for word in _WORD.findall(plain.translate(_APOSTROPHES))]


def are_compatible(one: Name, other: Name) -> bool:
    """Whether two names can be one person's.

    The family names are equal and the given names agree one by one, where an initial agrees with any name that begins
    with it, and later ones may be missing; or the same two or more full names stand in another order.

    Examples
    --------
    >>> from topoi.analysis.name_variants import are_compatible, parse_name
    >>> names = [parse_name(text) for text in ("M. Jordan", "Michael I. Jordan", "Mary Jordan", "Jordan Michael I.")]
    >>> [are_compatible(names[1], other) for other in names]
    [True, True, False, False]
    """
    if not (one.is_whole and other.is_whole):
        return False
    if one.family == other.family:
        return all(_agree(a, b) for a, b in zip(one.given, other.given, strict=False))
    words = sorted([one.family, *one.given])
    return words == sorted([other.family, *other.given]) and all(len(word) > 1 for word in words)


def _agree(a: str, b: str) -> bool:
    return a == b or ((len(a) == 1 or len(b) == 1) and a[0] == b[0])


class NameIndex:
    """All names of a collection in parts, to sort them and to find variants.

    Parameters
    ----------
    names : iterable of str
        The names of author 0, 1, …

    Examples
    --------
    >>> from topoi.analysis.name_variants import NameIndex
    >>> names = ["M. Jordan", "Michael Jordan", "Lluís Màrquez", "Lluis Marquez", "J. Doe", "Jo Doe", "Jim Doe"]
    >>> index = NameIndex(names)
    >>> index.variants(1), index.variants(2), index.variants(4)
    ([0], [3], [])
    """

    def __init__(self, names: Iterable[str]) -> None:
        self.names = [parse_name(name) for name in names]
        self._by_word: dict[str, list[int]] = {}
        for number, name in enumerate(self.names):
            # A name in another order has its family name among the given ones.
            if name.is_whole:
                for word in {name.family, *(part for part in name.given if len(part) > 1)}:
                    self._by_word.setdefault(word, []).append(number)

    def variants(self, number: int) -> list[int]:
        """Other numbers whose names can be the same person's, and nobody else's.

        A name that fits two others which do not fit each other says nothing: "J. Doe" may be Jo or Jim.
        """
        return [other for other in self._fitting(number) if number in self._fitting(other)]

    def _fitting(self, number: int) -> list[int]:
        """Names that fit, without those that are in conflict with another that fits."""
        own = self.names[number]
        near = self._by_word.get(own.family, ()) if own.is_whole else ()
        found = [other for other in near if other != number and are_compatible(own, self.names[other])]
        same = [other for other in found if self.names[other] == own]
        agreed = [one for one in found if all(are_compatible(self.names[one], self.names[two]) for two in found)]
        return sorted({*same, *agreed})

    def order(self) -> list[int]:
        """Numbers by family name, then given names."""
        return sorted(range(len(self.names)), key=lambda number: (self.names[number].key, number))

    def initials(self) -> Sequence[str]:
        """First letter of each family name; "#" where it is none."""
        return [name.family[:1].upper() if name.family[:1].isalpha() else "#" for name in self.names]
