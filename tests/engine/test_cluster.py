"""Fits on a real cluster have the bits of fits on one machine, whatever happens to the workers."""

from __future__ import annotations

import json
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

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import topoi
from engine.cluster import arm, fill_disk, running
from topoi.engine.cluster import deltas
from topoi.engine.cluster import sampling as cluster_sampling
from topoi.engine.cluster import worker as tasks
from topoi.engine.cluster.files import SharedFolder
from topoi.errors import ModelError, StoreError


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


def assert_same(a: Any, b: Any, traces: bool = True) -> None:
    """All estimates and traces have the same bits; a fit that was stopped has a value more in its trace."""
    np.testing.assert_array_equal(a.topic_word_, b.topic_word_)
    np.testing.assert_array_equal(a.doc_topic_, b.doc_topic_)
    assert a.trace_.equals(b.trace_) or not traces
    mine, theirs = a.to_bundle()[1], b.to_bundle()[1]
    assert mine.keys() == theirs.keys()
    for name, array in mine.items():
        np.testing.assert_array_equal(array, theirs[name], name)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """Two workers that stay; tests that kill have clusters of their own."""
    with running(tmp_path_factory.mktemp("cluster")) as (_, client):
        yield client


@pytest.mark.parametrize(("number", "family"), list(enumerate(FAMILIES)))
def test_same_bits_as_on_one_machine(cluster, number, family, tmp_path):
    """Every other family with a shared folder."""
    folder = tmp_path if number % 2 else None
    model = FAMILIES[family](executor=cluster, shared_folder=folder).fit(CORPUS)
    assert_same(model, FAMILIES[family]().fit(CORPUS))
    assert (model.fit_info_["workers"], model.fit_info_["rollbacks"]) == (2, 0)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("family", ["lda, learned, two chains", "dmr"])
def test_workers_with_threads_in_this_process(family):
    """Workers that share memory with the client, and run several tasks at a time."""
    from distributed import Client, LocalCluster

    how = {"processes": False, "n_workers": 2, "threads_per_worker": 2, "dashboard_address": "127.0.0.1:0"}
    with LocalCluster(**how) as local, Client(local) as client:
        model = FAMILIES[family](executor=client).fit(CORPUS)
    assert_same(model, FAMILIES[family]().fit(CORPUS))


def test_many_topics_are_sampled_by_lists():
    """The fits above with many topics do not only use the kernels for few."""
    chains = [FAMILIES[f"{name}, many topics"]().fit(CORPUS)._chains[0] for name in ("author-topic", "dmr")]
    assert all(shard.use_lists(chain.counts) for chain in chains for shard in chain.shards)


def test_workers_forget_a_fit(cluster):
    FAMILIES["lda"](executor=cluster).fit(CORPUS)
    assert set(cluster.run(lambda: len(tasks._fits)).values()) == {0}
    assert cluster.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks)) == 0


def test_counts_in_several_ranges(cluster, monkeypatch):
    monkeypatch.setattr(cluster_sampling, "_PER_RANGE", 1)
    monkeypatch.setattr(cluster_sampling, "_FEWEST_CELLS", 10)
    model = FAMILIES["author-topic"](executor=cluster).fit(CORPUS)
    assert_same(model, FAMILIES["author-topic"]().fit(CORPUS))


def test_resume_and_checkpoint(cluster, tmp_path):
    """Sweeps here and sweeps on a cluster are the same chain."""
    whole = FAMILIES["lda"]().set_params(n_iter=20).fit(CORPUS)
    assert_same(FAMILIES["lda"](executor=cluster).fit(CORPUS).resume(8), whole, traces=False)
    path = tmp_path / "fit.checkpoint"
    FAMILIES["lda"](executor=cluster, checkpoint=path, checkpoint_every=5).fit(CORPUS)
    assert_same(FAMILIES["lda"](checkpoint=path).set_params(n_iter=20).fit(CORPUS), whole, traces=False)


def test_copies_and_files_leave_the_cluster_behind(cluster, tmp_path):
    model = FAMILIES["lda"](executor=cluster, shared_folder=tmp_path).fit(CORPUS)
    assert clone(model).executor is cluster and model.executor is cluster
    model.save(tmp_path / "lda.topoi")
    loaded = topoi.load(tmp_path / "lda.topoi")
    assert (loaded.executor, loaded.shared_folder) == (None, None)
    assert_same(loaded, model)


