"""Character classes and case folding of the tokeniser, as one table of all 1,114,112 Unicode code points.

An entry holds the character's kind in its top byte and the folded character below. Both the compiled scanner and the
regular expression in ``tokenize`` are made from this table, so they cannot disagree on a character.
"""

from __future__ import annotations

import sys
import unicodedata
from functools import lru_cache

import numpy as np

OTHER, SPACE, LETTER, DIGIT, MARK, IDEOGRAPH, APOSTROPHE, HYPHEN, JOINER = range(9)
KIND_SHIFT = 24
FOLD_MASK = (1 << KIND_SHIFT) - 1

_APOSTROPHES = (0x27, 0x2BC, 0x2019, 0xFF07)
_HYPHENS = (0x2D, 0x2010, 0x2011)
# Invisible characters (soft hyphen, zero-width joiners, byte-order mark): dropped from a word without ending it.
_INVISIBLE = (0xAD, 0x200C, 0x200D, 0x2060, 0xFEFF)
_UNDERSCORE = 0x5F
_IDEOGRAPHS = ((0x3400, 0x4DC0), (0x4E00, 0xA000), (0xF900, 0xFB00), (0x20000, 0x2FA20), (0x30000, 0x323B0))
_HANGUL = (0xAC00, 0xD7A4)
# Looked up one by one; everything else is an ideograph, Hangul, a surrogate, private or not assigned.
_LOOKED_UP = ((0, 0x3400), (0x4DC0, 0x4E00), (0xA000, 0xAC00), (0xD7A4, 0xD800), (0xFB00, 0x20000), (0xE0100, 0xE01F0))


def _kind(character: str) -> int:
    if character.isalpha():
        return LETTER
    if character.isalnum():
        return DIGIT
    if character.isspace():
        return SPACE
    return MARK if unicodedata.category(character)[0] == "M" else OTHER


@lru_cache(maxsize=4)
def character_table(lowercase: bool = True, join_hyphens: bool = True) -> np.ndarray:
    """Return the kind and the folded form of every code point, as uint32 ``kind << 24 | folded``.

    Folding is one character to one character (so ``ß`` stays), typographic apostrophes and hyphens become ASCII, and
    invisible joiners fold to 0, which means "not part of the word".

    Examples
    --------
    >>> from topoi.corpus.characters import character_table, FOLD_MASK
    >>> chr(character_table()[ord("É")] & FOLD_MASK)
    'é'
    """
    size = sys.maxunicode + 1
    kind = np.zeros(size, np.uint32)
    fold = np.arange(size, dtype=np.uint32)
    for low, high in _LOOKED_UP:
        for code in range(low, high):
            character = chr(code)
            kind[code] = _kind(character)
            lower = character.lower()
            if lowercase and lower != character and len(lower) == 1:
                fold[code] = ord(lower)
    for low, high in _IDEOGRAPHS:
        kind[low:high] = IDEOGRAPH
    kind[_HANGUL[0] : _HANGUL[1]] = LETTER
    kind[list(_APOSTROPHES)] = APOSTROPHE
    fold[list(_APOSTROPHES)] = ord("'")
    kind[list(_HYPHENS)] = HYPHEN if join_hyphens else OTHER
    fold[list(_HYPHENS)] = ord("-")
    kind[[*_INVISIBLE, _UNDERSCORE]] = JOINER
    fold[list(_INVISIBLE)] = 0
    table = kind << np.uint32(KIND_SHIFT) | fold
    table.flags.writeable = False
    return table


def code_points(text: str) -> np.ndarray:
    """Return a text's code points as uint32.

    Examples
    --------
    >>> from topoi.corpus.characters import code_points
    >>> code_points("hé").tolist()
    [104, 233]
    """
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)


def fold(text: str, lowercase: bool = True) -> str:
    """Return a text as the tokeniser compares it: lower case, plain apostrophes and hyphens, no invisible joiners.

    Examples
    --------
    >>> from topoi.corpus.characters import fold
    >>> fold("Don’t")
    "don't"
    """
    if text.isascii():
        return text.lower() if lowercase else text
    folded = character_table(lowercase)[code_points(text)] & np.uint32(FOLD_MASK)
    # Only the joiners fold to 0 and are dropped; a real null character stays.
    kept = folded[(folded != 0) | (code_points(text) == 0)]
    return kept.tobytes().decode("utf-32-le", "surrogatepass")


def without_surrogates(text: str) -> str:
    """Return the text with lone surrogates (possible in JSON) replaced, so that it can be written as UTF-8.

    Examples
    --------
    >>> from topoi.corpus.characters import without_surrogates
    >>> without_surrogates("a" + chr(0xD800)) == "a" + chr(0xFFFD)
    True
    """
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in text)
    return text
