"""Connection of a program to a cluster; the library itself neither makes nor closes clients."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

# Seconds to wait for a scheduler.
_PATIENCE = 10


@cache
def client_at(address: str) -> Any:
    """A client of the scheduler at an address, or in a scheduler file; it is closed when the process ends.

    A scheduler that cannot be reached is a ``ValueError``.
    """
    try:
        from distributed import Client
    except ImportError:
        raise ValueError('Dask is not installed: pip install "topoi[cluster]"') from None
    where = {"scheduler_file": address} if Path(address).is_file() else {"address": address}
    try:
        return Client(**where, timeout=_PATIENCE, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        reason = str(error).partition("\n")[0] or type(error).__name__
        raise ValueError(f"no scheduler answers at {address} ({reason})") from None
