"""gensim's LdaModel in its distributed mode: a name server, a dispatcher and workers, all on this machine."""

from __future__ import annotations

import os
import subprocess
import sys
import time
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
        import Pyro4  # noqa: F401 (gensim imports it too late to say that it is missing)

        super().__init__(problem)
        os.environ.update(_ENVIRONMENT)
        self._processes: list[subprocess.Popen[bytes]] = []
        self._start("Pyro4.naming", "-n", _LOCAL)
        time.sleep(3)
        for _ in range(N_WORKERS):
            self._start("gensim.models.lda_worker", "--host", _LOCAL, "--no-broadcast")
        time.sleep(5)
        self._start("gensim.models.lda_dispatcher", "--host", _LOCAL, "--no-broadcast")
        time.sleep(5)

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
