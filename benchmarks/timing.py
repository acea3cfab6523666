"""Seconds of a piece of work: wall clock, and processor time of this process."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple


class Seconds(NamedTuple):
    """Wall seconds and CPU seconds; on a busy machine the second is the fairer one."""

    wall: float
    cpu: float

    def __add__(self, other: Seconds) -> Seconds:  # type: ignore[override]
        return Seconds(self.wall + other.wall, self.cpu + other.cpu)

    def __truediv__(self, n: float) -> Seconds:
        return Seconds(self.wall / n, self.cpu / n)


def timed(work: Callable[[], object]) -> Seconds:
    """The seconds that a call takes."""
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return Seconds(time.perf_counter() - wall, time.process_time() - cpu)
