"""Time and memory that a fit takes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from topoi.engine.interruption import Terminated
from topoi.models.contract import LoadedModel

_PROCESS = Path("/proc/self")
_RESET_PEAK = "5"


@dataclass
class Usage:
    """Seconds, and the rise of the process's resident memory to its peak, in megabytes (NaN where unknown)."""

    seconds: float = float("nan")
    peak_mb: float = float("nan")


@contextmanager
def measured() -> Iterator[Usage]:
    """Measure a block: time, and peak resident memory above that at the start.

    The peak is Linux's own (VmHWM), which counts what compiled code allocates too; on other systems it is NaN. Memory
    that an earlier block has freed, but Python still holds, is used again and does not count.

    Examples
    --------
    >>> from topoi.evaluation.resources import measured
    >>> with measured() as usage:
    ...     _ = sum(range(1000))
    >>> usage.seconds > 0
    True
    """
    usage, before = Usage(), _resident("VmRSS") if _reset() else float("nan")
    start = time.perf_counter()
    try:
        yield usage
    finally:
        usage.seconds = time.perf_counter() - start
        usage.peak_mb = max(0.0, _resident("VmHWM") - before) if before == before else before


def state_mb(model: LoadedModel) -> float:
    """Megabytes of the arrays that a fitted model keeps, without its corpus: all that it is rebuilt from.

    Examples
    --------
    >>> import topoi
    >>> from topoi.evaluation.resources import state_mb
    >>> model = topoi.LDA(2, n_iter=2, random_state=0).fit(topoi.Corpus.from_tokens([["a", "b"]] * 4))
    >>> 0 < state_mb(model) < 0.01
    True
    """
    return sum(np.asarray(array).nbytes for array in model.to_bundle()[1].values()) / 1e6


def end_if_interrupted(model: LoadedModel) -> None:
    """Raise what a signal would have raised, if one has ended this model's fit early."""
    if model.fit_info_.get("interrupted"):
        raise Terminated if model.fit_info_.get("stopped") == "SIGTERM" else KeyboardInterrupt


def _reset() -> bool:
    """Set the peak to the memory now; False if this system cannot."""
    try:
        (_PROCESS / "clear_refs").write_text(_RESET_PEAK)
    except OSError:
        return False
    return True


def _resident(field: str) -> float:
    for line in (_PROCESS / "status").read_text().splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) / 1e3
    return float("nan")
