"""Checkpoints of sparse fits with replaced values: refused, or a fit that ends; nothing hangs or runs out of bounds."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import topoi
from topoi.engine.checkpoint import read_bundle, write_bundle
from topoi.errors import ModelError, StoreError

N_MUTATIONS, AT, N_ITER = 300, 8, 13
FLOATS = [np.inf, -np.inf, np.nan, 0.0, -1.0, 1e38, 1e300, 1e-45, 1e-300, 1e30, 1e-30]
SWEEPS = [-(10**12), -3, 0, 2, 7.5, "x", None, True, 2**70]


def corpus_of_many():
    return topoi.PachinkoAllocation(3, 6, alpha=0.2, root_alpha=0.3, beta=0.05).simulate(240, 12, random_state=3)


def make(name, checkpoint):
    options = {"sparse": True, "random_state": 1, "n_iter": N_ITER, "checkpoint": checkpoint, "checkpoint_every": 1000}
    return topoi.LDA(5, **options) if name == "LDA" else topoi.PachinkoAllocation(3, 5, learn_alpha="ml", **options)


def checkpoint_of(name, corpus, path):
    """A checkpoint in the middle of growth."""
    make(name, path).fit(corpus, callback=lambda info: info.sweep == AT)
    return read_bundle(path, "checkpoint")


def mutated(rng, bundle):
    """The bundle with one array, or one number of its progress, replaced."""
    arrays = {name: array.copy() for name, array in bundle.arrays.items()}
    meta = json.loads(json.dumps(bundle.meta))
    name, kind = str(rng.choice(sorted(arrays))), rng.integers(6)
    array = arrays[name]
    if kind == 0:
        meta["progress"]["sweep"] = SWEEPS[rng.integers(len(SWEEPS))]
    elif kind == 1:
        arrays[name] = array[:-1] if rng.random() < 0.5 else array.astype(rng.choice(["<f8", "<i8", "<u2", "<u4"]))
    else:
        here = rng.integers(0, array.size, rng.integers(1, 20)) if kind < 5 else slice(None)
        whole = array.dtype.kind != "f"
        array.reshape(-1)[here] = rng.integers(np.iinfo(array.dtype).max) if whole else rng.choice(FLOATS)
    return meta, arrays


def fuzz(name, folder):
    """How many of the mutations were refused, and how many were fitted."""
    corpus, rng, counted = corpus_of_many(), np.random.default_rng(0), {"refused": 0, "fitted": 0}
    bundle, bad = checkpoint_of(name, corpus, folder / "good"), folder / "bad"
    for _ in range(N_MUTATIONS // 2):
        write_bundle(bad, "checkpoint", *mutated(rng, bundle))
        try:
            model = make(name, bad).fit(corpus)
        except (StoreError, ModelError):
            counted["refused"] += 1
            continue
        assert np.isfinite(model.topic_word_).all() and np.isfinite(model.doc_topic_).all()
        assert np.isfinite(model.trace_["log_joint"].iloc[-1])
        counted["fitted"] += 1
    return counted


@pytest.mark.parametrize("name", ["LDA", pytest.param("pachinko", marks=pytest.mark.slow)])
def test_no_damage_makes_a_fit_hang(name, tmp_path):
    run = subprocess.run(
        [sys.executable, str(Path(__file__)), name, str(tmp_path)], capture_output=True, text=True, timeout=300
    )
    assert run.returncode == 0, run.stderr
    counted = json.loads(run.stdout)
    assert counted["refused"] > 60 and counted["fitted"] > 5


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory):
    folder, corpus = tmp_path_factory.mktemp("checkpoints"), corpus_of_many()
    return corpus, {name: checkpoint_of(name, corpus, folder / name) for name in ("LDA", "pachinko")}


@pytest.mark.parametrize("name", ["LDA", "pachinko"])
@pytest.mark.parametrize(
    ("array", "value"),
    [("alpha", np.inf), ("alpha", 1e300), ("alpha", 1e-60), ("alpha", np.nan), ("beta", np.inf), ("n_in", 100)],
)
def test_what_a_kernel_could_not_survive_is_refused(checkpoints, name, array, value, tmp_path):
    corpus, bundles = checkpoints
    meta, arrays = bundles[name]
    wrong = arrays[f"chain0_{array}"].copy()
    wrong[0] = value
    write_bundle(tmp_path / "bad", "checkpoint", meta, arrays | {f"chain0_{array}": wrong})
    with pytest.raises(StoreError, match="damaged"):
        make(name, tmp_path / "bad").fit(corpus)


@pytest.mark.parametrize("sweep", [-(10**12), 7.5, True, "8", None])
def test_a_sweep_is_a_whole_number(checkpoints, sweep, tmp_path):
    corpus, bundles = checkpoints
    meta, arrays = bundles["LDA"]
    progress = meta["progress"] | {"sweep": sweep}
    write_bundle(tmp_path / "bad", "checkpoint", meta | {"progress": progress}, arrays)
    with pytest.raises(StoreError, match="damaged"):
        make("LDA", tmp_path / "bad").fit(corpus)


if __name__ == "__main__":
    sys.stdout.write(json.dumps(fuzz(sys.argv[1], Path(sys.argv[2]))))
