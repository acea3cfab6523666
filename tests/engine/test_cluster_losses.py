"""Losses during a fit on a cluster: it ends with the undisturbed bits, or with one clear sentence."""

from __future__ import annotations

import logging
import os
import random
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import topoi
from engine.cluster import CORPUS, FAMILIES, arm, assert_same, fill_disk, running
from topoi.engine.cluster import sampling as cluster_sampling
from topoi.engine.cluster import worker as tasks
from topoi.engine.cluster.files import SharedFolder, documents_file, state_file
from topoi.errors import ModelError, StoreError


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """Two workers that stay; tests that kill have clusters of their own."""
    with running(tmp_path_factory.mktemp("cluster")) as (_, client):
        yield client


@pytest.mark.parametrize(
    ("name", "shared"),
    [
        ("save", True),
        pytest.param("sample", False, marks=pytest.mark.slow),
        pytest.param("merge", True, marks=pytest.mark.slow),
        pytest.param("sample", True, marks=pytest.mark.slow),
        pytest.param("merge", False, marks=pytest.mark.slow),
        pytest.param("fetch", False, marks=pytest.mark.slow),
    ],
)
def test_worker_killed(name, shared, tmp_path, monkeypatch, caplog):
    """A worker dies while sampling, merging, writing or sending; another one comes."""
    monkeypatch.setattr(cluster_sampling, "STRETCH", 0.0 if name in ("save", "fetch") else 0.3)
    (tmp_path / "shared").mkdir()
    with running(tmp_path) as (cluster, client), caplog.at_level(logging.WARNING, "topoi"):
        # Only one worker merges; the others are armed in vain.
        one = name != "merge"
        client.run(arm, name, 6 if one else 3, workers=[min(client.nthreads())] if one else None)
        folder = tmp_path / "shared" if shared else None
        model = FAMILIES["lda"](executor=client, shared_folder=folder).set_params(n_iter=40)
        model.fit(CORPUS, callback=lambda info: info.sweep == 1 and cluster.add() is None)
        info = model.fit_info_
    assert_same(model, FAMILIES["lda"]().set_params(n_iter=40).fit(CORPUS))
    assert info["rollbacks"] >= 1
    assert "going back from sweep" in caplog.text


@pytest.mark.slow
def test_worker_killed_while_some_assignments_have_arrived(tmp_path, monkeypatch):
    """Without a shared folder the client's assignments are the root: half of a new one must not stay there."""
    monkeypatch.setattr(cluster_sampling, "STRETCH", 0.0)
    monkeypatch.setattr(cluster_sampling, "_AT_ONCE", 1)
    make = FAMILIES["lda, learned, two chains"]
    with running(tmp_path) as (_, client):
        client.run(arm, "fetch", 8, workers=[max(client.nthreads())])
        model = make(executor=client).fit(CORPUS)
    assert model.fit_info_["rollbacks"] >= 1
    assert_same(model, make().fit(CORPUS))


def kill_at_random(cluster: Any, n_kills: int, seed: int, stop: threading.Event) -> None:
    """Kill a worker, start another, again and again."""
    rng = random.Random(seed)
    for _ in range(n_kills):
        if stop.wait(rng.uniform(0.5, 2.5)):
            return
        alive = [process for process in cluster.workers if process.poll() is None]
        cluster.add()
        cluster.kill(rng.choice(alive))


def check_random_kills(folder: Path, n_kills: int, n_iter: int, seed: int, shared: Path | None) -> int:
    """Fit while workers are killed; return the number of rollbacks."""
    make, stop = FAMILIES["author-topic"], threading.Event()
    with running(folder) as (cluster, client):
        killer = threading.Thread(target=kill_at_random, args=(cluster, n_kills, seed, stop))
        done = [0]

        def ends(info: Any) -> bool:
            # Not before the first sweep: on a busy machine all would be killed while the workers compile.
            if not done[0]:
                killer.start()
            done[0] = info.sweep
            return not killer.is_alive() and info.sweep >= n_iter

        model = make(executor=client, shared_folder=shared, evaluate_every=1).set_params(n_iter=100_000)
        model.fit(CORPUS, callback=ends)
        stop.set()
        killer.join()
    assert_same(model, make(evaluate_every=1).set_params(n_iter=done[0]).fit(CORPUS))
    return int(model.fit_info_["rollbacks"])


