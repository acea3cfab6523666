"""Seconds of a piece of work: wall clock, and processor time of this process; and the processor's name."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

_VECTORS = {"avx512f": "AVX-512", "avx2": "AVX2"}


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


def processor() -> str:
    """The processor's name and its widest vectors, as Linux tells them, or what Python knows."""
    info = Path("/proc/cpuinfo")
    pairs = [line.partition(":") for line in info.read_text(encoding="utf-8").splitlines()] if info.exists() else []
    facts = {name.strip(): value.strip() for name, _, value in reversed(pairs)}
    name = facts.get("model name") or platform.processor() or platform.machine()
    widest = next((shown for flag, shown in _VECTORS.items() if flag in facts.get("flags", "").split()), None)
    return f"{name} ({widest})" if widest else name
