"""Calls to Dask: tasks are submitted, waited for and gathered, and what is lost on the way is told as ``Lost``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from typing import Any

from topoi.engine.cluster import worker as tasks
from topoi.engine.cluster.crew import Lost
from topoi.engine.interruption import Background
from topoi.errors import ModelError, TopoiError

# Seconds between looks at the workers while tasks run.
_BETWEEN_LOOKS = 0.5


class Calls:
    """Tasks of one fit; ``check`` raises ``Lost`` if a worker has gone."""

    def __init__(self, client: Any, fit: str, check: Callable[[], None]) -> None:
        self._client, self._fit, self._check = client, fit, check
        self._number = 0

    def submit(self, task: Callable[..., Any], where: str | Sequence[str], name: str, *arguments: Any) -> Any:
        """Submit a task to one worker, or one of several, under a key that is never used again."""
        self._number += 1
        key, workers = f"{self._fit}-{name}-{self._number}", [where] if isinstance(where, str) else list(where)
        with _losses():
            return self._client.submit(task, *arguments, key=key, workers=workers, pure=False)

    def scatter(self, value: Any, home: str) -> Any:
        """Send a value to a worker, from which others may fetch it."""
        with _losses():
            return self._client.scatter(value, workers=[home], hash=False)

    def wait(self, futures: Sequence[Any]) -> None:
        """Wait for tasks; raise ``Lost`` if a worker goes, and a task's own error as it is."""
        from distributed import wait

        while True:
            try:
                # Dask's ``wait`` asks the current client, which may be another one, or none.
                with _losses(timeouts=True), self._client.as_current():
                    wait(futures, timeout=_BETWEEN_LOOKS)
                break
            except TimeoutError:
                if any(future.status not in ("pending", "finished") for future in futures):
                    break
                self._check()
        for future in futures:
            if future.status == "error":
                _raise(future)
            elif future.status != "finished":
                raise Lost(f"a task was {future.status}")

    def gathered(self, futures: Sequence[Any]) -> list[Any]:
        """Results of tasks that have ended; ``Lost`` if a worker goes with one of them, which Dask would wait for."""
        task = Background(lambda: self._client.gather(list(futures)))
        while task.is_running(_BETWEEN_LOOKS):
            self._check()
        with _losses():
            return list(task.result())


def _raise(future: Any) -> None:
    """Raise a task's error, or ``Lost`` if it is none of the task's own."""
    from distributed import KilledWorker

    with _losses():
        error = future.exception()
    if isinstance(error, tasks.StateLost | KilledWorker):
        raise Lost(f"a worker lost what it had ({error})")
    if isinstance(error, MemoryError):
        raise ModelError(f"a worker has too little memory ({error}): give it more, or use more workers") from error
    if error is None:
        raise Lost("a task failed")
    raise error


@contextmanager
def _losses(timeouts: bool = False) -> Iterator[None]:
    """Turn what Dask raises when workers or connections are lost into ``Lost``."""
    from distributed import KilledWorker
    from distributed.comm.core import CommClosedError

    try:
        yield
    except TopoiError:
        raise
    except (CancelledError, CommClosedError, KilledWorker) as error:
        raise Lost(f"{type(error).__name__}: {error}") from error
    except TimeoutError as error:
        if timeouts:
            raise
        raise Lost(f"the cluster does not answer: {error}") from error
    except OSError as error:
        raise Lost(f"{type(error).__name__}: {error}") from error