def test_five_random_kills(tmp_path, monkeypatch):
    monkeypatch.setattr(cluster_sampling, "STRETCH", 0.3)
    (tmp_path / "shared").mkdir()
    assert check_random_kills(tmp_path, 5, 20, 0, tmp_path / "shared") >= 1


def test_a_worker_says_what_it_has_lost(tmp_path):
    """Beyond the root nothing is made anew: neither from files nor from a state of another sweep."""
    model = FAMILIES["lda"]().fit(CORPUS)
    sampler, chain = model._sampler, model._chains[0]
    work, assignments = sampler.shard_work(0), sampler.give_assignments(chain, 0)
    folder = SharedFolder(str(tmp_path)).below("fit")
    folder.write(documents_file(0), work.to_arrays())
    folder.write(state_file(0, 0, 3), assignments)
    job = tasks.Job("a fit of this test", type(work), folder.address, 1, 1)

    def sample(sweep: int, root: int) -> None:
        tasks.sample(job, 0, 0, sweep, root, sampler.sent_priors(chain), chain.counts, None)

    try:
        for sweep in (4, 5):
            with pytest.raises(tasks.StateLost, match=f"shard 0 after sweep {sweep - 1} of chain 0"):
                sample(sweep, root=2)
        sample(4, root=3)  # from the file
        sample(5, root=3)  # from the worker's own state
        with pytest.raises(tasks.StateLost, match="shard 0 after sweep 6 of chain 0"):
            tasks.log_joint(job, 0, 0, 6, sampler.sent_priors(chain))
        with pytest.raises(tasks.StateLost, match="shard 0 after sweep 7 of chain 0"):
            sample(8, root=3)
    finally:
        tasks.forget(job.fit)


@pytest.mark.slow
@pytest.mark.parametrize("shared", [False, True])
def test_many_random_kills(shared, tmp_path, monkeypatch):
    monkeypatch.setattr(cluster_sampling, "STRETCH", 0.3)
    (tmp_path / "shared").mkdir()
    assert check_random_kills(tmp_path, 30, 20, 1 + shared, tmp_path / "shared" if shared else None) >= 5


@pytest.mark.slow
def test_workers_come_and_go(tmp_path, monkeypatch):
    """A worker that is added takes over shards; one that is retired leaves them to the others."""
    monkeypatch.setattr(cluster_sampling, "STRETCH", 0.0)
    sizes = []
    with running(tmp_path, 1) as (cluster, client):

        def manage(info: Any) -> bool:
            if info.sweep == 3:
                cluster.add()
            members = len(client.nthreads())
            if members == 2 and len(sizes) < 12:
                sizes.append(info.sweep)
                if len(sizes) == 12:
                    client.retire_workers([min(client.nthreads())])
            time.sleep(0.05 if len(sizes) < 12 else 0)
            return len(sizes) == 12 and members == 1 and info.sweep > sizes[-1] + 5

        model = FAMILIES["lda"](executor=client).set_params(n_iter=5000)
        model.fit(CORPUS, callback=manage)
    n_iter = model.n_iter_
    assert_same(model, FAMILIES["lda"]().set_params(n_iter=n_iter).fit(CORPUS), traces=False)
    assert n_iter < 5000


