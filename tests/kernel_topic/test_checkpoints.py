"""Checkpoints of kernel topic models: a fit that was killed, refused or continued ends as one that never was."""

from __future__ import annotations

import json
import os
import signal
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF

import topoi
from engine.processes import start_python
from engine.test_checkpoint import Crash, crash_at
from kernel_topic.planted import planted
from kernel_topic.test_message_passing import messages
from thinning import slow_unless
from topoi.engine import loop
from topoi.engine.checkpoint import read_bundle, write_bundle
from topoi.errors import ModelError, StoreError
from topoi.models.bags import Bags
from topoi.models.kernel_topic import large_process
from topoi.models.kernel_topic.evidence import Hyper, Shape
from topoi.models.kernel_topic.fitting import Counts, LaplaceSweeps, Schedule, State
from topoi.models.kernel_topic.gaussian_process import serially
from topoi.models.kernel_topic.large_process import choose_blocks
from topoi.models.kernel_topic.message_passing import BridgeSweeps, Messages
from topoi.models.kernel_topic.solvers import set_up

pytestmark = pytest.mark.filterwarnings("ignore:.*not enough")
CORPUS, _ = planted(40, seed=0, length=60)
YEARS = CORPUS.documents["year"].to_numpy(float)
MATRIX = np.exp(-np.abs(np.subtract.outer(YEARS, YEARS)) / 20)
WARMUP, N_ITER = 6, 27
KINDS = {
    "laplace": {},
    "drawn": {"learn_from": "drawn", "amplitude": "shared"},
    "iterative": {"solver": "iterative"},
    "bridge": {"inference": "bridge"},
    "matrix": {"features": None, "kernel": MATRIX},
    "fixed": {"learn_kernel": False},
}


def make(kind="laplace", **options):
    settings = {"features": ["year", "authors"], "n_iter": N_ITER, "n_warmup": WARMUP, "tol": 0, "random_state": 3}
    settings |= {"process_every": 3, "learn_every": 4, "evaluate_every": 5}
    return topoi.KernelTopicModel(4, **settings | KINDS[kind] | options)


def bits(model):
    """Everything that a fit gives, but for its duration."""
    info = {name: value for name, value in model.fit_info_.items() if name != "seconds"}
    arrays = [model.topic_word_, model.doc_topic_, model.alpha_, model.noise_, model.amplitude_]
    arrays += [model.trace_.to_numpy(float), *model._posterior.arrays().values()]
    return [array.tobytes() for array in arrays], json.dumps(info), model.n_iter_, repr(model.kernel_)


@pytest.fixture(scope="module")
def whole():
    """Undisturbed fits, each made once."""
    made = {}

    def get(kind):
        if kind not in made:
            made[kind] = bits(make(kind).fit(CORPUS))
        return made[kind]

    return get


@pytest.mark.parametrize("kind", KINDS)
def test_broken_off_fit_continues_with_the_same_bits(kind, tmp_path, whole):
    """Broken off in the warm-up, at its end, at a step of the process, at and between steps of learning."""
    saved = {"checkpoint": tmp_path / "c", "checkpoint_every": 1}
    for sweep in (3, WARMUP + 1, WARMUP + 2, WARMUP + 4, WARMUP + 7, WARMUP + 14):
        with pytest.raises(Crash):
            make(kind, **saved).fit(CORPUS, callback=crash_at(sweep))
    sweeps = []
    model = make(kind, **saved).fit(CORPUS, callback=lambda info: sweeps.append(info.sweep))
    assert sweeps == list(range(WARMUP + 14, N_ITER + 1))  # the sweep before the crash was the last one written
    assert bits(model) == whole(kind)


def test_killed_after_the_last_sweep_it_ends_with_the_same_bits(tmp_path, whole):
    saved = {"checkpoint": tmp_path / "c", "checkpoint_every": 1}
    make(**saved).fit(CORPUS)
    again = make(**saved).fit(CORPUS, callback=lambda info: pytest.fail("nothing was left to do"))
    assert bits(again) == whole("laplace")


