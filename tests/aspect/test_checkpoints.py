"""Checkpoints of aspect models: a fit that was killed, refused or continued ends as one that never was."""

import json
import os
import signal
from pathlib import Path

import numpy as np
import pytest

import topoi
from engine.processes import start_python
from engine.test_checkpoint import Crash
from topoi.engine import loop
from topoi.engine.checkpoint import read_bundle, write_bundle
from topoi.errors import ModelError, StoreError
from topoi.models.aspect.learning import Learner

pytestmark = pytest.mark.filterwarnings("ignore:.*not enough")


def make_corpus(n_docs=40, length=30, seed=1):
    return topoi.LDA(4, alpha=0.2, beta=0.05).simulate(n_docs, length, random_state=seed)


def make(name="ep em", **options):
    inference, learning = name.split()
    settings = {"n_iter": 12, "tol": 0, "learn_alpha": True, "evaluate_every": 3, "random_state": 3}
    return topoi.AspectModel(3, inference=inference, learning=learning, **settings | options)


@pytest.fixture(scope="module")
def corpus():
    return make_corpus()


def bits(model):
    """Everything that a fit gives, but for its duration."""
    info = {name: value for name, value in model.fit_info_.items() if name not in ("seconds", "tokens_per_second")}
    arrays = model.aspect_word_, model.alpha_, model.posterior_, model.trace_.to_numpy(float)
    return [array.tobytes() for array in arrays], json.dumps(info), model.n_iter_


class CrashAfter:
    """A callback that raises after so many steps of all starts together."""

    def __init__(self, n):
        self.n = n

    def __call__(self, info):
        self.n -= 1
        if self.n == 0:
            raise Crash


@pytest.mark.parametrize("memory", [2**30, 2000], ids=["sites kept", "sites in parts"])
@pytest.mark.parametrize("name", ["ep em", "ep bound", "vb em", "vb bound"])
def test_broken_off_fit_continues_with_the_same_bits(corpus, tmp_path, name, memory):
    """Broken off in the first start, at its end, and twice in later ones."""
    options = {"n_restarts": 3, "memory": memory}
    saved = {"checkpoint": tmp_path / "c", "checkpoint_every": 1, **options}
    for n in (1, 5, 8, 3, 9):
        with pytest.raises(Crash):
            make(name, **saved).fit(corpus, callback=CrashAfter(n))
    assert read_bundle(tmp_path / "c", "checkpoint").meta["progress"]["restart"] == 1
    steps = []
    model = make(name, **saved).fit(corpus, callback=lambda info: steps.append(info.sweep))
    assert steps[0] > 1 and len(steps) < 24
    assert bits(model) == bits(make(name, **options).fit(corpus))


def test_converged_start_is_not_stepped_again(corpus, tmp_path):
    options = {"n_restarts": 2, "tol": 0.05, "n_iter": 100, "learn_alpha": False}
    whole = make(**options).fit(corpus)
    saved = {"checkpoint": tmp_path / "c", "checkpoint_every": 1000, **options}
    first = make(**saved).fit(corpus)
    again = make(**saved).fit(corpus, callback=lambda info: pytest.fail("nothing was left to do"))
    assert whole.fit_info_["stopped"] == "converged" and whole.n_iter_ < 100
    assert bits(whole) == bits(first) == bits(again)


