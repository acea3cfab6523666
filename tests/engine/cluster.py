"""A real cluster on the loopback interface: scheduler and workers as processes, as an operator starts them."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import topoi
from topoi.engine.cluster import worker as tasks

# Nothing of a cluster may outlive its test, or be reached from another machine.
_LOCAL = "127.0.0.1"
# Workers also import what tests run on them.
_SOURCE = os.pathsep.join([str(Path(topoi.__file__).parents[1]), str(Path(__file__).parents[1])])
_QUIET = {
    "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "0",
    "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "5s",
    "DASK_DISTRIBUTED__ADMIN__LOG_FORMAT": "%(name)s %(message)s",
}


class LoopbackCluster:
    """A scheduler and its workers; ``kill`` and ``add`` do what happens to clusters."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file = folder / "scheduler.json"
        self._log = (folder / "log.txt").open("wb")
        self.workers: list[subprocess.Popen[bytes]] = []
        self.scheduler = self._start("dask_scheduler", "--port", "0", "--no-dashboard", "--no-show")
        self._wait_for(self._file.exists)

    def _start(self, program: str, *words: str, **environment: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", f"distributed.cli.{program}", "--host", _LOCAL, *words]
        command += ["--scheduler-file", str(self._file)]
        known = {**os.environ, **_QUIET, "PYTHONPATH": _SOURCE, **environment}
        # One session for each, so that a worker and its nanny can be killed together.
        return subprocess.Popen(
            command, cwd=self._folder, env=known, stdout=self._log, stderr=self._log, start_new_session=True
        )

    @staticmethod
    def _wait_for(condition: Any, seconds: float = 60.0) -> None:
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end:
                raise TimeoutError("the cluster did not come up")
            time.sleep(0.05)

    def client(self, **settings: Any) -> Any:
        """A client of the scheduler."""
        from distributed import Client

        return Client(scheduler_file=str(self._file), timeout="30s", **settings)

    def add(self, *words: str, n_threads: int = 1, **environment: str) -> subprocess.Popen[bytes]:
        """Start a worker without a nanny: one that is killed stays dead."""
        words = ("--nthreads", str(n_threads), "--no-nanny", "--no-dashboard", "--memory-limit", "2GB", *words)
        self.workers.append(self._start("dask_worker", *words, **environment))
        return self.workers[-1]

    def kill(self, process: subprocess.Popen[bytes], number: int = signal.SIGKILL) -> None:
        """End a process at once."""
        os.killpg(process.pid, number)
        process.wait(30)

    def close(self) -> None:
        """End everything."""
        for process in [*self.workers, self.scheduler]:
            if process.poll() is None:
                self.kill(process)
        self._log.close()

    @property
    def log(self) -> str:
        """What scheduler and workers have printed."""
        return (self._folder / "log.txt").read_text(errors="replace")


@contextmanager
def running(folder: Path, n_workers: int = 2) -> Iterator[tuple[LoopbackCluster, Any]]:
    """A cluster with some workers, and a client of it."""
    cluster = LoopbackCluster(folder)
    try:
        for _ in range(n_workers):
            cluster.add()
        with cluster.client() as client:
            if n_workers:
                client.wait_for_workers(n_workers, timeout=60)
            yield cluster, client
    finally:
        cluster.close()


def arm(name: str, calls: int) -> None:
    """On a worker: end the process at once in the given call of a task."""
    task, left = getattr(tasks, name), [calls]

    def fatal(*arguments: Any) -> Any:
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return task(*arguments)

    setattr(tasks, name, fatal)


def fill_disk() -> None:
    """On a worker: no file may become longer, as on a disk that is full."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))


def small_corpus(n_docs: int = 60, seed: int = 0) -> topoi.Corpus:
    rng = np.random.default_rng(seed)
    documents = [[f"w{w}" for w in rng.integers(0, 40, rng.integers(3, 20))] for _ in range(n_docs)]
    authors = [[f"a{a}" for a in rng.choice(9, rng.integers(1, 4), replace=False)] for _ in documents]
    years = rng.integers(1990, 2000, n_docs)
    return topoi.Corpus.from_tokens(documents, authors=authors, metadata={"year": years})


CORPUS = small_corpus()
FAMILIES: dict[str, Any] = {
    "lda": lambda **how: topoi.LDA(6, n_iter=12, random_state=1, n_shards=5, **how),
    "lda, learned, two chains": lambda **how: topoi.LDA(
        6, n_iter=21, random_state=1, n_shards=3, n_chains=2, learn_alpha=True, learn_beta=True, **how
    ),
    "author-topic": lambda **how: topoi.AuthorTopicModel(
        6, n_iter=21, random_state=1, n_shards=4, fictitious_authors=True, learn_alpha=True, **how
    ),
    "author-topic, many topics": lambda **how: topoi.AuthorTopicModel(300, n_iter=3, random_state=1, n_shards=3, **how),
    "lda, many topics": lambda **how: topoi.LDA(300, n_iter=3, random_state=1, n_shards=3, **how),
    "dmr, many topics": lambda **how: topoi.DirichletMultinomialRegression(
        300, features=["year"], n_iter=3, n_warmup=3, random_state=1, n_shards=3, **how
    ),
    "pachinko": lambda **how: topoi.PachinkoAllocation(2, 5, n_iter=21, random_state=1, n_shards=4, **how),
    "pachinko, another graph": lambda **how: topoi.PachinkoAllocation(
        dag=topoi.Dag.from_edges([("root", "a"), ("root", "b"), ("a", "b"), ("a", "c")]),
        n_iter=8,
        random_state=1,
        n_shards=3,
        **how,
    ),
    "dmr": lambda **how: topoi.DirichletMultinomialRegression(
        4, features=["year"], n_iter=24, n_warmup=10, learn_every=5, random_state=1, n_shards=4, **how
    ),
}

# Seeds, words that are banned and pinned, a topic that stays empty, and labels of some documents.
TOLD: dict[str, Any] = {"seeds": {"one": ["w1", "w2"], 3: {"w5": 4}}, "ban": {1: ["w3"], 4: "*"}, "pin": {3: ["w7"]}}
LABELS: dict[str, Any] = {"doc_labels": "label"}
GUIDED: dict[str, Any] = {
    "lda": lambda **how: topoi.LDA(6, n_iter=21, random_state=1, n_shards=5, n_chains=2, **TOLD, **how),
    "lda, labels": lambda **how: topoi.LDA(7, n_iter=12, random_state=1, n_shards=3, **TOLD, **LABELS, **how),
    "author-topic, labels": lambda **how: topoi.AuthorTopicModel(
        7, n_iter=21, random_state=1, n_shards=4, **TOLD, **LABELS, **how
    ),
    "dmr, labels": lambda **how: topoi.DirichletMultinomialRegression(
        7, features=["year"], n_iter=24, n_warmup=10, learn_every=5, random_state=1, n_shards=4, **TOLD, **LABELS, **how
    ),
    "pachinko": lambda **how: topoi.PachinkoAllocation(2, 6, n_iter=21, random_state=1, n_shards=4, **TOLD, **how),
    "pachinko, labels": lambda **how: topoi.PachinkoAllocation(
        2, 7, n_iter=21, random_state=1, n_shards=4, **TOLD, **LABELS, **how
    ),
    "pachinko, another graph, labels": lambda **how: topoi.PachinkoAllocation(
        dag=topoi.Dag.from_dict({"root": {"a": ["north", "one"], "b": ["one", "south"]}}),
        n_iter=21,
        learn_alpha="ml",
        ban={"one": ["w3"]},
        random_state=1,
        n_shards=3,
        **LABELS,
        **how,
    ),
}


def labelled_corpus() -> topoi.Corpus:
    """The corpus with labels: of some documents one, of some two, of others none."""
    labels = [[["north"], ["south", "north"], None][d % 3] for d in range(CORPUS.n_docs)]
    found = CORPUS.subset(np.arange(CORPUS.n_docs))
    found.documents = found.documents.assign(label=labels)
    return found


def assert_same(a: Any, b: Any, traces: bool = True) -> None:
    """All estimates and traces have the same bits; a fit that was stopped has a value more in its trace."""
    np.testing.assert_array_equal(a.topic_word_, b.topic_word_)
    np.testing.assert_array_equal(a.doc_topic_, b.doc_topic_)
    assert a.trace_.equals(b.trace_) or not traces
    mine, theirs = a.to_bundle()[1], b.to_bundle()[1]
    assert mine.keys() == theirs.keys()
    for name, array in mine.items():
        np.testing.assert_array_equal(array, theirs[name], name)
