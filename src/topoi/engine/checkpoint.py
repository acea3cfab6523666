"""Checkpoints: a fit that is killed at any moment and resumed ends with bit-identical results.

A checkpoint is a bundle (see ``engine.bundle``) with everything that the next step reads, written atomically. Random
streams of Gibbs chains are keyed by (seed, chain, sweep, shard): of these, only the seed and the sweep are saved.
"""

from __future__ import annotations

import numbers
import os
import re
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from topoi.corpus.pieces import ArrayOrPieces
from topoi.engine.bundle import read_bundle, remove_unfinished, write_bundle
from topoi.errors import ModelError, StoreError

# What untrusted content may raise where it is taken apart.
_DAMAGES = (ArithmeticError, AttributeError, IndexError, KeyError, ModelError, TypeError, ValueError)
_UNITS = {"s": 1.0, "sec": 1.0, "min": 60.0, "h": 3600.0}


def parse_interval(every: int | str) -> tuple[int | None, float | None]:
    """Parse a checkpoint interval: (sweeps, None) or (None, seconds), the latter for "30s", "5min", "1h" and the like.

    Examples
    --------
    >>> from topoi.engine.checkpoint import parse_interval
    >>> parse_interval(50), parse_interval("5min")
    ((50, None), (None, 300.0))
    """
    if isinstance(every, numbers.Integral) and not isinstance(every, bool) and every >= 1:
        return int(every), None
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(s|sec|min|h)\s*", every) if isinstance(every, str) else None
    if match is None:
        raise ModelError(
            f"checkpoint_every is {every!r}; pass a number of sweeps, or a time such as '30s', '5min' or '1h'"
        )
    return None, float(match[1]) * _UNITS[match[2]]


def _whole(value: Any) -> int:
    """Validate a sweep or a seed; a negative sweep would make the loop run nearly for ever."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**63:
        raise ValueError(f"{value!r} is no number of a sweep or a seed")
    return value


class Checkpoint:
    """One file that holds the latest complete sweep of a fit, tied to its corpus and settings."""

    def __init__(self, path: str | Path, every: int | str, identity: Mapping[str, Any]):
        self.path = Path(path)
        self.identity = dict(identity)
        self._sweeps, self._seconds = parse_interval(every)
        self._last_sweep = 0
        self._last_time = time.monotonic()

    def read(self, seed: int | None) -> tuple[dict[str, Any], dict[str, NDArray[Any]]] | None:
        """Read the saved progress; None if there is no file, ``ModelError`` if the file is of another fit.

        With ``seed=None`` the saved seed is accepted. A folder that is not writable is an error already here, not only
        when the first checkpoint is due.
        """
        if not os.access(self.path.parent, os.W_OK):
            raise StoreError(f"cannot write checkpoint {self.path}: {self.path.parent} is not a writable folder")
        remove_unfinished(self.path)
        if not self.path.exists():
            return None
        bundle = read_bundle(self.path, "checkpoint")
        try:
            saved, progress = bundle.meta["identity"], bundle.meta["progress"]
            differing = sorted(k for k in saved.keys() | self.identity.keys() if saved.get(k) != self.identity.get(k))
            self._last_sweep, saved_seed = _whole(progress["sweep"]), _whole(progress["seed"])
        except _DAMAGES as error:
            raise self._damaged(error) from error
        if seed is not None and seed != saved_seed:
            differing.append("random_state")
        if differing:
            raise ModelError(
                f"checkpoint {self.path} belongs to another fit (different: {', '.join(differing)}); "
                "remove it, or use another file"
            )
        return progress, bundle.arrays

    def restore(
        self, seed: int | None, n_iter: int, rebuild: Callable[[dict[str, Any], dict[str, NDArray[Any]]], Any]
    ) -> tuple[int, int] | None:
        """Read the saved progress and call ``rebuild`` with it; return its seed and sweep, None if there is no file.

        Whatever ``rebuild`` refuses makes the file a damaged one, a ``StoreError``.
        """
        saved = self.read(seed)
        if saved is None:
            return None
        progress, arrays = saved
        if progress["sweep"] > n_iter:
            raise ModelError(
                f"checkpoint {self.path} is at sweep {progress['sweep']}, beyond n_iter={n_iter}; "
                "raise n_iter or remove the file"
            )
        try:
            rebuild(progress, arrays)
        except _DAMAGES as error:
            raise self._damaged(error) from error
        return progress["seed"], progress["sweep"]

    def _damaged(self, error: Exception) -> StoreError:
        return StoreError(f"checkpoint {self.path} is damaged ({error}); remove it")

    def due(self, sweep: int) -> bool:
        """Whether a checkpoint is due after this sweep; sweeps before the last one written are of another start."""
        if self._sweeps is not None:
            return not 0 <= sweep - self._last_sweep < self._sweeps
        return time.monotonic() - self._last_time >= (self._seconds or 0.0)

    def write(self, sweep: int, progress: Mapping[str, Any], arrays: Mapping[str, ArrayOrPieces]) -> None:
        """Replace the file with the state after ``sweep``."""
        write_bundle(self.path, "checkpoint", {"identity": self.identity, "progress": dict(progress)}, arrays)
        self._last_sweep = sweep
        self._last_time = time.monotonic()
