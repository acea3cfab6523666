"""Fits on a real cluster have the bits of fits on one machine, whatever happens to the workers."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import topoi
from engine.cluster import CORPUS, FAMILIES, GUIDED, assert_same, labelled_corpus, running
from thinning import slow_unless
from topoi.engine.cluster import deltas
from topoi.engine.cluster import sampling as cluster_sampling
from topoi.engine.cluster import worker as tasks
from topoi.engine.cluster.cost import Machine, predict
from topoi.engine.cluster.files import SharedFolder
from topoi.errors import ModelError, StoreError

SLOW_FAMILIES = ("author-topic, many topics", "lda, many topics", "pachinko, another graph")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """Two workers that stay; tests that kill have clusters of their own."""
    with running(tmp_path_factory.mktemp("cluster")) as (_, client):
        yield client


@pytest.mark.parametrize(
    ("number", "family"), slow_unless(lambda case: case[1] not in SLOW_FAMILIES, list(enumerate(FAMILIES)))
)
def test_same_bits_as_on_one_machine(cluster, number, family, tmp_path):
    """Every other family with a shared folder."""
    folder = tmp_path if number % 2 else None
    model = FAMILIES[family](executor=cluster, shared_folder=folder).fit(CORPUS)
    assert_same(model, FAMILIES[family]().fit(CORPUS))
    assert (model.fit_info_["workers"], model.fit_info_["rollbacks"]) == (2, 0)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("number", "family"), list(enumerate(GUIDED)))
def test_guided_fits_have_the_bits_of_one_machine(cluster, number, family, tmp_path):
    """Beta is learned, too, and with it what banned cells of the workers' counts hold."""
    corpus, folder = labelled_corpus(), tmp_path if number % 2 else None
    model = GUIDED[family](executor=cluster, shared_folder=folder).fit(corpus)
    alone = GUIDED[family]().fit(corpus)
    assert_same(model, alone)
    assert model.topic_word_[1, model.vocabulary_.index("w3")] == 0
    if family in ("lda", "author-topic, labels"):
        betas = [array for name, array in alone.to_bundle()[1].items() if name.endswith("_beta")]
        assert not np.allclose(betas[0], 0.01)  # it was learned


@pytest.mark.parametrize("family", slow_unless(lambda name: name != "dmr", ["lda, learned, two chains", "dmr"]))
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
    deadline = time.monotonic() + 60  # futures are let go of in the background
    while cluster.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks)) and time.monotonic() < deadline:
        gc.collect()  # of earlier tests, too: what a caught error's traceback holds is kept until then
        time.sleep(0.05)
    assert cluster.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks)) == 0


def test_counts_in_several_ranges(cluster, monkeypatch):
    monkeypatch.setattr(cluster_sampling, "_PER_RANGE", 1)
    monkeypatch.setattr(cluster_sampling, "_FEWEST_CELLS", 10)
    model = FAMILIES["author-topic"](executor=cluster).fit(CORPUS)
    assert_same(model, FAMILIES["author-topic"]().fit(CORPUS))


def test_resume_and_checkpoint(cluster, tmp_path):
    """Sweeps here and sweeps on a cluster are the same chain."""
    whole = FAMILIES["lda"]().set_params(n_iter=20).fit(CORPUS)
    model = FAMILIES["lda"](executor=cluster).fit(CORPUS)
    of_fit = model.fit_info_["bytes_per_sweep"]
    assert_same(model.resume(8), whole, traces=False)
    assert of_fit / 3 < model.fit_info_["bytes_per_sweep"] <= of_fit  # of the sweeps that were resumed
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


@pytest.mark.parametrize(
    ("n_workers", "n_shards", "passes"),
    [
        (1, 1, 2 + 3 + 1),  # new counts, the shard's, and the client's; one shard's changes are not added up
        (1, 4, 2 + 3 * 4 + (4 + 3) + 1),
        (2, 4, 2 + 3 * 2 + (2 + 3) + (2 + 3) + 1),  # a worker's own two shards, then those of two workers
        (4, 4, 2 + 3 + (4 + 3) + 1),
    ],
)
def test_cost_of_passes_over_counts(n_workers, n_shards, passes):
    machine = Machine(np.inf, 1e9, np.inf, 0.0, 0.0)
    cost = predict(1e6, 1000, 100, n_workers, machine, n_shards=n_shards)
    assert cost.seconds == pytest.approx(passes * 1000 * 112 / 1e9)


@pytest.mark.parametrize(("n_shards", "alone"), [(4, 7 + 1), (32, 1)])  # in one range, and in eight
def test_cost_of_passes_while_others_wait(n_shards, alone):
    busy = Machine(np.inf, 1e9, np.inf, 0.0, 0.0)
    waiting = busy._replace(cells_alone=2e9)
    saved = [predict(1e6, 10_000, 100, 4, machine, n_shards=n_shards).seconds for machine in (busy, waiting)]
    assert saved[0] - saved[1] == pytest.approx(alone * 10_000 * 112 / 2e9)


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
