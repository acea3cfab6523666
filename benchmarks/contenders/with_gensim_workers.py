"""gensim's LdaModel in its distributed mode: a name server, a dispatcher and workers, all on this machine."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from contextlib import suppress
from typing import Any

from .base import Problem
from .with_gensim import GensimLDA

_LOCAL = "127.0.0.1"
_ENVIRONMENT = {"PYRO_SERIALIZERS_ACCEPTED": "pickle", "PYRO_SERIALIZER": "pickle", "PYRO_HOST": _LOCAL}
N_WORKERS = 2


class GensimWorkers(GensimLDA):
    """``LdaModel(distributed=True)`` with two workers; it needs Pyro4."""

    name = "gensim, 2 workers"

    def __init__(self, problem: Problem):
        super().__init__(problem)
        os.environ.update(_ENVIRONMENT)
        self._processes: list[subprocess.Popen[bytes]] = []
        self._start("Pyro4.naming", "-n", _LOCAL)
        self._wait_for(0)
        for _ in range(N_WORKERS):
            self._start("gensim.models.lda_worker", "--host", _LOCAL, "--no-broadcast")
        self._wait_for(N_WORKERS)
        self._start("gensim.models.lda_dispatcher", "--host", _LOCAL, "--no-broadcast")
        self._wait_for(N_WORKERS + 1)

    def _wait_for(self, n_known: int, seconds: float = 90.0) -> None:
        """Wait until the name server knows so many of gensim's processes."""
        import Pyro4

        end = time.monotonic() + seconds
        while time.monotonic() < end:
            with suppress(Pyro4.errors.PyroError):  # not up yet
                with Pyro4.locateNS(host=_LOCAL, broadcast=False) as server:
                    if sum(name.startswith("gensim.") for name in server.list()) >= n_known:
                        return
            time.sleep(0.5)
        self.close()
        raise TimeoutError("gensim's workers did not come up")

    def _start(self, module: str, *words: str) -> None:
        known = {**os.environ, **_ENVIRONMENT}
        quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self._processes.append(subprocess.Popen([sys.executable, "-m", module, *words], env=known, **quiet))

    def settings(self) -> dict[str, Any]:
        """Those of one process, and where the name server is."""
        return super().settings() | {"distributed": True, "ns_conf": {"host": _LOCAL, "broadcast": False}}

    def close(self) -> None:
        """End all processes."""
        for process in self._processes[::-1]:
            process.terminate()
            process.wait(10)
