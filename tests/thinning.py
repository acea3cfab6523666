"""Parameters of which only some are tried by ``make test``; ``make test-slow`` tries the others."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest


def slow_unless(quick: Callable[[Any], bool], cases: Iterable[Any]) -> list[Any]:
    """Mark all cases slow for which ``quick`` is false.

    Examples
    --------
    >>> [type(case).__name__ for case in slow_unless(lambda n: n < 2, [1, 5])]
    ['int', 'ParameterSet']
    """
    return [case if quick(case) else pytest.param(*_values(case), marks=pytest.mark.slow) for case in cases]


def _values(case: Any) -> tuple[Any, ...]:
    return case if isinstance(case, tuple) else (case,)
