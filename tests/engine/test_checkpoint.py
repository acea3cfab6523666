"""Checkpoints: a fit that was killed, or refused, or continued, ends with the bits of one that never was."""

import hashlib
import os
from pathlib import Path

import numpy as np
import pytest

import topoi
from engine.processes import start_python
from topoi.engine.checkpoint import Checkpoint, parse_interval, read_bundle, write_bundle
from topoi.errors import ModelError, StoreError

N_ITER = 32


def digest(model):
    state = hashlib.blake2b(digest_size=8)
    for chain in model._chains:
        for name, array in sorted(model._sampler.to_arrays(chain).items()):
            state.update(name.encode() + array.tobytes())
    return state.hexdigest()


def make_corpus(n_docs=40, length=30, seed=1):
    return topoi.AuthorTopicModel(4, alpha=0.2, beta=0.05).simulate(n_docs, length, authors=8, random_state=seed)


MODELS = {
    "AuthorTopicModel": lambda **kw: topoi.AuthorTopicModel(5, learn_alpha=True, **kw),
    "fictitious": lambda **kw: topoi.AuthorTopicModel(5, fictitious_authors=True, learn_beta=True, **kw),
    "LDA": lambda **kw: topoi.LDA(5, learn_alpha="symmetric", **kw),
    "AuthorModel": lambda **kw: topoi.AuthorModel(**kw),
}


@pytest.fixture(scope="module")
def corpus():
    return make_corpus()


class Crash(Exception):
    pass


def crash_at(sweep):
    def callback(info):
        if info.sweep == sweep:
            raise Crash

    return callback


@pytest.mark.parametrize("n_shards", [1, 3])
@pytest.mark.parametrize("name", MODELS)
def test_broken_off_fit_continues_with_the_same_bits(corpus, tmp_path, name, n_shards):
    options = {"n_iter": N_ITER, "n_chains": 2, "n_shards": n_shards, "n_jobs": 2, "random_state": 3}
    whole = MODELS[name](**options).fit(corpus)
    path = tmp_path / "fit.checkpoint"
    for sweep in (1, 9, 25):
        with pytest.raises(Crash):
            MODELS[name](checkpoint=path, checkpoint_every=1, **options).fit(corpus, callback=crash_at(sweep))
    sweeps = []
    model = MODELS[name](checkpoint=path, checkpoint_every=1, **options)
    model.fit(corpus, callback=lambda info: sweeps.append(info.sweep))
    assert sweeps[0] == 25  # the sweep before the crash was the last one written
    assert digest(model) == digest(whole)
    assert model.trace_.equals(whole.trace_)


def test_finished_checkpoint_gives_the_model_at_once(corpus, tmp_path):
    options = {"n_iter": 12, "random_state": 3, "checkpoint": tmp_path / "c"}
    first = topoi.LDA(3, **options).fit(corpus)
    again = topoi.LDA(3, **options).fit(corpus, callback=lambda info: pytest.fail("nothing was left to do"))
    assert digest(again) == digest(first) and again.n_iter_ == 12