@pytest.mark.parametrize("kind", ["laplace", "bridge"])
def test_convergence_is_found_at_the_same_sweep(kind, tmp_path):
    options = {"tol": 0.3, "n_iter": 200}
    expected = make(kind, **options).fit(CORPUS)
    at = expected.n_iter_
    assert expected.fit_info_["stopped"] == "converged" and WARMUP + 8 <= at < 200
    saved = {"checkpoint": tmp_path / "c", "checkpoint_every": 1, **options}
    for sweep in (at - 2, at):
        with pytest.raises(Crash):
            make(kind, **saved).fit(CORPUS, callback=crash_at(sweep))
    assert bits(make(kind, **saved).fit(CORPUS)) == bits(expected)
    again = make(kind, **saved).fit(CORPUS, callback=lambda info: pytest.fail("it has converged"))
    assert bits(again) == bits(expected)


KILLING = """
import hashlib, os, random, signal, sys, time
folder, tests, *kinds = sys.argv[1:]
sys.path.insert(0, tests)
from kernel_topic.test_checkpoints import CORPUS, bits, make
from topoi.engine.checkpoint import read_bundle
rng = random.Random(0)

def fit(kind, n_iter, checkpoint):
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        model = make(kind, n_iter=n_iter, checkpoint=checkpoint, checkpoint_every=1)
        model.fit(CORPUS, callback=lambda info: os.write(writer, b"%d\\n" % info.sweep) and None)
        os.write(writer, hashlib.blake2b(repr(bits(model)).encode()).hexdigest().encode())
        os._exit(0)
    os.close(writer)
    return child, os.fdopen(reader)

for kind in kinds:
    path = os.path.join(folder, kind)
    make(kind, n_iter=8).fit(CORPUS)  # compiled once, here
    for _ in range(4):
        child, output = fit(kind, 10**6, path)
        for _ in range(rng.randint(1, 6)):
            output.readline()
        time.sleep(rng.random() * 0.02)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    n_iter = read_bundle(path, "checkpoint").meta["progress"]["sweep"] + 5
    for checkpoint in (path, None):
        child, output = fit(kind, n_iter, checkpoint)
        lines = output.read().split()
        os.waitpid(child, 0)
        print(n_iter, lines[0], lines[-1])
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes that can be forked")
def test_killed_at_random_moments_ends_with_the_same_bits(tmp_path):
    kinds = ["iterative", "bridge"]
    output, errors = start_python(KILLING, tmp_path, Path(__file__).parents[1], *kinds).communicate()
    lines = [line.split() for line in output.splitlines()]
    assert len(lines) == 2 * len(kinds), errors
    for (n_iter, first, continued), (_, one, undisturbed) in zip(lines[::2], lines[1::2], strict=True):
        assert int(first) == int(n_iter) - 4 and one == "1"  # the one went on, the other began
        assert continued == undisturbed
    assert sorted(os.listdir(tmp_path)) == sorted(kinds)


@pytest.mark.parametrize(
    ("kind", "sweep"),
    slow_unless(
        lambda case: case in (("laplace", 4), ("bridge", 15), ("iterative", 15)),
        [(kind, sweep) for kind in ("laplace", "bridge", "iterative") for sweep in (4, 15)],
    ),
)
def test_ctrl_c_writes_the_checkpoint_and_leaves_a_usable_model(kind, sweep, tmp_path, whole):
    saved = {"checkpoint": tmp_path / "c", "checkpoint_every": "1h"}

    def press(info):
        if info.sweep == sweep:
            signal.raise_signal(signal.SIGINT)

    model = make(kind, **saved).fit(CORPUS, callback=press)
    assert model.fit_info_["stopped"] == "SIGINT" and model.n_iter_ == sweep
    np.testing.assert_allclose(model.doc_topic_.sum(axis=1), 1)
    assert len(model.predict({"year": [1950], "authors": [["Ann"]]})) == 4
    sweeps = []
    again = make(kind, **saved).fit(CORPUS, callback=lambda info: sweeps.append(info.sweep))
    assert sweeps[0] == sweep + 1 and bits(again) == whole(kind)


@pytest.mark.parametrize(
    ("at", "saves"),
    slow_unless(
        lambda case: case in ((4, True), (12, False)), [(at, saves) for at in (4, 12) for saves in (True, False)]
    ),
)
@pytest.mark.parametrize("kind", ["laplace", "bridge"])
def test_abandoned_sweep_leaves_the_sweep_before(kind, at, saves, tmp_path, monkeypatch, whole):
    """What the abandoned sweep has changed gets neither into the model nor into the file."""
    monkeypatch.setattr(loop, "PATIENCE", -1.0)
    monkeypatch.setattr(loop, "_BETWEEN_STATES", -1.0)
    saved = {"checkpoint": tmp_path / "c", "checkpoint_every": "1h"} if saves else {}
    expected = make(kind).fit(CORPUS, callback=lambda info: info.sweep == at)
    training = {"laplace": LaplaceSweeps, "bridge": BridgeSweeps}[kind]
    step = training.step

    def spoil(self, sweep, evaluate):
        found = step(self, sweep, evaluate)
        if sweep == at + 1:
            self.counts.shares[:] = 0.25
            self.counts.recount()
            if self.state is not None:
                self.state[1][:] = 7.0
            raise loop.Abandoned
        return found

    monkeypatch.setattr(training, "step", spoil)
    model = make(kind, **saved).fit(CORPUS)
    assert model.n_iter_ == at
    np.testing.assert_allclose(model.topic_word_, expected.topic_word_, rtol=1e-9)
    assert (model.doc_topic_ > 0).all()
    monkeypatch.setattr(training, "step", step)
    if saves:
        assert read_bundle(tmp_path / "c", "checkpoint").meta["progress"]["sweep"] == at
        assert bits(make(kind, **saved).fit(CORPUS)) == whole(kind)


def test_callback_ends_the_fit_and_the_file_goes_on(tmp_path, whole):
    saved = {"checkpoint": tmp_path / "c"}
    model = make(**saved).fit(CORPUS, callback=lambda info: info.sweep == 9)
    assert model.n_iter_ == 9 and model.fit_info_["stopped"] == "callback"
    assert bits(make(**saved).fit(CORPUS)) == whole("laplace")


def test_n_iter_may_grow_but_not_shrink(tmp_path):
    """From the middle of the warm-up, too."""
    saved = {"checkpoint": tmp_path / "c"}
    for n_iter in (3, 10):
        make(n_iter=n_iter, **saved).fit(CORPUS)
    grown, expected = make(n_iter=20, **saved).fit(CORPUS), make(n_iter=20).fit(CORPUS)
    assert np.array_equal(grown.topic_word_, expected.topic_word_)
    assert np.array_equal(grown._posterior.y, expected._posterior.y)
    with pytest.raises(ModelError, match="sweep 20, beyond n_iter=4"):
        make(n_iter=4, **saved).fit(CORPUS)


@pytest.mark.slow
def test_without_a_random_state_the_saved_seed_goes_on(tmp_path, monkeypatch):
    """The iterative solver draws blocks of documents by the seed."""
    monkeypatch.setattr(large_process, "choose_blocks", partial(choose_blocks, n_blocks=2, size=10))
    saved = {"random_state": None, "checkpoint": tmp_path / "c"}
    with pytest.raises(Crash):
        make("iterative", checkpoint_every=1, **saved).fit(CORPUS, callback=crash_at(5))
    model = make("iterative", **saved).fit(CORPUS)
    assert bits(model) == bits(make("iterative", random_state=model.fit_info_["seed"]).fit(CORPUS))


def test_hyper_parameters_are_saved_as_they_were_learned() -> None:
    """A kernel has their exponentials, whose logarithms differ in the last bit for a few numbers in a million."""
    shape, theta = Shape(RBF(20.0), YEARS[:, None]), np.array([0.7])
    hyper = Hyper(shape, np.ones(4), np.ones(4))
    counts = Counts(Bags.from_corpus(CORPUS), CORPUS.n_words, 4, 0, 0.01)
    given = counts, Schedule(9, 2, 3, 4, 5, 0, False, True), hyper
    one, other = LaplaceSweeps(None, *given), LaplaceSweeps(None, *given)
    one.state = State(hyper._replace(shape=shape.at(theta)), counts.doc_topic, counts.doc_topic)
    progress, arrays = one.saved(3)
    assert arrays["theta"] is one.state.hyper.shape.learned and arrays["theta"] == theta
    other.restore(progress, arrays)
    assert other.state.hyper.shape.kernel.length_scale == one.state.hyper.shape.kernel.length_scale


@pytest.mark.parametrize("kind", ["laplace", "iterative", "bridge"])
def test_steps_after_a_restore_are_those_after_the_snapshot(kind) -> None:
    options = {"inference": "laplace", "solver": "exact"} | KINDS[kind]
    setup = set_up(CORPUS, ["year"], None, options["solver"], options["inference"])
    given = (
        Counts(Bags.from_corpus(CORPUS), CORPUS.n_words, 4, 0, 0.01),
        Schedule(20, 2, 3, 4, 5, 0, False, True, True),
        Hyper(setup.shape, np.ones(4), np.ones(4)),
    )
    bridge, make_process = kind == "bridge", partial(setup.process, each=serially)
    training = BridgeSweeps(0.5, *given, saves=True) if bridge else LaplaceSweeps(make_process, *given, saves=True)
    for sweep in range(1, 8):
        training.step(sweep, False)
    snapshot, ends = training.kept(7), []
    for _ in range(2):
        for sweep in range(8, 13):
            training.step(sweep, False)
        ends.append(b"".join(np.asarray(array).tobytes() for array in training.kept(12)[1].values()))
        training.restore(*snapshot)
    assert ends[0] == ends[1]


DIFFERENT = {
    "tol": {"tol": 0.5},
    "features": {"features": ["year"]},
    "kernel": {"kernel": topoi.Proximity(length_scale=3.0)},
    "inference": {"inference": "bridge"},
    "random_state": {"random_state": 8},
}


@pytest.mark.parametrize("what", [*DIFFERENT, "corpus"])
def test_checkpoint_of_another_fit_is_refused(what, tmp_path):
    options = {"n_iter": 2, "n_warmup": 2, "checkpoint": tmp_path / "c"}
    make(**options).fit(CORPUS)
    before, corpus = (tmp_path / "c").read_bytes(), CORPUS
    if what == "corpus":
        corpus = planted(40, seed=1, length=60)[0]
    with pytest.raises(ModelError, match=rf"c belongs to another fit \(different: .*{what}.*\); remove it"):
        make(**options | DIFFERENT.get(what, {})).fit(corpus)
    assert (tmp_path / "c").read_bytes() == before


def test_the_same_words_in_other_years_are_another_fit(tmp_path):
    words = [["a", "b"], ["c", "d"]] * 5
    one, other = (topoi.Corpus.from_tokens(words, dates=dates) for dates in (range(1990, 2000), range(1999, 1989, -1)))
    assert one.fingerprint() == other.fingerprint()
    options = {"features": ["year"], "n_iter": 2, "n_warmup": 2, "checkpoint": tmp_path / "c"}
    make(**options).fit(one)
    with pytest.raises(ModelError, match=r"another fit \(different: metadata\)"):
        make(**options).fit(other)


def test_another_matrix_is_another_fit(tmp_path):
    options = {"n_iter": 2, "n_warmup": 2, "checkpoint": tmp_path / "c"}
    make("matrix", **options).fit(CORPUS)
    with pytest.raises(ModelError, match="another fit"):
        make("matrix", kernel=MATRIX**2, **options).fit(CORPUS)


def test_function_as_kernel_has_no_checkpoint(tmp_path):
    with pytest.raises(ModelError, match="a function as kernel cannot be saved"):
        make(kernel=lambda a, b: np.exp(-np.abs(a[:, :1] - b[:, 0])), checkpoint=tmp_path / "c").fit(CORPUS)


def replaced(array, value):
    found = array.copy()
    found.flat[0] = value
    return found


def replacing(name, value):
    return lambda p, a: a.update({name: replaced(a[name], value)})


DAMAGES = {
    "shares": replacing("shares", -0.1),
    "sums of shares": replacing("shares", 3.0),
    "counts of a document": replacing("doc_topic", 1e6),
    "counts of a word": replacing("word_topic", -5.0),
    "counts of a topic": replacing("topic", np.inf),
    "shape": lambda p, a: a.update(shares=a["shares"][1:]),
    "type": lambda p, a: a.update(shares=a["shares"].astype(np.float32)),
    "no shares": lambda p, a: a.pop("shares"),
    "y": replacing("y", np.nan),
    "no a": lambda p, a: a.pop("a"),
    "noise": replacing("noise", 0.0),
    "amplitude": replacing("amplitude", -1.0),
    "theta": replacing("theta", 500.0),
    "before": replacing("before0", np.nan),
    "change": replacing("change", -1.0),
    "traces": lambda p, a: p.update(traces=[]),
    "info": lambda p, a: p.update(info={"newton_steps": "x"}),
    "sweep": lambda p, a: p.update(sweep=-3),
}


@pytest.fixture(scope="module")
def bundle(tmp_path_factory):
    path = tmp_path_factory.mktemp("checkpoint") / "c"
    with pytest.raises(Crash):
        make(checkpoint=path, checkpoint_every=1).fit(CORPUS, callback=crash_at(16))
    return read_bundle(path, "checkpoint")


@pytest.mark.parametrize("how", DAMAGES)
def test_damaged_checkpoint_is_a_store_error_that_names_it(bundle, tmp_path, how):
    meta, arrays = json.loads(json.dumps(bundle.meta)), dict(bundle.arrays)
    DAMAGES[how](meta["progress"], arrays)
    write_bundle(tmp_path / "kept", "checkpoint", meta, arrays)
    with pytest.raises(StoreError, match="kept.*damaged"):
        make(checkpoint=tmp_path / "kept").fit(CORPUS, callback=lambda info: pytest.fail("it was taken"))


@pytest.mark.parametrize("kind", ["laplace", "iterative", "bridge", "matrix"])
def test_resume_goes_on_and_a_loaded_model_goes_on_likewise(kind, tmp_path):
    model = make(kind, n_iter=15, checkpoint=tmp_path / "c").fit(CORPUS)
    before, first = (tmp_path / "c").read_bytes(), model.doc_topic_.copy()
    model.save(tmp_path / "m")
    loaded, seen = topoi.load(tmp_path / "m"), []
    model.resume(6, callback=lambda info: seen.append(info.sweep))
    assert seen == list(range(16, 22)) and model.n_iter_ == model.fit_info_["n_sweeps"] == 21
    assert list(model.trace_["sweep"]) == [5, 10, 15, 20, 21]
    assert (tmp_path / "c").read_bytes() == before
    assert bits(loaded.resume(6)) == bits(model)
    assert 0 < np.abs(model.doc_topic_ - first).mean() < 0.1


def test_resume_learns_from_where_the_fit_was() -> None:
    """The likelihood goes on rising: topics and shares are not begun anew."""
    model = make(n_iter=40).fit(CORPUS)
    before = model.trace_["log_joint"].iloc[-1]
    model.resume(40)
    assert model.trace_["log_joint"].iloc[-1] > before - 0.01 * abs(before)
    assert model.trace_.query("sweep == 45")["log_joint"].iloc[0] > before - 0.01 * abs(before)


def test_resume_has_no_warm_up() -> None:
    """Learning is due four sweeps after the fit, however long the warm-up should have been; and at the end."""
    model = make(n_iter=4, n_warmup=50).fit(CORPUS).resume(7)
    assert model.n_iter_ == 11 and model.fit_info_["evidence_steps"] == 2


def test_resume_that_a_callback_ends_or_that_fails(tmp_path) -> None:
    model = make(n_iter=10).fit(CORPUS)
    before = bits(model)
    with pytest.raises(Crash):
        model.resume(5, callback=crash_at(12))
    assert bits(model) == before
    assert model.resume(5, callback=lambda info: info.sweep == 12).n_iter_ == 12
    assert model.fit_info_["stopped"] == "callback"
    assert model.resume(0).n_iter_ == 12


@pytest.mark.parametrize("kind", ["laplace", "iterative", "bridge"])
def test_resume_whose_first_sweep_is_abandoned_leaves_the_model(kind, tmp_path, monkeypatch) -> None:
    make(kind, n_iter=15).fit(CORPUS).save(tmp_path / "m")
    model = topoi.load(tmp_path / "m")
    before, words = [array.copy() for array in model._posterior.arrays().values()], model.topic_word_

    def spoil(self, sweep, evaluate):
        if self.state[-1] is not None:
            self.state[-1][:] = 7.0
        raise loop.Abandoned

    monkeypatch.setattr(BridgeSweeps if kind == "bridge" else LaplaceSweeps, "step", spoil)
    kernel = repr(model.kernel_)
    assert model.resume(5).n_iter_ == 15 and repr(model.kernel_) == kernel
    after = list(model._posterior.arrays().values())[:-1]  # counts of words are made anew
    assert all(np.array_equal(a, b) for a, b in zip(after, before, strict=False))
    np.testing.assert_allclose(model.topic_word_, words, atol=0.05)


def test_messages_may_begin_at_others() -> None:
    """Beliefs restored from messages are those that were built up."""
    state, counts = messages()
    for d in (0, 3, 0):
        state.visit(d, counts)
    state.refresh()
    again = Messages(state.hyper, len(state.shift), state.damping, None, state.precision, state.shift)
    assert np.array_equal(again.covariance, state.covariance) and np.array_equal(again.mean, state.mean)
    again.visit(1, counts)
    assert not np.array_equal(again.precision, state.precision), "they are copies"
