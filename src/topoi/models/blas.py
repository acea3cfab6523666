"""Linear algebra with a fixed order of sums."""

from __future__ import annotations

from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController


@cache
def _libraries() -> ThreadpoolController:
    return ThreadpoolController()  # inspects all loaded libraries, which takes milliseconds


def one_thread() -> Any:
    """Context in which BLAS uses one thread, so that sums have a fixed order and results are reproducible."""
    return _libraries().limit(limits=1, user_api="blas")