# The fit to be killed would go on for ever; the others stop a few steps after its last checkpoint.
KILLING = """
import hashlib, os, random, signal, sys, time
folder, tests = sys.argv[1:]
sys.path.insert(0, tests)
from aspect.test_checkpoints import bits, make, make_corpus
from topoi.engine.checkpoint import read_bundle
corpus, rng, path = make_corpus(100, 60), random.Random(0), os.path.join(folder, "c")
make(n_iter=2).fit(corpus)  # compiled once, here

def fit(n_iter, checkpoint):
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        model = make(n_iter=n_iter, checkpoint=checkpoint, checkpoint_every=1)
        model.fit(corpus, callback=lambda info: os.write(writer, b"%d\\n" % info.sweep) and None)
        os.write(writer, hashlib.blake2b(repr(bits(model)).encode()).hexdigest().encode())
        os._exit(0)
    os.close(writer)
    return child, os.fdopen(reader)

for _ in range(5):
    child, output = fit(10**6, path)
    for _ in range(rng.randint(1, 4)):
        output.readline()
    time.sleep(rng.random() * 0.02)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
n_iter = read_bundle(path, "checkpoint").meta["progress"]["sweep"] + 5
for checkpoint in (path, None):
    child, output = fit(n_iter, checkpoint)
    lines = output.read().split()
    os.waitpid(child, 0)
    print(n_iter, lines[0], lines[-1])
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes that can be forked")
def test_killed_at_random_moments_ends_with_the_same_bits(tmp_path):
    output, errors = start_python(KILLING, tmp_path, Path(__file__).parents[1]).communicate()
    (n_iter, first, continued), (_, one, undisturbed) = (line.split() for line in output.splitlines())
    assert int(first) == int(n_iter) - 4 and one == "1", errors
    assert continued == undisturbed
    assert os.listdir(tmp_path) == ["c"]


@pytest.mark.parametrize("restart", [0, 1])
def test_ctrl_c_writes_the_checkpoint_and_leaves_a_usable_model(corpus, tmp_path, restart):
    saved = {"checkpoint": tmp_path / "c", "checkpoint_every": "1h", "n_restarts": 2}
    steps = []

    def press(info):
        steps.append(info.sweep)
        if len(steps) == 12 * restart + 7:
            signal.raise_signal(signal.SIGINT)

    model = make(**saved).fit(corpus, callback=press)
    assert model.fit_info_["stopped"] == "SIGINT" and model.fit_info_["n_restarts"] == restart + 1
    np.testing.assert_allclose(model.transform(corpus).sum(axis=1), 1)
    begun = []
    again = make(**saved).fit(corpus, callback=lambda info: begun.append(info.sweep))
    assert begun[0] == 8 and bits(again) == bits(make(n_restarts=2).fit(corpus))


def test_abandoned_step_leaves_a_checkpoint_of_the_step_before(corpus, tmp_path, monkeypatch):
    """Sites of the abandoned step are half new: they must not get into the file."""
    monkeypatch.setattr(loop, "PATIENCE", -1.0)
    monkeypatch.setattr(loop, "_BETWEEN_STATES", -1.0)
    step, calls = Learner.step, []

    def spoil(learner, evidence=False):
        found = step(learner, evidence)
        calls.append(found)
        if len(calls) == 6:
            learner.sites += 1.0
            learner.room += 1.0
            raise loop.Abandoned
        return found

    monkeypatch.setattr(Learner, "step", spoil)
    saved = {"checkpoint": tmp_path / "c", "checkpoint_every": "1h"}
    make(**saved).fit(corpus)
    assert read_bundle(tmp_path / "c", "checkpoint").meta["progress"]["sweep"] == 5
    monkeypatch.setattr(Learner, "step", step)
    assert bits(make(**saved).fit(corpus)) == bits(make().fit(corpus))


def test_callback_ends_the_fit_and_the_file_goes_on(corpus, tmp_path):
    saved = {"checkpoint": tmp_path / "c", "n_restarts": 2}
    model = make(**saved).fit(corpus, callback=lambda info: info.sweep == 4)
    assert model.n_iter_ == 4 and model.fit_info_["stopped"] == "callback"
    assert bits(make(**saved).fit(corpus)) == bits(make(n_restarts=2).fit(corpus))


def test_n_iter_may_grow_with_one_start_only(corpus, tmp_path):
    saved = {"checkpoint": tmp_path / "c"}
    make(n_iter=5, **saved).fit(corpus)
    grown = make(n_iter=12, **saved).fit(corpus)
    whole = make(n_iter=12).fit(corpus)
    assert np.array_equal(grown.aspect_word_, whole.aspect_word_) and np.array_equal(grown.posterior_, whole.posterior_)
    with pytest.raises(ModelError, match="sweep 12, beyond n_iter=4"):
        make(n_iter=4, **saved).fit(corpus)
    make(n_iter=5, n_restarts=2, checkpoint=tmp_path / "d").fit(corpus)
    with pytest.raises(ModelError, match=r"different: n_iter\)"):
        make(n_iter=6, n_restarts=2, checkpoint=tmp_path / "d").fit(corpus)


def test_without_a_random_state_the_saved_seed_goes_on(corpus, tmp_path):
    """The next start is drawn by it, too."""
    saved = {"n_restarts": 2, "random_state": None, "checkpoint": tmp_path / "c"}
    seed = make(**saved).fit(corpus, callback=lambda info: info.sweep == 5).fit_info_["seed"]
    more = make(**saved).fit(corpus)
    assert more.fit_info_["seed"] == seed
    assert bits(more) == bits(make(n_restarts=2, random_state=seed).fit(corpus))


DIFFERENT = {
    "learning": {"learning": "bound"},
    "n_restarts": {"n_restarts": 3},
    "memory": {"memory": 5},
    "tol": {"tol": 0.5},
    "random_state": {"random_state": 8},
}


@pytest.mark.parametrize("what", [*DIFFERENT, "corpus"])
def test_checkpoint_of_another_fit_is_refused(corpus, tmp_path, what):
    options = {"n_iter": 2, "checkpoint": tmp_path / "c"}
    make(**options).fit(corpus)
    before = (tmp_path / "c").read_bytes()
    with pytest.raises(ModelError, match=rf"c belongs to another fit \(different: .*{what}.*\); remove it"):
        other = make(**options).set_params(**DIFFERENT.get(what, {}))
        other.fit(make_corpus(seed=2) if what == "corpus" else corpus)
    assert (tmp_path / "c").read_bytes() == before


def replaced(array, value):
    found = array.copy()
    found.flat[0] = value
    return found


DAMAGES = {
    "no sites": lambda p, a: a.pop("sites"),
    "no result of a start": lambda p, a: a.pop("run0_room"),
    "words": lambda p, a: a.update(word_aspect=replaced(a["word_aspect"], -0.5)),
    "words of a start": lambda p, a: a.update(run0_word_aspect=replaced(a["run0_word_aspect"], 2.0)),
    "alpha": lambda p, a: a.update(alpha=replaced(a["alpha"], 0.0)),
    "room": lambda p, a: a.update(room=replaced(a["room"], np.nan)),
    "shape": lambda p, a: a.update(room=a["room"][1:]),
    "type": lambda p, a: a.update(sites=a["sites"].astype(np.float32)),
    "report": lambda p, a: a.update(run0_report_passes=a["run0_report_passes"][1:]),
    "trace": lambda p, a: a.update(trace=a["trace"][:, :1]),
    "change": lambda p, a: a.update(change=replaced(a["change"], np.nan)),
    "restart": lambda p, a: p.update(restart=7),
    "starts": lambda p, a: p.update(restart=0),
    "warm": lambda p, a: p.update(warm=None),
    "steps": lambda p, a: p.update(steps="x"),
    "sweep": lambda p, a: p.update(sweep=-3),
}


@pytest.fixture(scope="module")
def bundle(corpus, tmp_path_factory):
    """A checkpoint in the second start."""
    path = tmp_path_factory.mktemp("checkpoint") / "c"
    with pytest.raises(Crash):
        make(n_restarts=2, checkpoint=path, checkpoint_every=1).fit(corpus, callback=CrashAfter(17))
    return read_bundle(path, "checkpoint")


@pytest.mark.parametrize("how", DAMAGES)
def test_damaged_checkpoint_is_a_store_error_that_names_it(corpus, bundle, tmp_path, how):
    meta, arrays = json.loads(json.dumps(bundle.meta)), dict(bundle.arrays)
    DAMAGES[how](meta["progress"], arrays)
    write_bundle(tmp_path / "kept", "checkpoint", meta, arrays)
    model = make(n_restarts=2, checkpoint=tmp_path / "kept")
    with pytest.raises(StoreError, match="kept.*damaged"):
        model.fit(corpus, callback=lambda info: pytest.fail("it was taken"))


def test_resume_is_near_a_longer_fit_and_leaves_the_checkpoint_alone(corpus, tmp_path):
    path = tmp_path / "c"
    model = make(n_iter=40, checkpoint=path).fit(corpus)
    before = path.read_bytes()
    assert model.resume(20).n_iter_ == 60 and path.read_bytes() == before
    whole = make(n_iter=60).fit(corpus)
    np.testing.assert_allclose(model.aspect_word_, whole.aspect_word_, atol=1e-2)
    assert list(model.trace_["sweep"]) == sorted(set(model.trace_["sweep"]))


def test_saved_model_names_no_checkpoint(corpus, tmp_path):
    make(checkpoint=tmp_path / "c").fit(corpus).save(tmp_path / "m")
    assert topoi.load(tmp_path / "m").checkpoint is None
