"""Parser for JSON from untrusted files: limits on nesting and sizes, and a check against a schema ("shape")."""

from __future__ import annotations

import json
import math
from typing import Any, NamedTuple

DEEPEST = 32
_MOST_DIGITS = 40


class Between(NamedTuple):
    """Shape of a number: its bounds, and whether it must be whole."""

    low: float
    high: float
    whole: bool = False


def read_json(text: object, shape: object = None, infinite: bool = False, distinct: bool = False) -> Any:
    """Parse a JSON text; raise ``ValueError`` if it is invalid or not of the shape.

    Nesting, whole numbers and strings are limited, so that no returned value can exhaust the stack, overflow in a
    conversion or fail to encode later.

    Parameters
    ----------
    text : str or bytes
        The text.
    shape : type, list, dict or Between, optional
        Expected shape of the value: a type, a list (``[str]``), an object with at least these members
        (``{"rows": int}``), or a number within bounds.
    infinite : bool
        Whether to accept ``Infinity`` and ``NaN``, which Python writes although they are not valid JSON.
    distinct : bool
        Whether to refuse an object that has a name twice, of which Python would keep the last: for files that people
        write.

    Examples
    --------
    >>> from topoi.corpus.checked_json import read_json
    >>> read_json('{"rows": 3}', {"rows": int})
    {'rows': 3}
    >>> read_json('{"rows": "three"}', {"rows": int})
    Traceback (most recent call last):
    ...
    ValueError: 'rows' is not a whole number
    """
    if not isinstance(text, str | bytes | bytearray):
        raise ValueError("it is not text")
    constant, pairs = float if infinite else _constant, _distinct if distinct else None
    try:
        value = json.loads(
            text, parse_int=_whole, parse_float=_finite, parse_constant=constant, object_pairs_hook=pairs
        )
    except RecursionError:
        raise ValueError(f"it is nested more than {DEEPEST} deep") from None
    _check_depth(value)
    if shape is not None:
        check_shape(value, shape)
    return value


def check_shape(value: Any, shape: Any, where: str = "it") -> None:
    """Raise ``ValueError`` if a value is not of a shape; see ``read_json``.

    Examples
    --------
    >>> from topoi.corpus.checked_json import check_shape
    >>> check_shape(["a", "b"], [str])
    """
    if isinstance(shape, Between):
        kinds = int if shape.whole else (int, float)
        if isinstance(value, bool) or not isinstance(value, kinds) or not shape.low <= value <= shape.high:
            kind = "whole number" if shape.whole else "number"
            raise ValueError(f"{where} is not a {kind} from {shape.low:g} to {shape.high:g}")
    elif isinstance(shape, dict):
        if not isinstance(value, dict):
            raise ValueError(f"{where} is not an object")
        for name, part in shape.items():
            if name not in value:
                raise ValueError(f"{name!r} is missing")
            check_shape(value[name], part, repr(name))
    elif isinstance(shape, list):
        if not isinstance(value, list):
            raise ValueError(f"{where} is not a list")
        for item in value:
            check_shape(item, shape[0], f"an item of {where}")
    elif not isinstance(value, shape) or (isinstance(value, bool) and shape is int):
        names = {int: "a whole number", str: "a text", dict: "an object", list: "a list"}
        raise ValueError(f"{where} is not {names.get(shape, 'of the right kind')}")


def _check_depth(value: object) -> None:
    """Refuse deep nesting, and strings that cannot be encoded."""
    level: list[Any] = [value]
    for _ in range(DEEPEST + 1):
        inner: list[Any] = []
        # All values of a level at once: columns of large collections have a hundred thousand.
        _check_text("".join([each for each in level if type(each) is str]))
        for each in level:
            kind = type(each)
            if kind is list:
                inner.extend(each)
            elif kind is dict:
                inner.extend(each)
                inner.extend(each.values())
        if not inner:
            return
        level = inner
    raise ValueError(f"it is nested more than {DEEPEST} deep")


def _check_text(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("a text has half of a character") from None


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{twice!r} is there twice")
    return found


def _whole(digits: str) -> int:
    # More than 308 digits overflow a float, and thousands take long to parse.
    number = int(digits) if len(digits) <= _MOST_DIGITS else None
    if number is None:
        raise ValueError("a number has too many digits")
    return number


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError("a number is too large")
    return number


def _constant(name: str) -> float:
    raise ValueError(f"{name} is not a number that JSON has")