def test_command_line(cluster, tmp_path):
    """``topoi fit --cluster`` makes a client of its own."""
    text = " ".join(CORPUS.words[w] for w in CORPUS.tokens[:30])
    (tmp_path / "texts.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for _ in range(9)))
    known = {**os.environ, "PYTHONPATH": str(Path(topoi.__file__).parents[1])}
    program = "import sys; from topoi.cli.main import main; sys.exit(main(sys.argv[1:]))"
    words = "fit texts.jsonl --model lda --topics 3 -i 5 --shards 3 --quiet --max-df 1.0 -o lda.topoi --shared-folder ."
    command = [sys.executable, "-c", program, *words.split(), "--cluster", cluster.scheduler.address]
    done = subprocess.run(command, env=known, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    model = topoi.load(tmp_path / "lda.topoi")
    assert_same(model, topoi.LDA(3, n_iter=5, random_state=0, n_shards=3).fit(model.corpus_))
    assert model.fit_info_["workers"] == 2


@pytest.mark.parametrize(
    ("settings_", "message"),
    [
        ({"executor": 3}, "executor is 3; pass a dask.distributed.Client"),
        ({"shared_folder": "somewhere"}, "shared_folder is for fits on a cluster"),
    ],
)
def test_wrong_executor(settings_, message):
    with pytest.raises(ModelError, match=message):
        FAMILIES["lda"](**settings_).fit(CORPUS)


def test_what_a_cluster_cannot_do(cluster, tmp_path):
    with pytest.raises(ModelError, match="sparse='counts' cannot be used on a cluster"):
        topoi.LDA(3, n_iter=5, sparse="counts", executor=cluster).fit(CORPUS)
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match=r"cannot make .*file/topoi-.* in the shared folder: Not a directory"):
        FAMILIES["lda"](executor=cluster, shared_folder=tmp_path / "file").fit(CORPUS)


def test_too_little_memory_is_said_before_work(cluster, monkeypatch):
    monkeypatch.setattr(tasks, "bytes_needed", lambda *sizes: 10**12)
    with pytest.raises(ModelError, match=r"worker tcp://127.* needs 1000.0 GB for its shards and counts"):
        FAMILIES["lda"](executor=cluster).fit(CORPUS)


# What happens to workers.


@pytest.mark.parametrize(
    ("name", "shared"),
    [
        ("sample", False),
        ("save", True),
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
        killer.start()
        done = [0]

        def ends(info: Any) -> bool:
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


@pytest.mark.slow
@pytest.mark.parametrize("shared", [False, True])
def test_many_random_kills(shared, tmp_path, monkeypatch):
    monkeypatch.setattr(cluster_sampling, "STRETCH", 0.3)
    (tmp_path / "shared").mkdir()
    assert check_random_kills(tmp_path, 30, 20, 1 + shared, tmp_path / "shared" if shared else None) >= 5


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


@given(st.integers(0, 2**32), st.integers(1, 5), st.sampled_from([2, 300, 70_000]), st.sampled_from([0.01, 0.9]))
@settings(max_examples=30, deadline=None)
def test_deltas_are_exact(seed, n_ranges, largest, share):
    rng = np.random.default_rng(seed)
    base = [rng.integers(0, largest, (11, 4)).astype(np.float32), rng.integers(0, largest, 7).astype(np.float64)]

    def changed() -> list[np.ndarray]:
        return [
            np.where(rng.random(a.shape) < share, rng.integers(0, largest, a.shape), a).astype(a.dtype) for a in base
        ]

    several = [changed() for _ in range(3)]
    pieces = [deltas.differences(base, each, n_ranges) for each in several]
    sizes = [[here.stop - here.start for here in deltas.bounds(a.size, n_ranges)] for a in base]
    total = [deltas.added([p[r] for p in pieces], [s[r] for s in sizes]) for r in range(n_ranges)]
    found = [a.copy() for a in base]
    deltas.apply(found, total)
    for a, b, *parts in zip(found, base, *several, strict=True):
        np.testing.assert_array_equal(a, b + sum(part - b for part in parts))


def test_few_changes_take_few_bytes():
    base = np.zeros((1000, 100), np.float32)
    some = base.copy()
    some[5, 5] = 3
    assert deltas.differences([base], [some], 1)[0].nbytes == 5
    assert deltas.differences([base], [base + 1], 1)[0].nbytes == base.size


def test_a_damaged_file_in_the_shared_folder(tmp_path):
    folder = SharedFolder(str(tmp_path))
    folder.write("one.topoi", {"x": np.arange(1000)})
    content = bytearray((tmp_path / "one.topoi").read_bytes())
    content[len(content) // 2] ^= 1
    (tmp_path / "one.topoi").write_bytes(content)
    with pytest.raises(StoreError, match=r"one.topoi is damaged"):
        folder.read("one.topoi")