# One process that has everything imported and forks the fits, so that each starts at once. Those to be killed would
# go on for ever; the last two stop a few sweeps after the last checkpoint.
KILLING = """
import os, random, signal, sys, time
folder, tests, *names = sys.argv[1:]
sys.path.insert(0, tests)
from engine.test_checkpoint import MODELS, digest, make_corpus
from topoi.engine.checkpoint import read_bundle
corpus, rng = make_corpus(100, 60), random.Random(0)

def fit(name, n_iter, checkpoint):
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        options = {"n_iter": n_iter, "n_chains": 2, "n_shards": 2, "random_state": 5}
        model = MODELS[name](checkpoint=checkpoint, checkpoint_every=1, **options)
        model.fit(corpus, callback=lambda info: os.write(writer, b"%d\\n" % info.sweep) and None)
        os.write(writer, digest(model).encode())
        os._exit(0)
    os.close(writer)
    return child, os.fdopen(reader)

for name in names:
    path = os.path.join(folder, name)
    MODELS[name](n_iter=1, n_shards=2, random_state=0).fit(corpus)  # compiled once, here
    for _ in range(6):
        child, output = fit(name, 10**6, path)
        for _ in range(rng.randint(1, 6)):
            output.readline()
        time.sleep(rng.random() * 0.02)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    n_iter = read_bundle(path, "checkpoint").meta["progress"]["sweep"] + 5
    for checkpoint in (path, None):
        child, output = fit(name, n_iter, checkpoint)
        lines = output.read().split()
        os.waitpid(child, 0)
        print(name, n_iter, lines[0], lines[-1])
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes that can be forked")
def test_killed_at_random_moments_ends_with_the_same_bits(tmp_path):
    """SIGKILL in the middle of sweeps and of writing, several times over."""
    names = ["AuthorTopicModel", "AuthorModel"]
    output, errors = start_python(KILLING, tmp_path, Path(__file__).parents[1], *names).communicate()
    lines = [line.split() for line in output.splitlines()]
    assert not errors and [line[0] for line in lines] == [name for name in names for _ in range(2)]
    for continued, undisturbed in zip(lines[::2], lines[1::2], strict=True):
        assert int(continued[2]) == int(continued[1]) - 4 and undisturbed[2] == "1"  # the one went on, the other began
        assert continued[3] == undisturbed[3]
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(names)


DIFFERENT = {
    "alpha": {"alpha": 0.3},
    "n_topics": {"n_topics": 4},
    "n_chains": {"n_chains": 2},
    "n_shards": {"n_shards": 2},
    "learn_alpha": {"learn_alpha": True},
    "random_state": {"random_state": 8},
}


@pytest.mark.parametrize("name", [*DIFFERENT, "corpus", "model"])
def test_checkpoint_of_another_fit_is_refused_and_says_what_differs(corpus, tmp_path, name):
    options = {"n_topics": 3, "n_iter": 3, "random_state": 7, "checkpoint": tmp_path / "c"}
    topoi.LDA(**options).fit(corpus)
    before = (tmp_path / "c").read_bytes()
    other = topoi.AuthorTopicModel if name == "model" else topoi.LDA
    with pytest.raises(ModelError, match=rf"c belongs to another fit \(different: .*{name}.*\); remove it"):
        other(**options | DIFFERENT.get(name, {})).fit(make_corpus(seed=2) if name == "corpus" else corpus)
    assert (tmp_path / "c").read_bytes() == before


def test_n_iter_may_grow_but_not_shrink(corpus, tmp_path):
    options = {"random_state": 7, "checkpoint": tmp_path / "c", "n_jobs": 1}
    topoi.LDA(3, n_iter=5, **options).fit(corpus)
    grown = topoi.LDA(3, n_iter=11, **options | {"n_jobs": 2}).fit(corpus)
    assert digest(grown) == digest(topoi.LDA(3, n_iter=11, random_state=7).fit(corpus))
    with pytest.raises(ModelError, match="sweep 11, beyond n_iter=4; raise n_iter"):
        topoi.LDA(3, n_iter=4, **options).fit(corpus)


@pytest.mark.parametrize("first", [None, 12])
def test_without_a_random_state_the_saved_seed_goes_on(corpus, tmp_path, first):
    path = tmp_path / "c"
    start = topoi.LDA(3, n_iter=5, random_state=first, checkpoint=path).fit(corpus)
    more = topoi.LDA(3, n_iter=9, checkpoint=path).fit(corpus)
    assert more.fit_info_["seed"] == start.fit_info_["seed"]
    assert digest(more) == digest(topoi.LDA(3, n_iter=9, random_state=start.fit_info_["seed"]).fit(corpus))


def test_generator_is_drawn_from_once_with_or_without_a_checkpoint(corpus, tmp_path):
    seeds = []
    for options in ({}, {"checkpoint": tmp_path / "c"}, {"checkpoint": tmp_path / "c"}):
        rng = np.random.default_rng(4)
        seeds.append((topoi.LDA(3, n_iter=2, random_state=rng, **options).fit(corpus).fit_info_["seed"], rng.random()))
    assert seeds[0] == seeds[1] == seeds[2]


def test_intervals_are_sweeps_or_times():
    assert parse_interval(3) == (3, None) and parse_interval(np.int64(3)) == (3, None)
    assert [parse_interval(t)[1] for t in ("30s", " 5 min ", "1.5h", "2sec", "0s")] == [30, 300, 5400, 2, 0]


@pytest.mark.parametrize("every", [0, -1, True, 2.5, None, "5", "min", "-5min", "5 parsecs", "1e3s"])
def test_other_intervals_are_refused(every, corpus, tmp_path):
    with pytest.raises(ModelError, match="checkpoint_every is .*'5min'"):
        topoi.LDA(2, n_iter=1, checkpoint=tmp_path / "c", checkpoint_every=every).fit(corpus)


def test_due_after_so_many_sweeps_or_seconds(tmp_path, monkeypatch):
    clock = [0.0]
    monkeypatch.setattr("topoi.engine.checkpoint.time.monotonic", lambda: clock[0])
    by_sweeps, by_time = (Checkpoint(tmp_path / "c", every, {}) for every in (3, "5min"))
    assert [by_sweeps.due(s) for s in (1, 2, 3)] == [False, False, True]
    by_sweeps.write(3, {}, {})
    assert [by_sweeps.due(s) for s in (4, 6)] == [False, True]
    clock[0] = 299.0
    assert not by_time.due(1000)
    clock[0] = 300.0
    assert by_time.due(1)
    by_time.write(1, {}, {})
    assert not by_time.due(2)


def damage(path, how):
    meta, arrays = read_bundle(path, "checkpoint")
    if how == "bytes":
        path.write_bytes(path.read_bytes()[:-30])
        return
    if how == "identity":
        meta["identity"] = None
    elif how == "progress":
        meta["progress"] = {"sweep": 1}
    elif how == "traces":
        meta["progress"]["traces"] = []
    elif how == "missing":
        del arrays["chain0_topic"]
    elif how == "negative":
        arrays["chain0_topic"] = arrays["chain0_topic"].astype(np.int64) - 5
    elif how == "large":
        arrays["chain0_topic"] = arrays["chain0_topic"] + np.uint16(3)
    elif how == "short":
        arrays["chain0_topic"] = arrays["chain0_topic"][1:]
    else:
        arrays["chain0_beta"] = arrays["chain0_beta"][1:]
    write_bundle(path, "checkpoint", meta, arrays)


DAMAGES = ["bytes", "identity", "progress", "traces", "missing", "negative", "large", "short", "beta"]


@pytest.mark.parametrize("how", DAMAGES)
def test_damaged_checkpoint_is_a_store_error_that_names_it(corpus, tmp_path, how):
    options = {"n_iter": 3, "random_state": 7, "checkpoint": tmp_path / "kept"}
    topoi.LDA(3, **options).fit(corpus)
    damage(tmp_path / "kept", how)
    with pytest.raises(StoreError, match="kept.*damaged"):
        topoi.LDA(3, **options).fit(corpus)


def test_model_file_is_no_checkpoint(corpus, tmp_path):
    topoi.LDA(2, n_iter=1, random_state=0).fit(corpus).save(tmp_path / "m")
    with pytest.raises(StoreError, match="m is damaged or is not a topoi file"):
        topoi.LDA(2, n_iter=1, checkpoint=tmp_path / "m").fit(corpus)


def test_unwritable_place_is_noticed_before_the_first_sweep(corpus, tmp_path):
    model = topoi.LDA(2, n_iter=3, checkpoint=tmp_path / "missing" / "c")
    with pytest.raises(StoreError, match="missing"):
        model.fit(corpus, callback=lambda info: pytest.fail("work that would have been lost"))