@pytest.mark.slow
def test_scheduler_killed(tmp_path):
    """One clear sentence; the checkpoint goes on to the undisturbed bits."""
    path = tmp_path / "fit.checkpoint"
    with running(tmp_path) as (cluster, client):
        model = FAMILIES["lda"](executor=client, checkpoint=path, checkpoint_every=2).set_params(n_iter=100_000)

        def kill(info: Any) -> None:
            if info.sweep == 7:
                cluster.kill(cluster.scheduler)

        cluster_sampling_patience(3.0)
        with pytest.raises(ModelError, match=r"the scheduler tcp://127.* cannot be reached; fit again with the same"):
            model.fit(CORPUS, callback=kill)
        cluster_sampling_patience(60.0)
    again = FAMILIES["lda"](checkpoint=path).set_params(n_iter=12).fit(CORPUS)
    assert_same(again, FAMILIES["lda"]().fit(CORPUS))


def cluster_sampling_patience(seconds: float) -> None:
    """Set how long the client waits for a scheduler."""
    from topoi.engine.cluster import crew

    crew.PATIENCE = seconds


@pytest.mark.slow
def test_client_killed(cluster, tmp_path):
    """Another client goes on from the checkpoint."""
    path = tmp_path / "fit.checkpoint"
    program = f"""
        import os, signal
        from distributed import Client
        from engine.test_cluster import CORPUS, FAMILIES
        with Client({cluster.scheduler.address!r}) as client:
            model = FAMILIES["lda"](executor=client, checkpoint={str(path)!r}, checkpoint_every=1)
            model.fit(CORPUS, callback=lambda info: info.sweep == 7 and os.kill(os.getpid(), signal.SIGKILL))
    """
    here = Path(__file__).parents[1]
    known = {**os.environ, "PYTHONPATH": f"{Path(topoi.__file__).parents[1]}{os.pathsep}{here}"}
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], env=known, capture_output=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    again = FAMILIES["lda"](executor=cluster, checkpoint=path).fit(CORPUS)
    assert_same(again, FAMILIES["lda"]().fit(CORPUS))


def test_disk_full(tmp_path, monkeypatch):
    monkeypatch.setattr(cluster_sampling, "STRETCH", 0.0)
    (tmp_path / "shared").mkdir()
    with running(tmp_path) as (_, client):

        def fill(info: Any) -> None:
            if info.sweep == 4:
                client.run(fill_disk)

        model = FAMILIES["lda"](executor=client, shared_folder=tmp_path / "shared")
        with pytest.raises(StoreError, match=r"cannot write .*chain0-shard.* in the shared folder: File too large"):
            model.fit(CORPUS, callback=fill)
    assert list((tmp_path / "shared").iterdir()) == []


def older_topoi(folder: Path) -> str:
    """A path from which Python imports a topoi of another version."""
    package = folder / "older" / "topoi"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text('__version__ = "0.0.1"\n')
    return str(folder / "older")


def test_another_version_on_a_worker(tmp_path):
    with running(tmp_path, 0) as (cluster, client):
        cluster.add(PYTHONPATH=older_topoi(tmp_path))
        client.wait_for_workers(1, timeout=60)
        with pytest.raises(ModelError, match=r"worker tcp://.* has topoi 0.0.1, and this process has topoi \d"):
            FAMILIES["lda"](executor=client).fit(CORPUS)


@pytest.mark.slow
def test_another_version_on_a_worker_that_comes_later(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(cluster_sampling, "STRETCH", 0.0)
    with running(tmp_path, 1) as (cluster, client), caplog.at_level(logging.WARNING, "topoi"):

        def add(info: Any) -> bool:
            if info.sweep == 2:
                cluster.add(PYTHONPATH=older_topoi(tmp_path))
            return "goes on without it" in caplog.text

        model = FAMILIES["lda"](executor=client).set_params(n_iter=5000)
        model.fit(CORPUS, callback=add)
    assert model.n_iter_ < 5000
    assert_same(model, FAMILIES["lda"]().set_params(n_iter=model.n_iter_).fit(CORPUS), traces=False)


# Changes of counts.
