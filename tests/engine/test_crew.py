"""Workers that die while they are prepared."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

distributed = pytest.importorskip("distributed")

from topoi.engine.cluster import worker as tasks  # noqa: E402
from topoi.engine.cluster.crew import Crew  # noqa: E402
from topoi.errors import ModelError  # noqa: E402


class Future:
    """A task that has ended."""

    def __init__(self, value: Any = None, error: BaseException | None = None) -> None:
        self.status, self._value, self._error = "error" if error else "finished", value, error

    def result(self, timeout: float) -> Any:
        return self._value

    def exception(self) -> BaseException | None:
        return self._error


class Client:
    """A cluster that has the workers of the first list until one of them has died, then those of the next."""

    status = "running"

    def __init__(self, *workers: list[str]) -> None:
        self.workers, self.deaths = list(workers), 0

    def nthreads(self) -> dict[str, int]:
        return dict.fromkeys(self.workers[min(self.deaths, len(self.workers) - 1)], 1)

    def submit(self, task: Any, **given: Any) -> Future:
        return Future(task())

    def scheduler_info(self, n_workers: int) -> dict[str, Any]:
        return {"workers": {address: {} for address in self.nthreads()}}

    def die(self, address: str) -> Future:
        self.deaths += 1
        return Future(error=distributed.KilledWorker("prepare", SimpleNamespace(address=address), 0))


def crew_of(client: Client) -> Crew:
    return Crew(client, [100, 200], lambda threads, tokens: 1)


@pytest.mark.parametrize("begun", [False, True])
def test_another_worker_takes_the_place_of_one_that_died(begun):
    client = Client(["tcp://a:1"], ["tcp://a:1"], ["tcp://b:1"])  # for a moment the scheduler still lists the dead
    crew = crew_of(client)
    crew._begun = begun
    crew.gather(lambda address: client.die(address) if address == "tcp://a:1" else Future(True))
    assert crew.members == {"tcp://b:1": 1} and crew.homes == ["tcp://b:1"] * 2


def test_workers_that_always_die_end_the_fit_with_a_sentence():
    client = Client(["tcp://a:1"])
    with pytest.raises(ModelError, match="21 workers in a row died while they were prepared"):
        crew_of(client).gather(client.die)


def test_a_worker_that_cannot_sample_is_refused():
    client = Client(["tcp://a:1"])
    with pytest.raises(ModelError, match="tcp://a:1 cannot sample: ValueError: no compiler"):
        crew_of(client).gather(lambda address: Future(error=ValueError("no compiler")))


def test_a_later_worker_of_another_version_leaves_no_worker(monkeypatch):
    client = Client(["tcp://a:1"])
    crew = crew_of(client)
    crew._begun = True
    monkeypatch.setattr(tasks, "teller", lambda: lambda: {"topoi": "another"})
    monkeypatch.setattr(client, "submit", lambda task, **given: Future({"topoi": "older"}))
    with pytest.raises(ModelError, match="no worker of the cluster can be used"):
        crew.gather(lambda address: Future(True))
